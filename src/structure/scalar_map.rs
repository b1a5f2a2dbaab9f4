//! [`ScalarMap`]: maps the blocks of a symmetric matrix to compressed columns of scalars, which
//! sparse factorizations read.
use crate::{
    BlockShape, Error, Matrix, Part, Pattern, Result,
    element::{AnySlice, AnyValues, move_values},
    matrix::{AnyMatrix, AnyView, HostMatrix, check_sides},
};
use rayon::prelude::*;
use std::ops::Range;

/// The places of a symmetric block matrix's elements in compressed columns of scalars with
/// ascending rows, which sparse Cholesky factorizations read. The map is made once from a pattern.
/// Afterwards only values are copied.
///
/// The matrix may be stored whole, or as one triangle of blocks. If the matrix is stored whole, the
/// lower triangle is read. In blocks on the diagonal, only the triangle on the same side is read.
///
/// ```
/// use blockmul::plan::ScalarMap;
/// use blockmul::generate;
/// // A path of 4 poses, with blocks of 3x3:
/// let path = generate::PoseChain { poses: 4, closures: 0, freedom: 3, ..Default::default() };
/// let h = path.matrix()?;
/// let map = ScalarMap::lower(&h)?;
/// assert_eq!(map.nnz(), 4 * 6 + 3 * 9); // triangles on the diagonal, whole blocks below
/// let mut values = vec![0.0; map.nnz()];
/// map.copy_values(&h, &mut values)?; // whenever there are new values
/// assert_eq!(map.pattern().column(11), [11]);
/// assert_eq!(values[map.nnz() - 1], h.to_dense()[(11, 11)]);
/// # Ok::<(), blockmul::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ScalarMap {
    /// Pattern of the matrix's arrays.
    arrays: Pattern,
    shape: BlockShape,
    row_major: bool,
    /// Pattern of the scalars.
    pattern: Pattern,
    /// Number of blocks copied before each block column; the last element is the number of all
    /// blocks.
    block_ptr: Vec<usize>,
    places: Vec<Place>,
}

/// The place of a block among the scalars. Element (a, b) goes to `first + b * height - missing +
/// a`. `missing` is the number of elements above the diagonal that are not stored in the columns up
/// to b.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The matrix entry that contains the block.
    pub source: u32,
    /// Scalars in the first column of the block column.
    pub height: u32,
    /// Place of element (0, 0).
    pub first: u64,
    /// Whether the matrix stores the transpose of the block.
    pub turned: bool,
    /// Whether the block column begins on the diagonal: each of its columns begins one scalar below
    /// the one before.
    pub falling: bool,
    /// Whether the block is on the diagonal. The elements above the diagonal of a block on the
    /// diagonal are left out (if columns are falling) or mirrored.
    pub diagonal: bool,
}

/// The blocks to copy: the source of each block, and whether it is stored transposed.
struct Blocks {
    pattern: Pattern,
    from: Vec<(u32, bool)>,
}

impl ScalarMap {
    /// Maps to the lower triangle. `faer` and other factorizations read only the lower triangle.
    ///
    /// # Errors
    /// [`Error::Argument`] if the matrix or its blocks are not square, or if it has blocks on both
    /// sides of the diagonal and one of them has no mirror image; [`Error::TooLarge`] above
    /// [`Pattern::MAX_LINES`] scalar rows or `u32::MAX` entries.
    pub fn lower<M: HostMatrix>(h: &M) -> Result<Self> {
        Self::of(h.view(), Part::Lower)
    }

    /// Maps to both triangles; the upper one is mirrored. `nalgebra-sparse` needs both triangles,
    /// because it finds the pattern of its factor in the upper triangle, and the values in the
    /// lower one.
    ///
    /// # Errors
    /// See [`ScalarMap::lower`].
    pub fn full<M: HostMatrix>(h: &M) -> Result<Self> {
        Self::of(h.view(), Part::Full)
    }

    fn of(h: AnyView<'_>, part: Part) -> Result<Self> {
        Self::new(h.pattern, h.shape, h.kind.is_row_major(), part)
    }

    pub(crate) fn new(arrays: &Pattern, shape: BlockShape, row_major: bool, part: Part) -> Result<Self> {
        let side = shape.rows();
        if arrays.nrows() != arrays.ncols() || side != shape.cols() {
            let (nrows, ncols) = (arrays.nrows(), arrays.ncols());
            return Err(Error::Argument(format!("{nrows}x{ncols} blocks of {shape} are not square, so not symmetric")));
        }
        check_sides(arrays.nrows(), arrays.ncols(), shape)?;
        let (value, limit) = (arrays.nnz() as u64, u64::from(u32::MAX));
        if value > limit {
            return Err(Error::TooLarge { what: "number of entries to hand over", value, limit });
        }
        let lower = Blocks::lower(arrays, row_major)?;
        let blocks = if part == Part::Full { lower.mirrored() } else { lower };
        let (pattern, places) = blocks.to_scalars(side, part);
        let block_ptr = blocks.pattern.col_ptr().iter().map(|&p| p as usize).collect();
        Ok(Self { arrays: arrays.clone(), shape, row_major, pattern, block_ptr, places })
    }

    /// The pattern of the scalars.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Number of scalars.
    pub fn nnz(&self) -> usize {
        self.pattern.nnz()
    }

    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    /// Copies the values of `h` in the order of [`ScalarMap::pattern`].
    ///
    /// # Errors
    /// [`Error::Argument`] if the pattern of `h` is not the one the map was made for;
    /// [`Error::Length`] if `values` does not have exactly [`ScalarMap::nnz`] elements.
    pub fn copy_values<M: Matrix>(&self, h: &M, values: &mut [M::Element]) -> Result<()> {
        let view = h.as_cbc();
        self.check(view.pattern, view.shape, M::ROW_MAJOR)?;
        self.copy(view.values, view.stride, values)
    }

    /// The values of `h` in the order of [`ScalarMap::pattern`], in the element type of `h`.
    ///
    /// ```
    /// use blockmul::{Csc, element::AnyValues, matrix::AnyMatrix, plan::ScalarMap};
    /// let h = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 2.0f32), (1, 0, 3.0)])?);
    /// assert_eq!(ScalarMap::lower(&h)?.any_values(&h)?, AnyValues::F32(vec![2.0, 3.0]));
    /// # Ok::<(), blockmul::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`ScalarMap::copy_values`].
    pub fn any_values(&self, h: &AnyMatrix) -> Result<AnyValues> {
        let view = h.view();
        self.check(view.pattern, view.shape, view.kind.is_row_major())?;
        Ok(move_values!(view.values, blocks => {
            let mut values = vec![0; self.nnz()];
            self.copy(blocks, view.stride, &mut values)?;
            values
        }))
    }

    /// Refuses a matrix that does not have the pattern of the map.
    fn check(&self, pattern: &Pattern, shape: BlockShape, row_major: bool) -> Result<()> {
        match row_major == self.row_major && shape == self.shape && *pattern == self.arrays {
            true => Ok(()),
            false => Err(Error::Argument(format!(
                "H does not have the pattern of the map: {} entries of {} in place of {} of {}",
                pattern.nnz(),
                shape,
                self.arrays.nnz(),
                self.shape
            ))),
        }
    }

    /// Copies elements of blocks. Consecutive blocks are `stride` elements apart.
    fn copy<T: Copy + Send + Sync>(&self, blocks: &[T], stride: usize, values: &mut [T]) -> Result<()> {
        if values.len() != self.nnz() {
            let why = "the scalars of the map".into();
            return Err(Error::Length { array: "values", found: values.len(), expected: self.nnz(), why });
        }
        self.shares(values).into_par_iter().for_each(|(places, first, values)| {
            for place in places {
                let block = &blocks[place.source as usize * stride..][..self.shape.area()];
                place.copy(self.shape.rows(), first, block, values);
            }
        });
        Ok(())
    }

    /// Divides `values` among threads. A share consists of some block columns: their blocks, the
    /// index of their first scalar, and their values.
    fn shares<'a, T: Send>(&'a self, values: &'a mut [T]) -> Vec<(&'a [Place], u64, &'a mut [T])> {
        let (ncols, side) = (self.arrays.ncols(), self.shape.rows());
        let step = ncols.div_ceil(4 * rayon::current_num_threads()).max(1);
        let (mut shares, mut left) = (Vec::new(), values);
        for start in (0..ncols).step_by(step) {
            let end = ncols.min(start + step);
            let at = |col: usize| self.pattern.col_ptr()[col * side];
            let (own, others) = left.split_at_mut((at(end) - at(start)) as usize);
            left = others;
            shares.push((&self.places[self.block_ptr[start]..self.block_ptr[end]], at(start), own));
        }
        shares
    }
}

impl Place {
    /// Copies the elements of a block into `values`, whose first element is scalar number `start`.
    fn copy<T: Copy>(&self, side: usize, start: u64, block: &[T], values: &mut [T]) {
        let mut column = (self.first - start) as usize;
        for col in 0..side {
            // The first row of column `col` to copy, and the first row that is stored unmirrored.
            // Rows before the first unmirrored row are mirrored.
            let from = if self.diagonal && self.falling { col } else { 0 };
            let lower = if self.diagonal { col } else { 0 };
            for row in from..side {
                let stored = if self.turned != (row < lower) { row * side + col } else { col * side + row };
                values[column + row] = block[stored];
            }
            column += self.height as usize - if self.falling { col + 1 } else { 0 };
        }
    }
}

impl Blocks {
    /// The blocks on and below the diagonal. The arrays are transposed if they store only the upper
    /// triangle, or if they are row-major and store both triangles.
    fn lower(arrays: &Pattern, row_major: bool) -> Result<Self> {
        let columns = 0..arrays.ncols();
        let strictly = |below: bool| {
            let of = |col: usize| {
                arrays.column(col).iter().filter(move |&&row| (row as usize) != col && (row as usize > col) == below)
            };
            columns.clone().map(|col| of(col).count()).sum::<usize>()
        };
        let (below, above) = (strictly(true), strictly(false));
        let (transpose, source) = arrays.transpose();
        if below > 0 && above > 0 && transpose != *arrays {
            return Err(Error::Argument(format!(
                "not the pattern of a symmetric matrix: {below} entries are below the diagonal, {above} above it, not all of them mirror images"
            )));
        }
        let turned = above > 0 && (below == 0 || row_major);
        let whole = if turned { &transpose } else { arrays };
        let from = |entry: usize| (if turned { source[entry] } else { entry } as u32, turned);
        Ok(Self::collect(whole.nrows(), |col| {
            let rows = whole.column(col).partition_point(|&row| (row as usize) < col);
            let entries = whole.entries(col);
            (entries.start + rows..entries.end).map(|entry| (whole.row_idx()[entry], from(entry)))
        }))
    }

    /// Adds the mirror images of the blocks, which lie above the diagonal.
    fn mirrored(&self) -> Self {
        let (transpose, source) = self.pattern.transpose();
        Self::collect(self.pattern.ncols(), |col| {
            let above = transpose.entries(col).map(|entry| (transpose.row_idx()[entry], self.from[source[entry]]));
            let above =
                above.filter(move |&(row, _)| (row as usize) < col).map(|(row, (from, turned))| (row, (from, !turned)));
            above.chain(self.pattern.entries(col).map(|entry| (self.pattern.row_idx()[entry], self.from[entry])))
        })
    }

    fn collect<I: Iterator<Item = (u32, (u32, bool))>>(n: usize, column: impl Fn(usize) -> I) -> Self {
        let (mut col_ptr, mut row_idx, mut from) = (vec![0], Vec::new(), Vec::new());
        for col in 0..n {
            for (row, source) in column(col) {
                row_idx.push(row);
                from.push(source);
            }
            col_ptr.push(row_idx.len() as u64);
        }
        Self { pattern: Pattern::trusted(n, n, col_ptr, row_idx), from }
    }

    /// Makes the pattern of the scalars, and the place of each block.
    fn to_scalars(&self, side: usize, part: Part) -> (Pattern, Vec<Place>) {
        let (n, rows) = (self.pattern.ncols(), self.pattern.row_idx());
        let (mut col_ptr, mut row_idx, mut places) = (vec![0], Vec::new(), Vec::with_capacity(rows.len()));
        for block_col in 0..n {
            let entries = self.pattern.entries(block_col);
            let on_diagonal = |entry: usize| rows[entry] as usize == block_col;
            let falling = part == Part::Lower && entries.clone().next().is_some_and(on_diagonal);
            let (first, height) = (row_idx.len() as u64, (entries.len() * side) as u32);
            for (rank, entry) in entries.clone().enumerate() {
                let ((source, turned), diagonal) = (self.from[entry], on_diagonal(entry));
                places.push(Place { source, height, first: first + (rank * side) as u64, turned, falling, diagonal });
            }
            for col in 0..side {
                let of_block = |entry: usize| -> Range<u32> {
                    let start = rows[entry] * side as u32;
                    start + if falling && on_diagonal(entry) { col as u32 } else { 0 }..start + side as u32
                };
                row_idx.extend(entries.clone().flat_map(of_block));
                col_ptr.push(row_idx.len() as u64);
            }
        }
        (Pattern::trusted(n * side, n * side, col_ptr, row_idx), places)
    }
}

#[cfg(feature = "faer")]
impl ScalarMap {
    /// The pattern for `faer`, to be combined with the values in a
    /// [`faer::sparse::SparseColMatRef`].
    pub fn symbolic(&self) -> faer::sparse::SymbolicSparseColMat<usize> {
        self.pattern.symbolic()
    }
}

#[cfg(feature = "nalgebra-sparse")]
impl ScalarMap {
    /// The pattern for `nalgebra-sparse`, for example for
    /// [`CscSymbolicCholesky`](nalgebra_sparse::factorization::CscSymbolicCholesky), which needs a
    /// map made by [`ScalarMap::full`].
    pub fn sparsity_pattern(&self) -> nalgebra_sparse::pattern::SparsityPattern {
        self.pattern.sparsity_pattern()
    }
}
