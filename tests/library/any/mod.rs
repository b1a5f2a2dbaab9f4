//! Matrices whose element type and format are known only at run time. Results for such matrices
//! have the same bits as with static types. The tests also require that operands that do not match
//! are refused.
mod dense;
mod groups;
mod structure;
mod vectors;

use crate::common::device;
use blockmul::{
    BlockShape, Csc, DeviceMatrix, Error, Part, Planned, Product, Result, Semiring,
    element::{AnyValues, ElementType, Order},
    generate::{self, Values},
    matrix::{AnyMatrix, MatrixKind, Threshold},
    plan::{Apply, Format},
    product::{Inputs, Weights},
    reference,
    reference::verify::verify_over,
};

/// u8 supports only the semiring or-and.
fn algebra(element: ElementType) -> Semiring {
    if element == ElementType::U8 { Semiring::OrAnd } else { Semiring::PlusTimes }
}

fn refused(result: Result<()>, message: &str) {
    match result {
        Err(Error::Argument(text)) => assert!(text.contains(message), "{text}"),
        other => panic!("{other:?}"),
    }
}

/// A square matrix of small integers in every format, of blocks and of scalars.
fn formats(element: ElementType) -> Result<[AnyMatrix; 4]> {
    let shape = BlockShape::new(2, 2)?;
    let blocks =
        generate::Uniform { rows: 30, cols: 30, per_column: 3, shape, values: Values::Integer, ..Default::default() }
            .matrix()?;
    let rows = blockmul::Bsr::from_transpose(blocks.transpose());
    let [blocks, rows]: [AnyMatrix; 2] = [blocks.into(), rows.into()];
    Ok([blocks.to_scalars(), rows.to_scalars(), blocks, rows].map(|matrix| matrix.cast(element)))
}

#[test]
fn products_of_every_element_and_format_are_the_references() -> Result<()> {
    let device = device();
    for &element in ElementType::ALL {
        let semiring = algebra(element);
        for a in formats(element)? {
            let what = format!("{:?} of {element}", a.kind());
            let want = reference::multiply_over(semiring, &a, &a)?;
            let on_device = device.upload(&a)?;
            assert_eq!((on_device.kind(), on_device.element()), (a.kind(), element));
            let product = || Product::of(&on_device, &on_device).semiring(semiring);
            assert_eq!(product().run()?.download()?, want, "{what}");
            assert_eq!(product().memory_limit(64 << 10).run_to_host()?.0, want, "{what}, to the host");
            let mut nnz = 0;
            product().run_in_bands(|band| {
                nnz += band.nnz();
                Ok(())
            })?;
            assert_eq!(nnz, want.nnz(), "{what}, in bands");
            let plan = product().plan()?;
            let mut c = plan.output()?;
            plan.execute((&on_device, &on_device), &mut c)?;
            assert_eq!(c.download()?, want, "{what}, planned");
            let mask = on_device.pattern();
            let masked = product().mask(&mask).run()?.download()?;
            assert!(verify_over(semiring, (&a, &a), &masked, Some(&a))?.bits_equal, "{what}, masked");
            let estimate = Product::of(&a, &a).estimate(device.info())?;
            assert_eq!(estimate.products, reference::products(&a, &a), "{what}");
        }
    }
    Ok(())
}

#[test]
fn grams_weights_and_vectors_of_every_format_are_the_references() -> Result<()> {
    let device = device();
    for element in [ElementType::F64, ElementType::F16, ElementType::I32] {
        for j in formats(element)? {
            let what = format!("{:?} of {element}", j.kind());
            let on_device = device.upload(&j)?;
            let h = Product::gram(&on_device).part(Part::Lower);
            assert_eq!(h.run()?.download()?, reference::gram(&j, Part::Lower)?, "{what}");

            let of = |numbers: &[f64]| match element {
                ElementType::F64 => AnyValues::F64(numbers.to_vec()),
                ElementType::F16 => AnyValues::F16(numbers.iter().map(|&x| half::f16::from_f64(x)).collect()),
                _ => AnyValues::I32(numbers.iter().map(|&x| x as i32).collect()),
            };
            let rows = on_device.nrows() * on_device.shape().rows();
            let numbers: Vec<f64> = (0..rows).map(|i| (i % 3) as f64).collect();
            let (weights, x) = (device.upload_any_vector(&of(&numbers))?, of(&vec![1.0; rows]));
            let weighted = Product::gram(&on_device).weighted(Weights::Rows(&weights)).run()?;
            let t = Product::gram(&on_device).weighted(Weights::Rows(&weights)).plan()?;
            let mut again = t.output()?;
            t.execute(Inputs::of(&on_device).weights(Weights::Rows(&weights)), &mut again)?;
            assert_eq!(weighted.download()?, again.download()?, "{what}");

            let on_x = device.upload_any_vector(&x)?;
            for format in [Format::Auto, Format::Csc] {
                if format == Format::Csc && j.kind().has_blocks() {
                    continue;
                }
                let plan = Apply::of(&on_device).format(format).plan()?;
                let mut y = plan.output()?;
                plan.execute((&on_device, &on_x), &mut y)?;
                let packed = Apply::of(&on_device).pack(&on_device)?;
                let mut of_packed = packed.output()?;
                packed.execute(&on_x, &mut of_packed)?;
                let want = reference::multiply_any_vector(Semiring::PlusTimes, Order::Ascending, &j, &x)?;
                assert_eq!([y.download()?, of_packed.download()?], [want.clone(), want], "{what} in {format}");
            }
            let gram = Apply::of(&on_device).gram()?;
            let mut y = gram.output()?;
            gram.execute((&on_device, Weights::Rows(&weights), &on_x), &mut y)?;
            let (orders, on_host) = ([Order::Ascending; 2], of(&numbers));
            let of_host = Some(Weights::Rows(&on_host));
            let want = reference::multiply_any_vector_gram(Semiring::PlusTimes, orders, &j, of_host, &x)?;
            assert_eq!(y.download()?, want, "{what}, gram");
        }
    }
    Ok(())
}

#[test]
fn vectors_may_have_a_wider_element() -> Result<()> {
    let device = device();
    let [a, ..] = formats(ElementType::F32)?;
    let (on_device, x) = (device.upload(&a)?, AnyValues::F64(vec![0.1; 60]));
    let plan = Apply::of(&on_device).vectors_of(ElementType::F64)?.plan()?;
    let mut y = plan.output()?;
    plan.execute((&on_device, &device.upload_any_vector(&x)?), &mut y)?;
    let want = reference::multiply_any_vector(Semiring::PlusTimes, Order::Ascending, &a, &x)?;
    assert_eq!(y.download()?, want);
    let refused = Apply::of(&on_device).vectors_of(ElementType::F16);
    assert_eq!(refused.unwrap_err().to_string(), "a matrix of f32 is not multiplied with vectors of f16");
    Ok(())
}

#[test]
fn matrices_become_types_and_back() -> Result<()> {
    let device = device();
    let [a, ..] = formats(ElementType::F32)?;
    let on_device = device.upload(&a)?;
    let typed: &DeviceMatrix<Csc<f32>> = on_device.typed()?;
    let c = blockmul::multiply(typed, typed)?.into_any();
    assert_eq!(c.download()?, reference::multiply(&a, &a)?);
    let error = on_device.typed::<Csc<f64>>().unwrap_err();
    assert_eq!(error.to_string(), "the matrix is a Csc<f32>, not a Csc<f64>");
    let mut zeros = DeviceMatrix::zeros_any(&on_device.pattern(), a.kind(), ElementType::F32)?;
    zeros.write_any_values(a.values())?;
    assert_eq!(zeros.into_typed::<Csc<f32>>()?.download()?, a.clone().typed()?);
    let transpose = device.upload(&a)?.into_transpose();
    assert_eq!((transpose.kind(), transpose.download()?.kind()), (MatrixKind::Csr, MatrixKind::Csr));
    Ok(())
}

#[test]
fn scalars_times_blocks_are_blocks() -> Result<()> {
    let device = device();
    let [a, _, b, _] = formats(ElementType::F64)?;
    // A factor of scalars has blocks of 1x1, so the blocks of the other factor must have one row.
    let b = b.to_blocks(BlockShape::new(1, 2)?)?;
    let c = Product::of(&device.upload(&a)?, &device.upload(&b)?).run()?;
    assert_eq!((c.kind(), c.shape()), (MatrixKind::Cbc, BlockShape::new(1, 2)?));
    assert_eq!(c.download()?, reference::multiply(&a, &b)?);
    Ok(())
}

#[test]
fn what_does_not_belong_together_is_refused() -> Result<()> {
    let device = device();
    let [a, rows, ..] = formats(ElementType::F64)?;
    let narrow = device.upload(&a.cast(ElementType::F32))?;
    let (a, rows) = (device.upload(&a)?, device.upload(&rows)?);
    let times = |b| Product::of(&a, b).run().map(drop);
    refused(times(&narrow), "A is a Csc<f64>, B a Csc<f32>");
    refused(times(&rows), "A is a Csc<f64>, B a Csr<f64>");
    let plan = Product::of(&a, &a).plan()?;
    let mut c = plan.output()?;
    refused(plan.execute((&narrow, &a), &mut c).map(drop), "A is a Csc<f32>, the plan is of Csc<f64>");
    refused(plan.execute((&a, &rows), &mut c).map(drop), "B is a Csr<f64>");
    let mut of_floats = Product::of(&narrow, &narrow).plan()?.output()?;
    refused(plan.execute((&a, &a), &mut of_floats).map(drop), "C is a Csc<f32>");
    let weights = device.upload_any_vector(&AnyValues::F32(vec![1.0; 60]))?;
    let weighted = Product::gram(&a).weighted(Weights::Rows(&weights));
    refused(weighted.run().map(drop), "the weights: elements of f32, those of the plan are f64");
    let apply = Apply::of(&a).plan()?;
    let mut y = apply.output()?;
    refused(apply.execute((&a, &weights), &mut y).map(drop), "x: elements of f32, those of the plan are f64");
    let drop_integers = |matrix: &AnyMatrix| matrix.drop_below(Threshold::absolute(1.0)).map(drop);
    refused(drop_integers(&AnyMatrix::from(Csc::from_triplets(1, 1, [(0, 0, 1u32)])?)), "of floats, not of u32");
    let integers = device.upload(&formats(ElementType::I32)?[0])?;
    refused(Product::of(&integers, &integers).drop_below(1.0).run().map(drop), "entries are dropped by");
    let bytes = device.upload(&formats(ElementType::U8)?[0])?;
    refused(Product::of(&bytes, &bytes).run().map(drop), "elements of u8 support or-and only");
    refused(Product::of(&a, &a).alignment(32).run().map(drop), "an alignment is for blocks");
    Ok(())
}
