//! The networks that the engine uses by default.

use super::network::Network;
use crate::board::RuleOptions;
use std::sync::{Arc, LazyLock};

/// The presets whose games networks learned from, and the networks. The name of a file is the hash of the network.
static FILES: &[(&str, &[u8])] = &[
    // research/train/networks/chinese-2.toml. It would add 0.43 MB to the download of a page without a server.
    #[cfg(not(target_family = "wasm"))]
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

/// The network for games under these rules: the one that learned from games under the most similar rules, and the last
/// of these. `None` if the bytes of all are damaged, which a test rules out.
pub(super) fn network(rules: &RuleOptions) -> Option<&'static Arc<Network>> {
    let nearest = NETWORKS.iter().max_by_key(|(preset, _)| equal_options(preset, rules));
    nearest.map(|(_, network)| network)
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
            let network = network(&rules).unwrap();
            assert!(network.trained_under(&rules), "{preset}");
            let file = format!("src/search/eval/{network}.nnue");
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
            assert!(std::fs::read(&path).is_ok_and(|read| read == bytes), "{}", path.display());
        }
    }

    #[test]
    fn other_rules_use_the_network_of_the_most_similar_rules() {
        let chosen = |rules: &str| network(&rules.parse().unwrap()).unwrap().to_string();
        for rules in ["cazaux", "bodlaender", "quadibloc", "bell", "paper,tiger-leap=files", "paper,dog-over-wolf=no"] {
            assert_eq!(chosen(rules), chosen("paper"), "{rules}");
        }
        for rules in ["chinese,tiger-leap=files", "chinese,shore=elephant-safe,own-rat-blocks=no"] {
            assert_eq!(chosen(rules), chosen("chinese"), "{rules}");
        }
        assert_ne!(chosen("paper"), chosen("chinese"));
    }
}
