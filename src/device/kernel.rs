//! Typed launches: a kernel accepts the arguments that the macro `kernel!` declares for it.
#[cfg(test)]
mod tests;

use super::{
    Arguing, Arguments, Declared, Device, arguments,
    batch::Unit,
    kernel_handle::KernelHandle,
    parameters::parameters,
    program::{Compiled, Program},
    queue::Waits,
    uses::{FirstUse, Uses},
    work::Work,
};
use crate::{
    Result,
    device::{Options, Source},
};
use opencl3::{
    command_queue as clq,
    error_codes::{DLOPEN_FUNCTION_NOT_AVAILABLE, DLOPEN_RUNTIME_LOAD_FAILED},
    types::{cl_command_queue, cl_event, cl_kernel},
};
use std::{
    any::TypeId,
    marker::PhantomData,
    ptr,
    sync::{Arc, OnceLock},
};

/// Work-groups of one size, in one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    groups: usize,
    group_size: usize,
}

impl Grid {
    /// `groups` work-groups.
    pub fn groups(groups: usize, group_size: usize) -> Self {
        Self { groups, group_size }
    }

    /// One work-item for each of `items`, rounded up to whole work-groups.
    pub fn items(items: usize, group_size: usize) -> Self {
        Self { groups: items.div_ceil(group_size), group_size }
    }
}

/// A kernel with arguments of type `S`. Several threads may launch it.
pub(crate) struct Kernel<S> {
    untyped: Untyped,
    arguments: PhantomData<fn(S)>,
}

/// Declares kernels that are compiled with the same options. Each is made by [`Kernel::new`] or by
/// [`Kernel::rare`].
macro_rules! kernels {
    (
        $(#[$meta:meta])* $visibility:vis struct $name:ident { $($make:ident $kernel:ident: $arguments:ident),+ $(,)? }
    ) => {
        $(#[$meta])*
        $visibility struct $name {
            $($kernel: $crate::device::Kernel<$arguments<'static>>),+
        }
        impl $name {
            pub fn new(device: &$crate::Device, options: &$crate::device::Options) -> $crate::Result<Self> {
                Ok(Self { $($kernel: $crate::device::Kernel::$make(device, options)?),+ })
            }
        }
    };
}
pub(crate) use kernels;

/// The part of a kernel that does not depend on its argument types, so that it is compiled once.
struct Untyped {
    home: Arc<Program>,
    /// Set after the parameters of the compiled kernel have been compared with the declared ones.
    checked: OnceLock<()>,
    first_use: Arc<FirstUse>,
}

/// The declaration of a kernel's arguments: their Rust type and their parameters.
#[derive(Clone, Copy)]
struct Declaration {
    id: TypeId,
    fields: &'static str,
    declare: fn(&mut Declared),
}

impl<S: Arguments> Kernel<S> {
    fn declaration() -> Declaration {
        Declaration { id: TypeId::of::<S>(), fields: S::FIELDS, declare: S::declare }
    }

    /// Requests the kernel, compiled with these options. The first launch waits until the kernel is
    /// compiled.
    pub fn new(device: &Device, options: &Options) -> Result<Self> {
        Self::new_from(S::SOURCE, device, options)
    }

    /// Like [`Kernel::new`], for a kernel that most products do not launch. The kernel is requested
    /// at its first launch, or by [`Kernel::ask`].
    pub fn rare(device: &Device, options: &Options) -> Result<Self> {
        Self::rare_from(S::SOURCE, device, options)
    }

    /// Like [`Kernel::new`], but compiles the file `source`, which must contain a kernel of the
    /// same name and arguments.
    pub fn new_from(source: Source, device: &Device, options: &Options) -> Result<Self> {
        let kernel = Self::rare_from(source, device, options)?;
        kernel.ask(device);
        Ok(kernel)
    }

    /// Like [`Kernel::rare`], but compiles the file `source`, which must contain a kernel of the
    /// same name and arguments.
    pub fn rare_from(source: Source, device: &Device, options: &Options) -> Result<Self> {
        Ok(Self { untyped: Untyped::new(device, source, S::KERNEL, options), arguments: PhantomData })
    }

    /// Requests a kernel that was made by [`Kernel::rare`].
    pub fn ask(&self, device: &Device) {
        self.untyped.ask(device);
    }

    /// Waits until the kernel is compiled. Returns the compiler's errors before any launch.
    pub fn ready(&self, work: &Work) -> Result<()> {
        self.untyped.compiled(work, Self::declaration()).map(|_| ())
    }

    /// Enqueues the kernel over `grid` as part of the current stage of `work`. An empty grid
    /// enqueues nothing.
    pub fn launch(&self, work: &Work, grid: Grid, args: S::Passed<'_>) -> Result<()> {
        // SAFETY: the parameters of the compiled kernel have been compared with those of `S`.
        // Buffers named in `args` may be dropped before the kernel has run, because the pool reuses
        // their memory only after the kernel (see pool.rs).
        self.untyped.launch(work, grid, Self::declaration(), &|arguing| unsafe { S::pass(&args, arguing) })
    }
}

impl Untyped {
    #[inline(never)]
    fn new(device: &Device, source: Source, kernel: &'static str, options: &Options) -> Self {
        let home = device.inner.programs.get(Unit { source, options: options.clone(), kernel });
        Self { home, checked: OnceLock::new(), first_use: Arc::default() }
    }

    #[inline(never)]
    fn ask(&self, device: &Device) {
        device.inner.compiler.ask(&self.home);
    }

    /// Returns the compiled kernel, after checking that it has the declared arguments.
    fn compiled(&self, work: &Work, declared: Declaration) -> Result<&Compiled> {
        let (compiled, waited) = work.device().inner.compiler.compiled(&self.home);
        work.count_kernel_wait(waited);
        let compiled = compiled?;
        if self.checked.get().is_none() {
            if compiled.agreed.get() != Some(&declared.id) {
                let parameters = parameters(declared.fields, &self.home.unit.options.words, declared.declare);
                arguments::compare(&compiled.arguments.arguments, self.home.unit.kernel, &parameters)?;
                compiled.agreed.get_or_init(|| declared.id);
            }
            self.checked.get_or_init(|| ());
        }
        Ok(compiled)
    }

    /// Enqueues the kernel, whose arguments `pass` sets.
    #[inline(never)]
    fn launch(&self, work: &Work, grid: Grid, declared: Declaration, pass: &dyn Fn(&mut Arguing<'_>)) -> Result<()> {
        if grid.groups == 0 {
            return Ok(());
        }
        let compiled = self.compiled(work, declared)?;
        let raw = compiled.take()?;
        raw.launch_on(work.queue());
        let mut uses = work.uses(&[]);
        uses.note(&self.first_use);
        let mut arguing = Arguing::new(&raw, self.home.unit.kernel, &self.home.unit.options.words, uses);
        pass(&mut arguing);
        let uses = arguing.finish()?;
        // SAFETY: all arguments of the kernel have been set.
        unsafe { enqueue(work, &raw, grid, &uses)? };
        compiled.put_back(raw);
        Ok(())
    }
}

/// Enqueues a kernel. The first command that uses a kernel or some memory may fail for lack of
/// memory, so such a command has an event that reports the failure.
///
/// # Safety
/// Every argument must be set.
unsafe fn enqueue(work: &Work, raw: &KernelHandle, grid: Grid, uses: &Uses) -> Result<()> {
    let (global, local) = ([grid.groups * grid.group_size], [grid.group_size]);
    work.launch(uses, &mut |queue, wait| {
        let (global, local, waits, events) = (global.as_ptr(), local.as_ptr(), wait.len(), wait.pointer());
        // SAFETY: as the caller guarantees; both arrays of sizes have one dimension.
        unsafe {
            match wait.is_silent() && !uses.is_first() {
                true => enqueue_silently(queue, raw.get(), global, local, wait),
                false => clq::enqueue_nd_range_kernel(queue, raw.get(), 1, ptr::null(), global, local, waits, events),
            }
        }
    })
}

/// Enqueues a one-dimensional kernel without an event, and returns null in place of the event. On
/// an H200 a launch with an event takes two microseconds more than one without.
///
/// # Safety
/// See [`clq::enqueue_nd_range_kernel`].
unsafe fn enqueue_silently(
    queue: cl_command_queue,
    kernel: cl_kernel,
    global: *const usize,
    local: *const usize,
    wait: Waits<'_>,
) -> std::result::Result<cl_event, i32> {
    let library = cl3::load_library().as_ref().map_err(|_| DLOPEN_RUNTIME_LOAD_FAILED)?;
    let no_event = ptr::null_mut();
    let (waits, events) = (wait.len(), wait.pointer());
    let code = library.clEnqueueNDRangeKernel(queue, kernel, 1, ptr::null(), global, local, waits, events, no_event);
    match code {
        Some(0) => Ok(ptr::null_mut()),
        code => Err(code.unwrap_or(DLOPEN_FUNCTION_NOT_AVAILABLE)),
    }
}
