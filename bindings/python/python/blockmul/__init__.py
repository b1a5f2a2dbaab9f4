"""Products of sparse and block-sparse matrices on all cores or any OpenCL device."""

from ._blockmul import Device, __version__, devices
from ._errors import BadInput, DeviceFailed, Error, FileFailed, NoDevice, NoFile, OutOfMemory
from ._products import Plan, apply, gram, masked, multiply, report
from ._schur import Reduced, schur

__all__ = [
    "BadInput",
    "Device",
    "DeviceFailed",
    "Error",
    "FileFailed",
    "NoDevice",
    "NoFile",
    "OutOfMemory",
    "Plan",
    "Reduced",
    "apply",
    "devices",
    "gram",
    "masked",
    "multiply",
    "report",
    "schur",
]
