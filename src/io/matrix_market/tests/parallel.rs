//! Tests that results and messages do not depend on the size of the chunks of text and the number
//! of threads.
use super::*;

/// The text of a 30x30 matrix of 60 entries, with one entry on each line from line 3 on. Some lines
/// are replaced.
fn text(replaced: &[(usize, String)]) -> String {
    let mut lines: Vec<_> = (0..60).map(|i| format!("{} {} {i}.5", 1 + i * 7 % 30, 1 + i / 2)).collect();
    replaced.iter().for_each(|(line, text)| lines[*line].clone_from(text));
    format!("{REAL}30 30 60\n{}\n", lines.join("\n"))
}

proptest! {
    #[test]
    fn the_same_as_in_one_block_on_one_thread(
        kind in prop::sample::select(vec![
            "coordinate real general", "coordinate integer symmetric", "coordinate pattern symmetric",
            "coordinate real skew-symmetric", "coordinate pattern general", "array real general",
        ]),
        lines in prop::collection::vec(prop_oneof![
            6 => (1..9u32, 1..9u32, -9..9i32).prop_map(Some),
            1 => Just(None),
        ], 0..50),
        odd in prop::option::weighted(0.3, (0..50usize, "[ -~]{0,12}")),
        (surplus, sum_duplicates) in any::<(bool, bool)>(),
        (block_bytes, threads, packed) in (1..300usize, 0..2usize, any::<bool>()),
    ) {
        let written = lines.iter().flatten().count() as u64;
        let mut text: Vec<_> = lines.iter().map(|line| match line {
            None => "% c".to_owned(),
            Some((row, col, value)) => match kind {
                "array real general" => format!("{value}"),
                _ if kind.contains("pattern") => format!("{} {}", row.max(col), row.min(col)),
                _ if kind.contains("skew") => format!("{} {} {value}", row.max(col) + 1, row.min(col)),
                _ if kind.contains("symmetric") => format!("{} {} {value}", row.max(col), row.min(col)),
                _ => format!("{row} {col} {value}"),
            },
        }).collect();
        if let Some((at, odd)) = odd {
            text.insert(at.min(text.len()), odd);
        }
        let sizes = match kind {
            "array real general" => format!("1 {written}"),
            _ => format!("9 9 {}", written.saturating_sub(surplus.into())),
        };
        let text = format!("%%MatrixMarket matrix {kind}\n{sizes}\n{}\n", text.join("\n")).into_bytes();
        let options = ReadOptions { sum_duplicates, ..Default::default() };
        let one = in_blocks(&text, 1 << 20, 0, &options);
        let text = if packed { gzip(&text) } else { text };
        prop_assert_eq!(in_blocks(&text, block_bytes, threads, &options), one);
    }

    #[test]
    fn the_first_wrong_line_is_named(
        first in 0..60usize, second in 0..60usize, block_bytes in 1..400usize, threads in 0..2usize,
    ) {
        let text = text(&[(first, "1 x 1".into()), (second, "1 1".into())]);
        let reason = in_blocks(text.as_bytes(), block_bytes, threads, &ReadOptions::default()).unwrap_err();
        let line = first.min(second) + 3;
        let what = if second <= first { "2 words" } else { "column" };
        prop_assert!(reason.starts_with(&format!("a.mtx:{line}: {what}")), "{}", reason);
    }

    #[test]
    fn the_first_surplus_line_is_named(
        stored in 0..60usize, wrong in 0..60usize, block_bytes in 1..400usize, threads in 0..2usize,
    ) {
        let text = text(&[(wrong, "1 x 1".into())]).replace("30 30 60", &format!("30 30 {stored}"));
        let reason = in_blocks(text.as_bytes(), block_bytes, threads, &ReadOptions::default()).unwrap_err();
        let (line, what) = if wrong <= stored { (wrong, "column") } else { (stored, "more entries") };
        prop_assert!(reason.starts_with(&format!("a.mtx:{}: {what}", line + 3)), "{}", reason);
    }

    #[test]
    fn both_lines_of_a_duplicate_are_named(
        first in 0..60usize, second in 0..60usize, block_bytes in 1..400usize, threads in 0..2usize,
    ) {
        prop_assume!(first != second);
        let text = text(&[(first, "30 30 1".into()), (second, "30 30 2".into())]);
        let reason = in_blocks(text.as_bytes(), block_bytes, threads, &ReadOptions::default()).unwrap_err();
        let (first, second) = (first.min(second) + 3, first.max(second) + 3);
        let expected = format!("a.mtx:{second}: a second entry at (30, 30), the first is on line {first}; ReadOptions::sum_duplicates adds up entries at the same place");
        prop_assert_eq!(reason, expected);
    }

    /// Tests the order of sums of duplicates: 1e16 + 1 - 1e16 is 0, and 1e16 - 1e16 + 1 is 1.
    #[test]
    fn duplicates_are_summed_in_the_order_of_the_file(
        terms in prop::collection::vec(prop::sample::select(vec![1e16, -1e16, 1.0, 3.0, 1e-3]), 1..60),
        block_bytes in 1..400usize, threads in 0..2usize,
    ) {
        let lines: String = terms.iter().map(|term| format!("2 1 {term}\n1 1 {term}\n")).collect();
        let text = format!("%%MatrixMarket matrix coordinate real symmetric\n2 2 {}\n{lines}", 2 * terms.len());
        let options = ReadOptions { sum_duplicates: true, ..Default::default() };
        let file = in_blocks(text.as_bytes(), block_bytes, threads, &options).unwrap();
        let sum = terms.iter().fold(None, |sum, term| Some(sum.map_or(*term, |sum: f64| sum + term))).unwrap();
        prop_assert_eq!(parts(&file), (&[0, 2, 3][..], &[0, 1, 0][..], &[sum; 3][..]));
    }

    /// Tests that nalgebra's reader returns the same matrices as this reader, for the kinds of
    /// files that nalgebra supports.
    #[test]
    fn nalgebra_reads_the_same(
        (rows, cols) in (1..12u32, 1..12u32),
        places in prop::collection::btree_map((0..12u32, 0..12u32), -9.0..9.0, 0..60),
        kind in prop::sample::select(vec!["real general", "real symmetric", "real skew-symmetric", "integer general"]),
        (is_array, block_bytes, threads) in (any::<bool>(), 1..300usize, 0..2usize),
    ) {
        let square = !kind.ends_with("general");
        let cols = if square { rows } else { cols };
        let kept = |row, col| match kind.split_once(' ').unwrap().1 {
            "symmetric" => row >= col,
            "skew-symmetric" => row > col,
            _ => true,
        };
        let number = |value: f64| if kind.starts_with("integer") { format!("{value:.0}") } else { format!("{value:e}") };
        let all = (0..cols).flat_map(|col| (0..rows).map(move |row| (row, col))).filter(|&(row, col)| kept(row, col));
        let mut lines = Vec::new();
        for place in all {
            match places.get(&place) {
                value if is_array => lines.push(format!("{}\n", number(value.copied().unwrap_or(0.0)))),
                Some(&value) => lines.push(format!("{} {} {}\n", place.0 + 1, place.1 + 1, number(value))),
                None => {}
            }
        }
        let (format, stored) = if is_array { ("array", String::new()) } else { ("coordinate", lines.len().to_string()) };
        let text = format!("%%MatrixMarket matrix {format} {kind}\n{rows} {cols} {stored}\n{}", lines.concat());
        let theirs = match kind.starts_with("integer") {
            true => nalgebra::DMatrix::from(&load_coo_from_matrix_market_str::<i64>(&text).unwrap()).map(|i| i as f64),
            false => nalgebra::DMatrix::from(&load_coo_from_matrix_market_str::<f64>(&text).unwrap()),
        };
        let ours = in_blocks(text.as_bytes(), block_bytes, threads, &ReadOptions::default()).unwrap();
        prop_assert_eq!(ours.matrix.to_dense(), theirs);
    }
}

#[test]
fn a_file_of_many_blocks_is_read_with_progress() {
    let count = 100_000;
    let text: String = (0..count).map(|i| format!("{} {} 0.{i:017}\n", 1 + i * 7 % 1000, 1 + i / 1000)).collect();
    let text = format!("{REAL}1000 100 {count}\n{text}");
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [("a.mtx", text.clone().into_bytes()), ("a.mtx.gz", gzip(text.as_bytes()))] {
        let path = folder.path().join(name);
        std::fs::write(&path, &bytes).unwrap();
        let reported = Arc::new(Mutex::new(Vec::new()));
        let report = Arc::clone(&reported);
        let progress = crate::Progress::new(move |done, total| report.lock().unwrap().push((done, total)));
        let options = ReadOptions { progress: Some(progress), ..Default::default() };
        let file = read(&path, &options).unwrap();
        assert_eq!(file.matrix.pattern().col_ptr(), (0..=100).map(|col| col * 1000).collect::<Vec<_>>());
        assert_eq!(file.matrix.values()[0], 0.0);
        let (reported, length) = (reported.lock().unwrap(), bytes.len() as u64);
        assert!(reported.len() as u64 <= length / (1 << 20) + 1 && reported.is_sorted(), "{reported:?}");
        assert_eq!(reported.last(), Some(&(length, length)));
    }
}
