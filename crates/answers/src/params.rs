//! The parameters of requests: declared keys, checked values.

use super::errors::{ApiError, Code};
use doushouqi::board::{Color, Fen, ParseFenError, Position, RuleOptions, Square};
use doushouqi::tablebase::{Material, Wdl};
use serde::Deserialize;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The longest URI, in bytes.
pub const MAX_URI: usize = 8 << 10;
/// The largest body, in bytes.
pub const MAX_BODY: usize = 128 << 10;

/// Longer than any FEN.
const LONGEST_FEN: usize = 200;
/// Longer than all rule options together.
const LONGEST_RULES: usize = 400;

/// Declares query types by their keys. A key with `: "u64"` is a number in the description of the API.
macro_rules! query {
    ($($(#[$doc:meta])* $name:ident { $($(#[$key_doc:meta])* $key:ident $(: $number:tt)?),* $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Debug, Default, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(default, deny_unknown_fields)]
        pub struct $name { $($(#[$key_doc])* $(#[cfg_attr(test, schemars(with = $number))])? pub $key: Field),* }
    )+};
}

/// Declares query types that begin with the keys in brackets.
macro_rules! query_with {
    (@one [$($first:tt)*] $(#[$doc:meta])* $name:ident { $($rest:tt)* }) => {
        query! { $(#[$doc])* $name { $($first)* $($rest)* } }
    };
    ($first:tt $($(#[$doc:meta])* $name:ident $rest:tt)+) => {$( query_with! { @one $first $(#[$doc])* $name $rest } )+};
}

query! {
    /// No keys.
    NoKeys {}
    /// A position to draw.
    BoardQuery {
        /// The position. `_` may replace the space. Default: the initial position.
        fen,
    }
    /// The properties of puzzles.
    PuzzlesQuery {
        /// One puzzle.
        id,
        /// A preset, then options as key=value, separated by commas. Default: any rules.
        rules,
        /// White's animals, v, Black's animals: EPvLR
        material,
        /// A theme, as in `themes` of the answer.
        theme,
        /// 1 (easy) to 5.
        difficulty: "u64",
        /// The most puzzles to return, 1 to 50. Default: 1.
        count: "u64",
        /// The same seed draws the same puzzles.
        seed: "u64",
    }
}

query_with! {
    [
        /// The position. `_` may replace the space. Default: the initial position.
        fen,
        /// A preset, then options as key=value, separated by commas. Default: the server's rules.
        rules,
    ]
    /// The page: a position and the rest of its state.
    PageQuery {
        /// The first position of the line, with a halfmove clock if there is one. Default: `fen`.
        from,
        /// Plies without a capture that draw the game, 0 for no limit. Default: 100.
        no_capture_limit: "u64",
        /// The moves of the line: a3b3.g7f7
        line,
        /// The ply of the line to show.
        at,
        /// The panel to show.
        view,
        /// none, race, fortress, or whatif and a square: whatif:d2
        overlay,
        /// Arrows on the board: a3b3,g7f7
        arrows,
        /// animals, letters or characters.
        pieces,
        /// auto, light or dark.
        theme,
        /// en or zh.
        lang,
    }
    /// A position.
    PositionQuery {}
    /// A position and the longest line.
    MainlineQuery {
        /// The most plies, 0 to 1000.
        max: "u64",
    }
    /// A position and a piece.
    WhatIfQuery {
        /// The square of the piece.
        piece,
    }
}

query_with! {
    [
        /// A preset, then options as key=value, separated by commas. Default: the server's rules.
        rules,
    ]
    /// Rules.
    StatsQuery {}
    /// Which lines to return.
    LongestQuery {
        /// White's animals, v, Black's animals: EPvLR
        material,
        /// The most lines, 1 to 100.
        count: "u64",
    }
    /// The properties of a random position.
    RandomQuery {
        /// White's animals, v, Black's animals: EPvLR
        material,
        /// white or black
        turn,
        /// The distance to the end in plies, 0 to 10000.
        plies: "u64",
        /// win, draw or loss of the side to move
        wdl,
        /// The same seed gives the same position.
        seed: "u64",
        /// Where the search goes on: `next` of the answer before. Default: 0.
        from: "u64",
    }
    /// The numbers of pieces.
    MatrixQuery {
        /// White's pieces, 1 to 3.
        white: "u64",
        /// Black's pieces, 1 to 3.
        black: "u64",
    }
}

query_with! {
    [
        /// The position in which the game begins, with a halfmove clock if there is one. `_` may replace a space. Default: the initial position.
        fen,
        /// A preset, then options as key=value, separated by commas. Default: the server's rules.
        rules,
        /// Plies without a capture that draw the game, 0 for no limit. Default: 100.
        no_capture_limit: "u64",
        /// Moves played from `fen`, separated by commas.
        moves,
    ]
    /// A game.
    GameQuery {}
    /// A game and the limits of a search.
    AnalyzeQuery {
        /// Plies, 1 to 100.
        depth: "u64",
        /// Milliseconds, 1 to 600000.
        movetime: "u64",
        /// Lines, 1 to 5.
        multipv: "u64",
        /// Threads, 1 to 1024; at most those of the server.
        threads: "u64",
        /// The hash table in MiB, 1 to 256.
        hash: "u64",
        /// 0: search without tables
        tables,
    }
    /// A game and the strength of the engine.
    BestMoveQuery {
        /// 1 to 10; 10 is full strength.
        strength: "u64",
        /// Milliseconds, 1 to 10000.
        movetime: "u64",
        /// 1: play the tables' best move where a table contains the position
        perfect,
        /// The same seed gives the same move.
        seed: "u64",
    }
}

/// The keys of the page's address with their values, in their order.
pub type PagePairs = Vec<(String, String)>;

/// The part of the page's address that the server reads. Messengers, search engines and advertisements append keys of
/// their own to links, one of them even a `from`: unknown and repeated keys are ignored.
impl From<PagePairs> for PageQuery {
    fn from(pairs: PagePairs) -> PageQuery {
        let first = |key: &str, is_ours: fn(&str) -> bool| {
            let mut found = pairs.iter().filter(|(other, value)| other == key && is_ours(value));
            Field(found.next().map(|(_, value)| value.clone()))
        };
        let (fen, rules) = (first("fen", |_| true), first("rules", |_| true));
        PageQuery { fen, rules, from: first("from", |value| value.contains('/')), ..PageQuery::default() }
    }
}

/// The text of a key. An empty text counts as missing.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(inline))]
pub struct Field(#[cfg_attr(test, schemars(with = "String"))] Option<String>);

/// Parses the FEN of a position; `_` may replace the space.
pub fn fen(text: &str) -> Result<Position, ApiError> {
    parse_fen(text)
}

/// Reads the FEN of a game, which may have a halfmove clock, in the same spelling.
pub(crate) fn game_fen(text: &str) -> Result<Fen, ApiError> {
    parse_fen(text)
}

fn parse_fen<T: FromStr<Err = ParseFenError>>(text: &str) -> Result<T, ApiError> {
    if text.len() > LONGEST_FEN {
        let message = format!("a FEN has at most {LONGEST_FEN} characters");
        let error = ApiError::new(Code::BadFen, message).at("fen", LONGEST_FEN);
        return Err(error.reason("fen_too_long").with("max", LONGEST_FEN));
    }
    let text = text.replace('_', " ");
    text.parse().map_err(|error| ApiError::fen(&text, &error))
}

/// Parses rules.
pub fn rules(text: &str) -> Result<RuleOptions, ApiError> {
    if text.len() > LONGEST_RULES {
        let message = format!("rules have at most {LONGEST_RULES} characters");
        let error = ApiError::new(Code::BadRules, message).at("rules", LONGEST_RULES);
        return Err(error.reason("rules_too_long").with("max", LONGEST_RULES));
    }
    let item = |i: usize| text.split(',').take(i).map(|item| item.chars().count() + 1).sum::<usize>();
    text.parse().map_err(|error| {
        // The first item that makes the list up to it invalid.
        let bad = (1..=text.split(',').count())
            .find(|&n| text.split(',').take(n).collect::<Vec<_>>().join(",").parse::<RuleOptions>().is_err());
        ApiError::rules(&error).at("rules", item(bad.unwrap_or(1) - 1))
    })
}

/// Parses a material.
pub fn material(text: &str) -> Result<Material, ApiError> {
    let text: String = text.chars().take(40).collect();
    text.parse().map_err(|error| ApiError::material(&error))
}

/// The error for a text that is not a number in a range.
pub(crate) fn out_of_range<T: std::fmt::Display>(
    name: &'static str,
    text: &str,
    range: &RangeInclusive<T>,
) -> ApiError {
    let shown: String = text.chars().take(40).collect();
    let message = format!("{name} is a number from {} to {}, not {shown:?}", range.start(), range.end());
    let error = ApiError::parameter(name, "not_a_number_in_range", message);
    let error = error.with("min", range.start().to_string()).with("max", range.end().to_string());
    error.with("found", shown)
}

impl Field {
    #[must_use]
    pub fn get(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }

    /// The position; the initial position if missing.
    pub fn position(&self) -> Result<Position, ApiError> {
        self.get().map_or_else(|| Ok(Position::start()), fen)
    }

    /// The position in which a game begins, with its halfmove clock; the initial position if missing.
    pub fn game_start(&self) -> Result<Fen, ApiError> {
        self.get().map_or_else(|| Ok(Position::start().into()), game_fen)
    }

    /// The rules; `default` if missing.
    pub fn rules(&self, default: &RuleOptions) -> Result<RuleOptions, ApiError> {
        self.get().map_or(Ok(*default), rules)
    }

    pub fn material(&self) -> Result<Option<Material>, ApiError> {
        self.get().map(material).transpose()
    }

    /// A number in a range.
    pub fn number<T>(&self, name: &'static str, range: RangeInclusive<T>) -> Result<Option<T>, ApiError>
    where
        T: FromStr + PartialOrd + std::fmt::Display,
    {
        let Some(text) = self.get() else { return Ok(None) };
        match text.parse::<T>() {
            Ok(number) if range.contains(&number) => Ok(Some(number)),
            _ => Err(out_of_range(name, text, &range)),
        }
    }

    /// The value of a word; `listed` names the words in the error for another one.
    fn choice<T: Copy>(
        &self,
        name: &'static str,
        listed: &'static str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, ApiError> {
        let Some(text) = self.get() else { return Ok(None) };
        let found = words.iter().find(|(word, _)| *word == text);
        found.map(|&(_, value)| Some(value)).ok_or_else(|| ApiError::choice(name, listed))
    }

    /// `0` or `1`; `default` if missing.
    pub fn flag(&self, name: &'static str, default: bool) -> Result<bool, ApiError> {
        let words = [("0", false), ("false", false), ("1", true), ("true", true)];
        Ok(self.choice(name, "0, 1", &words)?.unwrap_or(default))
    }

    /// A colour: `white`, `black`, `w` or `b`.
    pub fn color(&self, name: &'static str) -> Result<Option<Color>, ApiError> {
        let words = [("white", Color::White), ("w", Color::White), ("black", Color::Black), ("b", Color::Black)];
        self.choice(name, "white, black", &words)
    }

    /// A result: `win`, `draw` or `loss`.
    pub fn wdl(&self, name: &'static str) -> Result<Option<Wdl>, ApiError> {
        self.choice(name, "win, draw, loss", &[("win", Wdl::Win), ("draw", Wdl::Draw), ("loss", Wdl::Loss)])
    }

    /// A square; an error if missing.
    pub fn square(&self, name: &'static str) -> Result<Square, ApiError> {
        let text =
            self.get().ok_or_else(|| ApiError::parameter(name, "parameter_missing", format!("{name} is missing")))?;
        let bad = || ApiError::parameter(name, "not_a_square", format!("{name} is a square a1 to g9"));
        text.parse().map_err(|_| bad())
    }
}
