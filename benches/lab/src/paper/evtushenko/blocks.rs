//! Matrices of blocks, in the formats that blocks have. The paper leaves formats of blocks to
//! future work (section 3).
use super::{Subject, formats};
use crate::paper::report::{Report, counted, shown};
use blockmul::plan::Format;

/// The formats that are timed for blocks.
pub fn of_blocks() -> impl Iterator<Item = Format> {
    formats().filter(|format| format.has_blocks())
}

/// The speedups of matrices of blocks, beside those of the same matrices as scalars.
pub fn speedups(report: &mut Report, element: &str, of: &[&Subject]) {
    let row = |subject: &&Subject| {
        let blocks = subject.of_blocks.as_ref()?;
        let faster = |ms: Option<f64>| shown(ms.map(|ms| subject.serial_ms / ms), 2);
        let block = format!("{0}x{0}", blocks.side);
        let scalars = subject.times.fastest();
        let first = [subject.matrix.clone(), block, counted(subject.entries as f64)];
        let speedups = of_blocks().map(|format| faster(blocks.times.of(format).map(|time| time.ms)));
        let fastest = [scalars.map_or("-".into(), |time| time.format.to_string()), faster(scalars.map(|time| time.ms))];
        Some(first.into_iter().chain(speedups).chain(fastest).collect())
    };
    let rows: Vec<Vec<String>> = of.iter().filter_map(row).collect();
    if rows.is_empty() {
        return;
    }
    report.say(&format!("## Section 3, {element}: formats of blocks"));
    report.say(
        "Speedup over one thread with compressed rows of scalars. The last two columns have the fastest format of the \
         same matrix as scalars.",
    );
    let header = ["matrix", "blocks", "entries"].into_iter().chain(of_blocks().map(Format::name));
    let header: Vec<&str> = header.chain(["fastest of scalars", "its speedup"]).collect();
    report.table(&header, rows);
}
