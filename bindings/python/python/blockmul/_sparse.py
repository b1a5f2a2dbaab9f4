"""SciPy's matrices as the tuples that `_blockmul` takes, and results as SciPy's matrices."""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ._errors import BadInput

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from ._types import Arrays, Compressed

_KINDS = {
    ("csr", True): sp.csr_array,
    ("csr", False): sp.csr_matrix,
    ("csc", True): sp.csc_array,
    ("csc", False): sp.csc_matrix,
    ("bsr", True): sp.bsr_array,
    ("bsr", False): sp.bsr_matrix,
}
_REAL = (np.dtype(np.float64), np.dtype(np.float32))
_LARGEST_SIDE = 32

# The largest `indptr` of results that are copies of an empty matrix, which is kept.
_SHORT = 2**14


def sparse(name: str, argument: object, real: bool = True) -> Any:
    """Refuses what is not a SciPy matrix of floats, and takes COO by rows.

    Without `real` the values do not matter: they are replaced by ones.
    """
    if not sp.issparse(argument):
        raise TypeError(f"{name}: {type(argument).__name__} is not a sparse matrix of SciPy")
    given: Any = argument
    if given.ndim != 2:
        raise BadInput(f"{name}: has {given.ndim} dimensions, not 2")
    if given.format not in ("csr", "csc", "bsr", "coo"):
        raise TypeError(f"{name}: format {given.format} is not csr, csc, bsr or coo: use {name}.tocsr()")
    if not isinstance(given.data, np.ndarray):
        raise TypeError(f"{name}: data is a {type(given.data).__name__}, not a NumPy array")
    if real:
        check_real(name, given.data.dtype)
    if given.format == "coo":
        return _by_rows(name, given, real)
    _check_arrays(name, given)
    return given if real else _ones(given)


def check_real(name: str, dtype: np.dtype[Any]) -> None:
    """Refuses elements that are not float64 or float32."""
    if dtype in _REAL:
        return
    native = dtype.newbyteorder("=")
    if native in _REAL:
        raise TypeError(f"{name}: {dtype} has another byte order: use {name}.astype(numpy.{native})")
    raise TypeError(f"{name}: {dtype} is not float64 or float32: use {name}.astype(numpy.float64)")


def _check_index(name: str, of: str, array: Any) -> None:
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name}: {of} is a {type(array).__name__}, not a NumPy array")
    if array.dtype.kind not in "iu" or not array.dtype.isnative:
        raise TypeError(f"{name}: {of} has the dtype {array.dtype}, not int32 or int64 in this machine's byte order")
    if array.ndim != 1:
        raise BadInput(f"{name}: {of} has {array.ndim} dimensions, not 1")


def _check_arrays(name: str, matrix: Any) -> None:
    """Refuses arrays of other types and dimensions. Their contents are checked later, in a copy."""
    _check_index(name, "indptr", matrix.indptr)
    _check_index(name, "indices", matrix.indices)
    dimensions = 3 if matrix.format == "bsr" else 1
    if matrix.data.ndim != dimensions:
        raise BadInput(f"{name}: data has {matrix.data.ndim} dimensions, not {dimensions}")
    if matrix.format != "bsr":
        return
    rows, columns = matrix.blocksize
    if not (1 <= rows <= _LARGEST_SIDE and 1 <= columns <= _LARGEST_SIDE):
        raise BadInput(
            f"{name}: blocks of {rows}x{columns} have a side that is not from 1 to {_LARGEST_SIDE}: "
            f"use {name}.tobsr(blocksize=...) or {name}.tocsr()"
        )
    if matrix.shape[0] % rows or matrix.shape[1] % columns:
        raise BadInput(f"{name}: {matrix.shape[0]}x{matrix.shape[1]} is not divisible into blocks of {rows}x{columns}")


def _check_range(name: str, of: str, indices: NDArray[Any], across: int) -> None:
    if indices.size and not 0 <= (least := indices.min()) <= (most := indices.max()) < across:
        at = int(np.argmax((indices < 0) | (indices >= across)))
        raise BadInput(f"{name}: {of}[{at}] is {indices[at]}, not from 0 to less than {across}")


def _by_rows(name: str, given: Any, real: bool) -> Any:
    """A COO matrix as CSR. SciPy trusts the coordinates, so they are checked before."""
    for of, array, across in (("row", given.row, given.shape[0]), ("col", given.col, given.shape[1])):
        _check_index(name, of, array)
        if array.size != given.data.size:
            raise BadInput(f"{name}: {of} has {array.size} numbers, data has {given.data.size}")
        _check_range(name, of, array, across)
    if not real:
        given = given.__class__((np.ones(given.data.shape, np.float32), (given.row, given.col)), shape=given.shape)
    return given.tocsr()


def _check_pattern(name: str, matrix: Any, real: bool = True) -> None:
    """Refuses indices that SciPy would follow out of its arrays when it converts the matrix."""
    rows, columns = matrix.blocksize if matrix.format == "bsr" else (1, 1)
    lines, across = matrix.shape[0] // rows, matrix.shape[1] // columns
    if matrix.format == "csc":
        lines, across = across, lines
    indptr, indices = matrix.indptr, matrix.indices
    if indptr.size != lines + 1:
        raise BadInput(f"{name}: indptr has {indptr.size} numbers, {lines + 1} expected")
    if indptr[0] != 0:
        raise BadInput(f"{name}: indptr begins with {indptr[0]}, not 0")
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        at = int(np.argmax(falls)) + 1
        raise BadInput(f"{name}: indptr falls from {indptr[at - 1]} to {indptr[at]} at {at}")
    entries = int(indptr[-1])
    if entries > indices.size:
        raise BadInput(f"{name}: indptr ends at {entries}, and there are {indices.size} indices")
    if real and entries > matrix.data.shape[0]:
        raise BadInput(f"{name}: data has {matrix.data.size} numbers for {entries} entries of {rows}x{columns}")
    _check_range(name, "indices", indices[:entries], across)


def _ones(mask: Any) -> Any:
    """A matrix with the same pattern, whose values are ones."""
    _check_pattern("mask", mask, real=False)
    block = mask.blocksize if mask.format == "bsr" else ()
    ones = np.ones((mask.indices.size, *block), np.float32)
    return _KINDS[mask.format, is_array(mask)]((ones, mask.indices, mask.indptr), shape=mask.shape)


def common_dtype(*matrices: Any) -> np.dtype[Any]:
    """The dtype of the result: float64 unless all are float32."""
    first, *others = {matrix.dtype for matrix in matrices}
    return np.result_type(first, *others) if others else first


def flat(values: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    """The numbers one after another, without a copy where that is possible."""
    if values.dtype != dtype:
        values = values.astype(dtype)
    values = _contiguous(values)
    return values if values.ndim == 1 else values.reshape(-1)


def _contiguous(array: NDArray[Any]) -> NDArray[Any]:
    """The array, or a contiguous copy."""
    flags = array.flags
    return array if flags.c_contiguous and flags.aligned else np.require(array, requirements=("C", "A"))


def compressed(matrix: Any, dtype: DTypeLike) -> Compressed:
    """The tuple of a matrix in CSR, CSC or BSR."""
    indptr, indices = matrix.indptr, matrix.indices
    if indptr.dtype != indices.dtype or indptr.dtype not in (np.int32, np.int64):
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
    block = matrix.blocksize if matrix.format == "bsr" else (1, 1)
    return (
        matrix.format,
        matrix.shape,
        block,
        _contiguous(indptr),
        _contiguous(indices),
        flat(matrix.data, dtype),
    )


def is_array(matrix: Any) -> bool:
    """Whether this is one of SciPy's arrays, not one of its matrices."""
    return not isinstance(matrix, sp.spmatrix)


def may_be_narrow(left: Any, *others: Any) -> bool:
    """Whether indices of the result have 32 bits if they fit."""
    if not is_array(left):
        return True
    return all(each.indices.dtype == np.int32 and each.indptr.dtype == np.int32 for each in (left, *others))


def built(
    like: Any, arrays: Arrays, shape: tuple[int, int], block: tuple[int, int], *, stored: str | None = None
) -> Any:
    """A result in the kind of `like` over the arrays, which are in its format if they are not in `stored`."""
    indptr, indices, data = arrays
    form = stored or like.format
    if form == "bsr":
        data = data.reshape(-1, *block)
    if indptr.size <= _SHORT:
        # SciPy's constructor checks the arrays, which takes longer than a small product.
        made = copy.copy(_empty(_KINDS[form, is_array(like)], shape))
        made.data, made.indices, made.indptr = data, indices, indptr
    else:
        made = _KINDS[form, is_array(like)]((data, indices, indptr), shape=shape, copy=False)
    made.has_sorted_indices = True
    made.has_canonical_format = True
    return made


@lru_cache(maxsize=64)
def _empty(kind: Any, shape: tuple[int, int]) -> Any:
    """A matrix without entries, to be copied."""
    return kind(shape, dtype=np.float64)


def meeting(a: Any, b: Any) -> tuple[Any, Any]:
    """Both factors in the format of the first, with blocks that meet."""
    if a.shape[1] != b.shape[0]:
        raise BadInput(f"cannot multiply: a is {a.shape[0]}x{a.shape[1]}, b is {b.shape[0]}x{b.shape[1]}")
    if a.format != "bsr":
        return a, in_format("b", b, a.format)
    inner = a.blocksize[1]
    if b.format == "bsr" and b.blocksize[0] == inner:
        return a, b
    width = b.blocksize[1] if b.format == "bsr" else inner
    # A width of 1 always divides.
    columns = next(columns for columns in (width, inner, 1) if b.shape[1] % columns == 0)
    return a, in_format("b", b, "bsr", (inner, columns))


def in_format(name: str, matrix: Any, form: str, block: tuple[int, int] | None = None) -> Any:
    """The matrix in this format and, in BSR, with these blocks."""
    if matrix.format == form and (block is None or matrix.blocksize == block):
        return matrix
    _check_pattern(name, matrix)
    return matrix.asformat(form) if block is None else matrix.tobsr(blocksize=block)
