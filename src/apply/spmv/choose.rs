//! The choice among formats: a pure function of the rows' lengths, of the device and of the use.
//!
//! A format's time is modelled in bytes: those that an execution moves, weighed by how well the
//! format moves them, and its share of the bytes of the conversion. An item that adds a long row
//! takes as long as the device needs to move many bytes, and so does a launch.
use super::{Block, Format, Request, slices::Profile};
use crate::{DeviceKind, element::Order, primitives::segmented_reduce::RUN_PIECE};

/// What a choice depends on.
pub(super) struct Situation {
    pub profile: Profile,
    pub request: Request,
    pub device: DeviceKind,
    pub compute_units: u64,
    pub element_bytes: u64,
    pub vector_bytes: u64,
    pub block: Block,
    /// Whether A's values are in the order of the rows.
    pub in_order: bool,
}

/// A format, and the reason for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    pub format: Format,
    pub why: String,
}

/// Weights of bytes, in percent of those of a copy.
struct Weights {
    csr: u64,
    /// Of blocks, of which neighbouring items read neighbouring elements.
    csr_blocks: u64,
    csr_vector: u64,
    csr_adaptive: u64,
    ell: u64,
    sliced_ell: u64,
    /// Of scalars that are read in another order than they are stored.
    scattered: u64,
    /// Bytes read beside a block that is read so.
    beside: u64,
    /// Bytes that a compute unit moves while an item or a team loads an entry and adds it.
    entry: u64,
    /// Bytes that a compute unit moves while an item adds a term that its group has loaded.
    term: u64,
    /// Bytes that a compute unit moves while a launch begins and ends.
    launch: u64,
}

/// Estimates: cuSPARSE on an H200 moves 3.6 to 4.0 TB/s in sliced ELL and 2.5 to 3.1 in CSR. The
/// items of `csr` read 12 bytes of sectors of 32. Each of 132 multiprocessors moves 30 bytes in a
/// nanosecond. An item takes some 80 ns for each entry of a row that it loads (one at a time 330,
/// `email-Enron` in sliced ELL) and 5 ns for one that its group has loaded. A launch takes 2 us.
const GPU: Weights = Weights {
    csr: 250,
    csr_blocks: 115,
    csr_vector: 120,
    csr_adaptive: 140,
    ell: 105,
    sliced_ell: 105,
    scattered: 200,
    beside: 32,
    entry: 2500,
    term: 150,
    launch: 60_000,
};

/// PoCL on 2 cores, where a row is a loop. On four matrices of 5 to 27 entries a row `csr-adaptive`
/// took 1.3 to 1.9 times as long as `csr`, sliced ELL 1.1 to 2.5, and `csr-vector`, whose items
/// wait for each other, 50 to 130.
const CPU: Weights = Weights {
    csr: 100,
    csr_blocks: 100,
    csr_vector: 5000,
    csr_adaptive: 160,
    ell: 180,
    sliced_ell: 180,
    scattered: 150,
    beside: 64,
    entry: 20,
    term: 20,
    launch: 0,
};

impl Situation {
    fn weights(&self) -> &'static Weights {
        match self.device {
            DeviceKind::Gpu => &GPU,
            _ => &CPU,
        }
    }

    /// Bytes of one execution in a format, weighed; `None` if the format is out of the question.
    fn cost(&self, format: Format) -> Option<u64> {
        let (Profile { rows, entries, longest, sliced_places }, weights) = (self.profile, self.weights());
        let of_blocks = self.block.area() > 1;
        if of_blocks && !format.has_blocks() {
            return None;
        }
        let (padded, weight, row_of_item) = match format {
            Format::Csr => (None, if of_blocks { weights.csr_blocks } else { weights.csr }, true),
            Format::CsrVector => (None, weights.csr_vector, false),
            Format::CsrAdaptive => (None, weights.csr_adaptive, false),
            Format::Ell => (Some(self.profile.ell_places()), weights.ell, true),
            Format::SlicedEll => (Some(sliced_places), weights.sliced_ell, true),
            Format::Coo => (None, weights.csr_adaptive, false),
            // Not estimated: nothing was measured on a GPU.
            Format::Auto | Format::Hyb | Format::SegmentedScan | Format::Scoo => return None,
            Format::CsrAdaptiveAtomic | Format::CooAtomic | Format::HybAtomic | Format::ScooAtomic => return None,
        };
        let allowed = self.request.any_order || format.order() == Order::Ascending;
        // Values read through an index are scattered in every format: padding gains nothing.
        let pads_for_nothing = padded.is_some_and(|places| !self.request.packed || self.profile.refuses(places));
        if !allowed || pads_for_nothing {
            return None;
        }
        let places = padded.unwrap_or(entries);
        let (value, [sums, depth]) = (self.element_bytes * self.block.area() as u64, self.block.sides());
        // A row of a few entries takes its team as long as if all of it had one.
        let idle = if format == Format::CsrVector { rows * Order::LANES as u64 } else { 0 };
        let listed = if format == Format::Coo { 4 * entries } else { 0 };
        let values = match self.request.packed || self.in_order {
            true => (places + idle) * (4 + value),
            false if of_blocks => (places + idle) * 8 + entries * (value + weights.beside),
            false => (places + idle) * 8 + entries * value * weights.scattered / 100,
        };
        // A block's factors come from the cache: a line of it for each block, about.
        let vectors = entries * self.vector_bytes * depth + rows * (2 * sums * self.vector_bytes + 4);
        let moved = (values + listed + vectors) * weight / 100;
        let placed = padded.map_or(0, |places| 12 * entries + 8 * places);
        let packed = if self.request.packed { places * (4 + 2 * value) } else { 0 };
        // The sums of the pieces of a row are added in a launch of their own.
        let (piece, is_cut) = (longest.min(RUN_PIECE as u64), longest > RUN_PIECE as u64);
        let serial = match format {
            Format::CsrVector => longest.div_ceil(Order::LANES as u64) * weights.entry,
            _ if row_of_item => longest * depth * weights.entry,
            _ => piece * depth * weights.term,
        };
        let launches = if row_of_item || format == Format::CsrVector { 1 } else { 1 + u64::from(is_cut) };
        let executed = moved.max(serial * self.compute_units) + launches * weights.launch * self.compute_units;
        Some(executed + (placed + packed) / self.request.uses.max(1))
    }
}

/// The format with the least cost; the first in [`Format::ALL`] of several.
pub(super) fn choose(situation: &Situation) -> Choice {
    let mut costs: Vec<_> = Format::ALL.iter().filter_map(|&format| Some((situation.cost(format)?, format))).collect();
    costs.sort_by_key(|&(cost, _)| cost);
    let others: Vec<_> = costs.iter().skip(1).map(|(cost, format)| format!("{format} {}", megabytes(*cost))).collect();
    let (least, format) = costs[0];
    let Profile { rows, entries, longest, .. } = situation.profile;
    let why = format!(
        "{format} for {rows} rows of {entries} entries, the longest of {longest}: an execution takes as long as a copy \
         of {} (others: {}), with the conversion's share for {} uses",
        megabytes(least),
        others.join(", "),
        situation.request.uses
    );
    Choice { format, why }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.3} MB", bytes as f64 * 1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Semiring, apply::Split};

    fn chosen(device: DeviceKind, profile: Profile, request: Request, in_order: bool) -> Format {
        let compute_units = if device == DeviceKind::Gpu { 132 } else { 2 };
        let found = choose(&Situation {
            profile,
            request,
            device,
            compute_units,
            element_bytes: 8,
            vector_bytes: 8,
            block: Block::SCALAR,
            in_order,
        });
        assert!(found.why.starts_with(found.format.name()), "{}", found.why);
        found.format
    }

    const PACKED: Request = Request {
        format: Format::Auto,
        semiring: Semiring::PlusTimes,
        any_order: false,
        split: Split::Bytes,
        uses: 1000,
        packed: true,
        symmetric: false,
    };
    const POISSON: Profile = Profile { rows: 1_000_000, entries: 4_996_000, longest: 5, sliced_places: 5_000_000 };
    const SKEWED: Profile = Profile { rows: 262_144, entries: 4_000_000, longest: 9_000, sliced_places: 12_000_000 };

    #[test]
    fn a_cpu_adds_row_after_row() {
        for profile in [POISSON, SKEWED] {
            assert_eq!(chosen(DeviceKind::Cpu, profile, PACKED, true), Format::Csr);
        }
        // One row is all of the matrix: its pieces are shared out.
        let dense_row = Profile { rows: 10, entries: 10_000_000, longest: 10_000_000, sliced_places: 320_000_000 };
        assert_eq!(chosen(DeviceKind::Cpu, dense_row, PACKED, true), Format::CsrAdaptive);
    }

    #[test]
    fn a_gpu_pads_rows_that_are_nearly_equal_if_they_are_used_often() {
        assert!(matches!(chosen(DeviceKind::Gpu, POISSON, PACKED, true), Format::Ell | Format::SlicedEll));
        assert_eq!(chosen(DeviceKind::Gpu, POISSON, Request { uses: 1, ..PACKED }, true), Format::CsrAdaptive);
        // Converting costs as much as two or three executions gain.
        for (uses, pads) in [(1, false), (10, true), (1000, true)] {
            let format = chosen(DeviceKind::Gpu, POISSON, Request { uses, ..PACKED }, true);
            assert_eq!(matches!(format, Format::Ell | Format::SlicedEll), pads, "{uses} uses");
        }
        assert_eq!(chosen(DeviceKind::Gpu, SKEWED, PACKED, true), Format::CsrAdaptive);
        for in_order in [false, true] {
            let unpacked = Request { packed: false, ..PACKED };
            assert_eq!(chosen(DeviceKind::Gpu, POISSON, unpacked, in_order), Format::CsrAdaptive);
        }
    }

    #[test]
    fn orders_of_their_own_are_chosen_only_if_allowed() {
        let long = Profile { rows: 1000, entries: 4_000_000, longest: 5_000, sliced_places: 20_000_000 };
        let any = Request { any_order: true, ..PACKED };
        for kind in [DeviceKind::Gpu, DeviceKind::Cpu, DeviceKind::Other] {
            for profile in [POISSON, SKEWED, long] {
                assert_eq!(chosen(kind, profile, PACKED, true).order(), Order::Ascending);
            }
        }
        assert_eq!(chosen(DeviceKind::Gpu, long, any, true), Format::CsrVector);
        // A team would take longer for the longest row than all groups for all rows.
        let longer = Profile { longest: 30_000, ..long };
        assert_eq!(chosen(DeviceKind::Gpu, longer, any, true), Format::CsrAdaptive);
    }

    #[test]
    fn no_row_and_no_entry() {
        let none = Profile { rows: 0, entries: 0, longest: 0, sliced_places: 0 };
        assert_eq!(chosen(DeviceKind::Gpu, none, PACKED, true), Format::Csr);
    }
}
