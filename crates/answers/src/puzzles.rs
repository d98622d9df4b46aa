//! Puzzles: positions with exactly one move that keeps the result (`dsq puzzles`).

use super::game_text::play;
use doushouqi::board::{Position, RuleOptions, Rules};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::tablebase::Material;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// A puzzle, one line of the file that `dsq puzzles` writes.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Puzzle {
    pub id: String,
    /// The position to solve.
    pub fen: String,
    pub rules: String,
    pub material: String,
    /// The result that the side to move achieves: `win` or `draw`.
    #[serde(default)]
    pub goal: String,
    /// The moves of both sides, beginning with the side to move.
    pub solution: Vec<String>,
    /// The same moves in the papers' notation.
    #[serde(default)]
    pub notation: Vec<String>,
    pub plies: u32,
    /// The distance to the end of the game in plies; null for a draw.
    #[serde(default)]
    pub dtw: Option<u32>,
    /// The depth at which a search finds the first move.
    pub depth: u32,
    /// The number of tempting wrong moves.
    pub alternatives: u32,
    pub themes: Vec<String>,
    /// 1 (easy) to 5.
    pub difficulty: u8,
    /// The position before the last move, and that move.
    #[serde(default)]
    pub before: Option<String>,
    #[serde(default)]
    pub last_move: Option<String>,
}

/// The properties of the wanted puzzles; a missing property matches any value.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub id: Option<String>,
    pub rules: Option<RuleOptions>,
    pub material: Option<Material>,
    pub theme: Option<String>,
    pub difficulty: Option<u8>,
}

/// Some of the wanted puzzles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PuzzlesAnswer {
    /// The number of wanted puzzles, and of these by theme and by difficulty (from 1).
    pub total: usize,
    pub themes: BTreeMap<String, usize>,
    pub difficulties: Vec<usize>,
    pub puzzles: Vec<Puzzle>,
}

/// All puzzles of the server.
#[derive(Debug, Default)]
pub struct Puzzles {
    all: Vec<(Puzzle, RuleOptions, Material)>,
}

/// The most difficult grade.
const GRADES: u8 = 5;

impl Puzzles {
    /// Reads puzzles, one a line, each with an id of its own.
    ///
    /// # Errors
    /// The first line that is not a puzzle, or a text without puzzles.
    pub fn parse(text: &str) -> Result<Puzzles, String> {
        let (mut all, mut ids) = (Vec::new(), HashSet::new());
        for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let entry = one(line).map_err(|what| format!("line {}: {what}", i + 1))?;
            if !ids.insert(entry.0.id.clone()) {
                return Err(format!("line {}: the id {:?} occurs twice", i + 1, entry.0.id));
            }
            all.push(entry);
        }
        if all.is_empty() { Err("there are none".to_owned()) } else { Ok(Puzzles { all }) }
    }

    /// Whether there is a puzzle for these rules.
    #[must_use]
    pub fn has_rules(&self, rules: RuleOptions) -> bool {
        let wanted = Wanted { rules: Some(rules), ..Wanted::default() };
        self.all.iter().any(|entry| wanted.is(entry))
    }

    /// At most `count` of the wanted puzzles, drawn by `seed`.
    #[must_use]
    pub fn draw(&self, wanted: &Wanted, count: usize, seed: u64) -> PuzzlesAnswer {
        let mut found: Vec<&Puzzle> =
            self.all.iter().filter(|entry| wanted.is(entry)).map(|(puzzle, ..)| puzzle).collect();
        let mut themes = BTreeMap::new();
        let mut difficulties = vec![0; GRADES.into()];
        for puzzle in &found {
            difficulties[usize::from(puzzle.difficulty) - 1] += 1;
            for theme in &puzzle.themes {
                *themes.entry(theme.clone()).or_default() += 1;
            }
        }
        let total = found.len();
        let mut random = Random::new(seed);
        let drawn = (0..count.min(total)).map(|_| found.swap_remove(random.below(found.len())).clone());
        PuzzlesAnswer { puzzles: drawn.collect(), total, themes, difficulties }
    }
}

impl Wanted {
    fn is(&self, (puzzle, rules, material): &(Puzzle, RuleOptions, Material)) -> bool {
        self.id.as_ref().is_none_or(|id| *id == puzzle.id)
            && self.rules.is_none_or(|wanted| wanted.table_hash() == rules.table_hash())
            && self.material.is_none_or(|wanted| wanted == *material)
            && self.theme.as_ref().is_none_or(|theme| puzzle.themes.contains(theme))
            && self.difficulty.is_none_or(|difficulty| difficulty == puzzle.difficulty)
    }
}

fn one(line: &str) -> Result<(Puzzle, RuleOptions, Material), String> {
    let puzzle: Puzzle = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if !(1..=GRADES).contains(&puzzle.difficulty) {
        return Err(format!("the difficulty is a number from 1 to {GRADES}, not {}", puzzle.difficulty));
    }
    let rules = puzzle.rules.parse().map_err(|error: doushouqi::board::ParseRulesError| error.to_string())?;
    let material = puzzle.material.parse();
    let material = material.map_err(|error: doushouqi::tablebase::ParseMaterialError| error.to_string())?;
    check_moves(&puzzle, rules, material)?;
    Ok((puzzle, rules, material))
}

/// Checks that the position has this material, that the solution can be played from it, and that the last move leads to
/// it.
fn check_moves(puzzle: &Puzzle, rules: RuleOptions, material: Material) -> Result<(), String> {
    let position = Position::from_fen(&puzzle.fen).map_err(|error| format!("fen: {error}"))?;
    if Material::of(&position) != Some(material) {
        return Err(format!("the position {position} does not have the material {material}"));
    }
    if puzzle.solution.is_empty() {
        return Err("the solution has no moves".to_owned());
    }
    let moves: Vec<&str> = puzzle.solution.iter().map(String::as_str).collect();
    let start = |position: &Position| Game::new(position.clone(), Rules::new(rules), None);
    play(start(&position), &moves, false).map_err(|error| format!("solution: {}", error.message()))?;
    let (Some(before), Some(last_move)) = (&puzzle.before, &puzzle.last_move) else { return Ok(()) };
    let before = Position::from_fen(before).map_err(|error| format!("before: {error}"))?;
    let game = play(start(&before), &[last_move], false);
    let game = game.map_err(|error| format!("last_move: {}", error.message()))?;
    if *game.position() == position { Ok(()) } else { Err(format!("last_move leads to {}", game.position())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = r#"{"id":"a","fen":"E6/3W3/7/7/7/7/7/7/2t4 b","rules":"paper","material":"EWvT","solution":["c1d1"],"plies":1,"depth":1,"alternatives":0,"themes":["den"],"difficulty":1}
{"id":"b","fen":"7/7/7/7/7/7/3D1P1/3d3/7 w","rules":"bell","material":"PDvD","solution":["d3d2"],"plies":1,"depth":1,"alternatives":0,"themes":["den","trap"],"difficulty":5}
"#;

    #[test]
    fn puzzles_are_drawn_by_their_properties() {
        let puzzles = Puzzles::parse(LINES).unwrap();
        let ids = |wanted: Wanted| {
            let mut ids: Vec<String> =
                puzzles.draw(&wanted, 10, 3).puzzles.into_iter().map(|puzzle| puzzle.id).collect();
            ids.sort();
            ids.concat()
        };
        assert_eq!(ids(Wanted::default()), "ab");
        assert_eq!(ids(Wanted { theme: Some("trap".into()), ..Wanted::default() }), "b");
        assert_eq!(ids(Wanted { rules: Some(RuleOptions::PAPER), ..Wanted::default() }), "a");
        assert_eq!(ids(Wanted { material: Some("PDvD".parse().unwrap()), ..Wanted::default() }), "b");
        assert_eq!(ids(Wanted { difficulty: Some(2), ..Wanted::default() }), "");
        assert_eq!(ids(Wanted { id: Some("a".into()), ..Wanted::default() }), "a");
        let all = puzzles.draw(&Wanted::default(), 1, 3);
        assert_eq!((all.total, all.puzzles.len(), all.themes["den"], all.difficulties), (2, 1, 2, vec![1, 0, 0, 0, 1]));
        let drawn: std::collections::BTreeSet<String> =
            (0..20).map(|seed| puzzles.draw(&Wanted::default(), 1, seed).puzzles[0].id.clone()).collect();
        assert_eq!(drawn.len(), 2, "every puzzle is drawn");
    }

    #[test]
    fn a_wrong_line_is_named() {
        let before = |fen: &str, mv: &str| format!(r#":5,"before":"{fen}","last_move":"{mv}"}}"#);
        let quiet = "7/7/7/7/7/7/3D1P1/2d4/7 b";
        let wrong: [(&str, &str, usize, &str); 11] = [
            ("EWvT", "EWvZ", 1, "Z"),
            ("EWvT", "ELvT", 1, "material ELvT"),
            ("\"paper\"", "\"nobody\"", 1, "nobody"),
            ("E6/3W3/7/7/7/7/7/7/2t4 b", "junk", 1, "fen"),
            ("[\"c1d1\"]", "[]", 1, "no moves"),
            ("\"c1d1\"", "\"zz\"", 1, "zz"),
            ("\"d3d2\"", "\"d3d1\"", 2, "d3d1"),
            (":5}", ":6}", 2, "1 to 5"),
            (":5}", &before("junk", "c2d2"), 2, "before"),
            (":5}", &before(quiet, "c2c3"), 2, "leads to"),
            (":5}", &before(quiet, "c2d3"), 2, "c2d3"),
        ];
        for (from, to, number, words) in wrong {
            let what = Puzzles::parse(&LINES.replace(from, to)).unwrap_err();
            assert!(what.starts_with(&format!("line {number}: ")) && what.contains(words), "{what}");
        }
        assert!(Puzzles::parse(&LINES.replace(":5}", &before(quiet, "c2d2"))).is_ok());
    }
}
