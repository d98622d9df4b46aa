//! The ideas of the search that can be switched off, to measure what each is worth.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

macro_rules! ideas {
    ($($(#[$doc:meta])* $name:ident = $text:literal: $on:literal),+ $(,)?) => {
        /// What the search does beyond plain alpha-beta. Names are those of the Chess Programming Wiki where it has one.
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        pub struct Ideas { $($(#[$doc])* pub $name: bool),+ }

        impl Ideas {
            /// Nothing but alpha-beta with iterative deepening: its values are those of minimax.
            pub const NONE: Ideas = Ideas { $($name: false),+ };
            /// What paid in self-play.
            pub const BEST: Ideas = Ideas { $($name: $on),+ };
            /// The names of all ideas.
            pub const NAMES: &[&str] = &[$($text),+];

            fn slot(&mut self, name: &str) -> Option<&mut bool> {
                match name {
                    $($text => Some(&mut self.$name),)+
                    _ => None,
                }
            }
        }
    };
}

ideas! {
    /// Cut off by values of the transposition table.
    tt = "tt": true,
    /// Aspiration windows at the root.
    aspiration = "aspiration": true,
    /// Quiescence search over captures and den threats.
    quiescence = "quiescence": true,
    /// A piece before the den is like a check: only taking it helps. A safe step before the den wins.
    den_threats = "den-threats": true,
    /// Mate distance pruning.
    mate_distance = "mate-distance": true,
    /// Reverse futility pruning.
    reverse_futility = "reverse-futility": true,
    /// Late move pruning.
    late_moves = "late-moves": true,
    /// Late move reductions.
    reductions = "reductions": true,
    /// Internal iterative reductions.
    internal_reductions = "internal-reductions": true,
    /// Singular extensions.
    singular = "singular": true,
    /// Killer moves.
    killers = "killers": true,
    /// History heuristic.
    history = "history": true,
    /// Continuation history of one and two plies back.
    continuation = "continuation": true,
    /// Correction history: evaluations moved by what searches made of those like them.
    correction = "correction": true,
}

impl Default for Ideas {
    fn default() -> Ideas {
        Ideas::BEST
    }
}

/// Text that names no idea.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no idea of the search; write best or none, then +NAME or -NAME, NAME one of: {names}", names = Ideas::NAMES.join(", "))]
pub struct ParseIdeasError(String);

/// Reads `best` or `none`, then changes: `best,-singular`. A colon does for a comma.
impl FromStr for Ideas {
    type Err = ParseIdeasError;

    fn from_str(text: &str) -> Result<Ideas, ParseIdeasError> {
        let mut ideas = Ideas::BEST;
        for (i, item) in text.split([',', ':']).map(str::trim).enumerate() {
            let error = || ParseIdeasError(item.to_owned());
            match item {
                "best" if i == 0 => {}
                "none" if i == 0 => ideas = Ideas::NONE,
                _ => {
                    let (name, on) = match item.strip_prefix('-') {
                        Some(name) => (name, false),
                        None => (item.strip_prefix('+').ok_or_else(error)?, true),
                    };
                    *ideas.slot(name).ok_or_else(error)? = on;
                }
            }
        }
        Ok(ideas)
    }
}

/// The changes over `best`.
impl fmt::Display for Ideas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("best")?;
        let (mut this, mut best) = (*self, Ideas::BEST);
        for name in Ideas::NAMES {
            let on = this.slot(name).is_some_and(|on| *on);
            if best.slot(name).is_some_and(|best| *best != on) {
                write!(f, ",{}{name}", if on { '+' } else { '-' })?;
            }
        }
        Ok(())
    }
}
