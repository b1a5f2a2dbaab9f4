//! Failures of the command and their exit statuses.
use crate::messages::{Tone, tell, tell_lines};
use blockmul::{Error, error::ErrorKind};
use std::process::ExitCode;

/// Exit status if memory is insufficient.
pub const MEMORY: u8 = 4;
/// Hint if memory is insufficient.
pub const LESS_MEMORY: &str =
    "--element f32 takes less, f16 less still; `blockmul info FILE` shows what a product of sparse matrices takes";
/// Exit status of failures that are not caused by the caller, the device or insufficient memory.
const OTHER: u8 = 5;

#[derive(Debug)]
pub enum Failure {
    /// The result differs from the reference.
    Verification(String),
    /// Two matrices differ, and the difference is printed.
    Different,
    /// Some of several inputs failed, the first with this status, and the failures are printed.
    Reported(u8),
    /// Arguments that contradict each other.
    Usage(String),
    /// An error of the library.
    Library(Error),
    /// A result could not be written to the named place.
    Output(String, std::io::Error),
    /// The reader of stdout closed stdout early.
    ReaderLeft,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl Failure {
    pub fn status(&self) -> u8 {
        match self {
            Self::Verification(_) | Self::Different => 1,
            Self::Reported(status) => *status,
            Self::Usage(_) => 2,
            Self::Library(error) => match error.kind() {
                ErrorKind::Input => 2,
                ErrorKind::Device => 3,
                ErrorKind::Memory => MEMORY,
                _ => OTHER,
            },
            Self::ReaderLeft => 0,
            Self::Output(..) => OTHER,
        }
    }

    /// The failure of one of several inputs, in one line. The line begins with the input's name,
    /// unless the failure names a file.
    pub fn of(&self, input: &str) -> String {
        match self {
            Self::Library(Error::Parse { .. } | Error::Malformed { .. } | Error::Io { .. }) | Self::Output(..) => {
                self.to_string()
            }
            _ => format!("{input}: {self}"),
        }
    }

    /// Prints the failure on stderr and returns the exit status.
    pub fn report(&self) -> ExitCode {
        let silent = self.status() == 0 || matches!(self, Self::Different | Self::Reported(_));
        if !silent {
            let print = if self.has_lines() { tell_lines } else { tell };
            print(Tone::Error, &self.to_string());
            if let Some(hint) = self.hint() {
                tell(Tone::Hint, &hint);
            }
        }
        self.status().into()
    }

    /// Whether the message has several lines; it then names no file.
    fn has_lines(&self) -> bool {
        matches!(self, Self::Library(Error::NoOpenCl { .. } | Error::Build { .. }))
    }

    /// Advice that the message does not give.
    fn hint(&self) -> Option<String> {
        let Self::Library(error) = self else { return None };
        Some(match error {
            Error::NoOpenCl { .. } => "`multiply --device reference` computes on the CPU without OpenCL".into(),
            Error::NoSuchDevice { .. } => {
                "--device and BLOCKMUL_DEVICE take an index or a part of a name; `blockmul devices` lists them".into()
            }
            Error::Unsupported { .. } => {
                "--element f32 computes in single precision; commands that take --device reference compute f64 on the CPU".into()
            }
            Error::BlockDoesNotDivide { .. } => {
                "`blockmul info FILE` shows which blocks divide a matrix and how full they are".into()
            }
            Error::Dimensions { a, b } if (a.ncols, a.block_cols) == (b.ncols, b.block_cols) => {
                "A·Bᵀ would fit: --transpose-b".into()
            }
            Error::Dimensions { a, b } if (a.nrows, a.block_rows) == (b.nrows, b.block_rows) => {
                "Aᵀ·B would fit: --transpose-a".into()
            }
            Error::Memory { .. } => LESS_MEMORY.into(),
            _ => return None,
        })
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Verification(text) | Self::Usage(text) => f.write_str(text),
            Self::Different => f.write_str("the matrices differ"),
            Self::Reported(_) => f.write_str("some inputs failed"),
            Self::Library(error) => f.write_str(&with_options(&error.to_string())),
            Self::Output(place, error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                write!(f, "{place}: its reader left before all was written")
            }
            Self::Output(place, error) => write!(f, "{place}: {error}"),
            Self::ReaderLeft => f.write_str("stdout: its reader left"),
        }
    }
}

/// Replaces the names of the library's options in a message by those of the command.
fn with_options(text: &str) -> String {
    text.replace("ReadOptions::sum_duplicates", "--sum-duplicates")
        .replace("ReadOptions::max_unproven_lines", "--max-lines")
}

/// Turns a panic on any thread into a message and exit status 5, and removes unfinished files.
pub fn exit_on_panic() {
    std::panic::set_hook(Box::new(|panic| {
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("no message");
        let place = panic.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
        tell_lines(Tone::Error, &format!("blockmul itself is at fault: {text}{place}; please report this"));
        let _none_begins_again = blockmul::io::discard_unfinished();
        std::process::exit(OTHER.into());
    }));
}

/// Runs `end`, which ends its process, in a second process. That process runs the test of this name
/// again with an environment variable set. The second process must exit with `status` and leave
/// nothing at or beside the path that is passed to `end`. Returns the text that the process writes
/// to stderr.
#[cfg(test)]
pub fn in_another_process(test: &str, status: i32, end: impl FnOnce(&std::path::Path)) -> String {
    const PLACE: &str = "BLOCKMUL_TEST_PLACE";
    if let Some(place) = std::env::var_os(PLACE) {
        end(place.as_ref());
        unreachable!("the process has ended");
    }
    let folder = tempfile::tempdir().unwrap();
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", test, "--nocapture"]).env(PLACE, folder.path().join("c.mtx"));
    let output = again.output().unwrap();
    assert_eq!(output.status.code(), Some(status));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    String::from_utf8(output.stderr).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_calls_and_those_of_several_inputs_have_a_status() {
        let opencl = Error::OpenCl { call: "clFinish", code: -5, name: "CL_OUT_OF_RESOURCES" };
        let no_opencl = Error::NoOpenCl { reason: "none".into() };
        let failures = [opencl.into(), no_opencl.into(), Failure::Reported(4)];
        assert_eq!(failures.map(|failure: Failure| failure.status()), [5, 3, 4]);
    }

    #[test]
    fn a_failure_of_an_input_names_it_once() {
        let parse = Error::Parse { path: "x/a.mtx".into(), line: 3, reason: "odd".into() };
        let io = Error::Io { path: "x/a.mtx".into(), source: std::io::ErrorKind::NotFound.into() };
        let output = Failure::Output("b.json".into(), std::io::ErrorKind::PermissionDenied.into());
        assert_eq!(Failure::from(parse).of("a"), "x/a.mtx:3: odd");
        assert!(Failure::from(io).of("a").starts_with("x/a.mtx: ") && output.of("a").starts_with("b.json: "));
        assert_eq!(Failure::from(Error::Argument("odd".into())).of("a"), "a: odd");
    }

    #[test]
    fn hints_say_what_would_fit() {
        use blockmul::error::Dimensions;
        let dimensions = |nrows, ncols, block| Dimensions { nrows, ncols, block_rows: block, block_cols: block };
        let hint = |a, b| Failure::from(Error::Dimensions { a, b }).hint();
        assert!(hint(dimensions(2, 4, 1), dimensions(3, 4, 1)).unwrap().contains("--transpose-b"));
        assert!(hint(dimensions(2, 4, 1), dimensions(2, 5, 1)).unwrap().contains("--transpose-a"));
        assert_eq!(hint(dimensions(2, 4, 1), dimensions(3, 5, 1)), None);
        assert_eq!(hint(dimensions(2, 4, 1), dimensions(3, 4, 2)), None);
        let fp64 = Error::Unsupported { device: "d".into(), feature: "double precision", hint: String::new() };
        assert!(Failure::from(fp64).hint().unwrap().contains("--element f32"));
    }

    #[test]
    fn a_panic_on_any_thread_exits_with_5_and_leaves_nothing_half_written() {
        let stderr = in_another_process(
            "failure::tests::a_panic_on_any_thread_exits_with_5_and_leaves_nothing_half_written",
            5,
            |place| {
                exit_on_panic();
                let write = || blockmul::io::write_whole(place, |_| panic!("a planted panic"));
                let _ = std::thread::scope(|scope| scope.spawn(write).join().is_ok());
            },
        );
        assert!(stderr.contains("a planted panic (tools/blockmul/src/failure.rs:"), "{stderr}");
    }
}
