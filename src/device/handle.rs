//! Handles of OpenCL objects. Each handle holds one reference and releases it when dropped. If the
//! release fails, the error is ignored. The wrappers of opencl3 would panic, so a lost device would
//! end the host program.
use super::{cl::check, info::DeviceId};
use crate::Result;
use opencl3::{
    command_queue as clq,
    context::context as clc,
    event as cle, kernel as clk, program as clp,
    types::{cl_command_queue, cl_context, cl_event, cl_kernel, cl_program},
};
use std::{
    ffi::{CString, c_void},
    ptr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

/// A `cl_context` as a plain pointer, which every OpenCL binding can provide.
pub type RawContext = *mut c_void;
/// `cl_device_id`.
pub type RawDevice = *mut c_void;
/// `cl_command_queue`.
pub type RawQueue = *mut c_void;
/// `cl_mem`.
pub type RawMemory = *mut c_void;
/// `cl_event`.
pub type RawEvent = *mut c_void;

/// Defines a type of handles. A value of this type stores the raw handle as a number, so that
/// handles of thread-safe objects are `Send` and `Sync`.
macro_rules! handle {
    ($(#[$doc:meta])* $name:ident: $raw:ty, $release:path) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(super) struct $name(isize);

        impl $name {
            /// Takes over one reference.
            ///
            /// # Safety
            /// `raw` must be valid, and the caller must own the reference that is given away.
            pub(super) unsafe fn from_raw(raw: $raw) -> Self {
                Self(raw as isize)
            }

            pub(super) fn get(&self) -> $raw {
                self.0 as $raw
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: the handle owns the reference and releases it once. If the release fails,
                // the object leaks.
                let _ = unsafe { $release(self.get()) };
            }
        }
    };
}

handle!(
    /// A context.
    Context: cl_context, clc::release_context
);
handle!(
    /// A command queue.
    CommandQueue: cl_command_queue, clq::release_command_queue
);
handle!(
    /// One of OpenCL's events.
    EventHandle: cl_event, cle::release_event
);
handle!(
    /// A program.
    Program: cl_program, clp::release_program
);
handle!(
    /// The part of a kernel that threads can share.
    SharedKernel: cl_kernel, clk::release_kernel
);

/// The event of a command. Commands enqueued without an event share the event of a marker, which is
/// enqueued when this event is first needed. The marker comes after all commands that the queue has
/// accepted when the marker is enqueued.
#[derive(Debug)]
pub(super) struct Event {
    handle: OnceLock<EventHandle>,
    /// The marker that provides the event later, or `None` if the command has its own event.
    marker: Option<LaterMarker>,
}

/// The marker that commands without events share.
#[derive(Debug)]
struct LaterMarker {
    /// The queue of the commands, which runs commands in order.
    queue: Arc<CommandQueue>,
    /// Whether the marker has been requested. Commands accepted after the request may come after
    /// the marker.
    is_needed: AtomicBool,
}

impl Context {
    /// Creates a context of one device.
    pub(super) fn of(device: DeviceId) -> Result<Self> {
        let made = clc::create_context(&[device.raw()], ptr::null(), None, ptr::null_mut());
        // SAFETY: the context was made for this handle.
        Ok(unsafe { Self::from_raw(check("clCreateContext", made)?) })
    }
}

impl CommandQueue {
    /// Creates a queue that runs in order, for the device of `context`. `keeps_times` enables
    /// profiling.
    pub(super) fn new(context: &Context, device: DeviceId, keeps_times: bool) -> Result<Self> {
        let properties = if keeps_times { clq::CL_QUEUE_PROFILING_ENABLE } else { 0 };
        // SAFETY: the context and the device are valid. This function of OpenCL 1.x exists on every
        // platform.
        #[allow(deprecated)]
        let made = unsafe { clq::create_command_queue(context.get(), device.raw(), properties) };
        // SAFETY: the queue was made for this handle.
        Ok(unsafe { Self::from_raw(check("clCreateCommandQueue", made)?) })
    }
}

impl Event {
    /// Takes over one reference to a command's own event.
    ///
    /// # Safety
    /// `raw` must be valid, and the caller must own the reference that is given away.
    pub(super) unsafe fn from_raw(raw: cl_event) -> Self {
        // SAFETY: as the caller guarantees.
        let handle = unsafe { EventHandle::from_raw(raw) };
        Self { handle: handle.into(), marker: None }
    }

    /// The common event of all commands that `queue` accepts until the event is needed. The queue
    /// must run in order.
    pub(super) fn behind(queue: Arc<CommandQueue>) -> Self {
        Self { handle: OnceLock::new(), marker: Some(LaterMarker { queue, is_needed: AtomicBool::new(false) }) }
    }

    /// Whether this is the event of a single command.
    pub(super) fn is_own(&self) -> bool {
        self.marker.is_none()
    }

    /// Whether this is the common event of several commands, and its marker is not enqueued yet.
    pub(super) fn is_open(&self) -> bool {
        // If the flag `is_needed` is not set yet, every command that the driver has already
        // accepted runs before the marker. The flag is set before the driver gets the marker, and
        // the driver accepts commands one by one.
        self.marker.as_ref().is_some_and(|marker| !marker.is_needed.load(Ordering::SeqCst))
    }

    /// Whether the event exists already: either it belongs to a single command, or a caller has
    /// needed it.
    pub(super) fn is_known(&self) -> bool {
        self.handle.get().is_some()
    }

    /// Uses `raw` as the event of the marker.
    ///
    /// # Safety
    /// See [`Event::from_raw`].
    #[cfg(test)]
    pub(super) unsafe fn be_marked_by(&self, raw: cl_event) {
        // SAFETY: as the caller guarantees.
        self.handle.set(unsafe { EventHandle::from_raw(raw) }).expect("it was not needed before");
    }

    pub(super) fn get(&self) -> Result<cl_event> {
        if let (None, Some(LaterMarker { queue, is_needed })) = (self.handle.get(), &self.marker) {
            is_needed.store(true, Ordering::SeqCst);
            // SAFETY: the queue is valid, and there are no events to wait for.
            let made = unsafe { clq::enqueue_marker_with_wait_list(queue.get(), 0, ptr::null()) };
            // SAFETY: the event was made for this handle. If another thread was first, this event
            // is released.
            let _ = self.handle.set(unsafe { EventHandle::from_raw(check("clEnqueueMarkerWithWaitList", made)?) });
        }
        Ok(self.handle.get().map_or(ptr::null_mut(), EventHandle::get))
    }

    /// State of the command: 0 if it has ended, positive if it is pending, negative (the error
    /// code) if it has failed.
    pub(super) fn status(&self) -> Result<i32> {
        let status = cle::get_event_info(self.get()?, cle::CL_EVENT_COMMAND_EXECUTION_STATUS);
        Ok(check("clGetEventInfo", status)?.into())
    }

    /// The time of the ended command in nanoseconds, or `None` if its queue keeps no times.
    pub(super) fn nanoseconds(&self) -> Option<u64> {
        let event = self.handle.get()?.get();
        let at = |what| cle::get_event_profiling_info(event, what).ok().map(u64::from);
        Some(at(cle::CL_PROFILING_COMMAND_END)?.saturating_sub(at(cle::CL_PROFILING_COMMAND_START)?))
    }

    /// Waits until the command has ended.
    pub(super) fn wait(&self) -> Result<()> {
        check("clWaitForEvents", cle::wait_for_events(&[self.get()?]))
    }
}

impl Program {
    pub(super) fn from_source(context: &Context, text: &str) -> Result<Self> {
        let made = clp::create_program_with_source(context.get(), &[text]);
        // SAFETY: the program was made for this handle.
        Ok(unsafe { Self::from_raw(check("clCreateProgramWithSource", made)?) })
    }

    /// A program from a binary, for the device of `context`.
    ///
    /// # Safety
    /// `binary` must come from the driver of this device, in this version.
    pub(super) unsafe fn from_binary(context: &Context, device: DeviceId, binary: &[u8]) -> Result<Self> {
        // SAFETY: as the caller guarantees.
        unsafe {
            let made = clp::create_program_with_binary(context.get(), &[device.raw()], &[binary]);
            Ok(Self::from_raw(check("clCreateProgramWithBinary", made)?))
        }
    }

    /// Builds the program for `device`.
    ///
    /// # Errors
    /// OpenCL's error code.
    pub(super) fn build(&self, device: DeviceId, options: &str) -> std::result::Result<(), i32> {
        let options = CString::new(options).expect("options of our own have no zero byte");
        clp::build_program(self.get(), &[device.raw()], &options, None, ptr::null_mut())
    }

    /// The compiler's log; empty if it wrote none.
    pub(super) fn build_log(&self, device: DeviceId) -> String {
        let log = clp::get_program_build_info(self.get(), device.raw(), clp::CL_PROGRAM_BUILD_LOG);
        log.map(|log| text(log.into())).unwrap_or_default()
    }

    /// The names of the kernels in the built program.
    pub(super) fn kernel_names(&self) -> Result<Vec<String>> {
        let names = clp::get_program_info(self.get(), clp::CL_PROGRAM_KERNEL_NAMES);
        let names = text(check("clGetProgramInfo", names)?.into());
        Ok(names.split(';').map(|name| name.trim().to_owned()).collect())
    }

    /// The binary for `device`, if the driver provides it. A context may have several devices.
    pub(super) fn binary_of(&self, device: DeviceId) -> Option<Vec<u8>> {
        let info = |what| clp::get_program_info(self.get(), what).ok();
        let devices: Vec<isize> = info(clp::CL_PROGRAM_DEVICES)?.into();
        let place = devices.iter().position(|&one| one == device.raw() as isize)?;
        let binaries: Vec<Vec<u8>> = info(clp::CL_PROGRAM_BINARIES)?.into();
        binaries.into_iter().nth(place).filter(|binary| !binary.is_empty())
    }
}

/// Decodes text from OpenCL, without the zero byte at its end.
pub(super) fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned()
}
