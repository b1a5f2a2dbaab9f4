//! The program `blockmul`.
fn main() -> std::process::ExitCode {
    blockmul_cli::main()
}
