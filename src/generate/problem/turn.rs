//! The rotations in the plane and in space that generated paths need.
use super::{Shape, normal, surface, turned};
use crate::{Result, generate::Random};
use nalgebra::{AbstractRotation, Isometry, Isometry3, Quaternion, UnitComplex, UnitQuaternion, Vector3};
use std::{f64::consts::FRAC_1_SQRT_2, fmt::Debug};

/// A rotation of poses: by an angle in the plane, about any axis in space.
pub(super) trait Turn<const D: usize>: AbstractRotation<f64, D> + Copy + Debug + Send + Sync + 'static {
    /// Turns by 90 degrees in every direction.
    fn quarters() -> Vec<Self>;
    /// Draws a rotation whose angle about every axis has this standard deviation.
    fn drawn(deviation: f64, random: &mut Random) -> Self;
    /// Normalizes the rotation in the same way as a reader that reads it from a file.
    fn settled(self) -> Self;
    /// The poses of a path over a surface, or `None` if the shape is not a surface.
    fn on_surface(_: Shape, _poses: u32) -> Result<Option<Vec<Isometry<f64, Self, D>>>> {
        Ok(None)
    }
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
        let about = |axis: Vector3<f64>| Quaternion::from_parts(FRAC_1_SQRT_2, axis * FRAC_1_SQRT_2);
        [Vector3::z(), -Vector3::z(), Vector3::y(), -Vector3::y()].map(|axis| Self::new_unchecked(about(axis))).into()
    }

    fn drawn(deviation: f64, random: &mut Random) -> Self {
        turned(&normal(random, deviation))
    }

    fn settled(mut self) -> Self {
        self.renormalize();
        self
    }

    fn on_surface(shape: Shape, poses: u32) -> Result<Option<Vec<Isometry3<f64>>>> {
        match shape {
            Shape::Plane | Shape::Space => Ok(None),
            Shape::Torus => surface::path(poses, surface::torus(poses)).map(Some),
            Shape::Sphere => surface::path(poses, surface::sphere(poses)).map(Some),
        }
    }
}
