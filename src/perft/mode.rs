//! What is counted.

/// What a position that already occurred on the line counts as.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum PerftMode {
    /// Nothing special: plain perft. A finished game has no moves, so it counts 0 before the last ply.
    #[default]
    Expand,
    /// The leaves of a minimax search: a position that already occurred on the line is one leaf, and so is one that is
    /// finished or without a move, at whatever ply.
    Leaf,
}
