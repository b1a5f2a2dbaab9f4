//! A path through cells or over a surface. Closures connect poses at which the path comes near
//! itself.
use super::{deviation, normal, turn::Turn};
use crate::{
    Error, Result,
    generate::{Random, lines, room},
    solver::problem::{Graph, Place, PoseGraph, Sighting, Step, World},
};
use nalgebra::{Isometry, SMatrix, SVector, Translation};
use std::collections::HashMap;

/// Parameters of a generated pose graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Walk {
    /// Number of poses, at least 1.
    pub poses: usize,
    /// Number of pairs of poses that are measured in addition to the steps. The two poses are not
    /// neighbours on the path, and are in the same cell or in two cells that touch.
    pub closures: usize,
    /// Number of landmarks.
    pub landmarks: usize,
    /// Number of poses that see each landmark. These poses are drawn from the poses in the
    /// landmark's cell and in adjacent cells. If there are fewer than `views` poses in these cells,
    /// all of them see the landmark.
    pub views: usize,
    /// Course of the path.
    pub shape: Shape,
    /// Standard deviation of every measured coordinate. The length of a step is 1.
    pub noise: f64,
    /// Standard deviation of measured rotations about every axis, in radians. The default is a
    /// quarter of `noise`.
    pub turn_noise: Option<f64>,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// Course of the path of a generated pose graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Through cells of the plane.
    Plane,
    /// Through cells of space.
    Space,
    /// In turns around the tube of a torus. The radius of the torus is three times the radius of
    /// the tube.
    Torus,
    /// In turns from one pole of a sphere to the other.
    Sphere,
}

impl Default for Walk {
    /// 1000 poses in space, 2000 closures, no landmarks (otherwise 5 views of each), a noise of
    /// 1/50, seed 1.
    fn default() -> Self {
        let (shape, noise, turn_noise) = (Shape::Space, 0.02, None);
        Self { poses: 1000, closures: 2000, landmarks: 0, views: 5, shape, noise, turn_noise, seed: 1 }
    }
}

/// Generates a pose graph: a path, and landmarks in its cells.
///
/// In the plane and in space the path goes from cell to cell, straight ahead or after a turn of 90
/// degrees. The world has about one cell for every four poses. On a torus or a sphere the path
/// covers the surface in turns whose distance from one another is 1, and cells have edges of length
/// 2.
///
/// Information matrices describe the noise. If there is no noise, information matrices are the
/// identity. In the start, each pose follows from the pose before and the measured step between
/// them. The first pose is the true pose, and it is fixed. A landmark starts where the first pose
/// that sees it measured it. Steps and closures are in the order of the later pose. Sightings are
/// in the order of the landmarks, whose names follow the names of the poses.
///
/// The error of the start grows with the square root of the path's length. Closures whose ends are
/// far apart along the path can then lead a solver into a wrong minimum. An example is 600 poses on
/// a torus with 600 closures, noise 0.5 and seed 1.
///
/// # Errors
/// [`Error::Argument`] for no poses, for landmarks without views, for more closures than pairs of
/// near poses, and for noise that is negative or not finite; [`Error::TooLarge`] for too many poses
/// or landmarks; [`Error::Memory`] if the host lacks the memory.
pub fn pose_graph(walk: &Walk) -> Result<Graph> {
    Ok(match walk.shape {
        Shape::Plane => Graph::Plane(recorded(walk)?),
        Shape::Space | Shape::Torus | Shape::Sphere => Graph::Space(recorded(walk)?),
    })
}

fn recorded<R: Turn<D>, const D: usize, const N: usize>(walk: &Walk) -> Result<PoseGraph<World<R, D, N>>> {
    let Walk { landmarks, views, .. } = *walk;
    let (poses, names) = (lines("poses", walk.poses)?, lines("landmarks", landmarks)?);
    let noise = Noise {
        far: deviation("the noise", walk.noise)?,
        turn: deviation("the noise of rotations", walk.turn_noise.unwrap_or(walk.noise / 4.0))?,
    };
    if poses == 0 || (landmarks > 0 && views == 0) {
        return Err(Error::Argument(format!("{landmarks} landmarks, each seen by {views} of {poses} poses")));
    }
    let random = &mut Random::new(walk.seed);
    let path = match R::on_surface(walk.shape, poses)? {
        Some(middles) => Path::over(middles)?,
        None => Path::<R, D>::drawn(poses, random)?,
    };
    let edges = path.edges(walk.closures, random)?;
    let truth = path.poses(random)?;

    let mut steps = room(edges.len() as u64, size_of::<Step<World<R, D, N>>>() as u64)?;
    for (from, to) in edges {
        let exact = truth[from as usize].inverse() * truth[to as usize];
        let measured = moved(&exact, noise, random);
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
        let place = SVector::from_fn(|axis, _| path.edge * (f64::from(cell[axis]) + random.unit() - 0.5));
        let near: Vec<_> = path.near(&cell).collect();
        for number in random.distinct(views as u64, near.len() as u64) {
            let pose = near[number as usize];
            let exact = World::<R, D, N>::place(&truth[pose as usize].inverse(), &place);
            let measured = exact + normal(random, noise.far);
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

/// Typical number of poses in a cell and in the cells that touch it. Memory is reserved for this
/// number of poses.
const NEAR: usize = 28;

/// Standard deviations of coordinates, and of rotations about every axis.
#[derive(Clone, Copy)]
struct Noise {
    far: f64,
    turn: f64,
}

/// The information matrix of `D` coordinates, followed by angles.
fn information<const D: usize, const M: usize>(noise: Noise) -> SMatrix<f64, M, M> {
    SMatrix::from_diagonal(&SVector::from_fn(|axis, _| {
        let deviation = if axis < D { noise.far } else { noise.turn };
        if deviation > 0.0 { 1.0 / (deviation * deviation) } else { 1.0 }
    }))
}

fn moved<R: Turn<D>, const D: usize>(
    pose: &Isometry<f64, R, D>,
    noise: Noise,
    random: &mut Random,
) -> Isometry<f64, R, D> {
    let translation = pose.translation.vector + normal(random, noise.far);
    settled(Isometry::from_parts(Translation::from(translation), pose.rotation * R::drawn(noise.turn, random)))
}

fn settled<R: Turn<D>, const D: usize>(pose: Isometry<f64, R, D>) -> Isometry<f64, R, D> {
    Isometry::from_parts(pose.translation, pose.rotation.settled())
}

type Cell<const D: usize> = [i32; D];

/// A path from cell to cell.
struct Path<R, const D: usize> {
    cells: Vec<Cell<D>>,
    /// The approximate pose of each step: the middle of its cell, or a place on the surface.
    middles: Vec<Isometry<f64, R, D>>,
    /// Length of the edge of a cell.
    edge: f64,
    /// The poses in each cell, ascending.
    visits: HashMap<Cell<D>, Vec<u32>>,
}

impl<R: Turn<D>, const D: usize> Path<R, D> {
    fn drawn(poses: u32, random: &mut Random) -> Result<Self> {
        // The world is at least two cells wide, so that at every border one of the possible turns
        // leads back inside.
        let side = (2..).find(|side: &i64| side.pow(D as u32) * 4 >= poses.into()).unwrap_or(i64::MAX) as i32;
        let quarters = R::quarters();
        let ways = [vec![R::identity(); quarters.len() * 3 / 2], quarters].concat();
        let (mut cell, mut heading) = ([0; D], R::identity());
        let mut path = Self::with_room(poses.into(), 1.0)?;
        for _ in 0..poses {
            let middle = SVector::from_fn(|axis, _| f64::from(cell[axis]));
            path.push(cell, Isometry::from_parts(Translation::from(middle), heading));
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

    fn over(middles: Vec<Isometry<f64, R, D>>) -> Result<Self> {
        // A surface passes through few cells. If cells have edges of length 2, there are at least
        // three pairs of near poses for each pose.
        let mut path = Self::with_room(middles.len() as u64, 2.0)?;
        for middle in middles {
            path.push(std::array::from_fn(|axis| (middle.translation.vector[axis] / 2.0).round() as i32), middle);
        }
        Ok(path)
    }

    fn with_room(poses: u64, edge: f64) -> Result<Self> {
        let middles = room(poses, size_of::<Isometry<f64, R, D>>() as u64)?;
        Ok(Self { cells: room(poses, 4 * D as u64)?, middles, edge, visits: HashMap::new() })
    }

    fn push(&mut self, cell: Cell<D>, middle: Isometry<f64, R, D>) {
        self.visits.entry(cell).or_default().push(self.cells.len() as u32);
        self.cells.push(cell);
        self.middles.push(middle);
    }

    /// The poses in a cell and in the cells that touch it, cell by cell.
    fn near(&self, cell: &Cell<D>) -> impl Iterator<Item = u32> {
        let beside = (0..D).flat_map(|axis| [-1, 1].map(|way| (axis, way)));
        std::iter::once((0, 0)).chain(beside).flat_map(move |(axis, way)| {
            let mut cell = *cell;
            cell[axis] += way;
            self.visits.get(&cell).into_iter().flatten().copied()
        })
    }

    /// The steps and the closures, as pairs (earlier pose, later pose), ascending by the later and
    /// then by the earlier pose.
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

    /// Draws the true poses near the approximate poses, looking nearly straight ahead.
    fn poses(&self, random: &mut Random) -> Result<Vec<Isometry<f64, R, D>>> {
        let mut poses = room(self.cells.len() as u64, size_of::<Isometry<f64, R, D>>() as u64)?;
        poses.extend(self.middles.iter().map(|middle| moved(middle, Noise { far: 0.1, turn: 0.1 }, random)));
        Ok(poses)
    }
}

/// The next cell in the direction of the heading's x axis.
fn ahead<R: Turn<D>, const D: usize>(cell: &Cell<D>, heading: &R) -> Cell<D> {
    let forward = heading.transform_vector(&SVector::from_fn(|axis, _| f64::from(u8::from(axis == 0))));
    std::array::from_fn(|axis| cell[axis] + forward[axis].round() as i32)
}

#[cfg(test)]
mod tests;
