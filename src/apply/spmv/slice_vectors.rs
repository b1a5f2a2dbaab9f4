//! Slices of rows of scalars whose sums are the lanes of a vector, for CPUs. Kernel:
//! `cl/apply/spmv/slice_vectors.cl`.
//!
//! The loop over a row has seven instructions for an entry, and the rows of a stencil end after
//! five. A vector adds eight rows at once, each in ascending order.
use super::{
    Block, Rows,
    slices::{self, LANES},
};
use crate::{
    DeviceInfo, Element, Result, Semiring, Word,
    device::{Buffer, Grid, In, InOut, Kernel, Maybe, Options, Scalar, Work, kernel},
    element::Scaling,
    primitives::segmented_reduce::RUN_PIECE,
};

kernel! {
    struct SumSliceVectors<T: Element, V: Element, C: Word> = "sum_slice_vectors" in "ptx.cl", "once.cl", "apply/spmv/values.cl", "apply/spmv/row.cl", "apply/spmv/slice_vectors.cl" {
        slice_ptr: In<u64>,
        col: In<C>,
        first_col: Maybe<u32>,
        values: In<T>,
        x: In<V>,
        y: InOut<V>,
        rows: u32,
        slices: u32,
        each: u32,
        alpha: Scalar<V::Arithmetic>,
        beta: Scalar<V::Arithmetic>,
    }
}

/// Whether rows of at most `longest` entries are added in vectors.
pub(super) fn suits<T: Element, V: Element>(rows: &Rows, longest: u64) -> bool {
    let is_computed_in = |name: &str| ["f32", "f64"].contains(&name);
    slices::in_vectors(rows.device().info())
        && suits_rows(rows.block, rows.packed, rows.semiring, longest)
        && is_computed_in(T::NAME)
        && is_computed_in(V::NAME)
}

/// The same of rows of such elements, on a device that adds in vectors.
pub(super) fn suits_rows(block: Block, packed: bool, semiring: Semiring, longest: u64) -> bool {
    block.area() == 1 && packed && semiring == Semiring::PlusTimes && longest <= RUN_PIECE as u64
}

pub(super) struct SliceVectors<T: Element, V: Element, C: Word> {
    kernel: Kernel<SumSliceVectors<'static, T, V, C>>,
    rows: usize,
    /// Slices, and those of a work-item.
    slices: usize,
    each: usize,
}

impl<T: Element, V: Element, C: Word> SliceVectors<T, V, C> {
    /// `options` are those of row.cl, of work-groups of one item.
    pub fn new(rows: &Rows, options: &Options) -> Result<Self> {
        let (device, slices) = (rows.device(), rows.len().div_ceil(LANES));
        let kernel = Kernel::new(device, &options.clone().define("LANES", LANES))?;
        Ok(Self { kernel, rows: rows.len(), slices, each: share(device.info(), slices) })
    }

    pub fn launch(
        &self,
        work: &Work,
        slice_ptr: &Buffer<u64>,
        (col, first_col): (&Buffer<C>, Option<&Buffer<u32>>),
        (values, x): (&Buffer<T>, &Buffer<V>),
        Scaling { alpha, beta }: Scaling<V::Arithmetic>,
        y: &mut Buffer<V>,
    ) -> Result<()> {
        let (rows, slices, each) = (self.rows as u32, self.slices as u32, self.each as u32);
        let args = SumSliceVectors { slice_ptr, col, first_col, values, x, y, rows, slices, each, alpha, beta };
        self.kernel.launch(work, Grid::groups(self.slices.div_ceil(self.each), 1), args)
    }
}

/// Slices of a work-item: all end together.
fn share(info: &DeviceInfo, slices: usize) -> usize {
    let numbers = info.numbers();
    let least = numbers.row_shortest / LANES;
    slices.div_ceil(numbers.least_shares * info.compute_units as usize).max(least).max(1)
}

#[cfg(test)]
mod tests {
    use super::super::{Format, PackedValues, Request, Split, Spmv};
    use crate::{BlockShape, Element, Semiring, element::Scaling, resident::DeviceCbc};
    use crate::{Csc, Csr, Matrix, Result, device::Work, device::test_device, generate::Random};

    /// Rows of these lengths, `apart` columns from entry to entry.
    fn rows_of(lengths: &[usize], apart: usize) -> Result<Csr<f32>> {
        let mut random = Random::new(3);
        let entries = lengths.iter().enumerate().flat_map(|(row, &n)| (0..n).map(move |k| (1 + row + k * apart, row)));
        let values = entries.map(|(i, j)| (i, j, (2.0 * random.unit() - 1.0) as f32));
        Ok(Csr::from_transpose(Csc::from_triplets(lengths.len() + 10 * apart + 1, lengths.len(), values)?))
    }

    fn check<V: Element>(host: &Csr<f32>, of: impl Fn(f64) -> V, [alpha, beta]: [f64; 2]) -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        let a = DeviceCbc::upload(&work, host.as_cbc())?;
        // No entry is in column 0, to which padding may point.
        let x: Vec<V> =
            (0..host.ncols()).map(|i| of(if i == 0 { f64::INFINITY } else { (i % 97) as f64 * 0.25 - 15.0 })).collect();
        let before = vec![of(0.5); host.nrows()];
        let request = Request {
            format: Format::SlicedEll,
            semiring: Semiring::PlusTimes,
            any_order: false,
            split: Split::Bytes,
            uses: 1,
            packed: true,
            symmetric: false,
        };
        let spmv = Spmv::<f32, V>::new(&a.pattern, BlockShape::SCALAR, false, request)?;
        let mut values = PackedValues::new(&device, &spmv)?;
        values.update(&work, &spmv, (&a).into())?;
        let scaling = |alpha: f64, beta: f64| Scaling { alpha: of(alpha).widen(), beta: of(beta).widen() };
        let (dx, mut y) = (work.upload(&x)?, work.upload(&before)?);
        spmv.run(&work, values.stored(), &dx, scaling(alpha, beta), &mut y)?;
        let mut csr = work.upload(&before)?;
        let whole = Spmv::<f32, V>::new(
            &a.pattern,
            BlockShape::SCALAR,
            false,
            Request { format: Format::Csr, packed: false, ..request },
        )?;
        whole.run(&work, (&a).into(), &dx, scaling(alpha, beta), &mut csr)?;
        let (y, csr) = (y.download(&work)?, csr.download(&work)?);
        assert_eq!(bytemuck::cast_slice::<V, u8>(&y), bytemuck::cast_slice::<V, u8>(&csr));
        Ok(())
    }

    #[test]
    fn rows_of_a_vector_have_the_bits_of_single_rows() -> Result<()> {
        let some = |n: usize| (0..n).map(|row| row * 5 % 7).collect::<Vec<_>>();
        let shapes = [
            vec![],
            vec![4],
            vec![3; 8],
            vec![5; 24],
            [vec![5; 9], vec![0; 9]].concat(),
            some(7),
            some(61),
            vec![0; 20],
        ];
        for (lengths, apart) in shapes.iter().flat_map(|shape| [(shape, 1), (shape, 30_000)]) {
            let host = rows_of(lengths, apart)?;
            for scaling in [[1.0, 0.0], [0.75, 0.0], [0.75, -1.25]] {
                check::<f32>(&host, |value| value as f32, scaling)?;
                check::<f64>(&host, |value| value, scaling)?;
            }
        }
        Ok(())
    }
}
