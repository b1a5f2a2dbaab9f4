//! Events and markers, by which an application orders executions among its own commands.
use super::{App, QUEUES};
use crate::common::{Family, scalars};
use blockmul::{Csc, DeviceMatrix, Planned, Product, Result, foreign::Marker, plan::Accum, reference};
use opencl3::{
    event::{CL_COMPLETE, create_user_event, get_event_info, set_user_event_status},
    memory::Buffer,
};
use std::time::Duration;

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
        // The read of C waits for the product, and the write of the next round waits for the read.
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
        plan.execute((&da, &da), &mut c)?.wait()?; // kernels are compiled here
        let event = create_user_event(app.context.get()).unwrap();
        let after = unsafe { Marker::from_raw(event)? };
        let marker = plan.execute((&da, &da), Accum::into(&mut c).alpha(2.0).after([&after]))?;
        let done = |marker: &Marker| -> Result<bool> {
            let event = marker.raw()?.expect("something was enqueued");
            let status = get_event_info(event, opencl3::event::CL_EVENT_COMMAND_EXECUTION_STATUS).unwrap();
            Ok(i32::from(status) == CL_COMPLETE)
        };
        // An execution that did not wait for the event would be complete by now.
        std::thread::sleep(Duration::from_millis(30));
        assert!(!done(&marker)?, "queue properties {properties}");
        set_user_event_status(event, CL_COMPLETE).unwrap();
        marker.wait()?;
        assert!(done(&marker)? && done(&after)?);
        let twice = |matrix: &Csc<f64>| matrix.values().iter().map(|x| 2.0 * x).collect::<Vec<_>>();
        assert_eq!(c.download()?.values(), twice(&reference::multiply(&a, &a)?));
        // An execution need not wait for markers of its own device, because its queue executes
        // commands in order.
        plan.execute((&da, &da), Accum::into(&mut c).after([&marker, &after]))?.wait()?;
        assert_eq!(c.download()?, reference::multiply(&a, &a)?);
        unsafe { opencl3::event::release_event(event) }.unwrap();
        // A product without entries enqueues no commands.
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
        blockmul::multiply(&da, &da)?.download()?; // kernels are compiled here
        let writer = App::on(&app.context, 0);
        let written = create_user_event(app.context.get()).unwrap();
        unsafe { device.wait_for(&[written])? };
        let marker = device.marker()?;
        std::thread::scope(|scope| {
            let product = scope.spawn(|| blockmul::multiply(&da, &da)?.download());
            // A product that did not wait for the event would be complete by now.
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
