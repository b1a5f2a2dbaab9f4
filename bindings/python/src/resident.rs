//! Matrices and vectors that stay on a device.
//!
//! The library multiplies matrices that are stored by rows. A matrix by columns is stored as its
//! transpose by rows, which has the same arrays. So every matrix here is a stored matrix S, or the
//! transpose of one, and a transpose shares S.
use crate::{
    arrays::{self, Arrays, Compressed, Numbers, refused},
    detached,
    devices::{Device, Kept, Wanted, check_process, wanted_device},
    products::Ran,
    raised,
};
use blockmul::{
    BlockShape, DeviceMatrix, DeviceVector, Part, Planned, Product,
    element::{Any, AnyValues, ElementType},
    matrix::{AnyMatrix, AnyView, MatrixKind, Pattern},
    plan::Apply,
    product::{Factor, Method},
};
use numpy::PyUntypedArray;
use pyo3::{
    prelude::*,
    types::{PyDict, PyTuple},
};
use std::{
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::Instant,
};

type OfMatrix = Kept<DeviceMatrix<AnyMatrix>>;
type OfVector = Kept<DeviceVector<Any>>;
type Applies = Kept<[Option<Arc<Apply<AnyMatrix>>>; 2]>;

/// A stored matrix, CSR or BSR, which a matrix of Python and its transpose share.
struct Stored {
    on_device: RwLock<OfMatrix>,
    device: Device,
    /// A copy of the pattern on the host, made for the first update.
    pattern: OnceLock<Pattern>,
    /// Plans of products with vectors: of S, and of its transpose.
    applies: Mutex<Applies>,
    /// Objects that own adopted buffers. A pool of Python may reuse a buffer whose object is gone.
    _owners: Vec<Py<PyAny>>,
}

/// A matrix on a device.
#[pyclass(frozen, module = "blockmul._blockmul")]
pub struct Matrix {
    stored: Arc<Stored>,
    transposed: bool,
}

struct StoredVector {
    on_device: RwLock<OfVector>,
    device: Device,
    _owners: Vec<Py<PyAny>>,
}

/// A vector on a device.
#[pyclass(frozen, module = "blockmul._blockmul")]
pub struct Vector {
    stored: Arc<StoredVector>,
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

fn lock<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The locks of the matrices of one computation. Each is locked once, in the order of addresses, so
/// that two threads never wait for each other.
struct Locks<'a> {
    read: Vec<(*const Stored, RwLockReadGuard<'a, OfMatrix>)>,
    written: Option<RwLockWriteGuard<'a, OfMatrix>>,
}

impl<'a> Locks<'a> {
    /// `out` is none of the matrices that are read.
    fn new(read_only: &[&'a Stored], out: Option<&'a Stored>) -> Self {
        let mut all: Vec<&Stored> = read_only.iter().copied().chain(out).collect();
        all.sort_by_key(|stored| std::ptr::from_ref(*stored));
        all.dedup_by_key(|stored| std::ptr::from_ref(*stored));
        let mut locks = Self { read: Vec::new(), written: None };
        for stored in all {
            if out.is_some_and(|out| std::ptr::eq(out, stored)) {
                locks.written = Some(write(&stored.on_device));
            } else {
                locks.read.push((stored, read(&stored.on_device)));
            }
        }
        locks
    }

    fn of(&self, stored: &Stored) -> &DeviceMatrix<AnyMatrix> {
        let found = self.read.iter().find(|(of, _)| std::ptr::eq(*of, stored));
        &found.expect("all matrices of the computation are locked").1
    }
}

/// A product as the library computes it, by rows: the stored factors from left to right, each with
/// its transposition. If C is stored as its transpose, they are the factors of the transpose.
struct Factors<'a> {
    left: (&'a Stored, bool),
    right: (&'a Stored, bool),
    transposed: bool,
}

impl<'a> Factors<'a> {
    fn of(a: &'a Matrix, b: &'a Matrix, transposed: bool) -> Self {
        let (left, right) = if transposed { (b, a) } else { (a, b) };
        let factor = |of: &'a Matrix| (&*of.stored, of.transposed != transposed);
        Self { left: factor(left), right: factor(right), transposed }
    }

    fn stored(&self) -> [&'a Stored; 2] {
        [self.left.0, self.right.0]
    }

    fn product<'l>(&self, locks: &'l Locks<'_>) -> Product<'l, DeviceMatrix<AnyMatrix>> {
        let factor = |(stored, transposed)| {
            let factor = Factor::from(locks.of(stored));
            if transposed { factor.t() } else { factor }
        };
        Product::of(factor(self.left), factor(self.right))
    }
}

/// A result, and what computed it.
type Computed<'py, T> = PyResult<(T, Bound<'py, PyDict>)>;

impl Matrix {
    /// A stored matrix, or its transpose. `owners` own adopted buffers.
    pub fn new(on_device: DeviceMatrix<AnyMatrix>, device: Device, transposed: bool, owners: Vec<Py<PyAny>>) -> Self {
        let stored = Stored {
            on_device: RwLock::new(Kept::new(on_device)),
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

    /// What does not change while the matrix lives.
    fn about<R: Send>(&self, py: Python<'_>, of: impl FnOnce(&DeviceMatrix<AnyMatrix>) -> R + Send) -> R {
        py.detach(|| of(&read(&self.stored.on_device)))
    }

    /// A result on the device of this matrix.
    fn result(&self, on_device: DeviceMatrix<AnyMatrix>, transposed: bool) -> Self {
        Self::new(on_device, self.stored.device.clone(), transposed, Vec::new())
    }

    /// Whether the product of two matrices is stored as its transpose: in the order of the first if
    /// they are of scalars. Products of blocks are stored by rows where that is possible.
    fn product_is_transposed(&self, py: Python<'_>, b: &Self) -> bool {
        let blocks = self.about(py, |stored| stored.kind().has_blocks());
        self.transposed && (b.transposed || !blocks)
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
        let a = a.check("a")?;
        let (view, transposed) = by_rows(a.view()?);
        let on_device = detached(py, || opened.upload_any(view))?;
        Ok(Self::new(on_device, device, transposed, Vec::new()))
    }

    /// `csr`, `csc`, `bsr`, or `bsc` for the transpose of a matrix in `bsr`.
    #[getter]
    fn format(&self, py: Python<'_>) -> &'static str {
        match (self.about(py, |stored| stored.kind().has_blocks()), self.transposed) {
            (false, false) => "csr",
            (false, true) => "csc",
            (true, false) => "bsr",
            (true, true) => "bsc",
        }
    }

    /// Rows and columns in scalars.
    #[getter]
    fn shape(&self, py: Python<'_>) -> (usize, usize) {
        let of = |stored: &DeviceMatrix<AnyMatrix>| {
            (stored.nrows() * stored.shape().rows(), stored.ncols() * stored.shape().cols())
        };
        swapped(self.about(py, of), self.transposed)
    }

    #[getter]
    fn blocksize(&self, py: Python<'_>) -> (usize, usize) {
        let shape = self.about(py, DeviceMatrix::shape);
        swapped((shape.rows(), shape.cols()), self.transposed)
    }

    /// Number of stored scalars.
    #[getter]
    fn nnz(&self, py: Python<'_>) -> usize {
        self.about(py, |stored| stored.nnz() * stored.shape().area())
    }

    #[getter]
    fn dtype(&self, py: Python<'_>) -> &'static str {
        dtype(self.about(py, DeviceMatrix::element))
    }

    #[getter]
    fn device(&self) -> Device {
        self.stored.device.clone()
    }

    /// Number of bytes of device memory held.
    #[getter]
    fn device_bytes(&self, py: Python<'_>) -> u64 {
        self.about(py, DeviceMatrix::device_bytes)
    }

    /// Whether two matrices share their arrays.
    fn shares(&self, other: &Self) -> bool {
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
        let a = a.check("a")?;
        let (view, transposed) = by_rows(a.view()?);
        let stored = &*self.stored;
        let (kind, element, shape) = self.about(py, |of| (of.kind(), of.element(), of.shape()));
        let same = (view.kind(), view.element(), view.shape(), transposed) == (kind, element, shape, self.transposed);
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

    /// C = A·B.
    #[pyo3(signature = (b, method=None))]
    fn multiply<'py>(&self, py: Python<'py>, b: &Self, method: Option<&str>) -> Computed<'py, Self> {
        check_process()?;
        let method: Method = method.map_or(Ok(Method::Auto), str::parse).map_err(raised)?;
        if method.needs_mask() {
            return Err(refused("method", format_args!("{method} is for masked()")));
        }
        let factors = Factors::of(self, b, self.product_is_transposed(py, b));
        let (c, report) = detached(py, || {
            let locks = Locks::new(&factors.stored(), None);
            factors.product(&locks).method(method).untimed().run_with_report()
        })?;
        let ran = Ran::on_device(self.stored.device.name(), &report).into_dict(py)?;
        Ok((self.result(c, factors.transposed), ran))
    }

    /// The entries of A·B at the places of a mask, in the order of the mask.
    fn masked<'py>(&self, py: Python<'py>, b: &Self, mask: &Self) -> Computed<'py, Self> {
        check_process()?;
        let factors = Factors::of(self, b, mask.transposed);
        let (c, report) = detached(py, || {
            let [left, right] = factors.stored();
            let locks = Locks::new(&[left, right, &mask.stored], None);
            let pattern = locks.of(&mask.stored).pattern();
            factors.product(&locks).mask(&pattern).untimed().run_with_report()
        })?;
        let ran = Ran::on_device(self.stored.device.name(), &report).into_dict(py)?;
        Ok((self.result(c, factors.transposed), ran))
    }

    /// Aᵀ·A, or a triangle of it.
    fn gram<'py>(&self, py: Python<'py>, part: &str) -> Computed<'py, Self> {
        check_process()?;
        // A triangle that is stored as its transpose is the other triangle.
        let part = match (part, self.transposed) {
            ("lower", false) | ("upper", true) => Part::Lower,
            ("upper", false) | ("lower", true) => Part::Upper,
            _ => Part::Full,
        };
        let (c, report) = detached(py, || {
            let stored = read(&self.stored.on_device);
            let j = Factor::from(&**stored);
            Product::gram(if self.transposed { j.t() } else { j }).part(part).untimed().run_with_report()
        })?;
        let ran = Ran::on_device(self.stored.device.name(), &report).into_dict(py)?;
        Ok((self.result(c, self.transposed), ran))
    }

    /// A·x, or x·A with `from_left`. Returns when the product is enqueued.
    fn apply<'py>(&self, py: Python<'py>, x: &Vector, from_left: bool) -> Computed<'py, Vector> {
        check_process()?;
        let begun = Instant::now();
        let transposed = self.transposed != from_left;
        let stored = &*self.stored;
        let y = detached(py, || {
            let (a, x) = (read(&stored.on_device), read(&x.stored.on_device));
            let mut applies = lock(&stored.applies);
            let known = &mut applies[usize::from(transposed)];
            let plan = match known {
                Some(plan) => plan.clone(),
                None => {
                    let options = Apply::of(&a);
                    let plan = Arc::new(if transposed { options.transposed() } else { options }.plan()?);
                    known.insert(plan).clone()
                }
            };
            drop(applies);
            let mut y = plan.output()?;
            plan.execute((&**a, &**x), &mut y)?;
            Ok(y)
        })?;
        let products = self.about(py, DeviceMatrix::nnz) as u64;
        let ran = Ran::on_host(products, "apply", begun).at(self.stored.device.name()).into_dict(py)?;
        Ok((Vector::new(y, stored.device.clone(), Vec::new()), ran))
    }

    /// Prepares A·B.
    fn plan(&self, py: Python<'_>, b: &Self) -> PyResult<DevicePlan> {
        check_process()?;
        let factors = Factors::of(self, b, self.product_is_transposed(py, b));
        let plan = detached(py, || {
            let locks = Locks::new(&factors.stored(), None);
            factors.product(&locks).plan()
        })?;
        let orders = [self.transposed, b.transposed, factors.transposed];
        Ok(DevicePlan { plan: Kept::new(plan), device: self.stored.device.clone(), orders })
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

/// A plan whose matrices stay on the device.
#[pyclass(frozen, module = "blockmul._blockmul")]
pub struct DevicePlan {
    plan: Kept<blockmul::Plan<AnyMatrix>>,
    device: Device,
    /// Whether A, B and C are stored as their transposes.
    orders: [bool; 3],
}

#[pymethods]
impl DevicePlan {
    /// Computes C from factors with the plan's patterns, in `out` or in a new matrix. Returns when
    /// the execution is enqueued.
    #[pyo3(signature = (a, b, out=None))]
    fn execute<'py>(
        &self,
        py: Python<'py>,
        a: &Matrix,
        b: &Matrix,
        out: Option<Bound<'py, Matrix>>,
    ) -> Computed<'py, Bound<'py, Matrix>> {
        check_process()?;
        let begun = Instant::now();
        let [of_a, of_b, of_c] = self.orders;
        for (name, found, planned) in [("a", a.transposed, of_a), ("b", b.transposed, of_b)] {
            if found != planned {
                return Err(refused(name, "the plan was made for another pattern, format or dtype"));
            }
        }
        let c = match out {
            Some(c) if c.get().transposed != of_c => {
                return Err(refused("out", "has another format than the plan's result"));
            }
            Some(c) if c.get().shares(a) || c.get().shares(b) => return Err(refused("out", "is one of the factors")),
            Some(c) => c,
            None => {
                let made = detached(py, || self.plan.output())?;
                Bound::new(py, Matrix::new(made, self.device.clone(), of_c, Vec::new()))?
            }
        };
        let (factors, into) = (Factors::of(a, b, of_c), &*c.get().stored);
        detached(py, || {
            let mut locks = Locks::new(&factors.stored(), Some(into));
            let mut written = locks.written.take().expect("`out` is locked");
            let [left, right] = factors.stored().map(|stored| locks.of(stored));
            self.plan.execute((left, right), &mut **written).map(drop)
        })?;
        let products = self.plan.cost().products;
        let ran = Ran::on_host(products, "plan", begun).at(self.device.name()).into_dict(py)?;
        Ok((c, ran))
    }
}

impl Vector {
    pub fn new(on_device: DeviceVector<Any>, device: Device, owners: Vec<Py<PyAny>>) -> Self {
        let stored = StoredVector { on_device: RwLock::new(Kept::new(on_device)), device, _owners: owners };
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

/// Copies numbers of Python.
fn copied(numbers: &Numbers<'_>) -> PyResult<AnyValues> {
    Ok(match numbers {
        Numbers::F64(array) => AnyValues::F64(array.as_slice()?.to_vec()),
        Numbers::F32(array) => AnyValues::F32(array.as_slice()?.to_vec()),
    })
}

#[pymethods]
impl Vector {
    /// Copies numbers to a device.
    #[staticmethod]
    #[pyo3(signature = (x, device=None))]
    fn upload(py: Python<'_>, x: Bound<'_, PyUntypedArray>, device: Option<Wanted>) -> PyResult<Self> {
        let (device, opened) = wanted_device(device)?;
        let values = copied(&Numbers::new("x", &x)?)?;
        let on_device = detached(py, || opened.upload_any_vector(&values))?;
        Ok(Self::new(on_device, device, Vec::new()))
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| read(&self.stored.on_device).len())
    }

    #[getter]
    fn dtype(&self, py: Python<'_>) -> &'static str {
        dtype(py.detach(|| read(&self.stored.on_device).element()))
    }

    #[getter]
    fn device(&self) -> Device {
        self.stored.device.clone()
    }

    /// Number of bytes of device memory held.
    #[getter]
    fn device_bytes(&self, py: Python<'_>) -> u64 {
        py.detach(|| read(&self.stored.on_device).device_bytes())
    }

    /// Copies the numbers to the host.
    fn download<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(arrays::numbers(py, self.with(py, |of| of.download())?))
    }

    /// Replaces the numbers.
    fn update(&self, py: Python<'_>, x: Bound<'_, PyUntypedArray>) -> PyResult<()> {
        check_process()?;
        let values = copied(&Numbers::new("x", &x)?)?;
        detached(py, || write(&self.stored.on_device).write_any(&values))
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
