//! Tests that compare each stage of the pipeline with a model, with tunings of several devices.
//! The tests include the cases in which the paper's listings fail.
use super::*;
use super::{
    analysis::{Analyser, Analysis},
    engine::Engine,
};
use crate::{
    BlockShape, Csc, Element, OperandPair, Pattern,
    device::{Teams, test_device},
    matrix::Matrix,
    primitives::segmented_sort::SortTuning,
    product::{
        bands::join,
        terms::{Band, BandConsumer, Factors, NumberedPattern, Operands, Part, PayloadKind, Sizes},
        tuning::{self, ChunkTuning, TileTuning, WindowTuning},
    },
    reference,
    resident::DeviceCbc,
};

/// A parallel and a serial tuning with tiles of 16 products. Work-groups have 8 items, so that
/// small cases reach every border.
pub(crate) fn tunings(a: BlockShape, b: BlockShape) -> [Tuning; 2] {
    let base = Tuning::new(test_device().info(), a, b);
    let scan = crate::primitives::scan::ScanTuning { group_size: 8, items: 2, direct_tiles: 2 };
    let parallel = Tuning {
        group_size: 8,
        record_groups: 3,
        scan,
        sort: SortTuning::parallel(8, 7),
        windows: WindowTuning { group_size: 8, items: 7 },
        tiles: TileTuning { group_size: 8, products: 16 },
        esc: EscVariant::Local,
        // The device's own chunks in registers would have another size.
        chunks: None,
        ..base.clone()
    };
    let serial = Tuning {
        sort: SortTuning { group_size: 1, short_max: 20, chunk: 40, serial: true },
        tiles: TileTuning { group_size: 1, products: 16 },
        esc: EscVariant::Global,
        ..parallel.clone()
    };
    [parallel, serial]
}

/// A tuning with chunks that a portable team sorts in registers. Each work-item sorts `items`
/// products. Chunks are cut by rows if columns of B have at most `entries` entries.
pub(crate) fn in_registers(team: Teams, entries: usize, items: usize) -> Tuning {
    let [parallel, _] = tunings(BlockShape::SCALAR, BlockShape::SCALAR);
    let chunks = ChunkTuning { team, items, entries, look_products: 0 };
    let sort = SortTuning { short_max: 20, ..SortTuning::parallel(8, chunks.room() / 8) };
    Tuning { sort, chunks: Some(chunks), ..parallel }
}

/// The operands of a product on the device, and the expected results of every stage.
pub(crate) struct Case {
    pub work: Work,
    pub a: DeviceCbc,
    pub b: DeviceCbc,
    /// Column of C, row and operands of each product, in the order of the expansion. `sorted` has
    /// the same products in the order of the sort.
    pub products: Vec<(u32, u32, OperandPair)>,
    pub sorted: Vec<(u32, u32, OperandPair)>,
    pub host: (Csc<f64>, Csc<f64>),
}

impl Case {
    pub fn new(a: Csc<f64>, b: Csc<f64>) -> Result<Self> {
        let work = Work::new(&test_device(), None);
        poison(&work)?;
        let mut products = Vec::new();
        for col in 0..b.ncols() {
            for b_entry in b.pattern().entries(col) {
                for a_entry in a.pattern().entries(b.pattern().row_idx()[b_entry] as usize) {
                    let pair = OperandPair { a: a_entry as u32, b: b_entry as u32 };
                    products.push((col as u32, a.pattern().row_idx()[a_entry], pair));
                }
            }
        }
        let mut sorted = products.clone();
        sorted.sort_by_key(|&(col, row, _)| (col, row));
        let (da, db) = (DeviceCbc::upload(&work, a.as_cbc())?, DeviceCbc::upload(&work, b.as_cbc())?);
        Ok(Self { work, a: da, b: db, products, sorted, host: (a, b) })
    }

    pub fn operands(&self) -> Operands<'_> {
        Operands { a: &self.a, b: &self.b, c_stride: 1, consumer: BandConsumer::ANY }
    }

    /// For each product of the sorted expansion, whether it is the last of its run.
    pub fn tails(&self) -> Vec<bool> {
        let key = |p: usize| self.sorted.get(p).map(|&(col, row, _)| (col, row));
        (0..self.sorted.len()).map(|p| key(p) != key(p + 1)).collect()
    }

    /// A single band with all columns.
    pub fn band(&self, sizes: Sizes) -> Band {
        Band { columns: 0..self.b.ncols as u32, first_product: 0, sizes, kept_bytes: 0 }
    }
}

/// Expands a case and, if `sort`, sorts its products. Returns the products and the segments. The
/// products are numbered from `before`, as if earlier bands had `before` products. Rows have
/// `row_bits` bits.
pub(crate) fn products(
    case: &Case,
    tuning: &Tuning,
    (before, row_bits): (u64, u32),
    sort: bool,
) -> Result<(Products, BandSegments)> {
    products_of_part(case, tuning, (before, row_bits, Part::Full), sort)
}

/// Expands a part of C and, if `sort`, sorts its products. Returns the products and the segments.
pub(crate) fn products_of_part(
    case: &Case,
    tuning: &Tuning,
    (before, row_bits, part): (u64, u32, Part),
    sort: bool,
) -> Result<(Products, BandSegments)> {
    let (device, work, operands) = (test_device(), &case.work, case.operands());
    let analyser = Analyser::new(&device, tuning, part)?;
    let analysis = analyser.run(work, &case.a, &case.b)?;
    let prods: Vec<u64> = analysis.prods.download(work)?.into_iter().map(|p| p + before).collect();
    let band = Band { first_product: before, ..case.band(analysis.sizes) };
    let mut analysis = Analysis::new(work.upload(&prods)?, analysis.sizes);
    let spec = Spec { row_bits, part, ..Spec::new(f64::TYPE, BlockShape::SCALAR, BlockShape::SCALAR, case.a.nrows) };
    let factors = match tuning.payload {
        PayloadKind::Values => Factors::of_values(operands.a, operands.b),
        PayloadKind::Pairs => {
            Factors::of_pairs(NumberedPattern::of(&operands.a.pattern), NumberedPattern::of(&operands.b.pattern))
        }
    };
    let mut task = Columns { factors, analyser: &analyser, analysis: &mut analysis, band: &band };
    let segments = task.segments(work)?;
    let found = match tuning.esc {
        EscVariant::Local => {
            let front = InLocalMemory::new(&device, &spec, tuning)?;
            let expanded = front.expand(work, &task, &segments)?;
            if sort { front.sort(work, &segments, expanded)? } else { expanded.products }
        }
        EscVariant::Global => {
            let front = InGlobalMemory::new(&device, &spec, tuning)?;
            let expanded = front.expand(work, &task)?;
            if sort { front.sort(work, &segments, expanded)? } else { expanded }
        }
    };
    Ok((found, segments))
}

/// The sorted products of a case, with their runs counted, and the counts that the host reads.
pub(in crate::product::esc) fn counted(case: &Case, tuning: &Tuning) -> Result<(Products, BandSegments, Tails, Tally)> {
    let (sorted, segments) = products(case, tuning, (0, 20), true)?;
    let tails = TailCounts::new(&test_device(), tuning)?.run(&case.work, &sorted, &segments)?;
    let tally = tails.tally(&case.work, case.products.len() as u64)?;
    Ok((sorted, segments, tails, tally))
}

/// The pattern of C and the runs of a case.
pub(crate) fn found(case: &Case, tuning: &Tuning) -> Result<FoundColumns> {
    let (sorted, segments, tails, tally) = counted(case, tuning)?;
    let gather = Gather::new(&test_device(), tuning)?;
    let (pattern, run_end, pieces) = gather.run(&case.work, &sorted.rows, &segments, tails, &tally)?;
    let Tally { parts, longest, .. } = tally;
    let runs = FoundRuns { run_end, pieces, parts, payload: sorted.payload, longest };
    Ok(FoundColumns { pattern, runs })
}

/// Sets all bits of the memory that the pool returns next, so that a kernel that reads memory
/// before it is written fails.
fn poison(work: &Work) -> Result<()> {
    let dirty: Result<Vec<_>> = (0..48).map(|_| work.upload(&[u32::MAX; 1024])).collect();
    dirty.map(drop)
}

/// Factors with one product for each entry of B. `lengths` are the lengths of the columns of B, so
/// that expansions of any size with any segments can be made.
pub(crate) fn with_segments(lengths: &[usize], rows: usize) -> Result<Case> {
    // Column k of A has one entry, in row k mod rows. Column j of B selects the next lengths[j]
    // columns of A.
    let total: usize = lengths.iter().sum();
    let a = Csc::from_triplets(rows, total, (0..total).map(|k| ((k * 7) % rows, k, (k % 5) as f64 + 1.0)))?;
    let mut k = 0;
    let places = lengths.iter().enumerate().flat_map(|(j, &length)| {
        let of_column = (k..k + length).map(move |k| (k, j, (k % 3) as f64 - 1.5));
        k += length;
        of_column.collect::<Vec<_>>()
    });
    Case::new(a, Csc::from_triplets(total, lengths.len(), places)?)
}

/// Factors without products, some of which have no rows or columns.
pub(crate) fn without_products() -> Result<[(Csc<f64>, Csc<f64>); 4]> {
    let empty = |rows, cols| Csc::from_triplets(rows, cols, []);
    let one = Csc::from_triplets(3, 2, [(1, 0, 2.0)])?;
    Ok([(empty(0, 0)?, empty(0, 0)?), (empty(3, 2)?, empty(2, 0)?), (empty(5, 3)?, one), (empty(0, 4)?, empty(4, 9)?)])
}

/// Cases whose number of products is near the size of a tile (16), a group (8) or the second level
/// of a scan. The products are in one segment or in several.
pub(crate) fn edge_cases() -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for size in [1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 255, 256, 257] {
        cases.push(with_segments(&[size], 4)?);
        cases.push(with_segments(&[0, size / 3, 0, 0, size - size / 3, 0], 5)?);
    }
    cases.push(with_segments(&[1; 40], 1)?);
    cases.push(with_segments(&[0, 2, 0, 1, 16, 16, 0, 3, 32, 1], 3)?);
    // A run of exactly one piece (1024) and a run of one product more. The two runs begin in the
    // middle of a tile and span many tiles.
    cases.push(with_segments(&[5, 1024, 1025, 1], 1)?);
    Ok(cases)
}

/// A few of the edge cases, which reach every branch of a kernel in a simulator: one tile and
/// several, the second level of a scan, empty columns, columns that end in a tile, and a run in
/// pieces after another run.
pub(crate) fn few_cases() -> Result<Vec<Case>> {
    let lengths = [&[1][..], &[0, 5, 0, 0, 12, 0], &[0, 2, 0, 1, 16, 16, 0, 3, 32, 1], &[257]];
    lengths.into_iter().map(|lengths| with_segments(lengths, 4)).chain([with_segments(&[1, 1025], 1)]).collect()
}

fn equal_to_reference<M: Matrix>(a: &M, b: &M, tuning: Tuning, what: &str) -> Result<()> {
    let device = test_device();
    let work = Work::new(&device, None);
    let want = reference::multiply(a, b)?;
    let (da, db) = (DeviceCbc::upload(&work, a.as_cbc())?, DeviceCbc::upload(&work, b.as_cbc())?);
    poison(&work)?;
    let spec = Spec::new(M::Element::TYPE, da.shape, db.shape, da.nrows);
    let method = tuning.esc.method();
    let esc = Engine::new(&device, &spec, tuning, method, device.info().costs())?;
    let c_stride = da.shape.product(db.shape).area();
    let operands = Operands { a: &da, b: &db, c_stride, consumer: BandConsumer::ANY };
    let mut bands = Vec::new();
    esc.multiply(&work, &operands, &mut |band| {
        bands.push(band);
        Ok(())
    })?;
    let c = join(&work, &operands, bands, "gather")?.download::<M::Element>(&work)?;
    assert_eq!(c.pattern(), want.as_cbc().pattern, "{what}");
    assert!(
        bytemuck::cast_slice::<_, u8>(c.values()) == bytemuck::cast_slice::<_, u8>(want.as_cbc().values),
        "{what}: values"
    );
    assert!(work.read_backs() <= 2 + 3, "{what}: two round trips and the download of three arrays");
    Ok(())
}

/// A matrix whose columns have the given rows.
fn columns(nrows: usize, columns: &[&[u32]]) -> Result<Csc<f64>> {
    let ends = columns.iter().scan(0, |end, rows| {
        *end += rows.len() as u64;
        Some(*end)
    });
    let col_ptr = std::iter::once(0).chain(ends).collect();
    let pattern = Pattern::new(nrows, columns.len(), col_ptr, columns.concat())?;
    let values = (0..pattern.nnz()).map(|i| i as f64 + 2.0).collect();
    Csc::new(pattern, values)
}

#[test]
fn small_cases_on_which_the_paper_s_listings_go_wrong() -> Result<()> {
    let one = columns(1, &[&[0]])?;
    let sixteen: Vec<u32> = (0..16).collect();
    let seventeen: Vec<u32> = (0..17).collect();
    let hundred: Vec<u32> = (0..100).collect();
    let cases = [
        ("line 10: the column is marked at its last entry", one.clone(), columns(1, &[&[0], &[0]])?),
        ("line 10: a leading empty column", one.clone(), columns(1, &[&[], &[0]])?),
        ("line 10: inner and trailing empty columns", one.clone(), columns(1, &[&[0], &[], &[], &[0], &[]])?),
        ("lines 28-29: p for prod", columns(1, &[&[0]])?, columns(1, &[&[0], &[0]])?),
        (
            "line 33: a head for every product of the first entry",
            columns(3, &[&[1, 2], &[0]])?,
            columns(2, &[&[0, 1]])?,
        ),
        (
            "line 33: the head is lost on an empty column of A",
            columns(2, &[&[], &[0, 1]])?,
            columns(2, &[&[1], &[0, 1]])?,
        ),
        ("lines 42, 49: an expansion of 1 modulo the tile", columns(17, &[&seventeen])?, columns(1, &[&[0]])?),
        ("lines 42, 49: an expansion of whole tiles", columns(16, &[&sixteen])?, columns(1, &[&[0], &[0]])?),
        ("lines 53, 61, 64: the last run and column", one.clone(), one.clone()),
        ("lines 49-52: an empty expansion", columns(2, &[&[], &[]])?, columns(2, &[&[0, 1], &[]])?),
        (
            "line 65: empty columns of C, first, inner and last",
            columns(2, &[&[], &[0, 1]])?,
            columns(2, &[&[0], &[1], &[], &[0], &[1], &[0]])?,
        ),
        ("line 65: no rows, no columns", columns(0, &[])?, columns(0, &[&[]])?),
        ("line 22: the last entry of equal counts", columns(2, &[&[], &[0, 1]])?, columns(2, &[&[0, 1], &[0, 1]])?),
        (
            "line 22: many equal counts",
            columns(1, &[&[], &[], &[], &[], &[0]])?,
            columns(5, &[&[0, 1, 2, 3, 4], &[0, 1, 2, 3]])?,
        ),
        ("line 41: b_prods shorter than tail_counts, and needed", columns(100, &[&hundred])?, columns(1, &[&[0]])?),
        (
            "lines 43-60: a group that is not full, its flags by local id",
            columns(100, &[&hundred, &[5]])?,
            columns(2, &[&[0, 1], &[1]])?,
        ),
    ];
    for (what, a, b) in cases {
        let (left, right) = (BlockShape::new(2, 3)?, BlockShape::new(3, 1)?);
        let of_blocks = tunings(left, right);
        for (tuning, of_blocks) in tunings(BlockShape::SCALAR, BlockShape::SCALAR).into_iter().zip(of_blocks) {
            equal_to_reference(&a, &b, tuning, what)?;
            let (a, b) = (as_blocks(&a, 2, 3)?, as_blocks(&b, 3, 1)?);
            let tuning = of_blocks.keeping_pairs();
            equal_to_reference(&a, &b, tuning.clone(), &format!("{what}, blocks"))?;
            let blocks = tuning::BlockTuning { kernel: tuning::BlockKernel::General, ..tuning.blocks };
            let general = Tuning { blocks, ..tuning };
            equal_to_reference(&a, &b, general, &format!("{what}, blocks by the general kernel"))?;
        }
    }
    Ok(())
}

/// Replaces each entry by a block of multiples of the entry.
fn as_blocks(a: &Csc<f64>, rows: usize, cols: usize) -> Result<crate::Cbc<f64>> {
    let values = a.values().iter().flat_map(|&value| (1..=rows * cols).map(move |i| value * i as f64)).collect();
    crate::Cbc::new(a.pattern().clone(), BlockShape::new(rows, cols)?, values)
}

fn whole(cases: Vec<Case>) -> Result<()> {
    for case in cases {
        for tuning in tunings(BlockShape::SCALAR, BlockShape::SCALAR) {
            let what = format!("{} products, {} segments", case.products.len(), case.b.ncols);
            equal_to_reference(&case.host.0, &case.host.1, tuning, &what)?;
        }
    }
    Ok(())
}

#[test]
fn edge_cases_whole() -> Result<()> {
    whole(edge_cases()?)
}

#[test]
fn small_cases_whole() -> Result<()> {
    whole(few_cases()?)
}

#[test]
fn every_device_s_tuning_gives_the_same_bits_here() -> Result<()> {
    // The tuning of a GPU and the tuning of a CPU are used on the test's device.
    let mut info = test_device().info().clone();
    let a = crate::generate::PowerLaw { nodes: 1 << 10, edges: 12_000, seed: 3, ..Default::default() }.matrix()?;
    let h =
        crate::generate::PoseChain { poses: 200, closures: 300, freedom: 6, seed: 4, ..Default::default() }.matrix()?;
    let (shape_a, shape_h) = (a.shape(), h.shape());
    for kind in [crate::DeviceKind::Gpu, crate::DeviceKind::Cpu] {
        info.kind = kind;
        for max_group_size in [info.max_group_size, 64] {
            info.max_group_size = max_group_size;
            equal_to_reference(&a, &a, Tuning::new(&info, shape_a, shape_a), &format!("{kind:?} scalars"))?;
            equal_to_reference(&h, &h, Tuning::new(&info, shape_h, shape_h), &format!("{kind:?} blocks"))?;
        }
    }
    Ok(())
}

#[test]
fn blocks_of_large_and_odd_sides_have_the_same_bits_on_a_gpu_s_tuning() -> Result<()> {
    let mut info = test_device().info().clone();
    info.kind = crate::DeviceKind::Gpu;
    // Some blocks fit registers, and some are too large for that. The number of rows of a block is
    // a multiple of 8, a prime number, or neither. Some blocks have a single column or row.
    for [rows, inner, cols] in [[5, 5, 5], [9, 9, 9], [10, 10, 10], [16, 16, 16], [16, 16, 1], [1, 16, 16], [13, 11, 7]]
    {
        let (left, right) = (BlockShape::new(rows, inner)?, BlockShape::new(inner, cols)?);
        let values = crate::generate::Values::Real;
        let a =
            crate::generate::Uniform { rows: 20, cols: 20, per_column: 5, shape: left, values, seed: 5 }.matrix()?;
        let b =
            crate::generate::Uniform { rows: 20, cols: 20, per_column: 5, shape: right, values, seed: 6 }.matrix()?;
        equal_to_reference(&a, &b, Tuning::new(&info, left, right), &format!("{left} by {right}"))?;
    }
    Ok(())
}

#[test]
fn a_second_product_allocates_nothing() -> Result<()> {
    let device = crate::Device::open(test_device().info())?; // a pool of its own
    let a = device.upload(
        &crate::generate::PoseChain { poses: 300, closures: 300, freedom: 3, ..Default::default() }.matrix()?,
    )?;
    drop(crate::multiply(&a, &a)?);
    let created = device.counters().buffers_created;
    for _ in 0..3 {
        drop(crate::multiply(&a, &a)?);
    }
    assert_eq!(device.counters().buffers_created, created);
    Ok(())
}
