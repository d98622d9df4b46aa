//! Perft: the number of lines of legal moves of a given length.
//!
//! ```
//! use doushouqi::board::{Position, Rules};
//! use doushouqi::perft::{Perft, PerftMethod, PerftMode};
//!
//! let rules = Rules::default();
//! let perft = Perft::new(&rules, PerftMode::Expand);
//! assert_eq!(perft.count(&Position::start(), 4), 260_100);
//! let bulk = Perft::new(&rules, PerftMode::Expand).with_method(PerftMethod::Bulk);
//! assert_eq!(bulk.count(&Position::start(), 4), 260_100);
//! ```

mod count;
#[cfg(feature = "gpu")]
mod gpu;
mod layers;
mod mode;
mod two_plies;

#[cfg(feature = "gpu")]
pub use gpu::GpuPerft;
pub use mode::{PerftMethod, PerftMode};

use crate::board::{Move, Position, Rules};
use crate::cpu::CpuLevel;
use count::Path;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Counts lines of moves on the threads of the current rayon pool.
///
/// A line ends early where the game does: in plain perft ([`PerftMode::Expand`]) it is not counted, with
/// [`PerftMode::Leaf`] it is a leaf. The last move of a line counts whatever it leads to. Without another
/// [`PerftMethod`], plain perft merges equal positions, so its speed is none of move generation.
pub struct Perft<'a> {
    rules: &'a Rules,
    mode: PerftMode,
    method: PerftMethod,
    level: CpuLevel,
    memory: usize,
    progress: Option<&'a (dyn Fn(f64) + Sync)>,
    stop: Option<&'a AtomicBool>,
}

/// Lines of fewer plies are counted depth first, as one task.
const SPLIT_DEPTH: u32 = 5;
/// The smallest share of the whole count that is divided further for reports of progress.
const SMALLEST_SHARE: f64 = 1e-3;

impl<'a> Perft<'a> {
    /// A count of more plies may not fit into 64 bits.
    pub const MAX_DEPTH: u32 = 13;
    /// The default limit of memory: 1 GiB.
    pub const MEMORY: usize = 1 << 30;

    /// Counts under these rules.
    #[must_use]
    pub fn new(rules: &'a Rules, mode: PerftMode) -> Perft<'a> {
        let (method, level) = (PerftMethod::Merged, CpuLevel::get());
        Perft { rules, mode, method, level, memory: Perft::MEMORY, progress: None, stop: None }
    }

    /// Counts with this method.
    #[must_use]
    pub fn with_method(self, method: PerftMethod) -> Perft<'a> {
        Perft { method, ..self }
    }

    /// The method of the count: [`PerftMethod::TwoPlies`] instead of [`PerftMethod::Merged`] in [`PerftMode::Leaf`].
    #[must_use]
    pub fn method(&self) -> PerftMethod {
        match (self.mode, self.method) {
            (PerftMode::Leaf, PerftMethod::Merged) => PerftMethod::TwoPlies,
            (_, method) => method,
        }
    }

    /// Uses the vector instructions of this level.
    #[must_use]
    pub fn with_level(self, level: CpuLevel) -> Perft<'a> {
        Perft { level, ..self }
    }

    /// Stores the positions of a ply in at most `bytes` bytes. If there are more, they are expanded in parts, and a position that
    /// several parts lead to is counted several times.
    #[must_use]
    pub fn with_memory(self, bytes: usize) -> Perft<'a> {
        Perft { memory: bytes, ..self }
    }

    /// Calls `progress`, from any thread, with the share of each part that is counted. The shares add up to 1.
    #[must_use]
    pub fn with_progress(self, progress: &'a (dyn Fn(f64) + Sync)) -> Perft<'a> {
        Perft { progress: Some(progress), ..self }
    }

    /// Ends counts soon after `stop` has become true. The number returned by a stopped count is meaningless.
    #[must_use]
    pub fn with_stop(self, stop: &'a AtomicBool) -> Perft<'a> {
        Perft { stop: Some(stop), ..self }
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// The number of lines of `depth` plies; `u64::MAX` if there are more, as there may be above [`Perft::MAX_DEPTH`].
    #[must_use]
    pub fn count(&self, position: &Position, depth: u32) -> u64 {
        self.lines(depth, &Path::new(position), 1.0)
    }

    /// The count after each legal move. With a `depth` of 0 the list is empty.
    #[must_use]
    pub fn divide(&self, position: &Position, depth: u32) -> Vec<(Move, u64)> {
        if depth == 0 {
            return Vec::new();
        }
        let path = Path::new(position);
        let moves: Vec<Move> = position.moves(self.rules).to_vec();
        let share = 1.0 / moves.len() as f64;
        // One after the other, because each count may use all the memory.
        moves.into_iter().map(|mv| (mv, self.child(position, mv, depth, &path, share))).collect()
    }

    /// The lines of `depth` plies from the last position of a path, which make up this share of the whole count.
    fn lines(&self, depth: u32, path: &Path, share: f64) -> u64 {
        if self.is_stopped() {
            return 0;
        }
        let position = path.last();
        if depth < SPLIT_DEPTH || position.winner().is_some() {
            let plies = self.method().counted_plies();
            return self.report(share, count::count(self.level, self.rules, self.mode, plies, depth, path));
        }
        if self.method() == PerftMethod::Merged {
            return self.by_layers(position, depth, share);
        }
        let moves: Vec<Move> = position.moves(self.rules).to_vec();
        if moves.is_empty() {
            return self.report(share, u64::from(self.mode == PerftMode::Leaf));
        }
        let each = share / moves.len() as f64;
        let (each, rest) = if each < SMALLEST_SHARE { (0.0, share) } else { (each, 0.0) };
        let count = moves.into_par_iter().map(|mv| self.child(position, mv, depth, path, each)).sum();
        self.report(rest, count)
    }

    fn child(&self, position: &Position, mv: Move, depth: u32, path: &Path, share: f64) -> u64 {
        let next = position.make(mv);
        if self.mode == PerftMode::Leaf && path.contains(&next) {
            return self.report(share, 1);
        }
        self.lines(depth - 1, &path.with(&next), share)
    }

    /// Reports the finished share of the whole count, if the caller wants reports.
    fn report(&self, share: f64, count: u64) -> u64 {
        if let Some(progress) = self.progress.filter(|_| share > 0.0) {
            progress(share);
        }
        count
    }
}
