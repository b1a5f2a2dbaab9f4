//! The commands of a work by stage and bin, with their times. A bin is a group of columns of C that
//! one method computes.
use super::Work;
use crate::{Result, device::queue::SharedEvent};
use std::{collections::BTreeMap, time::Duration};

/// A command, and the stage and bins to which its time is added.
pub(super) struct TimedEvent {
    pub stage: &'static str,
    pub bins: u64,
    pub event: SharedEvent,
}

#[derive(Default)]
pub(super) struct StageRecord {
    pub stage: &'static str,
    /// The bins to which the time of the next commands is added, as bits.
    pub bins: u64,
    pub events: Vec<TimedEvent>,
    /// Nanoseconds of computations on the host, with their stage and bins.
    pub on_host: Vec<(&'static str, u64, u64)>,
    /// The stage of each kernel launched.
    pub launches: Vec<&'static str>,
    pub read_backs: u32,
    /// The last command. When it has ended, all other commands of the work have ended.
    pub last: Option<SharedEvent>,
}

/// Time and launches of one stage.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct StageTime {
    /// Name of the stage.
    pub name: &'static str,
    /// Busy time in milliseconds: the time of the stage's commands on the device's clock, plus the
    /// time of the stage's computations on the host. Commands on several queues may overlap, so the
    /// sum may exceed the elapsed time. The field `ms` is `None` if the queue records no times, as
    /// an adopted queue may do, or if the product is [untimed](crate::Product::untimed).
    pub ms: Option<f64>,
    /// Number of commands enqueued: kernels, copies, fills, reads.
    pub commands: u32,
    /// Number of kernels launched.
    pub launches: u32,
    /// The least number of bytes that the stage has to move between memory and the device.
    /// Scattered accesses count as sectors of 32 bytes. The field `bytes` is `None` if the stage
    /// does not declare the number.
    pub bytes: Option<u64>,
    /// Number of floating-point operations, or `None` if the stage does not declare the number.
    pub flops: Option<u64>,
}

impl Work {
    /// Adds the time of a computation on the host to the stage.
    pub fn count_host_time(&self, time: Duration) {
        let mut record = self.record.borrow_mut();
        let spent = (record.stage, record.bins, time.as_nanos() as u64);
        record.on_host.push(spent);
    }

    /// Runs `run`, and makes all its commands count towards a set of bins, which may depend on its
    /// result. See [`Work::count_towards`].
    pub fn counted<R>(&self, run: impl FnOnce() -> Result<R>, bins: impl FnOnce(&R) -> u64) -> Result<R> {
        let record = self.record.borrow();
        let (commands, on_host) = (record.events.len(), record.on_host.len());
        drop(record);
        let done = run()?;
        let (bins, mut record) = (bins(&done), self.record.borrow_mut());
        record.events[commands..].iter_mut().for_each(|event| event.bins = bins);
        record.on_host[on_host..].iter_mut().for_each(|(_, of, _)| *of = bins);
        Ok(done)
    }

    /// Waits for the last command and returns the time of each stage in the order of `names`.
    pub fn stage_times(&self, names: &[&'static str]) -> Result<Vec<StageTime>> {
        self.wait()?;
        let record = self.record.borrow();
        let time = |name: &&'static str| {
            let events = record.events.iter().filter(|event| event.stage == *name);
            let of_host = record.on_host.iter().filter(|(stage, ..)| stage == name).map(|(.., ns)| Some(*ns));
            let ns: Option<u64> = events.clone().map(|event| event.event.nanoseconds()).chain(of_host).sum();
            let launches = record.launches.iter().filter(|stage| *stage == name).count() as u32;
            let (ms, commands) = (ns.map(|ns| ns as f64 / 1e6), events.count() as u32);
            StageTime { name, ms, commands, launches, bytes: None, flops: None }
        };
        Ok(names.iter().map(time).collect())
    }

    /// Waits for the last command and returns the time of every stage, in the order in which the
    /// stages began.
    pub fn all_stage_times(&self) -> Result<Vec<StageTime>> {
        let mut names = Vec::new();
        for event in &self.record.borrow().events {
            if !names.contains(&event.stage) {
                names.push(event.stage);
            }
        }
        self.stage_times(&names)
    }

    /// Waits for the last command and returns the busy time of the commands in milliseconds for
    /// each set of bins, or `None` if the queue records no times.
    pub fn bin_times(&self) -> Result<Option<BTreeMap<u64, f64>>> {
        self.wait()?;
        let mut times = BTreeMap::new();
        for TimedEvent { bins, event, .. } in &self.record.borrow().events {
            let Some(ns) = event.nanoseconds() else { return Ok(None) };
            *times.entry(*bins).or_insert(0.0) += ns as f64 / 1e6;
        }
        for (_, bins, ns) in &self.record.borrow().on_host {
            *times.entry(*bins).or_insert(0.0) += *ns as f64 / 1e6;
        }
        Ok(Some(times))
    }
}
