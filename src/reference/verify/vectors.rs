//! Verification of products with vectors. If the order of the sums is known, results are compared
//! bit for bit, otherwise within rounding.
use crate::{
    Error, Result, Semiring, Weights,
    element::{AnyValues, Order},
    matrix::AnyMatrix,
    product::Factor,
    reference::{Onto, multiply_any_vector_gram, multiply_any_vector_onto, op::Op},
};

/// Number of elements of y that differ from the reference's A·x, or Aᵀ·x. With [`Order::Arrival`]
/// an element counts as different if the difference exceeds rounding. With any order but `Arrival`
/// an element counts as different if a bit differs.
///
/// ```
/// use blockmul::element::{AnyValues, Order};
/// use blockmul::{Csc, Semiring, matrix::AnyMatrix, reference::verify};
/// let a = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0)])?);
/// let (x, y) = (AnyValues::F64(vec![1.0, 10.0]), AnyValues::F64(vec![2.0, 3.0 + 4e-16]));
/// let wrong = |order| verify::verify_vector(Semiring::PlusTimes, order, &a, &x, &y);
/// assert_eq!((wrong(Order::Ascending)?, wrong(Order::Arrival)?), (1, 0));
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// The errors of [`multiply_any_vector`](crate::reference::multiply_any_vector); [`Error::Length`]
/// if y has another length than the product; [`Error::Argument`] if y has another element type.
pub fn verify_vector<'a>(
    semiring: Semiring,
    order: Order,
    a: impl Into<Factor<'a, AnyMatrix>>,
    x: &AnyValues,
    y: &AnyValues,
) -> Result<usize> {
    let a = a.into();
    let old = AnyValues::zeros(x.element(), Op::of(a).scalar_sides().0);
    verify_vector_onto(semiring, order, a, x, Onto { beta: 0.0, old: &old }, y)
}

/// Like [`verify_vector`], for y = A·x + beta·old, where `old` are the earlier contents of y.
///
/// # Errors
/// The errors of [`multiply_any_vector_onto`] and of [`verify_vector`].
pub fn verify_vector_onto<'a>(
    semiring: Semiring,
    order: Order,
    a: impl Into<Factor<'a, AnyMatrix>>,
    x: &AnyValues,
    onto: Onto<'_>,
    y: &AnyValues,
) -> Result<usize> {
    let a = a.into();
    let want = multiply_any_vector_onto(semiring, order, a, x, onto)?;
    check(y, &want)?;
    if order != Order::Arrival {
        return Ok(different(y, &want));
    }
    let sized = Factor { operand: &a.operand.map(f64::abs), ..a };
    let of_onto = Onto { beta: onto.beta.abs(), old: &onto.old.map(f64::abs) };
    let sizes = multiply_any_vector_onto(semiring, order, sized, &x.map(f64::abs), of_onto)?;
    let terms = most_terms(a) + usize::from(onto.beta != 0.0);
    Ok(beyond_rounding(y, &want, &sizes, (terms, 1)))
}

/// Like [`verify_vector`], for y = Jᵀ·(W·(J·x)). `orders` are the orders of the sums in the product
/// with J and in the product with Jᵀ.
///
/// # Errors
/// The errors of [`multiply_any_vector_gram`] and of [`verify_vector`].
pub fn verify_vector_gram<'a>(
    semiring: Semiring,
    orders: [Order; 2],
    j: impl Into<Factor<'a, AnyMatrix>>,
    weights: Option<Weights<&AnyMatrix, &AnyValues>>,
    x: &AnyValues,
    y: &AnyValues,
) -> Result<usize> {
    let j = j.into();
    let want = multiply_any_vector_gram(semiring, orders, j, weights, x)?;
    check(y, &want)?;
    if !orders.contains(&Order::Arrival) {
        return Ok(different(y, &want));
    }
    let sized = weights.map(|weights| weights.map(|matrix| matrix.map(f64::abs), |vector| vector.map(f64::abs)));
    let (of_j, of_x) = (Factor { operand: &j.operand.map(f64::abs), ..j }, x.map(f64::abs));
    let sizes = multiply_any_vector_gram(semiring, orders, of_j, sized.as_ref().map(Weights::as_ref), &of_x)?;
    Ok(beyond_rounding(y, &want, &sizes, roundings(j, weights)))
}

/// The arguments `terms` and `stored` of [`beyond_rounding`] for a product Jᵀ·(W·(J·x)). The
/// product has two or three successive sums. The first number counts the terms of all these sums
/// together, the second number counts the sums.
fn roundings(j: Factor<'_, AnyMatrix>, weights: Option<Weights<&AnyMatrix, &AnyValues>>) -> (usize, usize) {
    let terms = most_terms(j) + most_terms(j.t());
    let Some((information, numbers)) = weights.map(|weights| weights.parts()) else { return (terms, 2) };
    let of_information = information.map_or(0, most_terms);
    (terms + of_information + usize::from(numbers.is_some()), 3)
}

/// Refuses a y whose length or element type is not that of the product.
fn check(y: &AnyValues, want: &AnyValues) -> Result<()> {
    let (found, expected) = (y.len(), want.len());
    if found != expected {
        return Err(Error::Length { array: "y", found, expected, why: "the elements of the product".into() });
    }
    if y.element() != want.element() {
        let (of_y, of_product) = (y.element(), want.element());
        return Err(Error::Argument(format!("y has elements of {of_y}, the product of {of_product}")));
    }
    Ok(())
}

/// Number of elements whose bits differ. All NaN count as equal.
///
/// # Panics
/// If the numbers of elements differ.
pub fn different(found: &AnyValues, want: &AnyValues) -> usize {
    assert_eq!(found.len(), want.len(), "elements to compare");
    // In `f64`, different numbers have different bits, and so have 0 and -0.
    let same = |at: usize| {
        let (found, want) = (found.number(at), want.number(at));
        found.to_bits() == want.to_bits() || (found.is_nan() && want.is_nan())
    };
    (0..found.len()).filter(|&at| !same(at)).count()
}

/// Number of elements that differ by more than rounding. A result is computed by `stored`
/// successive sums, each rounded to the element type; the sums have `terms` terms together. `sizes`
/// has, for each element, the sum of the magnitudes of its terms. Two NaN count as equal. An
/// infinite element counts as different from every number except the same infinity.
///
/// # Panics
/// If the three arrays do not have the same length.
pub fn beyond_rounding(
    found: &AnyValues,
    want: &AnyValues,
    sizes: &AnyValues,
    (terms, stored): (usize, usize),
) -> usize {
    assert_eq!([found.len(), sizes.len()], [want.len(); 2], "elements to compare");
    let of = found.element();
    let unit = 2.0 * (terms as f64 * of.arithmetic_roundoff() + stored as f64 * of.storage_roundoff());
    let close = |found: f64, want: f64, size: f64| {
        let is_near = (found - want).is_finite() && (found - want).abs() <= unit * size;
        found == want || (found.is_nan() && want.is_nan()) || is_near
    };
    (0..found.len()).filter(|&at| !close(found.number(at), want.number(at), sizes.number(at))).count()
}

/// The largest number of terms in a sum of A·x, or of Aᵀ·x.
pub fn most_terms<'a>(a: impl Into<Factor<'a, AnyMatrix>>) -> usize {
    let Factor { operand: a, transposed } = a.into();
    let (pattern, shape) = (a.pattern(), a.shape());
    let side = if transposed { shape.rows() } else { shape.cols() };
    if a.kind().is_row_major() != transposed {
        return side * (0..pattern.ncols()).map(|col| pattern.entries(col).len()).max().unwrap_or(0);
    }
    let mut entries = vec![0; pattern.nrows()];
    pattern.row_idx().iter().for_each(|&row| entries[row as usize] += 1);
    side * entries.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csc, Csr, element::ElementType};

    #[test]
    fn sums_in_another_order_are_within_rounding_and_others_are_not() {
        let (want, sizes) = ([1.0, 0.0, f64::NAN, f64::INFINITY], [1.0, 1.0, f64::NAN, f64::INFINITY]);
        let of = |numbers: [f64; 4]| AnyValues::F64(numbers.to_vec());
        let beyond = |found: [f64; 4]| beyond_rounding(&of(found), &of(want), &of(sizes), (10, 1));
        assert_eq!(beyond(want), 0);
        assert_eq!(beyond([1.0 + 2e-15, -2e-15, f64::NAN, f64::INFINITY]), 0);
        assert_eq!(beyond([1.0 + 3e-15, 3e-15, 0.0, 1e300]), 4);
        assert_eq!(beyond([1.0, 0.0, f64::NAN, f64::NEG_INFINITY]), 1);
    }

    #[test]
    fn what_cannot_be_the_product_is_refused() -> Result<()> {
        let a = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0)])?);
        let x = AnyValues::F64(vec![1.0, 10.0]);
        for order in [Order::Ascending, Order::Arrival] {
            let plain = |y: &AnyValues| verify_vector(Semiring::PlusTimes, order, &a, &x, y);
            let gram = |y: &AnyValues| verify_vector_gram(Semiring::PlusTimes, [order; 2], &a, None, &x, y);
            for verified in [&plain as &dyn Fn(&AnyValues) -> Result<usize>, &gram] {
                for len in [0, 1, 3] {
                    let short = verified(&AnyValues::zeros(ElementType::F64, len));
                    assert!(matches!(short, Err(Error::Length { found, expected: 2, .. }) if found == len));
                }
                let other = verified(&AnyValues::F32(vec![2.0, 3.0]));
                assert!(matches!(other, Err(Error::Argument(_))));
            }
        }
        Ok(())
    }

    #[test]
    fn terms_are_those_of_the_longest_row() -> Result<()> {
        let a = Csc::from_triplets(3, 4, [(0, 0, 1.0), (0, 1, 1.0), (0, 3, 1.0), (2, 1, 1.0)])?;
        let by_rows = AnyMatrix::from(Csr::from_transpose(a.transpose()));
        let a = AnyMatrix::from(a);
        for a in [&a, &by_rows] {
            assert_eq!([most_terms(a), most_terms(Factor::from(a).t())], [3, 2]);
        }
        Ok(())
    }

    /// Tests a matrix of one row, which has a large number and 33 ones. A sum by 32 lanes differs
    /// from the ascending sum: in A·x if the large number is 2^53, and in A·(Aᵀ·x) if its square is
    /// 2^54.
    #[test]
    fn results_are_compared_in_the_orders_of_both_products() -> Result<()> {
        let [long, lanes] = [Order::Ascending, Order::Lanes];
        for (transposed, large, x, others) in [(false, 53, vec![1.0; 34], 34), (true, 27, vec![1.0], 1)] {
            let values = (0..34).map(|col| (0, col, if col == 0 { 2f64.powi(large) } else { 1.0 }));
            let (a, x) = (AnyMatrix::from(Csc::from_triplets(1, 34, values)?), AnyValues::F64(x));
            let of = Factor { operand: &a, transposed };
            let y = multiply_any_vector_gram(Semiring::PlusTimes, [long, lanes], of, None, &x)?;
            let wrong = |orders| verify_vector_gram(Semiring::PlusTimes, orders, of, None, &x, &y);
            assert_eq!(wrong([long, lanes])?, 0);
            assert_eq!(wrong([lanes, long])?, others);
            assert_eq!(wrong([lanes, lanes])?, if transposed { 0 } else { others });
        }
        Ok(())
    }

    #[test]
    fn sums_as_they_arrive_are_within_the_rounding_of_both_products_and_of_weights() -> Result<()> {
        let a = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 1.0), (0, 1, -1.0), (1, 1, 3.0)])?);
        let information = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 1, 4.0)])?);
        let x = AnyValues::F64(vec![1.0, 1.0]);
        let rows = AnyValues::F64(vec![-1.0, 2.0]);
        for (weights, expected) in [
            (None, (2 + 2, 2)),
            (Some(Weights::Rows(&rows)), (2 + 2 + 1, 3)),
            (Some(Weights::Information(&information)), (2 + 2 + 1, 3)),
        ] {
            let of = Factor::from(&a);
            let y = multiply_any_vector_gram(Semiring::PlusTimes, [Order::Ascending; 2], of, weights, &x)?;
            let wrong = |orders, ulps: f64| {
                let off = y.map(|y| y + ulps * f64::EPSILON);
                verify_vector_gram(Semiring::PlusTimes, orders, of, weights, &x, &off)
            };
            assert_eq!(wrong([Order::Arrival; 2], 2.0)?, 0);
            assert_eq!(wrong([Order::Arrival; 2], 1e3)?, 2);
            assert_eq!(wrong([Order::Ascending, Order::Arrival], 1e3)?, 2);
            assert_eq!(roundings(of, weights), expected);
        }
        Ok(())
    }
}
