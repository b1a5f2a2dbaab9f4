//! Times of plans.
use super::record::median;
use blockmul::{Device, Result};
use std::time::{Duration, Instant};

/// The most plans that are timed. After `PLANNING` no further plan is begun.
const MOST: usize = 9;
const PLANNING: Duration = Duration::from_millis(300);

/// Makes a plan several times. The milliseconds of a plan are the median of all its times except
/// the first, which includes the compilation of kernels.
pub fn planned<P>(device: &Device, plan: impl Fn() -> Result<P>) -> Result<(P, f64)> {
    drop(plan()?);
    device.finish()?;
    let (begin, mut runs) = (Instant::now(), Vec::new());
    loop {
        // The next plan uses the memory of the previous one again.
        let clock = Instant::now();
        let planned = plan()?;
        device.finish()?;
        runs.push(clock.elapsed().as_secs_f64() * 1e3);
        if runs.len() == MOST || begin.elapsed() > PLANNING {
            return Ok((planned, median(&runs).expect("a plan at least")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn one_slow_plan_is_not_the_time_of_all() {
        let device = Device::select(&std::env::var("BLOCKMUL_TEST_DEVICE").unwrap_or("auto".into())).unwrap();
        let made = Cell::new(0);
        let plan = || {
            made.set(made.get() + 1);
            if [1, 2].contains(&made.get()) {
                std::thread::sleep(Duration::from_millis(100));
            }
            Ok(made.get())
        };
        let (last, ms) = planned(&device, plan).unwrap();
        assert!(last > 2 && last as usize <= MOST + 1 && ms < 100.0, "{last} plans, {ms} ms");
    }
}
