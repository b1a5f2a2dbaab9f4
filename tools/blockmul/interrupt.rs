//! Ctrl-C and other signals that end a process: unfinished files are removed.
#[cfg(unix)]
use crate::messages::{Tone, tell};
use blockmul::io::discard_unfinished;

/// Handles the signals that end a process from here on: they remove unfinished files and end the
/// process with status 128 plus the signal's number, as in shells. SIGQUIT still makes a dump of
/// memory. Signals that are ignored, as under `nohup` or in the background of a script, stay
/// ignored.
#[cfg(unix)]
pub fn leave_nothing_half_written() {
    use signal_hook::consts::{
        SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
    };
    const ENDING: [i32; 9] = [SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGXCPU];
    // A file would grow beyond `ulimit -f`. With any handler the write fails, and is reported as
    // one to a full disk is. A handler, unlike an ignored signal, is not passed on to compilers
    // that a driver starts.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    let ignored = ignored_signals();
    let handled = ENDING.into_iter().filter(|signal| match ignored {
        Some(mask) => mask >> (signal - 1) & 1 == 0,
        None => *signal != SIGHUP, // it may be ignored because of `nohup`
    });
    // If there is no handler, the signals have their usual effect.
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

/// The signals that this process was started to ignore, one bit each from 1; `None` if the system
/// does not say.
#[cfg(unix)]
fn ignored_signals() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

/// Handles Ctrl-C from here on: it removes unfinished files and ends the process with status 130.
#[cfg(not(unix))]
pub fn leave_nothing_half_written() {
    let _ = ctrlc::set_handler(|| {
        let _none_begins_again = discard_unfinished();
        std::process::exit(130);
    });
}
