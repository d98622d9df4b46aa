mod animals;
mod games;
mod listings;
mod trees;

use animals::Animals;
use clap::{Args, Subcommand};
use cli::arguments::{RulesArg, ThreadsArg};
use cli::failure::{Failure, Outcome};
use cli::output::{make_dir, print, write_file};
use cli::progress::progress_bar;
use games::Games;
use listings::{
    Exactly, Sizes, UpTo, print_draws, print_fortresses, print_lines, print_parity, print_swaps, print_zugzwangs,
};
use mining::report;
use std::path::PathBuf;
use trees::{FeaturesOf, Printed, Trees, Whole};

/// Analyse endgame tables: decision trees, zugzwangs, fortresses and more.
///
/// Without a subcommand the command learns for each material a small decision tree that predicts the winner of every
/// position with White to move, from features such as the side closest to the enemy's den (`dsq-lab mine features` explains
/// them). The tables are solved in memory.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  dsq-lab mine --piece-count 2\n  \
    dsq-lab mine --material EvE --features paper\n  dsq-lab mine --material LvE --graphviz | dot -Tsvg > LvE.svg\n  \
    dsq-lab mine --material ELvL --json\n  dsq-lab mine --material LvE --leaves 5      the best questions only, and what they miss\n  \
    dsq-lab mine printed                       the trees of the 2014 paper, compared\n  dsq-lab mine zugzwang\n  dsq-lab mine animals results/six-pieces.jsonl\n  \
    dsq-lab mine report --out results"
)]
pub struct Mine {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    trees: Trees,
}

#[derive(Subcommand)]
enum What {
    /// Check the three trees and four positions printed in 2014.
    Printed(Printed),
    /// Learn one tree for all materials of two pieces together.
    Whole(Whole),
    /// Compare the accuracy of trees of 10, 30 and 100 leaves, and the size of perfect trees and of compressed tables.
    Sizes(Sizes),
    /// Explain the features of a material.
    Features(FeaturesOf),
    /// Count the mutual zugzwangs: the side to move loses or draws, but would win if the opponent had to move.
    Zugzwang(UpTo<5, 4>),
    /// List the draws by material, the largest share first.
    Draws(Exactly<4, 5>),
    /// List the replacements of one animal by another that change the winner of the most positions.
    Swaps(Exactly<3, 3>),
    /// List the results by the parity of the distance between two enemies.
    Parity(Exactly<3, 3>),
    /// List the draws that a lone piece holds without leaving a part of the board.
    Fortresses(Exactly<3, 3>),
    /// Print a longest line of each piece count with all moves.
    Lines(UpTo<5, 4>),
    /// Play games and count moves, plies and draws; then count the moves of endgame positions.
    Games(Games),
    /// Estimate the values of the animals by a regression of the results of all materials on the animals present.
    Animals(Animals),
    /// Write endgames.md, a short report on all analyses, and its plots.
    Report(Report),
}

#[derive(Args)]
struct Report {
    /// The directory to write to.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Skip four pieces and most of the games, which take the most time.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    threads: ThreadsArg,
}

impl Mine {
    pub fn run(self) -> Outcome {
        let Mine { what, trees } = self;
        let threads = match &what {
            None => &trees.common.threads,
            Some(What::Printed(q)) => &q.common.threads,
            Some(What::Whole(q)) => &q.common.threads,
            Some(What::Sizes(q)) => &q.common.threads,
            Some(What::Features(q)) => &q.common.threads,
            Some(What::Zugzwang(q)) => &q.common.threads,
            Some(What::Draws(q)) => &q.common.threads,
            Some(What::Swaps(q)) => &q.common.threads,
            Some(What::Parity(q)) => &q.common.threads,
            Some(What::Fortresses(q)) => &q.common.threads,
            Some(What::Lines(q)) => &q.common.threads,
            Some(What::Games(q)) => &q.common.threads,
            Some(What::Animals(q)) => &q.common.threads,
            Some(What::Report(q)) => &q.threads,
        };
        threads.run(|| match &what {
            None => trees.run(),
            Some(What::Printed(q)) => q.run(),
            Some(What::Whole(q)) => q.run(),
            Some(What::Sizes(q)) => q.run(),
            Some(What::Features(q)) => q.run(),
            Some(What::Zugzwang(q)) => print_zugzwangs(&q.common, q.pieces()),
            Some(What::Draws(q)) => print_draws(&q.common, q.pieces(), q.top()),
            Some(What::Swaps(q)) => print_swaps(&q.common, q.pieces(), q.top()),
            Some(What::Parity(q)) => print_parity(&q.common, q.pieces(), q.top()),
            Some(What::Fortresses(q)) => print_fortresses(&q.common, q.pieces(), q.top()),
            Some(What::Lines(q)) => print_lines(&q.common, q.pieces()),
            Some(What::Games(q)) => q.run(),
            Some(What::Animals(q)) => q.run(),
            Some(What::Report(q)) => q.run(),
        })?
    }
}

impl Report {
    fn run(&self) -> Outcome {
        make_dir(&self.out)?;
        let bar = progress_bar(report::STEPS, "steps").with_message("endgames.md");
        let files = report::files(&self.rules.rules, self.quick, &|| bar.inc(1));
        bar.finish_and_clear();
        let files = files.map_err(|error| match error {
            report::ReportError::Solve(error) => error.into(),
            error => Failure::Environment(error.to_string()),
        })?;
        files.iter().try_for_each(|(name, text)| {
            let path = self.out.join(name);
            write_file(&path, text)?;
            print(path.display())
        })
    }
}
