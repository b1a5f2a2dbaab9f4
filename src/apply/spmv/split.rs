//! The width at which the format `hyb` splits rows: a pure function of their lengths.
use super::tails::Lengths;
use crate::{Error, Result};

/// The rule for the width of the format [`hyb`](crate::plan::Format::Hyb). The first entries of
/// each row, up to the width, are stored as rows of one length. Further entries are stored row
/// after row. The bits of a product are the same for every width.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Split {
    /// The width with the fewest bytes. An entry within the width takes a value and a column in
    /// every row; an entry beyond it takes a value, a column and a row.
    #[default]
    Bytes,
    /// The greatest width that at least 4096 rows reach, or a third of all rows if that is more
    /// (Bell and Garland 2009).
    Filled,
    /// The width is the average length of a row, plus this fraction of the difference between the
    /// longest and the average row (Evtushenko 2019 uses 0, 0.35 and 0.7). Numbers below 0 count as
    /// 0, and above 1 as 1.
    Fraction(f64),
    /// The width is the length that this fraction of the rows does not exceed (Ginkgo's
    /// `imbalance_limit`, by default 0.8). If rows are sorted by length, the width is the length of
    /// the row that lies at this fraction of all rows. Numbers below 0 count as 0. Numbers of 1 and
    /// above give the length of the longest row.
    Quantile(f64),
    /// The width is the quantile of a third of the rows, but at most a thousandth of the number of
    /// rows (Ginkgo's `automatic`).
    Capped,
}

impl Split {
    /// The width, at most [`Lengths::WIDEST`].
    pub(super) fn width(self, lengths: &Lengths, block_bytes: u64) -> u32 {
        let widest = lengths.longest.min(Lengths::WIDEST as u64);
        match self {
            Self::Bytes => {
                let bytes = |width: u64| {
                    let (heads, tails) = (lengths.rows * width, lengths.beyond(width as u32));
                    (4 + block_bytes) * heads + (8 + block_bytes) * tails
                };
                (0..=widest).min_by_key(|&width| bytes(width)).unwrap_or(0) as u32
            }
            Self::Filled => {
                let enough = (lengths.rows / 3).max(4096);
                (1..=widest).take_while(|&width| lengths.at_least(width as u32) >= enough).last().unwrap_or(0) as u32
            }
            Self::Fraction(fraction) => {
                let average = lengths.entries as f64 / lengths.rows.max(1) as f64;
                let width = average + (lengths.longest as f64 - average) * fraction.clamp(0.0, 1.0);
                (width.ceil() as u64).min(widest) as u32
            }
            Self::Quantile(fraction) => {
                let place = (lengths.rows as f64 * fraction.max(0.0)) as u64;
                // The row at `place` has at least `width` entries if at most `place` rows have
                // fewer than `width` entries.
                let reached = |width: u64| lengths.rows - lengths.at_least(width as u32) <= place;
                (1..=widest).take_while(|&width| reached(width)).last().unwrap_or(0) as u32
            }
            Self::Capped => {
                let width = Self::Quantile(1.0 / 3.0).width(lengths, block_bytes);
                u64::from(width).min(lengths.rows / 1000) as u32
            }
        }
    }
}

impl std::fmt::Display for Split {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bytes => f.write_str("bytes"),
            Self::Filled => f.write_str("filled"),
            Self::Fraction(fraction) => write!(f, "{fraction}"),
            Self::Quantile(fraction) => write!(f, "quantile:{fraction}"),
            Self::Capped => f.write_str("capped"),
        }
    }
}

impl std::str::FromStr for Split {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let part = |text: &str| text.parse().ok().filter(|fraction| (0.0..=1.0).contains(fraction));
        match (text, text.strip_prefix("quantile:")) {
            ("bytes", _) => Some(Self::Bytes),
            ("filled", _) => Some(Self::Filled),
            ("capped", _) => Some(Self::Capped),
            (_, Some(number)) => part(number).map(Self::Quantile),
            (number, None) => part(number).map(Self::Fraction),
        }
        .ok_or_else(|| {
            Error::Argument(format!(
                "no split \"{text}\"; there are: bytes, filled, capped, numbers from 0 to 1, and quantile: with such a \
                 number"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn width(split: Split, lengths: &[usize]) -> u32 {
        split.width(&Lengths::of(lengths), 8)
    }

    #[test]
    fn rows_of_one_length_are_heads_alone() {
        for split in [
            Split::Bytes,
            Split::Filled,
            Split::Capped,
            Split::Fraction(0.0),
            Split::Fraction(1.0),
            Split::Quantile(0.0),
            Split::Quantile(0.8),
            Split::Quantile(1.0),
        ] {
            assert_eq!(width(split, &[5; 10_000]), 5, "{split}");
            assert_eq!(width(split, &[0; 10]), 0, "{split}");
            assert_eq!(width(split, &[]), 0, "{split}");
        }
    }

    /// An entry takes 12 bytes in each row within the width, and 16 beyond it. So another column of
    /// the head pays if three rows of four have an entry in it.
    #[test]
    fn bytes_pad_what_three_quarters_of_the_rows_have() {
        let lengths = |long: usize| (0..100).map(|row| if row < long { 6 } else { 2 }).collect::<Vec<_>>();
        assert_eq!(width(Split::Bytes, &lengths(74)), 2);
        assert_eq!(width(Split::Bytes, &lengths(76)), 6);
    }

    #[test]
    fn a_third_of_the_rows_fills_a_width_but_at_least_4096() {
        let lengths =
            |long: usize, rows: usize| (0..rows).map(|row| if row < long { 9 } else { 1 }).collect::<Vec<_>>();
        assert_eq!(width(Split::Filled, &lengths(10_000, 30_000)), 9);
        assert_eq!(width(Split::Filled, &lengths(9_999, 30_000)), 1);
        assert_eq!(width(Split::Filled, &lengths(4_096, 5_000)), 9);
        assert_eq!(width(Split::Filled, &lengths(4_095, 4_095)), 0);
    }

    #[test]
    fn fractions_lie_between_the_average_and_the_longest() {
        let lengths: Vec<_> = (0..10).map(|row| if row == 0 { 22 } else { 2 }).collect();
        for (fraction, want) in [(0.0, 4), (0.35, 11), (0.7, 17), (1.0, 22)] {
            assert_eq!(width(Split::Fraction(fraction), &lengths), want);
        }
        // A head must be shorter than a piece of a sum.
        assert_eq!(width(Split::Fraction(1.0), &[5000]), Lengths::WIDEST as u32);
    }

    /// The width is the length at place `rows * fraction` of the sorted lengths, or the longest.
    #[test]
    fn quantiles_are_the_lengths_of_sorted_rows() {
        let mut lengths: Vec<usize> = (0..50).map(|row| row * row % 37).collect();
        let found = [0.0, 0.01, 1.0 / 3.0, 0.5, 0.8, 0.99, 1.0].map(|q| (q, width(Split::Quantile(q), &lengths)));
        lengths.sort_unstable();
        for (fraction, found) in found {
            let place = (50.0 * fraction) as usize;
            assert_eq!(found as usize, lengths[place.min(49)], "{fraction}");
        }
        assert_eq!(width(Split::Quantile(1.0), &[5000]), Lengths::WIDEST as u32);
    }

    #[test]
    fn a_third_of_the_rows_is_capped_by_their_number() {
        let lengths = |rows: usize| (0..rows).map(|row| if 4 * row < rows { 4 } else { 9 }).collect::<Vec<_>>();
        assert_eq!(width(Split::Capped, &lengths(30_000)), 9);
        assert_eq!(width(Split::Capped, &lengths(8_999)), 8);
        assert_eq!(width(Split::Capped, &lengths(999)), 0);
    }

    #[test]
    fn names_are_read_back() {
        let fractions = [Split::Fraction(0.35), Split::Quantile(0.8), Split::Quantile(1.0)];
        for split in [Split::Bytes, Split::Filled, Split::Capped].into_iter().chain(fractions) {
            assert_eq!(split.to_string().parse::<Split>().unwrap(), split);
        }
        for wrong in ["thirds", "-0.1", "1.5", "NaN", "quantile", "quantile:", "quantile:2", "quantile:bytes"] {
            let refused = wrong.parse::<Split>().unwrap_err().to_string();
            let rules = "bytes, filled, capped, numbers from 0 to 1, and quantile: with such a number";
            assert_eq!(refused, format!("no split \"{wrong}\"; there are: {rules}"));
        }
    }
}
