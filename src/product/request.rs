//! Making a plan from a [`Product`].
use super::{
    How, Operand, Options, Plan, Plannable, Product,
    plan::{OnDevice, PlanCore, Wanted},
};
use crate::{
    DeviceMatrix, DevicePattern, Error, Matrix, Result, Semiring,
    device::Work,
    groups::{BlockGroups, DeviceGroups, GroupsPattern},
    matrix::{AnyType, HostMatrix, MatrixType},
};

/// The options that a product has besides [`Options`].
#[derive(Clone, Copy)]
pub(super) struct Given {
    pub weights: bool,
    pub mask: bool,
    pub parts: bool,
}

impl Options {
    /// Refuses incompatible options for matrices of type `of`.
    pub(super) fn check(&self, of: AnyType, given: Given) -> Result<()> {
        let refused = |why: &str| Err(Error::Argument(why.into()));
        if self.alignment.is_some() && !of.kind.has_blocks() {
            return refused("scalars lie side by side: an alignment is for blocks");
        }
        let semiring = self.semiring;
        semiring.check_type(of.element)?;
        if self.threshold.is_some() && (of.element.is_integer() || semiring != Semiring::PlusTimes) {
            return refused("entries are dropped by their magnitude: of floats, in plus-times");
        }
        if given.weights && semiring != Semiring::PlusTimes {
            return Err(Error::Argument(format!("weights are factors of plus-times, not of {semiring}")));
        }
        match (given.mask, given.parts, self.threshold) {
            (true, true, _) => refused("a masked product has the mask's pattern: a part of it is another mask"),
            (true, _, Some(_)) => refused("a masked product has the mask's pattern: no entry of it can be dropped"),
            _ => Ok(()),
        }
    }

    /// Refuses options that a plan cannot have.
    fn check_planned(&self) -> Result<()> {
        let refused = |why: &str| Err(Error::Argument(why.into()));
        match (&self.threshold, &self.progress, self.band_columns) {
            (Some(_), ..) => refused("a plan's pattern does not depend on values: its entries cannot be dropped"),
            (_, Some(_), _) => refused("a plan is executed at once: it has no progress to report"),
            (.., Some(_)) => refused("a plan is executed at once: it has no bands of columns"),
            _ => Ok(()),
        }
    }
}

impl<X: Operand> Product<'_, X> {
    pub(super) fn given(&self) -> Given {
        Given { weights: self.weights.is_some(), mask: self.mask.is_some(), parts: self.parts.is_some() }
    }
}

impl<X: OnDevice<Pattern: OnDevice>> Product<'_, X> {
    /// Prepares the product for the patterns of its factors.
    fn planned<K: Plannable<Pattern = X::Pattern>>(&self, of: AnyType) -> Result<Plan<K>> {
        self.options.check_planned()?;
        let work = Work::new(self.factors[0].operand.device(), self.options.memory_limit);
        self.options.check(of, self.given())?;
        let mut factors = Vec::with_capacity(self.factors.len());
        for factor in &self.factors {
            factors.push((factor.operand.cells(), factor.transposed));
        }
        let core = PlanCore::new(
            &work,
            Wanted {
                of,
                factors,
                gram: self.gram,
                grouped: X::GROUPED,
                weights: self.weights.map(X::kinds),
                parts: self.parts.unwrap_or_default(),
                mask: self.mask.map(OnDevice::cells),
                alignment: self.options.alignment,
                how: How { method: self.options.method, semiring: self.options.semiring },
            },
        );
        Plan::new(core?)
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
                let of: fn(&Self) -> Result<AnyType> = $of;
                self.planned(of(self)?)
            }
        }
    )*};
}
plans! {
    /// Prepares the product for the patterns of its factors.
    <M> DeviceMatrix<M>, <> M, Self::type_of;
    /// Prepares the product for matrices of type `M` with these patterns.
    <> DevicePattern, <M> M, |_| Ok(MatrixType::<M>::OF.any());
    /// Prepares the product for the patterns of its factors.
    <M> DeviceGroups<M>, <> BlockGroups<M>, Self::type_of;
    /// Prepares the product for groups of type `M` with these patterns.
    <> GroupsPattern, <M> BlockGroups<M>, |_| Ok(MatrixType::<M>::OF.any());
}
