//! Plays a game of random moves and prints it.
//!
//! ```sh
//! cargo run --release --example random_game -- 7       # the seed
//! ```

use doushouqi::game::Game;
use doushouqi::game::random::Random;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let seed = std::env::args().nth(1).map_or(Ok(1), |seed| seed.parse())?;
    let mut random = Random::new(seed);
    let mut game = Game::default();
    while let Some(&mv) = random.choose(&game.legal_moves()) {
        print!("{} ", mv.notation(game.position()));
        game.play(mv)?;
    }
    print!("\n\n{}", game.position().to_picture());
    match game.end().and_then(|end| end.winner()) {
        Some(color) => println!("{color} wins after {} plies.", game.moves().len()),
        None => println!("A draw after {} plies: {:?}.", game.moves().len(), game.end()),
    }
    Ok(())
}
