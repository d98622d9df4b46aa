//! The values of a class in memory.

use doushouqi::board::{ByColor, Color, Position};
use doushouqi::game::random::Random;
use doushouqi::tablebase::{CellValue, Cells, Class, Index, Material, ROW_CELLS, Stats, squares_in_play};

/// The values of a class in memory, without the cells of squares that the last two pieces cannot enter.
pub struct ClassTable {
    material: Material,
    index: Index,
    /// The place within a row of each cell of the row.
    places: Vec<u16>,
    /// The cell of each place.
    kept: Vec<u16>,
    cells: ByColor<Cells>,
    stats: ByColor<Stats>,
}

impl ClassTable {
    /// Copies the values of a class.
    #[must_use]
    pub fn new(class: &Class, cells: &ByColor<Cells>, stats: ByColor<Stats>) -> ClassTable {
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
        let pack = |color| {
            let rows = 0..index.rows;
            let all = rows.flat_map(|row| kept.iter().map(move |&cell| row * ROW_CELLS + usize::from(cell)));
            let places = index.rows * kept.len();
            match &cells[color] {
                Cells::Byte(cells) => Cells::Byte(filled(places, all.map(|cell| cells[cell]))),
                Cells::Wide(cells) => Cells::Wide(filled(places, all.map(|cell| cells[cell]))),
            }
        };
        let cells = ByColor::from_fn(pack);
        ClassTable { material, index, places, kept, cells, stats }
    }

    /// The representative of the class.
    #[must_use]
    pub fn material(&self) -> Material {
        self.material
    }

    /// The counts, for each side of the representative to move.
    #[must_use]
    pub fn stats(&self) -> &ByColor<Stats> {
        &self.stats
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

/// A vector of exactly this capacity: a vector that grew would take up to twice the memory.
fn filled<T>(len: usize, items: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::with_capacity(len);
    all.extend(items);
    all
}
