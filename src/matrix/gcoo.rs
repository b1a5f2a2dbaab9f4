//! Matrices in grouped coordinates (GCOO) on the host.
use super::{AnyView, BlockShape, Grouping, check_sides};
use crate::{
    Element, Error, Result,
    element::{AnySlice, AnyValues, ElementType, move_values},
};

/// The arrays of a matrix in grouped coordinates, as in the paper on GCOO (Shi 2020).
#[derive(Debug, Clone, PartialEq)]
pub struct GcooArrays<T> {
    /// The number of entries before each group; the last element is the number of all entries. In
    /// the paper (Shi 2020) this array is `gIdxes`, and its differences are `nnzPerGroup`.
    pub group_ptr: Vec<u32>,
    /// Row of each entry. In a group of columns the rows ascend.
    pub rows: Vec<u32>,
    /// Column of each entry. In a group of rows the columns ascend.
    pub cols: Vec<u32>,
    /// Value of each entry. Blocks are column-major.
    pub values: Vec<T>,
}

/// A matrix in grouped coordinates on the host, whose element type is known at run time only. A
/// [`.gcoo`](crate::io::gcoo) file holds such a matrix. In a group of rows, entries are sorted by
/// column, and in each column by row. In a group of columns, they are sorted by row, and in each
/// row by column.
///
/// ```
/// use blockmul::{Csc, dense::{AnyGcoo, Grouping}};
/// // The matrix of the paper's Figure 2, in groups of two rows.
/// let a = Csc::from_triplets(
///     4, 4, [(0, 0, 7.0), (0, 3, 8.0), (1, 1, 10.0), (2, 0, 9.0), (3, 2, 6.0), (3, 3, 3.0)],
/// )?;
/// let grouped = AnyGcoo::of(&a, Grouping::Rows(2))?.into_arrays::<f64>()?;
/// assert_eq!(grouped.group_ptr, [0, 3, 6]);
/// assert_eq!(grouped.values, [7.0, 10.0, 8.0, 9.0, 6.0, 3.0]);
/// # Ok::<(), blockmul::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AnyGcoo {
    nrows: usize,
    ncols: usize,
    shape: BlockShape,
    grouping: Grouping,
    group_ptr: Vec<u32>,
    rows: Vec<u32>,
    cols: Vec<u32>,
    values: AnyValues,
}

impl AnyGcoo {
    /// Makes a matrix of `nrows` x `ncols` entries from its arrays. The arrays are checked.
    ///
    /// # Errors
    /// [`Error::Argument`] with the first entry that is wrong, [`Error::Length`],
    /// [`Error::TooLarge`] for too many rows or columns, counted in scalars.
    pub fn new<T: Element>(
        (nrows, ncols): (usize, usize),
        shape: BlockShape,
        grouping: Grouping,
        arrays: GcooArrays<T>,
    ) -> Result<Self> {
        GcooPlaces::of((nrows, ncols), shape, grouping, &arrays).check(arrays.values.len())?;
        Ok(Self::trusted((nrows, ncols), shape, grouping, arrays))
    }

    /// Makes a matrix from arrays that have been checked already.
    pub(crate) fn trusted<T: Element>(
        (nrows, ncols): (usize, usize),
        shape: BlockShape,
        grouping: Grouping,
        GcooArrays { group_ptr, rows, cols, values }: GcooArrays<T>,
    ) -> Self {
        Self { nrows, ncols, shape, grouping, group_ptr, rows, cols, values: T::any(values) }
    }

    /// Groups a matrix of any type.
    ///
    /// # Errors
    /// [`Error::Argument`] unless a group has 1 to 32 lines; [`Error::TooLarge`] from 2^32 entries
    /// on.
    pub fn of<'m>(matrix: impl Into<AnyView<'m>>, grouping: Grouping) -> Result<Self> {
        Self::of_view(matrix.into(), grouping)
    }

    fn of_view(view: AnyView<'_>, grouping: Grouping) -> Result<Self> {
        grouping.check()?;
        let (nrows, ncols, nnz) = (view.nrows(), view.ncols(), view.nnz());
        let limit = u64::from(u32::MAX);
        if nnz as u64 > limit {
            return Err(Error::TooLarge { what: "number of entries in groups", value: nnz as u64, limit });
        }
        // The entries of a group of rows are in the order of columns, so the matrix is read by
        // columns.
        let row_major = view.kind().is_row_major();
        let transposed = (row_major != grouping.of_columns()).then(|| view.pattern().transpose());
        let pattern = transposed.as_ref().map_or(view.pattern(), |(pattern, _)| pattern);
        let group_of = |line: u32| line as usize / grouping.lines();
        let mut next = vec![0u32; pattern.nrows().div_ceil(grouping.lines()) + 1];
        pattern.row_idx().iter().for_each(|&line| next[group_of(line) + 1] += 1);
        (1..next.len()).for_each(|group| next[group] += next[group - 1]);
        let group_ptr = next.clone();
        let (mut own, mut other, mut source) = (vec![0u32; nnz], vec![0u32; nnz], vec![0usize; nnz]);
        for place in 0..pattern.ncols() {
            for entry in pattern.entries(place) {
                let line = pattern.row_idx()[entry];
                let to = next[group_of(line)] as usize;
                next[group_of(line)] += 1;
                (own[to], other[to]) = (line, place as u32);
                source[to] = transposed.as_ref().map_or(entry, |(_, source)| source[entry]);
            }
        }
        let (rows, cols) = if grouping.of_columns() { (other, own) } else { (own, other) };
        let values = values_of(&view, &source);
        Ok(Self { nrows, ncols, shape: view.shape(), grouping, group_ptr, rows, cols, values })
    }

    /// Rows, counted in entries (blocks).
    pub fn nrows(&self) -> usize {
        self.nrows
    }

    /// Columns, counted in entries (blocks).
    pub fn ncols(&self) -> usize {
        self.ncols
    }

    /// Entries (blocks).
    pub fn nnz(&self) -> usize {
        self.rows.len()
    }

    /// Shape of the blocks; 1x1 for scalars.
    pub fn shape(&self) -> BlockShape {
        self.shape
    }

    /// The lines that are grouped.
    pub fn grouping(&self) -> Grouping {
        self.grouping
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        self.values.element()
    }

    /// The values in the order of the groups; blocks column-major.
    pub fn values(&self) -> &AnyValues {
        &self.values
    }

    /// Converts the values to another type. Each value is rounded to nearest, see
    /// [`Element::from_f64`].
    pub fn cast(self, element: ElementType) -> Self {
        let values = if self.element() == element { self.values } else { self.values.cast(element) };
        Self { values, ..self }
    }

    /// Returns the arrays.
    ///
    /// # Errors
    /// [`Error::Argument`] if the elements have another type.
    pub fn into_arrays<T: Element>(self) -> Result<GcooArrays<T>> {
        let Self { group_ptr, rows, cols, values, .. } = self;
        let values = T::of_any(values).map_err(|values| {
            Error::Argument(format!("the groups have elements of {}, not of {}", values.element(), T::TYPE))
        })?;
        Ok(GcooArrays { group_ptr, rows, cols, values })
    }

    pub(crate) fn places(&self) -> GcooPlaces<'_> {
        let Self { nrows, ncols, shape, grouping, group_ptr, rows, cols, .. } = self;
        GcooPlaces { nrows: *nrows, ncols: *ncols, shape: *shape, grouping: *grouping, group_ptr, rows, cols }
    }
}

/// The values of a matrix's entries in the order of `source`, without padding; blocks column-major.
fn values_of(view: &AnyView<'_>, source: &[usize]) -> AnyValues {
    let (shape, row_major) = (view.shape(), view.kind().is_row_major());
    let elements = source.iter().flat_map(|&entry| {
        (0..shape.area()).map(move |at| {
            // The blocks of a row-major matrix are stored transposed.
            let place = if row_major { at % shape.rows() * shape.cols() + at / shape.rows() } else { at };
            entry * view.stride + place
        })
    });
    move_values!(view.values, bits => elements.map(|at| bits[at]).collect())
}

/// The places of the entries in groups, borrowed.
#[derive(Clone, Copy)]
pub(crate) struct GcooPlaces<'a> {
    pub nrows: usize,
    pub ncols: usize,
    pub shape: BlockShape,
    pub grouping: Grouping,
    pub group_ptr: &'a [u32],
    pub rows: &'a [u32],
    pub cols: &'a [u32],
}

impl<'a> GcooPlaces<'a> {
    pub fn of<T>(
        (nrows, ncols): (usize, usize),
        shape: BlockShape,
        grouping: Grouping,
        GcooArrays { group_ptr, rows, cols, .. }: &'a GcooArrays<T>,
    ) -> Self {
        Self { nrows, ncols, shape, grouping, group_ptr, rows, cols }
    }

    /// The number of grouped lines (rows or columns), and the number of places in each line.
    pub fn sides(&self) -> [usize; 2] {
        if self.grouping.of_columns() { [self.ncols, self.nrows] } else { [self.nrows, self.ncols] }
    }

    /// For each entry, the grouped line (row or column) that contains it, and its place in that
    /// line.
    pub fn of_entries(&self) -> [&'a [u32]; 2] {
        if self.grouping.of_columns() { [self.cols, self.rows] } else { [self.rows, self.cols] }
    }

    /// Refuses arrays that do not describe groups of this kind with `values` values.
    pub fn check(&self, values: usize) -> Result<()> {
        let Self { grouping, shape, .. } = self;
        grouping.check()?;
        check_sides(self.nrows, self.ncols, *shape)?;
        let (groups, nnz) = (self.sides()[0].div_ceil(grouping.lines()), self.rows.len());
        let length = |array, found, expected, why: String| match found == expected {
            true => Ok(()),
            false => Err(Error::Length { array, found, expected, why }),
        };
        length("group_ptr", self.group_ptr.len(), groups + 1, format!("{groups} groups of {grouping}, and 1"))?;
        length("cols", self.cols.len(), nnz, format!("{nnz} rows"))?;
        length("values", values, nnz * shape.area(), format!("{nnz} blocks of {shape}"))?;
        self.check_order().map_err(|reason| Error::Argument(format!("groups of {grouping}: {reason}")))
    }

    /// Refuses entries that are not in their group, or not in the order of a group. The lengths of
    /// the arrays have been checked.
    pub fn check_order(&self) -> std::result::Result<(), String> {
        let ([lines, across], [own, other], group_ptr) = (self.sides(), self.of_entries(), self.group_ptr);
        let (groups, nnz, size) = (group_ptr.len() - 1, own.len(), self.grouping.lines());
        if group_ptr[0] != 0 || group_ptr[groups] as usize != nnz {
            let [first, last] = [group_ptr[0], group_ptr[groups]];
            return Err(format!("group_ptr runs from {first} to {last}, not from 0 to {nnz}"));
        }
        if let Some(group) = group_ptr.windows(2).position(|ends| ends[0] > ends[1]) {
            let (start, end) = (group_ptr[group], group_ptr[group + 1]);
            return Err(format!("group {group}: group_ptr falls from {start} to {end}"));
        }
        for group in 0..groups {
            let ours = group * size..((group + 1) * size).min(lines);
            let mut before = None;
            for entry in group_ptr[group] as usize..group_ptr[group + 1] as usize {
                let (place, line, at) = (other[entry], own[entry], (self.rows[entry], self.cols[entry]));
                if !ours.contains(&(line as usize)) || place as usize >= across {
                    let Self { nrows, ncols, .. } = self;
                    return Err(format!("entry {entry} at {at:?} is not in group {group} of {nrows}x{ncols}"));
                }
                if before.is_some_and(|before| before >= (place, line)) {
                    return Err(format!("entry {entry} at {at:?} does not ascend in group {group}"));
                }
                before = Some((place, line));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bsr, Cbc, Csc};

    /// Tests seven rows of blocks in groups of three, whose last group has one row.
    #[test]
    fn every_kind_of_matrix_is_grouped_alike() {
        let shape = BlockShape::new(2, 3).unwrap();
        let places = [(0, 4), (6, 0), (2, 2), (1, 2), (3, 3), (5, 0), (6, 4), (0, 2)];
        let elements = places.iter().enumerate().flat_map(|(number, &(row, col))| {
            (0..6).map(move |at| (2 * row + at % 2, 3 * col + at / 2, (10 * number + at) as f32))
        });
        let blocks: Cbc<f32> = Csc::from_triplets(14, 15, elements).unwrap().to_blocks(shape).unwrap();
        let by_rows = Bsr::from_transpose(blocks.transpose());
        let padded = blocks.with_alignment(32).unwrap();
        for grouping in [Grouping::Rows(3), Grouping::Columns(2), Grouping::Rows(1), Grouping::Columns(32)] {
            let grouped = AnyGcoo::of(&blocks, grouping).unwrap();
            assert_eq!(AnyGcoo::of(&by_rows, grouping).unwrap(), grouped, "{grouping}");
            assert_eq!(AnyGcoo::of(&padded, grouping).unwrap(), grouped, "{grouping}");
            assert_eq!((grouped.nrows(), grouped.ncols(), grouped.nnz(), grouped.shape()), (7, 5, 8, shape));
            let arrays = grouped.clone().into_arrays::<f32>().unwrap();
            for entry in 0..8 {
                let at = (arrays.rows[entry] as usize, arrays.cols[entry] as usize);
                let number = places.iter().position(|&place| place == at).unwrap();
                let want: Vec<f32> = (0..6).map(|at| (10 * number + at) as f32).collect();
                assert_eq!(arrays.values[6 * entry..][..6], want, "{at:?} in {grouping}");
            }
            assert_eq!(AnyGcoo::new((7, 5), shape, grouping, arrays).unwrap(), grouped, "the order is checked");
        }
        let error = AnyGcoo::of(&blocks, Grouping::Rows(33)).unwrap_err().to_string();
        assert_eq!(error, "groups of 33 rows: 1 to 32 are supported");
        let error = AnyGcoo::of(&blocks, Grouping::Rows(3)).unwrap().into_arrays::<f64>().unwrap_err().to_string();
        assert_eq!(error, "the groups have elements of f32, not of f64");
    }
}
