//! The program and the machine that runs it.

use doushouqi::cpu::{CpuLevel, cpu_name};
use report::figures::Machine;
use std::time::SystemTime;

/// The version of the program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that the program was built from: 12 hexadecimal digits, with `-dirty` if the sources differed from it;
/// `unknown` outside a checkout.
pub const COMMIT: &str = env!("DSQ_COMMIT");

/// This machine, with the name of the measured GPU.
pub fn machine(gpu: Option<String>) -> Machine {
    Machine {
        cpu: cpu_name(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        instructions: CpuLevel::get().name().to_owned(),
        gpu,
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        compiler: env!("DSQ_RUSTC").to_owned(),
    }
}

/// The current date and time in UTC (RFC 3339).
pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}
