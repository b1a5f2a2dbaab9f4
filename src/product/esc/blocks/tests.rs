//! Compares the kernels of scalars with a model of their sums.
use super::*;
use crate::{
    BlockShape, Element, Pattern,
    device::test_device,
    element::{Arithmetic, Piece},
    product::tuning::{SCALAR_GROUP, SCALARS, ScalarNumbers},
    resident::PatternArrays,
};
use half::f16;

const LONG: usize = RUN_PIECE;

/// A value whose exponent, too, differs from that of its neighbours, so that another order of
/// summation gives other bits.
fn value<T: Element>(i: usize) -> T {
    T::from_f64(((i * 2_654_435_761) % 1003 + 1) as f64 * 2f64.powi((i * 7 % 13) as i32 - 12))
}

fn matrix<T: Element>(work: &Work, entries: usize, stride: usize, seed: usize) -> Result<(DeviceCbc, Vec<T>)> {
    let host = Pattern::new(entries, 1, vec![0, entries as u64], (0..entries as u32).collect())?;
    let all: Vec<T> = (0..entries * stride).map(|i| value(i + seed)).collect();
    let pattern = PatternArrays::upload(work, &host)?;
    let values = all.iter().step_by(stride).copied().collect();
    Ok((DeviceCbc { pattern, shape: BlockShape::SCALAR, stride, values: work.upload(&all)?.into_any() }, values))
}

/// Sums runs of these lengths by a kernel and by the model. Runs longer than `long_run` are cut
/// into pieces.
fn check<T: Element>(lengths: &[usize], kernel: BlockKernel, group_size: usize, long_run: usize) -> Result<()> {
    let (device, scalar) = (test_device(), BlockShape::SCALAR);
    let work = Work::new(&device, None);
    let (entries, products) = (50, lengths.iter().sum::<usize>());
    let (a, left) = matrix::<T>(&work, entries, 2, 1)?;
    let (b, right) = matrix::<T>(&work, entries, 1, 100)?;
    let pairs: Vec<OperandPair> =
        (0..products).map(|p| OperandPair { a: (p * 31 % entries) as u32, b: (p * 17 / 3 % entries) as u32 }).collect();
    let begins = lengths.iter().scan(0, |begin, length| Some(std::mem::replace(begin, *begin + length)));
    let begins: Vec<usize> = begins.collect();
    let ends: Vec<u32> =
        begins.iter().zip(lengths).map(|(begin, length)| (begin + length).wrapping_sub(1) as u32).collect();
    let (mut pieces, mut parts) = (Vec::new(), 0);
    for (run, (&begin, &length)) in
        begins.iter().zip(lengths).enumerate().filter(|(_, (_, length))| **length > long_run)
    {
        for from in (begin..begin + length).step_by(LONG) {
            let part = if length > LONG { parts } else { u32::MAX };
            let end = (from + LONG).min(begin + length) as u32;
            pieces.push(Piece { run: run as u32, begin: from as u32, end, part });
            parts += u32::from(length > LONG);
        }
    }

    let blocks = BlockTuning { kernel, group_size, long_run };
    let tuning = Tuning { blocks, ..Tuning::new(device.info(), scalar, scalar).keeping_pairs() };
    let spec = Spec::new(T::TYPE, scalar, scalar, 1);
    let sums = match lengths.contains(&0) {
        true => BlockSums::with_empty_runs(&device, &tuning, &spec)?,
        false => BlockSums::new(&device, &tuning, &spec)?,
    };
    let (first, stride) = (3, 2);
    let old: Vec<T> = (0..(first + lengths.len()) * stride).map(|i| value(i + 7)).collect();
    let (end, piece, pair) = (work.upload(&ends)?, work.upload(&pieces)?, work.upload(&pairs)?);
    let stretches = sums.stretches(&work, &end, products)?;
    let longest = lengths.iter().copied().max().unwrap_or(0) as u32;
    let runs = Runs { end: &end, pieces: &piece };
    let places = Places { runs, pairs: &pair, stretches: &stretches, longest, first: first as u32, stride };
    type Of<T> = <T as Element>::Arithmetic;
    for (alpha, beta) in [(1.0, 0.0), (-3.0, 0.5)] {
        let scaling = Scaling::of(T::TYPE, alpha, beta);
        let (alpha, beta) = (Of::<T>::nearest(alpha), Of::<T>::nearest(beta));
        let mut want = old.clone();
        for ((&begin, &length), old) in
            begins.iter().zip(lengths).zip(want.iter_mut().skip(first * stride).step_by(stride))
        {
            let product = |p: usize| left[pairs[p].a as usize].widen() * right[pairs[p].b as usize].widen();
            let terms: Vec<_> = (begin..begin + length).map(product).collect();
            let sum = |terms: &[Of<T>]| terms.iter().fold(Of::<T>::NEUTRAL, |sum, &term| sum + term);
            let sums: Vec<_> = terms.chunks(LONG).map(sum).collect();
            let sum = if length == 0 { Of::<T>::ZERO } else { sum(&sums) };
            let scaled = alpha * sum;
            *old = T::narrow(if beta == Of::<T>::ZERO { scaled } else { scaled + beta * old.widen() });
        }
        let mut c = work.upload(&old)?;
        let mut parts = sums.parts(&work, parts as usize)?;
        sums.run(&work, (&a, &b), &places, scaling, &mut parts, &mut c)?;
        let found = c.download(&work)?;
        let differs = found.iter().zip(&want).position(|(x, y)| x.to_f64().to_bits() != y.to_f64().to_bits());
        assert_eq!(differs, None, "{kernel:?} {}, alpha {alpha:?}, beta {beta:?}", T::NAME);
    }
    Ok(())
}

fn scalars(ahead: usize, stretch: usize) -> BlockKernel {
    BlockKernel::Scalars(ScalarNumbers { ahead, stretch })
}

#[test]
fn small_stretches_of_scalars_are_summed_in_the_order_of_the_model() -> Result<()> {
    // The first case has more runs of one product than a stretch has products. The other cases have
    // empty runs at both ends, more empty runs than a stretch has products, runs near the length of
    // a stretch, and runs in pieces.
    let ones = vec![1; 40];
    let mixed = [[0, 0, 3, 1, 7, 8, 9, 0].as_slice(), &[0; 20], &[20, 2, 2, 16, 17, 1, 0]].concat();
    let lengths = [2, 1, 5, 3, 8, 1, 1, 1, 4, 9, 30, 1];
    for lengths in [&ones[..], &ones[..1], &mixed, &lengths, &[]] {
        check::<f64>(lengths, scalars(2, 8), 4, 8)?;
        check::<f32>(lengths, scalars(3, 7), 8, 16)?;
    }
    Ok(())
}

#[test]
fn runs_of_all_lengths_are_summed_in_the_order_of_the_model() -> Result<()> {
    // The first runs are near the lengths of a stretch, of a piece, and of two pieces. Many short
    // runs follow, of equal lengths and of all lengths.
    let long = [1, 511, 512, 513, 1, 1023, 1024, 1025, 2047, 2048, 2049, 3, 5000, 2];
    let short: Vec<usize> = (0..3000).map(|i| if i < 1000 { 16 } else { 1 + i * i % 23 }).collect();
    let lengths = [&long[..], &short, &[1; 2000]].concat();
    let table = BlockKernel::Scalars(SCALARS);
    check::<f64>(&lengths, table, SCALAR_GROUP, LONG)?;
    check::<f32>(&lengths, table, SCALAR_GROUP, LONG)?;
    check::<f16>(&lengths, table, SCALAR_GROUP, LONG)?;
    let with_empty: Vec<usize> = lengths.iter().flat_map(|&length| [length, 0]).collect();
    check::<f64>(&with_empty, table, SCALAR_GROUP, LONG)?;
    // Kernels `Tiles` and `Serial` also agree with the model, so the model does not repeat the
    // errors of one kernel.
    check::<f64>(&lengths, BlockKernel::Tiles, 64, 32)?;
    check::<f64>(&lengths, BlockKernel::Serial { runs: 3 }, 1, LONG)
}
