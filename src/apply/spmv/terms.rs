//! The arrays from which kernels compute the terms of a sum.
use crate::{
    device::{Buffer, Elem, In, Maybe, Slot, Value, arguments},
    vector::line_sums::Stored,
};

/// The arrays from which terms are computed: for each place of a format its column and its block,
/// and the vector x.
#[derive(Clone, Copy)]
pub(super) struct RowTerms<'a, C = u32> {
    pub col: &'a Buffer<C>,
    /// The index of each block in the values, or `None` if the kernel does not read it.
    pub source: Option<&'a Buffer<u32>>,
    pub a: Stored<'a>,
    pub x: &'a Buffer,
}

arguments! {
    /// Terms as kernel arguments: the parameters TERMS_OF of `cl/apply/spmv/values.cl`, with
    /// columns of type `C`.
    pub(super) struct InTerms<C: Slot>: for<'a> RowTerms<'a, C::Held> = |of| {
        col: In<C> = of.col,
        source: Maybe<u32> = of.source,
        values: In<Value> = of.a.values,
        x: In<Elem> = of.x,
        stride: u32 = of.a.stride,
    }
}
