//! `dsq serve` as a process, tested over its sockets.

pub mod answers;
mod attacks;
pub mod client;
mod connections;
pub mod counts;
mod games;
mod history;
mod hostile;
mod requests;
mod results;
mod schema;

use crate::dsq;
use client::{Answer, PATIENCE, Server};
use doushouqi::board::{Piece, Position, RuleOptions, Rules, Square};
use doushouqi::game::random::Random;
use doushouqi::tablebase::Material;
use explorer::Timeouts;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const TWO: &str = "7/7/3e3/7/7/7/3E3/7/7_w";

const PUZZLES: &str = r#"{"id":"a","fen":"E6/3W3/7/7/7/7/7/7/2t4 b","rules":"paper","material":"EWvT","goal":"win","solution":["c1d1"],"notation":["Td1"],"plies":1,"dtw":1,"depth":1,"alternatives":0,"themes":["den"],"difficulty":1}
{"id":"b","fen":"7/7/7/7/7/7/3D1P1/3d3/7 w","rules":"paper","material":"PDvD","goal":"win","solution":["d3d2"],"notation":["Dxd2"],"plies":1,"dtw":1,"depth":1,"alternatives":0,"themes":["den","trap"],"difficulty":2}
"#;

pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}

/// A random position of a material.
fn random_position(material: Material, random: &mut Random) -> Position {
    let pieces: Vec<Piece> = material.pieces().collect();
    random.placement(&pieces, &Rules::default()).expect("there is one")
}

/// A gauge of the server.
fn gauge(server: &Server, name: &str) -> String {
    let text = server.connect().get("/metrics").text();
    text.lines().find_map(|line| line.strip_prefix(&format!("dsq_{name} "))).unwrap().to_owned()
}

/// Waits until a gauge has a value.
fn wait_for(server: &Server, name: &str, wanted: &str) {
    wait_until(server, name, |value| value == wanted.parse::<f64>().unwrap());
}

/// Waits until a gauge or a counter has a value that is wanted.
fn wait_until(server: &Server, name: &str, wanted: impl Fn(f64) -> bool) {
    let start = Instant::now();
    loop {
        let value = gauge(server, name);
        if wanted(value.parse().unwrap()) {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "{name}: {value}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The bytes that the system names as a process's `VmRSS`, its memory, or `VmHWM`, the most so far; `None` if it has ended.
#[cfg(target_os = "linux")]
pub fn memory(process: u32, field: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let kib = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':')?.trim().strip_suffix(" kB"));
    Some(kib?.parse::<u64>().expect("a number") << 10)
}

/// A server without options solves four pieces within the memory that its help and the documents name.
#[cfg(target_os = "linux")]
#[test]
fn a_server_solves_four_pieces_within_its_memory() {
    const MEMORY: u64 = 1_100_000_000;
    let server = Server::start(&["--threads", "2"]);
    wait_for(&server, "table_pieces", "4");
    let most = memory(server.pid(), "VmHWM").unwrap();
    assert!(most <= MEMORY, "{most} bytes");
}

/// Every described path with the keys of its query.
fn paths(description: &Value) -> Vec<(String, Vec<String>)> {
    let keys = |methods: &Value| {
        let parameters = methods["get"]["parameters"].as_array().cloned().unwrap_or_default();
        let named = parameters.iter().filter(|parameter| parameter["in"] == "query");
        named.map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect()
    };
    description["paths"].as_object().unwrap().iter().map(|(path, methods)| (path.clone(), keys(methods))).collect()
}
