//! Dense matrices are exchanged with NumPy as `.npy` files, to the bit.
use crate::common;
use crate::formats::{made_by_scipy, scipy};
use blockmul::{
    Element,
    dense::{DenseShape, DenseView, Layout},
    io::{ReadOptions, dense},
};
use half::f16;
use std::path::Path;

/// Returns the layout (C's order or Fortran's) and the sides from the name ORDER-DTYPE-ROWSxCOLS.
fn named(path: &Path) -> (Layout, usize, usize) {
    let words: Vec<&str> = path.file_stem().unwrap().to_str().unwrap().split('-').collect();
    let (rows, cols) = words[2].split_once('x').unwrap();
    let layout = if words[0] == "C" { Layout::ByRows } else { Layout::ByColumns };
    (layout, rows.parse().unwrap(), cols.parse().unwrap())
}

#[test]
fn numpy_s_arrays_are_read() {
    let Some(python) = common::python("NumPy", "numpy, scipy.io") else { return };
    let folder = tempfile::tempdir().unwrap();
    let arrays = made_by_scipy(&python, "save", folder.path(), "npy");
    assert_eq!(arrays.len(), 2 * (5 * 12 + 1));
    for path in arrays {
        let (layout, rows, cols) = named(&path);
        let found = dense::read(&path, &ReadOptions::default()).unwrap();
        assert_eq!(found.matrix.shape(), (rows, cols), "{}", path.display());
        // NumPy reports C's order for an array with at most one row or column.
        assert!(found.layout == layout || rows.min(cols) <= 1, "{}", path.display());
        let text = std::fs::read_to_string(path.with_extension("txt")).unwrap();
        let want: Vec<f64> = text.split_whitespace().map(|number| number.parse().unwrap()).collect();
        let by_rows = found.matrix.transpose();
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(by_rows.as_slice()), bits(&want), "{}", path.display());
    }
}

/// Writes small dense matrices in both layouts, with gaps between lines, and a text file of the
/// elements for each.
fn write_for_numpy<T: Element>(folder: &Path, dtype: &str) -> usize {
    let sides = [(1, 1), (4, 6), (0, 3), (3, 4)];
    for (rows, cols) in sides {
        for (order, layout) in [("C", Layout::ByRows), ("F", Layout::ByColumns)] {
            let tight = DenseShape::new(rows, cols, layout);
            let shape = tight.with_leading(tight.leading + 2);
            let number = |i: usize| T::from_f64(if i % 5 == 3 { -0.0 } else { (i * 37 % 101) as f64 / 7.0 });
            let values: Vec<T> = (0..shape.len()).map(number).collect();
            let path = folder.join(format!("{order}-{dtype}-{rows}x{cols}.npy"));
            dense::write(&path, DenseView::new(shape, &values).unwrap()).unwrap();
            let places = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)));
            let text: Vec<String> =
                places.map(|(row, col)| format!("{:?}", values[shape.at(row, col)].to_f64())).collect();
            std::fs::write(path.with_extension("txt"), text.join(" ")).unwrap();
        }
    }
    2 * sides.len()
}

#[test]
fn numpy_reads_what_is_written() {
    let Some(python) = common::python("NumPy", "numpy, scipy.io") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut written = 0;
    written += write_for_numpy::<f64>(folder.path(), "f8");
    written += write_for_numpy::<f32>(folder.path(), "f4");
    written += write_for_numpy::<f16>(folder.path(), "f2");
    written += write_for_numpy::<i32>(folder.path(), "i4");
    written += write_for_numpy::<u32>(folder.path(), "u4");
    written += write_for_numpy::<u8>(folder.path(), "u1");
    assert_eq!(scipy(&python, "load", folder.path()).trim(), written.to_string());
}
