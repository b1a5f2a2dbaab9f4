//! The operands on the host, and the expected C, of the product that a row of options describes.
use super::rows::{CHAIN, DROP, ELEMENT, GROUPS, KIND, MASK, PART, Row, SCALARS, TOLERANCE, WEIGHTS};
use crate::common::Random;
use blockmul::{
    BlockShape, Cbc,
    element::Field,
    groups::{BlockGroups, Group},
    matrix::{Pattern, drop_below},
    reference,
};
use nalgebra::DMatrix;

/// The values of a case. No value is zero, so that no zero can lose its sign.
#[derive(Clone, Copy)]
pub enum Values {
    /// The values are small integers, so that every sum is exact in every type.
    Integers,
    /// The values have magnitudes from 1 to 7/3, and all bits of them are in use. Products and sums
    /// are rounded, and the bits of a sum depend on the order of its terms.
    Rounded,
}

impl Values {
    /// Half of the cases have rounded values. All cases of `f16` have integers: a device multiplies
    /// W·B by its weights before it rounds to `f16`, but the expected result is rounded twice.
    fn of(row: &Row, seed: u64) -> Self {
        if row[ELEMENT] != 2 && (seed / 2).is_multiple_of(2) { Self::Rounded } else { Self::Integers }
    }

    fn number(self, random: &mut Random) -> f64 {
        match self {
            Self::Integers => [-2.0, -1.0, 1.0, 2.0][random.below(4)],
            Self::Rounded => {
                let magnitude = 1.0 + random.below(1 << 30) as f64 / 3.0 / f64::from(1 << 28);
                [-magnitude, magnitude][random.below(2)]
            }
        }
    }
}

pub fn cell<T: Field>(rows: Group, cols: Group, values: Values, random: &mut Random) -> Cbc<T> {
    let mut places = std::collections::BTreeSet::new();
    for col in 0..cols.blocks {
        places.extend((0..3).map(|_| (random.below(rows.blocks), col)));
    }
    let block = |random: &mut Random| DMatrix::from_fn(rows.side, cols.side, |_, _| T::from_f64(values.number(random)));
    let blocks: Vec<_> = places.into_iter().map(|(i, j)| (i, j, block(random))).collect();
    Cbc::from_triplets(rows.blocks, cols.blocks, BlockShape::new(rows.side, cols.side).unwrap(), blocks).unwrap()
}

/// Returns a grid of cells without those of `missing`.
fn grid<T: Field>(
    rows: &[Group],
    cols: &[Group],
    missing: &[(usize, usize)],
    values: Values,
    seed: u64,
) -> BlockGroups<Cbc<T>> {
    let mut random = Random(seed);
    let places = (0..rows.len()).flat_map(|row| (0..cols.len()).map(move |col| (row, col)));
    let one = |(row, col): (usize, usize)| {
        (!missing.contains(&(row, col))).then(|| cell(rows[row], cols[col], values, &mut random))
    };
    BlockGroups::new(rows.to_vec(), cols.to_vec(), places.map(one).collect()).unwrap()
}

/// Returns a grid with the same groups, whose cells `f` computes.
fn map<T: Field>(
    of: &BlockGroups<Cbc<T>>,
    mut f: impl FnMut(usize, usize, Option<&Cbc<T>>) -> Option<Cbc<T>>,
) -> BlockGroups<Cbc<T>> {
    let (rows, cols) = (of.row_groups().to_vec(), of.col_groups().to_vec());
    let places = (0..rows.len()).flat_map(|row| (0..cols.len()).map(move |col| (row, col)));
    let cells = places.map(|(row, col)| f(row, col, of.get(row, col))).collect();
    BlockGroups::new(rows, cols, cells).unwrap()
}

/// The operands of a product on the host. A matrix without groups is a grid of one cell.
pub struct Host<T: Field> {
    /// Returns op(A), the middle factor of a chain, and op(B).
    pub factors: Vec<BlockGroups<Cbc<T>>>,
    pub mask: BlockGroups<Cbc<T>>,
    /// Weights for each group of rows of op(B): a matrix with blocks on the diagonal.
    pub information: Vec<Cbc<T>>,
    /// Weights for each group of rows of op(B): a number for each row of blocks.
    pub of_blocks: Vec<Vec<T>>,
    /// Weights for each group of rows of op(B): a number for each row.
    pub of_rows: Vec<Vec<T>>,
}

impl<T: Field> Host<T> {
    pub fn new(row: &Row, seed: u64) -> Self {
        let group = |&(blocks, side): &(usize, usize)| Group { blocks, side };
        let (outer, inner): (&[_], &[_]) = match row[KIND] {
            GROUPS => (&[(6, 2), (5, 3)], &[(7, 2), (4, 1)]),
            SCALARS => (&[(25, 1)], &[(20, 1)]),
            _ => (&[(12, 3)], &[(10, 2)]),
        };
        let (outer, inner): (Vec<_>, Vec<_>) = (outer.iter().map(group).collect(), inner.iter().map(group).collect());
        // Some cells of C are sums of two products, some are a single product, and some are empty.
        let missing: &[_] = match (row[KIND], seed % 2) {
            (GROUPS, 0) => &[(1, 0), (1, 1)],
            (GROUPS, _) => &[(0, 1)],
            _ => &[],
        };
        let values = Values::of(row, seed);
        let mut factors = vec![grid(&outer, &inner, missing, values, seed)];
        factors.extend((row[CHAIN] == 1).then(|| grid(&inner, &inner, &[], values, seed + 1)));
        factors.push(grid(&inner, &outer, &[], values, seed + 2));
        let mut random = Random(seed + 3);
        let mut numbers = |n: usize| -> Vec<T> { (0..n).map(|_| T::from_f64(values.number(&mut random))).collect() };
        let diagonal = |n: usize| Pattern::new(n, n, (0..=n as u64).collect(), (0..n as u32).collect()).unwrap();
        let information = inner.iter().map(|&Group { blocks, side }| {
            Cbc::new(diagonal(blocks), BlockShape::new(side, side).unwrap(), numbers(blocks * side * side)).unwrap()
        });
        Self {
            information: information.collect(),
            of_blocks: inner.iter().map(|group| numbers(group.blocks)).collect(),
            of_rows: inner.iter().map(|group| numbers(group.scalars())).collect(),
            mask: grid(&outer, &outer, &[], values, seed + 4),
            factors,
        }
    }

    /// Returns the product W·op(B).
    fn weighted(&self, row: &Row) -> BlockGroups<Cbc<T>> {
        let scaled = |of: Cbc<T>, weight: &dyn Fn(usize, usize) -> T| {
            let blocks = of.blocks().map(|(i, j, block)| {
                let product = |r: usize, c: usize| T::from_f64(block[(r, c)].to_f64() * weight(i, r).to_f64());
                (i, j, DMatrix::from_fn(block.nrows(), block.ncols(), product))
            });
            Cbc::from_triplets(of.nrows(), of.ncols(), of.shape(), blocks).unwrap()
        };
        let b = self.factors.last().unwrap();
        map(b, |group, _, cell| {
            let cell = cell?.clone();
            let full = || reference::multiply(&self.information[group], &cell).unwrap();
            let side = b.row_groups()[group].side;
            Some(match row[WEIGHTS] {
                0 => cell,
                1 => full(),
                2 => scaled(full(), &|i, _| self.of_blocks[group][i]),
                _ => scaled(cell, &|i, r| self.of_rows[group][i * side + r]),
            })
        })
    }

    /// Returns the expected C.
    pub fn reference(&self, row: &Row) -> BlockGroups<Cbc<T>> {
        let right = self.weighted(row);
        let left = self.factors[..self.factors.len() - 1].iter().rev();
        let c = left.fold(right, |right, left| reference::multiply_groups(left, &right).unwrap());
        let kept = |of: &Cbc<T>, keep: &dyn Fn(usize, usize) -> bool| {
            let blocks = of.blocks().filter(|&(i, j, _)| keep(i, j)).map(|(i, j, block)| (i, j, block.into_owned()));
            Cbc::from_triplets(of.nrows(), of.ncols(), of.shape(), blocks).unwrap()
        };
        map(&c, |g, h, cell| match (row[MASK], row[PART], row[DROP]) {
            (1, ..) => self.mask.get(g, h).map(|mask| selected(cell, mask)),
            (_, 1, 0) => {
                cell.filter(|_| g >= h).map(|cell| if g == h { kept(cell, &|i, j| i >= j) } else { cell.clone() })
            }
            (_, 2, 0) => {
                cell.filter(|_| g <= h).map(|cell| if g == h { kept(cell, &|i, j| i <= j) } else { cell.clone() })
            }
            (_, part, 1) => cell.map(|cell| {
                let of_part = kept(cell, &|i, j| part == 0 || (part == 1 && i >= j) || (part == 2 && i <= j));
                drop_below(&of_part, TOLERANCE).unwrap()
            }),
            _ => cell.cloned(),
        })
    }
}

/// The matrix with the pattern of `mask` and the values of `cell`. Places of `mask` without an
/// entry in `cell` are zeros.
fn selected<T: Field>(cell: Option<&Cbc<T>>, mask: &Cbc<T>) -> Cbc<T> {
    let zeros = vec![T::from_f64(0.0); mask.nnz() * mask.shape().area()];
    let mut values = zeros;
    for (place, (i, j, _)) in mask.blocks().enumerate() {
        let found = cell.and_then(|cell| cell.blocks().find(|&(row, col, _)| (row, col) == (i, j)));
        if let Some((.., block)) = found {
            let area = mask.shape().area();
            values[place * area..][..area].copy_from_slice(block.into_owned().as_slice());
        }
    }
    Cbc::new(mask.pattern().clone(), mask.shape(), values).unwrap()
}
