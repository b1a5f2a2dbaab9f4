//! Tests of the linear systems that are factored: H or S, on one thread.
use super::*;
use blockmul::{
    BlockShape, Bsr, Device,
    groups::BlockGroups,
    solver::{
        least_squares::System,
        problem::{Linearization, Sighting, Step},
    },
};
use nalgebra::{Matrix2, Vector2};

const OF_TWO_GROUPS: [Linear; 3] = [Linear::Cholesky, Linear::NormalCholesky, Linear::SchurCholesky];

/// A graph with landmarks that every second pose sees. For each landmark H has 200 blocks and S has
/// 20,000.
fn beacons() -> PoseGraph<Plane> {
    let mut graph = in_plane(&Walk { poses: 400, ..walk(0) });
    for beacon in 0..6 {
        let place = Vector2::new(f64::from(beacon) * 3.0 - 8.0, 5.0 - f64::from(beacon % 3) * 4.0);
        graph.landmarks.push(place);
        graph.landmark_names.push(1000 + beacon as u64);
        for pose in (beacon as usize % 2..400).step_by(2) {
            let noise = Vector2::new((pose as f64).sin(), (pose as f64 * 1.7).cos()) * 0.02;
            let measured = Plane::place(&Plane::inverse(&graph.poses[pose]), &place) + noise;
            let information = Matrix2::identity() * 100.0;
            graph.sightings.push(Sighting { pose: pose as u32, landmark: beacon as u32, measured, information });
        }
    }
    graph
}

fn each<P: LeastSquares>(problem: &P) -> [Solution<P::State>; 3] {
    OF_TWO_GROUPS.map(|linear| solve(problem, &Options { linear, ..options() }))
}

fn costs<S>(of: &Solution<S>) -> Vec<u64> {
    of.iterations.iter().map(|it| it.cost_after.to_bits()).collect()
}

/// Checks that the chosen linear system is `system`, and that both systems give the same steps, so
/// that costs differ only by rounding.
fn agree<S>([chosen, whole, eliminated]: &[Solution<S>; 3], system: System) {
    assert_eq!((chosen.system, whole.system, eliminated.system), (system, System::Hessian, System::SchurComplement));
    assert_eq!(costs(chosen), costs(if system == System::Hessian { whole } else { eliminated }));
    assert_eq!((whole.stop, eliminated.stop), (Stop::Converged, Stop::Converged));
    assert_eq!(whole.iterations.len(), eliminated.iterations.len());
    for (one, other) in whole.iterations.iter().zip(&eliminated.iterations) {
        let (one, other) = (one.cost_after, other.cost_after);
        assert!((one - other).abs() <= 1e-9 * other, "{one} {other}");
    }
}

#[test]
fn landmarks_that_many_poses_see_are_not_eliminated() {
    let problem = GraphProblem::new(beacons(), Loss::Squared).unwrap();
    agree(&each(&problem), System::Hessian);
}

#[test]
fn points_and_landmarks_that_few_see_are_eliminated() {
    let small = Scene { cameras: 6, points: 30, views: 4, noise: 0.3, error: 0.02, seed: 8 };
    agree(&each(&bundle(&small, Loss::Squared)), System::SchurComplement);
    let small = Walk { poses: 40, closures: 20, ..walk(10) };
    agree(&each(&GraphProblem::new(in_space(&small), Loss::Huber(1.0)).unwrap()), System::SchurComplement);
}

/// In a mapping problem with known poses, only landmarks are unknown. A problem may also have no
/// unknowns.
#[test]
fn groups_of_unknowns_may_be_empty() {
    let poses = (0..120).collect::<Vec<u32>>();
    for (landmarks, fixed_landmarks) in [(9, vec![]), (9, (0..9).collect()), (0, vec![])] {
        let unknown = landmarks > 0 && fixed_landmarks.is_empty();
        let mut graph = in_plane(&walk(landmarks));
        (graph.fixed_poses, graph.fixed_landmarks) = (poses.clone(), fixed_landmarks);
        let problem = GraphProblem::new(graph, Loss::Squared).unwrap();
        for linear in [Linear::Cholesky, Linear::NormalCholesky, Linear::SchurCholesky] {
            let options = Options { linear, ..options() };
            match minimize(&problem, problem.start(), &device(), &options, |_| ControlFlow::Continue(())) {
                Ok(solution) => {
                    assert_eq!(solution.stop, Stop::Converged, "{landmarks} {linear:?}");
                    assert!(solution.cost < solution.initial_cost || !unknown, "{landmarks} {linear:?}");
                }
                Err(error) => {
                    assert!(!unknown && matches!(error, Error::Argument(_)), "{landmarks} {linear:?}: {error}");
                }
            }
        }
    }
}

/// Every pose is measured from every other pose, so that the factor of 654 unknowns is full. `faer`
/// itself would add in another order with `Par::rayon(16)`, which the process may have set.
#[test]
fn solutions_have_the_same_bits_on_any_number_of_threads() {
    let mut graph = in_space(&Walk { poses: 110, ..walk(0) });
    let (poses, of) = (graph.poses.clone(), graph.steps[0]);
    let pairs = (0..110).flat_map(|from| (from + 2..110).map(move |to| (from, to)));
    graph.steps.extend(pairs.map(|(from, to)| {
        let measured = Space::compose(&Space::inverse(&poses[from]), &poses[to]);
        Step { from: from as u32, to: to as u32, measured, information: of.information }
    }));
    let problem = GraphProblem::new(graph, Loss::Squared).unwrap();
    let solved = |threads: usize, parallelism| {
        faer::set_global_parallelism(parallelism);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let solution = pool.install(|| solve(&problem, &Options { iterations: 2, ..options() }));
        faer::set_global_parallelism(faer::Par::rayon(0));
        (costs(&solution), solution.state)
    };
    let alone = solved(1, faer::Par::Seq);
    for threads in [1, 2, 16] {
        assert!(solved(threads, faer::Par::rayon(threads)) == alone, "{threads} threads");
    }
}

/// Makes a J that has only ones. The blocks of J have one row. `rows` has, for each row and each
/// cell, the columns of the blocks. `sides` has, for each group of columns, the number of blocks
/// and their width.
fn jacobian(rows: &[&[&[u32]]], sides: &[(usize, usize)]) -> BlockGroups<Bsr<f64>> {
    let cells = sides.iter().enumerate().map(|(group, &(blocks, side))| {
        let of_group: Vec<&[u32]> = rows.iter().map(|row| row[group]).collect();
        let ends = of_group.iter().scan(0, |end, row| {
            *end += row.len() as u64;
            Some(*end)
        });
        let (row_ptr, col_idx) = (std::iter::once(0).chain(ends).collect(), of_group.concat());
        let values = vec![1.0; col_idx.len() * side];
        Bsr::new(rows.len(), blocks, BlockShape::new(1, side).unwrap(), row_ptr, col_idx, values).unwrap()
    });
    BlockGroups::side_by_side(cells).unwrap()
}

#[test]
fn unknowns_that_cannot_be_solved_are_refused_by_name() {
    let made = |rows: &[&[&[u32]]], sides: &[(usize, usize)]| {
        Linearization::new(&device(), jacobian(rows, sides), Vec::new(), false).map(drop)
    };
    let refused = |rows: &[&[&[u32]]], sides: &[(usize, usize)]| match made(rows, sides) {
        Err(Error::Argument(text)) => text,
        other => panic!("{other:?}"),
    };
    made(&[&[&[0, 1]], &[&[2]], &[&[]]], &[(3, 2)]).unwrap();
    assert_eq!(
        refused(&[&[&[0, 1]], &[&[3]]], &[(4, 2)]),
        "unknown 2 of group 0 has no measurement: no row of J touches it, so leave it out"
    );
    let (one, two): (&[u32], &[u32]) = (&[0], &[1]);
    made(&[&[one, two], &[two, one], &[one, &[]]], &[(2, 3), (2, 1)]).unwrap();
    assert_eq!(
        refused(&[&[one, one], &[two, one]], &[(2, 3), (2, 1)]),
        "unknown 1 of group 1 has no measurement: no row of J touches it, so leave it out"
    );
    let text = refused(&[&[one, one], &[two, &[0, 1]]], &[(2, 3), (2, 1)]);
    assert!(text.starts_with("row 1 of group 0 touches unknowns 0 and 1 of the second group"), "{text}");
    assert_eq!(
        refused(&[&[one, one, one]], &[(1, 3), (1, 2), (1, 4)]),
        "three groups of unknowns: one or two are solved; put the third into the first as blocks of its size"
    );
    assert!(refused(&[&[one, one, one, one]], &[(1, 1); 4]).starts_with("4 groups of unknowns: one or two"));
}

/// A problem that consists of a J, which it passes to [`Linearization::new`].
struct Constant(BlockGroups<Bsr<f64>>);

impl LeastSquares for Constant {
    type State = ();

    fn start(&self) {}

    fn prepare(&self, device: &Device) -> Result<Linearization, Error> {
        Linearization::new(device, self.0.clone(), Vec::new(), false)
    }

    fn linearize(&self, _: &(), to: &mut Linearization) -> Result<f64, Error> {
        to.weighted_residuals_mut().iter_mut().try_for_each(|e| e.write(&vec![1.0; e.len()]))?;
        Ok(1.0)
    }

    fn cost(&self, _: &()) -> f64 {
        1.0
    }

    fn moved(&self, _: &(), _: &[Vec<f64>]) -> Result<(), Error> {
        Ok(())
    }
}

#[test]
fn methods_refuse_what_they_are_not_for() {
    let refused = |problem: &Constant, linear| {
        let options = Options { linear, iterations: 2, ..Options::default() };
        minimize(problem, (), &device(), &options, |_| ControlFlow::Continue(())).map(|solution| solution.stop)
    };
    let one = Constant(jacobian(&[&[&[0, 1]], &[&[1]]], &[(2, 1)]));
    for (linear, what) in [
        (Linear::SchurCholesky, "a Schur complement is for problems with unknown points or landmarks"),
        (Linear::ConjugateGradients(Limits::default()), "conjugate gradients are for problems with unknown points"),
    ] {
        let error = refused(&one, linear).unwrap_err().to_string();
        assert!(error.starts_with(what), "{error}");
    }
    // No group of rows contains both of the two groups of columns.
    let cell = || Some(jacobian(&[&[&[0]], &[&[1]]], &[(2, 1)]).into_cells().remove(0).unwrap());
    let groups = |of: &BlockGroups<Bsr<f64>>| (of.row_groups()[0], of.col_groups()[0]);
    let (rows, cols) = groups(&one.0);
    let apart = BlockGroups::new(vec![rows; 2], vec![cols; 2], vec![cell(), None, None, cell()]).unwrap();
    for linear in OF_TWO_GROUPS.into_iter().chain([Linear::ConjugateGradients(Limits::default())]) {
        let error = refused(&Constant(apart.clone()), linear).unwrap_err().to_string();
        assert!(error.starts_with("no group of rows of J has cells for both groups of unknowns"), "{error}");
    }
    for options in [
        Options { lambda: -1e-5, ..Options::default() },
        Options { lambda: f64::NAN, ..Options::default() },
        Options { tolerance: f64::INFINITY, ..Options::default() },
    ] {
        let refused = minimize(&one, (), &device(), &options, |_| ControlFlow::Continue(())).map(drop);
        assert!(matches!(refused, Err(Error::Argument(_))), "{options:?}");
    }
    // A pose without measurements is an error with every method, not a panic.
    let alone = Constant(jacobian(&[&[&[0]], &[&[0]]], &[(2, 1)]));
    let error = refused(&alone, Linear::Cholesky).unwrap_err().to_string();
    assert!(error.starts_with("unknown 1 of group 0 has no measurement"), "{error}");
}
