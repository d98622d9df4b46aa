//! Training: data by self-play and from tables, networks, and openings.

#[cfg(unix)]
use crate::program::Bound;
use crate::program::{command, fails, failure, json, run, stdout};
use doushouqi::board::{Position, RuleOptions, Rules};
use doushouqi::game::Game;
use doushouqi::search::bench::bench;
use doushouqi::search::network::Network;
use doushouqi::search::{Engine, EngineOptions, Evaluation, Limits};
use doushouqi::tablebase::{Generate, Options, Solver};
use matches::Openings;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};
use train::read_records;

/// A time limit that only guards against hanging.
const PATIENCE: Duration = Duration::from_secs(120);

fn file(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

#[cfg(unix)]
#[test]
fn stopped_self_play_keeps_its_games() {
    for signal in ["-INT", "-TERM"] {
        let path = file(&format!("games{signal}"));
        let arguments =
            ["datagen", "--games", "1000000", "--nodes", "50", "--pieces", "3", "--out", path.to_str().unwrap()];
        let run = Bound::start(command(&arguments).stderr(Stdio::piped()));
        let deadline = Instant::now() + PATIENCE;
        while std::fs::metadata(&path).map_or(0, |m| m.len()) < 5_000 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        run.signal(signal);
        let (code, stderr) = run.end();
        assert_eq!(code, Some(130), "{stderr}");
        let records = read_records(&path, &RuleOptions::default()).unwrap();
        let last = records.last().unwrap().game;
        // A game may have no recorded positions.
        let games: u32 = stderr.split_whitespace().skip_while(|word| *word != "after").nth(1).unwrap().parse().unwrap();
        assert!(records.len() > 50 && games > last && games < last + 20, "{stderr}");
        std::fs::remove_file(path).unwrap();
    }
}

/// The tables that end games are solved first; a signal during that time ends the command at once.
#[cfg(unix)]
#[test]
fn self_play_ends_at_once_before_the_first_game() {
    const HEADER: u64 = 48;
    let path = file("early");
    let arguments = ["datagen", "--games", "1000000", "--threads", "1", "--out", path.to_str().unwrap()];
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mut run = Bound::start(command(&arguments).stderr(Stdio::piped()));
        while std::fs::metadata(&path).map_or(0, |m| m.len()) < HEADER && run.process.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "the file has no header");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(run.process.try_wait().unwrap(), None, "the command still runs");
        run.signal("-TERM");
        let (code, stderr) = run.end();
        assert_eq!(code, Some(130), "{stderr}");
        let len = std::fs::metadata(&path).unwrap().len();
        std::fs::remove_file(&path).unwrap();
        // Once games are played, the command says how many it keeps.
        if !stderr.contains("stopped after") {
            assert_eq!(stderr, "dsq-lab: interrupted\n");
            assert_eq!(len, HEADER, "the file contains its header and no game");
            break;
        }
        assert!(Instant::now() < deadline, "no signal came while the tables were solved");
    }
}

/// Outputs that cannot be written, or would replace another file of the run.
fn outputs_are_checked_before_the_run(recipe: &str, path: &dyn Fn(&str) -> String) {
    std::fs::create_dir(path("plot.svg")).unwrap();
    for (code, network, checkpoint, named) in [
        (2, "./one", "new", "one would replace"),
        (2, "new", "new", "new would replace"),
        (2, "new.svg", "new", "new.svg would replace"),
        (2, "new", "recipe.toml", "recipe.toml would replace"),
        (3, "new", "no/such/folder", "no/such/folder: "),
        (3, "new", "plot", "plot.svg: "),
    ] {
        let text = recipe.replace("'net'", &format!("'{network}'")).replace("'checkpoint'", &format!("'{checkpoint}'"));
        std::fs::write(path("recipe.toml"), text).unwrap();
        let stderr = failure(code, &["train", &path("recipe.toml")]);
        assert!(stderr.contains(named), "{stderr}");
    }
}

/// Self-play and training: the same seed gives the same bytes, and errors are clear.
#[test]
fn a_network_is_trained() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let datagen = |out: &str, games: &str, threads: &str, seed: &str| {
        let out = path(out);
        let arguments = [
            "datagen",
            "--games",
            games,
            "--nodes",
            "50",
            "--pieces",
            "3",
            "--threads",
            threads,
            "--seed",
            seed,
            "--out",
            &out,
        ];
        run(&arguments)
    };
    assert_eq!(datagen("one", "200", "1", "1").status.code(), Some(0));
    assert_eq!(datagen("two", "60", "2", "1").status.code(), Some(0));
    assert_eq!(datagen("two", "200", "3", "1").status.code(), Some(0), "continues");
    assert!(std::fs::read(path("one")).unwrap() == std::fs::read(path("two")).unwrap());
    let refused = datagen("two", "200", "1", "2");
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8(refused.stderr).unwrap().contains("made with seed 1"));
    assert_eq!(datagen("two", "100", "1", "1").status.code(), Some(0), "nothing to do");
    assert!(std::fs::read(path("one")).unwrap() == std::fs::read(path("two")).unwrap());
    failure(3, &["datagen", "--out", "/no/such/folder/out"]);

    let recipe = "data = ['one']\nnetwork = 'net'\ncheckpoint = 'checkpoint'\nhidden = 32\nepochs = 3\nbatch = 128\nheld_out = 5\n";
    std::fs::write(path("recipe.toml"), recipe).unwrap();
    let lines = json(&["train", &path("recipe.toml"), "--json"]);
    assert_eq!(lines.len(), 4);
    assert!(lines[3]["after"].as_f64().unwrap() < lines[3]["before"].as_f64().unwrap(), "{}", lines[3]);
    let plot = std::fs::read_to_string(path("checkpoint.svg")).unwrap();
    assert!(plot.starts_with("<svg") && plot.contains("Loss with 32 units") && plot.contains("held out"), "{plot}");
    let network = Arc::new(Network::open(path("net").as_ref()).unwrap());
    for rules in [RuleOptions::PAPER, RuleOptions::preset("chinese").unwrap()] {
        let nodes = |evaluation| bench(6, &EngineOptions::default().evaluation(evaluation), &Rules::new(rules)).nodes;
        assert_ne!(nodes(Evaluation::Network(Arc::clone(&network))), nodes(Evaluation::Burnett), "{rules}");
    }
    // The network plays.
    let (net, out) = (path("net"), path("next"));
    stdout(&["datagen", "--evaluation", &net, "--games", "2", "--nodes", "200", "--pieces", "3", "--out", &out]);
    assert!(!read_records(out.as_ref(), &RuleOptions::default()).unwrap().is_empty());
    // Its moves are legal.
    let mut engine = Engine::new(EngineOptions::default().hash_mib(1).evaluation(Evaluation::Network(network)));
    let mut game = Game::new(Position::start(), Rules::default(), Some(Game::NO_CAPTURE_LIMIT));
    while game.end().is_none() && game.moves().len() < 100 {
        let found = engine.search(&game, &Limits::default().nodes(200)).run();
        game.play(found.best().unwrap()).unwrap();
    }

    outputs_are_checked_before_the_run(recipe, &path);
    assert!(
        std::fs::read(path("one")).unwrap() == std::fs::read(path("two")).unwrap() && !Path::new(&path("new")).exists()
    );
    std::fs::write(path("recipe.toml"), format!("{recipe}start = 'checkpoint'\n")).unwrap();
    json(&["train", &path("recipe.toml"), "--json"]);

    for (wrong, problem) in [("hidden = 5", "duplicate key"), ("epoch = 5", "unknown field `epoch`")] {
        std::fs::write(path("wrong.toml"), format!("{recipe}{wrong}\n")).unwrap();
        let stderr = failure(2, &["train", &path("wrong.toml")]);
        assert!(stderr.contains(problem), "{stderr}");
    }
    std::fs::write(path("cut"), &std::fs::read(path("net")).unwrap()[..1000]).unwrap();
    fails(2, &["datagen", "--evaluation", &path("cut"), "--out", &path("new")], "it has 1000 bytes");
}

/// Positions of tables with exact labels, the same bytes on any number of threads, with clear errors.
#[test]
fn endgames_are_training_data() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let tables = path("tables");
    let job = Generate { pieces: 3, ..Generate::new(tables.as_ref(), RuleOptions::PAPER) };
    job.run(&mut Solver::new(&RuleOptions::PAPER, 3, Options::default()), &|_| ()).unwrap();
    let datagen = ["datagen", "--tables", &tables, "--seed", "5", "--out"];
    let (one, two) = (path("one"), path("two"));
    assert_eq!(run(&[&datagen[..], &[&one, "--games", "30", "--threads", "1"]].concat()).status.code(), Some(0));
    for (games, threads) in [("10", "2"), ("30", "3")] {
        let output = run(&[&datagen[..], &[&two, "--games", games, "--threads", threads]].concat());
        assert_eq!(output.status.code(), Some(0));
    }
    assert!(std::fs::read(&one).unwrap() == std::fs::read(&two).unwrap());
    let records = read_records(one.as_ref(), &RuleOptions::default()).unwrap();
    assert_eq!(records.len(), 30 * 64);
    let results = [-1, 0, 1].map(|result| records.iter().filter(|record| record.result == result).count());
    assert!(
        records.iter().all(|record| record.score_only) && results.into_iter().all(|count| count > 50),
        "{results:?}"
    );

    let refused = failure(2, &["datagen", "--out", &one, "--games", "40", "--seed", "5"]);
    assert!(refused.contains("0 nodes"), "{refused}");
    // Scores of searches give the scale of a network; exact values do not.
    let recipe = format!(
        "data = [{one:?}]\nnetwork = 'net'\ncheckpoint = 'checkpoint'\nhidden = 32\nepochs = 1\nheld_out = 2\n"
    );
    std::fs::write(path("recipe.toml"), recipe).unwrap();
    assert!(failure(2, &["train", &path("recipe.toml")]).contains("needs a `scale`"));
    failure(2, &[&datagen[..], &[&path("new"), "--nodes", "5"]].concat());
    assert!(failure(2, &[&datagen[..], &[&path("new"), "--rules", "chinese"]].concat()).contains("holds tables"));
    failure(2, &["datagen", "--tables", "/no/such/folder", "--out", &path("new")]);
    assert!(std::fs::metadata(path("new")).is_err());
}

/// The state that a tuning run continues is checked before anything else.
#[test]
fn damaged_and_other_states_of_tuning_are_refused() {
    let path = file("state");
    let out = path.to_str().unwrap();
    let tune = |more: &[&str]| failure(2, &[&["tune", "--out", out, "--nodes", "50", "--games", "8"], more].concat());
    assert!(tune(&["--parameters", "rfp"]).contains("rfp_margin"));
    assert!(tune(&["--parameters", "rfp_margin,rfp_margin"]).contains("twice"));
    tune(&["--rate", "0"]);
    assert!(tune(&["--rate", "2"]).contains("rate"));
    assert!(tune(&["--openings", "/no/file"]).contains("random:8:1"));
    let state = |done: u64, value: &str| {
        let text = format!(
            r#"{{"nodes":50,"pairs_per_trial":8,"openings":"random:4:1","rules":"{}","spsa":{{"seed":1,"pairs":4,"done":{done},
            "rate":0.002,"parameters":[{{"name":"rfp_margin","value":{value},"least":20,"most":200,"step":9.0}}]}}}}"#,
            RuleOptions::default()
        );
        std::fs::write(&path, text).unwrap();
    };
    let same = ["--parameters", "rfp_margin", "--openings", "random:4:1"];
    let with = |more: &[&str]| tune(&[&same[..], more].concat());
    for (done, value) in [(5, "70"), (0, "201"), (0, "\"x\"")] {
        state(done, value);
        assert!(with(&[]).contains(out), "{done} {value}");
    }
    state(0, "70.5");
    for (option, value, word) in
        [("--seed", "2", "(seed)"), ("--rate", "0.01", "rate"), ("--rules", "chinese", "rules")]
    {
        let error = with(&[option, value]);
        assert!(error.contains(out) && error.contains("other") && error.contains(word), "{error}");
    }
    for garbage in ["", "{}", "nodes", "[1]"] {
        std::fs::write(&path, garbage).unwrap();
        assert!(with(&[]).contains("is no state"), "{garbage}");
    }
    std::fs::remove_file(&path).unwrap();
    assert!(with(&[]).contains("--features tune"));
}

#[test]
fn biased_openings_depend_on_the_seed_alone() {
    let arguments = ["openings", "--count", "4", "--nodes", "300", "--score", "100..800", "--threads"];
    let with = |more: &[&str]| stdout(&[&arguments[..], more].concat());
    let lines = with(&["1"]);
    assert_eq!(lines.lines().count(), 4);
    assert_eq!(with(&["2"]), lines);
    assert_ne!(with(&["2", "--seed", "2"]), lines);
    for line in lines.lines() {
        let score: i32 = line.split(" ce ").nth(1).and_then(|score| score.strip_suffix(';')?.parse().ok()).unwrap();
        assert!((100..=800).contains(&score.abs()), "{line}");
    }
    // A match reads them.
    let book = Openings::book("biased", &lines, 0).unwrap();
    assert!(book.to_string() == "biased (4)" && book.check(4, &Rules::default(), Some(100)).is_ok());
    fails(2, &["openings", "--score", "5..3"], "such as 200..450");
    fails(2, &["openings", "--score", "few"], "such as 200..450");
}
