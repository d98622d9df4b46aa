//! Properties of every position and every text.

use doushouqi::board::{
    Animal, Bitboard, Color, Fen, Move, Piece, Position, PositionError, RuleOptions, Rules, Setup, Square,
};
use doushouqi::tablebase::Material;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::collections::BTreeSet;
use std::fmt::{Debug, Display};
use std::str::FromStr;

/// Any valid position. Each of the 16 pieces gets a square or none; a piece on a forbidden square is left out.
fn positions() -> impl Strategy<Value = Position> {
    let squares = proptest::array::uniform16(proptest::option::of(0..Square::COUNT));
    (squares, any::<bool>()).prop_filter_map("no piece left", |(squares, white)| {
        let mut setup = Setup::empty(if white { Color::White } else { Color::Black });
        for (i, square) in squares.into_iter().enumerate() {
            let Some(square) = square else { continue };
            if setup.squares[square].is_some() {
                continue;
            }
            setup.squares[square] = Some(Piece { color: Color::ALL[i / 8], animal: Animal::ALL[i % 8] });
            if Position::from_setup(&setup).is_err() {
                setup.squares[square] = None;
            }
        }
        Position::from_setup(&setup).ok()
    })
}

fn rules() -> impl Strategy<Value = RuleOptions> {
    let values: Vec<_> = RuleOptions::OPTIONS.iter().map(|option| select(option.values)).collect();
    values.prop_filter_map("two options contradict each other", |values| {
        let mut options = RuleOptions::OPTIONS.iter().zip(values);
        options.try_fold(RuleOptions::PAPER, |rules, (option, value)| rules.with(option.key, value)).ok()
    })
}

fn moves(position: &Position, rules: &Rules) -> BTreeSet<(Animal, Square, Square)> {
    position.moves(rules).iter().map(|mv| (mv.animal, mv.from, mv.to)).collect()
}

fn map(moves: BTreeSet<(Animal, Square, Square)>, f: fn(Square) -> Square) -> BTreeSet<(Animal, Square, Square)> {
    moves.into_iter().map(|(animal, from, to)| (animal, f(from), f(to))).collect()
}

/// A text similar to a FEN, which gets further into the parser than a random text.
const NEARLY_A_FEN: &str =
    "([rcwdptleRCWDPTLE1-7x890/ ]{0,40}|([rcwdptleRCWDPTLE1-7]{1,7}/){8}[a-zA-Z0-9]{1,7}) ?[wbx]?.{0,6}";
const NEARLY_A_MOVE: &str = "[a-hA-HrRxwWpPtTlL]?[0-9xX]?[a-h\\PC]?[0-9]?";
const NEARLY_RULES: &str = "(paper|bell|chinese|shore|traps|no-move|none|any|=|,| ){0,8}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_is_a_fen_or_an_error(text in prop_oneof![any::<String>(), NEARLY_A_FEN]) {
        match Position::from_fen(&text) {
            Ok(position) => prop_assert_eq!(Position::from_fen(&position.to_fen()), Ok(position)),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn any_text_is_a_move_or_an_error(text in prop_oneof![any::<String>(), NEARLY_A_MOVE], position in positions()) {
        let rules = Rules::default();
        match Move::parse(&text, &position, &rules) {
            Ok(mv) => prop_assert!(position.moves(&rules).contains(&mv)),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn any_text_is_rules_or_an_error(text in prop_oneof![any::<String>(), NEARLY_RULES]) {
        match text.parse::<RuleOptions>() {
            Ok(options) => prop_assert_eq!(options.to_string().parse(), Ok(options)),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn any_text_is_a_square_or_an_error(text in prop_oneof![any::<String>(), "[a-h]?[0-9]?.?"]) {
        if let Ok(square) = text.parse::<Square>() {
            prop_assert_eq!(square.to_string(), text);
        }
    }

    #[test]
    fn fen_round_trips(position in positions()) {
        let fen = position.to_fen();
        let read = Position::from_fen(&fen);
        prop_assert_eq!(read.as_ref(), Ok(&position));
        prop_assert_eq!(read.map(|p| p.key()), Ok(position.key()));
    }

    #[test]
    fn any_setup_is_a_position_or_an_error(
        pieces in vec((0..Square::COUNT, any::<bool>(), select(&Animal::ALL[..])), 0..12),
        white in any::<bool>(),
    ) {
        let color = |white| if white { Color::White } else { Color::Black };
        let mut setup = Setup::empty(color(white));
        for (square, white, animal) in pieces {
            setup.squares[square] = Some(Piece { color: color(white), animal });
        }
        match Position::from_setup(&setup) {
            Ok(position) => prop_assert_eq!(position.to_setup(), setup),
            Err(PositionError::NoPieces) => prop_assert!(setup.squares.iter().all(Option::is_none)),
            Err(PositionError::Duplicate { piece, first, second }) => {
                prop_assert_ne!(first, second);
                prop_assert_eq!(setup.squares[first.index()], Some(piece));
                prop_assert_eq!(setup.squares[second.index()], Some(piece));
            }
            Err(PositionError::InWater { piece, square }) => {
                prop_assert_eq!(setup.squares[square.index()], Some(piece));
                prop_assert!("bcef".contains(&square.to_string()[..1]) && "456".contains(&square.to_string()[1..]));
                prop_assert_ne!(piece.animal, Animal::Rat);
            }
            Err(PositionError::InOwnDen { piece, square }) => {
                prop_assert_eq!(setup.squares[square.index()], Some(piece));
                prop_assert_eq!(square, if piece.color == Color::White { Square::D1 } else { Square::D9 });
            }
            Err(PositionError::BothDens) => {
                prop_assert!([Square::D1, Square::D9].iter().all(|s| setup.squares[s.index()].is_some()));
            }
            Err(other) => prop_assert!(false, "an error that this test does not know: {other}"),
        }
    }

    #[test]
    fn moves_keep_the_key_and_the_position_right(
        position in positions(),
        options in rules(),
        choices in vec(any::<Index>(), 0..60),
    ) {
        let rules = Rules::new(options);
        let mut position = position;
        prop_assert_eq!(position.key(), position.compute_key());
        for choice in choices {
            let moves = position.moves(&rules);
            if moves.is_empty() {
                break;
            }
            position = position.make(moves[choice.index(moves.len())]);
            prop_assert_eq!(position.key(), position.compute_key());
            let fresh = Position::from_setup(&position.to_setup());
            prop_assert_eq!(fresh.as_ref(), Ok(&position));
            prop_assert_eq!(fresh.map(|p| p.key()), Ok(position.key()));
            prop_assert_eq!(position.pass().key(), position.pass().compute_key());
            prop_assert_eq!(position.pass().pass(), position.clone());
        }
    }

    /// Two orders of moves to the same position: two pieces of one side move, and the other side passes in between.
    #[test]
    fn equal_positions_have_equal_keys(position in positions(), options in rules(), a in any::<Index>(), b in any::<Index>()) {
        let rules = Rules::new(options);
        let moves = position.moves(&rules);
        prop_assume!(!moves.is_empty());
        let (a, b) = (moves[a.index(moves.len())], moves[b.index(moves.len())]);
        let both = |first: Move, second: Move| {
            let between = position.make(first).pass();
            between.moves(&rules).contains(&second).then(|| between.make(second))
        };
        if a.animal != b.animal && let (Some(one), Some(other)) = (both(a, b), both(b, a)) {
            prop_assert_eq!(&one, &other);
            prop_assert_eq!(one.key(), other.key());
        }
    }

    #[test]
    fn other_positions_have_other_keys(one in positions(), other in positions()) {
        prop_assert_eq!(one == other, one.key() == other.key());
        prop_assert_ne!(one.key(), one.pass().key());
        prop_assert_ne!(&one, &one.pass());
    }

    #[test]
    fn symmetries(position in positions(), options in rules()) {
        let rules = Rules::new(options);
        let (mirrored, swapped) = (position.mirror(), position.swap_colors());
        prop_assert_eq!(mirrored.mirror(), position.clone());
        prop_assert_eq!(swapped.swap_colors(), position.clone());
        prop_assert_eq!(mirrored.swap_colors(), swapped.mirror());
        prop_assert_eq!(mirrored.turn(), position.turn());
        prop_assert_eq!(swapped.turn(), !position.turn());
        for other in [&mirrored, &swapped] {
            prop_assert_eq!(other.key(), other.compute_key());
            prop_assert_eq!(Position::from_setup(&other.to_setup()), Ok(other.clone()));
            prop_assert_eq!(other.count_moves(&rules), position.count_moves(&rules));
            prop_assert_eq!(other.can_enter_den(&rules), position.can_enter_den(&rules));
        }
        prop_assert_eq!(mirrored.winner(), position.winner());
        prop_assert_eq!(swapped.winner(), position.winner().map(|color| !color));
        prop_assert_eq!(moves(&mirrored, &rules), map(moves(&position, &rules), Square::mirror));
        prop_assert_eq!(moves(&swapped, &rules), map(moves(&position, &rules), Square::rotate));
        for mv in &position.moves(&rules) {
            let mirror = Move { from: mv.from.mirror(), to: mv.to.mirror(), ..*mv };
            let rotate = Move { from: mv.from.rotate(), to: mv.to.rotate(), ..*mv };
            prop_assert_eq!(mirrored.make(mirror), position.make(*mv).mirror());
            prop_assert_eq!(swapped.make(rotate), position.make(*mv).swap_colors());
        }
    }

    #[test]
    fn a_move_is_read_as_it_is_written(position in positions(), options in rules()) {
        let rules = Rules::new(options);
        for &mv in &position.moves(&rules) {
            prop_assert_eq!(Move::parse(&mv.notation(&position), &position, &rules), Ok(mv));
            prop_assert_eq!(Move::parse(&mv.to_string(), &position, &rules), Ok(mv));
        }
    }

    #[test]
    fn rules_are_read_as_they_are_written(options in rules()) {
        prop_assert_eq!(options.to_string().parse(), Ok(options));
        prop_assert_eq!(format!("chinese,{options}").parse(), Ok(options));
    }
}

/// The text of a value is parsed as the same value.
fn reads_back<T>(value: &T) -> Result<(), TestCaseError>
where
    T: FromStr + Display + PartialEq + Debug,
    T::Err: Debug,
{
    let read = value.to_string().parse::<T>();
    prop_assert!(matches!(&read, Ok(same) if same == value), "{:?} reads as {:?}", value, read);
    Ok(())
}

proptest! {
    #[test]
    fn what_is_displayed_is_parsed(
        position in positions(),
        options in rules(),
        clock in prop_oneof![Just(0), 0..=Fen::MAX_HALFMOVE_CLOCK],
        squares in vec(0..Square::COUNT, 0..20),
    ) {
        reads_back(&position)?;
        reads_back(&Fen { position: position.clone(), halfmove_clock: clock })?;
        reads_back(&options)?;
        let squares: Vec<Square> = squares.into_iter().filter_map(|i| Square::all().nth(i)).collect();
        squares.iter().try_for_each(reads_back)?;
        reads_back(&Bitboard::of(&squares))?;
        if let Some(material) = Material::of(&position) {
            reads_back(&material)?;
        }
    }
}
