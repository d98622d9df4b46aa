//! The program `dsq` as its users run it.

#[path = "../../../../tests/support/annotated.rs"]
mod annotated;
mod browser;
mod bundle;
mod cli;
mod cluster;
mod crash;
mod dsq;
mod export;
mod formats;
mod gpu;
#[path = "../../../../tests/support/help.rs"]
mod help;
mod jobs;
mod match_players;
mod matches;
mod on_demand;
mod play;
#[path = "../../../../tests/support/program.rs"]
mod program;
mod serve;
mod site;
#[path = "../../../../tests/support/skip.rs"]
mod skip;
mod snakemake;
#[path = "../../../../tests/support/table_file.rs"]
mod table_file;
mod tables;
mod uci;
mod uci_session;

/// The program.
const PROGRAM: &str = env!("CARGO_BIN_EXE_dsq");
