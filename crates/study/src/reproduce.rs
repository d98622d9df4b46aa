//! The published numbers, computed again and compared cell by cell.
//!
//! J. N. van Rijn, J. K. Vis: *Complexity and Retrograde Analysis of the Game Dou Shou Qi*, BNAIC 2013, and *Endgame
//! Analysis of Dou Shou Qi*, ICGA Journal 37(2), 2014. A [`Cell`] contains the printed and the computed number. If they
//! differ, it is [`Verdict::Explained`] only if a stated explanation predicts exactly the computed number.

use crate::minimax::{RootValues, minimax};
use doushouqi::board::{NoMove, Position, RuleOptions, Rules};
use doushouqi::perft::{Perft, PerftMode};
use doushouqi::tablebase::{Classes, Material, Options, SolveError, Solver, Stats};
use rayon::prelude::*;
use report::text::grouped;
use serde::Serialize;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Table 1: leaves of the minimax tree from the initial position at plies 1 to 7. A position that already occurred on
/// the line is one leaf.
pub const LEAVES: [u64; 7] = [24, 576, 12_240, 260_100, 5_098_477, 99_860_517, 1_890_415_534];
/// Table 1: the minimax values at those plies, with J. W. Burnett's evaluation.
pub(crate) const EVALUATIONS: [i64; 7] = [5, 0, 3, 0, 3, 0, 3];
/// Table 1: the best move, the same at every ply.
pub(crate) const BEST_MOVE: &str = "Eb3";
/// Not in print: the numbers of lines of 1 to 7 plies, which continue after a repeated position.
pub(crate) const PERFT: [u64; 7] = [24, 576, 12_240, 260_100, 5_111_725, 100_459_989, 1_908_483_421];

/// A row of table 2: all positions of one piece count with White to move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct EndgameCounts {
    /// Pieces of both sides together.
    pub pieces: usize,
    /// Positions with White to move.
    pub positions: u64,
    /// Positions that White wins.
    pub wins: u64,
    /// Positions that Black wins.
    pub losses: u64,
    /// Drawn positions, stalemates excluded.
    pub draws: u64,
    /// The longest distance in plies.
    pub longest: u64,
}

/// Table 2 as printed.
pub const ENDGAMES: [EndgameCounts; 3] = [
    EndgameCounts { pieces: 2, positions: 160_068, wins: 82_852, losses: 64_501, draws: 12_715, longest: 34 },
    EndgameCounts {
        pieces: 3,
        positions: 54_354_684,
        wins: 30_297_857,
        losses: 23_369_820,
        draws: 687_007,
        longest: 67,
    },
    EndgameCounts {
        pieces: 4,
        positions: 9_685_020_510,
        wins: 5_468_841_129,
        losses: 4_001_236_829,
        draws: 214_942_568,
        longest: 117,
    },
];

/// Not in print: the positions of 2, 3 and 4 pieces whose side to move has no legal move.
pub const WITHOUT_MOVE: [u64; 3] = [0, 1_212, 355_554];
/// Counts of four pieces with stalemate a draw, as the papers state the rules.
pub(crate) const FOUR_NO_MOVE_DRAW: EndgameCounts = EndgameCounts {
    pieces: 4,
    positions: 9_685_376_064,
    wins: 5_468_840_343,
    losses: 4_001_236_449,
    draws: 214_943_718,
    longest: 118,
};
/// Counts of four pieces with stalemate a loss.
pub(crate) const FOUR_NO_MOVE_LOSS: EndgameCounts = EndgameCounts {
    pieces: 4,
    positions: 9_685_376_064,
    wins: 5_468_841_113,
    losses: 4_001_236_829,
    draws: 214_942_568,
    longest: 118,
};

/// The content of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Datum {
    /// A count or a value.
    Number(i64),
    /// A move.
    Text(String),
}

impl From<u64> for Datum {
    fn from(number: u64) -> Datum {
        Datum::Number(i64::try_from(number).expect("counts are far below 2^63"))
    }
}

/// How a computed number compares with the printed one.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// The numbers are equal.
    #[serde(rename = "agrees")]
    Agrees,
    /// The numbers differ, and the cell's note accounts for exactly this difference.
    #[serde(rename = "explained")]
    Explained,
    /// The numbers differ, and no note accounts for it.
    #[serde(rename = "DIFFERS")]
    Differs,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Agrees => "agrees",
            Verdict::Explained => "explained",
            Verdict::Differs => "DIFFERS",
        })
    }
}

/// One printed number with the computed number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// The table's number, 1 or 2.
    pub table: u8,
    /// The row's name.
    pub row: String,
    /// The column's name.
    pub column: &'static str,
    /// The printed number.
    pub printed: Datum,
    /// The computed number.
    pub computed: Datum,
    /// The comparison of the two.
    pub verdict: Verdict,
    /// A note; never missing if the verdict is [`Verdict::Explained`].
    pub note: Option<String>,
}

/// An explanation of a difference: the predicted number and the reason.
struct Explanation {
    expected: Datum,
    note: String,
}

fn explanation(expected: u64, note: &str) -> Option<Explanation> {
    Some(Explanation { expected: expected.into(), note: note.to_owned() })
}

impl Cell {
    fn new(
        table: u8,
        row: &str,
        column: &'static str,
        (printed, computed): (impl Into<Datum>, impl Into<Datum>),
        explanation: Option<Explanation>,
    ) -> Cell {
        let (printed, computed) = (printed.into(), computed.into());
        let (verdict, note) = match explanation {
            _ if printed == computed => (Verdict::Agrees, None),
            Some(Explanation { expected, note }) if expected == computed => (Verdict::Explained, Some(note)),
            _ => (Verdict::Differs, None),
        };
        Cell { table, row: row.to_owned(), column, printed, computed, verdict, note }
    }
}

/// The number of cells by verdict.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    /// The worst verdict of all.
    pub verdict: Verdict,
    /// Number of all cells.
    pub cells: usize,
    /// Cells that agree.
    pub agree: usize,
    /// Cells that differ as explained.
    pub explained: usize,
    /// Cells that differ without explanation.
    pub differ: usize,
}

/// Seconds that the computations took.
#[derive(Copy, Clone, Debug, Serialize)]
pub struct Seconds {
    /// Search from the initial position.
    pub table1: f64,
    /// Solving endgames.
    pub table2: f64,
    /// Total of both tables.
    pub total: f64,
}

/// The result of [`reproduce`].
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Every number of both tables.
    pub cells: Vec<Cell>,
    /// The conclusions in plain sentences: misprints and differences in counting, with reasons.
    pub sentences: Vec<String>,
    /// The time taken.
    pub seconds: Seconds,
}

impl Report {
    /// Counts the verdicts.
    #[must_use]
    pub fn count(&self) -> Count {
        let of = |verdict| self.cells.iter().filter(|c| c.verdict == verdict).count();
        let (agree, explained, differ) = (of(Verdict::Agrees), of(Verdict::Explained), of(Verdict::Differs));
        let verdict = match (differ, explained) {
            (0, 0) => Verdict::Agrees,
            (0, _) => Verdict::Explained,
            _ => Verdict::Differs,
        };
        Count { verdict, cells: self.cells.len(), agree, explained, differ }
    }

    /// The cells that differ from the print without an explanation.
    pub fn differing(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(|c| c.verdict == Verdict::Differs)
    }
}

/// Computes both tables on the threads of the current rayon pool and compares them with the print. Calls `progress`
/// with the number of finished steps and of all steps.
///
/// # Errors
/// If the memory for the tables cannot be allocated.
pub fn reproduce(progress: &(dyn Fn(u64, u64) + Sync)) -> Result<Report, SolveError> {
    let draw = RuleOptions::PAPER;
    let mut loss = draw;
    loss.no_move = NoMove::Loss;
    let most = ENDGAMES[ENDGAMES.len() - 1].pieces;
    let total = 3 * LEAVES.len() as u64 + 2 * Classes::new(&draw, most).len() as u64;
    let done = AtomicU64::new(0);
    let step = || progress(done.fetch_add(1, Relaxed) + 1, total);

    let start = Instant::now();
    let mut cells = Vec::new();
    let mut sentences = Vec::new();
    table1(&Rules::new(draw), &mut cells, &mut sentences, &step);
    let table1 = start.elapsed().as_secs_f64();
    table2(&Levels::solve(&draw, &step)?, &Levels::solve(&loss, &step)?, &mut cells, &mut sentences);
    let total = start.elapsed().as_secs_f64();
    Ok(Report { cells, sentences, seconds: Seconds { table1, table2: total - table1, total } })
}

fn table1(rules: &Rules, cells: &mut Vec<Cell>, sentences: &mut Vec<String>, step: &(dyn Fn() + Sync)) {
    let start = Position::start();
    let plies = 1..=LEAVES.len() as u32;
    let count = |mode| {
        plies
            .clone()
            .map(|ply| {
                let nodes = Perft::new(rules, mode).count(&start, ply);
                step();
                nodes
            })
            .collect::<Vec<u64>>()
    };
    let search = |ply| {
        let root = minimax(&start, rules, ply);
        step();
        root
    };
    let (roots, (leaves, perft)) = rayon::join(
        || {
            // The deepest search first, because it takes longest.
            let mut roots: Vec<RootValues> =
                plies.clone().rev().collect::<Vec<u32>>().into_par_iter().with_max_len(1).map(search).collect();
            roots.reverse();
            roots
        },
        || (count(PerftMode::Leaf), count(PerftMode::Expand)),
    );

    const EXPANDED: &str = "Plain perft is not in print. It is compared with the printed leaves, which count a position that \
                            already occurred on the line as one leaf; plain perft plays on from it, so it is higher from \
                            ply 5 on.";
    let mut ties = Vec::new();
    for (i, (ply, root)) in plies.clone().zip(&roots).enumerate() {
        let row = ply.to_string();
        cells.push(Cell::new(1, &row, "leaves", (LEAVES[i], leaves[i]), None));
        cells.push(Cell::new(1, &row, "plain perft", (LEAVES[i], perft[i]), explanation(PERFT[i], EXPANDED)));
        let value = Datum::Number(root.value.into());
        cells.push(Cell::new(1, &row, "evaluation", (Datum::Number(EVALUATIONS[i]), value), None));
        let best: Vec<String> = root.best.iter().map(|mv| mv.notation(&start)).collect();
        let found = if best.iter().any(|mv| mv == BEST_MOVE) { BEST_MOVE.to_owned() } else { best.join(" ") };
        let mut cell = Cell::new(1, &row, "move", (Datum::Text(BEST_MOVE.to_owned()), Datum::Text(found)), None);
        if best.len() > 1 && cell.verdict == Verdict::Agrees {
            cell.note = Some(format!("one of {} moves of the same value", best.len()));
            ties.push((row, best));
        }
        cells.push(cell);
    }
    collect_notes(cells, sentences, 1);
    // One sentence for consecutive plies with the same moves.
    for same in ties.chunk_by(|a, b| a.1 == b.1) {
        let rows: Vec<String> = same.iter().map(|(row, _)| row.clone()).collect();
        let (plies, best) = (if rows.len() == 1 { "ply" } else { "plies" }, &same[0].1);
        sentences.push(format!(
            "At {plies} {} {BEST_MOVE} is one of {} moves of the same value: {}.",
            and(&rows),
            best.len(),
            and(best)
        ));
    }
}

/// The levels of table 2 under one rule.
struct Levels {
    stats: Vec<Stats>,
    /// The materials with the longest line of all, with White to move.
    longest: Vec<Material>,
    longest_positions: u64,
}

impl Levels {
    fn solve(options: &RuleOptions, step: &(dyn Fn() + Sync)) -> Result<Levels, SolveError> {
        let most = ENDGAMES[ENDGAMES.len() - 1].pieces;
        let mut solver = Solver::new(options, most, Options::default());
        let mut stats = Vec::new();
        for row in ENDGAMES {
            solver.solve_level(row.pieces, row.pieces < most, &|_, _| step())?;
            stats.push(solver.level_stats(row.pieces).expect("the level is solved"));
        }
        let last = stats.last().expect("there are levels");
        let plies = last.summary().longest as usize;
        let mut longest = Vec::new();
        for (id, class) in solver.classes().level(most) {
            let stats = solver.class_stats(id).expect("the level is solved");
            for (stats, materials) in [(&stats.white, &class.same), (&stats.black, &class.swapped)] {
                if stats.by_plies.get(plies).is_some_and(|&n| n > 0) {
                    longest.extend_from_slice(materials);
                }
            }
        }
        longest.sort();
        let longest_positions = last.by_plies[plies];
        Ok(Levels { stats, longest, longest_positions })
    }

    fn describe_longest(&self) -> String {
        let last = self.stats.last().expect("there are levels");
        let plies = last.summary().longest;
        format!(
            "The longest line of four pieces is a {} in {plies} plies, in {} positions with White to move: {}; the longest \
             win takes {} plies.",
            if plies % 2 == 1 { "win" } else { "loss" },
            grouped(self.longest_positions),
            and(&self.longest.iter().map(Material::to_string).collect::<Vec<_>>()),
            longest_win(last),
        )
    }
}

/// The sentence that explains why the print has fewer positions.
fn left_out() -> String {
    let counts = WITHOUT_MOVE.iter().zip(&ENDGAMES).filter(|(count, _)| **count > 0);
    let counts: Vec<String> = counts.map(|(&n, row)| format!("{} of {} pieces", grouped(n), row.pieces)).collect();
    format!("The print leaves out the positions without a legal move, {}.", and(&counts))
}

/// The longest win in plies: wins are at odd distances.
fn longest_win(stats: &Stats) -> u64 {
    (0..stats.by_plies.len()).rev().find(|&plies| plies % 2 == 1 && stats.by_plies[plies] > 0).unwrap_or(0) as u64
}

fn table2(draw: &Levels, loss: &Levels, cells: &mut Vec<Cell>, sentences: &mut Vec<String>) {
    let four = ENDGAMES.len() - 1;
    for (i, printed) in ENDGAMES.iter().enumerate().take(four) {
        let expected = EndgameCounts { positions: printed.positions + WITHOUT_MOVE[i], ..*printed };
        row(&printed.pieces.to_string(), printed, &expected, &draw.stats[i], None, cells);
    }
    let printed = &ENDGAMES[four];
    let surplus = printed.wins + printed.losses + printed.draws - printed.positions;
    let stated = "The printed four-piece row is not that of the stated rule, that no legal move is a draw: its losses and \
                  draws come out when a side without a legal move loses.";
    let misprint = format!(
        "The printed four-piece wins are a misprint, {surplus} too high: the printed row does not add up, its wins, losses and \
         draws are {surplus} more than its positions."
    );
    row("4 no-move=draw", printed, &FOUR_NO_MOVE_DRAW, &draw.stats[four], Some(stated), cells);
    row("4 no-move=loss", printed, &FOUR_NO_MOVE_LOSS, &loss.stats[four], Some(&misprint), cells);
    collect_notes(cells, sentences, 2);

    let [of_draw, of_loss] = [draw, loss].map(Levels::describe_longest);
    if of_draw == of_loss {
        sentences.push(format!("{of_draw} That is so under either rule."));
    } else {
        sentences.push(format!("Where no move is a draw: {of_draw}"));
        sentences.push(format!("Where no move is a loss: {of_loss}"));
    }
    if loss.longest_positions == surplus && loss.stats[four].summary().longest > printed.longest {
        sentences.push(format!(
            "So there are {surplus} positions whose line is longer than the print's longest, as many as its wins are too \
             many: it may have counted just these twice, as won and as lost. That is a guess."
        ));
    }
    if draw.stats[..four] == loss.stats[..four] {
        sentences.push("Two and three pieces come to the same numbers under both rules.".to_owned());
    }
}

/// A row of table 2. `note` explains what is expected to differ in wins, losses and draws.
fn row(
    name: &str,
    printed: &EndgameCounts,
    expected: &EndgameCounts,
    stats: &Stats,
    note: Option<&str>,
    cells: &mut Vec<Cell>,
) {
    let s = stats.summary();
    let explained = |expected| note.and_then(|note| explanation(expected, note));
    let win_only = format!(
        "The print's longest line of {} pieces, {} plies, is the longest win, but the longest line is a loss of {} plies.",
        printed.pieces, printed.longest, expected.longest
    );
    let longest = (longest_win(stats) == printed.longest).then(|| explanation(expected.longest, &win_only)).flatten();
    let positions =
        (s.positions - s.no_move == printed.positions).then(|| explanation(expected.positions, &left_out())).flatten();
    cells.extend([
        Cell::new(2, name, "positions", (printed.positions, s.positions), positions),
        Cell::new(2, name, "wins", (printed.wins, s.wins), explained(expected.wins)),
        Cell::new(2, name, "losses", (printed.losses, s.losses), explained(expected.losses)),
        Cell::new(2, name, "draws", (printed.draws, s.draws), explained(expected.draws)),
        Cell::new(2, name, "longest", (printed.longest, s.longest), longest),
    ]);
}

/// Adds each note of the cells once, in the order of the cells.
fn collect_notes(cells: &[Cell], sentences: &mut Vec<String>, table: u8) {
    for cell in cells.iter().filter(|c| c.table == table && c.verdict == Verdict::Explained) {
        if let Some(note) = &cell.note
            && !sentences.contains(note)
        {
            sentences.push(note.clone());
        }
    }
}

/// Joins items as in "a, b and c".
fn and(items: &[String]) -> String {
    match items {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_print_does_not_add_up_by_sixteen() {
        for (row, surplus) in ENDGAMES.iter().zip([0, 0, 16]) {
            assert_eq!(row.wins + row.losses + row.draws - row.positions, surplus, "{} pieces", row.pieces);
        }
        for row in [FOUR_NO_MOVE_DRAW, FOUR_NO_MOVE_LOSS] {
            assert_eq!(row.wins + row.losses + row.draws + WITHOUT_MOVE[2], row.positions);
        }
        assert_eq!(ENDGAMES[2].wins - FOUR_NO_MOVE_LOSS.wins, 16);
    }

    #[test]
    fn a_verdict_needs_the_expected_number() {
        let verdict = |computed: u64, expected| {
            Cell::new(2, "4", "wins", (10u64, computed), explanation(expected, "because")).verdict
        };
        assert_eq!(verdict(10, 9), Verdict::Agrees);
        assert_eq!(verdict(9, 9), Verdict::Explained);
        assert_eq!(verdict(8, 9), Verdict::Differs);
        assert_eq!(Cell::new(2, "4", "wins", (10u64, 9u64), None).verdict, Verdict::Differs);
    }

    #[test]
    fn one_differing_cell_decides() {
        let cell = |computed: u64| Cell::new(1, "1", "leaves", (24u64, computed), explanation(25, "because"));
        let report = |cells: Vec<Cell>| Report {
            cells,
            sentences: Vec::new(),
            seconds: Seconds { table1: 0.0, table2: 0.0, total: 0.0 },
        };
        assert_eq!(report(vec![cell(24)]).count().verdict, Verdict::Agrees);
        assert_eq!(report(vec![cell(24), cell(25)]).count().verdict, Verdict::Explained);
        let count = report(vec![cell(24), cell(25), cell(26)]).count();
        assert_eq!(count, Count { verdict: Verdict::Differs, cells: 3, agree: 1, explained: 1, differ: 1 });
    }
}
