//! Solvers of least-squares problems: the problems themselves, from files, the Schur complement that reduces them, and the iteration on top.
#[cfg(feature = "faer")]
pub mod least_squares;
pub mod problem;
pub(crate) mod schur;

pub use schur::{Damping, ImplicitSchur, Schur};
