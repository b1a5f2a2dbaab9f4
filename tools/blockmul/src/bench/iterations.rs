//! The products of one iteration of a least-squares solver. Plans are made once; products are
//! verified, then timed.
use super::measure::{Bench, Subject, equal_groups, same, same_bits};
use super::record::Record;
use crate::matrix_size::Size;
use crate::messages::Unit;
use blockmul::solver::least_squares::{Normal, start};
use blockmul::solver::problem::{self, AnyProblem, Edges, LeastSquares, Linearization, Loss};
use blockmul::{
    Bsr, DeviceMatrix, Error, Part, Plan, Planned, Product, Result,
    device::StageTime,
    product::Weights,
    reference,
    solver::{Damping, Elimination, NormalEquations},
};
use std::path::Path;

/// Damping of the Schur complement relative to the diagonal; a solver starts with this value.
const LAMBDA: f64 = 1e-4;

impl Bench<'_> {
    /// Measures every product of an iteration of the problem in `path`, linearised at its start, on
    /// every device.
    pub fn iteration(&self, path: &Path) -> Result<Vec<Record>> {
        self.messages.step(format!("reading {}", path.display()));
        let name = name(path);
        // The weights used here are those of the solver.
        let file = problem::read_with(path, self.args.edges.map(Edges::from))?;
        let (problem, rewarding) = start::weighable(file.problem);
        if let Some(start::Rewarding { count, .. }) = rewarding {
            let text = "information matrices have negative eigenvalues: all are made isotropic";
            self.messages.say(&format!("{name}: {count} {text}"));
        }
        let (problem, mut records) = (AnyProblem::new(problem, Loss::Squared)?, Vec::new());
        for place in &self.devices {
            let mut linearization = problem.prepare(&place.device)?;
            problem.linearize(&problem.start(), &mut linearization)?;
            let on = Subject { bench: self, place, operation: "plan", together: 1, name: name.clone() };
            records.extend(Iteration { on, linearization: &linearization }.records()?);
        }
        Ok(records)
    }
}

/// Name of the problem, such as `problem-49-7776` for `problem-49-7776-pre.txt.gz`.
fn name(path: &Path) -> String {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = file.split('.').next().unwrap_or_default();
    stem.strip_suffix("-pre").unwrap_or(stem).to_owned()
}

/// A linearised problem on a device.
struct Iteration<'a> {
    on: Subject<'a>,
    linearization: &'a Linearization,
}

impl Iteration<'_> {
    fn records(&self) -> Result<Vec<Record>> {
        let j = self.linearization.jacobian();
        let mut normal = Normal::new(self.linearization)?;
        self.on.bench.messages.step(format!("{}: the reference", self.on.name));
        let right = self.h_is_right(&mut normal)?;
        let mut records = if let (1, Some(cameras), Some(points), None) =
            (j.row_groups().len(), j.get(0, 0), j.get(0, 1), self.linearization.weights())
        {
            let triangle = |of: &DeviceMatrix<Bsr<f64>>| Product::gram(of).part(Part::Upper).plan();
            vec![
                self.plan("U", [cameras, cameras], triangle(cameras)?)?,
                self.plan("W", [cameras, points], Product::of(cameras.t(), points).plan()?)?,
                self.plan("V", [points, points], triangle(points)?)?,
            ]
        } else {
            let record = self.record("H", self.size_of_j(), normal.h().nnz(), right)?.costing(normal.cost());
            vec![self.on.timed(record, &mut || normal.multiply(self.linearization))?]
        };
        if j.col_groups().len() == 2 {
            records.extend(self.with_schur(&mut normal, right)?);
        }
        Ok(records)
    }

    /// Measures Z = W·L⁻ᵀ, where V = L·Lᵀ, then S, and all products of an iteration: H, its
    /// gradient, S and its right-hand side.
    fn with_schur(&self, normal: &mut Normal, right: bool) -> Result<[Record; 3]> {
        normal.enqueue(self.linearization)?;
        let equations = damped(normal);
        let NormalEquations { u, w, v, b_c, b_p, damping, .. } = equations;
        let elimination = Elimination::formed(&u.pattern(), &w.pattern(), &v.pattern())?;
        let mut reduced = elimination.output()?;
        elimination.execute(equations, &mut reduced)?;
        let want = reference::schur(
            &u.download()?,
            &w.download()?,
            &v.download()?,
            &b_c.download()?,
            &b_p.download()?,
            damping,
        )?;
        let right =
            right && same(&reduced.s()?.download()?, &want.s) && same_bits(&reduced.rhs()?.download()?, &want.rhs);
        let z_size = [Size::on_device(w), Size::on_device(v)];
        let s_size = [Size::on_device(w), Size::on_device(w.as_transpose())];
        let (w_nnz, s_nnz) = (w.nnz(), reduced.s()?.nnz());
        let (c, p) = (w.shape().rows() as u64, w.shape().cols() as u64);
        // Z and the factors are intermediate results, which the reduced system holds.
        let (cost, normal_cost) = (elimination.cost(), normal.cost());
        let peak_device_bytes = cost.device_bytes + reduced.device_bytes();
        let mut of_z = Record {
            products: w_nnz as u64,
            flops: 2 * w_nnz as u64 * c * p * p,
            peak_device_bytes,
            ..self.record("Z", z_size, w_nnz, right)?
        };
        let mut of_s = Record {
            products: cost.products,
            flops: 2 * cost.products * c * p * c,
            peak_device_bytes,
            ..self.record("S", s_size, s_nnz, right)?
        };
        let all = Record {
            products: normal_cost.products + of_z.products + of_s.products,
            flops: normal_cost.flops + of_z.flops + of_s.flops,
            peak_device_bytes: normal_cost.device_bytes + peak_device_bytes,
            ..self.record("all", self.size_of_j(), s_nnz, right)?
        };
        if right {
            let (mut z_ms, mut s_ms) = (Vec::new(), Vec::new());
            let sum = |stages: &[StageTime], names: [&str; 2]| {
                let of = stages.iter().filter(|stage| names.contains(&stage.name));
                let ms = of.clone().map(|stage| stage.ms).sum::<Option<f64>>();
                (ms, of.map(|stage| stage.launches).sum())
            };
            let progress = self.on.bench.messages.measured(format!("{} S", self.on.name), Unit::Runs);
            self.on.bench.args.patience.rounds(&progress, &mut || {
                let stages = elimination.execute_with_report(equations, &mut reduced)?.stages;
                let (z, s) = (sum(&stages, ["factor", "solve"]), sum(&stages, ["compression", "base"]));
                z_ms.extend(z.0);
                s_ms.extend(s.0);
                (of_z.launches, of_s.launches) = (z.1, s.1);
                Ok(())
            })?;
            (of_z, of_s) = (of_z.timed(z_ms, &[]), of_s.timed(s_ms, &[]));
        }
        let all = self.on.timed(all, &mut || {
            normal.enqueue(self.linearization)?;
            elimination.execute(damped(normal), &mut reduced).map(drop)
        })?;
        Ok([of_z, of_s, all])
    }

    /// Measures one product of two cells of J.
    fn plan(&self, what: &str, [a, b]: [&DeviceMatrix<Bsr<f64>>; 2], plan: Plan<Bsr<f64>>) -> Result<Record> {
        let mut c = plan.output()?;
        plan.execute((a, b), &mut c)?;
        let (a_host, b_host) = (a.download()?, b.download()?);
        let transpose = Bsr::from_transpose(a_host.into_transpose().transpose());
        let want = match what {
            "W" => reference::multiply(&transpose, &b_host)?,
            _ => reference::gram(&b_host, Part::Upper)?,
        };
        let right = same(&c.download()?, &want);
        let sizes = [Size::on_device(a), Size::on_device(b)];
        let record = self.record(what, sizes, c.nnz(), right)?.costing(plan.cost());
        self.on.timed(record, &mut || plan.execute((a, b), &mut c).map(drop))
    }

    fn record(&self, what: &str, [a, b]: [Size; 2], c_nnz: usize, right: bool) -> Result<Record> {
        let Subject { bench, place, operation, name, .. } = &self.on;
        let record = place.record(&bench.messages, format!("{name} {what}"), (*operation).to_owned())?;
        Ok(Record { a, b, c_nnz, verified: right, ..record })
    }

    /// Size of the first cell of J.
    fn size_of_j(&self) -> [Size; 2] {
        let first = self.linearization.jacobian().get(0, 0);
        [first.map(Size::on_device).unwrap_or_default(); 2]
    }

    /// Whether H equals the reference, to the bit.
    fn h_is_right(&self, normal: &mut Normal) -> Result<bool> {
        normal.multiply(self.linearization)?;
        let j = self.linearization.jacobian().download()?;
        let want = match self.linearization.weights() {
            None => reference::gram_groups(&j, Normal::PARTS)?,
            Some(weights) => {
                let host = weights.iter().map(|weights| match weights {
                    Weights::Information(information) => information.download(),
                    _ => Err(Error::Argument("no robust loss is timed".into())),
                });
                let host = host.collect::<Result<Vec<_>>>()?;
                let host: Vec<Weights<_, &[f64]>> = host.iter().map(Weights::Information).collect();
                reference::gram_groups_weighted(&j, &host, Normal::PARTS)?
            }
        };
        Ok(equal_groups(normal.h().download()?.into_any(), want.into_any()))
    }
}

/// The equations to reduce, with the damping of a solver's first step.
fn damped(normal: &Normal) -> NormalEquations<'_, f64> {
    normal.equations(Damping::Marquardt(LAMBDA)).expect("two groups of unknowns")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_problems() {
        for (path, want) in [
            ("/a/problem-49-7776-pre.txt.gz", "problem-49-7776"),
            ("sphere2500.g2o.gz", "sphere2500"),
            ("x-pre.txt.bz2", "x"),
            ("graph", "graph"),
        ] {
            assert_eq!(name(Path::new(path)), want);
        }
    }
}
