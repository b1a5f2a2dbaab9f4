//! The arrays of SciPy's matrices: indices are copied and checked in the copy, values are borrowed.
use crate::{
    errors::{raised, refused},
    running::in_pool,
};
use blockmul::{
    BlockShape, Cbc,
    element::{AnyValues, Real},
    error::PatternError,
    matrix::{AnyMatrix, AnyView, MatrixKind, Pattern},
};
use numpy::{PyArray1, PyArrayDescrMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods, prelude::*};
use pyo3::prelude::*;
use rayon::prelude::*;
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

/// A type of numbers.
pub trait Number: Real + numpy::Element {
    /// The numbers of an array, or `None` if they have another type.
    fn of<'a>(numbers: &'a Numbers<'_>) -> PyResult<Option<&'a [Self]>>;
}

impl Number for f64 {
    fn of<'a>(numbers: &'a Numbers<'_>) -> PyResult<Option<&'a [Self]>> {
        Ok(if let Numbers::F64(array) = numbers { Some(array.as_slice()?) } else { None })
    }
}

impl Number for f32 {
    fn of<'a>(numbers: &'a Numbers<'_>) -> PyResult<Option<&'a [Self]>> {
        Ok(if let Numbers::F32(array) = numbers { Some(array.as_slice()?) } else { None })
    }
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

/// A type of indices.
trait Index: Copy + Into<i64> + PartialOrd + Send + Sync {
    /// Numbers that fit 32 bits. Others become the largest one, which is no index.
    fn words(numbers: Vec<Self>) -> Vec<u32>;
}

impl Index for i32 {
    fn words(numbers: Vec<Self>) -> Vec<u32> {
        bytemuck::cast_vec(numbers)
    }
}

impl Index for i64 {
    fn words(numbers: Vec<Self>) -> Vec<u32> {
        numbers.into_iter().map(|number| u32::try_from(number).unwrap_or(u32::MAX)).collect()
    }
}

/// Number of indices from which all threads copy and check them.
const LARGE: usize = 1 << 18;

/// A copy of the indices.
fn copied<I: Index>(py: Python<'_>, indices: &[I], threads: Option<usize>) -> Vec<I> {
    match indices.len() < LARGE {
        true => indices.to_vec(),
        false => in_pool(py, threads, || indices.par_iter().copied().collect()),
    }
}

/// The indices of a compressed matrix in the types of this library. Each line has so many places.
struct Indices {
    across: usize,
    offsets: Vec<u64>,
    places: Vec<u32>,
}

impl Indices {
    /// Copies the arrays of a matrix with so many lines. If `checked`, everything except the order
    /// of places is checked, and messages say what is wrong.
    fn new(
        name: &str,
        arrays: [&Bound<'_, PyUntypedArray>; 2],
        (lines, across): (usize, usize),
        how: (bool, Option<usize>),
    ) -> PyResult<Self> {
        let [indptr, indices] = arrays;
        let py = indptr.py();
        if let (Ok(indptr), Ok(indices)) = (indptr.cast::<PyArray1<i32>>(), indices.cast::<PyArray1<i32>>()) {
            let (indptr, indices) = (indptr.try_readonly()?, indices.try_readonly()?);
            return Self::copied(py, name, indptr.as_slice()?, indices.as_slice()?, (lines, across), how);
        }
        if let (Ok(indptr), Ok(indices)) = (indptr.cast::<PyArray1<i64>>(), indices.cast::<PyArray1<i64>>()) {
            let (indptr, indices) = (indptr.try_readonly()?, indices.try_readonly()?);
            return Self::copied(py, name, indptr.as_slice()?, indices.as_slice()?, (lines, across), how);
        }
        let (of_indptr, of_indices) = (indptr.dtype(), indices.dtype());
        Err(refused(name, format_args!("indptr is {of_indptr} and indices are {of_indices}, not both int32 or int64")))
    }

    fn copied<I: Index>(
        py: Python<'_>,
        name: &str,
        indptr: &[I],
        indices: &[I],
        (lines, across): (usize, usize),
        (checked, threads): (bool, Option<usize>),
    ) -> PyResult<Self> {
        if indptr.len() != lines + 1 {
            return Err(refused(name, format_args!("indptr has {} numbers, {} expected", indptr.len(), lines + 1)));
        }
        // The copies are checked, since another thread may write into the arrays.
        let indptr = indptr.to_vec();
        let begin: i64 = indptr[0].into();
        if begin != 0 {
            return Err(refused(name, format_args!("indptr begins with {begin}, not 0")));
        }
        let falls = || indptr.windows(2).position(|ends| ends[0] > ends[1]);
        if let Some(line) = checked.then(falls).flatten() {
            let [from, to]: [i64; 2] = [indptr[line].into(), indptr[line + 1].into()];
            return Err(refused(name, format_args!("indptr falls from {from} to {to} at {}", line + 1)));
        }
        let offsets: Vec<u64> = indptr.into_iter().map(|offset| offset.into() as u64).collect();
        let end = offsets[lines];
        if end > indices.len() as u64 {
            return Err(refused(name, format_args!("indptr ends at {end}, and there are {} indices", indices.len())));
        }
        let places = copied(py, &indices[..end as usize], threads);
        let is_outside = |place: &I| !(0..across as i64).contains(&(*place).into());
        match checked.then(|| places.iter().position(is_outside)).flatten() {
            Some(at) => {
                let place: i64 = places[at].into();
                Err(refused(name, format_args!("indices[{at}] is {place}, not from 0 to less than {across}")))
            }
            None => Ok(Self { across, offsets, places: I::words(places) }),
        }
    }

    /// The pattern, which is validated.
    fn pattern(self, py: Python<'_>, threads: Option<usize>) -> blockmul::Result<Pattern> {
        let Self { across, offsets, places } = self;
        let is_large = places.len().max(offsets.len()) >= LARGE;
        let validated = move || Pattern::new(across, offsets.len() - 1, offsets, places);
        if is_large { in_pool(py, threads, validated) } else { validated() }
    }

    /// Sorts each line and adds up the entries at one place, in their order. An entry has `area`
    /// numbers.
    fn sorted<T: Copy + AddAssign>(self, values: &[T], area: usize) -> (Self, Vec<T>) {
        let Self { across, offsets, places } = self;
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
        (Self { across, offsets: to, places: kept }, sums)
    }
}

impl<'py> Compressed<'py> {
    /// Whether both are the same matrix over the same arrays.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.0, self.1, self.2) == (&other.0, other.1, other.2)
            && self.3.is(&other.3)
            && self.4.is(&other.4)
            && self.5.is(&other.5)
    }

    /// Copies the indices, checks them and borrows the values. `name` is the argument's.
    pub fn check(self, name: &str, threads: Option<usize>) -> PyResult<Checked<'py>> {
        let Self(format, (rows, cols), (block_rows, block_cols), indptr, indices, data) = self;
        let py = data.py();
        let kind = match &format[..] {
            "csr" => MatrixKind::Csr,
            "csc" => MatrixKind::Csc,
            "bsr" => MatrixKind::Bsr,
            _ => return Err(refused(name, format_args!("format {format} is not csr, csc or bsr"))),
        };
        let shape = BlockShape::new(block_rows, block_cols).map_err(|error| refused(name, error))?;
        let (rows, cols) = (rows / block_rows, cols / block_cols);
        let (lines, across) = if kind == MatrixKind::Csc { (cols, rows) } else { (rows, cols) };
        let copied = |checked| Indices::new(name, [&indptr, &indices], (lines, across), (checked, threads));
        let (first, numbers) = (copied(false)?, Numbers::new(name, &data)?);
        let (found, area, entries) = (numbers.len(), shape.area(), first.places.len());
        let enough = |entries: usize| match (found as u64) < entries as u64 * area as u64 {
            true => Err(refused(name, format_args!("data has {found} numbers for {entries} entries of {shape}"))),
            false => Ok(()),
        };
        enough(entries)?;
        let (pattern, values) = match first.pattern(py, threads) {
            Ok(pattern) => (pattern, Values::Borrowed(numbers)),
            Err(blockmul::Error::Pattern(error)) if !matches!(error, PatternError::TooManyLines { .. }) => {
                let unsorted = copied(true)?;
                enough(unsorted.places.len())?;
                let (sorted, values) = match &numbers {
                    Numbers::F64(array) => {
                        let (sorted, values) = unsorted.sorted(array.as_slice()?, area);
                        (sorted, AnyValues::F64(values))
                    }
                    Numbers::F32(array) => {
                        let (sorted, values) = unsorted.sorted(array.as_slice()?, area);
                        (sorted, AnyValues::F32(values))
                    }
                };
                (sorted.pattern(py, threads).map_err(|error| refused(name, error))?, Values::Owned(values))
            }
            Err(error) => return Err(refused(name, error)),
        };
        Ok(Checked { kind, shape, pattern, values })
    }
}

impl Numbers<'_> {
    /// A copy of the numbers, which are of type `T`.
    pub fn typed<T: Number>(&self, name: &str) -> PyResult<Vec<T>> {
        T::of(self)?.map(<[T]>::to_vec).ok_or_else(|| refused(name, format_args!("elements are not {}", T::TYPE)))
    }

    pub fn copied(&self) -> PyResult<AnyValues> {
        Ok(match self {
            Self::F64(array) => array.as_slice()?.to_vec().into(),
            Self::F32(array) => array.as_slice()?.to_vec().into(),
        })
    }

    pub fn len(&self) -> usize {
        match self {
            Self::F64(array) => array.len(),
            Self::F32(array) => array.len(),
        }
    }
}

impl Checked<'_> {
    /// The transpose of a matrix in rows of blocks, over the same order of elements.
    pub fn by_columns<T: Number>(self, name: &str) -> PyResult<Cbc<T>> {
        let Self { shape, pattern, values, .. } = self;
        let mut values = match values {
            Values::Borrowed(numbers) => numbers.typed::<T>(name)?,
            Values::Owned(values) => values.get().unwrap_or_default().to_vec(),
        };
        values.truncate(pattern.nnz() * shape.area());
        Cbc::new(pattern, shape.transpose(), values).map_err(raised)
    }

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
        .map_err(raised)
    }
}

/// The arrays `indptr`, `indices` and `data` of a result.
pub type Arrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Hands the arrays of a matrix to NumPy. Indices have 32 bits if `narrow` and if they fit. The
/// indices of a large matrix are converted and the values moved.
pub fn handed<'py>(py: Python<'py>, matrix: AnyMatrix, narrow: bool) -> Arrays<'py> {
    let (pattern, values) = matrix.into_parts();
    let largest = pattern.nnz().max(pattern.nrows()).max(pattern.ncols());
    let narrow = narrow && i32::try_from(largest).is_ok();
    let (offsets, places) = pattern.into_parts();
    let (indptr, indices) = match narrow {
        true => {
            let offsets = offsets.iter().map(|&offset| offset as i32).collect();
            let places = bytemuck::cast_vec::<u32, i32>(places);
            (PyArray1::from_vec(py, offsets).into_any(), PyArray1::from_vec(py, places).into_any())
        }
        false => {
            let offsets = bytemuck::cast_vec::<u64, i64>(offsets);
            let places = places.iter().map(|&place| i64::from(place)).collect();
            (PyArray1::from_vec(py, offsets).into_any(), PyArray1::from_vec(py, places).into_any())
        }
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
