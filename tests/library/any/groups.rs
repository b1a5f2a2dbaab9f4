//! Matrices of groups whose element type and format are known only at run time.
use super::{formats, refused};
use crate::common::device;
use blockmul::{
    BlockShape, Cbc, Csc, Part, Planned, Product, Result,
    element::{AnyValues, ElementType},
    generate::{self, Values},
    groups::{BlockGroups, DeviceGroups, Group},
    matrix::{AnyMatrix, MatrixKind},
    product::{GramParts, Inputs, Weights},
    reference,
};

/// A group of 2x2 blocks beside a group of 2x3 blocks, stored by columns and by rows. The values of
/// these groups are small integers.
fn groups(element: ElementType) -> Result<[BlockGroups<AnyMatrix>; 2]> {
    let of = |cols, seed| {
        generate::Uniform {
            rows: 20,
            cols: 9,
            per_column: 3,
            shape: BlockShape::new(2, cols)?,
            values: Values::Integer,
            seed,
        }
        .matrix()
    };
    let blocks: [Cbc<f64>; 2] = [of(2, 1)?, of(3, 2)?];
    let rows = blocks.clone().map(|cells| blockmul::Bsr::from_transpose(cells.transpose()));
    let [columns, rows] = [blocks.map(AnyMatrix::from), rows.map(AnyMatrix::from)];
    let of = |cells: [AnyMatrix; 2]| BlockGroups::side_by_side(cells.map(|cell| cell.cast(element)));
    Ok([of(columns)?, of(rows)?])
}

#[test]
fn grams_of_groups_are_the_references() -> Result<()> {
    let device = device();
    let parts = GramParts { diagonal: Part::Lower, between: Part::Upper };
    for element in ElementType::ALL.iter().copied().filter(|&element| element != ElementType::U8) {
        for j in groups(element)? {
            let on_device = device.upload_groups(&j)?;
            assert_eq!((on_device.element(), on_device.download()?), (element, j.clone()));
            let h = Product::gram(&on_device).part(parts).run_to_host()?.0;
            assert_eq!(h, reference::gram_groups(&j, parts)?, "{element}");
            let whole = Product::of(on_device.t(), &on_device).run()?.download()?;
            assert_eq!(whole, reference::multiply_groups(&j.transpose(), &j)?, "{element}");

            let numbers = AnyValues::from((0..20).map(|i| f64::from(i % 3)).collect::<Vec<_>>());
            let numbers = match element {
                ElementType::F64 => numbers,
                _ => Csc::from_triplets(20, 1, (0..20).map(|i| (i, 0, (i % 3) as f64)))
                    .map(|column| AnyMatrix::from(column).cast(element).into_parts().1)?,
            };
            let weights = device.upload_any_vector(&numbers)?;
            let weights = [Weights::BlockRows(&weights)];
            let plan = Product::gram(&on_device).weighted(&weights).plan()?;
            let mut h = plan.output()?;
            plan.execute(Inputs::of(&on_device).weights(&weights), &mut h)?;
            let want = reference::gram_any_groups_weighted(&j, &[Weights::BlockRows(&numbers)], Part::Full)?;
            assert_eq!(h.download()?, want, "{element}, weighted");
        }
    }
    Ok(())
}

#[test]
fn groups_become_types_and_back() -> Result<()> {
    let device = device();
    let [j, _] = groups(ElementType::F32)?;
    let typed: BlockGroups<Cbc<f32>> = j.clone().typed()?;
    assert_eq!(typed.clone().into_any(), j);
    let on_device = device.upload_groups(&typed)?.into_any();
    assert_eq!(on_device.download()?, j);
    assert_eq!(on_device.into_typed::<Cbc<f32>>()?.download()?, typed);
    let zeros = DeviceGroups::zeros_any(&device.upload_groups(&j)?.pattern(), MatrixKind::Cbc, ElementType::F32)?;
    assert_eq!(zeros.nnz(), j.nnz());
    let error = j.typed::<Cbc<f64>>().unwrap_err();
    assert_eq!(error.to_string(), "the matrix is a Cbc<f32>, not a Cbc<f64>");
    Ok(())
}

#[test]
fn scalars_stand_beside_blocks() -> Result<()> {
    let device = device();
    let (scalars, [_, _, blocks, _]) = (formats(ElementType::F64)?[0].clone(), formats(ElementType::F64)?);
    let j = BlockGroups::side_by_side([scalars, blocks.to_blocks(BlockShape::new(1, 2)?)?])?;
    let h = Product::gram(&device.upload_groups(&j)?).run()?.download()?;
    assert_eq!(h, reference::gram_groups(&j, Part::Full)?);
    assert_eq!(h.get(0, 0).map(AnyMatrix::kind), Some(MatrixKind::Cbc));
    Ok(())
}

#[test]
fn a_product_without_any_cell_has_the_type_of_its_factors() -> Result<()> {
    let device = device();
    let group = Group { blocks: 2, side: 1 };
    let one = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 1.0f32)])?);
    let grid = |cells: [Option<AnyMatrix>; 4]| BlockGroups::new(vec![group; 2], vec![group; 2], cells.into());
    let a = grid([Some(one), None, None, None])?;
    let b = grid([None, None, None, a.get(0, 0).cloned()])?;
    let c = Product::of(&device.upload_groups(&a)?, &device.upload_groups(&b)?).run()?.download()?;
    assert_eq!((c.element(), c.nnz(), &c), (ElementType::F32, 0, &reference::multiply_groups(&a, &b)?));
    let error = grid([None, None, None, None]).unwrap_err();
    assert!(error.to_string().contains("at least one matrix is required"), "{error}");
    Ok(())
}

#[test]
fn groups_that_do_not_belong_together_are_refused() -> Result<()> {
    let device = device();
    let ([j, by_rows], [narrow, _]) = (groups(ElementType::F64)?, groups(ElementType::F32)?);
    let cells = [j.get(0, 0), by_rows.get(0, 1)].map(|cell| cell.unwrap().clone());
    refused(BlockGroups::side_by_side(cells).map(drop), "group (0, 1) is a Bsr<f64>, group (0, 0) a Cbc<f64>");
    let cells = [j.get(0, 0), narrow.get(0, 1)].map(|cell| cell.unwrap().clone());
    refused(BlockGroups::side_by_side(cells).map(drop), "group (0, 1) is a Cbc<f32>, group (0, 0) a Cbc<f64>");
    refused(reference::multiply_groups(&j.transpose(), &narrow).map(drop), "A is a Cbc<f64>, B a Cbc<f32>");
    let numbers = AnyValues::F32(vec![1.0; 20]);
    let weighted = reference::gram_any_groups_weighted(&j, &[Weights::BlockRows(&numbers)], Part::Full);
    refused(weighted.map(drop), "weights of f32 for a matrix of f64");

    let [j, by_rows, narrow] = [&j, &by_rows, &narrow].map(|groups| device.upload_groups(groups));
    let (j, by_rows, narrow) = (j?, by_rows?, narrow?);
    refused(Product::of(j.t(), &narrow).run().map(drop), "A is a Cbc<f64>, B a Cbc<f32>");
    refused(Product::of(j.t(), &by_rows).plan().map(drop), "A is a Cbc<f64>, B a Bsr<f64>");
    let plan = Product::gram(&j).plan()?;
    let mut h = plan.output()?;
    refused(plan.execute(&narrow, &mut h).map(drop), "is a Cbc<f32>, the plan is of Cbc<f64>");
    let mut other = Product::gram(&narrow).plan()?.output()?;
    refused(plan.execute(&j, &mut other).map(drop), "C is a Cbc<f32>, the plan is of Cbc<f64>");
    let mut mixed = device.upload_groups(&j.download()?)?;
    *mixed.get_mut(0, 1).unwrap() = device.upload(&narrow.get(0, 1).unwrap().download()?)?;
    refused(plan.execute(&mixed, &mut h).map(drop), "group (0, 1) of J is a Cbc<f32>, the plan is of Cbc<f64>");
    let weights = device.upload_any_vector(&numbers)?;
    let weighted = Product::gram(&j).weighted(&[Weights::BlockRows(&weights)]).run();
    refused(weighted.map(drop), "the weights: elements of f32, those of the plan are f64");
    Ok(())
}
