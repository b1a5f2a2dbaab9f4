//! Ctrl-C, and the signals that ask a process to end: nothing half-written stays.
use blockmul::io::discard_unfinished;

/// From here on SIGINT, SIGTERM and SIGHUP remove the files under way and end the process with status 128 and the signal's number, as
/// shells have it. Signals that are ignored, as under `nohup` or in the background of a script, stay so.
#[cfg(unix)]
pub fn leave_nothing_half_written() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let ignored = ignored_signals();
    let handled = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| match ignored {
        Some(mask) => mask >> (signal - 1) & 1 == 0,
        None => *signal != SIGHUP, // not to undo `nohup` unknowingly
    });
    // Without a handler the signals do what they always do.
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(handled) {
        std::thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                let _none_begins_again = discard_unfinished();
                // At once: what drivers do at the end of a process is not made for one whose other threads go on.
                signal_hook::low_level::exit(128 + signal);
            }
        });
    }
}

/// The signals this process was started to ignore, a bit each from 1; `None` where the system does not say.
#[cfg(unix)]
fn ignored_signals() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

/// From here on Ctrl-C removes the files under way and ends the process with status 130.
#[cfg(not(unix))]
pub fn leave_nothing_half_written() {
    let _ = ctrlc::set_handler(|| {
        let _none_begins_again = discard_unfinished();
        std::process::exit(130);
    });
}
