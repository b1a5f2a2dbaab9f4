//! Matrices of groups: products, grams, weighted grams.
use super::*;

/// A grid of groups in which some cells are missing. `rows` and `cols` give the number of blocks
/// and their side for each group.
pub fn grid(
    rows: &[(usize, usize)],
    cols: &[(usize, usize)],
    missing: &[(usize, usize)],
    values: Values,
    seed: u64,
) -> BlockGroups<Cbc<f64>> {
    let group = |&(blocks, side): &(usize, usize)| Group { blocks, side };
    let mut cells = Vec::new();
    for (i, &(nrows, r)) in rows.iter().enumerate() {
        for (k, &(ncols, c)) in cols.iter().enumerate() {
            let seed = seed + (i * 10 + k) as u64;
            let cell = || {
                generate::Uniform {
                    rows: nrows,
                    cols: ncols,
                    per_column: 3.min(nrows),
                    shape: shape(r, c),
                    values,
                    seed,
                }
                .matrix()
                .unwrap()
            };
            cells.push((!missing.contains(&(i, k))).then(cell));
        }
    }
    BlockGroups::new(rows.iter().map(group).collect(), cols.iter().map(group).collect(), cells).unwrap()
}

fn cast_groups<T: Element>(m: &BlockGroups<Cbc<f64>>) -> BlockGroups<Cbc<T>> {
    let cells = m.clone().into_cells().into_iter().map(|cell| cell.map(|cell| cell.cast())).collect();
    BlockGroups::new(m.row_groups().to_vec(), m.col_groups().to_vec(), cells).unwrap()
}

fn by_rows<T: Element>(m: &BlockGroups<Cbc<T>>) -> BlockGroups<Bsr<T>> {
    let cells = m.clone().into_cells().into_iter().map(|cell| cell.map(|cell| rows_of(&cell))).collect();
    BlockGroups::new(m.row_groups().to_vec(), m.col_groups().to_vec(), cells).unwrap()
}

/// Factors of a product of groups. Two cells of C are sums of three products, and one is a sum of
/// two. Two cells of C are a single product, and one is empty.
pub fn operands(values: Values) -> (BlockGroups<Cbc<f64>>, BlockGroups<Cbc<f64>>) {
    let inner = [(12, 9), (20, 3), (7, 2)];
    let a = grid(&[(15, 2), (9, 6)], &inner, &[(1, 2)], values, 1);
    let b = grid(&inner, &[(8, 6), (11, 1), (4, 5)], &[(0, 2), (1, 2)], values, 100);
    (a, b)
}

fn multiplied<M: Matrix>(a: &BlockGroups<M>, b: &BlockGroups<M>) {
    let (da, db) = (device().upload_groups(a).unwrap(), device().upload_groups(b).unwrap());
    let want = reference::multiply_groups(a, b).unwrap();
    let cells: Vec<bool> = group_bits(&want).iter().map(Option::is_some).collect();
    assert_eq!(cells, [true, true, true, true, true, false]);
    assert!(group_bits(&Product::of(&da, &db).run().unwrap().download().unwrap()) == group_bits(&want));
    let at = device().upload_groups(&a.transpose()).unwrap();
    let plan = Product::of(at.t(), &db).plan().unwrap();
    let mut c = plan.output().unwrap();
    plan.execute((&at, &db), &mut c).unwrap();
    assert!(group_bits(&c.download().unwrap()) == group_bits(&want));
}

#[test]
fn products_of_groups_have_the_bits_of_the_reference() {
    let (a, b) = operands(Values::Real);
    multiplied(&a, &b);
    multiplied(&cast_groups::<f32>(&a), &cast_groups::<f32>(&b));
    multiplied(&by_rows(&a), &by_rows(&b));
    let (a, b) = operands(Values::Integer);
    multiplied(&cast_groups::<f16>(&a), &cast_groups::<f16>(&b));
    let dense = |m: &BlockGroups<Cbc<f64>>| m.to_dense();
    assert_eq!(dense(&reference::multiply_groups(&a, &b).unwrap()), dense(&a) * dense(&b));
    assert_eq!(by_rows(&a).to_dense(), a.to_dense());
    assert_eq!(a.transpose().to_dense(), a.to_dense().transpose());
    assert_eq!(device().upload_groups(&a).unwrap().download().unwrap(), a);
}

const ALL_PARTS: [GramParts; 5] = [
    GramParts { diagonal: Part::Full, between: Part::Full },
    GramParts { diagonal: Part::Lower, between: Part::Lower },
    GramParts { diagonal: Part::Upper, between: Part::Upper },
    GramParts { diagonal: Part::Lower, between: Part::Upper },
    GramParts { diagonal: Part::Full, between: Part::Lower },
];

/// A Jacobian of three groups of rows: observations, and two kinds that have blocks in only some
/// groups of columns. The groups of rows contribute to the Hessian with different patterns, which
/// are united.
pub fn residuals(values: Values) -> BlockGroups<Cbc<f64>> {
    grid(&[(60, 2), (13, 6), (5, 1)], &[(9, 9), (25, 3), (3, 4)], &[(1, 1), (2, 0), (2, 1)], values, 7)
}

fn grams<M: Matrix>(j: &BlockGroups<M>) {
    let dj = device().upload_groups(j).unwrap();
    for parts in ALL_PARTS {
        let plan = Product::gram(&dj).part(parts).plan().unwrap();
        let mut h = plan.output().unwrap();
        plan.execute((&dj, &dj), &mut h).unwrap();
        let want = reference::gram_groups(j, parts).unwrap();
        assert!(group_bits(&h.download().unwrap()) == group_bits(&want), "{parts:?}");
    }
}

#[test]
fn grams_of_groups_have_the_bits_of_the_reference() {
    grams(&residuals(Values::Real));
    grams(&cast_groups::<f32>(&residuals(Values::Real)));
    grams(&cast_groups::<f16>(&residuals(Values::Integer)));
    grams(&by_rows(&residuals(Values::Real)));
    grams(
        &generate::Visibility { cameras: 10, points: 100, views: 4, shape: shape(9, 3), seed: 3, ..Default::default() }
            .jacobian()
            .unwrap(),
    );
    let j = residuals(Values::Integer);
    let (h, dense) = (reference::gram_groups(&j, Part::Full).unwrap(), j.to_dense());
    assert_eq!(h.to_dense(), dense.transpose() * &dense);
    let lower = reference::gram_groups(&j, Part::Lower).unwrap().to_dense();
    for i in 0..dense.ncols() {
        assert!((0..=i).all(|k| lower[(i, k)] == dense.column(i).dot(&dense.column(k))), "row {i}");
    }
}

/// Checks a product with a different kind of weights for each group of rows.
fn weighted_groups<M: Matrix>(j: &BlockGroups<M>, information: &M) {
    let cast = |values: Vec<f64>| cast::<M::Element>(&values);
    let (rows, blocks) = (cast(numbers(13 * 6, Values::Integer, 1)), cast(numbers(5, Values::Integer, 2)));
    let losses = cast(numbers(60, Values::Integer, 3));
    let host = [
        Weights::Scaled { information, weights: &losses[..] },
        Weights::Rows(&rows[..]),
        Weights::BlockRows(&blocks[..]),
    ];
    let dj = device().upload_groups(j).unwrap();
    let dw = device().upload(information).unwrap();
    let on_device = |values: &[M::Element]| device().upload_vector(values).unwrap();
    let (rows, blocks, losses) = (on_device(&rows), on_device(&blocks), on_device(&losses));
    let weights =
        [Weights::Scaled { information: &dw, weights: &losses }, Weights::Rows(&rows), Weights::BlockRows(&blocks)];
    for parts in ALL_PARTS {
        let plan = Product::gram(&dj.pattern()).weighted(&WEIGHTED).part(parts).plan::<M>().unwrap();
        let mut h = plan.output().unwrap();
        plan.execute(Inputs::of(&dj).weights(&weights), &mut h).unwrap();
        let want = reference::gram_groups_weighted(j, &host, parts).unwrap();
        assert!(group_bits(&h.download().unwrap()) == group_bits(&want), "{parts:?}");
        assert_eq!(plan.weights_patterns()[0].nrows(), 60);
        assert!(matches!(
            plan.execute(Inputs::of(&dj).weights(&weights[..2]), &mut h),
            Err(Error::Length { found: 2, expected: 3, .. })
        ));
    }
}

#[test]
fn weighted_grams_of_groups_have_the_bits_of_the_reference() {
    let (real, w) = (residuals(Values::Real), block_diagonal(60, 2, Values::Real, 5));
    weighted_groups(&real, &w);
    weighted_groups(&by_rows(&real), &rows_of(&w));
    weighted_groups(
        &cast_groups::<f16>(&residuals(Values::Integer)),
        &block_diagonal(60, 2, Values::Integer, 5).cast(),
    );
}

#[test]
fn sums_over_groups_are_scaled_once() {
    let j = residuals(Values::Real);
    let dj = device().upload_groups(&j).unwrap();
    let plan = Product::gram(&dj).part(Part::Lower).plan().unwrap();
    let want = reference::gram_groups(&j, Part::Lower).unwrap();
    let mut h = plan.output().unwrap();
    for (alpha, beta) in [(0.3, 0.7), (-2.0, 0.0)] {
        let mut starts = Vec::new();
        for (row, col) in [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)] {
            let n = want.get(row, col).unwrap().values().len();
            // The old values of y are NaN if beta is 0, because they must not be read.
            let start = if beta == 0.0 { vec![f64::NAN; n] } else { numbers(n, Values::Real, 4) };
            h.get_mut(row, col).unwrap().write_values(&start).unwrap();
            starts.push(((row, col), start));
        }
        plan.execute((&dj, &dj), Accum::into(&mut h).alpha(alpha).beta(beta)).unwrap();
        for ((row, col), start) in starts {
            let one = |(&sum, before): (&f64, f64)| if beta == 0.0 { alpha * sum } else { alpha * sum + beta * before };
            let expected: Vec<f64> = want.get(row, col).unwrap().values().iter().zip(start).map(one).collect();
            assert!(h.get(row, col).unwrap().download().unwrap().values() == expected, "({row}, {col})");
        }
    }
}

#[test]
fn a_single_negative_zero_stays_negative() {
    let one = |rows, cols, row, col, value: f64| Csc::from_triplets(rows, cols, [(row, col, value)]).unwrap();
    let a = BlockGroups::side_by_side([one(2, 1, 0, 0, -0.0), one(2, 1, 1, 0, 1.0)]).unwrap();
    let b = BlockGroups::side_by_side([one(1, 2, 0, 0, 1.0).transpose(), one(1, 2, 0, 1, 1.0).transpose()]).unwrap();
    let (da, db) = (device().upload_groups(&a).unwrap(), device().upload_groups(&b.transpose()).unwrap());
    let c = Product::of(&da, &db).run().unwrap().download().unwrap();
    assert_eq!(
        c.get(0, 0).unwrap().values().iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
        [(-0.0f64).to_bits(), 1.0f64.to_bits()]
    );
}
