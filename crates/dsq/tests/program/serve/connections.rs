//! Streams, searches and connections: they end with their clients, with the server, or at a limit.

use super::*;

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

/// A review stops when its client leaves. The server ends while it solves.
#[test]
fn work_ends_with_its_client_and_with_the_server() {
    let mut server = Server::start(&["--pieces", "3", "--threads", "1"]);
    let moves: Vec<&str> = ["a3b3", "g7f7", "b3a3", "f7g7"].into_iter().cycle().take(60).collect();
    let body = json!({"rules": "paper,repetition=none", "moves": moves}).to_string();
    let mut client = server.connect();
    let head = format!("POST /api/v1/review HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", body.len());
    client.send((head + &body).as_bytes());
    wait_until(&server, "searches_total", |searches| searches > 0.0);
    drop(client);
    wait_for(&server, "searches", "0");

    let mut clients = Vec::new();
    for rules in ["chinese", "quadibloc", "bell", "cazaux"] {
        let mut client = server.connect();
        let target = format!("/api/v1/matrix?white=2&black=2&rules={rules}");
        client.send(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
        clients.push(client);
    }
    wait_until(&server, "jobs", |jobs| jobs > 0.0);
    assert_eq!(server.terminate(), Some(0));
}

/// The first signal lets open requests end, the second one ends the server at once.
#[test]
fn a_second_signal_ends_the_server_at_once() {
    let mut server = Server::start(&["--pieces", "3"]);
    // A request whose body does not come delays the end. The server asks for the body when it waits for it.
    let mut late = server.connect();
    let head = "POST /api/v1/review HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
    late.send(head.as_bytes());
    assert_eq!(late.line(), "HTTP/1.1 100 Continue\r\n");
    // One shell sends both: the server may not end by its own limit of time in between.
    let both = format!("kill -TERM {0}; kill -INT {0}", server.pid());
    assert!(Command::new("sh").args(["-c", &both]).status().unwrap().success());
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
    // What is sent to a closed connection is refused.
    let start = Instant::now();
    while deaf.write_all(b"G").is_ok() {
        assert!(start.elapsed() < PATIENCE, "the connection is still open");
        std::thread::sleep(Duration::from_millis(20));
    }
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
