//! The module `_blockmul` of the Python package: products of compressed matrices, whose arrays
//! Python passes as tuples. Formats, kinds and types of results are chosen in Python.
mod arrays;
mod devices;
mod errors;
mod handles;
mod kept;
mod problems;
mod products;
mod resident;
mod resident_products;
mod running;
mod schur;

use pyo3::prelude::*;

#[pymodule(gil_used = true)]
fn _blockmul(module: &Bound<'_, PyModule>) -> PyResult<()> {
    devices::process();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<devices::Device>()?;
    module.add_class::<products::Plan>()?;
    module.add_class::<handles::Marker>()?;
    module.add_class::<resident::Matrix>()?;
    module.add_class::<resident::Vector>()?;
    module.add_class::<resident_products::DevicePlan>()?;
    module.add_class::<schur::Reduced>()?;
    module.add_function(wrap_pyfunction!(devices::devices, module)?)?;
    module.add_function(wrap_pyfunction!(devices::finish, module)?)?;
    module.add_function(wrap_pyfunction!(handles::counters, module)?)?;
    module.add_function(wrap_pyfunction!(resident_products::multiply_resident, module)?)?;
    module.add_function(wrap_pyfunction!(resident_products::masked_resident, module)?)?;
    module.add_function(wrap_pyfunction!(resident_products::gram_resident, module)?)?;
    module.add_function(wrap_pyfunction!(resident_products::apply_resident, module)?)?;
    module.add_function(wrap_pyfunction!(handles::adopt_matrix, module)?)?;
    module.add_function(wrap_pyfunction!(handles::matrix_pointers, module)?)?;
    module.add_function(wrap_pyfunction!(handles::adopt_vector, module)?)?;
    module.add_function(wrap_pyfunction!(handles::vector_pointer, module)?)?;
    module.add_function(wrap_pyfunction!(products::multiply, module)?)?;
    module.add_function(wrap_pyfunction!(products::gram, module)?)?;
    module.add_function(wrap_pyfunction!(products::masked, module)?)?;
    module.add_function(wrap_pyfunction!(schur::schur, module)?)?;
    module.add_function(wrap_pyfunction!(products::multiply_dense, module)?)?;
    module.add_function(wrap_pyfunction!(problems::read_bal, module)?)?;
    module.add_function(wrap_pyfunction!(problems::read_graph, module)?)?;
    module.add_function(wrap_pyfunction!(problems::bundle_adjust, module)?)?;
    module.add_function(wrap_pyfunction!(problems::pose_graph, module)?)
}
