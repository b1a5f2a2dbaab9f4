"""Matrices and vectors that stay on a device."""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

import numpy as np
import scipy.sparse as sp

from . import _blockmul
from ._blockmul import Device
from ._calls import Where, keep, where
from ._errors import BadInput
from ._pyopencl import adopted_matrix, adopted_vector, arrays
from ._sparse import built, check_real, common_dtype, compressed, flat, sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray

# Some drivers crash if the process ends while commands run.
atexit.register(_blockmul.finish)


def any_is_resident(*operands: object) -> bool:
    return any(isinstance(each, DeviceMatrix | DeviceVector) for each in operands)


def _check_matrix(name: str, operand: object, device: Device) -> DeviceMatrix:
    """Refuses what is not a matrix on this device."""
    if not isinstance(operand, DeviceMatrix):
        found = type(operand).__name__
        if sp.issparse(operand):
            raise TypeError(f"{name}: {found} is not on a device: use blockmul.DeviceMatrix({name}, device=...)")
        raise TypeError(f"{name}: {found} is not a blockmul.DeviceMatrix")
    if operand.device != device:
        raise BadInput(
            f"{name}: is on {operand.device!r}, and another operand on {device!r}: "
            f"use blockmul.DeviceMatrix({name}.to_scipy(), device=...)"
        )
    return operand


def _check_on_one_device(device: object, threads: object) -> None:
    if device is not None:
        raise BadInput("device: operands on a device are multiplied there: leave it out")
    if threads is not None:
        raise BadInput("threads: is for products on the host: leave it out")


def _check_factors(a: DeviceMatrix, b: DeviceMatrix) -> None:
    if a.dtype != b.dtype:
        single = "a" if a.dtype == np.float32 else "b"
        raise BadInput(
            f"a is {a.dtype}, b is {b.dtype}: use "
            f"blockmul.DeviceMatrix({single}.to_scipy().astype(numpy.float64), device={single}.device)"
        )
    if a.shape[1] != b.shape[0]:
        raise BadInput(f"cannot multiply: a is {a.shape[0]}x{a.shape[1]}, b is {b.shape[0]}x{b.shape[1]}")
    if a.blocksize[1] != b.blocksize[0]:
        of_a, of_b = ("{}x{}".format(*each.blocksize) for each in (a, b))
        raise BadInput(
            f"b: has blocks of {of_b}, and a of {of_a}: use "
            f"blockmul.DeviceMatrix(b.to_scipy().tobsr(blocksize=({a.blocksize[1]}, ...)), device=b.device)"
        )


class DeviceMatrix:
    """A sparse matrix on a device: a copy of a matrix of SciPy, or a result.

    `a` is a matrix of SciPy in CSR, CSC, BSR or COO, which becomes CSR. `device` is None (the first
    GPU, else a CPU), or what `multiply` takes except "host".

    Matrices on one device are multiplied by `@`, and so are a matrix and a `DeviceVector`. Results
    stay on the device.
    """

    __slots__ = ("__weakref__", "_matrix")
    __array_ufunc__ = None
    __array_priority__ = 1000.0
    _matrix: _blockmul.Matrix

    def __init__(self, a: sp.sparray | sp.spmatrix, device: Where = None) -> None:
        if isinstance(a, DeviceMatrix):
            raise TypeError("a: is a blockmul.DeviceMatrix already: use a, or a.to_scipy()")
        device, _ = where(device, None)
        given = sparse("a", a)
        self._matrix = _blockmul.Matrix.upload(compressed(given, common_dtype(given)), device)

    @classmethod
    def _of(cls, matrix: _blockmul.Matrix) -> DeviceMatrix:
        made = cls.__new__(cls)
        made._matrix = matrix
        return made

    @classmethod
    def from_buffers(
        cls,
        format: Literal["csr", "csc", "bsr"],
        shape: tuple[int, int],
        blocksize: tuple[int, int] | None,
        dtype: DTypeLike,
        indptr: Any,
        indices: Any,
        data: Any,
        *,
        device: Device,
        nnz: int | None = None,
    ) -> DeviceMatrix:
        """A matrix over buffers of pyopencl, which are kept and not copied.

        `indptr`, `indices` (32 bits) and `data` are arrays or buffers of pyopencl, in the context of
        `device`, or addresses of buffers. `nnz` is the number of stored entries (blocks), by default
        the length of `indices`. The indices must not change; the device checks them. The values may.
        """
        return cls._of(adopted_matrix(format, shape, blocksize, dtype, (indptr, indices, data), device, nnz))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, in scalars."""
        return self._matrix.shape

    @property
    def nnz(self) -> int:
        """Number of stored scalars, as in SciPy."""
        return self._matrix.nnz

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self._matrix.dtype)

    @property
    def format(self) -> Literal["csr", "csc", "bsr", "bsc"]:
        """The format. "bsc" is the transpose of a matrix in BSR, over the same arrays."""
        return self._matrix.format

    @property
    def blocksize(self) -> tuple[int, int]:
        """The sides of a block; (1, 1) without blocks."""
        return self._matrix.blocksize

    @property
    def device(self) -> Device:
        return self._matrix.device

    @property
    def T(self) -> DeviceMatrix:
        """The transpose, over the same arrays: nothing is copied."""
        return self._of(self._matrix.transpose())

    @overload
    def to_scipy(self, kind: Literal["array"] = "array") -> sp.csr_array | sp.csc_array | sp.bsr_array: ...
    @overload
    def to_scipy(self, kind: Literal["matrix"]) -> sp.csr_matrix | sp.csc_matrix | sp.bsr_matrix: ...
    def to_scipy(self, kind: str = "array") -> Any:
        """Copies the matrix to the host, as an array or a matrix of SciPy. "bsc" becomes BSR."""
        if kind not in ("array", "matrix"):
            raise BadInput(f"kind: {kind!r} is not 'array' or 'matrix'")
        form, shape, block = self.format, self.shape, self.blocksize
        if form == "bsc":
            form, shape, block = "bsr", shape[::-1], block[::-1]
        like = getattr(sp, f"{form}_{kind}")((0, 0))
        made = built(like, self._matrix.download(), shape, block)
        return made.T if self.format == "bsc" else made

    def update(self, a: sp.sparray | sp.spmatrix) -> None:
        """Replaces the values by those of a matrix with the same pattern, format and dtype."""
        given = sparse("a", a)
        if given.shape != self.shape:
            raise BadInput(f"a: is {given.shape[0]}x{given.shape[1]}, not {self.shape[0]}x{self.shape[1]}")
        self._matrix.update(compressed(given, common_dtype(given)))

    def to_pyopencl(self, queue: Any) -> tuple[Any, Any, Any]:
        """The arrays `indptr`, `indices` and `data` as arrays of pyopencl, which are not copied.

        Commands enqueued on `queue` from now on see the matrix as it is. The indices must not be
        written.
        """
        if self.format == "bsc":
            raise BadInput("a matrix in bsc has the arrays of its transpose: use .T.to_pyopencl(queue)")
        block = self.blocksize
        entries = self.nnz // (block[0] * block[1])
        lines = self.shape[1] if self.format == "csc" else self.shape[0] // block[0]
        blocks = (entries, *block) if self.format == "bsr" else (entries,)
        array = arrays(queue, self.device)
        pointers = _blockmul.matrix_pointers(self._matrix)
        unsigned = np.dtype(np.uint32)
        shapes = [((lines + 1,), unsigned), ((entries,), unsigned), (blocks, self.dtype)]
        indptr, indices, data = (
            array(shape, dtype, pointer) for (shape, dtype), pointer in zip(shapes, pointers, strict=True)
        )
        return indptr, indices, data

    @overload
    def __matmul__(self, other: DeviceMatrix) -> DeviceMatrix: ...
    @overload
    def __matmul__(self, other: DeviceVector) -> DeviceVector: ...
    def __matmul__(self, other: Any) -> Any:
        if not any_is_resident(other):
            _refuse_operand(other)
        return multiply(self, other, None, None, None)

    def __rmatmul__(self, other: Any) -> NoReturn:
        _refuse_operand(other)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        raise TypeError(
            "a blockmul.DeviceMatrix is not copied to the host silently: use .to_scipy(), "
            "or put the other operand on the device by blockmul.DeviceMatrix or DeviceVector"
        )

    def __repr__(self) -> str:
        (rows, columns), block = self.shape, self.blocksize
        of_blocks = f" in blocks of {block[0]}x{block[1]}" if self.format in ("bsr", "bsc") else ""
        return (
            f"<blockmul.DeviceMatrix {rows}x{columns} {self.format}{of_blocks}, {self.dtype}, "
            f"{self.nnz} stored, on {self.device.name}>"
        )


class DeviceVector:
    """A vector on a device: a copy of a NumPy array of one dimension, or a result.

    `device` is as for a `DeviceMatrix`.
    """

    __slots__ = ("__weakref__", "_vector")
    __array_ufunc__ = None
    __array_priority__ = 1000.0
    _vector: _blockmul.Vector

    def __init__(self, x: NDArray[Any] | Sequence[float], device: Where = None) -> None:
        device, _ = where(device, None)
        self._vector = _blockmul.Vector.upload(_numbers(x), device)

    @classmethod
    def _of(cls, vector: _blockmul.Vector) -> DeviceVector:
        made = cls.__new__(cls)
        made._vector = vector
        return made

    @classmethod
    def from_buffer(
        cls, buffer: Any, *, device: Device, dtype: DTypeLike | None = None, size: int | None = None
    ) -> DeviceVector:
        """A vector over an array or a buffer of pyopencl, or a buffer's address; it is not copied.

        `dtype` is needed for a buffer and an address, `size` for an address. The buffer must be in
        the context of `device`.
        """
        return cls._of(adopted_vector(buffer, device, dtype, size))

    @property
    def shape(self) -> tuple[int]:
        return (len(self),)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self._vector.dtype)

    @property
    def device(self) -> Device:
        return self._vector.device

    def __len__(self) -> int:
        return len(self._vector)

    def to_numpy(self) -> NDArray[Any]:
        """Copies the vector to the host."""
        return self._vector.download()

    def update(self, x: NDArray[Any] | Sequence[float]) -> None:
        """Replaces the numbers by as many others of the same dtype."""
        numbers = _numbers(x)
        if numbers.size != len(self):
            raise BadInput(f"x: has {numbers.size} numbers, the vector {len(self)}")
        self._vector.update(numbers)

    def to_pyopencl(self, queue: Any) -> Any:
        """The vector as an array of pyopencl, which is not copied.

        Commands enqueued on `queue` from now on see the vector as it is.
        """
        return arrays(queue, self.device)(self.shape, self.dtype, _blockmul.vector_pointer(self._vector))

    def __matmul__(self, other: DeviceMatrix) -> DeviceVector:
        if not any_is_resident(other):
            _refuse_operand(other)
        made: DeviceVector = multiply(self, other, None, None, None)
        return made

    def __rmatmul__(self, other: Any) -> NoReturn:
        _refuse_operand(other)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        raise TypeError(
            "a blockmul.DeviceVector is not copied to the host silently: use .to_numpy(), "
            "or put the other operand on the device by blockmul.DeviceMatrix"
        )

    def __repr__(self) -> str:
        return f"<blockmul.DeviceVector of {len(self)}, {self.dtype}, on {self.device.name}>"


def _refuse_operand(other: object) -> NoReturn:
    found = type(other).__name__
    if isinstance(other, np.ndarray | list | tuple):
        how = "use blockmul.DeviceVector(x, device=...) for a vector"
    else:
        how = "use blockmul.DeviceMatrix(a, device=...) for a matrix of SciPy"
    raise TypeError(f"{found} is not on a device, and @ copies nothing there: {how}")


def _numbers(x: Any) -> NDArray[Any]:
    if not isinstance(x, np.ndarray | list | tuple):
        raise TypeError(f"x: {type(x).__name__} is not a NumPy array")
    x = np.asarray(x)
    check_real("x", x.dtype)
    if x.ndim != 1:
        raise BadInput(f"x: has {x.ndim} dimensions, not 1")
    return flat(x, x.dtype)


def multiply(a: Any, b: Any, device: object, threads: object, method: str | None) -> Any:
    """a·b of two matrices, or of a matrix and a vector on either side."""
    _check_on_one_device(device, threads)
    if isinstance(a, DeviceVector) or isinstance(b, DeviceVector):
        if method is not None:
            raise BadInput(f"method: {method!r} is for products of two sparse matrices")
        if isinstance(a, DeviceVector) and isinstance(b, DeviceVector):
            raise TypeError("a, b: two blockmul.DeviceVector are not multiplied: one of them is a matrix")
        return _apply(b, a, True, "b", "a") if isinstance(a, DeviceVector) else _apply(a, b, False, "a", "b")
    on = a.device if isinstance(a, DeviceMatrix) else b.device
    a, b = _check_matrix("a", a, on), _check_matrix("b", b, on)
    _check_factors(a, b)
    c, ran = _blockmul.multiply_resident(a._matrix, b._matrix, method)
    keep(ran)
    return DeviceMatrix._of(c)


def _apply(a: Any, x: DeviceVector, from_left: bool, name: str, of_x: str) -> DeviceVector:
    """a·x, or x·a with `from_left`, of arguments with these names."""
    a = _check_matrix(name, a, x.device)
    if a.dtype != x.dtype:
        raise BadInput(f"{of_x}: is {x.dtype}, and {name} {a.dtype}: make one of them again by astype")
    rows, columns = a.shape
    if len(x) != (rows if from_left else columns):
        sides = [f"of {len(x)} numbers", f"{rows}x{columns}"]
        names = [of_x, name]
        (first, of_first), (second, of_second) = sorted(zip(names, sides, strict=True))
        raise BadInput(f"cannot multiply: {first} is {of_first}, {second} is {of_second}")
    y, ran = _blockmul.apply_resident(a._matrix, x._vector, from_left)
    keep(ran)
    return DeviceVector._of(y)


def apply(a: Any, x: Any, device: object, threads: object) -> DeviceVector:
    _check_on_one_device(device, threads)
    if not isinstance(x, DeviceVector):
        raise TypeError(f"x: {type(x).__name__} is not a blockmul.DeviceVector")
    return _apply(a, x, False, "a", "x")


def gram(a: DeviceMatrix, part: str, device: object, threads: object) -> DeviceMatrix:
    _check_on_one_device(device, threads)
    if not isinstance(a, DeviceMatrix):
        raise TypeError(f"a: {type(a).__name__} is not a blockmul.DeviceMatrix")
    c, ran = _blockmul.gram_resident(a._matrix, part)
    keep(ran)
    return DeviceMatrix._of(c)


def masked(a: Any, b: Any, mask: Any, device: object, threads: object) -> DeviceMatrix:
    _check_on_one_device(device, threads)
    on = next(each.device for each in (a, b, mask) if any_is_resident(each))
    a, b, mask = _check_matrix("a", a, on), _check_matrix("b", b, on), _check_matrix("mask", mask, on)
    _check_factors(a, b)
    shape, block = (a.shape[0], b.shape[1]), (a.blocksize[0], b.blocksize[1])
    if mask.shape != shape:
        raise BadInput(f"mask: is {mask.shape[0]}x{mask.shape[1]}, the product {shape[0]}x{shape[1]}")
    if mask.blocksize != block:
        found, expected = ("{}x{}".format(*each) for each in (mask.blocksize, block))
        raise BadInput(f"mask: has blocks of {found}, the product of {expected}: use tobsr(blocksize={block})")
    c, ran = _blockmul.masked_resident(a._matrix, b._matrix, mask._matrix)
    keep(ran)
    return DeviceMatrix._of(c)


class Plan:
    """A plan whose matrices stay on their device."""

    def __init__(self, a: Any, b: Any, device: object, threads: object) -> None:
        _check_on_one_device(device, threads)
        on = a.device if isinstance(a, DeviceMatrix) else b.device
        a, b = _check_matrix("a", a, on), _check_matrix("b", b, on)
        _check_factors(a, b)
        self._device = on
        self._plan = _blockmul.DevicePlan.new(a._matrix, b._matrix)

    def execute(self, a: Any, b: Any, out: Any) -> DeviceMatrix:
        a, b = _check_matrix("a", a, self._device), _check_matrix("b", b, self._device)
        if out is not None:
            out = _check_matrix("out", out, self._device)
        c, ran = self._plan.execute(a._matrix, b._matrix, None if out is None else out._matrix)
        keep(ran)
        return out if out is not None else DeviceMatrix._of(c)
