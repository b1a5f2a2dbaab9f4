//! Every option of a product combined with every other: a pairwise covering array of rows, each
//! compared with the reference to the bit. Combinations that are refused are tested too.
use crate::common::{Random, device, equal};
use blockmul::{
    BlockShape, Bsr, Cbc, Csc, DeviceMatrix, DeviceVector, Matrix, Method, Part, Planned, Product, Result,
    element::Field,
    groups::{BlockGroups, DeviceGroups, Group},
    matrix::{Pattern, drop_below},
    product::{Factor, Inputs, Weights},
    reference,
};
use half::f16;
use nalgebra::DMatrix;

/// The options with their numbers of levels; level 0 is the default.
const OPTIONS: [(&str, usize); 13] = [
    ("kind", 4),
    ("A transposed", 2),
    ("B transposed", 2),
    ("weights", 4),
    ("part", 3),
    ("mask", 2),
    ("drop", 2),
    ("alignment", 2),
    ("memory limit", 2),
    ("how", 3),
    ("chain", 2),
    ("method", 1 + Method::ALL.len()),
    ("element", 3),
];
const KIND: usize = 0;
const A_T: usize = 1;
const B_T: usize = 2;
const WEIGHTS: usize = 3;
const PART: usize = 4;
const MASK: usize = 5;
const DROP: usize = 6;
const ALIGNMENT: usize = 7;
const LIMIT: usize = 8;
const HOW: usize = 9;
const CHAIN: usize = 10;
const METHOD: usize = 11;
const ELEMENT: usize = 12;

// Levels of the options `kind` and `how`.
const BLOCKS: usize = 0;
const SCALARS: usize = 1;
const ROW_MAJOR: usize = 2;
const GROUPS: usize = 3;
const RUN: usize = 0;
const PLAN: usize = 1;
const TO_HOST: usize = 2;

/// Entries (blocks) below it are dropped.
const TOLERANCE: f64 = 3.0;

/// A level of each option.
type Row = [usize; OPTIONS.len()];

/// The beginning of the message if a row is refused.
fn refusal(row: &Row) -> Option<&'static str> {
    if row[MASK] == 1 && row[PART] > 0 {
        return Some("a masked product has the mask's pattern: a part");
    }
    if row[MASK] == 1 && row[DROP] == 1 {
        return Some("a masked product has the mask's pattern: no entry");
    }
    if row[DROP] == 1 && row[HOW] == PLAN {
        return Some("a plan's pattern does not depend on values");
    }
    if row[DROP] == 1 && row[KIND] == GROUPS {
        return Some("entries of groups are not dropped");
    }
    if row[ALIGNMENT] == 1 && row[KIND] == SCALARS {
        return Some("scalars lie side by side");
    }
    None
}

/// A pair of levels of two options.
type Pair = ((usize, usize), (usize, usize));

fn pairs(row: &Row) -> impl Iterator<Item = Pair> {
    let at = |option: usize| (option, row[option]);
    (0..row.len()).flat_map(move |i| (i + 1..row.len()).map(move |k| (at(i), at(k))))
}

/// Rows that are not refused, which together have every pair of levels that such a row can have.
fn covering(random: &mut Random) -> Vec<Row> {
    let mut wanted = std::collections::BTreeSet::new();
    for i in 0..OPTIONS.len() {
        for k in i + 1..OPTIONS.len() {
            for (x, y) in (0..OPTIONS[i].1).flat_map(|x| (0..OPTIONS[k].1).map(move |y| (x, y))) {
                let mut row = [0; OPTIONS.len()];
                (row[i], row[k]) = (x, y);
                if refusal(&row).is_none() {
                    wanted.insert(((i, x), (k, y)));
                }
            }
        }
    }
    let mut rows = Vec::new();
    while let Some(&((i, x), (k, y))) = wanted.first() {
        // The best of some candidates that have the first missing pair.
        let candidate = |_| {
            let mut row: Row = std::array::from_fn(|option| random.below(OPTIONS[option].1));
            (row[i], row[k]) = (x, y);
            // Options that cause a refusal are set to their default, except the pair.
            for option in [DROP, MASK, ALIGNMENT, PART, HOW, KIND] {
                if refusal(&row).is_some() && option != i && option != k {
                    row[option] = 0;
                }
            }
            row
        };
        let candidates: Vec<Row> = (0..60).map(candidate).filter(|row| refusal(row).is_none()).collect();
        let gain = |row: &&Row| pairs(row).filter(|pair| wanted.contains(pair)).count();
        let best = *candidates.iter().max_by_key(gain).expect("plain but for the pair it is not refused");
        pairs(&best).for_each(|pair| {
            wanted.remove(&pair);
        });
        rows.push(best);
    }
    rows
}

/// The values of a case. None is zero, so that no zero can lose its sign.
#[derive(Clone, Copy)]
enum Values {
    /// Small integers: every sum is exact in every type.
    Integers,
    /// Magnitudes from 1 to 7/3 with all bits in use: products and sums are rounded, and the bits
    /// of a sum depend on the order of its terms.
    Rounded,
}

impl Values {
    /// Half of the cases have rounded values. Those of `f16` all have integers: a device multiplies
    /// W·B by its weights before it rounds to `f16`, and the expected result is rounded twice.
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

fn cell<T: Field>(rows: Group, cols: Group, values: Values, random: &mut Random) -> Cbc<T> {
    let mut places = std::collections::BTreeSet::new();
    for col in 0..cols.blocks {
        places.extend((0..3).map(|_| (random.below(rows.blocks), col)));
    }
    let block = |random: &mut Random| DMatrix::from_fn(rows.side, cols.side, |_, _| T::from_f64(values.number(random)));
    let blocks: Vec<_> = places.into_iter().map(|(i, j)| (i, j, block(random))).collect();
    Cbc::from_triplets(rows.blocks, cols.blocks, BlockShape::new(rows.side, cols.side).unwrap(), blocks).unwrap()
}

/// A grid of cells without those of `missing`.
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

/// A grid of the same groups with other cells.
fn map<T: Field>(
    of: &BlockGroups<Cbc<T>>,
    mut f: impl FnMut(usize, usize, Option<&Cbc<T>>) -> Option<Cbc<T>>,
) -> BlockGroups<Cbc<T>> {
    let (rows, cols) = (of.row_groups().to_vec(), of.col_groups().to_vec());
    let places = (0..rows.len()).flat_map(|row| (0..cols.len()).map(move |col| (row, col)));
    let cells = places.map(|(row, col)| f(row, col, of.get(row, col))).collect();
    BlockGroups::new(rows, cols, cells).unwrap()
}

/// The operands of a product on the host; a matrix is a grid of one cell.
struct Host<T: Field> {
    /// op(A), the middle of a chain, op(B).
    factors: Vec<BlockGroups<Cbc<T>>>,
    mask: BlockGroups<Cbc<T>>,
    /// For each group of rows of op(B): blocks on the diagonal.
    information: Vec<Cbc<T>>,
    /// A number for each block row of these groups.
    of_blocks: Vec<Vec<T>>,
    /// A number for each row of these groups.
    of_rows: Vec<Vec<T>>,
}

impl<T: Field> Host<T> {
    fn new(row: &Row, seed: u64) -> Self {
        let group = |&(blocks, side): &(usize, usize)| Group { blocks, side };
        let (outer, inner): (&[_], &[_]) = match row[KIND] {
            GROUPS => (&[(6, 2), (5, 3)], &[(7, 2), (4, 1)]),
            SCALARS => (&[(25, 1)], &[(20, 1)]),
            _ => (&[(12, 3)], &[(10, 2)]),
        };
        let (outer, inner): (Vec<_>, Vec<_>) = (outer.iter().map(group).collect(), inner.iter().map(group).collect());
        // Cells of C that sum two products, one, or none.
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

    /// The product W·op(B).
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

    /// The expected C.
    fn reference(&self, row: &Row) -> BlockGroups<Cbc<T>> {
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

/// The entries of `cell` on the places of `mask`, zeros if `cell` has no such entry.
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

/// Applies the options of a row to a product and returns the result on the host.
macro_rules! result {
    ($row:expr, $product:expr, $factors:expr, $mask:expr, $weights:expr) => {{
        let (row, weights, mask) = ($row, $weights, $mask);
        let mut product =
            $product.method(std::iter::once(Method::Auto).chain(Method::ALL.iter().copied()).nth(row[METHOD]).unwrap());
        if let Some(weights) = weights {
            product = product.weighted(weights);
        }
        match row[PART] {
            0 => {}
            1 => product = product.part(Part::Lower),
            _ => product = product.part(Part::Upper),
        }
        if row[MASK] == 1 {
            product = product.mask(&mask);
        }
        if row[DROP] == 1 {
            product = product.drop_below(TOLERANCE);
        }
        if row[ALIGNMENT] == 1 {
            product = product.alignment(64);
        }
        if row[LIMIT] == 1 {
            product = product.memory_limit(1 << 20);
        }
        match row[HOW] {
            RUN => product.run()?.download(),
            TO_HOST => product.run_to_host().map(|(c, _)| c),
            _ => {
                let plan = product.plan()?;
                let mut c = plan.output()?;
                let factors = || match $factors[..] {
                    [a, b] => Inputs::from((a, b)),
                    [a, b, c] => Inputs::from((a, b, c)),
                    _ => unreachable!("chains of two and three"),
                };
                match weights {
                    Some(weights) => plan.execute(factors().weights(weights), &mut c)?,
                    None => plan.execute(factors(), &mut c)?,
                };
                c.download()
            }
        }
    }};
}

fn product_of<'a, X: blockmul::product::Operand>(row: &Row, factors: &[&'a X]) -> Product<'a, X> {
    let factor = |x: &'a X, transposed: bool| if transposed { Factor::from(x).t() } else { Factor::from(x) };
    let (a, b) = (factor(factors[0], row[A_T] == 1), factor(factors[factors.len() - 1], row[B_T] == 1));
    match factors {
        [_, middle, _] => Product::of(a, *middle).times(b),
        _ => Product::of(a, b),
    }
}

/// Weights of a group of rows, on the device.
struct OnDevice<M: Matrix> {
    information: DeviceMatrix<M>,
    of_blocks: DeviceVector<M::Element>,
    of_rows: DeviceVector<M::Element>,
}

/// The weights that the row asks for.
fn weights_of<'a, M: Matrix>(
    row: &Row,
    OnDevice { information, of_blocks, of_rows }: &'a OnDevice<M>,
) -> Weights<&'a DeviceMatrix<M>, &'a DeviceVector<M::Element>> {
    match row[WEIGHTS] {
        1 => Weights::Information(information),
        2 => Weights::Scaled { information, weights: of_blocks },
        _ => Weights::Rows(of_rows),
    }
}

/// The factors as they are stored, some of them transposed.
fn stored<T: Field>(row: &Row, host: &Host<T>) -> Vec<BlockGroups<Cbc<T>>> {
    let last = host.factors.len() - 1;
    let turned = |number: usize| (number == 0 && row[A_T] == 1) || (number == last && row[B_T] == 1);
    let factors = host.factors.iter().enumerate();
    factors.map(|(number, factor)| if turned(number) { factor.transpose() } else { factor.clone() }).collect()
}

fn weights_on_device<T: Field, M: Matrix<Element = T>>(
    host: &Host<T>,
    make: &dyn Fn(&Cbc<T>) -> M,
) -> Result<Vec<OnDevice<M>>> {
    let one = |group: usize| {
        let vector = |values: &[T]| device().upload_vector(values);
        let information = device().upload(&make(&host.information[group]))?;
        Ok(OnDevice { information, of_blocks: vector(&host.of_blocks[group])?, of_rows: vector(&host.of_rows[group])? })
    };
    (0..host.information.len()).map(one).collect()
}

fn of_matrices<T: Field, M: Matrix<Element = T>>(row: &Row, host: &Host<T>, make: &dyn Fn(&Cbc<T>) -> M) -> Result<()> {
    let only = |groups: &BlockGroups<Cbc<T>>| make(groups.get(0, 0).unwrap());
    let factors = stored(row, host).iter().map(|factor| device().upload(&only(factor))).collect::<Result<Vec<_>>>()?;
    let factors: Vec<&DeviceMatrix<M>> = factors.iter().collect();
    let mask = device().upload(&only(&host.mask))?.pattern();
    let weights = weights_on_device(host, make)?;
    let weights = (row[WEIGHTS] > 0).then(|| weights_of(row, &weights[0]));
    let c: Result<M> = result!(row, product_of(row, &factors), factors, mask, weights);
    equal(&c?, &only(&host.reference(row)), &format!("{row:?}"));
    Ok(())
}

fn of_groups<T: Field>(row: &Row, host: &Host<T>) -> Result<()> {
    let factors = stored(row, host).iter().map(|factor| device().upload_groups(factor)).collect::<Result<Vec<_>>>()?;
    let factors: Vec<&DeviceGroups<Cbc<T>>> = factors.iter().collect();
    let mask = device().upload_groups(&host.mask)?.pattern();
    let weights = weights_on_device(host, &Cbc::clone)?;
    let weights: Vec<_> = weights.iter().map(|weights| weights_of(row, weights)).collect();
    let weights = (row[WEIGHTS] > 0).then_some(&weights[..]);
    let c: Result<BlockGroups<Cbc<T>>> = result!(row, product_of(row, &factors), factors, mask, weights);
    let (c, want) = (c?, host.reference(row));
    for (g, h) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        assert_eq!(c.get(g, h).is_some(), want.get(g, h).is_some(), "cell ({g}, {h}) of {row:?}");
        if let (Some(c), Some(want)) = (c.get(g, h), want.get(g, h)) {
            equal(c, want, &format!("cell ({g}, {h}) of {row:?}"));
        }
    }
    Ok(())
}

fn of_element<T: Field>(row: &Row, seed: u64) -> Result<()> {
    let host = Host::<T>::new(row, seed);
    match row[KIND] {
        BLOCKS => of_matrices(row, &host, &Cbc::clone),
        SCALARS => of_matrices(row, &host, &|m| Csc::new(m.pattern().clone(), m.values().to_vec()).unwrap()),
        ROW_MAJOR => of_matrices(row, &host, &|m| Bsr::from_transpose(m.transpose())),
        _ => of_groups(row, &host),
    }
}

fn check(row: &Row, seed: u64) -> Result<()> {
    match row[ELEMENT] {
        0 => of_element::<f64>(row, seed),
        1 => of_element::<f32>(row, seed),
        _ => of_element::<f16>(row, seed),
    }
}

fn said(row: &Row) -> String {
    let level = |(option, level): (usize, &usize)| (*level > 0).then(|| format!("{} {level}", OPTIONS[option].0));
    row.iter().enumerate().filter_map(level).collect::<Vec<_>>().join(", ")
}

#[test]
fn every_pair_of_options_has_the_bits_of_the_reference() {
    let rows = covering(&mut Random(13));
    assert!((12..60).contains(&rows.len()), "{} rows", rows.len());
    for (number, row) in rows.iter().enumerate() {
        check(row, number as u64).unwrap_or_else(|error| panic!("row {number} ({}): {error}", said(row)));
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_a_reason() {
    for levels in [
        &[(MASK, 1), (PART, 1)][..],
        &[(MASK, 1), (PART, 2), (HOW, PLAN)],
        &[(MASK, 1), (DROP, 1), (A_T, 1)],
        &[(DROP, 1), (HOW, PLAN)],
        &[(DROP, 1), (KIND, GROUPS)],
        &[(ALIGNMENT, 1), (KIND, SCALARS)],
        &[(ALIGNMENT, 1), (KIND, SCALARS), (HOW, PLAN)],
    ] {
        let mut row = [0; OPTIONS.len()];
        levels.iter().for_each(|&(option, level)| row[option] = level);
        let expected = refusal(&row).expect("on the list");
        let message = check(&row, 1).expect_err(&said(&row)).to_string();
        assert!(message.contains(expected), "{}: {message}", said(&row));
    }
    // A triangle needs a square product. Weights need a plan with weights.
    let a = device()
        .upload(&cell::<f64>(
            Group { blocks: 4, side: 2 },
            Group { blocks: 3, side: 2 },
            Values::Integers,
            &mut Random(1),
        ))
        .unwrap();
    let message = Product::of(a.t(), &a).times(a.t()).part(Part::Lower).run().unwrap_err().to_string();
    assert_eq!(message, "only a square product has a diagonal: this one is 3 by 4");
    let weights = device().zero_vector(8).unwrap();
    let plan = Product::gram(&a).plan().unwrap();
    let mut c = plan.output().unwrap();
    let message = plan.execute(Inputs::of(&a).weights(Weights::Rows(&weights)), &mut c).unwrap_err().to_string();
    assert_eq!(message, "the plan is of a product without weights: it is given some");
    let message = plan.execute([&a, &a, &a], &mut c).unwrap_err().to_string();
    assert_eq!(message, "the plan is of 2 factors, 3 are given");
    let plan = Product::gram(&a).weighted(Weights::Rows(&weights)).plan().unwrap();
    let message = plan.execute(&a, &mut c).unwrap_err().to_string();
    assert_eq!(message, "the plan is of a product with weights: it is given none");
}
