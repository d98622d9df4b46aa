//! The graphics adapters of this machine.

use super::failure;
use cli::failure::Outcome;
use cli::output::{print, print_json};
use doushouqi::gpu::{AdapterReport, GpuError};
use serde::Serialize;

#[derive(Serialize)]
struct Line<'a> {
    number: usize,
    #[serde(flatten)]
    adapter: &'a AdapterReport,
}

/// Prints the adapters with the limits that matter to this program.
pub fn list(json: bool) -> Outcome {
    let found = doushouqi::gpu::adapters();
    if found.is_empty() {
        return Err(failure(GpuError::NoAdapter));
    }
    for (number, adapter) in found.iter().enumerate() {
        if json {
            print_json(&Line { number, adapter })?;
            continue;
        }
        print(format_args!("{number} {} ({}, {}, {})", adapter.name, adapter.kind, adapter.backend, adapter.driver))?;
        match &adapter.unusable {
            None => print(format_args!("  can be used"))?,
            Some(reason) => print(format_args!("  cannot be used: {reason}"))?,
        }
        print(format_args!("  largest binding       {} MiB", adapter.max_binding >> 20))?;
        print(format_args!("  largest buffer        {} MiB", adapter.max_buffer >> 20))?;
        print(format_args!("  storage buffers       {}", adapter.storage_buffers))?;
        print(format_args!("  work group            {} invocations", adapter.workgroup_invocations))?;
        print(format_args!("  work group memory     {} KiB", adapter.workgroup_memory >> 10))?;
        print(format_args!("  subgroup              {} to {}", adapter.subgroup_min, adapter.subgroup_max))?;
    }
    Ok(())
}
