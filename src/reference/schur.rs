//! The Schur complement on the CPU. The tests compare results of devices with it. If there is no
//! OpenCL, the command uses it.
use crate::{
    Cbc, Element, Error, Matrix, Pattern, Real, Result,
    matrix::union,
    primitives::segmented_reduce::RUN_PIECE,
    reference,
    solver::schur::system::{Damped, Damping, check_lower, check_sizes, identity, least_pivot, length, packed},
};

/// The normal equations reduced to the cameras, on the host: the result of
/// [`reference::schur`](crate::reference::schur).
#[derive(Debug, Clone)]
pub struct Reduced<T> {
    /// The blocks of S on and below the diagonal.
    pub s: Cbc<T>,
    /// The right-hand side r.
    pub rhs: Vec<T>,
    z: Cbc<T>,
    factors: Vec<T>,
    y: Vec<T>,
}

/// Damping of [`schur`] with floors. The floors are the [`Floors`](crate::solver::Floors) of
/// devices, on the host. A [`Damping`] converts to a damping without floors.
#[derive(Debug, Clone, Copy)]
pub struct FlooredDamping<'a, T> {
    /// The damping.
    pub damping: Damping,
    /// A floor for each coordinate of a block of U; empty for no floors.
    pub cameras: &'a [T],
    /// A floor for each coordinate of a block of V; empty for no floors.
    pub points: &'a [T],
}

impl<T> From<Damping> for FlooredDamping<'_, T> {
    fn from(damping: Damping) -> Self {
        Self { damping, cameras: &[], points: &[] }
    }
}

/// Computes the Schur complement S = U' - W·V'⁻¹·Wᵀ and the right-hand side r = b_c - W·V'⁻¹·b_p.
/// See [`Elimination`](crate::solver::Elimination) for U, W and V; its results have the same bits
/// as S and r.
///
/// Every sum is formed term by term in ascending order, and each multiplication is rounded before
/// it is added or subtracted.
///
/// * Damping: v'ⱼⱼ is vⱼⱼ + (λ·max(vⱼⱼ, floorⱼ)) or vⱼⱼ + λ, depending on the [`Damping`]. If
///   floorⱼ is infinite, v'ⱼⱼ is 1.
/// * Factors, column by column, with sums over k < j: ρⱼ = 1/√(v'ⱼⱼ - Σ lⱼₖ²), lᵢⱼ = (vᵢⱼ - Σ
///   lᵢₖ·lⱼₖ)·ρⱼ, yⱼ = (bⱼ - Σ lⱼₖ·yₖ)·ρⱼ, zᵣⱼ = (wᵣⱼ - Σ zᵣₖ·lⱼₖ)·ρⱼ.
/// * S: the products of Z·Zᵀ are added in the order of
///   [`reference::multiply`](crate::reference::multiply), and their sum is subtracted from U'.
/// * r: an element of Z·y is a sum along a row of Z, and within a block over its columns. The sum
///   is cut into pieces of 1024 blocks and subtracted from b_c.
/// * Back-substitution: an element of Zᵀ·x_c is a sum along a column of Z, cut in the same way, and
///   t is y - Zᵀ·x_c. From the last j to the first, xⱼ = (tⱼ - Σ lₖⱼ·xₖ)·ρⱼ with sums over k > j.
///
/// # Errors
/// [`Error::NotPositiveDefinite`] with the first block of V' that is not positive definite;
/// [`Error::Argument`] or [`Error::Length`] if sizes do not fit, if V does not consist of exactly
/// its diagonal blocks, if U has a block above the diagonal without its mirror image below, or if λ
/// is negative or not finite; [`Error::Memory`].
///
/// ```
/// use blockmul::solver::Damping;
/// use blockmul::{BlockShape, Cbc, reference};
/// let block = |x: f64| [(0, 0, nalgebra::dmatrix![x])];
/// let scalar = |x: f64| Cbc::from_triplets(1, 1, BlockShape::SCALAR, block(x));
/// let (u, w, v) = (scalar(3.0)?, scalar(2.0)?, scalar(4.0)?);
/// let reduced = reference::schur(&u, &w, &v, &[1.0], &[8.0], Damping::None)?;
/// assert_eq!((reduced.s.values(), &reduced.rhs[..]), (&[2.0][..], &[-3.0][..]));
/// assert_eq!(reduced.back_substitute(&[-1.5])?, [2.75]);
/// # Ok::<(), blockmul::Error>(())
/// ```
pub fn schur<'a, T: Real>(
    u: &Cbc<T>,
    w: &Cbc<T>,
    v: &Cbc<T>,
    b_c: &[T],
    b_p: &[T],
    damping: impl Into<FlooredDamping<'a, T>>,
) -> Result<Reduced<T>> {
    let [u_size, w_size, v_size] = [u, w, v].map(|matrix| matrix.as_cbc().dimensions());
    check_sizes([u_size, w_size, v_size])?;
    let (cameras, points, p) = (u.scalar_rows(), v.scalar_rows(), w.shape().cols());
    let FlooredDamping { damping, cameras: of_u, points: of_v } = damping.into();
    for (array, floors, expected) in [("floors of cameras", of_u, w.shape().rows()), ("floors of points", of_v, p)] {
        let (found, why) = (floors.len(), "a floor for each coordinate of a block".into());
        if ![0, expected].contains(&found) {
            return Err(Error::Length { array, found, expected, why });
        }
    }
    for (array, vector, expected, of) in [("b_c", b_c, cameras, u_size), ("b_p", b_p, points, v_size)] {
        if vector.len() != expected {
            return Err(length(array, vector.len(), of));
        }
    }
    if v.nnz() != v.ncols() || (0..v.ncols()).any(|col| v.pattern().column(col) != [col as u32]) {
        return Err(Error::Argument(format!("V must have exactly its {} diagonal blocks", v.ncols())));
    }
    check_lower(u.pattern())?;
    let [scale, shift] = damping.terms(T::TYPE)?.map(<T as Element>::from_f64);
    let damped = Damped { scale, shift };

    let (mut factors, mut y) = (Vec::with_capacity(v.ncols() * packed(p)), Vec::with_capacity(points));
    for (block, right) in b_p.chunks_exact(p).enumerate() {
        let l = factor(v.as_cbc().block(block), p, damped, of_v);
        let l = l.ok_or(Error::NotPositiveDefinite { matrix: "V, damped,", block })?;
        forward(&l, right.iter().copied(), |value| y.push(value));
        factors.extend(l);
    }
    let z = solve(w, &factors)?;
    let s = subtract(u, &lower(&reference::multiply(&z, &z.try_transpose()?)?)?, damped, of_u)?;
    let (rows, entries) = z.pattern().try_transpose()?;
    let c = w.shape().rows();
    let mut rhs = Vec::with_capacity(cameras);
    for camera in 0..w.nrows() {
        let (terms, first) = (rows.column(camera), rows.entries(camera).start);
        for row in 0..c {
            let sum = sum(terms.len(), |sum, t| {
                let (block, y) = (z.as_cbc().block(entries[first + t]), &y[terms[t] as usize * p..]);
                (0..p).for_each(|k| *sum += block[k * c + row] * y[k]);
            });
            rhs.push(b_c[camera * c + row] - sum);
        }
    }
    Ok(Reduced { s, rhs, z, factors, y })
}

impl<T: Real> Reduced<T> {
    /// The part of the solution that belongs to the points, x_p = V'⁻¹·(b_p - Wᵀ·x_c).
    ///
    /// # Errors
    /// [`Error::Length`] if `x_c` does not have one element for each scalar row of S.
    pub fn back_substitute(&self, x_c: &[T]) -> Result<Vec<T>> {
        if x_c.len() != self.rhs.len() {
            return Err(length("x_c", x_c.len(), self.s.as_cbc().dimensions()));
        }
        let (c, p) = (self.z.shape().rows(), self.z.shape().cols());
        let mut x_p = self.y.clone();
        for (point, x) in x_p.chunks_exact_mut(p).enumerate() {
            let (terms, first) = (self.z.pattern().column(point), self.z.pattern().entries(point).start);
            let l = &self.factors[point * packed(p)..];
            for (col, x) in x.iter_mut().enumerate() {
                *x -= sum(terms.len(), |sum, t| {
                    let (block, x_c) = (self.z.as_cbc().block(first + t), &x_c[terms[t] as usize * c..]);
                    (0..c).for_each(|k| *sum += block[col * c + k] * x_c[k]);
                });
            }
            for j in (0..p).rev() {
                for k in j + 1..p {
                    x[j] -= l[at(k, j, p)] * x[k];
                }
                x[j] *= l[at(j, j, p)];
            }
        }
        Ok(x_p)
    }
}

/// Index of element (i, j), with i >= j, in the array of a factor.
fn at(i: usize, j: usize, p: usize) -> usize {
    j * (2 * p - 1 - j) / 2 + i
}

impl<T: Real> Damped<T> {
    /// Damps a diagonal element in the same way as `cl/solver/schur/damping.cl`. If there is no
    /// floor, the damping is relative to the element itself.
    fn apply(self, x: T, floor: Option<T>) -> T {
        match floor {
            Some(floor) if floor.to_f64() == f64::INFINITY => T::one(),
            Some(floor) if x < floor => x + (self.scale * floor + self.shift),
            _ => x + (self.scale * x + self.shift),
        }
    }
}

/// The Cholesky factor of a block, with the reciprocals of its diagonal in place of the diagonal,
/// or `None` if the block is not positive definite.
fn factor<T: Real>(block: &[T], p: usize, damped: Damped<T>, floors: &[T]) -> Option<Vec<T>> {
    let mut l = vec![T::zeroed(); packed(p)];
    for j in 0..p {
        for i in j..p {
            let mut value = block[j * p + i];
            if i == j {
                value = damped.apply(value, floors.get(j).copied());
            }
            for k in 0..j {
                value -= l[at(i, k, p)] * l[at(j, k, p)];
            }
            if i > j {
                l[at(i, j, p)] = value * l[at(j, j, p)];
            } else if value.to_f64() >= least_pivot(T::TYPE) && value.is_finite() {
                l[at(j, j, p)] = T::one() / value.sqrt();
            } else {
                return None;
            }
        }
    }
    Some(l)
}

/// Computes L⁻¹ times a vector.
fn forward<T: Real>(l: &[T], right: impl ExactSizeIterator<Item = T>, mut put: impl FnMut(T)) {
    let p = right.len();
    let mut solved = Vec::with_capacity(p);
    for (j, mut value) in right.enumerate() {
        for (k, &x) in solved.iter().enumerate() {
            value -= l[at(j, k, p)] * x;
        }
        value *= l[at(j, j, p)];
        solved.push(value);
        put(value);
    }
}

/// Z = W·L⁻ᵀ, block column by block column.
fn solve<T: Real>(w: &Cbc<T>, factors: &[T]) -> Result<Cbc<T>> {
    let (c, p, area) = (w.shape().rows(), w.shape().cols(), w.shape().area());
    let mut values = vec![T::zeroed(); w.nnz() * area];
    for point in 0..w.ncols() {
        let l = &factors[point * packed(p)..];
        for entry in w.pattern().entries(point) {
            let (from, to) = (w.as_cbc().block(entry), &mut values[entry * area..][..area]);
            for row in 0..c {
                let mut col = 0;
                forward(l, (0..p).map(|j| from[j * c + row]), |value| {
                    to[col * c + row] = value;
                    col += 1;
                });
            }
        }
    }
    Cbc::new(w.pattern().clone(), w.shape(), values)
}

/// The blocks of a matrix on and below the diagonal.
fn lower<T: Element>(of: &Cbc<T>) -> Result<Cbc<T>> {
    let (mut col_ptr, mut row_idx, mut values) = (vec![0], Vec::new(), Vec::new());
    for col in 0..of.ncols() {
        for entry in of.pattern().entries(col).filter(|&entry| of.pattern().row_idx()[entry] as usize >= col) {
            row_idx.push(of.pattern().row_idx()[entry]);
            values.extend_from_slice(of.as_cbc().block(entry));
        }
        col_ptr.push(row_idx.len() as u64);
    }
    Cbc::new(Pattern::trusted(of.nrows(), of.ncols(), col_ptr, row_idx), of.shape(), values)
}

/// U' - product, with all diagonal blocks stored. The product has no block above the diagonal.
fn subtract<T: Real>(u: &Cbc<T>, product: &Cbc<T>, damped: Damped<T>, floors: &[T]) -> Result<Cbc<T>> {
    let (u, shape) = (with_diagonal(u)?, u.shape());
    let (mut col_ptr, mut row_idx, mut values) = (vec![0], Vec::new(), Vec::new());
    for col in 0..u.ncols() {
        let (u_first, p_first) = (u.pattern().entries(col).start, product.pattern().entries(col).start);
        for (row, in_u, in_product) in union(u.pattern().column(col), product.pattern().column(col)) {
            let of_u = in_u.map(|entry| u.as_cbc().block(u_first + entry));
            let of_product = in_product.map(|entry| product.as_cbc().block(p_first + entry));
            row_idx.push(row);
            values.extend((0..shape.area()).map(|i| {
                let mut value = of_u.map(|block| block[i]);
                if let Some(x) = value.as_mut().filter(|_| row as usize == col && i % (shape.rows() + 1) == 0) {
                    *x = damped.apply(*x, floors.get(i / (shape.rows() + 1)).copied());
                }
                match (value, of_product.map(|block| block[i])) {
                    (Some(x), Some(y)) => x - y,
                    (Some(x), None) => x,
                    (None, Some(y)) => -y,
                    (None, None) => T::zeroed(),
                }
            }));
        }
        col_ptr.push(row_idx.len() as u64);
    }
    Cbc::new(Pattern::trusted(u.nrows(), u.ncols(), col_ptr, row_idx), shape, values)
}

/// The blocks of U on and below the diagonal. Diagonal blocks that are not stored become zeros.
fn with_diagonal<T: Element>(u: &Cbc<T>) -> Result<Cbc<T>> {
    let (lower, n, shape) = (lower(u)?, u.ncols(), u.shape());
    let diagonal = identity(n);
    let (mut col_ptr, mut row_idx, mut values) = (vec![0], Vec::new(), Vec::new());
    for col in 0..n {
        let first = lower.pattern().entries(col).start;
        for (row, entry, _) in union(lower.pattern().column(col), diagonal.column(col)) {
            row_idx.push(row);
            match entry {
                Some(entry) => values.extend_from_slice(lower.as_cbc().block(first + entry)),
                None => values.extend(vec![T::zeroed(); shape.area()]),
            }
        }
        col_ptr.push(row_idx.len() as u64);
    }
    Cbc::new(Pattern::trusted(n, n, col_ptr, row_idx), shape, values)
}

/// The sum of some terms, in pieces of [`RUN_PIECE`] terms. Each piece starts from -0.0, which
/// changes no bit of its first term.
fn sum<T: Real>(terms: usize, add: impl Fn(&mut T, usize)) -> T {
    let mut total = -T::zero();
    for start in (0..terms).step_by(RUN_PIECE) {
        let mut piece = -T::zero();
        (start..terms.min(start + RUN_PIECE)).for_each(|term| add(&mut piece, term));
        total += piece;
    }
    total
}
