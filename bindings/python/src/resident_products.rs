//! Products of matrices that stay on a device.
use crate::{
    devices::{Device, check_process},
    errors::{raised, refused},
    kept::Kept,
    products::Ran,
    resident::{Matrix, OfMatrix, Stored, Vector, lock, read, write},
    running::{Size, detached, watched},
};
use blockmul::{
    DeviceMatrix, Part, Planned, Product,
    matrix::AnyMatrix,
    plan::Apply,
    product::{Factor, Method},
};
use pyo3::{prelude::*, types::PyDict};
use std::{
    sync::{Arc, RwLockReadGuard, RwLockWriteGuard},
    time::Instant,
};

/// The locks of the matrices of one computation. Each is locked once, in the order of addresses, so
/// that two threads never wait for each other.
struct Locks<'a> {
    read: Vec<(&'a Stored, RwLockReadGuard<'a, OfMatrix>)>,
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

/// Computes with matrices that are only read, until the user interrupts.
///
/// This thread locks them, not the one of the pool that computes: while that one waits for parts of
/// its computation, it may begin another, which would wait for a lock that it holds itself.
fn reading<R: Send>(
    py: Python<'_>,
    matrices: &[&Stored],
    compute: impl FnOnce(&Locks<'_>) -> blockmul::Result<R> + Send,
) -> PyResult<R> {
    py.detach(|| {
        let locks = Locks::new(matrices, None);
        Python::attach(|py| watched(py, None, Size::OnDevice, || compute(&locks)))
    })
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

/// A result on the device of a factor.
fn result(like: &Matrix, on_device: DeviceMatrix<AnyMatrix>, transposed: bool) -> Matrix {
    Matrix::new(on_device, like.device(), transposed, Vec::new())
}

/// Whether the product of two matrices is stored as its transpose. Products of scalars are stored
/// in the order of the first, and products of blocks by rows where that is possible.
fn product_is_transposed(a: &Matrix, b: &Matrix) -> bool {
    a.transposed && (b.transposed || !a.stored.facts.kind.has_blocks())
}

/// C = A·B.
#[pyfunction]
#[pyo3(signature = (a, b, method=None))]
pub fn multiply_resident<'py>(py: Python<'py>, a: &Matrix, b: &Matrix, method: Option<&str>) -> Computed<'py, Matrix> {
    check_process()?;
    let method: Method = method.map_or(Ok(Method::Auto), str::parse).map_err(raised)?;
    if method.needs_mask() {
        return Err(refused("method", format_args!("{method} is for masked()")));
    }
    let factors = Factors::of(a, b, product_is_transposed(a, b));
    let (c, report) =
        reading(py, &factors.stored(), |locks| factors.product(locks).method(method).untimed().run_with_report())?;
    let ran = Ran::on_device(a.stored.device.name(), &report).into_dict(py)?;
    Ok((result(a, c, factors.transposed), ran))
}

/// The entries of A·B at the places of a mask, in the order of the mask.
#[pyfunction]
pub fn masked_resident<'py>(py: Python<'py>, a: &Matrix, b: &Matrix, mask: &Matrix) -> Computed<'py, Matrix> {
    check_process()?;
    let factors = Factors::of(a, b, mask.transposed);
    let [left, right] = factors.stored();
    let (c, report) = reading(py, &[left, right, &mask.stored], |locks| {
        let pattern = locks.of(&mask.stored).pattern();
        factors.product(locks).mask(&pattern).untimed().run_with_report()
    })?;
    let ran = Ran::on_device(a.stored.device.name(), &report).into_dict(py)?;
    Ok((result(a, c, factors.transposed), ran))
}

/// Aᵀ·A, or a triangle of it.
#[pyfunction]
pub fn gram_resident<'py>(py: Python<'py>, a: &Matrix, part: &str) -> Computed<'py, Matrix> {
    check_process()?;
    // A triangle that is stored as its transpose is the other triangle.
    let part = match (part, a.transposed) {
        ("lower", false) | ("upper", true) => Part::Lower,
        ("upper", false) | ("lower", true) => Part::Upper,
        _ => Part::Full,
    };
    let (c, report) = reading(py, &[&a.stored], |locks| {
        let j = Factor::from(locks.of(&a.stored));
        Product::gram(if a.transposed { j.t() } else { j }).part(part).untimed().run_with_report()
    })?;
    let ran = Ran::on_device(a.stored.device.name(), &report).into_dict(py)?;
    Ok((result(a, c, a.transposed), ran))
}

/// A·x, or x·A with `from_left`. Returns when the product is enqueued.
#[pyfunction]
pub fn apply_resident<'py>(py: Python<'py>, a: &Matrix, x: &Vector, from_left: bool) -> Computed<'py, Vector> {
    check_process()?;
    let begun = Instant::now();
    let transposed = a.transposed != from_left;
    let stored = &*a.stored;
    let known = lock(&stored.applies)[usize::from(transposed)].clone();
    let plan = match known {
        Some(plan) => plan,
        None => {
            let made = reading(py, &[stored], |locks| {
                let options = Apply::of(locks.of(stored));
                if transposed { options.transposed() } else { options }.plan()
            })?;
            lock(&stored.applies)[usize::from(transposed)].get_or_insert(Arc::new(made)).clone()
        }
    };
    let y = detached(py, || {
        let (of_a, x) = (read(&stored.on_device), read(&x.stored.on_device));
        let mut y = plan.output()?;
        plan.execute((&**of_a, &**x), &mut y)?;
        Ok(y)
    })?;
    let products = stored.facts.entries as u64;
    let ran = Ran::new(a.stored.device.name(), products, "apply", begun).into_dict(py)?;
    Ok((Vector::new(y, stored.device.clone(), Vec::new()), ran))
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
    /// Prepares A·B.
    #[staticmethod]
    fn new(py: Python<'_>, a: &Matrix, b: &Matrix) -> PyResult<Self> {
        check_process()?;
        let factors = Factors::of(a, b, product_is_transposed(a, b));
        let plan = reading(py, &factors.stored(), |locks| factors.product(locks).plan())?;
        let orders = [a.transposed, b.transposed, factors.transposed];
        Ok(Self { plan: Kept::new(plan), device: a.device(), orders })
    }

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
            if written.shares_values(left) || written.shares_values(right) {
                return Err(blockmul::Error::Argument("out: has the buffer of one of the factors".into()));
            }
            self.plan.execute((left, right), &mut **written).map(drop)
        })?;
        let products = self.plan.cost().products;
        let ran = Ran::new(self.device.name(), products, "plan", begun).into_dict(py)?;
        Ok((c, ran))
    }
}
