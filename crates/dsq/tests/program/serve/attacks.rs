//! Attacks on `dsq serve`: greedy clients must neither silence the server nor starve other clients.

use super::client::{Answer, Connection, PATIENCE, Server};
use super::{gauge, random_position, wait_for, wait_until};
use doushouqi::game::random::Random;
use doushouqi::tablebase::Material;
use explorer::Timeouts;
use serde_json::json;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

const TWO: &str = "7/7/3e3/7/7/7/3E3/7/7_w";

/// The header with which a proxy names a client.
fn client(number: usize) -> String {
    format!("X-Real-IP: 9.9.9.{number}\r\n")
}

/// A request that is sent without waiting for its response.
fn start(server: &Server, target: &str, headers: &str) -> Connection {
    let mut connection = server.connect();
    connection.send(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").as_bytes());
    connection
}

fn post(server: &Server, target: &str, body: &str) -> Connection {
    let mut connection = server.connect();
    let head = format!("POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", body.len());
    connection.send((head + body).as_bytes());
    connection
}

/// On plain HTTP browsers name only the page that a request comes from: costly answers are for pages of the server.
#[test]
fn pictures_of_other_sites_start_no_analysis() {
    let server = Server::start(&["--pieces", "3"]);
    let ask = |target: &str, headers: &str| server.connect().get_with(target, headers).status;
    let browser = "Accept: image/avif,image/webp,*/*;q=0.8\r\nAccept-Language: en\r\n";
    let of = |page: &str| format!("{browser}Referer: http://{page}\r\n");
    for target in ["/api/v1/analyze?depth=1", "/api/v1/bestmove?movetime=1", "/api/v1/longest"] {
        assert_eq!(ask(target, browser), 403, "{target}");
        assert_eq!(ask(target, &of("example.org/")), 403, "{target}");
        assert_eq!(ask(target, &of("localhost/?view=engine")), 200, "{target}");
        assert_eq!(ask(target, ""), 200, "{target}: a program");
    }
    for target in ["/", "/api/v1/rules", "/api/v1/board.svg"] {
        assert_eq!(ask(target, browser), 200, "{target}");
    }
    let page = server.connect().get("/");
    assert_eq!(page.header("referrer-policy"), Some("same-origin"), "the page's own requests name it");
}

/// A page of another site can open the page of the server and nothing else, neither in a window nor in a frame.
#[test]
fn other_sites_can_link_to_the_page_only() {
    let server = Server::start(&["--pieces", "3"]);
    let ask = |target: &str, site: &str, mode: &str, dest: &str| {
        let headers = format!("Sec-Fetch-Site: {site}\r\nSec-Fetch-Mode: {mode}\r\nSec-Fetch-Dest: {dest}\r\n");
        let answer = server.connect().get_with(target, &headers);
        (answer.status, answer.json_or_null()["error"]["code"].as_str().unwrap_or("").to_owned())
    };
    let (ok, forbidden) = ((200, String::new()), (403, "forbidden_origin".to_owned()));
    let targets = [
        "/api/v1/analyze?depth=1",
        "/api/v1/bestmove?movetime=1",
        "/api/v1/board.svg",
        "/api/v1/rules",
        "/api/v1/matrix?rules=bell",
        "/main.js",
        "/healthz",
    ];
    // To a browser, another port of this machine is the same site.
    for site in ["cross-site", "same-site"] {
        for target in targets {
            assert_eq!(ask(target, site, "navigate", "document"), forbidden, "{site}: {target}");
            assert_eq!(ask(target, site, "no-cors", "image"), forbidden, "{site}: {target}");
        }
        assert_eq!(ask(&format!("/?fen={TWO}"), site, "navigate", "document"), ok, "{site}");
        assert_eq!(ask("/", site, "navigate", "iframe"), forbidden, "{site}");
        assert_eq!(ask("/", site, "no-cors", "empty"), forbidden, "{site}");
    }
    assert_eq!(gauge(&server, "searches"), "0");
    for target in targets {
        assert_eq!(ask(target, "same-origin", "cors", "empty"), ok, "{target}");
        assert_eq!(ask(target, "none", "navigate", "document"), ok, "an address that the visitor typed: {target}");
        assert_eq!(server.connect().get(target).status, 200, "a client that is no browser: {target}");
    }
}

/// A batch of random positions of four pieces, whose classes are to be solved.
fn batch(positions: usize, rules: &str, seed: u64) -> String {
    let mut random = Random::new(seed);
    let all = Material::all(4);
    let fens: Vec<String> =
        (0..positions).map(|_| random_position(all[random.below(all.len())], &mut random).to_fen()).collect();
    json!({"fens": fens, "rules": rules}).to_string()
}

/// One client wants every search thread for ten minutes, ten times. Meanwhile the short searches of two others are
/// answered.
#[test]
fn large_searches_do_not_starve_small_ones() {
    let server = Server::start(&["--pieces", "3", "--threads", "3", "--behind-proxy", "--max-rate", "1000"]);
    let greedy: Vec<Connection> =
        (0..10).map(|_| start(&server, "/api/v1/analyze?threads=1024&movetime=600000&hash=256", &client(1))).collect();
    wait_for(&server, "searches", "1");
    for number in [2, 3] {
        let found = server.connect().get_with("/api/v1/bestmove?movetime=50&strength=10", &client(number));
        assert_eq!(found.status, 200, "{found:?}");
    }
    assert_ne!(gauge(&server, "searches"), "0", "a greedy search goes on");
    drop(greedy);
    wait_for(&server, "searches", "0");
}

/// Four clients analyse for ten minutes on all search threads. A fifth one is refused as long as they have time for
/// themselves. After that, one of them makes way for it.
#[test]
fn long_analyses_make_way() {
    let analyses = |server: &Server| -> Vec<Connection> {
        // The first search makes the tables of searches, for which others may wait longer than for a permit.
        assert_eq!(server.connect().get_with("/api/v1/bestmove?movetime=1", &client(6)).status, 200);
        let long = |number| start(server, "/api/v1/analyze?movetime=600000", &client(number));
        let all = (1..=4).map(long).collect();
        wait_for(server, "searches", "4");
        all
    };
    let move_of = |server: &Server| server.connect().get_with("/api/v1/bestmove?movetime=50", &client(5)).status;
    let hour = Duration::from_secs(3600);
    let server = Server::with_timeouts(
        Timeouts { analysis: hour, permit: Duration::from_millis(100), ..Timeouts::default() },
        true,
    );
    let long = analyses(&server);
    assert_eq!(move_of(&server), 503, "an analysis has some time for itself");
    drop(long);

    let server =
        Server::with_timeouts(Timeouts { analysis: Duration::ZERO, permit: PATIENCE, ..Timeouts::default() }, true);
    let long = analyses(&server);
    assert_eq!(move_of(&server), 200);
    wait_for(&server, "searches", "3");
    // The analysis that ended reports its best move. The others go on.
    let (ending, ended) = mpsc::channel();
    for mut stream in long {
        let ending = ending.clone();
        std::thread::spawn(move || stream.raw(b"").map(|answer| ending.send(answer.events().pop())));
    }
    let (name, done) = ended.recv_timeout(PATIENCE).unwrap().expect("an event");
    assert_eq!((&*name, &done["source"]), ("done", &json!("engine")));
    assert_eq!((gauge(&server, "searches"), ended.try_recv().is_err()), ("3".to_owned(), true));
}

/// A visitor analyses in one window, on all threads and twice, and plays in another one.
#[test]
fn an_analysis_leaves_a_thread_to_the_game_of_its_client() {
    let server = Server::start(&["--pieces", "3", "--threads", "2"]);
    let analyze = |threads| start(&server, &format!("/api/v1/analyze?threads={threads}"), "");
    let _wide = analyze(64);
    wait_for(&server, "searches", "1");
    // It waits, or takes the other permit of analyses: the game has the third one.
    let _narrow = analyze(1);
    for _ in 0..3 {
        let played = server.connect().get("/api/v1/bestmove?movetime=50&strength=10");
        assert_eq!(played.status, 200, "{played:?}");
    }
}

/// Requests that solve stop when their client leaves: after that they take a small part of the processor time that a
/// smaller request takes.
#[cfg(target_os = "linux")]
#[test]
fn expensive_requests_end_with_their_client() {
    let server = Server::start(&["--pieces", "3", "--threads", "2"]);
    // In ticks of the system.
    let processor_time = || -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.pid())).unwrap();
        let after_name = stat.rsplit(") ").next().unwrap();
        after_name.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum()
    };
    let begun = processor_time();
    assert_eq!(server.connect().post("/api/v1/batch", &batch(16, "bell", 1)).status, 200);
    let whole = processor_time() - begun;
    let leaving = post(&server, "/api/v1/batch", &batch(200, "bodlaender", 1));
    wait_until(&server, "jobs", |jobs| jobs > 0.0);
    drop(leaving);
    let left = processor_time();
    wait_for(&server, "jobs", "0");
    let rest = processor_time() - left;
    assert!(rest < whole / 2, "{rest} of {whole}");
}

/// Sets a flag when it is dropped, also by a failing assertion.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One client asks for new rules with each request, on several connections. Requests of another client for warm rules
/// do not wait for them: again and again one is answered while none of the others is, which a request in their queue never
/// is. Its request for cold rules is answered, too.
#[test]
fn cold_rule_sets_do_not_delay_warm_requests() {
    let server = Server::with_timeouts(Timeouts { permit: PATIENCE, ..Timeouts::default() }, true);
    let (stop, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let stopping = SetOnDrop(&stop);
        for worker in 0..8 {
            let (server, stop, answered) = (&server, &stop, &answered);
            scope.spawn(move || {
                let mut connection = server.connect();
                let options = ["traps=any", "shore=none", "tiger-leap=none", "own-rat-blocks=no", "no-move=loss"];
                for i in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let chosen: Vec<&str> = options
                        .iter()
                        .enumerate()
                        .filter(|(bit, _)| (i + 4 * worker) >> bit & 1 == 1)
                        .map(|(_, text)| *text)
                        .collect();
                    let preset = ["paper", "chinese", "bell", "cazaux"][i % 4];
                    let rules = [vec![preset], chosen].concat().join(",");
                    connection.get_with(&format!("/api/v1/probe?fen={TWO}&rules={rules}"), &client(1));
                    answered.fetch_add(1, Ordering::Relaxed);
                    if !connection.is_open() {
                        connection = server.connect();
                    }
                }
            });
        }
        let mut warm = server.connect();
        let (mut undisturbed, begun) = (0, Instant::now());
        while undisturbed < 10 {
            assert!(begun.elapsed() < PATIENCE, "{undisturbed} of 10");
            wait_until(&server, "jobs", |jobs| jobs > 0.0);
            let before = answered.load(Ordering::Relaxed);
            assert_eq!(warm.get_with(&format!("/api/v1/probe?fen={TWO}"), &client(2)).status, 200);
            undisturbed += usize::from(answered.load(Ordering::Relaxed) == before);
        }
        let cold =
            server.connect().get_with(&format!("/api/v1/probe?fen={TWO}&rules=quadibloc,shore=none"), &client(2));
        drop(stopping);
        assert_eq!(cold.status, 200, "{cold:?}");
    });
}

/// One client solves hundreds of classes on eight connections. Another one gets what is in memory, a class and a rule
/// set.
#[test]
fn large_batches_do_not_starve_other_clients() {
    let server = Server::with_timeouts(Timeouts { permit: PATIENCE, ..Timeouts::default() }, true);
    let greedy: Vec<Connection> = (0..8)
        .map(|i| {
            let mut connection = server.connect();
            let body = batch(200, ["paper", "bell"][i % 2], i as u64);
            let head = format!(
                "POST /api/v1/batch HTTP/1.1\r\nHost: localhost\r\n{}Content-Length: {}\r\n\r\n",
                client(1),
                body.len()
            );
            connection.send((head + &body).as_bytes());
            connection
        })
        .collect();
    wait_until(&server, "jobs", |jobs| jobs > 0.0);
    for target in ["probe?fen=TWO", "random?material=EPvLR&seed=1", "probe?fen=TWO&rules=quadibloc"] {
        let answer = server.connect().get_with(&format!("/api/v1/{}", target.replace("TWO", TWO)), &client(2));
        assert_eq!(answer.status, 200, "{target}: {answer:?}");
    }
    drop(greedy);
}

/// Games as large as allowed, under the rules that are slowest to apply, do not delay other requests: these are answered
/// while the server reads more games than it has threads for answers.
#[test]
fn long_games_do_not_silence_the_server() {
    let server = Server::start(&["--pieces", "3", "--threads", "2"]);
    let cycle = ["Eb3", "rb7", "Ea3", "ra7"];
    let text = |moves: usize| {
        let moves: Vec<&str> = cycle.into_iter().cycle().take(moves).collect();
        let tags = "[NoCaptureLimit \"none\"]\n[Rules \"paper,repetition=none\"]\n\n";
        json!({"text": format!("{tags}{} *\n", moves.join(" "))}).to_string()
    };
    assert_eq!(server.connect().post("/api/v1/game", &text(600)).status, 200);
    let refused = server.connect().post("/api/v1/game", &text(7000)).json();
    assert_eq!(
        (&refused["error"]["reason"], &refused["error"]["params"]["max"]),
        (&json!("too_many_moves"), &json!(600))
    );
    let (large, stop) = (text(1200), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let _stopping = SetOnDrop(&stop);
        for _ in 0..8 {
            let (server, stop, large) = (&server, &stop, &large);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    assert!(post(server, "/api/v1/game", large).raw(b"").is_some());
                }
            });
        }
        wait_until(&server, "jobs", |jobs| jobs > 2.0);
        assert_eq!(server.connect().get("/healthz").text(), "ok");
    });
}

/// A request whose body does not arrive in time is refused.
#[test]
fn slow_bodies_are_refused() {
    let server = Server::with_timeouts(Timeouts { body: Duration::from_millis(200), ..Timeouts::default() }, false);
    let mut slow = server.connect();
    let answer = slow
        .raw(b"POST /api/v1/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"fens\":")
        .expect("an answer");
    assert_eq!(answer.json()["error"]["code"], "request_timeout");
}

/// At a low rate a client gets a rule set that is not in memory, and an expensive request, at once.
#[test]
fn a_low_rate_allows_every_request() {
    let server = Server::start(&["--pieces", "3", "--behind-proxy", "--max-rate", "1"]);
    let targets = ["probe?rules=chinese", "fortress?rules=bell", "tree?fen=7/7/3e3/7/7/7/3EL2/7/7_b&rules=cazaux"];
    for (i, target) in targets.into_iter().enumerate() {
        let answer = server.connect().get_with(&format!("/api/v1/{target}"), &client(i));
        assert_ne!(answer.status, 429, "{target}: {answer:?}");
    }
    // One token a second is less than any machine takes.
    let mut connection = server.connect();
    assert!((0..200).any(|_| connection.get_with(&format!("/api/v1/probe?fen={TWO}"), &client(0)).status == 429));
}

/// Several rule sets and many positions cost no more than a full bucket, at the lowest rate.
#[test]
fn the_work_of_a_request_costs_no_more_than_a_bucket() {
    let server = Server::start(&["--pieces", "3", "--behind-proxy", "--max-rate", "1"]);
    let answer = server.connect().get_with(&format!("/api/v1/rulesets?fen={TWO}&rules=paper,traps=any"), &client(0));
    assert_eq!(answer.status, 200, "{answer:?}");
    let body = json!({"fens": vec![TWO; 200], "rules": "paper,shore=none"}).to_string();
    let head = format!("POST /api/v1/batch HTTP/1.1\r\nHost: localhost\r\n{}", client(1));
    let answer = server.connect().raw(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    assert_eq!(answer.map(|answer| answer.status), Some(200));
}

/// Rule sets, their classes, trees and hash tables take memory, which stays within the limit for any requests.
#[cfg(target_os = "linux")]
#[test]
fn memory_stays_within_its_limit() {
    const LIMIT: usize = 300;
    let server = Server::start(&["--pieces", "3", "--threads", "2"]);
    let analyses = |rules: &str| -> Vec<Connection> {
        let target = format!("/api/v1/analyze?hash=256&movetime=800&threads=2&rules={rules}");
        (0..4).map(|_| start(&server, &target, "")).collect()
    };
    // A busy server refuses; the work is requested until it is done.
    let done = |ask: &dyn Fn(&mut Connection) -> Answer| {
        let begun = Instant::now();
        loop {
            let answer = ask(&mut server.connect());
            match answer.status {
                200 => return,
                503 => assert!(begun.elapsed() < PATIENCE, "{answer:?}"),
                _ => panic!("{answer:?}"),
            }
        }
    };
    let searches = || gauge(&server, "searches_total").parse::<f64>().unwrap();
    let mut most = 0;
    let presets = [
        "paper",
        "chinese",
        "quadibloc",
        "bell",
        "cazaux",
        "bodlaender",
        "bell,traps=any",
        "paper,shore=none",
        "paper,no-move=loss",
    ];
    for (i, rules) in presets.into_iter().enumerate() {
        let before = searches();
        let streams = analyses(rules);
        wait_until(&server, "searches_total", |searches| searches > before);
        done(&|connection| connection.post("/api/v1/batch", &batch(8, rules, i as u64)));
        done(&|connection| connection.get(&format!("/api/v1/bestmove?movetime=50&rules={rules}")));
        done(&|connection| connection.get(&format!("/api/v1/tree?fen=7/7/3e3/7/7/7/3EL2/7/7_b&rules={rules}")));
        most = most.max(super::memory(server.pid(), "VmRSS").unwrap() as usize >> 20);
        drop(streams);
    }
    assert!(most < LIMIT, "{most} MiB");
}
