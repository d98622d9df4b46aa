//! Thousands of hostile requests, and hostile games.

use super::*;

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

/// The words of hostile requests.
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

/// Thousands of hostile requests, some of them expensive: none makes the server fail, and `/healthz` is answered
/// meanwhile. Requests that the server has no time for get 503.
#[test]
fn hostile_requests_do_no_harm() {
    const SEED: u64 = 10_000;
    // Each kind once.
    const EXPENSIVE_EACH: usize = 250;
    let server = Server::start(&["--pieces", "3", "--threads", "2"]);
    let description = server.connect().get("/api/v1/openapi.json").json();
    let mut paths = paths(&description);
    paths.extend(["/nothing", "//", "/%2e%2e/"].map(|path| (path.to_owned(), Vec::new())));
    let workers = 4;
    let per_worker = 750;
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
    assert!(total(200) > 300 && total(400) > 300 && total(405) > 300, "{counts:?}");
    assert!(total(0) < 100, "{counts:?}");
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
    // A legal game, of which up to three words change, so that some stay legal.
    const GAME: [&str; 8] = ["[FEN \"7/7/3e3/7/7/7/3E3/7/7 w\"]\n\n", "1.", "Ed4", "Ed6", "2.", "Ee4", "Ee6", "*"];
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    let mut random = Random::new(SEED);
    let mut counts = HashMap::new();
    for _ in 0..300 {
        let mut words = GAME.to_vec();
        for _ in 0..random.below(4) {
            let (at, word) = (random.below(words.len()), WORDS[random.below(WORDS.len())]);
            if random.below(2) == 0 {
                words[at] = word;
            } else {
                words.insert(at, word);
            }
        }
        let text = words.join(if random.below(8) == 0 { "" } else { " " });
        let fen = "7/7/3e3/7/7/7/3E3/7/7 w";
        let moves = [&["d3d4", "d7d6"][..], &words[..random.below(2)]].concat();
        let body = match random.below(4) {
            0 => json!({ "fen": fen, "moves": moves, "rules": "paper" }),
            1 => json!({ "moves": [text], "rules": "paper" }),
            2 => json!({ "moves": [{"uci": text, "comment": text}], "tags": [[text, text], ["Result", text]] }),
            _ => json!({ "text": text }),
        };
        for path in ["/api/v1/review", "/api/v1/game"] {
            let status = connection.post(path, &body.to_string()).status;
            assert!(status < 500, "seed {SEED}: {status} for {body}");
            *counts.entry((path, status)).or_insert(0) += 1;
            if !connection.is_open() {
                connection = server.connect();
            }
        }
    }
    // Both kinds come often.
    for path in ["/api/v1/review", "/api/v1/game"] {
        let of = |status: u16| counts.get(&(path, status)).copied().unwrap_or(0);
        assert!(of(200) > 30 && of(400) > 30, "seed {SEED}: {counts:?}");
    }
}
