//! Matrices on the host under `*` and `+`.
use super::multiply;
use crate::{
    Arithmetic, Bsr, Cbc, Csc, Csr, Element, Result,
    matrix::{AnyMatrix, AnyView, add},
};
use std::ops::{Add, Mul};

macro_rules! operators {
    ($($matrix:ident),+) => { $(
        impl<T: Element> $matrix<T> {
            /// A·B on the host's cores: see [`reference::multiply`](crate::reference::multiply).
            /// The operator `*` does the same and panics on an error.
            ///
            /// # Errors
            /// As [`reference::multiply`](crate::reference::multiply).
            pub fn try_mul(&self, b: &Self) -> Result<Self> {
                multiply(self, b)
            }

            /// A + B on the host: see [`matrix::add`](crate::matrix::add). The operator `+` does
            /// the same and panics on an error.
            ///
            /// # Errors
            /// As [`matrix::add`](crate::matrix::add).
            pub fn try_add(&self, b: &Self) -> Result<Self> {
                let one = T::from_f64(1.0).widen();
                add(one, self, one, b)
            }
        }

        /// [`reference::multiply`](crate::reference::multiply) on the host's cores. Panics where
        /// that fails: sizes that do not fit, no memory.
        impl<T: Element> Mul for &$matrix<T> {
            type Output = $matrix<T>;
            fn mul(self, b: Self) -> $matrix<T> {
                self.try_mul(b).unwrap_or_else(|error| panic!("{error}"))
            }
        }

        /// [`matrix::add`](crate::matrix::add). Panics where that fails: sizes that differ, no
        /// memory.
        impl<T: Element> Add for &$matrix<T> {
            type Output = $matrix<T>;
            fn add(self, b: Self) -> $matrix<T> {
                self.try_add(b).unwrap_or_else(|error| panic!("{error}"))
            }
        }

        /// Each element times a number, rounded once.
        impl<T: Element> Mul<T> for &$matrix<T> {
            type Output = $matrix<T>;
            fn mul(self, factor: T) -> $matrix<T> {
                scaled(AnyView::from(self), factor).typed().unwrap_or_else(|error| panic!("{error}"))
            }
        }
    )+ };
}
operators!(Csc, Csr, Cbc, Bsr);

/// The matrix with each element times a factor of the same type.
fn scaled<T: Element>(matrix: AnyView<'_>, factor: T) -> AnyMatrix {
    let product = |&x: &T| T::narrow(x.widen().times(factor.widen()));
    let values = T::of_any_slice(matrix.values).into_iter().flatten().map(product).collect();
    let AnyView { kind, pattern, shape, stride, .. } = matrix;
    AnyMatrix::of_arrays(kind, pattern.clone(), (shape, stride), T::any(values))
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
        Ok(())
    }

    #[test]
    #[should_panic = "2x4"]
    fn sizes_that_do_not_fit_panic_with_them() {
        let a = Csc::<f64>::from_triplets(2, 4, []).unwrap();
        let _ = &a * &a;
    }
}
