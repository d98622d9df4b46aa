//! UCI sessions as GUIs and match runners hold them.

use crate::uci::{Engine, answers};
use doushouqi::board::{Position, Rules};
use doushouqi::game::Game;

/// A position with either side to move and the six fields of chess, as match runners send it.
const FEN: &str = "position fen 1d4t/1r3c1/2p1w1e/7/7/T6/2l3R/E4D1/2C1PL1";

/// The word after a keyword of an info line.
fn field<'a>(line: &'a str, keyword: &str) -> &'a str {
    let mut words = line.split_whitespace().skip_while(|word| *word != keyword);
    words.nth(1).unwrap_or_else(|| panic!("{keyword}: {line}"))
}

/// The first line that a search reported last, and the move that it played.
fn searched(engine: &mut Engine, go: &str) -> (String, String) {
    engine.send(go);
    let lines = engine.until("bestmove");
    let infos: Vec<&String> = lines.iter().filter(|line| line.contains(" pv ")).collect();
    for line in &infos {
        for keyword in ["depth", "seldepth", "multipv", "nodes", "nps", "hashfull", "tbhits", "time"] {
            assert!(field(line, keyword).parse::<u64>().is_ok(), "{line}");
        }
        assert!(["cp", "mate"].contains(&field(line, "score")), "{line}");
    }
    let last = infos.iter().rfind(|line| field(line, "multipv") == "1").unwrap_or_else(|| panic!("{go}: {lines:?}"));
    let best = lines.last().unwrap()["bestmove ".len()..].split(' ').next().unwrap().to_owned();
    assert_eq!(field(last, "pv"), best, "{go}: {lines:?}");
    ((*last).clone(), best)
}

/// The steps by which match runners check an engine: a move and a scored line come after every form of clock.
#[test]
fn match_runners_accept_the_engine() {
    let mut engine = Engine::start();
    // `isready` comes first, with the line ends of Windows.
    engine.send("isready\r");
    assert_eq!(engine.until("readyok"), ["readyok"]);
    engine.send("uci");
    let introduction = engine.until("uciok");
    assert!(introduction[0].starts_with("id name ") && introduction[1].starts_with("id author "));
    engine.send("ucinewgame\nisready\nposition startpos\nisready");
    engine.until("readyok");
    engine.until("readyok");
    for (turn, go) in [
        ("w", "go wtime 100"),
        ("b", "go btime 100"),
        ("w", "go wtime 100 winc 100 btime 100 binc 100"),
        ("w", "go btime 100 binc 100 wtime 100 winc 100"),
        ("b", "go btime 100 binc 100 wtime 100 winc 100"),
        ("b", "go movestogo 3 binc 1 wtime 100 btime 100"),
        ("w", "go depth 3"),
        ("w", "go nodes 500"),
        ("w", "go movetime 20"),
    ] {
        engine.send(&format!("{FEN} {turn} - - 0 1\nisready"));
        assert_eq!(engine.until("readyok"), ["readyok"]);
        searched(&mut engine, go);
    }
    engine.send("setoption name Move Overhead value 100\nsetoption name Threads value 2\nisready");
    assert_eq!(engine.until("readyok"), ["readyok"]);
    searched(&mut engine, "go wtime 100 btime 100");
    // More lines than moves, and readiness during a search.
    engine.send("setoption name MultiPV value 32\nposition fen 7/7/3e3/7/7/7/3E3/7/7 w 0 1\ngo depth 5");
    let lines = engine.until("bestmove");
    let ranks = lines.iter().filter(|line| line.starts_with("info depth 5 ")).map(|line| field(line, "multipv"));
    assert_eq!(ranks.collect::<Vec<_>>(), ["1", "2", "3", "4"]);
    engine.send("go infinite\nisready");
    assert!(!engine.until("readyok").iter().any(|line| line.starts_with("bestmove")));
    engine.best_move("stop");
    engine.end();
}

/// Nothing comes before `stop` or `ponderhit`, even if there is nothing to search.
#[test]
fn a_finished_game_waits_for_stop() {
    let mut engine = Engine::start();
    for position in ["fen 3C3/7/7/7/7/7/7/7/r6 b", "fen 7/7/7/7/7/7/7/7/E6 b 0 1", "fen 7/7"] {
        for (go, then) in [
            ("go infinite", "stop"),
            ("go ponder wtime 10", "ponderhit"),
            ("go ponder depth 2", "stop"),
            ("go", "stop"),
        ] {
            engine.send(&format!("position {position}\n{go}\nisready\nd\nisready"));
            for _ in 0..2 {
                assert!(!engine.until("readyok").iter().any(|line| line.starts_with("bestmove")), "{position}: {go}");
            }
            assert_eq!(engine.best_move(then), "0000");
        }
        assert_eq!(engine.best_move("go depth 3"), "0000");
    }
    engine.end();
}

/// The move to ponder on is legal and does not end the game.
#[test]
fn no_move_to_ponder_on_ends_the_game() {
    let mut engine = Engine::start();
    engine.send("setoption name Ponder value true\nsetoption name Hash value 1");
    let positions = ["7/7/7/7/7/C6/7/3e3/7", "7/3C3/7/7/7/7/4e2/7/7", "7/7/7/7/7/7/Ec5/7/6r", "7/7/3e3/7/7/7/3E3/7/7"];
    let mut pondered = 0;
    for fen in positions {
        for turn in ["w", "b"] {
            let position = Position::from_fen(&format!("{fen} {turn}")).unwrap();
            let best = engine.best_move(&format!("position fen {fen} {turn} 0 1\ngo depth 5"));
            let mut game = Game::new(position, Rules::default(), Some(100));
            for word in best.split(' ').filter(|word| *word != "ponder") {
                game.play(game.parse(word).unwrap_or_else(|error| panic!("{fen} {turn}: {best}: {error}"))).unwrap();
            }
            let ponders = best.contains("ponder");
            assert!(!ponders || game.end().is_none(), "{fen} {turn}: {best}");
            pondered += usize::from(ponders);
        }
    }
    assert!(pondered > 0);
    engine.end();
}

/// `wait` reads nothing until the search has ended; without it, the end of the input ends the search, with a remark.
#[test]
fn wait_waits_for_the_end() {
    let lines = |commands: &str| answers(format!("setoption name Hash value 1\n{commands}").as_bytes());
    let waited = lines("go depth 7\nwait\n");
    assert!(waited.iter().any(|line| line.starts_with("info depth 7 ")), "{waited:?}");
    assert!(!waited.iter().any(|line| line.contains("input has ended")), "{waited:?}");
    let ended = lines("go depth 100");
    assert_eq!(ended.iter().filter(|line| line.contains("the input has ended")).count(), 1, "{ended:?}");
    assert!(ended.last().unwrap().starts_with("bestmove "), "{ended:?}");
    // A search without an end is not waited for.
    for go in ["go infinite", "go ponder depth 1", "go"] {
        let endless = lines(&format!("{go}\nwait\nd\nstop\nwait\n"));
        assert_eq!(endless.iter().filter(|line| line.contains("ends only with stop")).count(), 1, "{endless:?}");
        assert!(endless.iter().any(|line| line.starts_with("bestmove ")), "{endless:?}");
    }
    assert_eq!(lines("wait"), [""; 0]);
}

/// A damaged file and a missing directory are reported, and the other tables are used.
#[test]
fn damaged_tables_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let [tables, nothing] = ["tables", "nothing"].map(|name| dir.path().join(name));
    crate::dsq::stdout(&["generate", "--pieces", "2", "--out", tables.to_str().unwrap()]);
    let mut files = std::fs::read_dir(&tables).unwrap().map(|entry| entry.unwrap().path());
    let is_of_rats = |path: &std::path::PathBuf| {
        path.extension().is_some_and(|ending| ending == "dsq") && path.to_string_lossy().contains("vR")
    };
    let damaged = files.find(is_of_rats).unwrap();
    std::fs::write(&damaged, "not a table").unwrap();
    let path = std::env::join_paths([&tables, &nothing]).unwrap();
    let mut engine = Engine::start();
    engine.send(&format!("setoption name TablePath value {}\nisready", path.to_str().unwrap()));
    let lines = engine.until("readyok");
    for part in ["loading", damaged.to_str().unwrap(), nothing.to_str().unwrap(), "up to 2 pieces"] {
        assert!(
            lines.iter().any(|line| line.starts_with("info string TablePath: ") && line.contains(part)),
            "{part}: {lines:?}"
        );
    }
    engine.send("position fen 7/7/7/7/7/6e/7/7/L6 w 0 1");
    let (info, _) = searched(&mut engine, "go movetime 10000");
    assert!(field(&info, "depth") == "1" && info.contains("score mate -6 "), "{info}");
    engine.end();
}

/// Tables and rules may come in either order.
#[test]
fn tables_wait_for_their_rules() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    crate::dsq::stdout(&["generate", "--pieces", "2", "--rules", "bell", "--out", path]);
    let options = [format!("setoption name TablePath value {path}"), "setoption name Rules value bell".to_owned()];
    for order in [[0, 1], [1, 0]] {
        let mut engine = Engine::start();
        for option in order {
            engine.send(&format!("{}\nisready", options[option]));
            let lines = engine.until("readyok");
            let refused = lines.iter().any(|line| line.contains("traps=none") && line.contains("set Rules"));
            assert_eq!(refused, order == [0, 1] && option == 0, "{lines:?}");
        }
        engine.send("position fen 7/7/7/7/7/6e/7/7/L6 w 0 1");
        let (info, _) = searched(&mut engine, "go movetime 10000");
        assert!(field(&info, "depth") == "1" && info.contains("score mate "), "{info}");
        engine.end();
    }
}

/// `go mate` finds the mate, or says that there is none.
#[test]
fn mates_are_searched_for() {
    let mut engine = Engine::start();
    engine.send("setoption name Hash value 4");
    let lion = "7/7/3L3/7/7/7/7/7/r6 w 0 1";
    engine.send(&format!("position fen {lion}"));
    for moves in 2..5 {
        let (info, best) = searched(&mut engine, &format!("go mate {moves}"));
        assert!(info.contains("score mate 2 ") && best == "d7d8", "{info}");
    }
    for (position, go) in [(lion, "go mate 1"), ("7/7/3e3/7/7/7/3E3/7/7 w", "go mate 3")] {
        engine.send(&format!("position fen {position}\n{go}"));
        let lines = engine.until("bestmove");
        assert!(lines.iter().any(|line| line.starts_with("info string no mate in ")), "{lines:?}");
    }
    engine.end();
}
