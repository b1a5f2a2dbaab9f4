//! Parallel loops on all threads of the current rayon pool. The loops are compiled once for all
//! types of items.
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Calls `work` for each item, on all threads.
pub(crate) fn for_each<I: Send>(items: impl IntoIterator<Item = I>, work: impl Fn(I) + Sync) {
    let items: Vec<_> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    numbers(items.len(), &|number| {
        let item = items[number].lock().unwrap_or_else(PoisonError::into_inner).take();
        item.into_iter().for_each(&work);
    });
}

/// Calls `work` for each number below `count`.
fn numbers(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_worked_on_once() {
        for count in [0, 1, 5, 1000] {
            let mut squares = vec![0; count];
            for_each(squares.iter_mut().enumerate(), |(i, square)| *square += i * i);
            assert!(squares.iter().enumerate().all(|(i, &square)| square == i * i), "{count}");
        }
    }
}
