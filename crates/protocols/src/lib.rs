//! Front ends through which other programs drive the engine: [`uci`] (the Universal Chess Interface) and [`gtp`] (the
//! Go Text Protocol, as KataGomo speaks it).

#![warn(missing_docs, unreachable_pub)]

pub mod gtp;
pub mod uci;
