"""Buffers, queues and events of pyopencl."""

import gc
import os
import threading
import time

import blockmul
import numpy as np
import pytest
import scipy.sparse as sp
from blockmul import _blockmul
from test_devices import python
from test_resident import counted, keeps_its_memory, matrix, raises, same

cl = pytest.importorskip("pyopencl")
cla = pytest.importorskip("pyopencl.array")


@pytest.fixture(scope="module")
def context(device):
    """A context of pyopencl's own."""
    return cl.Context([cl.Device.from_int_ptr(device.device_ptr)])


@pytest.fixture(scope="module")
def queue(context):
    return cl.CommandQueue(context)


@pytest.fixture(scope="module")
def adopted(queue):
    return blockmul.Device.from_queue(queue)


def arrays(queue, a, index=np.int32):
    return [cla.to_device(queue, each) for each in (a.indptr.astype(index), a.indices.astype(index), a.data)]


def block_of(a):
    return a.blocksize if a.format == "bsr" else None


def lent(a, of_a, device):
    """A matrix over arrays of pyopencl."""
    return blockmul.DeviceMatrix.from_buffers(a.format, a.shape, block_of(a), a.dtype, *of_a, device=device)


def event_of(marker):
    return cl.Event.from_int_ptr(marker.int_ptr)


def square(a):
    """a·aᵀ with its sums of zero, which SciPy drops."""
    transpose = a.T.asformat(a.format)
    transpose.sort_indices()
    return blockmul.multiply(a, transpose, device="host")


FORMS = ("csr", "csc", "bsr")


def test_a_device_of_a_queue(device, queue, context, adopted):
    assert adopted.name == device.name and adopted != device
    assert blockmul.Device.from_queue(queue) == adopted
    assert blockmul.Device.from_queue(queue.int_ptr) == adopted and len({adopted, device}) == 2
    assert (adopted.queue_ptr, adopted.context_ptr) == (queue.int_ptr, context.int_ptr)
    assert adopted.device_ptr == queue.device.int_ptr == device.device_ptr
    assert repr(adopted) == f"<blockmul.Device of a queue: {device.name} ({device.platform})>"
    other = blockmul.Device.from_queue(cl.CommandQueue(context))
    assert other != adopted
    # Products of SciPy's matrices run there too.
    a = matrix("csr", (24, 24))
    np.testing.assert_array_equal(blockmul.multiply(a, a, device=adopted).toarray(), (a @ a).toarray())
    assert blockmul.report()["device"] == device.name


def test_the_handles_of_a_device(device):
    context = cl.Context.from_int_ptr(device.context_ptr)
    queue = cl.CommandQueue.from_int_ptr(device.queue_ptr)
    assert queue.context == context and context.devices == [cl.Device.from_int_ptr(device.device_ptr)]
    a = matrix("bsr")
    on_a = blockmul.DeviceMatrix(a, device=device)
    data = on_a.to_pyopencl(queue)[2]
    data *= 2  # on the queue of the device, whose commands run in order
    same(on_a, a * 2)
    # A buffer of pyopencl in the context of the device.
    x = cla.to_device(queue, np.arange(a.shape[1], dtype=float))
    on_x = blockmul.DeviceVector.from_buffer(x, device=device)
    np.testing.assert_array_equal((on_a @ on_x).to_numpy(), 2 * a @ np.arange(a.shape[1]))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("index", [np.int32, np.uint32])
def test_arrays_of_pyopencl_are_multiplied_in_place(queue, adopted, form, index):
    for dtype in (np.float64, np.float32) if index == np.int32 else (np.float64,):
        a = matrix(form, dtype=dtype)
        of_a = arrays(queue, a, index)
        on_a = lent(a, of_a, adopted)
        assert (on_a.format, on_a.shape, on_a.dtype, on_a.device) == (form, a.shape, dtype, adopted)
        assert on_a.blocksize == (block_of(a) or (1, 1))
        same(on_a, a)
        same(on_a @ on_a.T, a @ a.T)
        # Buffers, and addresses with a number of entries.
        on_a = lent(a, [each.data for each in of_a], adopted)
        same(on_a, a)
        addresses = [each.data.int_ptr for each in of_a]
        entries = a.indices.size
        on_a = blockmul.DeviceMatrix.from_buffers(
            form, a.shape, block_of(a), dtype, *addresses, device=adopted, nnz=entries
        )
        same(on_a, a)
        # What pyopencl writes is multiplied, and what blockmul writes is seen.
        of_a[2] *= 2
        same(on_a, a * 2)
        on_a.update(a * 3)
        np.testing.assert_array_equal(of_a[2].get(), a.data * 3)


@pytest.mark.parametrize("form", FORMS)
def test_results_are_arrays_of_pyopencl(context, queue, adopted, form):
    a = matrix(form)
    c = (on_a := lent(a, arrays(queue, a), adopted)) @ on_a.T
    product = square(a)
    for on in (queue, cl.CommandQueue(context)):
        indptr, indices, data = c.to_pyopencl(on)
        assert (indptr.dtype, indices.dtype, data.dtype) == (np.uint32, np.uint32, np.float64)
        assert data.queue is on
        for found, expected in zip((indptr, indices, data), (product.indptr, product.indices, product.data)):
            assert found.shape == expected.shape
            np.testing.assert_array_equal(found.get(), expected)
    # There and back again.
    back = blockmul.DeviceMatrix.from_buffers(
        form, c.shape, block_of(a) and (3, 3), "f8", indptr, indices, data, device=adopted
    )
    same(back, a @ a.T)
    x = blockmul.DeviceVector(np.arange(a.shape[1], dtype=float), device=adopted)
    y = (on_a @ x).to_pyopencl(queue)
    assert (y.shape, y.dtype) == ((a.shape[0],), np.float64)
    np.testing.assert_array_equal(y.get(), a @ np.arange(a.shape[1]))
    doubled = blockmul.DeviceVector.from_buffer(y * 2, device=adopted)
    np.testing.assert_array_equal((doubled @ on_a).to_numpy(), 2 * (a @ np.arange(a.shape[1])) @ a)


def test_vectors_over_buffers(queue, adopted):
    x = cla.to_device(queue, np.arange(6.0))
    for made in (
        blockmul.DeviceVector.from_buffer(x, device=adopted),
        blockmul.DeviceVector.from_buffer(x.data, dtype=np.float64, device=adopted),
        blockmul.DeviceVector.from_buffer(x.data.int_ptr, dtype="f8", size=6, device=adopted),
    ):
        np.testing.assert_array_equal(made.to_numpy(), np.arange(6.0))
    part = blockmul.DeviceVector.from_buffer(x.data, dtype="f8", size=3, device=adopted)
    part.update([5.0, 6.0, 7.0])
    np.testing.assert_array_equal(x.get(), [5, 6, 7, 3, 4, 5])
    empty = blockmul.DeviceVector.from_buffer(cla.empty(queue, 0, np.float64), device=adopted)
    assert len(empty) == 0 and empty.to_pyopencl(queue).shape == (0,)


def test_empty_matrices(queue, adopted):
    for a in (sp.csr_array((3, 4)), sp.csc_array((3, 4)), sp.bsr_array((6, 4), blocksize=(2, 2))):
        of_a = arrays(queue, a)
        on_a = lent(a, of_a, adopted)
        same(on_a @ on_a.T, a @ a.T)
        shapes = [each.shape for each in (on_a @ on_a.T).to_pyopencl(queue)]
        assert shapes[1] == (0,) and shapes[2][0] == 0


@pytest.mark.parametrize("form", FORMS)
def test_a_plan_through_arrays_of_pyopencl_copies_no_values(queue, adopted, form):
    a = matrix(form)
    of_a = arrays(queue, a)
    on_a = lent(a, of_a, adopted)
    plan = blockmul.Plan(on_a, on_a.T)
    c = plan.execute(on_a, on_a.T)
    values = c.to_pyopencl(queue)[2]
    expected = square(a).data

    def executions():
        for step in range(1, 11):
            of_a[2].fill(0)
            of_a[2].set(a.data * step)
            plan.execute(on_a, on_a.T, out=c)

    done = counted(adopted, executions)
    assert done["launches"] == done["commands"] >= 10
    assert done["read_backs"] == done["buffers_taken"] == done["buffers_created"] == 0
    np.testing.assert_array_equal(values.get(), 100 * expected)


def take_turns(context, adopted, a, count):
    """pyopencl's queue writes, blockmul multiplies, pyopencl's queue reads."""
    other = cl.CommandQueue(context)
    of_a = arrays(other, a)
    other.finish()
    on_a = lent(a, of_a, adopted)
    plan = blockmul.Plan(on_a, on_a.T)
    c = plan.execute(on_a, on_a.T)
    values = c.to_pyopencl(other)[2]
    found, expected = np.empty(values.shape), square(a).data
    for step in range(1, count + 1):
        written = cl.enqueue_copy(other, of_a[2].data, a.data * step, is_blocking=False)
        other.flush()
        adopted.wait_for([written])
        plan.execute(on_a, on_a.T, out=c)
        cl.enqueue_copy(other, found, values.data, wait_for=[adopted.marker().to_pyopencl()])
        np.testing.assert_array_equal(found, expected * step**2)


def test_two_queues_take_turns_by_events(context, adopted):
    for form, seed in (("bsr", 1), ("csr", 2)):
        take_turns(context, adopted, matrix(form, (60, 50), seed=seed), 200)


def test_blockmul_waits_for_events(context, adopted):
    a = matrix("csr")
    other = cl.CommandQueue(context)
    of_a = arrays(other, a)
    other.finish()
    on_a = lent(a, of_a, adopted)
    plan = blockmul.Plan(on_a, on_a.T)
    c = plan.execute(on_a, on_a.T)
    adopted.finish()
    held = cl.UserEvent(context)
    twice = a.data * 2
    written = cl.enqueue_copy(other, of_a[2].data, twice, is_blocking=False, wait_for=[held])
    other.flush()
    adopted.wait_for([written])
    plan.execute(on_a, on_a.T, out=c)
    marker = adopted.marker()
    time.sleep(0.05)
    pending = event_of(marker).command_execution_status
    held.set_status(cl.command_execution_status.COMPLETE)
    marker.wait()
    assert pending != cl.command_execution_status.COMPLETE
    assert event_of(marker).command_execution_status == cl.command_execution_status.COMPLETE
    same(c, 4 * (a @ a.T))
    # A marker is an event that blockmul waits for too, and no event is none to wait for.
    adopted.wait_for([adopted.marker(), written.int_ptr])
    adopted.wait_for([])
    # An event may be dropped before the marker.
    event = event_of(marker)
    del marker
    gc.collect()
    assert event.command_execution_status == cl.command_execution_status.COMPLETE


def test_the_queue_of_an_array_waits_for_its_values(context, adopted):
    a = matrix("bsr")
    on_a = blockmul.DeviceMatrix(a, device=adopted)
    plan = blockmul.Plan(on_a, on_a.T)
    c = plan.execute(on_a, on_a.T)
    adopted.finish()
    other = cl.CommandQueue(context)
    held = cl.UserEvent(context)
    adopted.wait_for([held])
    plan.execute(on_a, on_a.T, out=c)
    values = c.to_pyopencl(other)[2]
    copied = values + 0
    other.flush()
    time.sleep(0.05)
    pending = copied.events[-1].command_execution_status
    held.set_status(cl.command_execution_status.COMPLETE)
    np.testing.assert_array_equal(copied.get(), square(a).data)
    assert pending != cl.command_execution_status.COMPLETE


def test_commands_on_the_adopted_queue_run_in_order(queue, adopted):
    a = matrix("csr", (200, 150))
    of_a = arrays(queue, a)
    on_a = lent(a, of_a, adopted)
    plan = blockmul.Plan(on_a, on_a.T)
    c = plan.execute(on_a, on_a.T)
    values = c.to_pyopencl(queue)[2]
    found, expected = np.empty(values.shape), square(a).data
    for step in range(1, 101):
        numbers = a.data * step
        cl.enqueue_copy(queue, of_a[2].data, numbers, is_blocking=False)
        plan.execute(on_a, on_a.T, out=c)
        cl.enqueue_copy(queue, found, values.data)
        np.testing.assert_array_equal(found, expected * step**2)


def test_queues_without_order(context):
    properties = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    try:
        queue = cl.CommandQueue(context, properties=properties)
    except cl.RuntimeError:
        pytest.skip("the device has no queues without order")
    on = blockmul.Device.from_queue(queue)
    a = matrix("csr")
    on_a = blockmul.DeviceMatrix(a, device=on)
    product = on_a @ on_a.T
    for step in range(2, 12):
        on_a.update(a * step)
        product = on_a @ on_a.T
        same(product, step**2 * (a @ a.T))


def test_objects_may_be_dropped_in_any_order(device):
    a = matrix("bsr")
    expected = square(a).data
    for first in range(5):
        context = cl.Context([cl.Device.from_int_ptr(device.device_ptr)])
        queue = cl.CommandQueue(context)
        on = blockmul.Device.from_queue(queue)
        held = {"arrays": arrays(queue, a), "queue": queue, "context": context, "device": on}
        del context, queue, on
        on_a = lent(a, held["arrays"], held["device"])
        held["product"] = on_a @ on_a.T
        held["values"] = held["product"].to_pyopencl(held["queue"])[2]
        held["again"] = blockmul.DeviceMatrix.from_buffers(
            "bsr", (90, 90), (3, 3), "f8", *held["product"].to_pyopencl(held["queue"]), device=held["device"]
        )
        names = ["arrays", "queue", "context", "device", "product"]
        for name in names[first:] + names[:first]:
            del held[name]
            gc.collect()
            # The arrays live in objects of pyopencl and blockmul.
            np.testing.assert_array_equal(held["values"].get(), expected)
            same(held["again"], a @ a.T)
            same(on_a, a)


def test_values_outlive_their_matrix(queue, adopted):
    a = matrix("csr", (100, 80))
    on_a = blockmul.DeviceMatrix(a, device=adopted)
    held = [(on_a @ on_a.T).to_pyopencl(queue) for _ in range(3)]
    y = (on_a @ blockmul.DeviceVector(np.ones(80), device=adopted)).to_pyopencl(queue)
    for _ in range(20):
        blockmul.DeviceMatrix(a * 7, device=adopted) @ on_a.T
        on_a @ blockmul.DeviceVector(np.zeros(80), device=adopted)
    product = square(a)
    for indptr, indices, data in held:
        np.testing.assert_array_equal(indptr.get(), product.indptr)
        np.testing.assert_array_equal(indices.get(), product.indices)
        np.testing.assert_array_equal(data.get(), product.data)
    np.testing.assert_array_equal(y.get(), a @ np.ones(80))


def test_a_pooled_buffer_is_kept(context, queue, adopted):
    from pyopencl.tools import ImmediateAllocator, MemoryPool

    pool = MemoryPool(ImmediateAllocator(queue))
    numbers = np.arange(50.0)
    x = blockmul.DeviceVector.from_buffer(cla.to_device(queue, numbers, allocator=pool), device=adopted)
    gc.collect()
    # The pool would give the memory to these arrays.
    others = [cla.to_device(queue, numbers * 0, allocator=pool) for _ in range(4)]
    np.testing.assert_array_equal(x.to_numpy(), numbers)
    assert len(others) == 4


def test_a_thousand_executions_keep_the_memory(device):
    script = """
import blockmul, numpy as np, pyopencl as cl, pyopencl.array as cla, scipy.sparse as sp
from blockmul import _blockmul
rng = np.random.default_rng(1)
a = sp.csr_array(rng.standard_normal((200, 200)) * (rng.random((200, 200)) < 0.05))
queue = cl.CommandQueue(cl.Context([cl.Device.from_int_ptr(blockmul.devices()[{index}].device_ptr)]))
other = cl.CommandQueue(queue.context)
device = blockmul.Device.from_queue(queue)
of_a = [cla.to_device(other, each) for each in (a.indptr, a.indices, a.data)]
other.finish()
on_a = blockmul.DeviceMatrix.from_buffers("csr", a.shape, None, a.dtype, *of_a, device=device)
plan = blockmul.Plan(on_a, on_a)
c = plan.execute(on_a, on_a)
values = c.to_pyopencl(other)[2]
found = np.empty(values.shape)
def executions():
    for _ in range(1000):
        written = cl.enqueue_copy(other, of_a[2].data, a.data, is_blocking=False)
        device.wait_for([written])
        plan.execute(on_a, on_a, out=c)
        cl.enqueue_copy(other, found, values.data, wait_for=[device.marker().to_pyopencl()])
"""
    keeps_its_memory(script, device)


def test_what_does_not_fit_is_refused(device, queue, adopted):
    a = matrix("bsr")
    indptr, indices, data = of_a = arrays(queue, a)
    bad = blockmul.BadInput

    def made(*buffers, shape=a.shape, block=(3, 2), dtype="f8", form="bsr", on=adopted, **rest):
        return blockmul.DeviceMatrix.from_buffers(form, shape, block, dtype, *buffers, device=on, **rest)

    longer = cla.to_device(queue, np.concatenate([[0], a.indptr]).astype(np.int32))
    raises(bad, "indptr: begins 4 bytes after its buffer", lambda: made(longer[1:], indices, data))
    raises(bad, "indices: is not contiguous", lambda: made(indptr, indices[::2], data))
    raises(TypeError, "indices: int64 is not uint32 or int32", lambda: made(indptr, indices.astype(np.int64), data))
    raises(TypeError, "data: float64 is not float32", lambda: made(*of_a, dtype="f4"))
    raises(TypeError, "dtype: int32", lambda: made(*of_a, dtype="i4"))
    raises(bad, "indptr: has 31 numbers, 61 expected", lambda: made(*of_a, shape=(180, 48)))
    raises(bad, "data: has", lambda: made(*of_a, nnz=indices.size + 1))
    raises(bad, "is not divisible into blocks of 4x2", lambda: made(*of_a, block=(4, 2)))
    raises(bad, "blocksize: (3, 2) is for bsr", lambda: made(*of_a, form="csr"))
    raises(bad, "format: 'coo'", lambda: made(*of_a, form="coo"))
    addresses = [each.data.int_ptr for each in of_a]
    raises(bad, "blocksize: ", lambda: made(*addresses, block=(45, 48), shape=(90, 48), nnz=1))
    raises(bad, "nnz: -1", lambda: made(*of_a, nnz=-1))
    raises(bad, "indptr, indices, data", lambda: made(*of_a, shape=(90, 4)))
    falling = cla.to_device(queue, a.indptr[::-1].astype(np.int32))
    raises(bad, "indptr[0] is", lambda: made(falling, indices, data))
    raises(bad, "another OpenCL context", lambda: made(*of_a, on=device))
    raises(TypeError, "device: 0 is not a blockmul.Device", lambda: made(*of_a, on=0))
    raises(TypeError, "data: is an array of NumPy", lambda: made(indptr, indices, a.data))
    raises(bad, "nnz: the number of entries is needed", lambda: made(*addresses))
    raises(TypeError, "indptr: float has no int_ptr", lambda: made(1.5, indices, data))
    raises(TypeError, "indptr: bool has no int_ptr", lambda: made(True, indices, data))
    raises(bad, "indptr: the handle is null", lambda: made(0, indices, data))
    on_a = made(*of_a)
    raises(bad, "is on <blockmul.Device of a queue", lambda: blockmul.DeviceMatrix(a.T.tobsr(), device=device) @ on_a)
    raises(bad, "the arrays of its transpose", lambda: on_a.T.to_pyopencl(queue))
    other = cl.CommandQueue.from_int_ptr(device.queue_ptr)
    raises(bad, "queue: belongs to another context", lambda: on_a.to_pyopencl(other))
    raises(bad, "dtype: is needed", lambda: blockmul.DeviceVector.from_buffer(data.data, device=adopted))
    raises(bad, "size: is needed", lambda: blockmul.DeviceVector.from_buffer(7, dtype="f8", device=adopted))
    raises(bad, "size: 7", lambda: blockmul.DeviceVector.from_buffer(indptr.data, dtype="f8", size=70, device=adopted))
    raises(TypeError, "queue: NoneType", lambda: blockmul.Device.from_queue(None))
    raises(bad, "queue: the handle is null", lambda: blockmul.Device.from_queue(0))
    raises(TypeError, "events: str", lambda: adopted.wait_for("e"))
    raises(TypeError, "use [event]", lambda: adopted.wait_for(5))
    same(on_a, a)


def test_without_pyopencl_the_message_says_what_to_install(device):
    script = """
import sys, blockmul
sys.modules["pyopencl"] = None
try:
    blockmul.DeviceVector([1.0], device={index}).to_pyopencl(None)
except ImportError as error:
    print(error)
print("pyopencl" in sys.modules and sys.modules["pyopencl"] is not None)
"""
    ran = python("-c", script.format(index=device.index))
    assert ran.stdout == "to_pyopencl() needs the package pyopencl: pip install pyopencl\nFalse\n", ran
    assert python("-c", "import sys, blockmul; print('pyopencl' in sys.modules)").stdout == "False\n"


def test_a_process_ends_after_its_commands(device):
    """A process that ends while commands run may crash in its driver."""
    script = """
import atexit
def check():
    import pyopencl as cl
    print(all(cl.Event.from_int_ptr(each.int_ptr).command_execution_status == 0 for each in markers))
atexit.register(check)
import blockmul, numpy as np, pyopencl as cl, scipy.sparse as sp
rng = np.random.default_rng(1)
a = sp.csr_array(rng.random((400, 400)) * (rng.random((400, 400)) < 0.1))
markers = []
of_list = blockmul.devices()[{index}]
queue = cl.CommandQueue(cl.Context([cl.Device.from_int_ptr(of_list.device_ptr)]))
for device in (of_list, blockmul.Device.from_queue(queue)):
    on_a = blockmul.DeviceMatrix(a, device=device)
    plan = blockmul.Plan(on_a, on_a)
    c = plan.execute(on_a, on_a)
    for _ in range(50):
        plan.execute(on_a, on_a, out=c)
    markers.append(device.marker())
print("ended")
"""
    ran = python("-c", script.format(index=device.index))
    assert (ran.returncode, ran.stdout) == (0, "ended\nTrue\n"), ran


def test_threads_enqueue_on_one_device(context, adopted):
    failures = []

    def work():
        try:
            take_turns(context, adopted, matrix("csr"), 30)
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert failures == [] and not any(worker.is_alive() for worker in workers)


def test_events_live_until_the_device_waits(queue, adopted):
    device = adopted
    device.wait_for(cl.enqueue_marker(queue) for _ in range(20))
    events = [device.marker().to_pyopencl() for _ in range(20)]
    device.finish()
    assert all(event.command_execution_status == cl.command_execution_status.COMPLETE for event in events)


def test_other_objects_of_pyopencl_are_refused(queue, adopted):
    device = adopted
    for wrong in (queue.context, queue.device):
        with pytest.raises(TypeError, match="queue: .* is not a pyopencl.CommandQueue"):
            blockmul.Device.from_queue(wrong)
    with pytest.raises(TypeError, match="events: CommandQueue is not a pyopencl.Event"):
        device.wait_for([queue])
    with pytest.raises(TypeError, match=r"use \[event\]"):
        device.wait_for(cl.enqueue_marker(queue))
    with pytest.raises(TypeError, match="is not a pyopencl.MemoryObjectHolder"):
        blockmul.DeviceVector.from_buffer(queue, device=device, dtype=np.float64, size=3)


def test_a_result_over_the_buffer_of_a_factor_is_refused(queue, adopted):
    device = adopted
    a = sp.csr_array(np.ones((5, 5)))
    arrays = [cl.array.to_device(queue, array) for array in (a.indptr, a.indices, a.data)]
    one, same = (
        blockmul.DeviceMatrix.from_buffers("csr", a.shape, None, a.dtype, *arrays, device=device) for _ in range(2)
    )
    plan = blockmul.Plan(one, one)
    with pytest.raises(blockmul.BadInput, match="out: has the buffer of one of the factors"):
        plan.execute(one, one, out=same)
