//! Lower bounds of each stage's work: bytes between memory and the device, and floating-point
//! operations, computed from sizes alone.
//!
//! A floor counts every input and output array of a stage once. Arrays that only the stage's own
//! kernels use do not count. The floor divided by the bandwidth of a copy is the stage's best
//! possible time. The ratio of the measured time to the best time shows the cost of the stage's
//! kernels. If accesses are [`scattered`], each moves a sector, but memory that a cache may keep is
//! not moved twice.
//!
//! Rows, offsets of columns and run ends take 4 bytes each. A payload is a value of the arithmetic
//! type, or a pair of operands of 8 bytes.
//!
//! * setup reads the pattern of B and, scattered, the lengths of A's columns, 8 bytes for each
//!   entry of B. Setup writes the number of products before each entry of B, 8 bytes each, and the
//!   segments, 4 bytes for each column.
//! * expansion reads the rows of B, the number of products before each entry of B, and, scattered,
//!   the lengths of A's columns and a row of A for each product. For values, expansion also reads
//!   the values of B and, scattered, a value of A for each product. Expansion writes a row and a
//!   payload for each product. Values take one operation for each product.
//! * segmented sort reads and writes the rows and payloads of the products that are not sorted yet.
//! * tail counts reads the rows of all products, and the segments. Tail counts writes a bit for
//!   each product.
//! * compression reads the run ends and the payloads of all products, and for pairs also,
//!   scattered, the blocks of A and B. Compression writes the values of C. Values take one
//!   operation for each product. Pairs take two operations for each product of elements.
//! * adaptive products: setup reads the pattern of B and the lengths of A's columns. Count reads
//!   the same arrays and, scattered, a row of A for each product, except for the columns of method
//!   `direct`. Offsets reads and writes the offsets of C's columns. Sums reads both patterns, the
//!   values of B and, scattered, the values of A. Sums writes C, and takes two operations for each
//!   product of elements.
//! * products on the host: read copies both operands. Multiply reads both operands and writes C.
//! * products in ranges: setup and sums are those of adaptive products. A product in two passes
//!   also has the count of adaptive products. A product in one pass has a move, which reads C and
//!   writes it. If a product keeps pairs, count writes the pairs and the run ends, and sums reads
//!   both.
//! * gather reads the bits that tail counts writes, the segments, and, scattered, the rows at run
//!   ends. Gather writes the run ends, and the pattern of C.
use crate::{
    OperandPair,
    product::{
        Bin, Operands,
        terms::{PayloadKind, Way},
    },
};

/// Bytes of the smallest memory transfer on today's GPUs: a fourth of a cache line.
const SECTOR: u64 = 32;
/// Bytes of an index or of an offset inside a band.
const INDEX: u64 = 4;
/// Bytes of an offset in the whole expansion.
const OFFSET: u64 = 8;

/// Lower bounds of the bytes that a stage moves and the operations it computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Floor {
    pub bytes: u64,
    pub flops: u64,
}

/// The sizes of a product from which its floors are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FloorSizes {
    pub a_cols: u64,
    pub a_nnz: u64,
    pub b_cols: u64,
    pub b_nnz: u64,
    pub products: u64,
    /// Products of segments that the expansion does not leave sorted.
    pub merged: u64,
    pub c_nnz: u64,
    /// Sides of the block product: rows of A's blocks, columns of A's blocks, columns of B's
    /// blocks.
    pub sides: [u64; 3],
    /// Elements from one block of C to the next.
    pub c_stride: u64,
    pub element_bytes: u64,
    pub payload: PayloadKind,
    pub payload_bytes: u64,
}

impl FloorSizes {
    /// The sizes of a product with `products` products and `c_nnz` entries of C. `merged` products
    /// are merged after the expansion.
    pub fn new(operands: &Operands<'_>, products: u64, merged: u64, c_nnz: u64) -> Self {
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
            element_bytes: operands.element().bytes() as u64,
            payload,
            payload_bytes: payload.word(operands.element()).bytes() as u64,
        }
    }

    /// The floors of the stages, in their order. Without products, all floors after setup are zero.
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

    /// The floors of the stages of [`adaptive`](crate::product::columns::adaptive) products, in
    /// their order. `direct` is the bin of columns of B with one entry. The stage `count` does not
    /// read the products of these columns.
    pub fn adaptive_floors(&self, direct: Option<&Bin>) -> [Floor; 4] {
        let (columns, products) = direct.map_or((0, 0), |bin| (bin.columns, bin.products));
        let found = Self { b_nnz: self.b_nnz - columns, products: self.products - products, ..*self };
        let rows_found = found.lengths_of_a() + found.columns_of_a(INDEX) + INDEX * found.b_nnz;
        let moving = |bytes| Floor { bytes, flops: 0 };
        let columns_of_b = INDEX * (self.b_nnz + self.b_cols + 1);
        let patterns = columns_of_b + self.lengths_of_a() + self.columns_of_a(INDEX);
        let [of_a, of_b, of_c] = self.entry_bytes();
        let values = of_b * self.b_nnz + of_c * self.c_nnz + self.columns_of_a(of_a);
        [
            moving(columns_of_b + self.lengths_of_a()),
            moving(rows_found + self.segments()),
            moving(2 * self.segments()),
            Floor { bytes: patterns + values + INDEX * self.c_nnz, flops: self.flops_of_sums() },
        ]
    }

    /// The floors of the stages of [`on_host`](crate::product::cpu::on_host), in their order.
    pub fn host_floors(&self) -> [Floor; 2] {
        let [of_a, of_b, of_c] = self.entry_bytes();
        let of_a = (INDEX + of_a) * self.a_nnz + INDEX * (self.a_cols + 1);
        let of_b = (INDEX + of_b) * self.b_nnz + INDEX * (self.b_cols + 1);
        let of_c = (INDEX + of_c) * self.c_nnz + self.segments();
        [Floor { bytes: of_a + of_b, flops: 0 }, Floor { bytes: of_a + of_b + of_c, flops: self.flops_of_sums() }]
    }

    /// The floors of the stages of [`ranges`](crate::product::cpu::ranges), in their order.
    pub fn range_floors(&self, direct: Option<&Bin>, way: Way) -> Vec<Floor> {
        let [setup, count, _, sums] = self.adaptive_floors(direct);
        let entries = (INDEX + self.entry_bytes()[2]) * self.c_nnz;
        let moved = Floor { bytes: 2 * (entries + self.segments()), flops: 0 };
        match way {
            Way::Esc => Vec::new(),
            Way::Exact => vec![setup, sums],
            Way::OnePass => vec![setup, sums, moved],
            Way::Kept => {
                let pairs = self.payload_bytes * self.products + INDEX * self.c_nnz;
                let with_pairs = |floor: Floor| Floor { bytes: floor.bytes + pairs, ..floor };
                vec![setup, with_pairs(count), with_pairs(sums)]
            }
            Way::TwoPasses => vec![setup, count, sums],
        }
    }

    /// Bytes of the values of an entry of A, of B and of C.
    fn entry_bytes(&self) -> [u64; 3] {
        let [rows, inner, cols] = self.sides;
        [rows * inner, inner * cols, self.c_stride].map(|elements| self.element_bytes * elements)
    }

    /// Operations of methods that add each product at once.
    fn flops_of_sums(&self) -> u64 {
        2 * self.products * self.sides.iter().product::<u64>()
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

    /// Products that the expansion has sorted are not moved again.
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

    /// Operations of expansion and of compression: a multiplication and an addition for each pair
    /// of elements. As is usual, the first term of a sum counts as an addition.
    fn flops(&self) -> (u64, u64) {
        match self.payload {
            PayloadKind::Values => (self.products, self.products),
            PayloadKind::Pairs => (0, 2 * self.products * self.sides.iter().product::<u64>()),
        }
    }

    /// Bytes of the rows and payloads of `products` products.
    fn list(&self, products: u64) -> u64 {
        (INDEX + self.payload_bytes) * products
    }

    /// Bytes of the flags that mark the products that end a run.
    fn flags(&self) -> u64 {
        self.products.div_ceil(8)
    }

    /// Bytes of the first product of each segment, and of the end of the last segment.
    fn segments(&self) -> u64 {
        INDEX * (self.b_cols + 1)
    }

    /// Bytes of two neighbours of A's `col_ptr` for each entry of B.
    fn lengths_of_a(&self) -> u64 {
        scattered(self.b_nnz, 2 * INDEX * self.b_nnz, INDEX * (self.a_cols + 1))
    }

    /// Bytes of a whole column of A, of `bytes` bytes an entry, for each entry of B. Empty columns
    /// are not read.
    fn columns_of_a(&self, bytes: u64) -> u64 {
        scattered(self.b_nnz.min(self.products), bytes * self.products, bytes * self.a_nnz)
    }

    /// Bytes of the blocks to which the pairs refer.
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

/// Bytes moved when `bytes` bytes are read in `pieces` pieces from arbitrary places of an array of
/// `array` bytes. Each piece takes at least a sector. All pieces together take at most the array,
/// which a cache may keep.
fn scattered(pieces: u64, bytes: u64, array: u64) -> u64 {
    bytes.max(SECTOR * pieces).min(array)
}

const _: () = assert!(size_of::<OperandPair>() == 8, "as the table above says");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Method;

    /// A is 3 x 2 with 2 and 3 entries in its columns. B is 2 x 2. The first column of B has an
    /// entry for each of the two columns of A. The second column of B has an entry for the first
    /// column of A.
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
        // A takes fewer bytes than the sectors of all accesses to A, so it is read once.
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
        // Blocks of 2x3 by 3x2 in f32. Blocks of C are 8 elements apart.
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
    fn adaptive_products_by_hand() {
        let b = 3 * 4 + 3 * 4;
        let sums = b + 3 * 4 + 5 * 4 + 3 * 8 + 5 * 8 + 5 * 8 + 5 * 4;
        let floors = SCALARS.adaptive_floors(None);
        assert_eq!(floors.map(|floor| floor.bytes), [b + 3 * 4, b + 3 * 4 + 5 * 4, 2 * 3 * 4, sums]);
        assert_eq!(floors.map(|floor| floor.flops), [0, 0, 0, 14]);
        // The second column of B has one entry, with two products.
        let direct = Bin::of("one entry of B", Method::Direct, 1, 2);
        let [setup, count, offsets, last] = SCALARS.adaptive_floors(Some(&direct)).map(|floor| floor.bytes);
        assert_eq!([setup, offsets, last], [b + 3 * 4, 2 * 3 * 4, sums]);
        assert_eq!(count, 2 * 4 + 3 * 4 + 3 * 4 + 5 * 4);
    }

    #[test]
    fn products_in_ranges_by_hand() {
        let [setup, count, _, sums] = SCALARS.adaptive_floors(None);
        let moved = Floor { bytes: 2 * (5 * (4 + 8) + 3 * 4), flops: 0 };
        for (way, floors) in [
            (Way::Exact, vec![setup, sums]),
            (Way::OnePass, vec![setup, sums, moved]),
            (Way::TwoPasses, vec![setup, count, sums]),
        ] {
            assert_eq!((SCALARS.range_floors(None, way), way.stages().len()), (floors.clone(), floors.len()));
        }
    }

    #[test]
    fn blocks_in_ranges_by_hand() {
        // Blocks of 2x3 by 3x2 in f32. Blocks of C are 8 elements apart.
        let (payload, payload_bytes) = (PayloadKind::Pairs, 8);
        let extent = FloorSizes { sides: [2, 3, 2], c_stride: 8, element_bytes: 4, payload, payload_bytes, ..SCALARS };
        let b = 3 * 4 + 3 * 4;
        let (count, sums) = (b + 3 * 4 + 5 * 4, b + 3 * 4 + 5 * 4 + 3 * 24 + 5 * 24 + 5 * (4 + 32));
        let pairs = 7 * 8 + 5 * 4;
        for (way, floors) in
            [(Way::TwoPasses, [b + 3 * 4, count, sums]), (Way::Kept, [b + 3 * 4, count + pairs, sums + pairs])]
        {
            let of_way = extent.range_floors(None, way);
            assert_eq!(of_way.iter().map(|floor| floor.bytes).collect::<Vec<_>>(), floors);
            assert_eq!((of_way.len(), of_way[2].flops), (way.stages().len(), 2 * 7 * 12));
        }
    }

    #[test]
    fn what_is_scattered_moves_sectors_but_no_more_than_there_is() {
        assert_eq!(scattered(10, 40, 1000), 320);
        assert_eq!(scattered(10, 400, 1000), 400);
        assert_eq!(scattered(10, 40, 100), 100);
        // Few entries of B refer to columns of a large A: the length and the rows of each column
        // take sectors.
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
