//! Graphs of poses, and of landmarks seen from poses.
use nalgebra::{AbstractRotation, Isometry, SMatrix, SVector, UnitComplex, UnitQuaternion};
use std::{fmt::Debug, marker::PhantomData};

/// The space of a graph's poses: [`Plane`] or [`Space`].
pub trait Place: Copy + Debug + PartialEq + Send + Sync + 'static {
    /// A pose, which maps its own frame to the frame of the world or of another pose.
    type Pose: Copy + Debug + PartialEq + Send + Sync;
    /// The place of a landmark.
    type Landmark: Copy + Debug + PartialEq + Send + Sync;
    /// Information matrix of a measured pose, with the rows of the translation first, then the rows
    /// of the rotation.
    type PoseInformation: Copy + Debug + PartialEq + Send + Sync;
    /// Information matrix of a measured landmark.
    type LandmarkInformation: Copy + Debug + PartialEq + Send + Sync;
    /// Number of parameters of a pose.
    const POSE: usize;
    /// Number of parameters of a landmark.
    const LANDMARK: usize;

    /// The frame of the world.
    fn origin() -> Self::Pose;
    /// The pose that a step leads to from the pose `from`: the product `from` · `step`.
    fn compose(from: &Self::Pose, step: &Self::Pose) -> Self::Pose;
    /// The inverse of a pose.
    fn inverse(pose: &Self::Pose) -> Self::Pose;
    /// The place in the world of a landmark that is seen from `pose` at `landmark`.
    fn place(pose: &Self::Pose, landmark: &Self::Landmark) -> Self::Landmark;
    /// Whether all numbers of a pose are finite.
    fn is_finite(pose: &Self::Pose) -> bool;
    /// Whether all numbers of a landmark are finite.
    fn landmark_is_finite(landmark: &Self::Landmark) -> bool;
}

/// A space of `D` dimensions, in which a rotation has the type `R` and a pose has `N` parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct World<R, const D: usize, const N: usize>(PhantomData<R>);

/// The plane. Poses have coordinates x and y and an angle, landmarks have coordinates x and y.
pub type Plane = World<UnitComplex<f64>, 2, 3>;

/// The space of three dimensions. Poses consist of a translation and a rotation, and landmarks have
/// coordinates x, y and z.
pub type Space = World<UnitQuaternion<f64>, 3, 6>;

impl<R, const D: usize, const N: usize> Place for World<R, D, N>
where
    R: AbstractRotation<f64, D> + Copy + Debug + Send + Sync + 'static,
{
    type Pose = Isometry<f64, R, D>;
    type Landmark = SVector<f64, D>;
    type PoseInformation = SMatrix<f64, N, N>;
    type LandmarkInformation = SMatrix<f64, D, D>;
    const POSE: usize = N;
    const LANDMARK: usize = D;

    fn origin() -> Self::Pose {
        Isometry::identity()
    }

    fn compose(from: &Self::Pose, step: &Self::Pose) -> Self::Pose {
        from * step
    }

    fn inverse(pose: &Self::Pose) -> Self::Pose {
        pose.inverse()
    }

    fn place(pose: &Self::Pose, landmark: &Self::Landmark) -> Self::Landmark {
        pose.rotation.transform_vector(landmark) + pose.translation.vector
    }

    fn is_finite(pose: &Self::Pose) -> bool {
        pose.translation.vector.iter().all(|x| x.is_finite())
    }

    fn landmark_is_finite(landmark: &Self::Landmark) -> bool {
        landmark.iter().all(|x| x.is_finite())
    }
}

/// Poses, landmarks, and measurements between them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PoseGraph<P: Place> {
    /// Initial guess of the poses, in the order of the file.
    pub poses: Vec<P::Pose>,
    /// The name of each pose in the file.
    pub pose_names: Vec<u64>,
    /// Initial guess of the landmarks, in the order of the file.
    pub landmarks: Vec<P::Landmark>,
    /// The name of each landmark in the file.
    pub landmark_names: Vec<u64>,
    /// Poses that the file holds fixed, ascending.
    pub fixed_poses: Vec<u32>,
    /// Landmarks that the file holds fixed, ascending.
    pub fixed_landmarks: Vec<u32>,
    /// Measurements of poses from poses, in the order of the file.
    pub steps: Vec<Step<P>>,
    /// Measurements of landmarks from poses, in the order of the file.
    pub sightings: Vec<Sighting<P>>,
}

impl<P: Place> PoseGraph<P> {
    /// The name of a pose in the file, or its index in [`PoseGraph::poses`] if it has no name.
    pub fn pose_name(&self, pose: u32) -> u64 {
        self.pose_names.get(pose as usize).copied().unwrap_or(pose.into())
    }

    /// The name of a landmark in the file, or its index in [`PoseGraph::landmarks`] if it has no
    /// name.
    pub fn landmark_name(&self, landmark: u32) -> u64 {
        self.landmark_names.get(landmark as usize).copied().unwrap_or(landmark.into())
    }
}

/// A measurement of a pose from another pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step<P: Place> {
    /// The pose from which `to` is measured.
    pub from: u32,
    /// The measured pose.
    pub to: u32,
    /// The measured pose in the frame of `from`.
    pub measured: P::Pose,
    /// The inverse of the measurement's covariance.
    pub information: P::PoseInformation,
}

/// A measurement of a landmark from a pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sighting<P: Place> {
    /// The pose from which the landmark is seen.
    pub pose: u32,
    /// The landmark.
    pub landmark: u32,
    /// The landmark in the frame of the pose.
    pub measured: P::Landmark,
    /// The inverse of the measurement's covariance.
    pub information: P::LandmarkInformation,
}

/// A graph in the plane or in space.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Graph {
    /// A graph in the plane.
    Plane(PoseGraph<Plane>),
    /// A graph in space.
    Space(PoseGraph<Space>),
}

impl From<PoseGraph<Plane>> for Graph {
    fn from(graph: PoseGraph<Plane>) -> Self {
        Self::Plane(graph)
    }
}

impl From<PoseGraph<Space>> for Graph {
    fn from(graph: PoseGraph<Space>) -> Self {
        Self::Space(graph)
    }
}
