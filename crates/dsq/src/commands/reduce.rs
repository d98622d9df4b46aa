use crate::arguments::at_least_one;
use crate::failure::{Failure, Outcome};
use crate::output::{make_dir, print, print_json, write_file};
use clap::{Args, Subcommand};
use doushouqi::board::Color;
use hardness::circuit::Circuit;
use hardness::general;
use hardness::measure::{self, GameSeries, Size};
use hardness::opponent::Style;
use hardness::play::{Reduction, SolvedClaims};
use hardness::{Formula, Layout, gadgets};
use report::plot::{Axis, Line, line_chart};
use report::text::grouped;
use serde::Serialize;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Compile a formula game into a position that White wins exactly if he wins the game.
///
/// The game is Gpos(POS CNF): two players in turn choose a variable of a formula without negations; White's become true,
/// Black's false; White, who begins, wins if the formula is true at the end. The formula is written '(x | y) & (x | z | w)',
/// or read from a file, in the same form or as DIMACS.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  dsq reduce '(x | y) & (x | z | w)' --svg position.svg\n  \
                        dsq reduce formula.cnf --text position.txt --json\n  \
                        dsq reduce '(x | y) & (x | z)' --games 100      the winner's strategy on the board\n  \
                        dsq reduce report results                      all measurements, complexity.md\n\n\
                        Exit code 1 if a game of --games or of the report is not won."
)]
pub struct Reduce {
    #[command(subcommand)]
    report: Option<Report>,
    /// The formula, or a file.
    #[arg(required = true)]
    formula: Option<String>,
    /// One-way channels before and behind each outflow protector; the paper has three.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8))]
    channels: u8,
    /// Write the position as text into this file; - is stdout.
    #[arg(long, value_name = "FILE")]
    text: Option<PathBuf>,
    /// Write the position as SVG into this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Play N games of the winner against each of three opponents: random, greedy, search.
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>())]
    games: Option<u64>,
    /// Seed of the opponents.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Report {
    /// Measure everything and write complexity.md, its plot and complexity.jsonl.
    Report {
        /// The directory to write to.
        dir: PathBuf,
        /// One-way channels before and behind each outflow protector.
        #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8))]
        channels: u8,
        /// Games of the winner against each of three opponents.
        #[arg(long, default_value_t = 34, value_name = "N")]
        games: u64,
        /// Seed of the formulas and opponents.
        #[arg(long, default_value_t = 1, value_name = "N")]
        seed: u64,
    },
}

#[derive(Serialize)]
struct Compiled<'a> {
    formula: &'a str,
    /// Who wins the formula game; null if it has too many variables to be solved.
    winner: Option<&'static str>,
    #[serde(flatten)]
    size: &'a Size,
    channels: u8,
    seconds: f64,
}

impl Reduce {
    pub fn run(self) -> Outcome {
        if let Some(Report::Report { dir, channels, games, seed }) = self.report {
            return measure_all(&dir, channels, games, seed);
        }
        let formula = read(self.formula.as_deref().unwrap_or_default())?;
        let start = Instant::now();
        let circuit = Circuit::of(&formula);
        let layout = Layout::build(&circuit, formula.variables(), self.channels.into())
            .map_err(|e| Failure::Input(e.to_string()))?;
        let seconds = start.elapsed().as_secs_f64();
        let winner = formula.game().ok().map(|mut game| if game.winner() == Color::White { "white" } else { "black" });
        let size = measure::size(&formula, &circuit, &layout);
        if let Some(path) = &self.svg {
            write_file(path, &general::svg(&layout.position))?;
        }
        match &self.text {
            Some(path) if path.as_os_str() == "-" => return print(layout.position.to_text().trim_end()),
            Some(path) => write_file(path, &layout.position.to_text())?,
            None => {}
        }
        let text = formula.to_string();
        let report = Compiled { formula: &text, winner, size: &size, channels: self.channels, seconds };
        if self.json {
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
                measure::games(&reduction, style, games, self.seed).map_err(|e| Failure::Input(e.to_string()))?;
            lost += played.games - played.won;
            if self.json { print_json(&played)? } else { print(games_line(&played))? }
        }
        if lost > 0 { Err(Failure::Mismatch(format!("{lost} games were not won"))) } else { Ok(()) }
    }
}

/// Makes all measurements.
fn measure_all(dir: &Path, channels: u8, each: u64, seed: u64) -> Outcome {
    make_dir(dir)?;
    let mut lines = String::new();
    let mut add = |json: String| lines.push_str(&(json + "\n"));
    eprintln!("sizes");
    let start = Instant::now();
    let sizes = measure::sizes(12, channels.into(), seed).map_err(|e| Failure::Input(e.to_string()))?;
    let seconds = start.elapsed().as_secs_f64();
    sizes.iter().for_each(|s| add(json(s)));
    eprintln!("formulas against circuits");
    let agreement = agreement(seed);
    eprintln!("games");
    let mut played = Vec::new();
    measure::suite(channels.into(), each, seed, &mut |games| {
        eprintln!("  {}", games_line(games));
        played.push(games.clone());
    })
    .map_err(Failure::Input)?;
    played.iter().for_each(|g| add(json(g)));
    let points = |f: fn(&Size) -> f64| sizes.iter().map(|s| (s.variables as f64, f(s))).collect::<Vec<_>>();
    let (squares, pieces) = (points(|s| s.squares as f64), points(|s| s.pieces as f64));
    let plot = line_chart(
        "Size of the position of a formula with n variables and n clauses of three",
        Axis { label: "n", log: true },
        Axis { label: "squares, pieces", log: true },
        &[
            Line { name: "squares".into(), points: squares.clone() },
            Line { name: "pieces".into(), points: pieces.clone() },
        ],
    )
    .map_err(|e| Failure::Environment(e.to_string()))?;
    write_file(&dir.join("complexity-sizes.svg"), &plot)?;
    let fits = (measure::exponent(&squares), measure::exponent(&pieces));
    let report = markdown(&sizes, fits, seconds, agreement, &played, channels);
    write_file(&dir.join("complexity.md"), &report)?;
    write_file(&dir.join("complexity.jsonl"), &lines)?;
    let lost: u64 = played.iter().map(|g| g.games - g.won).sum();
    let differ = agreement.iter().any(|(all, agree)| all != agree);
    if lost > 0 || differ {
        return Err(Failure::Mismatch(format!("{lost} games were not won; circuits differ: {differ}")));
    }
    Ok(())
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("what we print is JSON")
}

/// The formula that an argument writes or names.
fn read(argument: &str) -> Result<Formula, Failure> {
    const MAX_BYTES: u64 = 4 << 20;
    let text = match fs::metadata(argument) {
        Ok(file) if file.is_file() && file.len() > MAX_BYTES => {
            return Err(Failure::Input(format!("{argument}: longer than {MAX_BYTES} bytes")));
        }
        Ok(file) if file.is_file() => fs::read_to_string(argument).map_err(|e| Failure::reading(argument, &e))?,
        _ => argument.to_owned(),
    };
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

/// How many formulas there were, and in how many the circuit has the formula game's winner: all small ones, and random ones.
fn agreement(seed: u64) -> [(usize, usize); 2] {
    let agrees = |formula: &Formula| {
        let circuit = Circuit::of(formula);
        let by_circuit = measure::winner_by(formula.variables(), |set| circuit.evaluate_gates(|v| set >> v & 1 != 0));
        formula.game().is_ok_and(|mut game| game.winner() == by_circuit)
    };
    let small = measure::all_formulas(4, 4);
    let random = (0..1000).map(|i| measure::random_formula(5 + i % 4, 3 + i % 5, 2 + i % 2, seed + i as u64));
    let random: Vec<Formula> = random.collect();
    [&small, &random].map(|all| (all.len(), all.iter().filter(|formula| agrees(formula)).count()))
}

fn markdown(
    sizes: &[Size],
    fits: (f64, f64),
    seconds: f64,
    agreement: [(usize, usize); 2],
    played: &[GameSeries],
    channels: u8,
) -> String {
    let mut text = format!(
        "# The reduction, measured\n\nWritten by `dsq reduce report results` on {}; protectors with {channels} channels a \
         side. What the construction is and what is proved: [docs/complexity.md](../docs/complexity.md).\n\n## Lemmas\n\n\
         | gadget | lemma | claims | states |\n|---|---|---|---|\n",
        doushouqi::cpu::processor_name()
    );
    for gadget in gadgets() {
        let checked = gadget.claims.iter().map(|c| hardness::check(&gadget, c, usize::MAX));
        let (mut states, mut holds) = (0, 0);
        for checked in checked.flatten() {
            states += checked.states as u64;
            holds += usize::from(checked.holds);
        }
        let _ = writeln!(
            text,
            "| {} | {} | {holds} of {} hold | {} |",
            gadget.name,
            gadget.lemma.as_deref().unwrap_or(""),
            gadget.claims.len(),
            grouped(states)
        );
    }
    let [(small, small_agree), (random, random_agree)] = agreement;
    let _ = write!(
        text,
        "\n## Circuit and formula game\n\nThe winner of the game on the circuit, gate by gate with the tables that the \
         lemmas prove, is that of the formula game in {} of all {} positive CNFs of at most 4 variables and 4 clauses, and in \
         {} of {} random ones of 5 to 8 variables and 3 to 7 clauses.\n\n## Sizes\n\n![sizes](complexity-sizes.svg)\n\n\
         Random formulas of n variables and n clauses of three. Fitted to these, squares grow as n to the {:.1}, pieces as \
         n to the {:.1}; what bounds them for every formula is derived in [docs/complexity.md](../docs/complexity.md#size). All \
         were compiled in {seconds:.2} s. The slack is by how many plies White is in the den first if every gadget takes as \
         long as it can.\n\n| n | crossovers | gates | gadgets | squares | pieces | White's plan, moves | runner, moves | \
         slack, plies |\n|---|---|---|---|---|---|---|---|---|\n",
        grouped(small_agree as u64),
        grouped(small as u64),
        grouped(random_agree as u64),
        grouped(random as u64),
        fits.0,
        fits.1
    );
    for s in sizes {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            s.variables,
            s.crossovers,
            grouped(s.gates as u64),
            grouped(s.gadgets as u64),
            grouped(s.squares as u64),
            grouped(s.pieces as u64),
            grouped(s.plan_moves),
            grouped(s.run_moves),
            s.slack_plies
        );
    }
    text.push_str(
        "\n## Games on the board\n\nThe winner of the formula game plays by the proved strategies.\n\n\
         | formula | winner | opponent | won | most plies | White first by, plies | moves that no strategy gave |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for g in played {
        let slack = g.slack_plies.map_or(String::new(), grouped);
        let (won, most) = (g.won, grouped(g.most_plies));
        let formula = g.formula.replace('|', "\\|");
        let _ = writeln!(
            text,
            "| {formula} | {} | {} | {won} of {} | {most} | {slack} | {} |",
            g.winner, g.opponent, g.games, g.improvised
        );
    }
    text
}
