//! Training the neural network evaluation: data by self-play, and the fit of the parameters.
//!
//! The files, the lowest first: `error`, `record` (a position with its labels in 24 bytes, and files of records), `datagen`
//! (self-play), `endgames` (positions of endgame tables), `model` (the network in floating point, its gradient,
//! quantisation), `checkpoint` (its file), `adamw` (the optimiser), `recipe` (the description of a training run),
//! `training` (the run). `wdl` fits the curve from scores to results.
//!
//! ```
//! use train::{Model, Recipe, Shape};
//!
//! let recipe = Recipe::parse("data = ['games.data']\nnetwork = 'x.nnue'\ncheckpoint = 'x.ckpt'", ".".as_ref())?;
//! let model = Model::random(Shape { hidden: recipe.hidden, pairs: recipe.pairs }, recipe.seed);
//! let network = model.quantise(0, 400.0).unwrap();
//! assert_eq!(network.parameters().scale, 400);
//! # Ok::<(), train::TrainingError>(())
//! ```

#![warn(missing_docs)]

mod adamw;
mod checkpoint;
mod datagen;
mod endgames;
mod error;
mod file;
mod model;
mod recipe;
mod record;
mod training;
mod wdl;

pub use datagen::Datagen;
pub use endgames::Endgames;
pub use error::TrainingError;
pub use model::{Model, Shape};
pub use recipe::Recipe;
pub use record::{DataFile, Header, PIECES, Record, read_records};
pub use training::{Epoch, Trained, train};
pub use wdl::Scored;
