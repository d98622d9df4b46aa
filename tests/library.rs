//! What a program that uses the library relies on: rules, moves and games without any feature, perft, tables in a folder and
//! a search with theirs.

use doushouqi::board::{Position, Rules};
use doushouqi::game::Game;

fn position(fen: &str) -> Position {
    Position::from_fen(fen).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

/// The lines of `depth` plies, one move after the other.
fn lines(position: &Position, rules: &Rules, depth: u32) -> usize {
    let moves = position.moves(rules);
    if depth == 1 { moves.len() } else { moves.iter().map(|&mv| lines(&position.make(mv), rules, depth - 1)).sum() }
}

#[test]
fn rules_need_no_feature() {
    let start = Position::start();
    assert_eq!([1, 2, 3].map(|depth| lines(&start, &Rules::default(), depth)), [24, 576, 12_240]);
    assert_eq!(position(&start.to_fen()), start);
    let mv = doushouqi::board::Move::parse("Eb3", &start, &Rules::default()).unwrap();
    assert_eq!(start.make(mv).to_fen(), "l5t/1d3c1/r1p1w1e/7/7/7/1EW1P1R/1C3D1/T5L b");
}

#[cfg(feature = "perft")]
#[test]
fn perft_counts() {
    use doushouqi::perft::{Perft, PerftMode};
    let rules = Rules::default();
    assert_eq!(Perft::new(&rules, PerftMode::Expand).count(&Position::start(), 6), 100_459_989);
    assert_eq!(Perft::new(&rules, PerftMode::Leaf).count(&Position::start(), 5), 5_098_477);
}

#[cfg(feature = "search")]
#[test]
fn tables_and_the_search_agree() {
    use doushouqi::board::RuleOptions;
    use doushouqi::search::{Engine, EngineOptions, Limits};
    use doushouqi::tablebase::{CellValue, Generate, Options, Solver, TableSet};
    let dir = tempfile::tempdir().unwrap();
    let job = Generate { pieces: 2, ..Generate::new(dir.path(), RuleOptions::PAPER) };
    job.run(&mut Solver::new(&job.rules, job.pieces, Options::default()), &|_| ()).unwrap();
    let tables = TableSet::open(dir.path()).unwrap().prober(&job.rules).unwrap();
    let mut engine = Engine::new(EngineOptions { hash_mib: 16, ..EngineOptions::default() });
    for (fen, plies) in [("7/3L3/7/7/7/7/7/7/r6 w", 1), ("7/7/7/7/3L3/7/e6/7/7 w", 7), ("7/7/7/7/L6/6e/7/7/7 w", 9)] {
        assert_eq!(tables.cell_value(&position(fen)).unwrap(), Some(CellValue::Decided(plies)), "{fen}");
        let game = Game::new(position(fen), Rules::default(), None);
        let limits = Limits { depth: Some(12), ..Limits::default() };
        let found = engine.search(&game, &limits).run();
        assert_eq!(found.lines[0].score.win_in(), Some(plies.into()), "{fen}");
    }
}

#[test]
fn a_game_goes_to_its_end() {
    let mut game = Game::new(position("7/3L3/7/7/7/7/7/7/r6 w"), Rules::default(), Some(Game::NO_CAPTURE_LIMIT));
    let mv = game.parse("Ld9").unwrap();
    game.play(mv).unwrap();
    assert!(game.legal_moves().is_empty());
    assert_eq!(game.end().and_then(|end| end.winner()).map(|color| color.letter()), Some('w'));
}
