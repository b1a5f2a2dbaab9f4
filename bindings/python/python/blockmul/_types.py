"""Types that the package and `_blockmul` exchange."""

from typing import Any, TypeAlias, TypedDict

from numpy.typing import NDArray

# The format, the sides, the sides of a block, and the arrays indptr, indices and data.
Compressed: TypeAlias = tuple[str, tuple[int, int], tuple[int, int], NDArray[Any], NDArray[Any], NDArray[Any]]

# The arrays indptr, indices and data of a result.
Arrays: TypeAlias = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


class Report(TypedDict):
    """What a product ran on."""

    device: str
    method: str
    products: int
    milliseconds: float
