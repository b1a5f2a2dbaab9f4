"""Solves a bundle adjustment as SciPy's users do, and prints the cost over time: scipy.optimize.least_squares by trust regions, the Jacobian
by differences of the residuals along groups of columns that its sparsity allows, as in SciPy's cookbook.

    pip install numpy scipy
    python benches/peers/least_squares.py FILE [--cost TARGET] [--evaluations N] [--every N] [--json OUT.json]

FILE is a problem of Bundle Adjustment in the Large (Agarwal, Snavely, Seitz, Szeliski 2010), plain,
gzip or bzip2. The cost is half the sum of the squared residuals. Seconds count from the call of
least_squares. An evaluation computes all residuals at a new point; like SciPy, the script does not
count evaluations for differences.
"""

import argparse
import bz2
import gzip
import json
import os
import pathlib
import platform
import time

import numpy as np
import scipy
from scipy.optimize import least_squares
from scipy.sparse import csr_matrix

from blocks import cpu

CAMERA, POINT = 9, 3


class Done(Exception):
    """Raised when the target is reached, or the time is over."""


class Problem:
    def __init__(self, path):
        unpacked = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
        with unpacked(path, "rt") as file:
            self.cameras, self.points, count = map(int, file.readline().split())
            numbers = np.array(file.read().split(), np.float64)
        parameters = self.cameras * CAMERA + self.points * POINT
        if len(numbers) != count * 4 + parameters:
            raise SystemExit(f"{path}: {len(numbers)} numbers, not {count * 4 + parameters}")
        observations = numbers[: count * 4].reshape(-1, 4)
        self.camera, self.point = observations[:, :2].astype(int).T
        self.seen, self.start = observations[:, 2:], numbers[count * 4 :]

    def residuals(self, x):
        """The reprojections minus the observations. A camera has a rotation (an axis times its
        angle), a translation, a focal length and two numbers of distortion."""
        cut = self.cameras * CAMERA
        camera, point = x[:cut].reshape(-1, CAMERA)[self.camera], x[cut:].reshape(-1, POINT)[self.point]
        angle = np.linalg.norm(camera[:, :3], axis=1, keepdims=True)
        axis = np.divide(camera[:, :3], angle, out=np.zeros_like(point), where=angle > 0)
        along = np.sum(axis * point, axis=1, keepdims=True) * axis
        turned = np.cos(angle) * point + np.sin(angle) * np.cross(axis, point) + (1 - np.cos(angle)) * along + camera[:, 3:6]
        plane = -turned[:, :2] / turned[:, 2:]
        square = np.sum(plane**2, axis=1)
        scale = camera[:, 6] * (1 + square * (camera[:, 7] + square * camera[:, 8]))
        return (plane * scale[:, None] - self.seen).ravel()

    def sparsity(self):
        """The places of the Jacobian that are not always zero."""
        count = len(self.camera)
        of_camera = self.camera[:, None] * CAMERA + range(CAMERA)
        of_point = self.cameras * CAMERA + self.point[:, None] * POINT + range(POINT)
        columns = np.repeat(np.hstack([of_camera, of_point]), 2, axis=0)
        offsets = np.arange(2 * count + 1) * (CAMERA + POINT)
        return csr_matrix((np.ones(columns.size, int), columns.ravel(), offsets), shape=(2 * count, len(self.start)))


class Watch:
    """The function that least_squares calls after each iteration: it records the costs and ends the
    run."""

    def __init__(self, args):
        self.args, self.history, self.told = args, [], 0
        self.began = time.perf_counter()

    def look(self, evaluations, cost):
        point = {"seconds": time.perf_counter() - self.began, "cost": float(cost), "evaluations": int(evaluations)}
        self.history.append(point)
        enough = cost <= self.args.cost or evaluations >= self.args.evaluations
        if enough or evaluations >= self.told:
            print(f"{evaluations:6} evaluations {point['seconds']:10.2f} s   cost {cost:.6f}", flush=True)
            self.told = evaluations + self.args.every
        if enough:
            raise Done

    def __call__(self, intermediate_result):
        self.look(intermediate_result.nfev, intermediate_result.cost)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--cost", type=float, default=-1.0, metavar="TARGET", help="stop at this cost")
    parser.add_argument("--evaluations", type=int, default=150, metavar="N", help="stop after so many (150)")
    parser.add_argument("--every", type=int, default=10, metavar="N", help="evaluations from one line to the next (10)")
    parser.add_argument("--json", type=pathlib.Path, help="where the seconds and costs go")
    args = parser.parse_args()

    problem, ended = Problem(args.file), "ftol"
    first = problem.residuals(problem.start)
    sparsity = problem.sparsity()
    watch = Watch(args)
    try:
        watch.look(0, first @ first / 2)
        options = {"method": "trf", "jac": "2-point", "x_scale": "jac", "ftol": 1e-12, "xtol": 1e-15, "gtol": 1e-15}
        least_squares(problem.residuals, problem.start, jac_sparsity=sparsity, max_nfev=args.evaluations, callback=watch, **options)
    except Done:
        ended = "cost" if watch.history[-1]["cost"] <= args.cost else "evaluations"
    last = watch.history[-1]
    print(f"ended by {ended}: cost {last['cost']:.6f} after {last['evaluations']} evaluations, {last['seconds']:.2f} s")
    if args.json:
        host = {"machine": platform.node(), "cpu": cpu(), "threads": os.cpu_count(), "system": platform.platform()}
        record = {"library": "scipy", "version": scipy.__version__, "problem": args.file.name.partition(".")[0], "ended": ended}
        args.json.write_text(json.dumps({"host": host} | record | {"history": watch.history}, indent=1))


if __name__ == "__main__":
    main()
