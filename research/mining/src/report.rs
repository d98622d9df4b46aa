//! `endgames.md`: a short report on the endgame tables, with plots.

use crate::games::{GameStatistics, Mobility, SelfPlay, SelfPlayer, drawn_shares, play};
use crate::games::{sampled_mobility, table_mobility};
use crate::patterns::{Fortresses, draws, fortresses, longest_lines, parities, swaps};
use crate::printed::{compare_positions, compare_trees, printed_trees};
use crate::tables::{self, percent};
use crate::trees::{Sizes, accuracy_curve, learn_all, learn_whole, sizes};
use crate::zugzwang::zugzwangs;
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::{Material, Options, SolveError, Solver};
use report::plot::{Axis, Line, PlotError, bar_chart, line_chart};
use report::text::{Table, grouped};
use std::fmt::Write;
use std::time::SystemTime;
use study::FeatureChoice;
use study::learn::learn;
use thiserror::Error;

/// The number of calls of `step` by [`files`].
pub const STEPS: u64 = 8;

/// The error of a report that cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The tables cannot be solved.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A plot cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
}

/// The report's text, and its plots by file name.
struct Report<'a> {
    options: &'a RuleOptions,
    quick: bool,
    text: String,
    plots: Vec<(String, String)>,
}

/// The plots of the report and then `endgames.md`, which shows them, by file name. With `quick` the report uses three
/// pieces instead of four, two instead of three, and few games.
///
/// # Errors
/// If the tables cannot be solved or a plot cannot be drawn.
pub fn files(options: &RuleOptions, quick: bool, step: &dyn Fn()) -> Result<Vec<(String, String)>, ReportError> {
    let mut report = Report { options, quick, text: String::new(), plots: Vec::new() };
    report.all(step)?;
    let mut files = report.plots;
    files.push(("endgames.md".to_owned(), report.text));
    Ok(files)
}

impl Report<'_> {
    fn all(&mut self, step: &dyn Fn()) -> Result<(), ReportError> {
        let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let _ = write!(
            self.text,
            "# Patterns in the endgame tables\n\nMade by `dsq-lab mine report` {} on {}, under the rules `{}`. Unless stated \
             otherwise, all counts are exact and over positions with White to move; sampling and games are seeded. The \
             command below each heading repeats its part.\n",
            env!("CARGO_PKG_VERSION"),
            &date[..10],
            self.options.preset_name().map_or_else(|| self.options.to_string(), str::to_owned),
        );
        let most = if self.quick { 2 } else { 3 };
        let solver = Solver::solved(self.options, most)?;
        self.printed(&solver);
        step();
        self.two_pieces(&solver);
        step();
        self.sizes(&solver, most)?;
        step();
        self.draws(most + 1)?;
        self.lines(most + 1)?;
        step();
        self.zugzwangs(most + 1)?;
        step();
        self.swaps(&solver, most);
        step();
        self.parity(&solver, most);
        self.fortresses(&solver, most);
        step();
        self.games(&solver, most)?;
        step();
        Ok(())
    }

    fn section(&mut self, title: &str, command: &str) {
        let _ = write!(self.text, "\n## {title}\n\n`{command}`\n\n");
    }

    fn table(&mut self, table: &Table) {
        self.text.push_str(&table.markdown());
    }

    fn plot(&mut self, name: &str, title: &str, svg: String) {
        let _ = write!(self.text, "\n![{title}]({name})\n");
        self.plots.push((name.to_owned(), svg));
    }

    fn printed(&mut self, solver: &Solver) {
        self.section("The trees printed in 2014", "dsq-lab mine printed");
        let mut table =
            Table::new(&["<tree", "<claimed for", "<materials", "misclassified, paper", "misclassified, counted"]);
        let compared = compare_trees(solver);
        for printed in printed_trees() {
            let of_tree: Vec<_> = compared.iter().filter(|j| j.tree == printed.name).collect();
            let names: Vec<&str> = of_tree.iter().map(|j| j.material.as_str()).collect();
            let mut counted: Vec<u64> = of_tree.iter().map(|j| j.misclassified).collect();
            counted.dedup();
            let counted: Vec<String> = counted.iter().map(u64::to_string).collect();
            table.row([
                format!("({})", printed.name),
                printed.claim.to_owned(),
                names.join(" "),
                printed.misclassified.to_string(),
                format!("{} each", counted.join(", ")),
            ]);
        }
        self.table(&table);
        self.text.push_str(
            "\nThe paper leaves some features open; `crates/study/src/features.rs` says which reading was taken, and \
             what others come to. The four printed positions:\n\n",
        );
        self.table(&tables::printed_positions(&compare_positions(solver)));
    }

    fn two_pieces(&mut self, solver: &Solver) {
        self.section("A perfect tree for every material of two pieces", "dsq-lab mine --piece-count 2");
        self.text.push_str(
            "Leaves of the smallest perfect tree found. Some positions have the same values of the paper's features as \
             positions with another result, so no tree on these features classifies all of them correctly. \
             `dsq-lab mine features` explains the added features.\n\n",
        );
        let mut table = Table::new(&[
            "<materials",
            "positions each",
            "leaves, paper's features",
            "not told apart",
            "leaves, all features",
            "questions",
            "bits",
        ]);
        let (paper, all) = (
            learn_all(solver, 2, Some(FeatureChoice::Paper), None),
            learn_all(solver, 2, Some(FeatureChoice::All), None),
        );
        let key = |m: Material| solver.classes().member(m).map(|member| (member.class, member.swapped));
        for (i, tree) in all.iter().enumerate() {
            if all[..i].iter().any(|earlier| key(earlier.material) == key(tree.material)) {
                continue;
            }
            let same = |other: Material| key(other) == key(tree.material);
            let names: Vec<String> = all.iter().filter(|t| same(t.material)).map(|t| t.material.to_string()).collect();
            let on_paper = &paper[i];
            let paper_leaves =
                if on_paper.tree.misclassified() == 0 { on_paper.tree.leaves().to_string() } else { "none".to_owned() };
            table.row([
                names.join(" "),
                grouped(tree.positions),
                paper_leaves,
                on_paper.indistinct.to_string(),
                tree.tree.leaves().to_string(),
                tree.tree.depth().to_string(),
                tree.bits.to_string(),
            ]);
        }
        self.table(&table);
        let perfect = all.iter().filter(|tree| tree.tree.misclassified() == 0).count();
        let _ = write!(self.text, "\n{perfect} of {} trees on all features are perfect.", all.len());
        if let Some(whole) = learn_whole(solver) {
            let _ = write!(
                self.text,
                " One tree for all {} positions (`dsq-lab mine whole`), which may also test captures, leaps and swimming of the \
                 animals, has {} leaves, asks {} questions at most and misclassifies {} positions.",
                grouped(whole.positions),
                whole.tree.leaves(),
                whole.tree.depth(),
                whole.tree.misclassified()
            );
        }
        self.text.push('\n');
        for name in ["EvE", "PvE", "LvE"] {
            let found = name.parse().ok().and_then(|material| learn(solver, material, None, None));
            if let Some(found) = found {
                let _ = write!(self.text, "\n{name}:\n\n```text\n{}```\n", found.tree.to_text(found.set.features()));
            }
        }
    }

    fn sizes(&mut self, solver: &Solver, pieces: usize) -> Result<(), ReportError> {
        self.section(
            &format!("Trees as a code for the tables of {pieces} pieces"),
            &format!("dsq-lab mine sizes --piece-count {pieces}"),
        );
        let sizes = sizes(solver, pieces);
        let smaller = sizes.iter().filter(|s| s.tree_bits < s.table_bits).count();
        let total = |bits: fn(&Sizes) -> u64| sizes.iter().map(bits).sum::<u64>();
        let (trees, winners, plies) = (total(|s| s.tree_bits), total(|s| s.table_bits), total(|s| s.distance_bits));
        let _ = write!(
            self.text,
            "Each class with White and with Black of its representative to move (the latter as the material with colours \
             exchanged): the accuracy of the greedy trees of 1, 10, 30 and 100 leaves; the smallest perfect tree found; its \
             size in bits, where an inner node costs a bit, a feature and a value, and a leaf a bit and two for the winner; \
             the compressed size of the winners of the same positions (zstd 19 in one frame, mirror images once); the \
             compressed size of the distances.\n\n\
             The perfect tree is smaller than the compressed winners for {smaller} of {} ({} bits against {} in all; the \
             distances, which no tree gives, take {}). A tree also needs the code of its features.\n\n",
            sizes.len(),
            grouped(trees),
            grouped(winners),
            grouped(plies)
        );
        self.table(&tables::sizes(&sizes));
        self.accuracy_plot(solver, &sizes, pieces)?;
        self.sizes_plot(&sizes, pieces)
    }

    fn accuracy_plot(&mut self, solver: &Solver, sizes: &[Sizes], pieces: usize) -> Result<(), ReportError> {
        // The smallest tree, the largest and some between.
        let mut by_leaves: Vec<_> = sizes.iter().collect();
        by_leaves.sort_by_key(|s| s.leaves);
        let last = by_leaves.len().saturating_sub(1);
        let mut lines: Vec<Line> = Vec::new();
        for place in [0, last / 4, last / 2, 3 * last / 4, last] {
            let name = by_leaves.get(place).map(|s| s.material.clone()).unwrap_or_default();
            let Some(curve) = name.parse().ok().and_then(|material| accuracy_curve(solver, material, 1000)) else {
                continue;
            };
            if lines.iter().all(|line| line.name != name) {
                lines.push(Line { name, points: curve });
            }
        }
        let (x, y) = (Axis { label: "leaves", log: true }, Axis { label: "positions right", log: false });
        let title = format!("Accuracy by leaves, {pieces} pieces");
        let svg = line_chart(&title, x, y, &lines)?;
        self.plot("endgames-accuracy.svg", &title, svg);
        Ok(())
    }

    fn sizes_plot(&mut self, sizes: &[Sizes], pieces: usize) -> Result<(), ReportError> {
        let mut by_bits: Vec<_> = sizes.iter().collect();
        by_bits.sort_by_key(|s| s.table_bits);
        let line = |name: &str, bits: fn(&Sizes) -> u64| Line {
            name: name.to_owned(),
            points: by_bits.iter().enumerate().map(|(i, s)| (i as f64 + 1.0, bits(s).max(1) as f64)).collect(),
        };
        let lines = [
            line("perfect tree", |s| s.tree_bits),
            line("compressed winners", |s| s.table_bits),
            line("compressed distances", |s| s.distance_bits),
        ];
        let (x, y) =
            (Axis { label: "materials, by compressed winners", log: false }, Axis { label: "bits", log: true });
        let title = format!("Size of perfect trees and compressed tables, {pieces} pieces");
        let svg = line_chart(&title, x, y, &lines)?;
        self.plot("endgames-sizes.svg", &title, svg);
        Ok(())
    }

    fn draws(&mut self, most: usize) -> Result<(), ReportError> {
        self.section("Draws", "dsq-lab mine draws --piece-count N");
        let all = draws(self.options, most)?;
        for pieces in 2..=most {
            let level: Vec<_> = all.iter().filter(|d| d.pieces == pieces).collect();
            let none = level.iter().filter(|d| d.draws == 0).map(|d| d.materials).sum::<usize>();
            let materials: usize = level.iter().map(|d| d.materials).sum();
            let _ = write!(
                self.text,
                "\n{pieces} pieces: {none} of {materials} materials have no draw at all. The most drawn:\n\n"
            );
            self.table(&tables::draws(level.into_iter().take(8)));
        }
        let bars: Vec<(String, f64)> =
            all.iter().filter(|d| d.pieces == most).take(12).map(|d| (d.material.clone(), 100.0 * d.share)).collect();
        let title = format!("The most drawn endgames of {most} pieces");
        let svg = bar_chart(&title, "material, White to move", "% drawn", &bars)?;
        self.plot("endgames-draws.svg", &title, svg);
        Ok(())
    }

    fn lines(&mut self, most: usize) -> Result<(), ReportError> {
        self.section("The longest lines", "dsq-lab mine lines");
        for line in longest_lines(self.options, most)? {
            let _ = write!(
                self.text,
                "{} pieces, {}, {} plies, from `{}`:\n\n> {}\n\n",
                line.pieces,
                line.material,
                line.plies,
                line.fen,
                line.line.join(" ")
            );
        }
        let mut solver = Solver::new(self.options, most, Options::default());
        let mut lines = Vec::new();
        for pieces in 2..=most {
            solver.solve_level(pieces, pieces < most, &|_, _| ())?;
            let stats = solver.level_stats(pieces).unwrap_or_default();
            let decided: u64 = stats.by_plies.iter().sum();
            let share = |n: u64| n as f64 / decided as f64;
            let points = stats.by_plies.iter().enumerate().filter(|(_, n)| **n > 0);
            let points = points.map(|(plies, &n)| (plies as f64, share(n))).collect();
            lines.push(Line { name: format!("{pieces} pieces"), points });
        }
        let (x, y) =
            (Axis { label: "plies to the end", log: false }, Axis { label: "share of decided positions", log: true });
        let svg = line_chart("How long endgames take", x, y, &lines)?;
        self.plot("endgames-plies.svg", "How long endgames take", svg);
        Ok(())
    }

    fn zugzwangs(&mut self, most: usize) -> Result<(), ReportError> {
        self.section("Mutual zugzwangs", &format!("dsq-lab mine zugzwang --pieces {most}"));
        self.text.push_str("The side to move, White, loses or draws, but would win if Black had to move.\n\n");
        let all = zugzwangs(self.options, most, &|_| ())?;
        self.table(&tables::zugzwangs(&all));
        self.text.push_str("\nThe deepest:\n\n");
        self.table(&tables::deepest_zugzwangs(&all));
        Ok(())
    }

    fn swaps(&mut self, solver: &Solver, most: usize) {
        self.section("Exchanges of animals that change the most winners", "dsq-lab mine swaps --piece-count N");
        for pieces in 2..=most {
            let _ = write!(self.text, "\n{pieces} pieces:\n\n");
            self.table(&tables::swaps(swaps(solver, pieces).iter().take(6)));
        }
    }

    fn parity(&mut self, solver: &Solver, most: usize) {
        self.section("Parity", "dsq-lab mine parity --piece-count N");
        self.text.push_str(
            "The share of positions that White, to move, wins at even and at odd Manhattan distance between two enemies, and \
             the information about the winner in the parity.\n",
        );
        for pieces in 2..=most {
            let _ = write!(self.text, "\n{pieces} pieces:\n\n");
            self.table(&tables::parity(parities(solver, pieces).iter().take(8)));
        }
    }

    fn fortresses(&mut self, solver: &Solver, most: usize) {
        self.section("Fortresses", &format!("dsq-lab mine fortresses --piece-count {most}"));
        self.text.push_str(
            "A fortress is a draw that a side with one piece holds without leaving a part of the board, whatever the other \
             side does: two squares between which it moves back and forth, the three ranks in front of its own den (home), \
             the three in the middle, or the three in front of the enemy's den (far). Either side is to move.\n\n",
        );
        let all = fortresses(solver, most);
        let sum = |f: fn(&Fortresses) -> u64| all.iter().map(|x| f(x) * x.materials as u64).sum::<u64>();
        let _ = write!(
            self.text,
            "{} of {} draws of {most} pieces, all materials, are fortresses of a lone piece. The most:\n\n",
            grouped(sum(|f| f.fortresses)),
            grouped(sum(|f| f.draws))
        );
        self.table(&tables::fortresses(all.iter().filter(|f| f.fortresses > 0).take(10)));
    }

    fn games(&mut self, solver: &Solver, most: usize) -> Result<(), ReportError> {
        self.section("Games and numbers of moves", "dsq-lab mine games --pieces N");
        self.text.push_str(
            "The papers estimate about 20 legal moves per position, at most 32, and games of 80 plies. Games from the start, \
             each player against itself, the first plies at random:\n\n",
        );
        let mut played = Vec::new();
        let players: [(SelfPlayer, u64); 5] = [
            (SelfPlayer::Random, 2000),
            (SelfPlayer::Minimax { depth: 1 }, 400),
            (SelfPlayer::Minimax { depth: 2 }, 400),
            (SelfPlayer::Minimax { depth: 4 }, 100),
            (SelfPlayer::Engine { nodes: 5000 }, 200),
        ];
        for (player, games) in players {
            let games = if self.quick { games.div_ceil(100) } else { games };
            let series = SelfPlay { games, seed: 1, opening: 4, most_plies: 2000 };
            played.push(play(player, self.options, series));
        }
        self.table(&tables::games(&played));
        // The share of games still going on after N plies.
        let line = |s: GameStatistics| {
            let going = s.lengths.iter().enumerate().map(|(i, &n)| (n as f64, 1.0 - i as f64 / s.games as f64));
            Line { name: s.player, points: [(0.0, 1.0)].into_iter().chain(going).collect() }
        };
        let lines: Vec<Line> = played.into_iter().map(line).collect();
        let (x, y) = (Axis { label: "plies", log: false }, Axis { label: "games still going on", log: false });
        let svg = line_chart("How long games last", x, y, &lines)?;
        self.plot("endgames-games.svg", "How long games last", svg);

        let shares = drawn_shares(self.options, most + 1)?;
        self.text.push_str("\nPositions of few pieces:\n\n");
        let mut table = Table::new(&["pieces", "<positions", "moves, mean", "most", "<$in", "drawn"]);
        for pieces in 2..=most + 2 {
            let (kind, mobility): (&str, Mobility) = if pieces <= most {
                ("all", table_mobility(solver, pieces))
            } else {
                ("sample", sampled_mobility(self.options, pieces, if self.quick { 1000 } else { 1_000_000 }, 1))
            };
            table.row([
                pieces.to_string(),
                format!("{kind}, {}", grouped(mobility.positions)),
                format!("{:.2}", mobility.mean),
                mobility.max.to_string(),
                mobility.fen,
                shares.get(pieces - 2).map_or_else(String::new, |&share| percent(share)),
            ]);
        }
        self.table(&table);
        Ok(())
    }
}
