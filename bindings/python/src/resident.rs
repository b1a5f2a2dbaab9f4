//! Matrices and vectors that stay on a device.
//!
//! The library multiplies matrices that are stored by rows. A matrix by columns is stored as its
//! transpose by rows, which has the same arrays. So every matrix here is a stored matrix S, or the
//! transpose of one, and a transpose shares S.
use crate::{
    arrays::{self, Arrays, Compressed, Number, Numbers},
    devices::{Device, Wanted, check_process, wanted_device},
    errors::refused,
    kept::Kept,
    running::detached,
};
use blockmul::{
    BlockShape, DeviceMatrix, DeviceVector,
    element::{Any, ElementType},
    matrix::{AnyMatrix, AnyView, MatrixKind, Pattern},
    plan::Apply,
};
use numpy::PyUntypedArray;
use pyo3::{prelude::*, types::PyTuple};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub type OfMatrix = Kept<DeviceMatrix<AnyMatrix>>;
pub type OfVector = Kept<DeviceVector<Any>>;
pub type Applies = Kept<[Option<Arc<Apply<AnyMatrix>>>; 2]>;

/// The properties of a matrix on a device. They do not change while it lives.
#[derive(Clone, Copy)]
pub struct Facts {
    pub kind: MatrixKind,
    element: ElementType,
    block: BlockShape,
    /// Rows and columns in blocks.
    grid: (usize, usize),
    /// Number of stored blocks.
    pub entries: usize,
}

/// A stored matrix, CSR or BSR, which a matrix of Python and its transpose share.
pub struct Stored {
    pub on_device: RwLock<OfMatrix>,
    pub facts: Facts,
    pub device: Device,
    /// A copy of the pattern on the host, made for the first update.
    pattern: OnceLock<Pattern>,
    /// Plans of products with vectors: of S, and of its transpose.
    pub applies: Mutex<Applies>,
    /// Objects that own adopted buffers. A pool of Python may reuse a buffer whose object is gone.
    _owners: Vec<Py<PyAny>>,
}

/// A matrix on a device.
#[pyclass(frozen, module = "blockmul._blockmul")]
pub struct Matrix {
    pub stored: Arc<Stored>,
    pub transposed: bool,
}

pub struct StoredVector {
    pub on_device: RwLock<OfVector>,
    element: ElementType,
    len: usize,
    pub device: Device,
    _owners: Vec<Py<PyAny>>,
}

/// A vector on a device.
#[pyclass(frozen, module = "blockmul._blockmul")]
pub struct Vector {
    pub stored: Arc<StoredVector>,
}

pub fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

pub fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

pub fn lock<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Matrix {
    /// A stored matrix, or its transpose. `owners` own adopted buffers.
    pub fn new(on_device: DeviceMatrix<AnyMatrix>, device: Device, transposed: bool, owners: Vec<Py<PyAny>>) -> Self {
        let facts = Facts {
            kind: on_device.kind(),
            element: on_device.element(),
            block: on_device.shape(),
            grid: (on_device.nrows(), on_device.ncols()),
            entries: on_device.nnz(),
        };
        let stored = Stored {
            on_device: RwLock::new(Kept::new(on_device)),
            facts,
            device,
            pattern: OnceLock::new(),
            applies: Mutex::new(Kept::new([None, None])),
            _owners: owners,
        };
        Self { stored: Arc::new(stored), transposed }
    }

    /// Computes with the stored matrix, without the interpreter's lock.
    pub fn with<R: Send>(
        &self,
        py: Python<'_>,
        compute: impl FnOnce(&DeviceMatrix<AnyMatrix>) -> blockmul::Result<R> + Send,
    ) -> PyResult<R> {
        check_process()?;
        detached(py, || compute(&read(&self.stored.on_device)))
    }
}

/// A matrix by rows over the arrays of one by rows or by columns.
fn by_rows(view: AnyView<'_>) -> (AnyView<'_>, bool) {
    if view.kind().is_row_major() { (view, false) } else { (view.as_transpose(), true) }
}

#[pymethods]
impl Matrix {
    /// Copies a matrix to a device.
    #[staticmethod]
    #[pyo3(signature = (a, device=None))]
    fn upload(py: Python<'_>, a: Compressed<'_>, device: Option<Wanted>) -> PyResult<Self> {
        let (device, opened) = wanted_device(device)?;
        let a = a.check("a", None)?;
        let (view, transposed) = by_rows(a.view()?);
        let on_device = detached(py, || opened.upload_any(view))?;
        Ok(Self::new(on_device, device, transposed, Vec::new()))
    }

    /// `csr`, `csc`, `bsr`, or `bsc` for the transpose of a matrix in `bsr`.
    #[getter]
    fn format(&self) -> &'static str {
        match (self.stored.facts.kind.has_blocks(), self.transposed) {
            (false, false) => "csr",
            (false, true) => "csc",
            (true, false) => "bsr",
            (true, true) => "bsc",
        }
    }

    /// Rows and columns in scalars.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        let Facts { grid, block, .. } = self.stored.facts;
        swapped((grid.0 * block.rows(), grid.1 * block.cols()), self.transposed)
    }

    #[getter]
    fn blocksize(&self) -> (usize, usize) {
        let block = self.stored.facts.block;
        swapped((block.rows(), block.cols()), self.transposed)
    }

    /// Number of stored scalars.
    #[getter]
    fn nnz(&self) -> usize {
        self.stored.facts.entries * self.stored.facts.block.area()
    }

    #[getter]
    fn dtype(&self) -> &'static str {
        dtype(self.stored.facts.element)
    }

    #[getter]
    pub fn device(&self) -> Device {
        self.stored.device.clone()
    }

    /// Whether two matrices share their arrays.
    pub fn shares(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.stored, &other.stored)
    }

    /// The transpose over the same arrays.
    fn transpose(&self) -> Self {
        Self { stored: self.stored.clone(), transposed: !self.transposed }
    }

    /// Copies the arrays of the stored matrix to the host.
    fn download<'py>(&self, py: Python<'py>) -> PyResult<Arrays<'py>> {
        let of = self.with(py, DeviceMatrix::download)?;
        Ok(arrays::handed(py, of, true))
    }

    /// Replaces the values by those of a matrix with the same pattern.
    fn update(&self, py: Python<'_>, a: Compressed<'_>) -> PyResult<()> {
        check_process()?;
        let a = a.check("a", None)?;
        let (view, transposed) = by_rows(a.view()?);
        let stored = &*self.stored;
        let Facts { kind, element, block, .. } = stored.facts;
        let same = (view.kind(), view.element(), view.shape(), transposed) == (kind, element, block, self.transposed);
        if !same {
            return Err(refused("a", "the matrix on the device has another format, dtype or blocksize"));
        }
        let same_pattern = detached(py, || {
            if stored.pattern.get().is_none() {
                // The arrays by columns are those of the transpose by rows.
                let (pattern, _) = read(&stored.on_device).download()?.into_parts();
                let _ = stored.pattern.set(pattern);
            }
            let same = stored.pattern.get().is_some_and(|pattern| pattern == view.pattern());
            if same {
                write(&stored.on_device).write_any(view)?;
            }
            Ok(same)
        })?;
        match same_pattern {
            true => Ok(()),
            false => {
                Err(refused("a", "the matrix on the device has another pattern: make another blockmul.DeviceMatrix"))
            }
        }
    }

    fn __reduce__(&self) -> PyResult<Bound<'_, PyTuple>> {
        Err(not_pickled("DeviceMatrix", "to_scipy"))
    }
}

fn not_pickled(class: &str, to_host: &str) -> PyErr {
    pyo3::exceptions::PyTypeError::new_err(format!("a {class} is not pickled: use {to_host}()"))
}

fn swapped((rows, columns): (usize, usize), transposed: bool) -> (usize, usize) {
    if transposed { (columns, rows) } else { (rows, columns) }
}

pub fn dtype(element: ElementType) -> &'static str {
    if element == ElementType::F64 { "float64" } else { "float32" }
}

impl Vector {
    pub fn new(on_device: DeviceVector<Any>, device: Device, owners: Vec<Py<PyAny>>) -> Self {
        let (element, len) = (on_device.element(), on_device.len());
        let on_device = RwLock::new(Kept::new(on_device));
        let stored = StoredVector { on_device, element, len, device, _owners: owners };
        Self { stored: Arc::new(stored) }
    }

    /// Computes with the vector, without the interpreter's lock.
    pub fn with<R: Send>(
        &self,
        py: Python<'_>,
        compute: impl FnOnce(&DeviceVector<Any>) -> blockmul::Result<R> + Send,
    ) -> PyResult<R> {
        check_process()?;
        detached(py, || compute(&read(&self.stored.on_device)))
    }
}

fn uploaded<T: Number>(py: Python<'_>, device: &blockmul::Device, x: &[T]) -> PyResult<DeviceVector<Any>> {
    detached(py, || device.upload_vector(x).map(DeviceVector::into_any))
}

impl Vector {
    fn overwrite<T: Number>(&self, py: Python<'_>, x: &[T]) -> PyResult<()> {
        detached(py, || write(&self.stored.on_device).typed_mut()?.write(x))
    }
}

#[pymethods]
impl Vector {
    /// Copies numbers to a device.
    #[staticmethod]
    #[pyo3(signature = (x, device=None))]
    fn upload(py: Python<'_>, x: Bound<'_, PyUntypedArray>, device: Option<Wanted>) -> PyResult<Self> {
        let (device, opened) = wanted_device(device)?;
        let on_device = match Numbers::new("x", &x)? {
            Numbers::F64(x) => uploaded(py, &opened, x.as_slice()?),
            Numbers::F32(x) => uploaded(py, &opened, x.as_slice()?),
        }?;
        Ok(Self::new(on_device, device, Vec::new()))
    }

    fn __len__(&self) -> usize {
        self.stored.len
    }

    #[getter]
    fn dtype(&self) -> &'static str {
        dtype(self.stored.element)
    }

    #[getter]
    pub fn device(&self) -> Device {
        self.stored.device.clone()
    }

    /// Copies the numbers to the host.
    fn download<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(arrays::numbers(py, self.with(py, |of| of.download())?))
    }

    /// Replaces the numbers.
    fn update(&self, py: Python<'_>, x: Bound<'_, PyUntypedArray>) -> PyResult<()> {
        check_process()?;
        match Numbers::new("x", &x)? {
            Numbers::F64(x) => self.overwrite(py, x.as_slice()?),
            Numbers::F32(x) => self.overwrite(py, x.as_slice()?),
        }
    }

    fn __reduce__(&self) -> PyResult<Bound<'_, PyTuple>> {
        Err(not_pickled("DeviceVector", "to_numpy"))
    }
}

/// The kind of the stored matrix, the shape of the matrix's blocks, and whether the matrix is the
/// stored matrix's transpose.
pub fn kind_of(format: &str, block: (usize, usize)) -> PyResult<(MatrixKind, BlockShape, bool)> {
    let shape = BlockShape::new(block.0, block.1).map_err(|error| refused("blocksize", error))?;
    match format {
        "csr" => Ok((MatrixKind::Csr, shape, false)),
        "csc" => Ok((MatrixKind::Csr, shape, true)),
        "bsr" => Ok((MatrixKind::Bsr, shape, false)),
        _ => Err(refused("format", format_args!("{format} is not csr, csc or bsr"))),
    }
}
