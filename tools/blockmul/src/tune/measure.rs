//! Times products by every method, verifies each result against the others, and collects the bins
//! to which costs are fitted.
use super::families::{FAMILIES, GROWTH, Operands, products};
use super::fit::ByMethod;
use crate::bench::measure::equal;
use crate::failure::Failure;
use blockmul::{
    Device, Error, Method, Product, Result, element::ElementType, extra::host::Progress, extra::tuning::MethodCosts,
    matrix::AnyMatrix, product::Report,
};
use serde::Serialize;
use std::time::{Duration, Instant};

/// Number of timed runs of each method. The fastest run counts, because the others may have been
/// disturbed. If the time is used up, there is only one run.
const ROUNDS: usize = 3;
/// Timed runs of the choice and of each method. If the time is used up, there is only one run.
const CHOICE_ROUNDS: usize = 7;
/// Number of products on which the choice is measured even if the time is used up.
const LEAST_CHOICES: usize = 3;
/// A run that takes longer than this is not repeated, and needs no warm-up.
const LONG_MS: f64 = 200.0;
/// The fraction of the time that is spent on measuring products. The choice of `auto` is measured
/// in the remaining time.
const MEASURING: f64 = 0.7;
/// Device memory that a measured product takes at most, in bytes for each product of entries.
const PRODUCT_BYTES: u64 = 64;

/// A product that was measured.
#[derive(Default, Serialize)]
pub struct Case {
    pub family: &'static str,
    pub level: u32,
    pub products: u64,
    /// Number of entries of C.
    c_nnz: usize,
    /// Whether this product checks the costs; otherwise costs are fitted to it.
    pub held_out: bool,
    /// Seconds of all runs of the product, without the compilation of kernels.
    seconds: f64,
    pub runs: Vec<ByMethod>,
}

/// The choice of `auto`, compared with the fastest method, for one product.
#[derive(Serialize)]
pub struct Choice {
    pub family: &'static str,
    pub level: u32,
    pub auto_ms: f64,
    pub best: Method,
    pub best_ms: f64,
    /// The extra time of the choice, divided by the fastest time. The extra time is negative if the
    /// choice combines several methods and is faster.
    pub regret: f64,
}

/// The time that is available for measuring, without the compilation of kernels.
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

    /// Whether `seconds` more seconds would be within this fraction of the available time.
    fn has(&self, part: f64, seconds: f64) -> bool {
        self.elapsed() + seconds < part * self.seconds
    }

    fn tell(&self) {
        let all = (self.seconds * 1e3).max(1.0);
        self.progress.tell((self.elapsed() * 1e3).min(all) as u64, all as u64);
    }
}

/// Measures all families in growing sizes, while there is time. The smallest size of each family is
/// always measured. No product is measured twice.
pub fn measure(
    element: ElementType,
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
            let operands = family.operands(element, about)?;
            if operands.sizes() == last_sizes[number] {
                continue;
            }
            last_sizes[number] = operands.sizes();
            let begun = time.elapsed();
            // A third of every family and of every size is held out.
            let held_out = (number + level as usize) % 3 == 2;
            let case = Case { family: family.name, level, held_out, ..Case::default() };
            match case.measured(device, methods, &operands, time) {
                Ok(case) => {
                    last_seconds[number] = time.elapsed() - begun;
                    cases.push(Case { seconds: last_seconds[number], ..case });
                }
                // If a product does not fit the memory, larger products of its family do not fit,
                // either.
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

impl Case {
    /// Measures the product by each method.
    fn measured(
        mut self,
        device: &Device,
        methods: &[Method],
        operands: &Operands,
        time: &mut Time,
    ) -> std::result::Result<Self, Failure> {
        let (a, b) = upload(device, operands)?;
        let b = b.as_ref().unwrap_or(&a);
        let mut want: Option<AnyMatrix> = None;
        for &method in methods {
            let product = || Product::of(&a, b).method(method).explained();
            let (product, untimed) = (product(), product().untimed());
            let (c, first) = product.run_with_report()?;
            time.kernels += Duration::from_secs_f64(first.kernels_ms / 1e3);
            let c = c.download()?;
            let c_nnz = c.nnz();
            match &want {
                Some(want) => {
                    agree([want, &c], || format!("{}, level {}: {} and {method}", self.family, self.level, methods[0]))?
                }
                None => want = Some(c),
            }
            (self.products, self.c_nnz) = (first.products, c_nnz);
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
            self.runs.push(ByMethod::of(method, reports));
        }
        Ok(self)
    }
}

/// Fails if the products of two methods differ in a bit.
fn agree([want, have]: [&AnyMatrix; 2], what: impl Fn() -> String) -> std::result::Result<(), Failure> {
    match equal(have, want) {
        true => Ok(()),
        false => Err(Failure::Verification(format!("{} do not have the same bits; nothing is written", what()))),
    }
}

/// Measures the choice by these costs on the products that were held out, until the time is used
/// up, but on at least the first few.
pub fn choices(
    element: ElementType,
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
        let operands = family.operands(element, products(device.info().kind, case.level))?;
        let (a, b) = upload(device, &operands)?;
        let b = b.as_ref().unwrap_or(&a);
        let products: Vec<_> = [Method::Auto]
            .iter()
            .chain(methods)
            .map(|&method| Product::of(&a, b).method(method).costs(costs).untimed())
            .collect();
        let mut times = vec![Vec::new(); products.len()];
        // The products take turns, so that a change of the machine's speed affects all of them.
        // Each method runs twice, because its first run finds the data of another method in the
        // caches.
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

type OnDevice = blockmul::DeviceMatrix<AnyMatrix>;

fn upload(device: &Device, operands: &Operands) -> Result<(OnDevice, Option<OnDevice>)> {
    Ok((device.upload(&operands.a)?, operands.b.as_ref().map(|b| device.upload(b)).transpose()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockmul::Csc;

    #[test]
    fn a_bit_that_differs_is_a_failure() {
        let of = |value: f64| AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 1.0), (1, 0, value)]).unwrap());
        let what = || "dense and sort".to_owned();
        assert!(agree([&of(0.0), &of(0.0)], what).is_ok());
        for wrong in [of(-0.0), of(f64::EPSILON), Csc::from_triplets(2, 2, [(0, 0, 1.0)]).unwrap().into()] {
            let failure = agree([&of(0.0), &wrong], what).unwrap_err();
            assert!(failure.status() == 1 && failure.to_string().starts_with("dense and sort do not"), "{failure}");
        }
    }
}
