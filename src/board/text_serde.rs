//! With the feature `serde`, types with a text form are serialised as that text.

/// Serialises types with `Display` and reads them with `FromStr`.
macro_rules! serialize_as_text {
    ($($type:ty),+ $(,)?) => {$(
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                <String as serde::Deserialize>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}
#[cfg(feature = "tablebase")]
pub(crate) use serialize_as_text;

use super::{Animal, Color, Fen, File, Piece, Position, Rank, RuleOptions, Square, UciMove};

serialize_as_text!(Animal, Color, Fen, File, Piece, Position, Rank, RuleOptions, Square, UciMove);
