//! A gadget as a file: a board with pieces, entrances, and the claims of its lemma.

use crate::general::{BoardError, GeneralPosition, Place};
use doushouqi::board::{Animal, Color, Piece};
use thiserror::Error;

/// A part of the construction: squares, pieces, named entrances, and claims about what can be forced through it.
#[derive(Clone, Debug)]
pub struct Gadget {
    /// The name, in capitals.
    pub name: String,
    /// The number of its lemma in the paper; `None` if it has none.
    pub lemma: Option<String>,
    /// The number of its figure in the paper; `None` for a gadget that the paper does not print.
    pub figure: Option<String>,
    /// The squares and pieces.
    pub position: GeneralPosition,
    /// The entrances, in the order of the file.
    pub entrances: Vec<Entrance>,
    /// The claims, in the order of the file.
    pub claims: Vec<Claim>,
}

/// An opening in the border.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entrance {
    /// The name that claims use.
    pub name: String,
    /// The square inside the border.
    pub place: Place,
    /// Whether no piece may leave here, even if a claim lists the entrance as an exit.
    pub input_only: bool,
}

/// One line of a lemma: pieces wait at entrances, and their side can or cannot force a number of them out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The kind of piece that waits outside.
    pub sender: Piece,
    /// The number of pieces that wait at each entrance.
    pub waiting: Vec<usize>,
    /// The number of pieces that must have left by each entrance.
    pub target: Vec<usize>,
    /// Whether the sender's side can force the target; if not, the other side can prevent it.
    pub forced: bool,
    /// Whether the other side moves first.
    pub other_first: bool,
    /// Whether White may have any number of cats anywhere (see `game.rs`).
    pub any_cats: bool,
    /// Whether White's cats move only to capture; a target forced this way is forced without the restriction.
    pub steady_cats: bool,
    /// Whether a piece that has left may enter again by the same exit, and then leave where it first entered.
    pub round_trip: bool,
    /// Whether the supply outside is unlimited; `waiting` then limits the pieces that may be inside at once (see
    /// `game.rs`).
    pub unlimited: bool,
    /// Whether the sender's side must not lose a piece of the sender's kind.
    pub unharmed: bool,
    /// The text in the file.
    pub text: String,
}

/// An error in the text of a gadget, or a gadget too large to check.
#[expect(missing_docs, reason = "the messages document the variants")]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GadgetError {
    #[error(transparent)]
    Board(#[from] BoardError),
    #[error(
        "line {line}: {found:?} is not a line of a gadget; write name:, lemma:, figure:, input NAME: b1, output NAME: c9, entrance NAME: c9, claim: a=1 b=1 > out=1 forced"
    )]
    UnknownLine { line: usize, found: String },
    #[error("line {line}: {found:?} is not a land square of this gadget")]
    BadEntrance { line: usize, found: String },
    #[error("line {line}: {found:?}: {reason}")]
    BadClaim { line: usize, found: String, reason: &'static str },
    #[error("the gadget has no {what}")]
    Missing { what: &'static str },
    #[error("the gadget is too large to be checked: {reason}")]
    TooLarge { reason: String },
}

const BAD_COUNT: &str = "a count is 0 to 3; with unlimited, a count of waiting pieces is 0 to 7";

impl Gadget {
    /// Parses a gadget: a grid as for [`GeneralPosition::parse`], then lines `name:`, `lemma: 2.1` and `figure: 3` (if
    /// the paper has them), `input NAME: b1`, `output NAME: c9`, `entrance NAME: c9` (for both directions), and claims:
    /// `claim: a=1 b=1 > out=1 forced`, `claim: a=1 > out=1 prevented`. A claim may begin with the kind of piece that
    /// waits outside (`black dog bottom=1 > top=1 prevented`; default: a white panther) and contain the words
    /// `other-first`, `any-cats`, `steady-cats`, `round-trip`, `unlimited` and `unharmed`.
    ///
    /// # Errors
    /// If the text is malformed; the error contains the line.
    pub fn parse(text: &str) -> Result<Gadget, GadgetError> {
        let (grid, below): (Vec<_>, Vec<_>) =
            text.lines().enumerate().partition(|(_, l)| !l.contains(':') || l.starts_with(';'));
        let board: Vec<&str> = grid.iter().map(|(_, line)| *line).collect();
        let position = GeneralPosition::parse_part(&board.join("\n"))?;
        let mut gadget = Gadget {
            name: String::new(),
            lemma: None,
            figure: None,
            position,
            entrances: Vec::new(),
            claims: Vec::new(),
        };
        for (index, text) in below {
            gadget.line(index + 1, text)?;
        }
        if gadget.name.is_empty() {
            return Err(GadgetError::Missing { what: "name" });
        }
        if gadget.entrances.is_empty() {
            return Err(GadgetError::Missing { what: "entrance" });
        }
        Ok(gadget)
    }

    fn line(&mut self, line: usize, text: &str) -> Result<(), GadgetError> {
        let unknown = || GadgetError::UnknownLine { line, found: text.to_owned() };
        let (key, value) = text.split_once(':').ok_or_else(unknown)?;
        let value = value.trim();
        match key.split_whitespace().collect::<Vec<_>>()[..] {
            ["name"] => self.name = value.to_owned(),
            ["lemma"] => self.lemma = Some(value.to_owned()),
            ["figure"] => self.figure = Some(value.to_owned()),
            ["claim"] => {
                let claim = self.claim(line, value)?;
                self.claims.push(claim);
            }
            [kind @ ("input" | "output" | "entrance"), name] => {
                let board = self.position.board();
                let place = board.place(value).filter(|&p| board.terrain(p) != crate::general::Terrain::Water);
                let place = place.ok_or_else(|| GadgetError::BadEntrance { line, found: value.to_owned() })?;
                self.entrances.push(Entrance { name: name.to_owned(), place, input_only: kind == "input" });
            }
            _ => return Err(unknown()),
        }
        Ok(())
    }

    /// Parses a claim about this gadget, written as after `claim:` in a file; `line` is the line number for errors.
    ///
    /// # Errors
    /// If the claim is malformed.
    pub fn claim(&self, line: usize, text: &str) -> Result<Claim, GadgetError> {
        let bad = |reason| GadgetError::BadClaim { line, found: text.to_owned(), reason };
        let mut claim = Claim {
            sender: Piece { color: Color::White, animal: Animal::Panther },
            waiting: vec![0; self.entrances.len()],
            target: vec![0; self.entrances.len()],
            forced: false,
            other_first: false,
            any_cats: false,
            steady_cats: false,
            round_trip: false,
            unlimited: false,
            unharmed: false,
            text: text.to_owned(),
        };
        let mut verdict = None;
        let mut after = false;
        for word in text.split_whitespace() {
            match word {
                "white" => claim.sender.color = Color::White,
                "black" => claim.sender.color = Color::Black,
                ">" => after = true,
                "other-first" => claim.other_first = true,
                "any-cats" => claim.any_cats = true,
                "steady-cats" => claim.steady_cats = true,
                "round-trip" => claim.round_trip = true,
                "unlimited" => claim.unlimited = true,
                "unharmed" => claim.unharmed = true,
                "forced" | "prevented" => verdict = Some(word == "forced"),
                _ => match word.split_once('=') {
                    Some((name, count)) => {
                        let index = self.entrances.iter().position(|e| e.name == name);
                        let index = index.ok_or_else(|| bad("it contains an entrance that no line above defines"))?;
                        let count = count.parse().ok().filter(|n| (0..=7).contains(n));
                        let count = count.ok_or_else(|| bad(BAD_COUNT))?;
                        (if after { &mut claim.target } else { &mut claim.waiting })[index] = count;
                    }
                    None => {
                        let animal = Animal::ALL.into_iter().find(|a| a.to_string() == word);
                        claim.sender.animal = animal.ok_or_else(|| bad("it contains an unknown word"))?;
                    }
                },
            }
        }
        let most_waiting = if claim.unlimited { 7 } else { 3 };
        if claim.waiting.iter().any(|&n| n > most_waiting) || claim.target.iter().any(|&n| n > 3) {
            return Err(bad(BAD_COUNT));
        }
        claim.forced = verdict.ok_or_else(|| bad("it is neither forced nor prevented"))?;
        if claim.any_cats && (claim.forced || claim.sender.color == Color::Black) {
            return Err(bad("any-cats is only for claims that Black prevents"));
        }
        if claim.target.iter().all(|&n| n == 0) {
            return Err(bad("there is no output after \">\""));
        }
        if claim.steady_cats && (!claim.forced || claim.sender.color == Color::Black) {
            return Err(bad("steady-cats is only for claims that White forces"));
        }
        if claim.unlimited && (claim.forced || claim.round_trip || claim.waiting.iter().all(|&n| n == 0)) {
            return Err(bad("unlimited is only for prevented claims with waiting pieces, without round-trip"));
        }
        Ok(claim)
    }

    /// The index of the entrance with this name.
    #[must_use]
    pub fn entrance(&self, name: &str) -> Option<usize> {
        self.entrances.iter().position(|e| e.name == name)
    }
}
