//! The rows or columns of a matrix on the CPU, and sums over them in every [`Order`].
use super::segmented_scan;
use crate::{
    Arithmetic, BlockShape, Pattern,
    element::{Algebra, Order},
    matrix::AnyView,
    primitives::segmented_reduce::RUN_PIECE,
};
use std::borrow::Cow;

/// The lines of a matrix's arrays: its columns, or its rows.
pub(super) struct Lines<'a> {
    shape: BlockShape,
    stride: usize,
    rows: bool,
    pub pattern: Cow<'a, Pattern>,
    source: Option<Vec<usize>>,
    pub order: Order,
}

impl<'a> Lines<'a> {
    pub fn new(a: AnyView<'a>, rows: bool) -> Self {
        let AnyView { shape, stride, pattern, .. } = a;
        let (pattern, source) = match rows {
            true => {
                let (pattern, source) = pattern.transpose();
                (Cow::Owned(pattern), Some(source))
            }
            false => (Cow::Borrowed(pattern), None),
        };
        Self { shape, stride, rows, pattern, source, order: Order::Ascending }
    }

    /// Number of scalar lines in a line of blocks, and number of scalars of a block along the line.
    pub fn sides(&self) -> (usize, usize) {
        let (rows, cols) = (self.shape.rows(), self.shape.cols());
        if self.rows { (rows, cols) } else { (cols, rows) }
    }

    /// For each scalar line, the sum of a term for each stored scalar of the line. If `whole` is
    /// true, the sums are over lines of blocks. `term` gets the scalar's value and its place along
    /// the line.
    pub fn sums<V: Arithmetic>(
        &self,
        values: &[V],
        algebra: &Algebra<V>,
        whole: bool,
        term: &dyn Fn(V, usize) -> V,
    ) -> Vec<V> {
        let (width, depth) = self.sides();
        let mut sums = Vec::new();
        for line in 0..self.pattern.ncols() {
            let entries: Vec<usize> = self.pattern.entries(line).collect();
            for number in 0..if whole { 1 } else { width } {
                let elements: Vec<usize> = match (whole, self.rows) {
                    (true, _) => (0..width * depth).collect(),
                    (_, true) => (0..depth).map(|k| k * width + number).collect(),
                    (_, false) => (0..depth).map(|k| number * depth + k).collect(),
                };
                let sum = |entries: &mut dyn Iterator<Item = &usize>| {
                    let terms = entries.flat_map(|&entry| {
                        let entry_of_a = self.source.as_ref().map_or(entry, |source| source[entry]);
                        let block = &values[entry_of_a * self.stride..][..self.shape.area()];
                        let across = self.pattern.row_idx()[entry] as usize * depth;
                        let elements = elements.iter().enumerate();
                        elements.map(move |(k, &element)| (block[element], across + k % depth))
                    });
                    algebra.sum(&mut terms.map(|(value, across)| term(value, across)))
                };
                sums.push(match self.order {
                    Order::Ascending | Order::Arrival => {
                        algebra.sum(&mut entries.chunks(RUN_PIECE).map(|piece| sum(&mut piece.iter())))
                    }
                    Order::Tiles => {
                        let tiles = entries.chunk_by(|one, next| one / Order::TILE == next / Order::TILE);
                        algebra.sum(&mut tiles.map(|tile| sum(&mut tile.iter())))
                    }
                    Order::Scan => {
                        let terms: Vec<_> = entries.iter().map(|entry| (*entry, sum(&mut [*entry].iter()))).collect();
                        segmented_scan::sum(algebra, &terms)
                    }
                    Order::Shared => {
                        algebra.sum(&mut entries.chunks(RUN_PIECE).map(|piece| match piece.len() > Order::LONG {
                            true => algebra.sum(&mut lanes(piece, Order::LANES, algebra.identity, &sum)),
                            false => sum(&mut piece.iter()),
                        }))
                    }
                    Order::FewLanes => match entries.is_empty() {
                        true => algebra.empty,
                        false => algebra.sum(&mut lanes(&entries, Order::FEW_LANES, algebra.identity, &sum)),
                    },
                    Order::Lanes => {
                        if entries.is_empty() {
                            sums.push(algebra.empty);
                            continue;
                        }
                        let mut lanes: Vec<_> = lanes(&entries, Order::LANES, algebra.identity, &sum).collect();
                        while lanes.len() > 1 {
                            let second = lanes.split_off(lanes.len() / 2);
                            lanes.iter_mut().zip(second).for_each(|(sum, other)| *sum = (algebra.add)(*sum, other));
                        }
                        lanes[0]
                    }
                });
            }
        }
        sums
    }
}

/// The sums of `n` lanes. Lane i adds the entries i, i + n, i + 2n and so on. The sum of a lane
/// without entries is `identity`.
fn lanes<'a, V: Copy + 'a>(
    entries: &'a [usize],
    n: usize,
    identity: V,
    sum: &'a impl Fn(&mut dyn Iterator<Item = &usize>) -> V,
) -> impl Iterator<Item = V> + 'a {
    (0..n).map(move |first| match first < entries.len() {
        true => sum(&mut entries.iter().skip(first).step_by(n)),
        false => identity,
    })
}
