//! Writes the rows of a Jacobian in parallel, directly to the arrays of its cells.
use rayon::prelude::*;

/// Number of rows that a thread writes in one task. Writing 256 rows takes much longer than
/// starting a task, and tasks of this size can be distributed evenly.
const CHUNK: usize = 256;

/// The values of a cell of J, as row-major blocks in rows whose offsets are `row_ptr`.
pub(super) struct CellValues<'a> {
    pub values: &'a mut [f64],
    pub row_ptr: &'a [u64],
    pub area: usize,
}

/// The slices that receive one row of blocks.
pub(super) struct Row<'a, const CELLS: usize> {
    /// The blocks of the row in each cell, one after another.
    pub blocks: [&'a mut [f64]; CELLS],
    /// The weighted residual W·e of this row.
    pub weighted: &'a mut [f64],
    /// The weight that a robust loss gives this row, if weights are stored.
    pub weight: Option<&'a mut f64>,
}

/// The cost of a row of blocks of J.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RowCost {
    /// The loss ρ(eᵀWe) of the row's residual e.
    pub cost: f64,
    /// The cost at or below which the measurement counts as met. A residual is a difference of two
    /// numbers, and counts as met at 1e-8 of their size, because no measurement is so exact. Rows
    /// that are met do not count for the median, so they do not make rows with larger costs look
    /// like outliers.
    pub met: f64,
    /// The cost at which the residual is only rounding, which is about 1e-14 of the size of the
    /// numbers whose difference it is.
    pub rounding: f64,
}

impl RowCost {
    /// Whether the measurement is met.
    pub fn is_met(&self) -> bool {
        self.cost.is_finite() && self.cost <= self.met
    }
}

/// The residual at which a measurement counts as met, as a share of the numbers whose difference
/// the residual is.
pub(super) const MET: f64 = 1e-8;
/// The residual that counts as rounding, as a share of the numbers whose difference the residual
/// is.
pub(super) const ROUNDED: f64 = 1e-14;

/// The median of the measured lengths that are not zero, or 0 if there are none. Residuals of
/// measurements of length zero are compared with this scale of the problem.
pub(super) fn usual_size(measured: impl Iterator<Item = f64>) -> f64 {
    let mut sizes: Vec<f64> = measured.filter(|&size| size > 0.0 && size.is_finite()).collect();
    if sizes.is_empty() {
        return 0.0;
    }
    let middle = sizes.len() / 2;
    *sizes.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Calls `write` for every row, stores each cost in `costs`, and adds the costs. The chunks of the
/// sum do not depend on the number of threads, so the sum has the same bits everywhere.
pub(super) fn write_rows<const CELLS: usize>(
    cells: [CellValues<'_>; CELLS],
    weighted: &mut [f64],
    weights: Option<&mut [f64]>,
    costs: &mut [RowCost],
    write: impl Fn(usize, Row<'_, CELLS>) -> RowCost + Sync,
) -> f64 {
    let rows = costs.len();
    let height = weighted.len().checked_div(rows).unwrap_or(0);
    let mut left = cells.map(|cell| (cell.values, cell.row_ptr, cell.area));
    let mut weights = weights;
    let tasks: Vec<_> = weighted
        .chunks_mut((CHUNK * height).max(1))
        .zip(costs.chunks_mut(CHUNK))
        .enumerate()
        .map(|(chunk, (weighted, costs))| {
            let first = chunk * CHUNK;
            let last = rows.min(first + CHUNK);
            let blocks = left.each_mut().map(|(values, row_ptr, area)| {
                let count = (row_ptr[last] - row_ptr[first]) as usize * *area;
                split(values, count)
            });
            (first..last, blocks, (weighted, costs), weights.as_mut().map(|weights| split(weights, last - first)))
        })
        .collect();
    let shapes = left.map(|(_, row_ptr, area)| (row_ptr, area));
    let sums: Vec<f64> = tasks
        .into_par_iter()
        .map(|(range, mut blocks, (weighted, costs), mut weights)| {
            let mut sum = 0.0;
            for ((row, weighted), to_cost) in range.zip(weighted.chunks_mut(height)).zip(costs) {
                let mut each = shapes.iter();
                let blocks = blocks.each_mut().map(|values| {
                    let (row_ptr, area) = each.next().expect("as many shapes as cells");
                    split(values, (row_ptr[row + 1] - row_ptr[row]) as usize * area)
                });
                let weight = weights.as_mut().map(|weights| &mut split(weights, 1)[0]);
                let cost = write(row, Row { blocks, weighted, weight });
                sum += cost.cost;
                *to_cost = cost;
            }
            sum
        })
        .collect();
    total(&sums)
}

/// Adds the values of `of` for all rows, in the chunks of [`write_rows`].
pub(super) fn sum_rows(rows: usize, of: impl Fn(usize) -> f64 + Sync) -> f64 {
    let chunk = |chunk: usize| (chunk * CHUNK..rows.min((chunk + 1) * CHUNK)).map(&of).sum();
    let sums: Vec<f64> = (0..rows.div_ceil(CHUNK)).into_par_iter().map(chunk).collect();
    total(&sums)
}

/// The sum, or 0 for an empty list, for which `sum` returns -0.
fn total(sums: &[f64]) -> f64 {
    sums.iter().fold(0.0, |total, sum| total + sum)
}

/// Removes the first `count` values from the front.
fn split<'v, T>(values: &mut &'v mut [T], count: usize) -> &'v mut [T] {
    let (front, rest) = std::mem::take(values).split_at_mut(count);
    *values = rest;
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests no row, one row, about as many rows as a chunk has, and several chunks.
    #[test]
    fn every_row_is_written_once_and_where_it_belongs() {
        for rows in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5] {
            // Rows of the first cell have in turn two, one or no blocks of 2 numbers. Each row of
            // the second cell has one block of 3 numbers.
            let row_ptr: Vec<u64> =
                (0..=rows).scan(0, |at, row| Some(std::mem::replace(at, *at + 2 - row as u64 % 3))).collect();
            let each: Vec<u64> = (0..=rows as u64).collect();
            let (mut a, mut b) = (vec![0.0; row_ptr[rows] as usize * 2], vec![0.0; rows * 3]);
            let (mut weighted, mut weights, mut costs) =
                (vec![0.0; rows * 2], vec![0.0; rows], vec![RowCost::default(); rows]);
            let cells = [
                CellValues { values: &mut a, row_ptr: &row_ptr, area: 2 },
                CellValues { values: &mut b, row_ptr: &each, area: 3 },
            ];
            let sum = write_rows(cells, &mut weighted, Some(&mut weights), &mut costs, |row, to| {
                let [a, b] = to.blocks;
                assert_eq!((a.len(), b.len(), to.weighted.len()), ((2 - row % 3) * 2, 3, 2));
                let value = row as f64 + 1.0;
                a.iter_mut().chain(b).chain(to.weighted).chain(to.weight).for_each(|x| *x += value);
                RowCost { cost: value, met: (row % 3) as f64, rounding: 0.5 }
            });
            let row_cost = |row: usize| RowCost { cost: row as f64 + 1.0, met: (row % 3) as f64, rounding: 0.5 };
            let stored: Vec<RowCost> = (0..rows).map(row_cost).collect();
            assert_eq!(costs, stored);
            let by_row = |per_row: &dyn Fn(usize) -> usize| -> Vec<f64> {
                (0..rows).flat_map(|row| vec![row as f64 + 1.0; per_row(row)]).collect()
            };
            assert_eq!(a, by_row(&|row| (2 - row % 3) * 2));
            assert_eq!((b, weighted, weights), (by_row(&|_| 3), by_row(&|_| 2), by_row(&|_| 1)));
            assert_eq!(sum, (rows * (rows + 1)) as f64 / 2.0);
            assert_eq!(sum_rows(rows, |row| row as f64 + 1.0), sum);
            assert!(sum.is_sign_positive());
        }
    }
}
