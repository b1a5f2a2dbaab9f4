//! [`PlanCore`]: a plan without the type of its matrices.
use super::{
    cell::FactorGrid,
    chain::{Chain, WantedChain},
    kind::{CellArrays, GridArrays, GridMut, GridView},
};
use crate::{
    Device, DevicePattern, Error, Result, Semiring,
    device::Work,
    element::ElementType,
    groups::{Cells, check_cells},
    matrix::{AnyType, aligned_stride},
    planned::{Cost, prepared::check_patterns},
    product::{
        Counts, How, Scaling,
        terms::{ArrayWeights, GramParts, ViewWeights, Weights},
    },
    resident::{DeviceCbc, DeviceView},
};

/// A planned product.
pub(in crate::product) struct PlanCore {
    device: Device,
    /// Element and format of all matrices.
    of: AnyType,
    /// The factors as they are stored.
    factors: Vec<Cells<DevicePattern>>,
    /// Whether both factors are J.
    gram: bool,
    /// Whether the matrices are matrices of groups.
    grouped: bool,
    alignment: Option<usize>,
    semiring: Semiring,
    chain: Chain,
}

/// A product to plan.
pub(in crate::product) struct Wanted {
    pub of: AnyType,
    /// The factors from left to right, at least two. The flag says whether a factor is transposed.
    pub factors: Vec<(Cells<DevicePattern>, bool)>,
    pub gram: bool,
    pub grouped: bool,
    /// The kind of weights for each group of rows.
    pub weights: Option<Vec<Weights<(), ()>>>,
    pub parts: GramParts,
    pub mask: Option<Cells<DevicePattern>>,
    pub alignment: Option<usize>,
    pub how: How,
}

/// The inputs of an execution.
pub(in crate::product) struct Views<'a> {
    pub factors: Vec<GridView<'a>>,
    pub weights: Option<Vec<ViewWeights<'a>>>,
}

/// The inputs of an execution, checked.
pub(in crate::product) struct PreparedInputs<'a> {
    factors: Vec<CellArrays<'a>>,
    weights: Vec<ArrayWeights<'a>>,
    scaling: Scaling,
}

impl PlanCore {
    /// Plans within the memory that `work` may allocate.
    pub fn new(work: &Work, wanted: Wanted) -> Result<Self> {
        let device = work.device().clone();
        let Wanted { of, factors, gram, grouped, weights, parts, mask, alignment, how } = wanted;
        check_patterns(&device, of, factors.iter().flat_map(|(cells, _)| cells.iter()).map(|(_, pattern)| pattern))?;
        let (row_major, element) = (of.kind.is_row_major(), of.element);
        let grid = |(cells, transposed)| FactorGrid { cells, transposed, row_major, element };
        let factor_grids = factors.iter().map(|(cells, transposed)| grid((cells, *transposed))).collect();
        let weights = weights.as_deref();
        let chain = Chain::new(work, WantedChain { factors: factor_grids, weights, parts, mask, how, grouped })?;
        let factors = factors.into_iter().map(|(cells, _)| cells).collect();
        Ok(Self { device, of, factors, gram, grouped, alignment, semiring: how.semiring, chain })
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Element and format of all matrices.
    pub fn of(&self) -> AnyType {
        self.of
    }

    /// The cells of C.
    pub fn c(&self) -> &Cells<DevicePattern> {
        self.chain.c()
    }

    pub fn cost(&self) -> Cost {
        self.chain.cost
    }

    /// The counts of planning.
    pub fn counts(&self) -> &Counts {
        &self.chain.counts
    }

    /// The patterns of the weights for each group of rows of the last factor.
    pub fn weights_patterns(&self) -> Option<&[DevicePattern]> {
        self.chain.weights_patterns()
    }

    /// Zeros on the pattern of C.
    pub fn zeros(&self, work: &Work) -> Result<GridArrays> {
        Ok(GridArrays(self.c().try_map(|cell| zeros(work, self.of.element, cell, self.alignment))?))
    }

    /// Checks that the inputs and the output belong to the plan.
    pub fn prepare<'a>(
        &self,
        inputs: Views<'a>,
        c: &GridView<'_>,
        [alpha, beta]: [f64; 2],
    ) -> Result<PreparedInputs<'a>> {
        let Views { factors, weights } = inputs;
        let count = self.factors.len();
        let factors = match (&factors[..], self.gram) {
            ([j], true) => vec![j.clone(), j.clone()],
            (given, _) if given.len() == count => factors,
            (given, _) => {
                let given = given.len();
                return Err(Error::Argument(format!("the plan is of {count} factors, {given} are given")));
            }
        };
        for (number, (pattern, factor)) in self.factors.iter().zip(&factors).enumerate() {
            let name = match (self.gram, count) {
                (true, _) => "J".into(),
                (_, 2) => ["A", "B"][number].to_owned(),
                _ => format!("factor {}", number + 1),
            };
            self.check(pattern, &name, factor)?;
        }
        self.check(self.c(), "C", c)?;
        self.semiring.check_factors_of(self.of.element, alpha, beta)?;
        Ok(PreparedInputs {
            factors: factors.iter().map(GridView::arrays).collect(),
            weights: self.weights_of(weights)?,
            scaling: Scaling::of(self.of.element, alpha, beta),
        })
    }

    /// Enqueues C = alpha·A·…·Z + beta·C.
    pub fn enqueue(&self, work: &Work, inputs: &PreparedInputs<'_>, c: &mut GridMut<'_>) -> Result<()> {
        self.chain.enqueue(work, &inputs.factors, &inputs.weights, inputs.scaling, &mut c.0)
    }

    /// Computes a new C. The inputs have the patterns of the plan.
    pub fn run(&self, work: &Work, inputs: Views<'_>) -> Result<GridArrays> {
        let mut c = self.zeros(work)?;
        let kind = self.of.kind;
        let view = GridView { of: self.of, cells: c.0.map(|cbc| DeviceView { cbc, kind }) };
        let prepared = self.prepare(inputs, &view, [1.0, 0.0])?;
        self.enqueue(work, &prepared, &mut GridMut(c.0.map_mut(|cbc| cbc)))?;
        Ok(c)
    }

    /// Refuses a matrix that has another pattern or another type. `name` is the name of the matrix
    /// in the message.
    fn check(&self, pattern: &Cells<DevicePattern>, name: &str, matrix: &GridView<'_>) -> Result<()> {
        let cells = &matrix.cells;
        self.of.check(name, matrix.of)?;
        if !self.grouped {
            return match (pattern.get(0, 0), cells.get(0, 0)) {
                (Some(pattern), Some(cell)) => pattern.check(name, cell.cbc),
                _ => Err(Error::Contradiction(format!("{name} is a matrix without a cell"))),
            };
        }
        for ((row, col), m) in cells.iter() {
            self.of.check(&format!("group ({row}, {col}) of {name}"), m.type_of())?;
        }
        check_cells(pattern, name, [&cells.rows, &cells.cols], &|row, col| Some(cells.get(row, col)?.cbc))
    }

    /// The weights of the inputs. Refuses weights if the plan has none, and missing weights if the
    /// plan has some.
    fn weights_of<'a>(&self, weights: Option<Vec<ViewWeights<'a>>>) -> Result<Vec<ArrayWeights<'a>>> {
        match (weights, self.weights_patterns().is_none()) {
            (Some(_), true) => {
                Err(Error::Argument("the plan is of a product without weights: it is given some".into()))
            }
            (None, false) => Err(Error::Argument("the plan is of a product with weights: it is given none".into())),
            (weights, _) => weights.into_iter().flatten().map(|weights| weights.arrays(self.of)).collect(),
        }
    }
}

/// Zeros on a pattern, each block on a multiple of `alignment` bytes.
fn zeros(work: &Work, element: ElementType, pattern: &DevicePattern, alignment: Option<usize>) -> Result<DeviceCbc> {
    let shape = pattern.array_shape;
    let stride = alignment.map_or(Ok(shape.area()), |bytes| aligned_stride(element, shape, bytes))?;
    let mut values = work.buffer_of(element.word(), pattern.nnz() * stride)?;
    work.fill_zero(&mut values)?;
    Ok(DeviceCbc { pattern: pattern.arrays.clone(), shape, stride, values })
}
