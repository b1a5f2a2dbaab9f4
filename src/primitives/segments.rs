//! Segments of vectors, from offsets, flags or rows. The segments are cut into pieces on the
//! device.
mod heads;
mod numbers;
mod pieces;

pub(crate) use numbers::SegmentNumbers;
pub(super) use pieces::{Cutter, Pieces, Step, Wave};

use crate::{
    Device, DeviceInfo, DeviceVector, Error, Result,
    device::{Buffer, Work},
};

/// Parameters with which segments are cut and scanned.
#[derive(Debug, Clone, Copy)]
pub(super) struct SegmentTuning {
    pub group_size: usize,
    /// Number of elements among which the pieces of a tile begin.
    pub tile: usize,
    /// Number of tiles in a wave.
    pub wave: usize,
}

impl SegmentTuning {
    pub fn new(info: &DeviceInfo) -> Self {
        let SegmentNumbers { segment_scan_group: group_size, segment_scan_tile: tile, segment_scan_wave: wave } =
            info.numbers();
        Self { group_size, tile, wave }
    }
}

/// Consecutive segments of a vector, which may be empty. Segments are prepared once on a device for
/// any number of scans and reductions by a [`Scanner`](super::Scanner).
///
/// An example of Garland (2008), whose segments are described in four ways:
///
/// ```
/// use blockmul::{Device, extra::primitives::Segments};
/// # fn main() -> blockmul::Result<()> {
/// let device = Device::auto()?;
/// // [[3 1] [2 4 1] [1 1]]
/// let by_offsets = Segments::from_offsets(&device, &[0, 2, 5, 7])?;
/// let by_flags = Segments::from_flags(&device.upload_vector(&[1u8, 0, 1, 0, 0, 1, 0])?)?;
/// let by_bits = Segments::from_bits(&device.upload_vector(&[0b010_0101u32])?, 7)?;
/// let by_rows = Segments::from_rows(&device.upload_vector(&[0u32, 0, 1, 1, 1, 2, 2])?, 3)?;
/// for segments in [by_offsets, by_flags, by_bits, by_rows] {
///     assert_eq!((segments.count(), segments.elements()), (3, 7));
/// }
/// # Ok(())
/// # }
/// ```
pub struct Segments {
    pub(super) pieces: Pieces,
    elements: usize,
    pub(super) device: Device,
}

impl Segments {
    /// Segments that begin and end at `offsets`: segment s has the elements from `offsets[s]` to
    /// before `offsets[s + 1]`, like a column of a compressed matrix. Offsets begin at 0, ascend,
    /// and end at the number of elements. Two equal offsets make an empty segment.
    ///
    /// # Errors
    /// [`Error::Argument`] if the offsets do not begin at 0 or do not ascend; [`Error::TooLarge`]
    /// if the last offset or the number of segments is above 2^32 - 4097; [`Error::Memory`],
    /// [`Error::OpenCl`].
    pub fn from_offsets(device: &Device, offsets: &[u32]) -> Result<Self> {
        let refuse = |why: String| Err(Error::Argument(why));
        match offsets.first() {
            None => return refuse("there are no offsets: n segments have n + 1".into()),
            Some(0) => {}
            Some(first) => return refuse(format!("offsets begin at {first}, not at 0")),
        }
        if let Some(segment) = offsets.windows(2).position(|ends| ends[0] > ends[1]) {
            let (begin, end) = (offsets[segment], offsets[segment + 1]);
            return refuse(format!("segment {segment} begins at {begin} and ends at {end}: offsets must ascend"));
        }
        let (work, elements) = (Work::new(device, None), offsets[offsets.len() - 1] as usize);
        index(elements)?;
        index(offsets.len())?;
        Self::cut(&work, &work.upload(offsets)?, elements)
    }

    /// Segments that begin at element 0 and at each element whose flag is not 0. No segment is
    /// empty. Finds the segments on the device, and waits for the result.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more than 2^32 - 4097 elements, [`Error::Memory`],
    /// [`Error::OpenCl`].
    pub fn from_flags(flags: &DeviceVector<u8>) -> Result<Self> {
        let (work, n) = (Work::new(flags.device(), None), index(flags.len())?);
        let offsets = heads::offsets_of_bits(&work, &heads::pack(&work, &flags.values)?, n)?;
        Self::cut(&work, &offsets, flags.len())
    }

    /// Segments that begin at element 0 and at each element whose bit is set. Element i has bit
    /// i modulo 32, counted from the lowest, of word i / 32. Bits beyond the elements do not
    /// matter. No segment is empty. Finds the segments on the device, and waits for the result.
    ///
    /// # Errors
    /// [`Error::Length`] if the number of words is not the number that the elements need; see
    /// [`Segments::from_flags`].
    pub fn from_bits(bits: &DeviceVector<u32>, elements: usize) -> Result<Self> {
        let (work, n) = (Work::new(bits.device(), None), index(elements)?);
        let (found, expected) = (bits.len(), elements.div_ceil(heads::OF_WORD));
        if found != expected {
            let why = format!("a word for 32 of {elements} elements");
            return Err(Error::Length { array: "bits", found, expected, why });
        }
        Self::cut(&work, &heads::offsets_of_bits(&work, &bits.values, n)?, elements)
    }

    /// `rows` segments. Element i belongs to segment `row_idx[i]`. The row indices ascend, as in a
    /// list of entries by row. Segments without elements are empty. Finds the segments on the
    /// device, and waits for the result.
    ///
    /// # Errors
    /// [`Error::Argument`] if an index is not below `rows`, or is below the index of the element
    /// before it; [`Error::TooLarge`] for more than 2^32 - 4097 elements or rows;
    /// [`Error::Memory`], [`Error::OpenCl`].
    pub fn from_rows(row_idx: &DeviceVector<u32>, rows: usize) -> Result<Self> {
        let work = Work::new(row_idx.device(), None);
        index(row_idx.len())?;
        index(rows)?;
        Self::cut(&work, &heads::offsets_of_rows(&work, &row_idx.values, rows)?, row_idx.len())
    }

    fn cut(work: &Work, offsets: &Buffer<u32>, elements: usize) -> Result<Self> {
        let cutter = Cutter::new(work.device(), SegmentTuning::new(work.device().info()))?;
        Self::cut_by(&cutter, work, offsets, elements)
    }

    /// Segments that begin and end at ascending offsets. The last offset is `elements`.
    pub(super) fn cut_by(cutter: &Cutter, work: &Work, offsets: &Buffer<u32>, elements: usize) -> Result<Self> {
        Ok(Self { pieces: cutter.cut(work, offsets, elements)?, elements, device: work.device().clone() })
    }

    /// One segment of `elements` elements.
    pub(super) fn whole(cutter: &Cutter, device: &Device, elements: usize) -> Result<Self> {
        let work = Work::new(device, None);
        Self::cut_by(cutter, &work, &work.upload(&[0, index(elements)?])?, elements)
    }

    /// Number of segments.
    pub fn count(&self) -> usize {
        self.pieces.piece_ptr.len() - 1
    }

    /// Number of elements in all segments.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// The device that holds the segments.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl std::fmt::Debug for Segments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Segments({} of {} elements on {})", self.count(), self.elements, self.device.info().name)
    }
}

/// Maximum number of elements. Kernels count the items of all their work-groups in 32 bits.
const MOST: u32 = u32::MAX - 4096;

/// The number of elements as kernels take it.
fn index(elements: usize) -> Result<u32> {
    let (value, limit) = (elements as u64, MOST.into());
    u32::try_from(elements).ok().filter(|&n| n <= MOST).ok_or(Error::TooLarge { what: "elements", value, limit })
}

#[cfg(test)]
mod tests;
