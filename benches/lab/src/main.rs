//! The program `lab` runs long studies. `regret` tests whether the choices of methods and formats
//! are right; `paper` repeats the measurements of papers; `bench` times the parts of the library.
mod bench;
mod chart;
mod paper;
mod patterns;
mod regret;
mod study;

use blockmul_cli::STYLES;
use blockmul_cli::program;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Studies of blockmul: measurements of papers, the regret of its choices, and the times of its
/// parts.
#[derive(Parser)]
#[command(name = "lab", version, styles = STYLES, after_help = "\
Examples:
  lab paper polok -o polok                  the measurements of a paper again: polok/report.md
  lab regret                                is the choice of methods the fastest? on generated families
  lab regret --operation apply              the same of formats of A·x, for 1, 10 and 1000 uses
  lab bench --operation transpose,scan      the parts of the library, beside a copy

BLOCKMUL_DEVICE names the device of studies without --device. What the inputs are, `blockmul bench --list`
and `blockmul multiply --help` say.
Exit status: 0 done; 1 a result differs from the reference; 2 wrong usage, or an input that cannot be read;
3 no such device; 4 not enough memory; 5 anything else.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The subcommands, in the order of the help.
#[derive(Subcommand)]
enum Command {
    Paper(Box<paper::Args>),
    Regret(Box<regret::Args>),
    Bench(Box<bench::Args>),
}

fn main() -> ExitCode {
    program(|cli: &Cli| match &cli.command {
        Command::Paper(args) => paper::run(args),
        Command::Regret(args) => regret::run(args),
        Command::Bench(args) => bench::run(args),
    })
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_subcommand_has_examples_that_name_it() {
        for command in [&Cli::command()].into_iter().chain(Cli::command().get_subcommands()) {
            let name = if command.get_name() == "lab" { "lab".into() } else { format!("lab {}", command.get_name()) };
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.starts_with("Examples:\n  ") && after.contains(&name), "{name}: {after}");
        }
    }
}
