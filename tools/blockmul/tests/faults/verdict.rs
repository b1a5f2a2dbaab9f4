//! Verdicts on the ends of runs.
use super::process::Ran;
use std::os::unix::process::ExitStatusExt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The run succeeded, with the same output as without the fault.
    Same,
    /// The run ended with an error and a message. After such an error there is no output, or the
    /// previous output is unchanged.
    Error,
    /// The run succeeded, with another output.
    Wrong,
    /// The run ended with an error, but left an output or another file.
    Left,
    /// The run was ended by a signal that the process raised itself, or by a panic.
    Crash,
    /// The run did not end in time.
    Hang,
    /// The run ended with an error and no message.
    Silent,
    /// The run ended with an exit status that OpenCL errors do not have.
    Status,
    /// An OpenCL object was released that was not alive.
    Misuse,
    /// OpenCL objects were alive at the end.
    Leak,
    /// The device did not work at the second attempt, or gave other results.
    Dead,
}

impl Verdict {
    pub const ALL: [Self; 11] = [
        Self::Same,
        Self::Error,
        Self::Wrong,
        Self::Left,
        Self::Crash,
        Self::Hang,
        Self::Silent,
        Self::Status,
        Self::Misuse,
        Self::Leak,
        Self::Dead,
    ];

    pub fn is_good(self) -> bool {
        matches!(self, Self::Same | Self::Error)
    }
}

/// The expected outcome of a run.
pub struct Expected<'a> {
    /// Name of the output file.
    pub name: &'a str,
    pub output: &'a [u8],
    /// Whether any JSON is a correct output.
    pub varies: bool,
    /// The output file before the run, if there was one.
    pub before: Option<&'a [u8]>,
    /// Whether the run must succeed in the end, because the library makes a second attempt.
    pub recovers: bool,
}

/// Returns the verdict on a run, and its message.
pub fn judge(ran: &Ran, expected: &Expected) -> (Verdict, String) {
    let message = message(&ran.stderr);
    let of = |verdict| (verdict, message.clone());
    let Some(status) = ran.status else { return of(Verdict::Hang) };
    if ran.stderr.contains("panicked at") || ran.stderr.contains("itself is at fault") {
        return of(Verdict::Crash);
    }
    let Some(code) = status.code() else {
        return (Verdict::Crash, format!("signal {}: {message}", status.signal().unwrap_or(0)));
    };
    if ran.counts.get("misused objects") > 0 {
        return of(Verdict::Misuse);
    }
    let found = ran.files.get(expected.name).map(Vec::as_slice);
    let is_right = |found: &[u8]| match expected.varies {
        true => serde_json::from_slice::<serde_json::Value>(found).is_ok(),
        false => found == expected.output,
    };
    let beside = ran.files.keys().find(|name| *name != expected.name);
    let (verdict, words) = match code {
        0 if !found.is_some_and(is_right) => of(Verdict::Wrong),
        _ if beside.is_some() => (Verdict::Left, format!("{} is left; {message}", beside.unwrap())),
        0 => of(Verdict::Same),
        _ if found != expected.before => of(Verdict::Left),
        _ if expected.recovers => of(Verdict::Dead),
        2..=5 if message.is_empty() => of(Verdict::Silent),
        2..=5 => of(Verdict::Error),
        _ => (Verdict::Status, format!("{code}: {message}")),
    };
    let alive = ran.counts.alive();
    if verdict.is_good() && !alive.is_empty() {
        return (Verdict::Leak, format!("{} alive at the end; {message}", alive.join(", ")));
    }
    (verdict, words)
}

/// Returns the line of `stderr` that names the problem.
fn message(stderr: &str) -> String {
    let lines = || stderr.lines().filter(|line| !line.trim().is_empty());
    let says = |words: &'static str| lines().find(move |line| line.contains(words));
    let line =
        says("panicked at").or_else(|| says("error")).or_else(|| says("opencl.c: ")).or_else(|| lines().next_back());
    line.unwrap_or_default().chars().take(200).collect()
}
