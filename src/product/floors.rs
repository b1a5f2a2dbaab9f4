//! The least that each stage moves and computes: bytes between memory and the device, and floating-point operations, from sizes alone.
//!
//! A floor is of what the stage takes and leaves, not of how it goes about it: an array it reads counts once, an array it writes counts
//! once, what only its own kernels pass to one another does not count. So a stage's time at the bandwidth of a copy is what it could
//! take at best, and the multiple of that is what its kernels cost. Where accesses are [`scattered`], each moves a sector; but memory that
//! a cache may keep is not moved twice.
//!
//! With n entries of B in `cols` columns, p products, c entries of C, elements of e bytes, and payloads of q bytes (a value of the
//! arithmetic type, or a pair of operands of 8 bytes):
//!
//! | stage | reads | writes | operations |
//! |---|---|---|---|
//! | setup | rows and columns of B: 4n, 4(cols + 1); lengths of A's columns: scattered 8n | products before each entry: 8(n + 1), segments: 4(cols + 1) | |
//! | expansion | rows of B 4n, products before each entry 8(n + 1), A's columns: scattered 8n, their rows: scattered 4p; for values A's: scattered ep, B's: en | rows and payloads: (4 + q)p | p for values |
//! | segmented sort | rows and payloads of what is not sorted yet: (4 + q)p | the same | |
//! | tail counts | rows 4p, segments 4(cols + 1) | a bit for each product: p/8 | |
//! | compression | run ends 4c, payloads qp; for pairs blocks of A and B: scattered | values of C | p for values, else 2p times the three sides |
//! | gather | bits p/8, rows at run ends: scattered 4c, segments 4(cols + 1) | run ends 4c, rows of C 4c, its columns 4(cols + 1) | |
use super::{Operands, tuning::PayloadKind};
use crate::{Element, OperandPair};

/// What memory moves at least, on every GPU of today: a fourth of its cache line.
const SECTOR: u64 = 32;
/// Bytes of an index or of an offset inside a band.
const INDEX: u64 = 4;
/// Bytes of an offset in the whole expansion.
const OFFSET: u64 = 8;

/// What a stage moves and computes at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Floor {
    pub bytes: u64,
    pub flops: u64,
}

/// The sizes of a product that its floors follow from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FloorSizes {
    pub a_cols: u64,
    pub a_nnz: u64,
    pub b_cols: u64,
    pub b_nnz: u64,
    pub products: u64,
    /// Products of segments that do not leave the expansion sorted.
    pub merged: u64,
    pub c_nnz: u64,
    /// Block rows of A, its block columns, block columns of B.
    pub sides: [u64; 3],
    /// Elements from one block of C to the next.
    pub c_stride: u64,
    pub element_bytes: u64,
    pub payload: PayloadKind,
    pub payload_bytes: u64,
}

impl FloorSizes {
    /// Of a product with so many products, of which so many are left to merge, and entries of C.
    pub fn new<T: Element>(operands: &Operands<'_, T>, products: u64, merged: u64, c_nnz: u64) -> Self {
        let (a, b) = (operands.a, operands.b);
        let payload = PayloadKind::of(operands.strides());
        Self {
            a_cols: a.ncols as u64,
            a_nnz: a.nnz() as u64,
            b_cols: b.ncols as u64,
            b_nnz: b.nnz() as u64,
            products,
            merged,
            c_nnz,
            sides: [a.shape.rows(), a.shape.cols(), b.shape.cols()].map(|side| side as u64),
            c_stride: operands.c_stride as u64,
            element_bytes: size_of::<T>() as u64,
            payload,
            payload_bytes: payload.bytes::<T>(),
        }
    }

    /// Of the stages, in their order. Without a product nothing follows setup.
    pub fn floors(&self) -> [Floor; 6] {
        let moving = |bytes| Floor { bytes, flops: 0 };
        let setup = moving(self.setup());
        if self.products == 0 {
            return [setup, moving(0), moving(0), moving(0), moving(0), moving(0)];
        }
        let (of_expansion, of_compression) = self.flops();
        [
            setup,
            Floor { bytes: self.expansion(), flops: of_expansion },
            moving(self.segmented_sort()),
            moving(self.tail_counts()),
            Floor { bytes: self.compression(), flops: of_compression },
            moving(self.gather()),
        ]
    }

    fn setup(&self) -> u64 {
        let rows_of_b = INDEX * self.b_nnz;
        let columns_of_b = INDEX * (self.b_cols + 1);
        let entries = OFFSET * (self.b_nnz + 1);
        rows_of_b + columns_of_b + self.lengths_of_a() + entries + self.segments()
    }

    fn expansion(&self) -> u64 {
        let entries = INDEX * self.b_nnz + OFFSET * (self.b_nnz + 1);
        let factors = match self.payload {
            PayloadKind::Values => self.columns_of_a(self.element_bytes) + self.element_bytes * self.b_nnz,
            PayloadKind::Pairs => 0,
        };
        entries + self.lengths_of_a() + self.columns_of_a(INDEX) + factors + self.list(self.products)
    }

    /// What the expansion has sorted is not touched again.
    fn segmented_sort(&self) -> u64 {
        2 * self.list(self.merged)
    }

    fn tail_counts(&self) -> u64 {
        INDEX * self.products + self.segments() + self.flags()
    }

    fn compression(&self) -> u64 {
        let c = self.element_bytes * self.c_stride * self.c_nnz;
        INDEX * self.c_nnz + self.payload_bytes * self.products + self.blocks() + c
    }

    fn gather(&self) -> u64 {
        let rows = scattered(self.c_nnz, INDEX * self.c_nnz, INDEX * self.products);
        self.flags() + rows + 2 * INDEX * self.c_nnz + 2 * self.segments()
    }

    /// Multiplications and additions as two for each pair of elements, in expansion and in compression. The first term of a sum counts as
    /// one that is added, as everybody counts.
    fn flops(&self) -> (u64, u64) {
        match self.payload {
            PayloadKind::Values => (self.products, self.products),
            PayloadKind::Pairs => (0, 2 * self.products * self.sides.iter().product::<u64>()),
        }
    }

    /// Rows and payloads of so many products.
    fn list(&self, products: u64) -> u64 {
        (INDEX + self.payload_bytes) * products
    }

    /// Whether each product ends a run.
    fn flags(&self) -> u64 {
        self.products.div_ceil(8)
    }

    /// Where each segment begins, and where the last ends.
    fn segments(&self) -> u64 {
        INDEX * (self.b_cols + 1)
    }

    /// Two neighbours of A's `col_ptr` for each entry of B.
    fn lengths_of_a(&self) -> u64 {
        scattered(self.b_nnz, 2 * INDEX * self.b_nnz, INDEX * (self.a_cols + 1))
    }

    /// A whole column of A, so many bytes an entry, for each entry of B; empty ones have nothing to read.
    fn columns_of_a(&self, bytes: u64) -> u64 {
        scattered(self.b_nnz.min(self.products), bytes * self.products, bytes * self.a_nnz)
    }

    /// The blocks that pairs name.
    fn blocks(&self) -> u64 {
        let [rows, inner, cols] = self.sides;
        let of = |area: u64, nnz: u64| {
            let block = self.element_bytes * area;
            scattered(self.products, block * self.products, block * nnz)
        };
        match self.payload {
            PayloadKind::Values => 0,
            PayloadKind::Pairs => of(rows * inner, self.a_nnz) + of(inner * cols, self.b_nnz),
        }
    }
}

/// What it takes to read so many bytes in so many pieces from anywhere in an array of `array` bytes: a sector for each piece; but no more than
/// the array, which a cache may keep.
fn scattered(pieces: u64, bytes: u64, array: u64) -> u64 {
    bytes.max(SECTOR * pieces).min(array)
}

const _: () = assert!(size_of::<OperandPair>() == 8, "as the table above says");

#[cfg(test)]
mod tests {
    use super::*;

    /// A is 3 x 2 with 2 and 3 entries in its columns, B 2 x 2: its first column names both of A's, its second the first one.
    const SCALARS: FloorSizes = FloorSizes {
        a_cols: 2,
        a_nnz: 5,
        b_cols: 2,
        b_nnz: 3,
        products: 7,
        merged: 7,
        c_nnz: 5,
        sides: [1, 1, 1],
        c_stride: 1,
        element_bytes: 8,
        payload: PayloadKind::Values,
        payload_bytes: 8,
    };

    fn bytes(extent: FloorSizes) -> [u64; 6] {
        extent.floors().map(|floor| floor.bytes)
    }

    #[test]
    fn scalars_by_hand() {
        // Everything of A is smaller than a sector for each access, so it is read once.
        let setup = 3 * 4 + 3 * 4 + 3 * 4 + 4 * 8 + 3 * 4;
        let expansion = 3 * 4 + 4 * 8 + 3 * 4 + 5 * 4 + (5 * 8 + 3 * 8) + 7 * (4 + 8);
        let sort = 2 * 7 * (4 + 8);
        let tails = 7 * 4 + 3 * 4 + 1;
        let compression = 5 * 4 + 7 * 8 + 5 * 8;
        let gather = 1 + 7 * 4 + 2 * 5 * 4 + 2 * 3 * 4;
        assert_eq!(bytes(SCALARS), [setup, expansion, sort, tails, compression, gather]);
        assert_eq!(SCALARS.floors().map(|floor| floor.flops), [0, 7, 0, 0, 7, 0]);
    }

    #[test]
    fn blocks_by_hand() {
        // Blocks of 2x3 by 3x2 in f32, those of C 8 elements apart.
        let extent = FloorSizes {
            sides: [2, 3, 2],
            c_stride: 8,
            element_bytes: 4,
            payload: PayloadKind::Pairs,
            payload_bytes: 8,
            ..SCALARS
        };
        let expansion = 3 * 4 + 4 * 8 + 3 * 4 + 5 * 4 + 7 * (4 + 8);
        let compression = 5 * 4 + 7 * 8 + (5 * 6 * 4 + 3 * 6 * 4) + 5 * 8 * 4;
        assert_eq!((bytes(extent)[1], bytes(extent)[4]), (expansion, compression));
        assert_eq!(extent.floors().map(|floor| floor.flops), [0, 0, 0, 0, 2 * 7 * 12, 0]);
    }

    #[test]
    fn what_is_scattered_moves_sectors_but_no_more_than_there_is() {
        assert_eq!(scattered(10, 40, 1000), 320);
        assert_eq!(scattered(10, 400, 1000), 400);
        assert_eq!(scattered(10, 40, 100), 100);
        // Few entries of B name columns of a large A: each column's length and rows take sectors.
        let large = FloorSizes { a_cols: 1 << 20, a_nnz: 1 << 22, ..SCALARS };
        let [setup, expansion, ..] = bytes(SCALARS);
        let lengths = 3 * 32 - 3 * 4;
        assert_eq!(bytes(large)[0], setup + lengths);
        assert_eq!(bytes(large)[1], expansion + lengths + (3 * 32 - 5 * 4) + (3 * 32 - 5 * 8));
    }

    #[test]
    fn what_is_sorted_is_not_sorted_again_and_nothing_follows_nothing() {
        assert_eq!(bytes(FloorSizes { merged: 3, ..SCALARS })[2], 2 * 3 * 12);
        assert_eq!(bytes(FloorSizes { merged: 0, ..SCALARS })[2], 0);
        let empty = FloorSizes { products: 0, c_nnz: 0, ..SCALARS };
        assert_eq!(bytes(empty), [bytes(SCALARS)[0], 0, 0, 0, 0, 0]);
    }
}
