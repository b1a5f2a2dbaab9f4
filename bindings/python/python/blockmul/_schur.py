"""The Schur complement of normal equations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _blockmul
from ._calls import keep, where
from ._checks import share
from ._errors import BadInput
from ._sparse import built, check_real, common_dtype, compressed, flat, in_format, may_be_narrow, sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._calls import Where
    from ._products import Sparse


class Reduced:
    """Normal equations from which the unknowns of `v` were eliminated: s·x_u = rhs.

    `s` is a sparse matrix in the kind and format of `u`, `rhs` a vector.
    """

    s: Any
    rhs: NDArray[Any]

    def __init__(self, s: Any, rhs: NDArray[Any], values: _blockmul.Reduced) -> None:
        self.s, self.rhs, self._values = s, rhs, values

    def back_substitute(self, x: NDArray[Any]) -> NDArray[Any]:
        """The eliminated unknowns x_v for the solution x_u of s·x_u = rhs."""
        return self._values.back_substitute(_vector("x", x, self.rhs.dtype, self.rhs.size))


def _vector(name: str, x: Any, dtype: np.dtype[Any] | None, size: int) -> NDArray[Any]:
    """The vector with contiguous elements, of type `dtype` if that is given."""
    if not isinstance(x, np.ndarray | list | tuple):
        raise TypeError(f"{name}: {type(x).__name__} is not a NumPy array")
    vector = np.asarray(x)
    check_real(name, vector.dtype)
    if vector.ndim != 1:
        raise BadInput(f"{name}: has {vector.ndim} dimensions, not 1")
    if vector.size != size:
        raise BadInput(f"{name}: has {vector.size} numbers, {size} expected")
    return flat(vector, dtype or vector.dtype)


def _damping(damping: float, kind: str) -> tuple[str, float]:
    if not isinstance(kind, str) or kind not in ("marquardt", "levenberg"):
        raise BadInput(f"damping_kind: {kind!r} is not 'marquardt' or 'levenberg'")
    return kind, share("damping", damping)


def schur(
    u: Sparse,
    w: Sparse,
    v: Sparse,
    b_u: NDArray[Any],
    b_v: NDArray[Any],
    *,
    damping: float = 0.0,
    damping_kind: Literal["marquardt", "levenberg"] = "marquardt",
    part: Literal["full", "lower"] = "full",
    device: Where = None,
    threads: int | None = None,
) -> Reduced:
    """The Schur complement s = u - w·v⁻¹·wᵀ of the equations [[u, w], [wᵀ, v]]·[x_u, x_v] = [b_u, b_v].

    `u` is symmetric, and `v` is block-diagonal and positive definite. Blocks are those of `w` in BSR,
    else 1x1: blocks of r x c in `w` mean r x r in `u` and c x c in `v`. Only blocks on and below the
    diagonal of `u` are read, and of a diagonal block of `v` only elements on and below the diagonal.
    With `damping` λ the diagonals of `u` and `v` are increased by λ times the diagonal ("marquardt")
    or by λ ("levenberg"). With `part="lower"` only the blocks of s on and below the diagonal are
    stored. `device` and `threads` are as in `multiply`.
    """
    device, threads = where(device, threads)
    if not isinstance(part, str) or part not in ("full", "lower"):
        raise BadInput(f"part: {part!r} is not 'full' or 'lower'")
    of_damping = _damping(damping, damping_kind)
    given = sparse("u", u)
    middle, last = sparse("w", w), sparse("v", v)
    rows, columns = middle.blocksize if middle.format == "bsr" else (1, 1)
    (many, few), sides = middle.shape, {"u": given.shape, "v": last.shape}
    for name, side in (("u", many), ("v", few)):
        if sides[name] != (side, side):
            found = f"{sides[name][0]}x{sides[name][1]}"
            raise BadInput(f"{name}: is {found}, and w is {many}x{few}, so {side}x{side} is expected")
    right = _vector("b_u", b_u, None, many), _vector("b_v", b_v, None, few)
    dtype = common_dtype(given, middle, last, *right)
    transposes = (
        in_format(name, matrix, "bsr", block).T
        for name, matrix, block in (
            ("u", given, (rows, rows)),
            ("w", middle, (rows, columns)),
            ("v", last, (columns, columns)),
        )
    )
    arrays, rhs, values, ran = _blockmul.schur(
        *(compressed(matrix, dtype) for matrix in transposes),
        *(flat(vector, dtype) for vector in right),
        of_damping,
        part == "full",
        may_be_narrow(given, middle, last),
        device,
        threads,
    )
    keep(ran)
    s = built(given, arrays, given.shape, (rows, rows), stored="bsr")
    return Reduced(s if given.format == "bsr" else s.asformat(given.format), rhs, values)
