//! Devices whose context shares objects with OpenGL, by `ocl-interop` (feature `gl`). Buffers from
//! which a renderer draws can be multiplied or written in place.
use super::Device;
use crate::{DeviceKind, Error, Result};

impl Device {
    /// Opens a device whose context shares objects with the OpenGL context that is current in this
    /// thread.
    ///
    /// # Errors
    /// [`Error::NoOpenCl`]; [`Error::Unsupported`] if no OpenGL context is current, or if no driver
    /// can share objects with that context (PoCL cannot).
    pub fn with_gl() -> Result<Self> {
        // The crate `ocl` panics if there is no device.
        let devices = Self::list()?;
        let unsupported = |hint: &str| Error::Unsupported {
            device: devices.iter().map(|device| device.name.as_str()).collect::<Vec<_>>().join(", "),
            feature: "OpenGL sharing (cl_khr_gl_sharing)",
            hint: hint.into(),
        };
        if !devices.iter().any(|device| device.kind == DeviceKind::Gpu) {
            return Err(unsupported("only a GPU's driver shares with OpenGL; use Device::auto()"));
        }
        let none_current =
            || unsupported("make an OpenGL context of the GPU's driver current first, or use Device::auto()");
        if !is_current() {
            // A driver may create a context even if no OpenGL context is current, but that context
            // shares nothing.
            return Err(none_current());
        }
        let context = ocl_interop::get_context().ok_or_else(none_current)?;
        let device =
            context.devices().first().copied().ok_or_else(|| unsupported("the shared context has no device"))?;
        let queue = ocl::Queue::new(&context, device, Some(ocl::flags::CommandQueueProperties::PROFILING_ENABLE))
            .map_err(|error| Error::Argument(format!("ocl: {error}")))?;
        Self::from_ocl(&queue)
    }
}

/// Whether this thread has an OpenGL context, that is, whether a property that names a context is
/// not null.
fn is_current() -> bool {
    const GL_CONTEXT: isize = 0x2008; // CL_GL_CONTEXT_KHR
    // The property CL_CGL_SHAREGROUP_KHR, and Apple's older property for the same purpose.
    const SHARE_GROUPS: [isize; 2] = [0x200C, 0x1000_0000];
    ocl_interop::get_properties_list()
        .to_raw()
        .chunks_exact(2)
        .any(|property| (property[0] == GL_CONTEXT || SHARE_GROUPS.contains(&property[0])) && property[1] != 0)
}
