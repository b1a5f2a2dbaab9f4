//! Models of kernels whose work-items run interleaved, in any order.
//!
//! PoCL runs the items of a group one after another, and few groups at a time, so it hides races
//! that a GPU shows. A model is an `async` function of one item that resembles the kernel. Each
//! load, store or atomic operation is a step. Between two steps of an item, the other items may
//! make any number of steps.
//!
//! The seed determines which item makes the next step. The item is random for each step, or stays
//! the same for several steps, or some items wait until all others have ended (Burckhardt, Kothari,
//! Musuvathi, Nagarakatte: *A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs*,
//! ASPLOS 2010). With every second seed, a load may return any value that the word has had since
//! the loading item last accessed the word, because OpenCL C 1.2 guarantees no more within a
//! launch.
use crate::generate::Random;
use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, VecDeque},
    future::poll_fn,
    mem::replace,
    task::{Context, Poll, Waker},
};

/// A limit on the steps of a launch. No launch of a correct model takes so many steps.
const MOST_STEPS: usize = 1 << 20;

/// The launch that this thread runs.
struct Launch {
    number: u64,
    /// The item that makes the next step.
    item: usize,
    /// Whether the item waits at a barrier.
    waits: bool,
    /// Whether loads may return older values.
    ages: bool,
    random: Random,
}

thread_local! {
    static LAUNCH: RefCell<Launch> =
        RefCell::new(Launch { number: 0, item: 0, waits: false, ages: false, random: Random::new(0) });
}

/// Runs a launch until all items have ended, in an order that `seed` determines.
pub(crate) fn interleave<I: Future<Output = ()>>(items: impl IntoIterator<Item = I>, seed: u64) {
    let mut items: Vec<_> = items.into_iter().map(Box::pin).collect();
    let mut random = Random::new(seed);
    // The first item of the queue makes the next step.
    let mut queue: VecDeque<usize> = (0..items.len()).collect();
    (1..items.len()).for_each(|at| queue.swap(at, random.below(at as u64 + 1) as usize));
    LAUNCH.with_borrow_mut(|launch| {
        launch.number += 1;
        launch.ages = seed % 2 == 1;
        launch.random = Random::new(random.bits());
    });
    let mut context = Context::from_waker(Waker::noop());
    for step in 0.. {
        let Some(&item) = queue.front() else { return };
        assert!(step < MOST_STEPS, "items do not end with seed {seed}");
        LAUNCH.with_borrow_mut(|launch| (launch.item, launch.waits) = (item, false));
        if items[item].as_mut().poll(&mut context).is_ready() {
            queue.pop_front();
        } else if LAUNCH.with_borrow(|launch| launch.waits) {
            queue.rotate_left(1);
        }
        let ready = queue.len() as u64;
        match seed / 2 % 4 {
            0 if ready > 0 => queue.swap(0, random.below(ready) as usize),
            1 if ready > 0 && random.below(8) == 0 => queue.swap(0, random.below(ready) as usize),
            2 if ready > 0 && random.below(16) == 0 => queue.rotate_left(1),
            3 if ready > 0 && random.below(128) == 0 => queue.rotate_left(1),
            _ => {}
        }
    }
}

/// Ends a step of an item. The access after this call belongs to its next step.
async fn turn() {
    let mut ended = false;
    poll_fn(|_| if replace(&mut ended, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

/// A word of memory.
#[derive(Clone)]
struct Word {
    launch: u64,
    /// The values of the word in this launch, the newest last.
    values: Vec<usize>,
    /// For each item, the index of the value that it last loaded or stored.
    seen: BTreeMap<usize, usize>,
}

/// Words that items share.
pub(crate) struct Words {
    words: RefCell<Vec<Word>>,
    is_local: bool,
}

impl Words {
    /// Makes words in global memory.
    pub fn new(values: impl IntoIterator<Item = usize>) -> Self {
        let word = |value| Word { launch: 0, values: vec![value], seen: BTreeMap::new() };
        Self { words: RefCell::new(values.into_iter().map(word).collect()), is_local: false }
    }

    /// Makes words in local memory. Loads from local memory return the newest values, because the
    /// modelled kernel has a barrier wherever an older value would matter.
    pub fn local(values: impl IntoIterator<Item = usize>) -> Self {
        Self { is_local: true, ..Self::new(values) }
    }

    /// The newest values. Reading the newest values is not a step. So only the host reads them, and
    /// items only read words that no item writes.
    pub fn values(&self) -> Vec<usize> {
        self.words.borrow().iter().map(|word| word.values[word.values.len() - 1]).collect()
    }

    /// Writes a value from the host.
    pub fn write(&self, at: usize, value: usize) {
        self.words.borrow_mut()[at].values = vec![value];
    }

    fn look(&self, at: usize) -> usize {
        let word = &mut self.words.borrow_mut()[at];
        LAUNCH.with_borrow_mut(|launch| {
            word.enter(launch.number);
            let newest = word.values.len() - 1;
            let seen = word.seen.entry(launch.item).or_insert(0);
            if self.is_local || !launch.ages || launch.random.below(2) == 0 {
                *seen = newest;
            } else {
                *seen += launch.random.below((newest - *seen) as u64 + 1) as usize;
            }
            word.values[*seen]
        })
    }

    /// Replaces the newest value by `to` of it, and returns the replaced value.
    fn change(&self, at: usize, to: impl FnOnce(usize) -> usize) -> usize {
        let word = &mut self.words.borrow_mut()[at];
        LAUNCH.with_borrow(|launch| {
            word.enter(launch.number);
            let was = word.values[word.values.len() - 1];
            let now = to(was);
            if now != was {
                word.values.push(now);
            }
            word.seen.insert(launch.item, word.values.len() - 1);
            was
        })
    }

    pub async fn load(&self, at: usize) -> usize {
        turn().await;
        self.look(at)
    }

    /// Loads the lower half of a word and then the upper half, as a device without 64-bit loads
    /// does.
    pub async fn load_halves(&self, at: usize) -> usize {
        let low = self.load(at).await;
        let high = self.load(at).await;
        high >> 32 << 32 | low & 0xffff_ffff
    }

    pub async fn store(&self, at: usize, value: usize) {
        turn().await;
        self.change(at, |_| value);
    }

    pub async fn xchg(&self, at: usize, value: usize) -> usize {
        turn().await;
        self.change(at, |_| value)
    }

    pub async fn cmpxchg(&self, at: usize, expected: usize, value: usize) -> usize {
        turn().await;
        self.change(at, |was| if was == expected { value } else { was })
    }

    pub async fn min(&self, at: usize, value: usize) -> usize {
        turn().await;
        self.change(at, |was| was.min(value))
    }

    pub async fn add(&self, at: usize, value: usize) -> usize {
        turn().await;
        self.change(at, |was| was.wrapping_add(value))
    }
}

impl Word {
    /// Starts a launch. At its start all items see the newest value of the word.
    fn enter(&mut self, launch: u64) {
        if self.launch != launch {
            self.values.drain(..self.values.len() - 1);
            self.seen.clear();
            self.launch = launch;
        }
    }
}

/// A barrier of the items of a group.
pub(crate) struct Barrier {
    items: usize,
    came: Cell<usize>,
    passed: Cell<usize>,
}

impl Barrier {
    pub fn of(items: usize) -> Self {
        Self { items, came: Cell::new(0), passed: Cell::new(0) }
    }

    pub async fn wait(&self) {
        let round = self.passed.get();
        self.came.set(self.came.get() + 1);
        if self.came.get() == self.items {
            self.came.set(0);
            self.passed.set(round + 1);
        }
        while self.passed.get() == round {
            LAUNCH.with_borrow_mut(|launch| launch.waits = true);
            turn().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If items add to a word by a load and a store, some additions are lost. Atomic additions are
    /// not lost. Two launches with the same seed run in the same order.
    #[test]
    fn plain_additions_are_lost_with_most_seeds() {
        let sum_of = |seed, atomic| {
            let sum = Words::new([0]);
            let sum_ref = &sum;
            let add = async move || match atomic {
                true => drop(sum_ref.add(0, 1).await),
                false => sum_ref.store(0, sum_ref.load(0).await + 1).await,
            };
            interleave((0..8).map(|_| add()), seed);
            sum.values()[0]
        };
        let lost = (0..80).filter(|&seed| sum_of(seed, false) < 8).count();
        assert!(lost > 40, "{lost} of 80");
        assert!((0..80).all(|seed| sum_of(seed, true) == 8));
        assert!((0..80).all(|seed| sum_of(seed, false) == sum_of(seed, false)));
    }

    /// One item stores two words. Another item loads the two words in the opposite order.
    #[test]
    fn a_load_finds_older_values_and_never_goes_back() {
        let mut met = [[false; 2]; 2];
        for seed in 0..400 {
            let (data, flag, again) = (Words::new([0]), Words::new([0]), Words::new([2, 2, 2]));
            let items = async |item: usize| match item {
                0 => {
                    data.store(0, 1).await;
                    flag.store(0, 1).await;
                }
                _ => {
                    again.store(0, flag.load(0).await).await;
                    again.store(1, data.load(0).await).await;
                    again.store(2, data.load(0).await).await;
                }
            };
            interleave((0..2).map(&items), seed);
            let found = again.values();
            assert!(found[1] <= found[2], "seed {seed}");
            let is_old = found[0] == 1 && found[1] == 0;
            assert!(!is_old || seed % 2 == 1, "seed {seed}");
            met[seed as usize % 2][usize::from(is_old)] = true;
        }
        assert_eq!(met, [[true, false], [true, true]]);
    }

    #[test]
    fn a_barrier_separates_writes_from_reads() {
        for seed in 0..200 {
            let (words, sums, barrier) = (Words::local(vec![0; 5]), Words::new(vec![0; 5]), Barrier::of(5));
            let item = async |item: usize| {
                words.store(item, 1).await;
                barrier.wait().await;
                let mut sum = 0;
                for at in 0..5 {
                    sum += words.load(at).await;
                }
                sums.store(item, sum).await;
            };
            interleave((0..5).map(&item), seed);
            assert_eq!(sums.values(), [5; 5], "seed {seed}");
        }
    }
}
