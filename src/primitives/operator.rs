//! Operators of scans and reductions, given as text in OpenCL C.
use crate::{
    Arithmetic, Element, Error, Result, Semiring,
    device::Options,
    element::{Algebra, ElementType, Number, Text},
};

/// An associative operator of two elements, for a [`Scanner`](super::Scanner).
///
/// | constructor | result for x and y | result for no elements |
/// |---|---|---|
/// | [`sum`](Self::sum) | x + y; integers wrap around at 2^32 | 0 |
/// | [`product`](Self::product) | x · y; integers wrap around at 2^32 | 1 |
/// | [`min`](Self::min) | the smaller; NaN if one is NaN | +infinity, or the largest integer |
/// | [`max`](Self::max) | the larger; NaN if one is NaN | -infinity, or the least integer |
/// | [`or`](Self::or), [`and`](Self::and) | 1 if one is not 0, or both are not 0; else 0 | 0, 1 |
/// | [`lengths`](Self::lengths) | x + y as in min-plus: integers saturate | 0 |
/// | [`new`](Self::new) | any expression | any value |
///
/// An expression is OpenCL C of type `T` (`double`, `float`, `uint` or `int`) in `x` and `y`, where
/// x stands to the left of y. The operator must be associative. The operator need not be
/// commutative, because elements are never swapped. Results have the same bits on every device if
/// the expression gives the same bits on every device. Sums, products and comparisons give the same
/// bits everywhere. Functions such as `exp` do not, and neither do the bits of a NaN.
///
/// ```
/// use blockmul::{Device, extra::primitives::{Operator, Scanner}};
/// # fn main() -> blockmul::Result<()> {
/// let device = Device::auto()?;
/// // This operator finds the last number that is not 0.
/// let last = Scanner::new(&device, &Operator::new("y != 0 ? y : x", 0u32)?)?;
/// let mut a = device.upload_vector(&[0, 7, 0, 0, 5, 0])?;
/// last.inclusive(&mut a)?;
/// assert_eq!(a.download()?, [0, 7, 7, 7, 5, 5]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Operator<T> {
    /// An expression of `x` and `y`.
    text: String,
    /// The result for no elements.
    empty: T,
    /// Whether the operator is computed in unsigned integers. OpenCL C does not define signed sums
    /// that overflow.
    unsigned: bool,
}

impl<T: Element<Arithmetic = T> + Arithmetic> Operator<T> {
    /// Makes an operator from an expression in OpenCL C. `empty` is the result for no elements: the
    /// first element of an exclusive scan, and the total of an empty segment. `empty` is not
    /// combined with any element.
    ///
    /// A sum of `int` that overflows is undefined in OpenCL C; [`Operator::sum`] wraps around.
    ///
    /// # Errors
    /// [`Error::Argument`] if the text is not a single expression: if it is empty, contains a
    /// comment or a character that no expression needs, or if its parentheses do not match.
    /// [`Scanner::new`](super::Scanner::new) reports errors of the compiler.
    pub fn new(expression: &str, empty: T) -> Result<Self> {
        check(expression)
            .map_err(|why| Error::Argument(format!("the operator `{}` {why}", expression.escape_default())))?;
        Ok(Self { text: format!("({expression})"), empty, unsigned: false })
    }

    /// The sum.
    pub fn sum() -> Self {
        Self::added(Semiring::PlusTimes)
    }

    /// The product.
    pub fn product() -> Self {
        let text = Text::of(T::TYPE, Semiring::PlusTimes).multiply;
        Self { text, empty: T::one(), unsigned: T::TYPE.has_signed_sums() }
    }

    /// The smaller element.
    pub fn min() -> Self {
        Self::added(Semiring::MinPlus)
    }

    /// The larger element.
    pub fn max() -> Self {
        Self::added(Semiring::MaxPlus)
    }

    /// 1 if at least one element is not 0, else 0.
    pub fn or() -> Self {
        Self::added(Semiring::OrAnd)
    }

    /// 1 if all elements are not 0, else 0.
    pub fn and() -> Self {
        Self { text: Text::of(T::TYPE, Semiring::OrAnd).multiply, empty: T::one(), unsigned: false }
    }

    /// The sum of lengths. Infinite integers stay infinite, and finite sums stop before infinity;
    /// see min-plus of [`Semiring`].
    pub fn lengths() -> Self {
        Self { text: Text::of(T::TYPE, Semiring::MinPlus).multiply, empty: T::ZERO, unsigned: false }
    }

    fn added(semiring: Semiring) -> Self {
        let unsigned = semiring.adds_unsigned(T::TYPE);
        Self { text: Text::of(T::TYPE, semiring).add.into(), empty: Algebra::<T>::of(semiring).empty, unsigned }
    }

    /// The macros of `cl/primitives/segmented_scan.cl`.
    pub(super) fn options(&self, options: Options) -> Options {
        let word = if self.unsigned { ElementType::U32 } else { T::TYPE }.word().name();
        let empty = format!("as_{word}({})", literal(Number::of(self.empty)));
        options.arithmetic(T::TYPE, self.unsigned).define("COMBINE(x, y)", &self.text).define("EMPTY", empty)
    }

    /// The compiler's error, rewritten for the caller's expression.
    pub(super) fn refused(&self, error: Error) -> Error {
        refused(&self.text, T::TYPE, error)
    }
}

/// The bits of a number as an integer of OpenCL C.
fn literal(number: Number) -> String {
    let bits = number.bytes().iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
    let suffix = if number.bytes().len() == 8 { "ul" } else { "u" };
    format!("{bits:#x}{suffix}")
}

fn refused(text: &str, element: ElementType, error: Error) -> Error {
    match error {
        Error::Build { log, .. } => {
            Error::Argument(format!("the operator `{text}` of {element} does not compile:\n{}", log.trim()))
        }
        other => other,
    }
}

/// Checks that a text is one expression, because it becomes a macro in a program that other kernels
/// share. The error says why a text is refused.
fn check(expression: &str) -> std::result::Result<(), String> {
    let of_expressions = |c: char| c.is_ascii_alphanumeric() || "_ +-*/%<>=!&|^~?:,.()".contains(c);
    if let Some(strange) = expression.chars().find(|&c| !of_expressions(c)) {
        return Err(format!("has the character {strange:?}, which no expression of x and y needs"));
    }
    if expression.trim().is_empty() {
        return Err("is empty: an expression of x and y is expected".into());
    }
    if expression.contains("//") || expression.contains("/*") {
        return Err("has a comment".into());
    }
    let mut open = 0_u32;
    for c in expression.chars() {
        open = match c {
            '(' => open + 1,
            ')' => open.checked_sub(1).ok_or("closes a parenthesis that it did not open")?,
            _ => open,
        };
    }
    match open {
        0 => Ok(()),
        open => Err(format!("leaves {open} parentheses open")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_no_expression_are_refused() {
        for (text, why) in [
            ("", "is empty"),
            ("  ", "is empty"),
            ("x + y;", "has the character ';'"),
            ("x\n#define x", "has the character '\\n'"),
            ("x + y // sum", "has a comment"),
            ("x /* y", "has a comment"),
            ("x + (y", "leaves 1 parentheses open"),
            ("x) + (y", "closes a parenthesis"),
        ] {
            let error = Operator::<f64>::new(text, 0.0).unwrap_err();
            assert!(matches!(error, Error::Argument(_)) && error.to_string().contains(why), "{text:?}: {error}");
        }
    }

    #[test]
    fn values_go_to_the_compiler_by_their_bits() {
        let empty = |options: Options| options.to_string().rsplit("EMPTY=").next().unwrap().to_owned();
        let none = Options::default;
        assert_eq!(empty(Operator::<f64>::min().options(none())), "as_double(0x7ff0000000000000ul)");
        assert_eq!(empty(Operator::new("x", -0.0f32).unwrap().options(none())), "as_float(0x80000000u)");
        assert_eq!(empty(Operator::<i32>::max().options(none())), "as_int(0x80000000u)");
        // Sums of i32 are computed as uint, which wraps around.
        assert_eq!(empty(Operator::<i32>::sum().options(none())), "as_uint(0x0u)");
    }
}
