//! Rows of scalars, and the sums of every format for them.
use super::super::{Elements, Rows, Sums};
use crate::{
    Csc, Csr, Matrix, Result,
    device::{Buffer, Work, test_device},
    element::{Field, Order, Scaling},
    generate::Random,
    matrix::CbcView,
    reference,
    resident::DeviceCbc,
    vector::ScaledInto,
};

/// Rows of these lengths with values between -1 and 1. The first entry of row i is in column
/// `first(i)`, and its other entries follow it.
pub fn rows_of<T: Field>(cols: usize, lengths: &[usize], first: impl Fn(usize) -> usize) -> Result<Csr<T>> {
    let mut random = Random::new(1);
    let entries = lengths.iter().enumerate().flat_map(|(row, &n)| (0..n).map(move |k| (row, k)));
    let values = entries.map(|(row, k)| (k + first(row), row, T::from_f64(2.0 * random.unit() - 1.0)));
    Ok(Csr::from_transpose(Csc::from_triplets(cols, lengths.len(), values)?))
}

/// A matrix A and vectors x and y on the device, and the expected y after a product.
pub struct Expected<T: Field> {
    work: Work,
    a: DeviceCbc,
    x: Buffer<T>,
    before: Vec<T>,
    after: Vec<T>,
}

impl<T: Field> Expected<T> {
    /// Computes y = 0.7·A·x - 1.3·y for A by rows, with terms added in `order`.
    pub fn of(host: &Csr<T>, order: Order) -> Result<Self> {
        Self::stored(host, host.as_cbc(), order)
    }

    /// Computes y = 0.7·A·x - 1.3·y for A as it is stored by `arrays`.
    pub fn stored(host: &Csr<T>, arrays: CbcView<'_, T>, order: Order) -> Result<Self> {
        let work = Work::new(&test_device(), None);
        let x: Vec<T> = (0..host.ncols()).map(|i| T::from_f64((i % 97) as f64 * 0.31 - 15.0)).collect();
        let before: Vec<T> = (0..host.nrows()).map(|i| T::from_f64(i as f64)).collect();
        let mut after = before.clone();
        reference::multiply_vector_in(order, host, &x, (0.7, -1.3), &mut after)?;
        Ok(Self { a: DeviceCbc::upload(&work, arrays)?, x: work.upload(&x)?, work, before, after })
    }

    pub fn work(&self) -> &Work {
        &self.work
    }

    /// The columns of A's arrays as rows.
    pub fn rows(&self) -> Rows {
        Rows { elements: Elements::both(T::TYPE), ..Rows::of_scalars(self.a.pattern.clone()) }
    }

    /// Compares the bits of two executions. The second finds what the first has left in memory.
    pub fn check(&self, sums: &dyn Sums, what: &str) -> Result<()> {
        let bits = |y: &[T]| y.iter().map(|y| y.to_f64().to_bits()).collect::<Vec<_>>();
        for time in 0..2 {
            let mut y = self.work.upload(&self.before)?;
            let into = ScaledInto { values: &mut y, scaling: Scaling::of(T::TYPE, 0.7, -1.3) };
            sums.run(&self.work, (&self.a).into(), &self.x, into)?;
            assert_eq!(bits(&y.download(&self.work)?), bits(&self.after), "{} {what}, {time}", T::NAME);
        }
        Ok(())
    }
}
