//! The program `dsq`.

mod benchmark;
mod commands;

fn main() -> std::process::ExitCode {
    commands::main()
}
