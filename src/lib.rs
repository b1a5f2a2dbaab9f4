//! Sparse and block-sparse matrix products on any OpenCL device, for people who write SLAM,
//! bundle-adjustment, FEM and graph solvers.
//!
//! C = A·B is computed by *blockwise expand, sort, compress* (L. Polok, V. Ila, P. Smrz, *Fast
//! Sparse Matrix Multiplication on GPU*, 2015). Elements are `f64`, `f32` or `half::f16`. Matrices
//! consist of scalars ([`Csc`], [`Csr`]) or of dense blocks of one shape, square or not, from 1x1
//! to 32x32 ([`Cbc`], and [`Bsr`], which is also called BCSR).
//!
//! In the terms of other libraries [`multiply`] is SpGEMM, [`Product::gram`] is syrk of a sparse
//! matrix, [`plan::Apply`] is SpMV, and [`dense::multiply`] is SpMM.
//!
//! ```
//! use blockmul::{BlockShape, Cbc, Device, generate, multiply, reference};
//!
//! # fn main() -> blockmul::Result<()> {
//! let device = Device::auto()?; // the one BLOCKMUL_DEVICE names, else a GPU, else a CPU
//! // W: 20 cameras see 500 points, 4 views of each point, one 6x3 block for each view.
//! let seen = generate::Visibility { cameras: 20, points: 500, views: 4, ..Default::default() };
//! let w = seen.matrix()?;
//! let wt = w.transpose();
//!
//! let on_device = device.upload(&w)?; // once, for any number of products
//! let s = multiply(&on_device, &device.upload(&wt)?)?; // stays on the device
//! let s: Cbc<f64> = s.download()?;
//!
//! assert_eq!(s.shape(), BlockShape::new(6, 6)?);
//! assert_eq!(s, reference::multiply(&w, &wt)?); // equal to the bit
//! # Ok(())
//! # }
//! ```
//!
//! # The pipeline
//!
//! A *product* is a pair of an entry (k, j) of B and an entry (i, k) of A. The *expansion* lists
//! all products, one column of C after another. The products of one column are a *segment*. A *run*
//! is the products that sum to one entry of C.
//!
//! ```text
//!    A        B
//!    │        │     setup            products of each entry of B, scanned; the segments
//!    │        ├───────────── read 1: expansion size
//!    ▼        ▼
//!   row    0 2 │ 1 2 │ 0 2 0 │ ...   expansion        row and value (or operands) of each product
//!   value  a b │ c d │ e f g │
//!              ▼
//!   row    0 2 │ 1 2 │ 0 0 2 │ ...   segmented sort   by row inside each segment, stably
//!   value  a b │ c d │ e g f │
//!              ▼
//!   tails  1 1   1 1   . 1 1         tail counts      where runs end, counted and scanned
//!              ├───────────── read 2: entries of C
//!              ▼
//!   rows   0 2   1 2   0   2         gather           ends and rows of runs, starts of columns
//!              ▼
//!   C      a b   c d  e+g  f         compression      sum of each run; blocks are multiplied here
//! ```
//!
//! If a product is computed by one method and its columns need not be cut into bands, nothing else
//! is read back, and the host does not wait between the two reads. Work is divided by products, so
//! a few huge columns do not delay the rest.
//!
//! # The same bits everywhere
//!
//! The terms of a run are added in ascending k, and within a product of blocks in ascending inner
//! index. Every multiplication is rounded before its result is added. Runs longer than 1024
//! products are cut into pieces of 1024, and the sums of the pieces are added from left to right. A
//! sum does not depend on the device, on the sizes of work-groups or on the number of bands. So a
//! result is the same to the bit in every run and on every device, and equal to
//! [`reference::multiply`]. The sum of a run of up to 1024 products is the plain serial sum. An
//! entry whose value is 0 is kept.
//!
//! # Products that repeat
//!
//! A [`Product`] has two or more factors, each transposed or not: A·B, AᵀB, JᵀJ, JᵀWJ, RᵀAR.
//! Factors are matrices, or [groups] of blocks of several shapes. The whole result is computed, or
//! only a triangle, or only the entries of a mask.
//!
//! A solver multiplies the same patterns in every iteration. A [`Plan`] keeps everything that
//! depends on the patterns, so an execution only computes the sums. An execution allocates nothing
//! and reads nothing back, and its result has the same bits as a single product.
//!
//! Every operation that is prepared for patterns and then executed with values implements
//! [`Planned`]:
//!
//! * [`solver::Elimination`] reduces a bundle adjustment to its cameras. The reduced matrix is
//!   formed, or only multiplied with vectors.
//! * [`plan::Apply`] computes A·x.
//! * [`plan::Norms`] and [`plan::Diagonal`] compute the numbers for scaling and preconditioning.
//! * [`plan::Transpose`], [`plan::Permute`] and [`plan::Add`] make matrices of another structure.
//! * [`plan::Scalars`] makes the compressed columns that a sparse factorization on the host reads.
//!
//! [`solver::problem`] reads bundle adjustments and pose graphs (BAL, g2o, iSAM, TORO) and
//! linearises them into such matrices. `solver::least_squares` (feature `faer`) solves them.
//!
//! # Semirings and graphs
//!
//! Products and A·x can use any [`Semiring`] instead of + and ·, with floats and with the integers
//! `u32`, `i32` and `u8`: [`Product::semiring`], [`plan::ApplyOptions::semiring`]. Every method and
//! format supports all semirings, and its results have the same bits as the reference.
//!
//! ```
//! use blockmul::{Csc, Device, Product, Semiring, graph};
//!
//! # fn main() -> blockmul::Result<()> {
//! // Edges 0 to 1, 1 to 2 and 0 to 2: column j has the edges that leave vertex j.
//! let g = Csc::from_triplets(3, 3, [(1, 0, 2.0), (2, 1, 3.0), (2, 0, 9.0)])?;
//! let g = Device::auto()?.upload(&g)?;
//! let of_two_edges = Product::of(&g, &g).semiring(Semiring::MinPlus).run()?;
//! assert_eq!(of_two_edges.download()?.values(), [5.0]);
//! assert_eq!(graph::shortest_paths(&g, &[0])?.download()?, [0.0, 2.0, 5.0]);
//! # Ok(())
//! # }
//! ```
//!
//! [`graph`] has shortest paths, breadth-first levels, connected components and triangles.
//! [`extra::primitives`] scans and reduces vectors or segments of vectors with any associative
//! operator.
//!
//! # Threads and memory
//!
//! [`Device`] and [`DeviceMatrix`] are `Send` and `Sync`; several threads may multiply on one
//! device. A product is cut into bands of columns if it does not fit the device's memory, the free
//! memory of a CPU device's host, or the limit given to [`Product::memory_limit`]. If a band does
//! not fit either, the result is an [`Error`] with the numbers of bytes. Another thread can end a
//! long operation by an [`Interrupt`](extra::host::Interrupt). The library prints
//! nothing. The library does not panic on any input, with one exception: the operators `*` and `+`
//! of matrices on the host panic if their sizes do not fit, as those of nalgebra do. `try_mul` and
//! `try_add` return an error.
//!
//! # Events
//!
//! The library emits `tracing` events for the application's subscriber, if there is one. At level
//! info they report opened devices, and files that are read and written; at level debug plans,
//! products and their bands; at level trace buffers. The targets are `blockmul::device`,
//! `blockmul::io`, `blockmul::plan`, `blockmul::product` and `blockmul::pool`. The command prints
//! the events that `BLOCKMUL_LOG` or `RUST_LOG` selects.
//!
//! # Features
//!
//! * `ocl`: contexts, queues and buffers of the `ocl` crate (links libOpenCL).
//! * `gl`: contexts that share objects with OpenGL (links libGL too).
//! * `faer`, `nalgebra-sparse`, `sprs`: the sparse matrices of these crates can be converted from
//!   and to [`Csc`] and [`Csr`] by `From` and `TryFrom`. Values are moved. With the first two
//!   features the pattern of a [`plan::ScalarMap`] can be used for their sparse factorizations.
//!   `faer` also enables the solvers of least-squares problems.
//! * `pictures`: PNG files of matrices and of solved problems, `extra::spy::Picture` and
//!   `solver::problem::AnyProblem::picture`.
//!
//! Without the features `ocl` and `gl`, the OpenCL library is loaded at run time, so a program
//! starts on machines that have no OpenCL.
#![warn(missing_docs)]

mod apply;
pub mod device;
pub mod element;
pub mod error;
mod events;
pub mod extra;
pub mod generate;
pub mod graph;
pub mod groups;
mod gustavson;
#[cfg(test)]
mod interleave;
pub mod io;
pub mod matrix;
mod named;
mod planned;
pub mod product;
pub mod reference;
mod resident;
pub mod solver;
mod structure;
mod vector;

/// Operations that are prepared for patterns once and executed with values many times; see
/// [`Planned`].
pub mod plan {
    pub use crate::apply::{
        Apply, ApplyDense, ApplyGcoo, ApplyGram, ApplyOptions, DenseMethod, DenseOptions, Format, GcooOptions,
        GramOperands, Packed, PackedDense, PackedGram, Split, WeighedVector,
    };
    pub use crate::planned::*;
    pub use crate::product::Plan;
    pub use crate::structure::{Add, Permute, ScalarMap, Scalars, Transpose};
    pub use crate::vector::{Diagonal, DiagonalScalars, Norms};
}

/// Products of sparse and dense matrices.
pub mod dense {
    pub use crate::apply::{DenseProduct, DenseReport, DeviceGcoo, Source, multiply, multiply_by};
    pub use crate::gustavson::multiply_on_host;
    pub use crate::matrix::{
        AnyDense, AnyDenseView, AnyGcoo, DenseShape, DenseView, DenseViewMut, GcooArrays, Grouping, Layout, Side,
    };
    pub use crate::resident::DeviceDense;
}

/// An application's own OpenCL handles, which the library adopts or hands out.
pub mod foreign {
    pub use crate::device::{Marker, RawContext, RawDevice, RawEvent, RawHandles, RawMemory, RawQueue};
    #[cfg(feature = "ocl")]
    pub use crate::resident::OclMatrix;
    pub use crate::resident::RawMatrix;
}

pub use device::Device;
pub use element::{Element, Semiring};
pub use error::{Error, Result};
pub use matrix::{BlockShape, Bsr, Cbc, Csc, Csr, Matrix, Part};
pub use planned::Planned;
pub use product::{Method, Plan, Product, multiply};
pub(crate) use resident::DeviceDense;
pub use resident::{DeviceMatrix, DevicePattern, DeviceVector};

pub(crate) use device::{DeviceInfo, DeviceKind, Marker};
pub(crate) use element::{Arithmetic, Field, OperandPair, Real, Word};
use extra::{analysis, host, mesh, primitives, tuning};
pub(crate) use groups::{BlockGroups, DeviceGroups, Group};
pub(crate) use host::Progress;
pub(crate) use matrix::{Pattern, Threshold};
pub(crate) use product::{GramParts, Weights};

/// All stages whose kernels have tuning numbers. The list of stages is here because only the
/// crate's root names all modules.
pub(crate) const STAGES: &[tuning::Stage] = &[
    tuning::Stage::of::<tuning::SharedNumbers>(),
    tuning::Stage::of::<device::TeamNumbers>(),
    tuning::Stage::of::<primitives::ScanNumbers>(),
    tuning::Stage::of::<primitives::DropNumbers>(),
    tuning::Stage::of::<primitives::SortNumbers>(),
    tuning::Stage::of::<primitives::RadixNumbers>(),
    tuning::Stage::of::<primitives::SegmentNumbers>(),
    tuning::Stage::of::<vector::LineNumbers>(),
    tuning::Stage::of::<apply::RowNumbers>(),
    tuning::Stage::of::<apply::DenseNumbers>(),
    tuning::Stage::of::<product::TileNumbers>(),
    tuning::Stage::of::<product::AdaptiveNumbers>(),
    tuning::Stage::of::<product::RangeNumbers>(),
    tuning::Stage::of::<product::HostNumbers>(),
    tuning::Stage::of::<graph::FrontierNumbers>(),
    tuning::Stage::of::<solver::SchurNumbers>(),
    tuning::Stage::of::<extra::spy::BinNumbers>(),
];

/// Compiles and runs the examples on the pages of the repository, together with the examples in the
/// documentation of the library.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../docs/solving.md")]
struct Pages;
