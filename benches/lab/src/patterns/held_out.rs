//! Kinds of patterns to which no costs of methods are fitted. The choice of methods is tested on
//! these patterns.
use super::{SEED, of_places, stencil};
use blockmul::{Csc, Result, generate};

/// Dense blocks of `side` rows and columns along the diagonal.
pub fn diagonal_blocks(columns: usize, side: usize) -> Result<Csc<f64>> {
    let blocks = columns.div_ceil(side).max(1);
    stencil(blocks * side, |column| (column / side * side..(column / side + 1) * side).collect())
}

/// The Kronecker product of two square patterns.
pub fn kronecker(one: &Csc<f64>, other: &Csc<f64>) -> Result<Csc<f64>> {
    let side = other.ncols();
    stencil(one.ncols() * side, |column| {
        let (outer, inner) = (one.pattern().column(column / side), other.pattern().column(column % side));
        outer.iter().flat_map(|&row| inner.iter().map(move |&of| row as usize * side + of as usize)).collect()
    })
}

/// A random geometric graph. The points of the unit square are numbered as they were drawn. Each
/// point has an edge to itself and edges to, on average, about `near` points around it.
pub fn geometric(points: usize, near: usize) -> Result<Csc<f64>> {
    let mut random = generate::Random::new(SEED);
    let places: Vec<[f64; 2]> = (0..points).map(|_| [random.unit(), random.unit()]).collect();
    let radius = (near as f64 / (points as f64 * std::f64::consts::PI)).sqrt();
    // Cells are at least as wide as the radius, so that neighbours lie in the same or an adjacent
    // cell.
    let cells = ((1.0 / radius) as usize).max(1);
    let cell = |place: [f64; 2]| place.map(|at| ((at * cells as f64) as usize).min(cells - 1));
    let mut members = vec![Vec::new(); cells * cells];
    for (point, &place) in places.iter().enumerate() {
        let [x, y] = cell(place);
        members[y * cells + x].push(point);
    }
    let around = |at: usize| at.saturating_sub(1)..(at + 2).min(cells);
    let of_point = |point: usize| {
        let [x, y] = cell(places[point]);
        let others = around(y).flat_map(|y| around(x).map(move |x| y * cells + x)).flat_map(|at| &members[at]);
        let distance = |other: usize| [0, 1].map(|axis| places[point][axis] - places[other][axis]);
        let is_near =
            |other: &usize| distance(*other).map(|along| along * along).iter().sum::<f64>() <= radius * radius;
        others.copied().filter(is_near).map(|other| (point, other)).collect::<Vec<_>>()
    };
    of_places([points, points], (0..points).flat_map(of_point).collect())
}

#[cfg(test)]
mod tests {
    use super::super::{drawn, plane};
    use super::*;

    #[test]
    fn held_out_patterns_have_their_shapes() -> Result<()> {
        let blocks = diagonal_blocks(10, 4)?;
        assert_eq!((blocks.ncols(), blocks.nnz(), blocks.pattern().column(5)), (12, 48, &[4, 5, 6, 7][..]));
        let (one, other) = (drawn([5, 5], 2)?, plane(4)?);
        let product = kronecker(&one, &other)?;
        assert_eq!((product.nrows(), product.ncols(), product.nnz()), (80, 80, one.nnz() * other.nnz()));
        let [outer, inner] = [(&one, 3), (&other, 2)].map(|(of, col)| of.pattern().column(col));
        let rows: Vec<u32> = outer.iter().flat_map(|row| inner.iter().map(move |of| 16 * row + of)).collect();
        assert_eq!(product.pattern().column(3 * 16 + 2), rows);
        let near = geometric(2000, 7)?;
        assert!(near.pattern() == near.transpose().pattern());
        assert!((0..2000).all(|col| near.pattern().column(col).contains(&(col as u32))), "each beside itself");
        assert!((13_000..=16_000).contains(&near.nnz()), "{}", near.nnz());
        Ok(())
    }
}
