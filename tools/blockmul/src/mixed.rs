//! Products of blocks of several shapes, which a `.bla` declares. The blocks of each shape are a
//! matrix of their own, a cell of [`BlockGroups`], wherever they are in the file.
use crate::input;
use crate::matrix_size::Size;
use crate::messages::Messages;
use crate::report::Factors;
use crate::sizes;
use blockmul::{
    BlockShape, Csc, Result,
    element::ElementType,
    groups::{BlockGroups, Group},
    io::{BlockLayout, MatrixFile},
    matrix::AnyMatrix,
    reference,
};

/// The most different heights (or widths) of blocks. Each pair of shapes that is multiplied has
/// kernels and launches of its own. If rows, inner sides and columns each have 4 sizes there are 64
/// pairs. With PoCL on two cores a first product of 1,000 blocks then takes 18 s, and a later one
/// 82 ms. With 2 sizes each, they take 6 s and 8 ms.
const MOST_SIDES: usize = 4;

/// Warns that blocks of several shapes are multiplied as scalars.
pub fn warn(why: &str, messages: &Messages) {
    messages.warn(&format!("blocks of several shapes are read as scalars: {why}"));
}

/// A factor with the blocks that its file declares.
#[derive(Clone, Copy)]
pub struct OfFile<'a> {
    pub name: &'static str,
    pub file: &'a MatrixFile,
    pub transposed: bool,
}

impl OfFile<'_> {
    /// Whether the file has blocks of several shapes.
    pub fn is_mixed(&self) -> bool {
        let matrix = &self.file.matrix;
        // If a matrix has no rows or no columns, its blocks have no shape.
        matches!(self.file.layout, Some(BlockLayout::Mixed { .. })) && matrix.nrows() > 0 && matrix.ncols() > 0
    }

    /// The rows and the columns of the factor.
    fn sides(&self) -> std::result::Result<[Sides; 2], String> {
        let (name, matrix) = (self.name, &self.file.matrix);
        let layout = self.file.layout.as_ref().ok_or_else(|| format!("{name} has no blocks"))?;
        let (nrows, ncols) = (matrix.nrows(), matrix.ncols());
        let [row_ends, col_ends] = layout.ends(nrows as u64, ncols as u64);
        let (rows, cols) = (Sides::new(name, row_ends, nrows)?, Sides::new(name, col_ends, ncols)?);
        Ok(if self.transposed { [cols, rows] } else { [rows, cols] })
    }
}

/// The rows or the columns of a matrix. Blocks with equal sides are a group; groups are in the
/// order of their first blocks.
#[derive(PartialEq)]
struct Sides {
    /// The ends of all blocks, in scalars.
    ends: Vec<u64>,
    groups: Vec<Group>,
    /// The scalar lines of each group, ascending.
    lines: Vec<Vec<usize>>,
}

/// The place of a scalar line.
#[derive(Clone, Copy, Default)]
struct Place {
    group: usize,
    line: usize,
}

impl Sides {
    /// The lines of blocks that end at `ends`. `name` names the matrix in the reason for a refusal.
    fn new(name: &str, ends: Vec<u64>, size: usize) -> std::result::Result<Self, String> {
        let (mut groups, mut lines, mut start) = (Vec::<Group>::new(), Vec::<Vec<usize>>::new(), 0);
        for end in ends.iter().map(|&end| end as usize) {
            let side = end - start;
            if side > BlockShape::MAX_SIDE {
                return Err(format!("a block of {name} has {side} lines, more than {}", BlockShape::MAX_SIDE));
            }
            let found = groups.iter().position(|group| group.side == side).unwrap_or(groups.len());
            if found == groups.len() {
                groups.push(Group { blocks: 0, side });
                lines.push(Vec::new());
            }
            groups[found].blocks += 1;
            lines[found].extend(start..end);
            start = end;
        }
        match groups.len() {
            _ if start != size => Err(format!("the blocks of {name} do not divide its {size} lines")),
            sides if sides > MOST_SIDES => Err(format!("blocks of {name} have {sides} sides, more than {MOST_SIDES}")),
            _ => Ok(Self { ends, groups, lines }),
        }
    }

    fn len(&self) -> usize {
        self.lines.iter().map(Vec::len).sum()
    }

    /// The place of each scalar line.
    fn places(&self) -> Vec<Place> {
        let mut places = vec![Place::default(); self.len()];
        for (group, lines) in self.lines.iter().enumerate() {
            lines.iter().enumerate().for_each(|(line, &at)| places[at] = Place { group, line });
        }
        places
    }
}

/// The blocks of the factors of a product: A is `rows` by `inner`, B is `inner` by `cols`.
pub struct Layouts {
    rows: Sides,
    inner: Sides,
    cols: Sides,
}

impl Layouts {
    /// The layouts of A and B, or the reason why their blocks cannot be multiplied in groups.
    pub fn of(a: &OfFile<'_>, b: &OfFile<'_>) -> std::result::Result<Self, String> {
        let ([rows, inner], [of_b, cols]) = (a.sides()?, b.sides()?);
        match inner == of_b {
            _ if [&rows, &inner, &cols].iter().any(|sides| sides.groups.is_empty()) => {
                Err("a factor has no rows or no columns".into())
            }
            true => Ok(Self { rows, inner, cols }),
            false => Err("the columns of A are cut into other blocks than the rows of B".into()),
        }
    }

    /// The shapes of the blocks, such as `A 6|3 x 6|3, B 6|3 x 2`.
    pub fn describe(&self) -> String {
        let sides = |of: &Sides| of.groups.iter().map(|group| group.side.to_string()).collect::<Vec<_>>().join("|");
        let (rows, inner, cols) = (sides(&self.rows), sides(&self.inner), sides(&self.cols));
        format!("A {rows} x {inner}, B {inner} x {cols}")
    }
}

/// The factors of a product, in groups.
pub struct Grouped {
    layouts: Layouts,
    pub a: BlockGroups<AnyMatrix>,
    /// B, or `None` if B is A.
    pub b: Option<BlockGroups<AnyMatrix>>,
}

impl Grouped {
    /// Cuts matrices of scalars. `b` is `None` if B is A.
    pub fn new(layouts: Layouts, a: &AnyMatrix, b: Option<&AnyMatrix>) -> Result<Self> {
        let Layouts { rows, inner, cols } = &layouts;
        let b = b.map(|b| split(b, inner, cols)).transpose()?;
        Ok(Self { a: split(a, rows, inner)?, b, layouts })
    }

    pub fn b(&self) -> &BlockGroups<AnyMatrix> {
        self.b.as_ref().unwrap_or(&self.a)
    }

    /// A and B as matrices of scalars, or A and `None` if B is A. Every element of a block is an
    /// entry.
    pub fn scalars(&self) -> Result<(AnyMatrix, Option<AnyMatrix>)> {
        let Layouts { rows, inner, cols } = &self.layouts;
        Ok((join(&self.a, rows, inner)?, self.b.as_ref().map(|b| join(b, inner, cols)).transpose()?))
    }

    /// C as a matrix of scalars. Every element of a block is an entry.
    pub fn scalars_of_c(&self, c: &BlockGroups<AnyMatrix>) -> Result<AnyMatrix> {
        join(c, &self.layouts.rows, &self.layouts.cols)
    }

    /// The blocks of C.
    pub fn layout_of_c(&self) -> BlockLayout {
        BlockLayout::of_ends(self.layouts.rows.ends.clone(), self.layouts.cols.ends.clone())
    }

    /// The sizes of the factors, and the operations of their products.
    pub fn factors(&self) -> Factors {
        let flops = self.products().iter().map(|product| product.count * product.flops_each).sum();
        Factors { element: self.a.element(), a: Size::of_groups(&self.a), b: Size::of_groups(self.b()), flops }
    }

    /// The number of products of each pair of shapes, one pair a line.
    pub fn explain(&self) -> String {
        let line = |ShapeProducts { a, b, count, .. }: &ShapeProducts| {
            format!("{a} by {b}: {}", sizes::count(*count as usize, "product"))
        };
        self.products().iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn products(&self) -> Vec<ShapeProducts> {
        let mut all = Vec::new();
        for row in 0..self.layouts.rows.groups.len() {
            for inner in 0..self.layouts.inner.groups.len() {
                for col in 0..self.layouts.cols.groups.len() {
                    let (Some(a), Some(b)) = (self.a.get(row, inner), self.b().get(inner, col)) else { continue };
                    all.push(ShapeProducts::of(a, b));
                }
            }
        }
        all
    }
}

/// The products of blocks of two shapes.
struct ShapeProducts {
    a: BlockShape,
    b: BlockShape,
    count: u64,
    /// Multiplications and additions of each product.
    flops_each: u64,
}

impl ShapeProducts {
    fn of(a: &AnyMatrix, b: &AnyMatrix) -> Self {
        let (count, a, b) = (reference::products(a, b), a.shape(), b.shape());
        Self { a, b, count, flops_each: 2 * (a.product(b).area() * a.cols()) as u64 }
    }
}

/// Cuts a matrix of scalars into groups. A cell without entries is left out, except the first cell:
/// a matrix without entries gets its type from it.
fn split(matrix: &AnyMatrix, rows: &Sides, cols: &Sides) -> Result<BlockGroups<AnyMatrix>> {
    let element = matrix.element();
    let wide: Csc<f64> = matrix.cast(ElementType::F64).typed()?;
    let (of_rows, of_cols, across) = (rows.places(), cols.places(), cols.groups.len());
    let mut entries = vec![Vec::new(); rows.groups.len() * across];
    for (row, col, value) in wide.entries() {
        let (row, col) = (of_rows[row], of_cols[col]);
        entries[row.group * across + col.group].push((row.line, col.line, value));
    }
    let mut cells = Vec::with_capacity(entries.len());
    for (number, entries) in entries.into_iter().enumerate() {
        if number > 0 && entries.is_empty() {
            cells.push(None);
            continue;
        }
        let (rows, cols) = (rows.groups[number / across], cols.groups[number % across]);
        let cell = Csc::from_triplets(rows.scalars(), cols.scalars(), entries)?;
        cells.push(Some(input::cut(input::elements(element, cell), Some(BlockShape::new(rows.side, cols.side)?))?));
    }
    BlockGroups::new(rows.groups.clone(), cols.groups.clone(), cells)
}

/// Makes a matrix of scalars of groups.
fn join(groups: &BlockGroups<AnyMatrix>, rows: &Sides, cols: &Sides) -> Result<AnyMatrix> {
    let mut entries = Vec::new();
    for (row, of_row) in rows.lines.iter().enumerate() {
        for (col, of_col) in cols.lines.iter().enumerate() {
            let Some(cell) = groups.get(row, col) else { continue };
            let cell: Csc<f64> = cell.to_scalars().cast(ElementType::F64).typed()?;
            entries.extend(cell.entries().map(|(row, col, value)| (of_row[row], of_col[col], value)));
        }
    }
    Ok(input::elements(groups.element(), Csc::from_triplets(rows.len(), cols.len(), entries)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides(ends: &[u64]) -> std::result::Result<Sides, String> {
        Sides::new("A", ends.to_vec(), 7)
    }

    #[test]
    fn blocks_with_equal_sides_are_a_group_wherever_they_are() {
        let found = sides(&[2, 3, 5, 6, 7]).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(found.groups, [Group { blocks: 2, side: 2 }, Group { blocks: 3, side: 1 }]);
        assert_eq!(found.lines, [vec![0, 1, 3, 4], vec![2, 5, 6]]);
    }

    #[test]
    fn groups_are_joined_to_the_matrix_that_was_split() -> Result<()> {
        let (rows, cols) = (sides(&[2, 3, 5, 6, 7]), sides(&[1, 4, 7]));
        let (Ok(rows), Ok(cols)) = (rows, cols) else { panic!("few sides") };
        // The matrix has entries in blocks of 2x3 and of 1x3, but in no block of 2x1.
        let matrix = Csc::from_triplets(7, 7, [(0, 1, 1.0f32), (4, 6, -0.0), (2, 3, 3.0), (6, 0, 0.5)])?;
        let groups = split(&matrix.clone().into(), &rows, &cols)?;
        assert_eq!(
            (groups.nnz(), groups.get(0, 0).map(AnyMatrix::nnz), groups.get(1, 0).is_some()),
            (4, Some(0), true)
        );
        let whole: Csc<f32> = join(&groups, &rows, &cols)?.typed()?;
        assert_eq!(whole.nnz(), 2 * 6 + 3 + 1);
        let kept = whole.entries().filter(|&(row, col, _)| matrix.entries().any(|(r, c, _)| (r, c) == (row, col)));
        let bits = |(row, col, value): (usize, usize, f32)| (row, col, value.to_bits());
        assert_eq!(kept.map(bits).collect::<Vec<_>>(), matrix.entries().map(bits).collect::<Vec<_>>());
        Ok(())
    }

    #[test]
    fn refusals_have_numbers() {
        let why = |ends: &[u64], size| Sides::new("A", ends.to_vec(), size).err().unwrap();
        assert_eq!(why(&[1, 3, 6, 10, 15], 15), "blocks of A have 5 sides, more than 4");
        assert_eq!(why(&[33], 33), "a block of A has 33 lines, more than 32");
        assert_eq!(why(&[2, 4], 5), "the blocks of A do not divide its 5 lines");
    }
}
