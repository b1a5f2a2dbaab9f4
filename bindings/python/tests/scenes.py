"""Generated problems, their residuals, and SciPy's solutions of them."""

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation


def seen(cameras, points):
    """Where cameras of BAL see points, a row for each."""
    at = Rotation.from_rotvec(cameras[:, :3]).apply(points) + cameras[:, 3:6]
    place = -at[:, :2] / at[:, 2:]
    squared = (place**2).sum(axis=1, keepdims=True)
    return cameras[:, 6:7] * (1 + cameras[:, 7:8] * squared + cameras[:, 8:9] * squared**2) * place


def scene(cameras=5, points=30, seed=1, noise=0.5, error=0.02):
    """Cameras that look at points from a ring, and guesses of both: the arguments of `bundle_adjust`."""
    rng = np.random.default_rng(seed)
    turns = Rotation.from_rotvec(rng.normal(0, 0.1, (cameras, 3)) + np.linspace(0, 1, cameras)[:, None] * [0, 0.8, 0])
    true = np.hstack(
        [
            turns.as_rotvec(),
            rng.normal(0, 0.2, (cameras, 3)) + [0, 0, -8],
            rng.uniform(400, 600, (cameras, 1)),
            rng.normal(0, 1e-2, (cameras, 2)),
        ]
    )
    places = rng.uniform(-2, 2, (points, 3))
    pairs = [(camera, point) for point in range(points) for camera in rng.permutation(cameras)[: max(3, cameras // 2)]]
    camera, point = np.array(pairs).T
    observations = seen(true[camera], places[point]) + rng.normal(0, noise, (len(pairs), 2))
    guess = true + error * rng.normal(size=true.shape) * [1, 1, 1, 1, 1, 1, 200, 0.1, 0.1]
    return guess, places + 2 * error * rng.normal(size=places.shape), camera, point, observations


def rho(squared, loss):
    """The loss of squared lengths."""
    name, _, width = (loss or "squared").partition(":")
    if name == "squared":
        return squared
    c = float(width)
    if name == "huber":
        return np.where(squared <= c * c, squared, 2 * c * np.sqrt(np.maximum(squared, c * c)) - c * c)
    return c * c * np.log1p(squared / (c * c))


def robust(residuals, loss):
    """Residuals, in rows, whose squared lengths are the losses of these."""
    squared = (residuals**2).sum(axis=1, keepdims=True)
    return (residuals * np.sqrt(rho(squared, loss) / np.where(squared > 0, squared, 1))).ravel()


def bundle_cost(cameras, points, camera, point, observations, loss=None):
    residuals = seen(cameras[camera], points[point]) - observations
    return 0.5 * rho((residuals**2).sum(axis=1), loss).sum()


def free(count, hold):
    return np.setdiff1d(np.arange(count), np.asarray(hold, int))


def scipys_bundle(cameras, points, camera, point, observations, loss=None, hold=(), hold_points=()):
    """SciPy's cost, cameras and points."""
    of_cameras, of_points = free(len(cameras), hold), free(len(points), hold_points)

    def placed(x):
        moved, placed = cameras.copy(), points.copy()
        moved[of_cameras] = x[: 9 * len(of_cameras)].reshape(-1, 9)
        placed[of_points] = x[9 * len(of_cameras) :].reshape(-1, 3)
        return moved, placed

    def residuals(x):
        moved, at = placed(x)
        return robust(seen(moved[camera], at[point]) - observations, loss)

    start = np.concatenate([cameras[of_cameras].ravel(), points[of_points].ravel()])
    found = least_squares(residuals, start, method="lm", x_scale="jac", xtol=1e-12, ftol=1e-12, gtol=1e-14)
    return found.cost, *placed(found.x)


def between(a, b):
    """The poses b in the frames of the poses a."""
    if a.shape[1] == 3:
        c, s = np.cos(a[:, 2]), np.sin(a[:, 2])
        d = b[:, :2] - a[:, :2]
        turn = (b[:, 2] - a[:, 2] + np.pi) % (2 * np.pi) - np.pi
        return np.column_stack([c * d[:, 0] + s * d[:, 1], c * d[:, 1] - s * d[:, 0], turn])
    turned = Rotation.from_quat(a[:, 3:]).inv()
    return np.hstack(
        [turned.apply(b[:, :3] - a[:, :3]), (turned * Rotation.from_quat(b[:, 3:])).as_quat(canonical=True)]
    )


def from_pose(poses, landmarks):
    """Landmarks in the frames of poses."""
    if poses.shape[1] == 3:
        return between(poses, np.column_stack([landmarks, poses[:, 2]]))[:, :2]
    return Rotation.from_quat(poses[:, 3:]).inv().apply(landmarks - poses[:, :3])


def graph_residuals(
    poses, i, j, measurements, information, landmarks, sighting_pose, sighting_landmark, sightings, loss
):
    """Whitened residuals of all measurements."""
    step = between(measurements, between(poses[i], poses[j]))
    if poses.shape[1] == 7:
        step = np.hstack([step[:, :3], 2 * step[:, 3:6]])
    root = np.linalg.cholesky(np.broadcast_to(information, (len(i), step.shape[1], step.shape[1])))
    of_steps = robust(np.einsum("kij,ki->kj", root, step), loss)
    of_sightings = from_pose(poses[sighting_pose], landmarks[sighting_landmark]) - sightings
    return np.concatenate([of_steps, robust(of_sightings, loss)])


def walk(space, poses=12, landmarks=0, seed=1, noise=0.03):
    """A walk in a circle: the arguments of `pose_graph`, with landmarks as keywords."""
    rng = np.random.default_rng(seed)
    turn = np.linspace(0, 2 * np.pi, poses, endpoint=False)
    x, y = 3 * np.cos(turn), 3 * np.sin(turn)
    angles = turn + np.pi / 2
    if space:
        vectors = rng.normal(0, 0.2, (poses, 3)) + np.outer(angles, [0, 0, 1])
        true = np.column_stack([x, y, np.sin(turn), Rotation.from_rotvec(vectors).as_quat()])
    else:
        true = np.column_stack([x, y, angles])
    pairs = [(k, (k + hop) % poses) for k in range(poses) for hop in (1, 3)]
    i, j = np.array(pairs).T
    measured = moved(rng, between(true[i], true[j]), noise)
    side = 6 if space else 3
    factors = rng.normal(0, 0.3, (len(i), side, side)) + 3 * np.eye(side)
    known = rng.uniform(-4, 4, (landmarks, 3 if space else 2))
    seen = np.array([(k, one) for one in range(landmarks) for k in rng.permutation(poses)[:4]], int).reshape(-1, 2)
    sightings = from_pose(true[seen[:, 0]], known[seen[:, 1]]) + rng.normal(0, noise, (len(seen), known.shape[1]))
    given = (moved(rng, true, 2 * noise), i, j, measured, factors @ factors.swapaxes(1, 2))
    return given, {
        "landmarks": known + rng.normal(0, 5 * noise, known.shape),
        "sighting_pose": seen[:, 0],
        "sighting_landmark": seen[:, 1],
        "sightings": sightings,
    }


def moved(rng, poses, by):
    """Poses after small random moves."""
    if poses.shape[1] == 3:
        return poses + rng.normal(0, by, poses.shape)
    turned = Rotation.from_quat(poses[:, 3:]) * Rotation.from_rotvec(rng.normal(0, by, (len(poses), 3)))
    return np.hstack([poses[:, :3] + rng.normal(0, by, (len(poses), 3)), turned.as_quat()])


def scipys_graph(poses, i, j, measurements, information, loss=None, hold=(0,), hold_landmarks=(), **seen):
    """SciPy's cost, poses and landmarks."""
    of_poses, of_landmarks = free(len(poses), hold), free(len(seen["landmarks"]), hold_landmarks)
    sightings = (seen["sighting_pose"], seen["sighting_landmark"], seen["sightings"])

    def placed(x):
        moved, known = poses.copy(), seen["landmarks"].copy()
        count = poses.shape[1] * len(of_poses)
        moved[of_poses] = x[:count].reshape(-1, poses.shape[1])
        known[of_landmarks] = x[count:].reshape(-1, known.shape[1])
        return moved, known

    def residuals(x):
        moved, known = placed(x)
        return graph_residuals(moved, i, j, measurements, information, known, *sightings, loss)

    start = np.concatenate([poses[of_poses].ravel(), seen["landmarks"][of_landmarks].ravel()])
    found = least_squares(residuals, start, method="lm", xtol=1e-12, ftol=1e-12, gtol=1e-14)
    return found.cost, *placed(found.x)


def bal_text(cameras, points, camera, point, observations):
    """A file of BAL."""
    lines = [f"{len(cameras)} {len(points)} {len(camera)}"]
    lines += [f"{c} {p} {x!r} {y!r}" for c, p, (x, y) in zip(camera, point, observations.tolist())]
    lines += [repr(number) for number in np.concatenate([cameras.ravel(), points.ravel()]).tolist()]
    return "\n".join(lines) + "\n"


def g2o_text(poses, i, j, measurements, information, fixed=()):
    """A file of g2o without landmarks, whose poses are named by tens."""
    vertex, edge = ("VERTEX_SE2", "EDGE_SE2") if poses.shape[1] == 3 else ("VERTEX_SE3:QUAT", "EDGE_SE3:QUAT")
    row = " ".join
    lines = [f"{vertex} {10 * k} {row(map(repr, pose))}" for k, pose in enumerate(poses.tolist())]
    lines += [f"FIX {10 * k}" for k in fixed]
    upper = np.triu_indices(information.shape[1])
    for a, b, measured, matrix in zip(i, j, measurements.tolist(), information):
        lines.append(f"{edge} {10 * a} {10 * b} {row(map(repr, measured + matrix[upper].tolist()))}")
    return "\n".join(lines) + "\n"
