//! Decision trees: every inner node tests whether one feature is at most some value, every leaf has a winner.

use super::sample::{TrainingSet, Winner};
use std::collections::BinaryHeap;

/// A decision tree. Node 0 is the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    pub(super) nodes: Vec<Node>,
}

/// A node, with the number of training positions of each winner that reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The numbers of positions that White wins, draws and loses.
    pub counts: [u64; 3],
    /// The question of an inner node; `None` for a leaf.
    pub split: Option<Split>,
}

/// A question: is the feature at most this value? `yes` and `no` are numbers of nodes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The index of the feature.
    pub feature: usize,
    /// The greatest value that goes to `yes`.
    pub at_most: i8,
    /// The node for values up to `at_most`.
    pub yes: usize,
    /// The node for greater values.
    pub no: usize,
}

impl Node {
    fn leaf(counts: [u64; 3]) -> Node {
        Node { counts, split: None }
    }

    /// The most frequent winner of the positions at this node.
    #[must_use]
    pub fn winner(&self) -> Winner {
        let most = self.counts.iter().max().unwrap_or(&0);
        Winner::ALL.into_iter().find(|&w| self.counts[w as usize] == *most).unwrap_or(Winner::Draw)
    }

    /// Number of positions at this node with another winner.
    fn errors(&self) -> u64 {
        self.counts.iter().sum::<u64>() - self.counts[self.winner() as usize]
    }
}

impl Tree {
    /// The root.
    #[must_use]
    pub fn root(&self) -> &Node {
        &self.nodes[0]
    }

    /// A node by number.
    #[must_use]
    pub fn node(&self, i: usize) -> &Node {
        &self.nodes[i]
    }

    /// Number of leaves.
    #[must_use]
    pub fn leaves(&self) -> usize {
        self.nodes.iter().filter(|node| node.split.is_none()).count()
    }

    /// The most questions on a path from the root to a leaf.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth_below(0)
    }

    fn depth_below(&self, i: usize) -> usize {
        self.nodes[i].split.map_or(0, |split| 1 + self.depth_below(split.yes).max(self.depth_below(split.no)))
    }

    /// The winner by the tree, for these values of the features.
    #[must_use]
    pub fn classify(&self, values: &[i8]) -> Winner {
        self.leaf(|feature| values[feature])
    }

    fn leaf(&self, value: impl Fn(usize) -> i8) -> Winner {
        let mut node = &self.nodes[0];
        while let Some(split) = node.split {
            node = &self.nodes[if value(split.feature) <= split.at_most { split.yes } else { split.no }];
        }
        node.winner()
    }

    /// The number of training positions that the tree misclassifies.
    #[must_use]
    pub fn misclassified(&self) -> u64 {
        self.nodes.iter().filter(|node| node.split.is_none()).map(Node::errors).sum()
    }

    /// The size of the tree in bits, with nodes in preorder: one bit distinguishes leaves from inner nodes; a leaf has
    /// two bits for the winner; an inner node has the index of the feature and of one of its possible split values,
    /// each with a fixed number of bits.
    #[must_use]
    pub fn bits(&self, sample: &TrainingSet) -> u64 {
        let ranges = sample.ranges();
        let width = |choices: usize| u64::from(choices.next_power_of_two().trailing_zeros());
        let used = ranges.iter().filter(|(low, high)| low < high).count();
        let cost = |node: &Node| match node.split {
            None => 1 + 2,
            Some(split) => {
                let (low, high) = ranges[split.feature];
                1 + width(used) + width(usize::from(high.abs_diff(low)))
            }
        };
        self.nodes.iter().map(cost).sum()
    }

    /// Prunes the tree from the bottom up: replaces a node by one of its branches, or by a leaf, if that makes no more
    /// errors on the node's rows.
    #[must_use]
    pub fn prune(&self, sample: &TrainingSet) -> Tree {
        let all: Vec<u32> = (0..sample.rows() as u32).collect();
        self.pruned(0, sample, &all).0
    }

    /// The pruned tree below a node for the rows that reach it, and the number of positions that it misclassifies.
    fn pruned(&self, i: usize, sample: &TrainingSet, rows: &[u32]) -> (Tree, u64) {
        let leaf = Node::leaf(counts(sample, rows));
        let leaf_errors = leaf.errors();
        let Some(split) = self.nodes[i].split.filter(|_| leaf_errors > 0) else {
            return (Tree { nodes: vec![leaf] }, leaf_errors);
        };
        let (yes_rows, no_rows) = partition(sample, rows, split.feature, split.at_most);
        let (yes, yes_errors) = self.pruned(split.yes, sample, &yes_rows);
        let (no, no_errors) = self.pruned(split.no, sample, &no_rows);
        let errors = yes_errors + no_errors;
        if leaf_errors <= errors {
            return (Tree { nodes: vec![leaf] }, leaf_errors);
        }
        for branch in [&yes, &no] {
            let wrong = branch.errors_on(sample, rows);
            if wrong <= errors {
                return (branch.recounted(sample, rows), wrong);
            }
        }
        (join(leaf.counts, split.feature, split.at_most, yes, no), errors)
    }

    fn errors_on(&self, sample: &TrainingSet, rows: &[u32]) -> u64 {
        let wrong =
            |&&row: &&u32| self.leaf(|feature| sample.columns[feature][row as usize]) != sample.winners[row as usize];
        rows.iter().filter(wrong).map(|&row| sample.weights[row as usize]).sum()
    }

    /// The tree with the counts of other rows; nodes that no row reaches keep their counts.
    fn recounted(&self, sample: &TrainingSet, rows: &[u32]) -> Tree {
        let mut tree = self.clone();
        let mut rest = vec![(0, rows.to_vec())];
        while let Some((i, rows)) = rest.pop() {
            if !rows.is_empty() {
                tree.nodes[i].counts = counts(sample, &rows);
            }
            if let Some(split) = tree.nodes[i].split {
                let (yes, no) = partition(sample, &rows, split.feature, split.at_most);
                rest.extend([(split.yes, yes), (split.no, no)]);
            }
        }
        tree
    }
}

/// Joins two trees by a question.
fn join(counts: [u64; 3], feature: usize, at_most: i8, yes: Tree, no: Tree) -> Tree {
    let first_no = 1 + yes.nodes.len();
    let mut nodes = vec![Node { counts, split: Some(Split { feature, at_most, yes: 1, no: first_no }) }];
    for (tree, offset) in [(yes, 1), (no, first_no)] {
        nodes.extend(tree.nodes.into_iter().map(|mut node| {
            if let Some(split) = &mut node.split {
                split.yes += offset;
                split.no += offset;
            }
            node
        }));
    }
    Tree { nodes }
}

fn counts(sample: &TrainingSet, rows: &[u32]) -> [u64; 3] {
    let mut counts = [0; 3];
    for &row in rows {
        counts[sample.winners[row as usize] as usize] += sample.weights[row as usize];
    }
    counts
}

fn partition(sample: &TrainingSet, rows: &[u32], feature: usize, at_most: i8) -> (Vec<u32>, Vec<u32>) {
    let column = &sample.columns[feature];
    rows.iter().partition(|&&row| column[row as usize] <= at_most)
}

/// A candidate question with its gain.
#[derive(Copy, Clone, Debug, PartialEq)]
struct Candidate {
    feature: usize,
    at_most: i8,
    /// Information gain, in bits, summed over the positions.
    gain: f64,
    /// The gain divided by the information of the question itself (C4.5's gain ratio).
    ratio: f64,
}

/// Learns trees from a training set.
pub struct Learner<'a> {
    sample: &'a TrainingSet,
    ranges: Vec<(i8, i8)>,
}

/// A tree with its errors at every size while it grew.
pub struct Growth {
    /// The tree.
    pub tree: Tree,
    /// The numbers of misclassified positions with 1, 2, 3 ... leaves.
    pub errors: Vec<u64>,
}

/// A leaf that can be split, ordered by gain.
struct Open {
    gain: f64,
    node: usize,
    best: Candidate,
    rows: Vec<u32>,
}

impl PartialEq for Open {
    fn eq(&self, other: &Open) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Open {}
impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Open) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Open {
    fn cmp(&self, other: &Open) -> std::cmp::Ordering {
        self.gain.total_cmp(&other.gain).then(other.node.cmp(&self.node))
    }
}

impl<'a> Learner<'a> {
    /// A learner for a training set.
    #[must_use]
    pub fn new(sample: &'a TrainingSet) -> Learner<'a> {
        Learner { sample, ranges: sample.ranges() }
    }

    fn all_rows(&self) -> Vec<u32> {
        (0..self.sample.rows() as u32).collect()
    }

    /// Grows a greedy tree: repeatedly splits the leaf with the most information gain, until no split helps or the tree
    /// has `max_leaves` leaves.
    #[must_use]
    pub fn grow(&self, max_leaves: usize) -> Growth {
        let mut heap = BinaryHeap::new();
        let rows = self.all_rows();
        let mut tree = Tree { nodes: vec![Node::leaf(counts(self.sample, &rows))] };
        let mut wrong = tree.root().errors();
        let mut errors = vec![wrong];
        let open = |node, rows: Vec<u32>| {
            let best = self.candidates(&rows).into_iter().reduce(|a, b| if b.gain > a.gain { b } else { a })?;
            Some(Open { gain: best.gain, node, best, rows })
        };
        heap.extend(open(0, rows));
        while let Some(Open { node, best, rows, .. }) = heap.pop().filter(|_| errors.len() < max_leaves) {
            let (yes_rows, no_rows) = partition(self.sample, &rows, best.feature, best.at_most);
            let yes = tree.nodes.len();
            wrong -= tree.nodes[node].errors();
            tree.nodes[node].split = Some(Split { feature: best.feature, at_most: best.at_most, yes, no: yes + 1 });
            for rows in [yes_rows, no_rows] {
                let leaf = Node::leaf(counts(self.sample, &rows));
                wrong += leaf.errors();
                let node = tree.nodes.len();
                if leaf.errors() > 0 {
                    heap.extend(open(node, rows));
                }
                tree.nodes.push(leaf);
            }
            errors.push(wrong);
        }
        Growth { tree, errors }
    }

    /// A small tree that misclassifies only positions that the features cannot distinguish. At every node it completes
    /// a greedy tree for each of the `width` most promising questions (by gain and by gain ratio), and chooses the
    /// question with the fewest leaves. A width of 1 is plain C4.5 without its pruning. At the end the tree is
    /// [pruned](Tree::prune).
    #[must_use]
    pub fn smallest(&self, width: usize) -> Tree {
        self.build(&self.all_rows(), width).prune(self.sample)
    }

    /// The smallest tree of several widths: the one with the fewest errors, then the fewest leaves, then the least depth.
    ///
    /// # Panics
    /// If there is no width.
    #[must_use]
    pub fn smallest_of(&self, widths: &[usize]) -> Tree {
        let trees = widths.iter().map(|&width| self.smallest(width));
        trees.min_by_key(|tree| (tree.misclassified(), tree.leaves(), tree.depth())).expect("there is a width")
    }

    fn build(&self, rows: &[u32], width: usize) -> Tree {
        let leaf = Node::leaf(counts(self.sample, rows));
        if leaf.errors() == 0 {
            return Tree { nodes: vec![leaf] };
        }
        let mut best: Option<(usize, Candidate)> = None;
        let promising = self.promising(rows, width);
        for &candidate in &promising {
            if promising.len() == 1 {
                best = Some((0, candidate));
                break;
            }
            let (yes, no) = partition(self.sample, rows, candidate.feature, candidate.at_most);
            let limit = best.map_or(usize::MAX, |(leaves, _)| leaves);
            let mut leaves = self.greedy_leaves(&yes, limit);
            if leaves < limit {
                leaves += self.greedy_leaves(&no, limit - leaves);
            }
            if leaves < limit {
                best = Some((leaves, candidate));
            }
        }
        let Some((_, candidate)) = best else { return Tree { nodes: vec![leaf] } };
        let (yes, no) = partition(self.sample, rows, candidate.feature, candidate.at_most);
        join(leaf.counts, candidate.feature, candidate.at_most, self.build(&yes, width), self.build(&no, width))
    }

    /// The number of leaves of the greedy tree, or some number of at least `limit` if it has that many.
    fn greedy_leaves(&self, rows: &[u32], limit: usize) -> usize {
        if limit <= 1 || Node::leaf(counts(self.sample, rows)).errors() == 0 {
            return 1;
        }
        let Some(&best) = self.promising(rows, 1).first() else { return 1 };
        let (yes, no) = partition(self.sample, rows, best.feature, best.at_most);
        let leaves = self.greedy_leaves(&yes, limit);
        if leaves >= limit { leaves } else { leaves + self.greedy_leaves(&no, limit - leaves) }
    }

    /// The `width` questions with the most gain; with a width above 1 also those with the best gain ratio.
    fn promising(&self, rows: &[u32], width: usize) -> Vec<Candidate> {
        let mut all = self.candidates(rows);
        if width == 1 {
            return all.into_iter().reduce(|a, b| if b.gain > a.gain { b } else { a }).into_iter().collect();
        }
        all.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        let mut chosen = all[..width.min(all.len())].to_vec();
        all.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
        for candidate in all.into_iter().take(width) {
            if !chosen.contains(&candidate) {
                chosen.push(candidate);
            }
        }
        chosen
    }

    /// All questions that separate these rows.
    fn candidates(&self, rows: &[u32]) -> Vec<Candidate> {
        let sample = self.sample;
        let total = counts(sample, rows);
        let all = information(total);
        let positions: u64 = total.iter().sum();
        let mut candidates = Vec::new();
        let mut histogram: Vec<[u64; 3]> = Vec::new();
        for (feature, (column, &(low, high))) in sample.columns.iter().zip(&self.ranges).enumerate() {
            histogram.clear();
            histogram.resize(usize::from(high.abs_diff(low)) + 1, [0; 3]);
            for &row in rows {
                let row = row as usize;
                let bin = (i16::from(column[row]) - i16::from(low)) as usize;
                histogram[bin][sample.winners[row] as usize] += sample.weights[row];
            }
            let mut below = [0; 3];
            for (bin, counts) in histogram.iter().enumerate() {
                if counts.iter().all(|&n| n == 0) {
                    continue;
                }
                for (below, n) in below.iter_mut().zip(counts) {
                    *below += n;
                }
                let here: u64 = below.iter().sum();
                if here == positions {
                    break;
                }
                let above = std::array::from_fn(|i| total[i] - below[i]);
                let gain = all - information(below) - information(above);
                let question = information([here, positions - here, 0]);
                let at_most = (i16::from(low) + bin as i16) as i8;
                candidates.push(Candidate { feature, at_most, gain, ratio: gain / question });
            }
        }
        candidates
    }
}

/// The information of the winners of a set of positions, in bits: the entropy of the counts times the number of
/// positions.
#[must_use]
pub fn information(counts: [u64; 3]) -> f64 {
    let part = |n: u64| if n == 0 { 0.0 } else { n as f64 * (n as f64).log2() };
    part(counts.iter().sum()) - counts.into_iter().map(part).sum::<f64>()
}
