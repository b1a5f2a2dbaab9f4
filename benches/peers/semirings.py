#!/usr/bin/env python3
"""Compares products over every semiring with SuiteSparse:GraphBLAS: all values for equality, and times.

    benches/peers/semirings.py BLOCKMUL [GRAPH.mtx ...] [--device D] [--shrink N] [--rounds 5] [--most 2e7] [--elements f64,u32,...]
        [--semirings min-plus,...] [--format F] [--method M]

Products are A·x, Aᵀ·x, C = A·B, and C at the places of a mask; B is A if A is square, else Aᵀ.
Without files the script makes graphs: uniform, R-MAT, a grid. Of a file only the pattern is used. C
is left out if it has more than --most products. --format chooses the format of A·x, and --method
the method of A·B. Values are whole numbers, whose sums are exact in any order, with infinities
where an algebra has them, and for integers numbers near the limits of their type.

GraphBLAS has no entry where blockmul has the value of an entry without products, so absent entries
of y, and of C at a mask, are filled with that value. Half of x is absent in GraphBLAS for algebras
in which a product with that value changes no sum. The integers of GraphBLAS have no infinities and
wrap around, so minima and maxima of integers are found in FP64, then cut to the limits of the type.
Sums of f16 are those of FP32, rounded once.

A line of the table covers all element types: it counts the values that differ, and its times are
those of the first type. Times are medians, with operands that are in memory. The exit status is 1
if a value differs. Needs: pip install numpy scipy python-graphblas.
"""

import dataclasses
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import inputs
import numpy as np
from blocks import Blocks
from scipy.io import mmread
from scipy.sparse import csr_array

try:
    import graphblas as gb
except ImportError:
    sys.exit("python-graphblas is not installed: pip install python-graphblas")

gb.init("suitesparse", blocking=True)
# Kernels that are not built in are interpreted, so nothing is compiled or kept in a home folder.
gb.ss.config["jit_c_control"] = "off"

# The names of blockmul and of GraphBLAS.
SEMIRINGS = {
    "plus-times": gb.semiring.plus_times,
    "min-plus": gb.semiring.min_plus,
    "max-plus": gb.semiring.max_plus,
    "max-min": gb.semiring.max_min,
    "or-and": gb.semiring.lor_land,
    "plus-first": gb.semiring.plus_first,
    "plus-second": gb.semiring.plus_second,
    "plus-pair": gb.semiring.plus_pair,
}
# The value of an entry without products, if it is not 0.
INFINITE = {"min-plus": np.inf, "max-plus": -np.inf, "max-min": -np.inf}


@dataclasses.dataclass
class Element:
    """An element type, the range of the numbers that are drawn, and the type of GraphBLAS's sums."""

    name: str
    kind: type
    least: int
    most: int
    sums: str

    @property
    def limits(self):
        return np.iinfo(self.kind) if issubclass(self.kind, np.integer) else None

    def cut(self, values):
        """The values converted to this type, as f64."""
        if self.limits:
            return np.clip(values, self.limits.min, self.limits.max)
        with np.errstate(over="ignore"):
            return values.astype(self.kind).astype(np.float64)

    def semirings(self):
        return ["or-and"] if self.name == "u8" else list(SEMIRINGS)


ELEMENTS = [
    Element("f64", np.float64, -8, 8, "FP64"),
    Element("f32", np.float32, -8, 8, "FP32"),
    Element("f16", np.float16, -8, 8, "FP32"),
    # Products and sums wrap around.
    Element("u32", np.uint32, 0, 2**17, "UINT32"),
    Element("i32", np.int32, -100, 100, "INT32"),
    Element("u8", np.uint8, 0, 2, "UINT8"),
]


class Algebra:
    """A semiring over an element type."""

    def __init__(self, name, element):
        self.name, self.element = name, element
        self.infinite = INFINITE.get(name)
        # In u32 no length stays the same when lengths are added to it.
        self.absorbs = name in ("plus-times", "or-and") or name in INFINITE and (name, element.name) != ("max-plus", "u32")
        self.sums = "FP64" if self.infinite and element.limits else element.sums
        self.operator = SEMIRINGS[name][self.sums]
        self.empty = float(element.cut(np.float64(self.infinite or 0)))

    def draw(self, random, count):
        values = random.integers(self.element.least, self.element.most + 1, count).astype(np.float64)
        if self.infinite and self.absorbs:
            special = random.random(count)
            values[special < 0.05] = self.infinite
            if self.name == "max-min":
                values[special < 0.02] = -self.infinite
            if self.element.limits:
                values[special > 0.96] = self.element.limits.min + 1
                values[special > 0.98] = self.element.limits.max - 1
        return values


def pattern(offsets, columns, ncols):
    return csr_array((np.ones(len(columns)), columns, offsets), shape=(len(offsets) - 1, ncols))


def generated(shrink):
    inputs.SHRINK = shrink
    yield "uniform", pattern(*inputs.uniform(20_000, 8, 1))
    yield "R-MAT", pattern(*inputs.rmat(13, 8, 2))
    yield "grid", pattern(*inputs.stencil(200, 2, diagonals=True))


def from_files(paths):
    for path in paths:
        graph = mmread(path).tocoo()
        graph = csr_array((np.ones(graph.nnz), (graph.row, graph.col)), shape=graph.shape)
        graph.sum_duplicates()
        yield pathlib.Path(path).name.split(".")[0], graph


def mask_of(a, random):
    """Places for a mask: the places of A if A is square, and the same number of random places."""
    rows, count = a.shape[0], a.nnz
    places = csr_array((np.ones(count), random.integers(0, rows, (2, count))), shape=(rows, rows))
    places = places + a if rows == a.shape[1] else places
    places.sum_duplicates()
    return places


def write(graph, values, path):
    Blocks(path.stem, graph.shape[1], graph.indptr, graph.indices, values.reshape(-1, 1, 1)).write(path)


def in_graphblas(graph, values, sums):
    kind = gb.dtypes.lookup_dtype(sums)
    return gb.Matrix.from_csr(graph.indptr, graph.indices, values.astype(kind.np_type), ncols=graph.shape[1], dtype=kind)


def median_ms(run, rounds):
    times = []
    for _ in range(rounds):
        clock = time.perf_counter()
        found = run()
        times.append(1e3 * (time.perf_counter() - clock))
    return found, statistics.median(times)


class Comparison:
    """A graph with values over an algebra, in files for blockmul and in GraphBLAS."""

    def __init__(self, args, folder, graph, algebra, rounds):
        self.args, self.folder, self.algebra, self.rounds = args, folder, algebra, rounds
        self.random = np.random.default_rng(7)
        values = algebra.draw(self.random, graph.nnz)
        self.graph = graph
        write(graph, algebra.element.cut(values), folder / "a.bsr")
        self.a = in_graphblas(graph, values, algebra.sums)

    def blockmul(self, words, out):
        line = [self.args.blockmul, *words, "--device", self.args.device, "--semiring", self.algebra.name]
        line += ["--element", self.algebra.element.name, "--repeat", str(self.rounds), "--overwrite", "-o", out, "--report", "-", "-q"]
        return json.loads(subprocess.run(line, check=True, stdout=subprocess.PIPE).stdout)["total_ms"]

    def apply(self, transposed):
        """Returns the number of values of y that differ, the number of all its values, and both
        times."""
        algebra, count = self.algebra, self.graph.shape[0 if transposed else 1]
        x = algebra.draw(self.random, count)
        there = np.flatnonzero(self.random.random(count) < 0.5) if algebra.absorbs else np.arange(count)
        full = np.full(count, algebra.empty)
        full[there] = algebra.element.cut(x[there])
        np.save(self.folder / "x.npy", full)
        words = ["apply", self.folder / "a.bsr", self.folder / "x.npy", "--format", self.args.format]
        words += ["--transpose"] if transposed else []
        out = self.folder / "y.npy"
        ms = self.blockmul(words, out)
        kind = gb.dtypes.lookup_dtype(algebra.sums)
        x = gb.Vector.from_coo(there, x[there].astype(kind.np_type), size=count, dtype=kind)
        a = self.a.T if transposed else self.a
        y, other_ms = median_ms(lambda: a.mxv(x, algebra.operator).new(), self.rounds)
        places, values = y.to_coo()
        want = np.full(y.size, algebra.empty)
        want[places] = algebra.element.cut(values.astype(np.float64))
        return int(np.sum(want != np.load(out).ravel().astype(np.float64))), y.size, ms, other_ms

    def multiply(self, masked):
        """Returns the number of entries of C that differ, the number of all its entries, and both
        times."""
        algebra, out = self.algebra, self.folder / "c.bsr"
        words, mask = ["multiply", self.folder / "a.bsr"], None
        if masked:
            places = mask_of(self.graph, self.random)
            write(places, places.data, self.folder / "mask.bsr")
            words += ["--mask", self.folder / "mask.bsr"]
            mask = in_graphblas(places, places.data, "FP64").S
        else:
            words += ["--method", self.args.method]
        ms = self.blockmul(words, out)
        b = self.a if self.a.nrows == self.a.ncols else self.a.T.new()
        c, other_ms = median_ms(lambda: self.a.mxm(b, algebra.operator).new(mask=mask), self.rounds)
        rows, columns, values = c.to_coo()
        keys, want = rows.astype(np.int64) * c.ncols + columns.astype(np.int64), algebra.element.cut(values.astype(np.float64))
        if masked:
            there, at_places = keys, places.tocoo()
            keys = at_places.row.astype(np.int64) * c.ncols + at_places.col
            filled = np.full(len(keys), algebra.empty)
            filled[np.searchsorted(keys, there)] = want
            want = filled
        found = Blocks.read(out)
        if not np.array_equal(found.places(), keys):
            return len(np.setxor1d(found.places(), keys)), len(keys), ms, other_ms
        # blockmul writes infinite integers as infinities or as the limits of their type.
        return int(np.sum(algebra.element.cut(found.values.ravel()) != want)), len(keys), ms, other_ms


def products_of(graph):
    """The number of products of A·B: for each entry (i, k) of A, the number of entries in row k of
    B."""
    b = graph if graph.shape[0] == graph.shape[1] else graph.T.tocsr()
    return int(np.diff(b.indptr)[graph.indices].sum())


def main():
    parser = inputs.comparison("graphs", "GRAPH.mtx", "graphs")
    parser.add_argument("--most", type=float, default=2e7, help="most products of a C")
    parser.add_argument("--elements", default=",".join(element.name for element in ELEMENTS))
    parser.add_argument("--format", default="auto")
    parser.add_argument("--method", default="auto")
    parser.add_argument("--semirings", default=",".join(SEMIRINGS))
    args = parser.parse_intermixed_args()
    elements = [{element.name: element for element in ELEMENTS}[name] for name in args.elements.split(",")]
    ways = {
        "A·x": lambda of: of.apply(False),
        "Aᵀ·x": lambda of: of.apply(True),
        "A·B": lambda of: of.multiply(False),
        "A·B at a mask": lambda of: of.multiply(True),
    }
    wrong = 0
    print("| graph | semiring | product | element types | values | different | blockmul ms | GraphBLAS ms | times as fast |")
    print("|---|---|---|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, graph in from_files(args.graphs) if args.graphs else generated(args.shrink):
            graph.sort_indices()
            products = products_of(graph)
            large = products > args.most
            if large:
                print(f"{name}: A·B left out, of {products} products", file=sys.stderr)
            for semiring in args.semirings.split(","):
                over = [element for element in elements if semiring in element.semirings()]
                if not over:
                    continue
                lines = {way: [] for way in ways if not (large and way.startswith("A·B"))}
                for element in over:
                    rounds = args.rounds if element is over[0] else 1
                    comparison = Comparison(args, pathlib.Path(folder), graph, Algebra(semiring, element), rounds)
                    for way, line in lines.items():
                        line.append(ways[way](comparison))
                        if line[-1][0]:
                            print(f"{name}: {way} over {semiring} in {element.name}: {line[-1][0]} differ", file=sys.stderr)
                for way, line in lines.items():
                    different, ms, other_ms = sum(each[0] for each in line), *line[0][2:]
                    wrong += different
                    cells = [name, semiring, way, " ".join(element.name for element in over), line[0][1], different]
                    cells += [f"{ms:.2f}", f"{other_ms:.2f}", f"{other_ms / ms:.2f}"]
                    print(f"| {' | '.join(map(str, cells))} |", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
