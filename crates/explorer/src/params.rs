//! The parameters of requests: declared keys, checked values.

use super::errors::{ApiError, Code};
use doushouqi::board::{Color, Fen, ParseFenError, Position, RuleOptions, Square};
use doushouqi::tablebase::Material;
use serde::Deserialize;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Longer than any FEN.
const LONGEST_FEN: usize = 200;

/// Declares query types by their keys.
macro_rules! query {
    ($($(#[$doc:meta])* $name:ident { $($key:ident),* })+) => {$(
        $(#[$doc])*
        #[derive(Debug, Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name { $(pub $key: Field),* }
    )+};
}

query! {
    /// No keys.
    NoKeys {}
    /// The page: a position and the rest of its state.
    PageQuery { fen, rules, from, line, at, view, overlay, arrows, pieces, theme, lang }
    PositionQuery { fen, rules }
    BoardQuery { fen }
    MainlineQuery { fen, rules, max }
    WhatIfQuery { fen, rules, piece }
    StatsQuery { rules }
    LongestQuery { rules, material, count }
    RandomQuery { rules, material, turn, plies, wdl, seed }
    MatrixQuery { rules, white, black }
    GameQuery { fen, rules, moves }
    AnalyzeQuery { fen, rules, moves, depth, movetime, multipv, threads, hash, tables }
    BestMoveQuery { fen, rules, moves, strength, movetime, perfect, seed }
}

/// The text of a key. An empty text counts as missing.
#[derive(Debug, Default, Deserialize)]
pub struct Field(Option<String>);

/// Parses the FEN of a position; `_` may replace the space.
pub fn fen(text: &str) -> Result<Position, ApiError> {
    parse_fen(text)
}

/// Reads the FEN of a game, which may have a halfmove clock, in the same spelling.
pub fn game_fen(text: &str) -> Result<Fen, ApiError> {
    parse_fen(text)
}

fn parse_fen<T: FromStr<Err = ParseFenError>>(text: &str) -> Result<T, ApiError> {
    if text.len() > LONGEST_FEN {
        let message = format!("a FEN has at most {LONGEST_FEN} characters");
        return Err(ApiError::new(Code::BadFen, message).at("fen", LONGEST_FEN));
    }
    let text = text.replace('_', " ");
    text.parse().map_err(|error| ApiError::fen(&text, &error))
}

/// Parses rules.
pub fn rules(text: &str) -> Result<RuleOptions, ApiError> {
    if text.len() > 400 {
        return Err(ApiError::new(Code::BadRules, "rules have at most 400 characters").at("rules", 400));
    }
    let item = |i: usize| text.split(',').take(i).map(|item| item.chars().count() + 1).sum::<usize>();
    text.parse().map_err(|error: doushouqi::board::ParseRulesError| {
        // The first item that is wrong after those before it.
        let bad = (1..=text.split(',').count())
            .find(|&n| text.split(',').take(n).collect::<Vec<_>>().join(",").parse::<RuleOptions>().is_err());
        ApiError::new(Code::BadRules, error.to_string()).at("rules", item(bad.unwrap_or(1) - 1))
    })
}

/// Parses a material.
pub fn material(text: &str) -> Result<Material, ApiError> {
    let text: String = text.chars().take(40).collect();
    text.parse().map_err(|error: doushouqi::tablebase::ParseMaterialError| {
        ApiError::new(Code::BadMaterial, error.to_string()).at("material", 0)
    })
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
            _ => {
                let shown: String = text.chars().take(40).collect();
                let message = format!("{name} is a number from {} to {}, not {shown:?}", range.start(), range.end());
                Err(ApiError::parameter(name, message))
            }
        }
    }

    /// `0` or `1`.
    pub fn flag(&self, name: &'static str) -> Result<bool, ApiError> {
        match self.get() {
            None | Some("0" | "false") => Ok(false),
            Some("1" | "true") => Ok(true),
            Some(_) => Err(ApiError::parameter(name, format!("{name} is 0 or 1"))),
        }
    }

    /// A colour: `white`, `black`, `w` or `b`.
    pub fn color(&self, name: &'static str) -> Result<Option<Color>, ApiError> {
        match self.get() {
            None => Ok(None),
            Some("white" | "w") => Ok(Some(Color::White)),
            Some("black" | "b") => Ok(Some(Color::Black)),
            Some(_) => Err(ApiError::parameter(name, format!("{name} is white or black"))),
        }
    }

    /// A square; an error if missing.
    pub fn square(&self, name: &'static str) -> Result<Square, ApiError> {
        let text = self.get().ok_or_else(|| ApiError::parameter(name, format!("{name} is missing")))?;
        text.parse().map_err(|_| ApiError::parameter(name, format!("{name} is a square a1 to g9")))
    }
}
