//! The words of a product: types that several of its modules name, without kernels, launches or
//! choices. They name no other module of `product`. What computes with a word is where it is
//! computed.
mod counts;
mod factors;
mod method;
mod payload;
mod sizes;
mod spec;

pub(crate) use crate::element::Scaling;
pub use crate::matrix::Part;
pub use counts::Bin;
pub(crate) use counts::{Counts, Pipeline};
pub(crate) use factors::{Destination, FactorPattern, Factors, Operands, Place};
pub use method::Method;
pub(crate) use sizes::Sizes;
pub(crate) use spec::{How, Spec, Transposed};
