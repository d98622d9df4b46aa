//! Positions in which a rule decides a move, and the ends of games.

use super::{compare, options, perft, position};
use doushouqi::board::{Color, Move, Outcome, Position, RuleOptions, Rules};

/// The moves, in the papers' notation, sorted.
fn notations(position: &Position, options: &RuleOptions) -> Vec<String> {
    let mut moves: Vec<String> = position.moves(&Rules::new(*options)).iter().map(|mv| mv.notation(position)).collect();
    moves.sort();
    moves
}

/// Positions in which rule options matter or nearly matter: FEN, rules, and the moves in the papers' notation.
pub(super) const CORNERS: &[(&str, &str, &[&str])] = &[
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
    for options in RuleOptions::all() {
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
