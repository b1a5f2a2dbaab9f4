//! Scans on the CPU.
use crate::primitives::segmented_reduce::RUN_PIECE;

/// Replaces each value by the combination of all values up to and including it: an inclusive scan.
/// The order is that of [`Scanner`](crate::primitives::Scanner), which gives the same bits on every
/// device.
///
/// Pieces of 1024 values are scanned separately from left to right. Then the combination of all
/// earlier pieces is combined with each value of a piece. For up to 1024 values the result is the
/// plain serial scan. The last element is the reduction of all values.
///
/// ```
/// use blockmul::reference;
/// assert_eq!(reference::scan(&[3, 1, 2, 4, 1, 1], |x, y| x + y), [3, 4, 6, 10, 11, 12]);
/// ```
pub fn scan<T: Copy>(values: &[T], combine: impl Fn(T, T) -> T) -> Vec<T> {
    let mut scanned = Vec::with_capacity(values.len());
    for piece in values.chunks(RUN_PIECE) {
        let carry = scanned.last().copied();
        let mut sum = None;
        for &value in piece {
            let with = sum.map_or(value, |sum| combine(sum, value));
            scanned.push(carry.map_or(with, |carry| combine(carry, with)));
            sum = Some(with);
        }
    }
    scanned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_element_is_the_sum_in_the_order_of_products() {
        let values: Vec<f64> = (0..3000).map(|i| f64::from((i * 37) % 101) * 2f64.powi(i % 41 - 20)).collect();
        for n in [1, 2, 1023, 1024, 1025, 2048, 2049, 3000] {
            let serial = |values: &[f64]| values.iter().copied().reduce(|sum, x| sum + x).unwrap();
            let pieces: Vec<f64> = values[..n].chunks(RUN_PIECE).map(serial).collect();
            assert_eq!(scan(&values[..n], |x, y| x + y)[n - 1].to_bits(), serial(&pieces).to_bits(), "{n}");
        }
        assert!(scan(&[], f64::max).is_empty());
    }
}
