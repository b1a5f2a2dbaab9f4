//! Tests how much memory the pool keeps, and after which commands it hands out memory.
use super::*;
use crate::{
    Word,
    device::{
        Buffer, Device, File, Grid, InOut, Kernel, Options, Out, Source, Work,
        faked::{EndFaked, fake},
        kernel, test_device,
    },
};
use opencl3::{event::set_user_event_status, types::cl_event};
use std::{ptr, time::Duration};

const MIB: usize = 1 << 20;

/// A device whose pool is used by no other test.
fn own_device() -> Device {
    Device::open(test_device().info()).unwrap()
}

fn buffer(work: &Work, bytes: usize) -> Result<Buffer<u32>> {
    work.buffer(bytes / 4)
}

#[test]
fn what_is_kept_is_what_was_needed_lately() -> Result<()> {
    let device = own_device();
    let work = Work::new(&device, None);
    for round in 0..2 {
        for megabytes in (32..=240).step_by(8) {
            drop(buffer(&work, megabytes * MIB)?);
            assert!(device.kept_bytes() <= HELD * 240 * MIB as u64, "{megabytes} MiB, round {round}");
        }
    }
    assert!(device.kept_bytes() >= 240 * MIB as u64, "the last is kept");
    // After many small buffers, the pool frees the large ones.
    for _ in 0..3 * SPAN {
        drop(buffer(&work, 100)?);
    }
    assert!(device.kept_bytes() <= ALWAYS_KEPT, "{}", device.kept_bytes());
    device.trim();
    assert_eq!(device.kept_bytes(), 0);
    Ok(())
}

#[test]
fn the_same_again_creates_nothing() -> Result<()> {
    let device = own_device();
    let product = || -> Result<()> {
        let work = Work::new(&device, None);
        let (_kept, first) = (buffer(&work, 90 * MIB)?, buffer(&work, 50 * MIB)?);
        let second = buffer(&work, 60 * MIB)?;
        drop(first);
        let _third = buffer(&work, 40 * MIB)?;
        drop(second);
        buffer(&work, 30 * MIB).map(drop)
    };
    // No buffer of these stages has the size of a buffer of `product`.
    let stages = || -> Result<()> {
        let work = Work::new(&device, None);
        [100, 90, 80].into_iter().try_for_each(|megabytes| buffer(&work, megabytes * MIB).map(drop))
    };
    product()?;
    stages()?;
    let created = device.counters().buffers_created;
    // These runs take so many buffers that the pool frees the buffers that are no longer used.
    for _ in 0..SPAN {
        product()?;
        stages()?;
    }
    assert_eq!(device.counters().buffers_created, created);
    Ok(())
}

#[test]
fn what_is_kept_counts_towards_limit_and_peak() -> Result<()> {
    let device = own_device();
    drop(buffer(&Work::new(&device, None), 10 * MIB)?);
    let work = Work::new(&device, None);
    drop(buffer(&work, MIB)?);
    assert_eq!(work.peak_bytes(), 11 * MIB as u64);
    let work = Work::new(&device, Some(8 * MIB as u64));
    work.count_operand(0);
    assert_eq!((work.peak_bytes(), device.kept_bytes()), (MIB as u64, MIB as u64), "10 MiB went back");
    for (size, kept) in [(MIB, 1), (2 * MIB, 3), (4 * MIB, 7), (5 * MIB, 5), (3 * MIB, 8), (6 * MIB, 6)] {
        drop(buffer(&work, size)?);
        assert!(device.kept_bytes() <= 8 * MIB as u64 && work.peak_bytes() <= 8 * MIB as u64);
        assert_eq!(device.kept_bytes(), kept * MIB as u64, "the oldest goes first");
    }
    let held = buffer(&work, 7 * MIB)?;
    assert!(matches!(buffer(&work, 2 * MIB), Err(Error::Memory { available, .. }) if available == MIB as u64));
    drop(held);
    assert_eq!(work.most_used_bytes(), 7 * MIB as u64);
    Ok(())
}

#[test]
fn what_is_lost_does_not_come_back() -> Result<()> {
    let device = own_device();
    let work = Work::new(&device, None);
    let buffer = buffer(&work, MIB)?;
    buffer.memory.lose();
    drop(buffer);
    assert_eq!((work.used_bytes(), device.kept_bytes()), (0, 0));
    Ok(())
}

#[test]
fn lack_of_memory_and_other_failures_are_distinguished() {
    let pool = Pool::new(ptr::null_mut(), Arc::default(), 1 << 30, 8 << 30);
    let text = |used, code| pool.refusal(4096, used, Some(code)).to_string();
    assert!(text(0, -4).contains("4096 bytes needed") && text(0, -4).contains("OpenCL error -4"), "{}", text(0, -4));
    assert!(text(0, -61).contains("not enough memory"));
    assert_eq!(text(0, -5), "clCreateBuffer failed: OpenCL error -5 (CL_OUT_OF_RESOURCES)");
    assert!(text(7 << 30, -5).contains("not enough memory"), "an eighth is left");
    assert_eq!(text(7 << 30, -36), "clCreateBuffer failed: OpenCL error -36 (CL_INVALID_COMMAND_QUEUE)");
}

#[test]
fn size_classes_waste_at_most_an_eighth() {
    for bytes in (0..5000).chain((1u64 << 30) - 3..(1 << 30) + 3).chain([(1 << 33) + 1, 12_345_678_901]) {
        let size = rounded(bytes);
        assert!(size >= bytes && size >= 4096 && (bytes <= 4096 || (size - bytes) * 8 <= bytes), "{bytes} -> {size}");
        assert_eq!(rounded(size), size, "a class is its own");
    }
}

/// Enqueues a fake command that uses `buffers` and stays pending until the test ends its event.
/// Returns this event and the events for which the command waits.
fn faked<T: Word>(work: &Work, buffers: &[&Buffer<T>]) -> Result<(cl_event, Vec<cl_event>)> {
    let (mut made, mut waits) = (None, Vec::new());
    for buffer in buffers {
        buffer.raw_on(work.queue());
    }
    let context = work.device().inner.context.get();
    work.queue().enqueue("clEnqueueNDRangeKernel", &mut |_, wait| {
        waits = wait.and(&[]);
        fake(context).inspect(|&event| made = Some(event))
    })?;
    Ok((made.expect("it was taken"), waits))
}

#[test]
fn memory_of_another_queue_is_waited_for_and_of_the_same_is_not() -> Result<()> {
    let device = own_device();
    let _end = EndFaked;
    let [first, second, third] = [0, 1, 2].map(|number| device.work_on(number, None).unwrap());
    let taken = |work: &Work| buffer(work, MIB);
    let one = taken(&first)?;
    let raw = one.raw();
    let (_, waits) = faked(&first, &[&one])?;
    assert_eq!(waits, []);
    drop(one);
    let one = taken(&first)?;
    assert_eq!(one.raw(), raw);
    let (on_first, waits) = faked(&first, &[&one])?;
    assert_eq!(waits, [], "the same queue keeps the order");
    drop(one);

    // If another queue takes the memory, only the first command of that queue waits.
    let one = taken(&second)?;
    assert_eq!(one.raw(), raw);
    let (_, waits) = faked(&second, &[&one])?;
    assert_eq!(waits, [on_first]);
    let (on_second, waits) = faked(&second, &[&one])?;
    assert_eq!(waits, []);
    drop(one);
    // The command that uses the memory does not wait for queues that never used it.
    drop(taken(&second)?);
    assert_eq!(faked::<u32>(&second, &[])?.1, []);

    // The second queue took the memory and dropped it unused. The next user of the memory still
    // waits for the command on the first queue.
    let one = taken(&first)?;
    assert_eq!(one.raw(), raw);
    drop(one);
    let one = taken(&third)?;
    assert_eq!(one.raw(), raw);
    let (_, waits) = faked(&third, &[&one])?;
    assert_eq!(waits, [on_first, on_second]);
    assert_eq!(device.counters().buffers_created, 1);
    Ok(())
}

#[test]
fn memory_that_two_queues_have_used_is_free_behind_both() -> Result<()> {
    let device = own_device();
    let _end = EndFaked;
    let [first, second, third] = [0, 1, 2].map(|number| device.work_on(number, None).unwrap());
    let (one, two) = (buffer(&first, MIB)?, buffer(&second, MIB)?);
    let raw = one.raw();
    let (on_first, _) = faked(&first, &[&one])?;
    second.follow(&first);
    let (on_second, waits) = faked(&second, &[&one, &two])?;
    assert_eq!(waits, [on_first]);
    drop(one);
    // The second queue's command already follows one command of the first queue, but not the first
    // queue's later commands.
    let (later, _) = faked::<u32>(&first, &[])?;
    let one = buffer(&third, MIB)?;
    assert_eq!(one.raw(), raw);
    assert_eq!(faked(&third, &[&one])?.1, [on_first, on_second], "and not for what came since");
    drop((one, two));
    // Each queue prefers its own memory, even if the other queue returned memory later.
    let (one, two) = (buffer(&first, 2 * MIB)?, buffer(&second, 2 * MIB)?);
    let raws = [one.raw(), two.raw()];
    faked(&first, &[&one])?;
    faked(&second, &[&two])?;
    drop((one, two));
    let (one, two) = (buffer(&first, 2 * MIB)?, buffer(&second, 2 * MIB)?);
    assert_eq!([one.raw(), two.raw()], raws);
    assert_eq!(faked(&first, &[&one])?.1, []);
    assert_eq!(faked(&second, &[&two])?.1, []);
    set_user_event_status(later, 0).unwrap();
    Ok(())
}

#[test]
fn a_command_that_is_done_is_not_waited_for() -> Result<()> {
    let device = own_device();
    let _end = EndFaked;
    let [first, second] = [0, 1].map(|number| device.work_on(number, None).unwrap());
    let one = buffer(&first, MIB)?;
    let (on_first, _) = faked(&first, &[&one])?;
    drop(one);
    let one = buffer(&second, MIB)?;
    set_user_event_status(on_first, 0).unwrap();
    assert_eq!(faked(&second, &[&one])?.1, []);
    // After a read has returned, all commands before it are complete, so no event is kept.
    let one = first.upload(&[1u32; 100])?;
    one.download(&first)?;
    assert!(one.memory.behind().is_empty());
    Ok(())
}

#[test]
fn memory_goes_back_to_the_device_when_its_commands_are_done() -> Result<()> {
    let device = own_device();
    let work = Work::new(&device, None);
    let one = buffer(&work, MIB)?;
    let (command, _) = faked(&work, &[&one])?;
    drop(one);
    std::thread::scope(|scope| {
        let trims = scope.spawn(|| device.trim());
        std::thread::sleep(Duration::from_millis(100));
        assert!(!trims.is_finished());
        buffer(&work, MIB).map(drop)?; // others go on meanwhile
        set_user_event_status(command, 0).unwrap();
        trims.join().unwrap();
        Ok(())
    })
}

const STEPS: Source = Source {
    files: &[&File {
        path: "steps.cl",
        text: "KERNEL steps(global uint* a, uint count, uint n) {
               uint i = get_global_id(0);
               if (i < n) for (uint s = 0; s < count; ++s) a[i] = a[i] * 1664525u + 1013904223u;
           }
           KERNEL number(global uint* a, uint first, uint n) {
               uint i = get_global_id(0);
               if (i < n) a[i] = first + i;
           }",
    }],
};
kernel! { struct Steps = "steps" in (STEPS) { a: InOut<u32>, count: u32, n: u32 } }
kernel! { struct Number = "number" in (STEPS) { a: Out<u32>, first: u32, n: u32 } }

/// A long chain of launches on one queue writes a buffer. Then another queue takes the memory of
/// that buffer.
#[test]
fn memory_goes_from_queue_to_queue() -> Result<()> {
    const LEN: usize = 4096;
    let device = own_device();
    let [first, second] = [0, 1].map(|number| device.work_on(number, None).unwrap());
    let options = Options::group_size(16);
    let (steps, number) = (Kernel::<Steps<'_>>::new(&device, &options)?, Kernel::<Number<'_>>::new(&device, &options)?);
    let (grid, n) = (Grid::items(LEN, 16), LEN as u32);
    for round in 0..200u32 {
        let mut written = first.buffer::<u32>(LEN)?;
        let raw = written.raw();
        first.fill_zero(&mut written)?;
        for _ in 0..10 {
            steps.launch(&first, grid, Steps { a: &mut written, count: 40, n })?;
        }
        first.queue().flush()?;
        drop(written);
        let mut again = second.buffer::<u32>(LEN)?;
        assert_eq!(again.raw(), raw);
        number.launch(&second, grid, Number { a: &mut again, first: round, n })?;
        let expected: Vec<u32> = (round..round + n).collect();
        assert_eq!(again.download(&second)?, expected, "round {round}");
        let mut copy = first.buffer::<u32>(2 * LEN)?; // of another size class
        first.follow(&second);
        first.copy(&again, 0, &mut copy, 0, LEN)?;
        drop(again);
        assert_eq!(first.read(&copy, 0, LEN)?, expected, "round {round}");
    }
    assert_eq!(device.counters().buffers_created, 2);
    device.finish()
}
