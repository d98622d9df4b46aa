//! Random games with everything that a text of them may contain.

use doushouqi::board::{Fen, Position, RuleOptions, Rules};
use doushouqi::game::random::Random;
use doushouqi::game::{Game, Record, Variation};

const TEXTS: [&str; 6] = ["", "", "good", "a } b \\ {\"", "; 1-0 (no) [Red]", "two\nlines\r象\u{2028}"];

/// At most so many moves after a game, with assessments, comments and variations.
fn random_line(random: &mut Random, game: Game, plies: usize, depth: usize) -> Record {
    let mut record = Record::new(game);
    for ply in 0..plies {
        let first = record.game.moves().len();
        let Some(mv) = random.choose(&record.game.legal_moves()).copied() else { break };
        let mut others = record.game.legal_moves().to_vec();
        others.retain(|&other| other != mv);
        while depth > 0 && random.below(6) == 0 {
            let Some(i) = (!others.is_empty()).then(|| random.below(others.len())) else { break };
            let mut game = record.game.clone();
            game.play(others.swap_remove(i)).expect("a legal move");
            let plies = random.below(4);
            let mut other = random_line(random, game, plies, depth - 1);
            other.nags.insert(0, [1].into());
            other.comments.insert(0, String::new());
            other.variations.iter_mut().for_each(|inner| inner.ply += 1);
            let Record { game, nags, comments, variations, .. } = other;
            let moves = game.moves()[first..].to_vec();
            record.variations.push(Variation { ply, moves, nags, comments, variations });
        }
        record.game.play(mv).expect("a legal move");
        record.nags.push((0..random.below(3)).map(|_| random.below(256) as u8).collect());
        record.comments.push((*random.choose(&TEXTS).expect("texts")).to_owned());
    }
    record
}

/// The annotated game of a number. Alternatives to a move are different moves, as in a tree.
pub fn annotated(number: usize) -> Record {
    let mut random = Random::numbered(51, number as u64);
    let rules = Rules::new(RuleOptions::PRESETS[number % RuleOptions::PRESETS.len()].1);
    let position = if number.is_multiple_of(3) { Position::start() } else { random.position(2 + number % 9, &rules) };
    let fen = Fen { position, halfmove_clock: 7 * (number % 2) as u32 };
    let game = Game::from_fen(fen, rules, [Some(100), None, Some(12)][number % 3]);
    let plies = random.below(20);
    let mut record = random_line(&mut random, game, plies, 3);
    record.comment = (*random.choose(&TEXTS).expect("texts")).to_owned();
    record.white = (*random.choose(&TEXTS).expect("texts")).to_owned();
    record.date = number.is_multiple_of(2).then(|| "2026.02.03".to_owned());
    record.tags = vec![("Event".to_owned(), (*random.choose(&TEXTS).expect("texts")).to_owned())];
    if record.game.end().is_none() {
        let ends = [("*", None), ("1-0", Some("time")), ("0-1", Some("adjudication")), ("1/2-1/2", None)];
        let (result, termination) = ends[number % 4];
        record.conclude(result, termination).expect("the moves allow any result");
    }
    record
}
