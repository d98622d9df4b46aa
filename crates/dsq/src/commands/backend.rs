use super::{Failure, card};
use clap::{Args, ValueEnum};
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::{self, CpuBackend, DeviceWork, Options, OrElse, Solver};
use std::path::PathBuf;

/// What solves.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// A graphics card if there is one, else the processor.
    Auto,
    /// The processor.
    Cpu,
    /// A graphics card, or a software driver that plays one; an error if there is neither.
    Gpu,
}

impl Backend {
    /// A graphics card that solves, if one is wanted and there.
    pub fn card(self) -> Result<Option<Box<dyn tablebase::Backend>>, Failure> {
        card::backend(self)
    }
}

#[derive(Args)]
pub struct BackendArg {
    #[arg(
        long,
        value_name = "BACKEND",
        default_value = "auto",
        hide_possible_values = true,
        help = "Where to solve: cpu, gpu (a software driver too), or auto: a real graphics card if there is one, else cpu"
    )]
    backend: Backend,
    /// Keep what captures lead to in temporary files in DIR instead of memory, on the processor. It takes about as much as
    /// all else: with it on disk a class of six pieces is counted within 10 GiB.
    #[arg(long, value_name = "DIR")]
    spill: Option<PathBuf>,
}

impl BackendArg {
    /// The processor.
    fn processor(&self) -> CpuBackend {
        let processor = CpuBackend::default();
        self.spill.iter().fold(processor, |processor, dir| processor.spilling(dir.clone()))
    }

    /// Whether nothing but a graphics card is wanted.
    pub fn is_gpu(&self) -> bool {
        self.backend == Backend::Gpu
    }

    /// A solver there.
    pub fn solver(&self, rules: &RuleOptions, pieces: usize) -> Result<Solver, Failure> {
        let solver = Solver::new(rules, pieces, Options::default());
        Ok(match self.backend.card()? {
            None => solver.on(self.processor()),
            Some(card) if self.backend == Backend::Auto => solver.on(OrElse::new(card, self.processor())),
            Some(card) => solver.on(card),
        })
    }

    /// What was asked for.
    pub fn wanted(&self) -> Backend {
        self.backend
    }

    /// The name of the graphics card, if one is wanted and there.
    pub fn card_name(&self) -> Result<Option<String>, Failure> {
        Ok(self.backend.card()?.map(|card| card.name()))
    }

    /// A solver on the processor, by the rules `paper`.
    pub fn cpu_solver(pieces: usize) -> Solver {
        Solver::new(&RuleOptions::PAPER, pieces, Options::default())
    }
}

/// Says on stderr what the processor solved in place of the graphics card.
pub fn report_taken_over(solver: &Solver) {
    if let [(_, error), ..] = solver.backend().taken_over() {
        eprintln!("dsq: {} classes were solved on the processor: {error}", solver.backend().taken_over().len());
    }
}

/// What a graphics card did since, if there is one.
pub fn work_since(solver: &Solver, before: Option<DeviceWork>) -> Option<DeviceWork> {
    let now = solver.backend().work()?;
    Some(before.map_or(now, |before| now.since(&before)))
}
