//! Wins, their lines and the limits of their length.

use super::{depth, rules, search, small};
use doushouqi::board::{Move, Position, RuleOptions};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::search::{Engine, EngineOptions, Limits, Tables};
use doushouqi::tablebase::{Probe, Wdl};
use std::sync::Arc;

/// The third occurrence of a position is a draw: the losing side aims for it, at any depth.
#[test]
fn the_side_behind_repeats() {
    let rules = rules("paper");
    let start = Position::from_fen("e5l/7/7/7/7/7/7/7/1R5 b").unwrap();
    let mut game = Game::new(start, rules, None);
    for text in ["g9g8", "b1a1", "g8g9", "a1b1", "g9g8", "b1a1", "g8g9"] {
        let mv = Move::parse(text, game.position(), game.rules()).unwrap();
        game.play(mv).unwrap();
    }
    for plies in 2..=10 {
        for options in [EngineOptions::default(), EngineOptions::burnett_alphabeta()] {
            let found = search(&mut Engine::new(small(options)), &game, &depth(plies));
            assert_eq!(found.best().unwrap().to_string(), "a1b1", "depth {plies}");
            assert_eq!(found.lines[0].score.value(), 0, "depth {plies}");
        }
        // With contempt the engine still prefers the draw to a loss, with a lower score.
        let found = search(&mut Engine::new(small(EngineOptions::default().contempt(40))), &game, &depth(plies));
        assert_eq!((found.best().unwrap().to_string(), found.lines[0].score.value()), ("a1b1".to_owned(), -40));
    }
}

/// A win after the no-capture limit does not count.
#[test]
fn a_win_beyond_the_no_capture_limit_is_none() {
    // Three plies to the den: d7-d8, where no piece can capture the lion; any move; d8-d9.
    let position = Position::from_fen("7/7/3L3/7/7/7/7/7/r6 w").unwrap();
    for (limit, wins) in [(100, true), (3, true), (2, false), (1, false)] {
        let game = Game::new(position.clone(), rules("paper"), Some(limit));
        for options in [EngineOptions::default(), EngineOptions::burnett_alphabeta()] {
            let found = search(&mut Engine::new(small(options)), &game, &depth(6));
            let score = found.lines[0].score;
            assert_eq!(score.win_in().is_some(), wins, "limit {limit}: {score}");
        }
    }
}

/// A win after the no-capture limit does not count either if the game begins with a halfmove clock, with or without
/// tables.
#[test]
fn a_win_beyond_the_halfmove_clock_is_none() {
    let tables = Arc::new(Tables::solve(&RuleOptions::default(), 2).unwrap());
    for (clock, wins) in [(0, true), (97, true), (98, false), (99, false)] {
        let start = format!("7/7/3L3/7/7/7/7/7/r6 w {clock}").parse().unwrap();
        let game = Game::from_fen(start, rules("paper"), Some(100));
        let with_tables = EngineOptions::default().tables(tables.clone());
        for options in [EngineOptions::default(), EngineOptions::burnett_alphabeta(), with_tables] {
            let found = search(&mut Engine::new(small(options)), &game, &depth(6));
            let score = found.lines[0].score;
            assert_eq!(score.win_in().is_some(), wins, "clock {clock}: {score}");
        }
    }
    let drawn = Game::from_fen("7/7/3L3/7/7/7/7/7/r6 w 100".parse().unwrap(), rules("paper"), Some(100));
    assert!(search(&mut Engine::new(small(EngineOptions::default())), &drawn, &depth(6)).lines.is_empty());
}

/// A win that was found far from the no-capture limit is none for a game that is closer to it, and the reverse, although
/// the transposition table keeps the entries.
#[test]
fn entries_of_another_clock_give_no_win() {
    let rules = rules("paper");
    let mut random = Random::new(13);
    let tables = Tables::solve(rules.options(), 2).unwrap();
    let long = |position: &Position| {
        let value = tables.value(position).unwrap().unwrap();
        value.wdl == Wdl::Win && value.dtw.is_some_and(|plies| (15..30).contains(&plies))
    };
    let positions: Vec<Position> = std::iter::repeat_with(|| random.position(2, &rules)).filter(long).take(8).collect();
    let mut wins = 0;
    for position in positions {
        let plies = u32::from(tables.value(&position).unwrap().unwrap().dtw.unwrap());
        let game = |left: u32| {
            let start = format!("{} {}", position.to_fen(), 100 - left).parse().unwrap();
            Game::from_fen(start, rules.clone(), Some(100))
        };
        let won =
            |engine: &mut Engine, left: u32| search(engine, &game(left), &depth(plies + 4)).lines[0].score.is_win();
        let mut engine = Engine::new(small(EngineOptions::default()));
        // The losing side may delay the last capture or the den, so a few plies more decide.
        let first = won(&mut engine, 100);
        for left in [plies - 1, plies - 2, plies / 2] {
            assert!(!won(&mut engine, left), "{position:?}: {plies} plies, {left} left");
        }
        assert_eq!(won(&mut engine, 100), first, "{position:?}");
        wins += usize::from(first);
    }
    assert!(wins > 4, "{wins}");
}

/// The line of a win or loss of known distance has that many plies, and ends the game.
#[test]
fn lines_of_wins_lead_to_the_end() {
    let mut random = Random::new(14);
    let rules = rules("paper");
    let kinds = [EngineOptions::default(), EngineOptions::default().multipv(3), EngineOptions::burnett_alphabeta()];
    let (mut complete, mut bounds) = ([0; 3], [0; 3]);
    let fixed = Position::from_fen("7/7/7/3C3/7/7/7/7/e6 w").unwrap();
    let positions = (0..120).map(|i| random.position(2 + i % 9, &rules)).chain([fixed]);
    for position in positions.collect::<Vec<_>>() {
        let game = Game::new(position, rules.clone(), Some(100));
        for (kind, options) in kinds.iter().enumerate() {
            let mut lines = Vec::new();
            let limits = Limits::default().depth(9).nodes(20_000);
            let mut engine = Engine::new(small(options.clone()));
            let found = engine.search(&game, &limits).on_info(|info| lines.push(info.clone())).run();
            for line in lines.iter().chain(&found.lines) {
                let (score, mut end) = (line.score, game.clone());
                bounds[kind] +=
                    usize::from((score.is_win() || score.is_loss()) && score.win_in().or(score.loss_in()).is_none());
                let Some(plies) = score.win_in().or(score.loss_in()) else { continue };
                line.pv.iter().for_each(|&mv| end.play(mv).unwrap());
                let turn = game.position().turn();
                let winner = if score.is_win() { turn } else { !turn };
                assert_eq!(line.pv.len(), plies as usize, "{score} {:?}: {:?}", game.position(), line.pv);
                assert_eq!(
                    end.end().and_then(|end| end.winner()),
                    Some(winner),
                    "{:?}: {:?}",
                    game.position(),
                    line.pv
                );
                complete[kind] += 1;
            }
        }
    }
    assert!(complete.iter().all(|&complete| complete > 100), "{complete:?}");
    // The line of the papers' engine ends where its transposition table does.
    assert!(bounds[0] + bounds[1] == 0 && bounds[2] < complete[2], "{bounds:?} {complete:?}");
}

/// A search for a mate finds each mate of at most so many moves that the tables know, and no longer one.
#[test]
fn a_search_for_a_mate_is_exact() {
    let mut random = Random::new(15);
    let rules = rules("paper");
    let tables = Tables::solve(rules.options(), 3).unwrap();
    let mut engine = Engine::new(small(EngineOptions::default()));
    let mut found = [0; 2];
    for _ in 0..150 {
        let position = random.position(3, &rules);
        let value = tables.value(&position).unwrap().unwrap();
        let game = Game::new(position.clone(), rules.clone(), None);
        for moves in 1..=4 {
            let result = search(&mut engine, &game, &Limits::default().mate(moves));
            let exists = value.wdl == Wdl::Win && u32::from(value.dtw.unwrap()) < 2 * moves;
            let score = result.lines[0].score;
            assert_eq!(score.win_in().is_some_and(|plies| plies < 2 * moves), exists, "{position:?} {moves}: {score}");
            found[usize::from(exists)] += 1;
        }
    }
    assert!(found.iter().all(|&found| found > 50), "{found:?}");
}

#[test]
fn a_win_at_once_is_played() {
    for (fen, best) in [("7/3C3/7/7/7/7/4e2/7/7 w", "d8d9"), ("7/7/7/7/7/7/Ec5/7/7 w", "a3b3")] {
        let game = Game::new(Position::from_fen(fen).unwrap(), rules("paper"), Some(100));
        for options in [EngineOptions::default(), EngineOptions::burnett_alphabeta()] {
            let found = search(&mut Engine::new(small(options)), &game, &depth(4));
            assert_eq!(found.best().unwrap().to_string(), best);
            assert_eq!(found.lines[0].score.win_in(), Some(1));
        }
    }
}

/// The lion reaches the den in five plies, although White stands well.
#[test]
fn a_way_to_the_den_is_found() {
    let position = Position::from_fen("1d4t/1r3c1/2p1w1e/7/7/T6/2l3R/E4D1/2C1PL1 b").unwrap();
    let game = Game::new(position, rules("chinese"), Some(100));
    let found = search(&mut Engine::new(small(EngineOptions::default())), &game, &depth(8));
    assert_eq!((found.best().unwrap().to_string().as_str(), found.lines[0].score.win_in()), ("c3c2", Some(5)));
}
