//! Puzzles in the formats of other programs, one on each line.

use super::{Goal, Puzzle};
use std::fmt::Write;

/// The first line of a CSV file: the columns of Lichess' puzzle database.
#[must_use]
pub const fn csv_header() -> &'static str {
    "PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags"
}

/// The first lines of a file for Anki.
#[must_use]
pub const fn anki_header() -> &'static str {
    "#separator:tab\n#html:true\n#columns:Id\tFront\tBack\tTags\n#tags column:4"
}

impl Puzzle {
    /// The puzzle as a line of JSON.
    ///
    /// # Panics
    /// Never: every field is representable.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a puzzle is JSON")
    }

    /// The puzzle as a line of CSV. As in Lichess' files the FEN is one ply earlier, and the first move is the
    /// opponent's. The rating is 600 + 400 x difficulty with the largest deviation, and the number of plays is 0.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let themes: Vec<&str> = self.themes.iter().map(|theme| theme.as_str()).collect();
        let rating = 600 + 400 * u32::from(self.difficulty);
        let moves = self.solution.join(" ");
        format!("{},{},{} {moves},{rating},500,0,0,{},,", self.id, self.before, self.last_move, themes.join(" "))
    }

    /// The puzzle as a note for Anki: the board and the task on the front, the solution on the back.
    #[must_use]
    pub fn to_anki(&self) -> String {
        let picture = self.position().map_or_else(|_| self.fen.clone(), |position| position.to_picture());
        let task = match self.goal {
            Goal::Win => "Find the only move that wins.",
            Goal::Draw => "Find the only move that draws.",
        };
        let mut tags = format!("difficulty-{}", self.difficulty);
        for theme in &self.themes {
            let _ = write!(tags, " {theme}");
        }
        let picture = picture.trim_end().replace('\n', "<br>");
        let solution = self.notation.join(" ");
        format!("{}\t<pre>{picture}</pre>{task} Rules: {}.\t{solution}\t{tags}", self.id, self.rules)
    }
}
