//! Garland: Sparse Matrix Computations on Manycore GPU's, 2008. Products with vectors by rows and
//! by a segmented scan (section 3), shortest paths (section 4), and patches of meshes (figure 6).
//! The paper makes claims without times. The tables of this study test the claims of the paper.
mod patches;
mod paths;
mod products;

use super::Setting;
use super::report::Report;
use blockmul::{
    BlockShape, Cbc,
    extra::mesh::{self, Mesh},
};
use blockmul_cli::bench::matrices::Input;
use blockmul_cli::failure::Failure;
use serde::Serialize;
use std::path::Path;

/// Seed of all that is generated.
const SEED: u64 = 1;
/// Mean number of entries in a row.
const PER_ROW: usize = 16;
/// Maximum number of entries of a generated matrix. With more entries, measurements would take
/// longer and show nothing else.
const MOST_ENTRIES: u64 = 1 << 24;

/// The time of a computation, and that of the reference on the host.
#[derive(Serialize)]
struct Timed {
    what: String,
    /// The kind of the graph, matrix or mesh, or the name of the file.
    of: String,
    size: usize,
    /// For shortest paths, the number of source vertices.
    #[serde(skip_serializing_if = "Option::is_none")]
    sources: Option<usize>,
    verified: bool,
    /// The time, or `None` if the result differs from the reference's.
    ms: Option<f64>,
    reference_ms: f64,
}

/// Matrices and meshes, with their names.
#[derive(Default)]
struct Inputs {
    matrices: Vec<(String, Cbc<f64>)>,
    meshes: Vec<(String, Mesh)>,
}

/// Writes the report. The study multiplies all matrices by vectors. Shortest paths are computed in
/// square matrices and in the generated graphs. Meshes are divided into patches.
pub fn study(setting: &Setting<'_>, report: &mut Report) -> Result<(), Failure> {
    let what = "What M. Garland, *Sparse Matrix Computations on Manycore GPU's*, DAC 2008, describes";
    let how = format!(
        "f64; medians of up to {} rounds; operands are on the device; every result is the reference's bit for bit. The \
         reference is serial, on the host, measured once in the same run.",
        setting.lab.patience.rounds
    );
    report.begin(setting, "Sparse matrices on manycore GPUs", what, &how);
    let (models, most) = (setting.with_models(), setting.most.min(MOST_ENTRIES) as usize);
    let Inputs { matrices: given, meshes: given_meshes } = read(setting, report)?;
    let made = if models { setting.made(report, "matrices", products::generated(most)) } else { None };
    let mut matrices = made.unwrap_or_default();
    let equal = matrices.len();
    matrices.extend(given);
    if !matrices.is_empty() {
        products::write(setting, report, &matrices, equal)?;
        report.save(setting.folder)?;
    }
    let square = matrices.drain(equal..).filter(|(_, a)| a.pattern().nrows() == a.pattern().ncols()).collect();
    drop(matrices);
    let made = if models { setting.made(report, "graphs", paths::generated(most)) } else { None };
    let graphs = [made.unwrap_or_default(), square].concat();
    if !graphs.is_empty() {
        paths::write(setting, report, &graphs);
        report.save(setting.folder)?;
    }
    drop(graphs);
    let points = (most / 16).max(100);
    let made = if models { setting.made(report, "meshes", patches::generated(points)) } else { None };
    let meshes = [made.unwrap_or_default(), given_meshes].concat();
    if meshes.is_empty() { Ok(()) } else { patches::write(setting, report, &meshes) }
}

/// The matrices that are generated for section 3, with at most `most` entries.
pub fn generated_matrices(most: u64) -> blockmul::Result<Vec<(String, Cbc<f64>)>> {
    products::generated(most.min(MOST_ENTRIES) as usize)
}

/// Reads the files. A file that cannot be read is reported.
fn read(setting: &Setting<'_>, report: &mut Report) -> Result<Inputs, Failure> {
    let mut found = Inputs::default();
    for input in &setting.args.study.inputs {
        let name = input.matrix_name();
        let kept = match input.file().filter(|path| is_mesh(path)) {
            Some(path) => mesh::read(path).map_err(Failure::from).map(|mesh| found.meshes.push((name, mesh))),
            None => scalars(setting, input).map(|a| found.matrices.push((name, a))),
        };
        match kept {
            Err(Failure::Library(error)) => setting.note(report, &input.name(), error),
            kept => kept?,
        }
    }
    Ok(found)
}

fn scalars(setting: &Setting<'_>, input: &Input) -> Result<Cbc<f64>, Failure> {
    let source = setting.lab.open(input)?;
    Ok(source.matrix::<f64>(BlockShape::SCALAR)?)
}

/// Whether a file's name is that of a mesh, compressed or not.
fn is_mesh(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    name.split('.').skip(1).any(|part| ["obj", "ply", "off"].contains(&part))
}
