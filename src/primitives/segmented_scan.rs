//! Scans and reductions of segments by any operator. The order of combination depends on the
//! segment alone. Kernel: `cl/primitives/segmented_scan.cl`.
//!
//! The order is that of products: elements are combined from left to right, in pieces of
//! [`RUN_PIECE`] elements. A work-item combines a piece; on a GPU it finds the piece in local
//! memory. If segments have several pieces, further launches compute the total of each piece, and
//! then for each piece the total of the pieces before it. One item combines all totals of a
//! segment, as the order demands. Tiles are processed in waves: while that item works, other items
//! scan the wave before and total the wave after. The values of a wave are still cached when it is
//! scanned. [`Scan`](super::scan::Scan) is for whole numbers, whose sums do not depend on the
//! order.
//!
//! [`RUN_PIECE`]: super::segmented_reduce::RUN_PIECE
mod launches;

use super::{Operator, Segments, segments::SegmentTuning};
use crate::{Arithmetic, Device, DeviceVector, Element, Error, Result, device::Options, plan::prepared::same_device};
use launches::Core;
use std::marker::PhantomData;

/// Scans and reduces vectors by an [`Operator`] ⊕, whole or in [`Segments`] (Garland 2008,
/// section 3.2).
///
/// * Inclusive: element i becomes a₀ ⊕ a₁ ⊕ ... ⊕ aᵢ.
/// * Exclusive: element i becomes a₀ ⊕ ... ⊕ aᵢ₋₁, and element 0 becomes the operator's result for
///   no elements.
/// * Reduced: a segment becomes the last element of its inclusive scan; an empty segment becomes
///   the result for no elements.
///
/// A segment is scanned as if it were alone. Scans are in place.
///
/// ```
/// use blockmul::{Device, extra::primitives::{Operator, Scanner, Segments}};
/// # fn main() -> blockmul::Result<()> {
/// let device = Device::auto()?;
/// let plus = Scanner::new(&device, &Operator::sum())?;
///
/// let mut a = device.upload_vector(&[3, 1, 2, 4, 1, 1])?;
/// plus.inclusive(&mut a)?;
/// assert_eq!(a.download()?, [3, 4, 6, 10, 11, 12]);
///
/// // [[3 1] [2 4 1] [1 1]], where segments begin by flags
/// let heads = Segments::from_flags(&device.upload_vector(&[1, 0, 1, 0, 0, 1, 0])?)?;
/// let mut a = device.upload_vector(&[3, 1, 2, 4, 1, 1, 1])?;
/// assert_eq!(plus.reduce(&heads, &a)?.download()?, [4, 7, 2]);
/// plus.inclusive_within(&heads, &mut a)?;
/// assert_eq!(a.download()?, [3, 4, 2, 6, 7, 1, 2]);
/// # Ok(())
/// # }
/// ```
///
/// # Order
///
/// The order of combination is the order of all sums of this crate, and depends on the segment
/// alone. Elements are combined from left to right, but a segment of more than 1024 elements is cut
/// every 1024 from its own start. First each piece is combined by itself. Then each piece is
/// combined with the total of the pieces before it. So the results of a scan have equal bits on
/// every device, and equal the results of [`reference::scan`](crate::reference::scan) on each
/// segment. Segments of up to 1024 elements have the order of the plain serial loop. For example,
/// the totals of products of A's values and x are A·x, to the bit:
///
/// ```
/// use blockmul::{Csr, Device, extra::primitives::{Operator, Scanner, Segments}, reference};
/// # fn main() -> blockmul::Result<()> {
/// let a = Csr::new(3, 3, vec![0, 3, 3, 4], vec![0, 1, 2, 1], vec![0.1, 0.2, 0.3, 0.7])?;
/// let x = [1.7, 1.9, 2.3];
/// // xs = gather(x, Aj); products = map<multiply>(Av, xs)
/// let products: Vec<f64> =
///     a.values().iter().zip(a.col_idx()).map(|(value, &j)| value * x[j as usize]).collect();
/// // y = totals(segscan<plus>(products, Ai))
/// let device = Device::auto()?;
/// let offsets: Vec<u32> = a.row_ptr().iter().map(|&offset| offset as u32).collect();
/// let rows = Segments::from_offsets(&device, &offsets)?;
/// let plus = Scanner::new(&device, &Operator::sum())?;
/// let y = plus.reduce(&rows, &device.upload_vector(&products)?)?;
///
/// let mut want = [0.0; 3];
/// reference::multiply_vector(1.0, &a, &x, 0.0, &mut want)?;
/// assert_eq!(y.download()?, want);
/// # Ok(())
/// # }
/// ```
///
/// Elements are combined in the same order if the expression is not associative, so its result is
/// equal on every device.
pub struct Scanner<T: Element> {
    core: Core,
    element: PhantomData<fn() -> T>,
}

impl<T: Element<Arithmetic = T> + Arithmetic> Scanner<T> {
    /// Compiles the operator for the device.
    ///
    /// # Errors
    /// [`Error::Argument`] with the compiler's log if it does not compile; [`Error::Unsupported`]
    /// for `f64` without `cl_khr_fp64`.
    pub fn new(device: &Device, operator: &Operator<T>) -> Result<Self> {
        device.require(T::TYPE)?;
        Self::tuned(device, operator, SegmentTuning::new(device.info()))
    }

    /// Prepares scans of segments that are cut with the same tuning.
    fn tuned(device: &Device, operator: &Operator<T>, tuning: SegmentTuning) -> Result<Self> {
        let core = Core::new(device, T::TYPE, operator.options(Options::group_size(tuning.group_size)), tuning)?;
        core.ready().map_err(|error| operator.refused(error))?;
        Ok(Self { core, element: PhantomData })
    }

    /// The inclusive scan of all elements, in place. Waits until the one segment of all elements is
    /// prepared, and returns when the scan is enqueued. If many vectors have the same length, make
    /// [`Segments`] once for all of them.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more than 2^32 - 4097 elements, [`Error::DeviceMismatch`],
    /// [`Error::Memory`], [`Error::OpenCl`].
    pub fn inclusive(&self, values: &mut DeviceVector<T>) -> Result<()> {
        self.inclusive_within(&self.core.whole(values.len())?, values)
    }

    /// The exclusive scan of all elements, in place. Waits as [`Scanner::inclusive`] does.
    ///
    /// ```
    /// use blockmul::{Device, extra::primitives::{Operator, Scanner}};
    /// # fn main() -> blockmul::Result<()> {
    /// let device = Device::auto()?;
    /// let mut least = device.upload_vector(&[3.0, 4.0, 1.0, 2.0])?;
    /// Scanner::new(&device, &Operator::min())?.exclusive(&mut least)?;
    /// assert_eq!(least.download()?, [f64::INFINITY, 3.0, 3.0, 1.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Scanner::inclusive`].
    pub fn exclusive(&self, values: &mut DeviceVector<T>) -> Result<()> {
        self.exclusive_within(&self.core.whole(values.len())?, values)
    }

    /// The inclusive scan of each segment, in place. Returns when the scan is enqueued.
    ///
    /// # Errors
    /// [`Error::Length`] if the segments have another number of elements;
    /// [`Error::DeviceMismatch`], [`Error::Memory`], [`Error::OpenCl`].
    pub fn inclusive_within(&self, segments: &Segments, values: &mut DeviceVector<T>) -> Result<()> {
        self.check(segments, values)?;
        self.core.run(segments, &mut values.values, true)
    }

    /// The exclusive scan of each segment, in place. Returns when the scan is enqueued.
    ///
    /// # Errors
    /// See [`Scanner::inclusive_within`].
    pub fn exclusive_within(&self, segments: &Segments, values: &mut DeviceVector<T>) -> Result<()> {
        self.check(segments, values)?;
        self.core.run(segments, &mut values.values, false)
    }

    /// The combination of the elements of each segment. Returns when the reduction is enqueued.
    ///
    /// # Errors
    /// See [`Scanner::inclusive_within`].
    pub fn reduce(&self, segments: &Segments, values: &DeviceVector<T>) -> Result<DeviceVector<T>> {
        self.check(segments, values)?;
        let sums = self.core.reduce(segments, &values.values)?.into_typed();
        Ok(DeviceVector { values: sums, device: self.core.device.clone() })
    }

    /// Refuses a vector on another device than the segments', or with another number of elements.
    fn check(&self, segments: &Segments, values: &DeviceVector<T>) -> Result<()> {
        same_device(&self.core.device, values.device())?;
        same_device(&self.core.device, &segments.device)?;
        match (values.len(), segments.elements()) {
            (found, expected) if found == expected => Ok(()),
            (found, expected) => {
                let why = "the elements of all segments".into();
                Err(Error::Length { array: "values", found, expected, why })
            }
        }
    }
}

impl<T: Element> std::fmt::Debug for Scanner<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Scanner({} on {})", T::NAME, self.core.device.info().name)
    }
}

#[cfg(test)]
mod tests;
