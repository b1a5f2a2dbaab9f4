//! Products on a mask, products without their small entries, triple products: against the serial reference, bit for bit.
mod common;

use blockmul::{
    BlockShape, Bsr, Cbc, Csc, Csr, Device, DeviceMatrix, Element, Error, Matrix, Pattern, Plan, Spgemm, Threshold,
    Triple, generate, generate::Values, matrix::drop_below, reference,
};
use common::{FAMILIES, Family, device, places};
use half::f16;

fn shape(rows: usize, cols: usize) -> BlockShape {
    BlockShape::new(rows, cols).unwrap()
}

fn bits<T: Element>(matrix: &Cbc<T>) -> (&Pattern, &[u8]) {
    (matrix.pattern(), bytemuck::cast_slice(matrix.values()))
}

fn uniform<T: Element>(rows: usize, cols: usize, block: BlockShape, seed: u64) -> Cbc<T> {
    generate::uniform(rows, cols, 4.min(rows), block, Values::Integer, seed).unwrap().cast()
}

/// A pattern of a family, with ones for the device to hold.
fn mask(family: Family, rows: usize, cols: usize, seed: u64) -> Csc<f64> {
    let places = places(family, rows, cols, 5, &mut common::Random(seed));
    Csc::from_triplets(rows, cols, places.into_iter().map(|(i, j)| (i, j, 1.0))).unwrap()
}

/// The whole product where `mask` has entries, zeros where only `mask` has.
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

/// Products of A·B that fall on `mask`, counted one by one.
fn products_on(a: &Pattern, b: &Pattern, mask: &Pattern) -> u64 {
    let of_column = |col: usize| {
        let on_mask = |&&row: &&u32| mask.column(col).contains(&row);
        b.column(col).iter().map(|&k| a.column(k as usize).iter().filter(on_mask).count() as u64).sum::<u64>()
    };
    (0..b.ncols()).map(of_column).sum()
}

fn executed<M: Matrix>(plan: &Plan<M>, a: &DeviceMatrix<M>, b: &DeviceMatrix<M>) -> M {
    let mut c = plan.output().unwrap();
    plan.execute(a, b, &mut c).unwrap();
    c.download().unwrap()
}

/// Shapes of all kernels: scalars, compiled ones, square and not, the general one.
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

        let plan = Plan::<Cbc<T>>::masked(&da.pattern(), &db.pattern(), &dm.pattern()).unwrap();
        assert_eq!(bits(&executed(&plan, &da, &db)), bits(&want), "{what}");
        assert!(0 < products && products < reference::products(&a, &b), "the mask must leave some out");
        assert_eq!(plan.products(), products, "{what}");
        assert_eq!(plan.flops(), 2 * products * (r * k * c) as u64);

        let dat = device().upload(&a.transpose()).unwrap();
        let plan = Plan::<Cbc<T>>::masked_transposed(&dat.pattern(), &db.pattern(), &dm.pattern()).unwrap();
        assert_eq!(bits(&executed(&plan, &dat, &db)), bits(&want), "{what}, A stored transposed");
        assert_eq!(plan.products(), products);

        let (once, report) = Spgemm::new().multiply_masked_with_report(&da, &db, &dm.pattern()).unwrap();
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
            let plan = Plan::<Csc<f64>>::masked(&da.pattern(), &db.pattern(), &dm.pattern()).unwrap();
            let c = executed(&plan, &da, &db);
            let want = selected(&whole, m.pattern());
            assert_eq!((c.pattern(), c.values()), (want.pattern(), want.values()), "{of_operands:?} on {of_mask:?}");
            assert_eq!(plan.products(), products_on(a.pattern(), b.pattern(), m.pattern()));
        }
    }
}

#[test]
fn real_values_and_runs_that_are_cut() {
    // A row of so many by a column of as many: runs around a piece of 1024, and one of three pieces; and a place nothing falls on.
    for length in [1023, 1024, 1025, 2500] {
        let a = generate::uniform(1, length, 1, shape(2, 2), Values::Real, 1).unwrap();
        let b = generate::uniform(length, 1, length, shape(2, 2), Values::Real, 2).unwrap();
        let m = mask(Family::Uniform, 1, 1, 1);
        let (da, db, dm) = (device().upload(&a).unwrap(), device().upload(&b).unwrap(), device().upload(&m).unwrap());
        let plan = Plan::<Cbc<f64>>::masked(&da.pattern(), &db.pattern(), &dm.pattern()).unwrap();
        assert_eq!(bits(&executed(&plan, &da, &db)), bits(&reference::multiply(&a, &b).unwrap()), "{length}");
        assert_eq!(plan.products(), length as u64);
    }
    // The places of H of a pose graph in H·H.
    let h = generate::pose_graph(300, 500, 6, Values::Real, 1).unwrap();
    let dh = device().upload(&h).unwrap();
    let plan = Plan::<Cbc<f64>>::masked(&dh.pattern(), &dh.pattern(), &dh.pattern()).unwrap();
    let want = selected(&reference::multiply(&h, &h).unwrap(), h.pattern());
    assert_eq!(bits(&executed(&plan, &dh, &dh)), bits(&want));
}

#[test]
fn chosen_places_of_a_gram_matrix() {
    let j = uniform::<f64>(60, 20, shape(2, 3), 7);
    let full = reference::multiply(&j.transpose(), &j).unwrap();
    let diagonal = Csc::from_triplets(20, 20, (0..20).map(|i| (i, i, 1.0))).unwrap();
    let (dj, dm) = (device().upload(&j).unwrap(), device().upload(&diagonal).unwrap());
    let plan = Plan::<Cbc<f64>>::masked_transposed(&dj.pattern(), &dj.pattern(), &dm.pattern()).unwrap();
    assert_eq!(bits(&executed(&plan, &dj, &dj)), bits(&selected(&full, diagonal.pattern())));
    assert_eq!(plan.products(), j.nnz() as u64, "each block by itself");
}

#[test]
fn row_major_matrices_take_row_major_masks() {
    let (a, b) = (uniform::<f64>(30, 25, shape(2, 3), 1), uniform::<f64>(25, 40, shape(3, 4), 2));
    let m = mask(Family::PowerLawColumns, 30, 40, 3);
    let want = selected(&reference::multiply(&a, &b).unwrap(), m.pattern());
    let by_rows = |matrix: &Cbc<f64>| Bsr::from_transpose(matrix.transpose());
    let (da, db) = (device().upload(&by_rows(&a)).unwrap(), device().upload(&by_rows(&b)).unwrap());
    let dm = device().upload(&Csr::from_transpose(m.transpose())).unwrap();
    let plan = Plan::<Bsr<f64>>::masked(&da.pattern(), &db.pattern(), &dm.pattern()).unwrap();
    assert_eq!(executed(&plan, &da, &db), by_rows(&want));
    let dat = device().upload(&by_rows(&a.transpose())).unwrap();
    let plan = Plan::<Bsr<f64>>::masked_transposed(&dat.pattern(), &db.pattern(), &dm.pattern()).unwrap();
    assert_eq!(executed(&plan, &dat, &db), by_rows(&want));
    let once = Spgemm::new().multiply_masked(&da, &db, &dm.pattern()).unwrap();
    assert_eq!(once.download().unwrap(), by_rows(&want));

    let column_major = device().upload(&m).unwrap().pattern();
    let message = Plan::<Bsr<f64>>::masked(&da.pattern(), &db.pattern(), &column_major).unwrap_err().to_string();
    assert_eq!(message, "the mask is column-major, the product row-major");
}

#[test]
fn masks_are_refused_where_they_do_not_fit() {
    let (a, b) = (uniform::<f64>(30, 25, shape(2, 3), 1), uniform::<f64>(25, 40, shape(3, 4), 2));
    let (da, db) = (device().upload(&a).unwrap(), device().upload(&b).unwrap());
    let of = |rows, cols| device().upload(&mask(Family::Uniform, rows, cols, 3)).unwrap().pattern();
    let message = Plan::<Cbc<f64>>::masked(&da.pattern(), &db.pattern(), &of(40, 30)).unwrap_err().to_string();
    assert_eq!(message, "the mask is 40x30 entries, the product 30x40");
    let message = Spgemm::new().multiply_masked(&da, &db, &of(30, 41)).unwrap_err().to_string();
    assert_eq!(message, "the mask is 30x41 entries, the product 30x40");
    let mismatch = Plan::<Cbc<f64>>::masked(&db.pattern(), &da.pattern(), &of(25, 25));
    assert!(matches!(mismatch, Err(Error::Dimensions { .. })));
    let elsewhere = Device::open(device().info()).unwrap().upload(&mask(Family::Uniform, 30, 40, 3)).unwrap();
    let mismatch = Plan::<Cbc<f64>>::masked(&da.pattern(), &db.pattern(), &elsewhere.pattern());
    assert!(matches!(mismatch, Err(Error::DeviceMismatch { .. })));
}

#[test]
fn a_memory_limit_cuts_the_mask_into_bands_of_the_same_bits() {
    // Many products for each entry of C.
    let a = generate::uniform(400, 400, 40, shape(1, 1), Values::Real, 4).unwrap().cast::<f32>();
    let whole = reference::multiply(&a, &a).unwrap();
    let (da, dm) = (device().upload(&a).unwrap(), device().upload(&whole).unwrap());
    let (free, report) = Spgemm::new().multiply_masked_with_report(&da, &da, &dm.pattern()).unwrap();
    assert_eq!((bits(&free.download().unwrap()), report.bands), (bits(&whole), 1));
    let limit = report.peak_device_bytes * 7 / 10;
    let within = Spgemm::new().memory_limit(limit);
    let (cut, report) = within.multiply_masked_with_report(&da, &da, &dm.pattern()).unwrap();
    assert!(report.bands > 1 && report.peak_device_bytes <= limit, "{report:?}");
    assert_eq!(bits(&cut.download().unwrap()), bits(&whole));
    assert_eq!(report.products, reference::products(&a, &a));
    let none = Spgemm::new().memory_limit(1 << 16).multiply_masked(&da, &da, &dm.pattern());
    assert!(matches!(none, Err(Error::Memory { .. })));
}

#[test]
fn blocks_of_a_masked_product_may_be_aligned() {
    let a = uniform::<f32>(50, 50, shape(3, 3), 4);
    let m = mask(Family::Arrow, 50, 50, 1);
    let (da, dm) = (device().upload(&a).unwrap(), device().upload(&m).unwrap());
    let c = Spgemm::new().alignment(64).multiply_masked(&da, &da, &dm.pattern()).unwrap().download().unwrap();
    let want = selected(&reference::multiply(&a, &a).unwrap(), m.pattern());
    assert_eq!(bits(&c), bits(&want.with_alignment(64).unwrap()));
}

#[test]
fn alpha_and_beta_reach_the_places_without_products() {
    let a = Csc::from_triplets(2, 2, [(0, 0, 3.0)]).unwrap();
    let m = Csc::from_triplets(2, 2, [(0, 0, 1.0), (1, 0, 1.0), (1, 1, 1.0)]).unwrap();
    let (da, dm) = (device().upload(&a).unwrap(), device().upload(&m).unwrap());
    let plan = Plan::<Csc<f64>>::masked(&da.pattern(), &da.pattern(), &dm.pattern()).unwrap();
    let mut c = plan.output().unwrap();
    c.write_values(&[1.0, 2.0, 4.0]).unwrap();
    plan.execute_scaled(2.0, &da, &da, 0.5, &mut c).unwrap();
    assert_eq!(c.download().unwrap().values(), [18.5, 1.0, 2.0]);
    c.write_values(&[f64::NAN; 3]).unwrap();
    plan.execute(&da, &da, &mut c).unwrap();
    let found: Vec<u64> = c.download().unwrap().values().iter().map(|x| x.to_bits()).collect();
    assert_eq!(found, [9.0f64, 0.0, 0.0].map(f64::to_bits), "what was there is not read, and the zeros are positive");
}

/// The product without its small entries is the reference's, whichever way it is made.
fn check_dropped<M: Matrix + PartialEq + std::fmt::Debug>(a: &M, b: &M, threshold: Threshold) -> u64 {
    let want = drop_below(&reference::multiply(a, b).unwrap(), threshold).unwrap();
    let (da, db) = (device().upload(a).unwrap(), device().upload(b).unwrap());
    let whole = Spgemm::new().drop_below(threshold).estimate(device().info(), a, b).unwrap();
    let room = whole.peak_device_bytes - whole.operand_bytes;
    for limit in [u64::MAX, whole.operand_bytes + room * 3 / 4] {
        let spgemm = Spgemm::new().drop_below(threshold).memory_limit(limit);
        let (c, report) = spgemm.multiply_host(&device(), a, b).unwrap();
        assert_eq!(c, want, "{threshold:?}");
        let told = spgemm.estimate(device().info(), a, b).unwrap();
        assert_eq!(report.bands, told.bands);
        assert!(report.peak_device_bytes <= told.peak_device_bytes, "{report:?} within {told:?}");
        assert!((limit == u64::MAX) == (report.bands == 1), "{} bands within {limit}", report.bands);
        assert_eq!(report.stages.last().unwrap().name, "drop");
    }
    let (c, report) = Spgemm::new().drop_below(threshold).multiply_with_report(&da, &db).unwrap();
    assert_eq!(c.download().unwrap(), want, "{threshold:?}, on the device");
    assert_eq!(Spgemm::new().multiply(&da, &db).unwrap().drop_below(threshold).unwrap().download().unwrap(), want);
    report.dropped
}

#[test]
fn products_without_their_small_entries() {
    let a = generate::uniform(900, 800, 12, shape(1, 1), Values::Real, 4).unwrap();
    let b = generate::uniform(800, 1000, 12, shape(1, 1), Values::Real, 5).unwrap();
    for threshold in [
        Threshold::absolute(0.3),
        Threshold::relative(0.2),
        Threshold::absolute(0.3).keep_diagonal(),
        Threshold::relative(0.9).keep_diagonal(),
    ] {
        assert!(check_dropped(&a, &b, threshold) > 1000);
        assert!(check_dropped(&a.cast::<f32>(), &b.cast(), threshold) > 1000);
    }
    let (a, b) = (generate::uniform(300, 200, 6, shape(3, 6), Values::Real, 4), uniform(200, 300, shape(6, 3), 5));
    let a = a.unwrap();
    assert!(check_dropped(&a, &b, Threshold::absolute(5.0)) > 100);
    let by_rows = |matrix: &Cbc<f64>| Bsr::from_transpose(matrix.transpose());
    assert!(check_dropped(&by_rows(&a), &by_rows(&b), Threshold::relative(0.3)) > 100);
}

#[test]
fn the_diagonal_stays_in_every_band_and_nan_everywhere() {
    let n = 30_000;
    let band = (0..n).flat_map(|j| (j..n.min(j + 3)).map(move |i| (i, j, if i == j { 1e-3 } else { 2e-3 })));
    let mut a = Csc::from_triplets(n, n, band).unwrap();
    let values: Vec<f64> =
        a.values().iter().enumerate().map(|(i, &x)| if i % 500 == 7 { f64::NAN } else { x }).collect();
    a = Csc::new(a.pattern().clone(), values).unwrap();
    let spgemm = Spgemm::new().drop_below(Threshold::absolute(1.0).keep_diagonal());
    let whole = spgemm.estimate(device().info(), &a, &a).unwrap();
    let spgemm = spgemm.memory_limit(whole.peak_device_bytes * 3 / 4);
    let (c, report) = spgemm.multiply_host(&device(), &a, &a).unwrap();
    let whole = reference::multiply(&a, &a).unwrap();
    let nan = (0..whole.nnz()).filter(|&e| whole.values()[e].is_nan()).count();
    let entry = |j: usize, i: usize| c.pattern().column(j).iter().position(|&row| row as usize == i);
    assert!((0..n).all(|j| entry(j, j).is_some()) && report.bands > 1, "{} bands", report.bands);
    assert_eq!(c.values().iter().filter(|x| x.is_nan()).count(), nan);
    assert!(nan > 0 && c.nnz() < n + nan);
}

#[test]
fn tolerances_that_are_none_and_masks_with_tolerances_are_refused() {
    let a = common::scalars::<f64>(Family::Uniform, 9, 9, 3, 1);
    let da = device().upload(&a).unwrap();
    for wrong in [-1e-300, f64::NAN, f64::INFINITY] {
        let message = Spgemm::new().drop_below(wrong).multiply(&da, &da).unwrap_err().to_string();
        assert_eq!(message, format!("a tolerance must be 0 or more, and finite: it is {wrong}"));
        assert!(matches!(da.drop_below(Threshold::relative(wrong)), Err(Error::Argument(_))));
        assert!(matches!(drop_below(&a, wrong), Err(Error::Argument(_))));
    }
    let message = Spgemm::new().drop_below(1.0).multiply_masked(&da, &da, &da.pattern()).unwrap_err().to_string();
    assert!(message.starts_with("a masked product has the mask's pattern"), "{message}");
}

fn triple_of<T: Element>(b: usize, m: usize) {
    let a = uniform::<T>(40, 40, shape(b, b), 1);
    let r = generate::uniform(40, 12, 3, shape(b, m), Values::Integer, 2).unwrap().cast::<T>();
    let right = reference::multiply(&a, &r).unwrap();
    let want = reference::multiply(&r.transpose(), &right).unwrap();
    let (da, dr) = (device().upload(&a).unwrap(), device().upload(&r).unwrap());
    let plan = Triple::<Cbc<T>>::galerkin(&dr.pattern(), &da.pattern()).unwrap();
    let mut c = plan.output().unwrap();
    plan.execute(&dr, &da, &dr, &mut c).unwrap();
    assert_eq!(bits(&c.download().unwrap()), bits(&want), "{b}x{b}, {b}x{m} of {}", T::NAME);
    assert_eq!(plan.products(), reference::products(&a, &r) + reference::products(&r.transpose(), &right));
    let flops = 2 * (reference::products(&a, &r) * b as u64 + reference::products(&r.transpose(), &right) * m as u64);
    assert_eq!(plan.flops(), flops * (b * m) as u64);

    // R stored the other way, and another P.
    let drt = device().upload(&r.transpose()).unwrap();
    let p = uniform::<T>(40, 9, shape(b, 2), 3);
    let dp = device().upload(&p).unwrap();
    let plan = Triple::<Cbc<T>>::multiply(&drt.pattern(), &da.pattern(), &dp.pattern()).unwrap();
    let mut c = plan.output().unwrap();
    plan.execute(&drt, &da, &dp, &mut c).unwrap();
    let want = reference::multiply(&r.transpose(), &reference::multiply(&a, &p).unwrap()).unwrap();
    assert_eq!(bits(&c.download().unwrap()), bits(&want), "R·A·P of {}", T::NAME);
}

#[test]
fn triple_products_are_two_products_of_the_reference() {
    for (b, m) in [(1, 1), (6, 3), (3, 6), (5, 4)] {
        triple_of::<f64>(b, m);
        triple_of::<f32>(b, m);
        triple_of::<f16>(b, m);
    }
    let (a, r) = (uniform::<f64>(30, 30, shape(3, 3), 1), uniform::<f64>(30, 8, shape(3, 2), 2));
    let by_rows = |matrix: &Cbc<f64>| Bsr::from_transpose(matrix.transpose());
    let (da, dr) = (device().upload(&by_rows(&a)).unwrap(), device().upload(&by_rows(&r)).unwrap());
    let plan = Triple::<Bsr<f64>>::galerkin(&dr.pattern(), &da.pattern()).unwrap();
    let mut c = plan.output().unwrap();
    plan.execute(&dr, &da, &dr, &mut c).unwrap();
    let want = reference::multiply(&r.transpose(), &reference::multiply(&a, &r).unwrap()).unwrap();
    assert_eq!(c.download().unwrap(), by_rows(&want));
}

#[test]
fn triple_and_masked_executions_take_no_memory_and_read_nothing() {
    let device = Device::open(device().info()).unwrap(); // counters of its own
    let a = generate::pose_graph(60, 90, 3, Values::Real, 2).unwrap();
    let r = generate::uniform(60, 20, 2, shape(3, 2), Values::Real, 3).unwrap();
    let (mut da, dr) = (device.upload(&a).unwrap(), device.upload(&r).unwrap());
    let triple = Triple::<Cbc<f64>>::galerkin(&dr.pattern(), &da.pattern()).unwrap();
    let masked = Plan::<Cbc<f64>>::masked(&da.pattern(), &da.pattern(), &da.pattern()).unwrap();
    let (mut c, mut m) = (triple.output().unwrap(), masked.output().unwrap());
    for step in 1..4 {
        let values: Vec<f64> = a.values().iter().map(|x| x * (step as f64 + 0.1)).collect();
        let now = Cbc::new(a.pattern().clone(), a.shape(), values).unwrap();
        da.write_values(now.values()).unwrap();
        let before = device.counters();
        triple.execute(&dr, &da, &dr, &mut c).unwrap();
        masked.execute(&da, &da, &mut m).unwrap();
        device.finish().unwrap();
        let after = device.counters();
        assert_eq!((after.buffers_taken, after.read_backs), (before.buffers_taken, before.read_backs));
        assert!(after.commands >= before.commands + 3);
        let want = reference::multiply(&r.transpose(), &reference::multiply(&now, &r).unwrap()).unwrap();
        assert_eq!(bits(&c.download().unwrap()), bits(&want));
        let want = selected(&reference::multiply(&now, &now).unwrap(), a.pattern());
        assert_eq!(bits(&m.download().unwrap()), bits(&want));
    }
    // alpha and beta, and who is refused.
    let before = c.download().unwrap();
    triple.execute_scaled(2.0, (&dr, &da, &dr), -1.0, &mut c).unwrap();
    assert_eq!(bits(&c.download().unwrap()), bits(&before), "2C - C");
    for (x, y, z, name) in [(&da, &da, &dr, "R"), (&dr, &dr, &dr, "A"), (&dr, &da, &da, "P")] {
        let message = triple.execute(x, y, z, &mut c).unwrap_err().to_string();
        assert!(message.starts_with(&format!("{name} has not the pattern of the plan")), "{message}");
    }
    assert!(triple.device_bytes() > 0);
    let mismatch = Triple::<Cbc<f64>>::galerkin(&da.pattern(), &dr.pattern());
    assert!(matches!(mismatch, Err(Error::Dimensions { .. })));
}
