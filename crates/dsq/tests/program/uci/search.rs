//! Searches of the program as a process.

use super::*;
use doushouqi::search::Level;

/// `MultiPV` keeps the hash: the same search again takes a fraction of the nodes. `Clear Hash` empties it.
#[test]
fn multipv_keeps_the_hash() {
    let mut engine = Engine::start();
    let mut nodes = |commands: &str| nodes(&mut engine, commands, 9);
    let first = nodes("setoption name Hash value 16");
    let again = nodes("setoption name MultiPV value 1\nsetoption name Move Overhead value 20");
    let cleared = nodes("setoption name Clear Hash");
    assert!(again * 2 < first, "{again} nodes, {first} at first");
    assert_eq!(cleared, first);
    engine.end();
}

/// The order of these options does not matter.
#[test]
fn an_evaluation_file_precedes_the_evaluation() {
    let networks = concat!(env!("CARGO_MANIFEST_DIR"), "/../../src/search/eval");
    let files = std::fs::read_dir(networks).unwrap().map(|entry| entry.unwrap().path());
    let file = files.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "nnue")).unwrap();
    let file = format!("setoption name EvalFile value {}\n", file.display());
    let (burnett, none) = ("setoption name Evaluation value burnett\n", "setoption name EvalFile value <empty>\n");
    let nodes = |commands: String| {
        let mut engine = Engine::start();
        let nodes = nodes(&mut engine, &commands, 6);
        engine.end();
        nodes
    };
    let (of_burnett, of_file) = (nodes(burnett.to_owned()), nodes(file.clone()));
    assert_ne!(of_burnett, of_file);
    assert_eq!(nodes(format!("{burnett}{none}")), of_burnett);
    assert_eq!(nodes(format!("{file}{burnett}{none}")), of_burnett);
    assert_eq!(nodes(format!("{file}{burnett}")), of_file);
    assert_eq!(nodes(format!("{burnett}{file}")), of_file);
}

#[test]
fn bestmove_names_the_ponder_move_only_with_the_option() {
    let go = "position startpos\ngo depth 5";
    let mut engine = Engine::start();
    assert_eq!(engine.best_move(go).split_whitespace().count(), 1);
    let best = engine.best_move(&format!("setoption name Ponder value true\n{go}"));
    let words: Vec<&str> = best.split_whitespace().collect();
    let [mv, "ponder", reply] = words[..] else { panic!("{best}") };
    let mut game = Game::new(Position::start(), Rules::default(), Some(100));
    game.play(game.parse(mv).unwrap()).unwrap();
    assert!(game.legal_moves().contains(&game.parse(reply).unwrap()), "{best}");
    engine.end();
}

#[test]
fn a_search_reports_and_answers() {
    let mut engine = Engine::start();
    engine
        .send("setoption name Hash value 4\nsetoption name MultiPV value 2\nposition startpos moves a3b3\ngo depth 3");
    let lines = engine.until("bestmove");
    let (last, infos) = lines.split_last().unwrap();
    let mut game = Game::new(Position::start(), Rules::default(), Some(100));
    game.play(game.parse("a3b3").unwrap()).unwrap();
    let info = infos.iter().rfind(|line| line.contains(" multipv 1 ")).expect("a first line");
    let words: Vec<&str> = info.split_whitespace().collect();
    let value =
        |name: &str| words[words.iter().position(|word| *word == name).unwrap_or_else(|| panic!("{name}: {info}")) + 1];
    for name in ["depth", "seldepth", "nodes", "nps", "hashfull", "tbhits", "time"] {
        assert!(value(name).parse::<u64>().is_ok(), "{info}");
    }
    assert!(["cp", "mate"].contains(&value("score")));
    assert_eq!(value("pv"), &last["bestmove ".len()..]);
    // The line is legal to its end.
    for word in &words[words.iter().position(|word| *word == "pv").unwrap() + 1..] {
        game.play(game.parse(word).unwrap()).unwrap();
    }
    engine.end();
}

/// The last line that a search reports is the one that it plays, and no line is reported twice.
#[test]
fn the_last_line_is_played() {
    let mut engine = Engine::start();
    engine.send("setoption name Hash value 1");
    for nodes in (300..6000).step_by(190) {
        engine.send(&format!("ucinewgame\nposition startpos moves a3b3\ngo nodes {nodes}"));
        let lines = engine.until("bestmove");
        let of = |line: &str, from: &str, to: &str| {
            let rest = line.split_once(from).unwrap_or_else(|| panic!("{line}")).1;
            rest.split(to).next().unwrap().to_owned()
        };
        let infos = lines.iter().filter(|line| line.starts_with("info depth"));
        let reported: Vec<_> =
            infos.map(|line| [of(line, "depth ", " "), of(line, "score ", " nodes"), of(line, " pv ", "\n")]).collect();
        assert!(reported.windows(2).all(|pair| pair[0] != pair[1]), "{nodes}: {lines:?}");
        let played = &lines.last().unwrap()["bestmove ".len()..];
        assert_eq!(reported.last().unwrap()[2].split(' ').next(), Some(played), "{nodes}: {lines:?}");
    }
    engine.end();
}

/// A game with clocks from the first move to the end: the moves are legal. The answer is `0000` when the game is over,
/// and a move after a draw.
#[test]
fn a_game_with_itself() {
    let mut engine = Engine::start();
    engine.send("setoption name Hash value 1\nsetoption name NoCaptureLimit value 20\nucinewgame");
    let mut game = Game::new(Position::start(), Rules::default(), Some(20));
    let mut moves = String::new();
    while game.end().is_none() {
        let limit = ["go nodes 200", "go wtime 50 btime 50 winc 1 binc 1", "go movetime 2", "go depth 2"]
            [game.moves().len() % 4];
        let word = engine.best_move(&format!("position startpos moves{moves}\n{limit}"));
        let mv = game.parse(&word).unwrap_or_else(|error| panic!("{moves}: {error}"));
        assert_eq!(mv.to_string(), word, "moves are in coordinates");
        game.play(mv).unwrap();
        moves.push_str(&format!(" {word}"));
    }
    let ended = game.end().is_some_and(|end| end.winner().is_some());
    for limit in ["go depth 3", "go\nstop", "go infinite\nstop", "go movetime 10"] {
        assert_eq!(engine.best_move(&format!("position startpos moves{moves}\n{limit}")) == "0000", ended, "{moves}");
    }
    engine.end();
}

#[test]
fn stop_ends_a_search() {
    let mut engine = Engine::start();
    for go in ["go infinite", "go", "go depth 200", "go infinite depth 2", "go movetime 10000000"] {
        engine.send(&format!("ucinewgame\n{go}\nisready"));
        assert!(!engine.until("readyok").iter().any(|line| line.starts_with("bestmove")), "{go} has ended by itself");
        engine.send("go depth 1\nsetoption name Hash value 1\nucinewgame\nisready");
        let lines = engine.until("readyok");
        assert_eq!(lines.iter().filter(|line| line.contains("stop it first")).count(), 3, "{go}: {lines:?}");
        engine.best_move("stop");
    }
    // A wrong limit does not make the engine wait for ever.
    engine.best_move("go depth x");
    // A running search ends with the input.
    engine.send("go infinite");
    engine.end();
}

/// Commands that follow `stop` at once are for the time after the search.
#[test]
fn commands_after_stop_wait_for_the_search() {
    let mut engine = Engine::start();
    for (go, answer) in [("go infinite", "bestmove"), ("go perft 13", "info string perft: stopped")] {
        let then = ["ucinewgame", "setoption name Hash value 2", "go depth 1"];
        engine.send(&then.map(|command| format!("{go}\nstop\n{command}")).join("\n"));
        let mut lines: Vec<String> = then.iter().flat_map(|_| engine.until(answer)).collect();
        lines.extend(engine.until("bestmove"));
        assert!(!lines.iter().any(|line| line.contains("stop it first")), "{lines:?}");
    }
    engine.end();
}

/// With `searchmoves`, every line begins with a listed move. Illegal moves are skipped.
#[test]
fn only_these_moves_are_searched() {
    let mut engine = Engine::start();
    engine.send("setoption name Hash value 1\nsetoption name MultiPV value 4");
    for (go, moves) in [
        ("go searchmoves a1a2 depth 5", vec!["a1a2"]),
        ("go depth 4 searchmoves a1a2 g1g2", vec!["a1a2", "g1g2"]),
        ("go searchmoves Eb3 a1a2 a1a2 nodes 500", vec!["a3b3", "a1a2"]),
        ("go searchmoves a7b7 a1a2 a1a9 g1g2 depth 3", vec!["a1a2", "g1g2"]),
    ] {
        engine.send(&format!("position startpos\n{go}"));
        let lines = engine.until("bestmove");
        let best = lines.last().unwrap().strip_prefix("bestmove ").unwrap();
        assert!(moves.contains(&best), "{go}: {best}");
        for line in lines.iter().filter(|line| line.contains(" pv ")) {
            let first = line.split(" pv ").nth(1).unwrap().split_whitespace().next().unwrap();
            assert!(moves.contains(&first), "{go}: {line}");
        }
    }
    let complaints = complaints("go searchmoves a7b7 depth 1\nwait");
    assert!(complaints.len() == 1 && complaints[0].contains("no legal move in \"a7b7\""), "{complaints:?}");
    engine.end();
}

/// `go ponder` is answered once: after `stop`, or when its limits are reached after `ponderhit`.
#[test]
fn pondering_waits_for_the_move() {
    let mut engine = Engine::start();
    for (go, depth, then) in [
        ("go ponder depth 2", 2, "stop"),
        ("go ponder depth 2", 2, "ponderhit"),
        ("go ponder wtime 300 btime 300", 3, "ponderhit"),
        ("go ponder nodes 3000 searchmoves a1a2", 1, "ponderhit"),
        ("go ponder", 3, "ponderhit\nstop"),
    ] {
        engine.send(&format!("position startpos\n{go}"));
        let mut lines = engine.until(&format!("info depth {depth} "));
        engine.send("isready");
        lines.extend(engine.until("readyok"));
        assert!(!lines.iter().any(|line| line.starts_with("bestmove")), "{go}");
        let best = engine.best_move(then);
        assert!(Game::new(Position::start(), Rules::default(), None).parse(&best).is_ok(), "{go}: {best}");
        assert!(!go.contains("a1a2") || best == "a1a2", "{best}");
        engine.send("ponderhit\nisready");
        assert_eq!(engine.until("readyok"), ["readyok"], "{go} was answered twice");
    }
    engine.end();
}

/// `ponderhit` lets its limits hold for the search that runs: no iteration comes twice.
#[test]
fn ponderhit_goes_on_with_the_search() {
    let mut engine = Engine::start();
    for go in ["go ponder nodes 100", "go ponder depth 2", "go ponder movetime 1", "go ponder wtime 1 btime 1"] {
        engine.send(&format!("ucinewgame\nposition startpos\n{go}"));
        let mut lines = engine.until("info depth 5 ");
        engine.send("ponderhit");
        lines.extend(engine.until("bestmove"));
        let depths = lines.iter().filter_map(|line| line.strip_prefix("info depth ")?.split(' ').next()?.parse().ok());
        let depths: Vec<u32> = depths.collect();
        assert!(depths.starts_with(&[1, 2, 3, 4, 5]) && depths[4..].is_sorted(), "{go}: {depths:?}");
    }
    engine.end();
}

/// With `reps`, a move to a position of the opponent's turn that has occurred twice is a draw.
#[test]
fn positions_that_occurred_twice_are_avoided() {
    let mut engine = Engine::start();
    let position = "position fen 7/7/3E3/7/7/6c/7/7/7 w 10 6 reps 7/3E3/7/7/7/6c/7/7/7 b 9 6";
    for lines in [1, 4] {
        let best = engine.best_move(&format!("setoption name MultiPV value {lines}\n{position}\ngo depth 12"));
        assert!(["d7e7", "d7c7"].contains(&best.as_str()), "{best}");
    }
    engine.send(&format!("{position}\ngo depth 12 searchmoves d7d8"));
    let lines = engine.until("bestmove");
    let info = lines.iter().rfind(|line| line.contains(" pv ")).unwrap();
    assert!(info.contains(" score cp 0 "), "{info}");
    engine.end();
}

/// A search with any limit ends by itself.
#[test]
fn limits_end_a_search() {
    let mut engine = Engine::start();
    for go in [
        "go movetime 50",
        "go wtime 500 btime 500",
        "go wtime -20 btime -20",
        "go movetime 0",
        "go nodes 0",
        "go depth 0",
        "go mate 1",
        // White is to move.
        "go btime 50",
        "go winc 10",
        "go binc 10",
        "go movestogo 10",
    ] {
        engine.best_move(go);
    }
    engine.end();
}

/// `isready` prepares the engine: it touches the memory of the hash.
#[cfg(target_os = "linux")]
#[test]
fn isready_prepares_the_search() {
    let mut engine = Engine::start();
    let memory = |engine: &Engine| crate::serve::memory(engine.child.id(), "VmRSS").unwrap() >> 20;
    engine.send("setoption name Hash value 256\nposition startpos\nuci");
    engine.until("uciok");
    let before = memory(&engine);
    assert!(before < 200, "{before} MiB");
    engine.send("isready");
    engine.until("readyok");
    let after = memory(&engine);
    assert!(after >= 256, "{after} MiB");
    engine.end();
}

#[test]
fn perft_counts_and_can_be_stopped() {
    let mut engine = Engine::start();
    engine.send("go perft 5");
    let lines = engine.until("Nodes searched");
    assert_eq!(lines.last().unwrap(), "Nodes searched: 5111725");
    assert_eq!(
        lines.iter().filter(|line| line.contains(": ") && line.starts_with(|c: char| c.is_lowercase())).count(),
        24
    );
    engine.send("position fen 7/7/3e3/7/7/7/3E3/7/7 w\ngo perft 1");
    assert_eq!(engine.until("Nodes").pop().unwrap(), "Nodes searched: 4");
    engine.send("go perft 0");
    assert_eq!(engine.until("Nodes").pop().unwrap(), "Nodes searched: 1");
    engine.send("go perft 14");
    engine.until("info string perft: the depth is at most 13");
    engine.send("position startpos\ngo perft 13\nisready");
    engine.until("readyok");
    engine.send("stop");
    engine.until("info string perft: stopped");
    engine.best_move("go depth 1");
    engine.end();
}

/// A win in one move is reported as `mate` in moves.
#[test]
fn a_win_is_seen() {
    let mut engine = Engine::start();
    for (fen, mv) in [("3C3/7/7/7/7/7/7/7/r6 b", "0000"), ("2C4/7/7/7/7/7/7/7/r6 w", "c9d9")] {
        assert_eq!(engine.best_move(&format!("position fen {fen}\ngo depth 4")), mv);
    }
    assert_eq!(Position::from_fen("3C3/7/7/7/7/7/7/7/r6 b").unwrap().winner(), Some(Color::White));
    engine.end();
}

/// Scores come with the chances of a win, a draw and a loss, if the option is set.
#[test]
fn scores_show_chances() {
    let mut engine = Engine::start();
    let mut scores = |commands: &str| -> Vec<(String, Vec<u32>)> {
        engine.send(&format!("{commands}\ngo depth 6"));
        let lines = engine.until("bestmove");
        let infos = lines.iter().filter_map(|line| line.split_once(" score ")?.1.split_once(" nodes "));
        let split = |text: &str| {
            let (score, chances) = text.split_once(" wdl ").unwrap_or((text, ""));
            (score.to_owned(), chances.split_whitespace().map(|word| word.parse().unwrap()).collect())
        };
        infos.map(|(text, _)| split(text)).collect()
    };
    assert!(scores("position startpos").iter().all(|(_, chances)| chances.is_empty()));
    for (score, chances) in scores("setoption name UCI_ShowWDL value true\nposition startpos") {
        let [win, draw, loss] = chances[..] else { panic!("{chances:?}") };
        assert_eq!(win + draw + loss, 1000);
        let cp: i32 = score.strip_prefix("cp ").unwrap().parse().unwrap();
        assert!(cp == 0 || (cp > 0) == (win > loss) || win == loss, "{score} {chances:?}");
    }
    let won = scores("position fen 7/3C3/7/7/7/7/4e2/7/7 w");
    assert!(won.contains(&("mate 1".to_owned(), vec![1000, 0, 0])), "{won:?}");
    engine.end();
}

/// With a limited strength the engine searches few nodes, and plays a move that is nearly as good as the best. The same
/// seed plays the same moves, other seeds others.
#[test]
fn strength_is_limited() {
    let mut engine = Engine::start();
    engine.send("setoption name UCI_LimitStrength value true\nisready");
    let seed = engine.until("readyok");
    assert!(seed.iter().any(|line| line.starts_with("info string Seed is ")), "{seed:?}");
    engine.send("setoption name UCI_Elo value 0");
    let first = |engine: &mut Engine, seed: u32| {
        engine.best_move(&format!("setoption name Seed value {seed}\nposition startpos\ngo movetime 60000"))
    };
    let moves: Vec<String> = (1..=20).map(|seed| first(&mut engine, seed)).collect();
    assert_eq!(moves, (1..=20).map(|seed| first(&mut engine, seed)).collect::<Vec<_>>());
    let different: std::collections::HashSet<&String> = moves.iter().collect();
    assert!(different.len() > 1, "{moves:?}");
    let game = Game::new(Position::start(), Rules::default(), Some(100));
    assert!(moves.iter().all(|mv| game.legal_moves().contains(&game.parse(mv).unwrap())));
    let mut nodes = |elo: u32| {
        engine.send(&format!("setoption name UCI_Elo value {elo}\nposition startpos\ngo movetime 60000"));
        let lines = engine.until("bestmove");
        let last = lines.iter().rfind(|line| line.contains(" nodes ")).unwrap().split_once(" nodes ").unwrap().1;
        last.split(' ').next().unwrap().parse::<u64>().unwrap()
    };
    for level in Level::ALL.into_iter().filter(|level| level.nodes.is_some_and(|nodes| nodes < 1000)) {
        let (elo, most) = (level.elo.unwrap(), level.nodes.unwrap());
        let nodes = nodes(elo.into());
        assert!((1..=most).contains(&nodes), "{nodes} nodes at {elo} Elo");
    }
    engine.end();
}

/// Each piece has the part that it adds to the static evaluation.
#[test]
fn the_static_evaluation_is_shown() {
    let text = answers(b"setoption name Evaluation value burnett\nposition fen 7/7/3e3/7/7/7/3E3/7/R6 b\neval\nquit\n");
    // The slow twin: a rat on a1 is worth 508 cp.
    assert_eq!(text.last().unwrap(), "Static evaluation +5.08 (White's view, in cats; Burnett's tables)");
    assert!(text.contains(&"R      a1       +5.08".to_owned()), "{text:?}");
    let text = answers(b"eval\nquit\n");
    assert_eq!(text.iter().filter(|line| line.contains("  ") && !line.starts_with("piece")).count(), 16);
    let last = answers(b"position fen 7/7/3e3/7/7/7/7/7/R6 b\neval\nquit\n");
    assert_eq!(last.iter().filter(|line| line.ends_with('-')).count(), 2, "each side has one piece: {last:?}");
    assert_eq!(complaints("position fen x\neval\nquit\n").len(), 2);
}

/// OpenBench reads the last line, which is that of the command line.
#[test]
fn the_bench_ends_with_nodes_and_speed() {
    let nodes = |text: &str| {
        let words: Vec<&str> = text.split(' ').collect();
        let [nodes, "nodes", speed, "nps"] = words[..] else { panic!("{text}") };
        assert!(speed.parse::<u64>().is_ok(), "{text}");
        nodes.parse::<u64>().unwrap()
    };
    let of_session = answers(b"bench 6\nquit\n");
    let of_program = String::from_utf8(crate::dsq::dsq(&["bench", "--depth", "6"]).stdout).unwrap();
    assert_eq!(nodes(of_session.last().unwrap()), nodes(of_program.lines().last().unwrap()));
    assert_eq!(complaints("bench 0\nbench x\nbench 61\nquit\n").len(), 3);
}
