//! Semirings: the algebra of sums and products, as a value.
use super::Arithmetic;

/// An algebra: how two numbers are added and multiplied, and where sums start. Kernels get it as
/// text, the reference as functions.
///
/// These kernels follow the algebra: they write their sums only with `ADD`, `MULTIPLY`, `IDENTITY`
/// and `EMPTY` of `cl/common.cl`.
///
/// | kernels | form |
/// |---|---|
/// | `product/esc/expansion.cl`, `product/esc/sorted_expansion.cl` | products of scalars |
/// | `primitives/segmented_reduce.cl` | sums of runs of such products |
/// | `product/blocks/*.cl` | sums of products of blocks, masked or not |
/// | `product/weigh.cl` | W·J |
/// | `product/sum.cl` | the sum of a product's terms, one for each inner group |
/// | `vector/line_sums.cl` | A·x; its norms use plus-times |
///
/// All other kernels that compute use plus-times alone; their headers state it.
///
/// Min-plus would be one more constant here. A stage that follows an algebra gets it from its
/// constructor, as `SegmentedReduce` and `LineSums` do. A stage that takes its macros from
/// `Options::element` uses plus-times, until it passes an algebra to `Options::element_in`.
///
/// The factors alpha and beta belong to plus-times. For another algebra alpha is 1; beta is 0 to
/// replace the old contents, or 1 to add to them.
#[derive(Clone, Copy)]
pub struct Semiring<V> {
    /// The name, for messages.
    pub(crate) name: &'static str,
    pub(crate) text: Text,
    /// The start of a sum; it changes no bit of the first term.
    pub(crate) identity: V,
    /// The value of an entry without products.
    pub(crate) empty: V,
    pub(crate) add: fn(V, V) -> V,
    pub(crate) multiply: fn(V, V) -> V,
    /// Whether these are the operators + and *. The reference's hot loop then uses the operators:
    /// calls double its time.
    pub(crate) operators: bool,
}

/// Expressions of type `ARITHMETIC` in OpenCL C.
#[derive(Clone, Copy)]
pub(crate) struct Text {
    /// The sum of `x` and `y`, which may be vectors.
    pub add: &'static str,
    /// The product of `x`, which may be a vector, and the scalar `y`.
    pub multiply: &'static str,
    pub identity: &'static str,
    pub empty: &'static str,
}

impl<V: Arithmetic> Semiring<V> {
    /// Sums of products of numbers. A sum starts from -0.0: from +0.0, the sum of a single -0.0
    /// would be +0.0.
    pub const PLUS_TIMES: Self = Self {
        name: "plus-times",
        text: Text {
            add: "((x) + (y))",
            multiply: "((x) * (y))",
            identity: "((ARITHMETIC)-0.0f)",
            empty: "((ARITHMETIC)0)",
        },
        identity: V::NEUTRAL,
        empty: V::ZERO,
        add: |x, y| x + y,
        multiply: |x, y| x * y,
        operators: true,
    };

    /// The sum of the terms in their order.
    pub(crate) fn sum(&self, terms: impl Iterator<Item = V>) -> V {
        terms.reduce(self.add).unwrap_or(self.empty)
    }
}

impl<V> std::fmt::Debug for Semiring<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Semiring({})", self.name)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    impl Semiring<f64> {
        /// Lengths of shortest paths; the length is infinite if there is no path.
        pub(crate) const MIN_PLUS: Self = Self {
            name: "min-plus",
            text: Text { add: "fmin(x, y)", multiply: "((x) + (y))", identity: "INFINITY", empty: "INFINITY" },
            identity: f64::INFINITY,
            empty: f64::INFINITY,
            add: f64::min,
            multiply: |x, y| x + y,
            operators: false,
        };
    }

    #[test]
    fn sums_start_from_what_changes_no_bit() {
        for algebra in [Semiring::<f64>::PLUS_TIMES, Semiring::MIN_PLUS] {
            for x in [0.0, -0.0, 5e-324, -1.5, f64::INFINITY, f64::NEG_INFINITY] {
                assert_eq!((algebra.add)(algebra.identity, x).to_bits(), x.to_bits(), "{algebra:?}");
            }
            assert_eq!(algebra.sum([].into_iter()).to_bits(), algebra.empty.to_bits());
        }
    }
}
