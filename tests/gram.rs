//! JᵀJ, JᵀWJ and matrices of groups against serial references, to the bit, and against dense products of whole numbers.
mod common;

use blockmul::{
    BlockGroups, BlockShape, Bsr, Cbc, Csc, Csr, Device, DeviceGroups, DeviceMatrix, Element, Error, GramParts, Group,
    GroupsPlan, Matrix, Part, Plan, WeightedGram, WeightedGroupsGram, Weights, generate, generate::Values, reference,
};
use common::{Random, device};
use half::f16;
use nalgebra::DMatrix;

const PARTS: [Part; 3] = [Part::Full, Part::Lower, Part::Upper];

fn shape(rows: usize, cols: usize) -> BlockShape {
    BlockShape::new(rows, cols).unwrap()
}

/// Pattern, shape and bits of any matrix.
fn bits<M: Matrix>(m: &M) -> (blockmul::Pattern, BlockShape, Vec<Vec<u8>>) {
    let view = m.as_cbc();
    let blocks = (0..view.pattern.nnz()).map(|e| bytemuck::cast_slice(view.block(e)).to_vec()).collect();
    (view.pattern.clone(), view.shape, blocks)
}

fn group_bits<M: Matrix>(m: &BlockGroups<M>) -> Vec<Option<(blockmul::Pattern, BlockShape, Vec<Vec<u8>>)>> {
    let (rows, cols) = (m.row_groups().len(), m.col_groups().len());
    (0..rows * cols).map(|i| m.get(i / cols, i % cols).map(bits)).collect()
}

fn numbers(n: usize, values: Values, seed: u64) -> Vec<f64> {
    let mut random = Random(seed);
    let one = |random: &mut Random| match values {
        Values::Integer => random.below(9) as f64 - 4.0,
        Values::Real => random.below(1 << 30) as f64 / (1 << 29) as f64 - 1.0,
    };
    (0..n).map(|_| one(&mut random)).collect()
}

fn cast<T: Element>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&x| T::from_f64(x)).collect()
}

/// n blocks on the diagonal, not symmetric: what is asked is W, whatever it is.
fn block_diagonal(n: usize, side: usize, values: Values, seed: u64) -> Cbc<f64> {
    let pattern = blockmul::Pattern::new(n, n, (0..=n as u64).collect(), (0..n as u32).collect()).unwrap();
    Cbc::new(pattern, shape(side, side), numbers(n * side * side, values, seed)).unwrap()
}

/// Rows of 0 to many blocks.
fn jacobian(rows: usize, cols: usize, block: BlockShape, values: Values, seed: u64) -> Cbc<f64> {
    generate::uniform(rows, cols, 4.min(rows), block, values, seed).unwrap()
}

fn rows_of<T: Element>(m: &Cbc<T>) -> Bsr<T> {
    Bsr::from_transpose(m.transpose())
}

/// All weights there are, on J as `M`, against the reference.
fn weighted_as_reference<M: Matrix>(j: &M, information: &M, per_block: &[M::Element], per_row: &[M::Element]) {
    let dj = device().upload(j).unwrap();
    let dw = device().upload(information).unwrap();
    let (blocks, rows) = (device().upload_vector(per_block).unwrap(), device().upload_vector(per_row).unwrap());
    for part in PARTS {
        let plan = WeightedGram::<M>::new(&dj.pattern(), part).unwrap();
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
            plan.execute(&dj, on_device, &mut h).unwrap();
            let want = reference::gram_weighted(j, on_host, part).unwrap();
            let shape = j.as_cbc().shape;
            assert!(bits(&h.download().unwrap()) == bits(&want), "{part:?} of {shape} with {on_device:?}");
        }
    }
}

fn every_type<T: Element>(values: Values) {
    // Compiled kernels and the general one, tall, wide and square; one residual.
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

/// The order of operations, spelled out with products alone, and the values, by dense matrices.
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
            // What is not stored is zero, or is not asked for.
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
    let plain = Plan::<Cbc<f64>>::gram(&dj.pattern(), Part::Lower).unwrap();
    let weighted = WeightedGram::<Cbc<f64>>::new(&dj.pattern(), Part::Lower).unwrap();
    let (mut h, mut hw) = (plain.output().unwrap(), weighted.output().unwrap());
    plain.execute(&dj, &dj, &mut h).unwrap();
    weighted.execute(&dj, Weights::Rows(&ones), &mut hw).unwrap();
    assert!(bits(&h.download().unwrap()) == bits(&hw.download().unwrap()));
    assert!(bits(&h.download().unwrap()) == bits(&reference::gram(&j, Part::Lower).unwrap()));
    let flops = plain.flops() + 2 * 9 * j.nnz() as u64;
    assert_eq!(weighted.flops(&Weights::<(), _>::Rows(())), flops);
    assert_eq!(weighted.flops(&Weights::<_, ()>::Information(())), plain.flops() + 4 * 2 * 9 * j.nnz() as u64);
}

/// S = U - Eᵀ·V⁻¹·E, a Schur complement, from a weighted gram.
#[test]
fn a_schur_complement_is_a_weighted_gram_subtracted() {
    let e = jacobian(80, 12, shape(3, 6), Values::Real, 1); // points by cameras
    let inverse = block_diagonal(80, 3, Values::Real, 2);
    let (de, dv) = (device().upload(&e).unwrap(), device().upload(&inverse).unwrap());
    let plan = WeightedGram::<Cbc<f64>>::new(&de.pattern(), Part::Lower).unwrap();
    let product = reference::gram_weighted(&e, Weights::Information(&inverse), Part::Lower).unwrap();
    let mut s = plan.output().unwrap();
    let u = numbers(product.values().len(), Values::Real, 3);
    s.write_values(&u).unwrap();
    plan.execute_scaled(-1.0, &de, Weights::Information(&dv), 1.0, &mut s).unwrap();
    let want: Vec<f64> = product.values().iter().zip(&u).map(|(p, u)| -p + u).collect();
    assert!(s.download().unwrap().values() == want);
}

fn row_lengths(j: &Cbc<f64>) -> Vec<u64> {
    let mut lengths = vec![0; j.nrows()];
    j.pattern().row_idx().iter().for_each(|&row| lengths[row as usize] += 1);
    lengths
}

fn triangle(lengths: &[u64]) -> u64 {
    lengths.iter().map(|k| k * (k + 1) / 2).sum()
}

#[test]
fn a_triangle_takes_exactly_the_products_it_is_made_of() {
    // A pose graph has rows of one and two blocks; with factors of three and seven poses and rows of none, all degrees mix.
    let graph = generate::pose_graph_jacobian(60, 80, 3, Values::Real, 1).unwrap();
    let mut random = Random(5);
    let mut places: Vec<(usize, usize)> = graph.blocks().map(|(row, col, _)| (row, col)).collect();
    for row in 0..40 {
        let degree = [0, 1, 3, 7][row % 4];
        places.extend((0..degree).map(|i| (graph.nrows() + row, (random.below(8) + i * 8) % 60)));
    }
    let block = DMatrix::from_fn(3, 3, |i, k| (i + 2 * k) as f64);
    let mixed =
        Cbc::from_triplets(graph.nrows() + 40, 60, shape(3, 3), places.into_iter().map(|(i, k)| (i, k, block.clone())));
    for j in [graph, mixed.unwrap()] {
        let lengths = row_lengths(&j);
        let dj = device().upload(&j).unwrap();
        let weighted = WeightedGram::<Cbc<f64>>::new(&dj.pattern(), Part::Lower).unwrap();
        let plan = Plan::<Cbc<f64>>::gram(&dj.pattern(), Part::Lower).unwrap();
        assert_eq!((plan.products(), weighted.products()), (triangle(&lengths), triangle(&lengths)));
        assert_eq!(plan.flops(), 2 * 27 * triangle(&lengths));
        let full = Plan::<Cbc<f64>>::gram(&dj.pattern(), Part::Full).unwrap();
        assert_eq!(full.products(), lengths.iter().map(|k| k * k).sum::<u64>());
        let mut h = plan.output().unwrap();
        plan.execute(&dj, &dj, &mut h).unwrap();
        assert!(bits(&h.download().unwrap()) == bits(&reference::gram(&j, Part::Lower).unwrap()));
    }
}

#[test]
fn groups_of_a_bundle_adjustment_take_exactly_the_products_they_are_made_of() {
    let j = generate::bundle_adjustment_jacobian(10, 70, 3, 9, Values::Real, 2).unwrap();
    // Priors on cameras: rows of one block beside those of two; and a third group, of four parameters in all rows.
    let (camera, point) = (j.get(0, 0).unwrap().clone(), j.get(0, 1).unwrap().clone());
    let rows = camera.nrows();
    let shared = Cbc::new(
        blockmul::Pattern::new(rows, 1, vec![0, rows as u64], (0..rows as u32).collect()).unwrap(),
        shape(2, 4),
        numbers(rows * 8, Values::Real, 3),
    );
    let three = BlockGroups::side_by_side([camera, point, shared.unwrap()]).unwrap();
    for (j, degree) in [(j, 2), (three, 3)] {
        let dj = device().upload_groups(&j).unwrap();
        let lower = GroupsPlan::<Cbc<f64>>::gram(&dj.pattern(), Part::Lower).unwrap();
        assert_eq!(lower.products(), rows as u64 * degree * (degree + 1) / 2);
        let full = GroupsPlan::<Cbc<f64>>::gram(&dj.pattern(), Part::Full).unwrap();
        assert_eq!(full.products(), rows as u64 * degree * degree);
        let sides: Vec<u64> = j.col_groups().iter().map(|group| group.side as u64).collect();
        let width: u64 = sides.iter().sum();
        assert_eq!(full.flops(), 2 * rows as u64 * 2 * width * width);
    }
}

/// A grid of groups with some cells missing; `rows` and `cols` are blocks and sides.
fn grid(
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
            let cell = || generate::uniform(nrows, ncols, 3.min(nrows), shape(r, c), values, seed).unwrap();
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

/// Products of rows A by B: two cells sum three products, one sums two, one is a single product, one is not there.
fn operands(values: Values) -> (BlockGroups<Cbc<f64>>, BlockGroups<Cbc<f64>>) {
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
    assert!(group_bits(&da.multiply(&db).unwrap().download().unwrap()) == group_bits(&want));
    let at = device().upload_groups(&a.transpose()).unwrap();
    let plan = GroupsPlan::<M>::multiply_transposed(&at.pattern(), &db.pattern()).unwrap();
    let mut c = plan.output().unwrap();
    plan.execute(&at, &db, &mut c).unwrap();
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

/// Observations, and rows of two other kinds that have some of the groups: their Hessians have other patterns, which are united.
fn residuals(values: Values) -> BlockGroups<Cbc<f64>> {
    grid(&[(60, 2), (13, 6), (5, 1)], &[(9, 9), (25, 3), (3, 4)], &[(1, 1), (2, 0), (2, 1)], values, 7)
}

fn grams<M: Matrix>(j: &BlockGroups<M>) {
    let dj = device().upload_groups(j).unwrap();
    for parts in ALL_PARTS {
        let plan = GroupsPlan::<M>::gram(&dj.pattern(), parts).unwrap();
        let mut h = plan.output().unwrap();
        plan.execute(&dj, &dj, &mut h).unwrap();
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
    grams(&generate::bundle_adjustment_jacobian(10, 100, 4, 9, Values::Real, 3).unwrap());
    let j = residuals(Values::Integer);
    let (h, dense) = (reference::gram_groups(&j, Part::Full).unwrap(), j.to_dense());
    assert_eq!(h.to_dense(), dense.transpose() * &dense);
    let lower = reference::gram_groups(&j, Part::Lower).unwrap().to_dense();
    for i in 0..dense.ncols() {
        assert!((0..=i).all(|k| lower[(i, k)] == dense.column(i).dot(&dense.column(k))), "row {i}");
    }
}

/// Weights of another kind for each group of rows.
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
        let plan = WeightedGroupsGram::<M>::new(&dj.pattern(), parts).unwrap();
        let mut h = plan.output().unwrap();
        plan.execute(&dj, &weights, &mut h).unwrap();
        let want = reference::gram_groups_weighted(j, &host, parts).unwrap();
        assert!(group_bits(&h.download().unwrap()) == group_bits(&want), "{parts:?}");
        assert_eq!(plan.weights_patterns()[0].nrows(), 60);
        assert!(matches!(plan.execute(&dj, &weights[..2], &mut h), Err(Error::Length { found: 2, expected: 3, .. })));
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
    let plan = GroupsPlan::<Cbc<f64>>::gram(&dj.pattern(), Part::Lower).unwrap();
    let want = reference::gram_groups(&j, Part::Lower).unwrap();
    let mut h = plan.output().unwrap();
    for (alpha, beta) in [(0.3, 0.7), (-2.0, 0.0)] {
        let mut starts = Vec::new();
        for (row, col) in [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)] {
            let n = want.get(row, col).unwrap().values().len();
            // What is not read may be anything.
            let start = if beta == 0.0 { vec![f64::NAN; n] } else { numbers(n, Values::Real, 4) };
            h.get_mut(row, col).unwrap().write_values(&start).unwrap();
            starts.push(((row, col), start));
        }
        plan.execute_scaled(alpha, &dj, &dj, beta, &mut h).unwrap();
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
    let c = da.multiply(&db).unwrap().download().unwrap();
    assert_eq!(
        c.get(0, 0).unwrap().values().iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
        [(-0.0f64).to_bits(), 1.0f64.to_bits()]
    );
}

#[test]
fn executions_take_no_memory_and_read_nothing() {
    let device = Device::open(device().info()).unwrap(); // counters of its own
    let j = residuals(Values::Real);
    let dj = device.upload_groups(&j).unwrap();
    let cell = dj.get(0, 0).unwrap();
    let gram = WeightedGram::<Cbc<f64>>::new(&cell.pattern(), Part::Lower).unwrap();
    let groups = WeightedGroupsGram::<Cbc<f64>>::new(&dj.pattern(), Part::Lower).unwrap();
    let (mut h, mut hs) = (gram.output().unwrap(), groups.output().unwrap());
    let mut information = DeviceMatrix::zeros(gram.weights_pattern()).unwrap();
    information.write_values(block_diagonal(60, 2, Values::Real, 5).values()).unwrap();
    let vector = |n: usize| device.upload_vector(&numbers(n, Values::Real, 6)).unwrap();
    let (losses, rows, blocks) = (vector(60), vector(13 * 6), vector(5));
    let weights = [Weights::BlockRows(&losses), Weights::Rows(&rows), Weights::BlockRows(&blocks)];
    let before = device.counters();
    for _ in 0..20 {
        gram.execute(cell, Weights::Scaled { information: &information, weights: &losses }, &mut h).unwrap();
        groups.execute(&dj, &weights, &mut hs).unwrap();
    }
    device.finish().unwrap();
    let after = device.counters();
    let taken = |c: blockmul::Counters| (c.buffers_created, c.buffers_taken, c.read_backs);
    assert_eq!(taken(after), taken(before));
    assert!(after.commands > before.commands + 20 * 12);
    assert!(gram.device_bytes() > 0 && groups.device_bytes() > groups.pattern().nnz() as u64 * 4);
}

#[test]
fn two_threads_execute_one_plan() {
    let j = residuals(Values::Real);
    let dj = device().upload_groups(&j).unwrap();
    let plan = WeightedGroupsGram::<Cbc<f64>>::new(&dj.pattern(), Part::Upper).unwrap();
    std::thread::scope(|scope| {
        for seed in [1, 2] {
            let (plan, dj, j) = (&plan, &dj, &j);
            scope.spawn(move || {
                let of = [60 * 2, 13 * 6, 5].map(|n| numbers(n, Values::Real, seed));
                let vectors = of.each_ref().map(|values| device().upload_vector(values).unwrap());
                let want = of.each_ref().map(|values| Weights::Rows(&values[..]));
                let want = reference::gram_groups_weighted(j, &want, Part::Upper).unwrap();
                for _ in 0..10 {
                    let mut h = plan.output().unwrap();
                    plan.execute(dj, &vectors.each_ref().map(|vector| Weights::Rows(vector)), &mut h).unwrap();
                    assert!(group_bits(&h.download().unwrap()) == group_bits(&want));
                }
            });
        }
    });
}

#[test]
fn nothing_is_planned_too() {
    for (rows, cols) in [(0, 0), (0, 3), (3, 0), (3, 2)] {
        let j = device().upload(&Csc::<f64>::from_triplets(rows, cols, []).unwrap()).unwrap();
        let plan = WeightedGram::<Csc<f64>>::new(&j.pattern(), Part::Lower).unwrap();
        let mut h = plan.output().unwrap();
        let weights = device().zero_vector(rows).unwrap();
        plan.execute(&j, Weights::Rows(&weights), &mut h).unwrap();
        assert_eq!(h.download().unwrap(), Csc::from_triplets(cols, cols, []).unwrap());
    }
    // No groups at all; groups without cells; cells without blocks, of which two are added.
    let none = BlockGroups::<Cbc<f64>>::new(vec![], vec![], vec![]).unwrap();
    let group = |blocks, side| Group { blocks, side };
    let no_cells = BlockGroups::<Cbc<f64>>::new(vec![group(4, 2)], vec![group(3, 1)], vec![None]).unwrap();
    let empty = grid(&[(0, 2), (0, 3)], &[(3, 4)], &[], Values::Real, 1);
    for j in [none, no_cells, empty] {
        let dj = device().upload_groups(&j).unwrap();
        let plan = GroupsPlan::<Cbc<f64>>::gram(&dj.pattern(), Part::Full).unwrap();
        let mut h = plan.output().unwrap();
        plan.execute(&dj, &dj, &mut h).unwrap();
        let h = h.download().unwrap();
        assert_eq!((h.nnz(), h.row_groups(), h.col_groups()), (0, j.col_groups(), j.col_groups()));
        assert_eq!((plan.products(), plan.flops()), (0, 0));
        assert_eq!(h, reference::gram_groups(&j, Part::Full).unwrap());
    }
}

#[test]
fn what_does_not_belong_is_refused() {
    let text = |result: blockmul::Result<()>| result.unwrap_err().to_string();
    let j = device().upload(&jacobian(20, 10, shape(2, 3), Values::Real, 1)).unwrap();
    let plan = WeightedGram::<Cbc<f64>>::new(&j.pattern(), Part::Lower).unwrap();
    let mut h = plan.output().unwrap();
    let short = device().zero_vector(19).unwrap();
    assert!(matches!(
        plan.execute(&j, Weights::BlockRows(&short), &mut h),
        Err(Error::Length { found: 19, expected: 20, .. })
    ));
    assert!(matches!(
        plan.execute(&j, Weights::Rows(&short), &mut h),
        Err(Error::Length { found: 19, expected: 40, .. })
    ));
    // A block-diagonal matrix made elsewhere is taken; one with a block beside the diagonal is not.
    let own = device().upload(&block_diagonal(20, 2, Values::Real, 1)).unwrap();
    plan.execute(&j, Weights::Information(&own), &mut h).unwrap();
    let shifted =
        Cbc::from_triplets(20, 20, shape(2, 2), (0..20).map(|i| (i, (i + 1) % 20, DMatrix::<f64>::zeros(2, 2))))
            .unwrap();
    let on_device = device().upload(&shifted).unwrap();
    let message = text(plan.execute(&j, Weights::Information(&on_device), &mut h));
    assert!(message.starts_with("W has not the pattern of the plan"), "{message}");
    let host = j.download().unwrap();
    let message = reference::gram_weighted(&host, Weights::Information(&shifted), Part::Full).unwrap_err().to_string();
    assert!(message.contains("20 stored, not 20x20 blocks of 2x2 with one in each place of the diagonal"), "{message}");
    let other = device().upload(&jacobian(20, 10, shape(2, 3), Values::Real, 2)).unwrap();
    let message = text(plan.execute(&other, Weights::Information(&own), &mut h));
    assert!(message.starts_with("J has not the pattern of the plan"), "{message}");
    let apart = Device::open(device().info()).unwrap().zero_vector(20).unwrap();
    assert!(matches!(plan.execute(&j, Weights::BlockRows(&apart), &mut h), Err(Error::DeviceMismatch { .. })));
    // Patterns of another kind of matrix.
    assert!(matches!(WeightedGram::<Bsr<f64>>::new(&j.pattern(), Part::Full), Err(Error::Argument(_))));
    assert!(matches!(Plan::<Csc<f64>>::gram(&j.pattern(), Part::Full), Err(Error::Argument(_))));
}

#[test]
fn groups_that_do_not_meet_are_refused() {
    let group = |blocks, side| Group { blocks, side };
    let m = jacobian(6, 4, shape(2, 3), Values::Real, 1);
    let message = |row, col| BlockGroups::new(vec![row], vec![col], vec![Some(m.clone())]).unwrap_err().to_string();
    let says = "group (0, 0) is 6x4 blocks of 2x3, its place in the grid is 6x5 blocks of 2x3";
    assert_eq!(message(group(6, 2), group(5, 3)), says);
    assert!(message(group(6, 2), group(4, 33)).contains("33"));
    assert!(matches!(
        BlockGroups::<Cbc<f64>>::new(vec![group(1, 1)], vec![group(1, 1)], vec![]),
        Err(Error::Length { .. })
    ));
    assert!(BlockGroups::<Cbc<f64>>::side_by_side([]).is_err());
    let (a, b) = operands(Values::Real);
    let (da, db) = (device().upload_groups(&a).unwrap(), device().upload_groups(&b).unwrap());
    let message = db.multiply(&da).unwrap_err().to_string();
    let says = "cannot multiply: A has blocks in groups of [8 of 6, 11 of 1, 4 of 5] columns, B in groups of [15 of 2, 9 of 6] rows";
    assert_eq!(message, says);
    assert_eq!(reference::multiply_groups(&b, &a).unwrap_err().to_string(), says);

    let plan = GroupsPlan::<Cbc<f64>>::multiply(&da.pattern(), &db.pattern()).unwrap();
    let mut c = plan.output().unwrap();
    let text = |result: blockmul::Result<()>| result.unwrap_err().to_string();
    let says = "A has not the pattern of the plan: groups of [12 of 9, 20 of 3, 7 of 2] by [8 of 6, 11 of 1, 4 of 5] in place of \
                [15 of 2, 9 of 6] by [12 of 9, 20 of 3, 7 of 2]";
    assert_eq!(text(plan.execute(&db, &db, &mut c)), says);
    // The same groups, other cells; the same cells, other blocks.
    let cells = |m: &BlockGroups<Cbc<f64>>, gone: usize| {
        let mut cells = m.clone().into_cells();
        cells[gone] = None;
        BlockGroups::new(m.row_groups().to_vec(), m.col_groups().to_vec(), cells).unwrap()
    };
    let fewer = device().upload_groups(&cells(&a, 1)).unwrap();
    assert_eq!(text(plan.execute(&fewer, &db, &mut c)), "A has no group (0, 1), the plan has one");
    let other = grid(&[(15, 2), (9, 6)], &[(12, 9), (20, 3), (7, 2)], &[(1, 2)], Values::Real, 2);
    let other = device().upload_groups(&other).unwrap();
    let message = text(plan.execute(&other, &db, &mut c));
    assert!(message.starts_with("group (0, 0) of A has not the pattern of the plan"), "{message}");
    // Matrices that are on a device already, put together there.
    let put = DeviceGroups::new(&device(), a.row_groups().to_vec(), a.col_groups().to_vec(), da.into_cells()).unwrap();
    plan.execute(&put, &db, &mut c).unwrap();
    let elsewhere = Device::open(device().info()).unwrap();
    let apart = DeviceGroups::new(&elsewhere, a.row_groups().to_vec(), a.col_groups().to_vec(), put.into_cells());
    assert!(matches!(apart, Err(Error::DeviceMismatch { .. })));
}
