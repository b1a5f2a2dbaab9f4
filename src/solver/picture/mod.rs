//! Pictures of problems, before solving on the left and after solving on the right. The pictures
//! show trajectories with their loop closures, or clouds of points with the cameras that see them.
mod canvas;
mod cloud;
mod panel;
mod trajectory;
mod view;

use super::problem::{AnyProblem, AnyState, BundleProblem, BundleState, GraphProblem, GraphState, Manifold};
use canvas::{Canvas, Colour, mix};
use cloud::{Cloud, DrawnCamera, cloud, face};
use panel::{Ink, Layer, Window, paint};
use std::io;
use trajectory::{Scene, trajectory};
use view::{Seen, View};

const WHITE: Colour = [255; 3];
const GREY: Colour = [0x80; 3];
/// The colours of common entries and of fill-in in pictures of matrices (Okabe and Ito 2008).
const BLUE: Colour = [0x00, 0x72, 0xb2];
const ORANGE: Colour = [0xe6, 0x9f, 0x00];
/// Share of the background colour in the colour of the lines that are farthest from the viewer.
const HAZE: f64 = 0.65;
/// The smallest quotient of height and width that half of a picture may have.
const FLATTEST: f64 = 0.5;
/// Largest width, in pixels.
const LARGEST: u32 = 8192;
/// The line between the halves.
const RULE: Colour = [0xd8; 3];

/// Colours and widths of half a picture.
struct Style {
    path: Ink,
    closures: Ink,
    points: Ink,
    marks: Ink,
    /// Width of the path, in pixels.
    width: f64,
}

impl Style {
    /// A style whose line widths grow with the width of the half.
    fn new(main: Colour, marks: Colour, width: f64, half: u32) -> Self {
        let hazy = |colour| Ink { near: colour, far: mix(colour, WHITE, HAZE) };
        Self {
            path: hazy(main),
            closures: hazy(mix(main, WHITE, 0.7)),
            points: Ink { near: main, far: mix(GREY, WHITE, HAZE) },
            marks: Ink { near: marks, far: marks },
            width: width * (f64::from(half) / 400.0).max(0.5),
        }
    }

    fn before(half: u32) -> Self {
        Self::new(GREY, mix(ORANGE, GREY, 0.5), 0.8, half)
    }

    fn after(half: u32) -> Self {
        Self::new(BLUE, ORANGE, 1.2, half)
    }
}

impl AnyProblem {
    /// Largest width of a picture, in pixels.
    pub const LARGEST_PICTURE: u32 = LARGEST;

    /// A PNG file of two states, `size` pixels wide, with `before` on the left and `after` on the
    /// right. A graph is drawn as a trajectory with its loop closures and landmarks. A bundle
    /// adjustment is drawn as a cloud of points with the cameras that see them.
    ///
    /// ```
    /// use blockmul::generate::problem::{Scene, bundle_adjustment};
    /// use blockmul::solver::problem::{AnyProblem, LeastSquares, Loss};
    /// let scene = Scene { cameras: 5, points: 60, views: 4, ..Default::default() };
    /// let problem = AnyProblem::new(bundle_adjustment(&scene)?.into(), Loss::Squared)?;
    /// let picture = problem.picture(&problem.start(), &problem.start(), 400)?;
    /// assert!(picture.starts_with(b"\x89PNG"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] for a size of less than 3 or more than
    /// [`AnyProblem::LARGEST_PICTURE`], and for states of another kind of problem.
    pub fn picture(&self, before: &AnyState, after: &AnyState, size: u32) -> io::Result<Vec<u8>> {
        match (self, [before, after]) {
            (AnyProblem::Bundle(problem), [AnyState::Bundle(before), AnyState::Bundle(after)]) => {
                cloud(&points(problem, before), &points(problem, after), size)
            }
            (AnyProblem::Plane(problem), [AnyState::Plane(before), AnyState::Plane(after)]) => {
                trajectory(&path(problem, before), &path(problem, after), size)
            }
            (AnyProblem::Space(problem), [AnyState::Space(before), AnyState::Space(after)]) => {
                trajectory(&path(problem, before), &path(problem, after), size)
            }
            _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "states of another kind of problem")),
        }
    }
}

fn points(problem: &BundleProblem, state: &BundleState) -> Cloud {
    let mut cameras: Vec<_> = state.cameras.iter().map(DrawnCamera::of_bal).collect();
    let seen = problem.problem().observations.iter().map(|seen| (seen.camera as usize, seen.point as usize));
    let negative = |camera: usize| state.cameras.get(camera).is_some_and(|numbers| numbers[6] < 0.0);
    let negative = seen.filter(|&(camera, _)| negative(camera));
    face(&mut cameras, negative.filter_map(|(camera, point)| Some((camera, state.points.get(point)?))));
    Cloud { points: state.points.clone(), cameras }
}

fn path<P: Manifold>(problem: &GraphProblem<P>, state: &GraphState<P>) -> Scene {
    let ends = problem.graph().steps.iter().map(|step| (step.from, step.to));
    Scene {
        path: state.poses.iter().map(P::position).collect(),
        closures: ends.filter(|(from, to)| from.abs_diff(*to) != 1).collect(),
        landmarks: state.landmarks.iter().map(P::landmark_position).collect(),
    }
}

fn project(view: &View, places: &[[f64; 3]]) -> Vec<Seen> {
    places.iter().filter_map(|place| view.project(place)).collect()
}

/// Width of a half, in pixels. The line between the two halves takes the remaining one or two
/// pixels of the picture.
fn half(size: u32) -> io::Result<u32> {
    if !(3..=LARGEST).contains(&size) {
        let reason = format!("there is no picture {size} pixels wide, only of 3 to {LARGEST}");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    Ok((size - 1) / 2)
}

fn render([before, after]: [(Vec<Layer>, Window); 2], size: u32, description: &str) -> io::Result<Vec<u8>> {
    let half = half(size)?;
    let height = (f64::from(half) * after.1.aspect().clamp(FLATTEST, 1.0)).round() as u32;
    let mut canvas = Canvas::new(size, height)?;
    canvas.fill([0.0; 2], [f64::from(size), f64::from(height)], RULE);
    for ((layers, window), left) in [(before, 0), (after, size - half)] {
        canvas.paste(&paint(layers, &window, half, height)?, left);
    }
    canvas.encode(description)
}

#[cfg(test)]
mod image {
    use super::*;

    /// A decoded picture.
    pub struct Image {
        pub width: u32,
        pub height: u32,
        pub pixels: Vec<Colour>,
    }

    impl Image {
        pub fn decode(png: io::Result<Vec<u8>>) -> Self {
            let mut reader = png::Decoder::new(io::Cursor::new(png.unwrap())).read_info().unwrap();
            let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
            let info = reader.next_frame(&mut bytes).unwrap();
            let pixels = bytes.chunks(3).map(|pixel| pixel.try_into().unwrap()).collect();
            Self { width: info.width, height: info.height, pixels }
        }

        /// Number of pixels of a colour in each half.
        pub fn count(&self, colour: Colour) -> [usize; 2] {
            let halves = [0..self.width as usize / 2, self.width as usize / 2..self.width as usize];
            let rows = || self.pixels.chunks(self.width as usize);
            halves.map(|half| rows().flat_map(|row| &row[half.clone()]).filter(|&&pixel| pixel == colour).count())
        }

        pub fn is_blank(&self) -> bool {
            self.pixels.iter().all(|&pixel| pixel == WHITE || pixel == RULE)
        }
    }
}
