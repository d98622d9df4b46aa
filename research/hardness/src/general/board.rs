use doushouqi::board::{Color, Direction, File, Rank, Square, geometry};
use std::fmt;

/// The terrain of a square of a general board.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Terrain {
    /// Land, which every animal may enter.
    Land,
    /// Water, which only rats may enter; lions and tigers leap over it.
    Water,
    /// A trap that belongs to this side: the other side's pieces have no strength in it.
    Trap(Color),
    /// The den of this side.
    Den(Color),
}

impl Terrain {
    /// The symbol: `.` land, `~` water, `^` a white trap, `v` a black trap, `#` the white den, `%` the black den.
    #[must_use]
    pub const fn symbol(self) -> char {
        match self {
            Terrain::Land => '.',
            Terrain::Water => '~',
            Terrain::Trap(Color::White) => '^',
            Terrain::Trap(Color::Black) => 'v',
            Terrain::Den(Color::White) => '#',
            Terrain::Den(Color::Black) => '%',
        }
    }

    /// The terrain of a symbol; `None` for other characters.
    #[must_use]
    pub const fn from_symbol(symbol: char) -> Option<Terrain> {
        Some(match symbol {
            '.' => Terrain::Land,
            '~' => Terrain::Water,
            '^' => Terrain::Trap(Color::White),
            'v' => Terrain::Trap(Color::Black),
            '#' => Terrain::Den(Color::White),
            '%' => Terrain::Den(Color::Black),
            _ => return None,
        })
    }
}

/// A square of a general board. Squares are numbered row by row from the top left, in the order of reading.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(u32);

impl Place {
    /// The index, 0 at the top left.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The square with this index.
    #[inline]
    #[must_use]
    pub const fn new(index: usize) -> Place {
        Place(index as u32)
    }
}

/// The squares of a board of any size, without pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    width: usize,
    height: usize,
    terrain: Vec<Terrain>,
}

impl Board {
    /// The most files, and the most ranks, of a board in text form.
    pub const MAX_SIDE: usize = 512;

    /// A board of `width` files with the squares `terrain`, row by row from the top; its length must be a multiple of
    /// `width`.
    pub(crate) fn new(width: usize, terrain: Vec<Terrain>) -> Board {
        debug_assert!(width > 0 && terrain.len().is_multiple_of(width));
        Board { width, height: terrain.len() / width, terrain }
    }

    /// The board of the game, 7 files and 9 ranks.
    #[must_use]
    pub fn standard() -> Board {
        let terrain =
            Rank::ALL.into_iter().rev().flat_map(|rank| File::ALL.map(|file| Square::from_coords(file, rank)));
        Board::new(7, terrain.map(standard_terrain).collect())
    }

    /// Number of files.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of ranks.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// Number of squares.
    #[must_use]
    pub fn len(&self) -> usize {
        self.terrain.len()
    }

    /// Always false: a board has at least one square.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terrain.is_empty()
    }

    /// All squares, row by row from the top.
    pub fn places(&self) -> impl Iterator<Item = Place> + use<> {
        (0..self.terrain.len()).map(Place::new)
    }

    /// The terrain of a square.
    #[inline]
    #[must_use]
    pub fn terrain(&self, place: Place) -> Terrain {
        self.terrain[place.index()]
    }

    /// The den of a side, if the board has one.
    #[must_use]
    pub fn den(&self, color: Color) -> Option<Place> {
        self.terrain.iter().position(|&t| t == Terrain::Den(color)).map(Place::new)
    }

    /// The square in a row (0 at the top) and a column (0 at the left); `None` if it is not on the board.
    #[must_use]
    pub fn at(&self, row: usize, column: usize) -> Option<Place> {
        (row < self.height && column < self.width).then(|| Place::new(row * self.width + column))
    }

    /// Row, 0 at the top, and column, 0 at the left.
    #[inline]
    #[must_use]
    pub fn row_column(&self, place: Place) -> (usize, usize) {
        (place.index() / self.width, place.index() % self.width)
    }

    /// The next square in a direction; `None` at the border.
    #[inline]
    #[must_use]
    pub fn neighbour(&self, place: Place, direction: Direction) -> Option<Place> {
        let (row, column) = self.row_column(place);
        match direction {
            Direction::Up => (row > 0).then(|| Place::new(place.index() - self.width)),
            Direction::Down => (row + 1 < self.height).then(|| Place::new(place.index() + self.width)),
            Direction::Left => (column > 0).then(|| Place::new(place.index() - 1)),
            Direction::Right => (column + 1 < self.width).then(|| Place::new(place.index() + 1)),
        }
    }

    /// The name of a square: its file, a to z, aa to zz and so on, and its rank, 1 at the bottom.
    #[must_use]
    pub fn name(&self, place: Place) -> String {
        let (row, column) = self.row_column(place);
        format!("{}{}", file_name(column), self.height - row)
    }

    /// The square with this name; `None` if there is none.
    #[must_use]
    pub fn place(&self, name: &str) -> Option<Place> {
        let digits = name.find(|c: char| c.is_ascii_digit())?;
        let (file, rank) = name.split_at(digits);
        if file.is_empty() || file.len() > 5 || rank.starts_with('0') || !rank.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let mut column = 0usize;
        for letter in file.bytes() {
            if !letter.is_ascii_lowercase() {
                return None;
            }
            column = column * 26 + usize::from(letter - b'a') + 1;
        }
        let rank: usize = rank.parse().ok()?;
        self.at(self.height.checked_sub(rank)?, column - 1)
    }
}

/// The letters of a file: a to z, then aa, ab and so on.
pub(crate) fn file_name(column: usize) -> String {
    let mut letters = Vec::new();
    let mut rest = column + 1;
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
    }
    letters.iter().rev().collect()
}

/// The terrain of a square of the standard board.
fn standard_terrain(square: Square) -> Terrain {
    for color in Color::ALL {
        if geometry::DEN[color] == square {
            return Terrain::Den(color);
        }
        if geometry::TRAPS[color].contains(square) {
            return Terrain::Trap(color);
        }
    }
    if geometry::WATER.contains(square) { Terrain::Water } else { Terrain::Land }
}

/// Writes the terrain, one line for each rank.
impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in self.terrain.chunks(self.width) {
            writeln!(f, "{}", row.iter().map(|t| t.symbol()).collect::<String>())?;
        }
        Ok(())
    }
}
