"""The exceptions. All are `Error`; each also is the built-in exception that fits it."""

from ._blockmul import Error


class BadInput(Error, ValueError):
    """An argument that does not fit: sizes, indices, blocks, dtypes, a plan's pattern."""


class OutOfMemory(Error, MemoryError):
    """Something does not fit the memory of the host or of the device, or the range of an index."""


class NoDevice(Error, RuntimeError):
    """There is no OpenCL, or no such device. The message says what to install, or lists the devices."""


class DeviceFailed(Error, RuntimeError):
    """The device or its driver failed, or the device lacks a feature."""
