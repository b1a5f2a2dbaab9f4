//! The subjects of the tests with faults: command lines and operations of the library, on small
//! inputs.
use super::workshop::{LIMIT, Workshop};
use std::{error::Error, process::Command, time::Duration};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// The program `blockmul`.
    Command,
    /// The program of the tests itself, which runs an operation of the library.
    This,
}

/// The origin of the kernels of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernels {
    /// The kernels come from a cache that already has them.
    Kept,
    /// The kernels are compiled into an empty cache.
    Empty,
    /// The kernels are compiled without a cache.
    Off,
}

#[derive(Debug, Clone)]
pub struct Subject {
    pub name: &'static str,
    pub program: Program,
    /// The arguments of the subject. OUT stands for the output of a command that has no option
    /// `-o`.
    pub line: &'static str,
    pub output: &'static str,
    /// Whether the output is JSON with times, so that only its format can be checked.
    pub varies: bool,
    /// Whether a run of the subject takes seconds. The share of tools/test leaves such a subject
    /// out; the full sweep tries one index of each call.
    pub long: bool,
    pub kernels: Kernels,
    /// Number of indices of each call that the share of tools/test tries.
    pub share: usize,
    /// Time limit of a run.
    pub limit: Duration,
}

const fn command(name: &'static str, line: &'static str, output: &'static str, share: usize) -> Subject {
    let (program, kernels) = (Program::Command, Kernels::Kept);
    Subject { name, program, line, output, varies: false, long: false, kernels, share, limit: LIMIT }
}

/// A command whose output is JSON with times.
const fn timed(name: &'static str, line: &'static str) -> Subject {
    Subject { varies: true, ..command(name, line, "times.json", 0) }
}

pub const fn this(name: &'static str, line: &'static str, share: usize) -> Subject {
    Subject { program: Program::This, ..command(name, line, "bits", share) }
}

const MULTIPLY: Subject = command("multiply", "multiply A.mtx --block 2", "C.mtx", 2);

pub const SUBJECTS: &[Subject] = &[
    MULTIPLY,
    Subject { name: "multiply, compiled", kernels: Kernels::Off, share: 1, ..MULTIPLY },
    Subject { name: "multiply, first", kernels: Kernels::Empty, share: 1, ..MULTIPLY },
    command("multiply in bands", "multiply S.mtx --memory-limit 1MiB", "C.mtx", 1),
    command("multiply by hash", "multiply A.mtx --method hash", "C.mtx", 0),
    command("multiply under a mask", "multiply A.mtx --mask A.mtx", "C.mtx", 0),
    command("multiply over a semiring", "multiply N.mtx --semiring min-plus --method esc", "C.mtx", 0),
    command("multiply by a dense matrix", "multiply A.mtx D.npy", "C.npy", 0),
    command("apply", "apply S.mtx", "y.npy", 1),
    command("apply in slices", "apply S.mtx --format sliced-ell", "y.npy", 0),
    command("apply the transpose", "apply S.mtx --format csr-adaptive --transpose", "y.npy", 0),
    command("apply hyb", "apply S.mtx --format hyb", "y.npy", 0),
    command("apply a Gram matrix", "apply A.mtx --gram", "y.npy", 0),
    command("apply to a dense matrix", "apply A.mtx D.npy --sharing gcoo", "Y.npy", 0),
    command("paths", "paths N.mtx --sources 1,7", "d.npy", 0),
    command("paths by frontiers", "paths N.mtx --sources 1,7 --schedule frontier --element f32", "d.npy", 0),
    command("paths by Bellman-Ford", "paths N.mtx --sources 1,7 --schedule sweeps", "d.npy", 0),
    command("predecessors", "paths N.mtx --sources 1 --predecessors OUT", "p.npy", 0),
    command("components", "components N.mtx", "c.npy", 0),
    command("triangles", "triangles N.mtx", "t.npy", 0),
    command("patches", "patches M.ply --count 5", "l.npy", 0),
    command("hessian", "hessian G.g2o --start file --write H=OUT", "H.mtx", 0),
    timed("bench", "bench uniform:20x2 --rounds 1 --json OUT"),
    Subject { long: true, ..timed("tune", "tune --seconds 0.1") },
    command("spy", "spy A.mtx --size 64", "A.png", 1),
    command("schur", "schur P.txt", "S.mtx", 1),
    command("solve a graph", "solve G.g2o --start file", "G.g2o", 1),
    command("solve by Cholesky", "solve P.txt --tolerance 0.1", "P.txt", 1),
    command("solve by CG", "solve P.txt --linear conjugate-gradients --tolerance 0.1", "P.txt", 1),
    this("library: multiply", "operation multiply", 1),
    this("library: in bands", "operation banded", 1),
    this("library: write_with", "operation write_with", 1),
    this("library: plan", "operation plan", 1),
    this("library: Schur", "operation schur", 1),
];

/// Subjects that receive signals. These subjects write long enough to receive a signal.
pub const WRITERS: &[Subject] = &[
    command("transpose", "transpose B.mtx", "C.mtx", 0),
    command("convert to .gz", "convert B.mtx", "B.mtx.gz", 0),
    command("convert to .npz", "convert B.mtx", "B.npz", 0),
    command("multiply", "multiply A.mtx --block 2", "C.mtx", 0),
    command("generate", "generate bal --cameras 20 --points 3000", "P.txt", 0),
];

/// The command lines that generate the inputs.
const INPUTS: [&str; 9] = [
    "generate uniform --rows 60 --per-column 4 --block 2 -o A.mtx",
    "generate uniform --rows 1000 --per-column 10 --block 2 -o B.mtx",
    "generate uniform --rows 1500 --per-column 6 -o S.mtx",
    "generate uniform --rows 120 --cols 5 --per-column 20 -o X.mtx",
    "convert X.mtx -o D.npy",
    "generate planar --cols 15 --rows 15 -o N.mtx",
    "generate mesh --points 120 -o M.ply",
    "generate g2o --poses 20 --closures 10 -o G.g2o",
    "generate bal --cameras 6 --points 30 -o P.txt",
];

/// Writes the inputs. The inputs are the same on every machine.
pub fn make_inputs(workshop: &Workshop) -> Result<(), Box<dyn Error>> {
    for line in INPUTS {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blockmul"));
        command.args(line.split_whitespace()).arg("--quiet").current_dir(workshop.path(""));
        if !command.status()?.success() {
            return Err(format!("blockmul {line} failed").into());
        }
    }
    Ok(())
}
