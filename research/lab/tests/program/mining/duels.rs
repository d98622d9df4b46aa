//! Duels: the library against brute force, and the program.

use super::*;
use crate::program::{failure, folder};
use doushouqi::tablebase::{Generate, Options};
use mining::duels::{duel, position, positions};

/// Compares duels with brute force: the value, and which moves keep the result.
fn compare(materials: &[Material]) {
    let mut slow = slow::Tables::new(&PAPER);
    for &material in materials {
        let [white, black] = Color::ALL.map(|color| material.side(color).strongest_first().collect::<Vec<_>>());
        slow.solve(&white, &black);
        let value = |position: &Position| match position.winner() {
            Some(winner) => slow::Value::Decided(if winner == position.turn() { 1 } else { 0 }),
            None => slow.value_of_board(&slow::board_of(position), position.turn()),
        };
        let result = |position: &Position| match value(position) {
            slow::Value::Decided(plies) => 1 - 2 * i32::from(plies % 2 == 0),
            _ => 0,
        };
        let (start, found) = (position(material), duel(tables(), material).unwrap().unwrap());
        let wanted = match value(&start) {
            slow::Value::Decided(plies) => Some(plies),
            _ => None,
        };
        assert_eq!(found.dtw, wanted, "{material}");
        let mut keep: Vec<String> = start
            .moves(&Rules::new(PAPER))
            .iter()
            .filter(|&&mv| -result(&start.make(mv)) == result(&start))
            .map(|mv| mv.notation(&start))
            .collect();
        let mut said = found.keep.clone();
        keep.sort();
        said.sort();
        assert_eq!(said, keep, "{material}");
    }
}

#[test]
fn duels_are_those_of_brute_force() {
    let three = Material::all(3);
    let some: Vec<Material> = Material::all(2).into_iter().chain(three.into_iter().step_by(16)).collect();
    compare(&some);
}

/// `./test all_duels -- --ignored`
#[test]
#[ignore = "solves all of three pieces by brute force"]
fn all_duels_are_those_of_brute_force() {
    compare(&Material::all(3));
}

/// The program prints a line for each duel, how many of each size are won, and pictures of teams.
#[test]
fn the_program_lists_duels() {
    let dir = folder("duels");
    let at = dir.to_str().unwrap();
    let job = Generate { pieces: 3, ..Generate::new(&dir, PAPER) };
    job.run(&mut Solver::new(&PAPER, 3, Options::default()), &|_| ()).unwrap();
    let duels = json(&["duels", at, "--json"]);
    assert_eq!(duels.len(), 64 + 2 * 8 * 28);
    let won = |animals: [usize; 2], wdl: &str| {
        let size = |duel: &Json, side: &str| duel[side].as_str().unwrap().len();
        let is = |duel: &&Json| [size(duel, "white"), size(duel, "black")] == animals && duel["wdl"] == wdl;
        duels.iter().filter(is).count()
    };
    for (animals, counts) in [([1, 1], [27, 7, 30]), ([2, 1], [189, 14, 21])] {
        assert_eq!(["win", "draw", "loss"].map(|wdl| won(animals, wdl)), counts, "{animals:?}");
    }
    let table = stdout(&["duels", at]);
    assert!(table.lines().any(|line| line.split_whitespace().take(5).eq(["2", "1", "189", "14", "21"])), "{table}");
    let two = duels.iter().find(|duel| duel["white"] == "EL" && duel["black"] == "R").unwrap();
    assert_eq!(two["rules"], "paper");
    assert!(!two["keep"].as_array().unwrap().is_empty(), "{two}");
    let (one, plots) = (folder("duel"), folder("plots"));
    let job = Generate { material: Some(material("ELvTP")), ..Generate::new(&one, PAPER) };
    job.run(&mut Solver::new(&PAPER, 4, Options::default()), &|_| ()).unwrap();
    let [one, plots] = [&one, &plots].map(|dir| dir.to_str().unwrap());
    let duels = json(&["duels", one, "--plot", plots, "--json"]);
    let best = duels.iter().find(|duel| duel["white"] == "EL" && duel["black"] == "TP").unwrap();
    let svg = std::fs::read_to_string(format!("{plots}/duels-2-2.svg")).unwrap();
    assert!(best["wdl"] == "win" && svg.contains(&format!("EL against TP: won in {} plies", best["dtw"])), "{best}");
    assert!(failure(2, &["duels", "/nothing/here"]).contains("no tables"));
}

/// Duels of classes that are counted equal those of tables, also if the run is continued.
#[test]
fn counted_duels_are_those_of_tables() {
    let (dir, three) = (folder("counted"), folder("counted-three"));
    for (dir, pieces) in [(&dir, 2), (&three, 3)] {
        let job = Generate { pieces, ..Generate::new(dir, PAPER) };
        job.run(&mut Solver::new(&PAPER, 3, Options::default()), &|_| ()).unwrap();
    }
    let out = dir.join("duels.jsonl");
    let [at, three, file] = [&dir, &three, &out].map(|path| path.to_str().unwrap());
    let count = |more: &[&str]| json(&[&["duels", at, "--count", "1,2", "--out", file, "--json"][..], more].concat());
    let sorted = |mut duels: Vec<Json>| {
        duels.sort_by_key(Json::to_string);
        duels
    };
    let is_asked = |duel: &Json| ["white", "black"].map(|side| duel[side].as_str().unwrap().len()) == [1, 2];
    let wanted: Vec<Json> = json(&["duels", three, "--json"]).into_iter().filter(is_asked).collect();
    let lines =
        || std::fs::read_to_string(&out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let found = count(&[]);
    assert_eq!(sorted(found.iter().filter(|duel| is_asked(duel)).cloned().collect()), sorted(wanted.clone()));
    assert_eq!(sorted(lines()), sorted(wanted.clone()));
    // Searches prove the results, and find wrong ones.
    let check = ["--check", "20000"];
    assert_eq!(sorted(count(&check)), sorted(found.clone()));
    let asked = [&["duels", at, "--count", "1,2", "--out", file][..], &check].concat();
    let said = stdout(&asked);
    assert!(said.contains("searches of 20,000 nodes prove ") && said.contains(" of 218 decided duels"), "{said}");
    let text = std::fs::read_to_string(&out).unwrap();
    let wrong = text.replace(r#""wdl":"loss""#, r#""wdl":"draw""#);
    std::fs::write(&out, wrong).unwrap();
    assert!(failure(1, &asked).contains("a search proves"));
    std::fs::write(&out, &text).unwrap();
    // A line that was not written completely, in the middle of a class.
    std::fs::write(&out, &text[..text.len() / 2]).unwrap();
    assert_eq!(sorted(count(&["--threads", "1"])), sorted(found));
    assert_eq!(sorted(lines()), sorted(wanted));
    let refused = |count: &str, dir: &str| failure(2, &["duels", dir, "--count", count, "--out", file]);
    let other = format!("{file}-2-2");
    assert!(failure(2, &["duels", at, "--count", "2,2", "--out", &other]).contains("captures"));
    assert!(refused("2,1", three).contains("is no duel of this run"));
    assert!(refused("8,1", at).contains("such as 3,3"));
    std::fs::write(&out, text.replace("paper", "chinese")).unwrap();
    assert!(refused("1,2", at).contains("chinese"));
}

/// White's first moves capture nothing, so the positions to watch are all of one class.
#[test]
fn first_moves_of_duels_are_quiet() {
    for material in (2..=6).flat_map(Material::all) {
        let (rules, start) = (Rules::new(PAPER), position(material));
        assert_eq!(positions(material, &rules).len(), 1 + start.moves(&rules).len(), "{material}");
    }
}
