//! A checkpoint: the parameters of a model in a file, from which another run continues.
//!
//! `DSQCKPT` and the version, 1 without inputs for pairs or 2 with them; the units of an accumulator in 4 bytes; the parameters, 32-bit floating point; XXH3
//! (64 bits) of all bytes before. Little-endian.

use super::model::{Model, Shape};
use std::io;
use std::path::Path;
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8; 7] = b"DSQCKPT";
/// The versions without and with inputs for pairs.
const VERSIONS: [u8; 2] = [1, 2];
const HEADER: usize = 12;
const HIDDEN: std::ops::RangeInclusive<usize> = 32..=256;

/// Why a checkpoint cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file is not a complete checkpoint.
    #[error("it is not a checkpoint: {0}")]
    Content(&'static str),
}

impl Model {
    /// Writes a checkpoint. The file appears when it is complete.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(HEADER + 4 * self.values.len() + 8);
        bytes.extend(MAGIC);
        bytes.push(VERSIONS[usize::from(self.shape().pairs)]);
        bytes.extend((self.shape().hidden as u32).to_le_bytes());
        bytes.extend(self.values.iter().flat_map(|value| value.to_le_bytes()));
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        super::file::replace(path, &bytes)
    }

    /// Reads a checkpoint.
    ///
    /// # Errors
    /// If the file cannot be read or is not a complete checkpoint.
    pub fn load(path: &Path) -> Result<Model, CheckpointError> {
        let bytes = std::fs::read(path)?;
        if !bytes.starts_with(MAGIC) || bytes.len() < HEADER + 8 {
            return Err(CheckpointError::Content("the header is wrong"));
        }
        let Some(version) = VERSIONS.iter().position(|&version| version == bytes[7]) else {
            return Err(CheckpointError::Content("its version is not supported"));
        };
        let (content, checksum) = bytes.split_at(bytes.len() - 8);
        if xxh3_64(content).to_le_bytes() != *checksum {
            return Err(CheckpointError::Content("its checksum does not match"));
        }
        let hidden = u32::from_le_bytes([content[8], content[9], content[10], content[11]]) as usize;
        if !HIDDEN.contains(&hidden) || !hidden.is_multiple_of(32) {
            return Err(CheckpointError::Content("the number of units is not supported"));
        }
        let mut model = Model::zero(Shape { hidden, pairs: version == 1 });
        let values = content[HEADER..].as_chunks().0;
        if values.len() != model.values.len() || values.len() * 4 != content.len() - HEADER {
            return Err(CheckpointError::Content("its length does not fit the number of units"));
        }
        for (value, bytes) in model.values.iter_mut().zip(values) {
            *value = f32::from_le_bytes(*bytes);
        }
        if model.values.iter().any(|value| !value.is_finite()) {
            return Err(CheckpointError::Content("a parameter is not a number"));
        }
        Ok(model)
    }
}
