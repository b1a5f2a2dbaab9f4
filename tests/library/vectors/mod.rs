//! Products with vectors and dense matrices. Results of the products have the bits of the reference
//! for every matrix type and block shape, for A and its transpose. Executions of plans allocate
//! nothing and read nothing back.
mod arithmetic;
mod block_formats;
mod dense;
mod diagonals;
mod formats;
mod mixed;
mod plans;
mod sums;

use crate::common::{Random, shape};
use blockmul::{Element, Matrix};

fn bits<T: Element>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

/// The values are numbers of many magnitudes, so that another order of summation gives other bits.
fn reals<T: Element>(n: usize, seed: u64) -> Vec<T> {
    let mut random = Random(seed);
    let real =
        |random: &mut Random| (random.below(2001) as f64 - 1000.0) * 0.001 * 2f64.powi(random.below(13) as i32 - 8);
    (0..n).map(|_| T::from_f64(real(&mut random))).collect()
}

fn scalar_sides<M: Matrix>(a: &M) -> (usize, usize) {
    let a = a.as_cbc();
    let (rows, cols) = (a.pattern.nrows() * a.shape.rows(), a.pattern.ncols() * a.shape.cols());
    if M::ROW_MAJOR { (cols, rows) } else { (rows, cols) }
}
