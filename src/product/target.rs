//! The C of sums of products of scalars: new, or with a pattern that is kept. Macros:
//! `cl/product/target.cl`.
use super::problem::Scaling;
use crate::{
    Element, Semiring,
    device::{Arguing, Buffer, Declared, Options, Param, Scalar},
    element::WordType,
};
use std::marker::PhantomData;

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
    /// Sums over a semiring into such a C.
    pub fn over(self, semiring: Semiring) -> SumsInto {
        SumsInto { target: self, semiring }
    }
}

/// The sums of a product: their algebra, and what C is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SumsInto {
    target: TargetKind,
    semiring: Semiring,
}

impl SumsInto {
    /// The options of kernels that write such sums.
    pub fn define<T: Element>(self, options: Options) -> Options {
        options.element_in::<T>(self.semiring).define("TARGET", self.target as usize)
    }
}

/// C, of which kernels write some entries.
pub(super) struct Target<'a, T: Element> {
    /// The rows of a new C. Not written if the pattern is kept.
    pub row_idx: &'a mut Buffer<u32>,
    pub values: &'a mut Buffer<T>,
    pub layout: Layout<T>,
}

/// How values lie, and how sums are scaled.
#[derive(Clone, Copy)]
pub(super) struct Layout<T: Element> {
    /// Where the first entry of C is, counted in entries.
    pub first: u64,
    /// Elements from one value to the next of A, B and C.
    pub strides: [usize; 3],
    pub scaling: Scaling<T::Arithmetic>,
}

impl<T: Element> Layout<T> {
    /// That of a new C.
    pub fn new() -> Self {
        Self { first: 0, strides: [1; 3], scaling: Scaling::plain() }
    }
}

impl<T: Element> Target<'_, T> {
    /// The same, for one of several launches.
    pub fn again(&mut self) -> Target<'_, T> {
        Target { row_idx: &mut *self.row_idx, values: &mut *self.values, layout: self.layout }
    }
}

/// TARGET_ARGUMENTS of the kernel file.
pub(super) struct InLayout<T>(PhantomData<T>);

impl<T: Element> Param for InLayout<T> {
    type Value<'a> = Layout<T>;
    fn declare(to: &mut Declared) {
        to.field(); // which stands for numbers of other names
        to.number("c_first", WordType::of::<u64>());
        ["a_stride", "b_stride", "c_stride"].iter().for_each(|stride| to.number(stride, WordType::of::<u32>()));
        ["alpha", "beta"].iter().for_each(|factor| to.number(factor, WordType::of::<T::Arithmetic>()));
    }
    unsafe fn pass(&Layout { first, strides, scaling }: &Layout<T>, to: &mut Arguing<'_>) {
        // SAFETY: the arguments are these numbers in this order, as the caller promises.
        unsafe {
            u64::pass(&first, to);
            for stride in strides {
                u32::pass(&(stride as u32), to);
            }
            Scalar::<T::Arithmetic>::pass(&scaling.alpha, to);
            Scalar::<T::Arithmetic>::pass(&scaling.beta, to);
        }
    }
}
