//! Decision trees that predict the winner.

use clap::{Args, ValueEnum};
use cli::arguments::Common;
use cli::failure::{Failure, Outcome};
use cli::output::{print, print_json};
use doushouqi::tablebase::{Material, Solver};
use mining::printed::{Wrong, compare_positions, compare_trees, printed_trees, wrong_of_tree};
use mining::tables;
use mining::trees::{learn_all, learn_whole};
use report::text::grouped;
use serde::Serialize;
use study::learn::{MaterialTree, learn};
use study::{FeatureChoice, FeatureKind, FeatureSet};

#[derive(Args)]
pub(super) struct Trees {
    /// Learn a tree for each material of N pieces, 2 or 3. Materials with the same table share a tree.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=3))]
    piece_count: Option<u8>,
    /// Learn a tree for one material of 2 or 3 pieces: White's animals, v, Black's.
    #[arg(long, value_name = "MATERIAL", conflicts_with = "piece_count")]
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
    pub(super) common: Common,
}

#[derive(Copy, Clone, PartialEq, Eq, ValueEnum)]
enum Features {
    Auto,
    /// The eleven features of the 2014 paper (two pieces only).
    Paper,
    /// The paper's features and further ones.
    All,
}

#[derive(Args)]
pub(super) struct Printed {
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args)]
pub(super) struct Whole {
    /// Print the tree for Graphviz's dot.
    #[arg(long, conflicts_with = "json")]
    graphviz: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args)]
pub(super) struct FeaturesOf {
    /// The material.
    #[arg(long, value_name = "MATERIAL", default_value = "EvE")]
    material: Material,
    #[command(flatten)]
    pub(super) common: Common,
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

impl Trees {
    pub(super) fn run(&self) -> Outcome {
        let options = self.common.rules();
        let which = match self.features {
            Features::Auto => None,
            Features::Paper => Some(FeatureChoice::Paper),
            Features::All => Some(FeatureChoice::All),
        };
        let pieces = match (self.material, self.piece_count) {
            (Some(material), _) => material.len(),
            (None, Some(pieces)) => pieces.into(),
            (None, None) => {
                return Err(Failure::Input("give --piece-count N, --material M or a subcommand".to_owned()));
            }
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
        if self.common.json.on {
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
    pub(super) fn run(&self) -> Outcome {
        let tables = Solver::solved(self.common.rules(), 2)?;
        let (compared, positions) = (compare_trees(&tables), compare_positions(&tables));
        if self.common.json.on {
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
    pub(super) fn run(&self) -> Outcome {
        let tables = Solver::solved(self.common.rules(), 2)?;
        let Some(whole) = learn_whole(&tables) else { return Ok(()) };
        let features = whole.set.features();
        if self.common.json.on {
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
    pub(super) fn run(&self) -> Outcome {
        #[derive(Serialize)]
        struct Line<'a> {
            name: &'a str,
            values: String,
            paper: bool,
            meaning: &'a str,
        }
        let options = self.common.rules();
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
            if self.common.json.on {
                print_json(&line)?;
            } else {
                let mark = if paper { '*' } else { ' ' };
                print(format_args!("{mark} {:18} {:24} {}", line.name, line.values, line.meaning))?;
            }
        }
        if self.common.json.on || self.material.len() > 2 { Ok(()) } else { print("* in the 2014 paper") }
    }
}
