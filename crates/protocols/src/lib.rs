//! Front ends through which other programs drive the engine: [`uci`] (the Universal Chess Interface) and [`gtp`] (the
//! Go Text Protocol, as KataGomo speaks it).

#![warn(missing_docs, unreachable_pub)]

pub mod gtp;
pub mod uci;

use std::io;

/// Why a session ended before `quit` or the end of the input.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The input cannot be read.
    #[error("cannot read a command: {0}")]
    Input(#[source] io::Error),
    /// The output cannot be written.
    #[error("cannot write an answer: {0}")]
    Output(#[source] io::Error),
}

/// The example of the README is compiled with the tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
