//! An evaluation of one's own in a search of thirty lines, against random moves: a beginning for an engine.
//!
//! ```sh
//! cargo run --release --example new_evaluation
//! ```

use doushouqi::board::geometry::DEN;
use doushouqi::board::{Animal, Color, Move, Outcome, Piece, Position, Rules};
use doushouqi::game::Game;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// A win in the fewest plies is the best: each ply takes one off.
const WIN: i32 = 1_000_000;

/// What a position is worth to the side to move: pieces, and how near they are to the enemy's den.
fn evaluate(position: &Position) -> i32 {
    let worth = |Piece { color, animal }: Piece, square: doushouqi::board::Square| {
        let value = match animal {
            Animal::Rat => 500,
            Animal::Lion | Animal::Tiger => 800,
            other => 100 * other.index() as i32,
        };
        value + 20 * (12 - square.distance(DEN[!color]) as i32)
    };
    position
        .pieces()
        .map(|(piece, square)| worth(piece, square) * if piece.color == position.turn() { 1 } else { -1 })
        .sum()
}

/// The value of a position after `depth` plies by alpha-beta in its negamax form.
fn search(position: &Position, rules: &Rules, depth: u32, mut alpha: i32, beta: i32) -> i32 {
    match position.outcome(rules) {
        Some(Outcome::Win(color)) => return if color == position.turn() { WIN } else { -WIN },
        Some(_) => return 0,
        None if depth == 0 => return evaluate(position),
        None => {}
    }
    for mv in position.moves(rules) {
        // One ply further away from a win or a loss.
        let value = -search(&position.make(mv), rules, depth - 1, -beta, -alpha);
        alpha = alpha.max(value - value.signum());
        if alpha >= beta {
            break;
        }
    }
    alpha
}

fn best_move(position: &Position, rules: &Rules, depth: u32) -> Option<Move> {
    let moves = position.moves(rules);
    moves.into_iter().max_by_key(|&mv| -search(&position.make(mv), rules, depth - 1, -WIN, WIN))
}

fn main() {
    let mut random = Pcg64::seed_from_u64(1);
    let mut won = 0;
    let games = 10;
    for number in 0..games {
        let ours = if number % 2 == 0 { Color::White } else { Color::Black };
        let mut game = Game::new(Position::start(), Rules::default(), Some(Game::NO_CAPTURE_LIMIT));
        while game.end().is_none() {
            let moves = game.legal_moves();
            let any = moves[random.next_u64() as usize % moves.len()];
            // A move that repeats a position may be forbidden: then any will do.
            let best = best_move(game.position(), game.rules(), 3).filter(|mv| moves.contains(mv));
            let mv = if game.position().turn() == ours { best.unwrap_or(any) } else { any };
            game.play(mv).expect("a legal move");
        }
        won += u32::from(game.end().and_then(|end| end.winner()) == Some(ours));
        println!("game {}: {:?} after {} plies", number + 1, game.end(), game.moves().len());
    }
    println!("won {won} of {games}");
}
