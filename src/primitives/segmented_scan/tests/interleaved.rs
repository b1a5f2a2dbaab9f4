//! A model of `scan_tiles` in `cl/primitives/segmented_scan.cl`, whose groups take turns in any
//! order. In the model a tile is one piece, and its scan reads the total that is carried to it.
use crate::interleave::{Barrier, Words, interleave};
use std::ops::Range;

/// Items of a group.
const GROUP: usize = 3;

/// The operator. Another order of combination gives another result.
fn combined(x: usize, y: usize) -> usize {
    (x * 7 + y) % 1009
}

/// The task of a group in a launch.
enum Role {
    /// Carries a segment's pieces through a wave, with the group's local memory and barrier.
    Carry {
        segment: Range<usize>,
        wave: Range<usize>,
        held: Words,
        barrier: Barrier,
    },
    Scan(usize),
    Total(usize),
}

/// The memory of all groups: the totals, and for each piece the total that its scan found for the
/// pieces before it.
struct Global {
    totals: Words,
    found: Words,
}

async fn carry_totals(item: usize, role: &Role, totals: &Words) {
    let Role::Carry { segment, wave, held, barrier } = role else { return };
    let (from, to) = (segment.start.max(wave.start), segment.end.min(wave.end));
    let mut before = if item == 0 && from > segment.start { totals.load(segment.start).await } else { 0 };
    let mut next = if from + item < to { totals.load(from + item).await } else { 0 };
    for round in (from..to).step_by(GROUP) {
        held.store(item, next).await;
        barrier.wait().await;
        let piece = round + item;
        next = if piece + GROUP < to { totals.load(piece + GROUP).await } else { 0 };
        if item == 0 {
            for i in 0..GROUP.min(to - round) {
                let total = held.load(i).await;
                held.store(i, before).await;
                before = if round + i == segment.start { total } else { combined(before, total) };
            }
        }
        barrier.wait().await;
        if piece < to {
            totals.store(piece, held.load(item).await).await;
        }
    }
    if item == 0 {
        totals.store(segment.start, before).await;
    }
}

async fn item_of(item: usize, role: &Role, global: &Global, follows: &[bool]) {
    match *role {
        Role::Carry { .. } => carry_totals(item, role, &global.totals).await,
        Role::Scan(piece) if item == 0 && follows[piece] => {
            global.found.store(piece, global.totals.load(piece).await).await;
        }
        Role::Total(piece) if item == 0 => global.totals.store(piece, piece + 1).await,
        _ => {}
    }
}

#[test]
fn waves_carry_the_same_in_every_order() {
    // Segments of one piece, of some, of fewer and more than a wave, and of more than two waves.
    let segments = [0..1, 1..3, 3..4, 4..8, 8..21, 21..22, 22..24];
    let pieces = 24;
    let follows: Vec<bool> = (0..pieces).map(|piece| segments.iter().all(|segment| segment.start != piece)).collect();
    for (seed, wave) in (0..120).flat_map(|seed| [(seed, 5), (seed, 7)]) {
        let global = Global { totals: Words::new(vec![0; pieces]), found: Words::new(vec![0; pieces]) };
        let waves: Vec<_> = (0..pieces).step_by(wave).map(|begin| begin..pieces.min(begin + wave)).collect();
        for step in 0..waves.len() + 2 {
            let of = |back: usize| step.checked_sub(back).and_then(|at| waves.get(at)).cloned().unwrap_or(0..0);
            let is_in = |segment: &&Range<usize>| {
                segment.len() > 1 && segment.start.max(of(1).start) < segment.end.min(of(1).end)
            };
            let carry = |segment: &Range<usize>| Role::Carry {
                segment: segment.clone(),
                wave: of(1),
                held: Words::local([0; GROUP]),
                barrier: Barrier::of(GROUP),
            };
            let carries = segments.iter().filter(is_in).map(carry);
            let roles: Vec<_> = carries.chain(of(2).map(Role::Scan)).chain(of(0).map(Role::Total)).collect();
            let items = roles.iter().flat_map(|role| (0..GROUP).map(move |item| (item, role)));
            interleave(items.map(|(item, role)| item_of(item, role, &global, &follows)), seed + step as u64);
        }
        let (totals, found) = (global.totals.values(), global.found.values());
        for segment in &segments {
            let total = segment.clone().map(|piece| piece + 1).reduce(combined);
            assert_eq!(Some(totals[segment.start]), total, "{segment:?}, seed {seed}, waves of {wave}");
            for piece in segment.clone().skip(1) {
                let before = (segment.start..piece).map(|piece| piece + 1).reduce(combined);
                assert_eq!(Some(found[piece]), before, "piece {piece}, seed {seed}, waves of {wave}");
            }
        }
    }
}
