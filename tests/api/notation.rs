//! The test vectors of the notation, docs/notation.json.

use doushouqi::board::{Fen, Move, Position, RuleOptions, Rules};
use doushouqi::game::Record;
use serde_json::{Value as Json, json};

/// The entries of a list: valid and malformed ones.
fn vectors(list: &str) -> Vec<Json> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/notation.json");
    let all: Json = serde_json::from_str(&std::fs::read_to_string(path).expect(path)).expect("JSON");
    assert_eq!(all["version"], "1.7");
    let entries = all[list].as_array().unwrap_or_else(|| panic!("no list {list}")).clone();
    let valid = |valid: bool| entries.iter().filter(|entry| entry["valid"] == valid).count();
    assert!(list == "legal_moves" || valid(true) >= 5 && valid(false) >= 5, "{list}");
    entries
}

fn text<'a>(entry: &'a Json, field: &str) -> &'a str {
    entry[field].as_str().unwrap_or_else(|| panic!("{entry} has no {field}"))
}

#[test]
fn positions_are_read() {
    for entry in vectors("positions") {
        let read = text(&entry, "text").parse::<Fen>();
        assert_eq!(read.is_ok(), entry["valid"] == true, "{entry}: {read:?}");
        let Ok(fen) = read else { continue };
        let canonical = entry["canonical"].as_str().unwrap_or(text(&entry, "text"));
        assert_eq!(fen.to_string(), canonical, "{entry}");
        assert_eq!(u64::from(fen.halfmove_clock), entry["clock"].as_u64().unwrap_or(0), "{entry}");
    }
}

#[test]
fn moves_are_read() {
    let rules = Rules::default();
    for entry in vectors("moves") {
        let position: Position = text(&entry, "position").parse().unwrap();
        let read = Move::parse(text(&entry, "text"), &position, &rules);
        assert_eq!(read.is_ok(), entry["valid"] == true, "{entry}: {read:?}");
        let Ok(mv) = read else { continue };
        assert_eq!(mv.to_string(), text(&entry, "coordinates"), "{entry}");
        assert_eq!(mv.notation(&position), text(&entry, "notation"), "{entry}");
    }
}

#[test]
fn moves_are_generated() {
    for entry in vectors("legal_moves") {
        let position: Position = text(&entry, "position").parse().unwrap();
        let rules = Rules::new(text(&entry, "rules").parse().unwrap());
        let mut moves: Vec<String> = match position.winner() {
            Some(_) => Vec::new(),
            None => position.moves(&rules).iter().map(|mv| mv.notation(&position)).collect(),
        };
        moves.sort();
        assert_eq!(Json::from(moves), entry["moves"], "{entry}");
    }
}

#[test]
fn games_are_read() {
    for entry in vectors("games") {
        let read = Record::parse_all(text(&entry, "text"));
        assert_eq!(read.is_ok(), entry["valid"] == true, "{entry}: {read:?}");
        let Ok(records) = read else { continue };
        let [record] = &records[..] else { panic!("{entry}: {} games", records.len()) };
        let conclusion = record.conclusion();
        assert_eq!(conclusion.result(), text(&entry, "result"), "{entry}");
        assert_eq!(conclusion.termination(), text(&entry, "termination"), "{entry}");
        assert_eq!(record.game.moves().len() as u64, entry["plies"].as_u64().unwrap(), "{entry}");
        assert_eq!(record.game.fen().to_string(), text(&entry, "final"), "{entry}");
        let plies = 0..record.game.moves().len();
        let nags: Vec<Vec<u8>> =
            plies.map(|ply| record.nags.get(ply).into_iter().flatten().copied().collect()).collect();
        let none = || json!(vec![[0u8; 0]; nags.len()]);
        assert_eq!(json!(nags), entry.get("nags").cloned().unwrap_or_else(none), "{entry}");
        assert_eq!(record.comment, entry["before"].as_str().unwrap_or_default(), "{entry}");
        let again = Record::parse_all(&record.to_text().unwrap()).unwrap();
        assert_eq!(again[0].nags, record.nags, "{entry}");
        assert_eq!(again[0].comment, record.comment, "{entry}");
        assert_eq!(again[0].to_text(), record.to_text(), "{entry}");
    }
}

#[test]
fn rules_are_read() {
    for entry in vectors("rules") {
        let read = text(&entry, "text").parse::<RuleOptions>();
        assert_eq!(read.is_ok(), entry["valid"] == true, "{entry}: {read:?}");
        let Ok(options) = read else { continue };
        assert_eq!(options.to_string(), text(&entry, "canonical"), "{entry}");
        assert_eq!(options.to_string().parse(), Ok(options), "{entry}");
    }
}
