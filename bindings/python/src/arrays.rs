//! The arrays of SciPy's matrices: indices are copied and checked in the copy, values are borrowed.
use blockmul::{
    BlockShape,
    element::AnyValues,
    matrix::{AnyMatrix, AnyView, MatrixKind, Pattern},
};
use numpy::{PyArray1, PyArrayDescrMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods, prelude::*};
use pyo3::{exceptions::PyValueError, prelude::*};
use std::ops::AddAssign;

/// A compressed matrix of Python: the format, the sides in scalars, the sides of a block, and the
/// arrays `indptr`, `indices` and `data`, each of one dimension.
#[derive(FromPyObject)]
pub struct Compressed<'py>(
    String,
    (usize, usize),
    (usize, usize),
    Bound<'py, PyUntypedArray>,
    Bound<'py, PyUntypedArray>,
    Bound<'py, PyUntypedArray>,
);

/// Borrowed numbers of an array.
pub enum Numbers<'py> {
    F64(PyReadonlyArray1<'py, f64>),
    F32(PyReadonlyArray1<'py, f32>),
}

/// Numbers that are borrowed, or copied because their order had to change.
enum Values<'py> {
    Borrowed(Numbers<'py>),
    Owned(AnyValues),
}

/// A matrix whose pattern was checked.
pub struct Checked<'py> {
    kind: MatrixKind,
    shape: BlockShape,
    pattern: Pattern,
    values: Values<'py>,
}

/// An argument that Python passed, in messages.
fn refused(name: &str, why: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("{name}: {why}"))
}

impl<'py> Numbers<'py> {
    /// Borrows an array of contiguous numbers.
    pub fn new(name: &str, array: &Bound<'py, PyUntypedArray>) -> PyResult<Self> {
        if let Ok(array) = array.cast::<PyArray1<f64>>() {
            return Ok(Self::F64(array.try_readonly()?));
        }
        if let Ok(array) = array.cast::<PyArray1<f32>>() {
            return Ok(Self::F32(array.try_readonly()?));
        }
        let dtype = array.dtype();
        let order =
            if dtype.is_native_byteorder() == Some(false) { " in the byte order of another machine" } else { "" };
        Err(refused(name, format_args!("elements are {dtype}{order}, not float64 or float32")))
    }
}

/// The indices of a compressed matrix in the types of this library, and whether they ascend
/// strictly in every line.
struct Indices {
    offsets: Vec<u64>,
    places: Vec<u32>,
    ascend: bool,
}

impl Indices {
    /// Copies the arrays of a matrix with so many lines, each with `across` places.
    fn new(name: &str, arrays: [&Bound<'_, PyUntypedArray>; 2], lines: usize, across: usize) -> PyResult<Self> {
        let [indptr, indices] = arrays;
        if let (Ok(indptr), Ok(indices)) = (indptr.cast::<PyArray1<i32>>(), indices.cast::<PyArray1<i32>>()) {
            let (indptr, indices) = (indptr.try_readonly()?, indices.try_readonly()?);
            return Self::copied(name, indptr.as_slice()?, indices.as_slice()?, lines, across);
        }
        if let (Ok(indptr), Ok(indices)) = (indptr.cast::<PyArray1<i64>>(), indices.cast::<PyArray1<i64>>()) {
            let (indptr, indices) = (indptr.try_readonly()?, indices.try_readonly()?);
            return Self::copied(name, indptr.as_slice()?, indices.as_slice()?, lines, across);
        }
        let (of_indptr, of_indices) = (indptr.dtype(), indices.dtype());
        Err(refused(name, format_args!("indptr is {of_indptr} and indices are {of_indices}, not both int32 or int64")))
    }

    fn copied<I: Copy + Into<i64>>(
        name: &str,
        indptr: &[I],
        indices: &[I],
        lines: usize,
        across: usize,
    ) -> PyResult<Self> {
        if indptr.len() != lines + 1 {
            return Err(refused(name, format_args!("indptr has {} numbers, {} expected", indptr.len(), lines + 1)));
        }
        let mut offsets = Vec::with_capacity(lines + 1);
        let mut before = 0;
        for (line, &offset) in indptr.iter().enumerate() {
            let offset: i64 = offset.into();
            if line == 0 && offset != 0 {
                return Err(refused(name, format_args!("indptr begins with {offset}, not 0")));
            }
            if offset < before {
                return Err(refused(name, format_args!("indptr falls from {before} to {offset} at {line}")));
            }
            before = offset;
            offsets.push(offset as u64);
        }
        if before as u64 > indices.len() as u64 {
            return Err(refused(
                name,
                format_args!("indptr ends at {before}, and there are {} indices", indices.len()),
            ));
        }
        let mut places = Vec::with_capacity(before as usize);
        let mut ascend = true;
        for line in 0..lines {
            let mut last = -1;
            for &place in &indices[offsets[line] as usize..offsets[line + 1] as usize] {
                let place: i64 = place.into();
                if place < 0 || place as u64 >= across as u64 {
                    let at = places.len();
                    return Err(refused(
                        name,
                        format_args!("indices[{at}] is {place}, not from 0 to less than {across}"),
                    ));
                }
                ascend &= place > last;
                last = place;
                places.push(place as u32);
            }
        }
        Ok(Self { offsets, places, ascend })
    }

    /// Sorts each line and adds up the entries at one place, in their order. An entry has `area`
    /// numbers.
    fn sorted<T: Copy + AddAssign>(self, values: &[T], area: usize) -> (Self, Vec<T>) {
        let Self { offsets, places, .. } = self;
        let (mut to, mut kept, mut sums) =
            (vec![0], Vec::with_capacity(places.len()), Vec::with_capacity(values.len()));
        let mut order = Vec::new();
        for line in offsets.windows(2) {
            let begin = kept.len();
            order.clear();
            order.extend(line[0] as usize..line[1] as usize);
            order.sort_by_key(|&entry| places[entry]);
            for &entry in &order {
                let of_entry = &values[entry * area..(entry + 1) * area];
                if kept.len() > begin && kept.last() == Some(&places[entry]) {
                    let last = sums.len() - area;
                    sums[last..].iter_mut().zip(of_entry).for_each(|(sum, &value)| *sum += value);
                } else {
                    kept.push(places[entry]);
                    sums.extend_from_slice(of_entry);
                }
            }
            to.push(kept.len() as u64);
        }
        (Self { offsets: to, places: kept, ascend: true }, sums)
    }
}

impl<'py> Compressed<'py> {
    /// Copies the indices, checks them and borrows the values. `name` is the argument's.
    pub fn check(self, name: &str) -> PyResult<Checked<'py>> {
        let Self(format, (rows, cols), (block_rows, block_cols), indptr, indices, data) = self;
        let kind = match &format[..] {
            "csr" => MatrixKind::Csr,
            "csc" => MatrixKind::Csc,
            "bsr" => MatrixKind::Bsr,
            _ => return Err(refused(name, format_args!("format {format} is not csr, csc or bsr"))),
        };
        let shape = BlockShape::new(block_rows, block_cols).map_err(crate::raised)?;
        let (rows, cols) = (rows / block_rows, cols / block_cols);
        let (lines, across) = if kind == MatrixKind::Csc { (cols, rows) } else { (rows, cols) };
        let indices = Indices::new(name, [&indptr, &indices], lines, across)?;
        let numbers = Numbers::new(name, &data)?;
        let (found, area) = (numbers.len(), shape.area());
        if (found as u64) < indices.places.len() as u64 * area as u64 {
            let entries = indices.places.len();
            return Err(refused(name, format_args!("data has {found} numbers for {entries} entries of {shape}")));
        }
        let (indices, values) = match indices.ascend {
            true => (indices, Values::Borrowed(numbers)),
            false => match &numbers {
                Numbers::F64(array) => {
                    let (indices, values) = indices.sorted(array.as_slice()?, area);
                    (indices, Values::Owned(AnyValues::F64(values)))
                }
                Numbers::F32(array) => {
                    let (indices, values) = indices.sorted(array.as_slice()?, area);
                    (indices, Values::Owned(AnyValues::F32(values)))
                }
            },
        };
        let pattern = Pattern::new(across, lines, indices.offsets, indices.places).map_err(crate::raised)?;
        Ok(Checked { kind, shape, pattern, values })
    }
}

impl Numbers<'_> {
    pub fn len(&self) -> usize {
        match self {
            Self::F64(array) => array.len(),
            Self::F32(array) => array.len(),
        }
    }
}

impl Checked<'_> {
    /// Borrows the arrays. The elements beyond the last entry are left out.
    pub fn view(&self) -> PyResult<AnyView<'_>> {
        let Self { kind, shape, ref pattern, ref values } = *self;
        let used = pattern.nnz() * shape.area();
        match values {
            Values::Borrowed(Numbers::F64(array)) => AnyView::new(kind, pattern, shape, &array.as_slice()?[..used]),
            Values::Borrowed(Numbers::F32(array)) => AnyView::new(kind, pattern, shape, &array.as_slice()?[..used]),
            Values::Owned(AnyValues::F64(values)) => AnyView::new(kind, pattern, shape, &values[..]),
            Values::Owned(AnyValues::F32(values)) => AnyView::new(kind, pattern, shape, &values[..]),
            Values::Owned(_) => unreachable!("numbers are f64 or f32"),
        }
        .map_err(crate::raised)
    }
}

/// The arrays `indptr`, `indices` and `data` of a result.
pub type Arrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Hands the arrays of a matrix to NumPy. Indices have 32 bits if `narrow` and if they fit.
pub fn handed<'py>(py: Python<'py>, matrix: AnyMatrix, narrow: bool) -> Arrays<'py> {
    let pattern = matrix.pattern();
    let largest = pattern.nnz().max(pattern.nrows()).max(pattern.ncols());
    let narrow = narrow && i32::try_from(largest).is_ok();
    let values = matrix.values().clone();
    let (offsets, places) = pattern.clone().into_parts();
    let (indptr, indices) = match narrow {
        true => (
            PyArray1::from_iter(py, offsets.iter().map(|&offset| offset as i32)).into_any(),
            PyArray1::from_vec(py, bytemuck::cast_vec::<u32, i32>(places)).into_any(),
        ),
        false => (
            PyArray1::from_iter(py, offsets.iter().map(|&offset| offset as i64)).into_any(),
            PyArray1::from_iter(py, places.iter().map(|&place| i64::from(place))).into_any(),
        ),
    };
    (indptr, indices, numbers(py, values))
}

/// Hands numbers to NumPy, without a copy.
pub fn numbers(py: Python<'_>, values: AnyValues) -> Bound<'_, PyAny> {
    match values {
        AnyValues::F64(values) => PyArray1::from_vec(py, values).into_any(),
        AnyValues::F32(values) => PyArray1::from_vec(py, values).into_any(),
        other => unreachable!("products of float64 and float32 have no elements of {}", other.element()),
    }
}
