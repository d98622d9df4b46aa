//! Commands and their answers, through the library.

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Any input: the program ends, every line of the output follows the protocol, and every `go` is answered once.
    #[test]
    fn any_lines_are_answered(text in lines()) {
        let input = format!("setoption name Hash value 1\n{text}");
        let answers = answers(input.as_bytes());
        let quit = input.lines().position(|line| line.split_whitespace().next() == Some("quit"));
        let read: Vec<&str> = input.split('\n').take(quit.unwrap_or(usize::MAX)).collect();
        let gos = read.iter().filter(|line| line.split_whitespace().next() == Some("go")).count();
        let mut answered = 0;
        for line in &answers {
            let first = line.split_whitespace().next().unwrap_or("");
            let known = ["id", "option", "uciok", "readyok", "info", "bestmove", "", "Nodes"].contains(&first);
            let divided = line.split_once(": ").is_some_and(|(mv, count)| mv.len() == 4 && count.parse::<u64>().is_ok());
            let board = line.contains('|') || line.contains('/') || line.contains("to move");
            prop_assert!(known || divided || board, "{line:?}");
            answered += usize::from(
                first == "bestmove"
                    || first == "Nodes"
                    || line == "info string perft: stopped"
                    || line == "info string perft: no position"
                    || line == "info string perft: the depth is at most 13"
                    || line == "info string go: a search is running; stop it first",
            );
        }
        prop_assert_eq!(answered, gos, "{:?}\n{:?}", input, answers);
    }

    #[test]
    fn any_bytes_are_answered(bytes in vec(any::<u8>(), 0..200)) {
        answers(&bytes);
    }
}

#[test]
fn introduction() {
    let answers = answers(b"uci\nisready\nquit\nuci\n");
    assert!(answers[0].starts_with("id name doushouqi "));
    assert!(answers[1].starts_with("id author "));
    for option in [
        "Hash type spin default 64 min 1 max 65536",
        "Threads type spin default 1 min 1 max 256",
        "MultiPV type spin default 1 min 1 max 32",
        "Evaluation type combo default network var network var burnett",
        "Rules type string default paper",
        "NoCaptureLimit type spin default 100 min 0 max 10000",
        "TablePath type string default <empty>",
        "TableProbeDepth type spin default 3 min 0 max 100",
        "OnDemandCache type string default <empty>",
        "Ponder type check default false",
        "Move Overhead type spin default 10 min 0 max 10000",
        "Contempt type spin default 0 min 0 max 1000",
        "Clear Hash type button",
    ] {
        assert!(answers.contains(&format!("option name {option}")), "{option}: {answers:?}");
    }
    assert_eq!(answers[answers.len() - 2..], ["uciok", "readyok"]);
}

/// Clients split the declaration of an option at the keywords, so no name and no value contains one. Every choice and
/// every default can be set.
#[test]
fn options_are_free_of_keywords() {
    const KEYWORDS: [&str; 6] = ["name", "type", "default", "min", "max", "var"];
    for line in answers(b"uci\nquit\n").iter().filter(|line| line.starts_with("option ")) {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let mut fields: Vec<(&str, Vec<&str>)> = Vec::new();
        for word in words {
            match fields.last_mut() {
                Some((_, value)) if !KEYWORDS.contains(&word) => value.push(word),
                _ => fields.push((word, Vec::new())),
            }
        }
        let text = |wanted: &str| -> Vec<String> {
            fields.iter().filter(|(name, _)| *name == wanted).map(|(_, value)| value.join(" ")).collect()
        };
        assert!(fields.iter().all(|(name, value)| KEYWORDS.contains(name) && !value.is_empty()), "{line}");
        for keyword in &KEYWORDS[..5] {
            assert!(text(keyword).len() <= 1, "{line}");
        }
        let (name, defaults, choices) = (text("name").remove(0), text("default"), text("var"));
        assert!(choices.is_empty() || choices.contains(&defaults[0]), "{line}");
        for value in defaults.iter().chain(&choices) {
            let set = format!("setoption name {name} value {value}\nquit\n");
            assert_eq!(answers(set.as_bytes()), [""; 0], "{set}");
        }
    }
}

#[test]
fn positions() {
    let fen = |input: &str| answers(format!("{input}\nd\n").as_bytes()).pop().unwrap();
    let start = "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w";
    let moved = "l5t/1d3c1/r1p1w1e/7/7/7/1EW1P1R/1C3D1/T5L b 1";
    assert_eq!(fen(""), start);
    assert_eq!(fen("position startpos moves a3b3"), moved);
    assert_eq!(fen("  position\tfen 7/7/3e3/7/7/7/3E3/7/7 b moves d7d6 \r"), "7/7/7/3e3/7/7/3E3/7/7 w 1");
    assert_eq!(fen("position fen 7/7/3e3/7/7/7/3E3/7/7 b 17 moves d7d6"), "7/7/7/3e3/7/7/3E3/7/7 w 18");
    // Mistboard's commands, on its own board.
    let board = "t5l/1c3d1/e1w1p1r/7/7/7/R1P1W1E/1D3C1/L5T";
    let after = "t5l/1c3d1/e1w1p1r/7/7/7/R1P1W1E/LD3C1/6T b 13";
    assert_eq!(fen(&format!("position fen {board} r 12 7 moves a1a2")), after);
    assert_eq!(fen(&format!("position fen {board} r 12 7 reps {board} b 8 5;{board} r 4 3 moves a1a2")), after);
    assert_eq!(fen(&format!("position fen {board} b 12 7")), format!("{board} b 12"));
    for (counters, clock) in [("", ""), (" 0 1", ""), (" 12", " 12"), (" - - 12 7", " 12")] {
        assert_eq!(fen(&format!("position fen {board} r{counters}")), format!("{board} w{clock}"));
    }
    for wrong in ["R", "red", "r x 7", "r 12 x", "r 12 7 8", "r 12 7 reps 7/7 r 0 1"] {
        let complaints = complaints(&format!("position fen {board} {wrong}"));
        assert!(
            complaints.len() == 1 && complaints[0].starts_with("info string position: "),
            "{wrong}: {complaints:?}"
        );
    }
    // A third occurrence draws the game. In the second case the current position has not recurred.
    let next = after.strip_suffix(" 13").unwrap();
    let notes =
        |reps: &str| complaints(&format!("position fen {board} r 12 7 reps {reps} 8 5 moves a1a2\ngo depth 1\nwait"));
    assert!(notes(next)[0].contains("drawn by repetition"));
    assert_eq!(notes(&format!("{board} r")), [""; 0]);
    // The counters of chess programs, for either side.
    let plain = "7/7/3e3/7/7/7/3E3/7/7";
    for turn in ["w", "b"] {
        for counters in ["0 1", "- - 0 1"] {
            assert_eq!(fen(&format!("position fen {plain} {turn} {counters}")), format!("{plain} {turn}"));
        }
        assert_eq!(fen(&format!("position fen {plain} {turn} - - 17 9")), format!("{plain} {turn} 17"));
    }
    // Other rules and limits keep the clock.
    let input = "position fen 7/7/3e3/7/7/7/3E3/7/7 b 17 moves d7d6\nsetoption name NoCaptureLimit value 30";
    assert_eq!(fen(input), "7/7/7/3e3/7/7/3E3/7/7 w 18");
    assert_eq!(fen("position startpos moves Eb3"), moved);
    // After wrong input there is no position, and no move for another one.
    for wrong in [
        "position",
        "position moves a3b3",
        "position startpos a3b3",
        "position startpos moves a3b3 a3b3",
        "position startpos moves a3d9",
        "position startpos moves 0000",
        "position fen 7/7 w",
        "position fen 7/7/7/7/7/7/7/7/7 w",
        "position fen 7/7/3e3/7/7/7/3E3/7/7 w garbage",
        "position fen 7/7/3e3/7/7/7/3E3/7/7 w - 0 1",
        "position fen 7/7/3e3/7/7/7/3E3/7/7 w 17 1 1",
        "position fen 7/7/3e3/7/7/7/3E3/7/7 w -1",
        "position fen 7/7/3e3/7/7/7/3E3/7/7 w moves d3d4 d7d6 x",
    ] {
        let input = format!("position startpos moves a3b3\n{wrong}");
        let refused = complaints(&input);
        assert!(
            refused.len() == 1 && refused[0].ends_with("there is no position until one is accepted"),
            "{refused:?}"
        );
        assert_eq!(fen(&input), "info string d: the last position was refused", "{wrong}");
        for go in ["go depth 1", "go ponder depth 1\nponderhit", "go infinite\nstop", "go searchmoves a3b3"] {
            let reply = answers(format!("{input}\n{go}\nwait").as_bytes()).pop().unwrap();
            assert_eq!(reply, "bestmove 0000", "{wrong}: {go}");
        }
        assert_eq!(
            answers(format!("{input}\ngo perft 1\nwait").as_bytes()).pop().unwrap(),
            "info string perft: no position"
        );
        assert_eq!(fen(&format!("{input}\nposition startpos")), start, "{wrong}");
        assert_eq!(fen(&format!("{input}\nucinewgame")), start, "{wrong}");
    }
    assert!(complaints("position startpos moves a3b3 a3b3")[0].contains("move 2"));
    assert_eq!(fen("position startpos moves a3b3\nucinewgame"), start);
}

/// A GUI may play on after a draw: moves may follow it, and the engine moves.
#[test]
fn moves_follow_a_draw() {
    let shuffle = "f2e2 f8e8 e2f2 e8f8 ".repeat(2);
    let drawn = format!("position startpos moves {shuffle}");
    let limit = "setoption name NoCaptureLimit value 8";
    for (input, reasons) in [
        (drawn.clone(), &["repetition"][..]),
        (format!("{limit}\nposition startpos moves {}", &shuffle[..35]), &[]),
        (format!("{limit}\nposition startpos moves {}a7b7", &shuffle[..35]), &["NoCaptureLimit"]),
        (format!("{limit}\n{drawn}"), &["repetition", "NoCaptureLimit"]),
        ("position fen 7/7/3e3/7/7/7/3E3/7/7 w 100 51".to_owned(), &["NoCaptureLimit"]),
    ] {
        let answers = answers(format!("{input}\ngo depth 4 searchmoves f2e2 d3d4 a7b7\nwait").as_bytes());
        let drawn: Vec<&String> = answers.iter().filter(|line| line.contains("is drawn")).collect();
        assert!(
            drawn.len() == reasons.len() && drawn.iter().zip(reasons).all(|(line, why)| line.contains(why)),
            "{answers:?}"
        );
        let best = answers.last().unwrap().strip_prefix("bestmove ").unwrap();
        assert!(["f2e2", "d3d4", "a7b7"].contains(&best), "{answers:?}");
    }
    // A win that the limit would prevent.
    let won = answers(b"position fen 7/7/3L3/7/7/7/7/7/r6 w 100\ngo depth 6\nwait");
    assert!(won.iter().any(|line| line.contains("score mate 2 ")) && won.last().unwrap() == "bestmove d7d8", "{won:?}");
    // A den, the last capture and stalemate end the game.
    for over in ["3C3/7/7/7/7/7/7/7/r6 b", "7/7/7/7/7/7/7/7/E6 b", "3R3/7/7/7/e6/7/7/7/7 b 100"] {
        assert_eq!(answers(format!("position fen {over}\ngo depth 3\nwait").as_bytes()), ["bestmove 0000"], "{over}");
    }
    let on = answers(format!("{drawn}a3b3\ngo depth 1\nwait\nd").as_bytes());
    let best = on.iter().find_map(|line| line.strip_prefix("bestmove ")).unwrap();
    assert!(best[1..].starts_with(['7', '8', '9']), "Black moves: {on:?}");
    // A capture ends the count.
    let capture = "position fen 7/7/3e3/7/7/3l3/3E3/7/7 b 99 moves d7d6 d3d4";
    assert_eq!(answers(format!("{capture}\nd").as_bytes()).pop().unwrap(), "7/7/7/3e3/7/3E3/7/7/7 b");
}

#[test]
fn options() {
    for (wrong, part) in [
        ("setoption", "NAME"),
        ("setoption Hash 3", "NAME"),
        ("setoption name Colour value red", "Threads"),
        ("setoption name Mvalue value 3", "Mvalue"),
        ("setoption name valueM value 3", "valueM"),
        ("setoption name Hash", "1 to 65536"),
        ("setoption name Hash value 0", "1 to 65536"),
        ("setoption name Threads value many", "1 to 256"),
        ("setoption name MultiPV value 33", "1 to 32"),
        ("setoption name Ponder value maybe", "true or false"),
        ("setoption name Move Overhead value -1", "0 to 10000"),
        ("setoption name Contempt value 2000", "0 to 1000"),
        ("setoption name Evaluation value best", "burnett"),
        ("setoption name Rules value bridge", "chinese"),
        ("setoption name TablePath value /no/such folder", "/no/such folder"),
        ("setoption name NoCaptureLimit value -1", "10000"),
        ("hello world", "hello"),
    ] {
        let mut complaints = complaints(wrong);
        complaints.retain(|line| line != "info string TablePath: loading");
        assert!(complaints.len() == 1 && complaints[0].contains(part), "{wrong}: {complaints:?}");
    }
    let right = "setoption name hash value 2\nsetoption name Threads value 2\nsetoption name MULTIPV value 3\nsetoption name Ponder value true\nsetoption name move overhead value 50\n\
         setoption name Evaluation value burnett\nsetoption name Rules value chinese, shore=no-exit\n\
         setoption name Clear Hash\nsetoption name TablePath\nsetoption name TablePath value <empty>\nsetoption name NoCaptureLimit value 0\n";
    assert_eq!(complaints(right), [""; 0]);
    // Under these rules the elephant may not take the rat, so the second move is not legal.
    let line = "position fen 7/7/7/7/7/7/r6/E6/6l b moves g1g2 a2a3";
    assert_eq!(complaints(line), [""; 0]);
    assert!(complaints(&format!("setoption name Rules value chinese\n{line}"))[0].contains("a2a3"));
    assert!(complaints(&format!("{line}\nsetoption name Rules value chinese"))[0].contains("not legal by these rules"));
    let refused = answers(format!("{line}\nsetoption name Rules value chinese\ngo depth 1\nwait").as_bytes());
    assert_eq!(refused.last().unwrap(), "bestmove 0000");
    // The limit is part of the game.
    let quiet = "position startpos moves a3b3 a7b7 b3a3";
    let limit = "setoption name NoCaptureLimit value";
    for input in [format!("{limit} 3\n{quiet}\ngo depth 1\nwait"), format!("{quiet}\n{limit} 3\ngo depth 1\nwait")] {
        let notes = complaints(&input);
        assert!(notes.len() == 1 && notes[0].contains("drawn by NoCaptureLimit"), "{input}: {notes:?}");
    }
}

#[test]
fn a_long_line_is_refused() {
    let mut input = vec![b'a'; (1 << 20) + 77];
    input.extend(b"\nisready\n");
    let answers = answers(&input);
    assert_eq!(answers.len(), 2);
    assert!(answers[0].contains("one MiB") && answers[1] == "readyok");
    let word = "b".repeat(100_000);
    assert!(
        complaints(&format!("position startpos moves {word}\n{word}\ngo depth 1 {word}")).iter().all(|l| l.len() < 300)
    );
}

/// A directory can be opened as standard input, but not be read.
#[cfg(unix)]
#[test]
fn an_input_that_cannot_be_read_is_named() {
    for protocol in ["uci", "gtp"] {
        let directory = std::fs::File::open("/").unwrap();
        let output = command(&[protocol]).stdin(directory).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{stderr}");
        assert!(stderr.starts_with("dsq: cannot read standard input: "), "{stderr}");
    }
}
