//! [`Shaded`]: the colours of cells, as indices into a palette.
use super::{Cell, Raster, Scale};
use crate::{Error, Result};

/// The meaning of a cell's colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shade {
    /// The largest magnitude, on a logarithmic scale.
    Magnitude,
    /// The number of entries, on a logarithmic scale.
    Density,
    /// Whether there are entries.
    Pattern,
}

/// Red, green and blue.
pub(super) type Colour = [u8; 3];

/// The first colours of the palette, for cells without entries, for zeros, for values that are not
/// finite, for entries, for the frame and for lines. The colours of a ramp or of mixtures follow in
/// the palette.
const FIXED: [Colour; 6] = [[255; 3], [200; 3], [0xd5, 0x5e, 0x00], [0; 3], [0x80, 0x80, 0x80], [0xec, 0xec, 0xec]];

/// Number of steps of a ramp.
pub(super) const STEPS: u8 = 64;
/// Viridis (van der Walt and Smith 2015, CC0) reversed, as ten colours to interpolate. The
/// lightness of Viridis is even, larger values are darker on white, and colour-blind people can
/// distinguish the colours.
const VIRIDIS: [u32; 10] =
    [0xfde725, 0xb4de2c, 0x6dcd59, 0x35b779, 0x1f9e89, 0x26828e, 0x31688e, 0x3e4a89, 0x482878, 0x440154];
/// The ramp of colours for numbers of entries, from light blue to dark blue.
const BLUES: [u32; 3] = [0x9cc3e0, 0x4a90c4, 0x08306b];

/// Colours of entries that are in both matrices, only in the first matrix (the fill-in), and only
/// in the second matrix. Colour-blind people can distinguish these colours (Okabe and Ito 2008, Tol
/// 2021).
const PARTS: [u32; 3] = [0x0072b2, 0xe69f00, 0xaa3377];
/// Number of steps of a mixture.
const EIGHTHS: u64 = 8;

/// Number of decades below the largest magnitude that have different colours. Rounding errors are
/// 16 decades below the numbers that are rounded. If the number of decades had no limit, one number
/// close to 0 would make all other numbers look alike.
const DECADES: f64 = 20.0;

/// Cells and their colours.
///
/// ```
/// use blockmul::extra::spy::{Raster, Shade, Shaded};
/// use blockmul::Csc;
/// let a = Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 1, 0.0)])?;
/// let shaded = Shaded::new(&Raster::on_host(&a, 2)?, Shade::Pattern);
/// assert_eq!(shaded.cells, [Shaded::INK, Shaded::NONE, Shaded::NONE, Shaded::ZEROS]);
/// assert_eq!(shaded.palette[usize::from(Shaded::INK)], [0, 0, 0]);
/// # Ok::<(), blockmul::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Shaded {
    /// The scale of the raster.
    pub scale: Scale,
    /// The cells, row by row, as indices into the palette.
    pub cells: Vec<u8>,
    /// Red, green and blue for each index.
    pub palette: Vec<Colour>,
    /// Labels of the ends of the ramp, if there is one.
    pub ends: Option<[String; 2]>,
    /// For each cell of a comparison, a set of bits: 1 if the cell has entries that are in both
    /// matrices, 2 for entries only in the first matrix, and 4 for entries only in the second.
    pub parts: Vec<u8>,
    /// A description of the scale and the colours.
    pub description: String,
}

impl Shaded {
    /// The palette's index of cells without entries.
    pub const NONE: u8 = 0;
    /// The palette's index of cells whose entries are all zero.
    pub const ZEROS: u8 = 1;
    /// The palette's index of cells with NaN or infinity, if colours show magnitudes.
    pub const NOT_FINITE: u8 = 2;
    /// The palette's index of cells with entries, if colours only show where entries are.
    pub const INK: u8 = 3;

    /// Assigns colours to the cells of a matrix.
    pub fn new(raster: &Raster, shade: Shade) -> Self {
        let ramp = match shade {
            Shade::Magnitude => Ramp::magnitudes(raster),
            Shade::Density => Ramp::new(raster.cells().iter().map(|cell| f64::from(cell.entries)), f64::INFINITY),
            Shade::Pattern => None,
        };
        let index = |cell: &Cell| match (shade, &ramp) {
            _ if cell.entries == 0 => Self::NONE,
            _ if cell.largest == 0.0 => Self::ZEROS,
            (Shade::Magnitude, _) if !cell.largest.is_finite() => Self::NOT_FINITE,
            (Shade::Magnitude, Some(ramp)) => ramp.index(cell.largest),
            (Shade::Density, Some(ramp)) => ramp.index(cell.entries.into()),
            _ => Self::INK,
        };
        let (colours, ends, words): (&[u32], _, _) = match (shade, ramp) {
            (Shade::Magnitude, Some(ramp)) => {
                let ends = ramp.ends.map(|end| format!("{end:.1e}"));
                let words = match &ends {
                    [low, high] if low == high => format!("|x| = {high}"),
                    [low, high] => format!("|x| from {low} (yellow) to {high} (violet)"),
                };
                (&VIRIDIS, Some(ends), words)
            }
            (Shade::Density, Some(ramp)) => {
                let ends = ramp.ends.map(|end| format!("{end}"));
                let words = format!("{} (light) to {} (dark) entries a cell", ends[0], ends[1]);
                (&BLUES, Some(ends), words)
            }
            (Shade::Pattern, _) => (&[], None, "black where there are entries".into()),
            (Shade::Magnitude, None) => (&[], None, "no magnitude is above 0 and finite".into()),
            (Shade::Density, None) => (&[], None, "nothing is stored".into()),
        };
        let steps = (0..STEPS).filter(|_| !colours.is_empty());
        Self {
            scale: *raster.scale(),
            cells: raster.cells().iter().map(index).collect(),
            palette: FIXED.into_iter().chain(steps.map(|step| on_ramp(colours, step))).collect(),
            ends,
            parts: Vec::new(),
            description: describe(raster.scale(), &words),
        }
    }

    /// Assigns colours to the cells of a comparison of two matrices. `rasters` are three rasters of
    /// one scale: of the entries in both matrices, only in the first matrix, and only in the
    /// second.
    ///
    /// # Errors
    /// [`Error::Argument`] if the rasters have different scales.
    pub fn overlap(rasters: [&Raster; 3]) -> Result<Self> {
        if rasters.iter().any(|raster| raster.scale() != rasters[0].scale()) {
            return Err(Error::Argument("rasters that are compared have one scale".into()));
        }
        let counts = |cell: usize| rasters.map(|raster| u64::from(raster.cells()[cell].entries));
        let present = |counts: [u64; 3]| (0..3).map(|part| u8::from(counts[part] > 0) << part).sum();
        let all = 0..rasters[0].cells().len();
        let mixtures = (0..=EIGHTHS).flat_map(|first| (0..=EIGHTHS - first).map(move |second| mixture(first, second)));
        Ok(Self {
            scale: *rasters[0].scale(),
            cells: all.clone().map(|cell| mixture_index(counts(cell))).collect(),
            palette: FIXED.into_iter().chain(mixtures).collect(),
            ends: None,
            parts: all.map(|cell| present(counts(cell))).collect(),
            description: describe(rasters[0].scale(), "blue in both, orange the fill, purple only in the other"),
        })
    }
}

fn describe(scale: &Scale, words: &str) -> String {
    format!("a cell shows {} x {} elements; {words}", scale.rows.per_cell, scale.cols.per_cell)
}

/// Positive numbers on a logarithmic scale of colours.
#[derive(Clone, Copy)]
struct Ramp {
    ends: [f64; 2],
}

impl Ramp {
    fn magnitudes(raster: &Raster) -> Option<Self> {
        let cells = raster.cells().iter().filter(|cell| cell.entries > 0).map(|cell| cell.largest);
        Self::new(cells, DECADES)
    }

    /// A ramp from the smallest to the largest of the numbers that are positive and finite. The
    /// ramp covers at most `decades` powers of ten.
    fn new(numbers: impl Iterator<Item = f64>, decades: f64) -> Option<Self> {
        let numbers = numbers.filter(|number| *number > 0.0 && number.is_finite());
        let ends = numbers.fold(None, |ends: Option<[f64; 2]>, number| {
            let [low, high] = ends.unwrap_or([number; 2]);
            Some([low.min(number), high.max(number)])
        });
        ends.map(|[low, high]| Self { ends: [low.max(high * 10f64.powf(-decades)), high] })
    }

    fn index(&self, number: f64) -> u8 {
        let [low, high] = self.ends.map(f64::log10);
        // If all numbers are equal, they have the colour of the largest number of a ramp.
        let share = if high > low { (number.log10() - low) / (high - low) } else { 1.0 };
        step_index((share.clamp(0.0, 1.0) * f64::from(STEPS - 1)).round() as u8)
    }
}

/// The palette's index of a step of the ramp.
pub(super) fn step_index(step: u8) -> u8 {
    FIXED.len() as u8 + step
}

fn on_ramp(colours: &[u32], step: u8) -> Colour {
    let place = f64::from(step) / f64::from(STEPS - 1) * (colours.len() - 1) as f64;
    let (before, after) = (place.floor() as usize, place.ceil() as usize);
    mix([(colours[before], 1.0 - place.fract()), (colours[after], place.fract())])
}

fn mixture(first: u64, second: u64) -> Colour {
    let [both, first, second] = [EIGHTHS - first - second, first, second].map(|n| n as f64 / EIGHTHS as f64);
    mix([(PARTS[0], both), (PARTS[1], first), (PARTS[2], second)])
}

/// The index of the mixture of colours for these counts of entries: in both matrices, only in the
/// first, and only in the second. Each of the three colours that occurs gets at least an eighth of
/// the mixture.
fn mixture_index(counts: [u64; 3]) -> u8 {
    let total: u64 = counts.iter().sum();
    if total == 0 {
        return Shaded::NONE;
    }
    let present = counts.map(|count| u64::from(count > 0));
    let second = (EIGHTHS * counts[2]).div_ceil(total).min(EIGHTHS - present[0] - present[1]);
    let first = (EIGHTHS * counts[1]).div_ceil(total).min(EIGHTHS - present[0] - second);
    // Mixtures are numbered by their eighths of the first colour: the first 9 mixtures have none of
    // it, the next 8 have one eighth, and so on.
    let before: u64 = (0..first).map(|first| EIGHTHS + 1 - first).sum();
    FIXED.len() as u8 + (before + second) as u8
}

fn mix<const N: usize>(parts: [(u32, f64); N]) -> Colour {
    let channel = |shift: u32| {
        let sum: f64 = parts.iter().map(|(colour, share)| f64::from(colour >> shift & 0xff) * share).sum();
        sum.round() as u8
    };
    [channel(16), channel(8), channel(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Csc;

    fn shaded(values: &[f64], shade: Shade) -> Shaded {
        let entries = values.iter().enumerate().map(|(row, &value)| (row, 0, value));
        let matrix = Csc::from_triplets(values.len() + 1, 1, entries).unwrap();
        Shaded::new(&Raster::on_host(&matrix, 16).unwrap(), shade)
    }

    #[test]
    fn decades_are_as_far_apart() {
        let values = [-1e3, 1e-3, 1.0, 0.0, f64::NAN, f64::INFINITY];
        let magnitudes = shaded(&values, Shade::Magnitude);
        assert_eq!(
            magnitudes.cells,
            [6 + 63, 6, 6 + 32, Shaded::ZEROS, Shaded::NOT_FINITE, Shaded::NOT_FINITE, Shaded::NONE]
        );
        assert_eq!(magnitudes.ends, Some(["1.0e-3".into(), "1.0e3".into()]));
        assert_eq!((magnitudes.palette[6], magnitudes.palette[69]), ([0xfd, 0xe7, 0x25], [0x44, 0x01, 0x54]));
        let pattern = shaded(&values, Shade::Pattern);
        assert_eq!(
            pattern.cells,
            [Shaded::INK, Shaded::INK, Shaded::INK, Shaded::ZEROS, Shaded::INK, Shaded::INK, Shaded::NONE]
        );
        assert_eq!(pattern.palette.len(), 6);
        assert_eq!(shaded(&[2.0, -2.0], Shade::Magnitude).cells, [69, 69, Shaded::NONE], "all alike");
        assert_eq!(shaded(&[1e-300, 1.0, 1e-8], Shade::Magnitude).cells, [6, 69, 6 + 38, Shaded::NONE], "an outlier");
        assert_eq!(shaded(&[], Shade::Magnitude).cells, [Shaded::NONE]);
    }

    #[test]
    fn density_counts() {
        let places = [(0, 0), (1, 0), (0, 1), (1, 1), (3, 3), (2, 1), (3, 1)];
        let matrix = Csc::from_triplets(4, 4, places.map(|(row, col)| (row, col, 1.0))).unwrap();
        let shaded = Shaded::new(&Raster::on_host(&matrix, 2).unwrap(), Shade::Density);
        assert_eq!(shaded.cells, [69, Shaded::NONE, 6 + 32, 6]);
        assert_eq!(shaded.ends, Some(["1".into(), "4".into()]));
    }

    #[test]
    fn every_part_of_a_mixture_shows() {
        let colour = |counts| {
            let mixtures =
                (0..=8).flat_map(|first| (0..=8 - first).map(move |second| (8 - first - second, first, second)));
            mixtures.collect::<Vec<_>>()[usize::from(mixture_index(counts)) - FIXED.len()]
        };
        assert_eq!(mixture_index([0, 0, 0]), Shaded::NONE);
        assert_eq!([colour([5, 0, 0]), colour([0, 5, 0]), colour([0, 0, 5])], [(8, 0, 0), (0, 8, 0), (0, 0, 8)]);
        assert_eq!([colour([1, 1, 0]), colour([100, 1, 0]), colour([1, 100, 0])], [(4, 4, 0), (7, 1, 0), (1, 7, 0)]);
        assert_eq!([colour([1, 1, 100]), colour([100, 1, 1]), colour([1, 100, 1])], [(1, 1, 6), (6, 1, 1), (1, 6, 1)]);
        assert_eq!(colour([u32::MAX.into(); 3]), (2, 3, 3));
        let raster = |side, size| Raster::on_host(&Csc::<f64>::from_triplets(side, side, []).unwrap(), size).unwrap();
        assert!(Shaded::overlap([&raster(4, 4), &raster(4, 4), &raster(4, 2)]).is_err());
    }
}
