//! Shifted columns of C: columns whose rows are the rows of the column before, each increased by
//! one. Most columns of products of meshes and band matrices are shifted.
//!
//! If a column of B is shifted, and every column of A that it multiplies is shifted, too, then the
//! column of C is shifted, and each of its products is added at the place of its counterpart in the
//! column before. So the places of products are found once, and serve all shifted columns that
//! follow. The columns that follow read no rows, neither to add nor to sort.
use super::{
    Columns, Places,
    numbers::{List, Operations},
    rows::Extent,
};
use crate::Arithmetic;

/// Maximum distance in rows from the first to the last row of a column whose places are found. The
/// distance suffices for a stencil of 27 points in a grid of 120 x 120 x 120.
const REACH: u32 = 1 << 16;

/// Finding places saves time for stretches of at least `LONG` shifted columns.
const LONG: usize = 8;

/// Whether a column of A is shifted, as far as it has been checked.
#[derive(Clone, Copy, PartialEq)]
enum Known {
    Nothing,
    Shifted,
    Other,
}

/// The places of the products of a column of C.
pub(super) struct Shifted<N> {
    identity: N,
    /// For each column of A whether it is shifted, once this was needed.
    known: Vec<Known>,
    /// Lengths of two stretches of shifted columns: of the one that ends with the last column, and
    /// of the one before.
    stretch: usize,
    stretch_before: usize,
    /// The column of C whose rows were kept. `next` is the column after the last that used the
    /// places.
    col: usize,
    next: usize,
    rows: Vec<u32>,
    /// For each product, the index of its row among the rows.
    places: Vec<u32>,
    /// A sum for each row. Between columns all sums are the identity.
    sums: Vec<N>,
    /// For each row number from the first to the last, its index among the rows.
    numbers: Vec<u32>,
}

impl<N: Arithmetic> Shifted<N> {
    pub fn new(identity: N) -> Self {
        let (known, rows, places, sums, numbers) = Default::default();
        Self { identity, known, stretch: 0, stretch_before: 0, col: 0, next: 0, rows, places, sums, numbers }
    }

    /// Whether the patterns of A and B show that column `col` of C is shifted.
    #[inline(always)]
    pub fn is_shifted(&mut self, a: Columns<'_>, b: Columns<'_>, col: usize) -> bool {
        let is_shifted = is_shifted(b, col) && self.are_shifted(a, b.column(col));
        if is_shifted {
            self.stretch += 1;
        } else if self.stretch > 0 {
            (self.stretch_before, self.stretch) = (self.stretch, 0);
        }
        is_shifted
    }

    /// Whether keeping the places of the last column, which is shifted, saves time. The length of
    /// the stretch before is taken as an estimate.
    pub fn pays(&self) -> bool {
        self.stretch.max(self.stretch_before) >= LONG
    }

    fn are_shifted(&mut self, a: Columns<'_>, of_b: &[u32]) -> bool {
        self.known.resize(a.ncols(), Known::Nothing);
        of_b.iter().all(|&k| {
            let known = &mut self.known[k as usize];
            if *known == Known::Nothing {
                *known = if is_shifted(a, k as usize) { Known::Shifted } else { Known::Other };
            }
            *known == Known::Shifted
        })
    }

    /// Whether the places serve column `col`, which is shifted.
    pub fn has(&self, col: usize) -> bool {
        self.next == col && !self.rows.is_empty()
    }

    /// Keeps the rows of column `col`, and finds the places of its products.
    pub fn keep(&mut self, col: usize, rows: &[u32], lists: &[List<'_, N>], extent: &Extent) {
        self.rows.clear();
        self.places.clear();
        let Extent { first, last, .. } = *extent;
        if last - first >= REACH {
            return;
        }
        (self.col, self.next) = (col, col + 1);
        self.rows.extend_from_slice(rows);
        self.sums.resize(rows.len(), self.identity);
        self.numbers.resize(self.numbers.len().max((last - first) as usize + 1), 0);
        for (number, &row) in rows.iter().enumerate() {
            self.numbers[(row - first) as usize] = number as u32;
        }
        for list in lists {
            self.places.extend(list.rows.iter().map(|&row| self.numbers[(row - first) as usize]));
        }
    }

    /// The number of entries of the column.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds the products of columns of A at the places, and writes the rows and sums of column
    /// `col`.
    #[inline(always)]
    pub fn add(&mut self, by: impl Operations<N>, lists: &[List<'_, N>], col: usize, places: &mut Places<'_, N>) {
        self.next = col + 1;
        let mut of_all = &self.places[..];
        for list in lists {
            let (of_list, rest) = of_all.split_at(list.values.len());
            for (&place, &x) in of_list.iter().zip(list.values) {
                let sum = &mut self.sums[place as usize];
                *sum = by.add(*sum, by.multiply(x, list.factor));
            }
            of_all = rest;
        }
        let further = (col - self.col) as u32;
        for (&row, sum) in self.rows.iter().zip(&mut self.sums) {
            places.push(row + further, std::mem::replace(sum, self.identity));
        }
    }
}

/// Whether the rows of a column are those of the column before, each increased by one.
#[inline(always)]
fn is_shifted(of: Columns<'_>, col: usize) -> bool {
    let Some(before) = col.checked_sub(1) else { return false };
    let (before, rows) = (of.column(before), of.column(col));
    before.len() == rows.len() && before.iter().zip(rows).all(|(&before, &row)| before.wrapping_add(1) == row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pattern, Result,
        gustavson::{Growing, numbers::PlusTimes},
    };

    /// A pattern of columns that begin at these rows and have rows 0, 1 and `last` from there.
    fn columns(begins: &[u32], last: u32) -> Result<Pattern> {
        let rows = begins.iter().flat_map(|&begin| [begin, begin + 1, begin + last]).collect();
        Pattern::new(100_000, begins.len(), (0..=begins.len() as u64).map(|i| 3 * i).collect(), rows)
    }

    #[test]
    fn columns_are_shifted_if_all_that_they_meet_are() -> Result<()> {
        let (a, b) = (columns(&[4, 5, 6, 7, 9, 10, 11, 12, 13], 2)?, columns(&[0, 1, 2, 3, 4, 5, 5, 6], 2)?);
        let (a, b) = (Columns::from(&a), Columns::from(&b));
        let mut shifted = Shifted::<f64>::new(0.0);
        // Column 4 of A is not shifted, and neither are columns 0 and 6 of B.
        let found: Vec<_> = (0..8).filter(|&col| shifted.is_shifted(a, b, col)).collect();
        assert_eq!(found, [1, 5, 7]);
        Ok(())
    }

    #[test]
    fn places_are_kept_in_long_stretches_and_after_them() -> Result<()> {
        // Nine columns follow one another, and eight of them are shifted. Then two columns follow
        // one another, and the last stands alone.
        let begins: Vec<u32> = (0..9).chain(20..22).chain([30]).collect();
        let (a, b) = (columns(&(0..40).collect::<Vec<_>>(), 2)?, columns(&begins, 2)?);
        let mut shifted = Shifted::<f64>::new(0.0);
        let mut kept = |col| shifted.is_shifted(Columns::from(&a), Columns::from(&b), col) && shifted.pays();
        assert_eq!((0..12).filter(|&col| kept(col)).collect::<Vec<_>>(), [8, 10]);
        assert!(!shifted.is_shifted(Columns::from(&a), Columns::from(&b), 0) && !shifted.pays());
        Ok(())
    }

    #[test]
    fn places_are_those_of_the_columns_that_follow_at_once() -> Result<()> {
        let pattern = columns(&[4, 5, 6, 7], 2)?;
        let values = [2.0, 3.0, 5.0];
        let list = |k| List { rows: Columns::from(&pattern).column(k), values: &values[..], factor: 10.0 };
        let lists = |col| [list(col), list(col + 1)];
        let mut shifted = Shifted::new(-0.0);
        let extent = Extent::of(lists(0).iter().map(|list| list.rows)).expect("entries");
        assert!(!shifted.has(0) && !shifted.has(1));
        shifted.keep(0, &[4, 5, 6, 7], &lists(0), &extent);
        assert!(shifted.has(1) && !shifted.has(2) && shifted.len() == 4);
        let mut made = Growing::default();
        for col in [1, 2] {
            made.append(4, &|_| Ok(()), |places| shifted.add(PlusTimes, &lists(col), col, places))?;
            assert!(shifted.has(col + 1) && !shifted.has(col));
        }
        assert_eq!(made.rows, [5, 6, 7, 8, 6, 7, 8, 9]);
        assert_eq!(made.sums, [20.0, 50.0, 80.0, 50.0].repeat(2));
        Ok(())
    }

    #[test]
    fn no_places_are_kept_for_rows_too_far_apart() -> Result<()> {
        for (last, kept) in [(REACH - 1, true), (REACH, false)] {
            let pattern = columns(&[7, 8], last)?;
            let lists = [List { rows: Columns::from(&pattern).column(0), values: &[1.0; 3], factor: 1.0 }];
            let extent = Extent::of(lists.iter().map(|list| list.rows)).expect("entries");
            let mut shifted = Shifted::new(0.0);
            shifted.keep(0, &[7, 8, 7 + last], &lists, &extent);
            assert_eq!(shifted.has(1), kept, "{last}");
        }
        Ok(())
    }
}
