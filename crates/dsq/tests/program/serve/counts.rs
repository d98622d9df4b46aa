//! Endgames that the server counts on demand: five pieces from tables of four, instead of six from five.

use super::answers::at_the_clock;
use super::client::{Answer, Connection, Server};
use super::{folder, schema, wait_for};
use crate::dsq;
use serde_json::{Value, json};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

/// White wins in 19 plies.
pub const FIVE: &str = "7/7/7/7/7/6l/3e3/3EP2/6C_w";
/// Another class.
pub const OTHER: &str = "7/7/3el2/7/7/7/2CET2/7/7_w";
/// The tables that captures of the class of `FIVE`, ELvEPD, lead to.
const CAPTURES: [&str; 5] = ["LvEPD", "EvEPD", "ELvPD", "ELvED", "ELvEP"];
const SIX: &str = "7/7/2rel2/7/7/7/2CEP2/7/7_w";

/// Tables of four pieces, which all tests share.
pub fn four() -> &'static str {
    static DIR: LazyLock<PathBuf> = LazyLock::new(|| {
        let dir = folder("serve-four");
        dsq::stdout(&["generate", "--pieces", "4", "--backend", "cpu", "--out", text(&dir), "--json"]);
        dir
    });
    text(&DIR)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of letters")
}

fn counting(cache: &Path, more: &[&str]) -> Server {
    let own = ["--tables", four(), "--pieces", "3", "--on-demand", "--cache", text(cache), "--threads", "2"];
    Server::start(&[&own[..], more].concat())
}

/// Starts a count without waiting for its end; the stream has begun when this returns.
fn start(server: &Server, fen: &str, headers: &str) -> Connection {
    let mut connection = server.connect();
    connection.send(format!("GET /api/v1/count?fen={fen} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").as_bytes());
    connection.begun();
    connection
}

/// Lets no process count in a cache until dropped.
pub fn block(cache: &Path) -> File {
    std::fs::create_dir_all(cache).unwrap();
    let file = File::create(cache.join("lock")).unwrap();
    file.lock().unwrap();
    file
}

/// Repacked tables, as they are published, suffice: those that a count reads are restored in the cache.
#[test]
fn a_server_counts_from_repacked_tables() {
    let (tables, cache) = (folder("serve-repacked"), folder("serve-repacked-cache"));
    for material in CAPTURES {
        dsq::stdout(&["generate", "--material", material, "--backend", "cpu", "--out", text(&tables)]);
    }
    dsq::stdout(&["repack", text(&tables), "--json"]);
    let server = Server::start(&["--pieces", "3", "--tables", text(&tables), "--on-demand", "--cache", text(&cache)]);
    let events = server.connect().get(&format!("/api/v1/count?fen={FIVE}")).events();
    assert_eq!(events.last().unwrap().0, "done");
    let value = server.connect().get(&format!("/api/v1/probe?fen={FIVE}")).json()["value"].clone();
    assert_eq!((&value["wdl"], &value["dtw"]), (&json!("win"), &json!(19)));
    drop(server);
    std::fs::remove_dir_all(tables).unwrap();
    std::fs::remove_dir_all(cache).unwrap();
}

/// With tables that know a no-capture limit a class is also counted under it, after its distances unless these are known.
#[test]
fn an_endgame_is_counted_under_the_limit() {
    let [limited, whole, cache] = ["limited", "whole", "cache"].map(|name| folder(&format!("serve-count-{name}")));
    let generate = |material, dir: &Path| {
        let how = ["--backend", "cpu", "--metric", "dtz", "--limit", "30", "--out", text(dir)];
        dsq::stdout(&[&["generate", "--material", material][..], &how].concat());
    };
    CAPTURES.iter().for_each(|material| generate(material, &limited));
    generate("ELvEPD", &whole);
    let both = std::env::join_paths([Path::new(four()), &limited]).unwrap();
    let start = |fresh: &Path| {
        let own = ["--tables", text(Path::new(&both)), "--pieces", "3", "--on-demand", "--cache", text(fresh)];
        Server::start(&own)
    };
    let count = |server: &Server| {
        let events = server.connect().get(&format!("/api/v1/count?fen={FIVE}")).events();
        assert_eq!(events.last().unwrap(), &("done".to_owned(), json!({"class": "ELvEPD"})));
        let fraction = |event: &(String, Value)| event.1["fraction"].as_f64();
        assert!(events.iter().filter_map(fraction).is_sorted(), "{events:?}");
    };
    let need = |server: &Server| server.connect().get(&format!("/api/v1/need?fen={FIVE}")).json();
    // The distances are known before the server knows the limit.
    count(&counting(&cache, &[]));
    let server = start(&cache);
    let second = need(&server);
    assert_eq!((&second["state"], &second["class"]), (&json!("possible"), &json!("ELvEPD")));
    count(&server);
    assert_eq!(need(&server)["state"], "known");
    for clock in [0, 7, 11, 12, 20, 29] {
        let fen = format!("{} {clock}", FIVE.replace('_', " "));
        at_the_clock(&mut server.connect(), text(&whole), &fen);
    }
    drop(server);
    // Both counts, one after another.
    std::fs::remove_dir_all(&cache).unwrap();
    let server = start(&cache);
    let both = need(&server);
    assert!(both["file_bytes"].as_u64() > second["file_bytes"].as_u64(), "{both} {second}");
    count(&server);
    assert_eq!(need(&server)["state"], "known");
    drop(server);
    for dir in [limited, whole, cache] {
        std::fs::remove_dir_all(dir).unwrap();
    }
}

/// Without tables the server generates those of four pieces in the cache, once.
#[test]
fn a_server_without_tables_counts_five_pieces() {
    let cache = folder("serve-no-tables");
    for seen in [false, true] {
        let tables =
            || std::fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir());
        assert_eq!(cache.exists() && tables().is_some(), seen);
        let server = Server::start(&["--pieces", "3", "--on-demand", "--cache", text(&cache), "--threads", "2"]);
        let need = server.connect().get(&format!("/api/v1/need?fen={FIVE}")).json();
        assert_eq!(need["state"], if seen { "known" } else { "possible" });
        if !seen {
            let events = server.connect().get(&format!("/api/v1/count?fen={FIVE}")).events();
            assert_eq!(events.last().unwrap().0, "done");
        }
        let value = server.connect().get(&format!("/api/v1/probe?fen={FIVE}")).json()["value"].clone();
        assert_eq!((&value["wdl"], &value["dtw"]), (&json!("win"), &json!(19)));
        assert!(
            dsq::stdout(&["verify", text(&tables().unwrap()), "--sample", "100"]).contains("186 classes are complete")
        );
    }
    std::fs::remove_dir_all(cache).unwrap();
}

fn error(answer: &Answer) -> (u16, Value, Value) {
    let error = answer.json()["error"].clone();
    (answer.status, error["code"].clone(), error["reason"].clone())
}

#[test]
fn an_endgame_is_counted_and_stays_in_the_cache() {
    let cache = folder("serve-count");
    let server = counting(&cache, &[]);
    let mut connection = server.connect();
    let target = format!("/api/v1/probe?fen={FIVE}");
    let before = connection.get(&target);
    assert_eq!(before.json()["known"], false);
    assert_eq!(connection.get("/api/v1/status").json()["tables"][0]["on_demand"], 5);
    let need = connection.get(&format!("/api/v1/need?fen={FIVE}"));
    let description = connection.get("/api/v1/openapi.json").json();
    schema::check_answer(&description, "/api/v1/need", "get", &need);
    let need = need.json();
    assert_eq!((&need["state"], &need["class"]), (&json!("possible"), &json!("ELvEPD")));
    assert!(need["seconds"].as_f64().unwrap() > 0.0 && need["memory_bytes"].as_u64().unwrap() > 1 << 20, "{need}");

    let events = server.connect().get(&format!("/api/v1/count?fen={FIVE}")).events();
    let fractions: Vec<f64> = events
        .iter()
        .filter(|event| event.0 == "progress")
        .map(|event| event.1["fraction"].as_f64().unwrap())
        .collect();
    assert!(!fractions.is_empty() && fractions.is_sorted(), "{events:?}");
    assert_eq!(events.last().unwrap(), &("done".to_owned(), json!({"class": "ELvEPD"})));
    for (name, data) in &events {
        let of = if name == "done" { "CountDone" } else { "CountProgress" };
        schema::check(&description, &json!({"$ref": format!("#/components/schemas/{of}")}), data, name);
    }

    // An answer that the client cached before the count is out of date.
    let tag = format!("If-None-Match: {}\r\n", before.header("etag").unwrap());
    let after = server.connect().get_with(&target, &tag);
    assert_eq!(after.status, 200);
    let after = after.json();
    let tables = folder("serve-five");
    dsq::stdout(&["generate", "--material", "EPCvEL", "--backend", "cpu", "--out", text(&tables), "--json"]);
    let fen = FIVE.replace('_', " ");
    let wanted = dsq::stdout(&["probe", "--tables", text(&tables), "--json", "--line", &fen]);
    let wanted: Value = serde_json::from_str(&wanted).unwrap();
    let values = |moves: &Value, value: &dyn Fn(&Value) -> [Value; 2]| -> Vec<[Value; 2]> {
        moves.as_array().unwrap().iter().map(value).collect()
    };
    assert_eq!((&after["value"]["wdl"], &after["value"]["dtw"]), (&wanted["wdl"], &wanted["dtw"]));
    assert_eq!(
        values(&after["moves"], &|mv| [mv["value"]["wdl"].clone(), mv["value"]["dtw"].clone()]),
        values(&wanted["moves"], &|mv| [mv["wdl"].clone(), mv["dtw"].clone()])
    );
    let line = server.connect().get(&format!("/api/v1/mainline?fen={FIVE}")).json();
    assert_eq!(line["line"].as_array().unwrap().len(), wanted["line"].as_array().unwrap().len());
    assert_eq!(line_in_parts(&server, FIVE, 4), (line["line"].as_array().unwrap().len(), line["end"].clone()));

    assert_eq!(server.connect().get(&format!("/api/v1/need?fen={FIVE}")).json()["state"], "known");
    let events = server.connect().get(&format!("/api/v1/count?fen={FIVE}")).events();
    assert_eq!(events, [("done".to_owned(), json!({"class": null}))]);
    drop(server);
    let server = counting(&cache, &[]);
    let again = server.connect().get_with(&target, &tag);
    assert_eq!((again.status, again.json()["value"].clone()), (200, after["value"].clone()));
    assert_eq!(server.connect().get(&format!("/api/v1/need?fen={OTHER}")).json()["state"], "possible");

    // A class whose file turns out to be damaged can be counted again.
    drop(server);
    let mut entries = std::fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path());
    let file = entries.find(|path| path.extension().is_some_and(|e| e == "dsq")).unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    // The table of blocks and the blocks follow the description and a checksum.
    let head = 24 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize + 8;
    bytes[head..].iter_mut().for_each(|byte| *byte ^= 0x55);
    std::fs::write(&file, bytes).unwrap();
    let server = counting(&cache, &[]);
    assert_eq!(server.connect().get(&target).json()["known"], false);
    assert_eq!(server.connect().get(&format!("/api/v1/need?fen={FIVE}")).json()["state"], "possible");
    [cache, tables].iter().for_each(|dir| std::fs::remove_dir_all(dir).unwrap());
}

/// Clients of one class share its count, which ends when the last of them leaves, and when the server ends.
#[test]
fn a_count_ends_with_its_clients_and_with_the_server() {
    let cache = folder("serve-count-end");
    let blocked = block(&cache);
    let mut server = counting(&cache, &[]);
    let state = |server: &Server, fen| server.connect().get(&format!("/api/v1/need?fen={fen}")).json()["state"].clone();
    let first = start(&server, FIVE, "");
    let second = start(&server, FIVE, "");
    wait_for(&server, "counts", "1");
    assert_eq!((state(&server, FIVE), state(&server, OTHER)), (json!("counting"), json!("busy")));
    let busy = server.connect().get(&format!("/api/v1/count?fen={OTHER}"));
    assert_eq!(error(&busy), (503, json!("busy"), json!("counting")));
    assert!(busy.header("retry-after").is_some());
    drop((first, second));
    wait_for(&server, "counts", "0");
    assert_eq!(state(&server, OTHER), "possible");

    // A client that stays gets its answer as soon as the other process is done, even if another client has left.
    let (leaving, mut staying) = (start(&server, OTHER, ""), start(&server, OTHER, ""));
    drop(leaving);
    // The connection of the one that stays, and that of this request.
    wait_for(&server, "connections", "2");
    drop(blocked);
    let events = staying.raw(b"").expect("an answer").events();
    assert_eq!(events[0].1["phase"], "waiting");
    assert_eq!(events.last().unwrap().0, "done");

    let _blocked = block(&cache);
    let mut last = start(&server, FIVE, "");
    wait_for(&server, "counts", "1");
    assert_eq!(server.terminate(), Some(0));
    let failed = last.raw(b"").expect("the stream ends in order").events();
    assert_eq!(failed.last().unwrap().1["error"]["reason"], "shutting_down", "{failed:?}");
    std::fs::remove_dir_all(cache).unwrap();
}

/// A count that its last client has left does not stand in the way of the next one, which waits for its end.
#[test]
fn the_next_count_waits_for_a_cancelled_one() {
    let cache = folder("serve-count-next");
    let server = counting(&cache, &[]);
    let blocked = block(&cache);
    for (left, next) in [(FIVE, OTHER), (OTHER, FIVE)] {
        drop(start(&server, left, ""));
        // Until the server notices that the client has left, its count is running.
        let state = || server.connect().get(&format!("/api/v1/need?fen={next}")).json()["state"].clone();
        while state() == "busy" {
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut other = start(&server, next, "");
        assert!(other.line().contains(" 200 "));
    }
    wait_for(&server, "counts", "0");
    let mut last = start(&server, FIVE, "");
    drop(blocked);
    assert_eq!(last.raw(b"").expect("an answer").events().last().unwrap().0, "done");
    std::fs::remove_dir_all(cache).unwrap();
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let cache = folder("serve-count-refused");
    let refused =
        |server: &Server, path: &str, fen: &str| error(&server.connect().get(&format!("/api/v1/{path}?fen={fen}")));
    let all = |server: &Server, fen: &str, status: u16, code: &str, reason: &str| {
        for path in ["need", "count"] {
            assert_eq!(refused(server, path, fen), (status, json!(code), json!(reason)), "{path} {fen}");
        }
    };
    let server = Server::start(&["--pieces", "3"]);
    all(&server, FIVE, 403, "not_allowed", "counting_off");
    let server = counting(&cache, &[]);
    all(&server, SIX, 404, "no_table", "too_many_pieces_to_count");
    let params = server.connect().get(&format!("/api/v1/need?fen={SIX}")).json()["error"]["params"].take();
    assert_eq!(params, json!({"pieces": 6, "most": 5, "tables": 5, "largest": 4}));
    all(&server, "", 404, "no_table", "too_many_pieces_to_count");
    all(&server, &format!("{FIVE}&rules=chinese"), 404, "no_table", "counting_other_rules");
    all(&server, "7/7/7_w", 400, "bad_fen", "fen_rank_count");
    let known = server.connect().get("/api/v1/need?fen=7/7/3e3/7/7/7/3E3/7/7_w").json();
    assert_eq!(known["state"], "known");
    let server = counting(&cache, &["--memory", "1MiB"]);
    all(&server, FIVE, 507, "no_room", "no_memory_to_count");
    let answer = server.connect().get(&format!("/api/v1/need?fen={FIVE}"));
    let params = &answer.json()["error"]["params"];
    assert_eq!((&params["material"], &params["available"]), (&json!("ELvEPD"), &json!(1 << 20)));
    assert!(!answer.text().contains(text(&cache)), "paths stay on the server");
    let server = counting(&cache, &["--cache-size", "1MiB"]);
    all(&server, FIVE, 507, "no_room", "no_cache_to_count");
    std::fs::remove_dir_all(&cache).unwrap();

    let small = folder("serve-two");
    dsq::stdout(&["generate", "--pieces", "2", "--backend", "cpu", "--out", text(&small), "--json"]);
    let fails = |code: i32, arguments: &[&str], word: &str| {
        let output = dsq::dsq(&[&["serve", "--listen", "127.0.0.1:0"], arguments].concat());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(stderr.contains(word) && output.stdout.is_empty(), "{stderr}");
    };
    fails(2, &["--cache", text(&cache)], "--on-demand");
    let file = small.join("manifest.json");
    fails(3, &["--on-demand", "--cache", text(&file)], "cannot make ");
    fails(2, &["--tables", text(&small), "--on-demand", "--cache", text(&cache)], "4 pieces");
    std::fs::remove_dir_all(small).unwrap();
}

/// Clients of many addresses start counts and leave, in a loop. Probes are answered meanwhile, nothing stays behind,
/// and one address cannot start counts at will.
#[test]
fn starting_counts_in_a_loop_harms_nobody() {
    let cache = folder("serve-count-loop");
    let server = counting(&cache, &["--behind-proxy"]);
    let client = |number: usize| format!("X-Real-IP: 9.9.9.{number}\r\n");
    std::thread::scope(|scope| {
        for number in 1..=8 {
            let (server, client) = (&server, &client);
            scope.spawn(move || {
                for fen in [FIVE, OTHER, SIX, "nonsense"].into_iter().cycle().skip(number).take(16) {
                    let mut connection = server.connect();
                    let head = format!("Host: localhost\r\n{}", client(number));
                    connection.send(format!("GET /api/v1/count?fen={fen} HTTP/1.1\r\n{head}\r\n").as_bytes());
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
        }
        let mut honest = server.connect();
        for _ in 0..40 {
            let target = "/api/v1/probe?fen=7/7/3el2/7/7/7/3E3/7/7_w";
            assert_eq!(honest.get_with(target, &client(99)).status, 200);
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    wait_for(&server, "counts", "0");
    let events = server.connect().get_with(&format!("/api/v1/count?fen={FIVE}"), &client(98)).events();
    assert_eq!(events.last().unwrap().0, "done");
    drop(server);

    // One address starts few counts at once.
    let server = counting(&cache, &["--behind-proxy", "--max-rate", "1"]);
    let mut streams: Vec<Connection> = (0..40).map(|_| start(&server, OTHER, &client(1))).collect();
    let lines: Vec<String> = streams.iter_mut().map(Connection::line).collect();
    assert!(lines[0].contains(" 200 ") && lines.iter().any(|line| line.contains(" 429 ")), "{lines:?}");
    drop(streams);
    wait_for(&server, "counts", "0");
    std::fs::remove_dir_all(cache).unwrap();
}

/// A line of 251 plies of a counted class may be sent in parts.
#[test]
#[ignore = "half a minute: ./test a_long_line_comes -- --ignored"]
fn a_long_line_comes_in_parts() {
    let cache = folder("serve-line");
    let server = counting(&cache, &[]);
    let longest = "7/Ep5/7/1r5/d6/7/7/7/6P_b";
    let counted = server.connect().get(&format!("/api/v1/count?fen={longest}"));
    assert_eq!(counted.events().last().unwrap().0, "done");
    assert_eq!(line_in_parts(&server, longest, 1000), (251, json!("den")));
    std::fs::remove_dir_all(cache).unwrap();
}

/// The plies of a line and its end, requested in parts of at most `max` plies.
fn line_in_parts(server: &Server, fen: &str, max: usize) -> (usize, Value) {
    let (mut fen, mut plies, mut end) = (fen.to_owned(), 0, json!("limit"));
    while end == "limit" {
        let target = format!("/api/v1/mainline?fen={}&max={max}", fen.replace(' ', "_"));
        let mut part = server.connect().get(&target).json();
        let line = part["line"].as_array().unwrap();
        assert!(line.len() <= max);
        plies += line.len();
        fen = line.last().expect("a part has a move")["fen"].as_str().unwrap().to_owned();
        end = part["end"].take();
    }
    (plies, end)
}

/// The shares of four pieces come from the counts of the tables on disk, without solving or decoding one.
#[test]
fn shares_of_tables_on_disk_are_their_counts() {
    let server = Server::start(&["--tables", four(), "--pieces", "3"]);
    let shares = server.connect().get("/api/v1/matrix?white=2&black=2").json();
    let stats = dsq::stdout(&["stats", four(), "--by", "material", "--json"]);
    let stats: Vec<Value> = stats.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names = |side: &str| shares[side].as_array().unwrap().clone();
    assert_eq!((names("white").len(), names("black").len()), (28, 28), "two of eight animals");
    for (row, white) in names("white").iter().enumerate() {
        for (column, black) in names("black").iter().enumerate() {
            let name = format!("{}v{}", white.as_str().unwrap(), black.as_str().unwrap());
            let counts = stats.iter().find(|line| line["name"] == name.as_str()).unwrap();
            let of = |field: &str| counts[field].as_f64().unwrap() / counts["positions"].as_f64().unwrap();
            let expected = [of("wins"), of("draws") + of("no_move"), of("losses")];
            for (kind, expected) in ["win", "draw", "loss"].into_iter().zip(expected) {
                let shown = shares[kind][row][column].as_f64().unwrap();
                assert!((shown - expected).abs() <= 0.5001e-4, "{name} {kind}: {shown} and {expected}");
            }
        }
    }
}
