//! U' as an operator: its damped diagonal blocks, and those below them, which stand for both
//! triangles.
use super::{
    base::{Base, Slots},
    system::{Damped, identity},
};
use crate::{
    Cbc, DeviceMatrix, DevicePattern, DeviceVector, Pattern, Real, Result,
    apply::Apply,
    device::Work,
    planned::{Accum, Planned},
    resident::{DeviceCbc, PatternArrays},
};

pub(super) struct Cameras<T: Real> {
    diagonal: Blocks<T>,
    /// The blocks below the diagonal, with the product of their transpose. `None` if U has diagonal
    /// blocks alone, as is usual.
    below: Option<(Blocks<T>, Apply<Cbc<T>>)>,
}

/// A copy of some blocks of U.
struct Blocks<T: Real> {
    base: Base<T>,
    matrix: DeviceMatrix<Cbc<T>>,
    product: Apply<Cbc<T>>,
}

impl<T: Real> Blocks<T> {
    /// Prepares the blocks of `pattern`, copied from U's entries `source`; `u32::MAX` for a block
    /// that U lacks.
    fn new(work: &Work, u: &DevicePattern, pattern: &Pattern, source: &[u32], on_diagonal: bool) -> Result<Self> {
        let arrays = PatternArrays::upload(work, pattern)?;
        let pattern = DevicePattern { arrays, array_shape: u.array_shape, row_major: false };
        Ok(Self {
            base: Base::new(work, u.array_shape.rows(), Slots::copying(work, source, on_diagonal)?)?,
            matrix: DeviceMatrix::zeros(&pattern)?,
            product: Apply::new(&pattern)?,
        })
    }

    fn run(&mut self, work: &Work, u: &DeviceCbc<T>, damped: Damped<T>) -> Result<()> {
        self.base.run(work, u, damped, &mut self.matrix.cbc)
    }

    fn bytes(&self) -> u64 {
        self.base.bytes() + self.matrix.device_bytes() + self.product.cost().device_bytes
    }
}

impl<T: Real> Cameras<T> {
    /// Reads U's pattern.
    pub fn new(work: &Work, u: &DevicePattern) -> Result<Self> {
        let (host, n) = (u.arrays.download(work)?, u.ncols());
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
            let transposed = Apply::transposed(&blocks.matrix.pattern())?;
            Ok((blocks, transposed))
        });
        Ok(Self { diagonal: Blocks::new(work, u, &identity(n), &diagonal, true)?, below: below.transpose()? })
    }

    /// Copies U and damps the copy.
    pub fn run(&mut self, work: &Work, u: &DeviceCbc<T>, damped: Damped<T>) -> Result<()> {
        self.diagonal.run(work, u, damped)?;
        self.below.as_mut().map_or(Ok(()), |(below, _)| below.run(work, u, damped))
    }

    /// y = U'·x.
    pub fn multiply(&self, x: &DeviceVector<T>, y: &mut DeviceVector<T>) -> Result<()> {
        let Blocks { matrix, product, .. } = &self.diagonal;
        product.execute((matrix, x), &mut *y)?;
        if let Some((Blocks { matrix, product, .. }, transposed)) = &self.below {
            product.execute((matrix, x), Accum::into(&mut *y).alpha(1.0).beta(1.0))?;
            transposed.execute((matrix, x), Accum::into(&mut *y).alpha(1.0).beta(1.0))?;
        }
        Ok(())
    }

    /// The diagonal blocks.
    pub fn diagonal(&self) -> &DeviceMatrix<Cbc<T>> {
        &self.diagonal.matrix
    }

    pub fn bytes(&self) -> u64 {
        let below = self.below.as_ref().map_or(0, |(below, transposed)| below.bytes() + transposed.cost().device_bytes);
        self.diagonal.bytes() + below
    }
}
