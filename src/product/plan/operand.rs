//! The factors of a product: matrices and patterns, each as it is or transposed.
use crate::{
    Device, DeviceMatrix, DevicePattern, DeviceVector,
    groups::{Cells, DeviceGroups, Group, GroupsPattern},
    matrix::HostMatrix,
    product::{GramParts, Part, Weights},
};

/// A factor of a product: an operand, or its transpose (see [`Factor::t`]). `&a` converts into a
/// factor.
#[derive(Debug)]
pub struct Factor<'a, X> {
    /// The operand as it is stored.
    pub operand: &'a X,
    /// Whether the factor is the operand's transpose, which is not formed.
    pub transposed: bool,
}

impl<X> Clone for Factor<'_, X> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<X> Copy for Factor<'_, X> {}

impl<'a, X> Factor<'a, X> {
    /// The transpose of the factor, which is not formed.
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

/// The types of a product's options for one kind of operand. Only this module implements
/// `OperandTypes`.
pub trait OperandTypes {
    /// The pattern of an operand, and the type of a mask.
    type Pattern;
    /// The choice of the part of a square product that is computed.
    type Parts: Into<GramParts> + From<Part>;
    /// Weights for the last factor. For patterns, the kind of weights that executions will use.
    type Weights<'a>: Copy
    where
        Self: 'a;

    /// The kinds of weights, one for each group of rows.
    #[doc(hidden)]
    fn kinds(weights: Self::Weights<'_>) -> Vec<Weights<(), ()>>;
}

impl<M: HostMatrix> OperandTypes for DeviceMatrix<M> {
    type Pattern = DevicePattern;
    type Parts = Part;
    type Weights<'a> = Weights<&'a DeviceMatrix<M>, &'a DeviceVector<M::Word>>;

    fn kinds(weights: Self::Weights<'_>) -> Vec<Weights<(), ()>> {
        vec![weights.kind()]
    }
}

impl OperandTypes for DevicePattern {
    type Pattern = Self;
    type Parts = Part;
    type Weights<'a> = Weights<(), ()>;

    fn kinds(weights: Weights<(), ()>) -> Vec<Weights<(), ()>> {
        vec![weights]
    }
}

impl<M: HostMatrix> OperandTypes for DeviceGroups<M> {
    type Pattern = GroupsPattern;
    type Parts = GramParts;
    type Weights<'a> = &'a [Weights<&'a DeviceMatrix<M>, &'a DeviceVector<M::Word>>];

    fn kinds(weights: Self::Weights<'_>) -> Vec<Weights<(), ()>> {
        weights.iter().map(Weights::kind).collect()
    }
}

impl OperandTypes for GroupsPattern {
    type Pattern = Self;
    type Parts = GramParts;
    type Weights<'a> = &'a [Weights<(), ()>];

    fn kinds(weights: &[Weights<(), ()>]) -> Vec<Weights<(), ()>> {
        weights.to_vec()
    }
}

/// An operand on a device, as a grid of cells. A matrix is one cell. Only this module implements
/// it.
pub trait OnDevice: OperandTypes {
    /// Whether the operand is a matrix of groups.
    #[doc(hidden)]
    const GROUPED: bool;

    #[doc(hidden)]
    fn device(&self) -> &Device;
    #[doc(hidden)]
    fn cells(&self) -> Cells<DevicePattern>;
}

impl<M: HostMatrix> OnDevice for DeviceMatrix<M> {
    const GROUPED: bool = false;

    fn device(&self) -> &Device {
        self.device()
    }

    fn cells(&self) -> Cells<DevicePattern> {
        one_cell(self.pattern())
    }
}

impl OnDevice for DevicePattern {
    const GROUPED: bool = false;

    fn device(&self) -> &Device {
        self.device()
    }

    fn cells(&self) -> Cells<DevicePattern> {
        one_cell(self.clone())
    }
}

impl<M: HostMatrix> OnDevice for DeviceGroups<M> {
    const GROUPED: bool = true;

    fn device(&self) -> &Device {
        &self.device
    }

    fn cells(&self) -> Cells<DevicePattern> {
        self.cells.map(DeviceMatrix::pattern)
    }
}

impl OnDevice for GroupsPattern {
    const GROUPED: bool = true;

    fn device(&self) -> &Device {
        &self.device
    }

    fn cells(&self) -> Cells<DevicePattern> {
        self.cells.clone()
    }
}

/// The grid of a matrix: one cell.
pub(in crate::product) fn one_cell(pattern: DevicePattern) -> Cells<DevicePattern> {
    let shape = pattern.shape();
    let rows = Group { blocks: pattern.nrows(), side: shape.rows() };
    let cols = Group { blocks: pattern.ncols(), side: shape.cols() };
    Cells::one(rows, cols, pattern)
}

/// Host matrices are operands of estimates.
impl<M: HostMatrix> OperandTypes for M {
    type Pattern = crate::Pattern;
    type Parts = Part;
    type Weights<'a> = Weights<(), ()>;

    fn kinds(weights: Weights<(), ()>) -> Vec<Weights<(), ()>> {
        vec![weights]
    }
}

/// Defines the method `t` of operands.
macro_rules! transposable {
    ($(<$($m:ident)?> $operand:ty),*) => {$(
        impl$(<$m: HostMatrix>)? $operand {
            /// The transpose as a factor of a [`Product`](crate::Product). The transpose is not
            /// formed.
            pub fn t(&self) -> Factor<'_, Self> {
                Factor::from(self).t()
            }
        }
    )*};
}
transposable!(<M> DeviceMatrix<M>, <> DevicePattern, <M> DeviceGroups<M>, <> GroupsPattern);
