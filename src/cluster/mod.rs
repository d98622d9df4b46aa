//! Many machines: the classes of a level do not depend on each other, so a class is the unit of work of whatever engine
//! spreads jobs. [`Plan`] says what there is to do and what each class takes, [`slurm`] and [`snakemake`] write it as the
//! engine's own file, [`ClassJob`](crate::tablebase::ClassJob) is one job, [`status`] and [`finish`] look at the directory,
//! [`check_counts`] checks counts by another way.

mod check;
mod finish;
mod plan;
pub mod slurm;
pub mod snakemake;

pub use check::{Comparison, Sample, check_counts};
pub use finish::{Finished, Status, finish, status};
pub use plan::{Bundle, Plan, PlannedClass, Rate, bundles};
