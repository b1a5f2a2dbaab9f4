//! The operations that can be timed, their default inputs, and their operands.
use super::matrices::{Input, Source};
use super::measure::{Bench, Place, Subject};
use super::record::Record;
use super::{apply, apply_gram, dense, graphs, products, read, schur, structure, vectors};
use blockmul::{BlockShape, Device, Error, Result, device::DeviceKind, element::ElementType, matrix::AnyMatrix};

/// An operation that is timed.
#[derive(Clone, Copy)]
pub struct Operation {
    /// The name that `--operation` takes.
    pub name: &'static str,
    pub help: &'static str,
    /// The families if no inputs are given.
    families: Families,
    /// The stored elements of a family that is named without sizes. `None` stands for the family's
    /// default sizes.
    pub elements: fn(&Device) -> Option<usize>,
    /// Executions that are enqueued together in a round.
    pub together: u32,
    /// The options of this operation, among those that only some operations support.
    pub options: &'static [&'static str],
    pub measure: Measure,
}

/// The kind of operand of an operation, with the function that measures it.
#[derive(Clone, Copy)]
pub enum Measure {
    /// A matrix on a device.
    Matrix(fn(&Operands<'_>) -> Result<Outcomes>),
    /// A matrix on a device, for an operation with only one record.
    Each(fn(&Subject<'_>, &AnyMatrix) -> Result<Record>),
    /// A matrix whose entries are edges.
    Graph(fn(&Operands<'_>) -> Result<Outcomes>),
    /// An array on a device, with a number of elements.
    Array(fn(&Subject<'_>, usize) -> Result<Vec<Record>>),
    /// A file on the host, or a family with about a number of elements.
    File(fn(&Bench<'_>, &Input, Option<usize>) -> Result<Vec<Record>>),
}

/// Families with the shapes of their blocks. If there are no shapes, the family's own is used.
type Families = &'static [(&'static str, &'static [(usize, usize)])];

/// The records of each device (and each method), or the reason why there are none.
pub type Outcomes = Vec<Result<Vec<Record>>>;

pub const BY_ROWS: &str = "--by-rows";
pub const SEMIRING: &str = "--semiring";
pub const SYMMETRIC: &str = "--symmetric";
pub const ANY_ORDER: &str = "--any-order";

/// Shapes of blocks from scalars to the largest.
pub const SHAPES: &[(usize, usize)] = &[(1, 1), (2, 3), (3, 3), (6, 3), (6, 6), (9, 9), (16, 16), (32, 32)];
const VECTORS: Families = &[("uniform", SHAPES), ("arrow", &[(1, 1), (6, 6)]), ("cameras", &[(2, 9)])];
const JACOBIAN: Families = &[("bundle-adjustment:200x20000x5", &[(9, 3)])];
const SHUFFLED: Families = &[("uniform", SHAPES)];
const LOWER: Families = &[("pose-graph", &[(3, 3), (6, 6), (9, 9), (16, 16), (32, 32)])];

/// A number of elements that exceeds all caches.
fn of_array(device: &Device) -> Option<usize> {
    Some(if device.info().kind == DeviceKind::Cpu { 1 << 23 } else { 1 << 26 })
}

/// The operations of `blockmul bench`.
pub static OPERATIONS: [Operation; 24] = [
    Operation::matrix("product", products::product)
        .help("C = A·B from nothing; B is A if A is square, else Aᵀ")
        .on(&[("uniform", &[]), ("power-law", &[]), ("pose-graph", &[]), ("bundle-adjustment", &[])])
        .taking(&[BY_ROWS, SEMIRING]),
    Operation::matrix("plan", products::plan)
        .help("The same by a plan, which keeps what depends on the patterns")
        .on(&[("uniform", &[(1, 1), (2, 2), (3, 3), (4, 4), (6, 6), (8, 8)])])
        .taking(&[BY_ROWS, SEMIRING]),
    Operation::matrix("gram", products::gram)
        .help(
            "A plan of JᵀJ, and one of JᵀWJ for weights of every kind; J is the Jacobian of the family if it has \
             one, else A",
        )
        .on(JACOBIAN),
    Operation::matrix("schur", schur::schur)
        .help("The Schur complement of a bundle adjustment whose W is A, and its back-substitution")
        .on(&[
            ("bundle-adjustment:50x8000x5", &[(9, 3), (6, 3)]),
            ("bundle-adjustment:500x100000x6", &[(9, 3), (6, 3)]),
        ]),
    Operation::matrix("apply", apply::apply).help("A·x").of_vectors(VECTORS).taking(&[SEMIRING, SYMMETRIC, ANY_ORDER]),
    Operation::matrix("apply-transposed", apply::transposed)
        .help("Aᵀ·x")
        .of_vectors(VECTORS)
        .taking(&[SEMIRING, ANY_ORDER]),
    Operation::matrix("apply-gram", apply_gram::apply_gram)
        .help("Jᵀ·(J·x), without JᵀJ, and the same with a weight for each row of J; J as that of gram, in one matrix")
        .on(JACOBIAN)
        .together(20)
        .taking(&[SEMIRING, ANY_ORDER]),
    Operation::matrix("dense", dense::dense)
        .help("A·D for a dense D")
        .on(&[("uniform", &[(1, 1), (3, 3), (6, 6)]), ("arrow", &[(1, 1)])])
        .elements(|_| Some(2_000_000))
        .together(5)
        .taking(&[BY_ROWS, SEMIRING]),
    Operation::graph("paths", graphs::paths)
        .help(
            "Shortest paths from the first vertex of a graph, whose edges' lengths are the magnitudes of A's \
             values, by every schedule",
        )
        .on(&[("planar", &[]), ("power-law:262144x4000000", &[])]),
    Operation::graph("components", graphs::components)
        .help(
            "The connected components of the graph whose edges are A's entries, in both directions, whatever \
             their values",
        )
        .on(&[("planar", &[]), ("power-law:262144x4000000", &[])]),
    Operation::graph("triangles", graphs::triangles)
        .help("The triangles through each vertex of the same graph; loops are left out")
        .on(&[("planar", &[]), ("power-law:65536x1000000", &[])]),
    Operation::graph("patches", graphs::patches)
        .help(
            "Patches by Lloyd relaxation around 64 vertices of a graph, with lengths as those of paths: centres \
             are farthest from borders, then also with balanced sizes; of f64 alone",
        )
        .on(&[("planar:200x200", &[])]),
    Operation::each("norms", vectors::norms).help("The norm of each column of A").of_vectors(VECTORS),
    Operation::each("scale", vectors::scale).help("A·diag(d), in place").of_vectors(VECTORS),
    Operation::each("dot", vectors::dot)
        .help("The dot product of two vectors, as long as A has stored elements")
        .of_vectors(&[("uniform", &[])]),
    Operation::each("axpy", vectors::axpy).help("y = alpha·x + y of two such vectors").of_vectors(&[("uniform", &[])]),
    Operation::each("copy", structure::copy)
        .help("The permutation of A that leaves all in place: a copy")
        .moving(SHUFFLED),
    Operation::each("permute", structure::permute)
        .help("A with its block rows and columns in another order")
        .moving(SHUFFLED),
    Operation::each("transpose", structure::transpose).help("Aᵀ").moving(SHUFFLED),
    Operation::each("add", structure::add).help("A + 0.5·B, where B is A upside down").moving(SHUFFLED),
    Operation::each("permute-lower", structure::permute_lower)
        .help("The lower triangle of A in another order")
        .moving(LOWER),
    Operation::each("scalars", structure::scalars)
        .help("The scalars of A's lower triangle, as a sparse Cholesky factorization wants them")
        .moving(LOWER),
    Operation::each("transpose-pattern", structure::transpose_pattern)
        .help("The pattern of Aᵀ, and where its entries come from")
        .on(&[("power-law", &[])])
        .elements(of_array),
    Operation::new("read", Measure::File(read::read))
        .help("Reading a matrix from a file, by one thread, two, and all")
        .on(&[("uniform:400000x9", &[])]),
];

/// Functions that build an operation from a name and a function that measures it. By default an
/// operation uses families of their default sizes, and its executions are enqueued one by one.
impl Operation {
    const fn new(name: &'static str, measure: Measure) -> Self {
        Self { name, measure, help: "", families: &[], elements: |_| None, together: 1, options: &[] }
    }

    const fn matrix(name: &'static str, measure: fn(&Operands<'_>) -> Result<Outcomes>) -> Self {
        Self::new(name, Measure::Matrix(measure))
    }

    const fn graph(name: &'static str, measure: fn(&Operands<'_>) -> Result<Outcomes>) -> Self {
        Self::new(name, Measure::Graph(measure))
    }

    const fn each(name: &'static str, measure: fn(&Subject<'_>, &AnyMatrix) -> Result<Record>) -> Self {
        Self::new(name, Measure::Each(measure))
    }

    /// An operation on arrays that exceed all caches.
    pub const fn array(name: &'static str, measure: fn(&Subject<'_>, usize) -> Result<Vec<Record>>) -> Self {
        Self::new(name, Measure::Array(measure)).elements(of_array)
    }

    pub const fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    const fn on(self, families: Families) -> Self {
        Self { families, ..self }
    }

    const fn elements(self, elements: fn(&Device) -> Option<usize>) -> Self {
        Self { elements, ..self }
    }

    const fn together(self, together: u32) -> Self {
        Self { together, ..self }
    }

    const fn taking(self, options: &'static [&'static str]) -> Self {
        Self { options, ..self }
    }

    /// An operation on a matrix and vectors.
    const fn of_vectors(self, families: Families) -> Self {
        self.on(families).elements(|_| Some(16_000_000)).together(20)
    }

    /// An operation that moves the elements of a matrix with 64 MiB of f64.
    const fn moving(self, families: Families) -> Self {
        self.on(families).elements(|_| Some(1 << 23)).together(10)
    }

    /// The default inputs, and the shapes of their blocks.
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
    /// Refuses element types that the algebra or the operation does not support.
    fn check(&self) -> Result<()> {
        self.bench.args.semiring.check_type(self.element)?;
        match self.element.is_integer() && !self.operation.options.contains(&SEMIRING) {
            true => Err(self.refused()),
            false => Ok(()),
        }
    }

    /// Refuses all element types except the given ones.
    pub fn check_element(&self, types: &[ElementType]) -> Result<()> {
        if types.contains(&self.element) { Ok(()) } else { Err(self.refused()) }
    }

    /// Returns the error that refuses the element type.
    pub fn refused(&self) -> Error {
        Error::Argument(format!("{} is not for matrices of {}", self.operation.name, self.element))
    }

    pub fn matrix(&self) -> Result<AnyMatrix> {
        self.source.any(self.element, self.shape)
    }

    /// The matrix to multiply, stored by rows if `--by-rows` is given.
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

    /// Measures the operation for an input, or refuses the element type.
    pub fn measure(&self) -> Result<Outcomes> {
        self.check()?;
        match self.operation.measure {
            Measure::Matrix(measure) | Measure::Graph(measure) => measure(self),
            Measure::Each(measure) => self.each(&|on, a| Ok(vec![measure(on, a)?])),
            Measure::Array(_) | Measure::File(_) => Ok(Vec::new()),
        }
    }

    /// Measures an operation on the matrix on every device.
    pub fn each(&self, measure: &dyn Fn(&Subject<'_>, &AnyMatrix) -> Result<Vec<Record>>) -> Result<Outcomes> {
        let a = self.matrix()?;
        Ok(self.everywhere(&|on| measure(on, &a)))
    }
}
