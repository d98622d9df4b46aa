//! Tables of results without distances beside tables with distances.

use super::client::Server;
use super::counts::four;
use super::{folder, random_position, schema};
use crate::dsq;
use doushouqi::game::random::Random;
use serde_json::{Value, json};

/// A class of five pieces whose file is small: the four animals are interchangeable.
const CLASS: &str = "EvPDWC";

/// Where only results are known, an answer has no distance, and moves come from the engine.
#[test]
fn results_answer_where_there_are_no_distances() {
    let (tables, results) = (folder("serve-distances"), folder("serve-results"));
    let [tables_text, results_text] = [&tables, &results].map(|dir| dir.to_str().unwrap());
    dsq::stdout(&["generate", "--material", CLASS, "--backend", "cpu", "--out", tables_text, "--json"]);
    dsq::stdout(&["repack", tables_text, "--wdl", "--out", results_text, "--json"]);
    let path = std::env::join_paths([four(), results_text]).unwrap();
    let server = Server::start(&["--tables", path.to_str().unwrap(), "--pieces", "3", "--threads", "2"]);
    let mut connection = server.connect();
    let description = connection.get("/api/v1/openapi.json").json();
    assert_eq!(connection.get("/api/v1/status").json()["tables"][0]["on_disk"], 5);
    let mut random = Random::new(7);
    let (mut decided, mut known_distances) = (0, 0);
    let fens: Vec<String> = (0..40).map(|_| random_position(CLASS.parse().unwrap(), &mut random).to_fen()).collect();
    let values = ["probe", "--tables", tables_text, "--json"].into_iter().chain(fens.iter().map(String::as_str));
    let values = dsq::stdout(&values.collect::<Vec<_>>());
    assert_eq!(values.lines().count(), fens.len());
    for (fen, right) in fens.iter().zip(values.lines()) {
        let (fen, right): (_, Value) = (fen.replace(' ', "_"), serde_json::from_str(right).unwrap());
        let answer = connection.get(&format!("/api/v1/probe?fen={fen}"));
        schema::check_answer(&description, "/api/v1/probe", "get", &answer);
        let probe = answer.json();
        assert_eq!((&probe["known"], &probe["value"]["wdl"]), (&json!(true), &right["wdl"]), "{fen}");
        assert_eq!(probe["value"]["dtw"], Value::Null, "{fen}");
        assert_eq!(probe["moves"][0]["value"]["wdl"], right["wdl"], "the best move is first: {fen}");
        for mv in probe["moves"].as_array().unwrap() {
            let same = right["moves"].as_array().unwrap().iter().find(|other| other["move"] == mv["san"]).unwrap();
            assert_eq!(mv["value"]["wdl"], same["wdl"], "{fen} {mv}");
            // A capture leads to tables with distances, and a move that ends the game needs none.
            if mv["value"]["dtw"] != Value::Null {
                assert_eq!(mv["value"]["dtw"], same["dtw"], "{fen} {mv}");
                known_distances += 1;
            }
        }
        if right["wdl"] == "draw" {
            continue;
        }
        decided += 1;
        let sentence = probe["sentence"].as_str().unwrap();
        assert!(sentence.ends_with(" wins."), "{sentence}");
        let line = connection.get(&format!("/api/v1/mainline?fen={fen}")).json();
        let exact = probe["moves"][0]["value"]["dtw"] != Value::Null;
        assert_eq!(line["end"] == "no_distance", !exact, "{line}");
        let best = connection.get(&format!("/api/v1/bestmove?fen={fen}&perfect=true&movetime=50")).json();
        assert_eq!(best["source"], if exact { "table" } else { "engine" }, "{best}");
    }
    assert!(decided > 10 && known_distances > 0, "{decided} {known_distances}");
    let lost = connection.get(&format!("/api/v1/random?material={CLASS}&wdl=loss&seed=3")).json();
    let fen = lost["fen"].as_str().unwrap().replace(' ', "_");
    assert_eq!(connection.get(&format!("/api/v1/probe?fen={fen}")).json()["value"]["wdl"], "loss");
    let counts = connection.get(&format!("/api/v1/stats/{CLASS}")).json();
    assert!(counts["white"]["wins"].as_u64().unwrap() > 0, "{counts}");
    drop(server);
    results_alone(results_text, &lost, &counts);
    [tables, results].iter().for_each(|dir| std::fs::remove_dir_all(dir).unwrap());
}

/// Without any distances on disk, positions of up to four pieces are solved, and the others have their results.
fn results_alone(results: &str, lost: &Value, counts: &Value) {
    let server = Server::start(&["--tables", results, "--pieces", "3", "--threads", "2"]);
    let mut connection = server.connect();
    let fen = lost["fen"].as_str().unwrap().replace(' ', "_");
    let probe = connection.get(&format!("/api/v1/probe?fen={fen}")).json();
    assert_eq!((&probe["value"]["wdl"], &probe["value"]["dtw"]), (&json!("loss"), &Value::Null), "{probe}");
    assert!(probe["moves"].as_array().unwrap().iter().all(|mv| mv["value"]["wdl"] == "loss"), "{probe}");
    let found = connection.get(&format!("/api/v1/random?material={CLASS}&wdl=loss&seed=3")).json();
    assert_eq!(found["fen"], lost["fen"]);
    assert_eq!(&connection.get(&format!("/api/v1/stats/{CLASS}")).json(), counts);
    let four = connection.get("/api/v1/probe?fen=7/3c3/7/3d3/7/7/7/3EL2/7_w").json();
    assert!(four["value"]["dtw"].as_u64().is_some(), "{four}");
    let counting = dsq::dsq(&["serve", "--tables", results, "--on-demand"]);
    let stderr = String::from_utf8(counting.stderr).unwrap();
    assert!(counting.status.code() == Some(2) && stderr.contains("tables with distances"), "{stderr}");
    // The engine plays, and probes the results in the tree.
    let won = "d6/3w3/2p4/7/7/7/c6/4E2/7 b";
    let analysis = dsq::stdout(&["analyze", "--fen", won, "--tables", results, "--nodes", "3000", "--json"]);
    let line = &serde_json::from_str::<Value>(&analysis).unwrap()["lines"][0];
    assert!(line["score"]["win_within"].as_u64().is_some() && line["tbhits"].as_u64() > Some(0), "{line}");
}
