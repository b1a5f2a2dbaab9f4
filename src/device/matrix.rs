//! Matrices on a device.
use super::{Buffer, Device, Work};
use crate::{BlockShape, Cbc, Element, Error, Matrix, Pattern, Result, matrix::CbcView};
use std::marker::PhantomData;

/// A matrix of type `M` that lives on a device: uploaded once, multiplied many times; a product stays there until it is asked for.
pub struct DeviceMatrix<M: Matrix> {
    pub(crate) cbc: DeviceCbc<M::Element>,
    host: PhantomData<fn() -> M>,
}

/// The arrays of compressed block columns on a device: what the pipeline multiplies.
pub(crate) struct DeviceCbc<T> {
    pub device: Device,
    pub nrows: usize,
    pub ncols: usize,
    pub shape: BlockShape,
    pub stride: usize,
    pub col_ptr: Buffer<u32>,
    pub row_idx: Buffer<u32>,
    pub values: Buffer<T>,
}

impl<T: Element> DeviceCbc<T> {
    /// Most entries a matrix on a device may have: kernels form `entry + 1` in 32 bits.
    pub const MAX_NNZ: u64 = u32::MAX as u64 - 1;

    pub fn upload(work: &Work, host: CbcView<'_, T>) -> Result<Self> {
        work.device().require::<T>()?;
        Self::check_nnz(host.pattern.nnz() as u64)?;
        let col_ptr: Vec<u32> = host.pattern.col_ptr().iter().map(|&p| p as u32).collect();
        Ok(Self {
            device: work.device().clone(),
            nrows: host.pattern.nrows(),
            ncols: host.pattern.ncols(),
            shape: host.shape,
            stride: host.stride,
            col_ptr: work.upload(&col_ptr)?,
            row_idx: work.upload(host.pattern.row_idx())?,
            values: work.upload(host.values)?,
        })
    }

    pub fn check_nnz(nnz: u64) -> Result<()> {
        match nnz > Self::MAX_NNZ {
            true => Err(Error::TooLarge {
                what: "number of entries of a matrix on a device",
                value: nnz,
                limit: Self::MAX_NNZ,
            }),
            false => Ok(()),
        }
    }

    pub fn nnz(&self) -> usize {
        self.row_idx.len()
    }

    pub fn download(&self, work: &Work) -> Result<Cbc<T>> {
        let col_ptr = self.col_ptr.download(work)?.into_iter().map(u64::from).collect();
        let pattern = Pattern::trusted(self.nrows, self.ncols, col_ptr, self.row_idx.download(work)?);
        Cbc::with_stride(pattern, self.shape, self.stride, self.values.download(work)?)
    }

    /// Bytes of device memory the arrays take, size classes included.
    pub fn bytes(&self) -> u64 {
        self.col_ptr.memory.bytes() + self.row_idx.memory.bytes() + self.values.memory.bytes()
    }

    pub fn dimensions(&self) -> crate::error::Dimensions {
        crate::error::Dimensions {
            nrows: self.nrows,
            ncols: self.ncols,
            block_rows: self.shape.rows(),
            block_cols: self.shape.cols(),
        }
    }
}

impl<M: Matrix> DeviceMatrix<M> {
    pub(crate) fn new(cbc: DeviceCbc<M::Element>) -> Self {
        Self { cbc, host: PhantomData }
    }

    /// Copies the matrix to the host; waits for the commands that make it.
    ///
    /// # Errors
    /// [`Error::OpenCl`] or [`Error::Memory`] when one of those commands failed; [`Error::BlockShape`] for a product of scalar type
    /// whose blocks are not 1x1.
    pub fn download(&self) -> Result<M> {
        M::from_cbc(self.cbc.download(&Work::new(&self.cbc.device, None))?)
    }

    /// Rows, counted in entries (blocks).
    pub fn nrows(&self) -> usize {
        if M::ROW_MAJOR { self.cbc.ncols } else { self.cbc.nrows }
    }

    /// Columns, counted in entries (blocks).
    pub fn ncols(&self) -> usize {
        if M::ROW_MAJOR { self.cbc.nrows } else { self.cbc.ncols }
    }

    /// Entries (blocks).
    pub fn nnz(&self) -> usize {
        self.cbc.nnz()
    }

    /// Shape of the blocks; 1x1 for scalar matrices.
    pub fn shape(&self) -> BlockShape {
        if M::ROW_MAJOR { self.cbc.shape.transpose() } else { self.cbc.shape }
    }

    /// The device the matrix lives on.
    pub fn device(&self) -> &Device {
        &self.cbc.device
    }

    /// Bytes of device memory held.
    pub fn device_bytes(&self) -> u64 {
        self.cbc.bytes()
    }
}

impl<M: Matrix> std::fmt::Debug for DeviceMatrix<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "DeviceMatrix({}x{} entries of {}, {} stored, on {:?})",
            self.nrows(),
            self.ncols(),
            self.shape(),
            self.nnz(),
            self.device()
        )
    }
}
