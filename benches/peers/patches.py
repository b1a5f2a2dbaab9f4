#!/usr/bin/env python3
"""Compares patches by the graph alone with PyAMG's lloyd_cluster, from the same seeds.

    benches/peers/patches.py BLOCKMUL MESH.ply... [--count 64] [--steps 20]

MESH.ply are binary files as `blockmul generate mesh` writes them. For each mesh the script prints
the energies of blockmul and PyAMG (the sums of squared distances from the nearest centre, both by
SciPy's Dijkstra) and their ratio. The exit status is 1 if blockmul's energy is more than 5 % above
PyAMG's. Needs: pip install numpy scipy pyamg.
"""
import argparse
import json
import subprocess
import sys
import time

import numpy as np
from pyamg.graph import lloyd_cluster
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra


def graph(path):
    """The lengths of the edges of a mesh, in both directions."""
    data = open(path, "rb").read()
    header, body = data.split(b"end_header\n", 1)
    counts = [int(line.split()[2]) for line in header.splitlines() if line.startswith(b"element")]
    points = np.frombuffer(body, "<f8", 3 * counts[0]).reshape(-1, 3)
    faces = np.frombuffer(body, [("n", "u1"), ("corner", "<u4", 3)], counts[1], 24 * counts[0])["corner"]
    pairs = np.concatenate([faces[:, [i, j]] for i in range(3) for j in range(3) if i != j])
    pairs = np.unique(pairs, axis=0).astype(np.int32)
    lengths = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    return csr_array((lengths, (pairs[:, 0], pairs[:, 1])), shape=(counts[0], counts[0]))


def energy(edges, centres):
    return float(np.sum(dijkstra(edges, indices=centres, min_only=True) ** 2))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("blockmul")
    parser.add_argument("mesh", nargs="+")
    parser.add_argument("--count", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    far = 0
    for mesh in args.mesh:
        line = [args.blockmul, "patches", mesh, "--graph", "--count", str(args.count), "--steps", str(args.steps)]
        report = json.loads(subprocess.run([*line, "--report", "-", "-q"], check=True, stdout=subprocess.PIPE).stdout)
        edges = graph(mesh)
        clock = time.perf_counter()
        _, centres = lloyd_cluster(edges, np.array(report["first"], dtype=np.int32) - 1, maxiter=args.steps)
        pyamg_ms = 1e3 * (time.perf_counter() - clock)
        ours, theirs = energy(edges, np.array(report["seeds"]) - 1), energy(edges, centres)
        far += ours > 1.05 * theirs
        print(
            f"{mesh}: {report['patches']} patches, blockmul {ours:.6g} in {report['total_ms']:.0f} ms, "
            f"PyAMG {theirs:.6g} in {pyamg_ms:.0f} ms, ratio {ours / theirs:.4f}"
        )
    sys.exit(1 if far else 0)


if __name__ == "__main__":
    main()
