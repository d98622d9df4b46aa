//! Trees of all materials, one tree for all of two pieces, the accuracy of small trees, and the size of perfect trees.

use doushouqi::board::{Color, RuleOptions};
use doushouqi::tablebase::{Classes, Material, MaterialTable, Solver, compressed_len};
use rayon::prelude::*;
use serde::Serialize;
use study::learn::{MaterialTree, learn, widths};
use study::{FeatureChoice, FeatureSet, Learner, TrainingSet, Tree};

/// The trees of all materials of `pieces` pieces, in the order of spelling. Materials of one class share a tree.
#[must_use]
pub fn learn_all(
    tables: &Solver,
    pieces: usize,
    which: Option<FeatureChoice>,
    max_leaves: Option<usize>,
) -> Vec<MaterialTree> {
    let sides: Vec<Vec<Material>> =
        tables.classes().level(pieces).flat_map(|(_, class)| [class.same.clone(), class.swapped.clone()]).collect();
    let mut trees: Vec<MaterialTree> = sides
        .into_par_iter()
        .filter_map(|materials| {
            let found = learn(tables, *materials.first()?, which, max_leaves)?;
            let share = |&material: &Material| {
                let set = FeatureSet::new(material, tables.classes().options(), found.which);
                MaterialTree { material, set, tree: found.tree.clone(), ..found }
            };
            Some(materials.iter().map(share).collect::<Vec<_>>())
        })
        .flatten()
        .collect();
    trees.sort_by_key(|tree| tree.material);
    trees
}

/// One tree for all materials of two pieces.
pub struct WholeTree {
    /// The number of materials.
    pub materials: usize,
    /// Number of their positions with White to move.
    pub positions: u64,
    /// The features of the first material; the names are the same for all materials.
    pub set: FeatureSet,
    /// The tree.
    pub tree: Tree,
    /// The least number of positions that any tree on these features misclassifies.
    pub indistinct: u64,
    /// The size of the tree in bits.
    pub bits: u64,
}

/// The smallest tree found for all positions of two pieces together. Besides the features of the position it may test
/// which captures are allowed, which animals leap and which swim. `None` if two pieces are not solved.
#[must_use]
pub fn learn_whole(tables: &Solver) -> Option<WholeTree> {
    let materials = Material::all(2);
    let sets: Vec<FeatureSet> = materials
        .iter()
        .map(|&material| FeatureSet::new(material, tables.classes().options(), FeatureChoice::WithMaterial))
        .collect();
    let values: Vec<MaterialTable> =
        materials.iter().map(|&material| tables.material_table(material)).collect::<Option<_>>()?;
    let sample = TrainingSet::new(sets.iter().zip(&values), tables.classes().options());
    let learner = Learner::new(&sample);
    // As many candidates as for three pieces: there are as many positions.
    let tree = learner.smallest_of(widths(3));
    Some(WholeTree {
        materials: materials.len(),
        positions: sample.positions(),
        indistinct: sample.indistinct(),
        bits: tree.bits(&sample),
        tree,
        set: sets.into_iter().next()?,
    })
}

/// Accuracy and size of trees for a material with White to move.
#[derive(Clone, Debug, Serialize)]
pub struct Sizes {
    /// The material.
    pub material: String,
    /// The representative of its class.
    pub class: String,
    /// Number of its positions.
    pub positions: u64,
    /// The share of the most frequent winner: the accuracy of a tree of one leaf.
    pub accuracy_1: f64,
    /// The accuracy of the greedy tree of 10 leaves.
    pub accuracy_10: f64,
    /// The accuracy of the greedy tree of 30 leaves.
    pub accuracy_30: f64,
    /// The accuracy of the greedy tree of 100 leaves.
    pub accuracy_100: f64,
    /// Number of leaves of the perfect tree.
    pub leaves: usize,
    /// Number of questions on its longest path from the root to a leaf.
    pub depth: usize,
    /// Number of positions that it misclassifies.
    pub misclassified: u64,
    /// The size of the tree in bits ([`Tree::bits`]).
    pub tree_bits: u64,
    /// The compressed size of the winners in bits: one byte for each position in the order of the index, mirror images
    /// once, as one zstd frame of level 19.
    pub table_bits: u64,
    /// The size in bits of the distances, compressed the same way.
    pub distance_bits: u64,
}

/// The sizes for all classes of `pieces` pieces, with White and with Black of the representative to move (the latter as
/// the material with exchanged colours); once for a class that is its own exchange.
#[must_use]
pub fn sizes(tables: &Solver, pieces: usize) -> Vec<Sizes> {
    both_sides(tables.classes(), pieces).into_par_iter().filter_map(|material| size(tables, material)).collect()
}

/// For each class of `pieces` pieces the representative and, unless the class is its own exchange, the first material
/// with exchanged colours.
pub(crate) fn both_sides(classes: &Classes, pieces: usize) -> Vec<Material> {
    let classes = classes.level(pieces);
    classes.flat_map(|(_, class)| [Some(class.representative), class.swapped.first().copied()]).flatten().collect()
}

fn size(tables: &Solver, material: Material) -> Option<Sizes> {
    let id = tables.classes().member(material)?.class;
    let class = tables.classes().get(id);
    let turn = if tables.classes().member(material)?.swapped { Color::Black } else { Color::White };
    let cells = &tables.table(id)?.cells[turn];
    let options: &RuleOptions = tables.classes().options();
    let table = tables.material_table(material)?;
    let set = FeatureSet::new(material, options, FeatureChoice::All);
    let sample = TrainingSet::new([(&set, &table)], options);
    let learner = Learner::new(&sample);
    let errors = learner.grow(100).errors;
    let positions = sample.positions();
    let accuracy = |leaves: usize| {
        let wrong = errors[leaves.min(errors.len()) - 1];
        1.0 - wrong as f64 / positions as f64
    };
    let tree = learner.smallest_of(widths(material.len()));
    let bits = |wdl| compressed_len(&class.index(), cells, wdl).map_or(0, |bytes| 8 * bytes as u64);
    Some(Sizes {
        material: material.to_string(),
        class: class.representative.to_string(),
        positions,
        accuracy_1: accuracy(1),
        accuracy_10: accuracy(10),
        accuracy_30: accuracy(30),
        accuracy_100: accuracy(100),
        leaves: tree.leaves(),
        depth: tree.depth(),
        misclassified: tree.misclassified(),
        tree_bits: tree.bits(&sample),
        table_bits: bits(true),
        distance_bits: bits(false),
    })
}

/// The accuracy of the greedy tree by its number of leaves, from 1 to `most` or to its full size. `None` if the
/// material is not solved.
#[must_use]
pub(crate) fn accuracy_curve(tables: &Solver, material: Material, most: usize) -> Option<Vec<(f64, f64)>> {
    let table = tables.material_table(material)?;
    let set = FeatureSet::new(material, tables.classes().options(), FeatureChoice::All);
    let sample = TrainingSet::new([(&set, &table)], tables.classes().options());
    let errors = Learner::new(&sample).grow(most).errors;
    let positions = sample.positions() as f64;
    Some(errors.iter().enumerate().map(|(i, &wrong)| (i as f64 + 1.0, 1.0 - wrong as f64 / positions)).collect())
}
