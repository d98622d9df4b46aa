use super::*;
use crate::board::{NoMove, RuleOptions};
use crate::tablebase::solve::progress::{CountPhase, CountProgress};
use crate::tablebase::store::block_table::table_len;
use crate::tablebase::store::partial::left_by;
use crate::tablebase::{Generate, Material, MemoryNeed, Options, ProbeDtz, Solver, TableFile, TableSet, repack};
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

const GIB: u64 = 1 << 30;

/// Tables of few pieces, and a solver for one piece more.
struct Fixture {
    dir: tempfile::TempDir,
    rules: RuleOptions,
}

impl Fixture {
    fn new(rules: RuleOptions, pieces: usize) -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        let mut solver = Solver::new(&rules, pieces, Options::default());
        Generate { pieces, ..Generate::new(&dir.path().join("tables"), rules) }.run(&mut solver, &|_| {}).unwrap();
        Fixture { dir, rules }
    }

    fn tables(&self) -> TableProber {
        TableSet::open(&self.dir.path().join("tables")).unwrap().prober(&self.rules).unwrap()
    }

    fn cache(&self) -> PathBuf {
        self.dir.path().join("cache")
    }

    fn open(&self) -> TableProber {
        self.open_within(GIB, None)
    }

    fn open_within(&self, size: u64, memory: Option<usize>) -> TableProber {
        self.tables().on_demand(&CountCache { dir: self.cache(), size, memory }).unwrap()
    }

    /// The files in the cache, except the lock.
    fn files(&self) -> Vec<PathBuf> {
        let paths = fs::read_dir(self.cache()).unwrap().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.file_name().is_some_and(|name| name != "lock")).collect()
    }
}

/// Whether a count begins.
fn begins(progress: CountProgress) -> bool {
    progress.phase == CountPhase::Reading && progress.fraction == 0.0
}

fn ignore(_: CountProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Every `step`-th position of a class, with either side to move.
fn positions(solver: &Solver, material: Material, step: usize) -> Vec<Position> {
    let id = solver.classes().member(material).unwrap().class;
    let index = solver.classes().get(id).index();
    let cells = (0..index.cells()).step_by(step).enumerate();
    cells.filter_map(|(i, cell)| index.position(cell, crate::board::Color::ALL[i % 2])).collect()
}

fn first(solver: &Solver, material: &str) -> Position {
    positions(solver, material.parse().unwrap(), 12_345).into_iter().find(|p| p.winner().is_none()).unwrap()
}

/// Values, moves and lines of counted classes equal the results of a solver that keeps all values.
#[test]
fn counted_classes_have_the_values_of_the_solver() {
    let no_move_loses = RuleOptions { no_move: NoMove::Loss, ..RuleOptions::PAPER };
    for (rules, pieces, materials, step) in [
        (RuleOptions::PAPER, 2, &["ERvR", "RvPR", "EvLT", "LvCD", "RvER"][..], 149),
        (no_move_loses, 2, &["ERvR", "DvCR"][..], 149),
        ("chinese".parse().unwrap(), 2, &["TvLR", "PDvR"][..], 149),
        (RuleOptions::PAPER, 3, &["EvLPD"][..], 30_011),
    ] {
        counted_as_solved(rules, pieces, materials, step);
    }
}

#[test]
#[ignore = "values of two classes of five pieces: half a minute"]
fn larger_counted_classes_have_the_values_of_the_solver() {
    counted_as_solved(RuleOptions::PAPER, 3, &["EPvLR", "CRvPR"], 30_011);
}

fn counted_as_solved(rules: RuleOptions, pieces: usize, materials: &[&str], step: usize) {
    let fixture = Fixture::new(rules, pieces);
    let on_demand = fixture.open();
    for material in materials {
        let material: Material = material.parse().unwrap();
        let solver = Solver::solved_material(&rules, material).unwrap();
        let mut longest = (0, None);
        for (i, position) in positions(&solver, material, step).into_iter().enumerate() {
            if i == 0 {
                on_demand.count(&position, &ignore).unwrap();
            }
            let value = on_demand.value(&position).unwrap();
            assert_eq!(value, solver.value(&position).unwrap(), "{}", position.to_fen());
            if i % 20 == 0 {
                assert_eq!(on_demand.moves(&position).unwrap(), solver.moves(&position).unwrap());
            }
            let plies = value.and_then(|value| value.dtw).unwrap_or(0);
            longest = longest.max((plies, Some(position.to_fen())));
        }
        let (plies, Some(fen)) = longest else { panic!("{material} has no positions") };
        let position = Position::from_fen(&fen).unwrap();
        let moves = |line: Vec<(Move, Position)>| line.into_iter().map(|(mv, _)| mv).collect::<Vec<_>>();
        let line = moves(on_demand.line(&position).unwrap());
        assert_eq!(line.len(), usize::from(plies), "{fen}");
        let Ok(wanted) = solver.line(&position);
        assert_eq!(line, moves(wanted), "{fen}");
        assert_eq!(moves(on_demand.line_within(&position, 3).unwrap()), line[..line.len().min(3)]);
    }
    // RvER is ERvR with the colours swapped.
    assert_eq!(fixture.files().len(), materials.len() - usize::from(materials.contains(&"RvER")));
}

/// Counted classes under a no-capture limit have the values of tables that contain them.
#[test]
fn classes_are_counted_under_a_limit() {
    let rules = RuleOptions::PAPER.within(Some(30));
    let (smaller, whole) = (Fixture::new(rules, 2), Fixture::new(rules, 3));
    let open = |fixture: &Fixture| {
        TableSet::open(&fixture.dir.path().join("tables")).unwrap().dtz_prober(&RuleOptions::PAPER).unwrap()
    };
    let on_demand = open(&smaller).on_demand(&CountCache { dir: smaller.cache(), size: GIB, memory: None }).unwrap();
    let (tables, solver) = (open(&whole), Solver::new(&rules, 3, Options::default()));
    let mut decided = 0;
    for material in ["ERvR", "RvPR", "EvLT"] {
        let material: Material = material.parse().unwrap();
        for position in positions(&solver, material, 149) {
            on_demand.count(&position, &ignore).unwrap();
            let value = on_demand.dtz(&position).unwrap();
            assert_eq!(value, tables.dtz(&position).unwrap(), "{}", position.to_fen());
            assert_eq!(on_demand.dtz_moves(&position, 7).unwrap(), tables.dtz_moves(&position, 7).unwrap());
            decided += usize::from(value.is_some_and(|value| value.plies > 7));
        }
    }
    assert!(decided > 100, "{decided}");
    let four = first(&Solver::new(&rules, 4, Options::default()), "EPvLR");
    assert!(matches!(on_demand.count(&four, &ignore), Err(OnDemandError::TooManyPieces { pieces: 4, most: 3 })));
    assert_eq!(on_demand.dtz(&four).unwrap(), None);
}

/// Counts read repacked tables: those that they need are restored into the cache once, and the file of a counted class is the
/// same.
#[test]
#[cfg(unix)]
fn repacked_tables_are_restored_for_a_count() {
    let fixture = Fixture::new(RuleOptions::PAPER, 3);
    let solver = Solver::new(&fixture.rules, 4, Options::default());
    let position = first(&solver, "EPvLR");
    let name = |path: &PathBuf| path.file_name().unwrap().to_owned();
    let count = |fixture: &Fixture| {
        let on_demand = fixture.open();
        let need = on_demand.counter().unwrap().need(&position).unwrap().unwrap();
        on_demand.count(&position, &ignore).unwrap();
        let files: Vec<_> = fixture.files().into_iter().map(|path| (name(&path), fs::read(&path).unwrap())).collect();
        (need, files)
    };
    let (need, exact) = count(&fixture);
    assert_eq!(exact.len(), 1);
    fs::remove_dir_all(fixture.cache()).unwrap();

    repack(&fixture.dir.path().join("tables"), 1 << 30, &|_, _| {}).unwrap();
    let (restoring, files) = count(&fixture);
    assert!(restoring.file_bytes > need.file_bytes && restoring.disk_bytes > need.disk_bytes);
    assert!(files.len() > 3 && files.contains(&exact[0]), "{} files", files.len());
    // The next count reads what was restored, and makes again what is damaged, of other values or gone.
    let own = fixture.files().into_iter().find(|path| name(path) == exact[0].0).unwrap();
    let restored: Vec<PathBuf> = fixture.files().into_iter().filter(|path| *path != own).collect();
    let written = |path: &PathBuf| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap());
    let inodes: Vec<_> = restored.iter().map(written).collect();
    let middle = fs::read(&restored[0]).unwrap().len() / 2;
    let mut damaged = fs::read(&restored[0]).unwrap();
    damaged[middle] ^= 1;
    fs::write(&restored[0], damaged).unwrap();
    fs::remove_file(&own).unwrap();
    let (again, after) = count(&fixture);
    assert_eq!(again, need, "nothing seems to be missing");
    let sorted = |mut files: Vec<_>| {
        files.sort();
        files
    };
    assert!(sorted(after) == sorted(files));
    let kept = restored.iter().zip(&inodes).filter(|(path, inode)| written(path) == **inode).count();
    assert_eq!(kept, restored.len() - 1, "only the damaged one is made again");
}

/// The answers of a search equal the solver's, and a search decides most positions with short distances.
#[test]
fn searches_agree_with_the_solver() {
    let fixture = Fixture::new(RuleOptions::PAPER, 2);
    let on_demand = fixture.open();
    let material: Material = "ERvP".parse().unwrap();
    let solver = Solver::solved_material(&fixture.rules, material).unwrap();
    let (mut early, mut answered) = (0, 0);
    for position in positions(&solver, material, 1_999).into_iter().filter(|position| position.winner().is_none()) {
        let value = solver.value(&position).unwrap().unwrap();
        early += usize::from(value.dtw.is_some_and(|dtw| dtw <= 5));
        let Some(answer) = on_demand.probe_now(&position, false).unwrap() else { continue };
        answered += 1;
        assert_eq!((answer.value, answer.source), (value, AnswerSource::Search), "{}", position.to_fen());
        let moves = solver.moves(&position).unwrap().unwrap();
        assert_eq!(answer.moves.len(), moves.len());
        for (mv, value) in answer.moves.iter().filter_map(|&(mv, value)| Some((mv, value?))) {
            assert!(moves.contains(&(mv, value)), "{}: {mv:?}", position.to_fen());
        }
        let best = answer.moves.first().and_then(|&(_, value)| value);
        assert_eq!(best, moves.first().map(|&(_, value)| value), "the best move is known");
        let all = on_demand.probe_now(&position, true).unwrap();
        assert_eq!(all.is_some(), answer.moves.iter().all(|(_, value)| value.is_some()));
    }
    assert!(early > 10 && answered >= early, "{answered} of {early}");
    assert!(fixture.files().is_empty(), "nothing is counted");
}

#[test]
fn progress_grows_and_a_cancelled_count_leaves_nothing() {
    let fixture = Fixture::new(RuleOptions::PAPER, 3);
    let on_demand = fixture.open();
    let solver = Solver::new(&fixture.rules, 4, Options::default());
    let position = first(&solver, "EPvLR");
    let seen: Mutex<Vec<CountProgress>> = Mutex::default();
    let follow = |progress| {
        seen.lock().unwrap().push(progress);
        ControlFlow::Continue(())
    };
    for stop_at in [CountPhase::Reading, CountPhase::Conversions, CountPhase::Passes, CountPhase::Writing] {
        let stop = |progress: CountProgress| match progress.phase == stop_at {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let stopped = on_demand.count(&position, &stop);
        assert!(matches!(stopped, Err(OnDemandError::Cancelled)), "{stopped:?}");
        assert!(fixture.files().is_empty() && on_demand.value(&position).unwrap().is_none());
    }
    let answer = on_demand.probe(&position, true, &follow).unwrap();
    assert_eq!(answer.source, AnswerSource::Cache);
    let seen = seen.into_inner().unwrap();
    assert!(seen.iter().all(|progress| (0.0..=1.0).contains(&progress.fraction)));
    assert!(
        [CountPhase::Reading, CountPhase::Conversions, CountPhase::Passes, CountPhase::Writing]
            .iter()
            .all(|phase| seen.iter().any(|progress| progress.phase == *phase))
    );
    let passes: Vec<_> = seen.iter().filter(|progress| progress.phase == CountPhase::Passes).collect();
    assert!(passes.windows(2).all(|pair| pair[0].depth < pair[1].depth && pair[0].fraction < pair[1].fraction));
    let once = on_demand.probe(&position, true, &|_| panic!("it is counted")).unwrap();
    assert_eq!(once, answer);
}

#[test]
fn too_little_memory_or_disk_is_refused_before_the_start() {
    let fixture = Fixture::new(RuleOptions::PAPER, 3);
    let solver = Solver::new(&fixture.rules, 4, Options::default());
    let position = first(&solver, "EPvLR");
    let need = fixture.open().counter().unwrap().need(&position).unwrap().unwrap();
    assert!(!need.spills && need.file_bytes == need.disk_bytes && need.memory_bytes > 1 << 20);
    // Just enough memory is enough; with a byte less the class is not kept in memory as a whole.
    let with_memory = |bytes: u64| fixture.open_within(GIB, Some(bytes as usize));
    let need_within = |bytes: u64| with_memory(bytes).counter().unwrap().need(&position);
    assert_eq!(need_within(need.memory_bytes).unwrap(), Some(need));
    assert!(!matches!(need_within(need.memory_bytes - 1), Ok(Some(CountNeed { spills: false, .. }))));
    let whole_cache = fixture.open_within(need.file_bytes, None);
    assert_eq!(whole_cache.counter().unwrap().need(&position).unwrap().unwrap(), need);
    let refuse = |on_demand: TableProber| on_demand.probe(&position, true, &|_| panic!("it has begun")).unwrap_err();
    let memory = refuse(with_memory(1 << 20));
    assert!(matches!(memory, OnDemandError::Memory { available: 0x100000, .. }), "{memory}");
    let small = refuse(fixture.open_within(need.file_bytes - 1, None));
    assert!(matches!(small, OnDemandError::Cache { needed, .. } if needed == need.file_bytes), "{small}");
    assert!(fixture.files().is_empty());
    let five = Position::from_fen("7/7/3elt1/7/7/7/3EL2/7/7 w").unwrap();
    let many = fixture.open().probe(&five, true, &ignore).unwrap_err();
    assert!(matches!(many, OnDemandError::TooManyPieces { pieces: 5, most: 4 }), "{many}");
}

/// With too little memory for everything, conversions and change logs are on disk, and the file has the same bytes.
#[test]
fn little_memory_makes_the_same_file() {
    let fixture = Fixture::new(RuleOptions::PAPER, 3);
    let position = first(&Solver::new(&fixture.rules, 4, Options::default()), "EPvLR");
    let files = [u64::MAX, 0].map(|more| {
        let on_demand = fixture.open();
        let least = MemoryNeed::of_job(
            &on_demand.counter().unwrap().classes,
            on_demand.counter().unwrap().counted_class(&position).unwrap(),
            true,
        );
        let memory = (least.peak_spilled() as u64).saturating_add(more) as usize;
        let on_demand = fixture.open_within(GIB, Some(memory));
        let need = on_demand.counter().unwrap().need(&position).unwrap().unwrap();
        assert_eq!((need.spills, need.disk_bytes > need.file_bytes), (more == 0, more == 0));
        on_demand.count(&position, &ignore).unwrap();
        let [path] = &fixture.files()[..] else { panic!("one class") };
        let bytes = fs::read(path).unwrap();
        assert!((bytes.len() as u64) < need.file_bytes, "{} {}", bytes.len(), need.file_bytes);
        fs::remove_file(path).unwrap();
        bytes
    });
    assert!(files[0] == files[1]);
}

/// The class of a file that is damaged, cut short, repacked or of another version is counted again. Files for other rules
/// have other names.
#[test]
fn unfit_files_are_counted_again() {
    let fixture = Fixture::new(RuleOptions::PAPER, 2);
    let solver = Solver::solved_material(&fixture.rules, "EvLT".parse().unwrap()).unwrap();
    let position = positions(&solver, "EvLT".parse().unwrap(), 997)
        .into_iter()
        .find(|position| solver.value(position).unwrap().unwrap().dtw.is_some_and(|dtw| dtw > SEARCH_PLIES))
        .unwrap();
    let wanted = solver.value(&position).unwrap().unwrap();
    fixture.open().count(&position, &ignore).unwrap();
    let [path] = &fixture.files()[..] else { panic!("one class") };
    let whole = fs::read(path).unwrap();
    let counts = AtomicUsize::new(0);
    let follow = |progress: CountProgress| {
        counts.fetch_add(usize::from(begins(progress)), Relaxed);
        ControlFlow::Continue(())
    };
    let ask = || fixture.open().probe(&position, true, &follow).unwrap().value;
    assert_eq!((ask(), counts.load(Relaxed)), (wanted, 0));
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    // The magic, the version, the description and the length.
    let description = whole.windows(7).position(|bytes| bytes == b"\"rules\"").unwrap();
    let broken = [flipped(0), flipped(8), flipped(description + 9), whole[..whole.len() - 1].to_vec()];
    let short = [Vec::new(), whole[..100].to_vec()];
    // The tables of two pieces, repacked: they store one side to move.
    let repacked = fixture.dir.path().join("repacked");
    let mut solver = Solver::new(&fixture.rules, 3, Options::default());
    let job = Generate { material: Some("EvLT".parse().unwrap()), ..Generate::new(&repacked, fixture.rules) };
    job.run(&mut solver, &|_| {}).unwrap();
    repack(&repacked, 8 << 30, &|_, _| {}).unwrap();
    let repacked = fs::read(repacked.join("EvLT.dsq")).unwrap();
    for (i, bytes) in broken.into_iter().chain(short).chain([repacked]).enumerate() {
        fs::write(path, bytes).unwrap();
        assert_eq!((ask(), counts.load(Relaxed)), (wanted, i + 1), "{i}");
        assert!(fs::read(path).unwrap() == whole, "the same bytes again");
    }
    let chinese = Fixture { rules: "chinese".parse().unwrap(), ..Fixture::new("chinese".parse().unwrap(), 2) };
    let other = chinese.tables().on_demand(&CountCache { dir: fixture.cache(), size: GIB, memory: None }).unwrap();
    other.count(&position, &ignore).unwrap();
    assert_eq!(fixture.files().len(), 2);
    assert!(fs::read(path).unwrap() == whole);
    // A file for other rules is refused under this name.
    let of_chinese = fixture.files().into_iter().find(|other| other != path).unwrap();
    fs::copy(&of_chinese, path).unwrap();
    let before = counts.load(Relaxed);
    assert_eq!((ask(), counts.load(Relaxed)), (wanted, before + 1));
}

/// A file with damaged blocks and a whole header opens. After a probe that finds the damage, the class counts as not
/// counted.
#[test]
fn damaged_blocks_make_a_class_unknown() {
    let fixture = Fixture::new(RuleOptions::PAPER, 2);
    let solver = Solver::solved_material(&fixture.rules, "EvLT".parse().unwrap()).unwrap();
    let material = "EvLT".parse().unwrap();
    let long = |position: &Position| solver.value(position).unwrap().unwrap().dtw.is_some_and(|dtw| dtw > SEARCH_PLIES);
    let position = positions(&solver, material, 997).into_iter().find(long).unwrap();
    fixture.open().count(&position, &ignore).unwrap();
    let [path] = &fixture.files()[..] else { panic!("one class") };
    let whole = fs::read(path).unwrap();
    let mut damaged = whole.clone();
    let description = TableFile::open(path, &fixture.rules, material).unwrap().description().clone();
    let blocks = 2 * description.canonical_rows.div_ceil(description.block_rows);
    let start = 32 + u32::from_le_bytes(whole[12..16].try_into().unwrap()) as usize + table_len(blocks);
    damaged[start..].iter_mut().for_each(|byte| *byte ^= 0x55);
    fs::write(path, &damaged).unwrap();
    let probes: [fn(&TableProber, &Position) -> bool; 3] = [
        |on_demand, position| on_demand.value(position).unwrap().is_none(),
        |on_demand, position| on_demand.moves(position).unwrap().is_none(),
        |on_demand, position| matches!(on_demand.line(position), Err(SetError::Table(TableError::Damaged { .. }))),
    ];
    for (i, finds_damage) in probes.into_iter().enumerate() {
        let on_demand = fixture.open();
        assert!(on_demand.counter().unwrap().need(&position).unwrap().is_none(), "the damage is not known yet");
        assert!(finds_damage(&on_demand, &position), "{i}");
        assert!(path.exists() && on_demand.counter().unwrap().need(&position).unwrap().is_some(), "{i}");
    }
    let Ok(line) = solver.line(&position);
    assert_eq!(fixture.open().probe_line(&position, &ignore).unwrap().len(), line.len());
    assert!(fs::read(path).unwrap() == whole, "the same bytes again");
}

/// If two threads count at the same time, one counts and the other waits, even if the memory does not suffice for both.
/// Partial files of killed processes are removed.
#[test]
fn a_cache_is_shared() {
    let fixture = Fixture::new(RuleOptions::PAPER, 3);
    let solver = Solver::new(&fixture.rules, 4, Options::default());
    let position = first(&solver, "EPvLR");
    let (first, second) = (fixture.open(), fixture.open_within(GIB, Some(1 << 20)));
    let half = left_by("EvL-0000000000000000.dsq", None);
    fs::write(fixture.cache().join(half), "x").unwrap();
    let (began, waited, counted) = (AtomicBool::new(false), AtomicBool::new(false), AtomicUsize::new(0));
    let count = |progress: CountProgress| {
        if begins(progress) {
            counted.fetch_add(1, Relaxed);
            began.store(true, Relaxed);
            while !waited.load(Relaxed) {
                std::thread::yield_now();
            }
        }
        ControlFlow::Continue(())
    };
    let wait = |progress: CountProgress| {
        waited.fetch_or(progress.phase == CountPhase::Waiting, Relaxed);
        counted.fetch_add(usize::from(begins(progress)), Relaxed);
        ControlFlow::Continue(())
    };
    let answers = std::thread::scope(|scope| {
        let first = scope.spawn(|| first.probe(&position, true, &count).unwrap());
        while !began.load(Relaxed) {
            std::thread::yield_now();
        }
        let second = second.probe(&position, true, &wait).unwrap();
        [first.join().unwrap(), second]
    });
    assert_eq!(answers[0], answers[1]);
    assert_eq!(counted.load(Relaxed), 1, "one of the two counts");
    assert_eq!(fixture.files().len(), 1, "what was half written is gone");
}

#[test]
fn missing_captures_are_named() {
    let fixture = Fixture::new(RuleOptions::PAPER, 3);
    let solver = Solver::new(&fixture.rules, 4, Options::default());
    let position = first(&solver, "EPvLR");
    fs::remove_file(fixture.dir.path().join("tables/EPvL.dsq")).unwrap();
    let error = fixture.open().count(&position, &ignore).unwrap_err();
    assert!(
        matches!(&error, OnDemandError::Set(SetError::MissingCapture { capture, .. }) if capture.to_string() == "EPvL")
    );
    // A missing class of the tables is counted like a class with more pieces.
    let missing = positions(&solver, "EPvL".parse().unwrap(), 997).into_iter().find(|p| p.winner().is_none()).unwrap();
    let answer = fixture.open().probe(&missing, true, &ignore).unwrap();
    assert_eq!(
        answer.value,
        Solver::solved_material(&fixture.rules, "EPvL".parse().unwrap()).unwrap().value(&missing).unwrap().unwrap()
    );
}
