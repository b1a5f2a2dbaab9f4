//! Products with vectors and dot products on the CPU, one loop for each formula. The tests compare
//! sums of devices with these results bit for bit.
use super::{lines::Lines, op::Op};
use crate::{
    BlockShape, Error, Field, Matrix, Result, Semiring,
    element::{Algebra, AnySlice, AnyValues, ElementType, Order, VectorElement, Widened},
    matrix::AnyMatrix,
    product::Factor,
    vector::DOT_PIECE,
};
use nalgebra::{RealField, convert_unchecked};

/// Computes y = alpha·op(A)·x + beta·y, where op(A) is A or its transpose; if beta is 0, y is only
/// written.
///
/// The terms of an element are added in ascending order of their places in x. Each product is
/// rounded before it is added. Terms are cut into pieces of 1024 entries (blocks) of the row, and
/// the sums of the pieces are added from left to right. Vectors may have another element type than
/// A: see [`VectorElement`].
///
/// ```
/// use blockmul::{Csr, reference};
/// let a = Csr::new(2, 3, vec![0, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0])?;
/// let mut y = [1.0, 1.0];
/// reference::multiply_vector(2.0, &a, &[1.0, 10.0, 100.0], -1.0, &mut y)?;
/// assert_eq!(y, [401.0, 59.0]);
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// [`Error::Length`] if x does not have one element for each scalar column of op(A), or y one for
/// each scalar row.
pub fn multiply_vector<'a, M: Matrix, V: VectorElement<M::Element>>(
    alpha: f64,
    a: impl Into<Factor<'a, M>>,
    x: &[V],
    beta: f64,
    y: &mut [V],
) -> Result<()> {
    multiply_vector_in(Order::Ascending, a, x, (alpha, beta), y)
}

/// Computes y = alpha·op(A)·x + beta·y, like [`multiply_vector`], but adds the terms of each sum in
/// the given order.
///
/// ```
/// use blockmul::{Csr, element::Order, reference::multiply_vector_in};
/// // The row has 2^53 and 33 ones. Lane 0 adds the first and the last one to 2^53 in turn.
/// let values = [vec![9007199254740992.0], vec![1.0; 33]].concat();
/// let a = Csr::new(1, 34, vec![0, 34], (0..34).collect(), values)?;
/// let (mut ascending, mut lanes) = ([0.0], [0.0]);
/// let ones = [1.0; 34];
/// multiply_vector_in(Order::Ascending, &a, &ones, (1.0, 0.0), &mut ascending)?;
/// multiply_vector_in(Order::Lanes, &a, &ones, (1.0, 0.0), &mut lanes)?;
/// assert_eq!(ascending, [9007199254740992.0]);
/// assert_eq!(lanes, [9007199254740992.0 + 32.0]);
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// For [`Order::Arrival`] this function adds the terms in ascending order, so a device's sums
/// differ from the result by rounding.
///
/// # Errors
/// The errors of [`multiply_vector`]; [`Error::Argument`] for blocks in another order than
/// [`Order::Ascending`].
pub fn multiply_vector_in<'a, M: Matrix, V: VectorElement<M::Element>>(
    order: Order,
    a: impl Into<Factor<'a, M>>,
    x: &[V],
    alpha_beta: (f64, f64),
    y: &mut [V],
) -> Result<()> {
    multiply_vector_over(Semiring::PlusTimes, order, a, x, alpha_beta, y)
}

/// Like [`multiply_vector_in`], with the sums and products of a semiring. The first factor of each
/// product is an element of A.
///
/// ```
/// use blockmul::{Csr, Semiring, element::Order, reference::multiply_vector_over};
/// // Edges from 0 to 1 and from 1 to 0 have lengths 7 and 2. The nodes have distances 1 and 10.
/// let g = Csr::new(2, 2, vec![0, 1, 2], vec![1, 0], vec![2.0, 7.0])?;
/// let (far, mut near) = ([1.0, 10.0], [1.0, 10.0]);
/// let (min_plus, ascending) = (Semiring::MinPlus, Order::Ascending);
/// multiply_vector_over(min_plus, ascending, &g, &far, (1.0, 1.0), &mut near)?;
/// assert_eq!(near, [1.0, 8.0]);
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// The errors of [`multiply_vector_in`]; [`Error::Argument`] for an element type or for factors
/// alpha and beta that the [`Semiring`] does not support.
pub fn multiply_vector_over<'a, M: Matrix, V: VectorElement<M::Element>>(
    semiring: Semiring,
    order: Order,
    a: impl Into<Factor<'a, M>>,
    x: &[V],
    alpha_beta: (f64, f64),
    y: &mut [V],
) -> Result<()> {
    let sums = vector_of_any(semiring, order, Op::of(a), V::any_slice(x), alpha_beta, V::any_slice(y))?;
    y.copy_from_slice(&sums.of_same::<V>());
    Ok(())
}

/// Computes op(A)·x, like [`multiply_vector_over`] with alpha 1 and beta 0, for elements whose type
/// is known at run time only. y has the element type of x.
///
/// ```
/// use blockmul::{Csr, Semiring, element::{AnyValues, Order}, matrix::AnyMatrix, reference};
/// let a = AnyMatrix::from(Csr::new(2, 2, vec![0, 1, 2], vec![1, 0], vec![2.0f32, 7.0])?);
/// let (plus_times, x) = (Semiring::PlusTimes, AnyValues::F64(vec![1.0, 10.0]));
/// let y = reference::multiply_any_vector(plus_times, Order::Ascending, &a, &x)?;
/// assert_eq!(y, AnyValues::F64(vec![20.0, 7.0]));
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// The errors of [`multiply_vector_over`]; [`Error::Argument`] if the matrix cannot be multiplied
/// with vectors of this type: see [`VectorElement`].
pub fn multiply_any_vector<'a>(
    semiring: Semiring,
    order: Order,
    a: impl Into<Factor<'a, AnyMatrix>>,
    x: &AnyValues,
) -> Result<AnyValues> {
    let a = a.into();
    let y = AnyValues::zeros(x.element(), Op::of(a).scalar_sides().0);
    multiply_any_vector_onto(semiring, order, a, x, Onto { beta: 0.0, old: &y })
}

/// The old contents of a vector to which a product is added.
#[derive(Debug, Clone, Copy)]
pub struct Onto<'a> {
    /// The factor of the old contents. If beta is 0, only the number of old contents matters.
    pub beta: f64,
    /// The old contents.
    pub old: &'a AnyValues,
}

/// Computes op(A)·x + beta·y, like [`multiply_vector_over`] with alpha 1, for elements whose type
/// is known at run time only.
///
/// ```
/// use blockmul::{Csr, Semiring, element::{AnyValues, Order}, matrix::AnyMatrix, reference};
/// use reference::Onto;
/// // Edges from 0 to 1 and from 1 to 0 have lengths 7 and 2. The nodes have distances 1 and 10.
/// let g = AnyMatrix::from(Csr::new(2, 2, vec![0, 1, 2], vec![1, 0], vec![2.0, 7.0])?);
/// let (min_plus, far) = (Semiring::MinPlus, AnyValues::F64(vec![1.0, 10.0]));
/// let onto = Onto { beta: 1.0, old: &far };
/// let near = reference::multiply_any_vector_onto(min_plus, Order::Ascending, &g, &far, onto)?;
/// assert_eq!(near, AnyValues::F64(vec![1.0, 8.0]));
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// The errors of [`multiply_any_vector`]; [`Error::Argument`] if y has another element type than x,
/// or for a beta that the [`Semiring`] does not support; [`Error::Length`] for a y of another
/// length.
pub fn multiply_any_vector_onto<'a>(
    semiring: Semiring,
    order: Order,
    a: impl Into<Factor<'a, AnyMatrix>>,
    x: &AnyValues,
    Onto { beta, old }: Onto<'_>,
) -> Result<AnyValues> {
    let a = Op::of(a);
    a.element().check_vectors(x.element())?;
    if old.element() != x.element() {
        return Err(Error::Argument(format!("y has elements of {}, x of {}", old.element(), x.element())));
    }
    vector_of_any(semiring, order, a, x.borrow(), (1.0, beta), old.borrow())
}

/// Computes alpha·op(A)·x + beta·y, where x and y have the same element type.
pub(super) fn vector_of_any(
    semiring: Semiring,
    order: Order,
    a: Op<'_>,
    x: AnySlice<'_>,
    (alpha, beta): (f64, f64),
    y: AnySlice<'_>,
) -> Result<AnyValues> {
    let (element, arrays) = (x.element(), a.arrays);
    semiring.check_type(a.element())?;
    semiring.check_factors_of(element, alpha, beta)?;
    let mut lines = Lines::new(arrays, a.of_rows());
    if order != Order::Ascending && arrays.shape != BlockShape::SCALAR {
        return Err(Error::Argument(format!("{order:?} is an order of scalars, A has blocks of {}", arrays.shape)));
    }
    lines.order = order;
    let (width, depth) = lines.sides();
    check_len("x", x.len(), lines.pattern.nrows() * depth)?;
    check_len("y", y.len(), lines.pattern.ncols() * width)?;
    let multiply = match element {
        ElementType::F64 => multiply_lines::<f64>,
        ElementType::F32 | ElementType::F16 => multiply_lines::<f32>,
        ElementType::U32 | ElementType::U8 => multiply_lines::<u32>,
        ElementType::I32 => multiply_lines::<i32>,
    };
    multiply(&lines, semiring, arrays.values, x, (alpha, beta), y)
}

/// The dot product. Products are rounded and then added in pieces of 1024 by halving. The sums of
/// the pieces are added in the same way, until one sum is left.
///
/// # Errors
/// [`Error::Length`] if the vectors have different lengths.
pub fn dot<T: Field>(x: &[T], y: &[T]) -> Result<f64> {
    dot_of_slices(T::any_slice(x), T::any_slice(y))
}

/// Like [`dot`], for vectors whose element type is known at run time only.
///
/// # Errors
/// The errors of [`dot`]; [`Error::Argument`] for integers and for vectors of different element
/// types.
pub fn any_dot(x: &AnyValues, y: &AnyValues) -> Result<f64> {
    dot_of_slices(x.borrow(), y.borrow())
}

fn dot_of_slices(x: AnySlice<'_>, y: AnySlice<'_>) -> Result<f64> {
    check_real(x, y)?;
    Ok(match x.element() {
        ElementType::F64 => dot_of::<f64>(x, y),
        _ => dot_of::<f32>(x, y),
    })
}

/// Computes alpha·x + y, with each element rounded once. Alpha is rounded to the arithmetic type.
///
/// ```
/// use blockmul::{element::AnyValues, reference::any_axpy};
/// let (x, y) = (AnyValues::F32(vec![1.0, 2.0]), AnyValues::F32(vec![0.5, 0.0]));
/// assert_eq!(any_axpy(2.0, &x, &y)?, AnyValues::F32(vec![2.5, 4.0]));
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// The errors of [`any_dot`].
pub fn any_axpy(alpha: f64, x: &AnyValues, y: &AnyValues) -> Result<AnyValues> {
    fn of<T: Field>(alpha: f64, x: &[T], y: &[T]) -> AnyValues {
        let alpha: T::Arithmetic = nalgebra::convert(alpha);
        T::any(x.iter().zip(y).map(|(x, y)| T::narrow(alpha * x.widen() + y.widen())).collect())
    }
    check_real(x.borrow(), y.borrow())?;
    match (x, y) {
        (AnyValues::F64(x), AnyValues::F64(y)) => Ok(of(alpha, x, y)),
        (AnyValues::F32(x), AnyValues::F32(y)) => Ok(of(alpha, x, y)),
        (AnyValues::F16(x), AnyValues::F16(y)) => Ok(of(alpha, x, y)),
        _ => unreachable!("real numbers of one type"),
    }
}

fn check_real(x: AnySlice<'_>, y: AnySlice<'_>) -> Result<()> {
    let (of_x, of_y) = (x.element(), y.element());
    if of_x != of_y || !of_x.is_real() {
        return Err(Error::Argument(format!("vectors of {of_x} and {of_y}: they must be of one type of real numbers")));
    }
    check_len("y", y.len(), x.len())
}

fn dot_of<N: Widened + RealField>(x: AnySlice<'_>, y: AnySlice<'_>) -> f64 {
    let (Some(x), Some(y)) = (N::widened(x), N::widened(y)) else { unreachable!("real numbers") };
    let fold = |terms: &[N]| {
        let mut sums = vec![N::NEUTRAL; DOT_PIECE];
        sums[..terms.len()].copy_from_slice(terms);
        while sums.len() > 1 {
            let second = sums.split_off(sums.len() / 2);
            sums.iter_mut().zip(second).for_each(|(sum, other)| *sum += other);
        }
        sums[0]
    };
    let mut sums: Vec<_> = x.iter().zip(&y[..]).map(|(&x, &y)| x * y).collect();
    loop {
        sums = sums.chunks(DOT_PIECE).map(fold).collect();
        match sums[..] {
            [] => return 0.0,
            [sum] => return convert_unchecked(sum),
            _ => {}
        }
    }
}

pub(super) fn check_len(array: &'static str, found: usize, expected: usize) -> Result<()> {
    match found == expected {
        true => Ok(()),
        false => Err(Error::Length { array, found, expected, why: "the other operand's side".into() }),
    }
}

/// The sums of lines, computed in type `N` and returned as elements of the type of x.
fn multiply_lines<N: Widened>(
    lines: &Lines<'_>,
    semiring: Semiring,
    a: AnySlice<'_>,
    x: AnySlice<'_>,
    (alpha, beta): (f64, f64),
    y: AnySlice<'_>,
) -> Result<AnyValues> {
    let (element, algebra) = (x.element(), &Algebra::<N>::of(semiring));
    let (Some(a), Some(x), Some(y)) = (N::widened(a), N::widened(x), N::widened(y)) else {
        unreachable!("a vector holds the elements of its matrix");
    };
    let (scale, factor) = (N::nearest(alpha), N::nearest(beta));
    let mut sums = lines.sums(&a, algebra, false, &|value, across| (algebra.multiply)(value, x[across]));
    for (sum, &y) in sums.iter_mut().zip(&y[..]) {
        let scaled = scale.times(*sum);
        *sum = if beta == 0.0 { scaled } else { (algebra.add)(scaled, factor.times(y)) };
    }
    Ok(N::narrowed(sums, element))
}
