//! Approximate comparison with the crate `approx`. Patterns must be equal, and elements nearly
//! equal.
use super::{Cbc, Csc, Matrix};
use crate::Element;
use approx::{AbsDiffEq, RelativeEq};

macro_rules! near {
    ($matrix:ident) => {
        impl<T: Element + AbsDiffEq> AbsDiffEq for $matrix<T>
        where
            T::Epsilon: Copy,
        {
            type Epsilon = T::Epsilon;
            fn default_epsilon() -> T::Epsilon {
                T::default_epsilon()
            }
            fn abs_diff_eq(&self, other: &Self, epsilon: T::Epsilon) -> bool {
                same_shape(self, other) && elements(self).zip(elements(other)).all(|(x, y)| x.abs_diff_eq(y, epsilon))
            }
        }

        impl<T: Element + RelativeEq> RelativeEq for $matrix<T>
        where
            T::Epsilon: Copy,
        {
            fn default_max_relative() -> T::Epsilon {
                T::default_max_relative()
            }
            fn relative_eq(&self, other: &Self, epsilon: T::Epsilon, max_relative: T::Epsilon) -> bool {
                let near = |(x, y): (&T, &T)| x.relative_eq(y, epsilon, max_relative);
                same_shape(self, other) && elements(self).zip(elements(other)).all(near)
            }
        }
    };
}
near!(Csc);
near!(Cbc);

fn same_shape<M: Matrix>(a: &M, b: &M) -> bool {
    a.as_cbc().pattern == b.as_cbc().pattern && a.as_cbc().shape == b.as_cbc().shape
}

fn elements<M: Matrix>(matrix: &M) -> impl Iterator<Item = &M::Element> {
    let cbc = matrix.as_cbc();
    (0..cbc.pattern.nnz()).flat_map(move |entry| cbc.block(entry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BlockShape;
    use approx::{abs_diff_eq, relative_eq};

    #[test]
    fn compares_elements_not_padding_and_never_other_patterns() -> crate::Result<()> {
        let a = Csc::from_triplets(2, 2, [(0, 0, 1.0), (1, 1, 100.0)])?;
        let b = Csc::from_triplets(2, 2, [(0, 0, 1.0 + 1e-9), (1, 1, 100.0 + 1e-7)])?;
        assert!(!abs_diff_eq!(a, b, epsilon = 1e-8) && abs_diff_eq!(a, b, epsilon = 1e-6));
        assert!(relative_eq!(a, b, max_relative = 1e-8) && !relative_eq!(a, b, max_relative = 1e-10));
        let moved = Csc::from_triplets(2, 2, [(1, 0, 1.0), (1, 1, 100.0)])?;
        assert!(!abs_diff_eq!(a, moved, epsilon = 1e9), "another pattern is never near");
        let blocks = Csc::from_triplets(3, 3, [(0, 0, 1.0)])?.to_blocks(BlockShape::new(3, 3)?)?;
        assert!(abs_diff_eq!(blocks, blocks.with_alignment(64)?, epsilon = 0.0));
        Ok(())
    }
}
