//! The damped diagonal blocks of V factored, V + damping = L·Lᵀ, and y = L⁻¹·b_p. Kernels: `cl/schur/factor.cl`.
use super::Damped;
use crate::{
    Element, Result,
    device::{Buffer, Device, DeviceCbc, Grid, In, InOut, Kernel, Options, Out, Scalar, Work, source},
};

type Signature<T> = (In<T>, In<T>, Out<T>, Out<T>, InOut<u32>, u32, u32, Scalar<T>, Scalar<T>);

/// The largest blocks that one work-item has in registers: 21 numbers.
const EACH_MAX: usize = 6;

pub(super) struct Factor<T: Element> {
    kernel: Kernel<Signature<T>>,
    group_size: usize,
    each: bool,
    blocks: usize,
    /// L of each block: its columns from the diagonal down, one after another, the diagonal's reciprocals on the diagonal.
    pub factor: Buffer<T>,
    pub y: Buffer<T>,
    /// 0, or `blocks` less the number of the first block that is not positive definite: largest for the first.
    status: Buffer<u32>,
}

/// Numbers in the factor of a block.
pub(super) fn packed(side: usize) -> usize {
    side * (side + 1) / 2
}

impl<T: Element> Factor<T> {
    /// For `blocks` blocks of `side` x `side`.
    pub fn new(work: &Work, side: usize, blocks: usize) -> Result<Self> {
        let (kernel, group_size, each) = Self::kernel(work.device(), side)?;
        Ok(Self {
            kernel,
            group_size,
            each,
            blocks,
            factor: work.buffer(blocks * packed(side))?,
            y: work.buffer(blocks * side)?,
            status: work.buffer(1)?,
        })
    }

    /// Asks for its kernel.
    pub fn ask(device: &Device, side: usize) -> Result<()> {
        Self::kernel(device, side).map(drop)
    }

    /// The kernel, its group size, and whether a work-item has a block.
    fn kernel(device: &Device, side: usize) -> Result<(Kernel<Signature<T>>, usize, bool)> {
        let each = side <= EACH_MAX;
        // Blocks of a group that lie in local memory: 8 to 10 KiB. A group's item has a row.
        let group_size = if each && side <= 4 { 64 } else { 32 };
        let options = Options::group_size(group_size)
            .element::<T>()
            .exact_division(device.info())
            .define("P", side)
            .define("EACH", u8::from(each));
        let name = if each { "factor_each" } else { "factor_group" };
        Ok((device.kernel(source!("schur/factor.cl"), &options, name)?, group_size, each))
    }

    pub fn run(&mut self, work: &Work, v: &DeviceCbc<T>, b: &Buffer<T>, damped: Damped<T>) -> Result<()> {
        work.stage("factor");
        work.fill_zero(&mut self.status)?;
        let grid = match self.each {
            true => Grid::items(self.blocks, self.group_size),
            false => Grid::groups(self.blocks, self.group_size),
        };
        let (blocks, stride, Damped { scale, shift }) = (self.blocks as u32, v.stride as u32, damped);
        let Self { factor, y, status, .. } = self;
        self.kernel.launch(work, grid, (&v.values, b, factor, y, status, blocks, stride, scale, shift))
    }

    /// The first block that was not positive definite; one small read.
    pub fn failed(&self, device: &Device) -> Result<Option<usize>> {
        let status = self.status.download(&Work::new(device, None))?[0] as usize;
        Ok((status > 0).then(|| self.blocks - status))
    }

    pub fn bytes(&self) -> u64 {
        self.factor.bytes() + self.y.bytes() + self.status.bytes()
    }
}
