//! Where text goes: results to stdout, messages and progress to stderr, files to their place in one piece.
use crate::failure::Failure;
use blockmul::{
    Error, Matrix,
    io::{matrix_market, write_whole},
};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

/// Messages for the person who watches: none under `--quiet`, a spinner only on a terminal.
pub struct Messages {
    quiet: bool,
    spinner: ProgressBar,
}

impl Messages {
    pub fn new(quiet: bool) -> Self {
        let spinner = if quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
        spinner.set_style(ProgressStyle::with_template("{spinner} {msg} [{elapsed}]").expect("a template that parses"));
        spinner.enable_steady_tick(Duration::from_millis(100));
        Self { quiet, spinner }
    }

    /// What is going on now.
    pub fn step(&self, text: impl Into<String>) {
        self.spinner.set_message(text.into());
    }

    /// One line that stays.
    pub fn say(&self, text: &str) {
        if !self.quiet {
            // Not `eprintln!`: that panics when stderr is closed.
            self.spinner.suspend(|| drop(writeln!(std::io::stderr(), "{text}")));
        }
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        self.spinner.finish_and_clear();
    }
}

/// Whether the user means stdout.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A result, to stdout.
pub fn print(text: &str) -> Result<(), Failure> {
    write(Path::new("-"), text)
}

/// `text` and a newline to the file `path`, or to stdout for `-`.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    write_with(path, |writer| writeln!(writer, "{text}"))
}

/// A matrix in Matrix Market form to the file `path`, or to stdout for `-`.
pub fn write_matrix<M: Matrix>(path: &Path, matrix: &M) -> Result<(), Failure> {
    write_with(path, |writer| matrix_market::write_to(writer, matrix, &Default::default()))
}

/// What `write` writes, to the file `path` in one piece, or to stdout for `-`.
pub fn write_with(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<(), Failure> {
    if is_stdout(path) {
        let mut stdout = BufWriter::new(std::io::stdout().lock());
        return write(&mut stdout)
            .and_then(|()| stdout.flush())
            .map_err(|error| Failure::Output("stdout".into(), error));
    }
    write_whole(path, write).map_err(|error| match error {
        Error::Io { path, source } => Failure::Output(path.display().to_string(), source),
        error => error.into(),
    })
}

/// Refuses, before any work is done, a place where a file cannot go in the end.
pub fn check_place(path: &Path) -> Result<(), Failure> {
    let refuse = |kind| Err(Failure::Output(path.display().to_string(), std::io::Error::from(kind)));
    match path.parent() {
        _ if is_stdout(path) => Ok(()),
        _ if path.is_dir() => refuse(std::io::ErrorKind::IsADirectory),
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => refuse(std::io::ErrorKind::NotFound),
        _ => Ok(()),
    }
}
