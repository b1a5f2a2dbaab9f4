//! Tests of OpenCL handles of an application, which are passed as raw pointers.
mod arrays;
mod events;
mod handed_out;
mod refusals;

use crate::common::device;
use blockmul::{Device, Matrix, Result, foreign::RawMatrix};
use opencl3::{
    command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, CommandQueue},
    context::Context,
    device::get_all_devices,
    memory::{Buffer, CL_MEM_READ_WRITE, ClMem},
};
use std::ptr;

/// Properties of the queues that an application may have: a plain queue, one that measures times,
/// and one that may reorder commands.
const QUEUES: [u64; 3] =
    [0, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE];

/// An application with its own context and queue. The application makes buffers.
pub struct App {
    queue: CommandQueue,
    context: Context,
}

impl App {
    pub fn new(properties: u64) -> Self {
        // The device of the other tests, by its index in the list. The device is opened first,
        // because two threads must not start PoCL at the same time.
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
