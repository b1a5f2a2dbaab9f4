//! The figures of the report.
use super::Subject;
use super::published::By;
use crate::chart::{Bars, Group, Plot, Series};
use crate::paper::report::Report;
use blockmul::plan::Format;
use blockmul_cli::failure::Failure;

/// The figures of speedups by their numbers in the paper. Each figure shows the paper's formats,
/// and some that the paper does not have.
const HISTOGRAMS: [(u8, &[By<'static>]); 5] = [
    (4, &[By::Format(Format::CsrScalar), By::Format(Format::Csr), By::Format(Format::Csc), By::Library("cusparse")]),
    (5, &[By::Format(Format::CsrVector), By::Format(Format::CsrShared)]),
    (6, &[By::Format(Format::CsrAdaptive), By::Format(Format::CsrAdaptiveAtomic)]),
    (
        7,
        &[
            By::Format(Format::Ell),
            By::Format(Format::SlicedEll),
            By::Format(Format::Coo),
            By::Format(Format::CooAtomic),
            By::Format(Format::SegmentedScan),
            By::Format(Format::Scoo),
            By::Format(Format::ScooAtomic),
        ],
    ),
    (8, &[By::Format(Format::Hyb), By::Format(Format::HybAtomic)]),
];

/// Formats that store a list of entries, each with its row.
const LISTS: [Format; 3] = [Format::Coo, Format::CooAtomic, Format::SegmentedScan];

/// Figures 4 to 8: how many matrices have which speedup.
pub fn histograms(report: &mut Report, element: &str, of: &[&Subject]) -> Result<(), Failure> {
    report.say(&format!("## Figures 4 to 8, {element}: matrices by speedup"));
    for (number, ways) in HISTOGRAMS {
        histogram(report, number, element, ways, of)?;
    }
    Ok(())
}

/// Draws one of the figures 4 to 8. A bar counts the matrices whose speedup is from the bar's
/// number to twice this number.
fn histogram(report: &mut Report, number: u8, element: &str, ways: &[By<'_>], of: &[&Subject]) -> Result<(), Failure> {
    let bars_of = |way: &By<'_>| -> (String, Vec<i32>) {
        let speedups = of.iter().filter_map(|subject| way.speedup(subject));
        (way.name().into(), speedups.map(|speedup| speedup.log2().floor() as i32).collect())
    };
    let found: Vec<_> = ways.iter().map(bars_of).filter(|(_, bars)| !bars.is_empty()).collect();
    let all = || found.iter().flat_map(|(_, bars)| bars).copied();
    let (Some(first), Some(last)) = (all().min(), all().max()) else { return Ok(()) };
    let group = |bar: i32| Group {
        name: if bar < 0 { format!("1/{}", 2f64.powi(-bar)) } else { 2f64.powi(bar).to_string() },
        numbers: found.iter().map(|(_, bars)| Some(bars.iter().filter(|&&one| one == bar).count() as f64)).collect(),
    };
    let (title, names) = (format!("speedup over one thread, {element}"), found.iter().map(|(name, _)| name));
    let chart = Bars::new(title, "matrices", names, (first..=last).map(group));
    let text =
        format!("Figure {number}: matrices by speedup over one thread; a bar leads from its number to the next.");
    report.figure(&format!("speedup-{number}-{element}.png"), &text, chart.encode())
}

/// Figure 7: the speed of the formats that are lists of entries, over the mean length of rows.
pub fn lists(report: &mut Report, element: &str, of: &[&Subject]) -> Result<(), Failure> {
    report.say(&format!("## Figure 7, {element}: entries one by one"));
    let points = |format: Format| {
        let point = |subject: &&Subject| {
            let rate = 2.0 * subject.entries as f64 / subject.time(format)?.ms / 1e6;
            (subject.entries > 0).then(|| [subject.entries as f64 / subject.rows as f64, rate])
        };
        of.iter().filter_map(point).collect()
    };
    let series = LISTS.map(|format| Series::dots(format.name(), points(format))).into();
    let plot = Plot::new("speed by entries of a row", [("entries of a row", true), ("GFLOP/s", true)], series);
    report.figure(&format!("figure-7-{element}.png"), "Speed of lists of entries by the mean row.", plot.encode())
}
