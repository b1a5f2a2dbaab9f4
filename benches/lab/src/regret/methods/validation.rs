//! The inverse threefold cross-validation of spECK (Parger 2020, section 5). Costs are fitted to
//! the products of a third of the families. The choice that follows from the fitted costs is judged
//! on the other families.
use super::Numbers;
use super::contest::Contest;
use blockmul::{
    Method, Result,
    device::DeviceInfo,
    extra::tuning::{MethodCost, MethodCosts},
    product::Bin,
};
use blockmul_cli::tune::{ByMethod, besides_costs_ms, cost_name, samples};
use serde::Serialize;

const FOLDS: usize = 3;
/// About the number of launches of a product all of whose columns are sorted without an analysis.
const SORTED_LAUNCHES: u32 = 4;
/// The costs of a method are fitted if it has at least this many bins: one for each coefficient.
const LEAST_BINS: usize = MethodCost::NAMES.len();

/// The regrets of the choices that fitted costs make.
#[derive(Serialize)]
pub struct Validation {
    pub folds: Vec<Fold>,
    /// The mean over the folds of the cross-validation.
    pub regret: f64,
    pub best: f64,
    /// The regret of the choices by the device's present costs, on all products.
    pub present: Predicted,
}

/// Costs fitted to a third of the families.
#[derive(Serialize)]
pub struct Fold {
    pub families: Vec<String>,
    pub costs: MethodCosts,
    #[serde(flatten)]
    pub predicted: Predicted,
}

/// The quality of the choices that are made by predicted times.
#[derive(Serialize, Clone, Copy)]
pub struct Predicted {
    /// Number of products for which the costs had to choose between methods.
    pub products: usize,
    /// The extra time of the chosen methods over the fastest, as a fraction: the mean and the
    /// largest.
    pub regret: f64,
    pub worst: f64,
    /// The fraction of the products for which the fastest method was chosen.
    pub best: f64,
}

impl Validation {
    /// The function returns `None` if there are fewer families than folds, or if nothing can be
    /// predicted. Matrices without entries to multiply do not count as products.
    pub fn of(contests: &[Contest], info: &DeviceInfo) -> Result<Option<Self>> {
        let (present, choice) = (info.costs(), Choice::on(info));
        let contests: Vec<&Contest> = contests.iter().filter(|of| of.products > 0).collect();
        let mut families: Vec<&str> = Vec::new();
        contests.iter().for_each(|of| {
            if !families.contains(&of.family.as_str()) {
                families.push(&of.family);
            }
        });
        if families.len() < FOLDS {
            return Ok(None);
        }
        let fold = |contest: &Contest| families.iter().position(|name| *name == contest.family).map(|at| at % FOLDS);
        let mut folds = Vec::new();
        for number in 0..FOLDS {
            let (used, others): (Vec<_>, Vec<_>) = contests.iter().partition(|of| fold(of) == Some(number));
            let costs = fitted(&used, present, choice.besides.is_none())?;
            let Some(predicted) = predicted(&others, &costs, &choice) else { return Ok(None) };
            let families = families.iter().skip(number).step_by(FOLDS).map(|&name| name.to_owned()).collect();
            folds.push(Fold { families, costs, predicted });
        }
        let mean = |of: fn(&Predicted) -> f64| folds.iter().map(|fold| of(&fold.predicted)).sum::<f64>() / FOLDS as f64;
        let (regret, best) = (mean(|of| of.regret), mean(|of| of.best));
        Ok(predicted(&contests, &present, &choice).map(|present| Self { folds, regret, best, present }))
    }
}

/// The choice that costs make on a device.
struct Choice {
    /// The methods among which costs choose.
    methods: Vec<&'static str>,
    /// The numbers by which the time outside of bins is predicted, if the choice includes it.
    besides: Option<Numbers>,
    /// The device's costs.
    present: MethodCosts,
}

impl Choice {
    /// If the device computes products in ranges of columns, costs decide only whether ESC or the
    /// host computes a product instead.
    fn on(info: &DeviceInfo) -> Self {
        let numbers = info.numbers_by_name();
        let in_ranges = numbers["range_shares"] > 0;
        let of_ranges = [Method::Dense, Method::Esc, Method::Host].map(cost_name);
        let methods = MethodCosts::names().filter(|name| !in_ranges || of_ranges.contains(name)).collect();
        Self { methods, besides: (!in_ranges).then_some(numbers), present: info.costs() }
    }
}

impl Choice {
    /// The predicted milliseconds of a bin. The function `cost` predicts the largest part of this
    /// time. The time for the entries of B is not part of the costs; the device's numbers predict
    /// it.
    fn predict_ms(&self, bin: &Bin, cost: MethodCost) -> Option<f64> {
        let present = self.present.of(cost_name(bin.method))?;
        Some(cost.predict_ms(&bin.size?) + besides_costs_ms(bin, present))
    }
}

/// The costs that are fitted to some products, as in `blockmul tune`. Methods with too few bins
/// keep their present costs.
fn fitted(contests: &[&Contest], present: MethodCosts, in_ranges: bool) -> Result<MethodCosts> {
    let mut table = present;
    for (name, usual) in present.iter() {
        let samples = samples(in_ranges, contests.iter().flat_map(|of| &of.explained), name, usual);
        if samples.len() >= LEAST_BINS {
            table = table.with(name, MethodCost::fit(&samples, &usual)?)?;
        }
    }
    Ok(table)
}

/// Judges the choices that follow from the given costs. For each product these costs choose the
/// method with the least predicted time.
fn predicted(contests: &[&Contest], costs: &MethodCosts, choice: &Choice) -> Option<Predicted> {
    let (mut products, mut sum, mut worst, mut best) = (0, 0.0, 0.0_f64, 0);
    for contest in contests {
        let predictions = contest.explained.iter().filter_map(|run| {
            let name = cost_name(run.method);
            let cost = costs.of(name).filter(|_| choice.methods.contains(&name))?;
            let bins = run.bins.iter().map(|bin| choice.predict_ms(bin, cost)).sum::<Option<f64>>()?;
            let ms = bins + choice.besides.as_ref().map_or(0.0, |numbers| besides_ms(run, numbers, contest.longest));
            Some((ms, contest.ms(run.method)?))
        });
        let chosen = predictions.min_by(|one, other| one.0.total_cmp(&other.0));
        let (Some((_, ms)), Some(least)) = (chosen, contest.best().and_then(|best| best.ms)) else { continue };
        let regret = ms / least - 1.0;
        (products, sum, worst, best) = (products + 1, sum + regret, worst.max(regret), best + usize::from(ms == least));
    }
    let part = |of: f64| of / products as f64;
    (products > 0).then(|| Predicted { products, regret: part(sum), worst, best: part(best as f64) })
}

/// Predicted milliseconds of a run outside of its bins, as in the choice on a GPU. `longest` is the
/// number of entries in the longest column of B. Methods that find rows visit the entries of a
/// column one after another.
fn besides_ms(run: &ByMethod, numbers: &Numbers, longest: usize) -> f64 {
    if run.bins.iter().all(|bin| cost_name(bin.method) == Method::Esc.name()) {
        return 0.0;
    }
    let columns = run.bins.iter().map(|bin| bin.columns as f64).sum::<f64>();
    let analysis_us = match run.launches > SORTED_LAUNCHES {
        true => numbers["adaptive_analysis_us"] as f64 + columns * numbers["adaptive_column_ps"] as f64 * 1e-6,
        false => 0.0,
    };
    let finds_rows = run.bins.iter().any(|bin| matches!(bin.method, Method::Dense | Method::Hub | Method::Hash));
    let longest_ns = if finds_rows { longest * numbers["adaptive_longest_ns"] } else { 0 };
    (analysis_us + (run.bins.len() * numbers["adaptive_bin_us"]) as f64) * 1e-3 + longest_ns as f64 * 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockmul::{Csc, Device, Product};

    #[test]
    fn an_analysis_every_bin_and_a_long_column_take_more_than_their_kernels() {
        let run = |launches, methods: &[Method]| ByMethod {
            method: methods[0],
            total_ms: 1.0,
            busy_ms: 1.0,
            launches,
            bins: methods.iter().map(|&method| bin(method)).collect(),
            sizes: Vec::new(),
        };
        let mut numbers = numbers();
        numbers.extend([("adaptive_analysis_us", 1000), ("adaptive_bin_us", 10), ("adaptive_column_ps", 1)]);
        numbers.insert("adaptive_longest_ns", 1_500_000);
        for (launches, methods, ms) in [
            (10, &[Method::Dense][..], 4.01),
            (10, &[Method::Sort, Method::Dense], 4.02),
            (10, &[Method::Sort], 1.01),
            (3, &[Method::Sort], 0.01),
            (16, &[Method::EscLocal], 0.0),
        ] {
            let found = besides_ms(&run(launches, methods), &numbers, 2);
            assert!((found - ms).abs() < 1e-6, "{methods:?}: {found}");
        }
    }

    fn numbers() -> Numbers {
        let wanted = std::env::var("BLOCKMUL_TEST_DEVICE").unwrap_or("auto".into());
        Device::select(&wanted).unwrap().info().numbers_by_name()
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
