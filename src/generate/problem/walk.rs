//! A path through a world of cells, closed where it comes near itself.
use super::{deviation, normal, turned};
use crate::{
    Error, Result,
    generate::{Random, lines, room},
    problem::{Graph, Place, PoseGraph, Sighting, Step, World},
};
use nalgebra::{AbstractRotation, Isometry, SMatrix, SVector, Translation, UnitComplex, UnitQuaternion, Vector3};
use std::{collections::HashMap, f64::consts::FRAC_1_SQRT_2, fmt::Debug};

/// What a pose graph is to be like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Walk {
    /// How many, 1 at least.
    pub poses: usize,
    /// Pairs of poses measured beside the path: of poses that are no neighbours on it, but in the same cell or in two that touch.
    pub closures: usize,
    /// How many.
    pub landmarks: usize,
    /// Poses that see a landmark, of those in its cell and in the ones that touch it; all where there are not as many.
    pub views: usize,
    /// In space, else in the plane.
    pub space: bool,
    /// Standard deviation of every coordinate measured, where a step is 1 long; a quarter of it that of rotations, in radians, about every
    /// axis.
    pub noise: f64,
    /// Of the random numbers.
    pub seed: u64,
}

impl Default for Walk {
    /// 1000 poses, 2000 closures, no landmarks, or 5 views of each, in space, a fiftieth, seed 1.
    fn default() -> Self {
        Self { poses: 1000, closures: 2000, landmarks: 0, views: 5, space: true, noise: 0.02, seed: 1 }
    }
}

/// A pose graph: a path that goes straight or turns by a quarter, cell by cell, through a world of about four poses a cell, and landmarks in cells of it.
///
/// Information matrices are those of the noise, the identity where there is none. The start is what the steps say alone: poses one from the other from the
/// true first one, which is fixed, landmarks from the first pose that sees them. Steps and closures are in the order of the later pose,
/// sightings in that of the landmarks, which are named after the poses.
///
/// # Errors
/// [`Error::Argument`] for no poses, for landmarks that no pose is to see, for more closures than there are pairs of poses near one another, and for
/// noise that is no number from 0; [`Error::TooLarge`] and [`Error::Memory`] for sizes out of reach.
pub fn pose_graph(walk: &Walk) -> Result<Graph> {
    Ok(match walk.space {
        false => Graph::Plane(recorded(walk)?),
        true => Graph::Space(recorded(walk)?),
    })
}

fn recorded<R: Turn<D>, const D: usize, const N: usize>(walk: &Walk) -> Result<PoseGraph<World<R, D, N>>> {
    let Walk { landmarks, views, .. } = *walk;
    let (poses, names) = (lines("poses", walk.poses)?, lines("landmarks", landmarks)?);
    let noise = deviation("the noise", walk.noise)?;
    if poses == 0 || (landmarks > 0 && views == 0) {
        return Err(Error::Argument(format!("{landmarks} landmarks, each seen by {views} of {poses} poses")));
    }
    let random = &mut Random::new(walk.seed);
    let path = Path::<R, D>::drawn(poses, random)?;
    let edges = path.edges(walk.closures, random)?;
    let truth = path.poses(random)?;

    let mut steps = room(edges.len() as u64, size_of::<Step<World<R, D, N>>>() as u64)?;
    for (from, to) in edges {
        let exact = truth[from as usize].inverse() * truth[to as usize];
        let measured = moved(&exact, (noise, noise / 4.0), random);
        steps.push(Step { from, to, measured, information: information::<D, N>(noise) });
    }
    let mut start = room(poses.into(), size_of::<Isometry<f64, R, D>>() as u64)?;
    start.push(truth[0]);
    for step in steps.iter().filter(|step| step.from + 1 == step.to) {
        start.push(settled(start[step.from as usize] * step.measured));
    }

    let mut sightings = room(
        (landmarks as u64).saturating_mul(views.min(walk.poses).min(NEAR) as u64),
        size_of::<Sighting<World<R, D, N>>>() as u64,
    )?;
    let mut places = room(landmarks as u64, 8 * D as u64)?;
    for landmark in 0..names {
        let cell = path.cells[random.below(poses.into()) as usize];
        let place = SVector::from_fn(|axis, _| f64::from(cell[axis]) + random.unit() - 0.5);
        let near: Vec<_> = path.near(&cell).collect();
        for number in random.distinct(views as u64, near.len() as u64) {
            let pose = near[number as usize];
            let exact = World::<R, D, N>::place(&truth[pose as usize].inverse(), &place);
            let measured = exact + normal(random, noise);
            if places.len() == landmark as usize {
                places.push(World::<R, D, N>::place(&start[pose as usize], &measured));
            }
            sightings.push(Sighting { pose, landmark, measured, information: information::<D, D>(noise) });
        }
    }
    Ok(PoseGraph {
        pose_names: (0..u64::from(poses)).collect(),
        poses: start,
        landmark_names: (u64::from(poses)..).take(landmarks).collect(),
        landmarks: places,
        fixed_poses: vec![0],
        fixed_landmarks: vec![],
        steps,
        sightings,
    })
}

/// Poses in a cell and in those that touch it, as many as there mostly are: what room is made for.
const NEAR: usize = 28;

/// Of `D` coordinates and, beyond them, angles, whose deviation is a quarter.
fn information<const D: usize, const M: usize>(noise: f64) -> SMatrix<f64, M, M> {
    SMatrix::from_diagonal(&SVector::from_fn(|axis, _| match (noise > 0.0, axis < D) {
        (false, _) => 1.0,
        (true, true) => 1.0 / (noise * noise),
        (true, false) => 16.0 / (noise * noise),
    }))
}

fn moved<R: Turn<D>, const D: usize>(
    pose: &Isometry<f64, R, D>,
    (far, angle): (f64, f64),
    random: &mut Random,
) -> Isometry<f64, R, D> {
    let translation = pose.translation.vector + normal(random, far);
    settled(Isometry::from_parts(Translation::from(translation), pose.rotation * R::drawn(angle, random)))
}

fn settled<R: Turn<D>, const D: usize>(pose: Isometry<f64, R, D>) -> Isometry<f64, R, D> {
    Isometry::from_parts(pose.translation, pose.rotation.settled())
}

type Cell<const D: usize> = [i32; D];

/// A walk from cell to cell.
struct Path<R, const D: usize> {
    cells: Vec<Cell<D>>,
    /// In which direction each pose looks.
    headings: Vec<R>,
    /// The poses in a cell, ascending.
    visits: HashMap<Cell<D>, Vec<u32>>,
}

impl<R: Turn<D>, const D: usize> Path<R, D> {
    fn drawn(poses: u32, random: &mut Random) -> Result<Self> {
        // At least two cells wide, so that there is a turn that leads on wherever the path meets the end of the world.
        let side = (2..).find(|side: &i64| side.pow(D as u32) * 4 >= poses.into()).unwrap_or(i64::MAX) as i32;
        let quarters = R::quarters();
        let ways = [vec![R::identity(); quarters.len() * 3 / 2], quarters].concat();
        let (mut cell, mut heading) = ([0; D], R::identity());
        let mut path = Self {
            cells: room(poses.into(), 4 * D as u64)?,
            headings: room(poses.into(), 32)?,
            visits: HashMap::new(),
        };
        for pose in 0..poses {
            path.cells.push(cell);
            path.headings.push(heading);
            path.visits.entry(cell).or_default().push(pose);
            let onward: Vec<(R, Cell<D>)> = ways
                .iter()
                .map(|way| (heading * *way).settled())
                .map(|heading| (heading, ahead(&cell, &heading)))
                .filter(|(_, cell)| cell.iter().all(|place| (0..side).contains(place)))
                .collect();
            (heading, cell) = onward[random.below(onward.len() as u64) as usize];
        }
        Ok(path)
    }

    /// The poses in a cell and in those that touch it, cell by cell.
    fn near(&self, cell: &Cell<D>) -> impl Iterator<Item = u32> {
        let beside = (0..D).flat_map(|axis| [-1, 1].map(|way| (axis, way)));
        std::iter::once((0, 0)).chain(beside).flat_map(move |(axis, way)| {
            let mut cell = *cell;
            cell[axis] += way;
            self.visits.get(&cell).into_iter().flatten().copied()
        })
    }

    /// The steps and so many closures, ascending by the later pose, then the earlier, which stands first.
    fn edges(&self, closures: usize, random: &mut Random) -> Result<Vec<(u32, u32)>> {
        let mut pairs = room((self.cells.len() * NEAR) as u64, 8)?;
        for (to, cell) in (0u32..).zip(&self.cells) {
            pairs.extend(self.near(cell).filter(|from| from + 1 < to).map(|from| (from, to)));
        }
        if closures > pairs.len() {
            let found = pairs.len();
            return Err(Error::Argument(format!(
                "{closures} loop closures, {found} pairs of poses are near one another"
            )));
        }
        let mut edges = room((self.cells.len() + closures) as u64, 8)?;
        edges.extend((1..self.cells.len() as u32).map(|pose| (pose - 1, pose)));
        let drawn = random.distinct(closures as u64, pairs.len() as u64);
        edges.extend(drawn.into_iter().map(|pair| pairs[pair as usize]));
        edges.sort_unstable_by_key(|&(from, to)| (to, from));
        Ok(edges)
    }

    /// Poses near the middle of their cells, that look nearly straight ahead.
    fn poses(&self, random: &mut Random) -> Result<Vec<Isometry<f64, R, D>>> {
        let mut poses = room(self.cells.len() as u64, size_of::<Isometry<f64, R, D>>() as u64)?;
        poses.extend(self.cells.iter().zip(&self.headings).map(|(cell, &heading)| {
            let middle = SVector::from_fn(|axis, _| f64::from(cell[axis]));
            moved(&Isometry::from_parts(Translation::from(middle), heading), (0.1, 0.1), random)
        }));
        Ok(poses)
    }
}

/// The next cell along the x axis of the heading.
fn ahead<R: Turn<D>, const D: usize>(cell: &Cell<D>, heading: &R) -> Cell<D> {
    let forward = heading.transform_vector(&SVector::from_fn(|axis, _| f64::from(u8::from(axis == 0))));
    std::array::from_fn(|axis| cell[axis] + forward[axis].round() as i32)
}

/// How poses turn: in the plane by an angle, in space about any axis.
trait Turn<const D: usize>: AbstractRotation<f64, D> + Copy + Debug + Send + Sync + 'static {
    /// By a quarter, to every side.
    fn quarters() -> Vec<Self>;
    /// By an angle of this deviation about every axis.
    fn drawn(deviation: f64, random: &mut Random) -> Self;
    /// Itself, less what rounding did to its length; as a file gives it back.
    fn settled(self) -> Self;
}

impl Turn<2> for UnitComplex<f64> {
    fn quarters() -> Vec<Self> {
        [1.0, -1.0].map(|sine| Self::from_cos_sin_unchecked(0.0, sine)).into()
    }

    fn drawn(deviation: f64, random: &mut Random) -> Self {
        let (sine, cosine) = libm::sincos(random.normal() * deviation);
        Self::from_cos_sin_unchecked(cosine, sine)
    }

    fn settled(self) -> Self {
        let (sine, cosine) = libm::sincos(libm::atan2(self.im, self.re));
        Self::from_cos_sin_unchecked(cosine, sine)
    }
}

impl Turn<3> for UnitQuaternion<f64> {
    fn quarters() -> Vec<Self> {
        let about = |axis: Vector3<f64>| nalgebra::Quaternion::from_parts(FRAC_1_SQRT_2, axis * FRAC_1_SQRT_2);
        [Vector3::z(), -Vector3::z(), Vector3::y(), -Vector3::y()].map(|axis| Self::new_unchecked(about(axis))).into()
    }

    fn drawn(deviation: f64, random: &mut Random) -> Self {
        turned(&normal(random, deviation))
    }

    fn settled(mut self) -> Self {
        self.renormalize();
        self
    }
}

#[cfg(test)]
mod tests;
