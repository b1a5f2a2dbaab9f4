//! The plan of an elimination, without a type parameter for elements, so that its code is compiled
//! once.
use super::{
    equations::{Equations, Floored},
    factor::Factor,
    form::FormCore,
    lines::{self, BackSubstitution, ReducedRightSide},
    reduced::ReducedCore,
    solve::Solve,
    structure,
    system::{check_sizes, identity},
};
use crate::{
    BlockShape, Device, DevicePattern, Error, Marker, Result,
    device::{Buffer, Work},
    element::ElementType,
    planned::{Cost, prepared::same_device},
    primitives::transpose::Transpose,
    product::FactorPattern,
    resident::{DeviceCbc, PatternArrays},
};
use std::sync::OnceLock;

/// The plan of an elimination, whose element type is known at run time only.
pub(super) struct Core {
    pub device: Device,
    pub element: ElementType,
    pub u: DevicePattern,
    pub w: DevicePattern,
    pub v: DevicePattern,
    factor: Factor,
    solve: Solve,
    pub form: FormCore,
    right_side: ReducedRightSide,
    back_substitution: BackSubstitution,
}

impl Core {
    /// See [`Elimination::ask`](super::Elimination::ask).
    pub fn ask(
        is_formed: bool,
        element: ElementType,
        device: &Device,
        shape: BlockShape,
        cameras: usize,
        entries: usize,
    ) -> Result<()> {
        FormCore::ask(is_formed, device, element, shape, cameras)?;
        Transpose::ask(device, cameras, entries)?;
        structure::scatter(device)?;
        Factor::ask(device, element, shape.cols())?;
        Solve::ask(device, element, shape)?;
        lines::ask(device, element, shape)
    }

    pub fn new(is_formed: bool, element: ElementType, [u, w, v]: [&DevicePattern; 3]) -> Result<Self> {
        let (work, shape) = (&Work::new(u.device(), None), w.shape());
        check_patterns(work, element, [u, w, v])?;
        let device = work.device();
        Self::ask(is_formed, element, device, shape, w.nrows(), w.nnz())?;
        check_diagonal(work, v)?;
        let form = FormCore::new(is_formed, work, element, u, w)?;
        let transposed = Transpose::new(device)?.run(work, &w.arrays)?;
        Ok(Self {
            device: device.clone(),
            element,
            u: u.clone(),
            w: w.clone(),
            v: v.clone(),
            factor: Factor::new(device, element, shape.cols(), v.ncols())?,
            solve: Solve::new(work, element, shape, structure::columns(work, &transposed)?)?,
            form,
            right_side: ReducedRightSide::new(work, element, shape, transposed.pattern, transposed.source)?,
            back_substitution: BackSubstitution::new(work, element, shape, w.arrays.clone())?,
        })
    }

    /// Allocates the results of an execution, and the values that back-substitution and products
    /// with S need.
    pub fn output(&self) -> Result<ReducedCore> {
        Ok(ReducedCore {
            u: self.u.clone(),
            z: DeviceCbc::zeros(&self.w, self.element)?,
            factors: self.factor.output(&Work::new(&self.device, None))?,
            damped_u: self.form.damped_u()?,
            executed: false,
            failed: OnceLock::new(),
        })
    }

    pub fn cost(&self) -> Cost {
        let shape = self.w.shape();
        let (products, entries) = (self.form.products(), self.w.nnz() as u64);
        let (c, p) = (shape.rows() as u64, shape.cols() as u64);
        // Solving for Z takes p² operations for each row of a block, where p is the number of a
        // block's columns. Multiplying Z by y takes another 2·c·p operations for each block of c x
        // p elements.
        let of_z = entries * (c * p * p + 2 * c * p);
        Cost {
            products,
            flops: self.factor.flops() + of_z + 2 * products * c * p * c,
            device_bytes: self.solve.bytes()
                + self.right_side.bytes()
                + self.back_substitution.bytes()
                + self.form.bytes(),
        }
    }

    /// Refuses matrices whose patterns differ from those of U, W and V.
    pub fn check_matrices(&self, matrices: [&DeviceCbc; 3]) -> Result<()> {
        let patterns = [("U", &self.u), ("W", &self.w), ("V", &self.v)];
        patterns.into_iter().zip(matrices).try_for_each(|((name, pattern), matrix)| pattern.check(name, matrix))
    }

    /// Refuses the output of a plan for other patterns.
    pub fn check_reduced(&self, reduced: &ReducedCore) -> Result<()> {
        self.u.check_same("U of the reduced system", &reduced.u)?;
        self.w.check("W of the reduced system", &reduced.z)
    }

    /// Computes the reduced right-hand side r, and S or its diagonal.
    pub fn run(
        &self,
        work: &Work,
        of: Equations<'_>,
        reduced: &mut ReducedCore,
        rhs: &mut Buffer,
        matrix: &mut DeviceCbc,
    ) -> Result<()> {
        let [of_u, of_v] = of.floors.map(|floors| Floored { damped: of.damped, floors });
        let ReducedCore { z, factors, damped_u, executed, failed, .. } = reduced;
        (*executed, *failed) = (false, OnceLock::new());
        self.factor.run(work, of.v, of.b_p, of_v, factors)?;
        self.solve.run(work, of.w, factors, z)?;
        self.form.run(work, (z, of.u), of_u, damped_u, matrix)?;
        self.right_side.run(work, &z.values, &factors.y, of.b_c, rhs)?;
        *executed = true;
        Ok(())
    }

    /// See [`Elimination::back_substitute`](super::Elimination::back_substitute).
    pub fn back_substitute(&self, reduced: &ReducedCore, x_c: &Buffer, x_p: &mut Buffer) -> Result<Marker> {
        self.check_reduced(reduced)?;
        reduced.check()?;
        let work = Work::new(&self.device, None);
        self.back_substitution.run(&work, &reduced.z.values, x_c, &reduced.factors, x_p)?;
        Ok(work.marker())
    }
}

/// Refuses patterns of U, W and V that are not on `work`'s device, are row-major, or have sizes
/// that do not fit together.
fn check_patterns(work: &Work, element: ElementType, patterns: [&DevicePattern; 3]) -> Result<()> {
    let device = work.device();
    patterns.into_iter().try_for_each(|pattern| same_device(device, pattern.device()))?;
    device.require(element)?;
    if let Some(pattern) = patterns.into_iter().find(|pattern| pattern.row_major) {
        return Err(Error::Argument(format!("{pattern:?} is of a row-major matrix: blocks by columns are wanted")));
    }
    check_sizes(patterns.map(DevicePattern::dimensions))
}

/// Refuses a V that is not block-diagonal. The patterns must have passed [`check_patterns`].
fn check_diagonal(work: &Work, v: &DevicePattern) -> Result<()> {
    if v.nnz() != v.ncols() || !v.arrays.same_as(&PatternArrays::upload(work, &identity(v.ncols()))?)? {
        return Err(Error::Argument(format!("V must have exactly its {} diagonal blocks", v.ncols())));
    }
    Ok(())
}

/// The factors of Z·Zᵀ. Z has the pattern of W.
pub(super) fn factors_of_square(w: &DevicePattern) -> (FactorPattern, FactorPattern) {
    let z = |transposed| FactorPattern { pattern: w.arrays.clone(), shape: w.array_shape, transposed };
    (z(false), z(true))
}
