//! One cell of a product of groups: a plan for each inner group that makes it, and how their products are added.
use super::{Cells, Group, GroupsPattern, sum::GroupSum};
use crate::{DevicePattern, Matrix, Part, Plan, Result, device::Work, resident::PatternArrays};

/// A row and a column of groups.
pub(super) type Place = (usize, usize);

/// A cell of C.
pub(super) struct CellPlan<M: Matrix> {
    pub at: Place,
    pub terms: Vec<Term<M>>,
    /// How to add the products, where there are several.
    pub sum: Option<GroupSum<M::Element>>,
}

/// The product of one inner group.
pub(super) struct Term<M: Matrix> {
    pub a: Place,
    pub b: Place,
    pub plan: Plan<M>,
}

/// An operand to plan for.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub pattern: &'a GroupsPattern,
    pub transposed: bool,
}

impl<'a> Side<'a> {
    pub fn rows(self) -> &'a [Group] {
        let Cells { rows, cols, .. } = &self.pattern.cells;
        if self.transposed { cols } else { rows }
    }

    pub fn cols(self) -> &'a [Group] {
        Self { transposed: !self.transposed, ..self }.rows()
    }

    /// Where cell (`row`, `col`) is stored, if there is one.
    fn find(self, row: usize, col: usize) -> Option<(Place, &'a DevicePattern)> {
        let at = if self.transposed { (col, row) } else { (row, col) };
        Some((at, self.pattern.get(at.0, at.1)?))
    }
}

impl<M: Matrix> CellPlan<M> {
    /// Asks for the kernels of cell `at`, so that those of all cells are made together.
    pub fn ask(a: Side<'_>, b: Side<'_>, at: Place, part: Part) -> Result<()> {
        (0..a.cols().len()).try_for_each(|k| match (a.find(at.0, k), b.find(k, at.1)) {
            (Some((_, x)), Some((_, y))) => Plan::<M>::ask((x, a.transposed), (y, b.transposed), part),
            _ => Ok(()),
        })
    }

    /// Cell `at` of A·B, unless no inner group makes it.
    pub fn new(work: &Work, a: Side<'_>, b: Side<'_>, at: Place, part: Part) -> Result<Option<Self>> {
        let mut terms: Vec<Term<M>> = Vec::new();
        for k in 0..a.cols().len() {
            let (Some((a_at, x)), Some((b_at, y))) = (a.find(at.0, k), b.find(k, at.1)) else { continue };
            let plan = Plan::new((x, a.transposed), (y, b.transposed), part)?;
            terms.push(Term { a: a_at, b: b_at, plan });
        }
        if terms.is_empty() {
            return Ok(None);
        }
        let patterns: Vec<_> = terms.iter().map(|term| term.plan.pattern()).collect();
        PatternArrays::check_nnz(patterns.iter().map(|pattern| pattern.nnz() as u64).sum())?;
        let sum = if patterns.len() > 1 { Some(GroupSum::new(work, &patterns)?) } else { None };
        Ok(Some(Self { at, terms, sum }))
    }

    pub fn pattern(&self) -> DevicePattern {
        let first = self.terms[0].plan.pattern();
        match &self.sum {
            Some(sum) => DevicePattern { arrays: sum.pattern().clone(), ..first.clone() },
            None => first.clone(),
        }
    }

    /// Elements of the products that are to be added.
    pub fn parts(&self) -> usize {
        let elements = |term: &Term<M>| term.plan.pattern().nnz() * term.plan.pattern().shape().area();
        if self.sum.is_some() { self.terms.iter().map(elements).sum() } else { 0 }
    }
}
