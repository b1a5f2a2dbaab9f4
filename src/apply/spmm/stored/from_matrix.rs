//! Groups of a compressed matrix, and its new values in their order. Kernels:
//! `cl/apply/spmm/gcoo.cl`, `coordinates.cl`.
use super::{DeviceGcoo, Grouping, Groups, group_size, options};
use crate::{
    DeviceMatrix, DevicePattern, Element, Error, Matrix, Result,
    apply::spmm::{gcoo::Gcoo, pack::Pack},
    device::{Buffer, Grid, In, Kernel, Out, Work, kernel},
    vector::lines::Index,
};
use std::sync::{Arc, OnceLock};

kernel! {
    struct GroupStarts = "group_starts" in "apply/spmm/coordinates.cl" {
        line_ptr: In<u32>,
        group_ptr: Out<u32>,
        lines: u32,
        groups: u32,
    }
}

/// The compressed matrix that groups were made of.
pub(super) struct Origin<T: Element> {
    pattern: DevicePattern,
    /// The number of each entry there.
    source: Buffer<u32>,
    pack: Pack<T>,
}

impl<T: Element> Origin<T> {
    /// Bytes of device memory held, with those of the pattern, which lives as long.
    pub fn bytes(&self) -> u64 {
        self.source.bytes() + self.pattern.device_bytes()
    }
}

impl<T: Element> DeviceGcoo<T> {
    /// A matrix in groups.
    ///
    /// # Errors
    /// As [`DeviceGcoo::from_dense`].
    pub fn from_matrix<M: Matrix<Element = T>>(a: &DeviceMatrix<M>, grouping: Grouping) -> Result<Self> {
        grouping.check()?;
        let (device, shape) = (a.device(), a.shape());
        let work = Work::new(device, None);
        // Rows of a row-major matrix are the columns of its arrays, whose blocks are transposes.
        let index = Index::new(&work, &a.cbc.pattern, grouping.of_columns() == M::ROW_MAJOR)?;
        let Gcoo { other, line, source, .. } = Gcoo::new(&work, &index, grouping.lines(), u32::MAX as usize)?;
        let pack = match M::ROW_MAJOR {
            true => Pack::transposing(device, true, shape)?,
            false => Pack::new(device, true, shape.area())?,
        };
        let mut values = work.buffer(a.nnz() * shape.area())?;
        pack.run(&work, Some(&source), (&a.cbc).into(), &mut values)?;
        let lines = index.pattern().ncols;
        let groups = lines.div_ceil(grouping.lines());
        let starts: Kernel<GroupStarts<'_>> =
            Kernel::new(device, &options::<T>(device, grouping.lines(), device.info().numbers().dense_chunk))?;
        let mut group_ptr = work.buffer(groups + 1)?;
        let line_ptr = &index.pattern().col_ptr;
        let args = GroupStarts { line_ptr, group_ptr: &mut group_ptr, lines: lines as u32, groups: groups as u32 };
        starts.launch(&work, Grid::items(groups + 1, group_size(device)), args)?;
        let (device, nrows, ncols, fingerprint) = (device.clone(), a.nrows(), a.ncols(), OnceLock::new());
        let groups = Groups { device, nrows, ncols, shape, grouping, group_ptr, other, line, fingerprint };
        let origin = Some(Box::new(Origin { pattern: a.pattern(), source, pack }));
        Ok(Self { groups: Arc::new(groups), values, origin })
    }

    /// Takes the values that the compressed matrix has now, or another one of its pattern: one pass
    /// over them. Plans stay valid. Returns when it is enqueued.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, dense::{DeviceGcoo, Grouping}};
    /// let device = Device::auto()?;
    /// let mut a = device.upload(&Csc::from_triplets(2, 2, [(1, 0, 3.0), (0, 1, 2.0)])?)?;
    /// let mut grouped = DeviceGcoo::from_matrix(&a, Grouping::Rows(2))?;
    /// a.write_values(&[5.0, 7.0])?;
    /// grouped.update(&a)?;
    /// assert_eq!(grouped.download()?.values, [5.0, 7.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::PlanPattern`] for a matrix of another pattern; [`Error::Argument`] for one of
    /// another type, and for groups that were not made by [`DeviceGcoo::from_matrix`];
    /// [`Error::OpenCl`].
    pub fn update<M: Matrix<Element = T>>(&mut self, a: &DeviceMatrix<M>) -> Result<()> {
        let Some(Origin { pattern, source, pack }) = self.origin.as_deref() else {
            return Err(Error::Argument("these groups were not made of a compressed matrix".into()));
        };
        pattern.check_kind::<M>()?;
        pattern.check("A", &a.cbc)?;
        let work = Work::new(pattern.device(), None);
        pack.run(&work, Some(source), (&a.cbc).into(), &mut self.values)
    }
}
