//! Products with dense matrices under the numbers of every kind of device, compared bit by bit with
//! the reference.
mod variants;

use super::{ApplyDense, DenseMethod, DenseNumbers, DeviceGcoo, multiply, multiply_by};
use crate::{
    BlockShape, Bsr, Cbc, Csc, Csr, Device, DeviceKind, DeviceMatrix, Element, Matrix, Planned, Result, Semiring,
    device::test_device,
    generate::Random,
    matrix::{DenseShape, DenseView, DenseViewMut, Grouping, Layout, Side},
    plan::Accum,
    product::Factor,
    reference::{multiply_dense, multiply_dense_over},
    tuning::StageNumbers,
};
use nalgebra::DMatrix;

fn number(random: &mut Random) -> f64 {
    // Terms cancel, so that another order of addition gives other bits.
    (2.0 * random.unit() - 1.0) * f64::powi(2.0, random.below(9) as i32 - 4)
}

/// A matrix with rows of 0 to 6 entries. Some rows are equal. Each pair in `long` is a row and its
/// number of blocks.
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

/// The numbers of both kinds of devices, limited to what the test device supports.
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
    // Either a plan or a packed product is made, not both, because each compiles kernels.
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
    let factor = Factor { operand: host, transposed: case.transposed };
    let into = DenseViewMut::new(c_shape, &mut want)?;
    multiply_dense_over(case.semiring, case.side, factor, d, (alpha, beta), into)?;
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
    // The first numbers of columns need vectors of 32, 16, 8, 4, 2 and 1 columns. The other numbers
    // need slots of 1 to 32 lanes, with vectors and without.
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

#[test]
fn products_in_one_shot_and_what_is_refused() -> Result<()> {
    let device = test_device();
    let host = scalars::<f64>(20, 30, &[])?;
    let a: DeviceMatrix<Csc<f64>> = device.upload(&host)?;
    let (d, e) = (DMatrix::from_fn(30, 4, |i, j| (i + j) as f64), DMatrix::from_fn(3, 20, |i, j| (i * j) as f64));
    let (mut c, mut b) = (DMatrix::zeros(20, 4), DMatrix::zeros(3, 30));
    multiply_dense(Side::Left, &host, (&d).into(), (1.0, 0.0), (&mut c).into())?;
    multiply_dense(Side::Right, &host, (&e).into(), (1.0, 0.0), (&mut b).into())?;
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
    multiply_dense(Side::Left, &host, (&d).into(), (1.0, 0.0), (&mut c).into())?;
    multiply_dense(Side::Right, &host, (&e).into(), (1.0, 0.0), (&mut b).into())?;
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

/// The choice of the method depends on how often the entries of a group use the rows of D that the
/// group loads.
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
