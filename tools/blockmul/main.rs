//! The command `blockmul`: arguments to library calls to text, JSON and files; no arithmetic of its own.
mod devices;
mod generate;
mod multiply;
mod report;
mod values;

use blockmul::error::ErrorKind;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

const EXIT_STATUSES: &str = "\
Exit status:
  0  done
  1  the result failed --verify
  2  usage, or an input that cannot be read (path:line: reason)
  3  no such device, or it lacks a capability
  4  not enough memory
  5  anything else";

/// Multiplies sparse and block-sparse matrices on any OpenCL device.
#[derive(Parser)]
#[command(version, after_help = EXIT_STATUSES, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Multiply(multiply::Multiply),
    Devices(devices::Devices),
    Generate(generate::Generate),
}

/// Why a command ends otherwise than well.
enum Failure {
    /// The result is not the reference's.
    Verify,
    Library(blockmul::Error),
    /// A stream the command writes to is closed or full.
    Stream(std::io::Error),
}

impl From<blockmul::Error> for Failure {
    fn from(error: blockmul::Error) -> Self {
        Self::Library(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Stream(error)
    }
}

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("blockmul: internal error, please report it: {panic}");
    }));
    let run = || match Arguments::parse().command {
        Command::Multiply(command) => command.run(),
        Command::Devices(command) => command.run(),
        Command::Generate(command) => command.run(),
    };
    match std::panic::catch_unwind(run) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => failure.exit_code(),
        Err(_) => ExitCode::from(5),
    }
}

impl Failure {
    fn exit_code(self) -> ExitCode {
        let error = match self {
            Self::Verify => return ExitCode::from(1),
            // A reader that has seen enough, as in `blockmul devices | head -1`.
            Self::Stream(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
            Self::Stream(error) => {
                eprintln!("blockmul: {error}");
                return ExitCode::from(5);
            }
            Self::Library(error) => error,
        };
        eprintln!("blockmul: {error}");
        ExitCode::from(match error.kind() {
            ErrorKind::Input => 2,
            ErrorKind::Device => 3,
            ErrorKind::Memory => 4,
            _ => 5,
        })
    }
}
