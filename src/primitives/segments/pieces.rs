//! Segments cut into pieces, tiles and waves. Kernels: `cl/primitives/pieces.cl`.
use super::SegmentTuning;
use crate::{
    Device, Result,
    device::{Buffer, Grid, In, Options, Out, Work, kernel, kernels},
    primitives::{
        scan::{Scan, ScanTuning},
        segmented_reduce::RUN_PIECE,
    },
};

kernel! {
    in "primitives/pieces.cl":
    struct CountPieces = "count_pieces" { offset: In<u32>, count: Out<u64>, segments: u32 }
    struct PlaceSegments = "place_segments" {
        count: In<u64>,
        piece_ptr: Out<u32>,
        long_begin: Out<u32>,
        long_end: Out<u32>,
        segments: u32,
    }
    struct PlacePieces = "place_pieces" {
        offset: In<u32>,
        piece_ptr: In<u32>,
        begin: Out<u32>,
        follows: Out<u8>,
        segments: u32,
        pieces: u32,
    }
    struct PlaceTiles = "place_tiles" {
        begin: In<u32>,
        long_begin: In<u32>,
        long_end: In<u32>,
        tile_ptr: Out<u32>,
        wave: Out<u32>,
        pieces: u32,
        tiles: u32,
        long_segments: u32,
    }
}

/// Number of pieces of a work-item. A work-item searches for the segment of its first piece only.
const STRETCH: usize = 16;

/// Segments as kernels take them. A piece has [`RUN_PIECE`] elements, counted from the start of its
/// segment. The last piece of a segment may have fewer elements, but not 0.
pub(in super::super) struct Pieces {
    /// The start of each piece, and the end of the last one.
    pub begin: Buffer<u32>,
    /// 1 for a piece that is not the first of its segment. The element after the last piece is 0.
    pub follows: Buffer<u8>,
    /// The first piece of each segment, and the number of all pieces.
    pub piece_ptr: Buffer<u32>,
    /// The first piece of each tile, and the number of all pieces.
    pub tile_ptr: Buffer<u32>,
    /// The first piece of each segment with several pieces; `long_end` has the piece after the
    /// segment's last.
    pub long_begin: Buffer<u32>,
    pub long_end: Buffer<u32>,
    /// All tiles in waves. If no segment has several pieces, they are one wave.
    waves: Vec<Wave>,
}

/// Consecutive tiles whose totals are carried at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in super::super) struct Wave {
    pub first_tile: u32,
    pub tiles: u32,
    pub first_piece: u32,
    pub end_piece: u32,
    /// Segments with several pieces, some of which are in the wave.
    pub first_carry: u32,
    pub carries: u32,
}

/// The waves that one launch totals, carries and scans.
#[derive(Debug)]
pub(in super::super) struct Step {
    pub totalled: Wave,
    pub carried: Wave,
    pub scanned: Wave,
}

impl Pieces {
    /// Number of pieces.
    pub fn len(&self) -> usize {
        self.begin.len() - 1
    }

    /// The steps of a scan: each wave is totalled, then carried, then scanned.
    pub fn steps(&self) -> impl Iterator<Item = Step> {
        let wave = |number: Option<usize>| number.and_then(|at| self.waves.get(at)).cloned().unwrap_or_default();
        let step = move |at: usize| Step {
            totalled: wave(Some(at)),
            carried: wave(at.checked_sub(1)),
            scanned: wave(at.checked_sub(2)),
        };
        (0..self.waves.len() + 2).map(step)
    }
}

kernels! {
    struct Kernels {
        new count: CountPieces,
        new segments: PlaceSegments,
        new pieces: PlacePieces,
        new tiles: PlaceTiles,
    }
}

/// The kernels that cut segments.
pub(in super::super) struct Cutter {
    kernels: Kernels,
    scan: Scan<u64>,
    group_size: usize,
    tuning: SegmentTuning,
}

impl Cutter {
    pub fn new(device: &Device, tuning: SegmentTuning) -> Result<Self> {
        let group_size = device.info().elementwise_group();
        let options = Options::group_size(group_size).define("PIECE", RUN_PIECE).define("STRETCH", STRETCH);
        let options = options.define("TILE", tuning.tile).define("WAVE", tuning.wave);
        Ok(Self {
            kernels: Kernels::new(device, &options)?,
            scan: Scan::new(device, ScanTuning::new(device.info()))?,
            group_size,
            tuning,
        })
    }

    /// Cuts segments that begin and end at ascending offsets. There is at least one offset, and the
    /// last is `elements`.
    pub fn cut(&self, work: &Work, offset: &Buffer<u32>, elements: usize) -> Result<Pieces> {
        let (segments, items) = (offset.len() as u32 - 1, |items| Grid::items(items, self.group_size));
        let mut count = work.buffer(offset.len())?;
        self.kernels.count.launch(work, items(offset.len()), CountPieces { offset, count: &mut count, segments })?;
        self.scan.run(work, &mut count)?;
        let found = work.read(&count, offset.len() - 1, 1)?[0];
        let (pieces, long_segments) = (found as u32, (found >> 32) as u32);

        let mut piece_ptr = work.buffer(offset.len())?;
        let (mut long_begin, mut long_end) =
            (work.buffer(long_segments as usize)?, work.buffer(long_segments as usize)?);
        let args = PlaceSegments {
            count: &count,
            piece_ptr: &mut piece_ptr,
            long_begin: &mut long_begin,
            long_end: &mut long_end,
            segments,
        };
        self.kernels.segments.launch(work, items(offset.len()), args)?;

        let (mut begin, mut follows) = (work.buffer(pieces as usize + 1)?, work.buffer(pieces as usize + 1)?);
        let (begins, followers) = (&mut begin, &mut follows);
        let args = PlacePieces { offset, piece_ptr: &piece_ptr, begin: begins, follows: followers, segments, pieces };
        self.kernels.pieces.launch(work, items((pieces as usize + 1).div_ceil(STRETCH)), args)?;

        let tiles = elements.div_ceil(self.tuning.tile);
        let (mut tile_ptr, mut wave) = (work.buffer(tiles + 1)?, work.buffer(3 * tiles.div_ceil(self.tuning.wave))?);
        let args = PlaceTiles {
            begin: &begin,
            long_begin: &long_begin,
            long_end: &long_end,
            tile_ptr: &mut tile_ptr,
            wave: &mut wave,
            pieces,
            tiles: tiles as u32,
            long_segments,
        };
        self.kernels.tiles.launch(work, items(tiles + 1), args)?;
        let waves = match (long_segments, tiles as u32) {
            (_, 0) => vec![],
            (0, tiles) => vec![Wave { tiles, end_piece: pieces, ..Wave::default() }],
            (_, tiles) => self.waves(&wave.download(work)?, pieces, tiles),
        };
        Ok(Pieces { begin, follows, piece_ptr, tile_ptr, long_begin, long_end, waves })
    }

    /// Makes the waves from the words that `place_tiles` wrote.
    fn waves(&self, found: &[u32], pieces: u32, tiles: u32) -> Vec<Wave> {
        let wave = |(number, of): (usize, &[u32])| {
            let first_tile = (number * self.tuning.wave) as u32;
            Wave {
                first_tile,
                tiles: (tiles - first_tile).min(self.tuning.wave as u32),
                first_piece: of[0],
                end_piece: found.get(3 * number + 3).copied().unwrap_or(pieces),
                first_carry: of[1],
                carries: of[2] - of[1],
            }
        };
        found.chunks(3).enumerate().map(wave).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_device;

    fn cut(offsets: &[u32], tuning: SegmentTuning) -> Result<Pieces> {
        let device = test_device();
        let work = Work::new(&device, None);
        let elements = offsets[offsets.len() - 1] as usize;
        Cutter::new(&device, tuning)?.cut(&work, &work.upload(offsets)?, elements)
    }

    #[test]
    fn pieces_are_counted_from_the_start_of_their_segment() -> Result<()> {
        let work = Work::new(&test_device(), None);
        let tuning = SegmentTuning { group_size: 1, tile: 1025, wave: 2 };
        let pieces = cut(&[0, 0, 3, 1027, 1027, 3076, 5125, 5125], tuning)?;
        assert_eq!(pieces.begin.download(&work)?, [0, 3, 1027, 2051, 3075, 3076, 4100, 5124, 5125]);
        assert_eq!(pieces.follows.download(&work)?, [0, 0, 0, 1, 1, 0, 1, 1, 0]);
        assert_eq!(pieces.piece_ptr.download(&work)?, [0, 0, 1, 2, 2, 5, 8, 8]);
        assert_eq!(pieces.long_begin.download(&work)?, [2, 5]);
        assert_eq!(pieces.long_end.download(&work)?, [5, 8]);
        // Tiles begin at 0, 1025, 2050, 3075 and 4100.
        assert_eq!(pieces.tile_ptr.download(&work)?, [0, 2, 3, 4, 6, 8]);
        let wave = |of: [u32; 6]| {
            let [first_tile, tiles, first_piece, end_piece, first_carry, carries] = of;
            Wave { first_tile, tiles, first_piece, end_piece, first_carry, carries }
        };
        // The second wave has pieces of both long segments.
        assert_eq!(pieces.waves, [[0, 2, 0, 3, 0, 1], [2, 2, 3, 6, 0, 2], [4, 1, 6, 8, 1, 1]].map(wave));
        let nothing = cut(&[0], tuning)?;
        assert_eq!((nothing.begin.download(&work)?, nothing.tile_ptr.download(&work)?), (vec![0], vec![0]));
        Ok(())
    }

    /// Cuts segments on the host.
    fn model(offsets: &[u32]) -> [Vec<u32>; 3] {
        let (mut begin, mut follows, mut ptr) = (vec![], vec![], vec![0]);
        for segment in offsets.windows(2) {
            begin.extend((segment[0]..segment[1]).step_by(RUN_PIECE));
            follows.extend((ptr[ptr.len() - 1]..begin.len() as u32).enumerate().map(|(i, _)| u32::from(i > 0)));
            ptr.push(begin.len() as u32);
        }
        begin.push(offsets[offsets.len() - 1]);
        follows.push(0);
        [begin, follows, ptr]
    }

    #[test]
    fn many_segments_are_cut_like_their_model() -> Result<()> {
        let work = Work::new(&test_device(), None);
        // Many empty segments in a row, many of one element, long ones beside them.
        let length = |i: u32| match i % 700 {
            0 => 5000 + i,
            1..300 => 0,
            300..600 => 1,
            _ => i * 37 % 1500,
        };
        let mut offsets = vec![0];
        (0..3000).for_each(|i| offsets.push(offsets[i as usize] + length(i)));
        for tuning in [
            SegmentTuning { group_size: 1, tile: 1024, wave: 1 },
            SegmentTuning { group_size: 64, tile: 2048, wave: 5 },
            SegmentTuning { group_size: 1, tile: 1 << 20, wave: 64 },
        ] {
            let (pieces, [begin, follows, ptr]) = (cut(&offsets, tuning)?, model(&offsets));
            let found = pieces.follows.download(&work)?.into_iter().map(u32::from).collect::<Vec<_>>();
            assert_eq!(pieces.begin.download(&work)?, begin);
            assert_eq!((found, pieces.piece_ptr.download(&work)?), (follows, ptr));
            let tile_ptr = pieces.tile_ptr.download(&work)?;
            let of_tile = |tile: usize| begin.partition_point(|&at| (at as usize) < tile * tuning.tile) as u32;
            let last = begin.len() as u32 - 1;
            assert_eq!(tile_ptr, (0..tile_ptr.len()).map(|tile| of_tile(tile).min(last)).collect::<Vec<_>>());
            for wave in &pieces.waves {
                let [first, tiles] = [wave.first_tile, wave.tiles].map(|tile| tile as usize);
                assert_eq!([wave.first_piece, wave.end_piece], [tile_ptr[first], tile_ptr[first + tiles]]);
            }
            assert_eq!(pieces.waves.len(), (tile_ptr.len() - 1).div_ceil(tuning.wave));
        }
        Ok(())
    }
}
