//! Typed launches: a kernel takes the arguments that `kernel!` declared for it.
use super::{
    Arguing, Arguments, Declared, Device, arguments,
    batch::Unit,
    handle,
    parameters::parameters,
    program::{Compiled, Program},
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
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

/// Work-groups of one size in one dimension.
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

/// Idle handles of one kernel, for one thread each. A `cl_kernel` stores its arguments, so two
/// threads cannot share one.
#[derive(Default)]
pub(super) struct Handles {
    idle: Mutex<Vec<handle::Kernel>>,
}

impl Handles {
    fn idle(&self) -> MutexGuard<'_, Vec<handle::Kernel>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Compiled {
    /// An idle handle, or a new one.
    fn take(&self) -> Result<handle::Kernel> {
        let idle = self.handles.idle().pop();
        idle.map_or_else(|| self.create(), Ok)
    }

    fn put_back(&self, handle: handle::Kernel) {
        self.handles.idle().push(handle);
    }
}

/// A kernel that takes the arguments `S`. Several threads may launch it.
pub(crate) struct Kernel<S> {
    untyped: Untyped,
    arguments: PhantomData<fn(S)>,
}

/// What is the same for all arguments, so that it is compiled once.
struct Untyped {
    home: Arc<Program>,
    /// Set once the compiled kernel's parameters have been compared with those declared.
    checked: OnceLock<()>,
}

/// Arguments as they are declared: their type, and their parameters.
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

    /// The kernel compiled with `options`. This requests it; the first launch waits for it.
    pub fn new(device: &Device, options: &Options) -> Result<Self> {
        Self::new_from(S::SOURCE, device, options)
    }

    /// As [`Kernel::new`], for a kernel that most products do not launch: it is requested at its
    /// first launch, or by [`Kernel::ask`].
    pub fn rare(device: &Device, options: &Options) -> Result<Self> {
        Self::rare_from(S::SOURCE, device, options)
    }

    /// As [`Kernel::new`], from another file that has a kernel of this name and these arguments.
    pub fn new_from(source: Source, device: &Device, options: &Options) -> Result<Self> {
        let kernel = Self::rare_from(source, device, options)?;
        kernel.ask(device);
        Ok(kernel)
    }

    /// As [`Kernel::rare`], from another file that has a kernel of this name and these arguments.
    pub fn rare_from(source: Source, device: &Device, options: &Options) -> Result<Self> {
        Ok(Self { untyped: Untyped::new(device, source, S::KERNEL, options), arguments: PhantomData })
    }

    /// Requests a kernel made by [`Kernel::rare`].
    pub fn ask(&self, device: &Device) {
        self.untyped.ask(device);
    }

    /// Enqueues the kernel over `grid` as a part of the current stage of `work`. An empty grid
    /// enqueues nothing.
    pub fn launch(&self, work: &Work, grid: Grid, args: S::Passed<'_>) -> Result<()> {
        // SAFETY: the kernel's parameters have been compared with those of `S` before. Buffers
        // named in `args` may be dropped before the kernel has run: their memory is then reused
        // only behind it (see pool.rs).
        self.untyped.launch(work, grid, Self::declaration(), &|arguing| unsafe { S::pass(&args, arguing) })
    }
}

impl Untyped {
    #[inline(never)]
    fn new(device: &Device, source: Source, kernel: &'static str, options: &Options) -> Self {
        let home = device.inner.programs.get(Unit { source, options: options.clone(), kernel });
        Self { home, checked: OnceLock::new() }
    }

    #[inline(never)]
    fn ask(&self, device: &Device) {
        device.inner.compiler.ask(&self.home);
    }

    /// The compiled kernel, after checking that it takes the arguments declared.
    fn compiled(&self, work: &Work, declared: Declaration) -> Result<&Compiled> {
        let (compiled, waited) = self.home.compiled(&work.device().inner.compiler);
        work.count_kernel_wait(waited);
        let compiled = compiled?;
        if self.checked.get().is_none() {
            if compiled.agreed.get() != Some(&declared.id) {
                let parameters = parameters(declared.fields, declared.declare);
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
        let is_first = self.checked.get().is_none();
        let compiled = self.compiled(work, declared)?;
        let raw = compiled.take()?;
        raw.launch_on(work.queue());
        let mut arguing = Arguing::new(&raw);
        pass(&mut arguing);
        let (bytes, is_fresh) = arguing.finish()?;
        // SAFETY: all arguments that the kernel takes have been set.
        unsafe { enqueue(work, &raw, grid, bytes, is_first || is_fresh)? };
        compiled.put_back(raw);
        Ok(())
    }
}

/// Enqueues a kernel whose buffers have `bytes` bytes. If the kernel or some of the buffers are
/// used for the first time, the device may lack memory for them, and the command has an event to
/// say so.
///
/// # Safety
/// Every argument must be set.
unsafe fn enqueue(work: &Work, raw: &handle::Kernel, grid: Grid, bytes: u64, is_first: bool) -> Result<()> {
    let (global, local) = ([grid.groups * grid.group_size], [grid.group_size]);
    work.launch(bytes, &mut |queue, wait| {
        let (global, local, waits, events) = (global.as_ptr(), local.as_ptr(), wait.len(), wait.pointer());
        // SAFETY: as the caller promises; the sizes are arrays of the one dimension named.
        unsafe {
            match wait.is_silent() && !is_first {
                true => enqueue_silently(queue, raw.get(), global, local, (waits, events)),
                false => clq::enqueue_nd_range_kernel(queue, raw.get(), 1, ptr::null(), global, local, waits, events),
            }
        }
    })
}

/// Enqueues a kernel of one dimension without an event; returns null for it. An event takes an H200
/// two microseconds.
///
/// # Safety
/// As [`clq::enqueue_nd_range_kernel`].
unsafe fn enqueue_silently(
    queue: cl_command_queue,
    kernel: cl_kernel,
    global: *const usize,
    local: *const usize,
    (waits, events): (u32, *const cl_event),
) -> std::result::Result<cl_event, i32> {
    let library = cl3::load_library().as_ref().map_err(|_| DLOPEN_RUNTIME_LOAD_FAILED)?;
    let no_event = ptr::null_mut();
    let code = library.clEnqueueNDRangeKernel(queue, kernel, 1, ptr::null(), global, local, waits, events, no_event);
    match code {
        Some(0) => Ok(ptr::null_mut()),
        code => Err(code.unwrap_or(DLOPEN_FUNCTION_NOT_AVAILABLE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{File, In, InOut, Local, Out, kernel, test_device};

    const SUM: Source = Source {
        files: &[&File {
            path: "sum.cl",
            text: "KERNEL sum(global const uint* a, global uint* b, uint n) { uint i = get_global_id(0); if (i < n) b[i] += a[i]; }",
        }],
    };
    kernel! { struct Sum = "sum" in (SUM) { a: In<u32>, b: InOut<u32>, n: u32 } }

    #[test]
    fn launches_what_was_declared() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        let sum: Kernel<Sum<'_>> = Kernel::new(&device, &Options::group_size(16))?;
        // No items, one, around one and around two work-groups.
        for n in [0u32, 1, 15, 16, 17, 32, 33] {
            let values: Vec<u32> = (0..n).collect();
            let (a, mut b) = (work.upload(&values)?, work.upload(&values)?);
            sum.launch(&work, Grid::items(n as usize, 16), Sum { a: &a, b: &mut b, n })?;
            assert_eq!(b.download(&work)?, values.iter().map(|v| 2 * v).collect::<Vec<_>>());
        }
        Ok(())
    }

    /// Each group adds up its values in local memory, whose size the host decides at each launch.
    #[test]
    fn a_group_has_the_local_memory_that_the_host_passes() -> Result<()> {
        const GROUP_SUM: Source = Source {
            files: &[&File {
                path: "group_sum.cl",
                text: "KERNEL group_sum(global const uint* a, local uint* held, global uint* sums, uint each) {
                       for (uint i = 0; i < each; ++i)
                           held[i * GROUP_SIZE + get_local_id(0)] = a[get_global_id(0) * each + i];
                       barrier(CLK_LOCAL_MEM_FENCE);
                       if (get_local_id(0) > 0) return;
                       uint sum = 0;
                       for (uint i = 0; i < GROUP_SIZE * each; ++i) sum += held[i];
                       sums[get_group_id(0)] = sum;
                   }",
            }],
        };
        kernel! { struct GroupSum = "group_sum" in (GROUP_SUM) {
            a: In<u32>, held: Local<u32>, sums: Out<u32>, each: u32
        } }
        let device = test_device();
        let work = Work::new(&device, None);
        let kernel: Kernel<GroupSum<'_>> = Kernel::new(&device, &Options::group_size(8))?;
        let values: Vec<u32> = (0..960).collect();
        let a = work.upload(&values)?;
        for each in [1, 3, 40] {
            let of_group = 8 * each;
            let mut sums = work.buffer(960 / of_group)?;
            let args = GroupSum { a: &a, held: of_group, sums: &mut sums, each: each as u32 };
            kernel.launch(&work, Grid::groups(960 / of_group, 8), args)?;
            let expected: Vec<u32> = values.chunks(of_group).map(|values| values.iter().sum()).collect();
            assert_eq!(sums.download(&work)?, expected, "{each} values an item");
        }
        let mut none = work.buffer(1)?;
        kernel.launch(&work, Grid::groups(1, 8), GroupSum { a: &a, held: 0, sums: &mut none, each: 0 })?;
        assert_eq!(none.download(&work)?, [0]);
        let uncountable = GroupSum { a: &a, held: usize::MAX, sums: &mut none, each: 0 };
        assert!(kernel.launch(&work, Grid::groups(1, 8), uncountable).is_err());
        Ok(())
    }

    /// Several threads launch one kernel at a time, each with its own arguments.
    #[test]
    fn threads_share_a_kernel() -> Result<()> {
        let device = test_device();
        let sum: Kernel<Sum<'_>> = Kernel::new(&device, &Options::group_size(16))?;
        let add = |number: u32| -> Result<()> {
            let work = Work::new(&device, None);
            let (a, mut b) = (work.upload(&[number; 100])?, work.upload(&[0u32; 100])?);
            for _ in 0..50 {
                sum.launch(&work, Grid::items(100, 16), Sum { a: &a, b: &mut b, n: 100 })?;
            }
            assert_eq!(b.download(&work)?, [50 * number; 100]);
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (1..=4).map(|number| scope.spawn(move || add(number))).collect();
            threads.into_iter().try_for_each(|thread| thread.join().unwrap())
        })
    }

    /// The error at the first launch of a kernel declared like `S`; empty if there is none.
    fn refusal<S: Arguments>() -> String {
        let device = test_device();
        let kernel = Kernel::<S>::new(&device, &Options::group_size(16)).unwrap();
        kernel
            .untyped
            .compiled(&Work::new(&device, None), Kernel::<S>::declaration())
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn a_wrong_declaration_is_refused_before_any_launch() {
        kernel! { struct Fewer = "sum" in (SUM) { a: In<u32>, n: u32 } }
        kernel! { struct OtherType = "sum" in (SUM) { a: In<f32>, b: Out<u32>, n: u32 } }
        kernel! { struct Wide = "sum" in (SUM) { a: In<u32>, b: Out<u32>, n: u64 } }
        kernel! { struct Swapped = "sum" in (SUM) { b: In<u32>, a: Out<u32>, n: u32 } }
        assert_eq!(refusal::<Sum<'static>>(), "");
        let fewer = refusal::<Fewer<'static>>();
        assert!(fewer.contains("takes 3 arguments, the host passes 2"), "{fewer}");
        let other = refusal::<OtherType<'static>>();
        assert!(other.contains("argument 0 (a) is `uint*`, the host passes `float*`"), "{other}");
        let wide = refusal::<Wide<'static>>();
        assert!(wide.contains("argument 2 (n) is `uint`, the host passes `ulong`"), "{wide}");
        let swapped = refusal::<Swapped<'static>>();
        assert!(swapped.contains("argument 0 is called a, the host's is called b"), "{swapped}");
    }

    #[test]
    fn a_kernel_that_its_source_lacks_is_named() {
        kernel! { struct Missing = "product" in (SUM) { a: In<u32> } }
        let none = refusal::<Missing<'static>>();
        assert!(none.contains("product: its source has no such kernel"), "{none}");
    }

    #[test]
    fn the_log_of_a_source_that_does_not_compile_is_shown() {
        const BROKEN: Source = Source {
            files: &[&File { path: "broken.cl", text: "KERNEL broken(global uint* a) { a[0] = nonsense; }" }],
        };
        kernel! { struct Broken = "broken" in (BROKEN) { a: In<u32> } }
        let log = refusal::<Broken<'static>>();
        assert!(log.contains("broken.cl") && log.contains("nonsense"), "the log names file and word: {log}");
    }

    /// A deliberate data race: `tools/oclgrind` proves with it that its detector is on.
    #[test]
    fn a_planted_race_leaves_one_of_the_values() -> Result<()> {
        const RACE: Source = Source {
            files: &[&File {
                path: "race.cl",
                text: "KERNEL race(global uint* a, uint n) { a[0] = get_global_id(0) + n; }",
            }],
        };
        kernel! { struct Race = "race" in (RACE) { a: Out<u32>, n: u32 } }
        let device = test_device();
        let work = Work::new(&device, None);
        let kernel: Kernel<Race<'_>> = Kernel::new(&device, &Options::group_size(4))?;
        let mut one = work.buffer(1)?;
        kernel.launch(&work, Grid::groups(2, 4), Race { a: &mut one, n: 5 })?;
        assert!((5..13).contains(&one.download(&work)?[0]));
        Ok(())
    }
}
