//! The tables of the report.
use super::figures;
use super::matrices::TABLE_III;
use super::operand::REFERENCE_PRODUCTS;
use super::ways::Way;
use super::{Bytes, Kind, Setting, Subject};
use crate::paper::report::{Report, counted, mean, shown};
use blockmul::plan::DenseMethod;
use blockmul_cli::failure::Failure;

/// Fractions of zeros in Figures 10 to 12.
const BY_SIDE: [f64; 2] = [0.98, 0.995];

/// Writes the report.
pub fn write(
    setting: &Setting<'_>,
    report: &mut Report,
    subjects: &[Subject],
    copy_gb_s: f64,
    sides: &[usize],
) -> Result<(), Failure> {
    let what = "Measurements of S. Shi, Q. Wang, X. Chu, *Efficient Sparse-Dense Matrix-Matrix Multiplication on GPUs \
                Using the Customized Sparse Storage Format*, 2020";
    let how = format!(
        "Medians of up to {} rounds; A, D and C are on the device, D and C by rows, D with as many columns as A if no \
         table says otherwise. A's values are in the order of the method. `gcoo` is the paper's; `rows` takes each row by \
         itself. As many columns of a result as fit 2^{} products are compared with the reference bit for bit, of the \
         matrices here {}; all of the second method's result is compared with the first's. Figures are of {}, as the \
         paper's.",
        setting.lab.patience.rounds,
        REFERENCE_PRODUCTS.ilog2(),
        compared(subjects),
        figures::ELEMENT,
    );
    report.begin(setting, "Sparse times dense", what, &how);
    report.libraries(subjects.iter().flat_map(|of| of.products.iter().chain(&of.gemm).chain(&of.conversions)));
    for element in ["f32", "f64"] {
        let of: Vec<&Subject> = subjects.iter().filter(|subject| subject.element == element).collect();
        let random: Vec<&Subject> = of.iter().copied().filter(|subject| subject.kind == Kind::Random).collect();
        let others: Vec<&Subject> = of.iter().copied().filter(|subject| subject.kind != Kind::Random).collect();
        if element == figures::ELEMENT && !of.is_empty() {
            report.say(&format!("## Figure 1, {element}: operational intensity"));
            figures::roofline(report, copy_gb_s, &of)?;
        }
        if !others.is_empty() {
            memory(report, element, &others);
            ratios(report, ("4", "matrices of many kinds"), element, &others)?;
            kinds(report, element, &others)?;
        }
        if !random.is_empty() {
            ratios(report, ("6", "random squares"), element, &random)?;
        }
        by_zeros(report, element, &random, sides)?;
        if element == figures::ELEMENT {
            by_side(report, &random)?;
        }
        conversions(report, element, &random)?;
    }
    report.differences();
    Ok(())
}

/// Says how many columns were compared with the reference.
fn compared(subjects: &[Subject]) -> String {
    let part = |subject: &Subject| subject.compared as f64 / subject.columns.max(1) as f64;
    let whole = subjects.iter().filter(|subject| subject.compared == subject.columns).count();
    let least = subjects.iter().map(part).fold(1.0, f64::min);
    match whole == subjects.len() {
        true => "all columns".into(),
        false => {
            format!("all columns of {whole} of {}, and {:.2} % or more of the others", subjects.len(), 100.0 * least)
        }
    }
}

/// Table I: memory of the formats.
fn memory(report: &mut Report, element: &str, of: &[&Subject]) {
    report.say(&format!("## Table I, {element}: memory"));
    report.say(
        "Bytes of A in coordinates, 8 and an element for each entry; and those that the device holds of compressed rows \
         and of groups, whose entries have a byte for their row, each array rounded up as the pool of memory does.",
    );
    let row = |subject: &&Subject| {
        let coo = subject.entries as f64 * (8.0 + subject.element_bytes());
        let of = |bytes: fn(&Bytes) -> u64| shown(subject.bytes.as_ref().map(|of| bytes(of) as f64), 0);
        let ratio = subject.bytes.map(|bytes| bytes.gcoo as f64 / bytes.csr as f64);
        vec![
            subject.matrix.clone(),
            counted(subject.entries as f64),
            format!("{coo:.0}"),
            of(|bytes| bytes.csr),
            of(|bytes| bytes.gcoo),
            shown(ratio, 2),
        ]
    };
    let header = ["matrix", "entries", "COO", "CSR", "GCOO", "GCOO / CSR"];
    report.table(&header, of.iter().map(row));
}

/// Figures 4 and 6: how much longer other methods and libraries take.
fn ratios(report: &mut Report, (number, what): (&str, &str), element: &str, of: &[&Subject]) -> Result<(), Failure> {
    report.say(&format!("## Figure {number}, {element}: {what}"));
    let mut rows = Vec::new();
    for &method in DenseMethod::ALL.iter().rev() {
        for other in Way::others(method, of) {
            let ratios: Vec<f64> = of.iter().filter_map(|subject| other.ratio(method, subject)).collect();
            let faster = ratios.iter().filter(|&&ratio| ratio > 1.0).count();
            rows.push(vec![
                format!("`{method}` against {}", other.name()),
                ratios.len().to_string(),
                shown((!ratios.is_empty()).then(|| 100.0 * faster as f64 / ratios.len() as f64), 1),
                shown(mean(ratios.iter().copied()), 2),
                shown(ratios.iter().copied().reduce(f64::min), 2),
                shown(ratios.iter().copied().reduce(f64::max), 2),
            ]);
        }
    }
    report.table(&["time of the other / time", "matrices", "faster on, %", "mean", "least", "most"], rows);
    if element == figures::ELEMENT {
        figures::histogram(report, number, of)?
    }
    Ok(())
}

/// Table III and Figure 5.
fn kinds(report: &mut Report, element: &str, of: &[&Subject]) -> Result<(), Failure> {
    report.say(&format!("## Table III and Figure 5, {element}"));
    report.say("GFLOP/s are those of the entries: 2 entries x columns of D / time.");
    let ways = Way::all(of);
    let row = |subject: &&Subject| {
        let model = TABLE_III.iter().find(|model| subject.kind == Kind::Model && model.name == subject.matrix);
        let mut row = vec![
            model.map_or(subject.matrix.clone(), |model| format!("{}: {}", model.name, model.what)),
            counted(subject.rows as f64),
            shown(Some(subject.entries as f64 / subject.rows.max(1) as f64), 1),
            subject.columns.to_string(),
        ];
        row.extend(DenseMethod::ALL.iter().map(|&method| shown(subject.ms(method), 3)));
        row.extend(ways.iter().map(|way| shown(way.rate(subject), 1)));
        row
    };
    let mut header: Vec<String> = ["matrix", "rows", "entries a row", "columns of D"].map(String::from).into();
    header.extend(DenseMethod::ALL.iter().map(|method| format!("{method} ms")));
    header.extend(ways.iter().map(|way| format!("{} GFLOP/s", way.name())));
    report.table(&header, of.iter().map(row));
    if element == figures::ELEMENT {
        figures::kinds(report, of)?
    }
    Ok(())
}

/// Figures 7 to 9: time by sparsity. It also writes the sparsity from which a product of dense
/// matrices is slower than sparse methods.
fn by_zeros(report: &mut Report, element: &str, of: &[&Subject], sides: &[usize]) -> Result<(), Failure> {
    if sides.is_empty() {
        return Ok(());
    }
    report.say(&format!("## Figures 7 to 9, {element}: time by sparsity"));
    let ways = Way::all(of);
    for &side in sides {
        let of_side: Vec<&Subject> = of.iter().copied().filter(|subject| subject.rows == side).collect();
        report.say(&format!("n = {side}, milliseconds:"));
        let row = |subject: &&Subject| {
            let mut row = vec![shown(Some(subject.zeros), 4), counted(subject.entries as f64)];
            row.extend(ways.iter().map(|way| shown(way.ms(subject), 3)));
            row.push(shown(subject.gemm_ms(), 3));
            row
        };
        let mut header = vec!["zeros", "entries"];
        header.extend(ways.iter().map(|way| way.name()));
        header.push("dense product");
        report.table(&header, of_side.iter().map(row));
        if of_side.iter().all(|subject| subject.gemm_ms().is_none()) {
            report.say(
                "There is no time of a product of dense matrices: blockmul has none, and none from `--peers` is of these \
                 matrices, so where it becomes slower is not known.",
            );
        } else {
            let from = |way: &Way<'_>| {
                let points = of_side.iter().filter_map(|of| Some((of.zeros, way.ms(of)?, of.gemm_ms()?)));
                let from = crossover(points.collect()).map_or("nowhere".into(), |zeros| format!("from {zeros:.4}"));
                match way {
                    Way::Method(method) => format!("`{method}` {from}"),
                    Way::Library(library) => format!("{library} {from}"),
                }
            };
            let named: Vec<String> = ways.iter().map(from).collect();
            report.say(&format!(
                "Faster than the product of dense matrices, of the sparsities measured: {}. In the paper GCOOSpDM from \
                 0.98, cuSPARSE from 0.995.",
                named.join(", ")
            ));
        }
        if element == figures::ELEMENT {
            figures::by_zeros(report, side, &of_side)?;
        }
    }
    Ok(())
}

/// Returns the least fraction of zeros for which the first time is below the second, at this
/// fraction and at all larger ones.
fn crossover(mut points: Vec<(f64, f64, f64)>) -> Option<f64> {
    points.sort_by(|one, other| other.0.total_cmp(&one.0));
    points.iter().take_while(|(_, ms, dense_ms)| ms < dense_ms).last().map(|point| point.0)
}

/// Figures 10 to 12: speed by the side.
fn by_side(report: &mut Report, random: &[&Subject]) -> Result<(), Failure> {
    report.say(&format!("## Figures 10 to 12, {}: speed by size", figures::ELEMENT));
    for zeros in BY_SIDE {
        let ending = format!("_{zeros}");
        let of: Vec<&Subject> = random.iter().copied().filter(|subject| subject.matrix.ends_with(&ending)).collect();
        match of.len() {
            0 | 1 => report.say(&format!("{zeros} of zeros: fewer than two sizes have so few products.")),
            _ => figures::by_side(report, zeros, &of)?,
        }
    }
    Ok(())
}

/// Figure 13: the conversion of A from a dense matrix, beside the product.
fn conversions(report: &mut Report, element: &str, of: &[&Subject]) -> Result<(), Failure> {
    let of: Vec<&Subject> = of.iter().copied().filter(|subject| subject.conversion_ms.is_some()).collect();
    if of.is_empty() {
        return Ok(());
    }
    report.say(&format!("## Figure 13, {element}: conversion and product"));
    report.say(
        "Milliseconds from the dense A on the device to groups there (EO: counts, a scan, memory, entries), and of the \
         products by `gcoo` (KC) and by `rows`. The groups of `gcoo` are made from CSR, in the time of the plan. All times \
         are medians.",
    );
    let row = |subject: &&Subject| {
        let (extra, kernel) = (subject.conversion_ms, subject.ms(DenseMethod::Gcoo));
        let plan = subject.methods.iter().find(|time| time.method == DenseMethod::Gcoo).map(|time| time.plan_ms);
        let peer = subject.conversions.iter().filter_map(|peer| peer.right_ms()).reduce(f64::min);
        vec![
            format!("n = {}", subject.rows),
            shown(Some(subject.zeros), 4),
            shown(extra, 3),
            shown(kernel, 3),
            shown(plan, 3),
            shown(extra.zip(kernel).map(|(extra, kernel)| 100.0 * extra / kernel), 1),
            shown(subject.ms(DenseMethod::Rows), 3),
            shown(peer, 3),
        ]
    };
    let header = ["square", "zeros", "EO", "KC", "plan", "EO / KC, %", "`rows`", "EO of another library"];
    report.table(&header, of.iter().map(row));
    if element == figures::ELEMENT {
        figures::conversions(report, &of)?
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crossover_is_where_all_sparser_ones_are_faster() {
        let at = |times: [f64; 4]| {
            crossover([0.8, 0.9, 0.98, 0.99].into_iter().zip(times).map(|(zeros, ms)| (zeros, ms, 5.0)).collect())
        };
        assert_eq!(at([9.0, 6.0, 4.0, 2.0]), Some(0.98));
        assert_eq!(at([4.0, 6.0, 4.0, 2.0]), Some(0.98));
        assert_eq!(at([4.0, 3.0, 2.0, 1.0]), Some(0.8));
        assert_eq!(at([4.0, 3.0, 2.0, 5.0]), None);
    }
}
