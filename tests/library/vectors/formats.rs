//! Every format of A·x has the bits of the reference in the format's order: for every matrix type
//! and element type, for A and its transpose, with A's values in place and packed in the order of
//! the format.
use super::{bits, reals, scalar_sides, shape};
use crate::common::{FAMILIES, Family, Random, blocks, device};
use blockmul::{
    BlockShape, Cbc, Csc, Csr, Element, Matrix, Planned,
    element::Order,
    plan::{Accum, Apply, Format, Split},
    product::Factor,
    reference,
};
use half::f16;

/// Whether a format pads every row to the longest, so that it is refused for a matrix with a long
/// row.
fn pads_all_rows(format: Format) -> bool {
    format == Format::Ell
}

/// Returns the formats whose bits are the same in every run, and `auto`.
fn formats() -> impl Iterator<Item = Format> {
    let all = [Format::Auto].into_iter().chain(Format::ALL.iter().chain(Format::COMPARED).copied());
    all.filter(|format| format.reproducible())
}

/// Returns the formats that add in the order of arrival.
fn atomic() -> impl Iterator<Item = Format> {
    Format::COMPARED.iter().copied().filter(|format| !format.reproducible())
}

/// Returns the formats of [`formats`] that support blocks of a shape.
pub(super) fn formats_of(shape: BlockShape) -> impl Iterator<Item = Format> {
    formats().filter(move |format| shape == BlockShape::SCALAR || format.has_blocks())
}

/// Returns the matrix with other values.
pub(super) fn with_values<M: Matrix>(a: &M, seed: u64) -> M {
    let view = a.as_cbc();
    let values = reals(view.values.len(), seed);
    M::from_cbc(Cbc::with_stride(view.pattern.clone(), view.shape, view.stride, values).unwrap()).unwrap()
}

/// Compares every format of a matrix with the reference. Each plan of a format is executed with two
/// sets of values.
pub(super) fn check<M: Matrix>(pattern: &M, what: &str) {
    let device = device();
    let (rows, cols) = scalar_sides(pattern);
    let matrices = [with_values(pattern, 1), with_values(pattern, 2)];
    let on_device = matrices.each_ref().map(|a| device.upload(a).unwrap());
    for (transposed, x_len, y_len) in [(false, cols, rows), (true, rows, cols)] {
        let (x, mut y) = (reals::<M::Element>(x_len, 11), reals::<M::Element>(y_len, 12));
        let dx = device.upload_vector(&x).unwrap();
        let mut dy = device.zero_vector(y_len).unwrap();
        for format in formats_of(pattern.as_cbc().shape) {
            let pattern = on_device[0].pattern();
            let options = || {
                let options = Apply::<M>::with(&pattern).format(format);
                if transposed { options.transposed() } else { options }
            };
            let (plan, mut packed) = (options().plan().unwrap(), options().pack(&on_device[0]).unwrap());
            assert_eq!((plan.x_len(), plan.y_len(), packed.x_len(), packed.y_len()), (x_len, y_len, x_len, y_len));
            assert!(format == Format::Auto || (plan.format(), packed.format()) == (format, format));
            assert!(plan.format().reproducible());
            for (a, da) in matrices.iter().zip(&on_device) {
                packed.update(da).unwrap();
                for (alpha, beta) in [(1.0, 0.0), (-0.3, 1.7)] {
                    // If beta is 0, the result does not depend on the old contents of y.
                    y.iter_mut()
                        .step_by(3)
                        .for_each(|y| *y = M::Element::from_f64(if beta == 0.0 { f64::NAN } else { 0.25 }));
                    let what = format!("{format}, {what}, {alpha} {beta}, transposed {transposed}");
                    let expected = |order: Order| {
                        let mut want = y.clone();
                        let factor = Factor { operand: a, transposed };
                        reference::multiply_vector_in(order, factor, &x, (alpha, beta), &mut want).unwrap();
                        want
                    };
                    dy.write(&y).unwrap();
                    plan.execute((da, &dx), Accum::into(&mut dy).alpha(alpha).beta(beta)).unwrap();
                    assert_eq!(bits(&dy.download().unwrap()), bits(&expected(plan.format().order())), "{what}");
                    dy.write(&y).unwrap();
                    packed.execute(&dx, Accum::into(&mut dy).alpha(alpha).beta(beta)).unwrap();
                    assert_eq!(
                        bits(&dy.download().unwrap()),
                        bits(&expected(packed.format().order())),
                        "packed {what}"
                    );
                }
            }
        }
    }
}

/// Checks a matrix by columns, and the matrix that has the same arrays by rows.
fn check_types<T: Element>(a: &Csc<T>, what: &str) {
    check(a, what);
    check(&Csr::from_transpose(a.clone()), &format!("{what} by rows"));
}

fn scalars<T: Element>(family: Family, rows: usize, cols: usize, seed: u64) -> Csc<T> {
    blocks::<T>(family, rows, cols, 4, shape(1, 1), seed).to_scalars()
}

#[test]
fn every_element_has_the_bits_of_the_reference() {
    check_types(&scalars::<f64>(Family::Uniform, 90, 70, 1), "f64");
    check_types(&scalars::<f32>(Family::Uniform, 90, 70, 2), "f32");
    check_types(&scalars::<f16>(Family::Uniform, 90, 70, 3), "f16");
    check(&blocks::<f32>(Family::Uniform, 90, 70, 4, shape(1, 1), 4).with_alignment(64).unwrap(), "aligned");
}

#[test]
fn every_family_of_patterns_in_every_format() {
    for family in FAMILIES {
        check_types(&scalars::<f64>(family, 150, 130, 5), &format!("{family:?}"));
    }
}

/// The matrices have no rows, columns or entries; or one of each; or 32 rows, as in a slice, or 33;
/// or rows of 32 entries, as many as a team has items, or of 33.
#[test]
fn small_matrices_in_every_format() {
    for (rows, cols) in [(0, 0), (0, 3), (3, 0), (2, 3), (40, 1)] {
        check_types(&Csc::<f64>::from_triplets(rows, cols, []).unwrap(), &format!("{rows}x{cols} without entries"));
    }
    for (rows, cols) in [(1, 1), (1, 33), (33, 1), (32, 32), (33, 65)] {
        let full = (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j, 1.0)));
        check_types(&Csc::<f64>::from_triplets(rows, cols, full).unwrap(), &format!("full {rows}x{cols}"));
    }
}

/// The matrix has rows of 1024 terms, which are one piece of a sum, longer rows and much longer
/// rows, among short and empty rows.
#[test]
fn long_rows_are_cut_where_the_reference_cuts_them() {
    for length in [1023, 1024, 1025, 5000] {
        let mut random = Random(3);
        let mut places: Vec<_> = (0..length).flat_map(|k| [(2, k), (5 + k % 40, random.below(length))]).collect();
        places.sort_unstable();
        places.dedup();
        let a = Csc::<f64>::from_triplets(60, length, places.into_iter().map(|(i, j)| (i, j, 1.0))).unwrap();
        check_types(&a, &format!("rows of {length}"));
    }
}

/// Sums of small integers are exact in every order.
#[test]
fn sums_in_the_order_of_arrival_have_every_term_once() {
    assert_eq!(atomic().count(), 4);
    assert!(atomic().all(|format| format.name().ends_with("-atomic")));
    assert!(Format::ALL.iter().all(|format| format.reproducible() && !Format::COMPARED.contains(format)));
    fn check<T: Element>(rows: usize, cols: usize, entries: impl Iterator<Item = (usize, usize)>) {
        let values = entries.map(|(i, j)| (i, j, T::from_f64(((i + j) % 3) as f64)));
        let host = Csc::<T>::from_triplets(rows, cols, values).unwrap();
        let x: Vec<T> = (0..cols).map(|j| T::from_f64((j % 2) as f64)).collect();
        let mut want = vec![T::from_f64(3.0); rows];
        reference::multiply_vector(2.0, &host, &x, -1.0, &mut want).unwrap();
        let (a, x) = (device().upload(&host).unwrap(), device().upload_vector(&x).unwrap());
        for format in atomic() {
            let pattern = a.pattern();
            let options = || Apply::<Csc<T>>::with(&pattern).format(format).split(Split::Fraction(0.1));
            let (plan, packed) = (options().plan().unwrap(), options().pack(&a).unwrap());
            let mut y = device().upload_vector(&vec![T::from_f64(3.0); rows]).unwrap();
            plan.execute((&a, &x), Accum::into(&mut y).alpha(2.0).beta(-1.0)).unwrap();
            assert_eq!(bits(&y.download().unwrap()), bits(&want), "{format} {}", T::NAME);
            y.write(&vec![T::from_f64(3.0); rows]).unwrap();
            packed.execute(&x, Accum::into(&mut y).alpha(2.0).beta(-1.0)).unwrap();
            assert_eq!(bits(&y.download().unwrap()), bits(&want), "packed {format} {}", T::NAME);
        }
    }
    // Every third row is empty, and one row is long.
    let entries = |n: usize| {
        let long = (0..n).map(|j| (7, j));
        long.chain((0..n).filter(|i| i % 3 > 0 && *i != 7).flat_map(move |i| [(i, i), (i, (i * 7 + 5) % n)]))
    };
    let distinct = |n: usize| entries(n).collect::<std::collections::BTreeSet<_>>().into_iter();
    // The long row is as long as two limits of `csr-adaptive-atomic`, or one entry longer: the
    // entries of a work-group that has several rows, and of a group that shares a row with others.
    for n in [40, 256, 257, 2048, 2049] {
        check::<f64>(n, n, distinct(n));
        check::<f32>(n, n, distinct(n));
    }
    check::<f16>(40, 40, distinct(40));
    check::<f64>(3, 0, [].into_iter());
    check::<f64>(0, 3, [].into_iter());
}

/// The symmetric matrix is given by its lower triangle, its upper triangle, or a diagonal. These
/// matrices are stored by columns and by rows, and also get new values.
#[test]
fn a_triangle_of_a_symmetric_matrix_has_the_bits_of_the_whole() {
    let device = device();
    for n in [0, 1, 70] {
        let mut random = Random(5);
        let mut lower: Vec<_> =
            (0..n * 4).map(|k| (random.below(n), k % n)).map(|(i, j)| (i.max(j), i.min(j))).collect();
        // The matrix has a long row and a long column, each of two pieces.
        let wide = if n == 70 { 1100 } else { n };
        lower.extend((n..wide).map(|i| (i, 3)));
        lower.sort_unstable();
        lower.dedup();
        let diagonal: Vec<_> = (0..n).map(|i| (i, i)).collect();
        let upper: Vec<_> = lower.iter().map(|&(i, j)| (j, i)).collect();
        for (what, stored) in [("lower", &lower), ("upper", &upper), ("diagonal", &diagonal)] {
            let pattern = Csc::<f64>::from_triplets(wide, wide, stored.iter().map(|&(i, j)| (i, j, 1.0))).unwrap();
            let triangles = [with_values(&pattern, 1), with_values(&pattern, 2)];
            let x = reals::<f64>(wide, 3);
            let dx = device.upload_vector(&x).unwrap();
            let whole = |triangle: &Csc<f64>| {
                let of_column = |j| {
                    triangle
                        .pattern()
                        .entries(j)
                        .map(move |e| (triangle.pattern().row_idx()[e] as usize, j, triangle.values()[e]))
                };
                let entries = (0..wide).flat_map(of_column).collect::<Vec<_>>();
                let mirrored = entries.iter().filter(|(i, j, _)| i != j).map(|&(i, j, v)| (j, i, v));
                Csc::from_triplets(wide, wide, entries.iter().copied().chain(mirrored)).unwrap()
            };
            let on_device = triangles.each_ref().map(|a| device.upload(a).unwrap());
            // For this matrix ELL would consist almost only of padding.
            for format in formats().filter(|&format| !pads_all_rows(format) || wide == n) {
                let pattern = on_device[0].pattern();
                let options = || Apply::<Csc<f64>>::with(&pattern).symmetric().format(format);
                let (plan, mut packed) = (options().plan().unwrap(), options().pack(&on_device[0]).unwrap());
                for (triangle, a) in triangles.iter().zip(&on_device) {
                    let mut want = vec![0.0; wide];
                    let order = plan.format().order();
                    let whole = whole(triangle);
                    reference::multiply_vector_in(order, &whole, &x, (1.0, 0.0), &mut want).unwrap();
                    assert_eq!(plan.cost().flops, 2 * whole.nnz() as u64);
                    let mut y = plan.output().unwrap();
                    plan.execute((a, &dx), &mut y).unwrap();
                    assert_eq!(bits(&y.download().unwrap()), bits(&want), "{format} {what} {n}");
                    packed.update(a).unwrap();
                    packed.execute(&dx, &mut y).unwrap();
                    assert_eq!(
                        packed.format().order() == order,
                        bits(&y.download().unwrap()) == bits(&want),
                        "{format}"
                    );
                }
            }
        }
    }
}

#[test]
fn matrices_that_are_no_triangle_are_refused() {
    let refused = |rows, cols, entries: &[(usize, usize)]| {
        let values = entries.iter().map(|&(i, j)| (i, j, 1.0));
        let a = device().upload(&Csc::<f64>::from_triplets(rows, cols, values).unwrap()).unwrap();
        Apply::<Csc<f64>>::with(&a.pattern()).symmetric().plan().unwrap_err().to_string()
    };
    assert_eq!(refused(2, 3, &[(0, 0)]), "A is 2 x 3, a symmetric matrix is square");
    let both = "A has entries below its diagonal and above it: one triangle of a symmetric matrix is expected";
    assert_eq!(refused(3, 3, &[(1, 0), (0, 2)]), both);
    let a = device().upload(&blocks::<f64>(Family::Uniform, 9, 9, 3, shape(2, 3), 1)).unwrap();
    let blocks = Apply::<Cbc<f64>>::with(&a.pattern()).symmetric().plan().unwrap_err();
    assert_eq!(blocks.to_string(), "A is 9 x 9 blocks of 2x3, a symmetric matrix is square");
}

/// The test has HYB with only the dense part, with only the list of other entries, and with both.
/// Some rows are as wide as the dense part of HYB, and some are one entry wider; the list of other
/// entries has several pieces. The dense part is at most 1023 wide.
#[test]
fn no_split_of_hyb_changes_a_bit() {
    let lengths = |row: usize| if row == 7 { 3000 } else { row * 3 % 8 };
    let entries = (0..90).flat_map(|row| (0..lengths(row)).map(move |k| (row, k + row, 1.0)));
    let host = with_values(&Csc::<f64>::from_triplets(90, 3100, entries).unwrap(), 1);
    let a = device().upload(&host).unwrap();
    let x = reals::<f64>(3100, 2);
    let dx = device().upload_vector(&x).unwrap();
    let mut want = vec![0.0; 90];
    reference::multiply_vector(1.0, &host, &x, 0.0, &mut want).unwrap();
    let splits = [Split::Bytes, Split::Filled, Split::Capped].into_iter();
    let splits = splits.chain([0.0, 0.001, 0.35, 1.0].map(Split::Fraction));
    for split in splits.chain([0.0, 0.5, 0.8, 1.0].map(Split::Quantile)) {
        let packed = Apply::with(&a.pattern()).format(Format::Hyb).split(split).pack(&a).unwrap();
        let mut y = packed.output().unwrap();
        packed.execute(&dx, &mut y).unwrap();
        assert_eq!(bits(&y.download().unwrap()), bits(&want), "{split}");
    }
}

/// If x contains infinities, padding must not cause NaN.
#[test]
fn padding_is_not_multiplied() {
    let a = Csc::from_triplets(3, 2, [(0, 0, 2.0), (0, 1, 3.0), (2, 1, 4.0)]).unwrap();
    let (a, x) = (device().upload(&a).unwrap(), device().upload_vector(&[f64::INFINITY, 1.0]).unwrap());
    for format in formats() {
        let packed = Apply::with(&a.pattern()).format(format).pack(&a).unwrap();
        let mut y = packed.output().unwrap();
        packed.execute(&x, &mut y).unwrap();
        assert_eq!(y.download().unwrap(), [f64::INFINITY, 0.0, 4.0], "{format}");
    }
}

#[test]
fn a_format_that_is_mostly_padding_is_refused_with_its_bytes() {
    let n = 1 << 12;
    let row = (0..n).map(|j| (7, j, 1.0)).chain((0..n).filter(|&i| i != 7).map(|i| (i, i, 1.0)));
    let a = device().upload(&Csc::<f64>::from_triplets(n, n, row).unwrap()).unwrap();
    let refused = Apply::<Csc<f64>>::with(&a.pattern()).format(Format::Ell).plan().unwrap_err().to_string();
    assert!(
        refused.starts_with("the format ell would take 268435456 bytes for 8191 entries of 131056 bytes"),
        "{refused}"
    );
    for format in formats().filter(|&format| !pads_all_rows(format)) {
        Apply::<Csc<f64>>::with(&a.pattern()).format(format).plan().unwrap();
    }
}

#[test]
fn names_are_read_back() {
    for format in formats() {
        assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
        assert_eq!(serde_json::to_value(format).unwrap(), format.name());
    }
    let unknown = "bsr".parse::<Format>().unwrap_err().to_string();
    assert!(unknown.starts_with("no format \"bsr\"; there are: auto, csr, csr-vector,"), "{unknown}");
}
