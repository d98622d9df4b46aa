use crate::commands::handicaps::rules_name;
use clap::Args;
use cli::arguments::{JsonArg, RulesArg, ThreadsArg, at_least_one};
use cli::continued::ContinuedFile;
use cli::failure::{Failure, Outcome};
use cli::output::{print, print_json, to_json};
use cli::progress::{interrupt, progress_bar};
use doushouqi::board::{Position, Rules};
use doushouqi::game::Game;
use doushouqi::search::{Engine, EngineOptions, Limits, Score};
use mining::opening::{Node, Opening, Tree};
use rayon::prelude::*;
use report::text::{Table, grouped};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// The nodes of the searches between two writes.
const BATCH_NODES: u64 = 8 << 20;

/// Which first moves keep the balance? Search all positions after some plies, and back their scores up to the start.
///
/// Every different position after --plies plies is searched for --nodes nodes, without a history. The file of --out contains
/// their scores; the same command continues it. Minimax gives every earlier position the score of its best move. The same
/// command gives the same scores on any number of threads.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq-lab opening-tree --plies 4 --nodes 20000 --out four.scores\n  \
                        dsq-lab opening-tree --plies 4 --nodes 20000 --out four.scores --json > opening.jsonl   a line for each position")]
pub struct OpeningTree {
    /// The file of the scores, to write or to continue
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The plies before the positions that are searched
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=7))]
    plies: u8,
    /// Nodes of each search
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = at_least_one::<u64>())]
    nodes: u64,
    /// A move is good if it is at most so many centipawns worse than the best one
    #[arg(long, value_name = "CP", default_value_t = 50, value_parser = clap::value_parser!(i32).range(0..=10_000))]
    margin: i32,
    /// With --json, the most plies before the positions that are printed
    #[arg(long, value_name = "N", default_value_t = 2, requires = "json")]
    depth: u8,
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    json: JsonArg,
}

/// The first line of a file of scores. The other lines are a score each, for the side to move.
#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    rules: String,
    plies: u8,
    nodes: u64,
    positions: usize,
}

impl OpeningTree {
    pub fn run(self) -> Outcome {
        let rules = Rules::new(self.rules.rules);
        let opening = self.threads.run(|| Opening::new(&Position::start(), &rules, self.plies.into()))?;
        let positions = opening.len(opening.plies());
        let header = Header { rules: rules_name(&self.rules.rules), plies: self.plies, nodes: self.nodes, positions };
        let (mut file, mut scores) = self.scores(&header)?;
        self.search(&opening, &rules, &mut file, &mut scores)?;
        let tree = self.threads.run(|| opening.tree(scores, self.margin))?;
        self.threads.run(|| if self.json.on { self.print_nodes(&tree) } else { self.print_summary(&tree) })?
    }

    /// The scores in the file, which is made if it is not there.
    fn scores(&self, header: &Header) -> Result<(ContinuedFile, Vec<Score>), Failure> {
        let wrong = |text: &str| Failure::Input(format!("{}: {text}", self.out.display()));
        let (mut file, mut text) = ContinuedFile::open(&self.out, "{\"rules\":")?;
        if text.is_empty() {
            text = to_json(header) + "\n";
            file.append(&text)?;
        }
        let (first, rest) = text.split_once('\n').unwrap_or_default();
        let found: Header = serde_json::from_str(first).map_err(|error| wrong(&format!("line 1: {error}")))?;
        if found != *header {
            return Err(wrong("scores of other --plies, --nodes or --rules; use their options or another file"));
        }
        let scores: Result<Vec<Score>, Failure> = (2..)
            .zip(rest.lines())
            .map(|(number, line)| serde_json::from_str(line).map_err(|error| wrong(&format!("line {number}: {error}"))))
            .collect();
        let scores = scores?;
        if scores.len() > header.positions {
            return Err(wrong("there are more scores than positions"));
        }
        Ok((file, scores))
    }

    /// Searches the positions that have no score yet.
    fn search(&self, opening: &Opening, rules: &Rules, file: &mut ContinuedFile, scores: &mut Vec<Score>) -> Outcome {
        let (ply, stop) = (opening.plies(), interrupt());
        let positions = opening.len(ply);
        let bar = progress_bar(positions as u64, "positions");
        let engine = || Engine::new(EngineOptions::default().hash_mib(1));
        let score = |engine: &mut Engine, number| {
            let game = Game::new(opening.position(ply, number), rules.clone(), Some(Game::NO_CAPTURE_LIMIT));
            engine.new_game();
            let found = engine.search(&game, &Limits::default().nodes(self.nodes)).stop(stop).run();
            found.lines.first().map_or(Score::estimate(0), |line| line.score)
        };
        let batch = (BATCH_NODES / self.nodes).clamp(64, 1 << 14) as usize;
        bar.set_position(scores.len() as u64);
        bar.reset_eta();
        while scores.len() < positions {
            let numbers = scores.len()..(scores.len() + batch).min(positions);
            let found: Vec<Score> = self.threads.run(|| numbers.into_par_iter().map_init(engine, score).collect())?;
            if stop.load(Ordering::Relaxed) {
                bar.finish_and_clear();
                let (done, out) = (scores.len(), self.out.display());
                let text = format!("stopped after {done} of {positions} positions; the same command continues {out}");
                return Err(Failure::Interrupted(text));
            }
            let lines: String = found.iter().map(|score| to_json(score) + "\n").collect();
            file.append(&lines)?;
            scores.extend(found);
            bar.set_position(scores.len() as u64);
        }
        bar.finish_and_clear();
        Ok(())
    }

    fn print_nodes(&self, tree: &Tree) -> Outcome {
        let plies = 0..=usize::from(self.depth).min(tree.opening().plies());
        plies
            .flat_map(|ply| (0..tree.opening().len(ply)).map(move |number| (ply, number)))
            .try_for_each(|(ply, number)| print_json(&tree.node(ply, number)))
    }

    fn print_summary(&self, tree: &Tree) -> Outcome {
        let opening = tree.opening();
        let counts: Vec<String> = (0..=opening.plies()).map(|ply| grouped(opening.len(ply) as u64)).collect();
        print(format_args!(
            "positions by ply: {}; {} nodes each at the last ply",
            counts.join(", "),
            grouped(self.nodes)
        ))?;
        let root = tree.node(0, 0);
        print(format_args!(
            "{} of {} first moves are at most {} cp worse than the best one",
            root.good,
            root.moves.len(),
            self.margin
        ))?;
        let mut table = Table::new(&["move", "score"]);
        root.moves.iter().for_each(|(mv, score)| table.row([mv.clone(), score.to_string()]));
        print(table.aligned().trim_end())?;
        print(format_args!("best line: {}", root.line.join(" ")))?;
        let (path, Node { fen, only, line, .. }) = tree.longest_only();
        let moves = line[..only.into()].join(" ");
        print(format_args!("longest line of only moves: {only} plies, {moves}, from {fen}, after {}", path.join(" ")))
    }
}
