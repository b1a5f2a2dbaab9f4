//! Tests of the diagonals of matrices of blocks and of scalars.
use super::{reals, scalar_sides, shape};
use crate::common::{Family, blocks, device, scalars};
use blockmul::{Bsr, Cbc, Csc, Csr, Error, Matrix, Planned, plan::Diagonal, reference};
use half::f16;

fn diagonal_of<M: Matrix + PartialEq + std::fmt::Debug>(a: &M) {
    let da = device().upload(a).unwrap();
    let diagonal = Diagonal::<M>::new(&da.pattern()).unwrap();
    let mut d = diagonal.output().unwrap();
    let mut scalars = device().upload_vector(&reals::<M::Element>(scalar_sides(a).0, 2)).unwrap();
    diagonal.execute(&da, &mut d).unwrap();
    diagonal.scalars().execute(&da, &mut scalars).unwrap();
    let want = reference::diagonal(a).unwrap();
    assert_eq!(d.download().unwrap(), want);
    let (dense, scalars) = (a.as_cbc().to_dense(), scalars.download().unwrap());
    assert!((0..scalars.len()).all(|i| scalars[i] == dense[(i, i)]));
    // A diagonal does not depend on the old contents of the output, nor on its stride.
    diagonal.execute(&da, &mut d).unwrap();
    assert_eq!(d.download().unwrap(), want);
}

#[test]
fn diagonals_of_blocks_and_of_scalars() {
    for side in [1, 3, 6, 7, 32] {
        for family in [Family::Uniform, Family::Banded, Family::Arrow, Family::AllEmpty] {
            let a = blocks::<f64>(family, 40, 40, 9, shape(side, side), 3);
            diagonal_of(&a);
            diagonal_of(&a.with_alignment(64).unwrap());
            diagonal_of(&Bsr::from_transpose(a.clone()));
            diagonal_of(&a.cast::<f16>());
        }
    }
    diagonal_of(&scalars::<f32>(Family::Uniform, 500, 500, 20, 1));
    diagonal_of(&Csr::from_transpose(scalars::<f64>(Family::DenseRow, 500, 500, 20, 1)));
    diagonal_of(&Csc::<f64>::from_triplets(0, 0, []).unwrap());
    let oblong = |rows, cols, r, c| {
        let a = device().upload(&blocks::<f64>(Family::Uniform, rows, cols, 2, shape(r, c), 1)).unwrap();
        Diagonal::<Cbc<f64>>::new(&a.pattern()).err()
    };
    for error in [oblong(4, 5, 2, 2), oblong(4, 4, 2, 3), oblong(6, 4, 2, 3)] {
        assert!(matches!(error, Some(Error::Argument(message)) if message.contains("not square")));
    }
}
