//! A tree as indented text, as a Graphviz graph and as JSON.

use super::features::{Feature, FeatureKind};
use super::tree::Tree;
use report::text::grouped;
use serde_json::{Value, json};
use std::fmt::Write;

/// The two answers to a question: for values up to `at_most`, and for greater ones.
fn answers(feature: &Feature, at_most: i8) -> [String; 2] {
    let name = &feature.name;
    match feature.kind {
        FeatureKind::Bool => [format!("{name} = no"), format!("{name} = yes")],
        FeatureKind::Number => [format!("{name} <= {at_most}"), format!("{name} > {at_most}")],
        FeatureKind::Named(names) => {
            let (low, high) = names.split_at((at_most + 1).max(0) as usize);
            [low, high].map(|names| format!("{name} = {}", names.join(" or ")))
        }
    }
}

impl Tree {
    /// Indented text with one answer on each line; a leaf adds the winner and the number of positions.
    #[must_use]
    pub fn to_text(&self, features: &[Feature]) -> String {
        let mut text = String::new();
        if self.root().split.is_none() {
            let _ = writeln!(text, "{}", self.leaf_text(0));
        }
        self.text_below(0, 0, features, &mut text);
        text
    }

    fn text_below(&self, i: usize, depth: usize, features: &[Feature], text: &mut String) {
        let Some(split) = self.node(i).split else { return };
        // The smaller branch first: exceptions before the rule.
        let mut branches: Vec<_> =
            answers(&features[split.feature], split.at_most).into_iter().zip([split.yes, split.no]).collect();
        branches.sort_by_key(|&(_, node)| self.size(node));
        for (answer, node) in branches {
            let _ = write!(text, "{}{answer}", "|   ".repeat(depth));
            if self.node(node).split.is_none() {
                let _ = writeln!(text, ": {}", self.leaf_text(node));
            } else {
                text.push('\n');
                self.text_below(node, depth + 1, features, text);
            }
        }
    }

    fn size(&self, i: usize) -> usize {
        self.node(i).split.map_or(1, |split| self.size(split.yes) + self.size(split.no))
    }

    /// The winner and the number of positions, and the number of misclassified ones if there are any.
    fn leaf_text(&self, i: usize) -> String {
        let node = self.node(i);
        let total: u64 = node.counts.iter().sum();
        let wrong = total - node.counts[node.winner() as usize];
        let wrong = if wrong > 0 { format!(", {} wrong", grouped(wrong)) } else { String::new() };
        format!("{} ({}{wrong})", node.winner(), grouped(total))
    }

    /// A graph for Graphviz's `dot`.
    #[must_use]
    pub fn to_graphviz(&self, features: &[Feature], name: &str) -> String {
        let mut text = format!("digraph {name:?} {{\n    node [shape=box, fontname=\"sans-serif\"];\n");
        self.graphviz_below(0, features, &mut text);
        text.push_str("}\n");
        text
    }

    fn graphviz_below(&self, i: usize, features: &[Feature], text: &mut String) {
        let Some(split) = self.node(i).split else {
            let _ = writeln!(text, "    n{i} [label={:?}, shape=ellipse];", self.leaf_text(i));
            return;
        };
        let feature = &features[split.feature];
        let _ = writeln!(text, "    n{i} [label={:?}];", feature.name);
        for (answer, node) in answers(feature, split.at_most).iter().zip([split.yes, split.no]) {
            let answer = answer.strip_prefix(&feature.name).unwrap_or(answer).trim_start();
            let _ = writeln!(text, "    n{i} -> n{node} [label={:?}];", answer.strip_prefix("= ").unwrap_or(answer));
            self.graphviz_below(node, features, text);
        }
    }

    /// One object for each node: `feature`, `at_most`, `yes` and `no`, or `winner` and `positions`.
    #[must_use]
    pub fn to_json(&self, features: &[Feature]) -> Value {
        self.json_below(0, features)
    }

    fn json_below(&self, i: usize, features: &[Feature]) -> Value {
        let node = self.node(i);
        match node.split {
            None => json!({"winner": node.winner(), "positions": node.counts.iter().sum::<u64>()}),
            Some(split) => json!({
                "feature": features[split.feature].name,
                "at_most": split.at_most,
                "yes": self.json_below(split.yes, features),
                "no": self.json_below(split.no, features),
            }),
        }
    }
}
