//! Contexts that share with OpenGL (feature `gl`), by `ocl-interop`: buffers that a renderer draws from, multiplied or written in place.
use super::Device;
use crate::{DeviceKind, Error, Result};

impl Device {
    /// A device whose context shares objects with the OpenGL context that is current in this thread.
    ///
    /// # Errors
    /// [`Error::NoOpenCl`]; [`Error::Unsupported`] where no driver shares with that context (PoCL never does) or none is current.
    pub fn with_gl() -> Result<Self> {
        let devices = Self::list()?; // ocl panics where there is nothing to list
        let unsupported = |hint: &str| Error::Unsupported {
            device: devices.iter().map(|device| device.name.as_str()).collect::<Vec<_>>().join(", "),
            feature: "OpenGL sharing (cl_khr_gl_sharing)",
            hint: hint.into(),
        };
        if !devices.iter().any(|device| device.kind == DeviceKind::Gpu) {
            return Err(unsupported("only a GPU's driver shares with OpenGL; use Device::auto()"));
        }
        let context = ocl_interop::get_context().ok_or_else(|| {
            unsupported("make an OpenGL context of the GPU's driver current first, or use Device::auto()")
        })?;
        let device =
            context.devices().first().copied().ok_or_else(|| unsupported("the shared context has no device"))?;
        let queue = ocl::Queue::new(&context, device, Some(ocl::flags::CommandQueueProperties::PROFILING_ENABLE))
            .map_err(|error| Error::Argument(format!("ocl: {error}")))?;
        Self::from_ocl(&queue)
    }
}
