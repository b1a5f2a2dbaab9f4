"""Matrices and vectors that stay on a device."""

import copy
import gc
import multiprocessing
import os
import pickle
import threading

import blockmul
import numpy as np
import pytest
import scipy.sparse as sp
from blockmul import _blockmul
from matrices import BLOCK_SIDES, CLASSES, DTYPES, FORMATS, given, plain
from test_devices import python

MATRICES = [(form, array) for form in FORMATS for array in (True, False)]


def matrix(form, shape=(30, 24), block=(3, 2), seed=1, **rest):
    """A matrix of small integers, whose sums are exact."""
    if form == "bsr":
        return plain(np.random.default_rng(seed), form, (shape[0] * block[0], shape[1] * block[1]), block, **rest)
    return plain(np.random.default_rng(seed), form, shape, **rest)


def same(found, expected):
    np.testing.assert_array_equal(found.to_scipy().toarray(), expected.toarray())


def bytes_of(found):
    return [array.tobytes() for array in (found.indptr, found.indices, found.data)]


def counted(device, call):
    """The numbers of operations of a call."""
    before = _blockmul.counters(device)
    call()
    after = _blockmul.counters(device)
    return {name: after[name] - before[name] for name in before}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form, array", MATRICES)
def test_matrices_go_there_and_back(device, form, array, dtype):
    for order in ("sorted", "unsorted", "repeated"):
        for storage in ("plain", "strided"):
            held = given(matrix(form, array=array, dtype=dtype, order=order), storage)
            on_device = blockmul.DeviceMatrix(held.stored, device=device)
            assert held.is_untouched()
            expected = "csr" if form == "coo" else form
            assert (on_device.format, on_device.dtype, on_device.device) == (expected, dtype, device)
            assert on_device.shape == held.plain.shape
            assert on_device.blocksize == (held.plain.blocksize if form == "bsr" else (1, 1))
            same(on_device, held.plain)
            for kind in (True, False):
                found = on_device.to_scipy("array" if kind else "matrix")
                assert type(found) is CLASSES[expected, kind] and found.dtype == dtype
                assert found.nnz == on_device.nnz and found.has_canonical_format
                found.check_format(full_check=True)


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
def test_a_transpose_shares_its_arrays(device, form):
    a = matrix(form)
    on_device = blockmul.DeviceMatrix(a, device=device)
    transpose = on_device.T
    assert transpose._matrix.shares(on_device._matrix)
    assert transpose.shape == a.shape[::-1] and transpose.nnz == on_device.nnz
    assert transpose.format == {"csr": "csc", "csc": "csr", "bsr": "bsc"}[form]
    assert transpose.blocksize == on_device.blocksize[::-1]
    same(transpose, a.T)
    found = transpose.to_scipy("matrix")
    assert isinstance(found, sp.spmatrix) and found.format == a.T.format
    on_device.update(a * 2)
    same(transpose, a.T * 2)
    assert on_device.T.T.format == form
    # A transpose keeps the arrays.
    del on_device
    same(transpose, a.T * 2)


FACTORS = [("csr", "csr"), ("csr", "csc"), ("csc", "csr"), ("csc", "csc"), ("bsr", "bsr")]


def factors(of_a, of_b, dtype=np.float64):
    return matrix(of_a, (30, 24), (3, 2), 1, dtype=dtype), matrix(of_b, (24, 20), (2, 3), 2, dtype=dtype)


@pytest.mark.parametrize("of_a, of_b, dtype", [(*of, DTYPES[0]) for of in FACTORS] + [("bsr", "bsr", DTYPES[1])])
def test_products_stay_on_the_device(device, of_a, of_b, dtype):
    a, b = factors(of_a, of_b, dtype)
    on_a, on_b = (blockmul.DeviceMatrix(each, device=device) for each in (a, b))
    c = on_a @ on_b
    assert isinstance(c, blockmul.DeviceMatrix) and c.device == device
    assert (c.format, c.dtype, c.shape) == (a.format, dtype, (a.shape[0], b.shape[1]))
    assert c.blocksize == ((3, 3) if of_a == "bsr" else (1, 1))
    same(c, a @ b)
    ran = blockmul.report()
    assert ran["device"] == device.name and ran["products"] > 0 and ran["milliseconds"] >= 0
    # The bits of products of SciPy's matrices.
    host = blockmul.multiply(a, b if of_a == of_b else b.asformat(of_a), device="host")
    assert bytes_of(c.to_scipy()) == bytes_of(host)
    same(on_b.T @ on_a.T, (a @ b).T)
    same(on_a.T @ on_a, a.T @ a)
    same(on_a @ on_a.T, a @ a.T)
    assert (on_a.T @ on_a).format == ("bsr" if of_a == "bsr" else on_a.T.format)
    # Products of products.
    same((on_a @ on_b) @ on_b.T, a @ b @ b.T)
    if of_a == of_b == "bsr":
        same(blockmul.multiply(on_a, on_b, method="esc"), a @ b)
        assert blockmul.report()["method"] == "esc"


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
def test_products_with_a_transpose_have_the_bits_of_the_host(device, form):
    rng = np.random.default_rng(5)
    a = matrix(form, seed=5, real=True)
    on_a = blockmul.DeviceMatrix(a, device=device)
    transpose = a.T.asformat(form)
    transpose.sort_indices()
    host = blockmul.multiply(transpose, a, device="host")
    np.testing.assert_array_equal((on_a.T @ on_a).to_scipy().toarray(), host.toarray())
    x = rng.uniform(-1, 1, a.shape[0])
    y = blockmul.DeviceVector(x, device=device) @ on_a
    assert y.to_numpy().tobytes() == blockmul.multiply(x, a, device="host").tobytes()


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
def test_products_with_vectors(device, form):
    for dtype in DTYPES if form == "csr" else DTYPES[:1]:
        a = matrix(form, dtype=dtype)
        on_a = blockmul.DeviceMatrix(a, device=device)
        x = np.arange(a.shape[1], dtype=dtype)
        z = np.arange(a.shape[0], dtype=dtype)
        on_x, on_z = (blockmul.DeviceVector(each, device=device) for each in (x, z))
        pairs = ((on_a @ on_x, a @ x), (on_z @ on_a, z @ a), (on_a.T @ on_z, a.T @ z), (on_x @ on_a.T, x @ a.T))
        for _ in range(2):
            for found, expected in pairs:
                assert isinstance(found, blockmul.DeviceVector) and found.device == device
                assert found.shape == expected.shape and found.dtype == dtype
                np.testing.assert_array_equal(found.to_numpy(), expected)
        ran = blockmul.report()
        assert ran["device"] == device.name and ran["method"] == "apply"
        np.testing.assert_array_equal(blockmul.multiply(on_a, on_x).to_numpy(), a @ x)
        np.testing.assert_array_equal(blockmul.apply(on_a.T, on_z).to_numpy(), a.T @ z)
        np.testing.assert_array_equal(blockmul.multiply(on_z, on_a).to_numpy(), z @ a)


def test_vectors_go_there_and_back(device):
    for given_x in ([1.0, 2.0, 3.0], np.arange(6.0)[::2], np.arange(3, dtype=np.float32), np.zeros(0)):
        x = np.asarray(given_x)
        on_device = blockmul.DeviceVector(given_x, device=device)
        assert (len(on_device), on_device.shape, on_device.dtype) == (x.size, x.shape, x.dtype)
        found = on_device.to_numpy()
        assert found.dtype == x.dtype
        np.testing.assert_array_equal(found, x)
        on_device.update(x + 1)
        np.testing.assert_array_equal(on_device.to_numpy(), x + 1)
    assert repr(on_device) == f"<blockmul.DeviceVector of 0, float64, on {device.name}>"


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
@pytest.mark.parametrize("part", ["full", "lower", "upper"])
def test_grams(device, form, part):
    a = matrix(form)
    on_a = blockmul.DeviceMatrix(a, device=device)
    found = blockmul.gram(on_a, part=part)
    assert blockmul.report()["device"] == device.name
    assert found.format == form
    assert bytes_of(found.to_scipy()) == bytes_of(blockmul.gram(a, part=part, device="host"))
    transpose = a.T.asformat(form)
    np.testing.assert_array_equal(
        blockmul.gram(on_a.T, part=part).to_scipy().toarray(),
        blockmul.gram(transpose, part=part, device="host").toarray(),
    )


@pytest.mark.parametrize("of_a, of_b", FACTORS)
def test_masked_products_have_the_order_of_the_mask(device, of_a, of_b):
    a, b = factors(of_a, of_b)
    on_a, on_b = (blockmul.DeviceMatrix(each, device=device) for each in (a, b))
    masks = (
        [matrix("bsr", (30, 20), (3, 3), 3)] if of_a == "bsr" else [matrix(f, (30, 20), seed=3) for f in FORMATS[:2]]
    )
    for mask in masks:
        mask.data[...] = 0  # the values of a mask do not matter
        host = blockmul.masked(a, b, mask, device="host")
        on_mask = blockmul.DeviceMatrix(mask, device=device)
        found = blockmul.masked(on_a, on_b, on_mask)
        assert found.format == mask.format and found.nnz == on_mask.nnz
        np.testing.assert_array_equal(found.to_scipy().toarray(), host.toarray())
        found = blockmul.masked(on_b.T, on_a.T, on_mask.T)
        assert found.format == on_mask.T.format
        np.testing.assert_array_equal(found.to_scipy().toarray(), host.T.toarray())


@pytest.mark.parametrize("of_a, of_b", FACTORS)
def test_a_plan_copies_no_values(device, of_a, of_b):
    a, b = factors(of_a, of_b)
    on_a, on_b = (blockmul.DeviceMatrix(each, device=device) for each in (a, b))
    for left, right, expected in ((on_a, on_b, a @ b), (on_a.T, on_a, a.T @ a), (on_b.T, on_a.T, (a @ b).T)):
        plan = blockmul.Plan(left, right)
        c = plan.execute(left, right)
        assert c.format == (left @ right).format
        same(c, expected)
        assert plan.execute(left, right, out=c) is c
        ran = blockmul.report()
        assert (ran["device"], ran["method"]) == (device.name, "plan") and ran["products"] > 0

        def executions():
            for _ in range(10):
                plan.execute(left, right, out=c)

        done = counted(device, executions)
        # Every command is a kernel: nothing is copied, filled, read or allocated.
        assert done["launches"] == done["commands"] >= 10
        assert done["read_backs"] == done["buffers_taken"] == done["buffers_created"] == 0
        same(c, expected)
    on_a.update(a * 3)
    plan = blockmul.Plan(on_a, on_b)
    same(plan.execute(on_a, on_b), 3 * (a @ b))
    on_a.update(a)
    same(plan.execute(on_a, on_b), a @ b)
    # Another matrix with the same pattern.
    same(plan.execute(blockmul.DeviceMatrix(a * 5, device=device), on_b), 5 * (a @ b))


def test_a_copy_is_counted(device):
    a = matrix("csr")
    on_a = blockmul.DeviceMatrix(a, device=device)
    on_a.update(a)
    done = counted(device, lambda: on_a.update(a))
    assert done["commands"] - done["launches"] == 1
    assert counted(device, on_a.to_scipy)["read_backs"] == 3


HELD = """
def held():
    device.finish()
    with open("/proc/self/statm") as file:
        resident = int(file.read().split()[1])
    return resident, _blockmul.counters(device)["buffers_created"], _blockmul.counters(device)["kept_bytes"]
executions()
before = held()
executions()
after = held()
print(after[0] / before[0] - 1, after[1] - before[1], after[2] - before[2])
"""


def keeps_its_memory(script, device):
    """Runs `executions()` of a script twice, in a process of its own. The second time takes no memory."""
    if not os.path.exists("/proc/self/statm"):
        pytest.skip("there is no /proc")
    ran = python("-c", script.format(index=device.index) + HELD)
    assert ran.returncode == 0, ran
    grown, created, kept = map(float, ran.stdout.split())
    assert grown < 0.01 and created == kept == 0, ran.stdout


def test_a_thousand_executions_keep_the_memory(device):
    script = """
import blockmul, numpy as np, scipy.sparse as sp
from blockmul import _blockmul
rng = np.random.default_rng(1)
a = sp.csr_array(rng.standard_normal((200, 200)) * (rng.random((200, 200)) < 0.05))
device = blockmul.devices()[{index}]
on_a = blockmul.DeviceMatrix(a, device=device)
plan = blockmul.Plan(on_a, on_a)
c = plan.execute(on_a, on_a)
def executions():
    for out in [None, c] * 500:
        plan.execute(on_a, on_a, out=out)
        if out is None:
            device.finish()
"""
    keeps_its_memory(script, device)


def test_sides_of_zero_and_matrices_without_entries(device):
    for shape in ((0, 5), (5, 0), (0, 0), (4, 5)):
        a = sp.csr_array(shape)
        on_a = blockmul.DeviceMatrix(a, device=device)
        assert (on_a.shape, on_a.nnz) == (shape, 0)
        same(on_a @ on_a.T, a @ a.T)
        same(on_a.T, a.T)
        x = blockmul.DeviceVector(np.ones(shape[1]), device=device)
        np.testing.assert_array_equal((on_a @ x).to_numpy(), np.zeros(shape[0]))
        on_a.update(a)
        plan = blockmul.Plan(on_a, on_a.T)
        same(plan.execute(on_a, on_a.T), a @ a.T)
    empty = sp.bsr_array((0, 6), blocksize=(1, 2))
    same(blockmul.DeviceMatrix(empty, device=device).T, empty.T)


@pytest.mark.parametrize("rows", BLOCK_SIDES)
@pytest.mark.parametrize("columns", BLOCK_SIDES)
def test_blocks_of_all_sides(device, rows, columns):
    a = matrix("bsr", (10, 8), (rows, columns))
    on_a = blockmul.DeviceMatrix(a, device=device)
    same(on_a.T @ on_a, a.T @ a)
    x = np.arange(a.shape[1], dtype=float)
    np.testing.assert_array_equal((on_a @ blockmul.DeviceVector(x, device=device)).to_numpy(), a @ x)


def test_descriptions(device):
    a = blockmul.DeviceMatrix(matrix("bsr", (4, 5), (3, 2)), device=device)
    assert repr(a) == (f"<blockmul.DeviceMatrix 12x10 bsr in blocks of 3x2, float64, {a.nnz} stored, on {device.name}>")
    assert " 24x30 csc, float32, " in repr(blockmul.DeviceMatrix(matrix("csr", dtype=np.float32), device=device).T)


def raises(kind, text, call):
    with pytest.raises(kind) as raised:
        call()
    assert text in str(raised.value), raised.value


def test_the_host_is_no_device(device):
    a = matrix("csr")
    raises(blockmul.BadInput, '"host" is no OpenCL device', lambda: blockmul.DeviceMatrix(a, device="host"))
    raises(blockmul.BadInput, '"host" is no OpenCL device', lambda: blockmul.DeviceVector([1.0], device="host"))
    raises(blockmul.NoDevice, "no such device", lambda: blockmul.DeviceMatrix(a, device="no such device"))
    raises(TypeError, "device: 1.5", lambda: blockmul.DeviceMatrix(a, device=1.5))
    for named in (None, device.index, device.name):
        assert blockmul.DeviceMatrix(a, device=named).device in blockmul.devices()
    script = """
import blockmul, scipy.sparse as sp
try:
    blockmul.DeviceMatrix(sp.eye_array(4, format="csr"))
except (blockmul.NoDevice, blockmul.BadInput) as error:
    print(type(error).__name__)
"""
    found = python("-c", script, OCL_ICD_VENDORS="/nonexistent", OCL_ICD_FILENAMES="")
    assert found.stdout == "NoDevice\n", found
    assert python("-c", script, BLOCKMUL_DEVICE="host").stdout == "BadInput\n"


def test_matrices_that_do_not_fit_are_refused(device):
    a, b = factors("csr", "csr")
    blocks = matrix("bsr", (12, 10), (2, 2))
    on_a, on_b, on_blocks = (blockmul.DeviceMatrix(each, device=device) for each in (a, b, blocks))
    single = blockmul.DeviceMatrix(b.astype(np.float32), device=device)
    short = blockmul.DeviceVector(np.ones(7), device=device)
    single_x = blockmul.DeviceVector(np.ones(24, np.float32), device=device)
    bad = blockmul.BadInput
    raises(bad, "cannot multiply: a is 30x24, b is 30x24", lambda: on_a @ on_a)
    raises(bad, "a is float64, b is float32", lambda: on_a @ single)
    raises(bad, "b.to_scipy().astype(numpy.float64)", lambda: blockmul.Plan(on_a, single))
    raises(bad, "b: has blocks of 2x2, and a of 1x1", lambda: on_a @ on_blocks)
    raises(bad, "cannot multiply: a is 30x24, b is of 7 numbers", lambda: on_a @ short)
    raises(bad, "cannot multiply: a is of 7 numbers, b is 30x24", lambda: short @ on_a)
    raises(bad, "b: is float32, and a float64", lambda: on_a @ single_x)
    raises(bad, "mask: is 30x24, the product 30x20", lambda: blockmul.masked(on_a, on_b, on_a))
    mask = blockmul.DeviceMatrix(matrix("bsr", (10, 10), (3, 2)), device=device)
    raises(bad, "mask: has blocks of 3x2", lambda: blockmul.masked(on_a, on_b, mask))
    raises(bad, "part: 'left'", lambda: blockmul.gram(on_a, part="left"))
    raises(bad, "device: operands", lambda: blockmul.multiply(on_a, on_b, device=device))
    raises(bad, "threads: is for products on the host", lambda: blockmul.gram(on_a, threads=1))
    raises(bad, "method: 'esc'", lambda: blockmul.multiply(on_a, single_x, method="esc"))
    raises(bad, "no such method", lambda: blockmul.multiply(on_a, on_b, method="no such method"))
    raises(bad, "x: has 2 numbers, the vector 7", lambda: short.update([1.0, 2.0]))
    raises(bad, "f32", lambda: short.update(np.ones(7, np.float32)))
    raises(bad, "x: has 2 dimensions", lambda: blockmul.DeviceVector(np.ones((2, 2)), device=device))
    raises(TypeError, "x: int64", lambda: blockmul.DeviceVector([1, 2], device=device))
    raises(TypeError, "a: int64", lambda: blockmul.DeviceMatrix(a.astype(int), device=device))
    raises(TypeError, "already", lambda: blockmul.DeviceMatrix(on_a, device=device))
    raises(bad, "kind: 'list'", lambda: on_a.to_scipy("list"))


def test_updates_keep_the_pattern(device):
    for form in ("csr", "csc", "bsr", "coo"):
        a = matrix(form)
        on_a = blockmul.DeviceMatrix(a, device=device)
        on_a.update(a * 2)
        same(on_a, a * 2)
        raises(blockmul.BadInput, "another pattern", lambda: on_a.update(matrix(form, seed=2)))
        raises(blockmul.BadInput, "another format", lambda: on_a.update((a * 2).astype(np.float32)))
        raises(blockmul.BadInput, "a: is 24x30", lambda: on_a.update(matrix("csr", (24, 30))))
        other = "csr" if form == "csc" else "csc"
        raises(blockmul.BadInput, "another format", lambda: on_a.update(a.asformat(other)))
        same(on_a, a * 2)
    # A result takes values too, and unsorted ones are sorted first.
    c = on_a @ on_a.T
    of_c = c.to_scipy()
    c.update(of_c * 3)
    same(c, of_c * 3)
    a = matrix("csr", order="unsorted")
    on_a = blockmul.DeviceMatrix(a, device=device)
    on_a.update(a * 2)
    same(on_a, a * 2)


def test_plans_refuse_what_they_were_not_made_for(device):
    a, b = factors("csr", "csr")
    on_a, on_b = (blockmul.DeviceMatrix(each, device=device) for each in (a, b))
    plan = blockmul.Plan(on_a, on_b)
    c = plan.execute(on_a, on_b)
    bad = blockmul.BadInput
    raises(bad, "another pattern", lambda: plan.execute(blockmul.DeviceMatrix(a.tocsc(), device=device), on_b))
    other = blockmul.DeviceMatrix(matrix("csr", seed=7), device=device)
    raises(bad, "does not have the pattern of the plan", lambda: plan.execute(other, on_b))
    raises(bad, "does not have the pattern of the plan", lambda: plan.execute(on_a, on_b, out=other))
    raises(bad, "out: has another format", lambda: plan.execute(on_a, on_b, out=c.T))
    square = blockmul.DeviceMatrix(matrix("csr", (24, 24)), device=device)
    squares = blockmul.Plan(square, square)
    raises(bad, "out: is one of the factors", lambda: squares.execute(square, square, out=square))
    raises(TypeError, "a: csr_array is not on a device", lambda: plan.execute(a, b))
    raises(TypeError, "b: csr_array is not on a device", lambda: plan.execute(on_a, b))
    raises(TypeError, "made for matrices of SciPy", lambda: blockmul.Plan(a, b).execute(on_a, on_b))
    raises(TypeError, "made for matrices of SciPy", lambda: blockmul.Plan(a, b).execute(a, b, out=c))
    raises(TypeError, "out: csr_array is not on a device", lambda: plan.execute(on_a, on_b, out=c.to_scipy()))
    same(c, a @ b)


def test_nothing_is_copied_silently(device):
    a, x = matrix("csr", (24, 24)), np.ones(24)
    on_a, on_x = blockmul.DeviceMatrix(a, device=device), blockmul.DeviceVector(x, device=device)
    for of_scipy in (a, sp.csr_matrix(a), matrix("bsr", (12, 12), (2, 2)), sp.coo_array(a)):
        for call in (
            lambda: of_scipy @ on_a,
            lambda: on_a @ of_scipy,
            lambda: of_scipy @ on_x,
            lambda: on_x @ of_scipy,
            lambda: of_scipy * on_a,
            lambda: of_scipy + on_a,
            lambda: blockmul.multiply(of_scipy, on_a),
            lambda: blockmul.multiply(on_a, of_scipy),
            lambda: blockmul.multiply(of_scipy, on_x),
            lambda: blockmul.masked(on_a, on_a, of_scipy),
            lambda: blockmul.Plan(on_a, of_scipy),
        ):
            with pytest.raises(TypeError):
                call()
    for dense in (x, np.ones((24, 24)), [1.0] * 24, 2.0):
        for on_device in (on_a, on_x):
            for call in (
                lambda: dense @ on_device,
                lambda: on_device @ dense,
                lambda: np.multiply(dense, on_device),
                lambda: np.asarray(dense) * on_device,
                lambda: np.asarray(on_device),
                lambda: np.array([on_device]),
                lambda: np.sin(on_device),
                lambda: copy.deepcopy(on_device),
                lambda: pickle.dumps(on_device),
            ):
                with pytest.raises(TypeError):
                    call()
    raises(TypeError, "blockmul.DeviceVector(x, device=...)", lambda: on_a @ x)
    raises(TypeError, "blockmul.DeviceMatrix(a, device=...)", lambda: on_a @ a)
    raises(TypeError, "one of them is a matrix", lambda: on_x @ on_x)
    raises(TypeError, "x: ndarray is not a blockmul.DeviceVector", lambda: blockmul.apply(on_a, x))
    raises(TypeError, "a: csr_array is not on a device", lambda: blockmul.apply(a, on_x))
    short = blockmul.DeviceVector(np.ones(7), device=device)
    raises(blockmul.BadInput, "cannot multiply: a is 24x24, x is of 7 numbers", lambda: blockmul.apply(on_a, short))
    with pytest.raises((TypeError, ValueError)):
        sp.csr_array(on_a)


def test_threads_share_matrices(device):
    a = matrix("csr", (60, 60), seed=3)
    on_a, on_b = blockmul.DeviceMatrix(a, device=device), blockmul.DeviceMatrix(a, device=device)
    plan = blockmul.Plan(on_a, on_a)
    first, second = plan.execute(on_a, on_a), plan.execute(on_a, on_a)
    square, fourth = a @ a, blockmul.Plan(first, first)
    results = [fourth.execute(first, first), fourth.execute(second, second)]
    failures = []

    def work(mine, other, result):
        try:
            for _ in range(20):
                # Each thread writes what the other reads.
                plan.execute(on_a, on_b, out=mine)
                fourth.execute(other, mine, out=result)
                on_b.update(a)
                same(on_a @ on_b, square)
            same(result, square @ square)
        except BaseException as error:
            failures.append(error)

    pairs = ((first, second, results[0]), (second, first, results[1]))
    workers = [threading.Thread(target=work, args=pairs[number % 2]) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert failures == [] and not any(worker.is_alive() for worker in workers)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_forked_children_are_refused(device):
    a = matrix("csr", (24, 24))
    on_a = blockmul.DeviceMatrix(a, device=device)
    on_x = blockmul.DeviceVector(np.ones(24), device=device)
    plan = blockmul.Plan(on_a, on_a)
    c = plan.execute(on_a, on_a)
    y = on_a @ on_x
    same(c, a @ a)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()

    def child():
        calls = (
            lambda: blockmul.DeviceMatrix(a),
            lambda: blockmul.DeviceVector([1.0], device=device),
            lambda: on_a @ on_a,
            lambda: on_a @ on_x,
            lambda: plan.execute(on_a, on_a, out=c),
            lambda: blockmul.gram(on_a),
            on_a.to_scipy,
            on_x.to_numpy,
            lambda: on_a.update(a),
            lambda: on_x.update(np.ones(24)),
            lambda: device.marker(),
            lambda: device.queue_ptr,
        )
        for call in calls:
            try:
                call()
                queue.put("accepted")
            except blockmul.NoDevice as error:
                queue.put(str(error))
        blockmul.multiply(a, a, device="host")
        queue.put("done")

    process = context.Process(target=child)
    process.start()
    said = [queue.get(timeout=10) for _ in range(13)]
    process.join(10)
    assert process.exitcode == 0
    assert all("OpenCL does not work in a forked child" in each for each in said[:-1]) and said[-1] == "done", said
    del on_a, plan, c, y
    gc.collect()


def test_a_child_by_fork_releases_nothing(device):
    script = """
import gc, os, blockmul, scipy.sparse as sp
a = blockmul.DeviceMatrix(sp.eye_array(50, format="csr"), device={index})
plan = blockmul.Plan(a, a)
c = plan.execute(a, a)
child = os.fork()
if child == 0:
    del a, plan, c
    gc.collect()
    os._exit(0)
print(os.waitpid(child, 0)[1], (c.to_scipy() != sp.eye_array(50)).nnz)
"""
    if not hasattr(os, "fork"):
        pytest.skip("there is no fork")
    ran = python("-W", "ignore", "-c", script.format(index=device.index))
    assert ran.stdout == "0 0\n", ran
