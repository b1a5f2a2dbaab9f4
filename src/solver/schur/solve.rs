//! Computes Z = W·L⁻ᵀ by forward substitution. Each column of blocks of W has a factor L. Kernel:
//! `cl/solver/schur/solve.cl`.
use super::factor::Factors;
use crate::{
    BlockShape, Result,
    device::{Buffer, Device, Elem, Grid, In, Kernel, Options, Out, Work, kernel},
    element::ElementType,
    resident::DeviceCbc,
};

kernel! {
    struct SolveRows = "solve_rows" in "solver/schur/solve.cl" {
        w: In<Elem>,
        factor: In<Elem>,
        column: In<u32>,
        z: Out<Elem>,
        nnz: u32,
        stride: u32,
    }
}

pub(super) struct Solve {
    kernel: Kernel<SolveRows<'static>>,
    /// The column of each entry of W.
    column: Buffer<u32>,
}

impl Solve {
    /// Prepares for blocks of `shape`. `column` is the column of each entry of W.
    pub fn new(work: &Work, element: ElementType, shape: BlockShape, column: Buffer<u32>) -> Result<Self> {
        Ok(Self { kernel: Self::kernel(work.device(), element, shape)?, column })
    }

    /// Requests the kernel.
    pub fn ask(device: &Device, element: ElementType, shape: BlockShape) -> Result<()> {
        Self::kernel(device, element, shape).map(drop)
    }

    fn kernel(device: &Device, element: ElementType, shape: BlockShape) -> Result<Kernel<SolveRows<'static>>> {
        let group_size = device.info().elementwise_group();
        let options =
            Options::group_size(group_size).element(element).define("C", shape.rows()).define("P", shape.cols());
        Kernel::new(device, &options)
    }

    pub fn run(&self, work: &Work, w: &DeviceCbc, factors: &Factors, z: &mut DeviceCbc) -> Result<()> {
        work.stage("solve");
        let args = SolveRows {
            w: &w.values,
            factor: &factors.l,
            column: &self.column,
            z: &mut z.values,
            nnz: w.nnz() as u32,
            stride: w.stride as u32,
        };
        let group_size = work.device().info().elementwise_group();
        self.kernel.launch(work, Grid::items(w.nnz() * w.shape.rows(), group_size), args)
    }

    pub fn bytes(&self) -> u64 {
        self.column.bytes()
    }
}
