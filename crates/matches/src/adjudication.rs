//! Adjudication: ending a game before the rules do, by the scores that the players report, by a number of moves, or by
//! endgame tables. The rules on scores are those of cutechess and fastchess.

use super::error::MatchError;
use doushouqi::board::{ByColor, Color, Judge, Repetition};
use doushouqi::game::Game;
use doushouqi::search::Tables;
use doushouqi::tablebase::{Probe, Wdl};
use std::str::FromStr;
use std::sync::Arc;

/// The rule for a draw by agreement of the scores.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DrawRule {
    /// The first full move, counted from 1 at the first position of the game, after which the rule applies.
    pub move_number: u32,
    /// Consecutive moves of each player.
    pub move_count: u32,
    /// The greatest absolute score, in centipawns.
    pub score: i32,
}

/// The rule for a loss by agreement of the scores.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ResignRule {
    /// Consecutive moves of the player that loses.
    pub move_count: u32,
    /// The least deficit, in centipawns.
    pub score: i32,
    /// Whether the winner's scores must agree.
    pub two_sided: bool,
}

/// The conditions under which an arbiter ends a game. By default there are none.
#[derive(Clone, Debug, Default)]
pub struct Adjudication {
    /// The rule for draws.
    pub draw: Option<DrawRule>,
    /// The rule for resignations.
    pub resign: Option<ResignRule>,
    /// The number of full moves after which a game is a draw.
    pub max_moves: Option<u32>,
    /// Endgame tables that end a game as soon as they contain its position.
    pub tables: Option<Arc<Tables>>,
}

/// The values of `key=value` items, separated by commas, in the order of `keys`; a missing item has its default. `None`
/// if the text is malformed.
fn items<const N: usize>(text: &str, keys: [&str; N], defaults: [Option<i32>; N]) -> Option<[i32; N]> {
    let mut values = [None; N];
    for item in text.split(',') {
        let (key, value) = item.split_once('=')?;
        let place = keys.iter().position(|name| *name == key.trim())?;
        let value = match value.trim() {
            "yes" => 1,
            "no" => 0,
            number => number.parse().ok().filter(|number| (0..=1_000_000).contains(number))?,
        };
        if values[place].replace(value).is_some() {
            return None;
        }
    }
    let mut all = [0; N];
    for i in 0..N {
        all[i] = values[i].or(defaults[i])?;
    }
    Some(all)
}

/// Parses `move-number=40,move-count=8,score=10`.
impl FromStr for DrawRule {
    type Err = MatchError;

    fn from_str(text: &str) -> Result<DrawRule, MatchError> {
        items(text, ["move-number", "move-count", "score"], [Some(0), None, None])
            .filter(|[_, count, _]| *count > 0)
            .map(|[number, count, score]| DrawRule { move_number: number as u32, move_count: count as u32, score })
            .ok_or_else(|| MatchError::Adjudication {
                text: text.to_owned(),
                example: "move-number=40,move-count=8,score=10",
            })
    }
}

/// Parses `move-count=3,score=600` and `move-count=3,score=600,two-sided=yes`.
impl FromStr for ResignRule {
    type Err = MatchError;

    fn from_str(text: &str) -> Result<ResignRule, MatchError> {
        items(text, ["move-count", "score", "two-sided"], [None, None, Some(0)])
            .filter(|[count, score, two_sided]| *count > 0 && *score > 0 && *two_sided <= 1)
            .map(|[count, score, two_sided]| ResignRule { move_count: count as u32, score, two_sided: two_sided == 1 })
            .ok_or_else(|| MatchError::Adjudication {
                text: text.to_owned(),
                example: "move-count=3,score=600, optionally followed by ,two-sided=yes or ,two-sided=no",
            })
    }
}

/// The result of an adjudicated game, and the reason as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Adjudicated {
    pub winner: Option<Color>,
    pub reason: String,
}

/// The scores of a game so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Arbiter {
    /// Consecutive moves with a score near 0 (`level`), with a large enough deficit (`behind`), and with a large enough
    /// advantage (`ahead`).
    level: ByColor<u32>,
    behind: ByColor<u32>,
    ahead: ByColor<u32>,
}

/// The value in centipawns of a score in UCI notation; a win or loss counts more than any evaluation. A bound is no
/// evidence, unless it bounds the distance of a win from below or of a loss from above.
fn centipawns(score: &str) -> Option<i32> {
    const DECIDED: i32 = 1_000_000;
    match *score.split_whitespace().collect::<Vec<_>>() {
        ["cp", value] => value.parse().ok(),
        ["mate", moves] | ["mate", moves, "lowerbound" | "upperbound"] => {
            let lost = moves.starts_with('-');
            let holds = !score.ends_with(if lost { "lowerbound" } else { "upperbound" });
            holds.then_some(if lost { -DECIDED } else { DECIDED })
        }
        _ => None,
    }
}

impl Arbiter {
    /// Records the score of the move that `mover` made, from its point of view, and returns the result if a rule
    /// applies. A move without a score interrupts every series.
    pub(super) fn after_move(
        &mut self,
        rules: &Adjudication,
        game: &Game,
        mover: Color,
        score: Option<&str>,
    ) -> Option<Adjudicated> {
        let score = score.and_then(centipawns);
        let count = |series: &mut ByColor<u32>, holds: bool| {
            series[mover] = if holds { series[mover] + 1 } else { 0 };
        };
        count(&mut self.level, rules.draw.zip(score).is_some_and(|(rule, score)| score.abs() <= rule.score));
        count(&mut self.behind, rules.resign.zip(score).is_some_and(|(rule, score)| score <= -rule.score));
        count(&mut self.ahead, rules.resign.zip(score).is_some_and(|(rule, score)| score >= rule.score));
        self.by_tables(rules, game).or_else(|| self.by_scores(rules, game)).or_else(|| {
            let limit = rules.max_moves.filter(|&limit| full_moves(game) >= limit)?;
            Some(drawn(game, format!("a draw after {limit} moves")))
        })
    }

    fn by_scores(&self, rules: &Adjudication, game: &Game) -> Option<Adjudicated> {
        if let Some(rule) = rules.resign {
            for loser in Color::ALL {
                let agreed = !rule.two_sided || self.ahead[!loser] >= rule.move_count;
                if self.behind[loser] >= rule.move_count && agreed {
                    let reason = format!("{loser} resigns: {} moves at -{} or less", rule.move_count, rule.score);
                    return Some(Adjudicated { winner: Some(!loser), reason });
                }
            }
        }
        let rule = rules.draw?;
        let level = Color::ALL.iter().all(|&color| self.level[color] >= rule.move_count);
        (level && full_moves(game) >= rule.move_number)
            .then(|| drawn(game, format!("a draw: {} moves of each player within {}", rule.move_count, rule.score)))
    }

    /// The result by the tables, which know no history. A win or loss counts only if it surely ends the game before a
    /// limit, and a draw only if it is not judged.
    fn by_tables(&self, rules: &Adjudication, game: &Game) -> Option<Adjudicated> {
        let tables = rules.tables.as_ref()?;
        let options = game.rules().options();
        if options.repetition == Repetition::Illegal || options.has_loop_rule() {
            return None;
        }
        let Ok(value) = tables.value(game.position());
        let value = value?;
        if value.wdl == Wdl::Draw && options.judge != Judge::None {
            return None;
        }
        let winner = value.wdl.winner(game.position().turn());
        let fits = |left| value.dtw.is_some_and(|plies| u32::from(plies) <= left);
        let in_time = winner.is_none() || game.plies_left().is_none_or(fits);
        let text = match (winner, value.dtw) {
            (None, _) => "a draw".to_owned(),
            (Some(_), None) => "decided".to_owned(),
            (Some(_), Some(plies)) => format!("decided in {plies} plies"),
        };
        in_time.then(|| Adjudicated { winner, reason: format!("the endgame tables: {text}") })
    }
}

/// A draw, which goes to one side if draws are judged.
fn drawn(game: &Game, reason: String) -> Adjudicated {
    let winner = game.winner_of_draw();
    Adjudicated { winner, reason: if winner.is_some() { format!("{reason}, judged") } else { reason } }
}

/// Full moves since the first position.
fn full_moves(game: &Game) -> u32 {
    game.moves().len() as u32 / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use doushouqi::board::Rules;
    use doushouqi::game::random::Random;

    fn game(plies: usize) -> Game {
        let mut game = Game::new(Default::default(), Rules::default(), None);
        Random::new(1).play(&mut game, plies);
        assert_eq!(game.moves().len(), plies);
        game
    }

    /// Passes scores to the arbiter, White's first. Returns the number of scores until it ends the game, and the
    /// winner.
    fn end(rules: &Adjudication, scores: &[&str]) -> Option<(usize, Option<Color>)> {
        let mut arbiter = Arbiter::default();
        scores.iter().enumerate().find_map(|(ply, score)| {
            let adjudicated = arbiter.after_move(rules, &game(ply + 1), Color::ALL[ply % 2], Some(score))?;
            Some((ply + 1, adjudicated.winner))
        })
    }

    #[test]
    fn rules_are_read() {
        let draw = DrawRule { move_number: 4, move_count: 2, score: 10 };
        assert_eq!("move-count=2,score=10,move-number=4".parse::<DrawRule>().unwrap(), draw);
        assert_eq!("move-count=2,score=10".parse::<DrawRule>().unwrap(), DrawRule { move_number: 0, ..draw });
        let resign = ResignRule { move_count: 2, score: 500, two_sided: true };
        assert_eq!("move-count=2,score=500,two-sided=yes".parse::<ResignRule>().unwrap(), resign);
        assert_eq!("move-count=2,score=500".parse::<ResignRule>().unwrap(), ResignRule { two_sided: false, ..resign });
        for bad in
            ["", "score=5", "move-count=0,score=5", "move-count=1,score=-5", "move-count=1,move-count=1,score=5", "x=1"]
        {
            assert!(bad.parse::<DrawRule>().is_err() && bad.parse::<ResignRule>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_draw_takes_a_series_of_both_players() {
        let draw = Some(DrawRule { move_number: 0, move_count: 2, score: 10 });
        let rules = Adjudication { draw, ..Adjudication::default() };
        assert_eq!(end(&rules, &["cp 10", "cp -10", "cp 0", "cp 3"]), Some((4, None)));
        assert_eq!(end(&rules, &["cp 10", "cp -11", "cp 0", "cp 3"]), None);
        assert_eq!(end(&rules, &["cp 0", "cp 0", "cp 11", "cp 0", "cp 0", "cp 0", "cp 0"]), Some((7, None)));
        for missing in ["", "cp 0 lowerbound", "cp 0 upperbound"] {
            assert_eq!(end(&rules, &["cp 0", missing, "cp 0", "cp 0", "cp 0"]), None, "{missing:?} is no score near 0");
        }
        let later = Adjudication { draw: draw.map(|rule| DrawRule { move_number: 3, ..rule }), ..rules };
        assert_eq!(end(&later, &["cp 0"; 8]), Some((6, None)));
    }

    #[test]
    fn the_loser_resigns() {
        let resign = Some(ResignRule { move_count: 2, score: 500, two_sided: false });
        let rules = Adjudication { resign, ..Adjudication::default() };
        assert_eq!(end(&rules, &["cp 0", "cp -500", "cp 0", "mate -3 upperbound"]), Some((4, Some(Color::White))));
        assert_eq!(end(&rules, &["cp -500", "cp 0", "cp -499", "cp 0"]), None);
        for bound in ["cp -900 lowerbound", "cp -900 upperbound", "mate -3 lowerbound", "mate 3 upperbound"] {
            assert_eq!(end(&rules, &["cp 0", bound, "cp 0", bound, "cp 0", bound]), None, "{bound}");
        }
        let both = Adjudication { resign: resign.map(|rule| ResignRule { two_sided: true, ..rule }), ..rules };
        assert_eq!(end(&both, &["cp 0", "cp -500", "cp 0", "mate -3"]), None);
        assert_eq!(end(&both, &["cp 500", "cp -500", "cp 600", "cp -600"]), Some((4, Some(Color::White))));
    }

    /// Tables know neither loops nor judged draws, and a draw by the arbiter goes to the side that the rules name.
    #[test]
    fn rules_of_competition_bind_the_arbiter() {
        let tables = Some(Arc::new(Tables::solve(&Default::default(), 2).unwrap()));
        let by_tables = Adjudication { tables, ..Adjudication::default() };
        let after = |rules: &Adjudication, fen: &str, text: &str, moves: &str| {
            let mut game = Game::new(fen.parse().unwrap(), Rules::new(text.parse().unwrap()), None);
            for mv in moves.split_whitespace() {
                game.play(game.parse(mv).unwrap()).unwrap();
            }
            let mover = !game.position().turn();
            Arbiter::default().after_move(rules, &game, mover, None).map(|found| found.winner)
        };
        let (drawn, won) = ("7/7/3l3/7/7/7/3E3/7/7 w", "7/3C3/7/7/7/7/4e2/7/7 w");
        for (text, of_draw, of_win) in [
            ("paper", Some(None), Some(Some(Color::White))),
            ("paper,judge=number", None, Some(Some(Color::White))),
            ("paper,loop=servers", None, None),
            ("paper,repetition=illegal", None, None),
        ] {
            assert_eq!(after(&by_tables, drawn, text, ""), of_draw, "{text}");
            assert_eq!(after(&by_tables, won, text, ""), of_win, "{text}");
        }
        let long = Adjudication { max_moves: Some(1), ..Adjudication::default() };
        let more = "7/7/3e3/7/7/7/3E3/7/R6 w";
        assert_eq!(after(&long, more, "paper", "Ec3 Ec7"), Some(None));
        assert_eq!(after(&long, more, "paper,judge=number", "Ec3 Ec7"), Some(Some(Color::White)));
    }

    #[test]
    fn long_games_are_draws() {
        let rules = Adjudication { max_moves: Some(3), ..Adjudication::default() };
        assert_eq!(end(&rules, &["cp 900"; 8]), Some((6, None)));
        assert_eq!(end(&Adjudication::default(), &["cp 900"; 8]), None);
    }
}
