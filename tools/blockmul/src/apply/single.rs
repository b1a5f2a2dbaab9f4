//! A·x, or Aᵀ·x.
use super::Args;
use super::report::Gram;
use super::run::{Applied, Run, Took, executed, options};
use crate::failure::Failure;
use crate::report::Size;
use crate::vector;
use crate::wrapping::{Sums, magnitude, whole};
use blockmul::{
    Device, DeviceVector, Matrix, Planned,
    element::{Order, VectorElement},
    reference,
};
use std::time::Instant;

/// One product, with A or with Aᵀ.
pub struct Single;

impl<M: Matrix, V: VectorElement<M::Element>> Applied<M, V> for Single {
    const TURNS: u64 = 1;

    fn y_len(&self, args: &Args, a: &Size) -> usize {
        y_len(args, a)
    }

    fn on_device(&self, args: &Args, device: &Device, a: &M, x: &[V]) -> Result<Run<V>, Failure> {
        let (a, x) = (device.upload(a)?, device.upload_vector(x)?);
        device.finish()?;
        let (clock, pattern) = (Instant::now(), a.pattern());
        let options = options::<M>(args, &pattern).vectors::<V>();
        if args.repeat.is_some() {
            let packed = options.pack(&a)?;
            let run = |y: &mut DeviceVector<V>| Ok(packed.execute_with_report(&x, y)?.total_ms);
            let formats = vec![(packed.format(), packed.why().to_owned())];
            return executed((device, clock, args.repeat), (formats, packed.cost()), packed.output()?, run);
        }
        // For a single product a copy of the values does not pay.
        let plan = options.plan()?;
        let run = |y: &mut DeviceVector<V>| Ok(plan.execute_with_report((&a, &x), y)?.total_ms);
        let formats = vec![(plan.format(), plan.why().to_owned())];
        executed((device, clock, None), (formats, plan.cost()), plan.output()?, run)
    }

    fn by_reference(&self, args: &Args, a: &M, x: &[V]) -> Result<Vec<V>, Failure> {
        in_order(args, Order::Ascending, a, x)
    }

    fn wrong(&self, args: &Args, a: &M, x: &[V], Run { y, took }: &Run<V>) -> Result<usize, Failure> {
        let format = took.format(0);
        let want = in_order(args, format.order(), a, x)?;
        if format.reproducible() {
            return Ok(vector::differences(y, &want));
        }
        let terms = vector::most_terms(a, args.transpose);
        let sizes = in_order(args, format.order(), &vector::matrix_of_magnitudes(a)?, &vector::magnitudes(x))?;
        Ok(vector::beyond_rounding(y, &want, &sizes, (terms, 1)))
    }

    fn bound(&self, args: &Args, sums: Sums, a: &M, x: &[V]) -> f64 {
        sums.bound_of_vectors(a, args.transpose, magnitude(x.iter().map(|x| x.to_f64())))
    }

    fn exact(&self, args: &Args, sums: Sums, a: &M, x: &[V]) -> Option<Vec<i128>> {
        Some(sums.exact(a, args.transpose, y_len(args, &Size::of(a)), |k| whole(x[k])))
    }

    fn gram(&self, _: &Took) -> Option<Gram> {
        None
    }
}

fn y_len(args: &Args, a: &Size) -> usize {
    if args.transpose { a.cols() } else { a.rows() }
}

/// The product in this order of sums.
fn in_order<M: Matrix, V: VectorElement<M::Element>>(
    args: &Args,
    order: Order,
    a: &M,
    x: &[V],
) -> Result<Vec<V>, Failure> {
    let mut y = vec![V::from_f64(0.0); y_len(args, &Size::of(a))];
    reference::multiply_vector_over(args.semiring, order, args.transpose, (1.0, a, x), (0.0, &mut y))?;
    Ok(y)
}
