//! The operators `*` and `+` of matrices on the host.
use super::multiply;
use crate::{
    Arithmetic, Bsr, Cbc, Csc, Csr, Element, Matrix, Result,
    element::Listed,
    matrix::{AnyMatrix, AnyView, add, add_any},
};
use std::ops::{Add, Mul};

macro_rules! operators {
    ($([$($element:ident)?] $matrix:ty, $number:ty, $add:ident, $scale:ident;)+) => { $(
        impl<$($element: Element)?> $matrix {
            /// A·B on the host's cores, as [`reference::multiply`](crate::reference::multiply)
            /// computes it. The operator `*` panics on an error.
            ///
            /// # Errors
            /// See [`reference::multiply`](crate::reference::multiply).
            pub fn try_mul(&self, b: &Self) -> Result<Self> {
                multiply(self, b)
            }

            /// A + B on the host, as [`matrix::add`](crate::matrix::add) computes it. The operator
            /// `+` panics on an error.
            ///
            /// # Errors
            /// See [`matrix::add`](crate::matrix::add) and, for matrices whose type is known at run
            /// time only, [`matrix::add_any`](crate::matrix::add_any).
            pub fn try_add(&self, b: &Self) -> Result<Self> {
                $add(self, b)
            }
        }

        /// A·B on the host, as [`reference::multiply`](crate::reference::multiply) computes it.
        ///
        /// # Panics
        /// If `try_mul` returns an error, for example because the sizes do not fit.
        impl<$($element: Element)?> Mul for &$matrix {
            type Output = $matrix;
            fn mul(self, b: Self) -> $matrix {
                self.try_mul(b).unwrap_or_else(|error| panic!("{error}"))
            }
        }

        /// A + B, as [`matrix::add`](crate::matrix::add) computes it.
        ///
        /// # Panics
        /// If `try_add` returns an error, for example because the sizes differ.
        impl<$($element: Element)?> Add for &$matrix {
            type Output = $matrix;
            fn add(self, b: Self) -> $matrix {
                self.try_add(b).unwrap_or_else(|error| panic!("{error}"))
            }
        }

        /// Multiplies each element by a number and rounds each product once.
        impl<$($element: Element)?> Mul<$number> for &$matrix {
            type Output = $matrix;
            fn mul(self, factor: $number) -> $matrix {
                $scale(self, factor)
            }
        }
    )+ };
}
operators! {
    [T] Csc<T>, T, sum, scaled;
    [T] Csr<T>, T, sum, scaled;
    [T] Cbc<T>, T, sum, scaled;
    [T] Bsr<T>, T, sum, scaled;
    [] AnyMatrix, f64, sum_any, scaled_any;
}

fn sum<M: Matrix>(a: &M, b: &M) -> Result<M> {
    let one = M::Element::from_f64(1.0).widen();
    add(one, a, one, b)
}

fn sum_any(a: &AnyMatrix, b: &AnyMatrix) -> Result<AnyMatrix> {
    add_any(1.0, a, 1.0, b)
}

/// The matrix with each element multiplied by a factor of the same type.
fn scaled<M: Matrix>(matrix: &M, factor: M::Element) -> M {
    let AnyView { kind, pattern, shape, stride, .. } = AnyView::from(matrix);
    let product = |&x: &M::Element| M::Element::narrow(x.widen().times(factor.widen()));
    let values = M::Element::any(matrix.as_cbc().values.iter().map(product).collect());
    let scaled = AnyMatrix::of_arrays(kind, pattern.clone(), shape, stride, values);
    scaled.typed().unwrap_or_else(|error| unreachable!("the same type: {error}"))
}

fn scaled_any(matrix: &AnyMatrix, factor: f64) -> AnyMatrix {
    matrix.map(|x| x * factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BlockShape;
    use nalgebra::dmatrix;

    #[test]
    fn operators_are_those_of_dense_matrices() -> Result<()> {
        let (a, b) =
            (dmatrix![1.0, 0.0, 2.0, 3.0; 0.0, 0.0, 4.0, 0.0], dmatrix![2.0, 1.0; 0.0, 0.0; 5.0, 0.0; 0.0, 7.0]);
        let (product, sum, scaled) = (&a * &b, &a + &a, &a * 1.5);
        let (rows, cols) = (Csr::from_dense(&a)?, Csc::from_dense(&a)?);
        assert_eq!((&rows * &Csr::from_dense(&b)?).to_dense(), product);
        assert_eq!((&cols * &Csc::from_dense(&b)?).to_dense(), product);
        assert_eq!(((&rows + &rows).to_dense(), (&cols * 1.5).to_dense()), (sum.clone(), scaled.clone()));
        let (of_a, of_b) = (BlockShape::new(1, 2)?, BlockShape::new(2, 1)?);
        let blocks = Cbc::from_dense(&a, of_a)?.with_alignment(64)?;
        assert_eq!((&blocks * &Cbc::from_dense(&b, of_b)?).to_dense(), product);
        assert_eq!(((&blocks + &blocks).to_dense(), (&blocks * 1.5).to_dense()), (sum, scaled));
        let blocks = Bsr::from_dense(&a, of_a)?;
        assert_eq!((&blocks * &Bsr::from_dense(&b, of_b)?).to_dense(), product);
        assert!(rows.try_mul(&rows).is_err() && cols.try_add(&Csc::from_dense(&b)?).is_err());
        let (any, typed) = (AnyMatrix::from(cols.clone()), Csc::from_dense(&b)?);
        assert_eq!(&any * &typed.clone().into(), (&cols * &typed).into());
        assert_eq!((&any + &any, &any * 1.5), ((&cols + &cols).into(), (&cols * 1.5).into()));
        assert!(any.try_mul(&any).is_err() && any.try_add(&rows.into()).is_err());
        Ok(())
    }

    #[test]
    #[should_panic = "2x4"]
    fn sizes_that_do_not_fit_panic_with_them() {
        let a = Csc::<f64>::from_triplets(2, 4, []).unwrap();
        let _ = &a * &a;
    }
}
