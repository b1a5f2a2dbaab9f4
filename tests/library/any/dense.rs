//! Products with dense matrices whose element type is known only at run time.
use super::{algebra, formats, refused};
use crate::common::device;
use blockmul::{
    Planned, Result, Semiring,
    dense::{self, AnyDense, DenseShape, Layout, Side},
    element::{AnyValues, ElementType},
    matrix::AnyMatrix,
    plan::ApplyDense,
    product::Factor,
    reference::multiply_any_dense,
};

/// A dense matrix of small integers. Two unused elements follow each line of the matrix; a line is
/// a row or a column, according to `layout`.
fn numbers(element: ElementType, (rows, cols): (usize, usize), layout: Layout) -> Result<AnyDense> {
    let shape = DenseShape::new(rows, cols, layout);
    let shape = shape.with_leading(shape.leading + 2);
    let values = AnyValues::from((0..shape.len()).map(|i| (i * 7 % 5) as f64).collect::<Vec<_>>());
    Ok(AnyDense::new(shape, values)?.cast(element))
}

#[test]
fn products_with_dense_matrices_are_the_references() -> Result<()> {
    let device = device();
    for &element in ElementType::ALL {
        let semiring = algebra(element);
        for (number, a) in formats(element)?.into_iter().enumerate() {
            let what = format!("{:?} of {element}", a.kind());
            let (on_device, layout) = (device.upload(&a)?, Layout::ALL[number % 2]);
            let d = numbers(element, (60, 3), layout)?;
            let of_device = device.upload_any_dense(&d)?;
            let want = multiply_any_dense(semiring, Side::Left, Factor::from(&a).t(), &d)?;
            let product = dense::DenseProduct::of(on_device.t(), &d).semiring(semiring);
            let c = product.run_to_host()?.0;
            assert_eq!((&c, c.shape()), (&want, DenseShape::new(60, 3, layout)), "{what}");
            assert_eq!(product.memory_limit(48 << 10).run_to_host()?.0, want, "{what}, in bands");
            let product = dense::DenseProduct::of(on_device.t(), &of_device).semiring(semiring);
            assert_eq!(product.run()?.download()?, want, "{what}, on the device");
            let mut into = numbers(element, (60, 3), Layout::ByRows)?;
            product.run_into(&mut into)?;
            assert_eq!(into, want, "{what}, by rows");
            let packed = ApplyDense::of(&on_device, 3).transposed().semiring(semiring).pack(&on_device)?;
            let mut c = packed.output()?;
            packed.execute(&of_device, &mut c)?;
            assert_eq!(c.download()?, want, "{what}, packed");

            let d = numbers(element, (2, 60), layout)?;
            let want = multiply_any_dense(semiring, Side::Right, &a, &d)?;
            assert_eq!(dense::DenseProduct::by(&d, &on_device).semiring(semiring).run()?.download()?, want, "{what}");
            let plan = ApplyDense::of(&on_device, 2).from_right().semiring(semiring).plan()?;
            let (d, mut c) = (device.upload_any_dense(&d)?, plan.output()?);
            plan.execute((&on_device, &d), &mut c)?;
            assert_eq!(c.download()?, want, "{what}, planned");
            if element != ElementType::U8 {
                assert_eq!(blockmul::multiply(&d, &on_device)?.download()?, want, "{what}, multiplied");
            }
        }
    }
    Ok(())
}

#[test]
fn dense_matrices_become_types_and_back() -> Result<()> {
    let device = device();
    let d = numbers(ElementType::F32, (4, 3), Layout::ByRows)?;
    let typed = device.upload_dense(d.typed::<f32>()?)?;
    assert_eq!(typed.download()?, d.typed::<f32>()?.to_matrix());
    let any = typed.into_any();
    assert_eq!((any.element(), any.download()?), (ElementType::F32, d));
    let error = any.typed::<f64>().unwrap_err();
    assert_eq!(error.to_string(), "the dense matrix has elements of f32, not of f64");
    Ok(())
}

#[test]
fn dense_matrices_that_do_not_belong_are_refused() -> Result<()> {
    let device = device();
    let [a, rows, ..] = formats(ElementType::F64)?;
    let [d, narrow] = [ElementType::F64, ElementType::F32].map(|element| numbers(element, (60, 2), Layout::ByRows));
    let (d, narrow) = (d?, narrow?);
    let other = multiply_any_dense(Semiring::PlusTimes, Side::Left, &a, &narrow);
    refused(other.map(drop), "D has elements of f32, A has elements of f64");
    let (a, rows) = (device.upload(&a)?, device.upload(&rows)?);
    let refused_product =
        |product: dense::DenseProduct<'_, AnyMatrix>, message| refused(product.run_to_host().map(drop), message);
    refused_product(dense::DenseProduct::of(&a, &narrow), "D has elements of f32, A has elements of f64");
    let mut c = narrow.clone();
    let into = dense::DenseProduct::of(&a, &d).run_into(&mut c);
    refused(into.map(drop), "C has elements of f32, A has elements of f64");
    let [d, narrow] = [device.upload_any_dense(&d)?, device.upload_any_dense(&narrow)?];
    refused_product(dense::DenseProduct::of(&a, &narrow), "D has elements of f32, A has elements of f64");
    let plan = ApplyDense::of(&a, 2).plan()?;
    let mut c = plan.output()?;
    refused(plan.execute((&rows, &d), &mut c).map(drop), "A is a Csr<f64>, the plan is of Csc<f64>");
    refused(plan.execute((&a, &narrow), &mut c).map(drop), "D: elements of f32, those of the plan are f64");
    let mut narrow_c = device.upload_any_dense(&narrow.download()?)?;
    refused(plan.execute((&a, &d), &mut narrow_c).map(drop), "C: elements of f32, those of the plan are f64");
    refused(ApplyDense::of(&a, 2).pack(&rows).map(drop), "A is a Csr<f64>, the plan is of Csc<f64>");
    let bytes = device.upload(&formats(ElementType::U8)?[0])?;
    refused(ApplyDense::of(&bytes, 2).plan().map(drop), "elements of u8 support or-and only");
    Ok(())
}
