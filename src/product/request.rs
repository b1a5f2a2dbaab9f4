//! A [`Product`] as the request for a plan.
use super::{
    How, Operand, Plan, Plannable, Product,
    plan::{Grid, Wanted},
};
use crate::{
    DeviceMatrix, DevicePattern, Error, Matrix, Result, Semiring,
    device::{Device, Work},
    groups::{BlockGroups, DeviceGroups, GroupsPattern},
    matrix::{HostMatrix, Kind, MatrixType},
};

impl<'a, X: Operand> Product<'a, X> {
    /// The request for a plan, if the options are compatible.
    pub(super) fn wanted<K: Plannable<Pattern = X::Pattern>>(
        &self,
        of: MatrixType<K::Matrix>,
    ) -> Result<Wanted<'a, K>> {
        self.check(of)?;
        Ok(Wanted {
            of,
            factors: self.factors.iter().map(|factor| (factor.operand.to_pattern(), factor.transposed)).collect(),
            gram: self.gram,
            weights: self.weights.map(X::kinds),
            parts: self.parts.unwrap_or_default(),
            mask: self.mask,
            alignment: self.options.alignment,
            how: How { method: self.options.method, semiring: self.options.semiring },
        })
    }

    /// Refuses options that are not compatible.
    pub(super) fn check<M: HostMatrix>(&self, of: MatrixType<M>) -> Result<()> {
        let refused = |why: &str| Err(Error::Argument(why.into()));
        if self.options.alignment.is_some() && !of.kind.get().has_blocks() {
            return refused("scalars lie side by side: an alignment is for blocks");
        }
        let semiring = self.options.semiring;
        semiring.check_type(of.element)?;
        if self.options.threshold.is_some() && (of.element.is_integer() || semiring != Semiring::PlusTimes) {
            return refused("entries are dropped by their magnitude: of floats, in plus-times");
        }
        if self.weights.is_some() && semiring != Semiring::PlusTimes {
            return Err(Error::Argument(format!("weights are factors of plus-times, not of {semiring}")));
        }
        match (self.mask, self.parts, self.options.threshold) {
            (Some(_), Some(_), _) => refused("a masked product has the mask's pattern: a part of it is another mask"),
            (Some(_), _, Some(_)) => refused("a masked product has the mask's pattern: no entry of it can be dropped"),
            _ => Ok(()),
        }
    }

    /// Prepares the product for the patterns of its factors.
    pub(super) fn planned<K: Plannable<Pattern = X::Pattern>>(
        &self,
        device: &Device,
        of: MatrixType<K::Matrix>,
    ) -> Result<Plan<K>> {
        let refused = |why: &str| Err(Error::Argument(why.into()));
        match (&self.options.threshold, &self.options.progress) {
            (Some(_), _) => refused("a plan's pattern does not depend on values: its entries cannot be dropped"),
            (_, Some(_)) => refused("a plan is executed at once: it has no progress to report"),
            _ => Plan::new(&Work::new(device, self.options.memory_limit), self.wanted(of)?),
        }
    }
}

/// Defines [`Product::plan`] for each kind of operand.
macro_rules! plans {
    ($($(#[$doc:meta])* <$($outer:ident)?> $operand:ty, <$($inner:ident)?> $kind:ty, $of:expr;)*) => {$(
        impl<$($outer: HostMatrix)?> Product<'_, $operand> {
            $(#[$doc])*
            ///
            /// # Errors
            /// [`Error::Dimensions`] if inner sizes differ; [`Error::DeviceMismatch`];
            /// [`Error::Memory`] if the plan does not fit the device or the limit;
            /// [`Error::TooLarge`]; [`Error::Argument`] for incompatible options and patterns of
            /// another kind of matrix.
            pub fn plan$(<$inner: Matrix>)?(&self) -> Result<Plan<$kind>> {
                let of: fn(&Self) -> Result<MatrixType<<$kind as Grid>::Matrix>> = $of;
                self.planned(self.factors[0].operand.device(), of(self)?)
            }
        }
    )*};
}
plans! {
    /// Prepares the product for the patterns of its factors.
    <M> DeviceMatrix<M>, <> M, Self::type_of;
    /// Prepares the product for matrices of type `M` with these patterns.
    <> DevicePattern, <M> M, |_| Ok(MatrixType::OF);
    /// Prepares the product for the patterns of its factors.
    <M> DeviceGroups<M>, <> BlockGroups<M>, Self::type_of;
    /// Prepares the product for groups of type `M` with these patterns.
    <> GroupsPattern, <M> BlockGroups<M>, |_| Ok(MatrixType::OF);
}
