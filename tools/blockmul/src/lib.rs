//! The command `blockmul`, as a library: it parses the command line, calls the library `blockmul`
//! and exits. Each subcommand is a file. Results go to stdout, everything else to stderr. Public
//! items are for the laboratory, `benches/lab`; nothing here is an interface for others.
#![doc(hidden)]
mod add;
mod algebra;
mod apply;
pub mod bench;
mod cg;
mod choice;
mod compare;
mod components;
mod convert;
mod dense;
mod devices;
mod explain;
pub mod failure;
mod generate;
mod graphs;
mod heap;
mod hessian;
mod info;
pub mod input;
mod interrupt;
mod logging;
mod manual;
mod mask;
pub mod matrix_size;
pub mod messages;
mod mixed;
mod multiply;
pub mod numbers;
mod operands;
pub mod output;
mod overflow;
mod patches;
mod paths;
pub mod patterns;
pub mod places;
mod problem;
pub mod report;
mod runs;
mod schur;
pub mod sizes;
mod solve;
pub mod spy;
mod stdout;
pub mod symmetric;
pub mod table;
pub mod target;
mod transpose;
mod triangles;
pub mod tune;
pub mod vector;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand};
use std::io::Write;
use std::process::ExitCode;

/// Styles of the help, on a terminal unless NO_COLOR is set.
pub const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Sparse and block-sparse matrix products on any OpenCL device.
#[derive(Parser)]
#[command(name = "blockmul", version, styles = STYLES, after_help = "\
Examples:
  blockmul info A.mtx                                   what a matrix is like, and what its square will take
  blockmul multiply A.mtx B.mtx -o C.mtx.gz             C = A·B on the best device
  blockmul multiply W.mtx --verify                      W·Wᵀ in the file's blocks, checked against the reference
  blockmul compare C.mtx D.mtx --tolerance 1e-12
  blockmul solve problem-49-7776-pre.txt.gz -o solved.txt      a bundle adjustment, or a pose graph

BLOCKMUL_DEVICE names the device of commands without --device. BLOCKMUL_LOG, else RUST_LOG, logs details on
stderr: info, blockmul=debug, blockmul::product=debug.
The ending of a file gives its format: .mtx for Matrix Market, .npz, .txt, .bin and more; plain, .gz, .bz2,
.xz, .zst, and .tar as the SuiteSparse collection has them. Results go to stdout, messages to stderr.
Exit status: 0 done; 1 the result failed --verify, the matrices compared differ, or a solver has not
converged; 2 wrong usage, or an input that cannot be read; 3 no such device, or one that lacks what is
needed; 4 not enough memory; 5 anything else; 130 interrupted, with nothing half-written left.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The subcommands, in the order of the help.
#[derive(Subcommand)]
enum Command {
    Multiply(multiply::Args),
    Apply(apply::Args),
    Paths(paths::Args),
    Components(components::Args),
    Triangles(triangles::Args),
    Patches(patches::Args),
    Info(info::Args),
    Spy(spy::Args),
    Compare(compare::Args),
    Convert(convert::Args),
    Transpose(transpose::Args),
    Add(add::Args),
    Generate(generate::Args),
    Hessian(hessian::Args),
    Schur(schur::Args),
    Solve(solve::Args),
    Cg(cg::Args),
    Bench(Box<bench::Args>),
    Tune(tune::Args),
    Devices(devices::Args),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

/// Settings of PoCL, unless the user has set others. Because of them PoCL does not compile a kernel
/// again for each launch size, and the cache keeps one kernel for all sizes. These settings also
/// prevent vectorization across work-items, but most work-groups have only one item. With these
/// settings kernels compile sooner, and large products of blocks take about a tenth longer.
const POCL: [(&str, &str); 2] = [("POCL_WORK_GROUP_SPECIALIZATION", "0"), ("POCL_WORK_GROUP_METHOD", "loops")];

/// The arguments of the command.
pub fn main() -> ExitCode {
    program(|cli: &Cli| match &cli.command {
        Command::Multiply(args) => multiply::run(args),
        Command::Apply(args) => apply::run(args),
        Command::Paths(args) => paths::run(args),
        Command::Components(args) => components::run(args),
        Command::Triangles(args) => triangles::run(args),
        Command::Patches(args) => patches::run(args),
        Command::Info(args) => info::run(args),
        Command::Spy(args) => spy::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Transpose(args) => transpose::run(args),
        Command::Add(args) => add::run(args),
        Command::Generate(args) => generate::run(args),
        Command::Hessian(args) => hessian::run(args),
        Command::Schur(args) => schur::run(args),
        Command::Solve(args) => solve::run(args),
        Command::Cg(args) => cg::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Tune(args) => tune::run(args),
        Command::Devices(args) => devices::run(args),
        Command::Completions(args) => manual::completions(args),
        Command::Man(args) => manual::man(args),
    })
}

/// A whole program: parses the command line, calls `run`, and reports failures.
pub fn program<C: Parser>(run: impl FnOnce(&C) -> Result<(), failure::Failure>) -> ExitCode {
    for (name, value) in POCL {
        if std::env::var_os(name).is_none() {
            // SAFETY: no other thread runs yet.
            unsafe { std::env::set_var(name, value) };
        }
    }
    failure::exit_on_panic();
    interrupt::leave_nothing_half_written();
    let cli = parse();
    logging::start();
    run(&cli).map_or_else(|failure| failure.report(), |()| ExitCode::SUCCESS)
}

/// Parses the command line; ends the process if it is wrong, or if it asks for help.
fn parse<C: Parser>() -> C {
    let parsed = numbers::with_negative(C::command()).try_get_matches();
    parsed.and_then(|mut matches| C::from_arg_matches_mut(&mut matches)).unwrap_or_else(|error| refuse(&error))
}

/// Prints the message, the help or the version, and ends the process. Words of the command line
/// that a message quotes are shown on one line, as names are elsewhere.
fn refuse(error: &clap::Error) -> ! {
    let words = odd_words(std::env::args_os().map(|word| word.to_string_lossy().into_owned()));
    if error.use_stderr() && !words.is_empty() {
        let shown = |text: String, word: &String| text.replace(word.as_str(), &messages::in_a_line(word));
        let _ = write!(anstream::stderr(), "{}", words.iter().fold(error.render().ansi().to_string(), shown));
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// Returns the words of the command line that contain control characters, and the parts of these
/// words after `=`. Words that consist of control characters alone are left out, because they would
/// match the line ends of a message.
fn odd_words(words: impl Iterator<Item = String>) -> Vec<String> {
    let is_odd = |word: &String| word.contains(char::is_control) && !word.chars().all(char::is_control);
    let value = |word: &String| Some(word.split_once('=')?.1.to_owned());
    let words: Vec<_> = words.filter(is_odd).collect();
    let values: Vec<_> = words.iter().filter_map(value).filter(is_odd).collect();
    [words, values].concat()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn words_of_control_characters_alone_replace_no_line_end() {
        let odd = |words: &[&str]| super::odd_words(words.iter().map(|&word| word.to_owned()));
        assert_eq!(
            odd(&["spy", "\n", "--size=\n", "a\nb", "--block=1\t2"]),
            ["--size=\n", "a\nb", "--block=1\t2", "1\t2"]
        );
        assert!(odd(&["spy", "\n", "\r\n", ""]).is_empty());
    }

    #[test]
    fn every_subcommand_has_examples_that_name_it() {
        fn check(command: &clap::Command, name: &str) {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.starts_with("Examples:\n  ") && after.contains(name), "{name}: {after}");
            let subcommands = command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help");
            subcommands.for_each(|subcommand| check(subcommand, &format!("{name} {}", subcommand.get_name())));
        }
        check(&super::Cli::command(), "blockmul");
    }
}
