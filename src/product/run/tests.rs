//! Tests of products on two queues: one that measures the times of stages, and one that does not.
use super::*;
use crate::{
    Csc, Device, Planned,
    device::test_device,
    generate::Random,
    planned::Accum,
    product::{Method, Product},
    reference,
};

/// Queues with times and queues without times use the products, plans and results in turn.
#[test]
fn times_are_kept_apart_and_change_no_bit() -> Result<()> {
    let device = Device::open_with(test_device().info(), true)?;
    let mut random = Random::new(3);
    let n = 300;
    let places =
        (0..n).flat_map(|col| random.distinct(8, n).into_iter().map(move |row| (row, col))).collect::<Vec<_>>();
    let entries = places.iter().enumerate().map(|(i, &(row, col))| (row as usize, col as usize, 0.1 + i as f64));
    let a = Csc::from_triplets(n as usize, n as usize, entries)?;
    let want = reference::multiply(&reference::multiply(&a, &a)?, &a)?;
    let a = device.upload(&a)?;
    for method in [Method::Auto, Method::Esc, Method::Sort, Method::Dense] {
        for round in 0..2 {
            let product = Product::of(&a, &a).method(method);
            let (square, report) = product.run_with_report()?;
            assert!(report.stages.iter().all(|stage| stage.ms.is_some()), "{method}: {:?}", report.stages);
            let square = if round % 2 == 0 { square } else { product.run()? };
            let cube = Product::of(&square, &a).method(method).untimed();
            let (c, report) = cube.run_with_report()?;
            let mut run = report.stages.iter().filter(|stage| stage.commands > 0);
            assert!(run.all(|stage| stage.ms.is_none()), "{method}: {:?}", report.stages);
            assert!(c.download()? == want, "{method}, round {round}");
            let plan = Product::of(&square, &a).method(method).plan()?;
            let mut c = plan.output()?;
            plan.execute((&square, &a), &mut c)?;
            let doubled = Accum::into(&mut c).alpha(2.0);
            let report = plan.execute_with_report((&square, &a), doubled)?;
            assert!(report.stages.iter().all(|stage| stage.ms.is_some()), "{method}: {:?}", report.stages);
            // The result is C + 2 C / 2.
            plan.execute((&square, &a), Accum::into(&mut c).beta(0.5))?;
            let twice: Vec<f64> = want.values().iter().map(|value| 2.0 * value).collect();
            assert_eq!(c.download()?.values(), twice, "{method}, round {round}");
        }
    }
    Ok(())
}
