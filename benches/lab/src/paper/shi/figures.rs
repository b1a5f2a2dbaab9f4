//! The figures of the report, in the paper's element type. The tables have both types.
use super::Subject;
use super::ways::Way;
use crate::chart::{Bars, Group, Plot, Series};
use crate::paper::{peers::Peer, report::Report};
use blockmul::plan::DenseMethod;
use blockmul_cli::failure::Failure;

/// Width of a bar of Figures 4 and 6. The last bar of a histogram counts all ratios from `LAST` on.
const STEP: f64 = 0.2;
const LAST: f64 = 2.0;

/// The element type of the paper, in which the figures are drawn.
pub const ELEMENT: &str = "f32";

/// Figures 4 and 6: the ratios of other methods' times to the time of `gcoo`, as histograms.
pub fn histogram(report: &mut Report, number: &str, of: &[&Subject]) -> Result<(), Failure> {
    let rivals = Way::others(DenseMethod::Gcoo, of);
    let bars = (LAST / STEP).round() as usize;
    let bar = |ratio: f64| ((ratio / STEP) as usize).min(bars);
    let group = |at: usize| {
        let count = |rival: &Way<'_>| {
            let ratios = of.iter().filter_map(|subject| rival.ratio(DenseMethod::Gcoo, subject));
            Some(ratios.filter(|&ratio| bar(ratio) == at).count() as f64)
        };
        let last = if at == bars { "+" } else { "" };
        Group { name: format!("{:.1}{last}", at as f64 * STEP), numbers: rivals.iter().map(count).collect() }
    };
    let (title, names) = (format!("time of others / time of gcoo, {ELEMENT}"), rivals.iter().map(|rival| rival.name()));
    let chart = Bars::new(title, "matrices", names, (0..=bars).map(group));
    let text = "Matrices by how many times longer others take than gcoo; a bar begins at its number.";
    report.figure(&format!("figure-{number}.png"), text, chart.encode())
}

/// Figure 5: the speed of each matrix.
pub fn kinds(report: &mut Report, of: &[&Subject]) -> Result<(), Failure> {
    let ways = Way::all(of);
    let group = |subject: &&Subject| Group {
        name: subject.matrix.clone(),
        numbers: ways.iter().map(|way| way.rate(subject)).collect(),
    };
    let (title, names) = (format!("speed by matrix, {ELEMENT}"), ways.iter().map(|way| way.name()));
    let chart = Bars::new(title, "GFLOP/s", names, of.iter().map(group)).log();
    report.figure("figure-5.png", "Speed of matrices of many kinds.", chart.encode())
}

/// A line of the plot for each method and library. `point` gives the point of a matrix and its time
/// in ms, or `None` if the matrix is left out.
fn lines(of: &[&Subject], point: impl Fn(&Subject, Option<f64>) -> Option<[f64; 2]>) -> Vec<Series> {
    let line = |way: Way<'_>| {
        let points = of.iter().filter_map(|subject| point(subject, way.ms(subject)));
        Series::line(way.name(), points.collect())
    };
    Way::all(of).into_iter().map(line).collect()
}

/// Figures 7 to 9: time by density. The axis of densities is logarithmic, so that the sparsest
/// matrices lie apart.
pub fn by_zeros(report: &mut Report, side: usize, of: &[&Subject]) -> Result<(), Failure> {
    let point = |subject: &Subject, ms: Option<f64>| Some([subject.density()?, ms?]);
    let mut series = lines(of, point);
    let dense: Vec<[f64; 2]> = of.iter().filter_map(|subject| point(subject, subject.gemm_ms())).collect();
    if !dense.is_empty() {
        series.push(Series::line("dense product", dense));
    }
    let axes = [("entries / elements of A", true), ("ms", true)];
    let plot = Plot::new(&format!("n = {side}, {ELEMENT}"), axes, series);
    let text = format!("Time by the part of A's elements that are not zeros, n = {side}.");
    report.figure(&format!("figure-7-{side}.png"), &text, plot.encode())
}

/// Figures 10 to 12: speed by the side of A.
pub fn by_side(report: &mut Report, zeros: f64, of: &[&Subject]) -> Result<(), Failure> {
    let rate = |subject: &Subject, ms: Option<f64>| Some([subject.rows as f64, subject.rate(ms)?]);
    let mut series = lines(of, rate);
    let dense: Vec<[f64; 2]> = of.iter().filter_map(|subject| rate(subject, subject.gemm_ms())).collect();
    if !dense.is_empty() {
        series.push(Series::line("dense product", dense));
    }
    let plot = Plot::new(&format!("{zeros} of zeros, {ELEMENT}"), [("n", true), ("GFLOP/s", true)], series);
    let text = format!("Speed by the side of squares with {zeros} of zeros, counting the entries alone.");
    report.figure(&format!("figure-10-{zeros}.png"), &text, plot.encode())
}

/// Figure 1: speed by operations for each byte, below the limit of the device's bandwidth for
/// copies.
pub fn roofline(report: &mut Report, copy_gb_s: f64, of: &[&Subject]) -> Result<(), Failure> {
    let point = |subject: &Subject, ms: Option<f64>| Some([subject.intensity(), subject.rate(ms)?]);
    let mut series: Vec<Series> =
        lines(of, point).into_iter().map(|of| Series::dots(of.name.as_str(), of.points)).collect();
    let gemm: Vec<[f64; 2]> = of.iter().filter_map(|subject| subject.gemm_point()).collect();
    if !gemm.is_empty() {
        series.push(Series::dots("dense product, zeros counted", gemm));
    }
    let places = series.iter().flat_map(|of| &of.points).map(|point| point[0]);
    let ends = places.fold([f64::MAX, 0.0], |[least, most]: [f64; 2], place| [least.min(place), most.max(place)]);
    if ends[1] > 0.0 {
        series.push(Series::line("copy", ends.map(|place| [place, place * copy_gb_s]).into()));
    }
    let axes = [("operations / byte of A, D, C", true), ("GFLOP/s", true)];
    let plot = Plot::new(&format!("operational intensity and speed, {ELEMENT}"), axes, series);
    let text = format!(
        "Speed by operations for each byte of A, D and C, each moved once; the line is what copies of {copy_gb_s:.0} GB/s \
         allow."
    );
    report.figure("figure-1.png", &text, plot.encode())
}

/// Figure 13: the times of conversion and product, also of other libraries.
pub fn conversions(report: &mut Report, of: &[&Subject]) -> Result<(), Failure> {
    let groups = |subject: &&Subject| {
        let square = format!("{} {:.2}", subject.rows, subject.zeros);
        let own = ("gcoo".to_owned(), subject.conversion_ms, subject.ms(DenseMethod::Gcoo));
        let of_library = |peer: &Peer| (peer.library.clone(), peer.right_ms(), subject.peer_ms(&peer.library));
        let others = subject.conversions.iter().map(of_library);
        let group = |(name, extra, kernel): (String, Option<f64>, Option<f64>)| Group {
            name: format!("{square} {name}"),
            numbers: vec![extra, kernel],
        };
        std::iter::once(own).chain(others).map(group).collect::<Vec<_>>()
    };
    let (title, parts) = (format!("conversion and product, {ELEMENT}"), ["EO: conversion", "KC: product"]);
    let chart = Bars::new(title, "ms", parts, of.iter().flat_map(groups)).stacked();
    let text = "Conversion from a dense A, and the product, by n, part of zeros and library.";
    report.figure("figure-13.png", text, chart.encode())
}
