"""Products of sparse and block-sparse matrices on all cores or any OpenCL device."""

from ._blockmul import Device, Error, Marker, __version__, devices
from ._calls import report
from ._device import DeviceMatrix, DeviceVector
from ._errors import BadInput, DeviceFailed, NoDevice, OutOfMemory
from ._products import Plan, gram, masked, multiply

__all__ = [
    "BadInput",
    "Device",
    "DeviceFailed",
    "DeviceMatrix",
    "DeviceVector",
    "Error",
    "Marker",
    "NoDevice",
    "OutOfMemory",
    "Plan",
    "devices",
    "gram",
    "masked",
    "multiply",
    "report",
]
