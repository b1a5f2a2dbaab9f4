//! Centres of the patches of a graph's vertices. Kernels: `cl/graph/patches.cl`.
mod kernels;

use crate::{
    Device, DeviceVector, Result, Semiring,
    device::{Buffer, Grid, Options, Work, kernels},
    element::{ElementType, Piece},
    primitives::{
        radix_sort::{Elements, RadixSort, RadixTuning},
        scan::{Scan, ScanTuning},
        segmented_reduce::{RUN_PIECE, Runs, SegmentedReduce},
    },
    resident::PatternArrays,
    tuning::SharedNumbers,
};
use kernels::{
    CountMembers, FarthestInPart, FinishCentroid, FromBorder, FromCentroid, GatherAxis, GatherSquares, LeastInPatch,
    LeastInPiece, ListBorder, MarkBorder, RenameLabels,
};

/// Number of parts of the vertices. A work-item searches one part for the farthest vertex.
const PARTS: usize = 1024;

/// Number of vertices in a piece of a patch. A work-item searches one piece for the least score.
const PIECE: u32 = 256;

kernels! {
    struct Kernels {
        new count_members: CountMembers,
        rare rename_labels: RenameLabels,
        rare gather_squares: GatherSquares,
        rare gather_axis: GatherAxis,
        rare finish_centroid: FinishCentroid,
        rare from_centroid: FromCentroid,
        rare mark_border: MarkBorder,
        rare list_border: ListBorder,
        rare from_border: FromBorder,
        new least_in_piece: LeastInPiece,
        new least_in_patch: LeastInPatch,
        rare farthest_in_part: FarthestInPart,
    }
}

/// The kernels that find centres.
pub(super) struct Centres {
    kernels: Kernels,
    sort: RadixSort,
    scan: Scan<u32>,
    sums: SegmentedReduce,
    device: Device,
    group_size: usize,
}

/// The vertices of each patch.
pub(super) struct Members {
    pub label: Buffer<u32>,
    /// The vertices, sorted by label, then by number.
    pub order: Buffer<u32>,
    /// The place in `order` where each patch begins.
    patch_ptr: Vec<u32>,
}

impl Members {
    /// Number of vertices that have a patch.
    pub fn count(&self) -> usize {
        self.patch_ptr[self.patch_ptr.len() - 1] as usize
    }

    /// The number of vertices of each patch.
    pub fn sizes(&self) -> Vec<u32> {
        self.patch_ptr.windows(2).map(|ends| ends[1] - ends[0]).collect()
    }

    /// The last place of each patch that has vertices, and the pieces of long patches.
    fn cuts(&self, work: &Work) -> Result<(Buffer<u32>, Buffer<Piece>)> {
        let run_end: Vec<u32> = self.runs().map(|(_, [_, end])| end - 1).collect();
        let long = (0u32..).zip(self.runs()).filter(|(_, (_, [begin, end]))| (end - begin) as usize > RUN_PIECE);
        let pieces: Vec<Piece> = long.flat_map(|(run, (_, ends))| cut(run, ends, RUN_PIECE as u32)).collect();
        Ok((work.upload(&run_end)?, work.upload(&pieces)?))
    }

    /// The patches that have vertices. Each of these patches comes with its begin and its end in
    /// `order`.
    fn runs(&self) -> impl Iterator<Item = (u32, [u32; 2])> {
        let ends = self.patch_ptr.windows(2).map(|ends| [ends[0], ends[1]]);
        (0..).zip(ends).filter(|(_, [begin, end])| begin < end)
    }
}

impl Centres {
    pub fn new(device: &Device) -> Result<Self> {
        let info = device.info();
        let group_size = info.vector_group();
        let options = Options::group_size(group_size).element_in(ElementType::F64, Semiring::MinPlus);
        Ok(Self {
            kernels: Kernels::new(device, &options)?,
            sort: RadixSort::new(device, RadixTuning::new(info))?,
            scan: Scan::new(device, ScanTuning::new(info))?,
            sums: SegmentedReduce::new(
                device,
                info.numbers::<SharedNumbers>().group_size,
                ElementType::F64,
                Semiring::PlusTimes,
            )?,
            device: device.clone(),
            group_size,
        })
    }

    fn grid(&self, items: usize) -> Grid {
        Grid::items(items, self.group_size)
    }

    /// Replaces each label by its name in `names`.
    pub fn rename(&self, work: &Work, label: &mut Buffer<u32>, names: &[u32]) -> Result<()> {
        let (grid, vertices) = (self.grid(label.len()), label.len() as u32);
        self.kernels.rename_labels.launch(work, grid, RenameLabels { name: &work.upload(names)?, label, vertices })
    }

    /// The sum of the squares of the distances of vertices that have a patch.
    pub fn energy(&self, work: &Work, label: &Buffer<u32>, path_length: &Buffer<f64>) -> Result<f64> {
        let counted = self.counted(work, label, path_length)?;
        counted.dot(&counted)
    }

    /// The sum of the squares of the distances in space from the centroids of patches.
    pub fn energy_in_space(&self, work: &Work, members: &Members, points: &Buffer<f64>) -> Result<f64> {
        let squares = self.by_centroids(work, members, points)?;
        let counted = self.counted(work, &members.label, &squares)?;
        counted.dot(&DeviceVector { values: work.upload(&vec![1.0; squares.len()])?, device: self.device.clone() })
    }

    /// The elements of `number`, replaced by 0 for vertices that have no patch.
    fn counted(&self, work: &Work, label: &Buffer<u32>, number: &Buffer<f64>) -> Result<DeviceVector<f64>> {
        let mut counted = work.buffer(label.len())?;
        let vertices = label.len() as u32;
        let args = CountMembers { label, number, counted: &mut counted, vertices };
        self.kernels.count_members.launch(work, self.grid(label.len()), args)?;
        Ok(DeviceVector { values: counted, device: self.device.clone() })
    }

    /// Lists the vertices of each of `patches` patches.
    pub fn members(&self, work: &Work, label: Buffer<u32>, patches: usize) -> Result<Members> {
        // The last key is for vertices without a patch, whose label is NONE.
        let sorted = self.sort.run(work, Elements { key: &label, keys: patches + 1, order: None })?;
        let patch_ptr = self.sort.starts(work, &sorted.key, patches)?.download(work)?;
        Ok(Members { label, order: sorted.order, patch_ptr })
    }

    /// Scores vertices by the square of their distance in space from the centroid of their patch.
    /// The coordinates of a centroid are summed in the order of the patch's vertices, in pieces of
    /// 1024.
    pub fn by_centroids(&self, work: &Work, members: &Members, points: &Buffer<f64>) -> Result<Buffer<f64>> {
        let (count, vertices) = (members.count(), members.label.len());
        let run_patch: Vec<u32> = members.runs().map(|(patch, _)| patch).collect();
        let (run_patch, (run_end, pieces)) = (work.upload(&run_patch)?, members.cuts(work)?);
        let runs = run_end.len();
        let (mut axis_values, mut sums) = (work.buffer(count)?, work.buffer::<f64>(runs)?);
        let mut centroid = work.buffer(3 * (members.patch_ptr.len() - 1))?;
        for axis in 0..3 {
            let order = &members.order;
            let args = GatherAxis { order, points, axis_values: &mut axis_values, count: count as u32, axis };
            self.kernels.gather_axis.launch(work, self.grid(count), args)?;
            self.sums.run(work, Runs { end: &run_end, pieces: &pieces }, &axis_values, &mut sums)?;
            let (run_end, run_patch, runs) = (&run_end, &run_patch, runs as u32);
            let args = FinishCentroid { run_end, run_patch, sums: &sums, centroid: &mut centroid, runs, axis };
            self.kernels.finish_centroid.launch(work, self.grid(runs as usize), args)?;
        }
        let mut score = work.buffer(vertices)?;
        let label = &members.label;
        let args = FromCentroid { label, points, centroid: &centroid, score: &mut score, vertices: vertices as u32 };
        self.kernels.from_centroid.launch(work, self.grid(vertices), args)?;
        Ok(score)
    }

    /// The energy of each patch: the sum of the squares of its vertices' distances, 0 for a patch
    /// without vertices. Squares are added in the order of the vertices, in pieces of 1024.
    pub fn energies(&self, work: &Work, members: &Members, path_length: &Buffer<f64>) -> Result<Vec<f64>> {
        let count = members.count();
        let mut squares = work.buffer(count)?;
        let args = GatherSquares { order: &members.order, path_length, squares: &mut squares, count: count as u32 };
        self.kernels.gather_squares.launch(work, self.grid(count), args)?;
        let (run_end, pieces) = members.cuts(work)?;
        let mut sums = work.buffer::<f64>(run_end.len())?;
        self.sums.run(work, Runs { end: &run_end, pieces: &pieces }, &squares, &mut sums)?;
        let mut of_patches = vec![0.0; members.patch_ptr.len() - 1];
        let runs = members.runs().map(|(patch, _)| patch as usize);
        runs.zip(sums.download(work)?).for_each(|(patch, sum)| of_patches[patch] = sum);
        Ok(of_patches)
    }

    /// The vertices that an edge connects with another patch.
    pub fn border(
        &self,
        work: &Work,
        label: &Buffer<u32>,
        entering: &PatternArrays,
        leaving: &PatternArrays,
    ) -> Result<Buffer<u32>> {
        let vertices = label.len();
        let mut border = work.buffer(vertices)?;
        let args = MarkBorder {
            in_ptr: &entering.col_ptr,
            from: &entering.row_idx,
            out_ptr: &leaving.col_ptr,
            to: &leaving.row_idx,
            label,
            border: &mut border,
            vertices: vertices as u32,
        };
        self.kernels.mark_border.launch(work, self.grid(vertices), args)?;
        let last = work.read(&border, vertices - 1, 1)?[0];
        self.scan.run(work, &mut border)?;
        let count = work.read_count(&border, vertices - 1, "vertices at borders", vertices as u64)? as u32 + last;
        let mut listed = work.buffer(count as usize)?;
        let args = ListBorder { border: &border, listed: &mut listed, vertices: vertices as u32, count };
        self.kernels.list_border.launch(work, self.grid(vertices), args)?;
        Ok(listed)
    }

    /// Scores vertices by their distance from the border of their patch. The farther a vertex is
    /// from the border, the lower is its score.
    pub fn by_borders(&self, work: &Work, path_length: &Buffer<f64>) -> Result<Buffer<f64>> {
        let vertices = path_length.len();
        let mut score = work.buffer(vertices)?;
        let args = FromBorder { path_length, score: &mut score, vertices: vertices as u32 };
        self.kernels.from_border.launch(work, self.grid(vertices), args)?;
        Ok(score)
    }

    /// The vertex of each patch with the least score. If several vertices of a patch have the least
    /// score, the result is the patch's seed if it is one of them, otherwise the first of them. A
    /// patch without vertices keeps its seed.
    pub fn least(&self, work: &Work, members: &Members, score: &Buffer<f64>, seeds: &[u32]) -> Result<Vec<u32>> {
        let run_patch: Vec<u32> = members.runs().map(|(patch, _)| patch).collect();
        let (mut pieces, mut piece_ptr) = (Vec::new(), vec![0u32]);
        for (run, (_, ends)) in (0u32..).zip(members.runs()) {
            pieces.extend(cut(run, ends, PIECE));
            piece_ptr.push(pieces.len() as u32);
        }
        let (run_patch, piece_ptr, piece) = (work.upload(&run_patch)?, work.upload(&piece_ptr)?, work.upload(&pieces)?);
        let (mut found, mut seed) = (work.buffer(pieces.len())?, work.upload(seeds)?);
        let count = pieces.len() as u32;
        let args = LeastInPiece { piece: &piece, order: &members.order, score, found: &mut found, pieces: count };
        self.kernels.least_in_piece.launch(work, self.grid(pieces.len()), args)?;
        let runs = run_patch.len();
        let args = LeastInPatch {
            piece_ptr: &piece_ptr,
            run_patch: &run_patch,
            found: &found,
            label: &members.label,
            score,
            seed: &mut seed,
            runs: runs as u32,
        };
        self.kernels.least_in_patch.launch(work, self.grid(runs), args)?;
        seed.download(work)
    }

    /// The first vertex with the largest distance, or `None` if all distances are 0.
    pub fn farthest(&self, work: &Work, path_length: &Buffer<f64>) -> Result<Option<u32>> {
        let vertices = path_length.len();
        let parts = PARTS.min(vertices);
        let (mut found, mut most) = (work.buffer(parts)?, work.buffer(parts)?);
        let (count, parts) = (vertices as u32, parts as u32);
        let args = FarthestInPart { path_length, found: &mut found, most: &mut most, vertices: count, parts };
        self.kernels.farthest_in_part.launch(work, self.grid(parts as usize), args)?;
        let farther =
            |best: (f64, u32), other: (f64, u32)| match other.0 > best.0 || (other.0 == best.0 && other.1 < best.1) {
                true => other,
                false => best,
            };
        let found = most.download(work)?.into_iter().zip(found.download(work)?);
        Ok(found.reduce(farther).filter(|(most, _)| *most > 0.0).map(|(_, vertex)| vertex))
    }
}

/// The pieces of a run from `begin` to `end`.
fn cut(run: u32, [begin, end]: [u32; 2], size: u32) -> impl Iterator<Item = Piece> {
    let starts = (begin..end).step_by(size as usize);
    starts.map(move |start| Piece { run, begin: start, end: end.min(start.saturating_add(size)), part: 0 })
}
