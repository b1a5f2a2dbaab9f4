//! The matrices of a linearised problem by name, on the host, for files and pictures.
use crate::failure::Failure;
use crate::messages::Messages;
use blockmul::solver::{least_squares::Normal, problem::Linearization};
use blockmul::{Bsr, Cbc, DeviceMatrix, Matrix, Result, groups::BlockGroups, matrix::AnyMatrix, product::Weights};
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
        ("J", _) => Ok(j.download()?.to_scalars()?.into()),
        ("Omega", Some(weights)) => match weights[0] {
            Weights::Information(information) | Weights::Scaled { information, .. } => {
                Ok(by_columns(information)?.into())
            }
            _ => unreachable!("information matrices"),
        },
        ("U" | "W" | "V", _) => {
            let [u, w, v] = normal.parts().expect("two groups of unknowns");
            match name {
                "U" => AnyMatrix::from(u.download()?).mirrored(),
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
        return AnyMatrix::from(stored).mirrored();
    };
    let (u, w, v) = (AnyMatrix::from(u.download()?).mirrored()?.typed()?, w.download()?, v.download()?);
    let (groups, w_transposed) = (normal.h().col_groups().to_vec(), w.transpose());
    let cells = [u, w, w_transposed, v].map(Some).into();
    Ok(BlockGroups::new(groups.clone(), groups, cells)?.to_scalars()?.into())
}

/// The matrix in blocks by columns, as most formats have them.
fn by_columns(m: &DeviceMatrix<Bsr<f64>>) -> Result<Cbc<f64>> {
    Ok(m.as_transpose().download()?.transpose())
}

/// The blocks in words, such as `49 blocks of 9x9`.
pub fn describe_blocks<M: Matrix>(m: &DeviceMatrix<M>) -> String {
    format!("{} blocks of {}", m.nnz(), m.shape())
}
