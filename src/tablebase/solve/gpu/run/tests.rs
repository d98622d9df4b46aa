//! Compares each kernel with the values of the CPU: after pass d, the planes contain the positions that are decided in up
//! to d plies.

use super::*;
use crate::board::{File, RuleOptions};
use crate::gpu::{AdapterChoice, opened};
use crate::tablebase::material::squares_in_play;
use crate::tablebase::solve::cpu::conversions::{ESCAPE, value};
use crate::tablebase::solve::gpu::{Gpu, GpuLimits, captured};
use crate::tablebase::value::{Code, DRAW, NO_MOVE as STUCK, decided};
use crate::tablebase::{CellValue, ClassId, Classes, Options, Solver, WIDTH};
use pollster::block_on;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// A GPU with these limits, on a device with no more than the limits of WebGPU. All tests share the device and its compiled
/// kernels. Without a GPU the test is skipped.
pub(super) fn gpu(limits: GpuLimits) -> Option<Gpu> {
    static SHARED: [Mutex<Option<Gpu>>; 2] = [const { Mutex::new(None) }; 2];
    let mut shared = SHARED[usize::from(limits.subgroups)].lock().unwrap_or_else(PoisonError::into_inner);
    if shared.is_none() {
        let device = GpuLimits { subgroups: limits.subgroups, guaranteed: true, ..GpuLimits::NONE };
        *shared = Some(opened(Gpu::open_limited(AdapterChoice::Any, device))?);
    }
    opened(shared.as_mut()?.share(limits))
}

/// The plan of a job that is one batch.
pub(super) fn batch(ids: &[ClassId], classes: &Classes) -> Arc<Plan> {
    Arc::new(Plan::new(ids, classes, captured(ids, classes).into()))
}

/// The classes of a solved batch.
pub(super) fn fetched(run: &mut Run<'_>) -> Vec<Solved> {
    let mut all = Vec::new();
    block_on(run.fetch(|_, solved| {
        all.push(solved);
        Ok(())
    }))
    .unwrap();
    all
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
        let mut run = block_on(gpu.start(&solver.job(&ids, true), &plan, gpu.format(true, !is_first, 256))).unwrap();
        assert!(run.script.pages.len() > 2);
        block_on(run.execute(&run.script.start(run.at_once()))).unwrap();
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
    /// Runs a pass.
    fn pass(&mut self, depth: u16) {
        block_on(self.run.execute(&self.run.script.passes(depth..depth + 1, self.run.at_once()))).unwrap();
    }

    fn finish(&mut self) {
        block_on(self.run.execute(&self.run.script.finish(self.run.at_once()))).unwrap();
    }

    /// The depths of passes after which all positions are decided.
    fn depths(&mut self) -> std::ops::RangeInclusive<u16> {
        block_on(self.run.read_counters()).unwrap();
        self.run.script.first_pass()..=self.run.last_conversion(0..self.run.plan.sides.len()).max(40)
    }

    /// Checks the records of the rows after `neighbours`: the squares that the row pieces move to.
    fn check_records(&self) {
        let plan = &self.run.plan;
        let record = (2 + 4usize).next_multiple_of(8);
        let options = self.run.job.classes.options();
        let records: Vec<u32> = block_on(self.run.device.read(&self.run.buffers().rows, plan.rows * record)).unwrap();
        for Member { id, index, rows, first } in &plan.members {
            let piece = index.pieces[0];
            for (number, found) in (0..rows.len()).zip(records[first * record..].chunks(record)) {
                let from = index.row_squares(rows.row(number)).next().unwrap();
                let expected: BTreeSet<(usize, u32, bool)> = options
                    .destinations(piece.animal, from)
                    .filter(|&(to, _)| squares_in_play(piece).contains(to))
                    .map(|(to, crossed)| {
                        let over = to.file() > File::D;
                        let digit = &index.row_pieces[0].digit;
                        let there = digit[if over { to.mirror() } else { to }.index()] * index.row_pieces[0].stride;
                        let (row, mirrored) = rows.place(there as usize).unwrap();
                        let leaps = options.blocks_leap(index.lane_piece(), piece.color) && !crossed.is_empty();
                        (first + row, u32::from(mirrored != over), leaps)
                    })
                    .collect();
                let neighbours = found[2..6].iter().filter(|&&neighbour| neighbour != NONE);
                let found: BTreeSet<_> = neighbours
                    .inspect(|&&neighbour| assert_eq!((neighbour / MOVER) & 1, piece.color as u32))
                    .map(|&neighbour| ((neighbour / ROW) as usize, neighbour & 1, neighbour & OVER_WATER != 0))
                    .collect();
                assert_eq!(found, expected, "{id:?}, row {number}, {from}");
            }
        }
    }

    /// Checks the planes, the numbers of undecided positions, the codes and the counters after pass `depth`; 1 is `init`, too,
    /// if no position is lost in 0 plies.
    fn check(&mut self, depth: u16) {
        let loses = self.run.job.classes.options().no_move == NoMove::Loss;
        block_on(self.run.read_counters()).unwrap();
        let plan = self.run.plan.clone();
        let state: Vec<u32> =
            block_on(self.run.device.read(&self.run.buffers().state, self.run.script.field(STATE_FIELDS))).unwrap();
        let mut counts = vec![0; plan.sides.len()];
        for color in Color::ALL {
            let planes = &self.run.buffers().planes[color];
            let [open, lost, escapes] =
                [&planes.open, &planes.lost, &planes.escapes].map(|plane| self.plane(plane, color));
            let codes = self.codes(color);
            let class_of = |row: usize| plan.members.iter().rposition(|member| member.first <= row).unwrap();
            for row in 0..plan.rows {
                let field = |number| state[self.run.script.field(number) + color as usize * plan.rows + row];
                let class = class_of(row);
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
                        counts[2 * class + color as usize] +=
                            if known == Some(depth) { rows.weight(row - first) } else { 0 };
                    }
                }
                assert_eq!(field(UNDECIDED), undecided, "row {row}");
                let finished = [field(DUE), field(DUE + 1), field(NEXT)] == [NONE; 3];
                assert_eq!(undecided == 0, finished, "row {row} is due");
            }
        }
        let counted: Vec<u64> = (0..counts.len()).map(|side| self.run.count(side, depth.into())).collect();
        assert_eq!(counted, counts, "pass {depth}");
    }

    fn plane(&self, plane: &Buffer, color: Color) -> Vec<u64> {
        let words = self.run.plan.rows * self.run.plan.row_words();
        let first = if self.run.script.joint { color as usize * words } else { 0 };
        block_on(self.run.device.read(plane, first + words)).unwrap().split_off(first)
    }

    /// The codes of all rows of a side to move, cell by cell.
    fn codes(&self, color: Color) -> Vec<Code> {
        let of_page = |(page, buffer): (&Range<usize>, &Buffer)| -> Vec<Code> {
            let cells = page.len() * ROW_CELLS;
            match self.run.script.format.wide {
                true => block_on(self.run.device.read(buffer, cells)).unwrap(),
                false => {
                    block_on(self.run.device.read::<u8>(buffer, cells)).unwrap().into_iter().map(Code::from).collect()
                }
            }
        };
        let pages = self.run.script.pages.iter().zip(&self.run.buffers().pages);
        let cells = self.run.plan.rows * ROW_CELLS;
        pages.flat_map(of_page).skip(color as usize * cells).take(cells).collect()
    }
}

#[test]
fn neighbours() {
    after_init(|scene| scene.check_records());
}

/// Every code becomes the rank of the capture that leads to it.
#[test]
fn ranks() {
    for (wide, rules) in [(false, "paper"), (false, "no-move=loss"), (true, "paper"), (true, "no-move=loss")] {
        let Some(mut gpu) = gpu(GpuLimits::NONE) else { return };
        let rules: RuleOptions = rules.parse().unwrap();
        let (most, width) = if wide { (u16::MAX, 2) } else { (u8::MAX.into(), 1) };
        // Without codes for longer lines than the table of a class has.
        let codes: Vec<Code> =
            (0..=2047).map(|i: Code| (i * 37) % most.min(decided(MAX_PLIES))).chain([most.min(600)]).collect();
        let bytes: Vec<u8> = codes.iter().flat_map(|code| code.to_le_bytes()[..width].to_vec()).collect();
        let kernels = block_on(gpu.kernels(wide)).unwrap();
        let cells = codes.len().next_multiple_of(32);
        let buffer = block_on(gpu.device.buffer("codes", (cells * width) as u64)).unwrap();
        block_on(gpu.device.upload(&buffer, 0, &[&bytes[..], &vec![0; (cells - codes.len()) * width]].concat()))
            .unwrap();
        block_on(kernels.rank(&gpu.device, &buffer, cells as u64, rules.no_move)).unwrap();
        let planes: Vec<u32> = block_on(gpu.device.read(&buffer, cells * width / 4)).unwrap();
        for (cell, &code) in codes.iter().enumerate() {
            let of_cell = &planes[cell / 32 * 8 * width..][..8 * width];
            let rank = of_cell.iter().rev().fold(0, |rank, plane| 2 * rank + (plane >> (cell % 32) & 1));
            let most = (1 << (8 * width)) - 1;
            let expected = match value(code, &rules) {
                ESCAPE => 1 << (8 * width - 1),
                loss if loss < ESCAPE => u32::from(loss) / 2,
                win => most - (u32::from(u16::MAX - win) - 1) / 2,
            };
            assert_eq!(rank, expected, "code {code}, {rules:?}, {width} bytes");
        }
    }
}

#[test]
fn init() {
    after_init(|scene| {
        let (sides, loses) = (scene.run.plan.sides.len(), scene.run.script.first_pass() == 1);
        block_on(scene.run.read_counters()).unwrap();
        let stats =
            |side: usize| &scene.solver.class_stats(scene.run.plan.members[side / 2].id).unwrap()[Color::ALL[side % 2]];
        (0..sides).for_each(|side| assert_eq!(scene.run.count(side, 0), stats(side).no_move));
        // A move to a position that is lost in 0 plies is quiet.
        if loses {
            scene.pass(1);
        }
        scene.check(1);
    });
}

/// `list` and `pass`.
#[test]
fn pass() {
    after_init(|scene| {
        for depth in scene.depths() {
            scene.pass(depth);
            scene.check(depth);
        }
    });
}

#[test]
fn list() {
    after_init(|scene| {
        let depth = 2u16;
        if scene.run.script.first_pass() == 1 {
            scene.pass(1);
        }
        let state: Vec<u32> =
            block_on(scene.run.device.read(&scene.run.buffers().state, scene.run.script.field(STATE_FIELDS))).unwrap();
        let fields = [DUE, NEXT].map(|number| scene.run.script.field(number));
        let pages = scene.run.script.pages.clone();
        let listing: Vec<Dispatch> =
            scene.run.script.passes(depth..depth + 1, 1 << 20).into_iter().step_by(2).collect();
        let mut all_due = 0;
        for (rows, dispatch) in pages.into_iter().zip(listing) {
            block_on(scene.run.submit(&[dispatch])).unwrap();
            let listed: Vec<u32> =
                block_on(scene.run.device.read(&scene.run.buffers().list, 4 * MAX_DISPATCHES + rows.len())).unwrap();
            let flags = |row: usize| {
                let is = |at: usize, flag: u32| if state[at + row] == u32::from(depth) { flag } else { 0 };
                is(fields[0], LOOKS) | is(fields[1], CONVERTS)
            };
            let due: BTreeSet<u32> = rows.filter(|&row| flags(row) != 0).map(|row| row as u32 | flags(row)).collect();
            all_due += due.len();
            assert_eq!(listed[..4], [(due.len() as u32).min(GROUPS), 1, 1, due.len() as u32]);
            assert_eq!(listed[4 * MAX_DISPATCHES..].iter().copied().take(due.len()).collect::<BTreeSet<_>>(), due);
        }
        assert!(all_due > scene.run.plan.rows);
    });
}

/// `finish`: undecided positions without a code become draws.
#[test]
fn finish() {
    after_init(|scene| {
        scene.finish();
        let loses = scene.run.job.classes.options().no_move == NoMove::Loss;
        for color in Color::ALL {
            let codes = scene.codes(color);
            for Member { id, rows, first, .. } in &scene.run.plan.members {
                let values = &scene.solver.table(*id).unwrap().cells[color];
                for (number, place) in (0..rows.len()).flat_map(|row| (0..ROW_CELLS).map(move |place| (row, place))) {
                    let code = values.get(rows.row(number) * ROW_CELLS + place);
                    // `init` stores wins in one ply, except those by a quiet move to a position that is lost in 0 plies.
                    let stored = codes[(first + number) * ROW_CELLS + place];
                    let known = code == 0 || code == STUCK || plies(code, loses) == Some(0);
                    let won = plies(code, loses) == Some(1) && (!loses || stored == code);
                    assert_eq!(stored, if known || won { code } else { DRAW });
                }
            }
        }
    });
}

/// A batch whose `finish` did not run has no values and counts: the draws are not marked.
#[test]
fn a_batch_that_is_not_finished_is_an_error() {
    after_init(|scene| {
        for depth in scene.depths() {
            scene.pass(depth);
        }
        let Err(FetchError::Gpu(error)) = block_on(scene.run.fetch(|_, _| Ok(()))) else {
            panic!("draws without a code")
        };
        assert!(error.is_final() && error.to_string().contains("positions and left 0"), "{error}");
        scene.finish();
        // Classes are passed on one after the other, so a refusal leaves the others.
        let mut passed = 0;
        let refused = block_on(scene.run.fetch(|_, solved| {
            passed += 1;
            if passed < 2 && solved.values.is_some() { Ok(()) } else { Err(SolveError::Stopped) }
        }));
        assert!(matches!(refused, Err(FetchError::Refused(SolveError::Stopped))));
        assert_eq!((passed, scene.run.left().len()), (2, 2));
    });
}

/// Slow steps are submitted one by one, so that no submission takes too long.
#[test]
fn submissions_are_limited() {
    let Some(mut gpu) = gpu(GpuLimits { buffer: 1 << 17, submitted_rows: 20, ..GpuLimits::NONE }) else { return };
    let mut solver = Solver::new(&RuleOptions::PAPER, 3, Options::default());
    solver.solve_level(2, true, &|_, _| {}).unwrap();
    let id = solver.classes().member("LRvT".parse().unwrap()).unwrap().class;
    solver.solve_some(&[id], true, &|_, _| {}).unwrap();
    let ids = [id];
    let plan = batch(&ids, solver.classes());
    let mut run = block_on(gpu.start(&solver.job(&ids, true), &plan, gpu.format(true, false, 256))).unwrap();
    let start = run.script.start(run.at_once());
    assert!(start.len() > 5 && start.iter().all(|dispatch| dispatch.work() <= 20), "{}", start[1]);
    assert!(matches!(block_on(run.solve(253)), Ok(Done::Solved)));
    let solved = fetched(&mut run).pop().unwrap();
    assert_eq!(Some(&solved.stats), solver.class_stats(id));
    assert!(solved.table().unwrap().as_ref() == solver.table(id));
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
    let mut solve =
        |entries: u64| block_on(block_on(gpu.start(&job, &plan, gpu.format(true, false, entries))).unwrap().solve(253));
    let Ok(Done::NeedsEntries(needed)) = solve(1) else { panic!("too few") };
    assert!(matches!(solve(needed - 1), Ok(Done::NeedsEntries(_))));
    assert!(matches!(solve(needed), Ok(Done::Solved)));
}

/// Without blocking and without threads, as in a browser, a GPU fills a solver with the values of the CPU, also if batches do
/// not fit into its memory.
#[test]
fn a_solver_is_filled_without_blocking() {
    let Some(mut gpu) = gpu(GpuLimits { buffer: 1 << 20, byte_plies: 20, ..GpuLimits::NONE }) else { return };
    let [mut on_cpu, mut on_gpu] = [(); 2].map(|()| Solver::new(&RuleOptions::PAPER, 3, Options::default()));
    on_cpu.solve_level(2, true, &|_, _| {}).unwrap();
    let two: Vec<ClassId> = on_cpu.classes().level(2).map(|(id, _)| id).collect();
    block_on(gpu.solve_into(&mut on_gpu, &two)).unwrap();
    let three = ["LRvT", "EvRD", "EPvR"].map(|name| on_cpu.classes().member(name.parse().unwrap()).unwrap().class);
    on_cpu.solve_some(&three, true, &|_, _| {}).unwrap();
    block_on(gpu.solve_into(&mut on_gpu, &three)).unwrap();
    for id in two.into_iter().chain(three) {
        assert_eq!(crate::tablebase::first_difference(&on_cpu, &on_gpu, id), None);
    }
}
