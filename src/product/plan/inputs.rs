//! The inputs of a product's execution.
use super::{Plannable, Views};
use crate::product::Operand;

/// The factors of a product, and its weights if it has any: `(&a, &b)`, `&j` for a gram, `(&r, &a,
/// &r)`, or an array of all factors. For a plan with weights they are `Inputs::of(&j).weights(w)`.
pub struct Inputs<'a, X: Operand + 'a> {
    pub(crate) factors: Vec<&'a X>,
    pub(crate) weights: Option<X::Weights<'a>>,
}

impl<'a, X: Operand> Inputs<'a, X> {
    /// The factors, from left to right.
    pub fn of(factors: impl Into<Self>) -> Self {
        factors.into()
    }

    /// Sets the weights, which stand before the last factor: one
    /// [`Weights`](crate::product::Weights) for a matrix, or a slice of them for the groups of rows
    /// of [`DeviceGroups`](crate::groups::DeviceGroups).
    pub fn weights(mut self, weights: X::Weights<'a>) -> Self {
        self.weights = Some(weights);
        self
    }
}

impl<'a, X: Operand> From<&'a X> for Inputs<'a, X> {
    fn from(j: &'a X) -> Self {
        Self { factors: vec![j], weights: None }
    }
}

impl<'a, X: Operand> From<(&'a X, &'a X)> for Inputs<'a, X> {
    fn from((a, b): (&'a X, &'a X)) -> Self {
        Self { factors: vec![a, b], weights: None }
    }
}

impl<'a, X: Operand> From<(&'a X, &'a X, &'a X)> for Inputs<'a, X> {
    fn from((a, b, c): (&'a X, &'a X, &'a X)) -> Self {
        Self { factors: vec![a, b, c], weights: None }
    }
}

impl<'a, X: Operand, const N: usize> From<[&'a X; N]> for Inputs<'a, X> {
    fn from(factors: [&'a X; N]) -> Self {
        Self { factors: factors.to_vec(), weights: None }
    }
}

/// The inputs without their types.
pub(super) fn views<'a, K: Plannable>(inputs: Inputs<'a, K::Device>) -> Views<'a> {
    let mut factors = Vec::with_capacity(inputs.factors.len());
    for factor in inputs.factors {
        factors.push(K::view(factor));
    }
    Views { factors, weights: inputs.weights.map(K::weights) }
}
