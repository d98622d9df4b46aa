//! Evaluations by name, for the commands.

use crate::failure::Failure;
use crate::input::read_text;
use doushouqi::search::Evaluation;
use doushouqi::search::eval::Weights;
use doushouqi::search::network::Network;
use std::path::Path;
use std::sync::Arc;

/// The evaluation with this name, `default` or `hand-crafted`, or the network in a file.
pub fn named_evaluation(name: &str) -> Result<Evaluation, Failure> {
    match name {
        "default" => return Ok(Evaluation::Default),
        "hand-crafted" => return Ok(Evaluation::HandCrafted),
        _ => {}
    }
    let bytes = std::fs::read(name).map_err(|error| Failure::reading(name, &error))?;
    let network = Network::from_bytes(&bytes).map_err(|error| Failure::Input(format!("{name}: {error}")))?;
    Ok(Evaluation::Network(Arc::new(network)))
}

/// The weights of the hand-crafted evaluation in a file.
pub fn read_weights(path: &Path) -> Result<Weights, Failure> {
    let text = read_text(path)?;
    text.parse().map_err(|error| Failure::Input(format!("{}: {error}", path.display())))
}
