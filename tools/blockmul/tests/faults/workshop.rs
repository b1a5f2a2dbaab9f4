//! The folders of the runs, the compiled `opencl.c`, the inputs, and the caches of kernels.
use super::{
    process::{self, Ran},
    subjects::{Kernels, Program, Subject},
};
use std::{
    error::Error,
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    process::{Child, Command},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

/// Time limit of a single run. A run takes about a hundredth of this limit.
pub const LIMIT: Duration = Duration::from_secs(40);

/// A call that must fail.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// Name of the call, `any` or `late`.
    pub call: String,
    pub index: u64,
    pub mode: &'static str,
    pub code: i32,
}

impl Fault {
    pub fn variables(&self) -> [(&'static str, String); 4] {
        [
            ("FAULT_CALL", self.call.clone()),
            ("FAULT_INDEX", self.index.to_string()),
            ("FAULT_MODE", self.mode.to_owned()),
            ("FAULT_CODE", self.code.to_string()),
        ]
    }
}

/// The folders of one run of this program.
pub struct Workshop {
    folder: tempfile::TempDir,
    library: PathBuf,
    runs: AtomicUsize,
}

/// The folder of one process. The folder is removed after the process has ended.
pub struct Bench {
    pub folder: PathBuf,
    pub out: PathBuf,
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _the_workshop_is_removed_too = fs::remove_dir_all(&self.folder);
    }
}

impl Workshop {
    pub fn new() -> Result<Self, Box<dyn Error>> {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("faults");
        fs::create_dir_all(root.join("pocl"))?;
        let folder = tempfile::Builder::new().prefix("run-").tempdir_in(&root)?;
        let library = folder.path().join("opencl.so");
        let made = Command::new("cc")
            .args(["-O1", "-Wall", "-Wextra", "-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults/opencl.c"))
            .args(["-ldl", "-lpthread", "-Wl,--no-as-needed", "-lOpenCL"])
            .output();
        match made {
            Ok(made) if made.status.success() => {}
            Ok(made) => {
                let messages = String::from_utf8_lossy(&made.stderr);
                return Err(format!("{messages}opencl.c cannot be compiled; does `tools/setup headers` help?").into());
            }
            Err(error) => return Err(format!("cc: {error}; `tools/setup linker headers` installs it").into()),
        }
        Ok(Self { folder, library, runs: AtomicUsize::new(0) })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn bench(&self) -> io::Result<Bench> {
        let folder = self.path(&format!("bench{}", self.runs.fetch_add(1, Relaxed)));
        let out = folder.join("out");
        fs::create_dir_all(&out)?;
        Ok(Bench { folder, out })
    }

    /// The program of `subject`, with its output in `bench`.
    fn command(&self, subject: &Subject, bench: &Bench) -> Command {
        let output = bench.out.join(subject.output);
        let mut command = match subject.program {
            Program::Command => Command::new(env!("CARGO_BIN_EXE_blockmul")),
            Program::This => Command::new(std::env::current_exe().expect("this program has a path")),
        };
        let (text, has_option) = (output.to_string_lossy(), subject.line.contains("OUT"));
        command.args(subject.line.split_whitespace().map(|word| word.replace("OUT", &text)));
        match subject.program {
            Program::Command if has_option => command.arg("--quiet"),
            Program::Command => command.arg("--quiet").arg("-o").arg(&output),
            Program::This => command.arg(&output),
        };
        self.prepare(&mut command);
        command
    }

    /// Sets the environment of a process, so that it uses `opencl.c`.
    pub fn prepare(&self, command: &mut Command) {
        ["BLOCKMUL_DEVICE", "BLOCKMUL_LOG", "RUST_LOG", "RUST_BACKTRACE"].iter().for_each(|variable| {
            command.env_remove(variable);
        });
        if let Some(device) = std::env::var_os("BLOCKMUL_TEST_DEVICE") {
            command.env("BLOCKMUL_DEVICE", device);
        }
        // The runs use few kernels, which are small. Results that are compared come from the same
        // kernels. Without optimisation kernels compile in a third of the time.
        command.env("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable");
        // With the numbers of this tuning file all products are computed by kernels, none by the
        // host.
        command.env("BLOCKMUL_TUNING", concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/by_kernels.json"));
        command.env("POCL_CACHE_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("faults/pocl"));
        command.env("OPENCL_DYLIB_PATH", &self.library).current_dir(self.folder.path());
    }

    /// Returns the folder of the kernels that runs without a fault compile.
    pub fn kernels(&self) -> PathBuf {
        self.path("kernels")
    }

    /// Runs `subject` without `opencl.c`. `disturb` is called with the process of the subject.
    pub fn disturbed(&self, subject: &Subject, bench: &Bench, disturb: impl FnOnce(&Child)) -> io::Result<Ran> {
        let mut command = self.command(subject, bench);
        command.env("BLOCKMUL_CACHE", self.kernels()).env_remove("OPENCL_DYLIB_PATH");
        process::run(command, &bench.folder, &bench.out, LIMIT, disturb)
    }

    /// Runs `subject` without a fault. The kernels of this run are kept.
    pub fn first(&self, subject: &Subject) -> io::Result<Ran> {
        let bench = self.bench()?;
        let mut command = self.command(subject, &bench);
        command.env("BLOCKMUL_CACHE", self.kernels());
        // Kernels are compiled in this run, so the limit is longer.
        process::run(command, &bench.folder, &bench.out, 10 * LIMIT, |_| ())
    }

    /// Runs `subject` with `fault`. Each run has a cache of kernels of its own, so that no run
    /// depends on another.
    pub fn run(&self, subject: &Subject, bench: &Bench, fault: Option<&Fault>) -> io::Result<Ran> {
        let cache = bench.folder.join("kernels");
        match subject.kernels {
            Kernels::Kept if !cache.exists() => link_all(&self.kernels(), &cache)?,
            _ => {}
        }
        let mut command = self.command(subject, bench);
        match subject.kernels {
            Kernels::Off => command.env("BLOCKMUL_CACHE", "off"),
            _ => command.env("BLOCKMUL_CACHE", &cache),
        };
        if let Some(fault) = fault {
            command.envs(fault.variables());
        }
        process::run(command, &bench.folder, &bench.out, subject.limit, |_| ())
    }
}

/// Links the files of `from` into a new folder `to` that only its owner may read. The cache
/// replaces files and never writes to one. A file that another run has not finished may disappear
/// meanwhile; it is left out.
fn link_all(from: &Path, to: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(to)?;
    match fs::read_dir(from) {
        Ok(entries) => {
            for entry in entries {
                let entry = entry?;
                match fs::hard_link(entry.path(), to.join(entry.file_name())) {
                    Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
