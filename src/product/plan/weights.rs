//! The weights of a product: [`Weights`].
use crate::{DeviceMatrix, DeviceVector, Matrix, device::Any, resident::DeviceCbc};

/// The weights of the residuals J·x - b: a block-diagonal W with a block for each block row of J.
///
/// `I` is a block-diagonal matrix and `V` a vector: [`DeviceMatrix`] and [`DeviceVector`] for
/// products on a device, host types for
/// [`reference::gram_weighted`](crate::reference::gram_weighted), `()` for plans of patterns.
/// Blocks of W are used as they are; their symmetry is not checked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weights<I, V> {
    /// A full information matrix for each block row (edge, observation): with J of n block rows of
    /// r scalar rows, n x n blocks of r x r, all on the diagonal and none missing.
    Information(I),
    /// Information matrices, each multiplied by a number, as for robust losses on Mahalanobis
    /// distances. `weights` has n elements.
    Scaled {
        /// The information matrices.
        information: I,
        /// One number for each block row.
        weights: V,
    },
    /// A number for each block row: n elements.
    BlockRows(V),
    /// A number for each scalar row, each residual: n·r elements.
    Rows(V),
}

/// Weights on a device.
pub(crate) type DeviceWeights<'a, M> = Weights<&'a DeviceMatrix<M>, &'a DeviceVector<<M as Matrix>::Element>>;

/// Their arrays.
pub(crate) type ArrayWeights<'a> = Weights<&'a DeviceCbc, &'a DeviceVector<Any>>;

impl<I, V> Weights<I, V> {
    /// The kind of weights, without their values.
    pub(crate) fn kind(&self) -> Weights<(), ()> {
        match self {
            Self::Information(_) => Weights::Information(()),
            Self::Scaled { .. } => Weights::Scaled { information: (), weights: () },
            Self::BlockRows(_) => Weights::BlockRows(()),
            Self::Rows(_) => Weights::Rows(()),
        }
    }
}

impl<'a, M: Matrix> Weights<&'a DeviceMatrix<M>, &'a DeviceVector<M::Element>> {
    pub(crate) fn arrays(self) -> ArrayWeights<'a> {
        match self {
            Self::Information(information) => Weights::Information(&information.cbc),
            Self::Scaled { information, weights } => {
                Weights::Scaled { information: &information.cbc, weights: weights.any() }
            }
            Self::BlockRows(weights) => Weights::BlockRows(weights.any()),
            Self::Rows(weights) => Weights::Rows(weights.any()),
        }
    }
}

impl<I: Copy, V> Weights<I, V> {
    /// The block-diagonal matrix, if there is one.
    pub(crate) fn information(&self) -> Option<I> {
        match self {
            Self::Information(information) | Self::Scaled { information, .. } => Some(*information),
            Self::BlockRows(_) | Self::Rows(_) => None,
        }
    }
}
