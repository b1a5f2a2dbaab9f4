//! Handles of OpenCL that are exchanged with other modules of Python, such as pyopencl: queues,
//! buffers and events, by their addresses.
//!
//! A handle is a number, and nothing but its caller guarantees that it is one. OpenCL itself is
//! called through the library.
use crate::{
    devices::{Device, check_process},
    errors::{raised, refused},
    kept::Kept,
    resident::{Matrix, Vector, kind_of},
    running::detached,
};
use blockmul::{
    BlockShape, DeviceMatrix, DeviceVector, Error,
    element::ElementType,
    foreign::{RawEvent, RawMatrix, RawMemory, RawQueue},
    matrix::MatrixKind,
};
use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyBool, PyDict, PyInt, PyType},
};

/// The address of a handle: an attribute `int_ptr`, or a number.
struct Handle(usize);

impl Handle {
    /// The handle of an object, which is a `class` if it is one of pyopencl.
    fn of(name: &str, object: &Bound<'_, PyAny>, class: &str) -> PyResult<Self> {
        let of = object.get_type();
        if of.module()?.to_cow()?.starts_with("pyopencl") {
            let mut names = Vec::new();
            for base in of.mro() {
                names.push(base.cast::<PyType>()?.name()?.to_string());
            }
            if !names.iter().any(|name| name == class) {
                return Err(PyTypeError::new_err(format!("{name}: {} is not a pyopencl.{class}", names[0])));
            }
        }
        let number = match object.getattr_opt("int_ptr")? {
            Some(number) => number,
            None if object.is_instance_of::<PyInt>() && !object.is_instance_of::<PyBool>() => object.clone(),
            None => {
                let found = object.get_type().name()?;
                return Err(PyTypeError::new_err(format!("{name}: {found} has no int_ptr and is no int")));
            }
        };
        // pyopencl's addresses may be signed.
        let address = number.extract::<usize>().or_else(|_| number.extract::<isize>().map(|address| address as usize));
        match address {
            Ok(0) => Err(refused(name, "the handle is null")),
            Ok(address) => Ok(Self(address)),
            Err(_) => Err(refused(name, format_args!("{number} is no address"))),
        }
    }
}

/// A point in a device's queue.
#[pyclass(frozen, module = "blockmul")]
pub struct Marker(Kept<blockmul::foreign::Marker>);

#[pymethods]
impl Marker {
    /// The address of the event, which is valid while the marker lives: keep it in a variable.
    #[getter]
    fn int_ptr(&self) -> PyResult<usize> {
        check_process()?;
        let event = self.0.raw().map_err(raised)?;
        Ok(event.map_or(0, |event| event as usize))
    }

    /// The event as one of pyopencl, which may live longer than the marker.
    fn to_pyopencl<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("pyopencl")?.getattr("Event")?.call_method1("from_int_ptr", (self.int_ptr()?,))
    }

    /// Waits until everything before the marker has ended.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        check_process()?;
        detached(py, || self.0.wait())
    }
}

#[pymethods]
impl Device {
    fn __repr__(&self) -> String {
        self.described()
    }

    /// The device of a queue of pyopencl. Its commands go to this queue.
    #[staticmethod]
    fn from_queue(queue: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Handle(address) = Handle::of("queue", queue, "CommandQueue")?;
        // SAFETY: the caller guarantees that the handle is that of a queue.
        Self::adopted(address, || unsafe { blockmul::Device::adopt_queue(address as RawQueue) })
    }

    /// The address of the device's context, for `pyopencl.Context.from_int_ptr`.
    #[getter]
    fn context_ptr(&self) -> PyResult<usize> {
        Ok(self.opened()?.raw_handles().context as usize)
    }

    /// The address of the device's queue, for `pyopencl.CommandQueue.from_int_ptr`.
    #[getter]
    fn queue_ptr(&self) -> PyResult<usize> {
        Ok(self.opened()?.raw_handles().queue as usize)
    }

    /// The address of the device, for `pyopencl.Device.from_int_ptr`.
    #[getter]
    fn device_ptr(&self) -> PyResult<usize> {
        Ok(self.opened()?.raw_handles().device as usize)
    }

    /// Makes all commands enqueued from now on wait for events of pyopencl, or for markers.
    fn wait_for(&self, py: Python<'_>, events: &Bound<'_, PyAny>) -> PyResult<()> {
        let Ok(events) = events.try_iter() else {
            return Err(PyTypeError::new_err("events: is no list of events: use [event]"));
        };
        // They are held during the call.
        let events = events.collect::<PyResult<Vec<_>>>()?;
        let address = |event| Ok(Handle::of("events", event, "Event")?.0);
        let addresses = events.iter().map(address).collect::<PyResult<Vec<_>>>()?;
        let device = self.opened()?;
        detached(py, || {
            let events: Vec<RawEvent> = addresses.iter().map(|&address| address as RawEvent).collect();
            // SAFETY: the caller guarantees that the handles are those of events.
            unsafe { device.wait_for(&events) }
        })
    }

    /// A point after all commands that have been enqueued so far, for which other queues can wait.
    fn marker(&self, py: Python<'_>) -> PyResult<Marker> {
        let device = self.opened()?;
        Ok(Marker(Kept::new(detached(py, || device.marker())?)))
    }

    /// Waits until all commands that have been enqueued so far have ended.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let device = self.opened()?;
        detached(py, || device.finish())
    }
}

/// Numbers of operations on a device since it was opened, and the bytes that it keeps for reuse.
/// Tests count copies by them: those are commands that launch no kernel.
#[pyfunction]
pub fn counters<'py>(py: Python<'py>, device: &Device) -> PyResult<Bound<'py, PyDict>> {
    let device = device.opened()?;
    let counted = device.counters();
    let of = PyDict::new(py);
    of.set_item("buffers_created", counted.buffers_created)?;
    of.set_item("buffers_taken", counted.buffers_taken)?;
    of.set_item("commands", counted.commands)?;
    of.set_item("launches", counted.launches)?;
    of.set_item("read_backs", counted.read_backs)?;
    of.set_item("kept_bytes", device.kept_bytes())?;
    Ok(of)
}

fn element(dtype: &str) -> PyResult<ElementType> {
    match dtype {
        "float64" => Ok(ElementType::F64),
        "float32" => Ok(ElementType::F32),
        _ => Err(refused("dtype", format_args!("{dtype} is not float64 or float32"))),
    }
}

/// A matrix over buffers of an application.
struct Given {
    kind: MatrixKind,
    element: ElementType,
    lines: usize,
    across: usize,
    entries: usize,
    shape: BlockShape,
    /// The addresses of the offsets, indices and values.
    addresses: [usize; 3],
}

impl Given {
    fn adopt(&self, device: &blockmul::Device) -> blockmul::Result<DeviceMatrix<blockmul::matrix::AnyMatrix>> {
        let [col_ptr, row_idx, values] = self.addresses.map(|address| address as RawMemory);
        let (nrows, ncols, nnz, stride) = (self.across, self.lines, self.entries, self.shape.area());
        let parts = RawMatrix { nrows, ncols, nnz, shape: self.shape, stride, col_ptr, row_idx, values };
        // SAFETY: the caller of Python guarantees that the handles are those of buffers, whose
        // indices do not change while the matrix lives. The device checks the indices.
        unsafe { DeviceMatrix::adopt_any(device, &parts, self.kind, self.element) }
    }
}

/// The message of the library, which speaks of compressed columns, about a matrix by rows or by
/// columns.
fn in_words_of_scipy(error: &Error) -> String {
    let words = [("col_ptr", "indptr"), ("row_idx", "indices"), ("column", "line"), ("row", "place")];
    words.iter().fold(error.to_string(), |text, (from, to)| text.replace(from, to))
}

/// The address of a buffer, or null for `None`, which stands for an empty one.
fn memory(name: &str, object: &Bound<'_, PyAny>) -> PyResult<usize> {
    if object.is_none() { Ok(0) } else { Ok(Handle::of(name, object, "MemoryObjectHolder")?.0) }
}

/// A matrix over buffers of an application, which are kept and not copied. `owners` are kept too.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn adopt_matrix<'py>(
    py: Python<'py>,
    format: &str,
    shape: (usize, usize),
    blocksize: (usize, usize),
    dtype: &str,
    entries: usize,
    buffers: (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>),
    device: Device,
    owners: Vec<Py<PyAny>>,
) -> PyResult<Matrix> {
    let (kind, of_block, transposed) = kind_of(format, blocksize)?;
    let grid = (shape.0 / blocksize.0, shape.1 / blocksize.1);
    let (lines, across) = if transposed { (grid.1, grid.0) } else { grid };
    let (indptr, indices, data) = buffers;
    let addresses = [memory("indptr", &indptr)?, memory("indices", &indices)?, memory("data", &data)?];
    let element = element(dtype)?;
    // The arrays by rows are those of the transpose by columns.
    let given = Given { kind, element, lines, across, entries, shape: of_block.transpose(), addresses };
    let opened = device.opened()?;
    let adopted = detached(py, || Ok(given.adopt(&opened)))?;
    let on_device = adopted.map_err(|error| match error {
        Error::Pattern(_) | Error::Length { .. } => refused("indptr, indices, data", in_words_of_scipy(&error)),
        error => raised(error),
    })?;
    Ok(Matrix::new(on_device, device, transposed, owners))
}

/// The addresses of the arrays of the stored matrix: offsets, indices and values. They are valid
/// while the matrix lives, or longer if they are retained.
#[pyfunction]
pub fn matrix_pointers(py: Python<'_>, matrix: &Matrix) -> PyResult<(usize, usize, usize)> {
    matrix.with(py, |of| {
        let RawMatrix { col_ptr, row_idx, values, .. } = of.raw_parts();
        Ok((col_ptr as usize, row_idx as usize, values as usize))
    })
}

/// A vector over a buffer of an application, which is kept and not copied.
#[pyfunction]
pub fn adopt_vector<'py>(
    py: Python<'py>,
    dtype: &str,
    len: usize,
    buffer: Bound<'py, PyAny>,
    device: Device,
    owners: Vec<Py<PyAny>>,
) -> PyResult<Vector> {
    let (address, element) = (memory("buffer", &buffer)?, element(dtype)?);
    let opened = device.opened()?;
    let on_device = detached(py, || {
        // SAFETY: the caller of Python guarantees that the handle is that of a buffer.
        unsafe { DeviceVector::adopt_any(&opened, element, len, address as RawMemory) }
    })?;
    Ok(Vector::new(on_device, device, owners))
}

/// The address of the buffer, valid while the vector lives, or longer if it is retained.
#[pyfunction]
pub fn vector_pointer(py: Python<'_>, vector: &Vector) -> PyResult<usize> {
    vector.with(py, |of| Ok(of.raw() as usize))
}
