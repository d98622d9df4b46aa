//! FEN and moves as text.

use super::corners::CORNERS;
use super::{options, position, random_position};
use doushouqi::board::{
    Animal, Color, Fen, Move, ParseFenError, ParseMoveError, Piece, Position, PositionError, Rules, Square, UciMove,
    fen,
};
use rand_core::SeedableRng;
use rand_pcg::Pcg64;

#[test]
fn fen_round_trips() {
    let mut fens: Vec<String> = CORNERS.iter().map(|&(fen, _, _)| fen.to_owned()).collect();
    fens.push(fen::START.to_owned());
    const SEED: u64 = 63;
    println!("seed {SEED}");
    let mut random = Pcg64::seed_from_u64(SEED);
    fens.extend((0..2_000).map(|_| random_position(&mut random).to_fen()));
    for text in fens {
        let read = position(&text);
        assert_eq!(read.to_fen(), text);
        assert_eq!(text.parse(), Ok(read.clone()));
        assert_eq!(format!("{read:?}"), text);
        assert_eq!(Position::from_setup(&read.to_setup()), Ok(read.clone()));
        assert_eq!(position(&format!("  {text}\t\n")), read);
        assert_eq!(read.pieces().count(), read.occupied().len());
        let [white, black] = Color::ALL.map(|color| read.side(color).len());
        assert_eq!(white + black, read.occupied().len());
    }
    assert_eq!(Position::start().to_fen(), "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w");
}

#[test]
fn fen_says_the_same_in_other_spellings() {
    let plain = position("7/7/3e3/7/7/7/3E3/7/7 w");
    for text in ["7/7/12e3/7/7/7/111E111/7/34 w", " 7/7/3e3/7/7/7/3E3/7/7\tw "] {
        assert_eq!(position(text), plain, "{text}");
    }
    // The counters of chess programs, for either side, with and without the fields for castling and en passant.
    for turn in ["w", "b"] {
        let plain = format!("7/7/3e3/7/7/7/3E3/7/7 {turn}");
        for (counters, clock) in [("0 1", 0), ("- - 0 1", 0), ("- -", 0), ("17 40", 17), ("- - 17 40", 17)] {
            let text = format!("{plain} {counters}");
            assert_eq!(text.parse(), Ok(Fen { position: position(&plain), halfmove_clock: clock }), "{text}");
            assert_eq!(Position::from_fen(&text).is_ok(), clock == 0, "{text}");
        }
    }
}

#[test]
fn fen_errors() {
    use ParseFenError::*;
    let piece = |letter| Piece::from_letter(letter).unwrap();
    let cases: [(&str, ParseFenError, &str); 34] = [
        ("", Empty, "the FEN is empty"),
        (" \t\n", Empty, "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w"),
        ("7/7 w", RankCount { found: 2 }, "9 ranks separated by '/'; this one has 2"),
        ("7/7/7/7/7/7/7/7/7/C6 w", RankCount { found: 10 }, "has 10"),
        ("7/7/7/7/7/7/7/7/C5 w", RankLength { rank: 1, found: 6 }, "rank 1 fills 6 squares instead of 7"),
        ("7/C7/7/7/7/7/7/7/7 w", RankLength { rank: 8, found: 8 }, "rank 8 fills 8 squares"),
        ("7//7/7/7/7/7/7/C6 w", RankLength { rank: 8, found: 0 }, "rank 8 fills 0 squares"),
        ("RRRRRRRR/7/7/7/7/7/7/7/7 w", RankLength { rank: 9, found: 8 }, "rank 9 fills 8 squares"),
        ("7/7/3x3/7/7/7/7/7/7 w", UnknownPiece { rank: 7, found: 'x' }, "rank 7 contains 'x'"),
        ("7/7/8/7/7/7/7/7/7 w", UnknownPiece { rank: 7, found: '8' }, "RCWDPTLE rcwdptle nor a digit 1 to 7"),
        ("7/7/07/7/7/7/7/7/7 w", UnknownPiece { rank: 7, found: '0' }, "rank 7 contains '0'"),
        ("7/7/7/7/7/7/7/7/象6 w", UnknownPiece { rank: 1, found: '象' }, "rank 1 contains '象'"),
        ("7/7/7/7/7/7/7/7/C6", MissingTurn, "the side to move is missing after the board: write w or b"),
        ("C", MissingTurn, "write w or b"),
        ("7/7/7/7/7/7/7/7/C6 W", UnknownTurn { found: "W".into(), white: 'w' }, "w or b, not \"W\""),
        ("7/7/7/7/7/7/7/7/C6 white", UnknownTurn { found: "white".into(), white: 'w' }, "not \"white\""),
        (
            "7/7/7/7/7/7/7/7/C6 r",
            Dialect { found: "r".into(), dialect: "mistboard" },
            "convert --from mistboard --to dsq",
        ),
        ("7/7/7/7/7/7/7/j6/C6 w", Dialect { found: "j".into(), dialect: "katago" }, "convert --from katago --to dsq"),
        ("7/7/7/7/7/7/7/7/M6 b", Dialect { found: "M".into(), dialect: "animalcraft" }, "\"M\" is the notation of"),
        ("7/7/7/7/7/7/7/7/C6 w garbage", TrailingText { found: "garbage".into() }, "found \"garbage\""),
        ("7/7/7/7/7/7/7/7/C6 w -", TrailingText { found: "-".into() }, "found \"-\""),
        ("7/7/7/7/7/7/7/7/C6 w KQkq - 0 1", TrailingText { found: "0".into() }, "found \"0\""),
        ("7/7/7/7/7/7/7/7/C6 w 0 1 2", TrailingText { found: "2".into() }, "found \"2\""),
        ("7/7/7/7/7/7/7/7/C6 w 0 x", MoveNumber { found: "x".into() }, "the move number is a number from 0 to"),
        ("7/7/7/7/7/7/7/7/C6 w 17 1", UnexpectedClock { found: "17".into() }, "a halfmove clock (17) belongs only"),
        ("7/7/7/7/7/7/7/7/C6 w 17", UnexpectedClock { found: "17".into() }, "a halfmove clock (17) belongs only"),
        ("7/7/7/7/7/7/7/7/7 w", Position(PositionError::NoPieces), "there is no piece on the board"),
        (
            "7/7/C6/7/7/7/7/7/C6 w",
            Position(PositionError::Duplicate { piece: piece('C'), first: Square::A1, second: Square::A7 }),
            "two white cats, on a1 and a7; a side has at most one of each animal",
        ),
        (
            "7/7/7/7/1rr4/7/7/7/7 w",
            Position(PositionError::Duplicate { piece: piece('r'), first: Square::B5, second: Square::C5 }),
            "two black rats, on b5 and c5",
        ),
        (
            "7/7/7/7/1e5/7/7/7/C6 w",
            Position(PositionError::InWater { piece: piece('e'), square: Square::B5 }),
            "the black elephant on b5 stands in the water, where only a rat may be",
        ),
        (
            "7/7/7/7/7/5L1/7/7/c6 w",
            Position(PositionError::InWater { piece: piece('L'), square: Square::F4 }),
            "the white lion on f4 stands in the water",
        ),
        (
            "7/7/7/7/7/7/7/7/3T2l w",
            Position(PositionError::InOwnDen { piece: piece('T'), square: Square::D1 }),
            "the white tiger on d1 stands in its own den, which it may never enter",
        ),
        (
            "3r3/7/7/7/7/7/7/7/6L w",
            Position(PositionError::InOwnDen { piece: piece('r'), square: Square::D9 }),
            "the black rat on d9 stands in its own den",
        ),
        (
            "3C3/7/7/7/7/7/7/7/3l3 b",
            Position(PositionError::BothDens),
            "both dens are occupied; the game ends when the first is entered",
        ),
    ];
    for (text, error, message) in cases {
        assert_eq!(doushouqi::board::Position::from_fen(text), Err(error.clone()), "{text:?}");
        assert!(error.to_string().contains(message), "{text:?}: {error} lacks {message:?}");
    }
}

#[test]
fn moves_are_read_in_both_notations() {
    const SEED: u64 = 7;
    println!("seed {SEED}");
    let mut random = Pcg64::seed_from_u64(SEED);
    let rules = Rules::default();
    for _ in 0..500 {
        let position = random_position(&mut random);
        for &mv in &position.moves(&rules) {
            let notation = mv.notation(&position);
            let coordinates = mv.to_string();
            assert_eq!(coordinates, format!("{}{}", mv.from, mv.to));
            let lower = format!("{}{}", mv.animal.letter().to_ascii_lowercase(), &notation[1..]);
            let unmarked = notation.replace('x', "");
            for text in [&notation, &coordinates, &lower, &unmarked] {
                assert_eq!(Move::parse(text, &position, &rules), Ok(mv), "{text} in {position:?}");
            }
        }
    }
}

#[test]
fn uci_moves_are_texts_without_a_position() {
    for from in Square::all() {
        for to in Square::all() {
            let mv = UciMove { from, to };
            assert_eq!(mv.to_string(), format!("{from}{to}"));
            assert_eq!(mv.to_string().parse(), Ok(mv));
        }
    }
    for text in ["", "a3", "a3b", "a3b33", "A3B3", "a3-b3", "a3 b3", "h3b3", "a0b3", "Eb3", "éa3", "aé3"] {
        let error = text.parse::<UciMove>().unwrap_err();
        assert_eq!(error.to_string(), format!("{text:?} is not a move: expected two squares, as in a3b3"));
    }
    let start = Position::start();
    for mv in start.moves(&Rules::default()).iter() {
        assert_eq!(UciMove::from(*mv).to_move(&start), Ok(*mv));
        // The piece on the square is the opponent's.
        let text = UciMove::from(*mv).to_string();
        assert_eq!(UciMove::from(*mv).to_move(&start.pass()), Err(ParseMoveError::NoPiece { text }));
    }
    let far = UciMove { from: Square::A3, to: Square::D5 }.to_move(&start).unwrap();
    assert_eq!((far.animal, start.is_legal(far, &Rules::default())), (Animal::Elephant, false));
}

#[test]
fn move_errors() {
    use ParseMoveError::*;
    let board = position("7/7/7/7/7/7/3Er2/7/2C4 w");
    let malformed = |text: &str| Malformed { text: text.into() };
    let no_piece = |text: &str| NoPiece { text: text.into() };
    let illegal = |text: &str| Illegal { text: text.into() };
    let cases: [(ParseMoveError, &str); 18] = [
        (malformed(""), "\"\" is not a move: write an animal and a square (Eb3, Txb1) or two squares (a3b3)"),
        (malformed("E"), "is not a move"),
        (malformed("d4"), "is not a move"),
        (malformed("Ed0"), "is not a move"),
        (malformed("Eh4"), "is not a move"),
        (malformed("Xd4"), "is not a move"),
        (malformed("E-d4"), "is not a move"),
        (malformed("Exxe3"), "is not a move"),
        (malformed("Ed4 "), "is not a move"),
        (malformed("d3-d4"), "\"d3-d4\" is not a move"),
        (malformed("éd4"), "\"éd4\" is not a move"),
        (no_piece("Ld4"), "\"Ld4\": the side to move has no such piece"),
        (no_piece("Rd4"), "the side to move has no such piece"),
        (no_piece("e3e4"), "\"e3e4\": the side to move has no such piece"),
        (no_piece("a1a2"), "the side to move has no such piece"),
        (illegal("Ed5"), "\"Ed5\" is not legal here"),
        (illegal("d3d3"), "\"d3d3\" is not legal here"),
        (NotACapture { text: "Exd4".into(), to: Square::D4 }, "\"Exd4\" is marked as a capture, but d4 is empty"),
    ];
    for (error, message) in cases {
        let (Malformed { text } | NoPiece { text } | Illegal { text } | NotACapture { text, .. }) = &error else {
            panic!("{error}")
        };
        assert_eq!(Move::parse(text, &board, &Rules::default()), Err(error.clone()));
        assert!(error.to_string().contains(message), "{error} lacks {message:?}");
    }
    let no = Rules::new(options("elephant-takes-rat=no"));
    assert!(Move::parse("Exe3", &board, &Rules::default()).is_ok());
    assert_eq!(Move::parse("Exe3", &board, &no), Err(illegal("Exe3")));
    // Into the own den.
    assert_eq!(Move::parse("Cd1", &board, &no), Err(illegal("Cd1")));
    // A finished game.
    let finished = position("3C3/7/7/7/7/7/7/7/2l4 b");
    assert_eq!(Move::parse("Ld1", &finished, &no), Err(illegal("Ld1")));
}
