//! Requests that are refused, each with its code, place and reason.

use super::*;

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
    assert_eq!(error("/api/v1/probe?fen=7/7/7/7/7/7/7/7/E6_r_0_1"), (400, "bad_fen".into(), at("fen", 19)));
    assert_eq!(error("/api/v1/probe?fen=7/7/7/7/7/7/7/7/J6_w"), (400, "bad_fen".into(), at("fen", 16)));
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
    let server = Server::start(&["--pieces", "3", "--behind-proxy", "--max-rate", "5", "--host", "dsq.example"]);
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
        (0..120).map(|_| far.get_with("/api/v1/rules", "X-Forwarded-For: 1.1.1.1, 9.9.9.9\r\n").status).collect();
    assert!(answers[..20].iter().all(|&status| status == 200), "{answers:?}");
    assert!(answers.contains(&429), "{answers:?}");
    assert_eq!(far.get_with("/api/v1/rules", "X-Forwarded-For: 9.9.9.8\r\n").status, 200);
    // Requests without a usable client address are rejected, except those of monitors. A forwarded loopback address is
    // limited.
    for header in ["", "X-Forwarded-For: unknown\r\n", "X-Forwarded-For: 9.9.9.8\r\nForwarded: for=1.1.1.1\r\n"] {
        assert_eq!(far.get_with("/api/v1/rules", header).json()["error"]["code"], "bad_request", "{header}");
    }
    assert_eq!(far.get("/healthz").status, 200);
    assert!((0..120).any(|_| far.get_with("/api/v1/rules", "Forwarded: for=\"127.0.0.1:80\"\r\n").status == 429));

    let server = Server::start(&["--pieces", "3", "--max-rate", "5"]);
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

/// `--listen` takes host names, and origins are compared as browsers write them.
#[test]
fn host_names_and_origins_are_understood() {
    let server = Server::listening("localhost:0", &["--pieces", "3", "--allow-origin", "https://Example.org"]);
    assert!(server.address().ip().is_loopback());
    let ask = |origin: &str| server.connect().get_with("/api/v1/rules", &format!("Origin: {origin}\r\n"));
    let answer = ask("https://example.org");
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, Some("https://example.org")));
    assert_eq!(ask("https://example.net").status, 403);
    // Their pages may show the board in a frame, and no others.
    let framed = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n";
    let answer = server.connect().get_with("/?embed=1", framed);
    assert_eq!((answer.status, answer.header("x-frame-options")), (200, None));
    assert!(answer.header("content-security-policy").unwrap().ends_with("frame-ancestors https://example.org"));
    assert_eq!(server.connect().get_with("/api/v1/rules", framed).status, 403);
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
    let puzzles = folder("serve-puzzle-files");
    let path = puzzles.to_str().unwrap();
    let (first, _) = PUZZLES.split_once('\n').unwrap();
    for (text, rules, words) in [
        ("", "paper", "there are none"),
        (&format!("{first}\n\n{first}\n"), "paper", "line 3: the id \"a\" occurs twice"),
        (first, "chinese", "none is for the rules"),
        ("{}", "paper", "line 1: "),
    ] {
        std::fs::write(&puzzles, text).unwrap();
        says(2, &["--puzzles", path, "--rules", rules], words);
    }
    std::fs::remove_file(puzzles).unwrap();
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
