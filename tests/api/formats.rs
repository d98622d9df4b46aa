//! Other programs' formats.

use doushouqi::board::{Fen, ParseFenError, Position, RuleOptions, Rules};
use doushouqi::formats::{Dialect, FormatError};
use doushouqi::game::random::Random;
use doushouqi::game::{Game, format_moves, parse_moves};

/// The initial position in each dialect, and the game 1. Eb3 Rb7.
const START: [(Dialect, &str); 4] = [
    (Dialect::Dsq, "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w moves a3b3 a7b7"),
    (Dialect::Mistboard, "t5l/1c3d1/e1w1p1r/7/7/7/R1P1W1E/1D3C1/L5T r 0 1 moves g3f3 g7f7"),
    (Dialect::Katago, "l5t/1d3c1/r1j1w1e/7/7/7/E1W1J1R/1C3D1/T5L w moves A3B3 A7B7"),
    (Dialect::Animalcraft, "L5T/1D3C1/M1P1W1E/7/7/7/e1w1p1m/1c3d1/t5l w moves g7f7 g3f3"),
];

#[test]
fn one_game_is_every_other() {
    let rules = Rules::default();
    for (from, line) in START {
        let (game, number) = parse_moves(from, line, &rules, None).unwrap();
        assert_eq!((game.positions()[0].clone(), game.moves().len()), (Position::start(), 2));
        for (to, expected) in START {
            assert_eq!(format_moves(to, &game, number), expected, "{from} to {to}");
        }
    }
}

/// The counters of chess programs become those of Mistboard.
#[test]
fn counters_of_chess_are_converted() {
    let board = "7/7/3e3/7/7/7/3E3/7/7";
    for counters in ["3 9", "- - 3 9"] {
        for (turn, theirs) in [("w", "r"), ("b", "b")] {
            let fen = Dialect::Dsq.parse_fen(&format!("{board} {turn} {counters}")).unwrap();
            assert_eq!(Dialect::Mistboard.format_fen(&fen), format!("{board} {theirs} 3 9"));
            assert_eq!(Dialect::Dsq.format_fen(&fen), format!("{board} {turn} 3"));
        }
    }
}

/// Every dialect has one syntax of counters, and each may be missing.
#[test]
fn counters_may_be_missing() {
    let board = "7/7/3e3/7/7/7/3E3/7/7";
    for dialect in Dialect::ALL {
        let white = if dialect == Dialect::Mistboard { 'r' } else { 'w' };
        for (counters, clock, number) in [("", 0, 1), (" 0", 0, 1), (" 7", 7, 1), (" 7 9", 7, 9), (" - - 7 9", 7, 9)] {
            let fen = dialect.parse_fen(&format!("{board} {white}{counters}")).unwrap();
            assert_eq!((fen.fen.halfmove_clock, fen.move_number), (clock, number), "{dialect}{counters}");
        }
    }
}

/// A text of another dialect that differs from ours is not misread: the error names the command that reads it.
#[test]
fn other_dialects_are_named() {
    for (dialect, line) in &START[1..] {
        let text = line.split(" moves").next().unwrap();
        for error in [text.parse::<Fen>().unwrap_err(), Position::from_fen(text).unwrap_err()] {
            assert!(
                matches!(error, ParseFenError::Dialect { dialect: named, .. } if named == dialect.as_str()),
                "{text}"
            );
            let remedy = format!("`dsq convert --from {dialect} --to dsq`");
            assert!(error.to_string().contains(&remedy), "{error}");
        }
    }
}

#[test]
fn random_games_come_back_byte_for_byte() {
    let rules = Rules::new(RuleOptions::preset("chinese").unwrap());
    let mut random = Random::new(5);
    for number in 1..=60 {
        let start = random.position(2 + number % 14, &rules);
        let mut game = Game::from_fen(start.into(), rules.clone(), None);
        random.play(&mut game, 40);
        for dialect in Dialect::ALL {
            let move_number = if dialect == Dialect::Mistboard { number as u32 } else { 1 };
            let line = format_moves(dialect, &game, move_number);
            let (read, first) = parse_moves(dialect, &line, &rules, None).unwrap();
            assert_eq!((read.positions(), read.moves(), first), (game.positions(), game.moves(), move_number));
            assert_eq!(format_moves(dialect, &read, first), line);
            assert_eq!(dialect.as_str().parse(), Ok(dialect));
        }
    }
}

#[test]
fn malformed_lines_are_refused() {
    let rules = Rules::default();
    let parse = |dialect, line: &str| parse_moves(dialect, line, &rules, None).map(|_| ());
    let board = "7/7/3e3/7/7/7/3E3/7/7";
    for (dialect, line) in [
        (Dialect::Dsq, String::new()),
        (Dialect::Dsq, board.to_owned()),
        (Dialect::Dsq, format!("{board} r")),
        (Dialect::Dsq, format!("{board} w 0 x")),
        (Dialect::Dsq, format!("{board} w 0 +1")),
        (Dialect::Dsq, format!("{board} w 0 1 2")),
        (Dialect::Dsq, format!("{board} w - 0 1")),
        (Dialect::Dsq, format!("{board} w -3")),
        (Dialect::Mistboard, format!("{board} w 0 1")),
        (Dialect::Mistboard, format!("{board} r 0 x")),
        (Dialect::Katago, "7/7/3p3/7/7/7/3E3/7/7 w".to_owned()),
        (Dialect::Animalcraft, "7/7/3r3/7/7/7/3E3/7/7 w".to_owned()),
        (Dialect::Animalcraft, "7/7 w".to_owned()),
    ] {
        assert!(
            matches!(parse(dialect, &line), Err(FormatError::Fen(_) | FormatError::Letter { .. })),
            "{dialect} {line}"
        );
    }
    for (dialect, mv) in [
        (Dialect::Dsq, "D3D4"),
        (Dialect::Katago, "d3d4"),
        (Dialect::Dsq, "D3d4"),
        (Dialect::Dsq, "d3D4"),
        (Dialect::Dsq, "d"),
        (Dialect::Dsq, "d3d"),
        (Dialect::Dsq, "d3d44"),
        (Dialect::Dsq, "Ed4"),
        (Dialect::Dsq, "d3h4"),
        (Dialect::Dsq, "d3€"),
    ] {
        let line = format!("{board} w moves {mv}");
        assert!(matches!(parse(dialect, &line), Err(FormatError::Move { .. })), "{dialect} {mv}");
    }
    for mv in ["d3d9", "d7d6", "a1a2"] {
        let line = format!("{board} w moves {mv}");
        assert!(matches!(parse(Dialect::Dsq, &line), Err(FormatError::Play { number: 1, .. })), "{mv}");
    }
    assert!("chess".parse::<Dialect>().is_err());
}

/// Positions that occurred before the first one count as repeated until a capture.
#[test]
fn earlier_positions_count() {
    let start: Position = "7/7/3e3/7/7/7/3E3/7/7 w".parse().unwrap();
    let once: Position = "7/7/7/3e3/7/3E3/7/7/7 w".parse().unwrap();
    let game = Game::new(start.clone(), Rules::default(), None);
    let mut seen = game.clone().with_earlier(vec![once.clone(), once]);
    let mut fresh = game;
    for mv in ["d3d4", "d7d6"] {
        for game in [&mut seen, &mut fresh] {
            game.play(game.parse(mv).unwrap()).unwrap();
        }
    }
    assert!(seen.end().is_some() && seen.occurrences() == 3);
    assert!(fresh.end().is_none() && fresh.occurrences() == 1);
}
