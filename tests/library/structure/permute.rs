//! Permutations on the device.
use super::{FEW, SHAPES, by_rows, order, permuted, up};
use crate::common::{FAMILIES, Family, blocks, equal, part, scalars, shape};
use blockmul::{Bsr, Cbc, Csc, DeviceMatrix, Element, Error, Part, Planned, generate, plan::Permute};
use half::f16;
use nalgebra::DMatrix;

fn every_permutation<T: Element>(shapes: &[(usize, usize)]) {
    for (seed, &(r, c)) in shapes.iter().enumerate() {
        let (seed, what) = (seed as u64, format!("{r}x{c} of {}", T::NAME));
        let a = blocks::<T>(FAMILIES[seed as usize], 31, 23, 4, shape(r, c), seed);
        let (rows, cols) = (order(31, seed), order(23, seed + 50));
        let want = permuted(&a, &rows, &cols);
        let run = |a: &Cbc<T>| {
            let plan = Permute::<Cbc<T>>::new(&up(a).pattern(), &rows, &cols).unwrap();
            let mut c = plan.output().unwrap();
            plan.execute(&up(a), &mut c).unwrap();
            c.download().unwrap()
        };
        equal(&run(&a), &want, &what);
        equal(&run(&a.with_alignment(32).unwrap()), &want, &format!("{what}, aligned"));
        let (by_row, plan) =
            (up(&by_rows(&a)), |a: &DeviceMatrix<Bsr<T>>| Permute::<Bsr<T>>::new(&a.pattern(), &rows, &cols));
        let plan = plan(&by_row).unwrap();
        let mut c = plan.output().unwrap();
        plan.execute(&by_row, &mut c).unwrap();
        equal(&c.download().unwrap(), &by_rows(&want), &format!("{what}, by rows"));
    }
}

#[test]
fn permutations_of_every_shape_and_type() {
    every_permutation::<f64>(&SHAPES);
    every_permutation::<f32>(&SHAPES[..FEW]);
    every_permutation::<f16>(&SHAPES[..FEW]);
}

#[test]
fn permutations_of_every_family_and_of_nothing() {
    for (seed, family) in FAMILIES.into_iter().enumerate() {
        let a = scalars::<f64>(family, 150, 200, 6, seed as u64);
        let (rows, cols) = (order(150, 7), order(200, 8));
        let plan = Permute::<Csc<f64>>::new(&up(&a).pattern(), &rows, &cols).unwrap();
        let mut c = plan.output().unwrap();
        plan.execute(&up(&a), &mut c).unwrap();
        let (got, dense) = (c.download().unwrap(), a.to_dense());
        assert_eq!(got.nnz(), a.nnz());
        let want = DMatrix::from_fn(150, 200, |i, j| dense[(rows[i], cols[j])]);
        assert_eq!(got.to_dense(), want, "{family:?}: entry (i, j) is entry (rows[i], cols[j])");
    }
    for (m, n) in [(0, 0), (0, 3), (3, 0), (3, 4)] {
        let empty = Csc::<f64>::from_triplets(m, n, []).unwrap();
        let plan = Permute::<Csc<f64>>::new(&up(&empty).pattern(), &order(m, 1), &order(n, 2)).unwrap();
        equal(&plan.output().unwrap().download().unwrap(), &empty, "empty");
    }
}

fn symmetric_permutations<T: Element>(graphs: &[(usize, usize)]) {
    for &(poses, freedom) in graphs {
        let h: Cbc<T> =
            generate::PoseChain { poses, closures: 10.min(poses / 2), freedom, seed: 3, ..Default::default() }
                .matrix()
                .unwrap()
                .cast();
        let order = order(poses, freedom as u64);
        let whole = permuted(&h, &order, &order);
        for stored in [Part::Full, Part::Lower, Part::Upper] {
            let what = format!("{stored:?} of {freedom}x{freedom} of {}", T::NAME);
            let (s, want) = (part(&h, stored), part(&whole, stored));
            let ds = up(&s);
            let plan = Permute::<Cbc<T>>::symmetric(&ds.pattern(), &order, stored).unwrap();
            let mut c = plan.output().unwrap();
            plan.execute(&ds, &mut c).unwrap();
            equal(&c.download().unwrap(), &want, &what);
            let ds = up(&by_rows(&s));
            let plan = Permute::<Bsr<T>>::symmetric(&ds.pattern(), &order, stored).unwrap();
            let mut c = plan.output().unwrap();
            plan.execute(&ds, &mut c).unwrap();
            equal(&c.download().unwrap(), &by_rows(&want), &format!("{what}, by rows"));
        }
    }
}

#[test]
fn a_stored_triangle_stays_one() {
    let poses_and_freedom = [(40, 1), (40, 3), (1, 3), (30, 6), (12, 16)];
    symmetric_permutations::<f64>(&poses_and_freedom);
    symmetric_permutations::<f32>(&poses_and_freedom[..2]);
    symmetric_permutations::<f16>(&poses_and_freedom[..2]);
}

#[test]
fn what_is_no_permutation_or_no_triangle_is_refused() {
    let h = up(&generate::PoseChain { poses: 5, closures: 0, freedom: 2, ..Default::default() }.matrix().unwrap());
    let told = |result: Result<Permute<Cbc<f64>>, Error>| result.unwrap_err().to_string();
    let (good, short, twice, outside) = ([4, 3, 2, 1, 0], [0, 1, 2], [0, 1, 2, 3, 1], [0, 1, 2, 3, 5]);
    let plan = |rows: &[usize], cols: &[usize]| Permute::<Cbc<f64>>::new(&h.pattern(), rows, cols);
    assert_eq!(told(plan(&short, &good)), "row permutation: 3 indices for a matrix that has 5");
    assert_eq!(told(plan(&good, &twice)), "column permutation: index 1 is at place 1 and at place 4");
    assert_eq!(told(plan(&outside, &good)), "row permutation: index 5 at place 4 is outside 0..5");
    let symmetric = |stored| Permute::<Cbc<f64>>::symmetric(&h.pattern(), &good, stored);
    let lower = told(symmetric(Part::Lower));
    assert!(lower.contains("4 entries are above the diagonal"), "{lower}");
    assert!(told(symmetric(Part::Upper)).contains("4 entries are below the diagonal"));
    let rows = up(&by_rows(&part(&h.download().unwrap(), Part::Upper)));
    let told = Permute::<Bsr<f64>>::symmetric(&rows.pattern(), &good, Part::Lower).unwrap_err().to_string();
    assert!(told.contains("4 entries are above the diagonal"), "{told}");
    for wide in
        [blocks::<f64>(Family::Banded, 5, 5, 1, shape(2, 3), 1), blocks(Family::Banded, 5, 4, 1, shape(2, 2), 1)]
    {
        let result = Permute::<Cbc<f64>>::symmetric(&up(&wide).pattern(), &good, Part::Full);
        assert!(result.unwrap_err().to_string().contains("is not square"));
    }
    assert!(Permute::<Csc<f64>>::new(&h.pattern(), &good, &good).is_err(), "another type of matrix");
}
