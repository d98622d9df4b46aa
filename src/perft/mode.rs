//! What a line is, and the work behind a count.

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

/// The work behind a count. The count is the same with each method; the speeds differ by orders of magnitude, and only speeds
/// of one method compare. What other programs call their perft speed is `Made` or `Bulk`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum PerftMethod {
    /// Every move is made, also the last of each line.
    Made,
    /// The moves of the last ply are counted, not made (bulk counting). A GPU counts in this way.
    Bulk,
    /// The moves of the last two plies are counted from bitboards, not made.
    TwoPlies,
    /// As `TwoPlies`, and equal positions of a ply are expanded once. In [`PerftMode::Leaf`], which depends on the whole
    /// line, no positions can be merged.
    Merged,
}

impl PerftMethod {
    /// Every method, the one with the most work first.
    pub const ALL: [PerftMethod; 4] =
        [PerftMethod::Made, PerftMethod::Bulk, PerftMethod::TwoPlies, PerftMethod::Merged];

    /// The name: `made`, `bulk`, `two-plies` or `merged`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            PerftMethod::Made => "made",
            PerftMethod::Bulk => "bulk",
            PerftMethod::TwoPlies => "two-plies",
            PerftMethod::Merged => "merged",
        }
    }

    /// Which moves are made, in a few words.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            PerftMethod::Made => "every move is made",
            PerftMethod::Bulk => "the last ply is counted, not made",
            PerftMethod::TwoPlies => "the last two plies are counted, not made",
            PerftMethod::Merged => "equal positions are expanded once",
        }
    }

    /// The plies at the end of each line whose moves are not made.
    pub(super) const fn counted_plies(self) -> u32 {
        match self {
            PerftMethod::Made => 0,
            PerftMethod::Bulk => 1,
            PerftMethod::TwoPlies | PerftMethod::Merged => 2,
        }
    }
}
