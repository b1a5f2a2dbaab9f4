//! Choices for products that were measured on GPUs.
use super::*;

/// Matrices of the families of `lab regret`, measured on an NVIDIA H200 on 2026-11-25. The comments
/// in this test give the times of ESC and of the other methods.
#[test]
fn columns_are_analysed_if_that_may_gain() {
    let prices = priced(gpu());
    let by_esc = |known| prices.needs_no_analysis(&known);
    // For a stencil in space ESC takes 0.74 ms, and the other methods take 0.29 ms.
    assert!(!by_esc(known(13_824, [343_000, 13_824, 343_000], 8_741_816, [27; 2])));
    // For roads with hubs ESC takes 0.16 ms, and the other methods take 0.32 ms. With ten times as
    // many products ESC takes 0.55 ms, since its chunks have the size of the longest column, and
    // the other methods take 0.56 ms.
    assert!(by_esc(known(83_521, [234_144, 83_521, 234_144], 818_106, [104; 2])));
    assert!(by_esc(known(833_569, [2_345_684, 833_569, 2_345_684], 8_171_380, [202; 2])));
    // For a matrix with one full row and one full column, whose product takes long, ESC takes 0.71
    // ms, and the other methods take 0.86 ms.
    assert!(by_esc(known(3162, [9484, 3162, 9484], 10_004_565, [3162; 2])));
    // For graphs with hubs ESC takes 0.30 ms, and the other methods take 0.52 ms. With ten times as
    // many products ESC takes 1.06 ms, and the other methods take 0.94 ms.
    assert!(by_esc(known(2465, [19_298, 2465, 19_298], 1_251_903, [444; 2])));
    assert!(!by_esc(known(11_798, [96_952, 11_798, 96_952], 12_385_556, [1347; 2])));
    // Products measured on an H100 on 2026-11-26. The columns of C of a band matrix with 33 columns
    // and of a graph can all be sorted: ESC takes 0.14 ms for the band and 0.13 ms for the graph,
    // and the other methods take 0.12 ms for each. Roads have a column that needs the memory of 512
    // products to be sorted: ESC takes 0.14 ms, and the other methods take 0.19 ms.
    assert!(!by_esc(known(33, [817, 33, 817], 20_977, [33; 2])));
    assert!(!by_esc(known(108, [625, 108, 625], 10_213, [52; 2])));
    assert!(by_esc(known(8464, [23_944, 8464, 23_944], 85_236, [104; 2])));
    // A column of the matrix has half an entry on average. ESC is faster, because every other
    // method takes time for each column.
    let hollow = known(40_000_000, [20_000_000, 40_000_000, 20_000_000], 30_000_000, [5; 2]);
    assert!(by_esc(hollow) && !prices.sorts_all(Class::Sorted32, &hollow));
    let plane = known(400_000, [2_000_000, 400_000, 2_000_000], 10_000_000, [5; 2]);
    assert!(prices.sorts_all(Class::Sorted32, &plane));
}

/// Products measured on an NVIDIA H100 on 2026-11-26. The comments in this test give the times of
/// sorting all columns and of the fastest other method.
#[test]
fn columns_of_up_to_3584_products_are_sorted_if_that_is_faster() {
    let prices = priced(gpu());
    let (short, long) = (Class::Sorted512, Class::Sorted1024);
    // Random graphs of 22 entries a column. With 5000 columns sorting takes 0.10 ms, and the
    // fastest other method takes 0.22 ms. With 50,000 columns sorting takes 0.43 ms, and the
    // fastest other method takes 1.15 ms.
    for columns in [5000, 50_000] {
        assert!(
            prices.sorts_all(
                short,
                &known(columns, [22 * columns, columns, 22 * columns], 484 * columns as u64, [22; 2])
            )
        );
    }
    // Stencils in space. With 1728 columns sorting takes 0.10 ms, and the fastest other method
    // takes 0.16 ms. With 15,625 columns sorting takes 0.35 ms, and the fastest other method takes
    // 0.25 ms.
    let stencil = |columns: usize, nnz: usize, squares: u64| known(columns, [nnz, columns, nnz], squares, [27; 2]);
    assert!(prices.sorts_all(long, &stencil(1728, 39_304, 941_192)));
    assert!(!prices.sorts_all(long, &stencil(15_625, 389_017, 9_938_375)));
    assert!(prices.sorts_all(Class::Sorted768, &stencil(216, 4096, 85_184)), "0.07 and 0.15");
    // Few long columns of B select short columns of A. With 1111 columns sorting takes 0.11 ms, and
    // the fastest other method takes 0.20 ms. With 11,111 columns sorting takes 0.47 ms, and the
    // fastest other method takes 0.82 ms.
    let few =
        |columns: usize| known(columns, [24 * columns, 8 * columns, 300 * columns], 72 * columns as u64, [3, 300]);
    assert!([1111, 11_111].into_iter().all(|columns| prices.sorts_all(long, &few(columns))));
    // Independent parts of 24 columns each: sorting takes 0.27 ms, and the fastest other method
    // takes 0.22 ms.
    let parts = known(17_376, [417_024, 17_376, 417_024], 10_008_576, [24; 2]);
    assert!(!prices.sorts_all(Class::Sorted768, &parts));
    // Random graphs of blocks. With 8 entries in an average column and 25 in the longest, sorting
    // takes 2.2 ms, and the fastest other method takes 0.75 ms. With 22 entries in every column
    // sorting takes 0.16 ms, and the fastest other method takes 0.25 ms.
    assert!(!prices.sorts_blocks(long, &known(110_000, [880_000, 110_000, 880_000], 7_040_000, [25; 2])));
    assert!(prices.sorts_blocks(short, &known(3000, [66_000, 3000, 66_000], 1_452_000, [22; 2])));
    // The following products have been analysed. In a graph of 31 entries a column hardly any
    // products have a row in common: sorting takes 0.68 ms, and the fastest other method takes 0.71
    // ms. In a stencil six products on average are added to one entry of C.
    let analysed = |columns: u32, products: u64, meet: u64| {
        let mut sums = sums(of_classes(&[(Class::Narrow, columns)]), of_classes(&[(Class::Narrow, products)]));
        let of = &mut sums[Class::Narrow as usize];
        of.most_entries = of.products / meet;
        prices.sorts_analysed(&sums)
    };
    assert_eq!([analysed(25_000, 961, 1), analysed(148_877, 684, 6)], [Some(long), None]);
    assert_eq!([analysed(25_000, 500, 1), analysed(1000, 3585, 1)], [Some(short), None]);
    // All columns of C of a graph of poses fit in the class: on an H200, 2026-11-27, sorting takes
    // 0.06 ms, and the fastest other method takes 0.14 ms.
    assert!(prices.sorts_all(Class::Sorted1536, &known(48, [1368, 48, 1368], 41_040, [36; 2])));
    // Random graphs on an H200, 2026-11-27: with 38 entries a column sorting takes 0.46 ms, the
    // fastest other method takes 0.75 ms, and ESC takes 0.92 ms. With 45 entries sorting takes 0.45
    // ms, the fastest other method takes 0.63 ms, and ESC takes 0.83 ms. On an H100 sorting takes
    // 0.51 ms with 50 and with 55 entries, ESC takes 0.74 ms with 50 and 0.72 ms with 55.
    let longest = [(13_850, 1444), (9877, 2025), (8000, 2500), (6612, 3025)];
    let classes = [Class::Sorted1536, Class::Sorted2048, Class::Sorted2560, Class::Sorted3072];
    assert_eq!(longest.map(|(columns, products)| analysed(columns, products, 1)), classes.map(Some));
}

/// On an NVIDIA H100, 2026-11-26, bitmaps take 2.4 ms for 18,382 columns of 1088 products in a
/// range of 21,200 words, and ESC 1.2 ms, if no two products have the same row. If products have
/// rows in common, bitmaps are faster than ESC in wide ranges, too.
#[test]
fn a_wide_range_of_rows_is_dear_for_bitmaps() {
    let by_bitmaps = |columns: u32, products: u64, meet: u64, widest: u32| {
        let mut sums = sums(of_classes(&[(Class::Wide, columns)]), of_classes(&[(Class::Wide, products)]));
        let of = &mut sums[Class::Wide as usize];
        (of.widest, of.most_entries) = (widest, of.products / meet);
        share_out(&sums, &priced(gpu()), true).is_some()
    };
    assert_eq!([2000, 21_200].map(|widest| by_bitmaps(18_382, 1088, 1, widest)), [true, false]);
    assert!(by_bitmaps(7953, 2606, 3, 10_174));
}

/// On an NVIDIA H200, 2026-11-28: 27,434 columns of a stencil have 729 products each, which are 125
/// entries of C. In a range of 2050 words bitmaps take 0.39 ms if each of the two teams of a
/// work-group counts a column. If the columns are analysed and sorted, they take 0.47 ms.
#[test]
fn short_columns_of_stencils_are_not_sorted_where_their_rows_are_far_apart() {
    let sorted = |widest: u32, paired_products| {
        let mut sums = sums(of_classes(&[(Class::Wide, 27_434)]), of_classes(&[(Class::Wide, 729)]));
        let of = &mut sums[Class::Wide as usize];
        (of.widest, of.most_entries) = (widest, 125 * 27_434);
        (of.longest_b, of.b_entries, of.visits) = (27, 27 * 27_434, 27 * 27_434);
        Prices { paired_products, ..priced(gpu()) }.sorts_analysed(&sums).is_some()
    };
    assert_eq!([2050, 8000].map(|widest| sorted(widest, PAIRED_PRODUCTS)), [false, true]);
    assert!(sorted(2050, 500), "four teams share such columns");
}

/// Two products of matrices with equal numbers of columns and of products of entries. In one of
/// them a single long column has all products of entries.
#[test]
fn a_long_column_whose_entries_are_taken_in_turn_is_dear() {
    let mut sums = sums(of_classes(&[(Class::Narrow, 66)]), of_classes(&[(Class::Narrow, 15_000)]));
    sums[Class::Narrow as usize].visits = 33_000;
    let chosen = |longest: u32, products: u64| {
        let mut sums = sums;
        let of = &mut sums[Class::Narrow as usize];
        (of.longest_b, of.products) = (longest, products);
        share_out(&sums, &priced(gpu()), true).is_some()
    };
    // ESC does not visit entries one after another.
    assert_eq!([chosen(500, 10_000_000), chosen(20_000, 10_000_000), chosen(20_000, 1 << 30)], [true, false, true]);
}

/// B has 1300 columns of 1024 entries, and each entry has 15 products. On an H200 ESC takes 1.3 ms.
/// If the rows of a column are cut into 14 pieces, `dense` takes 1.9 ms and `hub` 2.7 ms.
#[test]
fn pieces_that_visit_many_entries_are_dear() {
    let by_esc = |pieces: u64, hubs: bool| {
        let mut sums = sums(of_classes(&[(Class::Big, 1300)]), of_classes(&[(Class::Big, 15_360)]));
        let of = &mut sums[Class::Big as usize];
        (of.longest_b, of.b_entries, of.visits) = (1024, 1300 << 10, pieces * (1300 << 10));
        if hubs {
            (of.hub_columns, of.hub_products, of.hub_visits) = (of.columns, of.products, of.visits);
        }
        share_out(&sums, &priced(gpu()), true).is_none()
    };
    assert_eq!(
        [(1, false), (14, false), (1, true), (14, true)].map(|(pieces, hubs)| by_esc(pieces, hubs)),
        [false, true, false, true]
    );
}

/// The product has short columns, which are sorted, and one long column or many.
#[test]
fn few_long_columns_are_left_to_esc_beside_others() -> Result<()> {
    let leaves = |columns: u32, entries: u32, prices: &Prices| {
        let products = 8 * u64::from(entries);
        let mut sums = sums(
            of_classes(&[(Class::Sorted64, 400_000), (Class::Long, columns)]),
            of_classes(&[(Class::Sorted64, 50), (Class::Long, products)]),
        );
        let long = &mut sums[Class::Long as usize];
        (long.longest_b, long.visits) = (entries, u64::from(columns * entries));
        let leaves = leaves_long(&sums, prices);
        let left = without_long(sums);
        assert_eq!(left[Class::Long as usize], ClassSums::default());
        assert_eq!(left[Class::Rest as usize].products, u64::from(columns) * products);
        assert!(!leaves || share_out(&left, prices, true).is_some(), "ESC alone takes longer");
        leaves
    };
    let usual = priced(gpu());
    assert_eq!([1, 4000].map(|columns| leaves(columns, 5000, &usual)), [true, false]);
    assert_eq!([100, 5000].map(|entries| leaves(1, entries, &usual)), [false, true]);
    let dear = priced(gpu().with("esc", MethodCost::new([1e9, 0.0, 0.0, 0.0])?)?);
    assert!(!leaves(1, 5000, &dear) && !leaves(0, 0, &usual));
    Ok(())
}
