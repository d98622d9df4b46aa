//! The values of single positions.

use super::{Loaded, TableSet};
use crate::board::Color;
use crate::board::geometry::DEN;
use crate::board::{MoveList, Position, Rules, around};
use crate::tablebase::address::ClassSquares;
use crate::tablebase::squares::Squares;
use crate::tablebase::store::cache::get_or_decode;
use crate::tablebase::store::error::SetError;
use crate::tablebase::store::file::{Block, Content, TableFile};
use crate::tablebase::{CellValue, ClassId, Value, Wdl};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::sync::Arc;

/// The number of blocks that a thread keeps beside the cache that it shares with others, and the most bytes of such a
/// block: more than most blocks of repacked tables have.
const RECENT_BLOCKS: usize = 256;
const RECENT_BYTES: usize = 16 << 10;

thread_local! {
    /// Blocks that this thread read last, by number of the set, class and number of the block: the shared cache takes a
    /// lock and counts references.
    static RECENT: RefCell<[Option<RecentBlock>; RECENT_BLOCKS]> = const { RefCell::new([const { None }; RECENT_BLOCKS]) };
}

type RecentBlock = ((u64, ClassId, usize), Arc<Block>);

impl TableSet {
    /// The value of a position; `None` if the game is over or the position has more pieces than any table. Values of
    /// the class in `loaded` are read from memory.
    ///
    /// # Errors
    /// If a table that is needed is missing or damaged.
    pub(in crate::tablebase) fn look_up(
        &self,
        position: &Position,
        loaded: Option<&Loaded>,
    ) -> Result<Option<CellValue>, SetError> {
        let Some(squares) = self.squares(position) else { return Ok(None) };
        self.look_up_at(&squares, position, loaded)
    }

    /// The class and squares of a position; `None` if the game is over or the position has more pieces than any table.
    pub(in crate::tablebase::store) fn squares(&self, position: &Position) -> Option<ClassSquares> {
        self.addresser.squares(position)
    }

    /// [`look_up`](TableSet::look_up) of a position with these squares.
    pub(in crate::tablebase::store) fn look_up_at(
        &self,
        squares: &ClassSquares,
        position: &Position,
        loaded: Option<&Loaded>,
    ) -> Result<Option<CellValue>, SetError> {
        Ok(match self.read(squares, position, loaded)? {
            Some(Read { value, is_bound: true }) => Some(self.with_conversions(position, value)?.unwrap_or(value)),
            other => other.map(|read| read.value),
        })
    }

    /// The value of a position as it is stored in a file or in memory; computed from its moves if its side to move is
    /// not stored.
    fn read(
        &self,
        &ClassSquares { class, turn, squares }: &ClassSquares,
        position: &Position,
        loaded: Option<&Loaded>,
    ) -> Result<Option<Read>, SetError> {
        let exact = |value| Read { value, is_bound: false };
        let file = self.file(class)?;
        if let Some(loaded) = loaded.filter(|loaded| loaded.class == class)
            && let Some(cells) = loaded.cells(turn)
        {
            return Ok(CellValue::from_code(cells.get(file.index().cell_of(squares))).map(exact));
        }
        if !file.stores(turn) {
            return self.look_ahead(position, loaded).map(|value| Some(exact(value)));
        }
        let stored = CellValue::from_code(self.code(class, file, turn, squares)?);
        Ok(stored.map(|value| Read { value, is_bound: self.is_bound(file, value) }))
    }

    /// Whether a capture or den entry may be better than a stored value.
    fn is_bound(&self, file: &TableFile, stored: CellValue) -> bool {
        file.description().dont_cares && !self.is_best(Value::of(stored, &self.rules))
    }

    /// The value of a position, given the code that its file stores.
    pub(in crate::tablebase::store) fn value_of_code(
        &self,
        position: &Position,
        file: &TableFile,
        code: u16,
    ) -> Result<Option<CellValue>, SetError> {
        let Some(stored) = CellValue::from_code(code) else { return Ok(None) };
        if !self.is_bound(file, stored) {
            return Ok(Some(stored));
        }
        Ok(Some(self.with_conversions(position, stored)?.unwrap_or(stored)))
    }

    /// Whether no move can be better than one of this value, as far as the tables tell.
    fn is_best(&self, value: Value) -> bool {
        value.wdl == Wdl::Win && (value.dtw == Some(1) || self.content == Content::Wdl)
    }

    /// The value of the best capture or den entry of a position, if it is at least as good as the stored value (which
    /// may then be a don't-care). `None` if the stored value is better, or there is no such move.
    pub(super) fn with_conversions(
        &self,
        position: &Position,
        stored: CellValue,
    ) -> Result<Option<CellValue>, SetError> {
        if !may_convert(position) {
            return Ok(None);
        }
        let best = self.best_of(position, &conversions(position, &self.rules), None)?;
        Ok(best.filter(|&best| Value::of(best, &self.rules) >= Value::of(stored, &self.rules)))
    }

    /// The value of a position whose game is not over, computed from the values after its moves.
    pub(crate) fn look_ahead(&self, position: &Position, loaded: Option<&Loaded>) -> Result<CellValue, SetError> {
        Ok(self.best_of(position, &position.moves(&self.rules), loaded)?.unwrap_or(CellValue::NoMove))
    }

    /// The value of a position if the side to move had only these moves; `None` without a move.
    fn best_of(
        &self,
        position: &Position,
        moves: &MoveList,
        loaded: Option<&Loaded>,
    ) -> Result<Option<CellValue>, SetError> {
        let mut best: Option<Value> = None;
        // Moves to positions whose captures and den entries are not looked up yet, with an upper bound of each move.
        let mut bounded: Vec<(Value, CellValue, Position, bool)> = Vec::new();
        for &mv in moves {
            let next = position.make(mv);
            let read = if next.winner().is_some() {
                Read { value: CellValue::Decided(0), is_bound: false }
            } else {
                let squares = self.addresser.squares(&next);
                let read = squares.map(|squares| self.read(&squares, &next, loaded)).transpose()?.flatten();
                read.unwrap_or(Read { value: CellValue::Draw, is_bound: false })
            };
            let converts = mv.is_capture(position);
            let value = self.before(read.value, converts);
            if read.is_bound {
                bounded.push((value, read.value, next, converts));
            } else if self.is_best(value) {
                return Ok(Some(cell_value(value)));
            } else {
                best = best.max(Some(value));
            }
        }
        bounded.sort_unstable_by_key(|&(bound, ..)| Reverse(bound));
        for (bound, stored, next, converts) in bounded {
            if best >= Some(bound) {
                break;
            }
            let value = self.with_conversions(&next, stored)?.unwrap_or(stored);
            best = best.max(Some(self.before(value, converts)));
        }
        Ok(best.map(cell_value))
    }

    /// The value of a move to a position with this value. With DTZ its distance is the number of the cell, whose order is
    /// that of the distances.
    fn before(&self, value: CellValue, converts: bool) -> Value {
        let value = Value::of(value, &self.rules);
        let Some(number) = value.dtw else { return value.before() };
        let number = self.classes.metric().before(number, converts);
        number.map_or(Value::DRAW, |_| Value { wdl: value.wdl.before(), dtw: number })
    }

    fn code(&self, id: ClassId, file: &TableFile, turn: Color, squares: Squares) -> Result<u16, SetError> {
        let place = file.stored_place(turn, squares);
        let key = (self.number, id, place.block);
        RECENT.with_borrow_mut(|recent| {
            let slot = &mut recent[(id.0 ^ place.block) % RECENT_BLOCKS];
            if let Some((of, block)) = slot
                && *of == key
            {
                return Ok(file.code(block, place));
            }
            let block = self.block(id, file, place.block)?;
            let code = file.code(&block, place);
            if block.bytes().len() <= RECENT_BYTES {
                *slot = Some((key, block));
            }
            Ok(code)
        })
    }

    /// A decoded block of a class, from the cache if it is there.
    pub(in crate::tablebase::store) fn block(
        &self,
        id: ClassId,
        file: &TableFile,
        number: usize,
    ) -> Result<Arc<Block>, SetError> {
        get_or_decode(&self.cache, (id, number), || Ok(file.sized_block(number)?))
    }

    /// The value of a position whose game is not over, for the side to move. `None` if the manifest does not list its
    /// class. Tables of results alone store a win as a win in 1 ply and a loss as a loss in 2.
    ///
    /// # Errors
    /// If a listed table that is needed is missing or damaged.
    #[cfg(feature = "search")]
    pub(crate) fn listed_value(&self, position: &Position) -> Result<Option<Value>, SetError> {
        let Some(squares) = self.addresser.squares(position).filter(|squares| self.listed[squares.class.0]) else {
            return Ok(None);
        };
        let value = self.look_up_at(&squares, position, None)?;
        Ok(value.map(|value| Value::of(value, &self.rules)))
    }
}

/// The value of a position before its captures and den entries are looked up.
struct Read {
    value: CellValue,
    /// Whether a capture or den entry may be better for the side to move, so that the value is a lower bound.
    is_bound: bool,
}

/// The value of a position with a legal move, as a cell stores it.
fn cell_value(value: Value) -> CellValue {
    value.dtw.map_or(CellValue::Draw, CellValue::Decided)
}

/// The captures and den entries of a position.
pub(super) fn conversions(position: &Position, rules: &Rules) -> MoveList {
    let turn = position.turn();
    let wanted = position.side(!turn).bits() | 1 << DEN[!turn].index();
    let mut moves = MoveList::new();
    moves.extend(position.lanes(turn), position.targets(rules).map(|targets| targets & wanted));
    moves
}

/// Whether a position may have a capture or den entry. Most positions have no enemy near.
#[inline]
pub(super) fn may_convert(position: &Position) -> bool {
    let turn = position.turn();
    let wanted = position.side(!turn).bits() | 1 << DEN[!turn].index();
    around(position.side(turn).bits()) & wanted != 0
}
