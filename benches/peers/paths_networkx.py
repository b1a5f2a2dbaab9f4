#!/usr/bin/env python3
"""Compares shortest paths in many small graphs with NetworkX, every schedule and element type, negative lengths and cycles included.

    benches/peers/paths_networkx.py BLOCKMUL [--device D] [--graphs 20]

Graphs have up to 40 vertices, some of them without edges or out of reach, and edges of length 0.
Paths begin at one vertex, then at the nearest of three. Lengths that are not negative are compared
with `multi_source_dijkstra_path_length`. Negative lengths are whole numbers without a cycle below
0, and are compared with `single_source_bellman_ford_path_length` and SciPy's `bellman_ford`. In a
last step an edge is added that closes a cycle below 0, which blockmul, NetworkX and SciPy must
refuse. The script compares distances, and the lengths of the paths that predecessors make.

The script prints a table, and the exit status is 1 if something differs. Needs: pip install numpy scipy networkx.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from scipy.sparse import csr_array, save_npz
from scipy.sparse.csgraph import NegativeCycleError, bellman_ford

try:
    import networkx as nx
except ImportError:
    sys.exit("networkx is not installed: pip install networkx")

WHOLE, REAL = ("f64", "f32", "i32", "u32"), ("f64",)


def drawn(random, whole):
    """A graph whose last vertices have no edge; a quarter of its edges have length 0."""
    n = int(random.integers(1, 41))
    rows, columns = random.integers(0, max(1, n - 3), (2, int(random.integers(0, 4 * n))))
    rows, columns = np.unique(np.stack([rows, columns]), axis=1)
    lengths = random.integers(0, 10, len(rows)).astype(float) if whole else random.random(len(rows))
    lengths[random.random(len(rows)) < 0.25] = 0
    return csr_array((lengths, (rows, columns)), shape=(n, n))


def lowered(graph, random):
    """The graph with negative lengths: the height of a vertex is added to the edges that leave it,
    and subtracted from the edges that arrive."""
    edges, heights = graph.tocoo(), random.integers(0, 20, graph.shape[0])
    return csr_array((edges.data + heights[edges.row] - heights[edges.col], (edges.row, edges.col)), shape=graph.shape)


def with_cycle(graph, random):
    """Returns the graph with a further edge that closes a cycle of length -1, and the vertex at
    which this edge begins."""
    edges = graph.tocoo()
    edge = int(random.integers(graph.nnz))
    begin, end = edges.row[edge], edges.col[edge]
    if begin == end:
        back, kept = -1.0, np.arange(graph.nnz) != edge
    else:
        back, kept = -1.0 - edges.data[edge], (edges.row != end) | (edges.col != begin)
    rows, columns = np.append(edges.row[kept], end), np.append(edges.col[kept], begin)
    return csr_array((np.append(edges.data[kept], back), (rows, columns)), shape=graph.shape), int(begin)


def by_networkx(graph, sources, negative):
    edges = nx.from_scipy_sparse_array(graph, create_using=nx.DiGraph)
    if not negative:
        found = [nx.multi_source_dijkstra_path_length(edges, set(sources))]
    else:
        found = [nx.single_source_bellman_ford_path_length(edges, source) for source in sources]
    return np.array([min(lengths.get(vertex, np.inf) for lengths in found) for vertex in range(graph.shape[0])])


class Commands:
    """`blockmul paths` on a graph in a file."""

    def __init__(self, args, folder):
        self.line = [args.blockmul, "paths", folder / "g.npz", "--transpose", "--device", args.device, "--overwrite", "-q"]
        self.folder = folder

    def save(self, graph):
        save_npz(self.folder / "g.npz", graph, compressed=False)

    def run(self, sources, element, schedule):
        begin = ",".join(str(source + 1) for source in sources)
        options = ["--sources", begin, "--element", element, "--schedule", schedule]
        outputs = ["-o", self.folder / "d.npy", "--predecessors", self.folder / "p.npy"]
        return subprocess.run([*self.line, *options, *outputs], capture_output=True, text=True)

    def distances(self, sources, element, schedule):
        """Returns distances, infinite for vertices out of reach, and predecessors, -1 if there is
        none."""
        ran = self.run(sources, element, schedule)
        if ran.returncode:
            sys.exit(f"blockmul paths: {ran.stderr}")
        found = np.load(self.folder / "d.npy").ravel()
        far = np.iinfo(found.dtype).max if found.dtype.kind in "iu" else np.inf
        return np.where(found == far, np.inf, found.astype(float)), np.load(self.folder / "p.npy").ravel().astype(int) - 1


def wrong_ways(graph, sources, distances, before):
    """The vertices from which predecessors lead to no source along edges of the right lengths."""
    edges, wrong = graph.tocoo(), 0
    lengths = dict(zip(zip(edges.row.tolist(), edges.col.tolist()), edges.data))
    for vertex in range(graph.shape[0]):
        at, steps = vertex, 0
        while before[at] >= 0 and steps <= graph.shape[0]:
            way = (int(before[at]), at)
            if way not in lengths or distances[way[0]] + lengths[way] != distances[at]:
                break
            at, steps = way[0], steps + 1
        reached = before[at] < 0 and (at in sources and distances[at] == 0 or at == vertex and np.isinf(distances[at]))
        wrong += not reached
    return wrong


def refuses(compute, error):
    try:
        compute()
    except error:
        return True
    return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("blockmul")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--graphs", type=int, default=20)
    args = parser.parse_args()
    random, wrong = np.random.default_rng(1), 0
    print("| lengths | element types | schedules | graphs | distances | infinite | different | wrong predecessors |")
    print("|---|---|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        commands = Commands(args, pathlib.Path(folder))
        for kind, elements, schedules in (
            ("real, from 0", REAL, ("near-far", "frontier", "sweeps")),
            ("whole, from 0", WHOLE, ("near-far", "frontier", "sweeps")),
            ("whole, negative", ("f64", "f32", "i32"), ("auto", "sweeps")),
        ):
            count = infinite = different = lost = 0
            negative = kind.endswith("negative")
            for number in range(args.graphs):
                graph = drawn(random, kind.startswith("whole"))
                graph = lowered(graph, random) if negative else graph
                commands.save(graph)
                n = graph.shape[0]
                # The types and schedules take turns, so that each has a share of the graphs.
                element, schedule = elements[number % len(elements)], schedules[number // len(elements) % len(schedules)]
                for sources in [0], sorted({0, n // 2, n - 1}):
                    want = by_networkx(graph, sources, negative)
                    if negative:
                        other = bellman_ford(graph, indices=sources).min(axis=0)
                        different += int(np.sum(other != want))
                    found, before = commands.distances(sources, element, schedule)
                    count, infinite = count + n, infinite + int(np.isinf(want).sum())
                    different += int(np.sum(found != want))
                    lost += wrong_ways(graph, sources, found, before)
            wrong += different + lost
            cells = [kind, " ".join(elements), " ".join(schedules), args.graphs, count, infinite, different, lost]
            print(f"| {' | '.join(map(str, cells))} |", flush=True)
        refused = 0
        for _ in range(args.graphs):
            graph = lowered(drawn(random, True), random)
            while graph.nnz == 0:
                graph = lowered(drawn(random, True), random)
            graph, begin = with_cycle(graph, random)
            commands.save(graph)
            ours = commands.run([begin], "f64", "auto")
            all_refuse = [
                ours.returncode == 2 and "negative length" in ours.stderr,
                refuses(lambda: by_networkx(graph, [begin], True), nx.NetworkXUnbounded),
                refuses(lambda: bellman_ford(graph, indices=begin), NegativeCycleError),
            ]
            if all(all_refuse):
                refused += 1
            else:
                print(f"refused by blockmul, NetworkX, SciPy: {all_refuse}; blockmul: {ours.stderr}", file=sys.stderr)
        wrong += args.graphs - refused
        print(f"\nOf {args.graphs} graphs with a cycle of negative length {refused} are refused.")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
