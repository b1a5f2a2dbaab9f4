//! The runs of products that are operand pairs (of blocks, and of plans), if all columns of C and
//! all runs are short. Each column is sorted in registers twice: once to count its runs and once to
//! place its products. The host reads once, between the two sorts. Kernels:
//! `cl/product/sort/count_runs.cl`, `cl/product/sort/place_runs.cl`.
use super::{columns::ColumnGroups, most_within};
use crate::{
    DeviceInfo, Result,
    device::{Buffer, Device, In, Kernel, Out, Payload, Teams, Work, at_most, kernel},
    element::WordType,
    primitives::scan::Scan,
    product::{
        bands::Limits,
        choose::{GROUPS, Prices},
        terms::{
            CPattern, Class, Factors, FoundColumns, FoundRuns, InOperands, Known, Method, Part, PayloadKind, Spec,
            sorted_class,
        },
        tuning::{Tuning, teams_for},
    },
    resident::InPattern,
    tuning::MethodCosts,
};

kernel! {
    struct CountRuns = "count_runs" in "ptx.cl", "team.cl", "product/sort/keys.cl", "product/sort/far_rows.cl", "product/sort/products.cl", "product/sort/count_runs.cl" {
        a: InPattern,
        b: InPattern,
        counts: Out<u64>,
        columns: u32,
    }
}

kernel! {
    struct PlaceRuns = "place_runs" in "ptx.cl", "team.cl", "product/terms/payload.cl", "product/sort/keys.cl", "product/sort/far_rows.cl", "product/sort/products.cl", "product/sort/place_runs.cl" {
        factors: InOperands<'static>,
        before: In<u64>,
        c_col_ptr: Out<u32>,
        c_row_idx: Out<u32>,
        run_end: Out<u32>,
        payload: Out<Payload>,
        columns: u32,
    }
}

/// The kernels that sort the columns of C by row. Each class of columns has a kernel that counts
/// runs and a kernel that places them.
pub(in crate::product) struct SortedRuns {
    count: Vec<Kernel<CountRuns<'static>>>,
    place: Vec<Kernel<PlaceRuns<'static>>>,
    scan: Scan<u64>,
    payload: WordType,
    columns: ColumnGroups,
    pub rule: ShortRule,
}

/// The rule by which all columns of a product of blocks are sorted in registers.
#[derive(Clone, Copy)]
pub(in crate::product) struct ShortRule {
    teams: Teams,
    /// Most products of a column.
    most: u32,
    /// The prices that decide whether long columns are left to ESC, or `None` if all columns are to
    /// be sorted.
    prices: Option<Prices>,
    /// Most products of a run. Longer runs would be summed in pieces.
    longest: u32,
}

/// Bytes of local memory for each product: the entry of B, a payload of two words, and the row.
const OF_PRODUCT: usize = 16;

/// A product whose columns all belong to one class. The host knows upper bounds of its sizes.
#[derive(Clone, Copy)]
pub(in crate::product) struct ShortColumns {
    class: usize,
    /// Upper bound of the products of a run.
    longest: u32,
    /// Upper bound of the number of products of all columns.
    products: u64,
}

/// The number of products, and the columns of C if there are products.
type Sorted = (u64, Option<FoundColumns>);

impl ShortRule {
    /// Makes the rule, or returns `None` if the product or the requested method leaves all columns
    /// to ESC.
    pub fn new(info: &DeviceInfo, spec: &Spec, tuning: &Tuning, wanted: Method, costs: MethodCosts) -> Option<Self> {
        let whole = tuning.payload == PayloadKind::Pairs && spec.part == Part::Full;
        let wanted = Some(wanted).filter(|method| whole && matches!(method, Method::Auto | Method::Sort))?;
        let teams = teams_for(info, wanted)?;
        let most = most_within(info, OF_PRODUCT);
        let prices = (wanted == Method::Auto).then(|| Prices::new(&info.numbers(), info.numbers(), costs, most));
        Some(Self { teams, most, prices, longest: tuning.long_run() as u32 })
    }

    /// The class that sorts all columns, or `None` if columns are too long for all classes, if
    /// another method is predicted to be faster, or if the runs cannot be counted within `limits`.
    /// The longest columns of A and of B have `of_a` and `of_b` entries.
    pub fn short_columns(&self, [of_a, of_b]: [u32; 2], known: &Known, limits: &Limits<'_>) -> Option<ShortColumns> {
        let (longest, products) = (u64::from(of_a) * u64::from(of_b), u64::from(of_a) * known.b_entries);
        let class = sorted_class(longest, self.most).filter(|_| of_b <= self.longest)?;
        let fast = self
            .prices
            .is_none_or(|prices| longest <= prices.sorted || prices.sorts_blocks(Class::SORTED[class], known));
        let counted = products < Limits::MAX_PRODUCTS && limits.fits_sorted(known.columns, 0, 0);
        (fast && counted).then_some(ShortColumns { class, longest: of_b, products })
    }
}

impl SortedRuns {
    /// `None` if the product or the requested method leaves all columns to ESC.
    pub fn new(
        device: &Device,
        spec: &Spec,
        tuning: &Tuning,
        wanted: Method,
        costs: MethodCosts,
    ) -> Result<Option<Self>> {
        let Some(rule) = ShortRule::new(device.info(), spec, tuning, wanted, costs) else { return Ok(None) };
        let info = device.info();
        let groups = GROUPS * info.compute_units as usize;
        let columns = ColumnGroups { teams: rule.teams, row_bits: spec.row_bits, groups };
        Ok(Some(Self {
            count: columns.kernels(device, |most| columns.counting(most))?,
            place: columns.kernels(device, |most| tuning.payload.define(columns.options(most), spec))?,
            scan: Scan::new(device, tuning.scan)?,
            columns,
            rule,
            payload: tuning.payload.word(spec.element),
        }))
    }

    /// The class of all columns, if the host knows one.
    pub fn short_columns(&self, factors: &Factors<'_>, limits: &Limits<'_>) -> Option<ShortColumns> {
        let (a, b) = (factors.a, factors.b);
        let known = Known::of_arrays(a, b);
        self.rule.short_columns([a.lengths?.longest, b.lengths?.longest], &known, limits)
    }

    /// Finds the columns of C. Returns `None` if the columns do not fit within `limits`.
    pub fn run(
        &self,
        work: &Work,
        factors: Factors<'_>,
        short: ShortColumns,
        limits: &Limits<'_>,
    ) -> Result<Option<Sorted>> {
        let Factors { a, b, .. } = factors;
        let (cols, columns) = (b.ncols, b.ncols as u32);
        let grid = self.columns.grid(short.class, columns);
        work.stage("tail_counts");
        let mut before: Buffer<u64> = work.buffer(cols + 1)?;
        self.count[short.class].launch(work, grid, CountRuns { a, b, counts: &mut before, columns })?;
        self.scan.run(work, &mut before)?;
        let all = if cols > 0 { work.read(&before, cols, 1)?[0] } else { 0 }; // the host reads here
        let products = at_most("products", all >> 32, short.products)? as usize;
        let nnz = at_most("entries of C", all & u64::from(u32::MAX), products as u64)? as usize;
        if products == 0 {
            return Ok(Some((0, None)));
        }
        if !limits.fits_sorted(cols as u64, products as u64, nnz as u64) {
            return Ok(None);
        }
        work.stage("gather");
        let (mut col_ptr, mut row_idx) = (work.buffer(cols + 1)?, work.buffer(nnz)?);
        let (mut run_end, mut payload) = (work.buffer(nnz)?, work.buffer_of(self.payload, products)?);
        let args = PlaceRuns {
            factors: factors.into(),
            before: &before,
            c_col_ptr: &mut col_ptr,
            c_row_idx: &mut row_idx,
            run_end: &mut run_end,
            payload: &mut payload,
            columns,
        };
        self.place[short.class].launch(work, grid, args)?;
        let runs = FoundRuns { run_end, pieces: work.buffer(0)?, parts: 0, payload, longest: short.longest };
        Ok(Some((products as u64, Some(FoundColumns { pattern: CPattern { col_ptr, row_idx }, runs }))))
    }
}

#[cfg(test)]
mod tests;
