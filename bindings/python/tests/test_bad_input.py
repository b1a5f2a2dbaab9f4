"""Arguments that do not fit: the exception, its words, and arguments that stay as they were."""

import subprocess
import sys

import blockmul
import numpy as np
import pytest
import scipy.sparse as sp
from matrices import real, snapshot

I32 = np.int32


def diagonal(form="csr", **arrays):
    """A diagonal matrix of six ones, some of whose arrays are replaced, which SciPy does not check."""
    matrix = sp.eye_array(6, format=form if form != "bsr" else "csr")
    if form == "bsr":
        matrix = matrix.tobsr(blocksize=(2, 2))
    for name, array in arrays.items():
        setattr(matrix, name, array)
    return matrix


def numbers(*values, dtype=I32):
    return np.array(values, dtype)


# What is wrong, the arrays of the matrix, the exception, words of the message.
MALFORMED = [
    ("indptr falls", {"indptr": numbers(0, 1, 3, 2, 4, 5, 6)}, ValueError, "indptr falls from 3 to 2 at 3"),
    ("indptr is short", {"indptr": numbers(0, 1, 2)}, ValueError, "indptr has 3 numbers, 7 expected"),
    ("indptr is empty", {"indptr": numbers()}, ValueError, "indptr has 0 numbers, 7 expected"),
    ("indptr is long", {"indptr": np.arange(9, dtype=I32)}, ValueError, "indptr has 9 numbers, 7 expected"),
    ("indptr begins late", {"indptr": numbers(1, 1, 2, 3, 4, 5, 6)}, ValueError, "indptr begins with 1, not 0"),
    ("indptr is negative", {"indptr": numbers(-1, 1, 2, 3, 4, 5, 6)}, ValueError, "indptr begins with -1, not 0"),
    (
        "indptr ends late",
        {"indptr": numbers(0, 1, 2, 3, 4, 5, 7)},
        ValueError,
        "indptr ends at 7, and there are 6 indices",
    ),
    (
        "indptr ends far beyond",
        {"indptr": numbers(0, 1, 2, 3, 4, 5, 2**62, dtype=np.int64), "indices": np.arange(6)},
        ValueError,
        "indptr ends at 4611686018427387904",
    ),
    (
        "an index is negative",
        {"indices": numbers(0, 1, -2, 3, 4, 5)},
        ValueError,
        "indices[2] is -2, not from 0 to less than 6",
    ),
    (
        "an index is large",
        {"indices": numbers(0, 1, 2, 3, 4, 6)},
        ValueError,
        "indices[5] is 6, not from 0 to less than 6",
    ),
    (
        "an index is large in 64 bits",
        {"indices": numbers(0, 1, 2, 3, 4, 2**32, dtype=np.int64), "indptr": np.arange(7)},
        ValueError,
        "indices[5] is 4294967296",
    ),
    ("indices are few", {"indices": numbers(0, 1, 2)}, ValueError, "indptr ends at 6, and there are 3 indices"),
    ("data is short", {"data": np.ones(3)}, ValueError, "data has 3 numbers for 6 entries of 1x1"),
    ("data has two dimensions", {"data": np.ones((6, 1))}, blockmul.BadInput, "data has 2 dimensions, not 1"),
    (
        "indices have two dimensions",
        {"indices": np.zeros((2, 3), I32)},
        blockmul.BadInput,
        "indices has 2 dimensions, not 1",
    ),
    ("data is of another byte order", {"data": np.ones(6, ">f8")}, TypeError, "use {}.astype(numpy.float64)"),
    (
        "indices are of another byte order",
        {"indices": np.arange(6, dtype=">i4")},
        TypeError,
        "indices has the dtype >i4",
    ),
    (
        "all indices are of another byte order",
        {"indices": np.arange(6, dtype=">i8"), "indptr": np.arange(7, dtype=">i8")},
        TypeError,
        "indptr has the dtype >i8",
    ),
    ("indices are floats", {"indices": np.arange(6) + 0.5}, TypeError, "indices has the dtype float64"),
    ("indices are bool", {"indices": np.zeros(6, bool)}, TypeError, "indices has the dtype bool"),
    ("indices are a list", {"indices": [0, 1, 2, 3, 4, 5]}, TypeError, "indices is a list"),
    ("data is a list", {"data": [1.0] * 6}, TypeError, "data is a list"),
    ("indices are missing", {"indices": None}, TypeError, "indices is a NoneType"),
]


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("arrays, error, words", [case[1:] for case in MALFORMED], ids=[case[0] for case in MALFORMED])
def test_a_malformed_matrix_is_refused_by_name(form, arrays, error, words):
    bad, good = diagonal(form, **arrays), diagonal("csr")
    before = {name: getattr(bad, name) for name in ("indptr", "indices", "data")}
    calls = [
        ("a", lambda: blockmul.multiply(bad, good)),
        ("b", lambda: blockmul.multiply(good, bad)),
        ("b", lambda: blockmul.multiply(diagonal("csc"), bad)),
        ("b", lambda: blockmul.multiply(diagonal("bsr"), bad)),
        ("a", lambda: blockmul.gram(bad)),
        ("a", lambda: blockmul.masked(bad, good, good)),
        ("b", lambda: blockmul.masked(good, bad, good)),
        ("a", lambda: blockmul.Plan(bad, good)),
        ("b", lambda: blockmul.Plan(good, bad)),
        ("a", lambda: blockmul.multiply(bad, np.ones(6))),
    ]
    if "data" not in arrays:
        calls.append(("mask", lambda: blockmul.masked(good, good, bad)))
        calls.append(("mask", lambda: blockmul.masked(diagonal("csc"), good, bad)))
        calls.append(("mask", lambda: blockmul.masked(diagonal("bsr"), good, bad)))
    for name, call in calls:
        with pytest.raises(error) as raised:
            call()
        message = str(raised.value)
        assert message.startswith(f"{name}: ") and words.format(name) in message
    assert all(getattr(bad, name) is array for name, array in before.items())


@pytest.mark.parametrize(
    "arrays, words",
    [
        ({"indices": numbers(0, 1, 3)}, "indices[2] is 3, not from 0 to less than 3"),
        ({"indptr": numbers(0, 1, 3, 2)}, "indptr falls from 3 to 2"),
        ({"data": np.ones((2, 2, 2))}, "data has 8 numbers for 3 entries of 2x2"),
        ({"data": np.ones((3, 4, 4))}, "6x6 is not divisible into blocks of 4x4"),
        ({"data": np.ones((3, 0, 2))}, "blocks of 0x2 have a side that is not from 1 to 32"),
        ({"data": np.ones(12)}, "data has 1 dimensions, not 3"),
    ],
)
def test_malformed_blocks_are_refused_by_name(arrays, words):
    bad, good = diagonal("bsr", **arrays), diagonal("bsr")
    for name, call in (
        ("a", lambda: blockmul.multiply(bad, good)),
        ("b", lambda: blockmul.multiply(good, bad)),
        ("b", lambda: blockmul.multiply(diagonal("csc"), bad)),
        ("a", lambda: blockmul.gram(bad)),
    ):
        with pytest.raises(ValueError) as raised:
            call()
        assert str(raised.value).startswith(f"{name}: ") and words in str(raised.value)


@pytest.mark.parametrize("which, value", [(0, -1), (0, 6), (1, 6), (1, -7)])
def test_coordinates_are_checked_before_scipy_follows_them(which, value):
    bad = sp.eye_array(6, format="coo")
    coords = [each.copy() for each in bad.coords]
    coords[which][2] = value
    bad.coords = tuple(coords)
    of = ("row", "col")[which]
    for name, call in (
        ("a", lambda: blockmul.multiply(bad, diagonal())),
        ("b", lambda: blockmul.multiply(diagonal(), bad)),
        ("mask", lambda: blockmul.masked(diagonal(), diagonal(), bad)),
    ):
        with pytest.raises(blockmul.BadInput) as raised:
            call()
        assert str(raised.value) == f"{name}: {of}[2] is {value}, not from 0 to less than 6"


def test_coordinates_without_numbers_are_refused():
    bad = sp.eye_array(6, format="coo")
    bad.data = np.ones(4)
    with pytest.raises(blockmul.BadInput, match="a: row has 6 numbers, data has 4"):
        blockmul.multiply(bad, diagonal())


@pytest.mark.parametrize("dtype", [np.int64, np.int8, bool, np.complex128, np.float16, np.longdouble])
def test_other_elements_are_refused_with_astype(dtype):
    good = diagonal()
    for form in ("csr", "csc", "coo"):
        bad = sp.eye_array(6, format=form).astype(dtype) if dtype != np.float16 else diagonal()
        if dtype == np.float16:
            bad.data = bad.data.astype(np.float16)
        for name, call in (
            ("a", lambda: blockmul.multiply(bad, good)),
            ("b", lambda: blockmul.multiply(good, bad)),
            ("a", lambda: blockmul.gram(bad)),
            ("b", lambda: blockmul.masked(good, bad, good)),
            ("a", lambda: blockmul.Plan(bad, good)),
        ):
            with pytest.raises(TypeError) as raised:
                call()
            assert str(raised.value) == (
                f"{name}: {np.dtype(dtype)} is not float64 or float32: use {name}.astype(numpy.float64)"
            )
    with pytest.raises(TypeError, match=r"b: .* use b\.astype"):
        blockmul.multiply(good, np.ones(6, dtype))
    with pytest.raises(TypeError, match=r"a: .* use a\.astype"):
        blockmul.multiply(np.ones((2, 6), dtype), good)


def test_sides_that_do_not_meet_are_named():
    a, b = diagonal(), sp.eye_array(5, format="csr")
    for call in (
        lambda: blockmul.multiply(a, b),
        lambda: blockmul.masked(a, b, a),
        lambda: blockmul.Plan(a, b),
        lambda: blockmul.multiply(a, b.tocsc()),
        lambda: blockmul.multiply(a.tobsr(blocksize=(2, 2)), b),
    ):
        with pytest.raises(blockmul.BadInput, match="cannot multiply: a is 6x6, b is 5x5"):
            call()
    with pytest.raises(blockmul.BadInput, match="cannot multiply: a is 6x6, b is 5x2"):
        blockmul.multiply(a, np.ones((5, 2)))
    with pytest.raises(blockmul.BadInput, match="cannot multiply: a is 6x6, b is of 5 numbers"):
        blockmul.multiply(a, np.ones(5))
    with pytest.raises(blockmul.BadInput, match="cannot multiply: a is 2x5, b is 6x6"):
        blockmul.multiply(np.ones((2, 5)), a)
    with pytest.raises(blockmul.BadInput, match="mask: is 5x5, the product 6x6"):
        blockmul.masked(a, a, b)


def test_what_is_no_matrix_is_refused():
    a = diagonal()
    for call, words in (
        (lambda: blockmul.multiply(np.eye(6), np.eye(6)), "a: ndarray is not a sparse matrix of SciPy"),
        (lambda: blockmul.multiply(a, None), "b: NoneType is neither"),
        (lambda: blockmul.multiply(a, 3.0), "b: float is neither"),
        (lambda: blockmul.multiply("a", a), "a: str is neither"),
        (lambda: blockmul.gram(np.eye(6)), "a: ndarray is not a sparse matrix of SciPy"),
        (lambda: blockmul.masked(a, a, np.eye(6)), "mask: ndarray is not a sparse matrix of SciPy"),
        (lambda: blockmul.Plan(a, np.eye(6)), "b: ndarray is not a sparse matrix of SciPy"),
        (lambda: blockmul.multiply(a.todia(), a), "a: format dia is not csr, csc, bsr or coo: use a.tocsr()"),
        (lambda: blockmul.multiply(a, a.tolil()), "b: format lil is not csr, csc, bsr or coo: use b.tocsr()"),
        (lambda: blockmul.multiply(a, a.todok()), "b: format dok is not csr, csc, bsr or coo: use b.tocsr()"),
    ):
        with pytest.raises(TypeError) as raised:
            call()
        assert words in str(raised.value)
    with pytest.raises(blockmul.BadInput, match="b: has 3 dimensions, not 1 or 2"):
        blockmul.multiply(a, np.ones((6, 2, 2)))
    with pytest.raises(blockmul.BadInput, match="b: has 1 dimensions, not 2"):
        blockmul.multiply(a, sp.coo_array(np.ones(6)))


def test_options_are_refused_by_name():
    a = diagonal()
    calls = (
        lambda **options: blockmul.multiply(a, a, **options),
        lambda **options: blockmul.multiply(a, np.ones(6), **options),
        lambda **options: blockmul.gram(a, **options),
        lambda **options: blockmul.masked(a, a, a, **options),
        lambda **options: blockmul.Plan(a, a, **options),
    )
    for call in calls:
        for threads in (0, -1):
            with pytest.raises(blockmul.BadInput, match=f"threads: {threads} is less than 1"):
                call(threads=threads)
        for threads in ("2", 2.0, True):
            with pytest.raises(TypeError, match="threads: .* is not a number of threads"):
                call(threads=threads)
        for device in (1.5, True, [0]):
            with pytest.raises(TypeError, match="device: .* is not None, a name, an index"):
                call(device=device)
        with pytest.raises(blockmul.NoDevice, match="device: -1 is not an index"):
            call(device=-1)
        with pytest.raises(blockmul.NoDevice, match="device: the name is empty"):
            call(device="")
        with pytest.raises(blockmul.NoDevice):
            call(device=2**70)
    with pytest.raises(blockmul.BadInput, match='no method "fast"; there are: auto, '):
        blockmul.multiply(a, a, method="fast", device="host")
    with pytest.raises(TypeError, match="method: 5 is not a name or None"):
        blockmul.multiply(a, a, method=5)
    with pytest.raises(blockmul.BadInput, match="method: 'esc' is for products of two sparse matrices, and b is dense"):
        blockmul.multiply(a, np.ones(6), method="esc")
    for part in ("left", None, 1):
        with pytest.raises(blockmul.BadInput, match="part: .* is not 'full', 'lower' or 'upper'"):
            blockmul.gram(a, part=part)


def test_large_blocks_are_refused_with_tobsr():
    a = sp.bsr_array(np.ones((80, 80)), blocksize=(40, 40))
    with pytest.raises(blockmul.BadInput, match=r"a: blocks of 40x40 .* use a\.tobsr\(blocksize=\.\.\.\)"):
        blockmul.multiply(a, a)
    with pytest.raises(blockmul.BadInput, match=r"mask: blocks of 40x40"):
        small = a.tobsr(blocksize=(20, 20))
        blockmul.masked(small, small, a)


def test_a_plan_refuses_other_patterns_formats_and_dtypes():
    a = real((8, 8), 0.4, 1)
    plan = blockmul.Plan(a, a)
    other = real((8, 8), 0.5, 2)
    for first, second, name in ((other, a, "a"), (a, other, "b"), (a.tocsc(), a.tocsc(), "a"), (a[:4], a, "a")):
        with pytest.raises(blockmul.BadInput, match=f"^{name}: the plan was made for another pattern"):
            plan.execute(first, second)
    with pytest.raises(blockmul.BadInput, match="float32, and the plan was made for float64"):
        plan.execute(a.astype(np.float32), a.astype(np.float32))
    narrow = blockmul.Plan(a.astype(np.float32), a.astype(np.float32))
    with pytest.raises(blockmul.BadInput, match="float64, and the plan was made for float32"):
        narrow.execute(a, a.astype(np.float32))
    np.testing.assert_allclose(plan.execute(a, a).toarray(), (a @ a).toarray())


def test_a_failed_call_leaves_arguments_and_report():
    a, bad = diagonal(), diagonal(indices=numbers(0, 1, 2, 3, 4, 9))
    blockmul.multiply(a, a)
    ran, before = blockmul.report(), (snapshot(a), snapshot(bad))
    with pytest.raises(ValueError):
        blockmul.multiply(a, bad)
    assert blockmul.report() == ran and (snapshot(a), snapshot(bad)) == before


def test_exceptions_are_errors_and_built_in_ones():
    for made, builtin in (
        (blockmul.BadInput, ValueError),
        (blockmul.OutOfMemory, MemoryError),
        (blockmul.NoDevice, RuntimeError),
        (blockmul.DeviceFailed, RuntimeError),
    ):
        assert issubclass(made, blockmul.Error) and issubclass(made, builtin)


def test_a_malformed_matrix_right_of_a_dense_one_is_named():
    with pytest.raises(ValueError, match=r"b: indices\[5\] is 9"):
        blockmul.multiply(np.ones(6), diagonal(indices=numbers(0, 1, 2, 3, 4, 9)))


def test_malformed_arrays_are_bad_input():
    with pytest.raises(blockmul.BadInput):
        blockmul.multiply(diagonal(indices=numbers(0, 1, 2, 3, 4, 9)), diagonal())


def test_sides_beyond_32_bits_are_refused():
    wide = sp.csc_array((4, 3))
    wide.resize((2**33, 3))
    wide.indices, wide.indptr, wide.data = np.array([3, 2**32 + 1]), np.array([0, 1, 2, 2]), np.ones(2)
    with pytest.raises(blockmul.BadInput, match="8589934592 rows, at most"):
        blockmul.multiply(wide, sp.eye_array(3, format="csc"))


LIMITED = """
import resource
import blockmul, numpy as np, scipy.sparse as sp
a = sp.csr_array(np.ones((20_000, 1)))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**30,) * 2)
try:
    blockmul.multiply(a, a.T.tocsr(), device="host", threads=1)  # 4.8 GB
except MemoryError as error:
    print(type(error).__name__, 0 < error.numbers["available"] <= 2**30 < error.numbers["needed"])
print(blockmul.multiply(a.T.tocsr(), a, device="host", threads=1).toarray())
"""


def test_a_product_beyond_the_limit_of_the_process_is_out_of_memory():
    ran = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=60)
    assert (ran.stdout, ran.returncode) == ("OutOfMemory True\n[[20000.]]\n", 0), ran.stderr


def test_a_product_beyond_the_memory_is_out_of_memory():
    # 3e6 x 3e6 full entries: 108 TB.
    a = sp.csr_array(np.ones((3_000_000, 1)))
    for call in (
        lambda: blockmul.multiply(a, a.T.tocsr(), device="host"),
        lambda: blockmul.gram(a.T.tocsr(), device="host"),
        lambda: blockmul.multiply(a, np.broadcast_to(np.ones(1), (1, 3_000_000)), device="host"),
        lambda: blockmul.Plan(a, a.T.tocsr(), device="host"),
    ):
        with pytest.raises(blockmul.OutOfMemory, match="bytes needed"):
            call()
