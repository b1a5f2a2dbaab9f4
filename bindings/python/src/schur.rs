//! The Schur complement of normal equations.
use crate::{
    arrays::{self, Arrays, Compressed, Number, Numbers},
    devices::{Place, Wanted, check_process},
    errors::refused,
    products::Ran,
    running::{Size, watched},
};
use blockmul::{
    Cbc, Planned,
    element::AnyValues,
    matrix::AnyMatrix,
    reference,
    solver::{self, Damping, Elimination, Formed, NormalEquations},
};
use numpy::PyUntypedArray;
use pyo3::{prelude::*, types::PyDict};
use std::time::Instant;

/// Normal equations from which the unknowns of V were eliminated.
#[pyclass(frozen, module = "blockmul._blockmul")]
pub struct Reduced {
    values: Box<dyn Eliminated>,
    /// Numbers of x, and multiplications of a back-substitution.
    len: usize,
    size: Size,
    on_device: bool,
    threads: Option<usize>,
}

/// S and r, and the values from which the eliminated unknowns follow.
struct System<T> {
    s: Cbc<T>,
    rhs: Vec<T>,
    values: Box<dyn Eliminated>,
}

/// The values from which the eliminated unknowns follow.
trait Eliminated: Send + Sync {
    /// The eliminated unknowns for the other ones.
    fn back_substitute(&self, x: &AnyValues) -> blockmul::Result<AnyValues>;
}

/// U, W and V, whose blocks are stored by columns, and both right-hand sides.
struct Equations<T> {
    u: Cbc<T>,
    w: Cbc<T>,
    v: Cbc<T>,
    b: [Vec<T>; 2],
    damping: Damping,
}

struct OnHost<T>(reference::Reduced<T>);

struct OnDevice<T: Number> {
    elimination: Elimination<Formed<T>>,
    reduced: solver::Reduced<Formed<T>>,
    /// Number of eliminated unknowns.
    eliminated: usize,
}

/// The numbers of a vector, which have the type of the system.
fn typed<T: Number>(x: &AnyValues) -> blockmul::Result<&[T]> {
    x.get().ok_or_else(|| blockmul::Error::Argument(format!("x: elements are {}, not {}", x.element(), T::TYPE)))
}

impl<T: Number> Eliminated for OnHost<T> {
    fn back_substitute(&self, x: &AnyValues) -> blockmul::Result<AnyValues> {
        self.0.back_substitute(typed(x)?).map(T::any)
    }
}

impl<T: Number> Eliminated for OnDevice<T> {
    fn back_substitute(&self, x: &AnyValues) -> blockmul::Result<AnyValues> {
        let x = self.elimination.device().upload_vector(typed::<T>(x)?)?;
        let mut eliminated = self.elimination.device().zero_vector(self.eliminated)?;
        self.elimination.back_substitute(&self.reduced, &x, &mut eliminated)?;
        eliminated.download().map(T::any)
    }
}

impl<T: Number> Equations<T> {
    fn reduce(&self, place: &Place) -> blockmul::Result<System<T>> {
        let Self { u, w, v, b: [b_u, b_v], damping } = self;
        match place {
            Place::Host => {
                let reduced = reference::schur(u, w, v, b_u, b_v, *damping)?;
                let (s, rhs) = (reduced.s.clone(), reduced.rhs.clone());
                Ok(System { s, rhs, values: Box::new(OnHost(reduced)) })
            }
            Place::Device(device) => {
                let (u, w, v) = (device.upload(u)?, device.upload(w)?, device.upload(v)?);
                let (b_c, b_p) = (&device.upload_vector(b_u)?, &device.upload_vector(b_v)?);
                let elimination = Elimination::<Formed<T>>::formed(&u.pattern(), &w.pattern(), &v.pattern())?;
                let mut reduced = elimination.output()?;
                let equations = NormalEquations { u: &u, w: &w, v: &v, b_c, b_p, damping: *damping, floors: None };
                elimination.execute(equations, &mut reduced)?;
                let (s, rhs) = (reduced.s()?.download()?, reduced.rhs()?.download()?);
                Ok(System { s, rhs, values: Box::new(OnDevice { elimination, reduced, eliminated: b_v.len() }) })
            }
        }
    }
}

/// The arrays of S in rows of blocks, r, the values for back-substitution, and what computed them.
type Result<'py> = PyResult<(Arrays<'py>, Bound<'py, PyAny>, Reduced, Bound<'py, PyDict>)>;

/// Eliminates the unknowns of V. The matrices are the transposes of U, W and V in rows of blocks,
/// whose arrays are those of U, W and V in columns of blocks. `whole` says whether S is wanted with
/// both triangles, or only with the blocks on and below its diagonal.
#[pyfunction]
#[pyo3(signature = (u, w, v, b_u, b_v, damping, whole, narrow, device=None, threads=None))]
#[allow(clippy::too_many_arguments)]
pub fn schur<'py>(
    py: Python<'py>,
    u: Compressed<'py>,
    w: Compressed<'py>,
    v: Compressed<'py>,
    b_u: Bound<'py, PyUntypedArray>,
    b_v: Bound<'py, PyUntypedArray>,
    damping: (&str, f64),
    whole: bool,
    narrow: bool,
    device: Option<Wanted>,
    threads: Option<usize>,
) -> Result<'py> {
    let damping = match damping {
        ("levenberg", by) => Damping::Levenberg(by),
        (_, by) => Damping::Marquardt(by),
    };
    let b = [Numbers::new("b_u", &b_u)?, Numbers::new("b_v", &b_v)?];
    match &b[0] {
        Numbers::F64(_) => reduced::<f64>(py, [u, w, v], b, damping, (whole, narrow), device, threads),
        Numbers::F32(_) => reduced::<f32>(py, [u, w, v], b, damping, (whole, narrow), device, threads),
    }
}

fn reduced<'py, T: Number>(
    py: Python<'py>,
    [u, w, v]: [Compressed<'py>; 3],
    [b_u, b_v]: [Numbers<'py>; 2],
    damping: Damping,
    (whole, narrow): (bool, bool),
    device: Option<Wanted>,
    threads: Option<usize>,
) -> Result<'py> {
    let matrix = |name: &str, of: Compressed<'py>| of.check(name, threads)?.by_columns::<T>(name);
    let b = [b_u.typed("b_u")?, b_v.typed("b_v")?];
    let equations = Equations::<T> { u: matrix("u", u)?, w: matrix("w", w)?, v: matrix("v", v)?, b, damping };
    let w = &equations.w;
    // A point that n cameras see causes n² products.
    let products: u64 = w.pattern().col_ptr().windows(2).map(|ends| (ends[1] - ends[0]).pow(2)).sum();
    let (of_w, area) = (w.nnz(), w.shape().area());
    let work = products.saturating_mul((area * w.shape().rows()) as u64);
    let place = Place::of(device, work, T::TYPE == blockmul::element::ElementType::F64)?;
    let begun = Instant::now();
    let (s, rhs, values) = watched(py, threads, place.size(work), || {
        let System { s, rhs, values } = equations.reduce(&place)?;
        let s = AnyMatrix::from(s);
        let s = if whole { s.mirrored()? } else { s };
        Ok((s.transpose()?.into_transpose(), rhs, values))
    })?;
    let ran = Ran::new(place.name(), products, "schur", begun);
    let size = Size::Multiplications((of_w * area) as u64);
    let (len, on_device) = (rhs.len(), matches!(place, Place::Device(_)));
    let reduced = Reduced { values, len, size, on_device, threads };
    Ok((arrays::handed(py, s, narrow), arrays::numbers(py, T::any(rhs)), reduced, ran.into_dict(py)?))
}

#[pymethods]
impl Reduced {
    /// Returns the eliminated unknowns for the other unknowns `x`.
    fn back_substitute<'py>(&self, py: Python<'py>, x: Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, PyAny>> {
        if self.on_device {
            check_process()?;
        }
        let x = Numbers::new("x", &x)?;
        if x.len() != self.len {
            return Err(refused("x", format_args!("has {} numbers, {} expected", x.len(), self.len)));
        }
        let x = x.copied()?;
        let eliminated = watched(py, self.threads, self.size, || self.values.back_substitute(&x))?;
        Ok(arrays::numbers(py, eliminated))
    }
}
