//! Vectors whose element type is known only at run time, and matrices that are made of an
//! application's arrays.
use super::{algebra, formats, refused};
use crate::common::device;
use blockmul::{
    Device, DeviceMatrix, Element, Error, Product, Result,
    element::{AnyValues, ElementType, Field},
    matrix::{AnyMatrix, MatrixKind},
    reference::multiply_over,
};
use half::f16;

fn numbers<T: Element>(by: usize) -> Vec<T> {
    (0..3000).map(|i| T::from_f64((i * by % 17) as f64 / 8.0 - 1.0)).collect()
}

/// Compares operations on vectors of a static type with operations on vectors whose type is known
/// only at run time.
fn compared<T: Field>(device: &Device) -> Result<()>
where
    AnyValues: From<Vec<T>>,
{
    let (x, y) = (numbers::<T>(5), numbers::<T>(11));
    let [any_x, any_y] = [&x, &y].map(|values| AnyValues::from(values.clone()));
    let (x, mut y) = (device.upload_vector(&x)?, device.upload_vector(&y)?);
    let (other_x, mut other_y) = (device.upload_any_vector(&any_x)?, device.upload_any_vector(&any_y)?);
    assert_eq!(x.dot(&y)?.to_bits(), other_x.dot(&other_y)?.to_bits());
    assert_eq!(x.norm()?.to_bits(), other_x.norm()?.to_bits());
    y.axpby(0.3, &x, -1.7)?;
    y.scale(0.1)?;
    y.axpy(2.5, &x)?;
    other_y.axpby(0.3, &other_x, -1.7)?;
    other_y.scale(0.1)?;
    other_y.axpy(2.5, &other_x)?;
    assert_eq!(AnyValues::from(y.download()?).bytes(), other_y.download()?.bytes());
    other_y.copy_from(&other_x)?;
    assert_eq!(other_y.download()?, any_x);
    other_y.write_any(&any_y)?;
    assert_eq!(other_y.download()?, any_y);
    Ok(())
}

#[test]
fn sums_and_products_of_vectors_have_the_bits_of_types() -> Result<()> {
    let device = device();
    compared::<f64>(&device)?;
    compared::<f32>(&device)?;
    compared::<f16>(&device)
}

#[test]
fn vectors_that_do_not_belong_together_are_refused() -> Result<()> {
    let device = device();
    let of = |element| device.upload_any_vector(&AnyValues::F64(vec![1.0, 2.0]).cast(element));
    let (mut x, mut n) = (of(ElementType::F64)?, of(ElementType::U32)?);
    refused(n.dot(&n).map(|_| ()), "a vector of u32: it must be of f64, f32 or f16");
    refused(n.scale(2.0), "a vector of u32");
    refused(n.axpy(2.0, &of(ElementType::U32)?), "a vector of u32");
    refused(x.dot(&of(ElementType::F32)?).map(|_| ()), "other has elements of f32, the vector of f64");
    refused(x.axpy(1.0, &n), "x has elements of u32, the vector of f64");
    refused(n.copy_from(&x), "x has elements of f64, the vector of u32");
    refused(x.write_any(&AnyValues::F32(vec![1.0, 2.0])), "the values are of f32, the vector has elements of f64");
    assert!(matches!(x.write_any(&AnyValues::F64(vec![1.0])), Err(Error::Length { found: 1, expected: 2, .. })));
    assert!(matches!(x.copy_from(&device.upload_any_vector(&AnyValues::F64(vec![1.0]))?), Err(Error::Length { .. })));
    n.copy_from(&of(ElementType::U32)?)?;
    assert_eq!((x.download()?, n.download()?), (AnyValues::F64(vec![1.0, 2.0]), AnyValues::U32(vec![1, 2])));
    Ok(())
}

#[test]
fn arrays_of_an_application_are_matrices_of_any_type() -> Result<()> {
    let device = device();
    for &element in ElementType::ALL {
        for a in formats(element)? {
            let on_device = device.upload(&a)?;
            let parts = on_device.raw_parts();
            let adopt = |kind| unsafe { DeviceMatrix::<AnyMatrix>::adopt_any(&device, &parts, kind, element) };
            let adopted = adopt(a.kind())?;
            let c = Product::of(&adopted, &on_device).semiring(algebra(element)).run()?;
            assert_eq!((adopted.kind(), c.download()?), (a.kind(), multiply_over(algebra(element), &a, &a)?));
            if a.kind().has_blocks() {
                refused(adopt(MatrixKind::Csc).map(|_| ()), "are not of this matrix type");
            }
        }
    }
    Ok(())
}
