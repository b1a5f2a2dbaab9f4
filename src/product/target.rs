//! The C of sums of products of scalars: new, or with a pattern that is kept. Macros:
//! `cl/product/target.cl`.
use super::terms::Scaling;
use crate::{
    Semiring,
    device::{Arguing, Buffer, Declared, Options, Param, Scalar, Sum},
    element::{ElementType, WordType},
};

/// What C is: kernels are compiled for one of these. The numbers are those of the kernel file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TargetKind {
    /// New: its rows are written too, and nothing is scaled.
    New,
    /// Its pattern is kept. Values of all three matrices lie side by side.
    Kept,
    /// Its pattern is kept. Values are any number of elements apart.
    Strided,
}

impl TargetKind {
    /// Sums of `element` over a semiring into such a C.
    pub fn over(self, element: ElementType, semiring: Semiring) -> SumsInto {
        SumsInto { target: self, element, semiring }
    }
}

/// The sums of a product: their algebra, and what C is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SumsInto {
    target: TargetKind,
    element: ElementType,
    semiring: Semiring,
}

impl SumsInto {
    /// The options of kernels that write such sums.
    pub fn define(self, options: Options) -> Options {
        options.element_in(self.element, self.semiring).define("TARGET", self.target as usize)
    }
}

/// C, of which kernels write some entries.
pub(super) struct Target<'a> {
    /// The rows of a new C. Not written if the pattern is kept.
    pub row_idx: &'a mut Buffer<u32>,
    pub values: &'a mut Buffer,
    pub layout: Layout,
}

/// How values lie, and how sums are scaled.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// Where the first entry of C is, counted in entries.
    pub first: u64,
    /// Elements from one value to the next of A, B and C.
    pub strides: [usize; 3],
    pub scaling: Scaling,
}

impl Layout {
    /// That of a new C of `element`.
    pub fn new(element: ElementType) -> Self {
        Self { first: 0, strides: [1; 3], scaling: Scaling::plain(element) }
    }
}

impl Target<'_> {
    /// The same, for one of several launches.
    pub fn again(&mut self) -> Target<'_> {
        Target { row_idx: &mut *self.row_idx, values: &mut *self.values, layout: self.layout }
    }
}

/// TARGET_ARGUMENTS of the kernel file.
pub(super) struct InLayout;

impl Param for InLayout {
    type Value<'a> = Layout;
    fn declare(to: &mut Declared) {
        to.field(); // which stands for numbers of other names
        to.number("c_first", WordType::of::<u64>());
        ["a_stride", "b_stride", "c_stride"].iter().for_each(|stride| to.number(stride, WordType::of::<u32>()));
        let sum = to.word_of::<Sum>();
        ["alpha", "beta"].iter().for_each(|factor| to.number(factor, sum));
    }
    unsafe fn pass(&Layout { first, strides, scaling }: &Layout, to: &mut Arguing<'_>) {
        // SAFETY: the arguments are these numbers in this order, as the caller promises.
        unsafe {
            u64::pass(&first, to);
            for stride in strides {
                u32::pass(&(stride as u32), to);
            }
            Scalar::<Sum>::pass(&scaling.alpha, to);
            Scalar::<Sum>::pass(&scaling.beta, to);
        }
    }
}
