//! The command `blockmul`: parse, call the library, exit. One file per subcommand; stdout is for results, stderr for the rest.
mod devices;
mod explain;
mod failure;
mod generate;
mod multiply;
mod operands;
mod output;
mod report;
mod sizes;
mod spy;
mod target;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Sparse and block-sparse matrix products on any OpenCL device.
///
/// Exit status: 0 done; 1 the result failed --verify; 2 wrong usage, or an input that cannot be read; 3 no such device; 4 not
/// enough memory; 5 anything else.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Multiply(multiply::Args),
    Generate(generate::Args),
    Spy(spy::Args),
    Devices(devices::Args),
}

fn main() -> ExitCode {
    failure::exit_on_panic();
    let done = match Cli::parse().command {
        Command::Multiply(args) => multiply::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Spy(args) => spy::run(&args),
        Command::Devices(args) => devices::run(&args),
    };
    done.map_or_else(|failure| failure.report(), |()| ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        super::Cli::command().debug_assert();
    }
}
