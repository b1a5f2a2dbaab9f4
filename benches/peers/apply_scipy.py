"""Times SciPy's product of a sparse matrix and a vector, `A @ x`: block matrices as BSR, and their
scalar expansion as CSR, in f64 and f32, on one thread. The time is the mean of CALLS products, each
of which allocates y.

    pip install numpy scipy
    python benches/peers/apply_scipy.py FILE.bsr ... [--json OUT.json] [--rounds N] [--patience SECONDS]
"""

import numpy as np
import scipy

from blocks import ROUNDING, Blocks, Records, arguments, cpu, timed
from scipy_bsr import bsr, csr

ELEMENTS = {"f64": np.float64, "f32": np.float32}
# As many as `blockmul bench --operation apply` enqueues together.
CALLS = 20


class Applied:
    """What y = A·x must be, for an x of integers from -31 to 31. `b` describes x."""

    def __init__(self, a):
        columns = a.ncols * a.shape[1]
        self.a, self.b = a, Blocks("x", 1, np.arange(columns + 1, dtype=np.int32), np.zeros(columns, np.int32), np.zeros((columns, 1, 1)))
        self.products, self.c_nnz = len(a.columns), a.nrows * a.shape[0]
        self.flops = 2 * a.values.size
        index = np.arange(columns, dtype=np.uint64)
        self.x = ((index * 2654435761 + 12345 >> 7) % 63).astype(np.float64) - 31
        self._y, self._magnitude = a.times(self.x), a.magnitudes().times(abs(self.x))
        self._terms = np.repeat(np.diff(a.offsets) * a.shape[1], a.shape[0]) + 1  # the values are rounded too

    def fault(self, y, element):
        """Returns the fault of y, or None. Sums of integers that f32 holds exactly must be
        exact."""
        exact = np.array_equal(self.a.values, np.rint(self.a.values)) & (self._magnitude <= 2.0**24)
        bound = np.where(exact, 0, 2 * self._terms * ROUNDING[element] * self._magnitude)
        wrong = np.flatnonzero(~(abs(y - self._y) <= bound))
        if len(wrong):
            return f"sum {wrong[0]} is {float(y[wrong[0]])}, not {float(self._y[wrong[0]])} (of {len(wrong)} such sums)"
        return None


def main():
    args = arguments(__doc__.partition(":")[0]).parse_args()
    records = Records(args.json, "scipy", scipy.__version__, cpu(), 1)
    for path in args.files:
        a = Blocks.read(path)
        truth = Applied(a)
        formats = {"apply csr": csr} if a.shape == (1, 1) else {"apply bsr": bsr, "apply csr": csr}
        for variant, convert in formats.items():
            for element, kind in ELEMENTS.items():
                matrix, x = convert(a).astype(kind), truth.x.astype(kind)
                fault = truth.fault(matrix @ x, element)

                def multiply():
                    for _ in range(CALLS):
                        matrix @ x

                runs = [] if fault else [ms / CALLS for ms in timed(multiply, args)]
                records.add(truth, variant, element, runs, fault)


if __name__ == "__main__":
    main()
