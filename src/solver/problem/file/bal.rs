//! Bundle adjustments in the text format of *Bundle Adjustment in the Large* (S. Agarwal, N.
//! Snavely, S. M. Seitz, R. Szeliski, 2010), plain or packed.
//!
//! ```text
//! cameras points observations
//! camera point x y                     a line for each observation
//! nine numbers of each camera, three of each point, any number on a line
//! ```
//!
//! ```
//! use blockmul::solver::problem::bal;
//! let text = "1 1 1\n0 0 -385.99 387.12\n 0 0 0  0 0 -1  400 0 0\n 1 2 3\n";
//! let problem = bal::read_from(text.as_bytes(), "one.txt")?;
//! assert_eq!((problem.cameras[0][6], problem.points[0]), (400.0, [1.0, 2.0, 3.0]));
//! # Ok::<(), blockmul::Error>(())
//! ```
use super::numbers::Numbers;
use crate::{
    Result,
    io::{push, write_whole},
};
use std::{
    io::{self, Read, Write},
    path::Path,
};

/// Cameras that see points.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct BundleAdjustment {
    /// For each camera: rotation as angle times axis (world to camera), translation, focal length
    /// in pixels, and the two coefficients of radial distortion k1, k2.
    pub cameras: Vec<[f64; 9]>,
    /// The place of each point in the world.
    pub points: Vec<[f64; 3]>,
    /// Observations in the order of the file. If a camera observes a point repeatedly, all of these
    /// observations count.
    pub observations: Vec<Observation>,
}

/// The place where a camera sees a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// Number of the camera.
    pub camera: u32,
    /// Number of the point.
    pub point: u32,
    /// Place in the picture, in pixels from its centre, y up.
    pub place: [f64; 2],
}

/// Reads the file at `path`.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the system refuses the file;
/// [`Error::Memory`](crate::Error::Memory); [`Error::Parse`](crate::Error::Parse) with the line for
/// anything that the format does not allow. Each observation must name a camera and a point that
/// exist.
pub fn read(path: impl AsRef<Path>) -> Result<BundleAdjustment> {
    parse(Numbers::open(path.as_ref())?)
}

/// Reads a problem from any reader, to the end. Error messages use `name` as the path.
///
/// # Errors
/// The errors of [`read`].
pub fn read_from(reader: impl Read + Send, name: impl AsRef<Path>) -> Result<BundleAdjustment> {
    parse(Numbers::new(reader, name.as_ref())?)
}

pub(super) fn parse(mut text: Numbers<'_>) -> Result<BundleAdjustment> {
    let mut sizes = [0; 3];
    for (size, what) in sizes.iter_mut().zip(["cameras", "points", "observations"]) {
        *size = text.count_anywhere(&format!("the number of {what}"))?;
        if *size > u64::from(u32::MAX) {
            return text.refuse(format!("{size} {what} are more than {}", u32::MAX));
        }
    }
    let [cameras, points, observations] = sizes;
    let mut problem = BundleAdjustment::default();
    for _ in 0..observations {
        let camera = text.count_anywhere("the camera of an observation")?;
        if camera >= cameras {
            return text.refuse(format!("camera {camera} of {cameras}, which are counted from 0"));
        }
        let point = text.count_anywhere("the point of an observation")?;
        if point >= points {
            return text.refuse(format!("point {point} of {points}, which are counted from 0"));
        }
        let (camera, point) = (camera as u32, point as u32);
        let place = text.reals_anywhere("a place in a picture")?;
        push(&mut problem.observations, Observation { camera, point, place }, "observations")?;
    }
    for camera in 0..cameras {
        let numbers = text.reals_anywhere(&format!("a number of camera {camera}"))?;
        push(&mut problem.cameras, numbers, "cameras")?;
    }
    for point in 0..points {
        let numbers = text.reals_anywhere(&format!("a coordinate of point {point}"))?;
        push(&mut problem.points, numbers, "points")?;
    }
    text.end()?;
    Ok(problem)
}

/// Writes `problem` so that [`read`] returns the same numbers. If writing fails, no file appears.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io).
pub fn write(path: impl AsRef<Path>, problem: &BundleAdjustment) -> Result<()> {
    write_whole(path.as_ref(), |file| write_to(file, problem))
}

/// Writes `problem` to any writer.
///
/// # Errors
/// Errors of the writer.
pub fn write_to(mut writer: impl Write, problem: &BundleAdjustment) -> io::Result<()> {
    write_problem(&mut writer, problem)
}

fn write_problem(writer: &mut dyn Write, problem: &BundleAdjustment) -> io::Result<()> {
    let BundleAdjustment { cameras, points, observations } = problem;
    writeln!(writer, "{} {} {}", cameras.len(), points.len(), observations.len())?;
    for Observation { camera, point, place: [x, y] } in observations {
        writeln!(writer, "{camera} {point} {x:e} {y:e}")?;
    }
    for number in cameras.iter().flatten().chain(points.iter().flatten()) {
        writeln!(writer, "{number:e}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "2 1 2\n0 0 1 2\n1 0 -3e2 .5\n\n1 2 3 4 5 6 7 8 9\n9 8 7 6 5\n4 3 2 1\n1\n2\n3\n";

    fn refused(text: &str) -> String {
        read_from(text.as_bytes(), "x.txt").expect_err(text).to_string()
    }

    #[test]
    fn reads_what_it_writes() -> Result<()> {
        let problem = read_from(TWO.as_bytes(), "two.txt")?;
        assert_eq!(problem.observations[1], Observation { camera: 1, point: 0, place: [-300.0, 0.5] });
        assert_eq!(problem.cameras[1], [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]);
        let mut text = Vec::new();
        write_to(&mut text, &problem).unwrap();
        assert_eq!(read_from(&text[..], "again.txt")?, problem);
        // Camera 0 sees point 0 twice.
        let twice = read_from(TWO.replacen("1 0 -3e2", "0 0 -3e2", 1).as_bytes(), "twice.txt")?;
        assert_eq!(twice.observations.len(), 2);
        assert_eq!(read_from(&b"0 0 0"[..], "none.txt")?, BundleAdjustment::default());
        Ok(())
    }

    #[test]
    fn refuses_with_the_line() {
        for (from, to, what) in [
            ("2 1 2", "2 -1 2", "x.txt:1: the number of points: \"-1\" is not a whole number from 0"),
            ("2 1 2", "2 1 4294967296", "x.txt:1: 4294967296 observations are more than 4294967295"),
            ("1 0 -3e2", "2 0 -3e2", "x.txt:3: camera 2 of 2, which are counted from 0"),
            ("1 0 -3e2", "1 1 -3e2", "x.txt:3: point 1 of 1, which are counted from 0"),
            ("-3e2", "nan", "x.txt:3: a place in a picture: \"nan\" is not a finite number"),
            ("9 8 7", "9 8 x", "x.txt:6: a number of camera 1: \"x\" is not a number"),
            ("1\n2\n3\n", "1\n2\n3\n4\n", "x.txt:11: \"4\" is one word too many"),
            ("1\n2\n3\n", "1\n2\n", "x.txt:9: the file ends where a coordinate of point 0 is expected"),
        ] {
            let text = TWO.replacen(from, to, 1);
            assert_eq!(refused(&text), what);
        }
        assert_eq!(refused(""), "x.txt:1: the file ends where the number of cameras is expected");
        // The numbers in the first line alone make the reader allocate no memory.
        assert!(refused("4000000000 4000000000 0\n1 2").starts_with("x.txt:2: the file ends where"));
    }
}
