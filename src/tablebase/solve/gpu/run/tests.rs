//! Compares each kernel with the values of the CPU: after pass d, the planes contain the positions that are decided in up
//! to d plies.

use super::*;
use crate::board::RuleOptions;
use crate::gpu::{AdapterChoice, opened};
use crate::tablebase::solve::gpu::{Gpu, GpuLimits, captured};
use crate::tablebase::value::{Code, DRAW, NO_MOVE as STUCK, decided};
use crate::tablebase::{CellValue, ClassId, Classes, Options, Solver, WIDTH};
use std::sync::{Mutex, PoisonError};

/// A GPU with these limits, which do not limit the device. All tests share the device and its compiled kernels. Without a
/// GPU the test is skipped.
pub(super) fn gpu(limits: GpuLimits) -> Option<Gpu> {
    static SHARED: [Mutex<Option<Gpu>>; 2] = [const { Mutex::new(None) }; 2];
    let mut shared = SHARED[usize::from(limits.subgroups)].lock().unwrap_or_else(PoisonError::into_inner);
    if shared.is_none() {
        let device = GpuLimits { subgroups: limits.subgroups, ..GpuLimits::NONE };
        *shared = Some(opened(Gpu::open_limited(AdapterChoice::Any, device))?);
    }
    opened(shared.as_mut()?.share(limits))
}

/// The plan of a job that is one batch.
pub(super) fn batch(ids: &[ClassId], classes: &Classes) -> Arc<Plan> {
    Arc::new(Plan::new(ids, classes, captured(ids, classes).into()))
}

/// A batch on the GPU whose rows are in several pages, and its values on the CPU.
struct Scene<'a> {
    run: Run<'a>,
    solver: &'a Solver,
}

/// Runs `init` on batches under two rules, then calls `test`; with bytes and subgroups under the first rules only.
fn after_init(test: impl Fn(&mut Scene<'_>)) {
    for (rules, is_first) in [("paper", true), ("no-move=loss,own-rat-blocks=no,traps=any", false)] {
        let limits = GpuLimits { buffer: 1 << 17, subgroups: is_first, ..GpuLimits::NONE };
        let Some(mut gpu) = gpu(limits) else { return };
        let rules: RuleOptions = rules.parse().unwrap();
        let solver = Solver::solved(&rules, 3).unwrap();
        let id = |name: &str| solver.classes().member(name.parse().unwrap()).unwrap().class;
        let ids = ["LRvT", "TRvR", "LTvR"].map(id);
        let plan = batch(&ids, solver.classes());
        let run = gpu.start(&solver.job(&ids, true), &plan, gpu.format(true, !is_first, 256)).unwrap();
        assert!(run.pages.len() > 2);
        run.write_params(0).unwrap();
        run.device.submit(run.each_row(&run.kernels.init)).unwrap();
        test(&mut Scene { run, solver: &solver });
    }
}

/// The number of plies in which a position is decided.
fn plies(code: Code, loses: bool) -> Option<u16> {
    match CellValue::from_code(code)? {
        _ if code == STUCK => loses.then_some(0),
        _ if code == DRAW => None,
        _ => Some(code - decided(0)),
    }
}

impl Scene<'_> {
    /// Checks the planes, the numbers of undecided positions, the codes and the counters after pass `depth`; 0 is `init`.
    fn check(&mut self, depth: u16) {
        let loses = self.run.job.classes.options().no_move == NoMove::Loss;
        self.run.read_counters().unwrap();
        let plan = self.run.plan.clone();
        let mut counts = vec![0; plan.sides.len()];
        for color in Color::ALL {
            let planes = &self.run.planes[color];
            let [open, lost, escapes] = [&planes.open, &planes.lost, &planes.escapes].map(|plane| self.plane(plane));
            let states: Vec<Row> = self.run.device.read(&self.run.rows[color], plan.rows).unwrap();
            let codes = self.codes(color);
            for (row, state) in states.iter().enumerate() {
                let class = state.class_number as usize;
                let Member { id, rows, first, .. } = &plan.members[class];
                let values = &self.solver.table(*id).unwrap().cells[color];
                let mut undecided = 0;
                for (word, s) in plan.words.into_iter().enumerate() {
                    for lane in 0..WIDTH {
                        let place = s.index() * WIDTH + lane;
                        let code = values.get(rows.row(row - first) * ROW_CELLS + place);
                        let what = format!("{color:?} to move, row {row}, cell {place}, code {code}, pass {depth}");
                        let is = |plane: &[u64]| plane[row * plan.row_words() + word] >> lane & 1 != 0;
                        let known = plies(code, loses).filter(|&plies| plies <= depth);
                        let won = known.is_some_and(|plies| plies % 2 == 1);
                        let is_lost = known.is_some() && !won;
                        assert_eq!(is(&open), code != 0 && !won, "open: {what}");
                        assert_eq!(is(&lost), is_lost, "lost: {what}");
                        assert!(is(&escapes) || code != 0, "escapes: {what}");
                        let stored = if known.is_some() || code == STUCK { code } else { 0 };
                        assert_eq!(codes[row * ROW_CELLS + place], stored, "{what}");
                        undecided += u32::from(is(&open) && !is_lost);
                        let counted = if depth == 0 { code == STUCK } else { known == Some(depth) };
                        counts[2 * class + color as usize] += if counted { rows.weight(row - first) } else { 0 };
                    }
                }
                assert_eq!(state.undecided, undecided, "row {row}");
                let finished = state.due_in_pass == [NONE; 2] && state.next_conversion == NONE;
                assert_eq!(undecided == 0, finished, "row {row} is due");
            }
        }
        let counted: Vec<u64> = (0..counts.len()).map(|side| self.run.count(side, depth.into())).collect();
        assert_eq!(counted, counts, "pass {depth}");
    }

    fn plane(&self, plane: &wgpu::Buffer) -> Vec<u64> {
        self.run.device.read(plane, self.run.plan.rows * self.run.plan.row_words()).unwrap()
    }

    /// The codes of all rows of a side to move, cell by cell.
    fn codes(&self, color: Color) -> Vec<Code> {
        let of_page = |page: &Page| -> Vec<Code> {
            let cells = page.rows * ROW_CELLS;
            match self.run.format.wide {
                true => self.run.device.read(&page.codes, cells).unwrap(),
                false => self.run.device.read::<u8>(&page.codes, cells).unwrap().into_iter().map(Code::from).collect(),
            }
        };
        self.run.pages.iter().filter(|page| page.color == color).flat_map(of_page).collect()
    }
}

#[test]
fn init() {
    after_init(|scene| scene.check(0));
}

#[test]
fn pass() {
    after_init(|scene| {
        for depth in 1..=scene.run.last_conversion(0..scene.run.plan.sides.len()).max(40) {
            scene.run.write_params(depth).unwrap();
            scene.run.device.submit(scene.run.pass(depth, 0)).unwrap();
            scene.check(depth);
        }
    });
}

/// `finish`: undecided positions without a code become draws.
#[test]
fn finish() {
    after_init(|scene| {
        scene.run.write_params(0).unwrap();
        scene.run.device.submit(scene.run.each_row(&scene.run.kernels.finish)).unwrap();
        let loses = scene.run.job.classes.options().no_move == NoMove::Loss;
        for color in Color::ALL {
            let codes = scene.codes(color);
            for Member { id, rows, first, .. } in &scene.run.plan.members {
                let values = &scene.solver.table(*id).unwrap().cells[color];
                for (number, place) in (0..rows.len()).flat_map(|row| (0..ROW_CELLS).map(move |place| (row, place))) {
                    let code = values.get(rows.row(number) * ROW_CELLS + place);
                    let known = code == 0 || code == STUCK || plies(code, loses) == Some(0);
                    assert_eq!(codes[(first + number) * ROW_CELLS + place], if known { code } else { DRAW });
                }
            }
        }
    });
}

/// A batch whose `finish` did not run has no values and counts: the draws are not marked.
#[test]
fn a_batch_that_is_not_finished_is_an_error() {
    after_init(|scene| {
        let sides = scene.run.plan.sides.len();
        for depth in 1..=scene.run.last_conversion(0..sides).max(40) {
            scene.run.write_params(depth).unwrap();
            scene.run.device.submit(scene.run.pass(depth, 0)).unwrap();
        }
        let error = scene.run.fetch().expect_err("draws without a code").to_string();
        assert!(error.contains("positions and left 0"), "{error}");
        scene.run.write_params(0).unwrap();
        scene.run.device.submit(scene.run.each_row(&scene.run.kernels.finish)).unwrap();
        scene.run.fetch().unwrap();
    });
}

/// Slow steps are submitted one by one, so that no submission takes too long.
#[test]
fn submissions_are_limited() {
    let Some(mut gpu) = gpu(GpuLimits { buffer: 1 << 17, submitted_rows: 100, ..GpuLimits::NONE }) else { return };
    let mut solver = Solver::new(&RuleOptions::PAPER, 3, Options::default());
    solver.solve_level(2, true, &|_, _| {}).unwrap();
    let id = solver.classes().member("LRvT".parse().unwrap()).unwrap().class;
    solver.solve_some(&[id], true, &|_, _| {}).unwrap();
    let ids = [id];
    let plan = batch(&ids, solver.classes());
    let mut run = gpu.start(&solver.job(&ids, true), &plan, gpu.format(true, false, 256)).unwrap();
    let rows = run.pages[0].rows;
    assert!(run.pages.iter().all(|page| page.rows <= rows));
    let (init, passes): (Vec<_>, Vec<_>) = (run.each_row(&run.kernels.init).collect(), run.pass(1, 0).collect());
    assert_eq!(run.steps_at_once(&init), (100 / (WHOLE_ROW * rows)).max(1));
    assert_eq!(run.steps_at_once(&passes), (100 / rows).clamp(1, passes.len()));
    drop((init, passes));
    assert!(matches!(run.solve(253), Ok(Done::Solved)));
    let solved = run.fetch().unwrap().pop().unwrap();
    assert_eq!(Some(&solved.stats), solver.class_stats(id));
    assert!(solved.table.as_ref() == solver.table(id));
}

/// A batch with too few entries for its conversions returns the number that it needs.
#[test]
fn a_batch_reports_the_entries_that_it_needs() {
    let Some(mut gpu) = gpu(GpuLimits::NONE) else { return };
    let mut solver = Solver::new(&RuleOptions::PAPER, 3, Options::default());
    solver.solve_level(2, true, &|_, _| {}).unwrap();
    let ids: [ClassId; 1] = [solver.classes().member("LRvT".parse().unwrap()).unwrap().class];
    let plan = batch(&ids, solver.classes());
    let job = solver.job(&ids, true);
    let mut solve = |entries: u64| gpu.start(&job, &plan, gpu.format(true, false, entries)).unwrap().solve(253);
    let Ok(Done::NeedsEntries(needed)) = solve(1) else { panic!("too few") };
    assert!(matches!(solve(needed - 1), Ok(Done::NeedsEntries(_))));
    assert!(matches!(solve(needed), Ok(Done::Solved)));
}
