//! The sum of a row of a matrix in [`Order::Scan`].
use crate::{
    Arithmetic,
    element::{Algebra, Order},
};

/// A term, and its index among all entries.
type Term<V> = (usize, V);

/// The sum of the terms of a row, whose indices are consecutive.
pub(super) fn sum<V: Arithmetic>(algebra: &Algebra<V>, terms: &[Term<V>]) -> V {
    let tiles: Vec<Term<V>> = by_tile(terms).map(|tile| (tile[0].0 / Order::TILE, sum_tile(algebra, tile))).collect();
    match tiles[..] {
        [] => algebra.empty,
        [(_, sum)] => sum,
        [(first, _), ..] => {
            let place = |tile: usize| 2 * tile + usize::from(tile == first);
            let parts: Vec<Term<V>> = tiles.iter().map(|&(tile, sum)| (place(tile), sum)).collect();
            algebra.sum(&mut by_tile(&parts).map(|tile| sum_tile(algebra, tile)))
        }
    }
}

fn by_tile<V>(terms: &[Term<V>]) -> impl Iterator<Item = &[Term<V>]> {
    terms.chunk_by(|one, next| one.0 / Order::TILE == next.0 / Order::TILE)
}

fn sum_tile<V: Arithmetic>(algebra: &Algebra<V>, terms: &[Term<V>]) -> V {
    let chunks = terms.chunk_by(|one, next| one.0 / Order::CHUNK == next.0 / Order::CHUNK);
    let mut sums: Vec<V> = chunks.map(|chunk| algebra.sum(&mut chunk.iter().map(|term| term.1))).collect();
    let last = sums.pop().expect("a tile of a row has terms");
    let mut distance = 1;
    while distance < sums.len() {
        for chunk in (distance..sums.len()).rev() {
            sums[chunk] = (algebra.add)(sums[chunk - distance], sums[chunk]);
        }
        distance *= 2;
    }
    sums.pop().map_or(last, |before| (algebra.add)(before, last))
}
