//! What formats of A·x cost, in bytes: the numbers by which `Format::Auto` chooses.
use super::DeviceKind;

/// Weights of bytes, in percent of those of a copy, and what takes as long as some bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FormatWeights {
    pub csr: u64,
    /// Of blocks, of which neighbouring items read neighbouring elements.
    pub csr_blocks: u64,
    pub csr_vector: u64,
    pub csr_adaptive: u64,
    pub csr_shared: u64,
    pub ell: u64,
    pub sliced_ell: u64,
    /// Of sliced ELL whose slices are vectors: with columns in 16 bits, and in 32.
    pub in_vectors: [u64; 2],
    /// Of scalars that are read in another order than they are stored.
    pub scattered: u64,
    /// Bytes read beside a block that is read so.
    pub beside: u64,
    /// Bytes that a compute unit moves while an item or a team loads an entry and adds it.
    pub entry: u64,
    /// Bytes that a compute unit moves while an item adds a term that its group has loaded.
    pub term: u64,
    /// Bytes that a compute unit moves while a launch begins and ends.
    pub launch: u64,
    /// Bytes that the device moves while a step of a conversion begins and ends: a launch, or a
    /// read of a few numbers.
    pub step: u64,
    /// Steps of the conversion to `csr-adaptive`.
    pub adaptive_steps: u64,
    /// Launches that take as long as the one of `csr-adaptive`, whose items wait for each other.
    pub adaptive_launches: u64,
    /// Launches that take as long as those of `coo`.
    pub coo_launches: u64,
    /// Bytes of a row that `scoo` moves beside what `csr` does. `None` where it was not measured.
    pub scoo: Option<u64>,
    /// Bytes that the device moves while it finds the rows of a column-major matrix, for each entry
    /// and row.
    pub index: u64,
    /// Bytes that a compute unit moves while an item of `csc` comes to the next column, and while
    /// it adds an entry. `None` on devices on which items do not go through all columns.
    pub csc: Option<[u64; 2]>,
}

/// Estimates: cuSPARSE on an H200 moves 3.6 to 4.0 TB/s in sliced ELL and 2.5 to 3.1 in CSR. The
/// items of `csr` read 12 bytes of sectors of 32. Each of 132 multiprocessors moves 30 bytes in a
/// nanosecond. An item takes some 80 ns for each entry of a row that it loads (one at a time 330,
/// `email-Enron` in sliced ELL) and 5 ns for one that its group has loaded. A launch takes 2 us.
/// Plans and products of 66 matrices of 10,000 and 100,000 entries give a step 25 us, and a launch
/// of `csr-adaptive` 4 us more than others; those of `coo` took 14 us more than that of `csr`.
const GPU: FormatWeights = FormatWeights {
    csr: 250,
    csr_blocks: 115,
    csr_vector: 120,
    csr_adaptive: 140,
    csr_shared: 130,
    ell: 105,
    sliced_ell: 105,
    in_vectors: [105, 105],
    scattered: 200,
    beside: 32,
    entry: 2500,
    term: 150,
    launch: 60_000,
    step: 100_000_000,
    adaptive_steps: 6,
    adaptive_launches: 3,
    coo_launches: 8,
    scoo: None,
    index: 200,
    csc: None,
};

/// PoCL on 2 cores, where a row is a loop. On four matrices of 5 to 27 entries a row `csr-adaptive`
/// took 1.3 to 1.9 times as long as `csr`, sliced ELL 1.1 to 2.5 (in vectors 0.85 to 1.1), and
/// `csr-vector`, whose items wait for each other, 50 to 130. Of matrices that fit caches 30 to 40
/// bytes are moved in a nanosecond; rows are found in 3 to 18 ns for each entry and row, a step
/// takes 25 us. An item of `csc` took 0.9 to 3.3 ns for an entry, most for rows that are drawn at
/// random.
const CPU: FormatWeights = FormatWeights {
    csr: 100,
    csr_blocks: 100,
    csr_vector: 5000,
    csr_adaptive: 160,
    csr_shared: 200,
    ell: 180,
    sliced_ell: 180,
    in_vectors: [95, 110],
    scattered: 150,
    beside: 64,
    entry: 20,
    term: 20,
    launch: 0,
    step: 750_000,
    adaptive_steps: 3,
    adaptive_launches: 1,
    coo_launches: 1,
    scoo: Some(80),
    index: 400,
    csc: Some([130, 80]),
};

impl FormatWeights {
    /// Those of a kind of device. All kinds but CPUs share those of GPUs.
    pub(crate) fn of(kind: DeviceKind) -> &'static Self {
        if kind == DeviceKind::Cpu { &CPU } else { &GPU }
    }
}
