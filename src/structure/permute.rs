//! Permutations of block rows and columns on the device. Kernels: `cl/structure/permute.cl`.
//!
//! Entries get their new places, and are sorted by row and then stably by column: [`kernels`].
mod kernels;

use super::{
    Elementwise,
    move_blocks::{MovePlan, Moves, Turn},
    transpose::planned_moves,
};
use crate::{
    BlockShape, Device, DeviceMatrix, DevicePattern, Error, Matrix, Part, Result,
    device::Work,
    element::ElementType,
    matrix::{HostMatrix, MatrixType},
    planned::{
        Accum, Cost, On, Planned,
        prepared::{check_patterns, check_types},
    },
};
use kernels::Kernels;

/// The planned permutation P·A·Qᵀ of a matrix whose pattern does not change. The permutation
/// reorders block rows and block columns, for example to reduce fill.
///
/// A permutation is the list of old indices in their new order, as orderings (AMD, nested
/// dissection) return it. With rows `p` and columns `q`, entry (i, j) of C is entry (`p[i]`,
/// `q[j]`) of A. Rows ascend in each column of C.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::plan::Permute;
/// use blockmul::{Csc, Device, Part, Planned};
/// let device = Device::auto()?;
/// //      | 1 2 . |                                      | 4 . . |
/// //  A = | . . 3 |   rows 2, 1, 0, columns 2, 0, 1: C = | 3 . . |
/// //      | . . 4 |                                      | . 1 2 |
/// let a = Csc::from_triplets(3, 3, [(0, 0, 1.0), (0, 1, 2.0), (1, 2, 3.0), (2, 2, 4.0)])?;
/// let a = device.upload(&a)?;
/// let plan = Permute::<Csc<f64>>::new(&a.pattern(), &[2, 1, 0], &[2, 0, 1])?;
/// let mut c = plan.output()?;
/// plan.execute(&a, &mut c)?;
/// let want = Csc::from_triplets(3, 3, [(0, 0, 4.0), (1, 0, 3.0), (2, 1, 1.0), (2, 2, 2.0)])?;
/// assert_eq!(c.download()?, want);
///
/// // A symmetric matrix whose lower triangle is stored: 5 crosses the diagonal.
/// let s = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 1.0), (1, 0, 5.0), (1, 1, 2.0)])?)?;
/// let plan = Permute::<Csc<f64>>::symmetric(&s.pattern(), &[1, 0], Part::Lower)?;
/// let mut c = plan.output()?;
/// plan.execute(&s, &mut c)?;
/// assert_eq!(c.download()?, Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 5.0), (1, 1, 1.0)])?);
/// # Ok(())
/// # }
/// ```
pub struct Permute<M: HostMatrix> {
    plan: MovePlan,
    of: MatrixType<M>,
}

impl<M: Matrix> Permute<M> {
    /// Prepares C = P·A·Qᵀ: block row i of C is block row `rows[i]` of A, and block column j of C
    /// is block column `cols[j]` of A.
    ///
    /// # Errors
    /// [`Error::Argument`] if a permutation does not contain every index once, or if the pattern
    /// belongs to another kind of matrix; [`Error::Memory`]; [`Error::TooLarge`] from 2^31 entries
    /// on.
    pub fn new(a: &DevicePattern, rows: &[usize], cols: &[usize]) -> Result<Self> {
        Self::of_type(a, MatrixType::OF, [rows, cols])
    }

    /// Prepares C = P·S·Pᵀ of a symmetric S of which the part `stored` is stored. C has the same
    /// part: a block that would cross the diagonal is transposed and stays on its side.
    ///
    /// # Errors
    /// See [`Permute::new`]; [`Error::Argument`] if S or its blocks are not square, or if S has
    /// entries outside of `stored`.
    pub fn symmetric(s: &DevicePattern, order: &[usize], stored: Part) -> Result<Self> {
        Self::symmetric_tuned(s, MatrixType::OF, order, stored, Elementwise::new(s.device().info(), s.array_shape))
    }
}

impl<M: HostMatrix> Permute<M> {
    /// Like [`Permute::new`], for the type and pattern of `a`, whose type may be known at run time
    /// only.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, Planned, element::AnyValues, matrix::AnyMatrix, plan::Permute};
    /// let a = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 2.0f32), (1, 0, 3.0)])?);
    /// let a = Device::auto()?.upload(&a)?;
    /// let plan = Permute::of(&a, &[1, 0], &[0, 1])?;
    /// let mut c = plan.output()?;
    /// plan.execute(&a, &mut c)?;
    /// assert_eq!(c.download()?.values(), &AnyValues::F32(vec![3.0, 2.0]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Permute::new`].
    pub fn of(a: &DeviceMatrix<M>, rows: &[usize], cols: &[usize]) -> Result<Self> {
        Self::of_type(&a.pattern(), a.type_of(), [rows, cols])
    }

    /// Like [`Permute::symmetric`], for the type and pattern of `s`, whose type may be known at run
    /// time only.
    ///
    /// # Errors
    /// See [`Permute::symmetric`].
    pub fn symmetric_of(s: &DeviceMatrix<M>, order: &[usize], stored: Part) -> Result<Self> {
        let grid = Elementwise::new(s.device().info(), s.cbc.shape);
        Self::symmetric_tuned(&s.pattern(), s.type_of(), order, stored, grid)
    }

    fn of_type(a: &DevicePattern, of: MatrixType<M>, [rows, cols]: [&[usize]; 2]) -> Result<Self> {
        check_patterns(a.device(), of, [a])?;
        let row_to = inverse("row", rows, a.nrows())?;
        let col_to = inverse("column", cols, a.ncols())?;
        let grid = Elementwise::new(a.device().info(), a.array_shape);
        Ok(Self { plan: permutation(of.element, a, (row_to, col_to), Part::Full, grid)?, of })
    }

    pub(super) fn symmetric_tuned(
        s: &DevicePattern,
        of: MatrixType<M>,
        order: &[usize],
        stored: Part,
        grid: Elementwise,
    ) -> Result<Self> {
        check_patterns(s.device(), of, [s])?;
        if s.nrows() != s.ncols() || s.shape().rows() != s.shape().cols() {
            return Err(Error::Argument(format!("{s:?} is not square, so not symmetric")));
        }
        let to = inverse("row and column", order, s.nrows())?;
        Ok(Self { plan: permutation(of.element, s, (to.clone(), to), stored, grid)?, of })
    }

    /// The pattern of C.
    pub fn pattern(&self) -> &DevicePattern {
        &self.plan.c
    }
}

/// The plan of C = P·A·Qᵀ.
fn permutation(
    element: ElementType,
    a: &DevicePattern,
    (row_to, col_to): (Vec<u32>, Vec<u32>),
    stored: Part,
    grid: Elementwise,
) -> Result<MovePlan> {
    let device = a.device();
    let work = Work::new(device, None);
    // The arrays of a row-major matrix are those of its transpose.
    let (row_to, col_to, triangle) = match (a.row_major, stored) {
        (false, part) => (row_to, col_to, part),
        (true, Part::Full) => (col_to, row_to, Part::Full),
        (true, Part::Lower) => (col_to, row_to, Part::Upper),
        (true, Part::Upper) => (col_to, row_to, Part::Lower),
    };
    let (row_to, col_to) = (work.upload(&row_to)?, work.upload(&col_to)?);
    let permuted = Kernels::new(device, triangle)?.run(&work, &a.arrays, &row_to, &col_to)?;
    if permuted.wrong > 0 {
        let (wrong, side) = (permuted.wrong, if stored == Part::Lower { "above" } else { "below" });
        return Err(Error::Argument(format!("{stored:?} part of {a:?}: {wrong} entries are {side} the diagonal")));
    }
    let turn = match stored {
        Part::Full => Turn::None,
        _ if a.array_shape == BlockShape::SCALAR => Turn::None,
        _ => Turn::Some(permuted.turned),
    };
    let moves = Moves { source: permuted.source, turn };
    let c = DevicePattern { arrays: permuted.pattern, array_shape: a.array_shape, row_major: a.row_major };
    MovePlan::new(element, a, c, grid, moves)
}

planned_moves!(Permute, "permute", "a permutation");

impl<M: HostMatrix> std::fmt::Debug for Permute<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Permute({:?})", self.plan.a)
    }
}

/// Inverts a permutation: the new place of each of `n` old indices.
fn inverse(of: &str, order: &[usize], n: usize) -> Result<Vec<u32>> {
    let wrong = |what: String| Err(Error::Argument(format!("{of} permutation: {what}")));
    if order.len() != n {
        return wrong(format!("{} indices for a matrix that has {n}", order.len()));
    }
    let mut to = vec![u32::MAX; n]; // no place yet; no place has this number
    for (place, &index) in order.iter().enumerate() {
        match to.get_mut(index) {
            None => return wrong(format!("index {index} at place {place} is outside 0..{n}")),
            Some(&mut before) if before != u32::MAX => {
                return wrong(format!("index {index} is at place {before} and at place {place}"));
            }
            Some(to) => *to = place as u32,
        }
    }
    Ok(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_has_every_index_once() {
        assert_eq!(inverse("row", &[2, 0, 1], 3).unwrap(), [1, 2, 0]);
        assert!(inverse("row", &[], 0).unwrap().is_empty());
        let told = |order: &[usize]| inverse("row", order, 3).unwrap_err().to_string();
        assert_eq!(told(&[0, 1]), "row permutation: 2 indices for a matrix that has 3");
        assert_eq!(told(&[0, 1, 3]), "row permutation: index 3 at place 2 is outside 0..3");
        assert_eq!(told(&[1, 2, 1]), "row permutation: index 1 is at place 0 and at place 2");
    }
}
