//! Products with one vector, on a device or by the reference.
use super::Args;
use crate::failure::Failure;
use blockmul::{
    Device, DeviceVector, Element, Matrix, Planned,
    element::{Order, VectorElement},
    plan::{Apply, Cost, Format},
    reference,
};
use std::{num::NonZero, time::Instant};

/// A product, and what it took.
pub struct Run<T> {
    pub y: Vec<T>,
    pub order: Order,
    pub took: Took,
}

pub struct Took {
    pub format: Option<(Format, String)>,
    pub convert_ms: Option<f64>,
    pub device_bytes: u64,
    pub runs_ms: Vec<f64>,
}

/// Converts A, multiplies, and reads y back.
pub fn on_device<M: Matrix, V: VectorElement<M::Element>>(
    args: &Args,
    device: &Device,
    a: &M,
    x: &[V],
) -> Result<Run<V>, Failure> {
    let (a, x) = (device.upload(a)?, device.upload_vector(x)?);
    device.finish()?;
    let (clock, pattern) = (Instant::now(), a.pattern());
    let uses = args.repeat.map_or(1, NonZero::get);
    let options = Apply::<M>::with(&pattern).format(args.format).semiring(args.semiring).uses(uses.into());
    let options = if args.transpose { options.transposed() } else { options };
    let options = if args.symmetric { options.symmetric() } else { options };
    let options = options.split(args.split.unwrap_or_default()).vectors::<V>();
    let options = if args.any_order { options.any_order() } else { options };
    if args.repeat.is_some() {
        let packed = options.pack(&a)?;
        let run = |y: &mut DeviceVector<V>| Ok(packed.execute_with_report(&x, y)?.total_ms);
        return executed(
            (device, clock, args.repeat),
            (packed.format(), packed.why(), packed.cost()),
            packed.output()?,
            run,
        );
    }
    // For a single product a copy of the values does not pay.
    let plan = options.plan()?;
    let run = |y: &mut DeviceVector<V>| Ok(plan.execute_with_report((&a, &x), y)?.total_ms);
    executed((device, clock, None), (plan.format(), plan.why(), plan.cost()), plan.output()?, run)
}

/// Runs a product that has been converted since `clock`, once or several times after a warm-up, and
/// reads y back.
fn executed<V: Element>(
    (device, clock, repeat): (&Device, Instant, Option<NonZero<u32>>),
    (format, why, cost): (Format, &str, Cost),
    mut y: DeviceVector<V>,
    run: impl Fn(&mut DeviceVector<V>) -> blockmul::Result<f64>,
) -> Result<Run<V>, Failure> {
    device.finish()?;
    let convert_ms = Some(clock.elapsed().as_secs_f64() * 1e3);
    if repeat.is_some() {
        run(&mut y)?;
    }
    let runs_ms = (0..repeat.map_or(1, NonZero::get)).map(|_| run(&mut y)).collect::<blockmul::Result<_>>()?;
    let took = Took { format: Some((format, why.to_owned())), convert_ms, device_bytes: cost.device_bytes, runs_ms };
    Ok(Run { y: y.download()?, order: format.order(), took })
}

/// The product in this order of sums.
pub fn by_reference<M: Matrix, V: VectorElement<M::Element>>(
    args: &Args,
    order: Order,
    a: &M,
    x: &[V],
    len: usize,
) -> Result<Vec<V>, Failure> {
    let mut y = vec![V::from_f64(0.0); len];
    reference::multiply_vector_over(args.semiring, order, args.transpose, (1.0, a, x), (0.0, &mut y))?;
    Ok(y)
}
