//! What the programs `dsq` and `dsq-lab` share. Data goes to stdout, everything else to stderr.
//!
//! ```no_run
//! use cli::failure::Outcome;
//! use cli::output::print;
//! use cli::{Program, command};
//!
//! /// Greet somebody
//! #[derive(clap::Args)]
//! struct Greet {
//!     /// The name
//!     name: String,
//! }
//!
//! impl Greet {
//!     fn run(self) -> Outcome {
//!         print(format!("Hello {}", self.name))
//!     }
//! }
//!
//! const PROGRAM: Program = Program {
//!     name: "greeter",
//!     version: "1.0.0",
//!     about: "Greetings",
//!     after_help: "",
//!     groups: &[("Greetings", &[command!("greet", Greet, "Nothing is kept")])],
//! };
//!
//! fn main() -> std::process::ExitCode {
//!     cli::main(&PROGRAM)
//! }
//! ```

#![warn(missing_docs, unreachable_pub)]

/// Prints to stderr. Unlike the macro of the standard library, it ignores errors: a closed stderr must not end the program.
#[macro_export]
macro_rules! eprint {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = write!(std::io::stderr(), $($text)*);
    }};
}

/// As [`eprint!`], with the end of the line.
#[macro_export]
macro_rules! eprintln {
    ($($text:tt)*) => { $crate::eprint!("{}\n", format_args!($($text)*)) };
}

pub mod arguments;
pub mod continued;
pub mod evaluation;
pub mod failure;
mod help;
pub mod input;
mod name;
#[cfg(unix)]
mod open_files;
pub mod output;
mod panic;
mod program;
pub mod progress;
mod reference;
mod run;
#[cfg(unix)]
mod signals;

pub use name::name;
pub use program::{Entry, Program, parsed};
pub use run::main;
