//! Axes: from numbers to parts of a frame, with ticks.

/// The numbers along one side of a chart.
pub struct Axis {
    pub label: String,
    log: bool,
    low: f64,
    high: f64,
}

impl Axis {
    /// A logarithmic axis that shows these numbers, as far as they are positive.
    pub fn log(label: &str, numbers: impl Iterator<Item = f64>) -> Self {
        let (low, high) = range(numbers.filter(|number| *number > 0.0)).unwrap_or((1.0, 10.0));
        // Whole parts of a decade, so that marks are not on the frame.
        let part = |number: f64, way: f64| 10f64.powf((4.0 * number.log10() + way).round() / 4.0);
        Self { label: label.into(), log: true, low: part(low, -0.6), high: part(high, 0.6) }
    }

    /// A linear axis from 0 that shows these numbers.
    pub fn linear(label: &str, numbers: impl Iterator<Item = f64>) -> Self {
        let high = range(numbers).map_or(1.0, |(_, high)| high);
        Self { label: label.into(), log: false, low: 0.0, high: if high > 0.0 { 1.05 * high } else { 1.0 } }
    }

    /// Where a number is, from 0 to 1; `None` if a logarithmic axis has no place for it.
    pub fn part(&self, number: f64) -> Option<f64> {
        match self.log {
            true if number <= 0.0 => None,
            true => Some((number / self.low).ln() / (self.high / self.low).ln()),
            false => Some((number - self.low) / (self.high - self.low)),
        }
    }

    /// Numbers to name: decades, with their halves if there are few; or some even steps.
    pub fn ticks(&self) -> Vec<f64> {
        let within = |number: &f64| (self.low..=self.high).contains(number);
        if self.log {
            let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
            let steps: &[f64] = if decades.end() - decades.start() <= 3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
            let ticks = decades.flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade)));
            return ticks.filter(within).collect();
        }
        let decade = 10f64.powf((self.high / 4.0).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|step| step * decade).into_iter().find(|step| self.high / step <= 6.0);
        let step = step.unwrap_or(self.high);
        (0..).map(|at| f64::from(at) * step).take_while(within).collect()
    }
}

/// A number as a tick has it: `5k`, `2M`, `0.01`.
pub fn named(number: f64) -> String {
    let units = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    match units.iter().find(|(unit, _)| number >= *unit * 0.999_999) {
        Some((unit, letter)) => format!("{}{letter}", trimmed(number / unit)),
        None => trimmed(number),
    }
}

fn trimmed(number: f64) -> String {
    let rounded: f64 = format!("{number:.2e}").parse().unwrap_or(number);
    if rounded != 0.0 && rounded.abs() < 1e-3 { format!("{rounded:.0e}") } else { rounded.to_string() }
}

fn range(numbers: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    numbers
        .filter(|number| number.is_finite())
        .map(|number| (number, number))
        .reduce(|(low, high), (number, _)| (low.min(number), high.max(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        let log = Axis::log("", [3.0, 4000.0, -1.0, 0.0].into_iter());
        assert_eq!(log.ticks(), [10.0, 100.0, 1000.0]);
        assert!(log.part(3.0).unwrap() > 0.0 && log.part(4000.0).unwrap() < 1.0 && log.part(0.0).is_none());
        let linear = Axis::linear("", [3.0, 42.0].into_iter());
        assert_eq!((linear.ticks(), linear.part(0.0)), (vec![0.0, 10.0, 20.0, 30.0, 40.0], Some(0.0)));
        assert!(Axis::log("", std::iter::empty()).ticks().len() > 1);
        assert_eq!(Axis::linear("", std::iter::empty()).part(1.05), Some(1.0));
    }

    #[test]
    fn numbers_are_named_by_their_thousands() {
        let names = [0.0, 1e-6, 0.05, 250.0, 1000.0, 2.5e6, 1e9].map(named);
        assert_eq!(names, ["0", "1e-6", "0.05", "250", "1k", "2.5M", "1G"]);
    }
}
