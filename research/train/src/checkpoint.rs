//! A checkpoint: the parameters of a model in a file, from which another run continues.
//!
//! `DSQCKPT` and the version, 2; the units of an accumulator and the inputs of a perspective, 4 bytes each; the
//! parameters in units of 1/16384, 2 bytes each; XXH3 (64 bits) of all bytes before. Little-endian.

use super::error::TrainingError;
use super::model::{Model, Shape};
use std::io;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8; 7] = b"DSQCKPT";
const VERSION: u8 = 2;
/// The parameters are less than 2 ([`super::model::LIMIT`]).
const ONE: f32 = 16_384.0;
const HIDDEN: std::ops::RangeInclusive<usize> = 32..=256;

impl Model {
    /// Writes a checkpoint. The file appears when it is complete.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let Shape { hidden, .. } = self.shape();
        let mut bytes = MAGIC.to_vec();
        bytes.push(VERSION);
        bytes.extend([hidden, self.shape().inputs()].into_iter().flat_map(|count| (count as u32).to_le_bytes()));
        bytes.extend(self.values.iter().flat_map(|value| ((value * ONE).round() as i16).to_le_bytes()));
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        super::file::replace(path, &bytes)
    }

    /// Reads a checkpoint.
    ///
    /// # Errors
    /// If the file cannot be read or is not a complete checkpoint.
    pub fn load(path: &Path) -> Result<Model, TrainingError> {
        let bytes = std::fs::read(path).map_err(|error| TrainingError::Io { path: path.to_owned(), error })?;
        let refused = |problem: &str| {
            let reason = format!("it is not a checkpoint: {problem}");
            Err(TrainingError::Content { path: path.to_owned(), reason })
        };
        if !bytes.starts_with(MAGIC) || bytes.len() < 24 {
            return refused("the header is wrong");
        }
        let (content, checksum) = bytes.split_at(bytes.len() - 8);
        if xxh3_64(content).to_le_bytes() != *checksum {
            return refused("its checksum does not match");
        }
        if content[7] != VERSION {
            return refused("its version is not supported");
        }
        let number = |at: usize| u32::from_le_bytes([content[at], content[at + 1], content[at + 2], content[at + 3]]);
        let (hidden, inputs) = (number(8) as usize, number(12) as usize);
        if !HIDDEN.contains(&hidden) || !hidden.is_multiple_of(32) {
            return refused("the number of units is not supported");
        }
        let Some(shape) = Shape::all(hidden).find(|shape| shape.inputs() == inputs) else {
            return refused("the number of inputs is not supported");
        };
        let mut model = Model::zero(shape);
        let (values, rest) = content[16..].as_chunks();
        if !rest.is_empty() || values.len() != model.values.len() {
            return refused("its length does not fit the number of units");
        }
        for (value, &bytes) in model.values.iter_mut().zip(values) {
            *value = f32::from(i16::from_le_bytes(bytes)) / ONE;
        }
        Ok(model)
    }
}
