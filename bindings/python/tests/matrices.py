"""Random matrices of every kind, and what a product of two of them must be."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

FORMATS = ("csr", "csc", "bsr", "coo")
SIDES = (0, 1, 2, 3, 5, 8)
BLOCK_SIDES = (1, 2, 3)
CLASSES = {
    (form, array): getattr(sp, f"{form}_{'array' if array else 'matrix'}")
    for form in FORMATS
    for array in (True, False)
}
DTYPES = (np.dtype(np.float64), np.dtype(np.float32))
INDEX_DTYPES = (np.dtype(np.int32), np.dtype(np.int64))


@dataclass
class Given:
    """An argument in some storage, and the plain matrix that it stands for."""

    plain: object
    stored: object
    before: list

    def is_untouched(self):
        return self.before == snapshot(self.stored)


def arrays_of(matrix):
    if isinstance(matrix, np.ndarray):
        return [matrix]
    if matrix.format == "coo":
        return [matrix.row, matrix.col, matrix.data]
    return [matrix.indptr, matrix.indices, matrix.data]


def snapshot(matrix):
    """The identity, type, flags and bytes of each array."""
    arrays = arrays_of(matrix)
    return [(id(each), each.dtype, each.shape, each.strides, each.flags.writeable, each.tobytes()) for each in arrays]


def numbers(rng, shape, dtype, real):
    """Small integers, whose products and sums are exact, or numbers from -1 to 1."""
    drawn = rng.uniform(-1, 1, shape) if real else rng.integers(-3, 4, shape)
    return drawn.astype(dtype)


def plain(rng, form, shape, block=(1, 1), *, array=True, dtype=np.float64, index=np.int32, order="sorted", real=False):
    """A matrix with zeros among its entries. `order` is sorted, unsorted or repeated (with duplicates)."""
    rows, columns = shape[0] // block[0], shape[1] // block[1]
    lines, across = (columns, rows) if form == "csc" else (rows, columns)
    indptr, indices = [0], []
    for _ in range(lines):
        length = int(rng.integers(0, min(across, 4) + 1))
        line = rng.choice(across, length, replace=order == "repeated") if across else np.zeros(0, int)
        indices += sorted(line) if order == "sorted" else list(line)
        indptr.append(len(indices))
    indptr, indices = np.array(indptr, index), np.array(indices, index)
    made = CLASSES[form, array]
    if form == "coo":
        row = np.repeat(np.arange(lines), np.diff(indptr)).astype(index)
        matrix = made((numbers(rng, indices.size, dtype, real), (row, indices)), shape=shape)
        matrix.coords = (row, indices)
        return matrix
    data = numbers(rng, (indices.size, *block) if form == "bsr" else indices.size, dtype, real)
    matrix = made((data, indices, indptr), shape=shape)
    # SciPy narrows the indices of its matrices.
    matrix.indptr, matrix.indices, matrix.data = indptr, indices, data
    return matrix


def real(shape, density, seed):
    """A CSR array of numbers from -1 to 1."""
    rng = np.random.default_rng(seed)
    return sp.csr_array(rng.uniform(-1, 1, shape) * (rng.random(shape) < density))


def stored_as(array, storage):
    """A copy of an array in some storage."""
    if storage == "strided":
        wide = np.empty((array.shape[0] * 2, *array.shape[1:]), array.dtype)
        wide[::2] = array
        return wide[::2]
    if storage == "unaligned":
        raw = np.empty(array.nbytes + 1, np.uint8)
        copy = raw[1:].view(array.dtype).reshape(array.shape)
        copy[...] = array
        return copy
    copy = array.copy()
    copy.flags.writeable = storage != "read-only"
    return copy


STORAGES = ("plain", "read-only", "strided", "unaligned")


def given(matrix, storage="plain"):
    stored = matrix.copy()
    if matrix.format == "coo":
        stored.coords = tuple(stored_as(each, storage) for each in matrix.coords)
    else:
        stored.indptr, stored.indices = stored_as(matrix.indptr, storage), stored_as(matrix.indices, storage)
    stored.data = stored_as(matrix.data, storage)
    return Given(matrix, stored, snapshot(stored))


def pattern(matrix):
    """The places of entries, one for a block, as a dense array."""
    if matrix.format == "coo":
        ones = sp.coo_array((np.ones(matrix.row.size), (matrix.row, matrix.col)), shape=matrix.shape)
        return ones.toarray() > 0
    shape = matrix.shape
    if matrix.format == "bsr":
        shape = (shape[0] // matrix.blocksize[0], shape[1] // matrix.blocksize[1])
    made = sp.csc_array if matrix.format == "csc" else sp.csr_array
    return made((np.ones(matrix.indices.size), matrix.indices, matrix.indptr), shape=shape).toarray() > 0


def scalar_pattern(matrix):
    return np.kron(pattern(matrix), np.ones(matrix.blocksize, bool)) if matrix.format == "bsr" else pattern(matrix)


def cut(places, block):
    """The blocks of these sides that contain a place."""
    rows, columns = places.shape[0] // block[0], places.shape[1] // block[1]
    return places.reshape(rows, block[0], columns, block[1]).any(axis=(1, 3))


def block_of_right(a, b):
    """The blocks of B in a product with A in BSR."""
    inner, columns = a.blocksize[1], b.shape[1]
    width = b.blocksize[1] if b.format == "bsr" else inner
    return inner, width if columns % width == 0 else 1


def product_pattern(a, b):
    """The places of A·B before sums are looked at: a sum of zero is an entry."""
    if a.format != "bsr":
        left, right = scalar_pattern(a), scalar_pattern(b)
    else:
        left, right = pattern(a), cut(scalar_pattern(b), block_of_right(a, b))
    return left.astype(int) @ right.astype(int) > 0


def check_form(found, like, shape, dtype, index, block=None):
    """Kind, format, types, and rows that are sorted and without duplicates."""
    form = "csr" if like.format == "coo" else like.format
    assert type(found) is CLASSES[form, not isinstance(like, sp.spmatrix)]
    assert found.shape == shape and found.dtype == dtype
    assert found.indices.dtype == found.indptr.dtype == index
    if form == "bsr":
        assert found.blocksize == block
    assert found.has_sorted_indices and found.has_canonical_format
    for begin, end in zip(found.indptr[:-1], found.indptr[1:]):
        assert (np.diff(found.indices[begin:end]) > 0).all()
    # What SciPy finds when it looks for itself.
    found.check_format(full_check=True)


def index_of_result(a, b=None):
    """The table's type of indices: matrices take the smallest that fits, arrays keep 64 bits."""
    if isinstance(a, sp.spmatrix):
        return np.int32
    wide = is_wide(a) or (b is not None and is_wide(b) and not (isinstance(b, sp.spmatrix) and is_converted(a, b)))
    return np.int64 if wide else np.int32


def is_wide(matrix):
    """Whether indices have 64 bits. Those of an empty COO matrix have none that SciPy keeps."""
    return any(each.dtype == np.int64 and (matrix.format != "coo" or each.size) for each in arrays_of(matrix)[:2])


def is_converted(a, b):
    """Whether B comes in another format, which narrows the indices of SciPy's matrices."""
    form = "csr" if a.format == "coo" else a.format
    return b.format != form or (form == "bsr" and b.blocksize != block_of_right(a, b))


def check_values(found, expected, magnitude, exact):
    """Equality, or equality up to rounding of the sums of |a|·|b|."""
    if exact:
        np.testing.assert_array_equal(found, expected)
        return
    unit = np.finfo(expected.dtype).eps
    assert (np.abs(found - expected) <= 32 * unit * magnitude).all()
