#!/usr/bin/env python3
"""Compares shortest paths with SciPy's Dijkstra: distances bit for bit, and times.

    benches/peers/paths.py BLOCKMUL [GRAPH.mtx ...] [--device D] [--shrink N] [--rounds 5]

Paths begin at vertex 1, then at the nearest of three vertices. Without files the script makes
graphs: a grid, an R-MAT graph, a graph like roads, a grid with edges of length 0, and a graph of
several parts. In a file the magnitudes of the values are lengths, and the entry at row i, column j
is the edge from i to j. Rounding keeps the order of sums, so that distances have the same bits in
every order of visits. The script prints a table, and the exit status is 1 if a distance differs.
Times are medians, without reading the file. Needs: pip install numpy scipy.
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
from scipy.sparse import block_diag, csr_array, load_npz, save_npz
from scipy.sparse.csgraph import dijkstra


def with_lengths(pattern, seed, whole=False):
    """A graph with this pattern of `inputs`, without loops. The lengths of the edges are from 0 to
    1, or whole numbers from 0 to 3."""
    offsets, columns, n = pattern
    rows, random = np.repeat(np.arange(n), np.diff(offsets)), np.random.default_rng(seed)
    lengths = random.integers(0, 4, len(columns)).astype(float) if whole else random.random(len(columns))
    kept = rows != columns
    return csr_array((lengths[kept], (rows[kept], columns[kept])), shape=(n, n))


def planar(blockmul, side, folder):
    path = folder / "planar.npz"
    sides = ["--cols", str(side), "--rows", str(side)]
    subprocess.run([blockmul, "generate", "planar", *sides, "-q", "-o", path], check=True)
    return csr_array(load_npz(path))


def generated(blockmul, shrink, folder):
    inputs.SHRINK = shrink
    grid = lambda side: inputs.stencil(side, 2, diagonals=False)
    yield "grid", with_lengths(grid(1000), 1)
    yield "R-MAT", with_lengths(inputs.rmat(18, 16, 2), 2)
    yield "planar", planar(blockmul, max(2, round(1000 / shrink**0.5)), folder)
    yield "grid, lengths 0 to 3", with_lengths(grid(1000), 3, whole=True)
    yield "R-MAT, lengths 0 to 3", with_lengths(inputs.rmat(18, 16, 4), 4, whole=True)
    parts = [with_lengths(grid(700), 5), with_lengths(inputs.rmat(16, 16, 6), 6), with_lengths(grid(300), 7, whole=True)]
    yield "two grids and R-MAT apart", csr_array(block_diag(parts, format="csr"))


def from_files(paths):
    for path in paths:
        graph = csr_array(mmread(path))
        graph.sum_duplicates()
        yield pathlib.Path(path).name, csr_array((abs(graph.data.astype(float)), graph.indices, graph.indptr), graph.shape)


def begun_with_edges(graph):
    """Returns the graph. If no edge leaves vertex 1, it has exchanged numbers with the vertex that
    most edges leave."""
    leaving = np.diff(graph.indptr)
    names = np.arange(graph.shape[0])
    if leaving[0] == 0:
        most = leaving.argmax()
        names[[0, most]] = most, 0
    edges = graph.tocoo()
    return csr_array((edges.data, (names[edges.row], names[edges.col])), shape=graph.shape)


def by_blockmul(line, file, sources, rounds, folder):
    """Distances, milliseconds, and the schedule."""
    found, begin = folder / "d.npy", ",".join(str(source + 1) for source in sources)
    line = [*line, file, "--sources", begin, "--repeat", str(rounds), "--overwrite", "-o", found, "--report", "-", "-q"]
    report = json.loads(subprocess.run(line, check=True, stdout=subprocess.PIPE).stdout)
    return np.load(found).ravel(), report["total_ms"], report["schedule"]


def by_scipy(graph, sources, rounds):
    times = []
    for _ in range(rounds):
        clock = time.perf_counter()
        distances = dijkstra(graph, indices=sources, min_only=True)
        times.append(1e3 * (time.perf_counter() - clock))
    return distances, statistics.median(times)


def main():
    parser = inputs.comparison("graphs", "GRAPH.mtx", "graphs")
    args = parser.parse_intermixed_args()
    different = 0
    print("| graph | vertices | edges | sources | reached | different | blockmul ms | by | SciPy ms | times as fast |")
    print("|---|---:|---:|---:|---:|---:|---:|---|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        file = folder / "graph.npz"
        line = [args.blockmul, "paths", "--transpose", "--device", args.device]
        for name, graph in from_files(args.graphs) if args.graphs else generated(args.blockmul, args.shrink, folder):
            graph = begun_with_edges(graph)
            n = graph.shape[0]
            save_npz(file, graph, compressed=False)
            for sources in [0], [0, n // 2, n - 1]:
                want, scipy_ms = by_scipy(graph, sources, args.rounds)
                found, ms, schedule = by_blockmul(line, file, sources, args.rounds, folder)
                wrong = int(np.sum(found.view(np.uint64) != want.view(np.uint64)))
                different += wrong
                cells = [name, n, graph.nnz, len(sources), int(np.isfinite(want).sum()), wrong]
                cells += [f"{ms:.1f}", schedule, f"{scipy_ms:.1f}", f"{scipy_ms / ms:.2f}"]
                print(f"| {' | '.join(map(str, cells))} |", flush=True)
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
