"""Products of sparse and block-sparse matrices on all cores or any OpenCL device."""

from ._blockmul import Device, Marker, __version__, devices
from ._calls import report
from ._device import DeviceMatrix, DeviceVector
from ._errors import BadInput, DeviceFailed, Error, FileFailed, NoDevice, NoFile, OutOfMemory
from ._products import Plan, apply, gram, masked, multiply
from ._schur import Reduced, schur

__all__ = [
    "BadInput",
    "Device",
    "DeviceFailed",
    "DeviceMatrix",
    "DeviceVector",
    "Error",
    "FileFailed",
    "Marker",
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
