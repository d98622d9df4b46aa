//! The minimax value of a position, by alpha-beta.
//!
//! A position that already occurred on the path from the root scores 0, so the value of a position depends on the path
//! to it. Therefore this search has no transposition table: its values are exactly those of plain minimax.

use doushouqi::board::geometry::DEN;
use doushouqi::board::{Animal, Bitboard, Color, Move, NoMove, Outcome, Position, Rules, Square};
use doushouqi::search::burnett::{DEVELOPMENT, MATERIAL, evaluate};

/// The value of a game that White has won in the root position itself. A win `n` plies later is worth `n` less, which
/// makes shorter wins better. Evaluations are far smaller.
const WIN: i32 = 1_000_000;

/// The most moves of a side: four of each piece. A jump replaces a step.
const MOST_MOVES: usize = 4 * Animal::COUNT;

/// A bound above every value.
const INFINITE: i32 = WIN + 1;

/// The minimax value of a position, and the moves that reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootValues {
    /// The minimax value from White's point of view.
    pub value: i32,
    /// Every move of the root that reaches the value, in the order of [`Position::moves`]. Empty if the game is over or
    /// the depth is 0.
    pub best: Vec<Move>,
}

/// The minimax value of `position` at `depth` plies, under [Burnett's evaluation](doushouqi::search::burnett).
///
/// - A finished game is worth a million minus its plies for the winner. A stalemate that draws is worth 0.
/// - A position that already occurred on the path, the root included, is worth 0 under every rule on repetition.
/// - After `depth` plies a position is worth its evaluation.
///
/// ```
/// use doushouqi::board::{Position, Rules};
/// use study::minimax;
/// let (start, rules) = (Position::start(), Rules::default());
/// let root = minimax(&start, &rules, 1);
/// assert_eq!(root.value, 5);
/// assert_eq!(root.best.iter().map(|m| m.notation(&start)).collect::<Vec<_>>(), ["Eb3"]);
/// ```
#[must_use]
pub fn minimax(position: &Position, rules: &Rules, depth: u32) -> RootValues {
    let sign = sign(position.turn());
    if position.outcome(rules).is_some() || depth == 0 {
        return RootValues { value: leaf(position, rules), best: Vec::new() };
    }
    let mut search =
        Search { rules, path: Vec::with_capacity(depth as usize + 1), killers: vec![[None; 2]; depth as usize] };
    let moves = position.moves(rules);
    let root_eval = evaluate(position) * sign;
    let mut order: Vec<usize> = (0..moves.len()).collect();
    let mut best = -INFINITE;
    let mut ties = Vec::new();
    // The shallower searches only order the moves; the last search gives the value.
    for depth in 1..=depth {
        best = -INFINITE;
        ties.clear();
        search.path.push(position.clone());
        for &i in &order {
            let mv = moves[i];
            let child = position.make(mv);
            let eval = root_eval + gain(position, mv);
            // One below the best value: the search then proves that a move is equal, not merely that it is no better.
            let floor = (best - 1).max(-INFINITE);
            let value = -search.value(&child, -eval, depth - 1, 1, -INFINITE, -floor);
            if value > best {
                best = value;
                ties.clear();
            }
            if value == best {
                ties.push(i);
            }
        }
        search.path.pop();
        order.sort_by_key(|i| !ties.contains(i));
    }
    ties.sort_unstable();
    RootValues { value: best * sign, best: ties.into_iter().map(|i| moves[i]).collect() }
}

/// The factor that converts between White's view and a side's view.
const fn sign(color: Color) -> i32 {
    match color {
        Color::White => 1,
        Color::Black => -1,
    }
}

/// The value of the root itself, from White's point of view.
fn leaf(position: &Position, rules: &Rules) -> i32 {
    match position.outcome(rules) {
        Some(Outcome::Win(winner)) => WIN * sign(winner),
        Some(_) => 0,
        None => evaluate(position),
    }
}

/// The change of the evaluation by a move, for the side that makes it.
fn gain(position: &Position, mv: Move) -> i32 {
    let (color, enemy) = (position.turn(), !position.turn());
    let development = |color, animal: Animal, square: Square| {
        let square = if color == Color::White { square } else { square.rotate() };
        DEVELOPMENT[animal.index()][square.index()]
    };
    let mut gain = development(color, mv.animal, mv.to) - development(color, mv.animal, mv.from);
    if mv.is_capture(position)
        && let Some(victim) = Animal::ALL.into_iter().find(|&a| position.animal(enemy, a).contains(mv.to))
    {
        gain += MATERIAL[victim.index()] + development(enemy, victim, mv.to);
    }
    gain
}

struct Search<'a> {
    rules: &'a Rules,
    /// The positions from the root to the parent of the one being searched.
    path: Vec<Position>,
    /// Two killer moves for each ply: quiet moves that caused a beta cutoff there recently.
    killers: Vec<[Option<Move>; 2]>,
}

impl Search<'_> {
    /// The value of `position`, `ply` plies below the root, for the side to move: exact if it lies between `alpha` and
    /// `beta`, else a bound on the same side. `eval` is the evaluation of `position` for the side to move.
    fn value(&mut self, position: &Position, eval: i32, depth: u32, ply: u32, mut alpha: i32, beta: i32) -> i32 {
        let won = WIN - ply as i32;
        if let Some(winner) = position.winner() {
            return if winner == position.turn() { won } else { -won };
        }
        // A position repeats after four plies at the earliest, with the same side to move.
        if self.path.iter().rev().skip(3).step_by(2).any(|earlier| earlier == position) {
            return 0;
        }
        if depth == 0 {
            return if position.count_moves(self.rules) == 0 { self.stalemate_value(won) } else { eval };
        }
        let moves = position.moves(self.rules);
        if moves.is_empty() {
            return self.stalemate_value(won);
        }

        let enemy = position.side(!position.turn());
        let den = DEN[!position.turn()];
        if moves.iter().any(|mv| mv.to == den || enemy == Bitboard::from(mv.to)) {
            return won - 1;
        }
        let killers = self.killers[ply as usize];
        let mut ordered = [(0, Move { animal: Animal::Rat, from: Square::A1, to: Square::A1 }, 0); MOST_MOVES];
        let ordered = &mut ordered[..moves.len()];
        for (slot, &mv) in ordered.iter_mut().zip(&moves) {
            let gain = gain(position, mv);
            let bonus = if enemy.contains(mv.to) {
                2000
            } else if killers.contains(&Some(mv)) {
                1000
            } else {
                0
            };
            *slot = (bonus + gain, mv, gain);
        }
        ordered.sort_unstable_by_key(|&(rank, ..)| -rank);

        self.path.push(position.clone());
        let mut best = -INFINITE;
        for &(_, mv, gain) in ordered.iter() {
            let child = position.make(mv);
            let value = -self.value(&child, -(eval + gain), depth - 1, ply + 1, -beta, -alpha);
            best = best.max(value);
            alpha = alpha.max(value);
            if alpha >= beta {
                let killers = &mut self.killers[ply as usize];
                if !enemy.contains(mv.to) && killers[0] != Some(mv) {
                    *killers = [Some(mv), killers[0]];
                }
                break;
            }
        }
        self.path.pop();
        best
    }

    /// The value of a stalemate, where a loss costs `won`.
    fn stalemate_value(&self, won: i32) -> i32 {
        match self.rules.options().no_move {
            NoMove::Loss => -won,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use doushouqi::board::RuleOptions;
    use doushouqi::game::Game;
    use doushouqi::game::random::Random;
    use doushouqi::search::{Engine, EngineOptions, Evaluation, Limits, SearchPreset, SearchResult};

    /// Plain minimax by its definition: no pruning, no move ordering, and an evaluation from scratch at every leaf.
    fn plain(path: &mut Vec<Position>, rules: &Rules, depth: u32) -> RootValues {
        let (position, earlier) = path.split_last().unwrap();
        let ply = earlier.len() as i32;
        let value = if earlier.contains(position) {
            Some(0)
        } else {
            match position.outcome(rules) {
                Some(Outcome::Win(Color::White)) => Some(WIN - ply),
                Some(Outcome::Win(Color::Black)) => Some(ply - WIN),
                Some(_) => Some(0),
                None if depth == 0 => Some(evaluate(position)),
                None => None,
            }
        };
        if let Some(value) = value {
            return RootValues { value, best: Vec::new() };
        }
        let position = position.clone();
        let values: Vec<(i32, Move)> = position
            .moves(rules)
            .into_iter()
            .map(|mv| {
                path.push(position.make(mv));
                let value = plain(path, rules, depth - 1).value;
                path.pop();
                (value, mv)
            })
            .collect();
        let all = values.iter().map(|&(value, _)| value);
        let value = if position.turn() == Color::White { all.max() } else { all.min() }.unwrap();
        RootValues { value, best: values.into_iter().filter(|&(v, _)| v == value).map(|(_, mv)| mv).collect() }
    }

    fn agree(position: &Position, rules: &Rules, depth: u32) -> RootValues {
        let slow = plain(&mut vec![position.clone()], rules, depth);
        let fast = minimax(position, rules, depth);
        assert_eq!(fast, slow, "{position:?} at depth {depth} under {}", rules.options());
        fast
    }

    #[test]
    fn published_values_from_the_start() {
        let (start, rules) = (Position::start(), Rules::default());
        let eb3 = Move::parse("Eb3", &start, &rules).unwrap();
        for (depth, value) in (1..).zip([5, 0, 3, 0, 3, 0, 3]) {
            let root = minimax(&start, &rules, depth);
            assert_eq!(root.value, value, "depth {depth}");
            assert!(root.best.contains(&eb3), "depth {depth}: {:?}", root.best);
        }
    }

    /// A win in one, captures on the shore and in traps, leaps, blocked pieces, finished games.
    const TACTICAL: &[&str] = &[
        "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w",
        "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L b",
        "7/3E3/7/7/7/7/3e3/7/7 w",
        "7/3E3/3e3/7/7/7/7/2r4/7 b",
        "4p2/2L4/2e4/3R3/1r5/7/2T1d2/3c3/7 b",
        "2t4/4l2/2R1w2/1r5/6E/L6/2Cd3/3P3/7 w",
        "4E2/l6/2R4/7/7/3t3/c6/7/1C5 b",
        "R6/e6/7/7/7/7/7/7/7 w",
        "Rc5/e6/7/7/7/7/7/7/7 w",
        "7/7/7/7/7/7/7/l6/Ct5 w",
        "3R3/7/7/7/e6/7/7/7/7 b",
        "7/7/7/7/7/7/7/7/E6 b",
    ];

    #[test]
    fn agrees_with_plain_minimax() {
        for fen in TACTICAL {
            let position = Position::from_fen(fen).unwrap();
            for preset in ["paper", "chinese", "bodlaender", "quadibloc,tiger-leap=none"] {
                let rules = Rules::new(preset.parse::<RuleOptions>().unwrap());
                for depth in 0..=3 {
                    agree(&position, &rules, depth);
                }
            }
        }
    }

    /// The values of these positions depend on the rule that a repeated position is worth 0.
    #[test]
    fn agrees_where_positions_return() {
        for fen in [
            "7/7/7/7/7/7/7/7/t1T4 b",
            "7/7/7/7/7/7/2L4/7/1l5 w",
            "7/7/7/7/7/7/7/1d5/1R5 w",
            "7/7/7/7/7/7/7/1r5/2L4 w",
            "5t1/7/7/7/7/7/1E5/7/7 b",
            "7/7/7/7/7/7/1c5/7/2L4 b",
        ] {
            for depth in 4..=7 {
                agree(&Position::from_fen(fen).unwrap(), &Rules::default(), depth);
            }
        }
    }

    /// Some line from each of these positions ends in stalemate, and the value of stalemate matters.
    #[test]
    fn agrees_where_no_move_is_left() {
        for fen in [
            "7/7/7/7/7/7/7/cT5/rW5 w",
            "7/7/7/7/7/7/3D3/L6/pdT4 w",
            "7/7/7/7/7/7/T6/1p5/r1P4 w",
            "7/7/7/7/7/7/1c5/1pC4/1d5 w",
            "7/7/7/7/7/7/d1l4/7/etC4 b",
            "7/7/7/7/7/7/1dE4/P6/rT5 w",
        ] {
            let position = Position::from_fen(fen).unwrap();
            let mut matters = false;
            for traps in ["opponent", "sanctuary"] {
                for depth in 1..=4 {
                    let value = |no_move: &str| {
                        let options: RuleOptions = format!("paper,traps={traps},no-move={no_move}").parse().unwrap();
                        agree(&position, &Rules::new(options), depth).value
                    };
                    matters |= value("draw") != value("loss");
                }
            }
            assert!(matters, "{fen}");
        }
    }

    #[test]
    fn agrees_on_random_positions() {
        const SEED: u64 = 20_140_729;
        println!("seed {SEED}");
        let mut random = Random::new(SEED);
        let rules = Rules::default();
        for game in 0..60 {
            let walk = random.walk(&Position::start(), &rules, 40 + 5 * game);
            for depth in 1..=3 {
                agree(&walk[walk.len() - 1], &rules, depth);
            }
        }
    }

    fn rules(text: &str) -> Rules {
        Rules::new(text.parse::<RuleOptions>().unwrap())
    }

    fn search(engine: &mut Engine, game: &Game, plies: u32) -> SearchResult {
        engine.search(game, &Limits::default().depth(plies)).run()
    }

    /// The value from White's view, in the units of [`minimax`].
    fn value(result: &SearchResult, turn: Color) -> i32 {
        let value = result.lines[0].score.value();
        if turn == Color::White { value } else { -value }
    }

    /// Both searches without pruning and extensions equal minimax. The transposition table is off: with it, a value may
    /// come from another path, on which other positions are repetitions.
    #[test]
    fn plain_searches_are_minimax() {
        let mut random = Random::new(1);
        for preset in ["paper", "bodlaender", "quadibloc", "bell", "chinese"] {
            let rules = rules(preset);
            let plain = EngineOptions::default().search(SearchPreset::AlphaBeta).evaluation(Evaluation::Burnett);
            let mut engine = Engine::new(plain.hash_mib(1));
            for round in 0..40 {
                let pieces = 2 + round % 12;
                let position = random.position(pieces, &rules);
                let game = Game::new(position.clone(), rules.clone(), None);
                for plies in 1..=4 {
                    let expected = minimax(&position, &rules, plies);
                    let found = search(&mut engine, &game, plies);
                    assert_eq!(value(&found, position.turn()), expected.value, "{position:?} depth {plies} {preset}");
                    assert!(expected.best.contains(&found.best().unwrap()), "{position:?} depth {plies} {preset}");
                }
            }
        }
    }

    /// One engine plays games under rules that change from game to game.
    #[test]
    fn values_are_those_of_the_rules() {
        let mut random = Random::new(12);
        let plain = EngineOptions::default().search(SearchPreset::AlphaBeta).evaluation(Evaluation::Burnett);
        for options in [plain, EngineOptions::burnett_alphabeta()] {
            let mut engine = Engine::new(options.hash_mib(1));
            for preset in ["paper", "chinese", "paper"] {
                let rules = rules(preset);
                for _ in 0..10 {
                    let position = random.position(9, &rules);
                    let game = Game::new(position.clone(), rules.clone(), None);
                    let found = search(&mut engine, &game, 3);
                    let expected = minimax(&position, &rules, 3).value;
                    assert_eq!(value(&found, position.turn()), expected, "{position:?} {preset}");
                }
            }
        }
    }
}
