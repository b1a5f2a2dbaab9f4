//! The matrices of a linearised problem by name, on the host, for files and pictures.
use crate::failure::Failure;
use crate::messages::Messages;
use blockmul::solver::{least_squares::Normal, problem::Linearization};
use blockmul::{Bsr, Cbc, Csc, DeviceMatrix, Matrix, Result, matrix::AnyMatrix, product::Weights};
use std::path::PathBuf;

/// The argument `NAME=FILE`.
#[derive(Clone)]
pub struct Wanted {
    pub name: String,
    pub path: PathBuf,
}

impl std::str::FromStr for Wanted {
    type Err = String;
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text.split_once('=') {
            Some((name, path)) if !name.is_empty() && !path.is_empty() => {
                Ok(Self { name: name.to_owned(), path: path.into() })
            }
            _ => Err("NAME=FILE is wanted, as in W=W.mtx".into()),
        }
    }
}

/// The names of a linearization's matrices.
pub fn names(linearization: &Linearization) -> Vec<&'static str> {
    let (j, mut names) = (linearization.jacobian(), vec!["H", "J"]);
    if j.col_groups().len() == 2 {
        names.extend(["U", "W", "V"]);
    }
    match (j.row_groups().len(), j.col_groups().len(), linearization.weights()) {
        (1, 2, None) => names.extend(["Jc", "Jp"]),
        (1, _, Some(_)) => names.push("Omega"),
        _ => {}
    }
    names
}

/// Writes the wanted matrices.
pub fn write(
    wanted: &[Wanted],
    linearization: &Linearization,
    normal: &Normal,
    messages: &Messages,
) -> std::result::Result<(), Failure> {
    for Wanted { name, path } in wanted {
        crate::input::write(path, &of_name(name, linearization, normal)?, messages)?;
    }
    Ok(())
}

/// Refuses a name that this problem does not have.
pub fn check(wanted: &[Wanted], linearization: &Linearization) -> std::result::Result<(), Failure> {
    let names = names(linearization);
    match wanted.iter().find(|wanted| !names.contains(&wanted.name.as_str())) {
        Some(Wanted { name, .. }) => {
            Err(Failure::Usage(format!("this problem has no matrix {name}; it has {}", names.join(", "))))
        }
        None => Ok(()),
    }
}

/// A matrix by its name; symmetric ones in full.
pub fn of_name(name: &str, linearization: &Linearization, normal: &Normal) -> Result<AnyMatrix> {
    let j = linearization.jacobian();
    let cell = |row: usize, col: usize| Ok(by_columns(j.get(row, col).expect("a cell of J"))?.into());
    match (name, linearization.weights()) {
        ("Jc", _) => cell(0, 0),
        ("Jp", _) => cell(0, 1),
        ("J", _) if j.row_groups().len() == 1 && j.col_groups().len() == 1 => cell(0, 0),
        ("J", _) => {
            let starts = |groups: &[blockmul::groups::Group]| starts(groups.iter().map(|group| group.scalars()));
            let (rows, cols) = (starts(j.row_groups()), starts(j.col_groups()));
            let mut all = Scalars::new(rows[rows.len() - 1], cols[cols.len() - 1]);
            for (row, first_row) in rows.iter().enumerate().take(j.row_groups().len()) {
                for (col, first_col) in cols.iter().enumerate().take(j.col_groups().len()) {
                    if let Some(cell) = j.get(row, col) {
                        all.add(&by_columns(cell)?, (*first_row, *first_col));
                    }
                }
            }
            Ok(all.finish()?.into())
        }
        ("Omega", Some(weights)) => match weights[0] {
            Weights::Information(information) | Weights::Scaled { information, .. } => {
                Ok(by_columns(information)?.into())
            }
            _ => unreachable!("information matrices"),
        },
        ("U" | "W" | "V", _) => {
            let [u, w, v] = normal.parts().expect("two groups of unknowns");
            match name {
                "U" => Ok(mirrored(&u.download()?)?.into()),
                "W" => Ok(w.download()?.into()),
                _ => Ok(v.download()?.into()),
            }
        }
        _ => hessian(normal),
    }
}

fn hessian(normal: &Normal) -> Result<AnyMatrix> {
    let Some([u, w, v]) = normal.parts() else {
        let stored = normal.h().get(0, 0).expect("one group of unknowns").as_transpose().download()?;
        return Ok(mirrored(&stored)?.into());
    };
    let (u, w, v) = (mirrored(&u.download()?)?, w.download()?, v.download()?);
    let at = u.scalar_rows();
    let mut all = Scalars::new(at + v.scalar_rows(), at + v.scalar_rows());
    all.add(&u, (0, 0));
    all.add(&w, (0, at));
    all.add(&w.transpose(), (at, 0));
    all.add(&v, (at, at));
    Ok(all.finish()?.into())
}

/// The matrix in blocks by columns, as most formats have them.
fn by_columns(m: &DeviceMatrix<Bsr<f64>>) -> Result<Cbc<f64>> {
    Ok(m.as_transpose().download()?.transpose())
}

/// A symmetric matrix in full, from one stored triangle of blocks.
pub fn mirrored(triangle: &Cbc<f64>) -> Result<Cbc<f64>> {
    let stored = triangle.blocks().map(|(row, col, block)| (row, col, block.into_owned()));
    let mirrored = triangle.blocks().filter(|(row, col, _)| row != col);
    let mirrored = mirrored.map(|(row, col, block)| (col, row, block.transpose()));
    Cbc::from_triplets(triangle.nrows(), triangle.ncols(), triangle.shape(), stored.chain(mirrored))
}

/// Where each of some parts begins, and where the last ends.
fn starts(sizes: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut starts = vec![0];
    for size in sizes {
        starts.push(starts[starts.len() - 1] + size);
    }
    starts
}

/// A scalar matrix assembled from others at given places.
pub struct Scalars {
    sides: (usize, usize),
    entries: Vec<(usize, usize, f64)>,
}

impl Scalars {
    pub fn new(rows: usize, cols: usize) -> Self {
        Self { sides: (rows, cols), entries: Vec::new() }
    }

    pub fn add(&mut self, m: &Cbc<f64>, (row, col): (usize, usize)) {
        let scalars = m.to_scalars();
        for column in 0..scalars.ncols() {
            let entries = scalars.pattern().entries(column);
            let rows = scalars.pattern().column(column).iter().zip(&scalars.values()[entries]);
            self.entries.extend(rows.map(|(&r, &value)| (row + r as usize, col + column, value)));
        }
    }

    pub fn finish(self) -> Result<Csc<f64>> {
        Csc::from_triplets(self.sides.0, self.sides.1, self.entries)
    }
}

/// The blocks in words, such as `49 blocks of 9x9`.
pub fn describe_blocks<M: Matrix>(m: &DeviceMatrix<M>) -> String {
    format!("{} blocks of {}", m.nnz(), m.shape())
}
