#!/usr/bin/env python3
"""Compares conjugate gradients with SciPy's `cg`: solutions, steps and times.

    benches/peers/cg_scipy.py BLOCKMUL [A.mtx ...] [--device D] [--shrink N] [--rounds 5] [--tolerance 1e-10] [--steps N] [--block R]

Both solve A·x = b for b = A·(1, ..., 1) with the preconditioner of Jacobi; with --block it is block-Jacobi, for which SciPy multiplies with
a BSR matrix of the inverses. SciPy has one thread. Without files A is the five-point stencil of 500², and that of 2000² with 200 steps. It
prints a table, and it ends with status 1 if a residual, computed by NumPy from A as the file has it, is above ten times the tolerance where both
converged, or the steps differ by more than one in ten. Times are medians of rounds that take turns, without reading the file and preparing
A. Needs: pip install numpy scipy.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import inputs
import numpy as np
from scipy.io import mmread
from scipy.sparse import bsr_array, csr_array, diags_array, eye_array, kron, save_npz
from scipy.sparse.linalg import cg


def stencil(side):
    """The five-point stencil of a square."""
    line = diags_array([np.full(side, 2.0), np.full(side - 1, -1.0), np.full(side - 1, -1.0)], offsets=[0, 1, -1])
    return csr_array(kron(eye_array(side), line) + kron(line, eye_array(side)))


def matrices(args):
    """Names, matrices and the most steps."""
    if not args.matrices:
        small, large = (max(2, round(side / args.shrink)) for side in (500, 2000))
        yield f"stencil of {small}²", stencil(small), args.steps
        yield f"stencil of {large}²", stencil(large), args.steps or 200
    for path in args.matrices:
        yield pathlib.Path(path).name, csr_array(mmread(path)), args.steps


def jacobi(a, side):
    if side == 1:
        return diags_array(1 / a.diagonal(), format="csr")
    blocks = np.zeros((a.shape[0] // side, side, side))
    for k in range(side):
        for l in range(side):
            blocks[:, k, l] = a[np.arange(k, a.shape[0], side), np.arange(l, a.shape[0], side)]
    n = len(blocks)
    return bsr_array((np.linalg.inv(blocks), np.arange(n), np.arange(n + 1)), shape=a.shape)


def by_blockmul(args, limit, file, rhs, folder):
    found = folder / "x.npy"
    line = [args.blockmul, "cg", file, rhs, "--device", args.device, "--tolerance", str(args.tolerance), "--block", str(args.block)]
    line += ["--steps", str(limit), "--repeat", "1", "--overwrite", "-o", found, "--report", "-", "-q"]
    ran = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if ran.returncode > 1:
        sys.exit(f"blockmul cg ends with status {ran.returncode}")
    report = json.loads(ran.stdout)
    return np.load(found).ravel(), report["columns"][0]["steps"], report["total_ms"]


def by_scipy(args, limit, a, b, inverse):
    steps = []
    clock = time.perf_counter()
    x, _ = cg(a, b, rtol=args.tolerance, maxiter=limit, M=inverse, callback=lambda _: steps.append(1))
    return x, len(steps), 1e3 * (time.perf_counter() - clock)


def main():
    parser = inputs.comparison("matrices", "A.mtx", "sides of stencils", shrink=float)
    parser.add_argument("--tolerance", type=float, default=1e-10)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--block", type=int, default=1)
    args = parser.parse_intermixed_args()
    wrong = 0
    print("| A | rows | entries | blockmul steps | SciPy steps | residual | SciPy residual | blockmul ms | SciPy ms | times as fast a step |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        file, rhs = folder / "a.npz", folder / "b.npy"
        for name, a, limit in matrices(args):
            b, inverse = a @ np.ones(a.shape[0]), jacobi(a, args.block)
            save_npz(file, a, compressed=False)
            np.save(rhs, b)
            limit = limit or a.shape[0]
            ours, theirs = zip(*((by_blockmul(args, limit, file, rhs, folder), by_scipy(args, limit, a, b, inverse)) for _ in range(args.rounds)))
            residuals = [np.linalg.norm(b - a @ x) / np.linalg.norm(b) for x in (ours[0][0], theirs[0][0])]
            steps = [ours[0][1], theirs[0][1]]
            times = [statistics.median(run[2] for run in runs) for runs in (ours, theirs)]
            converged = max(steps) < limit
            wrong += converged and (residuals[0] > 10 * args.tolerance or abs(steps[0] - steps[1]) > 0.1 * steps[1] + 1)
            cells = [name, a.shape[0], a.nnz, *steps, *(f"{residual:.1e}" for residual in residuals), *(f"{ms:.1f}" for ms in times)]
            print(f"| {' | '.join(map(str, [*cells, f'{times[1] / steps[1] / (times[0] / steps[0]):.2f}']))} |", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
