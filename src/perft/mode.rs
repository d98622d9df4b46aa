//! The two ways of counting.

/// The count of a position that already occurred on the line.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum PerftMode {
    /// Plain perft: repetition does not matter. A finished game has no moves, so it counts 0 before the last ply.
    #[default]
    Expand,
    /// The leaves of a minimax search: a position that already occurred on the line is one leaf, and so is one that is
    /// finished or without a legal move (stalemate), at any ply.
    Leaf,
}
