//! Random operations over semirings, which are the same in every run. Each operation has a random
//! element type, algebra and method or format. The other tests go through all types, algebras,
//! methods and formats systematically.
use super::{Numbers, algebras, bits, numbers};
use crate::common::{FAMILIES, Family, Random, blocks, device, places};
use blockmul::{
    BlockShape, Cbc, Csc, Method, Planned, Product,
    element::VectorElement,
    plan::{Accum, Apply, Format},
    product::Factor,
    reference,
};
use half::f16;

/// The sides of blocks. Half of the matrices have scalars.
const SIDES: [(usize, usize, usize); 6] = [(1, 1, 1), (1, 1, 1), (1, 1, 1), (2, 3, 2), (3, 3, 3), (5, 2, 4)];

fn one<T: Copy>(of: &[T], random: &mut Random) -> T {
    of[random.below(of.len())]
}

fn algebra<T: Numbers>(random: &mut Random) -> blockmul::Semiring {
    one(&algebras::<T>().collect::<Vec<_>>(), random)
}

fn matrix<T: Numbers>(family: Family, [rows, cols]: [usize; 2], sides: (usize, usize), random: &mut Random) -> Cbc<T> {
    let shape = BlockShape::new(sides.0, sides.1).unwrap();
    let a = blocks::<f64>(family, rows, cols, 4, shape, random.next());
    Cbc::new(a.pattern().clone(), shape, numbers(a.values().len(), random.next())).unwrap()
}

/// Computes A·B by a method. If `masked`, computes A·B on a mask, first without a plan and then by
/// a plan.
fn product<T: Numbers>(random: &mut Random, masked: bool) {
    let (semiring, (r, k, c)) = (algebra::<T>(random), one(&SIDES, random));
    let (left, right) = (one(&FAMILIES, random), one(&FAMILIES, random));
    let a = matrix::<T>(left, [40, 31], (r, k), random);
    let b = matrix::<T>(right, [31, 43], (k, c), random);
    let (da, db) = (device().upload(&a).unwrap(), device().upload(&b).unwrap());
    let what = format!("{semiring}, {left:?} of {r}x{k} by {right:?} of {k}x{c} of {}", T::NAME);
    let same = |found: &Cbc<T>, want: &Cbc<T>, how: &str| {
        assert_eq!(found.pattern(), want.pattern(), "{what}, {how}");
        assert_eq!(bits(found.values()), bits(want.values()), "{what}, {how}");
    };
    if masked {
        let on = places(one(&FAMILIES, random), 40, 43, 6, random);
        let mask = Csc::<f64>::from_triplets(40, 43, on.into_iter().map(|(i, j)| (i, j, 1.0))).unwrap();
        let want = reference::multiply_masked_over(semiring, &a, &b, &mask).unwrap();
        let on = device().upload(&mask).unwrap().pattern();
        let product = Product::of(&da, &db).mask(&on).semiring(semiring);
        same(&product.run().unwrap().download().unwrap(), &want, "on a mask");
        let plan = product.plan().unwrap();
        let mut c = plan.output().unwrap();
        plan.execute((&da, &db), &mut c).unwrap();
        same(&c.download().unwrap(), &want, "planned on a mask");
        return;
    }
    let methods: Vec<_> = Method::ALL.iter().copied().filter(|method| !method.needs_mask()).collect();
    let method = one(&methods, random);
    let want = reference::multiply_over(semiring, &a, &b).unwrap();
    let found = Product::of(&da, &db).semiring(semiring).method(method).run().unwrap();
    same(&found.download().unwrap(), &want, method.name());
}

/// Returns the whole symmetric matrix whose lower triangle is given.
fn mirrored<T: Numbers>(triangle: &Cbc<T>) -> Cbc<T> {
    let pattern = triangle.pattern();
    let of_column = |col| pattern.entries(col).map(move |entry| (pattern.row_idx()[entry] as usize, col, entry));
    let entries: Vec<_> = (0..pattern.ncols())
        .flat_map(of_column)
        .flat_map(|(row, col, entry)| {
            let value = triangle.values()[entry];
            [(row, col, value)].into_iter().chain((row != col).then_some((col, row, value)))
        })
        .collect();
    let n = pattern.ncols();
    Csc::from_triplets(n, n, entries).unwrap().to_blocks(BlockShape::SCALAR).unwrap()
}

/// Computes A·x or Aᵀ·x. The elements of x have the type of A or another type. The format is any
/// that has a reproducible order, with values in place or packed, for a whole matrix or a triangle.
fn vector<T: Numbers, V: Numbers + VectorElement<T>>(random: &mut Random) {
    let (semiring, (r, c, _)) = (algebra::<T>(random), one(&SIDES, random));
    let [transposed, packed, symmetric] = [(); 3].map(|()| random.below(2) == 0);
    let symmetric = symmetric && (r, c) == (1, 1);
    let formats = Format::ALL.iter().copied();
    let formats: Vec<_> = formats.filter(|format| (r, c) == (1, 1) || format.has_blocks()).collect();
    let (format, family) = (one(&formats, random), one(&FAMILIES, random));
    let stored = match symmetric {
        true => {
            let places = places(family, 60, 60, 4, random).into_iter().filter(|(row, col)| row >= col);
            let lower = Csc::<f64>::from_triplets(60, 60, places.map(|(row, col)| (row, col, 1.0))).unwrap();
            let values = numbers(lower.nnz(), random.next());
            Cbc::new(lower.pattern().clone(), BlockShape::SCALAR, values).unwrap()
        }
        false => matrix::<T>(family, [60, 53], (r, c), random),
    };
    let whole = if symmetric { mirrored(&stored) } else { stored.clone() };
    let a = device().upload(&stored).unwrap();
    let pattern = a.pattern();
    let options = Apply::<Cbc<T>>::with(&pattern).format(format).semiring(semiring).vectors::<V>();
    let options = if transposed { options.transposed() } else { options };
    let options = if symmetric { options.symmetric() } else { options };
    let (rows, cols) = (whole.scalar_rows(), whole.scalar_cols());
    let (x_len, y_len) = if transposed { (rows, cols) } else { (cols, rows) };
    let (x, old) = (numbers::<V>(x_len, random.next()), numbers::<V>(y_len, random.next()));
    let (dx, mut y) = (device().upload_vector(&x).unwrap(), device().upload_vector(&old).unwrap());
    let beta = random.below(2) as f64;
    let mut want = old;
    let factor = Factor { operand: &whole, transposed };
    reference::multiply_vector_over(semiring, format.order(), factor, &x, (1.0, beta), &mut want).unwrap();
    match packed {
        true => options.pack(&a).unwrap().execute(&dx, Accum::into(&mut y).beta(beta)).unwrap(),
        false => options.plan().unwrap().execute((&a, &dx), Accum::into(&mut y).beta(beta)).unwrap(),
    };
    assert_eq!(
        bits(&y.download().unwrap()),
        bits(&want),
        "{semiring}, {format} of {family:?} in {r}x{c} of {}, vectors of {}, beta {beta}, packed {packed}, transposed \
         {transposed}, symmetric {symmetric}",
        T::NAME,
        V::NAME
    );
}

fn products(random: &mut Random, of_each: usize, masked: bool) {
    for _ in 0..of_each {
        product::<f64>(random, masked);
        product::<f32>(random, masked);
        product::<f16>(random, masked);
        product::<u32>(random, masked);
        product::<i32>(random, masked);
    }
    product::<u8>(random, masked);
}

#[test]
fn products_by_any_method() {
    products(&mut Random(1), 5, false);
}

#[test]
fn products_on_masks() {
    products(&mut Random(2), 4, true);
}

#[test]
fn vectors_in_any_format() {
    let random = &mut Random(3);
    for _ in 0..4 {
        vector::<f64, f64>(random);
        vector::<f32, f32>(random);
        vector::<f16, f16>(random);
        vector::<u32, u32>(random);
        vector::<i32, i32>(random);
        vector::<u8, u8>(random);
        vector::<f32, f64>(random);
        vector::<f16, f32>(random);
    }
}
