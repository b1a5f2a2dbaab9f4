//! Parger, Winter, Mlakar, Steinberger: spECK, 2020. Tables 2 to 4 and figures 6 to 15. `numbers`
//! has the numbers by which `auto` chooses, `ranking` the table that counts the fastest methods,
//! and the curves, `ablations` the variants of `auto` without one method.
mod ablations;
mod numbers;
mod ranking;

use super::models::{PARGER, longest_line};
use super::polok::figures::shares;
use super::report::{Report, counted, shown};
use super::{Setting, peers::Peer};
use crate::chart::{Bars, Group};
use crate::patterns::Factors;
use crate::regret::families::{self, FAMILIES};
use crate::regret::methods::{Contest, Entrant, Variant};
use blockmul::Method;
use blockmul_cli::bench::matrices::Input;
use blockmul_cli::failure::Failure;
use blockmul_cli::spy;
use serde::Serialize;

/// Maximum number of matrices with a row of their own in table 4 and a picture in figure 8.
const SHOWN: usize = 16;
/// Largest width and height of the pictures of figure 8, in pixels.
const PICTURE: usize = 256;

/// A product, with the information whether it has a row of its own in the report.
#[derive(Serialize)]
struct Subject {
    /// The kind of matrix that is generated in place of the paper's matrix.
    what: String,
    common: bool,
    /// Products of the longest column of C, or of its longest row if rows are multiplied.
    longest: u64,
    #[serde(flatten)]
    contest: Contest,
}

/// Writes the report of the paper's measurements.
pub fn study(setting: &Setting<'_>, report: &mut Report) -> Result<(), Failure> {
    let (info, costs) = (setting.device.info(), setting.device.info().costs());
    let what = "Measurements of M. Parger, M. Winter, D. Mlakar, M. Steinberger, *spECK: Accelerating GPU Sparse \
                Matrix-Matrix Multiplication through Lightweight Analysis*, PPoPP 2020";
    let how = format!(
        "f64; medians of up to {} rounds, all variants in turn; operands and C are on the device; every product is the \
         reference's bit for bit. GFLOPS count two operations for each product, as the paper does. `auto` is blockmul as \
         it is, the other names of methods are that method forced.",
        setting.lab.patience.rounds
    );
    report.begin(setting, "spECK", what, &how);
    let mut variants = Variant::all();
    if ablations::has_bins(info) {
        variants.extend(ablations::balancing(&costs)?);
    }
    variants.extend(ablations::methods(&costs)?);
    numbers::table(info, report);
    let mut subjects = Vec::new();
    let mut pictures = Vec::new();
    for Operands { name, what, common, make } in operands(setting)? {
        setting.lab.messages.step(format!("{name}: making operands"));
        let factors = match make() {
            Ok(factors) => factors,
            Err(Failure::Library(error)) => {
                setting.note(report, &name, error);
                continue;
            }
            Err(failure) => return Err(failure),
        };
        let common = common && subjects.len() < SHOWN;
        let longest = longest_line(&factors, setting.args.by_rows);
        let (a, b) = &factors;
        let Some(contest) = setting.contest(report, [&name, &what], a, b.as_ref(), &variants) else { continue };
        if common {
            pictures.push((name.clone(), spy::picture(a, PICTURE).map_err(Failure::from)?));
        }
        subjects.push(Subject { what, common, longest, contest });
        report.keep("products", &subjects);
        report.save(setting.folder)?;
    }
    ranking::tables(setting, report, &subjects)?;
    let common: Vec<&Subject> = subjects.iter().filter(|of| of.common).collect();
    statistics(report, &common);
    report.say("## Figure 8: patterns");
    for (at, (name, picture)) in pictures.into_iter().enumerate() {
        report.figure(&format!("figure-8-{}.png", at + 1), &format!("A of {name}."), Ok(picture))?;
    }
    bars(setting, report, &common)?;
    ablations::figures(setting, report, &subjects)?;
    let peers: Vec<&Peer> = subjects.iter().flat_map(|of| setting.peers.of(&of.contest.matrix)).collect();
    report.libraries(peers.iter().copied());
    report.differences();
    report.keep("peers", &peers);
    Ok(())
}

/// A product before its factors are made: its name and kind, whether it may have a row of its own,
/// and a function that makes the factors.
pub struct Operands<'s> {
    pub name: String,
    what: String,
    common: bool,
    pub make: Box<dyn Fn() -> Result<Factors, Failure> + 's>,
}

/// The files and the generated matrices; if `--only` has names, those with these names.
fn operands<'s>(setting: &'s Setting<'_>) -> Result<Vec<Operands<'s>>, Failure> {
    let file = |input: &'s Input| {
        let make = Box::new(move || setting.lab.open_scalars(input));
        Operands { name: input.matrix_name(), what: "a file".into(), common: true, make }
    };
    let models = if setting.with_models() { all_generated(setting.most) } else { Vec::new() };
    chosen(setting.args.study.inputs.iter().map(file).chain(models).collect(), &setting.args.only)
}

/// The generated matrices. If there are names in `only`, returns only the matrices with these
/// names.
pub fn generated<'s>(most: u64, only: &[String]) -> Result<Vec<Operands<'s>>, Failure> {
    chosen(all_generated(most), only)
}

/// The models of the paper's matrices, and families in increasing sizes.
fn all_generated<'s>(most: u64) -> Vec<Operands<'s>> {
    let mut all = Vec::new();
    for model in &PARGER {
        let (what, make) = (format!("in its place: {}", model.what), Box::new(move || Ok(model.factors(most)?)));
        all.push(Operands { name: model.name.into(), what, common: true, make });
    }
    for size in families::sizes(most) {
        for family in &FAMILIES {
            let Some(make) = family.products else { continue };
            let make = Box::new(move || Ok(make(size as usize)?));
            all.push(Operands { name: family.member(size), what: family.stands_for.into(), common: false, make });
        }
    }
    all
}

/// Leaves out operands whose names are not in `only`, unless `only` is empty.
fn chosen<'s>(mut all: Vec<Operands<'s>>, only: &[String]) -> Result<Vec<Operands<'s>>, Failure> {
    if let Some(name) = only.iter().find(|&name| all.iter().all(|of| of.name != *name)) {
        let names: Vec<_> = all.iter().map(|of| of.name.as_str()).collect();
        return Err(Failure::Usage(format!("--only: no matrix is called {name}, but {}", names.join(", "))));
    }
    all.retain(|of| only.is_empty() || only.contains(&of.name));
    Ok(all)
}

fn gflops(contest: &Contest, ms: Option<f64>) -> Option<f64> {
    ms.map(|ms| 2.0 * contest.products as f64 / ms / 1e6)
}

/// Table 4.
fn statistics(report: &mut Report, common: &[&Subject]) {
    report.say("## Table 4: the matrices");
    let row = |of: &&Subject| {
        let contest = &of.contest;
        let sizes = [contest.a.rows(), contest.a.cols(), contest.a.nnz()].map(|size| size as f64);
        let counts = sizes.into_iter().chain([contest.products, contest.c_nnz].map(|count| count as f64));
        // If there are no entries to multiply, the product has no bins.
        let shares = contest.entrant(Method::Auto).map(Entrant::shares).filter(|shares| !shares.is_empty());
        let names = [contest.matrix.clone(), of.what.clone()];
        names.into_iter().chain(counts.map(counted)).chain([shares.unwrap_or("-".into())]).collect()
    };
    let header = ["matrix", "what", "rows", "cols", "nnz(A)", "products", "nnz(C)", "auto's choice"];
    report.table(&header, common.iter().map(row));
}

/// Figures 9 to 11: rates, memory and stages of the products that have rows of their own.
fn bars(setting: &Setting<'_>, report: &mut Report, common: &[&Subject]) -> Result<(), Failure> {
    let columns = ranking::columns(setting, common.iter().copied());
    let group = |of: &&Subject, number: &dyn Fn(&Subject, &str) -> Option<f64>| Group {
        name: of.contest.matrix.clone(),
        numbers: columns.iter().map(|name| number(of, name)).collect(),
    };
    let chart = |title: &str, label: &str, number: &dyn Fn(&Subject, &str) -> Option<f64>| {
        Bars::new(title, label, &columns, common.iter().map(|of| group(of, number))).log()
    };
    report.say("## Figure 9: rates");
    let rate = |of: &Subject, name: &str| gflops(&of.contest, ranking::ms(setting, &of.contest, name));
    report.figure("figure-9.png", "GFLOPS on the matrices of table 4.", chart("GFLOPS", "GFLOPS", &rate).encode())?;
    report.say("## Figure 10: memory");
    let memory = |of: &Subject, name: &str| ranking::bytes(setting, &of.contest, name).map(|bytes| bytes / 1e6);
    let text = "Device memory in use at most, operands and C included. Other libraries where their records have it.";
    report.figure("figure-10.png", text, chart("peak memory", "MB", &memory).encode())?;
    report.say("## Figure 11: stages");
    let stages = shares(
        "time of the stages of auto, %",
        common.iter().filter_map(|of| Some((of.contest.matrix.as_str(), of.contest.entrant(Method::Auto)?))),
    );
    let text = "Share of each stage in the busy time of auto. `count` is the paper's symbolic SpGEMM, `sums` its numeric \
                one, `setup` its analysis; ESC has the stages of Polok 2015.";
    report.figure("figure-11.png", text, stages.encode())?;
    let row = |group: &Group| {
        let numbers = group.numbers.iter().map(|number| shown(*number, 1));
        [group.name.clone()].into_iter().chain(numbers).collect()
    };
    let header: Vec<&str> = std::iter::once("%").chain(stages.parts.iter().map(String::as_str)).collect();
    report.table(&header, stages.groups.iter().map(row));
    Ok(())
}
