use crate::backend::{Backend, DeviceArg};
use crate::gpu;
use clap::Args;
use cli::arguments::{Common, SeedArg, at_least_one};
use cli::failure::{Failure, Outcome};
use cli::output::{print, print_json};
use cli::progress::progress_bar;
use doushouqi::board::{Color, RuleOptions};
use doushouqi::game::random::Random;
use doushouqi::tablebase::{ClassId, Classes, Difference, MAX_PIECES, Material, Options, Solver, first_difference};
use report::text::grouped;
use serde::Serialize;
use std::collections::HashSet;
use std::time::Instant;

/// Solve on the CPU and on the GPU and compare every value and every count.
///
/// A software driver counts as a GPU here. The command stops at the first difference, prints its position and ends with
/// exit code 1.
#[derive(Args)]
#[command(mut_arg("seed", |seed| seed.requires("classes")), after_help = "Examples:\n  dsq bench compare --pieces 3\n  dsq bench compare --material EPvLR --json\n  \
                        dsq bench compare --pieces 5 --classes 3\n\n\
                        Times leave out opening the GPU and compiling its programs.")]
pub struct Compare {
    /// Compare all materials of 2 to N pieces.
    #[arg(long, value_name = "N", required_unless_present = "material", conflicts_with = "material",
          value_parser = clap::value_parser!(u8).range(2..=MAX_PIECES as i64))]
    pieces: Option<u8>,
    /// Compare one material and the materials that its captures lead to: White's animals, v, Black's, of the letters
    /// ELTPDWCR in any order.
    #[arg(long, value_name = "MATERIAL")]
    material: Option<Material>,
    /// Compare only this many random classes of the most pieces, and the classes that their captures lead to.
    #[arg(long, value_name = "N", conflicts_with = "material", value_parser = at_least_one::<usize>())]
    classes: Option<usize>,
    #[command(flatten)]
    seed: SeedArg,
    #[command(flatten)]
    device: DeviceArg,
    #[command(flatten)]
    common: Common,
}

impl Compare {
    pub fn run(self) -> Outcome {
        self.common.threads.run(|| self.compare())?
    }

    fn compare(&self) -> Outcome {
        let (pieces, material) = match (self.material, self.pieces) {
            (Some(material), _) => (material.len(), Some(material)),
            (None, pieces) => (pieces.unwrap_or(2).into(), None),
        };
        if pieces > MAX_PIECES {
            return Err(Failure::Input(format!("at most {MAX_PIECES} pieces can be solved, not {pieces}")));
        }
        let which = match (material, self.classes) {
            (Some(material), _) => Which::Material(material),
            (None, Some(classes)) => Which::Sample { classes, seed: self.seed.seed },
            (None, None) => Which::All,
        };
        compare(self.common.rules(), pieces, &which, &self.device, self.common.json.on)
    }
}

/// The bytes of values in memory at a time, for each backend.
const BYTES_AT_ONCE: usize = 256 << 20;

#[derive(Default, Serialize)]
struct Sum {
    positions: u64,
    cpu_seconds: f64,
    gpu_seconds: f64,
}

impl Sum {
    fn add(&mut self, other: &Sum) {
        self.positions += other.positions;
        self.cpu_seconds += other.cpu_seconds;
        self.gpu_seconds += other.gpu_seconds;
    }

    fn text(&self) -> String {
        let per_second = |seconds: f64| grouped((self.positions as f64 / seconds) as u64);
        format!(
            "{} positions; CPU {:.3} s, {} per second; GPU {:.3} s, {} per second",
            grouped(self.positions),
            self.cpu_seconds,
            per_second(self.cpu_seconds),
            self.gpu_seconds,
            per_second(self.gpu_seconds)
        )
    }
}

#[derive(Serialize)]
struct Level {
    pieces: usize,
    classes: usize,
    #[serde(flatten)]
    sum: Sum,
}

#[derive(Serialize)]
struct Whole<'a> {
    identical: bool,
    adapter: &'a str,
    #[serde(flatten)]
    sum: Sum,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Named<'a>>,
}

/// A [`Difference`] in the form of the output.
#[derive(Serialize)]
struct Named<'a> {
    material: String,
    fen: Option<&'a str>,
    cpu: &'a str,
    gpu: &'a str,
}

impl<'a> Named<'a> {
    fn new(difference: &'a Difference) -> Named<'a> {
        let Difference { material, fen, first, second } = difference;
        Named { material: material.to_string(), fen: fen.as_deref(), cpu: first, gpu: second }
    }

    fn text(&self) -> String {
        let Named { material, fen, cpu, gpu } = self;
        format!("{material}: {}: the CPU has {cpu}, the GPU {gpu}", fen.unwrap_or("no position"))
    }
}

/// The classes with the most pieces to compare. With fewer pieces, the classes that their captures lead to are
/// compared.
enum Which {
    All,
    Material(Material),
    Sample { classes: usize, seed: u64 },
}

impl Which {
    /// The chosen classes; `None` for all classes.
    fn classes(&self, classes: &Classes, pieces: usize) -> Option<HashSet<ClassId>> {
        let top: Vec<ClassId> = match *self {
            Which::All => return None,
            Which::Material(material) => classes.member(material).map(|member| member.class).into_iter().collect(),
            Which::Sample { classes: count, seed } => {
                let mut ids: Vec<ClassId> = classes.level(pieces).map(|(id, _)| id).collect();
                Random::new(seed).shuffle(&mut ids);
                ids.truncate(count);
                ids
            }
        };
        Some(top.into_iter().flat_map(|id| classes.needed_for(id)).flatten().collect())
    }
}

fn compare(rules: &RuleOptions, pieces: usize, which: &Which, device: &DeviceArg, json: bool) -> Outcome {
    let backend =
        gpu::backend(Backend::Gpu, device)?.ok_or_else(|| Failure::Environment("there is no GPU".to_owned()))?;
    let adapter = backend.name();
    if !json {
        print(format_args!("adapter: {adapter}"))?;
    }
    let mut cpu = Solver::new(rules, pieces, Options::default());
    let mut gpu = Solver::new(rules, pieces, Options::default()).on(backend);
    let wanted = which.classes(cpu.classes(), pieces);
    let mut whole = Sum::default();
    let mut difference = None;
    for level in 2..=pieces {
        let ids: Vec<ClassId> = cpu
            .classes()
            .level(level)
            .map(|(id, _)| id)
            .filter(|id| wanted.as_ref().is_none_or(|wanted| wanted.contains(id)))
            .collect();
        let mut sum = Sum::default();
        let bar = progress_bar(ids.len() as u64, "classes").with_message(format!("{level} pieces"));
        for group in groups(cpu.classes(), &ids) {
            sum.cpu_seconds += timed(&mut cpu, group)?;
            sum.gpu_seconds += timed(&mut gpu, group)?;
            for &id in group {
                sum.positions += Color::ALL.map(|color| positions(&cpu, id, color)).iter().sum::<u64>();
                difference = difference.or_else(|| first_difference(&cpu, &gpu, id));
                if level == pieces {
                    cpu.forget(id);
                    gpu.forget(id);
                }
            }
            bar.inc(group.len() as u64);
            if difference.is_some() {
                break;
            }
        }
        bar.finish_and_clear();
        whole.add(&sum);
        if difference.is_some() {
            break;
        }
        let report = Level { pieces: level, classes: ids.len(), sum };
        if json {
            print_json(&report)?;
        } else {
            print(format_args!("{level} pieces, {} classes: identical; {}", ids.len(), report.sum.text()))?;
        }
    }
    let text = whole.text();
    if json {
        let identical = difference.is_none();
        print_json(&Whole {
            identical,
            adapter: &adapter,
            sum: whole,
            difference: difference.as_ref().map(Named::new),
        })?;
    }
    match difference {
        Some(difference) => Err(Failure::Mismatch(Named::new(&difference).text())),
        None if json => Ok(()),
        None => print(format_args!("identical: {text}")),
    }
}

fn timed(solver: &mut Solver, ids: &[ClassId]) -> Result<f64, Failure> {
    let start = Instant::now();
    let compiling = |solver: &Solver| solver.backend().work().map_or(0.0, |work| work.compile_seconds);
    let before = compiling(solver);
    solver.solve_some(ids, true, &|_, _| {})?;
    Ok((start.elapsed().as_secs_f64() - (compiling(solver) - before)).max(0.0))
}

fn positions(solver: &Solver, id: ClassId, color: Color) -> u64 {
    solver.class_stats(id).map_or(0, |stats| stats[color].summary().positions)
}

/// Splits classes into runs whose values fit into the memory.
fn groups<'a>(classes: &Classes, ids: &'a [ClassId]) -> Vec<&'a [ClassId]> {
    let mut groups = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (i, &id) in ids.iter().enumerate() {
        let size = 2 * classes.get(id).index().cells();
        if i > start && bytes + size > BYTES_AT_ONCE {
            groups.push(&ids[start..i]);
            (start, bytes) = (i, 0);
        }
        bytes += size;
    }
    groups.push(&ids[start..]);
    groups
}
