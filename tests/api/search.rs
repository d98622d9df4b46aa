//! The engine against minimax, against the endgame tables, and with any position, game and limit.

use doushouqi::board::{Color, Move, Position, RuleOptions, Rules};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::search::{
    Clock, Engine, EngineOptions, EvalContext, Evaluate, Evaluation, Info, Limits, SearchOptions, SearchResult, Tables,
    bench, burnett, minimax,
};
use doushouqi::tablebase::{Probe, Wdl};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const PRESETS: [&str; 6] = ["paper", "cazaux", "bodlaender", "quadibloc", "bell", "chinese"];

fn rules(text: &str) -> Rules {
    Rules::new(text.parse::<RuleOptions>().unwrap())
}

fn depth(depth: u32) -> Limits {
    Limits::default().depth(depth)
}

fn small(options: EngineOptions) -> EngineOptions {
    options.hash_mib(2)
}

fn search(engine: &mut Engine, game: &Game, limits: &Limits) -> SearchResult {
    engine.search(game, limits).run()
}

/// A game of random moves from the start that is not over.
fn random_game(random: &mut Random, rules: &Rules, plies: usize) -> Game {
    let mut game = Game::new(Position::start(), rules.clone(), Some(Game::NO_CAPTURE_LIMIT));
    random.play(&mut game, plies);
    if game.end().is_some() {
        game.undo();
    }
    game
}

/// The value from White's view, in the units of [`minimax`].
fn value(result: &SearchResult, turn: Color) -> i32 {
    let value = result.lines[0].score.value();
    if turn == Color::White { value } else { -value }
}

/// Both searches without pruning and extensions equal minimax. The transposition table is off: with it, a value may
/// come from another path, on which other positions are repetitions.
#[test]
fn plain_searches_are_minimax() {
    let mut random = Random::new(1);
    for preset in PRESETS.iter().filter(|p| !p.contains("cazaux")) {
        let rules = rules(preset);
        let plain = EngineOptions::default().search(SearchOptions::NONE).evaluation(Evaluation::Burnett);
        let mut engine = Engine::new(small(plain));
        for round in 0..40 {
            let pieces = 2 + round % 12;
            let position = random.position(pieces, &rules);
            let game = Game::new(position.clone(), rules.clone(), None);
            for plies in 1..=4 {
                let expected = minimax(&position, &rules, plies);
                let found = search(&mut engine, &game, &depth(plies));
                assert_eq!(value(&found, position.turn()), expected.value, "{position:?} depth {plies} {preset}");
                assert!(expected.best.contains(&found.best().unwrap()), "{position:?} depth {plies} {preset}");
            }
        }
    }
}

/// Burnett's evaluation as a caller would write it.
struct Foreign {
    calls: u64,
}

impl Evaluate for Foreign {
    fn evaluate(&mut self, context: &EvalContext<'_>) -> i32 {
        self.calls += 1;
        let position = context.position();
        assert_eq!(position.key(), position.compute_key());
        for (piece, _) in position.pieces().filter(|(piece, _)| piece.color == position.turn()) {
            let legal = position.moves(context.rules());
            let targets = legal.iter().filter(|mv| mv.animal == piece.animal).map(|mv| mv.to).collect();
            assert_eq!(context.targets(piece), targets, "{position:?}");
        }
        let white = burnett::evaluate(&position);
        if position.turn() == Color::White { white } else { -white }
    }
}

/// The engine plays with an evaluation of the caller, and plain search with it equals minimax.
#[test]
fn a_foreign_evaluation_is_searched_like_a_built_in_one() {
    let mut random = Random::new(12);
    let foreign = || EngineOptions::default().evaluation(Evaluation::custom(|_| Box::new(Foreign { calls: 0 })));
    for search_options in [SearchOptions::NONE, EngineOptions::burnett_alphabeta().search] {
        let mut engine = Engine::new(small(foreign().search(search_options)));
        // Rules change from game to game.
        for preset in ["paper", "chinese", "paper"] {
            let rules = rules(preset);
            for _ in 0..10 {
                let position = random.position(9, &rules);
                let game = Game::new(position.clone(), rules.clone(), None);
                let found = search(&mut engine, &game, &depth(3));
                let expected = minimax(&position, &rules, 3).value;
                assert_eq!(value(&found, position.turn()), expected, "{position:?} {preset} {search_options}");
            }
        }
    }
    // With two threads, all techniques, and after a new game.
    let mut engine = Engine::new(small(foreign().threads(2)));
    for _ in 0..2 {
        let found = search(&mut engine, &Game::default(), &depth(6));
        assert!(Game::default().legal_moves().contains(&found.best().unwrap()));
        engine.new_game();
    }
}

/// An estimate is never a certain win, even if the evaluation returns extreme values.
#[test]
fn extreme_evaluations_are_estimates() {
    struct Extreme(i32);
    impl Evaluate for Extreme {
        fn evaluate(&mut self, _: &EvalContext<'_>) -> i32 {
            self.0
        }
    }
    for extreme in [i32::MIN, -30_000, 30_000, i32::MAX] {
        let evaluation = Evaluation::custom(move |_| Box::new(Extreme(extreme)));
        let mut engine = Engine::new(small(EngineOptions::default().evaluation(evaluation)));
        let score = search(&mut engine, &Game::default(), &depth(4)).lines[0].score;
        assert!(!score.is_win() && !score.is_loss(), "{extreme}: {score}");
    }
}

/// Techniques that must not change a value, one by one and together.
#[test]
fn ordering_and_exact_bounds_change_no_value() {
    let mut random = Random::new(2);
    let rules = rules("paper");
    let variants = ["none,+killers,+history,+continuation", "none,+mate-distance", "none,+aspiration,+history"];
    for techniques in variants {
        let options = EngineOptions::default().search(techniques.parse().unwrap()).evaluation(Evaluation::Burnett);
        let mut engine = Engine::new(small(options));
        for _ in 0..12 {
            let game = random_game(&mut random, &rules, 60);
            let position = game.position().clone();
            // Without the history, which minimax ignores.
            let game = Game::new(position.clone(), rules.clone(), None);
            for plies in 2..=5 {
                let found = search(&mut engine, &game, &depth(plies));
                let expected = minimax(&position, &rules, plies).value;
                assert_eq!(value(&found, position.turn()), expected, "{techniques}: {position:?} depth {plies}");
            }
        }
    }
}

/// The papers' engine finds the published values of the start.
#[test]
fn the_papers_engine_finds_the_published_values() {
    let game = Game::new(Position::start(), rules("paper"), None);
    for (plies, expected) in (1..).zip([5, 0, 3, 0, 3, 0, 3]) {
        let mut engine = Engine::new(small(EngineOptions::burnett_alphabeta()));
        assert_eq!(search(&mut engine, &game, &depth(plies)).lines[0].score.value(), expected, "depth {plies}");
    }
}

/// A win or loss that the search announces without tables is a win or loss by the tables, and not shorter.
#[test]
fn announced_wins_are_in_the_tables() {
    let mut random = Random::new(3);
    for preset in ["paper", "chinese", "bodlaender"] {
        let rules = rules(preset);
        let tables = Tables::solve(rules.options(), 3).unwrap();
        let mut engine = Engine::new(small(EngineOptions::default()));
        let mut announced = 0;
        for _ in 0..150 {
            let position = random.position(3, &rules);
            let game = Game::new(position.clone(), rules.clone(), None);
            let found = search(&mut engine, &game, &depth(9));
            let value = tables.value(&position).unwrap().unwrap();
            let score = found.lines[0].score;
            if let Some(plies) = score.win_in() {
                assert_eq!(value.wdl, Wdl::Win, "{position:?} {preset}");
                assert!(plies >= u32::from(value.dtw.unwrap()), "{position:?} {preset}: {plies}");
                announced += 1;
            } else if let Some(plies) = score.loss_in() {
                assert_eq!(value.wdl, Wdl::Loss, "{position:?} {preset}");
                // A search that prunes may underestimate a defence, but the loss is real.
                assert!(plies > 0);
                announced += 1;
            }
        }
        assert!(announced > 30, "{preset}: {announced}");
    }
}

/// Without pruning, distances to the den are exact.
#[test]
fn distances_of_a_full_search_are_those_of_the_tables() {
    let mut random = Random::new(4);
    let rules = rules("paper");
    let tables = Tables::solve(rules.options(), 3).unwrap();
    let techniques: SearchOptions = "none,+den-threats,+quiescence,+history,+mate-distance".parse().unwrap();
    let mut engine = Engine::new(small(EngineOptions::default().search(techniques)));
    let mut decided = 0;
    for _ in 0..80 {
        let position = random.position(3, &rules);
        let value = tables.value(&position).unwrap().unwrap();
        let Some(plies) = value.dtw.filter(|&plies| plies <= 8) else { continue };
        let game = Game::new(position.clone(), rules.clone(), None);
        let score = search(&mut engine, &game, &depth(u32::from(plies))).lines[0].score;
        let found = if value.wdl == Wdl::Win { score.win_in() } else { score.loss_in() };
        assert_eq!(found, Some(u32::from(plies)), "{position:?}");
        decided += 1;
    }
    assert!(decided > 15, "{decided}");
}

/// With tables the engine wins a won endgame within the distance of the tables, against any defence.
#[test]
fn with_tables_wins_take_the_shortest_way() {
    let mut random = Random::new(5);
    let rules = rules("paper");
    let tables = Arc::new(Tables::solve(rules.options(), 3).unwrap());
    let options = EngineOptions::default().tables(tables.clone());
    let mut engine = Engine::new(small(options));
    let (mut won, mut drawn) = (0, 0);
    for _ in 0..200 {
        let position = random.position(3, &rules);
        let mut game = Game::new(position.clone(), rules.clone(), None);
        let value = tables.value(&position).unwrap().unwrap();
        if value.wdl == Wdl::Draw {
            // The move played keeps the draw.
            let mv = search(&mut engine, &game, &depth(3)).best().unwrap();
            let after = tables.value(&position.make(mv)).unwrap().unwrap();
            assert_eq!(after.wdl, Wdl::Draw, "{position:?} {mv}");
            drawn += 1;
        }
        if value.wdl != Wdl::Win {
            continue;
        }
        let mut plies = value.dtw.unwrap();
        while game.end().is_none() {
            let mine = plies % 2 == 1;
            if mine {
                let found = search(&mut engine, &game, &depth(3));
                assert_eq!(found.lines[0].score.win_in(), Some(u32::from(plies)));
                game.play(found.best().unwrap()).unwrap();
                plies -= 1;
            } else {
                let moves = game.legal_moves();
                game.play(*random.choose(&moves).unwrap()).unwrap();
                // A random defence may shorten the game, but never lengthen it.
                let after = tables.value(game.position()).unwrap().unwrap().dtw.unwrap();
                assert!(after < plies, "{position:?}");
                plies = after;
            }
        }
        assert_eq!(game.end().unwrap().winner(), Some(position.turn()));
        won += 1;
    }
    assert!(won > 40 && drawn > 0, "{won} {drawn}");
}

/// Tables in the tree: from positions of five pieces the search reaches the tables.
#[test]
fn tables_in_the_tree_agree_with_larger_tables() {
    let mut random = Random::new(6);
    let rules = rules("paper");
    let small_tables = Arc::new(Tables::solve(rules.options(), 2).unwrap());
    let large = Tables::solve(rules.options(), 3).unwrap();
    let mut engine = Engine::new(small(EngineOptions::default().tables(small_tables)));
    let (mut hits, mut table_wins) = (0, 0);
    for _ in 0..400 {
        let position = random.position(3, &rules);
        let game = Game::new(position.clone(), rules.clone(), None);
        let found = search(&mut engine, &game, &depth(4));
        hits += found.lines[0].tbhits;
        let score = found.lines[0].score;
        let truth = large.value(&position).unwrap().unwrap();
        let dtw = truth.dtw.map_or(0, u32::from);
        if let Some(plies) = score.win_within() {
            assert_eq!(truth.wdl, Wdl::Win, "{position:?}");
            assert!(plies >= dtw, "{position:?}: {score}, {dtw} plies");
        } else if let Some(plies) = score.loss_within() {
            assert_eq!(truth.wdl, Wdl::Loss, "{position:?}");
            assert!(plies >= dtw, "{position:?}: {score}, {dtw} plies");
        } else {
            assert!(score.value().abs() < 25_001, "{position:?}: {score}");
        }
        table_wins += usize::from(score.win_within().is_some() && score.win_in().is_none());
    }
    assert!(table_wins > 2, "{table_wins}");
    assert!(hits > 0);
}

/// Under any rules, in any game and with any limit, the engine returns a legal move if one exists.
#[test]
fn always_a_legal_move() {
    let mut random = Random::new(7);
    let limits = [
        Limits::default().nodes(1),
        Limits::default().nodes(0),
        Limits::default().nodes(777),
        depth(1),
        depth(3),
        Limits::default().movetime(Duration::ZERO),
        Limits::default().movetime(Duration::from_millis(1)),
        Limits::default().clock(Clock { remaining: Duration::ZERO, increment: Duration::ZERO, moves_to_go: None }),
    ];
    let engines = [
        EngineOptions::default(),
        EngineOptions::default().threads(2),
        EngineOptions::default().multipv(5),
        EngineOptions::burnett_alphabeta(),
        EngineOptions::burnett_alphabeta().multipv(3),
    ];
    for options in engines {
        let mut engine = Engine::new(small(options));
        for preset in PRESETS.into_iter().chain(["paper,repetition=twofold", "chinese,repetition=illegal"]) {
            let rules = rules(preset);
            for plies in [0, 7, 40, 150, 400] {
                let game = random_game(&mut random, &rules, plies);
                for limits in &limits {
                    let found = search(&mut engine, &game, limits);
                    let legal = game.legal_moves();
                    assert_eq!(found.best().is_some(), !legal.is_empty());
                    for line in &found.lines {
                        assert!(legal.contains(&line.pv[0]), "{preset} {limits:?}");
                        assert_line(&game, &line.pv);
                    }
                }
            }
        }
    }
}

/// Checks that every move of a line is legal.
fn assert_line(game: &Game, line: &[Move]) {
    let mut position = game.position().clone();
    for &mv in line {
        assert!(position.moves(game.rules()).contains(&mv), "{mv} in {line:?} from {:?}", game.position());
        position = position.make(mv);
    }
}

#[test]
fn finished_games_have_no_move() {
    for fen in ["7/3E3/7/7/7/7/3e3/7/3r3 w", "7/7/7/7/7/7/7/7/E6 b", "3R3/7/7/7/e6/7/7/7/7 b"] {
        let game = Game::new(Position::from_fen(fen).unwrap(), rules("paper"), None);
        for options in [EngineOptions::default(), EngineOptions::burnett_alphabeta()] {
            let found = search(&mut Engine::new(small(options)), &game, &depth(5));
            assert!(found.lines.is_empty() == game.legal_moves().is_empty(), "{fen}");
        }
    }
}

#[test]
fn a_search_stops_when_told() {
    let game = Game::new(Position::start(), rules("paper"), Some(100));
    for options in [EngineOptions::default(), EngineOptions::default().threads(2), EngineOptions::burnett_alphabeta()] {
        let mut engine = Engine::new(small(options));
        // Before it begins.
        let found = engine.search(&game, &Limits::default()).stop(&AtomicBool::new(true)).run();
        assert!(game.legal_moves().contains(&found.best().unwrap()));
        // While it runs.
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(60));
                stop.store(true, Ordering::Relaxed);
            });
            let found = engine.search(&game, &Limits::default()).stop(&stop).run();
            assert!(game.legal_moves().contains(&found.best().unwrap()));
        });
    }
}

#[test]
fn node_limits_are_kept_and_repeatable() {
    let game = Game::new(Position::start(), rules("paper"), Some(100));
    for limit in [1, 100, 5000, 54_321] {
        let limits = Limits::default().nodes(limit);
        let run = |options: EngineOptions| {
            let found = search(&mut Engine::new(small(options)), &game, &limits);
            (found.best(), found.lines[0].score, found.lines[0].nodes)
        };
        let first = run(EngineOptions::default());
        assert!(first.2 <= limit + 2, "{} nodes of {limit}", first.2);
        assert_eq!(first, run(EngineOptions::default()));
    }
}

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

/// The clock of a search may have started before the search.
#[test]
fn a_clock_may_have_started_before() {
    let before = Instant::now();
    std::thread::sleep(Duration::from_millis(20));
    let limits = Limits::default().movetime(Duration::from_millis(10));
    let mut engine = Engine::new(small(EngineOptions::default()));
    let found = engine.search(&Game::default(), &limits).started(before).run();
    assert!(found.lines[0].time >= Duration::from_millis(20) && found.lines[0].nodes <= 2048);
}

/// More contempt than the highest counts as the highest.
#[test]
fn contempt_has_a_limit() {
    let drawn = Game::from_fen("7/7/3e3/7/7/7/3E3/7/7 w 99".parse().unwrap(), rules("paper"), Some(100));
    for contempt in [1000, 1001, 60_000] {
        let mut engine = Engine::new(small(EngineOptions::default().contempt(contempt)));
        assert_eq!(search(&mut engine, &drawn, &depth(4)).lines[0].score.value(), -1000, "{contempt}");
    }
}

/// Wherever a search is stopped, its lines have one depth and are in order, as are the lines of each report.
#[test]
fn interrupted_lines_are_of_one_depth() {
    let game = Game::new(Position::start(), rules("paper"), Some(100));
    let kinds = [EngineOptions::default().multipv(3), EngineOptions::burnett_alphabeta().multipv(3)];
    let mut depths = std::collections::BTreeSet::new();
    for nodes in (1..60).map(|i| i * 150) {
        for options in kinds.clone() {
            let mut reported: Vec<Info> = Vec::new();
            let limits = Limits::default().nodes(nodes);
            let stop = AtomicBool::new(false);
            let lines = Engine::new(small(options))
                .search(&game, &limits)
                .stop(&stop)
                .on_info(|info| reported.push(info.clone()))
                .run()
                .lines;
            assert_eq!(lines.len(), 3);
            for lines in reported.chunks(3).chain([&lines[..]]) {
                assert!(lines.iter().all(|line| line.depth == lines[0].depth), "{nodes} nodes: {lines:?}");
                assert!(lines.is_sorted_by(|a, b| a.score >= b.score), "{nodes} nodes: {lines:?}");
                assert_eq!(lines.iter().map(|line| line.multipv).collect::<Vec<_>>(), [1, 2, 3]);
            }
            depths.insert(lines[0].depth);
        }
    }
    assert!(depths.len() > 3, "{depths:?}");
}

#[test]
fn multipv_gives_different_moves_in_order() {
    let game = Game::new(Position::start(), rules("paper"), Some(100));
    let mut engine = Engine::new(small(EngineOptions::default().multipv(4)));
    let lines = search(&mut engine, &game, &depth(7)).lines;
    assert_eq!(lines.len(), 4);
    for (i, line) in lines.iter().enumerate() {
        assert_eq!(line.multipv, i + 1);
        assert!(i == 0 || lines[i - 1].score >= line.score);
        assert!(lines[..i].iter().all(|other| other.pv[0] != line.pv[0]));
    }
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

/// The signature that `dsq bench` prints. A commit that changes the engine's behaviour changes this number and says so.
const SIGNATURE: u64 = 3_204_625;

#[test]
fn the_bench_signature_is_known() {
    let options = EngineOptions::default().hash_mib(16);
    assert_eq!(bench::bench(bench::DEPTH, &options, &rules("paper")).nodes, SIGNATURE);
}
