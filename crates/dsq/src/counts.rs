//! Counts of classes as tables of a page.

use doushouqi::board::{ByColor, Color};
use doushouqi::tablebase::{Material, Metric, Stats, Summary};
use report::text::{Table, grouped};

/// The cells for the number of positions and their results.
pub fn endings(s: &Summary) -> [String; 5] {
    [s.positions, s.no_move, s.wins, s.losses, s.draws].map(grouped)
}

/// The heading of [`columns`].
pub const COLUMNS: &str =
    "         positions     no move               wins             losses            draws longest";

/// Counts as columns of a terminal.
pub fn columns(s: &Summary) -> String {
    let [positions, no_move, wins, losses, draws] = endings(s);
    format!("{positions:>18} {no_move:>11} {wins:>18} {losses:>18} {draws:>16} {:>7}", s.longest)
}

/// A section with two rows for each class, White and Black of its representative to move.
pub fn class_by_class<'a>(metric: Metric, classes: impl Iterator<Item = (Material, &'a ByColor<Stats>)>) -> String {
    let mut table = Table::new(&[
        "<class, side to move",
        "positions",
        "no legal move",
        "wins",
        "losses",
        "draws",
        "draws, share",
        "longest",
    ]);
    for (class, stats) in classes {
        for (turn, name) in [(Color::White, "White"), (Color::Black, "Black")] {
            let s = metric.summary(&stats[turn]);
            let share = format!("{:.4} %", 100.0 * s.draws as f64 / s.positions.max(1) as f64);
            let name = [format!("{class}, {name}")];
            table.row(name.into_iter().chain(endings(&s)).chain([share, s.longest.to_string()]));
        }
    }
    format!("## Class by class\n\n{}", table.markdown())
}
