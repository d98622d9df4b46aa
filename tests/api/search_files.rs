//! The search with tables in files: three pieces in files, two in memory, so that the path is cheap to test.
//!
//! `DSQ_TABLES=tables cargo test --release --test api -- --ignored captures_into_five` plays from six pieces, with tables
//! of five.

use doushouqi::board::{Move, Position, RuleOptions, Rules};
use doushouqi::game::Game;
use doushouqi::game::random::Random;
use doushouqi::search::{Engine, EngineOptions, Info, Limits, Tables};
use doushouqi::tablebase::{Generate, Options, Probe, SetError, Solver, TableProber, TableSet, Value, Wdl, write_wdl};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use tempfile::TempDir;

const RULES: RuleOptions = RuleOptions::PAPER;

/// The directories of one set of rules: distances of up to two and three pieces, and results of up to three.
struct Dirs {
    dir: TempDir,
}

/// For tests that change no file.
static DIRS: LazyLock<Dirs> = LazyLock::new(Dirs::new);

impl Dirs {
    fn new() -> Dirs {
        let dirs = Dirs { dir: tempfile::tempdir().unwrap() };
        generate(&dirs.path("two"), &RULES, 2);
        generate(&dirs.path("three"), &RULES, 3);
        write_wdl(&dirs.path("three"), &dirs.path("results"), 8 << 30, &|_, _| {}).unwrap();
        dirs
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn prober(&self) -> TableProber {
        TableSet::open(&self.path("three")).unwrap().prober(&RULES).unwrap()
    }

    /// The tables of these directories, with two pieces in memory.
    fn open(&self, names: &[&str]) -> Result<Tables, SetError> {
        Tables::open_with_memory(&self.list(names), &RULES, 2)
    }

    fn list(&self, names: &[&str]) -> PathBuf {
        list(&names.iter().map(|name| self.path(name)).collect::<Vec<_>>())
    }
}

fn generate(dir: &Path, rules: &RuleOptions, pieces: usize) {
    let job = Generate { pieces, ..Generate::new(dir, *rules) };
    job.run(&mut Solver::new(rules, pieces, Options::default()), &|_| {}).unwrap();
}

/// Copies the files of a directory.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

fn list(dirs: &[PathBuf]) -> PathBuf {
    std::env::join_paths(dirs).unwrap().into()
}

fn engine(tables: &Arc<Tables>, probe_depth: u8) -> Engine {
    Engine::new(EngineOptions::default().hash_mib(2).tables(tables.clone()).tb_probe_depth(probe_depth))
}

fn search(engine: &mut Engine, position: &Position, nodes: u64) -> Info {
    let game = Game::new(position.clone(), Rules::new(RULES), None);
    engine.search(&game, &Limits::default().nodes(nodes)).run().lines[0].clone()
}

/// What must be the same in every search of a position.
fn outcome(info: &Info) -> (u64, u64, String, Vec<Move>) {
    (info.nodes, info.tbhits, info.score.to_string(), info.pv.clone())
}

/// The slow twin: whatever files the tree reads, each probe is the result that the distances have.
#[test]
fn probes_are_those_of_the_distances() {
    let dirs = &DIRS;
    let truth = dirs.prober();
    let sets = [&["three"][..], &["two", "results"], &["results", "three"], &["results"]];
    let check = |tables: &Tables| {
        let mut random = Random::new(1);
        for _ in 0..2000 {
            let position = random.position(3, truth.rules());
            let wanted = truth.value(&position).unwrap().map(|value| value.wdl);
            assert_eq!(tables.probe(&position), wanted, "{}", position.to_fen());
        }
        let four = random.position(4, truth.rules());
        assert_eq!(tables.probe(&four), None);
    };
    for names in sets {
        let tables = dirs.open(names).unwrap();
        // Two threads read the same blocks.
        std::thread::scope(|scope| {
            scope.spawn(|| check(&tables));
            check(&tables);
        });
    }
}

/// With files the search decides more positions of four pieces in the same number of nodes, none of them wrongly. A
/// search with a warm cache of blocks gives the same line.
#[test]
fn files_decide_more() {
    const NODES: u64 = 300;
    let dirs = &DIRS;
    let tables = Arc::new(dirs.open(&["two", "results"]).unwrap());
    let rules = Rules::new(RULES);
    let mut truth = Solver::new(&RULES, 4, Options::default());
    let mut random = Random::new(2);
    let mut engines = [u8::MAX, 1].map(|probe_depth| engine(&tables, probe_depth));
    let (mut hits, mut more, mut less) = (0, 0, 0);
    for checked in 0..120 {
        let position = random.position(4, &rules);
        let [without, with] = engines.each_mut().map(|engine| {
            engine.new_game();
            search(engine, &position, NODES)
        });
        if checked % 40 == 0 {
            let cold = Arc::new(dirs.open(&["two", "results"]).unwrap());
            assert_eq!(outcome(&with), outcome(&search(&mut engine(&cold, 1), &position, NODES)));
        }
        let decided = |info: &Info| info.score.is_win() || info.score.is_loss();
        hits += with.tbhits;
        less += usize::from(decided(&without) && !decided(&with));
        if decided(&with) && !decided(&without) {
            let value = truth.solve_position(&position).unwrap().unwrap();
            let wanted = if with.score.is_win() { Wdl::Win } else { Wdl::Loss };
            assert_eq!(value.wdl, wanted, "{}", position.to_fen());
            let within = with.score.win_within().or(with.score.loss_within()).unwrap();
            assert!(within >= value.dtw.unwrap().into(), "{}: {}", position.to_fen(), with.score);
            more += 1;
        }
    }
    assert!(hits > 0 && more > less, "{hits} hits, {more} more, {less} less");
}

/// A capture that wins by the files is a win at every depth, although the search goes on after it.
#[test]
fn a_winning_capture_stays_a_win() {
    let (dirs, truth) = (&DIRS, DIRS.prober());
    let tables = Arc::new(dirs.open(&["two", "results"]).unwrap());
    let mut engine = engine(&tables, EngineOptions::TB_PROBE_DEPTH);
    let mut random = Random::new(7);
    let mut checked = 0;
    while checked < 40 {
        let position = random.position(4, truth.rules());
        let wins = |mv: &Move| {
            let next = position.make(*mv);
            let value = truth.value(&next).ok().flatten().filter(|_| next.winner().is_none());
            mv.is_capture(&position) && value.is_some_and(|value| value.dtw > Some(20) && value.wdl == Wdl::Loss)
        };
        if !position.moves(truth.rules()).iter().any(wins) {
            continue;
        }
        let game = Game::new(position.clone(), truth.rules().clone(), None);
        for depth in 4..9 {
            engine.new_game();
            let found = engine.search(&game, &Limits::default().depth(depth)).run();
            assert!(found.lines[0].score.is_win(), "{} depth {depth}: {}", position.to_fen(), found.lines[0].score);
        }
        checked += 1;
    }
}

/// The engine wins games from positions of so many pieces, with a capture that wins before the no-capture limit by `truth`,
/// the distances of one piece less. The defence takes the longest way; before a capture it is a search.
fn win_after_captures(tables: &Arc<Tables>, truth: &TableProber, pieces: usize, games: usize, nodes: u64) {
    let rules = truth.rules();
    let limits = Limits::default().nodes(nodes);
    let mut random = Random::new(8);
    let [mut attacker, mut defender] = [(); 2].map(|()| engine(tables, EngineOptions::TB_PROBE_DEPTH));
    let value = |position: &Position| truth.value(position).unwrap();
    let wins = |mv: &Move, position: &Position| {
        let in_time = |value: &Value| value.wdl == Wdl::Loss && value.dtw.map(u32::from) < Some(Game::NO_CAPTURE_LIMIT);
        mv.is_capture(position) && value(&position.make(*mv)).as_ref().is_some_and(in_time)
    };
    for _ in 0..games {
        let start = loop {
            let position = random.position(pieces, rules);
            if position.moves(rules).iter().any(|mv| wins(mv, &position)) {
                break position;
            }
        };
        let mut game = Game::new(start.clone(), rules.clone(), Some(Game::NO_CAPTURE_LIMIT));
        while game.end().is_none() {
            let position = game.position();
            let after = |mv: &&Move| value(&position.make(**mv)).map(Value::before);
            let mv = if position.turn() == start.turn() {
                attacker.search(&game, &limits).run().lines[0].pv[0]
            } else if value(position).is_some() {
                *game.legal_moves().iter().max_by_key(after).unwrap()
            } else {
                defender.search(&game, &limits).run().lines[0].pv[0]
            };
            game.play(mv).unwrap();
        }
        let winner = game.end().unwrap().winner();
        assert_eq!(winner, Some(start.turn()), "{}: {:?}", start.to_fen(), game.moves());
    }
}

#[test]
fn captures_into_three_pieces_win() {
    let truth = DIRS.prober();
    for names in [&["three"][..], &["two", "results"]] {
        win_after_captures(&Arc::new(DIRS.open(names).unwrap()), &truth, 4, 40, 500);
    }
}

#[test]
#[ignore = "tables of five pieces"]
fn captures_into_five_pieces_win() {
    let dir = PathBuf::from(std::env::var_os("DSQ_TABLES").expect("DSQ_TABLES names no directory"));
    let truth = TableSet::open(&dir).unwrap().prober(&RULES).unwrap();
    win_after_captures(&Arc::new(Tables::open(&dir, &RULES).unwrap()), &truth, 6, 300, 20_000);
}

/// With a limit of time, distances that are not solved yet are solved in the background.
#[test]
fn a_search_with_a_clock_solves_nothing_itself() {
    let truth = DIRS.prober();
    let tables = Arc::new(DIRS.open(&["results"]).unwrap());
    let position = Position::from_fen("7/7/7/7/7/6e/7/7/L6 w").unwrap();
    let plies = truth.value(&position).unwrap().unwrap().dtw.map(u32::from);
    let game = Game::new(position, Rules::new(RULES), None);
    let limits = Limits::default().movetime(std::time::Duration::from_millis(5));
    let mut engine = engine(&tables, 1);
    // The loss in so many plies is too long for these searches.
    let solved = |_: &usize| {
        let found = engine.search(&game, &limits).run();
        found.lines[0].depth == 1 && found.lines[0].score.loss_in() == plies
    };
    assert!((0..10_000).find(solved).is_some());
}

/// Two threads share the tables, and find what the distances say.
#[test]
fn two_threads_probe_files() {
    let dirs = &DIRS;
    let tables = Arc::new(dirs.open(&["two", "results"]).unwrap());
    let options = EngineOptions::default().hash_mib(2).threads(2).tb_probe_depth(0).tables(tables);
    let mut engine = Engine::new(options);
    let mut random = Random::new(3);
    let rules = Rules::new(RULES);
    let hits: u64 = (0..10).map(|_| search(&mut engine, &random.position(4, &rules), 5000).tbhits).sum();
    assert!(hits > 0);
}

/// Without distances of the root's pieces, the results of its moves decide which moves are searched.
#[test]
fn a_move_at_the_root_keeps_the_result() {
    let dirs = &DIRS;
    let truth = dirs.prober();
    let tables = Arc::new(dirs.open(&["two", "results"]).unwrap());
    let mut random = Random::new(4);
    for _ in 0..200 {
        let position = random.position(3, truth.rules());
        let mv = search(&mut engine(&tables, 1), &position, 1).pv[0];
        let [before, after] = [&position, &position.make(mv)].map(|p| truth.value(p).unwrap().unwrap().wdl);
        assert_eq!(after.before(), before, "{}", position.to_fen());
    }
}

/// A directory need not be complete: the distances of each class in it decide the move.
#[test]
fn a_class_alone_decides_the_move() {
    let (dir, truth) = (tempfile::tempdir().unwrap(), DIRS.prober());
    let [alone, beside] = ["alone", "beside"].map(|name| dir.path().join(name));
    copy(&DIRS.path("two"), &beside);
    let position = Position::from_fen("7/7/3l3/7/7/7/3E3/3P3/7 w").unwrap();
    let plies = truth.value(&position).unwrap().unwrap().dtw.map(u32::from);
    for (dir, complete) in [(alone, 0), (beside, 2)] {
        let material = Some("EPvL".parse().unwrap());
        let job = Generate { pieces: 3, material, ..Generate::new(&dir, RULES) };
        job.run(&mut Solver::new(&RULES, 3, Options::default()), &|_| {}).unwrap();
        let tables = Arc::new(Tables::open_with_memory(&dir, &RULES, 2).unwrap());
        assert_eq!(tables.pieces(), complete);
        assert_eq!(tables.probe(&position), Some(Wdl::Win));
        let found = search(&mut engine(&tables, 1), &position, 1000);
        assert_eq!((found.depth, found.score.win_in()), (1, plies), "{}", found.score);
        // Other classes are searched.
        let other = Position::from_fen("7/7/3e3/7/7/7/3T3/3L3/7 w").unwrap();
        assert_eq!(tables.value(&other), Ok(None));
        assert!(search(&mut engine(&tables, 1), &other, 1000).depth > 1);
    }
}

/// A damaged or missing file contains no position: probes and searches go on without it.
#[test]
fn damage_does_not_stop_a_search() {
    let dirs = Dirs { dir: tempfile::tempdir().unwrap() };
    for name in ["two", "three", "results"] {
        copy(&DIRS.path(name), &dirs.path(name));
    }
    let results = dirs.path("results");
    let files = |dir: &Path| -> Vec<PathBuf> {
        let paths = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "dsq")).collect()
    };
    // Opened before the damage, with one block in memory, and after it.
    let before = dirs.open(&["two", "results"]).unwrap();
    let rules = Rules::new(RULES);
    let first = Random::new(5).position(3, &rules);
    assert!(before.probe(&first).is_some());
    for (i, path) in files(&results).iter().enumerate() {
        match i % 4 {
            0 => fs::remove_file(path).unwrap(),
            1 => fs::write(path, &fs::read(path).unwrap()[..40]).unwrap(),
            2 => fs::write(path, "not a table").unwrap(),
            _ => {}
        }
    }
    for tables in [before, dirs.open(&["two", "results"]).unwrap()].map(Arc::new) {
        let mut random = Random::new(6);
        let read = (0..500).filter(|_| tables.probe(&random.position(3, &rules)).is_some()).count();
        assert!(read < 500, "{read}");
        for pieces in [3, 4] {
            let found = search(&mut engine(&tables, 0), &random.position(pieces, &rules), 2000);
            assert!(!found.pv.is_empty());
        }
    }
    // A path with damage is an error, or is read without the damaged parts.
    let three = dirs.path("three");
    let damaged = files(&three).into_iter().find(|path| path.file_stem().is_some_and(|name| name.len() == 4)).unwrap();
    fs::write(&damaged, "not a table").unwrap();
    let path = list(&[three, dirs.path("nothing")]);
    assert!(Tables::open(&path, &RULES).is_err());
    let (tables, faults) = Tables::open_intact(&path, &RULES).unwrap();
    let texts: Vec<String> = faults.iter().map(SetError::to_string).collect();
    let named = |part: &str| texts.iter().any(|text| text.contains(part));
    assert!(named(damaged.to_str().unwrap()) && named("nothing"), "{texts:?}");
    let (mut random, truth, mut known) = (Random::new(8), DIRS.prober(), 0);
    for _ in 0..500 {
        let position = random.position(3, &rules);
        let found = tables.probe(&position);
        assert!(found.is_none() || found == truth.value(&position).unwrap().map(|value| value.wdl));
        known += usize::from(found.is_some());
    }
    assert!((250..500).contains(&known) && tables.largest() == 3, "{known}");
    // Where a directory of distances has the class, it replaces the damaged file.
    copy(&DIRS.path("three"), &dirs.path("intact"));
    let tables = dirs.open(&["results", "intact"]).unwrap();
    let wanted = truth.value(&first).unwrap().map(|value| value.wdl);
    assert_eq!(tables.probe(&first), wanted);
}

#[test]
fn a_path_names_distances_and_results() {
    let dirs = &DIRS;
    let (elsewhere, rules) = (tempfile::tempdir().unwrap(), "chinese".parse().unwrap());
    let [distances, results] = ["distances", "results"].map(|name| elsewhere.path().join(name));
    generate(&distances, &rules, 2);
    write_wdl(&distances, &results, 8 << 30, &|_, _| {}).unwrap();
    let refused = |path: PathBuf| Tables::open(&path, &RULES).unwrap_err();
    let twice = refused(dirs.list(&["two", "three"]));
    assert!(matches!(twice, SetError::SameKind { .. }), "{twice}");
    let [kept, left_out] = ["two", "three"].map(|name| dirs.path(name).display().to_string());
    assert!(twice.to_string().starts_with(&format!("{left_out} cannot be used beside {kept}: ")), "{twice}");
    for path in [list(&[dirs.path("two"), results.clone()]), results] {
        let other = refused(path);
        assert!(matches!(other, SetError::Rules { .. }), "{other}");
    }
    let missing = refused(dirs.list(&["two", "nothing"]));
    assert!(matches!(&missing, SetError::NoTables { .. }) && missing.to_string().contains("nothing"), "{missing}");
    // Order and empty parts do not matter, and a directory is not split.
    assert_eq!(dirs.open(&["results", "two"]).unwrap().pieces(), 2);
    // Without distances, those of the pieces in memory are solved.
    let alone = dirs.open(&["results"]).unwrap();
    assert_eq!(alone.pieces(), 2);
    let mut random = Random::new(3);
    for _ in 0..50 {
        let position = random.position(2, &Rules::new(RULES));
        let Ok(found) = alone.value(&position);
        assert_eq!(found, dirs.prober().value(&position).unwrap(), "{}", position.to_fen());
    }
    let mut trailing = dirs.path("two").into_os_string();
    trailing.push(if cfg!(windows) { ";" } else { ":" });
    assert!(Tables::open(trailing.as_ref(), &RULES).is_ok());
    if cfg!(unix) {
        let odd = elsewhere.path().join("two:results");
        copy(&dirs.path("two"), &odd);
        assert!(Tables::open(&odd, &RULES).is_ok());
    }
}
