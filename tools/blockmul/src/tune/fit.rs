//! The samples to which costs are fitted: the bins of products by one method, with their times.
use blockmul::{
    Method,
    extra::tuning::{BinSize, MethodCost, Sample},
    product::{Bin, Report},
};
use serde::Serialize;

/// The fastest run by one method, with its bins.
#[derive(Serialize)]
pub struct ByMethod {
    pub method: Method,
    pub total_ms: f64,
    /// Busy time of all kernels of the run.
    pub busy_ms: f64,
    pub launches: u32,
    pub bins: Vec<Bin>,
    /// The sizes of these bins, to which costs are fitted.
    pub sizes: Vec<Option<BinSize>>,
}

impl ByMethod {
    /// Returns the fastest of several runs.
    pub fn of(method: Method, mut reports: Vec<Report>) -> Self {
        reports.sort_by(|one, other| one.total_ms.total_cmp(&other.total_ms));
        let report = reports.swap_remove(0);
        Self {
            method,
            total_ms: report.total_ms,
            busy_ms: report.stages.iter().filter_map(|stage| stage.ms).sum(),
            launches: report.launches,
            sizes: report.bins.iter().map(|bin| bin.size).collect(),
            bins: report.bins,
        }
    }
}

/// The samples to which the costs of a method are fitted: the sizes of the bins that it computed in
/// several runs, with times. The time of a sample is the busy time of the kernels of a bin, because
/// the choice divides products into bins. If `in_ranges`, the device computes in ranges of columns,
/// and the choice is between ranges, ESC and the host. The time of a sample is then that of a whole
/// product with its launches and reads, without the part that is predicted by other numbers than
/// the method's costs. `present` are the present costs.
pub fn samples<'a>(
    in_ranges: bool,
    runs: impl Iterator<Item = &'a ByMethod>,
    name: &str,
    present: MethodCost,
) -> Vec<Sample> {
    let between = [Method::Dense, Method::Esc, Method::Host].map(cost_name);
    let of_products = in_ranges && between.contains(&name);
    let sample = |bin: &Bin, ms: Option<f64>| Some(Sample::new(bin.size?, ms.filter(|ms| *ms > 0.0)?));
    let of = |run: &'a ByMethod| -> Vec<Sample> {
        let bins = run.bins.iter().filter(|bin| cost_name(bin.method) == name);
        match (of_products, &run.bins[..]) {
            (false, _) => bins.filter_map(|bin| sample(bin, bin.measured_ms)).collect(),
            (true, [_]) => {
                bins.filter_map(|bin| sample(bin, Some(run.total_ms - besides_costs_ms(bin, present)))).collect()
            }
            (true, _) => Vec::new(),
        }
    };
    runs.flat_map(of).collect()
}

/// The part of a bin's predicted time that does not come from its method's costs; `present` are
/// these costs.
pub fn besides_costs_ms(bin: &Bin, present: MethodCost) -> f64 {
    let of_costs = |(ms, size): (f64, _)| (ms - present.predict_ms(&size)).max(0.0);
    bin.predicted_ms.zip(bin.size).map_or(0.0, of_costs)
}

/// The name of a method in the table of costs.
pub fn cost_name(method: Method) -> &'static str {
    if method == Method::EscLocal { Method::Esc.name() } else { method.name() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockmul::{Csc, Device, Product};

    #[test]
    fn whole_products_are_fitted_without_what_is_predicted_besides_costs() {
        let present = MethodCost::new([0.0, 0.0, 0.0, 1e9]).unwrap(); // a millisecond a column
        let size = Some(BinSize::new(0, 0, 0, 1));
        let device = Device::select(&std::env::var("BLOCKMUL_TEST_DEVICE").unwrap_or("auto".into())).unwrap();
        let mut bin = bin(&device, Method::Host);
        (bin.size, bin.predicted_ms, bin.measured_ms) = (size, Some(1.5), Some(4.0));
        let (bins, sizes) = (vec![bin], vec![size]);
        let run = ByMethod { method: Method::Host, total_ms: 2.25, busy_ms: 0.0, launches: 0, bins, sizes };
        let samples = |in_ranges, name| -> Vec<f64> {
            super::samples(in_ranges, [&run].into_iter(), name, present).iter().map(|sample| sample.ms).collect()
        };
        assert_eq!(samples(true, "host"), [1.75]);
        assert_eq!(samples(false, "host"), [4.0]);
        assert!(samples(true, "dense").is_empty());
    }

    fn bin(device: &Device, method: Method) -> Bin {
        let a = device.upload(&Csc::from_triplets(1, 1, [(0, 0, 1.0)]).unwrap()).unwrap();
        let (_, report) = Product::of(&a, &a).run_with_report().unwrap();
        let mut bin = report.bins[0];
        bin.method = method;
        bin
    }
}
