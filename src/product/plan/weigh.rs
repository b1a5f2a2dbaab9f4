//! T = W·J for a block-diagonal W. The blocks of J are scaled, and T has J's pattern. Kernels:
//! `cl/product/plan/weigh.cl`.
use crate::{
    BlockShape, DevicePattern, DeviceVector, Error, Pattern, Result,
    device::{Buffer, Device, Elem, Grid, In, Kernel, Options, Out, Work, kernel},
    element::{Any, ElementType},
    planned::prepared::same_device,
    product::terms::{ArrayWeights, Weights},
    resident::{DeviceCbc, PatternArrays, ScratchMatrix, TakenMatrix},
};

kernel! {
    in "product/plan/weigh.cl":
    struct WeighEntries = "weigh" {
        block_row: In<u32>,
        j_values: In<Elem>,
        information: In<Elem>,
        weight: In<Elem>,
        t_values: Out<Elem>,
        nnz: u32,
        j_stride: u32,
        information_stride: u32,
        rows_per_weight: u32,
    }
    struct EntryColumns = "entry_columns" { col_ptr: In<u32>, column: Out<u32>, ncols: u32, nnz: u32 }
}

/// W·J, prepared: the kernel, and scratch for T.
pub(crate) struct ApplyWeights {
    kernel: Kernel<WeighEntries<'static>>,
    /// The block row of each entry if matrices are row-major. The arrays of a column-major J
    /// contain the block rows.
    rows_by_entry: Option<Buffer<u32>>,
    /// The pattern of W.
    weights: DevicePattern,
    /// Sides of J's blocks.
    shape: BlockShape,
    pub t: ScratchMatrix,
}

impl ApplyWeights {
    /// Prepares for a J with this pattern and a W with the pattern `weights`, a [`block_diagonal`].
    pub fn new(work: &Work, element: ElementType, j: &DevicePattern, weights: &DevicePattern) -> Result<Self> {
        let (device, shape, arrays) = (work.device(), j.shape(), &j.arrays);
        let group_size = device.info().value_group();
        let options = Options::group_size(group_size)
            .element(element)
            .define("ROWS", shape.rows())
            .define("COLS", shape.cols())
            .define("ROW_MAJOR", u8::from(j.row_major));
        let rows_by_entry = match j.row_major {
            true => {
                let columns: Kernel<EntryColumns<'_>> = Kernel::new(device, &options)?;
                let mut rows = work.buffer(arrays.nnz())?;
                let args = EntryColumns {
                    col_ptr: &arrays.col_ptr,
                    column: &mut rows,
                    ncols: arrays.ncols as u32,
                    nnz: arrays.nnz() as u32,
                };
                columns.launch(work, Grid::items(arrays.nnz(), group_size), args)?;
                Some(rows)
            }
            false => None,
        };
        Ok(Self {
            kernel: Kernel::new(device, &options)?,
            rows_by_entry,
            weights: weights.clone(),
            shape,
            t: ScratchMatrix::reserve(work, element.word(), j)?,
        })
    }

    /// Refuses weights that do not match J. `name` is the name of the weights in the message.
    pub fn check(&self, name: &str, weights: ArrayWeights<'_>) -> Result<()> {
        if let Some(information) = weights.information() {
            self.weights.check(name, information)?;
        }
        let Some((vector, rows_per_weight)) = self.vector(weights) else { return Ok(()) };
        same_device(self.device(), vector.device())?;
        let rows = self.weights.nrows();
        let expected = rows * self.shape.rows() / rows_per_weight;
        if vector.len() != expected {
            let why = format!("J has {rows} block rows of {}, a weight for each {rows_per_weight}", self.shape.rows());
            return Err(Error::Length { array: "weights", found: vector.len(), expected, why });
        }
        Ok(())
    }

    /// Enqueues T = W·J. The caller has checked W and J.
    pub fn run(&self, work: &Work, j: &DeviceCbc, weights: ArrayWeights<'_>) -> Result<TakenMatrix<'_>> {
        work.stage("weigh");
        let (nnz, group_size) = (j.nnz(), self.device().info().value_group());
        // J's blocks are passed in place of arguments that are not read.
        let (information, stride) = weights.information().map_or((&j.values, 0), |w| (&w.values, w.stride));
        let (weight, rows_per_weight) =
            self.vector(weights).map_or((&j.values, 0), |(vector, rows)| (&vector.values, rows));
        let mut t = self.t.take(work)?;
        let args = WeighEntries {
            block_row: self.rows_by_entry.as_ref().unwrap_or(&j.row_idx),
            j_values: &j.values,
            information,
            weight,
            t_values: &mut t.values,
            nnz: nnz as u32,
            j_stride: j.stride as u32,
            information_stride: stride as u32,
            rows_per_weight: rows_per_weight as u32,
        };
        self.kernel.launch(work, Grid::items(nnz * self.shape.area(), group_size), args)?;
        Ok(t)
    }

    /// The vector of weights, and the number of scalar rows that share a weight.
    fn vector<'a>(&self, weights: ArrayWeights<'a>) -> Option<(&'a DeviceVector<Any>, usize)> {
        match weights {
            Weights::Information(_) => None,
            Weights::Scaled { weights, .. } | Weights::BlockRows(weights) => Some((weights, self.shape.rows())),
            Weights::Rows(weights) => Some((weights, 1)),
        }
    }

    fn device(&self) -> &Device {
        self.weights.device()
    }

    /// Floating-point operations with these weights: 2 for each product of scalars that is added, 1
    /// for each multiplication by a weight.
    pub fn flops<I, V>(&self, weights: &Weights<I, V>) -> u64 {
        let sums = 2 * self.shape.rows() as u64;
        let of_element = match weights {
            Weights::Information(_) => sums,
            Weights::Scaled { .. } => sums + 1,
            Weights::BlockRows(_) | Weights::Rows(_) => 1,
        };
        (self.t.pattern().nnz() * self.shape.area()) as u64 * of_element
    }

    /// Bytes of device memory held, rounded up to the size classes of the pool. The patterns of T
    /// and W are not counted.
    pub fn bytes(&self) -> u64 {
        let rows = self.rows_by_entry.as_ref().map_or(0, Buffer::bytes);
        rows + self.t.bytes()
    }
}

/// The pattern of `n` blocks of `side` x `side` on the diagonal.
pub(crate) fn block_diagonal(work: &Work, n: usize, side: usize, row_major: bool) -> Result<DevicePattern> {
    let host = Pattern::trusted(n, n, (0..=n as u64).collect(), (0..n as u32).collect());
    let arrays = PatternArrays::upload(work, &host)?;
    Ok(DevicePattern { arrays, array_shape: BlockShape::new(side, side)?, row_major })
}

/// The pattern of one column of `n` blocks of `side` x 1, all stored. A vector of rows has the
/// pattern of one column.
pub(crate) fn one_column(work: &Work, n: usize, side: usize, row_major: bool) -> Result<DevicePattern> {
    let (host, shape) = match row_major {
        true => (Pattern::trusted(1, n, (0..=n as u64).collect(), vec![0; n]), BlockShape::new(1, side)?),
        false => (Pattern::trusted(n, 1, vec![0, n as u64], (0..n as u32).collect()), BlockShape::new(side, 1)?),
    };
    let arrays = PatternArrays::upload(work, &host)?;
    Ok(DevicePattern { arrays, array_shape: shape, row_major })
}
