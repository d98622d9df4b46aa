//! Measures the use of a GPU's memory: the kernels themselves record their reads and writes for one row in sixteen, on
//! any driver. See `shaders/trace.wgsl`.

use super::tests::gpu;
use super::*;
use crate::board::RuleOptions;
use crate::tablebase::solve::gpu::{BATCH_ROWS, ENTRIES_PER_ROW, Gpu, GpuLimits, batches, tables};
use crate::tablebase::solve::memory::gpu::solved_rows;
use crate::tablebase::{Classes, Options, Solver};
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
#[derive(Copy, Clone, Default)]
struct Touched {
    useful: u64,
    moved: u64,
}

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
        let moved: u64 = self.touched.iter().filter(kept).map(|(_, touched)| touched.moved).sum();
        let visits: u64 = self.visits.iter().filter(|(kernel, _)| codes || **kernel != "finish").map(|v| v.1).sum();
        (moved + 32 * visits) as f64 / self.traced * self.rows + 32.0 * self.rows * self.passes as f64
    }

    /// Adds the memory that the rows of a dispatch touched.
    fn add(&mut self, kernel: &'static str, run: &Run<'_>) {
        let [used]: [u32; 1] = run.device.read(&run.touches, 0, 4, bytemuck::pod_read_unaligned).unwrap();
        assert!(12 * u64::from(used) + 16 <= run.touches.size(), "the trace is full");
        let all: Vec<[u32; 3]> =
            run.device.read(&run.touches, 4, 12 * u64::from(used), bytemuck::pod_collect_to_vec).unwrap();
        let mut places: BTreeMap<(u32, u32), BTreeSet<u32>> = BTreeMap::new();
        all.iter().for_each(|&[row, kind, at]| _ = places.entry((row, kind)).or_default().insert(at));
        let rows: BTreeSet<u32> = places.keys().map(|(row, _)| *row).collect();
        *self.visits.entry(kernel).or_default() += rows.len() as u64;
        for ((_, kind), places) in places {
            let (memory, _, bytes, useful, times) = MEMORIES.into_iter().find(|m| m.1.contains(&kind)).unwrap();
            let sectors: BTreeSet<usize> = places.iter().map(|&at| at as usize * bytes / 32).collect();
            let touched = self.touched.entry((kernel, memory)).or_default();
            touched.useful += times * (places.len() * useful) as u64;
            touched.moved += times * 32 * sectors.len() as u64;
        }
        run.device.write(&run.touches, 0, &[0u32]);
    }
}

/// Solves a class with the kernels that record their reads and writes.
fn traced(gpu: &mut Gpu, solver: &mut Solver, material: &str) -> Traffic {
    let id = solver.classes().member(material.parse().unwrap()).unwrap().class;
    solver.solve_class(id, &|_, _| {}).unwrap();
    let ids = [id];
    let plan = Arc::new(Plan::new(&ids, solver.classes()));
    let batch = Batch::of(&solver.job(&ids, true), &ids);
    gpu.trace = true;
    let mut run = gpu.start(&batch, &plan, false, ENTRIES_PER_ROW).unwrap();
    let index_rows = solver.classes().get(id).index().rows;
    let is_traced = |row: &u32| row.wrapping_mul(0x9e37_79b1) >> 28 == 0;
    let mut traffic = Traffic {
        material: material.to_owned(),
        traced: 2.0 * (0..plan.rows as u32).filter(is_traced).count() as f64,
        rows: 2.0 * plan.rows as f64,
        cells: (2 * index_rows * ROW_CELLS) as f64,
        ..Traffic::default()
    };
    let bounds = run.bind_all().unwrap();
    let dispatch = |traffic: &mut Traffic, run: &Run<'_>, kernel: &'static str, depth: u16| {
        run.write_params(depth);
        for page in 0..run.pages.len() {
            let of_page = |steps: Vec<Step<'_>>| run.device.submit(steps.into_iter().skip(page).take(1));
            match kernel {
                "init" => of_page(run.each_page(&run.set.init, &bounds).collect()),
                "pass" => of_page(run.pass(depth, 0, &bounds).collect()),
                _ => of_page(run.each_page(&run.set.finish, &bounds).collect()),
            }
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
    let of =
        all.iter().flat_map(|t| &t.touched).filter(|((k, m), _)| *k == kernel && (memory.is_empty() || *m == memory));
    let add =
        |sum: Touched, (_, t): (_, &Touched)| Touched { useful: sum.useful + t.useful, moved: sum.moved + t.moved };
    of.fold(Touched::default(), add)
}

#[test]
fn neighbours_read_neighbouring_words() {
    let Some(mut gpu) = gpu(GpuLimits::NONE) else { return };
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
        let Touched { useful, moved } = sum(&all, kernel, memory);
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
    let mut gpu = gpu(GpuLimits::NONE).expect("a GPU, or lavapipe");
    let mut solver = Solver::new(&RuleOptions::PAPER, 5, Options::default());
    let all = ["EvLCR", "EPvLR", "LTvDC", "LRvTR"].map(|material| traced(&mut gpu, &mut solver, material));
    let date = std::env::var("DATE").unwrap_or_else(|_| "a day that was not said".to_owned());
    let mut text = RESULTS_HEAD.replace(" on DATE;", &format!(" on {date};"));
    for kernel in KERNELS {
        let cell = |memory: &str| match sum(&all, kernel, memory) {
            Touched { moved: 0, .. } => " - |".to_owned(),
            Touched { useful, moved } => format!(" {:.1} |", 100.0 * useful as f64 / moved as f64),
        };
        let cells: String = MEMORIES.iter().map(|memory| cell(memory.0)).collect();
        let visits: u64 = all.iter().map(|t| t.visits[kernel]).sum();
        let bytes = sum(&all, kernel, "").moved as f64 / visits as f64 + 32.0;
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
        "\nTogether {counts:.2} bytes per cell for counts, {values:.2} with values. (The seven earlier kernels: 26.55 with values. Ports of them \
         were counted on 2026-11-22, each sector once for every 32 neighbouring invocations that touched it.)\n"
    );
    text += &prediction(&all, &mut gpu, &mut solver);
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/results/kernels.md"), text).unwrap();
}

/// The predicted time of a level or a class on an H200, from the time of each part.
fn prediction(all: &[Traffic], gpu: &mut Gpu, solver: &mut Solver) -> String {
    gpu.trace = false;
    let per_visit = all.iter().map(|t| sum(std::slice::from_ref(t), "pass", "").moved).sum::<u64>() as f64;
    let codes = sum(all, "pass", "codes").moved as f64;
    let per_visit = (per_visit - codes) / all.iter().map(|t| t.visits["pass"]).sum::<u64>() as f64 + 32.0;
    let per_row = sum(all, "init", "").moved as f64 / all.iter().map(|t| t.visits["init"]).sum::<u64>() as f64 + 32.0;
    // The work of a five-piece class, counted by the kernels.
    let id = solver.classes().member("ELvTPD".parse().unwrap()).unwrap().class;
    solver.solve_class(id, &|_, _| {}).unwrap();
    let ids = [id];
    let plan = Arc::new(Plan::new(&ids, solver.classes()));
    let run = gpu.solve_batch(&Batch::of(&solver.job(&ids, false), &ids), &plan).unwrap();
    assert_eq!(Some(&run.counts_of(0).stats), solver.class_stats(id));
    let DeviceWork { row_visits: visits, rows, conversions, .. } = run.work();
    let visits_per_row = visits as f64 / rows as f64;
    let mut text = format!(
        "ELvTPD: {visits_per_row:.1} visits a row, {} words of conversions a row, {} dispatches, {} waits.\n",
        conversions / rows,
        run.dispatches,
        run.waits,
    );
    let classes = Classes::new(&RuleOptions::PAPER, 5);
    let ids: Vec<ClassId> = classes.level(5).map(|(id, _)| id).collect();
    let batch_count = batches(&ids, &classes, BATCH_ROWS).len() as f64;
    let rows: f64 = 2.0 * ids.iter().map(|&id| solved_rows(&classes, id)).sum::<u64>() as f64;
    let index_rows: f64 = ids.iter().map(|&id| classes.get(id).index().rows as f64).sum();
    let table_bytes = tables::bytes_of(&tables::captured(&ids, &classes), &classes, false) as f64;
    // Six land animals: the visits were counted on the CPU on 2026-11-23; the longest line has 145 plies.
    let six = (135.1e6, 2.0 * 2_541_000.0, 28.0 * 49.0 * 49.0 * 49.0, 6.0 * 0.28e9, 146.0, 1.0);
    let level = (rows * visits_per_row, rows, index_rows, table_bytes, 120.0, batch_count);
    text += &format!(
        "\nThe prediction: {per_visit:.0} bytes per visit and {per_row:.0} per row, at half of an H200's 4.8 TB/s; 6 us per dispatch, 60 us per wait for \
         the host (one every 16 passes); states, places and tables sent at 25 GB/s. All of these rates are assumed. Also assumed: 120 passes per batch of \
         five pieces, with as many visits of a row as in ELvTPD. The visits of LPDvLPD are those of the CPU on 2026-11-23. The host plans at the same \
         time; its planning is left out.\n\n\
         | | rows | visits | memory | dispatches | waits | sent | seconds |\n|---|---|---|---|---|---|---|---|\n"
    );
    for (what, (visits, rows, index_rows, tables, passes, batches)) in
        [("five pieces, counts", level), ("a six-piece class (LPDvLPD), counts", six)]
    {
        let memory = (visits * per_visit + rows * per_row + 32.0 * rows * passes) / 2.4e12;
        let dispatches = 2.0 * (passes + 1.0) * batches;
        let waits = (passes / 16.0 + 1.0) * batches;
        let sent = (32.0 * rows + 4.0 * index_rows + tables) / 25e9;
        let seconds = memory + dispatches * 6e-6 + waits * 60e-6 + sent;
        _ = writeln!(
            text,
            "| {what} | {rows:.3e} | {visits:.3e} | {memory:.2} s | {dispatches:.0} | {waits:.0} | {sent:.2} s | {seconds:.2} |"
        );
    }
    text
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
