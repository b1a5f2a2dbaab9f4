//! Runs a process and collects its exit status, messages, files, and the counts of `opencl.c`.
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

/// The outcome of a process.
pub struct Ran {
    /// The exit status, or `None` if the process did not end in time.
    pub status: Option<ExitStatus>,
    pub stderr: String,
    /// The files in the output folder, by name.
    pub files: BTreeMap<String, Vec<u8>>,
    pub counts: Counts,
}

/// The counts of `opencl.c`. The counts are empty if the process did not end by itself.
#[derive(Default)]
pub struct Counts(BTreeMap<String, u64>);

impl Counts {
    fn read(log: &Path) -> Self {
        let text = fs::read_to_string(log).unwrap_or_default();
        let pair = |line: &str| {
            let (name, count) = line.rsplit_once(' ')?;
            Some((name.to_owned(), count.parse().ok()?))
        };
        Self(text.lines().filter_map(pair).collect())
    }

    pub fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// Returns the names of the calls that were made, with their numbers.
    pub fn calls(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().filter_map(|(name, &count)| Some((name.strip_prefix("call ")?, count)))
    }

    /// Returns the kinds of objects that are alive at the end, with their numbers.
    pub fn alive(&self) -> Vec<String> {
        let alive = self.0.iter().filter(|(name, count)| name.starts_with("alive ") && **count > 0);
        alive.map(|(name, count)| format!("{count} {}", &name["alive ".len()..])).collect()
    }
}

/// Runs `command`, whose output goes to the folder `out`; messages and the log of `opencl.c` go to
/// `folder`. `disturb` is called when the process runs, for example to send it a signal.
pub fn run(
    mut command: Command,
    folder: &Path,
    out: &Path,
    limit: Duration,
    disturb: impl FnOnce(&Child),
) -> io::Result<Ran> {
    let (messages, log) = (folder.join("stderr"), folder.join("log"));
    command.env("FAULT_LOG", &log).stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&messages)?);
    let mut child = command.spawn()?;
    disturb(&child);
    let status = wait(&mut child, limit)?;
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(out)? {
        let entry = entry?;
        files.insert(entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?);
    }
    let stderr = String::from_utf8_lossy(&fs::read(&messages)?).into_owned();
    Ok(Ran { status, stderr, files, counts: Counts::read(&log) })
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        match child.try_wait()? {
            None if start.elapsed() < limit => thread::sleep(Duration::from_millis(3)),
            None => {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
            ended => return Ok(ended),
        }
    }
}
