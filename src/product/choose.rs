//! The choice of methods for columns: a pure function of sizes, numbers and the caller's wish that
//! gives rules and uses no device.
use super::{
    method::{ColumnMethod, Method},
    tuning::Tuning,
};
use std::ops::Range;

/// A rule: `method` computes the columns whose number of products is in `products`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub method: ColumnMethod,
    pub products: Range<u64>,
}

/// The rules of a product, by ascending number of products. Together they cover every number once.
///
/// A forced method gets every column it can compute, ESC the rest. A method that does not compute
/// columns leaves all of them to ESC.
pub(super) fn choose(tuning: &Tuning, wanted: Method) -> Vec<Rule> {
    let rule = |method, products| Rule { method, products };
    match wanted.of_columns().unwrap_or(tuning.esc) {
        esc @ (ColumnMethod::Esc | ColumnMethod::EscLocal) => vec![rule(esc, 0..u64::MAX)],
        #[cfg(test)]
        serial @ ColumnMethod::Serial => {
            let most = super::serial::MOST_PRODUCTS;
            vec![rule(serial, 0..most), rule(tuning.esc, most..u64::MAX)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockShape, device::test_device};

    #[test]
    fn rules_cover_every_column_once() {
        let tuning = Tuning::new(test_device().info(), BlockShape::SCALAR, BlockShape::SCALAR);
        for &wanted in [Method::Auto].iter().chain(Method::ALL) {
            let rules = choose(&tuning, wanted);
            let ends: Vec<u64> = rules.iter().map(|rule| rule.products.end).collect();
            let begins: Vec<u64> = rules.iter().map(|rule| rule.products.start).collect();
            assert_eq!((begins[0], ends[ends.len() - 1]), (0, u64::MAX), "{wanted}");
            assert_eq!(begins[1..], ends[..ends.len() - 1], "{wanted}");
            assert!(rules.iter().all(|rule| !rule.products.is_empty()), "{wanted}");
        }
    }
}
