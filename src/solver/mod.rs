//! Least-squares problems and their solvers: reading problems from files, Schur complements, the
//! iteration, and conjugate gradients for several right-hand sides.
mod gradients;
#[cfg(feature = "faer")]
pub mod least_squares;
#[cfg(feature = "pictures")]
mod picture;
pub mod problem;
mod scale;
pub(crate) mod schur;

pub use gradients::{ConjugateGradients, SolvedColumn, conjugate_gradients};
pub(crate) use schur::SchurNumbers;
pub use schur::{Damping, Elimination, Floors, Form, Formed, Implicit, NormalEquations, Reduced, Several};
