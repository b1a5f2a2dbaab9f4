//! Tests of commands that fail after they were enqueued, and of the events for which commands wait.
use super::{commands::MOST_PENDING, *};
use crate::{
    Error,
    device::{
        Device, Work,
        faked::{EndFaked, fake},
        test_device,
    },
    primitives::scan::{Scan, ScanTuning},
};
use opencl3::event::set_user_event_status;

/// Enqueues a fake command that stays pending until the test sets its event to success or an error.
fn taken(device: &Device) -> SharedEvent {
    let context = device.inner.context.get();
    let taken = device.inner.queue.enqueue("clEnqueueNDRangeKernel", &mut |_, _| fake(context));
    taken.unwrap()
}

fn fails(error: &Result<Vec<u32>>) -> bool {
    matches!(error, Err(Error::CommandFailed { call: "clEnqueueNDRangeKernel", code: -5, .. }))
}

#[test]
fn a_command_that_fails_after_it_was_taken_is_reported_at_every_read_until_finish() -> Result<()> {
    // The test opens its own device, because on a shared device other tests would fail, too.
    let device = Device::open(test_device().info())?;
    let _end = EndFaked;
    let work = Work::new(&device, None);
    let buffer = work.upload(&[1u32, 2, 3])?;
    let command = taken(&device);
    assert_eq!(buffer.download(&work)?, [1, 2, 3], "it is on its way");
    set_user_event_status(command.get()?, -5).unwrap();
    for _ in 0..2 {
        let other = Work::new(&device, None);
        assert!(fails(&buffer.download(&other)) && fails(&buffer.download(&work)));
    }
    let refused = work.upload(&[1u32]).map(|_| Vec::new());
    assert!(fails(&refused), "{refused:?}");
    assert!(device.inner.queue.drain().is_err(), "that does not forget");
    let reported = device.finish().unwrap_err().to_string();
    assert!(
        reported.contains("taken by the device and failed later: OpenCL error -5 (CL_OUT_OF_RESOURCES)"),
        "{reported}"
    );
    device.finish()?;
    assert_eq!(buffer.download(&work)?, [1, 2, 3]);
    Ok(())
}

/// A wait for a failed event is refused, so that no later command computes with results that the
/// failed command did not write.
#[test]
fn a_failure_is_reported_at_the_first_wait_behind_it() -> Result<()> {
    let failing = |wait: &dyn Fn(&Work) -> Result<()>| -> Result<Result<()>> {
        let device = Device::open(test_device().info())?;
        let _end = EndFaked;
        let work = Work::new(&device, None);
        let command = taken(&device);
        wait(&work)?;
        set_user_event_status(command.get()?, -5).unwrap();
        Ok(wait(&work))
    };
    type Wait<'a> = &'a dyn Fn(&Work) -> Result<()>;
    let waits: [Wait<'_>; 4] = [
        &|work| work.upload(&[1u32]).map(drop),
        &|work| work.map(&mut work.buffer::<u32>(1)?)?.unmap(),
        &|work| work.view_later(&work.buffer::<u32>(1)?)?.expect("aligned").get().map(drop),
        &|work| work.buffer::<u32>(1)?.download(work).map(drop),
    ];
    for (i, wait) in waits.into_iter().enumerate() {
        assert!(matches!(failing(wait)?, Err(Error::CommandFailed { code: -5, .. })), "wait {i}");
    }
    Ok(())
}

#[test]
fn commands_without_a_later_read_are_forgotten_when_they_are_done() -> Result<()> {
    let device = Device::open(test_device().info())?;
    let _end = EndFaked;
    let open = taken(&device);
    for _ in 0..3 * MOST_PENDING {
        set_user_event_status(taken(&device).get()?, 0).unwrap();
    }
    assert!(device.inner.queue.commands.state().pending.len() <= MOST_PENDING);
    set_user_event_status(open.get()?, -5).unwrap();
    assert!(device.inner.queue.check_statuses().is_err(), "the one that was on its way is not");
    Ok(())
}

#[test]
fn an_event_that_has_failed_is_not_waited_for() -> Result<()> {
    let device = Device::open(test_device().info())?;
    let _end = EndFaked;
    // SAFETY: the event was created for this handle, in the device's context.
    let event = unsafe { Event::from_raw(fake(device.inner.context.get()).unwrap()) };
    set_user_event_status(event.get()?, -5).unwrap();
    // SAFETY: the event is valid.
    let refused = unsafe { device.wait_for(&[event.get()?]) };
    assert!(matches!(refused, Err(Error::CommandFailed { code: -5, .. })), "{refused:?}");
    // The failure belongs to another command, so the device can still be used.
    let work = Work::new(&device, None);
    assert_eq!(work.upload(&[1u32, 2])?.download(&work)?, [1, 2]);
    device.finish()
}

/// Enqueues a fake command on the queue of `work`. Returns its event and the events for which it
/// waits.
fn faked(work: &Work) -> Result<(SharedEvent, Vec<cl_event>)> {
    let mut waits = Vec::new();
    let context = work.device().inner.context.get();
    let event = work.queue().enqueue("clEnqueueNDRangeKernel", &mut |_, wait| {
        waits = wait.events.to_vec();
        fake(context)
    })?;
    Ok((event, waits))
}

#[test]
fn the_next_command_waits_for_what_its_queue_follows_and_those_after_it_do_not() -> Result<()> {
    let device = Device::open(test_device().info())?;
    let _end = EndFaked;
    let [first, second, third] = [0, 1, 2].map(|number| device.work_on(number, None).unwrap());
    let (on_first, waits) = faked(&first)?;
    assert_eq!(waits, [], "nothing is before it");
    let (last, waits) = faked(&first)?;
    assert_eq!(waits, [], "its queue keeps the order");
    second.follow(&first);
    second.follow(&first);
    first.follow(&first);
    let on_last = [last.get()?];
    let refused = second.queue().enqueue("clEnqueueCopyBuffer", &mut |_, wait| {
        assert_eq!(wait.events, on_last);
        Err(-36)
    });
    assert!(refused.is_err());
    // The third queue also waits for the events for which the second queue waits, even though no
    // command is enqueued on the second queue yet.
    third.follow(&second);
    assert_eq!(faked(&third)?.1, [last.get()?]);
    let (on_second, waits) = faked(&second)?;
    assert_eq!(waits, [last.get()?], "a command that was refused has not waited");
    assert_eq!(faked(&second)?.1, []);
    assert_eq!(faked(&first)?.1, []);
    // No command waits for a command that has ended.
    set_user_event_status(on_first.get()?, 0).unwrap();
    set_user_event_status(last.get()?, 0).unwrap();
    set_user_event_status(on_second.get()?, 0).unwrap();
    let (end, _) = faked(&second)?;
    first.follow(&second);
    set_user_event_status(end.get()?, 0).unwrap();
    assert_eq!(faked(&first)?.1, []);
    Ok(())
}

#[test]
fn a_queue_ordered_by_events_waits_for_its_own_last_command_too() -> Result<()> {
    let info = test_device().info().clone();
    let context = super::super::handle::Context::of(info.id)?;
    let raw = CommandQueue::new(&context, info.id, true)?;
    let device = Device::from_parts(info, context, Queue::ordered_by_events(raw), (false, false));
    let _end = EndFaked;
    let [first, second] = [0, 1].map(|number| device.work_on(number, None).unwrap());
    let (one, two) = (faked(&first)?.0, faked(&second)?.0);
    first.follow(&second);
    second.follow(&first);
    let (three, waits) = faked(&first)?;
    assert_eq!(waits, [one.get()?, two.get()?]);
    assert_eq!(faked(&second)?.1, [one.get()?], "that kept its order by itself");
    set_user_event_status(three.get()?, 0).unwrap();
    assert_eq!(faked(&first)?.1, [three.get()?], "though it is done");
    Ok(())
}

/// Two threads enqueue at the same time. The driver orders the two commands, but does not report
/// their order.
#[test]
fn of_commands_enqueued_at_the_same_time_both_are_the_last() -> Result<()> {
    let device = Device::open(test_device().info())?;
    let _end = EndFaked;
    let [first, second] = [0, 1].map(|number| device.work_on(number, None).unwrap());
    faked(&first)?;
    let mut inner = None;
    let outer = first.queue().enqueue("clEnqueueNDRangeKernel", &mut |_, _| {
        inner = Some(faked(&first).unwrap().0);
        fake(device.inner.context.get())
    })?;
    let inner = inner.unwrap();
    second.follow(&first);
    assert_eq!(faked(&second)?.1, [inner.get()?, outer.get()?]);
    let (last, _) = faked(&first)?;
    second.follow(&first);
    assert_eq!(faked(&second)?.1, [last.get()?]);
    // A wait that is requested while a command is being enqueued applies to the next command.
    let (on_first, _) = faked(&first)?;
    second.queue().enqueue("clEnqueueNDRangeKernel", &mut |_, wait| {
        assert_eq!(wait.events, []);
        second.follow(&first);
        fake(device.inner.context.get())
    })?;
    assert_eq!(faked(&second)?.1, [on_first.get()?]);
    Ok(())
}

#[test]
fn a_failure_on_one_queue_is_reported_on_all_until_finish() -> Result<()> {
    let device = Device::open(test_device().info())?;
    let _end = EndFaked;
    let [first, second] = [0, 1].map(|number| device.work_on(number, None).unwrap());
    let (command, _) = faked(&first)?;
    second.follow(&first);
    set_user_event_status(command.get()?, -5).unwrap();
    for work in [&second, &first, &second] {
        let refused = work.upload(&[1u32]).map(|_| Vec::new());
        assert!(fails(&refused), "{refused:?}");
    }
    assert!(matches!(device.finish(), Err(Error::CommandFailed { code: -5, .. })));
    device.finish()?;
    for work in [&first, &second] {
        assert_eq!(faked(work)?.1, [], "what has failed is not waited for");
    }
    Ok(())
}

/// Kernels that are launched without events leave no events to check. Other queues, reads and the
/// application wait for such kernels by a marker.
#[test]
fn commands_without_events_are_waited_for_by_markers() -> Result<()> {
    let device = Device::open_silently(test_device().info(), true, true)?;
    let [first, second] = [0, 1].map(|number| device.work_on(number, None).unwrap());
    let pending = || device.inner.queue.commands.state().pending.len();
    let scan = Scan::<u32>::new(&device, ScanTuning::new(device.info()))?;
    let mut values = first.upload(&vec![1u32; 5000])?;
    scan.run(&first, &mut values)?;
    // The kernels and their memory have been used before, so these launches have no events. The
    // launches share one event as soon as a caller needs it.
    scan.run(&first, &mut values)?;
    let (before, early) = (pending(), first.marker());
    scan.run(&first, &mut values)?;
    assert_eq!(pending(), before);
    early.wait()?;
    assert!(!first.last_has_event());
    let marker = first.marker();
    second.follow(&first);
    scan.run(&second, &mut values)?;
    // Prefix sums are taken four times, starting with ones.
    let choose = |i: u64, of: u64| (0..of).fold(1, |product, j| product * i.saturating_sub(j) / (j + 1));
    let want = |i: u64| choose(i, 4) as u32;
    first.follow(&second);
    let found = values.download(&first)?;
    assert!(found.iter().zip((0..).map(want)).all(|(found, want)| *found == want), "{:?}", &found[..9]);
    assert!(marker.raw()?.is_some_and(|event| !event.is_null()));
    marker.wait()?;
    second.wait()?;
    // On a queue that measures times, commands have events.
    let timed = Work::timed(&device, None)?;
    scan.run(&timed, &mut values)?;
    assert!(timed.all_stage_times()?.iter().all(|stage| stage.ms.is_some()));
    device.finish()
}

/// The marker of an execution becomes an event only if it is needed, as on NVIDIA's GPUs.
#[test]
fn a_marker_does_not_wait_for_events_that_the_device_waits_for_later() -> Result<()> {
    let device = Device::open_silently(test_device().info(), true, true)?;
    let _end = EndFaked;
    let work = Work::new(&device, None);
    let scan = Scan::<u32>::new(&device, ScanTuning::new(device.info()))?;
    let mut values = work.upload(&vec![1u32; 5000])?;
    (0..2).try_for_each(|_| scan.run(&work, &mut values))?;
    assert!(!work.last_has_event());
    let marker = work.marker();
    let open = fake(device.inner.context.get()).unwrap();
    // SAFETY: the event is valid.
    unsafe { device.wait_for(&[open])? };
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| marker.wait());
        let patience = std::time::Instant::now();
        while !waits.is_finished() && patience.elapsed().as_secs() < 5 {
            std::thread::yield_now();
        }
        let before = waits.is_finished();
        set_user_event_status(open, 0).unwrap();
        waits.join().unwrap()?;
        assert!(before, "it waits for the event");
        device.finish()
    })
}

#[test]
fn a_command_without_an_event_that_fails_is_reported_to_the_queue_that_waits_for_it() -> Result<()> {
    let device = Device::open_silently(test_device().info(), true, true)?;
    let _end = EndFaked;
    let [first, second] = [0, 1].map(|number| device.work_on(number, None).unwrap());
    let silent = first.queue().enqueue("clEnqueueNDRangeKernel", &mut |_, _| Ok(std::ptr::null_mut()))?;
    // A marker on a queue that has failed fails, too.
    let marker = fake(device.inner.context.get()).unwrap();
    // SAFETY: the event was made for this handle.
    unsafe { silent.be_marked_by(marker) };
    set_user_event_status(marker, -5).unwrap();
    second.follow(&first);
    for work in [&second, &first, &second] {
        let refused = work.upload(&[1u32]).map(|_| Vec::new());
        assert!(fails(&refused), "{refused:?}");
    }
    assert!(matches!(device.finish(), Err(Error::CommandFailed { code: -5, .. })));
    assert_eq!(second.upload(&[1u32, 2])?.download(&second)?, [1, 2]);
    device.finish()
}

/// The application may enqueue a command that waits for its event, and wait for a marker before it
/// sets the event.
#[cfg(feature = "ocl")]
#[test]
fn a_queue_that_is_lent_has_events_from_then_on() -> Result<()> {
    let device = Device::open_silently(test_device().info(), true, true)?;
    let work = Work::new(&device, None);
    let scan = Scan::<u32>::new(&device, ScanTuning::new(device.info()))?;
    let mut values = work.upload(&vec![1u32; 5000])?;
    (0..2).try_for_each(|_| scan.run(&work, &mut values))?;
    assert!(!work.last_has_event());
    let lent = device.to_ocl();
    scan.run(&work, &mut values)?;
    assert!(work.last_has_event());
    drop(lent);
    device.finish()
}
