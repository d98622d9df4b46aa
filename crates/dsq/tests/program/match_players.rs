//! Matches between players of all kinds, under all rules, and the players that a match refuses.

use crate::dsq::dsq;
use doushouqi::board::{RuleOption, RuleOptions};
use doushouqi::game::random::Random;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const DSQ: &str = env!("CARGO_BIN_EXE_dsq");

const PRESETS: [&str; 6] = ["paper", "cazaux", "bodlaender", "quadibloc", "bell", "chinese"];

/// A player of each kind.
fn players() -> [String; 7] {
    let builtin = |name: &str| format!("builtin:{name},hash=1MiB");
    [
        format!("'{DSQ}' uci"),
        format!("gtp:'{DSQ}' gtp --hash 1MiB"),
        format!("gtp2:'{DSQ}' gtp --two-stage --hash 1MiB"),
        builtin("default"),
        builtin("burnett"),
        builtin("burnett-alphabeta"),
        "builtin:random".to_owned(),
    ]
}

/// The summary of a match in which no player failed.
fn play(players: [&str; 2], options: &[&str]) -> Value {
    let arguments = [&["match", players[0], players[1], "--json"], options].concat();
    let output = dsq(&arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    let summary: Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
    for side in summary["players"].as_array().unwrap() {
        for failures in ["illegal_moves", "crashes", "time_losses"] {
            assert_eq!(side[failures], 0, "{arguments:?}: {stdout}{stderr}");
        }
    }
    summary
}

/// Positions in which a game can be long, with clocks below and above the usual limit.
const POSITIONS: &str = "l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w 12\n\
                         l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L b hmvc 8;\n\
                         l5t/1d3c1/2p1w2/7/7/7/2W1P2/1C3D1/T5L w\n";

#[test]
fn players_of_all_kinds_play_under_all_rules() {
    let dir = tempfile::tempdir().unwrap();
    let book = dir.path().join("book.epd");
    fs::write(&book, POSITIONS).unwrap();
    let players = players();
    let pairs: Vec<(usize, usize)> = (0..players.len()).flat_map(|a| (a..players.len()).map(move |b| (a, b))).collect();
    for (i, (preset, limit)) in
        PRESETS.iter().flat_map(|preset| ["0", "20", "200"].map(|limit| (preset, limit))).enumerate()
    {
        let (a, b) = pairs[i * 2 % pairs.len()];
        let openings = if limit == "20" { book.to_str().unwrap() } else { "random:6:1" };
        let options = ["--rules", preset, "--no-capture-limit", limit, "--openings", openings];
        let quick = ["--nodes", "10", "--games", "2", "--max-moves", "30", "--concurrency", "2"];
        play([&players[a], &players[b]], &[&options[..], &quick].concat());
    }
}

/// A game that goes on far beyond the limit and the repetitions that GTP and UCI programs assume by default.
#[test]
fn programs_play_beyond_the_usual_limit() {
    let dir = tempfile::tempdir().unwrap();
    let (book, games) = (dir.path().join("book.fen"), dir.path().join("games.txt"));
    // Elephants alone: with one node the games are long.
    fs::write(&book, "7/7/3e3/7/7/7/3E3/7/7 w\n").unwrap();
    for program in [format!("'{DSQ}' uci"), format!("gtp:'{DSQ}' gtp --hash 1MiB")] {
        let options =
            ["--rules", "paper,repetition=none", "--no-capture-limit", "150", "--games", "2", "--max-moves", "70"];
        let more = ["--nodes", "1", "--openings", book.to_str().unwrap(), "--out", games.to_str().unwrap()];
        play([&program, "builtin:random"], &[&options[..], &more].concat());
    }
}

/// About 300 quick games under random rules: `./test a_long_mixture -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes"]
fn a_long_mixture_of_players_and_rules() {
    let mut random = Random::new(1);
    let players = players();
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    for number in 0..76 {
        let [a, b] = [0, 1].map(|_| &*players[random.below(players.len())]);
        let mut value =
            |option: &RuleOption| format!("{}={}", option.key, option.values[random.below(option.values.len())]);
        let any = || RuleOptions::OPTIONS.iter().map(&mut value).collect::<Vec<_>>().join(",");
        // Two options may contradict each other.
        let rules = std::iter::repeat_with(any).find(|rules| rules.parse::<RuleOptions>().is_ok()).unwrap();
        let limit = ["0", "10", "100", "200"][random.below(4)];
        let level: &[&str] =
            [&["--nodes", "1"], &["--nodes", "50"], &["--movetime", "1"][..], &["--tc", "0.3+0.01"]][random.below(4)];
        let openings = format!("random:{}:{number}", random.below(9));
        let more = ["--rules", &rules, "--no-capture-limit", limit, "--openings", &openings, "--max-moves", "150"];
        let summary = play([a, b], &[level, &more, &["--games", "4", "--margin", "60000"]].concat());
        for (end, count) in summary["terminations"].as_object().unwrap() {
            *ends.entry(end.clone()).or_default() += count.as_u64().unwrap();
        }
    }
    println!("{} games ended by {ends:?}", ends.values().sum::<u64>());
}

/// The error of a match that does not start, with exit code 2.
fn refused(players: [&str; 2], options: &[&str]) -> String {
    let arguments = [&["match", players[0], players[1], "--games", "2"], options].concat();
    let output = dsq(&arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    stderr
}

#[test]
fn gtp_has_no_limit_of_depth() {
    let program = format!("gtp:'{DSQ}' gtp --hash 1MiB");
    assert!(refused([&program, "builtin:random"], &["--depth", "3"]).contains("limit nodes or time"));
}

#[cfg(unix)]
mod scripts {
    use super::*;

    const COMMANDS: &str =
        "protocol_version list_commands clear_board setfen play genmove quit kata-set-param time_settings time_left";

    /// A GTP program as a shell script. It has `commands`, answers commands by `answers` (cases of the shell that set
    /// `a`) or else by `=`, and appends all commands to `log`.
    fn gtp(commands: &str, answers: &str, log: &Path) -> String {
        let loop_ = format!(
            "while read -r line; do echo \"$line\" >> {}; a==; case \"$line\" in list_commands) a=\"= {commands}\";; \
             quit) exit;; {answers} esac; echo \"$a\"; echo; done",
            log.display()
        );
        format!("gtp:sh -c '{}'", loop_.replace('\'', "'\\''"))
    }

    /// A UCI program with these options.
    fn uci(options: &str) -> String {
        let loop_ = format!(
            "while read -r line; do case \"$line\" in uci) printf \"{options}\"; echo uciok;; isready) echo readyok;; \
             *repetition=none*) echo info string setoption: unknown;; quit) exit;; go*) echo bestmove a3b3;; esac; done"
        );
        format!("sh -c '{}'", loop_.replace('\'', "'\\''"))
    }

    fn log() -> tempfile::NamedTempFile {
        tempfile::NamedTempFile::new().unwrap()
    }

    #[test]
    fn programs_without_the_commands_are_refused() {
        let log = log();
        for (missing, limit) in [
            ("setfen", ["--nodes", "5"]),
            ("genmove", ["--nodes", "5"]),
            ("kata-set-param", ["--nodes", "5"]),
            ("kata-set-param", ["--movetime", "5"]),
            ("time_left", ["--tc", "9+0"]),
        ] {
            let program = gtp(&COMMANDS.replace(missing, ""), "", log.path());
            let stderr = refused(["builtin:random", &program], &limit);
            assert!(stderr.contains(&format!("no command {missing}")), "{stderr}");
        }
        let refuses = gtp(COMMANDS, "kata-set-param*) a=\"? no\";;", log.path());
        assert!(refused([&refuses, "builtin:random"], &["--nodes", "5"]).contains("kata-set-param maxVisits 5"));
    }

    #[test]
    fn programs_that_do_not_know_the_rules_are_refused() {
        let log = log();
        let commands = format!("{COMMANDS} kata-set-rules");
        let program = gtp(&commands, "kata-set-rules*) a=\"? unknown rules\";; genmove*) a=\"= resign\";;", log.path());
        let stderr = refused([&program, "builtin:random"], &["--nodes", "5"]);
        assert!(stderr.contains("? unknown rules") && stderr.contains("--assume-rules"), "{stderr}");
        play([&program, "builtin:random"], &["--nodes", "5", "--games", "2", "--assume-rules"]);

        let rules = ["--nodes", "5", "--rules", "paper,repetition=none"];
        let text = uci("option name Rules type string default paper\\n");
        assert!(refused([&text, "builtin:random"], &rules).contains("setoption: unknown"));
        let choice = uci("option name Rules type combo default paper var paper var chinese\\n");
        assert!(refused([&choice, "builtin:random"], &rules).contains("paper, chinese"));
        let limited = uci("option name NoCaptureLimit type spin default 100 min 0 max 150\\n");
        let stderr = refused([&limited, "builtin:random"], &["--nodes", "5", "--no-capture-limit", "200"]);
        assert!(stderr.contains("at most 150 plies"), "{stderr}");
    }

    /// A resignation is one, in one command and in two, and a pass is an illegal move.
    #[test]
    fn programs_resign() {
        let log = log();
        for (answer, end) in [("resign", "resignation"), ("PASS", "illegal-move")] {
            let program = gtp(COMMANDS, &format!("genmove*) a=\"= {answer}\";;"), log.path());
            for program in [program.clone(), program.replacen("gtp:", "gtp2:", 1)] {
                fs::write(log.path(), "").unwrap();
                let output = dsq(&["match", "builtin:random", &program, "--games", "2", "--nodes", "5", "--json"]);
                let stdout = String::from_utf8(output.stdout).unwrap();
                let summary: Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
                assert_eq!(summary["terminations"], serde_json::json!({end: 2}), "{stdout}");
                assert_eq!(summary["wins"], 2);
                let asked = fs::read_to_string(log.path()).unwrap();
                assert_eq!(asked.matches("genmove").count(), 2, "{asked}");
            }
        }
    }

    /// The clock arrives in fractions of seconds, or in whole ones at programs that read nothing else.
    #[test]
    fn programs_receive_their_clock() {
        let log = log();
        let resigns = "genmove*) a=\"= resign\";;";
        let program = gtp(COMMANDS, resigns, log.path());
        play([&program, "builtin:random"], &["--tc", "0.5+0.01", "--games", "1", "--margin", "60000"]);
        let sent = fs::read_to_string(log.path()).unwrap();
        assert!(sent.contains("time_settings 0.5 0.01 1\n"), "{sent}");
        assert!(sent.contains("time_left b 0.5 0\ngenmove b\n"), "{sent}");

        let whole = gtp(COMMANDS, &format!("*.*) a=\"? not a number\";; {resigns}"), log.path());
        let stderr = refused([&whole, "builtin:random"], &["--tc", "0.5+0.01"]);
        assert!(stderr.contains("whole seconds"), "{stderr}");
        fs::write(log.path(), "").unwrap();
        play([&whole, "builtin:random"], &["--tc", "1+0", "--games", "1", "--margin", "60000"]);
        let sent = fs::read_to_string(log.path()).unwrap();
        assert!(sent.ends_with("time_left b 1 0\ngenmove b\nquit\n"), "{sent}");
    }

    /// The rules and the limit arrive before the first position, and a program without the command is named.
    #[test]
    fn programs_receive_the_rules() {
        let log = log();
        let resigns = "genmove*) a=\"= resign\";;";
        let program = gtp(&format!("{COMMANDS} kata-set-rules kata-set-rule"), resigns, log.path());
        let rules = ["--nodes", "5", "--games", "1", "--rules", "chinese"];
        for (limit, text) in [("0", "none"), ("200", "200")] {
            fs::write(log.path(), "").unwrap();
            play([&program, "builtin:random"], &[&rules[..], &["--no-capture-limit", limit]].concat());
            let sent = fs::read_to_string(log.path()).unwrap();
            let position = sent.find("setfen").unwrap();
            for command in ["kata-set-rules ".to_owned(), format!("kata-set-rule no-capture-limit {text}\n")] {
                assert!(sent.find(&command).is_some_and(|place| place < position), "{command}: {sent}");
            }
        }
        let output = dsq(&[&["match", &gtp(COMMANDS, resigns, log.path()), "builtin:random"], &rules[..]].concat());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("no command kata-set-rules"), "{stderr}");
    }

    /// A program in each protocol that runs `failure` once, at the command between the first game and the second. It
    /// loses every game by its own choice. `dir` contains its marks.
    fn fails_between_games(failure: &str, dir: &Path) -> [String; 2] {
        let mark = |name: &str| dir.join(name).display().to_string();
        let (once, due) = (mark("once"), mark("due"));
        let moves = format!("if [ ! -e {once} ]; then touch {once} {due}; fi");
        let between = format!("if [ -e {due} ]; then rm {due}; {failure}; fi");
        let answers = format!("genmove*) {moves}; a=\"= resign\";; clear_board) {between};;");
        let loop_ = format!(
            "while read -r line; do case \"$line\" in uci) echo uciok;; isready) echo readyok;; quit) exit;; \
             ucinewgame) {between};; go*) {moves}; echo bestmove 0000;; esac; done"
        );
        [gtp(COMMANDS, &answers, &dir.join("log")), format!("sh -c '{loop_}'")]
    }

    /// A program that ends or hangs between two games loses the second, and plays the third in a new process.
    #[test]
    fn programs_that_fail_between_games_are_started_again() {
        for (failure, patience, word) in [("exit 3", "60", "exit status: 3"), ("sleep 600", "1", "within 1 s")] {
            let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
            for (i, dir) in dirs.iter().enumerate() {
                let program = &fails_between_games(failure, dir.path())[i];
                let games = ["--games", "4", "--nodes", "5", "--patience", patience, "--json"];
                let output = dsq(&[&["match", "builtin:random", program][..], &games].concat());
                let (stdout, stderr) =
                    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
                let lines: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
                assert_eq!((&lines[4]["wins"], &lines[4]["players"][1]["crashes"]), (&4.into(), &1.into()), "{stderr}");
                let crash = lines[1]["detail"].as_str().unwrap();
                assert!(crash.contains(word), "{stderr}");
                assert!(word == "exit status: 3" || crash.contains(["clear_board", "isready"][i]), "{crash}");
            }
        }
    }

    /// A program that is slow to get ready needs patience; without it the message names the command and the answer.
    #[test]
    fn patience_holds_before_the_first_game() {
        let script = |uci: &str, isready: &str| {
            let cases = format!("uci) {uci};; isready) {isready};; quit) exit;; go*) echo bestmove 0000;;");
            format!("sh -c 'while read -r line; do case \"$line\" in {cases} esac; done'")
        };
        let run = |program: &str, patience: &str| {
            dsq(&["match", program, "builtin:random", "--games", "1", "--nodes", "5", "--patience", patience])
        };
        let slow = script("echo uciok", "sleep 2; echo readyok");
        assert_eq!(run(&slow, "600").status.code(), Some(0));
        let other = script("echo what do you mean", "");
        for (program, words) in [(&slow, &["isready"][..]), (&other, &["\"uci\"", "what do you mean"])] {
            let output = run(program, "1");
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(3), "{stderr}");
            assert!(words.iter().all(|word| stderr.contains(word)) && stderr.contains("within 1 s"), "{stderr}");
        }
    }

    /// The message about a move in two commands names both answers.
    #[test]
    fn a_pass_is_named_with_the_square_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let second = dir.path().join("second");
        let answers =
            format!("genmove*) if [ -e {0} ]; then a=\"= pass\"; else a=\"= A3\"; touch {0}; fi;;", second.display());
        let program = gtp(COMMANDS, &answers, &dir.path().join("log")).replacen("gtp:", "gtp2:", 1);
        let games = ["--games", "1", "--nodes", "5", "--openings", "start"];
        let output = dsq(&[&["match", &program, "builtin:random"][..], &games].concat());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("A3 pass: a player must not pass"), "{stderr}");
    }

    /// An empty text is written as UCI prescribes.
    #[test]
    fn an_empty_option_is_sent_as_such() {
        let log = log();
        let program = format!(
            "sh -c 'while read -r line; do echo \"$line\" >> {}; case \"$line\" in uci) \
             echo option name Book type string default x; echo option name Clear type button; echo uciok;; \
             isready) echo readyok;; quit) exit;; go*) echo bestmove 0000;; esac; done'",
            log.path().display()
        );
        let options = ["--a-option", "Book=", "--a-option", "Clear=", "--games", "1", "--nodes", "5"];
        assert_eq!(dsq(&[&["match", &program, "builtin:random"][..], &options].concat()).status.code(), Some(0));
        let sent = fs::read_to_string(log.path()).unwrap();
        assert!(sent.contains("setoption name Book value <empty>\nsetoption name Clear\n"), "{sent}");
    }
}
