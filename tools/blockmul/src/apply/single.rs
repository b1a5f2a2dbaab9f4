//! A·x, or Aᵀ·x.
use super::Args;
use super::report::Gram;
use super::run::{Applied, Run, Took, executed, options};
use crate::failure::Failure;
use crate::report::Size;
use crate::vector;
use crate::wrapping::{Sums, magnitude, whole};
use blockmul::{
    Device, DeviceVector, Planned,
    element::{Any, AnyValues, Order},
    matrix::AnyMatrix,
    reference,
};
use std::time::Instant;

/// One product, with A or with Aᵀ.
pub struct Single;

impl Applied for Single {
    fn turns(&self) -> u64 {
        1
    }

    fn y_len(&self, args: &Args, a: &Size) -> usize {
        y_len(args, a)
    }

    fn on_device(&self, args: &Args, device: &Device, a: &AnyMatrix, x: &AnyValues) -> Result<Run, Failure> {
        let (a, x) = (device.upload(a)?, device.upload_any_vector(x)?);
        device.finish()?;
        let clock = Instant::now();
        let options = options(args, &a).vectors_of(x.element())?;
        if args.repeat.is_some() {
            let packed = options.pack(&a)?;
            let run = |y: &mut DeviceVector<Any>| Ok(packed.execute_with_report(&x, y)?.total_ms);
            let formats = vec![(packed.format(), packed.why().to_owned())];
            return executed((device, clock, args.repeat), (formats, packed.cost()), packed.output()?, run);
        }
        // For a single product a copy of the values does not pay.
        let plan = options.plan()?;
        let run = |y: &mut DeviceVector<Any>| Ok(plan.execute_with_report((&a, &x), y)?.total_ms);
        let formats = vec![(plan.format(), plan.why().to_owned())];
        executed((device, clock, None), (formats, plan.cost()), plan.output()?, run)
    }

    fn by_reference(&self, args: &Args, a: &AnyMatrix, x: &AnyValues) -> Result<AnyValues, Failure> {
        Ok(reference::multiply_any_vector(args.semiring, Order::Ascending, args.transpose, a, x)?)
    }

    fn wrong(&self, args: &Args, a: &AnyMatrix, x: &AnyValues, Run { y, took }: &Run) -> Result<usize, Failure> {
        Ok(vector::wrong(args.semiring, took.format(0), args.transpose, (a, x), y)?)
    }

    fn bound(&self, args: &Args, sums: Sums, a: &AnyMatrix, x: &AnyValues) -> f64 {
        sums.bound_of_vectors(a, args.transpose, magnitude(x.numbers()))
    }

    fn exact(&self, args: &Args, sums: Sums, a: &AnyMatrix, x: &AnyValues) -> Option<Vec<i128>> {
        Some(sums.exact(a, args.transpose, y_len(args, &Size::of(a)), |k| whole(x.number(k))))
    }

    fn gram(&self, _: &Took) -> Option<Gram> {
        None
    }
}

fn y_len(args: &Args, a: &Size) -> usize {
    if args.transpose { a.cols() } else { a.rows() }
}
