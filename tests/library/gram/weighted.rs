//! Tests of JᵀWJ.
use super::*;

/// Compares all kinds of weights with the reference. J is a matrix of type `M`.
fn weighted_as_reference<M: Matrix>(j: &M, information: &M, per_block: &[M::Element], per_row: &[M::Element]) {
    let dj = device().upload(j).unwrap();
    let dw = device().upload(information).unwrap();
    let (blocks, rows) = (device().upload_vector(per_block).unwrap(), device().upload_vector(per_row).unwrap());
    for part in PARTS {
        let plan = Product::gram(&dj.pattern()).weighted(Weights::Rows(())).part(part).plan::<M>().unwrap();
        let mut h = plan.output().unwrap();
        let pairs = [
            (Weights::Information(&dw), Weights::Information(information)),
            (
                Weights::Scaled { information: &dw, weights: &blocks },
                Weights::Scaled { information, weights: per_block },
            ),
            (Weights::BlockRows(&blocks), Weights::BlockRows(per_block)),
            (Weights::Rows(&rows), Weights::Rows(per_row)),
        ];
        for (on_device, on_host) in pairs {
            plan.execute(Inputs::of(&dj).weights(on_device), &mut h).unwrap();
            let want = reference::gram_weighted(j, on_host, part).unwrap();
            let shape = j.as_cbc().shape;
            assert!(bits(&h.download().unwrap()) == bits(&want), "{part:?} of {shape} with {on_device:?}");
        }
    }
}

fn every_type<T: Element>(values: Values) {
    // The shapes of blocks for compiled kernels and for the general kernel: tall, wide and square
    // blocks, and blocks of one row.
    for (seed, (r, c)) in [(2, 9), (2, 3), (6, 6), (1, 1), (3, 5), (1, 7)].into_iter().enumerate() {
        let (n, seed) = (40, seed as u64);
        let j = jacobian(n, 15, shape(r, c), values, seed).cast::<T>();
        let w = block_diagonal(n, r, values, seed + 50).cast::<T>();
        let (per_block, per_row) = (numbers(n, values, seed), numbers(n * r, values, seed + 9));
        weighted_as_reference(&j, &w, &cast(&per_block), &cast(&per_row));
        let (aligned_j, aligned_w) = (j.with_alignment(64).unwrap(), w.with_alignment(32).unwrap());
        weighted_as_reference(&aligned_j, &aligned_w, &cast(&per_block), &cast(&per_row));
    }
}

#[test]
fn weighted_grams_have_the_bits_of_the_reference() {
    every_type::<f64>(Values::Real);
    every_type::<f32>(Values::Real);
    every_type::<f16>(Values::Integer);
}

#[test]
fn weighted_grams_of_scalars_and_of_rows() {
    let (n, j) = (50, jacobian(50, 20, BlockShape::SCALAR, Values::Real, 3));
    let weights = numbers(n, Values::Real, 1);
    let w = block_diagonal(n, 1, Values::Real, 2);
    let columns = Csc::new(j.pattern().clone(), j.values().to_vec()).unwrap();
    let diagonal = Csc::new(w.pattern().clone(), w.values().to_vec()).unwrap();
    weighted_as_reference(&columns, &diagonal, &weights, &weights);
    let rows = Csr::from_transpose(Csc::new(j.transpose().pattern().clone(), j.transpose().values().to_vec()).unwrap());
    weighted_as_reference(&rows, &Csr::from_transpose(diagonal), &weights, &weights);
    for (r, c) in [(2, 9), (3, 5)] {
        let (j, w) = (jacobian(n, 12, shape(r, c), Values::Real, 4), block_diagonal(n, r, Values::Real, 5));
        weighted_as_reference(&rows_of(&j), &rows_of(&w), &weights, &numbers(n * r, Values::Real, 6));
    }
}

/// The reference has the bits of W·J and then Jᵀ·(W·J), each computed as a single product. The
/// values of the reference are equal to those of products of dense matrices.
#[test]
fn the_reference_of_weighted_grams_is_what_it_says() {
    let (n, r, c) = (30, 3, 4);
    let j = jacobian(n, 10, shape(r, c), Values::Real, 1);
    let w = block_diagonal(n, r, Values::Real, 2);
    let t = reference::multiply(&w, &j).unwrap();
    let want = reference::multiply(&j.transpose(), &t).unwrap();
    let found = reference::gram_weighted(&j, Weights::Information(&w), Part::Full).unwrap();
    assert!(bits(&found) == bits(&want));

    let j = jacobian(n, 10, shape(r, c), Values::Integer, 3);
    let w = block_diagonal(n, r, Values::Integer, 4);
    let (blocks, rows) = (numbers(n, Values::Integer, 5), numbers(n * r, Values::Integer, 6));
    let (dense, dense_w) = (j.to_dense(), w.to_dense());
    let diagonal = |of: &dyn Fn(usize) -> f64| DMatrix::from_fn(n * r, n * r, |i, k| if i == k { of(i) } else { 0.0 });
    let by_block = diagonal(&|i| blocks[i / r]);
    for (weights, dense_w) in [
        (Weights::Information(&w), dense_w.clone()),
        (Weights::Scaled { information: &w, weights: &blocks[..] }, &by_block * &dense_w),
        (Weights::BlockRows(&blocks[..]), by_block.clone()),
        (Weights::Rows(&rows[..]), diagonal(&|i| rows[i])),
    ] {
        let full = dense.transpose() * dense_w * &dense;
        for part in PARTS {
            let h = reference::gram_weighted(&j, weights, part).unwrap();
            for (row, col, block) in h.blocks() {
                assert_eq!(block, full.view((row * c, col * c), (c, c)), "{part:?} ({row}, {col})");
            }
            let in_part = |row: usize, col: usize| match part {
                Part::Lower => row >= col,
                Part::Upper => row <= col,
                _ => true,
            };
            // An entry that is not stored is zero, or is outside of the computed part.
            let stored = h.to_dense();
            for (i, k) in
                (0..10 * c).flat_map(|i| (0..10 * c).map(move |k| (i, k))).filter(|&(i, k)| in_part(i / c, k / c))
            {
                assert_eq!(stored[(i, k)], full[(i, k)]);
            }
        }
    }
}

#[test]
fn weights_of_one_change_no_bit() {
    let j = jacobian(60, 20, shape(2, 9), Values::Real, 8);
    let dj = device().upload(&j).unwrap();
    let ones = device().upload_vector(&vec![1.0; 120]).unwrap();
    let plain = Product::gram(&dj).part(Part::Lower).plan().unwrap();
    let weighted =
        Product::gram(&dj.pattern()).weighted(Weights::Rows(())).part(Part::Lower).plan::<Cbc<f64>>().unwrap();
    let (mut h, mut hw) = (plain.output().unwrap(), weighted.output().unwrap());
    plain.execute((&dj, &dj), &mut h).unwrap();
    weighted.execute(Inputs::of(&dj).weights(Weights::Rows(&ones)), &mut hw).unwrap();
    assert!(bits(&h.download().unwrap()) == bits(&hw.download().unwrap()));
    assert!(bits(&h.download().unwrap()) == bits(&reference::gram(&j, Part::Lower).unwrap()));
    let flops = |weights| {
        Product::gram(&dj.pattern()).weighted(weights).part(Part::Lower).plan::<Cbc<f64>>().unwrap().cost().flops
    };
    assert_eq!(flops(Weights::Rows(())), plain.cost().flops + 2 * 9 * j.nnz() as u64);
    assert_eq!(flops(Weights::Information(())), plain.cost().flops + 4 * 2 * 9 * j.nnz() as u64);
}

/// A weighted gram is used to compute a Schur complement, S = U - Eᵀ·V⁻¹·E.
#[test]
fn a_schur_complement_is_a_weighted_gram_subtracted() {
    let e = jacobian(80, 12, shape(3, 6), Values::Real, 1); // points by cameras
    let inverse = block_diagonal(80, 3, Values::Real, 2);
    let (de, dv) = (device().upload(&e).unwrap(), device().upload(&inverse).unwrap());
    let plan = Product::gram(&de.pattern()).weighted(Weights::Rows(())).part(Part::Lower).plan::<Cbc<f64>>().unwrap();
    let product = reference::gram_weighted(&e, Weights::Information(&inverse), Part::Lower).unwrap();
    let mut s = plan.output().unwrap();
    let u = numbers(product.values().len(), Values::Real, 3);
    s.write_values(&u).unwrap();
    plan.execute(Inputs::of(&de).weights(Weights::Information(&dv)), Accum::into(&mut s).alpha(-1.0).beta(1.0))
        .unwrap();
    let want: Vec<f64> = product.values().iter().zip(&u).map(|(p, u)| -p + u).collect();
    assert!(s.download().unwrap().values() == want);
}
