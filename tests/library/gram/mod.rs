//! JᵀJ, JᵀWJ and matrices of groups. Results have the bits of serial references, and are equal to
//! dense products of integers.
mod groups;
mod operator;
mod refusals;
mod weighted;

use crate::common::{Random, device, nothing_taken, shape};
use blockmul::{
    BlockShape, Bsr, Cbc, Csc, Csr, Device, DeviceMatrix, Element, Error, Matrix, Part, Planned, Product,
    foreign::Marker,
    generate::{self, Values},
    groups::{BlockGroups, DeviceGroups, Group},
    plan::Accum,
    product::{GramParts, Inputs, Weights},
    reference,
};
use groups::{grid, residuals};
use half::f16;
use nalgebra::DMatrix;

/// Kinds of weights for three groups of rows, for plans that are made from patterns.
const WEIGHTED: [Weights<(), ()>; 3] = [Weights::BlockRows(()), Weights::Rows(()), Weights::BlockRows(())];

const PARTS: [Part; 3] = [Part::Full, Part::Lower, Part::Upper];

/// Returns pattern, shape, and the bytes of each block.
type Bits = (blockmul::matrix::Pattern, BlockShape, Vec<Vec<u8>>);

fn bits<M: Matrix>(m: &M) -> Bits {
    let view = m.as_cbc();
    let blocks = (0..view.pattern.nnz()).map(|e| bytemuck::cast_slice(view.block(e)).to_vec()).collect();
    (view.pattern.clone(), view.shape, blocks)
}

fn group_bits<M: Matrix>(m: &BlockGroups<M>) -> Vec<Option<Bits>> {
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

/// Returns a matrix with `n` blocks on the diagonal. The blocks are not symmetric, because W may be
/// any matrix.
fn block_diagonal(n: usize, side: usize, values: Values, seed: u64) -> Cbc<f64> {
    let pattern = blockmul::matrix::Pattern::new(n, n, (0..=n as u64).collect(), (0..n as u32).collect()).unwrap();
    Cbc::new(pattern, shape(side, side), numbers(n * side * side, values, seed)).unwrap()
}

/// A matrix whose rows have from zero to many blocks.
fn jacobian(rows: usize, cols: usize, block: BlockShape, values: Values, seed: u64) -> Cbc<f64> {
    generate::Uniform { rows, cols, per_column: 4.min(rows), shape: block, values, seed }.matrix().unwrap()
}

fn rows_of<T: Element>(m: &Cbc<T>) -> Bsr<T> {
    Bsr::from_transpose(m.transpose())
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
    // The rows of a pose graph's Jacobian have one or two blocks. Rows with 0, 1, 3 and 7 blocks
    // are added, so that all lengths are mixed.
    let graph = generate::PoseChain { poses: 60, closures: 80, freedom: 3, ..Default::default() }.jacobian().unwrap();
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
        let weighted =
            Product::gram(&dj.pattern()).weighted(Weights::Rows(())).part(Part::Lower).plan::<Cbc<f64>>().unwrap();
        let plan = Product::gram(&dj).part(Part::Lower).plan().unwrap();
        assert_eq!((plan.cost().products, weighted.cost().products), (triangle(&lengths), triangle(&lengths)));
        assert_eq!(plan.cost().flops, 2 * 27 * triangle(&lengths));
        let full = Product::gram(&dj).part(Part::Full).plan().unwrap();
        assert_eq!(full.cost().products, lengths.iter().map(|k| k * k).sum::<u64>());
        let mut h = plan.output().unwrap();
        plan.execute((&dj, &dj), &mut h).unwrap();
        assert!(bits(&h.download().unwrap()) == bits(&reference::gram(&j, Part::Lower).unwrap()));
    }
}

#[test]
fn groups_of_a_bundle_adjustment_take_exactly_the_products_they_are_made_of() {
    let j =
        generate::Visibility { cameras: 10, points: 70, views: 3, shape: shape(9, 3), seed: 2, ..Default::default() }
            .jacobian()
            .unwrap();
    // A second matrix has a third group of columns: four parameters on which all rows depend.
    let (camera, point) = (j.get(0, 0).unwrap().clone(), j.get(0, 1).unwrap().clone());
    let rows = camera.nrows();
    let shared = Cbc::new(
        blockmul::matrix::Pattern::new(rows, 1, vec![0, rows as u64], (0..rows as u32).collect()).unwrap(),
        shape(2, 4),
        numbers(rows * 8, Values::Real, 3),
    );
    let three = BlockGroups::side_by_side([camera, point, shared.unwrap()]).unwrap();
    for (j, degree) in [(j, 2), (three, 3)] {
        let dj = device().upload_groups(&j).unwrap();
        let lower = Product::gram(&dj).part(Part::Lower).plan().unwrap();
        assert_eq!(lower.cost().products, rows as u64 * degree * (degree + 1) / 2);
        let full = Product::gram(&dj).part(Part::Full).plan().unwrap();
        assert_eq!(full.cost().products, rows as u64 * degree * degree);
        let sides: Vec<u64> = j.col_groups().iter().map(|group| group.side as u64).collect();
        let width: u64 = sides.iter().sum();
        assert_eq!(full.cost().flops, 2 * rows as u64 * 2 * width * width);
    }
}

#[test]
fn executions_take_no_memory_and_read_nothing() {
    let device = Device::open(device().info()).unwrap(); // so that the device's counters count only this test
    let j = residuals(Values::Real);
    let dj = device.upload_groups(&j).unwrap();
    let cell = dj.get(0, 0).unwrap();
    let gram = Product::gram(&cell.pattern()).weighted(Weights::Rows(())).part(Part::Lower).plan::<Cbc<f64>>().unwrap();
    let groups = Product::gram(&dj.pattern()).weighted(&WEIGHTED).part(Part::Lower).plan::<Cbc<f64>>().unwrap();
    let (mut h, mut hs) = (gram.output().unwrap(), groups.output().unwrap());
    let mut information = DeviceMatrix::zeros(&gram.weights_patterns()[0]).unwrap();
    information.write_values(block_diagonal(60, 2, Values::Real, 5).values()).unwrap();
    let vector = |n: usize| device.upload_vector(&numbers(n, Values::Real, 6)).unwrap();
    let (losses, rows, blocks) = (vector(60), vector(13 * 6), vector(5));
    let weights = [Weights::BlockRows(&losses), Weights::Rows(&rows), Weights::BlockRows(&blocks)];
    let before = device.counters();
    for _ in 0..20 {
        gram.execute(Inputs::of(cell).weights(Weights::Scaled { information: &information, weights: &losses }), &mut h)
            .unwrap();
        groups.execute(Inputs::of(&dj).weights(&weights), &mut hs).unwrap();
    }
    device.finish().unwrap();
    let after = device.counters();
    let taken = |c: blockmul::device::Counters| (c.buffers_created, c.buffers_taken, c.read_backs);
    assert_eq!(taken(after), taken(before));
    assert!(after.commands > before.commands + 20 * 12);
    assert!(gram.cost().device_bytes > 0 && groups.cost().device_bytes > groups.pattern().nnz() as u64 * 4);
}

#[test]
fn two_threads_execute_one_plan() {
    let j = residuals(Values::Real);
    let dj = device().upload_groups(&j).unwrap();
    let plan = Product::gram(&dj.pattern()).weighted(&WEIGHTED).part(Part::Upper).plan::<Cbc<f64>>().unwrap();
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
                    plan.execute(Inputs::of(dj).weights(&vectors.each_ref().map(Weights::Rows)), &mut h).unwrap();
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
        let plan =
            Product::gram(&j.pattern()).weighted(Weights::Rows(())).part(Part::Lower).plan::<Csc<f64>>().unwrap();
        let mut h = plan.output().unwrap();
        let weights = device().zero_vector(rows).unwrap();
        plan.execute(Inputs::of(&j).weights(Weights::Rows(&weights)), &mut h).unwrap();
        assert_eq!(h.download().unwrap(), Csc::from_triplets(cols, cols, []).unwrap());
    }
    // The matrices have no groups, or groups without cells, or cells without blocks, two of which
    // are added.
    let none = BlockGroups::<Cbc<f64>>::new(vec![], vec![], vec![]).unwrap();
    let group = |blocks, side| Group { blocks, side };
    let no_cells = BlockGroups::<Cbc<f64>>::new(vec![group(4, 2)], vec![group(3, 1)], vec![None]).unwrap();
    let empty = grid(&[(0, 2), (0, 3)], &[(3, 4)], &[], Values::Real, 1);
    for j in [none, no_cells, empty] {
        let dj = device().upload_groups(&j).unwrap();
        let plan = Product::gram(&dj).part(Part::Full).plan().unwrap();
        let mut h = plan.output().unwrap();
        plan.execute((&dj, &dj), &mut h).unwrap();
        let h = h.download().unwrap();
        assert_eq!((h.nnz(), h.row_groups(), h.col_groups()), (0, j.col_groups(), j.col_groups()));
        assert_eq!((plan.cost().products, plan.cost().flops), (0, 0));
        assert_eq!(h, reference::gram_groups(&j, Part::Full).unwrap());
    }
}
