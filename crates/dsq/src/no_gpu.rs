//! The replacement for the module `gpu` in a program built without the feature `gpu`.

use crate::backend::{Backend, Counter, DeviceArg, DryRun};
use cli::failure::{Failure, Outcome};
use doushouqi::board::{RuleOptions, Rules};
use doushouqi::tablebase;

fn missing() -> Failure {
    Failure::Environment("this program was built without the feature `gpu`".to_owned())
}

/// Always `None`; an error if a GPU is required.
pub fn backend(wanted: Backend, _: &DeviceArg) -> Result<Option<Box<dyn tablebase::Backend>>, Failure> {
    if wanted == Backend::Gpu { Err(missing()) } else { Ok(None) }
}

/// Always `None`; an error if a GPU is required.
pub fn counter(wanted: Backend, _: &DeviceArg, _: &Rules) -> Result<Option<Box<dyn Counter>>, Failure> {
    if wanted == Backend::Gpu { Err(missing()) } else { Ok(None) }
}

/// Fails: there are no adapters to list.
pub fn list(_: bool) -> Outcome {
    Err(missing())
}

/// Fails: there is no GPU to plan for.
pub fn plan(job: &DryRun<'_>) -> Outcome {
    let DryRun { rules, backend, device, pieces, material, bandwidth, json } = job;
    let _ = (rules, backend, device, pieces, material, bandwidth, json);
    Err(missing())
}

/// Fails: there is no GPU to measure.
pub fn times(_: &RuleOptions, _: usize, _: &DeviceArg, _: bool) -> Outcome {
    Err(missing())
}
