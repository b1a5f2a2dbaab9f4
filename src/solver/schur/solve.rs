//! Computes Z = W·L⁻ᵀ by forward substitution with the factor of each column. Kernel:
//! `cl/solver/schur/solve.cl`.
use super::factor::Factors;
use crate::{
    BlockShape, Element, Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Work, kernel},
    resident::DeviceCbc,
};

kernel! {
    struct SolveRows<T: Element> = "solve_rows" in "solver/schur/solve.cl" {
        w: In<T>,
        factor: In<T>,
        column: In<u32>,
        z: Out<T>,
        nnz: u32,
        stride: u32,
    }
}

pub(super) struct Solve<T: Element> {
    kernel: Kernel<SolveRows<'static, T>>,
    /// Column of each entry of W.
    column: Buffer<u32>,
}

impl<T: Element> Solve<T> {
    /// Prepares for blocks of `shape` in the columns `column`.
    pub fn new(work: &Work, shape: BlockShape, column: Buffer<u32>) -> Result<Self> {
        Ok(Self { kernel: Self::kernel(work.device(), shape)?, column })
    }

    /// Requests its kernel.
    pub fn ask(device: &Device, shape: BlockShape) -> Result<()> {
        Self::kernel(device, shape).map(drop)
    }

    fn kernel(device: &Device, shape: BlockShape) -> Result<Kernel<SolveRows<'static, T>>> {
        let group_size = device.info().numbers().elementwise_group;
        let options =
            Options::group_size(group_size).element::<T>().define("C", shape.rows()).define("P", shape.cols());
        Kernel::new(device, &options)
    }

    pub fn run(&self, work: &Work, w: &DeviceCbc<T>, factors: &Factors<T>, z: &mut DeviceCbc<T>) -> Result<()> {
        work.stage("solve");
        let args = SolveRows {
            w: &w.values,
            factor: &factors.l,
            column: &self.column,
            z: &mut z.values,
            nnz: w.nnz() as u32,
            stride: w.stride as u32,
        };
        let group_size = work.device().info().numbers().elementwise_group;
        self.kernel.launch(work, Grid::items(w.nnz() * w.shape.rows(), group_size), args)
    }

    pub fn bytes(&self) -> u64 {
        self.column.bytes()
    }
}
