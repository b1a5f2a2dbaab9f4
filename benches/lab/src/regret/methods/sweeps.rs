//! Sweeps: parameters of generated matrices that step across the thresholds of the choice.
//!
//! No sweep tests these numbers alone, although they affect the choice:
//! * `adaptive_equal_products` decides which columns share rows within a method. The families
//!   `elements-3` and `permuted-equals` test this number.
//! * `range_one_pass_percent` and `range_sampled_products` decide nothing if the first is 0, as it
//!   is on CPUs: then one pass is taken if it fits the memory. If `range_one_pass_percent` is 1 to
//!   99, both numbers have a sweep.
use super::Numbers;
use crate::patterns::{Factors, banded, drawn, single, skewed, stencil_of_range, uniform, uniform_blocks};
use blockmul::Result;
use blockmul_cli::failure::Failure;

/// Number of steps of a sweep on either side of a threshold.
const STEPS: usize = 4;
/// Maximum number of products of a point, which suffices for thresholds that concern columns.
const MOST_PRODUCTS: u64 = 20_000_000;
/// A point of a sweep has at most the maximum number of products divided by this number, because a
/// sweep has many points.
const PART: u64 = 4;

/// A parameter that steps across a threshold.
pub struct Sweep {
    /// The name of the parameter, and a description of what it decides.
    pub what: String,
    pub points: Vec<usize>,
    /// Makes factors from a value of the parameter and an approximate number of products.
    pub make: Box<dyn Fn(usize, usize) -> Result<Factors>>,
    /// Whether the parameter is the side of the factors' blocks.
    pub of_blocks: bool,
}

/// Returns the sweeps of a device with these numbers. Each matrix has at most about `most`
/// products.
pub fn sweeps(numbers: &Numbers, most: u64) -> Vec<Sweep> {
    let budget = budget(most);
    let narrow = 32 * numbers["adaptive_narrow_words"];
    let mut sweeps = Vec::new();
    for at in
        [32, 48, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048, 2560, 3072, 3584]
    {
        let what = format!("products of a column, at {at}");
        let step = (at / 32usize).max(2) & !1;
        sweeps.push(sweep(what, around(at, step), move |p, products| columns([narrow, 2, p / 2], products)));
    }
    let (long, few) = (numbers["adaptive_long_column"], numbers["adaptive_few_columns"]);
    sweeps.push(sweep(
        "products of a few hundred columns, at the longest that are sorted if they are few",
        around(long, 4),
        move |p, products| columns([narrow, 4, p / 4], products.min(300 * p)),
    ));
    let entries = long / 4 + 8;
    if (few * 4 * entries) as u64 <= most {
        sweeps.push(sweep(
            "columns, at the fewest that are sorted if they are long",
            around(few, few / 64),
            move |cols, _| columns([narrow, 4, entries], cols * 4 * entries),
        ));
    }
    for (what, words) in [
        ("rows in the range of a column, at a narrow one", numbers["adaptive_narrow_words"]),
        ("rows in the range of a column, at a medium one", numbers["adaptive_medium_words"]),
        ("rows in the range of a column, at a window of a wide one", numbers["adaptive_wide_words"]),
        ("rows in the range of a column, at the most windows", WINDOWS * numbers["adaptive_wide_words"]),
    ] {
        let points = around(32 * words, (words / 32).max(1) * 32);
        sweeps.push(sweep(what, points, |rows, products| columns([rows, 16, 32], products)));
    }
    let big = numbers["adaptive_big_products"];
    sweeps.push(sweep("products of a column, at many", around(big, 256), |p, products| {
        columns([1 << 14, 128, p / 128], products)
    }));
    // If a column of B has `entries` entries, the column of C has products in all rows.
    let (hub_rows, entries) = (
        HUB_PIECES * numbers["adaptive_piece"],
        200 * numbers["adaptive_piece"] / numbers["adaptive_hub_percent"].max(1),
    );
    sweeps.push(sweep(
        "products of an entry of B, at a hub",
        around(hub_average(numbers), 1),
        move |average, products| columns([hub_rows, average, entries], products),
    ));
    let (far, far_rows) = (numbers["adaptive_far_products"], 64 * numbers["adaptive_far_words"]);
    sweeps.push(sweep(
        "products of a column with rows far apart, at the most that are sorted",
        around(far, 64),
        move |p, products| columns([far_rows, 64, p / 64], products),
    ));
    // This sweep is hard for a choice by the range of rows: the columns have equally many products,
    // and their ranges double in two steps.
    sweeps.push(sweep(
        "rows in the range of a column of 512 products, from 512 on",
        half_powers(18..=48).collect(),
        |rows, products| columns([rows, 16, 32], products),
    ));
    // The range of rows, for columns with several products for each entry of C. Bitmaps find their
    // rows, however far apart.
    sweeps.push(sweep(
        "rows in the range of a column of a 27-point stencil",
        half_powers(18..=37).collect(),
        |rows, products| stencil_of_range(rows, 1, products),
    ));
    sweeps.push(sweep(
        "rows in the range of a column of a 27-point stencil of 3 unknowns",
        half_powers(24..=37).collect(),
        |rows, products| stencil_of_range(rows, 3, products),
    ));
    sweeps.extend(match numbers["range_shares"] {
        0 => hash_sweeps(numbers, budget),
        _ => range_sweeps(numbers, most),
    });
    let shares = vec![0, 1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90];
    sweeps.push(sweep("products of 100 in one column", shares, |share, products| skewed(products, 8, share)));
    // Sizes from 1024 products on, four in each doubling, up to sizes at which the host no longer
    // computes any product.
    let most = if numbers["host_entries"] > 0 { budget.max(PAST_HOST) } else { budget };
    sweeps.push(sweep("products in all", quarters(most).collect(), |products, _| uniform(products / 64, 8)));
    if numbers["host_entries"] > 0 {
        sweeps.extend(host_sweeps(quarters(PAST_HOST).collect()));
    }
    let of_blocks = |what: &str, columns| Sweep {
        what: what.into(),
        points: (1..=8).collect(),
        make: Box::new(move |side, _| Ok((uniform_blocks(columns, 4, side)?, None))),
        of_blocks: true,
    };
    sweeps.push(of_blocks("side of blocks, of 1600 products", 100));
    sweeps.push(of_blocks("side of blocks, of 16,000 products", 1000));
    sweeps
}

/// Returns the sweeps whose names contain one of the given texts. If there are no texts, all
/// sweeps.
pub fn named(sweeps: Vec<Sweep>, words: &[String]) -> std::result::Result<Vec<Sweep>, Failure> {
    let has = |sweep: &Sweep, words: &String| sweep.what.contains(words.as_str());
    if let Some(unknown) = words.iter().find(|words| !sweeps.iter().any(|sweep| has(sweep, words))) {
        let all: Vec<_> = sweeps.iter().map(|sweep| sweep.what.as_str()).collect();
        let all = all.join("; ");
        return Err(Failure::Usage(format!("--sweeps: no parameter has \"{unknown}\" in its name; there are: {all}")));
    }
    let wanted = |sweep: &Sweep| words.is_empty() || words.iter().any(|words| has(sweep, words));
    Ok(sweeps.into_iter().filter(wanted).collect())
}

/// In the sweeps of hubs, the rows of a column are divided into this many pieces.
const HUB_PIECES: usize = 16;

/// The fewest products of an entry of B with which columns of hubs' lengths are no hubs.
fn hub_average(numbers: &Numbers) -> usize {
    (HUB_PIECES * numbers["adaptive_hub_percent"]).div_ceil(100)
}

/// Number of products from which a device is faster than any host.
const PAST_HOST: usize = 200_000;

/// A sweep of products of scalars.
fn sweep(
    what: impl Into<String>,
    points: Vec<usize>,
    make: impl Fn(usize, usize) -> Result<Factors> + 'static,
) -> Sweep {
    Sweep { what: what.into(), points, make: Box::new(make), of_blocks: false }
}

/// Returns values at a threshold and on either side of it.
fn around(at: usize, step: usize) -> Vec<usize> {
    (0..=2 * STEPS).map(|k| (at + step * k).saturating_sub(step * STEPS)).filter(|&value| value > 0).collect()
}

/// Sweeps across the thresholds of products that are computed in ranges of columns.
fn range_sweeps(numbers: &Numbers, most: u64) -> Vec<Sweep> {
    let mut sweeps = Vec::new();
    let (percent, sampled) = (numbers["range_one_pass_percent"], numbers["range_sampled_products"]);
    // To choose between one pass and two, the product must be sampled, and small products are not
    // sampled. This sweep runs if products of twice the allowed size would be sampled, as with the
    // defaults of CPUs.
    if (1..100).contains(&percent) && 2 * most >= sampled as u64 {
        sweeps.push(sweep(
            "entries of C for 100 products, at the fewest that take one pass",
            around(percent, (percent / 10).max(1)),
            move |percent, products| columns([rows_of(percent), A_COLUMN, B_COLUMN], products.max(2 * sampled)),
        ));
        sweeps.push(sweep(
            "products in all that merge, at the fewest that are sampled",
            around(sampled, sampled / 8),
            move |products, _| columns([rows_of(percent / 2), A_COLUMN, B_COLUMN], products),
        ));
    }
    // The host does not compute products of this size.
    let products = numbers["host_products"] * 3 / 2;
    sweeps.push(sweep(
        "rows of C for each product, until ESC computes it",
        vec![1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64],
        move |each, _| columns([each * products, 16, 4], products),
    ));
    sweeps
}

/// Entries of the columns of A and of B in sweeps with several products for each entry of C.
const A_COLUMN: usize = 32;
const B_COLUMN: usize = 64;

/// The number of rows at which a column with A_COLUMN · B_COLUMN products has `percent` entries for
/// each 100 products.
fn rows_of(percent: usize) -> usize {
    let wanted = (percent * A_COLUMN * B_COLUMN) as f64 / 100.0;
    let entries = |rows: usize| {
        let missed = 1.0 - A_COLUMN as f64 / rows as f64;
        rows as f64 * (1.0 - missed.powi(B_COLUMN as i32))
    };
    (A_COLUMN..100 * A_COLUMN * B_COLUMN).find(|&rows| entries(rows) >= wanted).unwrap_or(A_COLUMN)
}

/// Sweeps across the sizes of hash tables, and beyond the number of products for which they are
/// used.
fn hash_sweeps(numbers: &Numbers, budget: usize) -> Vec<Sweep> {
    // Two widths of the range of rows in which the products of a column lie. With the first range,
    // columns with few products are hashed. The second range of rows is too wide for all windows of
    // bitmaps.
    let (far, beyond) = (64 * numbers["adaptive_far_words"], 64 * WINDOWS * numbers["adaptive_wide_words"]);
    let by = |rows: usize, entries: usize| move |p, products| columns([rows, entries, p / entries], products);
    // A table holds at most four rows for each five words.
    let room = |words: usize| words / 5 * 4;
    let (small, medium) = (room(numbers["adaptive_small_hash_words"]), room(numbers["adaptive_medium_hash_words"]));
    let large = room(numbers["adaptive_hash_words"]);
    let mut sweeps = vec![
        sweep("products of a hashed column, at the most of a small table", around(small, 32), by(far, 16)),
        sweep("products of a hashed column, at the most of a medium table", around(medium, 128), by(beyond, 64)),
        sweep(
            "products of a hashed column, at the most of a table in local memory",
            around(large, 256),
            by(beyond, 64),
        ),
    ];
    let most = numbers["adaptive_hash_products"];
    if budget >= most / 4 * 5 {
        let what = "products of a column, at the most that are hashed";
        sweeps.push(sweep(what, around(most, most / 16), by(beyond, 64)));
    }
    sweeps
}

/// Smallest and largest number of columns of A in the sweep of a large A that few products use.
const LEAST_OF_A: usize = 4096;
const MOST_OF_A: usize = 1 << 22;

/// Sizes from 1024 to `most`, four in each doubling.
fn quarters(most: usize) -> impl Iterator<Item = usize> {
    (40..).map(|k: i32| 2f64.powf(f64::from(k) / 4.0) as usize).take_while(move |&size| size <= most)
}

/// Numbers `2^(k/2)` for each k in `halves`: two in each doubling.
fn half_powers(halves: std::ops::RangeInclusive<i32>) -> impl Iterator<Item = usize> {
    halves.map(|k| 2f64.powf(f64::from(k) / 2.0) as usize)
}

/// Sweeps around and beyond the sizes up to which the host computes a product.
fn host_sweeps(sizes: Vec<usize>) -> Vec<Sweep> {
    // A has one entry for each of its columns. Most entries of A are in no product.
    let of_a = quarters(MOST_OF_A).filter(|&columns| columns >= LEAST_OF_A).step_by(2).collect();
    vec![
        sweep("products in all, of a band", sizes.clone(), |products, _| {
            Ok((banded((products / 289).max(17), 8)?, None))
        }),
        sweep("products in all, of columns with one", sizes, |products, _| single(products / 8)),
        sweep("columns of A, of which 2000 products have few", of_a, |columns, _| {
            Ok((drawn([columns, columns], 1)?, Some(drawn([columns, 100], 20)?)))
        }),
    ]
}

/// Maximum number of windows of rows for which bitmaps are used.
pub const WINDOWS: usize = 16;

/// The number of products of a point of a sweep.
pub fn budget(most: u64) -> usize {
    (most / PART).clamp(1, MOST_PRODUCTS) as usize
}

/// An A with `of_a` entries in each column, a B with `of_b`, and as many columns of B as are needed
/// for `products` products.
fn columns([rows, of_a, of_b]: [usize; 3], products: usize) -> Result<Factors> {
    let of_b = of_b.max(1);
    let cols = (products / (of_a * of_b)).max(1);
    let inner = INNER.min(cols * of_b).max(of_b);
    Ok((drawn([rows, inner], of_a)?, Some(drawn([inner, cols], of_b)?)))
}

/// Maximum number of columns of A: few, so that an A with many rows does not take too much memory.
const INNER: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use blockmul::{Device, reference};

    #[test]
    fn sweeps_cross_their_thresholds_and_have_the_products() -> Result<()> {
        let device = Device::select(&std::env::var("BLOCKMUL_TEST_DEVICE").unwrap_or("auto".into()))?;
        let mut numbers = device.info().numbers_by_name();
        numbers.extend([("host_entries", 40_000), ("host_products", 40_000), ("range_sampled_products", 60_000)]);
        numbers.extend([("adaptive_hash_products", 50_000), ("range_one_pass_percent", 10)]);
        let [by_classes, in_ranges] = [0, 16].map(|range_shares| {
            numbers.insert("range_shares", range_shares);
            sweeps(&numbers, 400_000)
        });
        assert_eq!(by_classes.len() + 3, in_ranges.len() + 4, "four for tables, three for ranges");
        let sweeps: Vec<_> = by_classes.into_iter().chain(in_ranges).collect();
        assert_eq!(sweeps.iter().filter(|sweep| sweep.of_blocks).count(), 4);
        for sweep in &sweeps {
            assert!(sweep.points.is_sorted() && sweep.points.len() >= 7, "{}: {:?}", sweep.what, sweep.points);
            let (a, b) = (sweep.make)(sweep.points[STEPS], budget(400_000))?;
            let of_a_block = if sweep.of_blocks { (sweep.points[STEPS] as u64).pow(3) } else { 1 };
            let products = reference::products(&a, b.as_ref().unwrap_or(&a)) / of_a_block;
            assert!((900..=200_000).contains(&products), "{}: {products}", sweep.what);
        }
        let hub = sweeps.iter().find(|sweep| sweep.what.contains("of B, at a hub")).expect("a sweep");
        assert!(hub.points.contains(&hub_average(&numbers)));
        Ok(())
    }

    #[test]
    fn columns_that_merge_have_the_entries_of_their_percentage() -> Result<()> {
        for percent in [5, 8, 10, 12, 40] {
            let (a, b) = columns([rows_of(percent), A_COLUMN, B_COLUMN], 100_000)?;
            let b = b.expect("another matrix");
            let entries = 100.0 * reference::multiply(&a, &b)?.nnz() as f64 / reference::products(&a, &b) as f64;
            assert!((entries - percent as f64).abs() < 0.5, "{entries} for {percent}");
        }
        Ok(())
    }
}
