//! Probing many positions at once: each block of a file is decoded once for all its positions.

use crate::board::{Move, Position};
use crate::tablebase::address::ClassSquares;
use crate::tablebase::store::file::Block;
use crate::tablebase::{ClassId, Probe as _, SetError, TableProber, Value};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::sync::Arc;

/// The most positions that are sorted at once, which limits the memory.
const PART: usize = 1 << 22;
/// The most positions of a task.
const TASK: usize = 256;
/// Sorts positions whose value no block contains after all others.
const NO_BLOCK: u32 = u32::MAX;

/// A position, by the place of its value.
#[derive(Clone)]
struct Entry {
    class: u32,
    block: u32,
    number: u32,
    value: Option<Value>,
}

/// The value of a position and its moves with their values, best first; `None` where the tables lack a value.
pub type ValueWithMoves = (Option<Value>, Option<Vec<(Move, Value)>>);

impl TableProber {
    /// The values of `count` positions, each as [`Probe::value`](crate::tablebase::Probe::value) returns it, on the threads
    /// of the current rayon pool. `position` returns the position of a number below `count`, or `None` for no position and
    /// no value; it is called up to twice for each number.
    ///
    /// Each block of a file is decoded once for all positions whose values it contains, which is many times faster than
    /// probing positions of four or more pieces in random order.
    ///
    /// # Errors
    /// An error of `position`, or if a table that is needed is missing or damaged.
    pub fn values<E: From<SetError> + Send>(
        &self,
        count: usize,
        position: impl Fn(usize) -> Result<Option<Position>, E> + Sync,
    ) -> Result<Vec<Option<Value>>, E> {
        let mut values = vec![None; count];
        for (part, values) in values.chunks_mut(PART).enumerate() {
            let position = |number: u32| position(part * PART + number as usize);
            let entry = |number: u32| self.entry(number, position(number)?).map_err(E::from);
            let mut entries: Vec<Entry> =
                (0..values.len() as u32).into_par_iter().map(entry).collect::<Result<_, E>>()?;
            entries.par_sort_unstable_by_key(|entry| (entry.class, entry.block, entry.number));
            let task = (values.len() / (8 * rayon::current_num_threads())).clamp(1, TASK);
            entries.par_chunks_mut(task).try_for_each(|entries| self.read_values(entries, &position))?;
            entries.into_iter().for_each(|entry| values[entry.number as usize] = entry.value);
        }
        Ok(values)
    }

    /// The value of each position, and the values of its moves, as [`Probe::value`](crate::tablebase::Probe::value) and
    /// [`Probe::moves`](crate::tablebase::Probe::moves) return them. As fast as [`TableProber::values`].
    ///
    /// # Errors
    /// If a table that is needed is missing or damaged.
    pub fn values_with_moves(&self, positions: &[Position]) -> Result<Vec<ValueWithMoves>, SetError> {
        let moves: Vec<_> = positions.iter().map(|position| position.moves(self.rules())).collect();
        let mut all = Vec::new();
        for (position, moves) in positions.iter().zip(&moves) {
            all.push(position.clone());
            all.extend(moves.iter().map(|&mv| position.make(mv)));
        }
        let mut values = self.values::<SetError>(all.len(), |number| Ok(Some(all[number].clone())))?.into_iter();
        let mut of = |moves: &[Move]| {
            let value = values.next().flatten();
            let after: Vec<Option<Value>> = values.by_ref().take(moves.len()).collect();
            let ranked = moves.iter().zip(after).map(|(&mv, value)| Some((mv, value?.before())));
            let mut ranked = ranked.collect::<Option<Vec<_>>>();
            ranked.iter_mut().for_each(|moves| moves.sort_by_key(|&(_, value)| Reverse(value)));
            (value, ranked)
        };
        Ok(moves.iter().map(|moves| of(moves)).collect())
    }

    /// The place of a position's value, or the value of a finished game.
    fn entry(&self, number: u32, position: Option<Position>) -> Result<Entry, SetError> {
        let settled = |value| Entry { class: NO_BLOCK, block: NO_BLOCK, number, value };
        let Some(position) = position else { return Ok(settled(None)) };
        if self.counter().is_some_and(|counter| counter.counted_class(&position).is_some()) {
            return Ok(settled(self.value(&position)?));
        }
        let Some(ClassSquares { class, turn, squares }) = self.set().squares(&position) else {
            return Ok(settled(Value::of_finished(&position)));
        };
        let file = self.set().file(class)?;
        let block = if file.stores(turn) { file.stored_place(turn, squares).block as u32 } else { NO_BLOCK };
        Ok(Entry { class: class.index() as u32, block, number, value: None })
    }

    /// Reads the values of entries in the order of their blocks.
    fn read_values<E: From<SetError>>(
        &self,
        entries: &mut [Entry],
        position: &impl Fn(u32) -> Result<Option<Position>, E>,
    ) -> Result<(), E> {
        let set = self.set();
        let mut last: Option<((ClassId, usize), Arc<Block>)> = None;
        for entry in entries.iter_mut().filter(|entry| entry.class != NO_BLOCK) {
            let Some(position) = position(entry.number)? else { continue };
            let Some(squares) = set.squares(&position) else { continue };
            let ClassSquares { class, turn, .. } = squares;
            let value = if entry.block == NO_BLOCK {
                set.look_up_at(&squares, &position, None)?
            } else {
                let (file, key) = (set.file(class)?, (class, entry.block as usize));
                let block = match last.take() {
                    Some((read, block)) if read == key => block,
                    _ => set.block(class, file, key.1)?,
                };
                let code = file.code(&block, file.stored_place(turn, squares.squares));
                last = Some((key, block));
                set.value_of_code(&position, file, code)?
            };
            entry.value = value.map(|value| Value::of(value, set.rules()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Color, RuleOptions};
    use crate::game::random::Random;
    use crate::tablebase::{Generate, Options, Probe, Solver, TableSet, repack};

    /// Finished games, positions of too many pieces, and numbers without a position are among the others.
    #[test]
    fn many_values_are_those_of_single_probes() {
        let dir = tempfile::tempdir().unwrap();
        let rules = RuleOptions::PAPER;
        let job = Generate { pieces: 3, ..Generate::new(dir.path(), rules) };
        job.run(&mut Solver::new(&rules, 3, Options::default()), &|_| {}).unwrap();
        let compare = || {
            let prober = TableSet::open(dir.path()).unwrap().prober(&rules).unwrap();
            let position = |number: usize| {
                let mut random = Random::numbered(5, number as u64);
                match number % 50 {
                    0 => None,
                    1 => Some(Position::from_fen("3E3/7/7/7/7/7/7/7/6l b").unwrap()),
                    _ => random.scatter(Color::ALL[number % 2], 1 + number % 4),
                }
            };
            let single = |number| position(number).map_or(Ok(None), |position| prober.value(&position));
            let many = prober.values::<SetError>(3000, |number| Ok(position(number))).unwrap();
            assert_eq!(many, (0..3000).map(single).collect::<Result<Vec<_>, _>>().unwrap());
            assert!(many.iter().flatten().count() > 1000);
            let positions: Vec<Position> = (0..500).filter_map(position).collect();
            let single = |position| Ok((prober.value(position)?, prober.moves(position)?));
            let singles = positions.iter().map(single).collect::<Result<Vec<_>, SetError>>().unwrap();
            assert_eq!(prober.values_with_moves(&positions).unwrap(), singles);
        };
        compare();
        repack(dir.path(), 8 << 30, &|_, _| {}).unwrap();
        compare();
    }
}
