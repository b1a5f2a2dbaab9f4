//! Slices are those of a model, in groups of every size.
use super::*;
use crate::{Pattern, device::test_device, resident::PatternArrays};

const PADDING: u32 = u32::MAX;

/// Expected offsets of slices of `height` rows of these lengths, and for each place its column
/// and its entry. Entry k of row i is in column i + k·apart.
fn model(lengths: &[usize], height: usize, apart: usize) -> (Vec<u64>, Vec<u32>, Vec<u32>) {
    let (mut ptr, mut col, mut source) = (vec![0], Vec::new(), Vec::new());
    let begin = |row: usize| lengths[..row].iter().sum::<usize>();
    for first in (0..lengths.len()).step_by(height) {
        let slice = first..lengths.len().min(first + height);
        for k in 0..lengths[slice.clone()].iter().copied().max().unwrap_or(0) {
            for row in first..first + height {
                let holds = lengths.get(row).is_some_and(|&n| k < n);
                col.push(if holds { (row + k * apart) as u32 } else { PADDING });
                source.push(if holds { (begin(row) + k) as u32 } else { PADDING });
            }
        }
        ptr.push(col.len() as u64);
    }
    (ptr, col, source)
}

/// The columns of all places in slices of `height` rows.
fn columns(work: &Work, slices: &Slices, height: usize) -> Result<Vec<u32>> {
    let Columns { col, near } = &slices.col;
    let Some(Near { first, rows: of_first }) = near else { return col.typed().download(work) };
    let (first, distance) = (first.download(work)?, col.typed::<u16>().download(work)?);
    let (ptr, mut columns) = (slices.ptr.download(work)?, Vec::new());
    for (slice, places) in ptr.windows(2).enumerate() {
        columns.extend((0..(places[1] - places[0]) as usize).map(|i| match distance[places[0] as usize + i] {
            u16::MAX => PADDING,
            near => first[(slice * height + i % height) / of_first] + u32::from(near),
        }));
    }
    Ok(columns)
}

#[test]
fn small_slices_are_those_of_the_model() -> Result<()> {
    let device = test_device();
    let work = Work::new(&device, None);
    let lengths = |n: usize| (0..n).map(|row| row * 7 % 5 + usize::from(row == 40) * 20).collect::<Vec<_>>();
    // No row, one row, about as many rows as a slice has, and only empty rows.
    let shapes = [vec![], vec![3], lengths(31), lengths(32), lengths(33), lengths(100), vec![0; 40]];
    for (lengths, apart) in shapes.iter().flat_map(|shape| [(shape, 1), (shape, 3000), (shape, 70_000)]) {
        let begin = |row: usize| lengths[..row].iter().sum::<usize>() as u64;
        let ptr = (0..=lengths.len()).map(begin).collect();
        let entries = lengths.iter().enumerate().flat_map(|(row, &n)| (0..n).map(move |k| (row + k * apart) as u32));
        let pattern = Pattern::new(24 * apart + 100, lengths.len(), ptr, entries.collect())?;
        let rows = Rows::of_scalars(PatternArrays::upload(&work, &pattern)?);
        // The sizes of groups are below and above the number of rows of a slice.
        let groups = [1, 2, device.info().elementwise_group()];
        for (group_size, is_whole) in groups.into_iter().flat_map(|size| [(size, true), (size, false)]) {
            let kernels = SliceKernels::of_groups(&device, &rows, false, group_size)?;
            let counted = kernels.count(&work, &rows)?;
            assert_eq!(counted.profile.longest, lengths.iter().copied().max().unwrap_or(0) as u64);
            let found = match is_whole {
                true => kernels.whole(&work, &rows, counted)?,
                false => kernels.sliced(&work, &rows, counted)?,
            };
            let height = if is_whole { lengths.len().max(1) } else { slice_sums(device.info()) };
            let (ptr, col, source) = model(lengths, height, apart);
            if !lengths.is_empty() {
                assert_eq!(found.ptr.download(&work)?, ptr);
            }
            assert_eq!(columns(&work, &found, height)?, col, "{lengths:?} by {height}, {apart} apart");
            assert_eq!(found.source.download(&work)?, source, "{lengths:?} by {height}, {apart} apart");
        }
    }
    Ok(())
}

#[test]
fn columns_are_near_if_their_distances_fit_16_bits() -> Result<()> {
    let device = test_device();
    let work = Work::new(&device, None);
    // The second slice has columns 5 and 5 + `distance`. The first slice is empty.
    for (distance, columns, near) in
        [(65_534, 80_000, true), (65_535, 80_000, false), (65_534, 65_540, true), (65_529, 65_535, true)]
    {
        let mut ptr = vec![0; 41];
        ptr[36..].fill(1);
        ptr[40] = 2;
        let pattern = Pattern::new(columns, 40, ptr, vec![5, 5 + distance])?;
        let rows = Rows::of_scalars(PatternArrays::upload(&work, &pattern)?);
        let counted = SliceKernels::new(&device, &rows, false)?.count(&work, &rows)?;
        assert_eq!(counted.profile.near, near, "{distance} of {columns}");
    }
    Ok(())
}

#[test]
fn a_look_at_the_rows_compiles_the_kernel_that_counts_alone() -> Result<()> {
    // The test opens its own device, because other tests compile kernels at the same time.
    let device = Device::open(test_device().info())?;
    let work = Work::new(&device, None);
    let pattern = Pattern::new(9, 70, (0..=70).collect(), vec![5; 70])?;
    let rows = Rows::of_scalars(PatternArrays::upload(&work, &pattern)?);
    let made = || {
        let counters = device.counters();
        counters.kernels_compiled + counters.kernels_loaded
    };
    let kernels = SliceKernels::new(&device, &rows, false)?;
    let counted = kernels.count(&work, &rows)?;
    assert_eq!((made(), work.launches()), (1, 1));
    // One kernel places, and two belong to the scan. A short scan launches only one of its two
    // kernels.
    kernels.sliced(&work, &rows, counted)?;
    assert_eq!((made(), work.launches()), (4, 3));
    Ok(())
}
