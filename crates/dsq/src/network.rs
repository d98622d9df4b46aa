//! Files of networks that commands are given.

use crate::failure::Failure;
use doushouqi::board::Rules;
use doushouqi::search::network::Network;
use std::path::Path;
use std::sync::Arc;

/// A network for these rules.
pub fn read_network(path: &Path, rules: &Rules) -> Result<Arc<Network>, Failure> {
    let wrong = |problem: String| Failure::Input(format!("{}: {problem}", path.display()));
    let network = Network::open(path).map_err(|error| wrong(error.to_string()))?;
    if !network.fits(rules.options()) {
        return Err(wrong("the network is for other rules".to_owned()));
    }
    Ok(Arc::new(network))
}
