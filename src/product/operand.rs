//! The factors of a product: matrices and patterns, each as it is or transposed.
use super::{GramParts, Part, Weights};
use crate::{
    DeviceMatrix, DevicePattern, DeviceVector,
    groups::{DeviceGroups, GroupsPattern},
    matrix::HostMatrix,
};

/// A factor of a product: an operand, or its transpose by [`Factor::t`]. `&a` converts into a
/// factor.
#[derive(Debug)]
pub struct Factor<'a, X> {
    pub(crate) operand: &'a X,
    pub(crate) transposed: bool,
}

impl<X> Clone for Factor<'_, X> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<X> Copy for Factor<'_, X> {}

impl<'a, X> Factor<'a, X> {
    /// The transpose, which is not formed.
    pub fn t(self) -> Self {
        Self { transposed: !self.transposed, ..self }
    }
}

impl<'a, X> From<&'a X> for Factor<'a, X> {
    fn from(operand: &'a X) -> Self {
        Self { operand, transposed: false }
    }
}

/// A type that may be a factor: [`DeviceMatrix`] and [`DeviceGroups`] with values,
/// [`DevicePattern`] and [`GroupsPattern`] for plans, and host matrices for estimates.
pub trait Operand: OperandTypes {}

impl<X: OperandTypes> Operand for X {}

/// The types of a product's options for one kind of operand. Implemented in this module only.
pub trait OperandTypes {
    /// The pattern of an operand, and of a mask.
    type Pattern;
    /// The parts of a square product that may be chosen.
    type Parts: Into<GramParts> + From<Part>;
    /// Weights for the last factor; for patterns, the kind of the weights that executions will use.
    type Weights<'a>: Copy
    where
        Self: 'a;

    #[doc(hidden)]
    fn to_pattern(&self) -> Self::Pattern;
    /// The kinds of weights, one for each group of rows.
    #[doc(hidden)]
    fn kinds(weights: Self::Weights<'_>) -> Vec<Weights<(), ()>>;
}

impl<M: HostMatrix> OperandTypes for DeviceMatrix<M> {
    type Pattern = DevicePattern;
    type Parts = Part;
    type Weights<'a> = Weights<&'a DeviceMatrix<M>, &'a DeviceVector<M::Word>>;

    fn to_pattern(&self) -> DevicePattern {
        self.pattern()
    }

    fn kinds(weights: Self::Weights<'_>) -> Vec<Weights<(), ()>> {
        vec![weights.kind()]
    }
}

impl OperandTypes for DevicePattern {
    type Pattern = Self;
    type Parts = Part;
    type Weights<'a> = Weights<(), ()>;

    fn to_pattern(&self) -> Self {
        self.clone()
    }

    fn kinds(weights: Weights<(), ()>) -> Vec<Weights<(), ()>> {
        vec![weights]
    }
}

impl<M: HostMatrix> OperandTypes for DeviceGroups<M> {
    type Pattern = GroupsPattern;
    type Parts = GramParts;
    type Weights<'a> = &'a [Weights<&'a DeviceMatrix<M>, &'a DeviceVector<M::Word>>];

    fn to_pattern(&self) -> GroupsPattern {
        self.pattern()
    }

    fn kinds(weights: Self::Weights<'_>) -> Vec<Weights<(), ()>> {
        weights.iter().map(Weights::kind).collect()
    }
}

impl OperandTypes for GroupsPattern {
    type Pattern = Self;
    type Parts = GramParts;
    type Weights<'a> = &'a [Weights<(), ()>];

    fn to_pattern(&self) -> Self {
        self.clone()
    }

    fn kinds(weights: &[Weights<(), ()>]) -> Vec<Weights<(), ()>> {
        weights.to_vec()
    }
}

/// Host matrices, for estimates.
impl<M: HostMatrix> OperandTypes for M {
    type Pattern = crate::Pattern;
    type Parts = Part;
    type Weights<'a> = Weights<(), ()>;

    fn to_pattern(&self) -> crate::Pattern {
        self.view().pattern.clone()
    }

    fn kinds(weights: Weights<(), ()>) -> Vec<Weights<(), ()>> {
        vec![weights]
    }
}

/// Defines the transposes of operands.
macro_rules! transposable {
    ($(<$($m:ident)?> $operand:ty),*) => {$(
        impl$(<$m: HostMatrix>)? $operand {
            /// The transpose as a factor of a [`Product`](crate::Product); it is not formed.
            pub fn t(&self) -> Factor<'_, Self> {
                Factor::from(self).t()
            }
        }
    )*};
}
transposable!(<M> DeviceMatrix<M>, <> DevicePattern, <M> DeviceGroups<M>, <> GroupsPattern);
