//! The margins, depths and reductions of the search. Values are in cp and multiplied by the scale of the evaluation;
//! depths are in plies.

use super::score::Value;

/// Iterative deepening: the depth from which on aspiration windows are used.
pub(super) const ASPIRATION_DEPTH: i32 = 5;
/// The distance of an aspiration window's bounds from the last value. It doubles with each search that fails.
pub(super) const ASPIRATION_DELTA: Value = 25;
/// The distance above which the window is opened.
pub(super) const ASPIRATION_MAX: Value = 600;

/// Reverse futility pruning (RFP): the greatest depth, the margin for each ply, and the part of it that improving
/// positions are spared.
pub(super) const RFP_DEPTH: i32 = 7;
pub(super) const RFP_MARGIN: Value = 70;
pub(super) const RFP_IMPROVING: Value = 50;

/// Internal iterative reductions (IIR): the least depth.
pub(super) const IIR_DEPTH: i32 = 4;

/// Late move pruning (LMP): the greatest depth, and the moves that are searched at depth 0. The square of the depth is
/// added to it; half of the sum counts if the position is not improving.
pub(super) const LMP_DEPTH: i32 = 8;
pub(super) const LMP_MOVES: i32 = 4;

/// Singular extensions: the least depth, by how much the table's search may be less deep, and the margin for each ply
/// below the table's value.
pub(super) const SINGULAR_DEPTH: i32 = 7;
pub(super) const SINGULAR_TT_DEPTH: i32 = 3;
pub(super) const SINGULAR_MARGIN: Value = 2;

/// Late move reductions (LMR): the reduction is `LMR_BASE` plus the product of the logarithms of depth and number of
/// the move, divided by `LMR_DIVISOR`.
pub(super) const LMR_BASE: f64 = 0.75;
pub(super) const LMR_DIVISOR: f64 = 2.1;
/// The least depth, and at the root the least depth and the first move that is reduced.
pub(super) const LMR_DEPTH: i32 = 2;
pub(super) const LMR_ROOT_DEPTH: i32 = 3;
pub(super) const LMR_ROOT_MOVES: usize = 3;
/// The history score that is worth one ply, and the most plies.
pub(super) const LMR_HISTORY: i32 = 8000;
pub(super) const LMR_HISTORY_MAX: i32 = 2;

/// Delta pruning in the quiescence search: the margin above the value of the captured piece.
pub(super) const DELTA_MARGIN: Value = 150;

/// History: the bonus of a move that causes a cutoff, `HISTORY_SQUARE` times the square of the depth plus
/// `HISTORY_LINEAR` times the depth, at most `HISTORY_MAX`; and the bound of the scores.
pub(super) const HISTORY_SQUARE: i32 = 20;
pub(super) const HISTORY_LINEAR: i32 = 60;
pub(super) const HISTORY_MAX: i32 = 1600;
pub(super) const HISTORY_LIMIT: i32 = 8192;

/// Correction history: the bound of each of the two parts of a correction, in sixteenths of a cp.
pub(super) const CORRECTION_LIMIT: i32 = 1024;

/// Endgame tables: the plies by which a stored table value is worth more than a search.
pub(super) const TB_DEPTH: i32 = 6;

/// Time management: the factor of the time for which an iteration may begin, by the number of consecutive iterations
/// with the same best move.
pub(super) const STABILITY: [f64; 6] = [1.6, 1.3, 1.1, 1.0, 0.9, 0.8];
