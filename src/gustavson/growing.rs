//! Arrays of C that grow while they are computed.
use crate::{Arithmetic, Result, host::memory::prefer_large};
use std::mem::MaybeUninit;

/// A function that fails if the given number of further entries does not fit the memory.
pub(super) type More<'f> = &'f dyn Fn(usize) -> Result<()>;

/// The entries that a thread has computed.
pub(super) struct Growing<N> {
    pub rows: Vec<u32>,
    pub sums: Vec<N>,
    /// Number of entries for which `fits` has been called.
    asked: usize,
}

impl<N> Default for Growing<N> {
    fn default() -> Self {
        Self { rows: Vec::new(), sums: Vec::new(), asked: 0 }
    }
}

impl<N: Arithmetic> Growing<N> {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Removes all entries, and keeps the arrays' memory.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.sums.clear();
        self.asked = 0;
    }

    /// Makes room for `more` further entries.
    pub fn expect(&mut self, more: usize) {
        self.rows.reserve_exact(more);
        self.sums.reserve_exact(more);
        prefer_large(self.rows.spare_capacity_mut());
        prefer_large(self.sums.spare_capacity_mut());
    }

    /// Appends the entries that `add` pushes, at most `products` of them.
    #[inline(always)]
    pub fn append(&mut self, products: usize, fits: More<'_>, add: impl FnOnce(&mut Places<'_, N>)) -> Result<()> {
        let (len, capacity) = (self.rows.len(), self.rows.capacity().min(self.sums.capacity()));
        if capacity - len < products {
            self.grow(products, fits)?;
        }
        let (rows, sums) = (self.rows.spare_capacity_mut(), self.sums.spare_capacity_mut());
        let mut places = Places { rows: &mut rows[..products], sums: &mut sums[..products], len: 0 };
        add(&mut places);
        let len = len + places.len;
        // SAFETY: `Places::push` counts the entries that it writes to both arrays, so these places
        // are written.
        unsafe {
            self.rows.set_len(len);
            self.sums.set_len(len);
        }
        Ok(())
    }

    #[cold]
    fn grow(&mut self, products: usize, fits: More<'_>) -> Result<()> {
        self.ask(fits)?;
        self.expect(products.max(self.len() / 2));
        Ok(())
    }

    /// Calls `fits` with the number of entries added since the last call.
    pub fn ask(&mut self, fits: More<'_>) -> Result<()> {
        fits(self.len() - self.asked)?;
        self.asked = self.len();
        Ok(())
    }
}

/// The free places after the entries that have been computed.
pub(super) struct Places<'a, N> {
    rows: &'a mut [MaybeUninit<u32>],
    sums: &'a mut [MaybeUninit<N>],
    len: usize,
}

impl<N> Places<'_, N> {
    /// Writes the next entry. A vector's `push` checks whether it must grow; with `push`, the
    /// product of a 5-point stencil takes 16 % longer.
    ///
    /// # Panics
    /// If there are more entries than products.
    #[inline(always)]
    pub fn push(&mut self, row: u32, sum: N) {
        self.rows[self.len].write(row);
        self.sums[self.len].write(sum);
        self.len += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_kept_while_the_arrays_grow() -> Result<()> {
        let (mut made, mut want) = (Growing::default(), (Vec::new(), Vec::new()));
        made.expect(5);
        for col in 0..200 {
            // Columns with fewer entries than products, with no entry, and with an entry for each
            // product.
            let (entries, products) = (col % 7, col % 7 + col % 2);
            made.append(products, &|_| Ok(()), |places| {
                (0..entries).for_each(|row| places.push(row as u32, (col * row) as f64));
            })?;
            want.0.extend((0..entries).map(|row| row as u32));
            want.1.extend((0..entries).map(|row| (col * row) as f64));
            assert_eq!(made.len(), want.0.len());
        }
        assert_eq!((made.rows, made.sums), want);
        Ok(())
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn more_entries_than_products_are_a_fault() {
        let add = |places: &mut Places<'_, f64>| (0..3).for_each(|row| places.push(row, 1.0));
        let mut made = Growing::default();
        made.expect(100);
        let _panics = made.append(2, &|_| Ok(()), add);
    }

    #[test]
    fn growth_asks_whether_all_entries_fit() {
        let mut made = Growing::default();
        let asked = std::cell::Cell::new(0);
        let fits = |more: usize| {
            asked.set(asked.get() + more);
            if asked.get() < 40 { Ok(()) } else { Err(crate::Error::Argument(format!("{} entries", asked.get()))) }
        };
        let grown = (0..100).try_for_each(|row| made.append(1, &fits, |places| places.push(row, 1.0)));
        assert!(grown.is_err() && (40..60).contains(&made.len()), "{}", made.len());
    }
}
