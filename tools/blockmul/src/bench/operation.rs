//! The operations that can be timed, what each is timed on by default, and its operands.
use super::matrices::{Input, Source};
use super::measure::{Bench, Place, Subject};
use super::record::Record;
use super::{apply, apply_gram, dense, graphs, products, read, schur, structure, vectors};
use blockmul::{BlockShape, Device, Error, Result, device::DeviceKind, element::ElementType, matrix::AnyMatrix};

/// An operation that is timed.
pub struct Operation {
    /// The name that `--operation` takes.
    pub name: &'static str,
    pub help: &'static str,
    /// The families if no inputs are given, and the shapes of their blocks; the family's own if
    /// none.
    pub families: &'static [(&'static str, &'static [(usize, usize)])],
    /// The stored elements of a family that is named without sizes. `None` for the family's default
    /// sizes.
    pub elements: fn(&Device) -> Option<usize>,
    /// Executions that are enqueued together in a round.
    pub together: u32,
    /// The options that it takes, of those that are not for all operations.
    pub options: &'static [&'static str],
    pub measure: Measure,
}

/// What an operation is applied to, and how it is measured.
#[derive(Clone, Copy)]
pub enum Measure {
    /// A matrix on a device.
    Matrix(fn(&Operands<'_>) -> Result<Outcomes>),
    /// A matrix whose entries are edges.
    Graph(fn(&Operands<'_>) -> Result<Outcomes>),
    /// An array of so many elements on a device.
    Array(fn(&Subject<'_>, usize) -> Result<Vec<Record>>),
    /// A file on the host, or a family of about so many elements.
    File(fn(&Bench<'_>, &Input, Option<usize>) -> Result<Vec<Record>>),
}

/// What was measured, or why it was not, for each device (and each method).
pub type Outcomes = Vec<Result<Vec<Record>>>;

pub const BY_ROWS: &str = "--by-rows";
pub const SEMIRING: &str = "--semiring";
pub const SYMMETRIC: &str = "--symmetric";
pub const ANY_ORDER: &str = "--any-order";

/// Shapes of blocks from scalars to the largest.
pub const SHAPES: &[(usize, usize)] = &[(1, 1), (2, 3), (3, 3), (6, 3), (6, 6), (9, 9), (16, 16), (32, 32)];
const VECTORS: &[(&str, &[(usize, usize)])] =
    &[("uniform", SHAPES), ("arrow", &[(1, 1), (6, 6)]), ("cameras", &[(2, 9)])];
const JACOBIAN: &[(&str, &[(usize, usize)])] = &[("bundle-adjustment:200x20000x5", &[(9, 3)])];

/// An operation on a matrix and vectors.
const OF_A_MATRIX: Operation = Operation { families: VECTORS, ..Operation::OF_VECTORS };
/// An operation that moves the elements of a matrix, of 64 MiB of f64.
const MOVES: Operation =
    Operation { families: &[("uniform", SHAPES)], elements: |_| Some(1 << 23), together: 10, ..Operation::ONE };
/// The same of a lower triangle.
const LOWER: Operation =
    Operation { families: &[("pose-graph", &[(3, 3), (6, 6), (9, 9), (16, 16), (32, 32)])], ..MOVES };

/// Well above what caches keep.
pub fn of_array(device: &Device) -> Option<usize> {
    Some(if device.info().kind == DeviceKind::Cpu { 1 << 23 } else { 1 << 26 })
}

/// The operations of `blockmul bench`.
pub static OPERATIONS: [Operation; 24] = [
    Operation {
        name: "product",
        help: "C = A·B from nothing; B is A if A is square, else Aᵀ",
        families: &[("uniform", &[]), ("power-law", &[]), ("pose-graph", &[]), ("bundle-adjustment", &[])],
        options: &[BY_ROWS, SEMIRING],
        measure: Measure::Matrix(products::product),
        ..Operation::ONE
    },
    Operation {
        name: "plan",
        help: "The same by a plan, which keeps what depends on the patterns",
        families: &[("uniform", &[(1, 1), (2, 2), (3, 3), (4, 4), (6, 6), (8, 8)])],
        options: &[BY_ROWS, SEMIRING],
        measure: Measure::Matrix(products::plan),
        ..Operation::ONE
    },
    Operation {
        name: "gram",
        help: "A plan of JᵀJ, and one of JᵀWJ for weights of every kind; J is the Jacobian of the family if it has \
               one, else A",
        families: JACOBIAN,
        measure: Measure::Matrix(products::gram),
        ..Operation::ONE
    },
    Operation {
        name: "schur",
        help: "The Schur complement of a bundle adjustment whose W is A, and its back-substitution",
        families: &[
            ("bundle-adjustment:50x8000x5", &[(9, 3), (6, 3)]),
            ("bundle-adjustment:500x100000x6", &[(9, 3), (6, 3)]),
        ],
        measure: Measure::Matrix(schur::schur),
        ..Operation::ONE
    },
    Operation {
        name: "apply",
        help: "A·x",
        families: VECTORS,
        options: &[SEMIRING, SYMMETRIC, ANY_ORDER],
        measure: Measure::Matrix(apply::apply),
        ..Operation::OF_VECTORS
    },
    Operation {
        name: "apply-transposed",
        help: "Aᵀ·x",
        families: VECTORS,
        options: &[SEMIRING, ANY_ORDER],
        measure: Measure::Matrix(apply::transposed),
        ..Operation::OF_VECTORS
    },
    Operation {
        name: "apply-gram",
        help: "Jᵀ·(J·x), without JᵀJ, and the same with a weight for each row of J; J as that of gram, in one matrix",
        families: JACOBIAN,
        together: 20,
        options: &[SEMIRING, ANY_ORDER],
        measure: Measure::Matrix(apply_gram::apply_gram),
        ..Operation::ONE
    },
    Operation {
        name: "dense",
        help: "A·D for a dense D",
        families: &[("uniform", &[(1, 1), (3, 3), (6, 6)]), ("arrow", &[(1, 1)])],
        elements: |_| Some(2_000_000),
        together: 5,
        options: &[BY_ROWS, SEMIRING],
        measure: Measure::Matrix(dense::dense),
    },
    Operation {
        name: "paths",
        help: "Shortest paths from the first vertex of a graph, whose edges' lengths are the magnitudes of A's \
               values, by every schedule",
        families: &[("planar", &[]), ("power-law:262144x4000000", &[])],
        measure: Measure::Graph(graphs::paths),
        ..Operation::ONE
    },
    Operation {
        name: "components",
        help: "The connected components of the graph whose edges are A's entries, in both directions, whatever \
               their values",
        families: &[("planar", &[]), ("power-law:262144x4000000", &[])],
        measure: Measure::Graph(graphs::components),
        ..Operation::ONE
    },
    Operation {
        name: "triangles",
        help: "The triangles through each vertex of the same graph; loops are left out",
        families: &[("planar", &[]), ("power-law:65536x1000000", &[])],
        measure: Measure::Graph(graphs::triangles),
        ..Operation::ONE
    },
    Operation {
        name: "patches",
        help: "Patches by Lloyd relaxation around 64 vertices of a graph, with lengths as those of paths: centres \
               are farthest from borders, then also with balanced sizes; of f64 alone",
        families: &[("planar:200x200", &[])],
        measure: Measure::Graph(graphs::patches),
        ..Operation::ONE
    },
    Operation {
        name: "norms",
        help: "The norm of each column of A",
        measure: Measure::Matrix(|of| each(of, vectors::norms)),
        ..OF_A_MATRIX
    },
    Operation {
        name: "scale",
        help: "A·diag(d), in place",
        measure: Measure::Matrix(|of| each(of, vectors::scale)),
        ..OF_A_MATRIX
    },
    Operation {
        name: "dot",
        help: "The dot product of two vectors, as long as A has stored elements",
        families: &[("uniform", &[])],
        measure: Measure::Matrix(|of| each(of, vectors::dot)),
        ..OF_A_MATRIX
    },
    Operation {
        name: "axpy",
        help: "y = alpha·x + y of two such vectors",
        families: &[("uniform", &[])],
        measure: Measure::Matrix(|of| each(of, vectors::axpy)),
        ..OF_A_MATRIX
    },
    Operation {
        name: "copy",
        help: "The permutation of A that leaves all in place: a copy",
        measure: Measure::Matrix(|of| each(of, structure::copy)),
        ..MOVES
    },
    Operation {
        name: "permute",
        help: "A with its block rows and columns in another order",
        measure: Measure::Matrix(|of| each(of, structure::permute)),
        ..MOVES
    },
    Operation {
        name: "transpose", help: "Aᵀ", measure: Measure::Matrix(|of| each(of, structure::transpose)), ..MOVES
    },
    Operation {
        name: "add",
        help: "A + 0.5·B, where B is A upside down",
        measure: Measure::Matrix(|of| each(of, structure::add)),
        ..MOVES
    },
    Operation {
        name: "permute-lower",
        help: "The lower triangle of A in another order",
        measure: Measure::Matrix(|of| each(of, structure::permute_lower)),
        ..LOWER
    },
    Operation {
        name: "scalars",
        help: "The scalars of A's lower triangle, as a sparse Cholesky factorization wants them",
        measure: Measure::Matrix(|of| each(of, structure::scalars)),
        ..LOWER
    },
    Operation {
        name: "transpose-pattern",
        help: "The pattern of Aᵀ, and where its entries come from",
        families: &[("power-law", &[])],
        measure: Measure::Matrix(|of| each(of, structure::transpose_pattern)),
        elements: of_array,
        ..Operation::ONE
    },
    Operation {
        name: "read",
        help: "Reading a matrix from a file, by one thread, two, and all",
        families: &[("uniform:400000x9", &[])],
        measure: Measure::File(read::read),
        ..Operation::ONE
    },
];

impl Operation {
    /// An operation whose executions are enqueued one by one, on families of their default sizes.
    pub const ONE: Self = Self {
        name: "",
        help: "",
        families: &[],
        elements: |_| None,
        together: 1,
        options: &[],
        measure: Measure::Matrix(|_| Ok(Vec::new())),
    };

    /// An operation on vectors.
    pub const OF_VECTORS: Self = Self { elements: |_| Some(16_000_000), together: 20, ..Self::ONE };

    /// The inputs if none are given, and the shapes of their blocks.
    pub fn inputs(&self, symmetric: bool) -> Vec<(Input, Vec<BlockShape>)> {
        let families = if symmetric { &[("pose-graph", &[(3, 3), (6, 6)][..])] } else { self.families };
        let shape = |&(rows, cols): &(usize, usize)| BlockShape::new(rows, cols).expect("sides of a block");
        let input = |&(text, blocks): &(&str, &[(usize, usize)])| {
            (Input::parse(text).expect("a family"), blocks.iter().map(shape).collect())
        };
        families.iter().map(input).collect()
    }
}

/// An operation, and its operands before they are made.
pub struct Operands<'a> {
    pub bench: &'a Bench<'a>,
    pub operation: &'a Operation,
    pub source: &'a Source,
    pub shape: BlockShape,
    pub element: ElementType,
}

impl Operands<'_> {
    /// Refuses elements that the algebra or the operation has not.
    pub fn check(&self) -> Result<()> {
        self.bench.args.semiring.check_type(self.element)?;
        match self.element.is_integer() && !self.operation.options.contains(&SEMIRING) {
            true => Err(self.refused()),
            false => Ok(()),
        }
    }

    /// Refuses elements of other types than these.
    pub fn check_element(&self, types: &[ElementType]) -> Result<()> {
        if types.contains(&self.element) { Ok(()) } else { Err(self.refused()) }
    }

    /// The refusal of the elements' type.
    pub fn refused(&self) -> Error {
        Error::Argument(format!("{} is not for matrices of {}", self.operation.name, self.element))
    }

    pub fn matrix(&self) -> Result<AnyMatrix> {
        self.source.any(self.element, self.shape)
    }

    /// A matrix that is multiplied, by rows if that is asked for.
    pub fn oriented(&self, matrix: AnyMatrix) -> Result<AnyMatrix> {
        match self.bench.args.by_rows {
            true => matrix.transpose().map(AnyMatrix::into_transpose),
            false => Ok(matrix),
        }
    }

    pub fn on<'b>(&'b self, place: &'b Place) -> Subject<'b> {
        self.bench.on(place, self.operation, self.source.name(self.shape))
    }

    /// Measures on every device.
    pub fn everywhere(&self, measure: &dyn Fn(&Subject<'_>) -> Result<Vec<Record>>) -> Outcomes {
        self.bench.devices.iter().map(|place| measure(&self.on(place))).collect()
    }

    /// Measures the matrix on every device.
    pub fn each(&self, measure: &dyn Fn(&Subject<'_>, &AnyMatrix) -> Result<Vec<Record>>) -> Result<Outcomes> {
        let a = self.matrix()?;
        Ok(self.everywhere(&|on| measure(on, &a)))
    }
}

/// Measures the matrix on every device.
fn each(of: &Operands<'_>, measure: fn(&Subject<'_>, &AnyMatrix) -> Result<Record>) -> Result<Outcomes> {
    of.each(&|on, a| Ok(vec![measure(on, a)?]))
}
