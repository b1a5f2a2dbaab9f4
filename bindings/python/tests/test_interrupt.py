"""Long calls end early if the user interrupts them, and errors have numbers."""

import pickle
import signal
import time

import blockmul
import numpy as np
import pytest
import scipy.sparse as sp


@pytest.fixture(scope="module")
def dense():
    """A matrix whose square takes a second on one core of this machine."""
    for side in range(300, 3000, 100):
        whole = sp.csr_array(np.random.default_rng(1).random((side, side)))
        begun = time.perf_counter()
        blockmul.multiply(whole, whole, device="host", threads=1)
        if time.perf_counter() - begun > 1:
            break
    return whole


@pytest.fixture
def interrupted():
    """Interrupts the test after some time, as Ctrl-C does."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("threads", [None, 1, 2])
def test_a_product_on_the_host_ends(dense, interrupted, threads):
    begun = time.perf_counter()
    blockmul.multiply(dense, dense, device="host", threads=threads)
    whole = time.perf_counter() - begun
    begun = time.perf_counter()
    interrupted(whole / 10)
    with pytest.raises(KeyboardInterrupt):
        blockmul.multiply(dense, dense, device="host", threads=threads)
    ended = time.perf_counter() - begun
    small = dense[:50, :50]
    assert np.allclose(
        blockmul.multiply(small, small, device="host", threads=threads).toarray(), (small @ small).toarray()
    )
    assert ended < 0.6 * whole + 0.1


def test_a_product_on_a_device_ends(device, dense, interrupted):
    part = dense[:100]
    blockmul.multiply(part, dense, device=device)
    interrupted(0.005)
    with pytest.raises(KeyboardInterrupt):
        while True:
            blockmul.multiply(part, dense, device=device)
    found = blockmul.multiply(part, dense[:, :50], device=device)
    assert np.allclose(found.toarray(), (part @ dense[:, :50]).toarray())


def test_a_handler_that_does_not_raise_changes_nothing(dense):
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(time.perf_counter()))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        begun = time.perf_counter()
        found = blockmul.multiply(dense, dense, device="host", threads=1)
        ended = time.perf_counter()
    finally:
        signal.signal(signal.SIGALRM, before)
    np.testing.assert_allclose(found.data, (dense.toarray() @ dense.toarray()).ravel())
    assert begun < seen[0] < ended, "the handler ran during the product"


def test_errors_have_the_numbers_of_their_messages():
    a = sp.csr_array((2**31, 2**31), dtype=np.float64)
    rows = sp.csr_array((np.ones(2**20), (np.arange(2**20), np.zeros(2**20, int))), shape=(2**20, 1))
    with pytest.raises(blockmul.OutOfMemory) as raised:
        blockmul.multiply(rows, rows.T, device="host")
    numbers = raised.value.numbers
    assert numbers["needed"] > numbers["available"] > 0 and str(numbers["needed"]) in str(raised.value)
    with pytest.raises(blockmul.BadInput) as raised:
        blockmul.multiply(a[:3], rows, device="host")
    assert raised.value.numbers == {} and "3x2147483648" in str(raised.value)
    copy = pickle.loads(pickle.dumps(blockmul.OutOfMemory("little", {"needed": 5})))
    assert (type(copy), str(copy), copy.numbers) == (blockmul.OutOfMemory, "little", {"needed": 5})
    assert isinstance(copy, MemoryError) and isinstance(copy, blockmul.Error)
    for kind, is_also in ((blockmul.NoFile, FileNotFoundError), (blockmul.FileFailed, OSError)):
        error = kind("none.txt: no such file", {"path": "none.txt", "errno": 2})
        assert isinstance(error, is_also) and str(error) == "none.txt: no such file" and error.numbers["errno"] == 2


def test_a_handler_that_uses_a_busy_plan_is_refused(dense):
    plan = blockmul.Plan(dense, dense, device="host", threads=1)
    said = []

    def handler(*_):
        try:
            plan.execute(dense, dense)
        except blockmul.Error as error:
            said.append(str(error))

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        plan.execute(dense, dense)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(said) == 1 and "a signal's handler" in said[0]
    plan.execute(dense, dense)
