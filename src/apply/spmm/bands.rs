//! Products with a dense matrix on the host, computed in bands of its columns.
use super::{
    DenseReport,
    prepared::Prepared,
    run::{Asked, Run},
};
use crate::{
    Error, Result,
    device::{Buffer, Work, pool_bytes},
    element::Scaling,
    matrix::{DenseShape, Layout, Side},
    resident::{DenseBuffer, DenseBufferMut},
};
use std::{borrow::Cow, time::Duration};

/// A product whose D and C are on the host.
pub(super) struct Bands<'a> {
    pub run: &'a Run<'a>,
    pub work: &'a Work,
}

/// A dense matrix on the host, as bytes: `&[u8]` or `&mut [u8]`.
pub(super) struct HostDense<B> {
    pub shape: DenseShape,
    pub bytes: B,
}

/// The resources of a band: a plan, and device memory for the band's columns of D and C.
struct Band {
    prepared: Prepared,
    d: (DenseShape, Buffer),
    c: (DenseShape, Buffer),
}

impl Bands<'_> {
    /// Multiplies. If A is on the right, `d` and `c` are the transposes of D and C.
    pub fn run(&self, d: HostDense<&[u8]>, mut c: HostDense<&mut [u8]>) -> Result<DenseReport> {
        let (n, clock) = (d.shape.cols, self.work.clock());
        let mut columns = self.fitting(d.shape, c.shape);
        let Band { prepared, d: (some_d_shape, mut some_d), c: (some_c_shape, mut some_c) } = loop {
            match self.prepare(columns, d.shape, c.shape) {
                // The estimate does not include pieces of long lines and groups.
                Err(Error::Memory { .. }) if columns > 1 => columns = columns.div_ceil(2),
                Err(refused @ Error::Memory { .. }) => {
                    return Err(self.too_little(columns, d.shape, c.shape, refused));
                }
                prepared => break prepared?,
            }
        };
        self.work.wait()?;
        let (plan_ms, mut total) = (clock.elapsed().as_secs_f64() * 1e3, Duration::ZERO);
        let bands = n.div_ceil(columns.max(1)).max(1);
        let element = self.run.asked.element;
        let mut values = vec![0; some_c_shape.len() * element.bytes()];
        let scaling = Scaling::of(element, 1.0, 0.0);
        for band in 0..bands {
            // The last band has as many columns as every other band, so that one plan multiplies
            // all bands.
            let first = (band * columns).min(n - columns);
            self.work.write_bytes(&columns_of(&d, element.bytes(), first, columns).1, &mut some_d)?;
            let clock = self.work.clock();
            let d = DenseBuffer { shape: some_d_shape, values: &some_d };
            let into = DenseBufferMut { shape: some_c_shape, values: &mut some_c };
            prepared.run(self.work, self.run.a.into(), d, scaling, into)?;
            self.work.wait()?;
            total += clock.elapsed();
            self.work.read_bytes(&some_c, &mut values)?;
            put_columns(&mut c, element.bytes(), (first, columns), &values);
        }
        Ok(DenseReport::new(self.work, &prepared, (bands, columns), plan_ms, total.as_secs_f64() * 1e3))
    }

    /// The error if not even one column fits. The error states all bytes that a product with one
    /// column needs. A plan without a limit measures these bytes, if the device has memory for such
    /// a plan.
    fn too_little(&self, columns: usize, d: DenseShape, c: DenseShape, refused: Error) -> Error {
        let Error::Memory { what, needed, available, place } = refused else { return refused };
        let line = if self.run.asked.side == Side::Left { "column" } else { "row" };
        let at_once = format!("with one {line} of D and of C at a time");
        let limit = self.run.asked.memory_limit;
        let beyond = self.run.work_within(None);
        let whole = limit.and_then(|limit| {
            Bands { run: self.run, work: &beyond }.prepare(columns, d, c).ok()?;
            Some((limit, beyond.most_used_bytes()))
        });
        match whole {
            Some((available, needed)) => {
                Error::Memory { what: format!("a product {at_once}"), needed, available, place }
            }
            None => Error::Memory { what: format!("{what}, {at_once}"), needed, available, place },
        }
    }

    fn prepare(&self, columns: usize, d: DenseShape, c: DenseShape) -> Result<Band> {
        let Asked { side, element, .. } = self.run.asked;
        let of_product = |shape: DenseShape| if *side == Side::Left { shape } else { shape.transposed() };
        let layouts = [of_product(d).layout, of_product(c).layout];
        let prepared = Prepared::new(self.work, &self.run.wanted(columns, layouts))?;
        let dense = |shape: DenseShape| -> Result<_> {
            Ok((of_product(shape), self.work.buffer_of(element.word(), shape.len())?))
        };
        Ok(Band { prepared, d: dense(some(d, columns))?, c: dense(tight(c, columns))? })
    }

    /// Estimates how many columns fit the free memory: at least one if D has columns.
    fn fitting(&self, d: DenseShape, c: DenseShape) -> usize {
        let a = self.run.a;
        let words = |count: usize| pool_bytes(size_of::<u32>() as u64 * count as u64);
        // An index of A stores the offset of each line, and two words for each entry.
        let index = 2 * words(a.nnz()) + words(a.nrows.max(a.ncols) + 1);
        let free = self.work.free_bytes().saturating_sub(index);
        let most = self.work.device().info().max_alloc_bytes;
        let fits = |columns: usize| {
            let bytes = |shape: DenseShape| pool_bytes((shape.len() * self.run.asked.element.bytes()) as u64);
            let (of_d, of_c) = (bytes(some(d, columns)), bytes(tight(c, columns)));
            let copy = if d.layout == Layout::ByColumns { of_d } else { 0 };
            of_d + copy + of_c <= free && of_d.max(of_c) <= most
        };
        if d.cols <= 1 || fits(d.cols) {
            return d.cols;
        }
        let (mut least, mut beyond) = (1, d.cols.max(1));
        while beyond - least > 1 {
            let middle = least + (beyond - least) / 2;
            if fits(middle) { least = middle } else { beyond = middle }
        }
        // A band has a whole number of vectors of columns, if at least one vector fits.
        if least > VECTOR { least / VECTOR * VECTOR } else { least }
    }
}

/// The number of columns of a band is a multiple of this: the length of the longest vector.
const VECTOR: usize = 32;

/// The shape of `columns` columns of a matrix, with its gaps between columns.
fn some(shape: DenseShape, columns: usize) -> DenseShape {
    match shape.layout {
        Layout::ByColumns => DenseShape { cols: columns, ..shape },
        Layout::ByRows => tight(shape, columns),
    }
}

/// The shape of `columns` columns of a matrix, without gaps.
fn tight(shape: DenseShape, columns: usize) -> DenseShape {
    DenseShape::new(shape.rows, columns, shape.layout)
}

/// Copies some columns of a matrix whose elements have `size` bytes; returns them with their shape.
fn columns_of<'a>(
    matrix: &HostDense<&'a [u8]>,
    size: usize,
    first: usize,
    columns: usize,
) -> (DenseShape, Cow<'a, [u8]>) {
    let (from, shape) = (matrix.shape, some(matrix.shape, columns));
    let bytes = |start: usize, len: usize| &matrix.bytes[start * size..][..len * size];
    let values = match from.layout {
        _ if shape.len() == 0 => Cow::Borrowed(&[][..]),
        Layout::ByColumns => Cow::Borrowed(bytes(from.at(0, first), shape.len())),
        Layout::ByRows => {
            let rows: Vec<_> = (0..from.rows).map(|row| bytes(from.at(row, first), columns)).collect();
            Cow::Owned(rows.concat())
        }
    };
    (shape, values)
}

/// Replaces some columns of a matrix by `values`, which has the matrix's layout without gaps.
fn put_columns(matrix: &mut HostDense<&mut [u8]>, size: usize, (first, columns): (usize, usize), values: &[u8]) {
    let (to, from) = (matrix.shape, tight(matrix.shape, columns));
    let (lines, width) = from.lines();
    if width == 0 {
        return;
    }
    for (line, values) in (0..lines).zip(values.chunks(width * size)) {
        let start = match to.layout {
            Layout::ByColumns => to.at(0, first + line),
            Layout::ByRows => to.at(line, first),
        };
        matrix.bytes[start * size..][..width * size].copy_from_slice(values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csc, apply::spmm::DenseProduct, device::test_device, matrix::DenseView};
    use nalgebra::DMatrix;

    #[test]
    fn a_refusal_has_the_bytes_that_one_column_takes() -> Result<()> {
        let entries = (0..2000).map(|i| (i % 400, i / 400 * 50 + i % 50, i as f64));
        let a = test_device().upload(&Csc::from_triplets(400, 300, entries)?)?;
        let (below, beside) = (DMatrix::from_element(300, 70, 0.5), DMatrix::from_element(70, 400, 0.5));
        for product in [DenseProduct::of(&a, &below), DenseProduct::by(&beside, &a)] {
            let run = |limit| product.clone().memory_limit(limit).run_to_host();
            let refused = |limit| match run(limit) {
                Err(Error::Memory { what, needed, available, .. }) => (what, needed, available),
                other => panic!("{:?}", other.map(|(_, report)| report)),
            };
            let (what, needed, available) = refused(1);
            assert!(what.starts_with("a product with one ") && available == 1, "{what} {available}");
            assert!(needed > a.device_bytes());
            assert_eq!(refused(needed - 1), (what, needed, needed - 1));
            let (c, report) = run(needed)?;
            assert_eq!((c, report.peak_device_bytes), (run(1 << 30)?.0, needed));
        }
        Ok(())
    }

    #[test]
    fn columns_are_taken_and_put() -> Result<()> {
        for (layout, leading) in
            [(Layout::ByRows, 5), (Layout::ByRows, 7), (Layout::ByColumns, 3), (Layout::ByColumns, 4)]
        {
            let shape = DenseShape::new(3, 5, layout).with_leading(leading);
            let values: Vec<f64> = (0..shape.len()).map(|i| i as f64).collect();
            let view = DenseView::new(shape, &values)?;
            let (some, taken) = columns_of(&HostDense { shape, bytes: bytemuck::cast_slice(&values) }, 8, 1, 3);
            let taken: Vec<f64> = taken.chunks(8).map(bytemuck::pod_read_unaligned).collect();
            let taken = DenseView::new(some, &taken)?.to_matrix();
            assert_eq!(taken, view.to_matrix().columns(1, 3), "{layout} {leading}");
            let mut put = vec![-1.0; shape.len()];
            let tight: Vec<f64> = match layout {
                Layout::ByRows => taken.transpose().as_slice().to_vec(),
                Layout::ByColumns => taken.as_slice().to_vec(),
            };
            let bytes = bytemuck::cast_slice_mut(&mut put);
            put_columns(&mut HostDense { shape, bytes }, 8, (2, 3), bytemuck::cast_slice(&tight));
            let put = DenseView::new(shape, &put)?.to_matrix();
            assert_eq!(put.columns(2, 3), taken);
            assert!(put.columns(0, 2).iter().all(|value| *value == -1.0));
        }
        Ok(())
    }
}
