//! The speedups that the paper prints.
use super::{Subject, formats};
use crate::paper::peers::libraries;
use blockmul::plan::Format;

/// The devices of the paper's measurements.
pub const DEVICES: &str = "an RTX 2080, over one thread of a Core i7-7700K";

/// One of tables 1 to 8: the speedups of one format or library over one thread.
pub struct Published {
    pub table: u8,
    /// The name in the paper.
    pub name: &'static str,
    pub by: By<'static>,
    f32: Speedups,
    f64: Speedups,
}

/// A way to compute A·x: a format, or another library.
#[derive(Clone, Copy, PartialEq)]
pub enum By<'s> {
    /// A format, as it was published.
    Format(Format),
    /// Another library than blockmul, by its name.
    Library(&'s str),
}

/// The mean speedups over the matrices with at least 10,000 and with at least 100,000 entries. The
/// largest speedup is the same for both sets of matrices.
#[derive(Clone, Copy)]
pub struct Speedups {
    pub means: [f64; 2],
    pub max: f64,
}

const fn of(from_10k: f64, from_100k: f64, max: f64) -> Speedups {
    Speedups { means: [from_10k, from_100k], max }
}

const fn table(table: u8, name: &'static str, by: By<'static>, [f32, f64]: [Speedups; 2]) -> Published {
    Published { table, name, by, f32, f64 }
}

pub const TABLES: [Published; 8] = [
    table(1, "CSR-Scalar", By::Format(Format::CsrScalar), [of(4.57, 8.90, 32.50), of(3.78, 7.24, 29.47)]),
    table(2, "CSR (cuSPARSE)", By::Library("cusparse"), [of(5.69, 13.62, 31.44), of(4.68, 10.65, 25.42)]),
    table(3, "CSR-Vector", By::Format(Format::CsrVector), [of(6.60, 14.40, 43.46), of(4.37, 9.50, 29.62)]),
    table(4, "CSR-Adaptive", By::Format(Format::CsrAdaptiveAtomic), [of(7.37, 14.27, 48.19), of(6.39, 11.72, 40.39)]),
    table(5, "ELL", By::Format(Format::Ell), [of(6.73, 11.16, 35.47), of(5.57, 8.44, 27.92)]),
    table(6, "COO", By::Format(Format::CooAtomic), [of(6.96, 10.55, 54.15), of(7.37, 11.69, 37.83)]),
    table(7, "SCOO", By::Format(Format::ScooAtomic), [of(6.82, 12.46, 38.63), of(4.60, 7.43, 26.78)]),
    table(8, "HYB", By::Format(Format::HybAtomic), [of(7.73, 14.92, 38.62), of(6.51, 11.59, 25.96)]),
];

impl Published {
    pub fn speedups(&self, element: &str) -> Speedups {
        if element == "f32" { self.f32 } else { self.f64 }
    }
}

impl<'s> By<'s> {
    /// All formats, and the libraries that multiplied at least one of the matrices.
    pub fn all(of: &[&'s Subject]) -> Vec<Self> {
        let libraries = libraries(of.iter().flat_map(|of| &of.peers));
        formats().map(Self::Format).chain(libraries.into_iter().map(Self::Library)).collect()
    }

    pub fn name(self) -> &'s str {
        match self {
            Self::Format(format) => format.name(),
            Self::Library(library) => library,
        }
    }

    /// The speedup over one thread, if it was measured.
    pub fn speedup(self, of: &Subject) -> Option<f64> {
        match self {
            Self::Format(format) => of.speedup(format),
            Self::Library(library) => of.peer_speedup(library),
        }
    }
}
