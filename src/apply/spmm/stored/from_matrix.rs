//! Groups made from a compressed matrix, and updates of their values. Kernels:
//! `cl/apply/spmm/gcoo.cl`, `coordinates.cl`.
use super::groups::{Grouped, Groups, group_size, options};
use crate::{
    DevicePattern, Result,
    apply::spmm::{gcoo::Gcoo, numbers::CHUNK, pack::BlockPack},
    device::{Buffer, Grid, In, Kernel, Out, Work, kernel},
    matrix::Grouping,
    resident::DeviceCbc,
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

/// The compressed matrix from which groups were made.
pub(super) struct Origin {
    pattern: DevicePattern,
    /// The index of each entry in the compressed matrix.
    source: Buffer<u32>,
    pack: BlockPack,
}

impl Origin {
    pub fn pattern(&self) -> &DevicePattern {
        &self.pattern
    }

    /// Copies the current values of the compressed matrix, or of another matrix on its pattern.
    pub fn update(&self, a: &DeviceCbc, values: &mut Buffer) -> Result<()> {
        self.pattern.check("A", a)?;
        let work = Work::new(self.pattern.device(), None);
        self.pack.run(&work, Some(&self.source), a.into(), values)
    }

    /// Bytes of device memory held, including the pattern, which is kept for updates.
    pub fn bytes(&self) -> u64 {
        self.source.bytes() + self.pattern.device_bytes()
    }
}

impl Grouped {
    /// Groups a matrix on `pattern`.
    pub fn from_matrix(pattern: &DevicePattern, a: &DeviceCbc, grouping: Grouping) -> Result<Self> {
        let (device, shape, element) = (pattern.device(), pattern.shape(), a.element());
        let work = Work::new(device, None);
        // Rows of a row-major matrix are the columns of its arrays, in which blocks are transposed.
        let index = Index::new(&work, &a.pattern, grouping.of_columns() == pattern.row_major)?;
        let Gcoo { other, line, source, .. } = Gcoo::new(&work, &index, grouping.lines(), u32::MAX as usize)?;
        let pack = match pattern.row_major {
            true => BlockPack::transposing(device, element, true, shape)?,
            false => BlockPack::new(device, element, true, shape.area())?,
        };
        let mut values = work.buffer_of(element.word(), pattern.nnz() * shape.area())?;
        pack.run(&work, Some(&source), a.into(), &mut values)?;
        let lines = index.pattern().ncols;
        let groups = lines.div_ceil(grouping.lines());
        let options = options(device, element, grouping.lines(), CHUNK);
        let starts: Kernel<GroupStarts<'_>> = Kernel::new(device, &options)?;
        let mut group_ptr = work.buffer(groups + 1)?;
        let line_ptr = &index.pattern().col_ptr;
        let args = GroupStarts { line_ptr, group_ptr: &mut group_ptr, lines: lines as u32, groups: groups as u32 };
        starts.launch(&work, Grid::items(groups + 1, group_size(device)), args)?;
        let (device, nrows, ncols, fingerprint) = (device.clone(), pattern.nrows(), pattern.ncols(), OnceLock::new());
        let groups = Groups { device, element, nrows, ncols, shape, grouping, group_ptr, other, line, fingerprint };
        let origin = Some(Box::new(Origin { pattern: pattern.clone(), source, pack }));
        Ok(Self { groups: Arc::new(groups), values, origin })
    }
}
