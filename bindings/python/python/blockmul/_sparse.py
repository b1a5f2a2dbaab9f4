"""SciPy's matrices as the tuples that `_blockmul` takes, and results as SciPy's matrices."""

import numpy as np
import scipy.sparse as sp

from ._errors import BadInput

_KINDS = {
    ("csr", True): sp.csr_array,
    ("csr", False): sp.csr_matrix,
    ("csc", True): sp.csc_array,
    ("csc", False): sp.csc_matrix,
    ("bsr", True): sp.bsr_array,
    ("bsr", False): sp.bsr_matrix,
}
_REAL = (np.dtype(np.float64), np.dtype(np.float32))


def sparse(name, given):
    """Refuses what is not a SciPy matrix, and takes COO by rows."""
    if not sp.issparse(given):
        raise TypeError(f"{name}: {type(given).__name__} is not a sparse matrix of SciPy")
    if given.ndim != 2:
        raise BadInput(f"{name}: has {given.ndim} dimensions, not 2")
    if given.format == "coo":
        given = given.tocsr()
    if given.format not in ("csr", "csc", "bsr"):
        raise TypeError(f"{name}: format {given.format} is not csr, csc, bsr or coo: use {name}.tocsr()")
    return given


def common_dtype(**named):
    """The dtype of the result: float64 unless all are float32."""
    for name, given in named.items():
        if given.dtype not in _REAL:
            if given.dtype.newbyteorder("=") in _REAL:
                raise TypeError(f"{name}: {given.dtype} has another byte order: use {name}.astype({given.dtype.newbyteorder('=')})")
            raise TypeError(f"{name}: {given.dtype} is not float64 or float32: use {name}.astype(numpy.float64)")
    return np.result_type(*(given.dtype for given in named.values()))


def flat(values, dtype):
    """The numbers one after another, without a copy where that is possible."""
    values = np.asarray(values)
    if values.dtype != dtype:
        values = values.astype(dtype)
    if not (values.flags.c_contiguous and values.flags.aligned):
        values = np.require(values, requirements=("C", "A"))
    return values.reshape(-1)


def compressed(matrix, dtype):
    """The tuple of a matrix in CSR, CSC or BSR."""
    indptr, indices = matrix.indptr, matrix.indices
    if indptr.dtype != indices.dtype:
        wide = np.int64
        indptr, indices = indptr.astype(wide), indices.astype(wide)
    if indptr.dtype.type not in (np.int32, np.int64) and np.issubdtype(indptr.dtype, np.integer):
        if not indptr.dtype.isnative:
            raise TypeError(f"indices of {indptr.dtype} have another byte order")
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
    block = matrix.blocksize if matrix.format == "bsr" else (1, 1)
    return (
        matrix.format,
        matrix.shape,
        block,
        np.ascontiguousarray(indptr),
        np.ascontiguousarray(indices),
        flat(matrix.data, dtype),
    )


def is_array(matrix):
    """Whether this is one of SciPy's arrays, not one of its matrices."""
    return not isinstance(matrix, sp.spmatrix)


def may_be_narrow(left, *others):
    """Whether indices of the result have 32 bits if they fit."""
    if not is_array(left):
        return True
    return all(each.indices.dtype == np.int32 and each.indptr.dtype == np.int32 for each in (left, *others))


def built(like, arrays, shape, block):
    """A result in the format and kind of `like`, over the arrays."""
    indptr, indices, data = arrays
    if like.format == "bsr":
        data = data.reshape(-1, *block)
    made = _KINDS[like.format, is_array(like)]((data, indices, indptr), shape=shape, copy=False)
    made.has_sorted_indices = True
    made.has_canonical_format = True
    return made


def meeting(a, b):
    """Both factors in the format of the first, with blocks that meet."""
    if a.shape[1] != b.shape[0]:
        raise BadInput(f"cannot multiply: a is {a.shape[0]}x{a.shape[1]}, b is {b.shape[0]}x{b.shape[1]}")
    if a.format == "csr":
        return a, b if b.format == "csr" else b.tocsr()
    if a.format == "csc":
        return a, b if b.format == "csc" else b.tocsc()
    inner = a.blocksize[1]
    if b.format == "bsr" and b.blocksize[0] == inner:
        return a, b
    width = b.blocksize[1] if b.format == "bsr" else inner
    for columns in (width, inner, 1):
        if b.shape[1] % columns == 0 and columns <= 32:
            return a, b.tobsr(blocksize=(inner, columns))
    raise BadInput(
        f"blocks do not meet: a has blocks of {a.blocksize}, b is {b.shape[0]}x{b.shape[1]}: "
        f"use b.tobsr(blocksize=({inner}, ...))"
    )
