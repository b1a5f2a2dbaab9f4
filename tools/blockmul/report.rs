//! What a product took: as JSON for programs, as a table for people.
use crate::values::human;
use blockmul::{BlockShape, Matrix, StageTime, verify::Verification};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

/// The JSON object of `--report`.
#[derive(Serialize)]
pub struct Report {
    pub schema: u32,
    pub command: String,
    pub device: DeviceName,
    pub method: &'static str,
    pub element: &'static str,
    pub a: Size,
    pub b: Size,
    pub c: Size,
    pub products: u64,
    pub flops: u64,
    pub flops_paper: u64,
    pub expansion_factor: Option<f64>,
    pub bands: usize,
    pub peak_device_bytes: u64,
    pub stages: Vec<StageTime>,
    pub total_ms: f64,
    pub gflops: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_ms: Option<Vec<f64>>,
    pub verified: Option<Verification>,
}

#[derive(Serialize)]
pub struct DeviceName {
    pub name: String,
    pub platform: String,
    pub driver: String,
}

/// A matrix's size, in entries (blocks).
#[derive(Serialize, Clone, Copy)]
pub struct Size {
    pub rows: usize,
    pub cols: usize,
    pub nnz: usize,
    pub block: [usize; 2],
}

impl Size {
    pub fn of<M: Matrix>(matrix: &M) -> Self {
        let cbc = matrix.as_cbc();
        let block = [cbc.shape.rows(), cbc.shape.cols()];
        Self { rows: cbc.pattern.nrows(), cols: cbc.pattern.ncols(), nnz: cbc.pattern.nnz(), block }
    }
}

/// 2 flops per scalar product, as the peers count.
pub fn flops(products: u64, a: BlockShape, b: BlockShape) -> u64 {
    2 * products * (a.area() * b.cols()) as u64
}

impl Report {
    /// Sizes, stages and rates, for a person.
    pub fn table(&self) -> String {
        let size = |name: &str, s: &Size| {
            let block =
                if s.block == [1, 1] { String::new() } else { format!(" blocks of {}x{}", s.block[0], s.block[1]) };
            format!("{name}  {} x {}{block}, {} stored\n", s.rows, s.cols, s.nnz)
        };
        let mut text = [size("A", &self.a), size("B", &self.b), size("C", &self.c)].concat();
        text += &format!("on {} ({}), {}, {}\n", self.device.name, self.device.platform, self.method, self.element);
        text += &format!("{} products", self.products);
        if let Some(factor) = self.expansion_factor {
            text += &format!(", {factor:.2} for each entry of C");
        }
        if self.bands > 1 {
            text += &format!(", {} bands", self.bands);
        }
        if self.peak_device_bytes > 0 {
            text += &format!(", {} of device memory", human(self.peak_device_bytes));
        }
        let mut table = Table::new();
        table.load_preset(presets::NOTHING);
        table.set_header(["stage", "ms", "share", "launches"]);
        let of_stages: f64 = self.stages.iter().filter_map(|stage| stage.ms).sum();
        for stage in &self.stages {
            let ms = stage.ms.map_or("-".into(), |ms| format!("{ms:.3}"));
            let share =
                stage.ms.map_or("-".into(), |ms| format!("{:.0} %", 100.0 * ms / of_stages.max(f64::MIN_POSITIVE)));
            table.add_row([stage.name.to_owned(), ms, share, stage.launches.to_string()]);
        }
        table.add_row(["total, wall clock".into(), format!("{:.3}", self.total_ms), String::new(), String::new()]);
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        text += &format!("\n\n{table}\n\n{:.3} GFLOP/s\n", self.gflops);
        match &self.verified {
            None => {}
            Some(v) if v.passed && v.bits_equal => text += "verified: equal to the reference, bit for bit\n",
            Some(v) if v.passed => {
                text += &format!("verified: largest relative error {:.1e}, within the bound\n", v.max_rel_error)
            }
            Some(v) if !v.pattern_equal => text += "NOT VERIFIED: the pattern is not that of the reference\n",
            Some(v) => {
                text += &format!("NOT VERIFIED: largest relative error {:.1e} is beyond the bound\n", v.max_rel_error)
            }
        }
        text
    }
}
