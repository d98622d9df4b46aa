//! Classes solved by the twins: the same values as the CPU's, and how well the memory of a GPU would be used.

use super::{Log, SimulatedGpu, Touched};
use crate::board::{Color, RuleOptions};
use crate::tablebase::solve::gpu::kernels::Variant;
use crate::tablebase::solve::gpu::plan::{Plan, TablePlace};
use crate::tablebase::{ClassId, Options, ROW_CELLS, Solver};
use std::collections::HashMap;

/// A class solved by the twins, from what a solver has of fewer pieces.
fn solved(solver: &Solver, id: ClassId, wide: bool) -> SimulatedGpu {
    let classes = solver.classes();
    let variant = Variant { subgroups: true, wide, keep: true, pages: 1, tables: 1 };
    // The first cells are where captures of the last enemy lead: no position.
    let mut table = vec![0; 4];
    let mut places = HashMap::new();
    for smaller in classes.captures(id) {
        for color in Color::ALL {
            places.insert((smaller.0, color), TablePlace { page: 0, cell: table.len() as u32 });
            let cells = &solver.table(smaller).unwrap().cells[color];
            table.extend((0..cells.len()).map(|cell| cells.get(cell)));
        }
    }
    let place = |of: Option<_>| of.map_or(TablePlace { page: 0, cell: 0 }, |of| places[&of]);
    let plan = Plan::new(&[id], classes, &place);
    let mut gpu = SimulatedGpu::new(id, classes, variant, plan, table);
    gpu.solve();
    gpu
}

/// Solves all that a class leads to, and the class itself by the twins and on the CPU.
fn compare(solver: &mut Solver, id: ClassId, wide: bool) -> SimulatedGpu {
    solver.solve_class(id, &|_, _| {}).unwrap();
    let gpu = solved(solver, id, wide);
    let material = solver.classes().get(id).representative;
    let rows = solver.classes().get(id).index().rows;
    for (i, color) in [Color::White, Color::Black].into_iter().enumerate() {
        let cells = &solver.table(id).unwrap().cells[color];
        let bytes: &[u8] = bytemuck::cast_slice(&gpu.codes);
        for cell in 0..rows * ROW_CELLS {
            let at = i * rows * ROW_CELLS + cell;
            let found =
                if wide { u16::from(bytes[2 * at]) | u16::from(bytes[2 * at + 1]) << 8 } else { bytes[at].into() };
            assert_eq!(found, cells.get(cell), "{material}, {color:?} to move, cell {cell}");
        }
        let by_plies = &solver.class_stats(id).unwrap()[color].by_plies;
        let counted = &gpu.counts[i];
        for (plies, &count) in by_plies.iter().enumerate().skip(1) {
            assert_eq!(counted.get(plies).copied().unwrap_or(0), count, "{material}, {color:?} to move, {plies} plies");
        }
    }
    gpu
}

fn solver(rules: &str, pieces: usize) -> Solver {
    Solver::new(&rules.parse::<RuleOptions>().unwrap(), pieces, Options::default())
}

fn class(solver: &Solver, material: &str) -> ClassId {
    solver.classes().member(material.parse().unwrap()).unwrap().class
}

#[test]
fn twins_solve_as_the_processor_does() {
    for rules in ["paper", "no-move=loss,own-rat-blocks=no,traps=any"] {
        let mut solver = solver(rules, 3);
        for material in ["EvR", "LvT", "LRvT", "TRvR", "EPvL", "RvLT"] {
            let id = class(&solver, material);
            compare(&mut solver, id, false);
        }
        let id = class(&solver, "LRvT");
        compare(&mut solver, id, true);
    }
}

/// Sums over kinds of memory.
fn sum(log: &Log, kernel: &str, memories: &[&str]) -> Touched {
    let mut sum = Touched::default();
    let of_kernel = log.touched.iter().filter(|((k, memory), _)| *k == kernel && memories.contains(memory));
    of_kernel.for_each(|(_, touched)| sum.add(*touched));
    sum
}

const MEMORIES: [&str; 6] = ["planes", "codes", "tables", "entries", "lists", "plan"];
/// What `quiet_pass` and `finish` touch when values are not kept.
const COUNTS_ONLY: [&str; 5] = ["planes", "tables", "entries", "lists", "plan"];
const KERNELS: [&str; 7] =
    ["conversions", "buckets", "no_move", "first_rows", "conversion_pass", "quiet_pass", "finish"];

#[test]
fn neighbours_read_neighbouring_words() {
    let mut solver = solver("no-move=loss", 3);
    for material in ["LRvT", "EPvL", "TRvR"] {
        let id = class(&solver, material);
        let gpu = compare(&mut solver, id, false);
        let all = [("quiet_pass", 0.85), ("no_move", 0.9), ("finish", 0.85), ("conversions", 0.6), ("buckets", 0.6)];
        let planes = [("quiet_pass", 0.9), ("no_move", 0.9), ("finish", 0.9)];
        let counts = planes.into_iter().chain([("conversion_pass", 0.5)]);
        let all = all.map(|(kernel, least)| (kernel, &MEMORIES[..], least));
        let planes = planes.map(|(kernel, least)| (kernel, &MEMORIES[..1], least));
        let counts = counts.map(|(kernel, least)| (kernel, &COUNTS_ONLY[..], least));
        for (kernel, memories, least) in all.into_iter().chain(planes).chain(counts) {
            let found = sum(&gpu.log, kernel, memories).efficiency();
            assert!(found >= least, "{material}: {kernel} uses {found:.3} of the bytes of {memories:?} that it moves");
        }
        let old = sum(&gpu.old, "quiet_pass", &MEMORIES).efficiency();
        assert!(old < 0.3, "{material}: {old:.3}");
    }
}

/// Bytes that a class moves for each position of its mirrored cells, and passes over a row.
struct Cost {
    material: String,
    cells: f64,
    bytes: f64,
    looked_at: f64,
    log: Log,
    old: Log,
}

fn cost(solver: &mut Solver, material: &str) -> Cost {
    let id = class(solver, material);
    let gpu = compare(solver, id, false);
    let rows = gpu.plan.side_rows as f64;
    let bytes: u64 = gpu.log.touched.values().map(|touched| 32 * touched.sectors).sum();
    Cost {
        material: material.to_owned(),
        cells: rows * ROW_CELLS as f64,
        bytes: bytes as f64,
        looked_at: gpu.looked_at as f64 / rows,
        log: gpu.log,
        old: gpu.old,
    }
}

/// Writes `results/kernels.md`. Takes a minute.
#[test]
#[ignore = "writes results/kernels.md"]
fn results() {
    let mut solver = solver("paper", 4);
    let costs = ["EvLCR", "EPvLR", "LTvDC", "LRvTR"].map(|material| cost(&mut solver, material));
    let mut all = (Log::default(), Log::default());
    for Cost { log, old, .. } in &costs {
        for (sum, log) in [(&mut all.0, log), (&mut all.1, old)] {
            log.touched.iter().for_each(|(key, touched)| sum.touched.entry(*key).or_default().add(*touched));
        }
    }
    let date = std::env::var("DATE").unwrap_or_else(|_| "a day that was not said".to_owned());
    let mut text = RESULTS_HEAD.replace(" on DATE;", &format!(" on {date};"));
    let line = |log: &Log, kernel: &str, memories: &[&str]| {
        let cell = |memories: &[&str]| match sum(log, kernel, memories) {
            Touched { sectors: 0, .. } => " - |".to_owned(),
            touched => format!(" {:.1} |", 100.0 * touched.efficiency()),
        };
        let touched = |memory: &&str| if memories.contains(memory) { cell(&[memory]) } else { " - |".to_owned() };
        let cells: String = MEMORIES.iter().map(touched).collect();
        format!("{cells}{} {:.0} |", cell(memories), (32 * sum(log, kernel, memories).sectors) as f64 / 1e6)
    };
    for kernel in KERNELS {
        text += &format!("| {kernel} |{}\n", line(&all.0, kernel, &MEMORIES));
    }
    text += &format!("| quiet_pass, counts only |{}\n", line(&all.0, "quiet_pass", &COUNTS_ONLY));
    for kernel in ["conversions", "quiet_pass"] {
        text += &format!("| {kernel}, as it was |{}\n", line(&all.1, kernel, &MEMORIES));
    }
    text += "\n## Bytes a cell\n\nA cell is one position of the mirrored index for one side to move, valid or not.\n\n\
             | class | cells | bytes moved a cell | passes over a row |\n|---|---|---|---|\n";
    for Cost { material, cells, bytes, looked_at, .. } in &costs {
        text += &format!("| {material} | {cells} | {:.2} | {looked_at:.1} |\n", bytes / cells);
    }
    let per_cell = costs.iter().map(|cost| cost.bytes).sum::<f64>() / costs.iter().map(|cost| cost.cells).sum::<f64>();
    text += &roofline(per_cell);
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/results/kernels.md"), text).unwrap();
}

const RESULTS_HEAD: &str = "# The kernels and a GPU's memory\n\n\
No GPU was at hand for any number here. They come from the kernels' twins in Rust, which solve whole classes as the \
shaders do (the same values, cell by cell, as the CPU's) and note every load and store. Made by \
`DATE=$(date -I) ./test twins::traffic::results -- --ignored` on DATE; the counts do not depend on the machine.\n\n\
## Useful bytes in the sectors touched\n\n\
Each load and store by 32 neighbouring invocations touches some sectors of 32 bytes. In per cent, the bytes of them that \
some invocation asked for; over EvLCR, EPvLR, LTvDC and LRvTR. What is the same for a whole workgroup (who stands where, which \
moves there are) is left out: it comes from the caches. `tables` are values of smaller classes, `lists` counters and rows to \
look at, `plan` what each invocation looks up on its own there. MB are what the kernel moves in all four classes, each sector \
as often as it is touched.\n\n\
| kernel | planes | codes | tables | entries | lists | plan | all | MB |\n|---|---|---|---|---|---|---|---|---|\n";

/// Predicted times, from the cells that there are.
fn roofline(per_cell: f64) -> String {
    let cells = |pieces: usize| -> f64 {
        let solver = solver("paper", pieces);
        let rows = solver.classes().level(pieces).map(|(_, class)| class.index().rows);
        rows.map(|rows| (2 * rows * ROW_CELLS) as f64).sum()
    };
    let six = 2.0 * 28.0 * 49.0 * 49.0 * 49.0 * ROW_CELLS as f64;
    let mut text = format!(
        "\n## Roofline on paper\n\nBytes over bandwidth, with the {per_cell:.2} bytes a cell of the four classes together: the \
         least time if memory were all, nothing came from a cache, and nothing waited. The passes over a row grow with the \
         length of the lines, so five and six pieces will want more; the first run on a GPU confirms or refutes these \
         numbers.\n\n| | cells | bytes | H200, 4.8 TB/s | RTX 4090, 1.0 TB/s | Apple M, 0.4 TB/s |\n|---|---|---|---|---|---|\n"
    );
    for (what, cells) in
        [("four pieces", cells(4)), ("five pieces", cells(5)), ("a six-piece class of land animals", six)]
    {
        let bytes = cells * per_cell;
        let seconds = [4.8e12, 1.0e12, 0.4e12].map(|bandwidth| format!(" {:.3} s |", bytes / bandwidth)).concat();
        text += &format!("| {what} | {cells:.3e} | {bytes:.2e} |{seconds}\n");
    }
    text
}
