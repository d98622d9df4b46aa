//! Measures the use of a GPU's memory: the kernels themselves record their reads and writes for one row in sixteen, on
//! any driver. See `shaders/trace.wgsl`.

use super::tests::{batch, gpu};
use super::*;
use crate::board::RuleOptions;
use crate::tablebase::solve::gpu::{ENTRIES_PER_ROW, Gpu, GpuLimits};
use crate::tablebase::{Options, Solver};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The groups of the report: kinds of memory, the bytes of an element, the useful bytes of an element, and 2 if each
/// element is both read and written, otherwise 1. The state of a visited row is counted separately.
const MEMORIES: [(&str, &[u32], usize, usize, u64); 6] = [
    ("planes", &[TOUCH_SEEN, TOUCH_OWN_PLANE, TOUCH_ESCAPES, TOUCH_WRITTEN, TOUCH_WRITTEN_ESCAPES], 8, 8, 1),
    ("conversions", &[TOUCH_ENTRIES], 8, 8, 1),
    ("tables", &[TOUCH_TABLES], 1, 1, 1),
    ("codes", &[TOUCH_CODES], 4, 4, 2),
    ("states", &[TOUCH_ROWS], 32, 4, 1),
    ("places", &[TOUCH_PLACES], 4, 4, 1),
];
const KERNELS: [&str; 3] = ["init", "pass", "finish"];

/// Useful bytes, and bytes of the sectors of 32 bytes that contain them.
type Touched = [u64; 2];

/// The memory traffic of a class.
#[derive(Default)]
struct Traffic {
    material: String,
    /// By kernel and memory, for the traced rows.
    touched: BTreeMap<(&'static str, &'static str), Touched>,
    /// Traced visits by kernel. The next fields count traced rows, all rows and cells.
    visits: BTreeMap<&'static str, u64>,
    traced: f64,
    rows: f64,
    cells: f64,
    passes: u64,
}

impl Traffic {
    /// Bytes moved for all rows; each pass also reads the state of each row.
    fn bytes(&self, codes: bool) -> f64 {
        let kept =
            |((kernel, memory), _): &(&(&str, &str), &Touched)| codes || *memory != "codes" && *kernel != "finish";
        let moved: u64 = self.touched.iter().filter(kept).map(|(_, touched)| touched[1]).sum();
        let visits: u64 = self.visits.iter().filter(|(kernel, _)| codes || **kernel != "finish").map(|v| v.1).sum();
        (moved + 32 * visits) as f64 / self.traced * self.rows + 32.0 * self.rows * self.passes as f64
    }

    /// Adds the memory that the rows of a dispatch touched.
    fn add(&mut self, kernel: &'static str, run: &Run<'_>) {
        let touches = run.touches.as_ref().expect("the kernels trace");
        let used = run.device.read::<u32>(touches, 1).unwrap()[0] as usize;
        assert!(12 * used as u64 + 16 <= touches.size(), "the trace is full");
        let all: Vec<u32> = run.device.read(touches, 1 + 3 * used).unwrap();
        let mut places: BTreeMap<(u32, u32), BTreeSet<u32>> = BTreeMap::new();
        for &[row, kind, at] in all[1..].as_chunks().0 {
            places.entry((row, kind)).or_default().insert(at);
        }
        let rows: BTreeSet<u32> = places.keys().map(|(row, _)| *row).collect();
        *self.visits.entry(kernel).or_default() += rows.len() as u64;
        for ((_, kind), places) in places {
            let (memory, _, bytes, useful, times) = MEMORIES.into_iter().find(|m| m.1.contains(&kind)).unwrap();
            let sectors: BTreeSet<usize> = places.iter().map(|&at| at as usize * bytes / 32).collect();
            let touched = self.touched.entry((kernel, memory)).or_default();
            touched[0] += times * (places.len() * useful) as u64;
            touched[1] += times * 32 * sectors.len() as u64;
        }
        run.device.write(touches, 0, &[0u32]).unwrap();
    }
}

/// A GPU whose kernels record their reads and writes.
fn tracing(gpu: Gpu) -> Gpu {
    // The kernels are others.
    Gpu { trace: true, kernels: None, ..gpu }
}

/// Solves a class with the kernels that record their reads and writes.
fn traced(gpu: &mut Gpu, solver: &mut Solver, material: &str) -> Traffic {
    let id = solver.classes().member(material.parse().unwrap()).unwrap().class;
    solver.solve_class(id, &|_, _| {}).unwrap();
    let ids = [id];
    let plan = batch(&ids, solver.classes());
    let mut run = gpu.start(&solver.job(&ids, true), &plan, gpu.format(true, false, ENTRIES_PER_ROW)).unwrap();
    let index_rows = solver.classes().get(id).index().rows;
    let is_traced = |row: &u32| row.wrapping_mul(0x9e37_79b1) >> 28 == 0;
    let mut traffic = Traffic {
        material: material.to_owned(),
        traced: 2.0 * (0..plan.rows as u32).filter(is_traced).count() as f64,
        rows: 2.0 * plan.rows as f64,
        cells: (2 * index_rows * ROW_CELLS) as f64,
        ..Traffic::default()
    };
    let dispatch = |traffic: &mut Traffic, run: &Run<'_>, kernel: &'static str, depth: u16| {
        run.write_params(depth).unwrap();
        let steps: Vec<Step<'_>> = match kernel {
            "init" => run.each_row(&run.kernels.init).collect(),
            "pass" => run.pass(depth, 0).collect(),
            _ => run.each_row(&run.kernels.finish).collect(),
        };
        for step in steps {
            run.device.submit([step]).unwrap();
            traffic.add(kernel, run);
        }
    };
    dispatch(&mut traffic, &run, "init", 0);
    for depth in 1.. {
        dispatch(&mut traffic, &run, "pass", depth);
        traffic.passes += 1;
        run.read_counters().unwrap();
        if (0..2).all(|side| run.count(side, depth.into()) == 0) && depth >= run.last_conversion(0..2) {
            break;
        }
    }
    dispatch(&mut traffic, &run, "finish", 0);
    let solved = run.fetch().unwrap().pop().unwrap();
    assert_eq!(solved.table.as_ref(), solver.table(id), "{material}");
    assert_eq!(Some(&solved.stats), solver.class_stats(id), "{material}");
    traffic
}

/// The bytes that a kernel moved of one memory, or of all memories if `memory` is empty.
fn sum(all: &[Traffic], kernel: &str, memory: &str) -> Touched {
    let touched = all.iter().flat_map(|traffic| &traffic.touched);
    let of = touched.filter(|((k, m), _)| *k == kernel && (memory.is_empty() || *m == memory));
    of.fold([0; 2], |sum, (_, touched)| [sum[0] + touched[0], sum[1] + touched[1]])
}

#[test]
fn neighbours_read_neighbouring_words() {
    let Some(mut gpu) = gpu(GpuLimits::NONE).map(tracing) else { return };
    let mut solver = Solver::new(&"no-move=loss".parse().unwrap(), 3, Options::default());
    let all = ["LRvT", "EPvL", "TRvR"].map(|material| traced(&mut gpu, &mut solver, material));
    let least = [
        ("init", "planes", 0.85),
        ("init", "conversions", 0.9),
        ("pass", "planes", 0.85),
        ("pass", "", 0.6),
        ("finish", "planes", 0.85),
    ];
    for (kernel, memory, least) in least {
        let [useful, moved] = sum(&all, kernel, memory);
        assert!(
            useful as f64 >= least * moved as f64,
            "{kernel} uses {useful} of {moved} bytes of {memory} that it moves"
        );
    }
}

/// Writes `results/kernels.md`. Takes some minutes.
#[test]
#[ignore = "writes results/kernels.md"]
fn results() {
    let mut tracer = gpu(GpuLimits::NONE).map(tracing).expect("a GPU, or lavapipe");
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
        let visits: u64 = all.iter().map(|t| t.visits[kernel]).sum();
        let bytes = sum(&all, kernel, "")[1] as f64 / visits as f64 + 32.0;
        _ = writeln!(text, "| {kernel} |{cells}{} {bytes:.0} |", cell(""));
    }
    text += "\n## Bytes per cell\n\nA cell is one position of the mirrored index for one side to move, valid or not; the cells of rows skipped by symmetry count, too.\n\n\
             | class | cells | rows | passes | visits of a row | bytes moved a cell, counts only | with values |\n|---|---|---|---|---|---|---|\n";
    for t in &all {
        let visits = t.visits["pass"] as f64 / t.traced;
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
        let mut gpu = gpu(GpuLimits::NONE).expect("it was there");
        let id = solver.classes().member(material.parse().unwrap()).unwrap().class;
        let ids = [id];
        solver.solve_class(id, &|_, _| {}).unwrap();
        let plan = batch(&ids, solver.classes());
        let mut run = gpu.solve_batch(&solver.job(&ids, false), &plan).unwrap();
        assert_eq!(Some(&run.fetch().unwrap()[0].stats), solver.class_stats(id));
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
`tables` are values of smaller classes, `states` the states of neighbouring rows, `places` the places of these states. The last column is the number of \
bytes moved per row, or per visit of a row, with the 32 bytes of its state; a pass also reads the state of every row.\n\n\
| kernel | planes | conversions | tables | codes | states | places | all | bytes |\n|---|---|---|---|---|---|---|---|---|\n";
