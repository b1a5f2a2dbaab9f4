//! Ctrl-C and other signals that end a process: unfinished files are removed.
use blockmul::io::discard_unfinished;

/// Handles SIGINT, SIGTERM and SIGHUP from here on: they remove unfinished files and end the
/// process with status 128 plus the signal's number, as in shells. Signals that are ignored, as
/// under `nohup` or in the background of a script, stay ignored.
#[cfg(unix)]
pub fn leave_nothing_half_written() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let ignored = ignored_signals();
    let handled = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| match ignored {
        Some(mask) => mask >> (signal - 1) & 1 == 0,
        None => *signal != SIGHUP, // it may be ignored because of `nohup`
    });
    // If there is no handler, the signals have their usual effect.
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(handled) {
        std::thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                let _none_begins_again = discard_unfinished();
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
