//! Times products by every method, verifies each result against the others, and collects the bins
//! that the fit is made of.
use super::families::{FAMILIES, Family, GROWTH, Operands, products};
use crate::bench::equal;
use crate::failure::Failure;
use blockmul::{
    Csc, Device, Error, Method, Product, Result,
    element::Field,
    host::Progress,
    product::{Bin, Report},
    tuning::{BinSize, MethodCost, MethodCosts, Numbers, Sample},
};
use serde::Serialize;
use std::time::{Duration, Instant};

/// Timed runs of each method, of which the fastest counts: the others were disturbed. There is one
/// if the time is over.
const ROUNDS: usize = 3;
/// Timed runs of the choice and of each method beside it, one if the time is over.
const CHOICE_ROUNDS: usize = 7;
/// Products on which the choice is measured even if there is no time.
const LEAST_CHOICES: usize = 3;
/// A run that takes longer is not repeated, and needs no warm-up.
const LONG_MS: f64 = 200.0;
/// The part of the time in which products are measured; in the rest the choice is.
const MEASURING: f64 = 0.7;
/// Launches of a product whose columns are all sorted without an analysis, about.
const SORTED_LAUNCHES: u32 = 4;
/// Bytes of device memory that a product may take for each of its products.
const PRODUCT_BYTES: u64 = 64;

/// A product that was measured.
#[derive(Serialize)]
pub struct Case {
    pub family: &'static str,
    pub level: u32,
    pub products: u64,
    /// Entries of C.
    c_nnz: usize,
    /// Whether costs are checked by it, instead of fitted to it.
    pub held_out: bool,
    /// Seconds that all took, without that for kernels to be compiled.
    seconds: f64,
    pub runs: Vec<ByMethod>,
}

/// The fastest run by one method.
#[derive(Serialize)]
pub struct ByMethod {
    pub method: Method,
    pub total_ms: f64,
    /// Busy time of all kernels.
    busy_ms: f64,
    launches: u32,
    pub bins: Vec<Bin>,
    /// The sizes of these bins, to which costs are fitted.
    sizes: Vec<Option<BinSize>>,
}

/// The choice of `auto`, compared with the fastest method, for one product.
#[derive(Serialize)]
pub struct Choice {
    pub family: &'static str,
    pub level: u32,
    pub auto_ms: f64,
    pub best: Method,
    pub best_ms: f64,
    /// What the choice costs, as a part of the fastest time: less than 0 if several methods
    /// together are faster.
    pub regret: f64,
}

/// The time that there is, without that for kernels to be compiled.
pub struct Time {
    start: Instant,
    seconds: f64,
    /// Time spent waiting for kernels.
    kernels: Duration,
    progress: Progress,
}

impl Time {
    pub fn new(seconds: f64, progress: Progress) -> Self {
        Self { start: Instant::now(), seconds, kernels: Duration::ZERO, progress }
    }

    fn elapsed(&self) -> f64 {
        self.start.elapsed().saturating_sub(self.kernels).as_secs_f64()
    }

    /// Whether so many more seconds are within this part of the time.
    fn has(&self, part: f64, seconds: f64) -> bool {
        self.elapsed() + seconds < part * self.seconds
    }

    fn tell(&self) {
        let all = (self.seconds * 1e3).max(1.0);
        self.progress.tell((self.elapsed() * 1e3).min(all) as u64, all as u64);
    }
}

/// Measures all families in growing sizes, while there is time. The smallest size of each is always
/// measured, and no product twice.
pub fn measure<T: Field>(
    device: &Device,
    methods: &[Method],
    time: &mut Time,
) -> std::result::Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    let (mut last_seconds, mut last_sizes) = ([0.0; FAMILIES.len()], [[0; 4]; FAMILIES.len()]);
    for level in 0.. {
        let before = cases.len();
        for (number, family) in FAMILIES.iter().enumerate() {
            let about = products(device.info().kind, level);
            let fits = about.saturating_mul(PRODUCT_BYTES) < device.info().global_bytes / 2;
            if level > 0 && !(fits && time.has(MEASURING, GROWTH as f64 * last_seconds[number])) {
                continue;
            }
            let operands = family.operands::<T>(about)?;
            if operands.sizes() == last_sizes[number] {
                continue;
            }
            last_sizes[number] = operands.sizes();
            let begun = time.elapsed();
            match case(device, methods, &operands, (number, family, level), time) {
                Ok(case) => {
                    last_seconds[number] = time.elapsed() - begun;
                    cases.push(Case { seconds: last_seconds[number], ..case });
                }
                // Larger ones do not fit either.
                Err(Failure::Library(Error::Memory { .. } | Error::TooLarge { .. })) if level > 0 => {
                    last_seconds[number] = f64::INFINITY;
                }
                Err(failure) => return Err(failure),
            }
        }
        if cases.len() == before {
            break;
        }
    }
    Ok(cases)
}

fn case<T: Field>(
    device: &Device,
    methods: &[Method],
    operands: &Operands<T>,
    (number, family, level): (usize, &Family, u32),
    time: &mut Time,
) -> std::result::Result<Case, Failure> {
    let (a, b) = upload(device, operands)?;
    let b = b.as_ref().unwrap_or(&a);
    // A third of every family and of every size.
    let held_out = (number + level as usize) % 3 == 2;
    let mut case = Case { family: family.name, level, products: 0, c_nnz: 0, held_out, seconds: 0.0, runs: Vec::new() };
    let mut want: Option<Csc<T>> = None;
    for &method in methods {
        let product = || Product::of(&a, b).method(method).explained();
        let (product, untimed) = (product(), product().untimed());
        let (c, first) = product.run_with_report()?;
        time.kernels += Duration::from_secs_f64(first.kernels_ms / 1e3);
        let c = c.download()?;
        let c_nnz = c.nnz();
        match &want {
            Some(want) => agree([want, &c], || format!("{}, level {level}: {} and {method}", family.name, methods[0]))?,
            None => want = Some(c),
        }
        (case.products, case.c_nnz) = (first.products, c_nnz);
        let mut reports = Vec::new();
        if first.total_ms > LONG_MS {
            reports.push(first);
        }
        let again = |reports: &[Report], time: &Time| {
            reports.is_empty() || (time.has(1.0, 0.0) && reports.iter().all(|report| report.total_ms <= LONG_MS))
        };
        while reports.len() < ROUNDS && again(&reports, time) {
            let mut report = product.run_with_report()?.1;
            report.total_ms = untimed.run_with_report()?.1.total_ms;
            reports.push(report);
            time.tell();
        }
        case.runs.push(ByMethod::of(method, reports));
    }
    Ok(case)
}

/// Refuses products of two methods that differ in a bit.
fn agree<T: Field>([want, have]: [&Csc<T>; 2], what: impl Fn() -> String) -> std::result::Result<(), Failure> {
    match equal(have, want) {
        true => Ok(()),
        false => Err(Failure::Verification(format!("{} do not have the same bits; nothing is written", what()))),
    }
}

/// Measures the choice by these costs on the products that were held out, while there is time, and
/// on the first few in any case.
pub fn choices<T: Field>(
    device: &Device,
    methods: &[Method],
    costs: MethodCosts,
    cases: &[Case],
    time: &mut Time,
) -> std::result::Result<Vec<Choice>, Failure> {
    let mut choices: Vec<Choice> = Vec::new();
    for case in cases.iter().filter(|case| case.held_out) {
        let rounds = 4.0 * CHOICE_ROUNDS as f64; // each run twice, and the choice itself
        let seconds = case.runs.iter().map(|run| run.total_ms / 1e3).sum::<f64>() * rounds;
        if choices.len() >= LEAST_CHOICES && !time.has(1.0, seconds.max(case.seconds)) {
            continue;
        }
        let Some(family) = FAMILIES.iter().find(|family| family.name == case.family) else { continue };
        let operands = family.operands::<T>(products(device.info().kind, case.level))?;
        let (a, b) = upload(device, &operands)?;
        let b = b.as_ref().unwrap_or(&a);
        let products: Vec<_> = [Method::Auto]
            .iter()
            .chain(methods)
            .map(|&method| Product::of(&a, b).method(method).costs(costs).untimed())
            .collect();
        let mut times = vec![Vec::new(); products.len()];
        // In turn, so that a change of the machine concerns all of them. Each runs twice: the first
        // finds what another method left in the caches.
        for round in 0..CHOICE_ROUNDS {
            if round > 0 && !time.has(1.0, 0.0) {
                break;
            }
            for (product, times) in products.iter().zip(&mut times) {
                let (_, first) = product.run_with_report()?;
                time.kernels += Duration::from_secs_f64(first.kernels_ms / 1e3);
                times.push(product.run_with_report()?.1.total_ms);
                time.tell();
            }
        }
        let times: Vec<f64> = times.into_iter().map(|times| times.into_iter().fold(f64::MAX, f64::min)).collect();
        let forced = methods.iter().zip(&times[1..]);
        let Some((&best, &best_ms)) = forced.min_by(|one, other| one.1.total_cmp(other.1)) else { continue };
        let (auto_ms, regret) = (times[0], times[0] / best_ms - 1.0);
        choices.push(Choice { family: case.family, level: case.level, auto_ms, best, best_ms, regret });
    }
    Ok(choices)
}

type OnDevice<T> = blockmul::DeviceMatrix<Csc<T>>;

fn upload<T: Field>(device: &Device, operands: &Operands<T>) -> Result<(OnDevice<T>, Option<OnDevice<T>>)> {
    Ok((device.upload(&operands.a)?, operands.b.as_ref().map(|b| device.upload(b)).transpose()?))
}

impl ByMethod {
    /// Milliseconds besides its bins with which the choice on a GPU reckons, by these numbers.
    /// `longest` is the number of entries of the longest column of B, which are taken one after
    /// another by methods that find rows.
    pub fn besides_ms(&self, numbers: &Numbers, longest: usize) -> f64 {
        if self.bins.iter().all(|bin| cost_name(bin.method) == Method::Esc.name()) {
            return 0.0;
        }
        let columns = self.bins.iter().map(|bin| bin.columns as f64).sum::<f64>();
        let analysis_us = match self.launches > SORTED_LAUNCHES {
            true => numbers.adaptive_analysis_us as f64 + columns * numbers.adaptive_column_ps as f64 * 1e-6,
            false => 0.0,
        };
        let finds_rows = self.bins.iter().any(|bin| matches!(bin.method, Method::Dense | Method::Hub | Method::Hash));
        let longest_ns = if finds_rows { longest * numbers.adaptive_longest_ns } else { 0 };
        (analysis_us + (self.bins.len() * numbers.adaptive_bin_us) as f64) * 1e-3 + longest_ns as f64 * 1e-6
    }

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

    #[test]
    fn a_bit_that_differs_is_a_failure() {
        let of = |value: f64| Csc::from_triplets(2, 2, [(0, 0, 1.0), (1, 0, value)]).unwrap();
        let what = || "dense and sort".to_owned();
        assert!(agree([&of(0.0), &of(0.0)], what).is_ok());
        for wrong in [of(-0.0), of(f64::EPSILON), Csc::from_triplets(2, 2, [(0, 0, 1.0)]).unwrap()] {
            let failure = agree([&of(0.0), &wrong], what).unwrap_err();
            assert!(failure.status() == 1 && failure.to_string().starts_with("dense and sort do not"), "{failure}");
        }
    }

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
        (numbers.adaptive_analysis_us, numbers.adaptive_bin_us, numbers.adaptive_column_ps) = (1000, 10, 1);
        numbers.adaptive_longest_ns = 1_500_000;
        for (launches, methods, ms) in [
            (10, &[Method::Dense][..], 4.01),
            (10, &[Method::Sort, Method::Dense], 4.02),
            (10, &[Method::Sort], 1.01),
            (3, &[Method::Sort], 0.01),
            (16, &[Method::EscLocal], 0.0),
        ] {
            let found = run(launches, methods).besides_ms(&numbers, 2);
            assert!((found - ms).abs() < 1e-6, "{methods:?}: {found}");
        }
    }

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

    fn numbers() -> Numbers {
        let wanted = std::env::var("BLOCKMUL_TEST_DEVICE").unwrap_or("auto".into());
        Device::select(&wanted).unwrap().info().numbers()
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
