use super::*;
use crate::{BlockShape, DeviceInfo, DeviceKind, Pattern, device::test_device};

/// A pattern with columns of these lengths, each with entries in its first rows.
fn pattern(lengths: &[usize]) -> Result<Pattern> {
    let mut ptr = vec![0];
    ptr.extend(lengths.iter().scan(0, |end, &n| {
        *end += n as u64;
        Some(*end)
    }));
    let rows = lengths.iter().flat_map(|&n| 0..n as u32).collect();
    Pattern::new(lengths.iter().copied().max().unwrap_or(0), lengths.len(), ptr, rows)
}

/// Checks that every line is in one tile or in pieces, that no tile has more entries than allowed,
/// and that pieces cover their lines.
fn shares_are_complete(lengths: &[usize], limits: Limits, before: usize) -> Result<()> {
    let Limits { tile, whole, .. } = limits;
    let work = Work::new(&test_device(), None);
    let arrays = PatternArrays::upload(&work, &pattern(lengths)?)?;
    let sizes = [arrays.ncols, arrays.nnz()];
    let lines = Shares::new(&work, &arrays.col_ptr, sizes, limits, before)?;
    let ptr: Vec<usize> = arrays.col_ptr.download(&work)?.into_iter().map(|p| p as usize).collect();
    let is_long = |line: usize| tile == 0 || lengths[line] > limits.longest;

    if lines.tiles() > 0 {
        let firsts = lines.tile_line.download(&work)?;
        assert_eq!((firsts[0], firsts[firsts.len() - 1]), (0, lengths.len() as u32));
        for ends in firsts.windows(2) {
            let (first, mut end) = (ends[0] as usize, ends[1] as usize);
            assert!(first <= end && end - first <= tile, "{ends:?} of {tile}");
            end -= usize::from(end > first && is_long(end - 1));
            assert!((first..end).all(|line| !is_long(line)), "a line longer than a tile is its last");
            assert!(ptr[end] - ptr[first] < 2 * tile, "{ends:?}: {} of {tile}", ptr[end] - ptr[first]);
        }
    }

    let (mut pieces, cuts) = (lines.pieces.download(&work)?, lines.cuts.download(&work)?);
    pieces.sort_unstable_by_key(|piece| (piece.run, piece.begin));
    let mut parts = Vec::new();
    let mut found = pieces.into_iter();
    for line in (0..lengths.len()).filter(|&line| is_long(line)) {
        let cut = cuts.iter().find(|cut| cut.run as usize == line);
        let is_whole = lengths[line] + before <= whole;
        let count = if is_whole { 1 } else { (lengths[line] + before).div_ceil(RUN_PIECE) };
        assert_eq!(cut.map_or(1, |cut| (cut.end - cut.begin) as usize), count);
        for number in 0..count {
            let begin = ptr[line] + (number * RUN_PIECE).saturating_sub(before);
            let end = if is_whole { usize::MAX } else { ptr[line] + (number + 1) * RUN_PIECE - before };
            let end = ptr[line + 1].min(end);
            let part = cut.map_or(u32::MAX, |cut| cut.begin + number as u32);
            let want = Piece { run: line as u32, begin: begin as u32, end: end as u32, part };
            assert_eq!(found.next(), Some(want));
            parts.extend(cut.map(|_| part));
        }
    }
    assert_eq!(found.next(), None);
    parts.sort_unstable();
    assert_eq!(parts, (0..lines.parts as u32).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn small_tiles_with_long_lines_come_first() -> Result<()> {
    let work = Work::new(&test_device(), None);
    // Tiles of 128 entries and lines: one of short lines, one with a line of 70, one with a line in
    // pieces, one with a line of 128, and one with a line of 64 beside short ones.
    let mut lengths = [vec![1; 64], vec![70, 57], vec![300], vec![0; 83], vec![128, 64], vec![1; 64]].concat();
    lengths.push(62);
    let ordered = |lengths: &[usize], group_size: usize| -> Result<Vec<u32>> {
        let arrays = PatternArrays::upload(&work, &pattern(lengths)?)?;
        let tuning = LineTuning {
            group_size,
            tile: 128,
            longest: 128,
            held: 256,
            ahead: 1,
            skewed: (group_size, 1),
            direct: 0,
            together: 1,
            guessed: 0,
            whole: RUN_PIECE,
            light: 64,
            apart: 0,
        };
        let shares = Shares::new(&work, &arrays.col_ptr, [arrays.ncols, arrays.nnz()], Limits::of_tiles(128), 0)?;
        let found = heavy_tiles_first(&work, &arrays, shares.tiles(), tuning)?.download(&work)?;
        // The tasks of groups are in the order of the tiles, without the lines that are in pieces.
        let (first, pieces) = (shares.tile_line.download(&work)?, shares.pieces.download(&work)?);
        let lines = Lines::new(&work, Index::Columns(arrays), tuning)?;
        let (ptr, tasks) = (pattern(lengths)?.col_ptr().to_vec(), lines.tasks.download(&work)?);
        let (before, tiles) = tasks.split_at(lines.pieces);
        let sorted = |pieces: &[Piece]| {
            let mut pieces = pieces.to_vec();
            pieces.sort_unstable_by_key(|piece| (piece.run, piece.begin));
            pieces
        };
        assert_eq!((sorted(before), tiles.len()), (sorted(&pieces), shares.tiles()));
        for (number, tile) in tiles.iter().enumerate() {
            let which = found.get(number).map_or(number, |tile| *tile as usize);
            let (begin, mut end) = (first[which] as usize, first[which + 1] as usize);
            end -= usize::from(end > begin && lengths[end - 1] > tuning.tile);
            let [run, entry, behind] = [begin, ptr[begin] as usize, ptr[end] as usize].map(|number| number as u32);
            assert_eq!(*tile, Piece { run, begin: end as u32, end: entry, part: behind });
        }
        Ok(found)
    };
    let ptr: Vec<usize> = lengths
        .iter()
        .scan(0, |end, &n| Some(std::mem::replace(end, *end + n)))
        .enumerate()
        .map(|(line, begin)| begin + line)
        .collect();
    let places = lengths.iter().sum::<usize>() + lengths.len();
    let mut weights = vec![0; places.div_ceil(128)];
    for (&n, place) in lengths.iter().zip(ptr) {
        if (64..=128).contains(&n) {
            weights[place / 128] = n.ilog2().max(weights[place / 128]);
        }
    }
    let mut want: Vec<u32> = (0..weights.len() as u32).collect();
    want.sort_by_key(|&tile| std::cmp::Reverse(weights[tile as usize]));
    assert_ne!(want[0], 0, "the first tile has short lines alone");
    assert_eq!(ordered(&lengths, 16)?, want);
    assert!(ordered(&lengths, 1)?.is_empty(), "a CPU takes tiles as they stand");
    assert!(ordered(&[3; 1000], 16)?.is_empty(), "no tile has long lines");
    assert!(ordered(&[64; 126], 16)?.is_empty(), "each tile has long lines");
    assert!(ordered(&[], 16)?.is_empty());
    Ok(())
}

#[test]
fn small_lines_are_shared_out_whole() -> Result<()> {
    let mixed = [3, 0, 0, 9, 1, 8, 0, 2, 1025, 0, 1024, 7, 2049, 1, 0];
    for lengths in [&[][..], &[0], &[0; 100], &[1; 70], &mixed] {
        for (tile, before) in [(0, 0), (1, 0), (8, 0), (1024, 0), (0, 3), (8, 1016), (1, 1023)] {
            shares_are_complete(lengths, Limits::of_tiles(tile), before)?;
        }
        // One group takes a line of two pieces whole. The line of 2049 entries is cut.
        for (tile, longest) in [(0, 0), (8, 5), (1024, 512)] {
            shares_are_complete(lengths, Limits { tile, longest, whole: 2 * RUN_PIECE }, 0)?;
        }
    }
    Ok(())
}

#[test]
fn long_lines_are_guessed_if_all_tiles_are_added_at_once() {
    let mut info = test_device().info().clone();
    (info.kind, info.compute_units) = (DeviceKind::Gpu, 10);
    let tuning = LineTuning::new(&info, BlockShape::SCALAR);
    let most = 4 * 10 * tuning.tile;
    let guessed = |info: &DeviceInfo, places| {
        let tuning = tuning.of(info, places);
        (tuning.longest, tuning.whole, tuning.guessed_by(256), tuning.guessed_by(4))
    };
    let longest = info.numbers::<LineNumbers>().guessed_line;
    assert_eq!(guessed(&info, most), (longest, 2 * RUN_PIECE, longest, 0));
    assert_eq!(guessed(&info, most + 1), (tuning.tile, RUN_PIECE, 0, 0));
    // On a CPU one item adds every line.
    info.kind = DeviceKind::Cpu;
    assert_eq!(guessed(&info, most), (tuning.tile, RUN_PIECE, 0, 0));
}

#[test]
fn a_tile_of_packed_blocks_has_a_sum_for_each_item() -> Result<()> {
    let mut info = test_device().info().clone();
    (info.kind, info.compute_units) = (DeviceKind::Gpu, 10);
    let shape = BlockShape::new(6, 6)?;
    let tuning = LineTuning::packed(&info, shape);
    let of = |lines, each| {
        let tuning = tuning.of_blocks(&info, shape, [lines, lines * each]);
        (tuning.tile, tuning.longest)
    };
    // With 2560 sums, which are 427 lines of 6 sums, 10 compute units are busy.
    assert_eq!(of(427, 27), (27 * tuning.group_size / 6, 64));
    assert_eq!(of(427, 200), (200 * tuning.group_size / 6, 512));
    assert_eq!(of(427, 900), (900 * tuning.group_size / 6, RUN_PIECE));
    assert_eq!(of(427, 2), (tuning.tile, tuning.longest));
    assert_eq!(of(426, 27), (tuning.tile, tuning.longest));
    // A group loads blocks of 3x3 together, so its local memory bounds a tile.
    let shape = BlockShape::new(3, 3)?;
    let tuning = LineTuning::packed(&info, shape);
    assert_eq!(tuning.of_blocks(&info, shape, [10_000, 270_000]), tuning);
    Ok(())
}
