//! The values of a class in memory.

use doushouqi::board::{ByColor, Color, Position};
use doushouqi::game::random::Random;
use doushouqi::tablebase::{CellValue, Cells, Class, Index, Material, ROW_CELLS, Stats, squares_in_play};

/// The values of a class in memory, without the cells of squares that the last two pieces cannot enter.
pub struct ClassTable {
    /// The representative of the class.
    pub material: Material,
    index: Index,
    /// The place within a row of each cell of the row.
    places: Vec<u16>,
    /// The cell of each place.
    kept: Vec<u16>,
    cells: ByColor<Cells>,
    /// The counts, for each side of the representative to move.
    pub stats: ByColor<Stats>,
}

impl ClassTable {
    /// Takes the values of a class.
    #[must_use]
    pub fn new(class: &Class, mut cells: ByColor<Cells>, stats: ByColor<Stats>) -> ClassTable {
        let mut table = ClassTable::empty(class, stats);
        for color in Color::ALL {
            match &mut cells[color] {
                Cells::Byte(cells) => keep(cells, &table.kept),
                Cells::Wide(cells) => keep(cells, &table.kept),
            }
        }
        table.cells = cells;
        table
    }

    /// The table of a class without its values, which [`values_mut`](ClassTable::values_mut) adds; `None` if the memory cannot
    /// be allocated. `wide` tells for each side to move whether a value takes two bytes.
    #[must_use]
    pub fn reserved(class: &Class, wide: ByColor<bool>, stats: ByColor<Stats>) -> Option<ClassTable> {
        let mut table = ClassTable::empty(class, stats);
        let len = table.places();
        for color in Color::ALL {
            table.cells[color] = if wide[color] { Cells::Wide(reserved(len)?) } else { Cells::Byte(reserved(len)?) };
        }
        Some(table)
    }

    fn empty(class: &Class, stats: ByColor<Stats>) -> ClassTable {
        let (material, index) = (class.representative, class.index());
        let lanes = squares_in_play(index.lane_piece());
        let kept: Vec<u16> = squares_in_play(index.word_piece())
            .into_iter()
            .flat_map(|word| lanes.into_iter().map(move |lane| (word.index() * 64 + lane.index()) as u16))
            .collect();
        let mut places = vec![0; ROW_CELLS];
        for (place, &cell) in kept.iter().enumerate() {
            places[usize::from(cell)] = place as u16;
        }
        let cells = ByColor::from_fn(|_| Cells::Byte(Vec::new()));
        ClassTable { material, index, places, kept, cells, stats }
    }

    /// The number of values of one side to move.
    fn places(&self) -> usize {
        self.index.rows * self.kept.len()
    }

    /// The values of one side to move, in an order that depends on the version of the program.
    #[must_use]
    pub fn values(&self, turn: Color) -> &Cells {
        &self.cells[turn]
    }

    /// The values of one side to move, to be overwritten with those of an equal table; at first no position has a value.
    pub fn values_mut(&mut self, turn: Color) -> &mut Cells {
        let places = self.places();
        let cells = &mut self.cells[turn];
        match cells {
            Cells::Byte(cells) => cells.resize(places, 0),
            Cells::Wide(cells) => cells.resize(places, 0),
        }
        cells
    }

    /// The bytes of the values.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let bytes = |cells: &Cells| match cells {
            Cells::Byte(cells) => cells.len(),
            Cells::Wide(cells) => 2 * cells.len(),
        };
        bytes(&self.cells.white) + bytes(&self.cells.black)
    }

    /// The value of a cell of the class's index.
    #[must_use]
    pub fn value(&self, turn: Color, cell: usize) -> Option<CellValue> {
        let place = cell / ROW_CELLS * self.kept.len() + usize::from(self.places[cell % ROW_CELLS]);
        CellValue::from_code(self.cells[turn].get(place))
    }

    /// A random position, with the pieces of the representative, that has a wanted value.
    pub fn random(&self, turn: Color, wanted: &dyn Fn(CellValue) -> bool, random: &mut Random) -> Option<Position> {
        let cells = &self.cells[turn];
        let mut is = [false; 1 << 16];
        for (code, is) in (0..=u16::MAX).zip(&mut is) {
            *is = CellValue::from_code(code).is_some_and(wanted);
        }
        let matches = |place: &usize| is[usize::from(cells.get(*place))];
        let count = (0..cells.len()).filter(matches).count();
        if count == 0 {
            return None;
        }
        let place = (0..cells.len()).filter(matches).nth(random.below(count))?;
        let cell = place / self.kept.len() * ROW_CELLS + usize::from(self.kept[place % self.kept.len()]);
        self.index.position(cell, turn)
    }
}

/// An empty vector of exactly this capacity: a vector that grew would take up to twice the memory.
fn reserved<T>(len: usize) -> Option<Vec<T>> {
    let mut all = Vec::new();
    all.try_reserve_exact(len).ok()?;
    Some(all)
}

/// Keeps these cells of all rows, without more memory.
fn keep<T: Copy>(cells: &mut Vec<T>, kept: &[u16]) {
    let mut place = 0;
    for row in (0..cells.len()).step_by(ROW_CELLS) {
        for &cell in kept {
            cells[place] = cells[row + usize::from(cell)];
            place += 1;
        }
    }
    cells.truncate(place);
    cells.shrink_to_fit();
}
