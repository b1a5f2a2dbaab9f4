//! The operations that can be timed, and what each is timed on by default.
use super::matrices::Input;
use blockmul::{BlockShape, Device, device::DeviceKind};
use clap::ValueEnum;

/// An operation that `blockmul bench` times.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Operation {
    /// C = A·B from nothing; B is A if A is square, else Aᵀ.
    Product,
    /// The same by a plan, which keeps what depends on the patterns.
    Plan,
    /// A plan of JᵀJ, and one of JᵀWJ for weights of every kind; J is the Jacobian of the family
    /// if it has one, else A.
    Gram,
    /// The Schur complement of a bundle adjustment whose W is A, and its back-substitution.
    Schur,
    /// A·x.
    Apply,
    /// Aᵀ·x.
    ApplyTransposed,
    /// Jᵀ·(J·x), without JᵀJ, and the same with a weight for each row of J; J as that of gram, in
    /// one matrix.
    ApplyGram,
    /// A·D for a dense D.
    Dense,
    /// Shortest paths from the first vertex of a graph, whose edges' lengths are the magnitudes of
    /// A's values, by every schedule.
    Paths,
    /// The connected components of the graph whose edges are A's entries, in both directions,
    /// whatever their values.
    Components,
    /// The triangles through each vertex of the same graph; loops are left out.
    Triangles,
    /// Patches by Lloyd relaxation around 64 vertices of a graph, with lengths as those of paths:
    /// centres are farthest from borders, then also with balanced sizes; of f64 alone.
    Patches,
    /// The norm of each column of A.
    Norms,
    /// A·diag(d), in place.
    Scale,
    /// The dot product of two vectors, as long as A has stored elements.
    Dot,
    /// y = alpha·x + y of two such vectors.
    Axpy,
    /// The permutation of A that leaves all in place: a copy.
    Copy,
    /// A with its block rows and columns in another order.
    Permute,
    /// Aᵀ.
    Transpose,
    /// A + 0.5·B, where B is A upside down.
    Add,
    /// The lower triangle of A in another order.
    PermuteLower,
    /// The scalars of A's lower triangle, as a sparse Cholesky factorization wants them.
    Scalars,
    /// The pattern of Aᵀ, and where its entries come from.
    TransposePattern,
    /// Exclusive sums of an array.
    Scan,
    /// Inclusive sums of each segment by any operator, for several lengths of segments.
    SegmentedScan,
    /// A stable sort of rows and payloads inside segments, for several lengths of segments.
    Sort,
    /// The sum of each run of values, for several lengths of runs.
    Reduce,
    /// Reading a matrix from a file, by one thread, two, and all.
    Read,
}

/// What an operation is applied to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// A matrix on a device.
    Matrix,
    /// An array on a device.
    Array,
    /// A file.
    File,
}

/// A family, and shapes of blocks.
type Default = (&'static str, &'static [(usize, usize)]);

impl Operation {
    /// The name that `--operation` takes.
    pub fn name(self) -> String {
        let value = self.to_possible_value();
        value.map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Whether it is a product of matrices.
    pub fn multiplies(self) -> bool {
        matches!(self, Self::Product | Self::Plan | Self::Dense)
    }

    /// Whether it is a product with vectors, in a format of the matrix.
    pub fn has_formats(self) -> bool {
        matches!(self, Self::Apply | Self::ApplyTransposed | Self::ApplyGram)
    }

    pub fn takes(self) -> Takes {
        match self {
            Self::Scan | Self::SegmentedScan | Self::Sort | Self::Reduce => Takes::Array,
            Self::Read => Takes::File,
            _ => Takes::Matrix,
        }
    }

    /// The inputs if none are given, and the shapes of their blocks; the family's own if none.
    pub fn inputs(self, symmetric: bool) -> Vec<(Input, Vec<BlockShape>)> {
        let input = |&(text, blocks): &Default| {
            let shape = |&(rows, cols): &(usize, usize)| BlockShape::new(rows, cols).expect("sides of a block");
            (Input::parse(text).expect("a family"), blocks.iter().map(shape).collect())
        };
        const SYMMETRIC: &[Default] = &[("pose-graph", &[(3, 3), (6, 6)])];
        let defaults = if symmetric { SYMMETRIC } else { self.defaults() };
        defaults.iter().map(input).collect()
    }

    fn defaults(self) -> &'static [Default] {
        const SIZES: [(usize, usize); 8] = [(1, 1), (2, 3), (3, 3), (6, 3), (6, 6), (9, 9), (16, 16), (32, 32)];
        match self {
            Self::Product => &[("uniform", &[]), ("power-law", &[]), ("pose-graph", &[]), ("bundle-adjustment", &[])],
            Self::Plan => &[("uniform", &[(1, 1), (2, 2), (3, 3), (4, 4), (6, 6), (8, 8)])],
            Self::Gram | Self::ApplyGram => &[("bundle-adjustment:200x20000x5", &[(9, 3)])],
            Self::Schur => &[
                ("bundle-adjustment:50x8000x5", &[(9, 3), (6, 3)]),
                ("bundle-adjustment:500x100000x6", &[(9, 3), (6, 3)]),
            ],
            Self::Apply | Self::ApplyTransposed | Self::Norms | Self::Scale => {
                &[("uniform", &SIZES), ("arrow", &[(1, 1), (6, 6)]), ("cameras", &[(2, 9)])]
            }
            Self::Dense => &[("uniform", &[(1, 1), (3, 3), (6, 6)]), ("arrow", &[(1, 1)])],
            Self::Copy | Self::Permute | Self::Transpose | Self::Add => &[("uniform", &SIZES)],
            Self::PermuteLower | Self::Scalars => &[("pose-graph", &[(3, 3), (6, 6), (9, 9), (16, 16), (32, 32)])],
            Self::Paths | Self::Components => &[("planar", &[]), ("power-law:262144x4000000", &[])],
            Self::Triangles => &[("planar", &[]), ("power-law:65536x1000000", &[])],
            Self::Patches => &[("planar:200x200", &[])],
            Self::Dot | Self::Axpy => &[("uniform", &[])],
            Self::TransposePattern => &[("power-law", &[])],
            Self::Scan | Self::SegmentedScan | Self::Sort | Self::Reduce => &[],
            Self::Read => &[("uniform:400000x9", &[])],
        }
    }

    /// The stored elements of a family that is named without sizes, or of an array. `None` for the
    /// family's default sizes.
    pub fn elements(self, device: &Device) -> Option<usize> {
        match self {
            Self::Product | Self::Plan | Self::Gram | Self::ApplyGram | Self::Schur | Self::Read => None,
            Self::Paths | Self::Components | Self::Triangles | Self::Patches => None,
            Self::Apply | Self::ApplyTransposed | Self::Norms | Self::Scale | Self::Dot | Self::Axpy => {
                Some(16_000_000)
            }
            Self::Dense => Some(2_000_000),
            // 64 MiB of f64.
            Self::Copy | Self::Permute | Self::Transpose | Self::Add | Self::PermuteLower | Self::Scalars => {
                Some(1 << 23)
            }
            // Well above what caches keep.
            Self::TransposePattern | Self::Scan | Self::SegmentedScan | Self::Sort | Self::Reduce => {
                match device.info().kind {
                    DeviceKind::Cpu => Some(1 << 23),
                    _ => Some(1 << 26),
                }
            }
        }
    }

    /// Executions that are enqueued together in a round.
    pub fn together(self) -> u32 {
        match self {
            Self::Apply | Self::ApplyTransposed | Self::ApplyGram => 20,
            Self::Norms | Self::Scale | Self::Dot | Self::Axpy => 20,
            Self::Dense => 5,
            Self::Copy | Self::Permute | Self::Transpose | Self::Add | Self::PermuteLower | Self::Scalars => 10,
            _ => 1,
        }
    }
}
