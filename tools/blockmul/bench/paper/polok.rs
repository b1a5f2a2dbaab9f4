//! Polok, Ila, Smrz: Fast Sparse Matrix Multiplication on GPU, 2015. Table 1 and figures 1, 3, 4, 5.
use super::super::contest::{Contest, Entrant, Variant};
use super::super::matrices::{Input, Source};
use super::models;
use super::report::{Report, counted, shown};
use super::{Setting, peers::Peer};
use crate::chart::{Bars, Group, Plot, Series};
use crate::failure::Failure;
use blockmul::{BlockShape, Cbc, Csc, Method, Result, generate::Random, reference};
use serde::Serialize;

/// Sides of the blocks that replace each entry in figure 5.
const SIDES: [usize; 6] = [1, 2, 3, 4, 6, 8];
/// Matrices of figure 5.
const IN_BLOCKS: usize = 4;
/// Floating-point operations from which a product counts as one of a saturated device.
const SATURATED: f64 = 1e6;

/// A matrix, as scalars and in its own blocks.
struct Subject {
    name: String,
    scalars: Csc<f64>,
    transposed: Csc<f64>,
    blocks: Cbc<f64>,
}

/// A product in blocks of one side.
#[derive(Serialize)]
struct InBlocks {
    side: usize,
    flops: u64,
    #[serde(flatten)]
    contest: Contest,
}

/// Writes the report of the paper's measurements.
pub fn study(setting: &Setting<'_>, report: &mut Report) -> std::result::Result<(), Failure> {
    let variants = [Method::Auto, setting.esc()].map(Variant::of);
    let subjects = subjects(setting, report)?;
    report.say("# Fast Sparse Matrix Multiplication on GPU, again");
    let info = setting.device.info();
    report.say(&format!(
        "Measurements of L. Polok, V. Ila, P. Smrz, *Fast Sparse Matrix Multiplication on GPU*, 2015, with blockmul {} \
         on {} ({}). f64; medians of up to {} rounds; operands and C are on the device; every product is the \
         reference's bit for bit. ESC is `{}` forced, auto the choice of methods.",
        env!("CARGO_PKG_VERSION"),
        info.name,
        info.platform,
        setting.bench.patience.rounds,
        setting.esc(),
    ));
    let squares: Vec<Contest> = subjects.iter().filter_map(|of| square(setting, report, of, &variants)).collect();
    let own_blocks: Vec<Contest> =
        subjects.iter().filter_map(|of| in_own_blocks(setting, report, of, &variants)).collect();
    table(setting, report, &squares, &own_blocks);
    let others = all_to_all(setting, report, &subjects, &variants);
    stages(setting, report, &squares)?;
    scaling(setting, report, &squares, &others)?;
    let blocks = of_sides(setting, report, &subjects, &variants)?;
    report.say("[docs/papers.md](https://docs.rs/crate/blockmul/latest/source/docs/papers.md) says where this differs from the paper, and why.");
    for (name, contests) in [("table_1", &squares), ("own_blocks", &own_blocks), ("all_to_all", &others)] {
        report.keep(name, contests);
    }
    report.keep("figure_5", blocks);
    report.keep("peers", squares.iter().flat_map(|of| setting.peers.of(&of.matrix)).collect::<Vec<&Peer>>());
    Ok(())
}

/// The files, or generated matrices. What cannot be read is reported.
fn subjects(setting: &Setting<'_>, report: &mut Report) -> std::result::Result<Vec<Subject>, Failure> {
    let inputs = match &setting.args.inputs[..] {
        [] => models::polok(setting.most).iter().map(|name| Input::parse(name).expect("a family")).collect(),
        files => files.to_vec(),
    };
    let subject = |input: &Input| -> std::result::Result<Subject, Failure> {
        let source = Source::open(input, None, setting.bench.messages)?;
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
    /// B of A·B: A itself if it is square, else its transpose.
    fn other(&self) -> Option<&Csc<f64>> {
        (self.scalars.nrows() != self.scalars.ncols()).then_some(&self.transposed)
    }
}

fn square(setting: &Setting<'_>, report: &mut Report, of: &Subject, variants: &[Variant]) -> Option<Contest> {
    setting.scalars(report, [&of.name, &of.name], (&of.scalars, of.other()), variants)
}

fn in_own_blocks(setting: &Setting<'_>, report: &mut Report, of: &Subject, variants: &[Variant]) -> Option<Contest> {
    let (shape, square) = (of.blocks.shape(), of.other().is_none());
    if shape == BlockShape::SCALAR || (square && shape.rows() != shape.cols()) {
        return None;
    }
    let transposed = (!square).then(|| of.blocks.transpose());
    setting.blocks(report, &of.name, (&of.blocks, transposed.as_ref()), variants)
}

/// Multiplications and additions of scalars, as the paper counts.
fn flop(contest: &Contest) -> f64 {
    (2 * contest.products - contest.c_nnz.min(2 * contest.products)) as f64
}

fn entrant(contest: &Contest, method: Method) -> Option<&Entrant> {
    contest.entrants.iter().find(|entrant| entrant.method == method)
}

fn ms(contest: &Contest, method: Method) -> Option<f64> {
    entrant(contest, method).and_then(|entrant| entrant.ms)
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
        let (auto, esc) = (of.auto_ms(), ms(of, setting.esc()));
        let blocks = own_blocks.iter().find(|blocks| blocks.matrix == of.matrix).and_then(Contest::auto_ms);
        let fastest = blocks.into_iter().chain(auto).reduce(f64::min);
        let peer = |library: &&str| setting.peers.ms(library, &of.matrix);
        let over = |other: Option<f64>| shown(other.zip(fastest).map(|(other, ours)| other / ours), 2);
        let mut row = vec![of.matrix.clone(), shown(of.a.mean_row(), 3), counted(flop(of))];
        row.extend([esc, auto, blocks].into_iter().chain(libraries.iter().map(peer)).map(|ms| shown(ms, 3)));
        row.push(shown(auto.map(|ms| flop(of) / ms / 1e3), 1));
        row.push(shown(esc.zip(auto).map(|(esc, auto)| esc / auto), 2));
        row.extend(libraries.iter().map(|library| over(peer(library))));
        row
    });
    let rows: Vec<_> = rows.collect();
    report.say("## Table 1");
    report.say(
        "C = A·A, A·Aᵀ if A is not square, as scalars. FLOP counts multiplications and additions, 2 · products - \
         nnz(C). × is how many times longer the other takes than the faster of auto and auto in the file's own blocks.",
    );
    report.table(&header, &rows);
    let peers: Vec<&Peer> = squares.iter().flat_map(|of| setting.peers.of(&of.matrix)).collect();
    report.say(&peers_text(&peers));
}

/// The libraries that stand in the tables.
pub fn peers_text(peers: &[&Peer]) -> String {
    let mut names: Vec<String> = peers.iter().map(|peer| peer.what()).collect();
    names.sort();
    names.dedup();
    match names[..] {
        [] => "No other library was given with `--peers`, or none had these matrices.".into(),
        _ => format!("Other libraries, each by its fastest variant, from `--peers`: {}.", names.join("; ")),
    }
}

/// Products of all matrices and their transposes that fit, as in the paper's figure 4.
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
            contests.extend(setting.scalars(report, [&name, "all to all"], (a, Some(b)), variants));
        }
    }
    contests
}

/// Figure 1: the share of each stage of ESC.
fn stages(setting: &Setting<'_>, report: &mut Report, squares: &[Contest]) -> std::result::Result<(), Failure> {
    report.say("## Figure 1: stages of ESC");
    let mut sorted: Vec<&Contest> = squares.iter().collect();
    sorted.sort_by(|one, other| flop(one).total_cmp(&flop(other)));
    let picture = shares(
        "time of the stages of ESC, %",
        sorted.iter().filter_map(|of| Some((of.matrix.as_str(), entrant(of, setting.esc())?))),
    );
    report.figure(
        "figure-1.png",
        "Share of each stage in the busy time of ESC; products by ascending FLOP.",
        picture.encode(),
    )
}

/// The shares of stages as bars.
pub fn shares<'e>(title: &str, entrants: impl Iterator<Item = (&'e str, &'e Entrant)>) -> Bars {
    let entrants: Vec<_> = entrants.collect();
    let mut parts: Vec<String> = Vec::new();
    for stage in entrants.iter().flat_map(|(_, entrant)| &entrant.stages).filter(|stage| stage.ms.is_some()) {
        if !parts.iter().any(|part| part == stage.name) {
            parts.push(stage.name.into());
        }
    }
    let group = |(name, entrant): &(&str, &Entrant)| {
        let of = |part: &String| entrant.stages.iter().find(|stage| stage.name == part).and_then(|stage| stage.ms);
        let times: Vec<Option<f64>> = parts.iter().map(of).collect();
        let all: f64 = times.iter().flatten().sum();
        Group { name: (*name).into(), numbers: times.iter().map(|ms| ms.map(|ms| 100.0 * ms / all)).collect() }
    };
    let groups = entrants.iter().map(group).collect();
    Bars { title: title.into(), label: "%".into(), parts, groups, stacked: true, log: false }
}

/// Figures 3 and 4: expansion, and time over FLOP.
fn scaling(
    setting: &Setting<'_>,
    report: &mut Report,
    squares: &[Contest],
    others: &[Contest],
) -> std::result::Result<(), Failure> {
    let all = || squares.iter().chain(others);
    report.say("## Figure 3: expansion factor");
    let expansion = all().filter(|of| of.c_nnz > 0).map(|of| [of.c_nnz as f64, of.products as f64 / of.c_nnz as f64]);
    let series = vec![Series::dots("products", expansion.collect())];
    let plot =
        Plot::new("expansion factor by entries of C", [("entries of C", true), ("products / entries", true)], series);
    report.figure("figure-3.png", "Products for each entry of C, all-to-all.", plot.encode())?;

    report.say("## Figure 4: time over FLOP");
    let times = |method: Method| all().filter_map(|of| Some([flop(of), ms(of, method)?])).collect::<Vec<_>>();
    let mut series = vec![Series::dots("auto", times(Method::Auto)), Series::dots("ESC", times(setting.esc()))];
    for library in setting.peers.libraries() {
        let points = squares.iter().filter_map(|of| Some([flop(of), setting.peers.ms(library, &of.matrix)?]));
        series.push(Series::dots(library, points.collect()));
    }
    let costs: Vec<(String, Option<f64>)> = series.iter().map(|of| (of.name.clone(), slope(&of.points))).collect();
    let plot = Plot::new("time over FLOP", [("FLOP", true), ("ms", true)], series);
    report.figure("figure-4.png", "All-to-all products of the matrices and their transposes.", plot.encode())?;
    let rows: Vec<_> =
        costs.iter().map(|(name, cost)| vec![name.clone(), shown(cost.map(|cost| cost * 1e6), 4)]).collect();
    report.say("Saturated costs by least squares over the products of at least 1 MFLOP:");
    report.table(&["", "ms / MFLOP"], &rows);
    report.keep(
        "saturated_ms_per_mflop",
        costs.iter().map(|(name, cost)| (name, cost.map(|cost| cost * 1e6))).collect::<Vec<_>>(),
    );
    Ok(())
}

/// The slope of the line of least squares through large products. Two at least.
fn slope(points: &[[f64; 2]]) -> Option<f64> {
    let large: Vec<_> = points.iter().filter(|point| point[0] >= SATURATED).collect();
    let mean = |at: usize| large.iter().map(|point| point[at]).sum::<f64>() / large.len() as f64;
    let (x, y) = (mean(0), mean(1));
    let of = |at: usize, other: f64| large.iter().map(|point| (point[0] - x) * (point[at] - other)).sum::<f64>();
    let (squares, products) = (of(0, x), of(1, y));
    (large.len() > 1 && squares > 0.0).then_some(products / squares)
}

/// Figure 5: each entry of the first matrices replaced by a dense block.
fn of_sides(
    setting: &Setting<'_>,
    report: &mut Report,
    subjects: &[Subject],
    variants: &[Variant],
) -> std::result::Result<Vec<InBlocks>, Failure> {
    let mut all = Vec::new();
    let mut series = Vec::new();
    for of in subjects.iter().take(IN_BLOCKS) {
        let mut points = Vec::new();
        for side in SIDES {
            let name = format!("{} in {side}x{side}", of.name);
            let dense = match dense(&of.blocks, side) {
                Ok(dense) => dense,
                Err(error) => {
                    setting.note(report, &name, error);
                    continue;
                }
            };
            let transposed = of.other().is_some().then(|| dense.transpose());
            let Some(contest) = setting.blocks(report, &name, (&dense, transposed.as_ref()), variants) else {
                continue;
            };
            let flops = 2 * contest.products * (side * side * side) as u64;
            points.extend(contest.auto_ms().map(|ms| [side as f64, flops as f64 / ms / 1e6]));
            all.push(InBlocks { side, flops, contest });
        }
        series.push(Series::line(of.name.clone(), points));
    }
    report.say("## Figure 5: rate over block size");
    let plot = Plot::new("rate over block size", [("side of a block", false), ("Gflop/s", true)], series);
    let text = "auto, with each entry (block) of the first four matrices replaced by a dense block. Two operations for each product of elements.";
    report.figure("figure-5.png", text, plot.encode())?;
    Ok(all)
}

/// The same pattern of blocks with dense blocks of another side.
fn dense(blocks: &Cbc<f64>, side: usize) -> Result<Cbc<f64>> {
    let random = &mut Random::new(1);
    let pattern = blocks.pattern().clone();
    let values = (0..pattern.nnz() * side * side).map(|_| 2.0 * random.unit() - 1.0).collect();
    Cbc::new(pattern, BlockShape::new(side, side)?, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_that_of_large_products() {
        let line = [[1e6, 5.0], [2e6, 8.0], [3e6, 11.0], [10.0, 99.0]];
        assert!((slope(&line).unwrap() - 3e-6).abs() < 1e-15);
        assert_eq!((slope(&line[..1]), slope(&[])), (None, None));
    }
}
