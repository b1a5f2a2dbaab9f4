//! The axes of charts convert numbers to pixels, and have ticks.
use plotters::coord::{
    ranged1d::{BoldPoints, KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter},
    types::RangedCoordf64,
};
use std::ops::Range;

/// An axis of at most this many decades has ticks at 2 and 5 too.
const FEW_DECADES: f64 = 3.0;
/// Maximum number of powers of ten that have ticks.
const MOST_DECADES: usize = 10;

/// The numbers along one side of a chart. One type has both linear and logarithmic axes, because
/// the logarithmic axes of `plotters` have no ticks below their first power of ten.
#[derive(Clone)]
pub struct Axis {
    pub label: String,
    log: bool,
    range: Range<f64>,
}

impl Axis {
    /// A logarithmic axis that shows the positive ones of some numbers. The axis begins and ends at
    /// round numbers, and no number lies at its ends.
    pub fn log(label: &str, numbers: impl Iterator<Item = f64>) -> Self {
        let (low, high) = extremes(numbers.filter(|number| *number > 0.0)).unwrap_or((1.0, 10.0));
        let (low, high) = (0.8 * low, 1.25 * high);
        let low = round_numbers(low).rfind(|round| *round <= low).unwrap_or(low);
        let high = round_numbers(high).find(|round| *round >= high).unwrap_or(high);
        Self { label: label.into(), log: true, range: low..high }
    }

    /// A linear axis from 0 that shows some numbers.
    pub fn linear(label: &str, numbers: impl Iterator<Item = f64>) -> Self {
        let high = extremes(numbers).map_or(1.0, |(_, high)| high);
        Self { label: label.into(), log: false, range: 0.0..if high > 0.0 { 1.05 * high } else { 1.0 } }
    }

    /// An axis of `count` places side by side, each one wide.
    pub fn places(count: usize) -> Self {
        Self { label: String::new(), log: false, range: 0.0..count.max(1) as f64 }
    }

    /// Whether a number can be drawn on the axis.
    pub fn shows(&self, number: f64) -> bool {
        number.is_finite() && (!self.log || number > 0.0)
    }

    /// The lowest number.
    pub fn foot(&self) -> f64 {
        self.range.start
    }

    fn decades(&self) -> f64 {
        (self.range.end / self.range.start).log10()
    }

    /// The products of the numbers in `of` with powers of ten that lie in the range. The exponents
    /// of the powers of ten have steps of `every`.
    fn multiples(&self, of: &[f64], every: usize) -> Vec<f64> {
        let Range { start, end } = self.range;
        let powers = (start.log10().floor() as i32..=end.log10().ceil() as i32).step_by(every);
        let all = powers.flat_map(|power| of.iter().map(move |multiple| multiple * 10f64.powi(power)));
        all.filter(|number| (0.999 * start..1.001 * end).contains(number)).collect()
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, pixels: (i32, i32)) -> i32 {
        let place = |number: f64| if self.log { number.ln() } else { number };
        RangedCoordf64::from(place(self.range.start)..place(self.range.end)).map(&place(*value), pixels)
    }

    /// `plotters` asks for key points twice: with a hint for bold points for the ticks, and with
    /// another hint for the finer lines of a grid.
    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.bold_points() == 0 {
            return Vec::new();
        }
        let bold = hint.max_num_points() == hint.bold_points();
        match (self.log, bold) {
            (false, true) => RangedCoordf64::from(self.range.clone()).key_points(BoldPoints(hint.max_num_points())),
            (false, false) => Vec::new(),
            (true, true) if self.decades() < FEW_DECADES => self.multiples(&[1.0, 2.0, 5.0], 1),
            (true, true) => self.multiples(&[1.0], self.decades() as usize / MOST_DECADES + 1),
            (true, false) => self.multiples(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], 1),
        }
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Axis {
    /// A number as it is written at a tick: `5k`, `2M`, `0.01`.
    fn format(number: &f64) -> String {
        let units = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
        match units.iter().find(|(unit, _)| *number >= *unit * 0.999_999) {
            Some((unit, letter)) => format!("{}{letter}", trimmed(number / unit)),
            None => trimmed(*number),
        }
    }
}

fn trimmed(number: f64) -> String {
    let rounded: f64 = format!("{number:.2e}").parse().unwrap_or(number);
    if rounded != 0.0 && rounded.abs() < 1e-3 { format!("{rounded:.0e}") } else { rounded.to_string() }
}

/// 1, 2, 5 and 10 times the largest power of ten that is not above a number.
fn round_numbers(number: f64) -> impl DoubleEndedIterator<Item = f64> {
    let decade = 10f64.powi(number.log10().floor() as i32);
    [1.0, 2.0, 5.0, 10.0].into_iter().map(move |step| step * decade)
}

fn extremes(numbers: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    numbers
        .filter(|number| number.is_finite())
        .map(|number| (number, number))
        .reduce(|(low, high), (number, _)| (low.min(number), high.max(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(axis: &Axis) -> Vec<f64> {
        axis.key_points(BoldPoints(10))
    }

    #[test]
    fn ticks_are_round_and_within() {
        let log = Axis::log("", [3.0, 4000.0, -1.0, 0.0].into_iter());
        assert_eq!((ticks(&log), log.range()), (vec![10.0, 100.0, 1000.0], 2.0..5000.0));
        assert!(!log.shows(0.0) && !log.shows(f64::NAN) && log.shows(1.0));
        // The numbers of this axis lie within one decade.
        assert_eq!(ticks(&Axis::log("", [2.6, 3.9].into_iter())), [2.0, 5.0]);
        let linear = Axis::linear("", [3.0, 42.0].into_iter());
        assert_eq!(ticks(&linear), [0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0]);
        assert!(ticks(&Axis::log("", std::iter::empty())).len() > 1);
        assert_eq!(Axis::linear("", [0.0].into_iter()).range(), 0.0..1.0);
        assert!(ticks(&Axis::log("", [1e-30, 1e30].into_iter())).len() <= MOST_DECADES + 1);
    }

    #[test]
    fn numbers_are_where_their_scale_has_them() {
        let log = Axis::log("", [2.0, 500.0].into_iter());
        let [low, middle, high] = [1.0, 10f64.powf(1.5), 1000.0].map(|number| log.map(&number, (0, 600)));
        assert_eq!((low, middle, high), (0, 300, 600));
        assert_eq!(Axis::places(4).map(&1.0, (0, 600)), 150);
    }

    #[test]
    fn numbers_are_named_by_their_thousands() {
        let names = [0.0, 1e-6, 0.05, 250.0, 1000.0, 2.5e6, 1e9].map(|number| Axis::format(&number));
        assert_eq!(names, ["0", "1e-6", "0.05", "250", "1k", "2.5M", "1G"]);
    }
}
