//! What the stages rest on, none of it knowing of matrices: scan, segmented sort, segmented reduction.
//!
//! | primitive | promise |
//! |---|---|
//! | [`scan`] | exclusive sums or inclusive maxima of any number of `u32` or `u64`, in place |
//! | [`segmented_sort`] | rows ascending inside each segment, equal rows in their first order, payloads with them |
//! | [`segmented_reduce`] | one sum per run, its terms added left to right, cut every 1024 terms |
pub(crate) mod scan;
pub(crate) mod segmented_reduce;
pub(crate) mod segmented_sort;
