//! The commands' access to GPUs; `no_gpu.rs` replaces it in a program built without the feature `gpu`.

mod adapters;
mod plan;
mod times;

pub use adapters::list;
pub use plan::plan;
pub use times::times;

use crate::backend::{Backend, Counter, DeviceArg};
use cli::failure::Failure;
use doushouqi::board::{Move, Position, Rules};
use doushouqi::gpu::{AdapterChoice, AdapterReport, GpuError};
use doushouqi::perft::GpuPerft;
use doushouqi::tablebase::{self, Gpu};
use std::io::IsTerminal;

/// The failure for a GPU that cannot be used.
fn failure(error: GpuError) -> Failure {
    Failure::Environment(error.to_string())
}

/// The solver on a GPU; `None` if no GPU is wanted or found.
pub fn backend(wanted: Backend, device: &DeviceArg) -> Result<Option<Box<dyn tablebase::Backend>>, Failure> {
    Ok(open(wanted, device, Gpu::open, Gpu::adapter)?.map(|gpu| Box::new(gpu) as _))
}

/// Perft on a GPU; `None` if no GPU is wanted or found.
pub fn counter<'a>(
    wanted: Backend,
    device: &DeviceArg,
    rules: &'a Rules,
) -> Result<Option<Box<dyn Counter + 'a>>, Failure> {
    let open_gpu = |choice| GpuPerft::open(choice, rules);
    Ok(open(wanted, device, open_gpu, GpuPerft::adapter)?.map(|gpu| Box::new(gpu) as _))
}

impl Counter for GpuPerft<'_> {
    fn name(&self) -> String {
        self.adapter().label()
    }

    fn count(&self, position: &Position, depth: u32) -> Result<u64, Failure> {
        GpuPerft::count(self, position, depth).map_err(failure)
    }

    fn divide(&self, position: &Position, depth: u32) -> Result<Vec<(Move, u64)>, Failure> {
        GpuPerft::divide(self, position, depth).map_err(failure)
    }
}

/// Calls `open` for a GPU; `None` if no GPU is wanted or found. Reports a software driver.
fn open<T>(
    wanted: Backend,
    device: &DeviceArg,
    open: impl FnOnce(AdapterChoice) -> Result<T, GpuError>,
    adapter: impl FnOnce(&T) -> &AdapterReport,
) -> Result<Option<T>, Failure> {
    let named =
        device.device.clone().or_else(|| std::env::var("WGPU_ADAPTER_NAME").ok().filter(|name| !name.is_empty()));
    let opened = match wanted {
        Backend::Cpu if device.device.is_some() => {
            return Err(Failure::Input(
                "--device chooses a GPU, and the backend is the CPU: add --backend gpu".to_owned(),
            ));
        }
        Backend::Cpu => return Ok(None),
        Backend::Gpu => open(named.map_or(AdapterChoice::Any, AdapterChoice::Named)).map_err(failure)?,
        Backend::Auto => match open(named.map_or(AdapterChoice::Hardware, AdapterChoice::Named)) {
            Ok(backend) => backend,
            Err(error) if device.device.is_some() => return Err(failure(error)),
            Err(GpuError::NoAdapter | GpuError::OnlySoftware) => {
                // The absence of a GPU is the usual case, so the line is printed only in a terminal.
                if std::io::stderr().is_terminal() {
                    eprintln!("dsq: no GPU; working on the CPU");
                }
                return Ok(None);
            }
            Err(error) => {
                eprintln!("dsq: working on the CPU: {error}");
                return Ok(None);
            }
        },
    };
    let report = adapter(&opened);
    if report.is_software() {
        eprintln!("dsq: {} is a software driver, slower than the CPU backend", report.name);
    }
    Ok(Some(opened))
}
