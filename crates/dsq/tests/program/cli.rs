//! The program as a user runs it.

use crate::help;
use crate::program::{command, failure, folder, is_progress, json, stdout};
use report::text::progress_figures;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

fn fields(object: &Value) -> Vec<&str> {
    object.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn without_seconds(mut object: Value) -> Value {
    object.as_object_mut().unwrap().remove("seconds").expect("the time is told");
    object
}

/// Every error begins in the same way, those of the argument parser too; help and version are no errors.
#[test]
fn errors_begin_with_the_name_of_the_program() {
    for arguments in [&["perft", "x"][..], &["perft"], &["nothing"], &["match", "builtin:x", "y"]] {
        let stderr = failure(2, arguments);
        assert!(stderr.starts_with("dsq: ") && !stderr.contains("error: "), "{stderr}");
    }
    assert!(failure(2, &["perft"]).contains("Usage: dsq perft"));
    assert!(failure(2, &["cluster"]).contains("Usage: dsq cluster"));
    assert!(stdout(&["--version"]).starts_with("dsq ") && stdout(&["perft", "--help"]).contains("Usage: dsq perft"));
}

#[test]
fn reproduce_agrees_or_explains() {
    let folder = folder("reproduce");
    let lines = json(&["reproduce", "--json", "--out", folder.to_str().unwrap()]);
    let (closing, cells) = lines.split_last().unwrap();
    assert_eq!(cells.len(), 48);
    for cell in cells {
        assert_eq!(fields(cell), ["column", "computed", "note", "printed", "row", "table", "verdict"]);
        assert_eq!(cell["printed"] == cell["computed"], cell["verdict"] == "agrees", "{cell}");
        assert_eq!(cell["verdict"] == "explained", cell["note"].is_string() && cell["column"] != "move", "{cell}");
    }
    let find = |row: &str, column: &str| cells.iter().find(|c| c["row"] == row && c["column"] == column).unwrap();
    let leaves = find("5", "leaves");
    assert_eq!(leaves["table"], 1);
    assert_eq!(leaves["printed"], 5_098_477);
    assert_eq!(leaves["computed"], 5_098_477);
    assert_eq!(leaves["note"], Value::Null);
    assert_eq!(find("5", "plain perft")["computed"], 5_111_725);
    assert_eq!(find("7", "evaluation")["computed"], 3);
    assert_eq!(find("4 no-move=draw", "wins")["computed"], 5_468_840_343u64);
    assert_eq!(find("4 no-move=loss", "wins")["computed"], 5_468_841_113u64);
    assert_eq!(find("4 no-move=loss", "losses")["verdict"], "agrees");
    assert_eq!(find("4 no-move=loss", "longest")["computed"], 118);
    let expected = serde_json::json!({"verdict": "explained", "cells": 48, "agree": 36, "explained": 12, "differ": 0});
    assert_eq!(without_seconds(closing.clone()), expected);

    let written = std::fs::read_to_string(folder.join("reproduction.json")).unwrap();
    let written: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(written["cells"].as_array().unwrap(), cells);
    assert_eq!(written["summary"], expected);
    for field in ["date", "commit", "cpu", "instructions", "version"] {
        assert!(written[field].as_str().is_some_and(|text| !text.is_empty()), "{field}");
    }
    let markdown = std::fs::read_to_string(folder.join("reproduction.md")).unwrap();
    for text in ["1,890,415,534", "5,468,841,113 *", "Reproduced: 48 cells, 36 agree, 12 explained, 0 differ"] {
        assert!(markdown.contains(text), "{text} is not in\n{markdown}");
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "temporary files are left");
    std::fs::remove_dir_all(folder).unwrap();
}

/// The error comes at once, not after the work.
#[test]
fn reproduce_says_where_it_cannot_write() {
    let folder = folder("no-folder");
    let file = folder.join("file");
    std::fs::write(&file, "").unwrap();
    let stderr = failure(3, &["reproduce", "--out", file.to_str().unwrap()]);
    assert!(stderr.contains(file.to_str().unwrap()), "{stderr}");
    std::fs::remove_dir_all(folder).unwrap();
}

const PERFT_FIELDS: [&str; 9] =
    ["adapter", "cpu", "depth", "method", "nodes", "nodes_per_second", "repetition", "seconds", "threads"];

#[test]
fn perft_counts() {
    for (depth, nodes) in [("0", 1), ("1", 24), ("2", 576), ("3", 12_240), ("4", 260_100), ("5", 5_111_725)] {
        let lines = json(&["perft", depth, "--json"]);
        assert_eq!(lines.len(), 1);
        assert_eq!(fields(&lines[0]), PERFT_FIELDS);
        assert_eq!(lines[0]["nodes"], nodes);
        assert_eq!(lines[0]["depth"].to_string(), depth);
    }
    assert_eq!(json(&["perft", "5", "--repetition", "leaf", "--json"])[0]["nodes"], 5_098_477);
    let in_parts = &json(&["perft", "7", "--memory", "1MiB", "--threads", "2", "--json"])[0];
    assert_eq!(in_parts["nodes"], 1_908_483_421);
    assert_eq!((&in_parts["threads"], &in_parts["repetition"]), (&2.into(), &"expand".into()));
    let leaf = &json(&["perft", "6", "--repetition", "leaf", "--json"])[0];
    assert_eq!(leaf["nodes"], 99_860_517);
    assert_eq!(json(&["perft", "4", "--threads", "1", "--json"])[0]["nodes"], 260_100);
    let text = stdout(&["perft", "4"]);
    assert!(text.starts_with("perft 4: 260,100 nodes in "), "{text}");
    assert!(text.ends_with(" nodes per second (merged: equal positions are expanded once)\n"), "{text}");
    let fen = "7/7/3e3/7/7/7/3E3/7/7 w";
    assert_eq!(json(&["perft", "1", "--fen", fen, "--json"])[0]["nodes"], 4);
}

/// The speed names the method, which can be chosen.
#[test]
fn perft_names_what_it_counts() {
    for (repetition, nodes, default) in [("expand", 5_111_725, "merged"), ("leaf", 5_098_477, "two-plies")] {
        let arguments = ["perft", "5", "--repetition", repetition, "--json"];
        assert_eq!(json(&arguments)[0]["method"], default);
        for method in ["made", "bulk", "two-plies", "merged"] {
            let arguments = ["perft", "5", "--repetition", repetition, "--method", method, "--json"];
            if (repetition, method) == ("leaf", "merged") {
                assert!(failure(2, &arguments).contains("choose --method two-plies"));
                continue;
            }
            let report = &json(&arguments)[0];
            assert_eq!((&report["nodes"], &report["method"]), (&nodes.into(), &method.into()));
        }
    }
    let text = stdout(&["perft", "3", "--method", "bulk"]);
    assert!(text.ends_with(" nodes per second (bulk: the last ply is counted, not made)\n"), "{text}");
    for method in ["made", "merged"] {
        let stderr = failure(2, &["perft", "3", "--backend", "gpu", "--method", method]);
        assert!(stderr.contains("a GPU counts with --method bulk"), "{stderr}");
    }
}

#[test]
fn perft_divides() {
    for mode in ["expand", "leaf"] {
        let report = &json(&["perft", "5", "--divide", "--repetition", mode, "--json"])[0];
        assert!(fields(report).into_iter().filter(|field| *field != "moves").eq(PERFT_FIELDS));
        let moves = report["moves"].as_array().unwrap();
        assert_eq!(moves.len(), 24);
        assert!(moves.iter().any(|m| m["move"] == "Eb3"), "{moves:?}");
        let sum: u64 = moves.iter().map(|m| m["nodes"].as_u64().unwrap()).sum();
        assert_eq!(report["nodes"], sum);
        assert_eq!(sum, if mode == "leaf" { 5_098_477 } else { 5_111_725 });
    }
    let text = stdout(&["perft", "2", "--divide"]);
    assert_eq!(text.lines().count(), 25);
    assert!(text.lines().any(|line| line.split_whitespace().eq(["Eb3", "24"])), "{text}");
}

#[test]
fn perft_refuses() {
    let start = "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L";
    assert!(failure(2, &["perft", "3", "--fen", start]).contains("side to move"));
    assert!(failure(2, &["perft", "3", "--fen", "7/7 w"]).contains("9 ranks"));
    assert!(failure(2, &["perft", "3", "--fen", "7/7/7/7/7/7/7/7/7 w"]).contains("no piece"));
    assert!(failure(2, &["perft", "3", "--fen", ""]).contains("empty"));
    for arguments in [
        &["perft", "3", "--threads", "0"][..],
        &["perft", "3", "--threads", "many"],
        &["perft", "14"],
        &["perft", "-1"],
        &["perft"],
        &["perft", "3", "--repetition", "never"],
        &["reproduce", "--threads", "0"],
        &["solve", "--pieces", "3", "--threads", "0"],
        &["nothing"],
        &[],
    ] {
        failure(2, arguments);
    }
}

#[test]
fn solve_counts() {
    let lines: Vec<Value> = json(&["solve", "--pieces", "3", "--json"]).into_iter().map(without_seconds).collect();
    let two = serde_json::json!({
        "pieces": 2, "positions": 160_068, "no_move": 0, "wins": 82_852, "losses": 64_501, "draws": 12_715, "longest": 34
    });
    let three = serde_json::json!({
        "pieces": 3, "positions": 54_355_896, "no_move": 1_212,
        "wins": 30_297_857, "losses": 23_369_820, "draws": 687_007, "longest": 67
    });
    assert_eq!(lines, [two, three]);
    let text = stdout(&["solve", "--pieces", "2", "--threads", "1"]);
    assert!(text.contains("160,068") && text.contains("82,852"), "{text}");
}

#[test]
fn solve_one_material() {
    let solve = |material| {
        let lines = json(&["solve", "--material", material, "--json"]);
        assert_eq!(lines.len(), 1);
        assert_eq!(fields(&lines[0]), ["black_to_move", "class", "material", "seconds", "white_to_move"]);
        without_seconds(lines[0].clone())
    };
    let lion = solve("LRvEP");
    assert_eq!(lion["material"], "LRvEP");
    for order in ["rlvpe", "RLvPE", "lrVEp"] {
        assert_eq!(solve(order), lion, "{order}");
    }
    // The same class with the colours exchanged, and under other names.
    let elephant = solve("EPvLR");
    assert_eq!(elephant["class"], lion["class"]);
    assert_eq!(elephant["white_to_move"], lion["black_to_move"]);
    assert_eq!(elephant["black_to_move"], lion["white_to_move"]);
    assert_eq!(elephant["white_to_move"]["longest"], 118);
    for material in ["ECvTR", "EDvLR", "EWvTR"] {
        let other = solve(material);
        assert_eq!(other["material"], material);
        for field in ["class", "white_to_move", "black_to_move"] {
            assert_eq!(other[field], elephant[field], "{material}");
        }
    }
    let w = &elephant["white_to_move"];
    let sum = ["wins", "losses", "draws", "no_move"].iter().map(|f| w[f].as_u64().unwrap()).sum::<u64>();
    assert_eq!(w["positions"], sum);
}

#[test]
fn solve_refuses() {
    assert!(failure(2, &["solve", "--material", "EPLR"]).contains("EPvLR"));
    assert!(failure(2, &["solve", "--material", "EXvLR"]).contains("ELTPDWCR"));
    assert!(failure(2, &["solve", "--material", "EEvR"]).contains("two"));
    assert!(failure(2, &["solve", "--material", "Ev"]).contains("no animal"));
    assert!(failure(2, &["solve", "--material", "ELTPvLTPD"]).contains("at most"));
    failure(2, &["solve"]);
    failure(2, &["solve", "--pieces", "1"]);
    failure(2, &["solve", "--pieces", "7"]);
    failure(2, &["solve", "--pieces", "2", "--material", "EvR"]);
    let stderr = failure(2, &["solve", "--pieces", "2", "--rules", "shore=wet"]);
    assert!(stderr.contains("elephant-safe, none, no-exit"), "{stderr}");
    let stderr = failure(2, &["perft", "2", "--rules", "bridge"]);
    assert!(stderr.contains("paper, cazaux, bodlaender, quadibloc, bell, chinese"), "{stderr}");
    let stderr = failure(2, &["perft", "2", "--rules", "paper,castling=yes"]);
    assert!(stderr.contains("tiger-leap") && stderr.contains("no-move"), "{stderr}");
}

/// Other rules give other numbers.
#[test]
fn rules_matter() {
    let level = |rules| without_seconds(json(&["solve", "--pieces", "2", "--rules", rules, "--json"])[0].clone());
    assert_ne!(level("paper"), level("chinese"));
    assert_eq!(level("paper"), level("paper,repetition=none"));
    assert_eq!(level("cazaux"), level("shore=none"));
}

#[test]
fn help_has_examples() {
    for (arguments, example) in [
        (&["--help"][..], "dsq solve --material EPvLR"),
        (&["help"], "Exit codes"),
        (&["reproduce", "--help"], "Examples:"),
        (&["perft", "--help"], "Examples:"),
        (&["solve", "--help"], "Examples:"),
        (&["generate", "--help"], "Examples:"),
        (&["probe", "--help"], "Examples:"),
        (&["verify", "--help"], "Examples:"),
        (&["stats", "--help"], "Examples:"),
        (&["solve", "-h"], "Examples:"),
        (&["uci", "--help"], "go movetime 1000"),
        (&["play", "--help"], "Examples:"),
        (&["match", "--help"], "--sprt 0,10"),
        (&["analyze", "--help"], "Examples:"),
        (&["help", "solve"], "no-move=draw|loss"),
    ] {
        let text = stdout(arguments);
        assert!(text.contains(example), "{arguments:?}:\n{text}");
    }
    assert!(stdout(&["--version"]).starts_with("dsq "));
}

/// The end of a pipe whose reader has left.
#[cfg(unix)]
fn closed() -> std::io::PipeWriter {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer
}

/// On a slow machine commands write progress, which the tests tell from errors.
#[test]
fn lines_of_progress_are_no_errors() {
    for (done, all, unit) in
        [(12, 42, "classes"), (0, 42, "games"), (3, 0, "games"), (7 << 30, 0, "games"), (12, 100, "%")]
    {
        let figures = progress_figures(done, all, Duration::from_secs(120), unit);
        assert!(is_progress(&format!("dsq: {figures}")) && is_progress(&format!("dsq: EvL: {figures}\n")), "{figures}");
    }
    for line in
        ["dsq: a/b.dsq: its checksum is wrong", "warning: 3/4", "dsq: 1/2-1/2 is no result", "dsq: /tmp is full"]
    {
        assert!(!is_progress(line), "{line}");
    }
}

/// The reader of the output may stop at any time, as `head` does. Then a command has no result, and help is nothing to
/// fail with.
#[cfg(unix)]
#[test]
fn closed_output_needs_no_message() {
    for (code, arguments) in [
        (141, &["perft", "6", "--divide"][..]),
        (141, &["solve", "--pieces", "3"]),
        (0, &["solve", "--help"]),
        (0, &["--help"]),
    ] {
        let output = command(arguments).stdout(closed()).output().expect("dsq runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.is_empty(), "{arguments:?}: {stderr}");
    }
}

/// A quick benchmark, its file, and the page made of it.
#[test]
fn benchmark() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().to_str().unwrap();
    let all = &json(&["bench", "machine", "--quick", "--backend", "cpu", "--threads", "2", "--out", at, "--json"])[0];
    assert!(all["machine"]["compiler"].as_str().unwrap().starts_with("rustc "));
    let speeds = all["speeds"].as_array().unwrap();
    let tasks: Vec<_> = speeds.iter().map(|s| (s["task"].as_str().unwrap(), s["threads"].as_u64().unwrap())).collect();
    let search = "search to depth 10";
    let perft = [1, 2].map(|threads| [("perft 6, bulk", threads), ("perft 7, merged", threads)]).concat();
    assert_eq!(tasks, [&perft[..], &[("solving 3 pieces", 2), (search, 1), (search, 2)]].concat());
    assert_eq!((&speeds[0]["count"], &speeds[1]["count"]), (&100_459_989u64.into(), &1_908_483_421u64.into()));
    assert_eq!(speeds[4]["count"], 10_675_992);
    assert!(speeds.iter().all(|speed| speed["seconds"].as_f64().unwrap() > 0.0), "{speeds:?}");
    // The page is made from files that other commands write.
    assert!(failure(2, &["bench", "report", at]).contains("perft.jsonl"));
    let write = |name: &str, lines: &str| std::fs::write(dir.path().join(name), lines).unwrap();
    write("perft.jsonl", &stdout(&["perft", "4", "--json"]));
    write("endgames.jsonl", &stdout(&["solve", "--pieces", "3", "--json"]));
    write("tables.jsonl", "{\"name\":\"2 pieces\",\"by_plies\":[10,20,5],\"bytes\":2000}\n");
    stdout(&["bench", "report", at]);
    let page = std::fs::read_to_string(dir.path().join("figures.md")).unwrap();
    assert!(
        page.contains("260,100") && page.contains("| perft 7, merged | cpu | 2 | 1,908,483,421 | nodes |"),
        "{page}"
    );
    for plot in ["perft.svg", "solving.svg", "plies.svg", "endgames-size.svg"] {
        assert!(page.contains(plot) && std::fs::read_to_string(dir.path().join(plot)).unwrap().starts_with("<svg"));
    }
    write("tables.jsonl", "{}");
    assert!(failure(2, &["bench", "report", at]).contains("tables.jsonl, line 1"));
}

#[test]
fn vector_instructions_that_are_not_there_are_an_error() {
    let counted = |level: &str| command(&["perft", "3"]).env("DSQ_CPU", level).output().expect("dsq runs");
    for (level, code) in [("portable", 0), ("", 0), ("sse9", 2)] {
        let output = counted(level);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{level}: {stderr}");
        assert_eq!(
            stderr.starts_with(&format!("dsq: DSQ_CPU={level}: here it may be portable")),
            code == 2,
            "{stderr}"
        );
    }
}

#[test]
fn help_lists_every_command_in_its_group() {
    help::lists_every_command_in_its_group(&[
        ("Play", "play"),
        ("Endgame tables", "probe"),
        ("Measure", "perft"),
        ("Study", "reproduce"),
    ]);
}

#[test]
fn shells_complete_and_every_command_has_a_manual_page() {
    help::completes_and_describes_every_command(20);
}

/// A signal ends commands that do not expect one with the exit code of an interruption.
#[cfg(unix)]
#[test]
fn a_signal_has_one_exit_code() {
    for (arguments, input) in [(&["uci"][..], "isready\n"), (&["solve", "--pieces", "5", "--backend", "cpu"], "")] {
        for signal in ["-INT", "-TERM"] {
            let mut child = command(arguments);
            let child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
            let mut child = child.unwrap();
            let mut stdin = child.stdin.take().unwrap();
            stdin.write_all(input.as_bytes()).unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
            assert!(!line.is_empty(), "{arguments:?} has started");
            assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(130), "{arguments:?} {signal}");
            assert_eq!(String::from_utf8_lossy(&output.stderr), "dsq: interrupted\n");
        }
    }
}

/// If the reader of the output has left, the result is missing: the exit code is that of SIGPIPE, without a message.
/// Without a reader of the messages the exit code stays the same.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_success() {
    for arguments in [&["solve", "--pieces", "2", "--backend", "cpu"][..], &["perft", "3"], &["uci"]] {
        let mut child = command(arguments);
        let mut child = child.stdin(Stdio::piped()).stdout(closed()).stderr(Stdio::piped()).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(b"uci\n");
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), &output.stderr[..]), (Some(141), &b""[..]), "{arguments:?}");
    }
    let status = command(&["probe", "nonsense"]).stdout(Stdio::null()).stderr(closed()).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

/// Signals that are ignored when the program starts stay ignored: SIGHUP under nohup, SIGINT in a background job of a
/// script. SIGTERM ends the program.
#[cfg(unix)]
#[test]
fn ignored_signals_stay_ignored() {
    let mut child = Command::new("sh");
    child.args(["-c", "trap '' HUP INT; exec \"$0\" uci", env!("CARGO_BIN_EXE_dsq")]);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id().to_string();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut is_ready = || {
        stdin.write_all(b"isready\n").unwrap();
        let mut line = String::new();
        while stdout.read_line(&mut line).unwrap() > 0 && line != "readyok\n" {
            line.clear();
        }
        line == "readyok\n"
    };
    for signal in ["-HUP", "-INT", "-HUP", "-INT"] {
        assert!(is_ready(), "before {signal}");
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }
    assert!((0..1000).all(|_| is_ready()));
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
}

#[test]
fn the_reference_describes_every_command() {
    help::agrees_with_the_reference("reference.md");
}

/// Sizes have a unit everywhere; the error names it.
#[test]
fn sizes_have_a_unit() {
    for command in [&["analyze"][..], &["gtp"], &["serve"]] {
        for wrong in ["64", "0MiB", "100GiB"] {
            let stderr = failure(2, &[command, &["--hash", wrong]].concat());
            assert!(stderr.contains("MiB"), "{stderr}");
        }
    }
}

/// `dsq help COMMAND` and `dsq COMMAND --help` print the same, also for subcommands.
#[test]
fn help_of_a_command() {
    for command in [&["perft"][..], &["cluster", "solve"], &["bench"], &[]] {
        assert_eq!(stdout(&[&["help"], command].concat()), stdout(&[command, &["--help"]].concat()));
    }
    assert!(failure(2, &["help", "nothing"]).contains("unrecognized subcommand"));
    assert!(failure(2, &["help", "--man"]).contains("--out"));
}
