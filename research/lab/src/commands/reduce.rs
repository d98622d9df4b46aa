use crate::board_out::write_board;
use clap::{Args, Subcommand};
use cli::arguments::{JsonArg, SeedArg, at_least_one};
use cli::failure::{Failure, Outcome};
use cli::output::{make_dir, print, print_json, write_file};
use hardness::circuit::Circuit;
use hardness::measure::{self, GameSeries, Size};
use hardness::opponent::Style;
use hardness::play::{Reduction, SolvedClaims};
use hardness::report::{Report, ReportError, ReportStep};
use hardness::{Formula, Layout};
use report::text::grouped;
use serde::Serialize;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Compile a formula game into a position that White wins if and only if White wins the game.
///
/// The game is Gpos(POS CNF): two players take turns choosing a variable of a formula without negations. White's
/// variables become true, Black's false. White moves first and wins if the formula is true at the end. The formula is
/// written '(x | y) & (x | z | w)', or read from a file in the same form or as DIMACS.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  dsq-lab reduce '(x | y) & (x | z | w)' --out position.svg\n  \
                        dsq-lab reduce formula.cnf --out position.txt --json\n  \
                        dsq-lab reduce '(x | y) & (x | z)' --games 100      the winner's strategy on the board\n  \
                        dsq-lab reduce report --out results                all measurements, complexity.md\n\n\
                        Exit code 1 if a game of --games or of the report is not won."
)]
pub struct Reduce {
    #[command(subcommand)]
    what: Option<What>,
    /// The formula, or a file. A formula of one variable is written '(x)'.
    #[arg(required = true)]
    formula: Option<String>,
    /// Number of one-way channels before and after each outflow protector; the paper uses three.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8))]
    channels: u8,
    /// Write the position into this file: an SVG picture if the name ends in .svg, else text; - is stdout, which then
    /// contains nothing else; repeatable.
    #[arg(long, value_name = "FILE")]
    out: Vec<PathBuf>,
    /// Let the winner play N games against each of three opponents: random, greedy, search.
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>())]
    games: Option<u64>,
    #[command(flatten)]
    seed: SeedArg,
    #[command(flatten)]
    json: JsonArg,
}

#[derive(Subcommand)]
enum What {
    /// Run all measurements and write complexity.md, its plot and complexity.jsonl.
    Report {
        /// The directory to write to.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Number of one-way channels before and after each outflow protector.
        #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8))]
        channels: u8,
        /// Number of games of the winner against each of three opponents.
        #[arg(long, default_value_t = 34, value_name = "N")]
        games: u64,
        #[command(flatten)]
        seed: SeedArg,
    },
}

#[derive(Serialize)]
struct Compiled<'a> {
    formula: &'a str,
    /// The winner of the formula game; null if it has too many variables to be solved.
    winner: Option<&'static str>,
    #[serde(flatten)]
    size: &'a Size,
    channels: u8,
    seconds: f64,
}

impl Reduce {
    pub fn run(self) -> Outcome {
        if let Some(What::Report { out, channels, games, seed }) = self.what {
            return measure_all(&out, channels, games, seed.seed);
        }
        let text_alone = self.out.iter().any(|path| path == Path::new("-"));
        if text_alone && (self.json.on || self.games.is_some()) {
            let what = if self.json.on { "--json" } else { "--games" };
            return Err(Failure::Input(format!("{what} prints to stdout, as --out - does; give --out a file")));
        }
        let formula = read(self.formula.as_deref().unwrap_or_default())?;
        let start = Instant::now();
        let circuit = Circuit::of(&formula);
        let layout = Layout::build(&circuit, formula.variables(), self.channels.into())
            .map_err(|e| Failure::Input(e.to_string()))?;
        let seconds = start.elapsed().as_secs_f64();
        let winner = formula.game().ok().map(|mut game| game.winner().name());
        let size = measure::size(&formula, &circuit, &layout);
        for path in self.out.iter().filter(|path| *path != Path::new("-")) {
            write_board(path, &layout.position)?;
        }
        if text_alone {
            return print(layout.position.to_text().trim_end());
        }
        let text = formula.to_string();
        let report = Compiled { formula: &text, winner, size: &size, channels: self.channels, seconds };
        if self.json.on {
            print_json(&report)?
        } else {
            print(summary(&report))?
        }
        match self.games {
            Some(games) => self.play(&formula, &circuit, &layout, games),
            None => Ok(()),
        }
    }

    fn play(&self, formula: &Formula, circuit: &Circuit, layout: &Layout, games: u64) -> Outcome {
        let tables = SolvedClaims::new().map_err(|e| Failure::Environment(e.to_string()))?;
        let reduction = Reduction::new(formula, circuit, layout, &tables);
        let mut lost = 0;
        for style in Style::ALL {
            let played =
                measure::games(&reduction, style, games, self.seed.seed).map_err(|e| Failure::Input(e.to_string()))?;
            lost += played.games - played.won;
            if self.json.on { print_json(&played)? } else { print(games_line(&played))? }
        }
        if lost > 0 { Err(Failure::Mismatch(format!("{lost} games were not won"))) } else { Ok(()) }
    }
}

/// Runs all measurements and writes the report.
fn measure_all(dir: &Path, channels: u8, each: u64, seed: u64) -> Outcome {
    make_dir(dir)?;
    let report = Report::measure(channels.into(), each, seed, &mut |step| match step {
        ReportStep::Begins(what) => eprintln!("{what}"),
        ReportStep::Played(games) => eprintln!("  {}", games_line(games)),
    })
    .map_err(|e| match e {
        ReportError::Plot(e) => Failure::Environment(e.to_string()),
        e => Failure::Input(e.to_string()),
    })?;
    for (name, text) in report.files() {
        write_file(&dir.join(name), &text)?;
    }
    match report.failure() {
        Some(failure) => Err(Failure::Mismatch(failure)),
        None => Ok(()),
    }
}

/// The formula of an argument: a formula, or the path of a file. An argument without any sign of a formula is a path.
fn read(argument: &str) -> Result<Formula, Failure> {
    const MAX_BYTES: u64 = 4 << 20;
    const SIGNS: &[char] = &['(', ')', '|', '&', '∨', '∧', '!', '~', '¬', '\n'];
    let mut text = String::new();
    match File::open(argument).and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text)) {
        Ok(length) if length as u64 > MAX_BYTES => {
            return Err(Failure::Input(format!("{argument}: longer than {MAX_BYTES} bytes")));
        }
        Ok(_) => {}
        Err(_) if !Path::new(argument).exists() && argument.contains(SIGNS) => argument.clone_into(&mut text),
        Err(error) => return Err(Failure::reading(argument, &error)),
    }
    text.parse::<Formula>().map_err(|e| Failure::Input(e.to_string()))
}

fn summary(report: &Compiled) -> String {
    let Compiled { formula, winner, size, seconds, .. } = report;
    let winner = match winner {
        Some("white") => "White wins it",
        Some(_) => "Black wins it",
        None => "too many variables to solve it",
    };
    format!(
        "{formula}: {winner}\n{} variables, {} clauses, {} gates, {} of them in {} crossovers\n{} x {} squares, {} in all; \
         {} gadgets, {} pieces; {seconds:.3} s\nWhite's plan takes {} moves at most, Black's runner {}: slack {} plies",
        size.variables,
        size.clauses,
        grouped(size.gates as u64),
        grouped(size.crossovers as u64 * hardness::crossover(0).len() as u64),
        size.crossovers,
        grouped(size.width as u64),
        grouped(size.height as u64),
        grouped(size.squares as u64),
        grouped(size.gadgets as u64),
        grouped(size.pieces as u64),
        grouped(size.plan_moves),
        grouped(size.run_moves),
        size.slack_plies
    )
}

fn games_line(games: &GameSeries) -> String {
    let slack = games.slack_plies.map_or(String::new(), |n| format!(", first by {} plies at least", grouped(n)));
    format!(
        "{:40} {:5} against {:6}: won {} of {}{slack}, {} plies at most",
        games.formula,
        games.winner,
        games.opponent,
        games.won,
        games.games,
        grouped(games.most_plies)
    )
}
