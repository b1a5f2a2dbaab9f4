#!/usr/bin/env python3
"""Compares the costs of small bundle adjustments and pose graphs with SciPy's, most of them with unknowns that their measurements do not
determine.

    benches/peers/solve_scipy.py BLOCKMUL [--device D] [--problems 50] [--seed 1] [--keep FOLDER]

`scipy.optimize.least_squares` (trust regions, differences, tolerances of 1e-15) begins where
`blockmul solve --start file` does, and goes on from where blockmul ends. A bundle adjustment has up
to 5 cameras and 16 points; a camera of focal length 0, a rotation of 2π, a point on the axis, and
other cases in this file leave unknowns without influence. A graph has up to 14 poses and 6
landmarks, in the plane and in space; information matrices have zeros, components are apart,
landmarks are fixed.

For each kind the table counts the problems that end *as low* as SciPy's (within 1e-6 of the cost),
*lower*, with a status *that says why* not, in *another* minimum, above SciPy's, which SciPy does
not lower, and the *wrong* ones, which converged at a point from which SciPy still lowers the cost
by 1e-6. The exit status is 1 if a problem ends wrong. Needs: pip install numpy scipy.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from least_squares import Problem

ENOUGH = 1e-6
OUTCOMES = ("as low", "lower", "another", "says why", "wrong")


class Adjustment:
    """A bundle adjustment in memory, with the file that blockmul reads."""

    suffix = ".txt"

    def __init__(self, random, kind):
        cameras, points = int(random.integers(3, 6)), int(random.integers(8, 17))
        x = random.normal(0, 1, (points, 3)) * 2
        turn, shift = random.normal(0, 0.1, (cameras, 3)), random.normal(0, 0.3, (cameras, 3)) + [0, 0, -12]
        inner = np.tile([500.0, 0.0, 0.0], (cameras, 1)) + random.normal(0, 1, (cameras, 3)) * [5, 1e-3, 1e-4]
        truth = np.hstack([turn, shift, inner])
        self.camera, self.point = (both.ravel() for both in np.indices((cameras, points)))
        self.cameras, self.noise = cameras, 0.3
        start, keep = None, np.ones(cameras * points, bool)
        if kind in ("on the axis", "all on the axis"):
            # The last camera looks along the axis on which its points lie.
            truth[-1, :3], truth[-1, 3:6] = 0, [0, 0, -12]
            of = self.camera == cameras - 1
            if kind == "on the axis":
                x[0, :2] = 0
                keep &= ~of | (self.point == 0)
            else:
                x[:3, :2] = 0
                keep &= ~of | (self.point < 3)
        if kind == "one view":
            keep &= (self.point != 0) | (self.camera == 0)
        self.camera, self.point = self.camera[keep], self.point[keep]
        self.seen = np.zeros((len(self.camera), 2))
        ideal = self.residuals(np.concatenate([truth.ravel(), x.ravel()])).reshape(-1, 2)
        self.seen = ideal + random.normal(0, self.noise, ideal.shape)
        start = truth + random.normal(0, 1, truth.shape) * [*[0.01] * 3, *[0.05] * 3, 5, 1e-4, 1e-5]
        x = x + random.normal(0, 0.05, x.shape)
        if kind in ("on the axis", "all on the axis"):
            start[-1], x[: 3 if kind != "on the axis" else 1, :2] = truth[-1], 0
        if kind == "focal length 0":
            start[0, 6] = 0
        if kind == "two focal lengths 0":
            start[:2, 6] = 0
        if kind == "a turn of 2 pi":
            axis = random.normal(0, 1, 3) if random.random() < 0.5 else np.eye(3)[int(random.integers(3))]
            start[0, :3] = axis / np.linalg.norm(axis) * 2 * np.pi
        if kind == "a focal length of 1e-160":
            start[0, 6] = 1e-160
        self.start = np.concatenate([start.ravel(), x.ravel()])

    residuals = Problem.residuals

    def write(self, path):
        seen = [f"{c} {p} {u!r} {v!r}" for c, p, (u, v) in zip(self.camera, self.point, self.seen.tolist())]
        points = (len(self.start) - 9 * self.cameras) // 3
        head = f"{self.cameras} {points} {len(seen)}"
        path.write_text("\n".join([head, *seen, *map(repr, self.start.tolist())]) + "\n")

    def read(self, path):
        numbers = np.array(path.read_text().split()[3:], float)
        return numbers[4 * len(self.camera) :]

    @staticmethod
    def moved(x, by):
        return x + by


def root(information):
    """R with RᵀR = information, which may be singular."""
    values, vectors = np.linalg.eigh(information)
    return np.sqrt(np.maximum(values, 0))[:, None] * vectors.T


class Graph:
    """A graph of poses and landmarks in the plane or in space. The numbers that are solved for are
    moves of each pose in its own frame, and of landmarks."""

    suffix = ".g2o"

    def __init__(self, random, kind):
        self.d = int(random.integers(2, 4))
        d, self.side = self.d, 3 if self.d == 2 else 6
        n, landmarks = int(random.integers(4, 15)), int(random.integers(0, 7))
        if "landmark" in kind:
            landmarks = max(landmarks, 4)
        if "open chain" in kind:
            landmarks = 0
        turn = lambda size: Rotation.from_rotvec(random.normal(0, size, 3) if d == 3 else [0, 0, random.normal(0, size)])
        flat = np.array([1.0] * d + [0.0] * (3 - d))
        truth = [(turn(1), random.normal(0, 3, 3) * flat) for _ in range(n)]
        places = random.normal(0, 3, (landmarks, 3)) * flat
        self.edges, self.sightings, self.fixed, self.fixed_landmarks = [], [], [0], []
        pairs = [(i, i + 1) for i in range(n - 1)] + [tuple(sorted(random.choice(n, 2, replace=False))) for _ in range(n // 2)]
        if kind == "two components":
            cut = n // 2
            pairs = [(i, j) for i, j in pairs if (i < cut) == (j < cut)]
        if kind == "open chain, angles without weight":
            pairs = pairs[: n - 1]
        for i, j in map(lambda pair: tuple(map(int, pair)), pairs):
            weights = np.array([50.0] * d + [100.0] * (self.side - d)) * random.uniform(0.5, 2, self.side)
            if "angles without weight" in kind:
                weights[d:] = 0
            elif kind == "a direction without weight":
                weights[0] = 0
            elif kind == "a pose's angle without weight" and n - 1 in (i, j):
                weights[d:] = 0
            elif kind == "an edge without weight" and (i, j) == (n - 2, n - 1):
                weights[:] = 0
            (r, t), (s, u) = truth[i], truth[j]
            measured = (r.inv() * s * turn(0.02), r.inv().apply(u - t) + random.normal(0, 0.05, 3) * flat)
            self.edges.append((i, j, measured, np.diag(weights)))
        for landmark in range(landmarks):
            of = random.choice(n if kind != "two components" else n // 2, min(n // 2, int(random.integers(1, 4))), replace=False)
            for number, pose in enumerate(map(int, of)):
                weights = random.uniform(10, 40, d)
                if kind == "a landmark without weight" and landmark == 0:
                    weights[:] = 0
                if kind == "a landmark's coordinate without weight" and landmark == 0:
                    weights[0] = 0
                (r, t) = truth[pose]
                seen = r.inv().apply(places[landmark] - t) + random.normal(0, 0.05, 3) * flat
                self.sightings.append((pose, landmark, seen[:d], np.diag(weights)))
        self.poses = [(r * turn(0.05), t + random.normal(0, 0.1, 3) * flat) for r, t in truth]
        self.places = places + random.normal(0, 0.1, places.shape) * flat
        if kind == "fixed landmarks, no fixed pose":
            self.fixed, self.fixed_landmarks = [], list(range(int(random.integers(1, 5))))
            self.places[self.fixed_landmarks] = places[self.fixed_landmarks]
        if kind == "nothing fixed":
            self.fixed = []
        self.start = np.zeros(n * self.side + landmarks * d)
        held = [0] if kind == "nothing fixed" else self.fixed
        if kind == "two components":
            held = [0, n // 2]
        free = np.ones(len(self.start), bool)
        for pose in held:
            free[pose * self.side : (pose + 1) * self.side] = False
        for landmark in self.fixed_landmarks:
            free[n * self.side + landmark * d :][:d] = False
        self.free = free
        self.roots = [root(w) for *_, w in self.edges], [root(w) for *_, w in self.sightings]

    def state(self, moves):
        d, side, n = self.d, self.side, len(self.poses)
        poses = []
        for (r, t), move in zip(self.poses, np.where(self.free, moves, 0)[: n * side].reshape(n, side)):
            by = [0, 0, move[2]] if d == 2 else move[3:]
            poses.append((r * Rotation.from_rotvec(by), t + r.apply(np.pad(move[:d], (0, 3 - d)))))
        places = self.places.copy()
        places[:, :d] += np.where(self.free, moves, 0)[n * side :].reshape(-1, d)
        return poses, places

    def residuals(self, moves):
        poses, places = self.state(moves)
        d, all_of = self.d, []
        for (i, j, (z, s), _), weight in zip(self.edges, self.roots[0]):
            (r, t), (q, u) = poses[i], poses[j]
            turned = z.inv() * r.inv() * q
            moved = z.inv().apply(r.inv().apply(u - t) - s)
            vector = turned.as_quat()
            vector = vector[:3] * (2 * (1 if vector[3] >= 0 else -1))
            all_of.append(weight @ np.concatenate([moved[:d], [turned.as_rotvec()[2]] if d == 2 else vector]))
        for (pose, landmark, seen, _), weight in zip(self.sightings, self.roots[1]):
            r, t = poses[pose]
            all_of.append(weight @ (r.inv().apply(places[landmark] - t)[:d] - seen))
        return np.concatenate(all_of)

    def numbers(self, rotation, translation):
        if self.d == 2:
            return [*translation[:2], rotation.as_rotvec()[2]]
        return [*translation, *rotation.as_quat()]

    def write(self, path):
        d, n, lines = self.d, len(self.poses), []
        upper = lambda w: w[np.triu_indices(len(w))].tolist()
        names = ("VERTEX_SE2", "VERTEX_XY", "EDGE_SE2", "EDGE_SE2_XY") if d == 2 else ("VERTEX_SE3:QUAT", "VERTEX_TRACKXYZ", "EDGE_SE3:QUAT", "EDGE_SE3_TRACKXYZ")
        if d == 3:
            lines.append(["PARAMS_SE3OFFSET", 0, 0, 0, 0, 0, 0, 0, 1])
        lines += [[names[0], i, *self.numbers(*pose)] for i, pose in enumerate(self.poses)]
        lines += [[names[1], n + i, *place[:d]] for i, place in enumerate(self.places)]
        lines += [["FIX", i] for i in self.fixed] + [["FIX", n + i] for i in self.fixed_landmarks]
        lines += [[names[2], i, j, *self.numbers(*z), *upper(w)] for i, j, z, w in self.edges]
        lines += [[names[3], i, n + j, *([0] if d == 3 else []), *z, *upper(w)] for i, j, z, w in self.sightings]
        path.write_text("\n".join(" ".join(str(x) if isinstance(x, (str, int)) else repr(float(x)) for x in line) for line in lines) + "\n")

    def read(self, path):
        """Continues from a solved file: its poses become the start, at which all moves are 0."""
        poses, places, n = [], [], len(self.poses)
        for line in path.read_text().splitlines():
            name, *numbers = line.split()
            x = list(map(float, numbers))
            if name == "VERTEX_SE2":
                poses.append((Rotation.from_rotvec([0, 0, x[3]]), np.array([x[1], x[2], 0])))
            elif name == "VERTEX_SE3:QUAT":
                poses.append((Rotation.from_quat(x[4:]), np.array(x[1:4])))
            elif name.startswith("VERTEX"):
                places.append(np.pad(x[1:], (0, 3 - self.d)))
        assert len(poses) == n
        self.poses, self.places = poses, np.array(places).reshape(-1, 3)
        return np.zeros(len(self.start))


KINDS = {
    Adjustment: ("sound", "focal length 0", "two focal lengths 0", "a focal length of 1e-160", "a turn of 2 pi", "on the axis", "all on the axis", "one view"),
    Graph: (
        "sound",
        "nothing fixed",
        "two components",
        "open chain, angles without weight",
        "all angles without weight",
        "a direction without weight",
        "a pose's angle without weight",
        "an edge without weight",
        "a landmark without weight",
        "a landmark's coordinate without weight",
        "fixed landmarks, no fixed pose",
    ),
}


def lowest(problem, start):
    """Returns the cost that SciPy reaches from `start`. Columns without influence get no scale of
    their own."""
    ended = least_squares(problem.residuals, start, jac="3-point", x_scale="jac", ftol=1e-15, xtol=1e-15, gtol=1e-15, max_nfev=200)
    return ended.cost


def compared(args, problem, folder, options):
    """Returns one of `OUTCOMES`, and a description."""
    file, out, report = (folder / name for name in ("p" + problem.suffix, "s" + problem.suffix, "r.json"))
    problem.write(file)
    line = [args.blockmul, "solve", file, "--start", "file", "--device", args.device, "-o", out, "--json", report, "--overwrite", "--quiet"]
    ran = subprocess.run([*line, *options, "--tolerance", "1e-12"], capture_output=True, text=True)
    theirs = lowest(problem, problem.start)
    if ran.returncode:
        return ("says why" if ran.stderr.strip() and ran.returncode in (1, 2) else "wrong"), f"status {ran.returncode}: {ran.stderr.strip()}; SciPy {theirs:.9g}"
    ours = json.loads(report.read_text())["cost"]
    further = lowest(problem, problem.read(out))
    # Two costs that are only rounding count as equally low.
    nothing = 1e-18 * 0.5 * float(np.sum(problem.residuals(problem.start) ** 2)) + 1e-20
    words = f"blockmul {ours:.9g}, SciPy {theirs:.9g}, SciPy from there {further:.9g}"
    if further < ours * (1 - ENOUGH) - nothing:
        return "wrong", words
    if theirs < ours * (1 - ENOUGH) - nothing:
        return "another", words
    return ("as low" if ours >= theirs * (1 - ENOUGH) - nothing else "lower"), words


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("blockmul")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--problems", type=int, default=50, help="how many, shared out to the kinds in turn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="where wrong problems are kept")
    args = parser.parse_args()
    kinds = [(of, kind) for of in KINDS for kind in KINDS[of]]
    outcomes = {key: dict.fromkeys(OUTCOMES, 0) for key in kinds}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(args.problems):
            of, kind = kinds[number % len(kinds)]
            problem = of(np.random.default_rng([args.seed, number]), kind)
            # Conjugate gradients need eliminated unknowns, and take turns with factorizations.
            eliminates = of is Adjustment or len(problem.places) > len(problem.fixed_landmarks)
            conjugate = eliminates and number // len(kinds) % 4 == 3
            options = ["--linear", "conjugate-gradients", "--cg-tolerance", "1e-10"] if conjugate else []
            outcome, words = compared(args, problem, pathlib.Path(folder), options)
            outcomes[of, kind][outcome] += 1
            if outcome in ("another", "says why", "wrong"):
                print(f"{of.__name__.lower()} {number}, {kind}, {' '.join(options) or 'cholesky'}: {outcome}: {words}", file=sys.stderr, flush=True)
                if args.keep and outcome == "wrong":
                    args.keep.mkdir(parents=True, exist_ok=True)
                    of(np.random.default_rng([args.seed, number]), kind).write(args.keep / f"{number}{problem.suffix}")
    print(f"| problem | kind | {' | '.join(OUTCOMES)} |")
    print("|---|---|" + "---:|" * len(OUTCOMES))
    for (of, kind), counts in outcomes.items():
        if sum(counts.values()):
            print(f"| {of.__name__.lower()} | {kind} | {' | '.join(map(str, counts.values()))} |")
    sys.exit(1 if any(counts["wrong"] for counts in outcomes.values()) else 0)


if __name__ == "__main__":
    main()
