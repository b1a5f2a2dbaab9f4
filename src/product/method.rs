//! Methods: what one of them implements, and the list of all.
use super::{
    analysis::{Analyser, Analysis, BandSegments},
    bands::Band,
    terms::Factors,
};
use crate::{
    Error, Result,
    device::{Buffer, Work, at_most},
};

/// One way to find the runs of a part of C: what a new method implements.
///
/// A *task* is what a method computes at once. [`Esc`](super::esc::Esc) takes [`Columns`]: it finds
/// the pattern of C too. [`Masked`](super::masked::Masked) takes places of a mask, which is that
/// pattern. The verbs and their order are the same for all: `count`, one read of the `record`,
/// `place`.
pub(super) trait Algorithm {
    /// What is computed at once.
    type Task<'t>;
    /// What is passed on from counting to placing.
    type Counted;
    /// What is made: the products in the order of their runs, and the pattern of C unless given.
    type Placed;
    /// Counts the runs of a task. Reads nothing back.
    fn count(&self, work: &Work, task: &mut Self::Task<'_>) -> Result<Self::Counted>;
    /// The counts, as soon as the device has them.
    fn record<'c>(&self, counted: &'c Self::Counted) -> Record<'c>;
    /// Makes what has been counted. Reads nothing back.
    fn place(&self, work: &Work, task: &Self::Task<'_>, counted: Self::Counted, tally: Tally) -> Result<Self::Placed>;

    /// The verbs in their order, for a task alone; `most` bounds its counts. One read.
    fn run(&self, work: &Work, task: &mut Self::Task<'_>, most: u64) -> Result<Self::Placed> {
        let counted = self.count(work, task)?;
        let Record { words, start } = self.record(&counted);
        let tally = Tally::checked(&work.read(words, start, Tally::WORDS)?, most)?;
        self.place(work, task, counted, tally)
    }
}

/// A task: columns of B to multiply A by. They have at least one product.
pub(super) struct Columns<'a> {
    pub factors: Factors<'a>,
    pub analyser: &'a Analyser,
    pub analysis: &'a mut Analysis,
    pub band: &'a Band,
}

impl Columns<'_> {
    /// Where the products of each column begin.
    pub fn segments(&mut self, work: &Work) -> Result<BandSegments> {
        self.analyser.segments(work, self.factors.b, self.analysis, self.band)
    }
}

/// Where the device counts what [`Tally`] reads.
pub(super) struct Record<'c> {
    pub words: &'c Buffer<u32>,
    pub start: usize,
}

/// The counts of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    /// What the task does not say: runs of columns, which are entries of C; products on places of a
    /// mask.
    pub count: usize,
    /// Products of the longest run.
    pub longest: u32,
    /// Pieces of the runs longer than [`Tuning::long_run`].
    pub pieces: usize,
    /// Those of runs longer than [`RUN_PIECE`](crate::primitives::segmented_reduce::RUN_PIECE).
    pub parts: usize,
}

impl Tally {
    /// Words of a record, in the order of the fields.
    pub const WORDS: usize = 4;

    /// From its words, which `most` bounds.
    pub fn checked(words: &[u32], most: u64) -> Result<Self> {
        let names = ["runs or products", "products of a run", "pieces of runs", "parts of runs"];
        for (what, count) in names.into_iter().zip(words) {
            at_most(what, (*count).into(), most)?;
        }
        let &[count, longest, pieces, parts] = words else {
            return Err(Error::Contradiction(format!("a record of {} words", words.len())));
        };
        Ok(Self { count: count as usize, longest, pieces: pieces as usize, parts: parts as usize })
    }
}

/// Every method: variant, name, documentation. Those of columns are ESC's
/// ([`Esc`](super::esc::Esc)). Those of scalars, which add products as they meet them, are compiled
/// by [`Adaptive`](super::adaptive::Adaptive), for CPUs `Dense` and `Direct` by
/// [`Ranged`](super::ranges::Ranged), those of a mask with their masks; the host needs none.
macro_rules! methods {
    (
        columns { $( $method:ident = $name:literal, $doc:literal, )+ }
        scalars { $( $scalar:ident = $scalar_name:literal, $scalar_doc:literal, )+ }
        host { $( $host:ident = $host_name:literal, $host_doc:literal, )+ }
        mask { $( $masked:ident = $masked_name:literal, $masked_doc:literal, )+ }
    ) => {
        /// How a product is computed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum Method {
            /// The fastest known for each column.
            #[default]
            Auto,
            $( #[doc = $doc] $method, )+
            $( #[doc = $scalar_doc] $scalar, )+
            $( #[doc = $host_doc] $host, )+
            $( #[doc = $masked_doc] $masked, )+
        }

        impl Method {
            /// Every method, without the choice among them.
            pub const ALL: &[Self] = &[$( Self::$method, )+ $( Self::$scalar, )+ $( Self::$host, )+ $( Self::$masked, )+];

            /// Whether it computes only products that have a mask.
            pub fn needs_mask(self) -> bool {
                matches!(self, $( Self::$masked )|+)
            }

            /// The name the command and the report use.
            pub fn name(self) -> &'static str {
                match self {
                    Self::Auto => "auto",
                    $( Self::$method => $name, )+
                    $( Self::$scalar => $scalar_name, )+
                    $( Self::$host => $host_name, )+
                    $( Self::$masked => $masked_name, )+
                }
            }

            /// Its name in the table of costs: both variants of ESC have the same.
            pub(super) fn cost_name(self) -> &'static str {
                if self == Self::EscLocal { Self::Esc.name() } else { self.name() }
            }

            /// Whether it computes columns of scalars, and adds products as it meets them.
            pub(super) fn is_of_scalars(self) -> bool {
                matches!(self, $( Self::$scalar )|+)
            }
        }
    };
}

methods! {
    columns {
        Esc = "esc", "Blockwise expand, sort, compress (Polok 2015), in global memory.",
        EscLocal = "esc-local", "The same with expansion and sort in local memory: for GPUs.",
    }
    scalars {
        Direct = "direct", "Columns of B with one entry: a column of A is copied and scaled. Scalars; of blocks `auto` does so on CPUs.",
        Sort = "sort", "Columns of at most 3584 products are sorted in registers: scalars, and blocks if none has more than local memory has room for, 2048 in 48 KiB.",
        Dense = "dense", "A bitmap finds the rows of a column, then each has a slot to which products are added, on CPUs one for each row: scalars, and blocks on CPUs.",
        Hub = "hub", "The same for columns of many entries: the products of several are sorted before they are added. Scalars.",
        Hash = "hash", "A hash table finds the rows of a column, another the slot of each, in any range of rows: scalars.",
    }
    host {
        Host = "host", "On the host's cores, between the device's arrays.",
    }
    mask {
        Masked = "masked", "Looks products up from the places of a mask: every product that has a mask, and no others.",
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Method {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let known = [Self::Auto].iter().chain(Self::ALL).copied();
        known.clone().find(|m| m.name().eq_ignore_ascii_case(text)).ok_or_else(|| {
            let names: Vec<_> = known.map(Self::name).collect();
            Error::Argument(format!("no method \"{text}\"; there are: {}", names.join(", ")))
        })
    }
}
