//! [`AnyProduct`]: a product that runs once. The element type and the format of the product are
//! values, not type parameters. A·B runs in the one-shot pipeline. Any other product is computed by
//! a plan, which is executed once and dropped.
use super::{
    GramParts, How, Report,
    bands::join,
    once::{HeldOperands, Measured, Options, in_column_order},
    plan::{GridArrays, GridView, PlanCore, Views, Wanted, one_cell, only},
    request::Given,
    terms::{ViewWeights, Weights},
};
use crate::{
    Device, DevicePattern, Error, Result,
    device::Work,
    groups::Cells,
    matrix::{AnyMatrix, AnyType},
    resident::{DeviceCbc, DeviceView},
};

/// A product of matrices on a device, whose element type and format are values.
pub(super) struct AnyProduct<'a> {
    /// Element and format of C.
    pub of: AnyType,
    pub factors: Vec<(GridView<'a>, bool)>,
    pub gram: bool,
    pub grouped: bool,
    pub weights: Option<Vec<ViewWeights<'a>>>,
    pub parts: GramParts,
    pub mask: Option<Cells<DevicePattern>>,
    pub given: Given,
    pub options: &'a Options,
    pub device: &'a Device,
}

/// Element type and format of C, which all factors must share.
pub(super) fn type_of(factors: &[(GridView<'_>, bool)]) -> Result<AnyType> {
    factors[1..].iter().try_fold(factors[0].0.of, |of, (factor, _)| of.times(factor.of))
}

impl<'a> AnyProduct<'a> {
    pub fn work(&self) -> Work {
        Work::new(self.device, self.options.memory_limit)
    }

    fn check(&self) -> Result<()> {
        if self.options.band_columns.is_some() && (self.plain().is_none() || self.mask().is_some()) {
            let without = "without transposes, weights, part, mask and groups";
            return Err(Error::Argument(format!("bands of columns are of A·B, {without}")));
        }
        self.options.check(self.of, self.given)
    }

    /// The factors A and B, if the product is A·B of matrices without transposes, weights or parts.
    /// The product may have a mask.
    fn plain(&self) -> Option<(DeviceView<'a>, DeviceView<'a>)> {
        let whole = !self.grouped && self.weights.is_none() && self.parts == GramParts::default();
        match &self.factors[..] {
            [(a, false), (b, false)] if whole => Some((*a.cells.get(0, 0)?, *b.cells.get(0, 0)?)),
            _ => None,
        }
    }

    /// The mask of a product of matrices, if it has one.
    fn mask(&self) -> Option<&DevicePattern> {
        self.mask.as_ref()?.get(0, 0)
    }

    /// Computes a product of matrices.
    pub fn matrix<'w>(&self, work: &'w Work) -> Result<Measured<'w, DeviceCbc>> {
        self.check()?;
        let options = self.options;
        let (a, b) = match (self.plain(), self.mask()) {
            (Some(operands), None) => operands,
            (Some(operands), Some(mask)) => return options.on_mask(work, operands, mask),
            (None, _) => return self.planned(work),
        };
        let ((x, y), how) = (in_column_order(a, b), options.how(a.kind));
        let operands = options.operands(x, y)?;
        let mut filter = options.drop_filter_of(work.device(), &operands)?;
        let held = HeldOperands::count(work, x, y)?;
        let (prepared, clock) = options.prepare(work, &operands, how).map_err(|error| held.explain(error))?;
        let (mut bands, mut columns) = (Vec::new(), 0);
        let multiplied = prepared.multiply(work, &operands, &mut |band| {
            columns += band.ncols as u64;
            bands.push(filter.keep(work, band)?);
            options.tell(columns, y.ncols as u64);
            Ok(())
        });
        let counts = multiplied.map_err(|error| held.explain(error))?;
        let c = join(work, &operands, bands, counts.last_stage()).map_err(|error| held.explain(error))?;
        Ok(Measured { c, clock, counts, dropped: filter.dropped })
    }

    /// Computes a product of matrices by a plan.
    fn planned<'w>(&self, work: &'w Work) -> Result<Measured<'w, DeviceCbc>> {
        let Measured { c, clock, counts, .. } = self.by_plan(work)?;
        let c = only(c.0)?;
        let mut filter = self.options.drop_filter(work.device(), self.of.element, c.shape)?;
        let c = filter.keep(work, c)?;
        let columns = if self.of.kind.is_row_major() { c.nrows } else { c.ncols } as u64;
        self.options.tell(columns, columns);
        Ok(Measured { c, clock, counts, dropped: filter.dropped })
    }

    pub fn matrix_with_report(&self) -> Result<(DeviceCbc, Report)> {
        let work = self.options.reported(self.device)?;
        let ran = self.matrix(&work)?;
        let nnz = ran.c.nnz() as u64;
        let report = match (self.plain(), self.mask()) {
            (Some((a, b)), None) => self.options.report_of_bands(&work, &ran, a, b)?,
            _ => self.options.report(&work, &ran, nnz, ran.counts.stages())?,
        };
        Ok((ran.c, report))
    }

    pub fn to_host(&self) -> Result<(AnyMatrix, Report)> {
        self.check()?;
        match (self.plain(), self.mask()) {
            (Some((a, b)), None) => self.options.to_host(a, b),
            _ => {
                let (c, report) = self.matrix_with_report()?;
                Ok((c.download_any(&Work::new(&c.device, None), self.of.kind)?, report))
            }
        }
    }

    pub fn in_bands(&self, take: &mut dyn FnMut(DeviceCbc) -> Result<()>) -> Result<Report> {
        self.check()?;
        match (self.plain(), self.mask()) {
            (Some((a, b)), None) => self.options.in_bands(a, b, take),
            _ => {
                let (c, report) = self.matrix_with_report()?;
                take(c)?;
                Ok(report)
            }
        }
    }

    /// Computes a product of matrices that are divided into groups.
    pub fn groups<'w>(&self, work: &'w Work) -> Result<Measured<'w, GridArrays>> {
        if self.options.threshold.is_some() {
            let why = "entries of groups are not dropped: a column's largest may be in another group";
            return Err(Error::Argument(why.into()));
        }
        self.check()?;
        let ran = self.by_plan(work)?;
        let columns = ran.c.0.cols.iter().map(|group| group.blocks as u64).sum();
        self.options.tell(columns, columns);
        Ok(ran)
    }

    pub fn groups_with_report(&self) -> Result<(GridArrays, Report)> {
        let work = self.options.reported(self.device)?;
        let ran = self.groups(&work)?;
        let nnz = ran.c.0.iter().map(|(_, cell)| cell.nnz() as u64).sum();
        let report = self.options.report(&work, &ran, nnz, ran.counts.stages())?;
        Ok((ran.c, report))
    }

    /// Makes a plan of the product, executes it once, and drops it.
    fn by_plan<'w>(&self, work: &'w Work) -> Result<Measured<'w, GridArrays>> {
        work.count_operand(self.held());
        if self.options.explained {
            work.in_turn();
        }
        let clock = work.clock();
        let plan = PlanCore::new(work, self.wanted())?;
        let factors = self.factors.iter().map(|(factor, _)| factor.clone()).collect();
        let c = plan.run(work, Views { factors, weights: self.weights.clone() })?;
        Ok(Measured { c, clock, counts: plan.counts().clone(), dropped: 0 })
    }

    fn wanted(&self) -> Wanted {
        let pattern = |(factor, transposed): &(GridView<'_>, bool)| {
            let matrix = factor.cells.get(0, 0).filter(|_| !self.grouped);
            let cells = matrix.map(|cell| one_cell(cell.pattern()));
            (cells.unwrap_or_else(|| factor.cells.map(|cell| cell.pattern())), *transposed)
        };
        Wanted {
            of: self.of,
            factors: self.factors.iter().map(pattern).collect(),
            gram: self.gram,
            grouped: self.grouped,
            weights: self.weights.as_ref().map(|weights| weights.iter().map(Weights::kind).collect()),
            parts: self.parts,
            mask: self.mask.clone(),
            alignment: self.options.alignment,
            how: How { method: self.options.method, semiring: self.options.semiring },
        }
    }

    /// Bytes of the inputs, each counted once.
    fn held(&self) -> u64 {
        let mut factors: Vec<&DeviceCbc> = Vec::new();
        for (_, cell) in self.factors.iter().flat_map(|(factor, _)| factor.cells.iter()) {
            if !factors.iter().any(|before| std::ptr::eq(*before, cell.cbc)) {
                factors.push(cell.cbc);
            }
        }
        let of_weights = |weights: &ViewWeights<'_>| {
            let (information, numbers) = weights.parts();
            information.map_or(0, |w| w.cbc.bytes()) + numbers.map_or(0, |w| w.values.bytes())
        };
        factors.iter().map(|cbc| cbc.bytes()).sum::<u64>()
            + self.weights.iter().flatten().map(of_weights).sum::<u64>()
            + self.mask.iter().flat_map(Cells::iter).map(|(_, mask)| mask.device_bytes()).sum::<u64>()
    }
}
