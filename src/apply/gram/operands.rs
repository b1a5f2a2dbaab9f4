//! The operands of a gram matrix: J, x and weights. The tuples are those that an application passes
//! to `execute`.
use crate::{
    DeviceMatrix, DeviceVector,
    matrix::HostMatrix,
    product::{DeviceWeights, Weights},
};

/// The operands of an [`ApplyGram`](super::ApplyGram): `(&j, &x)`, or with weights
/// `(&j, weights, &x)`.
#[derive(Debug)]
pub struct GramOperands<'a, M: HostMatrix> {
    pub(super) j: &'a DeviceMatrix<M>,
    pub(super) x: WeighedVector<'a, M>,
}

/// The operands of a [`PackedGram`](super::PackedGram): `&x`, or with weights `(weights, &x)`.
#[derive(Debug)]
pub struct WeighedVector<'a, M: HostMatrix> {
    pub(super) x: &'a DeviceVector<M::Word>,
    pub(super) weights: Option<DeviceWeights<'a, M>>,
}

impl<'a, M: HostMatrix> From<&'a DeviceVector<M::Word>> for WeighedVector<'a, M> {
    fn from(x: &'a DeviceVector<M::Word>) -> Self {
        Self { x, weights: None }
    }
}

impl<'a, M: HostMatrix> From<(Weights<&'a DeviceMatrix<M>, &'a DeviceVector<M::Word>>, &'a DeviceVector<M::Word>)>
    for WeighedVector<'a, M>
{
    fn from((weights, x): (DeviceWeights<'a, M>, &'a DeviceVector<M::Word>)) -> Self {
        Self { x, weights: Some(weights) }
    }
}

impl<'a, M: HostMatrix> From<(&'a DeviceMatrix<M>, &'a DeviceVector<M::Word>)> for GramOperands<'a, M> {
    fn from((j, x): (&'a DeviceMatrix<M>, &'a DeviceVector<M::Word>)) -> Self {
        Self { j, x: x.into() }
    }
}

impl<'a, M: HostMatrix>
    From<(&'a DeviceMatrix<M>, Weights<&'a DeviceMatrix<M>, &'a DeviceVector<M::Word>>, &'a DeviceVector<M::Word>)>
    for GramOperands<'a, M>
{
    fn from((j, weights, x): (&'a DeviceMatrix<M>, DeviceWeights<'a, M>, &'a DeviceVector<M::Word>)) -> Self {
        Self { j, x: (weights, x).into() }
    }
}
