//! The description in the header of a table file.

use crate::board::{ByColor, Color};
use crate::tablebase::Stats;
use serde::{Deserialize, Serialize};

/// The sides to move that a file stores.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sides {
    /// White to move and Black to move.
    Both,
    /// White to move.
    White,
    /// Black to move.
    Black,
}

impl Sides {
    /// The stored sides, in the order of the file.
    #[must_use]
    pub fn colors(self) -> &'static [Color] {
        match self {
            Sides::Both => &Color::ALL,
            Sides::White => &[Color::White],
            Sides::Black => &[Color::Black],
        }
    }
}

/// The kind of the values of a file.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// Win, draw or loss, and the distance to the end.
    #[default]
    Dtw,
    /// Win, draw or loss: a win is stored as a win in 1 ply, a loss as a loss in 2.
    Wdl,
}

/// The description in the header of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// All rule options except repetition, as text.
    pub rules: String,
    /// [`table_hash`](crate::board::RuleOptions::table_hash) as 16 hexadecimal digits.
    pub rules_hash: String,
    /// The representative of the class.
    pub material: String,
    /// The pieces in the order of the index, capitals for White: row pieces, word piece, lane piece.
    pub pieces: String,
    /// Number of rows of the index.
    pub rows: usize,
    /// The number of rows with canonical positions, which are stored.
    pub canonical_rows: usize,
    /// The sets of two or more interchangeable pieces, in the order of the index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interchangeable: Vec<String>,
    /// The sides to move that are stored.
    pub sides: Sides,
    /// Rows of a block; the last block has the remaining rows.
    pub block_rows: usize,
    /// Bytes of a cell: 1 or 2.
    pub cell_bytes: usize,
    /// Bytes of the decoded dictionary; 0 without a dictionary.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dictionary: usize,
    /// Whether a value that follows from a capture or den entry may be replaced by a worse one. A probe then takes the
    /// best of the stored value and the values of the captures and den entries.
    #[serde(default, skip_serializing_if = "is_false")]
    pub dont_cares: bool,
    /// The kind of the values.
    #[serde(default, skip_serializing_if = "is_default")]
    pub content: Content,
    /// The codec with its version and level.
    pub codec: String,
    /// Checksum of the values of each side to move, stored or not, as 16 hexadecimal digits; independent of the codec.
    pub values: ByColor<String>,
    /// For each side to move the first cell with the longest distance; `None` if no position is decided.
    pub deepest: ByColor<Option<usize>>,
    /// The counts, with White and Black to move.
    pub stats: ByColor<Stats>,
}

impl Description {
    /// The number of blocks of a side to move.
    pub(super) fn side_blocks(&self) -> usize {
        self.canonical_rows.div_ceil(self.block_rows)
    }

    /// The number of all blocks, with the dictionary.
    pub(super) fn blocks(&self) -> usize {
        self.side_blocks() * self.sides.colors().len() + usize::from(self.dictionary > 0)
    }

    /// Whether the file stores distances without a dictionary and don't-cares, as in version 6.
    pub(super) fn is_plain(&self) -> bool {
        self.dictionary == 0 && !self.dont_cares && self.content == Content::Dtw
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_default(content: &Content) -> bool {
    *content == Content::default()
}

pub(super) fn hex(number: u64) -> String {
    format!("{number:016x}")
}

/// The name of the codec in descriptions.
pub(super) fn codec_name(level: i32) -> String {
    format!("zstd {} level {level}", super::zstd::zstd_safe::version_string())
}
