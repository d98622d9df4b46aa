use clap::Args;
use cli::arguments::{RulesArg, SeedArg, ThreadsArg, at_least_one, open_tables};
use cli::evaluation::named_evaluation;
use cli::failure::{Failure, Outcome};
use cli::output::print;
use cli::progress::{interrupt, progress_bar};
use doushouqi::board::Rules;
use doushouqi::search::Tables;
use doushouqi::tablebase::{Material, TableProber};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use train::{DataFile, Datagen as Generator, Endgames, Header, Record, TrainingError};

/// Generate training data for the neural network: positions of games of the engine against itself, with scores and
/// results, or positions of endgame tables with their exact values.
///
/// The file contains 24 bytes per position; research/train/src/record.rs specifies it. The same seed gives the same bytes
/// on any number of threads. Ctrl-C keeps the finished games; the same command then continues the file.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq-lab datagen --games 100000 --nodes 1000 --seed 1 --out first.data\n  \
                        dsq-lab datagen --games 100000 --nodes 1000 --seed 2 --evaluation first.nnue --out second.data\n  \
                        dsq-lab datagen --tables tables --games 20000 --out endgames.data")]
pub struct Datagen {
    /// The number of games in the file at the end; a file with more games stays as it is
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = at_least_one::<u32>())]
    games: u32,
    /// Play no games: take random positions of the endgame tables in this directory, 64 for each of `--games`
    #[arg(long, value_name = "DIR", conflicts_with_all = ["nodes", "evaluation"])]
    tables: Option<PathBuf>,
    /// Nodes of each search
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = at_least_one::<u64>())]
    nodes: u64,
    #[command(flatten)]
    seed: SeedArg,
    /// The file to write or to continue
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Also keep positions that the games do not reach: at each move one, after 1 to 3 random moves, with a search of its own
    #[arg(long, conflicts_with = "tables")]
    sidelines: bool,
    /// The most pieces of the endgame tables that end games; they are solved at the start
    #[arg(long, value_name = "N", default_value_t = train::PIECES, value_parser = clap::value_parser!(u8).range(2..=4), conflicts_with = "tables")]
    pieces: u8,
    /// The evaluation that plays: default, burnett or the file of a network
    #[arg(long, value_name = "NAME", default_value = "default")]
    evaluation: String,
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    threads: ThreadsArg,
}

/// Games that have ended, written in the order of their numbers.
struct Writer {
    file: DataFile,
    waiting: BTreeMap<u32, Vec<Record>>,
}

impl Writer {
    fn add(&mut self, number: u32, records: Vec<Record>) -> Result<(), TrainingError> {
        self.waiting.insert(number, records);
        while let Some(records) = self.waiting.remove(&self.file.next_game()) {
            self.file.write_game(&records)?;
        }
        Ok(())
    }
}

/// What makes the records of a game by its number.
enum Source<'a> {
    Games(Box<Generator>),
    Endgames(Endgames<'a, TableProber>),
}

/// Endgame tables and the materials that they contain.
struct EndgameTables {
    tables: TableProber,
    materials: Vec<Material>,
}

impl EndgameTables {
    fn open(dir: &Path, rules: &Rules) -> Result<EndgameTables, Failure> {
        let tables = open_tables(dir, Some(*rules.options()))?;
        let classes = tables.set().classes();
        let members = |id| classes.get(id).same.iter().chain(&classes.get(id).swapped).copied();
        let materials = tables.set().ids().flat_map(members).filter(|material| material.len() > 2).collect::<Vec<_>>();
        if materials.is_empty() {
            return Err(Failure::Input(format!("{}: there are no tables of more than two pieces", dir.display())));
        }
        Ok(EndgameTables { tables, materials })
    }
}

impl Datagen {
    pub fn run(self) -> Outcome {
        let rules = Rules::new(self.rules.rules);
        if rules.options().has_competition_rule() {
            let what = "files of games do not name the rules loop, judge and move-limit: choose rules without them";
            return Err(Failure::Input(what.to_owned()));
        }
        let evaluation = named_evaluation(&self.evaluation)?;
        let endgames = self.tables.as_deref().map(|dir| EndgameTables::open(dir, &rules)).transpose()?;
        let endgames = endgames.as_ref().map(|EndgameTables { tables, materials }| Endgames {
            tables,
            materials,
            seed: self.seed.seed,
        });
        let header = match &endgames {
            Some(endgames) => endgames.header(),
            None => Header::new(rules.options(), self.seed.seed, self.nodes, &evaluation, self.sidelines, self.pieces),
        };
        let file = DataFile::open(&self.out, &header).map_err(failure_of_output)?;
        if file.next_game() >= self.games {
            return print_sum(&file);
        }
        // The tables are solved before the signals are watched: Ctrl-C ends the command at once, and no game is lost.
        let source = match endgames {
            Some(endgames) => Source::Endgames(endgames),
            None => {
                let tables = Arc::new(self.threads.run(|| Tables::solve(rules.options(), self.pieces.into()))??);
                let (seed, nodes, sidelines) = (self.seed.seed, self.nodes, self.sidelines);
                Source::Games(Box::new(Generator { rules, seed, nodes, evaluation, tables, sidelines }))
            }
        };
        let first = file.next_game();
        let writer = Mutex::new(Writer { file, waiting: BTreeMap::new() });
        let stop = interrupt();
        let bar = progress_bar(self.games.into(), "games");
        bar.set_position(first.into());
        bar.reset_eta();
        let write = |number, records| {
            bar.inc(1);
            writer.lock().unwrap_or_else(PoisonError::into_inner).add(number, records).map_err(failure_of_output)
        };
        // A bridge hands out the numbers in order, so few games wait for an earlier one, and no game is skipped.
        let games = || (first..self.games).take_while(|_| !stop.load(Ordering::Relaxed)).par_bridge();
        self.threads.run(|| -> Outcome {
            match &source {
                Source::Endgames(endgames) => games().try_for_each(|number| write(number, endgames.batch(number)?)),
                Source::Games(generator) => games().try_for_each_init(
                    || generator.engine(),
                    |engine, number| write(number, generator.game(engine, number)),
                ),
            }
        })??;
        bar.finish_and_clear();
        let file = writer.into_inner().unwrap_or_else(PoisonError::into_inner).file;
        if file.next_game() < self.games {
            let (games, out) = (file.next_game(), self.out.display());
            let text = format!("stopped after {games} of {} games; the same command continues {out}", self.games);
            return Err(Failure::Interrupted(text));
        }
        print_sum(&file)
    }
}

fn print_sum(file: &DataFile) -> Outcome {
    print(format_args!("{} positions of {} games", file.records(), file.next_game()))
}

fn failure_of_output(error: TrainingError) -> Failure {
    match error {
        TrainingError::Content { .. } => Failure::Input(error.to_string()),
        _ => Failure::Environment(format!("cannot write {error}")),
    }
}
