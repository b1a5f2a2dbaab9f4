//! Results that kernels scale: alpha·(...) + beta·y.
use crate::{
    device::{Buffer, Elem, InOut, Scalar, Sum, arguments},
    element::Scaling,
};

/// A vector y that becomes alpha·(...) + beta·y.
pub(crate) struct ScaledInto<'a> {
    pub values: &'a mut Buffer,
    pub scaling: Scaling,
}

impl ScaledInto<'_> {
    /// Borrows the result again, for one of several launches.
    pub fn again(&mut self) -> ScaledInto<'_> {
        ScaledInto { values: &mut *self.values, scaling: self.scaling }
    }
}

arguments! {
    /// A scaled result as kernel arguments.
    pub(crate) struct InOutScaled: for<'a> ScaledInto<'a> = |of| {
        y: InOut<Elem> = of.values,
        alpha: Scalar<Sum> = of.scaling.alpha,
        beta: Scalar<Sum> = of.scaling.beta,
    }
}
