//! The kernel files. Each file is embedded once, although it may be part of many kernels. If every
//! kernel embedded its files, they would need several times the space.
use std::hash::{Hash, Hasher};

/// An embedded kernel file: its path for messages, and its text.
#[derive(Debug)]
pub(crate) struct File {
    pub path: &'static str,
    pub text: &'static str,
}

impl PartialEq for File {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || (self.path, self.text) == (other.path, other.text)
    }
}

impl Eq for File {}

/// Hashes only the path. A plan looks up every kernel that it may launch. When texts were hashed,
/// hashing took most of the time of a plan that launches nothing.
impl Hash for File {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.path.hash(state);
    }
}

macro_rules! files {
    ($($path:literal)+) => {
        // `FILES` is an array and not a slice, because every constant that names a file would
        // contain a copy of the slice.
        static FILES: [File; [$($path),+].len()] = [$(
            File {
                path: concat!("cl/", $path),
                text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/cl/", $path)),
            },
        )+];
    };
}

files! {
    "apply/spmm/by_rows.cl"
    "apply/spmm/coordinates.cl"
    "apply/spmm/gcoo.cl"
    "apply/spmm/groups.cl"
    "apply/spmm/lines.cl"
    "apply/spmm/pack.cl"
    "apply/spmm/staged.cl"
    "apply/spmm/turn.cl"
    "apply/spmm/vectors.cl"
    "apply/spmv/arrival.cl"
    "apply/spmv/atomics.cl"
    "apply/spmv/coo.cl"
    "apply/spmv/csc.cl"
    "apply/spmv/csr.cl"
    "apply/spmv/csr_adaptive_atomic.cl"
    "apply/spmv/csr_long.cl"
    "apply/spmv/csr_shared.cl"
    "apply/spmv/csr_vector.cl"
    "apply/spmv/diagonals.cl"
    "apply/spmv/ell.cl"
    "apply/spmv/hyb.cl"
    "apply/spmv/listed.cl"
    "apply/spmv/pack.cl"
    "apply/spmv/pieces.cl"
    "apply/spmv/row.cl"
    "apply/spmv/scoo.cl"
    "apply/spmv/scoo_atomic.cl"
    "apply/spmv/segmented_scan.cl"
    "apply/spmv/slice_lanes.cl"
    "apply/spmv/slice_vectors.cl"
    "apply/spmv/slices.cl"
    "apply/spmv/symmetric.cl"
    "apply/spmv/tails.cl"
    "apply/spmv/values.cl"
    "common.cl"
    "graph/balance.cl"
    "graph/components.cl"
    "graph/edges.cl"
    "graph/frontier.cl"
    "graph/frontier_lists.cl"
    "graph/labels.cl"
    "graph/last_edges.cl"
    "graph/lengths.cl"
    "graph/near_far.cl"
    "graph/patches.cl"
    "graph/predecessors.cl"
    "graph/start.cl"
    "graph/sweep.cl"
    "graph/trees.cl"
    "graph/triangles.cl"
    "graph/triangles_marked.cl"
    "once.cl"
    "primitives/arrivals.cl"
    "primitives/copy.cl"
    "primitives/drop_entries.cl"
    "primitives/heads.cl"
    "primitives/key_starts.cl"
    "primitives/pieces.cl"
    "primitives/radix_sort.cl"
    "primitives/radix_sort_serial.cl"
    "primitives/scan.cl"
    "primitives/segmented_reduce.cl"
    "primitives/segmented_scan.cl"
    "primitives/segmented_sort.cl"
    "primitives/segmented_sort_serial.cl"
    "primitives/tallies.cl"
    "product/bands/join.cl"
    "product/columns/adaptive/equal.cl"
    "product/columns/adaptive/offsets.cl"
    "product/columns/adaptive/profile.cl"
    "product/columns/adaptive/rest.cl"
    "product/columns/adaptive/share_rows.cl"
    "product/columns/dense/count.cl"
    "product/columns/direct/direct.cl"
    "product/columns/hash/count.cl"
    "product/columns/hash/order.cl"
    "product/columns/hash/slots.cl"
    "product/columns/hash/table.cl"
    "product/columns/hub/columns.cl"
    "product/columns/hub/sum_hub.cl"
    "product/columns/tasks/bits.cl"
    "product/columns/tasks/cut.cl"
    "product/columns/tasks/found.cl"
    "product/columns/tasks/slots.cl"
    "product/columns/tasks/sums.cl"
    "product/cpu/ranges/bitmap.cl"
    "product/cpu/ranges/blocks.cl"
    "product/cpu/ranges/count.cl"
    "product/cpu/ranges/move.cl"
    "product/cpu/ranges/pairs.cl"
    "product/cpu/ranges/setup.cl"
    "product/cpu/ranges/sums.cl"
    "product/esc/analysis.cl"
    "product/esc/blocks/runs.cl"
    "product/esc/blocks/scalars.cl"
    "product/esc/blocks/staged.cl"
    "product/esc/blocks/sums.cl"
    "product/esc/blocks/tiles.cl"
    "product/esc/blocks/words.cl"
    "product/esc/expansion.cl"
    "product/esc/gather.cl"
    "product/esc/pieces.cl"
    "product/esc/search.cl"
    "product/esc/sorted_chunks.cl"
    "product/esc/sorted_expansion.cl"
    "product/esc/tail_counts.cl"
    "product/masked/hits.cl"
    "product/masked/long_pieces.cl"
    "product/masked/masked.cl"
    "product/masked/pairs.cl"
    "product/masked/run_record.cl"
    "product/masked/steps.cl"
    "product/masked/sums.cl"
    "product/masked/tally.cl"
    "product/plan/retarget.cl"
    "product/plan/sum.cl"
    "product/plan/weigh.cl"
    "product/sort/count_runs.cl"
    "product/sort/count_sorted.cl"
    "product/sort/far_rows.cl"
    "product/sort/keys.cl"
    "product/sort/place_runs.cl"
    "product/sort/products.cl"
    "product/sort/sum_sorted.cl"
    "product/terms/payload.cl"
    "product/terms/target.cl"
    "ptx.cl"
    "resident/fingerprint.cl"
    "resident/validate.cl"
    "solver/gradients.cl"
    "solver/schur/base.cl"
    "solver/schur/damping.cl"
    "solver/schur/factor.cl"
    "solver/schur/lines.cl"
    "solver/schur/several.cl"
    "solver/schur/solve.cl"
    "solver/schur/structure.cl"
    "spy/bin.cl"
    "structure/add.cl"
    "structure/move_blocks.cl"
    "structure/permute.cl"
    "structure/scalars.cl"
    "structure/union.cl"
    "structure/union_serial.cl"
    "team.cl"
    "vector/axpby.cl"
    "vector/columns.cl"
    "vector/diagonal.cl"
    "vector/dot.cl"
    "vector/guesses.cl"
    "vector/line_pieces.cl"
    "vector/line_sums.cl"
    "vector/line_terms.cl"
    "vector/lines.cl"
    "vector/parts.cl"
    "vector/scaling.cl"
    "vector/terms.cl"
}

/// The file at `path`, which begins with `cl/`. If the path of a constant is not in the list, the
/// constant does not compile.
pub(crate) const fn file(path: &str) -> &'static File {
    let mut number = 0;
    while number < FILES.len() {
        if same(FILES[number].path.as_bytes(), path.as_bytes()) {
            return &FILES[number];
        }
        number += 1;
    }
    panic!("a kernel file that is not in the list of src/device/files.rs")
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut equal = 0;
    while equal < a.len() && equal < b.len() && a[equal] == b[equal] {
        equal += 1;
    }
    equal == a.len() && equal == b.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, path::Path};

    fn collect(folder: &Path, paths: &mut Vec<String>) {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => collect(&path, paths),
                false => paths.push(path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().to_str().unwrap().into()),
            }
        }
    }

    #[test]
    fn every_kernel_file_is_in_the_list_once() {
        let mut paths = Vec::new();
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cl"), &mut paths);
        paths.sort();
        assert_eq!(FILES.iter().map(|file| file.path).collect::<Vec<_>>(), paths, "in the order of their paths");
    }

    /// No kernel file defines names that a shared program does not rename. A program of several
    /// kernels renames only functions, macros and structures.
    #[test]
    fn no_file_declares_other_types_or_constants() {
        for File { path, text } in &FILES {
            for (number, line) in text.lines().enumerate() {
                let word = line.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
                let declares = ["typedef", "union", "enum", "constant"].contains(&word);
                assert!(!declares, "{path}:{}: {line}", number + 1);
            }
        }
    }
}
