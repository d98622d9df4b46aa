//! Endgame tables on many machines. The classes of a level do not depend on each other, so a class is the unit of work
//! that a cluster schedules. [`Plan`] lists the classes with their memory and time, [`slurm`] and [`snakemake`] write
//! the plan as a file for a scheduler, [`ClassJob`](doushouqi::tablebase::ClassJob) runs one job, and [`check_counts`]
//! checks counts by searching random positions.

#![warn(missing_docs, unreachable_pub)]

mod check;
mod plan;
pub mod slurm;
pub mod snakemake;

pub use check::{Comparison, Sample, check_counts};
pub use plan::{Bundle, Machines, Plan, PlannedClass, Rate, bundles};

/// The example of the README is compiled with the tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
