//! Tests of the choice of bins and methods.
mod measured;

use super::*;
use crate::{
    Result,
    device::DeviceKind,
    generate::Random,
    primitives::SortNumbers,
    product::terms::{Known, MOST_SORTED_PRODUCTS},
    resident::ColumnLengths,
    tuning::{MethodCost, StageNumbers},
};

/// The sums of the classes. Class i has `columns[i]` columns with `products[i]` products each.
fn sums(columns: [u32; Class::ALL.len()], products: [u64; Class::ALL.len()]) -> [ClassSums; Class::ALL.len()] {
    std::array::from_fn(|class| {
        let all = u64::from(columns[class]) * products[class];
        let longest = products[class] as u32;
        ClassSums { columns: columns[class], products: all, most_entries: all / 2, longest, ..ClassSums::default() }
    })
}

/// The number of products of a usual column in each class.
const USUAL: [u64; Class::ALL.len()] = [
    0, 8, 16, 40, 50, 80, 100, 150, 200, 280, 350, 400, 600, 700, 800, 900, 1000, 1150, 1400, 1650, 1900, 2000, 2400,
    2800, 3300, 4000, 20_000, 700, 3000, 9000, 50_000, 90_000, 0,
];

/// Numbers of columns or products for the classes named here, and zeros for all others.
fn of_classes<N: Copy + Default>(numbers: &[(Class, N)]) -> [N; Class::ALL.len()] {
    let mut all = [N::default(); Class::ALL.len()];
    numbers.iter().for_each(|&(class, number)| all[class as usize] = number);
    all
}

fn random_sums(random: &mut Random) -> [ClassSums; Class::ALL.len()] {
    let columns = std::array::from_fn(|_| if random.below(3) == 0 { 0 } else { 1 << random.below(20) });
    let mut sums = sums(columns, USUAL);
    for class in Class::ALL.into_iter().filter(|class| class.is_dense()) {
        let of = &mut sums[class as usize];
        of.hub_columns = random.below(u64::from(of.columns) + 1) as u32;
        of.hub_products = of.products / u64::from(of.columns.max(1)) * u64::from(of.hub_columns);
    }
    sums
}

fn gpu() -> MethodCosts {
    MethodCosts::of_kind(DeviceKind::Gpu)
}

fn priced(costs: MethodCosts) -> Prices {
    Prices::new(&AdaptiveNumbers::of(DeviceKind::Gpu), SortNumbers::of(DeviceKind::Gpu), costs, MOST_SORTED_PRODUCTS)
}

/// The default costs of GPUs, with one coefficient of a method changed.
fn changed(method: &str, at: usize, change: impl Fn(f64) -> f64) -> Result<MethodCosts> {
    let mut coefficients = gpu().of(method).unwrap().coefficients();
    coefficients[at] = change(coefficients[at]);
    gpu().with(method, MethodCost::new(coefficients)?)
}

#[test]
fn every_column_is_in_one_bin_and_equal_sums_are_shared_out_equally() {
    let mut random = Random::new(3);
    let dear = gpu().with("esc", MethodCost::new([1e9, 0.0, 0.0, 0.0]).unwrap()).unwrap();
    for _ in 0..300 {
        let sums = random_sums(&mut random);
        let shares = share_out(&sums, &priced(gpu()), false).expect("ESC may not have all");
        assert_eq!(share_out(&sums, &priced(gpu()), false), Some(shares.clone()));
        let without_rest =
            std::array::from_fn(|class| if class == Class::Rest as usize { ClassSums::default() } else { sums[class] });
        assert_eq!(share_out(&without_rest, &priced(dear), true), Some(shares.clone()), "if ESC is dear");
        let total = |number: fn(&ClassSums) -> u64| -> u64 {
            (Class::Direct as usize..Class::Rest as usize).map(|class| number(&sums[class])).sum()
        };
        assert_eq!(shares.iter().map(|share| share.columns).sum::<u64>(), total(|sums| sums.columns.into()));
        assert_eq!(shares.iter().map(|share| share.size.products).sum::<u64>(), total(|sums| sums.products));
        let hubs = shares.iter().filter(|share| share.method == Method::Hub);
        assert_eq!(hubs.map(|share| share.columns).sum::<u64>(), total(|sums| sums.hub_columns.into()));
        for class in Class::ALL {
            let of_class = |share: &&Share| (share.first..=share.last).contains(&class);
            let bins: Vec<_> = shares.iter().filter(of_class).collect();
            let groups: Vec<_> = bins.iter().map(|share| (share.first, share.last)).collect();
            let filled = sums[class as usize].columns > 0 && class != Class::Empty && class != Class::Rest;
            assert!(bins.len() <= 2 && (!bins.is_empty() || !filled), "{class:?}: {bins:?}");
            assert!(groups.windows(2).all(|two| two[0] == two[1]), "{class:?}: {bins:?}");
        }
        for share in &shares {
            assert!(able(share.last).contains(&share.method) || share.method == Method::Hub, "{share:?}");
            assert!(sums[share.last as usize].columns > 0 && share.predicted_ms.is_some(), "{share:?}");
            let family = FAMILIES.iter().find(|family| family.contains(&share.last)).unwrap();
            assert!(family.contains(&share.first), "{share:?}");
        }
    }
}

/// In the products of `docs/benchmarks.md` a class with many columns has a bin of its own.
#[test]
fn large_classes_are_bins_of_their_own() {
    use Class::{Big, Medium, Narrow, Sorted32, Sorted64, Sorted128, Sorted256, Wide};
    let of = |classes: &[(Class, u32, u64)]| {
        let columns: Vec<_> = classes.iter().map(|&(class, columns, _)| (class, columns)).collect();
        let products: Vec<_> = classes.iter().map(|&(class, _, products)| (class, products)).collect();
        sums(of_classes(&columns), of_classes(&products))
    };
    let enron = of(&[(Narrow, 4483, 171), (Medium, 31_007, 968), (Big, 1202, 17_211)]);
    let sorted = |columns: [u32; 4], products: [u64; 4]| {
        let class = [Sorted32, Sorted64, Sorted128, Sorted256];
        std::array::from_fn::<_, 4, _>(|at| (class[at], columns[at], products[at]))
    };
    let cnr = sorted([212_236, 29_403, 24_991, 14_045], [6, 46, 92, 174]);
    let dense = [(Narrow, 29_511, 881), (Medium, 6429, 914), (Wide, 7953, 2606), (Big, 989, 36_224)];
    let cnr = of(&[&cnr[..], &dense].concat());
    let transposed = sorted([81_069, 20_874, 25_627, 29_554], [11, 46, 98, 182]);
    let dense = [(Narrow, 22_075, 933), (Medium, 35_373, 574), (Wide, 27_041, 1659), (Big, 31, 13_687)];
    let transposed = of(&[&transposed[..], &dense].concat());
    // A kernel for 20,874 columns alone would save less time than its launch takes.
    for (sums, bins, joined) in [(enron, 3, None), (cnr, 8, None), (transposed, 7, Some((Sorted64, Sorted128)))] {
        let shares = share_out(&sums, &priced(gpu()), true).expect("ESC takes longer");
        assert_eq!(shares.len(), bins, "{shares:?}");
        let several = shares.iter().filter(|share| share.first != share.last);
        assert_eq!(several.map(|share| (share.first, share.last)).collect::<Vec<_>>(), Vec::from_iter(joined));
    }
}

#[test]
fn few_columns_join_the_next_class_that_has_columns() {
    use Class::{Direct, Empty, Medium, Narrow, Sorted32, Sorted64, Sorted256, Wide};
    let of = |columns: &[(Class, u32)]| share_out(&sums(of_classes(columns), USUAL), &priced(gpu()), false).unwrap();
    let shares = of(&[(Empty, 9), (Sorted32, 100), (Sorted256, 300_000), (Sorted64, 200)]);
    assert_eq!(shares.len(), 1, "{shares:?}");
    assert_eq!((shares[0].first, shares[0].last), (Sorted32, Sorted256));
    assert_eq!((shares[0].columns, shares[0].size.places), (300_300, 8 * 300_300));
    assert_eq!(shares[0].which(), "at most 256 products");
    // If a class has many short columns, it is a bin of its own. The last class is also a bin of
    // its own, because no class follows it.
    let shares = of(&[(Sorted32, 1_000_000), (Sorted256, 3), (Narrow, 100), (Medium, 2), (Wide, 2)]);
    let bins: Vec<_> = shares.iter().map(|share| (share.first, share.last, share.method)).collect();
    assert_eq!(
        bins,
        [
            (Sorted32, Sorted32, Method::Sort),
            (Sorted256, Sorted256, Method::Sort),
            (Narrow, Medium, Method::Dense),
            (Wide, Wide, Method::Dense)
        ]
    );
    // Columns of method `direct` are sorted if they are few and short.
    let direct = |columns: u32, longest: u32| {
        let mut sums = sums(of_classes(&[(Direct, columns), (Sorted32, 1000)]), USUAL);
        sums[Direct as usize].longest = longest;
        share_out(&sums, &priced(gpu()), false).unwrap().len()
    };
    assert_eq!([direct(50, 32), direct(50, 33), direct(1_000_000, 32)], [1, 2, 2]);
    assert!(of(&[(Empty, 5)]).is_empty(), "columns without products");
}

#[test]
fn dearer_launches_never_give_more_bins_and_dearer_columns_never_fewer() -> Result<()> {
    let mut random = Random::new(4);
    for _ in 0..100 {
        let sums = random_sums(&mut random);
        for method in ["sort", "dense", "hash"] {
            let bins = |at: usize, factor: f64| -> Result<usize> {
                Ok(share_out(&sums, &priced(changed(method, at, |usual| usual * factor)?), false).unwrap().len())
            };
            let factors = [0.0, 0.01, 0.1, 1.0, 10.0, 100.0, 1e6];
            let by_launch = factors.map(|factor| bins(0, factor));
            let by_column = factors.map(|factor| bins(3, factor));
            let [by_launch, by_column] =
                [by_launch, by_column].map(|bins| bins.into_iter().collect::<Result<Vec<_>>>());
            assert!(by_launch?.is_sorted_by(|less, more| less >= more), "{method}: {sums:?}");
            assert!(by_column?.is_sorted(), "{method}: {sums:?}");
        }
    }
    Ok(())
}

#[test]
fn esc_takes_all_columns_if_that_is_cheaper_and_allowed() -> Result<()> {
    let mut random = Random::new(6);
    let cheap = gpu().with("esc", MethodCost::new([0.0; 4])?)?;
    for _ in 0..50 {
        let sums = random_sums(&mut random);
        let some = (Class::Direct as usize..Class::Rest as usize).any(|class| sums[class].columns > 0);
        assert_eq!(share_out(&sums, &priced(cheap), true).is_none(), some);
        assert!(share_out(&sums, &priced(cheap), false).is_some(), "a forced method takes what it can");
    }
    // If ESC is chosen, it is chosen for lower costs of ESC too.
    let sums = sums(of_classes(&[(Class::Sorted32, 500), (Class::Narrow, 40)]), USUAL);
    let chosen = |factor: f64| -> Result<bool> {
        let cost = gpu().of("esc").unwrap().coefficients().map(|usual| usual * factor);
        Ok(share_out(&sums, &priced(gpu().with("esc", MethodCost::new(cost)?)?), true).is_none())
    };
    let chosen: Vec<_> = [10.0, 1.0, 0.5, 0.1, 0.01].into_iter().map(chosen).collect::<Result<_>>()?;
    assert!(chosen.is_sorted() && chosen[4] && !chosen[0], "{chosen:?}");
    Ok(())
}

/// The facts that the host knows about A·B with `columns` columns. A and B have `a_nnz` and `b_nnz`
/// entries, and their longest columns have `longest` entries.
fn known(columns: usize, [a_nnz, inner, b_nnz]: [usize; 3], squares: u64, longest: [u32; 2]) -> Known {
    let lengths = longest.map(|longest| Some(ColumnLengths { longest, squares }));
    Known::new(columns, [a_nnz, inner, inner], b_nnz, lengths)
}

#[test]
fn products_are_expected_from_the_lengths_of_columns() {
    // A stencil of 27 points on a grid without a border.
    assert_eq!(known(1000, [27_000, 1000, 27_000], 729_000, [27; 2]).products, 729_000);
    // A long row and a long column, which are multiplied with each other.
    assert_eq!(known(1000, [2998, 1000, 2998], 1_003_996, [1000; 2]).products, 1_003_996);
    let unknown = Known::new(1000, [2998, 1000, 1000], 2998, [None; 2]);
    assert_eq!((unknown.products, unknown.b_entries, unknown.longest_b), (8988, 2998, None));
    assert_eq!(Known::new(0, [0, 0, 0], 0, [None; 2]).products, 0);
}

#[test]
fn merges_make_long_columns_dearer_for_esc() {
    let whole = Whole { short: 576, longest: 3072 };
    let weights = |length: u64, longest| whole.weighed(1000 * length, 1000, longest) as f64 / (1000 * length) as f64;
    let lengths = [1, 576, 577, 1152, 1153, 36_864];
    assert_eq!(lengths.map(|length| weights(length, None)), [1.0, 1.0, 1.0, 1.0, 1.0, 1.4]);
    // Work-groups have the size of the longest column, so long columns fill them.
    assert_eq!(lengths.map(|length| weights(length, Some(length))), [0.8, 0.8, 0.6, 0.6, 0.6, 1.4]);
    assert_eq!([1200, 1600].map(|longest| weights(1152, Some(longest))), [0.6, 0.8]);
    // A column of 36,864 products is cut into twelve parts, or into 64 on devices whose groups have
    // one size.
    let of_one_size = Whole { longest: 0, ..whole };
    assert_eq!(of_one_size.weighed(36_864, 1, Some(36_864)), 36_864 + 36_864 * 6 / 5);
    assert_eq!([3072, 3073].map(|longest| weights(1000, Some(longest))), [0.8, 1.0]);
    let smallest = Whole { short: 1, longest: 0 };
    assert_eq!((whole.weighed(0, 0, None), smallest.weighed(u64::MAX, 1, None)), (0, u64::MAX));
}
