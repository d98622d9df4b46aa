//! The program `dsq`.

mod benchmark;
mod commands;

/// The commit that this was built from, 12 hexadecimal digits, with `-dirty` if the sources differed from it; `unknown`
/// outside a checkout.
const COMMIT: &str = env!("DSQ_COMMIT");

fn main() -> std::process::ExitCode {
    commands::main()
}
