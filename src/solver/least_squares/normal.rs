//! The normal equations H·x = b of a linearised problem, on the device: H = JᵀWJ, b =
//! -Jᵀ·(W·e).
use super::{
    damping::DampingRule,
    floors::{DampingFloors, WithoutInfluence},
};
use crate::{
    BlockGroups, Bsr, Cbc, Device, DeviceGroups, DeviceMatrix, DeviceVector, Error, GramParts, Part, Plan, Planned,
    Product, Result,
    apply::Apply,
    planned::{Accum, Cost},
    product::Inputs,
    solver::{Damping, NormalEquations, problem::Linearization},
    vector::Diagonal,
};

/// Plans for a Jacobian J of one pattern, and the results of the plans.
///
/// For two groups of unknowns, H = [U W; Wᵀ V]. The plans compute Wᵀ, and U and V on and above the
/// diagonal. The computed matrices are row-major, like J. Read by columns, their arrays are the
/// lower triangle of U, W, and V, which are the operands of an
/// [`Elimination`](crate::solver::Elimination).
pub struct Normal {
    product: Plan<BlockGroups<Bsr<f64>>>,
    h: DeviceGroups<Bsr<f64>>,
    /// For each group of unknowns, the plans that multiply the cells of J in its columns. Each plan
    /// comes with the number of the group of rows that contains its cell.
    gradients: Vec<Vec<(usize, Apply<Bsr<f64>>)>>,
    b: Vec<DeviceVector<f64>>,
    diagonals: Vec<(Diagonal<Bsr<f64>>, DeviceVector<f64>)>,
    /// b and the diagonal of H, on the host.
    host: Vec<[Vec<f64>; 2]>,
    floors: DampingFloors,
}

impl Normal {
    /// Prepares plans for linearizations with the pattern of this one.
    ///
    /// # Errors
    /// [`Error::Argument`] if the problem has no unknowns; [`Error::Memory`], [`Error::TooLarge`],
    /// [`Error::Unsupported`].
    pub fn new(linearization: &Linearization) -> Result<Self> {
        let j = linearization.jacobian();
        let (rows, cols) = (j.row_groups().len(), j.col_groups());
        let device = j.device();
        let (mut gradients, mut b, mut diagonals) = (Vec::new(), Vec::new(), Vec::new());
        // The kernels of the diagonals are requested before the first plan waits for its own
        // kernels. So the kernels of the diagonals are compiled together with the kernels of H,
        // which is planned last.
        cols.iter().try_for_each(|group| Diagonal::<Bsr<f64>>::ask_scalars(device, group.side))?;
        for (col, group) in cols.iter().enumerate() {
            let cells = (0..rows).filter_map(|row| Some((row, j.get(row, col)?)));
            let plan = |(row, cell): (usize, &DeviceMatrix<_>)| Ok((row, Apply::transposed(&cell.pattern())?));
            gradients.push(cells.map(plan).collect::<Result<Vec<_>>>()?);
            b.push(device.zero_vector(group.scalars())?);
        }
        let weights = linearization.weights();
        let gram = Product::gram(j).part(Self::PARTS);
        let product = if let Some(weights) = &weights { gram.weighted(weights).plan()? } else { gram.plan()? };
        let h = product.output()?;
        for col in 0..cols.len() {
            let on_diagonal = h.get(col, col).ok_or_else(|| Error::Argument("the problem has no unknowns".into()))?;
            let diagonal = Diagonal::new(&on_diagonal.pattern())?;
            let scalars = diagonal.scalars().output()?;
            diagonals.push((diagonal, scalars));
        }
        let host = cols.iter().map(|group| [vec![0.0; group.scalars()], vec![0.0; group.scalars()]]).collect();
        let floors = DampingFloors::new(cols.iter().map(|group| group.side));
        Ok(Self { product, h, gradients, b, diagonals, host, floors })
    }

    /// Computes H, b and the diagonal of H at a linearization. The function waits for the device,
    /// and copies b and the diagonal to the host.
    ///
    /// # Errors
    /// [`Error::PlanPattern`] or [`Error::Argument`] for a linearization of another problem,
    /// [`Error::OpenCl`].
    pub fn form(&mut self, linearization: &Linearization) -> Result<()> {
        self.enqueue(linearization)?;
        for (((_, scalars), b), [b_host, d_host]) in self.diagonals.iter().zip(&self.b).zip(&mut self.host) {
            b.download_into(b_host)?;
            scalars.download_into(d_host)?;
        }
        self.floors.update(self.h.device(), diagonals(&self.host))
    }

    /// Computes only H, without waiting.
    ///
    /// # Errors
    /// The errors of [`Normal::form`].
    pub fn multiply(&mut self, linearization: &Linearization) -> Result<()> {
        let j = linearization.jacobian();
        let weights = linearization.weights();
        let inputs = if let Some(weights) = &weights { Inputs::of(j).weights(&weights[..]) } else { Inputs::of(j) };
        self.product.execute(inputs, &mut self.h).map(drop)
    }

    /// Computes the results of [`Normal::form`] without waiting. Nothing is copied to the host.
    ///
    /// # Errors
    /// The errors of [`Normal::form`].
    pub fn enqueue(&mut self, linearization: &Linearization) -> Result<()> {
        self.multiply(linearization)?;
        let j = linearization.jacobian();
        for (col, (plans, b)) in self.gradients.iter().zip(&mut self.b).enumerate() {
            for (number, (row, plan)) in plans.iter().enumerate() {
                let (Some(cell), residual) = (j.get(*row, col), &linearization.weighted_residuals()[*row]) else {
                    continue;
                };
                plan.execute(
                    (cell, residual),
                    Accum::into(&mut *b).alpha(-1.0).beta(if number == 0 { 0.0 } else { 1.0 }),
                )?;
            }
        }
        for (group, (diagonal, scalars)) in self.diagonals.iter_mut().enumerate() {
            if let Some(h) = self.h.get(group, group) {
                diagonal.scalars().execute(h, scalars)?;
            }
        }
        Ok(())
    }

    /// H. In its diagonal cells only the blocks on and above the diagonal are computed.
    pub fn h(&self) -> &DeviceGroups<Bsr<f64>> {
        &self.h
    }

    /// The lower triangles of U and V, and W, by columns, or `None` if there is one group of
    /// unknowns.
    pub fn parts(&self) -> Option<[&DeviceMatrix<Cbc<f64>>; 3]> {
        let part = |row, col| self.h.get(row, col).map(|part| part.as_transpose());
        Some([part(0, 0)?, part(1, 0)?, part(1, 1)?])
    }

    /// The matrices of [`Normal::parts`], b and the damping, as the input of an
    /// [`Elimination`](crate::solver::Elimination), or `None` if there is one group of unknowns. If
    /// the last [`Normal::form`] found unknowns without influence, damping has floors.
    pub fn equations(&self, damping: Damping) -> Option<NormalEquations<'_, f64>> {
        let [u, w, v] = self.parts()?;
        let [b_c, b_p] = &self.b[..] else { return None };
        Some(NormalEquations { u, w, v, b_c, b_p, damping, floors: self.floors.on_device() })
    }

    /// b of each group of unknowns.
    pub fn b(&self) -> &[DeviceVector<f64>] {
        &self.b
    }

    /// b of a group on the host, from the last [`Normal::form`].
    pub fn b_on_host(&self, group: usize) -> &[f64] {
        &self.host[group][0]
    }

    /// The largest element of the gradient.
    pub fn gradient(&self) -> f64 {
        self.host.iter().flat_map(|[b, _]| b).fold(0.0, |most, x| x.abs().max(most))
    }

    /// Whether b and the diagonal of H are finite on the host, from the last [`Normal::form`]. If
    /// the diagonal is finite, all of H is finite, because |Hᵢⱼ| ≤ √(Hᵢᵢ·Hⱼⱼ).
    pub fn is_finite(&self) -> bool {
        self.host.iter().flatten().flatten().all(|x| x.is_finite())
    }

    /// The largest cosine |bⱼ|/√(Hⱼⱼ·2·cost) of an angle between the weighted residuals and a
    /// weighted column of J. The cosine is 0 at a minimum, and does not depend on units. With a
    /// robust loss the result is below the cosine, because the sum of the squared weighted
    /// residuals is less than 2·cost.
    pub fn relative_gradient(&self, cost: f64) -> f64 {
        // The product of the diagonal element and the cost may overflow.
        let length = (2.0 * cost).sqrt();
        let of = |(b, d): (&f64, &f64)| if *b == 0.0 { 0.0 } else { b.abs() / d.sqrt() / length };
        self.host.iter().flat_map(|[b, d]| b.iter().zip(d).map(of)).fold(0.0, f64::max)
    }

    /// Element `number` of the diagonal of H in a group of unknowns, whose value is `x`, damped by
    /// λ.
    pub(super) fn damped(&self, group: usize, number: usize, x: f64, lambda: f64) -> f64 {
        self.floors.damped(group, number, x, lambda)
    }

    /// Whether a floor holds back an unknown that alone could lower the cost by more than the share
    /// `least`. An unknown is held back if damping by λ adds more than [`DampingRule::LIGHT`] times
    /// the diagonal element of the unknown to this element.
    pub(super) fn is_held_back(&self, cost: f64, lambda: f64, least: f64) -> bool {
        let length = (2.0 * cost).sqrt();
        let is_held_back = |group: usize, number: usize, b: f64, d: f64| {
            // Subnormal elements have lost digits, so they do not count.
            d >= f64::MIN_POSITIVE
                && (b / d.sqrt() / length).powi(2) > least
                && self.floors.added(group, number, d, lambda) > DampingRule::LIGHT * d
        };
        self.floors.is_needed()
            && self.host.iter().enumerate().any(|(group, [b, d])| {
                b.iter().zip(d).enumerate().any(|(number, (&b, &d))| is_held_back(group, number, b, d))
            })
    }

    /// The coordinates on which no residual depended at the last [`Normal::form`].
    pub fn without_influence(&self) -> WithoutInfluence {
        self.floors.without_influence(diagonals(&self.host))
    }

    /// The decrease of the cost that the model predicts for a step x of (H + D)·x = b: (xᵀb +
    /// xᵀ·D·x)/2. D is the damping by λ, usually λ·diag H.
    pub fn promised(&self, x: &[Vec<f64>], lambda: f64) -> f64 {
        let of = |(group, (x, [b, d])): (usize, (&Vec<f64>, &[Vec<f64>; 2]))| -> f64 {
            let of = |(number, ((x, b), d)): (usize, ((&f64, &f64), &f64))| {
                x * (b + self.floors.added(group, number, *d, lambda) * x)
            };
            x.iter().zip(b).zip(d).enumerate().map(of).sum()
        };
        0.5 * x.iter().zip(&self.host).enumerate().map(of).sum::<f64>()
    }

    /// The part of the predicted decrease for a step x that is due to damping by λ: (xᵀ·D·x)/2.
    pub(super) fn damping(&self, x: &[Vec<f64>], lambda: f64) -> f64 {
        let of = |(group, (x, [_, d])): (usize, (&Vec<f64>, &[Vec<f64>; 2]))| -> f64 {
            x.iter().zip(d).enumerate().map(|(i, (x, d))| self.floors.added(group, i, *d, lambda) * x * x).sum()
        };
        0.5 * x.iter().zip(&self.host).enumerate().map(of).sum::<f64>()
    }

    /// The arithmetic operations of computing H, and the memory that its plan holds.
    pub fn cost(&self) -> Cost {
        self.product.cost()
    }

    /// The parts of H that are computed: see [`Normal`].
    pub const PARTS: GramParts = GramParts { diagonal: Part::Upper, between: Part::Lower };

    /// The device of the plans.
    pub fn device(&self) -> &Device {
        self.h.device()
    }
}

/// The diagonal of H of each group.
fn diagonals(host: &[[Vec<f64>; 2]]) -> impl Iterator<Item = &[f64]> {
    host.iter().map(|[_, diagonal]| &diagonal[..])
}
