//! Buffers of an application are multiplied in place, and the library lends its own buffers to the
//! application. Both the application and the library retain and release such buffers.
use super::{App, QUEUES};
use crate::common::{Family, blocks, scalars};
use blockmul::dense::{DenseShape, DenseView, DeviceDense, Layout, Side};
use blockmul::{
    BlockShape, Bsr, Cbc, Csc, DeviceMatrix, Error, Planned, Product, Result, foreign::RawMatrix, plan::ApplyDense,
    reference,
};
use opencl3::{
    command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE},
    memory::{Buffer, ClMem},
};
use std::ptr;

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
    // D is stored by rows, with two unused elements after each row. C is stored by columns, in a
    // buffer that is longer than C.
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
    reference::multiply_dense(Side::Left, &a, view, (1.0, 0.0), (&mut want).into())?;
    assert_eq!(into.download()?, want);
    device.marker()?.wait()?;
    let mut behind = vec![0.0; 160];
    unsafe { app.queue.enqueue_read_buffer(&c, 1, 0, &mut behind, &[]) }.unwrap();
    assert_eq!((&behind[..150], &behind[150..]), (want.as_slice(), &[7.0; 10][..]));
    assert!(unsafe { DeviceDense::<f64>::adopt(&device, c_shape.with_leading(60), c.get()) }.is_err(), "too short");
    assert!(
        unsafe { DeviceDense::<f64>::adopt(&crate::common::device(), c_shape, c.get()) }.is_err(),
        "another context"
    );
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
    // An OpenCL runtime may retain a queue for the events of the last commands. Therefore counts of
    // references are compared after the threads of the runtime have released the queue.
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
fn row_major_rectangular_and_padded_blocks_are_adopted_as_they_lie() -> Result<()> {
    let app = App::new(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    let device = app.adopt()?;
    // The matrices are row-major, so the arrays and the shape in `RawMatrix` are those of the
    // transposes.
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

    // Blocks that start on 32-byte boundaries: 9 elements with a stride of 12. The product is
    // adopted and multiplied again in place.
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
