//! Groups whose elements the host does not name, and the places of their entries.
use super::{Grouping, from_matrix::Origin};
use crate::{
    BlockShape, Device, Result,
    device::{Buffer, Options, Work},
    element::ElementType,
    resident::Fingerprint,
};
use std::sync::{Arc, OnceLock};

/// A [`DeviceGcoo`](super::DeviceGcoo) of any elements.
pub(super) struct Grouped {
    pub groups: Arc<Groups>,
    /// Blocks column-major.
    pub values: Buffer,
    /// Of a compressed matrix: how its values are read.
    pub origin: Option<Box<Origin>>,
}

/// The places of the entries of groups, and the type of their elements.
pub(in crate::apply::spmm) struct Groups {
    pub device: Device,
    pub element: ElementType,
    pub nrows: usize,
    pub ncols: usize,
    pub shape: BlockShape,
    pub grouping: Grouping,
    /// Entries before each group, and of all.
    pub group_ptr: Buffer<u32>,
    pub other: Buffer<u32>,
    pub line: Buffer<u8>,
    pub fingerprint: OnceLock<Fingerprint>,
}

pub(super) fn group_size(device: &Device) -> usize {
    device.info().numbers().elementwise_group
}

/// Options of `cl/apply/spmm/coordinates.cl`, with so many places across the lines in a chunk.
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

    /// Places of each line.
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

    /// Whether the groups have their entries in the same places: immediately if they are the same
    /// arrays, otherwise by fingerprints. Each is computed once (one read-back).
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
