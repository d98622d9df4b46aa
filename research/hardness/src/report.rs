//! `complexity.md`: measurements of the reduction, with a plot and the raw figures.

use super::circuit::Circuit;
use super::formula::Formula;
use super::layout::LayoutError;
use super::measure::{self, GameSeries, Size};
use doushouqi::cpu::cpu_name;
use report::plot::{Axis, Line, PlotError, line_chart};
use report::text::{Table, grouped};
use std::fmt::Write;
use std::time::Instant;
use thiserror::Error;

/// The error of a report that cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A formula's board would be too large.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The games of a formula cannot be played.
    #[error("{0}")]
    Games(String),
    /// The plot cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
}

/// The progress of [`Report::measure`].
pub enum ReportStep<'a> {
    /// The next measurement begins.
    Begins(&'static str),
    /// A series of games has been played.
    Played(&'a GameSeries),
}

/// All measurements of the reduction.
pub struct Report {
    channels: usize,
    sizes: Vec<Size>,
    /// Seconds spent compiling the formulas of `sizes`.
    seconds: f64,
    small: Agreement,
    random: Agreement,
    played: Vec<GameSeries>,
    plot: String,
}

/// The number of compared formulas, and the number for which circuit and formula game have the same winner.
struct Agreement {
    formulas: usize,
    agree: usize,
}

impl Agreement {
    fn of(formulas: &[Formula]) -> Agreement {
        let agrees = |formula: &&Formula| {
            let circuit = Circuit::of(formula);
            let by_circuit =
                measure::winner_by(formula.variables(), |set| circuit.evaluate_gates(|v| set >> v & 1 != 0));
            formula.game().is_ok_and(|mut game| game.winner() == by_circuit)
        };
        Agreement { formulas: formulas.len(), agree: formulas.iter().filter(agrees).count() }
    }
}

impl Report {
    /// Measures sizes, the agreement of circuits with formula games, and `games` games of each formula of
    /// [`measure::SUITE`] against each opponent, seeded from `seed` on. It takes about an hour with 34 games.
    ///
    /// # Errors
    /// If a board would be too large, or the plot cannot be drawn.
    pub fn measure(
        channels: usize,
        games: u64,
        seed: u64,
        step: &mut dyn FnMut(ReportStep<'_>),
    ) -> Result<Report, ReportError> {
        step(ReportStep::Begins("sizes"));
        let start = Instant::now();
        let sizes = measure::sizes(12, channels, seed)?;
        let seconds = start.elapsed().as_secs_f64();
        step(ReportStep::Begins("formulas against circuits"));
        let small = Agreement::of(&measure::all_formulas(4, 4));
        let random = |i: usize| measure::random_formula(5 + i % 4, 3 + i % 5, 2 + i % 2, seed + i as u64);
        let random = Agreement::of(&(0..1000).map(random).collect::<Vec<_>>());
        step(ReportStep::Begins("games"));
        let mut played = Vec::new();
        measure::suite(channels, games, seed, &mut |games| {
            step(ReportStep::Played(games));
            played.push(games.clone());
        })
        .map_err(ReportError::Games)?;
        let plot = plot(&sizes)?;
        Ok(Report { channels, sizes, seconds, small, random, played, plot })
    }

    /// The files of the report: names and contents.
    #[must_use]
    pub fn files(&self) -> [(&'static str, String); 3] {
        let json = |value: serde_json::Result<String>| value.expect("figures are JSON") + "\n";
        let sizes = self.sizes.iter().map(|size| json(serde_json::to_string(size)));
        let games = self.played.iter().map(|games| json(serde_json::to_string(games)));
        [
            ("complexity-sizes.svg", self.plot.clone()),
            ("complexity.md", self.markdown()),
            ("complexity.jsonl", sizes.chain(games).collect()),
        ]
    }

    /// A description of measurements that contradict the proof; `None` if all agree.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let lost: u64 = self.played.iter().map(|g| g.games - g.won).sum();
        let differ: usize = [&self.small, &self.random].iter().map(|a| a.formulas - a.agree).sum();
        (lost > 0 || differ > 0)
            .then(|| format!("{lost} games were not won; {differ} circuits differ from their formulas"))
    }

    fn markdown(&self) -> String {
        let mut text = format!(
            "# Measurements of the reduction\n\nWritten by `dsq-lab reduce report --out results` on {}. The gadget protectors have {} \
             channels on each side. [docs/complexity.md](../docs/complexity.md) describes the construction and what is \
             proved.\n\n## Lemmas\n\n{}",
            cpu_name(),
            self.channels,
            lemmas().markdown()
        );
        let [squares, pieces] = points(&self.sizes).map(|points| measure::exponent(&points));
        let _ = write!(
            text,
            "\n## Circuit and formula game\n\nThe game on the circuit is decided gate by gate with the tables that the lemmas \
             prove. Its winner is the winner of the formula game for {} of all {} positive CNFs of at most 4 variables and 4 \
             clauses, and for {} of {} random ones of 5 to 8 variables and 3 to 7 clauses.\n\n## Sizes\n\n\
             ![Squares and pieces by number of variables](complexity-sizes.svg)\n\n\
             Random formulas of n variables and n clauses of three variables each. The fitted exponents are {squares:.1} for \
             squares and {pieces:.1} for pieces; [docs/complexity.md](../docs/complexity.md#size) derives bounds for every \
             formula. Compiling all of them took {:.2} s. The slack is the number of plies by which White reaches the den \
             first if every gadget takes as long as it can.\n\n{}",
            grouped(self.small.agree as u64),
            grouped(self.small.formulas as u64),
            grouped(self.random.agree as u64),
            grouped(self.random.formulas as u64),
            self.seconds,
            self.size_table().markdown()
        );
        let _ = write!(
            text,
            "\n## Games on the board\n\nThe winner of the formula game plays by the proved strategies.\n\n{}",
            self.games_table().markdown()
        );
        text
    }

    fn size_table(&self) -> Table {
        let mut table = Table::new(&[
            "n",
            "crossovers",
            "gates",
            "gadgets",
            "squares",
            "pieces",
            "White's plan, moves",
            "runner, moves",
            "slack, plies",
        ]);
        for s in &self.sizes {
            let counts = [s.gates, s.gadgets, s.squares, s.pieces].map(|n| grouped(n as u64));
            let moves = [s.plan_moves, s.run_moves].map(grouped);
            let ends = [s.variables.to_string(), s.crossovers.to_string()];
            table.row(ends.into_iter().chain(counts).chain(moves).chain([s.slack_plies.to_string()]));
        }
        table
    }

    fn games_table(&self) -> Table {
        let mut table = Table::new(&[
            "<formula",
            "<winner",
            "<opponent",
            "won",
            "most plies",
            "White first by, plies",
            "moves that no strategy gave",
        ]);
        for g in &self.played {
            table.row([
                g.formula.replace('|', "\\|"),
                g.winner.to_owned(),
                g.opponent.to_owned(),
                format!("{} of {}", g.won, g.games),
                grouped(g.most_plies),
                g.slack_plies.map_or(String::new(), grouped),
                g.improvised.to_string(),
            ]);
        }
        table
    }
}

/// The numbers of claims that hold and of explored states, by gadget.
fn lemmas() -> Table {
    let mut table = Table::new(&["<gadget", "<lemma", "claims that hold", "states"]);
    for gadget in super::gadgets() {
        let checked: Vec<_> = gadget.claims.iter().flat_map(|claim| super::check(&gadget, claim, usize::MAX)).collect();
        let holds = checked.iter().filter(|checked| checked.holds).count();
        table.row([
            gadget.name.clone(),
            gadget.lemma.clone().unwrap_or_default(),
            format!("{holds} of {}", gadget.claims.len()),
            grouped(checked.iter().map(|checked| checked.states as u64).sum()),
        ]);
    }
    table
}

/// Squares and pieces by number of variables.
fn points(sizes: &[Size]) -> [Vec<(f64, f64)>; 2] {
    let points = |f: fn(&Size) -> usize| sizes.iter().map(|s| (s.variables as f64, f(s) as f64)).collect();
    [points(|s| s.squares), points(|s| s.pieces)]
}

fn plot(sizes: &[Size]) -> Result<String, PlotError> {
    let [squares, pieces] = points(sizes);
    line_chart(
        "Size of the position of a formula with n variables and n clauses of three",
        Axis { label: "n", log: true },
        Axis { label: "squares, pieces", log: true },
        &[Line { name: "squares".into(), points: squares }, Line { name: "pieces".into(), points: pieces }],
    )
}
