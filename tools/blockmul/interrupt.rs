//! Ctrl-C, and the signals that ask a process to end: nothing half-written stays.
use blockmul::io::discard_unfinished;

/// 128 and the number of SIGINT, as shells have it; the handler is not told which signal it was.
const INTERRUPTED: i32 = 130;

/// From here on SIGINT, SIGTERM and SIGHUP remove the files under way and end the process with status 130.
///
/// Where a signal is ignored already, as under `nohup`, all of them stay as they are.
pub fn leave_nothing_half_written() {
    let _ = ctrlc::try_set_handler(|| {
        let _none_begins_again = discard_unfinished();
        std::process::exit(INTERRUPTED);
    });
}
