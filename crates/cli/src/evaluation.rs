//! Evaluations by name, for the commands.

use crate::failure::Failure;
use doushouqi::search::Evaluation;
use doushouqi::search::network::Network;
use std::sync::Arc;

/// The evaluation with this name, `default` or `burnett`, or the network in a file.
pub fn named_evaluation(name: &str) -> Result<Evaluation, Failure> {
    match name {
        "default" => return Ok(Evaluation::Default),
        "burnett" => return Ok(Evaluation::Burnett),
        _ => {}
    }
    let bytes = std::fs::read(name).map_err(|error| Failure::reading(name, &error))?;
    let network = Network::from_bytes(&bytes).map_err(|error| Failure::Input(format!("{name}: {error}")))?;
    Ok(Evaluation::Network(Arc::new(network)))
}
