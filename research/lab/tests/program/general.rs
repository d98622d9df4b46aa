//! Boards of any size: agreement with the bitboards on the standard board, texts and their errors, exact values.

use crate::program;

use doushouqi::board::{Animal, Color, Piece, Position, RuleOptions, Rules, Setup};
use doushouqi::tablebase::{CellValue, Options, Solver};
use hardness::general::{
    Board, BoardError, GeneralPosition, GeneralSolveError, GeneralValue, SMALL, perft, placements, solve,
};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeSet;
use std::sync::Arc;

fn parse(text: &str) -> GeneralPosition {
    GeneralPosition::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn error(text: &str) -> String {
    GeneralPosition::parse(text).expect_err("no board").to_string()
}

/// Moves as pairs of names.
fn names(position: &GeneralPosition, rules: &RuleOptions) -> BTreeSet<(String, String)> {
    let board = position.board();
    position.moves(rules).iter().map(|mv| (board.name(mv.from), board.name(mv.to))).collect()
}

fn compare(position: &Position, options: &RuleOptions) {
    let rules = Rules::new(*options);
    let general = GeneralPosition::from_standard(position);
    let fast: BTreeSet<(String, String)> =
        position.moves(&rules).iter().map(|mv| (mv.from.to_string(), mv.to.to_string())).collect();
    assert_eq!(names(&general, options), fast, "{position:?} under {options}");
    assert_eq!(general.winner(), position.winner(), "{position:?}");
    assert_eq!(general.outcome(options), position.outcome(&rules), "{position:?} under {options}");
}

/// A position of random pieces on allowed squares, with at least one on each side.
fn random_position(random: &mut Pcg64) -> Position {
    loop {
        let mut below = |n: u64| random.next_u64() % n;
        let mut setup = Setup::empty(if below(2) == 0 { Color::White } else { Color::Black });
        let keep = 1 + below(8);
        for color in Color::ALL {
            for animal in Animal::ALL {
                let square = below(63) as usize;
                if below(8) < keep && setup.squares[square].is_none() {
                    let before = setup.clone();
                    setup.squares[square] = Some(Piece { color, animal });
                    if Position::from_setup(&setup).is_err() {
                        setup = before;
                    }
                }
            }
        }
        if let Ok(position) = Position::from_setup(&setup) {
            return position;
        }
    }
}

#[test]
fn perft_of_the_standard_board() {
    let start = GeneralPosition::from_standard(&Position::start());
    let counts: Vec<u64> = (0..=4).map(|depth| perft(&start, &RuleOptions::PAPER, depth)).collect();
    assert_eq!(counts, [1, 24, 576, 12_240, 260_100]);
}

#[test]
fn moves_agree_with_the_bitboards_under_all_kinds_of_rules() {
    for options in RuleOptions::PRESETS.into_iter().map(|(_, options)| options).chain(RuleOptions::single_changes()) {
        let mut random = Pcg64::seed_from_u64(17);
        for _ in 0..200 {
            let position = random_position(&mut random);
            compare(&position, &options);
            let rules = Rules::new(options);
            if let Some(mv) = position.moves(&rules).first() {
                compare(&position.make(*mv), &options);
            }
        }
        println!("{options}: 200 positions, seed 17");
    }
}

#[test]
fn a_move_taken_back_leaves_no_trace() {
    let start = parse("lcv%v\nr.dee\n.~~~.\nE.R.C\nE^#^L\n");
    let mut random = Pcg64::seed_from_u64(3);
    let mut position = start.clone();
    let mut undone = Vec::new();
    for _ in 0..200 {
        let moves = position.moves(&RuleOptions::PAPER);
        if moves.is_empty() {
            break;
        }
        undone.push(position.make(moves[random.next_u64() as usize % moves.len()]));
    }
    assert!(undone.len() > 5);
    while let Some(undo) = undone.pop() {
        position.undo(undo);
    }
    assert_eq!(position, start);
    assert_eq!(names(&position, &RuleOptions::PAPER), names(&start, &RuleOptions::PAPER));
}

#[test]
fn text_and_fen_come_back() {
    for text in SMALL.map(|small| small.text) {
        let position = parse(text);
        assert_eq!(parse(&position.to_text()), position);
        assert_eq!(GeneralPosition::from_fen(&position.to_fen()), Ok(position));
    }
    let rat = parse("~r~\n...\nE.e\n\nunder: b3=~ a1=^\nturn: b\n");
    assert_eq!(rat.to_fen(), "3x3 ~~~/3/^2 1r1/3/E1e b");
    assert_eq!(GeneralPosition::from_fen(&rat.to_fen()), Ok(rat));
    let start = format!("7x9 standard {}", doushouqi::board::fen::START);
    assert_eq!(GeneralPosition::from_fen(&start), Ok(GeneralPosition::from_standard(&Position::start())));
}

#[test]
fn names_of_files_go_on_after_z() {
    let board = GeneralPosition::from_fen("30x1 30 E28e w").unwrap().board().clone();
    for place in board.places() {
        assert_eq!(board.place(&board.name(place)), Some(place));
    }
    assert_eq!(board.name(board.at(0, 26).unwrap()), "aa1");
    for wrong in ["", "a", "1", "a0", "a2", "ae1", "A1", "a01", "zzzzzzzzzz1", "a99999999999999999999"] {
        assert_eq!(board.place(wrong), None, "{wrong}");
    }
}

#[test]
fn errors_say_line_and_column() {
    assert_eq!(
        GeneralPosition::parse("; a comment\n...\nE.\n"),
        Err(BoardError::UnequalLine { line: 3, found: 2, first: 2, expected: 3 })
    );
    assert!(error("E#\n.#\n").contains("line 2, column 2: a second den of White; the first is in line 1, column 2"));
    assert!(error(".E\nd.\n\nunder: b2=~\n").contains("line 1, column 2: the white elephant stands in the water"));
    assert!(error(".E\n\nunder: b1=#\n").contains("stands in its own den"));
    assert_eq!(GeneralPosition::parse("...\n"), Err(BoardError::NoPieces));
    assert_eq!(GeneralPosition::parse(" \n"), Err(BoardError::Empty));
    assert_eq!(GeneralPosition::parse(""), Err(BoardError::Empty));
    assert!(error("E?\n").contains("line 1, column 2: '?' is not a square"));
    assert!(error("Ee\n\nturn: x\n").contains("line 3"));
    assert!(error("Ee\n\nnonsense: x\n").contains("line 3"));
    assert!(error("Ee\n\nunder: c1=^\n").contains("c1=^"));
    assert!(error("eE\n\nunder: a1=# b1=%\n").contains("both dens"));
}

#[test]
fn hostile_sizes_are_refused() {
    assert!(matches!(GeneralPosition::parse(&".".repeat(513)), Err(BoardError::TooLarge { .. })));
    assert!(matches!(GeneralPosition::parse(&"E\n".repeat(513)), Err(BoardError::TooLarge { .. })));
    assert!(GeneralPosition::parse(&format!("{}\n", "E".repeat(512)).repeat(512)).is_ok());
    for fen in [
        "513x1 513 E w",
        "0x1 1 E w",
        "99999999999999999999x9 1 E w",
        "3x1 99999999999999999999999 E2 w",
        "3x1 3 E99999999999999999999 w",
        "3x2 3 E2 w",
        "3x1 3 E2",
        "3x1 3 E2 x",
        "3x1 standard E2 w",
        "3x1 3 Q2 w",
    ] {
        assert!(GeneralPosition::from_fen(fen).is_err(), "{fen}");
    }
}

#[test]
fn two_piece_tables_are_those_of_the_fast_solver() {
    // The animals include swimmers, leapers and others; the longer test has every material.
    two_pieces("RTE", "RLE", RuleOptions::PAPER);
}

#[test]
#[ignore = "some minutes: ./test general:: -- --ignored"]
fn all_two_piece_tables_are_those_of_the_fast_solver() {
    for (_, options) in RuleOptions::PRESETS {
        two_pieces("RCWDPTLE", "RCWDPTLE", options);
    }
}

fn two_pieces(white: &str, black: &str, options: RuleOptions) {
    let board = Arc::new(Board::standard());
    let mut solver = Solver::new(&options, 2, Options::default());
    solver.solve_level(2, true, &|_, _| {}).unwrap();
    for white in white.chars() {
        for black in black.chars() {
            let name = format!("{white}v{black}");
            let pieces = [(Color::White, white), (Color::Black, black)]
                .map(|(color, letter)| Piece { color, animal: Animal::from_letter(letter).unwrap() });
            let starts = placements(&board, &pieces);
            let solution = solve(&starts, &options, 1024).unwrap();
            for start in &starts {
                let fen = start.to_fen();
                let mut fields = fen.split(' ').skip(2);
                let standard = format!("{} {}", fields.next().unwrap(), fields.next().unwrap());
                let expected = match solver.cell_value(&Position::from_fen(&standard).unwrap()) {
                    Some(CellValue::Decided(n)) if n % 2 == 1 => GeneralValue::Win(n.into()),
                    Some(CellValue::Decided(n)) => GeneralValue::Loss(n.into()),
                    Some(CellValue::NoMove) if options.no_move == doushouqi::board::NoMove::Loss => {
                        GeneralValue::Loss(0)
                    }
                    Some(CellValue::Draw | CellValue::NoMove) => GeneralValue::Draw,
                    None => panic!("{standard} is not in the tables"),
                };
                assert_eq!(solution.value(start), Some(expected), "{name}: {standard} under {options}");
            }
        }
    }
}

/// The value of every position by definition: repeated passes over all positions until nothing changes.
#[test]
fn values_are_what_moves_make_of_them() {
    for (text, rules) in [
        (".v%v.\n.r.e.\n.~~~.\n.E.R.\n.^#^.\n", "paper"),
        ("v%v\nd.c\n...\nC.D\n^#^\n", "chinese"),
        ("l~.\n.~e\nL~.\n", "paper,no-move=loss"),
        ("Ee\n.E\n", "paper"),
    ] {
        let start = parse(text);
        let rules: RuleOptions = rules.parse().unwrap();
        let solution = solve(std::slice::from_ref(&start), &rules, 256).unwrap();
        let mut open = vec![start.clone()];
        let mut seen: BTreeSet<String> = open.iter().map(GeneralPosition::to_fen).collect();
        while let Some(mut position) = open.pop() {
            let value = solution.value(&position).expect("it was reached");
            let mut next = Vec::new();
            for mv in position.moves(&rules) {
                let undo = position.make(mv);
                next.push(solution.value(&position).expect("it was reached"));
                if seen.len() < 20_000 && seen.insert(position.to_fen()) {
                    open.push(position.clone());
                }
                position.undo(undo);
            }
            assert_eq!(value, by_moves(&position, &next, &rules), "{}", position.to_fen());
        }
        assert!(solution.len() >= seen.len(), "{text}");
    }
}

fn by_moves(position: &GeneralPosition, next: &[GeneralValue], rules: &RuleOptions) -> GeneralValue {
    if let Some(winner) = position.winner() {
        return if winner == position.turn() { GeneralValue::Win(0) } else { GeneralValue::Loss(0) };
    }
    let fastest = next.iter().filter_map(|v| if let GeneralValue::Loss(n) = v { Some(n + 1) } else { None }).min();
    if let Some(plies) = fastest {
        return GeneralValue::Win(plies);
    }
    let slowest: Option<Vec<u32>> =
        next.iter().map(|v| if let GeneralValue::Win(n) = v { Some(n + 1) } else { None }).collect();
    match slowest.and_then(|all| all.into_iter().max()) {
        Some(plies) => GeneralValue::Loss(plies),
        None if next.is_empty() && rules.no_move == doushouqi::board::NoMove::Loss => GeneralValue::Loss(0),
        None => GeneralValue::Draw,
    }
}

#[test]
fn what_is_too_large_is_refused() {
    let full = GeneralPosition::from_standard(&Position::start());
    assert!(matches!(solve(&[full], &RuleOptions::PAPER, 64), Err(GeneralSolveError::TooManyPieces { .. })));
    let six = parse(".v%v.\nr.l.e\n.~~~.\nE.L.R\n.^#^.\n");
    let error = solve(&[six], &RuleOptions::PAPER, 1).err().expect("too large");
    assert!(matches!(error, GeneralSolveError::TooLarge { mebibytes: 1, .. }), "{error}");
    let (one, other) = (parse("E.e\n"), parse("E..e\n"));
    assert_eq!(solve(&[one, other], &RuleOptions::PAPER, 1).err(), Some(GeneralSolveError::Mixed));
}

#[test]
fn the_program_counts_lists_solves_and_shows() {
    let json: serde_json::Value =
        serde_json::from_str(&program::stdout(&["general", "perft", "start", "4", "--json"])).unwrap();
    assert_eq!((json["depth"].as_u64(), json["nodes"].as_u64()), (Some(4), Some(260_100)));
    assert_eq!(program::stdout(&["general", "moves", "start"]).lines().count(), 24);
    let divided = program::stdout(&["general", "perft", "start", "2", "--divide"]);
    assert_eq!(divided.lines().count(), 25);
    let text = program::stdout(&["general", "solve", "3x3 1%1/3/1#1 2e/3/E2 w", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["value"], "win");
    assert_eq!(json["plies"].as_u64(), Some(5));
    let folder = tempfile::tempdir().unwrap();
    let (board, svg) = (folder.path().join("my board.txt"), folder.path().join("board.svg"));
    std::fs::write(&board, SMALL[0].text).unwrap();
    let board = board.to_str().unwrap();
    assert!(program::stdout(&["general", "show", board]).contains("White to move"));
    program::stdout(&["general", "show", board, "--out", svg.to_str().unwrap()]);
    assert!(std::fs::read_to_string(&svg).unwrap().starts_with("<svg"));
    std::fs::write(folder.path().join("bad.txt"), "...\nE.\n").unwrap();
    let output = program::run(&["general", "moves", folder.path().join("bad.txt").to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("line 2"));
    assert_eq!(program::run(&["general", "moves", "/nowhere/at/all"]).status.code(), Some(2));
    assert_eq!(program::run(&["general", "solve", "start"]).status.code(), Some(2));
    let output = program::run(&["general", "small", "--memory", "1MiB"]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), SMALL.len());
    assert!(String::from_utf8_lossy(&output.stderr).contains("boards are not solved"));
}
