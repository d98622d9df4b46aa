//! Measures the use of a GPU's memory: the kernels themselves record their reads and writes for one row in sixteen, on
//! any driver. See `shaders/trace.wgsl`.

use super::tests::{batch, fetched, gpu};
use super::*;
use crate::board::RuleOptions;
use crate::gpu::{AdapterChoice, opened};
use crate::tablebase::solve::gpu::{Gpu, GpuLimits};
use crate::tablebase::{Options, Solver};
use pollster::block_on;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The groups of the report: kinds of memory, the bytes of an element, and 2 if each element is both read and written,
/// otherwise 1.
const MEMORIES: [(&str, &[u32], usize, u64); 6] = [
    ("planes", &[TOUCH_SEEN, TOUCH_OWN_PLANE, TOUCH_ESCAPES, TOUCH_WRITTEN, TOUCH_WRITTEN_ESCAPES], 8, 1),
    ("conversions", &[TOUCH_ENTRIES], 8, 1),
    ("tables", &[TOUCH_TABLES], 16, 1),
    ("codes", &[TOUCH_CODES], 8, 2),
    ("states", &[TOUCH_STATES], 4, 1),
    ("records", &[TOUCH_RECORDS], 4, 1),
];
const KERNELS: [KernelName; 3] = [KernelName::Init, KernelName::Pass, KernelName::Finish];
/// The last depths of the groups of passes in the report.
const DEPTHS: [u16; 5] = [2, 8, 16, 32, u16::MAX];

/// Useful bytes, and bytes of the sectors of 32 bytes that contain them.
type Touched = [u64; 2];

/// What the kernels did for a class.
#[derive(Default)]
struct Traffic {
    material: String,
    /// By kernel and memory, for the traced rows.
    touched: BTreeMap<(KernelName, &'static str), Touched>,
    /// By kernel, the traced visits; by the last depth of a group of passes, the traced visits, the sectors and the bytes.
    visits: BTreeMap<KernelName, u64>,
    by_depth: BTreeMap<u16, [u64; 2]>,
    /// By kernel, the barriers of all workgroups, and the most atomic operations of a dispatch on one counter.
    barriers: BTreeMap<KernelName, u64>,
    atomics: BTreeMap<KernelName, usize>,
    /// The numbers of traced rows, all rows and cells.
    traced: f64,
    rows: f64,
    cells: f64,
    passes: u64,
}

impl Traffic {
    /// Bytes moved for all rows. A pass also reads two fields of the state of each row, and the list of the rows it visits, which
    /// is written before.
    fn bytes(&self, codes: bool) -> f64 {
        let kept = |kernel: KernelName| codes || kernel != KernelName::Finish;
        let kept =
            |((kernel, memory), _): &(&(KernelName, &str), &Touched)| kept(*kernel) && (codes || *memory != "codes");
        let moved: u64 = self.touched.iter().filter(kept).map(|(_, touched)| touched[1]).sum();
        let visits = self.visits[&KernelName::Pass];
        (moved + 8 * visits) as f64 / self.traced * self.rows + 8.0 * self.rows * self.passes as f64
    }

    /// Adds what a dispatch recorded.
    fn add(&mut self, dispatch: &Dispatch, run: &Run<'_>) {
        let kernel = dispatch.kernel;
        let touches = run.buffers().touches.as_ref().expect("the kernels trace");
        let [used, barriers]: [u32; 2] = block_on(run.device.read(touches, 2)).unwrap().try_into().unwrap();
        assert!(12 * u64::from(used) + 8 <= touches.size(), "the trace is full");
        let all: Vec<u32> = block_on(run.device.read(touches, 2 + 3 * used as usize)).unwrap();
        let mut places: BTreeMap<(u32, u32), BTreeSet<u32>> = BTreeMap::new();
        let mut counters: BTreeMap<u32, usize> = BTreeMap::new();
        for &[row, kind, at] in all[2..].as_chunks().0 {
            match kind {
                TOUCH_COUNTERS => *counters.entry(at).or_default() += 1,
                _ => _ = places.entry((row, kind)).or_default().insert(at),
            }
        }
        let visits = places.keys().map(|(row, _)| *row).collect::<BTreeSet<u32>>().len() as u64;
        *self.visits.entry(kernel).or_default() += visits;
        *self.barriers.entry(kernel).or_default() += u64::from(barriers);
        let atomics = self.atomics.entry(kernel).or_default();
        *atomics = counters.into_values().max().unwrap_or(0).max(*atomics);
        let mut sectors_of_dispatch = 0;
        for ((_, kind), places) in places {
            let (memory, _, bytes, times) = MEMORIES.into_iter().find(|m| m.1.contains(&kind)).unwrap();
            let sectors: BTreeSet<usize> = places.iter().map(|&at| at as usize * bytes / 32).collect();
            let touched = self.touched.entry((kernel, memory)).or_default();
            touched[0] += times * (places.len() * bytes) as u64;
            touched[1] += times * 32 * sectors.len() as u64;
            sectors_of_dispatch += times * sectors.len() as u64;
        }
        if kernel == KernelName::Pass {
            let group =
                DEPTHS.into_iter().find(|&last| dispatch.params.depth <= last.into()).expect("the last has all");
            let by_depth = self.by_depth.entry(group).or_default();
            *by_depth = [by_depth[0] + visits, by_depth[1] + sectors_of_dispatch];
        }
        block_on(run.device.write(touches, 0, &[0u32; 2])).unwrap();
    }
}

/// A GPU whose kernels record what they do, which takes a ninth storage buffer.
fn tracing() -> Option<Gpu> {
    let gpu = opened(Gpu::open_limited(AdapterChoice::Any, GpuLimits::NONE))?;
    Some(Gpu { trace: true, ..gpu })
}

/// A GPU that does all work at once, however long it takes.
fn patient() -> Option<Gpu> {
    let mut gpu = gpu(GpuLimits { submitted_rows: usize::MAX, ..GpuLimits::NONE })?;
    let kernels = block_on(gpu.kernels(false)).ok()?;
    *kernels.pace.lock().unwrap_or_else(PoisonError::into_inner) = Pace { at_once: usize::MAX, limit: usize::MAX };
    Some(gpu)
}

/// Solves a class with the kernels that record what they do.
fn traced(gpu: &mut Gpu, solver: &mut Solver, material: &str) -> Traffic {
    let id = solver.classes().member(material.parse().unwrap()).unwrap().class;
    solver.solve_class(id, &|_, _| {}).unwrap();
    let ids = [id];
    let plan = batch(&ids, solver.classes());
    let mut run = block_on(gpu.start(&solver.job(&ids, true), &plan, gpu.format(true, false, 400))).unwrap();
    let index_rows = solver.classes().get(id).index().rows;
    let is_traced = |row: &u32| row.wrapping_mul(0x9e37_79b1) >> 28 == 0;
    let mut traffic = Traffic {
        material: material.to_owned(),
        traced: (0..2 * plan.rows as u32).filter(is_traced).count() as f64,
        rows: 2.0 * plan.rows as f64,
        cells: (2 * index_rows * ROW_CELLS) as f64,
        ..Traffic::default()
    };
    let execute = |traffic: &mut Traffic, run: &mut Run<'_>, dispatches: Vec<Dispatch>| {
        for pair in dispatches.chunk_by(|a, b| (a.kernel, b.kernel) == (KernelName::List, KernelName::Pass)) {
            block_on(run.submit(pair)).unwrap();
            traffic.add(pair.last().expect("chunks are not empty"), run);
        }
    };
    let start = run.script.start(usize::MAX);
    execute(&mut traffic, &mut run, start);
    for depth in run.script.first_pass().. {
        let pass = run.script.passes(depth..depth + 1, usize::MAX);
        execute(&mut traffic, &mut run, pass);
        traffic.passes += 1;
        block_on(run.read_counters()).unwrap();
        if (0..2).all(|side| run.count(side, depth.into()) == 0) && depth >= run.last_conversion(0..2) {
            break;
        }
    }
    let finish = run.script.finish(usize::MAX);
    execute(&mut traffic, &mut run, finish);
    let solved = fetched(&mut run).pop().unwrap();
    assert_eq!(solved.table().unwrap().as_ref(), solver.table(id), "{material}");
    assert_eq!(Some(&solved.stats), solver.class_stats(id), "{material}");
    traffic
}

/// The bytes that a kernel moved of one memory, or of all memories if `memory` is empty.
fn sum(all: &[Traffic], kernel: KernelName, memory: &str) -> Touched {
    let touched = all.iter().flat_map(|traffic| &traffic.touched);
    let of = touched.filter(|((k, m), _)| *k == kernel && (memory.is_empty() || *m == memory));
    of.fold([0; 2], |sum, (_, touched)| [sum[0] + touched[0], sum[1] + touched[1]])
}

#[test]
fn neighbours_read_neighbouring_words() {
    let Some(mut gpu) = tracing() else { return };
    let mut solver = Solver::new(&"no-move=loss".parse().unwrap(), 3, Options::default());
    let all = ["LRvT", "EPvL", "TRvR"].map(|material| traced(&mut gpu, &mut solver, material));
    let least = [
        (KernelName::Init, "planes", 0.85),
        (KernelName::Init, "conversions", 0.9),
        (KernelName::Pass, "planes", 0.85),
        (KernelName::Pass, "", 0.6),
        (KernelName::Finish, "planes", 0.85),
    ];
    for (kernel, memory, least) in least {
        let [useful, moved] = sum(&all, kernel, memory);
        assert!(
            useful as f64 >= least * moved as f64,
            "{kernel:?} uses {useful} of {moved} bytes of {memory} that it moves"
        );
    }
}

/// Writes `results/kernels.md`. Takes some minutes.
#[test]
#[ignore = "writes results/kernels.md"]
fn results() {
    let mut tracer = tracing().expect("a GPU, or lavapipe");
    let mut solver = Solver::new(&RuleOptions::PAPER, 5, Options::default());
    let all = ["EvLCR", "EPvLR", "LTvDC", "LRvTR"].map(|material| traced(&mut tracer, &mut solver, material));
    let date = std::env::var("DATE").unwrap_or_else(|_| "a day that was not said".to_owned());
    let mut text = RESULTS_HEAD.replace(" on DATE;", &format!(" on {date};"));
    for kernel in KERNELS {
        let cell = |memory: &str| match sum(&all, kernel, memory) {
            [_, 0] => " - |".to_owned(),
            [useful, moved] => format!(" {:.1} |", 100.0 * useful as f64 / moved as f64),
        };
        let cells: String = MEMORIES.iter().map(|memory| cell(memory.0)).collect();
        let visits: u64 = all.iter().map(|t| t.visits[&kernel]).sum();
        let bytes = sum(&all, kernel, "")[1] as f64 / visits as f64;
        _ = writeln!(text, "| {} |{cells}{} {bytes:.0} |", kernel.name(), cell(""));
    }
    text += &steps(&all);
    text += "\n## By depth\n\nOf all passes of the four classes.\n\n| passes | visits of a row | sectors a visit | bytes a visit |\n|---|---|---|---|\n";
    let traced: f64 = all.iter().map(|t| t.traced).sum();
    let mut first = 1;
    for last in DEPTHS {
        let of_class = all.iter().filter_map(|t| t.by_depth.get(&last));
        let [visits, sectors] = of_class.fold([0; 2], |sum, more| [sum[0] + more[0], sum[1] + more[1]]);
        let (a_row, a_visit) = (visits as f64 / traced, sectors as f64 / visits as f64);
        let passes = if last == u16::MAX { format!("{first} and later") } else { format!("{first} to {last}") };
        _ = writeln!(text, "| {passes} | {a_row:.2} | {a_visit:.1} | {:.0} |", 32.0 * a_visit);
        first = last.saturating_add(1);
    }
    text += "\n## Bytes per cell\n\nA cell is one position of the mirrored index for one side to move, valid or not; the cells of rows skipped by symmetry count, too.\n\n\
             | class | cells | rows | passes | visits of a row | bytes moved a cell, counts only | with values |\n|---|---|---|---|---|---|---|\n";
    for t in &all {
        let visits = t.visits[&KernelName::Pass] as f64 / t.traced;
        let [counts, values] = [false, true].map(|codes| t.bytes(codes) / t.cells);
        let Traffic { material, cells, rows, passes, .. } = t;
        _ = writeln!(text, "| {material} | {cells} | {rows} | {passes} | {visits:.1} | {counts:.2} | {values:.2} |");
    }
    let cells: f64 = all.iter().map(|t| t.cells).sum();
    let [counts, values] = [false, true].map(|codes| all.iter().map(|t| t.bytes(codes)).sum::<f64>() / cells);
    _ = writeln!(
        text,
        "\nTogether {counts:.2} bytes per cell for counts, {values:.2} with values.\n\n## Work per class\n\n\
         | class | rows | visits of a row | words of conversions a row | dispatches | waits of the host |\n|---|---|---|---|---|---|"
    );
    // The whole way of a class, counts only.
    for material in ["EPvLR", "ELvTPD"] {
        let mut gpu = patient().expect("it was there");
        let id = solver.classes().member(material.parse().unwrap()).unwrap().class;
        let ids = [id];
        solver.solve_class(id, &|_, _| {}).unwrap();
        let plan = batch(&ids, solver.classes());
        let mut run = block_on(gpu.solve_batch(&solver.job(&ids, false), &plan)).unwrap();
        assert_eq!(Some(&fetched(&mut run)[0].stats), solver.class_stats(id));
        let DeviceWork { row_visits, rows, conversions, .. } = run.work();
        let (visits, words) = (row_visits as f64 / rows as f64, conversions / rows);
        _ = writeln!(text, "| {material} | {rows} | {visits:.1} | {words} | {} | {} |", run.dispatches, run.waits);
    }
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/results/kernels.md"), text).unwrap();
}

const RESULTS_HEAD: &str = "# Memory traffic of the GPU kernels\n\n\
No number on this page comes from a GPU. On a software driver, the kernels of `shaders/` recorded their own reads and writes for one row in \
sixteen, and solved each class to the CPU's values. Made by \
`DATE=$(date -I) ./test traffic::results -- --ignored` on DATE; the counts do not depend on the machine.\n\n\
## Useful bytes in the sectors touched\n\n\
A workgroup that works on a row touches sectors of 32 bytes. The table shows the share of their bytes that some invocation requested, in per cent, \
over EvLCR, EPvLR, LTvDC and LRvTR. Data that all rows of a class share (moves, captures) is left out, because it comes from the caches. \
`tables` are values of smaller classes, `states` the states of the row and of neighbouring rows, `records` the lists of neighbours. The last column is the \
number of bytes moved per row, or per visit of a row; a pass also reads eight bytes of the state of every row.\n\n\
| kernel | planes | conversions | tables | codes | states | records | all | bytes |\n|---|---|---|---|---|---|---|---|---|\n";

/// The part of the report about the steps of the kernels.
fn steps(all: &[Traffic]) -> String {
    let rows: f64 = all.iter().map(|t| t.rows).sum();
    let traced: f64 = all.iter().map(|t| t.traced).sum();
    let visits: u64 = all.iter().map(|t| t.visits[&KernelName::Pass]).sum();
    let visits_of_row = visits as f64 / traced;
    let barriers = |kernel| all.iter().map(|t| t.barriers[&kernel]).sum::<u64>() as f64 / rows;
    let atomics = all.iter().flat_map(|t| t.atomics.values()).max().copied().unwrap_or(0);
    format!(
        "\n## Steps\n\nA row in `init` has {:.1} barriers, a visit {:.1}, with the one at the start of its workgroup. Passes visit a row {visits_of_row:.2} times. The most atomic \
         operations of a dispatch on one counter are {atomics}.\n",
        barriers(KernelName::Init),
        barriers(KernelName::Pass) / visits_of_row,
    )
}
