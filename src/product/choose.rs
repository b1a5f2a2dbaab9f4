//! The choice of methods for columns of scalars: pure functions of sizes, numbers and costs. The
//! functions of this file use no device, and equal arguments give equal choices.
//!
//! The device puts each column of an adaptive product into a class. [`share_out`] takes the sums
//! over the columns of each class and the costs of the methods. [`share_out`] decides which method
//! computes each class. Small classes are joined into one bin, because a launch for few columns
//! costs more than it saves.
mod numbers;
mod prices;
#[cfg(test)]
mod tests;

pub(crate) use numbers::AdaptiveNumbers;
pub(super) use numbers::{GROUPS, PAIRED_PRODUCTS};
pub(super) use prices::Prices;
use prices::Whole;

use super::terms::{Bin, Class, ClassSums, ClassesSums, Method, SORTED_PRODUCTS, Share, without_long};
use crate::{
    primitives::segmented_sort::SortTuning,
    tuning::{BinSize, MethodCosts},
};

/// Families of classes. A family lists its classes by ascending size. The kernels of a class can
/// compute the columns of the classes before it in its family. The kernels of sorted classes can
/// compute columns of [`Class::Direct`] only if these columns are short.
const FAMILIES: [&[Class]; 6] = [
    &[
        Class::Direct,
        Class::Sorted32,
        Class::Sorted48,
        Class::Sorted64,
        Class::Sorted96,
        Class::Sorted128,
        Class::Sorted192,
        Class::Sorted256,
        Class::Sorted320,
        Class::Sorted384,
        Class::Sorted512,
        Class::Sorted640,
        Class::Sorted768,
        Class::Sorted896,
        Class::Sorted1024,
        Class::Sorted1280,
        Class::Sorted1536,
        Class::Sorted1792,
        Class::Sorted2048,
        Class::Sorted2560,
        Class::Sorted3072,
        Class::Sorted3584,
    ],
    &[Class::Narrow, Class::Medium],
    &[Class::Wide, Class::Big],
    // [`Class::HashedGlobal`] is a family by itself: its tables in global memory have the size that
    // its longest column needs.
    &[Class::HashedSmall, Class::HashedMedium, Class::HashedLarge],
    &[Class::HashedGlobal],
    &[Class::Long],
];

/// Approximate number of launches of a product by ESC.
const ESC_LAUNCHES: u32 = 10;
/// Number of launches that take columns out of B for ESC, and put the columns that ESC computes
/// into C.
const REST_LAUNCHES: u32 = 5;

/// The methods that can compute the columns of a class. The device decides which columns of dense
/// classes are hubs.
fn able(class: Class) -> &'static [Method] {
    match class {
        Class::Empty => &[],
        Class::Direct => &[Method::Direct],
        Class::Narrow | Class::Medium | Class::Wide | Class::Big | Class::Long => &[Method::Dense],
        Class::HashedSmall | Class::HashedMedium | Class::HashedLarge | Class::HashedGlobal => &[Method::Hash],
        Class::Rest => &[Method::Esc],
        _ => &[Method::Sort],
    }
}

/// Number of kernels that are launched if this class is a bin by itself. If the rows of the class
/// are found before the sums, the launch of the sums is not counted: one launch serves all such
/// classes.
fn own_launches(class: Class) -> u32 {
    match class {
        Class::Direct => 4, // two of the four launches scan
        _ if Class::FOUND.contains(&class) => 1,
        _ => 2,
    }
}

/// A work-group of [`Class::Wide`] clears and reads `WORDS_OF_PLACE` words of a bitmap in the time
/// of one place (see [`places`]). If the range of rows has several windows, the work-group clears
/// and reads half as many words in that time, because each window visits all entries of B. On an
/// H100, 18,000 columns of 1088 products each take 2.4 ms by bitmaps, and 15,600 columns of 1280
/// products take 2.1 ms. ESC takes 1.2 ms for the 18,000 columns and for the 15,600 columns. In
/// both measurements every entry of C has one product, and the ranges have 21,000 words.
const WORDS_OF_PLACE: u64 = 600;

/// Number of places of a column of [`Class::Wide`], if one of the two teams of a work-group counts
/// the column alone.
const PAIRED_PLACES: u64 = 3;

/// Number of places of `columns` columns with `products` products in all, if the kernels of `class`
/// compute them. Places are a unit of cost: a column with n places keeps as much of a
/// multiprocessor busy as n columns of the first class of its method's family. `widest` is the
/// width of their widest row range, in words of 32 rows.
fn places(class: Class, [columns, products]: [u64; 2], widest: u32, prices: &Prices) -> u64 {
    let window = prices.window_words;
    let of_words = || u64::from(widest) / if widest > window { WORDS_OF_PLACE / 2 } else { WORDS_OF_PLACE };
    // Two bitmaps fit the memory of one window.
    let paired = class == Class::Wide && widest <= window / 2 && products <= columns * prices.paired_products;
    let of_class = if paired { PAIRED_PLACES } else { places_of(class) };
    columns * if Class::IN_WINDOWS.contains(&class) { of_class.max(of_words()) } else { of_class }
}

/// Places of a column of a class, if its row range is not wider than the ranges of most columns of
/// the class.
fn places_of(class: Class) -> u64 {
    match class {
        Class::Empty | Class::Direct | Class::Rest => 1,
        // Up to 256 products, a column has a place for each 32 products.
        Class::Sorted32 => 1,
        Class::Sorted48 | Class::Sorted64 => 2,
        Class::Sorted96 => 3,
        Class::Sorted128 => 4,
        Class::Sorted192 => 6,
        Class::Sorted256 => 8,
        // From `Sorted320` on, a column has more places than one for each 32 products. Teams for so
        // many products need so many registers and so much local memory that fewer teams are
        // resident. The numbers were measured on an H200, and beyond 2560 products on an H100. The
        // numbers of 320, 640 and 896 are interpolated between their neighbours.
        Class::Sorted320 => 12,
        Class::Sorted384 => 16,
        Class::Sorted512 => 20,
        Class::Sorted640 => 36,
        Class::Sorted768 => 43,
        Class::Sorted896 => 49,
        Class::Sorted1024 => 55,
        Class::Sorted1280 => 82,
        Class::Sorted1536 => 96,
        Class::Sorted1792 => 122,
        Class::Sorted2048 => 132,
        Class::Sorted2560 => 170,
        Class::Sorted3072 => 228,
        Class::Sorted3584 => 327,
        // A multiprocessor of an H200 holds the bitmaps of 64 narrow teams, of 32 medium teams, or
        // of four groups of four teams. A multiprocessor holds more groups of four teams if their
        // row ranges are narrower than the widest. The four teams of a group share the work of a
        // column. A group of 16 teams takes the memory of a group of four, and its teams wait for
        // one another. The numbers of Wide and Big are estimates.
        Class::Narrow => 1,
        Class::Medium => 2,
        Class::Wide => 4,
        Class::Big | Class::Long => 32,
        // A multiprocessor holds as many groups of one team as it can start, 14 groups of four
        // teams, or four groups of sixteen. [`Class::HashedGlobal`] has tables in global memory;
        // its number is an estimate.
        Class::HashedSmall => 1,
        Class::HashedMedium => 2,
        Class::HashedLarge => 8,
        Class::HashedGlobal => 16,
    }
}

/// Divides the columns of a product among the methods of scalars and ESC, by the sums of their
/// classes. The entries of C in the sums are estimates or upper bounds. Every class that has
/// products is in one bin. The hubs of a dense class have a bin of their own. Columns of
/// [`Class::Rest`], which only ESC can compute, are in no bin.
///
/// Returns `None` if `esc` is allowed to compute all columns, and is predicted to take less time
/// than their bins.
pub(super) fn share_out(sums: &ClassesSums, prices: &Prices, esc: bool) -> Option<Vec<Share>> {
    let (shares, ms) = divided(sums, prices);
    let by_esc = esc && !shares.is_empty() && prices.all_by_esc_ms(sums).is_some_and(|all| all < ms);
    (!by_esc).then_some(shares)
}

/// Whether ESC is predicted to take less time for the columns of [`Class::Long`], while the other
/// columns are in bins.
pub(super) fn leaves_long(sums: &ClassesSums, prices: &Prices) -> bool {
    sums[Class::Long as usize].columns > 0 && divided(&without_long(*sums), prices).1 < divided(sums, prices).1
}

/// The bins of all columns, and their predicted time. The time includes the columns that only ESC
/// can compute.
fn divided(sums: &ClassesSums, prices: &Prices) -> (Vec<Share>, f64) {
    let (mut shares, costs) = (Vec::new(), &prices.costs);
    for family in FAMILIES {
        for [first, last] in together(sums, prices, family) {
            let classes = &sums[first as usize..=last as usize];
            let widest = classes.iter().map(|class| class.widest).max().unwrap_or(0);
            let sum = |number: fn(&ClassSums) -> u64| classes.iter().map(number).sum::<u64>();
            let [columns, products] = [sum(|class| class.columns.into()), sum(|class| class.products)];
            let visits = sum(|class| class.visits);
            let of_hubs: [fn(&ClassSums) -> u64; 3] =
                [|class| class.hub_columns.into(), |class| class.hub_products, |class| class.hub_visits];
            let hubs = of_hubs.map(sum);
            let others = [columns - hubs[0], products - hubs[1], visits.saturating_sub(hubs[2])];
            let entries = |of: u64| {
                let all = u128::from(sum(|class| class.most_entries));
                (all * u128::from(of)).div_ceil(u128::from(products.max(1))) as u64
            };
            let launches = own_launches(last) + u32::from(Class::FOUND.contains(&last));
            for (methods, [columns, products, visits]) in [(able(last), others), (&[Method::Hub], hubs)] {
                let size = BinSize::new(
                    launches,
                    products,
                    entries(products),
                    places(last, [columns, products], widest, prices),
                );
                let by_visits = prices.visit_ms * visits as f64;
                let share = |&method: &Method| {
                    let predicted_ms = predict_ms(costs, method, &size).map(|ms| ms + by_visits);
                    Share { method, first, last, columns, size, predicted_ms }
                };
                let best = methods.iter().map(share).min_by(|one, other| least(one).total_cmp(&least(other)));
                shares.extend(best.filter(|_| columns > 0));
            }
        }
    }
    let ms = prices.of_longest_ms(sums) + shares.iter().map(|share| prices.bin_ms + least(share)).sum::<f64>();
    let of_rest = &sums[Class::Rest as usize];
    let rest = if of_rest.columns > 0 { prices.rest_ms(of_rest) } else { 0.0 };
    (shares, ms + rest)
}

/// The predicted time of a share, or the largest `f64` if the time is not known.
fn least(share: &Share) -> f64 {
    share.predicted_ms.unwrap_or(f64::MAX)
}

/// The predicted time of columns of scalars by ESC, in milliseconds. `products` may be a number
/// that `Whole::weighed` returns.
pub(super) fn esc_ms(costs: &MethodCosts, columns: u64, products: u64, entries: u64) -> Option<f64> {
    predict_ms(costs, Method::Esc, &esc_size(1, columns, products, entries))
}

/// The sizes of columns that ESC computes in `bands` bands.
fn esc_size(bands: usize, columns: u64, products: u64, entries: u64) -> BinSize {
    BinSize::new(ESC_LAUNCHES * bands as u32, products, entries, columns)
}

/// Predicts the times of the bins of ESC. The product has `bands` bands, and C has `nrows` rows.
pub(super) fn predict_esc(bins: &mut [Bin], [bands, nrows, longest]: [u64; 3], costs: &MethodCosts, sort: &SortTuning) {
    let whole = Whole::of_sort(sort);
    for bin in bins {
        let most = bin.products.min(bin.columns.saturating_mul(nrows));
        let weighed = whole.weighed(bin.products, bin.columns, Some(longest));
        let size = esc_size(bands as usize, bin.columns, weighed, most);
        bin.predicted_ms = predict_ms(costs, bin.method, &size);
        bin.size = bin.predicted_ms.map(|_| size);
    }
}

/// The predicted time of a bin in milliseconds, if the method has costs.
pub(super) fn predict_ms(costs: &MethodCosts, method: Method, size: &BinSize) -> Option<f64> {
    costs.of(method.cost_name()).map(|cost| cost.predict_ms(size))
}

/// Divides the classes of a family that have columns into bins, at the least cost. If several
/// divisions cost the same, it takes the one with the fewest bins.
fn together(sums: &ClassesSums, prices: &Prices, family: &[Class]) -> Vec<[Class; 2]> {
    let of = |class: &Class| &sums[*class as usize];
    let filled: Vec<Class> = family.iter().copied().filter(|class| of(class).columns > 0).collect();
    let cost = |bin: &[Class]| -> f64 {
        let last = bin[bin.len() - 1];
        let sum = |number: fn(&ClassSums) -> u64| bin.iter().map(|class| number(of(class))).sum::<u64>();
        let widest = bin.iter().map(|class| of(class).widest).max().unwrap_or(0);
        let (products, entries) = (sum(|class| class.products), sum(|class| class.most_entries));
        let places = places(last, [sum(|class| class.columns.into()), products], widest, prices);
        let size = BinSize::new(own_launches(last), products, entries, places);
        able(last).iter().filter_map(|&method| predict_ms(&prices.costs, method, &size)).fold(f64::MAX, f64::min)
    };
    // For each class, the best division of this class and the classes after it: the cost, the
    // number of bins, and the end of the first bin.
    let mut best = vec![(0.0, 0, 0); filled.len() + 1];
    for begin in (0..filled.len()).rev() {
        let ends = (begin + 1..=filled.len()).filter(|&end| can_join(sums, &filled[begin..end]));
        let from = ends.map(|end| (cost(&filled[begin..end]) + best[end].0, 1 + best[end].1, end));
        let least = from.min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        best[begin] = least.expect("a class is a bin");
    }
    let ends = std::iter::successors(best.first().map(|best| best.2), |&end| Some(best[end].2));
    let mut begin = 0;
    let bins = ends.take(best[0].1).map(|end| [filled[std::mem::replace(&mut begin, end)], filled[end - 1]]);
    bins.collect()
}

/// Whether the columns of all classes of `bin` can be computed by the kernels of the bin's last
/// class. Kernels of sorted classes cannot compute a column of [`Class::Direct`] that is too long
/// to be sorted.
fn can_join(sums: &ClassesSums, bin: &[Class]) -> bool {
    bin[0] != Class::Direct || bin.len() == 1 || sums[Class::Direct as usize].longest <= SORTED_PRODUCTS[0]
}

/// A bin of all columns of a product, which the kernels of one class sort. The columns have
/// `products` products and about `entries` entries of C.
pub(super) fn sorted_share(class: Class, columns: u64, [products, entries]: [u64; 2], costs: &MethodCosts) -> Share {
    let method = Method::Sort;
    let size = BinSize::new(own_launches(class), products, entries, columns * places_of(class));
    Share { method, first: class, last: class, columns, size, predicted_ms: predict_ms(costs, method, &size) }
}
