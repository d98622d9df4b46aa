//! The engine protocol, through the library and through the program.

mod commands;
mod search;

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
use std::time::Duration;

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
