//! `BLOCKMUL_LOG` and `RUST_LOG`: prints the library's events as lines on stderr, above the bar.
use crate::messages::{self, Tone};
use std::io::Write;
use tracing_subscriber::{
    Layer, Registry,
    filter::{LevelFilter, Targets},
    fmt::{self, MakeWriter},
    layer::SubscriberExt,
};

/// The environment variables that select events. The first of the environment variables that is set
/// and not empty is used.
const VARIABLES: [&str; 2] = ["BLOCKMUL_LOG", "RUST_LOG"];

/// Starts to print events, if a variable requests them. A malformed filter causes only a warning,
/// because RUST_LOG may be meant for other programs.
pub fn start() {
    let value = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(|value| (name, value));
    let Some((name, value)) = VARIABLES.into_iter().find_map(value) else { return };
    let value = value.to_string_lossy();
    let filter = match value.parse::<Targets>() {
        Ok(filter) => filter,
        Err(error) => {
            let text =
                format!("{name} is not a filter of events: {error}; nothing is logged; try {name}=blockmul=debug");
            return messages::tell(Tone::Warning, &text);
        }
    };
    // Times are shown only with details.
    let timed = Layer::<Registry>::max_level_hint(&filter).is_none_or(|level| level >= LevelFilter::DEBUG);
    let lines = fmt::Subscriber::builder().compact().with_max_level(LevelFilter::TRACE).with_writer(AboveTheBar);
    let started = match timed {
        true => tracing::subscriber::set_global_default(lines.with_timer(fmt::time::uptime()).finish().with(filter)),
        false => tracing::subscriber::set_global_default(lines.without_time().finish().with(filter)),
    };
    debug_assert!(started.is_ok(), "the command has one subscriber");
}

/// A writer that prints lines above the progress bar.
struct AboveTheBar;

impl MakeWriter<'_> for AboveTheBar {
    type Writer = Self;
    fn make_writer(&self) -> Self {
        Self
    }
}

impl Write for AboveTheBar {
    /// Writes one line. Line ends in names of files are escaped. A line that cannot be written is
    /// lost, as any message on stderr is.
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches('\n').replace('\n', "\\n").replace('\r', "\\r");
        messages::above_any_bar(|| {
            let _ = writeln!(anstream::stderr(), "{text}");
        });
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
