//! The oracle by class: the time of a product if each class of columns is computed by its fastest
//! method. The columns are divided into classes as the choice on a GPU divides them, but into
//! fewer. Each class is measured as a product of its own, by every method that can compute it.
use super::Numbers;
use super::contest::{Contest, Variant, Wanted};
use super::sweeps::WINDOWS;
use crate::study::Lab;
use blockmul::{Csc, Result, element::Field, matrix::Pattern};
use serde::Serialize;

/// The properties of a column of C by which its class is chosen.
#[derive(Clone, Copy, PartialEq)]
struct Column {
    /// Entries of the column of B.
    entries: u64,
    products: u64,
    /// Number of rows from the first product's row to the last one's.
    range: u64,
}

/// The classes of one product.
#[derive(Serialize)]
pub struct Classes {
    pub matrix: String,
    /// Milliseconds of `auto` for the whole product.
    pub auto_ms: f64,
    /// Sum of the milliseconds of `auto` for each class alone.
    pub apart_ms: f64,
    /// Sum of the milliseconds of each class's fastest method.
    pub oracle_ms: f64,
    pub classes: Vec<OfClass>,
}

/// Columns of one class.
#[derive(Serialize)]
pub struct OfClass {
    pub class: &'static str,
    pub columns: usize,
    #[serde(flatten)]
    pub contest: Contest,
}

impl Classes {
    /// Times each class of columns of A·B. The function returns `None` if all columns are in one
    /// class, or if a class was not timed.
    pub fn of<T: Field>(lab: &Lab, (a, b): (&Csc<T>, &Csc<T>), whole: &Contest) -> Result<Option<Self>> {
        let numbers = lab.device.info().numbers_by_name();
        let class = |col: usize| class_of(&column(a.pattern(), b.pattern(), col), &numbers);
        let class_of_columns: Vec<Option<&str>> = (0..b.ncols()).map(class).collect();
        let mut names: Vec<&'static str> = CLASSES.to_vec();
        names.retain(|name| class_of_columns.contains(&Some(name)));
        let (true, Some(auto_ms)) = (names.len() > 1, whole.auto_ms()) else { return Ok(None) };
        let (mut apart_ms, mut oracle_ms, mut classes) = (0.0, 0.0, Vec::new());
        for name in names {
            let columns: Vec<usize> = (0..b.ncols()).filter(|&col| class_of_columns[col] == Some(name)).collect();
            let part = with_columns(b, &columns)?;
            let what = format!("{}: {name}", whole.matrix);
            let of = [what.as_str(), &whole.family];
            let wanted = Wanted { variants: &Variant::all(), only_fast: true, explained: false };
            let contest = Contest::of(lab, of, a, Some(&part), wanted)?;
            let (Some(auto), Some(best)) = (contest.auto_ms(), contest.best().and_then(|best| best.ms)) else {
                return Ok(None);
            };
            (apart_ms, oracle_ms) = (apart_ms + auto, oracle_ms + best.min(auto));
            classes.push(OfClass { class: name, columns: columns.len(), contest });
        }
        Ok(Some(Self { matrix: whole.matrix.clone(), auto_ms, apart_ms, oracle_ms, classes }))
    }
}

/// The classes, named like the bins of a report. A sorted column of 50 products is in the class "at
/// most 64 products". From 256 products on, classes differ by the number of products and not by the
/// range of rows, because the times of methods then depend most on the number of products. A method
/// that finds rows by bitmaps divides a class by ranges itself.
const CLASSES: [&str; 17] = [
    "one entry of B",
    "at most 32 products",
    "at most 64 products",
    "at most 128 products",
    "at most 256 products",
    "at most 512 products",
    "at most 1024 products",
    "at most 2048 products",
    "at most 3584 products",
    "rows far apart",
    "rows in any range",
    "many entries of B",
    "hubs",
    "many products",
    "rows in a narrow range",
    "rows in a medium range",
    "rows in a wide range",
];

/// The most products of a column in each sorted class.
const SORTED: [u64; 8] = [32, 64, 128, 256, 512, 1024, 2048, 3584];

/// A column of B with more entries than this belongs to the class "many entries of B". Methods
/// visit the entries of B in such a column one after another.
const MOST_ENTRIES: u64 = 1024;

/// The class of a column, or `None` if it has no products.
fn class_of(column: &Column, numbers: &Numbers) -> Option<&'static str> {
    let &Column { entries, products, range } = column;
    if products == 0 {
        return None;
    }
    let words = range.div_ceil(32);
    let pieces = products.min(range).div_ceil(numbers["adaptive_piece"] as u64);
    let hub = 100 * products / entries.max(1) < numbers["adaptive_hub_percent"] as u64 * pieces;
    let far = words > numbers["adaptive_far_words"] as u64 && products <= numbers["adaptive_far_products"] as u64;
    Some(
        CLASSES[match SORTED.iter().position(|&most| products <= most) {
            _ if entries == 1 => 0,
            Some(sorted) if products <= numbers["adaptive_sorted_products"] as u64 => 1 + sorted,
            _ if far => 9,
            _ if words > (WINDOWS * numbers["adaptive_wide_words"]) as u64 => 10,
            _ if entries > MOST_ENTRIES => 11,
            _ if hub => 12,
            Some(sorted) => 1 + sorted,
            None if products > numbers["adaptive_big_products"] as u64 => 13,
            None if words <= numbers["adaptive_narrow_words"] as u64 => 14,
            None if words <= numbers["adaptive_medium_words"] as u64 => 15,
            None => 16,
        }],
    )
}

fn column(a: &Pattern, b: &Pattern, col: usize) -> Column {
    let of_a = b.column(col).iter().map(|&k| a.column(k as usize)).filter(|rows| !rows.is_empty());
    let (mut products, mut first, mut last) = (0, u32::MAX, 0);
    for rows in of_a {
        products += rows.len() as u64;
        (first, last) = (first.min(rows[0]), last.max(rows[rows.len() - 1]));
    }
    let range = if products > 0 { u64::from(last - first) + 1 } else { 0 };
    Column { entries: b.column(col).len() as u64, products, range }
}

/// The matrix of the given columns of B.
fn with_columns<T: Field>(b: &Csc<T>, columns: &[usize]) -> Result<Csc<T>> {
    let (mut col_ptr, mut row_idx, mut values) = (vec![0u64], Vec::new(), Vec::new());
    for &col in columns {
        row_idx.extend_from_slice(b.pattern().column(col));
        values.extend_from_slice(&b.values()[b.pattern().entries(col)]);
        col_ptr.push(row_idx.len() as u64);
    }
    Csc::new(Pattern::new(b.nrows(), columns.len(), col_ptr, row_idx)?, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockmul::Device;

    #[test]
    fn classes_are_divided_at_the_numbers_of_the_device() -> Result<()> {
        let device = Device::select(&std::env::var("BLOCKMUL_TEST_DEVICE").unwrap_or("auto".into()))?;
        let numbers = device.info().numbers_by_name();
        let class = |entries, products, range| class_of(&Column { entries, products, range }, &numbers);
        assert_eq!(class(3, 0, 0), None);
        assert_eq!([class(1, 9000, 9000), class(2, 32, 9000)], [Some(CLASSES[0]), Some(CLASSES[1])]);
        assert_eq!([class(2, 33, 9), class(9, 256, 9)], [Some("at most 64 products"), Some("at most 256 products")]);
        assert_eq!(
            [class(2, 257, 9), class(2, 2049, 9)],
            [Some("at most 512 products"), Some("at most 3584 products")]
        );
        let narrow = 32 * numbers["adaptive_narrow_words"] as u64;
        let of_range = [narrow, narrow + 1].map(|range| class(2, 3585, range));
        assert_eq!(of_range, [Some("rows in a narrow range"), Some("rows in a medium range")]);
        let far = 32 * numbers["adaptive_far_words"] as u64;
        assert_eq!([class(2, 256, far + 1), class(2, 257, far + 1)], [Some(CLASSES[4]), Some("rows far apart")]);
        assert_eq!(class(2, 1 << 20, 1 << 31), Some("rows in any range"), "no bitmap finds them");
        let hub = 2 * numbers["adaptive_hub_percent"] as u64;
        let of_hub = |percent| class(1000, 10 * percent, 2 * numbers["adaptive_piece"] as u64);
        assert_eq!([of_hub(hub - 1), of_hub(hub)], [Some("hubs"), Some("at most 2048 products")]);
        let long = [1024, 1025].map(|entries| class(entries, 3 * entries, 9));
        assert_eq!(long, [Some("at most 3584 products"), Some("many entries of B")]);
        assert_eq!(class(2, numbers["adaptive_big_products"] as u64 + 1, 9), Some("many products"));
        Ok(())
    }

    #[test]
    fn columns_have_their_numbers_and_are_taken_out() -> Result<()> {
        let a = Csc::from_triplets(9, 3, [(2, 0, 1.0), (5, 0, 1.0), (8, 2, 1.0)])?;
        let b = Csc::from_triplets(3, 3, [(0, 0, 1.0), (2, 0, 2.0), (1, 2, 3.0)])?;
        let of = |col| column(a.pattern(), b.pattern(), col);
        assert!(of(0) == Column { entries: 2, products: 3, range: 7 });
        assert!(of(1) == Column { entries: 0, products: 0, range: 0 });
        assert!(of(2) == Column { entries: 1, products: 0, range: 0 });
        let part = with_columns(&b, &[2, 0])?;
        assert_eq!((part.pattern().col_ptr(), part.values()), (&[0, 1, 3][..], &[3.0, 1.0, 2.0][..]));
        Ok(())
    }
}
