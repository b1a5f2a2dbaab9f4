//! The words of a product: types that several of its modules name, without kernels, launches or
//! choices. They name no other module of `product`. What computes with a word is where it is
//! computed.
mod band;
mod counts;
mod factors;
mod method;
mod payload;
mod pipeline;
mod sizes;
mod spec;

pub(crate) use crate::element::Scaling;
pub use crate::matrix::Part;
pub(crate) use band::Band;
pub use counts::Bin;
pub(crate) use counts::Counts;
pub(crate) use factors::{Destination, FactorPattern, Factors, Operands, Place};
pub use method::Method;
pub(crate) use payload::PayloadKind;
pub(crate) use pipeline::{Pipeline, Way};
pub(crate) use sizes::Sizes;
pub(crate) use spec::{How, Spec, Transposed};
