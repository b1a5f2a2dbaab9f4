"""Arrays of numbers and of indices, checked and contiguous."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._errors import BadInput
from ._sparse import check_real

if TYPE_CHECKING:
    from collections.abc import Sequence

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.uint32]


def array(name: str, given: object) -> NDArray[Any]:
    """Refuses what is not an array of NumPy."""
    if not isinstance(given, np.ndarray) or isinstance(given, np.ma.MaskedArray):
        raise TypeError(f"{name}: {type(given).__name__} is not a NumPy array")
    return np.asarray(given)


def place(name: str, index: Sequence[Any]) -> str:
    """An element in a message."""
    return f"{name}[{', '.join(str(int(at)) for at in index)}]"


def numbers(name: str, given: object, *shape: int | str) -> Floats:
    """An array in float64 and C order. A side that is a word in `shape` may be of any length."""
    found = array(name, given)
    check_real(name, found.dtype)
    if found.ndim != len(shape) or any(
        isinstance(side, int) and length != side for length, side in zip(found.shape, shape)
    ):
        expected = ", ".join(str(side) for side in shape) + ("," if len(shape) == 1 else "")
        raise BadInput(f"{name}: has the shape {found.shape}, not ({expected})")
    made = np.require(found, np.float64, ("C", "A"))
    check_finite(name, made)
    return made


def share(name: str, given: Any) -> float:
    """Refuses what is not a finite number from 0 on."""
    if isinstance(given, (str, bytes)) or not hasattr(given, "__float__"):
        raise TypeError(f"{name}: {given!r} is not a number")
    try:
        found = float(given)
    except OverflowError:
        found = math.inf
    if not (math.isfinite(found) and found >= 0):
        raise BadInput(f"{name}: {given} is not a finite number from 0 on")
    return found


def check_finite(name: str, made: Floats) -> None:
    """Refuses NaN and infinity, with the place."""
    # A sum is finite unless an element is not, or the sum overflows.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(made.sum()):
            return
    bad = ~np.isfinite(made)
    if bad.any():
        at = np.unravel_index(int(np.argmax(bad)), made.shape)
        raise BadInput(f"{place(name, at)}: {made[at]} is not a finite number")


def check_length(name: str, given: NDArray[Any], length: int, of: str) -> None:
    """Refuses an array that has not as many rows as another."""
    if given.shape[0] != length:
        raise BadInput(f"{name}: has {given.shape[0]} rows, and {of} has {length}")


def indices(name: str, given: object, across: int) -> Indices:
    """A copy of an array of indices from 0 to less than `across`."""
    found = array(name, given)
    if not np.issubdtype(found.dtype, np.integer):
        raise TypeError(f"{name}: {found.dtype} is not a type of integers: use {name}.astype(numpy.int64)")
    if found.ndim != 1:
        raise BadInput(f"{name}: has {found.ndim} dimensions, not 1")
    copy = found.copy()
    if copy.size and not 0 <= copy.min() <= copy.max() < across:
        at = int(np.argmax((copy < 0) | (copy >= across)))
        raise BadInput(f"{name}[{at}] is {copy[at]}, not from 0 to less than {across}")
    return copy.astype(np.uint32)


def held(name: str, given: object, count: int) -> Indices:
    """The indices that are held, ascending, from indices or a mask."""
    if given is None:
        return np.zeros(0, np.uint32)
    found = np.atleast_1d(np.asarray(given))
    if found.dtype == np.bool_:
        if found.shape != (count,):
            raise BadInput(f"{name}: the mask has the shape {found.shape}, not ({count},)")
        return np.flatnonzero(found).astype(np.uint32)
    if found.size == 0:
        return np.zeros(0, np.uint32)
    if not np.issubdtype(found.dtype, np.integer):
        raise TypeError(f"{name}: {found.dtype} is neither a type of integers nor bool")
    return np.unique(indices(name, found, count))


def matrices(name: str, given: object, side: int, count: int) -> Floats:
    """Symmetric matrices: one for each of `count` measurements, or one for all; None is the identity."""
    if given is None:
        return np.eye(side)
    if array(name, given).ndim == 2:
        made = numbers(name, given, side, side)
    else:
        made = numbers(name, given, "m", side, side)
        check_length(name, made, count, "measurements" if name == "information" else "sightings")
    turned = made.swapaxes(-1, -2)
    if not np.array_equal(made, turned):
        size = np.abs(made).max(axis=(-1, -2), keepdims=True)
        off = np.abs(made - turned) > 1e-9 * size
        if off.any():
            at = np.unravel_index(int(np.argmax(off)), made.shape)
            raise BadInput(f"{place(name, at)}: the matrix is not symmetric")
        made = np.ascontiguousarray(made / 2 + turned / 2)
    return made
