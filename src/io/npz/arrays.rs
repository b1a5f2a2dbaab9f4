//! The arrays of a matrix, checked against each other and interpreted.
use std::io::{Read, Seek};

use super::archive::Archive;
use super::diagonals;
use super::member::{Declared, NpyMember};
use crate::io::{ReadOptions, assemble, grow, push};
use crate::{Pattern, Result};

/// A matrix as blocks in the order of the file. The blocks are 1x1 if the format has no blocks.
pub(super) struct Arrays {
    /// Rows and columns, in scalars.
    pub shape: [u64; 2],
    /// Rows and columns of a block.
    pub block: [u64; 2],
    /// Whether the file is in a format of blocks.
    pub in_blocks: bool,
    pub declared: Declared,
    /// The name of the member that gives the row and column of an element, for messages.
    places: &'static str,
    /// Block row and block column of each block.
    rows: Vec<u32>,
    cols: Vec<u32>,
    values: Vec<f64>,
    /// The distances between values of neighbouring blocks, and of neighbouring rows and columns in
    /// a block.
    strides: [usize; 3],
}

impl Arrays {
    pub fn read<R: Read + Seek>(archive: &mut Archive<R>, options: &ReadOptions) -> Result<Self> {
        let format = read_format(archive)?;
        let shape = read_shape(&mut archive.array("shape")?)?;
        if format == "dia" {
            return diagonals::read(archive, shape, options);
        }
        let data = read_axes(&archive.array("data")?, format == "bsr", shape)?;
        let [count, block @ ..] = data.axes;
        check_shape(archive, shape, count.saturating_mul(block[0] * block[1]), options)?;
        let grid = [shape[0] / block[0], shape[1] / block[1]];
        let (rows, cols, places) = match format.as_str() {
            "coo" => read_coordinates(archive, grid, count)?,
            "csc" => {
                let (cols, rows) = read_compressed(archive, ["column", "row"], [grid[1], grid[0]], count)?;
                (rows, cols, "indices.npy")
            }
            _ => {
                let (rows, cols) = read_compressed(archive, ["row", "column"], grid, count)?;
                (rows, cols, "indices.npy")
            }
        };
        // Blocks that `indptr` does not count are at the end of the data and are not read. In
        // Fortran order the elements of all blocks are mixed, so all data are read.
        let area = block[0] * block[1];
        let used = if data.strides[0] as u64 == area { rows.len() as u64 * area } else { u64::MAX };
        let (values, declared) = archive.array("data")?.values(used)?;
        Ok(Self {
            shape,
            block,
            in_blocks: format == "bsr",
            declared,
            places,
            rows,
            cols,
            values,
            strides: data.strides,
        })
    }

    /// A matrix of scalars, given as rows, columns and values of the entries in any order.
    pub fn of_entries(shape: [u64; 2], declared: Declared, rows: Vec<u32>, cols: Vec<u32>, values: Vec<f64>) -> Self {
        let (block, strides, places) = ([1, 1], [1, 1, 1], "data.npy");
        Self { shape, block, in_blocks: false, declared, places, rows, cols, values, strides }
    }

    /// Number of blocks, or of entries if the format has no blocks.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_scalar(&self) -> bool {
        self.block == [1, 1]
    }

    /// Row, column and value of every entry, if blocks are 1x1.
    pub fn scalars(&self) -> impl Iterator<Item = (u32, u32, f64)> + Clone {
        let places = self.rows.iter().zip(&self.cols);
        places.zip(&self.values).map(|((&row, &col), &value)| (row, col, value))
    }

    /// Row, column and value of every element of every block.
    pub fn elements_of_blocks(&self) -> impl Iterator<Item = (u32, u32, f64)> + Clone {
        let [rows, cols] = self.block.map(|side| side as usize);
        (0..self.len()).flat_map(move |block| {
            let (row, col) = (self.rows[block] as usize * rows, self.cols[block] as usize * cols);
            (0..rows * cols).map(move |element| {
                let (i, j) = (element / cols, element % cols);
                let at = block * self.strides[0] + i * self.strides[1] + j * self.strides[2];
                ((row + i) as u32, (col + j) as u32, self.values[at])
            })
        })
    }

    /// The position in the file of the second entry with the row and column `place`, and the reason
    /// for refusing it.
    pub fn duplicate_at(&self, place: (u32, u32)) -> (String, String) {
        let (row, col) = (u64::from(place.0) / self.block[0], u64::from(place.1) / self.block[1]);
        let is_there = |&at: &usize| (u64::from(self.rows[at]), u64::from(self.cols[at])) == (row, col);
        let mut found = (0..self.len()).filter(is_there);
        let (first, again) = (found.next().unwrap_or(0), found.next().unwrap_or(0));
        let what = if self.in_blocks { "block" } else { "entry" };
        let reason = format!("a second {what} at ({row}, {col}), the first is element {first}{}", assemble::HOW_TO_SUM);
        (format!("member {}, element {again}", self.places), reason)
    }
}

fn read_format<R: Read + Seek>(archive: &mut Archive<R>) -> Result<String> {
    if !archive.has("format") {
        let reason = "there is no member format.npy, as in scipy.sparse.save_npz";
        return Err(archive.refuse("the archive", format!("{reason}: {}", archive.listed())));
    }
    let format = archive.array("format")?.text()?;
    match format.as_str() {
        "csr" | "csc" | "bsr" | "coo" | "dia" => Ok(format),
        _ => {
            let read = "csr, csc, bsr, coo and dia are read: save its .tocsr()";
            let reason = format!("the format is {format:?}; {read}");
            Err(archive.refuse("member format.npy", reason))
        }
    }
}

/// Refuses a size that is too large for the number of elements.
pub(super) fn check_shape<R: Read + Seek>(
    archive: &Archive<R>,
    shape: [u64; 2],
    elements: u64,
    options: &ReadOptions,
) -> Result<()> {
    for (what, size) in [("rows", shape[0]), ("columns", shape[1])] {
        assemble::check_lines(what, size, elements, options.max_unproven_lines)
            .map_err(|reason| archive.refuse("member shape.npy", reason))?;
    }
    Ok(())
}

/// The memory layout of `data`.
struct Axes {
    /// Number of blocks, and of the rows and columns of a block.
    axes: [u64; 3],
    strides: [usize; 3],
}

fn read_axes(data: &NpyMember<'_>, in_blocks: bool, shape: [u64; 2]) -> Result<Axes> {
    if !in_blocks {
        return Ok(Axes { axes: [data.len()?, 1, 1], strides: [1, 1, 1] });
    }
    let (&[count, rows, cols], &[of_block, of_row, of_col]) = (data.shape(), data.strides()) else {
        return Err(data.refuse(format!("{} axes where 3 are expected", data.shape().len())));
    };
    for (what, size, side) in [("rows", shape[0], rows), ("columns", shape[1], cols)] {
        if side == 0 || (size > 0 && side > size) || !size.is_multiple_of(side) {
            return Err(data.refuse(format!("blocks of {rows}x{cols} do not cut {size} {what}")));
        }
    }
    Ok(Axes { axes: [count, rows, cols], strides: [of_block, of_row, of_col].map(|stride| stride as usize) })
}

fn read_shape(shape: &mut NpyMember<'_>) -> Result<[u64; 2]> {
    shape.check_len(2, || "rows and columns".into())?;
    let mut sizes = [0; 2];
    shape.integers(&mut |at, size| {
        let what = ["rows", "columns"][at as usize];
        sizes[at as usize] = match u64::try_from(size) {
            Ok(size) if size <= Pattern::MAX_LINES => size,
            _ => return Err(format!("{size} {what}, 0 to {} are supported", Pattern::MAX_LINES).into()),
        };
        Ok(())
    })?;
    Ok(sizes)
}

/// Reads the row or column (line) and the index of every entry that `indptr` counts. Lines are the
/// compressed rows or columns. `names[0]` is their name in messages.
fn read_compressed<R: Read + Seek>(
    archive: &mut Archive<R>,
    names: [&str; 2],
    [lines, width]: [u64; 2],
    count: u64,
) -> Result<(Vec<u32>, Vec<u32>)> {
    let ends = read_ends(&mut archive.array("indptr")?, names[0], lines, count)?;
    let used = ends.last().copied().unwrap_or(0);
    let indices = read_indices(&mut archive.array("indices")?, names[1], width, count, used)?;
    let mut of_lines = Vec::new();
    grow(&mut of_lines, used as usize, "entries")?;
    for (line, &end) in ends.iter().enumerate() {
        of_lines.resize(end as usize, line as u32);
    }
    Ok((of_lines, indices))
}

/// The ends of the lines: `indptr` without its first element, which is 0.
fn read_ends(indptr: &mut NpyMember<'_>, name: &str, lines: u64, count: u64) -> Result<Vec<u64>> {
    indptr.check_len(lines + 1, || format!("{lines} {name}s and 1"))?;
    let (mut ends, mut previous) = (Vec::new(), 0);
    indptr.integers(&mut |at, end| {
        match u64::try_from(end) {
            Ok(end) if at == 0 && end != 0 => return Err(format!("{end} where 0 is expected").into()),
            Ok(end) if end < previous => return Err(format!("{end} follows {previous}; offsets do not fall").into()),
            Ok(end) if end <= count => previous = end,
            _ => return Err(format!("{end} is outside 0 to {count}, the elements of data.npy").into()),
        }
        if at > 0 { Ok(push(&mut ends, previous, "offsets")?) } else { Ok(()) }
    })?;
    Ok(ends)
}

/// Reads the first `used` of `count` indices, each below `width`.
fn read_indices(member: &mut NpyMember<'_>, name: &str, width: u64, count: u64, used: u64) -> Result<Vec<u32>> {
    member.check_len(count, || "as many as in data.npy".into())?;
    let mut indices = Vec::new();
    member.integers(&mut |at, index| match index {
        _ if at >= used => Ok(()),
        index if (0..i128::from(width)).contains(&index) => Ok(push(&mut indices, index as u32, "entries")?),
        _ => Err(format!("{name} {index} is outside 0..{width}").into()),
    })?;
    Ok(indices)
}

/// The rows and columns of a COO matrix, and the name of the member that gives them.
fn read_coordinates<R: Read + Seek>(
    archive: &mut Archive<R>,
    [nrows, ncols]: [u64; 2],
    count: u64,
) -> Result<(Vec<u32>, Vec<u32>, &'static str)> {
    if !archive.has("coords") {
        let rows = read_indices(&mut archive.array("row")?, "row", nrows, count, count)?;
        let cols = read_indices(&mut archive.array("col")?, "column", ncols, count, count)?;
        return Ok((rows, cols, "row.npy"));
    }
    let mut coords = archive.array("coords")?;
    coords.check_order()?;
    if *coords.shape() != [2, count] {
        return Err(coords.refuse(format!("the shape is {:?}, [2, {count}] is expected", coords.shape())));
    }
    let (mut rows, mut cols) = (Vec::new(), Vec::new());
    coords.integers(&mut |at, index| {
        let (indices, name, size) = if at < count { (&mut rows, "row", nrows) } else { (&mut cols, "column", ncols) };
        match index {
            index if (0..i128::from(size)).contains(&index) => Ok(push(indices, index as u32, "entries")?),
            _ => Err(format!("{name} {index} is outside 0..{size}").into()),
        }
    })?;
    Ok((rows, cols, "coords.npy"))
}
