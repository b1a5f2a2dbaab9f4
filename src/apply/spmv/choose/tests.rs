use super::*;
use crate::{
    Semiring,
    apply::{Split, spmv::Elements},
    element::ElementType,
};

fn situation(device: DeviceKind, profile: Profile, request: Request, in_order: bool) -> Situation {
    Situation {
        profile,
        columns: profile.longest.max(profile.rows),
        longest: None,
        request,
        device,
        compute_units: if device == DeviceKind::Gpu { 132 } else { 2 },
        slice_sums: if device == DeviceKind::Gpu { 32 } else { slices::LANES },
        element_bytes: 8,
        vector_bytes: 8,
        block: Block::SCALAR,
        tile: 1024,
        of_item: None,
        in_order,
        by_columns: false,
    }
}

fn chosen(device: DeviceKind, profile: Profile, request: Request, in_order: bool) -> Format {
    let situation = situation(device, profile, request, in_order);
    let found = choose(&situation);
    assert!(found.why.starts_with(found.format.name()), "{}", *found.why);
    // A format that is chosen without the rows' lengths must be the format that is chosen with the
    // lengths.
    if let Some(foregone) = foregone(&situation) {
        assert_eq!(foregone.format, found.format, "{}", *foregone.why);
    }
    found.format
}

const PACKED: Request = Request {
    elements: Elements::both(ElementType::F64),
    format: Format::Auto,
    semiring: Semiring::PlusTimes,
    any_order: false,
    split: Split::Bytes,
    uses: 1000,
    packed: true,
    symmetric: false,
};
/// A matrix whose rows are not counted.
const UNCOUNTED: Profile = Profile { rows: 0, entries: 0, longest: 0, sliced_places: 0, on_diagonals: 0, near: false };
const POISSON: Profile =
    Profile { rows: 1_000_000, entries: 4_996_000, longest: 5, sliced_places: 5_000_000, on_diagonals: 0, near: false };
const SKEWED: Profile = Profile {
    rows: 262_144,
    entries: 2_000_000,
    longest: 9_000,
    sliced_places: 36_000_000,
    on_diagonals: 0,
    near: false,
};
const SPACE: Profile = Profile {
    rows: 1_000_000,
    entries: 26_500_000,
    longest: 27,
    sliced_places: 27_000_000,
    on_diagonals: 0,
    near: true,
};

#[test]
fn a_cpu_adds_row_after_row() {
    for profile in [POISSON, SKEWED] {
        assert_eq!(chosen(DeviceKind::Cpu, profile, PACKED, true), Format::Csr);
    }
    // If rows of nearly equal length have near columns and are used often, eight rows are added at
    // once.
    let near = Profile { near: true, ..POISSON };
    let far_on_diagonals = Profile { on_diagonals: 4_990_000, ..POISSON };
    assert_eq!(chosen(DeviceKind::Cpu, far_on_diagonals, PACKED, true), Format::SlicedEll);
    assert_eq!(chosen(DeviceKind::Cpu, near, PACKED, true), Format::SlicedEll);
    for request in [
        Request { uses: 1, ..PACKED },
        Request { packed: false, ..PACKED },
        Request { semiring: Semiring::MinPlus, ..PACKED },
    ] {
        assert_eq!(chosen(DeviceKind::Cpu, near, request, true), Format::Csr);
    }
    // One row is nearly the whole matrix: its pieces are divided among work-groups.
    let dense_row = Profile {
        rows: 10,
        entries: 10_000_000,
        longest: 10_000_000,
        sliced_places: 320_000_000,
        on_diagonals: 0,
        near: false,
    };
    assert_eq!(chosen(DeviceKind::Cpu, dense_row, PACKED, true), Format::CsrAdaptive);
}

#[test]
fn a_gpu_pads_rows_that_are_nearly_equal_if_they_are_used_often() {
    assert!(matches!(chosen(DeviceKind::Gpu, POISSON, PACKED, true), Format::Ell | Format::SlicedEll));
    // For one execution, fewer launches save more time than a faster product.
    assert_eq!(chosen(DeviceKind::Gpu, POISSON, Request { uses: 1, ..PACKED }, true), Format::Csr);
    // The conversion takes as long as thirty executions save.
    for (uses, pads) in [(1, false), (10, false), (1000, true)] {
        let format = chosen(DeviceKind::Gpu, POISSON, Request { uses, ..PACKED }, true);
        assert_eq!(matches!(format, Format::Ell | Format::SlicedEll), pads, "{uses} uses");
    }
    assert_eq!(chosen(DeviceKind::Gpu, SKEWED, PACKED, true), Format::CsrAdaptive);
    for in_order in [false, true] {
        let unpacked = Request { packed: false, ..PACKED };
        assert_eq!(chosen(DeviceKind::Gpu, SPACE, unpacked, in_order), Format::CsrAdaptive);
    }
    // Finite elements in `f32`: on an H200 sliced ELL takes 22 us and `csr-adaptive` 35 us.
    let (rows, entries, near) = (200_000, 11_900_000, true);
    let elements = Profile { rows, entries, longest: 60, sliced_places: 11_950_000, near, ..POISSON };
    let request = Request { uses: 100, ..PACKED };
    let in_f64 = situation(DeviceKind::Gpu, elements, request, true);
    for bytes in [4, 8] {
        let situation = Situation { element_bytes: bytes, vector_bytes: bytes, ..in_f64 };
        assert_eq!(choose(&situation).format, Format::SlicedEll, "{bytes} bytes");
    }
    // First the rows that items read at the same time do not fit the cache, then they fit.
    let ten = Request { uses: 10, ..PACKED };
    assert_eq!(chosen(DeviceKind::Gpu, SPACE, ten, true), Format::CsrAdaptive);
    let few = Profile { rows: 40_000, entries: 1_060_000, sliced_places: 1_080_000, ..SPACE };
    assert_eq!(chosen(DeviceKind::Gpu, few, ten, true), Format::Csr);
}

#[test]
fn groups_add_rows_that_are_long_in_the_mean() {
    let rows = 2500;
    let wide = |longest: u64| Profile {
        rows,
        entries: rows * longest,
        longest,
        sliced_places: rows * longest,
        on_diagonals: 0,
        near: false,
    };
    for uses in [1, 10] {
        let in_place = Request { uses, packed: false, ..PACKED };
        assert_eq!(chosen(DeviceKind::Gpu, wide(400), in_place, false), Format::Csr, "{uses}");
    }
    // Each entry of rows in pieces takes no longer than an entry of rows that items add.
    let cost = |longest: u64| {
        let cost = situation(DeviceKind::Gpu, wide(longest), PACKED, true).cost(Format::Csr);
        cost.unwrap() / (rows * longest)
    };
    assert!(cost(400) < cost(100), "{} {}", cost(400), cost(100));
}

#[test]
fn orders_of_their_own_are_chosen_only_if_allowed() {
    let long = Profile {
        rows: 2500,
        entries: 1_000_000,
        longest: 400,
        sliced_places: 1_000_000,
        on_diagonals: 0,
        near: false,
    };
    let any = Request { any_order: true, ..PACKED };
    for kind in [DeviceKind::Gpu, DeviceKind::Cpu, DeviceKind::Other] {
        for profile in [POISSON, SKEWED, long] {
            assert_eq!(chosen(kind, profile, PACKED, true).order(), Order::Ascending);
        }
    }
    assert_eq!(chosen(DeviceKind::Gpu, long, any, true), Format::CsrVector);
    // A team would take longer for the longest row than all groups take for all rows.
    let longer = Profile { longest: 30_000, ..long };
    assert_eq!(chosen(DeviceKind::Gpu, longer, any, true), Format::CsrShared);
    // Rows of very different lengths are not padded. Rows of nearly equal length are padded with
    // any order of addition.
    assert_eq!(chosen(DeviceKind::Gpu, SKEWED, any, true), Format::CsrShared);
    assert!(matches!(chosen(DeviceKind::Gpu, POISSON, any, true), Format::Ell | Format::SlicedEll));
}

#[test]
fn lengths_of_rows_are_asked_for_only_if_the_choice_depends_on_them() {
    let situation = |device, [rows, entries]: [u64; 2], columns, request| Situation {
        columns,
        compute_units: 2,
        ..situation(device, Profile { rows, entries, ..UNCOUNTED }, request, true)
    };
    let of = |device, sizes, columns, request| foregone(&situation(device, sizes, columns, request));
    let format = |choice: Option<FormatChoice>| choice.map(|choice| choice.format);
    // On a CPU compressed rows are chosen without a count, unless one row may have all entries, or
    // rows of nearly equal length may be added in vectors.
    assert_eq!(format(of(DeviceKind::Cpu, [1000, 5000], 1000, PACKED)), None);
    let square = of(DeviceKind::Cpu, [1000, 5000], 1000, Request { packed: false, ..PACKED });
    assert!(square.as_ref().is_some_and(|choice| choice.why.contains("at most (others: ")), "{square:?}");
    assert_eq!(format(square), Some(Format::Csr));
    let once = of(DeviceKind::Gpu, [1000, 5000], 1000, Request { uses: 1, ..PACKED });
    assert!(once.as_ref().is_some_and(|choice| choice.why.ends_with("share for 1 use")), "{once:?}");
    assert_eq!(format(of(DeviceKind::Cpu, [10, 1_000_000], 1_000_000, PACKED)), None);
    // On a GPU the choice depends on the lengths, because rows may be padded.
    assert_eq!(format(of(DeviceKind::Gpu, [1_000_000, 5_000_000], 1_000_000, PACKED)), None);
    assert_eq!(format(of(DeviceKind::Gpu, [0, 0], 0, PACKED)), Some(Format::Csr));
    // For a single product on a GPU no rows are padded, whatever their lengths are. Long rows are
    // cut in pieces.
    let few = |uses, longest| {
        let request = Request { uses, ..PACKED };
        let found = situation(DeviceKind::Gpu, [20_000, 100_000], 20_000, request);
        format(foregone(&Situation { compute_units: 132, longest, ..found }))
    };
    assert_eq!([few(1, None), few(1, Some(5)), few(1, Some(20_000))], [Some(Format::Csr); 3]);
    assert_eq!(few(1000, None), None);
    // In a matrix of blocks one item adds the longest row.
    let of_blocks = Situation {
        compute_units: 132,
        block: Block { sums: 3, depth: 3, ..Block::SCALAR },
        ..situation(DeviceKind::Gpu, [20_000, 100_000], 20_000, Request { uses: 1, ..PACKED })
    };
    assert_eq!(format(foregone(&of_blocks)), None);
    assert_eq!(format(foregone(&Situation { longest: Some(5), ..of_blocks })), Some(Format::Csr));
}

#[test]
fn a_cpu_finds_no_rows_for_a_few_products() {
    let by_columns = |device, compute_units, uses| {
        let (profile, request) =
            (Profile { rows: 100_000, entries: 800_000, ..UNCOUNTED }, Request { uses, packed: false, ..PACKED });
        let situation = Situation { compute_units, by_columns: true, ..situation(device, profile, request, false) };
        (foregone(&situation).map(|choice| choice.format), situation)
    };
    assert_eq!(by_columns(DeviceKind::Cpu, 2, 1).0, Some(Format::Csc));
    assert_eq!(by_columns(DeviceKind::Cpu, 2, 1000).0, Some(Format::Csr));
    // Each of many compute units would go through all columns.
    let (many, situation) = by_columns(DeviceKind::Cpu, 1000, 1);
    assert!(many != Some(Format::Csc) && choose(&situation).format != Format::Csc);
    assert_ne!(by_columns(DeviceKind::Gpu, 132, 1).0, Some(Format::Csc));
    // If the rows are stored, no index has to be made.
    let found = Situation { by_columns: false, ..by_columns(DeviceKind::Cpu, 2, 1).1 };
    assert_eq!(choose(&found).format, Format::Csr);
}

#[test]
fn no_row_and_no_entry() {
    let none = Profile { rows: 0, entries: 0, longest: 0, sliced_places: 0, on_diagonals: 0, near: false };
    assert_eq!(chosen(DeviceKind::Gpu, none, PACKED, true), Format::Csr);
}

#[test]
fn blocks_take_a_format_that_was_among_the_fastest() {
    let block = |sums, bytes, [rows, entries, longest, sliced_places]: [u64; 4]| {
        let profile = Profile { rows, entries, longest, sliced_places, on_diagonals: 0, near: false };
        let of_item = (sums % 2 == 0 && sums as u64 * bytes > 16).then_some(1024 / (sums * sums) as u64);
        Situation {
            element_bytes: bytes,
            vector_bytes: bytes,
            block: Block { sums, depth: sums, ..Block::SCALAR },
            tile: 1024 / (sums * sums) as u64,
            of_item,
            ..situation(DeviceKind::Gpu, profile, PACKED, true)
        }
    };
    let format = |situation: Situation| choose(&situation).format;
    let by_items = [Format::CsrAdaptive, Format::Ell, Format::SlicedEll];
    // A 27-point stencil with 52 nodes on each side. On an H200 `csr` takes 304 us in `f64` and 178
    // us in `f32`; `csr-adaptive` takes 266 us in `f64` and 145 us in `f32`. When the groups of
    // `csr-adaptive` loaded tiles together, it took 512 us in `f64` and 230 us in `f32`.
    for bytes in [4, 8] {
        let found = format(block(6, bytes, [140_608, 3_652_264, 27, 3_796_416]));
        assert!(by_items.contains(&found), "{found} of {bytes} bytes");
    }
    // Blocks of 3x3, with 30 nodes on each side, take 17.6 us in padded rows, 25 us in `csr` and 27
    // us in tiles.
    assert_ne!(format(block(3, 8, [27_000, 681_472, 27, 729_000])), Format::CsrAdaptive);
    assert_eq!(format(block(3, 4, [27_000, 681_472, 27, 729_000])), Format::Csr);
    // Some rows are very long. An item of `csr` would take 1.3 ms for the longest row. The groups
    // of `csr-adaptive` take 0.12 ms for all rows.
    assert_eq!(format(block(8, 8, [20_000, 200_000, 9000, 3_000_000])), Format::CsrAdaptive);
    // There are too few sums to fill the device. An item of `csr` then adds a row in less time than
    // a group of `csr-adaptive`.
    assert_eq!(format(block(4, 4, [10_000, 320_000, 58, 402_312])), Format::Csr);
    // With values in place and by rows, `csr` takes 64 us and `csr-adaptive` 88 us. With 3906 rows
    // of 16 blocks `csr` takes 12 us and `csr-adaptive` 8 us.
    let in_place = |found: Situation| Situation { request: Request { packed: false, ..PACKED }, ..found };
    assert_eq!(format(in_place(block(6, 8, [27_000, 681_472, 27, 729_000]))), Format::Csr);
    assert_eq!(format(in_place(block(4, 8, [3906, 62_496, 33, 90_000]))), Format::CsrAdaptive);
}
