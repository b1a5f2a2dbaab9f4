//! Graphs of poses, and of landmarks seen from them.
use nalgebra::{AbstractRotation, Isometry, SMatrix, SVector, UnitComplex, UnitQuaternion};
use std::{fmt::Debug, marker::PhantomData};

/// Where the poses of a graph are: in the [`Plane`] or in [`Space`].
pub trait Place: Copy + Debug + PartialEq + Send + Sync + 'static {
    /// From the frame of a pose to the world's, or to that of another pose.
    type Pose: Copy + Debug + PartialEq + Send + Sync;
    /// Where a landmark is.
    type Landmark: Copy + Debug + PartialEq + Send + Sync;
    /// Information of a pose measured: of translation, then rotation.
    type PoseInformation: Copy + Debug + PartialEq + Send + Sync;
    /// Information of a landmark measured.
    type LandmarkInformation: Copy + Debug + PartialEq + Send + Sync;
    /// Parameters of a pose.
    const POSE: usize;
    /// Parameters of a landmark.
    const LANDMARK: usize;

    /// The frame of the world.
    fn origin() -> Self::Pose;
    /// `from` · `step`.
    fn compose(from: &Self::Pose, step: &Self::Pose) -> Self::Pose;
    /// The way back.
    fn inverse(pose: &Self::Pose) -> Self::Pose;
    /// A landmark seen from `pose`, in the world.
    fn place(pose: &Self::Pose, landmark: &Self::Landmark) -> Self::Landmark;
    /// Whether it has numbers for coordinates.
    fn is_finite(pose: &Self::Pose) -> bool;
    /// The same of a landmark.
    fn landmark_is_finite(landmark: &Self::Landmark) -> bool;
}

/// Of `D` dimensions, where a rotation is an `R` and a pose has `N` parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct World<R, const D: usize, const N: usize>(PhantomData<R>);

/// Poses x, y and an angle; landmarks x, y.
pub type Plane = World<UnitComplex<f64>, 2, 3>;

/// Poses of translation and rotation in three dimensions; landmarks x, y, z.
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

/// Poses, landmarks, and what was measured between them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PoseGraph<P: Place> {
    /// The first guess, in the order of the file.
    pub poses: Vec<P::Pose>,
    /// What the file calls each pose.
    pub pose_names: Vec<u64>,
    /// The first guess, in the order of the file.
    pub landmarks: Vec<P::Landmark>,
    /// What the file calls each landmark.
    pub landmark_names: Vec<u64>,
    /// Poses that the file holds fixed, ascending.
    pub fixed_poses: Vec<u32>,
    /// Landmarks that the file holds fixed, ascending.
    pub fixed_landmarks: Vec<u32>,
    /// Poses measured from poses, in the order of the file.
    pub steps: Vec<Step<P>>,
    /// Landmarks measured from poses, in the order of the file.
    pub sightings: Vec<Sighting<P>>,
}

/// A pose measured from another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step<P: Place> {
    /// The pose it is measured from.
    pub from: u32,
    /// The pose measured.
    pub to: u32,
    /// `to` in the frame of `from`.
    pub measured: P::Pose,
    /// Inverse of the measurement's covariance.
    pub information: P::PoseInformation,
}

/// A landmark measured from a pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sighting<P: Place> {
    /// The pose it is seen from.
    pub pose: u32,
    /// The landmark.
    pub landmark: u32,
    /// The landmark in the frame of the pose.
    pub measured: P::Landmark,
    /// Inverse of the measurement's covariance.
    pub information: P::LandmarkInformation,
}

/// A graph as a file holds it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Graph {
    /// In the plane.
    Plane(PoseGraph<Plane>),
    /// In space.
    Space(PoseGraph<Space>),
}
