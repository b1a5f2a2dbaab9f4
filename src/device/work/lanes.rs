//! Lanes: the commands of a work may be divided among several queues of the device, so that kernels
//! that are too small to fill the device overlap.
use super::{StageRecord, Work};
use crate::{Result, device::queue::Queue};
use opencl3::command_queue as clq;
use std::{
    cell::{Cell, RefCell},
    sync::Arc,
};

/// The work from which a lane was split, and the commands after which the lane begins.
pub(super) struct LaneOrigin {
    queue: Arc<Queue>,
    /// Number of commands that the work had when the lane was split off.
    commands: usize,
}

impl LaneOrigin {
    /// A point on `queue` after its first `commands` commands.
    pub(super) fn of(queue: &Arc<Queue>, commands: usize) -> Self {
        Self { queue: queue.clone(), commands }
    }
}

impl Work {
    /// Makes `lanes` works whose commands may overlap. Each lane begins after all commands of this
    /// work so far. The lanes share this work's memory limit and begin in its stage. If `lanes` is
    /// 0 or 1, there is one lane, on the queue of this work. Commands of two lanes are ordered only
    /// by [`Work::follow`].
    ///
    /// [`Work::join`] joins the lanes again. If lanes are dropped without being joined, for example
    /// after an error, the next command of this work comes after the commands of the lanes.
    ///
    /// # Errors
    /// [`Error::OpenCl`] if the driver refuses another queue.
    pub fn fork(&self, lanes: usize) -> Result<Vec<Work>> {
        let (stage, commands) = (self.record.borrow().stage, self.record.borrow().events.len());
        let lanes = if self.in_turn.get() { 1 } else { lanes };
        if lanes > 1 {
            self.queue.mark_shared()?;
        }
        let lane = |number| {
            let queue = if lanes > 1 { self.device.queue(number, self.timed)? } else { self.queue.clone() };
            let lane = Work {
                device: self.device.clone(),
                queue,
                meter: self.meter.clone(),
                limit: self.limit,
                record: RefCell::new(StageRecord { stage, ..StageRecord::default() }),
                kernel_wait: Cell::default(),
                in_turn: self.in_turn.clone(),
                timed: self.timed,
                home: Some(LaneOrigin::of(&self.queue, commands)),
            };
            lane.follow(self);
            Ok(lane)
        };
        (1..=lanes.max(1)).map(lane).collect()
    }

    /// Makes the next commands of this work run after the commands of `lanes`, and counts the
    /// commands of `lanes` as commands of this work.
    ///
    /// # Errors
    /// [`Error::OpenCl`]; [`Error::CommandFailed`] if a command has failed.
    pub fn join(&self, lanes: Vec<Work>) -> Result<()> {
        let has_commands = |lane: &&Work| lane.record.borrow().last.is_some();
        let own = |lane: &Work| lane.queue.number() == self.queue.number();
        // Flushes the queues of the lanes, so that all lanes start before any command waits for a
        // lane.
        lanes.iter().filter(has_commands).filter(|lane| !own(lane)).try_for_each(|lane| lane.queue.flush())?;
        // If this work and a lane have used one queue in turn, only the queue knows the order of
        // their commands.
        let commands = self.record.borrow().events.len();
        let in_turn = |lane: &Work| lane.home.as_ref().is_none_or(|home| home.commands != commands);
        let barrier = lanes.iter().filter(has_commands).any(|lane| !own(lane) || in_turn(lane));
        for lane in lanes {
            let of_lane = lane.record.take();
            let mut record = self.record.borrow_mut();
            record.events.extend(of_lane.events);
            record.launches.extend(of_lane.launches);
            record.read_backs += of_lane.read_backs;
            record.last = of_lane.last.or(record.last.take());
            self.kernel_wait.set(self.kernel_wait.get() + lane.kernel_wait.get());
        }
        if barrier {
            let event = self.queue.enqueue("clEnqueueBarrierWithWaitList", &mut |queue, wait| {
                // SAFETY: `wait` holds events of the device.
                unsafe { clq::enqueue_barrier_with_wait_list(queue, wait.len(), wait.pointer()) }
            })?;
            self.record.borrow_mut().last = Some(event);
        }
        Ok(())
    }
}

impl Drop for Work {
    /// Makes later commands of the work wait for a dropped lane, because they may use memory that
    /// the lane has used.
    fn drop(&mut self) {
        if let Some(LaneOrigin { queue, .. }) = &self.home {
            queue.follow(queue.commands().last_of(1 << self.queue.number()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Error,
        device::{
            Buffer, Device, File, Grid, In, InOut, Kernel, Options, Out, Source,
            handle::{CommandQueue, Context},
            kernel, test_device,
        },
    };
    use opencl3::{
        event::{create_user_event, set_user_event_status},
        types::cl_event,
    };
    use std::time::Duration;

    const LEN: usize = 4096;
    const N: u32 = LEN as u32;
    const GROUP: usize = 16;

    const STEPS: Source = Source {
        files: &[&File {
            path: "lanes.cl",
            text: "KERNEL steps(global uint* a, uint count, uint n) {
                   uint i = get_global_id(0);
                   if (i < n) for (uint s = 0; s < count; ++s) a[i] = a[i] * 1664525u + 1013904223u;
               }
               KERNEL sum(global const uint* a, global const uint* b, global uint* c, uint n) {
                   uint i = get_global_id(0);
                   if (i < n) c[i] = a[i] + b[i];
               }",
        }],
    };
    kernel! { struct Steps = "steps" in (STEPS) { a: InOut<u32>, count: u32, n: u32 } }
    kernel! { struct Sum = "sum" in (STEPS) { a: In<u32>, b: In<u32>, c: Out<u32>, n: u32 } }

    struct Kernels {
        steps: Kernel<Steps<'static>>,
        sum: Kernel<Sum<'static>>,
    }

    impl Kernels {
        fn new(device: &Device) -> Result<Self> {
            let options = Options::group_size(GROUP);
            Ok(Self { steps: Kernel::new(device, &options)?, sum: Kernel::new(device, &options)? })
        }

        fn steps(&self, work: &Work, a: &mut Buffer<u32>, count: u32) -> Result<()> {
            self.steps.launch(work, Grid::items(LEN, GROUP), Steps { a, count, n: N })
        }

        fn sum(&self, work: &Work, a: &Buffer<u32>, b: &Buffer<u32>, c: &mut Buffer<u32>) -> Result<()> {
            self.sum.launch(work, Grid::items(LEN, GROUP), Sum { a, b, c, n: N })
        }
    }

    /// The expected values of `start` after `count` steps.
    fn stepped(start: u32, count: u32) -> u32 {
        (0..count).fold(start, |value, _| value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223))
    }

    /// Writes two buffers on the first queue of the work, runs steps on each buffer in its own
    /// lane, and adds the buffers on the first queue.
    fn overlapped(work: &Work, kernels: &Kernels, lanes: usize, start: u32) -> Result<()> {
        work.stage("before");
        let (mut one, mut two) = (work.upload(&[start; LEN])?, work.upload(&[start + 1; LEN])?);
        kernels.steps(work, &mut one, 100)?;
        kernels.steps(work, &mut two, 100)?;
        work.stage("apart");
        let forked = work.fork(lanes)?;
        assert_eq!(forked.len(), lanes.max(1));
        for _ in 0..3 {
            kernels.steps(&forked[0], &mut one, 70)?;
            kernels.steps(forked.last().unwrap(), &mut two, 50)?;
        }
        work.join(forked)?;
        work.stage("after");
        let mut both = work.buffer(LEN)?;
        kernels.sum(work, &one, &two, &mut both)?;
        // Returns memory to the pool that lanes have used.
        drop((one, two));
        let expected = stepped(start, 310).wrapping_add(stepped(start + 1, 250));
        assert_eq!(both.download(work)?, vec![expected; LEN], "{lanes} lanes from {start}");
        assert_eq!((work.launches(), work.read_backs()), (9, 1));
        let times = work.all_stage_times()?;
        let counts: Vec<_> = times.iter().map(|time| (time.name, time.commands, time.launches)).collect();
        assert_eq!(counts, [("before", 4, 2), ("apart", 6, 6), ("after", 2, 1)]);
        let keeps_times = work.timed || !work.device().inner.times_apart;
        assert!(times.iter().all(|time| time.ms.map(|ms| ms > 0.0) == keeps_times.then_some(true)), "{times:?}");
        Ok(())
    }

    /// Tests works on queues that record times and on queues that do not. The works run one after
    /// another, and in several threads.
    #[test]
    fn lanes_begin_behind_their_work_and_it_goes_on_behind_them() -> Result<()> {
        let device = Device::open(test_device().info())?;
        let kernels = Kernels::new(&device)?;
        let before = device.counters();
        for round in 0..30 {
            overlapped(&Work::new(&device, None), &kernels, round as usize % 4, round)?;
            overlapped(&Work::timed(&device, None)?, &kernels, round as usize % 4, round)?;
        }
        let after = device.counters();
        assert_eq!((after.launches - before.launches, after.commands - before.commands), (60 * 9, 60 * 12));
        let (device, kernels) = (&device, &kernels);
        std::thread::scope(|scope| {
            let rounds = |thread: u32| {
                (0..20).try_for_each(|round| overlapped(&Work::new(device, None), kernels, 2, 1000 * thread + round))
            };
            let threads: Vec<_> = (1..=4u32).map(|thread| scope.spawn(move || rounds(thread))).collect();
            threads.into_iter().try_for_each(|thread| thread.join().unwrap())
        })
    }

    #[test]
    fn lanes_of_an_adopted_queue_that_keeps_no_order_are_in_order() -> Result<()> {
        let info = test_device().info().clone();
        let context = Context::of(info.id)?;
        let raw = CommandQueue::new(&context, info.id, true)?;
        let device = Device::from_parts(info, context, Queue::ordered_by_events(raw), (false, false));
        let kernels = Kernels::new(&device)?;
        (0..20).try_for_each(|round| overlapped(&Work::new(&device, None), &kernels, round as usize % 4, round))
    }

    #[test]
    fn works_with_times_and_without_are_in_order_on_queues_apart() -> Result<()> {
        let device = Device::open_with(test_device().info(), true)?;
        let kernels = Kernels::new(&device)?;
        for round in 0..40 {
            let plain = Work::new(&device, None);
            let mut values = plain.upload(&[round; LEN])?;
            kernels.steps(&plain, &mut values, 200)?;
            let timed = Work::timed(&device, None)?;
            assert!(plain.queue.number() != timed.queue.number());
            timed.stage("apart");
            kernels.steps(&timed, &mut values, 100)?;
            let mut sum = timed.buffer(LEN)?;
            let lanes = timed.fork(2)?;
            kernels.sum(&lanes[1], &values, &values, &mut sum)?;
            timed.join(lanes)?;
            let times = timed.all_stage_times()?;
            assert!(times.iter().all(|time| time.ms.is_some_and(|ms| ms > 0.0)), "{times:?}");
            kernels.steps(&timed, &mut values, 100)?;
            drop(timed);
            let after = Work::new(&device, None);
            kernels.steps(&after, &mut values, 100)?;
            assert_eq!(values.download(&after)?, vec![stepped(round, 500); LEN], "round {round}");
            assert_eq!(sum.download(&after)?, vec![stepped(round, 300).wrapping_mul(2); LEN]);
            after.stage("plain");
            kernels.steps(&after, &mut sum, 1)?;
            assert!(after.stage_times(&["plain"])?[0].ms.is_none());
        }
        Ok(())
    }

    #[test]
    fn lanes_that_are_dropped_are_waited_for_by_what_comes_next() -> Result<()> {
        let device = Device::open(test_device().info())?;
        let kernels = Kernels::new(&device)?;
        for round in 0..40 {
            let work = Work::new(&device, None);
            let (mut one, mut two) = (work.upload(&[round; LEN])?, work.upload(&[round; LEN])?);
            let lanes = work.fork(2)?;
            let mut of_lane = lanes[0].buffer(LEN)?;
            kernels.steps(&lanes[0], &mut one, 200)?;
            kernels.sum(&lanes[0], &one, &one, &mut of_lane)?;
            kernels.steps(&lanes[1], &mut two, 200)?;
            drop((lanes, of_lane));
            // Another work of the device uses memory that the lanes have used.
            let other = Work::new(&device, None);
            let reused = other.upload(&[7u32; LEN])?;
            assert_eq!(one.download(&other)?, vec![stepped(round, 200); LEN]);
            assert_eq!(two.download(&other)?, vec![stepped(round, 200); LEN]);
            assert_eq!(reused.download(&other)?, [7; LEN]);
        }
        Ok(())
    }

    /// An application's command on the first queue is pending. The library has enqueued nothing
    /// after it.
    #[test]
    fn lanes_begin_behind_the_commands_of_the_application() -> Result<()> {
        let device = Device::open_with(test_device().info(), true)?;
        let kernels = Kernels::new(&device)?;
        let upload = || Work::new(&device, None).upload(&[1u32; LEN]);
        let (mut one, mut two) = (upload()?, upload()?);
        let handles = device.raw_handles();
        let held = || {
            let event = create_user_event(handles.context).unwrap();
            let events = [event];
            // SAFETY: the handles are valid.
            unsafe { clq::enqueue_barrier_with_wait_list(handles.queue, 1, events.as_ptr()) }.unwrap();
            event
        };
        let pending = |work: &Work, event| -> Result<bool> {
            let last = work.record.borrow().last.clone().expect("a kernel was enqueued");
            std::thread::sleep(Duration::from_millis(30));
            let pending = last.status()? > 0;
            set_user_event_status(event, 0).unwrap();
            last.wait()?;
            Ok(pending)
        };
        let event = held();
        let work = Work::new(&device, None);
        let lanes = work.fork(2)?;
        kernels.steps(&lanes[1], &mut one, 1)?;
        assert!(pending(&lanes[1], event)?, "a lane");
        work.join(lanes)?;
        work.wait()?;
        let event = held();
        let timed = Work::timed(&device, None)?;
        kernels.steps(&timed, &mut two, 1)?;
        assert!(pending(&timed, event)?, "a work with times");
        drop(timed);
        device.finish()
    }

    /// Enqueues a fake command on the queue of `work`. The command stays pending until the test
    /// ends its event.
    fn faked(work: &Work) -> Result<cl_event> {
        let made = Cell::new(std::ptr::null_mut());
        work.enqueue("clEnqueueNDRangeKernel", &work.uses(&[]), &mut |_, _| {
            create_user_event(work.device().inner.context.get()).inspect(|&event| made.set(event))
        })?;
        Ok(made.get())
    }

    #[test]
    fn the_wait_of_a_work_is_for_the_lanes_it_has_joined() -> Result<()> {
        let device = Device::open(test_device().info())?;
        let work = Work::new(&device, None);
        let lanes = work.fork(2)?;
        let (first, second) = (faked(&lanes[0])?, faked(&lanes[1])?);
        work.join(lanes)?;
        let marker = work.marker();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| marker.wait());
            set_user_event_status(first, 0).unwrap();
            std::thread::sleep(Duration::from_millis(50));
            assert!(!waits.is_finished(), "the second lane is not done");
            set_user_event_status(second, 0).unwrap();
            waits.join().unwrap()
        })?;
        work.wait()?;
        // Lanes without commands, and a lane on the same queue, need no barrier.
        let idle = Work::new(&device, None);
        idle.join(idle.fork(3)?)?;
        assert!(idle.record.borrow().last.is_none());
        let single = idle.fork(1)?;
        let last = faked(&single[0])?;
        idle.join(single)?;
        assert_eq!(idle.record.borrow().last.as_ref().map(|event| event.get()).transpose()?, Some(last));
        set_user_event_status(last, 0).unwrap();
        idle.wait()
    }

    #[test]
    fn lanes_share_the_limit_of_their_work() -> Result<()> {
        const MIB: u64 = 1 << 20;
        let device = Device::open(test_device().info())?;
        let work = Work::new(&device, Some(2 * MIB));
        let lanes = work.fork(2)?;
        let held = lanes[0].buffer::<u32>(MIB as usize / 4)?;
        let more = lanes[1].buffer::<u32>(MIB as usize / 4)?;
        assert_eq!(work.used_bytes(), 2 * MIB);
        assert!(matches!(work.buffer::<u32>(1), Err(Error::Memory { available: 0, .. })));
        assert!(matches!(lanes[0].buffer::<u32>(1), Err(Error::Memory { available: 0, .. })));
        drop((held, more));
        work.join(lanes)?;
        assert_eq!((work.used_bytes(), work.most_used_bytes()), (0, 2 * MIB));
        Ok(())
    }
}
