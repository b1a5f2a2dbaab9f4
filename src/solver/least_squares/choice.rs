//! Chooses the matrix that is factored for a problem with two groups of unknowns: the Schur
//! complement S, from which the second group is eliminated, or the whole of the Hessian H.
//!
//! All members of the first group that are measured together with the same member of the second
//! group become neighbours of each other in S. S has few blocks if points are seen from few
//! cameras, and a hundred times the blocks of H if landmarks are seen from hundreds of poses. The
//! choice depends on the patterns only, and is made once. Bounds of the work are compared first,
//! and factors are analysed only if the bounds do not decide. S is factored unless that is clearly
//! more work than factoring H.
use super::{
    cholesky::analyse,
    linear::{Eliminated, Eliminating, Solver},
    normal::Normal,
    whole::{Whole, parts},
};
use crate::{Pattern, Result, device::Work, events::ms};
use faer::sparse::{
    SymbolicSparseColMat,
    linalg::{SupernodalThreshold, cholesky::SymbolicCholeskyRaw},
};
use std::time::Instant;

/// Work for each scalar of a factor in addition to its arithmetic, in floating-point operations.
/// This work stands for memory access and short columns. In 30 systems (M3500, city10000,
/// sphere2500 and bundle adjustments) with 10⁵ to 5·10⁷ scalars, each scalar took 20 ns and each
/// operation 0.05 ns on one thread of a Xeon, to within a factor of 2.
const OF_A_SCALAR: f64 = 400.0;
/// Factoring S is clearly more work if its predicted work is more than this many times the
/// predicted work of H. The factor 2 is needed because the predicted time is accurate only to a
/// factor of 2, and because the device helps to compute S.
const CLEARLY: f64 = 2.0;

/// Returns the solver with the lower predicted time.
pub fn cheaper(normal: &Normal) -> Result<Solver> {
    let ([u, w, _], work) = (parts(normal)?, &Work::new(normal.device(), None));
    let (start, c, p) = (Instant::now(), w.shape().rows(), w.shape().cols());
    let structure = Structure { u: u.cbc.pattern.download(work)?, w: w.cbc.pattern.download(work)?, c, p };
    let eliminated = structure.is_eliminated()?;
    tracing::debug!(target: "blockmul::plan", eliminated, ms = ms(start), "work of H and S compared");
    Ok(match eliminated {
        true => Solver::Eliminated(Box::new(Eliminated::new(normal, Eliminating::new(normal)?)?)),
        false => Solver::Whole(Box::new(Whole::new(normal)?)),
    })
}

/// The structure of H = [U W; Wᵀ V]: the blocks of U on and below its diagonal, which have c x c
/// elements, and the blocks of W, which have c x p elements.
struct Structure {
    u: Pattern,
    w: Pattern,
    c: usize,
    p: usize,
}

impl Structure {
    /// Whether factoring S is not clearly more work than factoring H. If bounds of the work decide,
    /// neither matrix is analysed. H is analysed only if the work of S leaves the choice open. S is
    /// not analysed if its lower bound already exceeds the limit.
    fn is_eliminated(&self) -> Result<bool> {
        let products = self.products();
        let is_little = |s: f64, h: f64| s + products <= CLEARLY * h;
        let (least_of_h, least_of_s) = (self.least_of_h(), self.least_of_s());
        if is_little(dense(self.u.ncols() * self.c), least_of_h) {
            return Ok(true);
        }
        if is_little(least_of_s, least_of_h) {
            let s = self.of_s()?;
            return Ok(is_little(s, least_of_h) || is_little(s, self.of_h()?));
        }
        let h = self.of_h()?;
        Ok(is_little(least_of_s, h) && is_little(self.of_s()?, h))
    }

    /// Floating-point operations of the products that form S.
    fn products(&self) -> f64 {
        let pairs = |point: usize| self.w.column(point).len().pow(2) as f64 / 2.0;
        let of_a_pair = (2 * self.c * self.c * self.p) as f64;
        (0..self.w.ncols()).map(pairs).sum::<f64>() * of_a_pair
    }

    fn least_of_h(&self) -> f64 {
        let (c, p, points) = (self.c as f64, self.p as f64, self.w.ncols() as f64);
        let beside = (self.u.nnz() - self.u.ncols()) as f64 * c * c + self.w.nnz() as f64 * c * p;
        let on_diagonal = (self.u.ncols() as f64 * c * c + points * p * p) / 2.0;
        least(beside + on_diagonal, self.u.ncols() * self.c + self.w.ncols() * self.p)
    }

    /// Lower bound of the work of factoring S. The number of neighbours of a camera is at least the
    /// largest number of cameras that see one of its points.
    fn least_of_s(&self) -> f64 {
        let mut seen_by = vec![1; self.u.ncols()];
        for point in 0..self.w.ncols() {
            let cameras = self.w.column(point);
            cameras.iter().for_each(|&camera| seen_by[camera as usize] = cameras.len().max(seen_by[camera as usize]));
        }
        // Scalars in half of the blocks that are not on the diagonal, and in half of each diagonal
        // block.
        let scalars = seen_by.iter().sum::<usize>() as f64 / 2.0 * (self.c * self.c) as f64;
        least(scalars, self.u.ncols() * self.c)
    }

    /// The work of factoring H, with its columns in the order of least fill.
    fn of_h(&self) -> Result<f64> {
        let (n, (points, _)) = (self.u.ncols(), self.w.transpose());
        let mut lower = LowerBlocks::default();
        for camera in 0..n {
            let of_u = below(&self.u, camera);
            lower.push(self.c, of_u.chain(points.column(camera).iter().map(|&point| n + point as usize)));
        }
        (0..self.w.ncols()).for_each(|point| lower.push(self.p, std::iter::once(n + point)));
        lower.work()
    }

    /// The work of factoring S.
    fn of_s(&self) -> Result<f64> {
        let (n, (points, _)) = (self.u.ncols(), self.w.transpose());
        let (mut lower, mut last, mut column) = (LowerBlocks::default(), vec![usize::MAX; n], Vec::new());
        for camera in 0..n {
            let seen =
                points.column(camera).iter().flat_map(|&point| below_or_at(self.w.column(point as usize), camera));
            let both = std::iter::once(camera).chain(below(&self.u, camera)).chain(seen);
            column.extend(both.filter(|&row| std::mem::replace(&mut last[row], camera) != camera));
            column.sort_unstable();
            lower.push(self.c, column.drain(..));
        }
        lower.work()
    }
}

/// The rows of the blocks on and below the diagonal in a column.
fn below(pattern: &Pattern, col: usize) -> impl Iterator<Item = usize> {
    below_or_at(pattern.column(col), col)
}

/// The ascending rows from `first` on.
fn below_or_at(rows: &[u32], first: usize) -> impl Iterator<Item = usize> {
    rows[rows.partition_point(|&row| (row as usize) < first)..].iter().map(|&row| row as usize)
}

/// The lower triangle of a symmetric matrix of blocks. Each block column has its own width.
#[derive(Default)]
struct LowerBlocks {
    widths: Vec<usize>,
    ends: Vec<usize>,
    rows: Vec<usize>,
}

impl LowerBlocks {
    /// Appends a block column with ascending rows, of which the first is the row of the diagonal
    /// block.
    fn push(&mut self, width: usize, rows: impl Iterator<Item = usize>) {
        self.widths.push(width);
        self.rows.extend(rows);
        self.ends.push(self.rows.len());
    }

    /// The work of factoring a matrix with these blocks.
    fn work(self) -> Result<f64> {
        let (n, col_ptr) = (self.widths.len(), std::iter::once(0).chain(self.ends).collect());
        let pattern = SymbolicSparseColMat::new_checked(n, n, col_ptr, None, self.rows);
        let factor = analyse(&pattern, SupernodalThreshold::FORCE_SIMPLICIAL)?;
        let (SymbolicCholeskyRaw::Simplicial(l), Some(order)) = (factor.raw(), factor.perm()) else {
            unreachable!("a simplicial factor was asked for, in an order of its own")
        };
        let width = |row: usize| self.widths[order.arrays().0[row]] as f64;
        let of_column = |(col, ends): (usize, &[usize])| {
            let height: f64 = l.row_idx()[ends[0]..ends[1]].iter().map(|&row| width(row)).sum();
            width(col) * work(height * height, height)
        };
        Ok(l.col_ptr().windows(2).enumerate().map(of_column).sum())
    }
}

/// The work of a factorization with `operations` operations and a factor of `scalars` scalars.
fn work(operations: f64, scalars: f64) -> f64 {
    operations + OF_A_SCALAR * scalars
}

/// The work of a factorization whose factor has n full columns.
fn dense(n: usize) -> f64 {
    let n = n as f64;
    work(n * n * n / 3.0, n * n / 2.0)
}

/// A lower bound of the work of factoring n columns with `scalars` scalars on and below the
/// diagonal. The columns of the factor are at least as long as the columns of the matrix. The
/// number of operations is the sum of the squared lengths of the columns, which is least if all
/// lengths are equal.
fn least(scalars: f64, n: usize) -> f64 {
    if n == 0 { 0.0 } else { work(scalars * scalars / n as f64, scalars) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;

    /// A chain of poses with `closures` random steps, as the lower triangle of U.
    fn poses(n: usize, closures: usize, random: &mut Random) -> Pattern {
        let mut columns: Vec<Vec<u32>> = (0..n).map(|i| (i as u32..(i as u32 + 2).min(n as u32)).collect()).collect();
        for _ in 0..closures {
            let (a, b) = (random.below(n as u64) as u32, random.below(n as u64) as u32);
            columns[a.min(b) as usize].push(a.max(b));
        }
        pattern(n, columns)
    }

    fn pattern(nrows: usize, mut columns: Vec<Vec<u32>>) -> Pattern {
        columns.iter_mut().for_each(|column| {
            column.sort_unstable();
            column.dedup();
        });
        let ends = columns.iter().scan(0, |end, column| {
            *end += column.len() as u64;
            Some(*end)
        });
        let col_ptr = std::iter::once(0).chain(ends).collect();
        Pattern::new(nrows, columns.len(), col_ptr, columns.concat()).unwrap()
    }

    /// The pattern of W for `count` landmarks, each seen from `seen` of `of` consecutive poses.
    fn landmarks(n: usize, count: usize, seen: usize, of: usize, random: &mut Random) -> Pattern {
        let mut column = |_| -> Vec<u32> {
            let first = random.below((n - of + 1) as u64);
            random.distinct(seen as u64, of as u64).into_iter().map(|i| (first + i) as u32).collect()
        };
        pattern(n, (0..count).map(&mut column).collect())
    }

    fn structures() -> Vec<(bool, Structure)> {
        let random = &mut Random::new(3);
        let diagonal = |n: usize| pattern(n, (0..n as u32).map(|i| vec![i]).collect());
        vec![
            // Bundle adjustments in which each point is seen from neighbouring cameras, or from any
            // cameras.
            (true, Structure { u: diagonal(60), w: landmarks(60, 2000, 5, 10, random), c: 9, p: 3 }),
            (true, Structure { u: diagonal(400), w: landmarks(400, 3000, 5, 10, random), c: 9, p: 3 }),
            (true, Structure { u: diagonal(60), w: landmarks(60, 2000, 30, 60, random), c: 9, p: 3 }),
            // A graph whose landmarks are seen while the path passes them.
            (true, Structure { u: poses(800, 100, random), w: landmarks(800, 200, 5, 5, random), c: 3, p: 2 }),
            (true, Structure { u: poses(800, 800, random), w: landmarks(800, 100, 6, 12, random), c: 6, p: 3 }),
            // Graphs with distant beacons: one with so many poses that the bound decides, and one
            // with fewer poses.
            (false, Structure { u: poses(800, 100, random), w: landmarks(800, 12, 200, 800, random), c: 3, p: 2 }),
            (false, Structure { u: poses(800, 100, random), w: landmarks(800, 60, 40, 800, random), c: 3, p: 2 }),
            (false, Structure { u: poses(800, 100, random), w: landmarks(800, 40, 100, 200, random), c: 6, p: 3 }),
        ]
    }

    #[test]
    fn what_few_see_is_eliminated_and_what_many_see_is_not() {
        for (number, (eliminated, structure)) in structures().into_iter().enumerate() {
            assert_eq!(structure.is_eliminated().unwrap(), eliminated, "{number}");
        }
    }

    #[test]
    fn bounds_hold() {
        for (number, (_, structure)) in structures().into_iter().enumerate() {
            let (h, s) = (structure.of_h().unwrap(), structure.of_s().unwrap());
            assert!(structure.least_of_h() <= h, "{number}: {} {h}", structure.least_of_h());
            assert!(structure.least_of_s() <= s, "{number}: {} {s}", structure.least_of_s());
            let dense = dense(structure.u.ncols() * structure.c);
            assert!(s <= 1.1 * dense, "{number}: {s} {dense}"); // of blocks, whole on the diagonal
        }
    }

    /// Tests a count of operations in which a block column has its whole height.
    #[test]
    fn work_is_that_of_the_columns_of_the_factor() {
        let mut full = LowerBlocks::default();
        (0..3).for_each(|col| full.push(2, col..3));
        let heights = [6.0, 6.0, 4.0, 4.0, 2.0, 2.0];
        assert_eq!(full.work().unwrap(), heights.iter().map(|&height| work(height * height, height)).sum::<f64>());
        // The full column of an arrow matrix is eliminated last, wherever the column is stored.
        let mut arrow = LowerBlocks::default();
        arrow.push(3, 0..5);
        (1..5).for_each(|col| arrow.push(1, std::iter::once(col)));
        let heights = [4.0, 4.0, 4.0, 4.0, 3.0, 3.0, 3.0];
        assert_eq!(arrow.work().unwrap(), heights.iter().map(|&height| work(height * height, height)).sum::<f64>());
        assert_eq!(LowerBlocks::default().work().unwrap(), 0.0);
    }
}
