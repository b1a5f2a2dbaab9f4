"""Products of SciPy's matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, overload

import numpy as np
import scipy.sparse as sp

from . import _blockmul, _device
from ._calls import keep, where
from ._device import DeviceMatrix, DeviceVector
from ._errors import BadInput
from ._sparse import (
    built,
    check_real,
    common_dtype,
    compressed,
    flat,
    in_format,
    is_array,
    may_be_narrow,
    meeting,
    sparse,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._calls import Where

    Sparse: TypeAlias = sp.sparray | sp.spmatrix
    _Left = TypeVar("_Left", sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix, sp.bsr_array, sp.bsr_matrix)


def _check_method(method: Any) -> None:
    if not isinstance(method, str | None):
        raise TypeError(f"method: {method!r} is not a name or None")


@overload
def multiply(
    a: sp.coo_array, b: Sparse, *, device: Where = None, method: str | None = None, threads: int | None = None
) -> sp.csr_array: ...
@overload
def multiply(
    a: sp.coo_matrix, b: Sparse, *, device: Where = None, method: str | None = None, threads: int | None = None
) -> sp.csr_matrix: ...
@overload
def multiply(
    a: _Left, b: Sparse, *, device: Where = None, method: str | None = None, threads: int | None = None
) -> _Left: ...
@overload
def multiply(a: DeviceMatrix, b: DeviceMatrix, *, method: str | None = None) -> DeviceMatrix: ...
@overload
def multiply(a: DeviceMatrix, b: DeviceVector) -> DeviceVector: ...
@overload
def multiply(a: DeviceVector, b: DeviceMatrix) -> DeviceVector: ...
@overload
def multiply(
    a: Sparse, b: NDArray[Any], *, device: Where = None, method: None = None, threads: int | None = None
) -> NDArray[Any]: ...
@overload
def multiply(
    a: NDArray[Any], b: Sparse, *, device: Where = None, method: None = None, threads: int | None = None
) -> NDArray[Any]: ...
def multiply(a: Any, b: Any, *, device: Where = None, method: str | None = None, threads: int | None = None) -> Any:
    """The product a·b.

    `a` is a sparse matrix of SciPy in CSR, CSC, BSR or COO, `b` another one, or a NumPy array of one
    or two dimensions. If `b` is sparse, `a` may also be a NumPy array of one or two dimensions. A
    sparse product has the kind (array or matrix) and the format of `a`; COO gives CSR. A dense one is
    a NumPy array.

    `device` is None (chosen by the size of the product), "host", "gpu", "cpu", an index or a part of
    a name of `devices()`, or one of these devices. `method` names a method of the device for a sparse
    product. `threads` limits the host's threads.

    If `a` is a `DeviceMatrix`, so is `b`, or a `DeviceVector`, and the result stays on their device.
    """
    if _device.any_is_resident(a, b):
        _check_method(method)
        return _device.multiply(a, b, device, threads, method)
    device, threads = where(device, threads)
    _check_method(method)
    if not sp.issparse(a) and sp.issparse(b):
        return _dense(sparse("b", b), a, True, device, method, threads)
    a = sparse("a", a)
    if not sp.issparse(b):
        return _dense(a, b, False, device, method, threads)
    b = sparse("b", b)
    dtype = common_dtype(a, b)
    a, b = meeting(a, b)
    narrow = may_be_narrow(a, b)
    arrays, ran = _blockmul.multiply(compressed(a, dtype), compressed(b, dtype), narrow, device, method, threads)
    keep(ran)
    return built(a, arrays, (a.shape[0], b.shape[1]), _block(a, b))


def _block(a: Any, b: Any) -> tuple[int, int]:
    return (a.blocksize[0], b.blocksize[1]) if a.format == "bsr" else (1, 1)


def _dense(
    a: Any, d: Any, from_right: bool, device: Where, method: str | None, threads: int | None, right: str = "b"
) -> NDArray[Any]:
    name = "a" if from_right else right
    if not isinstance(d, np.ndarray | list | tuple):
        raise TypeError(f"{name}: {type(d).__name__} is neither a sparse matrix of SciPy nor a NumPy array")
    d = np.asarray(d)
    check_real(name, d.dtype)
    if d.ndim not in (1, 2):
        raise BadInput(f"{name}: has {d.ndim} dimensions, not 1 or 2")
    if method is not None:
        raise BadInput(f"method: {method!r} is for products of two sparse matrices, and {name} is dense")
    dtype = common_dtype(a, d)
    inner, across = (a.shape[0], -1) if from_right else (a.shape[1], 0)
    if d.shape[across] != inner:
        found = "x".join(map(str, d.shape)) if d.ndim == 2 else f"of {d.size} numbers"
        of_a = f"{a.shape[0]}x{a.shape[1]}"
        a_is, b_is = (found, of_a) if from_right else (of_a, found)
        raise BadInput(f"cannot multiply: a is {a_is}, {right} is {b_is}")
    by_rows = d.ndim == 1 or d.flags.c_contiguous or not d.flags.f_contiguous
    if d.ndim == 1:
        sides = (1, d.size) if from_right else (d.size, 1)
    else:
        sides = d.shape
    numbers = flat(d if by_rows else d.T, dtype)
    values, ran = _blockmul.multiply_dense(compressed(a, dtype), numbers, sides, by_rows, from_right, device, threads)
    keep(ran)
    if d.ndim == 1:
        return values
    rows, columns = (d.shape[0], a.shape[1]) if from_right else (a.shape[0], d.shape[1])
    return values.reshape(rows, columns) if by_rows else values.reshape(columns, rows).T


@overload
def apply(a: Sparse, x: NDArray[Any], *, device: Where = None, threads: int | None = None) -> NDArray[Any]: ...
@overload
def apply(a: DeviceMatrix, x: DeviceVector) -> DeviceVector: ...
def apply(a: Any, x: Any, *, device: Where = None, threads: int | None = None) -> Any:
    """The vector a·x, as `multiply` computes it. `apply(a.T, x)` is aᵀ·x, for which nothing is transposed."""
    if _device.any_is_resident(a, x):
        return _device.apply(a, x, device, threads)
    device, threads = where(device, threads)
    if sp.issparse(x) or np.ndim(x) != 1:
        raise BadInput(f"x: has {np.ndim(x)} dimensions, not 1: use multiply(a, x)")
    return _dense(sparse("a", a), x, False, device, None, threads, "x")


@overload
def gram(
    a: sp.coo_array,
    *,
    part: Literal["full", "lower", "upper"] = "full",
    device: Where = None,
    threads: int | None = None,
) -> sp.csr_array: ...
@overload
def gram(
    a: sp.coo_matrix,
    *,
    part: Literal["full", "lower", "upper"] = "full",
    device: Where = None,
    threads: int | None = None,
) -> sp.csr_matrix: ...
@overload
def gram(
    a: _Left, *, part: Literal["full", "lower", "upper"] = "full", device: Where = None, threads: int | None = None
) -> _Left: ...
@overload
def gram(a: DeviceMatrix, *, part: Literal["full", "lower", "upper"] = "full") -> DeviceMatrix: ...
def gram(
    a: Any, *, part: Literal["full", "lower", "upper"] = "full", device: Where = None, threads: int | None = None
) -> Any:
    """aᵀ·a, or its "lower" or "upper" triangle (`part`), in the kind and format of `a`."""
    if not isinstance(part, str) or part not in ("full", "lower", "upper"):
        raise BadInput(f"part: {part!r} is not 'full', 'lower' or 'upper'")
    if _device.any_is_resident(a):
        return _device.gram(a, part, device, threads)
    device, threads = where(device, threads)
    a = sparse("a", a)
    dtype = common_dtype(a)
    arrays, ran = _blockmul.gram(compressed(a, dtype), part, may_be_narrow(a), device, threads)
    keep(ran)
    block = (a.blocksize[1],) * 2 if a.format == "bsr" else (1, 1)
    return built(a, arrays, (a.shape[1], a.shape[1]), block)


@overload
def masked(
    a: sp.coo_array, b: Sparse, mask: Sparse, *, device: Where = None, threads: int | None = None
) -> sp.csr_array: ...
@overload
def masked(
    a: sp.coo_matrix, b: Sparse, mask: Sparse, *, device: Where = None, threads: int | None = None
) -> sp.csr_matrix: ...
@overload
def masked(a: _Left, b: Sparse, mask: Sparse, *, device: Where = None, threads: int | None = None) -> _Left: ...
@overload
def masked(a: DeviceMatrix, b: DeviceMatrix, mask: DeviceMatrix) -> DeviceMatrix: ...
def masked(a: Any, b: Any, mask: Any, *, device: Where = None, threads: int | None = None) -> Any:
    """The entries of a·b at the places of `mask`, whose values do not matter.

    A place that receives no product has an explicit zero. The result has the kind and format of `a`.
    On a device it has the format of `mask`.
    """
    if _device.any_is_resident(a, b, mask):
        return _device.masked(a, b, mask, device, threads)
    device, threads = where(device, threads)
    a, b, mask = sparse("a", a), sparse("b", b), sparse("mask", mask, real=False)
    dtype = common_dtype(a, b)
    a, b = meeting(a, b)
    shape, block = (a.shape[0], b.shape[1]), _block(a, b)
    if mask.shape != shape:
        raise BadInput(f"mask: is {mask.shape[0]}x{mask.shape[1]}, the product {shape[0]}x{shape[1]}")
    mask = in_format("mask", mask, a.format, block if a.format == "bsr" else None)
    narrow = may_be_narrow(a, b)
    arrays, ran = _blockmul.masked(
        compressed(a, dtype), compressed(b, dtype), compressed(mask, dtype), narrow, device, threads
    )
    keep(ran)
    return built(a, arrays, shape, block)


class Plan:
    """A product of two patterns that is computed many times with other values.

    >>> plan = blockmul.Plan(a, b)
    >>> c = plan.execute(a, b)

    `execute` takes matrices with the patterns, formats and dtypes of those that the plan was made
    for, and returns C, whose pattern is found once. A plan of two `DeviceMatrix` takes those, and
    copies no values.
    """

    @overload
    def __init__(self, a: Sparse, b: Sparse, *, device: Where = None, threads: int | None = None) -> None: ...
    @overload
    def __init__(self, a: DeviceMatrix, b: DeviceMatrix) -> None: ...
    def __init__(self, a: Any, b: Any, *, device: Where = None, threads: int | None = None) -> None:
        self._resident: _device.Plan | None = None
        if _device.any_is_resident(a, b):
            self._resident = _device.Plan(a, b, device, threads)
            return
        device, threads = where(device, threads)
        left, right = sparse("a", a), sparse("b", b)
        self._dtype = dtype = common_dtype(left, right)
        left, right = meeting(left, right)
        self._shape, self._block = (left.shape[0], right.shape[1]), _block(left, right)
        self._plan, arrays = _blockmul.Plan.new(
            compressed(left, dtype), compressed(right, dtype), may_be_narrow(left, right), device, threads
        )
        self._pattern = arrays[:2]
        self._like = left.__class__((0, 0), dtype=dtype)

    @overload
    def execute(self, a: sp.coo_array, b: Sparse) -> sp.csr_array: ...
    @overload
    def execute(self, a: sp.coo_matrix, b: Sparse) -> sp.csr_matrix: ...
    @overload
    def execute(self, a: _Left, b: Sparse) -> _Left: ...
    @overload
    def execute(self, a: DeviceMatrix, b: DeviceMatrix, out: DeviceMatrix | None = None) -> DeviceMatrix: ...
    def execute(self, a: Any, b: Any, out: DeviceMatrix | None = None) -> Any:
        """The product of these values, on a device in `out` or in a new matrix."""
        if self._resident is not None:
            return self._resident.execute(a, b, out)
        if _device.any_is_resident(a, b, out):
            raise TypeError("a, b: the plan was made for matrices of SciPy, not for those on a device")
        a, b = sparse("a", a), sparse("b", b)
        dtype = common_dtype(a, b)
        if dtype != self._dtype:
            raise BadInput(f"a, b: the product is {dtype}, and the plan was made for {self._dtype}")
        a, b = meeting(a, b)
        values, ran = self._plan.execute(compressed(a, dtype), compressed(b, dtype))
        keep(ran)
        indptr, indices = (array.copy() for array in self._pattern)
        return built(self._like, (indptr, indices, values), self._shape, self._block)
