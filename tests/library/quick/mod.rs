//! A quick check of a device: one small product of each kind in each element type, and one for each
//! way to use a device (`paths`). Results have the bits of the reference. `tools/test quick` runs
//! this module and the unit tests; the other modules are the thorough tests.
mod paths;

use crate::common::{device, equal, to_host};
use blockmul::{
    BlockShape, Bsr, Cbc, Csr, Element, Matrix, Part, Planned, Product, Result,
    element::Field,
    element::Real,
    generate::{self, Values},
    groups::BlockGroups,
    matrix::{self, Threshold},
    plan::{Accum, Add, Apply, Diagonal, Norms, Permute, ScalarMap, Scalars, Transpose},
    product::{Factor, Inputs, Method, Weights},
    reference,
    solver::{Damping, Elimination, NormalEquations},
};
use half::f16;

/// A matrix of integers so small that sums in `f16` are exact. Each column of this matrix has up to
/// 4 blocks.
fn uniform<T: Element>(rows: usize, cols: usize, shape: (usize, usize), seed: u64) -> Cbc<T> {
    let shape = BlockShape::new(shape.0, shape.1).unwrap();
    generate::Uniform { rows, cols, per_column: 4, shape, values: Values::Integer, seed }.matrix().unwrap().cast()
}

fn whole_numbers<T: Element>(n: usize) -> Vec<T> {
    (0..n).map(|i| T::from_f64((i % 7) as f64 - 3.0)).collect()
}

fn multiplied<M: Matrix>(a: &M, b: &M, what: &str) -> Result<()> {
    let c = blockmul::multiply(&device().upload(a)?, &device().upload(b)?)?;
    equal(&c.download()?, &reference::multiply(a, b)?, &format!("{what} of {}", M::Element::NAME));
    Ok(())
}

/// Runs a check with each element type.
macro_rules! every_type {
    ($check:ident) => {{
        $check::<f64>()?;
        $check::<f32>()?;
        $check::<f16>()
    }};
}

#[test]
fn scalars() -> Result<()> {
    fn check<T: Element>() -> Result<()> {
        let (a, b) = (uniform::<T>(30, 20, (1, 1), 1).to_scalars(), uniform(20, 40, (1, 1), 2).to_scalars());
        multiplied(&a, &b, "scalars by columns")?;
        multiplied(&Csr::from_transpose(a.transpose()), &Csr::from_transpose(b.transpose()), "scalars by rows")
    }
    every_type!(check)
}

#[test]
fn blocks() -> Result<()> {
    fn check<T: Element>() -> Result<()> {
        // The shapes have the sides of a compiled kernel, and sides for the general kernel.
        for (r, k, c) in [(6, 3, 6), (5, 11, 2)] {
            let (a, b) = (uniform::<T>(15, 10, (r, k), 1), uniform::<T>(10, 20, (k, c), 2));
            multiplied(&a, &b, "blocks by columns")?;
            multiplied(&Bsr::from_transpose(a.transpose()), &Bsr::from_transpose(b.transpose()), "blocks by rows")?;
            // With alignment, every block begins at a multiple of 64 bytes.
            let (a, b) = (a.with_alignment(64)?, b.with_alignment(64)?);
            let (c, _) = to_host(&device(), &a, &b, |product| product.alignment(64))?;
            assert_eq!(c.stride() * size_of::<T>() % 64, 0);
            equal(&c, &reference::multiply(&a, &b)?, "aligned blocks");
        }
        Ok(())
    }
    every_type!(check)
}

/// Columns are sorted by teams of 128 and 256 items. An optimising compiler may drop the barriers
/// of teams that sort.
#[test]
fn long_columns_that_are_sorted() -> Result<()> {
    for of_column in [35, 50] {
        let a = generate::Uniform {
            rows: 120,
            cols: 120,
            per_column: of_column,
            values: Values::Integer,
            ..Default::default()
        }
        .matrix()?
        .to_scalars();
        let (c, _) = to_host(&device(), &a, &a, |product| product.method(Method::Sort))?;
        equal(&c, &reference::multiply(&a, &a)?, "columns that are sorted");
    }
    Ok(())
}

#[test]
fn stored_transposes() -> Result<()> {
    fn check<T: Element>() -> Result<()> {
        let (a, b) = (uniform::<T>(15, 10, (2, 3), 1), uniform::<T>(10, 20, (3, 4), 2));
        let (da, db) = (device().upload(&a)?, device().upload(&b)?);
        let plan = Transpose::<Cbc<T>>::new(&da.pattern())?;
        let mut dat = plan.output()?;
        plan.execute(&da, &mut dat)?;
        equal(&dat.download()?, &a.transpose(), "Aᵀ");
        let plan = Product::of(dat.t(), &db).plan()?;
        let mut c = plan.output()?;
        plan.execute((&dat, &db), &mut c)?;
        equal(&c.download()?, &reference::multiply(&a, &b)?, "(Aᵀ)ᵀ·B");
        Ok(())
    }
    every_type!(check)
}

#[test]
fn grams() -> Result<()> {
    fn check<T: Element>() -> Result<()> {
        let j = uniform::<T>(30, 12, (2, 3), 1);
        let dj = device().upload(&j)?;
        let plan = Product::gram(&dj).part(Part::Lower).plan()?;
        let mut h = plan.output()?;
        plan.execute(&dj, &mut h)?;
        equal(&h.download()?, &reference::gram(&j, Part::Lower)?, "JᵀJ");

        let weights = whole_numbers::<T>(60);
        let plan = Product::gram(&dj.pattern()).weighted(Weights::Rows(())).part(Part::Lower).plan::<Cbc<T>>()?;
        let mut h = plan.output()?;
        plan.execute(Inputs::of(&dj).weights(Weights::Rows(&device().upload_vector(&weights)?)), &mut h)?;
        equal(&h.download()?, &reference::gram_weighted(&j, Weights::Rows(&weights), Part::Lower)?, "JᵀWJ");
        Ok(())
    }
    every_type!(check)
}

#[test]
fn masks_and_small_entries() -> Result<()> {
    fn check<T: Field>() -> Result<()> {
        let (a, b) = (uniform::<T>(30, 20, (3, 2), 1), uniform::<T>(20, 30, (2, 3), 2));
        let (da, db, mask) = (device().upload(&a)?, device().upload(&b)?, uniform::<T>(30, 30, (1, 1), 3));
        let whole = reference::multiply(&a, &b)?;
        let c = Product::of(&da, &db).mask(&device().upload(&mask)?.pattern()).run()?.download()?;
        assert_eq!(c.pattern(), mask.pattern());
        for (row, col, block) in c.blocks() {
            match whole.blocks().find(|&(i, j, _)| (i, j) == (row, col)) {
                Some((.., of_whole)) => assert_eq!(block, of_whole, "({row}, {col}) of {}", T::NAME),
                None => assert!(block.iter().all(|x| x.to_f64() == 0.0), "({row}, {col}) has no products"),
            }
        }
        let threshold = Threshold::absolute(20.0);
        let c = Product::of(&da, &db).drop_below(threshold).run()?;
        assert!(c.nnz() < whole.nnz());
        equal(&c.download()?, &matrix::drop_below(&whole, threshold)?, "without small entries");
        Ok(())
    }
    every_type!(check)
}

#[test]
fn groups() -> Result<()> {
    fn same<T: Element>(got: &BlockGroups<Cbc<T>>, want: &BlockGroups<Cbc<T>>) {
        for (row, col) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            assert_eq!(got.get(row, col).is_some(), want.get(row, col).is_some());
            if let (Some(got), Some(want)) = (got.get(row, col), want.get(row, col)) {
                equal(got, want, &format!("cell ({row}, {col}) of {}", T::NAME));
            }
        }
    }
    fn check<T: Element>() -> Result<()> {
        let j = generate::Visibility {
            cameras: 5,
            points: 30,
            views: 3,
            shape: BlockShape::new(9, 3)?,
            values: Values::Integer,
            seed: 2,
        }
        .jacobian()?;
        let j = BlockGroups::side_by_side([0, 1].map(|group| j.get(0, group).unwrap().cast::<T>()))?;
        let (dj, djt) = (device().upload_groups(&j)?, device().upload_groups(&j.transpose())?);
        same(&Product::of(&djt, &dj).run()?.download()?, &reference::multiply_groups(&j.transpose(), &j)?);

        let weights = whole_numbers::<T>(90);
        let plan =
            Product::gram(&dj.pattern()).weighted(&[Weights::BlockRows(())]).part(Part::Lower).plan::<Cbc<T>>()?;
        let mut h = plan.output()?;
        plan.execute(Inputs::of(&dj).weights(&[Weights::BlockRows(&device().upload_vector(&weights)?)]), &mut h)?;
        let want = reference::gram_groups_weighted(&j, &[Weights::BlockRows(&weights[..])], Part::Lower)?;
        same(&h.download()?, &want);
        Ok(())
    }
    every_type!(check)
}

#[test]
fn triples() -> Result<()> {
    fn check<T: Element>() -> Result<()> {
        let (a, r) = (uniform::<T>(20, 20, (3, 3), 1), uniform::<T>(20, 6, (3, 2), 2));
        let (da, dr) = (device().upload(&a)?, device().upload(&r)?);
        let plan = Product::of(dr.t(), &da).times(&dr).plan()?;
        let mut c = plan.output()?;
        plan.execute((&dr, &da, &dr), &mut c)?;
        let want = reference::multiply(&r.transpose(), &reference::multiply(&a, &r)?)?;
        equal(&c.download()?, &want, &format!("RᵀAR of {}", T::NAME));
        Ok(())
    }
    every_type!(check)
}

#[test]
fn vectors() -> Result<()> {
    fn check<T: Field>() -> Result<()> {
        let a = uniform::<T>(20, 20, (3, 3), 1);
        let (x, mut want) = (whole_numbers::<T>(60), whole_numbers::<T>(60));
        let (da, dx, mut y) = (device().upload(&a)?, device().upload_vector(&x)?, device().upload_vector(&want)?);
        Apply::<Cbc<T>>::new(&da.pattern())?.execute((&da, &dx), Accum::into(&mut y).alpha(2.0).beta(1.0))?;
        reference::multiply_vector(2.0, &a, &x, 1.0, &mut want)?;
        assert_eq!(y.download()?, want, "A·x of {}", T::NAME);
        Apply::<Cbc<T>>::transposed(&da.pattern())?.execute((&da, &dx), &mut y)?;
        reference::multiply_vector(1.0, Factor::from(&a).t(), &x, 0.0, &mut want)?;
        assert_eq!(y.download()?, want, "Aᵀ·x of {}", T::NAME);
        assert_eq!(dx.dot(&y)?, reference::dot(&x, &want)?);
        Norms::<Cbc<T>>::columns(&da.pattern())?.execute(&da, &mut y)?;
        assert_eq!(y.download()?, reference::column_norms(&a), "norms of {}", T::NAME);
        let plan = Diagonal::<Cbc<T>>::new(&da.pattern())?;
        let mut diagonal = plan.output()?;
        plan.execute(&da, &mut diagonal)?;
        equal(&diagonal.download()?, &reference::diagonal(&a)?, "the diagonal");
        Ok(())
    }
    every_type!(check)
}

#[test]
fn structure() -> Result<()> {
    fn check<T: Element<Arithmetic: From<f32>>>() -> Result<()> {
        let (a, b) = (uniform::<T>(20, 20, (2, 2), 1), uniform::<T>(20, 20, (2, 2), 2));
        let (da, db) = (device().upload(&a)?, device().upload(&b)?);
        let plan = Add::<Cbc<T>>::new(&da.pattern(), &db.pattern())?;
        let mut c = plan.output()?;
        plan.execute([(2.0, &da), (-1.0, &db)], &mut c)?;
        equal(&c.download()?, &matrix::add(2.0.into(), &a, (-1.0).into(), &b)?, "2A - B");

        let backwards: Vec<usize> = (0..20).rev().collect();
        let there = Permute::<Cbc<T>>::new(&da.pattern(), &backwards, &backwards)?;
        let again = Permute::<Cbc<T>>::new(there.pattern(), &backwards, &backwards)?;
        let (mut turned, mut back) = (there.output()?, again.output()?);
        there.execute(&da, &mut turned)?;
        again.execute(&turned, &mut back)?;
        equal(&back.download()?, &a, "turned twice");

        let h = generate::PoseChain { poses: 20, closures: 30, freedom: 2, values: Values::Integer, seed: 3 }
            .matrix()?
            .cast::<T>();
        let dh = device().upload(&h)?;
        let (plan, map) = (Scalars::<Cbc<T>>::full(&dh.pattern())?, ScalarMap::full(&h)?);
        let (mut values, mut want) = (plan.output()?, vec![T::from_f64(0.0); map.nnz()]);
        plan.execute(&dh, &mut values)?;
        map.copy_values(&h, &mut want)?;
        assert_eq!(values.download()?, want, "scalars of {}", T::NAME);
        Ok(())
    }
    every_type!(check)
}

#[test]
fn schur_complements() -> Result<()> {
    fn check<T: Real>() -> Result<()> {
        let w = uniform::<T>(5, 30, (6, 3), 1);
        let diagonal = |n: usize, side: usize| {
            let entry = |i| (i, i, nalgebra::DMatrix::identity(side, side) * <T as Element>::from_f64(500.0));
            Cbc::from_triplets(n, n, BlockShape::new(side, side)?, (0..n).map(entry))
        };
        let (u, v, b_c, b_p) = (diagonal(5, 6)?, diagonal(30, 3)?, whole_numbers::<T>(30), whole_numbers::<T>(90));
        let want = reference::schur(&u, &w, &v, &b_c, &b_p, Damping::Marquardt(0.5))?;
        let (u, w, v) = (device().upload(&u)?, device().upload(&w)?, device().upload(&v)?);
        let (b_c, b_p) = (device().upload_vector(&b_c)?, device().upload_vector(&b_p)?);
        let damping = Damping::Marquardt(0.5);
        let equations = NormalEquations { u: &u, w: &w, v: &v, b_c: &b_c, b_p: &b_p, damping, floors: None };
        let formed = Elimination::formed(&u.pattern(), &w.pattern(), &v.pattern())?;
        let mut reduced = formed.output()?;
        formed.execute(equations, &mut reduced)?;
        equal(&reduced.s()?.download()?, &want.s, &format!("S of {}", <T as Element>::NAME));
        assert_eq!(reduced.rhs()?.download()?, want.rhs);
        let implicit = Elimination::implicit(&u.pattern(), &w.pattern(), &v.pattern())?;
        let mut reduced = implicit.output()?;
        implicit.execute(equations, &mut reduced)?;
        equal(&reduced.diagonal()?.download()?, &reference::diagonal(&want.s)?, "the diagonal of S");
        Ok(())
    }
    check::<f64>()?;
    check::<f32>()
}
