//! Z = W·L⁻ᵀ, by forward substitution with the factor of each column. Kernel: `cl/solver/schur/solve.cl`.
use super::factor::Factor;
use crate::{
    BlockShape, Element, Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Work, source},
    resident::DeviceCbc,
};

type Signature<T> = (In<T>, In<T>, In<u32>, Out<T>, u32, u32);

/// One item per row of a block: nothing here depends on the size.
const GROUP_SIZE: usize = 64;

pub(super) struct Solve<T: Element> {
    kernel: Kernel<Signature<T>>,
    /// Column of each entry of W.
    column: Buffer<u32>,
}

impl<T: Element> Solve<T> {
    /// For blocks of `shape` in the columns `column`.
    pub fn new(work: &Work, shape: BlockShape, column: Buffer<u32>) -> Result<Self> {
        Ok(Self { kernel: Self::kernel(work.device(), shape)?, column })
    }

    /// Asks for its kernel.
    pub fn ask(device: &Device, shape: BlockShape) -> Result<()> {
        Self::kernel(device, shape).map(drop)
    }

    fn kernel(device: &Device, shape: BlockShape) -> Result<Kernel<Signature<T>>> {
        let options =
            Options::group_size(GROUP_SIZE).element::<T>().define("C", shape.rows()).define("P", shape.cols());
        device.kernel(source!("solver/schur/solve.cl"), &options, "solve_rows")
    }

    pub fn run(&self, work: &Work, w: &DeviceCbc<T>, factor: &Factor<T>, z: &mut DeviceCbc<T>) -> Result<()> {
        work.stage("solve");
        let (entries, stride) = (w.nnz(), w.stride as u32);
        let args = (&w.values, &factor.factor, &self.column, &mut z.values, entries as u32, stride);
        self.kernel.launch(work, Grid::items(entries * w.shape.rows(), GROUP_SIZE), args)
    }

    pub fn bytes(&self) -> u64 {
        self.column.bytes()
    }
}
