//! `blockmul compare`: whether two matrices are equal, and where they differ.
use crate::failure::Failure;
use crate::input::{self, Reading};
use crate::messages::Messages;
use crate::report::SCHEMA;
use crate::{choice, output, table};
use blockmul::{
    element::ElementType,
    extra::analysis::{Difference, Disagreement, Tolerance, any_difference},
    matrix::AnyMatrix,
};
use serde::Serialize;
use std::path::PathBuf;

/// Compare two matrices: exit status 0 if they are equal, 1 if they differ.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul compare A.mtx B.mtx                        bit for bit
  blockmul compare A.mtx B.mtx.gz --tolerance 1e-12   up to a relative difference
  blockmul compare A.mtx B.mtx --element f32 --ulps 1 --missing-as-zero
  blockmul compare C.npy D.mtx --quiet && echo same

Values are equal if their bits are, or if both are NaN; formats and blocks do not matter. Zeros of arrays (.npy,
and Matrix Market's) are places that store nothing. Rows and columns count from 1, as in a Matrix Market file;
\"first\" is by columns.
Exit status: 0 equal; 1 different; 2 wrong usage, or an input that cannot be read.")]
pub struct Args {
    /// One matrix; - for Matrix Market on stdin.
    a: PathBuf,
    /// The other matrix.
    b: PathBuf,
    /// Let values differ by up to R times the larger of the two.
    #[arg(long, value_name = "R", value_parser = crate::numbers::from_zero)]
    tolerance: Option<f64>,
    /// Let values differ by up to N steps. A step leads to the next number of the element type.
    #[arg(long, value_name = "N", value_parser = crate::numbers::count::<u64>)]
    ulps: Option<u64>,
    /// Compare values rounded to this type.
    #[arg(long, default_value = "f64", value_parser = choice::real())]
    element: ElementType,
    /// Treat an entry that only one matrix stores as 0 in the other.
    #[arg(long)]
    missing_as_zero: bool,
    #[command(flatten)]
    reading: Reading,
    /// Print a JSON object; in it rows and columns count from 0.
    #[arg(long)]
    json: bool,
    /// Print nothing; only the exit status shows the result.
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
}

#[derive(Serialize)]
struct Comparison {
    schema: u32,
    a: String,
    b: String,
    /// Rows and columns of each matrix.
    a_size: [usize; 2],
    b_size: [usize; 2],
    equal: bool,
    /// The sizes are absent if the sizes differ.
    #[serde(flatten)]
    difference: Option<Difference>,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let messages = Messages::new(args.quiet);
    let read = |path: &PathBuf, name: &str| -> Result<AnyMatrix, Failure> {
        let matrix = input::read_any(path, &args.reading, &messages)?.matrix;
        Ok(input::cast(args.element, matrix, name, &messages))
    };
    let (a, b) = (read(&args.a, "A")?, read(&args.b, "B")?);
    messages.step("comparing");
    let tolerance = Tolerance { relative: args.tolerance, ulps: args.ulps, missing_is_zero: args.missing_as_zero };
    let [a_size, b_size] = [&a, &b].map(|matrix| [matrix.nrows(), matrix.ncols()]);
    let difference = if a_size == b_size { Some(any_difference(a, b, tolerance)?) } else { None };
    drop(messages);
    let equal = difference.is_some_and(|difference| difference.is_none());
    if args.json {
        let [a, b] = [&args.a, &args.b].map(|path| path.display().to_string());
        let comparison = Comparison { schema: SCHEMA, a, b, a_size, b_size, equal, difference };
        output::print(&serde_json::to_string_pretty(&comparison).expect("plain data"))?;
    } else if !args.quiet {
        let ([rows, cols], [b_rows, b_cols]) = (a_size, b_size);
        let sizes = || format!("different sizes: A is {rows} x {cols}, B is {b_rows} x {b_cols}");
        output::print(&difference.as_ref().map_or_else(sizes, text))?;
    }
    if equal { Ok(()) } else { Err(Failure::Different) }
}

fn text(found: &Difference) -> String {
    let total = found.common + found.only_a + found.only_b;
    let mut lines = vec![match (found.is_none(), found.largest_abs.is_none() && found.only_a + found.only_b == 0) {
        (true, true) => format!("equal: {total} entries"),
        (true, false) => format!("equal within what is allowed: {total} entries"),
        (false, _) => format!("different: {} of {total} entries", found.different),
    }];
    for (count, name, other) in [(found.only_a, "A", "B"), (found.only_b, "B", "A")] {
        if count > 0 {
            lines.push(format!("{count} in {name} that {other} does not store"));
        }
    }
    if found.max_abs > 0.0 {
        lines.push(format!("largest difference {:e}, largest relative difference {:e}", found.max_abs, found.max_rel));
    }
    let places = [("first", found.first), ("largest", found.largest_abs), ("largest relative", found.largest_rel)];
    if places.iter().any(|(_, place)| place.is_some()) {
        lines.push(format!("\n{}", table(&places)));
    }
    lines.join("\n")
}

fn table(places: &[(&str, Option<Disagreement>)]) -> String {
    let value = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:?}"));
    let rows = places.iter().filter_map(|&(name, place)| {
        let place = place?;
        let at = [place.row + 1, place.col + 1].map(|line| line.to_string());
        let values = [value(place.a), value(place.b), format!("{:.2e}", place.abs), format!("{:.2e}", place.rel)];
        Some([name.into()].into_iter().chain(at).chain(values))
    });
    table::plain(["", "row", "column", "A", "B", "difference", "relative"], rows, 1..7)
}
