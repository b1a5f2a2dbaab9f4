"""Solves a bundle adjustment from a file of BAL and draws it.

    python bundle.py FILE [PICTURE]

Prints what the solver did. The picture (bundle.png by default) shows the pattern of S, the Schur complement
of the points, on the left: S has a block where two cameras see a point together. On the right is the cost
after each iteration.
"""

import sys

import blockmul
import matplotlib
import numpy as np
import scipy.sparse as sp

matplotlib.use("agg")
from matplotlib import pyplot as plt


def views(problem):
    """The pattern of W as BSR: a block of 9x3 for each camera and each point that it sees."""
    shape = (len(problem.cameras), len(problem.points))
    ones = np.ones(len(problem.camera_index))
    seen = sp.csr_array((ones, (problem.camera_index, problem.point_index)), shape=shape)
    blocks = np.ones((seen.nnz, 9, 3), np.float32)
    return sp.bsr_array((blocks, seen.indices, seen.indptr), shape=(9 * shape[0], 3 * shape[1]))


def main(file, picture="bundle.png"):
    problem = blockmul.read_bal(file)
    w = views(problem)
    s = blockmul.multiply(w, w.T)
    cameras = len(problem.cameras)
    pattern = sp.csr_array((np.ones(len(s.indices)), s.indices, s.indptr), shape=(cameras, cameras))

    summary = blockmul.bundle_adjust(*problem).summary
    print(summary)
    costs = [summary.initial_cost, *(iteration.cost_after for iteration in summary.iterations)]

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    left.imshow(pattern.astype(bool).toarray(), cmap="Blues", interpolation="nearest")
    left.set_title(f"S of {cameras} cameras: {100 * pattern.nnz / cameras**2:.0f} % of the blocks")
    right.semilogy(costs, color="#e69f00", marker=".")
    right.set_title(f"{len(problem.points)} points, {len(problem.observations)} observations: {summary.status}")
    right.set_xlabel("iteration")
    right.set_ylabel("half the sum of squared pixels")
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
