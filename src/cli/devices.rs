use super::Outcome;
#[cfg(feature = "gpu")]
use super::{print, print_json};
use clap::Args;

/// List graphics adapters with the limits that matter here.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq devices\n  dsq devices --json")]
pub struct Devices {
    /// Print JSON, one object an adapter.
    #[arg(long)]
    json: bool,
}

#[cfg(feature = "gpu")]
impl Devices {
    pub fn run(self) -> Outcome {
        let found = doushouqi::gpu::adapters();
        if found.is_empty() {
            eprintln!("dsq: {}", doushouqi::gpu::GpuError::NoAdapter);
        }
        for adapter in found {
            if self.json {
                print_json(&adapter)?;
                continue;
            }
            print(format_args!("{} ({}, {}, {})", adapter.name, adapter.kind, adapter.backend, adapter.driver))?;
            print(format_args!("  largest binding       {} MiB", adapter.max_binding >> 20))?;
            print(format_args!("  largest buffer        {} MiB", adapter.max_buffer >> 20))?;
            print(format_args!("  storage buffers       {}", adapter.storage_buffers))?;
            print(format_args!("  work group            {} invocations", adapter.workgroup_invocations))?;
            print(format_args!("  work group memory     {} KiB", adapter.workgroup_memory >> 10))?;
            print(format_args!("  subgroup              {} to {}", adapter.subgroup_min, adapter.subgroup_max))?;
        }
        Ok(())
    }
}

#[cfg(not(feature = "gpu"))]
impl Devices {
    pub fn run(self) -> Outcome {
        let _ = self.json;
        Err(super::Failure::Environment(super::NO_GPU_FEATURE.to_owned()))
    }
}
