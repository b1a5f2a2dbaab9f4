//! Solvers of least-squares problems: the problems, read from files, the Schur complement that
//! reduces them, and the iteration.
#[cfg(feature = "faer")]
pub mod least_squares;
pub mod problem;
pub(crate) mod schur;

pub use schur::{Damping, Elimination, Form, Formed, Implicit, NormalEquations, Reduced};
