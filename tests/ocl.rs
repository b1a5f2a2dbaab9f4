//! An application that owns an `ocl` context (feature `ocl`) multiplies its own buffers.
mod common;
use blockmul::{BlockShape, Cbc, Device, DeviceMatrix, OclMatrix, Result, reference};
use common::{Family, blocks, device};
use ocl::{Buffer, Context, Queue, core};

/// A queue on the device that the other tests run on.
fn queue() -> Queue {
    let index = device().info().index;
    let all: Vec<(ocl::Platform, ocl::Device)> = ocl::Platform::list()
        .into_iter()
        .flat_map(|p| ocl::Device::list_all(p).unwrap_or_default().into_iter().map(move |d| (p, d)))
        .collect();
    let (platform, device) = all[index];
    let context = Context::builder().platform(platform).devices(device).build().unwrap();
    Queue::new(&context, device, None).unwrap()
}

fn buffer<T: ocl::OclPrm>(queue: &Queue, data: &[T]) -> Buffer<T> {
    Buffer::builder().queue(queue.clone()).len(data.len()).copy_host_slice(data).build().unwrap()
}

#[test]
fn its_own_buffers_its_own_queue_its_own_kernel_on_the_product() -> Result<()> {
    let queue = queue();
    let a = blocks::<f64>(Family::Uniform, 50, 50, 4, BlockShape::new(3, 3)?, 1);
    let want = reference::multiply(&a, &a)?;
    let col_ptr: Vec<u32> = a.pattern().col_ptr().iter().map(|&p| p as u32).collect();
    let (p, i, x) = (buffer(&queue, &col_ptr), buffer(&queue, a.pattern().row_idx()), buffer(&queue, a.values()));

    let device = Device::from_ocl(&queue)?;
    let parts = OclMatrix { nrows: 50, ncols: 50, shape: a.shape(), col_ptr: &p, row_idx: &i, values: &x };
    let on_device: DeviceMatrix<Cbc<f64>> = unsafe { DeviceMatrix::from_ocl(&device, &parts)? };
    let c = blockmul::multiply(&on_device, &on_device)?;
    assert_eq!(c.download()?, want);

    // The product as an argument of the application's kernel, in place, behind the product's event.
    let source = "kernel void twice(global double* values) { values[get_global_id(0)] *= 2; }";
    let program = ocl::Program::builder().src(source).devices(queue.device()).build(&queue.context()).unwrap();
    let twice = core::create_kernel(&program, "twice").unwrap();
    let [_, _, values] = c.to_ocl();
    core::set_kernel_arg(&twice, 0, core::ArgVal::mem(&values)).unwrap();
    let done = device.marker()?.to_ocl()?;
    let size = [c.nnz() * 9, 1, 1];
    unsafe {
        core::enqueue_kernel(&queue, &twice, 1, None, &size, None, Some(&done), None::<&mut core::Event>).unwrap()
    };
    let doubled: Vec<f64> = want.values().iter().map(|v| 2.0 * v).collect();
    assert_eq!(c.download()?.values(), doubled);

    // And as buffers of its own.
    let (col_ptr, row_idx, values) = c.copy_to_ocl(&queue)?;
    let mut got = (vec![0; col_ptr.len()], vec![0; row_idx.len()], vec![0.0; values.len()]);
    col_ptr.read(&mut got.0).enq().unwrap();
    row_idx.read(&mut got.1).enq().unwrap();
    values.read(&mut got.2).enq().unwrap();
    assert_eq!(got.0.iter().map(|&p| u64::from(p)).collect::<Vec<_>>(), want.pattern().col_ptr());
    assert_eq!((got.1.as_slice(), got.2.as_slice()), (want.pattern().row_idx(), doubled.as_slice()));
    Ok(())
}

#[test]
fn a_device_of_blockmul_lends_its_handles() -> Result<()> {
    let device = device();
    let (context, queue) = device.to_ocl()?;
    let on_device = device.upload(&blocks::<f32>(Family::Banded, 9, 9, 3, BlockShape::new(2, 2)?, 2))?;
    let mut first = vec![0f32; 4];
    let [_, _, values] = on_device.to_ocl();
    unsafe {
        core::enqueue_read_buffer(&queue, &values, true, 0, &mut first, None::<core::Event>, None::<&mut core::Event>)
            .unwrap();
    }
    assert_eq!(first, on_device.download()?.values()[..4]);
    drop(context);
    Ok(())
}

#[cfg(feature = "gl")]
#[test]
fn without_a_shared_driver_gl_is_refused_clearly() {
    // No OpenGL context is current in a test.
    let error = Device::with_gl().unwrap_err();
    assert_eq!(error.kind(), blockmul::error::ErrorKind::Device);
    assert!(error.to_string().contains("OpenGL sharing"), "{error}");
}
