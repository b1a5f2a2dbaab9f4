//! Kinds of tasks. Each kind has a kernel of its own.
use crate::{device::Options, product::terms::Method};

/// The kind of a task: how a row finds its slot, and which sums the slot has. `class_of_piece` in
/// `cl/product/columns/tasks/cut.cl` uses the same numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::product) enum TaskKind {
    /// Slots are found by the bits of a bitmap. If runs are `cut`, every 1024 products of a slot
    /// begin a new sum.
    Dense { levels: Levels, cut: bool },
    /// Several equal columns of B, whose rows have the same slots: see `adaptive/equal.rs`.
    Equal { levels: Levels },
    /// Slots are found by a hash table.
    Hash { cut: bool },
    /// A hub: a column of B with many entries of few products each. The runs of a hub are cut.
    Hub { levels: Levels },
}

/// The number of bitmaps in which a task finds the word of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::product) enum Levels {
    /// The bitmap has every word from the first row on.
    One,
    /// The bitmap has only the words in which there are rows. Another bitmap says which words have
    /// rows. Two levels take less memory than one if rows are far apart, and about twice the time.
    Two,
}

impl Levels {
    /// Defines the levels for a kernel.
    pub fn define(self, options: Options) -> Options {
        options.define("LEVELS", u8::from(self == Self::Two))
    }
}

impl TaskKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Dense { levels: Levels::One, cut: false },
        Self::Dense { levels: Levels::Two, cut: false },
        Self::Dense { levels: Levels::One, cut: true },
        Self::Dense { levels: Levels::Two, cut: true },
        Self::Equal { levels: Levels::One },
        Self::Equal { levels: Levels::Two },
        Self::Hash { cut: false },
        Self::Hash { cut: true },
        Self::Hub { levels: Levels::One },
        Self::Hub { levels: Levels::Two },
    ];

    /// The number of the kind.
    pub fn number(self) -> usize {
        Self::ALL.into_iter().position(|kind| kind == self).expect("a kind is in the list of all")
    }

    /// The method whose kernels compute the sums of the kind.
    pub fn method(self) -> Method {
        match self {
            Self::Dense { .. } | Self::Equal { .. } => Method::Dense,
            Self::Hash { .. } => Method::Hash,
            Self::Hub { .. } => Method::Hub,
        }
    }
}

/// The tasks of a kind whose slots fit the same slice of local memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::product) struct TaskClass {
    pub kind: TaskKind,
    /// The number of the slice.
    pub slice: usize,
    /// The number of the class: the classes of a kind are neighbours, in the order of their slices.
    pub number: usize,
}
