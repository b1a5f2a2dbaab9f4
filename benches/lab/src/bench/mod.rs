//! `lab bench`: what `blockmul bench` does, and further operations, which are parts of the library.
//! `vectors`, `structure`, `primitives` and `read` have them, with what their results are compared
//! with.
mod primitives;
mod read;
mod structure;
mod vectors;

use blockmul::{Device, Result, device::DeviceKind, matrix::AnyMatrix};
use blockmul_cli::bench::{
    self,
    measure::Subject,
    operation::{Measure, OPERATIONS, Operands, Operation, Outcomes, SHAPES},
    operations,
    record::Record,
};
use blockmul_cli::failure::Failure;

/// Time the operations of `blockmul bench`, and the parts of the library.
///
/// Operands stay on the device. Every result is compared with a model, bit for bit, before it is
/// timed. Then come a warm-up and the rounds; medians are reported.
#[derive(clap::Args)]
#[command(
    mut_arg("operation", |arg| arg.value_parser(operations(OPERATIONS.iter().chain(&FURTHER)))),
    mut_arg("elements", |arg| arg.help(
        "Stored elements of families without sizes and of arrays, about [default: as for `blockmul bench`; 16 \
         million for vectors; 8 million for transposes and their like, and for primitives, which take 64 million \
         on a GPU]"
    )),
    mut_arg("together", |arg| arg.help(
        "Executions enqueued together in a round, whose time is divided among them [default: as for `blockmul \
         bench`; 20 on vectors, 10 of transposes and their like; primitives and reading always 1]"
    )),
    after_help = "\
Examples:
  lab bench --operation copy,transpose --block 6         bandwidths of a matrix of 64 MiB
  lab bench --operation norms,scale,dot,axpy             vectors, beside a copy
  lab bench --operation scan,segmented-scan,sort,reduce  primitives on arrays
  lab bench --operation read FILE.mtx                    reading by one thread, two, and all

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

/// An operation on a matrix and vectors.
const VECTORS: Operation = Operation {
    families: &[("uniform", SHAPES), ("arrow", &[(1, 1), (6, 6)]), ("cameras", &[(2, 9)])],
    ..Operation::OF_VECTORS
};
/// An operation that moves the elements of a matrix, of 64 MiB of f64.
const MOVES: Operation =
    Operation { families: &[("uniform", SHAPES)], elements: |_| Some(1 << 23), together: 10, ..Operation::ONE };
/// The same of a lower triangle.
const LOWER: Operation =
    Operation { families: &[("pose-graph", &[(3, 3), (6, 6), (9, 9), (16, 16), (32, 32)])], ..MOVES };
const ARRAY: Operation = Operation { elements: of_array, ..Operation::ONE };

/// Well above what caches keep.
fn of_array(device: &Device) -> Option<usize> {
    Some(if device.info().kind == DeviceKind::Cpu { 1 << 23 } else { 1 << 26 })
}

/// The operations beside those of the command.
static FURTHER: [Operation; 16] = [
    Operation {
        name: "norms",
        help: "The norm of each column of A",
        measure: Measure::Matrix(|of| each(of, vectors::norms)),
        ..VECTORS
    },
    Operation {
        name: "scale",
        help: "A·diag(d), in place",
        measure: Measure::Matrix(|of| each(of, vectors::scale)),
        ..VECTORS
    },
    Operation {
        name: "dot",
        help: "The dot product of two vectors, as long as A has stored elements",
        families: &[("uniform", &[])],
        measure: Measure::Matrix(|of| each(of, vectors::dot)),
        ..VECTORS
    },
    Operation {
        name: "axpy",
        help: "y = alpha·x + y of two such vectors",
        families: &[("uniform", &[])],
        measure: Measure::Matrix(|of| each(of, vectors::axpy)),
        ..VECTORS
    },
    Operation {
        name: "copy",
        help: "The permutation of A that leaves all in place: a copy",
        measure: Measure::Matrix(|of| each(of, structure::copy)),
        ..MOVES
    },
    Operation {
        name: "permute",
        help: "A with its block rows and columns in another order",
        measure: Measure::Matrix(|of| each(of, structure::permute)),
        ..MOVES
    },
    Operation {
        name: "transpose", help: "Aᵀ", measure: Measure::Matrix(|of| each(of, structure::transpose)), ..MOVES
    },
    Operation {
        name: "add",
        help: "A + 0.5·B, where B is A upside down",
        measure: Measure::Matrix(|of| each(of, structure::add)),
        ..MOVES
    },
    Operation {
        name: "permute-lower",
        help: "The lower triangle of A in another order",
        measure: Measure::Matrix(|of| each(of, structure::permute_lower)),
        ..LOWER
    },
    Operation {
        name: "scalars",
        help: "The scalars of A's lower triangle, as a sparse Cholesky factorization wants them",
        measure: Measure::Matrix(|of| each(of, structure::scalars)),
        ..LOWER
    },
    Operation {
        name: "transpose-pattern",
        help: "The pattern of Aᵀ, and where its entries come from",
        families: &[("power-law", &[])],
        measure: Measure::Matrix(|of| each(of, primitives::transpose)),
        ..ARRAY
    },
    Operation { name: "scan", help: "Exclusive sums of an array", measure: Measure::Array(primitives::scan), ..ARRAY },
    Operation {
        name: "segmented-scan",
        help: "Inclusive sums of each segment by any operator, for several lengths of segments",
        measure: Measure::Array(primitives::segmented_scan),
        ..ARRAY
    },
    Operation {
        name: "sort",
        help: "A stable sort of rows and payloads inside segments, for several lengths of segments",
        measure: Measure::Array(primitives::sort),
        ..ARRAY
    },
    Operation {
        name: "reduce",
        help: "The sum of each run of values, for several lengths of runs",
        measure: Measure::Array(primitives::reduce),
        ..ARRAY
    },
    Operation {
        name: "read",
        help: "Reading a matrix from a file, by one thread, two, and all",
        families: &[("uniform:400000x9", &[])],
        measure: Measure::File(read::read),
        ..Operation::ONE
    },
];

/// Measures the matrix on every device.
fn each(of: &Operands<'_>, measure: fn(&Subject<'_>, &AnyMatrix) -> Result<Record>) -> Result<Outcomes> {
    of.each(&|on, a| Ok(vec![measure(on, a)?]))
}
