//! Masked products, products without small entries, and triple products. The results have the bits
//! of the serial reference.
mod dropped;
mod triple;

use crate::common::{self, FAMILIES, Family, bits, device, executed, places, real, row_and_column, shape, uniform};
use blockmul::{
    BlockShape, Bsr, Cbc, Csc, Csr, Device, Element, Error, Matrix, Planned, Product,
    element::Field,
    generate::{self, Values},
    matrix::{Pattern, Threshold, drop_below},
    plan::Accum,
    reference,
};
use half::f16;

/// A matrix of ones with a pattern of a family.
fn mask(family: Family, rows: usize, cols: usize, seed: u64) -> Csc<f64> {
    let places = places(family, rows, cols, 5, &mut common::Random(seed));
    Csc::from_triplets(rows, cols, places.into_iter().map(|(i, j)| (i, j, 1.0))).unwrap()
}

/// The entries of the whole product that are in `mask`, and zeros where only `mask` has entries.
fn selected<T: Element>(whole: &Cbc<T>, mask: &Pattern) -> Cbc<T> {
    let area = whole.shape().area();
    let mut values = vec![T::from_f64(0.0); mask.nnz() * area];
    for col in 0..mask.ncols() {
        for place in mask.entries(col) {
            let of_whole = whole.pattern().column(col).binary_search(&mask.row_idx()[place]);
            if let Ok(entry) = of_whole.map(|found| whole.pattern().entries(col).start + found) {
                let block = &whole.values()[entry * whole.stride()..][..area];
                values[place * area..][..area].copy_from_slice(block);
            }
        }
    }
    Cbc::new(mask.clone(), whole.shape(), values).unwrap()
}

/// The number of products of A·B that are added to entries of `mask`, counted one by one.
fn products_on(a: &Pattern, b: &Pattern, mask: &Pattern) -> u64 {
    let of_column = |col: usize| {
        let on_mask = |&&row: &&u32| mask.column(col).contains(&row);
        b.column(col).iter().map(|&k| a.column(k as usize).iter().filter(on_mask).count() as u64).sum::<u64>()
    };
    (0..b.ncols()).map(of_column).sum()
}

/// Shapes for all kernels: scalars, square and other shapes with compiled kernels, and the general
/// kernel.
const SHAPES: [(usize, usize, usize); 6] = [(1, 1, 1), (2, 3, 6), (3, 3, 3), (9, 2, 3), (5, 1, 4), (1, 32, 2)];

fn every_shape<T: Element>() {
    for (seed, (r, k, c)) in SHAPES.into_iter().enumerate() {
        let seed = seed as u64;
        let (a, b) = (uniform::<T>(30, 25, shape(r, k), seed), uniform::<T>(25, 40, shape(k, c), seed + 99));
        let whole = reference::multiply(&a, &b).unwrap();
        let m = mask(Family::Uniform, 30, 40, seed);
        let want = selected(&whole, m.pattern());
        let products = products_on(a.pattern(), b.pattern(), m.pattern());
        let (da, db, dm) = (device().upload(&a).unwrap(), device().upload(&b).unwrap(), device().upload(&m).unwrap());
        let what = format!("{r}x{k} by {k}x{c} of {}", T::NAME);

        let plan = Product::of(&da, &db).mask(&dm.pattern()).plan().unwrap();
        assert_eq!(bits(&executed(&plan, &da, &db)), bits(&want), "{what}");
        assert!(0 < products && products < reference::products(&a, &b), "the mask must leave some out");
        assert_eq!(plan.cost().products, products, "{what}");
        assert_eq!(plan.cost().flops, 2 * products * (r * k * c) as u64);

        let dat = device().upload(&a.transpose()).unwrap();
        let plan = Product::of(dat.t(), &db).mask(&dm.pattern()).plan().unwrap();
        assert_eq!(bits(&executed(&plan, &dat, &db)), bits(&want), "{what}, A stored transposed");
        assert_eq!(plan.cost().products, products);

        let (once, report) = Product::of(&da, &db).mask(&dm.pattern()).run_with_report().unwrap();
        assert_eq!(bits(&once.download().unwrap()), bits(&want), "{what}, once");
        assert_eq!((report.products, report.c_nnz, report.bands), (products, m.nnz() as u64, 1));
    }
}

#[test]
fn every_shape_and_type_has_the_bits_of_the_whole_product() {
    every_shape::<f64>();
    every_shape::<f32>();
    every_shape::<f16>();
}

#[test]
fn masks_of_every_family_and_operands_of_every_family() {
    for (seed, of_operands) in FAMILIES.into_iter().enumerate() {
        let a = common::scalars::<f64>(of_operands, 37, 23, 4, seed as u64);
        let b = common::scalars::<f64>(of_operands, 23, 41, 4, seed as u64 + 50);
        let whole = reference::multiply(&a, &b).unwrap();
        let whole = Cbc::new(whole.pattern().clone(), BlockShape::SCALAR, whole.values().to_vec()).unwrap();
        let (da, db) = (device().upload(&a).unwrap(), device().upload(&b).unwrap());
        for of_mask in FAMILIES {
            let m = mask(of_mask, 37, 41, seed as u64 + 7);
            let dm = device().upload(&m).unwrap();
            let plan = Product::of(&da, &db).mask(&dm.pattern()).plan().unwrap();
            let c = executed(&plan, &da, &db);
            let want = selected(&whole, m.pattern());
            assert_eq!((c.pattern(), c.values()), (want.pattern(), want.values()), "{of_operands:?} on {of_mask:?}");
            assert_eq!(plan.cost().products, products_on(a.pattern(), b.pattern(), m.pattern()));
        }
    }
}

#[test]
fn real_values_and_runs_that_are_cut() {
    // A row is multiplied by a column of this length, so that C has a single entry. The products of
    // this entry are summed in one, two or three pieces of 1024.
    for length in [1023, 1024, 1025, 2500] {
        let (a, b) = row_and_column(length);
        let m = mask(Family::Uniform, 1, 1, 1);
        let (da, db, dm) = (device().upload(&a).unwrap(), device().upload(&b).unwrap(), device().upload(&m).unwrap());
        let plan = Product::of(&da, &db).mask(&dm.pattern()).plan().unwrap();
        assert_eq!(bits(&executed(&plan, &da, &db)), bits(&reference::multiply(&a, &b).unwrap()), "{length}");
        assert_eq!(plan.cost().products, length as u64);
    }
    // Computes H·H on the pattern of H, where H is the Hessian of a pose graph.
    let h = generate::PoseChain { poses: 300, closures: 500, freedom: 6, ..Default::default() }.matrix().unwrap();
    let dh = device().upload(&h).unwrap();
    let plan = Product::of(&dh, &dh).mask(&dh.pattern()).plan().unwrap();
    let want = selected(&reference::multiply(&h, &h).unwrap(), h.pattern());
    assert_eq!(bits(&executed(&plan, &dh, &dh)), bits(&want));
}

#[test]
fn chosen_places_of_a_gram_matrix() {
    let j = uniform::<f64>(60, 20, shape(2, 3), 7);
    let full = reference::multiply(&j.transpose(), &j).unwrap();
    let diagonal = Csc::from_triplets(20, 20, (0..20).map(|i| (i, i, 1.0))).unwrap();
    let (dj, dm) = (device().upload(&j).unwrap(), device().upload(&diagonal).unwrap());
    let plan = Product::of(dj.t(), &dj).mask(&dm.pattern()).plan().unwrap();
    assert_eq!(bits(&executed(&plan, &dj, &dj)), bits(&selected(&full, diagonal.pattern())));
    assert_eq!(plan.cost().products, j.nnz() as u64, "each block by itself");
}

#[test]
fn row_major_matrices_take_row_major_masks() {
    let (a, b) = (uniform::<f64>(30, 25, shape(2, 3), 1), uniform::<f64>(25, 40, shape(3, 4), 2));
    let m = mask(Family::PowerLawColumns, 30, 40, 3);
    let want = selected(&reference::multiply(&a, &b).unwrap(), m.pattern());
    let by_rows = |matrix: &Cbc<f64>| Bsr::from_transpose(matrix.transpose());
    let (da, db) = (device().upload(&by_rows(&a)).unwrap(), device().upload(&by_rows(&b)).unwrap());
    let dm = device().upload(&Csr::from_transpose(m.transpose())).unwrap();
    let plan = Product::of(&da, &db).mask(&dm.pattern()).plan().unwrap();
    assert_eq!(executed(&plan, &da, &db), by_rows(&want));
    let dat = device().upload(&by_rows(&a.transpose())).unwrap();
    let plan = Product::of(dat.t(), &db).mask(&dm.pattern()).plan().unwrap();
    assert_eq!(executed(&plan, &dat, &db), by_rows(&want));
    let once = Product::of(&da, &db).mask(&dm.pattern()).run().unwrap();
    assert_eq!(once.download().unwrap(), by_rows(&want));

    let column_major = device().upload(&m).unwrap().pattern();
    let message = Product::of(&da, &db).mask(&column_major).plan().unwrap_err().to_string();
    assert_eq!(message, "the mask is column-major, the product row-major");
}

#[test]
fn masks_are_refused_where_they_do_not_fit() {
    let (a, b) = (uniform::<f64>(30, 25, shape(2, 3), 1), uniform::<f64>(25, 40, shape(3, 4), 2));
    let (da, db) = (device().upload(&a).unwrap(), device().upload(&b).unwrap());
    let of = |rows, cols| device().upload(&mask(Family::Uniform, rows, cols, 3)).unwrap().pattern();
    let message = Product::of(&da, &db).mask(&of(40, 30)).plan().unwrap_err().to_string();
    assert_eq!(message, "the mask is 40x30 entries, the product 30x40");
    let message = Product::of(&da, &db).mask(&of(30, 41)).run().unwrap_err().to_string();
    assert_eq!(message, "the mask is 30x41 entries, the product 30x40");
    let mismatch = Product::of(&db, &da).mask(&of(25, 25)).plan();
    assert!(matches!(mismatch, Err(Error::Dimensions { .. })));
    let elsewhere = Device::open(device().info()).unwrap().upload(&mask(Family::Uniform, 30, 40, 3)).unwrap();
    let mismatch = Product::of(&da, &db).mask(&elsewhere.pattern()).plan();
    assert!(matches!(mismatch, Err(Error::DeviceMismatch { .. })));
}

#[test]
fn a_memory_limit_cuts_the_mask_into_bands_of_the_same_bits() {
    // The product has many terms for each entry of C. Its factors have blocks, because products of
    // scalars on CPUs take no memory for terms.
    let a = real(400, 400, 40, shape(2, 1), 4).cast::<f32>();
    let b = real(400, 400, 40, shape(1, 2), 5).cast::<f32>();
    let whole = reference::multiply(&a, &b).unwrap();
    let (da, db) = (device().upload(&a).unwrap(), device().upload(&b).unwrap());
    let dm = device().upload(&whole).unwrap();
    let (free, report) = Product::of(&da, &db).mask(&dm.pattern()).run_with_report().unwrap();
    assert_eq!((bits(&free.download().unwrap()), report.bands), (bits(&whole), 1));
    let limit = report.peak_device_bytes * 7 / 10;
    let (cut, report) = Product::of(&da, &db).mask(&dm.pattern()).memory_limit(limit).run_with_report().unwrap();
    assert!(report.bands > 1 && report.held_device_bytes <= limit, "{report:?}");
    assert_eq!(bits(&cut.download().unwrap()), bits(&whole));
    assert_eq!(report.products, reference::products(&a, &b));
    let none = Product::of(&da, &db).mask(&dm.pattern()).memory_limit(1 << 16).run();
    assert!(matches!(none, Err(Error::Memory { .. })));
}

#[test]
fn blocks_of_a_masked_product_may_be_aligned() {
    let a = uniform::<f32>(50, 50, shape(3, 3), 4);
    let m = mask(Family::Arrow, 50, 50, 1);
    let (da, dm) = (device().upload(&a).unwrap(), device().upload(&m).unwrap());
    let c = Product::of(&da, &da).mask(&dm.pattern()).alignment(64).run().unwrap().download().unwrap();
    let want = selected(&reference::multiply(&a, &a).unwrap(), m.pattern());
    assert_eq!(bits(&c), bits(&want.with_alignment(64).unwrap()));
}

#[test]
fn alpha_and_beta_reach_the_places_without_products() {
    let a = Csc::from_triplets(2, 2, [(0, 0, 3.0)]).unwrap();
    let m = Csc::from_triplets(2, 2, [(0, 0, 1.0), (1, 0, 1.0), (1, 1, 1.0)]).unwrap();
    let (da, dm) = (device().upload(&a).unwrap(), device().upload(&m).unwrap());
    let plan = Product::of(&da, &da).mask(&dm.pattern()).plan().unwrap();
    let mut c = plan.output().unwrap();
    c.write_values(&[1.0, 2.0, 4.0]).unwrap();
    plan.execute((&da, &da), Accum::into(&mut c).alpha(2.0).beta(0.5)).unwrap();
    assert_eq!(c.download().unwrap().values(), [18.5, 1.0, 2.0]);
    c.write_values(&[f64::NAN; 3]).unwrap();
    plan.execute((&da, &da), &mut c).unwrap();
    let found: Vec<u64> = c.download().unwrap().values().iter().map(|x| x.to_bits()).collect();
    assert_eq!(found, [9.0f64, 0.0, 0.0].map(f64::to_bits), "old values are not read, and the zeros are positive");
}
