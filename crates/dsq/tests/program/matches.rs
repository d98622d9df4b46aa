//! Matches: games through the program.

use crate::program::run as dsq;
use doushouqi::board::{Position, Rules};
use doushouqi::game::{Conclusion, Record};
use matches::{Openings, PlayerSpec, Sprt};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const DSQ: &str = env!("CARGO_BIN_EXE_dsq");

/// A time limit that only guards against hanging.
const PATIENCE: Duration = Duration::from_secs(120);

/// The objects that the program prints, one per line, and its stderr.
fn json(arguments: &[&str]) -> (Vec<Value>, String) {
    let output = dsq(arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    (stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect(), stderr)
}

fn failure(code: i32, arguments: &[&str]) -> String {
    let output = dsq(arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    stderr
}

fn file(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

fn records(path: &Path) -> Vec<Record> {
    Record::parse_all(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn openings_are_seeded_and_undecided() {
    let rules = Rules::default();
    let openings: Openings = "random:10:7".parse().unwrap();
    let moves = |o: &Openings, pair| o.game(2 * pair + 1, &rules, Some(100)).unwrap().moves().to_vec();
    let mut seen = std::collections::HashSet::new();
    for pair in 0..200 {
        let game = openings.game(2 * pair, &rules, Some(100)).unwrap();
        assert_eq!((game.moves().len(), game.end()), (10, None));
        assert_eq!(game.moves(), moves(&openings, pair));
        assert!(seen.insert(format!("{:?}", game.moves())));
    }
    assert_ne!(moves(&openings, 0), moves(&"random:10:8".parse().unwrap(), 0));
    assert!(moves(&Openings::Start, 3).is_empty());
    assert_eq!(openings.to_string().parse(), Ok(openings));
    for text in ["", "random", "random:8", "random:-1:1", "random:1000:1", "book.pgn", "start:1"] {
        assert!(text.parse::<Openings>().is_err(), "{text}");
    }
    let never = Openings::Random { plies: 50, seed: 1 };
    assert!(never.game(0, &rules, Some(10)).is_err());
}

#[test]
fn networks_that_cannot_be_used_are_named() {
    let path = file("network");
    let refused = |path: &str| {
        failure(2, &["match", &format!("builtin:default,network={path}"), "builtin:random", "--games", "1"])
    };
    let missing = refused("/no/such/network");
    assert!(missing.starts_with("dsq: cannot read /no/such/network: "), "{missing}");
    std::fs::write(&path, "1 2 3").unwrap();
    let wrong = refused(path.to_str().unwrap());
    assert!(wrong.contains(path.to_str().unwrap()) && wrong.contains("not a network"), "{wrong}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn players_are_named() {
    for text in [
        "builtin:default",
        "builtin:burnett,hash=1MiB,threads=2",
        "builtin:random,seed=5",
        "builtin:burnett-alphabeta",
        "builtin:default,contempt=20,hash=2MiB",
        "engine --uci 'a b'",
    ] {
        assert_eq!(text.parse::<PlayerSpec>().unwrap().name(), text);
    }
    for text in [
        "builtin:",
        "builtin:best",
        "builtin:default,hash=0MiB",
        "builtin:default,hash",
        "builtin:default,search=none",
        "builtin:default,tables=",
        "builtin:default,network=",
        "builtin:random,hash=1MiB",
        "",
        "'",
    ] {
        assert!(text.parse::<PlayerSpec>().is_err(), "{text}");
    }
}

fn without<'a>(object: &'a Value, names: &[&str]) -> Vec<(&'a String, &'a Value)> {
    object.as_object().unwrap().iter().filter(|(name, _)| !names.contains(&name.as_str())).collect()
}

/// A match limited by nodes has the same games, and the same bytes in its file, for any number of games at once.
#[test]
fn a_match_is_repeatable() {
    let run = |concurrency, name| {
        let path = file(name);
        let (lines, stderr) = json(&[
            "match",
            "builtin:default,hash=1MiB",
            "builtin:random",
            "--games",
            "12",
            "--nodes",
            "200",
            "--json",
            "--openings",
            "random:4:9",
            "--concurrency",
            concurrency,
            "--out",
            path.to_str().unwrap(),
        ]);
        assert!(stderr.is_empty(), "{stderr}");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        (lines, text)
    };
    let (one, file_one) = run("1", "match-1");
    let (three, file_three) = run("3", "match-3");
    assert_eq!(one[..12], three[..12]);
    assert_eq!(file_one, file_three);
    let timed = ["seconds", "players"];
    assert_eq!(without(&one[12], &timed), without(&three[12], &timed));

    // The fields that docs/json.md lists.
    let fields = |object: &Value| object.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(fields(&one[0]), "black detail game llr plies result termination white");
    assert_eq!(
        fields(&one[12]),
        "complete draws elo elo_error games los losses nelo nelo_error openings pairs players plies score seconds sprt \
         terminations wins"
    );
    assert_eq!(
        fields(&one[12]["players"][0]),
        "crashes depth illegal_moves longest_milliseconds milliseconds_per_move moves nodes_per_second player time_losses"
    );

    // The summary is the sum of the games.
    let records = Record::parse_all(&file_one).unwrap();
    assert_eq!(records.len(), 12);
    let mut points = Vec::new();
    for (i, (record, line)) in records.iter().zip(&one).enumerate() {
        assert_eq!(line["game"], i + 1);
        assert_eq!(line["result"], record.conclusion().result());
        assert_eq!(line["termination"], record.conclusion().termination());
        assert_eq!(line["plies"], record.game.moves().len());
        assert_eq!(line["white"] == "builtin:random", i % 2 == 1, "the colours are exchanged");
        assert_eq!((&line["white"], &line["black"]), (&record.white.clone().into(), &record.black.clone().into()));
        assert!(matches!(record.conclusion(), Conclusion::Rules(_)));
        assert_eq!(record.tags[0], ("Round".to_owned(), (i + 1).to_string()));
        let white = match record.conclusion().result() {
            "1-0" => 2,
            "0-1" => 0,
            _ => 1,
        };
        points.push(if i % 2 == 0 { white } else { 2 - white });
        // Pairs have one opening.
        assert_eq!(record.game.moves()[..4], records[i / 2 * 2].game.moves()[..4]);
    }
    let count = |n: usize| points.iter().filter(|p| **p == n).count();
    let summary = &one[12];
    assert_eq!(summary["wins"], count(2));
    assert_eq!(summary["draws"], count(1));
    assert_eq!(summary["losses"], count(0));
    let pairs: Vec<usize> = (0..5).map(|n| points.chunks(2).filter(|pair| pair[0] + pair[1] == n).count()).collect();
    assert_eq!(summary["pairs"], serde_json::json!(pairs));
    let score = points.iter().sum::<usize>() as f64 / 24.0;
    assert!((summary["score"].as_f64().unwrap() - score).abs() < 1e-12);
    assert_eq!(summary["complete"], true);
}

/// The same command continues a match: the games of its file are not played again, wherever they are missing, and games of
/// another match do not count.
#[test]
fn a_match_continues_from_its_file() {
    let path = file("resumed");
    let run = |nodes: &str, concurrency: &str| {
        let out = path.to_str().unwrap();
        let common = ["match", "builtin:default,hash=1MiB", "builtin:random", "--games", "10", "--json", "--out", out];
        let (lines, stderr) = json(
            &[&common[..], &["--nodes", nodes, "--openings", "random:4:9", "--concurrency", concurrency]].concat(),
        );
        (lines, stderr, std::fs::read_to_string(&path).unwrap())
    };
    let (whole, stderr, text) = run("200", "1");
    assert!(whole.len() == 11 && stderr.is_empty(), "{stderr}");
    let records = records(&path);
    let write = |numbers: &[usize]| {
        let text = |&i: &usize| records[i].to_text().unwrap() + "\n";
        std::fs::write(&path, numbers.iter().map(text).collect::<String>()).unwrap();
    };
    let timed = ["seconds", "players"];
    for (kept, concurrency) in
        [(&[0, 1, 2][..], "1"), (&[0, 1, 2], "3"), (&[5, 2], "2"), (&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], "1")]
    {
        write(kept);
        let (lines, stderr, again) = run("200", concurrency);
        assert!(stderr.contains(&format!("{} of 10 games of this match are in ", kept.len())), "{stderr}");
        let missing: Vec<usize> = (0..10).filter(|i| !kept.contains(i)).collect();
        let played: Vec<usize> =
            lines[..lines.len() - 1].iter().map(|line| line["game"].as_u64().unwrap() as usize - 1).collect();
        assert_eq!(played, missing);
        assert_eq!(without(lines.last().unwrap(), &timed), without(&whole[10], &timed), "{kept:?}");
        if kept.is_sorted() {
            assert_eq!(again, text, "{kept:?}");
        }
    }
    // Another run would mix its games with those of this one.
    let held = std::fs::File::open(&path).unwrap();
    held.lock().unwrap();
    let out = path.to_str().unwrap();
    let same = ["match", "builtin:random", "builtin:random", "--out", out];
    assert!(failure(3, &same).contains("another run writes it"));
    drop(held);
    // A match with other limits is another one.
    write(&[0, 1, 2]);
    let (lines, stderr, _) = run("100", "1");
    assert!(lines.len() == 11 && stderr.is_empty(), "{stderr}");
    std::fs::write(&path, &text[..text.len() / 2]).unwrap();
    assert!(failure(2, &same).contains("within"));
    std::fs::remove_file(path).unwrap();
}

/// Random movers play until the SPRT decides, after the same number of games at any concurrency.
#[test]
fn a_test_ends_a_match() {
    let run = |concurrency| {
        let (lines, _) = json(&[
            "match",
            "builtin:random",
            "builtin:random,seed=1",
            "--games",
            "5000",
            "--depth",
            "1",
            "--json",
            "--sprt",
            "-100,100",
            "--concurrency",
            concurrency,
        ]);
        let (summary, games) = lines.split_last().unwrap();
        assert_eq!(summary["games"], games.len());
        assert!(games.len() < 5000 && games.len().is_multiple_of(2));
        let sprt = &summary["sprt"];
        assert!(sprt["decision"].is_string() && sprt["nelo0"] == -100.0 && sprt["nelo1"] == 100.0);
        assert!(sprt["llr"].as_f64().unwrap().abs() >= Sprt::BOUND);
        // Each game has the ratio after it: games within a pair do not change it.
        assert!(games[0]["llr"] == 0.0 && games[games.len() - 1]["llr"] == sprt["llr"]);
        assert!(games.chunks(2).all(|pair| pair[0]["llr"].as_f64().unwrap().abs() < Sprt::BOUND));
        games.to_vec()
    };
    assert_eq!(run("1"), run("2"));
    // The hypotheses without a value.
    let (lines, _) =
        json(&["match", "builtin:random", "builtin:random", "--games", "2", "--depth", "1", "--json", "--sprt"]);
    let sprt = &lines[2]["sprt"];
    assert!(sprt["nelo0"] == 0.0 && sprt["nelo1"] == 4.0 && sprt["decision"].is_null(), "{sprt}");
}

/// Other programs: correct ones and faulty ones.
#[cfg(unix)]
mod programs {
    use super::*;

    /// A UCI program as a shell script that runs `go` on the command `go`.
    fn script(go: &str) -> String {
        let loop_ = format!(
            "while read -r line; do case \"$line\" in uci) echo \"option name Foo type string\"; echo uciok;; isready) echo readyok;; \
             quit) exit;; go*) {go};; esac; done"
        );
        format!("sh -c '{}'", loop_.replace('\'', "'\\''"))
    }

    fn against(program: &str, more: &[&str]) -> (Vec<Value>, String) {
        let mut arguments = vec!["match", "builtin:random", program, "--games", "4", "--json"];
        arguments.extend(more);
        json(&arguments)
    }

    #[test]
    fn illegal_moves_lose() {
        for go in
            ["echo bestmove d1d2", "echo bestmove 0000", "echo bestmove", "echo bestmove a3a9", "echo bestmove ééé"]
        {
            let path = file("illegal");
            let (lines, stderr) = against(&script(go), &["--depth", "1", "--out", path.to_str().unwrap()]);
            let summary = &lines[4];
            assert_eq!(summary["wins"], 4, "{go}");
            assert_eq!(summary["players"][1]["illegal_moves"], 4);
            assert_eq!(summary["terminations"], serde_json::json!({"illegal-move": 4}));
            assert_eq!(stderr.lines().filter(|line| line.contains("illegal-move")).count(), 4, "{stderr}");
            for record in records(&path) {
                assert_eq!(record.conclusion().termination(), "illegal-move");
            }
            std::fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn crashes_lose_and_the_program_is_started_again() {
        let (lines, stderr) = against(&script("exit 3"), &["--depth", "1"]);
        assert_eq!(lines[4]["players"][1]["crashes"], 4);
        assert_eq!(lines[4]["wins"], 4);
        assert!(stderr.contains("exit status: 3"), "{stderr}");
    }

    #[test]
    fn time_losses() {
        // A legal move, but after its move time or its clock.
        let late = script("sleep 0.3; echo bestmove a3b3");
        for limit in [["--movetime", "50"], ["--tc", "0.1+0.05"]] {
            let arguments = ["match", &late, "builtin:random", "--games", "1", "--openings", "start", "--json"];
            let (lines, stderr) = json(&[&arguments[..], &limit].concat());
            assert_eq!(lines[0]["termination"], "time");
            assert_eq!((&lines[0]["plies"], &lines[1]["losses"]), (&Value::from(0), &Value::from(1)));
            assert_eq!(lines[1]["players"][0]["time_losses"], 1);
            assert!(stderr.contains(" ms "), "{stderr}");
        }
        // No move at all.
        let arguments = ["match", "builtin:random", &script("true"), "--games", "1", "--movetime", "500", "--json"];
        let (lines, _) = json(&arguments);
        assert_eq!(lines[1]["players"][1]["time_losses"], 1);
        let arguments =
            ["match", "builtin:random", &script("true"), "--games", "1", "--depth", "1", "--patience", "1", "--json"];
        let (lines, _) = json(&arguments);
        let player = &lines[1]["players"][1];
        assert_eq!((&player["time_losses"], &player["moves"]), (&Value::from(1), &Value::from(0)));
        // A move that never came has no time.
        assert_eq!(player["milliseconds_per_move"], 0.0);
        assert!(player["longest_milliseconds"].as_f64().unwrap() >= 1000.0);
    }

    /// The end of a program that hangs also ends the programs that it has started.
    #[test]
    fn programs_behind_a_script_end_with_it() {
        let path = file("child");
        let go = format!("sleep 300 & echo $! >> {}; wait", path.display());
        let arguments = ["match", &script(&go), "builtin:random", "--games", "2", "--movetime", "500", "--json"];
        assert_eq!(json(&arguments).0[2]["players"][0]["time_losses"], 2);
        for child in std::fs::read_to_string(&path).unwrap().lines() {
            let ended = || !std::process::Command::new("kill").args(["-0", child]).output().unwrap().status.success();
            let deadline = Instant::now() + PATIENCE;
            while !ended() {
                assert!(Instant::now() < deadline, "{child} still runs");
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn programs_that_do_not_start() {
        assert!(failure(3, &["match", "builtin:random", "/no/such/program"]).contains("/no/such/program"));
        assert!(failure(3, &["match", "true", "builtin:random"]).contains("ended"));
        let stderr = failure(2, &["match", "builtin:random", &script("true"), "--b-option", "Hash=1"]);
        assert!(stderr.contains("Foo"), "{stderr}");
        failure(2, &["match", "builtin:random", &script("true"), "--b-option", "Hash"]);
        failure(2, &["match", "builtin:random", "builtin:random", "--b-option", "Hash=1"]);
    }

    /// A signal ends a match whose program has not answered the first command, however long it may take.
    #[test]
    fn a_match_is_stopped_before_it_begins() {
        let started = file("started");
        let program = format!("sh -c 'read -r line; echo > {}; sleep 600'", started.display());
        let arguments = ["match", &program, "builtin:random", "--games", "2", "--depth", "1", "--patience", "86400"];
        let mut child = Command::new(DSQ).args(arguments).stderr(Stdio::piped()).spawn().unwrap();
        let deadline = Instant::now() + PATIENCE;
        while !started.exists() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        while child.try_wait().unwrap().is_none() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{stderr}");
        assert!(stderr.contains("stopped before the first game"), "{stderr}");
        std::fs::remove_file(started).unwrap();
    }

    /// After both signals the finished games are in the file.
    #[test]
    fn a_stopped_match_keeps_its_games() {
        for signal in ["-INT", "-TERM"] {
            let path = file(&format!("stopped{signal}"));
            let arguments = [
                "match",
                "builtin:random",
                "builtin:random",
                "--games",
                "10000000",
                "--depth",
                "1",
                "--out",
                path.to_str().unwrap(),
            ];
            let mut child =
                Command::new(DSQ).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let deadline = Instant::now() + PATIENCE;
            while std::fs::metadata(&path).map_or(0, |m| m.len()) < 10_000 && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(5));
            }
            assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
            let status = child.wait().unwrap();
            assert_eq!(status.code(), Some(130));
            let output = child.wait_with_output().unwrap();
            let games = records(&path).len();
            assert!(games > 0);
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(text.starts_with(&format!("builtin:random against builtin:random: {games} games")), "{text}");
            assert!(String::from_utf8(output.stderr).unwrap().contains("stopped after"));
            std::fs::remove_file(path).unwrap();
        }
    }
}

/// A game that does not fit on the disk leaves a file of whole games, and the games before it count.
#[cfg(unix)]
#[test]
fn a_full_disk_keeps_the_games_and_the_result() {
    let path = file("full");
    let save = path.to_str().unwrap();
    let players = ["match", "builtin:random", "builtin:random", "--depth", "1", "--out", save];
    // The limit on the size of files stands for the disk: both fail in the middle of a game.
    let full = "trap '' XFSZ; ulimit -f 16; exec \"$@\"";
    let arguments = [&players[..], &["--games", "100", "--json"]].concat();
    let output = Command::new("sh").args(["-c", full, "sh", DSQ]).args(arguments).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("cannot write"), "{stderr}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    let summary: Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
    let saved = records(&path).len();
    assert!(saved > 0 && summary["games"] == saved + 1 && summary["complete"] == false, "{saved}: {summary}");
    // The match goes on from there.
    assert_eq!(dsq(&[&players[..], &["--games", &(saved + 1).to_string()]].concat()).status.code(), Some(0));
    assert_eq!(records(&path).len(), saved + 1);

    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.trim_end()).unwrap();
    assert!(failure(2, &[&players[..], &["--games", "1"]].concat()).contains("ends within a line"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text.trim_end());
    std::fs::remove_file(path).unwrap();
}

#[test]
fn match_refuses() {
    let players = ["match", "builtin:random", "builtin:random"];
    let with = |more: &[&'static str]| failure(2, &[&players[..], more].concat());
    assert!(with(&["--openings", "book"]).contains("random:8:1"));
    assert!(with(&["--openings", "random:200:1", "--no-capture-limit", "1"]).contains("fewer"));
    for bounds in ["5,0", "0", "0,201", "0,x", "--json"] {
        assert!(with(&["--sprt", bounds]).contains("-4,0 for a simplification"), "{bounds}");
    }
    with(&["--games", "0"]);
    with(&["--depth", "3", "--nodes", "4"]);
    with(&["--tc", "3+0.1", "--nodes", "4"]);
    with(&["--tc", "-1"]);
    with(&["--concurrency", "0"]);
    failure(2, &["match", "builtin:random"]);
    assert!(failure(2, &["match", "builtin:random", "builtin:fish"]).contains("default"));
    let stderr = failure(3, &["match", "builtin:random", "builtin:random", "--out", "/no/such/folder/games.txt"]);
    assert!(stderr.contains("/no/such/folder"), "{stderr}");
}

/// Only some of the random openings can be played: the games before the first that cannot count, at any concurrency.
#[test]
fn an_opening_that_cannot_be_played_ends_a_match() {
    let summary = |concurrency: &str| {
        let players = ["match", "builtin:random", "builtin:random", "--games", "40", "--depth", "1", "--json"];
        let openings = ["--openings", "random:100:1", "--no-capture-limit", "30", "--concurrency", concurrency];
        let output = dsq(&[&players[..], &openings].concat());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && stderr.contains("use fewer plies"), "{stderr}");
        let stdout = String::from_utf8(output.stdout).unwrap();
        let summary: Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
        assert_eq!(summary["complete"], false);
        summary["games"].as_u64().unwrap()
    };
    let games = summary("1");
    assert!((1..40).contains(&games), "{games}");
    assert_eq!(summary("3"), games);
}

/// The rules and the limit reach the games.
#[test]
fn rules_of_a_match() {
    let path = file("rules");
    json(&[
        "match",
        "builtin:random",
        "builtin:random",
        "--games",
        "6",
        "--depth",
        "1",
        "--json",
        "--rules",
        "chinese",
        "--no-capture-limit",
        "30",
        "--out",
        path.to_str().unwrap(),
    ]);
    for record in records(&path) {
        assert_eq!(record.game.rules().options().preset_name(), Some("chinese"));
        assert_eq!(record.game.no_capture_limit(), Some(30));
        assert_eq!(record.game.positions()[0], Position::start());
        let longest = record.game.moves().len();
        assert!(longest >= 8 && record.game.halfmove_clock() <= 30);
    }
    std::fs::remove_file(path).unwrap();
}

/// Our own program plays the same moves over UCI as the built-in engine, and receives the rules.
#[test]
fn a_program_plays_as_the_built_in_engine() {
    let program = format!("'{DSQ}' uci");
    let run = |player: &str, options: &[&str], name: &str| {
        let path = file(name);
        let arguments = ["match", player, "builtin:random", "--games", "4", "--nodes", "300", "--json"];
        let more = ["--rules", "chinese", "--no-capture-limit", "40", "--out", path.to_str().unwrap()];
        let (lines, stderr) = json(&[&arguments[..], &more, options].concat());
        assert!(stderr.is_empty(), "{stderr}");
        let moves: Vec<_> = records(&path).iter().map(|record| record.game.moves().to_vec()).collect();
        std::fs::remove_file(path).unwrap();
        (lines[4].clone(), moves)
    };
    let (by_protocol, games) = run(&program, &["--a-option", "Hash=1"], "by-protocol");
    let (built_in, same_games) = run("builtin:default,hash=1MiB", &[], "built-in");
    assert_eq!(games, same_games);
    assert_eq!(by_protocol["pairs"], built_in["pairs"]);
    let side = &by_protocol["players"][0];
    assert_eq!((&side["crashes"], &side["illegal_moves"], &side["time_losses"]), (&0.into(), &0.into(), &0.into()));
    assert!(side["depth"].as_f64().unwrap() >= 1.0 && side["nodes_per_second"].as_f64().unwrap() > 0.0);
    // Each move within its time, or within its clock.
    for limit in [["--movetime", "10"], ["--tc", "0.5+0.01"]] {
        let arguments = ["match", &program, "builtin:random", "--games", "2", "--margin", "1000", "--json"];
        let (lines, _) = json(&[&arguments[..], &limit].concat());
        assert_eq!(lines[2]["players"][0]["time_losses"], 0, "{}", lines[2]);
    }
}

/// The tables of a program are for the rules of the match, and its remarks on options are shown.
#[test]
fn a_program_receives_the_rules_before_its_options() {
    let tables = tempfile::tempdir().unwrap();
    let dir = tables.path().to_str().unwrap();
    assert_eq!(dsq(&["generate", "--pieces", "2", "--rules", "chinese", "--out", dir]).status.code(), Some(0));
    let remarks = |rules: &str| {
        let (program, option) = (format!("'{DSQ}' uci"), format!("TablePath={dir}"));
        let arguments = ["match", &program, "builtin:random", "--games", "1", "--depth", "1", "--json"];
        json(&[&arguments[..], &["--rules", rules, "--a-option", &option]].concat()).1
    };
    let accepted = remarks("chinese");
    assert!(accepted.contains("up to 2 pieces") && !accepted.contains("setoption"), "{accepted}");
    let refused = remarks("paper");
    assert!(refused.contains("uci: setoption: ") && refused.contains("holds tables for the rules"), "{refused}");
}

/// A directory in place of a file is not missing and not wrong: it cannot be read.
#[cfg(unix)]
#[test]
fn the_same_fault_has_the_same_code() {
    let network = "builtin:default,network=/";
    let commands: [&[&str]; 6] = [
        &["analyze", "--game", "/"],
        &["convert", "--from", "dsq", "--to", "katago", "--file", "/"],
        &["match", "builtin:random", "builtin:random", "--openings", "/"],
        &["match", network, "builtin:random"],
        &["play", "--white", network, "--black", "builtin:random"],
        &["bench", "--evaluation", "/"],
    ];
    for command in commands {
        assert!(failure(3, command).starts_with("dsq: cannot read /: "), "{command:?}");
    }
}

/// A network in a file evaluates as the same network built in; part of a file is an error.
#[test]
fn a_network_in_a_file_evaluates() {
    let networks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src/search/eval");
    let mut files = std::fs::read_dir(networks).unwrap().map(|entry| entry.unwrap().path());
    let network = files.find(|path| path.extension().is_some_and(|extension| extension == "nnue")).unwrap();
    let network = network.to_str().unwrap();
    let bench = |more: &[&str]| json(&[&["bench", "--depth", "6", "--json"], more].concat()).0[0]["nodes"].clone();
    // OpenBench reads the last line.
    let printed = String::from_utf8(dsq(&["bench", "--depth", "6"]).stdout).unwrap();
    let last: Vec<&str> = printed.lines().last().unwrap().split(' ').collect();
    let [nodes, "nodes", speed, "nps"] = last[..] else { panic!("{printed}") };
    assert_eq!(nodes.parse::<u64>().unwrap(), bench(&[]));
    assert!(speed.parse::<u64>().is_ok(), "{printed}");
    let nodes = ["paper", "chinese"].map(|rules| {
        let with = |evaluation: &str| bench(&["--evaluation", evaluation, "--rules", rules]);
        assert_ne!(with(network), with("burnett"), "{rules}");
        with(network) == with("default")
    });
    assert!(nodes[0] || nodes[1], "each network is built in for rules");
    let player = format!("builtin:default,hash=1MiB,network={network}");
    let (lines, _) = json(&["match", &player, "builtin:random", "--games", "2", "--nodes", "200", "--json"]);
    assert!(lines[2]["players"][0]["illegal_moves"] == 0, "{}", lines[2]);

    let cut = file("cut");
    std::fs::write(&cut, &std::fs::read(network).unwrap()[..1000]).unwrap();
    let cut = cut.to_str().unwrap();
    let stderr = failure(2, &["match", &format!("builtin:default,network={cut}"), "builtin:random"]);
    assert!(stderr.contains("it has 1000 bytes"), "{stderr}");
    assert!(failure(2, &["bench", "--evaluation", cut]).contains("it has 1000 bytes"));
    std::fs::remove_file(cut).unwrap();
}

/// Counts and durations of 0 that would do nothing.
#[test]
fn zero_is_refused() {
    let commands: [&[&str]; 14] = [
        &["bench", "endgames", "--positions", "0"],
        &["bench", "endgames", "--movetime", "0"],
        &["bench", "endgames", "--nodes", "0"],
        &["match", "builtin:random", "builtin:random", "--games", "0"],
        &["match", "builtin:random", "builtin:random", "--tc", "0+0"],
        &["match", "builtin:random", "builtin:random", "--tc", "0+0.1"],
        &["analyze", "--game", "x", "--number", "0"],
        &["perft", "2", "--memory", "0GiB"],
        &["bench", "compare", "--pieces", "2", "--classes", "0"],
        &["generate", "--pieces", "2", "--out", "x", "--memory", "0GiB"],
        &["generate", "--pieces", "3", "--out", "x", "--stats-only", "--minutes", "0"],
        &["solve", "--pieces", "2", "--dry-run", "--bandwidth", "0GiB"],
        &["verify", "x", "--memory", "0GiB"],
        &["cluster", "solve", "EvE", "--tables", "x", "--memory", "0GiB"],
    ];
    for command in commands {
        let stderr = failure(2, command);
        assert!(stderr.contains('0'), "{command:?}: {stderr}");
    }
}
