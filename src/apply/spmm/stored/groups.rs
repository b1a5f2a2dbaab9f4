//! Groups without element types, and the places of their entries.
use super::from_matrix::Origin;
use crate::{
    BlockShape, Device, Result,
    device::{Buffer, Options, Work},
    element::ElementType,
    matrix::Grouping,
    resident::Fingerprint,
};
use std::sync::{Arc, OnceLock};

/// A [`DeviceGcoo`](super::DeviceGcoo) without its element type.
pub(super) struct Grouped {
    pub groups: Arc<Groups>,
    /// The values; blocks are column-major.
    pub values: Buffer,
    /// The compressed matrix from which the groups were made, if any.
    pub origin: Option<Box<Origin>>,
}

/// The places of the entries in groups, and the element type.
pub(in crate::apply::spmm) struct Groups {
    pub device: Device,
    pub element: ElementType,
    pub nrows: usize,
    pub ncols: usize,
    pub shape: BlockShape,
    pub grouping: Grouping,
    /// Number of entries before each group; the last element is the number of all entries.
    pub group_ptr: Buffer<u32>,
    pub other: Buffer<u32>,
    pub line: Buffer<u8>,
    pub fingerprint: OnceLock<Fingerprint>,
}

pub(super) fn group_size(device: &Device) -> usize {
    device.info().elementwise_group()
}

/// Options of `cl/apply/spmm/coordinates.cl` for chunks of `chunk` places across the lines.
pub(super) fn options(device: &Device, element: ElementType, group_lines: usize, chunk: usize) -> Options {
    Options::group_size(group_size(device)).element(element).define("LINES", group_lines).define("CHUNK", chunk)
}

impl Grouped {
    /// Bytes of device memory held.
    pub fn bytes(&self) -> u64 {
        let of_origin = self.origin.as_ref().map_or(0, |origin| origin.bytes());
        self.groups.bytes() + self.values.bytes() + of_origin
    }
}

impl Groups {
    pub fn nnz(&self) -> usize {
        self.other.len()
    }

    /// Number of lines.
    pub fn lines(&self) -> usize {
        if self.grouping.of_columns() { self.ncols } else { self.nrows }
    }

    /// Number of places in each line.
    pub fn across(&self) -> usize {
        if self.grouping.of_columns() { self.nrows } else { self.ncols }
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.lines().div_ceil(self.grouping.lines())
    }

    pub fn bytes(&self) -> u64 {
        self.group_ptr.bytes() + self.other.bytes() + self.line.bytes()
    }

    /// Whether two matrices have their entries in the same groups and places. If the matrices share
    /// their arrays, the answer is immediate. If the matrices have different arrays, their
    /// fingerprints are compared. A fingerprint is computed once, with one read-back.
    pub fn same_as(self: &Arc<Self>, of: &Arc<Self>) -> Result<bool> {
        let sizes = |of: &Self| (of.nrows, of.ncols, of.shape, of.grouping, of.nnz());
        let same = Arc::ptr_eq(self, of);
        Ok(same
            || self.device.same_as(&of.device)
                && sizes(self) == sizes(of)
                && self.fingerprint()? == of.fingerprint()?)
    }

    fn fingerprint(&self) -> Result<Fingerprint> {
        if let Some(known) = self.fingerprint.get() {
            return Ok(*known);
        }
        let work = Work::new(&self.device, None);
        let found = Fingerprint::of(&work, &[&self.group_ptr, &self.other, &self.line_of(&work)?])?;
        Ok(*self.fingerprint.get_or_init(|| found))
    }
}
