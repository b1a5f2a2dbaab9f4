//! Tests products with every class of columns and of tasks. Results have the bits of the reference.
mod bands;
mod bounds;
mod direct;
mod equal;
mod hash;
mod hubs;
mod long;

use super::{Adaptive, KeepRule, Kept, KeptSums, find::Finder, kept::KeptNumbers};
use crate::{
    BlockShape, Csc, Element, Matrix, Method, Result,
    device::{DeviceKind, Teams, Work, test_device},
    element::Arithmetic,
    generate::Random,
    matrix::MatrixKind,
    primitives::SortNumbers,
    product::{
        Bin, Product,
        bands::HostColumns,
        choose::{AdaptiveNumbers, Prices},
        esc::tests::without_products,
        terms::{
            BandConsumer, Class, Counts, Destination, MOST_SORTED_PRODUCTS, Operands, Pipeline, SORTED_PRODUCTS,
            Scaling, Spec, sorted_class,
        },
        tuning::{AdaptiveTuning, Tuning},
    },
    reference,
    resident::DeviceCbc,
    tuning::{MethodCost, MethodCosts, StageNumbers},
};
use std::collections::BTreeSet;

/// A matrix whose column j has the rows of element j of `columns`. Sums of the values of the matrix
/// depend on their order.
fn matrix<T: Element>(nrows: usize, columns: impl IntoIterator<Item = Vec<u64>>) -> Result<Csc<T>> {
    let mut triplets = Vec::new();
    let mut ncols = 0;
    for (col, mut rows) in columns.into_iter().enumerate() {
        rows.sort_unstable();
        rows.dedup();
        triplets.extend(rows.into_iter().map(|row| (row as usize, col)));
        ncols = col + 1;
    }
    let value = |i: usize| ((i * 2_654_435_761) % 1009) as f64 * 2f64.powi((i % 5) as i32 - 8) - 1.5;
    let entries = triplets.into_iter().enumerate().map(|(i, (row, col))| (row, col, T::from_f64(value(i))));
    Csc::from_triplets(nrows, ncols, entries)
}

/// Factors A and B whose product has columns of every class, cut into pieces and windows.
/// Neighbouring rows of a column are `spread` rows apart.
fn operands<T: Element>(spread: u64, wide: u64) -> Result<(Csc<T>, Csc<T>)> {
    let mut random = Random::new(7);
    let n = 3000_u64;
    let column = |k: u64, random: &mut Random| match k % 7 {
        0 => vec![],
        1 => (0..3).map(|i| (k + i) * spread % wide).collect(),
        2 => (0..40).map(|i| (k + 2 * i) * spread % wide).collect(),
        3 => vec![k * spread % wide],
        // The rows of the long columns. Each piece of a hub visits all entries of a column.
        4 => random.distinct(6, wide),
        5 => (0..70).map(|i| (k * 3 + i) % 500).collect(),
        _ => random.distinct(1 + k % 33, 2000),
    };
    let a = matrix(wide as usize, (0..n).map(|k| column(k, &mut random)).collect::<Vec<_>>())?;
    // B has one column of each long length, because long columns take most of a test's time. The
    // longest column has two pieces of 1024 entries and a short one.
    let short = [0, 1, 2, 3, 9, 31, 32, 33, 64, 65];
    let lengths = short.into_iter().chain([200, 600, 1025, 2100]).chain(short.into_iter().cycle());
    let b = matrix(n as usize, lengths.take(33).map(|length| random.distinct(length, n)).collect::<Vec<_>>())?;
    Ok((a, b))
}

/// Computes C = A·B by the classes of `tuning`, directly and by a plan, and compares it with the
/// reference. Returns the methods that computed C.
fn check<T: Element>(a: &Csc<T>, b: &Csc<T>, tuning: &AdaptiveTuning) -> Result<Vec<Method>> {
    check_equal(a, b, &reference::multiply(a, b)?, tuning)
}

/// Computes C = A·B as `check` does, and compares it with `want`.
fn check_equal<T: Element>(a: &Csc<T>, b: &Csc<T>, want: &Csc<T>, tuning: &AdaptiveTuning) -> Result<Vec<Method>> {
    let work = Work::new(&test_device(), None);
    let (x, y) = (DeviceCbc::upload(&work, a.as_cbc())?, DeviceCbc::upload(&work, b.as_cbc())?);
    let operands = Operands { a: &x, b: &y, c_stride: 1, consumer: BandConsumer::ANY };
    let (c, counts, used) = run(&operands, tuning, None)?;
    assert_equal(&c, want, tuning);
    bounds::check_bound((a, b), tuning, u64::MAX, (&counts, used - x.bytes() - y.bytes()))?;
    let of_bins = counts.bins.iter().fold((0, 0), |sum, bin| (sum.0 + bin.columns, sum.1 + bin.products));
    assert_eq!((of_bins.1, counts.bands), (counts.products, 1), "{:?}", counts.bins);

    let (numbers, teams) = numbers();
    let spec = Spec::new(T::TYPE, BlockShape::SCALAR, BlockShape::SCALAR, a.nrows());
    let kept = KeptNumbers { spec, tuning: numbers, adaptive: *tuning };
    let kept = KeptSums::tuned(&work, (&x.pattern, &y.pattern), teams, &kept, KeepRule::Always)?;
    assert!(counts.bins.iter().all(|bin| bin.predicted_ms.is_some()), "{:?}", counts.bins);
    let mut methods: Vec<_> = counts.bins.iter().map(|bin| bin.method).collect();
    methods.sort_by_key(|method| Method::ALL.iter().position(|known| known == method));
    methods.dedup();
    let of_esc = methods.iter().any(|method| [Method::Esc, Method::EscLocal].contains(method));
    match kept {
        Some(kept) => {
            // A plan does not compute columns by ESC.
            assert!((of_esc && tuning.esc) || kept.counts.bins == counts.bins, "{tuning:?}");
            check_executions(&work, (&x, &y), (a, b, want), &kept)?;
        }
        None => assert!(counts.products == 0 || of_esc, "{methods:?} by {tuning:?}"),
    }
    Ok(methods)
}

fn assert_equal<T: Element>(c: &Csc<T>, want: &Csc<T>, tuning: &AdaptiveTuning) {
    let arrays = |of: &Csc<T>| (of.pattern().col_ptr().to_vec(), of.pattern().row_idx().to_vec());
    assert_eq!(arrays(c), arrays(want), "{tuning:?}");
    for col in 0..want.ncols() {
        let entries = want.pattern().entries(col);
        let differs = |&at: &usize| bytemuck::bytes_of(&c.values()[at]) != bytemuck::bytes_of(&want.values()[at]);
        let places: Vec<_> = entries.clone().filter(differs).map(|at| at - entries.start).collect();
        // The numbers of entries in their column show in which pieces of the column they are.
        assert!(
            places.is_empty(),
            "{}: {} of the {} entries of column {col} differ: numbers {:?} by {tuning:?}",
            T::NAME,
            places.len(),
            entries.len(),
            &places[..places.len().min(8)],
        );
    }
}

/// The tuning of ESC, and the teams of the device.
fn numbers() -> (Tuning, Teams) {
    let device = test_device();
    let numbers = Tuning::new(device.info(), BlockShape::SCALAR, BlockShape::SCALAR);
    (numbers, Teams::of(device.info()).expect("work-groups of 32 items"))
}

/// Computes C within `limit` bytes, which include the operands. Returns C, its counts, and the
/// bytes that were used.
fn run<T: Element>(
    operands: &Operands<'_>,
    tuning: &AdaptiveTuning,
    limit: Option<u64>,
) -> Result<(Csc<T>, Counts, u64)> {
    let (device, (numbers, teams)) = (test_device(), numbers());
    let spec = Spec::new(T::TYPE, BlockShape::SCALAR, BlockShape::SCALAR, operands.a.nrows);
    let adaptive = Adaptive::new(&device, teams, &spec, numbers, tuning)?;
    let (work, mut c) = (Work::new(&device, limit), HostColumns::new(operands));
    work.count_operand(operands.a.bytes() + operands.b.bytes());
    let counts = adaptive.multiply(&work, operands, &mut |band| {
        work.wait()?;
        c.append(&band, &Work::new(&device, None))
    })?;
    Ok((c.finish(MatrixKind::Csc).typed()?, counts, work.most_used_bytes()))
}

/// Executes a plan: with values side by side and with gaps between them, and with other values.
/// Compares the results with the reference.
fn check_executions<T: Element>(
    work: &Work,
    (x, y): (&DeviceCbc, &DeviceCbc),
    (a, b, want): (&Csc<T>, &Csc<T>, &Csc<T>),
    Kept { sums, c, .. }: &Kept,
) -> Result<()> {
    type Of<T> = <T as Element>::Arithmetic;
    let twice = |of: &Csc<T>| -> Result<Csc<T>> {
        let values = of.values().iter().map(|value| T::from_f64(2.0 * value.to_f64()));
        Csc::new(of.pattern().clone(), values.collect())
    };
    let (twice_b, twice_want) = (twice(b)?, twice(want)?);
    assert!(c.download(work)? == *want.pattern());
    // The first three numbers are the distances between values of A, B and C, in elements. The
    // fourth number is the place of C's first entry.
    for ([of_a, of_b, of_c], first, alpha, beta) in [([1, 1, 1], 3, -2.0, 0.5), ([2, 3, 2], 0, 1.0, 0.0)] {
        let (b, want) = if first == 3 { (&twice_b, &twice_want) } else { (b, want) };
        let apart = |values: &[T], stride: usize| -> Vec<T> {
            values
                .iter()
                .flat_map(|&value| (0..stride).map(move |i| if i == 0 { value } else { T::from_f64(7.0) }))
                .collect()
        };
        let matrix = |of: &DeviceCbc, values: &[T], stride| -> Result<_> {
            let (pattern, shape, values) = (of.pattern.clone(), of.shape, work.upload(&apart(values, stride))?);
            Ok(DeviceCbc { pattern, shape, stride, values: values.into_any() })
        };
        let (x, y) = (matrix(x, a.values(), of_a)?, matrix(y, b.values(), of_b)?);
        let old: Vec<T> = (0..(first + want.nnz()) * of_c).map(|i| T::from_f64((i % 17) as f64 - 8.0)).collect();
        // A plan rounds sums of type `f16` once, after it has scaled them. The reference rounds
        // sums of type `f16` before scaling, so the test does not scale them.
        let (alpha, beta) = if T::STORAGE_ROUNDOFF == 0.0 { (alpha, beta) } else { (1.0, 0.0) };
        let scaling = Scaling::of(T::TYPE, alpha, beta);
        let (alpha, beta) = (Of::<T>::nearest(alpha), Of::<T>::nearest(beta));
        let mut values = work.upload(&old)?;
        let to = Destination { values: &mut values, stride: of_c, first };
        sums.execute(work, (&x, &y), scaling, c, to)?;
        let found = values.download(work)?;
        for (i, (found, &old)) in found.iter().zip(&old).enumerate() {
            let entry = (i / of_c).checked_sub(first).filter(|_| i % of_c == 0);
            let expected = entry.map_or(old, |entry| {
                let scaled = alpha * want.values()[entry].widen();
                T::narrow(if beta == Of::<T>::ZERO { scaled } else { scaled + beta * old.widen() })
            });
            assert_eq!(bytemuck::bytes_of(found), bytemuck::bytes_of(&expected), "{found}, {expected} at {i}");
        }
    }
    Ok(())
}

/// Computes C = A·A and measures every bin alone.
#[test]
fn explained_bins_have_the_time_of_their_kernels() -> Result<()> {
    let (a, _) = operands::<f64>(11, 3000)?;
    let products = |col| a.pattern().column(col).iter().map(|&k| a.pattern().entries(k as usize).len() as u64).sum();
    let sorted = |col| sorted_class(products(col), MOST_SORTED_PRODUCTS).filter(|_| products(col) > 0);
    // The classes of 48 and of 64 products need the same memory, so they are one bin.
    let one_bin = |class| if SORTED_PRODUCTS[class] == 48 { class + 1 } else { class };
    let classes: BTreeSet<_> = (0..a.ncols()).filter_map(sorted).map(one_bin).collect();
    assert!(classes.len() > 10);
    let device = test_device();
    let a = device.upload(&a)?;
    for method in [Method::Direct, Method::Sort, Method::Dense, Method::Hub, Method::Hash, Method::Esc] {
        let product = Product::of(&a, &a).method(method);
        let (c, plain) = product.run_with_report()?;
        let (explained, report) = product.explained().run_with_report()?;
        assert!(explained.download()? == c.download()?, "{method}");
        let busy: f64 = report.stages.iter().filter_map(|stage| stage.ms).sum();
        // If ESC computes columns that the method cannot compute, the report has no stages for
        // them.
        let by_esc = |bin: &Bin| matches!(bin.method, Method::Esc | Method::EscLocal);
        let of_stages = |bin: &&Bin| bin.method == method || !by_esc(bin);
        let of_bins: f64 = report.bins.iter().filter(of_stages).filter_map(|bin| bin.measured_ms).sum();
        assert!(of_bins > 0.0 && of_bins <= busy * 1.0001, "{method}: {of_bins} of {busy} ms");
        assert!(report.bins.iter().all(|bin| bin.measured_ms > Some(0.0)), "{method}: {:?}", report.bins);
        let unmeasured = |bin: &Bin| Bin { measured_ms: None, ..*bin };
        assert_eq!(report.bins.iter().map(unmeasured).collect::<Vec<_>>(), plain.bins, "{method}");
        // If launches cost nothing, each class is a bin. If launches are expensive, all classes are
        // one bin.
        let bins = |launch_us: f64| -> Result<usize> {
            let cost = MethodCost::new([launch_us, 0.0, 0.0, 1.0])?;
            let costs = MethodCosts::of_kind(DeviceKind::Gpu).with("sort", cost)?;
            let (c, report) = Product::of(&a, &a).method(method).costs(costs).run_with_report()?;
            assert!(c.download()? == explained.download()?, "{method}");
            Ok(report.bins.iter().filter(|bin| bin.method == Method::Sort).count())
        };
        let expected = if method == Method::Sort { [classes.len(), 1] } else { [0, 0] };
        assert_eq!([bins(0.0)?, bins(1e9)?], expected, "{method}");
    }
    Ok(())
}

/// Costs with which every class is a bin: launches cost nothing, but columns cost something. ESC is
/// expensive.
fn apart() -> Prices {
    let cost = |name| match name {
        "esc" => MethodCost::new([1e9, 0.0, 0.0, 0.0]),
        "direct" => MethodCost::new([0.0; 4]),
        _ => MethodCost::new([0.0, 0.0, 0.0, 1.0]),
    };
    let with =
        |costs: MethodCosts, name| cost(name).and_then(|cost| costs.with(name, cost)).expect("costs that can be");
    let costs = MethodCosts::names().fold(MethodCosts::of_kind(DeviceKind::Gpu), with);
    Prices::new(&AdaptiveNumbers::of(DeviceKind::Gpu), SortNumbers::of(DeviceKind::Gpu), costs, MOST_SORTED_PRODUCTS)
}

fn tuning(wanted: Method) -> AdaptiveTuning {
    // The costs are those of GPUs, on which `auto` uses these methods.
    by_costs(wanted, MethodCosts::of_kind(DeviceKind::Gpu))
}

fn by_costs(wanted: Method, costs: MethodCosts) -> AdaptiveTuning {
    // ESC would be faster for products as small as these.
    let of_device = AdaptiveTuning { esc: false, ..AdaptiveTuning::new(test_device().info(), wanted, costs, 20) };
    // In a column with 3000 entries, an entry has three products in each piece.
    let hub_percent = of_device.hub_percent.saturating_mul(4);
    AdaptiveTuning { few_columns: 0, far_products: 0, equal_products: 1, hub_percent, ..of_device }
}

#[test]
fn every_class_has_the_bits_of_the_reference() -> Result<()> {
    for (spread, wide) in [(1, 3000), (11, 40_000), (300, 900_000)] {
        let (a, b) = operands::<f64>(spread, wide)?;
        let all = [Method::Direct, Method::Sort, Method::Dense, Method::Hub];
        assert_eq!(check(&a, &b, &tuning(Method::Auto))?, all);
        assert_eq!(check(&a, &b, &tuning(Method::Dense))?, [Method::Dense]);
    }
    let (a, b) = operands::<f32>(11, 40_000)?;
    check(&a, &b, &tuning(Method::Auto))?;
    let (a, b) = operands::<half::f16>(11, 40_000)?;
    check(&a, &b, &tuning(Method::Auto))?;
    Ok(())
}

#[test]
fn a_method_without_costs_leaves_its_columns_to_others() -> Result<()> {
    let (a, b) = operands::<f64>(1, 3000)?;
    let usual = MethodCosts::of_kind(DeviceKind::Gpu);
    for (without, others) in [
        (Method::Direct, &[Method::Sort, Method::Dense, Method::Hub][..]),
        (Method::Sort, &[Method::Direct, Method::Dense, Method::Hub]),
        (Method::Hub, &[Method::Direct, Method::Sort, Method::Dense]),
        (Method::Dense, &[Method::Direct, Method::Sort, Method::Hash]),
        (Method::Hash, &[Method::Direct, Method::Sort, Method::Dense, Method::Hub]),
    ] {
        let costs = usual.without(without.cost_name())?;
        assert_eq!(check(&a, &b, &by_costs(Method::Auto, costs))?, others, "without {without}");
        assert_eq!(by_costs(without, costs).dense, [Method::Dense, Method::Hub].contains(&without));
    }
    let none = MethodCosts::names().filter(|name| *name != "esc").try_fold(usual, MethodCosts::without)?;
    let by_esc = check(&a, &b, &by_costs(Method::Auto, none))?;
    assert!(by_esc.iter().all(|method| [Method::Esc, Method::EscLocal].contains(method)), "{by_esc:?}");
    Ok(())
}

#[test]
fn columns_that_a_method_does_not_take_go_to_esc() -> Result<()> {
    let (a, b) = operands::<f64>(11, 40_000)?;
    let methods = check(&a, &b, &tuning(Method::Sort))?;
    assert!(methods.len() == 2 && methods.contains(&Method::Sort), "{methods:?}");
    Ok(())
}

#[test]
fn rows_without_room_are_found_again() -> Result<()> {
    let (a, b) = operands::<f64>(11, 40_000)?;
    for room_percent in [0, 30] {
        check(&a, &b, &AdaptiveTuning { room_percent, ..tuning(Method::Auto) })?;
    }
    Ok(())
}

#[test]
fn no_number_changes_a_bit() -> Result<()> {
    let (a, b) = operands::<f64>(11, 40_000)?;
    let usual = tuning(Method::Auto);
    let small = AdaptiveTuning {
        narrow_words: 8,
        medium_words: 40,
        wide_words: 100,
        big_products: 500,
        sampled_products: 0,
        ..usual
    };
    for tuning in [
        AdaptiveTuning { few_columns: 100, ..usual },
        // Wide columns are counted by single teams, in work-groups of two teams, and by whole
        // work-groups.
        AdaptiveTuning { sorted_most: 32, groups: 3, piece: 128, ..small },
        AdaptiveTuning { sorted_most: 32, groups: 3, paired_products: 1, ..small },
        AdaptiveTuning { sorted_most: 128, groups: 1, narrow_words: 1, medium_words: 1, ..usual },
    ] {
        check(&a, &b, &tuning)?;
    }
    let far = AdaptiveTuning { sorted_most: 32, far_words: 3, far_products: 1000, ..small };
    assert_eq!(check(&a, &b, &far)?, [Method::Direct, Method::Sort, Method::Dense, Method::Hub]);
    Ok(())
}

#[test]
fn nothing_times_something_is_empty() -> Result<()> {
    for (a, b) in without_products()? {
        check(&a, &b, &tuning(Method::Auto))?;
    }
    Ok(())
}
