//! Table 9 and figures 8c and 8d: nine matrices of the Florida collection, or generated matrices in
//! their place. A file that has the name of one of the nine replaces the generated matrix.
use super::kinds::speedups_by;
use super::published::TABLES;
use super::{Matrix, Subject};
use crate::chart::{Bars, Group};
use crate::paper::models::Model;
use crate::paper::report::{Report, shown};
use crate::patterns::{Circuit, cavity, chains, circuit, film, mesh, power_network, stages, units};
use crate::regret::formats::longest_column;
use blockmul::Result;
use blockmul_cli::failure::Failure;
use blockmul_cli::spy;
use serde::Serialize;

/// Maximum number of pixels on a side of a picture.
const PICTURE: usize = 400;

/// One of the paper's nine matrices. `size` has the numbers of rows and of stored entries in the
/// collection's index. Explicit zeros count as entries.
pub type Selected = Model<[usize; 2]>;

/// The matrices whose structures the paper shows.
pub const TABLE_9: [Selected; 9] = [
    Selected::like("airfoil_2d", "two rings of a triangulated mesh", [14_214, 259_688], mesh),
    Selected::like("cage10", "chains that creep through a gel", [11_397, 150_645], chains),
    Selected::like("hvdc1", "power network", [24_842, 159_981], power_network),
    Selected::like("coater2", "elements of a film", [9540, 207_308], film),
    Selected::like("lhr07", "stages of a chemical plant", [7337, 156_508], stages),
    Selected::like("cavity21", "elements of a driven cavity", [4562, 138_187], cavity),
    Selected::like("ASIC_100ks", "circuit", [99_190, 578_890], |rows| {
        circuit(rows, Circuit { devices: 245, longest: 200, power: 13 })
    }),
    Selected::like("scircuit", "circuit", [170_998, 958_936], |rows| {
        circuit(rows, Circuit { devices: 233, longest: 350, power: 10 })
    }),
    Selected::like("Zd_Jac3_db", "units of a chemical plant", [22_835, 713_907], units),
];

/// Generates matrices in place of the nine. Each has about as many rows as the paper's matrix, but
/// at most about `most` entries.
pub fn stand_ins(most: usize) -> Result<Vec<Matrix>> {
    let made = |of: &Selected| {
        let rows = of.size[0].min(most * of.size[0] / of.size[1]);
        Ok(Matrix { name: of.stand_in(), kind: of.what.into(), block: 1, a: (of.make)(rows)? })
    };
    TABLE_9.iter().map(made).collect()
}

/// Whether a matrix is generated in place of one that is among the files of these names.
pub fn is_replaced(matrix: &Matrix, files: &[String]) -> bool {
    TABLE_9.iter().any(|of| of.stand_in() == matrix.name && files.iter().any(|file| file == of.name))
}

impl Selected {
    /// The matrix of Table 9 with this name. The matrix of Table 9 that the generated matrix of
    /// this name replaces.
    fn of(matrix: &str) -> Option<&'static Self> {
        TABLE_9.iter().find(|of| of.is_of(matrix))
    }
}

/// A measured matrix that is one of the paper's nine, or was generated instead of one of them.
#[derive(Serialize)]
pub struct Row {
    /// The matrix in the paper, with its rows and stored entries in the collection.
    selected: &'static str,
    collection_rows: usize,
    collection_entries: usize,
    /// The matrix that was measured: a file or a generated matrix.
    matrix: String,
    what: String,
    rows: usize,
    entries: usize,
    longest_row: usize,
    /// File name of the picture.
    picture: String,
    #[serde(skip)]
    png: Vec<u8>,
}

impl Row {
    /// Returns the row of a matrix in Table 9, with its picture. The function returns `None` if the
    /// matrix is none of the nine.
    pub fn of(matrix: &Matrix) -> Result<Option<Self>> {
        let Some(of) = Selected::of(&matrix.name) else { return Ok(None) };
        let by_rows = matrix.a.try_transpose()?;
        Ok(Some(Self {
            selected: of.name,
            collection_rows: of.size[0],
            collection_entries: of.size[1],
            matrix: matrix.name.clone(),
            what: if matrix.name == of.name { "a file".into() } else { matrix.kind.clone() },
            rows: matrix.a.nrows(),
            entries: matrix.a.nnz(),
            longest_row: longest_column(by_rows.pattern()),
            picture: format!("table-9-{}.png", of.name),
            png: spy::picture(&matrix.a, PICTURE)?,
        }))
    }
}

/// Writes Table 9: the matrices and their pictures.
pub fn structures(report: &mut Report, rows: Vec<Row>) -> std::result::Result<(), Failure> {
    if rows.is_empty() {
        return Ok(());
    }
    report.say("## Table 9: selected matrices");
    report.say(
        "A matrix whose name begins with *like* is generated: it has the kind of the collection's, and about as many \
         rows and entries unless `--max-products` allows fewer. A file of the collection's name takes its place. Entries \
         are those of the collection's index and its explicit zeros, as files have them; lengths of rows are not there.",
    );
    let cells = |row: &Row| {
        let mean = |entries: usize, rows: usize| shown(Some(entries as f64 / rows.max(1) as f64), 1);
        let size = |rows: usize, entries: usize| [rows.to_string(), entries.to_string(), mean(entries, rows)];
        let of_collection = size(row.collection_rows, row.collection_entries);
        let names = [row.selected.to_owned()].into_iter().chain(of_collection).chain([row.what.clone()]);
        names.chain(size(row.rows, row.entries)).chain([row.longest_row.to_string()]).collect()
    };
    let header =
        ["of the collection", "rows", "entries", "a row", "measured", "rows", "entries", "a row", "longest row"];
    report.table(&header, rows.iter().map(cells));
    report.keep("table_9", &rows);
    for Row { matrix, what, picture, png, .. } in rows {
        report.figure(&picture, &format!("{matrix}: {what}."), Ok(png))?;
    }
    Ok(())
}

/// Figure 8c or 8d: the speedups of the selected matrices.
pub fn speedups(report: &mut Report, element: &str, of: &[&Subject]) -> std::result::Result<(), Failure> {
    let of: Vec<&Subject> = of.iter().copied().filter(|of| Selected::of(&of.matrix).is_some()).collect();
    if of.is_empty() {
        return Ok(());
    }
    let part = if element == "f32" { "8c" } else { "8d" };
    report.say(&format!("## Figure {part}, {element}: speedup for the selected matrices"));
    report.say("Over one thread; the largest of a matrix is bold. The chart has the formats of the paper.");
    let groups: Vec<_> = of.iter().map(|&subject| (subject.matrix.clone(), vec![subject])).collect();
    speedups_by(report, "matrix", &groups);
    let ways = || TABLES.iter().map(|table| table.by).filter(|by| of.iter().any(|of| by.speedup(of).is_some()));
    let group = |subject: &&Subject| Group {
        name: Selected::of(&subject.matrix).map_or("", |of| of.name).into(),
        numbers: ways().map(|by| by.speedup(subject)).collect(),
    };
    let title = format!("speedup over one thread, {element}");
    let chart = Bars::new(title, "speedup", ways().map(|by| by.name()), of.iter().map(group)).log();
    let text = format!("Figure {part}: speedup for the selected matrices.");
    report.figure(&format!("figure-{part}.png"), &text, chart.encode())
}

/// Lists the selected matrices whose fastest format in f32 is not the fastest in f64.
pub fn leaders(report: &mut Report, of: &[Subject]) {
    let in_type = |element| of.iter().filter(move |of| of.element == element && Selected::of(&of.matrix).is_some());
    let pairs = in_type("f32").filter_map(|of| {
        Some((of.times.fastest()?, in_type("f64").find(|other| other.matrix == of.matrix)?.times.fastest()?))
    });
    let pairs: Vec<_> = pairs.collect();
    let changed = pairs.iter().filter(|(of_f32, of_f64)| of_f32.format != of_f64.format).count();
    if !pairs.is_empty() {
        let total = pairs.len();
        report.say(&format!(
            "Of the selected matrices {changed} of {total} have another fastest format in f64 than in f32."
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_ins_have_about_the_rows_and_the_entries() -> Result<()> {
        for (of, matrix) in TABLE_9.iter().zip(stand_ins(1_000_000)?) {
            let near = |have: usize, want: usize, part: f64| (have as f64 / want as f64 - 1.0).abs() < part;
            let (rows, entries) = (matrix.a.nrows(), matrix.a.nnz());
            assert!(near(rows, of.size[0], 0.005) && near(entries, of.size[1], 0.04), "{}: {rows}, {entries}", of.name);
            assert_eq!(rows, matrix.a.ncols(), "{}", of.name);
        }
        for (of, matrix) in TABLE_9.iter().zip(stand_ins(4000)?) {
            assert!((500..6000).contains(&matrix.a.nnz()), "{}: {}", of.name, matrix.a.nnz());
        }
        Ok(())
    }

    #[test]
    fn a_file_takes_the_place_of_what_stands_for_it() -> Result<()> {
        let files = ["hvdc1".to_owned(), "g".to_owned()];
        let left: Vec<_> = stand_ins(1000)?.into_iter().filter(|matrix| !is_replaced(matrix, &files)).collect();
        assert!(left.len() == 8 && left.iter().all(|matrix| matrix.name != "like hvdc1"));
        assert_eq!(["hvdc1", "like hvdc1", "hvdc2"].map(|name| Selected::of(name).is_some()), [true, true, false]);
        Ok(())
    }
}
