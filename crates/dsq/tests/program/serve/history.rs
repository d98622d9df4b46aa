//! A game's history, rules and no-capture limit in the answers of the server.

use super::client::{Connection, Server};
use serde_json::{Value, json};

/// A rat and an elephant that walk to and fro: the start position occurs for the third time after eight plies.
const WALK: &str = "7/6r/7/7/7/7/7/1E5/7_w";
const MOVES: [&str; 8] = ["b2c2", "g8g7", "c2b2", "g7g8", "b2c2", "g8g7", "c2b2", "g7g8"];

fn post(connection: &mut Connection, path: &str, body: &Value) -> Value {
    connection.post(&format!("/api/v1/{path}"), &body.to_string()).json()
}

/// A game that is reviewed in parts has the same review as the whole game, with the draw by repetition at its end.
#[test]
fn a_review_in_parts_knows_the_history() {
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    let fen = WALK.replace('_', " ");
    let whole = post(&mut connection, "review", &json!({"fen": fen, "moves": MOVES}));
    let mut parts = Vec::new();
    for (skip, end) in [(0, 6), (6, 8)] {
        let part = json!({"fen": fen, "moves": MOVES[..end], "skip": skip});
        parts.extend(post(&mut connection, "review", &part)["moves"].as_array().unwrap().clone());
    }
    assert_eq!(json!(parts), whole["moves"]);
    let last = &parts[7];
    assert_eq!((&last["score_after"], &last["mark"]), (&json!({"kind": "cp", "value": 0}), &json!("")), "{last}");
    assert_eq!(whole["termination"], "repetition");
    let none = post(&mut connection, "review", &json!({"fen": fen, "moves": MOVES, "skip": 9}));
    assert_eq!(none["moves"], json!([]));
}

/// A request may name another no-capture limit, or none.
#[test]
fn games_have_their_own_no_capture_limit() {
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    let moves = MOVES[..4].join(",");
    let mut state = |limit: &str| {
        let target = format!("/api/v1/state?fen={WALK}_97&moves={moves}{limit}");
        let answer = connection.get(&target);
        (answer.status, answer.json())
    };
    let (status, error) = state("");
    assert_eq!((status, &error["error"]["reason"]), (400, &json!("move_game_over")));
    for (limit, number) in [("&no_capture_limit=200", json!(200)), ("&no_capture_limit=0", Value::Null)] {
        let (status, state) = state(limit);
        assert_eq!((status, &state["halfmove_clock"], &state["no_capture_limit"]), (200, &json!(101), &number));
        assert_eq!(state["over"], Value::Null);
    }
    assert_eq!(state("&no_capture_limit=none").0, 400);
    let game = |limit: u32| json!({"fen": format!("{} 97", WALK.replace('_', " ")), "moves": MOVES[..4], "no_capture_limit": limit});
    let text = post(&mut connection, "game", &game(0))["text"].as_str().unwrap().to_owned();
    assert!(text.contains("[NoCaptureLimit \"none\"]"), "{text}");
    assert_eq!(post(&mut connection, "review", &game(150))["moves"].as_array().unwrap().len(), 4);
}

/// An analysis knows the history: the move that repeats a position for the third time draws. It may go on after a draw.
#[test]
fn an_analysis_goes_on_after_a_draw() {
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    let mut analyze =
        |moves: &str| connection.get(&format!("/api/v1/analyze?fen={WALK}&moves={moves}&movetime=50&tables=0")).text();
    let drawn = analyze(&MOVES.join(","));
    assert!(drawn.contains("\"reason\":\"repetition\""), "{drawn}");
    let after = analyze(&format!("{},b2b3", MOVES.join(",")));
    assert!(after.contains("event: done") && after.contains("\"over\":null"), "{after}");
    let illegal = analyze("b2b9");
    assert!(illegal.contains("move_illegal"), "{illegal}");
}

/// A tree is a rule of thumb. Its answer has the value of the tables, which may contradict the tree.
#[test]
fn a_tree_is_compared_with_the_tables() {
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    for (fen, rules) in [("7/7/4t2/7/7/6L/4R2/7/7_w", "paper"), (WALK, "paper"), (WALK, "chinese")] {
        let tree = connection.get(&format!("/api/v1/tree?fen={fen}&rules={rules}")).json();
        let probe = connection.get(&format!("/api/v1/probe?fen={fen}&rules={rules}")).json();
        assert_eq!(tree["value"], probe["value"], "{fen}");
        assert!(tree["value"].is_object(), "{tree}");
    }
}

/// Links reach the page with keys that others have appended to them.
#[test]
fn the_page_ignores_keys_of_others() {
    let server = Server::start(&["--pieces", "3"]);
    let mut connection = server.connect();
    let wanted = connection.get(&format!("/?fen={WALK}")).body;
    for more in ["&fbclid=1", "&from=singlemessage&isappinstalled=0", "&fen=again", "&utm_source=%ff"] {
        let answer = connection.get(&format!("/?fen={WALK}{more}"));
        assert_eq!(answer.status, 200, "{more}");
        assert_eq!(answer.body, wanted, "{more}");
    }
    assert_eq!(connection.get(&format!("/?from=groupmessage&from={WALK}_17&line=b2c2&at=1")).status, 200);
    assert_eq!(connection.get("/?from=7/7_w").status, 400, "a first position of our own is read");
}
