//! Answers: the values of the tables, as described by the API, with entity tags, and as a page without scripts.

use super::*;

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

/// The address of the values at the clock of a FEN under a limit of 30 plies.
fn dtz(fen: &str) -> String {
    format!("/api/v1/dtz?fen={}&no_capture_limit=30", fen.replace(' ', "_"))
}

/// The server's values at the clock of a FEN under a limit of 30 plies, which are those of `dsq probe` in these tables.
pub fn at_the_clock(connection: &mut client::Connection, tables: &str, fen: &str) -> Value {
    let said: Value = serde_json::from_str(&dsq::stdout(&["probe", "--tables", tables, "--json", fen])).unwrap();
    let shown = connection.get(&dtz(fen)).json();
    let value = |of: &Value| [&of["wdl"], &of["category"], &of["dtz"]].map(Clone::clone);
    assert_eq!(value(&shown["value"]), value(&said), "{fen}");
    let moves = |of: &Value| of["moves"].as_array().unwrap().clone();
    let shown_moves: Vec<_> = moves(&shown).iter().map(|mv| (mv["san"].clone(), value(&mv["value"]))).collect();
    let said_moves: Vec<_> = moves(&said).iter().map(|mv| (mv["move"].clone(), value(mv))).collect();
    assert_eq!(shown_moves, said_moves, "{fen}");
    shown
}

/// Values at a clock are those of `dsq probe`, read from files and solved on request. Of five pieces only files know them.
#[test]
fn values_at_a_clock_are_those_of_probe() {
    let dir = folder("serve-limited");
    let tables = dir.to_str().unwrap();
    let generate = |what: [&str; 2]| {
        let how = ["--out", tables, "--metric", "dtz", "--limit", "30", "--json"];
        dsq::stdout(&[&["generate"][..], &what, &how].concat());
    };
    generate(["--pieces", "3"]);
    generate(["--material", "EPvLRC"]);
    let (reads, solves) = (Server::start(&["--tables", tables, "--pieces", "3"]), Server::start(&["--pieces", "3"]));
    let (mut reads, mut solves) = (reads.connect(), solves.connect());
    let mut random = Random::new(16);
    let mut categories = BTreeSet::new();
    for i in 0..60 {
        let material = ["EPvLRC", "EPvLR", "EvLR", "LvRC"][i % 4].parse().unwrap();
        let fen = format!("{} {}", random_position(material, &mut random).to_fen(), random.below(30));
        let shown = at_the_clock(&mut reads, tables, &fen);
        categories.insert(shown["value"]["category"].as_str().unwrap().to_owned());
        let solved = solves.get(&dtz(&fen)).json();
        let unknown = (&json!(false), &Value::Null, &json!([]));
        match i % 4 {
            0 => assert_eq!((&solved["known"], &solved["value"], &solved["moves"]), unknown),
            _ => assert_eq!(solved, shown, "{fen}"),
        }
    }
    assert!(categories.len() >= 4, "{categories:?}");
    let over = reads.get("/api/v1/dtz?fen=7/7/7/7/L6/6e/7/7/7_w_30&no_capture_limit=30").json();
    assert_eq!((&over["over"]["reason"], &over["known"]), (&json!("no_capture"), &json!(false)));
    for limit in ["0", "1001", "x"] {
        let refused = reads.get(&format!("/api/v1/dtz?no_capture_limit={limit}"));
        assert_eq!((refused.status, &refused.json()["error"]["params"]["max"]), (400, &json!("1000")), "{limit}");
    }
    std::fs::remove_dir_all(dir).unwrap();
}

/// Requests for every operation that answers a GET with JSON.
pub fn requests() -> Vec<String> {
    let three = "7/7/3e3/7/7/7/3EL2/7/7_b";
    let over = "3E3/7/3e3/7/7/7/7/7/7_b";
    vec![
        "/api/v1/probe".to_owned(),
        format!("/api/v1/probe?fen={over}"),
        format!("/api/v1/dtz?fen={three}_7"),
        format!("/api/v1/dtz?fen={over}"),
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
        "/api/v1/puzzles?count=3&seed=1&theme=den&rules=paper".to_owned(),
        "/api/v1/puzzles?count=3&seed=1&rules=chinese".to_owned(),
    ]
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
    for target in &requests() {
        let answer = connection.get(target);
        let path = target.split('?').next().unwrap();
        let path = if path.starts_with("/api/v1/stats") { "/api/v1/stats/{material}" } else { path };
        schema::check_answer(&description, path, "get", &answer);
    }
    let posted = [
        ("/api/v1/batch", json!({"fens": [TWO, "nonsense", three], "rules": "bell"})),
        ("/api/v1/review", json!({"fen": three, "moves": ["d7d6", "e3e2"]})),
        (
            "/api/v1/game",
            json!({"moves": ["Eb3", {"uci": "a7b7", "nags": [1], "comment": "good", "variations": [[{"uci": "a7a6"}]]}], "tags": [["White", "Anna"], ["Result", "0-1"]]}),
        ),
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
    // Other programs write it: what this one has open for writing is also open in whatever other tests start meanwhile, and
    // such a file cannot be run.
    let shell = |script: &str| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_dsq")]).arg(&program);
        assert!(command.status().unwrap().success(), "{script}");
    };
    shell("cp \"$1\" \"$2\"");
    let first = tags();
    assert_eq!(tags(), first, "a restart changes nothing");
    // Bytes after the end of the program are not read.
    shell("printf 'another build' >> \"$2\"");
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

/// Explanations agree with the tables.
#[test]
fn explanations_agree_with_the_tables() {
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    // The line of a fortress stays drawn and returns to an earlier position.
    let mut repeating = 0;
    for seed in 0..5 {
        let fen = connection.get(&format!("/api/v1/random?material=EvLR&wdl=draw&seed={seed}")).json()["fen"].clone();
        let fen = fen.as_str().unwrap().replace(' ', "_");
        let fortress = connection.get(&format!("/api/v1/fortress?fen={fen}")).json();
        assert_eq!(fortress["draw"], true);
        let cycle = fortress["cycle"].as_array().unwrap();
        let Some(from) = fortress["repeats_from"].as_u64() else { continue };
        repeating += 1;
        for entry in cycle {
            let after = entry["fen"].as_str().unwrap().replace(' ', "_");
            assert_eq!(connection.get(&format!("/api/v1/probe?fen={after}")).json()["value"]["wdl"], "draw", "{after}");
        }
        let start =
            if from == 0 { fen.replace('_', " ") } else { cycle[from as usize - 1]["fen"].as_str().unwrap().into() };
        assert_eq!(cycle.last().unwrap()["fen"], json!(start));
    }
    assert!(repeating > 2, "{repeating} of 5 fortresses repeat");
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
