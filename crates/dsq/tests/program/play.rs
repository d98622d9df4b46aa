//! Playing in the terminal, and analysis.

use doushouqi::board::{Color, Fen, Position, Rules};
use doushouqi::game::{Conclusion, Forfeit, ForfeitReason, Game, Record};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs the program, which keeps games in a folder of the tests.
fn dsq(arguments: &[&str], input: &[u8]) -> Output {
    dsq_in(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("state"), arguments, input)
}

/// Runs the program, which keeps games in the folder `state`.
fn dsq_in(state: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dsq"))
        .args(arguments)
        .env_remove("CLICOLOR_FORCE")
        .env("XDG_STATE_HOME", state)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("dsq runs");
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // The program may end before it has read all input.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn play(arguments: &[&str], input: &str) -> String {
    play_in(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("state"), arguments, input)
}

fn play_in(state: &Path, arguments: &[&str], input: &str) -> String {
    let output = dsq_in(state, &[&["play"], arguments].concat(), input.as_bytes());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.is_empty(), "{stderr}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains('\u{1b}'), "no colours where there is no terminal");
    text
}

fn failure(code: i32, arguments: &[&str]) -> String {
    let output = dsq(arguments, b"");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    stderr
}

fn json(arguments: &[&str]) -> Vec<Value> {
    let output = dsq(arguments, b"");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn file(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

fn read(path: &Path) -> Vec<Record> {
    Record::parse_all(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn save(path: &Path, record: &Record) {
    std::fs::write(path, format!("{}\n", record.to_text().unwrap())).unwrap();
}

fn game(fen: &str, moves: &str) -> Game {
    let mut game = Game::new(Position::from_fen(fen).unwrap(), Rules::default(), Some(100));
    for word in moves.split_whitespace() {
        game.play(game.parse(word).unwrap()).unwrap();
    }
    game
}

const PEOPLE: [&str; 4] = ["--white", "human", "--black", "human"];
const START: &str = "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w";

#[test]
fn two_people_play() {
    let path = file("people");
    let name = path.to_str().unwrap();
    let text = play(&PEOPLE, &format!("Eb3\na7b7\nfen\nundo\nfen\nrb7\nmoves\nsave {name}\nquit\nEb3\n"));
    assert!(text.contains("White plays Eb3") && text.contains("Black plays Rb7"), "{text}");
    let fens: Vec<&str> = text.lines().filter(|line| line.len() > 20 && line.contains("/7/")).collect();
    assert_eq!(
        fens,
        ["l5t/1d3c1/1rp1w1e/7/7/7/1EW1P1R/1C3D1/T5L w 2", "l5t/1d3c1/r1p1w1e/7/7/7/1EW1P1R/1C3D1/T5L b 1"]
    );
    let records = read(&path);
    assert_eq!(records[0].game.moves(), game(START, "Eb3 rb7").moves());
    assert_eq!(records[0].conclusion(), Conclusion::Unfinished);
    assert_eq!((&*records[0].white, &*records[0].black), ("human", "human"));
    let moves = text.lines().find(|line| line.contains("Rg2")).unwrap();
    assert_eq!(moves.split_whitespace().count(), game(START, "Eb3 rb7").legal_moves().len());

    // The game continues from the file, which keeps its moves.
    let text = play(&[&PEOPLE[..], &["--game", name]].concat(), &format!("Ea3\nresign\nsave {name}\nundo\nRb6\n"));
    assert!(text.contains("Black wins (resignation)") || text.contains("White wins (resignation)"), "{text}");
    assert!(text.contains("Black plays Rb6"), "giving up is taken back: {text}");
    let records = read(&path);
    assert_eq!(records.len(), 2);
    let given_up = Forfeit { loser: Color::Black, reason: ForfeitReason::Resignation };
    assert_eq!(records[1].conclusion(), Conclusion::Forfeit(given_up));
    assert_eq!(records[1].game.moves().len(), 3);
    let text = play(&PEOPLE, &format!("load {name}\nEb3\n"));
    assert!(text.contains("White wins (resignation)") && text.contains("the game is over"), "{text}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn the_engine_answers() {
    let text = play(&["--nodes", "500"], "hint\neval\nEb3\nundo\nEb3\nundo\nundo\n");
    assert_eq!(text.matches("White plays Eb3").count(), 2, "{text}");
    assert_eq!(text.matches("Black plays").count(), 2, "{text}");
    assert!(text.contains(" for White, depth "), "{text}");
    assert!(text.contains("no move to take back"), "{text}");
    // As White the engine moves first, and the board is shown from Black's side.
    let text = play(&["--white", "builtin:random", "--black", "human", "--depth", "1"], "");
    assert!(text.starts_with("1 "), "{text}");
    assert!(text.contains("White plays"), "{text}");
    // The engine plays both sides to the end.
    let text = play(&["--white", "builtin:default", "--black", "builtin:random", "--nodes", "300"], "");
    assert!(text.lines().last().unwrap().contains("White wins ("), "{text}");
}

/// The file of the games that a player has left, and the text of `play` with more commands.
fn left(name: &str, arguments: &[&str], input: &str) -> (String, PathBuf) {
    let state = file(name);
    let text = play_in(&state, arguments, input);
    (text, state.join("dsq/games.txt"))
}

/// A game that is left by `quit`, the end of the input, `new` or `load` is kept, and the printed command goes on with it.
#[test]
fn a_game_that_is_left_is_kept() {
    for (i, end) in ["quit\n", "", "new\nquit\n"].into_iter().enumerate() {
        let (text, kept) = left(&format!("left-{i}"), &PEOPLE, &format!("Eb3\nrb7\n{end}"));
        let records = read(&kept);
        assert_eq!((records.len(), records[0].game.moves()), (1, game(START, "Eb3 rb7").moves()), "{text}");
        let command = text.lines().find_map(|line| line.strip_prefix("the game is saved; to go on with it: dsq play "));
        let words = shlex::split(command.expect(&text)).unwrap();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert!(play(&words, "fen\n").contains("l5t/1d3c1/1rp1w1e/7/7/7/1EW1P1R/1C3D1/T5L w 2"));
        std::fs::remove_dir_all(kept.parent().unwrap().parent().unwrap()).unwrap();
    }
    // A game in a file, or without moves, is not kept once more.
    let path = file("left-saved");
    for input in [String::new(), "Eb3\nundo\n".to_owned(), format!("Eb3\nsave {}\n", path.display())] {
        let (text, kept) = left("left-nothing", &PEOPLE, &input);
        assert!(!text.contains("to go on") && !kept.exists(), "{text}");
    }
    let (text, kept) = left("left-load", &PEOPLE, &format!("Eb3\nload {}\nresign\n", path.display()));
    assert_eq!(text.matches("to go on with it").count(), 2, "{text}");
    assert!(matches!(read(&kept)[..], [ref one, ref two] if one.forfeit.is_none() && two.forfeit.is_some()));
    std::fs::remove_dir_all(kept.parent().unwrap().parent().unwrap()).unwrap();
    // Where nothing can be written, the game itself is printed.
    let state = file("left-nowhere");
    std::fs::write(&state, "").unwrap();
    let output = dsq_in(&state, &[&["play"], &PEOPLE[..]].concat(), b"Eb3\n");
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8(output.stdout).unwrap().contains("1. Eb3 *"));
    std::fs::remove_file(state).unwrap();
    std::fs::remove_file(path).unwrap();
}

/// Ctrl-C keeps the game, while a person thinks and while the engine thinks.
#[cfg(unix)]
#[test]
fn an_interrupted_game_is_kept() {
    use std::io::{BufRead, BufReader};
    let engines = ["--white", "builtin:random", "--black", "builtin:default,hash=1MiB", "--movetime", "3600000"];
    for (i, arguments) in [&PEOPLE[..], &engines].into_iter().enumerate() {
        let state = file(&format!("interrupted-{i}"));
        let mut child = Command::new(env!("CARGO_BIN_EXE_dsq"))
            .arg("play")
            .args(arguments)
            .env("XDG_STATE_HOME", &state)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"Eb3\n").unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // After the move comes the board, whose last line names the side to move.
        lines.find(|line| line.as_ref().unwrap().contains("White plays")).unwrap().unwrap();
        lines.find(|line| line.as_ref().unwrap().contains("Black to move")).unwrap().unwrap();
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{stderr}");
        assert!(stderr.starts_with("dsq: interrupted; the game is saved; to go on with it: dsq play "), "{stderr}");
        assert_eq!(read(&state.join("dsq/games.txt"))[0].game.moves().len(), 1);
        std::fs::remove_dir_all(state).unwrap();
    }
}

/// After a draw by repetition or by the limit, `on` goes on without that rule, and the game can be saved and loaded.
#[test]
fn a_drawn_game_goes_on() {
    let path = file("on");
    let cycle = "f2e2\nf8e8\ne2f2\ne8f8\n";
    let input = format!("{0}{0}Eb3\non\n{0}{0}Eb3\non\nsave {1}\n", cycle, path.display());
    let text = play(&PEOPLE, &input);
    assert!(text.contains("a draw (repetition)") && text.contains("the game is over: on, undo"), "{text}");
    assert!(text.contains("the game is not drawn"), "the second `on` has nothing to do: {text}");
    let records = read(&path);
    assert_eq!(records[0].game.moves().len(), 17);
    let text = play(&[&PEOPLE[..], &["--no-capture-limit", "2"]].concat(), "Eb3\nrb7\nEa3\non\nEa3\n");
    assert!(text.contains("a draw (no-capture)") && text.contains("White plays Ea3"), "{text}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn what_is_no_move_is_no_loss() {
    let input = "foo\nfoo bar\na3a9\nEb4\nsave\nload\nsave /no/such/folder/file\nload /no/such/file\nhelp\n\n?\nflip\nnew\n\nfen\nmoves\ngame\n";
    let text = play(&PEOPLE, input);
    for part in [
        "is not a move",
        "is not a command",
        "not legal",
        "a name is missing",
        "/no/such/folder",
        "take back",
        "[Rules ",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert!(text.contains(START));
    let output = dsq(&["play", "--depth", "1"], b"\xff\xfe\nEb3\n");
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("UTF-8") && text.contains("White plays Eb3"), "{text}");
    // The command does not overwrite another file.
    let path = file("other");
    std::fs::write(&path, "letters\n").unwrap();
    let text = play(&PEOPLE, &format!("save {0}\nload {0}\n", path.display()));
    assert!(text.contains("not a file of games") && text.contains("line 1"), "{text}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "letters\n");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_game_ends() {
    let fen = "2C4/7/7/7/7/7/7/7/r6 w";
    let text =
        play(&["--fen", fen, "--white", "human", "--black", "human"], "Cd9\nrb1\nhint\neval\nresign\nundo\nCb9\n");
    assert!(text.contains("White wins (den)") && text.contains("the game is over"), "{text}");
    assert!(text.contains("there is no move") && text.contains("White plays Cb9"), "{text}");
    let text = play(&["--white", "human", "--black", "human", "--no-capture-limit", "2"], "Eb3\nrb7\n");
    assert!(text.contains("a draw (no-capture)"), "{text}");
}

#[test]
fn play_refuses() {
    failure(2, &["play", "--white", "builtin:fish"]);
    failure(2, &["play", "--fen", "7/7 w"]);
    failure(2, &["play", "--depth", "1", "--nodes", "1"]);
    failure(2, &["play", "--game", "/no/such/file"]);
    failure(3, &["play", "--black", "/no/such/program"]);
    failure(2, &["play", "--black", "builtin:default,tables=/no/such/folder", "--rules", "bridge"]);
}

#[test]
fn analysis_of_a_position() {
    let report = &json(&["analyze", "--depth", "5", "--multipv", "3", "--hash", "1MiB", "--json"])[0];
    assert_eq!(report["fen"], START);
    assert_eq!(report["end"], Value::Null);
    let lines = report["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 3);
    let names: Vec<&String> = lines[0].as_object().unwrap().keys().collect();
    assert_eq!(names, ["depth", "move", "nodes", "pv", "score", "seconds", "seldepth", "tbhits"]);
    for line in lines {
        assert_eq!(line["depth"], 5);
        assert_eq!(line["move"], line["pv"][0]);
        let mut game = game(START, "");
        for word in line["pv"].as_array().unwrap() {
            game.play(game.parse(word.as_str().unwrap()).unwrap()).unwrap();
        }
        assert!(
            line["score"]["cp"].is_i64() && line["score"]["win_in"].is_null() && line["score"]["loss_in"].is_null()
        );
    }
    let scores: Vec<i64> = lines.iter().map(|line| line["score"]["cp"].as_i64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");

    let report = &json(&["analyze", "--depth", "3", "--fen", "2C4/7/7/7/7/7/7/7/r6 w", "--json"])[0];
    assert_eq!(
        report["lines"][0]["score"],
        serde_json::json!({"cp": null, "win_in": 1, "loss_in": null, "win_within": 1, "loss_within": null})
    );
    let report = &json(&["analyze", "--depth", "3", "--fen", "3C3/7/7/7/7/7/7/7/r6 b", "--json"])[0];
    assert_eq!((&report["end"], &report["lines"]), (&"den".into(), &serde_json::json!([])));

    let output = dsq(&["analyze", "--nodes", "1000"], b"");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("  1. ") && text.contains("depth "), "{text}");
}

#[test]
fn analysis_of_a_game() {
    let path = file("analysis");
    // White could enter the den at once, but enters it a move later; Black only waits.
    let mut record = Record::new(game("2C4/7/7/7/7/7/7/r6/6E w", "Cb9 ra1 Cc9 ra2 Cd9"));
    record.white = "Anna".to_owned();
    save(&path, &record);
    let name = path.to_str().unwrap();
    let lines = json(&["analyze", "--game", name, "--depth", "6", "--hash", "1MiB", "--json"]);
    assert_eq!(lines.len(), 5);
    let names: Vec<&String> = lines[0].as_object().unwrap().keys().collect();
    assert_eq!(names, ["best", "best_score", "depth", "fen", "loss", "move", "ply", "pv", "score"]);
    assert_eq!((&lines[0]["move"], &lines[0]["best"]), (&"Cb9".into(), &"Cd9".into()));
    assert_eq!(lines[0]["best_score"]["win_in"], 1);
    assert_eq!(lines[0]["score"]["win_in"], 5, "the same win, four plies later");
    assert_eq!(lines[0]["loss"], Value::Null);
    assert_eq!(
        (&lines[4]["move"], &lines[4]["loss"], &lines[4]["score"]["win_in"]),
        (&"Cd9".into(), &0.into(), &1.into())
    );
    let positions = record.game.positions().iter().zip(0..);
    let fens = positions.map(|(position, clock)| Fen { position: position.clone(), halfmove_clock: clock }.to_string());
    assert!(lines.iter().map(|line| line["fen"].as_str().unwrap().to_owned()).eq(fens.take(5)));

    let output = dsq(&["analyze", "--game", name, "--depth", "2"], b"");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("Anna - Black\n") && text.trim_end().ends_with("White wins (den)"), "{text}");
    assert!(text.contains("better Cd9"), "{text}");
    assert!(failure(2, &["analyze", "--game", name, "--number", "2"]).contains("1 games"));
    std::fs::write(&path, "[White \"a\"]\n\nEb3 Eb3 *\n").unwrap();
    assert!(failure(2, &["analyze", "--game", name]).contains("line 3"));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn analysis_refuses() {
    failure(2, &["analyze", "--fen", "7/7 w"]);
    failure(2, &["analyze", "--multipv", "0"]);
    failure(2, &["analyze", "--game", "a", "--fen", START]);
    failure(2, &["analyze", "--game", "/no/such/file"]);
    failure(2, &["analyze", "--number", "2"]);
}

/// With tables the engine wins by the shortest way, and only under the rules of the tables.
#[test]
fn endgame_tables_are_used() {
    let tables = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("play-tables-{}", std::process::id()));
    let dir = tables.to_str().unwrap();
    json(&["generate", "--pieces", "2", "--out", dir, "--json"]);
    let fen = "7/7/3e3/7/7/7/3E3/7/7 w";
    let probe = &json(&["probe", "--tables", dir, fen, "--json"])[0];
    let report = &json(&["analyze", "--fen", fen, "--tables", dir, "--depth", "2", "--json"])[0];
    let line = &report["lines"][0];
    assert!(line["tbhits"].as_u64().unwrap() > 0, "{line}");
    let key = if probe["wdl"] == "win" { "win_in" } else { "loss_in" };
    assert_eq!(line["score"][key], probe["dtw"]);

    // A search that captures into the tables knows the result, and an upper bound of the distance.
    let wins = "7/7/3p3/3T3/7/7/7/c6/7 w";
    let report = &json(&["analyze", "--fen", wins, "--tables", dir, "--depth", "4", "--json"])[0];
    let score = &report["lines"][0]["score"];
    assert!(score["cp"].is_null() && score["win_within"].is_u64(), "{score}");

    let refused = failure(2, &["analyze", "--tables", dir, "--rules", "chinese"]);
    assert!(refused.contains("shore=elephant-safe") && refused.contains("shore=none"), "{refused}");
    let player = format!("builtin:default,hash=1MiB,tables={dir}");
    assert!(failure(2, &["match", &player, "builtin:random", "--rules", "chinese"]).contains("shore=none"));
    assert!(failure(2, &["play", "--white", &player, "--rules", "chinese"]).contains("shore=none"));
    let text = play(&["--white", &player, "--black", &player, "--fen", fen, "--depth", "2"], "");
    let plies = text.matches(" plays ").count();
    assert_eq!(plies, probe["dtw"], "{text}");

    let output = dsq(
        &["uci"],
        format!(
            "setoption name TablePath value {dir}\nsetoption name Rules value chinese\n\
        setoption name Rules value paper\nposition fen {fen}\ngo depth 6\nwait\n"
        )
        .as_bytes(),
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("for other rules"), "{text}");
    let plies = probe["dtw"].as_u64().unwrap();
    let mate = if probe["wdl"] == "win" {
        format!("score mate {} ", plies.div_ceil(2))
    } else {
        format!("score mate -{} ", plies.div_ceil(2))
    };
    assert!(text.contains(&mate) && !text.contains("tbhits 0 "), "{text}");
    std::fs::remove_dir_all(tables).unwrap();
}

/// Every command that takes a FEN uses the halfmove clock or refuses it, and refuses any other text.
#[test]
fn halfmove_clocks_are_used_or_refused() {
    const LION: &str = "7/7/3L3/7/7/7/7/7/r6 w";
    let clock = |plies: u32| format!("{LION} {plies}");
    let report = |fen: &str| json(&["analyze", "--fen", fen, "--depth", "6", "--hash", "1MiB", "--json"]).remove(0);
    assert_eq!(report(&clock(0))["fen"], LION);
    assert_eq!(report(&clock(97))["fen"], clock(97));
    assert_eq!(report(&clock(97))["lines"][0]["score"]["win_in"], 3);
    assert_eq!(report(&clock(98))["lines"][0]["score"]["win_in"], Value::Null);
    assert_eq!(report(&clock(100))["end"], "no-capture");
    let start = clock(98);
    let shown = play(&[&PEOPLE[..], &["--fen", &start]].concat(), "fen\nLd8\nfen\nra2\n");
    assert!(shown.contains(&clock(98)) && shown.contains("7/3L3/7/7/7/7/7/7/r6 b 99"), "{shown}");
    assert!(shown.contains("a draw (no-capture)"), "{shown}");
    for command in [&["perft", "2", "--fen"][..], &["probe", "--tables", "tables"]] {
        for fen in [&clock(17), &format!("{LION} garbage"), &format!("{LION} - - 17 1")] {
            let output = dsq(&[command, &[fen]].concat(), b"");
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{command:?} {fen}: {stderr}");
        }
    }
    assert!(failure(2, &["perft", "2", "--fen", &clock(17)]).contains("halfmove clock (17)"));
    assert_eq!(report(&format!("{LION} - - 97 49"))["fen"], clock(97));
    for fen in [format!("{LION} garbage"), format!("{LION} - 0 1"), format!("{LION} 17 1 1")] {
        assert!(failure(2, &["analyze", "--depth", "1", "--fen", &fen]).contains("halfmove clock"), "{fen}");
        failure(2, &["play", "--fen", &fen]);
    }
}
