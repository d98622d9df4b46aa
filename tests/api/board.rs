//! The public API of the board: moves against the slow twin, and every text that the board reads or writes.

use crate::slow;

use doushouqi::board::{
    Animal, Bitboard, Color, Fen, File, Move, NoMove, Outcome, ParseBitboardError, ParseFenError, ParseMoveError,
    ParseRulesError, ParseSquareError, Piece, Position, PositionError, Rank, Repetition, RuleOption, RuleOptions,
    Rules, Setup, Square, UciMove, fen,
};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::{BTreeSet, HashSet};

fn position(fen: &str) -> Position {
    Position::from_fen(fen).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

fn options(text: &str) -> RuleOptions {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The moves, in the papers' notation, sorted.
fn notations(position: &Position, options: &RuleOptions) -> Vec<String> {
    let mut moves: Vec<String> = position.moves(&Rules::new(*options)).iter().map(|mv| mv.notation(position)).collect();
    moves.sort();
    moves
}

/// Every combination of the values of every option.
fn all_options() -> Vec<RuleOptions> {
    RuleOptions::OPTIONS.iter().fold(vec![RuleOptions::PAPER], |all, option| {
        let each = |rules: RuleOptions| option.values.iter().map(move |value| rules.with(option.key, value).unwrap());
        all.into_iter().flat_map(each).collect()
    })
}

/// The number of rule sets that differ in the options that `f` chooses.
fn combinations(f: impl Fn(&RuleOption) -> bool) -> usize {
    RuleOptions::OPTIONS.iter().filter(|option| f(option)).map(|option| option.values.len()).product()
}

/// Compares the library's moves and ends of games with the slow twin.
fn compare(position: &Position, rules: &Rules) {
    let options = rules.options();
    let board = slow::board_of(position);
    let here = || format!("{position:?} under {options}");
    let moves = position.moves(rules);
    let fast: BTreeSet<(Square, Square)> = moves.iter().map(|mv| (mv.from, mv.to)).collect();
    assert_eq!(fast.len(), moves.len(), "{}: a move comes twice", here());
    let expected: BTreeSet<(Square, Square)> =
        slow::legal_moves(&board, position.turn(), options).into_iter().collect();
    assert_eq!(fast, expected, "{}", here());
    assert_eq!(position.count_moves(rules) as usize, moves.len(), "{}", here());
    assert_eq!(position.winner(), slow::winner(&board), "{}", here());
    let mut enters = false;
    for mv in &moves {
        let piece = Piece { color: position.turn(), animal: mv.animal };
        assert_eq!(position.piece_at(mv.from), Some(piece), "{}: {mv}", here());
        assert_eq!(mv.is_capture(position), board[mv.to.index()].is_some(), "{}: {mv}", here());
        let next = position.make(*mv);
        assert_eq!(slow::board_of(&next), slow::make(&board, mv.from, mv.to), "{}: {mv}", here());
        assert_eq!(next.turn(), !position.turn(), "{}: {mv}", here());
        assert_eq!(next.key(), next.compute_key(), "{}: {mv}", here());
        enters |= mv.to == if position.turn() == Color::White { Square::D9 } else { Square::D1 };
    }
    assert_eq!(position.can_enter_den(rules), enters, "{}", here());
    let outcome = match slow::winner(&board) {
        Some(color) => Some(Outcome::Win(color)),
        None if !moves.is_empty() => None,
        None if options.no_move == NoMove::Loss => Some(Outcome::Win(!position.turn())),
        None => Some(Outcome::NoMove),
    };
    assert_eq!(position.outcome(rules), outcome, "{}", here());
}

/// A random legal move, or `None`.
fn random_move(position: &Position, rules: &Rules, random: &mut Pcg64) -> Option<Move> {
    let moves = position.moves(rules);
    if moves.is_empty() { None } else { Some(moves[random.next_u64() as usize % moves.len()]) }
}

/// A position of random pieces on allowed squares, most of them near each other.
fn random_position(random: &mut Pcg64) -> Position {
    let mut below = |n: u64| random.next_u64() % n;
    loop {
        let mut setup = Setup::empty(if below(2) == 0 { Color::White } else { Color::Black });
        let keep = 1 + below(8);
        let (lowest, height) = (below(9), 1 + below(9));
        for color in Color::ALL {
            for animal in Animal::ALL {
                if below(8) >= keep {
                    continue;
                }
                let rank = (lowest + below(height)).min(8);
                let square = (rank * 7 + below(7)) as usize;
                let before = setup.clone();
                if setup.squares[square].is_none() {
                    setup.squares[square] = Some(Piece { color, animal });
                }
                match Position::from_setup(&setup) {
                    Ok(_) | Err(PositionError::NoPieces) => {}
                    Err(_) => setup = before,
                }
            }
        }
        if let Ok(position) = Position::from_setup(&setup) {
            return position;
        }
    }
}

fn perft(position: &Position, rules: &Rules, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    position.moves(rules).iter().map(|&mv| perft(&position.make(mv), rules, depth - 1)).sum()
}

#[test]
fn perft_from_the_start() {
    for (depth, leaves) in [(0, 1), (1, 24), (2, 576), (3, 12_240), (4, 260_100)] {
        assert_eq!(perft(&Position::start(), &Rules::default(), depth), leaves, "depth {depth}");
    }
}

#[test]
fn moves_in_playouts_as_the_slow_twin_says() {
    const SEED: u64 = 20_130_614;
    println!("seed {SEED}");
    let mut random = Pcg64::seed_from_u64(SEED);
    for options in slow::presets_and_single_values() {
        let rules = Rules::new(options);
        for _ in 0..20 {
            let mut position = Position::start();
            for _ in 0..300 {
                compare(&position, &rules);
                let Some(mv) = random_move(&position, &rules, &mut random) else { break };
                position = position.make(mv);
            }
        }
    }
}

#[test]
fn moves_of_random_positions_as_the_slow_twin_says() {
    const SEED: u64 = 20_140_828;
    println!("seed {SEED}");
    let mut random = Pcg64::seed_from_u64(SEED);
    let mut count = |rules: &Rules, positions: usize| {
        for _ in 0..positions {
            let mut position = random_position(&mut random);
            compare(&position, rules);
            compare(&position.pass(), rules);
            for _ in 0..4 {
                let Some(mv) = random_move(&position, rules, &mut random) else { break };
                position = position.make(mv);
                compare(&position, rules);
            }
        }
    };
    for options in slow::presets_and_single_values() {
        count(&Rules::new(options), 1_000);
    }
    for options in all_options() {
        count(&Rules::new(options), 30);
    }
}

#[test]
fn perft_of_random_positions_as_the_slow_twin_says() {
    const SEED: u64 = 19_040_513;
    println!("seed {SEED}");
    let mut random = Pcg64::seed_from_u64(SEED);
    for options in slow::presets_and_single_values() {
        let rules = Rules::new(options);
        for _ in 0..12 {
            let position = random_position(&mut random);
            let board = slow::board_of(&position);
            for depth in 0..=3 {
                assert_eq!(
                    perft(&position, &rules, depth),
                    slow::perft(&board, position.turn(), &options, depth),
                    "{position:?} under {options}, depth {depth}"
                );
            }
        }
    }
}

/// Positions in which rule options matter or nearly matter: FEN, rules, and the moves in the papers' notation.
const CORNERS: &[(&str, &str, &[&str])] = &[
    // Elephant and rat adjacent on land.
    ("7/7/7/7/7/7/3Er2/7/7 w", "paper", &["Ec3", "Ed2", "Ed4", "Exe3"]),
    ("7/7/7/7/7/7/3Er2/7/7 w", "elephant-takes-rat=no", &["Ec3", "Ed2", "Ed4"]),
    ("7/7/7/7/7/7/3Er2/7/7 b", "paper", &["Re2", "Re4", "Rf3", "Rxd3"]),
    ("7/7/7/7/7/7/3Er2/7/7 b", "chinese", &["Re2", "Re4", "Rf3", "Rxd3"]),
    // Every piece may capture the rat in the elephant's trap; in the rat's own trap only under traps=any.
    ("7/7/7/7/7/7/3E3/3r3/7 w", "elephant-takes-rat=no", &["Ec3", "Ed4", "Ee3", "Exd2"]),
    ("7/7/7/7/7/7/3E3/3r3/7 w", "elephant-takes-rat=no,traps=none", &["Ec3", "Ed4", "Ee3"]),
    ("7/3r3/3E3/7/7/7/7/7/7 w", "elephant-takes-rat=no", &["Ec7", "Ed6", "Ee7"]),
    ("7/3r3/3E3/7/7/7/7/7/7 w", "elephant-takes-rat=no,traps=any", &["Ec7", "Ed6", "Ee7", "Exd8"]),
    ("7/3r3/3E3/7/7/7/7/7/7 w", "paper", &["Ec7", "Ed6", "Ee7", "Exd8"]),
    ("7/3r3/3E3/7/7/7/7/7/7 w", "bodlaender", &["Ec7", "Ed6", "Ee7"]),
    // A rat in the water beside an elephant on the shore.
    ("7/7/7/7/7/1r5/1E5/7/7 b", "paper", &["Ra4", "Rb5", "Rc4"]),
    ("7/7/7/7/7/1r5/1E5/7/7 b", "shore=none", &["Ra4", "Rb5", "Rc4"]),
    ("7/7/7/7/7/1r5/1E5/7/7 b", "shore=no-exit", &["Ra4", "Rb5", "Rc4"]),
    ("7/7/7/7/7/1r5/1E5/7/7 w", "paper", &["Ea3", "Eb2", "Ec3"]),
    // A rat in the water beside a rat on the shore: out, and in.
    ("7/7/7/7/7/1r5/1R5/7/7 b", "paper", &["Ra4", "Rb5", "Rc4", "Rxb3"]),
    ("7/7/7/7/7/1r5/1R5/7/7 b", "shore=none", &["Ra4", "Rb5", "Rc4"]),
    ("7/7/7/7/7/1r5/1R5/7/7 b", "shore=no-exit", &["Ra4", "Rb5", "Rc4"]),
    ("7/7/7/7/7/1r5/1R5/7/7 w", "paper", &["Ra3", "Rb2", "Rc3", "Rxb4"]),
    ("7/7/7/7/7/1r5/1R5/7/7 w", "shore=none", &["Ra3", "Rb2", "Rc3"]),
    ("7/7/7/7/7/1r5/1R5/7/7 w", "shore=no-exit", &["Ra3", "Rb2", "Rc3", "Rxb4"]),
    // Two rats in the water: no shore between them.
    ("7/7/7/7/1r5/1R5/7/7/7 w", "shore=none", &["Ra4", "Rb3", "Rc4", "Rxb5"]),
    ("7/7/7/7/1r5/1R5/7/7/7 w", "shore=no-exit", &["Ra4", "Rb3", "Rc4", "Rxb5"]),
    // A weak attacker and a strong victim in a trap: the attacker's own, and the victim's own.
    ("7/7/7/7/7/7/3C3/3l3/7 w", "paper", &["Cc3", "Cd4", "Ce3", "Cxd2"]),
    ("7/7/7/7/7/7/3C3/3l3/7 w", "traps=any", &["Cc3", "Cd4", "Ce3", "Cxd2"]),
    ("7/7/7/7/7/7/3C3/3l3/7 w", "traps=none", &["Cc3", "Cd4", "Ce3"]),
    ("7/7/7/7/7/7/3C3/3l3/7 w", "traps=sanctuary", &["Cc3", "Cd4", "Ce3", "Cxd2"]),
    ("7/3l3/3C3/7/7/7/7/7/7 w", "paper", &["Cc7", "Cd6", "Ce7"]),
    ("7/3l3/3C3/7/7/7/7/7/7 w", "traps=any", &["Cc7", "Cd6", "Ce7", "Cxd8"]),
    ("7/3l3/3C3/7/7/7/7/7/7 w", "traps=none", &["Cc7", "Cd6", "Ce7"]),
    ("7/3l3/3C3/7/7/7/7/7/7 w", "traps=sanctuary", &["Cc7", "Cd6", "Ce7"]),
    // A strong attacker and a weak victim in the victim's own trap.
    ("7/3c3/3L3/7/7/7/7/7/7 w", "paper", &["Lc7", "Ld6", "Le7", "Lxd8"]),
    ("7/3c3/3L3/7/7/7/7/7/7 w", "traps=none", &["Lc7", "Ld6", "Le7", "Lxd8"]),
    ("7/3c3/3L3/7/7/7/7/7/7 w", "traps=sanctuary", &["Lc7", "Ld6", "Le7"]),
    // An attacker in the enemy's trap keeps its strength, and can enter the den.
    ("7/3L3/3d3/7/7/7/7/7/7 w", "paper", &["Lc8", "Ld9", "Le8", "Lxd7"]),
    // Nobody enters its own den.
    ("7/7/3c3/7/7/7/7/3L3/7 w", "paper", &["Lc2", "Ld3", "Le2"]),
    ("7/3r3/7/7/7/7/7/3L3/7 b", "paper", &["Rc8", "Rd7", "Re8"]),
    // Dog and wolf.
    ("7/7/7/7/7/7/7/w6/D6 w", "paper", &["Db1", "Dxa2"]),
    ("7/7/7/7/7/7/7/w6/D6 w", "dog-over-wolf=no", &["Db1"]),
    ("7/7/7/7/7/7/7/w6/D6 b", "paper", &["Wa3", "Wb2"]),
    ("7/7/7/7/7/7/7/w6/D6 b", "chinese", &["Wa3", "Wb2", "Wxa1"]),
    // Tiger and lion at a lake, along a file and along a rank.
    ("c6/7/7/7/7/7/1T5/7/7 w", "paper", &["Ta3", "Tb2", "Tb7", "Tc3"]),
    ("c6/7/7/7/7/7/1T5/7/7 w", "tiger-leap=files", &["Ta3", "Tb2", "Tb7", "Tc3"]),
    ("c6/7/7/7/7/7/1T5/7/7 w", "tiger-leap=ranks", &["Ta3", "Tb2", "Tc3"]),
    ("c6/7/7/7/7/7/1T5/7/7 w", "tiger-leap=none", &["Ta3", "Tb2", "Tc3"]),
    ("c6/7/7/7/3T3/7/7/7/7 w", "paper", &["Ta5", "Td4", "Td6", "Tg5"]),
    ("c6/7/7/7/3T3/7/7/7/7 w", "tiger-leap=files", &["Td4", "Td6"]),
    ("c6/7/7/7/3T3/7/7/7/7 w", "tiger-leap=ranks", &["Ta5", "Td4", "Td6", "Tg5"]),
    ("c6/7/7/7/3L3/7/7/7/7 w", "tiger-leap=none", &["La5", "Ld4", "Ld6", "Lg5"]),
    ("c6/7/7/7/3P3/7/7/7/7 w", "paper", &["Pd4", "Pd6"]),
    // Leaps that capture, leaps that may not, and leaps that a piece of the same side stops.
    ("7/7/7/7/w2T2l/7/7/7/7 w", "paper", &["Td4", "Td6", "Txa5"]),
    ("7/7/1l5/7/7/7/1T5/7/7 w", "paper", &["Ta3", "Tb2", "Tc3"]),
    ("7/7/1l5/7/7/7/1T5/7/7 b", "paper", &["La7", "Lb8", "Lc7", "Lxb3"]),
    ("6R/7/7/7/7/7/1l5/7/2c4 b", "paper", &["Cb1", "Cc2", "Cd1", "La3", "Lb2", "Lb7", "Lc3"]),
    ("7/7/7/7/C2T3/7/7/7/6r w", "paper", &["Ca4", "Ca6", "Td4", "Td6", "Tg5"]),
    // A rat on the way: the enemy's, and the leaper's own.
    ("7/7/7/7/1r1L3/7/7/7/7 w", "paper", &["Ld4", "Ld6", "Lg5"]),
    ("7/7/7/7/1r1L3/7/7/7/7 w", "own-rat-blocks=no", &["Ld4", "Ld6", "Lg5"]),
    ("c6/7/7/7/3L1R1/7/7/7/7 w", "paper", &["La5", "Ld4", "Ld6", "Re5", "Rf4", "Rf6", "Rg5"]),
    ("c6/7/7/7/3L1R1/7/7/7/7 w", "own-rat-blocks=no", &["La5", "Ld4", "Ld6", "Lg5", "Re5", "Rf4", "Rf6", "Rg5"]),
    ("7/2l4/2L4/2r4/7/7/7/7/7 w", "paper", &["Lb7", "Ld7", "Lxc8"]),
    ("7/2l4/2L4/7/2r4/7/7/7/7 w", "paper", &["Lb7", "Ld7", "Lxc8"]),
    ("7/2l4/2L4/7/7/2r4/7/7/7 w", "paper", &["Lb7", "Ld7", "Lxc8"]),
    ("7/2l4/2L4/7/7/7/2r4/7/7 w", "paper", &["Lb7", "Ld7", "Lxc3", "Lxc8"]),
    // A panther that leaps along ranks only, over no rat, and may capture there.
    ("c6/7/7/7/3P3/7/7/7/7 w", "paper", &["Pd4", "Pd6"]),
    ("c6/7/7/7/3P3/7/7/7/7 w", "panther-leap=ranks", &["Pa5", "Pd4", "Pd6", "Pg5"]),
    ("c6/7/7/7/7/7/1P5/7/7 w", "panther-leap=ranks", &["Pa3", "Pb2", "Pc3"]),
    ("7/7/7/7/p2D1r1/7/7/7/7 b", "panther-leap=ranks", &["Pa4", "Pa6", "Pxd5", "Re5", "Rf4", "Rf6", "Rg5"]),
    ("7/7/7/7/1R1p3/7/7/7/7 b", "panther-leap=ranks", &["Pd4", "Pd6", "Pg5"]),
    // A rat beside the water stops no leap.
    ("7/7/7/r6/3L3/7/7/7/7 w", "paper", &["La5", "Ld4", "Ld6", "Lg5"]),
    // A rat of the same side in the water does not matter to captures on land.
    ("7/7/7/7/1R5/7/3C3/3e3/7 w", "paper", &["Cc3", "Cd4", "Ce3", "Cxd2", "Ra5", "Rb4", "Rb6", "Rc5"]),
    ("7/7/7/7/1R5/7/3L3/3c3/7 w", "shore=none", &["Lc3", "Ld4", "Le3", "Lxd2", "Ra5", "Rb4", "Rb6", "Rc5"]),
    ("7/3c3/3L3/7/1R5/7/7/7/7 w", "shore=no-exit", &["Lc7", "Ld6", "Le7", "Lxd8", "Ra5", "Rb4", "Rb6", "Rc5"]),
    // Stalemate: stronger pieces shut a side in.
    ("7/7/7/7/7/7/7/d6/Cp5 w", "paper", &[]),
    ("7/7/7/7/7/7/7/d6/Cp5 w", "no-move=loss", &[]),
    // Finished: a den is entered, a side has no piece.
    ("3C3/7/7/7/7/7/7/7/2l4 b", "paper", &[]),
    ("3C3/7/7/7/7/7/7/7/7 w", "paper", &[]),
    ("7/7/7/7/7/7/7/7/3c2L w", "paper", &[]),
    ("7/7/7/7/7/7/7/7/6L w", "paper", &[]),
    ("7/7/7/7/7/7/7/7/6L b", "paper", &[]),
];

#[test]
fn corners() {
    for &(fen, text, expected) in CORNERS {
        assert_eq!(notations(&position(fen), &options(text)), expected, "{fen} under {text}");
    }
}

#[test]
fn corners_under_all_rules_as_the_slow_twin_says() {
    // Repetition does not affect single positions.
    for options in all_options().into_iter().filter(|options| options.repetition == Repetition::Threefold) {
        let rules = Rules::new(options);
        for &(fen, _, _) in CORNERS {
            for position in [position(fen), position(fen).pass()] {
                for position in [position.clone(), position.mirror(), position.swap_colors()] {
                    compare(&position, &rules);
                }
            }
        }
    }
}

#[test]
fn how_games_end() {
    let paper = Rules::default();
    let loss = Rules::new(options("no-move=loss"));
    let stuck = "7/7/7/7/7/7/7/d6/Cp5 w";
    assert_eq!(position(stuck).outcome(&paper), Some(Outcome::NoMove));
    assert_eq!(position(stuck).outcome(&loss), Some(Outcome::Win(Color::Black)));
    assert_eq!(position(stuck).winner(), None);
    assert_eq!(position(stuck).pass().outcome(&paper), None);
    for (fen, winner) in [
        ("3C3/7/7/7/7/7/7/7/2l4 b", Color::White),
        ("3C3/7/7/7/7/7/7/7/2l4 w", Color::White),
        ("3R3/7/7/7/7/7/7/7/7 b", Color::White),
        ("7/7/7/7/7/7/7/7/3e2L w", Color::Black),
        ("7/7/7/7/7/7/7/7/6L w", Color::White),
        ("7/7/7/7/1r5/7/7/7/7 w", Color::Black),
    ] {
        for rules in [&paper, &loss] {
            let position = position(fen);
            assert_eq!(position.winner(), Some(winner), "{fen}");
            assert_eq!(position.outcome(rules), Some(Outcome::Win(winner)), "{fen}");
            assert!(position.moves(rules).is_empty(), "{fen}");
            assert!(!position.can_enter_den(rules), "{fen}");
            assert_eq!(perft(&position, rules, 0), 1, "{fen}");
            assert_eq!(perft(&position, rules, 1), 0, "{fen}");
        }
    }
    assert_eq!(Position::start().outcome(&paper), None);
    let captures_last = position("7/7/7/7/7/7/7/w6/D6 w");
    let mv = Move::parse("Dxa2", &captures_last, &paper).unwrap();
    assert_eq!(captures_last.make(mv).outcome(&paper), Some(Outcome::Win(Color::White)));
}

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
    let cases: [(&str, ParseFenError, &str); 31] = [
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
        ("7/7/7/7/7/7/7/7/C6 W", UnknownTurn { found: "W".into() }, "w or b, not \"W\""),
        ("7/7/7/7/7/7/7/7/C6 white", UnknownTurn { found: "white".into() }, "not \"white\""),
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
        assert_eq!(error.to_string(), format!("{text:?} is not a move: write two squares, as in a3b3"));
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

#[test]
fn squares_are_read_and_written() {
    for square in Square::all() {
        assert_eq!(square.to_string().parse(), Ok(square));
        assert_eq!(Square::new(square.index()), Some(square));
        assert_eq!(Square::from_coords(square.file(), square.rank()), square);
        assert_eq!(square.index(), square.rank().index() * 7 + square.file().index());
    }
    assert_eq!(Square::new(63), None);
    for (i, letter) in "abcdefg".chars().enumerate() {
        let file = File::from_letter(letter).unwrap();
        assert_eq!(
            (File::new(i), file.index(), file.letter(), file.to_string()),
            (Some(file), i, letter, letter.into())
        );
        assert_eq!(file.mirror().index(), 6 - i);
    }
    for (i, digit) in "123456789".chars().enumerate() {
        let rank = Rank::from_digit(digit).unwrap();
        assert_eq!((Rank::new(i), rank.index(), rank.number(), rank.to_string()), (Some(rank), i, i + 1, digit.into()));
        assert_eq!(rank.flip().index(), 8 - i);
    }
    assert_eq!((File::new(7), Rank::new(9)), (None, None));
    assert_eq!(["h", "A", "`"].map(|text| File::from_letter(text.chars().next().unwrap())), [None; 3]);
    assert_eq!(["0", ":", "a"].map(|text| Rank::from_digit(text.chars().next().unwrap())), [None; 3]);
    for text in ["", "a", "a0", "h1", "A1", "a10", "a1 ", "ä1"] {
        let error = text.parse::<Square>().unwrap_err();
        assert_eq!(error, ParseSquareError(text.into()));
        assert!(error.to_string().starts_with(&format!("{text:?} is not a square")), "{error}");
    }
}

#[test]
fn distances_are_single_steps() {
    for a in Square::all() {
        for b in Square::all() {
            let files = a.file().index().abs_diff(b.file().index());
            let ranks = a.rank().index().abs_diff(b.rank().index());
            assert_eq!((a.file().distance(b.file()), a.rank().distance(b.rank())), (files, ranks));
            assert_eq!(a.distance(b), files + ranks);
        }
    }
}

#[test]
fn sets_of_squares_are_as_sets_of_the_library() {
    const SEED: u64 = 31;
    println!("seed {SEED}");
    let mut random = Pcg64::seed_from_u64(SEED);
    let mut draw = || {
        let set = Bitboard::new(random.next_u64() & random.next_u64());
        (set, set.into_iter().collect::<BTreeSet<Square>>())
    };
    for _ in 0..300 {
        let ((a, slow_a), (b, slow_b)) = (draw(), draw());
        let is =
            |fast: Bitboard, slow: BTreeSet<Square>| assert!(fast.into_iter().eq(slow), "{a:?} and {b:?}: {fast:?}");
        is(a | b, &slow_a | &slow_b);
        is(a & b, &slow_a & &slow_b);
        is(a ^ b, &slow_a ^ &slow_b);
        is(a - b, &slow_a - &slow_b);
        let assigned = |assign: fn(&mut Bitboard, Bitboard)| {
            let mut set = a;
            assign(&mut set, b);
            set
        };
        assert_eq!(assigned(|set, b| *set |= b), a | b);
        assert_eq!(assigned(|set, b| *set &= b), a & b);
        assert_eq!(assigned(|set, b| *set ^= b), a ^ b);
        assert_eq!(assigned(|set, b| *set -= b), a - b);
        is(!a, &Square::all().collect::<BTreeSet<_>>() - &slow_a);
        is(a.mirror(), slow_a.iter().map(|s| s.mirror()).collect());
        is(a.flip(), slow_a.iter().map(|s| s.flip()).collect());
        is(a.rotate(), slow_a.iter().map(|s| s.rotate()).collect());
        for part in [a & b, a, a - b] {
            assert!(part.is_subset(a));
        }
        assert_eq!(a.is_subset(b), slow_a.is_subset(&slow_b));
        assert_eq!(a.is_disjoint(b), slow_a.is_disjoint(&slow_b));
        assert!((a - b).is_disjoint(b));
        assert_eq!((a.len(), a.is_empty()), (slow_a.len(), slow_a.is_empty()));
        assert_eq!((a.first(), a.last()), (slow_a.first().copied(), slow_a.last().copied()));
        assert!(a.into_iter().rev().eq(slow_a.iter().rev().copied()));
        assert_eq!(a.into_iter().len(), a.len());
        assert_eq!(a.to_string().parse(), Ok(a));
        for square in Square::all() {
            let (mut more, mut less) = (a, a);
            assert_eq!(a.contains(square), slow_a.contains(&square));
            assert_eq!(more.insert(square), !a.contains(square));
            assert_eq!(less.remove(square), a.contains(square));
            assert_eq!((more, less), (a.with(square), a.without(square)));
            assert_eq!((more, less), (a | square.into(), a - square.into()));
        }
        let mut left = a;
        assert!(std::iter::from_fn(|| left.pop_first()).eq(a));
    }
    assert_eq!(Bitboard::EMPTY.single(), None);
    assert_eq!(Bitboard::FULL.single(), None);
    for square in Square::all() {
        assert_eq!(Bitboard::from(square).single(), Some(square));
        let cross = Bitboard::from(square.file()) & Bitboard::from(square.rank());
        assert_eq!(cross.single(), Some(square));
    }
    assert_eq!("11".parse::<Bitboard>(), Err(ParseBitboardError::SquareCount { found: 2 }));
    assert_eq!(".".repeat(64).parse::<Bitboard>(), Err(ParseBitboardError::SquareCount { found: 64 }));
    assert_eq!("1 x".parse::<Bitboard>(), Err(ParseBitboardError::UnknownMark { found: 'x' }));
}

#[test]
fn values_say_what_they_are() {
    assert_eq!(format!("{} {}", Color::White, Color::Black), "White Black");
    let moves = position("7/7/7/7/7/7/7/7/R6 w").moves(&Rules::default());
    let listed: Vec<String> = moves.iter().map(|mv| format!("{mv:?}")).collect();
    assert_eq!(format!("{moves:?}"), format!("[{}]", listed.join(", ")));
}

#[test]
fn rules_have_one_spelling() {
    assert_eq!(
        RuleOptions::PAPER.to_string(),
        "elephant-takes-rat=yes,shore=elephant-safe,traps=opponent,dog-over-wolf=yes,tiger-leap=both,\
         own-rat-blocks=yes,no-move=draw,repetition=threefold"
    );
    assert_eq!(
        options("chinese,repetition=none,tiger-leap=files").to_string(),
        "elephant-takes-rat=no,shore=none,traps=opponent,dog-over-wolf=no,tiger-leap=files,own-rat-blocks=yes,\
         no-move=loss,repetition=none"
    );
    assert_eq!(RuleOptions::default(), RuleOptions::PAPER);
    assert_eq!(*Rules::default().options(), RuleOptions::PAPER);
    let all = all_options();
    let spellings: HashSet<String> = all.iter().map(RuleOptions::to_string).collect();
    assert_eq!(spellings.len(), combinations(|_| true));
    for options in &all {
        assert_eq!(options.to_string().parse(), Ok(*options));
        assert_eq!(
            options.to_string(),
            format!("{},repetition={}", options.table_spelling(), options.repetition.as_str())
        );
        assert_eq!(Rules::new(*options).options(), options);
        assert_eq!(Rules::from(*options).options(), options);
    }
}

#[test]
fn presets() {
    let expected = [
        ("paper", ""),
        ("cazaux", "shore=none,repetition=illegal"),
        ("bodlaender", "traps=sanctuary"),
        ("quadibloc", "shore=no-exit"),
        ("bell", "traps=none"),
        ("chinese", "elephant-takes-rat=no,shore=none,dog-over-wolf=no,no-move=loss"),
    ];
    assert_eq!(RuleOptions::PRESETS.len(), expected.len());
    for ((name, preset), (expected_name, difference)) in RuleOptions::PRESETS.into_iter().zip(expected) {
        assert_eq!(name, expected_name);
        assert_eq!(preset, if difference.is_empty() { RuleOptions::PAPER } else { options(difference) });
        assert_eq!(options(name), preset);
        assert_eq!(RuleOptions::preset(name), Some(preset));
        assert_eq!(preset.preset_name(), Some(name));
    }
    assert_eq!(RuleOptions::preset("Paper"), None);
    assert_eq!(options("tiger-leap=none").preset_name(), None);
    assert_eq!(options(" bell , traps = opponent "), RuleOptions::PAPER);
    assert_eq!(options("shore=none,shore=no-exit"), options("quadibloc"), "the last one counts");
}

#[test]
fn rules_errors() {
    use ParseRulesError::*;
    let unknown = |key: &str, value: &str, allowed: &str| UnknownValue {
        key: key.into(),
        value: value.into(),
        allowed: allowed.into(),
    };
    let cases: [(&str, ParseRulesError, &str); 17] = [
        (
            "",
            UnknownPreset { name: "".into() },
            "no rules preset is called \"\"; the presets are paper, cazaux, bodlaender, quadibloc, bell, chinese",
        ),
        ("papier", UnknownPreset { name: "papier".into() }, "no rules preset is called \"papier\""),
        (
            "dens=none",
            UnknownKey { key: "dens".into() },
            "no rule option is called \"dens\"; the options are elephant-takes-rat, shore, traps, dog-over-wolf, \
             tiger-leap, own-rat-blocks, no-move,",
        ),
        ("=none", UnknownKey { key: "".into() }, "no rule option is called \"\""),
        ("Shore=none", UnknownKey { key: "Shore".into() }, "no rule option is called \"Shore\""),
        ("shore=", unknown("shore", "", "elephant-safe, none, no-exit"), "shore cannot be \"\"; it is one of"),
        ("shore=none=none", unknown("shore", "none=none", "elephant-safe, none, no-exit"), "\"none=none\""),
        ("elephant-takes-rat=1", unknown("elephant-takes-rat", "1", "yes, no"), "it is one of yes, no"),
        (
            "paper,traps=all",
            unknown("traps", "all", "opponent, any, none, sanctuary"),
            "traps cannot be \"all\"; it is one of opponent, any, none, sanctuary",
        ),
        ("dog-over-wolf=x", unknown("dog-over-wolf", "x", "yes, no"), "dog-over-wolf cannot be \"x\""),
        ("tiger-leap=x", unknown("tiger-leap", "x", "both, files, ranks, none"), "both, files, ranks, none"),
        ("own-rat-blocks=x", unknown("own-rat-blocks", "x", "yes, no"), "own-rat-blocks cannot be \"x\""),
        ("no-move=win", unknown("no-move", "win", "draw, loss"), "no-move cannot be \"win\"; it is one of draw, loss"),
        (
            "repetition=twice",
            unknown("repetition", "twice", "threefold, twofold, illegal, none"),
            "threefold, twofold, illegal, none",
        ),
        ("paper,bell", Malformed { text: "bell".into() }, "\"bell\" is neither a preset nor key=value"),
        ("shore=none,paper", Malformed { text: "paper".into() }, "\"paper\" is neither a preset nor key=value"),
        ("paper,", Malformed { text: "".into() }, "\"\" is neither a preset nor key=value"),
    ];
    for (text, error, message) in cases {
        assert_eq!(text.parse::<RuleOptions>(), Err(error.clone()), "{text:?}");
        assert!(error.to_string().contains(message), "{text:?}: {error} lacks {message:?}");
    }
}

/// FNV-1a, as its authors describe it.
fn fnv1a(text: &str) -> u64 {
    let mut hash: u64 = 14_695_981_039_346_656_037;
    for byte in text.bytes() {
        hash ^= u64::from(byte);
        hash = hash.wrapping_mul(1_099_511_628_211);
    }
    hash
}

/// Tables on disk and committed results have these hashes and spellings.
#[test]
fn rules_of_existing_tables_keep_their_spelling_and_hash() {
    let paper = "elephant-takes-rat=yes,shore=elephant-safe,traps=opponent,dog-over-wolf=yes,tiger-leap=both,\
                 own-rat-blocks=yes,no-move=draw";
    assert_eq!(RuleOptions::PAPER.table_spelling(), paper);
    assert_eq!(RuleOptions::PAPER.table_hash(), 0x58c2_abbd_ead7_6a49);
    assert_eq!(options("chinese").table_hash(), 0xcda1_38ec_b642_a7c7);
    let results = concat!(env!("CARGO_MANIFEST_DIR"), "/results/six-pieces.jsonl");
    let results = std::fs::read_to_string(results).unwrap();
    assert!(results.lines().all(|line| line.contains(&format!("\"rules\":\"{paper}\""))));
    for option in RuleOptions::OPTIONS.iter().filter(|option| !option.always_spelled) {
        let changed = RuleOptions::PAPER.with(option.key, option.values[1]).unwrap();
        let item = format!("{}={}", option.key, option.values[1]);
        assert_eq!(changed.to_string().split(',').filter(|text| *text == item).count(), 1, "{changed}");
        assert!(!RuleOptions::PAPER.to_string().contains(option.key));
    }
}

#[test]
fn the_hash_of_tables_leaves_out_repetition_only() {
    let mut hashes = HashSet::new();
    for options in all_options() {
        hashes.insert(options.table_hash());
        for &repetition in Repetition::ALL {
            let other = options.with_repetition(repetition);
            assert_eq!(other.table_hash(), options.table_hash());
            assert_eq!(other.table_spelling(), options.table_spelling());
        }
        assert_eq!(options.table_hash(), fnv1a(&options.table_spelling()));
    }
    assert_eq!(hashes.len(), combinations(|option| option.in_tables));
}
