use super::Failure;
use clap::{Args, ValueEnum};
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::{Options, Solver};
#[cfg(feature = "gpu")]
use std::io::IsTerminal;

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
        use doushouqi::gpu::{Choice, GpuError};
        use doushouqi::tablebase::Gpu;
        let solver = Solver::new(rules, pieces, Options::default());
        match self.backend {
            Backend::Cpu => Ok(solver),
            Backend::Gpu => Ok(solver.on_gpu(Gpu::open(Choice::Any)?, false)),
            Backend::Auto => match Gpu::open(Choice::Hardware) {
                Ok(gpu) => Ok(solver.on_gpu(gpu, true)),
                Err(GpuError::NoAdapter | GpuError::OnlySoftware) => {
                    // The usual case, so scripts are spared the line.
                    if std::io::stderr().is_terminal() {
                        eprintln!("dsq: no graphics card; solving on the processor");
                    }
                    Ok(solver)
                }
                Err(error) => {
                    eprintln!("dsq: solving on the processor: {error}");
                    Ok(solver)
                }
            },
        }
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
