//! The typed launch: a kernel's arguments are declared once as a type, checked by rustc at every call and against the compiled
//! program when the kernel is first taken from it.
//!
//! ```text
//! type Signature<T> = (In<u32>, In<T>, Out<T>, u32);          // kernel void k(global const uint*, ..., global T*, uint)
//! let kernel: Kernel<Signature<f64>> = device.kernel(source!("esc/k.cl"), &options, "k")?;
//! kernel.launch(&work, Grid::items(n, group_size), (&rows, &values, &mut sums, n))?;
//! ```
use super::{Device, buffer::Buffer, cl::check, program::Compiled, work::Work};
use crate::{
    Error, Result, Word,
    device::{Options, Source},
};
use opencl3::kernel as cl;
use std::{
    any::TypeId,
    collections::HashMap,
    marker::PhantomData,
    ptr,
    sync::{Arc, Mutex, PoisonError},
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
    /// # Safety
    /// Argument `index` of the kernel must have the type [`Param::cl_type`].
    unsafe fn set(kernel: &cl::Kernel, index: u32, value: &Self::Value<'_>) -> opencl3::Result<()>;
}

macro_rules! buffer_param {
    ($param:ident, $value:ty) => {
        impl<T: Word> Param for $param<T> {
            type Value<'a> = $value;
            fn cl_type() -> String {
                format!("{}*", T::CL_NAME)
            }
            unsafe fn set(kernel: &cl::Kernel, index: u32, value: &Self::Value<'_>) -> opencl3::Result<()> {
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
    unsafe fn set(kernel: &cl::Kernel, index: u32, value: &T) -> opencl3::Result<()> {
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
            unsafe fn set(kernel: &cl::Kernel, index: u32, value: &$scalar) -> opencl3::Result<()> {
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
    /// # Safety
    /// The kernel must take exactly [`Signature::cl_types`].
    unsafe fn set(kernel: &cl::Kernel, values: &Self::Values<'_>) -> opencl3::Result<()>;
}

macro_rules! signature {
    ($($param:ident $index:tt),+) => {
        impl<$($param: Param + 'static),+> Signature for ($($param,)+) {
            type Values<'a> = ($($param::Value<'a>,)+);
            fn cl_types() -> Vec<String> {
                vec![$($param::cl_type()),+]
            }
            unsafe fn set(kernel: &cl::Kernel, values: &Self::Values<'_>) -> opencl3::Result<()> {
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

/// A kernel's name and the signature it was checked against.
type KernelKey = (&'static str, TypeId);

/// The kernels of one program that nobody is setting arguments of. A `cl_kernel` holds its arguments, so two threads cannot share one.
#[derive(Default)]
pub(super) struct RawKernels {
    idle: Mutex<HashMap<KernelKey, Vec<cl::Kernel>>>,
}

/// A kernel whose argument list is the type `S`; returns to its program when dropped.
pub(crate) struct Kernel<S> {
    raw: Option<cl::Kernel>,
    key: KernelKey,
    home: Arc<Compiled>,
    signature: PhantomData<fn(S)>,
}

impl Device {
    /// The kernel `name` of `source` compiled with `options`: from the cache, or compiled and checked against `S`.
    pub(crate) fn kernel<S: Signature>(
        &self,
        source: Source,
        options: &Options,
        name: &'static str,
    ) -> Result<Kernel<S>> {
        let inner = &self.inner;
        let home = inner.programs.get(&inner.context, inner.info.id.raw(), source, options)?;
        let key = (name, TypeId::of::<S>());
        let idle = home.kernels.idle.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&key).and_then(Vec::pop);
        let raw = match idle {
            Some(raw) => raw,
            None => {
                let raw = check("clCreateKernel", cl::Kernel::create(&home.program, name))?;
                verify::<S>(&raw, name)?;
                raw
            }
        };
        Ok(Kernel { raw: Some(raw), key, home, signature: PhantomData })
    }
}

fn verify<S: Signature>(raw: &cl::Kernel, kernel: &'static str) -> Result<()> {
    let want = S::cl_types();
    let have = check("clGetKernelInfo", raw.num_args())? as usize;
    if have != want.len() {
        return Err(Error::Signature {
            kernel,
            detail: format!("takes {have} arguments, the host passes {}", want.len()),
        });
    }
    for (index, want) in want.iter().enumerate() {
        // A driver may withhold argument types; the count above is then the whole check.
        let Ok(have) = raw.get_arg_type_name(index as u32) else { break };
        let have = have.trim_end_matches('\0').replace(' ', "");
        if have != *want && !have.is_empty() {
            let name = raw.get_arg_name(index as u32).unwrap_or_default();
            return Err(Error::Signature {
                kernel,
                detail: format!(
                    "argument {index} ({}) is `{have}`, the host passes `{want}`",
                    name.trim_end_matches('\0')
                ),
            });
        }
    }
    Ok(())
}

impl<S: Signature> Kernel<S> {
    /// Enqueues the kernel over `grid`, as a part of the current stage of `work`; an empty grid enqueues nothing.
    pub fn launch(&self, work: &Work, grid: Grid, args: S::Values<'_>) -> Result<()> {
        if grid.groups == 0 {
            return Ok(());
        }
        let Some(raw) = &self.raw else { return Ok(()) };
        // SAFETY: `verify` compared the argument list with `S` when this kernel was made.
        check("clSetKernelArg", unsafe { S::set(raw, &args) })?;
        let (global, local) = ([grid.groups * grid.group_size], [grid.group_size]);
        work.launch(|queue, wait| {
            // SAFETY: every argument is set; the sizes are arrays of the one dimension named. Buffers named in `args` may be
            // dropped before the kernel ran: their memory is then reused behind it on the same queue (see pool.rs).
            unsafe { queue.enqueue_nd_range_kernel(raw.get(), 1, ptr::null(), global.as_ptr(), local.as_ptr(), wait) }
        })
    }
}

impl<S> Drop for Kernel<S> {
    fn drop(&mut self) {
        if let Some(raw) = self.raw.take() {
            let mut idle = self.home.kernels.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.entry(self.key).or_default().push(raw);
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

    #[test]
    fn a_wrong_declaration_is_refused_before_any_launch() {
        let device = test_device();
        let options = Options::group_size(16);
        let text = |error: Option<Error>| error.map(|e| e.to_string()).unwrap_or_default();
        // One that was declared right is idle meanwhile: it must not be taken for another declaration.
        drop(device.kernel::<(In<u32>, InOut<u32>, u32)>(SUM, &options, "sum"));
        let fewer = text(device.kernel::<(In<u32>, u32)>(SUM, &options, "sum").err());
        assert!(fewer.contains("takes 3 arguments, the host passes 2"), "{fewer}");
        let other = text(device.kernel::<(In<f32>, Out<u32>, u32)>(SUM, &options, "sum").err());
        assert!(other.contains("argument 0 (a) is `uint*`, the host passes `float*`"), "{other}");
        let wide = text(device.kernel::<(In<u32>, Out<u32>, u64)>(SUM, &options, "sum").err());
        assert!(wide.contains("argument 2 (n) is `uint`, the host passes `ulong`"), "{wide}");
        assert!(device.kernel::<(In<u32>, u32)>(SUM, &options, "product").is_err());
        let broken = Source { path: "broken.cl", text: "KERNEL broken(global uint* a) { a[0] = nonsense; }" };
        let log = text(device.kernel::<(In<u32>, u32)>(broken, &options, "broken").err());
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
