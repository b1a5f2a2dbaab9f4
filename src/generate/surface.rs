//! Generates triangle meshes of surfaces.
use super::{Random, lines, room, together};
use crate::{Error, Result, mesh::Mesh};
use std::{collections::HashMap, f64::consts::TAU};

/// The maximum number of divisions of a sphere's triangles. With 13 divisions there are 671 million
/// points.
const MOST_DIVISIONS: u32 = 13;

/// A sphere of radius 1: an icosahedron whose triangles are divided into four, `divisions` times.
/// The mesh has 10 · 4^`divisions` + 2 points.
///
/// # Errors
/// [`Error::Argument`] for more than 13 divisions; [`Error::Memory`].
pub fn sphere(divisions: u32) -> Result<Mesh> {
    if divisions > MOST_DIVISIONS {
        return Err(Error::Argument(format!(
            "a sphere of {divisions} divisions; at most {MOST_DIVISIONS} are supported"
        )));
    }
    let golden = (1.0 + 5f64.sqrt()) / 2.0;
    let count = 10 * (1u64 << (2 * divisions)) + 2;
    // Bytes for each point: the point, the triangles before and after the last division, and its
    // edges.
    const BYTES: u64 = 24 + 24 + 6 + 3 * 16;
    crate::host::memory::check_large(|| format!("a sphere of {count} points"), count * BYTES)?;
    let (mut points, mut triangles): (Vec<[f64; 3]>, Vec<[u32; 3]>) = (room(count, 24)?, room(2 * count, 12)?);
    // The points of an icosahedron are the corners of three rectangles that are perpendicular to
    // each other.
    for axis in 0..3 {
        for (one, other) in [(-1.0, -golden), (1.0, -golden), (-1.0, golden), (1.0, golden)] {
            let mut point = [0.0; 3];
            (point[axis], point[(axis + 1) % 3]) = (one, other);
            points.push(on_sphere(point));
        }
    }
    triangles.extend(icosahedron(&points));
    for _ in 0..divisions {
        let mut halves = HashMap::with_capacity(3 * triangles.len() / 2);
        let mut divided = room(4 * triangles.len() as u64, 12)?;
        for [a, b, c] in triangles {
            let mut half = |from: u32, to: u32| {
                *halves.entry((from.min(to), from.max(to))).or_insert_with(|| {
                    let (p, q) = (points[from.min(to) as usize], points[from.max(to) as usize]);
                    points.push(on_sphere([p[0] + q[0], p[1] + q[1], p[2] + q[2]]));
                    points.len() as u32 - 1
                })
            };
            let [ab, bc, ca] = [half(a, b), half(b, c), half(c, a)];
            divided.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        triangles = divided;
    }
    Mesh::new(points, triangles)
}

/// The triples of points that are closest to one another, counterclockwise as seen from outside.
fn icosahedron(points: &[[f64; 3]]) -> Vec<[u32; 3]> {
    let near = |a: usize, b: usize| crate::mesh::distance(points[a], points[b]) < 1.1;
    let mut triangles = Vec::new();
    for a in 0..12 {
        for b in (a + 1..12).filter(|&b| near(a, b)) {
            for c in (b + 1..12).filter(|&c| near(a, c) && near(b, c)) {
                let [p, q, r] = [points[a], points[b], points[c]];
                let volume = p[0] * (q[1] * r[2] - q[2] * r[1])
                    + p[1] * (q[2] * r[0] - q[0] * r[2])
                    + p[2] * (q[0] * r[1] - q[1] * r[0]);
                triangles.push(if volume > 0.0 { [a, b, c] } else { [a, c, b] }.map(|corner| corner as u32));
            }
        }
    }
    triangles
}

fn on_sphere([x, y, z]: [f64; 3]) -> [f64; 3] {
    let length = (x * x + y * y + z * z).sqrt();
    [x / length, y / length, z / length]
}

/// A torus of radius 1 around the z axis, with a tube of radius 0.4. `around` points go around the
/// axis, and `across` points around the tube.
///
/// # Errors
/// [`Error::Argument`] for fewer than 3 points around or across; [`Error::TooLarge`],
/// [`Error::Memory`].
pub fn torus(around: usize, across: usize) -> Result<Mesh> {
    const TUBE: f64 = 0.4;
    if around < 3 || across < 3 {
        return Err(Error::Argument(format!(
            "a torus of {around} points around and {across} across; at least 3 are required"
        )));
    }
    let count = lines("points", around.saturating_mul(across))?.into();
    together(&[(count, 24), (2 * count, 12)])?;
    let (mut points, mut triangles): (Vec<[f64; 3]>, Vec<[u32; 3]>) = (room(count, 24)?, room(2 * count, 12)?);
    for i in 0..around {
        let (sine, cosine) = libm::sincos(TAU * i as f64 / around as f64);
        for j in 0..across {
            let (up, out) = libm::sincos(TAU * j as f64 / across as f64);
            let radius = 1.0 + TUBE * out;
            points.push([radius * cosine, radius * sine, TUBE * up]);
        }
    }
    for i in 0..around {
        for j in 0..across {
            let at = |i: usize, j: usize| ((i % around) * across + j % across) as u32;
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    Mesh::new(points, triangles)
}

/// A terrain: `cols` x `rows` points over a grid of side 1, with hills of several widths.
///
/// # Errors
/// [`Error::Argument`] for fewer than 2 columns or rows; [`Error::TooLarge`], [`Error::Memory`].
pub fn terrain(cols: usize, rows: usize, seed: u64) -> Result<Mesh> {
    if cols < 2 || rows < 2 {
        return Err(Error::Argument(format!("a terrain of {cols}x{rows} points; at least 2x2 are required")));
    }
    let count = lines("points", cols.saturating_mul(rows))?.into();
    together(&[(count, 24), (2 * count, 12)])?;
    let (mut points, mut triangles): (Vec<[f64; 3]>, Vec<[u32; 3]>) = (room(count, 24)?, room(2 * count, 12)?);
    let widest = cols.max(rows).next_power_of_two() as f64 / 4.0;
    let mut random = Random::new(seed);
    let hills: Vec<Hills> = (0..6).map(|octave| Hills::new(widest / f64::from(1 << octave), random.bits())).collect();
    for row in 0..rows {
        for col in 0..cols {
            let [x, y] = [col as f64, row as f64];
            points.push([x, y, hills.iter().map(|hills| hills.height(x, y)).sum()]);
        }
    }
    for row in 0..rows - 1 {
        for col in 0..cols - 1 {
            let a = (row * cols + col) as u32;
            let [b, c, d] = [a + 1, a + cols as u32 + 1, a + cols as u32];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    Mesh::new(points, triangles)
}

/// Hills of one width: random heights at the corners of a grid, and a smooth surface in between.
struct Hills {
    width: f64,
    seed: u64,
}

impl Hills {
    fn new(width: f64, seed: u64) -> Self {
        Self { width, seed }
    }

    fn height(&self, x: f64, y: f64) -> f64 {
        let (col, x) = part(x / self.width);
        let (row, y) = part(y / self.width);
        let corner = |right: u64, up: u64| {
            let place = (row + up) << 32 | (col + right);
            Random::new(self.seed ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15)).unit()
        };
        let between = |one: f64, other: f64, at: f64| one + (other - one) * at;
        let low = between(corner(0, 0), corner(1, 0), x);
        let high = between(corner(0, 1), corner(1, 1), x);
        0.5 * self.width * between(low, high, y)
    }
}

/// The integer part of `number`, and a smooth step function of the fraction.
fn part(number: f64) -> (u64, f64) {
    let rest = number - number.floor();
    (number as u64, rest * rest * (3.0 - 2.0 * rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of vertices minus edges plus triangles of a mesh.
    fn euler(mesh: &Mesh) -> i64 {
        let edges = mesh.graph().unwrap().nnz() / 2;
        mesh.points().len() as i64 - edges as i64 + mesh.triangles().len() as i64
    }

    #[test]
    fn surfaces_are_closed_and_round() -> Result<()> {
        for divisions in 0..4 {
            let mesh = sphere(divisions)?;
            assert_eq!((mesh.points().len(), euler(&mesh)), (10 * 4usize.pow(divisions) + 2, 2));
            assert!(mesh.points().iter().all(|point| (crate::mesh::distance(*point, [0.0; 3]) - 1.0).abs() < 1e-15));
        }
        let mesh = torus(20, 9)?;
        assert_eq!((mesh.points().len(), euler(&mesh)), (180, 0));
        let off = |[x, y, z]: [f64; 3]| ((x * x + y * y).sqrt() - 1.0).powi(2) + z * z;
        assert!(mesh.points().iter().all(|point| (off(*point) - 0.16).abs() < 1e-15));
        // Triangles are counterclockwise as seen from outside, so the volume that they enclose is
        // positive.
        for mesh in [sphere(1)?, mesh] {
            let of = |&[a, b, c]: &[u32; 3]| {
                let [p, q, r] = [a, b, c].map(|corner| nalgebra::Vector3::from(mesh.points()[corner as usize]));
                p.dot(&q.cross(&r)) / 6.0
            };
            assert!(mesh.triangles().iter().map(of).sum::<f64>() > 2.0);
        }
        Ok(())
    }

    #[test]
    fn terrain_is_smooth_and_its_seed_is_the_terrain() -> Result<()> {
        let mesh = terrain(50, 30, 1)?;
        assert_eq!((mesh.points().len(), euler(&mesh)), (1500, 1));
        let steep = mesh.graph()?.values().iter().copied().fold(0.0, f64::max);
        assert!((1.5..6.0).contains(&steep), "{steep}");
        assert_eq!(mesh, terrain(50, 30, 1)?);
        for other in [2, 1 + (1 << 16), u64::MAX] {
            assert_ne!(mesh, terrain(50, 30, other)?, "{other}");
        }
        Ok(())
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        let refused = |mesh: Result<Mesh>| mesh.unwrap_err().to_string();
        assert_eq!(refused(sphere(14)), "a sphere of 14 divisions; at most 13 are supported");
        assert_eq!(refused(torus(2, 9)), "a torus of 2 points around and 9 across; at least 3 are required");
        assert_eq!(refused(terrain(2, 1, 1)), "a terrain of 2x1 points; at least 2x2 are required");
        assert!(matches!(torus(1 << 20, 1 << 20), Err(Error::TooLarge { .. })));
    }
}
