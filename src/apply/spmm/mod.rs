//! A·D and D·A for sparse A and dense D.
//!
//! A·D and D·A are one operation: D·A is (Aᵀ·Dᵀ)ᵀ, and the transpose of a dense matrix is the same
//! array in the other layout. Kernels read D by rows, so a D stored by columns is copied first.
//! Kernels write C in either layout.
//!
//! | file | makes |
//! |---|---|
//! | [`plan`], [`options`] | the plan, and its options |
//! | [`prepared`] | the plan without element types |
//! | [`packed`] | the plan together with A's values in the order of the sums |
//! | [`pack`] | A's values in the order of the sums |
//! | [`operands`] | what kernels read and write |
//! | [`once`], [`product`] | a product in one shot, and its options |
//! | [`run`] | a product in one shot without element types |
//! | [`bands`] | a product in one shot with D on the host, some columns at a time |
//! | [`sides`] | rows and columns of a product's matrices, and the checks of an execution |
//! | [`method`] | the methods, and the choice among them |
//! | [`lines`] | each line of A by itself |
//! | [`staged`] | each line of scalars by itself, on GPUs |
//! | [`block_tiles`] | rows of blocks on GPUs, for C by columns |
//! | [`gcoo`], [`groups`] | groups of lines, which share the rows of D |
//! | [`stored`] | matrices stored in groups: conversions, and products |
//! | [`by_rows`] | dense matrices copied from columns to rows |
//! | [`tuning`] | how the columns of D are shared out |
mod bands;
mod block_tiles;
mod by_rows;
mod gcoo;
mod groups;
mod lines;
mod method;
mod numbers;
mod once;
mod operands;
mod options;
mod pack;
mod packed;
mod plan;
mod prepared;
mod product;
mod run;
mod sides;
mod staged;
mod stored;
#[cfg(test)]
mod tests;
mod tuning;

pub use method::DenseMethod;
pub(crate) use numbers::DenseNumbers;
pub use once::{multiply, multiply_by};
pub use options::DenseOptions;
pub use packed::PackedDense;
pub use plan::ApplyDense;
pub use product::{DenseProduct, DenseReport, Source};
pub use stored::{ApplyGcoo, DeviceGcoo, GcooOptions};

use crate::{
    BlockShape, Device, DevicePattern, Result, Semiring,
    device::{Buffer, Work},
    element::{ElementType, Scaling},
    matrix::Layout,
    resident::{DenseBuffer, DenseBufferMut, PatternArrays},
    vector::{line_sums::Stored, lines::Index},
};
use by_rows::RowsOfD;
use gcoo::Gcoo;
use groups::{GroupSums, GroupsOf};
use lines::LineSums;
use operands::{ByRows, Dense, Entries, Execution, Operands};
use std::sync::Arc;

/// The request for a product: its size, its algebra and its options.
#[derive(Debug, Clone, Copy)]
struct Request {
    element: ElementType,
    /// Columns of D in the product with A on the left.
    n: usize,
    semiring: Semiring,
    method: DenseMethod,
    /// Whether the reason for the method says how often groups would use a row of D.
    explained: bool,
    /// Whether the values are in the order of the sums.
    packed: bool,
    /// Whether the values are read through an index.
    through: bool,
    /// Whether a line is a row of the column-major blocks (else a column).
    across: bool,
    numbers: DenseNumbers,
    /// The layouts of D and C whose kernels are compiled in advance. Kernels for other layouts are
    /// compiled when they are first used.
    layouts: [Layout; 2],
}

impl Request {
    /// A request for `n` columns in plus-times arithmetic, with D and C by rows.
    fn new(device: &Device, element: ElementType, n: usize) -> Self {
        Self {
            element,
            n,
            semiring: Semiring::PlusTimes,
            method: DenseMethod::Auto,
            explained: false,
            packed: false,
            through: false,
            across: false,
            numbers: device.info().numbers(),
            layouts: [Layout::ByRows; 2],
        }
    }

    /// The sides of a block: the number of its scalar lines, and the number of elements of each.
    fn sides(&self, shape: BlockShape) -> (usize, usize) {
        if self.across { (shape.rows(), shape.cols()) } else { (shape.cols(), shape.rows()) }
    }

    /// Whether D and C are expected by columns. A single column counts as a matrix by rows.
    fn by_columns(&self) -> [bool; 2] {
        self.layouts.map(|layout| layout == Layout::ByColumns && self.n != 1)
    }
}

/// The prepared sums of an execution.
enum Sums {
    Lines(Box<LineSums>),
    Groups(Box<(Gcoo, GroupSums)>),
}

/// C = alpha·op(A)·D + beta·C, prepared for a pattern and a number of columns.
pub(crate) struct Spmm {
    index: Index,
    sums: Sums,
    d: RowsOfD,
    choice: method::MethodChoice,
}

impl Spmm {
    /// Prepares the product for `n` columns of D in plus-times arithmetic. The lines are the rows
    /// of the pattern's arrays if `of_rows` is set, otherwise their columns.
    pub fn of_pattern(pattern: &DevicePattern, element: ElementType, of_rows: bool, n: usize) -> Result<Self> {
        let device = pattern.device();
        device.require(element)?;
        let (work, request) = (Work::new(device, None), Request::new(device, element, n));
        Self::new(&work, &pattern.arrays, pattern.array_shape, of_rows, request)
    }

    /// Prepares the product. The lines of op(A) are the rows of `arrays` if `of_rows` is set,
    /// otherwise their columns.
    fn new(
        work: &Work,
        arrays: &Arc<PatternArrays>,
        shape: BlockShape,
        of_rows: bool,
        request: Request,
    ) -> Result<Self> {
        let through = of_rows && !request.packed;
        Self::of_index(work, Index::new(work, arrays, of_rows)?, shape, Request { through, across: of_rows, ..request })
    }

    /// Prepares the lines of an index. `shape` is the shape of the column-major blocks.
    fn of_index(work: &Work, index: Index, shape: BlockShape, request: Request) -> Result<Self> {
        let (choice, groups) = method::choose(work, &index, shape, &request)?;
        let [d, c] = request.by_columns();
        let sums = match groups {
            Some(mut groups) => {
                let of = GroupsOf {
                    lines: index.pattern().ncols,
                    group_lines: groups.group_lines,
                    longest: tuning::longest(&request.numbers, index.pattern()),
                    long: groups.take_long(work)?,
                };
                let request = Request { through: !request.packed, ..request };
                let sums = GroupSums::new(work, of, shape, &request)?;
                sums.ask(work.device(), c)?;
                Sums::Groups(Box::new((groups, sums)))
            }
            None => {
                let sums = LineSums::new(work, &index, shape, &request)?;
                sums.ask(work.device(), c)?;
                Sums::Lines(Box::new(sums))
            }
        };
        let depth = request.sides(shape).1;
        let d = RowsOfD::new(work, request.element, d, index.pattern().nrows * depth * request.n)?;
        Ok(Self { index, sums, d, choice })
    }

    /// The index in A's values of each entry, in the order of the sums, or `None` if the order is
    /// A's.
    fn source(&self) -> Option<&Buffer<u32>> {
        match (&self.sums, &self.index) {
            (Sums::Groups(groups), _) => Some(&groups.0.source),
            (_, Index::Columns(_)) => None,
            (_, Index::Rows(transposed) | Index::Mirrored(transposed)) => Some(&transposed.source),
        }
    }

    /// C = alpha·op(A)·D + beta·C. The caller has checked sides and patterns.
    pub fn run(
        &self,
        work: &Work,
        a: Stored<'_>,
        d: DenseBuffer<'_>,
        scaling: Scaling,
        c: DenseBufferMut<'_>,
    ) -> Result<()> {
        let PatternArrays { col_ptr: line_ptr, row_idx: other, .. } = self.index.pattern();
        self.d.with(work, d, |d| {
            let (operands, c) = (Operands { a, d, scaling }, Dense::new(c.shape, c.values));
            match &self.sums {
                Sums::Groups(groups) => groups.1.run(work, groups.0.arrays(line_ptr), operands, c),
                Sums::Lines(lines) => {
                    let entries = Entries { line_ptr, other, source: self.index.source() };
                    lines.run(work, Execution { entries, operands, c })
                }
            }
        })
    }

    /// Bytes of device memory held in addition to A's pattern.
    fn bytes(&self) -> u64 {
        let index = match &self.index {
            Index::Columns(_) => 0,
            Index::Rows(transposed) | Index::Mirrored(transposed) => {
                transposed.pattern.bytes() + transposed.source.bytes()
            }
        };
        let sums = match &self.sums {
            Sums::Lines(lines) => lines.bytes(),
            Sums::Groups(groups) => groups.0.bytes() + groups.1.bytes(),
        };
        index + self.d.bytes() + sums
    }

    pub fn device(&self) -> &Device {
        &self.index.pattern().device
    }
}
