//! The bounds within which kernels can be compiled and run.
use crate::{Error, Result};

/// The kind of values that a number may have between its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    All,
    PowersOfTwo,
    /// Powers of two that are numbers of work-items of a work-group, or of a part of a work-group.
    /// Each device limits the number of work-items of a work-group.
    Groups,
    MultiplesOf8,
}

impl Values {
    /// Returns the value on a device whose work-groups have at most `most` items.
    pub fn within(self, value: usize, most: usize) -> usize {
        if self == Self::Groups { value.min(1 << most.max(1).ilog2()) } else { value }
    }
}

/// A number with the values that it may have, given the other numbers of its stage.
#[derive(Debug, Clone)]
pub(crate) struct Bound {
    pub name: &'static str,
    pub value: usize,
    pub least: usize,
    pub most: usize,
    pub values: Values,
    /// The names and values of the other numbers on which these bounds depend.
    pub beside: Vec<(&'static str, usize)>,
}

impl Bound {
    pub fn allows(&self, value: usize) -> bool {
        let is_of_kind = match self.values {
            Values::All => true,
            Values::PowersOfTwo | Values::Groups => value.is_power_of_two(),
            Values::MultiplesOf8 => value.is_multiple_of(8),
        };
        is_of_kind && (self.least..=self.most).contains(&value)
    }

    /// Returns the allowed value that is nearest to a bound.
    #[cfg(test)]
    pub fn nearest(&self, bound: usize) -> usize {
        let mut upwards = self.least..=self.most;
        let mut downwards = (self.least..=self.most).rev();
        let is_least = bound == self.least;
        if is_least { upwards.find(|&value| self.allows(value)) } else { downwards.find(|&value| self.allows(value)) }
            .unwrap()
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.allows(self.value) {
            return Ok(());
        }
        let Self { name, value, least, most, values, ref beside } = *self;
        let of_kind = match values {
            Values::All => "",
            Values::PowersOfTwo | Values::Groups => "a power of two ",
            Values::MultiplesOf8 => "a multiple of 8 ",
        };
        let beside: Vec<_> = beside.iter().map(|(name, value)| format!("{name} is {value}")).collect();
        let beside = if beside.is_empty() { String::new() } else { format!(" if {}", beside.join(" and ")) };
        Err(Error::Argument(format!("{name} is {value}, not {of_kind}from {least} to {most}{beside}")))
    }
}

/// Returns the least value of a factor of a scan's tile if the other factor is `other`. A tile has
/// at least two words. Tiles of one word would have one sum for each word, and scanning the sums of
/// the tiles would never end.
pub(crate) fn least_of_tile(other: usize) -> usize {
    if other > 1 { 1 } else { 2 }
}

/// Returns the largest value of a factor, up to `most`, whose product with `other` is at most
/// `room`.
pub(crate) fn most_of(room: usize, other: usize, most: usize) -> usize {
    (room / other.max(1)).min(most)
}
