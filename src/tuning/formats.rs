//! Costs of the formats of A·x, in bytes. `Format::Auto` chooses by these costs.
use super::DeviceKind;

/// Weights of the bytes that a format moves, in percent: 100 is the weight of a byte that is
/// copied. A time is expressed as the number of bytes that could be copied in that time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FormatWeights {
    pub csr: u64,
    /// Upper bound of the weight of `csr`. An item reads the neighbouring elements of a row one by
    /// one. If all items together read more bytes of rows than `cached`, the weight grows in
    /// proportion, up to this bound.
    pub csr_far: u64,
    /// Number of bytes of rows that the first-level cache of a compute unit holds.
    pub cached: u64,
    pub csr_vector: u64,
    pub csr_adaptive: u64,
    pub csr_shared: u64,
    pub coo: u64,
    /// The weight of a segmented scan, or `None` if it was not measured.
    pub segmented_scan: Option<u64>,
    pub ell: u64,
    pub sliced_ell: u64,
    /// Weights of sliced ELL whose slices are added as vectors: the first for column indices of 16
    /// bits, the second for indices of 32 bits.
    pub in_vectors: [u64; 2],
    /// Two numbers for vector slices on diagonals: their weight without the bytes of their rows,
    /// and additional bytes for each row.
    pub on_diagonals: [u64; 2],
    /// The weight of scalars that are read in another order than they are stored in.
    pub scattered: u64,
    /// Additional bytes for each block that is read in another order than it is stored in.
    pub beside: u64,
    pub of_blocks: BlockWeights,
    /// Bytes that a compute unit moves while an item or a team loads an entry and adds it. If the
    /// values are read through an index, the number is halved.
    pub entry: u64,
    /// Bytes that a compute unit moves while an item adds an entry of a padded row. Moving and
    /// adding overlap: the longer of the two times counts fully, and the shorter by a third. If the
    /// shorter time counted by half, `csr-adaptive` would be chosen for 100 uses of a matrix of
    /// finite elements with rows of 60 entries in `f32`. For finite elements with rows of 60
    /// entries `csr-adaptive` takes 34.8 us on an H200, and sliced ELL 22 us.
    pub padded_entry: u64,
    /// The weight, in percent, of the bytes that a conversion to padded rows moves.
    pub placed: u64,
    /// Bytes that a compute unit moves while an item adds a term that its work-group has loaded.
    pub term: u64,
    /// Bytes that a compute unit moves while a launch begins and ends.
    pub launch: u64,
    /// Bytes that the device moves while a step of a conversion begins and ends. A step is a
    /// launch, or a read of a few numbers.
    pub step: u64,
    /// Number of steps in the conversion to `csr-adaptive`.
    pub adaptive_steps: u64,
    /// Number of launches that take as long as one launch of `csr-adaptive`, whose items wait for
    /// each other.
    pub adaptive_launches: u64,
    /// Number of launches that take as long as one launch of `csr-shared`.
    pub shared_launches: u64,
    /// Number of launches that take as long as the launches of `coo`, or of a segmented scan.
    pub coo_launches: u64,
    /// Three numbers of `scoo`: its weight, the bytes that it moves for each row in addition to
    /// `csr`, and the number that replaces `entry`.
    pub scoo: [u64; 3],
    /// Bytes that the device moves while it finds the rows of a column-major matrix. The device
    /// moves this number of bytes once for each entry and once for each row.
    pub index: u64,
    /// Two numbers of `csc`: the bytes that a compute unit moves while an item goes to the next
    /// column, and while it adds an entry. `None` on devices whose items do not go through all
    /// columns.
    pub csc: Option<[u64; 2]>,
}

/// Weights for matrices of blocks, in percent. A weight has two values: for elements of 8 bytes,
/// and for smaller elements. Times are expressed in bytes that a compute unit moves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockWeights {
    pub csr: [u64; 2],
    /// The weight of `csr-adaptive` if the items of a work-group load a tile together.
    pub together: [u64; 2],
    /// The weight of `csr-adaptive` if each item loads the blocks of its sums itself.
    pub by_items: [u64; 2],
    pub padded: [u64; 2],
    /// Bytes that a compute unit moves while an item of `csr` loads and adds a term.
    pub term_of_csr: [u64; 2],
    /// Bytes that a compute unit moves while an item loads a term of a tile itself and adds it.
    pub term_of_item: [u64; 2],
    /// Bytes that a compute unit moves while an item loads and adds a term of a padded row.
    pub padded_term: [u64; 2],
    /// Bytes that a compute unit moves while a work-group loads a tile.
    pub tile: u64,
    /// Bytes that a compute unit moves while an item adds a term of a loaded tile.
    pub term_of_tile: u64,
    /// Number of launches that take as long as one launch of `csr-adaptive` for blocks.
    pub adaptive_launches: u64,
    /// Number of steps in the conversion of a matrix of blocks to `csr-adaptive`.
    pub adaptive_steps: u64,
}

/// The weights were fitted to the times of 42 matrices of 10,000 to 1 M elements on an H200 and an
/// H100, and of seven larger matrices on an H200. An H200 moves 30 bytes in a nanosecond for each
/// of its 132 multiprocessors. An item of `csr` takes 120 ns for each entry of a long row, and 240
/// ns if values are read through an index. An item takes 400 ns for an entry of padded rows, and 6
/// ns for a term that its work-group has loaded. A launch takes 2 us. A step takes 35 us, the time
/// in which the host enqueues a launch and waits for a few numbers. The weights of blocks were
/// fitted to the times of 44 matrices of 2x2 to 8x8 on an H200, in `f64` and `f32`.
const GPU: FormatWeights = FormatWeights {
    csr: 125,
    csr_far: 400,
    cached: 125_000,
    csr_vector: 150,
    csr_adaptive: 112,
    csr_shared: 140,
    coo: 350,
    segmented_scan: Some(300),
    ell: 105,
    sliced_ell: 105,
    in_vectors: [105, 105],
    on_diagonals: [105, 0],
    scattered: 250,
    beside: 32,
    of_blocks: BlockWeights {
        csr: [130, 120],
        together: [112, 112],
        by_items: [102, 95],
        padded: [95, 95],
        term_of_csr: [1800, 900],
        term_of_item: [1450, 1450],
        padded_term: [5000, 4000],
        tile: 60_000,
        term_of_tile: 400,
        adaptive_launches: 1,
        adaptive_steps: 4,
    },
    entry: 3700,
    padded_entry: 12_000,
    placed: 250,
    term: 190,
    launch: 60_000,
    step: 140_000_000,
    adaptive_steps: 6,
    adaptive_launches: 4,
    shared_launches: 4,
    coo_launches: 8,
    scoo: [120, 80, 1275],
    index: 200,
    csc: None,
};

/// The weights were measured with PoCL on 2 cores, where a row is a loop. On four matrices of 5 to
/// 27 entries a row, `csr-adaptive` took 1.3 to 1.9 times the time of `csr`. Sliced ELL took 1.1 to
/// 2.5 times the time of `csr`, with slices as vectors 0.85 to 1.1 times, and with slices on
/// diagonals 0.35 to 0.65 times. `csr-vector`, whose items wait for each other, took 50 to 130
/// times the time of `csr`. If a matrix fits the caches, 30 to 40 bytes are moved in a nanosecond.
/// Finding rows takes 3 to 18 ns for each entry and row. A step takes 25 us. An item of `csc` took
/// 0.9 to 3.3 ns for an entry, and the longest times for random rows.
const CPU: FormatWeights = FormatWeights {
    csr: 100,
    csr_far: 100,
    cached: 1,
    csr_vector: 5000,
    csr_adaptive: 160,
    csr_shared: 200,
    coo: 160,
    segmented_scan: None,
    ell: 180,
    sliced_ell: 180,
    in_vectors: [95, 110],
    on_diagonals: [45, 12],
    scattered: 150,
    beside: 64,
    of_blocks: BlockWeights {
        csr: [100; 2],
        together: [160; 2],
        by_items: [160; 2],
        padded: [180; 2],
        term_of_csr: [20; 2],
        term_of_item: [20; 2],
        padded_term: [20; 2],
        tile: 0,
        term_of_tile: 0,
        adaptive_launches: 1,
        adaptive_steps: 4,
    },
    entry: 20,
    padded_entry: 20,
    placed: 300,
    term: 20,
    launch: 0,
    step: 750_000,
    adaptive_steps: 4,
    adaptive_launches: 1,
    shared_launches: 1,
    coo_launches: 1,
    scoo: [100, 80, 20],
    index: 400,
    csc: Some([130, 80]),
};

impl FormatWeights {
    /// Returns the weights of a kind of device. All kinds of devices except CPUs share the weights
    /// of GPUs.
    pub(crate) fn of(kind: DeviceKind) -> &'static Self {
        if kind == DeviceKind::Cpu { &CPU } else { &GPU }
    }
}
