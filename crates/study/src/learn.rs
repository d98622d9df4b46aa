//! Learning the decision tree of a material.

use super::features::{FeatureChoice, FeatureSet};
use super::sample::TrainingSet;
use super::tree::{Learner, Tree};
use doushouqi::tablebase::{Material, Solver};

/// The numbers of candidate splits at each node with which trees for materials of `pieces` pieces are grown; the smallest
/// tree is kept. Three pieces have fifty times as many positions as two.
#[must_use]
pub fn widths(pieces: usize) -> &'static [usize] {
    if pieces > 2 { &[1, 4] } else { &[1, 4, 8, 16, 32] }
}

/// A tree for the positions of a material with White to move.
pub struct MaterialTree {
    /// The material.
    pub material: Material,
    /// The representative of its class.
    pub class: Material,
    /// Number of its positions with White to move.
    pub positions: u64,
    /// The features that the tree may test.
    pub set: FeatureSet,
    /// The choice of features.
    pub which: FeatureChoice,
    /// The tree.
    pub tree: Tree,
    /// The least number of positions that any tree on these features misclassifies, because positions with different
    /// winners share all features.
    pub indistinct: u64,
    /// The size of the tree ([`Tree::bits`]).
    pub bits: u64,
}

/// The smallest tree found for a material among those with the fewest errors possible on these features; with
/// `max_leaves` the greedy tree of that many leaves, which splits by the most information gain. Without `which` the
/// better of a tree on the paper's features and one on all features: the smaller one if both are perfect. `None` if the
/// material is not solved.
#[must_use]
pub fn learn(
    tables: &Solver,
    material: Material,
    which: Option<FeatureChoice>,
    max_leaves: Option<usize>,
) -> Option<MaterialTree> {
    let table = tables.material_table(material)?;
    let class = tables.classes().get(tables.classes().member(material)?.class).representative;
    let one = |which| {
        let set = FeatureSet::new(material, tables.classes().options(), which);
        let sample = TrainingSet::new([(&set, &table)], tables.classes().options());
        let learner = Learner::new(&sample);
        let tree = match max_leaves {
            Some(leaves) => learner.grow(leaves).tree.prune(&sample),
            None => learner.smallest_of(widths(material.len())),
        };
        let (positions, indistinct, bits) = (sample.positions(), sample.indistinct(), tree.bits(&sample));
        MaterialTree { material, class, positions, set, which, tree, indistinct, bits }
    };
    let choices = match which {
        Some(which) => vec![which],
        None if material.len() > 2 => vec![FeatureChoice::All],
        None => vec![FeatureChoice::Paper, FeatureChoice::All],
    };
    choices.into_iter().map(one).min_by_key(|found| (found.tree.misclassified(), found.tree.leaves()))
}
