//! U', which is U with its damping, as an operator. The operator consists of the damped diagonal
//! blocks and the blocks below the diagonal of U. The blocks above the diagonal are the transposes
//! of the blocks below.
use super::{
    base::{Base, Slots},
    equations::Floored,
    system::{check_lower, identity},
};
use crate::{
    DevicePattern, Pattern, Result,
    apply::{Spmm, Spmv},
    device::{Buffer, Work},
    element::{ElementType, Scaling},
    resident::{DenseBuffer, DenseBufferMut, DeviceCbc, PatternArrays},
};

pub(super) struct Cameras {
    diagonal: Blocks,
    /// The blocks of U below the diagonal, and the plan of products with the transpose of these
    /// blocks, or `None` if U only has diagonal blocks, which is the usual case.
    below: Option<(Blocks, Spmv)>,
}

/// Products of U' with matrices.
pub(super) struct CameraColumns {
    diagonal: Spmm,
    /// The plans of products with the blocks below the diagonal and with their transpose.
    below: Option<[Spmm; 2]>,
}

/// The values of U' that an execution computes.
pub(super) struct DampedU {
    pub diagonal: DeviceCbc,
    below: Option<DeviceCbc>,
}

/// Some blocks of U, which are copied and multiplied.
struct Blocks {
    element: ElementType,
    base: Base,
    pattern: DevicePattern,
    product: Spmv,
}

impl Blocks {
    /// Prepares blocks with the pattern `pattern`. Each block is a copy of the entry of U that
    /// `source` gives; `u32::MAX` stands for a block that U lacks.
    fn new(
        work: &Work,
        u: &DevicePattern,
        element: ElementType,
        pattern: &Pattern,
        source: &[u32],
        on_diagonal: bool,
    ) -> Result<Self> {
        let arrays = PatternArrays::upload(work, pattern)?;
        let pattern = DevicePattern { arrays, array_shape: u.array_shape, row_major: false };
        let slots = Slots::copying(work, source, on_diagonal)?;
        let base = Base::new(work, element, u.array_shape.rows(), slots)?;
        Ok(Self { element, base, product: Spmv::often(&pattern, element, true)?, pattern })
    }

    fn bytes(&self) -> u64 {
        self.base.bytes() + self.pattern.device_bytes() + self.product.bytes()
    }
}

impl Cameras {
    /// Reads U's pattern. Refuses a block above the diagonal that has no mirror image below.
    pub fn new(work: &Work, u: &DevicePattern, element: ElementType) -> Result<Self> {
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
            let blocks = Blocks::new(work, u, element, &pattern, &below, false)?;
            let transposed = Spmv::often(&blocks.pattern, element, false)?;
            Ok((blocks, transposed))
        });
        let diagonal = Blocks::new(work, u, element, &identity(n), &diagonal, true)?;
        Ok(Self { diagonal, below: below.transpose()? })
    }

    /// Allocates U' of an execution, filled with zeros.
    pub fn output(&self) -> Result<DampedU> {
        let zeros = |blocks: &Blocks| DeviceCbc::zeros(&blocks.pattern, blocks.element);
        let below = self.below.as_ref().map(|(blocks, _)| zeros(blocks));
        Ok(DampedU { diagonal: zeros(&self.diagonal)?, below: below.transpose()? })
    }

    /// Copies U and damps the copy.
    pub fn run(&self, work: &Work, u: &DeviceCbc, damped: Floored<'_>, to: &mut DampedU) -> Result<()> {
        self.diagonal.base.run(work, u, damped, &mut to.diagonal)?;
        match (&self.below, &mut to.below) {
            (Some((blocks, _)), Some(below)) => blocks.base.run(work, u, damped, below),
            _ => Ok(()),
        }
    }

    /// y = U'·x.
    pub fn multiply(&self, work: &Work, u: &DampedU, x: &Buffer, y: &mut Buffer) -> Result<()> {
        let element = self.diagonal.element;
        self.diagonal.product.run(work, (&u.diagonal).into(), x, Scaling::plain(element), y)?;
        if let (Some((blocks, transposed)), Some(below)) = (&self.below, &u.below) {
            let added = Scaling::of(element, 1.0, 1.0);
            blocks.product.run(work, below.into(), x, added, y)?;
            transposed.run(work, below.into(), x, added, y)?;
        }
        Ok(())
    }

    /// Prepares products with matrices of `n` columns.
    pub fn columns(&self, n: usize) -> Result<CameraColumns> {
        let of = |blocks: &Blocks, rows| Spmm::of_pattern(&blocks.pattern, blocks.element, rows, n);
        let below = self.below.as_ref().map(|(blocks, _)| -> Result<_> { Ok([of(blocks, true)?, of(blocks, false)?]) });
        Ok(CameraColumns { diagonal: of(&self.diagonal, true)?, below: below.transpose()? })
    }

    /// The pattern of the diagonal.
    pub fn diagonal(&self) -> &DevicePattern {
        &self.diagonal.pattern
    }

    pub fn bytes(&self) -> u64 {
        let below = self.below.as_ref().map_or(0, |(below, transposed)| below.bytes() + transposed.bytes());
        self.diagonal.bytes() + below
    }
}

impl CameraColumns {
    /// Y = U'·X.
    pub fn multiply(
        &self,
        work: &Work,
        u: &DampedU,
        x: DenseBuffer<'_>,
        DenseBufferMut { shape, values: y }: DenseBufferMut<'_>,
    ) -> Result<()> {
        let element = u.diagonal.element();
        self.diagonal.run(
            work,
            (&u.diagonal).into(),
            x,
            Scaling::plain(element),
            DenseBufferMut { shape, values: &mut *y },
        )?;
        if let (Some(both), Some(below)) = (&self.below, &u.below) {
            for product in both {
                let y = DenseBufferMut { shape, values: &mut *y };
                product.run(work, below.into(), x, Scaling::of(element, 1.0, 1.0), y)?;
            }
        }
        Ok(())
    }
}

impl DampedU {
    pub fn bytes(&self) -> u64 {
        self.diagonal.values.bytes() + self.below.as_ref().map_or(0, |below| below.values.bytes())
    }
}
