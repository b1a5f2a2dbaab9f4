//! Why the command ends early, and with which exit status.
use blockmul::{Error, error::ErrorKind};
use std::io::Write;
use std::process::ExitCode;

/// Exit status of anything that is neither the caller's, the device's nor memory's fault.
const OTHER: u8 = 5;

#[derive(Debug)]
pub enum Failure {
    /// The result is not the product.
    Verification(String),
    /// Arguments that contradict each other.
    Usage(String),
    /// The library refused or failed.
    Library(Error),
    /// A result could not be written to the place named.
    Output(String, std::io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl Failure {
    fn status(&self) -> u8 {
        match self {
            Self::Verification(_) => 1,
            Self::Usage(_) => 2,
            Self::Library(error) => match error.kind() {
                ErrorKind::Input => 2,
                ErrorKind::Device => 3,
                ErrorKind::Memory => 4,
                _ => OTHER,
            },
            // Whoever reads stdout has read enough.
            Self::Output(_, error) if error.kind() == std::io::ErrorKind::BrokenPipe => 0,
            Self::Output(..) => OTHER,
        }
    }

    /// Says what failed on stderr and gives the exit status.
    pub fn report(&self) -> ExitCode {
        if self.status() != 0 {
            complain(&format!("error: {self}"));
        }
        self.status().into()
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Verification(text) | Self::Usage(text) => f.write_str(text),
            Self::Library(error) => error.fmt(f),
            Self::Output(place, error) => write!(f, "{place}: {error}"),
        }
    }
}

/// Turns a panic on any thread into a message and exit status 5.
pub fn exit_on_panic() {
    std::panic::set_hook(Box::new(|panic| {
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("no message");
        let place = panic.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
        complain(&format!("error: blockmul itself is at fault: {text}{place}; please report this"));
        std::process::exit(OTHER.into());
    }));
}

/// Unlike `eprintln!`, this does not panic when stderr is closed.
fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_has_its_status() {
        let io = |kind| std::io::Error::from(kind);
        let memory = Error::Memory { what: "C".into(), needed: 2, available: 1, place: "host".into() };
        let opencl = Error::OpenCl { call: "clFinish", code: -5, name: "CL_OUT_OF_RESOURCES" };
        for (failure, status) in [
            (Failure::Verification("off".into()), 1),
            (Failure::Usage("both".into()), 2),
            (Error::Argument("odd".into()).into(), 2),
            (Error::Parse { path: "a.mtx".into(), line: 3, reason: "odd".into() }.into(), 2),
            (Error::NoOpenCl { reason: "none".into() }.into(), 3),
            (memory.into(), 4),
            (opencl.into(), 5),
            (Failure::Output("c.mtx".into(), io(std::io::ErrorKind::PermissionDenied)), 5),
            (Failure::Output("stdout".into(), io(std::io::ErrorKind::BrokenPipe)), 0),
        ] {
            assert_eq!(failure.status(), status, "{failure:?}");
        }
    }

    /// The panic ends the process, so it happens in a second one: this test, run again with a variable set.
    #[test]
    fn a_panic_on_any_thread_exits_with_5() {
        const AGAIN: &str = "BLOCKMUL_TEST_PANIC";
        if std::env::var_os(AGAIN).is_some() {
            exit_on_panic();
            let _ = std::thread::spawn(|| panic!("a planted panic")).join();
            unreachable!("the hook ends the process");
        }
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "failure::tests::a_panic_on_any_thread_exits_with_5", "--nocapture"])
            .env(AGAIN, "1")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(5));
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains("a planted panic (tools/blockmul/failure.rs:"), "{text}");
    }
}
