//! Tables of mean speedups: by kind of matrix, by whether one work-item or a team for each row is
//! faster, and by the rule that cuts rows for HYB.
use super::published::By;
use super::tables::CLASSES;
use super::{RULES, Subject};
use crate::paper::report::{Report, counted, geometric_mean, mean, shown};
use blockmul::plan::{Format, Split};

/// Tables 1 to 8 by kind of matrix.
pub fn by_kind(report: &mut Report, element: &str, of: &[&Subject]) {
    report.say(&format!("## Speedup by kind of matrix, {element}"));
    report.say("Means over the sizes of a kind; the largest of a kind is bold.");
    let mut kinds: Vec<(String, Vec<&Subject>)> = Vec::new();
    for &subject in of {
        match kinds.iter_mut().find(|(kind, _)| *kind == subject.kind) {
            Some((_, alike)) => alike.push(subject),
            None => kinds.push((subject.kind.clone(), vec![subject])),
        }
    }
    speedups_by(report, "kind", &kinds);
}

/// A row for each group of matrices, with the mean speedups of formats and other libraries.
pub fn speedups_by(report: &mut Report, first: &str, groups: &[(String, Vec<&Subject>)]) {
    let ways = By::all(&groups.iter().flat_map(|(_, of)| of).copied().collect::<Vec<_>>());
    let row = |(name, of): &(String, Vec<&Subject>)| {
        let speedups = ways.iter().map(|way| mean(of.iter().filter_map(|of| way.speedup(of))));
        let speedups: Vec<_> = speedups.collect();
        let largest = speedups.iter().flatten().copied().reduce(f64::max);
        let cell = |&speedup: &Option<f64>| {
            let number = shown(speedup, 2);
            if speedup.is_some() && speedup == largest { format!("**{number}**") } else { number }
        };
        [vec![name.clone()], speedups.iter().map(cell).collect()].concat()
    };
    let header: Vec<&str> = [first].into_iter().chain(ways.iter().map(|way| way.name())).collect();
    report.table(&header, groups.iter().map(row));
}

/// CSR-Adaptive with a fixed order of sums, and as it was published.
const ADAPTIVE: [Format; 2] = [Format::CsrAdaptive, Format::CsrAdaptiveAtomic];

/// Figures 5c and 5d: the matrices on which a work-item for each row is faster than a team.
pub fn where_scalar_wins(report: &mut Report, element: &str, of: &[&Subject]) {
    report.say(&format!("## Where `csr-scalar` is faster than `csr-vector`, {element}"));
    report.say(
        "Mean speedups over one thread on these matrices alone. In the paper they are 33 % of the matrices in float \
         from 10,000 entries and 40 % from 100,000; CSR-Scalar has 8.57 there and CSR-Vector 4.80, and CSR-Adaptive, \
         here `csr-adaptive-atomic`, is faster than CSR-Scalar on all 291.",
    );
    let faster = |one: Format, other: Format| move |of: &Subject| Some(of.speedup(one)? > of.speedup(other)?);
    let row = |least: usize| {
        let measured = of.iter().filter(|of| of.entries >= least);
        let scalar_wins: Vec<_> =
            measured.filter_map(|of| Some((of, faster(Format::CsrScalar, Format::CsrVector)(of)?))).collect();
        let won: Vec<_> = scalar_wins.iter().filter(|(_, wins)| *wins).map(|(of, _)| *of).collect();
        let speedup = |format: Format| shown(mean(won.iter().filter_map(|of| of.speedup(format))), 2);
        let adaptive = ADAPTIVE.iter().flat_map(|&format| {
            let beats: Vec<_> = won.iter().filter_map(|of| faster(format, Format::CsrScalar)(of)).collect();
            let count = beats.iter().filter(|&&beats| beats).count();
            [speedup(format), format!("{count} of {}", beats.len())]
        });
        let on = format!("{} of {}", won.len(), scalar_wins.len());
        let first = [counted(least as f64), on, speedup(Format::CsrScalar), speedup(Format::CsrVector)];
        first.into_iter().chain(adaptive).collect()
    };
    let header = ["from entries", "matrices", "`csr-scalar`", "`csr-vector`"];
    let header =
        header.into_iter().chain(ADAPTIVE.iter().flat_map(|format| [format.name(), "faster than `csr-scalar` on"]));
    report.table(&header.collect::<Vec<_>>(), CLASSES.map(row));
}

/// HYB with a fixed order of sums, and with sums in the order of arrival.
pub const HYB: [Format; 2] = [Format::Hyb, Format::HybAtomic];

/// HYB with rows cut by each rule.
pub fn cuts(report: &mut Report, element: &str, of: &[&Subject]) {
    report.say(&format!("## Where HYB cuts rows, {element}"));
    report.say(
        "`bytes` is the width with the fewest bytes, as in the tables above; a number the part of the way from the \
         average row to the longest, of which the paper's program has 0, 0.35 and 0.7; `filled` is Bell and Garland's \
         rule, `quantile:0.8` and `capped` are Ginkgo's. Mean speedups over one thread, and the time over that of \
         `bytes` in the geometric mean.",
    );
    let rules = || [Split::default()].into_iter().chain(RULES);
    let row = |rule: Split| {
        let of_format = |format: Format| {
            let speedups = |least: usize| {
                let large = of.iter().filter(move |of| of.entries >= least);
                mean(large.filter_map(|of| Some(of.serial_ms / of.cut_ms(format, rule)?)))
            };
            let longer = |of: &&&Subject| Some(of.cut_ms(format, rule)? / of.cut_ms(format, Split::default())?);
            let is_best = |of: &&&Subject| {
                let ms = rules().filter_map(|other| of.cut_ms(format, other)).reduce(f64::min);
                ms.is_some() && ms == of.cut_ms(format, rule)
            };
            let best = of.iter().filter(is_best).count();
            let means = CLASSES.map(|least| shown(speedups(least), 2));
            let longer = shown(geometric_mean(of.iter().filter_map(|of| longer(&of))), 2);
            means.into_iter().chain([longer, best.to_string()])
        };
        [rule.to_string()].into_iter().chain(HYB.into_iter().flat_map(of_format)).collect()
    };
    let columns = |format: &Format| {
        let [small, large] = CLASSES.map(|least| format!("`{format}` from {}", counted(least as f64)));
        [small, large, "time / `bytes`".into(), "fastest on".into()]
    };
    let header: Vec<String> = ["rule".into()].into_iter().chain(HYB.iter().flat_map(columns)).collect();
    report.table(&header, rules().map(row));
}
