//! Selects the unknowns among cameras, points, poses or landmarks, and numbers them in the order of
//! J's columns.
use crate::{Error, Group, Result};

/// The unknowns among the members of one kind, and their numbers.
#[derive(Debug, Clone)]
pub(super) struct Unknowns {
    numbers: Vec<Option<u32>>,
    count: usize,
}

impl Unknowns {
    /// Selects the unknowns among `all` members: the members that are `used` and free.
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

    /// Number of unknowns.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The unknowns as a group of columns of J.
    pub fn group(&self, side: usize) -> Group {
        Group { blocks: self.count, side }
    }

    /// The number of a member, or `None` if it is not an unknown.
    pub fn number(&self, one: u32) -> Option<u32> {
        self.numbers[one as usize]
    }

    /// The member with the number `number`.
    pub fn of_number(&self, number: usize) -> Option<usize> {
        self.numbers.iter().position(|&found| found.is_some_and(|found| found as usize == number))
    }

    /// The members that are not unknowns, ascending.
    pub fn missing(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.numbers).filter(|(_, number)| number.is_none()).map(|(one, _)| one)
    }

    /// For each member, the `side` numbers of `by` by which it moves, or `None` if the member is
    /// not an unknown.
    ///
    /// # Errors
    /// [`Error::Length`] if `by` does not have `side` numbers for each unknown.
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
