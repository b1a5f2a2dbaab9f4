//! A method, or the choice of `auto`, that takes part in a contest, with its times.
use blockmul::{Method, Result, device::StageTime, product::Bin};
use blockmul_cli::bench::record::{median, spread};
use serde::Serialize;

/// If only fast methods take turns, a method that takes this many times as long as the fastest in
/// two runs takes no further turn, and those two times count.
const MUCH_SLOWER: f64 = 10.0;

/// A run that takes longer than this many milliseconds is not repeated to exclude a disturbance.
/// Only methods that do not suit the device take so long: on two cores `hub` takes 26 s for four
/// million short columns.
pub const LONG_MS: f64 = 2000.0;

/// A variant that computed all of a product.
#[derive(Serialize, Default)]
pub struct Entrant {
    pub name: String,
    pub method: Method,
    /// Whether the result has the reference's bits. An entrant with a wrong result has no times.
    pub verified: bool,
    pub runs_ms: Vec<f64>,
    /// The median of `runs_ms`.
    pub ms: Option<f64>,
    /// The interquartile range, divided by the median.
    pub spread: Option<f64>,
    pub peak_device_bytes: u64,
    pub launches: u32,
    pub bins: Vec<Bin>,
    pub stages: Vec<StageTime>,
}

impl Entrant {
    pub fn timed(&mut self, runs_ms: Vec<f64>) {
        self.ms = median(&runs_ms);
        self.spread = spread(&runs_ms);
        self.runs_ms = runs_ms;
    }

    /// Whether there is only one time, or the interquartile range exceeds the median.
    fn is_noisy(&self) -> bool {
        self.runs_ms.len() == 1 || self.spread.is_some_and(|spread| spread > 1.0)
    }

    /// The methods that computed the product, by descending shares of the products, for example
    /// `sort 80 %, hub`.
    pub fn shares(&self) -> String {
        let mut shares: Vec<(Method, u64)> = Vec::new();
        for bin in &self.bins {
            match shares.iter_mut().find(|(method, _)| *method == bin.method) {
                Some((_, products)) => *products += bin.products,
                None => shares.push((bin.method, bin.products)),
            }
        }
        shares.sort_by_key(|&(_, products)| std::cmp::Reverse(products));
        let all: u64 = shares.iter().map(|(_, products)| products).sum();
        let share = |&(method, products): &(Method, u64)| match shares.len() {
            1 => method.to_string(),
            _ => format!("{method} {:.0} %", 100.0 * products as f64 / all.max(1) as f64),
        };
        shares.iter().map(share).collect::<Vec<_>>().join(", ")
    }
}

/// The entrants that take turns. These are all entrants that have a time or, if `only_fast` is
/// true, the choice and the methods that are not much slower than the fastest. A slow method runs a
/// second time, because its first run may have been disturbed, and the shorter time decides. A long
/// run is not repeated.
pub fn in_turns(entrants: &mut [Entrant], only_fast: bool, run: impl Fn(usize) -> Result<f64>) -> Result<Vec<usize>> {
    let least = entrants.iter().filter_map(|entrant| entrant.ms).fold(f64::INFINITY, f64::min);
    let slow = |ms| only_fast && ms > MUCH_SLOWER * least;
    let mut order = Vec::new();
    for (at, entrant) in entrants.iter_mut().enumerate() {
        let Some(ms) = entrant.ms else { continue };
        if entrant.method != Method::Auto && slow(ms) {
            if ms > LONG_MS {
                continue;
            }
            let again = run(at)?;
            entrant.timed(vec![ms, again]);
            if slow(ms.min(again)) {
                continue;
            }
        }
        order.push(at);
    }
    Ok(order)
}

/// The fastest method.
pub fn fastest(entrants: &[Entrant]) -> Option<&Entrant> {
    let methods = entrants.iter().filter(|entrant| entrant.method != Method::Auto && entrant.ms.is_some());
    methods.min_by(|one, other| one.ms.unwrap_or(f64::MAX).total_cmp(&other.ms.unwrap_or(f64::MAX)))
}

/// Whether the time of the choice or of the fastest method is unreliable.
pub fn are_noisy(entrants: &[Entrant]) -> bool {
    let auto = entrants.iter().find(|entrant| entrant.method == Method::Auto);
    auto.into_iter().chain(fastest(entrants)).any(Entrant::is_noisy)
}

#[cfg(test)]
mod tests {
    use super::super::contest::tests::contest;
    use super::*;

    #[test]
    fn a_disturbed_run_takes_no_turns_away() -> Result<()> {
        let first = [(Method::Auto, 3, &[25.0][..]), (Method::Dense, 3, &[1.0]), (Method::Esc, 9, &[11.0])];
        let slow = (Method::Hash, 9, &[12.0][..]);
        let mut of = contest(&[first[0], first[1], first[2], slow]).entrants;
        let again = |at: usize| Ok([0.0, 0.0, 2.0, 14.0][at]);
        assert_eq!(in_turns(&mut of, true, again)?, [0, 1, 2], "the choice always does");
        assert_eq!((of[0].runs_ms.len(), &of[3].runs_ms[..], of[3].ms), (1, &[12.0, 14.0][..], Some(13.0)));
        assert_eq!(in_turns(&mut of, false, |_| unreachable!())?, [0, 1, 2, 3]);
        Ok(())
    }

    #[test]
    fn a_long_run_is_not_repeated() -> Result<()> {
        let mut of = contest(&[(Method::Auto, 3, &[5.0]), (Method::Dense, 3, &[6.0]), (Method::Hub, 9, &[2500.0])]);
        assert_eq!(in_turns(&mut of.entrants, true, |_| unreachable!())?, [0, 1]);
        assert_eq!(of.entrants[2].runs_ms, [2500.0], "its one time is in the report");
        Ok(())
    }

    #[test]
    fn one_time_or_a_spread_above_the_median_is_noise() {
        let noisy = |auto: &'static [f64], best: &'static [f64]| {
            let slow = (Method::Hash, 9, &[50.0][..]);
            are_noisy(&contest(&[(Method::Auto, 3, auto), (Method::Esc, 3, best), slow]).entrants)
        };
        let steady = &[1.0, 1.2, 1.1, 1.3][..];
        assert!(!noisy(steady, steady), "a slow method's time does not matter");
        assert!(noisy(&[2.0], steady) && noisy(steady, &[1.0]));
        assert!(noisy(&[0.2, 0.2, 4.0, 4.0, 0.3], steady) && !noisy(&[0.2, 0.2, 0.2, 4.0, 0.2], steady));
    }
}
