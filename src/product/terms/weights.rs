//! The weights of a product: [`Weights`].
use crate::{
    DeviceMatrix, DeviceVector, Result,
    element::Any,
    matrix::{AnyType, HostMatrix},
    resident::{DeviceCbc, DeviceView},
};

/// The weights of the residuals J·x - b: a block-diagonal W with a block for each block row of J.
///
/// `I` is a block-diagonal matrix and `V` a vector: [`DeviceMatrix`] and [`DeviceVector`] for
/// products on a device, host types for
/// [`reference::gram_weighted`](crate::reference::gram_weighted), `()` for plans of patterns.
/// Blocks of W are used as they are, without a check of their symmetry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weights<I, V> {
    /// A full information matrix for each block row (edge, observation). If J has n block rows of r
    /// scalar rows, W is a matrix of n x n blocks of r x r. W stores all blocks of the diagonal and
    /// no other blocks.
    Information(I),
    /// Information matrices, each multiplied by a number. Robust losses on Mahalanobis distances
    /// need scaled information matrices.
    Scaled {
        /// The information matrices.
        information: I,
        /// One number for each block row.
        weights: V,
    },
    /// A number for each block row.
    BlockRows(V),
    /// A number for each scalar row (each residual).
    Rows(V),
}

/// Weights on a device.
pub(crate) type DeviceWeights<'a, M> = Weights<&'a DeviceMatrix<M>, &'a DeviceVector<<M as HostMatrix>::Word>>;

/// Weights on a device, whose element type is a value.
pub(crate) type ViewWeights<'a> = Weights<DeviceView<'a>, &'a DeviceVector<Any>>;

/// The arrays of weights on a device.
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

impl<'a, M: HostMatrix> Weights<&'a DeviceMatrix<M>, &'a DeviceVector<M::Word>> {
    pub(crate) fn views(self) -> ViewWeights<'a> {
        self.map(DeviceMatrix::view, DeviceVector::any)
    }
}

impl<'a> ViewWeights<'a> {
    /// The arrays, if they have the element type and the order of the matrices.
    pub(crate) fn arrays(self, of: AnyType) -> Result<ArrayWeights<'a>> {
        let (information, weights) = self.parts();
        if let Some(w) = information {
            of.check("W", w.type_of())?;
        }
        if let Some(w) = weights {
            w.check_element("the weights", of.element)?;
        }
        Ok(self.map(|w| w.cbc, |w| w))
    }
}

impl<I, V> Weights<I, V> {
    /// The same kind of weights, with another matrix and another vector.
    pub fn map<J, W>(self, matrix: impl FnOnce(I) -> J, vector: impl FnOnce(V) -> W) -> Weights<J, W> {
        match self {
            Self::Information(information) => Weights::Information(matrix(information)),
            Self::Scaled { information, weights } => {
                Weights::Scaled { information: matrix(information), weights: vector(weights) }
            }
            Self::BlockRows(weights) => Weights::BlockRows(vector(weights)),
            Self::Rows(weights) => Weights::Rows(vector(weights)),
        }
    }

    /// Borrows the weights.
    pub fn as_ref(&self) -> Weights<&I, &V> {
        match self {
            Self::Information(information) => Weights::Information(information),
            Self::Scaled { information, weights } => Weights::Scaled { information, weights },
            Self::BlockRows(weights) => Weights::BlockRows(weights),
            Self::Rows(weights) => Weights::Rows(weights),
        }
    }
}

impl<I, V> Weights<Result<I>, Result<V>> {
    /// The weights, or the error of one of their parts, such as the error of an upload.
    ///
    /// # Errors
    /// The error of the matrix, or else the error of the vector.
    pub fn transpose(self) -> Result<Weights<I, V>> {
        Ok(match self {
            Self::Information(information) => Weights::Information(information?),
            Self::Scaled { information, weights } => Weights::Scaled { information: information?, weights: weights? },
            Self::BlockRows(weights) => Weights::BlockRows(weights?),
            Self::Rows(weights) => Weights::Rows(weights?),
        })
    }
}

impl<I: Copy, V: Copy> Weights<I, V> {
    /// The block-diagonal matrix and the vector, if there are any.
    pub(crate) fn parts(&self) -> (Option<I>, Option<V>) {
        match *self {
            Self::Information(information) => (Some(information), None),
            Self::Scaled { information, weights } => (Some(information), Some(weights)),
            Self::BlockRows(weights) | Self::Rows(weights) => (None, Some(weights)),
        }
    }

    /// The block-diagonal matrix, if there is one.
    pub(crate) fn information(&self) -> Option<I> {
        self.parts().0
    }
}
