//! Scales right-hand sides by powers of two, so that the squares of their norms neither overflow
//! nor underflow.
use crate::{DeviceDense, Error, Field, Result};
use nalgebra::{RealField, convert_unchecked};

/// The factor of each column of a matrix.
pub(super) struct Scales(Vec<f64>);

impl Scales {
    /// Scales columns of `b` whose squared norms, `squares`, are so far from 1 that the squared
    /// norms of their residuals may overflow or underflow. The largest magnitude in a scaled column
    /// is from 1 to 2. Returns `None` if there is no such column.
    ///
    /// # Errors
    /// [`Error::Argument`] for an element that is not finite.
    pub fn apply<T: Field>(b: &mut DeviceDense<T>, squares: &[f64]) -> Result<Option<Self>> {
        let largest: f64 = convert_unchecked(T::Arithmetic::max_value().expect("floats are bounded"));
        // In f32 the range is 2^-21 to 2^64. A residual may be 2^-50 of the norm and still have a
        // normal square.
        let safe = largest.powf(-1.0 / 6.0)..=largest.sqrt();
        if squares.iter().all(|square| safe.contains(square)) {
            return Ok(None);
        }
        let (shape, mut values) = (b.shape(), b.values()?);
        let mut factors = vec![1.0; shape.cols];
        for col in (0..shape.cols).filter(|&col| !safe.contains(&squares[col])) {
            let mut most = 0.0_f64;
            for row in 0..shape.rows {
                let value = values[shape.at(row, col)].to_f64();
                if !value.is_finite() {
                    let why = format!("B has {value} at row {row}, column {col}: a right-hand side is finite");
                    return Err(Error::Argument(why));
                }
                most = most.max(value.abs());
            }
            if most > 0.0 {
                factors[col] = (-most.log2().floor()).clamp(-1022.0, 1022.0).exp2();
                multiply(&mut values, (0..shape.rows).map(|row| shape.at(row, col)), factors[col]);
            }
        }
        b.write(&values)?;
        Ok(Some(Self(factors)))
    }

    /// Divides the columns of `x` by their factors.
    pub fn undo<T: Field>(&self, x: &mut DeviceDense<T>) -> Result<()> {
        let (shape, mut values) = (x.shape(), x.values()?);
        for (col, factor) in self.0.iter().enumerate().filter(|(_, factor)| **factor != 1.0) {
            multiply(&mut values, (0..shape.rows).map(|row| shape.at(row, col)), factor.recip());
        }
        x.write(&values)
    }
}

fn multiply<T: Field>(values: &mut [T], at: impl Iterator<Item = usize>, factor: f64) {
    at.for_each(|at| values[at] = T::from_f64(values[at].to_f64() * factor));
}

/// The largest power of two that is at most x, if x is a positive normal number; otherwise 1.
pub(super) fn power_of_two(x: f64) -> f64 {
    if x > 0.0 && x.is_normal() { f64::from_bits(x.to_bits() >> 52 << 52) } else { 1.0 }
}
