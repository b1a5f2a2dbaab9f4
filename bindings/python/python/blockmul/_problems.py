"""Whole least-squares problems: bundle adjustments and graphs of poses and landmarks."""

from __future__ import annotations

import operator
import os
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from . import _blockmul
from ._calls import where
from ._checks import Floats, array, check_length, held, indices, matrices, numbers, share
from ._errors import BadInput
from ._passed import BundleArrays, Each, Facts, GraphArrays, Names, Options
from ._summary import Dominant, Iteration, Summary, Times

if TYPE_CHECKING:
    from ._calls import Where

_Path: TypeAlias = str | os.PathLike[str]
_Real: TypeAlias = NDArray[np.float64] | NDArray[np.float32]
_Index: TypeAlias = NDArray[np.integer[Any]]
_Hold: TypeAlias = _Index | NDArray[np.bool_] | Sequence[int] | Sequence[bool] | int | None
_Callback: TypeAlias = Callable[[Iteration], object]
_Method: TypeAlias = Literal["levenberg-marquardt", "gauss-newton"]
_Linear: TypeAlias = Literal["cholesky", "normal-cholesky", "schur-cholesky", "conjugate-gradients"]
_Start: TypeAlias = Literal["auto", "file", "chordal"]

_METHODS = ("levenberg-marquardt", "gauss-newton")
_LINEAR = ("cholesky", "normal-cholesky", "schur-cholesky", "conjugate-gradients")
_STARTS = ("auto", "file", "chordal")


class Bundle(NamedTuple):
    """A bundle adjustment, in the order of the arguments of `bundle_adjust`."""

    cameras: Floats
    """For each camera nine numbers: the rotation as angle times axis, the translation, the focal
    length in pixels, and the coefficients k1 and k2 of radial distortion."""
    points: Floats
    """The place x, y, z of each point."""
    camera_index: NDArray[np.int64]
    """The camera of each observation."""
    point_index: NDArray[np.int64]
    """The point of each observation."""
    observations: Floats
    """The place x, y of each observation, in pixels from the centre of the picture, y up."""


class BundleSolution(NamedTuple):
    """The solution of a bundle adjustment, in new arrays."""

    cameras: Floats
    points: Floats
    summary: Summary


class Graph(NamedTuple):
    """A graph of poses and landmarks. The fields are arguments of `pose_graph`."""

    poses: Floats
    """In the plane (n, 3): x, y, angle. In space (n, 7): x, y, z and the quaternion x, y, z, w."""
    i: NDArray[np.int64]
    """The pose from which each measurement was made."""
    j: NDArray[np.int64]
    """The pose that was measured."""
    measurements: Floats
    """The pose j in the frame of pose i."""
    information: Floats
    """The inverse of each measurement's covariance: rows of translations, then of rotations."""
    landmarks: Floats
    """The place of each landmark."""
    sighting_pose: NDArray[np.int64]
    """The pose of each sighting of a landmark."""
    sighting_landmark: NDArray[np.int64]
    """The landmark of each sighting."""
    sightings: Floats
    """The landmark in the frame of the pose."""
    sighting_information: Floats
    """The inverse of each sighting's covariance."""
    names: Names
    """The names of the poses in the file."""
    landmark_names: Names
    """The names of the landmarks in the file."""
    hold: NDArray[np.int64]
    """The poses that the file fixes."""
    hold_landmarks: NDArray[np.int64]
    """The landmarks that the file fixes."""


class PoseSolution(NamedTuple):
    """The solution of a graph of poses, in a new array."""

    poses: Floats
    summary: Summary


class GraphSolution(NamedTuple):
    """The solution of a graph of poses and landmarks, in new arrays."""

    poses: Floats
    landmarks: Floats
    summary: Summary


def read_bal(path: _Path) -> Bundle:
    """The bundle adjustment in a file of BAL, plain, packed or in an archive.

    `bundle_adjust(*read_bal(path))` solves it.
    """
    read = _blockmul.read_bal(path)
    return Bundle(
        read["cameras"].reshape(-1, 9),
        read["points"].reshape(-1, 3),
        read["camera_index"],
        read["point_index"],
        read["observations"].reshape(-1, 2),
    )


def read_g2o(path: _Path, *, edges: Literal["isam", "toro"] | None = None) -> Graph:
    """The graph in a file of g2o, iSAM or TORO, plain, packed or in an archive.

    `pose_graph(**read_g2o(path)._asdict())` solves it. The format is recognised by the contents; a
    warning says how, if there was a choice. `edges` chooses between iSAM and TORO for a file that
    may be of either.
    """
    if not isinstance(edges, str | None) or edges not in (None, "isam", "toro"):
        raise BadInput(f"edges: {edges!r} is not 'isam', 'toro' or None")
    read = _blockmul.read_graph(path, edges)
    for note in read.pop("notes"):
        warnings.warn(f"{os.fspath(path)}: {note}", stacklevel=2)
    row, pose, landmark = (7, 6, 3) if read.pop("in_space") else (3, 3, 2)
    shapes = {
        "poses": (-1, row),
        "measurements": (-1, row),
        "information": (-1, pose, pose),
        "landmarks": (-1, landmark),
        "sightings": (-1, landmark),
        "sighting_information": (-1, landmark, landmark),
    }
    return Graph(**{name: found.reshape(shapes.get(name, -1)) for name, found in read.items()})


def _options(
    loss: object, method: object, linear: object, start: object, iterations: Any, tolerance: Any, damping: Any
) -> Options:
    if loss is not None and not isinstance(loss, str):
        raise TypeError(f"loss: {loss!r} is not 'squared', 'huber:WIDTH', 'cauchy:WIDTH' or None")
    for name, given, known in (("method", method, _METHODS), ("linear", linear, _LINEAR), ("start", start, _STARTS)):
        if not isinstance(given, str) or given not in known:
            raise BadInput(f"{name}: {given!r} is not one of {', '.join(map(repr, known))}")
    if isinstance(iterations, bool) or not hasattr(iterations, "__index__"):
        raise TypeError(f"iterations: {iterations!r} is not a number of iterations")
    if not 0 <= operator.index(iterations) < 2**32:
        raise BadInput(f"iterations: {iterations} is not from 0 to less than 2**32")
    shares = share("tolerance", tolerance), share("damping", damping)
    return Options(loss, str(method), str(linear), str(start), operator.index(iterations), *shares)


def _each(callback: _Callback | None) -> Each | None:
    """The callback as `_blockmul` calls it."""
    if callback is None:
        return None
    if not callable(callback):
        raise TypeError(f"callback: {type(callback).__name__} is not callable")

    def each(*fields: Any) -> bool:
        ends = callback(Iteration(*fields))
        return isinstance(ends, (bool, np.bool_)) and bool(ends)

    return each


def _summary(facts: Facts) -> Summary:
    made: dict[str, Any] = dict(facts)
    made["iterations"] = [Iteration(*fields) for fields in facts["iterations"]]
    made["times"] = Times(*facts["times"])
    made["dominant"] = facts["dominant"] and Dominant(*facts["dominant"])
    return Summary(**made)


def bundle_adjust(
    cameras: _Real,
    points: _Real,
    camera_index: _Index,
    point_index: _Index,
    observations: _Real,
    *,
    loss: str | None = None,
    hold: _Hold = None,
    hold_points: _Hold = None,
    method: _Method = "levenberg-marquardt",
    linear: _Linear = "cholesky",
    iterations: int = 100,
    tolerance: float = 1e-6,
    damping: float = 1e-4,
    device: Where = None,
    callback: _Callback | None = None,
) -> BundleSolution:
    """Moves cameras and points so that every point appears where it was observed.

    `cameras` (n, 9), `points` (m, 3) and `observations` (k, 2) are as in `Bundle`. Observation o is of
    the point `point_index[o]` by the camera `camera_index[o]`. A camera looks along -z. The cost is
    half the sum of squared distances in pixels, or of `loss`: "huber:WIDTH" or "cauchy:WIDTH".

    `hold` and `hold_points` are indices or masks of the cameras and points that stay where they are.
    `method` makes the steps, and `linear` solves their systems. The iteration ends after `iterations`
    steps, or when a step lowers the cost by at most the share `tolerance`. `damping` is λ of the first
    step. `callback` is called with each `Iteration`; if it returns True or raises StopIteration, the
    iteration ends. Any other exception ends the call.

    Returns new arrays and a `Summary`. Its `status` is to be looked at: only "converged" is a minimum.
    """
    on, _ = where(device, None)
    options = _options(loss, method, linear, "file", iterations, tolerance, damping)
    each = _each(callback)
    of_cameras = numbers("cameras", cameras, "n", 9)
    of_points = numbers("points", points, "m", 3)
    places = numbers("observations", observations, "k", 2)
    of_camera = indices("camera_index", camera_index, len(of_cameras))
    of_point = indices("point_index", point_index, len(of_points))
    check_length("camera_index", of_camera, len(places), "observations")
    check_length("point_index", of_point, len(places), "observations")
    if not len(places):
        raise BadInput("observations: there are none, so nothing is unknown")
    arrays = BundleArrays(
        of_cameras.reshape(-1),
        of_points.reshape(-1),
        of_camera,
        of_point,
        places.reshape(-1),
        held("hold", hold, len(of_cameras)),
        held("hold_points", hold_points, len(of_points)),
    )
    moved, placed, facts = _blockmul.bundle_adjust(arrays, options, on, each)
    return BundleSolution(moved.reshape(-1, 9), placed.reshape(-1, 3), _summary(facts))


def _rows(name: str, given: object, side: int) -> Floats:
    """Poses, whose quaternions are not 0."""
    rows = numbers(name, given, "n", side)
    if side == 7:
        zero = ~rows[:, 3:].any(axis=1)
        if zero.any():
            raise BadInput(f"{name}[{int(np.argmax(zero))}]: the quaternion is 0, which is no rotation")
    return rows


def _names(name: str, given: _Index | None, count: int) -> Names:
    if given is None:
        return np.zeros(0, np.uint64)
    found = array(name, given)
    if not np.issubdtype(found.dtype, np.integer):
        raise TypeError(f"{name}: {found.dtype} is not a type of integers")
    if found.shape != (count,):
        raise BadInput(f"{name}: has the shape {found.shape}, not ({count},)")
    if found.size and found.min() < 0:
        at = int(np.argmin(found))
        raise BadInput(f"{name}[{at}] is {found[at]}, less than 0")
    return np.array(found, np.uint64)


@overload
def pose_graph(
    poses: _Real,
    i: _Index,
    j: _Index,
    measurements: _Real,
    information: _Real | None = None,
    *,
    landmarks: None = None,
    names: _Index | None = None,
    hold: _Hold = None,
    start: _Start = "auto",
    loss: str | None = None,
    method: _Method = "levenberg-marquardt",
    linear: _Linear = "cholesky",
    iterations: int = 100,
    tolerance: float = 1e-6,
    damping: float = 1e-4,
    device: Where = None,
    callback: _Callback | None = None,
) -> PoseSolution: ...
@overload
def pose_graph(
    poses: _Real,
    i: _Index,
    j: _Index,
    measurements: _Real,
    information: _Real | None = None,
    *,
    landmarks: _Real,
    sighting_pose: _Index,
    sighting_landmark: _Index,
    sightings: _Real,
    sighting_information: _Real | None = None,
    names: _Index | None = None,
    landmark_names: _Index | None = None,
    hold: _Hold = None,
    hold_landmarks: _Hold = None,
    start: _Start = "auto",
    loss: str | None = None,
    method: _Method = "levenberg-marquardt",
    linear: _Linear = "cholesky",
    iterations: int = 100,
    tolerance: float = 1e-6,
    damping: float = 1e-4,
    device: Where = None,
    callback: _Callback | None = None,
) -> GraphSolution: ...
def pose_graph(
    poses: _Real,
    i: _Index,
    j: _Index,
    measurements: _Real,
    information: _Real | None = None,
    *,
    landmarks: _Real | None = None,
    sighting_pose: _Index | None = None,
    sighting_landmark: _Index | None = None,
    sightings: _Real | None = None,
    sighting_information: _Real | None = None,
    names: _Index | None = None,
    landmark_names: _Index | None = None,
    hold: _Hold = None,
    hold_landmarks: _Hold = None,
    start: _Start = "auto",
    loss: str | None = None,
    method: _Method = "levenberg-marquardt",
    linear: _Linear = "cholesky",
    iterations: int = 100,
    tolerance: float = 1e-6,
    damping: float = 1e-4,
    device: Where = None,
    callback: _Callback | None = None,
) -> PoseSolution | GraphSolution:
    """Moves poses, and landmarks if there are any, so that they fit the measurements.

    `poses` (n, 3) in the plane are x, y and an angle; (n, 7) in space x, y, z and a quaternion x, y, z,
    w of any length except 0. Measurement k is the pose `j[k]` in the frame of pose `i[k]`; its row in
    `measurements` is like one of `poses`. `information` has its inverse covariance, (3, 3) or (6, 6) with
    the translation first: a matrix for each measurement, one for all, or None for the identity.
    Sighting k is the landmark `sighting_landmark[k]` in the frame of the pose `sighting_pose[k]`, as x, y
    or x, y, z. The cost is half the sum of eᵀΩe over all measurements, or of `loss`.

    `hold` and `hold_landmarks` are indices or masks of what stays where it is. In each part of the graph
    that nothing holds, the first pose is held. If a matrix has a negative eigenvalue, all become
    isotropic. `start` is "file" for `poses`, "chordal" for a relaxation of all measurements, or "auto" for
    the cheaper. `names` and `landmark_names` are for messages. All other arguments are those of
    `bundle_adjust`.

    Returns a `PoseSolution`, or with `landmarks` a `GraphSolution`, of new arrays. The `status` of its
    `Summary` is to be looked at: only "converged" is a minimum.
    """
    on, _ = where(device, None)
    options = _options(loss, method, linear, start, iterations, tolerance, damping)
    each = _each(callback)
    given = array("poses", poses)
    if given.ndim != 2 or given.shape[1] not in (3, 7):
        raise BadInput(f"poses: has the shape {given.shape}, not (n, 3) for the plane or (n, 7) for space")
    row, side, width = (7, 6, 3) if given.shape[1] == 7 else (3, 3, 2)
    places = _rows("poses", given, row)
    measured = _rows("measurements", measurements, row)
    start_of, end_of = indices("i", i, len(places)), indices("j", j, len(places))
    check_length("i", start_of, len(measured), "measurements")
    check_length("j", end_of, len(measured), "measurements")
    if (start_of == end_of).any():
        at = int(np.argmax(start_of == end_of))
        raise BadInput(f"j[{at}] is {end_of[at]}, and so is i[{at}]: a pose is not measured from itself")
    if landmarks is None:
        of_landmarks = (
            sighting_pose,
            sighting_landmark,
            sightings,
            sighting_information,
            landmark_names,
            hold_landmarks,
        )
        if any(each_of is not None for each_of in of_landmarks):
            raise BadInput("landmarks: missing, but sightings, names or a hold of landmarks are given")
        sighting_pose = sighting_landmark = np.zeros(0, np.int64)
        sightings = np.zeros((0, width))
    else:
        needed = {"sighting_pose": sighting_pose, "sighting_landmark": sighting_landmark, "sightings": sightings}
        for name, given_one in needed.items():
            if given_one is None:
                raise BadInput(f"{name}: missing, but landmarks are given")
    known = numbers("landmarks", np.zeros((0, width)) if landmarks is None else landmarks, "n", width)
    seen = numbers("sightings", sightings, "k", width)
    seeing, seen_one = indices("sighting_pose", sighting_pose, len(places)), indices(
        "sighting_landmark", sighting_landmark, len(known)
    )
    check_length("sighting_pose", seeing, len(seen), "sightings")
    check_length("sighting_landmark", seen_one, len(seen), "sightings")
    if not len(measured) and not len(seen):
        raise BadInput("measurements: there are none, so nothing is unknown")
    arrays = GraphArrays(
        row == 7,
        places.reshape(-1),
        _names("names", names, len(places)),
        start_of,
        end_of,
        measured.reshape(-1),
        matrices("information", information, side, len(measured)).reshape(-1),
        known.reshape(-1),
        _names("landmark_names", landmark_names, len(known)),
        seeing,
        seen_one,
        seen.reshape(-1),
        matrices("sighting_information", sighting_information, width, len(seen)).reshape(-1),
        held("hold", hold, len(places)),
        held("hold_landmarks", hold_landmarks, len(known)),
    )
    moved, placed, facts = _blockmul.pose_graph(arrays, options, on, each)
    if landmarks is None:
        return PoseSolution(moved.reshape(-1, row), _summary(facts))
    return GraphSolution(moved.reshape(-1, row), placed.reshape(-1, width), _summary(facts))
