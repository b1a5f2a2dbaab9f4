//! Transposes of matrices on the device.
use super::{
    Elementwise,
    move_blocks::{MovePlan, Moves, Turn},
};
use crate::{
    BlockShape, Device, DeviceMatrix, DevicePattern, Matrix, Result,
    device::Work,
    element::ElementType,
    matrix::{HostMatrix, MatrixType},
    planned::{
        Accum, Cost, On, Planned,
        prepared::{check_patterns, check_types},
    },
    primitives::transpose::{self, Transposed},
};

/// The planned transpose of a matrix whose pattern does not change. Blocks are moved, and their
/// elements transposed.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::plan::Transpose;
/// use blockmul::{Csc, Device, Planned};
/// let device = Device::auto()?;
/// let mut a = device.upload(&Csc::from_triplets(2, 3, [(0, 0, 1.0), (0, 2, 2.0), (1, 2, 3.0)])?)?;
/// let plan = Transpose::<Csc<f64>>::new(&a.pattern())?;
/// let mut at = plan.output()?;
/// plan.execute(&a, &mut at)?;
/// assert_eq!(at.download()?, Csc::from_triplets(3, 2, [(0, 0, 1.0), (2, 0, 2.0), (2, 1, 3.0)])?);
/// a.write_values(&[4.0, 5.0, 6.0])?;
/// plan.execute(&a, &mut at)?; // new values, same pattern
/// assert_eq!(at.download()?.values(), [4.0, 5.0, 6.0]);
/// # Ok(())
/// # }
/// ```
pub struct Transpose<M: HostMatrix> {
    plan: MovePlan,
    of: MatrixType<M>,
}

impl<M: Matrix> Transpose<M> {
    /// Prepares C = Aᵀ.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory), [`Error::TooLarge`](crate::Error::TooLarge) from
    /// 2^31 entries on, [`Error::Argument`](crate::Error::Argument) if the pattern belongs to
    /// another kind of matrix.
    pub fn new(a: &DevicePattern) -> Result<Self> {
        Self::tuned(a, MatrixType::OF, Elementwise::new(a.device().info(), a.array_shape))
    }
}

impl<M: HostMatrix> Transpose<M> {
    /// Like [`Transpose::new`], for the type and pattern of `a`, whose type may be known at run
    /// time only.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, Planned, element::AnyValues, plan::Transpose};
    /// use blockmul::matrix::AnyMatrix;
    /// let a = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 2.0f32), (1, 0, 3.0)])?);
    /// let a = Device::auto()?.upload(&a)?;
    /// let plan = Transpose::of(&a)?;
    /// let mut c = plan.output()?;
    /// plan.execute(&a, &mut c)?;
    /// assert_eq!(c.download()?.values(), &AnyValues::F32(vec![2.0, 3.0]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Transpose::new`].
    pub fn of(a: &DeviceMatrix<M>) -> Result<Self> {
        Self::tuned(&a.pattern(), a.type_of(), Elementwise::new(a.device().info(), a.cbc.shape))
    }

    pub(super) fn tuned(a: &DevicePattern, of: MatrixType<M>, grid: Elementwise) -> Result<Self> {
        check_patterns(a.device(), of, [a])?;
        Ok(Self { plan: MovePlan::transpose_tuned(of.element, a, grid)?, of })
    }

    /// The pattern of C.
    pub fn pattern(&self) -> &DevicePattern {
        &self.plan.c
    }
}

impl MovePlan {
    /// Plans C = Aᵀ for a pattern that the caller has checked.
    pub(crate) fn transpose(element: ElementType, a: &DevicePattern) -> Result<Self> {
        Self::transpose_tuned(element, a, Elementwise::new(a.device().info(), a.array_shape))
    }

    fn transpose_tuned(element: ElementType, a: &DevicePattern, grid: Elementwise) -> Result<Self> {
        let (device, work) = (a.device(), Work::new(a.device(), None));
        let Transposed { pattern, source, .. } = transpose::Transpose::new(device)?.run(&work, &a.arrays)?;
        let turn = if a.array_shape == BlockShape::SCALAR { Turn::None } else { Turn::All };
        let c = DevicePattern { arrays: pattern, array_shape: a.array_shape.transpose(), row_major: a.row_major };
        Self::new(element, a, c, grid, Moves { source, turn })
    }
}

/// Implements [`Planned`] for a type whose field `plan` moves blocks. `stage` is the name of the
/// plan's stage, and `what` names the operation in error messages.
macro_rules! planned_moves {
    ($moves:ident, $stage:literal, $what:literal) => {
        impl<M: HostMatrix> Planned for $moves<M> {
            type Inputs<'a> = &'a DeviceMatrix<M>;
            type Output = DeviceMatrix<M>;

            fn device(&self) -> &Device {
                self.plan.a.device()
            }

            fn output(&self) -> Result<DeviceMatrix<M>> {
                DeviceMatrix::zeros_of(self.pattern(), self.of)
            }

            fn cost(&self) -> Cost {
                self.plan.cost()
            }

            fn enqueue(&self, On(work): On<'_>, a: &DeviceMatrix<M>, into: Accum<'_, DeviceMatrix<M>>) -> Result<()> {
                check_types(self.of, [("A", a), ("C", &*into.c)])?;
                self.plan.enqueue(work, ($stage, $what), &a.cbc, into.arrays())
            }
        }
    };
}
pub(super) use planned_moves;

planned_moves!(Transpose, "transpose", "a transpose");

impl<M: HostMatrix> std::fmt::Debug for Transpose<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Transpose({:?} to {:?})", self.plan.a, self.plan.c)
    }
}

impl<M: HostMatrix> DeviceMatrix<M> {
    /// The transpose on the device; its blocks are transposed, too. If the pattern is transposed
    /// repeatedly, a [`Transpose`] is faster.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// let w = blockmul::Csc::from_triplets(2, 3, [(0, 2, 1.0), (1, 0, 2.0)])?;
    /// let w_on_device = blockmul::Device::auto()?.upload(&w)?;
    /// assert_eq!(w_on_device.transposed()?.download()?, w.transpose());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Transpose::new`].
    pub fn transposed(&self) -> Result<Self> {
        let plan = Transpose::of(self)?;
        let mut c = plan.output()?;
        plan.execute(self, &mut c)?;
        Ok(c)
    }
}
