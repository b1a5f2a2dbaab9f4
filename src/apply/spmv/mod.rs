//! A·x of scalars: one [`Format`] for each way to store rows and to share them out.
//!
//! | file | makes |
//! |---|---|
//! | [`format`] | the formats, their names and the order of their sums |
//! | [`csr`] | compressed rows, an item for each row, or for each stretch of rows |
//! | [`csr_vector`] | compressed rows, a team of 32 items for each row |
//! | [`csr_adaptive`] | compressed rows, a group for each stretch of rows |
//! | [`coo`] | entries with their rows, a group for each tile of entries |
//! | [`segmented_scan`] | the same by a segmented scan |
//! | [`listed`] | entries with their rows |
//! | [`scoo`] | slices of rows with sums in local memory |
//! | [`slices`] | rows padded to one length, and the profile of their lengths |
//! | [`ell`] | ELL and sliced ELL |
//! | [`split`] | where rows are cut for HYB |
//! | [`tails`] | rows cut at a width, and the profile of their lengths |
//! | [`hyb`] | padded heads of rows, and their tails |
//! | [`atomics`] | COO and HYB with sums in the order of arrival |
//! | [`symmetric`] | the rows of a symmetric matrix of which a triangle is stored |
//! | [`pack`] | values in the order of a format |
//! | [`choose`] | the choice among formats |
mod atomics;
mod choose;
mod coo;
mod csr;
mod csr_adaptive;
mod csr_vector;
mod ell;
mod format;
mod hyb;
mod listed;
mod pack;
mod scoo;
mod segmented_scan;
mod slices;
mod split;
mod symmetric;
mod tails;

pub use format::Format;
pub use split::Split;

use crate::{
    Device, Element, Result, Semiring,
    device::{Buffer, Options, Work},
    element::Scaling,
    primitives::transpose::{Transpose, Transposed},
    resident::PatternArrays,
    vector::line_sums::Stored,
};
use choose::{Choice, Situation};
use std::sync::Arc;

/// What is asked of a format.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    pub format: Format,
    pub semiring: Semiring,
    pub any_order: bool,
    pub split: Split,
    /// Executions for one pattern, and for one set of values.
    pub uses: u64,
    /// Whether the values are in the format's order.
    pub packed: bool,
    /// Whether A is one triangle of a symmetric matrix.
    pub symmetric: bool,
}

/// The rows of op(A): the columns of `pattern`.
pub(super) struct Rows {
    pub pattern: Arc<PatternArrays>,
    /// The number of each entry in A's values, unless they are in its order.
    pub source: Option<Buffer<u32>>,
    pub packed: bool,
    /// The algebra of the sums.
    pub semiring: Semiring,
}

impl Rows {
    /// The columns of `arrays`, or its rows, which are found by a stable sort.
    fn new(
        work: &Work,
        arrays: &Arc<PatternArrays>,
        rows: bool,
        Request { packed, semiring, .. }: Request,
    ) -> Result<Self> {
        if !rows {
            return Ok(Self { pattern: arrays.clone(), source: None, packed, semiring });
        }
        let Transposed { pattern, source } = Transpose::new(work.device())?.run(work, arrays)?;
        Ok(Self { pattern, source: Some(source), packed, semiring })
    }

    fn device(&self) -> &Device {
        &self.pattern.device
    }

    fn len(&self) -> usize {
        self.pattern.ncols
    }

    /// The index of the values; any other array if there is none, which kernels then do not read.
    fn source(&self) -> &Buffer<u32> {
        self.source.as_ref().unwrap_or(&self.pattern.row_idx)
    }

    /// The options of kernels that read values in the order of the rows, or through `source`.
    fn options<T: Element>(&self, options: Options) -> Options {
        self.options_through::<T>(options, self.source.is_some())
    }

    /// The options of kernels that read values through an index, if there is one and they are not
    /// packed.
    fn options_through<T: Element>(&self, options: Options, index: bool) -> Options {
        let through = u8::from(index && !self.packed);
        options.element_in::<T>(self.semiring).define("THROUGH", through).define("PACKED", u8::from(self.packed))
    }

    /// Bytes held beside A's pattern.
    fn bytes(&self) -> u64 {
        self.source.as_ref().map_or(0, |source| source.bytes() + self.pattern.bytes())
    }
}

/// The sums of one format, prepared for a pattern.
trait Sums<T: Element>: Send + Sync {
    /// y = alpha·A·x + beta·y. The caller has checked lengths and patterns.
    fn run(
        &self,
        work: &Work,
        a: Stored<'_, T>,
        x: &Buffer<T>,
        scaling: Scaling<T::Arithmetic>,
        y: &mut Buffer<T>,
    ) -> Result<()>;
    /// Values in the format's order, padding included.
    fn places(&self) -> usize;
    /// The number of each place in A's values, unless they are in the format's order.
    fn source(&self) -> Option<&Buffer<u32>>;
    /// Bytes of device memory held beside A's pattern.
    fn bytes(&self) -> u64;
}

/// A·x in a format.
pub(super) struct Spmv<T: Element> {
    choice: Choice,
    /// Entries of op(A).
    entries: u64,
    sums: Box<dyn Sums<T>>,
}

impl<T: Element> Spmv<T> {
    /// Converts the columns of `arrays`, or its rows.
    pub fn new(arrays: &Arc<PatternArrays>, of_rows: bool, request: Request) -> Result<Self> {
        let device = &arrays.device;
        device.require::<T>()?;
        let work = Work::new(device, None);
        let rows = match request.symmetric {
            true => symmetric::whole(&work, arrays, request)?,
            false => Rows::new(&work, arrays, of_rows, request)?,
        };
        let entries = rows.pattern.nnz() as u64;
        let kernels = || slices::Kernels::new(device, &rows);
        let mut counted = None;
        let choice = match request.format {
            Format::Auto => {
                let found = kernels()?.count(&work, &rows)?;
                let situation = Situation {
                    profile: found.profile,
                    request,
                    device: device.info().kind,
                    compute_units: device.info().compute_units.into(),
                    element_bytes: size_of::<T>() as u64,
                    in_order: rows.source.is_none(),
                };
                counted = Some(found);
                choose::choose(&situation)
            }
            format => Choice { format, why: format!("{format}, as asked for") },
        };
        let sums: Box<dyn Sums<T>> = match choice.format {
            Format::Auto | Format::Csr => Box::new(csr::Csr::new(&work, rows)?),
            Format::CsrVector => Box::new(csr_vector::CsrVector::new(rows)?),
            Format::CsrAdaptive => Box::new(csr_adaptive::CsrAdaptive::new(rows)?),
            Format::Coo => Box::new(coo::Coo::new(&work, rows)?),
            Format::SegmentedScan => Box::new(segmented_scan::SegmentedScan::new(&work, rows)?),
            Format::Scoo => Box::new(scoo::Scoo::new(rows)?),
            Format::ScooAtomic => Box::new(scoo::ScooAtomic::new(&work, rows)?),
            Format::CooAtomic => Box::new(atomics::Atomics::new(&work, rows, None)?),
            Format::HybAtomic => Box::new(atomics::Atomics::new(&work, rows, Some(request.split))?),
            Format::Hyb => Box::new(hyb::Hyb::new(&work, &rows, request.split)?),
            Format::Ell | Format::SlicedEll => {
                let kernels = kernels()?;
                let counted = counted.map_or_else(|| kernels.count(&work, &rows), Ok)?;
                Box::new(ell::Ell::new(&work, &rows, choice.format, &kernels, counted)?)
            }
        };
        Ok(Self { choice, entries, sums })
    }

    pub fn format(&self) -> Format {
        self.choice.format
    }

    pub fn why(&self) -> &str {
        &self.choice.why
    }

    /// Entries of op(A): of a symmetric matrix those of both triangles.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    pub fn bytes(&self) -> u64 {
        self.sums.bytes()
    }

    /// y = alpha·A·x + beta·y.
    pub fn run(
        &self,
        work: &Work,
        a: Stored<'_, T>,
        x: &Buffer<T>,
        scaling: Scaling<T::Arithmetic>,
        y: &mut Buffer<T>,
    ) -> Result<()> {
        self.sums.run(work, a, x, scaling, y)
    }
}

/// A's values in the order of a format.
pub(super) struct PackedValues<T: Element> {
    pack: pack::Pack<T>,
    values: Buffer<T>,
}

impl<T: Element> PackedValues<T> {
    /// Reserves memory for the values of a format made for packed values.
    pub fn new(device: &Device, spmv: &Spmv<T>) -> Result<Self> {
        let values = Work::new(device, None).buffer(spmv.sums.places())?;
        Ok(Self { pack: pack::Pack::new(device, spmv.sums.source().is_some())?, values })
    }

    /// Copies A's values.
    pub fn update(&mut self, work: &Work, spmv: &Spmv<T>, a: Stored<'_, T>) -> Result<()> {
        self.pack.run(work, spmv.sums.source(), a, &mut self.values)
    }

    pub fn stored(&self) -> Stored<'_, T> {
        Stored { values: &self.values, stride: 1 }
    }

    pub fn bytes(&self) -> u64 {
        self.values.bytes()
    }
}
