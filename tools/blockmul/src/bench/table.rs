//! The records as text: one row each, then the stages.
use super::record::{Record, Stage};
use crate::table::{count, named, number};

/// The table of records, with the stages of each record if requested or if there is only one.
pub fn text(records: &[Record], with_stages: bool) -> String {
    let mut parts = vec![products(records)];
    if with_stages || records.len() == 1 {
        parts.extend(records.iter().filter(|record| !record.stages.is_empty()).map(stages));
    }
    parts.join("\n\n")
}

fn products(records: &[Record]) -> String {
    let rows = records.iter().map(|record| {
        [
            ("matrix", record.matrix.clone()),
            ("block", record.block()),
            ("element", record.element.into()),
            ("variant", record.variant()),
            ("device", record.place()),
            ("products", count(record.products)),
            ("nnz(C)", count(record.c_nnz as u64)),
            ("plan ms", number(record.plan_ms, 3)),
            ("ms", number(record.ms, 3)),
            ("spread %", number(record.spread().map(|part| 100.0 * part), 1)),
            ("Gflop/s", number(record.gflops, 2)),
            ("GB/s", number(record.gb_s, 3)),
            ("of a copy", number(record.of_copy, 3)),
            ("launches", count(record.launches.into())),
            ("verified", if record.verified { "yes" } else { "NO" }.into()),
        ]
    });
    named(5, rows)
}

fn stages(record: &Record) -> String {
    let sum: f64 = record.stages.iter().filter_map(|stage| stage.ms).sum();
    let row = |stage: Option<&Stage>| {
        let of = |shown: &dyn Fn(&Stage) -> String| stage.map_or(String::new(), shown);
        let share = |ms: f64| (sum > 0.0).then_some(100.0 * ms / sum);
        [
            ("stage", stage.map_or("(all stages)", |stage| stage.name).into()),
            ("ms", number(stage.map_or((sum > 0.0).then_some(sum), |stage| stage.ms), 3)),
            ("%", of(&|stage| number(stage.ms.and_then(share), 0))),
            ("MB at least", of(&|stage| number(stage.bytes.map(|bytes| bytes as f64 / 1e6), 2))),
            ("GB/s", of(&|stage| number(stage.gb_s, 2))),
            ("of a copy", of(&|stage| number(stage.of_copy, 3))),
            ("launches", of(&|stage| count(stage.launches.into()))),
        ]
    };
    format!(
        "{} on {}, which copies {} GB/s\n{}",
        record.what(),
        record.device,
        number(record.copy_gb_s, 1),
        named(1, record.stages.iter().map(Some).chain([None]).map(row))
    )
}
