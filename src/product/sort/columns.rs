//! The work-groups that sort columns.
use super::CLASSES;
use crate::device::{Grid, Options, Teams};

/// Products that a work-item holds in registers: `HELD` in `cl/product/keys.cl`.
const HELD: usize = 8;

/// Teams of a work-group: with 14 KiB of local memory for doubles, 16 groups fit a multiprocessor,
/// and these are all the work-items that it runs.
const TEAMS: usize = 4;

/// How columns are divided among work-groups.
#[derive(Clone, Copy)]
pub(super) struct ColumnGroups {
    pub teams: Teams,
    /// Most work-groups of a launch.
    pub groups: usize,
}

impl ColumnGroups {
    /// The options of the kernels of a class.
    pub fn options(&self, most: u32) -> Options {
        self.teams.options(TEAMS).define("PRODUCTS", most)
    }

    /// The groups for `columns` columns of a class.
    pub fn grid(&self, class: usize, columns: u32) -> Grid {
        let group_size = self.teams.group_size(TEAMS);
        let at_once = group_size * HELD / CLASSES[class] as usize;
        Grid::groups((columns as usize).div_ceil(at_once).min(self.groups), group_size)
    }
}
