//! Static evaluation by a neural network, and the position as the search stores it.
//!
//! The files, the lowest first: `state` (the position in a search), `attacks` (its attacks), `inputs` (of the neural
//! network), `network` (the neural network), `accumulators` (the network in a search). This file contains the
//! evaluations that an engine can use, and the networks that it uses by default.

mod accumulators;
mod attacks;
mod inputs;
pub mod network;
mod state;

pub(super) use accumulators::NetworkEvaluator;
pub(super) use attacks::{Attacks, CaptureMasks};
pub(super) use state::{NO_MOVE, Packed, State, TRAP_BITS, animal_of, pack, pack_move, to_of, unpack_move};

use crate::board::{RuleOptions, Rules};
use network::Network;
use std::sync::{Arc, LazyLock, OnceLock};

/// The static evaluation of an engine.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Evaluation {
    /// Burnett's tables (2010): material and squares.
    Burnett,
    /// The engine's own: an embedded neural network.
    #[default]
    Default,
    /// A neural network. It is used under all rules, also those that it did not learn from.
    Network(Arc<Network>),
}

/// The evaluation of a search thread.
pub(super) enum Evaluator {
    Burnett,
    Network(NetworkEvaluator),
}

impl Evaluation {
    /// The network that evaluates games under these rules; `None` if another evaluation is used.
    #[must_use]
    pub fn network(&self, rules: &RuleOptions) -> Option<&Arc<Network>> {
        match self {
            Evaluation::Default => embedded(rules),
            Evaluation::Network(network) => Some(network),
            Evaluation::Burnett => None,
        }
    }

    /// The evaluation for a search thread.
    pub(super) fn make(&self, rules: &Rules) -> Evaluator {
        match self.network(rules.options()) {
            Some(network) => Evaluator::Network(NetworkEvaluator::new(Arc::clone(network))),
            None => Evaluator::Burnett,
        }
    }
}

/// The presets whose games networks learned from, and the networks. The name of a file is the hash of the network.
///
/// A WebAssembly module has none: each would add 0.43 MB to its download. Its host loads one when the engine is needed.
#[cfg(target_family = "wasm")]
static FILES: &[(&str, &[u8])] = &[];
#[cfg(not(target_family = "wasm"))]
static FILES: &[(&str, &[u8])] = &[
    // research/train/networks/chinese-2.toml
    ("chinese", include_bytes!("9a41b25436aa8ee1.nnue")),
    // research/train/networks/generation-8.toml
    ("paper", include_bytes!("5e9402003a175cc8.nnue")),
];

static NETWORKS: LazyLock<Vec<(RuleOptions, Arc<Network>)>> = LazyLock::new(|| {
    let read = |&(preset, bytes): &(&str, &[u8])| {
        Some((RuleOptions::preset(preset)?, Arc::new(Network::from_bytes(bytes).ok()?)))
    };
    FILES.iter().filter_map(read).collect()
});

/// The network of a build that embeds none.
static PROVIDED: OnceLock<Arc<Network>> = OnceLock::new();

impl Network {
    /// The file of the embedded network that learned from games under a preset.
    #[must_use]
    pub fn embedded_file(preset: &str) -> Option<&'static [u8]> {
        FILES.iter().find(|(name, _)| *name == preset).map(|(_, file)| *file)
    }

    /// Makes this the default network of a WebAssembly module, which embeds none, and evaluates by Burnett's tables before.
    /// Only the first call counts; other builds keep their networks.
    pub fn provide(self) {
        let _ = PROVIDED.set(Arc::new(self));
    }
}

/// The network for games under these rules: the one that learned from games under the most similar rules, and the last
/// of these; without any, the one that was provided. The bytes of none are damaged, which a test rules out.
fn embedded(rules: &RuleOptions) -> Option<&'static Arc<Network>> {
    let nearest = NETWORKS.iter().max_by_key(|(preset, _)| equal_options(preset, rules));
    nearest.map(|(_, network)| network).or_else(|| PROVIDED.get())
}

/// The number of options, except `repetition`, with the same value in both rule sets.
fn equal_options(a: &RuleOptions, b: &RuleOptions) -> usize {
    a.values().zip(b.values()).filter(|((option, a), (_, b))| option.in_tables && a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_whole_and_have_the_names_of_their_hashes() {
        for &(preset, bytes) in FILES {
            let rules = RuleOptions::preset(preset).unwrap();
            let network = embedded(&rules).unwrap();
            assert!(network.trained_under(&rules), "{preset}");
            let file = format!("src/search/eval/{network}.nnue");
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
            assert!(std::fs::read(&path).is_ok_and(|read| read == bytes), "{}", path.display());
        }
    }

    #[test]
    fn other_rules_use_the_network_of_the_most_similar_rules() {
        let chosen = |rules: &str| embedded(&rules.parse().unwrap()).unwrap().to_string();
        for rules in ["cazaux", "bodlaender", "quadibloc", "bell", "paper,tiger-leap=files", "paper,dog-over-wolf=no"] {
            assert_eq!(chosen(rules), chosen("paper"), "{rules}");
        }
        for rules in ["chinese,tiger-leap=files", "chinese,shore=elephant-safe,own-rat-blocks=no"] {
            assert_eq!(chosen(rules), chosen("chinese"), "{rules}");
        }
        assert_ne!(chosen("paper"), chosen("chinese"));
    }
}
