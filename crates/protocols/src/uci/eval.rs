//! The static evaluation as text.

use doushouqi::board::{Color, Position};
use doushouqi::game::Game;
use doushouqi::search::{Evaluation, burnett};

/// The static evaluation of the position from White's view, and how it changes without each piece.
pub(super) fn trace(game: &Game, evaluation: &Evaluation) -> String {
    let network = evaluation.network(game.rules().options());
    let of = |position: &Position| match network {
        None => burnett::evaluate(position),
        Some(network) if position.turn() == Color::White => network.evaluate(position),
        Some(network) => -network.evaluate(position),
    };
    let position = game.position();
    let whole = of(position);
    let mut text = "piece  square  part\n".to_owned();
    for (piece, square) in position.pieces() {
        let mut rest = position.to_setup();
        rest.squares[square.index()] = None;
        // Without its last piece a side has lost.
        let part = Position::from_setup(&rest).ok().filter(|rest| rest.winner().is_none());
        let part = part.map_or_else(|| "-".to_owned(), |rest| cats(whole - of(&rest)));
        text.push_str(&format!("{:5}  {:6}  {part:>6}\n", piece.letter(), square.to_string()));
    }
    let name = network.map_or_else(|| "Burnett's tables".to_owned(), |network| format!("network {network}"));
    let end = if game.end().is_some() { "; the game is over" } else { "" };
    format!("{text}Static evaluation {} (White's view, in cats; {name}{end})", cats(whole))
}

/// Centipawns as cats, with a sign.
fn cats(cp: i32) -> String {
    format!("{:+.2}", f64::from(cp) / 100.0)
}
