//! Tests of products on two queues: one that measures the times of stages, and one that does not;
//! and of the times of bins.
use super::*;
use crate::{
    BlockShape, Cbc, Csc, Device, Planned,
    device::test_device,
    generate::{Random, Uniform},
    planned::Accum,
    product::{Bin, Method, Product},
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

/// Columns of 61 products are sorted, and columns of 61 * 61 products are too long for the sort.
#[test]
fn bins_of_groups_have_the_time_of_their_methods() -> Result<()> {
    let device = test_device();
    let matrix = |per_column| -> Result<Cbc<f64>> {
        Uniform { rows: 300, cols: 300, per_column, shape: BlockShape::new(2, 2)?, ..Default::default() }.matrix()
    };
    let (a, b) = (BlockGroups::side_by_side([matrix(61)?])?, BlockGroups::side_by_side([matrix(1)?, matrix(61)?])?);
    let (a, b) = (device.upload_groups(&a)?, device.upload_groups(&b)?);
    let product = Product::of(&a, &b).method(Method::Sort);
    let (c, plain) = product.run_with_report()?;
    let products: Vec<_> = plain.bins.iter().map(|bin| (bin.method == Method::Sort, bin.products)).collect();
    assert_eq!(products, [(true, 300 * 61), (false, 300 * 61 * 61)]);
    let (explained, report) = product.explained().run_with_report()?;
    assert_eq!(explained.download()?, c.download()?);
    let unmeasured = |bin: &Bin| Bin { measured_ms: None, ..*bin };
    assert_eq!(report.bins.iter().map(unmeasured).collect::<Vec<_>>(), plain.bins);
    let (times, busy) = (report.bins.iter().map(|bin| bin.measured_ms), report.stages.iter().map(|stage| stage.ms));
    let times: Vec<f64> = times.collect::<Option<_>>().expect("every bin is measured");
    assert!(times.iter().sum::<f64>() <= 1.0001 * busy.sum::<Option<f64>>().expect("the queue records times"));
    // The long columns have 61 times as many products.
    assert!(times[0] > 0.0 && times[1] > times[0], "{times:?}");
    Ok(())
}
