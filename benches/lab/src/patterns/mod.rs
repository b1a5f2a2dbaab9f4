//! Generated matrices of scalars on which methods and formats are measured: the patterns of the
//! command, and others. No costs of methods are fitted to the patterns of `held_out`.
//! `applications` has patterns of applications.
mod applications;
mod held_out;

pub use applications::{Circuit, cavity, chains, circuit, film, mesh, power_network, stages, units};
pub use blockmul_cli::patterns::*;
pub use held_out::{diagonal_blocks, geometric, kronecker};

use blockmul::{BlockShape, Csc, Result, generate};

/// The factors of A·Aᵀ.
pub fn with_transpose(a: Csc<f64>) -> Factors {
    let transposed = a.transpose();
    (a, Some(transposed))
}

/// A matrix with `entries` random blocks in each column of blocks. Blocks have `side` rows and
/// columns.
pub fn uniform_blocks(columns: usize, entries: usize, side: usize) -> Result<Csc<f64>> {
    let n = columns.max(2 * entries);
    Ok(generate::Uniform {
        rows: n,
        cols: n,
        per_column: entries,
        shape: BlockShape::new(side, side)?,
        seed: SEED,
        ..Default::default()
    }
    .matrix()?
    .to_scalars())
}

/// Factors of a product with about `products` products: A is a 27-point stencil with `unknowns`
/// unknowns a node, and B some of its columns. The rows of a column of C lie in a range of about
/// `range` rows.
pub fn stencil_of_range(range: usize, unknowns: usize, products: usize) -> Result<Factors> {
    let (nodes, columns) = (range / unknowns, (products / (27 * unknowns).pow(2) / unknowns).max(1));
    // The node of a product is at most two layers, two lines and two nodes away.
    let line = (nodes as f64 / 4.0).sqrt().max(3.0) as usize;
    let layer = (nodes / 4).saturating_sub(line + 1).max(3 * line);
    let half = 2 * (layer + line + 1);
    let n = 2 * half + columns;
    let places = |node: usize| {
        let near = |step: usize| [0, step, 2 * step].into_iter();
        let steps = near(layer).flat_map(move |z| near(line).flat_map(move |y| near(1).map(move |x| z + y + x)));
        let first = layer + line + 1;
        let there = steps.filter_map(move |step| (node + step).checked_sub(first)).filter(move |&there| there < n);
        there.flat_map(move |there| (0..unknowns).map(move |unknown| (there * unknowns + unknown) as u32))
    };
    let of = |nodes: std::ops::Range<usize>| {
        let (mut col_ptr, mut row_idx) = (vec![0u64], Vec::new());
        for node in nodes.flat_map(|node| std::iter::repeat_n(node, unknowns)) {
            row_idx.extend(places(node));
            col_ptr.push(row_idx.len() as u64);
        }
        with_values(n * unknowns, col_ptr, row_idx)
    };
    Ok((of(0..n)?, Some(of(half..half + columns)?)))
}

/// Streets: a square grid from which three tenths of the edges are removed. The graph of streets is
/// planar.
pub fn streets(side: usize) -> Result<Csc<f64>> {
    road_network(side, 0)
}

/// Streets, and a few hubs that have edges to 100 nodes anywhere.
pub fn roads(side: usize) -> Result<Csc<f64>> {
    road_network(side, (side * side).div_ceil(10_000))
}

fn road_network(side: usize, hubs: usize) -> Result<Csc<f64>> {
    let (n, mut random) = (side * side, generate::Random::new(SEED));
    let mut edges = Vec::new();
    for node in 0..n {
        let (right, down) = (node % side + 1 < side, node / side + 1 < side);
        edges.extend((right && random.below(10) < 7).then_some((node, node + 1)));
        edges.extend((down && random.below(10) < 7).then_some((node, node + side)));
    }
    for _ in 0..hubs {
        let hub = random.below(n as u64) as usize;
        edges.extend((0..100).map(|_| (hub, random.below(n as u64) as usize)));
    }
    let both = edges.iter().flat_map(|&(one, other)| [(one, other), (other, one)]);
    of_places([n, n], both.collect())
}

/// A square matrix with fewer entries than columns, at random places.
pub fn hypersparse(n: usize, entries: usize) -> Result<Csc<f64>> {
    let mut random = generate::Random::new(SEED);
    let mut line = || random.below(n as u64) as usize;
    of_places([n, n], (0..entries).map(|_| (line(), line())).collect())
}

/// A honeycomb. Each inner node has three neighbours.
pub fn hexagons(side: usize) -> Result<Csc<f64>> {
    stencil(side * side, |column| {
        let (x, y) = (column % side, column / side);
        let neighbours = [
            ((x + y) % 2 == 1 && y > 0).then(|| column.wrapping_sub(side)),
            (x > 0).then(|| column.wrapping_sub(1)),
            (x + 1 < side).then_some(column + 1),
            ((x + y) % 2 == 0 && y + 1 < side).then_some(column + side),
        ];
        neighbours.into_iter().flatten().collect()
    })
}

/// A matrix with `entries` entries in each column, at random rows at most `width` from the
/// diagonal.
pub fn scattered(columns: usize, entries: usize, width: usize) -> Result<Csc<f64>> {
    scattered_along([columns; 2], entries, width)
}

/// A matrix like that of [`scattered`], whose sides may differ. The diagonal of the matrix leads
/// from the first row and column to the last.
pub fn scattered_along([rows, columns]: [usize; 2], entries: usize, width: usize) -> Result<Csc<f64>> {
    let mut random = generate::Random::new(SEED);
    let mut places = Vec::new();
    for column in 0..columns {
        let middle = column * rows / columns;
        let (first, last) = (middle.saturating_sub(width), (middle + width).min(rows - 1));
        let of_column = random.distinct(entries.min(last - first + 1) as u64, (last - first + 1) as u64);
        places.extend(of_column.into_iter().map(|row| (column, first + row as usize)));
    }
    of_places([rows, columns], places)
}

/// A matrix of short and long columns in turn: the even columns have 2 entries, the odd ones
/// `long`.
pub fn bimodal(columns: usize, long: usize) -> Result<Csc<f64>> {
    let (n, mut random) = (columns.max(2 * long), generate::Random::new(SEED));
    let mut places = Vec::new();
    for column in 0..n {
        let rows = random.distinct(if column % 2 == 0 { 2 } else { long as u64 }, n as u64);
        places.extend(rows.into_iter().map(|row| (column, row as usize)));
    }
    of_places([n, n], places)
}

/// Each group of `alike` columns has the same rows. Rows and columns are permuted, so that equal
/// columns are not neighbours.
pub fn permuted_equals(columns: usize, alike: usize) -> Result<Csc<f64>> {
    let nodes = columns.div_ceil(alike).max(8);
    let (n, mut random) = (nodes * alike, generate::Random::new(SEED));
    let mut to: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        to.swap(last, random.below(last as u64 + 1) as usize);
    }
    let of_node = |node: usize| [node + nodes - 1, node, node + 1].map(|near| near % nodes);
    let rows = |node: usize| of_node(node).into_iter().flat_map(|near| (0..alike).map(move |row| near * alike + row));
    let places = (0..n).flat_map(|column| rows(column / alike).map(move |row| (column, row)));
    of_places([n, n], places.map(|(column, row)| (to[column], to[row])).collect())
}

/// Factors with `entries` entries in each column, except for one column of B, which has `percent`
/// percent of the products.
pub fn skewed(products: usize, entries: usize, percent: usize) -> Result<Factors> {
    let long = products * percent / 100 / entries;
    let columns = ((products - long * entries) / (entries * entries)).max(1);
    let inner = columns.max(long).max(2 * entries);
    let mut random = generate::Random::new(SEED);
    let mut places = Vec::new();
    for column in 0..columns + 1 {
        let of = if column == columns / 2 { long.max(1) } else { entries };
        places.extend(random.distinct(of as u64, inner as u64).into_iter().map(|row| (column, row as usize)));
    }
    Ok((drawn([inner, inner], entries)?, Some(of_places([inner, columns + 1], places)?)))
}

/// A matrix with entries at these places, pairs of column and row. Repeated places are stored once.
fn of_places([rows, cols]: [usize; 2], mut places: Vec<(usize, usize)>) -> Result<Csc<f64>> {
    places.sort_unstable();
    places.dedup();
    let mut col_ptr = vec![0u64; cols + 1];
    places.iter().for_each(|&(col, _)| col_ptr[col + 1] += 1);
    (0..cols).for_each(|col| col_ptr[col + 1] += col_ptr[col]);
    with_values(rows, col_ptr, places.into_iter().map(|(_, row)| row as u32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stencils_have_their_neighbours() -> Result<()> {
        let (a, b) = stencil_of_range(600, 2, 20_000)?;
        let b = b.expect("columns of A");
        let column = b.pattern().column(0);
        assert_eq!((a.ncols(), b.ncols(), column.len()), (b.nrows(), 2 * (20_000 / 54 / 54 / 2), 54));
        assert!((0..2).all(|col| b.pattern().column(col) == a.pattern().column(a.ncols() / 2 - b.ncols() / 2 + col)));
        let reached = |end: &u32| a.pattern().column(*end as usize);
        let range = reached(&column[53])[53] - reached(&column[0])[0];
        assert!((590..=610).contains(&range), "{range}");
        Ok(())
    }

    #[test]
    fn families_have_their_shapes() -> Result<()> {
        let roads = roads(40)?;
        let longest = (0..1600).map(|col| roads.pattern().column(col).len()).max();
        assert!(roads.pattern() == roads.transpose().pattern() && longest >= Some(90), "{longest:?}");
        let streets = streets(40)?;
        let is_near = |row: u32, col: usize| [1, 40].contains(&col.abs_diff(row as usize));
        assert!((0..1600).all(|col| streets.pattern().column(col).iter().all(|&row| is_near(row, col))));
        assert!((4200..=4600).contains(&streets.nnz()), "2.8 a node: {}", streets.nnz());
        let sparse = hypersparse(1000, 200)?;
        assert!((150..=200).contains(&sparse.nnz()) && sparse.ncols() == 1000, "{}", sparse.nnz());
        let hexagons = hexagons(6)?;
        assert!((0..36).all(|col| hexagons.pattern().column(col).len() <= 3), "three neighbours");
        assert!(hexagons.pattern() == hexagons.transpose().pattern() && hexagons.pattern().column(14).len() == 3);
        let scattered = scattered(50, 4, 6)?;
        let near = |col: usize| scattered.pattern().column(col).iter().all(|&row| (row as usize).abs_diff(col) <= 6);
        assert!(scattered.nnz() == 200 && (0..50).all(near));
        let along = scattered_along([10, 60], 3, 2)?;
        let near = |col: usize| along.pattern().column(col).iter().all(|&row| (row as usize).abs_diff(col / 6) <= 2);
        assert!((along.nrows(), along.nnz()) == (10, 180) && (0..60).all(near));
        let bimodal = bimodal(100, 20)?;
        assert_eq!([0, 1, 98, 99].map(|col| bimodal.pattern().column(col).len()), [2, 20, 2, 20]);
        let equals = permuted_equals(60, 3)?;
        let columns: Vec<_> = (0..60).map(|col| equals.pattern().column(col)).collect();
        assert!(columns.iter().all(|one| one.len() == 9 && columns.iter().filter(|of| *of == one).count() == 3));
        assert!(columns.windows(2).filter(|two| two[0] == two[1]).count() < 10, "neighbours are unlike");
        let (a, b) = skewed(10_000, 5, 40)?;
        let b = b.expect("another matrix");
        let longest = (0..b.ncols()).map(|col| b.pattern().column(col).len()).max();
        assert_eq!((longest, a.pattern().column(0).len(), b.nnz()), (Some(800), 5, 800 + 240 * 5));
        Ok(())
    }
}
