//! The tables and figures of the report.
use super::measure::TOGETHER;
use super::published::{By, DEVICES, Published, TABLES};
use super::selected::{self, Row};
use super::{Setting, Subject, blocks, figures, formats, kinds};
use crate::paper::peers::libraries;
use crate::paper::report::{Report, counted, geometric_mean, mean, shown};
use crate::regret::formats::USES;
use blockmul::plan::Format;
use blockmul_cli::failure::Failure;

/// The paper has two averages. A matrix counts in the first and in the second if it has at least
/// this many entries.
pub const CLASSES: [usize; 2] = [10_000, 100_000];

/// Writes the report.
pub fn write(setting: &Setting<'_>, report: &mut Report, subjects: &[Subject], rows: Vec<Row>) -> Result<(), Failure> {
    let what = "Measurements of G. Evtushenko, *Sparse Matrix-Vector Multiplication with CUDA*, 2019";
    let how = format!(
        "Medians of up to {} rounds of {TOGETHER} executions that are enqueued together, fewer of long ones; A, x and y \
         are on the device, A's values in the order of the format. Every y is the reference's bit for bit, or within \
         rounding in formats that end in -atomic.",
        setting.lab.patience.rounds,
    );
    report.begin(setting, "Formats of A·x", what, &how);
    report.libraries(subjects.iter().flat_map(|subject| &subject.peers));
    selected::structures(report, rows)?;
    selected::leaders(report, subjects);
    for element in ["f32", "f64"] {
        let of: Vec<&Subject> = subjects.iter().filter(|subject| subject.element == element).collect();
        speedups(report, element, &of);
        kinds::by_kind(report, element, &of);
        winners(report, element, &of);
        kinds::where_scalar_wins(report, element, &of);
        kinds::cuts(report, element, &of);
        blocks::speedups(report, element, &of);
        figures::histograms(report, element, &of)?;
        figures::lists(report, element, &of)?;
        selected::speedups(report, element, &of)?;
        conversions(report, element, &of);
        regret(report, element, &of);
    }
    report.differences();
    Ok(())
}

/// Returns the mean and the largest speedup for each class of matrices. The last cell is the number
/// of matrices without a speedup.
fn cells(of: &[&Subject], speedup: impl Fn(&Subject) -> Option<f64>) -> Vec<String> {
    let from = |least: usize| {
        let large: Vec<f64> = of.iter().filter(|of| of.entries >= least).filter_map(|of| speedup(of)).collect();
        [shown(mean(large.iter().copied()), 2), shown(large.iter().copied().reduce(f64::max), 2)]
    };
    let missing = of.iter().filter(|of| speedup(of).is_none()).count();
    [CLASSES.map(from).concat(), vec![missing.to_string()]].concat()
}

/// Returns the cells of a table of the paper: its number and name, two means and the maximum.
fn published(by: By<'_>, element: &str) -> Vec<String> {
    match TABLES.iter().find(|table| table.by == by) {
        None => vec!["-".into(); 4],
        Some(table @ &Published { name, table: number, .. }) => {
            let speedups = table.speedups(element);
            let numbers = [speedups.means[0], speedups.means[1], speedups.max].map(|number| format!("{number:.2}"));
            [&[format!("{number}: {name}")][..], &numbers].concat()
        }
    }
}

/// Tables 1 to 8: the speedups over one thread.
fn speedups(report: &mut Report, element: &str, of: &[&Subject]) {
    report.say(&format!("## Tables 1 to 8, {element}: speedup over one thread"));
    report.say(&format!(
        "Means and maxima over compressed rows on one thread of the host, of matrices by their entries. The paper's are \
         of {DEVICES}, and of the Florida collection; its kernels that add by atomics are those that end in -atomic here."
    ));
    let row = |way: By<'_>| {
        let speedups = cells(of, |of| way.speedup(of));
        [vec![way.name().to_owned()], speedups, published(way, element)].concat()
    };
    let mut ways = By::all(of);
    if !ways.contains(&By::Library("cusparse")) {
        ways.push(By::Library("cusparse"));
    }
    let rows = ways.into_iter().map(row);
    let ours = ["format", "mean, from 10 k", "max", "mean, from 100 k", "max", "left out"];
    report.table(&[&ours[..], &["the paper's table", "from 10 k", "from 100 k", "max"]].concat(), rows);
    let beats = |one: Format, other: Format| {
        let both = of.iter().filter_map(|subject| Some((subject.time(one)?.ms, subject.time(other)?.ms)));
        let won = both.clone().filter(|(one, other)| one < other).count();
        format!("`{one}` is faster than `{other}` on {won} of {}", both.count())
    };
    let pairs = [
        (Format::CsrScalar, Format::CsrVector),
        (Format::CsrAdaptiveAtomic, Format::CsrScalar),
        (Format::CsrAdaptiveAtomic, Format::CsrVector),
        (Format::Csr, Format::CsrScalar),
        (Format::CsrAdaptive, Format::CsrAdaptiveAtomic),
    ];
    report.say(&format!("{}.", pairs.map(|(one, other)| beats(one, other)).join("; ")));
}

/// The fastest format of each matrix, beside other libraries.
fn winners(report: &mut Report, element: &str, of: &[&Subject]) {
    report.say(&format!("## Which format wins, {element}"));
    let others = libraries(of.iter().flat_map(|of| &of.peers));
    let rows = of.iter().map(|subject| {
        let mut times: Vec<_> = subject.times.formats.iter().map(|time| (time.ms, time.format)).collect();
        times.sort_by(|one, other| one.0.total_cmp(&other.0));
        let named = |at: usize| times.get(at).map_or("-".into(), |(_, format)| format.to_string());
        let fastest = times.first().map(|(ms, _)| *ms);
        let rate = fastest.map(|ms| 2.0 * subject.entries as f64 / ms / 1e6);
        let ahead = fastest.zip(times.get(1)).map(|(first, second)| second.0 / first);
        let row_length = subject.entries as f64 / subject.rows.max(1) as f64;
        let ours = vec![
            subject.matrix.clone(),
            counted(subject.rows as f64),
            counted(subject.entries as f64),
            shown(Some(row_length), 1),
            subject.longest_row.to_string(),
            shown(Some(subject.serial_ms), 3),
            named(0),
            shown(fastest, 4),
            shown(rate, 2),
            named(1),
            shown(ahead, 2),
        ];
        let theirs = others.iter().flat_map(|library| {
            let ms = subject.peer_ms(library);
            [shown(ms, 4), shown(ms.zip(fastest).map(|(ms, fastest)| ms / fastest), 2)]
        });
        ours.into_iter().chain(theirs).collect()
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let sizes = ["matrix", "rows", "entries", "a row", "longest", "one thread ms"];
    let ours = ["fastest", "ms", "GFLOP/s", "second", "× as long"];
    let theirs = others.iter().flat_map(|library| [format!("{library} ms"), "× as long".into()]);
    let header: Vec<String> = sizes.into_iter().chain(ours).map(String::from).chain(theirs).collect();
    report.table(&header, rows);
}

/// The times of conversions, in units of the time of an execution.
fn conversions(report: &mut Report, element: &str, of: &[&Subject]) {
    report.say(&format!("## Conversions, {element}"));
    report.say("Milliseconds of a conversion over those of an execution of the same format.");
    let rows = formats().map(|format| {
        let costs = of.iter().filter_map(|subject| subject.time(format)).map(|time| time.convert_ms / time.ms);
        let costs: Vec<f64> = costs.collect();
        let most = costs.iter().copied().reduce(f64::max);
        vec![format.to_string(), shown(geometric_mean(costs.iter().copied()), 1), shown(most, 1)]
    });
    let rows: Vec<_> = rows.collect();
    report.table(&["format", "executions, geometric mean", "max"], rows);
}

/// Writes the time of the format that `auto` chooses as a ratio to the time of the best format.
fn regret(report: &mut Report, element: &str, of: &[&Subject]) {
    report.say(&format!("## Regret of `auto`, {element}"));
    report.say(
        "How much longer the format that `auto` chooses takes than the best one of the same bits, conversion and \
         executions together.",
    );
    let rows = USES.iter().map(|&uses| {
        let choices: Vec<_> =
            of.iter().flat_map(|subject| &subject.choices).filter(|choice| choice.uses == uses).collect();
        let percent = |regret: Option<f64>| shown(regret.map(|regret| 100.0 * regret), 1);
        let right = choices.iter().filter(|choice| choice.chosen == choice.best).count();
        vec![
            uses.to_string(),
            format!("{right} of {}", choices.len()),
            percent(mean(choices.iter().map(|choice| choice.regret))),
            percent(choices.iter().map(|choice| choice.regret).reduce(f64::max)),
        ]
    });
    let rows: Vec<_> = rows.collect();
    report.table(&["executions", "best chosen", "mean %", "worst %"], rows);
}
