//! Cuts columns into ranges and into bands. The functions of this file are pure.

/// The first column of each range, and the end of the last range. Range r begins with the first
/// column that has at least r / `ranges` of all products before it. The function is the model of
/// `range_cuts` of `cl/product/cpu/ranges/setup.cl`.
pub(super) fn cuts(products: &[u32], ranges: usize) -> Vec<usize> {
    let (all, mut before) = (products.iter().map(|&products| u128::from(products)).sum::<u128>(), 0);
    let mut begin = Vec::with_capacity(ranges + 1);
    for (col, &of_column) in products.iter().enumerate() {
        while begin.len() < ranges && begin.len() as u128 * all <= before * ranges as u128 {
            begin.push(col);
        }
        before += u128::from(of_column);
    }
    begin.resize(ranges + 1, products.len());
    begin
}

/// The end of the longest band that begins with column `first` and fits, or `None` if not even one
/// column fits. `fits` gets the number of columns and of their entries.
pub(super) fn band_end(lengths: &[u32], first: usize, fits: impl Fn(u64, u64) -> bool) -> Option<usize> {
    let (mut end, mut entries) = (first, 0);
    while let Some(&length) = lengths.get(end)
        && fits((end + 1 - first) as u64, entries + u64::from(length))
    {
        (end, entries) = (end + 1, entries + u64::from(length));
    }
    (end > first).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_equal_products() {
        assert_eq!(cuts(&[1; 8], 4), [0, 2, 4, 6, 8]);
        assert_eq!(cuts(&[0, 5, 0, 5, 0], 2), [0, 2, 5]);
        // A long column is a range of its own. Other ranges that the long column fills are empty.
        assert_eq!(cuts(&[1, 100, 1], 4), [0, 2, 2, 2, 3]);
        assert_eq!(cuts(&[3], 3), [0, 1, 1, 1]);
        assert_eq!(cuts(&[u32::MAX; 3], 3), [0, 1, 2, 3]);
        assert_eq!(cuts(&[], 2), [0, 0, 0]);
    }

    #[test]
    fn bands_are_as_long_as_they_fit() {
        let lengths = [3, 0, 4, 9, 1];
        let fits = |columns, entries| columns <= 3 && entries <= 7;
        assert_eq!(band_end(&lengths, 0, fits), Some(3));
        assert_eq!(band_end(&lengths, 3, fits), None);
        assert_eq!(band_end(&lengths, 4, fits), Some(5));
        assert_eq!(band_end(&[0; 5], 1, fits), Some(4));
    }
}
