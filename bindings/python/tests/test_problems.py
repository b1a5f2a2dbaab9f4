"""Whole problems: costs and solutions beside SciPy's, what is held, endings, and files."""

import gzip
import signal
import threading
import time

import blockmul
import numpy as np
import pytest
from matrices import STORAGES, stored_as
from scenes import bal_text, bundle_cost, g2o_text, scene, scipys_bundle, scipys_graph, walk
from scipy.spatial.transform import Rotation

TIGHT = {"tolerance": 1e-12}


def bundle_adjust(*arrays, **options):
    return blockmul.bundle_adjust(*arrays, **{**TIGHT, **options})


def pose_graph(*arrays, **options):
    return blockmul.pose_graph(*arrays, **{**TIGHT, **options})


@pytest.fixture(autouse=True)
def on_device(device, monkeypatch):
    """Without a device the tests of this file are skipped."""
    monkeypatch.setenv("BLOCKMUL_DEVICE", str(device.index))


def has(summary, cost, status="converged"):
    assert summary.status == status and summary.converged == (status == "converged"), summary
    assert summary.cost == pytest.approx(cost, rel=1e-6), summary
    assert summary.cost < summary.initial_cost and summary.iterations[-1].cost_after == summary.cost


@pytest.mark.parametrize("loss", [None, "huber:0.6", "cauchy:1"])
def test_a_bundle_adjustment_has_scipys_cost(loss):
    given = scene()
    cameras, points, summary = bundle_adjust(*given, loss=loss)
    has(summary, scipys_bundle(*given, loss=loss)[0])
    assert summary.cost == pytest.approx(bundle_cost(cameras, points, *given[2:], loss=loss), rel=1e-9)
    assert summary.initial_cost == pytest.approx(bundle_cost(*given, loss=loss), rel=1e-9)
    assert (summary.held, summary.left_out, summary.start, summary.origin) == ([], [], "file", None)
    assert summary.system in ("hessian", "schur-complement") and summary.times.total_ms > 0


HELD = [
    ("some", [0, 3], [5, 2], ["cameras 0 and 3", "points 2 and 5"]),
    ("all cameras", range(5), [], ["cameras 0, 1, 2, 3 and 4"]),
    ("all points", [], range(30), ["points 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 20 more"]),
    ("all but one camera", [0, 1, 2, 4], range(30), None),
]


@pytest.mark.parametrize("hold, hold_points, said", [case[1:] for case in HELD], ids=[case[0] for case in HELD])
def test_held_cameras_and_points_keep_their_bits(hold, hold_points, said):
    given = scene(error=0.005)
    held = {"hold": np.array(hold, int), "hold_points": np.array(hold_points, int)}
    cameras, points, summary = bundle_adjust(*given, **held)
    cost, scipys_cameras, scipys_points = scipys_bundle(*given, hold=hold, hold_points=hold_points)
    has(summary, cost)
    np.testing.assert_allclose(points, scipys_points, atol=1e-4)
    np.testing.assert_allclose(cameras, scipys_cameras, rtol=1e-4, atol=1e-3)
    for found, all_given, kept in ((cameras, given[0], list(hold)), (points, given[1], list(hold_points))):
        assert found[kept].tobytes() == all_given[kept].tobytes()
        assert (np.delete(found, kept, axis=0) != np.delete(all_given, kept, axis=0)).any(axis=1).all()
    assert said is None or summary.held == said
    masks = {name: np.isin(np.arange(30 if "points" in name else 5), indices) for name, indices in held.items()}
    again = bundle_adjust(*given, **masks)
    assert again.cameras.tobytes() == cameras.tobytes() and again.points.tobytes() == points.tobytes()


@pytest.mark.parametrize("linear", ["normal-cholesky", "schur-cholesky", "conjugate-gradients"])
def test_each_linear_solver_has_the_same_cost(linear):
    given = scene()
    has(bundle_adjust(*given, linear=linear).summary, bundle_adjust(*given).summary.cost)


@pytest.mark.parametrize("space", [False, True], ids=["plane", "space"])
@pytest.mark.parametrize("loss, landmarks", [(None, 0), (None, 8), ("huber:0.2", 8), ("cauchy:0.3", 0)])
def test_a_graph_has_scipys_cost(space, loss, landmarks):
    given, seen = walk(space, landmarks=landmarks)
    cost, poses, known = scipys_graph(*given, loss=loss, **seen)
    found = pose_graph(*given, loss=loss, **(seen if landmarks else {}))
    has(found.summary, cost)
    assert type(found) is (blockmul.GraphSolution if landmarks else blockmul.PoseSolution)
    same_poses(found.poses, poses)
    assert found.summary.held == ["pose 0"] and found.poses[0].tobytes() == given[0][0].tobytes()
    if landmarks:
        np.testing.assert_allclose(found.landmarks, known, atol=1e-5)


def same_poses(found, poses):
    if poses.shape[1] == 3:
        np.testing.assert_allclose(found[:, :2], poses[:, :2], atol=1e-5)
        np.testing.assert_allclose(np.exp(1j * found[:, 2]), np.exp(1j * poses[:, 2]), atol=1e-5)
        return
    np.testing.assert_allclose(found[:, :3], poses[:, :3], atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(found[:, 3:], axis=1), 1, rtol=1e-12)
    turn = Rotation.from_quat(found[:, 3:]).inv() * Rotation.from_quat(poses[:, 3:])
    assert turn.magnitude().max() < 1e-5


@pytest.mark.parametrize("space", [False, True], ids=["plane", "space"])
def test_held_poses_and_landmarks_keep_their_bits(space):
    given, seen = walk(space, landmarks=6)
    for hold, hold_landmarks in (([2, 5], [1]), ([], range(6)), (range(12), [])):
        cost, poses, known = scipys_graph(*given, hold=hold, hold_landmarks=hold_landmarks, **seen)
        options = {"hold": np.array(hold, int), "hold_landmarks": list(hold_landmarks), "start": "file"}
        found = pose_graph(*given, **seen, **options)
        has(found.summary, cost)
        same_poses(found.poses, poses)
        np.testing.assert_allclose(found.landmarks, known, atol=1e-5)
        assert found.poses[list(hold)].tobytes() == given[0][list(hold)].tobytes()
        assert found.landmarks[list(hold_landmarks)].tobytes() == seen["landmarks"][list(hold_landmarks)].tobytes()


def test_one_matrix_stands_for_all_and_none_for_the_identity():
    (poses, i, j, measured, _), _ = walk(True)
    weights = np.diag([4.0, 4, 4, 9, 9, 9])
    one = pose_graph(poses, i, j, measured, weights)
    each = pose_graph(poses, i, j, measured, np.repeat(weights[None], len(i), axis=0))
    assert one.poses.tobytes() == each.poses.tobytes() and one.summary.cost == each.summary.cost
    none, eye = pose_graph(poses, i, j, measured), pose_graph(poses, i, j, measured, np.eye(6))
    assert none.poses.tobytes() == eye.poses.tobytes()


def test_quaternions_may_have_any_length():
    given, _ = walk(True)
    rng = np.random.default_rng(3)
    longer = [each.copy() for each in given[:4]]
    for rows in (longer[0], longer[3]):
        rows[:, 3:] *= rng.uniform(1e-3, 1e3, (len(rows), 1)) * rng.choice([-1, 1], (len(rows), 1))
    found, usual = pose_graph(*longer, given[4]), pose_graph(*given)
    assert found.summary.cost == pytest.approx(usual.summary.cost, rel=1e-9)
    same_poses(found.poses[1:], usual.poses[1:])


def test_starts():
    given, _ = walk(True, noise=0.01)
    nowhere = np.zeros_like(given[0])
    nowhere[:, 6] = 1
    auto = pose_graph(nowhere, *given[1:])
    assert auto.summary.start == "chordal" and "chordal" in auto.summary.notes[0] and auto.summary.times.start_ms > 0
    chordal = pose_graph(nowhere, *given[1:], start="chordal")
    assert chordal.poses.tobytes() == auto.poses.tobytes() and chordal.summary.notes == []
    file = pose_graph(*given, start="file")
    assert file.summary.start == "file" and file.summary.cost == pytest.approx(scipys_graph(*given, **walk(True)[1])[0])


def test_matrices_that_reward_errors_become_isotropic():
    (poses, i, j, measured, information), _ = walk(False)
    information[3] = np.diag([1.0, -1.0, 1.0])
    summary = pose_graph(poses, i, j, measured, information, names=np.arange(12) + 100).summary
    text = f"1 information matrices have negative eigenvalues, first that from {i[3] + 100} to {j[3] + 100}"
    assert text in summary.notes[0] and text in str(summary)


def test_a_scene_far_from_the_origin_is_solved_about_a_near_one():
    cameras, points, *seen = scene()
    usual = bundle_adjust(cameras, points, *seen, hold_points=[3])
    by = np.array([5e5, 5.4e6, 200.0])
    far = cameras.copy()
    far[:, 3:6] -= Rotation.from_rotvec(cameras[:, :3]).apply(by)
    found = bundle_adjust(far, points + by, *seen, hold=[2], hold_points=[3])
    assert found.summary.origin is not None and "far from the scene" in found.summary.notes[0]
    near = bundle_adjust(cameras, points, *seen, hold=[2], hold_points=[3])
    assert found.summary.cost == pytest.approx(near.summary.cost, rel=1e-4) and usual.summary.origin is None
    assert found.cameras[2].tobytes() == far[2].tobytes() and found.points[3].tobytes() == (points + by)[3].tobytes()


def test_what_has_no_observations_stays():
    cameras, points, *seen = scene()
    cameras, points = np.vstack([cameras, [[9.0] * 9]]), np.vstack([points, [[1e9] * 3]])
    found = bundle_adjust(cameras, points, *seen)
    assert found.cameras[-1].tolist() == [9.0] * 9 and found.points[-1].tolist() == [1e9] * 3
    assert found.summary.left_out == ["without observations: camera 5 (of 6)", "without observations: point 30 (of 31)"]


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index", [np.int8, np.uint16, np.int32, np.uint64])
def test_arrays_of_any_storage_are_taken_and_not_written(storage, dtype, index):
    given = [each.astype(dtype if each.dtype == np.float64 else index) for each in scene(cameras=3, points=12)]
    usual = bundle_adjust(*(each.astype(float if each.dtype == dtype else int) for each in given), iterations=2)
    stored = [stored_as(each, storage) for each in given]
    if storage == "plain":
        stored = [np.asfortranarray(each) for each in stored]
    before = [(id(each), each.strides, each.tobytes()) for each in stored]
    found = bundle_adjust(*stored, iterations=2)
    assert [(id(each), each.strides, each.tobytes()) for each in stored] == before
    assert found.cameras.tobytes() == usual.cameras.tobytes() and found.points.tobytes() == usual.points.tobytes()
    for each in found[:2]:
        assert each.dtype == np.float64 and each.flags.writeable and each.flags.c_contiguous
        assert not any(np.shares_memory(each, other) for other in stored)


def test_the_limit_of_iterations():
    given = scene()
    found = bundle_adjust(*given, iterations=1)
    has(found.summary, found.summary.iterations[0].cost_after, "iterations")
    assert "not converged after 1 iteration: try more iterations" in found.summary.message
    assert 'loss="huber:WIDTH"' in found.summary.message and "--" not in found.summary.message
    none = bundle_adjust(*given, iterations=0)
    assert none.cameras.tobytes() == given[0].tobytes() and none.summary.iterations == []


def test_print_shows_the_iterations():
    given = scene()
    summary = bundle_adjust(*given, hold=[1]).summary
    lines = str(summary).splitlines()
    assert lines[0].startswith("device: ") and lines[1] == "5 cameras, 30 points, 90 observations"
    assert lines[2] == "held: camera 1" and lines[3].split()[:2] == ["it", "cost"]
    assert len(lines) == 4 + len(summary.iterations) + 2 and lines[-2].startswith("cost ")
    assert repr(summary).startswith("<blockmul.Summary converged: cost ")
    with pytest.raises(AttributeError):
        summary.cost = 0.0


def test_a_callback_sees_each_iteration_and_ends_them():
    given, seen = scene(), []
    usual = bundle_adjust(*given, callback=seen.append)
    assert seen == usual.summary.iterations and [each.iteration for each in seen] == list(range(1, len(seen) + 1))

    def second(iteration):
        return iteration.iteration == 2

    def stops(iteration):
        if iteration.iteration == 2:
            raise StopIteration

    for callback in (second, stops, lambda iteration: np.bool_(iteration.iteration == 2)):
        ended = bundle_adjust(*given, callback=callback)
        has(ended.summary, seen[1].cost_after, "interrupted")
        assert len(ended.summary.iterations) == 2 and "the caller ended" in ended.summary.message
    # Only True ends an iteration.
    assert bundle_adjust(*given, callback=lambda iteration: iteration.cost).summary.converged
    given, landmarks = walk(False, landmarks=5)
    assert pose_graph(*given, **landmarks, callback=lambda _: True).summary.status == "interrupted"


def test_an_exception_of_a_callback_comes_through():
    given, error = scene(), LookupError("of the callback")

    def raises(_):
        raise error

    with pytest.raises(LookupError) as raised:
        bundle_adjust(*given, callback=raises)
    assert raised.value is error
    assert bundle_adjust(*given).summary.converged


def test_an_interrupt_ends_a_call_without_a_callback():
    given = scene(cameras=12, points=4000)
    bundle_adjust(*given, iterations=1)
    # A process in the background of a shell ignores the signal of Ctrl-C.
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    begun = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            while time.monotonic() < begun + 20:
                bundle_adjust(*given)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - begun < 5.2


def test_other_threads_run_meanwhile():
    given, done = scene(cameras=12, points=2000), []
    ticks = []

    def solve():
        bundle_adjust(*given, iterations=5)
        done.append(True)

    solver = threading.Thread(target=solve)
    solver.start()
    while not done and solver.is_alive():
        ticks.append(time.perf_counter())
    solver.join()
    assert done and len(ticks) > 1000


def test_a_failure_returns_the_start():
    cameras, points, camera, point, observations = scene()
    cameras[camera[0], :6] = 0
    points[point[0]] = [1, 2, 0]
    found = bundle_adjust(cameras, points, camera, point, observations)
    assert found.summary.status == "failed" and f"camera {camera[0]} sees point {point[0]}" in found.summary.message
    assert found.cameras.tobytes() == cameras.tobytes() and found.points.tobytes() == points.tobytes()
    assert not found.summary.converged and found.summary.iterations == []


def test_numbers_without_influence_and_a_dominant_measurement_are_named():
    cameras, points, camera, point, observations = scene()
    observations[7] += 1e5
    dominant = bundle_adjust(cameras, points, camera, point, observations, iterations=1).summary.dominant
    assert dominant.measurement.startswith(f"camera {camera[7]} sees point {point[7]}") and 0.5 < dominant.share <= 1
    # Nothing says how the last pose of a chain is turned.
    poses, measured = np.zeros((3, 3)), np.tile([1.0, 0.1, 0.0], (2, 1))
    summary = pose_graph(poses, np.array([0, 1]), np.array([1, 2]), measured, np.diag([1.0, 1.0, 0.0])).summary
    assert summary.without_influence == "angle of pose 2" and "without influence: angle of pose 2" in str(summary)


def test_files_of_bal(tmp_path):
    given = scene()
    (tmp_path / "plain.txt").write_text(bal_text(*given))
    (tmp_path / "packed").write_bytes(gzip.compress(bal_text(*given).encode()))
    for name in ("plain.txt", "packed"):
        read = blockmul.read_bal(tmp_path / name)
        assert all(np.array_equal(one, other) and one.ndim == other.ndim for one, other in zip(read, given))
        assert blockmul.bundle_adjust(*read).summary.converged
    with pytest.raises(blockmul.BadInput, match="plain.txt: a bundle adjustment: use read_bal"):
        blockmul.read_g2o(tmp_path / "plain.txt")
    (tmp_path / "bad.txt").write_text("1 1 1\n0 1 2 3\n")
    with pytest.raises(blockmul.BadInput, match=r"bad\.txt:2: "):
        blockmul.read_bal(str(tmp_path / "bad.txt"))
    for read in (blockmul.read_bal, blockmul.read_g2o):
        with pytest.raises(FileNotFoundError, match="missing"):
            read(tmp_path / "missing")
        with pytest.raises(TypeError):
            read(3)


@pytest.mark.parametrize("space", [False, True], ids=["plane", "space"])
def test_files_of_g2o(tmp_path, space):
    given, _ = walk(space)
    path = tmp_path / "walk.g2o"
    path.write_text(g2o_text(*given, fixed=[4]))
    read = blockmul.read_g2o(path)
    assert read.names.tolist() == list(range(0, 120, 10)) and read.hold.tolist() == [4]
    assert np.array_equal(read.i, given[1]) and np.array_equal(read.j, given[2])
    np.testing.assert_allclose(read.information, given[4], rtol=1e-12)
    same_poses(read.poses, given[0])
    assert read.landmarks.shape == (0, 3 if space else 2)
    found = pose_graph(**read._asdict())
    has(found.summary, scipys_graph(*given, hold=[4], **walk(space)[1])[0])
    assert found.summary.held == ["pose 40"] and found.landmarks.shape == read.landmarks.shape
    with pytest.raises(blockmul.BadInput, match="a graph of poses: use read_g2o"):
        blockmul.read_bal(path)


def test_files_of_isam_and_toro(tmp_path):
    path = tmp_path / "two.graph"
    path.write_text("EDGE2 0 1 1 0 0.1  44 0 44 400 0 0\n")
    with pytest.warns(UserWarning, match="two.graph: read as a graph of TORO"):
        assert blockmul.read_g2o(path).information[0].tolist() == np.diag([44.0, 44, 400]).tolist()
    path.write_text("EDGE2 0 1 1 0 0.1  4 0 4 4 0 0.1\n")
    with pytest.raises(blockmul.BadInput, match="are regular by both"):
        blockmul.read_g2o(path)
    with pytest.warns(UserWarning):
        assert blockmul.read_g2o(path, edges="isam").information[0, 0, 0] == 16
    with pytest.raises(blockmul.BadInput, match="edges: 'g2o' is not"):
        blockmul.read_g2o(path, edges="g2o")


def test_a_callback_may_write_into_the_arrays():
    given = [array.copy() for array in scene(error=0.005)]
    kept = given[0][:2].copy()

    def overwrite(_):
        given[0][:] = 9
        given[1][:] = 9

    cameras, points, summary = bundle_adjust(*given, hold=[0, 1], callback=overwrite)
    expected = bundle_adjust(*scene(error=0.005), hold=[0, 1])
    assert summary.cost == expected.summary.cost and cameras[:2].tobytes() == kept.tobytes()
    assert (cameras.tobytes(), points.tobytes()) == (expected.cameras.tobytes(), expected.points.tobytes())
