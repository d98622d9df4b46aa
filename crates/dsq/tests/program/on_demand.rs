//! `dsq probe --on-demand`, with two and three pieces instead of five and six.

use crate::dsq;

use doushouqi::board::{Position, Rules};
use dsq::{command, dsq, stdout};
use serde_json::Value as Json;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const POSITION: &str = "7/7/3el2/7/7/7/3E3/7/7 w";
const FOUR: &str = "7/7/3el2/7/7/7/3EP2/7/7 w";

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of letters")
}

fn tables(dir: &Path, pieces: &str) -> String {
    let tables = dir.join(pieces);
    assert!(dsq(&["generate", "--pieces", pieces, "--backend", "cpu", "--out", text(&tables)]).status.success());
    text(&tables).to_owned()
}

fn json(arguments: &[&str]) -> Json {
    serde_json::from_str(&stdout(arguments)).expect("one line of JSON")
}

/// The files of a cache, except the lock.
fn cached(cache: &str) -> Vec<String> {
    let names = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "lock").collect()
}

#[test]
fn answers_are_those_of_larger_tables() {
    let dir = tempfile::tempdir().unwrap();
    let (two, three) = (tables(dir.path(), "2"), tables(dir.path(), "3"));
    let cache = text(&dir.path().join("cache")).to_owned();
    let on_demand = ["probe", "--tables", &two, "--on-demand", "--cache", &cache];
    let run = |more: &[&str]| json(&[&on_demand[..], more, &["--json", POSITION]].concat());
    let mut wanted = json(&["probe", "--tables", &three, "--line", "--json", POSITION]);
    for _ in 0..2 {
        let mut answer = run(&["--line"]);
        assert_eq!(answer.as_object_mut().unwrap().remove("source"), Some("cache".into()));
        assert_eq!(answer, wanted);
    }
    assert_eq!(cached(&cache).len(), 1);
    wanted.as_object_mut().unwrap().remove("line");
    let mut answer = run(&["--all-moves"]);
    answer.as_object_mut().unwrap().remove("source");
    assert_eq!(answer, wanted);
    // A position in the tables needs no count.
    let small = json(&[&on_demand[..], &["--json", "7/7/3e3/7/7/7/3E3/7/7 w"]].concat());
    assert_eq!(small["source"], "tables");
    // A win in one needs no count.
    let empty = text(&dir.path().join("empty")).to_owned();
    let on_demand = ["probe", "--tables", &two, "--on-demand", "--cache", &empty, "7/3E3/7/7/7/e6/7/5l1/7 w"];
    let den = json(&[&on_demand[..], &["--json"]].concat());
    assert_eq!((&den["source"], &den["dtw"]), (&"search".into(), &1.into()));
    assert!(cached(&empty).is_empty());
    let shown = stdout(&on_demand);
    assert!(shown.contains("Ed9   win in 1 plies"), "{shown}");
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let two = tables(dir.path(), "2");
    let cache = text(&dir.path().join("cache")).to_owned();
    let fails = |code: i32, more: &[&str], words: &[&str]| {
        let output = dsq(&[&["probe", "--tables", &two, "--cache", &cache], more].concat());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(output.stdout.is_empty() && words.iter().all(|word| stderr.contains(word)), "{stderr}");
    };
    fails(2, &[POSITION], &["--on-demand"]);
    fails(2, &["--on-demand", FOUR], &["4 pieces", "at most 3"]);
    fails(3, &["--on-demand", "--line", "--memory", "0.05MiB", POSITION], &["of memory", "available"]);
    fails(3, &["--on-demand", "--line", "--cache-size", "0.001MiB", POSITION], &["of the cache"]);
    let output = dsq(&["probe", "--tables", &two, POSITION]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--on-demand"));
    let file = dir.path().join("file");
    fs::write(&file, "x").unwrap();
    let output = dsq(&["probe", "--tables", &two, "--on-demand", "--cache", text(&file), POSITION]);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A probe that waits for positions ends at the first signal.
#[cfg(unix)]
#[test]
fn a_signal_ends_a_probe_between_counts() {
    let dir = tempfile::tempdir().unwrap();
    let two = tables(dir.path(), "2");
    let cache = text(&dir.path().join("cache")).to_owned();
    let mut child = command(&["probe", "--tables", &two, "--on-demand", "--cache", &cache, "--json", "-"]);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    writeln!(child.stdin.as_mut().unwrap(), "{POSITION}").unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with('{'), "{line}");
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The engine plays one of the best moves in a position of a counted class, at any depth.
#[test]
fn the_engine_plays_from_the_cache() {
    let dir = tempfile::tempdir().unwrap();
    let two = tables(dir.path(), "2");
    let cache = text(&dir.path().join("cache")).to_owned();
    let positions = [
        POSITION,
        "7/7/3el2/7/7/7/3E3/7/7 b",
        "7/7/l2e3/7/7/7/3E3/7/7 w",
        "e6/7/5l1/7/7/7/2E4/7/7 b",
        "7/4e2/7/7/7/l6/7/5E1/7 b",
        "7/4l2/7/7/7/e6/7/5E1/7 b",
        "7/E6/7/7/7/e6/7/5l1/7 w",
    ];
    let probe = ["probe", "--tables", &two, "--on-demand", "--cache", &cache, "--all-moves", "--json"];
    let answers = stdout(&[&probe[..], &positions].concat());
    let answers: Vec<Json> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), positions.len());
    let uci = |commands: &str| {
        let mut child = command(&["uci"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(commands.as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    };
    // The moves that the engine plays after one `go` for each of these texts.
    let best_moves = |options: &str, searches: &[String]| -> Vec<String> {
        let searches = searches.iter().map(|search| format!("ucinewgame\n{search}\nwait\n"));
        let output = uci(&format!("{options}{}quit\n", searches.collect::<String>()));
        output.lines().filter_map(|line| line.strip_prefix("bestmove ")).map(str::to_owned).collect()
    };
    // The number of positions in which the engine plays a best move.
    let played = |options: &str| {
        let search = |fen: &&str| format!("position fen {fen}\nisready\ngo depth 1");
        let played = best_moves(options, &positions.iter().map(search).collect::<Vec<_>>());
        assert_eq!(played.len(), positions.len());
        let is_best = |((fen, answer), played): &((&&str, &Json), String)| {
            let moves = answer["moves"].as_array().unwrap();
            let position = Position::from_fen(fen).unwrap();
            let legal = position.moves(&Rules::default());
            let mv = legal.iter().find(|mv| mv.to_string() == *played).expect("a legal move");
            let chosen = moves.iter().find(|listed| listed["move"] == mv.notation(&position)).expect("it is listed");
            (&chosen["wdl"], &chosen["dtw"]) == (&moves[0]["wdl"], &moves[0]["dtw"])
        };
        positions.iter().zip(&answers).zip(played).filter(is_best).count()
    };
    let path = format!("setoption name TablePath value {two}\n");
    assert!(played(&path) < positions.len(), "the engine finds all without the cache, so these positions show nothing");
    let with_cache = format!("{path}setoption name OnDemandCache value {cache}\n");
    assert_eq!(played(&with_cache), positions.len());
    // The values choose among the moves that are to be searched.
    let position = Position::from_fen(POSITION).unwrap();
    let moves: Vec<String> = position.moves(&Rules::default()).iter().map(ToString::to_string).collect();
    let search = |mv: &String| format!("position fen {POSITION}\ngo depth 1 searchmoves {mv}");
    assert_eq!(best_moves(&with_cache, &moves.iter().map(search).collect::<Vec<_>>()), moves);
    let output = uci("setoption name OnDemandCache value x\nquit\n");
    assert!(output.contains("info string setoption: OnDemandCache needs the tables in TablePath"), "{output}");
    let results = text(&dir.path().join("results")).to_owned();
    stdout(&["repack", &two, "--wdl", "--out", &results, "--json"]);
    let output =
        uci(&format!("setoption name TablePath value {results}\nsetoption name OnDemandCache value x\nquit\n"));
    assert!(output.contains("without distances") && output.contains("dsq generate"), "{output}");
}

/// A kill at any time leaves no file with wrong answers, and the next count removes half-written files.
#[cfg(target_os = "linux")]
#[test]
fn a_kill_leaves_nothing_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let three = tables(dir.path(), "3");
    let [cache, whole] = ["cache", "whole"].map(|name| text(&dir.path().join(name)).to_owned());
    let probe = ["probe", "--tables", &three, "--on-demand", "--all-moves", "--json", FOUR, "--cache"];
    let run = |cache| [&probe[..], &[cache]].concat();
    let wanted = json(&run(&whole));
    let is_writing = || Path::new(&cache).exists() && cached(&cache).iter().any(|name| name.ends_with(".partial"));
    let (mut killed, mut while_writing) = (0, 0);
    // The kills that are wanted anyway may take as long as they like.
    let mut end = None;
    for step in (0..12).cycle() {
        if killed >= 8 {
            if while_writing >= 2 {
                break;
            }
            let end = *end.get_or_insert_with(|| Instant::now() + Duration::from_secs(60));
            assert!(Instant::now() < end, "{killed} kills, {while_writing} while the file was written");
        }
        let mut child = command(&run(&cache)).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        if step % 2 == 0 {
            sleep(Duration::from_millis(8 * step));
        } else {
            while !is_writing() && child.try_wait().unwrap().is_none() {
                sleep(Duration::from_millis(1));
            }
        }
        child.kill().unwrap();
        killed += usize::from(!child.wait().unwrap().success());
        while_writing += usize::from(is_writing());
        if Path::new(&cache).exists() {
            cached(&cache).iter().filter(|name| name.ends_with(".dsq")).for_each(|name| {
                let [found, whole] = [&cache, &whole].map(|dir| fs::read(Path::new(dir).join(name)).unwrap());
                assert!(found == whole, "a file under its name is whole");
                fs::remove_file(Path::new(&cache).join(name)).unwrap();
            });
        }
    }
    assert_eq!(json(&run(&cache)), wanted);
    assert_eq!(cached(&cache).len(), 1, "what the killed runs left is gone");
}
