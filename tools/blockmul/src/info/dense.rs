//! The memory that a product with a dense matrix needs on a device. The product is planned on the
//! device to find this memory.
use super::needs::DeviceNeeds;
use crate::sizes::show_bytes;
use blockmul::{
    Device, Planned, Result,
    device::DeviceInfo,
    matrix::AnyMatrix,
    plan::{ApplyDense, DenseMethod},
};
use serde::Serialize;

/// A product A·D with a number of columns, planned on a device; D and C are stored by rows.
#[derive(Serialize)]
pub struct DenseNeeds {
    pub columns: usize,
    /// The plan, or `None` if the device refused the plan.
    pub plan: Option<DensePlan>,
    pub refused: Option<String>,
}

#[derive(Serialize)]
pub struct DensePlan {
    pub sharing: DenseMethod,
    pub why: String,
    pub a_bytes: u64,
    /// The memory of the plan without A: an index, and the data for long lines.
    pub plan_bytes: u64,
    pub d_bytes: u64,
    pub c_bytes: u64,
    /// The sum of the memory of A, the plan, D and C.
    pub device_bytes: u64,
    /// Whether `device_bytes` fit the device or the limit, so that `multiply` needs no bands of
    /// columns.
    pub fits: bool,
}

impl DenseNeeds {
    pub fn of(info: &DeviceInfo, a: &AnyMatrix, columns: usize, limit: Option<u64>) -> Self {
        let limit = limit.unwrap_or(info.global_bytes).min(info.global_bytes);
        let plan = DensePlan::new(info, a, columns, limit);
        let refused = plan.as_ref().err().map(ToString::to_string);
        Self { columns, plan: plan.ok(), refused }
    }
}

impl DensePlan {
    fn new(info: &DeviceInfo, a: &AnyMatrix, columns: usize, limit: u64) -> Result<Self> {
        let device = Device::open(info)?;
        let a = device.upload(a)?;
        let plan = ApplyDense::of(&a, columns).explained().plan()?;
        let element = a.element().bytes() as u64;
        let bytes = |(rows, cols): (usize, usize)| element * rows as u64 * cols as u64;
        let (a_bytes, plan_bytes) = (a.device_bytes(), plan.cost().device_bytes);
        let (d_bytes, c_bytes) = (bytes(plan.d_sides()), bytes(plan.c_sides()));
        let device_bytes = a_bytes + plan_bytes + d_bytes + c_bytes;
        let (sharing, why) = (plan.method(), plan.why().to_owned());
        Ok(Self { sharing, why, a_bytes, plan_bytes, d_bytes, c_bytes, device_bytes, fits: device_bytes <= limit })
    }
}

/// The lines about products with a dense matrix, if there are any.
pub fn text(needs: &[DeviceNeeds]) -> Vec<String> {
    let of_each = |device: &DeviceNeeds| {
        let dense = device.dense.as_ref()?;
        let text = match (&dense.plan, &dense.refused) {
            (Some(plan), _) => of_plan(plan),
            (None, refused) => refused.clone().unwrap_or_default(),
        };
        Some((dense.columns, format!("    {}: {text}", device.index)))
    };
    let found: Vec<_> = needs.iter().filter_map(of_each).collect();
    let Some((columns, _)) = found.first() else { return Vec::new() };
    let first = format!("  A·D with {columns} columns, by rows, on the devices here:");
    [first].into_iter().chain(found.into_iter().map(|(_, line)| line)).collect()
}

fn of_plan(DensePlan { why, a_bytes, plan_bytes, d_bytes, c_bytes, device_bytes, fits, .. }: &DensePlan) -> String {
    let [all, a, plan, d, c] = [device_bytes, a_bytes, plan_bytes, d_bytes, c_bytes].map(|bytes| show_bytes(*bytes));
    let bands = if *fits { "" } else { "\n       that is too much: `multiply` takes some columns at a time" };
    format!("{why}\n       {all} of device memory: A {a}, its plan {plan}, D {d}, C {c}{bands}")
}
