//! One cell of a product of grids: it has a plan for each inner group, and a plan of the sum of
//! their products.
use super::{
    kind::CellArrays,
    pair::{Pair, PairPlaces, StoredFactor},
    sum::GroupSum,
};
use crate::{
    BlockShape, DevicePattern, Pattern, Result, Semiring,
    device::{Buffer, Work},
    element::ElementType,
    groups::{Cells, Group},
    product::{Destination, Scaling},
    resident::{DeviceCbc, PatternArrays},
};

/// The row and the column of a cell, counted in groups.
pub(super) type GridPlace = (usize, usize);

/// A cell of C.
pub(super) struct CellPlan {
    pub at: GridPlace,
    /// The products that are added; there is at least one.
    pub terms: Vec<Term>,
    /// The sum of the products, if there are several.
    pub sum: Option<GroupSum>,
}

/// The product of one inner group.
pub(super) struct Term {
    operands: Operands,
    pub pair: Pair,
}

/// The operands of a term.
enum Operands {
    /// Cells as they are stored.
    Cells { a: GridPlace, b: GridPlace },
    /// Matrices without inner columns and rows, for a cell of the mask that has no inner group. A
    /// cell without inner groups holds explicit zeros.
    Nothing { a: DeviceCbc, b: DeviceCbc },
}

/// A factor of a product: its cells, and whether its transpose is multiplied.
#[derive(Clone, Copy)]
pub struct FactorGrid<'a> {
    pub(super) cells: &'a Cells<DevicePattern>,
    pub(super) transposed: bool,
    pub(super) row_major: bool,
    pub(super) element: ElementType,
}

impl<'a> FactorGrid<'a> {
    /// A factor with these cells as they are stored. The element type and the order are those of
    /// this factor.
    pub(super) fn of(self, cells: &Cells<DevicePattern>) -> FactorGrid<'_> {
        FactorGrid { cells, transposed: false, row_major: self.row_major, element: self.element }
    }

    pub(super) fn rows(self) -> &'a [Group] {
        let Cells { rows, cols, .. } = self.cells;
        if self.transposed { cols } else { rows }
    }

    pub(super) fn cols(self) -> &'a [Group] {
        Self { transposed: !self.transposed, ..self }.rows()
    }

    fn stored(self, pattern: &'a DevicePattern) -> StoredFactor<'a> {
        StoredFactor { pattern, transposed: self.transposed, element: self.element }
    }

    /// The place where cell (`row`, `col`) is stored, if there is such a cell.
    fn find(self, row: usize, col: usize) -> Option<(GridPlace, StoredFactor<'a>)> {
        let at = if self.transposed { (col, row) } else { (row, col) };
        Some((at, self.stored(self.cells.get(at.0, at.1)?)))
    }
}

impl CellPlan {
    /// Requests the kernels of cell `at`, so that the kernels of all cells are compiled together.
    pub fn ask(work: &Work, a: FactorGrid<'_>, b: FactorGrid<'_>, at: GridPlace, places: PairPlaces<'_>) -> Result<()> {
        (0..a.cols().len()).try_for_each(|k| match (a.find(at.0, k), b.find(k, at.1)) {
            (Some((_, x)), Some((_, y))) => Pair::ask(work.device(), x, y, places),
            _ => Ok(()),
        })
    }

    /// Plans cell `at` of A·B, or returns `None` if no inner group contributes to the cell. A
    /// masked product has every cell of the mask.
    pub fn new(
        work: &Work,
        (a, b): (FactorGrid<'_>, FactorGrid<'_>),
        at: GridPlace,
        places: PairPlaces<'_>,
        semiring: Semiring,
    ) -> Result<Option<Self>> {
        let mut terms: Vec<Term> = Vec::new();
        for k in 0..a.cols().len() {
            let (Some((a_at, x)), Some((b_at, y))) = (a.find(at.0, k), b.find(k, at.1)) else { continue };
            let operands = Operands::Cells { a: a_at, b: b_at };
            terms.push(Term { operands, pair: Pair::new(work, x, y, places)? });
        }
        match places {
            PairPlaces::Mask(..) if terms.is_empty() => {
                terms.push(Term::nothing(work, (a.rows()[at.0], b.cols()[at.1]), a, places)?);
            }
            _ => {}
        }
        if terms.is_empty() {
            return Ok(None);
        }
        let patterns: Vec<_> = terms.iter().map(|term| &term.pair.c).collect();
        PatternArrays::check_nnz(patterns.iter().map(|pattern| pattern.nnz() as u64).sum())?;
        let sum = if patterns.len() > 1 { Some(GroupSum::new(work, &patterns, a.element, semiring)?) } else { None };
        Ok(Some(Self { at, terms, sum }))
    }

    pub fn pattern(&self) -> DevicePattern {
        let first = &self.terms[0].pair.c;
        match &self.sum {
            Some(sum) => DevicePattern { arrays: sum.pattern().clone(), ..first.clone() },
            None => first.clone(),
        }
    }

    /// Number of elements of the products that are to be added.
    pub fn parts(&self) -> usize {
        let elements = |term: &Term| term.pair.c.nnz() * term.pair.c.shape().area();
        if self.sum.is_some() { self.terms.iter().map(elements).sum() } else { 0 }
    }

    /// Enqueues c = alpha·cell + beta·c. `parts` is memory for the products that are to be added.
    pub fn enqueue(
        &self,
        work: &Work,
        scaling: Scaling,
        (a, b): (&CellArrays<'_>, &CellArrays<'_>),
        parts: Option<&mut Buffer>,
        c: &mut DeviceCbc,
    ) -> Result<()> {
        let (Some(sum), Some(parts)) = (&self.sum, parts) else {
            return self.terms[0].enqueue(work, scaling, (a, b), Destination::from(c));
        };
        let (stride, mut first) = (c.shape.area(), 0);
        for term in &self.terms {
            term.enqueue(work, Scaling::plain(c.element()), (a, b), Destination { values: parts, stride, first })?;
            first += term.pair.c.nnz();
        }
        sum.run(work, parts, scaling, Destination::from(c))
    }
}

impl Term {
    /// The product of matrices without inner columns and rows.
    fn nothing(
        work: &Work,
        (rows, cols): (Group, Group),
        like: FactorGrid<'_>,
        places: PairPlaces<'_>,
    ) -> Result<Self> {
        let FactorGrid { row_major, element, .. } = like;
        let none = Group { blocks: 0, side: 1 };
        let (a, b) = (empty(work, rows, none, row_major)?, empty(work, none, cols, row_major)?);
        let stored = |pattern| StoredFactor { pattern, transposed: false, element };
        let pair = Pair::new(work, stored(&a), stored(&b), places)?;
        let zeros = |pattern: DevicePattern| -> Result<_> {
            let (shape, stride) = (pattern.array_shape, pattern.array_shape.area());
            Ok(DeviceCbc { pattern: pattern.arrays, shape, stride, values: work.buffer_of(element.word(), 0)? })
        };
        Ok(Self { operands: Operands::Nothing { a: zeros(a)?, b: zeros(b)? }, pair })
    }

    fn enqueue(
        &self,
        work: &Work,
        scaling: Scaling,
        (a, b): (&CellArrays<'_>, &CellArrays<'_>),
        room: Destination<'_>,
    ) -> Result<()> {
        let operands = match &self.operands {
            Operands::Cells { a: x, b: y } => a.get(x.0, x.1).copied().zip(b.get(y.0, y.1).copied()),
            Operands::Nothing { a, b } => Some((a, b)),
        };
        operands.map_or(Ok(()), |operands| self.pair.enqueue(work, operands, scaling, room))
    }
}

/// A pattern without entries.
fn empty(work: &Work, rows: Group, cols: Group, row_major: bool) -> Result<DevicePattern> {
    let (rows, cols) = if row_major { (cols, rows) } else { (rows, cols) };
    let host = Pattern::new(rows.blocks, cols.blocks, vec![0; cols.blocks + 1], Vec::new())?;
    let arrays = PatternArrays::upload(work, &host)?;
    Ok(DevicePattern { arrays, array_shape: BlockShape::new(rows.side, cols.side)?, row_major })
}
