//! A program that uses the library: rules, moves and games without any feature, perft, tables in a folder, and a search
//! with these tables.

use doushouqi::board::{Position, Rules};
use doushouqi::game::Game;

fn position(fen: &str) -> Position {
    Position::from_fen(fen).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

/// The number of lines of `depth` plies, counted move by move.
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

#[test]
fn play_rejects_what_make_takes() {
    use doushouqi::board::{Move, PlayError, RuleOptions};
    let (start, rules) = (Position::default(), Rules::default());
    assert_eq!((start.to_fen(), *rules.options()), (Position::start().to_fen(), RuleOptions::PAPER));
    let legal = start.moves(&rules);
    for &mv in &legal {
        assert_eq!(start.play(mv, &rules), Ok(start.make(mv)));
        // The other side is to move, and a move to the piece's own square is illegal.
        assert_eq!(start.make(mv).play(mv, &rules), Err(PlayError::Illegal { mv }));
        let null = Move { to: mv.from, ..mv };
        assert_eq!(start.play(null, &rules), Err(PlayError::Illegal { mv: null }));
    }
    let over = position("3L3/7/7/7/7/7/7/7/r6 b");
    assert_eq!(over.play(legal[0], &rules), Err(PlayError::Over));
}

#[test]
fn names_round_trip() {
    use doushouqi::board::{Animal, Color, File, Piece, Rank, Square};
    use std::fmt::{Debug, Display};
    use std::str::FromStr;
    fn same<T: Display + FromStr<Err: Debug> + PartialEq + Debug>(value: T) {
        assert_eq!(value.to_string().parse::<T>().unwrap(), value);
    }
    Square::all().for_each(same);
    File::ALL.into_iter().for_each(same);
    Rank::ALL.into_iter().for_each(same);
    for color in Color::ALL {
        same(color);
        for animal in Animal::ALL {
            same(animal);
            same(Piece { color, animal });
        }
    }
    let refused = "h".parse::<File>().unwrap_err().to_string();
    assert_eq!(refused, "\"h\" is not a file: expected a letter from a to g");
    assert_eq!("10".parse::<Rank>().unwrap_err().to_string(), "\"10\" is not a rank: expected a digit from 1 to 9");
    assert!("Rat".parse::<Animal>().is_err() && "green rat".parse::<Piece>().is_err() && "".parse::<File>().is_err());
}

/// The feature `tablebase` brings serde_json.
#[cfg(feature = "tablebase")]
#[test]
fn serde_writes_text() {
    use doushouqi::board::{Fen, Move, RuleOptions};
    let start = Position::default();
    let json = serde_json::to_string(&start).unwrap();
    assert_eq!(json, format!("\"{start}\""));
    assert_eq!(serde_json::from_str::<Position>(&json).unwrap(), start);
    assert!(serde_json::from_str::<Position>("\"7/7 w\"").unwrap_err().to_string().contains("9 ranks"));
    let fen: Fen = format!("{start} 17").parse().unwrap();
    assert_eq!(serde_json::from_value::<Fen>(serde_json::to_value(&fen).unwrap()).unwrap(), fen);
    let mv = start.moves(&Rules::default())[0];
    let json = serde_json::to_value(mv).unwrap();
    assert_eq!(json["from"], mv.from.to_string());
    assert_eq!(serde_json::from_value::<Move>(json).unwrap(), mv);
    for (_, options) in RuleOptions::PRESETS {
        let json = serde_json::to_value(options).unwrap();
        assert_eq!(serde_json::from_value::<RuleOptions>(json).unwrap(), options);
    }
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
    let mut engine = Engine::new(EngineOptions::default().hash_mib(16));
    for (fen, plies) in [("7/3L3/7/7/7/7/7/7/r6 w", 1), ("7/7/7/7/3L3/7/e6/7/7 w", 7), ("7/7/7/7/L6/6e/7/7/7 w", 9)] {
        assert_eq!(tables.cell_value(&position(fen)).unwrap(), Some(CellValue::Decided(plies)), "{fen}");
        let game = Game::new(position(fen), Rules::default(), None);
        let limits = Limits::default().depth(12);
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
