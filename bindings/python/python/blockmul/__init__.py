"""Products of sparse and block-sparse matrices, and whole least-squares problems, on any OpenCL device."""

from ._blockmul import Device, Error, __version__, devices
from ._errors import BadInput, DeviceFailed, NoDevice, OutOfMemory
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
from ._products import Plan, gram, masked, multiply, report
from ._summary import Dominant, Iteration, Summary, Times

__all__ = [
    "BadInput",
    "Bundle",
    "BundleSolution",
    "Device",
    "DeviceFailed",
    "Dominant",
    "Error",
    "Graph",
    "GraphSolution",
    "Iteration",
    "NoDevice",
    "OutOfMemory",
    "Plan",
    "PoseSolution",
    "Summary",
    "Times",
    "bundle_adjust",
    "devices",
    "gram",
    "masked",
    "multiply",
    "pose_graph",
    "read_bal",
    "read_g2o",
    "report",
]
