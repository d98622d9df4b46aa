//! Tables that know a no-capture limit, against brute force over position and clock.

use super::{material, rules};
use crate::within::Exact;
use doushouqi::board::{Color, RuleOptions, Rules};
use doushouqi::tablebase::{
    Backend, CellValue, Cells, ClassId, Classes, Contradiction, CpuBackend, Generate, Job, Material, Options, ProbeDtz,
    Prover, ROW_CELLS, Scope, Sink, SolveError, Solved, Solver, TableSet, Wdl, repack, verify,
};
use std::fs;

/// Only tables have the limit in their rules, and it is a part of their spelling and their hash.
#[test]
fn the_limit_is_spelled_with_the_rules_of_tables() {
    for name in ["paper", "chinese", "paper,panther-leap=ranks"] {
        let plain = rules(name);
        let limited = plain.within(Some(100));
        let spelling = limited.table_spelling();
        assert_eq!(spelling, format!("{},no-capture-limit=100", plain.table_spelling()));
        assert_eq!(RuleOptions::from_table_spelling(&spelling), Ok(limited));
        assert_eq!(RuleOptions::from_table_spelling(&plain.table_spelling()), Ok(plain));
        let hashes = [plain, limited, plain.within(Some(99))].map(|rules| rules.table_hash());
        assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2]);
        assert!(spelling.parse::<RuleOptions>().is_err(), "no rules of a game");
    }
    for wrong in ["0", "1001", "70000", "-1", "", "a lot"] {
        let error =
            RuleOptions::from_table_spelling(&format!("paper,no-capture-limit={wrong}")).unwrap_err().to_string();
        assert!(error.contains("no-capture-limit cannot be") && error.contains("1 to 1000"), "{error}");
    }
}

/// Compares the values of every position of a class, at every clock, and counts those with a distance off the beat: a win in
/// an even number of plies or a loss in an odd one.
fn compare(solver: &Solver, name: Material, limit: u16) -> usize {
    let rules = Rules::new(solver.classes().options().within(None));
    let exact = Exact::solve(name.pieces().collect(), &rules, limit.into());
    let index = solver.classes().get(solver.classes().member(name).unwrap().class).index();
    let mut off_beat = 0;
    for turn in Color::ALL {
        for position in (0..index.cells()).filter_map(|cell| index.position(cell, turn)) {
            let Ok(value) = solver.dtz(&position);
            let (value, text) = (value.unwrap(), format!("{name}, limit {limit}: {}", position.to_fen()));
            if position.outcome(&rules).is_some() {
                assert_eq!(value.plies, 0, "{text}");
                continue;
            }
            assert_eq!((value.wdl, u32::from(value.plies)), exact.dtz(&position), "{text}");
            off_beat += usize::from(value.wdl != Wdl::Draw && (value.plies % 2 == 1) != (value.wdl == Wdl::Win));
        }
    }
    off_beat
}

fn compare_classes(text: &str, limit: u16, pieces: usize, names: &dyn Fn(Material) -> bool) -> usize {
    let mut solver = Solver::new(&rules(text).within(Some(limit)), pieces, Options::default());
    (2..=pieces).for_each(|n| solver.solve_level(n, true, &|_, _| ()).unwrap());
    let all: Vec<Material> = solver.classes().level(pieces).map(|(_, class)| class.representative).collect();
    all.into_iter().filter(|&name| names(name)).map(|name| compare(&solver, name, limit)).sum()
}

/// Every position of two pieces and of some classes of three, with every number of plies left.
#[test]
fn values_are_exact_at_every_clock() {
    for text in ["paper", "chinese"] {
        for limit in [1, 2, 10, 20, 50, 100] {
            compare_classes(text, limit, 2, &|_| true);
        }
    }
    let chosen = |names: &[&str]| names.iter().map(|name| material(name)).collect::<Vec<_>>();
    for (text, limit, names) in
        [("paper", 10, &["ELvR", "EvLT"][..]), ("paper", 100, &["ETvL", "EPvP"][..]), ("chinese", 20, &["LvTR"][..])]
    {
        let names = chosen(names);
        let off_beat = compare_classes(text, limit, 3, &|name| names.contains(&name));
        assert!(off_beat > 0 || text != "paper", "{names:?}: a side whose moves are all captures that lose");
    }
}

/// Every position of every class of three pieces.
///
/// `./test every_class_of_three -- --ignored`
#[test]
#[ignore = "takes minutes"]
fn every_class_of_three_is_exact_at_every_clock() {
    for limit in [10, 20, 50, 100] {
        assert!(compare_classes("paper", limit, 3, &|_| true) > 0);
    }
}

/// Files hold what the solver has in memory, are proved value by value in either way, and a changed value is found. Tables of
/// one metric are refused where the other is needed, and beside each other.
#[test]
fn files_hold_the_values_and_their_proof() {
    let dir = tempfile::tempdir().unwrap();
    let limited = rules("paper").within(Some(30));
    let job = Generate { material: Some(material("ELvTR")), ..Generate::new(dir.path(), limited) };
    let mut solver = Solver::new(&limited, 4, Options::default());
    job.run(&mut solver, &|_| ()).unwrap();
    for packed in [false, true] {
        if packed {
            repack(dir.path(), 1 << 30, &|_, _| ()).unwrap();
        }
        let set = TableSet::open(dir.path()).unwrap();
        assert_eq!(set.no_capture_limit(), Some(30));
        let mut prover = Prover::new(&set, 1 << 30);
        for id in set.ids() {
            assert!(prover.prove(id).unwrap().is_ok(), "{}", set.classes().get(id).representative);
            let plain = verify(&set, id, Scope::Sample { cells: 500, seed: 1 }).unwrap();
            assert!(plain.is_ok(), "{:?}", plain.unwrap_err());
        }
        let class = set.classes().member(material("LvTR")).unwrap().class;
        assert!(verify(&set, class, Scope::Full).unwrap().is_ok());
        let prober = TableSet::open(dir.path()).unwrap().dtz_prober(&rules("paper")).unwrap();
        let whole = Solver::solved_material(&limited, material("ELvTR")).unwrap();
        let index = whole.classes().get(whole.classes().member(material("ELvTR")).unwrap().class).index();
        for position in (0..index.cells()).step_by(9973).filter_map(|cell| index.position(cell, Color::Black)) {
            let Ok(value) = whole.dtz(&position);
            assert_eq!(prober.dtz(&position).unwrap(), value, "{}", position.to_fen());
        }
    }
    let open = || TableSet::open(dir.path()).unwrap();
    let refused = |error: String| assert!(error.contains("no-capture limit of 30"), "{error}");
    refused(open().prober(&rules("paper")).err().unwrap().to_string());
    refused(open().wdl_prober(&rules("paper")).err().unwrap().to_string());
    assert!(open().dtz_prober(&rules("chinese")).is_err());
    let other = Generate { pieces: 2, ..Generate::new(dir.path(), rules("paper")) };
    let error = other.run(&mut Solver::new(&other.rules, 2, Options::default()), &|_| ()).unwrap_err().to_string();
    assert!(error.contains("no-capture-limit=30"), "{error}");
    let distances = tempfile::tempdir().unwrap();
    let job = Generate { pieces: 2, ..Generate::new(distances.path(), rules("paper")) };
    job.run(&mut Solver::new(&job.rules, 2, Options::default()), &|_| ()).unwrap();
    let error = TableSet::open(distances.path()).unwrap().dtz_prober(&rules("paper")).err().unwrap().to_string();
    assert!(error.contains("know no no-capture limit"), "{error}");
    // Files of another limit in the same directory.
    let name = Classes::new(&limited, 2).iter().next().unwrap().1.representative;
    let file = format!("{name}.dsq");
    fs::copy(distances.path().join(&file), dir.path().join(&file)).unwrap();
    let error = open().file(open().classes().member(name).unwrap().class).err().unwrap().to_string();
    assert!(error.contains("no-capture-limit=30"), "{error}");
}

/// Solves on the CPU, and changes a value of one class: a distance, or a win to a draw.
struct Forger {
    class: Material,
    to_draw: bool,
}

impl Backend for Forger {
    fn name(&self) -> String {
        "a forger".to_owned()
    }

    fn solve(&mut self, job: &Job<'_>, sink: Sink<'_>) -> Result<(), SolveError> {
        let forge = |id, solved: Solved| {
            if job.material(id) != self.class {
                return sink(id, solved);
            }
            let (index, mut stats) = (job.classes.get(id).index(), solved.stats.clone());
            let mut table = solved.table()?.expect("values are asked for");
            let cells = &mut table.cells.white;
            // A win in three plies, whose number is 2 * 3 - 1.
            let is_win = |cell: &usize| cells.get(*cell) == CellValue::Decided(5).code();
            let cell = (0..index.cells()).find(is_win).expect("there is one");
            let weight = index.weight(cell / ROW_CELLS);
            stats.white.by_plies[5] -= weight;
            let value = if self.to_draw { CellValue::Draw } else { CellValue::Decided(1) };
            match value {
                CellValue::Draw => stats.white.draws += weight,
                _ => stats.white.add_decided(1, weight),
            }
            let Cells::Byte(codes) = cells else { panic!("distances fit a byte") };
            codes[cell] = value.code() as u8;
            sink(
                id,
                Solved { deepest: solved.deepest, ..Solved::of_table(index, job.classes.options(), stats, &table)? },
            )
        };
        CpuBackend::default().solve(job, &forge)
    }

    fn host_bytes(&self, classes: &Classes, id: ClassId, values: bool) -> usize {
        CpuBackend::default().host_bytes(classes, id, values)
    }
}

/// A wrong distance and a wrong result are found by the proof and by the slow twin.
#[test]
fn a_wrong_value_under_a_limit_is_found() {
    let (class, limited) = (material("EvLR"), rules("paper").within(Some(30)));
    for to_draw in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let job = Generate { material: Some(class), ..Generate::new(dir.path(), limited) };
        let mut solver = Solver::new(&limited, 3, Options::default()).on(Forger { class, to_draw });
        job.run(&mut solver, &|_| ()).unwrap();
        let set = TableSet::open(dir.path()).unwrap();
        let id = set.classes().member(class).unwrap().class;
        let found = |checked: Result<(), Box<Contradiction>>| {
            let wrong = checked.unwrap_err();
            assert!(matches!(*wrong, Contradiction::CellValue { .. }));
            assert!(wrong.to_string().ends_with("the moves give win, 3 plies to a capture or den"), "{wrong}");
        };
        found(Prover::new(&set, 1 << 30).prove(id).unwrap().map(|_| ()));
        found(verify(&set, id, Scope::Full).unwrap().map(|_| ()));
    }
}
