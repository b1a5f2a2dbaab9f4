"""Buffers of pyopencl as matrices and vectors, and results as arrays of pyopencl."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _blockmul
from ._blockmul import Device
from ._errors import BadInput
from ._sparse import check_real

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


def _check_device(device: object) -> None:
    if not isinstance(device, Device):
        raise TypeError(f"device: {device!r} is not a blockmul.Device, such as Device.from_queue(queue)")


def adopted_matrix(
    format: str,
    shape: tuple[int, int],
    blocksize: tuple[int, int] | None,
    dtype: DTypeLike,
    buffers: tuple[Any, Any, Any],
    device: Device,
    nnz: int | None,
) -> _blockmul.Matrix:
    """A matrix over the buffers `indptr`, `indices` and `data`, whose sizes are checked."""
    _check_device(device)
    indptr, indices, data = buffers
    if format not in ("csr", "csc", "bsr"):
        raise BadInput(f"format: {format!r} is not 'csr', 'csc' or 'bsr'")
    rows, columns = (operator.index(side) for side in shape)
    block = (1, 1) if blocksize is None else (operator.index(blocksize[0]), operator.index(blocksize[1]))
    if format != "bsr" and block != (1, 1):
        raise BadInput(f"blocksize: {block} is for bsr, not for {format}")
    if rows < 0 or columns < 0 or min(block) < 1 or rows % block[0] or columns % block[1]:
        raise BadInput(f"shape: {rows}x{columns} is not divisible into blocks of {block[0]}x{block[1]}")
    dtype = np.dtype(dtype)
    check_real("dtype", dtype)
    index = (np.dtype(np.uint32), np.dtype(np.int32))
    of_indptr, lines = _memory("indptr", indptr, index)
    of_indices, entries = _memory("indices", indices, index)
    of_data, numbers = _memory("data", data, (dtype,))
    if nnz is not None:
        entries = operator.index(nnz)
    if entries is None:
        raise BadInput("nnz: the number of entries is needed if indices are an address")
    if entries < 0:
        raise BadInput(f"nnz: {entries} is less than 0")
    expected = (columns if format == "csc" else rows // block[0]) + 1
    for name, found, needed in (
        ("indptr", lines, expected),
        ("data", numbers, entries * block[0] * block[1]),
    ):
        if found is not None and found < needed:
            raise BadInput(f"{name}: has {found} numbers, {needed} expected")
    return _blockmul.adopt_matrix(
        format,
        (rows, columns),
        block,
        str(dtype),
        entries,
        (of_indptr, of_indices, of_data),
        device,
        list(buffers),
    )


def adopted_vector(buffer: Any, device: Device, dtype: DTypeLike | None, size: int | None) -> _blockmul.Vector:
    """A vector over a buffer, whose size is checked."""
    _check_device(device)
    if dtype is None:
        dtype = getattr(buffer, "dtype", None)
    if dtype is None:
        raise BadInput("dtype: is needed for a buffer without one")
    dtype = np.dtype(dtype)
    check_real("dtype", dtype)
    memory, found = _memory("buffer", buffer, (dtype,))
    count = found if size is None else operator.index(size)
    if count is None:
        raise BadInput("size: is needed for an address")
    if count < 0 or (found is not None and found < count):
        raise BadInput(f"size: {count} is not from 0 to {found}")
    return _blockmul.adopt_vector(str(dtype), count, memory, device, [buffer])


def _memory(name: str, given: Any, dtypes: tuple[np.dtype[Any], ...]) -> tuple[Any, int | None]:
    """The object with a handle, or None if it is empty, and the number of numbers if it is known."""
    if isinstance(given, np.ndarray):
        raise TypeError(f"{name}: is an array of NumPy, not a buffer or an array of pyopencl")
    if hasattr(given, "base_data"):  # an array of pyopencl
        if given.dtype not in dtypes:
            raise TypeError(f"{name}: {given.dtype} is not {' or '.join(map(str, dtypes))}")
        if given.offset:
            raise BadInput(f"{name}: begins {given.offset} bytes after its buffer: use {name}.copy()")
        if not given.flags.c_contiguous:
            raise BadInput(f"{name}: is not contiguous: use {name}.copy()")
        return (given.base_data if given.size else None), given.size
    size = getattr(given, "size", None)
    return given, None if size is None else size // dtypes[0].itemsize


def arrays(queue: Any, device: Device) -> Any:
    """Makes arrays of pyopencl on `queue`, over memory of the device's context.

    The commands of `queue` wait for those that the device has accepted so far.
    """
    try:
        import pyopencl
        import pyopencl.array
    except ImportError as error:
        raise ImportError("to_pyopencl() needs the package pyopencl: pip install pyopencl") from error
    if queue.context.int_ptr != device.context_ptr:
        raise BadInput(
            "queue: belongs to another context: make the device by Device.from_queue(queue), "
            "or the queue in pyopencl.Context.from_int_ptr(device.context_ptr)"
        )
    pyopencl.enqueue_barrier(queue, wait_for=[device.marker().to_pyopencl()])

    def array(shape: tuple[int, ...], dtype: np.dtype[Any], pointer: int) -> Any:
        if 0 in shape:
            return pyopencl.array.empty(queue, shape, dtype)
        memory = pyopencl.MemoryObject.from_int_ptr(pointer, retain=True)
        return pyopencl.array.Array(queue, shape, dtype, data=memory)

    return array
