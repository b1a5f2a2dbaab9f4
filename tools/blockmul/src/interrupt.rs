//! Ctrl-C and other signals that end a process: unfinished files are removed.
#[cfg(unix)]
use crate::messages::{Tone, tell};
use blockmul::io::discard_unfinished;

/// After this call, signals that end the process remove unfinished files and end it with status 128
/// plus the signal's number, as in shells. SIGQUIT still dumps the memory. Signals that are
/// ignored, as under `nohup` or in the background of a script, stay ignored. If a signal already
/// has a handler, for example that of a profiler, the handler stays.
#[cfg(unix)]
pub fn leave_nothing_half_written() {
    use signal_hook::consts::{
        SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
    };
    const ENDING: [i32; 9] = [SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGXCPU];
    // SIGXFSZ is sent if a file would grow beyond `ulimit -f`. If SIGXFSZ has a handler, the write
    // fails instead, and the error is reported like that of a full disk. A handler, unlike an
    // ignored signal, is not inherited by compilers that a driver starts.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let handled = ENDING.into_iter().filter(|&signal| is_taken(signal, &status));
    // If handlers cannot be installed, the signals have their usual effect.
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(handled) {
        std::thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                let _none_begins_again = discard_unfinished();
                if signal == SIGXCPU {
                    tell(Tone::Error, "the processor time that this process may take is used up (`ulimit -t`)");
                }
                // Exits at once: exit handlers of drivers do not expect other threads to run.
                signal_hook::low_level::exit(128 + signal);
            }
        });
    }
}

/// Whether the command handles a signal that ends a process. The command does not handle an ignored
/// signal, nor one for which a profiler may have a handler, unless the signal asks the command to
/// end. `status` is the text of `/proc/self/status`, empty if the system has none.
#[cfg(unix)]
fn is_taken(signal: i32, status: &str) -> bool {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let has = |signals: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix(signals)?.strip_prefix(':'))?;
        Some(u64::from_str_radix(mask.trim(), 16).ok()? >> (signal - 1) & 1 == 1)
    };
    // SIGHUP may be ignored because of `nohup`.
    let is_ignored = has("SigIgn").unwrap_or(signal == SIGHUP);
    let has_handler = has("SigCgt").unwrap_or(false);
    !is_ignored && (!has_handler || [SIGINT, SIGTERM, SIGHUP].contains(&signal))
}

/// Handles Ctrl-C after this call: the handler removes unfinished files and ends the process with
/// status 130.
#[cfg(not(unix))]
pub fn leave_nothing_half_written() {
    let _ = ctrlc::set_handler(|| {
        let _none_begins_again = discard_unfinished();
        std::process::exit(130);
    });
}

#[cfg(all(test, unix))]
mod tests {
    use super::is_taken;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGPROF, SIGTERM, SIGUSR1};

    #[test]
    fn signals_that_are_ignored_or_have_a_handler_are_left_alone() {
        let bits = |signals: &[i32]| signals.iter().fold(0u64, |mask, signal| mask | 1 << (signal - 1));
        let taken = |ignored: &[i32], caught: &[i32]| {
            let (ignored, caught) = (bits(ignored), bits(caught));
            let status = format!("SigBlk:\t{:016x}\nSigIgn:\t{ignored:016x}\nSigCgt:\t{caught:016x}\n", u64::MAX);
            [SIGINT, SIGTERM, SIGHUP, SIGPROF, SIGUSR1].map(|signal| is_taken(signal, &status))
        };
        assert_eq!(taken(&[], &[]), [true; 5]);
        assert_eq!(taken(&[SIGHUP, SIGUSR1], &[]), [true, true, false, true, false]);
        assert_eq!(taken(&[], &[SIGPROF]), [true, true, true, false, true]);
        assert_eq!(taken(&[SIGINT], &[SIGINT, SIGTERM, SIGHUP]), [false, true, true, true, true]);
        assert_eq!([SIGHUP, SIGPROF].map(|signal| is_taken(signal, "")), [false, true]);
    }
}
