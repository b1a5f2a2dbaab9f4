//! A·x. Each [`Format`] is a way to store rows of scalars or of blocks and to divide them among
//! work-items.
//!
//! | file | makes |
//! |---|---|
//! | [`format`] | the formats, their names and the order of their sums |
//! | [`rows`] | the rows of op(A), and their blocks |
//! | [`csr`] | compressed rows, an item for each row, or for each stretch of rows |
//! | [`csr_long`] | compressed rows on GPUs, with long rows in pieces |
//! | [`csr_vector`] | compressed rows, a team of 32 items for each row |
//! | [`csr_adaptive`] | compressed rows, a group for each stretch of rows |
//! | [`csr_adaptive_atomic`] | compressed rows, a group for each few short rows, as published |
//! | [`csr_shared`] | compressed rows, a group for each stretch; items share long rows |
//! | [`csc`] | compressed columns, an item for each share of the rows |
//! | [`coo`] | entries with their rows, a group for each tile of entries |
//! | [`segmented_scan`] | entries with their rows, added by a segmented scan |
//! | [`terms`] | the arrays from which kernels compute terms |
//! | [`listed`] | lists of entries with their rows |
//! | [`scoo`] | slices of rows with sums in local memory |
//! | [`slices`] | rows padded to one length |
//! | [`profile`] | the profile of the rows' lengths, and the bound on padding |
//! | [`diagonals`] | slices whose rows have their entries on few diagonals |
//! | [`ell`] | ELL and sliced ELL |
//! | [`slice_vectors`] | sliced ELL on CPUs, the rows of a slice in a vector |
//! | [`split`] | rules for the width at which HYB cuts rows |
//! | [`tails`] | rows cut at a width, and the profile of their lengths |
//! | [`hyb`] | padded heads of rows, and their tails |
//! | [`arrival`] | sums in the order of arrival |
//! | [`atomics`] | COO and HYB with sums in the order of arrival |
//! | [`symmetric`] | the rows of a symmetric matrix of which a triangle is stored |
//! | [`pack`] | values in the order of a format |
//! | [`repeated`] | products that an algorithm repeats with one matrix |
//! | [`choose`] | the choice among formats |
mod arrival;
mod atomics;
mod choose;
mod coo;
mod csc;
mod csr;
mod csr_adaptive;
mod csr_adaptive_atomic;
mod csr_long;
mod csr_shared;
mod csr_vector;
mod diagonals;
mod ell;
mod format;
mod hyb;
mod listed;
mod numbers;
mod pack;
mod profile;
mod repeated;
mod rows;
mod scoo;
mod segmented_scan;
mod slice_vectors;
mod slices;
mod split;
mod symmetric;
mod tails;
mod terms;
#[cfg(test)]
mod tests;

pub use format::Format;
pub(crate) use numbers::RowNumbers;
pub(crate) use repeated::Repeated;
pub(super) use rows::Elements;
pub use split::Split;

use crate::{
    BlockShape, Device, DevicePattern, Error, Result, Semiring,
    device::{Buffer, Work},
    element::{ElementType, Scaling},
    resident::PatternArrays,
    vector::{
        ScaledInto,
        line_sums::{Stored, Summed, Terms},
        lines::LineTuning,
    },
};
use choose::{FormatChoice, Situation};
use pack::{Layout, PackedOrder};
use profile::Profile;
use rows::{Block, Rows};
use slices::CountedSlices;
use std::sync::Arc;

/// Approximate number of products that a solver computes with one pattern. Each iteration of a
/// solver takes many steps of conjugate gradients.
const OFTEN: u64 = 1000;

/// The request for a product: its elements, format and options.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    pub elements: Elements,
    pub format: Format,
    pub semiring: Semiring,
    pub any_order: bool,
    pub split: Split,
    /// Number of executions for one pattern and one set of values.
    pub uses: u64,
    /// Whether the values are in the order of the format.
    pub packed: bool,
    /// Whether A is one triangle of a symmetric matrix.
    pub symmetric: bool,
}

impl Request {
    /// Products over plus-times in the format that [`Format::Auto`] chooses for `uses` executions.
    /// The values of A are read in place.
    pub fn auto(elements: Elements, uses: u64) -> Self {
        Self {
            elements,
            format: Format::Auto,
            semiring: Semiring::PlusTimes,
            any_order: false,
            split: Split::Bytes,
            uses,
            packed: false,
            symmetric: false,
        }
    }
}

/// The sums of one format, prepared for a pattern.
trait Sums: Send + Sync {
    /// y = alpha·A·x + beta·y. The caller has checked lengths and patterns.
    fn run(&self, work: &Work, a: Stored<'_>, x: &Buffer, y: ScaledInto<'_>) -> Result<()>;
    /// The order of packed values.
    fn order(&self) -> PackedOrder<'_>;
    /// Bytes of device memory held in addition to A's pattern.
    fn bytes(&self) -> u64;
}

/// A·x in a format.
pub(crate) struct Spmv {
    choice: FormatChoice,
    elements: Elements,
    /// Entries of op(A).
    entries: u64,
    block: Block,
    sums: Box<dyn Sums>,
}

impl Spmv {
    /// Prepares A·x with the rows of `a` if `rows` is set, otherwise with its columns, for the
    /// number of executions that a solver needs. The values of A are read in place.
    /// [`Format::Auto`] chooses the format. The vectors have the matrix's element type.
    pub fn often(a: &DevicePattern, element: ElementType, rows: bool) -> Result<Self> {
        Self::new(&a.arrays, a.array_shape, rows, Request::auto(Elements::both(element), OFTEN))
    }

    /// Prepares op(A)·x. The rows of op(A) are the rows of `arrays` if `of_rows` is set, otherwise
    /// their columns. `shape` is the shape of the blocks.
    pub(super) fn new(arrays: &Arc<PatternArrays>, shape: BlockShape, of_rows: bool, request: Request) -> Result<Self> {
        let device = &arrays.device;
        let elements = request.elements;
        device.require(elements.matrix)?;
        device.require(elements.vector)?;
        if shape != BlockShape::SCALAR && !request.format.has_blocks() {
            let shape = if of_rows { shape } else { shape.transpose() };
            let format = request.format;
            return Err(Error::Argument(format!("{format} is a format of scalars: op(A) has blocks of {shape}")));
        }
        let work = &Work::new(device, None);
        let block = Block::new(shape, of_rows);
        // The choice may be possible from the numbers of rows and columns of op(A) alone.
        let (lines, others) = (arrays.ncols as u64, arrays.nrows as u64);
        let [rows, columns] = if of_rows { [others, lines] } else { [lines, others] };
        let terms = Terms::Products(request.semiring);
        let summed =
            Summed { types: [elements.matrix, elements.vector], shape: block.by_columns()?, packed: true, terms };
        let situation = Situation {
            profile: Profile {
                rows,
                entries: arrays.nnz() as u64,
                longest: 0,
                sliced_places: 0,
                on_diagonals: 0,
                near: false,
            },
            columns,
            longest: arrays.lengths.map(|of| of.longest.into()).filter(|_| !of_rows && !request.symmetric),
            request,
            device: device.info().kind,
            compute_units: device.info().compute_units.into(),
            slice_sums: slices::slice_sums(device.info()),
            element_bytes: elements.matrix.bytes() as u64,
            vector_bytes: elements.vector.bytes() as u64,
            block,
            tile: LineTuning::new(device.info(), block.by_columns()?).tile as u64,
            of_item: summed.longest_of_item(device.info()).map(|most| most as u64),
            in_order: !of_rows && !request.symmetric,
            by_columns: of_rows && !request.symmetric,
        };
        let mut choice = match request.format {
            Format::Auto if request.symmetric => None,
            Format::Auto => choose::foregone(&situation),
            format => Some(FormatChoice::new(format, move || format!("{format}, as asked for"))),
        };
        let by_columns = choice.as_ref().is_some_and(|choice| choice.format == Format::Csc);
        if choice.as_ref().is_some_and(|choice| choice.format == Format::Csr) {
            csr::ask(device)?;
        }
        let rows = match request.symmetric {
            // A symmetric matrix of scalars has the same entries in its columns as in its rows.
            true => symmetric::whole(work, arrays, shape, of_rows, request)?,
            false => match Rows::new(work, arrays, block, of_rows != by_columns, request) {
                Err(Error::Memory { .. })
                    if request.format == Format::Auto
                        && !by_columns
                        && let Some(instead) = choose::without_rows(&situation) =>
                {
                    choice = Some(instead);
                    Rows::new(work, arrays, block, false, request)?
                }
                rows => rows?,
            },
        };
        let (choice, counted) = match choice {
            Some(choice) => (choice, None),
            None => Self::chosen(work, &rows, situation)?,
        };
        let (entries, block) = (rows.pattern.nnz() as u64, rows.block);
        let sums = Self::converted(work, rows, request, choice.format, counted)?;
        Ok(Self { choice, elements, entries, block, sums })
    }

    /// Chooses a format for rows. Also returns the places of the rows if the choice had to count
    /// them.
    fn chosen(work: &Work, rows: &Rows, situation: Situation) -> Result<(FormatChoice, Option<CountedSlices>)> {
        let profile = Profile { entries: rows.pattern.nnz() as u64, ..situation.profile };
        let situation = Situation { profile, longest: rows.longest, block: rows.block, by_columns: false, ..situation };
        if let Some(choice) = choose::foregone(&situation) {
            return Ok((choice, None));
        }
        let counted = slices::SliceKernels::new(work.device(), rows, slice_vectors::suits(rows))?.count(work, rows)?;
        let profile = counted.profile;
        Ok((choose::choose(&Situation { profile, ..situation }), Some(counted)))
    }

    /// Prepares the sums of a format from the rows of op(A), or from its columns for
    /// [`Format::Csc`].
    fn converted(
        work: &Work,
        rows: Rows,
        request: Request,
        format: Format,
        counted: Option<CountedSlices>,
    ) -> Result<Box<dyn Sums>> {
        Ok(match format {
            Format::Auto | Format::Csr => Box::new(csr::Csr::new(work, rows)?),
            Format::CsrScalar => Box::new(csr::Csr::scalar(work, rows)?),
            Format::CsrVector => Box::new(csr_vector::CsrVector::new(rows)?),
            Format::CsrAdaptive => Box::new(csr_adaptive::CsrAdaptive::new(rows)?),
            Format::CsrShared => Box::new(csr_shared::CsrShared::new(work, rows)?),
            Format::Csc => Box::new(csc::Csc::new(work, rows)?),
            Format::Coo => Box::new(coo::Coo::new(work, rows)?),
            Format::SegmentedScan => Box::new(segmented_scan::SegmentedScan::new(work, rows)?),
            Format::Scoo => Box::new(scoo::Scoo::new(rows)?),
            Format::ScooAtomic => Box::new(scoo::ScooAtomic::new(work, rows)?),
            Format::CooAtomic => Box::new(atomics::Atomics::new(work, rows, None)?),
            Format::HybAtomic => Box::new(atomics::Atomics::new(work, rows, Some(request.split))?),
            Format::Hyb => Box::new(hyb::Hyb::new(work, &rows, request.split)?),
            Format::CsrAdaptiveAtomic => Box::new(csr_adaptive_atomic::CsrAdaptiveAtomic::new(work, rows)?),
            Format::Ell | Format::SlicedEll => {
                let in_vectors = format == Format::SlicedEll && slice_vectors::suits(&rows);
                let kernels = slices::SliceKernels::new(work.device(), &rows, in_vectors)?;
                let counted = counted.map_or_else(|| kernels.count(work, &rows), Ok)?;
                Box::new(ell::Ell::new(work, &rows, format, &kernels, counted)?)
            }
        })
    }

    /// The element type of the vectors.
    pub fn vector(&self) -> ElementType {
        self.elements.vector
    }

    pub fn format(&self) -> Format {
        self.choice.format
    }

    pub fn why(&self) -> &str {
        &self.choice.why
    }

    /// Multiplications of an execution. For a symmetric matrix both triangles count.
    pub fn terms(&self) -> u64 {
        self.entries * self.block.area() as u64
    }

    pub fn bytes(&self) -> u64 {
        self.sums.bytes()
    }

    /// y = alpha·A·x + beta·y.
    pub fn run(&self, work: &Work, a: Stored<'_>, x: &Buffer, scaling: Scaling, y: &mut Buffer) -> Result<()> {
        self.sums.run(work, a, x, ScaledInto { values: y, scaling })
    }
}

/// A's values in the order of a format.
pub(crate) struct PackedValues {
    pack: pack::ValuePack,
    values: Buffer,
    /// Number of elements of a block.
    area: u32,
}

impl PackedValues {
    /// Reserves memory for the values in the order of a format.
    pub fn new(device: &Device, spmv: &Spmv) -> Result<Self> {
        let Spmv { elements: Elements { matrix, .. }, block, sums, .. } = spmv;
        let order = sums.order();
        let values = Work::new(device, None).buffer_of(matrix.word(), order.places * block.area())?;
        let pack = pack::ValuePack::new(device, *matrix, order.source.is_some(), *block, order.layout)?;
        Ok(Self { pack, values, area: block.area() as u32 })
    }

    /// Copies A's values.
    pub fn update(&mut self, work: &Work, spmv: &Spmv, a: Stored<'_>) -> Result<()> {
        self.pack.run(work, spmv.sums.order().source, a, &mut self.values)
    }

    pub fn stored(&self) -> Stored<'_> {
        Stored { values: &self.values, stride: self.area }
    }

    pub fn bytes(&self) -> u64 {
        self.values.bytes()
    }
}
