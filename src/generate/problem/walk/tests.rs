//! Tests the properties of every generated pose graph, and the consistency of its numbers.
use super::*;
use crate::solver::problem::{Plane, Space, g2o};
use nalgebra::Vector3;

const SMALL: Walk = Walk {
    poses: 300,
    closures: 500,
    landmarks: 80,
    views: 4,
    shape: Shape::Space,
    noise: 0.1,
    turn_noise: None,
    seed: 5,
};

fn plane(walk: Walk) -> PoseGraph<Plane> {
    match pose_graph(&Walk { shape: Shape::Plane, ..walk }).unwrap() {
        Graph::Plane(graph) => graph,
        Graph::Space(_) => panic!("in space"),
    }
}

fn space(walk: Walk) -> PoseGraph<Space> {
    match pose_graph(&walk).unwrap() {
        Graph::Space(graph) => graph,
        Graph::Plane(_) => panic!("in the plane"),
    }
}

fn deviation_of(numbers: impl Iterator<Item = f64>) -> f64 {
    let numbers: Vec<_> = numbers.collect();
    (numbers.iter().map(|number| number * number).sum::<f64>() / numbers.len() as f64).sqrt()
}

/// Checks properties of any graph against the truth. Returns the errors measured in places of
/// poses, in their rotations, and in landmarks.
fn errors<R: Turn<D>, const D: usize, const N: usize>(
    graph: &PoseGraph<World<R, D, N>>,
    truth: &PoseGraph<World<R, D, N>>,
    vector: fn(&R) -> Vec<f64>,
    edge: f64,
) -> [Vec<f64>; 3] {
    let [mut places, mut rotations, mut landmarks] = [(); 3].map(|()| Vec::new());
    let mut pairs: Vec<_> = graph.steps.iter().map(|step| (step.to, step.from)).collect();
    assert!(pairs.is_sorted_by(|a, b| a < b), "each pair once, in order");
    pairs.retain(|(to, from)| from + 1 == *to);
    assert_eq!((pairs.len(), graph.steps.len()), (SMALL.poses - 1, SMALL.poses - 1 + SMALL.closures));
    for step in &graph.steps {
        let exact = truth.poses[step.from as usize].inverse() * truth.poses[step.to as usize];
        // The two poses are in neighbouring cells. Each pose can be off the middle of its cell, or
        // on a surface anywhere in it.
        assert!(exact.translation.vector.norm() < if edge > 1.0 { 5.5 } else { 2.0 });
        let off = exact.inverse() * step.measured;
        places.extend(off.translation.vector.iter());
        rotations.extend(vector(&off.rotation));
    }
    let mut seen = vec![0; graph.landmarks.len()];
    for sighting in &graph.sightings {
        seen[sighting.landmark as usize] += 1;
        let pose = truth.poses[sighting.pose as usize];
        let exact = pose
            .inverse()
            .rotation
            .transform_vector(&(truth.landmarks[sighting.landmark as usize] - pose.translation.vector));
        assert!(exact.norm() < 2.5 * edge);
        landmarks.extend((exact - sighting.measured).iter());
    }
    assert!(seen.len() == SMALL.landmarks && seen.iter().all(|&times| (1..=SMALL.views).contains(&times)));
    let names = graph.pose_names.iter().chain(&graph.landmark_names).copied();
    assert!(names.eq(0..(SMALL.poses + SMALL.landmarks) as u64));
    assert_eq!(graph.fixed_poses, [0]);
    [places, rotations, landmarks]
}

#[test]
fn noise_is_as_large_as_asked_and_as_the_information_says() {
    for noise in [0.0, 0.1] {
        let (exact, walk) = (Walk { noise: 0.0, ..SMALL }, Walk { noise, ..SMALL });
        let of_plane = errors(&plane(walk), &plane(exact), |turn| vec![turn.angle()], 1.0);
        let of_space = |shape: Shape| {
            let [walk, exact] = [walk, exact].map(|walk| space(Walk { shape, ..walk }));
            let edge = if shape == Shape::Space { 1.0 } else { 2.0 };
            errors(&walk, &exact, |turn| turn.scaled_axis().iter().copied().collect(), edge)
        };
        let of_shapes = [Shape::Space, Shape::Torus, Shape::Sphere].map(of_space);
        for [places, rotations, landmarks] in [of_plane].into_iter().chain(of_shapes) {
            for (errors, deviation) in [(places, noise), (rotations, noise / 4.0), (landmarks, noise)] {
                // The deviation of 600 or more numbers is within a tenth of the requested one for
                // all but one of a thousand seeds. The tolerance 1e-12 is for rounding errors along
                // paths of 300 steps.
                let found = deviation_of(errors.into_iter());
                assert!((found - deviation).abs() <= deviation / 10.0 + 1e-12, "{found}, {deviation} asked");
            }
        }
        let [far, angle] = if noise > 0.0 { [100.0, 1600.0] } else { [1.0, 1.0] };
        let information = plane(walk).steps[7].information;
        assert!((information.diagonal() - Vector3::new(far, far, angle)).norm() < 1e-9);
        let information = space(walk).steps[7].information;
        assert!((information.diagonal() - nalgebra::Vector6::new(far, far, far, angle, angle, angle)).norm() < 1e-9);
        assert_eq!(information, nalgebra::Matrix6::from_diagonal(&information.diagonal()));
        assert!((space(walk).sightings[7].information.diagonal() - Vector3::repeat(far)).norm() < 1e-9);
    }
}

#[test]
fn rotations_have_a_noise_of_their_own() {
    for (noise, turn_noise) in [(0.1, 0.5), (0.0, 0.5), (0.1, 0.0)] {
        let walk = Walk { noise, turn_noise: Some(turn_noise), ..SMALL };
        let truth = Walk { noise: 0.0, turn_noise: Some(0.0), ..SMALL };
        let found = errors(&space(walk), &space(truth), |turn| turn.scaled_axis().iter().copied().collect(), 1.0);
        let [places, rotations, _] = found.map(|errors| deviation_of(errors.into_iter()));
        assert!((places - noise).abs() <= noise / 10.0 + 1e-12, "{places}");
        assert!((rotations - turn_noise).abs() <= turn_noise / 10.0 + 1e-12, "{rotations}");
        let information = space(walk).steps[7].information.diagonal();
        let inverse_variance = |noise: f64| if noise > 0.0 { 1.0 / (noise * noise) } else { 1.0 };
        assert_eq!((information[2], information[3]), (inverse_variance(noise), inverse_variance(turn_noise)));
    }
}

#[test]
fn the_start_is_what_the_steps_say() {
    let graph = space(SMALL);
    for step in graph.steps.iter().filter(|step| step.from + 1 == step.to) {
        let reached = graph.poses[step.from as usize] * step.measured;
        assert!((reached.to_homogeneous() - graph.poses[step.to as usize].to_homogeneous()).norm() < 1e-12);
    }
    for landmark in 0..SMALL.landmarks as u32 {
        let first = graph.sightings.iter().find(|sighting| sighting.landmark == landmark).unwrap();
        let place = Space::place(&graph.poses[first.pose as usize], &first.measured);
        assert_eq!(graph.landmarks[landmark as usize], place);
    }
}

#[test]
fn files_give_the_same_graph() {
    let shapes = [Shape::Plane, Shape::Space, Shape::Torus, Shape::Sphere];
    for (shape, landmarks) in shapes.into_iter().flat_map(|shape| [(shape, 0), (shape, 80)]) {
        let graph = pose_graph(&Walk { shape, landmarks, ..SMALL }).unwrap();
        let mut text = Vec::new();
        g2o::write_to(&mut text, &graph).unwrap();
        assert_eq!(g2o::read_from(&text[..], "x.g2o").unwrap(), graph);
    }
}

#[test]
fn the_seed_is_the_graph() {
    assert_eq!(pose_graph(&SMALL).unwrap(), pose_graph(&SMALL).unwrap());
    assert_ne!(pose_graph(&SMALL).unwrap(), pose_graph(&Walk { seed: 6, ..SMALL }).unwrap());
}

#[test]
fn the_ends_of_the_ranges() {
    let one = Walk { poses: 1, closures: 0, landmarks: 0, ..SMALL };
    assert_eq!((space(one).poses.len(), plane(one).steps.len()), (1, 0));
    let all = Walk { landmarks: 3, views: usize::MAX, ..one };
    assert_eq!(plane(all).sightings.len(), 3);
    let text = |walk: Walk| pose_graph(&walk).unwrap_err().to_string();
    assert_eq!(text(Walk { poses: 0, ..one }), "0 landmarks, each seen by 4 of 0 poses");
    assert_eq!(text(Walk { landmarks: 2, views: 0, ..one }), "2 landmarks, each seen by 0 of 1 poses");
    assert_eq!(text(Walk { closures: 1, ..one }), "1 loop closures, 0 pairs of poses are near one another");
    assert_eq!(text(Walk { noise: f64::INFINITY, ..one }), "the noise is inf, not a number from 0");
    assert!(matches!(pose_graph(&Walk { poses: usize::MAX, ..one }), Err(Error::TooLarge { .. })));
    assert!(matches!(pose_graph(&Walk { landmarks: usize::MAX, ..one }), Err(Error::TooLarge { .. })));
}
