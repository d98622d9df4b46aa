//! Tables under a no-capture limit.

use super::*;
use doushouqi::game::Game;
use doushouqi::search::{Engine, EngineOptions, Limits};
use doushouqi::tablebase::ProbeDtz;
use std::sync::Arc;

/// The lion reaches the den in 9 plies, without a capture.
const RACE: &str = "7/7/7/7/L6/6e/7/7/7 w";

fn json(arguments: &[&str]) -> Json {
    serde_json::from_str(&stdout(arguments)).unwrap()
}

/// A result holds as long as the clock leaves enough plies. Moves are in the order of their results at the clock.
#[test]
fn results_are_those_at_the_clock() {
    let dir = temporary();
    let at = text(dir.path());
    stdout(&["generate", "--pieces", "3", "--out", at, "--metric", "dtz", "--limit", "40"]);
    let probe = |clock: &str| json(&["probe", "--tables", at, &format!("{RACE} {clock}"), "--line", "--json"]);
    let value = |answer: &Json| [&answer["wdl"], &answer["category"]].map(|text| text.as_str().unwrap().to_owned());
    let (fresh, last, late) = (probe("0"), probe("31"), probe("32"));
    assert_eq!((&fresh["dtz"], &fresh["limit"]), (&object!(9), &object!(40)));
    assert_eq!((value(&fresh), value(&last)), (["win", "win"].map(str::to_owned), ["win", "win"].map(str::to_owned)));
    assert_eq!(value(&late), ["draw", "cursed-win"].map(str::to_owned));
    assert_eq!(fresh["line"].as_array().unwrap().len(), 9);
    assert_eq!(late["line"], object!([]));
    for answer in [&fresh, &last, &late] {
        let worth = |mv: &Json| ["loss", "draw", "win"].iter().position(|wdl| mv["wdl"] == *wdl).unwrap();
        let moves = answer["moves"].as_array().unwrap();
        assert!(moves.is_sorted_by_key(|mv| std::cmp::Reverse(worth(mv))));
        assert_eq!(moves[0]["wdl"], answer["wdl"], "the first move keeps the result");
    }
    let text = stdout(&["probe", "--tables", at, &format!("{RACE} 32")]);
    assert!(text.contains("the limit spoils the win"), "{text}");
    let stats = stdout(&["stats", at, "--json"]);
    let three: Json = serde_json::from_str(stats.lines().nth(1).unwrap()).unwrap();
    let wins: u64 = three["by_dtz"]["wins"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!((&three["wins"], &three["longest"], three.get("by_plies")), (&object!(wins), &object!(40), None));
    let solved = stdout(&["solve", "--pieces", "3", "--metric", "dtz", "--limit", "40", "--json"]);
    let solved: Json = serde_json::from_str(solved.lines().nth(1).unwrap()).unwrap();
    for count in ["wins", "losses", "draws", "longest"] {
        assert_eq!(solved[count], three[count], "{count}");
    }
    // A line goes on after the capture, to the end of the game.
    let deepest = stdout(&["stats", at, "--deepest", "--json"]);
    let three: Json = serde_json::from_str(deepest.lines().nth(1).unwrap()).unwrap();
    assert!(three["plies"] == 40 && three["line"].as_array().unwrap().len() >= 40, "{three}");
    let checked = json(&["verify", at, "--json"]);
    assert_eq!(checked["classes"], 52);
}

/// With `--on-demand` positions of one piece more are counted under the limit of the tables; those of two more are refused.
#[test]
fn one_piece_more_is_counted() {
    const THREE: &str = "7/7/7/7/L6/6e/5r1/7/7 w 20";
    let (two, three, cache) = (temporary(), temporary(), temporary());
    let generate = |pieces, dir| {
        stdout(&["generate", "--pieces", pieces, "--out", dir, "--metric", "dtz", "--limit", "40"]);
    };
    let (small, large) = (text(two.path()), text(three.path()));
    generate("2", small);
    generate("3", large);
    let probe = |fen, options: &[&str]| json(&[&["probe", fen, "--json", "--line"], options].concat());
    let on_demand = ["--on-demand", "--cache", text(cache.path())];
    let mut counted = probe(THREE, &[&["--tables", small], &on_demand[..]].concat());
    assert_eq!(counted.as_object_mut().unwrap().remove("source"), Some(object!("cache")));
    assert_eq!(counted, probe(THREE, &["--tables", large]));
    assert_eq!(probe(RACE, &[&["--tables", small], &on_demand[..]].concat())["source"], "tables");
    let four = "7/7/7/7/L6/6e/5r1/4C2/7 w 20";
    fails(2, &[&["probe", four, "--tables", small], &on_demand[..]].concat(), &["at most 3 can be counted on demand"]);
    fails(2, &["probe", THREE, "--tables", small], &["--on-demand answers one more"]);
}

/// What tables of one metric cannot answer is refused in one sentence.
#[test]
fn the_other_metric_is_refused() {
    let (limited, distances) = (temporary(), tables(2));
    let (at, other) = (text(limited.path()), text(distances.path()));
    let generate = ["generate", "--pieces", "2", "--out", at];
    fails(2, &[&generate[..], &["--limit", "50"]].concat(), &["--limit needs --metric dtz"]);
    fails(2, &[&generate[..], &["--metric", "dtz", "--limit", "0"]].concat(), &["--limit"]);
    stdout(&[&generate[..], &["--metric", "dtz"]].concat());
    let limit = ["no-capture limit of 100"];
    fails(2, &[&generate[..]].concat(), &["no-capture-limit=100"]);
    fails(2, &["generate", "--pieces", "2", "--out", other, "--metric", "dtz"], &["no-capture-limit=100"]);
    fails(2, &["probe", "--tables", at, &format!("{RACE} 101")], &["beyond the limit of 100"]);
    fails(2, &["probe", "--tables", at, "--rules", "bell", RACE], &["traps=none"]);
    fails(2, &["repack", at, "--wdl", "--out", text(&limited.path().join("wdl"))], &limit);
    fails(2, &["export", "--tables", at, "--material", "EvL", "--format", "csv"], &limit);
    let two = format!("{at}:{at}");
    fails(2, &["analyze", "--tables", &two, "--depth", "1"], &["both hold values under a no-capture limit"]);
    let both = format!("{other}:{at}");
    stdout(&["analyze", "--tables", &both, "--depth", "1"]);
    let answer = json(&["probe", "--tables", &both, &format!("{RACE} 95"), "--json"]);
    assert_eq!(
        (&answer["category"], &answer["dtz"], &answer["dtw"]),
        (&object!("cursed-win"), &object!(9), &object!(9))
    );
}

/// In games with the limit of its tables the engine plays exactly, with more pieces than it solves itself: of two captures it
/// knows the one whose win comes in time.
#[test]
fn the_engine_reads_them() {
    let dir = temporary();
    let at = text(dir.path());
    stdout(&["generate", "--material", "ELTvPR", "--out", at, "--metric", "dtz", "--limit", "20"]);
    let tables = Tables::open(dir.path(), &RuleOptions::PAPER).unwrap();
    let prober = TableSet::open(dir.path()).unwrap().dtz_prober(&RuleOptions::PAPER).unwrap();
    let options = EngineOptions::default().hash_mib(1).tables(Arc::new(tables));
    let mut engine = Engine::new(options);
    let mut decided = 0;
    for position in random_positions(12, &[material("ELTvPR")], 12) {
        for clock in [0, 9] {
            let left = 20 - clock;
            let fen = format!("{} {clock}", position.to_fen()).parse().unwrap();
            let game = Game::from_fen(fen, Rules::default(), Some(20));
            let moves = prober.dtz_moves(&position, left).unwrap().unwrap();
            let mv = engine.search(&game, &Limits::default().nodes(50)).run().best().unwrap();
            let played = moves.iter().find(|(other, _)| *other == mv).unwrap().1.within(left);
            let best = moves[0].1.within(left);
            assert_eq!(played, best, "{} {clock}: {mv}", position.to_fen());
            decided += usize::from(best != Wdl::Draw);
        }
    }
    assert!(decided > 4, "{decided}");
}
