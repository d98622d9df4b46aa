//! The site of static files that `packaging/site` writes: its module answers as the server does.

use crate::dsq;
use crate::serve::answers::requests;
use crate::serve::client::Server;
use crate::serve::folder;
use crate::skip::{skip, skip_anywhere};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The folder of the site, which `./test` writes. Without it the test is skipped.
pub fn dir() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("site");
    let found = dir.join("sw.js").exists();
    if !found {
        skip_anywhere("there is no site (packaging/site; it needs Rust's target wasm32-unknown-unknown)");
    }
    found.then_some(dir)
}

/// A copy of the site with a folder of tables.
pub fn with_tables(site: &Path, name: &str, tables: &Path) -> PathBuf {
    let to = copy(site, name);
    fs::create_dir(to.join("tables")).unwrap();
    for file in fs::read_dir(tables).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), to.join("tables").join(file.file_name())).unwrap();
    }
    let index = fs::read_to_string(to.join("index.html")).unwrap();
    let worker = name_of(site, "worker");
    fs::write(to.join("index.html"), index.replace(&worker, &format!("{worker}?tables"))).unwrap();
    to
}

/// The name of a file of the site, which contains a hash. The folder may also have that of the version before.
pub fn name_of(site: &Path, stem: &str) -> String {
    let listed = fs::read_to_string(site.join("sw.js")).unwrap();
    let mut names = fs::read_dir(site).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let is_wanted = |name: &String| name.starts_with(&format!("{stem}.")) && listed.contains(&format!("\"{name}\""));
    names.find(is_wanted).unwrap_or_else(|| panic!("no {stem}"))
}

/// A copy of the site.
pub fn copy(site: &Path, name: &str) -> PathBuf {
    let to = folder(name);
    fs::create_dir_all(&to).unwrap();
    for file in fs::read_dir(site).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
    to
}

/// A host of static files, which has a folder below `/games/`, until this process ends.
pub struct Host {
    pub address: SocketAddr,
    online: Arc<AtomicBool>,
    /// Bytes of tables that were sent.
    sent: Arc<AtomicUsize>,
}

/// How a host answers.
#[derive(Clone, Copy)]
pub struct Answers {
    /// Whether it sends parts of files.
    pub parts: bool,
    /// Whether it sends the page, with the status 200, for files that do not exist.
    pub page_for_all: bool,
    /// The folder of the site.
    pub folder: &'static str,
}

pub const ANSWERS: Answers = Answers { parts: true, page_for_all: false, folder: "/games/" };

impl Host {
    pub fn start(dir: PathBuf) -> Host {
        Host::serving(dir, ANSWERS)
    }

    pub fn serving(dir: PathBuf, answers: Answers) -> Host {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, online) = (listener.local_addr().unwrap(), Arc::new(AtomicBool::new(true)));
        let (is_online, sent) = (online.clone(), Arc::new(AtomicUsize::new(0)));
        let of_tables = sent.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().filter(|_| is_online.load(Ordering::Relaxed)) {
                let (dir, sent) = (dir.clone(), of_tables.clone());
                std::thread::spawn(move || respond(&dir, answers, &sent, stream.unwrap()));
            }
        });
        Host { address, online, sent }
    }

    /// The bytes of tables (files with the ending `.dsq`) that were sent so far.
    pub fn sent(&self) -> usize {
        self.sent.load(Ordering::Relaxed)
    }

    /// From now on every connection ends without an answer.
    pub fn leave(&self) {
        self.online.store(false, Ordering::Relaxed);
    }
}

/// Answers one request. A browser may leave before.
fn respond(
    dir: &Path,
    Answers { parts, page_for_all, folder }: Answers,
    sent: &AtomicUsize,
    mut stream: TcpStream,
) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    let line = lines.next()?.ok()?;
    let headers: Vec<String> = lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let range =
        headers.iter().find_map(|header| header.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
    let range = range.filter(|_| parts).and_then(|range| {
        let (first, last) = range.split_once('-')?;
        Some((first.parse::<usize>().ok()?, last.parse::<usize>().ok()?))
    });
    let path = line.split(' ').nth(1)?.split('?').next()?;
    let name = path.strip_prefix(folder).map(|name| if name.is_empty() { "index.html" } else { name });
    let name = name.map(|name| if page_for_all && !dir.join(name).exists() { "index.html" } else { name });
    let kind = match name.and_then(|name| name.rsplit('.').next()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("svg") => "image/svg+xml",
        Some("wasm") => "application/wasm",
        Some("png") => "image/png",
        Some("webmanifest") => "application/manifest+json",
        _ => "text/plain",
    };
    let (status, content) = match (name.and_then(|name| fs::read(dir.join(name)).ok()), range) {
        (None, _) => ("404 Not Found".to_owned(), Vec::new()),
        (Some(content), None) => ("200 OK".to_owned(), content),
        (Some(content), Some((first, last))) => {
            let (len, part) = (content.len(), content.get(first..content.len().min(last + 1)));
            match part {
                Some(part) if !part.is_empty() => {
                    let end = first + part.len() - 1;
                    (format!("206 Partial Content\r\nContent-Range: bytes {first}-{end}/{len}"), part.to_vec())
                }
                _ => (format!("416 Range Not Satisfiable\r\nContent-Range: bytes */{len}"), Vec::new()),
            }
        }
    };
    let length = content.len();
    if path.ends_with(".dsq") {
        sent.fetch_add(length, Ordering::Relaxed);
    }
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    stream.write_all(&[head.as_bytes(), &content].concat()).ok()
}

/// An answer without what differs from run to run.
fn steady(mut answer: Value) -> Value {
    if let Some(fields) = answer.as_object_mut() {
        for field in ["nps", "time_ms"] {
            fields.remove(field);
        }
    }
    answer
}

/// The module gives the same answers as the server, errors and the events of an analysis included.
#[test]
fn the_module_answers_as_the_server() {
    let Some(site) = dir() else { return };
    let three = "7/7/3e3/7/7/7/3EL2/7/7_b";
    let game = json!({"fen": three.replace('_', " "), "moves": ["d7d6", "e3e4"], "rules": "paper"}).to_string();
    let mut asked: Vec<[String; 3]> =
        requests().into_iter().map(|target| ["GET".into(), target, String::new()]).collect();
    let get = [
        "/api/v1/analyze?depth=7&hash=16".to_owned(),
        format!("/api/v1/analyze?fen={three}&multipv=2"),
        "/api/v1/analyze?fen=3E3/7/3e3/7/7/7/7/7/7_b".to_owned(),
        "/api/v1/analyze?depth=5&hash=4&rules=cazaux&moves=a3b3,g7f7&tables=0".to_owned(),
        "/api/v1/analyze?depth=5&hash=4&rules=chinese&moves=a3b3,g7f7&tables=0".to_owned(),
        "/api/v1/state?rules=chinese&moves=a3b3,g7f7".to_owned(),
        format!("/api/v1/board.svg?fen={three}"),
        "/api/v1/openapi.json".to_owned(),
        "/api/v1/probe?fen=7/7/7".to_owned(),
        "/api/v1/probe?fin=7".to_owned(),
        "/api/v1/probe?rules=paper&rules=paper".to_owned(),
        format!("/api/v1/whatif?fen={three}&piece=z9"),
        "/api/v1/probe?rules=papier".to_owned(),
        format!("/api/v1/probe?fen={}", "1".repeat(9000)),
        "/api/v1/stats/ExL".to_owned(),
        "/api/v1/stats/E%76L".to_owned(),
        "/api/v1/nothing".to_owned(),
        "/api/v1/batch".to_owned(),
        "/api/v1/state?moves=a3a9".to_owned(),
    ];
    asked.extend(get.into_iter().map(|target| ["GET".into(), target, String::new()]));
    for (path, body) in [
        ("review", game.as_str()),
        ("game", &game),
        ("game", "{"),
        ("batch", r#"{"fens": ["7/7/3e3/7/7/7/3E3/7/7 w", "7/7"]}"#),
        ("batch?x=1", "{}"),
        ("review", r#"{"moves": 5}"#),
        ("game", &" ".repeat((128 << 10) + 1)),
        ("probe", "{}"),
    ] {
        asked.push(["POST".into(), format!("/api/v1/{path}"), body.into()]);
    }
    // The module is for a single client, which needs no limits.
    asked.retain(|[_, target, _]| target != "/api/v1/status");

    let server = Server::start(&["--pieces", "3", "--threads", "2"]);
    compare(&site, &[], &server, &asked);
}

/// The module, with more arguments of its script, and the server give the same answers to these requests.
fn compare(site: &Path, more: &[&str], server: &Server, asked: &[[String; 3]]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../web/tests/answers.mjs");
    let node =
        Command::new("node").arg(script).arg(site).args(more).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut node) = node else { return skip("there is no node") };
    node.stdin.take().unwrap().write_all(json!(asked).to_string().as_bytes()).unwrap();
    let served: Vec<_> = asked
        .iter()
        .map(|[method, target, body]| {
            let mut connection = server.connect();
            let answer = if method == "POST" { connection.post(target, body) } else { connection.get(target) };
            let is_stream = answer.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
            let events = if is_stream { answer.events() } else { Vec::new() };
            let text = if is_stream { String::new() } else { answer.text() };
            (answer.status, text, events)
        })
        .collect();
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success());
    let given: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(given.len(), asked.len());
    for ((asked, given), (status, text, events)) in asked.iter().zip(given).zip(served) {
        let asked = &asked[..2];
        assert_eq!((&given["status"], given["body"].as_str()), (&json!(status), Some(&*text)), "{asked:?}");
        let steady_events = |events: Vec<(String, Value)>| -> Vec<(String, Value)> {
            events.into_iter().map(|(name, data)| (name, steady(data))).collect()
        };
        let module: Vec<(String, Value)> = serde_json::from_value(given["events"].clone()).unwrap();
        assert_eq!(steady_events(module), steady_events(events), "{asked:?}");
    }
}

/// A class of five pieces whose file is small; repacked, it has a dictionary.
pub const FIVE: &str = "EvPDWC";

/// Requests for positions of the class [`FIVE`], which `server` chooses by random numbers.
fn five_pieces(server: &Server) -> Vec<[String; 3]> {
    let mut connection = server.connect();
    let mut asked = vec![format!("/api/v1/stats/{FIVE}"), "/api/v1/stats/DvPC".to_owned()];
    for (seed, wdl) in ["win", "loss", "win", "loss", "win", "loss"].into_iter().enumerate() {
        let random = format!("/api/v1/random?material={FIVE}&wdl={wdl}&seed={seed}");
        let fen = connection.get(&random).json()["fen"].as_str().unwrap().replace(' ', "_");
        asked.extend([format!("/api/v1/probe?fen={fen}"), format!("/api/v1/mainline?fen={fen}")]);
    }
    asked.into_iter().map(|target| ["GET".into(), target, String::new()]).collect()
}

/// A class that the page solves has the values of the tables, also under the no-capture limit.
#[test]
fn a_class_that_the_page_solves_answers_as_tables() {
    let Some(site) = dir() else { return };
    let folders = ["site-counted", "site-counted-limited"].map(folder);
    let generate = ["generate", "--material", FIVE, "--backend", "cpu", "--json", "--out"];
    for (dir, metric) in folders.iter().zip([&[][..], &["--metric", "dtz"]]) {
        dsq::stdout(&[&generate[..], &[dir.to_str().unwrap()], metric].concat());
    }
    let both = std::env::join_paths(&folders).unwrap();
    let server = Server::start(&["--tables", both.to_str().unwrap(), "--pieces", "3", "--threads", "2"]);
    let mut asked = five_pieces(&server);
    for [_, target, _] in asked.clone() {
        let Some((_, fen)) = target.split_once("/probe?") else { continue };
        asked.extend([0, 80, 97].map(|clock| ["GET".into(), format!("/api/v1/dtz?{fen}_{clock}"), String::new()]));
    }
    let position = "fen=1E5/4c2/7/7/7/7/3d3/1w5/4p2_b";
    compare(&site, &[position], &server, &asked);
    folders.iter().for_each(|dir| fs::remove_dir_all(dir).unwrap());
}

/// Tables of five pieces beside the page, as generated, repacked and of results alone, give the answers of a server with them.
#[test]
fn tables_beside_the_page_answer_as_those_of_the_server() {
    let Some(site) = dir() else { return };
    let [exact, packed, results] = ["site-exact", "site-packed", "site-results"].map(folder);
    let text = |path: &PathBuf| path.to_str().unwrap().to_owned();
    for dir in [&exact, &packed] {
        dsq::stdout(&["generate", "--material", FIVE, "--backend", "cpu", "--out", &text(dir), "--json"]);
    }
    dsq::stdout(&["repack", &text(&packed), "--json"]);
    dsq::stdout(&["repack", &text(&exact), "--wdl", "--out", &text(&results), "--json"]);
    for tables in [&exact, &packed, &results] {
        let site = with_tables(&site, "site-tables", tables);
        let server = Server::start(&["--tables", &text(tables), "--pieces", "3", "--threads", "2"]);
        let mut asked = five_pieces(&server);
        let others = ["random?material=EvPDWC&wdl=win&seed=1", "random?material=EvPDWC&wdl=loss&seed=2", "stats/EvPDL"];
        asked.extend(others.map(|target| ["GET".into(), format!("/api/v1/{target}"), String::new()]));
        compare(&site, &[], &server, &asked);
        fs::remove_dir_all(site).unwrap();
    }
    [exact, packed, results].iter().for_each(|dir| fs::remove_dir_all(dir).unwrap());
}
