//! Tests of an application that has an `ocl` context (feature `ocl`) and multiplies buffers of its
//! own.
use crate::common::{Family, blocks, device, scalars};
use blockmul::{BlockShape, Cbc, Csc, Device, DeviceMatrix, Error, Result, foreign::OclMatrix, reference};
use ocl::{Buffer, Context, Event, Queue, core, flags::CommandQueueProperties};
use std::time::Duration;

/// A queue on the device of the other tests.
pub fn queue(properties: Option<CommandQueueProperties>) -> Queue {
    let index = device().info().index;
    let all: Vec<(ocl::Platform, ocl::Device)> = ocl::Platform::list()
        .into_iter()
        .flat_map(|p| ocl::Device::list_all(p).unwrap_or_default().into_iter().map(move |d| (p, d)))
        .collect();
    let (platform, device) = all[index];
    let context = Context::builder().platform(platform).devices(device).build().unwrap();
    Queue::new(&context, device, properties).unwrap()
}

fn buffer<T: ocl::OclPrm>(queue: &Queue, data: &[T]) -> Buffer<T> {
    Buffer::builder().queue(queue.clone()).len(data.len()).copy_host_slice(data).build().unwrap()
}

#[test]
fn its_own_buffers_its_own_queue_its_own_kernel_on_the_product() -> Result<()> {
    let queue = queue(None);
    let a = blocks::<f64>(Family::Uniform, 50, 50, 4, BlockShape::new(3, 3)?, 1);
    let want = reference::multiply(&a, &a)?;
    let col_ptr: Vec<u32> = a.pattern().col_ptr().iter().map(|&p| p as u32).collect();
    let (p, i, x) = (buffer(&queue, &col_ptr), buffer(&queue, a.pattern().row_idx()), buffer(&queue, a.values()));

    let device = Device::from_ocl(&queue)?;
    let (nnz, shape) = (a.pattern().nnz(), a.shape());
    let parts = OclMatrix { nrows: 50, ncols: 50, nnz, shape, stride: 9, col_ptr: &p, row_idx: &i, values: &x };
    let on_device: DeviceMatrix<Cbc<f64>> = unsafe { DeviceMatrix::from_ocl(&device, &parts)? };
    let c = blockmul::multiply(&on_device, &on_device)?;
    assert_eq!(c.download()?, want);

    // The application's kernel changes the product in place, after the product's event.
    let source = "kernel void twice(global double* values) { values[get_global_id(0)] *= 2; }";
    let program = ocl::Program::builder().src(source).devices(queue.device()).build(&queue.context()).unwrap();
    let twice = core::create_kernel(&program, "twice").unwrap();
    let [_, _, values] = unsafe { c.to_ocl() };
    core::set_kernel_arg(&twice, 0, core::ArgVal::mem(&values)).unwrap();
    let done = device.marker()?.to_ocl()?.unwrap();
    let size = [c.nnz() * 9, 1, 1];
    unsafe {
        core::enqueue_kernel(&queue, &twice, 1, None, &size, None, Some(&done), None::<&mut core::Event>).unwrap()
    };
    let doubled: Vec<f64> = want.values().iter().map(|v| 2.0 * v).collect();
    assert_eq!(c.download()?.values(), doubled);

    // Here the product is copied to buffers of the application.
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
    let (context, queue) = device.to_ocl();
    assert_eq!(context.devices().len(), 1);
    let on_device = device.upload(&blocks::<f32>(Family::Banded, 9, 9, 3, BlockShape::new(2, 2)?, 2))?;
    let mut first = vec![0f32; 4];
    let [_, _, values] = unsafe { on_device.to_ocl() };
    unsafe {
        core::enqueue_read_buffer(&queue, &values, true, 0, &mut first, None::<core::Event>, None::<&mut core::Event>)
            .unwrap();
    }
    assert_eq!(first, on_device.download()?.values()[..4]);
    Ok(())
}

#[test]
fn a_product_given_away_is_not_written_again() -> Result<()> {
    let device = device();
    let a = scalars::<f64>(Family::Uniform, 80, 80, 4, 3);
    let (on_device, want) = (device.upload(&a)?, reference::multiply(&a, &a)?);
    let [col_ptr, row_idx, values] = blockmul::multiply(&on_device, &on_device)?.into_ocl()?;
    drop((col_ptr, row_idx));
    let minus = device.upload(&Csc::new(a.pattern().clone(), a.values().iter().map(|v| -2.0 * v).collect())?)?;
    for _ in 0..3 {
        // The second product has the size of the first. If the buffers of the first product had
        // returned to a pool, the second product would overwrite them.
        blockmul::multiply(&on_device, &minus)?;
    }
    let mut got = vec![0.0; want.nnz()];
    let (_, queue) = device.to_ocl();
    unsafe {
        core::enqueue_read_buffer(&queue, &values, true, 0, &mut got, None::<core::Event>, None::<&mut core::Event>)
            .unwrap();
    }
    assert_eq!(got, want.values());
    Ok(())
}

#[test]
fn a_product_waits_for_the_events_of_ocl_commands() -> Result<()> {
    for properties in [None, Some(CommandQueueProperties::new().out_of_order())] {
        let queue = queue(properties);
        let a = scalars::<f32>(Family::Banded, 70, 70, 3, 4);
        let doubled = Csc::new(a.pattern().clone(), a.values().iter().map(|v| 2.0 * v).collect())?;
        let col_ptr: Vec<u32> = a.pattern().col_ptr().iter().map(|&p| p as u32).collect();
        let (p, i, x) = (buffer(&queue, &col_ptr), buffer(&queue, a.pattern().row_idx()), buffer(&queue, a.values()));
        let device = Device::from_ocl(&queue)?;
        let (nnz, shape) = (a.pattern().nnz(), BlockShape::SCALAR);
        let parts = OclMatrix { nrows: 70, ncols: 70, nnz, shape, stride: 1, col_ptr: &p, row_idx: &i, values: &x };
        let on_device: DeviceMatrix<Csc<f32>> = unsafe { DeviceMatrix::from_ocl(&device, &parts)? };
        blockmul::multiply(&on_device, &on_device)?.download()?; // kernels are compiled here
        assert!(matches!(device.wait_for_ocl(&[Event::empty()]), Err(Error::Argument(_))));
        let written = Event::user(&queue.context()).unwrap();
        device.wait_for_ocl(std::slice::from_ref(&written))?;
        let product = std::thread::scope(|scope| {
            let product = scope.spawn(|| blockmul::multiply(&on_device, &on_device)?.download());
            // A product that did not wait for the event would read the old values.
            std::thread::sleep(Duration::from_millis(30));
            let writer = Queue::new(&queue.context(), queue.device(), None).unwrap();
            x.write(doubled.values()).queue(&writer).enq().unwrap();
            written.set_complete().unwrap();
            product.join().unwrap()
        })?;
        assert_eq!(product, reference::multiply(&doubled, &doubled)?, "{properties:?}");
    }
    Ok(())
}

#[test]
fn an_empty_product_comes_back_as_it_went() -> Result<()> {
    let queue = queue(None);
    let device = Device::from_ocl(&queue)?;
    let empty = device.upload(&scalars::<f64>(Family::AllEmpty, 4, 4, 0, 5))?;
    let c = blockmul::multiply(&empty, &empty)?;
    let (p, i, x) = c.copy_to_ocl(&queue)?;
    let shape = BlockShape::SCALAR;
    let parts = OclMatrix { nrows: 4, ncols: 4, nnz: 0, shape, stride: 1, col_ptr: &p, row_idx: &i, values: &x };
    let back: DeviceMatrix<Csc<f64>> = unsafe { DeviceMatrix::from_ocl(&device, &parts)? };
    assert_eq!(back.download()?, c.download()?);
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
