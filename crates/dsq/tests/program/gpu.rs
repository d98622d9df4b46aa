//! The GPU's tables against the CPU's, cell by cell and count by count. Mesa's lavapipe suffices as a GPU. Without a
//! GPU these tests are skipped.
#![cfg(feature = "gpu")]

use crate::skip::skip;
use doushouqi::board::{Color, Position, RuleOptions, Rules};
use doushouqi::gpu::{AdapterChoice, GpuError, adapters};
use doushouqi::perft::{GpuPerft, Perft, PerftMode};
use doushouqi::tablebase::{Backend, ClassId, CpuBackend, Generate, Gpu, GpuLimits, Material, Options, OrElse, Solver};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The limits of these tests, unless they say otherwise: those that every GPU with WebGPU has.
const GUARANTEED: GpuLimits = GpuLimits { guaranteed: true, ..GpuLimits::NONE };

/// The GPU, or `None` if there is none.
fn gpu() -> Option<Gpu> {
    limited_gpu(GUARANTEED)
}

/// A GPU with these limits. Those that do not limit the device share one, and its compiled kernels.
fn limited_gpu(limits: GpuLimits) -> Option<Gpu> {
    static SHARED: [Mutex<Option<Gpu>>; 4] = [const { Mutex::new(None) }; 4];
    if limits.memory != u64::MAX || limits.lost_after != 0 || limits.planted.is_some() {
        return required(Gpu::open_limited(AdapterChoice::Any, limits));
    }
    let kind = usize::from(limits.subgroups) + 2 * usize::from(limits.guaranteed);
    let mut shared = SHARED[kind].lock().unwrap_or_else(PoisonError::into_inner);
    if shared.is_none() {
        let device = GpuLimits { subgroups: limits.subgroups, guaranteed: limits.guaranteed, ..GpuLimits::NONE };
        *shared = Some(required(Gpu::open_limited(AdapterChoice::Any, device))?);
    }
    required(shared.as_mut()?.share(limits))
}

fn required<T>(opened: Result<T, GpuError>) -> Option<T> {
    match opened {
        Ok(card) => Some(card),
        Err(error) => {
            skip(&error.to_string());
            None
        }
    }
}

fn assert_same(cpu: &Solver, gpu: &Solver, id: ClassId) {
    let material = cpu.classes().get(id).representative;
    for color in Color::ALL {
        let (a, b) = (&cpu.class_stats(id).unwrap()[color], &gpu.class_stats(id).unwrap()[color]);
        if let (Some(a), Some(b)) = (cpu.table(id), gpu.table(id)) {
            let (a, b) = (&a.cells[color], &b.cells[color]);
            assert_eq!(a.len(), b.len(), "{material}, {color:?} to move");
            let first = (0..a.len()).find(|&cell| a.get(cell) != b.get(cell));
            if let Some(cell) = first {
                panic!("{material}, {color:?} to move, cell {cell}: CPU {}, GPU {}", a.get(cell), b.get(cell));
            }
            assert_eq!(a, b, "{material}, {color:?} to move: width of the cells");
        }
        assert_eq!(a, b, "{material}, {color:?} to move");
    }
}

fn compare_levels(rules: &RuleOptions, most: usize) {
    compare_levels_within(GUARANTEED, rules, most);
}

/// Returns the bytes that were sent to the GPU.
fn compare_levels_within(limits: GpuLimits, rules: &RuleOptions, most: usize) -> Option<u64> {
    let gpu = limited_gpu(limits)?;
    let mut cpu = Solver::new(rules, most, Options::default());
    let mut gpu = Solver::new(rules, most, Options::default()).on(gpu);
    for pieces in 2..=most {
        cpu.solve_level(pieces, true, &|_, _| {}).unwrap();
        gpu.solve_level(pieces, true, &|_, _| {}).unwrap();
        assert_eq!(cpu.level_stats(pieces), gpu.level_stats(pieces), "{rules}");
    }
    let ids: Vec<ClassId> = cpu.classes().iter().map(|(id, _)| id).collect();
    for id in ids {
        assert_same(&cpu, &gpu, id);
    }
    Some(gpu.backend().work().unwrap().sent)
}

/// The values of smaller classes are uploaded once for all batches of a level, if they fit into one buffer.
#[test]
fn two_and_three_pieces() {
    let sent = |buffer| compare_levels_within(GpuLimits { buffer, ..GpuLimits::NONE }, &RuleOptions::default(), 3);
    // Captures lead to ten classes of two pieces, for two sides to move.
    let Some(once) = sent(u64::MAX) else { return };
    assert!(once.is_multiple_of(4096) && (10..=20).contains(&(once / 4096)), "{once}");
    // Seven batches, each with the values that it needs.
    assert!(sent(64 << 10).unwrap() > once);
}

fn compare_material(material: &str, rules: &RuleOptions) {
    compare_material_within(GUARANTEED, material, rules);
}

fn compare_material_within(limits: GpuLimits, material: &str, rules: &RuleOptions) {
    let Some(gpu) = limited_gpu(limits) else { return };
    let material: Material = material.parse().unwrap();
    let mut cpu = Solver::new(rules, material.len(), Options::default());
    let mut gpu = Solver::new(rules, material.len(), Options::default()).on(gpu);
    let id = cpu.classes().member(material).unwrap().class;
    cpu.solve_class(id, &|_, _| {}).unwrap();
    gpu.solve_class(id, &|_, _| {}).unwrap();
    assert_same(&cpu, &gpu, id);
}

/// The presets, and the default rules with each single change.
fn rule_sets() -> impl Iterator<Item = RuleOptions> {
    RuleOptions::PRESETS.into_iter().map(|(_, rules)| rules).chain(RuleOptions::single_changes())
}

#[test]
fn two_pieces_under_all_kinds_of_rules() {
    for rules in rule_sets() {
        compare_levels(&rules, 2);
    }
}

/// A few classes of three pieces under half of these rules.
#[test]
fn samples_of_three_pieces_under_many_kinds_of_rules() {
    for (i, rules) in rule_sets().step_by(2).enumerate() {
        let materials = ["LRvT", "EPvL", "TRvR", "RvLC", "PRvC"];
        compare_material(materials[i % materials.len()], &rules);
    }
}

#[test]
fn three_pieces_with_a_stalemate_that_loses() {
    let rules = "no-move=loss,own-rat-blocks=no,shore=none,traps=any,tiger-leap=files,dog-over-wolf=no";
    compare_levels(&rules.parse().unwrap(), 3);
}

#[test]
fn four_pieces_with_leapers() {
    compare_material("EPvLR", &RuleOptions::default());
}

#[test]
fn three_pieces_with_a_panther_that_leaps() {
    compare_material("PRvR", &"panther-leap=ranks".parse().unwrap());
    compare_material("RvPR", &"panther-leap=ranks".parse().unwrap());
}

#[test]
fn four_pieces_with_two_rats() {
    compare_material("LRvTR", &RuleOptions::default());
}

#[test]
fn four_pieces_against_one() {
    compare_material("EvLCR", &RuleOptions::default());
    compare_material("RvLTR", &RuleOptions::default());
}

/// With buffers of 1 MiB a page has some 200 rows, so this class has a dozen pages, and the values of smaller classes are in
/// several buffers, which only GPUs beyond the limits of WebGPU allow.
#[test]
fn pages() {
    let limits = GpuLimits { buffer: 1 << 20, ..GpuLimits::NONE };
    compare_material_within(limits, "TRvLR", &"own-rat-blocks=no,no-move=loss".parse().unwrap());
}

/// Under a no-capture limit: with several pages and submissions, and with codes of two bytes.
#[test]
fn values_under_a_limit() {
    let rules = |text: &str, limit| text.parse::<RuleOptions>().unwrap().within(Some(limit));
    for (text, limit) in [("paper", 1), ("paper", 20), ("no-move=loss", 100)] {
        compare_levels(&rules(text, limit), 3);
    }
    compare_material("EPvLR", &rules("paper", 100));
    compare_material("ELvT", &rules("chinese", 200));
    let limits = GpuLimits { buffer: 1 << 20, ..GpuLimits::NONE };
    compare_material_within(limits, "TRvLR", &rules("own-rat-blocks=no", 50));
}

/// Solves two and three pieces on a GPU that fails. Returns the errors of the classes that the CPU took over.
fn solved_on_failing_card(limits: GpuLimits) -> Option<Vec<String>> {
    let gpu = limited_gpu(limits)?;
    let rules = RuleOptions::default();
    let mut cpu = Solver::new(&rules, 3, Options::default());
    let mut gpu = Solver::new(&rules, 3, Options::default()).on(OrElse::new(gpu, CpuBackend::default()));
    for pieces in 2..=3 {
        cpu.solve_level(pieces, true, &|_, _| {}).unwrap();
        gpu.solve_level(pieces, true, &|_, _| {}).unwrap();
    }
    let ids: Vec<ClassId> = cpu.classes().iter().map(|(id, _)| id).collect();
    ids.iter().for_each(|&id| assert_same(&cpu, &gpu, id));
    let fallbacks = gpu.backend().fallbacks();
    assert!(fallbacks.len() < ids.len(), "the card did something");
    Some(fallbacks.iter().map(|(_, error)| error.to_string()).collect())
}

#[test]
fn the_processor_goes_on_when_the_device_is_lost() {
    // In the middle of the batches of three pieces.
    let limits = GpuLimits { buffer: 1 << 16, lost_after: 24, ..GpuLimits::NONE };
    let Some(errors) = solved_on_failing_card(limits) else { return };
    assert!(!errors.is_empty());
    assert!(errors.iter().all(|error| error.contains("the GPU is lost")), "{errors:?}");
    // Without the CPU it is an error.
    let Some(gpu) = limited_gpu(limits) else { return };
    let mut gpu = Solver::new(&RuleOptions::default(), 3, Options::default()).on(gpu);
    gpu.solve_level(2, true, &|_, _| {}).unwrap();
    let error = gpu.solve_level(3, true, &|_, _| {}).unwrap_err();
    assert!(error.to_string().contains("lost"), "{error}");
}

/// A GPU that is lost while it generates tables leaves only complete files, which a run on the CPU completes to a whole set.
#[test]
fn a_lost_device_writes_nothing_wrong() {
    let generate = |dir: &Path, backend: Box<dyn Backend>| {
        let mut solver = Solver::new(&RuleOptions::default(), 3, Options::default()).on(backend);
        Generate { pieces: 3, ..Generate::new(dir, RuleOptions::default()) }.run(&mut solver, &|_| {})
    };
    let cpu = || Box::new(CpuBackend::default());
    let whole = tempfile::tempdir().unwrap();
    generate(whole.path(), cpu()).unwrap();
    let whole = files(whole.path());
    for lost_after in [7, 14, 30, 60] {
        let limits = GpuLimits { buffer: 1 << 16, lost_after, ..GpuLimits::NONE };
        let Some(gpu) = limited_gpu(limits) else { return };
        let dir = tempfile::tempdir().unwrap();
        let error = generate(dir.path(), Box::new(gpu)).unwrap_err().to_string();
        assert!(error.contains("lost"), "{error}");
        let made = files(dir.path());
        let tables = || made.iter().filter(|(name, _)| name.ends_with(".dsq"));
        assert!(tables().count() < 52 && tables().all(|(name, bytes)| whole.get(name) == Some(bytes)));
        generate(dir.path(), cpu()).unwrap();
        assert!(files(dir.path()) == whole, "lost after {lost_after} submissions");
        // With the CPU as a fallback, one run is enough.
        let Some(gpu) = limited_gpu(limits) else { return };
        let dir = tempfile::tempdir().unwrap();
        generate(dir.path(), Box::new(OrElse::new(gpu, CpuBackend::default()))).unwrap();
        assert!(files(dir.path()) == whole, "lost after {lost_after} submissions");
    }
}

/// Kernels that a driver has compiled wrongly are noticed before the first table, or by the counts of the values: the CPU solves
/// all classes, and no wrong file is written.
#[test]
fn wrong_kernels_are_noticed() {
    let generate = |dir: &Path, backend: Box<dyn Backend>| {
        let mut solver = Solver::new(&RuleOptions::default(), 3, Options::default()).on(backend);
        Generate { pieces: 3, ..Generate::new(dir, RuleOptions::default()) }.run(&mut solver, &|_| {}).map(|()| solver)
    };
    let whole = tempfile::tempdir().unwrap();
    generate(whole.path(), Box::<CpuBackend>::default()).unwrap();
    let whole = files(whole.path());
    let planted = [
        // A mask without a file, and one of the wrong file.
        ["(down(here, 1u) & NOT_G)", "down(here, 1u)"],
        ["(up(word, 4u) & MIRROR_F)", "(up(word, 4u) & MIRROR_G)"],
        ["workgroupBarrier();", ""],
        // The last word of a row has no values: of each row, and only of batches that are larger than those of the check.
        ["let cells = select(8u, 4u, wide);", "let cells = select(8u, 4u, wide); if s == 62u { return; }"],
        [
            "let cells = select(8u, 4u, wide);",
            "let cells = select(8u, 4u, wide); if s == 62u && params.side_rows > 200u { return; }",
        ],
        // A rank and a sum.
        ["countOneBits(word.x) + countOneBits(word.y)", "countOneBits(word.x) + countOneBits(word.y >> 1u)"],
    ];
    for planted in planted {
        let limits = GpuLimits { planted: Some(planted), ..GUARANTEED };
        let Some(gpu) = limited_gpu(limits) else { return };
        let dir = tempfile::tempdir().unwrap();
        let solver = generate(dir.path(), Box::new(OrElse::new(gpu, CpuBackend::default()))).unwrap();
        assert!(files(dir.path()) == whole, "{planted:?}");
        let fallbacks = solver.backend().fallbacks();
        let reason = fallbacks.first().map(|(_, error)| error.to_string()).unwrap_or_default();
        assert!(reason.starts_with("the GPU or its driver computes wrong values: "), "{planted:?}: {reason:?}");
        // Without the CPU nothing wrong is written.
        let Some(gpu) = limited_gpu(limits) else { return };
        let dir = tempfile::tempdir().unwrap();
        let Err(error) = generate(dir.path(), Box::new(gpu)) else { panic!("{planted:?}") };
        assert!(error.to_string().contains("computes wrong values"), "{planted:?}: {error}");
        let made = files(dir.path());
        let mut tables = made.iter().filter(|(name, _)| name.ends_with(".dsq"));
        assert!(tables.all(|(name, bytes)| whole.get(name) == Some(bytes)), "{planted:?}");
    }
}

/// The files of a directory.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())).collect()
}

/// After a loss of the GPU the CPU stays within the memory limit: a class that it could not solve is refused before.
#[test]
fn the_larger_need_of_two_backends_counts() {
    let Some(gpu) = gpu() else { return };
    let solver = Solver::new(&RuleOptions::default(), 4, Options::default());
    let classes = solver.classes();
    let id = classes.level(4).next().unwrap().0;
    let (cpu, on_gpu) = (CpuBackend::default().host_bytes(classes, id, false), gpu.host_bytes(classes, id, false));
    let both = OrElse::new(gpu, CpuBackend::default());
    assert_eq!(both.host_bytes(classes, id, false), cpu.max(on_gpu));
    assert!(cpu > 0);
}

#[test]
fn batches_shrink_and_the_processor_takes_over_when_memory_is_short() {
    // Enough memory for some single classes of three pieces, but neither for many at once nor for the largest.
    let Some(errors) = solved_on_failing_card(GpuLimits { memory: 1_000_000, ..GpuLimits::NONE }) else { return };
    assert!(errors.iter().all(|error| error.contains("has no memory left")), "{errors:?}");
    // Enough memory for each class, but not for all at once.
    let Some(errors) = solved_on_failing_card(GpuLimits { memory: 8 << 20, ..GpuLimits::NONE }) else { return };
    assert!(errors.is_empty(), "{errors:?}");
}

/// Lines of three pieces take up to 67 plies, so with a lower limit the kernels use two bytes per cell for some
/// classes.
#[test]
fn long_lines() {
    let limits = GpuLimits { byte_plies: 30, buffer: 256 << 10, ..GUARANTEED };
    compare_levels_within(limits, &RuleOptions::default(), 3);
}

fn compare_perft(gpu: &GpuPerft<'_>, rules: &Rules, position: &Position, depth: u32) {
    let cpu = Perft::new(rules, PerftMode::Expand);
    let fen = position.to_fen();
    assert_eq!(gpu.count(position, depth).unwrap(), cpu.count(position, depth), "perft {depth} of {fen}");
}

#[test]
fn perft_from_the_start() {
    let rules = Rules::default();
    let Some(gpu) = required(GpuPerft::open(AdapterChoice::Any, &rules)) else { return };
    for depth in 0..=5 {
        compare_perft(&gpu, &rules, &Position::start(), depth);
    }
    let divided = gpu.divide(&Position::start(), 4).unwrap();
    assert_eq!(divided, Perft::new(&rules, PerftMode::Expand).divide(&Position::start(), 4));
}

/// Positions of random games up to their end, under all kinds of rules.
#[test]
fn perft_of_random_games() {
    let single = ["tiger-leap=files,own-rat-blocks=no", "shore=none,traps=any", "dog-over-wolf=no,traps=sanctuary"];
    let options = rule_sets().chain(single.iter().map(|text| text.parse().unwrap()));
    let mut random = Pcg64::seed_from_u64(5);
    for (rules, subgroups) in options.map(Rules::new).zip([false, true].into_iter().cycle()) {
        // Small chunks, of four positions, make many chunks.
        let Some(gpu) = required(GpuPerft::open_limited(AdapterChoice::Any, &rules, 4 << 14, subgroups)) else {
            return;
        };
        let mut position = Position::start();
        for ply in 0.. {
            let moves = position.moves(&rules);
            if ply % 40 == 0 || moves.is_empty() || ply == 200 {
                compare_perft(&gpu, &rules, &position, 2);
                compare_perft(&gpu, &rules, &position, 3);
                compare_perft(&gpu, &rules, &position, 4 + u32::from(ply == 40));
            }
            if moves.is_empty() || ply == 200 {
                break;
            }
            position = position.make(moves[random.next_u64() as usize % moves.len()]);
        }
    }
}

#[test]
fn perft_says_what_a_card_does_not_count() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_dsq"))
        .args(["perft", "3", "--backend", "gpu", "--repetition", "leaf"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("without --repetition leaf"));
}

/// The shader text for adapters without subgroups.
#[test]
fn without_subgroups() {
    let limits = GpuLimits { subgroups: false, ..GUARANTEED };
    compare_material_within(limits, "EvLCR", &RuleOptions::default());
    compare_levels_within(GpuLimits { byte_plies: 30, buffer: 1 << 20, ..limits }, &"no-move=loss".parse().unwrap(), 3);
}

#[test]
fn adapters_report_their_limits() {
    let found = adapters();
    match Gpu::open(AdapterChoice::Any) {
        Err(error) => assert_eq!(found.is_empty(), error == GpuError::NoAdapter),
        Ok(gpu) => {
            assert!(found.contains(gpu.adapter()));
            assert!(gpu.adapter().max_binding >= 128 << 20);
        }
    }
}

/// Runs the program and returns its exit code and the last line of stdout.
fn dsq(arguments: &[&str]) -> (Option<i32>, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_dsq")).args(arguments).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), stdout.lines().last().unwrap_or_default().to_owned())
}

/// The kernels compute the same in subgroups of every width. Lavapipe's is the width of the vectors that it uses.
#[test]
fn subgroups_of_four_and_of_eight() {
    for (bits, width) in [("128", 4), ("256", 8)] {
        let driver = [("LP_NATIVE_VECTOR_WIDTH", bits)];
        let Some(adapter) = first_adapter(&driver) else { return skip("no GPU was found") };
        if adapter["driver"].as_str().is_none_or(|driver| !driver.contains("llvmpipe")) {
            return skip("the driver is not lavapipe");
        }
        assert_eq!((&adapter["subgroup_min"], &adapter["subgroup_max"]), (&width.into(), &width.into()));
        agrees_with_the_cpu(&driver);
    }
}

/// SwiftShader, the other software driver, which Chromium contains.
#[test]
fn swiftshader() {
    let folders = ["/usr/lib/chromium", "/usr/lib64/chromium-browser", "/opt/google/chrome"].map(std::path::Path::new);
    let files = folders.map(|folder| folder.join("vk_swiftshader_icd.json"));
    let Some(file) = files.iter().find_map(|file| file.to_str().filter(|_| file.exists())) else {
        return skip("SwiftShader is not installed (it comes with chromium)");
    };
    let driver = [("VK_DRIVER_FILES", file), ("VK_ICD_FILENAMES", file)];
    let adapter = first_adapter(&driver).expect("SwiftShader is an adapter");
    assert!(adapter["name"].as_str().unwrap().contains("SwiftShader"), "{adapter}");
    agrees_with_the_cpu(&driver);
}

/// Runs the program with these variables, which choose a driver.
fn with_driver(driver: &[(&str, &str)], arguments: &[&str]) -> std::process::Output {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dsq"));
    command.args(arguments).envs(driver.iter().copied()).output().unwrap()
}

/// The first adapter of `dsq bench devices`.
fn first_adapter(driver: &[(&str, &str)]) -> Option<serde_json::Value> {
    let listed = with_driver(driver, &["bench", "devices", "--json"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    let adapter: serde_json::Value = serde_json::from_str(listed.lines().next()?).unwrap();
    assert!(adapter["unusable"].is_null(), "{adapter}");
    Some(adapter)
}

/// Compares the values of some classes, and counts of moves.
fn agrees_with_the_cpu(driver: &[(&str, &str)]) {
    for arguments in [&["--pieces", "2"][..], &["--pieces", "3", "--classes", "4", "--rules", "no-move=loss"]] {
        let compared = with_driver(driver, &[&["bench", "compare", "--json"], arguments].concat());
        let stdout = String::from_utf8(compared.stdout).unwrap();
        let last: serde_json::Value = serde_json::from_str(stdout.lines().last().unwrap_or("null")).unwrap();
        assert_eq!(last["identical"], true, "{stdout}{}", String::from_utf8_lossy(&compared.stderr));
    }
    let counted = with_driver(driver, &["perft", "4", "--backend", "gpu"]);
    let cpu = Perft::new(&Rules::default(), PerftMode::Expand).count(&Position::start(), 4);
    assert!(String::from_utf8(counted.stdout).unwrap().replace(',', "").contains(&cpu.to_string()));
}

#[test]
fn compare_ends_with_one_json_object() {
    if gpu().is_none() {
        return;
    }
    let (code, line) = dsq(&["bench", "compare", "--pieces", "2", "--json"]);
    assert_eq!(code, Some(0));
    let object: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(object["identical"], true);
    assert_eq!(object["positions"], 53_184);
    let (code, line) = dsq(&["bench", "compare", "--pieces", "3", "--classes", "2", "--seed", "3", "--json"]);
    let sample: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!((code, &sample["identical"]), (Some(0), &true.into()));
    assert!(sample["positions"].as_u64().unwrap() < 2_000_000);
    assert!(object["adapter"].is_string() && object["cpu_seconds"].is_f64() && object["gpu_seconds"].is_f64());
}

/// Every kernel has times, which add up to less than the whole command takes.
#[test]
fn kernels_are_measured() {
    if gpu().is_none() {
        return;
    }
    let arguments = ["bench", "kernels", "--pieces", "3", "--json"];
    let start = std::time::Instant::now();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_dsq")).args(arguments).output().unwrap();
    let whole = start.elapsed().as_secs_f64();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for kernel in ["neighbours", "init", "list", "pass", "finish"] {
        let of_kernel = || lines.iter().filter(|line| line["name"] == kernel);
        let seconds: f64 = of_kernel().map(|line| line["seconds"].as_f64().unwrap()).sum();
        assert!(seconds > 0.0 && seconds < whole, "{kernel}: {seconds} of {whole} s");
        // The longest line of three pieces has 67 plies, and passes come in groups of sixteen.
        let depths: Vec<u64> = of_kernel().map(|line| line["depth"].as_u64().unwrap()).collect();
        let passes = ["list", "pass"].contains(&kernel);
        assert_eq!(depths, if passes { (2..=81).collect() } else { vec![0] }, "{kernel}");
    }
}

#[test]
fn without_a_driver_gpu_fails_and_auto_solves() {
    let run = |arguments: &[&str]| {
        std::process::Command::new(env!("CARGO_BIN_EXE_dsq"))
            .args(arguments)
            .envs([("VK_DRIVER_FILES", "/nonexistent"), ("VK_ICD_FILENAMES", "/nonexistent")])
            .output()
            .unwrap()
    };
    let solve = |backend| run(&["solve", "--pieces", "2", "--backend", backend, "--json"]);
    for gpu in [solve("gpu"), run(&["bench", "devices"]), run(&["bench", "devices", "--json"])] {
        assert_eq!(gpu.status.code(), Some(3));
        let stderr = String::from_utf8(gpu.stderr).unwrap();
        assert!(stderr.contains("no GPU was found"), "{stderr}");
    }
    let auto = solve("auto");
    assert_eq!(auto.status.code(), Some(0));
    assert!(String::from_utf8(auto.stdout).unwrap().contains("\"positions\":160068"));
}

/// `--device`, or else WGPU_ADAPTER_NAME, chooses a GPU by number or name. A software driver is reported.
#[test]
fn a_gpu_is_chosen_by_number_or_name() {
    let Some(gpu) = gpu() else { return };
    let run = |backend: &str, device: &[&str], variable: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dsq"));
        command.args(["solve", "--pieces", "2", "--backend", backend]).args(device).env("WGPU_ADAPTER_NAME", variable);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let name = gpu.adapter().name.to_uppercase();
    for backend in ["gpu", "auto"] {
        for (device, variable) in [(&["--device", "0"][..], "nonsense"), (&["--device", &name], ""), (&[], &name)] {
            let (code, stderr) = run(backend, device, variable);
            assert_eq!(code, Some(0), "{backend} {device:?} {variable}: {stderr}");
            assert_eq!(stderr.contains("software"), gpu.adapter().is_software(), "{stderr}");
        }
        let (code, stderr) = run(backend, &["--device", "nonsense"], "");
        assert!(code == Some(3) && stderr.contains("name nonsense; there are 0 "), "{code:?} {stderr}");
    }
    assert_eq!(run("gpu", &[], "nonsense").0, Some(3));
    let (code, stderr) = run("cpu", &["--device", "0"], "nonsense");
    assert!(code == Some(2) && stderr.contains("--backend gpu"), "{code:?} {stderr}");
    assert_eq!(run("cpu", &[], "nonsense"), (Some(0), String::new()));
    let listed = dsq(&["bench", "devices", "--json"]).1;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert!(listed["number"].is_u64() && listed["name"].is_string());
}

#[test]
fn generated_files_have_the_same_bytes() {
    if gpu().is_none() {
        return;
    }
    let [cpu, gpu] = ["cpu", "gpu"].map(|backend| {
        let dir = tempfile::tempdir().unwrap();
        let made = std::process::Command::new(env!("CARGO_BIN_EXE_dsq"))
            .args(["generate", "--pieces", "3", "--backend", backend, "--out"])
            .arg(dir.path())
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let entries = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap());
        let mut files: Vec<_> =
            entries.map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap())).collect();
        files.sort();
        files
    });
    assert!(cpu.len() > 50);
    assert!(cpu == gpu);
}

/// Jobs on a GPU write what jobs on the CPU write, and name what is missing.
#[test]
fn jobs_write_the_same_bytes() {
    if gpu().is_none() {
        return;
    }
    let [cpu, gpu] = ["cpu", "gpu"].map(|backend| {
        let dir = tempfile::tempdir().unwrap();
        let tables = dir.path().to_str().unwrap();
        let solve = |classes: &[&str]| {
            let arguments = [&["cluster", "solve", "--tables", tables, "--backend", backend], classes].concat();
            std::process::Command::new(env!("CARGO_BIN_EXE_dsq")).args(arguments).output().unwrap()
        };
        let early = solve(&["EPvL"]);
        assert_eq!(early.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&early.stderr).contains("solve it first"));
        let made = solve(&["EvL", "EvP", "PvE", "LvP", "PvL", "EPvL"]);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let again = solve(&["EPvL"]);
        assert!(String::from_utf8_lossy(&again.stdout).contains("already complete"));
        let counted = solve(&["EPvL", "--stats-only", "--counts", dir.path().join("counts").to_str().unwrap()]);
        assert!(counted.status.success(), "{}", String::from_utf8_lossy(&counted.stderr));
        let counts = std::fs::read(dir.path().join("counts/EPvL.json")).unwrap();
        let counts: serde_json::Value = serde_json::from_slice(&counts).unwrap();
        let files = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = files
            .filter(|path| path.is_file())
            .map(|path| (path.file_name().unwrap().to_owned(), std::fs::read(path).unwrap()))
            .collect();
        files.sort();
        (files, counts["stats"].clone())
    });
    assert!(cpu.0.len() >= 3, "classes of two pieces, and one of three");
    assert!(cpu == gpu);
}
