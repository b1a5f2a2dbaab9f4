//! Products with dense matrices under the numbers of every kind of device, compared bit by bit with
//! the reference.
use super::{ApplyDense, DenseMethod, DenseNumbers, DeviceGcoo, multiply, multiply_by};
use crate::{
    BlockShape, Bsr, Cbc, Csc, Csr, Device, DeviceKind, DeviceMatrix, Element, Matrix, Planned, Result, Semiring,
    device::test_device,
    generate::Random,
    matrix::{DenseShape, DenseView, DenseViewMut, Grouping, Layout, Side},
    plan::Accum,
    reference::{multiply_dense, multiply_dense_over},
    tuning::StageNumbers,
};
use nalgebra::DMatrix;

fn number(random: &mut Random) -> f64 {
    // Terms cancel, so that another order of addition gives other bits.
    (2.0 * random.unit() - 1.0) * f64::powi(2.0, random.below(9) as i32 - 4)
}

/// A matrix with rows of 0 to 6 entries, some equal, and with the `long` rows of so many blocks.
pub(super) fn matrix<T: Element>(
    rows: usize,
    cols: usize,
    shape: BlockShape,
    long: &[(usize, usize)],
) -> Result<Cbc<T>> {
    let mut random = Random::new(7);
    let mut places = Vec::new();
    for row in 0..rows {
        match long.iter().find(|(line, _)| *line == row) {
            Some(&(_, length)) => places.extend((0..length).map(|col| (row, col))),
            None => places.extend((0..row / 3 % 7).map(|k| (row, (row / 5 * 31 + k * k * 17 + k) % cols))),
        }
    }
    places.sort_unstable();
    places.dedup();
    let block = |random: &mut Random| DMatrix::from_fn(shape.rows(), shape.cols(), |_, _| T::from_f64(number(random)));
    Cbc::from_triplets(rows, cols, shape, places.into_iter().map(|(i, j)| (i, j, block(&mut random))))
}

fn scalars<T: Element>(rows: usize, cols: usize, long: &[(usize, usize)]) -> Result<Csc<T>> {
    Csc::from_cbc(matrix(rows, cols, BlockShape::SCALAR, long)?)
}

/// The numbers of both kinds of devices, limited to what the device at hand supports.
fn numbers(device: &Device) -> [DenseNumbers; 2] {
    let most = device.info().max_group_size;
    [DenseNumbers::of(DeviceKind::Cpu), DenseNumbers::of(DeviceKind::Gpu).within(most)]
}

fn values<T: Element>(shape: DenseShape, seed: u64) -> Vec<T> {
    let mut random = Random::new(seed);
    (0..shape.len()).map(|_| T::from_f64(number(&mut random))).collect()
}

/// A request for a product.
#[derive(Debug, Clone, Copy)]
struct Case {
    side: Side,
    transposed: bool,
    n: usize,
    /// The layouts of D and of C, and the elements between their lines.
    layouts: [Layout; 2],
    gap: usize,
    semiring: Semiring,
    method: DenseMethod,
    numbers: DenseNumbers,
    packed: bool,
    /// Whether C is overwritten (beta is zero).
    fresh: bool,
}

/// Checks that a product has the reference's bits.
fn check<M: Matrix>(device: &Device, host: &M, case: Case) -> Result<()> {
    let a = device.upload(host)?;
    let pattern = a.pattern();
    let mut options = ApplyDense::<M>::with(&pattern, case.n).semiring(case.semiring).method(case.method);
    options.wanted.request.numbers = case.numbers;
    options = options.layouts(case.layouts[0], case.layouts[1]);
    options = if case.transposed { options.transposed() } else { options };
    options = if case.side == Side::Right { options.from_right() } else { options };
    // Only one of the two is made, because each compiles kernels.
    let (plan, packed) = match case.packed {
        true => (None, Some(options.pack(&a)?)),
        false => (Some(options.plan()?), None),
    };
    let sides = plan.as_ref().map(|plan| (plan.d_sides(), plan.c_sides()));
    let sides = sides.or(packed.as_ref().map(|packed| (packed.d_sides(), packed.c_sides())));
    let (d_sides, c_sides) = sides.expect("one of them");
    let shape = |(rows, cols): (usize, usize), layout| {
        let tight = DenseShape::new(rows, cols, layout);
        tight.with_leading(tight.leading + case.gap)
    };
    let (d_shape, c_shape) = (shape(d_sides, case.layouts[0]), shape(c_sides, case.layouts[1]));
    let (d, before) = (values::<M::Element>(d_shape, 1), values::<M::Element>(c_shape, 2));
    let d = DenseView::new(d_shape, &d)?;
    let (on_device, mut c) = (device.upload_dense(d)?, device.upload_dense(DenseView::new(c_shape, &before)?)?);
    let (alpha, beta) = if case.semiring == Semiring::PlusTimes { (0.75, -1.25) } else { (1.0, 1.0) };
    let beta = if case.fresh { 0.0 } else { beta };
    let mut want = before.clone();
    let into = Accum::into(&mut c).alpha(alpha).beta(beta);
    if let Some(plan) = plan {
        plan.execute((&a, &on_device), into)?;
    } else if let Some(packed) = packed {
        packed.execute(&on_device, into)?;
    }
    let into = (beta, DenseViewMut::new(c_shape, &mut want)?);
    multiply_dense_over(case.semiring, case.side, case.transposed, (alpha, host, d), into)?;
    let bytes = |values: &[M::Element]| bytemuck::cast_slice::<M::Element, u8>(values).to_vec();
    let found = c.values()?;
    for (at, (found, want)) in found.iter().zip(&want).enumerate() {
        assert_eq!(bytes(&[*found]), bytes(&[*want]), "{case:?}: element {at}: {found} and {want}");
    }
    Ok(())
}

fn plain(n: usize, numbers: DenseNumbers) -> Case {
    Case {
        side: Side::Left,
        transposed: false,
        n,
        layouts: [Layout::ByRows; 2],
        gap: 0,
        semiring: Semiring::PlusTimes,
        method: DenseMethod::Auto,
        numbers,
        packed: false,
        fresh: false,
    }
}

#[test]
fn small_products_have_the_bits_of_the_reference() -> Result<()> {
    let device = test_device();
    let a = scalars::<f32>(23, 19, &[])?;
    for numbers in numbers(&device) {
        for &method in DenseMethod::ALL {
            for n in [3, 4] {
                check(&device, &a, Case { method, ..plain(n, numbers) })?;
            }
            let case = Case { method, gap: 1, packed: true, layouts: [Layout::ByColumns; 2], ..plain(2, numbers) };
            check(&device, &a, Case { side: Side::Right, transposed: true, ..case })?;
        }
    }
    Ok(())
}

/// Tests numbers of columns around the widths of vectors and slots, in both layouts.
#[test]
fn columns_of_any_number_and_layout() -> Result<()> {
    let device = test_device();
    let a = Csr::from_transpose(scalars::<f64>(60, 43, &[])?);
    // Vectors of 32, 16, 8, 4, 2 and 1; and slots of 1 to 32 lanes, with vectors and without.
    let counts: [&[usize]; 2] = [&[63, 33, 300, 2], &[1, 5, 32, 33, 128, 130]];
    for (numbers, counts) in numbers(&device).into_iter().zip(counts) {
        for (number, &n) in counts.iter().enumerate() {
            for &method in DenseMethod::ALL {
                let layout = |of: usize| Layout::ALL[(number + of) / (1 + of) % 2];
                let case = Case { method, layouts: [layout(0), layout(1)], ..plain(n, numbers) };
                check(&device, &a, Case { gap: number % 3 * 2, ..case })?;
            }
        }
    }
    Ok(())
}

/// Tests groups of every number of lines, and staging of any number of entries: fewer and more than
/// a group has.
#[test]
fn lines_of_a_group_and_staged_entries_change_no_bit() -> Result<()> {
    let device = test_device();
    let a = Csr::from_transpose(scalars::<f64>(67, 43, &[(9, 43), (10, 43), (11, 40), (40, 43)])?);
    for numbers in numbers(&device) {
        let lines = [1, 2, 3, 4, 8, 16, 32].map(|lines| (lines, 32));
        let staged = [64, 128, 256, 512, 1024].map(|staged| (4, staged));
        for (dense_group_lines, dense_staged) in lines.into_iter().chain(staged).chain([(32, 1024)]) {
            let numbers = DenseNumbers { dense_group_lines, dense_staged, ..numbers };
            check(&device, &a, Case { method: DenseMethod::Gcoo, ..plain(3, numbers) })?;
        }
    }
    Ok(())
}

/// Numbers that a device is given replace those of the table. Numbers that no kernel supports are
/// refused.
#[test]
fn plans_take_the_numbers_of_their_device() -> Result<()> {
    let with = |lines: usize| {
        let numbers = format!(r#"{{"dense_group_lines": {lines}}}"#);
        test_device().info().with_file(&format!(r#"{{"cpu": {numbers}, "gpu": {numbers}}}"#))
    };
    let pattern = Device::open(&with(7)?)?.upload(&scalars::<f32>(23, 19, &[])?)?.pattern();
    let plan = ApplyDense::<Csc<f32>>::with(&pattern, 3).method(DenseMethod::Gcoo).plan()?;
    assert!(plan.why().contains("groups of 7 rows"));
    let refused = with(33).unwrap_err().to_string();
    assert!(refused.ends_with(": dense_group_lines is 33, not from 1 to 32"), "{refused}");
    Ok(())
}

/// Tests C and D of various sizes that a CPU writes past its caches. Rows are about 8 elements
/// long, with lines in pieces between them, and begin at aligned and unaligned addresses.
#[test]
fn large_results_pass_the_caches() -> Result<()> {
    let device = test_device();
    let [cpu, _] = numbers(&device);
    let scalars = scalars::<f64>(150, 1100, &[(20, 1090), (63, 1090), (64, 1090)])?;
    let blocks = matrix::<f32>(50, 40, BlockShape::new(3, 2)?, &[])?;
    for dense_past_bytes in [0, usize::MAX] {
        let numbers = DenseNumbers { dense_past_bytes, ..cpu };
        // Two passes, by 32 and by 8 columns. Columns are 152, 8 and 150 elements apart.
        for (n, gap) in [(40, 2), (8, 0)] {
            for layout in Layout::ALL {
                let case = Case { fresh: true, gap, layouts: [*layout; 2], ..plain(n, numbers) };
                check(&device, &scalars, case)?;
                check(&device, &blocks, case)?;
            }
        }
    }
    Ok(())
}

/// Tests rows and columns of A on either side, with A's arrays by columns and by rows. Long lines
/// have one more piece than fits, two pieces, and more.
#[test]
fn both_sides_transposes_and_long_lines() -> Result<()> {
    let device = test_device();
    let a = scalars::<f32>(70, 2600, &[(3, 1024), (4, 1025), (40, 2049), (69, 2600)])?;
    let by_rows = Csr::from_transpose(a.clone());
    for numbers in numbers(&device) {
        for &method in DenseMethod::ALL {
            for (side, transposed) in
                [(Side::Left, false), (Side::Left, true), (Side::Right, false), (Side::Right, true)]
            {
                let case = Case { side, transposed, method, ..plain(5, numbers) };
                check(&device, &a, case)?;
                check(&device, &a, Case { packed: true, layouts: [Layout::ByRows, Layout::ByColumns], ..case })?;
                check(&device, &by_rows, Case { packed: transposed, layouts: [Layout::ByColumns; 2], ..case })?;
            }
        }
    }
    Ok(())
}

#[test]
fn blocks_of_all_shapes() -> Result<()> {
    let device = test_device();
    for (r, k, method) in [
        (2, 3, DenseMethod::Rows),
        (6, 6, DenseMethod::Rows),
        (9, 1, DenseMethod::Rows),
        (2, 3, DenseMethod::Gcoo),
        (3, 9, DenseMethod::Gcoo),
        (9, 1, DenseMethod::Gcoo),
    ] {
        let a = matrix::<f64>(30, 1100, BlockShape::new(r, k)?, &[(5, 1030)])?;
        let by_rows = Bsr::from_transpose(a.clone());
        for numbers in numbers(&device) {
            for (side, transposed) in [(Side::Left, false), (Side::Left, true), (Side::Right, false)] {
                let case = Case { side, transposed, method, ..plain(6, numbers) };
                let layouts = [Layout::ByRows, if transposed { Layout::ByColumns } else { Layout::ByRows }];
                check(&device, &a, Case { packed: transposed, layouts, ..case })?;
                check(&device, &by_rows, Case { packed: side == Side::Right, gap: 2, ..case })?;
            }
        }
    }
    Ok(())
}

/// Tests more columns than a slot takes, for pieces of long lines and for tiles. Tests blocks
/// deeper than the number of rows of D that are loaded at once, and caches that keep all of D or a
/// part of it.
#[test]
fn shares_of_columns_and_deep_blocks() -> Result<()> {
    let device = test_device();
    let [_, gpu] = numbers(&device);
    let (scalars, deep) =
        (scalars::<f64>(40, 1100, &[(7, 1090)])?, matrix::<f64>(20, 200, BlockShape::new(3, 9)?, &[(4, 199)])?);
    for c_layout in [Layout::ByRows, Layout::ByColumns] {
        let case = |cache| Case {
            layouts: [Layout::ByRows, c_layout],
            ..plain(70, DenseNumbers { dense_cache_bytes: cache, ..gpu })
        };
        // 64 columns of doubles fit; 70 columns do not.
        for cache in [gpu.dense_cache_bytes, 1100 * 65 * 8] {
            for &method in DenseMethod::ALL {
                check(&device, &scalars, Case { method, ..case(cache) })?;
            }
        }
        for cache in [gpu.dense_cache_bytes, 1800 * 65 * 8] {
            for &method in DenseMethod::ALL {
                check(&device, &deep, Case { method, ..case(cache) })?;
            }
        }
        for cache in [gpu.dense_cache_bytes, 60 * 65 * 8] {
            check(&device, &deep, Case { transposed: true, ..case(cache) })?;
        }
    }
    Ok(())
}

/// Tests elements that are stored and computed in different types, integers, and algebras with
/// another start value, empty sum or order of factors.
#[test]
fn semirings_and_elements() -> Result<()> {
    let device = test_device();
    fn one<T: Element>(device: &Device, semiring: Semiring, numbers: DenseNumbers) -> Result<()> {
        let a = scalars::<T>(40, 1100, &[(2, 1090)])?;
        let case = Case { semiring, ..plain(18, numbers) };
        for &method in DenseMethod::ALL {
            check(device, &a, Case { method, ..case })?;
        }
        let layouts = [Layout::ByColumns, Layout::ByRows];
        check(device, &a, Case { side: Side::Right, transposed: true, layouts, ..case })
    }
    let [cpu, gpu] = numbers(&device);
    one::<f64>(&device, Semiring::MinPlus, cpu)?;
    one::<f32>(&device, Semiring::PlusFirst, gpu)?;
    one::<half::f16>(&device, Semiring::PlusTimes, cpu)?;
    one::<half::f16>(&device, Semiring::PlusTimes, gpu)?;
    one::<u32>(&device, Semiring::MaxMin, cpu)?;
    one::<i32>(&device, Semiring::PlusSecond, gpu)?;
    one::<u8>(&device, Semiring::OrAnd, cpu)?;
    one::<u8>(&device, Semiring::OrAnd, gpu)?;
    let blocks = matrix::<f32>(20, 30, BlockShape::new(2, 2)?, &[])?;
    let case = Case { semiring: Semiring::MinPlus, method: DenseMethod::Gcoo, ..plain(6, gpu) };
    check(&device, &blocks, case)
}

#[test]
fn matrices_without_elements() -> Result<()> {
    let device = test_device();
    for (rows, cols, n) in [(0, 5, 3), (5, 0, 3), (5, 7, 0), (0, 0, 0), (1, 1, 1)] {
        let a = Csc::<f64>::from_triplets(rows, cols, [])?;
        for numbers in numbers(&device) {
            for &method in DenseMethod::ALL {
                let case = Case { method, ..plain(n, numbers) };
                check(&device, &a, case)?;
                check(&device, &a, Case { side: Side::Right, layouts: [Layout::ByColumns; 2], ..case })?;
            }
        }
    }
    Ok(())
}

#[test]
fn products_in_one_shot_and_what_is_refused() -> Result<()> {
    let device = test_device();
    let host = scalars::<f64>(20, 30, &[])?;
    let a: DeviceMatrix<Csc<f64>> = device.upload(&host)?;
    let (d, e) = (DMatrix::from_fn(30, 4, |i, j| (i + j) as f64), DMatrix::from_fn(3, 20, |i, j| (i * j) as f64));
    let (mut c, mut b) = (DMatrix::zeros(20, 4), DMatrix::zeros(3, 30));
    multiply_dense(Side::Left, false, (1.0, &host, (&d).into()), (0.0, (&mut c).into()))?;
    multiply_dense(Side::Right, false, (1.0, &host, (&e).into()), (0.0, (&mut b).into()))?;
    let (d, e) = (device.upload_dense(&d)?, device.upload_dense(&e)?);
    assert_eq!(multiply(&a, &d)?.download()?, c);
    assert_eq!(multiply_by(&e, &a)?.download()?, b);
    let refused = multiply(&a, &e).unwrap_err().to_string();
    assert_eq!(refused, "D is 3x20, 30x20 expected: A is 20x30 scalars on the left, planned for 20");
    let plan = ApplyDense::new(&a.pattern(), 4)?;
    let mut wrong = device.zero_dense(DenseShape::new(20, 5, Layout::ByRows))?;
    let refused = plan.execute((&a, &d), &mut wrong).unwrap_err().to_string();
    assert!(refused.starts_with("C is 20x5, 20x4 expected"), "{refused}");
    Ok(())
}

/// Either factor may be dense, and A may be in groups.
#[test]
fn multiply_takes_a_dense_factor() -> Result<()> {
    let device = test_device();
    let host = matrix::<f64>(7, 9, BlockShape::new(2, 3)?, &[])?;
    let a = device.upload(&host)?;
    let (d, e) = (DMatrix::from_fn(27, 2, |i, j| (i + j) as f64), DMatrix::from_fn(2, 14, |i, j| (i * j) as f64));
    let (mut c, mut b) = (DMatrix::zeros(14, 2), DMatrix::zeros(2, 27));
    multiply_dense(Side::Left, false, (1.0, &host, (&d).into()), (0.0, (&mut c).into()))?;
    multiply_dense(Side::Right, false, (1.0, &host, (&e).into()), (0.0, (&mut b).into()))?;
    let (d, e) = (device.upload_dense(&d)?, device.upload_dense(&e)?);
    assert_eq!(crate::multiply(&a, &d)?.download()?, c);
    assert_eq!(crate::multiply(&e, &a)?.download()?, b);
    for grouping in [Grouping::Rows(2), Grouping::Columns(2)] {
        let groups = DeviceGcoo::from_matrix(&a, grouping)?;
        assert_eq!(crate::multiply(&groups, &d)?.download()?, c, "{grouping}");
        assert_eq!(crate::multiply(&e, &groups)?.download()?, b, "{grouping}");
    }
    assert!(crate::multiply(&a, &e).unwrap_err().to_string().starts_with("D is 2x14, 27x14 expected"));
    Ok(())
}

/// The choice depends on how often the entries of a group use the rows of D that it loads.
#[test]
fn groups_are_chosen_by_their_reuse() -> Result<()> {
    let device = test_device();
    let scalars = device.upload(&scalars::<f64>(23, 19, &[])?)?.pattern();
    let of_blocks = |rows, cols| -> Result<_> {
        Ok(device.upload(&matrix::<f64>(23, 19, BlockShape::new(rows, cols)?, &[])?)?.pattern())
    };
    let (pairs, sixes) = (of_blocks(2, 3)?, of_blocks(6, 6)?);
    let [_, gpu] = numbers(&device);
    let gpu = DenseNumbers { dense_group_lines: 4, ..gpu };
    let why = |plan: &ApplyDense<Cbc<f64>>| (plan.method(), plan.why().to_owned());
    let planned = |pattern, least, method| -> Result<_> {
        let mut options = ApplyDense::<Cbc<f64>>::with(pattern, 4).method(method);
        options.wanted.request.numbers = DenseNumbers { dense_reuse_percent: least, ..gpu };
        Ok(why(&options.plan()?))
    };
    assert_eq!(planned(&pairs, 100, DenseMethod::Auto)?.0, DenseMethod::Gcoo);
    let (method, why_rows) = planned(&pairs, 199, DenseMethod::Auto)?;
    assert_eq!(method, DenseMethod::Rows);
    assert!(why_rows.starts_with("rows: groups of 2 rows of blocks use a row of D 1."), "{why_rows}");
    assert!(why_rows.ends_with(" times, fewer than the 1.99 that pay"), "{why_rows}");
    let (_, asked) = planned(&sixes, 100, DenseMethod::Gcoo)?;
    assert_eq!(asked, "gcoo, as asked for: groups of 1 rows of blocks use a row of D 1.00 times");
    assert_eq!(planned(&sixes, 100, DenseMethod::Auto)?.1, "rows: a row of blocks of 6x6 shares its rows of D");
    let mut options = ApplyDense::<Csc<f64>>::with(&scalars, 4);
    options.wanted.request.numbers = DenseNumbers { dense_reuse_percent: 100, ..gpu };
    assert!(options.clone().plan()?.why().starts_with("gcoo: groups of 4 rows use a row of D "));
    // The reason contains the number even if groups are not considered.
    options.wanted.request.numbers.dense_reuse_percent = 1 << 20;
    assert_eq!(
        options.clone().explained().plan()?.why(),
        "rows: on this kind of device they are faster than groups; groups of 4 rows would use a row of D 2.03 times"
    );
    let rows = options.method(DenseMethod::Rows).explained().plan()?;
    assert_eq!(rows.why(), "rows, as asked for; groups of 4 rows would use a row of D 2.03 times");
    Ok(())
}
