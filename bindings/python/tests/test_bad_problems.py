"""Arguments of whole problems that do not fit: the exception and its words."""

import os
import subprocess
import sys

import blockmul
import numpy as np
import pytest
from scenes import scene, walk

BUNDLE = dict(zip(("cameras", "points", "camera_index", "point_index", "observations"), scene()))
GIVEN, SEEN = walk(True, landmarks=4)
GRAPH = {**dict(zip(("poses", "i", "j", "measurements", "information"), GIVEN)), **SEEN}


def changed(name, place, value):
    """An array of the good arguments, of which one element is replaced."""
    array = (BUNDLE if name in BUNDLE else GRAPH)[name].copy()
    array[place] = value
    return array


IDENTITIES = np.repeat(np.eye(6)[None], 24, axis=0)
LOPSIDED = IDENTITIES.copy()
LOPSIDED[2, 0, 1] = 0.5

BAD_BUNDLES = [
    ("cameras", [[0.0] * 9], TypeError, "cameras: list is not a NumPy array"),
    ("cameras", np.ones((5, 9), int), TypeError, "cameras: int64 is not float64 or float32: use cameras.astype"),
    ("cameras", np.ones((5, 9), ">f8"), TypeError, "cameras: >f8 has another byte order"),
    ("cameras", np.ones((5, 6)), ValueError, "cameras: has the shape (5, 6), not (n, 9)"),
    ("cameras", np.ones(45), ValueError, "cameras: has the shape (45,), not (n, 9)"),
    ("cameras", np.ones((0, 9)), ValueError, "camera_index[0] is"),
    ("cameras", changed("cameras", (3, 6), np.nan), ValueError, "cameras[3, 6]: nan is not a finite number"),
    ("points", changed("points", (29, 2), -np.inf), ValueError, "points[29, 2]: -inf is not a finite number"),
    ("points", np.ones((30, 2)), ValueError, "points: has the shape (30, 2), not (m, 3)"),
    ("points", np.ones((30, 3), complex), TypeError, "points: complex128 is not float64"),
    ("camera_index", changed("camera_index", 7, 5), ValueError, "camera_index[7] is 5, not from 0 to less than 5"),
    ("camera_index", changed("camera_index", 7, -1), ValueError, "camera_index[7] is -1, not from 0"),
    ("camera_index", BUNDLE["camera_index"][:-1], ValueError, "camera_index: has 89 rows, and observations has 90"),
    ("camera_index", BUNDLE["camera_index"] + 0.0, TypeError, "camera_index: float64 is not a type of integers"),
    ("camera_index", BUNDLE["camera_index"] > 2, TypeError, "camera_index: bool is not a type of integers"),
    ("camera_index", list(BUNDLE["camera_index"]), TypeError, "camera_index: list is not a NumPy array"),
    ("camera_index", BUNDLE["camera_index"][:, None], ValueError, "camera_index: has 2 dimensions, not 1"),
    ("point_index", changed("point_index", 0, 2**40), ValueError, "point_index[0] is 1099511627776"),
    ("point_index", BUNDLE["point_index"].astype(np.uint64) - np.uint64(1), ValueError, "is 18446744073709551615"),
    ("observations", changed("observations", (8, 1), np.nan), ValueError, "observations[8, 1]: nan"),
    ("observations", np.ones((90, 3)), ValueError, "observations: has the shape (90, 3), not (k, 2)"),
    ("hold", [0, 5], ValueError, "hold[1] is 5, not from 0 to less than 5"),
    ("hold", -1, ValueError, "hold[0] is -1"),
    ("hold", [0.0], TypeError, "hold: float64 is neither a type of integers nor bool"),
    ("hold", "all", TypeError, "hold: <U3 is neither"),
    ("hold", np.ones(4, bool), ValueError, "hold: the mask has the shape (4,), not (5,)"),
    ("hold_points", [[1, 2]], ValueError, "hold_points: has 2 dimensions, not 1"),
]
BAD_GRAPHS = [
    (
        "poses",
        np.ones((12, 6)),
        ValueError,
        "poses: has the shape (12, 6), not (n, 3) for the plane or (n, 7) for space",
    ),
    ("poses", changed("poses", (4, 0), np.nan), ValueError, "poses[4, 0]: nan"),
    ("poses", changed("poses", (4, slice(3, 7)), 0), ValueError, "poses[4]: the quaternion is 0"),
    ("poses", np.ones((12, 7), int), TypeError, "poses: int64 is not float64"),
    ("measurements", changed("measurements", (9, slice(3, 7)), 0), ValueError, "measurements[9]: the quaternion is 0"),
    ("measurements", np.ones((24, 3)), ValueError, "measurements: has the shape (24, 3), not (n, 7)"),
    ("i", changed("i", 2, 12), ValueError, "i[2] is 12, not from 0 to less than 12"),
    ("j", GRAPH["j"][:3], ValueError, "j: has 3 rows, and measurements has 24"),
    ("j", changed("j", 5, GRAPH["i"][5]), ValueError, "j[5] is 2, and so is i[5]: a pose is not measured from itself"),
    ("information", np.eye(3), ValueError, "information: has the shape (3, 3), not (6, 6)"),
    ("information", np.ones((23, 6, 6)), ValueError, "information: has 23 rows, and measurements has 24"),
    ("information", LOPSIDED, ValueError, "information[2, 0, 1]: the matrix is not symmetric"),
    ("information", IDENTITIES * np.nan, ValueError, "information[0, 0, 0]: nan"),
    ("landmarks", np.ones((4, 2)), ValueError, "landmarks: has the shape (4, 2), not (n, 3)"),
    ("landmarks", None, ValueError, "landmarks: missing, but sightings"),
    ("sightings", None, ValueError, "sightings: missing, but landmarks are given"),
    ("sightings", np.ones((16, 3), np.float16), TypeError, "sightings: float16"),
    ("sighting_pose", changed("sighting_pose", 1, 99), ValueError, "sighting_pose[1] is 99"),
    ("sighting_landmark", changed("sighting_landmark", 1, 4), ValueError, "sighting_landmark[1] is 4"),
    ("sighting_information", np.ones((3, 3, 3)), ValueError, "sighting_information: has 3 rows, and sightings has 16"),
    ("hold_landmarks", [4], ValueError, "hold_landmarks[0] is 4"),
    ("names", np.arange(11), ValueError, "names: has the shape (11,), not (12,)"),
    ("names", np.arange(12) - 1, ValueError, "names[0] is -1, less than 0"),
    ("landmark_names", np.arange(4.0), TypeError, "landmark_names: float64 is not a type of integers"),
    ("start", "best", ValueError, "start: 'best' is not one of 'auto', 'file', 'chordal'"),
]
BAD_OPTIONS = [
    ("loss", "huber", ValueError, "loss: "),
    ("loss", "huber:-1", ValueError, "loss: "),
    ("loss", 1.5, TypeError, "loss: 1.5 is not"),
    ("method", "newton", ValueError, "method: 'newton' is not one of"),
    ("linear", "qr", ValueError, "linear: 'qr' is not one of"),
    ("iterations", -1, ValueError, "iterations: -1 is not from 0"),
    ("iterations", 2.0, TypeError, "iterations: 2.0 is not a number of iterations"),
    ("tolerance", np.nan, ValueError, "tolerance: nan is not a finite number from 0 on"),
    ("tolerance", "1e-6", TypeError, "tolerance: '1e-6' is not a number"),
    ("damping", -1e-3, ValueError, "damping: -0.001 is not a finite number from 0 on"),
    ("callback", 3, TypeError, "callback: int is not callable"),
    ("device", "host", ValueError, 'device: "host" is no OpenCL device'),
    ("device", "no such device", blockmul.NoDevice, ""),
    ("device", 1.5, TypeError, "device: 1.5"),
]


def refuses(call, arguments, error, words):
    with pytest.raises(error) as raised:
        call(**arguments)
    assert words in str(raised.value)
    assert isinstance(raised.value, TypeError) or isinstance(raised.value, blockmul.Error)


@pytest.mark.parametrize("name, value, error, words", BAD_BUNDLES)
def test_a_bad_argument_of_a_bundle_adjustment_is_named(name, value, error, words):
    refuses(blockmul.bundle_adjust, {**BUNDLE, name: value}, error, words)


@pytest.mark.parametrize("name, value, error, words", BAD_GRAPHS)
def test_a_bad_argument_of_a_graph_is_named(device, name, value, error, words):
    refuses(blockmul.pose_graph, {**GRAPH, name: value}, error, words)


@pytest.mark.parametrize("name, value, error, words", BAD_OPTIONS)
def test_a_bad_option_is_named(device, name, value, error, words):
    refuses(blockmul.bundle_adjust, {**BUNDLE, name: value}, error, words)
    refuses(blockmul.pose_graph, {**GRAPH, name: value}, error, words)


def test_nothing_to_solve_is_refused(device):
    empty = {name: array[:0] for name, array in BUNDLE.items()}
    refuses(blockmul.bundle_adjust, empty, ValueError, "observations: there are none")
    refuses(
        blockmul.bundle_adjust, {**BUNDLE, "hold": range(5), "hold_points": range(30)}, ValueError, "nothing is unknown"
    )
    empty = {name: array[:0] for name, array in GRAPH.items()}
    refuses(blockmul.pose_graph, empty, ValueError, "measurements: there are none")
    refuses(
        blockmul.pose_graph, {**GRAPH, "hold": range(12), "hold_landmarks": range(4)}, ValueError, "nothing is unknown"
    )


def test_solvers_that_do_not_fit_are_refused(device):
    bare = dict(zip(("poses", "i", "j", "measurements", "information"), GIVEN))
    refuses(
        blockmul.pose_graph,
        {**bare, "information": np.zeros((6, 6))},
        ValueError,
        "their information matrices are zero",
    )
    for linear in ("schur-cholesky", "conjugate-gradients"):
        refuses(blockmul.pose_graph, {**bare, "linear": linear}, ValueError, "unknown points or landmarks")
        refuses(
            blockmul.bundle_adjust, {**BUNDLE, "hold_points": range(30), "linear": linear}, ValueError, "unknown points"
        )


def test_without_opencl_the_exception_says_what_to_install():
    text = "import blockmul, numpy as np\n" + (
        "try: blockmul.bundle_adjust(np.ones((1, 9)), np.ones((1, 3)), np.array([0]), np.array([0]), np.ones((1, 2)))\n"
        "except blockmul.NoDevice as error: print('no device:', error)\n"
    )
    environment = {**os.environ, "OCL_ICD_VENDORS": "/nonexistent", "OCL_ICD_FILENAMES": ""}
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, env=environment)
    assert ran.returncode == 0 and ran.stdout.startswith("no device: ") and "install" in ran.stdout, ran
