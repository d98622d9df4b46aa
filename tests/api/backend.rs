//! The contract of a backend: a backend of this file fills a whole set, and a second backend takes over from one that
//! fails on some classes.

use crate::slow;

use doushouqi::board::{Animal, ByColor, Color, RuleOptions};
use doushouqi::cpu::CpuLevel;
use doushouqi::tablebase::{
    Backend, CellValue, Cells, ClassId, Classes, CpuBackend, DeviceWork, Generate, Index, Job, Material, Options,
    OrElse, Sink, SolveError, Solved, Solver, Stats, Table, first_difference,
};
use rayon::prelude::*;
use std::path::Path;

/// Solves with the slow twin: the rules on a plain array of squares, cell by cell.
struct Slow;

fn animals(material: Material, color: Color) -> Vec<Animal> {
    material.side(color).strongest_first().collect()
}

fn solve_slowly(material: Material, index: &Index, rules: &RuleOptions) -> Solved {
    let tables = slow::solve(&animals(material, Color::White), &animals(material, Color::Black), rules);
    let pieces: Vec<_> = index.pieces.clone();
    let mut stats: ByColor<Stats> = ByColor::default();
    let cells = ByColor::from_fn(|turn| {
        let value = |cell: usize| {
            let squares = index.squares(cell)?;
            let placed: Vec<_> =
                pieces.iter().zip(squares).map(|(piece, square)| (piece.color, piece.animal, square)).collect();
            let value = match tables.lookup(&placed, turn)? {
                slow::Value::Draw => CellValue::Draw,
                slow::Value::NoMove => CellValue::NoMove,
                slow::Value::Decided(plies) => CellValue::Decided(plies),
            };
            Some(value)
        };
        let mut codes = vec![0; index.cells()];
        for (cell, code) in codes.iter_mut().enumerate() {
            let Some(value) = value(cell) else { continue };
            *code = u8::try_from(value.code()).expect("a short line");
            let weight = index.weight(cell / doushouqi::tablebase::ROW_CELLS);
            match value {
                CellValue::Draw => stats[turn].draws += weight,
                CellValue::NoMove => stats[turn].no_move += weight,
                CellValue::Decided(plies) => stats[turn].add_decided(plies, weight),
            }
        }
        Cells::Byte(codes)
    });
    Solved::of_table(index.clone(), rules, stats, &Table { cells }).expect("the values have these counts")
}

impl Backend for Slow {
    fn name(&self) -> String {
        "the slow twin".to_owned()
    }

    fn solve(&mut self, job: &Job<'_>, sink: Sink<'_>) -> Result<(), SolveError> {
        job.ids.par_iter().with_max_len(1).try_for_each(|&id| {
            let index = job.classes.get(id).index();
            sink(id, solve_slowly(job.material(id), &index, job.classes.options()))
        })
    }

    fn host_bytes(&self, classes: &Classes, id: ClassId, _: bool) -> usize {
        2 * classes.get(id).index().cells()
    }

    fn work(&self) -> Option<DeviceWork> {
        Some(DeviceWork { rows: 7, ..DeviceWork::default() })
    }
}

#[test]
fn what_is_in_a_box_says_what_it_says_outside() {
    let boxed: Box<dyn Backend> = Box::new(Slow);
    let classes = Classes::new(&RuleOptions::PAPER, 2);
    let id = classes.member("EvL".parse().unwrap()).unwrap().class;
    assert_eq!((boxed.name(), boxed.work()), (Slow.name(), Slow.work()));
    assert_eq!(boxed.host_bytes(&classes, id, true), Slow.host_bytes(&classes, id, true));
}

#[test]
fn one_backend_else_another_says_both_names() {
    let both = OrElse::new(Slow, NoRats { backend: CpuBackend::default(), says_which: true });
    assert_eq!((both.name(), both.work()), ("the slow twin, else no rats".to_owned(), Slow.work()));
}

/// Sums and differences of work are field by field; the memory of a sum is the maximum.
#[test]
fn what_devices_have_done_adds_up() {
    let work = |n: u64| DeviceWork {
        rows: 3 * n,
        row_visits: 5 * n,
        conversions: 7 * n,
        bytes_moved: 11 * n,
        memory: 13 * n,
        sent: 17 * n,
        compile_seconds: 0.5 * n as f64,
    };
    let mut sum = work(2);
    sum += work(5);
    assert_eq!(sum, DeviceWork { memory: work(5).memory, ..work(7) });
    assert_eq!(work(9).since(&work(4)), DeviceWork { memory: work(9).memory, ..work(5) });
}

/// The names and bytes of all files of a directory.
fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> =
        entries.map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())).collect();
    files.sort();
    files
}

/// All classes of two pieces, and one of three with its captures.
#[test]
fn another_backend_fills_the_same_set() {
    let rules = RuleOptions::PAPER;
    let [slow, fast] = [true, false].map(|slow| {
        let dir = tempfile::tempdir().unwrap();
        let solver = Solver::new(&rules, 3, Options::default());
        let mut solver = if slow { solver.on(Slow) } else { solver };
        let two = Generate { pieces: 2, ..Generate::new(dir.path(), rules) };
        let three = Generate { material: Some("LRvT".parse().unwrap()), ..Generate::new(dir.path(), rules) };
        [two, three].iter().for_each(|job| job.run(&mut solver, &|_| {}).map(drop).unwrap());
        files(dir.path())
    });
    assert_eq!(slow.len(), 10 + 1 + 2, "a file a class, the manifest, the lock");
    for (slow, fast) in slow.iter().zip(&fast) {
        assert!(slow == fast, "{} differs", slow.0);
    }
    assert_eq!(slow.len(), fast.len());
}

/// The CPU backend, which here fails on classes with a rat.
struct NoRats {
    backend: CpuBackend,
    /// Whether the error names the class.
    says_which: bool,
}

impl Backend for NoRats {
    fn name(&self) -> String {
        "no rats".to_owned()
    }

    fn solve(&mut self, job: &Job<'_>, sink: Sink<'_>) -> Result<(), SolveError> {
        for &id in job.ids {
            let material = job.material(id);
            if material.pieces().any(|piece| piece.animal == Animal::Rat) {
                let material = self.says_which.then_some(material);
                return Err(SolveError::Backend { material, reason: "a rat".to_owned() });
            }
            self.backend.solve(&job.with(&[id]), sink)?;
        }
        Ok(())
    }

    fn host_bytes(&self, classes: &Classes, id: ClassId, values: bool) -> usize {
        self.backend.host_bytes(classes, id, values)
    }
}

fn solve_all(solver: &mut Solver) -> Result<(), SolveError> {
    solver.solve_level(2, true, &|_, _| {})?;
    solver.solve_level(3, true, &|_, _| {})
}

#[test]
fn a_processor_says_what_it_is() {
    for level in CpuLevel::available() {
        assert_eq!(CpuBackend::new(level).name(), format!("CPU ({})", level.name()));
    }
}

#[test]
fn what_one_backend_cannot_do_another_does() {
    let rules = RuleOptions::PAPER;
    let mut plain = Solver::new(&rules, 3, Options::default());
    solve_all(&mut plain).unwrap();
    let ids: Vec<ClassId> = plain.classes().iter().map(|(id, _)| id).collect();
    let has_rat =
        |id: &&ClassId| plain.classes().get(**id).representative.pieces().any(|piece| piece.animal == Animal::Rat);
    let rats = ids.iter().filter(has_rat).count();
    assert!(rats > 5 && rats < ids.len());
    for says_which in [true, false] {
        let no_rats = || NoRats { backend: CpuBackend::default(), says_which };
        let error = solve_all(&mut Solver::new(&rules, 3, Options::default()).on(no_rats())).unwrap_err();
        assert!(matches!(error, SolveError::Backend { material, .. } if material.is_some() == says_which), "{error}");

        let mut helped = Solver::new(&rules, 3, Options::default()).on(OrElse::new(no_rats(), CpuBackend::default()));
        solve_all(&mut helped).unwrap();
        for &id in ids.iter().filter(has_rat) {
            assert_eq!(first_difference(&plain, &helped, id), None);
        }
        let fallbacks = helped.backend().fallbacks();
        let has_rat = |m: &Material| m.pieces().any(|piece| piece.animal == Animal::Rat);
        if says_which {
            assert_eq!(fallbacks.len(), rats);
            assert!(fallbacks.iter().all(|(material, _)| has_rat(material)));
        } else {
            assert!(fallbacks.len() >= rats, "all that came after the first rat");
        }
    }
}

/// A backend that breaks its contract.
enum Wrong {
    LeavesOut,
    TooShort,
    OneTooShort(Color),
    NoValues,
    /// The values of another class.
    OfAnother,
    /// A position is counted twice.
    Counts(Color),
    /// A position has another value.
    Values(Color),
}

impl Backend for Wrong {
    fn name(&self) -> String {
        "a wrong one".to_owned()
    }

    fn solve(&mut self, job: &Job<'_>, sink: Sink<'_>) -> Result<(), SolveError> {
        let cells = || ByColor::from_fn(|_| Cells::Byte(vec![1; 10]));
        let wrong = &*self;
        let id = job.ids[0];
        let index = job.classes.get(id).index();
        let of_table = |stats, cells| Solved::of_table(index.clone(), job.classes.options(), stats, &Table { cells });
        match wrong {
            Wrong::LeavesOut => Ok(()),
            Wrong::TooShort => sink(id, of_table(ByColor::default(), cells())?),
            Wrong::OneTooShort(short) => {
                let mut cells = cells();
                cells[!*short] = Cells::Byte(vec![1; index.cells()]);
                sink(id, of_table(ByColor::default(), cells)?)
            }
            Wrong::NoValues => {
                sink(id, Solved { stats: ByColor::default(), deepest: ByColor::default(), values: None })
            }
            Wrong::OfAnother => CpuBackend::default().solve(job, &|other, solved| {
                if other == id { Ok(()) } else { sink(id, solved) }
            }),
            Wrong::Counts(turn) => CpuBackend::default().solve(job, &|id, mut solved| {
                solved.stats[*turn].draws += 1;
                sink(id, solved)
            }),
            Wrong::Values(turn) => CpuBackend::default().solve(&job.with(&[id]), &|id, solved| {
                let Table { mut cells } = solved.table()?.expect("the job wants values");
                let Cells::Byte(codes) = &mut cells[*turn] else { panic!("two pieces have no long line") };
                let code = codes.iter_mut().find(|code| **code > 0).expect("there is a position");
                let draw = CellValue::Draw.code() as u8;
                *code = if *code == draw { CellValue::Decided(1).code() as u8 } else { draw };
                sink(id, of_table(solved.stats, cells)?)
            }),
        }
    }

    fn host_bytes(&self, _: &Classes, _: ClassId, _: bool) -> usize {
        0
    }
}

#[test]
fn a_wrong_backend_is_an_error() {
    let mut wrongs = vec![
        (Wrong::LeavesOut, "a wrong one left a class out"),
        (Wrong::TooShort, "has not 4096 cells for each side to move"),
        (Wrong::NoValues, "a wrong one gave no values of"),
        (Wrong::OfAnother, "a wrong one gave no values of"),
    ];
    for turn in Color::ALL {
        wrongs.push((Wrong::OneTooShort(turn), "has not 4096 cells for each side to move"));
        wrongs.push((Wrong::Counts(turn), "a wrong one gave counts of"));
        wrongs.push((Wrong::Values(turn), "has values that differ from its counts"));
    }
    for (wrong, reason) in wrongs {
        let mut solver = Solver::new(&RuleOptions::PAPER, 2, Options::default()).on(wrong);
        let error = solver.solve_level(2, true, &|_, _| {}).unwrap_err();
        assert!(matches!(error, SolveError::Backend { material: Some(_), .. }), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}
