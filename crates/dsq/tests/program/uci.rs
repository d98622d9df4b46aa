//! The engine protocol, through the library and through the program.

use crate::dsq::command;
use doushouqi::board::{Color, Position, Rules};
use doushouqi::game::Game;
use proptest::collection::vec;
use proptest::prelude::*;
use protocols::uci::serve;
use std::io::{BufRead, BufReader, Cursor, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A writer whose bytes are shared.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub(crate) fn answers(input: &[u8]) -> Vec<String> {
    let output = Shared::default();
    serve(Cursor::new(input.to_vec()), output.clone()).unwrap();
    let text = output.0.lock().unwrap().clone();
    String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
}

fn complaints(input: &str) -> Vec<String> {
    answers(input.as_bytes()).into_iter().filter(|line| line.starts_with("info string ")).collect()
}

const WORDS: &str = "(uci|isready|ucinewgame|position|startpos|fen|moves|go|depth|nodes|movetime|wtime|btime|winc|infinite|perft|\
     mate|stop|setoption|name|value|MultiPV|Rules|Evaluation|Clear Hash|NoCaptureLimit|chinese|paper|burnett|d|ponder|ponderhit|searchmoves|\
     a3b3|Eb3|a7b7|g3g4|c3c4|7/7/3e3/7/7/7/3E3/7/7|w|b|-1|0|1|2|3|16|99999999999999999999|x|é|\u{0})";

fn lines() -> impl Strategy<Value = String> {
    let line = vec(WORDS, 0..8).prop_map(|words| words.join(" "));
    let position = vec(prop_oneof!["a3b3", "a7b7", "b3a3", "b7a7", "[a-g][1-9][a-g][1-9]"], 0..6)
        .prop_map(|moves| format!("position startpos moves {}", moves.join(" ")));
    let go = "go (depth [0-4]|nodes [0-9]{1,3}|movetime [0-9]|wtime [0-9]{1,2} btime [0-9]{1,2}|infinite|perft [0-4]|)";
    vec(prop_oneof![3 => line, 2 => position, 2 => go, 1 => ".{0,30}", 1 => Just("stop".to_owned())], 0..12)
        .prop_map(|lines| lines.join("\n"))
}

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
        "Evaluation type combo default default var default var burnett",
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
    for wrong in ["r", "r 12", "r x 7", "r 12 x", "r 12 7 8", "r - - 12 7", "r 12 7 reps 7/7 r 0 1"] {
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

/// The program as a process, with its output by lines.
pub(crate) struct Engine {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

impl Engine {
    pub(crate) fn start() -> Engine {
        let mut child = command(&["uci"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("dsq runs");
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok()));
        Engine { child, stdin, lines }
    }

    pub(crate) fn send(&mut self, text: &str) {
        writeln!(self.stdin, "{text}").unwrap();
    }

    /// The lines up to the first one that begins with `start`, which is the last.
    pub(crate) fn until(&mut self, start: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line =
                self.lines.recv_timeout(Duration::from_secs(120)).unwrap_or_else(|_| panic!("{start}: {lines:?}"));
            lines.push(line);
            if lines.last().unwrap().starts_with(start) {
                return lines;
            }
        }
    }

    pub(crate) fn best_move(&mut self, commands: &str) -> String {
        self.send(commands);
        let line = self.until("bestmove").pop().unwrap();
        line.strip_prefix("bestmove ").unwrap().to_owned()
    }

    pub(crate) fn end(mut self) {
        drop(self.stdin);
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

/// The nodes of a search of the initial position after these commands.
fn nodes(engine: &mut Engine, commands: &str, depth: u32) -> u64 {
    engine.send(&format!("{commands}\nposition startpos\ngo depth {depth}"));
    let lines = engine.until("bestmove");
    let info = lines.iter().rfind(|line| line.contains(" multipv 1 ")).expect("an info line");
    let words: Vec<&str> = info.split_whitespace().collect();
    words[words.iter().position(|word| *word == "nodes").unwrap() + 1].parse().unwrap()
}

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
    for (go, answer) in [("go infinite", "bestmove"), ("go perft 30", "info string perft: stopped")] {
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
    for (go, then) in [
        ("go ponder depth 2", "stop"),
        ("go ponder depth 2", "ponderhit"),
        ("go ponder wtime 300 btime 300", "ponderhit"),
        ("go ponder nodes 3000 searchmoves a1a2", "ponderhit"),
        ("go ponder", "ponderhit\nstop"),
    ] {
        engine.send(&format!("position startpos\n{go}\nisready"));
        assert!(!engine.until("readyok").iter().any(|line| line.starts_with("bestmove")), "{go}");
        std::thread::sleep(Duration::from_millis(20));
        let best = engine.best_move(then);
        assert!(Game::new(Position::start(), Rules::default(), None).parse(&best).is_ok(), "{go}: {best}");
        assert!(!go.contains("a1a2") || best == "a1a2", "{best}");
        engine.send("ponderhit\nisready");
        assert_eq!(engine.until("readyok"), ["readyok"], "{go} was answered twice");
    }
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

/// `isready` prepares the engine for other rules, which clears the hash, so that the next search begins at once.
#[test]
fn isready_prepares_the_search() {
    let mut engine = Engine::start();
    engine.send("setoption name Hash value 64\nisready");
    engine.until("readyok");
    let mut shortest = [Duration::MAX; 2];
    for rules in ["chinese", "paper"].into_iter().cycle().take(8) {
        engine.send(&format!("setoption name Rules value {rules}"));
        for (took, (command, answer)) in shortest.iter_mut().zip([("isready", "readyok"), ("go depth 1", "bestmove")]) {
            let begin = Instant::now();
            engine.send(command);
            engine.until(answer);
            *took = begin.elapsed().min(*took);
        }
    }
    assert!(shortest[1] < shortest[0], "{shortest:?}");
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
    engine.send("position startpos\ngo perft 30\nisready");
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
