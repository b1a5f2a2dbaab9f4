//! The costs fitted to the measured products, how well they predict other products, and the regret
//! of the choice.
use super::families::FAMILIES;
use super::fit::samples;
use super::measure::{Case, Choice};
use crate::sizes::{self, count};
use crate::table;
use blockmul::{
    Device, Result,
    extra::tuning::{Errors, MethodCost, MethodCosts, Sample},
};
use serde::Serialize;

/// The findings of `tune`.
#[derive(Serialize)]
pub struct Outcome {
    device: String,
    element: &'static str,
    seconds: f64,
    methods: Vec<Fitted>,
    /// The device's table of costs, with the new costs.
    #[serde(rename = "costs")]
    pub table: MethodCosts,
    pub choices: Vec<Choice>,
    pub cases: Vec<Case>,
}

/// The costs of a method.
#[derive(Serialize)]
struct Fitted {
    method: &'static str,
    /// The new costs, or the present ones if these predict the held-out products at least as well.
    #[serde(flatten)]
    cost: MethodCost,
    /// Whether the present costs are kept.
    kept: bool,
    /// Errors of `cost`.
    fitted: Errors,
    held_out: Errors,
    /// Errors of the costs that were not chosen, on the held-out products.
    others_held_out: Errors,
    families: Vec<OfFamily>,
}

/// The times of a method on the held-out products of a family.
#[derive(Serialize)]
struct OfFamily {
    family: &'static str,
    bins: usize,
    measured_ms: f64,
    /// The times predicted by the present costs, and by the new ones.
    present_ms: f64,
    new_ms: f64,
}

/// The costs of a method are fitted if it has at least this many bins: one for each coefficient.
const LEAST_BINS: usize = MethodCost::NAMES.len();

/// A mean error on held-out products, as a fraction of the measured times, from which on `tune`
/// prints a warning.
const LARGE_ERROR: f64 = 0.5;

impl Outcome {
    /// Fits the costs of each method that has computed enough bins to the bins that are not held
    /// out. The present costs of a method are kept if they predict the held-out products as well,
    /// or if the method has too few bins.
    pub fn new(device: &Device, element: &'static str, seconds: f64, cases: Vec<Case>) -> Result<Self> {
        let (mut methods, mut table) = (Vec::new(), device.info().costs());
        let in_ranges = device.info().numbers_by_name()["range_shares"] > 0;
        let usual = MethodCosts::of_kind(device.info().kind);
        for (method, usual) in usual.iter() {
            let present = table.of(method).unwrap_or(usual);
            let of = |family: Option<&str>, held_out: bool| {
                let of_family = |case: &&Case| family.is_none_or(|name| case.family == name);
                let some = cases.iter().filter(of_family).filter(|case| case.held_out == held_out);
                samples(in_ranges, some.flat_map(|case| &case.runs), method, present)
            };
            let (used, held_out) = (of(None, false), of(None, true));
            if used.len() < LEAST_BINS {
                continue;
            }
            let new = MethodCost::fit(&used, &usual)?;
            let errors = [present, new].map(|cost| Errors::of(&held_out, &cost));
            let kept = errors[0].mean <= errors[1].mean;
            let (cost, [held_out, others_held_out]) =
                if kept { (present, errors) } else { (new, [errors[1], errors[0]]) };
            let families = FAMILIES.iter().map(|family| family.name);
            let families = families.filter_map(|name| OfFamily::of(name, &of(Some(name), true), [present, new]));
            table = table.with(method, cost)?;
            let (fitted, families) = (Errors::of(&used, &cost), families.collect());
            methods.push(Fitted { method, cost, kept, fitted, held_out, others_held_out, families });
        }
        let device = device.info().name.clone();
        Ok(Self { device, element, seconds, methods, table, choices: Vec::new(), cases })
    }

    /// The costs of methods, with their errors.
    pub fn costs(&self) -> Vec<(&'static str, MethodCost)> {
        self.methods.iter().map(|fitted| (fitted.method, fitted.cost)).collect()
    }

    /// The methods whose times on held-out products are predicted badly.
    pub fn warnings(&self) -> Vec<String> {
        let bad = self.methods.iter().filter(|of| of.held_out.mean > LARGE_ERROR);
        let warning = |of: &Fitted| {
            let Errors { bins, mean, worst, .. } = of.held_out;
            let kept = if of.kept { "; the present costs are kept" } else { "" };
            let [mean, worst] = [mean, worst].map(percent);
            format!(
                "{} is predicted with a mean error of {mean}, {worst} at worst, on {bins} held out{kept}",
                of.method
            )
        };
        bad.map(warning).collect()
    }

    /// The costs, their errors, and the choice, as text.
    pub fn table(&self) -> String {
        let errors = ["costs", "bins", "mean", "worst", "held out", "mean", "worst", "others' mean"];
        let header = ["method"].iter().chain(&MethodCost::NAMES).chain(&errors);
        let rows =
            self.methods.iter().map(|Fitted { method, cost, kept, fitted, held_out, others_held_out, .. }| {
                let mut row = vec![(*method).to_owned()];
                row.extend(cost.coefficients().iter().map(f64::to_string));
                row.push(if *kept { "kept" } else { "new" }.into());
                for errors in [fitted, held_out] {
                    row.extend([errors.bins.to_string(), percent(errors.mean), percent(errors.worst)]);
                }
                row.push(percent(others_held_out.mean));
                row
            });
        let table = table::plain(header, rows, 1..20);
        let sizes = (count(self.cases.len(), "product"), self.element, &self.device);
        let mut lines = vec![format!("{} of {} on {}", sizes.0, sizes.1, sizes.2), String::new()];
        lines.extend([table, String::new(), self.by_family(), String::new(), self.regret()]);
        lines.join("\n")
    }

    /// Measured and predicted times of each family's held-out products.
    fn by_family(&self) -> String {
        let all = self.methods.iter().flat_map(|of| of.families.iter().map(|family| (of.method, family)));
        let rows = all.map(|(method, OfFamily { family, bins, measured_ms, present_ms, new_ms })| {
            let names = [(*family).to_owned(), method.to_owned(), bins.to_string()];
            names.into_iter().chain([measured_ms, present_ms, new_ms].map(|ms| format!("{ms:.3}")))
        });
        table::plain(["held out", "method", "bins", "measured ms", "by present costs", "by new costs"], rows, 2..6)
    }

    /// The regret of the choice, as text.
    fn regret(&self) -> String {
        let Some(worst) = self.choices.iter().max_by(|one, other| one.regret.total_cmp(&other.regret)) else {
            return "no product was held out".into();
        };
        let count = self.choices.len();
        let mean = self.choices.iter().map(|choice| choice.regret).sum::<f64>() / count as f64;
        format!(
            "auto by these costs, beside the fastest method, on {} held out: {} in the mean, {} at worst\n\
             ({}, level {}: {:.3} ms, {} {:.3} ms)",
            sizes::count(count, "product"),
            signed(mean),
            signed(worst.regret),
            worst.family,
            worst.level,
            worst.auto_ms,
            worst.best,
            worst.best_ms
        )
    }
}

impl OfFamily {
    /// The times of the family's held-out products, or `None` if no product of the family was held
    /// out.
    fn of(family: &'static str, samples: &[Sample], costs: [MethodCost; 2]) -> Option<Self> {
        let sum = |ms: &dyn Fn(&Sample) -> f64| samples.iter().map(ms).sum();
        let [present_ms, new_ms] = costs.map(|cost| sum(&|sample| cost.predict_ms(&sample.size)));
        let (bins, measured_ms) = (samples.len(), sum(&|sample| sample.ms));
        (bins > 0).then_some(Self { family, bins, measured_ms, present_ms, new_ms })
    }
}

fn percent(part: f64) -> String {
    format!("{:.0} %", 100.0 * part)
}

fn signed(part: f64) -> String {
    format!("{:+.1} %", 100.0 * part)
}
