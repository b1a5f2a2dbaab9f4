//! Scans and reductions of vectors on a device by any associative operator, whole or in segments.
//!
//! A [`Scanner`] is an [`Operator`] compiled for a device. A [`Scanner`] scans vectors as a whole
//! or within [`Segments`], which offsets, head flags or row indices describe, and reduces segments
//! to their totals. Scans and reductions are the primitives to which M. Garland, *Sparse Matrix
//! Computations on Manycore GPU's* (2008), reduces sparse products and shortest paths; [`Scanner`]
//! has the examples of its section 3.2.
//!
//! ```
//! use blockmul::{Device, extra::primitives::{Operator, Scanner, Segments}};
//! # fn main() -> blockmul::Result<()> {
//! let device = Device::auto()?;
//! // Functions i -> p·i + q modulo 2^16, packed as p·2^16 + q; x ⊕ y is y after x. It is
//! // associative, but not commutative: a recurrence of first order is a scan.
//! let then = "(x >> 16) * (y >> 16) << 16 | ((x & 0xffff) * (y >> 16) + (y & 0xffff) & 0xffff)";
//! let compose = Scanner::new(&device, &Operator::new(then, 1 << 16)?)?;
//! let of = |p: u32, q: u32| p << 16 | q;
//! let mut steps = device.upload_vector(&[of(2, 1), of(3, 5), of(1, 7), of(10, 0)])?;
//! let segments = Segments::from_offsets(&device, &[0, 2, 4])?;
//! compose.inclusive_within(&segments, &mut steps)?;
//! // 2i + 1, then 3(2i + 1) + 5; i + 7, then 10(i + 7)
//! assert_eq!(steps.download()?, [of(2, 1), of(6, 8), of(1, 7), of(10, 70)]);
//! # Ok(())
//! # }
//! ```
// Further primitives are for stages and plans of the crate only:
//
// | primitive | result |
// |---|---|
// | `arrivals` | compressed columns by row on GPUs, and the length of the longest row |
// | `copy` | the bandwidth of the device's memory |
// | `drop_entries` | the entries of a matrix that are not small, in their order |
// | `key_starts` | where each of some ascending keys begins |
// | `radix_sort` | elements sorted stably by 32-bit keys, and where each key begins |
// | `scan` | exclusive sums of any number of `u32` or `u64`, in place |
// | `segmented_sort` | rows and payloads sorted stably by row inside each segment |
// | `segmented_reduce` | one sum per run, its terms added left to right, cut every 1024 terms |
// | `tallies` | the entries of compressed columns by row on CPUs |
// | `transpose` | the pattern of a transpose, and the original index of each of its entries |
pub(crate) mod arrivals;
// Public for `lab bench`, which is another crate.
#[doc(hidden)]
pub mod bench;
mod copy;
pub(crate) mod drop_entries;
mod key_starts;
mod operator;
pub(crate) mod radix_sort;
pub(crate) mod scan;
pub(crate) mod segmented_reduce;
mod segmented_scan;
pub(crate) mod segmented_sort;
mod segments;
pub(crate) mod tallies;
pub(crate) mod transpose;

pub(crate) use drop_entries::DropNumbers;
pub use operator::Operator;
pub(crate) use radix_sort::RadixNumbers;
pub(crate) use scan::ScanNumbers;
pub use segmented_scan::Scanner;
pub(crate) use segmented_sort::SortNumbers;
pub(crate) use segments::SegmentNumbers;
pub use segments::Segments;
