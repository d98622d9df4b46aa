//! Front ends through which other programs drive the engine: [`uci`] (the Universal Chess Interface) and [`gtp`] (the
//! Go Text Protocol, as KataGomo speaks it).
//!
//! ```
//! let mut answers = Vec::new();
//! protocols::uci::serve(&b"uci\nquit\n"[..], std::io::sink())?;
//! let options = protocols::gtp::GtpOptions {
//!     engine: Default::default(),
//!     rules: Default::default(),
//!     no_capture_limit: None,
//!     limits: Default::default(),
//!     two_stage: false,
//! };
//! protocols::gtp::run(&b"protocol_version\nquit\n"[..], &mut answers, options)?;
//! assert!(answers.starts_with(b"= 2"));
//! # Ok::<(), protocols::SessionError>(())
//! ```

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
    /// A thread for an analysis cannot be started.
    #[error("cannot start a thread: {0}")]
    Thread(#[source] io::Error),
}
