//! The records as text: one row each, then the stages.
use super::record::{Record, Stage};
use comfy_table::{CellAlignment, Table, presets};

/// The table of records, with the stages of each record if requested or if there is only one.
pub fn text(records: &[Record], with_stages: bool) -> String {
    let mut parts = vec![products(records)];
    if with_stages || records.len() == 1 {
        parts.extend(records.iter().filter(|record| !record.stages.is_empty()).map(stages));
    }
    parts.join("\n\n")
}

fn products(records: &[Record]) -> String {
    let header = [
        "matrix",
        "block",
        "element",
        "variant",
        "device",
        "products",
        "nnz(C)",
        "plan ms",
        "ms",
        "spread %",
        "Gflop/s",
        "GB/s",
        "of a copy",
        "launches",
        "verified",
    ];
    let rows = records.iter().map(|record| {
        let sizes = &record.sizes;
        [
            sizes.matrix.clone(),
            sizes.block(),
            sizes.element.into(),
            record.variant(),
            sizes.place(),
            count(record.products),
            count(sizes.c_nnz as u64),
            number(record.plan_ms, 3),
            number(record.ms, 3),
            number(record.spread().map(|part| 100.0 * part), 1),
            number(record.gflops, 2),
            number(record.gb_s, 3),
            number(record.of_copy, 3),
            count(record.launches.into()),
            if record.verified { "yes" } else { "NO" }.into(),
        ]
    });
    table(header, 5, rows)
}

fn stages(record: &Record) -> String {
    let sum: f64 = record.stages.iter().filter_map(|stage| stage.ms).sum();
    let row = |stage: &Stage| {
        let share = stage.ms.filter(|_| sum > 0.0).map(|ms| 100.0 * ms / sum);
        [
            stage.name.into(),
            number(stage.ms, 3),
            number(share, 0),
            number(stage.bytes.map(|bytes| bytes as f64 / 1e6), 2),
            number(stage.gb_s, 2),
            number(stage.of_copy, 3),
            count(stage.launches.into()),
        ]
    };
    let of_stages = (sum > 0.0).then_some(sum);
    let rest = ["(all stages)".into(), number(of_stages, 3), "".into(), "".into(), "".into(), "".into(), "".into()];
    let header = ["stage", "ms", "%", "MB at least", "GB/s", "of a copy", "launches"];
    let sizes = &record.sizes;
    format!(
        "{} on {}, which copies {} GB/s\n{}",
        sizes.what(),
        sizes.device,
        number(sizes.copy_gb_s, 1),
        table(header, 1, record.stages.iter().map(row).chain([rest]))
    )
}

/// A table whose columns from `numbers` on are right-aligned. Columns in which no row has anything
/// are left out.
pub fn table<const N: usize>(header: [&str; N], numbers: usize, rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<_> = rows.collect();
    let empty = |column: &usize| rows.iter().all(|row| [NOTHING, ""].contains(&row[*column].as_str()));
    let columns: Vec<usize> = (0..N).filter(|column| !empty(column)).collect();
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(columns.iter().map(|&column| header[column]));
    for row in &rows {
        table.add_row(columns.iter().map(|&column| &row[column]));
    }
    for (cells, column) in table.column_iter_mut().zip(columns) {
        if column >= numbers {
            cells.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// A cell without a number.
pub const NOTHING: &str = "-";

pub fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or(NOTHING.into(), |value| format!("{value:.digits$}"))
}

pub fn count(number: u64) -> String {
    if number > 0 { number.to_string() } else { NOTHING.into() }
}
