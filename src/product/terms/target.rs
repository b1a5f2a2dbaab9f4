//! The kinds of C into which products of scalars are summed: a new C, or one whose pattern is kept.
//! Macros: `cl/product/terms/target.cl`.
use super::Scaling;
use crate::{
    Semiring,
    device::{Arguing, Buffer, Declared, Options, Param, Scalar, Sum},
    element::{ElementType, WordType},
};

/// The kind of C for which kernels are compiled. The kernel file uses the same numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::product) enum TargetKind {
    /// C is new: its rows are written too, and nothing is scaled.
    New,
    /// The pattern of C is kept. The values of each of the three matrices are contiguous.
    Kept,
    /// The pattern of C is kept. Values of a matrix may be any number of elements apart.
    Strided,
}

impl TargetKind {
    /// The sums of `element` over a semiring, written into this kind of C.
    pub fn over(self, element: ElementType, semiring: Semiring) -> SumsInto {
        SumsInto { target: self, element, semiring }
    }
}

/// The sums of a product: their element, their algebra, and the kind of C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::product) struct SumsInto {
    target: TargetKind,
    element: ElementType,
    semiring: Semiring,
}

impl SumsInto {
    /// The options of kernels that write these sums.
    pub fn define(self, options: Options) -> Options {
        options.element_in(self.element, self.semiring).define("TARGET", self.target as usize)
    }
}

/// C as kernels write it. Each launch writes some of its entries.
pub(in crate::product) struct Target<'a> {
    /// The rows of a new C, which are not written if the pattern is kept.
    pub row_idx: &'a mut Buffer<u32>,
    pub values: &'a mut Buffer,
    pub layout: Layout,
}

/// The layout of values, and the scaling of sums.
#[derive(Clone, Copy)]
pub(in crate::product) struct Layout {
    /// The place of the first entry of C, counted in entries.
    pub first: u64,
    /// Elements from one value to the next of A, B and C.
    pub strides: [usize; 3],
    pub scaling: Scaling,
}

impl Layout {
    /// The layout of a new C of `element`.
    pub fn new(element: ElementType) -> Self {
        Self { first: 0, strides: [1; 3], scaling: Scaling::plain(element) }
    }
}

impl Target<'_> {
    /// Borrows the target again, for one of several launches.
    pub fn again(&mut self) -> Target<'_> {
        Target { row_idx: &mut *self.row_idx, values: &mut *self.values, layout: self.layout }
    }
}

/// The arguments TARGET_ARGUMENTS of the kernel file.
pub(in crate::product) struct InLayout;

impl Param for InLayout {
    type Value<'a> = Layout;
    fn declare(to: &mut Declared) {
        to.field(); // it stands for numbers of other names
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
