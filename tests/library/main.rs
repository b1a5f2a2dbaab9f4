//! Tests of the library as an application uses it, in one program. Each file is a module, which
//! `cargo test --test library NAME::` runs.
mod any;
mod bands;
mod common;
mod foreign;
mod formats;
mod fuzz_corpus;
mod gram;
mod groups;
mod handover;
mod house;
#[cfg(feature = "faer")]
mod least_squares;
mod masked;
mod matrix_market;
mod npy;
#[cfg(feature = "ocl")]
mod ocl;
mod options;
mod paths;
#[cfg(feature = "faer")]
mod plans;
mod plans_of_scalars;
mod products;
mod quick;
mod racing;
mod real_data;
mod real_problems;
mod schur;
mod semirings;
mod sizes;
mod small;
mod spy;
mod structure;
mod unproven;
mod vectors;

/// The root folder of the repository.
const ROOT: &str = env!("CARGO_MANIFEST_DIR");
