//! Signals at random moments while files are written. An output must be complete or unchanged, and
//! no other file may remain.
use super::{
    subjects::{Subject, WRITERS},
    sweep::{End, side_by_side},
    verdict::Verdict,
    workshop::Workshop,
};
use blockmul::generate::Random;
#[cfg(target_os = "linux")]
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    fs, io,
    os::unix::process::ExitStatusExt,
    thread,
    time::{Duration, Instant},
};

/// SIGKILL, the last signal, ends the process at once. If the system has files without names, at
/// most one complete file remains, which would have replaced the output.
const SIGNALS: [(Signal, &str); 6] = [
    (Signal::INT, "SIGINT"),
    (Signal::TERM, "SIGTERM"),
    (Signal::HUP, "SIGHUP"),
    (Signal::XCPU, "SIGXCPU"),
    (Signal::USR1, "SIGUSR1"),
    (Signal::KILL, "SIGKILL"),
];

/// The signals after which no part of a file may remain in the folder of the runs.
fn signals(workshop: &Workshop) -> &'static [(Signal, &'static str)] {
    #[cfg(target_os = "linux")]
    if rustix::fs::open(workshop.path(""), OFlags::TMPFILE | OFlags::RDWR, Mode::RUSR).is_ok() {
        return &SIGNALS;
    }
    let _ = workshop;
    &SIGNALS[..SIGNALS.len() - 1]
}

/// The message of the command if its processor time is used up.
const TIME_IS_UP: &str = "error: the processor time that this process may take is used up (`ulimit -t`)\n";

struct Plain {
    subject: &'static Subject,
    output: Vec<u8>,
    takes: Duration,
}

struct Case<'a> {
    plain: &'a Plain,
    signal: (Signal, &'static str),
    after: Duration,
    before: bool,
}

pub fn run(workshop: &Workshop, count: usize) -> io::Result<Vec<End>> {
    let plain = side_by_side(WRITERS, |subject| without_signal(workshop, subject));
    let plain = plain.into_iter().collect::<io::Result<Vec<_>>>()?;
    let (mut random, signals) = (Random::new(1), signals(workshop));
    let case = |number: usize| {
        let plain = &plain[number % plain.len()];
        let after = plain.takes.mul_f64(random.unit() * 1.05) + Duration::from_millis(1);
        Case {
            plain,
            signal: signals[random.below(signals.len() as u64) as usize],
            after,
            before: random.below(2) == 1,
        }
    };
    let cases: Vec<Case> = (0..count).map(case).collect();
    side_by_side(&cases, |case| with_signal(workshop, case)).into_iter().collect()
}

fn without_signal(workshop: &Workshop, subject: &'static Subject) -> io::Result<Plain> {
    workshop.first(subject)?;
    let start = Instant::now();
    let mut ran = workshop.disturbed(subject, &workshop.bench()?, |_| ())?;
    let takes = start.elapsed();
    let output = ran.files.remove(subject.output).ok_or_else(|| io::Error::other(ran.stderr))?;
    Ok(Plain { subject, output, takes })
}

fn with_signal(workshop: &Workshop, Case { plain, signal, after, before }: &Case) -> io::Result<End> {
    let (bench, before) = (workshop.bench()?, before.then_some(b"what was here before".as_slice()));
    if let Some(before) = before {
        fs::write(bench.out.join(plain.subject.output), before)?;
    }
    let ran = workshop.disturbed(plain.subject, &bench, |child| {
        thread::sleep(*after);
        let _it_may_have_ended = kill_process(Pid::from_child(child), signal.0);
    })?;
    let found = ran.files.get(plain.subject.output).map(Vec::as_slice);
    let whole = found == Some(plain.output.as_slice());
    // A file that replaces another has a name of its own for an instant, when it is already
    // complete.
    let beside: Vec<_> = ran.files.iter().filter(|(name, _)| *name != plain.subject.output).collect();
    let replaces = signal.0 == Signal::KILL && before.is_some() && found == before;
    let is_left = match beside[..] {
        [] => false,
        [(_, file)] => !replaces || *file != plain.output,
        _ => true,
    };
    let number = signal.0.as_raw();
    let verdict = match ran.status.map(|status| (status.code(), status.signal())) {
        None => Verdict::Hang,
        _ if is_left || !(whole || found == before) => Verdict::Left,
        // The limit of processor time is the only signal for which a message is printed.
        _ if !(ran.stderr.is_empty() || signal.0 == Signal::XCPU && ran.stderr == TIME_IS_UP) => Verdict::Crash,
        Some((Some(0), _)) if whole => Verdict::Same,
        Some((Some(0), _)) => Verdict::Wrong,
        Some((Some(code), _)) if code == 128 + number => Verdict::Error,
        // The signal may come before the command handles signals.
        Some((None, Some(by))) if by == number && (!whole || signal.0 == Signal::KILL) => Verdict::Error,
        Some(_) => Verdict::Status,
    };
    let what = format!("{}: {} after {after:?}", plain.subject.name, signal.1);
    let words = format!("{:?}, {:?}: {}", ran.status, ran.files.keys(), ran.stderr);
    Ok(End { row: "command: signal".into(), what, verdict, words, hit: true })
}
