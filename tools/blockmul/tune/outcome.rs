//! The costs fitted to the measured products, how well they predict others, and what the choice by
//! them costs.
use super::measure::{Case, Choice, samples};
use blockmul::{
    Device, Result,
    tuning::{Errors, MethodCost, MethodCosts},
};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::path::Path;

/// What `tune` has found.
#[derive(Serialize)]
pub struct Outcome {
    device: String,
    element: &'static str,
    seconds: f64,
    methods: Vec<Fitted>,
    /// The device's table with the new costs.
    #[serde(rename = "costs")]
    pub table: MethodCosts,
    pub choices: Vec<Choice>,
    pub cases: Vec<Case>,
}

/// The costs of a method.
#[derive(Serialize)]
struct Fitted {
    method: &'static str,
    #[serde(flatten)]
    cost: MethodCost,
    fitted: Errors,
    held_out: Errors,
}

/// Bins from which the costs of a method are fitted: one for each of its coefficients.
const LEAST_BINS: usize = MethodCost::NAMES.len();

impl Outcome {
    /// Fits the costs of each method that has computed enough bins to those not held out. The
    /// others keep the device's.
    pub fn new(device: &Device, element: &'static str, seconds: f64, cases: Vec<Case>) -> Result<Self> {
        let (mut methods, mut table) = (Vec::new(), device.info().costs());
        let usual = MethodCosts::of_kind(device.info().kind);
        for method in MethodCosts::names() {
            let of = |held_out: bool| {
                let some = cases.iter().filter(|case| case.held_out == held_out);
                samples(some.flat_map(|case| &case.runs), method)
            };
            let (used, held_out) = (of(false), of(true));
            if used.len() < LEAST_BINS {
                continue;
            }
            let cost = MethodCost::fit(&used, &usual.of(method).expect("its name is the table's"))?;
            table = table.with(method, cost)?;
            let (fitted, held_out) = (Errors::of(&used, &cost), Errors::of(&held_out, &cost));
            methods.push(Fitted { method, cost, fitted, held_out });
        }
        let device = device.info().name.clone();
        Ok(Self { device, element, seconds, methods, table, choices: Vec::new(), cases })
    }

    /// The fitted costs, by method.
    pub fn costs(&self) -> Vec<(&'static str, MethodCost)> {
        self.methods.iter().map(|fitted| (fitted.method, fitted.cost)).collect()
    }

    /// The whole as JSON; `file` is where the costs were written.
    pub fn json(&self, file: Option<&Path>) -> String {
        let mut all = serde_json::to_value(self).expect("plain data");
        all["file"] = file.map_or(serde_json::Value::Null, |file| file.display().to_string().into());
        serde_json::to_string_pretty(&all).expect("plain data")
    }

    /// The costs, their errors, and the choice, as text.
    pub fn table(&self) -> String {
        let mut table = Table::new();
        table.load_preset(presets::NOTHING);
        let errors = ["bins", "mean", "worst", "held out", "mean", "worst"];
        table.set_header(["method"].iter().chain(&MethodCost::NAMES).chain(&errors));
        for Fitted { method, cost, fitted, held_out } in &self.methods {
            let mut row = vec![(*method).to_owned()];
            row.extend(cost.coefficients().iter().map(f64::to_string));
            for errors in [fitted, held_out] {
                row.extend([errors.bins.to_string(), percent(errors.mean), percent(errors.worst)]);
            }
            table.add_row(row);
        }
        for column in 1..=10 {
            table.column_mut(column).expect("eleven columns").set_cell_alignment(CellAlignment::Right);
        }
        let sizes = (counted(self.cases.len()), self.element, &self.device);
        let mut lines = vec![format!("{} of {} on {}", sizes.0, sizes.1, sizes.2), String::new()];
        lines.extend([table.trim_fmt(), String::new(), self.regret()]);
        lines.join("\n")
    }

    /// What the choice takes beside the fastest method.
    fn regret(&self) -> String {
        let Some(worst) = self.choices.iter().max_by(|one, other| one.regret.total_cmp(&other.regret)) else {
            return "no product was held out".into();
        };
        let count = self.choices.len();
        let mean = self.choices.iter().map(|choice| choice.regret).sum::<f64>() / count as f64;
        format!(
            "auto by these costs, beside the fastest method, on {} held out: {} in the mean, {} at worst\n\
             ({}, level {}: {:.3} ms, {} {:.3} ms)",
            counted(count),
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

fn counted(products: usize) -> String {
    format!("{products} product{}", if products == 1 { "" } else { "s" })
}

fn percent(part: f64) -> String {
    format!("{:.0} %", 100.0 * part)
}

fn signed(part: f64) -> String {
    format!("{:+.1} %", 100.0 * part)
}
