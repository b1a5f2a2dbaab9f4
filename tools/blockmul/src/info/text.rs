//! The output for a file as text.
use super::needs::{DeviceNeeds, Devices};
use super::{Blocks, Fits, Info, Product};
use crate::messages::in_a_line;
use crate::sizes::show_bytes;
use crate::table;
use blockmul::extra::analysis::{BlockFit, Bounds, ColumnLengths};

/// Width of the longest bar, in characters.
const BAR: usize = 40;
/// Number of non-square shapes that the table of blocks shows.
const RECTANGLES: usize = 5;

pub fn text(info: &Info, devices: &Devices) -> String {
    let mut lines = vec![in_a_line(&info.file).into_owned()];
    let mut say = |name: &str, text: String| lines.push(format!("  {name:<11} {text}"));
    let block = match &info.layout {
        Some(Blocks::Uniform([rows, cols])) => format!(", in blocks of {rows}x{cols}"),
        Some(Blocks::Mixed(_)) => ", in blocks of several shapes".into(),
        None => String::new(),
    };
    let groups = info.grouping.as_ref().map(|lines| format!(", in groups of {lines}")).unwrap_or_default();
    let Info { format, field, declared_symmetry, stored, .. } = info;
    say("file", format!("{format}, {field} {declared_symmetry}, {stored} entries written{block}{groups}"));
    let density = info.nnz as f64 / (info.rows as f64 * info.cols as f64);
    let density = if density.is_finite() { format!(", {} of all places", percent(density)) } else { String::new() };
    say("matrix", format!("{} x {}, {} entries{density}", info.rows, info.cols, info.nnz));
    say("values", values(info));
    say("symmetry", symmetry(info));
    say("columns", columns(&info.columns, info.cols));
    lines.push(indented(&histogram(&info.columns)));
    lines.push(format!("  {:<11} best: {}", "blocks", best(&info.blocks)));
    lines.push(indented(&fits(&info.blocks)));
    lines.extend(product(&info.product));
    lines.push(needs(&info.devices, &info.product, devices));
    lines.extend(super::dense::text(&info.devices));
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

fn values(info: &Info) -> String {
    let zeros = match info.explicit_zeros {
        0 => "no stored zeros".into(),
        zeros => format!("{zeros} stored zeros ({})", percent(zeros as f64 / info.nnz as f64)),
    };
    match info.not_finite {
        0 => zeros,
        odd => format!("{zeros}, {odd} NaN or infinite"),
    }
}

fn symmetry(info: &Info) -> String {
    let found = info.symmetry;
    match (found.symmetric, found.skew_symmetric, found.pattern) {
        (true, ..) => "symmetric".into(),
        (_, true, _) => "skew-symmetric".into(),
        (_, _, true) => "symmetric pattern, values not".into(),
        _ if info.rows != info.cols => "none, not square".into(),
        _ => "none".into(),
    }
}

fn columns(lengths: &ColumnLengths, cols: usize) -> String {
    let empty = if lengths.empty > 0 { format!(", {} of {cols} empty", lengths.empty) } else { String::new() };
    format!("{} to {} entries{empty}", lengths.shortest, lengths.longest)
}

fn histogram(lengths: &ColumnLengths) -> String {
    let most = lengths.histogram.iter().copied().max().unwrap_or(0).max(lengths.empty);
    let row = |(entries, columns): (String, usize)| {
        // A number of columns above 0 has a bar of at least one character.
        let bar = "█".repeat((columns * BAR).div_ceil(most.max(1)));
        [entries, columns.to_string(), bar]
    };
    let empty = (lengths.empty > 0).then(|| ("0".into(), lengths.empty));
    let classes = lengths.histogram.iter().enumerate().skip_while(|&(_, &columns)| columns == 0);
    let classes = classes.map(|(class, &columns)| {
        let (low, high) = (1u64 << class, (1u64 << (class + 1)) - 1);
        (if low == high { low.to_string() } else { format!("{low} - {high}") }, columns)
    });
    table::plain([""; 0], empty.into_iter().chain(classes).map(row), 0..2)
}

fn best(blocks: &Fits) -> String {
    match blocks.best {
        [1, 1] => "scalars, no block that divides the matrix takes less memory".into(),
        [rows, cols] => format!("{rows}x{cols}"),
    }
}

/// The square shapes, and the tightest other shapes that take less memory than scalars.
fn fits(blocks: &Fits) -> String {
    let scalars = blocks.fits.iter().find(|fit| fit.area() == 1).map_or(0, |fit| fit.bytes);
    let mut oblong: Vec<_> = blocks.fits.iter().filter(|fit| fit.rows != fit.cols && fit.bytes < scalars).collect();
    oblong.sort_by_key(|fit| (fit.bytes, fit.area()));
    oblong.truncate(RECTANGLES);
    let shown = |fit: &&BlockFit| fit.rows == fit.cols || oblong.contains(fit);
    let row = |fit: &BlockFit| {
        let mark = if [fit.rows, fit.cols] == blocks.best { "*" } else { "" };
        let shape = format!("{mark}{}x{}", fit.rows, fit.cols);
        [shape, fit.blocks.to_string(), percent(fit.fill), show_bytes(fit.bytes)]
    };
    table::plain(["block", "blocks", "full", "memory"], blocks.fits.iter().filter(shown).map(row), 0..4)
}

fn product(product: &Product) -> Vec<String> {
    let size = &product.size;
    let (entries, shapes) = match (product.a_block, product.b_block) {
        ([1, 1], [1, 1]) => ("entries", String::new()),
        ([r, k], [l, c]) => ("blocks", format!(" in blocks of {r}x{k} by {l}x{c}:")),
    };
    let compression = product.compression.as_ref().map_or(String::new(), |c| match size.nnz.exact() {
        Some(_) => format!(", {:.2} products for each", c.least),
        None => format!(", {:.2} to {:.2} products for each", c.least, c.most),
    });
    let mut lines = vec![
        format!(
            "  {:<11}{shapes} {} products, {} in the longest column",
            product.of, size.products, size.longest_segment
        ),
        format!("  {:<11} C has {} {entries}{compression}", "", bounds(size.nnz)),
        format!("  {:<11} up to {} products sum to one of them", "", bounds(size.longest_run)),
    ];
    let in_groups = |shapes| format!("  {:<11} of scalars; `multiply` takes blocks in groups: {shapes}", "");
    lines.extend(product.in_groups.as_ref().map(in_groups));
    lines
}

fn bounds(bounds: Bounds) -> String {
    match bounds.exact() {
        Some(number) => number.to_string(),
        None => format!("at least {} and at most {}", bounds.least, bounds.most),
    }
}

fn needs(needs: &[DeviceNeeds], product: &Product, devices: &Devices) -> String {
    if needs.is_empty() {
        let reason = devices.as_ref().err().map(ToString::to_string);
        let reason = reason.as_deref().and_then(|text| text.lines().next()).unwrap_or("no OpenCL device").to_owned();
        return format!("  {:<11} {reason} (`blockmul devices` says more)", "devices");
    }
    let row = |device: &DeviceNeeds| {
        [
            device.index.to_string(),
            show_bytes(device.global_bytes),
            device.peak_device_bytes.map_or("-".into(), show_bytes),
            device.bands.map_or("-".into(), |bands| bands.to_string()),
            device.element.into(),
            device.name.clone(),
        ]
    };
    let header = ["device", "memory", "takes at most", "bands at most", "in", "name"];
    let table = table::plain(header, needs.iter().map(row), 0..4);
    let of_scalars = if product.in_groups.is_some() { " of scalars" } else { "" };
    let mut lines = vec![format!("  {}{of_scalars} on the devices here:", product.of), indented(&table)];
    let refused = |device: &DeviceNeeds| Some(format!("    {}: {}", device.index, device.refused.as_deref()?));
    lines.extend(needs.iter().filter_map(refused));
    lines.join("\n")
}

fn percent(part: f64) -> String {
    match 100.0 * part {
        // The text shows 100 % only if it is exact.
        percent if (99.95..100.0).contains(&percent) => "99.9 %".into(),
        percent if percent == 0.0 || percent >= 0.1 => format!("{percent:.1} %"),
        percent => format!("{percent:.1e} %"),
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_everything_is_a_hundred_percent() {
        let shown = [1.0, 0.99999, 0.9994, 0.5, 0.001, 0.0001, 0.0].map(percent);
        assert_eq!(shown, ["100.0 %", "99.9 %", "99.9 %", "50.0 %", "0.1 %", "1.0e-2 %", "0.0 %"]);
    }

    #[test]
    fn bars_show_every_class_that_has_a_column() {
        let mut lengths = blockmul::extra::analysis::column_lengths(
            &blockmul::matrix::Pattern::new(3, 4, vec![0, 0, 1, 2, 4], vec![0, 0, 0, 1]).expect("a pattern"),
        );
        assert_eq!(histogram(&lengths).matches('█').count(), 20 + 40 + 20);
        (lengths.empty, lengths.histogram) = (0, vec![0, 100_000, 0, 1]);
        let bars = histogram(&lengths);
        assert_eq!((bars.matches('█').count(), bars.lines().count()), (40 + 1, 3), "from the first that has one");
    }
}
