//! The speedups that the paper prints.
use super::Subject;
use blockmul::plan::Format;

/// Where the paper measured.
pub const DEVICES: &str = "an RTX 2080, over one thread of a Core i7-7700K";

/// One of tables 1 to 8: speedups over one thread.
pub struct Published {
    pub table: u8,
    /// The paper's name.
    pub name: &'static str,
    pub by: By,
    f32: Speedups,
    f64: Speedups,
}

/// What computes A·x.
#[derive(Clone, Copy, PartialEq)]
pub enum By {
    /// The format as published.
    Format(Format),
    Cusparse,
}

/// Means over matrices from 10,000 and from 100,000 entries. The largest is the same for both.
#[derive(Clone, Copy)]
pub struct Speedups {
    pub means: [f64; 2],
    pub max: f64,
}

const fn of(from_10k: f64, from_100k: f64, max: f64) -> Speedups {
    Speedups { means: [from_10k, from_100k], max }
}

pub const TABLES: [Published; 8] = [
    Published {
        table: 1,
        name: "CSR-Scalar",
        by: By::Format(Format::Csr),
        f32: of(4.57, 8.90, 32.50),
        f64: of(3.78, 7.24, 29.47),
    },
    Published {
        table: 2,
        name: "CSR (cuSPARSE)",
        by: By::Cusparse,
        f32: of(5.69, 13.62, 31.44),
        f64: of(4.68, 10.65, 25.42),
    },
    Published {
        table: 3,
        name: "CSR-Vector",
        by: By::Format(Format::CsrVector),
        f32: of(6.60, 14.40, 43.46),
        f64: of(4.37, 9.50, 29.62),
    },
    Published {
        table: 4,
        name: "CSR-Adaptive",
        by: By::Format(Format::CsrAdaptiveAtomic),
        f32: of(7.37, 14.27, 48.19),
        f64: of(6.39, 11.72, 40.39),
    },
    Published {
        table: 5,
        name: "ELL",
        by: By::Format(Format::Ell),
        f32: of(6.73, 11.16, 35.47),
        f64: of(5.57, 8.44, 27.92),
    },
    Published {
        table: 6,
        name: "COO",
        by: By::Format(Format::CooAtomic),
        f32: of(6.96, 10.55, 54.15),
        f64: of(7.37, 11.69, 37.83),
    },
    Published {
        table: 7,
        name: "SCOO",
        by: By::Format(Format::ScooAtomic),
        f32: of(6.82, 12.46, 38.63),
        f64: of(4.60, 7.43, 26.78),
    },
    Published {
        table: 8,
        name: "HYB",
        by: By::Format(Format::HybAtomic),
        f32: of(7.73, 14.92, 38.62),
        f64: of(6.51, 11.59, 25.96),
    },
];

impl Published {
    pub fn speedups(&self, element: &str) -> Speedups {
        if element == "f32" { self.f32 } else { self.f64 }
    }
}

impl By {
    pub fn name(self) -> &'static str {
        match self {
            Self::Format(format) => format.name(),
            Self::Cusparse => "cusparse",
        }
    }

    /// The speedup over one thread, if it was measured.
    pub fn speedup(self, of: &Subject) -> Option<f64> {
        match self {
            Self::Format(format) => of.speedup(format),
            Self::Cusparse => of.peer_speedup(self.name()),
        }
    }
}
