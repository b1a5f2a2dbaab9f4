//! Tables of text, without lines.
use comfy_table::{CellAlignment, Table, presets};

/// The text of a cell that has no number.
pub const NOTHING: &str = "-";

pub fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or(NOTHING.into(), |value| format!("{value:.digits$}"))
}

pub fn count(number: u64) -> String {
    if number > 0 { number.to_string() } else { NOTHING.into() }
}

/// A table, with a header if there are names. The columns in `numbers` are right-aligned.
pub fn plain<R: IntoIterator<Item = String>>(
    header: impl IntoIterator<Item = impl ToString>,
    rows: impl IntoIterator<Item = R>,
    numbers: impl IntoIterator<Item = usize>,
) -> String {
    let header: Vec<String> = header.into_iter().map(|name| name.to_string()).collect();
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    if !header.is_empty() {
        table.set_header(header);
    }
    for row in rows {
        table.add_row(row);
    }
    for column in numbers {
        if let Some(cells) = table.column_mut(column) {
            cells.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// A table whose rows are pairs of a header and a cell. Columns from `numbers` on are
/// right-aligned; columns that are empty in every row are left out.
pub fn named<const N: usize>(numbers: usize, rows: impl Iterator<Item = [(&'static str, String); N]>) -> String {
    let rows: Vec<_> = rows.collect();
    let is_empty = |column: &usize| rows.iter().all(|row| [NOTHING, ""].contains(&row[*column].1.as_str()));
    let columns: Vec<usize> = (0..N).filter(|column| !is_empty(column)).collect();
    let header = rows.first().map(|row| columns.iter().map(|&column| row[column].0)).into_iter().flatten();
    let cells = rows.iter().map(|row| columns.iter().map(|&column| row[column].1.clone()));
    plain(header, cells, columns.iter().filter(|&&column| column < numbers).count()..N)
}
