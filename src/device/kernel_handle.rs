//! Kernel handles. A handle stores the arguments of its kernel.
use super::{
    cl::check,
    handle::{Program, SharedKernel, text},
    pool::Memory,
    queue::Queue,
};
use crate::Result;
use opencl3::{
    kernel as clk,
    types::{cl_kernel, cl_mem},
};
use std::{
    cell::Cell,
    ffi::{CString, c_void},
    ptr,
};

/// A kernel. A kernel of OpenCL stores its arguments, so this type is not `Sync`: two threads
/// cannot use a kernel at the same time.
pub(super) struct KernelHandle {
    handle: SharedKernel,
    /// The number of the queue on which it is launched next.
    queue: Cell<u32>,
}

impl KernelHandle {
    /// A new handle of the kernel `name` of `program`.
    pub(super) fn of(program: &Program, name: &str) -> Result<Self> {
        let name = CString::new(name).expect("names of our own have no zero byte");
        let made = check("clCreateKernel", clk::create_kernel(program.get(), &name))?;
        // SAFETY: the kernel was made for this handle.
        Ok(Self { handle: unsafe { SharedKernel::from_raw(made) }, queue: Cell::new(0) })
    }

    pub(super) fn get(&self) -> cl_kernel {
        self.handle.get()
    }

    /// Chooses the queue of the next launch. Memory arguments set after this call count as used on
    /// `queue`.
    pub(super) fn launch_on(&self, queue: &Queue) {
        self.queue.set(queue.number());
    }

    /// # Safety
    /// Argument `index` of the kernel must be a pointer to global memory.
    pub(super) unsafe fn set_memory(&self, index: u32, memory: &Memory) -> Result<()> {
        let raw: cl_mem = memory.raw_on(self.queue.get());
        // SAFETY: as the caller guarantees. For an argument in global memory OpenCL expects a
        // memory handle.
        unsafe { self.set(index, size_of::<cl_mem>(), (&raw const raw).cast()) }
    }

    /// # Safety
    /// Argument `index` of the kernel must be a pointer to global memory.
    pub(super) unsafe fn set_no_memory(&self, index: u32) -> Result<()> {
        let none: cl_mem = ptr::null_mut();
        // SAFETY: as the caller guarantees. The kernel gets a null pointer.
        unsafe { self.set(index, size_of::<cl_mem>(), (&raw const none).cast()) }
    }

    /// # Safety
    /// Argument `index` of the kernel must be a number with these bytes, in the form OpenCL
    /// expects.
    pub(super) unsafe fn set_number(&self, index: u32, bytes: &[u8]) -> Result<()> {
        // SAFETY: as the caller guarantees.
        unsafe { self.set(index, bytes.len(), bytes.as_ptr().cast()) }
    }

    /// # Safety
    /// The caller must keep the contract of `clSetKernelArg`, which copies the value.
    unsafe fn set(&self, index: u32, size: usize, value: *const c_void) -> Result<()> {
        // SAFETY: as the caller guarantees.
        check("clSetKernelArg", unsafe { clk::set_kernel_arg(self.get(), index, size, value) })
    }

    /// Sets the number of bytes of local memory for each work-group, at least 1.
    ///
    /// # Safety
    /// Argument `index` of the kernel must be a pointer to local memory.
    pub(super) unsafe fn set_local(&self, index: u32, bytes: u64) -> Result<()> {
        // SAFETY: as the caller guarantees. For an argument in local memory OpenCL expects a size
        // and a null pointer.
        unsafe { self.set(index, bytes as usize, ptr::null()) }
    }

    /// Number of arguments.
    pub(super) fn arguments(&self) -> Result<u32> {
        Ok(check("clGetKernelInfo", clk::get_kernel_info(self.get(), clk::CL_KERNEL_NUM_ARGS))?.into())
    }

    /// Name and type of an argument. The name or the type is empty if the driver does not provide
    /// it.
    pub(super) fn argument(&self, index: u32) -> (String, String) {
        let of = |what| clk::get_kernel_arg_info(self.get(), index, what).map(|name| text(name.into()));
        let name = of(clk::CL_KERNEL_ARG_NAME).unwrap_or_default();
        (name, of(clk::CL_KERNEL_ARG_TYPE_NAME).unwrap_or_default())
    }
}
