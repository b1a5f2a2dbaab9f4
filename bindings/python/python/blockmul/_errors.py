"""The exceptions. All are `Error`; each also is the built-in exception that fits it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Number: TypeAlias = int | float | str | list[int]


class Error(Exception):
    """An operation of blockmul that failed.

    `numbers` has the numbers of the message by name, such as `needed` and `available` in bytes.
    """

    numbers: dict[str, Number]

    def __init__(self, message: str = "", numbers: Mapping[str, Number] | None = None) -> None:
        super().__init__(message)
        self.numbers = dict(numbers or {})


class BadInput(Error, ValueError):
    """An argument that does not fit: sizes, indices, blocks, dtypes, a plan's pattern."""


class OutOfMemory(Error, MemoryError):
    """Something does not fit the memory of the host or of the device, or the range of an index."""


class NoDevice(Error, RuntimeError):
    """There is no OpenCL, or no such device. The message says what to install, or lists the devices."""


class DeviceFailed(Error, RuntimeError):
    """The device or its driver failed, or the device lacks a feature."""


class FileFailed(Error, OSError):
    """The operating system refused a file. `numbers` has `path` and `errno`."""


class NoFile(FileFailed, FileNotFoundError):
    """There is no such file."""
