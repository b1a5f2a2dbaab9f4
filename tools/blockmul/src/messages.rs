//! Messages to the user on stderr, with a progress bar or a spinner if stderr is a terminal.
//! Colours are used only if they are wanted.
use blockmul::{Device, device::kernel_cache, extra::host::Progress};
use clap::builder::styling::AnsiColor;
use indicatif::{ProgressBar, ProgressStyle, WeakProgressBar};
use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

/// The severity of a message.
#[derive(Clone, Copy)]
pub enum Tone {
    Error,
    Warning,
    Hint,
}

impl Tone {
    /// The word before a message, and its colour.
    fn label(self) -> (&'static str, AnsiColor) {
        match self {
            Self::Error => ("error", AnsiColor::Red),
            Self::Warning => ("warning", AnsiColor::Yellow),
            Self::Hint => ("hint", AnsiColor::Cyan),
        }
    }
}

/// Prints `error: text`, in colour on a terminal unless NO_COLOR is set. Unlike `eprintln!`, this
/// does not panic if stderr is closed. The text is one line: a file name in it may have line ends.
pub fn tell(tone: Tone, text: &str) {
    tell_lines(tone, &in_a_line(text));
}

/// Prints a text of several lines, as [`tell`] does; it must not contain file names.
pub fn tell_lines(tone: Tone, text: &str) {
    let (label, colour) = tone.label();
    let style = colour.on_default().bold();
    line(&format!("{style}{label}:{style:#} {}", visible(text)));
}

/// Returns the text on one line. All control characters are escaped, because file names may contain
/// any.
pub fn in_a_line(text: &str) -> Cow<'_, str> {
    escaped(text, char::is_control)
}

/// Returns the text with its lines. Control characters that a terminal would interpret are escaped.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c.is_control() && c != '\n' && c != '\t')
}

fn escaped(text: &str, escapes: fn(char) -> bool) -> Cow<'_, str> {
    match text.contains(escapes) {
        true => {
            let shown = |c: char| if escapes(c) { c.escape_default().to_string() } else { c.to_string() };
            text.chars().map(shown).collect::<String>().into()
        }
        false => text.into(),
    }
}

fn line(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// The progress bar on the terminal, for code that writes there without [`Messages`].
static BAR: Mutex<Option<WeakProgressBar>> = Mutex::new(None);

/// Calls `write`, which writes to the terminal, while the bar, if any, is hidden.
pub fn above_any_bar(write: impl FnOnce()) {
    let bar = BAR.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(WeakProgressBar::upgrade);
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// The unit of a progress bar.
#[derive(Clone, Copy)]
pub enum Unit {
    Bytes,
    Entries,
    Columns,
    Runs,
    Kernels,
    /// Steps of an iteration. A bar of iterations rarely reaches its end, because most iterations
    /// end before the limit.
    Steps,
    /// Milliseconds.
    Time,
}

impl Unit {
    fn template(self) -> &'static str {
        match self {
            Self::Bytes => "{msg} {wide_bar} {binary_bytes}/{binary_total_bytes} [{elapsed}, {eta} left]",
            Self::Entries => "{msg} {wide_bar} {human_pos}/{human_len} entries [{elapsed}, {eta} left]",
            Self::Columns => "{msg} {wide_bar} {human_pos}/{human_len} columns [{elapsed}, {eta} left]",
            Self::Kernels => "{msg} {wide_bar} {pos}/{len} [{elapsed}]",
            Self::Steps => "{spinner} {msg}, step {human_pos} [{elapsed}]",
            Self::Time => "{msg} {wide_bar} {percent} % [{elapsed}]",
            Self::Runs => "{msg} {wide_bar} {pos}/{len} runs [{elapsed}, {eta} left]",
        }
    }
}

/// Messages to the user. Under `--quiet` only alerts are printed. A progress bar is shown only on a
/// terminal, and is removed at the end.
pub struct Messages {
    quiet: bool,
    bar: ProgressBar,
}

impl Messages {
    pub fn new(quiet: bool) -> Self {
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
        bar.set_style(spinner());
        bar.enable_steady_tick(Duration::from_millis(100));
        *BAR.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.downgrade());
        Self { quiet, bar }
    }

    /// Shows the current activity, whose length is not known.
    pub fn step(&self, text: impl Into<String>) {
        self.bar.unset_length();
        self.bar.set_style(spinner());
        self.bar.set_message(in_a_line(&text.into()).into_owned());
        self.bar.reset();
    }

    /// Shows the current activity: a spinner until the first progress report, a bar from then on.
    pub fn measured(&self, text: impl Into<String>, unit: Unit) -> Progress {
        self.step(text);
        let (bar, first) = (self.bar.clone(), Once::new());
        Progress::new(move |done, total| {
            if total > 0 {
                first.call_once(|| bar.set_style(style(unit.template())));
                bar.set_length(total);
                bar.set_position(done);
            }
        })
    }

    /// Shows the number of compiled kernels while `device` compiles, and then shows the earlier
    /// activity again. Warns once if every run compiles, which takes seconds.
    pub fn show_compiling(&self, device: &Device) {
        static WARNED: Once = Once::new();
        WARNED.call_once(|| kernel_cache::obstacle().iter().for_each(|why| self.warn(why)));
        let text = format!("compiling kernels for {} (first run)", device.info().name);
        let (bar, before) = (self.bar.clone(), Mutex::new(None));
        device.on_compile(Progress::new(move |done, total| {
            let mut before = before.lock().unwrap_or_else(PoisonError::into_inner);
            if done < total {
                before.get_or_insert_with(|| bar.message());
                bar.set_style(style(Unit::Kernels.template()));
                bar.set_message(text.clone());
                bar.set_length(total);
                bar.set_position(done);
            } else if let Some(message) = before.take() {
                bar.unset_length();
                bar.set_style(spinner());
                bar.set_message(message);
            }
        }));
    }

    /// Compares a result with the reference if verification was requested.
    pub fn verifying<T, E>(&self, asked: bool, compare: impl FnOnce() -> Result<T, E>) -> Result<Option<T>, E> {
        asked
            .then(|| {
                self.step("verifying");
                compare()
            })
            .transpose()
    }

    /// Prints one line, which stays on the terminal.
    pub fn say(&self, text: &str) {
        self.say_lines(&in_a_line(text));
    }

    /// Prints lines, which stay on the terminal. The printed lines must not contain file names.
    pub fn say_lines(&self, text: &str) {
        self.above_the_bar(|| line(&visible(text)));
    }

    /// Prints one line if there is no terminal for a bar, so that a log shows the progress of the
    /// work.
    pub fn passed(&self, text: impl FnOnce() -> String) {
        if !self.quiet && !std::io::stderr().is_terminal() {
            line(&in_a_line(&text()));
        }
    }

    /// Warns of something that the user may not want.
    pub fn warn(&self, text: &str) {
        self.above_the_bar(|| tell(Tone::Warning, text));
    }

    /// Warns of something that may make the result useless; printed even under `--quiet`.
    pub fn alert(&self, text: &str) {
        self.bar.suspend(|| tell(Tone::Warning, text));
    }

    /// Prints advice on what to do next.
    pub fn hint(&self, text: &str) {
        self.above_the_bar(|| tell(Tone::Hint, text));
    }

    /// Calls `write`, which writes to the terminal, while the bar is hidden.
    pub fn pause<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }

    fn above_the_bar(&self, write: impl FnOnce()) {
        if !self.quiet {
            self.bar.suspend(write);
        }
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn spinner() -> ProgressStyle {
    style("{spinner} {msg} [{elapsed}]")
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a template that parses")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_shown() {
        let name = "a\u{1b}[31m\u{9b}2J\r\u{7f}é\tb\n";
        assert_eq!(visible(name), "a\\u{1b}[31m\\u{9b}2J\\r\\u{7f}é\tb\n");
        assert_eq!(in_a_line(name), "a\\u{1b}[31m\\u{9b}2J\\r\\u{7f}é\\tb\\n");
        assert!(matches!(visible("λ plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn every_template_parses() {
        spinner();
        let all = [Unit::Bytes, Unit::Entries, Unit::Columns, Unit::Runs, Unit::Kernels, Unit::Steps, Unit::Time];
        for unit in all {
            style(unit.template());
        }
    }
}
