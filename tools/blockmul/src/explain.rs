//! `--explain`: the operands of the product and the work of each stage.
use crate::matrix_size::Size;
use crate::sizes::show_bytes;
use crate::target::Stage;
use crate::target::{Run, Target};
use blockmul::{Method, element::OperandPair, matrix::AnyMatrix};

/// Describes a product in a few lines for stderr.
pub fn explain(target: &Target, (a, b): (&AnyMatrix, &AnyMatrix), c: &Size, run: &Run) -> String {
    let (element, scalar) = (a.element(), a.shape().area() == 1 && b.shape().area() == 1);
    let lengths = a.pattern().col_ptr().windows(2).map(|ends| ends[1] - ends[0]).collect::<Vec<_>>();
    let segments = (0..b.pattern().ncols())
        .map(|j| b.pattern().column(j).iter().map(|&k| lengths[k as usize]).sum::<u64>())
        .collect::<Vec<_>>();
    let (longest, empty) = (segments.iter().max().copied().unwrap_or(0), segments.iter().filter(|&&s| s == 0).count());
    let payload = match scalar {
        true => format!("its value ({} bytes)", element.arithmetic().bytes()),
        false => format!("the numbers of its two blocks ({} bytes)", size_of::<OperandPair>()),
    };
    let sums = match scalar {
        true => "the values with equal rows are added up, in ascending k".into(),
        false => format!("blocks {} by {} are multiplied and added up in their place in C", a.shape(), b.shape()),
    };
    let runs = c.nnz() as u64 + run.dropped.unwrap_or(0);
    let on_host = Stage::are_of_host(&run.took.stages);
    let ran =
        |name: &str| run.took.stages.is_empty() || run.took.stages.iter().any(|stage| stage.name == name && stage.ran);
    let sizes = format!(
        "{} columns of B: {} products, {longest} in the longest column, {empty} columns empty",
        segments.len(),
        run.products
    );
    let mut lines = match on_host {
        true => why_host(target, run).into_iter().collect(),
        false if ran("setup") => vec![format!("setup          {sizes}")],
        false => vec![format!("no setup       {sizes}")],
    };
    let c_bytes = show_bytes(c_bytes((a, b), c));
    // Methods that add products while they find them have a stage `sums`.
    let lines_of = match run.took.stages.iter().any(|stage| stage.name == "sums") {
        _ if on_host => vec![
            ("read", format!("the host reads A and B; {sizes}")),
            ("multiply", format!("the host adds up {runs} runs of equal rows in ascending k; C takes {c_bytes}")),
        ],
        true => vec![
            ("count", format!("{runs} entries of C, column by column")),
            ("offsets", format!("where each of the {} columns of C begins", segments.len())),
            ("sums", format!("{runs} runs of equal rows added up in ascending k; C takes {c_bytes}")),
            ("move", "the entries of C to their places, one behind another".into()),
        ],
        false => vec![
            ("expansion", format!("each product's row (4 bytes) and {payload}")),
            ("segmented_sort", format!("{} columns sorted by row, stably", segments.len() - empty)),
            ("tail_counts", format!("{runs} runs of equal rows: the entries of C")),
            ("compression", sums),
            ("gather", format!("rows of C; C takes {c_bytes}")),
        ],
    };
    lines.extend(lines_of.iter().filter(|(name, _)| ran(name)).map(|(name, line)| format!("{name:<14} {line}")));
    if let Some(dropped) = run.dropped {
        lines.push(format!("drop           {dropped} of {runs} entries are below the tolerance and left out"));
    }
    if run.took.stages.is_empty() {
        lines.insert(0, "the reference went column by column of B; on a device it would be:".into());
    } else if run.took.bands > 1 {
        let each = if on_host { "multiplied by itself" } else { "of all these stages" };
        lines.push(in_bands(run, &format!("columns, each {each}")));
    }
    lines.join("\n")
}

/// The reason why `auto` left a product to the host, with the predicted time. The function returns
/// `None` if the user requested the host.
fn why_host(target: &Target, run: &Run) -> Option<String> {
    let by_name = run.method == Method::Host.name() || !matches!(target, Target::Device(_));
    let predicted_ms = run.bins.iter().map(|bin| bin.predicted_ms).sum::<Option<f64>>();
    let why = match predicted_ms {
        _ if run.products == 0 => "the host, because there are no products".into(),
        Some(ms) => format!("the host is predicted to take {ms:.3} ms, less than the device"),
        None => "the host is predicted to take less than the device; of blocks no times are reported".into(),
    };
    (!by_name).then(|| format!("choice         {why}"))
}

/// Describes a masked product, as [`explain`] describes other products.
pub fn explain_masked(a: &AnyMatrix, b: &AnyMatrix, c: &Size, run: &Run) -> String {
    let all = blockmul::reference::products(a, b);
    let (shape, nnz, bytes) = (a.shape().product(b.shape()), c.nnz(), show_bytes(c_bytes((a, b), c)));
    let places = c.rows() * c.cols() / shape.area();
    let mut lines = vec![
        format!("mask           {nnz} of {places} places of C are wanted"),
        "setup          for each, the shorter of its row of A and column of B".into(),
        format!("expansion      that looked up in the other: {} products of the {all} of A·B", run.products),
        format!("compression    added up in ascending k, 0 where there are none; C takes {bytes}"),
    ];
    if run.took.stages.is_empty() {
        lines.insert(0, "the reference made all of A·B and took the places; on a device it would be:".into());
    } else if run.took.bands > 1 {
        lines.push(in_bands(run, "places"));
    }
    lines.join("\n")
}

fn in_bands(run: &Run, of: &str) -> String {
    format!("in {} bands of {of} ({} of device memory used)", run.took.bands, show_bytes(run.took.peak_device_bytes))
}

/// Bytes of C's arrays on the host.
fn c_bytes((a, b): (&AnyMatrix, &AnyMatrix), c: &Size) -> u64 {
    (8 * (b.ncols() + 1) + 4 * c.nnz() + c.elements() * a.element().bytes()) as u64
}
