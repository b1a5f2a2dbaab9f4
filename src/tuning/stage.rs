//! Stages and their numbers. A stage declares the numbers with which its kernels are compiled or
//! launched by [`numbers`], in a file of its own that names no room but this one. The crate's root
//! lists the stages.
mod bound;

pub(crate) use bound::{Bound, Values, least_of_tile, most_of};

use super::DeviceKind;
use crate::{Error, Result, STAGES};
use std::collections::BTreeMap;

/// Numbers by their names, given in place of those of the tables.
pub(crate) type GivenNumbers = BTreeMap<String, usize>;

/// The numbers of a stage. [`numbers`] implements it.
pub(crate) trait StageNumbers: Copy {
    /// The names of the numbers, in their order.
    const NAMES: &'static [&'static str];

    /// The table for a kind of device. All kinds except CPUs share that of GPUs.
    fn of(kind: DeviceKind) -> Self;

    /// The number called `name`.
    fn named(&mut self, name: &str) -> Option<&mut usize>;

    /// Limits work-groups to at most `most` items.
    fn within(self, most: usize) -> Self;

    /// Every number with its bounds.
    fn bounds(&self) -> Vec<Bound>;

    /// The table with some numbers replaced. Those of other stages are left out.
    fn with(kind: DeviceKind, given: &GivenNumbers) -> Self {
        let mut numbers = Self::of(kind);
        for (name, &value) in given {
            if let Some(number) = numbers.named(name) {
                *number = value;
            }
        }
        numbers
    }
}

/// Declares the numbers of a stage. Each has a description, the kind of its values, the least and
/// the most, and the numbers on which these depend:
///
/// ```text
/// numbers! {
///     /// Numbers of a scan.
///     pub(crate) struct ScanNumbers |n| {
///         /// Consecutive values of a work-item.
///         scan_items: All(1, 1024 / n.scan_group; scan_group),
///         ...
///     }
/// }
/// ```
///
/// Beside it stand two constants, `CPU` and `GPU`: the tables of the two kinds of devices.
macro_rules! numbers {
    (
        $(#[$of_all:meta])*
        $vis:vis struct $Numbers:ident |$n:ident| {
            $(
                $(#[$of_one:meta])*
                $name:ident: $values:ident($least:expr, $most:expr $(; $($beside:ident),+)?),
            )*
        }
    ) => {
        $(#[$of_all])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis struct $Numbers { $($(#[$of_one])* pub $name: usize,)* }

        impl $crate::tuning::StageNumbers for $Numbers {
            const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            fn of(kind: $crate::tuning::DeviceKind) -> Self {
                if kind == $crate::tuning::DeviceKind::Cpu { CPU } else { GPU }
            }

            fn named(&mut self, name: &str) -> Option<&mut usize> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }

            fn within(self, most: usize) -> Self {
                Self { $($name: $crate::tuning::Values::$values.within(self.$name, most),)* }
            }

            fn bounds(&self) -> Vec<$crate::tuning::Bound> {
                let $n = self;
                vec![$($crate::tuning::Bound {
                    name: stringify!($name),
                    value: $n.$name,
                    least: $least,
                    most: $most,
                    values: $crate::tuning::Values::$values,
                    beside: vec![$($((stringify!($beside), $n.$beside)),+)?],
                },)*]
            }
        }
    };
}
pub(crate) use numbers;

/// A stage in the list of all.
pub(crate) struct Stage {
    names: &'static [&'static str],
    bounds: fn(DeviceKind, &GivenNumbers, usize) -> Vec<Bound>,
}

impl Stage {
    /// The stage that has these numbers.
    pub const fn of<N: StageNumbers>() -> Self {
        Self { names: N::NAMES, bounds: |kind, given, most| N::with(kind, given).within(most).bounds() }
    }
}

/// The names of all numbers.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    STAGES.iter().flat_map(|stage| stage.names.iter().copied())
}

/// The numbers of all stages, with their bounds, for work-groups of at most `most` items.
pub(crate) fn bounds(kind: DeviceKind, given: &GivenNumbers, most: usize) -> Vec<Bound> {
    STAGES.iter().flat_map(|stage| (stage.bounds)(kind, given, most)).collect()
}

/// Refuses names that no stage has, and numbers with which a kernel cannot be compiled or run.
pub(super) fn check(kind: DeviceKind, given: &GivenNumbers) -> Result<()> {
    if let Some(unknown) = given.keys().find(|given| !names().any(|name| name == *given)) {
        return Err(Error::Argument(format!(
            "there is no number `{unknown}` (earlier versions had more): remove it, or give one of {}",
            names().collect::<Vec<_>>().join(", ")
        )));
    }
    let touched = STAGES.iter().filter(|stage| stage.names.iter().any(|name| given.contains_key(*name)));
    touched.flat_map(|stage| (stage.bounds)(kind, given, usize::MAX)).try_for_each(|bound| bound.check())
}

#[cfg(test)]
mod tests;
