//! Writes results: text to stdout, and whole files.
use crate::failure::Failure;
use crate::messages::{Messages, Unit};
use crate::stdout;
use blockmul::{
    Error,
    dense::Grouping,
    io::{self, WriteOptions, bla, matrix_market, write_whole},
    matrix::AnyView,
};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Whether the path is `-`, which means stdin or stdout.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Refuses two outputs that both go to stdout. Each output is passed with its option.
pub fn check_stdout(outputs: &[(&str, &Option<PathBuf>)]) -> Result<(), Failure> {
    let has = |path: &Option<PathBuf>| path.as_deref().is_some_and(is_standard);
    let names: Vec<_> = outputs.iter().filter(|(_, path)| has(path)).map(|(option, _)| *option).collect();
    match names[..] {
        [_, _, ..] => Err(Failure::Usage(format!("only one of {} can have stdout", names.join(" and ")))),
        _ => Ok(()),
    }
}

/// Prints the summary of a command on stdout, or on stderr if one of its outputs goes to stdout.
pub fn summary<'p>(
    text: &str,
    quiet: bool,
    outputs: impl IntoIterator<Item = &'p Option<PathBuf>>,
    messages: &Messages,
) -> Result<(), Failure> {
    let (mut written, mut on_stdout) = (false, false);
    outputs.into_iter().flatten().for_each(|path| {
        written = true;
        on_stdout |= is_standard(path);
    });
    match on_stdout {
        _ if quiet => Ok(()),
        true => {
            messages.say_lines(text);
            Ok(())
        }
        false => messages.pause(|| print_beside(written, text)),
    }
}

/// Writes a result to stdout.
pub fn print(text: &str) -> Result<(), Failure> {
    write(Path::new("-"), text)
}

/// Writes text about results to stdout. If the results are `written` to files, a closed stdout is
/// no failure, because the results are complete without this text.
pub fn print_beside(written: bool, text: &str) -> Result<(), Failure> {
    if written && stdout::check().is_err() { Ok(()) } else { print(text) }
}

/// Writes `text` and a newline to the file `path`, or to stdout for `-`.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    write_bytes(path, format!("{text}\n").as_bytes())
}

/// Writes `bytes` to the file `path`, or to stdout for `-`.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_filled(path, &mut |writer| writer.write_all(bytes))
}

/// A function that writes the contents of a file. The function is not a type parameter, so that its
/// callers are compiled once.
pub type Fill<'f> = &'f mut dyn FnMut(&mut dyn Write) -> std::io::Result<()>;

/// Writes the output of `fill` to the file `path`, or to stdout for `-`.
pub fn write_filled(path: &Path, fill: Fill<'_>) -> Result<(), Failure> {
    if is_standard(path) { to_stdout(fill) } else { write_whole(path, fill).map_err(of_output) }
}

/// Writes a matrix to the file `path`, in the format of its ending; for `-` to stdout, in Matrix
/// Market form. A `.gcoo` file gets the given groups.
pub fn write_matrix<'m>(
    path: &Path,
    matrix: impl Into<AnyView<'m>>,
    grouping: Grouping,
    messages: &Messages,
) -> Result<(), Failure> {
    let (matrix, mut options) = (matrix.into(), WriteOptions::default());
    options.grouping = grouping;
    options.progress = Some(messages.measured(format!("writing {}", path.display()), Unit::Entries));
    match is_standard(path) {
        true => to_stdout(&mut |writer| matrix_market::write_to(writer, matrix, &options)),
        false => io::write(path, matrix, &options).map_err(of_output),
    }
}

/// Warns if there is a layout file beside the matrix at `path` that was not written with it,
/// because it would be read with the matrix.
pub fn warn_of_layout(path: &Path, messages: &Messages) {
    if let Some(layout) = bla::beside(path) {
        let (layout, path) = (layout.display(), path.display());
        messages.warn(&format!("{layout} is of another matrix, but will be read as the blocks of {path}: remove it"));
    }
}

fn to_stdout(fill: Fill<'_>) -> Result<(), Failure> {
    stdout::check().map_err(of_stdout)?;
    let mut stdout = BufWriter::new(std::io::stdout().lock());
    fill(&mut stdout).and_then(|()| stdout.flush()).map_err(|error| match error.kind() {
        std::io::ErrorKind::BrokenPipe => Failure::ReaderLeft,
        _ => of_stdout(error),
    })
}

/// Makes the failure that a result could not be written to stdout.
pub fn of_stdout(error: std::io::Error) -> Failure {
    Failure::Output("stdout".into(), error)
}

/// Converts a file error to an error of the output instead of an input.
pub fn of_output(error: Error) -> Failure {
    match error {
        Error::Io { path, source } => Failure::Output(path.display().to_string(), source),
        error => error.into(),
    }
}
