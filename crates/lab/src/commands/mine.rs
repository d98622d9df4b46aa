use ::report::text::Table;
use ::report::text::grouped;
use clap::{Args, Subcommand, ValueEnum};
use cli::arguments::{RulesArg, ThreadsArg, at_least_one};
use cli::failure::{Failure, Outcome};
use cli::output::{make_dir, print, print_json, to_json, write_file};
use cli::progress::progress_bar;
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::{ClassCounts, Classes, Material, Solver};
use mining::animals::{self, Sample, fit};
use mining::games::{SelfPlay, SelfPlayer, play, sampled_mobility, table_mobility};
use mining::patterns::{draws, fortresses, longest_lines, parities, swaps};
use mining::printed::{Wrong, compare_positions, compare_trees, printed_trees, wrong_of_tree};
use mining::trees::{learn_all, learn_whole, sizes};
use mining::zugzwang::zugzwangs;
use mining::{report, tables};
use serde::Serialize;
use std::path::PathBuf;
use study::learn::{MaterialTree, learn};
use study::{FeatureChoice, FeatureKind, FeatureSet};

/// Analyse endgame tables: decision trees, zugzwangs, fortresses and more.
///
/// Without a subcommand the command learns for each material a small decision tree that predicts the winner of every
/// position with White to move, from features such as the side closest to the enemy's den (`dsq-lab mine features` explains
/// them). The tables are solved in memory.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  dsq-lab mine --pieces 2\n  \
    dsq-lab mine --material EvE --features paper\n  dsq-lab mine --material LvE --graphviz | dot -Tsvg > LvE.svg\n  \
    dsq-lab mine --material ELvL --json\n  dsq-lab mine --material LvE --leaves 5      the best questions only, and what they miss\n  \
    dsq-lab mine printed                       the trees of the 2014 paper, compared\n  dsq-lab mine zugzwang\n  dsq-lab mine animals results/six-pieces.jsonl\n  \
    dsq-lab mine report results"
)]
pub struct Mine {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    trees: Trees,
}

#[derive(Args)]
struct Common {
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    threads: ThreadsArg,
    /// Print JSON, one object on each line.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Trees {
    /// Learn a tree for each material of N pieces, 2 or 3. Materials with the same table share a tree.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=3))]
    pieces: Option<u8>,
    /// Learn a tree for one material of 2 or 3 pieces: White's animals, v, Black's.
    #[arg(long, value_name = "MATERIAL", conflicts_with = "pieces")]
    material: Option<Material>,
    /// The features that a tree may use; auto chooses the set with the smaller tree.
    #[arg(long, value_enum, default_value = "auto")]
    features: Features,
    /// Grow a greedy tree of at most N leaves by information gain, instead of a perfect tree.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    leaves: Option<u32>,
    /// Print trees for Graphviz's dot.
    #[arg(long, conflicts_with = "json")]
    graphviz: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Copy, Clone, PartialEq, Eq, ValueEnum)]
enum Features {
    Auto,
    /// The eleven features of the 2014 paper (two pieces only).
    Paper,
    /// The paper's features and further ones.
    All,
}

#[derive(Subcommand)]
enum What {
    /// Check the three trees and four positions printed in 2014.
    Printed(Printed),
    /// Learn one tree for all materials of two pieces together.
    Whole(Whole),
    /// Compare the accuracy of trees of 10, 30 and 100 leaves, and the size of perfect trees and of compressed tables.
    Sizes(OfPieces<2, 3, 3>),
    /// Explain the features of a material.
    Features(FeaturesOf),
    /// Count the mutual zugzwangs: the side to move loses or draws, but would win if the opponent had to move.
    Zugzwang(OfPieces<2, 5, 4>),
    /// List the draws by material, the largest share first.
    Draws(Listing<4, 5>),
    /// List the replacements of one animal by another that change the winner of the most positions.
    Swaps(Listing<3, 3>),
    /// List the results by the parity of the distance between two enemies.
    Parity(Listing<3, 3>),
    /// List the draws that a lone piece holds without leaving a part of the board.
    Fortresses(Listing<3, 3>),
    /// Print a longest line of each piece count with all moves.
    Lines(OfPieces<2, 5, 4>),
    /// Play games and count moves, plies and draws; then count the moves of endgame positions.
    Games(Games),
    /// Estimate the values of the animals by a regression of the results of all materials on the animals present.
    Animals(Animals),
    /// Write endgames.md, a short report on all analyses, and its plots.
    Report(Report),
}

#[derive(Args)]
struct Printed {
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
struct Whole {
    /// Print the tree for Graphviz's dot.
    #[arg(long, conflicts_with = "json")]
    graphviz: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
struct FeaturesOf {
    /// The material.
    #[arg(long, value_name = "MATERIAL", default_value = "EvE")]
    material: Material,
    #[command(flatten)]
    common: Common,
}

/// The number of pieces of an analysis.
#[derive(Args)]
struct OfPieces<const LEAST: i64, const MOST: i64, const DEFAULT: u8> {
    /// Number of pieces; by default the number that takes a few seconds.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(LEAST..=MOST))]
    pieces: Option<u8>,
    #[command(flatten)]
    common: Common,
}

/// The number of pieces and of printed lines of an analysis with a long result.
#[derive(Args)]
struct Listing<const DEFAULT: u8, const MOST: i64> {
    /// Number of pieces; by default the number that takes a few seconds.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=MOST))]
    pieces: Option<u8>,
    /// Print only the first N lines: 20 if not given, with --json all.
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>())]
    top: Option<usize>,
    #[command(flatten)]
    common: Common,
}

// clap keeps one default for all instances of a generic type, so the program fills in the defaults.
impl<const LEAST: i64, const MOST: i64, const DEFAULT: u8> OfPieces<LEAST, MOST, DEFAULT> {
    fn pieces(&self) -> u8 {
        self.pieces.unwrap_or(DEFAULT)
    }
}

impl<const DEFAULT: u8, const MOST: i64> Listing<DEFAULT, MOST> {
    fn pieces(&self) -> u8 {
        self.pieces.unwrap_or(DEFAULT)
    }

    fn top(&self) -> usize {
        self.top.unwrap_or(if self.common.json { usize::MAX } else { 20 })
    }
}

#[derive(Args)]
struct Games {
    /// Number of games.
    #[arg(long, value_name = "N", default_value = "200", value_parser = clap::value_parser!(u32).range(1..))]
    games: u32,
    /// The player of both sides.
    #[arg(long, value_enum, default_value = "minimax")]
    player: PlayerArg,
    /// Depth of minimax in plies.
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=8))]
    depth: u32,
    /// Nodes that the engine searches for each move.
    #[arg(long, value_name = "N", default_value = "5000", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Number of random plies at the start of each game.
    #[arg(long, value_name = "N", default_value = "4")]
    opening: u32,
    /// Plies after which a game is stopped as unfinished.
    #[arg(long, value_name = "N", default_value = "2000", value_parser = at_least_one::<u32>())]
    most_plies: u32,
    /// Seed of the random numbers.
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Also count the moves of endgame positions of up to N pieces: all positions of 2 and 3 pieces, and a million
    /// random positions of each larger piece count.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=16))]
    endgames: Option<u8>,
    #[command(flatten)]
    common: Common,
}

#[derive(Copy, Clone, PartialEq, Eq, ValueEnum)]
enum PlayerArg {
    Random,
    /// Minimax with Burnett's evaluation, of depth --depth.
    Minimax,
    /// The engine, with --nodes for each move.
    Engine,
}

#[derive(Args)]
struct Animals {
    /// Further counts of classes: a directory of files CLASS.json, or a JSONL file such as
    /// results/six-pieces.jsonl.
    counts: Vec<PathBuf>,
    /// Solve all endgames of up to N pieces; 5 takes some minutes. There is a regression for each number of pieces from
    /// 4 on.
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u8).range(3..=5))]
    pieces: u8,
    /// Write animals.md, animals.svg and animals.jsonl to this directory instead of printing.
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    out: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
struct Report {
    /// The directory to write to.
    dir: PathBuf,
    /// Skip four pieces and most of the games, which take the most time.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    rules: RulesArg,
    #[command(flatten)]
    threads: ThreadsArg,
}

/// A line of `dsq-lab mine --json`.
#[derive(Serialize)]
struct TreeLine {
    material: String,
    class: String,
    features: &'static str,
    positions: u64,
    leaves: usize,
    depth: usize,
    bits: u64,
    misclassified: u64,
    indistinct: u64,
    wrong: Vec<Wrong>,
    tree: serde_json::Value,
}

fn name_of(which: FeatureChoice) -> &'static str {
    match which {
        FeatureChoice::Paper => "paper",
        FeatureChoice::All => "all",
        FeatureChoice::WithMaterial => "with material",
    }
}

impl TreeLine {
    fn new(found: &MaterialTree, tables: &Solver) -> TreeLine {
        TreeLine {
            material: found.material.to_string(),
            class: found.class.to_string(),
            features: name_of(found.which),
            positions: found.positions,
            leaves: found.tree.leaves(),
            depth: found.tree.depth(),
            bits: found.bits,
            misclassified: found.tree.misclassified(),
            indistinct: found.indistinct,
            wrong: wrong_of_tree(found, tables),
            tree: found.tree.to_json(found.set.features()),
        }
    }
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
            Some(What::Sizes(q)) => print_sizes(&q.common, q.pieces()),
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

impl Trees {
    fn run(&self) -> Outcome {
        let options = &self.common.rules.rules;
        let which = match self.features {
            Features::Auto => None,
            Features::Paper => Some(FeatureChoice::Paper),
            Features::All => Some(FeatureChoice::All),
        };
        let pieces = match (self.material, self.pieces) {
            (Some(material), _) => material.len(),
            (None, Some(pieces)) => pieces.into(),
            (None, None) => return Err(Failure::Input("give --pieces N, --material M or a subcommand".to_owned())),
        };
        if pieces > 3 {
            return Err(Failure::Input(format!("trees are for 2 or 3 pieces, not {pieces}")));
        }
        if which == Some(FeatureChoice::Paper) && pieces > 2 {
            return Err(Failure::Input("the paper's features are for two pieces".to_owned()));
        }
        let leaves = self.leaves.map(|leaves| leaves as usize);
        let (tables, found) = match self.material {
            Some(material) => {
                let tables = Solver::solved_material(options, material)?;
                let found = learn(&tables, material, which, leaves).into_iter().collect();
                (tables, found)
            }
            None => {
                let tables = Solver::solved(options, pieces)?;
                let found = learn_all(&tables, pieces, which, leaves);
                (tables, found)
            }
        };
        if self.common.json {
            return found.iter().try_for_each(|found| print_json(&TreeLine::new(found, &tables)));
        }
        if self.graphviz {
            return found.iter().try_for_each(|found| {
                print(found.tree.to_graphviz(found.set.features(), &found.material.to_string()).trim_end())
            });
        }
        self.print_text(&tables, &found)
    }

    /// Prints each tree once, with all materials that share it.
    fn print_text(&self, tables: &Solver, found: &[MaterialTree]) -> Outcome {
        let key = |tree: &MaterialTree| (tree.class, tables.classes().member(tree.material).map(|m| m.swapped));
        for (i, tree) in found.iter().enumerate() {
            if found[..i].iter().any(|earlier| key(earlier) == key(tree)) {
                continue;
            }
            let names: Vec<String> =
                found.iter().filter(|other| key(other) == key(tree)).map(|other| other.material.to_string()).collect();
            print(format_args!(
                "{}: {} positions, {} leaves, {} questions at most, {} misclassified, {} bits; {} features",
                names.join(" "),
                grouped(tree.positions),
                grouped(tree.tree.leaves() as u64),
                tree.tree.depth(),
                grouped(tree.tree.misclassified()),
                grouped(tree.bits),
                match tree.which {
                    FeatureChoice::Paper => "the paper's",
                    _ => "all",
                }
            ))?;
            if tree.indistinct > 0 {
                print(format_args!(
                    "  {} positions share all features with positions of another winner, so that no tree classifies them",
                    grouped(tree.indistinct)
                ))?;
            }
            print(tree.tree.to_text(tree.set.features()))?;
            print_wrong(&wrong_of_tree(tree, tables))?;
        }
        Ok(())
    }
}

fn print_wrong(wrong: &[Wrong]) -> Outcome {
    wrong.iter().try_for_each(|w| print(format_args!("  {}  tree: {}, table: {}", w.fen, w.predicted, w.winner)))
}

impl Printed {
    fn run(&self) -> Outcome {
        let tables = Solver::solved(&self.common.rules.rules, 2)?;
        let (compared, positions) = (compare_trees(&tables), compare_positions(&tables));
        if self.common.json {
            compared.iter().try_for_each(print_json)?;
            return positions.iter().try_for_each(print_json);
        }
        for printed in printed_trees() {
            print(format_args!("Tree ({}), {}:", printed.name, printed.claim))?;
            for j in compared.iter().filter(|j| j.tree == printed.name) {
                print(format_args!(
                    "  {} {} positions, misclassified {} (the paper: {})",
                    j.material,
                    grouped(j.positions),
                    j.misclassified,
                    j.printed
                ))?;
                print_wrong(&j.wrong)?;
            }
        }
        print(tables::printed_positions(&positions).aligned().trim_end())
    }
}

impl Whole {
    fn run(&self) -> Outcome {
        let tables = Solver::solved(&self.common.rules.rules, 2)?;
        let Some(whole) = learn_whole(&tables) else { return Ok(()) };
        let features = whole.set.features();
        if self.common.json {
            return print_json(&serde_json::json!({
                "materials": whole.materials,
                "positions": whole.positions,
                "leaves": whole.tree.leaves(),
                "depth": whole.tree.depth(),
                "bits": whole.bits,
                "misclassified": whole.tree.misclassified(),
                "tree": whole.tree.to_json(features),
            }));
        }
        if self.graphviz {
            return print(whole.tree.to_graphviz(features, "two pieces").trim_end());
        }
        print(format_args!(
            "{} materials: {} positions, {} leaves, {} questions at most, {} misclassified, {} bits",
            whole.materials,
            grouped(whole.positions),
            grouped(whole.tree.leaves() as u64),
            whole.tree.depth(),
            grouped(whole.tree.misclassified()),
            grouped(whole.bits)
        ))?;
        print(whole.tree.to_text(features))
    }
}

impl FeaturesOf {
    fn run(&self) -> Outcome {
        #[derive(Serialize)]
        struct Line<'a> {
            name: &'a str,
            values: String,
            paper: bool,
            meaning: &'a str,
        }
        let options = &self.common.rules.rules;
        let set = FeatureSet::new(self.material, options, FeatureChoice::WithMaterial);
        let paper = FeatureSet::new(self.material, options, FeatureChoice::Paper);
        for feature in set.features() {
            let values = match feature.kind {
                FeatureKind::Bool => "0 no, 1 yes".to_owned(),
                FeatureKind::Number => "number".to_owned(),
                FeatureKind::Named(names) => {
                    names.iter().enumerate().map(|(i, name)| format!("{i} {name}")).collect::<Vec<_>>().join(", ")
                }
            };
            let paper = self.material.len() == 2 && paper.find(&feature.name).is_some();
            let line = Line { name: &feature.name, values, paper, meaning: &feature.meaning };
            if self.common.json {
                print_json(&line)?;
            } else {
                let mark = if paper { '*' } else { ' ' };
                print(format_args!("{mark} {:18} {:24} {}", line.name, line.values, line.meaning))?;
            }
        }
        if self.common.json || self.material.len() > 2 { Ok(()) } else { print("* in the 2014 paper") }
    }
}

/// Prints results: JSON with one object on each line, or a table.
fn print_found<T: Serialize>(common: &Common, found: &[T], table: impl FnOnce(&[T]) -> Table) -> Outcome {
    if common.json {
        return found.iter().try_for_each(print_json);
    }
    print(table(found).aligned().trim_end())
}

fn print_sizes(common: &Common, pieces: u8) -> Outcome {
    let tables = Solver::solved(&common.rules.rules, pieces.into())?;
    print_found(common, &sizes(&tables, pieces.into()), tables::sizes)
}

fn print_zugzwangs(common: &Common, pieces: u8) -> Outcome {
    let options: &RuleOptions = &common.rules.rules;
    let classes = Classes::new(options, pieces.into()).len() as u64;
    let bar = progress_bar(classes, "classes").with_message("zugzwangs");
    let all = zugzwangs(options, pieces.into(), &|_| bar.inc(1));
    bar.finish_and_clear();
    let all = all?;
    if common.json {
        return all.iter().try_for_each(print_json);
    }
    print(tables::zugzwangs(&all).aligned())?;
    print(tables::deepest_zugzwangs(&all).aligned().trim_end())
}

fn print_draws(common: &Common, pieces: u8, top: usize) -> Outcome {
    let all = draws(&common.rules.rules, pieces.into())?;
    let last: Vec<_> = all.into_iter().filter(|d| d.pieces == usize::from(pieces)).take(top).collect();
    print_found(common, &last, |found| tables::draws(found))
}

fn print_swaps(common: &Common, pieces: u8, top: usize) -> Outcome {
    let mut all = swaps(&Solver::solved(&common.rules.rules, pieces.into())?, pieces.into());
    all.truncate(top);
    print_found(common, &all, |found| tables::swaps(found))
}

fn print_parity(common: &Common, pieces: u8, top: usize) -> Outcome {
    let mut all = parities(&Solver::solved(&common.rules.rules, pieces.into())?, pieces.into());
    all.truncate(top);
    print_found(common, &all, |found| tables::parity(found))
}

fn print_fortresses(common: &Common, pieces: u8, top: usize) -> Outcome {
    let mut all = fortresses(&Solver::solved(&common.rules.rules, pieces.into())?, pieces.into());
    all.truncate(top);
    print_found(common, &all, |found| tables::fortresses(found))
}

fn print_lines(common: &Common, pieces: u8) -> Outcome {
    for line in longest_lines(&common.rules.rules, pieces.into())? {
        if common.json {
            print_json(&line)?;
        } else {
            print(format_args!("{} pieces: {}, {} plies", line.pieces, line.fen, line.plies))?;
            print(format_args!("  {}", line.line.join(" ")))?;
        }
    }
    Ok(())
}

impl Games {
    fn run(&self) -> Outcome {
        let options = &self.common.rules.rules;
        let player = match self.player {
            PlayerArg::Random => SelfPlayer::Random,
            PlayerArg::Engine => SelfPlayer::Engine { nodes: self.nodes },
            PlayerArg::Minimax => SelfPlayer::Minimax { depth: self.depth },
        };
        let series = SelfPlay {
            games: self.games.into(),
            seed: self.seed,
            opening: self.opening,
            most_plies: self.most_plies as usize,
        };
        let s = play(player, options, series);
        if self.common.json {
            print_json(&s)?;
        } else {
            print(format_args!(
                "{}, {} games, seed {}, {} plies at random first: {} won, {} lost, {} drawn ({} by repetition, {} without a \
                 move), {} unfinished",
                s.player,
                grouped(s.games),
                s.seed,
                s.opening,
                grouped(s.white_wins),
                grouped(s.black_wins),
                grouped(s.repetitions + s.no_move),
                grouped(s.repetitions),
                grouped(s.no_move),
                grouped(s.unfinished)
            ))?;
            print(format_args!("  plies: mean {:.1}, median {}, longest {}", s.mean_plies, s.median_plies, s.longest))?;
            print(format_args!("  legal moves: mean {:.2}, at most {} in {}", s.moves.mean, s.moves.max, s.moves.fen))?;
        }
        let Some(most) = self.endgames else { return Ok(()) };
        let tables = Solver::solved(options, usize::from(most.min(3)))?;
        for pieces in 2..=usize::from(most) {
            let mobility = match pieces {
                2 | 3 => table_mobility(&tables, pieces),
                _ => sampled_mobility(options, pieces, 1_000_000, self.seed),
            };
            if self.common.json {
                print_json(&serde_json::json!({"pieces": pieces, "moves": mobility}))?;
            } else {
                print(format_args!(
                    "{pieces} pieces: legal moves of {} positions: mean {:.2}, at most {} in {}",
                    grouped(mobility.positions),
                    mobility.mean,
                    mobility.max,
                    mobility.fen
                ))?;
            }
        }
        Ok(())
    }
}

impl Animals {
    fn run(&self) -> Outcome {
        // A directory that cannot be made is an error before the tables are solved.
        self.out.as_deref().map_or(Ok(()), make_dir)?;
        let options = &self.common.rules.rules;
        let mut fits = Vec::new();
        let mut add = |samples: &[Sample], name: &str| {
            for with_pairs in [false, true] {
                let missing = || Failure::Input(format!("{name}: too few materials, or of several numbers of pieces"));
                fits.push(fit(samples, with_pairs).ok_or_else(missing)?);
            }
            Ok::<(), Failure>(())
        };
        let bar = progress_bar(0, "classes").with_message("solving");
        for samples in animals::solve(options, self.pieces.into())? {
            add(&samples, &format!("{} pieces", self.pieces))?;
        }
        bar.finish_and_clear();
        for path in &self.counts {
            let counts = ClassCounts::read_all(path)?;
            let hash = options.table_spelling();
            if let Some(other) = counts.iter().find(|counts| counts.rules != hash) {
                return Err(Failure::Input(format!("{}: the rules are {}, not {hash}", path.display(), other.rules)));
            }
            add(&animals::from_counts(options, &counts), &path.display().to_string())?;
        }
        match &self.out {
            Some(dir) => {
                let lines: Vec<String> = fits.iter().map(to_json).collect();
                let files = [
                    ("animals.jsonl", lines.join("\n") + "\n"),
                    ("animals.svg", tables::animals_plot(&fits)?),
                    ("animals.md", tables::animals_page(&fits)),
                ];
                files.iter().try_for_each(|(name, text)| {
                    write_file(&dir.join(name), text)?;
                    print(dir.join(name).display())
                })
            }
            None if self.common.json => fits.iter().try_for_each(print_json),
            None => print(tables::animals(&fits).aligned().trim_end()),
        }
    }
}

impl Report {
    fn run(&self) -> Outcome {
        make_dir(&self.dir)?;
        let bar = progress_bar(report::STEPS, "steps").with_message("endgames.md");
        let files = report::files(&self.rules.rules, self.quick, &|| bar.inc(1));
        bar.finish_and_clear();
        let files = files.map_err(|error| match error {
            report::ReportError::Solve(error) => error.into(),
            error => Failure::Environment(error.to_string()),
        })?;
        files.iter().try_for_each(|(name, text)| {
            let path = self.dir.join(name);
            write_file(&path, text)?;
            print(path.display())
        })
    }
}
