"""Products of sparse and block-sparse matrices on all cores or any OpenCL device."""

from ._blockmul import Device, Error, __version__, devices
from ._errors import BadInput, DeviceFailed, NoDevice, OutOfMemory
from ._products import Plan, gram, masked, multiply, report

__all__ = [
    "BadInput",
    "Device",
    "DeviceFailed",
    "Error",
    "NoDevice",
    "OutOfMemory",
    "Plan",
    "devices",
    "gram",
    "masked",
    "multiply",
    "report",
]
