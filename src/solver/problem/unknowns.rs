//! What is unknown among cameras, points, poses or landmarks, and its number in the columns of J.
use crate::{Error, Group, Result};

/// Which of some things are unknown, and their numbers among those.
#[derive(Debug, Clone)]
pub(super) struct Unknowns {
    numbers: Vec<Option<u32>>,
    count: usize,
}

impl Unknowns {
    /// Those of `all` that are `used`.
    pub fn new(all: usize, used: impl Iterator<Item = u32>, is_free: impl Fn(u32) -> bool) -> Self {
        let mut numbers = vec![None; all];
        for used in used.filter(|&one| is_free(one)) {
            numbers[used as usize] = Some(0);
        }
        let mut count = 0;
        for number in numbers.iter_mut().flatten() {
            *number = count;
            count += 1;
        }
        Self { numbers, count: count as usize }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// They as columns of J.
    pub fn group(&self, side: usize) -> Group {
        Group { blocks: self.count, side }
    }

    /// The number of one, if it is unknown.
    pub fn number(&self, one: u32) -> Option<u32> {
        self.numbers[one as usize]
    }

    /// The one of a number.
    pub fn of_number(&self, number: usize) -> Option<usize> {
        self.numbers.iter().position(|&found| found.is_some_and(|found| found as usize == number))
    }

    /// Each thing with its share of a move, `side` numbers, if it has one.
    ///
    /// # Errors
    /// [`Error::Length`] for a move that is not of all of them.
    pub fn with_moves<'s>(&self, by: &'s [f64], side: usize) -> Result<impl Iterator<Item = Option<&'s [f64]>>> {
        let (found, expected) = (by.len(), self.count * side);
        if found != expected {
            let why = format!("{} unknowns of {side} numbers", self.count);
            return Err(Error::Length { array: "step", found, expected, why });
        }
        let share = move |number: &Option<u32>| number.map(|number| &by[number as usize * side..][..side]);
        Ok(self.numbers.iter().map(share))
    }
}
