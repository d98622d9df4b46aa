//! A random position with a wanted value, found by scanning a class's blocks.

use super::TableSet;
use crate::board::{Color, Position, Rules};
use crate::game::random::Random;
use crate::tablebase::store::error::SetError;
use crate::tablebase::store::file::{Content, TableFile};
use crate::tablebase::{CellValue, Material, Member, SolveError, Value, position_of};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The values of a scan.
type Wanted<'a> = dyn Fn(Value) -> bool + Sync + 'a;

impl TableSet {
    /// The number of blocks in which [`random`](TableSet::random) searches.
    ///
    /// # Errors
    /// If the material has more pieces than any table, or its table is missing or damaged.
    pub fn blocks(&self, material: Material) -> Result<usize, SetError> {
        Ok(self.file(self.member(material)?.class)?.side_blocks())
    }

    fn member(&self, material: Material) -> Result<&Member, SetError> {
        let too_few = || SetError::TooFewPieces { material, pieces: self.classes.pieces() };
        self.classes.member(material).ok_or_else(too_few)
    }

    /// A random position of a material with a wanted value; `None` if there is none. Tables of results alone know no
    /// distances. The search reads a `part` of the blocks of the material's class, in a random order that depends on the
    /// state of `random`, until one contains such a position, with the threads of rayon. A side to move that is not stored
    /// takes about a microsecond a position.
    ///
    /// # Errors
    /// If the material has more pieces than any table, a table that is needed is missing or damaged, or `stop` becomes
    /// true.
    pub fn random(
        &self,
        material: Material,
        turn: Color,
        wanted: &Wanted<'_>,
        random: &mut Random,
        part: Range<usize>,
        stop: &AtomicBool,
    ) -> Result<Option<Position>, SetError> {
        let member = self.member(material)?;
        let file = self.file(member.class)?;
        let scan = Scan {
            set: self,
            file,
            turn: if member.swapped { !turn } else { turn },
            wanted: &|value| wanted(stored_value(value, &self.rules, self.content)),
            seed: random.bits(),
        };
        let mut blocks: Vec<usize> = (0..file.side_blocks()).collect();
        random.shuffle(&mut blocks);
        let codes = scan.codes();
        let end = part.end.min(blocks.len());
        let part = &blocks[part.start.min(end)..end];
        let found = part.par_iter().find_map_first(|&block| match stop.load(Relaxed) {
            true => Some(Err(SolveError::Stopped.into())),
            false => scan.block(block, &codes).transpose(),
        });
        let found = found.transpose()?.and_then(|position| member.position(&position));
        Ok(found.map(|position| if random.below(2) == 0 { position } else { position.mirror() }))
    }
}

/// The value that a cell stands for. Tables of results alone store no distances.
fn stored_value(value: CellValue, rules: &Rules, content: Content) -> Value {
    let value = Value::of(value, rules);
    if content == Content::Wdl { Value { dtw: None, ..value } } else { value }
}

/// The search for a position of a class's representative.
struct Scan<'a> {
    set: &'a TableSet,
    file: &'a TableFile,
    turn: Color,
    wanted: &'a (dyn Fn(CellValue) -> bool + Sync),
    seed: u64,
}

impl Scan<'_> {
    /// By stored code, whether a position with this code may have a wanted value.
    fn codes(&self) -> Vec<bool> {
        let value = |code: u16| Some(Value::of(CellValue::from_code(code)?, &self.set.rules));
        let is_wanted = |code: u16| CellValue::from_code(code).is_some_and(self.wanted);
        if !self.file.description().dont_cares {
            return (0..=u16::MAX).map(is_wanted).collect();
        }
        // The value is the stored one or a better one.
        let best = (0..=u16::MAX).filter(|&code| is_wanted(code)).filter_map(value).max();
        (0..=u16::MAX).map(|code| value(code).is_some_and(|value| Some(value) <= best)).collect()
    }

    /// A random position of a block, given the result of [`codes`](Scan::codes).
    fn block(&self, number: usize, codes: &[bool]) -> Result<Option<Position>, SetError> {
        let is_stored = self.file.stores(self.turn);
        let stored = if is_stored { self.file.codes(self.turn, number)? } else { Vec::new() };
        let mut places: Vec<usize> = (0..stored.len()).filter(|&place| codes[usize::from(stored[place])]).collect();
        if is_stored && places.is_empty() {
            return Ok(None);
        }
        let cells: Vec<usize> = self.file.block_cells(number).collect();
        if !is_stored {
            places = (0..cells.len()).collect();
        }
        let mut random = Random::numbered(self.seed, number as u64);
        random.shuffle(&mut places);
        for place in places {
            let Some(position) = self.position(cells[place], &mut random) else { continue };
            let value = match stored.get(place) {
                Some(&code) => self.set.value_of_code(&position, self.file, code)?,
                None => self.set.look_up(&position, None)?,
            };
            if value.is_some_and(self.wanted) {
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    /// The position of a cell of the file's index, with interchangeable pieces exchanged at random; `None` if the cell has
    /// no position.
    fn position(&self, cell: usize, random: &mut Random) -> Option<Position> {
        let index = self.file.index();
        let mut squares = index.squares(cell)?;
        for set in self.file.interchangeable() {
            let mut exchanged: Vec<_> = set.iter().map(|&place| squares[place]).collect();
            random.shuffle(&mut exchanged);
            set.iter().zip(exchanged).for_each(|(&place, square)| squares[place] = square);
        }
        position_of(&index.pieces, &squares, self.turn)
    }
}
