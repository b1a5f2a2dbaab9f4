//! Tests of an application's own OpenCL handles, given by their raw values.
use crate::common::{Family, blocks, device, scalars};
use blockmul::dense::{DenseShape, DenseView, DeviceDense, Layout, Side};
use blockmul::{
    BlockShape, Bsr, Cbc, Csc, Device, DeviceMatrix, Error, Matrix, Planned, Product, Result,
    error::PatternError,
    foreign::{Marker, RawMatrix},
    plan::{Accum, ApplyDense},
    reference,
};
use opencl3::{
    command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, CommandQueue},
    context::Context,
    device::{CL_DEVICE_PARTITION_BY_COUNTS, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, get_all_devices},
    event::{CL_COMPLETE, create_user_event, get_event_info, set_user_event_status},
    memory::{Buffer, CL_MEM_READ_WRITE, ClMem},
};
use std::{ptr, time::Duration};

/// The queues that an application may have: a plain one, one that records times, one that may
/// reorder.
const QUEUES: [u64; 3] =
    [0, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE];

/// An application with its own context and queue, which makes buffers.
pub struct App {
    queue: CommandQueue,
    context: Context,
}

impl App {
    pub fn new(properties: u64) -> Self {
        // The device of the other tests, found by its place in the list. It is opened first: two
        // threads must not start PoCL at once.
        let index = device().info().index;
        let ids: Vec<_> = opencl3::platform::get_platforms()
            .unwrap()
            .iter()
            .flat_map(|p| p.get_devices(!0).unwrap_or_default())
            .collect();
        assert_eq!(ids.len(), get_all_devices(!0).unwrap().len());
        let id = opencl3::device::Device::new(ids[index]);
        let context = Context::from_device(&id).unwrap();
        Self { queue: Self::on(&context, properties), context }
    }

    fn on(context: &Context, properties: u64) -> CommandQueue {
        #[allow(deprecated)]
        unsafe { CommandQueue::create(context, context.default_device(), properties) }.unwrap()
    }

    pub fn adopt(&self) -> Result<Device> {
        unsafe { Device::adopt(self.context.get(), self.context.default_device(), self.queue.get()) }
    }

    fn buffer<T>(&self, data: &[T]) -> Buffer<T> {
        let mut buffer =
            unsafe { Buffer::create(&self.context, CL_MEM_READ_WRITE, data.len().max(1), ptr::null_mut()) }.unwrap();
        if !data.is_empty() {
            unsafe { self.queue.enqueue_write_buffer(&mut buffer, 1, 0, data, &[]) }.unwrap();
        }
        buffer
    }

    pub fn buffers<M: Matrix>(&self, matrix: &M) -> (Buffer<u32>, Buffer<u32>, Buffer<M::Element>, RawMatrix) {
        let cbc = matrix.as_cbc();
        let col_ptr: Vec<u32> = cbc.pattern.col_ptr().iter().map(|&p| p as u32).collect();
        let (p, i, x) = (self.buffer(&col_ptr), self.buffer(cbc.pattern.row_idx()), self.buffer(cbc.values));
        let raw = RawMatrix {
            nrows: cbc.pattern.nrows(),
            ncols: cbc.pattern.ncols(),
            nnz: cbc.pattern.nnz(),
            shape: cbc.shape,
            stride: cbc.stride,
            col_ptr: p.get(),
            row_idx: i.get(),
            values: x.get(),
        };
        (p, i, x, raw)
    }
}

#[test]
fn buffers_of_an_application_are_multiplied_in_place_on_any_queue() -> Result<()> {
    let a = scalars::<f64>(Family::PowerLawColumns, 200, 200, 5, 1);
    let b = blocks::<f64>(Family::Uniform, 40, 40, 4, BlockShape::new(3, 3)?, 2);
    for properties in QUEUES {
        let app = App::new(properties);
        let device = app.adopt()?;
        let (scalar, block) = (app.buffers(&a), app.buffers(&b));
        let da: DeviceMatrix<Csc<f64>> = unsafe { DeviceMatrix::adopt(&device, &scalar.3)? };
        let db: DeviceMatrix<Cbc<f64>> = unsafe { DeviceMatrix::adopt(&device, &block.3)? };
        let (ca, report) = Product::of(&da, &da).run_with_report()?;
        assert_eq!(ca.download()?, reference::multiply(&a, &a)?, "queue properties {properties}");
        assert_eq!(blockmul::multiply(&db, &db)?.download()?, reference::multiply(&b, &b)?);
        let timed = report.stages.iter().all(|stage| stage.ms.is_some());
        assert_eq!(timed, properties & CL_QUEUE_PROFILING_ENABLE != 0, "{report:?}");
    }
    Ok(())
}

#[test]
fn dense_matrices_over_an_application_s_buffers_are_multiplied_in_place() -> Result<()> {
    let a = scalars::<f64>(Family::Banded, 50, 40, 4, 1);
    let app = App::new(0);
    let device = app.adopt()?;
    // By rows, two elements between rows; C by columns in a buffer that is longer.
    let (d_shape, c_shape) =
        (DenseShape::new(40, 3, Layout::ByRows).with_leading(5), DenseShape::new(50, 3, Layout::ByColumns));
    let values: Vec<f64> = (0..d_shape.len()).map(|i| i as f64).collect();
    let (d, c) = (app.buffer(&values), app.buffer(&[7.0f64; 160]));
    let (on_device, mut into) =
        unsafe { (DeviceDense::adopt(&device, d_shape, d.get())?, DeviceDense::adopt(&device, c_shape, c.get())?) };
    let matrix = device.upload(&a)?;
    ApplyDense::new(&matrix.pattern(), 3)?.execute((&matrix, &on_device), &mut into)?;
    let mut want = nalgebra::DMatrix::zeros(50, 3);
    let view = DenseView::new(d_shape, &values)?;
    reference::multiply_dense(Side::Left, false, (1.0, &a, view), (0.0, (&mut want).into()))?;
    assert_eq!(into.download()?, want);
    device.marker()?.wait()?;
    let mut behind = vec![0.0; 160];
    unsafe { app.queue.enqueue_read_buffer(&c, 1, 0, &mut behind, &[]) }.unwrap();
    assert_eq!((&behind[..150], &behind[150..]), (want.as_slice(), &[7.0; 10][..]));
    assert!(unsafe { DeviceDense::<f64>::adopt(&device, c_shape.with_leading(60), c.get()) }.is_err(), "too short");
    assert!(unsafe { DeviceDense::<f64>::adopt(&self::device(), c_shape, c.get()) }.is_err(), "another context");
    Ok(())
}

#[test]
fn a_product_is_handed_out_and_outlives_the_device() -> Result<()> {
    let app = App::new(0);
    let a = scalars::<f64>(Family::Uniform, 60, 60, 4, 3);
    let want = reference::multiply(&a, &a)?;
    let device = app.adopt()?;
    let c = blockmul::multiply(&device.upload(&a)?, &device.upload(&a)?)?;
    device.marker()?.wait()?;
    let raw = c.into_raw_parts().unwrap();
    drop(device);
    let mut values = vec![0.0; raw.nnz];
    unsafe {
        app.queue.enqueue_read_buffer(&Buffer::new(raw.values), 1, 0, &mut values, &[]).unwrap();
        opencl3::memory::release_mem_object(raw.col_ptr).unwrap();
        opencl3::memory::release_mem_object(raw.row_idx).unwrap();
    }
    assert_eq!((raw.nnz, values), (want.nnz(), want.values().to_vec()));
    Ok(())
}

#[test]
fn handles_are_retained_while_in_use_and_released_after() -> Result<()> {
    let app = App::new(0);
    let a = scalars::<f64>(Family::Uniform, 30, 30, 3, 4);
    let (p, i, x, raw) = app.buffers(&a);
    let counts = || {
        let buffers = [p.reference_count().unwrap(), i.reference_count().unwrap(), x.reference_count().unwrap()];
        (app.queue.reference_count().unwrap(), app.context.reference_count().unwrap(), buffers)
    };
    let round = || -> Result<()> {
        let fresh = counts();
        let (device, before) = (app.adopt()?, counts());
        assert!(before.0 > fresh.0 && before.1 > fresh.1, "the queue and the context are retained");
        let da: DeviceMatrix<Csc<f64>> = unsafe { DeviceMatrix::adopt(&device, &raw)? };
        assert!(counts().2.iter().zip(before.2).all(|(&now, before)| now == before + 1));
        drop(device);
        assert_eq!(
            blockmul::multiply(&da, &da)?.download()?,
            reference::multiply(&a, &a)?,
            "the matrix keeps its device"
        );
        Ok(())
    };
    // A runtime may hold a queue for the events of its last commands. So rounds are compared, once
    // its threads have released the queue.
    let settled = |want: Option<(u32, u32, [u32; 3])>| {
        app.queue.finish().unwrap();
        let patience = std::time::Instant::now();
        while want.is_none_or(|want| counts() != want) && patience.elapsed().as_secs_f64() < 0.5 {
            std::thread::yield_now();
        }
        counts()
    };
    round()?;
    let after_one = settled(None);
    for _ in 0..3 {
        round()?;
    }
    assert_eq!(settled(Some(after_one)), after_one);
    assert_eq!(after_one.2, [1, 1, 1]);
    Ok(())
}

#[test]
fn events_order_the_product_among_the_commands_of_another_queue() -> Result<()> {
    let app = App::new(0);
    let device = app.adopt()?;
    let a = scalars::<f64>(Family::Uniform, 100, 100, 4, 5);
    let (_p, _i, mut x, raw) = app.buffers(&a);
    let da: DeviceMatrix<Csc<f64>> = unsafe { DeviceMatrix::adopt(&device, &raw)? };
    let other = App::on(&app.context, 0);
    for round in 1..5 {
        let values: Vec<f64> = a.values().iter().map(|v| v * f64::from(round)).collect();
        let written = unsafe { other.enqueue_write_buffer(&mut x, 0, 0, &values, &[]) }.unwrap();
        other.flush().unwrap();
        unsafe { device.wait_for(&[written.get()])? };
        let c = blockmul::multiply(&da, &da)?;
        let marker = device.marker()?;
        let mut got = vec![0.0; c.nnz()];
        // The next round's write waits for this read, which waits for the product.
        unsafe {
            let values = std::mem::ManuallyDrop::new(Buffer::<f64>::new(c.raw_parts().values));
            other.enqueue_read_buffer(&values, 1, 0, &mut got, &[marker.raw().unwrap().unwrap()]).unwrap();
        }
        let scaled = Csc::new(a.pattern().clone(), values)?;
        assert_eq!(got, reference::multiply(&scaled, &scaled)?.values());
    }
    Ok(())
}

#[test]
fn an_execution_begins_after_markers_and_gives_one() -> Result<()> {
    let a = scalars::<f64>(Family::Uniform, 60, 60, 4, 9);
    for properties in QUEUES {
        let app = App::new(properties);
        let device = app.adopt()?;
        let da = device.upload(&a)?;
        let plan = Product::of(&da, &da).plan()?;
        let mut c = plan.output()?;
        plan.execute((&da, &da), &mut c)?.wait()?; // everything is compiled
        let event = create_user_event(app.context.get()).unwrap();
        let after = unsafe { Marker::from_raw(event)? };
        let marker = plan.execute((&da, &da), Accum::into(&mut c).alpha(2.0).after([&after]))?;
        let done = |marker: &Marker| -> Result<bool> {
            let event = marker.raw()?.expect("something was enqueued");
            let status = get_event_info(event, opencl3::event::CL_EVENT_COMMAND_EXECUTION_STATUS).unwrap();
            Ok(i32::from(status) == CL_COMPLETE)
        };
        // An execution that does not wait is long done by now.
        std::thread::sleep(Duration::from_millis(30));
        assert!(!done(&marker)?, "queue properties {properties}");
        set_user_event_status(event, CL_COMPLETE).unwrap();
        marker.wait()?;
        assert!(done(&marker)? && done(&after)?);
        let twice = |matrix: &Csc<f64>| matrix.values().iter().map(|x| 2.0 * x).collect::<Vec<_>>();
        assert_eq!(c.download()?.values(), twice(&reference::multiply(&a, &a)?));
        // The device's own markers are already in the order of its queue.
        plan.execute((&da, &da), Accum::into(&mut c).after([&marker, &after]))?.wait()?;
        assert_eq!(c.download()?, reference::multiply(&a, &a)?);
        unsafe { opencl3::event::release_event(event) }.unwrap();
        // A product without entries enqueues nothing.
        let empty = device.upload(&Csc::<f64>::from_triplets(2, 2, [])?)?;
        let plan = Product::of(&empty, &empty).plan()?;
        let nothing = plan.execute((&empty, &empty), &mut plan.output()?)?;
        assert!(nothing.raw()?.is_none());
        nothing.wait()?;
    }
    Ok(())
}

#[test]
fn a_product_waits_for_the_event_behind_which_its_operand_is_written() -> Result<()> {
    let a = scalars::<f64>(Family::Uniform, 100, 100, 4, 7);
    let tripled = Csc::new(a.pattern().clone(), a.values().iter().map(|v| 3.0 * v).collect())?;
    for properties in QUEUES {
        let app = App::new(properties);
        let device = app.adopt()?;
        let (_p, _i, mut x, raw) = app.buffers(&a);
        let da: DeviceMatrix<Csc<f64>> = unsafe { DeviceMatrix::adopt(&device, &raw)? };
        blockmul::multiply(&da, &da)?.download()?; // everything is compiled
        let writer = App::on(&app.context, 0);
        let written = create_user_event(app.context.get()).unwrap();
        unsafe { device.wait_for(&[written])? };
        let marker = device.marker()?;
        std::thread::scope(|scope| {
            let product = scope.spawn(|| blockmul::multiply(&da, &da)?.download());
            // A product that does not wait is long done by now.
            std::thread::sleep(Duration::from_millis(30));
            let status: i32 =
                get_event_info(marker.raw().unwrap().unwrap(), opencl3::event::CL_EVENT_COMMAND_EXECUTION_STATUS)
                    .unwrap()
                    .into();
            let waiting = (status > CL_COMPLETE, !product.is_finished());
            unsafe { writer.enqueue_write_buffer(&mut x, 1, 0, tripled.values(), &[]) }.unwrap();
            set_user_event_status(written, CL_COMPLETE).unwrap();
            let product = product.join().unwrap()?;
            assert_eq!(waiting, (true, true), "marker, product; queue properties {properties}");
            assert_eq!(product, reference::multiply(&tripled, &tripled)?, "queue properties {properties}");
            marker.wait()
        })?;
        unsafe { opencl3::event::release_event(written) }.unwrap();
    }
    Ok(())
}

#[test]
fn row_major_rectangular_and_padded_blocks_are_adopted_as_they_lie() -> Result<()> {
    let app = App::new(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    let device = app.adopt()?;
    // Row-major: the arrays and the shape in `RawMatrix` are those of the transpose.
    let (wide, tall) = (BlockShape::new(2, 3)?, BlockShape::new(3, 4)?);
    let a = Bsr::<f32>::from_transpose(blocks(Family::Arrow, 30, 20, 3, wide.transpose(), 8));
    let b = Bsr::<f32>::from_transpose(blocks(Family::Banded, 25, 30, 3, tall.transpose(), 9));
    let (a_buffers, b_buffers) = (app.buffers(&a), app.buffers(&b));
    let (da, db): (DeviceMatrix<Bsr<f32>>, DeviceMatrix<Bsr<f32>>) =
        unsafe { (DeviceMatrix::adopt(&device, &a_buffers.3)?, DeviceMatrix::adopt(&device, &b_buffers.3)?) };
    assert_eq!((da.nrows(), da.ncols(), da.shape()), (20, 30, wide));
    let c = blockmul::multiply(&da, &db)?;
    assert_eq!(c.raw_parts().shape, BlockShape::new(4, 2)?);
    assert_eq!(c.download()?, reference::multiply(&a, &b)?);

    // Blocks that start on 32-byte boundaries: 9 elements, 12 apart. The product is adopted and
    // multiplied again in place.
    let d = blocks::<f64>(Family::Uniform, 30, 30, 3, BlockShape::new(3, 3)?, 10).with_alignment(32)?;
    let d_buffers = app.buffers(&d);
    assert_eq!(d_buffers.3.stride, 12);
    let dd: DeviceMatrix<Cbc<f64>> = unsafe { DeviceMatrix::adopt(&device, &d_buffers.3)? };
    let square = Product::of(&dd, &dd).alignment(32).run()?;
    let lent: DeviceMatrix<Cbc<f64>> = unsafe { DeviceMatrix::adopt(&device, &square.raw_parts())? };
    assert_eq!(square.raw_parts().stride, 12);
    let want = reference::multiply(&reference::multiply(&d, &d)?, &d)?;
    assert_eq!(blockmul::multiply(&lent, &dd)?.download()?, want);
    Ok(())
}

#[test]
fn an_empty_matrix_needs_no_buffers_for_its_entries() -> Result<()> {
    let app = App::new(0);
    let device = app.adopt()?;
    let offsets = app.buffer(&[0u32; 4]);
    let shape = BlockShape::SCALAR;
    let none = ptr::null_mut();
    let (row_idx, values) = (none, none);
    let raw = RawMatrix { nrows: 3, ncols: 3, nnz: 0, shape, stride: 1, col_ptr: offsets.get(), row_idx, values };
    let empty: DeviceMatrix<Csc<f64>> = unsafe { DeviceMatrix::adopt(&device, &raw)? };
    assert_eq!(blockmul::multiply(&empty, &empty)?.nnz(), 0);
    let one = RawMatrix { nnz: 1, ..raw };
    assert!(matches!(unsafe { DeviceMatrix::<Csc<f64>>::adopt(&device, &one) }, Err(Error::OpenCl { .. })));
    Ok(())
}

#[test]
fn broken_arrays_are_refused_by_the_device_with_column_and_entry() -> Result<()> {
    let app = App::new(0);
    let device = app.adopt()?;
    let refused = |nrows: usize, col_ptr: &[u32], row_idx: &[u32]| {
        let (p, i, x) = (app.buffer(col_ptr), app.buffer(row_idx), app.buffer(&vec![1.0f64; row_idx.len()]));
        let shape = BlockShape::SCALAR;
        let (ncols, nnz) = (col_ptr.len() - 1, row_idx.len());
        let raw =
            RawMatrix { nrows, ncols, nnz, shape, stride: 1, col_ptr: p.get(), row_idx: i.get(), values: x.get() };
        match unsafe { DeviceMatrix::<Csc<f64>>::adopt(&device, &raw) } {
            Err(Error::Pattern(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(2, &[1, 1], &[0]), PatternError::ColPtrStart { found: 1 });
    assert_eq!(refused(2, &[0, 2, 1], &[0]), PatternError::ColPtrFalls { column: 1, start: 2, end: 1 });
    assert_eq!(
        refused(2, &[0, 4_000_000_000, 1], &[0]),
        PatternError::ColPtrFalls { column: 1, start: 4_000_000_000, end: 1 }
    );
    assert_eq!(refused(2, &[0, 3], &[0, 1]), PatternError::ColPtrEnd { found: 3, nnz: 2 });
    assert_eq!(
        refused(2, &[0, 1, 3], &[1, 0, 2]),
        PatternError::RowOutOfRange { column: 1, entry: 2, row: 2, nrows: 2 }
    );
    assert_eq!(
        refused(9, &[0, 1, 3, 5], &[1, 1, 1, 4, 4]),
        PatternError::RowOrder { column: 1, entry: 2, previous: 1, row: 1 }
    );
    assert_eq!(refused(9, &[5], &[]), PatternError::ColPtrStart { found: 5 });
    Ok(())
}

#[test]
fn what_does_not_belong_together_is_refused() -> Result<()> {
    let (app, stranger) = (App::new(0), App::new(0));
    let mixed = unsafe { Device::adopt(app.context.get(), app.context.default_device(), stranger.queue.get()) };
    assert!(mixed.unwrap_err().to_string().contains("another context"));
    // Devices outside the context: a null handle and, if the driver divides devices, a part of the
    // context's own device.
    let adopt = |device| unsafe { Device::adopt(app.context.get(), device, app.queue.get()) };
    let whole = opencl3::device::Device::new(app.context.default_device());
    let by_counts = [CL_DEVICE_PARTITION_BY_COUNTS, 1, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0];
    let parts = whole.create_sub_devices(&by_counts).unwrap_or_default();
    for outside in parts.iter().map(|part| part.id()).chain([ptr::null_mut()]) {
        let error = adopt(outside).unwrap_err();
        assert!(matches!(error, Error::Argument(_)) && error.to_string().contains("the context's"), "{error}");
    }
    // Null handles.
    let (context, device) = (app.context.get(), app.context.default_device());
    assert!(matches!(unsafe { Device::adopt(ptr::null_mut(), device, app.queue.get()) }, Err(Error::OpenCl { .. })));
    assert!(matches!(unsafe { Device::adopt(context, device, ptr::null_mut()) }, Err(Error::OpenCl { .. })));

    let device = app.adopt()?;
    let a = scalars::<f64>(Family::Uniform, 10, 10, 2, 6);
    let foreign = stranger.buffers(&a);
    let error = unsafe { DeviceMatrix::<Csc<f64>>::adopt(&device, &foreign.3) }.unwrap_err().to_string();
    assert!(error.contains("another OpenCL context"), "{error}");
    let own = app.buffers(&a);
    let longer = RawMatrix { nnz: own.3.nnz * 5000, ..own.3 };
    assert!(matches!(
        unsafe { DeviceMatrix::<Csc<f64>>::adopt(&device, &longer) },
        Err(Error::Length { array: "row_idx", .. })
    ));
    let blocky = RawMatrix { shape: BlockShape::new(2, 2)?, stride: 4, ..own.3 };
    assert!(matches!(unsafe { DeviceMatrix::<Csc<f64>>::adopt(&device, &blocky) }, Err(Error::Argument(_))));
    // A stride so large that nnz * stride wraps to 0, which fits any buffer. Then the largest
    // stride that kernels take.
    let square = blocks::<f64>(Family::Banded, 8, 8, 2, BlockShape::new(2, 2)?, 6);
    let own = app.buffers(&square);
    let apart = |stride| RawMatrix { stride, ..own.3 };
    assert_eq!(square.pattern().nnz(), 16);
    assert!(matches!(
        unsafe { DeviceMatrix::<Cbc<f64>>::adopt(&device, &apart(1 << 60)) },
        Err(Error::TooLarge { what: "stride of blocks", .. })
    ));
    assert!(matches!(
        unsafe { DeviceMatrix::<Cbc<f64>>::adopt(&device, &apart(u32::MAX as usize)) },
        Err(Error::Length { array: "values", .. })
    ));
    let other = stranger.adopt()?;
    let (x, y) = (device.upload(&a)?, other.upload(&a)?);
    assert!(matches!(blockmul::multiply(&x, &y), Err(Error::DeviceMismatch { .. })));
    Ok(())
}
