//! The network that the engine uses by default.

use super::network::Network;
use std::sync::{Arc, LazyLock};

/// Trained by the recipe crates/train/networks/generation-3.toml. The name of the file is the hash of the network.
static BYTES: &[u8] = include_bytes!("e1c528801c9e83b0.nnue");

static NETWORK: LazyLock<Option<Arc<Network>>> = LazyLock::new(|| Network::from_bytes(BYTES).ok().map(Arc::new));

/// The network; `None` if its bytes are damaged, which a test rules out.
pub(super) fn network() -> Option<&'static Arc<Network>> {
    NETWORK.as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::RuleOptions;

    #[test]
    fn the_network_is_whole_and_has_the_name_of_its_hash() {
        let network = network().unwrap();
        assert!(network.fits(&RuleOptions::default()));
        let file = format!("src/search/eval/{network}.nnue");
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        assert!(std::fs::read(&path).is_ok_and(|bytes| bytes == BYTES), "{}", path.display());
    }
}
