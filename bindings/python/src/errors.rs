//! The exceptions of the Python package.
use blockmul::{
    Error,
    error::{Dimensions, PatternError},
};
use pyo3::{exceptions::PyRuntimeError, prelude::*, types::PyDict};
use std::io::ErrorKind;

/// A number, or a name, of an error.
#[derive(IntoPyObject)]
pub enum Detail {
    Number(u64),
    Signed(i64),
    Real(f64),
    Several(Vec<usize>),
    Text(String),
}

/// The names and values of an error's numbers.
pub type Details = Vec<(&'static str, Detail)>;

/// Makes the exception for an error of the library. The Python package has a class for each kind.
pub fn raised(error: Error) -> PyErr {
    let class = match &error {
        Error::Io { source, .. } if source.kind() == ErrorKind::NotFound => "NoFile",
        Error::Io { .. } => "FileFailed",
        Error::Memory { .. } | Error::TooLarge { .. } => "OutOfMemory",
        Error::NoOpenCl { .. } | Error::NoSuchDevice { .. } => "NoDevice",
        Error::OpenCl { .. } | Error::CommandFailed { .. } | Error::Build { .. } | Error::Unsupported { .. } => {
            "DeviceFailed"
        }
        Error::Contradiction(_) | Error::Signature { .. } | Error::Interrupted => "Error",
        _ => "BadInput",
    };
    of_class(class, error.to_string(), details(&error))
}

/// Makes the exception for an argument that does not fit.
pub fn refused(name: &str, why: impl std::fmt::Display) -> PyErr {
    of_class("BadInput", format!("{name}: {why}"), Vec::new())
}

/// Makes an exception of a class of the Python package.
pub fn of_class(class: &str, message: String, details: Details) -> PyErr {
    Python::attach(|py| {
        let made = || {
            let numbers = PyDict::new(py);
            for (name, value) in details {
                numbers.set_item(name, value)?;
            }
            py.import("blockmul._errors")?.getattr(class)?.call1((message.clone(), numbers))
        };
        made().map_or_else(|_: PyErr| PyRuntimeError::new_err(message.clone()), PyErr::from_value)
    })
}

/// The numbers of an error, by the names that they have in the library.
fn details(error: &Error) -> Details {
    use Detail::{Number, Real, Several, Signed, Text};
    let count = |count: usize| Number(count as u64);
    let sides = |of: &Dimensions| Several(vec![of.nrows, of.ncols, of.block_rows, of.block_cols]);
    match error {
        Error::Pattern(error) => of_pattern(error),
        Error::Length { array, found, expected, .. } => {
            vec![("array", Text((*array).into())), ("found", count(*found)), ("expected", count(*expected))]
        }
        Error::BlockShape { rows, cols } => vec![("rows", count(*rows)), ("cols", count(*cols))],
        Error::BlockDoesNotDivide { dimension, block, fits, .. } => {
            vec![("dimension", count(*dimension)), ("block", count(*block)), ("fits", Several(fits.clone()))]
        }
        Error::Dimensions { a, b } => vec![("a", sides(a)), ("b", sides(b))],
        Error::NotPositiveDefinite { matrix, block } => {
            vec![("matrix", Text((*matrix).into())), ("block", count(*block))]
        }
        Error::NoLength { from, to } | Error::LongEdge { from, to } => {
            vec![("from", count(*from)), ("to", count(*to))]
        }
        Error::NegativeCycle { vertex, length } => vec![("vertex", count(*vertex)), ("length", Real(*length))],
        Error::Parse { path, line, .. } => vec![("path", Text(path.display().to_string())), ("line", Number(*line))],
        Error::Malformed { path, place, .. } => {
            vec![("path", Text(path.display().to_string())), ("place", Text(place.clone()))]
        }
        Error::Io { path, source } => {
            let code = source.raw_os_error().map(|code| ("errno", Signed(code.into())));
            [("path", Text(path.display().to_string()))].into_iter().chain(code).collect()
        }
        Error::TooLarge { value, limit, .. } => vec![("value", Number(*value)), ("limit", Number(*limit))],
        Error::NoSuchDevice { wanted, .. } => vec![("wanted", Text(wanted.clone()))],
        Error::Memory { needed, available, .. } => vec![("needed", Number(*needed)), ("available", Number(*available))],
        Error::OpenCl { call, code, .. } | Error::CommandFailed { call, code, .. } => {
            vec![("call", Text((*call).into())), ("code", Signed((*code).into()))]
        }
        _ => Vec::new(),
    }
}

fn of_pattern(error: &PatternError) -> Details {
    use Detail::Number;
    let count = |count: usize| Number(count as u64);
    match *error {
        PatternError::TooManyLines { dimension, limit, .. } => {
            vec![("dimension", count(dimension)), ("limit", Number(limit))]
        }
        PatternError::ColPtrLength { found, expected } => vec![("found", count(found)), ("expected", count(expected))],
        PatternError::ColPtrStart { found } => vec![("found", Number(found))],
        PatternError::ColPtrFalls { column, start, end } => {
            vec![("column", count(column)), ("start", Number(start)), ("end", Number(end))]
        }
        PatternError::ColPtrEnd { found, nnz } => vec![("found", Number(found)), ("nnz", count(nnz))],
        PatternError::RowOutOfRange { column, entry, row, nrows } => vec![
            ("column", count(column)),
            ("entry", Number(entry)),
            ("row", Number(row.into())),
            ("nrows", count(nrows)),
        ],
        PatternError::RowOrder { column, entry, previous, row } => vec![
            ("column", count(column)),
            ("entry", Number(entry)),
            ("previous", Number(previous.into())),
            ("row", Number(row.into())),
        ],
        _ => Vec::new(),
    }
}
