//! The error of what a match is made of.

use super::openings::OpeningsError;
use super::player::PlayerError;
use doushouqi::search::ParameterError;
use doushouqi::search::network::NetworkError;
use doushouqi::tablebase::SetError;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a text is not a player, a rule of adjudication or a test, a file of a player cannot be used, or a match cannot start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MatchError {
    /// No built-in player has this name.
    #[error("no built-in player is called {name:?}; there are {known}")]
    UnknownName {
        /// The name.
        name: String,
        /// The names that there are.
        known: &'static str,
    },
    /// The player does not have this option.
    #[error("{name} has no option {option:?}; options are {known}, as in builtin:default,hash=16MiB")]
    UnknownOption {
        /// The name of the player.
        name: String,
        /// The option.
        option: String,
        /// The options that it has.
        known: &'static str,
    },
    /// The parameter of the search cannot be set.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// An option cannot have this value.
    #[error("{option} is {allowed}, not {value:?}")]
    UnknownValue {
        /// The option.
        option: String,
        /// The value.
        value: String,
        /// A description of the allowed values.
        allowed: &'static str,
    },
    /// The command line of a program cannot be split into words.
    #[error("{text:?} is not a command line: a quote is not closed, or the text is empty")]
    Command {
        /// The command line.
        text: String,
    },
    /// UCI options were given to a player that is not a UCI program.
    #[error(
        "{text:?} is not a UCI program; built-in players have options after commas, as in builtin:default,hash=16MiB"
    )]
    OptionsOfProgram {
        /// The player.
        text: String,
    },
    /// The endgame tables cannot be used.
    #[error(transparent)]
    Tables(#[from] SetError),
    /// The file of the network cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        error: io::Error,
    },
    /// The file does not contain a network that this program evaluates.
    #[error("{}: {error}", path.display())]
    Network {
        /// The file.
        path: PathBuf,
        /// The error in the file.
        error: NetworkError,
    },
    /// The text is not a rule of adjudication.
    #[error("{text:?} is not a rule of adjudication: write {example}")]
    Adjudication {
        /// The text.
        text: String,
        /// An example of a rule.
        example: &'static str,
    },
    /// The text is not a test.
    #[error(
        "{text:?} is not a test: write two normalised Elo differences from -{most} to {most}, the lower one first, as in \
         0,4 for a gain or -4,0 for a simplification"
    )]
    Sprt {
        /// The text.
        text: String,
        /// The greatest difference of a test.
        most: f64,
    },
    /// A run of tuning is not possible; the text names the reason.
    #[error("{0}")]
    Spsa(String),
    /// A player cannot be created.
    #[error(transparent)]
    Player(#[from] PlayerError),
    /// An opening cannot be played.
    #[error(transparent)]
    Openings(#[from] OpeningsError),
}
