//! Floors of damping, which prevent that unknowns on which no residual depends make a system
//! singular.
//!
//! λ·Hⱼⱼ damps nothing if Hⱼⱼ is 0. Therefore damping adds λ·max(Hⱼⱼ, floor) to the diagonal. The
//! floor is a share of the largest value that Hⱼⱼ has had for the same coordinate of any unknown of
//! the group (J. J. Moré, *The Levenberg-Marquardt Algorithm: Implementation and Theory*, 1978,
//! section 6). Therefore the floor has the unit of Hⱼⱼ. If Hⱼⱼ is 0 for the same coordinate of all
//! unknowns of the group, that coordinate is held fixed for the step.
use crate::{Device, DeviceVector, Result, solver::Floors};

/// The floor, as a share of the largest diagonal element for the same coordinate. A column of J
/// whose diagonal element is below the floor is smaller than the rounding of the largest column.
/// The smallest share of a diagonal element in any iteration was 7e-17 in four bundle adjustments
/// of BAL (for points of problem-49-7776), and 4e-3 in six graphs of g2o.
const SHARE: f64 = 1e-30;
/// The smallest floor, except if all diagonal elements are smaller. The product of this floor and
/// the least λ is a normal number.
const LEAST: f64 = 1e-290;

/// One coordinate of an unknown: an element of the diagonal of a block of H.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coordinate {
    /// The group of unknowns.
    pub group: usize,
    /// The number of the unknown in its group.
    pub number: usize,
    /// The index of the coordinate within the unknown.
    pub coordinate: usize,
}

/// Coordinates of unknowns on which no residual depends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WithoutInfluence {
    /// Number of coordinates on which no residual depends.
    pub count: usize,
    /// The first coordinates on which no residual depends, at most [`WithoutInfluence::NAMED`].
    pub first: Vec<Coordinate>,
}

impl WithoutInfluence {
    /// The maximum number of coordinates in [`WithoutInfluence::first`].
    pub const NAMED: usize = 100;
}

/// The floors of each group of unknowns, for the linearization that was formed last.
pub(super) struct DampingFloors {
    groups: Vec<GroupFloors>,
    /// The floors of all groups on the device, made when a floor is first needed.
    on_device: Vec<DeviceVector<f64>>,
}

/// The floors of one group of unknowns: one for each coordinate of a block.
struct GroupFloors {
    /// For each coordinate, the largest diagonal element so far.
    most: Vec<f64>,
    /// The floor of each coordinate: 0 if no diagonal element is below the floor, infinity if the
    /// coordinate is held fixed.
    floors: Vec<f64>,
    /// Whether the floors on the host differ from the floors on the device.
    changed: bool,
}

impl DampingFloors {
    /// No floors yet, for groups whose blocks have these sides.
    pub fn new(sides: impl Iterator<Item = usize>) -> Self {
        let group = |side| GroupFloors { most: vec![0.0; side], floors: vec![0.0; side], changed: false };
        Self { groups: sides.map(group).collect(), on_device: Vec::new() }
    }

    /// Computes the floors from the diagonals of H, one diagonal for each group.
    pub fn update<'a>(&mut self, device: &Device, diagonals: impl Iterator<Item = &'a [f64]>) -> Result<()> {
        self.groups.iter_mut().zip(diagonals).for_each(|(group, diagonal)| group.update(diagonal));
        match (self.is_needed(), self.on_device.is_empty()) {
            (false, _) => return Ok(()),
            (true, true) => {
                let upload = |group: &GroupFloors| device.upload_vector(&group.floors);
                self.on_device = self.groups.iter().map(upload).collect::<Result<_>>()?;
            }
            (true, false) => {
                let mut changed = self.groups.iter().zip(&mut self.on_device).filter(|(group, _)| group.changed);
                changed.try_for_each(|(group, on_device)| on_device.write(&group.floors))?;
            }
        }
        self.groups.iter_mut().for_each(|group| group.changed = false);
        Ok(())
    }

    /// Whether an element of a diagonal is below its floor.
    pub fn is_needed(&self) -> bool {
        self.groups.iter().flat_map(|group| &group.floors).any(|&floor| floor > 0.0)
    }

    /// The floors of two groups on the device, or `None` if no element is below its floor.
    pub fn on_device(&self) -> Option<Floors<'_, f64>> {
        match &self.on_device[..] {
            [cameras, points] if self.is_needed() => Some(Floors { cameras, points }),
            _ => None,
        }
    }

    /// The term that damping adds to the diagonal element `number` of a group, whose value is `x`.
    pub fn added(&self, group: usize, number: usize, x: f64, lambda: f64) -> f64 {
        match self.floor(group, number) {
            f64::INFINITY => 1.0 - x,
            floor if x < floor => lambda * floor,
            _ => lambda * x,
        }
    }

    /// The diagonal element `number` of a group, whose value is `x`, after damping.
    pub fn damped(&self, group: usize, number: usize, x: f64, lambda: f64) -> f64 {
        match self.floor(group, number) {
            f64::INFINITY => 1.0,
            floor if x < floor => x + lambda * floor,
            _ => x * (1.0 + lambda),
        }
    }

    /// The coordinates whose diagonal elements are below their floors.
    pub fn without_influence<'a>(&self, diagonals: impl Iterator<Item = &'a [f64]>) -> WithoutInfluence {
        let mut found = WithoutInfluence::default();
        if !self.is_needed() {
            return found;
        }
        for (group, diagonal) in diagonals.enumerate() {
            let side = self.groups[group].floors.len();
            let below = diagonal.iter().enumerate().filter(|&(number, &x)| x < self.floor(group, number));
            for (number, _) in below {
                found.count += 1;
                if found.first.len() < WithoutInfluence::NAMED {
                    found.first.push(Coordinate { group, number: number / side, coordinate: number % side });
                }
            }
        }
        found
    }

    fn floor(&self, group: usize, number: usize) -> f64 {
        let floors = &self.groups[group].floors;
        floors[number % floors.len()]
    }
}

impl GroupFloors {
    fn update(&mut self, diagonal: &[f64]) {
        if diagonal.is_empty() {
            return;
        }
        let side = self.floors.len();
        let (mut least, mut most) = (vec![f64::INFINITY; side], vec![0.0; side]);
        for block in diagonal.chunks_exact(side) {
            for ((least, most), &x) in least.iter_mut().zip(&mut most).zip(block) {
                (*least, *most) = (x.min(*least), x.max(*most));
            }
        }
        for (coordinate, (least, now)) in least.into_iter().zip(most).enumerate() {
            let most = now.max(self.most[coordinate]);
            let share = (most * SHARE).max(LEAST.min(most));
            let floor = match least {
                // A subnormal element has lost digits, so it counts as 0.
                _ if now < f64::MIN_POSITIVE => f64::INFINITY,
                least if least < (most * SHARE).max(f64::MIN_POSITIVE) && share.is_finite() => share,
                _ => 0.0,
            };
            self.changed |= floor != self.floors[coordinate];
            (self.most[coordinate], self.floors[coordinate]) = (most, floor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floors(side: usize, diagonals: &[&[f64]]) -> Vec<f64> {
        let mut floors = DampingFloors::new([side].into_iter());
        diagonals.iter().for_each(|diagonal| floors.groups[0].update(diagonal));
        floors.groups.remove(0).floors
    }

    #[test]
    fn a_floor_is_a_share_of_the_largest_so_far_and_0_where_nothing_is_below() {
        assert_eq!(floors(1, &[&[1e-20, 4.0]]), [0.0]);
        assert_eq!(floors(2, &[&[4.0, 0.0, 0.0, 2.0]]), [4.0 * SHARE, 2.0 * SHARE]);
        assert_eq!(floors(1, &[&[4.0, 4.0], &[0.0, 1.0]]), [4.0 * SHARE], "the largest so far");
        assert_eq!(floors(2, &[&[3e-31, 1.0, 1.0, 1.0]]), [SHARE, 0.0]);
        assert_eq!(floors(1, &[&[f64::INFINITY, 0.0]]), [0.0]);
        // If the elements are tiny, the floor is [`LEAST`], whose product with the least λ is
        // normal.
        assert_eq!(floors(1, &[&[1e-280, 0.0]]), [LEAST]);
        assert_eq!(floors(1, &[&[1e-300, 0.0]]), [1e-300]);
        assert_eq!(floors(1, &[&[1e-300, 2e-300]]), [0.0]);
    }

    #[test]
    fn a_coordinate_that_is_zero_in_all_members_is_held_while_it_is() {
        assert_eq!(floors(2, &[&[0.0, 1.0, 0.0, 2.0]]), [f64::INFINITY, 0.0]);
        assert_eq!(floors(1, &[&[0.0, 5e-324]]), [f64::INFINITY]);
        assert_eq!(floors(1, &[&[0.0, 0.0], &[0.0, 3.0]]), [3.0 * SHARE]);
        assert_eq!(floors(1, &[&[1.0, 3.0], &[0.0, 0.0]]), [f64::INFINITY]);
    }

    #[test]
    fn damping_is_of_the_floor_and_1_holds() {
        let mut floors = DampingFloors::new([2, 1].into_iter());
        floors.groups[0].update(&[0.0, 0.0, 8.0, 0.0]);
        floors.groups[1].update(&[3.0]);
        let floor = 8.0 * SHARE;
        assert_eq!([0, 1, 2].map(|number| floors.damped(0, number, 0.0, 0.5)), [0.5 * floor, 1.0, 0.5 * floor]);
        assert_eq!([floors.damped(0, 2, 8.0, 0.5), floors.damped(1, 0, 3.0, 0.0)], [12.0, 3.0]);
        assert_eq!([floors.added(0, 2, 8.0, 0.5), floors.added(0, 0, 0.0, 0.5)], [4.0, 0.5 * floor]);
        let diagonals: [&[f64]; 2] = [&[0.0, 0.0, 8.0, 0.0], &[3.0]];
        let found = floors.without_influence(diagonals.into_iter());
        let at = |number, coordinate| Coordinate { group: 0, number, coordinate };
        assert_eq!(found, WithoutInfluence { count: 3, first: vec![at(0, 0), at(0, 1), at(1, 1)] });
    }
}
