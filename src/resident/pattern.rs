//! Patterns on a device. A pattern is uploaded once and shared by all matrices on it. Patterns are
//! compared by fingerprints. Kernel: `cl/resident/fingerprint.cl`.
mod difference;

use crate::{
    BlockShape, Error, Pattern, Result,
    device::{Arguing, Buffer, Declared, Device, Grid, In, InOut, Kernel, Options, Param, Work, kernel},
    element::WordType,
    error::{Dimensions, PatternDifference, PatternMismatch, PatternSize},
    matrix::MatrixKind,
};
use std::sync::{Arc, OnceLock};

/// The structure of a matrix on a device: the places of its entries (blocks) and the shape of its
/// blocks. A pattern is a handle: its clones and all matrices made on it share the arrays.
#[derive(Clone)]
pub struct DevicePattern {
    pub(crate) arrays: Arc<PatternArrays>,
    /// Shape of the blocks in the arrays. In row-major matrices it is the transposed shape.
    pub(crate) array_shape: BlockShape,
    pub(crate) row_major: bool,
}

impl DevicePattern {
    /// Number of rows, counted in entries (blocks).
    pub fn nrows(&self) -> usize {
        if self.row_major { self.arrays.ncols } else { self.arrays.nrows }
    }

    /// Number of columns, counted in entries (blocks).
    pub fn ncols(&self) -> usize {
        if self.row_major { self.arrays.nrows } else { self.arrays.ncols }
    }

    /// Number of entries (blocks).
    pub fn nnz(&self) -> usize {
        self.arrays.nnz()
    }

    /// Shape of the blocks; 1x1 for scalar matrices.
    pub fn shape(&self) -> BlockShape {
        if self.row_major { self.array_shape.transpose() } else { self.array_shape }
    }

    /// The device that holds the pattern.
    pub fn device(&self) -> &Device {
        &self.arrays.device
    }

    /// Number of bytes of device memory held, which all users of the pattern share.
    pub fn device_bytes(&self) -> u64 {
        self.arrays.bytes()
    }

    /// Numbers of rows and columns, counted in entries (blocks), and the sides of a block.
    pub(crate) fn dimensions(&self) -> Dimensions {
        let (shape, nrows, ncols) = (self.shape(), self.nrows(), self.ncols());
        Dimensions { nrows, ncols, block_rows: shape.rows(), block_cols: shape.cols() }
    }

    /// Numbers of rows and columns, counted in scalars.
    pub(crate) fn scalar_sides(&self) -> (usize, usize) {
        (self.nrows() * self.shape().rows(), self.ncols() * self.shape().cols())
    }

    /// Refuses a pattern that belongs to another kind of matrix: row-major or not, or with blocks
    /// if the kind only has scalars.
    pub(crate) fn check_kind(&self, kind: MatrixKind) -> Result<()> {
        match self.row_major != kind.is_row_major() || (!kind.has_blocks() && self.array_shape != BlockShape::SCALAR) {
            true => Err(Error::Argument(format!("{self:?} is not of this matrix type"))),
            false => Ok(()),
        }
    }

    /// Refuses a matrix, called `name`, if its pattern `other` differs from this pattern.
    pub(crate) fn check_same(&self, name: &str, other: &Self) -> Result<()> {
        let same_device = other.device().same_as(self.device());
        if same_device && other.array_shape == self.array_shape && self.arrays.same_as(&other.arrays)? {
            return Ok(());
        }
        let difference = match same_device {
            true => self.difference(other)?,
            false => PatternDifference::Device {
                found: other.device().info().name.clone(),
                expected: self.device().info().name.clone(),
            },
        };
        Err(Error::PlanPattern(Box::new(PatternMismatch { matrix: name.into(), difference })))
    }

    /// Finds the first difference from another pattern. Entries are read back and compared.
    fn difference(&self, other: &Self) -> Result<PatternDifference> {
        let (found, expected) = (other.size(), self.size());
        if found == expected {
            let work = Work::new(self.device(), None);
            if let Some(place) = difference::first_difference(&work, &other.arrays, &self.arrays)? {
                let (row, col) = if self.row_major { (place.col, place.row) } else { (place.row, place.col) };
                return Ok(PatternDifference::Entry { size: found, row, col, found: place.in_first });
            }
        }
        Ok(PatternDifference::Size { found, expected })
    }

    fn size(&self) -> PatternSize {
        let shape = self.shape();
        PatternSize {
            nrows: self.nrows(),
            ncols: self.ncols(),
            block_rows: shape.rows(),
            block_cols: shape.cols(),
            nnz: self.nnz(),
        }
    }
}

impl std::fmt::Debug for DevicePattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DevicePattern({}x{} entries of {}, {} stored)", self.nrows(), self.ncols(), self.shape(), self.nnz())
    }
}

/// The arrays of a pattern. The code that makes a `PatternArrays` guarantees that its arrays are
/// valid.
pub(crate) struct PatternArrays {
    pub device: Device,
    pub nrows: usize,
    pub ncols: usize,
    pub col_ptr: Buffer<u32>,
    pub row_idx: Buffer<u32>,
    /// Counts of the columns if the host had the pattern; otherwise `None`.
    pub lengths: Option<ColumnLengths>,
    fingerprint: OnceLock<Fingerprint>,
}

/// Counts of the columns of a pattern, made on the host before the upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ColumnLengths {
    /// Number of entries in the longest column.
    pub longest: u32,
    /// The sum of the squares of the numbers of entries in the columns. The sum equals the number
    /// of products of A·A if, for every i, row i of A has as many entries as column i.
    pub squares: u64,
}

impl ColumnLengths {
    pub fn of(pattern: &Pattern) -> Self {
        let lengths = pattern.col_ptr().windows(2).map(|ends| ends[1] - ends[0]);
        lengths.fold(Self { longest: 0, squares: 0 }, |Self { longest, squares }, length| Self {
            longest: longest.max(length as u32),
            squares: squares.saturating_add(length * length),
        })
    }
}

/// Number of work-groups that reduce the counts of a picture or pattern to records, which the host
/// adds up. The number is large enough for any device and small enough for the host.
pub(crate) const RECORD_GROUPS: usize = 256;

/// Two sums over all offsets and rows, each of which is mixed with its index. Two different
/// patterns have the same sums with a probability of 2^-128, unless somebody constructed them to
/// have the same sums. Every summand is mixed by a bijection of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint([u64; 2]);

impl Fingerprint {
    /// The fingerprint of the words of several arrays. The fingerprint is read back.
    pub fn of(work: &Work, arrays: &[&Buffer<u32>]) -> Result<Self> {
        let (kernel, group_size) = PatternArrays::fingerprint_kernel(work.device())?;
        let groups = RECORD_GROUPS;
        let mut sums = work.buffer(2 * groups)?;
        work.fill_zero(&mut sums)?;
        for (array, word) in (0..).zip(arrays) {
            let grid = Grid::groups(word.len().div_ceil(group_size).min(groups), group_size);
            kernel.launch(work, grid, HashWords { word, sums: &mut sums, words: word.len() as u32, array })?;
        }
        let sums: Vec<u64> = sums.download(work)?;
        let add = |x: [u64; 2], y: &[u64]| [x[0].wrapping_add(y[0]), x[1].wrapping_add(y[1])];
        Ok(Self(sums.chunks(2).fold([0; 2], add)))
    }
}

/// A pattern as a kernel argument. A field `a` of a `kernel!` stands for the arguments `a_col_ptr`
/// and `a_row_idx`.
pub(crate) struct InPattern;

impl Param for InPattern {
    type Value<'a> = &'a PatternArrays;
    fn declare(to: &mut Declared) {
        let name = to.field();
        ["col_ptr", "row_idx"].iter().for_each(|array| to.pointer(&format!("{name}_{array}"), WordType::of::<u32>()));
    }
    unsafe fn pass(value: &Self::Value<'_>, to: &mut Arguing<'_>) {
        // SAFETY: the arguments are two global pointers, as the caller guarantees.
        unsafe {
            In::<u32>::pass(&&value.col_ptr, to);
            In::<u32>::pass(&&value.row_idx, to);
        }
    }
}

kernel! {
    struct HashWords = "fingerprint" in "resident/fingerprint.cl" {
        word: In<u32>,
        sums: InOut<u64>,
        words: u32,
        array: u32,
    }
}

/// The offsets of every pattern fit 32 bits, so the fingerprint covers all of them.
const _: () = assert!(Pattern::MAX_LINES < u32::MAX as u64);

impl PatternArrays {
    /// Maximum number of entries of a matrix on a device, 2^32 - 2^16. Kernels count entries with
    /// 32-bit counters, in steps of a work-group or a tile. A step beyond the last entry must not
    /// overflow the counter.
    pub const MAX_NNZ: u64 = (1 << 32) - (1 << 16);

    pub fn new(device: &Device, nrows: usize, ncols: usize, col_ptr: Buffer<u32>, row_idx: Buffer<u32>) -> Arc<Self> {
        Arc::new(Self::unseen(device, nrows, ncols, col_ptr, row_idx))
    }

    fn unseen(device: &Device, nrows: usize, ncols: usize, col_ptr: Buffer<u32>, row_idx: Buffer<u32>) -> Self {
        let (device, lengths, fingerprint) = (device.clone(), None, OnceLock::new());
        Self { device, nrows, ncols, col_ptr, row_idx, lengths, fingerprint }
    }

    pub fn upload(work: &Work, host: &Pattern) -> Result<Arc<Self>> {
        Self::check_nnz(host.nnz() as u64)?;
        let col_ptr: Vec<u32> = host.col_ptr().iter().map(|&p| p as u32).collect();
        let (col_ptr, row_idx) = (work.upload(&col_ptr)?, work.upload(host.row_idx())?);
        let unseen = Self::unseen(work.device(), host.nrows(), host.ncols(), col_ptr, row_idx);
        Ok(Arc::new(Self { lengths: Some(ColumnLengths::of(host)), ..unseen }))
    }

    pub fn check_nnz(nnz: u64) -> Result<()> {
        match nnz > Self::MAX_NNZ {
            true => Err(Error::TooLarge {
                what: "number of entries of a matrix on a device",
                value: nnz,
                limit: Self::MAX_NNZ,
            }),
            false => Ok(()),
        }
    }

    pub fn nnz(&self) -> usize {
        self.row_idx.len()
    }

    pub fn download(&self, work: &Work) -> Result<Pattern> {
        let col_ptr = self.col_ptr.download(work)?.into_iter().map(u64::from).collect();
        Pattern::new(self.nrows, self.ncols, col_ptr, self.row_idx.download(work)?)
            .map_err(|error| Error::Contradiction(error.to_string()))
    }

    /// Number of bytes of device memory that the arrays take, rounded up to size classes.
    pub fn bytes(&self) -> u64 {
        self.col_ptr.bytes() + self.row_idx.bytes()
    }

    /// Returns the arrays for exclusive use. Arrays that other patterns share are copied.
    pub fn into_buffers(self: Arc<Self>, work: &Work) -> Result<(Buffer<u32>, Buffer<u32>)> {
        let copy = |from: &Buffer<u32>| -> Result<_> {
            let mut to = work.buffer(from.len())?;
            work.copy(from, 0, &mut to, 0, from.len())?;
            Ok(to)
        };
        match Arc::try_unwrap(self) {
            Ok(Self { col_ptr, row_idx, .. }) => Ok((col_ptr, row_idx)),
            Err(shared) => Ok((copy(&shared.col_ptr)?, copy(&shared.row_idx)?)),
        }
    }

    /// Whether two patterns are the same. Patterns that do not share their arrays are compared by
    /// fingerprints. The fingerprint of a pattern is computed once, with one read-back.
    pub fn same_as(self: &Arc<Self>, other: &Arc<Self>) -> Result<bool> {
        if Arc::ptr_eq(self, other) {
            return Ok(true);
        }
        let sizes = |p: &Self| (p.nrows, p.ncols, p.nnz());
        Ok(sizes(self) == sizes(other) && self.fingerprint()? == other.fingerprint()?)
    }

    /// Requests the kernel that compares patterns.
    pub fn ask(device: &Device) -> Result<()> {
        Self::fingerprint_kernel(device).map(drop)
    }

    /// The kernel and its work-group size.
    fn fingerprint_kernel(device: &Device) -> Result<(Kernel<HashWords<'static>>, usize)> {
        let group_size = device.info().serial_or(device.info().elementwise_group());
        let options = Options::group_size(group_size);
        Ok((Kernel::new(device, &options)?, group_size))
    }

    fn fingerprint(&self) -> Result<Fingerprint> {
        if let Some(known) = self.fingerprint.get() {
            return Ok(*known);
        }
        let found = Fingerprint::of(&Work::new(&self.device, None), &[&self.col_ptr, &self.row_idx])?;
        Ok(*self.fingerprint.get_or_init(|| found))
    }
}
