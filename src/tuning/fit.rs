//! Fits the costs of a method to measured times, by least squares of relative errors. No
//! coefficient is negative.
use super::costs::{BinSize, MethodCost, terms_ms};
use crate::{Error, Result};
use nalgebra::{DMatrix, DVector};
use serde::Serialize;

/// A bin whose time was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Sample {
    /// The size of the bin.
    pub size: BinSize,
    /// The time of the bin in milliseconds, which is positive.
    pub ms: f64,
}

impl Sample {
    /// Makes a sample: a bin of size `size` that took `ms` milliseconds.
    pub fn new(size: BinSize, ms: f64) -> Self {
        Self { size, ms }
    }
}

/// Differences between predicted and measured times, as fractions of the measured times.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Errors {
    /// Number of bins that were measured.
    pub bins: usize,
    /// The mean error.
    pub mean: f64,
    /// The largest error.
    pub worst: f64,
}

impl Errors {
    /// Computes the errors of the times that `cost` predicts.
    pub fn of(samples: &[Sample], cost: &MethodCost) -> Self {
        let errors = samples.iter().map(|sample| (cost.predict_ms(&sample.size) - sample.ms).abs() / sample.ms);
        let (sum, worst) = errors.fold((0.0, 0.0_f64), |(sum, worst), error| (sum + error, worst.max(error)));
        Self { bins: samples.len(), mean: sum / samples.len().max(1) as f64, worst }
    }
}

/// If the ratio of the smallest and the largest singular value is below this number, the
/// coefficients cannot be separated.
const DISTINCT: f64 = 1e-6;

/// Smallest change of a relative error that counts. Smaller changes may be rounding errors.
const SMALLEST: f64 = 1e-9;

/// The weight of a coefficient's distance from its usual value. If the coefficient's term alone
/// could explain the measured times, the distance counts like one bin whose prediction is wrong by
/// this fraction of its time. So a coefficient that the bins do not determine keeps its usual
/// value.
const USUAL: f64 = 0.05;

/// The least cost of a product, as a fraction of the usual cost scaled to the measured times. A
/// product takes time on any device, even if the times of the bins do not depend on their products.
const LEAST: f64 = 0.02;

/// The index of the products' coefficient.
const PRODUCT: usize = 1;

impl MethodCost {
    /// Finds the costs of a method that best explain measured times, rounded to four digits. Errors
    /// are relative, so small and large bins have equal weight.
    ///
    /// `usual` are the costs on other devices of this kind. All usual costs are scaled by one
    /// factor to the measured times. The usual costs determine the coefficients that the bins leave
    /// open. For example, if no two products of a column have the same row, all bins have the same
    /// ratio of products and entries of C, and the two costs cannot be measured separately. A
    /// product costs at least a fiftieth of its scaled usual cost.
    ///
    /// # Errors
    /// [`Error::Argument`] if there are no samples, or if a time is not positive.
    pub fn fit(samples: &[Sample], usual: &MethodCost) -> Result<Self> {
        if let Some(wrong) = samples.iter().find(|sample| !(f64::MIN_POSITIVE..f64::INFINITY).contains(&sample.ms)) {
            return Err(Error::Argument(format!("a time of {} ms", wrong.ms)));
        }
        let mut rows: Vec<[f64; 4]> =
            samples.iter().map(|sample| terms_ms(&sample.size).map(|term| term / sample.ms)).collect();
        let mut targets = vec![1.0; rows.len()];
        let scale = median(samples.iter().map(|sample| sample.ms / usual.predict_ms(&sample.size))).unwrap_or(1.0);
        for (at, coefficient) in usual.coefficients().into_iter().enumerate().filter(|(_, usual)| *usual > 0.0) {
            let coefficient = scale * coefficient;
            let alone = median(samples.iter().map(|sample| sample.ms / terms_ms(&sample.size)[at]));
            let weight = USUAL / alone.map_or(coefficient, |alone| alone.max(coefficient));
            rows.push(std::array::from_fn(|col| if col == at { weight } else { 0.0 }));
            targets.push(weight * coefficient);
        }
        let terms = DMatrix::from_fn(rows.len(), 4, |row, col| rows[row][col]);
        let mut least = [0.0; 4];
        least[PRODUCT] = if usual.product_ps > 0.0 { LEAST * scale * usual.product_ps } else { 0.0 };
        // Only the part of the costs above the least costs is fitted. The fitted part of a cost is
        // not negative.
        let above = DVector::from_vec(targets) - &terms * DVector::from_row_slice(&least);
        let measured = samples.iter().any(|sample| terms_ms(&sample.size).iter().any(|&term| term > 0.0));
        if !measured {
            return Err(Error::Argument("no times to fit costs to".into()));
        }
        let fitted = not_negative(&terms, &above);
        Self::new(std::array::from_fn(|at| rounded(least[at] + fitted[at])))
    }
}

/// Returns the median of the finite values.
fn median(of: impl Iterator<Item = f64>) -> Option<f64> {
    let mut all: Vec<f64> = of.filter(|one| one.is_finite()).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

/// Finds the x >= 0 that minimizes |terms · x - targets|. The solution is the unbounded
/// least-squares solution for some set of the four columns. All 15 sets of columns are tried.
fn not_negative(terms: &DMatrix<f64>, targets: &DVector<f64>) -> [f64; 4] {
    let (mut least, mut best) = (targets.norm(), [0.0; 4]);
    let mut sets: Vec<Vec<usize>> = (1..16).map(|set| (0..4).filter(|col| set >> col & 1 == 1).collect()).collect();
    sets.sort_by_key(Vec::len);
    for set in sets {
        let columns = terms.select_columns(&set);
        let scales: Vec<f64> = columns.column_iter().map(|column| column.norm()).collect();
        if scales.contains(&0.0) || set.len() > terms.nrows() {
            continue;
        }
        let scaled = DMatrix::from_fn(columns.nrows(), set.len(), |row, col| columns[(row, col)] / scales[col]);
        let parts = scaled.clone().svd(true, true);
        if parts.singular_values.min() < DISTINCT * parts.singular_values.max() {
            continue;
        }
        let Ok(x) = parts.solve(targets, 0.0) else { continue };
        if x.iter().any(|&coefficient| coefficient < 0.0) {
            continue;
        }
        let error = (&scaled * &x - targets).norm();
        // Sets of fewer coefficients come first, and a larger set is taken only if its error is
        // smaller.
        if error < least * (1.0 - SMALLEST) - SMALLEST {
            (least, best) = (error, [0.0; 4]);
            set.iter().zip(x.iter().zip(&scales)).for_each(|(&at, (x, scale))| best[at] = x / scale);
        }
    }
    best
}

/// Rounds to four digits, the precision of tuning files.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().expect("a number")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;

    /// Usual costs that are all zero.
    const NONE: MethodCost = MethodCost::of([0.0; 4]);

    /// Bins of many sizes, up to about a hundred million products.
    fn sizes() -> Vec<BinSize> {
        let mut random = Random::new(5);
        let size = |at: u32| {
            let products = 100 << at;
            let entries = products / (1 + random.below(20));
            BinSize::new(1 + at % 3, products, entries, products / (10 + random.below(200)))
        };
        (0..20).map(size).collect()
    }

    /// Makes samples of a method with the costs `cost`, and fits costs to them. Returns the fit and
    /// its errors.
    fn fitted(cost: MethodCost, usual: MethodCost, mut noise: impl FnMut() -> f64) -> Result<(MethodCost, Errors)> {
        let sample = |size: BinSize| Sample::new(size, cost.predict_ms(&size) * noise());
        let samples: Vec<_> = sizes().into_iter().map(sample).collect();
        let fit = MethodCost::fit(&samples, &usual)?;
        Ok((fit, Errors::of(&samples, &fit)))
    }

    #[test]
    fn costs_are_recovered_from_the_times_they_predict() -> Result<()> {
        for coefficients in
            [[6.0, 5.0, 7.0, 400.0], [2.5, 0.0, 0.0, 1000.0], [0.0, 12.0, 0.0, 0.0], [10.0, 1e4, 5e4, 1e6]]
        {
            let cost = MethodCost::new(coefficients)?;
            // The usual costs are those of a device of equal speed, those of a device that takes 7
            // times as long, or all zero.
            for usual in [coefficients, coefficients.map(|all| 7.0 * all), [0.0; 4]] {
                let (fit, errors) = fitted(cost, MethodCost::new(usual)?, || 1.0)?;
                assert_eq!(fit, cost);
                assert!(errors.worst < 1e-9 && errors.bins == 20, "{errors:?}");
            }
            // If the ratios of the usual costs differ from those of the device's costs, the fit is
            // inexact only in coefficients that hardly influence the times.
            let (_, errors) = fitted(cost, MethodCost::new([10.0, 9.0, 8.0, 700.0])?, || 1.0)?;
            assert!(errors.worst < 0.1 && errors.mean < 0.02, "{errors:?}");
        }
        Ok(())
    }

    #[test]
    fn noise_moves_costs_a_little_and_none_below_zero() -> Result<()> {
        let mut random = Random::new(9);
        for coefficients in [[6.0, 20.0, 70.0, 4000.0], [10.0, 30.0, 0.0, 0.0]] {
            let cost = MethodCost::new(coefficients)?;
            let (fit, errors) = fitted(cost, cost, || 0.95 + 0.1 * random.unit())?;
            assert!(errors.worst < 0.12 && errors.mean < 0.05 && errors.worst > 0.0, "{errors:?}");
            assert!(fit.coefficients().iter().all(|&coefficient| coefficient >= 0.0));
            for size in sizes() {
                let exact = Sample::new(size, cost.predict_ms(&size));
                assert!(Errors::of(&[exact], &fit).worst < 0.1, "{size:?}: {fit:?}");
            }
        }
        Ok(())
    }

    /// Tests times that fall as the number of columns grows, which would need a negative
    /// coefficient.
    #[test]
    fn coefficients_that_would_be_negative_are_zero() -> Result<()> {
        let sample = |columns: u64| Sample::new(BinSize::new(1, 1000, 1000, columns), 2.0 - columns as f64 / 1000.0);
        let fit = MethodCost::fit(&[sample(0), sample(500), sample(1000)], &NONE)?;
        assert_eq!(fit.column_ps, 0.0);
        assert!(fit.predict_ms(&BinSize::new(1, 1000, 1000, 0)) > 1.0);
        Ok(())
    }

    /// Tests bins in which C has as many entries as there are products, so that the two costs
    /// cannot be separated.
    #[test]
    fn of_two_equal_terms_each_gets_its_usual_part() -> Result<()> {
        let sample = |products: u64| Sample::new(BinSize::new(1, products, products, 0), products as f64 * 9e-9);
        let samples = [sample(1000), sample(1 << 20), sample(1 << 24)];
        assert_eq!(MethodCost::fit(&samples, &NONE)?, MethodCost::new([0.0, 9.0, 0.0, 0.0])?);
        let usual = MethodCost::new([0.0, 200.0, 100.0, 0.0])?;
        assert_eq!(MethodCost::fit(&samples, &usual)?, MethodCost::new([0.0, 6.0, 3.0, 0.0])?);
        Ok(())
    }

    /// Tests times that do not grow with the number of products.
    #[test]
    fn products_are_never_free() -> Result<()> {
        let usual = MethodCost::new([10.0, 50.0, 20.0, 0.0])?;
        let sample = |products, entries: u64| Sample::new(BinSize::new(1, products, entries, 0), entries as f64 * 3e-8);
        let samples = [sample(1 << 20, 1 << 20), sample(1 << 24, 1 << 20), sample(1 << 22, 1 << 19)];
        let fit = MethodCost::fit(&samples, &usual)?;
        assert!(fit.product_ps > 0.0 && fit.product_ps < usual.product_ps && fit.entry_ps > 0.0, "{fit:?}");
        assert_eq!(MethodCost::fit(&samples, &NONE)?.product_ps, 0.0, "nothing is usual");
        Ok(())
    }

    /// Tests that a few bins of one size do not make a method free for other sizes.
    #[test]
    fn what_bins_do_not_say_is_as_usual() -> Result<()> {
        let usual = MethodCost::new([10.0, 50.0, 0.0, 0.0])?;
        let bins = [1.0, 1.1, 0.9, 1.0].map(|ms| Sample::new(BinSize::new(2, 10_000, 0, 0), ms));
        let large = BinSize::new(2, 100_000_000, 0, 0);
        assert!(MethodCost::fit(&bins, &NONE)?.predict_ms(&large) < 1.1);
        let scale = 1.0 / usual.predict_ms(&bins[0].size);
        let fit = MethodCost::fit(&bins, &usual)?;
        let part = fit.predict_ms(&large) / usual.predict_ms(&large) / scale;
        assert!((0.5..2.0).contains(&part), "{part}: {fit:?}");
        Ok(())
    }

    #[test]
    fn errors_are_parts_of_the_measured_time() -> Result<()> {
        let cost = MethodCost::new([0.0, 1000.0, 0.0, 0.0])?;
        let sample = |ms| Sample::new(BinSize::new(1, 1_000_000, 0, 0), ms);
        let errors = Errors::of(&[sample(1.0), sample(2.0), sample(0.8)], &cost);
        assert!((errors.mean - 0.25).abs() < 1e-12 && (errors.worst - 0.5).abs() < 1e-12, "{errors:?}");
        assert_eq!(Errors::of(&[], &cost), Errors::default());
        Ok(())
    }

    #[test]
    fn times_that_cannot_be_are_refused() {
        let usual = MethodCost::of([1.0; 4]);
        assert!(MethodCost::fit(&[], &NONE).unwrap_err().to_string().contains("no times"));
        assert!(
            MethodCost::fit(&[Sample::new(BinSize::default(), 1.0)], &usual)
                .unwrap_err()
                .to_string()
                .contains("no times")
        );
        for ms in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(MethodCost::fit(&[Sample::new(BinSize::new(1, 1, 1, 1), ms)], &usual).is_err(), "{ms}");
        }
    }
}
