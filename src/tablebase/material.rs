use crate::board::geometry::{DEN, habitat};
use crate::board::{Animal, Bitboard, ByColor, Color, Piece, Position, serialize_as_text};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The squares that a piece may stand on while the game is not over: its habitat without the enemy's den.
#[must_use]
pub fn squares_in_play(Piece { color, animal }: Piece) -> Bitboard {
    habitat(color, animal) - DEN[!color].into()
}

/// A set of animals.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AnimalSet(u8);

impl AnimalSet {
    /// No animal.
    pub const EMPTY: AnimalSet = AnimalSet(0);

    /// Bit [`Animal::index`] is set for each member.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether an animal is a member.
    #[must_use]
    pub const fn contains(self, animal: Animal) -> bool {
        self.0 >> animal.index() & 1 != 0
    }

    /// The set with another member.
    #[must_use]
    pub const fn with(self, animal: Animal) -> AnimalSet {
        AnimalSet(self.0 | 1 << animal.index())
    }

    /// The set without a member.
    #[must_use]
    pub const fn without(self, animal: Animal) -> AnimalSet {
        AnimalSet(self.0 & !(1 << animal.index()))
    }

    /// Number of members.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether the set has no members.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, strongest first: the order in which a material is written.
    pub fn strongest_first(self) -> impl Iterator<Item = Animal> {
        Animal::ALL.into_iter().rev().filter(move |&a| self.contains(a))
    }

    /// The animals of these letters, which are a part of `text`.
    fn parse(letters: &str, text: &str) -> Result<AnimalSet, ParseMaterialError> {
        letters.chars().try_fold(AnimalSet::EMPTY, |set, letter| {
            let text = || text.to_owned();
            match Animal::from_letter(letter) {
                None => Err(ParseMaterialError::UnknownAnimal { text: text(), letter }),
                Some(animal) if set.contains(animal) => Err(ParseMaterialError::Duplicate { text: text(), animal }),
                Some(animal) => Ok(set.with(animal)),
            }
        })
    }
}

/// Parses letters of either case in any order.
impl FromStr for AnimalSet {
    type Err = ParseMaterialError;

    fn from_str(text: &str) -> Result<AnimalSet, ParseMaterialError> {
        AnimalSet::parse(text, text)
    }
}

impl fmt::Display for AnimalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.strongest_first().try_for_each(|a| write!(f, "{}", a.letter()))
    }
}

/// The animals of each side, at least one each. Written `EPvLR`: White's animals first, each side's strongest first.
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub struct Material {
    white: AnimalSet,
    black: AnimalSet,
}

/// Why a text is not a material.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseMaterialError {
    /// There is no `v` between the sides.
    #[error("{text:?} is not a material: write White's animals, v, Black's animals, as in EPvLR")]
    NoVersus {
        /// The text.
        text: String,
    },
    /// A letter names no animal.
    #[error("{text:?}: there is no animal {letter:?}; the letters are ELTPDWCR")]
    UnknownAnimal {
        /// The text.
        text: String,
        /// The letter.
        letter: char,
    },
    /// One side lists an animal twice.
    #[error("{text:?} has two {animal}s on one side")]
    Duplicate {
        /// The text.
        text: String,
        /// The animal.
        animal: Animal,
    },
    /// A side has no animal.
    #[error("{text:?}: {color} has no animal")]
    EmptySide {
        /// The text.
        text: String,
        /// The side.
        color: Color,
    },
}

impl Material {
    /// The material of a position, unless a side has no piece.
    #[must_use]
    pub fn of(position: &Position) -> Option<Material> {
        Material::of_pieces(position.pieces().map(|(piece, _)| piece))
    }

    /// The material that is written exactly like this, as in the name of a file: animals in another order are refused.
    pub(crate) fn of_name(name: &str) -> Option<Material> {
        name.parse().ok().filter(|material: &Material| material.to_string() == name)
    }

    /// The material of these pieces; `None` if a side has none.
    #[must_use]
    pub fn of_pieces(pieces: impl IntoIterator<Item = Piece>) -> Option<Material> {
        let mut sides: ByColor<AnimalSet> = ByColor::default();
        for Piece { color, animal } in pieces {
            sides[color] = sides[color].with(animal);
        }
        let ByColor { white, black } = sides;
        (!white.is_empty() && !black.is_empty()).then_some(Material { white, black })
    }

    /// All materials of this many pieces, in order.
    #[must_use]
    pub fn all(pieces: usize) -> Vec<Material> {
        let sets = || (1..=u8::MAX).map(AnimalSet);
        let mut all: Vec<Material> = sets()
            .flat_map(|white| sets().map(move |black| Material { white, black }))
            .filter(|m| m.len() == pieces)
            .collect();
        all.sort();
        all
    }

    /// Number of pieces.
    #[must_use]
    pub fn len(self) -> usize {
        self.white.len() + self.black.len()
    }

    /// Always false: a material has at least two pieces.
    #[must_use]
    pub fn is_empty(self) -> bool {
        false
    }

    /// Number of positions with one side to move: every piece stands on a square of its own that it may enter, none in
    /// the enemy's den.
    #[must_use]
    pub fn positions(self) -> u64 {
        // All pieces that cannot swim share the same squares, and a rat may stand on all of them.
        let (mut swimmers, mut walkers): (Vec<_>, Vec<_>) = self.pieces().partition(|piece| piece.animal.swims());
        walkers.append(&mut swimmers);
        let free = |(i, &piece): (usize, &Piece)| squares_in_play(piece).len().saturating_sub(i) as u64;
        walkers.iter().enumerate().map(free).product()
    }

    /// The animals of a side.
    #[must_use]
    pub fn side(self, color: Color) -> AnimalSet {
        match color {
            Color::White => self.white,
            Color::Black => self.black,
        }
    }

    /// The material with White's and Black's animals exchanged.
    #[must_use]
    pub fn swap(self) -> Material {
        Material { white: self.black, black: self.white }
    }

    /// The material without one piece; `None` if it is the last of its side.
    #[must_use]
    pub fn without(self, Piece { color, animal }: Piece) -> Option<Material> {
        let mut rest = self;
        match color {
            Color::White => rest.white = rest.white.without(animal),
            Color::Black => rest.black = rest.black.without(animal),
        }
        (!rest.side(color).is_empty()).then_some(rest)
    }

    /// The pieces: White's first, each side's strongest first.
    pub fn pieces(self) -> impl Iterator<Item = Piece> {
        Color::ALL
            .into_iter()
            .flat_map(move |color| self.side(color).strongest_first().map(move |animal| Piece { color, animal }))
    }
}

/// Materials are ordered by spelling, letter by letter in the alphabet ELTPDWCRv.
impl Ord for Material {
    fn cmp(&self, other: &Material) -> Ordering {
        let letters = |m: &Material| {
            let side = |set: AnimalSet| set.strongest_first().map(|a| 7 - a.index()).chain([8]);
            side(m.white).chain(side(m.black)).collect::<Vec<_>>()
        };
        letters(self).cmp(&letters(other))
    }
}

impl PartialOrd for Material {
    fn partial_cmp(&self, other: &Material) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}v{}", self.white, self.black)
    }
}

impl fmt::Debug for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

serialize_as_text!(Material);

/// Parses letters of either case in any order.
impl FromStr for Material {
    type Err = ParseMaterialError;

    fn from_str(text: &str) -> Result<Material, ParseMaterialError> {
        let (white, black) =
            text.split_once(['v', 'V']).ok_or_else(|| ParseMaterialError::NoVersus { text: text.to_owned() })?;
        let side = |letters: &str, color| match AnimalSet::parse(letters, text)? {
            AnimalSet::EMPTY => Err(ParseMaterialError::EmptySide { text: text.to_owned(), color }),
            set => Ok(set),
        };
        Ok(Material { white: side(white, Color::White)?, black: side(black, Color::Black)? })
    }
}
