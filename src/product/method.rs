//! Methods: what one of them implements, the list of all, and the only dispatch among them.
use super::{
    analysis::{Analyser, Analysis, BandSegments},
    bands::Band,
    esc,
    problem::{Factors, Payload, Sizes, Spec},
    runs::FoundRuns,
    tuning::Tuning,
};
use crate::{
    Element, Error, Result, Word,
    device::{Buffer, Device, Work, at_most},
};

/// One way to compute columns of C: what a new method implements.
pub(super) trait Algorithm<T: Element, P: Payload<T>>: Sized {
    const METHOD: Method;
    /// What is passed on from counting to placing.
    type Counted;
    /// Asks for the kernels.
    fn new(device: &Device, spec: &Spec, tuning: &Tuning) -> Result<Self>;
    /// Counts the runs of some columns, which have at least one product. Reads nothing back.
    fn count(&self, work: &Work, task: &mut Task<'_, P::Operand>) -> Result<Self::Counted>;
    /// The counts, as soon as the device has them.
    fn record<'c>(&self, counted: &'c Self::Counted) -> Record<'c>;
    /// Makes the pattern of C, and the products in the order of their runs.
    fn place(
        &self,
        work: &Work,
        task: &Task<'_, P::Operand>,
        counted: Self::Counted,
        tally: Tally,
    ) -> Result<(FoundRuns<P::Word>, BandSegments)>;
    /// Products of columns of these sizes that a sort moves once more, for the report.
    fn merged(&self, sizes: &Sizes) -> u64;
}

/// Columns of B for a method to multiply A by.
pub(super) struct Task<'a, O: Word> {
    pub factors: Factors<'a, O>,
    pub analyser: &'a Analyser,
    pub analysis: &'a mut Analysis,
    pub band: &'a Band,
}

impl<O: Word> Task<'_, O> {
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

/// The counts of a band, or of a method's columns in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    /// Runs: entries of C.
    pub nnz: usize,
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

    /// From its words; `products` bounds them all.
    pub fn checked(words: &[u32], products: u64) -> Result<Self> {
        for (what, count) in ["runs", "products of a run", "pieces of runs", "parts of runs"].into_iter().zip(words) {
            at_most(what, (*count).into(), products)?;
        }
        let &[nnz, longest, pieces, parts] = words else {
            return Err(Error::Contradiction(format!("a record of {} words", words.len())));
        };
        Ok(Self { nnz: nnz as usize, longest, pieces: pieces as usize, parts: parts as usize })
    }
}

/// A method whose algorithm is known at run time.
pub(super) trait AnyMethod<T: Element, P: Payload<T>> {
    fn method(&self) -> Method;
    /// As [`Algorithm::count`].
    fn count<'m>(&'m self, work: &Work, task: &mut Task<'_, P::Operand>) -> Result<Box<dyn AnyCounted<T, P> + 'm>>;
    /// As [`Algorithm::merged`].
    fn merged(&self, sizes: &Sizes) -> u64;
}

/// What a method has counted.
pub(super) trait AnyCounted<T: Element, P: Payload<T>> {
    /// As [`Algorithm::record`].
    fn record(&self) -> Record<'_>;
    /// As [`Algorithm::place`].
    fn place(
        self: Box<Self>,
        work: &Work,
        task: &Task<'_, P::Operand>,
        tally: Tally,
    ) -> Result<(FoundRuns<P::Word>, BandSegments)>;
}

impl<T: Element, P: Payload<T>, A: Algorithm<T, P>> AnyMethod<T, P> for A {
    fn method(&self) -> Method {
        A::METHOD
    }

    fn count<'m>(&'m self, work: &Work, task: &mut Task<'_, P::Operand>) -> Result<Box<dyn AnyCounted<T, P> + 'm>> {
        Ok(Box::new(CountedBy { algorithm: self, counted: Algorithm::count(self, work, task)? }))
    }

    fn merged(&self, sizes: &Sizes) -> u64 {
        Algorithm::merged(self, sizes)
    }
}

struct CountedBy<'m, A, C> {
    algorithm: &'m A,
    counted: C,
}

impl<T: Element, P: Payload<T>, A: Algorithm<T, P>> AnyCounted<T, P> for CountedBy<'_, A, A::Counted> {
    fn record(&self) -> Record<'_> {
        self.algorithm.record(&self.counted)
    }

    fn place(
        self: Box<Self>,
        work: &Work,
        task: &Task<'_, P::Operand>,
        tally: Tally,
    ) -> Result<(FoundRuns<P::Word>, BandSegments)> {
        self.algorithm.place(work, task, self.counted, tally)
    }
}

/// The methods that compute columns of C: variant, name, documentation, and the type that implements
/// [`Algorithm`].
macro_rules! methods {
    ($( $(#[$meta:meta])? $method:ident = $name:literal, $doc:literal: $algorithm:ty ),+ $(,)?) => {
        /// How a product is computed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum Method {
            /// The fastest known for each column.
            #[default]
            Auto,
            $( #[doc = $doc] $(#[$meta])? $method, )+
            /// Looks products up from the places of a mask: every product that has a mask, and no others.
            Masked,
        }

        impl Method {
            /// Every method, without the choice among them.
            pub const ALL: &[Self] = &[$( $(#[$meta])? Self::$method, )+ Self::Masked];

            /// Whether it computes only products that have a mask.
            pub fn needs_mask(self) -> bool {
                self == Self::Masked
            }

            /// The name the command and the report use.
            pub fn name(self) -> &'static str {
                match self {
                    Self::Auto => "auto",
                    $( $(#[$meta])? Self::$method => $name, )+
                    Self::Masked => "masked",
                }
            }
        }

        /// The kernels of a method that computes columns; of others those of ESC.
        pub(super) fn compile<T: Element, P: Payload<T>>(
            method: Method,
            device: &Device,
            spec: &Spec,
            tuning: &Tuning,
        ) -> Result<Box<dyn AnyMethod<T, P>>> {
            Ok(match method {
                $( $(#[$meta])? Method::$method => Box::new(<$algorithm>::new(device, spec, tuning)?), )+
                Method::Auto | Method::Masked => return compile(tuning.esc, device, spec, tuning),
            })
        }
    };
}

methods! {
    Esc = "esc", "Blockwise expand, sort, compress (Polok 2015), in global memory.": esc::Esc<T, P, esc::InGlobalMemory<T, P>>,
    EscLocal = "esc-local", "The same with expansion and sort in local memory: for GPUs.": esc::Esc<T, P, esc::InLocalMemory<T, P>>,
    #[cfg(test)]
    Serial = "serial", "Column by column.": super::serial::Serial<T, P>,
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
