//! `tune --dense`: the numbers of products with dense matrices. The command times groups of lines
//! of every size with every number of staged entries, and lines that are multiplied one by one, and
//! verifies each result.
mod chosen;

use super::{Found, Tuned};
use crate::bench::dense::Operands;
use crate::failure::Failure;
use crate::messages::Messages;
use crate::patterns::{elements, side, space, uniform};
use crate::table;
use blockmul::{
    Csc, Device, Planned, Result, Semiring,
    dense::{AnyDense, Layout},
    device::DeviceKind,
    element::ElementType,
    extra::tuning,
    matrix::AnyMatrix,
    plan::{ApplyDense, DenseMethod},
};
use chosen::{Chosen, NEVER};
use serde::Serialize;
use std::time::Instant;

/// Lines of a group, and entries that are staged at once: p and b of Shi, Wang and Chu (2020).
const LINES: [usize; 6] = [1, 2, 4, 8, 16, 32];
const STAGED: [usize; 6] = [32, 64, 128, 256, 512, 1024];
/// The maximum numbers of lanes (work-items that share a line) that are timed. A limit of lanes
/// applies if neighbouring lines use many common rows of D.
const LANES: [usize; 3] = [8, 16, 32];
/// Columns of the dense matrix. Lanes are timed with `MANY_COLUMNS` columns, because with few
/// columns there is only one lane.
const COLUMNS: usize = 32;
const MANY_COLUMNS: usize = 128;
/// Number of timed rounds. The fastest round counts, because the others may have been disturbed.
/// The executions of a round are enqueued together.
const ROUNDS: usize = 5;
const TOGETHER: u32 = 3;

/// A family of matrices with about a given number of entries.
struct Family {
    name: &'static str,
    make: fn(entries: usize) -> Result<Csc<f64>>,
}

/// In the first family neighbouring lines have most of their places in common, in the second some,
/// and in the third none.
const FAMILIES: [Family; 3] = [
    Family { name: "elements of 3 unknowns", make: |entries| elements(side(entries / 63, 3), 3) },
    Family { name: "grid-27", make: |entries| space(side(entries / 27, 3)) },
    Family { name: "uniform-8", make: |entries| Ok(uniform(entries / 8, 8)?.0) },
];

/// The measurements, and the numbers that follow from them.
#[derive(Serialize)]
struct Outcome {
    device: String,
    element: &'static str,
    columns: usize,
    families: Vec<OfFamily>,
    numbers: Chosen,
}

/// The times of a family's matrix, in milliseconds.
#[derive(Serialize)]
struct OfFamily {
    family: &'static str,
    rows: usize,
    entries: usize,
    /// The times if lines are multiplied one by one: a time for each number of staged entries if
    /// several items share a line, otherwise a single time.
    rows_ms: Vec<f64>,
    groups: Vec<OfGroups>,
    /// The times with many columns, for each maximum number of lanes; empty if one item has all
    /// columns of a line.
    lanes_ms: Vec<f64>,
}

/// The times of groups of `lines` lines.
#[derive(Serialize)]
struct OfGroups {
    lines: usize,
    /// Number of times that a group uses a row of D which it loads, on average.
    reuse: f64,
    /// The times, one for each number of staged entries.
    ms: Vec<f64>,
}

/// Measures all families, and chooses the numbers.
pub fn tuned(
    element: ElementType,
    device: &Device,
    entries: Option<usize>,
    messages: &Messages,
) -> std::result::Result<Tuned, Failure> {
    let info = device.info();
    // On a CPU one item computes many lines, so smaller matrices keep the CPU busy.
    let entries = entries.unwrap_or(if info.kind == DeviceKind::Cpu { 1 << 20 } else { 1 << 23 });
    let families = FAMILIES.iter().map(|family| family.measure(element, device, entries, messages));
    let families = families.collect::<std::result::Result<Vec<_>, _>>()?;
    let numbers = Chosen::by(&families, info.numbers_by_name()["dense_common"]);
    let outcome = Outcome { device: info.name.clone(), element: element.name(), columns: COLUMNS, families, numbers };
    Ok(Tuned {
        json: serde_json::to_value(&outcome).expect("plain data"),
        table: outcome.table(),
        warnings: Vec::new(),
        found: Found::Numbers(outcome.numbers.named()),
    })
}

/// A matrix with its dense factor, and the expected result.
struct Subject<'a> {
    name: &'static str,
    device: &'a Device,
    messages: &'a Messages,
    a: &'a AnyMatrix,
    d: AnyDense,
    want: AnyDense,
}

impl Family {
    fn measure(
        &self,
        element: ElementType,
        device: &Device,
        entries: usize,
        messages: &Messages,
    ) -> std::result::Result<OfFamily, Failure> {
        messages.step(format!("{}: the reference", self.name));
        let a = AnyMatrix::from((self.make)(entries)?).cast(element).transpose()?.into_transpose();
        let most_lanes = device.info().numbers_by_name()["dense_lanes"];
        let subject = |columns| -> Result<Subject<'_>> {
            let Operands { d, want, .. } = Operands::new(Semiring::PlusTimes, &a, columns, Layout::ByRows)?;
            Ok(Subject { name: self.name, device, messages, a: &a, d, want })
        };
        let few = subject(COLUMNS)?;
        let staged = if most_lanes > 1 { &STAGED[..] } else { &STAGED[..1] };
        let by_rows = |&staged: &usize| few.time(DenseMethod::Rows, &[("dense_staged", staged)]);
        let rows_ms = staged.iter().map(by_rows).collect::<std::result::Result<_, _>>()?;
        let mut groups = Vec::new();
        for lines in LINES {
            let of_lines = STAGED
                .iter()
                .map(|&staged| few.time(DenseMethod::Gcoo, &[("dense_group_lines", lines), ("dense_staged", staged)]));
            let ms = of_lines.collect::<std::result::Result<_, _>>()?;
            groups.push(OfGroups { lines, reuse: reuse(&a, lines), ms });
        }
        let mut lanes_ms = Vec::new();
        if most_lanes > 1 {
            let many = subject(MANY_COLUMNS)?;
            for lanes in LANES {
                lanes_ms.push(many.time(DenseMethod::Rows, &[("dense_common_lanes", lanes.min(most_lanes))])?);
            }
        }
        let (rows, entries) = (a.nrows(), a.values().len());
        Ok(OfFamily { family: self.name, rows, entries, rows_ms, groups, lanes_ms })
    }
}

impl Subject<'_> {
    /// Milliseconds of a product with other numbers, on a device that is opened for them. Fails if
    /// a bit of the result differs from the reference.
    fn time(&self, method: DenseMethod, numbers: &[(&str, usize)]) -> std::result::Result<f64, Failure> {
        let info = self.device.info();
        let info = info.with_file(&tuning::merged_numbers("", info.kind, &info.name, numbers)?)?;
        let (all, columns) = (info.numbers_by_name(), self.d.shape().cols);
        let (lines, staged) = (all["dense_group_lines"], all["dense_staged"]);
        let what = || format!("{} by {method}, {lines} lines, {staged} staged, {columns} columns", self.name);
        self.messages.step(what());
        let device = Device::open(&info)?;
        self.messages.show_compiling(&device);
        let (a, d) = (device.upload(self.a)?, device.upload_any_dense(&self.d)?);
        let options = ApplyDense::of(&a, columns).method(method).layouts(Layout::ByRows, Layout::ByRows);
        let packed = options.pack(&a)?;
        let mut c = packed.output()?;
        packed.execute(&d, &mut c)?;
        if c.download()?.values().bytes() != self.want.values().bytes() {
            return Err(Failure::Verification(format!("{} does not have the bits of the reference", what())));
        }
        let mut least = f64::MAX;
        for _ in 0..ROUNDS {
            device.finish()?;
            let clock = Instant::now();
            (0..TOGETHER).try_for_each(|_| packed.execute(&d, &mut c).map(drop))?;
            device.finish()?;
            least = least.min(clock.elapsed().as_secs_f64() * 1e3 / f64::from(TOGETHER));
        }
        Ok(least)
    }
}

/// Returns the number of times that a group of `lines` rows uses a row of D which it loads, on
/// average.
fn reuse(a: &AnyMatrix, lines: usize) -> f64 {
    let pattern = a.pattern(); // its columns are the rows
    let mut loads = 0;
    for first in (0..pattern.ncols()).step_by(lines) {
        let rows = first..(first + lines).min(pattern.ncols());
        let mut places: Vec<u32> = rows.flat_map(|row| pattern.column(row).iter().copied()).collect();
        places.sort_unstable();
        places.dedup();
        loads += places.len();
    }
    pattern.nnz() as f64 / loads.max(1) as f64
}

impl Outcome {
    /// The times and the numbers, as text.
    fn table(&self) -> String {
        let mut lines = vec![format!(
            "milliseconds of A·D, {} columns of {} by rows, on {}",
            self.columns, self.element, self.device
        )];
        for of in &self.families {
            let header = ["lines of a group".to_owned(), "reuse".into()].into_iter();
            let header = header.chain(STAGED.iter().map(|staged| format!("{staged} staged")));
            let row = |names: [String; 2], ms: &[f64]| -> Vec<String> {
                names.into_iter().chain(ms.iter().map(|ms| format!("{ms:.3}"))).collect()
            };
            let groups = of.groups.iter();
            let groups = groups.map(|of| row([of.lines.to_string(), format!("{:.2}", of.reuse)], &of.ms));
            let table =
                table::plain(header, groups.chain([row(["by themselves".into(), String::new()], &of.rows_ms)]), 1..9);
            let size = format!("{}: {} rows, {} entries", of.family, of.rows, of.entries);
            lines.extend([String::new(), size, table]);
            if !of.lanes_ms.is_empty() {
                let of_lanes = LANES.iter().zip(&of.lanes_ms).map(|(lanes, ms)| format!("{lanes} lanes {ms:.3}"));
                let of_lanes: Vec<_> = of_lanes.collect();
                lines.push(format!("by themselves, {MANY_COLUMNS} columns: {}", of_lanes.join(", ")));
            }
        }
        lines.push(String::new());
        lines.extend(self.numbers.named().iter().map(|(name, number)| match (*name, *number) {
            ("dense_reuse_percent", NEVER) => format!("{name} = {NEVER}: groups are never taken"),
            _ => format!("{name} = {number}"),
        }));
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reuse_counts_different_places_of_a_group() -> Result<()> {
        let places = [(0, 1), (0, 3), (1, 1), (2, 0), (2, 1), (3, 3)];
        let a = Csc::from_triplets(4, 4, places.map(|(row, col)| (col, row, 1.0)))?;
        let a = AnyMatrix::from(a).into_transpose();
        assert_eq!([1, 2, 4].map(|lines| reuse(&a, lines)), [1.0, 6.0 / 5.0, 2.0]);
        Ok(())
    }
}
