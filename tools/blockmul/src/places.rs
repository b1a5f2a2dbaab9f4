//! The files that a command reads and writes. An output that could not be written, or that would
//! replace an input, is refused before any work is done.
use crate::failure::Failure;
use crate::input::Reading;
use crate::output::{is_standard, of_stdout};
use crate::stdout;
use blockmul::io::{self, FileFormat, dense::is_npy};
use std::fs;
use std::path::{Path, PathBuf};

/// The option of every command that both reads and writes files.
#[derive(clap::Args)]
pub struct Overwriting {
    /// Allow a result to replace an input, which is refused otherwise.
    #[arg(long)]
    overwrite: bool,
}

/// The options of commands that write files and messages.
#[derive(clap::Args)]
pub struct Writing {
    #[command(flatten)]
    pub overwriting: Overwriting,
    /// Print neither messages nor a summary or a table.
    #[arg(short, long)]
    pub quiet: bool,
}

/// The options of commands that read matrices and write files.
#[derive(clap::Args)]
pub struct FileArgs {
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub writing: Writing,
}

/// The contents of an output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OutputKind {
    Matrix,
    Problem,
    Json,
    /// Contents that no command of blockmul reads.
    Other,
}

/// The files of one run of a command.
#[derive(Default)]
pub struct Places {
    overwrite: bool,
    inputs: Vec<PathBuf>,
    outputs: Vec<(PathBuf, OutputKind)>,
}

impl Writing {
    pub fn places(&self) -> Places {
        self.overwriting.places()
    }
}

impl Overwriting {
    pub fn is_given(&self) -> bool {
        self.overwrite
    }

    pub fn places(&self) -> Places {
        Places { overwrite: self.overwrite, ..Default::default() }
    }
}

impl Places {
    /// Adds files that are read.
    pub fn reads<'p>(mut self, paths: impl IntoIterator<Item = &'p PathBuf>) -> Self {
        self.inputs.extend(paths.into_iter().cloned());
        self
    }

    /// Adds matrices that are written.
    pub fn matrices<'p>(self, paths: impl IntoIterator<Item = &'p PathBuf>) -> Self {
        self.writes(paths, OutputKind::Matrix)
    }

    /// Adds problems that are written.
    pub fn problems<'p>(self, paths: impl IntoIterator<Item = &'p PathBuf>) -> Self {
        self.writes(paths, OutputKind::Problem)
    }

    /// Adds files of JSON that are written: reports and other results of a command.
    pub fn json<'p>(self, paths: impl IntoIterator<Item = &'p PathBuf>) -> Self {
        self.writes(paths, OutputKind::Json)
    }

    /// Adds pictures and layouts that are written.
    pub fn others<'p>(self, paths: impl IntoIterator<Item = &'p PathBuf>) -> Self {
        self.writes(paths, OutputKind::Other)
    }

    fn writes<'p>(mut self, paths: impl IntoIterator<Item = &'p PathBuf>, kind: OutputKind) -> Self {
        self.outputs.extend(paths.into_iter().map(|path| (path.clone(), kind)));
        self
    }

    /// Checks the outputs, and returns whether a result goes to stdout.
    ///
    /// The check refuses folders that do not exist or in which nothing can be written, unknown
    /// endings, two results in one place, and results that replace an input.
    pub fn check(&self) -> Result<bool, Failure> {
        for (number, (path, kind)) in self.outputs.iter().enumerate() {
            if !is_standard(path) {
                check_place(path)?;
                check_name(path, *kind)?;
                check_writable(path)?;
            } else {
                stdout::check().map_err(of_stdout)?;
            }
            if self.outputs[..number].iter().any(|(other, _)| other == path || same(other, path)) {
                return Err(Failure::Usage(format!("two results cannot both go to {}", path.display())));
            }
            match self.inputs.iter().find(|input| same(input, path)) {
                Some(input) if !self.overwrite => return Err(taken(path, input)),
                _ => {}
            }
        }
        Ok(self.outputs.iter().any(|(path, _)| is_standard(path)))
    }
}

fn taken(output: &Path, input: &Path) -> Failure {
    let (output, input) = (output.display().to_string(), input.display().to_string());
    let which = if output == input { "an input".into() } else { format!("the same file as the input {input}") };
    Failure::Usage(format!("the output {output} is {which}: with --overwrite it takes its place"))
}

/// Whether two paths lead to the same file; neither needs to exist. Two paths to pipes or devices
/// are never the same file.
pub fn same(a: &Path, b: &Path) -> bool {
    matches!((identity(a), identity(b)), (Some(a), Some(b)) if a == b)
}

#[derive(PartialEq)]
enum Identity {
    #[cfg(unix)]
    File {
        device: u64,
        number: u64,
    },
    Path(PathBuf),
}

fn identity(path: &Path) -> Option<Identity> {
    match fs::metadata(path) {
        _ if is_standard(path) => None,
        Ok(found) if !found.is_file() => None,
        #[cfg(unix)]
        Ok(found) => {
            use std::os::unix::fs::MetadataExt;
            Some(Identity::File { device: found.dev(), number: found.ino() })
        }
        #[cfg(not(unix))]
        Ok(_) => path.canonicalize().ok().map(Identity::Path),
        Err(_) => {
            let place = io::linked(path);
            Some(Identity::Path(folder(&place).canonicalize().ok()?.join(place.file_name()?)))
        }
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Refuses a path at which no file can be written.
fn check_place(path: &Path) -> Result<(), Failure> {
    // `place` is the target of a link, even if the target does not exist.
    let (place, output) = (io::linked(path), path.display());
    let folder = folder(&place);
    let refused = match folder.is_dir() {
        _ if path.is_dir() => format!("the output {output} is a folder"),
        true => return Ok(()),
        false if folder.exists() => {
            format!("{} is no folder, so that the output {output} cannot be in it", folder.display())
        }
        false => format!("the folder {} of the output {output} does not exist", folder.display()),
    };
    Err(Failure::Usage(refused))
}

/// Refuses a path if no new file can be made in its folder, because results are first written to a
/// file beside their place. If the folder does not exist, the nearest existing folder above it is
/// checked.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Ok(()); // a pipe or a device, which is written itself
    }
    let place = io::linked(path);
    let mut folders = place.ancestors().skip(1).map(|of| if of.as_os_str().is_empty() { Path::new(".") } else { of });
    let Some(folder) = folders.find(|folder| folder.exists()) else { return Ok(()) };
    // The test file has no name, if the system supports this; otherwise it is removed at once.
    tempfile::tempfile_in(folder).map(drop).map_err(|error| Failure::Output(path.display().to_string(), error))
}

fn check_name(path: &Path, kind: OutputKind) -> Result<(), Failure> {
    let plain = plain(path);
    io::check_name(path)?;
    let ending = plain.extension().unwrap_or_default().display();
    let refused = match kind {
        OutputKind::Matrix if is_npy(path) => {
            "a .npy is dense, and this matrix is sparse: `blockmul convert` makes one of an .mtx or .npz".into()
        }
        OutputKind::Matrix => return Ok(FileFormat::of_output(path).map(drop)?),
        // A `.txt` file may contain any text.
        OutputKind::Json
            if !ends_in(&plain, &["txt"]) && (FileFormat::of(&plain).is_some() || ends_in(&plain, &OTHERS)) =>
        {
            format!(".{ending} is of another format; this is JSON, as in NAME.json")
        }
        OutputKind::Problem if !ends_in(&plain, &PROBLEMS) => {
            let known = PROBLEMS.join(", .");
            format!("unknown ending .{ending}; problems are written to .{known}, packed if .gz or .bz2 follows")
        }
        _ => return Ok(()),
    };
    Err(Failure::Usage(format!("{}: {refused}", path.display())))
}

/// Endings of problems. A `.txt` file may contain a bundle adjustment or a graph.
const PROBLEMS: [&str; 4] = ["txt", "bal", "g2o", "graph"];
/// Endings of files that contain neither a matrix nor JSON.
const OTHERS: [&str; 9] = ["bal", "g2o", "graph", "npy", "png", "ply", "obj", "off", "bla"];

/// Refuses to write a problem under the ending of the other kind.
pub fn check_problem(path: &Path, is_graph: bool) -> Result<(), Failure> {
    let (kind, endings) = match is_graph {
        true => ("graphs", ["g2o", "graph", "txt"].as_slice()),
        false => ("bundle adjustments", ["txt", "bal"].as_slice()),
    };
    let plain = plain(path);
    match ends_in(&plain, &PROBLEMS) && !ends_in(&plain, endings) {
        true => Err(Failure::Usage(format!("{}: {kind} are written to .{}", path.display(), endings.join(", .")))),
        false => Ok(()),
    }
}

/// The path without the ending of a compression that can be written.
fn plain(path: &Path) -> PathBuf {
    let packed = path.extension().is_some() && ends_in(path, &["gz", "bz2"]);
    if packed { path.with_extension("") } else { path.into() }
}

/// Whether a name has one of these endings or no ending.
fn ends_in(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_none_or(|ending| endings.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}
