//! Refusal of operands that do not match.
use super::{
    groups::{grid, operands},
    *,
};

#[test]
fn what_does_not_belong_is_refused() {
    let text = |result: blockmul::Result<Marker>| result.unwrap_err().to_string();
    let j = device().upload(&jacobian(20, 10, shape(2, 3), Values::Real, 1)).unwrap();
    let plan = Product::gram(&j.pattern()).weighted(Weights::Rows(())).part(Part::Lower).plan::<Cbc<f64>>().unwrap();
    let mut h = plan.output().unwrap();
    let short = device().zero_vector(19).unwrap();
    assert!(matches!(
        plan.execute(Inputs::of(&j).weights(Weights::BlockRows(&short)), &mut h),
        Err(Error::Length { found: 19, expected: 20, .. })
    ));
    assert!(matches!(
        plan.execute(Inputs::of(&j).weights(Weights::Rows(&short)), &mut h),
        Err(Error::Length { found: 19, expected: 40, .. })
    ));
    // A block-diagonal matrix is accepted even if the plan did not make it. A matrix with blocks
    // off the diagonal is refused.
    let own = device().upload(&block_diagonal(20, 2, Values::Real, 1)).unwrap();
    plan.execute(Inputs::of(&j).weights(Weights::Information(&own)), &mut h).unwrap();
    let shifted =
        Cbc::from_triplets(20, 20, shape(2, 2), (0..20).map(|i| (i, (i + 1) % 20, DMatrix::<f64>::zeros(2, 2))))
            .unwrap();
    let on_device = device().upload(&shifted).unwrap();
    let message = text(plan.execute(Inputs::of(&j).weights(Weights::Information(&on_device)), &mut h));
    assert!(message.starts_with("W does not have the pattern of the plan"), "{message}");
    let host = j.download().unwrap();
    let message = reference::gram_weighted(&host, Weights::Information(&shifted), Part::Full).unwrap_err().to_string();
    assert!(message.contains("20 stored, not 20x20 blocks of 2x2 with one in each place of the diagonal"), "{message}");
    let other = device().upload(&jacobian(20, 10, shape(2, 3), Values::Real, 2)).unwrap();
    let message = text(plan.execute(Inputs::of(&other).weights(Weights::Information(&own)), &mut h));
    assert!(message.starts_with("J does not have the pattern of the plan"), "{message}");
    let apart = Device::open(device().info()).unwrap().zero_vector(20).unwrap();
    assert!(matches!(
        plan.execute(Inputs::of(&j).weights(Weights::BlockRows(&apart)), &mut h),
        Err(Error::DeviceMismatch { .. })
    ));
    // The patterns here belong to another kind of matrix than the plan's.
    assert!(matches!(
        Product::gram(&j.pattern()).weighted(Weights::Rows(())).part(Part::Full).plan::<Bsr<f64>>(),
        Err(Error::Argument(_))
    ));
    assert!(matches!(Product::gram(&j.pattern()).plan::<Csc<f64>>(), Err(Error::Argument(_))));
}

#[test]
fn groups_that_do_not_meet_are_refused() {
    let group = |blocks, side| Group { blocks, side };
    let m = jacobian(6, 4, shape(2, 3), Values::Real, 1);
    let message = |row, col| BlockGroups::new(vec![row], vec![col], vec![Some(m.clone())]).unwrap_err().to_string();
    let says = "group (0, 0) is 6x4 blocks of 2x3, its place in the grid is 6x5 blocks of 2x3";
    assert_eq!(message(group(6, 2), group(5, 3)), says);
    assert!(message(group(6, 2), group(4, 33)).contains("33"));
    assert!(matches!(
        BlockGroups::<Cbc<f64>>::new(vec![group(1, 1)], vec![group(1, 1)], vec![]),
        Err(Error::Length { .. })
    ));
    assert!(BlockGroups::<Cbc<f64>>::side_by_side([]).is_err());
    let (a, b) = operands(Values::Real);
    let (da, db) = (device().upload_groups(&a).unwrap(), device().upload_groups(&b).unwrap());
    let message = Product::of(&db, &da).run().unwrap_err().to_string();
    let says = "cannot multiply: A has blocks in groups of [8 of 6, 11 of 1, 4 of 5] columns, B in groups of [15 of 2, 9 of 6] rows";
    assert_eq!(message, says);
    assert_eq!(reference::multiply_groups(&b, &a).unwrap_err().to_string(), says);

    let plan = Product::of(&da, &db).plan().unwrap();
    let mut c = plan.output().unwrap();
    let text = |result: blockmul::Result<Marker>| result.unwrap_err().to_string();
    let says = "A does not have the pattern of the plan: groups of [12 of 9, 20 of 3, 7 of 2] by [8 of 6, 11 of 1, 4 of 5] in place of \
                [15 of 2, 9 of 6] by [12 of 9, 20 of 3, 7 of 2]";
    assert_eq!(text(plan.execute((&db, &db), &mut c)), says);
    // The first matrix has the same groups, but other cells. The second matrix has the same cells,
    // but other blocks.
    let cells = |m: &BlockGroups<Cbc<f64>>, gone: usize| {
        let mut cells = m.clone().into_cells();
        cells[gone] = None;
        BlockGroups::new(m.row_groups().to_vec(), m.col_groups().to_vec(), cells).unwrap()
    };
    let fewer = device().upload_groups(&cells(&a, 1)).unwrap();
    assert_eq!(text(plan.execute((&fewer, &db), &mut c)), "A has no group (0, 1), the plan has one");
    let other = grid(&[(15, 2), (9, 6)], &[(12, 9), (20, 3), (7, 2)], &[(1, 2)], Values::Real, 2);
    let other = device().upload_groups(&other).unwrap();
    let message = text(plan.execute((&other, &db), &mut c));
    assert!(message.starts_with("group (0, 0) of A does not have the pattern of the plan"), "{message}");
    // Matrices on a device are combined to groups there.
    let put = DeviceGroups::new(&device(), a.row_groups().to_vec(), a.col_groups().to_vec(), da.into_cells()).unwrap();
    plan.execute((&put, &db), &mut c).unwrap();
    let elsewhere = Device::open(device().info()).unwrap();
    let apart = DeviceGroups::new(&elsewhere, a.row_groups().to_vec(), a.col_groups().to_vec(), put.into_cells());
    assert!(matches!(apart, Err(Error::DeviceMismatch { .. })));
}
