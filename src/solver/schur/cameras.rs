//! U' as an operator: its damped diagonal blocks, and those below them, which stand for both
//! triangles.
use super::{
    base::{Base, Slots},
    equations::Floored,
    system::{check_lower, identity},
};
use crate::{
    Cbc, DeviceMatrix, DevicePattern, Pattern, Real, Result,
    apply::{Spmm, Spmv},
    device::{Buffer, Work},
    element::Scaling,
    matrix::DenseShape,
    resident::{DeviceCbc, PatternArrays},
};

pub struct Cameras<T: Real> {
    diagonal: Blocks<T>,
    /// The blocks below the diagonal, with the product of their transpose. `None` if U has diagonal
    /// blocks alone, as is usual.
    below: Option<(Blocks<T>, Spmv)>,
}

/// Products of U' with matrices.
pub struct CameraColumns {
    diagonal: Spmm,
    /// The blocks below the diagonal, and their transpose.
    below: Option<[Spmm; 2]>,
}

/// U' of an execution.
pub struct DampedU<T: Real> {
    pub diagonal: DeviceMatrix<Cbc<T>>,
    below: Option<DeviceMatrix<Cbc<T>>>,
}

/// Some blocks of U, to copy and to multiply by.
struct Blocks<T: Real> {
    base: Base<T>,
    pattern: DevicePattern,
    product: Spmv,
}

impl<T: Real> Blocks<T> {
    /// Prepares the blocks of `pattern`, copied from U's entries `source`; `u32::MAX` for a block
    /// that U lacks.
    fn new(work: &Work, u: &DevicePattern, pattern: &Pattern, source: &[u32], on_diagonal: bool) -> Result<Self> {
        let arrays = PatternArrays::upload(work, pattern)?;
        let pattern = DevicePattern { arrays, array_shape: u.array_shape, row_major: false };
        let slots = Slots::copying(work, source, on_diagonal)?;
        let base = Base::new(work, u.array_shape.rows(), slots)?;
        Ok(Self { base, product: Spmv::often(&pattern, T::TYPE, true)?, pattern })
    }

    fn bytes(&self) -> u64 {
        self.base.bytes() + self.pattern.device_bytes() + self.product.bytes()
    }
}

impl<T: Real> Cameras<T> {
    /// Reads U's pattern. Refuses blocks above the diagonal alone.
    pub(super) fn new(work: &Work, u: &DevicePattern) -> Result<Self> {
        let (host, n) = (u.arrays.download(work)?, u.ncols());
        check_lower(&host)?;
        let (mut diagonal, mut below) = (vec![u32::MAX; n], Vec::new());
        let (mut col_ptr, mut row_idx) = (vec![0], Vec::new());
        for (col, diagonal) in diagonal.iter_mut().enumerate() {
            for (&row, entry) in host.column(col).iter().zip(host.entries(col)) {
                match (row as usize).cmp(&col) {
                    std::cmp::Ordering::Less => {}
                    std::cmp::Ordering::Equal => *diagonal = entry as u32,
                    std::cmp::Ordering::Greater => {
                        row_idx.push(row);
                        below.push(entry as u32);
                    }
                }
            }
            col_ptr.push(row_idx.len() as u64);
        }
        let pattern = Pattern::trusted(n, n, col_ptr, row_idx);
        let below = (!below.is_empty()).then(|| -> Result<_> {
            let blocks = Blocks::new(work, u, &pattern, &below, false)?;
            let transposed = Spmv::often(&blocks.pattern, T::TYPE, false)?;
            Ok((blocks, transposed))
        });
        Ok(Self { diagonal: Blocks::new(work, u, &identity(n), &diagonal, true)?, below: below.transpose()? })
    }

    /// Zeros for U' of an execution.
    pub(super) fn output(&self) -> Result<DampedU<T>> {
        let below = self.below.as_ref().map(|(blocks, _)| DeviceMatrix::zeros(&blocks.pattern));
        Ok(DampedU { diagonal: DeviceMatrix::zeros(&self.diagonal.pattern)?, below: below.transpose()? })
    }

    /// Copies U and damps the copy.
    pub(super) fn run(&self, work: &Work, u: &DeviceCbc<T>, damped: Floored<'_, T>, to: &mut DampedU<T>) -> Result<()> {
        self.diagonal.base.run(work, u, damped, &mut to.diagonal.cbc)?;
        match (&self.below, &mut to.below) {
            (Some((blocks, _)), Some(below)) => blocks.base.run(work, u, damped, &mut below.cbc),
            _ => Ok(()),
        }
    }

    /// y = U'·x.
    pub(super) fn multiply(&self, work: &Work, u: &DampedU<T>, x: &Buffer<T>, y: &mut Buffer<T>) -> Result<()> {
        self.diagonal.product.run(work, (&*u.diagonal.cbc).into(), x, Scaling::of(T::TYPE, 1.0, 0.0), y)?;
        if let (Some((blocks, transposed)), Some(below)) = (&self.below, &u.below) {
            let added = Scaling::of(T::TYPE, 1.0, 1.0);
            blocks.product.run(work, (&*below.cbc).into(), x, added, y)?;
            transposed.run(work, (&*below.cbc).into(), x, added, y)?;
        }
        Ok(())
    }

    /// Prepares products with matrices of n columns.
    pub(super) fn columns(&self, n: usize) -> Result<CameraColumns> {
        let of = |blocks: &Blocks<T>, rows| Spmm::of_pattern(&blocks.pattern, T::TYPE, rows, n);
        let below = self.below.as_ref().map(|(blocks, _)| -> Result<_> { Ok([of(blocks, true)?, of(blocks, false)?]) });
        Ok(CameraColumns { diagonal: of(&self.diagonal, true)?, below: below.transpose()? })
    }

    /// The pattern of the diagonal.
    pub(super) fn diagonal(&self) -> &DevicePattern {
        &self.diagonal.pattern
    }

    pub(super) fn bytes(&self) -> u64 {
        let below = self.below.as_ref().map_or(0, |(below, transposed)| below.bytes() + transposed.bytes());
        self.diagonal.bytes() + below
    }
}

impl CameraColumns {
    /// Y = U'·X.
    pub(super) fn multiply<T: Real>(
        &self,
        work: &Work,
        u: &DampedU<T>,
        (x_shape, x): (DenseShape, &Buffer<T>),
        (shape, y): (DenseShape, &mut Buffer<T>),
    ) -> Result<()> {
        self.diagonal.run(
            work,
            (&*u.diagonal.cbc).into(),
            (x_shape, x),
            Scaling::of(T::TYPE, 1.0, 0.0),
            (shape, &mut *y),
        )?;
        if let (Some(both), Some(below)) = (&self.below, &u.below) {
            for product in both {
                product.run(
                    work,
                    (&*below.cbc).into(),
                    (x_shape, x),
                    Scaling::of(T::TYPE, 1.0, 1.0),
                    (shape, &mut *y),
                )?;
            }
        }
        Ok(())
    }
}

impl<T: Real> DampedU<T> {
    pub(super) fn bytes(&self) -> u64 {
        self.diagonal.cbc.values.bytes() + self.below.as_ref().map_or(0, |below| below.cbc.values.bytes())
    }
}
