//! The products of one iteration of a least-squares solver, with plans made once: verified, then
//! timed.
use super::measure::{Bench, Place, same, same_bits};
use super::record::{Execution, Record, Sizes};
use crate::messages::Unit;
use crate::report::Size;
use blockmul::solver::least_squares::{Normal, start};
use blockmul::solver::problem::{
    self, BundleProblem, Edges, Graph, GraphProblem, LeastSquares, Linearization, Loss, Manifold, PoseGraph, Problem,
};
use blockmul::{
    Bsr, Device, DeviceMatrix, Error, Part, Plan, Planned, Product, Result,
    device::StageTime,
    product::Weights,
    reference,
    solver::{Damping, Elimination, NormalEquations},
};
use std::path::Path;
use std::time::Instant;

/// Damping of the Schur complement relative to the diagonal; a solver starts with this value.
const LAMBDA: f64 = 1e-4;

impl Bench<'_> {
    /// Measures every product of an iteration of the problem in `path`, linearised at its start, on
    /// every device.
    pub fn iteration(&self, path: &Path, edges: Option<Edges>) -> Result<Vec<Record>> {
        self.messages.step(format!("reading {}", path.display()));
        let name = name(path);
        match problem::read_with(path, edges)?.problem {
            Problem::BundleAdjustment(problem) => self.of_problem(&name, &BundleProblem::new(problem, Loss::Squared)?),
            Problem::Graph(Graph::Plane(graph)) => self.of_problem(&name, &self.of_graph(&name, graph)?),
            Problem::Graph(Graph::Space(graph)) => self.of_problem(&name, &self.of_graph(&name, graph)?),
            _ => Err(Error::Argument(format!("{}: not a problem this command knows", path.display()))),
        }
    }

    /// The graph with the weights that the solver uses.
    fn of_graph<P: Manifold>(&self, name: &str, graph: PoseGraph<P>) -> Result<GraphProblem<P>> {
        let (graph, rewarding) = start::weighable(graph);
        if let Some(start::Rewarding { count, .. }) = rewarding {
            let text = "information matrices have negative eigenvalues: all are made isotropic";
            self.messages.say(&format!("{name}: {count} {text}"));
        }
        GraphProblem::new(graph, Loss::Squared)
    }

    fn of_problem<P: LeastSquares>(&self, name: &str, problem: &P) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        for place in &self.devices {
            let mut linearization = problem.prepare(&place.device)?;
            problem.linearize(&problem.start(), &mut linearization)?;
            let on = Iteration { bench: self, place, name, linearization: &linearization };
            records.extend(on.records()?);
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
    bench: &'a Bench<'a>,
    place: &'a Place,
    name: &'a str,
    linearization: &'a Linearization,
}

impl Iteration<'_> {
    fn records(&self) -> Result<Vec<Record>> {
        let j = self.linearization.jacobian();
        let mut normal = Normal::new(self.linearization)?;
        self.bench.messages.step(format!("{}: the reference", self.name));
        let right = self.h_is_right(&mut normal)?;
        let mut records = Vec::new();
        if let (1, Some(of_cameras), Some(of_points), None) =
            (j.row_groups().len(), j.get(0, 0), j.get(0, 1), self.linearization.weights())
        {
            records.push(self.plan(
                "U",
                [of_cameras, of_cameras],
                Product::gram(of_cameras).part(Part::Upper).plan()?,
            )?);
            let between = Product::of(of_cameras.t(), of_points).plan()?;
            records.push(self.plan("W", [of_cameras, of_points], between)?);
            records.push(self.plan("V", [of_points, of_points], Product::gram(of_points).part(Part::Upper).plan()?)?);
        } else {
            let took = Execution::of(normal.cost(), 0);
            let (runs, launches) = self.time("H", right, || normal.multiply(self.linearization))?;
            let c_nnz = normal.h().nnz();
            records.push(Record::planned(
                self.sizes("H", self.size_of_j(), c_nnz)?,
                &Execution { launches, ..took },
                runs,
            ));
        }
        if j.col_groups().len() == 2 {
            records.extend(self.with_schur(&mut normal, right)?);
        }
        Ok(records)
    }

    /// Measures Z, S, and all products of an iteration: H, its gradient, S and its right-hand side.
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
        let (mut of_z, mut of_s, mut launches) = (Vec::new(), Vec::new(), [0, 0]);
        let sum = |stages: &[StageTime], names: [&str; 2]| -> (Option<f64>, u32) {
            let of = |stage: &&StageTime| names.contains(&stage.name);
            let ms = stages.iter().filter(of).map(|stage| stage.ms).sum();
            (ms, stages.iter().filter(of).map(|stage| stage.launches).sum())
        };
        let progress = self.bench.messages.measured(format!("{} S", self.name), Unit::Runs);
        if right {
            self.bench.patience.rounds(&progress, &mut || {
                let stages = elimination.execute_with_report(equations, &mut reduced)?.stages;
                let (z, s) = (sum(&stages, ["factor", "solve"]), sum(&stages, ["compression", "base"]));
                of_z.extend(z.0);
                of_s.extend(s.0);
                launches = [z.1, s.1];
                Ok(())
            })?;
        }
        // Z and the factors, intermediate results, are the reduced system's.
        let (products, bytes) = (elimination.cost().products, elimination.cost().device_bytes + reduced.device_bytes());
        let factor =
            Execution { products: w_nnz as u64, flops: 2 * w_nnz as u64 * c * p * p, launches: launches[0], bytes };
        let subtract = Execution { products, flops: 2 * products * c * p * c, launches: launches[1], ..factor };
        let (together, launches) = self.time("all", right, || {
            normal.enqueue(self.linearization)?;
            elimination.execute(damped(normal), &mut reduced).map(drop)
        })?;
        let all = Execution {
            products: normal.cost().products + factor.products + products,
            flops: normal.cost().flops + factor.flops + subtract.flops,
            launches,
            bytes: normal.cost().device_bytes + bytes,
        };
        Ok([
            Record::planned(self.sizes("Z", z_size, w_nnz)?, &factor, of_z),
            Record::planned(self.sizes("S", s_size, s_nnz)?, &subtract, of_s),
            Record::planned(self.sizes("all", self.size_of_j(), s_nnz)?, &all, together),
        ])
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
        let (runs, launches) = self.time(what, right, || plan.execute((a, b), &mut c).map(drop))?;
        let took = Execution::of(plan.cost(), launches);
        let sizes = [Size::on_device(a), Size::on_device(b)];
        Ok(Record::planned(self.sizes(what, sizes, c.nnz())?, &took, runs))
    }

    /// Milliseconds until the device has finished, for each round, and the number of kernels in one
    /// round.
    fn time(&self, what: &str, right: bool, mut run: impl FnMut() -> Result<()>) -> Result<(Vec<f64>, u32)> {
        let device: &Device = &self.place.device;
        let progress = self.bench.messages.measured(format!("{} {what}", self.name), Unit::Runs);
        if !right {
            return Ok((Vec::new(), 0));
        }
        let before = device.counters().launches;
        run()?;
        device.finish()?;
        let launches = device.counters().launches - before;
        let runs = self.bench.patience.rounds(&progress, &mut || {
            let clock = Instant::now();
            run()?;
            device.finish()?;
            Ok(clock.elapsed().as_secs_f64() * 1e3)
        })?;
        Ok((runs, launches as u32))
    }

    fn sizes(&self, what: &str, sizes: [Size; 2], c_nnz: usize) -> Result<Sizes> {
        let copy_gb_s = self.place.copy_gb_s(self.bench.messages)?;
        Ok(Sizes::planned(format!("{} {what}", self.name), &self.place.device, copy_gb_s, sizes, c_nnz))
    }

    /// Size of the first cell of J.
    fn size_of_j(&self) -> [Size; 2] {
        let first = self.linearization.jacobian().get(0, 0);
        [(); 2].map(|()| first.map(Size::on_device).unwrap_or_default())
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
        let have = normal.h().download()?;
        let cells =
            (0..have.row_groups().len()).flat_map(|row| (0..have.col_groups().len()).map(move |col| (row, col)));
        Ok(cells.into_iter().all(|(row, col)| match (have.get(row, col), want.get(row, col)) {
            (Some(have), Some(want)) => same(have, want),
            (None, None) => true,
            _ => false,
        }))
    }
}

/// The equations that are reduced, damped as a solver starts.
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
