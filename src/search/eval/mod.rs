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
use std::sync::{Arc, OnceLock};

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

/// The presets whose games networks learned from.
const PRESETS: [&str; 2] = ["chinese", "paper"];

/// The files of the networks, whose names are the hashes of the networks.
///
/// A WebAssembly module has none: each would add 0.43 MB to its download. Its host provides one when a search needs it.
#[cfg(not(target_family = "wasm"))]
static FILES: [&[u8]; PRESETS.len()] = [
    // research/train/networks/chinese-2.toml
    include_bytes!("9a41b25436aa8ee1.nnue"),
    // research/train/networks/generation-8.toml
    include_bytes!("5e9402003a175cc8.nnue"),
];

static NETWORKS: [OnceLock<Arc<Network>>; PRESETS.len()] = [const { OnceLock::new() }; PRESETS.len()];

impl Network {
    /// The embedded files, with the presets whose games the networks learned from. A WebAssembly module embeds none.
    pub fn embedded_files() -> impl Iterator<Item = (&'static str, &'static [u8])> {
        #[cfg(target_family = "wasm")]
        const FILES: [&[u8]; 0] = [];
        PRESETS.into_iter().zip(FILES)
    }

    /// The preset whose network evaluates games under these rules by default, if it must be provided first. Until then a
    /// search uses Burnett's tables.
    #[must_use]
    pub fn missing(rules: &RuleOptions) -> Option<&'static str> {
        embedded(rules).is_none().then(|| PRESETS[nearest(rules)])
    }

    /// Makes this the default network of a WebAssembly module for the preset whose games it learned from. Only the first
    /// call for a preset counts; other builds keep their networks. Returns whether there is such a preset.
    pub fn provide(self) -> bool {
        let learned_from = |preset| RuleOptions::preset(preset).is_some_and(|rules| self.trained_under(&rules));
        let Some(number) = PRESETS.into_iter().position(learned_from) else { return false };
        let _ = NETWORKS[number].set(Arc::new(self));
        true
    }
}

/// The network for games under these rules. The bytes of none are damaged, which a test rules out.
fn embedded(rules: &RuleOptions) -> Option<&'static Arc<Network>> {
    let number = nearest(rules);
    let network = &NETWORKS[number];
    #[cfg(not(target_family = "wasm"))]
    if network.get().is_none()
        && let Ok(read) = Network::from_bytes(FILES[number])
    {
        return Some(network.get_or_init(|| Arc::new(read)));
    }
    network.get()
}

/// The number of the preset that is most similar to these rules, and the last of these.
fn nearest(rules: &RuleOptions) -> usize {
    let equal = |number: &usize| RuleOptions::preset(PRESETS[*number]).map(|preset| equal_options(&preset, rules));
    (0..PRESETS.len()).max_by_key(equal).unwrap_or_default()
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
        for (preset, bytes) in Network::embedded_files() {
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
