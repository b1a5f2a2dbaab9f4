//! Solvers of least-squares problems: the problems themselves, from files, and the Schur complement that reduces them.
pub mod problem;
pub(crate) mod schur;

pub use schur::{Damping, ImplicitSchur, Schur};
