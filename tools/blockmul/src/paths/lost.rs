//! Lengths and distances that the element type is too small for.
use crate::messages::Messages;
use blockmul::{
    element::{AnyValues, ElementType},
    matrix::{AnyMatrix, Pattern},
};

/// Warns of whole numbers of a file that are infinite as lengths: the largest of an integer type.
/// Of floats the conversion warns.
pub fn warn_of_lengths(element: ElementType, lengths: &[f64], messages: &Messages) {
    let highest = highest(element);
    if highest.is_infinite() {
        return;
    }
    let is_lost = |length: &&f64| length.is_finite() && element.nearest(**length) == highest;
    let (lost, all) = (lengths.iter().filter(is_lost).count(), lengths.len());
    if lost > 0 {
        messages.alert(&format!("{lost} of {all} values of G are too large for {element}: they are infinite"));
    }
}

/// Warns of vertices that have a path whose length is above or below all numbers of its type.
pub fn warn(g: &AnyMatrix, distances: &AnyValues, messages: &Messages) {
    let (element, lengths, distances) = (g.element(), g.values().numbers(), distances.numbers());
    let columns = || distances.chunks(g.ncols().max(1));
    let g = (g.pattern(), &lengths[..], element);
    let (far, low) =
        (columns().map(|of| too_far(g, of)).sum::<usize>(), columns().map(|of| too_low(g, of)).sum::<usize>());
    let wider = if element == ElementType::F64 { "" } else { "; --element f64 has them" };
    if far > 0 {
        messages
            .alert(&format!("distances too large for {element}: {far}; these vertices count as out of reach{wider}"));
    }
    if low > 0 {
        let least = lowest(element);
        messages.alert(&format!("distances too small for {element}: {low}; they are {least}{wider}"));
    }
}

/// The length of no path.
fn highest(element: ElementType) -> f64 {
    element.nearest(f64::INFINITY)
}

fn lowest(element: ElementType) -> f64 {
    element.nearest(f64::NEG_INFINITY)
}

/// The edges of a graph, their lengths, and the type of these.
type Graph<'a> = (&'a Pattern, &'a [f64], ElementType);

/// Vertices out of reach to which edges of finite lengths lead from vertices that are in reach.
fn too_far((pattern, lengths, element): Graph<'_>, distance: &[f64]) -> usize {
    let highest = highest(element);
    let mut is_lost = vec![false; distance.len()];
    let mut waiting: Vec<usize> = (0..distance.len()).filter(|&vertex| distance[vertex] < highest).collect();
    let mut lost = 0;
    while let Some(from) = waiting.pop() {
        for entry in pattern.entries(from) {
            let to = pattern.row_idx()[entry] as usize;
            if lengths[entry] < highest && distance[to] == highest && !is_lost[to] {
                (is_lost[to], lost) = (true, lost + 1);
                waiting.push(to);
            }
        }
    }
    lost
}

/// Vertices at the least number of the type, to which a path leads that is shorter still.
fn too_low((pattern, lengths, element): Graph<'_>, distance: &[f64]) -> usize {
    let mut is_lost = vec![false; distance.len()];
    for from in (0..distance.len()).filter(|&vertex| distance[vertex] < highest(element)) {
        for entry in pattern.entries(from) {
            let to = pattern.row_idx()[entry] as usize;
            is_lost[to] |= distance[from] + lengths[entry] < lowest(element);
        }
    }
    is_lost.into_iter().filter(|&is_lost| is_lost).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockmul::Csc;

    #[test]
    fn paths_that_are_too_long_or_too_short_are_counted() -> blockmul::Result<()> {
        let counted = |element: ElementType, n: usize, edges: &[(usize, usize, f64)], distance: &[f64]| {
            let g = Csc::from_triplets(n, n, edges.iter().copied())?;
            let g = (g.pattern(), g.values(), element);
            blockmul::Result::Ok((too_far(g, distance), too_low(g, distance)))
        };
        // 0 to 1 to 2 to 3, of which 1 to 2 is too long; an edge without a length leads to 4.
        let most = f64::from(u32::MAX);
        let edges = [(1, 0, most - 2.0), (2, 1, 2.0), (3, 2, 0.0), (4, 0, most)];
        assert_eq!(counted(ElementType::U32, 5, &edges, &[0.0, most - 2.0, most, most, most])?.0, 2);
        let least = f64::from(i32::MIN);
        assert_eq!(counted(ElementType::I32, 3, &[(1, 0, least), (2, 1, -1.0)], &[0.0, least, least])?.1, 1);
        let edges = [(1, 0, 1e308), (0, 1, 1e308)];
        assert_eq!(counted(ElementType::F64, 2, &edges, &[0.0, 1e308])?, (0, 0));
        Ok(())
    }
}
