//! Products.
use crate::{
    arrays::{self, Arrays, Checked, Compressed, Numbers},
    devices::{Place, Wanted, check_process},
    errors::{raised, refused},
    running::{Size, check_no_handler, watched},
};
use blockmul::{
    BlockShape, DeviceMatrix, Part, Planned, Product, Semiring,
    dense::{self, AnyDense, AnyDenseView, DenseShape, DenseView, Layout},
    element::{AnyValues, ElementType},
    matrix::{AnyMatrix, AnyView, MatrixKind, Pattern},
    product::{Method, Report},
    reference,
};
use numpy::PyUntypedArray;
use pyo3::{prelude::*, types::PyDict};
use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

/// The numbers of a product for `blockmul.report()`.
pub struct Ran {
    place: String,
    method: String,
    products: u64,
    ms: f64,
}

impl Ran {
    pub fn new(place: String, products: u64, method: &str, begun: Instant) -> Self {
        Self { place, method: method.into(), products, ms: begun.elapsed().as_secs_f64() * 1e3 }
    }

    pub fn on_device(place: String, report: &Report) -> Self {
        let mut methods: Vec<&str> = report.bins.iter().map(|bin| bin.method.name()).collect();
        methods.dedup();
        let method = if methods.is_empty() { report.method.name().into() } else { methods.join(", ") };
        Self { place, method, products: report.products, ms: report.total_ms }
    }

    pub fn into_dict<'py>(self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let of = PyDict::new(py);
        of.set_item("device", self.place)?;
        of.set_item("method", self.method)?;
        of.set_item("products", self.products)?;
        of.set_item("milliseconds", self.ms)?;
        Ok(of)
    }
}

/// Arrays of a result, and what computed it.
type Result<'py> = PyResult<(Arrays<'py>, Bound<'py, PyDict>)>;

fn result<'py>(py: Python<'py>, (c, ran): (AnyMatrix, Ran), narrow: bool) -> Result<'py> {
    Ok((arrays::handed(py, c, narrow), ran.into_dict(py)?))
}

/// Numbers of products of entries and of multiplications of numbers in A·B.
fn work_of(a: AnyView<'_>, b: AnyView<'_>) -> (u64, u64) {
    let products = reference::products_any(a, b);
    (products, products.saturating_mul((a.shape().area() * b.shape().cols()) as u64))
}

fn is_double(a: AnyView<'_>) -> bool {
    a.element() == ElementType::F64
}

/// C = A·B.
#[pyfunction]
#[pyo3(signature = (a, b, narrow, device=None, method=None, threads=None))]
pub fn multiply<'py>(
    py: Python<'py>,
    a: Compressed<'py>,
    b: Compressed<'py>,
    narrow: bool,
    device: Option<Wanted>,
    method: Option<&str>,
    threads: Option<usize>,
) -> Result<'py> {
    // A square has one matrix to check and to copy.
    let is_square = a.is_same(&b);
    let a = a.check("a", threads)?;
    let b = if is_square { None } else { Some(b.check("b", threads)?) };
    let (a, b) = (a.view()?, b.as_ref().map_or_else(|| a.view(), Checked::view)?);
    let (products, work) = work_of(a, b);
    let place = Place::of(device, work, is_double(a))?;
    let given = method.is_some();
    let method: Method = method.map_or(Ok(Method::Auto), str::parse).map_err(raised)?;
    if given && matches!(place, Place::Host) {
        return Err(refused("method", "is for devices: give device=\"gpu\", or another one of blockmul.devices()"));
    }
    if method.needs_mask() {
        return Err(refused("method", format_args!("{method} is for masked()")));
    }
    let computed = watched(py, threads, place.size(work), || match &place {
        Place::Host => {
            let begun = Instant::now();
            let c = reference::multiply_any(Semiring::PlusTimes, a, b)?;
            Ok((c, Ran::new(place.name(), products, "host", begun)))
        }
        Place::Device(device) => {
            let a = device.upload_any(a)?;
            let b = if is_square { None } else { Some(device.upload_any(b)?) };
            let (c, report) = Product::of(&a, b.as_ref().unwrap_or(&a)).method(method).run_to_host()?;
            Ok((c, Ran::on_device(place.name(), &report)))
        }
    })?;
    result(py, computed, narrow)
}

/// C = Aᵀ·A, or a triangle of it.
#[pyfunction]
#[pyo3(signature = (a, part, narrow, device=None, threads=None))]
pub fn gram<'py>(
    py: Python<'py>,
    a: Compressed<'py>,
    part: &str,
    narrow: bool,
    device: Option<Wanted>,
    threads: Option<usize>,
) -> Result<'py> {
    let a = a.check("a", threads)?;
    let a = a.view()?;
    let part = match part {
        "lower" => Part::Lower,
        "upper" => Part::Upper,
        _ => Part::Full,
    };
    // A row of n entries has n² products.
    let pattern = a.pattern();
    let products: u64 = match a.kind().is_row_major() {
        true => pattern.col_ptr().windows(2).map(|ends| (ends[1] - ends[0]).pow(2)).sum(),
        false => {
            let mut lengths = vec![0u64; pattern.nrows()];
            pattern.row_idx().iter().for_each(|&row| lengths[row as usize] += 1);
            lengths.iter().map(|n| n * n).sum()
        }
    };
    let work = products.saturating_mul((a.shape().area() * a.shape().cols()) as u64);
    let place = Place::of(device, work, is_double(a))?;
    let computed = watched(py, threads, place.size(work), || match &place {
        Place::Host => {
            let begun = Instant::now();
            Ok((reference::gram_any(a, part)?, Ran::new(place.name(), products, "host", begun)))
        }
        Place::Device(device) => {
            let a = device.upload_any(a)?;
            let (c, report) = Product::gram(&a).part(part).run_to_host()?;
            Ok((c, Ran::on_device(place.name(), &report)))
        }
    })?;
    result(py, computed, narrow)
}

/// The entries of A·B at the places of a mask.
#[pyfunction]
#[pyo3(signature = (a, b, mask, narrow, device=None, threads=None))]
pub fn masked<'py>(
    py: Python<'py>,
    a: Compressed<'py>,
    b: Compressed<'py>,
    mask: Compressed<'py>,
    narrow: bool,
    device: Option<Wanted>,
    threads: Option<usize>,
) -> Result<'py> {
    let (a, b, mask) = (a.check("a", threads)?, b.check("b", threads)?, mask.check("mask", threads)?);
    let (a, b, mask) = (a.view()?, b.view()?, mask.view()?);
    let (products, work) = work_of(a, b);
    let place = Place::of(device, work, is_double(a))?;
    let computed = watched(py, threads, place.size(work), || match &place {
        Place::Host => {
            let begun = Instant::now();
            let c = reference::multiply_any_masked(Semiring::PlusTimes, a, b, mask)?;
            Ok((c, Ran::new(place.name(), products, "host", begun)))
        }
        Place::Device(device) => {
            let (a, b) = (device.upload_any(a)?, device.upload_any(b)?);
            let mask = device.upload_any(mask)?.pattern();
            let (c, report) = Product::of(&a, &b).mask(&mask).run_to_host()?;
            Ok((c, Ran::on_device(place.name(), &report)))
        }
    })?;
    result(py, computed, narrow)
}

/// A·D, or D·A with `from_right`. D has one dimension here: `rows` times `columns` numbers, by rows
/// or by columns. The result is in the same order.
#[pyfunction]
#[pyo3(signature = (a, d, sides, by_rows, from_right, device=None, threads=None))]
#[allow(clippy::too_many_arguments)]
pub fn multiply_dense<'py>(
    py: Python<'py>,
    a: Compressed<'py>,
    d: Bound<'py, PyUntypedArray>,
    sides: (usize, usize),
    by_rows: bool,
    from_right: bool,
    device: Option<Wanted>,
    threads: Option<usize>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyDict>)> {
    let (name, of_d) = if from_right { ("b", "a") } else { ("a", "b") };
    let (a, d) = (a.check(name, threads)?, Numbers::new(of_d, &d)?);
    let a = a.view()?;
    let layout = if by_rows { Layout::ByRows } else { Layout::ByColumns };
    let shape = DenseShape::new(sides.0, sides.1, layout);
    let d: AnyDenseView<'_> = match &d {
        Numbers::F64(array) => DenseView::new(shape, array.as_slice()?).map_err(raised)?.into(),
        Numbers::F32(array) => DenseView::new(shape, array.as_slice()?).map_err(raised)?.into(),
    };
    // D·A is the transpose of Aᵀ·Dᵀ.
    let (a, d) = if from_right { (a.as_transpose(), d.transposed()) } else { (a, d) };
    let products = (a.nnz() * d.shape().cols) as u64;
    let work = products.saturating_mul(a.shape().area() as u64);
    let place = Place::of(device, work, is_double(a))?;
    let (c, ran) = watched(py, threads, place.size(work), || match &place {
        Place::Host => {
            let begun = Instant::now();
            Ok((dense::multiply_on_host(a, d)?, Ran::new(place.name(), products, "rows", begun)))
        }
        Place::Device(device) => {
            let (a, d) = (device.upload_any(a)?, device.upload_any_dense(d)?);
            let begun = Instant::now();
            let c: AnyDense = dense::multiply(&a, &d)?.download()?;
            Ok((c, Ran::new(place.name(), products, "auto", begun)))
        }
    })?;
    Ok((arrays::numbers(py, c.into_values()), ran.into_dict(py)?))
}

/// A product of two patterns that is executed with values.
#[pyclass(frozen, module = "blockmul._blockmul")]
pub struct Plan {
    /// One execution takes place at a time.
    state: Mutex<State>,
    kept: [Kept; 2],
    place: String,
    on_device: bool,
    products: u64,
    size: Size,
    threads: Option<usize>,
}

enum State {
    Host,
    Device(Box<OnDevice>),
}

struct OnDevice {
    factors: [DeviceMatrix<AnyMatrix>; 2],
    plan: blockmul::Plan<AnyMatrix>,
    c: DeviceMatrix<AnyMatrix>,
}

impl State {
    /// Computes the values of C.
    fn execute(&mut self, [a, b]: [AnyView<'_>; 2]) -> blockmul::Result<AnyValues> {
        match self {
            Self::Host => Ok(reference::multiply_any(Semiring::PlusTimes, a, b)?.into_parts().1),
            Self::Device(of) => {
                let OnDevice { factors: [on_a, on_b], plan, c } = &mut **of;
                on_a.write_any(a)?;
                on_b.write_any(b)?;
                plan.execute((&*on_a, &*on_b), &mut *c)?;
                Ok(c.download()?.into_parts().1)
            }
        }
    }
}

/// The type and the pattern of a plan's factor.
struct Kept {
    kind: MatrixKind,
    element: ElementType,
    shape: BlockShape,
    pattern: Pattern,
}

impl Kept {
    fn of(view: AnyView<'_>) -> Self {
        let (kind, element, shape) = (view.kind(), view.element(), view.shape());
        Self { kind, element, shape, pattern: view.pattern().clone() }
    }

    /// Refuses a factor that differs in more than its values.
    fn check(&self, name: &str, found: AnyView<'_>) -> PyResult<()> {
        let same = (found.kind(), found.element(), found.shape()) == (self.kind, self.element, self.shape);
        match same && *found.pattern() == self.pattern {
            true => Ok(()),
            false => Err(refused(name, "the plan was made for another pattern, format or dtype")),
        }
    }
}

#[pymethods]
impl Plan {
    /// Prepares A·B. Returns the plan and the arrays of C with zeros.
    #[staticmethod]
    #[pyo3(signature = (a, b, narrow, device=None, threads=None))]
    fn new<'py>(
        py: Python<'py>,
        a: Compressed<'py>,
        b: Compressed<'py>,
        narrow: bool,
        device: Option<Wanted>,
        threads: Option<usize>,
    ) -> PyResult<(Self, Arrays<'py>)> {
        let (a, b) = (a.check("a", threads)?, b.check("b", threads)?);
        let (a, b) = (a.view()?, b.view()?);
        let (products, work) = work_of(a, b);
        let place = Place::of(device, work, is_double(a))?;
        let (state, c) = watched(py, threads, place.size(work), || match &place {
            Place::Host => Ok((State::Host, reference::multiply_any(Semiring::PlusTimes, a, b)?)),
            Place::Device(device) => {
                let factors = [device.upload_any(a)?, device.upload_any(b)?];
                let plan = Product::of(&factors[0], &factors[1]).plan()?;
                let c = plan.output()?;
                let of_c = c.download()?;
                Ok((State::Device(Box::new(OnDevice { factors, plan, c })), of_c))
            }
        })?;
        let kept = [Kept::of(a), Kept::of(b)];
        let on_device = matches!(place, Place::Device(_));
        // The kernels of a plan have been compiled.
        let size = Size::Multiplications(work);
        let plan = Self { state: Mutex::new(state), kept, place: place.name(), on_device, products, size, threads };
        Ok((plan, arrays::handed(py, c, narrow)))
    }

    /// Computes the values of C from factors with the plan's patterns.
    fn execute<'py>(
        &self,
        py: Python<'py>,
        a: Compressed<'py>,
        b: Compressed<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyDict>)> {
        let (a, b) = (a.check("a", self.threads)?, b.check("b", self.threads)?);
        let factors = [a.view()?, b.view()?];
        for ((name, kept), &found) in ["a", "b"].into_iter().zip(&self.kept).zip(&factors) {
            kept.check(name, found)?;
        }
        check_no_handler()?;
        if self.on_device {
            check_process()?;
        }
        let begun = Instant::now();
        // This thread locks the plan. A thread of the pool that computes may begin another
        // execution while it waits for parts of the first, and would wait for its own lock.
        let values = py.detach(|| {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let state = &mut *state;
            Python::attach(|py| watched(py, self.threads, self.size, || state.execute(factors)))
        })?;
        let ran = Ran::new(self.place.clone(), self.products, "plan", begun);
        Ok((arrays::numbers(py, values), ran.into_dict(py)?))
    }
}
