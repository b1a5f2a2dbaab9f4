"""What came of a whole problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

Status: TypeAlias = Literal["converged", "iterations", "no-step", "interrupted", "failed"]


class Iteration(NamedTuple):
    """A step that was tried."""

    iteration: int
    """Number of the iteration, from 1."""
    cost: float
    """Cost before the step."""
    cost_after: float
    """Cost after the step, or `cost` if the step was not taken."""
    gradient: float
    """The largest element of the gradient before the step."""
    step: float
    """Length of the step."""
    damping: float
    """Damping λ of the step."""
    taken: bool
    """Whether the step was taken."""
    residuals_ms: float
    """Milliseconds of residuals and Jacobians on the host."""
    products_ms: float
    """Milliseconds of products on the device, including copies to the host."""
    linear_ms: float
    """Milliseconds of factoring and solving, or of conjugate gradients."""
    conjugate_steps: int | None
    """Steps of conjugate gradients, if they were used."""


class Times(NamedTuple):
    """Milliseconds of an iteration."""

    total_ms: float
    """From the first plan to the last step, without `kernels_ms` and `start_ms`."""
    plan_ms: float
    """Work that depends on the patterns only."""
    residuals_ms: float
    """Residuals and Jacobians on the host."""
    products_ms: float
    """Products on the device, including copies to the host."""
    linear_ms: float
    """Linear systems."""
    kernels_ms: float
    """Waiting for kernels to be compiled or loaded."""
    start_ms: float
    """Computing a graph's start."""


class Dominant(NamedTuple):
    """A measurement that makes up more than half of the cost."""

    measurement: str
    share: float


@dataclass(frozen=True, repr=False)
class Summary:
    """How an iteration went. `print(summary)` shows what the command `blockmul solve` prints."""

    status: Status
    """Why it ended.

    "converged": at a stationary point. "iterations": at the limit of iterations. "no-step": no step
    lowers the cost. "interrupted": the callback ended it. With these the arrays are the solution so
    far. "failed": no step can be made, so there is no solution; the arrays are those of the start, and
    `cost` is `initial_cost`.
    """
    message: str
    """The end in a sentence, with advice."""
    initial_cost: float
    """Half the sum of squared residuals, or of their loss, at the start."""
    cost: float
    """The same at the end. For a graph χ² is twice this."""
    iterations: list[Iteration] = field(repr=False)
    """The steps tried, in order."""
    times: Times
    """Milliseconds."""
    device: str
    """The name of the device."""
    system: Literal["hessian", "schur-complement"]
    """The matrix of the linear systems."""
    start: Literal["file", "chordal"]
    """The start: as given, or a chordal relaxation."""
    origin: tuple[float, float, float] | None
    """The local origin about which a scene far from its own was solved."""
    held: list[str]
    """What was held, by the caller or because nothing else fixes it, as "poses 0 and 4"."""
    left_out: list[str]
    """What has no observations or measurements, and stays where it is."""
    dominant: Dominant | None
    """A measurement that makes up more than half of the cost."""
    without_influence: str
    """Numbers on which no residual depends, which stay as they are; empty if there are none."""
    notes: list[str]
    """What was decided about the problem, such as its start."""
    text: str = field(repr=False)
    """What `print` shows."""

    @property
    def converged(self) -> bool:
        """Whether the status is "converged"."""
        return self.status == "converged"

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<blockmul.Summary {self.status}: cost {self.cost:.6g} from {self.initial_cost:.6g}>"
