//! The sweep: every subject with every kind of fault, in parallel on all cores.
use super::{
    memory, planted,
    process::Counts,
    signals,
    subjects::{Kernels, Program, SUBJECTS, Subject, make_inputs},
    verdict::{Expected, Verdict, judge},
    workshop::{Fault, Workshop},
};
use std::{
    collections::BTreeMap,
    error::Error,
    fs, io,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
    time::Instant,
};

/// The number of faults of each kind.
pub struct Effort {
    /// Number of indices of each call of each subject. `None` stands for the subject's own share.
    per_call: Option<usize>,
    /// Number of runs of each subject in which the device is lost, each from another call on.
    lost: usize,
    /// Number of runs of each subject in which the device is lost and releases fail, too.
    released: usize,
    /// Number of runs of each subject in which a command fails after it was accepted.
    late: usize,
    signals: usize,
}

pub const SHARE: Effort = Effort { per_call: None, lost: 1, released: 1, late: 2, signals: 20 };
pub const FULL: Effort = Effort { per_call: Some(20), lost: 20, released: 20, late: 20, signals: 400 };

/// Errors that drivers report: CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY,
/// CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_INVALID_COMMAND_QUEUE, and NVIDIA's after an illegal
/// access.
const CODES: [i32; 5] = [-5, -6, -4, -36, -9999];

/// Maximum number of bad runs that are printed for each row of the table.
const SHOWN: usize = 12;

/// Kinds of faults.
const MODES: [(&str, &str); 4] = [
    ("once", "one call fails"),
    ("lost", "device lost"),
    ("released", "device lost, releases fail"),
    ("late", "command fails late"),
];

/// The result of a subject without a fault.
struct Plain {
    subject: &'static Subject,
    output: Vec<u8>,
    counts: Counts,
}

struct Case<'a> {
    plain: &'a Plain,
    fault: Fault,
    /// Whether an output exists before the run.
    before: bool,
}

/// The outcome of a case.
pub struct End {
    pub row: String,
    pub what: String,
    pub verdict: Verdict,
    pub words: String,
    /// Whether the planned fault happened.
    pub hit: bool,
}

/// Runs the sweep of the subjects with `word` in their names. Returns whether all runs ended well.
pub fn run(effort: &Effort, word: &str) -> Result<bool, Box<dyn Error>> {
    let start = Instant::now();
    let workshop = &Workshop::new()?;
    planted::are_seen(workshop)?;
    make_inputs(workshop)?;
    let wanted = |subject: &&Subject| subject.name.contains(word) && !(subject.long && effort.per_call.is_none());
    let subjects: Vec<&Subject> = SUBJECTS.iter().filter(wanted).collect();
    let plain = side_by_side(&subjects, |subject| without_fault(workshop, subject));
    let plain = plain.into_iter().collect::<Result<Vec<_>, _>>()?;
    println!("faults: {} subjects run without a fault, {:.0} s", plain.len(), start.elapsed().as_secs_f64());
    let cases = cases(&plain, effort);
    let done = AtomicUsize::new(0);
    let ends = side_by_side(&cases, |case| {
        let end = with_fault(workshop, case);
        let done = done.fetch_add(1, Relaxed) + 1;
        if done.is_multiple_of(1000) {
            println!("faults: {done} of {} runs, {:.0} s", cases.len(), start.elapsed().as_secs_f64());
        }
        end
    });
    let mut ends = ends.into_iter().collect::<Result<Vec<_>, _>>()?;
    ends.extend(memory::is_told(workshop)?);
    ends.extend(signals::run(workshop, effort.signals)?);
    let passed = report(&ends);
    println!("{} runs, {:.0} s", ends.len(), start.elapsed().as_secs_f64());
    Ok(passed)
}

/// Calls `work` for each item, on as many threads as there are cores. Results have the order of the
/// items.
pub fn side_by_side<'a, T: Sync, R: Send>(items: &'a [T], work: impl Fn(&'a T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mine = || Some(next.fetch_add(1, Relaxed)).filter(|&at| at < items.len());
        std::iter::from_fn(mine).map(|at| (at, work(&items[at]))).collect::<Vec<_>>()
    };
    let cores = thread::available_parallelism().map_or(2, |cores| cores.get());
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    });
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

fn without_fault(workshop: &Workshop, subject: &'static Subject) -> Result<Plain, String> {
    let failed = |what: &str| format!("{}, without a fault: {what}", subject.name);
    let io = |error: io::Error| failed(&error.to_string());
    let mut first = workshop.first(subject).map_err(io)?;
    let output = first.files.remove(subject.output).ok_or_else(|| failed(&first.stderr))?;
    let ran = workshop.run(subject, &workshop.bench().map_err(io)?, None).map_err(io)?;
    let &Subject { output: name, varies, .. } = subject;
    let expected = Expected { name, output: &output, varies, before: None, recovers: false };
    match judge(&ran, &expected) {
        (Verdict::Same, _) if ran.counts.get("any calls") > 0 => Ok(Plain { subject, output, counts: ran.counts }),
        (Verdict::Same, _) => Err(failed("no call of OpenCL went through opencl.c")),
        (verdict, words) => Err(failed(&format!("{verdict:?}: {words}"))),
    }
}

fn cases<'a>(plain: &'a [Plain], effort: &Effort) -> Vec<Case<'a>> {
    let mut cases = Vec::new();
    for plain in plain {
        let mut add = |mode, call: &str, calls, most: usize| {
            for index in spread(calls, if plain.subject.long { most.min(1) } else { most }) {
                let code = CODES[cases.len() % CODES.len()];
                // A tuning file is read before it is replaced, so it must not exist.
                let before = !plain.subject.varies && cases.len() % 2 == 1;
                cases.push(Case { plain, fault: Fault { call: call.to_owned(), index, mode, code }, before });
            }
        };
        for (call, calls) in plain.counts.calls() {
            add("once", call, calls, effort.per_call.unwrap_or(plain.subject.share));
        }
        let (any, late) = (plain.counts.get("any calls"), plain.counts.get("late calls"));
        add("lost", "any", any, effort.lost);
        add("released", "any", any, effort.released);
        add("late", "late", late, effort.late);
    }
    cases
}

/// Returns all numbers from 1 to `count`, or `most` of them evenly distributed from the first to
/// the last; if `most` is 1, the middle one.
fn spread(count: u64, most: usize) -> Vec<u64> {
    let most = most as u64;
    match most {
        _ if count <= most => (1..=count).collect(),
        0 => vec![],
        1 => vec![count.div_ceil(2)],
        _ => (0..most).map(|i| 1 + i * (count - 1) / (most - 1)).collect(),
    }
}

fn with_fault(workshop: &Workshop, Case { plain, fault, before }: &Case) -> io::Result<End> {
    let subject = plain.subject;
    let (bench, before) = (workshop.bench()?, before.then_some(b"what was here before".as_slice()));
    let output = bench.out.join(subject.output);
    if let Some(before) = before {
        fs::write(&output, before)?;
    }
    let library = subject.program == Program::This;
    let ran = workshop.run(subject, &bench, Some(fault))?;
    // The fault is temporary, so the library must work at the second attempt.
    let recovers = library && matches!(fault.mode, "once" | "late");
    let &Subject { output: name, varies, .. } = subject;
    let mut expected = Expected { name, output: &plain.output, varies, before, recovers };
    let (mut verdict, mut words) = judge(&ran, &expected);
    let hit = ran.counts.get("failed calls") > 0 || matches!(verdict, Verdict::Crash | Verdict::Hang);
    if subject.kernels == Kernels::Empty && verdict.is_good() {
        // After the fault, the kernels that the failed run stored in the cache must be correct.
        let _there_may_be_none = fs::remove_file(&output);
        expected.before = None;
        let (again, why) = judge(&workshop.run(subject, &bench, None)?, &expected);
        if again != Verdict::Same {
            (verdict, words) = (Verdict::Dead, format!("the next run: {again:?}: {why}"));
        }
    }
    let of = if library { "library" } else { "command" };
    let mode = MODES.iter().find(|(mode, _)| *mode == fault.mode).map_or("", |(_, words)| words);
    let variables: Vec<String> = fault.variables().iter().map(|(name, value)| format!("{name}={value}")).collect();
    let what = format!("{}: {}", subject.name, variables.join(" "));
    Ok(End { row: format!("{of}: {mode}"), what, verdict, words, hit })
}

/// Prints the bad runs and the table. Returns whether there are no bad runs and few missed faults.
fn report(ends: &[End]) -> bool {
    let bad: Vec<&End> = ends.iter().filter(|end| !end.verdict.is_good()).collect();
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for End { row, what, verdict, words, .. } in &bad {
        let number = shown.entry(row).or_default();
        *number += 1;
        if *number <= SHOWN {
            println!("{:7} {what}\n        {words}", format!("{verdict:?}").to_uppercase());
        }
    }
    for (row, number) in shown.into_iter().filter(|(_, number)| *number > SHOWN) {
        println!("{row}: {} more", number - SHOWN);
    }
    let mut rows: BTreeMap<&str, BTreeMap<Verdict, usize>> = BTreeMap::new();
    for end in ends {
        *rows.entry(&end.row).or_default().entry(end.verdict).or_default() += 1;
    }
    let met: Vec<Verdict> =
        Verdict::ALL.into_iter().filter(|v| v.is_good() || bad.iter().any(|end| end.verdict == *v)).collect();
    let heads: String = met.iter().map(|verdict| format!("{:>8}", format!("{verdict:?}").to_lowercase())).collect();
    println!("\n{:38}{:>7}{heads}", "", "cases");
    for (row, counts) in &rows {
        let cells: String = met.iter().map(|v| format!("{:>8}", counts.get(v).copied().unwrap_or(0))).collect();
        println!("{row:38}{:>7}{cells}", counts.values().sum::<usize>());
    }
    // Some faults do not happen, because threads that compile kernels do not always make the same
    // calls.
    let missed = ends.iter().filter(|end| !end.hit).count();
    let too_many = missed * 50 > ends.len();
    if missed > 0 {
        println!("{missed} faults did not happen{}", if too_many { ": too many" } else { "" });
    }
    bad.is_empty() && !too_many
}
