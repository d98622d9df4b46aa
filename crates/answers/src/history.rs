//! Values of moves in a game. Tables ignore the history of a game, which can turn a win into a draw: the winning move may
//! repeat a position, or the loser may repeat one on the way.

use super::engine::holds_in_game;
use super::rule_tables::RequestTables;
use doushouqi::board::{Judge, Move};
use doushouqi::game::Game;
use doushouqi::tablebase::{Probe as _, SetError, Value, Wdl};
use std::cmp::Reverse;
use std::collections::HashMap;

/// The positions that the search for the value of a move visits. If they do not suffice, the value is uncertain; closer
/// to the repetition fewer positions are needed.
const MAX_NODES: usize = 2000;

/// A legal move of a game with its value in the tables and in the game.
#[derive(Clone, Copy, Debug)]
pub struct JudgedMove {
    pub mv: Move,
    /// The value in the tables, for the side that makes the move.
    pub table: Value,
    /// The value in the game; that of the tables if it is not certain.
    pub value: Value,
    pub is_certain: bool,
    /// Whether the game is over after the move.
    ends: bool,
}

impl JudgedMove {
    /// Whether earlier positions change the value of this move, or may do so.
    #[must_use]
    pub fn is_disturbed(&self, game: &Game) -> bool {
        self.value != self.table || !self.is_certain && holds_in_game(&self.table, game)
    }

    /// Better moves have greater ranks.
    fn rank(&self) -> (Wdl, bool, bool) {
        // An uncertain win may be a draw, and so may an uncertain loss, unless it is uncertain only because its distance
        // is unknown.
        let may_be_drawn = self.value.wdl == Wdl::Loss && self.table.dtw.is_some();
        let is_likely = self.is_certain != may_be_drawn;
        // A win that earlier positions turn into a draw may succeed against a weak opponent, if the game goes on.
        let gives_up = self.ends && self.table.wdl == Wdl::Win && self.value.wdl == Wdl::Draw;
        (self.value.wdl, is_likely, !gives_up)
    }
}

/// The legal moves of a game whose values the tables contain, best first.
pub fn judge(tables: &RequestTables<'_>, game: &Game) -> Result<Vec<JudgedMove>, SetError> {
    let legal = game.legal_moves();
    let mut search = Search { tables, game: game.clone(), values: HashMap::new(), nodes: 0 };
    let mut moves = Vec::new();
    for (mv, table) in tables.ranked(game.position())? {
        let Some(table) = table.filter(|_| legal.contains(&mv)) else { continue };
        search.nodes = MAX_NODES;
        let wdl = search.result_after(mv)?;
        let value = match wdl {
            Some(wdl) if wdl != table.wdl => Value { wdl, dtw: None },
            _ => table,
        };
        let mut next = game.clone();
        let ends = next.play(mv).is_ok() && next.end().is_some();
        moves.push(JudgedMove { mv, table, value, is_certain: wdl.is_some(), ends });
    }
    // The sort is stable: of equal ranks the best in the tables stays first.
    moves.sort_by_key(|mv| Reverse(mv.rank()));
    Ok(moves)
}

/// A search for the results of positions of a game under best play.
struct Search<'a, 'b> {
    tables: &'a RequestTables<'b>,
    game: Game,
    /// The values of earlier positions in the tables, by key.
    values: HashMap<u64, Option<Value>>,
    /// The number of positions that the search may still visit.
    nodes: usize,
}

impl Search<'_, '_> {
    /// The result of a legal move for the side that makes it; `None` if it is uncertain.
    fn result_after(&mut self, mv: Move) -> Result<Option<Wdl>, SetError> {
        if self.game.play(mv).is_err() {
            return Ok(None);
        }
        let result = self.result();
        self.game.undo();
        Ok(result?.map(Wdl::before))
    }

    /// The result for the side to move; `None` if it is uncertain.
    fn result(&mut self) -> Result<Option<Wdl>, SetError> {
        let turn = self.game.position().turn();
        if let Some(end) = self.game.end() {
            return Ok(Some(Wdl::of(end.winner(), turn)));
        }
        let Some(value) = self.tables.value(self.game.position())? else { return Ok(None) };
        if !holds_in_game(&value, &self.game) {
            return Ok(None);
        }
        if value.wdl == Wdl::Draw || !self.may_repeat(value)? {
            return Ok(Some(value.wdl));
        }
        // A judged repetition may win.
        if self.nodes == 0 || self.game.rules().options().judge != Judge::None {
            return Ok(None);
        }
        self.nodes -= 1;
        self.tables.check()?;
        self.best_of_moves(value.wdl)
    }

    /// The result for the side to move by the results of its moves. A repetition can only make it a draw.
    fn best_of_moves(&mut self, table: Wdl) -> Result<Option<Wdl>, SetError> {
        let legal = self.game.legal_moves();
        let enough = if table == Wdl::Win { Wdl::Win } else { Wdl::Draw };
        let (mut best, mut is_certain) = (Wdl::Loss, true);
        for (mv, _) in self.tables.ranked(self.game.position())? {
            if !legal.contains(&mv) {
                continue;
            }
            match self.result_after(mv)? {
                Some(wdl) if wdl >= enough => return Ok(Some(wdl)),
                Some(wdl) => best = best.max(wdl),
                None => is_certain = false,
            }
        }
        Ok(is_certain.then_some(best))
    }

    /// Whether best play from here may reach an earlier position that may not occur again or would draw. Every ply of the
    /// winner's best play shortens the way to the win, so only positions closer to it matter.
    fn may_repeat(&mut self, here: Value) -> Result<bool, SetError> {
        let winner = here.wdl.winner(self.game.position().turn());
        for position in self.game.drawn_if_repeated() {
            let value = match self.values.get(&position.key()) {
                Some(&value) => value,
                None => *self.values.entry(position.key()).or_insert(self.tables.value(position)?),
            };
            let wins = |value: Value| value.wdl.winner(position.turn()) == winner;
            if value.is_some_and(|value| wins(value) && value.dtw < here.dtw) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::super::class_cache::ClassCache;
    use super::super::rule_tables::RuleTables;
    use super::*;
    use doushouqi::board::{Piece, RuleOptions, Rules};
    use doushouqi::game::random::Random;
    use doushouqi::tablebase::Material;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    fn tables() -> RuleTables {
        let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap());
        let stop = AtomicBool::new(false);
        RuleTables::new(RuleOptions::PAPER, None, None, pool, Arc::new(ClassCache::new(0)), &stop).unwrap()
    }

    fn game(fen: &str, rules: &str, moves: &[&str]) -> Game {
        let rules = Rules::new(rules.parse().unwrap());
        let mut game = Game::from_fen(fen.parse().unwrap(), rules, Some(Game::NO_CAPTURE_LIMIT));
        for text in moves {
            game.play(game.parse(text).unwrap()).unwrap();
        }
        game
    }

    /// A lion wins in three plies. It has been before the den and has stepped back.
    #[test]
    fn a_win_goes_round_earlier_positions() {
        let (tables, never) = (tables(), AtomicBool::new(false));
        let tables = RequestTables::new(&tables, RuleOptions::PAPER, &never);
        let (fen, cycle) = ("7/3L3/7/7/7/r6/7/7/7 b", ["a4a5", "d8d7", "a5a4"]);
        let twice = [&cycle[..], &["d7d8"], &cycle].concat();
        for (repetition, moves) in
            [("repetition=twofold", &cycle[..]), ("repetition=illegal", &cycle), ("repetition=threefold", &twice)]
        {
            let game = game(fen, repetition, moves);
            let best = judge(&tables, &game).unwrap()[0];
            assert_ne!(best.mv.to_string(), "d7d8", "{repetition}");
            assert_eq!((best.value.wdl, best.is_certain), (Wdl::Win, true), "{repetition}: {best:?}");
        }
        // Repetition has no effect yet, or never.
        for (repetition, moves) in [("repetition=threefold", &cycle[..]), ("repetition=none", &twice)] {
            let game = game(fen, repetition, moves);
            let best = judge(&tables, &game).unwrap()[0];
            assert_eq!((&*best.mv.to_string(), best.value.dtw), ("d7d8", Some(3)), "{repetition}");
            assert!(!best.is_disturbed(&game));
        }
    }

    #[test]
    fn certain_results_hold() {
        assert!(certain_wins("repetition=twofold") > 10);
        // Draws are judged, so few of them are certain; under rules against loops only moves that end the game are.
        assert!(certain_wins("repetition=twofold,judge=number") > 10);
        certain_wins("repetition=twofold,move-limit=100,loop=servers");
        certain_wins("loop=2-1,judge=weight");
    }

    /// A certain result holds against an opponent that repeats positions where it can: a win is won, and a draw is not
    /// lost. Returns the number of certain wins.
    fn certain_wins(rules: &str) -> usize {
        let (tables, never) = (tables(), AtomicBool::new(false));
        let tables = RequestTables::new(&tables, RuleOptions::PAPER, &never);
        let mut random = Random::new(31);
        let all = Material::all(3);
        let (mut certain, mut disturbed) = (0, 0);
        for _ in 0..300 {
            let pieces: Vec<Piece> = all[random.below(all.len())].pieces().collect();
            let Some(start) = random.placement(&pieces, &Rules::default()) else { continue };
            let mut game = game(&start.to_fen(), rules, &[]);
            // Both sides step to and fro.
            for _ in 0..4 {
                let moves = game.legal_moves();
                let back = moves
                    .iter()
                    .copied()
                    .find(|mv| game.moves().len().checked_sub(2).is_some_and(|i| game.moves()[i].from == mv.to));
                let Some(mv) = back.or_else(|| random.choose(&moves).copied()) else { break };
                if game.position().piece_at(mv.to).is_some() || game.play(mv).is_err() {
                    break;
                }
            }
            if game.end().is_some() {
                continue;
            }
            let hero = game.position().turn();
            let mut promised = Wdl::Loss;
            while game.end().is_none() {
                let moves = judge(&tables, &game).unwrap();
                let is_end = |mv: Move| {
                    let mut next = game.clone();
                    next.play(mv).unwrap();
                    next.end().is_some()
                };
                let knows = |mv: &JudgedMove| !mv.is_certain || is_end(mv.mv);
                assert!(!game.rules().options().has_loop_rule() || moves.iter().all(knows), "{}", game.fen());
                if game.position().turn() == hero {
                    let best = moves[0];
                    assert!(!best.is_certain || best.value.wdl >= promised, "{}: {best:?}", game.fen());
                    promised = if best.is_certain { promised.max(best.value.wdl) } else { promised };
                    disturbed += usize::from(best.is_disturbed(&game));
                    game.play(best.mv).unwrap();
                } else {
                    let repeats = |mv: &&JudgedMove| game.positions().contains(&game.position().make(mv.mv));
                    let any = random.choose(&moves).copied();
                    let mv = moves.iter().find(repeats).copied().or(any).unwrap().mv;
                    game.play(mv).unwrap();
                }
            }
            certain += usize::from(promised == Wdl::Win);
            let result = Wdl::of(game.end().unwrap().winner(), hero);
            assert!(result >= promised, "{}: {result:?} instead of {promised:?}", game.fen());
        }
        assert!(disturbed > 0 || rules != "repetition=twofold", "{certain} {disturbed}");
        certain
    }
}
