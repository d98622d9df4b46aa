use super::Color;
use std::fmt;

/// The eight animals, weakest first. Each side has at most one of each.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Animal {
    Rat,
    Cat,
    Wolf,
    Dog,
    Panther,
    Tiger,
    Lion,
    Elephant,
}

impl Animal {
    /// All animals, weakest first: the order of the lanes of a position.
    pub const ALL: [Animal; 8] = [
        Animal::Rat,
        Animal::Cat,
        Animal::Wolf,
        Animal::Dog,
        Animal::Panther,
        Animal::Tiger,
        Animal::Lion,
        Animal::Elephant,
    ];

    /// The number of animals, and of the lanes of a side.
    pub const COUNT: usize = 8;

    /// The lane of this animal, 0 (rat) to 7 (elephant).
    #[inline(always)]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The capital letter of this animal.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Animal::Rat => 'R',
            Animal::Cat => 'C',
            Animal::Wolf => 'W',
            Animal::Dog => 'D',
            Animal::Panther => 'P',
            Animal::Tiger => 'T',
            Animal::Lion => 'L',
            Animal::Elephant => 'E',
        }
    }

    /// The animal that a letter of either case stands for.
    #[must_use]
    pub fn from_letter(letter: char) -> Option<Animal> {
        Animal::ALL.into_iter().find(|a| a.letter() == letter.to_ascii_uppercase())
    }

    /// The animal that a Chinese character stands for, of the pieces of Dou Shou Qi.
    #[must_use]
    pub(crate) fn from_character(character: char) -> Option<Animal> {
        let names = ["鼠", "猫貓", "狼", "狗", "豹", "虎", "狮獅", "象"];
        Animal::ALL.into_iter().zip(names).find(|(_, names)| names.contains(character)).map(|(animal, _)| animal)
    }

    /// True for the rat, the only animal that enters the water.
    #[inline]
    #[must_use]
    pub const fn swims(self) -> bool {
        matches!(self, Animal::Rat)
    }
}

impl fmt::Display for Animal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Animal::Rat => "rat",
            Animal::Cat => "cat",
            Animal::Wolf => "wolf",
            Animal::Dog => "dog",
            Animal::Panther => "panther",
            Animal::Tiger => "tiger",
            Animal::Lion => "lion",
            Animal::Elephant => "elephant",
        })
    }
}

/// An animal of one side.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// The piece's colour.
    pub color: Color,
    /// The piece's animal.
    pub animal: Animal,
}

impl Piece {
    /// The FEN letter: a capital for White.
    #[must_use]
    pub const fn letter(self) -> char {
        match self.color {
            Color::White => self.animal.letter(),
            Color::Black => self.animal.letter().to_ascii_lowercase(),
        }
    }

    /// The piece that a FEN letter stands for.
    #[must_use]
    pub fn from_letter(letter: char) -> Option<Piece> {
        let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
        Animal::from_letter(letter).map(|animal| Piece { color, animal })
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.color.name(), self.animal)
    }
}
