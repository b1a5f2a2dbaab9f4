//! Elimination of the points: Z = W·L⁻ᵀ and y = L⁻¹·b_p, from which S = U' - Z·Zᵀ and r
//! = b_c - Z·y are computed; and back-substitution for the points. The owner computes S, formed or
//! as an operator, in between.
use super::{
    dimensions,
    factor::Factor,
    lines::{self, BackSubstitution, ReducedRightSide},
    solve::Solve,
    structure,
    system::{Damped, Damping, check_sizes, identity, length},
};
use crate::{
    BlockShape, Cbc, Device, DeviceMatrix, DevicePattern, DeviceVector, Element, Error, Real, Result, device::Work,
    planned::prepared::same_device, primitives::transpose::Transpose, resident::PatternArrays,
};
use std::sync::{Mutex, OnceLock, PoisonError};

pub(super) struct Elimination<T: Element> {
    pub device: Device,
    pub u: DevicePattern,
    pub w: DevicePattern,
    pub v: DevicePattern,
    factor: Factor<T>,
    solve: Solve<T>,
    pub z: DeviceMatrix<Cbc<T>>,
    right_side: ReducedRightSide<T>,
    rhs: DeviceVector<T>,
    /// Scratch that a substitution writes. Two threads take turns to enqueue.
    back_substitution: Mutex<BackSubstitution<T>>,
    executed: bool,
    /// The first block of V' that was not positive definite, once the device was asked.
    failed: OnceLock<Option<usize>>,
}

/// Refuses patterns of U, W, V whose sizes are not those of one matrix on `work`'s device.
pub(super) fn check_patterns<T: Real>(work: &Work, patterns: [&DevicePattern; 3]) -> Result<()> {
    let device = work.device();
    patterns.into_iter().try_for_each(|pattern| same_device(device, pattern.device()))?;
    device.require::<T>()?;
    if let Some(pattern) = patterns.into_iter().find(|pattern| pattern.row_major) {
        return Err(Error::Argument(format!("{pattern:?} is of a row-major matrix: blocks by columns are wanted")));
    }
    check_sizes(patterns.map(dimensions))
}

/// Refuses a V that is not block-diagonal. [`check_patterns`] must have passed.
pub(super) fn check_diagonal(work: &Work, v: &DevicePattern) -> Result<()> {
    if v.nnz() != v.ncols() || !v.arrays.same_as(&PatternArrays::upload(work, &identity(v.ncols()))?)? {
        return Err(Error::Argument(format!("V must have exactly its {} diagonal blocks", v.ncols())));
    }
    Ok(())
}

impl<T: Real> Elimination<T> {
    /// Requests the kernels that [`Elimination::new`] and an execution launch, so that they are
    /// made together.
    pub fn ask(device: &Device, shape: BlockShape) -> Result<()> {
        Transpose::new(device)?;
        structure::scatter(device)?;
        Factor::<T>::ask(device, shape.cols())?;
        Solve::<T>::ask(device, shape)?;
        lines::ask::<T>(device, shape)
    }

    /// Prepares for patterns that have passed [`check_patterns`].
    pub fn new(work: &Work, [u, w, v]: [&DevicePattern; 3]) -> Result<Self> {
        let (device, shape) = (work.device(), w.shape());
        let transposed = Transpose::new(device)?.run(work, &w.arrays)?;
        Ok(Self {
            device: device.clone(),
            u: u.clone(),
            w: w.clone(),
            v: v.clone(),
            factor: Factor::new(work, shape.cols(), v.ncols())?,
            solve: Solve::new(work, shape, structure::columns(work, &transposed)?)?,
            z: DeviceMatrix::zeros(w)?,
            right_side: ReducedRightSide::new(work, shape, transposed.pattern, transposed.source)?,
            rhs: device.zero_vector(u.ncols() * shape.rows())?,
            back_substitution: Mutex::new(BackSubstitution::new(work, shape, w.arrays.clone())?),
            executed: false,
            failed: OnceLock::new(),
        })
    }

    /// Computes Z, y and r of new values. `reduce` gets Z and the damping, and enqueues further
    /// work on them.
    pub fn execute(
        &mut self,
        work: &Work,
        [u, w, v]: [&DeviceMatrix<Cbc<T>>; 3],
        [b_c, b_p]: [&DeviceVector<T>; 2],
        damping: Damping,
        reduce: impl FnOnce(&DeviceMatrix<Cbc<T>>, Damped<T>) -> Result<()>,
    ) -> Result<()> {
        for (name, pattern, matrix) in [("U", &self.u, u), ("W", &self.w, w), ("V", &self.v, v)] {
            pattern.check(name, &matrix.cbc)?;
        }
        self.check_vector("b_c", b_c, &self.u)?;
        self.check_vector("b_p", b_p, &self.v)?;
        let damped = damping.of::<T>()?;
        (self.executed, self.failed) = (false, OnceLock::new());
        let Self { factor, solve, z, right_side, rhs, .. } = self;
        factor.run(work, &v.cbc, &b_p.values, damped)?;
        solve.run(work, &w.cbc, factor, &mut z.cbc)?;
        reduce(z, damped)?;
        right_side.run(work, &z.cbc.values, &factor.y, &b_c.values, &mut rhs.values)?;
        self.executed = true;
        Ok(())
    }

    /// Whether the last execution found every block of V' positive definite. Waits for it and reads
    /// one word, once.
    pub fn check(&self) -> Result<()> {
        if !self.executed {
            return Err(Error::Argument("the Schur complement has not been executed".into()));
        }
        let failed = match self.failed.get() {
            Some(known) => *known,
            None => {
                let found = self.factor.failed(&self.device)?;
                *self.failed.get_or_init(|| found)
            }
        };
        match failed {
            Some(block) => Err(Error::NotPositiveDefinite { matrix: "V, damped,", block }),
            None => Ok(()),
        }
    }

    /// r.
    pub fn rhs(&self) -> Result<&DeviceVector<T>> {
        self.check().map(|()| &self.rhs)
    }

    /// x_p = L⁻ᵀ·(y - Zᵀ·x_c).
    pub fn back_substitute(&self, x_c: &DeviceVector<T>, x_p: &mut DeviceVector<T>) -> Result<()> {
        self.check_vector("x_c", x_c, &self.u)?;
        self.check_vector("x_p", x_p, &self.v)?;
        self.check()?;
        let work = Work::new(&self.device, None);
        let mut back = self.back_substitution.lock().unwrap_or_else(PoisonError::into_inner);
        back.run(&work, &self.z.cbc.values, &x_c.values, &self.factor, &mut x_p.values)
    }

    /// Refuses a vector whose length is not that of the rows of U (cameras) or V (points).
    pub fn check_vector(&self, array: &'static str, vector: &DeviceVector<T>, of: &DevicePattern) -> Result<()> {
        same_device(&self.device, &vector.device)?;
        match vector.len() == of.scalar_sides().0 {
            true => Ok(()),
            false => Err(length(array, vector.len(), dimensions(of))),
        }
    }
}

impl<T: Element> Elimination<T> {
    /// Bytes of device memory held, without the patterns of U, W and V.
    pub fn bytes(&self) -> u64 {
        let back = self.back_substitution.lock().unwrap_or_else(PoisonError::into_inner).bytes();
        let of_points = self.factor.bytes() + self.solve.bytes() + self.z.cbc.values.bytes();
        of_points + self.right_side.bytes() + self.rhs.values.bytes() + back
    }
}
