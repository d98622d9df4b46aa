//! Endgame tables: exact values of all positions of a material, by retrograde analysis on bit planes. A directory of tables is
//! generated once and then probed:
//!
//! ```
//! use doushouqi::board::{Position, RuleOptions};
//! use doushouqi::tablebase::{Generate, Options, Probe, Solver, TableSet, Wdl};
//!
//! let dir = tempfile::tempdir()?;
//! let job = Generate { pieces: 2, ..Generate::new(dir.path(), RuleOptions::PAPER) };
//! job.run(&mut Solver::new(&job.rules, job.pieces, Options::default()), &|_| ())?;
//!
//! // The lion reaches the enemy den first.
//! let tables = TableSet::open(dir.path())?.prober(&job.rules)?;
//! let position: Position = "7/7/7/7/L6/6e/7/7/7 w".parse()?;
//! let value = tables.value(&position)?.expect("a position of two pieces");
//! assert_eq!((value.wdl, value.dtw), (Wdl::Win, Some(9)));
//! // Every move with its value, best first.
//! let moves = tables.moves(&position)?.expect("positions of two pieces");
//! assert_eq!(moves[0].1, value);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Classes`] groups equivalent materials, [`Index`] numbers the positions of a class, `conversions` and `quiet` apply
//! the moves of a class to its planes, `iteration` runs the passes, and [`Solver`] orders the classes by their captures.

mod address;
mod alike;
#[doc(hidden)]
pub mod bench_support;
mod canonical;
mod class;
mod dtz;
mod index;
mod layout;
mod material;
mod material_table;
mod metric;
mod order;
mod probe;
mod solve;
mod spill;
mod squares;
mod stats;
mod store;
mod value;
mod wdl;

pub use crate::memory::has_memory;
pub use address::Address;
pub use address::Addresser;
pub use class::{Class, ClassId, Classes, Member};
pub use dtz::{Dtz, ProbeDtz, ValueAtClock};
pub use index::{Index, MAX_PIECES, ROW_CELLS, RowPiece, WIDTH, position_of};
pub use material::{AnimalSet, Material, ParseMaterialError, squares_in_play};
pub use material_table::MaterialTable;
pub use metric::Metric;
pub use probe::{Probe, ProbeWdl, Value, Wdl};
pub use solve::backend::{Backend, DeviceWork, Job, OnCpu, OrElse, Sink, Solved};
pub use solve::cpu::{BufferPool, CpuBackend};
pub use solve::difference::{Difference, first_difference};
pub use solve::error::SolveError;
#[cfg(feature = "gpu")]
pub use solve::gpu::{Gpu, GpuLimits, GpuTimes, WorkTime};
#[cfg(feature = "gpu")]
pub use solve::needs::gpu::BatchNeeds;
pub use solve::needs::{MemoryNeed, expected_file_bytes};
pub use solve::progress::{CountPhase, CountProgress, Follow};
pub use solve::solver::{Done, Options, Solver};
pub use solve::values::SolvedRows;
pub use stats::{Stats, Summary};
pub use store::codec::compressed_len;
pub use store::counts::{ClassCounts, Provenance};
pub use store::error::SetError;
pub use store::file::{Content, Description, Sides, TableError, TableFile};
pub use store::finish::{Finished, Status, finish, status};
pub use store::forecast::{Forecast, LevelForecast, Shortage};
pub use store::generate::{Generate, Progress};
pub use store::job::{ClassJob, JobDone};
pub use store::manifest::{CountedClass, MANIFEST, Manifest, ManifestClass};
pub use store::many::ValueWithMoves;
pub use store::on_demand::{AnswerSource, ClassCounter, CountCache, CountNeed, OnDemandAnswer, OnDemandError};
pub use store::partial::PartialFile;
pub use store::path::TablePath;
pub use store::peak::{available as available_memory, memory_limit};
pub use store::prober::{DtzProber, Prober, TableProber, WdlProber};
pub use store::proof::{Proved, Prover};
pub use store::repack::{repack, write_wdl};
pub use store::set::TableSet;
pub use store::verify::{Contradiction, Scope, verify};
pub use value::{CellValue, Cells, Table};
pub use wdl::WdlTables;
