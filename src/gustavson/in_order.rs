//! Joins the parts of C that threads compute in parallel to one array of rows and one of sums.
//!
//! The place of a part is known when all parts before it have been computed. Until then the part
//! waits. Threads take parts in order, except for long ones, so a part rarely waits for long.
use super::Growing;
use crate::{Arithmetic, Result};
use std::{
    mem::MaybeUninit,
    sync::{Mutex, PoisonError},
};

/// Collects parts that arrive in any order.
pub(super) struct InOrder<'w, N>(Mutex<State<'w, N>>);

struct State<'w, N> {
    /// The unused rest of the rows' array.
    rows: &'w mut [MaybeUninit<u32>],
    sums: &'w mut [MaybeUninit<N>],
    /// The number of the first part that is missing. Later parts that have arrived are in
    /// `waiting`.
    next: usize,
    waiting: Vec<Option<Growing<N>>>,
    /// The number of entries that have a place, and the number of entries that have been copied to
    /// their place.
    placed: usize,
    copied: usize,
    /// The arrays of parts that have been copied, for reuse.
    free: Vec<Growing<N>>,
}

impl<N: Arithmetic> InOrder<'_, N> {
    /// Returns the entries of all parts that `compute` puts. About `expected` entries are expected.
    pub fn fill(expected: usize, compute: impl FnOnce(&InOrder<'_, N>) -> Result<()>) -> Result<Growing<N>> {
        let mut whole = Growing::default();
        whole.expect(expected);
        let (rows, sums) = (whole.rows.spare_capacity_mut(), whole.sums.spare_capacity_mut());
        let (waiting, free) = Default::default();
        let in_order = InOrder(Mutex::new(State { rows, sums, next: 0, waiting, placed: 0, copied: 0, free }));
        compute(&in_order)?;
        let State { placed, copied, waiting, .. } = in_order.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(placed, copied, "every part has been copied");
        // SAFETY: the first `placed` elements of both arrays were split off in turn, and have all
        // been written.
        unsafe {
            whole.rows.set_len(placed);
            whole.sums.set_len(placed);
        }
        whole.expect(waiting.iter().flatten().map(Growing::len).sum());
        for part in waiting.into_iter().flatten() {
            whole.rows.extend(part.rows);
            whole.sums.extend(part.sums);
        }
        Ok(whole)
    }

    /// Takes part `number`, and copies all parts whose places are known now. Returns empty arrays
    /// for another part.
    pub fn put(&self, number: usize, part: Growing<N>) -> Growing<N> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ready = Vec::new();
        let mut state = lock();
        if state.waiting.len() <= number {
            state.waiting.resize_with(number + 1, || None);
        }
        state.waiting[number] = Some(part);
        loop {
            let next = state.next;
            let Some(part) = state.waiting.get_mut(next).and_then(Option::take) else { break };
            let rows_and_sums = (state.rows.split_off_mut(..part.len()), state.sums.split_off_mut(..part.len()));
            let (Some(rows), Some(sums)) = rows_and_sums else {
                // There are more entries than expected. Part `next` and all later parts wait until
                // the end.
                state.waiting[next] = Some(part);
                break;
            };
            state.placed += part.len();
            state.next += 1;
            ready.push((rows, sums, part));
        }
        drop(state);
        let mut copied = 0;
        for (rows, sums, part) in &mut ready {
            copy(&part.rows, rows);
            copy(&part.sums, sums);
            copied += part.len();
            part.clear();
        }
        let mut state = lock();
        state.copied += copied;
        state.free.extend(ready.into_iter().map(|(.., part)| part));
        state.free.pop().unwrap_or_default()
    }
}

fn copy<W: Copy>(from: &[W], to: &mut [MaybeUninit<W>]) {
    for (&from, to) in from.iter().zip(to) {
        to.write(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(number: usize) -> Growing<f64> {
        let rows: Vec<u32> = (0..number % 4).map(|row| (10 * number + row) as u32).collect();
        let mut part = Growing::default();
        part.sums.extend(rows.iter().map(|&row| f64::from(row) + 0.5));
        part.rows = rows;
        part
    }

    /// Checks 60 parts of 0 to 3 entries, 90 in all.
    fn check(order: &[usize], expected: usize) -> Result<()> {
        let made = InOrder::fill(expected, |in_order| {
            order.iter().for_each(|&number| assert_eq!(in_order.put(number, part(number)).len(), 0));
            Ok(())
        })?;
        let want: Vec<u32> = (0..60).flat_map(|number| part(number).rows).collect();
        assert_eq!((made.rows.len(), &made.rows), (90, &want), "{order:?}, {expected} expected");
        assert_eq!(made.sums, want.iter().map(|&row| f64::from(row) + 0.5).collect::<Vec<_>>());
        Ok(())
    }

    #[test]
    fn parts_lie_one_behind_the_other_whichever_comes_first() -> Result<()> {
        let orders = [1, 7, 59].map(|step| (0..60).map(|i| i * step % 60).collect::<Vec<_>>());
        let last_first: Vec<_> = (0..60).rev().collect();
        for order in orders.iter().chain([&last_first]) {
            // Fewer places than entries, the same number, and more.
            for expected in [0, 1, 45, 89, 90, 91, 500] {
                check(order, expected)?;
            }
        }
        Ok(())
    }

    #[test]
    fn an_error_leaves_no_entries() {
        let refused = InOrder::fill(90, |in_order| {
            in_order.put(3, part(3));
            Err(crate::Error::Argument("stopped".into()))
        });
        assert!(refused.is_err());
    }
}
