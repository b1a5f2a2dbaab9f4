"""The SciPy part of tests/library/formats.rs, and the NumPy part of npy.rs.

scipy_npz.py write FOLDER   writes NAME.npz by scipy.sparse.save_npz, and the same matrix as NAME.mtx by
                            scipy.io.mmwrite
scipy_npz.py check FOLDER   reads each NAME.npz that blockmul wrote by load_npz, and compares it with NAME.mtx. The
                            first words of NAME are the format and the type that it must have: FORMAT-DTYPE-...
scipy_npz.py save FOLDER    writes ORDER-DTYPE-ROWSxCOLS.npy by numpy.save, in the orders of C and Fortran, and a file
                            of the same name with .txt that lists the elements row by row
scipy_npz.py load FOLDER    reads files of the same names that blockmul wrote by numpy.load, and compares them
"""
import pathlib
import sys

import numpy as np
import scipy.io
import scipy.sparse as sp

FORMATS = ["csr", "csc", "bsr", "coo"]
DTYPES = ["f8", "f4", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"]


def small_integers(rng, shape, density):
    places = rng.random(shape) < density
    return np.where(places, rng.integers(1, 100, shape), 0)


def save(folder, name, matrix, data=None, **options):
    """Saves a matrix. `data` replaces its values, for types that SciPy can save but not compute with."""
    wide = matrix.astype("f8").tocoo()
    if data is not None:
        matrix.data = data
    sp.save_npz(folder / f"{name}.npz", matrix, **options)
    scipy.io.mmwrite(folder / f"{name}.mtx", wide, symmetry="general", precision=17)


def write(folder):
    rng = np.random.default_rng(1)
    dense = small_integers(rng, (12, 18), 0.2)
    for dtype in DTYPES:
        for kind in FORMATS:
            matrix = sp.coo_matrix(dense > 0 if dtype == "b1" else dense).asformat(kind)
            save(folder, f"{kind}-{dtype}", matrix, data=matrix.data.astype(dtype))
    for kind in FORMATS:
        matrix = sp.coo_matrix(dense.astype("f8") / 7).asformat(kind)
        save(folder, f"{kind}-stored", matrix, compressed=False)
        save(folder, f"{kind}-empty", sp.coo_matrix((6, 4)).asformat(kind))
        save(folder, f"{kind}-array", getattr(sp, f"{kind}_array")(matrix))
        save(folder, f"{kind}-swapped", matrix, data=matrix.data.astype(">f8"))
    for rows, cols in [(1, 1), (2, 3), (3, 2), (6, 6), (12, 18)]:
        matrix = sp.coo_matrix(dense.astype("f8")).tobsr((rows, cols))
        save(folder, f"bsr-{rows}x{cols}", matrix)
        save(folder, f"bsr-{rows}x{cols}-transposed", matrix.transpose())
    unsorted = sp.csr_matrix(dense.astype("f8"))
    for row in range(12):
        line = slice(unsorted.indptr[row], unsorted.indptr[row + 1])
        unsorted.indices[line] = unsorted.indices[line][::-1]
        unsorted.data[line] = unsorted.data[line][::-1]
    unsorted.has_sorted_indices = False
    save(folder, "csr-unsorted", unsorted)
    wide = sp.csr_matrix(dense.astype("f8"))
    wide.indices, wide.indptr = wide.indices.astype("i8"), wide.indptr.astype("i8")
    save(folder, "csr-wide", wide)


def check(folder):
    names = sorted(folder.glob("*.npz"))
    for path in names:
        matrix = sp.load_npz(path)
        kind, dtype = path.stem.split("-")[:2]
        assert matrix.format == kind, (path, matrix.format)
        assert matrix.dtype == np.dtype(dtype), (path, matrix.dtype)
        matrix.check_format(full_check=True)
        assert matrix.has_canonical_format, path
        assert matrix.indices.dtype == np.dtype("i4"), (path, matrix.indices.dtype)
        expected = scipy.io.mmread(path.with_suffix(".mtx")).toarray()
        assert np.array_equal(matrix.toarray().astype("f8"), expected), path
        if kind == "bsr":
            shape = path.stem.split("-")[2]
            assert shape == "{}x{}".format(*matrix.blocksize), (path, matrix.blocksize)
    print(len(names))


def dense_arrays():
    rng = np.random.default_rng(2)
    for rows, cols in [(1, 1), (5, 1), (1, 7), (4, 6), (0, 3)]:
        for dtype in DTYPES:
            array = rng.integers(0, 2 if dtype == "b1" else 100, (rows, cols)).astype(dtype)
            if dtype[0] == "f":
                array = array / np.array(7, dtype)
                array[array == array.min(initial=0)] = -0.0
            yield dtype, array
    yield ">f8", rng.integers(-9, 9, (3, 4)).astype(">f8")


def save_dense(folder):
    for dtype, array in dense_arrays():
        for order in "CF":
            path = folder / f"{order}-{dtype.replace('>', 'big')}-{array.shape[0]}x{array.shape[1]}.npy"
            np.save(path, np.asarray(array, order=order))
            path.with_suffix(".txt").write_text(" ".join(repr(float(number)) for number in array.ravel()))


def load_dense(folder):
    names = sorted(folder.glob("*.npy"))
    for path in names:
        order, dtype, _ = path.stem.split("-")
        array = np.load(path)
        assert array.dtype == np.dtype(dtype), (path, array.dtype)
        assert array.flags["C_CONTIGUOUS" if order == "C" else "F_CONTIGUOUS"], path
        numbers = np.array(path.with_suffix(".txt").read_text().split(), "f8").astype(dtype)
        assert array.ravel().tobytes() == numbers.tobytes(), path
        assert path.stem.endswith("{}x{}".format(*array.shape)), (path, array.shape)
    print(len(names))


if __name__ == "__main__":
    {"write": write, "check": check, "save": save_dense, "load": load_dense}[sys.argv[1]](pathlib.Path(sys.argv[2]))
