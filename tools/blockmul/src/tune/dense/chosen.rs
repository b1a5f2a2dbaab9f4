//! The numbers that follow from the times.
use super::{LANES, LINES, OfFamily, STAGED};
use serde::Serialize;

/// A limit of reuse that no group reaches, so that groups are never used.
pub const NEVER: usize = 1 << 20;

/// The numbers that are written to the tuning file.
#[derive(Serialize, Debug, PartialEq)]
pub struct Chosen {
    dense_group_lines: usize,
    dense_staged: usize,
    dense_reuse_percent: usize,
    dense_common_lanes: Option<usize>,
}

impl OfFamily {
    /// The time if lines are multiplied one by one, for the number of staged entries at index
    /// `staged`.
    fn rows_ms(&self, staged: usize) -> f64 {
        self.rows_ms[staged.min(self.rows_ms.len() - 1)]
    }
}

fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.fold((0.0, 0), |(sum, count), number| (sum + number.ln(), count + 1));
    (sum / f64::from(count.max(1))).exp()
}

impl Chosen {
    /// Chooses the lines and staged entries with which the faster of groups and of lines one by one
    /// takes the least time, in the geometric mean over all families. If several take equally long,
    /// it chooses the fastest groups. Groups are used if their reuse has at least the value from
    /// which they are faster on every family.
    pub fn by(families: &[OfFamily], common: usize) -> Self {
        // A group of one line shares no row of D. Groups of one line are timed only for comparison.
        let several = (0..LINES.len()).filter(|&lines| LINES[lines] > 1);
        let all = several.flat_map(|lines| (0..STAGED.len()).map(move |staged| (lines, staged)));
        let times = |&(lines, staged): &(usize, usize)| {
            let groups = |of: &OfFamily| of.groups[lines].ms[staged];
            [mean(families.iter().map(|of| of.rows_ms(staged).min(groups(of)))), mean(families.iter().map(groups))]
        };
        let (lines, staged) = all
            .min_by(|one, other| {
                let ([fastest, groups], [other_fastest, other_groups]) = (times(one), times(other));
                fastest.total_cmp(&other_fastest).then(groups.total_cmp(&other_groups))
            })
            .expect("there are some");
        let mut by_reuse: Vec<&OfFamily> = families.iter().collect();
        by_reuse.sort_by(|one, other| other.groups[lines].reuse.total_cmp(&one.groups[lines].reuse));
        let pays = |of: &&&OfFamily| of.groups[lines].ms[staged] < of.rows_ms(staged);
        let least = by_reuse.iter().take_while(pays).last().map(|of| of.groups[lines].reuse);
        let many = |of: &&OfFamily| (common..8 * common).contains(&(of.entries / of.rows.max(1)));
        let timed: Vec<&OfFamily> = families.iter().filter(many).filter(|of| !of.lanes_ms.is_empty()).collect();
        let of_lanes = |&at: &usize| mean(timed.iter().map(|of| of.lanes_ms[at]));
        let lanes = (0..LANES.len()).min_by(|one, other| of_lanes(one).total_cmp(&of_lanes(other)));
        Self {
            dense_group_lines: LINES[lines],
            dense_staged: STAGED[staged],
            dense_reuse_percent: least.map_or(NEVER, |reuse| (100.0 * reuse) as usize),
            dense_common_lanes: lanes.filter(|_| !timed.is_empty()).map(|at| LANES[at]),
        }
    }

    /// The numbers with the names of their fields.
    pub fn named(&self) -> Vec<(&'static str, usize)> {
        let Self { dense_group_lines, dense_staged, dense_reuse_percent, dense_common_lanes } = *self;
        let all = [
            ("dense_group_lines", Some(dense_group_lines)),
            ("dense_staged", Some(dense_staged)),
            ("dense_reuse_percent", Some(dense_reuse_percent)),
            ("dense_common_lanes", dense_common_lanes),
        ];
        all.into_iter().filter_map(|(name, number)| Some((name, number?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::dense::OfGroups;

    /// A family whose lines take 10 ms one by one, and `ms` milliseconds in groups of any size.
    fn family(average: usize, reuse: f64, ms: f64) -> OfFamily {
        let groups = LINES.map(|lines| OfGroups { lines, reuse, ms: vec![ms; STAGED.len()] });
        OfFamily {
            family: "",
            rows: 10,
            entries: 10 * average,
            rows_ms: vec![10.0],
            groups: groups.into(),
            lanes_ms: vec![],
        }
    }

    #[test]
    fn groups_are_taken_from_the_reuse_on_that_pays() {
        let chosen = |families: &[OfFamily]| Chosen::by(families, 16);
        let pays = |times: [f64; 3]| {
            let reuses = [3.0, 2.25, 1.0].into_iter().zip(times);
            chosen(&reuses.map(|(reuse, ms)| family(8, reuse, ms)).collect::<Vec<_>>()).dense_reuse_percent
        };
        assert_eq!(pays([9.0, 9.0, 11.0]), 225);
        assert_eq!(pays([9.0, 11.0, 9.0]), 300);
        assert_eq!(pays([9.0, 8.0, 7.0]), 100);
        assert_eq!(pays([11.0, 9.0, 9.0]), NEVER);
        let mut families = [family(8, 3.0, 12.0), family(8, 1.0, 12.0)];
        families[0].groups[3].ms[1] = 11.0;
        families[1].groups[2].ms[4] = 9.5;
        let Chosen { dense_group_lines, dense_staged, dense_common_lanes, .. } = chosen(&families);
        // Groups of the size chosen here are faster than lines one by one on one family, not only
        // faster than other groups.
        assert_eq!((dense_group_lines, dense_staged, dense_common_lanes), (4, 512, None));
        families[1].groups[2].ms[4] = 12.0;
        let Chosen { dense_group_lines, dense_staged, .. } = chosen(&families);
        assert_eq!((dense_group_lines, dense_staged), (8, 64));
    }

    #[test]
    fn lanes_are_those_of_lines_with_much_in_common() {
        let mut families = [family(8, 1.0, 12.0), family(27, 1.0, 12.0)];
        (families[0].lanes_ms, families[1].lanes_ms) = (vec![1.0, 2.0, 3.0], vec![3.0, 1.0, 2.0]);
        assert_eq!(Chosen::by(&families, 16).dense_common_lanes, Some(16));
        assert_eq!(Chosen::by(&families[..1], 16).dense_common_lanes, None);
    }
}
