//! The division of sorted columns among work-groups.
use crate::{
    Result,
    device::{Arguments, Device, Grid, Kernel, Options, Teams},
    primitives::segmented_reduce::RUN_PIECE,
    product::terms::{ColumnTask, SORTED_PRODUCTS},
};

/// Fewest products that a work-item holds in registers.
const HELD: u32 = 8;

/// Most products that a work-item holds in registers. If a work-item held more products, fewer
/// work-items would fit a multiprocessor.
const MOST_HELD: u32 = 16;

/// Teams of a work-group. If columns have at most 256 products, a group needs 14 KiB of local
/// memory for doubles. With 14 KiB for each group, 16 groups fit a multiprocessor, which is all the
/// work-items that it can run.
const TEAMS: usize = 4;

/// The division of columns among work-groups.
#[derive(Clone, Copy)]
pub(super) struct ColumnGroups {
    pub teams: Teams,
    /// Bits of the number of rows of C. A key of 32 bits holds a row. If the product of a key must
    /// be found again, the key also holds the product's place.
    pub row_bits: u32,
    /// Most work-groups of a launch.
    pub groups: usize,
}

/// Columns that the kernels of one class sort.
#[derive(Clone, Copy)]
pub(in crate::product) struct SortedTask<'a> {
    pub task: ColumnTask<'a>,
    /// The number of the class: each column has at most `SORTED_PRODUCTS[class]` products.
    pub class: usize,
}

impl ColumnGroups {
    /// A kernel for each class. `options` gets the largest number of products of a column.
    pub fn kernels<K: Arguments>(&self, device: &Device, options: impl Fn(u32) -> Options) -> Result<Vec<Kernel<K>>> {
        SORTED_PRODUCTS.iter().map(|&most| Kernel::rare(device, &options(most))).collect()
    }

    /// The options of kernels that use the products of a class. `most` is the largest number of
    /// products of a column in the class.
    pub fn options(&self, most: u32) -> Options {
        self.with_places(most).define("KEPT_KEYS", 0)
    }

    /// The options of kernels that only count the runs of a class. The keys of such kernels are
    /// rows.
    pub fn counting(&self, most: u32) -> Options {
        self.define(most, 1).define("FAR_ROWS", 0).define("KEPT_KEYS", 0)
    }

    /// The options of the kernels that write and read the sorted keys of a class.
    pub fn keeping(&self, most: u32) -> Options {
        self.with_places(most).define("KEPT_KEYS", 1)
    }

    fn with_places(&self, most: u32) -> Options {
        let places = most.next_power_of_two();
        let far = self.row_bits + places.ilog2() > u32::BITS;
        self.define(most, places).define("FAR_ROWS", u8::from(far))
    }

    fn define(&self, most: u32, places: u32) -> Options {
        let options = self.of(most).options(TEAMS).define("PRODUCTS", most).define("HELD", held(most));
        options.define("ODD", odd(most)).define("PLACES", places).define("RUN_PIECE", RUN_PIECE)
    }

    /// The teams that sort a class.
    fn of(&self, most: u32) -> Teams {
        self.teams.large(team_size(most))
    }

    /// The work-groups that sort `columns` columns of a class.
    pub fn grid(&self, class: usize, columns: u32) -> Grid {
        let most = SORTED_PRODUCTS[class];
        let group_size = self.of(most).group_size(TEAMS);
        let at_once = group_size * held(most) as usize / most as usize;
        Grid::groups((columns as usize).div_ceil(at_once).min(self.groups), group_size)
    }
}

/// Most bytes of local memory of a work-group of one team, if kernels keep `bytes` bytes of each
/// product in addition to its key.
pub(super) fn local_bytes(most: u32, bytes: usize) -> u64 {
    let (places, items) = (u64::from(most), team_size(most) as u64);
    let lanes = (most / held(most)) as u64;
    (places + lanes) * (4 + bytes as u64) + 12 * items
}

/// Work-items of the teams that sort a class.
pub(super) fn team_size(most: u32) -> usize {
    (most / held(most)).max(Teams::SIZE as u32) as usize
}

/// Products that a work-item holds, in a class of at most `most` products: the odd divisor of
/// `most` times a power of two.
fn held(most: u32) -> u32 {
    let (odd, team) = (odd(most), (most / MOST_HELD).next_power_of_two().max(Teams::SIZE as u32));
    (odd * HELD.div_ceil(odd).next_power_of_two()).max(most / team)
}

/// The largest odd divisor of the number of products of a class, which is at most 7.
fn odd(most: u32) -> u32 {
    most >> most.trailing_zeros()
}
