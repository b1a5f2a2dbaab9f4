//! Which elements have a magnitude, by which small entries of a product are left out: floats.
use blockmul::{
    Element, Error, Matrix, Result,
    matrix::{self, Threshold},
    reference::verify::{self, Verification},
};
use half::f16;

/// An element of sparse factors.
pub trait Factor: Element {
    /// C without its small entries.
    fn dropped<M: Matrix<Element = Self>>(c: &M, threshold: Threshold) -> Result<M>;

    /// Compares C = A·B with the reference, without the small entries of both if there is a
    /// threshold.
    fn verified<M: Matrix<Element = Self>>(
        factors: (&M, &M),
        c: &M,
        threshold: Option<Threshold>,
    ) -> Result<Verification>;
}

macro_rules! floats {
    ($($float:ident),+) => {$(
        impl Factor for $float {
            fn dropped<M: Matrix<Element = Self>>(c: &M, threshold: Threshold) -> Result<M> {
                matrix::drop_below(c, threshold)
            }

            fn verified<M: Matrix<Element = Self>>(
                (a, b): (&M, &M),
                c: &M,
                threshold: Option<Threshold>,
            ) -> Result<Verification> {
                verify::verify_dropped(a, b, c, threshold)
            }
        }
    )+};
}

macro_rules! integers {
    ($($integer:ident),+) => {$(
        impl Factor for $integer {
            fn dropped<M: Matrix<Element = Self>>(_: &M, _: Threshold) -> Result<M> {
                Err(Error::Argument(format!("entries are dropped by their magnitude: of floats, not of {}", Self::NAME)))
            }

            fn verified<M: Matrix<Element = Self>>(
                factors: (&M, &M),
                c: &M,
                _: Option<Threshold>,
            ) -> Result<Verification> {
                verify::verify_over::<M, M>(blockmul::Semiring::PlusTimes, factors, c, None)
            }
        }
    )+};
}

floats!(f64, f32, f16);
integers!(u32, i32, u8);
