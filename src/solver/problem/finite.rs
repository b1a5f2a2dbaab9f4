//! Finds the row of a linearization that makes the linearization, or its normal equations, infinite
//! or NaN.
use super::Linearization;
use crate::{Bsr, Result};

impl Linearization {
    /// Returns the first row of blocks, numbered through all groups of rows, whose residual or
    /// derivative is not finite. If all residuals and derivatives are finite, returns the row whose
    /// product JᵢᵀWᵢJᵢ or JᵢᵀWᵢeᵢ is largest, because this product overflows first. Returns `None`
    /// if there are no rows.
    ///
    /// # Errors
    /// [`Error::OpenCl`](crate::Error::OpenCl), [`Error::Memory`](crate::Error::Memory): copying J
    /// to the host may fail.
    pub fn least_finite_row(&self) -> Result<Option<usize>> {
        let mut sizes: Vec<f64> = Vec::new();
        for (row_group, weighted) in self.weighted.iter().enumerate() {
            let rows = self.jacobian.row_groups()[row_group].blocks;
            let mut derivatives = vec![0.0; rows];
            for col_group in 0..self.jacobian.col_groups().len() {
                if let Some(cell) = self.jacobian.get(row_group, col_group) {
                    raise(&mut derivatives, &cell.download()?);
                }
            }
            let mut information = vec![1.0; rows];
            if let Some(of_group) = self.information.get(row_group) {
                information.fill(0.0);
                raise(&mut information, &of_group.download()?);
            }
            let (residuals, side) = (weighted.download()?, weighted.len() / rows.max(1));
            let residuals = residuals.chunks(side.max(1)).map(largest);
            sizes.extend(derivatives.iter().zip(information).zip(residuals).map(|((&j, w), we)| {
                // The residual itself is included, because its derivative may be 0.
                largest(&[j * w * j, j * we, we])
            }));
        }
        let costs = self.row_costs.iter().map(|row| row.cost).chain(std::iter::repeat(0.0));
        let sizes = sizes.into_iter().zip(costs).map(|(size, cost)| largest(&[size, cost]));
        let first_largest = |best: Option<(usize, f64)>, (row, size)| match best {
            Some((_, most)) if most >= size => best,
            _ => Some((row, size)),
        };
        Ok(sizes.enumerate().fold(None, first_largest).map(|(row, _)| row))
    }
}

/// Raises the number of each row to the largest magnitude in its blocks.
fn raise(rows: &mut [f64], m: &Bsr<f64>) {
    let area = m.shape().area();
    for (row, most) in rows.iter_mut().enumerate() {
        let [first, last] = [m.row_ptr()[row], m.row_ptr()[row + 1]].map(|at| at as usize * area);
        *most = largest(&[*most, largest(&m.values()[first..last])]);
    }
}

/// The largest magnitude, or infinity if a number is NaN.
fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |most, x| if x.is_nan() { f64::INFINITY } else { most.max(x.abs()) })
}

#[cfg(test)]
mod tests {
    use crate::{
        Result,
        device::test_device,
        generate::problem::{Scene, Shape, Walk, bundle_adjustment, pose_graph},
        solver::problem::{BundleProblem, Graph, GraphProblem, LeastSquares, Loss},
    };

    #[test]
    fn the_row_that_is_not_finite_is_found() -> Result<()> {
        let scene = Scene { cameras: 4, points: 30, views: 3, ..Scene::default() };
        for bad in [f64::NAN, f64::INFINITY, 1e200] {
            let mut adjustment = bundle_adjustment(&scene)?;
            // Only one row of the linearization depends on this number.
            adjustment.observations[17].place[1] = bad;
            let problem = BundleProblem::new(adjustment, Loss::Squared)?;
            let mut to = problem.prepare(&test_device())?;
            problem.linearize(&problem.start(), &mut to)?;
            assert_eq!(to.least_finite_row()?, Some(17), "{bad}");
        }
        let mut adjustment = bundle_adjustment(&scene)?;
        let seen = adjustment.observations[20];
        adjustment.cameras[seen.camera as usize][..6].fill(0.0);
        adjustment.points[seen.point as usize] = [0.0; 3];
        let problem = BundleProblem::new(adjustment, Loss::Squared)?;
        let mut to = problem.prepare(&test_device())?;
        problem.linearize(&problem.start(), &mut to)?;
        assert_eq!(to.least_finite_row()?, Some(20));
        Ok(())
    }

    /// Tests that rows of steps are numbered before rows of sightings.
    #[test]
    fn rows_are_counted_through_their_groups() -> Result<()> {
        let walk = Walk { poses: 20, closures: 5, landmarks: 6, shape: Shape::Plane, ..Walk::default() };
        let Graph::Plane(graph) = pose_graph(&walk)? else { unreachable!("asked for in the plane") };
        let steps = graph.steps.len();
        for row in [3, steps + 2] {
            let mut graph = graph.clone();
            match row.checked_sub(steps) {
                Some(sighting) => graph.sightings[sighting].information *= 1e307,
                None => graph.steps[row].information *= 1e307,
            }
            let problem = GraphProblem::new(graph, Loss::Squared)?;
            let mut to = problem.prepare(&test_device())?;
            problem.linearize(&problem.start(), &mut to)?;
            assert_eq!(to.least_finite_row()?, Some(row));
        }
        Ok(())
    }
}
