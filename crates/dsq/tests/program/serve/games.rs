//! Games over HTTP: their rules, clocks, history and text.

use super::*;
use crate::annotated::annotated;

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

/// A game of a text, sent back as a list of moves, is written as the same text.
#[test]
fn answers_lose_nothing_of_a_game() {
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    let mut write = |request: Value| connection.post("/api/v1/game", &request.to_string()).json();
    let (mut rich, mut given) = (0, 0);
    for number in 0..1000 {
        let record = annotated(number);
        let text = record.to_text().unwrap();
        let answer = write(json!({"text": text}));
        assert_eq!(answer["text"], text);
        let again = write(json!({
            "fen": answer["fen"], "rules": answer["rules"], "moves": answer["moves"], "tags": answer["tags"],
            "comment": answer["comment"], "no_capture_limit": answer["no_capture_limit"].as_u64().unwrap_or(0),
        }));
        assert_eq!(again["text"], text);
        rich += usize::from(text.contains('(') && text.contains('$') && text.contains('{'));
        given += usize::from(record.forfeit.is_some() || record.adjudication.is_some());
    }
    assert!(rich > 300 && given > 300, "{rich} {given}");
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
    let text = connection
        .post("/api/v1/game", &json!({"moves": ["Eb3", "rb7"], "tags": [["White", "Anna"]]}).to_string())
        .json();
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
    let tags = |tags: &[(&str, &str)]| json!({ "tags": tags });
    let accepted = [
        (&going_on, tags(&[("Date", "2026.02.03"), ("Result", "1-0")]), "1-0"),
        (&going_on, tags(&[("Result", "0-1"), ("Termination", "time")]), "0-1"),
        (&going_on, tags(&[("Result", "1/2-1/2")]), "1/2-1/2"),
        (&going_on, tags(&[("Result", "*")]), "*"),
        (&going_on, tags(&[("White", "A \"B\"\nC"), ("Black", "\\"), ("Event", "")]), "*"),
        (&den, tags(&[("Result", "1-0"), ("Termination", "den")]), "1-0"),
        (&den, json!({}), "1-0"),
    ];
    for (game, more, result) in &accepted {
        let text = connection.post("/api/v1/game", &with(game, more)).json()["text"].clone();
        assert!(text.as_str().unwrap().contains(&format!("[Result \"{result}\"]")), "{more}: {text}");
        let again = connection.post("/api/v1/game", &json!({"text": text}).to_string()).json();
        assert_eq!(again["text"], text, "{more}");
    }
    let long = "x".repeat(80_000);
    let refused = [
        (&going_on, tags(&[("Date", "yesterday")]), "tags", "wrong_game"),
        (&going_on, tags(&[("Date", &long)]), "tags", "wrong_game"),
        (&going_on, tags(&[("Result", "2-0")]), "tags", "wrong_game"),
        (&going_on, tags(&[("Termination", "time")]), "tags", "wrong_game"),
        (&going_on, tags(&[("FEN", "")]), "tags", "wrong_game"),
        (&going_on, tags(&[("Event", "a"), ("Event", "b")]), "tags", "wrong_game"),
        (&den, tags(&[("Result", "0-1")]), "tags", "wrong_game"),
        (&den, tags(&[("Result", "*")]), "tags", "wrong_game"),
        (&going_on, tags(&[("White", &long)]), "text", "text_too_long"),
        (&json!({}), json!({"text": format!("[Date \"{long}\"]")}), "text", "text_too_long"),
        (&json!({}), json!({"text": format!("[Date \"{}\"]", &long[..9000])}), "text", "bad_game"),
        (&json!({}), json!({"text": "1. Eb3 (1. Ea4 *"}), "text", "bad_game"),
        (&json!({}), json!({"text": "[Result \"1-0\"]\n\n1. Eb3 *"}), "text", "bad_game"),
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

/// An analysis that went on after a draw is written under rules without that draw, and read again.
#[test]
fn lines_beyond_a_draw_are_written() {
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    let moves: Vec<&str> = ["Rc3", "rc5", "Rd3", "rd5"].into_iter().cycle().take(9).chain(["re5"]).collect();
    let game = json!({"fen": "7/7/7/7/3r3/7/3R3/7/7 w", "moves": moves});
    let answer = connection.post("/api/v1/game", &game.to_string()).json();
    assert!(answer["rules"].as_str().unwrap().ends_with("repetition=none"), "{answer}");
    let again = connection.post("/api/v1/game", &json!({"text": answer["text"]}).to_string()).json();
    assert_eq!(again, answer);
    // A review judges the game as it was played.
    let error = connection.post("/api/v1/review", &game.to_string()).json()["error"]["reason"].clone();
    assert_eq!(error, "move_game_over");
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
