//! The faults that `tools/oclgrind` plants to prove that it would see one. Not part of the tests: its kernel is wrong on purpose.
use opencl3::{
    command_queue::CommandQueue,
    context::Context,
    device::{CL_DEVICE_TYPE_ALL, Device},
    kernel::{ExecuteKernel, Kernel},
    memory::{Buffer, CL_MEM_READ_WRITE},
    platform::get_platforms,
    program::Program,
    types::cl_uint,
};

/// Every item writes element 0, and the last item writes past the end.
const FAULTY: &str = "
__kernel void faulty(__global uint *out, uint length) {
    uint i = get_global_id(0);
    out[0] = i;
    out[i + 1] = i;
}";

#[test]
#[ignore = "plants a race and an overrun, for tools/oclgrind"]
fn planted_faults() -> Result<(), Box<dyn std::error::Error>> {
    let device = get_platforms()?
        .iter()
        .flat_map(|platform| platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default())
        .map(Device::new)
        .find(|device| device.name().is_ok_and(|name| name.contains("Oclgrind")))
        .expect("Oclgrind's simulator: on a real device the planted overrun would do harm");
    let context = Context::from_device(&device)?;
    let program = Program::create_and_build_from_source(&context, FAULTY, "-cl-std=CL1.2")?;
    let kernel = Kernel::create(&program, "faulty")?;
    #[allow(deprecated)] // OpenCL 1.2 has no other
    let queue = CommandQueue::create_default(&context, 0)?;
    const LENGTH: usize = 64;
    // SAFETY: none is claimed; the simulator checks every access and refuses the one past the end.
    unsafe {
        let buffer = Buffer::<cl_uint>::create(&context, CL_MEM_READ_WRITE, LENGTH, std::ptr::null_mut())?;
        ExecuteKernel::new(&kernel)
            .set_arg(&buffer)
            .set_arg(&(LENGTH as cl_uint))
            .set_global_work_size(LENGTH)
            .set_local_work_size(LENGTH / 2)
            .enqueue_nd_range(&queue)?;
    }
    queue.finish()?;
    Ok(())
}
