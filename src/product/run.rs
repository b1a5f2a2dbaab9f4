//! Products that run once: A·B by the one-shot pipeline, any other by a plan that is executed once
//! and dropped.
use super::{
    Factor, GramParts, Inputs, Plan, Plannable, Product, Report, Weights, once::Measured, plan::Wanted,
    terms::DeviceWeights,
};
use crate::{
    DeviceMatrix, DevicePattern, Error, Result,
    device::Work,
    groups::{BlockGroups, DeviceGroups},
    matrix::{HostMatrix, MatrixType},
    planned::{Accum, On, Planned},
};

impl<M: HostMatrix> Product<'_, DeviceMatrix<M>> {
    /// Computes C on the device, and returns without waiting for its completion.
    ///
    /// # Errors
    /// [`Error::Dimensions`] if inner sizes differ; [`Error::DeviceMismatch`]; [`Error::Memory`];
    /// [`Error::TooLarge`]; [`Error::Argument`] for incompatible options, an alignment other than
    /// 16, 32 or 64, a tolerance that is negative or not finite, and a mask that differs from C in
    /// its sizes or its order (row-major or not).
    pub fn run(&self) -> Result<DeviceMatrix<M>> {
        Ok(self.computed(&self.work())?.c)
    }

    /// As [`Product::run`]; waits for C, and reports time and memory. The products of a masked
    /// product are those within the mask.
    ///
    /// # Errors
    /// As [`Product::run`].
    pub fn run_with_report(&self) -> Result<(DeviceMatrix<M>, Report)> {
        let work = self.options.reported(self.factors[0].operand.device())?;
        let ran = self.computed(&work)?;
        let report = match (self.plain(), self.mask) {
            (Some((a, b)), None) => self.options.report_of_bands(&work, &ran, a, b)?,
            (Some(_), Some(_)) => self.options.report(&work, &ran, ran.c.nnz() as u64, ran.counts.stages())?,
            (None, _) => self.options.report(&work, &ran, ran.c.nnz() as u64, &[])?,
        };
        Ok((ran.c, report))
    }

    /// Computes C and downloads it; reports time and memory. A·B is downloaded band by band, so
    /// that it need not fit the device.
    ///
    /// # Errors
    /// As [`Product::run`]; [`Error::Memory`] if C does not fit the host.
    pub fn run_to_host(&self) -> Result<(M, Report)> {
        self.check(self.type_of()?)?;
        match (self.plain(), self.mask) {
            (Some((a, b)), None) => self.options.to_host(a, b),
            _ => {
                let (c, report) = self.run_with_report()?;
                Ok((c.download()?, report))
            }
        }
    }

    /// Computes C and hands its columns (rows, if row-major) to `take`, band by band, in order;
    /// reports time and memory. A·B in bands that `take` drops needs room for one of them alone, on
    /// the device and on the host. Any other product, and one with a mask, is one band.
    ///
    /// # Errors
    /// As [`Product::run`]; those of `take`.
    pub fn run_in_bands(&self, mut take: impl FnMut(DeviceMatrix<M>) -> Result<()>) -> Result<Report> {
        self.check(self.type_of()?)?;
        match (self.plain(), self.mask) {
            (Some(operands), None) => self.options.in_bands(operands, &mut take),
            _ => {
                let (c, report) = self.run_with_report()?;
                take(c)?;
                Ok(report)
            }
        }
    }

    fn work(&self) -> Work {
        Work::new(self.factors[0].operand.device(), self.options.memory_limit)
    }

    /// Element and format of C, if the factors agree.
    pub(super) fn type_of(&self) -> Result<MatrixType<M>> {
        let first = self.factors[0].operand.type_of();
        self.factors[1..].iter().try_fold(first, |of, factor| of.times(factor.operand.type_of()))
    }

    /// The factors A and B, if the product is A·B without transposes, weights or parts; it may have
    /// a mask.
    fn plain(&self) -> Option<(&DeviceMatrix<M>, &DeviceMatrix<M>)> {
        let whole = self.weights.is_none() && self.parts.unwrap_or_default() == GramParts::default();
        match self.factors[..] {
            [Factor { operand: a, transposed: false }, Factor { operand: b, transposed: false }] if whole => {
                Some((a, b))
            }
            _ => None,
        }
    }

    fn computed<'w>(&self, work: &'w Work) -> Result<Measured<'w, DeviceMatrix<M>>> {
        let of = self.type_of()?;
        self.check(of)?;
        match (self.plain(), self.mask) {
            (Some((a, b)), None) => return self.options.on_device(work, a, b),
            (Some(operands), Some(mask)) => return self.options.on_mask(work, operands, mask),
            (None, _) => {}
        }
        let factors: Vec<_> = self.factors.iter().map(|factor| factor.operand).collect();
        let held = bytes(factors.iter().copied(), DeviceMatrix::device_bytes)
            + self.weights.iter().map(bytes_of_weights).sum::<u64>()
            + self.mask.map_or(0, DevicePattern::device_bytes);
        let mut ran = by_plan::<M>(work, self.wanted(of)?, Inputs { factors, weights: self.weights }, held)?;
        let mut filter = self.options.drop_filter(work.device(), of.element, ran.c.cbc.shape)?;
        ran.c = DeviceMatrix::of_type(filter.keep(work, ran.c.cbc)?, of);
        ran.dropped = filter.dropped;
        self.options.tell(ran.c.ncols() as u64, ran.c.ncols() as u64);
        Ok(ran)
    }
}

impl<M: HostMatrix> Product<'_, DeviceGroups<M>> {
    /// Computes C on the device, and returns without waiting for its completion.
    ///
    /// # Errors
    /// As [`Product::plan`]; [`Error::Argument`] for incompatible options.
    pub fn run(&self) -> Result<DeviceGroups<M>> {
        Ok(self.computed(&self.work())?.c)
    }

    /// As [`Product::run`]; waits for C, and reports time and memory.
    ///
    /// # Errors
    /// As [`Product::run`].
    pub fn run_with_report(&self) -> Result<(DeviceGroups<M>, Report)> {
        let work = self.options.reported(self.factors[0].operand.device())?;
        let ran = self.computed(&work)?;
        let report = self.options.report(&work, &ran, ran.c.nnz() as u64, &[])?;
        Ok((ran.c, report))
    }

    /// Computes C and downloads it; reports time and memory.
    ///
    /// # Errors
    /// As [`Product::run`].
    pub fn run_to_host(&self) -> Result<(BlockGroups<M>, Report)> {
        let (c, report) = self.run_with_report()?;
        Ok((c.download()?, report))
    }

    fn work(&self) -> Work {
        Work::new(self.factors[0].operand.device(), self.options.memory_limit)
    }

    /// Element and format of C, if the factors agree.
    pub(super) fn type_of(&self) -> Result<MatrixType<M>> {
        let first = self.factors[0].operand.of;
        self.factors[1..].iter().try_fold(first, |of, factor| of.times(factor.operand.of))
    }

    fn computed<'w>(&self, work: &'w Work) -> Result<Measured<'w, DeviceGroups<M>>> {
        if self.options.threshold.is_some() {
            let why = "entries of groups are not dropped: a column's largest may be in another group";
            return Err(Error::Argument(why.into()));
        }
        let factors: Vec<_> = self.factors.iter().map(|factor| factor.operand).collect();
        let held = bytes(factors.iter().copied(), DeviceGroups::device_bytes)
            + self.weights.iter().flat_map(|weights| weights.iter()).map(bytes_of_weights).sum::<u64>()
            + self.mask.iter().flat_map(|mask| mask.cells.iter()).map(|(_, cell)| cell.device_bytes()).sum::<u64>();
        let inputs = Inputs { factors, weights: self.weights };
        let ran = by_plan::<BlockGroups<M>>(work, self.wanted(self.type_of()?)?, inputs, held)?;
        let columns = ran.c.col_groups().iter().map(|group| group.blocks as u64).sum();
        self.options.tell(columns, columns);
        Ok(ran)
    }
}

/// Plans, executes once, and drops the plan. The inputs hold `held` bytes.
fn by_plan<'w, K: Plannable>(
    work: &'w Work,
    wanted: Wanted<'_, K>,
    inputs: Inputs<'_, K::Device>,
    held: u64,
) -> Result<Measured<'w, K::Device>> {
    work.count_operand(held);
    let clock = work.clock();
    let plan = Plan::<K>::new(work, wanted)?;
    let mut c = plan.output_within(work)?;
    plan.enqueue(On(work), inputs, Accum::into(&mut c))?;
    let counts = plan.counts().clone();
    Ok(Measured { c, clock, counts, dropped: 0 })
}

/// Bytes of all factors, each counted once.
fn bytes<'a, X: 'a>(factors: impl Iterator<Item = &'a X> + Clone, of: impl Fn(&X) -> u64) -> u64 {
    let first = |(number, x): &(usize, &X)| !factors.clone().take(*number).any(|before| std::ptr::eq(before, *x));
    factors.clone().enumerate().filter(first).map(|(_, x)| of(x)).sum()
}

fn bytes_of_weights<M: HostMatrix>(weights: &DeviceWeights<'_, M>) -> u64 {
    match weights {
        Weights::Information(information) => information.device_bytes(),
        Weights::Scaled { information, weights } => information.device_bytes() + weights.values.bytes(),
        Weights::BlockRows(weights) | Weights::Rows(weights) => weights.values.bytes(),
    }
}

#[cfg(test)]
mod tests;
