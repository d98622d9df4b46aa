//! The program `dsq`.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
