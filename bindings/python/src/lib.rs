//! The module `_blockmul` of the Python package: products of compressed matrices, whose arrays
//! Python passes as tuples. Formats, kinds and types of results are chosen in Python.
mod arrays;
mod devices;
mod handles;
mod kept;
mod products;
mod resident;
mod resident_products;

use pyo3::{create_exception, exceptions::PyException, prelude::*};
use std::panic::{AssertUnwindSafe, catch_unwind};

create_exception!(_blockmul, Error, PyException, "An operation of blockmul that failed.");

/// Makes the exception for an error of the library. The Python package has a class for each kind.
fn raised(error: blockmul::Error) -> PyErr {
    use blockmul::Error as E;
    let class = match &error {
        E::Memory { .. } | E::TooLarge { .. } => "OutOfMemory",
        E::NoOpenCl { .. } | E::NoSuchDevice { .. } => "NoDevice",
        E::OpenCl { .. } | E::CommandFailed { .. } | E::Build { .. } | E::Unsupported { .. } => "DeviceFailed",
        E::Contradiction(_) | E::Signature { .. } => "Error",
        _ => "BadInput",
    };
    of_class(class, error.to_string())
}

/// Makes an exception of a class of the Python package.
fn of_class(class: &str, message: String) -> PyErr {
    Python::attach(|py| {
        let made = py.import("blockmul._errors").and_then(|errors| errors.getattr(class)?.call1((message.clone(),)));
        made.map_or_else(|_| Error::new_err(message), PyErr::from_value)
    })
}

/// Computes without the interpreter's lock. A panic becomes an exception.
fn detached<R: Send>(py: Python<'_>, compute: impl FnOnce() -> blockmul::Result<R> + Send) -> PyResult<R> {
    match py.detach(|| catch_unwind(AssertUnwindSafe(compute))) {
        Ok(result) => result.map_err(raised),
        Err(panic) => {
            let of = panic.downcast_ref::<String>().map(String::as_str);
            let message = of.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
            Err(Error::new_err(format!("an error of blockmul itself: {message}")))
        }
    }
}

#[pymodule(gil_used = true)]
fn _blockmul(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Error", module.py().get_type::<Error>())?;
    module.add_class::<devices::Device>()?;
    module.add_class::<products::Plan>()?;
    module.add_class::<handles::Marker>()?;
    module.add_class::<resident::Matrix>()?;
    module.add_class::<resident::Vector>()?;
    module.add_class::<resident_products::DevicePlan>()?;
    module.add_function(wrap_pyfunction!(devices::devices, module)?)?;
    module.add_function(wrap_pyfunction!(devices::finish, module)?)?;
    module.add_function(wrap_pyfunction!(handles::counters, module)?)?;
    module.add_function(wrap_pyfunction!(resident_products::multiply_resident, module)?)?;
    module.add_function(wrap_pyfunction!(resident_products::masked_resident, module)?)?;
    module.add_function(wrap_pyfunction!(resident_products::gram_resident, module)?)?;
    module.add_function(wrap_pyfunction!(resident_products::apply, module)?)?;
    module.add_function(wrap_pyfunction!(handles::adopt_matrix, module)?)?;
    module.add_function(wrap_pyfunction!(handles::matrix_pointers, module)?)?;
    module.add_function(wrap_pyfunction!(handles::adopt_vector, module)?)?;
    module.add_function(wrap_pyfunction!(handles::vector_pointer, module)?)?;
    module.add_function(wrap_pyfunction!(products::multiply, module)?)?;
    module.add_function(wrap_pyfunction!(products::gram, module)?)?;
    module.add_function(wrap_pyfunction!(products::masked, module)?)?;
    module.add_function(wrap_pyfunction!(products::multiply_dense, module)?)
}
