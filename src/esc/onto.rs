//! A plan's runs on a pattern that has further entries: what is made elsewhere, or is to stay. Kernels: `cl/esc/onto.cl`.
//!
//! Runs are told apart by where they end. An entry without products ends where the one before it does, so that the kernels of the sums need
//! not know: an empty run is passed by.
use crate::{
    Result,
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
        let (source, options) = (source!("esc/onto.cl"), Options::group_size(GROUP_SIZE));
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
        let count = (high - low + 1) as usize;
        let mut ends = work.buffer(count)?;
        let args = (place, run_end, &mut ends, first, runs as u32, low, count as u32);
        self.ends.launch(work, Grid::items(count, GROUP_SIZE), args)?;
        let of_pieces = pieces.len();
        let args = (place, pieces, first, low, of_pieces as u32);
        self.pieces.launch(work, Grid::items(of_pieces, GROUP_SIZE), args)?;
        Ok((ends, low))
    }
}
