"""What all calls share: the report of the last one, and the arguments `device` and `threads`."""

from __future__ import annotations

import operator
import os
import threading
from typing import TYPE_CHECKING, Any, TypeAlias

from ._blockmul import Device
from ._errors import BadInput, NoDevice

if TYPE_CHECKING:
    from ._types import Report

Where: TypeAlias = Device | str | int | None

_last = threading.local()


def report() -> Report | None:
    """What the last call of this thread ran on and by which method.

    Returns a dict with `device` ("host" or the device's name), `method`, `products` (of entries)
    and `milliseconds` (without conversions; without transfers for products of sparse matrices), or None
    before the first call.
    """
    return getattr(_last, "ran", None)


def keep(ran: Report) -> None:
    _last.ran = ran


def where(device: Any, threads: Any) -> tuple[Device | str | None, int | None]:
    """The device, an index as its name, and a number of threads of at most the number of cores."""
    if threads is not None:
        if isinstance(threads, bool) or not hasattr(threads, "__index__"):
            raise TypeError(f"threads: {threads!r} is not a number of threads or None")
        threads = operator.index(threads)
        if threads < 1:
            raise BadInput(f"threads: {threads} is less than 1")
        threads = min(threads, os.cpu_count() or 1)
    if device is None or isinstance(device, Device):
        return device, threads
    if isinstance(device, str):
        if not device:
            raise NoDevice("device: the name is empty: use None, 'host' or a part of a name of blockmul.devices()")
        return device, threads
    if isinstance(device, bool) or not hasattr(device, "__index__"):
        raise TypeError(f"device: {device!r} is not None, a name, an index of blockmul.devices() or a blockmul.Device")
    index = operator.index(device)
    if index < 0:
        raise NoDevice(f"device: {index} is not an index of blockmul.devices()")
    return str(index), threads
