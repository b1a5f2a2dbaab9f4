//! Semirings: the algebras of sums and products, by name.
use super::{Element, ElementType};
use crate::{Error, Result, named::named};

/// An algebra of sums and products. C = A·B and y = A·x use its operations instead of + and ·.
///
/// | name | sum of x and y | product of x and y | entry without products | use |
/// |---|---|---|---|---|
/// | `plus-times` | x + y | x·y | 0 | linear algebra |
/// | `min-plus` | the smaller | x + y | +infinity | lengths of shortest paths |
/// | `max-plus` | the larger | x + y | -infinity | lengths of longest paths, schedules |
/// | `max-min` | the larger | the smaller | -infinity | widest paths |
/// | `or-and` | 1 if x or y is not 0 | 1 if both are not 0 | 0 | reachability |
/// | `plus-first` | x + y | x | 0 | sums of A's values |
/// | `plus-second` | x + y | y | 0 | sums of B's values, or of x's |
/// | `plus-pair` | x + y | 1 | 0 | numbers of paths, triangles |
///
/// Here x is a value of A, and y is a value of B or of the vector. Element types are `f64`, `f32`,
/// `f16`, `u32` and `i32`; `u8` supports `or-and` only.
///
/// **Integers.** Sums wrap around at 2^32, and products of plus-times wrap too. In min-plus and
/// max-plus `u32::MAX` is +infinity; `i32::MAX` and `i32::MIN` are +infinity and -infinity. An
/// infinite value stays infinite, whatever is added to it, and a finite sum that leaves the range
/// becomes infinite. The sum of +infinity and -infinity is the value of an entry without products.
/// `u32` has no -infinity: an entry of max-plus or max-min without products is 0.
///
/// **NaN and zeros.** NaN counts as both the smaller and the larger of two numbers, so it remains
/// in a sum to the end. -0.0 and 0.0 are equal; if two numbers are equal, the sum is the later one.
/// In or-and NaN is not 0. The device and the [reference](crate::reference) follow the same rules
/// in the same order, so their bits are equal, except for the bits of a NaN.
///
/// **Blocks.** Every element of a block is an entry, even if its value is 0. If a matrix of scalars
/// is [cut](crate::Csc::to_blocks) into blocks, elements without an entry become zeros. The
/// products of the matrix then remain the same only in plus-times and or-and.
///
/// The factors alpha and beta of an [`Accum`](crate::plan::Accum) belong to plus-times. In other
/// algebras alpha must be 1, and beta must be 0 to replace the old contents or 1 to add to them.
///
/// ```
/// use blockmul::{Csc, Semiring, reference};
/// // Edges 0 to 1 and 1 to 2, of lengths 2 and 3: column j has the edges that leave j.
/// let g = Csc::from_triplets(3, 3, [(1, 0, 2.0), (2, 1, 3.0)])?;
/// let paths = reference::multiply_over(Semiring::MinPlus, &g, &g)?;
/// assert_eq!((paths.pattern().row_idx(), paths.values()), (&[2][..], &[5.0][..]));
/// assert_eq!("min-plus".parse::<Semiring>()?, Semiring::MinPlus);
/// # Ok::<(), blockmul::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Semiring {
    /// The sum of the products.
    #[default]
    PlusTimes,
    /// The minimum of sums.
    MinPlus,
    /// The maximum of sums.
    MaxPlus,
    /// The maximum of minima.
    MaxMin,
    /// Whether there is a product whose factors are both nonzero.
    OrAnd,
    /// The sum of the first factors.
    PlusFirst,
    /// The sum of the second factors.
    PlusSecond,
    /// The number of products.
    PlusPair,
}

impl Semiring {
    /// Every algebra.
    pub const ALL: &[Self] = &[
        Self::PlusTimes,
        Self::MinPlus,
        Self::MaxPlus,
        Self::MaxMin,
        Self::OrAnd,
        Self::PlusFirst,
        Self::PlusSecond,
        Self::PlusPair,
    ];

    /// The name of the algebra in the command and in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::PlusTimes => "plus-times",
            Self::MinPlus => "min-plus",
            Self::MaxPlus => "max-plus",
            Self::MaxMin => "max-min",
            Self::OrAnd => "or-and",
            Self::PlusFirst => "plus-first",
            Self::PlusSecond => "plus-second",
            Self::PlusPair => "plus-pair",
        }
    }

    /// Whether a sum is the ordinary sum of numbers.
    pub(crate) fn adds(self) -> bool {
        matches!(self, Self::PlusTimes | Self::PlusFirst | Self::PlusSecond | Self::PlusPair)
    }

    /// Whether kernels compute the sums of elements of this type in its unsigned type. In OpenCL C
    /// a signed sum that overflows is undefined. Modulo 2^32 unsigned sums and products have the
    /// same bits.
    pub(crate) fn adds_unsigned(self, element: ElementType) -> bool {
        self.adds() && element.has_signed_sums()
    }

    /// The algebra in which the factors of every product are swapped.
    pub(crate) fn mirrored(self) -> Self {
        match self {
            Self::PlusFirst => Self::PlusSecond,
            Self::PlusSecond => Self::PlusFirst,
            commutative => commutative,
        }
    }

    /// Checks that the algebra supports the element type `T`.
    ///
    /// # Errors
    /// [`Error::Argument`] for `u8`, except with or-and.
    pub fn check<T: Element>(self) -> Result<()> {
        self.check_type(T::TYPE)
    }

    /// Like [`Semiring::check`], for a type that is known at run time only.
    ///
    /// # Errors
    /// See [`Semiring::check`].
    pub fn check_type(self, element: ElementType) -> Result<()> {
        match self == Self::OrAnd || !element.is_truth() {
            true => Ok(()),
            false => Err(Error::Argument(format!("elements of {element} support or-and only, not {self}"))),
        }
    }

    /// Refuses a weighted product in an algebra other than plus-times.
    pub(crate) fn check_weights(self) -> Result<()> {
        match self {
            Self::PlusTimes => Ok(()),
            _ => Err(Error::Argument(format!("weights belong to plus-times, not to {self}"))),
        }
    }

    /// Checks that C = alpha·A·B + beta·C is defined: see [`Semiring`].
    pub(crate) fn check_factors_of(self, element: ElementType, alpha: f64, beta: f64) -> Result<()> {
        let whole = |factor: f64| element.is_real() || element.nearest(factor) == factor;
        let why = match self {
            Self::PlusTimes if whole(alpha) && whole(beta) => return Ok(()),
            Self::PlusTimes => format!("are not both numbers of type {element}"),
            _ if alpha == 1.0 && (beta == 0.0 || beta == 1.0) => return Ok(()),
            _ => format!("in {self}, which has alpha 1 and beta 0 or 1"),
        };
        Err(Error::Argument(format!("alpha {alpha} and beta {beta} {why}")))
    }
}

named!(Semiring, "semiring", Semiring::ALL);
