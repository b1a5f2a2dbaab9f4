//! Table 2: the numbers by which `auto` chooses on a device.
use super::super::report::Report;
use blockmul::{
    device::{DeviceInfo, DeviceKind},
    extra::tuning::{MethodCost, MethodCosts},
};
use serde::Serialize;
use std::collections::BTreeMap;

/// The costs of methods and the numbers by which `auto` chooses.
#[derive(Serialize)]
struct ChosenBy {
    costs: MethodCosts,
    numbers: BTreeMap<&'static str, usize>,
}

impl ChosenBy {
    fn of(info: &DeviceInfo) -> Self {
        let of_choice = |name: &str| prefixes(info.kind).iter().any(|prefix| name.starts_with(prefix));
        Self {
            costs: info.costs(),
            numbers: info.numbers_by_name().into_iter().filter(|(name, _)| of_choice(name)).collect(),
        }
    }
}

/// The prefixes of the names of tuning numbers by which `auto` chooses.
fn prefixes(kind: DeviceKind) -> &'static [&'static str] {
    if kind == DeviceKind::Cpu { &["host_", "range_"] } else { &["adaptive_"] }
}

/// Table 2.
pub fn table(info: &DeviceInfo, report: &mut Report) {
    let chosen_by = ChosenBy::of(info);
    let ChosenBy { costs, numbers } = &chosen_by;
    report.say("## Table 2: the numbers by which auto chooses");
    report.say(
        "The paper tunes eight thresholds, which decide whether rows are divided among kernels of different sizes. Here \
         times are predicted by what methods cost; `blockmul tune` fits the costs.",
    );
    let header: Vec<&str> = std::iter::once("method").chain(MethodCost::NAMES).collect();
    let row = |(name, cost): (&str, MethodCost)| {
        std::iter::once(name.into()).chain(cost.coefficients().map(|number| number.to_string())).collect()
    };
    report.table(&header, costs.iter().map(row));
    report.say(match info.kind {
        DeviceKind::Cpu => {
            "On a CPU the choice is between whole products by `dense`, in ranges of columns, by `esc` and on the `host`. \
             Numbers of the device for products in ranges and on the host, limits and further costs, by the names that \
             a tuning file has for them:"
        }
        _ => {
            "Numbers of the device for products by classes of columns, thresholds and further costs among them, by the \
             names that a tuning file has for them:"
        }
    });
    let row = |(name, number): (&&str, &usize)| vec![(*name).to_owned(), number.to_string()];
    report.table(&["number", "value"], numbers.iter().map(row));
    report.keep("table_2", &chosen_by);
}
