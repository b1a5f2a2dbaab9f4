//! A·D and D·A for sparse A and dense D.
//!
//! Both are one product: D·A is (Aᵀ·Dᵀ)ᵀ, and a transpose of a dense matrix is the same elements in
//! the other layout. Kernels read D by rows; one that is stored by columns is copied first. They
//! write C in either layout.
//!
//! | file | makes |
//! |---|---|
//! | [`plan`], [`options`] | the plan, and its options |
//! | [`packed`] | the plan with A's values in its order |
//! | [`pack`] | those values |
//! | [`once`] | a product in one shot |
//! | [`method`] | the ways to share A out, and the choice |
//! | [`lines`] | each line of A by itself |
//! | [`staged`] | the same for scalars on GPUs |
//! | [`block_tiles`] | rows of blocks on GPUs, for C by columns |
//! | [`gcoo`], [`groups`] | groups of lines, which share the rows of D |
//! | [`stored`] | such groups as a format, from dense and compressed matrices and back |
//! | [`by_rows`] | dense matrices stored by columns, copied by rows |
//! | [`tuning`] | how the columns of D are shared out |
mod block_tiles;
mod by_rows;
mod gcoo;
mod groups;
mod lines;
mod method;
mod once;
mod options;
mod pack;
mod packed;
mod plan;
mod staged;
mod stored;
#[cfg(test)]
mod tests;
mod tuning;

pub use method::DenseMethod;
pub use once::{multiply, multiply_by};
pub use options::DenseOptions;
pub use packed::PackedDense;
pub use plan::ApplyDense;
pub use stored::{DeviceGcoo, GcooArrays};

use crate::{
    BlockShape, Device, DevicePattern, Element, Result, Semiring,
    device::{Buffer, Scratch, Work},
    element::Scaling,
    matrix::{DenseShape, Layout},
    resident::PatternArrays,
    tuning::Numbers,
    vector::{line_sums::Stored, lines::Index},
};
use by_rows::Rewrite;
use groups::GroupSums;
use lines::{Entries, LineSums};
use std::sync::Arc;

/// What is asked of the sums.
#[derive(Debug, Clone, Copy)]
struct Request {
    /// Columns of D, if A is on the left.
    n: usize,
    semiring: Semiring,
    method: DenseMethod,
    /// Whether values are in the order of the sums.
    packed: bool,
    /// Whether values are read through an index.
    through: bool,
    numbers: Numbers,
    /// The layouts of D and C for which kernels are requested; others are when they are first used.
    layouts: [Layout; 2],
}

/// What a product reads, and its factors.
struct Operands<'a, T: Element> {
    a: Stored<'a, T>,
    d: ByRows<'a, T>,
    scaling: Scaling<T::Arithmetic>,
}

/// A matrix D that is stored by rows.
#[derive(Clone, Copy)]
struct ByRows<'a, T: Element> {
    values: &'a Buffer<T>,
    leading: usize,
    rows: usize,
    cols: usize,
}

/// A dense matrix for kernels.
struct Dense<V> {
    values: V,
    leading: usize,
    by_columns: bool,
}

impl<V> Dense<V> {
    /// One column is a matrix by rows of one element.
    fn new(shape: DenseShape, values: V) -> Self {
        match shape.layout {
            Layout::ByColumns if shape.cols == 1 => Self { values, leading: 1, by_columns: false },
            layout => Self { values, leading: shape.leading, by_columns: layout == Layout::ByColumns },
        }
    }
}

/// The sums of an execution.
enum Sums<T: Element> {
    Lines(Box<LineSums<T>>),
    Groups(Box<GroupSums<T>>),
}

/// C = alpha·op(A)·D + beta·C, prepared for a pattern and a number of columns.
pub(crate) struct Spmm<T: Element> {
    index: Index,
    sums: Sums<T>,
    rewrite: Rewrite<T>,
    /// D by rows, if it is stored by columns.
    by_rows: Scratch<T>,
    /// Whether D is expected by columns.
    by_columns: bool,
    choice: method::Choice,
}

impl<T: Element> Spmm<T> {
    /// Prepares the columns of a pattern's arrays, or its rows, for n columns of D, over
    /// plus-times.
    pub fn of_pattern(pattern: &DevicePattern, of_rows: bool, n: usize) -> Result<Self> {
        let device = pattern.device();
        device.require::<T>()?;
        let request = Request {
            n,
            semiring: Semiring::PlusTimes,
            method: DenseMethod::Auto,
            packed: false,
            through: false,
            numbers: device.info().numbers(),
            layouts: [Layout::ByRows; 2],
        };
        Self::new(&pattern.arrays, pattern.array_shape, of_rows, request)
    }

    /// Prepares the columns of `arrays`, or its rows, as the lines of op(A).
    fn new(arrays: &Arc<PatternArrays>, shape: BlockShape, of_rows: bool, mut request: Request) -> Result<Self> {
        let device = &arrays.device;
        let work = Work::new(device, None);
        let index = Index::new(&work, arrays, of_rows)?;
        request.through = of_rows && !request.packed;
        let (choice, groups) = method::choose(&work, &index, shape, &request)?;
        let sums = match groups {
            Some(groups) => Sums::Groups(Box::new(GroupSums::new(&work, &index, groups, &request)?)),
            None => Sums::Lines(Box::new(LineSums::new(&work, &index, shape, &request)?)),
        };
        let depth = if of_rows { shape.cols() } else { shape.rows() };
        let [d, c] = request.layouts.map(|layout| layout == Layout::ByColumns && request.n != 1);
        let rewrite = Rewrite::new(device)?;
        if d {
            rewrite.ask(device);
        }
        match &sums {
            Sums::Lines(lines) => lines.ask(device, c),
            Sums::Groups(groups) => groups.ask(device, c),
        }
        let by_rows = Scratch::new(device, index.pattern().nrows * depth * request.n)?;
        if d {
            by_rows.take(&work)?;
        }
        Ok(Self { by_rows, by_columns: d, rewrite, sums, index, choice })
    }

    /// The number of each entry in A's values in the order of the sums; `None` if it is the same.
    fn source(&self) -> Option<&Buffer<u32>> {
        match (&self.sums, &self.index) {
            (Sums::Groups(groups), _) => Some(groups.source()),
            (_, Index::Columns(_)) => None,
            (_, Index::Rows(transposed) | Index::Mirrored(transposed)) => Some(&transposed.source),
        }
    }

    /// C = alpha·op(A)·D + beta·C. The caller has checked sides and patterns.
    pub fn run(
        &self,
        work: &Work,
        a: Stored<'_, T>,
        (d_shape, d): (DenseShape, &Buffer<T>),
        scaling: Scaling<T::Arithmetic>,
        (c_shape, c): (DenseShape, &mut Buffer<T>),
    ) -> Result<()> {
        let (dense, c) = (Dense::new(d_shape, d), Dense::new(c_shape, c));
        let DenseShape { rows, cols, .. } = d_shape;
        if !dense.by_columns {
            return self.sum(work, a, ByRows { values: dense.values, leading: dense.leading, rows, cols }, scaling, c);
        }
        let mut by_rows = self.by_rows.take(work)?;
        self.rewrite.run(work, dense.values, [rows, cols, dense.leading], &mut by_rows)?;
        self.sum(work, a, ByRows { values: &by_rows, leading: cols, rows, cols }, scaling, c)
    }

    /// As [`Spmm::run`], for D by rows.
    fn sum(
        &self,
        work: &Work,
        a: Stored<'_, T>,
        d: ByRows<'_, T>,
        scaling: Scaling<T::Arithmetic>,
        c: Dense<&mut Buffer<T>>,
    ) -> Result<()> {
        let PatternArrays { col_ptr: line_ptr, row_idx: other, .. } = self.index.pattern();
        match &self.sums {
            Sums::Groups(groups) => groups.run(work, line_ptr, a, d, scaling, c),
            Sums::Lines(lines) => {
                let entries = Entries { line_ptr, other, source: self.index.source() };
                lines.run(work, &entries, &Operands { a, d, scaling }, c)
            }
        }
    }

    /// Bytes of device memory held beside A's pattern.
    fn bytes(&self) -> u64 {
        let index = match &self.index {
            Index::Columns(_) => 0,
            Index::Rows(transposed) | Index::Mirrored(transposed) => {
                transposed.pattern.bytes() + transposed.source.bytes()
            }
        };
        index
            + if self.by_columns { self.by_rows.bytes() } else { 0 }
            + match &self.sums {
                Sums::Lines(lines) => lines.bytes(),
                Sums::Groups(groups) => groups.bytes(),
            }
    }

    pub fn device(&self) -> &Device {
        &self.index.pattern().device
    }
}
