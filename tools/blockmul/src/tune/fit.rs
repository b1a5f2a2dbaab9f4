//! What costs are fitted to: the bins of products by one method, with their times.
use blockmul::{
    Method,
    product::{Bin, Report},
    tuning::{BinSize, MethodCost, Numbers, Sample},
};
use serde::Serialize;

/// The fastest run by one method.
#[derive(Serialize)]
pub struct ByMethod {
    pub method: Method,
    pub total_ms: f64,
    /// Busy time of all kernels.
    pub busy_ms: f64,
    pub launches: u32,
    pub bins: Vec<Bin>,
    /// The sizes of these bins, to which costs are fitted.
    pub sizes: Vec<Option<BinSize>>,
}

impl ByMethod {
    /// The fastest of some runs.
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

/// What the costs of a method are fitted to.
#[derive(Clone, Copy)]
pub enum Fit {
    /// The busy times of the kernels of each bin: the choice divides products into bins.
    Bins,
    /// The times of whole products, their launches and reads included: the choice is between these.
    Products,
}

impl Fit {
    /// That of a method's costs on a device: where products are computed in ranges of columns, the
    /// choice is between ranges, ESC and the host.
    pub fn of(numbers: &Numbers, name: &str) -> Self {
        let between = [Method::Dense, Method::Esc, Method::Host].map(cost_name);
        if numbers.range_shares > 0 && between.contains(&name) { Self::Products } else { Self::Bins }
    }

    /// The bins that a method computed in some runs, with their times: of whole products without
    /// what is predicted besides their costs, of which these are the present ones.
    pub fn samples<'a>(
        self,
        runs: impl Iterator<Item = &'a ByMethod>,
        (name, present): (&str, MethodCost),
    ) -> Vec<Sample> {
        let sample = |bin: &Bin, ms: Option<f64>| Some(Sample::new(bin.size?, ms.filter(|ms| *ms > 0.0)?));
        let of = |run: &'a ByMethod| -> Vec<Sample> {
            let bins = run.bins.iter().filter(|bin| cost_name(bin.method) == name);
            match (self, &run.bins[..]) {
                (Self::Bins, _) => bins.filter_map(|bin| sample(bin, bin.measured_ms)).collect(),
                (Self::Products, [_]) => {
                    bins.filter_map(|bin| sample(bin, Some(run.total_ms - besides_costs_ms(bin, present)))).collect()
                }
                (Self::Products, _) => Vec::new(),
            }
        };
        runs.flat_map(of).collect()
    }
}

/// What a bin was predicted to take besides its method's costs, of which these are the present
/// ones.
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
        let mut bin = bin(Method::Host);
        (bin.size, bin.predicted_ms, bin.measured_ms) = (size, Some(1.5), Some(4.0));
        let (bins, sizes) = (vec![bin], vec![size]);
        let run = ByMethod { method: Method::Host, total_ms: 2.25, busy_ms: 0.0, launches: 0, bins, sizes };
        let samples = |fit: Fit, name| -> Vec<f64> {
            fit.samples([&run].into_iter(), (name, present)).iter().map(|sample| sample.ms).collect()
        };
        assert_eq!(samples(Fit::Products, "host"), [1.75]);
        assert_eq!(samples(Fit::Bins, "host"), [4.0]);
        assert!(samples(Fit::Products, "dense").is_empty());
    }

    fn bin(method: Method) -> Bin {
        let device = Device::select(&std::env::var("BLOCKMUL_TEST_DEVICE").unwrap_or("auto".into())).unwrap();
        let a = device.upload(&Csc::from_triplets(1, 1, [(0, 0, 1.0)]).unwrap()).unwrap();
        let (_, report) = Product::of(&a, &a).run_with_report().unwrap();
        let mut bin = report.bins[0];
        bin.method = method;
        bin
    }
}
