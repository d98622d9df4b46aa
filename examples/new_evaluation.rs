//! The engine with a custom evaluation against the built-in evaluation, at equal nodes.
//!
//! ```sh
//! cargo run --release --example new_evaluation
//! ```

use doushouqi::board::geometry::DEN;
use doushouqi::board::{Animal, Piece, Rules, Square};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::search::{Engine, EngineOptions, EvalContext, Evaluate, Evaluation, Limits};

/// Pieces, and their distance from the enemy's den. A table of values for each piece and square is prepared once.
struct Advance {
    values: Vec<[i32; Square::COUNT]>,
}

impl Advance {
    fn new() -> Advance {
        let value = |animal| match animal {
            Animal::Rat => 500,
            Animal::Lion | Animal::Tiger => 800,
            other => 100 * other.index() as i32,
        };
        let squares = |animal| {
            let mut values = [0; Square::COUNT];
            for square in Square::all() {
                values[square.index()] = value(animal) + 20 * (12 - square.distance(DEN.black) as i32);
            }
            values
        };
        Advance { values: Animal::ALL.map(squares).to_vec() }
    }
}

impl Evaluate for Advance {
    fn evaluate(&mut self, context: &EvalContext<'_>) -> i32 {
        let value = |piece: Piece, square: Square| {
            // The tables are White's; Black sees the board rotated.
            let square = if piece.color == doushouqi::board::Color::White { square } else { square.rotate() };
            self.values[piece.animal.index()][square.index()]
        };
        let sign = |piece: Piece| if piece.color == context.turn() { 1 } else { -1 };
        context.position().pieces().map(|(piece, square)| sign(piece) * value(piece, square)).sum()
    }
}

fn main() {
    let limits = Limits::default().nodes(2000);
    let own = Evaluation::custom(|_rules| Box::new(Advance::new()));
    let mut engines =
        [own, Evaluation::Default].map(|e| Engine::new(EngineOptions::default().hash_mib(4).evaluation(e)));
    let mut points = 0.0;
    let games = 10;
    for number in 0..games {
        // Each opening twice, with the colours exchanged.
        let mut game = Game::new(Default::default(), Rules::default(), Some(Game::NO_CAPTURE_LIMIT));
        Random::new(number / 2).play(&mut game, 8);
        while game.end().is_none() {
            let player = (game.position().turn() as u64 ^ number) % 2;
            let found = engines[player as usize].search(&game, &limits).run();
            game.play(found.best().expect("the game is not over")).expect("a legal move");
        }
        let winner = game.end().and_then(|end| end.winner()).map(|color| (color as u64 ^ number) % 2);
        points += winner.map_or(0.5, |winner| if winner == 0 { 1.0 } else { 0.0 });
        println!("game {}: {:?} after {} plies", number + 1, game.end(), game.moves().len());
    }
    println!("{points} of {games} points");
}
