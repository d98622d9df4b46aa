//! The commands' access to GPUs; `no_gpu.rs` replaces it in a program built without the feature `gpu`.

mod adapters;
mod plan;

pub use adapters::list;
pub use plan::plan;

use crate::backend::{Backend, Counter};
use crate::failure::Failure;
use doushouqi::board::{Move, Position, Rules};
use doushouqi::gpu::{AdapterChoice, GpuError};
use doushouqi::perft::GpuPerft;
use doushouqi::tablebase::{self, Gpu};
use std::io::IsTerminal;

impl From<GpuError> for Failure {
    fn from(error: GpuError) -> Failure {
        Failure::Environment(error.to_string())
    }
}

/// The solver on a GPU; `None` if no GPU is wanted or found.
pub fn backend(wanted: Backend) -> Result<Option<Box<dyn tablebase::Backend>>, Failure> {
    Ok(open(wanted, Gpu::open)?.map(|gpu| Box::new(gpu) as _))
}

/// Perft on a GPU; `None` if no GPU is wanted or found.
pub fn counter<'a>(wanted: Backend, rules: &'a Rules) -> Result<Option<Box<dyn Counter + 'a>>, Failure> {
    Ok(open(wanted, |choice| GpuPerft::open(choice, rules))?.map(|gpu| Box::new(gpu) as _))
}

impl Counter for GpuPerft<'_> {
    fn name(&self) -> String {
        self.adapter().name.clone()
    }

    fn count(&self, position: &Position, depth: u32) -> Result<u64, Failure> {
        Ok(GpuPerft::count(self, position, depth)?)
    }

    fn divide(&self, position: &Position, depth: u32) -> Result<Vec<(Move, u64)>, Failure> {
        Ok(GpuPerft::divide(self, position, depth)?)
    }
}

/// Calls `open` for a GPU; `None` if no GPU is wanted or found.
fn open<T>(wanted: Backend, open: impl FnOnce(AdapterChoice) -> Result<T, GpuError>) -> Result<Option<T>, Failure> {
    match wanted {
        Backend::Cpu => Ok(None),
        Backend::Gpu => Ok(Some(open(AdapterChoice::Any)?)),
        Backend::Auto => match open(AdapterChoice::Hardware) {
            Ok(backend) => Ok(Some(backend)),
            Err(GpuError::NoAdapter | GpuError::OnlySoftware) => {
                // The absence of a GPU is the usual case, so the line is printed only in a terminal.
                if std::io::stderr().is_terminal() {
                    eprintln!("dsq: no GPU; working on the CPU");
                }
                Ok(None)
            }
            Err(error) => {
                eprintln!("dsq: working on the CPU: {error}");
                Ok(None)
            }
        },
    }
}
