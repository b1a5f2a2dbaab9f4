//! Lengths and distances that the element type is too small for.
use crate::messages::Messages;
use blockmul::{Csc, Element, element::Length};

/// Warns of whole numbers of a file that are infinite as lengths: the largest of an integer type.
/// Of floats the conversion warns.
pub fn warn_of_lengths<D: Length>(before: &[f64], lengths: &[D], messages: &Messages) {
    if D::HIGHEST.to_f64().is_infinite() {
        return;
    }
    let is_lost = |(before, length): &(&f64, &D)| before.is_finite() && **length == D::HIGHEST;
    let (lost, all) = (before.iter().zip(lengths).filter(is_lost).count(), lengths.len());
    if lost > 0 {
        messages.alert(&format!("{lost} of {all} values of G are too large for {}: they are infinite", D::NAME));
    }
}

/// Warns of vertices that have a path whose length is above or below all numbers of `D`.
pub fn warn<D: Length>(g: &Csc<D>, distances: &[D], messages: &Messages) {
    let columns = || distances.chunks(g.ncols().max(1));
    let (far, low) =
        (columns().map(|of| too_far(g, of)).sum::<usize>(), columns().map(|of| too_low(g, of)).sum::<usize>());
    let wider = if D::NAME == <f64 as Element>::NAME { "" } else { "; --element f64 has them" };
    if far > 0 {
        messages
            .alert(&format!("distances too large for {}: {far}; these vertices count as out of reach{wider}", D::NAME));
    }
    if low > 0 {
        let least = D::LOWEST.to_f64();
        messages.alert(&format!("distances too small for {}: {low}; they are {least}{wider}", D::NAME));
    }
}

/// Vertices out of reach to which edges of finite lengths lead from vertices that are in reach.
fn too_far<D: Length>(g: &Csc<D>, distance: &[D]) -> usize {
    let mut is_lost = vec![false; distance.len()];
    let mut waiting: Vec<usize> = (0..distance.len()).filter(|&vertex| distance[vertex] < D::HIGHEST).collect();
    let mut lost = 0;
    while let Some(from) = waiting.pop() {
        for entry in g.pattern().entries(from) {
            let (to, length) = (g.pattern().row_idx()[entry] as usize, g.values()[entry]);
            if length < D::HIGHEST && distance[to] == D::HIGHEST && !is_lost[to] {
                (is_lost[to], lost) = (true, lost + 1);
                waiting.push(to);
            }
        }
    }
    lost
}

/// Vertices at the least number of the type, to which a path leads that is shorter still.
fn too_low<D: Length>(g: &Csc<D>, distance: &[D]) -> usize {
    let least = D::LOWEST.to_f64();
    let mut is_lost = vec![false; distance.len()];
    for from in (0..distance.len()).filter(|&vertex| distance[vertex] < D::HIGHEST) {
        for entry in g.pattern().entries(from) {
            let to = g.pattern().row_idx()[entry] as usize;
            is_lost[to] |= distance[from].to_f64() + g.values()[entry].to_f64() < least;
        }
    }
    is_lost.into_iter().filter(|&is_lost| is_lost).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_are_too_long_or_too_short_are_counted() -> blockmul::Result<()> {
        // 0 to 1 to 2 to 3, of which 1 to 2 is too long; an edge without a length leads to 4.
        let most = u32::MAX;
        let g = Csc::from_triplets(5, 5, [(1, 0, most - 2), (2, 1, 2), (3, 2, 0), (4, 0, most)])?;
        assert_eq!(too_far(&g, &[0, most - 2, most, most, most]), 2);
        let g = Csc::from_triplets(3, 3, [(1, 0, i32::MIN), (2, 1, -1)])?;
        assert_eq!(too_low(&g, &[0, i32::MIN, i32::MIN]), 1);
        let g = Csc::from_triplets(2, 2, [(1, 0, 1e308), (0, 1, 1e308)])?;
        assert_eq!((too_far(&g, &[0.0, 1e308]), too_low(&g, &[0.0, 1e308])), (0, 0));
        Ok(())
    }
}
