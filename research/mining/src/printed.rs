//! The three trees and four positions that van Rijn and Vis printed (2014, Figures 2 and 3), compared with the tables.

use doushouqi::board::{Color, Position, RuleOptions};
use doushouqi::tablebase::{Material, MaterialTable, Probe, Solver, position_of};
use serde::Serialize;
use std::convert::Infallible;
use study::learn::MaterialTree;
use study::{FeatureChoice, FeatureSet, Winner};

/// A tree as printed.
#[derive(Clone, Debug)]
pub enum PrintedTree {
    /// The winner.
    Leaf(Winner),
    /// The feature's name, a predicate on its value that selects the first tree, and the two trees.
    Ask(&'static str, fn(i8) -> bool, Box<[PrintedTree; 2]>),
}

/// One of the paper's trees, with the paper's claims.
pub struct Printed {
    /// The letter of the figure.
    pub name: &'static str,
    /// The materials that the paper names for the tree.
    pub claim: &'static str,
    /// The materials that the claim covers.
    pub materials: Vec<Material>,
    /// The number of positions that the tree misclassifies, according to the paper.
    pub misclassified: u64,
    /// The rules of the tree.
    pub tree: PrintedTree,
}

/// The result for one material.
#[derive(Clone, Debug, Serialize)]
pub struct TreeComparison {
    /// The letter of the figure.
    pub tree: &'static str,
    /// The material.
    pub material: String,
    /// Number of its positions with White to move.
    pub positions: u64,
    /// Number of misclassified positions according to the paper.
    pub printed: u64,
    /// Number of misclassified positions by the tables.
    pub misclassified: u64,
    /// The misclassified positions.
    pub wrong: Vec<Wrong>,
}

/// A position that a tree misclassifies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Wrong {
    /// The position.
    pub fen: String,
    /// The winner by the tree.
    pub predicted: Winner,
    /// The winner by the table.
    pub winner: Winner,
}

fn ask(feature: &'static str, test: fn(i8) -> bool, yes: PrintedTree, no: PrintedTree) -> PrintedTree {
    PrintedTree::Ask(feature, test, Box::new([yes, no]))
}

/// The three trees of Figure 2.
#[must_use]
pub fn printed_trees() -> Vec<Printed> {
    use PrintedTree::Leaf;
    use Winner::{Black, Draw, White};
    let yes: fn(i8) -> bool = |value| value == 1;
    let materials = |names: &[&str]| names.iter().filter_map(|name| name.parse().ok()).collect();
    // The common right branch of (b) and (c): Black is closest.
    let black_closest = || ask("adjacent", yes, ask("trapped", yes, Leaf(White), Leaf(Black)), Leaf(Black));
    let by_parity = || ask("parity", |p| p == 0, Leaf(Black), Leaf(White));
    vec![
        Printed {
            name: "a",
            claim: "equal strength, neither leaps nor swims",
            materials: materials(&["EvE", "PvP", "DvD", "WvW", "CvC"]),
            misclassified: 0,
            tree: ask(
                "closest",
                yes,
                ask("unopposed_w", yes, Leaf(White), by_parity()),
                ask("unopposed_b", yes, Leaf(Black), by_parity()),
            ),
        },
        Printed {
            name: "b",
            claim: "Black stronger, no rat, tiger or lion",
            materials: materials(&["PvE", "DvE", "WvE", "CvE", "DvP", "WvP", "CvP", "WvD", "CvD", "CvW"]),
            misclassified: 0,
            tree: ask(
                "closest",
                yes,
                ask(
                    "unopposed_w",
                    yes,
                    Leaf(White),
                    ask(
                        "parity",
                        |p| p == 0,
                        Leaf(Black),
                        ask(
                            "can_cross",
                            yes,
                            Leaf(Draw),
                            ask(
                                "distance_p",
                                |d| d <= 10,
                                Leaf(Black),
                                ask("distance_d", |d| d <= 3, Leaf(Black), Leaf(Draw)),
                            ),
                        ),
                    ),
                ),
                black_closest(),
            ),
        },
        Printed {
            name: "c",
            claim: "White tiger or lion against black elephant",
            materials: materials(&["TvE", "LvE"]),
            misclassified: 16,
            tree: ask(
                "closest",
                yes,
                ask(
                    "unopposed_w",
                    yes,
                    Leaf(White),
                    ask("sector_b", |s| s == 2, Leaf(Draw), ask("sector_w", |s| s == 1, Leaf(Black), Leaf(Draw))),
                ),
                black_closest(),
            ),
        },
    ]
}

impl PrintedTree {
    /// The winner by the tree, for these values of the paper's features.
    #[must_use]
    pub fn classify(&self, set: &FeatureSet, values: &[i8]) -> Winner {
        match self {
            PrintedTree::Leaf(winner) => *winner,
            PrintedTree::Ask(name, test, branches) => {
                let value = set.find(name).map_or(0, |feature| values[feature]);
                branches[usize::from(!test(value))].classify(set, values)
            }
        }
    }
}

/// The positions of a material with White to move that a classifier gets wrong.
#[must_use]
pub fn wrong_positions(
    set: &FeatureSet,
    table: &MaterialTable,
    options: &RuleOptions,
    classify: impl Fn(&[i8]) -> Winner,
) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    let _ = table.each(Color::White, |squares, value| {
        let (predicted, winner) = (classify(&set.values(squares)), Winner::of(value, Color::White, options));
        if predicted != winner
            && let Some(position) = position_of(table.pieces(), squares, Color::White)
        {
            wrong.push(Wrong { fen: position.to_fen(), predicted, winner });
        }
        Ok::<(), Infallible>(())
    });
    wrong
}

/// The positions that a learned tree misclassifies.
#[must_use]
pub fn wrong_of_tree(found: &MaterialTree, tables: &Solver) -> Vec<Wrong> {
    let table = tables.material_table(found.material).filter(|_| found.tree.misclassified() > 0);
    let classify = |values: &[i8]| found.tree.classify(values);
    table.map_or_else(Vec::new, |table| wrong_positions(&found.set, &table, tables.classes().options(), classify))
}

/// Compares the printed trees with the tables on every claimed material. `tables` must contain two pieces.
#[must_use]
pub fn compare_trees(tables: &Solver) -> Vec<TreeComparison> {
    let mut all = Vec::new();
    for printed in printed_trees() {
        for &material in &printed.materials {
            let Some(table) = tables.material_table(material) else { continue };
            let set = FeatureSet::new(material, tables.classes().options(), FeatureChoice::Paper);
            let classify = |values: &[i8]| printed.tree.classify(&set, values);
            let wrong = wrong_positions(&set, &table, tables.classes().options(), classify);
            all.push(TreeComparison {
                tree: printed.name,
                material: material.to_string(),
                positions: tables.stats(material).map_or(0, |stats| stats.white.summary().positions),
                printed: printed.misclassified,
                misclassified: wrong.len() as u64,
                wrong,
            });
        }
    }
    all
}

/// A position of Figure 3 with White to move: the printed winner and distance, and the tables' values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PrintedPosition {
    /// The position.
    pub fen: &'static str,
    /// The printed winner.
    pub printed: Winner,
    /// The printed distance in plies, if any.
    pub printed_plies: Option<u16>,
    /// The winner by the tables.
    pub winner: Winner,
    /// The distance in plies by the tables; `None` for a draw.
    pub plies: Option<u16>,
    /// The printed trees that cover its material, with their winners.
    pub trees: Vec<(&'static str, Winner)>,
}

/// The four positions of Figure 3.
pub const POSITIONS: [(&str, Winner, Option<u16>); 4] = [
    ("7/7/3e3/7/7/7/3E3/7/7 w", Winner::Black, Some(12)),
    ("t6/7/T6/7/7/7/7/7/7 w", Winner::White, Some(19)),
    ("d6/7/7/7/7/7/5C1/7/7 w", Winner::Draw, None),
    ("7/7/3e3/7/6L/7/7/7/7 w", Winner::Black, None),
];

/// The tables' values of the printed positions, and the winners by the printed trees. `tables` must contain two pieces.
#[must_use]
pub fn compare_positions(tables: &Solver) -> Vec<PrintedPosition> {
    let trees = printed_trees();
    let compared = |(fen, printed, printed_plies): (&'static str, Winner, Option<u16>)| {
        let position = Position::from_fen(fen).ok()?;
        let material = Material::of(&position)?;
        let winner = Winner::of(tables.cell_value(&position)?, position.turn(), tables.classes().options());
        let Ok(verdict) = tables.value(&position);
        let plies = verdict?.dtw;
        let set = FeatureSet::new(material, tables.classes().options(), FeatureChoice::Paper);
        let values = set.values_of(&position)?;
        let covering = trees.iter().filter(|tree| tree.materials.contains(&material));
        let trees = covering.map(|tree| (tree.name, tree.tree.classify(&set, &values))).collect();
        Some(PrintedPosition { fen, printed, printed_plies, winner, plies, trees })
    };
    POSITIONS.into_iter().filter_map(compared).collect()
}
