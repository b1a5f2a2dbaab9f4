//! Tests of launches, and of declarations that do not agree with a kernel.
use super::*;
use crate::{
    device::{Buffer, Elem, File, In, InOut, Local, Out, Scalar, Sum as OfSums, kernel, test_device},
    element::{ElementType, Number, WordType},
};

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
    // The numbers of items: 0, 1, and about one and two work-groups.
    for n in [0u32, 1, 15, 16, 17, 32, 33] {
        let values: Vec<u32> = (0..n).collect();
        let (a, mut b) = (work.upload(&values)?, work.upload(&values)?);
        sum.launch(&work, Grid::items(n as usize, 16), Sum { a: &a, b: &mut b, n })?;
        assert_eq!(b.download(&work)?, values.iter().map(|v| 2 * v).collect::<Vec<_>>());
    }
    Ok(())
}

/// Each work-group adds up its values in local memory. The host sets the size of the local memory
/// at each launch.
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

/// Several threads launch one kernel at the same time, each with its own arguments.
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

/// The error at the first launch of a kernel with the arguments `S`. Empty if the launch succeeds.
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

/// Adds `alpha` to each element. The element type is known only at run time.
const ADD: Source = Source {
    files: &[&File {
        path: "add.cl",
        text: "KERNEL add(global ELEMENT* a, uint n, ARITHMETIC alpha) { uint i = get_global_id(0); if (i < n) STORE(LOAD(a, i) + alpha, a, i); }",
    }],
};
kernel! { struct Add = "add" in (ADD) { a: InOut<Elem>, n: u32, alpha: Scalar<OfSums> } }

#[test]
fn a_kernel_is_launched_for_the_types_of_its_options() -> Result<()> {
    let device = test_device();
    let work = Work::new(&device, None);
    let (mut halves, mut counts) = (work.upload(&[half::f16::ONE; 3])?, work.upload(&[1i32, -2, 3])?);
    let launch = |element, a: &mut Buffer, alpha| -> Result<()> {
        let kernel = Kernel::<Add<'_>>::new(&device, &Options::group_size(16).element(element))?;
        kernel.launch(&work, Grid::items(3, 16), Add { a, n: 3, alpha })
    };
    launch(ElementType::F16, &mut halves, Number::nearest(ElementType::F16, 2.0))?;
    assert_eq!(halves.download(&work)?, [half::f16::from_f32(3.0); 3]);
    // The kernel uses `uint` in place of `int`.
    launch(ElementType::I32, &mut counts, Number::of(5i32))?;
    assert_eq!(counts.download(&work)?, [6, 3, 8]);
    let refused = |launched: Result<()>| launched.unwrap_err().to_string();
    let other = refused(launch(ElementType::F32, &mut halves, Number::of(2f32)));
    assert!(other.contains("add: argument 0 holds `float`, the host passes `half`"), "{other}");
    let unsigned = refused(launch(ElementType::I32, &mut counts, Number::of(5u32)));
    assert!(unsigned.contains("argument 2 holds `int`, the host passes `uint`"), "{unsigned}");
    let none =
        Kernel::<Add<'_>>::new(&device, &Options::group_size(16).define("ELEMENT", "int").define("ARITHMETIC", "int"))?;
    assert!(none.ready(&work).is_err(), "options that do not say what the elements are");
    assert_eq!((counts.word(), counts.download(&work)?), (WordType::of::<i32>(), vec![6, 3, 8]));
    Ok(())
}

#[test]
fn a_kernel_that_its_source_lacks_is_named() {
    kernel! { struct Missing = "product" in (SUM) { a: In<u32> } }
    let none = refusal::<Missing<'static>>();
    assert!(none.contains("product: its source has no such kernel"), "{none}");
}

#[test]
fn the_log_of_a_source_that_does_not_compile_is_shown() {
    const BROKEN: Source =
        Source { files: &[&File { path: "broken.cl", text: "KERNEL broken(global uint* a) { a[0] = nonsense; }" }] };
    kernel! { struct Broken = "broken" in (BROKEN) { a: In<u32> } }
    let log = refusal::<Broken<'static>>();
    assert!(log.contains("broken.cl") && log.contains("nonsense"), "the log names file and word: {log}");
}

/// Contains a deliberate data race. `tools/oclgrind` runs this test to prove that its detector of
/// data races is on.
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
