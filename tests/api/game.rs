//! Games: history, ends, and their text.

use crate::slow;

use doushouqi::board::{Color, Fen, Move, Position, Repetition, Rules};
use doushouqi::game::random::Random;
use doushouqi::game::{
    Conclusion, Forfeit, ForfeitReason, Game, GameEnd, PlayError, Record, RecordProblem, RecordReader, Variation,
};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};

const STARTS: [&str; 5] = [
    "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w",
    "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L b",
    "7/7/3e3/7/7/7/3E3/7/7 w",
    "7/3r3/7/1R5/7/3l3/3T3/7/7 b",
    "2E4/7/7/7/7/7/7/7/r6 w",
];

fn game(fen: &str, rules: &str, limit: Option<u32>) -> Game {
    Game::new(Position::from_fen(fen).unwrap(), Rules::new(rules.parse().unwrap()), limit)
}

fn played(mut game: Game, moves: &str) -> Game {
    for word in moves.split_whitespace() {
        let mv = game.parse(word).unwrap_or_else(|e| panic!("{word}: {e}"));
        game.play(mv).unwrap();
    }
    game
}

/// A game of random moves, and whether it ends by resignation.
fn games() -> impl Strategy<Value = Game> {
    let rules = (select(slow::presets_and_single_values()), select(Repetition::ALL));
    let limit = proptest::option::of(1..40u32);
    let clock = prop_oneof![Just(0), 0..50u32];
    (select(&STARTS[..]), clock, rules, limit, vec(any::<Index>(), 0..80)).prop_map(
        |(fen, clock, (mut rules, repetition), limit, choices)| {
            rules.repetition = repetition;
            let start = format!("{fen} {clock}").parse().unwrap();
            let mut game = Game::from_fen(start, Rules::new(rules), limit);
            for choice in choices {
                let moves = game.legal_moves();
                if moves.is_empty() {
                    break;
                }
                game.play(moves[choice.index(moves.len())]).unwrap();
            }
            game
        },
    )
}

/// The text of games.
fn written(records: &[Record]) -> String {
    records.iter().map(|record| record.to_text().unwrap() + "\n").collect()
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z \"\\\\{}\\n\\[\\]]{0,12}", any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The end of a game by its definition: everything is counted from the start.
    #[test]
    fn a_game_ends_where_it_should(game in games()) {
        let mut replay = Game::from_fen(game.start_fen(), game.rules().clone(), game.no_capture_limit());
        for i in 0..=game.moves().len() {
            let (past, position) = (&game.positions()[..=i], &game.positions()[i]);
            let occurrences = past.iter().filter(|p| *p == position).count();
            let pieces = |p: &Position| p.occupied().len();
            let mut quiet = past.iter().rev().take_while(|p| pieces(p) == pieces(position)).count() as u32 - 1;
            // Without a capture, the clock continues from its initial value.
            if quiet as usize == i {
                quiet += game.start_fen().halfmove_clock;
            }
            prop_assert_eq!(replay.occurrences(), occurrences);
            prop_assert_eq!(replay.halfmove_clock(), quiet);
            prop_assert_eq!(replay.fen().to_string().parse(), Ok(replay.fen()));
            let options = game.rules().options();
            let mut moves: Vec<_> = position.moves(game.rules()).to_vec();
            if options.repetition == Repetition::Illegal {
                moves.retain(|&mv| !past.contains(&position.make(mv)));
            }
            let drawn = match options.repetition {
                Repetition::Threefold => occurrences >= 3,
                Repetition::Twofold => occurrences >= 2,
                _ => false,
            };
            let over = position.winner().is_some()
                || moves.is_empty()
                || drawn
                || game.no_capture_limit().is_some_and(|limit| quiet >= limit);
            prop_assert_eq!(replay.end().is_some(), over);
            if let Some(winner) = position.winner() {
                prop_assert_eq!(replay.end().unwrap().winner(), Some(winner));
            }
            if over {
                moves.clear();
            }
            prop_assert_eq!(replay.legal_moves().to_vec(), moves);
            if let Some(&mv) = game.moves().get(i) {
                replay.play(mv).unwrap();
            }
        }
        for &mv in game.moves().iter().rev() {
            prop_assert_eq!(replay.undo(), Some(mv));
        }
        prop_assert_eq!(replay.undo(), None);
        prop_assert_eq!(replay.position(), &game.positions()[0]);
    }

    #[test]
    fn records_read_back(
        games in vec(games(), 0..4),
        names in (text(), text(), text()),
        comments in vec(text(), 0..20),
        nags in vec(btree_set(any::<u8>(), 0..3), 0..20),
        loser in select(&Color::ALL[..]),
    ) {
        let mut records = Vec::new();
        for (i, game) in games.into_iter().enumerate() {
            let mut record = Record::new(game);
            record.white = names.0.clone();
            record.black = names.1.clone();
            record.date = (i > 0).then(|| "2026.02.28".to_owned());
            record.tags = vec![("Opening".to_owned(), names.2.clone())];
            record.comment = names.0.clone();
            record.nags = nags.iter().take(record.game.moves().len()).cloned().collect();
            record.comments = comments.iter().take(record.game.moves().len()).cloned().collect();
            if record.game.end().is_none() && i > 1 {
                record.forfeit = Some(Forfeit { loser, reason: ForfeitReason::Time });
            }
            records.push(record);
        }
        let text = written(&records);
        let read = Record::parse_all(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        prop_assert_eq!(read.len(), records.len());
        for (a, b) in read.iter().zip(&records) {
            prop_assert_eq!(&a.white, &b.white);
            prop_assert_eq!(&a.black, &b.black);
            prop_assert_eq!(&a.date, &b.date);
            prop_assert_eq!(&a.tags, &b.tags);
            prop_assert_eq!(&a.comment, &b.comment);
            prop_assert_eq!(a.game.positions(), b.game.positions());
            prop_assert_eq!(a.game.moves(), b.game.moves());
            prop_assert_eq!(a.game.rules().options(), b.game.rules().options());
            prop_assert_eq!(a.game.no_capture_limit(), b.game.no_capture_limit());
            prop_assert_eq!(a.conclusion(), b.conclusion());
            for ply in 0..a.game.moves().len() {
                let comment = |r: &Record| r.comments.get(ply).cloned().unwrap_or_default();
                prop_assert_eq!(comment(a), comment(b));
                let nags = |r: &Record| r.nags.get(ply).cloned().unwrap_or_default();
                prop_assert_eq!(nags(a), nags(b));
            }
        }
        prop_assert_eq!(written(&read), text);
    }

    /// Whatever a program puts into a record, its text is read as that record, or there is none.
    #[test]
    fn what_is_written_is_read(
        game in games(),
        tags in vec((prop_oneof!["[A-Za-z_]{0,6}", Just("White".to_owned()), Just("Variant".to_owned()), text()], text()), 0..3),
        date in proptest::option::of(prop_oneof![Just("2026.02.28".to_owned()), text()]),
        comment in text(),
        comments in vec(text(), 0..8),
        nags in vec(btree_set(any::<u8>(), 0..3), 0..8),
        variations in vec((0..6usize, vec(any::<Index>(), 0..4)), 0..3),
        more in vec(any::<Index>(), 0..30),
        limit in proptest::option::of(0..3u32),
    ) {
        let mut game = Game::from_fen(game.start_fen(), game.rules().clone(), limit);
        for choice in more {
            let moves = game.position().moves(game.rules());
            if moves.is_empty() || game.play_on(moves[choice.index(moves.len())]).is_err() {
                break;
            }
        }
        let any_move = |(ply, choices): (usize, Vec<Index>)| {
            let positions = game.positions();
            let moves = choices.iter().filter_map(|choice| {
                let moves = positions[choice.index(positions.len())].moves(game.rules());
                (!moves.is_empty()).then(|| moves[choice.index(moves.len())])
            });
            Variation { ply, moves: moves.collect(), nags: Vec::new(), comments: Vec::new(), variations: Vec::new() }
        };
        let variations = variations.into_iter().map(any_move).collect();
        let record = Record { date, tags, comment, comments, nags, variations, ..Record::new(game) };
        if let Ok(text) = record.to_text() {
            let read = Record::parse_all(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            prop_assert_eq!(read.len(), 1);
            prop_assert_eq!(&read[0].tags, &record.tags);
            prop_assert_eq!(&read[0].comment, &record.comment);
            prop_assert_eq!(read[0].game.moves(), record.game.moves());
            prop_assert_eq!(read[0].to_text(), Ok(text));
        }
    }

    /// Any text contains games or causes an error that names a line of it.
    #[test]
    fn any_text_is_games_or_an_error(
        text in prop_oneof![
            any::<String>(),
            "(\\[[A-Za-z]{0,3} \"[a-z]{0,3}\"\\]\n|[0-9]{1,2}\\.{0,3} ?|Eb3 |rb7 |a3b3|[!?]{1,3}|\\$[0-9]{0,3}|\\{[a-z]{0,3}\\}|\\*|1-0|\n| ){0,12}",
        ]
    ) {
        match Record::parse_all(&text) {
            Ok(records) => {
                prop_assert_eq!(Record::parse_all(&written(&records)).map(|r| r.len()), Ok(records.len()));
            }
            Err(error) => {
                prop_assert!(error.line >= 1 && error.line <= text.lines().count().max(1));
                prop_assert!(!error.problem.to_string().is_empty());
            }
        }
    }
}

/// Moves are written on lines of at most 100 columns, and a line ends only if the next word does not fit.
#[test]
fn moves_are_written_on_full_lines() {
    let mut game = game(STARTS[0], "paper", None);
    Random::new(5).play(&mut game, 300);
    let text = Record::new(game).to_text().unwrap();
    let lines: Vec<&str> = text.lines().skip_while(|line| line.starts_with('[') || line.is_empty()).collect();
    assert!(lines.len() > 5, "{text}");
    for two in lines.windows(2) {
        let next = two[1].split(' ').next().unwrap();
        assert!(two[0].len() <= 100 && two[0].len() + 1 + next.len() > 100, "{two:?}");
    }
}

/// White's moves have a number, and Black's only if Black begins.
#[test]
fn moves_are_numbered() {
    for (turn, moves) in [("w", "1. Rc3 Rc5 2. Rd3 Rd5 *"), ("b", "1... Rc5 2. Rc3 Rd5 3. Rd3 *")] {
        let begin = game(&format!("7/7/7/7/3r3/7/3R3/7/7 {turn}"), "paper", None);
        let words: Vec<&str> = moves.split(' ').filter(|word| word.contains('R')).collect();
        let text = Record::new(played(begin, &words.join(" "))).to_text().unwrap();
        assert_eq!(text.trim_end().lines().last(), Some(moves));
    }
}

/// Variations, with their numbers, comments and variations, are read back, and lines of moves go on after them.
#[test]
fn variations_read_back() {
    let moves = "1. Eb3 $1 (1. Ea4 Rb7 $2 $6 {slow} (1... Ra6 2. Ea5) 2. Ea5) (1. Ea2) 1... Rb7 (1... Ra6) 2. Ea3 *";
    let records = Record::parse_all(moves).unwrap();
    let [record] = &records[..] else { panic!("{records:?}") };
    let variation = |i: usize| &record.variations[i];
    assert_eq!(record.variations.iter().map(|v| (v.ply, v.moves.len())).collect::<Vec<_>>(), [(0, 3), (0, 1), (1, 1)]);
    assert_eq!(record.nags, [[1].into()]);
    assert_eq!(variation(0).nags, [[].into(), [2, 6].into()]);
    assert_eq!((variation(0).comments[1].as_str(), variation(0).variations[0].ply), ("slow", 1));
    let text = record.to_text().unwrap();
    assert_eq!(text.trim_end().lines().last(), Some(moves));
    assert_eq!(Record::parse_all(&text).unwrap()[0].variations, record.variations);
    // A deep variation on long lines.
    let mut deep = Record::new(game(STARTS[0], "paper", None));
    Random::new(7).play(&mut deep.game, 60);
    let first = deep.game.moves()[..1].to_vec();
    let around = |variations| {
        vec![Variation { ply: 0, moves: first.clone(), nags: vec![[4].into()], comments: Vec::new(), variations }]
    };
    deep.variations = (0..64).fold(Vec::new(), |inner, _| around(inner));
    assert_eq!(Record::parse_all(&deep.to_text().unwrap()).unwrap()[0].variations, deep.variations);
    deep.variations = around(deep.variations);
    assert_eq!(deep.to_text(), Err(RecordProblem::Variation));
}

/// A reader that has met an error reads the next game.
#[test]
fn records_are_read_line_by_line() {
    let mut reader = RecordReader::default();
    let mut count = 0;
    let lines = ["\u{feff}1. Eb3", "* 1. Ea4 *", "1. Eb9", "1. Eb3 *"];
    let errors: Vec<usize> = lines
        .iter()
        .filter_map(|line| reader.line(line).map(|found| count += found.len()).err())
        .map(|e| e.line)
        .collect();
    assert_eq!((count, errors), (3, vec![3]));
    assert!(reader.line("1. Eb3").unwrap().is_empty());
    assert_eq!(reader.finish().unwrap_err().problem, RecordProblem::UnexpectedEnd);
}

#[test]
fn ends() {
    let rats = "7/7/7/7/3r3/7/3R3/7/7 w";
    assert_eq!(game("3R3/7/7/7/7/7/7/7/r6 b", "paper", None).end(), Some(GameEnd::Den(Color::White)));
    assert_eq!(game("7/7/7/7/7/7/7/7/r6 b", "paper", None).end(), Some(GameEnd::Captured(Color::Black)));
    let cycle = "Rc3 rc5 Rd3 rd5";
    let twice = played(game(rats, "paper", None), cycle);
    assert_eq!((twice.occurrences(), twice.end()), (2, None));
    let thrice = played(twice.clone(), cycle);
    assert_eq!(thrice.end(), Some(GameEnd::Repetition(None)));
    assert!(thrice.legal_moves().is_empty());
    assert_eq!(thrice.parse("Rc3"), Err(PlayError::Repetition));
    let first = twice.moves()[0];
    assert_eq!(thrice.clone().play(first), Err(PlayError::Repetition));
    let mut on = thrice.clone();
    assert_eq!(on.play_on(Move::parse("Re3", on.position(), on.rules()).unwrap()), Ok(()));
    assert_eq!((on.moves().len(), on.end()), (9, None));
    assert_eq!(on.under(Rules::new("chinese".parse().unwrap()), None).unwrap().position(), on.position());
    assert_eq!(game("3R3/7/7/7/7/7/7/7/r6 b", "paper", None).play_on(first), Err(PlayError::Over));
    assert_eq!(played(game(rats, "paper,repetition=twofold", None), cycle).end(), Some(GameEnd::Repetition(None)));
    assert_eq!(played(game(rats, "paper,repetition=none", None), &[cycle; 9].join(" ")).end(), None);
    let mut illegal = played(game(rats, "cazaux", None), "Rc3 rc5 Rd3");
    let back = Move::parse("rd5", illegal.position(), illegal.rules()).unwrap();
    assert_eq!(illegal.parse("rd5"), Err(PlayError::Repeats { mv: back }));
    assert_eq!(illegal.play(back), Err(PlayError::Repeats { mv: back }));
    let limit = |n| played(game(rats, "paper", Some(n)), "Rc3 rc5 Rd3").end();
    assert_eq!((limit(3), limit(4)), (Some(GameEnd::NoCapture(None)), None));
}

/// A draw by repetition or by the no-capture limit is the only end after which the players may go on, and its remedy
/// gives the game another move. An error names it.
#[test]
fn a_drawn_game_may_go_on() {
    let rats = "7/7/7/7/3r3/7/3R3/7/7 w";
    let cycle = "Rc3 rc5 Rd3 rd5 ".repeat(2);
    let drawn = |limit| played(game(rats, "paper", limit), &cycle);
    for (game, end, error, remedy) in [
        (drawn(None), GameEnd::Repetition(None), "repetition=none", (Repetition::None, None)),
        (drawn(Some(8)), GameEnd::Repetition(None), "repetition=none", (Repetition::None, None)),
        (drawn(Some(9)), GameEnd::Repetition(None), "repetition=none", (Repetition::None, Some(9))),
        (
            played(game(rats, "paper", Some(3)), "Rc3 rc5 Rd3"),
            GameEnd::NoCapture(None),
            "3 plies",
            (Repetition::Threefold, None),
        ),
    ] {
        assert_eq!((game.end(), end.may_go_on()), (Some(end), true));
        let refused = game.parse("Re3").unwrap_err();
        assert!(refused.is_over() && refused.to_string().contains(error), "{refused}");
        assert!(!game.played_on().legal_moves().is_empty());
        assert_eq!(game.played_on().position(), game.position());
        let on = game.without_draw_rule().unwrap();
        assert_eq!((on.rules().options().repetition, on.no_capture_limit()), remedy);
        assert_eq!((on.moves(), on.end()), (game.moves(), None));
        let mv = on.legal_moves()[0];
        let text = Record::new(played(on, &mv.to_string())).to_text().unwrap();
        assert!(Record::parse_all(&text).is_ok(), "{text}");
    }
    for over in ["3R3/7/7/7/7/7/7/7/r6 b", "7/7/7/7/7/7/7/7/r6 b", "7/7/7/7/7/7/7/l6/Ct5 w", rats] {
        let game = game(over, "paper", None);
        assert!(game.end().is_none_or(|end| !end.may_go_on()) && game.without_draw_rule().is_none(), "{over}");
        assert_eq!(game.played_on().end(), game.end());
    }
}

/// A saved game that goes on after a draw is an error with the tag that allows it.
#[test]
fn a_saved_game_after_a_draw_names_the_tag() {
    let rats = "[FEN \"7/7/7/7/3r3/7/3R3/7/7 w\"]\n";
    let cycle = "Rc3 rc5 Rd3 rd5 ".repeat(2);
    for (tags, moves, remedy, tag) in [
        ("", format!("{cycle} Re3"), "[Rules \"paper,repetition=none\"]\n", "in the tag Rules"),
        ("[NoCaptureLimit \"2\"]\n", "Rc3 rc5 Rd3".to_owned(), "", "in the tag NoCaptureLimit"),
    ] {
        let error = Record::parse_all(&format!("{rats}{tags}{moves} *")).unwrap_err();
        assert!(matches!(&error.problem, RecordProblem::Move { error, .. } if error.is_over()), "{error}");
        assert!(error.to_string().contains(tag), "{error}");
        assert_eq!(Record::parse_all(&format!("\u{feff}{rats}{remedy}{moves} *")).unwrap().len(), 1);
    }
}

#[test]
fn no_move_ends_a_game() {
    // White's cat on a1 may neither take the lion on a2 nor the tiger on b1.
    let stuck = "7/7/7/7/7/7/7/l6/Ct5 w";
    assert_eq!(game(stuck, "paper", None).end(), Some(GameEnd::NoMove(None)));
    assert_eq!(game(stuck, "chinese", None).end(), Some(GameEnd::NoMove(Some(Color::Black))));
}

/// An error names the fault and its line.
fn problem(text: &str) -> (usize, RecordProblem) {
    let error = Record::parse_all(text).expect_err(text);
    assert!(error.to_string().starts_with(&format!("line {}: ", error.line)));
    (error.line, error.problem)
}

#[test]
fn wrong_records_are_refused() {
    use RecordProblem as P;
    assert!(Record::parse_all("").unwrap().is_empty());
    assert!(Record::parse_all("\n \n").unwrap().is_empty());
    assert_eq!(problem("[White]\n"), (1, P::MalformedTag));
    assert_eq!(problem("\n[White \"a\" b]\n"), (2, P::MalformedTag));
    assert_eq!(problem("[White \"a]\n"), (1, P::MalformedTag));
    assert_eq!(problem("[White \"a\"]\n[White \"b\"]\n"), (2, P::DuplicateTag { name: "White".to_owned() }));
    for date in ["2026.13.01", "2026.00.01", "2026.12.32", "2026.12.00", "2026.1.01", "20x6.01.01", "2026.01"] {
        assert_eq!(problem(&format!("[Date \"{date}\"]")), (1, P::Date { found: date.to_owned() }));
    }
    assert_eq!(problem("[NoCaptureLimit \"0\"]"), (1, P::NoCaptureLimit { found: "0".to_owned() }));
    assert_eq!(problem("[Result \"2-0\"]"), (1, P::Result { found: "2-0".to_owned() }));
    assert!(matches!(problem("\n\n[Rules \"bridge\"]"), (3, P::Rules(_))));
    assert!(matches!(problem("[FEN \"7/7 w\"]"), (1, P::Fen(_))));
    assert_eq!(problem("1. Eb3 rb7\n\n\n[White \"a\"]"), (4, P::TagAmongMoves));
    assert_eq!(problem("1. Eb3\nrb7\n"), (2, P::UnexpectedEnd));
    assert_eq!(problem("[White \"a\"]\n"), (1, P::UnexpectedEnd));
    assert!(matches!(problem("1. Eb3\n1. rb7 *"), (2, P::MoveNumber { .. })));
    assert!(matches!(problem("1. Eb3\n2. rb7 *"), (2, P::MoveNumber { .. })));
    assert!(matches!(problem("Eb3\nEb3 *"), (2, P::Move { ply: 1, .. })));
    assert!(matches!(problem("Eb3\nrb7 hello *"), (2, P::Move { ply: 2, .. })));
    assert_eq!(problem("{hello} {hello} Eb3 *"), (1, P::Comment));
    assert_eq!(problem("Eb3 {a} {b} *"), (1, P::Comment));
    assert_eq!(problem("Eb3 {a\n} *"), (1, P::Comment));
    for text in ["(Eb3) *", "Eb3 () *", "Eb3) *", "Eb3 ((Ea4)) *", ") *"] {
        assert_eq!(problem(text), (1, P::Variation), "{text}");
    }
    for text in ["Eb3 (Ea4 *)", "Eb3 (Ea4 *"] {
        assert_eq!(problem(text), (1, P::OpenVariation), "{text}");
    }
    for text in ["Eb3 ({a} Ea4) *", "Eb3 ; a ; b\n{c} *", "; a\n; b\nEb3 *"] {
        assert!(matches!(problem(text), (_, P::Comment)), "{text}");
    }
    for text in ["! Eb3 *", "$1 *", "Eb3 $256 *", "Eb3 $ *", "Eb3!!! *", "Eb3 ?!? *", "Eb3 (! Ea4) *", "Eb3 $-1 *"] {
        assert_eq!(problem(text), (1, P::Nag), "{text}");
    }
    assert_eq!(problem("Eb3 (Ea4\n"), (1, P::UnexpectedEnd));
    assert!(matches!(problem("[Result \"1-0\"]\n\nEb3 *"), (3, P::WrongResult { .. })));
    assert!(matches!(problem("[Termination \"time\"]\nEb3 1/2-1/2"), (2, P::WrongResult { .. })));
    assert!(matches!(problem("[Termination \"den\"]\nEb3 *"), (2, P::WrongTermination { .. })));
    assert!(matches!(problem("[Termination \"den\"]\nEb3 1-0"), (2, P::WrongTermination { .. })));
    let won = "[FEN \"2C4/7/7/7/7/7/7/7/r6 w\"]\nCd9 ";
    assert!(matches!(problem(&format!("{won} 0-1")), (2, P::WrongResult { .. })));
    assert!(matches!(problem(&format!("[Termination \"time\"]\n{won} 1-0")), (3, P::WrongTermination { .. })));
    assert!(matches!(problem(&format!("{won} ra2 1-0")), (2, P::Move { ply: 1, error: PlayError::Over })));
}

#[test]
fn records_are_read_as_people_write_them() {
    let text = "[White \"Anna\"]\n1.Eb3 1...rb7 {a \\} b} 2. c3c2{}\n* [FEN \"2C4/7/7/7/7/7/7/7/r6 w\"]";
    assert!(Record::parse_all(text).is_err(), "a tag has a line of its own");
    let text = "[White \"Anna\"]\n1.Eb3 1...rb7 {a \\} b} 2. c3c2{}\n*\n[FEN \"2C4/7/7/7/7/7/7/7/r6 w\"]\n1. Cd9 1-0\n\
                [Termination \"resignation\"]\n0-1";
    let records = Record::parse_all(text).unwrap();
    assert_eq!(records.len(), 3);
    assert_eq!(records[0].white, "Anna");
    assert_eq!(records[0].comments, ["", "a } b", ""]);
    assert_eq!(records[0].conclusion(), Conclusion::Unfinished);
    assert_eq!(records[1].conclusion(), Conclusion::Rules(GameEnd::Den(Color::White)));
    let given_up = Forfeit { loser: Color::White, reason: ForfeitReason::Resignation };
    assert_eq!(records[2].conclusion(), Conclusion::Forfeit(given_up));
    assert_eq!(records[2].conclusion().winner(), Some(Color::Black));
    assert_eq!(records[2].game.no_capture_limit(), Some(Game::NO_CAPTURE_LIMIT));
}

/// A result that the rules do not give, without a reason, is an adjudication, and is written with it.
#[test]
fn a_result_needs_no_reason() {
    for (result, winner) in [("1-0", Some(Color::White)), ("0-1", Some(Color::Black)), ("1/2-1/2", None)] {
        let records = Record::parse_all(&format!("[Result \"{result}\"]\n\n1. Eb3 {result}")).unwrap();
        assert_eq!(records[0].conclusion(), Conclusion::Adjudicated(winner));
        let text = records[0].to_text().unwrap();
        assert!(text.contains("[Termination \"adjudication\"]\n"), "{text}");
        assert_eq!(Record::parse_all(&text).unwrap()[0].conclusion(), Conclusion::Adjudicated(winner));
    }
}

/// A player without a name has no tag, unless the tag tells the game from one of Mistboard.
#[test]
fn players_without_names_have_no_tags() {
    let black_moves = "[FEN \"7/7/3e3/7/7/7/3E3/7/7 b\"]\n\n1... Ed6 *";
    for (tags, begins) in [
        ("", "[Rules "),
        ("[Black \"Bo\"]\n", "[Black \"Bo\"]\n[Rules "),
        ("[White \"\"]\n[Red \"Bo\"]\n", "[White \"\"]\n[Rules "),
    ] {
        let record = Record::parse_all(&format!("{tags}{black_moves}")).unwrap().remove(0);
        let text = record.to_text().unwrap();
        assert!(text.starts_with(begins), "{text}");
        assert_eq!(Record::parse_all(&text).unwrap()[0].tags, record.tags);
    }
}

/// Comments after a semicolon, and moves in Chinese, as people and the Chinese page write them.
#[test]
fn other_spellings_are_read() {
    let text = "1. 象b3! ; straight on (no { joke\n鼠b7 2. 獅f1;\n*";
    let record = Record::parse_all(text).unwrap().remove(0);
    assert_eq!(record.comments, ["straight on (no { joke", "", ""]);
    assert!(record.to_text().unwrap().ends_with("1. Eb3 $1 {straight on (no { joke} Rb7 2. Lf1 *\n"));
}

/// A comment before the first move belongs to the game, and there is at most one.
#[test]
fn a_game_has_a_comment() {
    for first in ["{a \\} b}", "\n{a \\} b}\n", "; a } b\n"] {
        for moves in ["1. Eb3 {slow} (1. Ea4) Rb7", ""] {
            let record = Record::parse_all(&format!("[White \"Anna\"]\n{first} {moves} *")).unwrap().remove(0);
            assert_eq!((record.white.as_str(), record.comment.as_str()), ("Anna", "a } b"));
            assert_eq!(record.comments.len(), usize::from(!moves.is_empty()));
            let text = record.to_text().unwrap();
            assert!(text.contains("\n\n{a \\} b} "), "{text}");
            assert_eq!(Record::parse_all(&text).unwrap()[0].to_text(), Ok(text));
        }
    }
    let games = Record::parse_all("{one} 1. Eb3 * {two} 1. Eb3 * 1. Eb3 *").unwrap();
    assert_eq!(games.iter().map(|game| game.comment.as_str()).collect::<Vec<_>>(), ["one", "two", ""]);
    let mut reader = RecordReader::default();
    assert!(reader.line("{lost} 1. Eb9 *").is_err());
    assert_eq!(reader.line("1. Eb3 *").unwrap()[0].comment, "");
    for (wrong, problem) in [
        ("{a} {b} 1. Eb3 *", RecordProblem::Comment),
        ("1. Eb3 ({a} 1. Ea4) *", RecordProblem::Comment),
        ("{a}\n[White \"Anna\"]", RecordProblem::TagAmongMoves),
        ("{a}", RecordProblem::UnexpectedEnd),
    ] {
        assert_eq!(Record::parse_all(wrong).unwrap_err().problem, problem, "{wrong}");
    }
}

/// Games of Mistboard are those of the mirrored board, and a board that is unknown is not guessed.
#[test]
fn games_of_other_programs_are_recognised() {
    let read = |text: &str| Record::parse_all(text).map(|mut games| games.remove(0));
    let own = read("1. f2f3 (1. b2b3 {a1}) 1... b8b7 2. Cb3 *").unwrap();
    let moves = "1. b2b3 (1. f2f3 {a1}) 1... f8f7 2. Cf3 *";
    let fen = "[FEN \"t5l/1c3d1/e1w1p1r/7/7/7/R1P1W1E/1D3C1/L5T r 0 1\"]\n";
    let red = "[Red \"Anna\"]\n[Black \"Bo\"]\n[Variant \"Jungle\"]\n";
    for tags in [red, fen, &[fen, red].concat()] {
        let game = read(&format!("{tags}\n{moves}")).unwrap();
        assert_eq!((game.game.moves(), &game.variations), (own.game.moves(), &own.variations), "{tags}");
        assert_eq!(game.game.positions(), own.game.positions());
        assert_eq!(game.white, if tags.contains("Anna") { "Anna" } else { "" });
        assert_eq!(read(&game.to_text().unwrap()).unwrap().to_text(), game.to_text());
    }
    let black = "[Red \"Anna\"]\n[FEN \"6r/7/7/7/7/7/7/7/R6 b 0 1\"]\n\n1... g9f9 *";
    assert_eq!(read(black).unwrap().game.fen().to_string(), "1r5/7/7/7/7/7/7/7/6R w 1");
    // A position of this notation tells which board it is.
    let white = format!("[Red \"Anna\"]\n[FEN \"{}\"]\n\n1. f2f3 b8b7 2. Cb3 *", STARTS[0]);
    assert_eq!(read(&white).unwrap().game.moves(), own.game.moves());
    assert_eq!(problem("[Variant \"Jungle\"]\n\n1. b2b3 *"), (3, RecordProblem::Variant));
    assert!(matches!(problem("[FEN \"7/7 r 0 1\"]\n"), (1, RecordProblem::Fen(_))));
}

/// What is written is read as the same game, whatever a program has put into it; or it is refused.
#[test]
fn hostile_records_are_refused_or_read() {
    let rats = game("7/7/7/7/3r3/7/3R3/7/7 w", "paper", Some(100));
    let mut on = played(rats.clone(), &"Rc3 rc5 Rd3 rd5 ".repeat(2));
    on.play_on(Move::parse("Re3", on.position(), on.rules()).unwrap()).unwrap();
    let text = Record::new(on.clone()).to_text().unwrap();
    let read = &Record::parse_all(&text).unwrap()[0].game;
    assert_eq!((read.moves(), read.rules().options().repetition), (on.moves(), Repetition::None));
    let mut late = played(game("7/7/7/7/3r3/7/3R3/7/7 w", "paper", Some(3)), "Rc3 rc5 Rd3");
    late.play_on(late.position().moves(late.rules())[0]).unwrap();
    let text = Record::new(late.clone()).to_text().unwrap();
    assert_eq!(Record::parse_all(&text).unwrap()[0].game.moves(), late.moves());

    use RecordProblem as P;
    let refused = |change: &dyn Fn(&mut Record)| {
        let mut record = Record::new(played(rats.clone(), "Rc3"));
        change(&mut record);
        record.to_text().expect_err("this cannot be written")
    };
    let tag = |name: &str| refused(&|record| record.tags = vec![(name.to_owned(), String::new())]);
    for name in ["White", "Black", "Rules", "NoCaptureLimit", "FEN", "Result", "Termination"] {
        assert_eq!(tag(name), P::DuplicateTag { name: name.to_owned() });
    }
    for name in ["", "a b", "x \"1\"]\n[y", "ä", "["] {
        assert_eq!(tag(name), P::TagName { name: name.to_owned() });
    }
    let date = refused(&|record| record.date = Some("tomorrow".to_owned()));
    assert_eq!(date, P::Date { found: "tomorrow".to_owned() });
    let from = |clock, limit| {
        Record::new(Game::from_fen(Fen { position: Position::start(), halfmove_clock: clock }, Rules::default(), limit))
    };
    assert_eq!(from(0, Some(0)).to_text(), Err(P::NoCaptureLimit { found: "0".to_owned() }));
    assert!(Record::parse_all(&from(2_000_000_000, None).to_text().unwrap()).is_ok());
    let start = rats.position().clone();
    let earlier = Record::new(rats.clone().with_earlier(vec![start.pass(), start]));
    assert_eq!(earlier.to_text(), Err(P::EarlierPositions));
    assert_eq!(refused(&|record| record.comments = vec![String::new(), "late".to_owned()]), P::Comment);
    assert_eq!(refused(&|record| record.nags = vec![[].into(), [1].into()]), P::Nag);
    let variation = |ply, moves: &[Move]| {
        let moves = moves.to_vec();
        refused(&move |record| {
            let moves = moves.clone();
            record.variations = vec![Variation { ply, moves, nags: vec![], comments: vec![], variations: vec![] }];
        })
    };
    let black = played(rats.clone(), "Rc3 rc5").moves()[1];
    assert_eq!(variation(0, &[]), P::Variation);
    assert_eq!(variation(1, &[black]), P::Variation);
    assert!(matches!(variation(0, &[black]), P::Move { ply: 0, error: PlayError::Illegal { .. } }));
    assert!(matches!(variation(0, &[rats.legal_moves()[0], rats.legal_moves()[0]]), P::Move { ply: 1, .. }));
}

/// The example on the notation page is a valid game.
#[test]
fn the_game_on_the_page_is_one() {
    let page = include_str!("../../docs/notation.md");
    let begin = page.find("[White ").unwrap();
    let text = &page[begin..begin + page[begin..].find("```").unwrap()];
    let records = Record::parse_all(text).unwrap();
    assert_eq!((records.len(), records[0].game.moves().len()), (1, 3));
    assert_eq!(records[0].conclusion().termination(), "time");
}
