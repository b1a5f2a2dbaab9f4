"""Products of sparse and block-sparse matrices, and whole least-squares problems, on any OpenCL device."""

from ._blockmul import Device, Marker, __version__, devices
from ._calls import report
from ._device import DeviceMatrix, DeviceVector
from ._errors import BadInput, DeviceFailed, Error, FileFailed, NoDevice, NoFile, OutOfMemory
from ._problems import (
    Bundle,
    BundleSolution,
    Graph,
    GraphSolution,
    PoseSolution,
    bundle_adjust,
    pose_graph,
    read_bal,
    read_g2o,
)
from ._products import Plan, apply, gram, masked, multiply
from ._schur import Reduced, schur
from ._summary import Dominant, Iteration, Summary, Times

__all__ = [
    "BadInput",
    "Bundle",
    "BundleSolution",
    "Device",
    "DeviceFailed",
    "DeviceMatrix",
    "DeviceVector",
    "Dominant",
    "Error",
    "FileFailed",
    "Graph",
    "GraphSolution",
    "Iteration",
    "Marker",
    "NoDevice",
    "NoFile",
    "OutOfMemory",
    "Plan",
    "PoseSolution",
    "Reduced",
    "Summary",
    "Times",
    "apply",
    "bundle_adjust",
    "devices",
    "gram",
    "masked",
    "multiply",
    "pose_graph",
    "read_bal",
    "read_g2o",
    "report",
    "schur",
]
