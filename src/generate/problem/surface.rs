//! Paths over the surfaces of a torus and a sphere. A path winds around its surface in steps of
//! about 1, with turns that are about 1 apart. The x axis of a pose points ahead, and z points away
//! from the surface.
use crate::{Result, generate::room};
use nalgebra::{Isometry3, Matrix3, Rotation3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::{PI, TAU};

/// A point of a surface, and the unit normal there.
pub(super) type Point = (Vector3<f64>, Vector3<f64>);

/// A path around the tube of a torus. The radius r of the tube is a third of the radius of the
/// torus. The path has 6πr turns of 2πr steps each.
pub(super) fn torus(poses: u32) -> impl Fn(f64) -> Point {
    let n = f64::from(poses);
    let tube = (n / (12.0 * PI * PI)).sqrt();
    move |along| {
        let (sine, cosine) = libm::sincos(along / tube);
        let (sideways, ahead) = libm::sincos(TAU * along / n);
        let off = Vector3::new(cosine * ahead, cosine * sideways, sine);
        (3.0 * tube * Vector3::new(ahead, sideways, 0.0) + tube * off, off)
    }
}

/// A path from pole to pole of a sphere. The number of poses in every cap is proportional to the
/// area of the cap. While the path advances one step towards the other pole, it makes one turn.
pub(super) fn sphere(poses: u32) -> impl Fn(f64) -> Point {
    let n = f64::from(poses);
    let radius = (n / (4.0 * PI)).sqrt();
    move |along| {
        let angle = libm::acos(1.0 - 2.0 * along / n);
        let (sine, cosine) = libm::sincos(angle);
        let (sideways, ahead) = libm::sincos(TAU * radius * angle);
        let off = Vector3::new(sine * ahead, sine * sideways, cosine);
        (radius * off, off)
    }
}

/// The poses of a path over a surface. `at` gives the point at a length along the path.
pub(super) fn path(poses: u32, at: impl Fn(f64) -> Point) -> Result<Vec<Isometry3<f64>>> {
    let mut path = room(poses.into(), size_of::<Isometry3<f64>>() as u64)?;
    path.extend((0..poses).map(|pose| {
        let along = f64::from(pose) + 0.5;
        let (place, off) = at(along);
        let ahead = at(along + 0.5).0 - at(along - 0.5).0;
        let side = off.cross(&ahead).normalize();
        let axes = Matrix3::from_columns(&[side.cross(&off), side, off]);
        let rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes));
        Isometry3::from_parts(Translation3::from(place), rotation)
    }));
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of a path have a length of nearly 1 and lead ahead, except at the poles. All poses are
    /// on the surface, and z is normal to it.
    #[test]
    fn paths_cover_their_surfaces() {
        let (on_torus, on_sphere) = (path(2000, torus(2000)).unwrap(), path(2000, sphere(2000)).unwrap());
        let (tube, radius) = ((2000.0 / (12.0 * PI * PI)).sqrt(), (2000.0 / (4.0 * PI)).sqrt());
        for pose in &on_torus {
            let place = pose.translation.vector;
            let middle = Vector3::new(place.x, place.y, 0.0).normalize() * 3.0 * tube;
            assert!(((place - middle) - tube * (pose.rotation * Vector3::z())).norm() < 1e-9);
        }
        for pose in &on_sphere {
            assert!((pose.translation.vector - radius * (pose.rotation * Vector3::z())).norm() < 1e-9);
        }
        for path in [on_torus, on_sphere] {
            let steps = path.windows(2).map(|pair| pair[0].inverse() * pair[1]);
            let steps: Vec<_> = steps.map(|step| step.translation.vector).collect();
            assert!(steps.iter().all(|step| (0.7..1.5).contains(&step.norm())));
            assert!(steps.iter().filter(|step| step.x < 0.7).count() <= 4);
            let mean = steps.iter().map(|step| step.norm()).sum::<f64>() / steps.len() as f64;
            assert!((mean - 1.0).abs() < 0.05, "{mean}");
        }
    }
}
