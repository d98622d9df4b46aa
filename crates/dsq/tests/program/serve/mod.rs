//! `dsq serve` as a process, tested over its sockets.

mod attacks;
pub mod client;
pub mod counts;
mod history;
mod results;
use crate::dsq;
mod schema;

use client::{Answer, PATIENCE, Server};
use doushouqi::board::{Piece, Position, RuleOptions, Rules, Square};
use doushouqi::game::random::Random;
use doushouqi::tablebase::Material;
use explorer::Timeouts;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
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

/// The server and `dsq probe` return the same values, for 500 positions of two to four pieces.
#[test]
fn values_are_those_of_probe() {
    let dir = folder("serve-tables");
    let tables = dir.to_str().unwrap();
    dsq::stdout(&["generate", "--pieces", "3", "--out", tables, "--json"]);
    dsq::stdout(&["generate", "--material", "EPvLR", "--out", tables, "--json"]);
    let server = Server::start(&["--tables", tables, "--pieces", "3"]);
    let mut random = Random::new(15);
    let small: Vec<Material> = (2..=3).flat_map(Material::all).collect();
    let four: Material = "EPvLR".parse().unwrap();
    let positions: Vec<Position> = (0..500)
        .map(|i| {
            let material = if i % 5 == 0 { four } else { small[random.below(small.len())] };
            random_position(material, &mut random)
        })
        .collect();
    let fens: String = positions.iter().map(|position| position.to_fen() + "\n").collect();
    let mut probe = dsq::command(&["probe", "--tables", tables, "--json", "--line", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    probe.stdin.take().unwrap().write_all(fens.as_bytes()).unwrap();
    let said = String::from_utf8(probe.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(said.lines().count(), 500);
    let mut connection = server.connect();
    for (position, line) in positions.iter().zip(said.lines()) {
        let said: Value = serde_json::from_str(line).unwrap();
        let fen = position.to_fen().replace(' ', "_");
        let shown = connection.get(&format!("/api/v1/probe?fen={fen}")).json();
        assert_eq!(shown["fen"], said["fen"]);
        assert_eq!((&shown["value"]["wdl"], &shown["value"]["dtw"]), (&said["wdl"], &said["dtw"]), "{fen}");
        let key = |mv: &Value, name: &str, value: &Value| {
            (mv[name].as_str().unwrap().to_owned(), value["wdl"].clone(), value["dtw"].clone())
        };
        let shown_moves: Vec<_> =
            shown["moves"].as_array().unwrap().iter().map(|mv| key(mv, "san", &mv["value"])).collect();
        let said_moves: Vec<_> = said["moves"].as_array().unwrap().iter().map(|mv| key(mv, "move", mv)).collect();
        let ranks =
            |moves: &[(String, Value, Value)]| moves.iter().map(|mv| (mv.1.clone(), mv.2.clone())).collect::<Vec<_>>();
        assert_eq!(ranks(&shown_moves), ranks(&said_moves), "best first: {fen}");
        let sorted = |mut moves: Vec<(String, Value, Value)>| {
            moves.sort_by(|a, b| a.0.cmp(&b.0));
            moves
        };
        assert_eq!(sorted(shown_moves), sorted(said_moves), "{fen}");
        let line = connection.get(&format!("/api/v1/mainline?fen={fen}")).json();
        assert_eq!(line["line"].as_array().unwrap().len(), said["line"].as_array().unwrap().len(), "{fen}");
    }
    let unknown = connection.get("/api/v1/probe").json();
    assert_eq!((&unknown["known"], &unknown["value"]), (&json!(false), &Value::Null));
    std::fs::remove_dir_all(dir).unwrap();
}

/// The OpenAPI description lists every route and no other, and answers match its schemas.
#[test]
fn answers_are_as_described() {
    let puzzles = folder("serve-puzzles");
    std::fs::write(&puzzles, PUZZLES).unwrap();
    let server = Server::start(&["--pieces", "3", "--puzzles", puzzles.to_str().unwrap()]);
    let mut connection = server.connect();
    let description = connection.get("/api/v1/openapi.json").json();
    let described = description["paths"].as_object().unwrap().iter().flat_map(|(path, methods)| {
        methods.as_object().unwrap().keys().map(move |method| (path.as_str(), method.as_str()))
    });
    let mut described: Vec<(&str, &str)> = described.collect();
    let mut served = explorer::operations();
    described.sort_unstable();
    served.sort_unstable();
    assert_eq!(described, served);
    let codes = &description["components"]["schemas"]["ErrorBody"]["properties"]["code"]["enum"];
    let own: Vec<&str> = explorer::Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(*codes, json!(own));

    schema::check_types(&description, include_str!("../../../../explorer/web/openapi.d.ts"));

    let three = "7/7/3e3/7/7/7/3EL2/7/7_b";
    let over = "3E3/7/3e3/7/7/7/7/7/7_b";
    let asked = [
        "/api/v1/probe".to_owned(),
        format!("/api/v1/probe?fen={over}"),
        format!("/api/v1/mainline?fen={three}&max=3"),
        format!("/api/v1/whatif?fen={three}&piece=d7"),
        format!("/api/v1/race?fen={three}"),
        format!("/api/v1/rulesets?fen={TWO}&rules=chinese"),
        format!("/api/v1/fortress?fen={TWO}"),
        format!("/api/v1/tree?fen={TWO}"),
        format!("/api/v1/tree?fen={three}"),
        "/api/v1/stats/EvL".to_owned(),
        "/api/v1/matrix?white=1&black=2".to_owned(),
        "/api/v1/random?material=EvLR&wdl=draw&seed=1".to_owned(),
        "/api/v1/longest?count=5".to_owned(),
        "/api/v1/rules".to_owned(),
        "/api/v1/status".to_owned(),
        format!("/api/v1/bestmove?fen={TWO}&perfect=1"),
        "/api/v1/bestmove?strength=2&moves=a3b3,g7f7&seed=3".to_owned(),
        format!("/api/v1/bestmove?fen={over}"),
        "/api/v1/state?moves=a3b3,g7f7".to_owned(),
        format!("/api/v1/state?fen={over}"),
        "/api/v1/levels".to_owned(),
        "/api/v1/puzzles?count=3&seed=1&theme=den".to_owned(),
    ];
    for target in &asked {
        let answer = connection.get(target);
        let path = target.split('?').next().unwrap();
        let path = if path.starts_with("/api/v1/stats") { "/api/v1/stats/{material}" } else { path };
        schema::check_answer(&description, path, "get", &answer);
    }
    let posted = [
        ("/api/v1/batch", json!({"fens": [TWO, "nonsense", three], "rules": "bell"})),
        ("/api/v1/review", json!({"fen": three, "moves": ["d7d6", "e3e2"]})),
        ("/api/v1/game", json!({"moves": ["Eb3", "rb7"], "white": "Anna", "result": "0-1"})),
    ];
    let drawn = connection.get("/api/v1/puzzles?theme=trap").json();
    assert_eq!((&drawn["total"], &drawn["puzzles"][0]["id"]), (&json!(1), &json!("b")), "{drawn}");
    std::fs::remove_file(puzzles).unwrap();
    for (path, body) in &posted {
        schema::check_answer(&description, path, "post", &connection.post(path, &body.to_string()));
    }
    for target in
        ["/api/v1/probe?fen=7/7", "/api/v1/stats/EvZ", "/api/v1/random?rules=paper,no", "/nothing", "/api/v1/batch"]
    {
        let answer = connection.get(target);
        assert!((400..500).contains(&answer.status), "{target}: {answer:?}");
        schema::check(&description, &json!({"$ref": "#/components/schemas/Error"}), &answer.json(), target);
    }
}

#[test]
fn errors_have_a_code_and_a_place() {
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    let mut error = |target: &str| {
        let answer = connection.get(target);
        let error = answer.json()["error"].clone();
        (answer.status, error["code"].as_str().unwrap().to_owned(), error["where"].clone())
    };
    let at = |field: &str, at: usize| json!({"field": field, "at": at});
    assert_eq!(error("/api/v1/probe?fen=7/7/3x3/7/7/7/7/7/7_w"), (400, "bad_fen".into(), at("fen", 5)));
    assert_eq!(error("/api/v1/probe?fen=7/8/7/7/7/7/7/7/7_w"), (400, "bad_fen".into(), at("fen", 2)));
    assert_eq!(error("/api/v1/probe?fen=7/7/7/7/7/7/7/7/E6_x"), (400, "bad_fen".into(), at("fen", 19)));
    assert_eq!(error("/api/v1/probe?rules=paper,shore=wet"), (400, "bad_rules".into(), at("rules", 6)));
    assert_eq!(error("/api/v1/probe?rules=%FF"), (400, "bad_rules".into(), at("rules", 0)));
    assert_eq!(error("/api/v1/stats/EvE?rules=nobody"), (400, "bad_rules".into(), at("rules", 0)));
    assert_eq!(error("/api/v1/stats/EE"), (400, "bad_material".into(), at("material", 0)));
    assert_eq!(error("/api/v1/stats/%FF"), (400, "bad_material".into(), at("material", 0)));
    assert_eq!(error("/api/v1/whatif?piece=h1"), (400, "bad_request".into(), at("piece", 0)));
    assert_eq!(error("/api/v1/whatif?piece=d5"), (400, "bad_request".into(), at("piece", 0)));
    assert_eq!(error("/api/v1/mainline"), (404, "no_table".into(), Value::Null));
    assert_eq!(error("/api/v1/stats/ELTvER"), (404, "no_table".into(), Value::Null));
    assert_eq!(error("/api/v1/bestmove?moves=a3b3,a3b3"), (400, "bad_move".into(), at("moves", 1)));
    assert_eq!(error("/api/v1/matrix?white=3&black=3"), (404, "no_table".into(), Value::Null));
    assert_eq!(error("/api/v1/matrix?white=0"), (400, "bad_request".into(), at("white", 0)));
}

/// The server rejects requests of other origins, for other hosts, too large or too frequent. Every response has
/// security headers.
#[test]
fn requests_are_checked_before_their_handler() {
    let server = Server::start(&["--pieces", "3", "--behind-proxy", "--rate", "5", "--host", "dsq.example"]);
    let ask = |request: &str| {
        let answer = server.connect().raw(request.as_bytes()).expect("an answer");
        let code = answer.json_or_null()["error"]["code"].as_str().unwrap_or("").to_owned();
        (answer.status, code)
    };
    let get = |headers: &str| ask(&format!("GET /api/v1/rules HTTP/1.1\r\nX-Real-IP: 9.9.9.7\r\n{headers}\r\n"));
    let ok = (200, String::new());
    for host in ["localhost", "127.0.0.1:8763", "[::1]:8763", "dsq.example", "192.168.1.5:80", "LOCALHOST:1"] {
        assert_eq!(get(&format!("Host: {host}\r\n")), ok, "{host}");
    }
    let host = (403, "forbidden_host".to_owned());
    for headers in
        ["Host: evil.example\r\n", "Host: localhost.evil.example\r\n", "", "Host: localhost\r\nHost: a.b\r\n"]
    {
        assert_eq!(get(headers), host, "{headers}");
    }
    let origin = (403, "forbidden_origin".to_owned());
    assert_eq!(get("Host: localhost:1\r\nOrigin: http://localhost:1\r\n"), ok);
    assert_eq!(get("Host: localhost:1\r\nOrigin: http://localhost:2\r\n"), origin);
    assert_eq!(get("Host: localhost\r\nOrigin: null\r\n"), origin);

    // A remote address may send four seconds' worth of its rate at once.
    let mut far = server.connect();
    let answers: Vec<u16> =
        (0..40).map(|_| far.get_with("/api/v1/rules", "X-Forwarded-For: 1.1.1.1, 9.9.9.9\r\n").status).collect();
    let refused = answers.iter().filter(|&&status| status == 429).count();
    assert!((10..=20).contains(&refused), "{refused} of 40 refused");
    assert_eq!(far.get_with("/api/v1/rules", "X-Forwarded-For: 9.9.9.8\r\n").status, 200);
    // Requests without a usable client address are rejected, except those of monitors. A forwarded loopback address is
    // limited.
    for header in ["", "X-Forwarded-For: unknown\r\n", "X-Forwarded-For: 9.9.9.8\r\nForwarded: for=1.1.1.1\r\n"] {
        assert_eq!(far.get_with("/api/v1/rules", header).json()["error"]["code"], "bad_request", "{header}");
    }
    assert_eq!(far.get("/healthz").status, 200);
    let local = (0..40).map(|_| far.get_with("/api/v1/rules", "Forwarded: for=\"127.0.0.1:80\"\r\n").status);
    assert!(local.filter(|&status| status == 429).count() >= 10);

    let server = Server::start(&["--pieces", "3", "--rate", "5"]);
    let mut connection = server.connect();
    assert!((0..40).all(|_| connection.get("/api/v1/rules").status == 200), "this machine has no limit");
    assert_eq!(connection.post("/api/v1/batch", &"x".repeat(200_000)).status, 413);
    assert_eq!(server.connect().get(&format!("/api/v1/probe?fen={}", "7".repeat(9000))).status, 413);
    let broken = b"POST /api/v1/batch HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
    let answer = server.connect().raw(broken).expect("an answer");
    assert_eq!((answer.status, &answer.json()["error"]["reason"]), (400, &json!("bad_body")));
    assert_eq!(server.connect().post("/api/v1/probe", "{}").status, 405);
    let many: Vec<&str> = vec![TWO; 201];
    assert_eq!(server.connect().post("/api/v1/batch", &json!({"fens": many}).to_string()).status, 413);
    for path in ["/../Cargo.toml", "/..%2fCargo.toml", "//etc/passwd", "/index.html/..", "/%00", "/assets/"] {
        let answer = server.connect().get(path);
        assert_eq!(answer.json_or_null()["error"]["code"], "not_found", "{path}: {answer:?}");
    }
    for path in ["/", "/api/v1/rules", "/nothing", "/api/v1/board.svg"] {
        let answer = server.connect().get(path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
    }
}

#[test]
fn unchanged_answers_are_304() {
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    for target in [format!("/api/v1/probe?fen={TWO}"), "/api/v1/stats/EvE".to_owned()] {
        let answer = connection.get(&target);
        let tag = answer.header("etag").expect("an ETag").to_owned();
        let again = connection.get_with(&target, &format!("If-None-Match: {tag}\r\n"));
        assert_eq!((again.status, again.body.len()), (304, 0), "{target}");
        assert_eq!(again.header("etag"), Some(&*tag));
        assert_eq!(connection.get_with(&target, "If-None-Match: \"other\"\r\n").status, 200);
        assert_eq!(connection.get_with(&target, "If-None-Match: *\r\n").status, 304);
    }
    assert_eq!(connection.get_with("/api/v1/probe?fen=bad", "If-None-Match: *\r\n").status, 400);
    assert_eq!(connection.get("/api/v1/random").header("etag"), None);
    let packed = connection.get_with("/api/v1/rules", "Accept-Encoding: gzip\r\n");
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert_eq!(packed.body[..2], [0x1f, 0x8b]);
}

/// Another build of the program may answer otherwise, also if it has the same version.
#[cfg(target_os = "linux")]
#[test]
fn another_build_has_other_entity_tags() {
    let program = folder("serve-build");
    let tags = || {
        let mut serve = std::process::Command::new(&program);
        let server = Server::spawn(serve.args(["serve", "--listen", "127.0.0.1:0", "--pieces", "3"]));
        let mut connection = server.connect();
        ["/api/v1/rules", "/api/v1/stats/EvE"].map(|target| connection.get(target).header("etag").unwrap().to_owned())
    };
    std::fs::copy(env!("CARGO_BIN_EXE_dsq"), &program).unwrap();
    let first = tags();
    assert_eq!(tags(), first, "a restart changes nothing");
    // Bytes after the end of the program are not read.
    std::fs::OpenOptions::new().append(true).open(&program).unwrap().write_all(b"another build").unwrap();
    let other = tags();
    assert!(first.iter().zip(&other).all(|(first, other)| first != other), "{first:?} {other:?}");
    std::fs::remove_file(program).unwrap();
}

/// The list of the longest lines grows while the server solves four pieces, so it has no entity tag until then.
#[test]
fn a_growing_answer_has_no_entity_tag() {
    let server = Server::start(&["--pieces", "4"]);
    let mut connection = server.connect();
    let tag = connection.get("/api/v1/longest").header("etag").map(str::to_owned);
    let pieces = connection.get("/api/v1/status").json()["tables"][0]["pieces"].clone();
    assert!(tag.is_none() || pieces == 4, "{tag:?}");
    let server = Server::start(&["--pieces", "3"]);
    assert!(server.connect().get("/api/v1/longest").header("etag").is_some());
}

/// Analysis is streamed. It stops when its client leaves and when the server ends.
#[test]
fn analysis_streams_and_stops() {
    let mut server = Server::start(&["--pieces", "3", "--threads", "2"]);
    let (events, description) = (
        server.connect().get("/api/v1/analyze?depth=6&multipv=2"),
        server.connect().get("/api/v1/openapi.json").json(),
    );
    assert_eq!(events.header("content-type"), Some("text/event-stream"));
    let events = events.events();
    let infos: Vec<&Value> = events.iter().filter(|(name, _)| name == "info").map(|(_, data)| data).collect();
    assert!(infos.len() >= 12, "{}", infos.len());
    for info in &infos {
        schema::check(&description, &json!({"$ref": "#/components/schemas/Info"}), info, "info");
    }
    let (name, done) = events.last().unwrap();
    assert_eq!(name, "done");
    let last = infos.iter().rev().find(|info| info["multipv"] == 1).unwrap();
    assert_eq!((&done["source"], &done["bestmove"]), (&json!("engine"), &last["pv"][0]["uci"]));

    let known = server.connect().get(&format!("/api/v1/analyze?fen={TWO}&multipv=3")).events();
    assert_eq!(known.len(), 4);
    assert_eq!(known[0].1["score"], json!({"kind": "mate", "value": -12}));
    assert_eq!(known[3].1["source"], "table");

    let wait = |server: &Server, wanted: &str| wait_for(server, "searches", wanted);
    let mut first = server.connect();
    first.send(b"GET /api/v1/analyze HTTP/1.1\r\nHost: localhost\r\n\r\n");
    wait(&server, "1");
    drop(first);
    wait(&server, "0");

    let mut second = server.connect();
    second.send(b"GET /api/v1/analyze HTTP/1.1\r\nHost: localhost\r\n\r\n");
    wait(&server, "1");
    assert_eq!(server.terminate(), Some(0));
    let events = second.raw(b"").expect("the stream ends in order").events();
    assert_eq!(events.last().unwrap().0, "done");
}

/// A gauge of the server.
fn gauge(server: &Server, name: &str) -> String {
    let text = server.connect().get("/metrics").text();
    text.lines().find_map(|line| line.strip_prefix(&format!("dsq_{name} "))).unwrap().to_owned()
}

/// Waits until a gauge has a value.
fn wait_for(server: &Server, name: &str, wanted: &str) {
    let start = Instant::now();
    while gauge(server, name) != wanted {
        assert!(start.elapsed() < PATIENCE, "{name}: {}, not {wanted}", gauge(server, name));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A review stops when its client leaves. The server ends while it solves.
#[test]
fn work_ends_with_its_client_and_with_the_server() {
    let mut server = Server::start(&["--pieces", "3", "--threads", "1"]);
    let moves: Vec<&str> = ["a3b3", "g7f7", "b3a3", "f7g7"].into_iter().cycle().take(60).collect();
    let body = json!({"rules": "paper,repetition=none", "moves": moves}).to_string();
    let mut client = server.connect();
    let head = format!("POST /api/v1/review HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", body.len());
    client.send((head + &body).as_bytes());
    wait_for(&server, "searches", "1");
    drop(client);
    wait_for(&server, "searches", "0");

    let mut clients = Vec::new();
    for rules in ["chinese", "quadibloc", "bell", "cazaux"] {
        let mut client = server.connect();
        let target = format!("/api/v1/matrix?white=2&black=2&rules={rules}");
        client.send(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
        clients.push(client);
    }
    while gauge(&server, "jobs") == "0" {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(server.terminate(), Some(0));
}

/// The first signal lets open requests end, the second one ends the server at once.
#[test]
fn a_second_signal_ends_the_server_at_once() {
    let mut server = Server::start(&["--pieces", "3"]);
    // A client that never reads its answers delays the end.
    let mut deaf = TcpStream::connect(server.address()).unwrap();
    deaf.write_all("GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(400).as_bytes()).unwrap();
    wait_for(&server, "connections", "2");
    server.signal("-TERM");
    server.signal("-INT");
    assert_eq!(server.wait(), Some(130));
}

/// The server disconnects a client that never reads.
#[test]
fn clients_that_never_read_are_cut_off() {
    let second = Duration::from_secs(1);
    let server = Server::with_timeouts(Timeouts { write: second, ..Timeouts::default() }, false);
    let mut deaf = TcpStream::connect(server.address()).unwrap();
    // More than the buffers of both sockets hold.
    deaf.write_all("GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(400).as_bytes()).unwrap();
    wait_for(&server, "connections", "2");
    wait_for(&server, "connections", "1");
    drop(deaf);
}

/// One address has at most 256 connections. Beyond that the server answers 503 at once.
#[test]
fn connections_of_an_address_are_limited() {
    let server = Server::start(&["--pieces", "3"]);
    let mut open: Vec<_> = (0..256).map(|_| server.connect()).collect();
    assert_eq!(open[255].get("/healthz").status, 200);
    let refused = server.connect().raw(b"").expect("an answer");
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("10")));
    assert_eq!(open[0].get("/healthz").status, 200);
    open.pop();
    let start = Instant::now();
    while server.connect().raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").is_none_or(|a| a.status != 200) {
        assert!(start.elapsed() < PATIENCE, "a closed connection makes room");
    }
}

/// A process that may open few files accepts fewer connections, says so once, and refuses further ones with 503, also
/// where the limit leaves no file for a connection.
#[cfg(unix)]
#[test]
fn connections_stay_within_the_limit_of_open_files() {
    for limit in [128, 24] {
        let log = folder("serve-files");
        let mut shell = std::process::Command::new("sh");
        let start = format!("ulimit -n {limit}; exec \"$0\" \"$@\"");
        shell.args(["-c", &start, env!("CARGO_BIN_EXE_dsq"), "serve", "--listen", "127.0.0.1:0", "--pieces", "3"]);
        let server = Server::spawn(shell.arg("--behind-proxy").stderr(std::fs::File::create(&log).unwrap()));
        let mut open: Vec<_> = (0..140).map(|_| server.connect()).collect();
        let refused = open.pop().unwrap().raw(b"").expect("an answer");
        assert_eq!((refused.status, refused.header("retry-after")), (503, Some("10")), "{limit}");
        assert_eq!(open[0].get("/healthz").status, 200, "{limit}");
        drop((open, server));
        let lines = std::fs::read_to_string(&log).unwrap();
        assert!((1..4).contains(&lines.lines().count()) && lines.contains("few open files"), "{limit}: {lines}");
        std::fs::remove_file(log).unwrap();
    }
}

/// Without JavaScript the page shows the board, the result and the moves, which are links.
#[test]
fn the_page_is_readable_without_scripts() {
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    let page = connection.get(&format!("/?fen={TWO}&rules=chinese"));
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let text = page.text();
    assert!(text.contains("Black wins in 12 plies.") && text.contains(">Value</th>"), "{text}");
    assert_eq!(text.matches("<td").count(), 63 + 1 + 2 * 4, "squares, a corner, and four moves");
    let link = "/?fen=7/7/3e3/7/7/7/7/3E3/7_b&amp;rules=chinese";
    assert!(text.contains(link), "{text}");
    let next = connection.get(&link.replace("&amp;", "&")).text();
    assert!(next.contains("Black wins in 11 plies."), "{next}");
    let bad = connection.get("/?fen=%3Cscript%3Ealert(1)%3C/script%3E");
    assert_eq!(bad.status, 400);
    assert!(bad.text().contains("&lt;script&gt;") && !bad.text().contains("<script>alert"));
    let picture = connection.get(&format!("/api/v1/board.svg?fen={TWO}"));
    assert_eq!(picture.header("content-type"), Some("image/svg+xml"));
    assert_eq!(picture.text().matches("<circle").count(), 2);
}

/// Routes for games use a halfmove clock; routes for positions reject it.
#[test]
fn halfmove_clocks_are_used_or_refused() {
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    // A lion steps before the den and wins in three plies.
    let lion = |clock: &str| format!("fen=7/7/3L3/7/7/7/7/7/r6_w{clock}");
    for path in ["probe", "mainline", "race", "rulesets", "tree", "board.svg"] {
        let answer = connection.get(&format!("/api/v1/{path}?{}", lion("_17")));
        assert_eq!(answer.status, 400, "{path}");
        let error = answer.json()["error"].clone();
        assert_eq!((&error["code"], &error["where"]["at"]), (&json!("bad_fen"), &json!(23)), "{path}: {error}");
        assert!(error["message"].as_str().unwrap().contains("halfmove clock (17)"), "{path}: {error}");
    }
    assert_eq!(connection.get(&format!("/?{}", lion("_17"))).status, 400);
    let mut first = |clock: &str| connection.get(&format!("/api/v1/analyze?{}&depth=6", lion(clock))).events();
    let (table, engine) = (first("_97"), first("_98"));
    assert_eq!(table.last().unwrap().1["source"], "table");
    assert_eq!(table[0].1["score"], json!({"kind": "mate", "value": 3}));
    assert_eq!(engine.last().unwrap().1["source"], "engine");
    assert_eq!(engine[0].1["score"]["kind"], "cp");
    let over = connection.get(&format!("/api/v1/bestmove?{}&perfect=1", lion("_100"))).json();
    assert_eq!((&over["uci"], &over["over"]["reason"]), (&Value::Null, &json!("no_capture")), "{over}");
    // A game keeps its clock as text and in a review.
    let game = json!({"fen": "7/7/3L3/7/7/7/7/7/r6 w 98", "moves": ["Ld8", "ra2"]}).to_string();
    let text = connection.post("/api/v1/game", &game).json()["text"].clone();
    assert!(text.as_str().unwrap().contains("[FEN \"7/7/3L3/7/7/7/7/7/r6 w 98\"]"), "{text}");
    let review = connection.post("/api/v1/review", &json!({"text": text}).to_string()).json();
    assert_eq!(review["fen"], "7/7/3L3/7/7/7/7/7/r6 w 98");
    assert_eq!(
        (&review["termination"], &review["moves"][0]["score_after"]["kind"]),
        (&json!("no-capture"), &json!("cp"))
    );
}

/// A game makes the round trip through text, is reviewed, and its text is read by `dsq analyze`.
#[test]
fn games_are_played_judged_and_written() {
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    let fen = "7/7/3e3/7/7/7/3E3/7/7 b";
    // The side to move loses.
    let review = connection.post("/api/v1/review", &json!({"fen": fen, "moves": ["d7d8", "Ed4"]}).to_string()).json();
    let first = &review["moves"][0];
    let probe = connection.get("/api/v1/probe?fen=7/7/3e3/7/7/7/3E3/7/7_b").json();
    assert_eq!(probe["value"]["wdl"], "loss", "{probe}");
    assert_eq!((&first["source"], &first["score_before"]["kind"]), (&json!("table"), &json!("mate")));
    let dtw = probe["value"]["dtw"].as_i64().unwrap();
    assert_eq!(first["score_before"]["value"], -dtw);
    let late = json!({"fen": "7/7/3e3/7/7/7/3E3/7/7 w 100", "moves": ["d3d4"], "no_capture_limit": 200});
    let text = connection.post("/api/v1/game", &late.to_string()).json()["text"].to_string();
    assert!(text.contains("NoCaptureLimit \\\"200"), "{text}");
    let text = connection.post("/api/v1/game", &json!({"moves": ["Eb3", "rb7"], "white": "Anna"}).to_string()).json();
    let again = connection.post("/api/v1/review", &json!({"text": text["text"]}).to_string()).json();
    assert_eq!((again["moves"].as_array().unwrap().len(), &again["white_name"]), (2, &json!("Anna")));
    assert_eq!(again["moves"][0]["source"], "engine");
    let long = json!({"text": "Eb3 ".repeat(10_000)}).to_string();
    assert_eq!(connection.post("/api/v1/game", &long).json()["error"]["code"], "too_large");
    let path = folder("serve-game");
    std::fs::write(&path, text["text"].as_str().unwrap()).unwrap();
    let judged = dsq::stdout(&["analyze", "--game", path.to_str().unwrap(), "--depth", "2", "--json"]);
    assert_eq!(judged.lines().count(), 2);
    std::fs::remove_file(path).unwrap();

    let fields = format!("fen={TWO}&strength=10&movetime=50");
    let played = connection.get(&format!("/api/v1/bestmove?{fields}")).json();
    assert_eq!(played["source"], "engine");
    let weak = |seed: u64| connection_move(&server, &format!("/api/v1/bestmove?strength=1&seed={seed}"));
    assert_eq!(weak(7), weak(7), "the seed determines the move");
}

/// The server writes no game that it does not read, and ignores no field of a game.
#[test]
fn games_are_checked_alike_on_the_way_in_and_out() {
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    let den = json!({"fen": "7/7/3L3/7/7/7/7/7/r6 w", "moves": ["d7d8", "a1b1", "d8d9"]});
    let going_on = json!({"moves": ["Eb3", "rb7"]});
    let with = |game: &Value, more: &Value| {
        let mut game = game.clone();
        game.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        game.to_string()
    };
    let accepted = [
        (&going_on, json!({"date": "2026.02.03", "result": "1-0"}), "1-0"),
        (&going_on, json!({"result": "*"}), "*"),
        (&going_on, json!({"white": "A \"B\"\nC", "black": "\\"}), "*"),
        (&den, json!({"result": "1-0"}), "1-0"),
        (&den, json!({}), "1-0"),
    ];
    for (game, more, result) in &accepted {
        let text = connection.post("/api/v1/game", &with(game, more)).json()["text"].clone();
        assert!(text.as_str().unwrap().contains(&format!("[Result \"{result}\"]")), "{more}: {text}");
        let again = connection.post("/api/v1/game", &json!({"text": text}).to_string()).json();
        assert_eq!(again["text"], text, "{more}");
    }
    let refused = [
        (&going_on, json!({"date": "yesterday"}), "date", "bad_date"),
        (&going_on, json!({"date": "2026.13.01"}), "date", "bad_date"),
        (&going_on, json!({"date": ""}), "date", "bad_date"),
        (&going_on, json!({"result": "1/2-1/2"}), "result", "wrong_result"),
        (&going_on, json!({"result": "2-0"}), "result", "wrong_result"),
        (&den, json!({"result": "0-1"}), "result", "wrong_result"),
        (&den, json!({"result": "*"}), "result", "wrong_result"),
        (&going_on, json!({"white": "x".repeat(40_000)}), "text", "text_too_long"),
    ];
    for (game, more, field, reason) in &refused {
        for path in ["/api/v1/game", "/api/v1/review"] {
            let answer = connection.post(path, &with(game, more));
            let error = &answer.json()["error"];
            assert_eq!(
                (&error["where"]["field"], &error["reason"]),
                (&json!(field), &json!(reason)),
                "{path}: {error}"
            );
            assert!(error["message"].as_str().unwrap().len() < 200, "{path}: {error}");
        }
    }
}

/// The tables' best move would repeat a position, which draws; another move wins as well.
#[test]
fn perfect_moves_heed_the_history_of_the_game() {
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    let game = "fen=7/3L3/7/7/7/r6/7/7/7_b&rules=paper,repetition=twofold&moves=a4a5,d8d7,a5a4";
    let best = connection.get(&format!("/api/v1/bestmove?{game}&perfect=1")).json();
    assert_eq!((&best["source"], &best["score"]["kind"]), (&json!("table"), &json!("mate")), "{best}");
    assert!(best["uci"] != "d7d8" && best["over"].is_null(), "{best}");
    let events = connection.get(&format!("/api/v1/analyze?{game}&depth=8")).events();
    let done = &events.last().unwrap().1;
    assert!(done["bestmove"] != "d7d8", "{done}");
    let last = &events[events.len() - 2].1;
    assert_ne!(last["score"]["kind"], "cp", "{last}");
    // Without the repetition rule the shortest win is best.
    let game = game.replace("twofold", "none");
    let best = connection.get(&format!("/api/v1/bestmove?{game}&perfect=1")).json();
    assert_eq!((&best["uci"], &best["score"]["value"]), (&json!("d7d8"), &json!(3)));
}

/// The state of a game counts what the rules count, and a game that is over has a state and no move.
#[test]
fn the_state_of_a_game_follows_its_rules() {
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    let mut state = |query: &str| connection.get(&format!("/api/v1/state?{query}")).json();
    // A lion and an elephant step to and fro; the lion takes the rat first.
    let start = "fen=7/7/7/7/7/7/1e5/r6/L5E_w_90&rules=paper";
    let game = state(start);
    assert_eq!((&game["halfmove_clock"], &game["plies_left"], &game["ply"]), (&json!(90), &json!(10), &json!(0)));
    let taken = game["moves"].as_array().unwrap().iter().find(|mv| mv["uci"] == "a1a2").unwrap();
    assert_eq!((&taken["san"], &taken["captures"]), (&json!("Lxa2"), &json!("R")));
    let game = state(&format!("{start}&moves=a1a2"));
    assert_eq!((&game["halfmove_clock"], &game["captured"]), (&json!(0), &json!({"white": [], "black": ["R"]})));
    let cycle = "g1g2,b3c3,g2g1,c3b3";
    let game = state(&format!("{start}&moves={cycle}"));
    assert_eq!((&game["occurrences"], &game["repetition_limit"]), (&json!(2), &json!(3)), "{game}");
    let moves = |game: &Value| game["moves"].as_array().unwrap().len();
    let start = "fen=7/7/7/7/7/7/1e5/7/L5E_w&rules=paper";
    let twice = state(&format!("{start}&moves={cycle}"));
    assert_eq!((&twice["occurrences"], &twice["over"]), (&json!(2), &Value::Null));
    let back = state(&format!("{start}&moves={cycle},g1g2,b3c3,g2g1"));
    let draws = back["moves"].as_array().unwrap().iter().find(|mv| mv["uci"] == "c3b3").unwrap();
    assert_eq!(draws["occurrences"], 3);
    let over = state(&format!("{start}&moves={cycle},{cycle}"));
    assert_eq!(
        (&over["over"]["reason"], &over["over"]["winner"], moves(&over)),
        (&json!("repetition"), &Value::Null, 0)
    );
    // A game that goes on after a draw needs other rules or another limit, which the error names.
    let late = format!("&moves={cycle},{cycle},g1g2");
    let refused = state(&format!("{start}{late}"))["error"].clone();
    assert!(refused["reason"] == "move_game_over" && refused["message"].to_string().contains("repetition=none"));
    assert_eq!(state(&format!("{start},repetition=none{late}"))["ply"], 9);
    let limited = state(&format!("{start}&no_capture_limit=4&moves={cycle}"));
    assert_eq!((&limited["over"]["reason"], &limited["no_capture_limit"]), (&json!("no_capture"), &json!(4)));
    let unlimited = state("fen=7/7/7/7/7/7/1e5/7/L5E_w_100&no_capture_limit=0&moves=g1g2");
    assert_eq!((&unlimited["no_capture_limit"], &unlimited["over"]), (&Value::Null, &Value::Null));
    assert_eq!(state("no_capture_limit=none")["error"]["reason"], "not_a_number_in_range");
    let forbidden = state(&format!("{start},repetition=illegal&moves=g1g2,b3c3,g2g1"));
    assert_eq!(forbidden["repetition_illegal"], true);
    assert!(moves(&forbidden) > 0 && forbidden["moves"].as_array().unwrap().iter().all(|mv| mv["uci"] != "c3b3"));
    // The engine reports the end of a game that it is to move in, and of one that its move ends.
    let won = connection.get("/api/v1/bestmove?fen=7/7/3L3/7/7/7/7/7/r6_w&moves=d7d8,a1b1&perfect=1").json();
    assert_eq!((&won["uci"], &won["over"]), (&json!("d8d9"), &json!({"winner": "white", "reason": "den"})));
    let events = connection.get("/api/v1/analyze?fen=3L3/7/7/7/7/7/7/7/r6_b").events();
    let (name, done) = &events[0];
    assert_eq!(
        (events.len(), &**name, &done["bestmove"], &done["over"]["winner"]),
        (1, "done", &Value::Null, &json!("white"))
    );
}

fn connection_move(server: &Server, target: &str) -> Value {
    server.connect().get(target).json()["uci"].clone()
}

/// Explanations agree with the tables.
#[test]
fn explanations_agree_with_the_tables() {
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    // The line of a fortress stays drawn and returns to an earlier position.
    for seed in 0..5 {
        let fen = connection.get(&format!("/api/v1/random?material=EvLR&wdl=draw&seed={seed}")).json()["fen"].clone();
        let fen = fen.as_str().unwrap().replace(' ', "_");
        let fortress = connection.get(&format!("/api/v1/fortress?fen={fen}")).json();
        assert_eq!(fortress["draw"], true);
        let cycle = fortress["cycle"].as_array().unwrap();
        let Some(from) = fortress["repeats_from"].as_u64() else { continue };
        for entry in cycle {
            let after = entry["fen"].as_str().unwrap().replace(' ', "_");
            assert_eq!(connection.get(&format!("/api/v1/probe?fen={after}")).json()["value"]["wdl"], "draw", "{after}");
        }
        let start =
            if from == 0 { fen.replace('_', " ") } else { cycle[from as usize - 1]["fen"].as_str().unwrap().into() };
        assert_eq!(cycle.last().unwrap()["fen"], json!(start));
    }
    // The trees of two pieces are perfect.
    let mut random = Random::new(2);
    for _ in 0..40 {
        let position = random_position("LvR".parse().unwrap(), &mut random);
        let fen = position.to_fen().replace(' ', "_");
        let probe = connection.get(&format!("/api/v1/probe?fen={fen}")).json();
        let tree = connection.get(&format!("/api/v1/tree?fen={fen}")).json();
        let leaf = tree["path"].as_array().unwrap().last().unwrap().as_u64().unwrap();
        assert_eq!(tree["nodes"][leaf as usize]["label"], probe["value"]["wdl"], "{fen}: {}", tree["sentence"]);
    }
    // What-if is a probe on every square.
    let map = connection.get(&format!("/api/v1/whatif?fen={TWO}&piece=d3")).json();
    let squares = map["squares"].as_array().unwrap();
    assert_eq!(squares.len(), 63);
    for entry in squares {
        let mut setup = Position::from_fen(&TWO.replace('_', " ")).unwrap().to_setup();
        let to: Square = entry["square"].as_str().unwrap().parse().unwrap();
        let piece = setup.squares[Square::D3.index()].take();
        let free = setup.squares[to.index()].is_none();
        setup.squares[to.index()] = piece;
        let position = Position::from_setup(&setup);
        assert_eq!(entry["legal"], json!(free && position.is_ok()), "{to}");
        if entry["legal"] == true {
            let fen = position.unwrap().to_fen().replace(' ', "_");
            assert_eq!(entry["value"], connection.get(&format!("/api/v1/probe?fen={fen}")).json()["value"], "{to}");
        }
    }
    // A win in N plies is found, and its line is as long.
    let found = connection.get("/api/v1/random?material=EvLR&turn=white&plies=9&seed=4").json();
    let fen = found["fen"].as_str().unwrap().replace(' ', "_");
    let line = connection.get(&format!("/api/v1/mainline?fen={fen}")).json();
    assert_eq!((line["line"].as_array().unwrap().len(), &line["value"]["dtw"]), (9, &json!(9)));
    // A win is an odd number of plies away.
    let found = |wdl: &str| server.connect().get(&format!("/api/v1/random?material=EvLR&plies=9&wdl={wdl}")).status;
    assert_eq!((found("win"), found("loss")), (200, 404));
    let stats = connection.get("/api/v1/stats/EvLR").json();
    let sum: u64 = stats["white"]["by_plies"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum();
    let field = |name: &str| stats["white"][name].as_u64().unwrap();
    assert_eq!(field("positions"), sum + field("draws") + field("no_move"));
    let race = connection.get(&format!("/api/v1/race?fen={TWO}")).json();
    assert_eq!(
        (&race["white"]["plies"], &race["black"]["plies"], &race["first"]),
        (&json!(11), &json!(12), &json!("white"))
    );
    let rulesets = connection.get(&format!("/api/v1/rulesets?fen={TWO}")).json();
    assert_eq!(rulesets["presets"].as_array().unwrap().len(), RuleOptions::PRESETS.len());
}

/// Unknown query keys and body fields are errors that list the known ones. The page alone ignores them.
#[test]
fn unknown_keys_are_refused() {
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    let description = connection.get("/api/v1/openapi.json").json();
    let paths = paths(&description);
    assert!(paths.len() > 20);
    for (path, keys) in paths.iter().filter(|(path, _)| !["/", "/healthz", "/metrics"].contains(&&**path)) {
        let target = path.replace("{material}", "EvL");
        let post = description["paths"][path]["post"].is_object();
        let mut ask = |query: &str| match post {
            true => connection.post(&format!("{target}?{query}"), "{}"),
            false => connection.get(&format!("{target}?{query}")),
        };
        let refused = ask("fne=7/7/3e3/7/7/7/3E3/7/7_w");
        let text = refused.text();
        assert_eq!(refused.status, 400, "{path}: {text}");
        assert!(text.contains("fne") && keys.iter().all(|key| text.contains(&**key)), "{path}: {text}");
        for key in keys {
            assert!(ask(&format!("{key}=&fne=")).text().contains("unknown field `fne`"), "{path}: {key}");
            assert_eq!(ask(&format!("{key}=&{key}=")).status, 400, "{path}: {key} twice");
        }
    }
    for (path, body) in
        [("batch", json!({"fens": [], "fne": ""})), ("review", json!({"fne": TWO})), ("game", json!({"fne": TWO}))]
    {
        let refused = connection.post(&format!("/api/v1/{path}"), &body.to_string());
        assert!(refused.status == 400 && refused.text().contains("fne"), "{path}: {refused:?}");
    }
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

/// The page shows the same result as the API under the server's rules, and the error of a wrong address.
#[test]
fn the_page_follows_the_rules_of_the_server() {
    let server = Server::start(&["--pieces", "3", "--rules", "chinese"]);
    let mut connection = server.connect();
    let fen = "2d4/7/7/7/7/7/7/7/1W5_w";
    let page = connection.get(&format!("/?fen={fen}")).text();
    let probe = connection.get(&format!("/api/v1/probe?fen={fen}&rules=chinese")).json();
    assert!(page.contains(probe["sentence"].as_str().unwrap()), "{page}");
    assert!(page.contains("data-rules=\"chinese\" data-problem=\"\""), "{page}");
    // Links keep the rules on every server.
    let links: Vec<&str> = page.split("href=\"/?fen=").skip(1).collect();
    assert!(links.len() > 3 && links.iter().all(|link| link.split('"').next().unwrap().ends_with("rules=chinese")));
    let page = connection.get(&format!("/?fen={fen}&rules=paper")).text();
    assert!(page.contains("rules=paper\">Mirrored"), "{page}");

    let wrong = [
        ("fen=7/7/3e3/7/7/7/3EE2/7/7_w", "elephant"),
        ("from=7/7/3e3/7/7/7/3EE2/7/7_w", "elephant"),
        ("rules=nobody", "no rules preset"),
    ];
    for (query, words) in wrong {
        let answer = connection.get(&format!("/?{query}"));
        let text = answer.text();
        let problem = text.split("data-problem=\"").nth(1).unwrap().split('"').next().unwrap();
        assert!(answer.status == 400 && problem.contains(words), "{query}: {problem}");
        assert!(!text.contains("<p class=\"result\">"), "{query}: no other position is shown");
    }
}

/// A wrong value is explained by a reason with the values that the message contains, so that a page can translate it.
#[test]
fn wrong_values_have_reasons() {
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    let wrong = [
        ("probe?rules=nobody", "rules_unknown_preset", "found", "nobody"),
        ("probe?rules=paper,leap=far", "rules_unknown_option", "option", "leap"),
        ("probe?rules=paper,traps=sometimes", "rules_unknown_value", "found", "sometimes"),
        ("probe?rules=paper,traps", "rules_malformed", "found", "traps"),
        ("stats/LE", "material_no_versus", "found", "LE"),
        ("stats/LvX", "material_unknown_animal", "letter", "X"),
        ("longest?material=LLvE", "material_duplicate", "animal", "L"),
        ("random?material=Lv", "material_empty_side", "color", "black"),
        ("whatif", "parameter_missing", "name", "piece"),
        ("whatif?piece=z9", "not_a_square", "name", "piece"),
        ("whatif?piece=d5", "no_piece_there", "square", "d5"),
        ("random?wdl=maybe", "not_a_choice", "values", "win, draw, loss"),
        ("random?plies=3&wdl=maybe", "not_a_choice", "values", "win, draw, loss"),
        ("random?turn=red", "not_a_choice", "name", "turn"),
        ("bestmove?perfect=2", "not_a_choice", "name", "perfect"),
        ("analyze?tables=banana", "not_a_choice", "name", "tables"),
        ("bestmove?strength=11", "not_a_number_in_range", "max", "10"),
    ];
    for (target, reason, name, value) in wrong {
        let answer = connection.get(&format!("/api/v1/{target}"));
        let error = &answer.json()["error"];
        assert_eq!((answer.status, &error["reason"]), (400, &json!(reason)), "{target}: {error}");
        assert_eq!(error["params"][name], json!(value), "{target}: {error}");
    }
    let long = connection.get(&format!("/api/v1/probe?rules={}", "a".repeat(500))).json();
    let error = &long["error"];
    assert_eq!((&error["reason"], &error["params"]["max"]), (&json!("rules_too_long"), &json!(400)));
}

/// Valid but expensive requests, which hostile clients mix with others: method, target, body.
fn expensive(number: usize) -> (&'static str, String, String) {
    let get = |target: &str| ("GET", target.to_owned(), String::new());
    let four = "6l/3r3/7/7/7/7/6P/3E3/7_w";
    match number % 12 {
        0 => get("/api/v1/matrix?white=1&black=2&rules=paper,traps=any"),
        1 => {
            let moves = ["a3b3", "g7f7", "b3a3", "f7g7"].repeat(5);
            ("POST", "/api/v1/review".to_owned(), json!({"moves": moves, "rules": "paper,repetition=none"}).to_string())
        }
        2 => {
            let mut random = Random::new(number as u64);
            let all = Material::all(4);
            let fens: Vec<String> =
                (0..40).map(|_| random_position(all[random.below(all.len())], &mut random).to_fen()).collect();
            ("POST", "/api/v1/batch".to_owned(), json!({"fens": fens, "rules": "bell"}).to_string())
        }
        3 => get("/api/v1/analyze?movetime=1500&threads=1024&hash=256&multipv=5"),
        4 => get("/api/v1/bestmove?movetime=1500&strength=10"),
        5 => get(&format!("/api/v1/rulesets?fen={four}")),
        6 => get(&format!("/api/v1/fortress?fen={four}&rules=quadibloc")),
        7 => get("/api/v1/tree?fen=7/7/3e3/7/7/7/3EL2/7/7_b&rules=bodlaender"),
        8 => get("/api/v1/random?material=EPvLR&wdl=draw&rules=cazaux"),
        9 => get(&format!("/api/v1/whatif?fen={four}&piece=d2&rules=chinese")),
        10 => get("/api/v1/longest?count=100&material=EPvLR"),
        _ => get("/api/v1/matrix?white=2&black=1&rules=bell,no-move=loss"),
    }
}

/// The values of hostile requests.
const WORDS: [&str; 32] = [
    "",
    "7/7/3e3/7/7/7/3E3/7/7_w",
    "7/7/3e3/7/7/7/3E3/7/7_b",
    "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L_w",
    "9/9",
    "%00%00",
    "-1",
    "0",
    "1",
    "2",
    "3",
    "1024",
    "99999999999999999999",
    "NaN",
    "paper",
    "chinese",
    "paper,no-move=loss",
    "no-move=",
    "=,=,=",
    "EvL",
    "EEvE",
    "d3",
    "a1",
    "z9",
    "%F0%9F%90%98",
    "<script>",
    "'\"",
    "../../etc/passwd",
    "win",
    "white",
    "a3b3,g7f7",
    "true",
];

/// A hostile request: random words in place of every value.
fn hostile(random: &mut Random, paths: &[(String, Vec<String>)]) -> Vec<u8> {
    let mut below = |n: usize| random.below(n);
    let (path, keys) = &paths[below(paths.len())];
    let mut target = path.replace("{material}", WORDS[below(WORDS.len())]);
    // Searches are short; `expensive` contains long ones.
    let searches = keys.iter().any(|key| key == "movetime");
    let mut query = if searches { vec!["movetime=1".to_owned()] } else { Vec::new() };
    for _ in 0..below(5) {
        let key = match below(20) {
            0 => "fne",
            _ if keys.is_empty() => continue,
            _ => &keys[below(keys.len())],
        };
        if key != "movetime" && (below(20) == 0 || query.iter().all(|pair| !pair.starts_with(key))) {
            query.push(format!("{key}={}", WORDS[below(WORDS.len())]));
        }
    }
    if !query.is_empty() {
        target += &format!("?{}", query.join("&"));
    }
    let method = ["GET", "GET", "GET", "GET", "POST", "PUT", "HEAD", "OPTIONS", "DELETE", "BREW"][below(10)];
    let body = match below(6) {
        0 => "{".repeat(below(2000)),
        1 => format!("{{\"fens\":[\"{}\",\"{}\"]}}", WORDS[below(8)], WORDS[below(8)]),
        2 => format!("{{\"text\":\"1. Eb3 {} *\"}}", WORDS[below(5)]),
        3 => format!("{{\"moves\":[\"{}\"],\"fen\":\"{}\"}}", WORDS[22], WORDS[below(4)]),
        4 => "\u{fe}\u{ff}".repeat(below(50)),
        _ => String::new(),
    };
    let mut request = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\n");
    if method == "POST" || method == "PUT" {
        request += &format!("Content-Length: {}\r\n", body.len());
    }
    match below(20) {
        0 => request += "Origin: https://evil.example\r\n",
        1 => request += &format!("If-None-Match: {}\r\n", "\"x\",".repeat(below(100))),
        2 => request += &format!("Accept-Encoding: {}\r\n", "gzip;q=1,".repeat(below(50))),
        3 => request += &format!("X-{}: y\r\n", "z".repeat(below(4000))),
        _ => {}
    }
    let mut bytes = (request + "\r\n").into_bytes();
    if method == "POST" || method == "PUT" {
        bytes.extend(body.as_bytes());
    }
    // Some are not HTTP.
    if below(50) == 0 {
        let at = below(bytes.len());
        bytes[at] = below(256) as u8;
    }
    bytes
}

/// Ten thousand hostile requests, some of them expensive: none makes the server fail, and `/healthz` is answered
/// meanwhile. Requests that the server has no time for get 503.
#[test]
fn hostile_requests_do_no_harm() {
    const SEED: u64 = 10_000;
    const EXPENSIVE_EACH: usize = 400;
    let server = Server::start(&["--pieces", "3", "--threads", "2"]);
    let description = server.connect().get("/api/v1/openapi.json").json();
    let mut paths = paths(&description);
    paths.extend(["/nothing", "//", "/%2e%2e/"].map(|path| (path.to_owned(), Vec::new())));
    let workers = 4;
    let per_worker = 10_000 / workers;
    let working = AtomicUsize::new(workers);
    let counts: Vec<HashMap<u16, usize>> = std::thread::scope(|scope| {
        let work = |worker: usize| {
            let (server, paths, working) = (&server, &paths, &working);
            scope.spawn(move || {
                let _done = Done(working);
                let mut random = Random::numbered(SEED, worker as u64);
                let mut counts = HashMap::new();
                let mut connection = server.connect();
                for i in 0..per_worker {
                    let costs = i % EXPENSIVE_EACH == worker * EXPENSIVE_EACH / workers;
                    let request = if costs {
                        let (method, target, body) = expensive(i / EXPENSIVE_EACH * workers + worker);
                        let head = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\n");
                        format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
                    } else {
                        hostile(&mut random, paths)
                    };
                    let shown = String::from_utf8_lossy(&request).into_owned();
                    let status = match connection.raw(&request) {
                        Some(answer) => answer.status,
                        // The server closes a connection that does not speak HTTP.
                        None => 0,
                    };
                    assert!(status < 500 || status == 503, "seed {SEED}: {status} for {shown}");
                    assert!(!costs || [200, 503].contains(&status), "{status} for {shown}");
                    *counts.entry(status).or_insert(0) += 1;
                    if !connection.is_open() || status == 0 || status == 400 {
                        connection = server.connect();
                    }
                }
                counts
            })
        };
        let threads: Vec<_> = (0..workers).map(work).collect();
        while working.load(Ordering::Relaxed) > 0 {
            assert_eq!(server.connect().get("/healthz").text(), "ok");
            std::thread::sleep(Duration::from_millis(100));
        }
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let total = |status: u16| counts.iter().filter_map(|counts| counts.get(&status)).sum::<usize>();
    assert!(total(200) > 1000 && total(400) > 1000 && total(405) > 1000, "{counts:?}");
    assert!(total(0) < 300, "{counts:?}");
    assert_eq!(server.connect().get("/healthz").text(), "ok");
}

/// Decrements the count of working threads when dropped, also after a failed assertion.
struct Done<'a>(&'a AtomicUsize);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Malformed games are rejected or reviewed; none makes the server fail.
#[test]
fn hostile_games_do_no_harm() {
    const SEED: u64 = 300;
    const WORDS: [&str; 24] = [
        "1.",
        "Eb3",
        "rb7",
        "Ld9",
        "Exd9",
        "a3b3",
        "a1a1",
        "9...",
        "*",
        "1-0",
        "0-1",
        "1/2-1/2",
        "{",
        "}",
        "(",
        ")",
        ";",
        "[FEN \"7/7/3e3/7/7/7/3E3/7/7 w\"]",
        "[FEN \"",
        "\"]",
        "[Rules \"bell\"]",
        "[Rules \"=\"]",
        "\n\n",
        "象",
    ];
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    let mut random = Random::new(SEED);
    for _ in 0..300 {
        let text: Vec<&str> = (0..random.below(12)).map(|_| WORDS[random.below(WORDS.len())]).collect();
        let text = text.join(if random.below(4) == 0 { "" } else { " " });
        let body = match random.below(3) {
            0 => json!({ "moves": [text], "rules": "paper" }),
            1 => json!({ "text": text, "result": text, "white": text, "date": text }),
            _ => json!({ "text": text }),
        };
        for path in ["/api/v1/review", "/api/v1/game"] {
            let status = connection.post(path, &body.to_string()).status;
            assert!(status < 500, "seed {SEED}: {status} for {body}");
            if !connection.is_open() {
                connection = server.connect();
            }
        }
    }
}

/// Searches to the greatest depth end, also in positions with long lines.
#[test]
fn the_deepest_searches_end() {
    let server = Server::start(&["--pieces", "3"]);
    for fen in ["7/3r3/7/6L/7/7/7/3E3/7_w", "7/1r5/7/3p3/7/3E3/7/7/6P_b", "l6/7/7/E6/7/7/7/7/R5t_w"] {
        let target = format!("/api/v1/analyze?fen={fen}&tables=0&depth=100&movetime=1500&threads=2");
        let events = server.connect().get(&target).events();
        assert_eq!(events.last().unwrap().0, "done", "{fen}");
    }
    assert_eq!(server.connect().get("/healthz").text(), "ok");
}

/// A search probes the tables: it finds a win in 67 plies.
#[test]
fn searches_probe_the_tables() {
    let server = Server::start(&["--pieces", "3"]);
    let fen = "6l/7/7/6P/7/7/7/7/E6_w";
    let begun = Instant::now();
    loop {
        let found = server.connect().get(&format!("/api/v1/bestmove?fen={fen}&strength=10&movetime=100")).json();
        assert_eq!(found["source"], "engine");
        // The first search under a clock knows a bound, and has the distances solved for the next one.
        if found["score"] == json!({"kind": "mate", "value": 67}) {
            break;
        }
        assert!(found["score"]["kind"] == "win" && begun.elapsed() < PATIENCE, "{found}");
    }
    // The lowest strength does not.
    let found = server.connect().get(&format!("/api/v1/bestmove?fen={fen}&strength=1&movetime=100&seed=1")).json();
    assert_eq!(found["score"]["kind"], "cp");
}

/// Idle connections and incomplete requests do not delay other requests, and are closed.
#[test]
fn idle_connections_are_closed() {
    let second = Duration::from_secs(1);
    let server = Server::with_timeouts(Timeouts { header: second, ..Timeouts::default() }, false);
    let idle: Vec<TcpStream> = (0..200)
        .map(|i| {
            let mut stream = TcpStream::connect(server.address()).unwrap();
            if i % 2 == 0 {
                stream.write_all(b"GET /api/v1/pro").unwrap();
            }
            stream
        })
        .collect();
    // On a machine that is busy, a whole request may be late, too.
    let probe = format!("GET /api/v1/probe?fen={TWO} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    while server.connect().raw(probe.as_bytes()).is_none_or(|answer| answer.status != 200) {}
    let mut one = idle.into_iter().next().unwrap();
    one.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut rest = Vec::new();
    // The server closes a connection whose request stays incomplete.
    assert!(one.read_to_end(&mut rest).is_ok(), "closed");
}

/// `--listen` takes host names, and origins are compared as browsers write them.
#[test]
fn host_names_and_origins_are_understood() {
    let server = Server::listening("localhost:0", &["--pieces", "3", "--allow-origin", "https://Example.org"]);
    assert!(server.address().ip().is_loopback());
    let ask = |origin: &str| server.connect().get_with("/api/v1/rules", &format!("Origin: {origin}\r\n"));
    let answer = ask("https://example.org");
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, Some("https://example.org")));
    assert_eq!(ask("https://example.net").status, 403);
}

#[test]
fn wrong_arguments_are_errors() {
    let server = Server::start(&["--pieces", "3"]);
    let address = server.address().to_string();
    let says = |code: i32, arguments: &[&str], words: &str| {
        let output = dsq::dsq(&[&["serve", "--pieces", "3"][..], arguments].concat());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
    };
    says(3, &["--listen", &address], "cannot listen on");
    says(2, &["--listen", "nowhere"], "write a port");
    says(2, &["--tables", "/nothing/here"], "no tables");
    says(2, &["--puzzles", "/nothing/here"], "cannot read the puzzles");
    says(2, &["--rules", "nobody"], "no rules preset");
    says(2, &["--listen", "no-such-host.invalid:80"], "no-such-host.invalid");
    for origin in ["*", "https://example.org/", "example.org", "https://*.example.org"] {
        says(2, &["--allow-origin", origin], "as https://example.org");
    }
    // If the server started, it would print its address and run on.
    let dir = folder("serve-bell");
    let tables = dir.to_str().unwrap();
    dsq::stdout(&["generate", "--pieces", "2", "--rules", "bell", "--out", tables]);
    let mut child = dsq::command(&["serve", "--listen", "127.0.0.1:0", "--pieces", "3", "--tables", tables])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0];
    let started = child.stdout.as_mut().unwrap().read(&mut first).unwrap() > 0;
    if started {
        child.kill().unwrap();
    }
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!started, "it serves tables for other rules");
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("traps=none") && stderr.contains("traps=opponent"), "{stderr}");
    std::fs::remove_dir_all(dir).unwrap();
    let answer: Answer = server.connect().get("/healthz");
    assert_eq!(answer.text(), "ok");
}
