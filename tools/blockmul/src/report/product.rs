//! The report of a product of sparse matrices.
use super::{Report, over};
use crate::matrix_size::Size;
use crate::overflow::Overflow;
use crate::sizes::show_bytes;
use crate::table::{self, number};
use crate::target::{Run, Stage, Target, Took};
use blockmul::{
    Method, Semiring, element::ElementType, matrix::AnyMatrix, product::Bin, reference::verify::Verification,
};
use serde::Serialize;

/// The schema of the report. The number of the schema is increased by changes that a reader must
/// know.
const SCHEMA: u32 = 3;

/// The fields of a product. `products` and `nnz` count entries (blocks for blocks), `rows` and
/// `cols` scalars.
#[derive(Serialize)]
pub struct Product {
    /// The method requested.
    pub method: &'static str,
    /// The columns of C that each method computed, with their products and times. No columns if the
    /// reference multiplies.
    pub bins: Vec<Bin>,
    /// Whether the table shows the bins.
    #[serde(skip)]
    pub explained: bool,
    pub element: &'static str,
    pub semiring: Semiring,
    pub a: Size,
    pub b: Size,
    pub c: Size,
    /// Alignment of the blocks of C by `--align`: each block begins at a multiple of this many
    /// bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<usize>,
    /// The mask: the places of C to compute, in blocks of C.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mask: Option<Size>,
    pub products: u64,
    /// Entries (blocks) left out of C by --drop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<u64>,
    /// 2 x products x block_rows x inner x block_cols, counted as in other libraries.
    pub flops: u64,
    /// Multiplications and additions, counted as in Polok 2015: the first term of a sum needs no
    /// addition. The number of additions is unknown for a masked product, because some sums have no
    /// terms.
    pub flops_paper: Option<u64>,
    pub expansion_factor: Option<f64>,
    #[serde(flatten)]
    pub took: Took,
    pub gflops: Option<f64>,
    pub verified: Option<Verification>,
    /// Finite values that became infinite.
    pub overflowed: Option<Overflow>,
    /// The total times of all runs, if there were several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_ms: Option<Vec<f64>>,
}

/// The factors of a product.
pub struct Factors {
    pub element: ElementType,
    pub a: Size,
    pub b: Size,
    /// Multiplications and additions of all products.
    pub flops: u64,
}

impl Factors {
    /// Factors of blocks of one shape each, with `products` products of blocks.
    pub fn of(a: &AnyMatrix, b: &AnyMatrix, products: u64) -> Self {
        let each = 2 * a.shape().product(b.shape()).area() * a.shape().cols();
        Self { element: a.element(), a: Size::of(a), b: Size::of(b), flops: products * each as u64 }
    }
}

impl Product {
    /// A product over plus-times by `run`, whose times are reported.
    pub fn new(factors: Factors, c: Size, mask: Option<Size>, run: Run) -> Self {
        let (Factors { element, a, b, flops }, Run { method, bins, products, dropped, took }) = (factors, run);
        // Entries that were dropped count too, because they were computed. All dropped entries have
        // one shape.
        let of_dropped = c.block.map_or(0, |[rows, cols]| rows * cols) as u64 * dropped.unwrap_or(0);
        let (c_nnz, computed) = (c.nnz() as u64 + dropped.unwrap_or(0), c.elements() as u64 + of_dropped);
        Self {
            method,
            bins,
            explained: false,
            element: element.name(),
            semiring: Semiring::PlusTimes,
            a,
            b,
            c,
            align: None,
            products,
            dropped,
            flops,
            flops_paper: mask.is_none().then(|| flops - computed),
            mask,
            expansion_factor: (c_nnz > 0).then(|| products as f64 / c_nnz as f64),
            gflops: (took.total_ms > 0.0).then(|| flops as f64 / took.total_ms / 1e6),
            took,
            verified: None,
            overflowed: None,
            runs_ms: None,
        }
    }
}

impl Report<Product> {
    pub fn of_product(target: &Target, product: Product) -> Self {
        Self { schema: SCHEMA, ..Self::new(target, product) }
    }
}

impl Product {
    /// The sizes, the stages with their times, and the total, as text.
    pub fn table(&self, device: &str) -> String {
        let c = if self.mask.is_some() { "C = A·B where M has entries," } else { "C = A·B" };
        let of = format!("{c}{} in {}", over(self.semiring), self.element);
        let mut lines = vec![match self.took.stages.is_empty() {
            true => format!("{of} by the reference, on the CPU"),
            false => format!("{of} by {} on {device}", self.methods()),
        }];
        let sizes = [("A", Some(&self.a)), ("B", Some(&self.b)), ("M", self.mask.as_ref()), ("C", Some(&self.c))];
        for (name, size) in sizes.into_iter().filter_map(|(name, size)| size.map(|size| (name, size))) {
            let entries = size.entries();
            let dropped = self.dropped.filter(|_| name == "C").map(|n| format!(", {n} dropped")).unwrap_or_default();
            lines.push(format!("  {name}  {} x {}, {} {entries}{dropped}", size.rows(), size.cols(), size.nnz()));
        }
        let factor = self.expansion_factor.map(|f| format!(", {f:.2} for each entry of C")).unwrap_or_default();
        lines.push(format!("  {} products{factor}; {} floating-point operations\n", self.products, self.flops));
        lines.push(self.stage_table());
        if self.explained && !self.bins.is_empty() {
            lines.push(format!("\n{}", self.bin_table()));
        }
        if let Some(runs) = &self.runs_ms {
            let (least, most) = runs.iter().fold((f64::MAX, 0.0_f64), |(low, high), &ms| (low.min(ms), high.max(ms)));
            lines.push(format!("\nmedian of {} runs, {least:.3} to {most:.3} ms", runs.len()));
        }
        if let Some(v) = &self.verified {
            lines.push(match (v.passed, v.bits_equal) {
                (true, true) => "\nverified: equal to the reference, bit for bit".into(),
                (true, false) => {
                    format!("\nverified: largest relative error {:.1e}, within the bound", v.max_rel_error)
                }
                (false, _) => "\nNOT VERIFIED".into(),
            });
        }
        lines.join("\n")
    }

    /// The methods that computed columns of C.
    fn methods(&self) -> String {
        let mut methods = Vec::new();
        for name in self.bins.iter().map(|bin| bin.method.name()) {
            if !methods.contains(&name) {
                methods.push(name);
            }
        }
        match methods.is_empty() {
            false => methods.join(" and "),
            // Without entries to multiply, the report has no bins.
            true if Stage::are_of_host(&self.took.stages) => Method::Host.name().into(),
            true => self.method.into(),
        }
    }

    /// The columns that each method computed, with the times that were predicted and measured.
    fn bin_table(&self) -> String {
        let header = ["columns of C", "number", "products", "method", "predicted ms", "measured ms"];
        let row = |bin: &Bin| {
            [
                bin.which.into(),
                bin.columns.to_string(),
                bin.products.to_string(),
                bin.method.name().into(),
                number(bin.predicted_ms, 3),
                number(bin.measured_ms, 3),
            ]
        };
        table::plain(header, self.bins.iter().map(row), [1, 2, 4, 5])
    }

    fn stage_table(&self) -> String {
        let sum: f64 = self.took.stages.iter().filter_map(|stage| stage.ms).sum();
        let stages = self.took.stages.iter().map(|Stage { name, ms, .. }| {
            let share = ms.filter(|_| sum > 0.0).map(|ms| 100.0 * ms / sum);
            vec![(*name).into(), number(*ms, 3), number(share, 0)]
        });
        let speed = self.gflops.map(|g| format!("{g:.2} Gflop/s")).unwrap_or_default();
        let total = vec!["total (wall clock)".into(), number(Some(self.took.total_ms), 3), String::new(), speed];
        let kernels = || vec!["loading kernels".into(), number(Some(self.took.kernels_ms), 3)];
        let rows = stages.chain([total]).chain((!self.took.stages.is_empty()).then(kernels));
        let table = table::plain(["stage", "ms", "%"], rows, [1, 2]);
        if self.took.stages.is_empty() {
            return table;
        }
        let bands = if self.took.bands == 1 { "1 band".into() } else { format!("{} bands", self.took.bands) };
        format!("{table}\n{bands}, {} of device memory", show_bytes(self.took.peak_device_bytes))
    }
}
