//! Sparse Cholesky factorization by `faer`, on one thread, in memory that is kept for the next
//! factorization.
//!
//! A factor has the same bits for any number of threads, and for any setting of
//! `faer::set_global_parallelism`, because it is always computed on one thread. On several threads
//! `faer` adds in another order, and it was slower than on one thread for every system measured
//! (`sphere2500`: 2311 ms on 16 threads, 315 ms on one).
use crate::{Error, Result};
use faer::{
    ColMut, Conj, Par, Side,
    dyn_stack::{MemBuffer, MemStack},
    prelude::ReborrowMut,
    sparse::{
        SparseColMatRef, SymbolicSparseColMat,
        linalg::{
            SupernodalThreshold,
            cholesky::{
                CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
            },
        },
    },
};

/// The pattern of a factor, with the unknowns in the order of approximate minimum degree.
pub struct Symbolic {
    pattern: SymbolicSparseColMat<usize>,
    factor: SymbolicCholesky<usize>,
}

impl Symbolic {
    /// Analyses the lower triangle of a symmetric matrix in compressed columns with ascending rows.
    pub fn new(pattern: SymbolicSparseColMat<usize>) -> Result<Self> {
        let (columns, rows) = (pattern.col_ptr(), pattern.row_idx());
        let on_diagonal = |col: usize| rows[columns[col]..columns[col + 1]].first() == Some(&col);
        if let Some(col) = (0..pattern.ncols()).find(|&col| !on_diagonal(col)) {
            return Err(Error::Argument(format!("column {col} of the linear system does not begin on its diagonal")));
        }
        Ok(Self { factor: analyse(&pattern, SupernodalThreshold::AUTO)?, pattern })
    }

    /// The pattern of the matrix, in which the first entry of each column is on the diagonal.
    pub fn pattern(&self) -> &SymbolicSparseColMat<usize> {
        &self.pattern
    }

    /// Number of values of the matrix.
    pub fn nnz(&self) -> usize {
        self.pattern.row_idx().len()
    }
}

/// The pattern of the factor of a lower triangle. `threshold` decides when neighbouring columns are
/// factored together.
pub fn analyse(lower: &SymbolicSparseColMat<usize>, threshold: SupernodalThreshold) -> Result<SymbolicCholesky<usize>> {
    let params = CholeskySymbolicParams { supernodal_flop_ratio_threshold: threshold, ..Default::default() };
    factorize_symbolic_cholesky(lower.as_ref(), Side::Lower, SymmetricOrdering::Amd, params)
        .map_err(|error| Error::Argument(format!("cannot prepare a Cholesky factorization: {error:?}")))
}

/// The factor of a matrix that is factored repeatedly with the same pattern.
pub struct Cholesky {
    symbolic: Symbolic,
    factor: Vec<f64>,
    workspace: MemBuffer,
}

impl Cholesky {
    /// Allocates the factor and the workspace.
    pub fn new(symbolic: Symbolic) -> Result<Self> {
        let of = &symbolic.factor;
        let usual = Default::default();
        let factoring = of.factorize_numeric_llt_scratch::<f64>(Par::Seq, usual);
        let room = factoring.or(of.solve_in_place_scratch::<f64>(1, Par::Seq));
        let (count, what) = (of.len_val(), "a Cholesky factor");
        let bytes = (count as u64).saturating_mul(8).saturating_add(room.unaligned_bytes_required() as u64);
        crate::host::memory::check_large(|| what.into(), bytes)?;
        let missing = || Error::Memory { what: what.into(), needed: bytes, available: 0, place: "host".into() };
        let mut factor = Vec::new();
        factor.try_reserve_exact(count).map_err(|_| missing())?;
        factor.resize(count, 0.0);
        Ok(Self { workspace: MemBuffer::try_new(room).map_err(|_| missing())?, symbolic, factor })
    }

    /// The pattern.
    pub fn symbolic(&self) -> &Symbolic {
        &self.symbolic
    }

    /// Factors the matrix with these values. Returns `false` if it is not positive definite.
    pub fn factor(&mut self, values: &[f64]) -> bool {
        let Self { symbolic: Symbolic { pattern, factor: symbolic }, factor, workspace } = self;
        let (matrix, stack) = (SparseColMatRef::new(pattern.as_ref(), values), MemStack::new(workspace));
        let (exact, usual) = (Default::default(), Default::default());
        symbolic.factorize_numeric_llt(factor, matrix, Side::Lower, exact, Par::Seq, stack, usual).is_ok()
    }

    /// Solves in place with the last factor. Returns `false` if the solution is not finite.
    pub fn solve(&mut self, x: &mut [f64]) -> bool {
        let factor = LltRef::new(&self.symbolic.factor, &self.factor);
        let stack = MemStack::new(&mut self.workspace);
        let mut column = ColMut::from_slice_mut(x);
        factor.solve_in_place_with_conj(Conj::No, column.rb_mut().as_mat_mut(), Par::Seq, stack);
        x.iter().all(|x| x.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrow() -> SymbolicSparseColMat<usize> {
        SymbolicSparseColMat::new_checked(3, 3, vec![0, 3, 4, 5], None, vec![0, 1, 2, 1, 2])
    }

    /// Tests that a factor does not depend on earlier factors or on a failed factorization,
    /// although its memory is reused.
    #[test]
    fn a_matrix_is_factored_again_and_again() -> Result<()> {
        let mut cholesky = Cholesky::new(Symbolic::new(arrow())?)?;
        // The matrix of this test, whose last diagonal element is negative once:
        // | 4 2 2 |
        // | 2 5 0 |
        // | 2 0 6 |
        for last in [6.0, -1.0, 6.0] {
            let mut x = [8.0, 7.0, 8.0];
            let solved = cholesky.factor(&[4.0, 2.0, 2.0, 5.0, last]) && cholesky.solve(&mut x);
            assert_eq!(solved, last > 0.0);
            assert!(!solved || x.iter().all(|x| (x - 1.0).abs() < 1e-15), "{x:?}");
        }
        assert!(cholesky.factor(&[4.0, 2.0, 2.0, 5.0, 6.0]) && !cholesky.solve(&mut [f64::NAN, 0.0, 0.0]));
        Cholesky::new(Symbolic::new(SymbolicSparseColMat::new_checked(0, 0, vec![0], None, vec![]))?)?;
        Ok(())
    }

    #[test]
    fn a_column_without_its_diagonal_is_refused() {
        let empty = SymbolicSparseColMat::new_checked(2, 2, vec![0, 1, 1], None, vec![0]);
        assert_eq!(
            Symbolic::new(empty).err().unwrap().to_string(),
            "column 1 of the linear system does not begin on its diagonal"
        );
    }

    /// Tests that the global setting of `faer` does not change the factor. With those functions of
    /// `faer` that use the global setting, 323 of the 600 elements in this test differed between
    /// `Par::Seq` and `Par::rayon(16)`.
    #[test]
    fn bits_depend_on_no_number_of_threads() -> Result<()> {
        let n = 600;
        let ends = (0..=n).scan(0, |end, col| Some(std::mem::replace(end, *end + n - col))).collect();
        let rows = (0..n).flat_map(|col| col..n).collect();
        let mut cholesky = Cholesky::new(Symbolic::new(SymbolicSparseColMat::new_checked(n, n, ends, None, rows))?)?;
        let value =
            |(col, row)| if row == col { n as f64 } else { ((row * 7919 + col * 104_729) % 1000) as f64 / 1000.0 };
        let values: Vec<f64> = (0..n).flat_map(|col| (col..n).map(move |row| (col, row))).map(value).collect();
        let mut solved = |parallelism, threads| {
            let before = faer::get_global_parallelism();
            faer::set_global_parallelism(parallelism);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut x: Vec<f64> = (0..n).map(|i| i as f64 - 300.0).collect();
            assert!(pool.install(|| cholesky.factor(&values) && cholesky.solve(&mut x)));
            faer::set_global_parallelism(before);
            x.into_iter().map(f64::to_bits).collect::<Vec<_>>()
        };
        let alone = solved(Par::Seq, 1);
        for threads in [1, 2, 16] {
            assert_eq!(solved(Par::rayon(threads), threads), alone, "{threads} threads");
        }
        Ok(())
    }
}
