//! The matrices of a linearised problem, copied to the host by the names they have in papers.
use super::Normal;
use crate::{
    BlockGroups, Bsr, Cbc, DeviceMatrix, Error, Result, Weights, matrix::AnyMatrix, solver::problem::Linearization,
};

impl Linearization {
    /// The names that [`Normal::matrix`] accepts. Every problem has H and J. A problem with two
    /// groups of unknowns also has U, W and V, where H = [U W; Wᵀ V]. A problem with two groups of
    /// unknowns, one group of rows and no information matrices also has Jc and Jp, the parts of J.
    /// A problem with one group of rows and information matrices has Omega, which consists of the
    /// information matrices.
    pub fn matrix_names(&self) -> Vec<&'static str> {
        let (j, mut names) = (self.jacobian(), vec!["H", "J"]);
        if j.col_groups().len() == 2 {
            names.extend(["U", "W", "V"]);
        }
        match (j.row_groups().len(), j.col_groups().len(), self.weights()) {
            (1, 2, None) => names.extend(["Jc", "Jp"]),
            (1, _, Some(_)) => names.push("Omega"),
            _ => {}
        }
        names
    }

    /// Refuses a name that is not one of [`Linearization::matrix_names`].
    ///
    /// # Errors
    /// [`Error::Argument`].
    pub fn check_matrix_name(&self, name: &str) -> Result<()> {
        let names = self.matrix_names();
        match names.contains(&name) {
            true => Ok(()),
            false => Err(Error::Argument(format!("this problem has no matrix {name}; it has {}", names.join(", ")))),
        }
    }
}

impl Normal {
    /// Copies the matrix with this name to the host. Symmetric matrices are complete. A matrix
    /// whose blocks have several shapes becomes a matrix of scalars.
    ///
    /// # Errors
    /// [`Error::Argument`] for a name that [`Linearization::matrix_names`] does not list;
    /// [`Error::Memory`], [`Error::OpenCl`].
    pub fn matrix(&self, name: &str, linearization: &Linearization) -> Result<AnyMatrix> {
        linearization.check_matrix_name(name)?;
        let unknown = || Error::Contradiction(format!("a linearization without {name}"));
        let j = linearization.jacobian();
        let of_cell = |col: usize| by_columns(j.get(0, col).ok_or_else(unknown)?);
        match (name, self.parts(), linearization.weights()) {
            ("J", ..) if j.row_groups().len() == 1 && j.col_groups().len() == 1 => of_cell(0),
            ("J", ..) => Ok(j.download()?.to_scalars()?.into()),
            ("Jc", ..) => of_cell(0),
            ("Jp", ..) => of_cell(1),
            ("Omega", _, Some(weights)) => match weights[0] {
                Weights::Information(information) | Weights::Scaled { information, .. } => by_columns(information),
                Weights::BlockRows(_) | Weights::Rows(_) => Err(unknown()),
            },
            ("U", Some([u, ..]), _) => AnyMatrix::from(u.download()?).mirrored(),
            ("W", Some([_, w, _]), _) => Ok(w.download()?.into()),
            ("V", Some([.., v]), _) => Ok(v.download()?.into()),
            ("U" | "W" | "V", None, _) => Err(unknown()),
            (_, Some([u, w, v]), _) => {
                let (u, w) = (AnyMatrix::from(u.download()?).mirrored()?.typed::<Cbc<f64>>()?, w.download()?);
                let groups = self.h().col_groups().to_vec();
                let cells = vec![Some(u), Some(w.clone()), Some(w.transpose()), Some(v.download()?)];
                Ok(BlockGroups::new(groups.clone(), groups, cells)?.to_scalars()?.into())
            }
            (_, None, _) => {
                let h = self.h().get(0, 0).ok_or_else(unknown)?;
                AnyMatrix::from(h.as_transpose().download()?).mirrored()
            }
        }
    }
}

/// The matrix as blocks stored by columns, the order of most file formats.
fn by_columns(m: &DeviceMatrix<Bsr<f64>>) -> Result<AnyMatrix> {
    Ok(m.as_transpose().download()?.transpose().into())
}
