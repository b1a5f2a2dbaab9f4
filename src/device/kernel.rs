//! The typed launch: a kernel's arguments are declared once as a type, checked by rustc at every call and against the compiled
//! program before the kernel is first launched.
//!
//! ```text
//! type Signature<T> = (In<u32>, In<T>, Out<T>, u32);          // kernel void k(global const uint*, ..., global T*, uint)
//! let kernel: Kernel<Signature<f64>> = device.kernel(source!("esc/k.cl"), &options, "k")?;
//! kernel.launch(&work, Grid::items(n, group_size), (&rows, &values, &mut sums, n))?;
//! ```
use super::{
    Device, arguments,
    batch::Unit,
    buffer::Buffer,
    handle,
    program::{Compiled, Program},
    work::Work,
};
use crate::{
    Result, Word,
    device::{Options, Source},
};
use opencl3::command_queue as clq;
use std::{
    any::TypeId,
    cell::OnceCell,
    collections::HashMap,
    marker::PhantomData,
    ptr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A buffer the kernel reads.
pub(crate) struct In<T>(PhantomData<T>);
/// A buffer the kernel writes.
pub(crate) struct Out<T>(PhantomData<T>);
/// A buffer the kernel reads and writes.
pub(crate) struct InOut<T>(PhantomData<T>);

/// A number.
pub(crate) struct Scalar<T>(PhantomData<T>);

/// One kernel parameter: its OpenCL type, and what the host passes for it.
pub(crate) trait Param {
    type Value<'a>;
    fn cl_type() -> String;
    /// Bytes of memory passed.
    fn bytes(value: &Self::Value<'_>) -> u64;
    /// # Safety
    /// Argument `index` of the kernel must have the type [`Param::cl_type`].
    unsafe fn set(kernel: &handle::Kernel, index: u32, value: &Self::Value<'_>) -> Result<()>;
}

macro_rules! buffer_param {
    ($param:ident, $value:ty) => {
        impl<T: Word> Param for $param<T> {
            type Value<'a> = $value;
            fn cl_type() -> String {
                format!("{}*", T::CL_NAME)
            }
            fn bytes(value: &Self::Value<'_>) -> u64 {
                value.bytes()
            }
            unsafe fn set(kernel: &handle::Kernel, index: u32, value: &Self::Value<'_>) -> Result<()> {
                // SAFETY: the argument is a global pointer by the caller's word; the handle lives as long as the borrow.
                unsafe { kernel.set_arg(index, &value.raw()) }
            }
        }
    };
}
buffer_param!(In, &'a Buffer<T>);
buffer_param!(Out, &'a mut Buffer<T>);
buffer_param!(InOut, &'a mut Buffer<T>);

impl<T: Word> Param for Scalar<T> {
    type Value<'a> = T;
    fn cl_type() -> String {
        T::CL_NAME.into()
    }
    fn bytes(_: &T) -> u64 {
        0
    }
    unsafe fn set(kernel: &handle::Kernel, index: u32, value: &T) -> Result<()> {
        // SAFETY: the argument has this type by the caller's word.
        unsafe { kernel.set_arg(index, value) }
    }
}

/// The numbers kernels take most, by their own names.
macro_rules! scalar_param {
    ($($scalar:ty),+) => { $(
        impl Param for $scalar {
            type Value<'a> = $scalar;
            fn cl_type() -> String {
                Scalar::<$scalar>::cl_type()
            }
            fn bytes(_: &$scalar) -> u64 {
                0
            }
            unsafe fn set(kernel: &handle::Kernel, index: u32, value: &$scalar) -> Result<()> {
                // SAFETY: passed on from the caller.
                unsafe { Scalar::<$scalar>::set(kernel, index, value) }
            }
        }
    )+ };
}
scalar_param!(u32, u64);

/// A whole argument list: a tuple of [`Param`]s.
pub(crate) trait Signature: 'static {
    type Values<'a>;
    fn cl_types() -> Vec<String>;
    /// Bytes of memory passed.
    fn bytes(values: &Self::Values<'_>) -> u64;
    /// # Safety
    /// The kernel must take exactly [`Signature::cl_types`].
    unsafe fn set(kernel: &handle::Kernel, values: &Self::Values<'_>) -> Result<()>;
}

macro_rules! signature {
    ($($param:ident $index:tt),+) => {
        impl<$($param: Param + 'static),+> Signature for ($($param,)+) {
            type Values<'a> = ($($param::Value<'a>,)+);
            fn cl_types() -> Vec<String> {
                vec![$($param::cl_type()),+]
            }
            fn bytes(values: &Self::Values<'_>) -> u64 {
                [$($param::bytes(&values.$index)),+].iter().sum()
            }
            unsafe fn set(kernel: &handle::Kernel, values: &Self::Values<'_>) -> Result<()> {
                // SAFETY: passed on from the caller, argument by argument.
                unsafe { $($param::set(kernel, $index, &values.$index)?;)+ }
                Ok(())
            }
        }
    };
}
signature!(A 0, B 1);
signature!(A 0, B 1, C 2);
signature!(A 0, B 1, C 2, D 3);
signature!(A 0, B 1, C 2, D 3, E 4);
signature!(A 0, B 1, C 2, D 3, E 4, F 5);
signature!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
signature!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
signature!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
signature!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
signature!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
signature!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);
signature!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12);
signature!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13);
signature!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14);
signature!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14, P 15);
signature!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14, P 15, Q 16, R 17, U 18);

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

    /// One work-item for each of `items`, padded to whole work-groups.
    pub fn items(items: usize, group_size: usize) -> Self {
        Self { groups: items.div_ceil(group_size), group_size }
    }
}

/// The handles of one kernel that nobody is setting arguments of, by the signature they were checked against. A `cl_kernel` holds its
/// arguments, so two threads cannot share one.
#[derive(Default)]
pub(super) struct Handles {
    idle: Mutex<HashMap<TypeId, Vec<handle::Kernel>>>,
}

impl Handles {
    fn idle(&self) -> MutexGuard<'_, HashMap<TypeId, Vec<handle::Kernel>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Compiled {
    /// A handle that nobody uses, or a new one, whose arguments are `S`.
    fn take<S: Signature>(&self, name: &'static str) -> Result<handle::Kernel> {
        if let Some(idle) = self.handles.idle().get_mut(&TypeId::of::<S>()).and_then(Vec::pop) {
            return Ok(idle);
        }
        arguments::compare(&self.takes.arguments, name, &S::cl_types())?;
        self.create()
    }
}

/// A kernel whose argument list is the type `S`; returns to its program when dropped.
pub(crate) struct Kernel<S> {
    raw: OnceCell<handle::Kernel>,
    /// What of `S` is left when it is dropped.
    types: TypeId,
    home: Arc<Program>,
    signature: PhantomData<fn(S)>,
}

impl Device {
    /// The kernel `name` of `source` compiled with `options`. It is asked for here, and waited for at the first launch.
    pub(crate) fn kernel<S: Signature>(
        &self,
        source: Source,
        options: &Options,
        name: &'static str,
    ) -> Result<Kernel<S>> {
        let kernel = self.rare_kernel(source, options, name)?;
        self.inner.compiler.ask(&kernel.home);
        Ok(kernel)
    }

    /// The same for a kernel that most products do not launch: asked for when it is launched.
    pub(crate) fn rare_kernel<S: Signature>(
        &self,
        source: Source,
        options: &Options,
        name: &'static str,
    ) -> Result<Kernel<S>> {
        let home = self.inner.programs.get(Unit { source, options: options.clone(), kernel: name });
        Ok(Kernel { raw: OnceCell::new(), types: TypeId::of::<S>(), home, signature: PhantomData })
    }
}

impl<S: Signature> Kernel<S> {
    /// The kernel itself: taken from its program when that is made, and compared with `S`.
    fn raw(&self, work: &Work) -> Result<&handle::Kernel> {
        if let Some(raw) = self.raw.get() {
            return Ok(raw);
        }
        let (compiled, waited) = self.home.compiled(&work.device().inner.compiler);
        work.count_kernel_wait(waited);
        let raw = compiled?.take::<S>(self.home.unit.kernel)?;
        Ok(self.raw.get_or_init(|| raw))
    }

    /// Enqueues the kernel over `grid`, as a part of the current stage of `work`; an empty grid enqueues nothing.
    pub fn launch(&self, work: &Work, grid: Grid, args: S::Values<'_>) -> Result<()> {
        if grid.groups == 0 {
            return Ok(());
        }
        let raw = self.raw(work)?;
        // SAFETY: the argument list was compared with `S` when this kernel was taken from its program.
        unsafe { S::set(raw, &args)? };
        let (global, local) = ([grid.groups * grid.group_size], [grid.group_size]);
        work.launch(S::bytes(&args), |queue, wait| {
            // SAFETY: every argument is set; the sizes are arrays of the one dimension named. Buffers
            // named in `args` may be dropped before the kernel ran: their memory is then reused behind
            // it on the same queue (see pool.rs).
            unsafe {
                let (global, local) = (global.as_ptr(), local.as_ptr());
                clq::enqueue_nd_range_kernel(
                    queue,
                    raw.get(),
                    1,
                    ptr::null(),
                    global,
                    local,
                    wait.len(),
                    wait.pointer(),
                )
            }
        })
    }
}

impl<S> Drop for Kernel<S> {
    fn drop(&mut self) {
        if let Some(raw) = self.raw.take()
            && let Some(home) = self.home.if_made()
        {
            home.handles.idle().entry(self.types).or_default().push(raw);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_device;

    const SUM: Source = Source {
        path: "sum.cl",
        text: "KERNEL sum(global const uint* a, global uint* b, uint n) { uint i = get_global_id(0); if (i < n) b[i] += a[i]; }",
    };

    #[test]
    fn launches_what_was_declared() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        let sum: Kernel<(In<u32>, InOut<u32>, u32)> = device.kernel(SUM, &Options::group_size(16), "sum")?;
        // Nothing, one, around one and two work-groups.
        for n in [0u32, 1, 15, 16, 17, 32, 33] {
            let values: Vec<u32> = (0..n).collect();
            let (a, mut b) = (work.upload(&values)?, work.upload(&values)?);
            sum.launch(&work, Grid::items(n as usize, 16), (&a, &mut b, n))?;
            assert_eq!(b.download(&work)?, values.iter().map(|v| 2 * v).collect::<Vec<_>>());
        }
        Ok(())
    }

    /// What a kernel declared like this is refused with when it is to be launched.
    fn refusal<S: Signature>(source: Source, name: &'static str) -> String {
        let device = test_device();
        let kernel = device.kernel::<S>(source, &Options::group_size(16), name).unwrap();
        kernel.raw(&Work::new(&device, None)).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_wrong_declaration_is_refused_before_any_launch() {
        // One that was declared right is idle meanwhile: it must not be taken for another declaration.
        assert_eq!(refusal::<(In<u32>, InOut<u32>, u32)>(SUM, "sum"), "");
        let fewer = refusal::<(In<u32>, u32)>(SUM, "sum");
        assert!(fewer.contains("takes 3 arguments, the host passes 2"), "{fewer}");
        let other = refusal::<(In<f32>, Out<u32>, u32)>(SUM, "sum");
        assert!(other.contains("argument 0 (a) is `uint*`, the host passes `float*`"), "{other}");
        let wide = refusal::<(In<u32>, Out<u32>, u64)>(SUM, "sum");
        assert!(wide.contains("argument 2 (n) is `uint`, the host passes `ulong`"), "{wide}");
        let none = refusal::<(In<u32>, u32)>(SUM, "product");
        assert!(none.contains("product: its source has no such kernel"), "{none}");
        let broken = Source { path: "broken.cl", text: "KERNEL broken(global uint* a) { a[0] = nonsense; }" };
        let log = refusal::<(In<u32>, u32)>(broken, "broken");
        assert!(log.contains("broken.cl") && log.contains("nonsense"), "the log names file and word: {log}");
    }

    /// A data race on purpose: `tools/oclgrind` proves with it that its detector is on.
    #[test]
    fn a_planted_race_leaves_one_of_the_values() -> Result<()> {
        let race =
            Source { path: "race.cl", text: "KERNEL race(global uint* a, uint n) { a[0] = get_global_id(0) + n; }" };
        let device = test_device();
        let work = Work::new(&device, None);
        let kernel: Kernel<(Out<u32>, u32)> = device.kernel(race, &Options::group_size(4), "race")?;
        let mut one = work.buffer(1)?;
        kernel.launch(&work, Grid::groups(2, 4), (&mut one, 5))?;
        assert!((5..13).contains(&one.download(&work)?[0]));
        Ok(())
    }
}
