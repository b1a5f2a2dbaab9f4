//! Finds information matrices of a graph that a solver cannot use, and replaces them.
use super::{Manifold, PoseGraph};
use nalgebra::DMatrix;

impl<P: Manifold> PoseGraph<P> {
    /// The number of edges whose information matrices have a negative eigenvalue (beyond rounding),
    /// and the names of the ends of the first of these edges.
    ///
    /// If an information matrix Ω has a negative eigenvalue, the sum of eᵀΩe over all edges falls
    /// when an error e grows, and need not have a minimum.
    pub fn indefinite(&self) -> Option<(usize, (u64, u64))> {
        let steps = self.steps.iter().filter(|step| is_indefinite(P::step_information(&step.information)));
        let mut ends = steps.map(|step| (self.pose_name(step.from), self.pose_name(step.to)));
        let sightings = self.sightings.iter().filter(|one| is_indefinite(P::sighting_information(&one.information)));
        let mut seen = sightings.map(|one| (self.pose_name(one.pose), self.landmark_name(one.landmark)));
        let first = ends.next().or_else(|| seen.next())?;
        Some((1 + ends.count() + seen.count(), first))
    }

    /// Number of measurements that lose their weight in [`PoseGraph::isotropic`], because their
    /// information about a translation, rotation or landmark is not zero, but the mean of their
    /// variances is not positive.
    pub fn losing(&self) -> usize {
        let steps = self.steps.iter().filter(|step| {
            let information = P::step_information(&step.information);
            let weights = P::isotropic_weights(&step.information);
            let (side, translation) = (information.len().isqrt(), P::LANDMARK);
            let is_known = |part: std::ops::Range<usize>| part.into_iter().any(|i| information[i * side + i] != 0.0);
            weights
                .iter()
                .zip([0..translation, translation..side])
                .any(|(&weight, part)| weight == 0.0 && is_known(part))
        });
        let sightings = self.sightings.iter().filter(|one| {
            is_zero(P::sighting_information(&P::isotropic_sighting(&one.information)))
                && !is_zero(P::sighting_information(&one.information))
        });
        steps.count() + sightings.count()
    }

    /// Number of measurements with zero information.
    pub fn weightless(&self) -> usize {
        let steps = self.steps.iter().filter(|step| is_zero(P::step_information(&step.information)));
        let sightings = self.sightings.iter().filter(|one| is_zero(P::sighting_information(&one.information)));
        steps.count() + sightings.count()
    }

    /// A copy of the graph in which every information matrix is isotropic. The weights are from D.
    /// M. Rosen, L. Carlone, A. S. Bandeira, J. J. Leonard, *SE-Sync: A Certifiably Correct
    /// Algorithm for Synchronization over the Special Euclidean Group*, 2019: translations get the
    /// weight τ = d/tr(Ω⁻¹), computed from the d rows of Ω for the translation, and rotations get
    /// the weight 2κ. In space κ is 3/(2·tr(Ω⁻¹)), computed from the rows for the rotation; in the
    /// plane κ is the element of Ω for the angle.
    ///
    /// With the isotropic weights χ² is the objective of the paper on SE-Sync: exactly in space,
    /// and up to the fourth power of angles in the plane. Measurements that get no positive weight
    /// by these rules get weight 0: see [`PoseGraph::losing`]. This function must be called only
    /// once, because in the plane each call doubles the weight of rotations.
    pub fn isotropic(mut self) -> Self {
        self.steps.iter_mut().for_each(|step| step.information = P::isotropic_step(&step.information));
        self.sightings.iter_mut().for_each(|one| one.information = P::isotropic_sighting(&one.information));
        self
    }
}

pub(crate) fn is_zero(elements: &[f64]) -> bool {
    elements.iter().all(|&x| x == 0.0)
}

/// Whether a symmetric matrix has a negative eigenvalue that is not due to rounding. The result is
/// found by a factorization and does not depend on the units of rows.
fn is_indefinite(elements: &[f64]) -> bool {
    let side = elements.len().isqrt();
    let matrix = DMatrix::from_column_slice(side, side, elements);
    if matrix.clone().cholesky().is_some() {
        return false;
    }
    let diagonal = matrix.diagonal();
    let scale = diagonal.map(|x| if x > 0.0 { 1.0 / x.sqrt() } else { 1.0 });
    let scaled = DMatrix::from_fn(side, side, |row, col| matrix[(row, col)] * scale[row] * scale[col]);
    diagonal.min() < 0.0 || scaled.symmetric_eigenvalues().min() < -1e-9
}
