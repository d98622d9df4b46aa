//! What the programs `dsq` and `dsq-lab` share. Data goes to stdout, everything else to stderr.

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

/// The example of the README is compiled with the tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
