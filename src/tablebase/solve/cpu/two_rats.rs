//! The class of two rats, solved move by move. It is the only class whose word piece swims, and has only one row.

use crate::board::{ByColor, Color, NoMove, Position, Rules};
use crate::tablebase::Stats;
use crate::tablebase::index::{Index, ROW_CELLS};
use crate::tablebase::solve::backend::Solved;
use crate::tablebase::solve::cpu::conversions::MAX_PLIES;
use crate::tablebase::solve::cpu::rows::Rows;
use crate::tablebase::solve::cpu::task::{Keep, Task};
use crate::tablebase::solve::error::SolveError;
use crate::tablebase::solve::values::SolvedRows;
use crate::tablebase::value::{Cells, Code, DRAW, NO_MOVE, decided};
use std::cmp::Reverse;
use std::sync::Arc;

/// An undecided position.
struct Open {
    cell: usize,
    /// Whether a move ends the game, which wins: no move of a rat enters its own den.
    ends: bool,
    /// The cells after the other moves.
    to: Vec<usize>,
}

/// The undecided positions with this side to move.
fn open(index: &Index, turn: Color, rules: &Rules) -> Vec<Open> {
    let cell = |position: &Position| {
        let squares: Option<Vec<_>> =
            index.pieces.iter().map(|&piece| position.square_of(piece.color, piece.animal)).collect();
        index.cell(&squares.expect("no piece was taken"))
    };
    let of_cell = |at: usize| {
        let position = index.position(at, turn)?;
        let after = || position.moves(rules).into_iter().map(|mv| position.make(mv));
        let ends = after().any(|after| after.winner().is_some());
        Some(Open {
            cell: at,
            ends,
            to: after().filter(|after| after.winner().is_none()).map(|after| cell(&after)).collect(),
        })
    };
    (0..ROW_CELLS).filter_map(of_cell).collect()
}

/// Solves the class with this index, as [`solve`](super::iteration::solve) solves the others.
///
/// # Errors
/// An error of the observer.
pub(super) fn solve_two_rats(task: &Task<'_>, index: Index) -> Result<Solved, SolveError> {
    let (options, metric) = (task.classes.options(), task.classes.metric());
    let rules = Rules::new(*options);
    let mut open = ByColor::from_fn(|turn| open(&index, turn, &rules));
    let mut codes: ByColor<Vec<Code>> = ByColor::from_fn(|_| vec![0; ROW_CELLS]);
    let [mut won, mut lost] =
        [ByColor::from_fn(|_| vec![false; ROW_CELLS]), ByColor::from_fn(|_| vec![false; ROW_CELLS])];
    for turn in Color::ALL {
        open[turn].retain(|&Open { cell, ends, ref to }| {
            let stuck = !ends && to.is_empty();
            codes[turn][cell] = if stuck { NO_MOVE } else { DRAW };
            lost[turn][cell] = stuck && options.no_move == NoMove::Loss;
            !stuck
        });
    }
    for plies in 1..=options.no_capture_limit.unwrap_or(MAX_PLIES) {
        let before = open.white.len() + open.black.len();
        let wins = plies % 2 == 1;
        for turn in Color::ALL {
            open[turn].retain(|&Open { cell, ends, ref to }| {
                let found = if wins {
                    ends || to.iter().any(|&to| lost[!turn][to])
                } else {
                    !ends && to.iter().all(|&to| won[!turn][to])
                };
                if found {
                    codes[turn][cell] = decided(metric.decided(wins, plies));
                    (if wins { &mut won } else { &mut lost })[turn][cell] = true;
                }
                !found
            });
        }
        task.observer.pass(plies)?;
        if open.white.len() + open.black.len() == before {
            break;
        }
    }
    let deepest = ByColor::from_fn(|turn| {
        let decided = (0..ROW_CELLS).filter(|&cell| codes[turn][cell] > NO_MOVE);
        decided.min_by_key(|&cell| Reverse(codes[turn][cell]))
    });
    let codes = codes.map(Cells::Wide);
    let stats = ByColor::from_fn(|turn| Stats::of(codes[turn].view(), |row| index.weight(row)));
    let rows = Arc::new(Rows::new(&index, options));
    let values = SolvedRows::of_codes(index, rows, &stats, codes).expect("the counts are those of the codes");
    task.watch.map_or(Ok(()), |watch| watch.read(&values))?;
    Ok(Solved { stats, deepest, values: matches!(task.keep, Keep::Log(_)).then_some(values) })
}
