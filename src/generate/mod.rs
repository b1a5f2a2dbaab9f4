//! Generates block-sparse matrices of any size from a seed: families that occur in solvers and
//! graphs, and triangle meshes. [`problem`] generates whole problems with consistent numbers.
//!
//! A family is a struct of its parameters, which have defaults. The same parameters give the same
//! matrix, bit for bit, on every platform. The random numbers come from [`Random`] and are combined
//! only by additions, multiplications and comparisons, which IEEE 754 defines exactly.
//!
//! ```
//! use blockmul::generate::Visibility;
//! let w = Visibility { cameras: 20, points: 300, views: 4, ..Default::default() }.matrix()?;
//! assert_eq!((w.nrows(), w.ncols(), w.nnz()), (20, 300, 1200));
//! assert_eq!(w.shape().to_string(), "6x3");
//! # Ok::<(), blockmul::Error>(())
//! ```
mod graph;
mod planar;
mod pose_chain;
pub mod problem;
mod random;
mod surface;
mod visibility;

pub use graph::{PowerLaw, Uniform};
pub use planar::planar;
pub use pose_chain::PoseChain;
pub use random::Random;
pub use surface::{sphere, terrain, torus};
pub use visibility::Visibility;

use crate::{BlockShape, Cbc, Error, Pattern, Result};

/// Distribution of the elements of generated blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Values {
    /// Uniform between -1 and 1.
    #[default]
    Real,
    /// Integers from -4 to 4. Sums of products of these integers are exact in floats as long as the
    /// sums are small enough.
    Integer,
}

impl Values {
    /// Draws one element.
    fn draw(self, random: &mut Random) -> f64 {
        match self {
            Self::Real => 2.0 * random.unit() - 1.0,
            Self::Integer => random.below(9) as f64 - 4.0,
        }
    }
}

/// Draws the blocks in the order of the pattern's entries.
fn fill(pattern: Pattern, shape: BlockShape, values: Values, random: &mut Random) -> Result<Cbc<f64>> {
    let mut elements = room(pattern.nnz() as u64, shape.area() as u64 * 8)?;
    elements.extend((0..pattern.nnz() * shape.area()).map(|_| values.draw(random)));
    Cbc::new(pattern, shape, elements)
}

/// Checks a number of rows or columns.
fn lines(what: &'static str, count: usize) -> Result<u32> {
    match count as u64 > Pattern::MAX_LINES {
        true => Err(Error::TooLarge { what, value: count as u64, limit: Pattern::MAX_LINES }),
        false => Ok(count as u32),
    }
}

/// Refuses arrays that are filled together, unless the host has memory for all of them. Each array
/// is given as a number of groups and the bytes of a group. [`room`] alone does not count arrays
/// that are allocated but not written yet.
fn together(arrays: &[(u64, u64)]) -> Result<()> {
    let bytes = arrays.iter().map(|&(count, bytes)| count.saturating_mul(bytes));
    let entries = arrays.iter().map(|&(count, _)| count).max().unwrap_or(0);
    let needed = bytes.fold(0, u64::saturating_add);
    crate::host::memory::check_large(|| format!("a generated matrix of {entries} entries"), needed)
}

/// An empty vector with capacity for `count` groups of `bytes` bytes, or [`Error::Memory`].
fn room<T>(count: u64, bytes: u64) -> Result<Vec<T>> {
    let needed = count.saturating_mul(bytes);
    let what = || format!("a generated matrix of {count} entries");
    crate::host::memory::check_large(what, needed)?;
    let mut vector = Vec::new();
    let elements = usize::try_from(needed / size_of::<T>() as u64).unwrap_or(usize::MAX);
    vector.try_reserve_exact(elements).map(|()| vector).map_err(|_| Error::Memory {
        what: what(),
        needed,
        available: crate::host::memory::available().unwrap_or(0),
        place: "host".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::memory::tests::with_available;

    /// Checks that arrays are refused together. Each array alone would fit the host's memory.
    #[test]
    fn arrays_that_fit_alone_but_not_together_are_refused() {
        let refused = |needed: u64, made: fn() -> Result<Cbc<f64>>| {
            let refused = with_available(needed - 1, made).map(|a| a.nnz());
            assert!(matches!(refused, Err(Error::Memory { needed: found, .. }) if found == needed), "{refused:?}");
            with_available(needed, made).map(|a| a.nnz()).unwrap()
        };
        // Each vertex needs 16 bytes for its point, 8 for its column, and 12 for each of 6 edges.
        let edges = refused(96 * 800_000, || planar(1000, 800, 1));
        assert!(edges < 4_800_000);
        // Each column needs 8 bytes, and 12 bytes for each of 8 entries.
        let entries = refused(700_001 * 8 + 700_000 * 8 * 12, || {
            Uniform { rows: 700_000, cols: 700_000, per_column: 8, values: Values::Integer, ..Default::default() }
                .matrix()
        });
        assert_eq!(entries, 5_600_000);
    }
}
