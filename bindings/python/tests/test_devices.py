"""Where products run: devices, the host without OpenCL, forked children, threads."""

import multiprocessing
import os
import subprocess
import sys
import threading

import blockmul
import numpy as np
import pytest
import scipy.sparse as sp
from matrices import real


def random(form="csr", dtype=np.float64, block=None, shape=(60, 60), seed=1):
    rng = np.random.default_rng(seed)
    dense = rng.integers(-3, 4, shape) * (rng.random(shape) < 0.2)
    matrix = sp.csr_array(dense.astype(dtype))
    return matrix.tobsr(blocksize=block) if form == "bsr" else matrix.asformat(form)


def python(*arguments, **environment):
    """Runs Python with these arguments in another process."""
    environment = {**os.environ, **environment}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=60, env=environment)


def without_opencl(*arguments):
    """What Python prints in a process that finds no OpenCL platform."""
    ran = python(*arguments, OCL_ICD_VENDORS="/nonexistent", OCL_ICD_FILENAMES="")
    assert ran.returncode == 0, ran
    return ran.stdout


def same(found, expected):
    np.testing.assert_array_equal(found.toarray(), expected.toarray())


def test_devices_have_properties(device):
    assert blockmul.devices()[device.index].name == device.name
    assert device.name and device.platform and device.kind in ("gpu", "cpu", "other")
    assert device.memory > 0 and device.float64 is True
    assert repr(device) == f"<blockmul.Device {device.index}: {device.name} ({device.platform})>"
    with pytest.raises(AttributeError):
        device.index = 7
    with pytest.raises(TypeError):
        blockmul.Device()


@pytest.mark.parametrize("method", [None, "esc", "dense"])
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_a_device_computes_what_the_host_computes(device, form, method):
    a, b = random(form), random(form, seed=2)
    found = blockmul.multiply(a, b, device=device, method=method)
    on_device = blockmul.report()
    same(found, a @ b)
    assert on_device["device"] == device.name
    if method:
        assert on_device["method"] == method
    host = blockmul.multiply(a, b, device="host")
    assert [array.tobytes() for array in (found.indptr, found.indices, found.data)] == [
        array.tobytes() for array in (host.indptr, host.indices, host.data)
    ]


def test_a_device_computes_everything_else_too(device):
    a, b = random("bsr", np.float32, (2, 3)), random("bsr", np.float32, (3, 2), seed=2)
    same(blockmul.multiply(a, b, device=device, method="esc"), a @ b)
    lower = np.kron(np.tril(np.ones((20, 20))), np.ones((3, 3)))
    same(blockmul.gram(a, part="lower", device=device), sp.csr_array((a.T @ a).toarray() * lower))
    a, b = random(), random(seed=2)
    mask = random(seed=3)
    same(blockmul.masked(a, b, mask, device=device), (a @ b) * (mask != 0))
    for d in (np.arange(120.0).reshape(60, 2), np.asfortranarray(np.arange(120.0).reshape(60, 2)), np.arange(60.0)):
        np.testing.assert_array_equal(blockmul.multiply(a, d, device=device), a @ d)
        np.testing.assert_array_equal(blockmul.multiply(d.T, a, device=device), d.T @ a)
        assert blockmul.report()["device"] == device.name
    v, d = real((60, 60), 0.3, 4), np.random.default_rng(5).uniform(-1, 1, (60, 2))
    assert blockmul.multiply(v, d, device=device).tobytes() == blockmul.multiply(v, d, device="host").tobytes()
    plan = blockmul.Plan(a, b, device=device)
    for factor in (1, 2, -1):
        same(plan.execute(a * factor, b), (a @ b) * factor)
        assert blockmul.report()["device"] == device.name and blockmul.report()["method"] == "plan"


def test_a_device_has_several_names(device):
    a = random()
    part = device.name[: len(device.name) // 2]
    for name in (
        device,
        device.index,
        np.int64(device.index),
        str(device.index),
        device.name,
        part.upper(),
        device.kind,
    ):
        blockmul.multiply(a, a, device=name)
        expected = (
            next(each for each in blockmul.devices() if each.kind == device.kind) if name == device.kind else device
        )
        assert blockmul.report()["device"] == expected.name


def test_a_device_that_is_not_there_is_refused_with_the_list(device):
    a = random()
    for name in ("no such device", 99, "99"):
        with pytest.raises(blockmul.NoDevice) as raised:
            blockmul.multiply(a, a, device=name)
        assert f'"{name}"' in str(raised.value) and device.name in str(raised.value)


def test_the_environment_names_a_device(device):
    script = """
import blockmul, scipy.sparse as sp
a = sp.eye_array(4, format="csr")
blockmul.multiply(a, a)
print(blockmul.report()["device"])
blockmul.multiply(a, a, device="host")
print(blockmul.report()["device"])
"""
    ran = python("-c", script, BLOCKMUL_DEVICE=str(device.index))
    assert ran.stdout.splitlines() == [device.name, "host"], ran
    ran = python("-c", script, BLOCKMUL_DEVICE="no such device")
    assert ran.returncode == 1 and "NoDevice" in ran.stderr, ran


def test_a_report_says_what_ran():
    a = random()
    same(blockmul.multiply(a, a, device="host"), a @ a)
    ran = blockmul.report()
    lengths = np.diff(a.indptr)
    assert ran["device"] == "host" and ran["method"] == "host"
    assert ran["products"] == lengths[a.indices].sum()
    assert isinstance(ran["milliseconds"], float) and ran["milliseconds"] >= 0
    blockmul.gram(a, device="host")
    assert blockmul.report()["products"] == (lengths**2).sum()
    blockmul.multiply(a, np.ones((60, 3)), device="host")
    assert blockmul.report()["products"] == 3 * a.nnz


def test_small_products_run_on_the_host():
    a = random()
    blockmul.multiply(a, a)
    assert blockmul.report()["device"] == "host"


@pytest.mark.parametrize("form, block", [("csr", None), ("csc", None), ("bsr", (2, 3))])
def test_a_gram_counts_products_of_entries_everywhere(places, form, block):
    a, counts = random(form, block=block), set()
    for place in places:
        blockmul.gram(a, device=place)
        counts.add(blockmul.report()["products"])
    lengths = np.diff(a.indptr if form != "csc" else a.tocsr().indptr)
    assert counts == {int((lengths**2).sum())}


def test_a_report_is_of_its_thread():
    a = random()
    blockmul.multiply(a, a, device="host")
    seen = []
    thread = threading.Thread(target=lambda: seen.append(blockmul.report()))
    thread.start()
    thread.join()
    assert seen == [None] and blockmul.report() is not None


def test_a_report_is_none_before_the_first_call():
    assert python("-c", "import blockmul; print(blockmul.report())").stdout == "None\n"


def test_without_opencl_everything_runs_on_the_host():
    printed = without_opencl(
        "-c",
        """
import blockmul, numpy as np, scipy.sparse as sp
a = sp.csr_array(np.random.default_rng(1).binomial(1, 0.2, (300, 300)) * 0.7)
d = np.ones((300, 300))
def check(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    print(blockmul.report()["device"])
# These are more than a million products, from which a device would be chosen.
check(blockmul.multiply(a, a).toarray(), (a @ a).toarray())
check(blockmul.multiply(a, d), a @ d)
check(blockmul.multiply(d, a), d @ a)
check(blockmul.gram(a).toarray(), (a.T @ a).toarray())
check(blockmul.masked(a, a, a).toarray(), ((a @ a) * (a != 0)).toarray())
check(blockmul.Plan(a, a).execute(a, a).toarray(), (a @ a).toarray())
""",
    )
    assert printed.split() == ["host"] * 6


def test_without_opencl_a_device_is_refused_with_what_to_install():
    printed = without_opencl(
        "-c",
        """
import blockmul, scipy.sparse as sp
a = sp.eye_array(4, format="csr")
for call in (
    lambda: blockmul.devices(),
    lambda: blockmul.multiply(a, a, device="gpu"),
    lambda: blockmul.multiply(a, a, device=0),
    lambda: blockmul.gram(a, device="cpu"),
    lambda: blockmul.Plan(a, a, device="auto"),
):
    try:
        call()
    except blockmul.NoDevice as error:
        print("pocl" in str(error) and "install" in str(error))
""",
    )
    assert printed.split() == ["True"] * 5


def test_the_module_lists_devices(device):
    ran = python("-m", "blockmul")
    assert ran.returncode == 0 and ran.stdout.startswith("blockmul "), ran
    for each in blockmul.devices():
        assert f"{each.index}: {each.name} ({each.platform}), {each.kind}, " in ran.stdout


def test_the_module_says_what_to_install():
    printed = without_opencl("-m", "blockmul")
    assert "no OpenCL device, so products run on the host's cores" in printed
    assert "apt-get install pocl-opencl-icd" in printed


def in_child(queue):
    a = random(shape=(400, 400))
    try:
        for threads in (None, 1, 2):
            same(blockmul.multiply(a, a, threads=threads), a @ a)
            queue.put(blockmul.report()["device"])
        np.testing.assert_array_equal(blockmul.multiply(a, np.ones(400)), a @ np.ones(400))
        same(blockmul.gram(a), a.T @ a)
        plan = blockmul.Plan(a, a)
        same(plan.execute(a, a), a @ a)
        for call in (blockmul.devices, lambda: blockmul.multiply(a, a, device="cpu")):
            try:
                call()
                queue.put("accepted")
            except blockmul.NoDevice as error:
                queue.put(str(error))
    except BaseException as error:
        queue.put(repr(error))
        raise


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_multiplies_on_the_host_and_refuses_devices():
    a = random(shape=(400, 400))
    for threads in (None, 1, 2):
        blockmul.multiply(a, a, threads=threads, device="host")
    try:
        blockmul.multiply(a, a, device=0)
    except blockmul.NoDevice:
        pass
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=in_child, args=(queue,))
    child.start()
    said = [queue.get(timeout=60) for _ in range(5)]
    child.join(60)
    assert child.exitcode == 0
    assert said[:3] == ["host"] * 3
    for message in said[3:]:
        assert "OpenCL does not work in a forked child" in message and "spawn" in message


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_plan_on_a_device_is_refused_in_a_forked_child(device):
    a = random()
    plan = blockmul.Plan(a, a, device=device)
    same(plan.execute(a, a), a @ a)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()

    def child():
        try:
            plan.execute(a, a)
            queue.put("accepted")
        except blockmul.NoDevice as error:
            queue.put(str(error))

    process = context.Process(target=child)
    process.start()
    process.join(3)
    hangs = process.is_alive()
    if hangs:
        process.kill()
        process.join()
    assert not hangs
    assert "OpenCL does not work in a forked child" in queue.get(timeout=3)


@pytest.mark.parametrize("threads", [None, 1, 2, 3, np.int64(2), 2**70])
def test_threads_do_not_change_the_bits(threads):
    a = real((500, 500), 0.05, 3)
    one = blockmul.multiply(a, a, threads=1, device="host")
    found = blockmul.multiply(a, a, threads=threads, device="host")
    assert found.data.tobytes() == one.data.tobytes() and found.indices.tobytes() == one.indices.tobytes()
    np.testing.assert_array_equal(
        blockmul.multiply(a, np.ones(500), threads=threads), blockmul.multiply(a, np.ones(500), threads=1)
    )


def test_threads_of_python_multiply_at_once():
    a = random(shape=(300, 300))
    expected = a @ a
    plan = blockmul.Plan(a, a)
    failures = []

    def work():
        try:
            for _ in range(5):
                same(blockmul.multiply(a, a), expected)
                same(plan.execute(a, a), expected)
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert failures == [] and not any(worker.is_alive() for worker in workers)


def test_threads_of_python_execute_one_large_plan():
    """A thread of the pool that waits within one execution must not wait for another of the plan."""
    script = """
import threading, blockmul, numpy as np, scipy.sparse as sp
rng = np.random.default_rng(1)
a = sp.csr_array(rng.random((700, 700)) * (rng.random((700, 700)) < 0.12))
plan = blockmul.Plan(a, a, device="host")
assert blockmul.multiply(a, a, device="host").nnz and blockmul.report()["products"] > 1 << 22
expected, found = plan.execute(a, a).data.tobytes(), []
def work():
    for _ in range(3):
        found.append(plan.execute(a, a).data.tobytes() == expected)
workers = [threading.Thread(target=work, daemon=True) for _ in range(12)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join(20)
print(len(found), all(found))
"""
    ran = python("-c", script)
    assert ran.stdout == "36 True\n", ran


def test_other_threads_of_python_run_during_a_product():
    script = """
import threading, time, blockmul, numpy as np, scipy.sparse as sp
a = sp.csr_array(np.random.default_rng(1).binomial(1, 0.02, (3000, 3000)) * 0.7)
ticks, done = [], threading.Event()
def count():
    while not done.is_set():
        ticks.append(time.perf_counter())
        time.sleep(0.001)
thread = threading.Thread(target=count)
thread.start()
begun = time.perf_counter()
blockmul.multiply(a, a, threads=1, device="host")
ended = time.perf_counter()
done.set()
thread.join()
# Almost all the time is in the product, so a tick in the middle half is within it.
quarter = (ended - begun) / 4
print(any(begun + quarter < tick < ended - quarter for tick in ticks))
"""
    ran = python("-c", script)
    assert ran.stdout == "True\n", ran


MISSING = """
import sys, threading
import blockmul, numpy as np, scipy.sparse as sp
sys.setswitchinterval(1e-6)
a = sp.eye_array(5, format="csr")
def ask():
    for _ in range(300):
        try:
            blockmul.multiply(a, a, device="no such device")
        except blockmul.NoDevice:
            pass
threads = [threading.Thread(target=ask) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("done")
"""


def test_threads_that_are_refused_do_not_wait_for_each_other():
    assert python("-c", MISSING).stdout == "done\n"
