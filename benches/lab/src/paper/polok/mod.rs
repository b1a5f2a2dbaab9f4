//! Polok, Ila, Smrz: Fast Sparse Matrix Multiplication on GPU, 2015. This file measures the
//! products of Table 1 and of figure 4. `matrices` has models of the paper's matrices, `table`
//! writes Table 1, and `figures` the figures 1, 3, 4 and 5.
pub mod figures;
pub mod matrices;
mod table;

use super::models;
use super::report::Report;
use super::{Setting, peers::Peer};
use crate::regret::methods::{Contest, Variant};
use crate::study::in_turn;
use blockmul::{BlockShape, Cbc, Csc, Method, Result, reference};
use blockmul_cli::bench::{matrices::Input, record::median};
use blockmul_cli::failure::Failure;
use matrices::MODELS;
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde::Serialize;
use std::{hint::black_box, time::Instant};
use table::flop;

/// A matrix, both as scalars and in the blocks of its file.
pub struct Subject {
    name: String,
    scalars: Csc<f64>,
    transposed: Csc<f64>,
    blocks: Cbc<f64>,
}

/// A product of scalars by `auto` and ESC, and by one thread of the host.
#[derive(Serialize)]
pub struct Timed {
    /// The median time of Gustavson's algorithm (ACM TOMS 4, 1978), or `None` if the algorithm
    /// failed, for example for lack of memory.
    serial_ms: Option<f64>,
    #[serde(flatten)]
    contest: Contest,
}

/// The entrants of a product of scalars: two methods on the device, and a thread of the host.
struct Entrants<'s> {
    setting: &'s Setting<'s>,
    variants: [Variant; 2],
    one_thread: ThreadPool,
}

/// Writes the report of the paper's measurements.
pub fn study(setting: &Setting<'_>, report: &mut Report) -> std::result::Result<(), Failure> {
    let one_thread = ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let entrants = Entrants { setting, variants: [Method::Auto, setting.esc()].map(Variant::of), one_thread };
    let variants = &entrants.variants;
    let subjects = subjects(setting, report)?;
    let what = "Measurements of L. Polok, V. Ila, P. Smrz, *Fast Sparse Matrix Multiplication on GPU*, 2015";
    let how = format!(
        "f64; medians of up to {} rounds; operands and C are on the device; every product is the reference's bit for \
         bit. ESC is `{}` forced, auto the choice of methods.",
        setting.lab.patience.rounds,
        setting.esc(),
    );
    report.begin(setting, "Fast Sparse Matrix Multiplication on GPU", what, &how);
    let mut squares: Vec<Timed> = Vec::new();
    for of in &subjects {
        squares.extend(entrants.timed(report, [&of.name; 2], &of.scalars, of.other()));
        report.keep("table_1", &squares);
        report.save(setting.folder)?;
    }
    let own_blocks: Vec<Contest> =
        subjects.iter().filter_map(|of| in_own_blocks(setting, report, of, variants)).collect();
    table::table(setting, report, &squares, &own_blocks);
    let others = entrants.all_to_all(report, &subjects);
    figures::stages(setting, report, &squares)?;
    figures::scaling(setting, report, &squares, &others)?;
    let blocks = figures::of_sides(setting, report, &subjects, variants)?;
    report.differences();
    report.keep("own_blocks", &own_blocks);
    report.keep("all_to_all", &others);
    report.keep("figure_5", blocks);
    report.keep("peers", squares.iter().flat_map(|of| setting.peers.of(&of.contest.matrix)).collect::<Vec<&Peer>>());
    Ok(())
}

/// The files, the models of the paper's matrices, and families in growing sizes. A file that cannot
/// be read is reported.
fn subjects(setting: &Setting<'_>, report: &mut Report) -> std::result::Result<Vec<Subject>, Failure> {
    let subject = |input: &Input| -> std::result::Result<Subject, Failure> {
        let source = setting.lab.open(input)?;
        Ok(Subject::of(input.matrix_name(), source.matrix(source.default_block())?)?)
    };
    let mut subjects = Vec::new();
    let mut add = |name: &str, made: std::result::Result<Subject, Failure>| {
        match made {
            Ok(subject) => subjects.push(subject),
            Err(Failure::Library(error)) => setting.note(report, name, error),
            Err(failure) => return Err(failure),
        }
        Ok(())
    };
    let files = &setting.args.study.inputs;
    files.iter().try_for_each(|input| add(&input.name(), subject(input)))?;
    if setting.with_models() {
        for model in MODELS.iter().filter(|model| !files.iter().any(|file| file.matrix_name() == model.name)) {
            let name = model.stand_in();
            let made =
                model.matrix(setting.most).and_then(|a| Subject::of(name.clone(), a.to_blocks(BlockShape::SCALAR)?));
            add(&name, made.map_err(Failure::from))?;
        }
        for name in models::polok(setting.most) {
            add(&name, subject(&Input::parse(&name).expect("a family")))?;
        }
    }
    Ok(subjects)
}

impl Subject {
    fn of(name: String, blocks: Cbc<f64>) -> Result<Self> {
        let scalars = blocks.to_scalars();
        Ok(Self { name, transposed: scalars.try_transpose()?, scalars, blocks })
    }

    /// The factor B of a product A·B: the transpose of A if A is not square. The function returns
    /// `None` if B is A.
    fn other(&self) -> Option<&Csc<f64>> {
        (self.scalars.nrows() != self.scalars.ncols()).then_some(&self.transposed)
    }
}

fn in_own_blocks(setting: &Setting<'_>, report: &mut Report, of: &Subject, variants: &[Variant]) -> Option<Contest> {
    let (shape, square) = (of.blocks.shape(), of.other().is_none());
    if shape == BlockShape::SCALAR || (square && shape.rows() != shape.cols()) {
        return None;
    }
    let transposed = (!square).then(|| of.blocks.transpose());
    setting.contest(report, [&of.name; 2], &of.blocks, transposed.as_ref(), variants)
}

impl Entrants<'_> {
    fn timed(&self, report: &mut Report, names: [&str; 2], a: &Csc<f64>, b: Option<&Csc<f64>>) -> Option<Timed> {
        let contest = self.setting.contest(report, names, a, b, &self.variants)?;
        let serial_ms = self.setting.made(report, names[0], self.serial_ms(names[0], a, b.unwrap_or(a)));
        Some(Timed { serial_ms: serial_ms.flatten(), contest })
    }

    /// The median time of the reference on one thread. The results of `auto` and ESC were compared
    /// with the reference's.
    fn serial_ms(&self, name: &str, a: &Csc<f64>, b: &Csc<f64>) -> Result<Option<f64>> {
        let run = || {
            let clock = Instant::now();
            let c = reference::multiply(a, b)?;
            let ms = clock.elapsed().as_secs_f64() * 1e3;
            black_box(c);
            Ok(ms)
        };
        let progress = self.setting.lab.progress(format!("{name} on one thread"));
        let rounds = self.setting.lab.patience.rounds(&progress, &mut || in_turn(|| self.one_thread.install(run)))?;
        Ok(median(&rounds))
    }

    /// Products of all pairs of matrices and transposes whose sizes fit, as in the paper's
    /// figure 4.
    fn all_to_all(&self, report: &mut Report, subjects: &[Subject]) -> Vec<Timed> {
        let all: Vec<(String, &Csc<f64>)> = subjects
            .iter()
            .flat_map(|of| [(of.name.clone(), &of.scalars), (format!("{}ᵀ", of.name), &of.transposed)])
            .collect();
        let mut timed = Vec::new();
        for (one, a) in &all {
            for (other, b) in &all {
                let done = subjects.iter().any(|of| {
                    let same = |x: &Csc<f64>, y: &Csc<f64>| std::ptr::eq(x, y);
                    same(a, &of.scalars) && same(b, of.other().unwrap_or(&of.scalars))
                });
                if done || a.ncols() != b.nrows() || reference::products(*a, *b) > self.setting.most {
                    continue;
                }
                let name = format!("{one} · {other}");
                timed.extend(self.timed(report, [&name, "all to all"], a, Some(b)));
            }
        }
        timed
    }
}
