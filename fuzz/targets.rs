//! The fuzz targets: every parser of input from users or files. A target also panics if a parsed value does not survive
//! writing and parsing again, so that a fuzzer finds wrong answers and not only crashes. The tests of
//! `research/lab/tests/program/fuzz.rs` run the same targets on stable Rust.

#![allow(dead_code)]

#[path = "../tests/support/table_file.rs"]
mod table_file;

use doushouqi::board::{Fen, Move, Position, Repetition, RuleOptions, Rules};
use doushouqi::formats::Dialect;
use doushouqi::game::{Record, format_moves, parse_moves};
use doushouqi::search::network::{Network, NetworkParameters};
use doushouqi::search::{EngineOptions, Limits};
use doushouqi::tablebase::{
    Generate, MANIFEST, Material, Options, Probe, Prover, Scope, Solver, TableFile, TableSet, verify,
};
use explorer::{Config, Event, Stop, Timeouts, serve};
use hardness::Formula;
use hardness::general::GeneralPosition;
use std::collections::BTreeSet;
use std::fs;
use std::io::{Cursor, Read, Write, sink};
use std::net::{SocketAddr, TcpStream};
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use table_file::table_file;
use tempfile::TempDir;
use train::{DataFile, Header, Model, Recipe, train};
use xxhash_rust::xxh3::xxh3_64;

/// Passes bytes to a parser and checks the result.
pub type Target = fn(&[u8]);

/// All targets: the name, the target, and the number of changed inputs that the tests try.
pub const TARGETS: [(&str, Target, u32); 17] = [
    ("fen", fen, 2000),
    ("moves", moves, 2000),
    ("rules", rules, 2000),
    ("material", material, 2000),
    ("game", game, 500),
    ("uci", uci, 40),
    ("table", table, 200),
    ("manifest", manifest, 100),
    ("general", general, 500),
    ("formula", formula, 2000),
    ("http", http, 100),
    ("formats", formats, 500),
    ("gtp", gtp, 40),
    ("network", network, 200),
    ("recipe", recipe, 2000),
    ("data", data_file, 40),
    ("checkpoint", checkpoint, 100),
];

fn text(data: &[u8]) -> &str {
    std::str::from_utf8(data).unwrap_or_default()
}

/// A FEN survives a round trip, and so do the positions after its moves.
pub fn fen(data: &[u8]) {
    if let Ok(fen) = text(data).parse::<Fen>() {
        assert_eq!(fen.to_string().parse(), Ok(fen));
    }
    let Ok(position) = Position::from_fen(text(data)) else { return };
    let again = Position::from_fen(&position.to_fen()).expect("what is written is read");
    assert_eq!(again, position);
    assert_eq!(again.key(), position.key());
    let rules = Rules::default();
    for &mv in &position.moves(&rules) {
        let next = position.make(mv);
        assert_eq!(next.key(), next.compute_key());
        assert_eq!(Position::from_fen(&next.to_fen()).as_ref(), Ok(&next));
    }
    assert_eq!(position.moves(&rules).len(), position.mirror().moves(&rules).len());
}

/// A FEN, and moves on the other lines: each parsed move is legal and survives a round trip in both notations.
pub fn moves(data: &[u8]) {
    let mut lines = text(data).lines();
    let rules = Rules::default();
    let Some(mut position) = lines.next().and_then(|line| Position::from_fen(line).ok()) else { return };
    for line in lines {
        let Ok(mv) = Move::parse(line, &position, &rules) else { continue };
        assert!(position.moves(&rules).contains(&mv));
        for text in [mv.to_string(), mv.notation(&position)] {
            assert_eq!(Move::parse(&text, &position, &rules), Ok(mv));
        }
        position = position.make(mv);
    }
}

pub fn rules(data: &[u8]) {
    let Ok(options) = text(data).parse::<RuleOptions>() else { return };
    assert_eq!(options.to_string().parse(), Ok(options));
    assert!(Position::start().count_moves(&Rules::new(options)) > 0);
}

pub fn material(data: &[u8]) {
    let Ok(material) = text(data).parse::<Material>() else { return };
    assert_eq!(material.to_string().parse(), Ok(material));
    assert_eq!(material.swap().swap(), material);
}

/// Games survive a round trip.
pub fn game(data: &[u8]) {
    let Ok(records) = Record::parse_all(text(data)) else { return };
    for record in records {
        let written = record.to_text().expect("a game that was read can be written");
        let again = Record::parse_all(&written).unwrap_or_else(|error| panic!("{error} in {written:?}"));
        assert_eq!(again.len(), 1, "{written:?}");
        assert_eq!(again[0].to_text().as_ref(), Ok(&written));
        assert_eq!(again[0].game.moves(), record.game.moves());
    }
}

/// A whole session. The options for memory, threads and files are left out. The end of the input stops a search.
pub fn uci(data: &[u8]) {
    let mut session = "setoption name Hash value 1\n".to_owned();
    for line in text(data).lines() {
        let small = line.to_ascii_lowercase();
        if !(small.contains("setoption") && ["hash", "threads", "tablepath"].iter().any(|word| small.contains(word))) {
            session.push_str(line);
            session.push('\n');
        }
    }
    protocols::uci::serve(Cursor::new(session), sink()).expect("nothing to fail");
}

/// A position on a board of any size, as a grid or as FEN, survives a round trip in both forms, and undoing a move
/// restores it.
pub fn general(data: &[u8]) {
    let text = text(data);
    let Ok(mut position) = GeneralPosition::parse(text).or_else(|_| GeneralPosition::from_fen(text)) else { return };
    assert_eq!(GeneralPosition::from_fen(&position.to_fen()).as_ref(), Ok(&position));
    assert_eq!(GeneralPosition::parse(&position.to_text()).as_ref(), Ok(&position));
    let before = position.clone();
    for mv in position.moves(&RuleOptions::PAPER) {
        let undo = position.make(mv);
        position.undo(undo);
        assert!(position == before);
    }
}

/// A formula survives a round trip up to the order of its variables, and the place of an error lies within the text.
pub fn formula(data: &[u8]) {
    let text = text(data);
    match text.parse::<Formula>() {
        Ok(formula) => {
            let again: Formula = formula.to_string().parse().unwrap_or_else(|error| panic!("{error} in {formula}"));
            assert_eq!(named(&again), named(&formula));
        }
        Err(error) => assert!(error.column <= error.source_line.chars().count(), "{error} in {text:?}"),
    }
}

/// The clauses as sets of the names of their variables.
fn named(formula: &Formula) -> Vec<BTreeSet<&str>> {
    formula.clauses().iter().map(|clause| clause.iter().map(|&v| formula.name(v)).collect()).collect()
}

/// A table set of two pieces to damage, and the original contents of its files.
struct TableFixture {
    dir: TempDir,
    table: Vec<u8>,
    manifest: Vec<u8>,
}

const CLASS: &str = "EvE";

impl TableFixture {
    fn path(&self) -> PathBuf {
        self.dir.path().join(format!("{CLASS}.dsq"))
    }
}

/// One set for each process, so that parallel fuzzers do not share files.
static SET: LazyLock<TableFixture> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut solver = Solver::new(&RuleOptions::PAPER, 2, Options::default());
    Generate::new(dir.path(), RuleOptions::PAPER).run(&mut solver, &|_| {}).expect("two pieces can be solved");
    let read = |name: &str| fs::read(dir.path().join(name)).expect("a file");
    let (table, manifest) = (read(&format!("{CLASS}.dsq")), read(MANIFEST));
    TableFixture { dir, table, manifest }
});

/// Reads and verifies all parts of a set.
fn read_all(dir: &Path) {
    let Ok(set) = TableSet::open(dir) else { return };
    let _ = set.check_complete();
    let class: Material = CLASS.parse().expect("a material");
    let rules = *set.rules().options();
    let tables = set.prober(&rules).expect("they are the set's own");
    let set = tables.set();
    let ids: Vec<_> = set.ids().filter(|&id| set.classes().get(id).representative == class).take(1).collect();
    for fen in ["7/7/3e3/7/7/7/3E3/7/7 w", "7/7/3e3/7/7/7/3E3/7/7 b", "7/e6/7/7/7/7/7/6E/7 w"] {
        let position = Position::from_fen(fen).expect("a position");
        let _ = tables.value(&position);
        let _ = tables.line(&position);
    }
    let _ = tables.set().deepest(2);
    let mut prover = Prover::new(set, 1 << 30);
    for id in ids {
        let plain = verify(set, id, Scope::Full);
        // Both methods accept the class, or both reject it.
        let fast = prover.prove(id);
        assert_eq!(matches!(plain, Ok(Ok(_))), matches!(fast, Ok(Ok(_))), "{plain:?} {fast:?}");
    }
}

fn number(bytes: &[u8], at: usize, len: usize) -> usize {
    bytes.get(at..at.saturating_add(len)).map_or(0, |part| part.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b)))
}

fn replace(bytes: &mut Vec<u8>, data: &[u8]) {
    // Six bytes for each edit: the offset (three), the operation (replace, insert, remove), the operand (two).
    for edit in data.chunks_exact(6).take(8) {
        let at = number(edit, 0, 3) % bytes.len().max(1);
        match edit[3] % 3 {
            0 => bytes[at] = edit[4],
            1 => bytes.insert(at, edit[4]),
            _ => {
                let end = (at + 1 + usize::from(edit[4])).min(bytes.len());
                bytes.drain(at..end);
            }
        }
        if bytes.is_empty() {
            return;
        }
    }
}

/// A table file with edits in one of its parts and all checksums recomputed, so that the checksums do not shield the
/// decoder.
pub fn table(data: &[u8]) {
    let Some((&part, edits)) = data.split_first() else { return };
    let set = &*SET;
    let bytes = match part % 4 {
        0 => {
            let mut bytes = set.table.clone();
            replace(&mut bytes, edits);
            bytes
        }
        part => rebuilt(&set.table, part, edits),
    };
    fs::write(set.path(), &bytes).expect("a file");
    if let Ok(file) = TableFile::open(&set.path(), &RuleOptions::PAPER, CLASS.parse().expect("a material")) {
        let _ = file.check();
    }
    read_all(set.dir.path());
}

/// The file with its description (1), a block's bytes (2) or a block's values (3) edited.
fn rebuilt(whole: &[u8], part: u8, edits: &[u8]) -> Vec<u8> {
    let head = 24 + number(whole, 12, 4);
    let mut description = whole[24..head].to_vec();
    let page = head + 8;
    let lens: Vec<usize> = (0..2).map(|i| number(whole, page + 8 + 8 * i, 4)).collect();
    let mut at = page + 16 + 8 * lens.len();
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    for len in lens {
        blocks.push(whole[at..at + len].to_vec());
        at += len;
    }
    match part {
        1 => replace(&mut description, edits),
        2 => replace(&mut blocks[edits.len() % 2], edits),
        _ => {
            let block = &mut blocks[edits.len() % 2];
            let mut values = zstd::bulk::decompress(block, 1 << 20).expect("it is whole");
            replace(&mut values, edits);
            *block = zstd::bulk::compress(&values, 1).expect("bytes can be compressed");
        }
    }
    table_file(&whole[..12], &description, &blocks)
}

/// A manifest: the valid one with edits, or arbitrary bytes.
pub fn manifest(data: &[u8]) {
    let Some((&kind, rest)) = data.split_first() else { return };
    let set = &*SET;
    let mut bytes = set.manifest.clone();
    if kind % 2 == 0 {
        replace(&mut bytes, rest);
    } else {
        bytes = rest.to_vec();
    }
    fs::write(set.path(), &set.table).expect("a file");
    fs::write(set.dir.path().join(MANIFEST), &bytes).expect("a file");
    read_all(set.dir.path());
}

/// Whether a thread of this process has panicked. A panic of the server's threads ends a connection, and nothing else.
static PANICKED: AtomicBool = AtomicBool::new(false);

/// The address of the server of this process.
static SERVER: LazyLock<SocketAddr> = LazyLock::new(|| {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        PANICKED.store(true, Ordering::SeqCst);
        hook(info);
    }));
    let config = Config {
        listen: vec![([127, 0, 0, 1], 0).into()],
        rules: RuleOptions::PAPER,
        tables: None,
        on_demand: None,
        pieces: 3,
        threads: 2,
        hash_mib: 64,
        puzzles: None,
        assets: None,
        hosts: Vec::new(),
        allow_origins: Vec::new(),
        rate: f32::MAX,
        behind_proxy: false,
        timeouts: Timeouts::default(),
    };
    let (listening, address) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let tell = |event| {
            if let Event::Listening(address) = event {
                listening.send(address).expect("somebody waits");
            }
        };
        serve(config, &Stop::default(), &tell).expect("a server");
    });
    address.recv().expect("it listens")
});

/// The time limit for reading an answer: streams may go on for longer.
const PATIENCE: Duration = Duration::from_millis(300);

/// A request: `GET /path?query` on the first line, then headers, an empty line and a body; the target adds the required
/// headers. No thread panics, no answer has the status 500, and an answer declared as JSON is JSON. Work that goes on
/// after the answer is judged with the next input.
pub fn http(data: &[u8]) {
    let line = data.iter().position(|&byte| byte == b'\n').unwrap_or(data.len());
    let (first, rest) = data.split_at(line);
    let rest = rest.strip_prefix(b"\n").unwrap_or(rest);
    let end = rest.windows(2).position(|two| two == b"\n\n").unwrap_or(rest.len());
    let (headers, body) = rest.split_at(end);
    let body = body.strip_prefix(b"\n\n").unwrap_or(body);
    let mut request = first.to_vec();
    request.extend(b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    for header in headers.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        request.extend(header);
        request.extend(b"\r\n");
    }
    request.extend(format!("Content-Length: {}\r\n\r\n", body.len()).bytes());
    request.extend(body);
    let answer = ask(&request);
    assert!(!PANICKED.load(Ordering::SeqCst), "a thread of this process panicked");
    let Some(head) = answer.windows(4).position(|four| four == b"\r\n\r\n") else { return };
    let (head, body) = (String::from_utf8_lossy(&answer[..head]).to_ascii_lowercase(), &answer[head + 4..]);
    assert!(head.starts_with("http/1.1 ") && !head.starts_with("http/1.1 500"), "{head}");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    let json = head.contains("content-type: application/json") && !head.contains("content-encoding");
    if json && length == Some(body.len()) && !body.is_empty() {
        serde_json::from_slice::<serde_json::Value>(body).unwrap_or_else(|error| panic!("{error}: {body:?}"));
    }
}

/// The answer within the time limit.
fn ask(request: &[u8]) -> Vec<u8> {
    let start = Instant::now();
    let mut stream = TcpStream::connect(*SERVER).expect("the server takes connections");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time above zero");
    let (mut answer, mut part) = (Vec::new(), [0; 16 << 10]);
    // A server that rejects a request may close the connection early; its answer can be read all the same.
    let _ = stream.write_all(request);
    while let Ok(len @ 1..) = stream.read(&mut part)
        && start.elapsed() < PATIENCE
    {
        answer.extend(&part[..len]);
    }
    answer
}

/// A game on one line in one of the dialects: it survives a round trip in each dialect and remains the same game.
pub fn formats(data: &[u8]) {
    let Some((&kind, rest)) = data.split_first() else { return };
    let (own, rules) = (Dialect::ALL[usize::from(kind) % Dialect::ALL.len()], Rules::default());
    let Ok((game, number)) = parse_moves(own, text(rest), &rules, None) else { return };
    for dialect in Dialect::ALL {
        let written = format_moves(dialect, &game, number);
        let (again, _) =
            parse_moves(dialect, &written, &rules, None).unwrap_or_else(|error| panic!("{error}: {written}"));
        assert_eq!(again.moves(), game.moves(), "{written}");
        assert_eq!(again.position(), game.position(), "{written}");
        assert_eq!(format_moves(dialect, &again, number), written);
    }
}

/// A whole session of short searches. Every command is answered.
pub fn gtp(data: &[u8]) {
    let text = text(data);
    // Clock commands are left out, because they would make a search long.
    let lines = text.lines().filter(|line| !(text.contains("time") && line.contains("genmove")));
    let session = lines.fold(String::new(), |session, line| session + line + "\n");
    let options = protocols::gtp::GtpOptions {
        engine: EngineOptions::default().hash_mib(1),
        rules: Rules::default(),
        no_capture_limit: Some(100),
        limits: Limits::default().nodes(50),
        two_stage: data.len().is_multiple_of(2),
    };
    let mut output = Vec::new();
    protocols::gtp::run(Cursor::new(session), &mut output, options).expect("nothing to fail");
    let output = String::from_utf8(output).expect("answers are text");
    for answer in output.split("\n\n").filter(|answer| !answer.is_empty()) {
        assert!(answer.trim_start().starts_with(['=', '?']), "{answer:?}");
    }
}

/// The bytes followed by their checksum.
fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    bytes
}

/// A network with edits and a valid checksum: it survives a round trip, and both colours are evaluated alike.
pub fn network(data: &[u8]) {
    static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let values = |count: usize| -> Vec<i16> { (0..count).map(|i| (i * 37 % 201) as i16 - 100).collect() };
        let parameters = NetworkParameters {
            rules: RuleOptions::PAPER.table_hash(),
            scale: 300,
            biases: values(32),
            pieces: values(Network::PIECES * 32),
            pairs: values(Network::PAIRS * 32).iter().map(|&value| value as i8).collect(),
            outputs: values(Network::BUCKETS * 2 * 32),
            output_biases: [7; Network::BUCKETS],
        };
        Network::new(parameters).expect("a network").to_bytes()
    });
    let mut bytes = WHOLE[..WHOLE.len() - 8].to_vec();
    replace(&mut bytes, data);
    let bytes = with_checksum(bytes);
    let Ok(network) = Network::from_bytes(&bytes) else { return };
    assert_eq!(network.to_bytes(), bytes);
    for fen in ["7/7/3e3/7/7/7/3E3/7/7 w", "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L b"] {
        let position = Position::from_fen(fen).expect("a position");
        assert_eq!(network.evaluate(&position), network.evaluate(&position.swap_colors()), "{fen}");
    }
}

pub fn recipe(data: &[u8]) {
    let _ = Recipe::parse(text(data), Path::new("runs"));
}

/// A directory with data of a few games and a checkpoint, to edit and to learn from.
struct TrainingFixture {
    dir: TempDir,
    data: Vec<u8>,
    checkpoint: Vec<u8>,
}

const HEADER: Header = Header {
    rules: 1,
    seed: 2,
    nodes: 3,
    evaluation: 0,
    sidelines: false,
    repetition: Repetition::Threefold,
    pieces: 4,
};

/// One for each process.
static TRAINING: LazyLock<TrainingFixture> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut file = DataFile::open(&dir.path().join("data"), &HEADER).expect("a file");
    let rules = Rules::default();
    for game in 0..6 {
        let mut position = Position::start();
        let mut records = Vec::new();
        for ply in 0..8 {
            let score = 10 * ply as i16;
            let (result, halfmove_clock) = (game as i8 % 3 - 1, ply as u8);
            let moves = position.moves(&rules);
            let next = position.make(moves[(game as usize + ply as usize) % moves.len()]);
            records.push(train::Record { position, halfmove_clock, score, result, score_only: false, game, ply });
            position = next;
        }
        file.write_game(&records).expect("written");
    }
    let read = |name: &str| fs::read(dir.path().join(name)).expect("a file");
    let data = read("data");
    learn(dir.path(), "").expect("there is enough to learn from");
    let checkpoint = read("checkpoint");
    TrainingFixture { dir, data, checkpoint }
});

/// Learns from the data of a directory for one epoch.
fn learn(dir: &Path, more: &str) -> Result<Network, train::TrainingError> {
    let recipe = format!(
        "data = ['data']\nnetwork = 'network'\ncheckpoint = 'checkpoint'\nhidden = 32\nepochs = 1\nbatch = 64\nheld_out = 2\n{more}"
    );
    let recipe = Recipe::parse(&recipe, dir).expect("a recipe");
    Ok(train(&recipe, &AtomicBool::new(false), &mut |_| ())?.network)
}

/// A file of training data with edits: it is opened and continued, or training accepts or rejects it.
pub fn data_file(data: &[u8]) {
    let Some((&kind, edits)) = data.split_first() else { return };
    let (training, path) = (&*TRAINING, TRAINING.dir.path().join("data"));
    let mut bytes = if kind % 8 == 7 { edits.to_vec() } else { training.data.clone() };
    replace(&mut bytes, edits);
    fs::write(&path, &bytes).expect("a file");
    if kind % 2 == 0 {
        if let Ok(network) = learn(training.dir.path(), "scale = 100.0") {
            assert!(Network::from_bytes(&network.to_bytes()).is_ok());
        }
    } else if let Ok(file) = DataFile::open(&path, &HEADER) {
        // Opening keeps the beginning of the file, and a second run finds no more records than the first.
        let records = file.records();
        drop(file);
        let left = fs::read(&path).expect("a file");
        assert!(bytes.starts_with(&left[..left.len().min(bytes.len())]));
        if let Ok(again) = DataFile::open(&path, &HEADER) {
            assert!(again.records() <= records);
        }
    }
}

/// A checkpoint with edits and a valid checksum: a copy is read as it was written.
pub fn checkpoint(data: &[u8]) {
    let (training, path) = (&*TRAINING, TRAINING.dir.path().join("edited"));
    let mut bytes = training.checkpoint[..training.checkpoint.len() - 8].to_vec();
    replace(&mut bytes, data);
    let bytes = with_checksum(bytes);
    fs::write(&path, &bytes).expect("a file");
    let Ok(model) = Model::load(&path) else { return };
    model.save(&path).expect("written");
    let copy = Model::load(&path).expect("a whole checkpoint");
    copy.save(&path).expect("written");
    assert!(Model::load(&path).expect("a whole checkpoint") == copy && copy.shape() == model.shape());
}
