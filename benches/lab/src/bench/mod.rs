//! `lab bench`: the operations of `blockmul bench`, and the primitives of the library on arrays.
mod primitives;

use blockmul_cli::bench::{
    self,
    operation::{OPERATIONS, Operation},
    operations,
};
use blockmul_cli::failure::Failure;

/// Time the operations of `blockmul bench`, and the primitives of the library on arrays.
///
/// Operands stay on the device. Every result is compared with a model, bit for bit, before it is
/// timed. After a warm-up each operation is timed in rounds, and the medians are reported.
#[derive(clap::Args)]
#[command(
    mut_arg("operation", |arg| arg.value_parser(operations(OPERATIONS.iter().chain(&FURTHER)))),
    mut_arg("elements", |arg| arg.help(
        "Stored elements of families without sizes and of arrays, about [default: as for `blockmul bench`; 8 million \
         for arrays, 64 million on a GPU]"
    )),
    after_help = "\
Examples:
  lab bench --operation scan,segmented-scan,sort,reduce  every primitive
  lab bench --operation sort --elements 1000000 --json sort.json

Inputs, options, the table and the JSON are those of `blockmul bench`; `blockmul bench --list` has the families.
Exit status: 0 done; 1 a result differs from the model; 2 wrong usage, or an input that cannot be read; 3 no
such device; 4 not enough memory; 5 anything else."
)]
#[group(skip)]
pub struct Args {
    #[command(flatten)]
    bench: bench::Args,
}

pub fn run(args: &Args) -> std::result::Result<(), Failure> {
    bench::run(&args.bench)
}

/// Operations that `blockmul bench` does not have.
static FURTHER: [Operation; 4] = [
    Operation::array("scan", primitives::scan).help("Exclusive sums of an array"),
    Operation::array("segmented-scan", primitives::segmented_scan)
        .help("Inclusive sums of each segment by any operator, for several lengths of segments"),
    Operation::array("sort", primitives::sort)
        .help("A stable sort of rows and payloads inside segments, for several lengths of segments"),
    Operation::array("reduce", primitives::reduce).help("The sum of each run of values, for several lengths of runs"),
];
