//! Figures 1, 3, 4 and 5: stages, expansion, time by operations, and rate by block size.
use super::super::Setting;
use super::super::report::{Report, shown};
use super::{Subject, Timed, flop};
use crate::chart::{Bars, Group, Plot, Series};
use crate::regret::methods::{Contest, Entrant, Variant};
use blockmul::{BlockShape, Cbc, Method, Result, generate::Random};
use blockmul_cli::failure::Failure;
use serde::Serialize;

/// Sides of the blocks that replace the entries in figure 5.
const SIDES: [usize; 6] = [1, 2, 3, 4, 6, 8];
/// Number of matrices in figure 5.
const IN_BLOCKS: usize = 4;
/// C may take the memory of the device divided by this number. On a CPU the same memory also has to
/// hold the reference's C, the C that is compared with it, and the operand pairs.
const PART_OF_C: u64 = 4;
/// A product with at least this many floating-point operations keeps the device busy.
const SATURATED: f64 = 1e6;
/// The slope is computed only if the largest of the products has this many times the operations of
/// the smallest.
const SPREAD: f64 = 3.0;

/// A product of matrices of blocks of side `side`.
#[derive(Serialize)]
pub struct InBlocks {
    side: usize,
    flops: u64,
    #[serde(flatten)]
    contest: Contest,
}

/// Figure 1: the share of each stage of ESC.
pub fn stages(setting: &Setting<'_>, report: &mut Report, squares: &[Timed]) -> std::result::Result<(), Failure> {
    report.say("## Figure 1: stages of ESC");
    let mut sorted: Vec<&Contest> = squares.iter().map(|of| &of.contest).collect();
    sorted.sort_by(|one, other| flop(one).total_cmp(&flop(other)));
    let picture = shares(
        "time of the stages of ESC, %",
        sorted.iter().filter_map(|of| Some((of.matrix.as_str(), of.entrant(setting.esc())?))),
    );
    report.figure(
        "figure-1.png",
        "Share of each stage in the busy time of ESC; products by ascending FLOP.",
        picture.encode(),
    )
}

/// Draws the shares of stages as bars.
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
    Bars::new(title, "%", &parts, entrants.iter().map(group)).stacked()
}

/// Figures 3 and 4: expansion, and time by FLOP.
pub fn scaling(
    setting: &Setting<'_>,
    report: &mut Report,
    squares: &[Timed],
    others: &[Timed],
) -> std::result::Result<(), Failure> {
    let timed = || squares.iter().chain(others);
    let all = || timed().map(|of| &of.contest);
    report.say("## Figure 3: expansion factor");
    let expansion = all().filter(|of| of.c_nnz > 0).map(|of| [of.c_nnz as f64, of.products as f64 / of.c_nnz as f64]);
    let series = vec![Series::dots("products", expansion.collect())];
    let plot =
        Plot::new("expansion factor by entries of C", [("entries of C", true), ("products / entries", true)], series);
    report.figure("figure-3.png", "Products for each entry of C, all-to-all.", plot.encode())?;

    report.say("## Figure 4: time over FLOP");
    let times = |method: Method| all().filter_map(|of| Some([flop(of), of.ms(method)?])).collect::<Vec<_>>();
    let mut series = vec![Series::dots("auto", times(Method::Auto)), Series::dots("ESC", times(setting.esc()))];
    let serial = timed().filter_map(|of| Some([flop(&of.contest), of.serial_ms?]));
    series.push(Series::dots("serial", serial.collect()));
    for library in setting.peers.libraries() {
        let of_squares = squares.iter().map(|of| &of.contest);
        let points = of_squares.filter_map(|of| Some([flop(of), setting.peers.ms(library, &of.matrix)?]));
        series.push(Series::dots(library, points.collect()));
    }
    let costs: Vec<(String, Option<f64>)> = series.iter().map(|of| (of.name.clone(), slope(&of.points))).collect();
    let plot = Plot::new("time over FLOP", [("FLOP", true), ("ms", true)], series);
    report.figure("figure-4.png", "All-to-all products of the matrices and their transposes.", plot.encode())?;
    let rows: Vec<_> =
        costs.iter().map(|(name, cost)| vec![name.clone(), shown(cost.map(|cost| cost * 1e6), 4)]).collect();
    report.say(
        "Saturated costs by least squares over the products of at least 1 MFLOP, if there are three, and one of them is \
         three times as large as another:",
    );
    report.table(&["", "ms / MFLOP"], rows);
    report.keep(
        "saturated_ms_per_mflop",
        costs.iter().map(|(name, cost)| (name, cost.map(|cost| cost * 1e6))).collect::<Vec<_>>(),
    );
    Ok(())
}

/// The slope of the least-squares line through large products. The slope would be noise, and is
/// `None`, for fewer than three large products, or if the largest is less than `SPREAD` times the
/// smallest.
fn slope(points: &[[f64; 2]]) -> Option<f64> {
    let large: Vec<_> = points.iter().filter(|point| point[0] >= SATURATED).collect();
    let mean = |at: usize| large.iter().map(|point| point[at]).sum::<f64>() / large.len() as f64;
    let (x, y) = (mean(0), mean(1));
    let of = |at: usize, other: f64| large.iter().map(|point| (point[0] - x) * (point[at] - other)).sum::<f64>();
    let (squares, products) = (of(0, x), of(1, y));
    let sizes = large.iter().map(|point| point[0]);
    let spread = sizes.clone().fold(0.0, f64::max) / sizes.fold(f64::MAX, f64::min);
    (large.len() >= 3 && spread >= SPREAD).then_some(products / squares)
}

/// Figure 5: the first matrices, with each entry replaced by a dense block.
pub fn of_sides(
    setting: &Setting<'_>,
    report: &mut Report,
    subjects: &[Subject],
    variants: &[Variant],
) -> std::result::Result<Vec<InBlocks>, Failure> {
    let mut all = Vec::new();
    let (mut series, mut rows) = (Vec::new(), Vec::new());
    let mut left_out = Vec::new();
    for of in subjects.iter().take(IN_BLOCKS) {
        let mut rates = [(Method::Auto, Vec::new()), (setting.esc(), Vec::new())];
        let mut c_nnz = 0;
        for side in SIDES {
            let name = format!("{} in {side}x{side}", of.name);
            let (c_bytes, most) = (c_nnz * (side * side * 8) as u64, setting.device.info().global_bytes / PART_OF_C);
            if c_bytes > most {
                left_out.push(format!("{name} ({} GB)", c_bytes.div_ceil(1_000_000_000)));
                continue;
            }
            let dense = match dense(&of.blocks, side) {
                Ok(dense) => dense,
                Err(error) => {
                    setting.note(report, &name, error);
                    continue;
                }
            };
            let transposed = of.other().is_some().then(|| dense.transpose());
            let Some(contest) = setting.contest(report, [&name; 2], &dense, transposed.as_ref(), variants) else {
                continue;
            };
            c_nnz = contest.c_nnz;
            let flops = 2 * contest.products * (side * side * side) as u64;
            for (method, points) in &mut rates {
                points.extend(contest.ms(*method).map(|ms| [side as f64, flops as f64 / ms / 1e6]));
            }
            all.push(InBlocks { side, flops, contest });
        }
        for ((_, points), name) in rates.into_iter().zip([of.name.clone(), format!("{}, ESC", of.name)]) {
            let rate = |side: &usize| points.iter().find(|[at, _]| *at == *side as f64).map(|[_, rate]| *rate);
            rows.push([name.clone()].into_iter().chain(SIDES.iter().map(|side| shown(rate(side), 2))).collect());
            series.push(Series::line(name, points));
        }
    }
    report.say("## Figure 5: rate over block size");
    let plot = Plot::new("rate over block size", [("side of a block", false), ("Gflop/s", true)], series);
    let text = "auto and blockwise ESC, with each entry (block) of the first four matrices replaced by a dense block. Two \
                operations for each product of elements.";
    report.figure("figure-5.png", text, plot.encode())?;
    let sides = SIDES.map(|side| format!("{side}x{side}"));
    let header: Vec<&str> = std::iter::once("Gflop/s").chain(sides.iter().map(String::as_str)).collect();
    report.table(&header, rows);
    if !left_out.is_empty() {
        report.say(&format!(
            "Left out, because C would take more than a part in {PART_OF_C} of the device's memory: {}.",
            left_out.join(", ")
        ));
    }
    Ok(all)
}

/// A matrix of blocks with the pattern of a given matrix, and random blocks of another side.
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
        assert_eq!((slope(&line[..2]), slope(&[])), (None, None));
        assert_eq!(slope(&[[2e6, 1.0], [2.1e6, 5.0], [2.2e6, 2.0]]), None, "all of one size");
    }
}
