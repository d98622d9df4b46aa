//! The search techniques that can be switched off, to measure the gain of each.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

macro_rules! techniques {
    ($($(#[$doc:meta])* $name:ident = $text:literal: $on:literal),+ $(,)?) => {
        /// The techniques that the search adds to plain alpha-beta, each on or off. The names are those of the Chess
        /// Programming Wiki, if it has one.
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        pub struct SearchOptions { $($(#[$doc])* pub $name: bool),+ }

        impl SearchOptions {
            /// All techniques off: alpha-beta with iterative deepening. Its values are those of minimax.
            pub const NONE: SearchOptions = SearchOptions { $($name: false),+ };
            /// The techniques that change neither wins and losses nor their distances: a search finds every win within
            /// its depth.
            pub(super) const EXACT: SearchOptions = SearchOptions {
                tt: true,
                quiescence_search: true,
                den_threats: true,
                mate_distance_pruning: true,
                killer_moves: true,
                history_heuristic: true,
                continuation_history: true,
                ..SearchOptions::NONE
            };
            /// The techniques that gained strength in self-play: the default.
            pub(super) const BEST: SearchOptions = SearchOptions { $($name: $on),+ };
            /// The names of all techniques, as [`FromStr`] reads them.
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

techniques! {
    /// Transposition table.
    tt = "tt": true,
    /// Aspiration windows at the root.
    aspiration_windows = "aspiration": true,
    /// Quiescence search over captures.
    quiescence_search = "quiescence": true,
    /// Check evasions of this game: with an enemy in a trap next to its den, a side searches only moves that capture
    /// that enemy. A safe step into a trap next to the enemy's den wins.
    den_threats = "den-threats": true,
    /// Mate distance pruning.
    mate_distance_pruning = "mate-distance": true,
    /// Reverse futility pruning.
    reverse_futility_pruning = "reverse-futility": true,
    /// Late move pruning.
    late_move_pruning = "late-moves": true,
    /// Late move reductions.
    late_move_reductions = "reductions": true,
    /// Internal iterative reductions.
    internal_iterative_reductions = "internal-reductions": true,
    /// Singular extensions.
    singular_extensions = "singular": true,
    /// Killer moves.
    killer_moves = "killers": true,
    /// History heuristic.
    history_heuristic = "history": true,
    /// Continuation history, one and two plies back.
    continuation_history = "continuation": true,
    /// Correction history: static evaluations corrected by earlier search results of similar positions.
    correction_history = "correction": true,
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions::BEST
    }
}

/// The error for a text that is not a list of search options.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is not a search option; write best or none, then +NAME or -NAME, NAME one of: {names}", names = SearchOptions::NAMES.join(", "))]
pub struct ParseSearchOptionsError(String);

/// Reads `best` or `none`, then changes: `best,-singular`. A colon may replace a comma.
impl FromStr for SearchOptions {
    type Err = ParseSearchOptionsError;

    fn from_str(text: &str) -> Result<SearchOptions, ParseSearchOptionsError> {
        let mut options = SearchOptions::BEST;
        for (i, item) in text.split([',', ':']).map(str::trim).enumerate() {
            let error = || ParseSearchOptionsError(item.to_owned());
            match item {
                "best" if i == 0 => {}
                "none" if i == 0 => options = SearchOptions::NONE,
                _ => {
                    let (name, on) = match item.strip_prefix('-') {
                        Some(name) => (name, false),
                        None => (item.strip_prefix('+').ok_or_else(error)?, true),
                    };
                    *options.slot(name).ok_or_else(error)? = on;
                }
            }
        }
        Ok(options)
    }
}

/// `best`, then the changes to those options.
impl fmt::Display for SearchOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("best")?;
        let (mut this, mut best) = (*self, SearchOptions::BEST);
        for name in SearchOptions::NAMES {
            let on = this.slot(name).is_some_and(|on| *on);
            if best.slot(name).is_some_and(|best| *best != on) {
                write!(f, ",{}{name}", if on { '+' } else { '-' })?;
            }
        }
        Ok(())
    }
}
