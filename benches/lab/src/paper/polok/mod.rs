//! Polok, Ila, Smrz: Fast Sparse Matrix Multiplication on GPU, 2015. This file has Table 1 and the
//! products of figure 4, `figures` the figures 1, 3, 4 and 5.
pub mod figures;

use super::models;
use super::report::{Report, counted, shown};
use super::{Setting, peers::Peer};
use crate::regret::methods::{Contest, Variant};
use blockmul::{BlockShape, Cbc, Csc, Method, reference};
use blockmul_cli::bench::matrices::Input;
use blockmul_cli::failure::Failure;
use blockmul_cli::matrix_size::Size;

/// A matrix, both as scalars and in the blocks of its file.
pub struct Subject {
    name: String,
    scalars: Csc<f64>,
    transposed: Csc<f64>,
    blocks: Cbc<f64>,
}

/// Writes the report of the paper's measurements.
pub fn study(setting: &Setting<'_>, report: &mut Report) -> std::result::Result<(), Failure> {
    let variants = [Method::Auto, setting.esc()].map(Variant::of);
    let subjects = subjects(setting, report)?;
    let what = "Measurements of L. Polok, V. Ila, P. Smrz, *Fast Sparse Matrix Multiplication on GPU*, 2015";
    let how = format!(
        "f64; medians of up to {} rounds; operands and C are on the device; every product is the reference's bit for \
         bit. ESC is `{}` forced, auto the choice of methods.",
        setting.lab.patience.rounds,
        setting.esc(),
    );
    report.begin(setting, "Fast Sparse Matrix Multiplication on GPU", what, &how);
    let mut squares: Vec<Contest> = Vec::new();
    for of in &subjects {
        squares.extend(square(setting, report, of, &variants));
        report.keep("table_1", &squares);
        report.save(setting.folder)?;
    }
    let own_blocks: Vec<Contest> =
        subjects.iter().filter_map(|of| in_own_blocks(setting, report, of, &variants)).collect();
    table(setting, report, &squares, &own_blocks);
    let others = all_to_all(setting, report, &subjects, &variants);
    figures::stages(setting, report, &squares)?;
    figures::scaling(setting, report, &squares, &others)?;
    let blocks = figures::of_sides(setting, report, &subjects, &variants)?;
    report.differences();
    for (name, contests) in [("own_blocks", &own_blocks), ("all_to_all", &others)] {
        report.keep(name, contests);
    }
    report.keep("figure_5", blocks);
    report.keep("peers", squares.iter().flat_map(|of| setting.peers.of(&of.matrix)).collect::<Vec<&Peer>>());
    Ok(())
}

/// The files and the generated matrices. A file that cannot be read is reported.
fn subjects(setting: &Setting<'_>, report: &mut Report) -> std::result::Result<Vec<Subject>, Failure> {
    let models = if setting.with_models() { models::polok(setting.most) } else { Vec::new() };
    let models = models.iter().map(|name| Input::parse(name).expect("a family"));
    let inputs: Vec<Input> = setting.args.study.inputs.iter().cloned().chain(models).collect();
    let subject = |input: &Input| -> std::result::Result<Subject, Failure> {
        let source = setting.lab.open(input)?;
        let blocks = source.matrix::<f64>(source.default_block())?;
        let scalars = blocks.to_scalars();
        Ok(Subject { name: input.matrix_name(), transposed: scalars.try_transpose()?, scalars, blocks })
    };
    let mut subjects = Vec::new();
    for input in &inputs {
        match subject(input) {
            Ok(subject) => subjects.push(subject),
            Err(Failure::Library(error)) => setting.note(report, &input.name(), error),
            Err(failure) => return Err(failure),
        }
    }
    Ok(subjects)
}

impl Subject {
    /// B of A·B if it is not A: the transpose of A, if A is not square.
    fn other(&self) -> Option<&Csc<f64>> {
        (self.scalars.nrows() != self.scalars.ncols()).then_some(&self.transposed)
    }
}

fn square(setting: &Setting<'_>, report: &mut Report, of: &Subject, variants: &[Variant]) -> Option<Contest> {
    setting.contest(report, [&of.name, &of.name], &of.scalars, of.other(), variants)
}

fn in_own_blocks(setting: &Setting<'_>, report: &mut Report, of: &Subject, variants: &[Variant]) -> Option<Contest> {
    let (shape, square) = (of.blocks.shape(), of.other().is_none());
    if shape == BlockShape::SCALAR || (square && shape.rows() != shape.cols()) {
        return None;
    }
    let transposed = (!square).then(|| of.blocks.transpose());
    setting.contest(report, [&of.name; 2], &of.blocks, transposed.as_ref(), variants)
}

/// A row of the paper's Table 1.
struct Printed {
    matrix: &'static str,
    nnz_per_row: f64,
    /// Floating-point operations, in the unit in which the paper gives them.
    flop: &'static str,
}

const TABLE_1: [Printed; 9] = [
    Printed { matrix: "roadNet-CA", nnz_per_row: 2.807, flop: "22.138 M" },
    Printed { matrix: "web-Google", nnz_per_row: 5.571, flop: "91.665 M" },
    Printed { matrix: "email-Enron", nnz_per_row: 10.020, flop: "72.510 M" },
    Printed { matrix: "amazon0312", nnz_per_row: 7.987, flop: "42.368 M" },
    Printed { matrix: "ca-CondMat", nnz_per_row: 8.081, flop: "5.899 M" },
    Printed { matrix: "p2p-Gnutella31", nnz_per_row: 2.363, flop: "539.035 k" },
    Printed { matrix: "wiki-Vote", nnz_per_row: 12.497, flop: "7.254 M" },
    Printed { matrix: "cit-Patents", nnz_per_row: 4.376, flop: "95.457 M" },
    Printed { matrix: "as-Skitter", nnz_per_row: 13.081, flop: "53.771 G" },
];

impl Printed {
    /// The paper's row for the matrix of this name.
    fn of(matrix: &str) -> Option<&'static Self> {
        TABLE_1.iter().find(|row| row.matrix.eq_ignore_ascii_case(matrix))
    }
}

/// Multiplications and additions of scalars, counted as in the paper.
fn flop(contest: &Contest) -> f64 {
    (2 * contest.products - contest.c_nnz.min(2 * contest.products)) as f64
}

fn table(setting: &Setting<'_>, report: &mut Report, squares: &[Contest], own_blocks: &[Contest]) {
    let libraries = setting.peers.libraries();
    let mut header = vec!["matrix", "nnz/row", "FLOP", "ESC ms", "auto ms", "auto, own blocks ms"];
    let of_peers: Vec<String> = libraries.iter().map(|name| format!("{name} ms")).collect();
    let ratios: Vec<String> = libraries.iter().map(|name| format!("× {name}")).collect();
    header.extend(of_peers.iter().map(String::as_str));
    header.extend(["MFLOP/s", "× ESC"]);
    header.extend(ratios.iter().map(String::as_str));
    let rows = squares.iter().map(|of| {
        let (auto, esc) = (of.auto_ms(), of.ms(setting.esc()));
        let blocks = own_blocks.iter().find(|blocks| blocks.matrix == of.matrix).and_then(Contest::auto_ms);
        let fastest = blocks.into_iter().chain(auto).reduce(f64::min);
        let peer = |library: &&str| setting.peers.ms(library, &of.matrix);
        let over = |other: Option<f64>| shown(other.zip(fastest).map(|(other, ours)| other / ours), 2);
        let mut row = vec![of.matrix.clone(), shown(mean_row(&of.a), 3), counted(flop(of))];
        row.extend([esc, auto, blocks].into_iter().chain(libraries.iter().map(peer)).map(|ms| shown(ms, 3)));
        row.push(shown(auto.map(|ms| flop(of) / ms / 1e3), 1));
        row.push(shown(esc.zip(auto).map(|(esc, auto)| esc / auto), 2));
        row.extend(libraries.iter().map(|library| over(peer(library))));
        row
    });
    report.say("## Table 1");
    report.say(
        "C = A·A, A·Aᵀ if A is not square, as scalars. FLOP counts multiplications and additions, 2 · products - \
         nnz(C). × is how many times longer the other takes than the faster of auto and auto in the file's own blocks.",
    );
    report.table(&header, rows);
    let printed = squares.iter().filter_map(|of| Some((of, Printed::of(&of.matrix)?)));
    let rows: Vec<_> = printed.map(|(of, row)| printed_beside(of, row)).collect();
    if !rows.is_empty() {
        report.say("Files of the names of the paper's matrices, beside its Table 1:");
        report.table(&["matrix", "nnz/row", "nnz/row in the paper", "FLOP", "FLOP in the paper"], rows);
    }
    report.libraries(squares.iter().flat_map(|of| setting.peers.of(&of.matrix)));
}

/// Mean number of entries (blocks) in a row of blocks.
fn mean_row(of: &Size) -> Option<f64> {
    let rows = of.rows() / of.block.map_or(1, |[rows, _]| rows);
    (rows > 0).then(|| of.nnz() as f64 / rows as f64)
}

fn printed_beside(of: &Contest, row: &Printed) -> Vec<String> {
    let numbers = [shown(mean_row(&of.a), 3), shown(Some(row.nnz_per_row), 3), counted(flop(of)), row.flop.into()];
    [of.matrix.clone()].into_iter().chain(numbers).collect()
}

/// Products of all pairs of matrices and transposes whose sizes fit, as in the paper's figure 4.
fn all_to_all(setting: &Setting<'_>, report: &mut Report, subjects: &[Subject], variants: &[Variant]) -> Vec<Contest> {
    let all: Vec<(String, &Csc<f64>)> = subjects
        .iter()
        .flat_map(|of| [(of.name.clone(), &of.scalars), (format!("{}ᵀ", of.name), &of.transposed)])
        .collect();
    let mut contests = Vec::new();
    for (one, a) in &all {
        for (other, b) in &all {
            let done = subjects.iter().any(|of| {
                let same = |x: &Csc<f64>, y: &Csc<f64>| std::ptr::eq(x, y);
                same(a, &of.scalars) && same(b, of.other().unwrap_or(&of.scalars))
            });
            if done || a.ncols() != b.nrows() || reference::products(*a, *b) > setting.most {
                continue;
            }
            let name = format!("{one} · {other}");
            contests.extend(setting.contest(report, [&name, "all to all"], *a, Some(*b), variants));
        }
    }
    contests
}
