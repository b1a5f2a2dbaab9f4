//! `--explain`: the operands of the product and the work of each stage.
use crate::report::Size;
use crate::sizes::show_bytes;
use crate::target::Run;
use blockmul::{Element, Matrix, element::OperandPair};

/// Describes a product in a few lines for stderr.
pub fn explain<M: Matrix>(a: &M, b: &M, c: &Size, run: &Run) -> String {
    let (a, b) = (a.as_cbc(), b.as_cbc());
    let scalar = a.shape.area() == 1 && b.shape.area() == 1;
    let lengths = a.pattern.col_ptr().windows(2).map(|ends| ends[1] - ends[0]).collect::<Vec<_>>();
    let segments = (0..b.pattern.ncols())
        .map(|j| b.pattern.column(j).iter().map(|&k| lengths[k as usize]).sum::<u64>())
        .collect::<Vec<_>>();
    let (longest, empty) = (segments.iter().max().copied().unwrap_or(0), segments.iter().filter(|&&s| s == 0).count());
    let payload = match scalar {
        true => format!("its value ({} bytes)", size_of::<<M::Element as Element>::Arithmetic>()),
        false => format!("the numbers of its two blocks ({} bytes)", size_of::<OperandPair>()),
    };
    let sums = match scalar {
        true => "the values with equal rows are added up, in ascending k".into(),
        false => format!("blocks {} by {} are multiplied and added up in their place in C", a.shape, b.shape),
    };
    let runs = c.nnz() as u64 + run.dropped.unwrap_or(0);
    let mut lines = vec![format!(
        "setup          {} columns of B: {} products, {} in the longest column, {empty} columns empty",
        segments.len(),
        run.products,
        longest
    )];
    let c_bytes = show_bytes(c_bytes::<M::Element>(c));
    // Methods that add products as they meet them have sums.
    let lines_of = match run.stages.iter().any(|(name, _)| *name == "sums") {
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
    let ran = |name: &str| run.stages.is_empty() || run.stages.iter().any(|(stage, _)| *stage == name);
    lines.extend(lines_of.iter().filter(|(name, _)| ran(name)).map(|(name, line)| format!("{name:<14} {line}")));
    if let Some(dropped) = run.dropped {
        lines.push(format!("drop           {dropped} of {runs} entries are below the tolerance and left out"));
    }
    if run.stages.is_empty() {
        lines.insert(0, "the reference went column by column of B; on a device it would be:".into());
    } else if run.bands > 1 {
        lines.push(in_bands(run, "columns, each of all these stages"));
    }
    lines.join("\n")
}

/// As [`explain`], for a masked product.
pub fn explain_masked<M: Matrix>(a: &M, b: &M, c: &Size, run: &Run) -> String {
    let all = blockmul::reference::products(a, b);
    let (nnz, places) = (c.nnz(), c.rows() * c.cols() / c.area());
    let mut lines = vec![
        format!("mask           {nnz} of {places} places of C are wanted"),
        "setup          for each, the shorter of its row of A and column of B".into(),
        format!("expansion      that looked up in the other: {} products of the {all} of A·B", run.products),
        format!(
            "compression    added up in ascending k, 0 where there are none; C takes {}",
            show_bytes(c_bytes::<M::Element>(c))
        ),
    ];
    if run.stages.is_empty() {
        lines.insert(0, "the reference made all of A·B and took the places; on a device it would be:".into());
    } else if run.bands > 1 {
        lines.push(in_bands(run, "places"));
    }
    lines.join("\n")
}

fn in_bands(run: &Run, of: &str) -> String {
    format!("in {} bands of {of}, for device memory ({} used)", run.bands, show_bytes(run.peak_device_bytes))
}

/// Bytes of C's arrays on the host.
fn c_bytes<T: Element>(c: &Size) -> u64 {
    (8 * (c.cols() / c.block[1] + 1) + c.nnz() * (4 + c.area() * size_of::<T>())) as u64
}
