//! Writes the file of a class during its count: after every [`STAGE_PLIES`] passes, the positions that these passes
//! decided. To find them, the recorder keeps the undecided positions before the stage in memory, compressed.

use super::progress::{CountPhase, CountProgress, Follow};
use super::stages::{BLOCK_ROWS, STAGE_PLIES, StageWriter, Words, block_rows};
use crate::board::{ByColor, Color, RuleOptions};
use crate::tablebase::Material;
use crate::tablebase::index::Index;
use crate::tablebase::solve::backend::SolveError;
use crate::tablebase::solve::cpu::planes::Planes;
use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::solve::cpu::task::{Iteration, Observer};
use crate::tablebase::store::codec::decompress;
use crate::tablebase::store::table_error::TableError;
use crate::tablebase::store::zstd::bulk::Compressor;
use rayon::prelude::*;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The number of blocks that are compressed in parallel before they are written.
const GROUP: usize = 512;
/// The zstd levels of the file, and of the undecided positions in memory.
const FILE_LEVEL: i32 = 1;
const MEMORY_LEVEL: i32 = -3;

/// Records a class that is being counted, reports the progress, and stops the count on request.
pub(super) struct Recorder<'a> {
    follow: Follow<'a>,
    state: Mutex<State>,
}

struct State {
    path: PathBuf,
    writer: StageWriter,
    /// By block, the undecided positions at the end of the last stage; empty before the first stage.
    undecided: ByColor<Vec<Undecided>>,
    rows: usize,
    stages: usize,
    error: Option<TableError>,
}

/// The undecided positions of a block.
#[derive(Default)]
struct Undecided {
    count: u32,
    /// The compressed words; `None` without positions.
    words: Option<Box<[u8]>>,
}

/// The compressors of one thread.
struct Packer {
    file: Compressor<'static>,
    memory: Compressor<'static>,
}

impl Packer {
    fn new() -> io::Result<Packer> {
        Ok(Packer { file: Compressor::new(FILE_LEVEL)?, memory: Compressor::new(MEMORY_LEVEL)? })
    }
}

impl<'a> Recorder<'a> {
    /// # Errors
    /// If the directory cannot be written.
    pub(super) fn create(path: &Path, follow: Follow<'a>) -> Result<Recorder<'a>, TableError> {
        let state = State {
            path: path.to_owned(),
            writer: StageWriter::create(path)?,
            undecided: ByColor::default(),
            rows: 0,
            stages: 0,
            error: None,
        };
        Ok(Recorder { follow, state: Mutex::new(state) })
    }

    /// Completes the file after the last pass.
    ///
    /// # Errors
    /// If the disk is full.
    pub(super) fn finish(self, rules: &RuleOptions, material: Material) -> Result<(), TableError> {
        let State { writer, rows, stages, .. } = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        writer.finish(rules, material, rows, stages)
    }

    /// The error of writing the file, if it stopped the count.
    pub(super) fn error(self) -> Option<TableError> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).error
    }

    /// Reports the progress.
    ///
    /// # Errors
    /// [`SolveError::Stopped`] if the count is cancelled.
    fn report(&self, phase: CountPhase, fraction: f64, depth: u16) -> Result<(), SolveError> {
        let progress = CountProgress { phase, fraction, depth };
        if (self.follow)(progress).is_break() { Err(SolveError::Stopped) } else { Ok(()) }
    }

    /// Calls `write`, and stops the count if it fails.
    fn record(&self, write: impl FnOnce(&mut State) -> Result<(), TableError>) -> Result<(), SolveError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let written = write(&mut state);
        written.map_err(|error| {
            state.error = Some(error);
            SolveError::Stopped
        })
    }
}

impl Observer for Recorder<'_> {
    fn conversions(&self, done: usize, of: usize) -> Result<(), SolveError> {
        self.report(CountPhase::Conversions, 0.5 * done as f64 / of as f64, 0)
    }

    fn pass(&self, depth: u16, iteration: &Iteration<'_>, planes: &ByColor<Planes<'_>>) -> Result<(), SolveError> {
        // The number of remaining passes is unknown; lines are rarely longer than 150 plies.
        self.report(CountPhase::Passes, 1.0 - 0.5 * 0.97f64.powi(depth.into()), depth)?;
        if depth.is_multiple_of(STAGE_PLIES) { self.record(|state| state.stage(iteration, planes)) } else { Ok(()) }
    }

    fn solved(&self, iteration: &Iteration<'_>, planes: &ByColor<Planes<'_>>) -> Result<(), SolveError> {
        self.record(|state| {
            state.stage(iteration, planes)?;
            state.results(iteration, planes)
        })
    }
}

impl State {
    /// Writes the blocks of a stage: the positions that were decided since the end of the last stage.
    fn stage(&mut self, iteration: &Iteration<'_>, planes: &ByColor<Planes<'_>>) -> Result<(), TableError> {
        let (index, rows, words) = (iteration.index(), iteration.rows(), Words::new(iteration.index()));
        let first = self.stages == 0;
        for color in Color::ALL {
            let planes = &planes[color];
            self.undecided[color].resize_with(rows.len().div_ceil(BLOCK_ROWS), Undecided::default);
            for (group, undecided) in self.undecided[color].chunks_mut(GROUP).enumerate() {
                let pack = |packer: &mut io::Result<Packer>, (i, before): (usize, &mut Undecided)| {
                    let packer = packer.as_mut().map_err(|error| io::Error::from(error.kind()))?;
                    let block = block_rows(group * GROUP + i, rows.len());
                    let count = planes.left(block.clone());
                    if !first && count == before.count {
                        return Ok(Vec::new());
                    }
                    let now = words.gather(block.clone(), |number, word| planes.undecided(number, word));
                    let mut decided = if first { words.valid(index, rows, block) } else { before.unpack(now.len()) };
                    decided.iter_mut().zip(&now).for_each(|(word, now)| *word &= !now);
                    let packed = if count == 0 {
                        None
                    } else {
                        Some(packer.memory.compress(bytemuck::cast_slice(&now))?.into())
                    };
                    *before = Undecided { count, words: packed };
                    pack_words(&mut packer.file, &decided)
                };
                let blocks = undecided.par_iter_mut().enumerate().map_init(Packer::new, pack);
                let blocks: io::Result<Vec<_>> = blocks.collect();
                write_all(&mut self.writer, &blocks.map_err(TableError::io(&self.path))?)?;
            }
        }
        self.rows = rows.len();
        self.stages += 1;
        Ok(())
    }

    /// Writes the blocks of the results: the lost positions, then the undecided positions.
    fn results(&mut self, iteration: &Iteration<'_>, planes: &ByColor<Planes<'_>>) -> Result<(), TableError> {
        let (rows, words) = (iteration.rows().len(), Words::new(iteration.index()));
        let blocks: Vec<usize> = (0..rows.div_ceil(BLOCK_ROWS)).collect();
        for color in Color::ALL {
            let planes = &planes[color];
            for group in blocks.chunks(GROUP) {
                let pack = |packer: &mut io::Result<Packer>, &block: &usize| {
                    let packer = packer.as_mut().map_err(|error| io::Error::from(error.kind()))?;
                    let block = block_rows(block, rows);
                    let mut result = words.gather(block.clone(), |number, word| planes.lost(number, word));
                    result.extend(words.gather(block, |number, word| planes.undecided(number, word)));
                    pack_words(&mut packer.file, &result)
                };
                let blocks = group.par_iter().map_init(Packer::new, pack);
                let blocks: io::Result<Vec<_>> = blocks.collect();
                write_all(&mut self.writer, &blocks.map_err(TableError::io(&self.path))?)?;
            }
        }
        Ok(())
    }
}

impl Words {
    /// The words of a block in the order and the byte order of the file.
    fn gather(&self, block: Range<usize>, word: impl Fn(usize, usize) -> u64) -> Vec<u64> {
        let mut words = Vec::with_capacity(block.len() * self.squares.len());
        for number in block {
            words.extend(self.squares.iter().map(|&square| word(number, square).to_le()));
        }
        words
    }

    /// All positions of a block, as words in the order and the byte order of the file.
    fn valid(&self, index: &Index, rows: &Rows, block: Range<usize>) -> Vec<u64> {
        let mut words = Vec::with_capacity(block.len() * self.squares.len());
        for number in block {
            let row = index.valid_row(rows.row(number));
            words.extend(self.squares.iter().map(|&square| row[square].to_le()));
        }
        words
    }
}

impl Undecided {
    fn unpack(&self, len: usize) -> Vec<u64> {
        let Some(words) = &self.words else { return vec![0; len] };
        bytemuck::pod_collect_to_vec(&decompress(words, 8 * len).expect("it was compressed from as many words"))
    }
}

/// A compressed block; empty if it has no position.
fn pack_words(compressor: &mut Compressor<'_>, words: &[u64]) -> io::Result<Vec<u8>> {
    if words.iter().all(|&word| word == 0) { Ok(Vec::new()) } else { compressor.compress(bytemuck::cast_slice(words)) }
}

fn write_all(writer: &mut StageWriter, blocks: &[Vec<u8>]) -> Result<(), TableError> {
    blocks.iter().try_for_each(|block| writer.block(block))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;

    #[test]
    fn a_failed_write_stops_the_count_and_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("EvL.stages");
        let recorder = Recorder::create(&path, &|_| ControlFlow::Continue(())).unwrap();
        let failed = recorder.record(|_| Err(TableError::Foreign { path: path.clone() }));
        assert!(matches!(failed, Err(SolveError::Stopped)));
        assert!(matches!(recorder.error(), Some(TableError::Foreign { .. })));
    }
}
