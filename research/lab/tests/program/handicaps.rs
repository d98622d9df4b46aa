//! `dsq-lab handicaps`.

use crate::program::{failure, folder, json, stdout};

/// The same games on any number of threads, in one run or in several, and those of `dsq match`.
#[test]
fn handicaps_are_played_on() {
    let dir = folder("handicaps");
    let (whole, part) = (dir.join("whole.jsonl"), dir.join("part.jsonl"));
    let run = |out: &std::path::Path, more: &[&str]| {
        let options = ["handicaps", "--nodes", "60", "--json", "--out", out.to_str().unwrap()];
        json(&[&options[..], more].concat())
    };
    let all = run(&whole, &["--missing", "R,el", "--games", "8", "--threads", "2"]);
    assert_eq!(all.len(), 2);
    run(&part, &["--missing", "R", "--games", "3", "--threads", "1"]);
    assert_eq!(run(&part, &["--missing", "R,LE", "--games", "8", "--threads", "1"]), all);
    assert_eq!(std::fs::read(&part).unwrap(), std::fs::read(&whole).unwrap());
    for handicap in &all {
        let sum = |key: &str| handicap[key].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum::<u64>();
        assert_eq!(["white", "black", "pairs"].map(sum), [4; 3], "{handicap}");
        assert_eq!(
            (&handicap["games"], &handicap["nodes"], &handicap["rules"]),
            (&8.into(), &60.into(), &"paper".into())
        );
        assert_eq!(handicap["ends"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>(), 8);
    }
    assert_eq!((&all[1]["missing"], &all[1]["openings"]), (&"EL".into(), &"without:EL:8:1".into()));
    // Without elephant and lion the engine loses, also against a weak one.
    assert!(all[1]["score"].as_f64().unwrap() < 0.5, "{}", all[1]);
    let table =
        stdout(&["handicaps", "--nodes", "60", "--missing", "R", "--games", "8", "--out", whole.to_str().unwrap()]);
    assert!(table.lines().nth(1).is_some_and(|line| line.trim_start().starts_with('R')), "{table}");
}

#[test]
fn wrong_handicaps_are_refused() {
    let path = folder("wrong-handicaps").join("out.jsonl");
    let out = path.to_str().unwrap();
    let refused = |more: &[&str]| failure(2, &[&["handicaps", "--out", out][..], more].concat());
    assert!(refused(&["--missing", "X"]).contains("'X'"));
    assert!(refused(&["--missing", "RR"]).contains("two rats"));
    assert!(refused(&["--missing", "ELTPDWCR"]).contains("needs an animal"));
    let small = ["--missing", "R", "--games", "2", "--nodes", "20"];
    json(&[&["handicaps", "--json", "--out", out][..], &small].concat());
    for (more, key) in [(["--nodes", "21"], "nodes"), (["--seed", "2"], "--seed"), (["--rules", "chinese"], "rules")] {
        let options = ["--missing", "R", "--games", "2"].into_iter().chain(more);
        let nodes = ["--nodes", "20"].into_iter().filter(|_| more[0] != "--nodes");
        let error = refused(&options.chain(nodes).collect::<Vec<_>>());
        assert!(error.contains("line 1") && error.contains(key), "{error}");
    }
    let line = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, line.replace("\"games\":2", "\"games\":4")).unwrap();
    assert!(refused(&small).contains("do not agree"));
    std::fs::write(&path, "{}\n").unwrap();
    assert!(refused(&small).contains("line 1"));
}
