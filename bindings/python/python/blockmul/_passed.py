"""The arguments and results of whole problems, as `_blockmul` takes and returns them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from ._checks import Floats, Indices

Names: TypeAlias = NDArray[np.uint64]

# The fields of an iteration.
Fields: TypeAlias = tuple[int, float, float, float, float, float, bool, float, float, float, int | None]
# Whether an iteration ends; the arguments are its fields.
Each: TypeAlias = Callable[..., bool]


class Options(NamedTuple):
    """The options of an iteration."""

    loss: str | None
    method: str
    linear: str
    start: str
    iterations: int
    tolerance: float
    damping: float


class BundleArrays(NamedTuple):
    """A bundle adjustment. Each array has one dimension."""

    cameras: Floats
    points: Floats
    camera_index: Indices
    point_index: Indices
    observations: Floats
    hold: Indices
    hold_points: Indices


class GraphArrays(NamedTuple):
    """A graph. Each array has one dimension."""

    in_space: bool
    poses: Floats
    names: Names
    i: Indices
    j: Indices
    measurements: Floats
    information: Floats
    landmarks: Floats
    landmark_names: Names
    sighting_pose: Indices
    sighting_landmark: Indices
    sightings: Floats
    sighting_information: Floats
    hold: Indices
    hold_landmarks: Indices


class Facts(TypedDict):
    """The facts of a summary."""

    status: Literal["converged", "iterations", "no-step", "interrupted", "failed"]
    message: str
    initial_cost: float
    cost: float
    iterations: list[Fields]
    times: tuple[float, float, float, float, float, float, float]
    device: str
    system: Literal["hessian", "schur-complement"]
    start: Literal["file", "chordal"]
    origin: tuple[float, float, float] | None
    notes: list[str]
    held: list[str]
    left_out: list[str]
    dominant: tuple[str, float] | None
    without_influence: str
    text: str


# The arrays of a solution.
Solved: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], Facts]
# The arrays of a file, by the names of their arguments.
Read: TypeAlias = dict[str, Any]
