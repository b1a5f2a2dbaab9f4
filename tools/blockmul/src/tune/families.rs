//! The products that are timed: matrices of several families, in growing sizes.
use crate::patterns::{Factors, banded, few_rows, hubs, plane, power_law, side, single, space, uniform};
use blockmul::{Csc, Result, device::DeviceKind, element::ElementType, matrix::AnyMatrix};

/// Factors of a product. Without B the product is A·A.
pub struct Operands {
    pub a: AnyMatrix,
    pub b: Option<AnyMatrix>,
}

/// A family of products.
pub struct Family {
    pub name: &'static str,
    /// Products for each unit of the size. If the size is a number of columns, these are the
    /// products of an average column.
    each: usize,
    /// Makes factors of a size, in columns or products.
    make: fn(size: usize) -> Result<Factors>,
}

/// The families have columns of every class: short columns, with one product or several in a row;
/// long columns with rows in narrow and in wide ranges; a few long columns among many short ones;
/// columns with single products; and hubs. Columns of few rows, whose entries have many products
/// each, are needed to separate the costs of products from the costs of entries.
pub const FAMILIES: [Family; 12] = [
    Family { name: "uniform-3", each: 9, make: |columns| uniform(columns, 3) },
    Family { name: "uniform-8", each: 64, make: |columns| uniform(columns, 8) },
    Family { name: "uniform-14", each: 196, make: |columns| uniform(columns, 14) },
    Family { name: "uniform-32", each: 1024, make: |columns| uniform(columns, 32) },
    Family { name: "power-law", each: 1, make: power_law },
    Family { name: "grid-5", each: 25, make: |columns| Ok((plane(side(columns, 2))?, None)) },
    Family { name: "grid-27", each: 729, make: |columns| Ok((space(side(columns, 3))?, None)) },
    Family { name: "banded-33", each: 1089, make: |columns| Ok((banded(columns, 16)?, None)) },
    Family { name: "single", each: 8, make: single },
    Family { name: "hubs", each: 900, make: hubs },
    Family { name: "rows-256", each: 1024, make: |columns| few_rows(256, columns, 32) },
    Family { name: "rows-64", each: 4096, make: |columns| few_rows(64, columns, 128) },
];

/// Number of products of a family's smallest matrix. On CPU devices this number is smaller, because
/// the host computes small products.
const SMALLEST: u64 = 20_000;
const SMALLEST_ON_CPU: u64 = 1250;
/// The factor by which sizes grow.
pub const GROWTH: u64 = 4;

impl Family {
    /// Factors with about `products` products.
    pub fn operands(&self, element: ElementType, products: u64) -> Result<Operands> {
        let (a, b) = (self.make)((products as usize / self.each).max(8))?;
        let of = |factor: Csc<f64>| AnyMatrix::from(factor).cast(element);
        Ok(Operands { a: of(a), b: b.map(of) })
    }
}

impl Operands {
    /// The numbers of columns and entries of A and of B. At small sizes these numbers show whether
    /// a product is new, because several sizes may give a family's smallest product.
    pub fn sizes(&self) -> [usize; 4] {
        let b = self.b.as_ref().unwrap_or(&self.a);
        [self.a.ncols(), self.a.nnz(), b.ncols(), b.nnz()]
    }
}

/// The approximate number of products at a level of sizes.
pub fn products(kind: DeviceKind, level: u32) -> u64 {
    let smallest = if kind == DeviceKind::Cpu { SMALLEST_ON_CPU } else { SMALLEST };
    smallest.saturating_mul(GROWTH.saturating_pow(level))
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockmul::reference;

    #[test]
    fn sizes_are_about_those_of_their_level() -> Result<()> {
        for family in &FAMILIES {
            for (kind, level) in [(DeviceKind::Gpu, 0), (DeviceKind::Gpu, 2), (DeviceKind::Cpu, 2)] {
                let about = products(kind, level);
                let Operands { a, b } = family.operands(ElementType::F64, about)?;
                let count = reference::products(&a, b.as_ref().unwrap_or(&a));
                assert!((about / 4..=about * 5).contains(&count), "{}: {count} of {about}", family.name);
            }
        }
        Ok(())
    }
}
