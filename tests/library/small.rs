//! Small products that together reach every kernel and every branch of the kernels.
//! `tools/oclgrind` runs these small products in the simulator, which executes about 50,000
//! work-items a second. Small products are also a first check of a new device.
use crate::common::*;
use blockmul::{
    BlockShape, Cbc, Csc, Element, Matrix, Method, Part, Planned, Product, Result, matrix,
    plan::{Accum, Add, Apply, Diagonal, Norms, Permute, ScalarMap, Scalars},
    product::Factor,
    reference::{self, FlooredDamping},
    solver::{Damping, Elimination, Floors, NormalEquations},
};
use half::f16;
use nalgebra::DMatrix;

/// Multiplies on the device. The product must have the bits of the reference.
fn check<M: Matrix>(a: &M, b: &M, what: &str) -> Result<()> {
    let (c, _) = to_host(&device(), a, b, |product| product)?;
    let want = reference::multiply(a, b)?;
    equal(&c, &want, what);
    Ok(())
}

#[test]
fn every_family_on_either_side() -> Result<()> {
    for family in FAMILIES {
        let (a, b) = (scalars::<f64>(family, 13, 11, 3, 1), scalars(Family::Uniform, 11, 12, 3, 2));
        check(&a, &b, &format!("{family:?} left"))?;
        check(&b.transpose(), &a.transpose(), &format!("{family:?} right"))?;
    }
    Ok(())
}

#[test]
fn plans_of_scalars_without_pairs() -> Result<()> {
    let (a, b) = (scalars::<f64>(Family::Uniform, 13, 11, 3, 1), scalars(Family::Arrow, 11, 12, 3, 2));
    let (da, db) = (device().upload(&a)?, device().upload(&b)?);
    for method in [Method::Direct, Method::Sort, Method::Dense, Method::Hub, Method::Hash] {
        let plan = Product::of(&da, &db).method(method).plan()?;
        let mut c = plan.output()?;
        plan.execute((&da, &db), &mut c)?;
        equal(&c.download()?, &reference::multiply(&a, &b)?, method.name());
    }
    Ok(())
}

#[test]
fn matrices_without_rows_columns_or_entries() -> Result<()> {
    for (m, k, n) in [(0, 0, 0), (0, 3, 2), (3, 0, 2), (3, 2, 0), (1, 1, 1)] {
        check::<Csc<f64>>(&Csc::from_triplets(m, k, [])?, &Csc::from_triplets(k, n, [])?, &format!("{m}x{k}x{n}"))?;
    }
    Ok(())
}

#[test]
fn every_element_type_as_scalars_and_in_blocks_of_either_kernel() -> Result<()> {
    fn all<T: Element>() -> Result<()> {
        check::<Csc<T>>(
            &scalars(Family::Uniform, 20, 20, 4, 1),
            &scalars(Family::Arrow, 20, 20, 4, 2),
            &format!("scalars of {}", T::NAME),
        )?;
        // For compiled kernels: square and rectangular blocks, a row, a column, and large blocks
        // whose tiles fit, overlap, or reach beyond the block. For the general kernel: sides below,
        // between and above the compiled ones, and the largest side. The largest case has only two
        // products, because the simulator takes seconds for each.
        let compiled = [(3, 3, 3), (6, 3, 6), (2, 9, 1), (1, 4, 7), (5, 5, 5), (3, 10, 2), (9, 9, 6), (13, 6, 5)];
        for (r, k, c) in compiled.into_iter().chain([(17, 1, 13), (32, 32, 32)]) {
            let (x, y) = (BlockShape::new(r, k)?, BlockShape::new(k, c)?);
            let (a, b) = match r {
                32 => (blocks::<T>(Family::Banded, 1, 2, 1, x, 1), blocks::<T>(Family::Banded, 2, 1, 2, y, 2)),
                _ => (blocks::<T>(Family::Uniform, 4, 5, 2, x, 1), blocks::<T>(Family::EmptyInner, 5, 6, 3, y, 2)),
            };
            check(&a, &b, &format!("{r}x{k} by {k}x{c} of {}", T::NAME))?;
        }
        Ok(())
    }
    all::<f64>()?;
    all::<f32>()?;
    all::<f16>()
}

/// Columns of up to 576 products are sorted whole by groups of 256. A longer column is sorted in
/// chunks of 1792 products, or 2816 with 48 KiB of local memory, which are then merged. Columns of
/// different lengths are neighbours, so that merge passes also find columns that are already
/// merged. The columns are empty, short, of one chunk, of two chunks (one merge), and of three or
/// four chunks (two merges). For blocks, pairs of operands are sorted instead of values.
#[test]
fn columns_too_long_to_be_sorted_whole() -> Result<()> {
    let dense = |i: usize, j: usize| ((i + 2 * j) % 5 + 1) as f64;
    let factor = |inner: usize, columns: &[usize]| {
        let lengths = columns.iter().enumerate();
        let entries = lengths.flat_map(|(col, &length)| (0..length).map(move |k| (k, col, (k % 3 + 1) as f64)));
        Csc::from_triplets(inner, columns.len(), entries.collect::<Vec<_>>())
    };
    let a: Csc<f64> = Csc::from_dense(&DMatrix::from_fn(50, 114, dense))?;
    check(&a, &factor(114, &[0, 1, 14, 58, 114])?, "700, 2900 and 5700 products in a column")?;

    let shape = BlockShape::new(2, 2)?;
    let a: Cbc<f32> = Cbc::from_dense(&DMatrix::from_fn(100, 116, |i, j| dense(i, j) as f32), shape)?;
    let b: Cbc<f32> = Cbc::from_dense(&DMatrix::from_fn(116, 2, |i, j| dense(i, j) as f32), shape)?;
    check(&a, &b, "blocks, 2900 products in a column")
}

/// Sums of more than 1024 products are computed in pieces by separate kernels: for values, for
/// compiled blocks and for general blocks.
#[test]
fn runs_summed_in_pieces() -> Result<()> {
    for shape in [(1, 1), (3, 2), (5, 1), (1, 17)] {
        let (x, y) = (BlockShape::new(shape.0, shape.1)?, BlockShape::new(shape.1, shape.0)?);
        let filled = |x: BlockShape, k: usize| DMatrix::from_element(x.rows(), x.cols(), (k % 3 + 1) as f64);
        let a = Cbc::from_triplets(2, 1030, x, (0..1030).map(|k| (1, k, filled(x, k))))?;
        let b = Cbc::from_triplets(1030, 2, y, (0..1030).map(|k| (k, 0, filled(y, k + 1))))?;
        check(&a, &b, &format!("1030 products of {x} by {y}"))?;
        if x == BlockShape::SCALAR {
            check(&a.to_scalars(), &b.to_scalars(), "1030 products of scalars")?;
        }
    }
    Ok(())
}

/// The product has more entries and more products than one work-group scans (2048), so that scans
/// have several levels and several work-groups.
#[test]
fn more_than_one_tile() -> Result<()> {
    let a = scalars::<f32>(Family::Banded, 700, 700, 1, 1);
    let b = scalars::<f32>(Family::Uniform, 700, 900, 3, 2);
    check(&a, &b, "2700 entries and products")
}

/// Bands that stay on the device are joined by separate kernels.
#[test]
fn bands_joined_on_the_device() -> Result<()> {
    let device = device();
    let a = scalars::<f64>(Family::Uniform, 60, 400, 4, 1);
    let b = scalars::<f64>(Family::Uniform, 400, 60, 20, 2);
    let (x, y) = (device.upload(&a)?, device.upload(&b)?);
    let product = || Product::of(&x, &y).method(Method::Esc);
    let (_, whole) = product().run_with_report()?;
    let want = reference::multiply(&a, &b)?;
    // The test does not know the smallest possible limit of memory. With the first limit that
    // suffices, there are several bands.
    let banded = (1..200)
        .find_map(|step| product().memory_limit(step * (32 << 10)).run_with_report().ok().filter(|(_, r)| r.bands > 1));
    let (c, report) =
        banded.unwrap_or_else(|| panic!("no limit led to bands; the whole takes {}", whole.peak_device_bytes));
    equal(&c.download()?, &want, &format!("{} bands", report.bands));
    Ok(())
}

/// The cases have rows and columns that are summed in tiles or in pieces, and empty ones; blocks
/// that fill a work-group; and vectors of several pieces.
#[test]
fn matrices_with_vectors() -> Result<()> {
    let device = device();
    for (side, n) in [(1, 1030), (3, 30), (17, 3)] {
        let a = blocks::<f32>(Family::Arrow, n, n, 3, BlockShape::new(side, side)?, 1);
        let host: Vec<f32> = (0..n * side).map(|i| (i % 7) as f32 - 3.0).collect();
        let (mut da, x) = (device.upload(&a)?, device.upload_vector(&host)?);
        let (mut y, mut want) = (device.zero_vector(n * side)?, vec![0.0; n * side]);

        Apply::<Cbc<f32>>::new(&da.pattern())?.execute((&da, &x), &mut y)?;
        reference::multiply_vector(1.0, &a, &host, 0.0, &mut want)?;
        assert_eq!(y.download()?, want, "{side}");
        Apply::<Cbc<f32>>::transposed(&da.pattern())?.execute((&da, &x), Accum::into(&mut y).alpha(2.0).beta(1.0))?;
        reference::multiply_vector(2.0, Factor::from(&a).t(), &host, 1.0, &mut want)?;
        assert_eq!(y.download()?, want, "{side}");
        assert_eq!(x.dot(&y)?, reference::dot(&host, &want)?);
        y.axpby(2.0, &x, 0.5)?;
        y.scale(2.0)?;
        assert!(y.download()?.iter().zip(&host).zip(&want).all(|((y, x), w)| *y == 4.0 * x + w));

        Norms::<Cbc<f32>>::columns(&da.pattern())?.execute(&da, &mut y)?;
        assert_eq!(y.download()?, reference::column_norms(&a));
        let rows = Norms::<Cbc<f32>>::block_rows(&da.pattern())?;
        let mut norms = rows.output()?;
        rows.execute(&da, &mut norms)?;
        assert_eq!(norms.download()?, reference::block_row_norms(&a));

        let diagonal = Diagonal::<Cbc<f32>>::new(&da.pattern())?;
        let mut d = diagonal.output()?;
        diagonal.execute(&da, &mut d)?;
        equal(&d.download()?, &reference::diagonal(&a)?, &format!("diagonal blocks of {side}"));
        diagonal.scalars().execute(&da, &mut y)?;
        da.scale_columns(&x)?;
        da.scale_rows(&x)?;
        let want = reference::scale_rows(&reference::scale_columns(&a, &host)?, &host)?;
        equal(&da.download()?, &want, &format!("scaled blocks of {side}"));
    }
    Ok(())
}

#[test]
fn structure_is_changed() -> Result<()> {
    fn all<T: Element<Arithmetic: From<f32>>>(shape: BlockShape) -> Result<()> {
        let what = format!("{shape} of {}", T::NAME);
        let a = blocks::<T>(Family::EmptyInner, 7, 9, 3, shape, 1);
        let b = blocks::<T>(Family::Arrow, 7, 9, 3, shape, 2);
        let (da, db) = (device().upload(&a)?, device().upload(&b)?);
        equal(&da.transposed()?.download()?, &a.transpose(), &what);

        let plan = Add::<Cbc<T>>::new(&da.pattern(), &db.pattern())?;
        let mut c = plan.output()?;
        plan.execute([(2.0, &da), (-1.0, &db)], &mut c)?;
        equal(&c.download()?, &matrix::add(2.0.into(), &a, (-1.0).into(), &b)?, &what);

        // The matrix is permuted, and permuted back by the inverse.
        let (rows, cols) = ([3, 1, 6, 0, 2, 5, 4], [8, 0, 4, 2, 6, 1, 3, 7, 5]);
        let back = |order: &[usize]| {
            let mut inverse = vec![0; order.len()];
            order.iter().enumerate().for_each(|(place, &index)| inverse[index] = place);
            inverse
        };
        let there = Permute::<Cbc<T>>::new(&da.pattern(), &rows, &cols)?;
        let again = Permute::<Cbc<T>>::new(there.pattern(), &back(&rows), &back(&cols))?;
        let (mut c, mut d) = (there.output()?, again.output()?);
        there.execute(&da, &mut c)?;
        again.execute(&c, &mut d)?;
        equal(&d.download()?, &a, &what);
        Ok(())
    }
    for (rows, cols) in [(1, 1), (2, 3), (9, 1)] {
        all::<f64>(BlockShape::new(rows, cols)?)?;
        all::<f16>(BlockShape::new(rows, cols)?)?;
    }
    Ok(())
}

#[test]
fn a_triangle_is_permuted_and_handed_over() -> Result<()> {
    let shape = BlockShape::new(3, 3)?;
    let eye = |row: usize, col: usize| DMatrix::from_fn(3, 3, |i, j| (row * 100 + col * 10 + i * 3 + j) as f64);
    let lower = [(0, 0), (1, 0), (3, 0), (1, 1), (2, 1), (3, 3)].map(|(row, col)| (row, col, eye(row, col)));
    let s = Cbc::from_triplets(4, 4, shape, lower)?;
    let ds = device().upload(&s)?;
    let there = Permute::<Cbc<f64>>::symmetric(&ds.pattern(), &[2, 0, 3, 1], Part::Lower)?;
    let again = Permute::<Cbc<f64>>::symmetric(there.pattern(), &[1, 3, 0, 2], Part::Lower)?;
    let (mut c, mut d) = (there.output()?, again.output()?);
    there.execute(&ds, &mut c)?;
    again.execute(&c, &mut d)?;
    equal(&d.download()?, &s, "there and back");

    for (plan, map) in [
        (Scalars::<Cbc<f64>>::lower(&ds.pattern())?, ScalarMap::lower(&s)?),
        (Scalars::full(&ds.pattern())?, ScalarMap::full(&s)?),
    ] {
        let (mut values, mut want) = (plan.output()?, vec![0.0; map.nnz()]);
        plan.execute(&ds, &mut values)?;
        map.copy_values(&s, &mut want)?;
        assert_eq!(values.download()?, want);
    }
    Ok(())
}

/// Blocks of points are factored by one work-item and by a work-group. In this problem one camera
/// sees many points, another sees none, and U has blocks off the diagonal. Some elements are below
/// the floors of the damping, and one coordinate is held.
#[test]
fn points_are_eliminated() -> Result<()> {
    let block = |rows, cols, x: f32| DMatrix::from_fn(rows, cols, |i, j| x + (i * 2 + j * 3) as f32 / 16.0);
    for (c, p, points) in [(2, 3, 40), (3, 7, 4)] {
        let seen = (0..points).flat_map(|j| [(0, j), (1 + j % 2, j)]);
        let w =
            Cbc::from_triplets(4, points, BlockShape::new(c, p)?, seen.map(|(i, j)| (i, j, block(c, p, i as f32))))?;
        let diagonal = |n, side| (0..n).map(move |i| (i, i, DMatrix::<f32>::identity(side, side) * 300.0));
        let beside = [(1, 0), (3, 1)].map(|(i, j)| (i, j, block(c, c, 0.5)));
        let u = Cbc::from_triplets(4, 4, BlockShape::new(c, c)?, diagonal(4, c).chain(beside))?;
        let v = Cbc::from_triplets(points, points, BlockShape::new(p, p)?, diagonal(points, p))?;
        let x: Vec<f32> = (0..4 * c).map(|i| (i % 5) as f32 - 2.0).collect();
        let b_p: Vec<f32> = (0..points * p).map(|i| (i % 7) as f32 - 3.0).collect();
        let damping = Damping::Marquardt(0.5);
        let of = |side: usize| (0..side).map(|i| [400.0, f32::INFINITY, 0.0][i % 3]).collect::<Vec<f32>>();
        let [cameras, at_points] = [c, p].map(of);
        let floored = FlooredDamping { damping, cameras: &cameras, points: &at_points };
        let want = reference::schur(&u, &w, &v, &x, &b_p, floored)?;

        let (u, w, v) = (device().upload(&u)?, device().upload(&w)?, device().upload(&v)?);
        let (b_c, b_p) = (device().upload_vector(&x)?, device().upload_vector(&b_p)?);
        let (mut x_p, mut y) = (device().zero_vector(points * p)?, device().zero_vector(4 * c)?);
        let (cameras, at_points) = (device().upload_vector(&cameras)?, device().upload_vector(&at_points)?);
        let floors = Some(Floors { cameras: &cameras, points: &at_points });
        let equations = NormalEquations { u: &u, w: &w, v: &v, b_c: &b_c, b_p: &b_p, damping, floors };
        let formed = Elimination::formed(&u.pattern(), &w.pattern(), &v.pattern())?;
        let mut reduced = formed.output()?;
        formed.execute(equations, &mut reduced)?;
        equal(&reduced.s()?.download()?, &want.s, "S");
        formed.back_substitute(&reduced, &b_c, &mut x_p)?;
        assert_eq!((reduced.rhs()?.download()?, x_p.download()?), (want.rhs.clone(), want.back_substitute(&x)?));
        let implicit = Elimination::implicit(&u.pattern(), &w.pattern(), &v.pattern())?;
        let mut reduced = implicit.output()?;
        implicit.execute(equations, &mut reduced)?;
        equal(&reduced.diagonal()?.download()?, &reference::diagonal(&want.s)?, "the diagonal of S");
        implicit.multiply(&reduced, &b_c, &mut y)?;

        let lower = want.s.to_dense();
        let s = DMatrix::from_fn(4 * c, 4 * c, |i, j| if i / c >= j / c { lower[(i, j)] } else { lower[(j, i)] });
        let (y, y_want) = (y.download()?, s * DMatrix::from_vec(4 * c, 1, x));
        assert!((DMatrix::from_vec(4 * c, 1, y) - &y_want).norm() < 1e-4 * y_want.norm());
    }
    Ok(())
}
