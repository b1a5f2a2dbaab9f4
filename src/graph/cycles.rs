//! Finds cycles around which distances fall without end, among the edges that lowered distances
//! last. Sweeps on devices and the reference share this code, so that they refuse the same graphs.
//!
//! Sums of lengths are rounded. So a cycle of length 0 may lower distances for a while, and a cycle
//! may lower no distance if its negative length is lost in rounding. A cycle is refused if rounding
//! does not stop the fall.
use crate::{Error, Result, element::ElementType};

/// The host first looks for cycles after this number of sweeps, and again whenever the number of
/// sweeps has doubled. The host reads a GPU's results only once in several sweeps; 64 is a multiple
/// of that number.
const FIRST_LOOK: u64 = 64;

/// A cycle is refused if distances fall in this many rounds along it. If rounding stops the fall,
/// it stops it after a few rounds, or only after the distances have passed most numbers of their
/// type.
const ROUNDS: usize = 64;

/// Distances may fall in at most this number of sweeps for each vertex of the graph. Rounding may
/// lower distances around several cycles in turn, although it lowers them around no single cycle.
const MOST_SWEEPS: u64 = 4;

/// Marks a vertex whose distance no edge has lowered.
pub(crate) const NONE: u32 = u32::MAX;

/// The edge that lowered the distance of each vertex last, if one did.
pub(crate) struct LastEdges<'a> {
    /// The type in which distances are computed.
    pub element: ElementType,
    /// For each vertex, the vertex at which the edge begins that lowered its distance last;
    /// [`NONE`] if no edge lowered it.
    pub from: &'a [u32],
    pub length: &'a [f64],
    pub distance: &'a [f64],
}

/// Whether to look for cycles after `sweeps` sweeps, if distances still fall.
pub(crate) fn is_time_to_look(sweeps: u64) -> bool {
    sweeps >= FIRST_LOOK && sweeps.is_power_of_two()
}

impl LastEdges<'_> {
    /// Refuses cycles around which distances fall without end. `falling` is the number of sweeps,
    /// if the last sweep has lowered a distance.
    ///
    /// # Errors
    /// [`Error::NegativeCycle`] for the first cycle found from the vertices in their order; if
    /// distances fall only around several cycles together, for the shortest cycle.
    pub fn check(&self, falling: Option<u64>) -> Result<()> {
        let length = |cycle: &Vec<usize>| exact_sum(cycle.iter().map(|&to| self.length[to]));
        let measured: Vec<_> = cycles(self.from).into_iter().map(|cycle| (length(&cycle), cycle)).collect();
        // After as many sweeps as the graph has vertices, only cycles lower distances.
        let overdue = falling.is_some_and(|sweeps| sweeps >= MOST_SWEEPS * self.from.len() as u64);
        let shortest = || measured.iter().filter(|_| overdue).min_by(|(a, _), (b, _)| a.total_cmp(b));
        let found = measured.iter().find(|(length, cycle)| self.falls_without_end(cycle, *length < 0.0));
        match found.or_else(shortest) {
            Some((length, cycle)) => {
                let vertex = cycle.iter().copied().min().unwrap_or(0);
                Err(Error::NegativeCycle { vertex, length: *length })
            }
            None => Ok(()),
        }
    }

    fn falls_without_end(&self, cycle: &[usize], negative: bool) -> bool {
        let mut distance: Vec<f64> = cycle.iter().map(|&vertex| self.distance[vertex]).collect();
        let mut once_around = || {
            let mut fell = false;
            for at in 0..cycle.len() {
                let so_far = distance[if at == 0 { cycle.len() - 1 } else { at - 1 }];
                let reached = self.element.length(self.length[cycle[at]], so_far);
                if reached < distance[at] {
                    (distance[at], fell) = (reached, true);
                }
            }
            fell
        };
        let falls = (0..ROUNDS).all(|_| once_around());
        // A fall also stops at the lowest number of the type.
        falls || (negative && distance.contains(&self.element.lowest()))
    }
}

/// The cycles among the edges that lead from `from[vertex]` to each vertex. The vertices of a cycle
/// are listed in the order of its edges.
pub(super) fn cycles(from: &[u32]) -> Vec<Vec<usize>> {
    let mut cycles = Vec::new();
    // For each vertex, the number of the walk that reached the vertex first.
    let mut met = vec![NONE; from.len()];
    for start in 0..from.len() {
        let mut at = start as u32;
        while at != NONE && met[at as usize] == NONE {
            met[at as usize] = start as u32;
            at = from[at as usize];
        }
        if at != NONE && met[at as usize] == start as u32 {
            let back = std::iter::successors(Some(from[at as usize]), |&next| Some(from[next as usize]));
            let mut cycle: Vec<usize> = back.take_while(|&next| next != at).map(|next| next as usize).collect();
            cycle.reverse();
            cycle.push(at as usize);
            cycles.push(cycle);
        }
    }
    cycles
}

/// The sum of numbers that are not NaN or +infinity, with the sign of the exact sum (Shewchuk:
/// *Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates*, 1997).
fn exact_sum(numbers: impl Iterator<Item = f64>) -> f64 {
    let (mut below, mut above): (Vec<f64>, Vec<f64>) = numbers.partition(|&number| number < 0.0);
    if below.contains(&f64::NEG_INFINITY) {
        return f64::NEG_INFINITY;
    }
    // The exact sum so far is the sum of these parts. Each part is smaller than the last binary
    // place of the next part.
    let mut parts: Vec<f64> = Vec::new();
    // The next number has the opposite sign, so that the sum stays within the range of the type.
    while let Some(mut sum) = if parts.last() < Some(&0.0) { above.pop() } else { below.pop() } {
        let mut kept = Vec::with_capacity(parts.len() + 1);
        for part in parts {
            let (small, large) = if sum.abs() < part.abs() { (sum, part) } else { (part, sum) };
            sum = small + large;
            kept.push(small - (sum - large));
        }
        kept.push(sum);
        kept.retain(|&part| part != 0.0);
        parts = kept;
    }
    // The remaining numbers have the sign of the sum so far.
    parts.into_iter().chain(below).chain(above).rev().fold(0.0, |sum, number| sum + number)
}

#[cfg(test)]
mod tests;
