//! Endgame tables on many machines. The classes of a level do not depend on each other, so a class is the unit of work
//! that a cluster schedules. [`Plan`] lists the classes with their memory and time, [`slurm`] and [`snakemake`] write
//! the plan as a file for a scheduler, [`ClassJob`](doushouqi::tablebase::ClassJob) runs one job, and [`check_counts`]
//! checks counts by searching random positions.
//!
//! ```
//! use cluster::{Machines, Plan, Rate};
//! use doushouqi::board::RuleOptions;
//!
//! let rate = Rate { rows_per_second: 1e6, job_seconds: 1.0 };
//! let plan = Plan::new(&RuleOptions::PAPER, 4, false, rate, None);
//! assert!(plan.simulate(&Machines::of_cores(8)) < plan.simulate(&Machines::of_cores(1)));
//! ```

#![warn(missing_docs, unreachable_pub)]

mod check;
mod plan;
pub mod slurm;
pub mod snakemake;

pub use check::{Comparison, Sample, check_counts};
pub use plan::{Bundle, Machines, Plan, PlannedClass, Rate, bundles};
