"""Products of compressed matrices, whose arrays are passed as tuples."""

import os
from typing import Any, Literal, TypeAlias, final

from numpy.typing import NDArray

from ._passed import BundleArrays, Each, GraphArrays, Options, Read, Solved
from ._types import Arrays, Compressed, Report

__all__ = [
    "__version__",
    "Device",
    "Plan",
    "Reduced",
    "devices",
    "multiply",
    "gram",
    "masked",
    "schur",
    "multiply_dense",
    "read_bal",
    "read_graph",
    "bundle_adjust",
    "pose_graph",
]

__version__: str

_Where: TypeAlias = Device | int | str | None

@final
class Device:
    @property
    def index(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def platform(self) -> str: ...
    @property
    def kind(self) -> Literal["gpu", "cpu", "other"]: ...
    @property
    def memory(self) -> int: ...
    @property
    def float64(self) -> bool: ...

@final
class Plan:
    @staticmethod
    def new(
        a: Compressed, b: Compressed, narrow: bool, device: _Where = None, threads: int | None = None
    ) -> tuple[Plan, Arrays]: ...
    def execute(self, a: Compressed, b: Compressed) -> tuple[NDArray[Any], Report]: ...

@final
class Reduced:
    def back_substitute(self, x: NDArray[Any]) -> NDArray[Any]: ...

def devices() -> list[Device]: ...
def multiply(
    a: Compressed,
    b: Compressed,
    narrow: bool,
    device: _Where = None,
    method: str | None = None,
    threads: int | None = None,
) -> tuple[Arrays, Report]: ...
def gram(
    a: Compressed, part: str, narrow: bool, device: _Where = None, threads: int | None = None
) -> tuple[Arrays, Report]: ...
def masked(
    a: Compressed,
    b: Compressed,
    mask: Compressed,
    narrow: bool,
    device: _Where = None,
    threads: int | None = None,
) -> tuple[Arrays, Report]: ...
def schur(
    u: Compressed,
    w: Compressed,
    v: Compressed,
    b_u: NDArray[Any],
    b_v: NDArray[Any],
    damping: tuple[str, float],
    whole: bool,
    narrow: bool,
    device: _Where = None,
    threads: int | None = None,
) -> tuple[Arrays, NDArray[Any], Reduced, Report]: ...
def multiply_dense(
    a: Compressed,
    d: NDArray[Any],
    sides: tuple[int, int],
    by_rows: bool,
    from_right: bool,
    device: _Where = None,
    threads: int | None = None,
) -> tuple[NDArray[Any], Report]: ...
def read_bal(path: str | os.PathLike[str]) -> Read: ...
def read_graph(path: str | os.PathLike[str], edges: str | None = None) -> Read: ...
def bundle_adjust(
    arrays: BundleArrays, options: Options, device: _Where = None, each: Each | None = None
) -> Solved: ...
def pose_graph(arrays: GraphArrays, options: Options, device: _Where = None, each: Each | None = None) -> Solved: ...
