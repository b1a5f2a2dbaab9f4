//! The sizes of columns by classes, from their sums and the rules.
use super::rules::ClassRules;
use crate::product::terms::{Class, ClassSizes, ClassesSums, without_long};
use std::ops::Range;

fn windows_of(rules: &ClassRules, sums: &ClassesSums) -> usize {
    let widest = Class::IN_WINDOWS.map(|class| sums[class as usize].widest).into_iter().max();
    rules.windows_of(widest.unwrap_or(0))
}

impl ClassSizes {
    /// The sizes of columns with these sums. The number of windows is computed for the widest range
    /// in which bitmaps of windows find rows.
    pub fn new(rules: &ClassRules, columns: Range<u32>, sums: ClassesSums, samples: [u32; 2]) -> Self {
        let sums = if rules.leaves_long { without_long(sums) } else { sums };
        let shares_rows = rules.shares_rows(&sums);
        Self { columns, windows: windows_of(rules, &sums), sums, shares_rows, samples }
    }

    /// Leaves the columns of [`Class::Long`] to ESC. The list of columns stays as it is, because in
    /// the list the columns of [`Class::Long`] come just before the columns of ESC.
    pub fn leave_long(&mut self, rules: &ClassRules) {
        self.sums = without_long(self.sums);
        self.windows = windows_of(rules, &self.sums);
    }
}
