//! Puzzles, conversion, GTP, openings from files and adjudication, through the program.

use crate::annotated::annotated;
use crate::dsq::{command, dsq, stdout};
use doushouqi::game::{Conclusion, Record};
use serde_json::Value as Json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

const DSQ: &str = env!("CARGO_BIN_EXE_dsq");

fn fails(code: i32, arguments: &[&str], words: &str) {
    let output = dsq(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    assert!(stderr.contains(words) && !stderr.contains("panicked"), "{arguments:?}: {words:?} is not in {stderr}");
}

/// The output of the program for this input.
fn filter(arguments: &[&str], input: &str) -> String {
    let mut child = command(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("dsq runs");
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("formats-{name}-{}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn puzzles_are_made_checked_and_converted() {
    let lines = stdout(&["puzzles", "--piece-count", "3", "--count", "12", "--seed", "3"]);
    assert_eq!(lines.lines().count(), 12);
    assert_eq!(lines, stdout(&["puzzles", "--piece-count", "3", "--count", "12", "--seed", "3", "--threads", "1"]));
    let path = file("puzzles", &lines);
    let path = path.to_str().unwrap();
    assert!(stdout(&["puzzles", "--check", path]).starts_with("12 puzzles"));
    for format in ["mistboard", "katago", "animalcraft"] {
        let converted = filter(&["convert", "--from", "dsq", "--to", format], &lines);
        assert_ne!(converted, lines);
        assert_eq!(filter(&["convert", "--from", format, "--to", "dsq"], &converted), lines, "{format}");
    }
    // One wrong field.
    let wrong = file("wrong", &lines.replacen("\"depth\":", "\"depth\":1", 1));
    fails(1, &["puzzles", "--check", wrong.to_str().unwrap()], "1 of 12 puzzles");
    let csv = stdout(&["puzzles", "--material", "TvL", "--count", "3", "--format", "csv"]);
    assert!(csv.starts_with("PuzzleId,FEN,Moves,Rating") && csv.lines().count() == 4, "{csv}");
    let anki = stdout(&["puzzles", "--material", "TvL", "--count", "3", "--format", "anki"]);
    assert_eq!(anki.lines().filter(|line| !line.starts_with('#')).count(), 3);
    fails(2, &["puzzles", "--piece-count", "6"], "2 to 5");
    fails(2, &["puzzles", "--material", "ELTvPDW"], "at most 5");
    fails(2, &["puzzles", "--check", "/does/not/exist"], "cannot read");
}

#[test]
fn counters_out_of_range_are_refused_with_the_range() {
    for (counters, name) in
        [("0 4000000000", "move number"), ("1000000001 1", "halfmove clock"), ("0 x", "move number")]
    {
        let fen = format!("7/7/3e3/7/7/7/3E3/7/7 r {counters}");
        fails(
            2,
            &["convert", "--from", "mistboard", "--to", "dsq", &fen],
            &format!("{name} is a number from 0 to 1000000000"),
        );
    }
}

#[test]
fn lines_are_converted_both_ways() {
    let game = "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w moves a3b3 a7b7\n7/7/3e3/7/7/7/3E3/7/7 b 12\n";
    for format in ["mistboard", "katago", "animalcraft", "dsq"] {
        let converted = filter(&["convert", "--from", "dsq", "--to", format], game);
        let back = filter(&["convert", "--from", format, "--to", "dsq"], &converted);
        let kept = matches!(format, "mistboard" | "dsq");
        assert_eq!(back, if kept { game.to_owned() } else { game.replace(" 12", "") }, "{format}");
    }
    let start =
        stdout(&["convert", "--from", "katago", "--to", "mistboard", "l5t/1d3c1/r1j1w1e/7/7/7/E1W1J1R/1C3D1/T5L w"]);
    assert_eq!(start, "t5l/1c3d1/e1w1p1r/7/7/7/R1P1W1E/1D3C1/L5T r 0 1\n");
    let saved = filter(&["convert", "--from", "dsq", "--to", "saved"], game);
    let mut records = Record::parse_all(&saved).unwrap();
    assert_eq!((records.len(), records.remove(0).game.moves().len()), (2, 2));
    assert_eq!(filter(&["convert", "--from", "saved", "--to", "dsq"], &saved), game);
    fails(2, &["convert", "--from", "dsq", "--to", "katago", "7/7 w"], "9 ranks");
    for json in ["{}", r#"{"game":1,"moves":["Eb3"]}"#] {
        fails(
            2,
            &["convert", "--from", "dsq", "--to", "katago", json],
            "neither a puzzle of `dsq puzzles` nor a game of Mistboard",
        );
    }
    let packed = std::env::temp_dir().join(format!("dsq-packed-{}.gz", std::process::id()));
    std::fs::write(&packed, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff]).unwrap();
    for from in ["dsq", "saved"] {
        let arguments = ["convert", "--from", from, "--to", "katago", "--file", packed.to_str().unwrap()];
        fails(2, &arguments, "line 1: the compressed data (gzip) is");
    }
    std::fs::remove_file(packed).unwrap();
    fails(2, &["convert", "--from", "xboard", "--to", "katago"], "dsq, mistboard, katago or animalcraft, or saved");
    let bad = file("bad", "7/7/3e3/7/7/7/3E3/7/7 b\n\n7/7/3e3/7/7/7/3E3/7/7 x\n");
    fails(2, &["convert", "--from", "dsq", "--to", "katago", "--file", bad.to_str().unwrap()], "line 3");
}

/// Comments, assessments, variations, tags and results come back byte for byte.
#[test]
fn saved_games_are_converted_without_loss() {
    let text: String = (0..1000).map(|number| annotated(number).to_text().unwrap() + "\n").collect();
    let saved = file("annotated", &text);
    let converted = stdout(&["convert", "--from", "saved", "--to", "saved", "--file", saved.to_str().unwrap()]);
    assert!(converted == text, "{converted}");
}

/// A position in another program's notation is not misread: every command names the one that converts it.
#[test]
fn positions_of_other_programs_are_named() {
    let tables = tempfile::tempdir().unwrap();
    let tables = tables.path().to_str().unwrap();
    stdout(&["generate", "--pieces", "2", "--out", tables]);
    let mistboard = "7/7/3e3/7/7/7/2E4/7/7 r";
    for (fen, dialect) in [
        (mistboard, "mistboard"),
        ("7/7/3e3/7/7/7/2E4/7/7 r 0", "mistboard"),
        ("7/7/3e3/7/7/7/2E4/7/7 r 0 1", "mistboard"),
        ("7/7/3j3/7/7/7/2E4/7/7 w", "katago"),
        ("7/7/3m3/7/7/7/2E4/7/7 w", "animalcraft"),
    ] {
        let remedy = format!("`dsq convert --from {dialect} --to dsq`");
        let book = file("other-book", &format!("{fen}\n"));
        let book = book.to_str().unwrap();
        for command in [
            &["probe", "--tables", tables, fen][..],
            &["analyze", "--depth", "1", "--fen", fen],
            &["play", "--fen", fen],
            &["perft", "1", "--fen", fen],
            &["match", "builtin:random", "builtin:random", "--games", "2", "--openings", book],
            &["convert", "--from", "dsq", "--to", "katago", fen],
        ] {
            fails(2, command, &remedy);
        }
        assert!(
            filter(&["uci"], &format!("position fen {fen}\nquit\n")).contains(&remedy) != fen.starts_with(mistboard)
        );
    }
    assert_eq!(stdout(&["convert", "--from", "mistboard", "--to", "dsq", mistboard]), "7/7/3e3/7/7/7/4E2/7/7 w\n");
}

/// Editors on Windows begin a text with a byte order mark.
#[test]
fn byte_order_marks_are_skipped() {
    let fen = "7/7/3e3/7/7/7/3E3/7/7 w\n";
    let marked = |text: &str| format!("\u{feff}{text}");
    let convert = ["convert", "--from", "dsq", "--to", "katago"];
    assert_eq!(filter(&convert, &marked(fen)), fen);
    let lines = file("marked-lines", &marked(fen));
    assert_eq!(stdout(&[&convert[..], &["--file", lines.to_str().unwrap()]].concat()), fen);
    let saved = filter(&["convert", "--from", "dsq", "--to", "saved"], "7/7/3e3/7/7/7/3E3/7/7 w moves d3d4\n");
    assert!(filter(&["convert", "--from", "saved", "--to", "dsq"], &marked(&saved)).ends_with("moves d3d4\n"));
    let game = file("marked-game", &marked(&saved));
    stdout(&["analyze", "--game", game.to_str().unwrap(), "--depth", "1"]);
    let tables = tempfile::tempdir().unwrap();
    let tables = tables.path().to_str().unwrap();
    stdout(&["generate", "--pieces", "2", "--out", tables]);
    assert!(filter(&["probe", "--tables", tables, "-"], &marked(fen)).contains("in"));
    assert_eq!(filter(&["gtp"], &marked("1 name\nquit\n")), "=1 doushouqi\n\n= \n\n");
    // Two marks are not text.
    fails(2, &[&convert[..], &[&marked(fen)]].concat(), "");
}

#[test]
fn gtp_programs_play() {
    let session =
        filter(&["gtp", "--depth", "4", "--hash", "1MiB"], "1 name\nsetfen 7/3C3/7/7/7/7/4e2/7/7 w\ngenmove b\nquit\n");
    assert_eq!(session, "=1 doushouqi\n\n= \n\n= D8D9\n\n= \n\n");
    // The same engine plays the same game under every protocol.
    let play = |second: &str| {
        let save = file("games", "");
        std::fs::remove_file(&save).unwrap();
        let path = save.to_str().unwrap();
        let report = stdout(&[
            "match",
            "builtin:default,hash=1MiB",
            second,
            "--nodes",
            "500",
            "--games",
            "2",
            "--openings",
            "random:6:4",
            "--out",
            path,
            "--json",
        ]);
        let last: Json = serde_json::from_str(report.lines().last().unwrap()).unwrap();
        let players = last["players"].as_array().unwrap();
        assert!(players.iter().all(|side| side["crashes"] == 0 && side["illegal_moves"] == 0), "{report}");
        let records = Record::parse_all(&std::fs::read_to_string(&save).unwrap()).unwrap();
        records.iter().map(|record| record.game.moves().to_vec()).collect::<Vec<_>>()
    };
    let expected = play("builtin:default,hash=1MiB");
    assert_eq!(play(&format!("gtp:{DSQ} gtp --hash 1MiB")), expected);
    assert_eq!(play(&format!("gtp2:{DSQ} gtp --two-stage --hash 1MiB")), expected);
    fails(3, &["match", "builtin:random", "gtp:/does/not/exist", "--games", "2"], "cannot start");
}

#[test]
fn openings_come_from_files() {
    let book = file("book", "# two\n7/7/3e3/7/7/7/3E3/7/7 w id \"one\";\n7/7/3l3/7/7/7/3L3/7/7 b 4\n");
    let save = file("saved", "");
    std::fs::remove_file(&save).unwrap();
    let (book, path) = (book.to_str().unwrap(), save.to_str().unwrap());
    let common = ["match", "builtin:random", "builtin:random,seed=1", "--games", "6", "--nodes", "1"];
    stdout(&[&common[..], &["--openings", book, "--out", path]].concat());
    let starts = |path: &Path| -> Vec<String> {
        let records = Record::parse_all(&std::fs::read_to_string(path).unwrap()).unwrap();
        records.iter().map(|record| record.game.start_fen().to_string()).collect()
    };
    let [one, two] = ["7/7/3e3/7/7/7/3E3/7/7 w", "7/7/3l3/7/7/7/3L3/7/7 b 4"];
    assert_eq!(starts(&save), [one, one, two, two, one, one]);
    // Saved games are openings, too.
    let output = stdout(&[&common[..], &["--openings", path, "--opening-plies", "2"]].concat());
    assert!(output.contains(&format!("openings {path} (6)")), "{output}");
    fails(2, &[&common[..], &["--openings", "/does/not/exist"]].concat(), "there is no file");
    let over = file("over", "3E3/7/3e3/7/7/7/7/7/7 b\n");
    fails(2, &[&common[..], &["--openings", over.to_str().unwrap()]].concat(), "ends the game");
}

#[test]
fn biased_openings_are_built_in() {
    let players = ["match", "builtin:random", "builtin:random,seed=1", "--games", "2", "--nodes", "1", "--openings"];
    assert!(stdout(&[&players[..], &["biased"]].concat()).contains("openings biased (2032)"));
    // A file that `dsq-lab openings` wrote has such lines.
    let book = file("biased", "7/7/3e3/7/7/7/3E3/7/7 w ce 215;\n7/7/3l3/7/7/7/3L3/7/7 b ce -300;\n");
    assert!(stdout(&[&players[..], &[book.to_str().unwrap()]].concat()).contains(" (2)"));
}

#[test]
fn games_are_adjudicated() {
    let save = file("adjudicated", "");
    std::fs::remove_file(&save).unwrap();
    let path = save.to_str().unwrap();
    let common = [
        "match",
        "builtin:default,hash=1MiB",
        "builtin:random",
        "--games",
        "4",
        "--nodes",
        "300",
        "--out",
        path,
        "--json",
    ];
    let report = stdout(&[&common[..], &["--max-moves", "9", "--resign", "move-count=2,score=900"]].concat());
    let last: Json = serde_json::from_str(report.lines().last().unwrap()).unwrap();
    assert_eq!(last["terminations"]["adjudication"], 4, "{report}");
    for record in Record::parse_all(&std::fs::read_to_string(&save).unwrap()).unwrap() {
        assert_eq!(record.conclusion(), Conclusion::Adjudicated(None));
        assert_eq!(record.game.moves().len(), 18);
        assert!(record.tags.iter().any(|(name, text)| name == "Adjudication" && text.contains("9 moves")));
    }
    // Tables decide the endgame of two elephants.
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("formats-tables-{}", std::process::id()));
    stdout(&["generate", "--pieces", "2", "--out", dir.to_str().unwrap()]);
    let book = file("elephants", "7/7/3e3/7/7/7/3E3/7/7 w\n");
    let arguments = ["--openings", book.to_str().unwrap(), "--adjudicate-tables", dir.to_str().unwrap()];
    let report = stdout(&[&common[..], &arguments].concat());
    let last: Json = serde_json::from_str(report.lines().last().unwrap()).unwrap();
    assert_eq!((&last["terminations"]["adjudication"], &last["plies"]), (&Json::from(4), &Json::from(4)), "{report}");
    std::fs::remove_dir_all(&dir).unwrap();
    fails(2, &[&common[..], &["--draw", "score=5"]].concat(), "move-number=40");
}

/// A game as Mistboard exports it; `more` are further fields.
fn export(moves: &str, result: &str, termination: &str, more: &str) -> String {
    let ply = |(i, uci): (usize, &str)| {
        let mover = if i % 2 == 0 { "red" } else { "black" };
        format!(
            r#"{{"ply":{},"mover":"{mover}","uci":"{uci}","san":null,"red_clock_ms_after":600000,"black_clock_ms_after":null}}"#,
            i + 1
        )
    };
    let plies: Vec<String> = moves.split_whitespace().enumerate().map(ply).collect();
    format!(
        r#"{{"schema_version":"1.0","game_id":"jg_1","source":{{"name":"Mistboard","url":"https://mistboard.com","game_url":"https://mistboard.com/jungle/game/jg_1"}},"variant":"jungle","mode":"pvp","time_control":{{"initial_ms":600000,"increment_ms":5000,"label":"600+5"}},"players":{{"red":{{"handle":"Anna"}},"black":{{"handle":null}}}},"started_at":"2026-09-03T10:00:00.000Z","ended_at":"2026-09-03T10:10:00.000Z","result":"{result}","termination":"{termination}","ply_count":{},{more}"license":"CC BY 4.0","plies":[{}]}}"#,
        plies.len(),
        plies.join(",")
    )
}

fn gzip(text: &str) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

/// Games of sites are read from one line each, plain or compressed, by every command that reads games.
#[test]
fn games_of_sites_are_read() {
    let fen = r#""fen":"7/7/3e3/7/7/7/3E3/7/7 r 0 1","#;
    let dump = [
        export("g3f3 a7b7", "red", "resignation", ""),
        export("g3f3 a7b7 f3g3", "black", "timeout", ""),
        export("d3d4", "draw", "agreement", fen),
        export("g3f3", "unfinished", "abandoned", ""),
    ]
    .map(|game| game + "\n")
    .concat();
    let saved = filter(&["convert", "--from", "saved", "--to", "saved"], &dump);
    let records = Record::parse_all(&saved).unwrap();
    let ends: Vec<_> =
        records.iter().map(|record| (record.conclusion().result(), record.conclusion().termination())).collect();
    assert_eq!(ends, [("1-0", "resignation"), ("0-1", "time"), ("1/2-1/2", "adjudication"), ("*", "unfinished")]);
    let first = &records[0];
    // The board is mirrored, and the rules are the Chinese ones.
    assert_eq!(first.game.moves().iter().map(ToString::to_string).collect::<Vec<_>>(), ["a3b3", "g7f7"]);
    assert_eq!(
        (first.game.rules().options().preset_name(), first.game.no_capture_limit()),
        (Some("chinese"), Some(200))
    );
    assert_eq!((&*first.white, &*first.black, first.date.as_deref()), ("Anna", "", Some("2026.09.03")));
    assert!(first.tags.contains(&("Site".to_owned(), "https://mistboard.com/jungle/game/jg_1".to_owned())));
    let lines = filter(&["convert", "--from", "saved", "--to", "dsq"], &dump);
    assert_eq!(lines, filter(&["convert", "--from", "mistboard", "--to", "dsq"], &dump));
    assert_eq!(lines.lines().nth(2), Some("7/7/3e3/7/7/7/3E3/7/7 w moves d3d4"));

    let packed = std::env::temp_dir().join(format!("dsq-games-{}.jsonl.gz", std::process::id()));
    std::fs::write(&packed, gzip(&dump)).unwrap();
    let path = packed.to_str().unwrap();
    assert_eq!(stdout(&["convert", "--from", "saved", "--to", "dsq", "--file", path]), lines);
    assert!(stdout(&["analyze", "--game", path, "--number", "2", "--depth", "1"]).lines().count() >= 3);

    // What is wrong is one sentence with the line; the games before it are written.
    let other = export("h2e2", "red", "checkmate", "").replace("jungle", "xiangqi");
    let cut = &export("g3f3", "red", "resignation", "")[..400];
    let illegal = export("g3f3 g3f3", "red", "resignation", "");
    let outside = export("h3h4", "red", "resignation", "");
    let wrong = export("g3f3", "red", "den-entered", fen);
    for (line, words) in [
        (&*other, "line 2: a game of xiangqi, not of Jungle"),
        (cut, "line 2: the JSON is not a game of Mistboard, or is cut: EOF"),
        (
            r#"{"variant":"jungle"}"#,
            "line 2: the JSON is not a game of Mistboard, or is cut: a game has plies or moves",
        ),
        (r#"{"plies":[7]}"#, "line 2: the JSON is not a game of Mistboard"),
        (&illegal, "line 2: after ply 1: "),
        (&outside, "line 2: "),
        (&wrong, "line 2: after ply 0: "),
    ] {
        let text = format!("{}\n{line}\n", export("g3f3", "red", "resignation", ""));
        let damaged = file("dump", &text);
        let arguments = ["convert", "--from", "saved", "--to", "dsq", "--file", damaged.to_str().unwrap()];
        let output = dsq(&arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains(words), "{words}: {stderr}");
        assert_eq!(
            (stderr.lines().count(), String::from_utf8(output.stdout).unwrap().lines().count()),
            (1, 1),
            "{stderr}"
        );
    }
    let whole = gzip(&dump.repeat(50));
    std::fs::write(&packed, &whole[..whole.len() - 20]).unwrap();
    fails(2, &["convert", "--from", "saved", "--to", "dsq", "--file", path], "the compressed data (gzip) is");
    std::fs::remove_file(packed).unwrap();

    // A comment in braces is no JSON.
    let commented = filter(&["convert", "--from", "saved", "--to", "saved"], "{\"so\" it began} 1. Eb3 *\n");
    assert!(commented.contains("{\"so\" it began}"), "{commented}");
    let kydai = "[Red \"A\"]\n[Black \"B\"]\n[Variant \"Jungle\"]\n\n1. b2b3 b8b7 2. f2f3 f8f7 *\n";
    let moves = filter(&["convert", "--from", "saved", "--to", "dsq"], kydai);
    assert!(moves.ends_with(" moves f2f3 f8f7 b2b3 b8b7\n"), "{moves}");
}
