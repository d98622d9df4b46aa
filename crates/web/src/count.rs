//! Solving the class of a position at a visitor's request, on the GPU of the browser if there is one: one count for its
//! distances, another for its results under a no-capture limit.

use crate::send;
use crate::threads::this_thread;
use answers::ApiError;
use answers::analysis::event;
use answers::counted_class::{COUNTED_PIECES, CountedClass};
use answers::counting::{CountReport, NeedReport};
use answers::errors::{Code, ErrorAnswer};
use answers::operations::query;
use answers::params::GameQuery;
use doushouqi::board::{Position, RuleOptions};
use doushouqi::clock::Instant;
use doushouqi::gpu::{AdapterChoice, GpuError};
use doushouqi::tablebase::{
    ClassId, Classes, CountNeed, CountPhase, CountProgress, CpuBackend, Gpu, GpuLimits, Material, MemoryNeed, Options,
    SolveError, Solver,
};
use std::fmt::Display;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// The assumed rate of the CPU, in positions per second.
const POSITIONS_PER_SECOND: f64 = 150e6;
/// The counts of a class: its distances, then its results under a limit.
const COUNTS: f64 = 2.0;
/// The seconds between two reports of the progress.
const REPORT: f64 = 0.1;

/// What solves a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Device {
    /// A GPU, unless software does its work: then the CPU is faster.
    Auto,
    Cpu,
    /// A GPU, also in software.
    Gpu,
}

/// Solves the class of the position in a query, under its no-capture limit if it has one. Events report the progress and, at
/// the end, an error.
pub(crate) async fn count(text: &str, device: Device) -> Option<CountedClass> {
    let counted = match task(text) {
        Ok(task) => task.run(device).await,
        Err(error) => Err(error),
    };
    counted.map_err(|error| send(event("failed", &ErrorAnswer { error: error.body() }))).ok()
}

/// The resources that the counts of the class of a position take.
pub(crate) fn need(position: &Position, rules: &RuleOptions) -> Result<NeedReport, ApiError> {
    let classes = Classes::new(rules, COUNTED_PIECES);
    let id = class_of(&classes, position)?;
    let class = classes.get(id).representative;
    // The tables of this class, which is made of its change log, and of all smaller ones, a byte a value; and those of the
    // count before, which another module keeps.
    let solved = classes.needed_for(id).into_iter().flatten().chain([id]);
    let values: usize = solved.map(|id| 2 * classes.get(id).index().cells()).sum();
    let need = CountNeed {
        class,
        memory_bytes: (MemoryNeed::of_job(&classes, id, true).total() + values) as u64,
        disk_bytes: 0,
        file_bytes: 0,
        spills: false,
    };
    let seconds = COUNTS * expected_seconds(&classes, id);
    Ok(NeedReport::of(position.to_fen(), rules.to_string(), Some(class), "possible", Some((need, seconds))))
}

/// Seconds on a CPU.
fn expected_seconds(classes: &Classes, id: ClassId) -> f64 {
    all_positions(classes, id) / POSITIONS_PER_SECOND
}

fn all_positions(classes: &Classes, id: ClassId) -> f64 {
    classes.needed_for(id).into_iter().flatten().map(|id| positions(classes, id)).sum()
}

/// The positions of a class with both sides to move.
fn positions(classes: &Classes, id: ClassId) -> f64 {
    2.0 * classes.get(id).representative.positions() as f64
}

fn class_of(classes: &Classes, position: &Position) -> Result<ClassId, ApiError> {
    let member = Material::of(position).and_then(|material| classes.member(material));
    let too_many = || {
        let message = format!("endgames of up to {COUNTED_PIECES} pieces can be solved here");
        ApiError::new(Code::NoTable, message).reason("too_many_pieces_here").with("most", COUNTED_PIECES)
    };
    Ok(member.ok_or_else(too_many)?.class)
}

fn task(text: &str) -> Result<Task, ApiError> {
    let asked: GameQuery = query(text)?;
    let limit = asked.no_capture_limit.number("no_capture_limit", 1..=RuleOptions::MAX_NO_CAPTURE_LIMIT)?;
    let (position, rules) = (asked.fen.position()?, asked.rules.rules(&RuleOptions::PAPER)?.within(limit));
    // The pool of all that runs without a pool of its own; it exists if this module has counted before.
    _ = this_thread().build_global();
    let solver = Solver::new(&rules, COUNTED_PIECES, Options::default());
    let id = class_of(solver.classes(), &position)?;
    let meter = Arc::new(Meter::new(solver.classes(), id));
    let follow = meter.clone();
    let backend = CpuBackend::default().following(move |progress| {
        follow.report(progress);
        ControlFlow::Continue(())
    });
    Ok(Task { solver: solver.on(backend), id, meter })
}

/// A class to solve, and its progress.
struct Task {
    solver: Solver,
    id: ClassId,
    meter: Arc<Meter>,
}

impl Task {
    async fn run(mut self, device: Device) -> Result<CountedClass, ApiError> {
        let mut gpu = open(device).await?;
        for level in self.solver.classes().needed_for(self.id) {
            if let Some(opened) = &mut gpu {
                match opened.solve_into(&mut self.solver, &level).await {
                    Ok(()) => {
                        level.iter().for_each(|&id| self.meter.finish(self.solver.classes(), id));
                        continue;
                    }
                    Err(error) if device == Device::Gpu => return Err(failed(&error)),
                    Err(error) => {
                        fall_back(&error);
                        gpu = None;
                    }
                }
            }
            for id in level {
                if self.solver.table(id).is_none() {
                    self.meter.start(self.solver.classes(), id);
                    self.solver.solve_some(&[id], true, &|_, _| ()).map_err(|error| failed(&error))?;
                }
                self.meter.finish(self.solver.classes(), id);
            }
        }
        drop(gpu);
        let smaller: Vec<ClassId> = self.solver.classes().captures(self.id);
        smaller.into_iter().for_each(|id| drop(self.solver.forget(id)));
        CountedClass::take(&mut self.solver, self.id).ok_or_else(|| failed(&SolveError::Stopped))
    }
}

/// The GPU that solves; `None` if the CPU does.
async fn open(device: Device) -> Result<Option<Gpu>, ApiError> {
    if device == Device::Cpu {
        return Ok(None);
    }
    match Gpu::open_async(AdapterChoice::Any, GpuLimits::NONE).await {
        Ok(gpu) => Ok(Some(gpu).filter(|gpu| device == Device::Gpu || !gpu.adapter().is_software())),
        Err(error) if device == Device::Gpu => Err(cannot_solve(&error)),
        Err(GpuError::NoAdapter) => Ok(None),
        Err(error) => {
            fall_back(&error);
            Ok(None)
        }
    }
}

/// Reports why the CPU goes on instead of the GPU.
fn fall_back(error: &impl Display) {
    send(event("fallback", &error.to_string()));
}

fn failed(error: &SolveError) -> ApiError {
    if matches!(error, SolveError::Memory { .. }) {
        return ApiError::new(Code::Unavailable, error.to_string()).reason("no_memory_here");
    }
    cannot_solve(error)
}

fn cannot_solve(error: &impl Display) -> ApiError {
    let reason = error.to_string();
    ApiError::new(Code::Unavailable, reason.clone()).reason("cannot_solve_here").with("reason", reason)
}

/// How far a count is, by the positions of the classes that are solved.
struct Meter {
    started: Instant,
    expected: f64,
    total: f64,
    /// Positions of the solved classes, and of the class that is being solved.
    done: AtomicU64,
    current: AtomicU64,
    /// The time of the last report, in seconds after the start.
    last: Mutex<f64>,
}

impl Meter {
    fn new(classes: &Classes, id: ClassId) -> Meter {
        Meter {
            started: Instant::now(),
            expected: expected_seconds(classes, id),
            total: all_positions(classes, id),
            done: AtomicU64::new(0),
            current: AtomicU64::new(0),
            last: Mutex::new(-REPORT),
        }
    }

    fn start(&self, classes: &Classes, id: ClassId) {
        self.current.store(positions(classes, id) as u64, Relaxed);
    }

    fn finish(&self, classes: &Classes, id: ClassId) {
        self.current.store(0, Relaxed);
        self.done.fetch_add(positions(classes, id) as u64, Relaxed);
        self.report(CountProgress { phase: CountPhase::Passes, fraction: 0.0, depth: 0 });
    }

    fn report(&self, progress: CountProgress) {
        let elapsed = self.started.elapsed().as_secs_f64();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if elapsed - *last < REPORT {
            return;
        }
        *last = elapsed;
        let done = self.done.load(Relaxed) as f64 + progress.fraction * self.current.load(Relaxed) as f64;
        let progress = CountProgress { fraction: done / self.total, ..progress };
        send(event("progress", &CountReport::new(progress, elapsed, self.expected)));
    }
}
