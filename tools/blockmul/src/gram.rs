//! y = Jᵀ·(W·(J·x)): weights of files and of devices, and the product on the host, with which the
//! results of devices are compared.
use crate::vector::{beyond_rounding, differences, magnitudes, matrix_of_magnitudes, most_terms};
use blockmul::{
    Device, DeviceMatrix, DeviceVector, Result, Semiring,
    element::{Any, AnyValues, Order},
    matrix::AnyMatrix,
    plan::Format,
    product::Weights,
    reference,
};

/// Weights on the host.
pub type HostWeights = Weights<AnyMatrix, AnyValues>;

/// Weights on a device.
pub type DeviceWeights = Weights<DeviceMatrix<AnyMatrix>, DeviceVector<Any>>;

/// Copies weights to a device.
pub fn upload(device: &Device, weights: &HostWeights) -> Result<DeviceWeights> {
    try_map(borrow(weights), |matrix| device.upload(matrix), |vector| device.upload_any_vector(vector))
}

/// The same weights, borrowed.
pub fn borrow<I, V>(weights: &Weights<I, V>) -> Weights<&I, &V> {
    match weights {
        Weights::Information(information) => Weights::Information(information),
        Weights::Scaled { information, weights } => Weights::Scaled { information, weights },
        Weights::BlockRows(weights) => Weights::BlockRows(weights),
        Weights::Rows(weights) => Weights::Rows(weights),
    }
}

/// Weights of the same kind, made of the matrix and the vector of others.
fn try_map<I, V, J, U>(
    weights: Weights<I, V>,
    matrix: impl FnOnce(I) -> Result<J>,
    vector: impl FnOnce(V) -> Result<U>,
) -> Result<Weights<J, U>> {
    Ok(match weights {
        Weights::Information(information) => Weights::Information(matrix(information)?),
        Weights::Scaled { information, weights } => {
            Weights::Scaled { information: matrix(information)?, weights: vector(weights)? }
        }
        Weights::BlockRows(weights) => Weights::BlockRows(vector(weights)?),
        Weights::Rows(weights) => Weights::Rows(vector(weights)?),
    })
}

/// The operands on the host. J is A, or its transpose.
pub struct OnHost<'a> {
    pub semiring: Semiring,
    pub transposed: bool,
    pub a: &'a AnyMatrix,
    pub weights: Option<&'a HostWeights>,
    pub x: &'a AnyValues,
}

impl OnHost<'_> {
    /// The product with the sums of J·x, and those of the product with Jᵀ, in an order.
    pub fn product(&self, orders: [Order; 2]) -> Result<AnyValues> {
        let weights = self.weights.map(borrow);
        reference::multiply_any_vector_gram(self.semiring, orders, (self.transposed, self.a), weights, self.x)
    }

    /// Elements of y that are not the reference's in the formats of the two products: bit for bit,
    /// or, if a format has no order, within rounding.
    pub fn wrong(&self, y: &AnyValues, formats: [Format; 2]) -> Result<usize> {
        let orders = formats.map(Format::order);
        let want = self.product(orders)?;
        if formats.into_iter().all(Format::reproducible) {
            return Ok(differences(y, &want));
        }
        let sized =
            |weights| try_map(weights, |matrix| Ok(matrix_of_magnitudes(matrix)), |vector| Ok(magnitudes(vector)));
        let weights = self.weights.map(borrow).map(sized).transpose()?;
        let (a, x) = (matrix_of_magnitudes(self.a), magnitudes(self.x));
        let sizes = OnHost { a: &a, weights: weights.as_ref(), x: &x, ..*self }.product(orders)?;
        Ok(beyond_rounding(y, &want, &sizes, self.roundings()))
    }

    /// The terms of the sums one after another, and the number of these sums.
    fn roundings(&self) -> (usize, usize) {
        let terms = most_terms(self.a, self.transposed) + most_terms(self.a, !self.transposed);
        match self.weights {
            None => (terms, 2),
            Some(Weights::BlockRows(_) | Weights::Rows(_)) => (terms + 1, 3),
            Some(Weights::Information(information)) => (terms + most_terms(information, false), 3),
            Some(Weights::Scaled { information, .. }) => (terms + most_terms(information, false) + 1, 3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockmul::Csc;

    /// A row of a large number and 33 ones, which 32 lanes add otherwise: of A·x if the number is
    /// 2^53, of A·(Aᵀ·x) if its square is 2^54.
    #[test]
    fn results_are_compared_in_the_orders_of_both_formats() -> Result<()> {
        let [long, lanes] = [Format::Csr, Format::CsrVector];
        for (transposed, large, x, others) in [(false, 53, vec![1.0; 34], 34), (true, 27, vec![1.0], 1)] {
            let values = (0..34).map(|col| (0, col, if col == 0 { 2f64.powi(large) } else { 1.0 }));
            let (a, x) = (AnyMatrix::from(Csc::from_triplets(1, 34, values)?), AnyValues::F64(x));
            let of = OnHost { semiring: Semiring::PlusTimes, transposed, a: &a, weights: None, x: &x };
            let y = of.product([Order::Ascending, Order::Lanes])?;
            assert_eq!(of.wrong(&y, [long, lanes])?, 0);
            assert_eq!(of.wrong(&y, [lanes, long])?, others);
            assert_eq!(of.wrong(&y, [lanes, lanes])?, if transposed { 0 } else { others });
        }
        Ok(())
    }

    #[test]
    fn sums_as_they_arrive_are_within_the_rounding_of_both_products_and_of_weights() -> Result<()> {
        let a = Csc::from_triplets(2, 2, [(0, 0, 1.0), (0, 1, -1.0), (1, 1, 3.0)])?.into();
        let information = Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 1, 4.0)])?.into();
        let formats = [Format::CooAtomic; 2];
        for (weights, roundings) in [
            (None, (2 + 2, 2)),
            (Some(Weights::Rows(AnyValues::F64(vec![-1.0, 2.0]))), (2 + 2 + 1, 3)),
            (Some(Weights::Information(information)), (2 + 2 + 1, 3)),
        ] {
            let of = OnHost {
                semiring: Semiring::PlusTimes,
                transposed: false,
                a: &a,
                weights: weights.as_ref(),
                x: &AnyValues::F64(vec![1.0, 1.0]),
            };
            let y = of.product([Order::Ascending; 2])?;
            let off =
                |ulps: f64| AnyValues::F64(y.numbers().iter().map(|y| y + ulps * f64::EPSILON).collect::<Vec<_>>());
            assert_eq!(of.wrong(&off(2.0), formats)?, 0);
            assert_eq!(of.wrong(&off(1e3), formats)?, 2);
            assert_eq!(of.wrong(&off(1e3), [Format::Csr, Format::CooAtomic])?, 2);
            assert_eq!(of.roundings(), roundings);
        }
        Ok(())
    }
}
