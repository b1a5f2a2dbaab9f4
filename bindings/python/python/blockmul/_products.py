"""Products of SciPy's matrices."""

import threading

import numpy as np
import scipy.sparse as sp

from . import _blockmul
from ._errors import BadInput
from ._sparse import built, common_dtype, compressed, flat, is_array, may_be_narrow, meeting, sparse

_last = threading.local()


def report():
    """What the last call of this thread ran on and by which method.

    Returns a dict with `device` ("host" or the device's name), `method`, `products` (of entries)
    and `milliseconds` (without conversions and transfers), or None before the first call.
    """
    return getattr(_last, "ran", None)


def _told(ran):
    _last.ran = ran


def multiply(a, b, *, device=None, method=None, threads=None):
    """The product a·b.

    `a` is a sparse matrix of SciPy in CSR, CSC, BSR or COO, `b` another one, or a NumPy array of one
    or two dimensions. `a` may also be an array of two dimensions if `b` is sparse. A sparse product
    has the kind (array or matrix) and the format of `a`; COO gives CSR. A dense one is a NumPy array.

    `device` is None (chosen by the size of the product), "host", "gpu", "cpu", an index or a part of
    a name of `devices()`, or one of these devices. `method` names a method of the device. `threads`
    limits the host's threads.
    """
    if not sp.issparse(a) and sp.issparse(b):
        return _dense(sparse("b", b), a, True, device, threads)
    a = sparse("a", a)
    if not sp.issparse(b):
        return _dense(a, b, False, device, threads)
    b = sparse("b", b)
    dtype = common_dtype(a=a, b=b)
    a, b = meeting(a, b)
    narrow = may_be_narrow(a, b)
    arrays, ran = _blockmul.multiply(compressed(a, dtype), compressed(b, dtype), narrow, device, method, threads)
    _told(ran)
    return built(a, arrays, (a.shape[0], b.shape[1]), _block(a, b))


def _block(a, b):
    return (a.blocksize[0], b.blocksize[1]) if a.format == "bsr" else (1, 1)


def _dense(a, d, from_right, device, threads):
    name = "a" if from_right else "b"
    d = np.asarray(d)
    if d.ndim not in (1, 2):
        raise BadInput(f"{name}: has {d.ndim} dimensions, not 1 or 2")
    dtype = common_dtype(**{"b" if from_right else "a": a, name: d})
    inner, across = (a.shape[0], -1) if from_right else (a.shape[1], 0)
    if d.shape[across] != inner:
        raise BadInput(f"cannot multiply: the sparse matrix is {a.shape[0]}x{a.shape[1]}, {name} has the shape {d.shape}")
    by_rows = d.ndim == 1 or d.flags.c_contiguous or not d.flags.f_contiguous
    if d.ndim == 1:
        sides = (1, d.size) if from_right else (d.size, 1)
    else:
        sides = d.shape
    numbers = flat(d if by_rows else d.T, dtype)
    values, ran = _blockmul.multiply_dense(compressed(a, dtype), numbers, sides, by_rows, from_right, device, threads)
    _told(ran)
    if d.ndim == 1:
        return values
    rows, columns = (d.shape[0], a.shape[1]) if from_right else (a.shape[0], d.shape[1])
    return values.reshape(rows, columns) if by_rows else values.reshape(columns, rows).T


def gram(a, *, part="full", device=None, threads=None):
    """aᵀ·a, or its "lower" or "upper" triangle (`part`), in the kind and format of `a`."""
    if part not in ("full", "lower", "upper"):
        raise BadInput(f"part: {part!r} is not 'full', 'lower' or 'upper'")
    a = sparse("a", a)
    dtype = common_dtype(a=a)
    arrays, ran = _blockmul.gram(compressed(a, dtype), part, may_be_narrow(a), device, threads)
    _told(ran)
    block = (a.blocksize[1],) * 2 if a.format == "bsr" else (1, 1)
    return built(a, arrays, (a.shape[1], a.shape[1]), block)


def masked(a, b, mask, *, device=None, threads=None):
    """The entries of a·b at the places of `mask`, whose values do not matter.

    A place that receives no product has an explicit zero. The result has the kind and format of `a`.
    """
    a, b, mask = sparse("a", a), sparse("b", b), sparse("mask", mask)
    dtype = common_dtype(a=a, b=b)
    a, b = meeting(a, b)
    shape, block = (a.shape[0], b.shape[1]), _block(a, b)
    if mask.shape != shape:
        raise BadInput(f"mask: is {mask.shape[0]}x{mask.shape[1]}, the product {shape[0]}x{shape[1]}")
    if mask.format != a.format or (a.format == "bsr" and mask.blocksize != block):
        mask = mask.tobsr(blocksize=block) if a.format == "bsr" else mask.asformat(a.format)
    of_mask = mask if mask.dtype == dtype else mask.astype(dtype)
    narrow = may_be_narrow(a, b)
    arrays, ran = _blockmul.masked(
        compressed(a, dtype), compressed(b, dtype), compressed(of_mask, dtype), narrow, device, threads
    )
    _told(ran)
    return built(a, arrays, shape, block)


class Plan:
    """A product of two patterns that is computed many times with other values.

    >>> plan = blockmul.Plan(a, b)
    >>> c = plan.execute(a, b)

    `execute` takes matrices with the patterns, formats and dtypes of those that the plan was made
    for, and returns C, whose pattern is found once.
    """

    def __init__(self, a, b, *, device=None, threads=None):
        a, b = sparse("a", a), sparse("b", b)
        self._dtype = common_dtype(a=a, b=b)
        a, b = meeting(a, b)
        self._shape, self._block = (a.shape[0], b.shape[1]), _block(a, b)
        self._plan, arrays = _blockmul.Plan.new(
            compressed(a, self._dtype), compressed(b, self._dtype), may_be_narrow(a, b), device, threads
        )
        self._pattern = arrays[:2]
        self._like = a[:0] if a.format != "bsr" else a.__class__((0, 0), blocksize=a.blocksize, dtype=a.dtype)

    def execute(self, a, b):
        """The product of these values."""
        a, b = sparse("a", a), sparse("b", b)
        common_dtype(a=a, b=b)
        a, b = meeting(a, b)
        values, ran = self._plan.execute(compressed(a, self._dtype), compressed(b, self._dtype))
        _told(ran)
        indptr, indices = (array.copy() for array in self._pattern)
        return built(self._like, (indptr, indices, values), self._shape, self._block)
