//! Primitives of the stages and plans: scan, radix sort, segmented sort, segmented reduction,
//! transposition of patterns.
//!
//! | primitive | promise |
//! |---|---|
//! | [`arrivals`] | the entries of compressed columns by rows, and how many the longest has |
//! | `copy` | how fast the device streams memory |
//! | [`drop_entries`] | the entries of a matrix that are not small, in their order |
//! | [`radix_sort`] | elements by 32-bit keys, stably, and where each key begins |
//! | [`scan`] | exclusive sums of any number of `u32` or `u64`, in place |
//! | [`segmented_sort`] | rows and payloads by row inside each segment, stably |
//! | [`segmented_reduce`] | one sum per run, its terms added left to right, cut every 1024 terms |
//! | [`transpose`] | the pattern of a transpose, and the entry each of its entries comes from |
pub(crate) mod arrivals;
// Public for `blockmul bench`, which is outside of the crate.
pub mod bench;
mod copy;
pub(crate) mod drop_entries;
pub(crate) mod radix_sort;
pub(crate) mod scan;
pub(crate) mod segmented_reduce;
pub(crate) mod segmented_sort;
pub(crate) mod transpose;
