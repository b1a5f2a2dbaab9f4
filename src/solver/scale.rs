//! Scales right-hand sides by powers of two, so that the squares of their norms neither overflow
//! nor underflow.
use crate::{Error, Result, device::Work, element::ElementType, resident::DenseBufferMut};

/// The factor by which each column of a matrix was scaled.
pub(super) struct Scales(Vec<f64>);

impl Scales {
    /// Scales columns of `b` whose squared norms, `squares`, are so far from 1 that the squared
    /// norms of their residuals may overflow or underflow. The largest magnitude in a scaled column
    /// is from 1 to 2. Returns `None` if no column needs scaling.
    ///
    /// # Errors
    /// [`Error::Argument`] for an element that is not finite.
    pub fn apply(work: &Work, b: DenseBufferMut<'_>, squares: &[f64]) -> Result<Option<Self>> {
        let largest = match ElementType::of(b.values.word()).arithmetic() {
            ElementType::F64 => f64::MAX,
            _ => f32::MAX.into(),
        };
        // For f32 the range of squared norms that need no scaling is 2^-21 to 2^64. If the squared
        // norm is in this range, the square of a residual is a normal number even if the residual
        // is 2^-50 of the norm.
        let safe = largest.powf(-1.0 / 6.0)..=largest.sqrt();
        if squares.iter().all(|square| safe.contains(square)) {
            return Ok(None);
        }
        let (shape, mut values) = (b.shape, work.download_numbers(b.values)?);
        let mut factors = vec![1.0; shape.cols];
        for col in (0..shape.cols).filter(|&col| !safe.contains(&squares[col])) {
            let mut most = 0.0_f64;
            for row in 0..shape.rows {
                let value = values[shape.at(row, col)];
                if !value.is_finite() {
                    let why = format!("B has {value} at row {row}, column {col}: a right-hand side is finite");
                    return Err(Error::Argument(why));
                }
                most = most.max(value.abs());
            }
            if most > 0.0 {
                factors[col] = (-most.log2().floor()).clamp(-1022.0, 1022.0).exp2();
                (0..shape.rows).for_each(|row| values[shape.at(row, col)] *= factors[col]);
            }
        }
        work.write_numbers(&values, b.values)?;
        Ok(Some(Self(factors)))
    }

    /// Divides the columns of `x` by their factors.
    pub fn undo(&self, work: &Work, x: DenseBufferMut<'_>) -> Result<()> {
        let (shape, mut values) = (x.shape, work.download_numbers(x.values)?);
        for (col, factor) in self.0.iter().enumerate().filter(|(_, factor)| **factor != 1.0) {
            (0..shape.rows).for_each(|row| values[shape.at(row, col)] *= factor.recip());
        }
        work.write_numbers(&values, x.values)
    }
}

/// The largest power of two that is at most x, if x is a positive normal number; otherwise 1.
pub(super) fn power_of_two(x: f64) -> f64 {
    if x > 0.0 && x.is_normal() { f64::from_bits(x.to_bits() >> 52 << 52) } else { 1.0 }
}
