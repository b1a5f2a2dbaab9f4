//! Section 3: products with vectors by rows and by a segmented scan.
use super::{PER_ROW, SEED, Setting, Timed};
use crate::chart::{Bars, Group};
use crate::paper::of_type;
use crate::paper::peers::{DenseWork, Peer, libraries};
use crate::paper::report::{Report, counted, geometric_mean, shown};
use blockmul::{
    BlockShape, Cbc, Csc, Planned, Result, Semiring, generate,
    plan::{Apply, Format},
    reference,
};
use blockmul_cli::bench::measure::same_bits;
use blockmul_cli::failure::Failure;
use std::time::Instant;

/// The formats that are timed: with a work-item for each row as in the paper; with a work-item for
/// each row, but with long rows cut; with rows that go through local memory; a segmented scan; and
/// the format that `auto` chooses.
const FORMATS: [Format; 5] = [Format::CsrScalar, Format::Csr, Format::CsrAdaptive, Format::SegmentedScan, Format::Auto];
/// Executions that are enqueued together, so that the time of a launch does not count.
const TOGETHER: u32 = 10;
/// Minimum number of rows of a matrix. With this many rows, at most a quarter of the elements of a
/// matrix are entries.
const LEAST_ROWS: usize = 4 * PER_ROW;

/// Matrices with the same number of entries, distributed over the rows in different ways.
pub fn generated(entries: usize) -> Result<Vec<(String, Cbc<f64>)>> {
    let n = (entries / PER_ROW).max(LEAST_ROWS);
    let even =
        generate::Uniform { rows: n, cols: n, per_column: PER_ROW, seed: SEED, ..Default::default() }.matrix()?;
    Ok(vec![
        ("even rows".into(), even),
        ("rows by a power law".into(), hubs(n, n * PER_ROW)?),
        ("one full row".into(), one_full(n)?),
    ])
}

/// A power-law matrix with exactly `entries` entries. Edges are drawn until at least as many are
/// distinct; the surplus is removed at regular intervals.
fn hubs(n: usize, entries: usize) -> Result<Cbc<f64>> {
    let draw = |edges: usize| generate::PowerLaw { nodes: n, edges, seed: SEED, ..Default::default() }.matrix();
    let (mut edges, mut graph) = (entries, draw(entries)?);
    while graph.nnz() < entries {
        edges += 2 * (entries - graph.nnz());
        graph = draw(edges)?;
    }
    let (pattern, drawn) = (graph.pattern(), graph.nnz());
    let is_kept = |entry: usize| (entry + 1) * entries / drawn > entry * entries / drawn;
    let places = (0..n).flat_map(|col| pattern.entries(col).map(move |entry| (col, entry)));
    let kept = places.filter(|&(_, entry)| is_kept(entry));
    let triplets = kept.map(|(col, entry)| (col, pattern.row_idx()[entry] as usize, graph.values()[entry]));
    Csc::from_triplets(n, n, triplets)?.to_blocks(BlockShape::SCALAR)
}

/// A matrix with one full row. All other rows have the same number of entries.
fn one_full(n: usize) -> Result<Cbc<f64>> {
    let rest = generate::Uniform { rows: n - 1, cols: n, per_column: PER_ROW - 1, seed: SEED, ..Default::default() }
        .matrix()?;
    let mut triplets: Vec<(usize, usize, f64)> = (0..n).map(|col| (0, col, 0.5)).collect();
    for col in 0..n {
        let below = rest.pattern().entries(col);
        triplets.extend(below.map(|entry| (rest.pattern().row_idx()[entry] as usize + 1, col, rest.values()[entry])));
    }
    Csc::from_triplets(n, n, triplets)?.to_blocks(BlockShape::SCALAR)
}

/// Writes the section of the report. The first `equal` matrices have the same number of entries, so
/// their times can be compared.
pub fn write(
    setting: &Setting<'_>,
    report: &mut Report,
    matrices: &[(String, Cbc<f64>)],
    equal: usize,
) -> std::result::Result<(), Failure> {
    report.say("## Section 3: A·x by rows and by a segmented scan");
    let (mut all, mut groups) = (Vec::new(), Vec::new());
    for (name, a) in matrices {
        let mut rates = Vec::new();
        for format in FORMATS {
            setting.lab.messages.step(format!("{name}: {format}"));
            let timed = product(setting, name, a, format);
            let timed = setting.kept(report, name, timed);
            rates.push(timed.as_ref().and_then(|timed| timed.ms.map(|ms| ms * 1e6 / a.nnz().max(1) as f64)));
            all.extend(timed);
        }
        groups.push(Group { name: name.clone(), numbers: rates });
    }
    let peers_of = |name: &str| setting.peers.with_dense(DenseWork::Vector, name, "f64");
    let peers: Vec<&Peer> = matrices.iter().flat_map(|(name, _)| peers_of(name)).collect();
    let others = libraries(peers.iter().copied());
    let row = |group: &Group| {
        let times = group.numbers.iter().map(|rate| shown(*rate, 4));
        let of = all.iter().find(|timed| timed.of == group.name);
        let per_entry = |ms: f64| of.map(|timed| ms * 1e6 / timed.size.max(1) as f64);
        let found = peers_of(&group.name);
        let theirs = others.iter().map(|library| {
            let ms = found.iter().find(|peer| peer.library == *library).and_then(|peer| peer.right_ms());
            shown(ms.and_then(per_entry), 4)
        });
        let reference = of.and_then(|timed| per_entry(timed.reference_ms));
        let size = counted(of.map_or(0.0, |timed| timed.size as f64));
        let ends = [vec![group.name.clone(), size], vec![shown(reference, 4)]];
        [&ends[0][..], &times.collect::<Vec<_>>(), &theirs.collect::<Vec<_>>(), &ends[1]].concat()
    };
    let rows: Vec<Vec<String>> = groups.iter().map(row).collect();
    report.say("Nanoseconds for each entry:");
    let header = [&["rows", "entries"][..], &FORMATS.map(Format::name), &others, &["reference"]].concat();
    report.table(&header, rows);
    report.libraries(peers);
    if equal > 0 {
        report.say(&spread(&groups[..equal]));
        report.say(&imbalance(&groups[..equal]));
    }
    report.say(&through_local_memory(&groups));
    let names = FORMATS.iter().map(|format| format.name());
    let bars = Bars::new("A·x by the distribution of entries", "ns for each entry", names, groups).log();
    report.figure("section-3.png", "A·x by the distribution of entries over the rows.", bars.encode())?;
    report.wrong += all.iter().filter(|timed| !timed.verified).count();
    report.keep("products", &all);
    Ok(())
}

/// The times of a format on all groups, in nanoseconds for each entry.
fn rates(groups: &[Group], format: Format) -> impl Iterator<Item = Option<f64>> {
    let at = FORMATS.iter().position(|&one| one == format);
    groups.iter().map(move |group| at.and_then(|at| group.numbers[at]))
}

/// The ratio of the slowest to the fastest distribution.
fn spread(groups: &[Group]) -> String {
    let apart = |format: Format| {
        let rates = || rates(groups, format).flatten();
        Some(rates().reduce(f64::max)? / rates().reduce(f64::min)?)
    };
    let [by_rows, cut, scan, auto] =
        [Format::CsrScalar, Format::Csr, Format::SegmentedScan, Format::Auto].map(|format| shown(apart(format), 2));
    format!(
        "The generated ones have equally many entries. The slowest of them takes {scan} times as long as the fastest by \
         a segmented scan, {by_rows} times with a work-item for each row, {cut} times by `csr`, {auto} times by auto. The \
         paper: \"the running time of the multiplication will be independent of the distribution of non-zeros across \
         rows\"."
    )
}

/// Returns the time of each uneven distribution, divided by the time of the even one, which is the
/// first. The format has a work-item for each row.
fn imbalance(groups: &[Group]) -> String {
    let times: Vec<_> = rates(groups, Format::CsrScalar).collect();
    let longer = |(group, time): (&Group, &Option<f64>)| {
        let ratio = time.zip(times[0]).map(|(time, even)| time / even);
        format!("{} take {} times as long", group.name, shown(ratio, 2))
    };
    let uneven: Vec<_> = groups.iter().zip(&times).skip(1).map(longer).collect();
    format!(
        "Section 3.1: a \"static assignment of 1 row per thread is a disastrous choice\" for rows of very different \
         lengths. By `csr-scalar`, which is this kernel, and relative to {}: {}.",
        groups[0].name,
        uneven.join(", ")
    )
}

/// A sentence on the gain of loading the entries of rows through local memory.
fn through_local_memory(groups: &[Group]) -> String {
    let gains = rates(groups, Format::Csr).zip(rates(groups, Format::CsrAdaptive));
    let gains = gains.filter_map(|(from_memory, through_local)| Some(from_memory? / through_local?));
    format!(
        "Section 3.1: a cache for x and rows through shared memory \"improve the running time of the kernel by roughly a \
         factor of 2\", on GPUs of up to 128 cores, 500 GFLOPS and 80 GB/s (Tesla architecture, 2008). No format here \
         keeps x in local memory: the caches of today's devices do. So the factor is that of rows alone: `csr-adaptive`, \
         whose rows go through local memory, is {} times as fast as `csr`, which cuts long rows too, in the geometric \
         mean.",
        shown(geometric_mean(gains), 2)
    )
}

/// Times A·x in a format.
fn product(setting: &Setting<'_>, name: &str, a: &Cbc<f64>, format: Format) -> Result<Timed> {
    let on_device = setting.device.upload(a)?;
    let packed = Apply::<Cbc<f64>>::with(&on_device.pattern()).format(format).pack(&on_device)?;
    let x = of_type::<f64>(a.scalar_cols());
    let (dx, mut y) = (setting.device.upload_vector(&x)?, packed.output()?);
    packed.execute(&dx, &mut y)?;
    let mut want = vec![0.0; packed.y_len()];
    let clock = Instant::now();
    let order = packed.format().order();
    reference::multiply_vector_over(Semiring::PlusTimes, order, a, &x, (1.0, 0.0), &mut want)?;
    let reference_ms = clock.elapsed().as_secs_f64() * 1e3;
    let verified = same_bits(&y.download()?, &want);
    let mut run = || packed.execute(&dx, &mut y).map(drop);
    let ms = setting.median(verified, || setting.lab.together(TOGETHER, &mut run))?;
    let what = if format == Format::Auto { format!("auto: {}", packed.format()) } else { format.to_string() };
    Ok(Timed { what, of: name.into(), size: a.nnz(), sources: None, verified, ms, reference_ms })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_have_equally_many_entries() -> Result<()> {
        for entries in [1, 2000, 30_000] {
            let made = generated(entries)?;
            let rows = (entries / PER_ROW).max(LEAST_ROWS);
            let longest = made.iter().map(|(name, a)| {
                assert_eq!((a.nnz(), a.pattern().nrows()), (rows * PER_ROW, rows), "{name}");
                let mut lengths = vec![0; rows];
                a.pattern().row_idx().iter().for_each(|&row| lengths[row as usize] += 1);
                lengths.into_iter().max().unwrap()
            });
            let [even, hubs, full] = longest.collect::<Vec<usize>>()[..] else { panic!("three") };
            assert!(even < hubs && hubs <= full && full == rows, "{even}, {hubs}, {full} of {rows}");
        }
        Ok(())
    }
}
