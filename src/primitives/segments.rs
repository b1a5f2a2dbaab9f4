//! Segments of vectors, from offsets or head flags, cut into pieces. Kernel:
//! `cl/primitives/heads.cl`.
use super::{
    scan::{Scan, ScanTuning},
    segmented_reduce::RUN_PIECE,
};
use crate::{
    Device, DeviceVector, Error, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Out, Work, kernel},
};

kernel! {
    struct CountHeads = "count_heads" in "primitives/heads.cl" { flags: In<u8>, rank: InOut<u32>, n: u32 }
}

kernel! {
    struct PlaceHeads = "place_heads" in "primitives/heads.cl" {
        flags: In<u8>,
        rank: In<u32>,
        head: Out<u32>,
        n: u32,
    }
}

/// Consecutive segments of a vector, which may be empty. They are prepared once on a device for any
/// number of scans and reductions by a [`Scanner`](super::Scanner).
///
/// Garland's example describes one segmented sequence in both ways:
///
/// ```
/// use blockmul::{Device, extra::primitives::Segments};
/// # fn main() -> blockmul::Result<()> {
/// let device = Device::auto()?;
/// // [[3 1] [2 4 1] [1 1]]
/// let by_offsets = Segments::from_offsets(&device, &[0, 2, 5, 7])?;
/// let flags = device.upload_vector(&[1u8, 0, 1, 0, 0, 1, 0])?;
/// let by_flags = Segments::from_flags(&flags)?;
/// assert_eq!((by_offsets.count(), by_offsets.elements()), (3, 7));
/// assert_eq!((by_flags.count(), by_flags.elements()), (3, 7));
/// # Ok(())
/// # }
/// ```
pub struct Segments {
    /// The start of each piece, and the end of the last one.
    pub(super) begin: Buffer<u32>,
    /// 1 for a piece that is not the first of its segment.
    pub(super) follows: Buffer<u8>,
    /// The first piece of each segment, and the number of all pieces.
    pub(super) piece_ptr: Buffer<u32>,
    /// The first piece of each segment with several pieces; `long_end` has the end.
    pub(super) long_begin: Buffer<u32>,
    pub(super) long_end: Buffer<u32>,
    elements: usize,
    pub(super) device: Device,
}

/// The arrays of [`Segments`] on the host. A piece has [`RUN_PIECE`] elements, counted from the
/// start of its segment. The last piece of a segment may have fewer, but not 0.
#[derive(Default)]
struct Pieces {
    begin: Vec<u32>,
    follows: Vec<u8>,
    ptr: Vec<u32>,
    long_begin: Vec<u32>,
    long_end: Vec<u32>,
}

impl Pieces {
    /// Cuts segments into pieces. Segments begin and end at the ascending `offsets`, and there is
    /// at least one offset.
    fn of(offsets: &[u32]) -> Self {
        let mut pieces = Self::default();
        for segment in offsets.windows(2) {
            let first = pieces.begin.len() as u32;
            pieces.ptr.push(first);
            pieces.begin.extend((segment[0]..segment[1]).step_by(RUN_PIECE));
            let end = pieces.begin.len() as u32;
            pieces.follows.extend((first..end).map(|piece| u8::from(piece > first)));
            if end - first > 1 {
                pieces.long_begin.push(first);
                pieces.long_end.push(end);
            }
        }
        pieces.ptr.push(pieces.begin.len() as u32);
        pieces.begin.push(offsets[offsets.len() - 1]);
        pieces
    }
}

impl Segments {
    /// Segments that begin and end at `offsets`: segment s has the elements from `offsets[s]` to
    /// before `offsets[s + 1]`, like a column of a compressed matrix. Offsets begin at 0, ascend,
    /// and end at the number of elements. Two equal offsets make an empty segment.
    ///
    /// # Errors
    /// [`Error::Argument`] if the offsets are not like this, [`Error::TooLarge`] if the last is
    /// above 2^32 - 4097,
    /// [`Error::Memory`].
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
        index(offsets[offsets.len() - 1] as usize)?;
        Self::upload(device, offsets)
    }

    /// Segments that begin at element 0 and at each element whose flag is not 0. No segment is
    /// empty. Finds them on the device, and waits for them.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more than 2^32 - 4097 elements, [`Error::Memory`],
    /// [`Error::OpenCl`].
    pub fn from_flags(flags: &DeviceVector<u8>) -> Result<Self> {
        let (device, len) = (flags.device(), flags.len());
        let (n, flags) = (index(len)?, &flags.values);
        if n == 0 {
            return Self::upload(device, &[0]);
        }
        let (work, group_size) = (Work::new(device, None), device.info().value_group());
        let (options, grid) = (Options::group_size(group_size), Grid::items(len, group_size));
        let count = Kernel::<CountHeads>::new(device, &options)?;
        let place = Kernel::<PlaceHeads>::new(device, &options)?;
        let scan = Scan::new(device, ScanTuning::new(device.info()))?;
        let mut rank = work.buffer(len)?;
        count.launch(&work, grid, CountHeads { flags, rank: &mut rank, n })?;
        scan.run(&work, &mut rank)?;
        // The last element belongs to the last segment, which begins there or before.
        let (before, last) = (work.read(&rank, len - 1, 1)?[0], work.read(flags, len - 1, 1)?[0]);
        let heads = before as usize + usize::from(last != 0 || n == 1);
        let mut head = work.buffer(heads)?;
        place.launch(&work, grid, PlaceHeads { flags, rank: &rank, head: &mut head, n })?;
        let mut offsets = head.download(&work)?;
        offsets.push(n);
        Self::upload(device, &offsets)
    }

    /// One segment of `elements` elements.
    pub(super) fn whole(device: &Device, elements: usize) -> Result<Self> {
        Self::upload(device, &[0, index(elements)?])
    }

    fn upload(device: &Device, offsets: &[u32]) -> Result<Self> {
        let (work, pieces) = (Work::new(device, None), Pieces::of(offsets));
        Ok(Self {
            begin: work.upload(&pieces.begin)?,
            follows: work.upload(&pieces.follows)?,
            piece_ptr: work.upload(&pieces.ptr)?,
            long_begin: work.upload(&pieces.long_begin)?,
            long_end: work.upload(&pieces.long_end)?,
            elements: offsets[offsets.len() - 1] as usize,
            device: device.clone(),
        })
    }

    /// Number of segments.
    pub fn count(&self) -> usize {
        self.piece_ptr.len() - 1
    }

    /// Number of elements in all segments.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// The device that holds the segments.
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub(super) fn pieces(&self) -> usize {
        self.follows.len()
    }
}

impl std::fmt::Debug for Segments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Segments({} of {} elements on {})", self.count(), self.elements, self.device.info().name)
    }
}

/// Most elements. The items of all work-groups for them must be countable in 32 bits.
const MOST: u32 = u32::MAX - 4096;

/// The number of elements as kernels take it.
fn index(elements: usize) -> Result<u32> {
    let (value, limit) = (elements as u64, MOST.into());
    u32::try_from(elements).ok().filter(|&n| n <= MOST).ok_or(Error::TooLarge { what: "elements", value, limit })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_device;

    #[test]
    fn pieces_are_counted_from_the_start_of_their_segment() {
        let pieces = Pieces::of(&[0, 0, 3, 1027, 1027, 3076, 3076]);
        assert_eq!(pieces.begin, [0, 3, 1027, 2051, 3075, 3076]);
        assert_eq!(pieces.follows, [0, 0, 0, 1, 1]);
        assert_eq!(pieces.ptr, [0, 0, 1, 2, 2, 5, 5]);
        assert_eq!((pieces.long_begin, pieces.long_end), (vec![2], vec![5]));
        assert_eq!(Pieces::of(&[0]).begin, [0]);
    }

    #[test]
    fn flags_give_the_offsets_of_their_heads() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        // Numbers around a tile of a GPU's scan (2048); a flag at the last element, and no flag.
        for n in [0, 1, 2, 63, 64, 65, 2047, 2048, 2049, 5000] {
            for every in [1, 3, 64, n.max(2) - 1, n + 1] {
                let flags: Vec<u8> = (0..n).map(|i| if i % every == every - 1 { 7 } else { 0 }).collect();
                let heads = (0..n as u32).filter(|&i| i == 0 || flags[i as usize] != 0);
                let offsets: Vec<u32> = heads.chain([n as u32]).collect();
                let found = Segments::from_flags(&device.upload_vector(&flags)?)?;
                let want = Pieces::of(&offsets);
                assert_eq!(found.begin.download(&work)?, want.begin, "{n} elements, heads every {every}");
                assert_eq!(found.piece_ptr.download(&work)?, want.ptr, "{n} elements, heads every {every}");
                assert_eq!((found.count(), found.elements()), (offsets.len() - 1, n));
            }
        }
        Ok(())
    }

    #[test]
    fn wrong_offsets_are_refused_with_their_numbers() {
        let device = test_device();
        for (offsets, why) in [
            (&[][..], "there are no offsets"),
            (&[1, 2], "offsets begin at 1, not at 0"),
            (&[0, 5, 3, 9], "segment 1 begins at 5 and ends at 3"),
        ] {
            let error = Segments::from_offsets(&device, offsets).unwrap_err();
            assert!(matches!(&error, Error::Argument(text) if text.contains(why)), "{offsets:?}: {error}");
        }
        for end in [MOST + 1, u32::MAX] {
            let error = Segments::from_offsets(&device, &[0, end]).unwrap_err();
            assert!(matches!(error, Error::TooLarge { limit: 0xffff_efff, .. }), "{error}");
        }
    }
}
