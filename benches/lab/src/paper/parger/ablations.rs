//! Figures 12 to 14: how much the methods and the balancing of bins gain. Each variant is the
//! choice of `auto` without one of the methods. The paper's figure 13 is about the work-items of a
//! referenced row; here it shows the choice without `hub`.
use super::super::Setting;
use super::super::report::{Report, geometric_mean, shown};
use super::Subject;
use crate::chart::{Plot, Series};
use crate::regret::methods::{Contest, Variant};
use blockmul::{
    Method, Result,
    device::{DeviceInfo, DeviceKind},
    extra::tuning::{MethodCost, MethodCosts},
};
use blockmul_cli::failure::Failure;

/// Names of variants. In one variant every class of columns is a bin of its own, whose columns are
/// computed together; in the other there are as few bins as possible.
const ALWAYS: &str = "balanced always";
const NEVER: &str = "balanced never";

/// Microseconds of a launch, which are so many that no class gets a kernel of its own.
const DEAR_US: f64 = 1e9;

/// Methods that are left out of the choice, one at a time.
const TAKEN: [Method; 4] = [Method::Dense, Method::Direct, Method::Sort, Method::Hub];

fn without(method: Method) -> String {
    format!("without {method}")
}

/// Whether a variant is an ablation. The tables have no columns for ablations.
pub fn is_one(name: &str) -> bool {
    [ALWAYS, NEVER].contains(&name) || TAKEN.iter().any(|&method| without(method) == name)
}

/// The variants of `auto` without one of the methods.
pub fn methods(costs: &MethodCosts) -> Result<Vec<Variant>> {
    let variant = |&method: &Method| {
        let costs = Some(costs.without(method.name())?);
        Ok(Variant { name: without(method), method: Method::Auto, costs })
    };
    TAKEN.iter().map(variant).collect()
}

/// Whether `auto` divides the columns into bins on this device. CPUs compute whole products: in
/// ranges, by ESC or on the host.
pub fn has_bins(info: &DeviceInfo) -> bool {
    info.kind != DeviceKind::Cpu
}

/// The variants of `auto` in which launches have no cost, and in which their cost is so high that
/// `auto` makes as few launches as possible. The cost of ESC is raised in both variants, so that
/// ESC does not take all columns.
pub fn balancing(costs: &MethodCosts) -> Result<[Variant; 2]> {
    let with = |name: &str, launch_us: f64| -> Result<Variant> {
        let mut table = *costs;
        for (method, cost) in costs.iter() {
            let [_, product, entry, column] = cost.coefficients();
            let launch_us = if method == Method::Esc.name() { 1e3 * DEAR_US } else { launch_us };
            table = table.with(method, MethodCost::new([launch_us, product, entry, column])?)?;
        }
        Ok(Variant { name: name.into(), method: Method::Auto, costs: Some(table) })
    };
    Ok([with(ALWAYS, 0.0)?, with(NEVER, DEAR_US)?])
}

fn ms(contest: &Contest, name: &str) -> Option<f64> {
    contest.named(name).and_then(|entrant| entrant.ms)
}

/// Figures 12 to 14, with tables of their means.
pub fn figures(setting: &Setting<'_>, report: &mut Report, subjects: &[Subject]) -> std::result::Result<(), Failure> {
    let hash = Method::Hash.name();
    let over_hash = |name: &str| {
        let mut points: Vec<[f64; 2]> = subjects
            .iter()
            .filter_map(|of| Some([of.longest as f64, ms(&of.contest, hash)? / ms(&of.contest, name)?]))
            .collect();
        points.sort_by(|one, other| one[0].total_cmp(&other[0]));
        points
    };
    report.say("## Figure 12: hashing alone, dense accumulation, all methods");
    let names = [Method::Dense.name(), Method::Hub.name(), Method::Auto.name()];
    let mut names: Vec<String> = names.map(String::from).into();
    names.extend(TAKEN.map(without));
    let series: Vec<Series> = names.iter().map(|name| Series::dots(name, over_hash(name))).collect();
    let line = if setting.args.by_rows { "row" } else { "column" };
    let longest = format!("products of the longest {line} of C");
    let axes = [(longest.as_str(), true), ("t(hash) / t", true)];
    let rows = means(&series);
    let plot = Plot::new("speedup over hashing alone", axes, series);
    let text = "How many times longer hash takes, forced for every column, than dense, hub and auto, and than auto \
                without dense, direct, sort or hub, whose columns other methods take.";
    report.figure("figure-12.png", text, plot.encode())?;
    report.table(&["", "products", "geometric mean of t(hash) / t"], rows);

    report.say("## Figure 13: work-items for an entry");
    let points = |of: &Subject| {
        let [fixed, auto] = [without(Method::Hub), Method::Auto.to_string()].map(|name| ms(&of.contest, &name));
        Some([of.longest as f64, fixed? / auto?])
    };
    let series = vec![Series::dots(without(Method::Hub), subjects.iter().filter_map(points).collect())];
    let rows = means(&series);
    let axes = [(longest.as_str(), true), ("t(without hub) / t(auto)", true)];
    let plot = Plot::new("slowdown by work-items of one entry", axes, series);
    let text = "spECK gives each referenced row g work-items, and compares its choice of g with 32. Here it is hub that lets \
                the 32 items of a team share several short columns of A; without it they take one after another, as with \
                g = 32. On CPUs an item takes columns of any length, and what differs is noise.";
    report.figure("figure-13.png", text, plot.encode())?;
    report.table(&["", "products", "geometric mean of t(without hub) / t(auto)"], rows);

    report.say("## Figure 14: balancing");
    if !has_bins(setting.device.info()) {
        report.say(
            "CPUs have no bins to balance: auto computes the whole product in ranges of columns, by ESC or on the host.",
        );
        return Ok(());
    }
    let of_auto = |name: &str| -> Series {
        let slower = |of: &Subject| {
            let times = [Method::Auto.name(), ALWAYS, NEVER].map(|name| ms(&of.contest, name));
            Some(ms(&of.contest, name)? / times.into_iter().flatten().reduce(f64::min)?)
        };
        Series::ascending(name, subjects.iter().filter_map(slower).collect())
    };
    let series: Vec<Series> = [Method::Auto.name(), ALWAYS, NEVER].map(of_auto).into();
    let rows = means(&series);
    let axes = [("products, by ascending slowdown", false), ("t / t of the fastest", false)];
    let text = "Every class of columns in a bin of its own (launches cost nothing), as few bins as possible (launches are \
                too dear), and the choice by the device's costs.";
    report.figure("figure-14.png", text, Plot::new("slowdown by balancing", axes, series).encode())?;
    report.table(&["", "products", "geometric mean of the slowdown"], rows);
    Ok(())
}

/// Returns a row of the table for each series, with its name, the number of points and their
/// geometric mean.
fn means(series: &[Series]) -> Vec<Vec<String>> {
    let row = |of: &Series| {
        let mean = geometric_mean(of.points.iter().map(|point| point[1]));
        vec![of.name.clone(), of.points.len().to_string(), shown(mean, 3)]
    };
    series.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockmul::extra::tuning::BinSize;

    #[test]
    fn each_method_is_taken_away_alone() -> Result<()> {
        let costs = MethodCosts::of_kind(DeviceKind::Gpu);
        for (variant, method) in methods(&costs)?.into_iter().zip(TAKEN) {
            let table = variant.costs.expect("costs of its own");
            assert!(is_one(&variant.name) && variant.method == Method::Auto);
            let missing: Vec<_> = costs.iter().map(|(name, _)| name).filter(|name| table.of(name).is_none()).collect();
            assert_eq!(missing, [method.name()]);
        }
        Ok(())
    }

    #[test]
    fn launches_are_free_or_dear_and_esc_is_never_cheaper() -> Result<()> {
        let costs = MethodCosts::of_kind(DeviceKind::Gpu);
        let [always, never] = balancing(&costs)?.map(|variant| variant.costs.unwrap());
        let ms = |costs: MethodCosts, name: &str| costs.of(name).unwrap().predict_ms(&BinSize::new(1, 0, 0, 0));
        assert_eq!(ms(always, "dense"), 0.0);
        assert!(ms(never, "dense") >= 1e6 && ms(always, "esc") > 14.0 * ms(never, "sort"));
        assert_eq!(always.of("sort").unwrap().coefficients()[1..], costs.of("sort").unwrap().coefficients()[1..]);
        Ok(())
    }
}
