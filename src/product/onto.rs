//! A plan's runs on a pattern that has further entries: what is made elsewhere. Kernels: `cl/product/onto.cl`.
//!
//! Runs are told apart by where they end. An entry without products ends where the one before it does, so that the kernels of the sums need
//! not know: its run is empty.
use crate::{
    Error, Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Out, Work, source},
    element::Piece,
};

type EndsSignature = (In<u32>, In<u32>, Out<u32>, u32, u32, u32, u32);
type PiecesSignature = (In<u32>, InOut<Piece>, u32, u32, u32);

/// One item per entry: nothing here depends on the size.
const GROUP_SIZE: usize = 64;

pub(super) struct Onto {
    ends: Kernel<EndsSignature>,
    pieces: Kernel<PiecesSignature>,
}

impl Onto {
    pub fn new(device: &Device) -> Result<Self> {
        let (source, options) = (source!("product/onto.cl"), Options::group_size(GROUP_SIZE));
        Ok(Self {
            ends: device.kernel(source, &options, "onto_ends")?,
            pieces: device.kernel(source, &options, "onto_pieces")?,
        })
    }

    /// The run ends of a band whose first run is entry `first` of C, and the entry of the larger pattern that is now its first; its pieces
    /// are renumbered. `place` has the entry of the larger pattern for each entry of C.
    pub fn run(
        &self,
        work: &Work,
        place: &Buffer<u32>,
        first: u32,
        run_end: &Buffer<u32>,
        pieces: &mut Buffer<Piece>,
    ) -> Result<(Buffer<u32>, u32)> {
        let runs = run_end.len();
        let low = work.read(place, first as usize, 1)?[0];
        let high = work.read(place, first as usize + runs - 1, 1)?[0];
        let Some(more) = high.checked_sub(low).filter(|&more| more as usize + 1 >= runs) else {
            return Err(Error::Contradiction(format!("{runs} entries of C lie from {low} to {high} of the pattern")));
        };
        let count = more as usize + 1;
        let mut ends = work.buffer(count)?;
        let args = (place, run_end, &mut ends, first, runs as u32, low, count as u32);
        self.ends.launch(work, Grid::items(count, GROUP_SIZE), args)?;
        let of_pieces = pieces.len();
        let args = (place, pieces, first, low, of_pieces as u32);
        self.pieces.launch(work, Grid::items(of_pieces, GROUP_SIZE), args)?;
        Ok((ends, low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_device;

    #[test]
    fn every_run_is_where_its_entry_goes_and_all_others_are_empty() -> Result<()> {
        let device = test_device();
        let (work, onto) = (Work::new(&device, None), Onto::new(&device)?);
        // Entries at both ends and in the middle of 200 are left out, alone and several in a row; runs of 1 to 7 products.
        let place: Vec<u32> = (3..190u32).filter(|i| i % 5 != 0 && i / 20 != 4).collect();
        let places = work.upload(&place)?;
        for (first, runs) in [(0, place.len()), (0, 1), (17, 100), (place.len() - 1, 1)] {
            let of_band = &place[first..first + runs];
            let begins: Vec<u32> = (0..=runs as u32).map(|i| i * 4 + i % 4 - (i % 4) / 2).collect();
            let run_end: Vec<u32> = begins[1..].iter().map(|begin| begin - 1).collect();
            let piece = |run| Piece { run, begin: 5, end: 6, part: 7 };
            let mut pieces = work.upload(&[piece(0), piece(runs as u32 - 1), piece(runs as u32 / 2)])?;
            let (ends, low) = onto.run(&work, &places, first as u32, &work.upload(&run_end)?, &mut pieces)?;

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
