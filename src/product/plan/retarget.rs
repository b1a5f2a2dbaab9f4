//! Retargeting: moves the runs of a plan to a larger pattern. Kernels:
//! `cl/product/plan/retarget.cl`.
//!
//! A run is given by its end. An entry without products ends where the entry before it ends. The
//! run of an entry without products is empty, and the kernels that compute sums need no special
//! case.
use crate::{
    Error, Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Out, Work, kernel},
    element::Piece,
};

kernel! {
    in "product/plan/retarget.cl":
    struct RetargetEnds = "retarget_ends" {
        place: In<u32>,
        run_end: In<u32>,
        place_end: Out<u32>,
        first: u32,
        runs: u32,
        first_place: u32,
        places: u32,
    }
    struct RetargetPieces = "retarget_pieces" {
        place: In<u32>,
        piece: InOut<Piece>,
        first: u32,
        first_place: u32,
        pieces: u32,
    }
}

pub(in crate::product) struct Retarget {
    ends: Kernel<RetargetEnds<'static>>,
    pieces: Kernel<RetargetPieces<'static>>,
    group_size: usize,
}

impl Retarget {
    pub fn new(device: &Device) -> Result<Self> {
        let group_size = device.info().elementwise_group();
        let options = Options::group_size(group_size);
        Ok(Self { ends: Kernel::new(device, &options)?, pieces: Kernel::rare(device, &options)?, group_size })
    }

    /// Moves a band to the larger pattern and renumbers its pieces. The band's first run is entry
    /// `first` of C. `place` gives the entry of the larger pattern for each entry of C. Returns the
    /// run ends, and the number of the first entry in the larger pattern.
    pub fn run(
        &self,
        work: &Work,
        place: &Buffer<u32>,
        first: u32,
        run_end: &Buffer<u32>,
        piece: &mut Buffer<Piece>,
    ) -> Result<(Buffer<u32>, u32)> {
        let runs = run_end.len();
        let first_place = work.read(place, first as usize, 1)?[0];
        let last_place = work.read(place, first as usize + runs - 1, 1)?[0];
        let Some(more) = last_place.checked_sub(first_place).filter(|&more| more as usize + 1 >= runs) else {
            return Err(Error::Contradiction(format!(
                "{runs} entries of C lie from {first_place} to {last_place} of the pattern"
            )));
        };
        let places = more as usize + 1;
        let mut place_end = work.buffer(places)?;
        let args = RetargetEnds {
            place,
            run_end,
            place_end: &mut place_end,
            first,
            runs: runs as u32,
            first_place,
            places: places as u32,
        };
        self.ends.launch(work, Grid::items(places, self.group_size), args)?;
        let pieces = piece.len();
        let args = RetargetPieces { place, piece, first, first_place, pieces: pieces as u32 };
        self.pieces.launch(work, Grid::items(pieces, self.group_size), args)?;
        Ok((place_end, first_place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_device;

    #[test]
    fn every_run_is_where_its_entry_goes_and_all_others_are_empty() -> Result<()> {
        let device = test_device();
        let (work, retarget) = (Work::new(&device, None), Retarget::new(&device)?);
        // Some of 200 entries have no place: those at both ends, every fifth, and twenty in the
        // middle. Runs have 1 to 7 products.
        let place: Vec<u32> = (3..190u32).filter(|i| i % 5 != 0 && i / 20 != 4).collect();
        let places = work.upload(&place)?;
        for (first, runs) in [(0, place.len()), (0, 1), (17, 100), (place.len() - 1, 1)] {
            let of_band = &place[first..first + runs];
            let begins: Vec<u32> = (0..=runs as u32).map(|i| i * 4 + i % 4 - (i % 4) / 2).collect();
            let run_end: Vec<u32> = begins[1..].iter().map(|begin| begin - 1).collect();
            let piece = |run| Piece { run, begin: 5, end: 6, part: 7 };
            let mut pieces = work.upload(&[piece(0), piece(runs as u32 - 1), piece(runs as u32 / 2)])?;
            let (ends, low) = retarget.run(&work, &places, first as u32, &work.upload(&run_end)?, &mut pieces)?;

            assert_eq!(low, of_band[0]);
            let (mut begin, mut found) = (0, Vec::new());
            for (i, end) in ends.download(&work)?.into_iter().enumerate() {
                if end + 1 > begin {
                    found.push((low + i as u32, begin, end));
                }
                begin = end + 1;
            }
            let want: Vec<_> = (0..runs).map(|run| (of_band[run], begins[run], run_end[run])).collect();
            assert_eq!(found, want);
            for (piece, run) in pieces.download(&work)?.into_iter().zip([0, runs - 1, runs / 2]) {
                assert_eq!((piece.run + low, piece.begin, piece.end, piece.part), (of_band[run], 5, 6, 7));
            }
        }
        Ok(())
    }
}
