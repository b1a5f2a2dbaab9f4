//! One planned product of two grids of cells: C(g, h) is the sum of A(g, k)·B(k, h) over the inner
//! groups k.
use super::{
    cell::{CellPlan, FactorGrid},
    kind::CellArrays,
    longer_run,
    pair::PairPlaces,
};
use crate::{
    DevicePattern, Error, Part, Result, Semiring,
    device::{Scratch, Work},
    element::ElementType,
    groups::{Cells, Group, describe_groups},
    product::{Bin, How, Scaling, terms::GramParts},
    resident::DeviceCbc,
};

/// The entries of a grid C that a product computes, and the method or mask.
#[derive(Clone, Copy)]
pub(super) enum GridPlaces<'a> {
    /// A part of the groups.
    Parts(GramParts, How),
    Mask(&'a Cells<DevicePattern>, Semiring),
}

impl GridPlaces<'_> {
    pub fn whole(how: How) -> Self {
        Self::Parts(GramParts { diagonal: Part::Full, between: Part::Full }, how)
    }

    fn semiring(&self) -> Semiring {
        match self {
            Self::Parts(_, how) => how.semiring,
            Self::Mask(_, semiring) => *semiring,
        }
    }

    /// The entries of the cell at (`row`, `col`), or `None` for a cell that is not computed.
    fn of(&self, row: usize, col: usize) -> Option<PairPlaces<'_>> {
        match self {
            Self::Parts(parts, how) => parts.of(row, col).map(|part| PairPlaces::Part(part, *how)),
            Self::Mask(mask, semiring) => mask.get(row, col).map(|mask| PairPlaces::Mask(mask, *semiring)),
        }
    }

    /// Refuses a part of a C that is not square, and a mask of other groups.
    fn check(&self, rows: &[Group], cols: &[Group]) -> Result<()> {
        let blocks = |groups: &[Group]| groups.iter().map(|group| group.blocks).collect::<Vec<_>>();
        let described = |groups: &[Group]| match groups {
            [one] => one.blocks.to_string(),
            _ => describe_groups(groups),
        };
        match self {
            Self::Parts(parts, _) if *parts != GramParts::default() && blocks(rows) != blocks(cols) => {
                let (rows, cols) = (described(rows), described(cols));
                Err(Error::Argument(format!("only a square product has a diagonal: this one is {rows} by {cols}")))
            }
            Self::Mask(mask, _) if (mask.rows.len(), mask.cols.len()) != (rows.len(), cols.len()) => {
                let ((m_rows, m_cols), rows, cols) =
                    ((described(&mask.rows), described(&mask.cols)), described(rows), described(cols));
                Err(Error::Argument(format!(
                    "the mask has groups of {m_rows} by {m_cols}, the product of {rows} by {cols}"
                )))
            }
            _ => Ok(()),
        }
    }
}

/// op(A)·op(B) of two grids.
pub(super) struct GridProduct {
    pub c: Cells<DevicePattern>,
    pub products: u64,
    pub flops: u64,
    pub longest_run: Option<u32>,
    pub bins: Vec<Bin>,
    pub bytes: u64,
    pub element: ElementType,
    cells: Vec<CellPlan>,
    /// Scratch for the products of one cell before they are added: one after another, without
    /// padding. `None` if no cell adds products.
    parts: Option<Scratch>,
}

impl GridProduct {
    /// Plans A·B. The caller has checked that the inner groups agree.
    pub fn new(work: &Work, a: FactorGrid<'_>, b: FactorGrid<'_>, made: GridPlaces<'_>) -> Result<Self> {
        let (rows, cols) = (a.rows(), b.cols());
        made.check(rows, cols)?;
        let places = || (0..rows.len()).flat_map(|row| (0..cols.len()).map(move |col| (row, col)));
        for (row, col) in places() {
            made.of(row, col).map_or(Ok(()), |places| CellPlan::ask(work, a, b, (row, col), places))?;
        }
        let (mut cells, mut patterns) = (Vec::new(), Vec::new());
        for (row, col) in places() {
            let places = made.of(row, col);
            let cell = places
                .map(|places| CellPlan::new(work, (a, b), (row, col), places, made.semiring()))
                .transpose()?
                .flatten();
            patterns.push(cell.as_ref().map(CellPlan::pattern));
            cells.extend(cell);
        }
        let parts = match cells.iter().map(CellPlan::parts).max() {
            None | Some(0) => None,
            Some(elements) => Some(Scratch::reserve_of(work, a.element.word(), elements)?),
        };
        let pairs = || cells.iter().flat_map(|cell| &cell.terms).map(|term| &term.pair);
        let sums: u64 = cells.iter().filter_map(|cell| cell.sum.as_ref()).map(|sum| sum.bytes()).sum();
        Ok(Self {
            c: Cells::new(rows.to_vec(), cols.to_vec(), patterns, DevicePattern::dimensions)?,
            products: pairs().map(|pair| pair.product.products).sum(),
            flops: pairs().map(|pair| pair.flops).sum(),
            longest_run: pairs().map(|pair| pair.product.longest_run).fold(Some(0), longer_run),
            bins: pairs().flat_map(|pair| pair.product.bins.iter().copied()).collect(),
            bytes: pairs().map(|pair| pair.bytes).sum::<u64>() + sums + parts.as_ref().map_or(0, Scratch::bytes),
            element: a.element,
            cells,
            parts,
        })
    }

    /// Enqueues C = alpha·op(A)·op(B) + beta·C. The caller has checked the arrays.
    pub fn enqueue(
        &self,
        work: &Work,
        scaling: Scaling,
        operands: (&CellArrays<'_>, &CellArrays<'_>),
        c: &mut Cells<&mut DeviceCbc>,
    ) -> Result<()> {
        let mut parts = self.parts.as_ref().map(|parts| parts.take(work)).transpose()?;
        for cell in &self.cells {
            if let Some(c) = c.get_mut(cell.at.0, cell.at.1) {
                cell.enqueue(work, scaling, operands, parts.as_deref_mut(), c)?;
            }
        }
        Ok(())
    }
}
