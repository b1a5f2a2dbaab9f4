//! The formats of A·x that support matrices of blocks. Results have the bits of the reference, as
//! for scalars.
use super::{
    bits,
    formats::{check, formats_of, with_values},
    reals, shape,
};
use crate::common::{Family, blocks, device};
use blockmul::{
    Bsr, Cbc, Part, Planned, Semiring,
    element::Order,
    plan::{Accum, Apply, Format},
    product::Factor,
    reference,
};
use half::f16;

/// The matrices have tall, wide and square blocks by columns and by rows, aligned blocks, and
/// blocks too large for a tile. With [`Format::Hyb`], rows have blocks in both of its parts.
#[test]
fn blocks_in_every_format() {
    check(&blocks::<f64>(Family::Uniform, 40, 35, 4, shape(2, 3), 1), "2x3 by columns");
    check(&Bsr::from_transpose(blocks::<f64>(Family::PowerLawColumns, 50, 40, 5, shape(6, 6), 2)), "6x6 by rows");
    check(&blocks::<f32>(Family::Uniform, 20, 25, 3, shape(3, 1), 3).with_alignment(16).unwrap(), "3x1 aligned");
    check(&blocks::<f16>(Family::Uniform, 9, 7, 3, shape(18, 17), 4), "18x17 of f16");
}

/// The test has blocks with the longest sides.
#[test]
fn blocks_of_32_in_every_format() {
    for (rows, cols) in [(1, 32), (32, 1), (32, 32)] {
        check(&blocks::<f64>(Family::Uniform, 9, 7, 3, shape(rows, cols), 5), &format!("{rows}x{cols}"));
    }
}

#[test]
fn blocks_without_rows_or_entries_in_every_format() {
    for (rows, cols) in [(0, 3), (3, 0), (40, 2)] {
        let none: [(usize, usize, nalgebra::DMatrix<f64>); 0] = [];
        check(&Cbc::from_triplets(rows, cols, shape(2, 3), none).unwrap(), &format!("{rows}x{cols} blocks of 2x3"));
    }
}

/// The matrix has rows of more than 1024 blocks. The sums of rows with more than 1024 blocks are
/// computed in pieces of 1024 blocks.
#[test]
fn long_rows_of_blocks_are_cut_where_the_reference_cuts_them() {
    for length in [1025, 2100] {
        let places = (0..length).map(|k| (2, k)).chain((0..60).map(|k| (3 + k % 5, k * 7)));
        let block = || nalgebra::DMatrix::from_element(2, 3, 1.0);
        let a = Cbc::<f64>::from_triplets(9, length, shape(2, 3), places.map(|(i, j)| (i, j, block()))).unwrap();
        check(&Bsr::from_transpose(a.transpose()), &format!("rows of {length} blocks"));
    }
}

#[test]
fn blocks_over_a_semiring_in_every_format() {
    let host = with_values(&blocks::<f64>(Family::Uniform, 40, 35, 4, shape(2, 3), 6), 7);
    let (x, old) = (reals::<f64>(105, 8), reals::<f64>(80, 9));
    let mut want = old.clone();
    reference::multiply_vector_over(Semiring::MinPlus, Order::Ascending, &host, &x, (1.0, 1.0), &mut want).unwrap();
    let (a, x) = (device().upload(&host).unwrap(), device().upload_vector(&x).unwrap());
    for format in formats_of(host.shape()) {
        let pattern = a.pattern();
        let options = Apply::<Cbc<f64>>::with(&pattern).semiring(Semiring::MinPlus).format(format);
        let mut y = device().upload_vector(&old).unwrap();
        options.pack(&a).unwrap().execute(&x, Accum::into(&mut y).beta(1.0)).unwrap();
        assert_eq!(bits(&y.download().unwrap()), bits(&want), "{format}");
    }
}

#[test]
fn a_triangle_of_blocks_has_the_bits_of_the_whole() {
    let device = device();
    let j = blocks::<f64>(Family::Uniform, 60, 40, 4, shape(2, 3), 1);
    // The blocks on the diagonal are changed, and are then not exactly symmetric.
    let of = |part| {
        let a = reference::gram(&j, part).unwrap();
        let shape = a.shape();
        let (pattern, mut values) = a.into_parts();
        let columns = (0..pattern.ncols()).map(|col| (col, pattern.column(col)));
        let on_diagonal = columns.flat_map(|(col, rows)| rows.iter().map(move |&row| row as usize == col));
        for (block, _) in values.chunks_mut(shape.area()).zip(on_diagonal).filter(|(_, on_diagonal)| *on_diagonal) {
            block[1] += 0.5;
        }
        Cbc::new(pattern, shape, values).unwrap()
    };
    let whole = of(Part::Full);
    let x = reals::<f64>(whole.scalar_cols(), 3);
    let wants = [false, true].map(|transposed| {
        let mut want = vec![0.0; whole.scalar_rows()];
        reference::multiply_vector(1.0, Factor { operand: &whole, transposed }, &x, 0.0, &mut want).unwrap();
        want
    });
    let x = device.upload_vector(&x).unwrap();
    for part in [Part::Lower, Part::Upper] {
        let a = device.upload(&of(part)).unwrap();
        for (format, transposed) in formats_of(whole.shape()).flat_map(|one| [(one, false), (one, true)]) {
            let (pattern, want) = (a.pattern(), &wants[usize::from(transposed)]);
            let options = || {
                let options = Apply::<Cbc<f64>>::with(&pattern).symmetric().format(format);
                if transposed { options.transposed() } else { options }
            };
            let (plan, packed) = (options().plan().unwrap(), options().pack(&a).unwrap());
            assert_eq!(plan.cost().flops, 2 * 9 * whole.nnz() as u64);
            let mut y = plan.output().unwrap();
            plan.execute((&a, &x), &mut y).unwrap();
            assert_eq!(bits(&y.download().unwrap()), bits(want), "{format} {part:?} {transposed}");
            y.write(&vec![7.0; want.len()]).unwrap();
            packed.execute(&x, &mut y).unwrap();
            assert_eq!(bits(&y.download().unwrap()), bits(want), "packed {format} {part:?} {transposed}");
        }
    }
}

#[test]
fn formats_that_blocks_do_not_have_are_refused() {
    let a = device().upload(&blocks::<f64>(Family::Uniform, 9, 9, 3, shape(2, 3), 1)).unwrap();
    let pattern = a.pattern();
    let refused = |format| Apply::<Cbc<f64>>::with(&pattern).format(format).plan().unwrap_err().to_string();
    for &format in Format::ALL.iter().chain(Format::COMPARED).filter(|format| !format.has_blocks()) {
        assert_eq!(refused(format), format!("{format} is a format of scalars: op(A) has blocks of 2x3"));
    }
}
