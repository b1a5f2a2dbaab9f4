//! Tests of products in ranges, on any device. Products are compared with the reference and with
//! models.
mod blocks;

use super::{
    BlockKernels, RangeMemory, RangeProfile, RangeSums, RangeTuning, Ranged, ScalarKernels, Sides,
    bound::{bound, profile_of},
    cuts::cuts,
    kernels::RangeKernels,
};
use crate::{
    BlockShape, Cbc, Csc, Element, Error, Matrix, Result,
    device::{DeviceKind, Work, test_device},
    generate::Random,
    matrix::{CbcView, MatrixKind},
    product::{
        bands::HostColumns,
        esc::tests::without_products,
        terms::{BandConsumer, Bound, CountedProduct, Counts, Operands, Pipeline, Spec, Way},
        tuning::Tuning,
    },
    reference,
    resident::DeviceCbc,
    tuning::MethodCosts,
};

/// Tuning for small matrices. ESC is never chosen, and all columns are sampled.
fn small() -> RangeTuning {
    RangeTuning {
        groups: 2,
        ranges: 5,
        parts: 3,
        one_pass_percent: 1,
        sampled_products: 0,
        ahead: if test_device().info().kind == DeviceKind::Cpu { 3 } else { 0 },
        direct: true,
        multiplications: None,
        multiplication_ps: 50,
        costs: MethodCosts::of_kind(DeviceKind::Cpu),
        esc: false,
    }
}

/// Tuning for small matrices that are computed in two passes.
fn in_two_passes() -> RangeTuning {
    RangeTuning { one_pass_percent: 101, ..small() }
}

/// A matrix whose columns have the given rows. Sums of the values of the matrix depend on their
/// order.
fn matrix<T: Element>(nrows: usize, columns: &[Vec<u64>]) -> Result<Csc<T>> {
    let value = |i: usize| ((i * 2_654_435_761) % 1009) as f64 * 2f64.powi((i % 5) as i32 - 8) - 1.5;
    let of_column =
        |(col, rows): (usize, &Vec<u64>)| rows.iter().map(move |&row| (row as usize, col)).collect::<Vec<_>>();
    let places: std::collections::BTreeSet<_> = columns.iter().enumerate().flat_map(of_column).collect();
    let entries = places.into_iter().enumerate().map(|(i, (row, col))| (row, col, T::from_f64(value(i))));
    Csc::from_triplets(nrows, columns.len(), entries)
}

/// A matrix A of `nrows` rows. The columns of A are empty, or have one row, neighbouring rows, any
/// rows, or rows just before and after the borders of words, lines and tops.
fn a<T: Element>(nrows: u64, ncols: u64) -> Result<Csc<T>> {
    let mut random = Random::new(7);
    let edges: Vec<u64> = [0, 63, 64, 65, 127, 4095, 4096, 4097, 262_143, 262_144, nrows - 1]
        .into_iter()
        .filter(|&row| row < nrows)
        .collect();
    let column = |k: u64, random: &mut Random| match k % 6 {
        0 => vec![],
        1 => vec![k % nrows],
        2 => (0..20).map(|i| (k + i) % nrows).collect(),
        3 => edges.clone(),
        4 => random.distinct(12.min(nrows), nrows),
        _ => vec![nrows - 1],
    };
    matrix(nrows as usize, &(0..ncols).map(|k| column(k, &mut random)).collect::<Vec<_>>())
}

/// A matrix B whose columns have the given lengths.
fn b<T: Element>(nrows: u64, lengths: &[u64]) -> Result<Csc<T>> {
    let mut random = Random::new(11);
    matrix(nrows as usize, &lengths.iter().map(|&length| random.distinct(length, nrows)).collect::<Vec<_>>())
}

/// Computes C within `limit` bytes besides the operands. Returns C, the counts of the product, and
/// the bytes used for C.
fn run<T: Element, S: RangeSums>(
    (a, b): (CbcView<'_, T>, CbcView<'_, T>),
    tuning: &RangeTuning,
    (c_stride, limit): (usize, u64),
) -> Result<(Cbc<T>, Counts, u64)> {
    let device = test_device();
    let uploading = Work::new(&device, None);
    let (x, y) = (DeviceCbc::upload(&uploading, a)?, DeviceCbc::upload(&uploading, b)?);
    let operands = Operands { a: &x, b: &y, c_stride, consumer: BandConsumer::ANY };
    let spec = Spec::new(T::TYPE, a.shape, b.shape, x.nrows);
    let of_esc = Tuning::new(device.info(), a.shape, b.shape).with_strides(operands.strides());
    let ranged = Ranged::<S>::new(&device, &spec, of_esc, tuning)?;
    let (work, mut c) = (Work::new(&device, Some(limit)), HostColumns::new(&operands));
    let counts = ranged.multiply(&work, &operands, &mut |band| {
        work.wait()?;
        c.append(&band, &Work::new(&device, None))
    })?;
    Ok((c.finish(MatrixKind::Cbc).typed()?, counts, work.most_used_bytes()))
}

/// Checks that C has the bits of the reference, and compares the product with its bound. Returns
/// the counts of the product.
fn check<T: Element>(factors: (&Csc<T>, &Csc<T>), tuning: &RangeTuning, limit: u64) -> Result<(Counts, u64)> {
    check_payload::<Csc<T>, ScalarKernels>(factors, tuning, (1, limit))
}

/// Checks a product of any matrices in the same ways as `check`. Entries of C are `c_stride`
/// elements apart.
fn check_payload<M: Matrix, S: RangeSums>(
    factors: (&M, &M),
    tuning: &RangeTuning,
    (c_stride, limit): (usize, u64),
) -> Result<(Counts, u64)> {
    let (a, b) = (factors.0.as_cbc(), factors.1.as_cbc());
    let (have, counts, used) = run::<_, S>((a, b), tuning, (c_stride, limit))?;
    let (want, have) = (reference::multiply(factors.0, factors.1)?, have.as_cbc());
    let (want, area) = (want.as_cbc(), want.as_cbc().shape.area());
    assert!(have.pattern == want.pattern && have.stride == c_stride, "{tuning:?} within {limit}");
    let blocks = have.values.chunks_exact(c_stride).zip(want.values.chunks_exact(area));
    for (entry, (have, want)) in blocks.enumerate() {
        let padded = have.iter().zip(want.iter().copied().chain(std::iter::repeat(M::Element::from_f64(0.0))));
        for (have, want) in padded {
            let same = bytemuck::bytes_of(have) == bytemuck::bytes_of(&want);
            let nan = have.to_f64().is_nan() && want.to_f64().is_nan();
            assert!(same || nan, "entry {entry}: {have}, {want} by {tuning:?}");
        }
    }
    let device = test_device();
    let nrows = have.pattern.nrows();
    let memory = RangeMemory::new(device.info(), tuning, M::Element::TYPE, (nrows, c_stride), BandConsumer::ANY);
    let counted = CountedProduct::new(a.pattern, b.pattern);
    let Bound { bands, peak_bytes } = bound(&memory, &counted, limit.min(device.info().global_bytes))?;
    assert_eq!(bands.is_none(), counts.pipeline == Pipeline::Esc, "{tuning:?} within {limit}");
    assert_eq!(counted.all_products(), counts.products, "{tuning:?} within {limit}");
    // The bound is computed from counted entries, so it has the number of bands of the product. One
    // band takes the predicted memory.
    assert!(bands.is_none_or(|bands| bands == counts.bands), "{bands:?} of {counts:?} within {limit}");
    assert!(bands.is_none() || used <= peak_bytes, "{used} of {peak_bytes} bytes by {tuning:?} within {limit}");
    assert!(bands != Some(1) || used == peak_bytes, "{used} of {peak_bytes} bytes by {tuning:?} within {limit}");
    let of_bins = counts.bins.iter().map(|bin| bin.products).sum::<u64>();
    assert_eq!(of_bins, counts.products, "{:?}", counts.bins);
    Ok((counts, used))
}

fn way(counts: &Counts) -> Option<Way> {
    match counts.pipeline {
        Pipeline::Ranges(way) => Some(way),
        _ => None,
    }
}

#[test]
fn small_products_in_ranges_have_the_bits_of_the_reference() -> Result<()> {
    let (a, several) = (a::<f64>(70, 12)?, b(12, &[3, 0, 1, 5, 12, 2])?);
    assert_eq!(way(&check((&a, &several), &small(), u64::MAX)?.0), Some(Way::OnePass));
    assert_eq!(way(&check((&a, &several), &in_two_passes(), u64::MAX)?.0), Some(Way::TwoPasses));
    assert_eq!(way(&check((&a, &b(12, &[1, 0, 1])?), &small(), u64::MAX)?.0), Some(Way::Exact));
    Ok(())
}

/// Checks one pass and two, with copied columns and without, and several numbers of groups and
/// ranges.
fn check_all<T: Element>(a: &Csc<T>, b: &Csc<T>) -> Result<()> {
    for tuning in [small(), in_two_passes()] {
        check((a, b), &tuning, u64::MAX)?;
        check((a, b), &RangeTuning { direct: false, groups: 1, ranges: 1, parts: 1, ..tuning }, u64::MAX)?;
    }
    check((a, b), &RangeTuning { groups: 3, ranges: 200, parts: 17, sampled_products: u64::MAX, ..small() }, u64::MAX)?;
    Ok(())
}

#[test]
fn every_element_and_every_range_of_rows() -> Result<()> {
    let lengths = [1, 0, 2, 3, 9, 31, 0, 64, 1, 200, 1, 0];
    for nrows in [1, 63, 64, 65, 4096, 4097, 262_145, 300_000] {
        check_all(&a::<f64>(nrows, 300)?, &b(300, &lengths)?)?;
    }
    check_all(&a::<f32>(5000, 300)?, &b(300, &lengths)?)?;
    check_all(&a::<half::f16>(5000, 300)?, &b(300, &lengths)?)
}

/// Runs of 1024 products and more are cut into parts.
#[test]
fn long_columns_are_cut_as_in_the_reference() -> Result<()> {
    let a = |columns: u64| matrix(67, &(0..columns).map(|k| vec![0, 3, 5 + k % 62]).collect::<Vec<_>>());
    let lengths = [1, 1023, 1024, 1025, 2, 2048, 2049, 3000, 1024];
    check_all(&a(3000)?, &b::<f64>(3000, &lengths)?)?;
    let halves = |of: &Csc<f64>| {
        Csc::<half::f16>::new(
            of.pattern().clone(),
            of.values().iter().map(|&value| half::f16::from_f64(value / 64.0)).collect(),
        )
    };
    check_all(&halves(&a(3000)?)?, &halves(&b(3000, &lengths)?)?)
}

/// A has far more rows than a column of C has products. One column of C has runs that are cut.
#[test]
fn sparse_columns_have_the_bits_of_the_reference() -> Result<()> {
    let a = matrix::<f64>(1_200_000, &(0..1100).map(|k| vec![7, 100 + 1000 * k]).collect::<Vec<_>>())?;
    let lengths: Vec<u64> = (0..60).map(|col| if col == 40 { 1100 } else { col % 4 }).collect();
    check((&a, &b(1100, &lengths)?), &RangeTuning { groups: 1, ranges: 1, parts: 1, ..small() }, u64::MAX)?;
    check_all(&a, &b(1100, &lengths)?)
}

#[test]
fn special_values_are_those_of_the_reference() -> Result<()> {
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0, -1.0, f64::MIN_POSITIVE, f64::MAX];
    let of = |matrix: Csc<f64>| {
        let values = (0..matrix.nnz()).map(|i| special[i * 7 % 9 * (i % 4) % 9]).collect();
        Csc::new(matrix.pattern().clone(), values)
    };
    check_all(&of(a(130, 60)?)?, &of(b(60, &[1, 2, 1, 20, 60, 3, 1, 7])?)?)
}

#[test]
fn nothing_times_something_is_empty() -> Result<()> {
    for (a, b) in without_products()? {
        check_all(&a, &b)?;
    }
    // ESC would compute a C with so many rows if it had entries.
    let wide = test_device().upload(&Csc::from_triplets(1 << 21, 1 << 21, [(0, 1, 1.0)])?)?;
    let (c, report) = crate::Product::of(&wide, &wide).run_with_report()?;
    assert_eq!((c.nnz(), report.products), (0, 0));
    Ok(())
}

/// The device's analysis and ranges are equal to the analysis and ranges of the models.
#[test]
fn small_columns_are_analysed_as_by_the_models() -> Result<()> {
    let device = test_device();
    let work = Work::new(&device, None);
    let a = a::<f64>(200, 30)?;
    for lengths in [&[4, 0, 1, 9, 1, 0, 30][..], &[0, 0, 1], &[5], &[0, 0], &[1; 40], &[30, 1, 1, 1]] {
        let b = b::<f64>(30, lengths)?;
        let (x, y) = (DeviceCbc::upload(&work, a.as_cbc())?, DeviceCbc::upload(&work, b.as_cbc())?);
        let tuning = RangeTuning { ranges: 4, parts: 5, ..small() };
        let kernels = RangeKernels::<ScalarKernels>::new(
            &device,
            &Spec::new(f64::TYPE, BlockShape::SCALAR, BlockShape::SCALAR, 200),
            &tuning,
        )?;
        let analysed = kernels.analyse(&work, (&x.pattern, &y.pattern), 2)?;
        let counted = CountedProduct::new(a.pattern(), b.pattern());
        let narrow: Vec<u32> = counted.products.iter().map(|&of| of as u32).collect();
        assert_eq!(analysed.products.download(&work)?, narrow);
        let begin = cuts(&narrow, tuning.ranges);
        let bound: Vec<u32> = begin.iter().map(|&col| narrow[..col].iter().sum()).collect();
        let begin: Vec<u32> = begin.into_iter().map(|col| col as u32).collect();
        // If there are no products, there are no ranges to compare.
        if bound[tuning.ranges] > 0 {
            assert_eq!((analysed.ranges.begin.download(&work)?, analysed.ranges.from.download(&work)?), (begin, bound));
        }
        let samples = b.ncols();
        assert_eq!(analysed.profile, profile_of(&tuning, &counted, samples));
    }
    Ok(())
}

/// As the memory limit decreases, a product is computed in one pass, in two passes, in bands, and
/// finally by ESC or not at all.
#[test]
fn a_limit_changes_the_way_and_no_bit() -> Result<()> {
    let (a, b) = (a::<f64>(3000, 600)?, b(600, &(0..400).map(|i| i * 7 % 60).collect::<Vec<_>>())?);
    let (whole, most) = check((&a, &b), &small(), u64::MAX)?;
    assert_eq!(way(&whole), Some(Way::OnePass));
    let (counted, less) = check((&a, &b), &small(), most / 2)?;
    assert_eq!((way(&counted), counted.bands), (Some(Way::TwoPasses), 1));
    assert_eq!(check((&a, &b), &small(), less)?.1, less, "what was enough is enough again");
    let cut = |counts: &Counts| counts.bands > 1 || way(counts).is_none();
    bands_until_refused(less, 8, |limit| check((&a, &b), &small(), limit), cut);
    Ok(())
}

/// Lowers the limit by parts of it, from below `limit` to the first that is refused. The products
/// within the others are `cut`, some of them into many bands.
fn bands_until_refused(
    mut limit: u64,
    part: u64,
    within: impl Fn(u64) -> Result<(Counts, u64)>,
    cut: impl Fn(&Counts) -> bool,
) {
    let mut bands = 0;
    let refused = loop {
        limit -= limit / part;
        match within(limit) {
            Ok((counts, used)) => {
                assert!(used <= limit && cut(&counts), "{counts:?} within {limit}");
                bands = bands.max(if way(&counts).is_some() { counts.bands } else { 0 });
            }
            Err(error) => break error,
        }
    };
    assert!(bands > 3, "{bands} bands");
    assert!(matches!(refused, Error::Memory { needed, available, .. } if needed > available), "{refused}");
}

#[test]
fn esc_takes_what_is_one_column_or_next_to_nothing() {
    let tuning = RangeTuning { esc: true, groups: 64, ..small() };
    let of =
        |products, longest| RangeProfile { products, longest, columns: 1000, longest_b: 9, ..RangeProfile::default() };
    let way = |tuning: &RangeTuning, profile, rows| tuning.way(&profile, Sides { rows, columns: 1000 }, true);
    assert_eq!(way(&tuning, of(1 << 26, 1 << 16), 1 << 20), Way::OnePass);
    assert_eq!(way(&tuning, of(1 << 26, 1 << 26), 1 << 20), Way::Esc, "63 groups would wait");
    assert_eq!(way(&RangeTuning { groups: 1, ..tuning }, of(1 << 26, 1 << 26), 1 << 20), Way::OnePass);
    let blocks = |multiplications| RangeTuning { groups: 2, multiplications: Some(multiplications), ..tuning };
    assert_eq!(way(&blocks(512), of(1 << 20, 1 << 20), 1 << 20), Way::Esc, "multiplications take longest");
    assert_eq!(way(&blocks(8), of(1 << 20, 1 << 20), 1 << 20), Way::Kept);
    assert_eq!(way(&tuning, of(100, 9), 1 << 24), Way::Esc, "a bitmap of 16 M rows");
    assert_eq!(way(&tuning, of(100, 9), 1 << 17), Way::OnePass, "sums in a cache");
    for wanted in [small(), RangeTuning { direct: false, ..small() }] {
        assert_eq!(way(&wanted, of(100, 9), 1 << 24), Way::OnePass, "ESC was not allowed");
        assert_eq!(way(&wanted, of(1 << 40, 1 << 31), 1 << 24), Way::Esc, "offsets of products have 31 bits");
    }
}

#[test]
fn samples_decide_between_one_pass_and_two() {
    let tuning = RangeTuning { one_pass_percent: 10, ..small() };
    let way = |sampled, fits| {
        let profile = RangeProfile {
            products: 10_000,
            longest: 9,
            columns: 1000,
            longest_b: 9,
            sampled,
            ..RangeProfile::default()
        };
        tuning.way(&profile, Sides { rows: 1000, columns: 1000 }, fits)
    };
    assert_eq!(
        [way([10, 100], true), way([9, 100], true), way([0, 0], true)],
        [Way::OnePass, Way::TwoPasses, Way::OnePass]
    );
    assert_eq!(way([100, 100], false), Way::TwoPasses);
}
