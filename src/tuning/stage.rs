//! Stages and their numbers. With the macro [`numbers`] a stage declares the numbers with which its
//! kernels are compiled or launched. The declaration is in a separate file, which uses no module of
//! the library except `tuning`. The crate's root lists the stages.
mod bound;

pub(crate) use bound::{Bound, Values, least_of_tile, most_of};

use super::DeviceKind;
use crate::{Error, Result, STAGES};
use std::collections::BTreeMap;

/// Numbers by their names, which replace the numbers of the tables.
pub(crate) type GivenNumbers = BTreeMap<String, usize>;

/// The numbers of a stage. The macro [`numbers`] implements this trait.
pub(crate) trait StageNumbers: Copy {
    /// The names of the numbers, in their order.
    const NAMES: &'static [&'static str];

    /// Returns the table for a kind of device. All kinds except CPUs share the table of GPUs.
    fn of(kind: DeviceKind) -> Self;

    /// Returns the number called `name`.
    fn named(&mut self, name: &str) -> Option<&mut usize>;

    /// Limits work-groups to at most `most` items.
    fn within(self, most: usize) -> Self;

    /// Returns every number with its bounds.
    fn bounds(&self) -> Vec<Bound>;

    /// Returns the table with the given numbers of this stage replaced.
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

/// Declares the numbers of a stage. Each number has a description, the kind of its values, its
/// least and its largest value, and the names of the numbers on which these bounds depend:
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
/// The macro needs two constants in the same file, `CPU` and `GPU`, which are the tables of these
/// kinds of devices.
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

/// A stage in the list of all stages.
pub(crate) struct Stage {
    names: &'static [&'static str],
    bounds: fn(DeviceKind, &GivenNumbers, usize) -> Vec<Bound>,
}

impl Stage {
    /// Makes the stage that has the numbers of the type `N`.
    pub const fn of<N: StageNumbers>() -> Self {
        Self { names: N::NAMES, bounds: |kind, given, most| N::with(kind, given).within(most).bounds() }
    }
}

/// Returns the names of all numbers.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    STAGES.iter().flat_map(|stage| stage.names.iter().copied())
}

/// Returns the numbers of all stages, with their bounds, for work-groups of at most `most` items.
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
