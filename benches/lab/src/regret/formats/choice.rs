//! The regret of the choice of formats against the best format.
use super::contest::Entrant;
use blockmul::{element::Order, plan::Format};
use blockmul_cli::bench::record::{median, spread};
use serde::Serialize;

/// The format that `auto` chooses for a number of executions, beside the best format.
#[derive(Serialize, Clone)]
pub struct Choice {
    pub uses: u64,
    /// Whether formats may sum in another order than the ascending one.
    pub any_order: bool,
    pub chosen: Format,
    pub best: Format,
    /// Milliseconds of the conversion and all executions.
    pub auto_ms: f64,
    pub best_ms: f64,
    /// The extra time of the choice over the best format, divided by the best format's time.
    pub regret: f64,
    /// The regret of executions by the chosen format if it is requested by name; 0 if the chosen
    /// format is the best one.
    pub of_format: f64,
    /// The noise of the two times: the larger of their interquartile ranges, each divided by its
    /// median. A regret that is smaller than this number may be noise. With too few rounds the
    /// noise is unknown.
    pub noise: Option<f64>,
}

impl Choice {
    pub fn of(uses: u64, any_order: bool, chosen: Format, entrants: &[Entrant]) -> Option<Self> {
        let total = |entrant: &Entrant| median(&entrant.totals(uses));
        let allowed = entrants.iter().filter(|of| !of.auto && (any_order || of.format.order() == Order::Ascending));
        let timed = allowed.filter_map(|entrant| Some((total(entrant)?, entrant)));
        let (best_ms, best) = timed.min_by(|one, other| one.0.total_cmp(&other.0))?;
        let auto = entrants.iter().find(|entrant| entrant.auto && entrant.format == chosen)?;
        let auto_ms = total(auto)?;
        let noise = noise([&auto.totals(uses), &best.totals(uses)]);
        let by_name = entrants.iter().find(|entrant| !entrant.auto && entrant.format == chosen);
        let [regret, of_format] = [auto_ms, total(by_name?)?].map(|ms| ms / best_ms - 1.0);
        Some(Self { uses, any_order, chosen, best: best.format, auto_ms, best_ms, regret, of_format, noise })
    }

    /// Whether another format is faster by more than the noise. If the noise is unknown, any faster
    /// format counts.
    pub fn is_wrong(&self) -> bool {
        self.chosen != self.best && self.regret > self.noise.unwrap_or(0.0)
    }
}

/// The larger spread of two lists of times. The function returns `None` if a list has fewer than
/// three times: a single time has no quartiles, and the quartiles of two times do not show how far
/// a third would differ.
fn noise(times: [&[f64]; 2]) -> Option<f64> {
    let spread = |times: &[f64]| (times.len() >= 3).then(|| spread(times)).flatten();
    let [one, other] = times.map(spread);
    Some(one?.max(other?))
}

#[cfg(test)]
mod tests {
    use super::super::contest::tests::entrant;
    use super::*;

    #[test]
    fn a_choice_is_compared_with_the_best_total_and_wrong_only_beyond_the_noise() {
        let entrants = [
            entrant(true, Format::Csr, [11.0, 10.0, 12.0], [2.0, 2.0, 2.0]),
            entrant(false, Format::Csr, [10.0; 3], [2.0; 3]),
            entrant(false, Format::Ell, [28.0; 3], [1.0; 3]),
            entrant(false, Format::CsrVector, [1.0; 3], [0.5; 3]),
        ];
        let choice = |uses, any_order| Choice::of(uses, any_order, Format::Csr, &entrants).unwrap();
        let once = choice(1, false);
        assert_eq!((once.best, once.auto_ms, once.best_ms, once.is_wrong()), (Format::Csr, 11.0, 10.0, false));
        assert_eq!((once.regret > 0.09, once.of_format), (true, 0.0), "choosing takes time, the choice is right");
        let often = choice(1000, false);
        assert_eq!((often.best, often.auto_ms, often.best_ms), (Format::Ell, 2009.0, 1027.0));
        assert!(often.is_wrong() && often.noise.is_some_and(|noise| noise < 0.001));
        let any = choice(1, true);
        assert_eq!((any.best, any.regret, any.noise), (Format::CsrVector, 10.0, Some(1.0 / 11.0)));
        // Twenty executions take 49 ms with the chosen format and 47 ms with the best.
        let near = choice(20, false);
        assert!(near.best == Format::Ell && Some(near.regret) > near.noise && near.regret < 0.05);
        let noisy = [
            entrant(true, Format::Csr, [40.0, 49.0, 60.0], [0.0; 3]),
            entrant(false, Format::Csr, [50.0; 3], [0.0; 3]),
            entrant(false, Format::Ell, [47.0; 3], [0.0; 3]),
        ];
        assert!(!Choice::of(1, false, Format::Csr, &noisy).unwrap().is_wrong());
    }

    #[test]
    fn the_noise_of_few_rounds_is_unknown_and_not_none() {
        assert_eq!(noise([&[4.0, 4.0, 4.0], &[9.0, 10.0, 11.0]]), Some(0.1));
        for few in [&[][..], &[10.0], &[10.0, 11.0]] {
            assert_eq!((noise([few, &[4.0; 3]]), noise([&[4.0; 3], few])), (None, None));
        }
    }
}
