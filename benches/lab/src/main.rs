//! The program `lab`: studies that take long, and that users of blockmul need not repeat. `regret` asks
//! whether the choices of methods and formats are right; `paper` repeats the measurements of papers.
mod chart;
mod paper;
mod patterns;
mod regret;
mod study;
#[cfg(test)]
mod tests;

use blockmul_cli::{STYLES, program};
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Studies of blockmul: papers again, and the regret of its choices.
#[derive(Parser)]
#[command(name = "lab", version, styles = STYLES, after_help = "\
Examples:
  lab paper polok -o polok                  the measurements of a paper again: polok/report.md
  lab regret                                is the choice of methods the fastest? on generated families
  lab regret --operation apply              the same of formats of A·x, for 1, 10 and 1000 uses

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
}

fn main() -> ExitCode {
    program(|cli: &Cli| match &cli.command {
        Command::Paper(args) => paper::run(args),
        Command::Regret(args) => regret::run(args),
    })
}
