//! Tests of handles that an application retains longer than their matrix or vector lives.
use super::App;
use crate::common::{Family, scalars};
use blockmul::{
    Csc, Device, DeviceMatrix, DeviceVector, Error, Planned, Product, Result,
    element::{AnyValues, ElementType},
    foreign::RawMemory,
    reference,
};
use opencl3::memory::{Buffer, ClMem, retain_mem_object};

/// Retains a handle as an application does. The buffer releases it.
fn retained<T>(raw: RawMemory) -> Buffer<T> {
    unsafe { retain_mem_object(raw) }.unwrap();
    Buffer::new(raw)
}

fn read<T: Copy + Default>(app: &App, buffer: &Buffer<T>, len: usize) -> Vec<T> {
    let mut values = vec![T::default(); len];
    unsafe { app.queue.enqueue_read_buffer(buffer, 1, 0, &mut values, &[]) }.unwrap();
    values
}

/// Products that take memory of many sizes, and write other values there.
fn further_products(device: &Device) -> Result<()> {
    for seed in 0..4 {
        let a = device.upload(&scalars::<f64>(Family::Uniform, 60, 60, 4, 20 + seed))?;
        blockmul::multiply(&a, &a)?.download()?;
        let x = device.upload_vector(&[-1.0; 60])?;
        x.download()?;
    }
    Ok(())
}

#[test]
fn retained_arrays_of_a_product_keep_their_contents() -> Result<()> {
    let app = App::new(0);
    let device = app.adopt()?;
    let a = scalars::<f64>(Family::Uniform, 60, 60, 4, 3);
    let want = reference::multiply(&a, &a)?;
    let operand = device.upload(&a)?;
    let plan = Product::of(&operand, &operand).plan()?;
    let mut c = plan.output()?;
    plan.execute((&operand, &operand), &mut c)?;
    device.marker()?.wait()?;
    let kept = device.kept_bytes();
    let parts = c.raw_parts();
    let (offsets, rows): (Buffer<u32>, Buffer<u32>) = (retained(parts.col_ptr), retained(parts.row_idx));
    let values: Buffer<f64> = retained(parts.values);
    // The plan owns the pattern too, so only the values are released here.
    drop(c);
    assert_eq!(device.kept_bytes(), kept, "the values do not return to the pool");
    assert_eq!((values.reference_count().unwrap(), offsets.reference_count().unwrap()), (1, 2));
    further_products(&device)?;
    drop(plan);
    assert_eq!([&offsets, &rows].map(|buffer| buffer.reference_count().unwrap()), [1, 1]);
    further_products(&device)?;
    let want_offsets: Vec<u32> = want.pattern().col_ptr().iter().map(|&offset| offset as u32).collect();
    assert_eq!(read(&app, &offsets, want_offsets.len()), want_offsets);
    assert_eq!(read(&app, &rows, want.nnz()), want.pattern().row_idx());
    assert_eq!(read(&app, &values, want.nnz()), want.values());
    Ok(())
}

#[test]
fn only_memory_that_was_handed_out_is_withheld_from_the_pool() -> Result<()> {
    let device = Device::open(crate::common::device().info())?;
    let a = scalars::<f64>(Family::Uniform, 60, 60, 4, 3);
    let bytes = device.upload(&a)?.device_bytes();
    assert_eq!(device.kept_bytes(), bytes);
    let matrix = device.upload(&a)?;
    assert_eq!((device.kept_bytes(), device.counters().buffers_created), (0, 3));
    matrix.raw_parts();
    drop(matrix);
    assert_eq!(device.kept_bytes(), 0);
    drop(device.upload(&a)?);
    assert_eq!((device.kept_bytes(), device.counters().buffers_created), (bytes, 6));
    // Handles of a transferred matrix belong to the caller. The plan's pattern stays reusable.
    let matrix = device.upload(&a)?;
    let plan = Product::of(&matrix, &matrix).plan()?;
    let of_pattern = plan.pattern().device_bytes();
    let parts = plan.output()?.into_raw_parts()?;
    for raw in [parts.col_ptr, parts.row_idx, parts.values] {
        unsafe { opencl3::memory::release_mem_object(raw) }.unwrap();
    }
    device.trim();
    drop(plan);
    assert!(device.kept_bytes() >= of_pattern);
    Ok(())
}

#[test]
fn retained_vectors_keep_their_contents() -> Result<()> {
    let app = App::new(0);
    let device = app.adopt()?;
    let x = device.upload_vector(&[1.0, 2.0, 3.0])?;
    let buffer: Buffer<f64> = retained(x.raw());
    drop(x);
    assert_eq!(buffer.reference_count().unwrap(), 1);
    further_products(&device)?;
    assert_eq!(read(&app, &buffer, 3), [1.0, 2.0, 3.0]);
    Ok(())
}

#[test]
fn vectors_are_adopted_in_place() -> Result<()> {
    let app = App::new(0);
    let device = app.adopt()?;
    let buffer = app.buffer(&[1.0, 2.0, 3.0, 4.0]);
    // SAFETY: the handle is that of a live buffer, which is longer than the vector.
    let mut x: DeviceVector<f64> = unsafe { DeviceVector::adopt(&device, 3, buffer.get())? };
    assert_eq!((x.len(), x.download()?), (3, vec![1.0, 2.0, 3.0]));
    x.write(&[5.0, 6.0, 7.0])?;
    assert_eq!(read(&app, &buffer, 4), [5.0, 6.0, 7.0, 4.0]);
    let adopt = |element, len, raw| unsafe { DeviceVector::adopt_any(&device, element, len, raw) };
    let any = adopt(ElementType::F64, 4, buffer.get())?;
    assert_eq!((any.device_bytes(), any.download()?), (32, AnyValues::F64(vec![5.0, 6.0, 7.0, 4.0])));
    assert_eq!(adopt(ElementType::F32, 8, buffer.get())?.len(), 8);
    assert!(matches!(adopt(ElementType::F64, 5, buffer.get()), Err(Error::Length { found: 4, expected: 5, .. })));
    assert!(adopt(ElementType::F64, 0, std::ptr::null_mut())?.is_empty());
    let other = crate::common::device();
    let of_another_context = unsafe { DeviceVector::<f64>::adopt(&other, 4, buffer.get()) };
    assert!(matches!(of_another_context, Err(Error::Argument(_))));
    Ok(())
}

#[test]
fn another_queue_of_the_devices_context_reads_its_results() -> Result<()> {
    let device = Device::open(crate::common::device().info())?;
    let handles = device.raw_handles();
    let adopted = unsafe { Device::adopt_queue(handles.queue)? };
    assert_eq!(adopted.raw_handles(), handles);
    let a = scalars::<f64>(Family::Uniform, 60, 60, 4, 3);
    let c = blockmul::multiply(&device.upload(&a)?, &device.upload(&a)?)?;
    let parts = c.raw_parts();
    let marker = device.marker()?;
    // SAFETY: the handles are those of a live matrix, and the marker lives during the call.
    let there: DeviceMatrix<Csc<f64>> = unsafe {
        adopted.wait_for(&[marker.raw()?.expect("commands were enqueued")])?;
        DeviceMatrix::adopt(&adopted, &parts)?
    };
    assert_eq!(there.download()?, reference::multiply(&a, &a)?);
    Ok(())
}
