use super::Failure;
use clap::{Args, ValueEnum};
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::{Options, Solver};
use serde::Serialize;
#[cfg(feature = "gpu")]
use {
    doushouqi::gpu::{Choice, GpuError},
    std::io::IsTerminal,
};

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
    /// What `open` makes of a graphics card, if one is wanted and there.
    #[cfg(feature = "gpu")]
    pub fn open<T>(self, open: impl FnOnce(Choice) -> Result<T, GpuError>) -> Result<Option<T>, Failure> {
        match self {
            Backend::Cpu => Ok(None),
            Backend::Gpu => Ok(Some(open(Choice::Any)?)),
            Backend::Auto => match open(Choice::Hardware) {
                Ok(card) => Ok(Some(card)),
                Err(GpuError::NoAdapter | GpuError::OnlySoftware) => {
                    // The usual case, so scripts are spared the line.
                    if std::io::stderr().is_terminal() {
                        eprintln!("dsq: no graphics card; working on the processor");
                    }
                    Ok(None)
                }
                Err(error) => {
                    eprintln!("dsq: working on the processor: {error}");
                    Ok(None)
                }
            },
        }
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
}

impl BackendArg {
    /// A solver there.
    #[cfg(feature = "gpu")]
    pub fn solver(&self, rules: &RuleOptions, pieces: usize) -> Result<Solver, Failure> {
        let solver = Solver::new(rules, pieces, Options::default());
        Ok(match self.gpu()? {
            Some(gpu) => solver.on_gpu(gpu, self.backend == Backend::Auto),
            None => solver,
        })
    }

    /// The graphics card, if one is wanted and there.
    #[cfg(feature = "gpu")]
    pub fn gpu(&self) -> Result<Option<doushouqi::tablebase::Gpu>, Failure> {
        self.backend.open(doushouqi::tablebase::Gpu::open)
    }

    /// The name of the graphics card, if one is wanted and there.
    pub fn card_name(&self) -> Result<Option<String>, Failure> {
        #[cfg(feature = "gpu")]
        return Ok(self.gpu()?.map(|gpu| gpu.adapter().name.clone()));
        #[cfg(not(feature = "gpu"))]
        return match self.backend {
            Backend::Gpu => Err(Failure::Environment(super::NO_GPU_FEATURE.to_owned())),
            Backend::Auto | Backend::Cpu => Ok(None),
        };
    }

    /// A solver on the processor, by the rules `paper`.
    pub fn cpu_solver(pieces: usize) -> Solver {
        Solver::new(&RuleOptions::PAPER, pieces, Options::default())
    }

    /// A solver there.
    #[cfg(not(feature = "gpu"))]
    pub fn solver(&self, rules: &RuleOptions, pieces: usize) -> Result<Solver, Failure> {
        match self.backend {
            Backend::Gpu => Err(Failure::Environment(super::NO_GPU_FEATURE.to_owned())),
            Backend::Auto | Backend::Cpu => Ok(Solver::new(rules, pieces, Options::default())),
        }
    }
}

/// Says on stderr what the processor solved in place of the graphics card.
pub fn report_cpu_instead(solver: &Solver) {
    #[cfg(feature = "gpu")]
    if let [(_, error), ..] = solver.cpu_instead() {
        eprintln!("dsq: {} classes were solved on the processor: {error}", solver.cpu_instead().len());
    }
    #[cfg(not(feature = "gpu"))]
    let _ = solver;
}

/// What a graphics card did, for JSON.
#[derive(Clone, Serialize)]
pub struct CardWork {
    #[cfg(feature = "gpu")]
    #[serde(flatten)]
    work: doushouqi::tablebase::GpuWork,
    /// Of the seconds, those that went into compiling its programs.
    compile_seconds: f64,
}

impl CardWork {
    /// What it did so far, if there is one.
    pub fn of(solver: &Solver) -> Option<CardWork> {
        CardWork::since(solver, None)
    }

    /// What it did since.
    #[cfg(feature = "gpu")]
    pub fn since(solver: &Solver, before: Option<&CardWork>) -> Option<CardWork> {
        let (work, compile_seconds) = (solver.gpu_work()?, solver.gpu_compile_time().as_secs_f64());
        Some(match before {
            None => CardWork { work, compile_seconds },
            Some(before) => {
                CardWork { work: work.since(&before.work), compile_seconds: compile_seconds - before.compile_seconds }
            }
        })
    }

    #[cfg(not(feature = "gpu"))]
    pub fn since(_: &Solver, _: Option<&CardWork>) -> Option<CardWork> {
        None
    }
}
