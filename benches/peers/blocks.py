"""Code that the peers in Python share: BSR1 files (see inputs.py), the check of a product, records
of the benchmark's schema.

A product C = A·B is checked by structure and by value (Freivalds 1977). The blocks of C are counted from the patterns; C·x must be
A·(B·x), both in f64, row by row within

    2 (n u + p 2^-53) (|A| |B| |x|),

n the terms that a value of C has at most in this row, p the scalar products of the row, u the
rounding of the elements of C. A·M·B with a block-diagonal M, and D - A·B, are checked likewise:
their bounds contain |A| |M| |B| |x| and |D| |x|, and n and p count the terms of M and D too.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import platform
import statistics
import time

import numpy as np

MAGIC = 0x42535231
ROUNDING = {"f64": 2.0**-53, "f32": 2.0**-24}
FEWEST_ROUNDS = 3
UNSORTED = "columns not ascending"


@dataclasses.dataclass
class Blocks:
    """A matrix of dense blocks by rows: offsets and columns in blocks, values [block, row, column]."""

    name: str
    ncols: int
    offsets: np.ndarray
    columns: np.ndarray
    values: np.ndarray

    @classmethod
    def read(cls, path):
        with open(path, "rb") as file:
            magic, nrows, ncols, count, height, width = np.fromfile(file, np.int64, 6)
            if magic != MAGIC:
                raise SystemExit(f"{path}: not a BSR1 file")
            offsets, columns = np.fromfile(file, np.int32, nrows + 1), np.fromfile(file, np.int32, count)
            values = np.fromfile(file, np.float64, count * height * width).reshape(-1, height, width)
        return cls(pathlib.Path(path).stem, int(ncols), offsets, columns, values)

    def write(self, path):
        with open(path, "wb") as file:
            np.array([MAGIC, self.nrows, self.ncols, len(self.columns), *self.shape], np.int64).tofile(file)
            for numbers, kind in (self.offsets, np.int32), (self.columns, np.int32), (self.values, np.float64):
                np.ascontiguousarray(numbers, kind).tofile(file)

    @property
    def nrows(self):
        return len(self.offsets) - 1

    @property
    def shape(self):
        """The shape of a block."""
        return self.values.shape[1:]

    def rows(self):
        """The row of each block."""
        return np.repeat(np.arange(self.nrows), np.diff(self.offsets))

    def places(self):
        """The place of each block in the matrix, as one number."""
        return self.rows() * self.ncols + self.columns

    def magnitudes(self):
        return dataclasses.replace(self, values=abs(self.values))

    def is_diagonal(self):
        rows = np.arange(self.nrows + 1)
        return self.nrows == self.ncols and np.array_equal(self.offsets, rows) and np.array_equal(self.columns, rows[:-1])

    def transposed(self):
        order = np.lexsort((self.rows(), self.columns))
        offsets = np.concatenate([[0], np.cumsum(np.bincount(self.columns, minlength=self.ncols))]).astype(np.int32)
        columns = self.rows()[order].astype(np.int32)
        return Blocks(self.name, self.nrows, offsets, columns, np.ascontiguousarray(self.values[order].transpose(0, 2, 1)))

    def partner(self):
        """The other factor of this matrix: the matrix itself if it is square, else its
        transpose."""
        square = self.nrows == self.ncols and self.shape[0] == self.shape[1]
        return self if square else self.transposed()

    def times(self, x):
        """The product with a vector, in f64. Each thread takes some rows at a time."""
        height, width = self.shape
        x, cuts = x.reshape(-1, width), np.linspace(0, self.nrows, 65).astype(int)

        def of_rows(first, last):
            blocks = slice(self.offsets[first], self.offsets[last])
            terms = np.einsum("bij,bj->bi", self.values[blocks], x[self.columns[blocks]], dtype=np.float64)
            rows = np.repeat(np.arange(last - first), np.diff(self.offsets[first : last + 1]))
            return np.stack([np.bincount(rows, terms[:, i], last - first) for i in range(height)], axis=1).ravel()

        with concurrent.futures.ThreadPoolExecutor() as threads:
            return np.concatenate(list(threads.map(of_rows, cuts[:-1], cuts[1:])))

    def describe(self):
        return {"rows": self.nrows, "cols": self.ncols, "nnz": len(self.columns), "block": list(self.shape)}


def through(factors, x):
    """The product of matrices and a vector, from the right."""
    for factor in reversed(factors):
        x = factor.times(x)
    return x


class Truth:
    """What a product of these two must be; with a block-diagonal middle that of three, with a minuend what is left of it."""

    def __init__(self, a, b, middle=None, minuend=None):
        self.a, self.b = a, b
        per_block = np.diff(b.offsets)[a.columns].astype(np.int64)
        self.products = int(per_block.sum())
        self.flops = 2 * self.products * a.shape[0] * a.shape[1] * b.shape[1]
        index = np.arange(b.ncols * b.shape[1], dtype=np.uint64)
        self.x = ((index * 2654435761 + 12345 >> 7) & 1023).astype(np.float64) - 512
        factors = [a, b]
        products = np.bincount(a.rows(), per_block, a.nrows) * a.shape[1] * b.shape[1]
        self._terms, self._products = (np.repeat(of, a.shape[0]) for of in (np.diff(a.offsets) * a.shape[1], products))
        if middle:
            if not middle.is_diagonal():
                raise SystemExit(f"{middle.name}: not block-diagonal")
            factors = [a, middle, b]
            self.flops += 2 * len(b.columns) * middle.shape[0] * b.shape[0] * b.shape[1]
            self._terms, self._products = self._terms + middle.shape[1], self._products * (1 + middle.shape[1])
        self.y, self._magnitude = through(factors, self.x), through([m.magnitudes() for m in factors], abs(self.x))
        if minuend:
            self.flops += minuend.values.size
            self._terms, self._products = self._terms + 1, self._products + b.ncols * b.shape[1]
            self.y, self._magnitude = minuend.times(self.x) - self.y, minuend.magnitudes().times(abs(self.x)) + self._magnitude
        self.c_nnz = self._count(per_block, minuend)

    def _count(self, per_block, minuend):
        """Blocks of C: the places of some rows' products at a time, and of the minuend, each counted once."""
        a, b, count, rows = self.a, self.b, 0, self.a.rows()
        before = np.concatenate([[0], np.cumsum(per_block)])
        first = 0
        while first < a.nrows:
            last = np.searchsorted(before[a.offsets], before[a.offsets[first]] + (1 << 24), side="right") - 1
            last = min(max(last, first + 1), a.nrows)
            blocks = slice(a.offsets[first], a.offsets[last])
            many = per_block[blocks]
            within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
            places = np.repeat(rows[blocks], many) * b.ncols + b.columns[np.repeat(b.offsets[a.columns[blocks]], many) + within]
            if minuend:
                places = np.concatenate([places, minuend.places()[minuend.offsets[first] : minuend.offsets[last]]])
            places.sort()
            count += np.count_nonzero(np.diff(places)) + (len(places) > 0)
            first = last
        return int(count)

    def fault(self, c, element, drops_zeros=False):
        """What is wrong with C, `Blocks` of any shape; None if nothing. A library may drop values that come out as zero."""
        height, width = self.a.shape[0], self.b.shape[1]
        scalars = len(c.columns) * c.shape[0] * c.shape[1]
        if scalars > self.c_nnz * height * width or (scalars < self.c_nnz * height * width and not drops_zeros):
            return f"{scalars} values, not {self.c_nnz * height * width}"
        steps = np.diff(c.columns.astype(np.int64))
        inside = np.ones(len(steps), bool)
        ends = c.offsets[1:-1]
        inside[ends[(ends > 0) & (ends < len(c.columns))] - 1] = False
        if (steps[inside] <= 0).any():
            return UNSORTED
        found = c.times(self.x)
        bound = 2 * (self._terms * ROUNDING[element] + self._products * 2.0**-53) * self._magnitude
        wrong = np.flatnonzero(~(abs(found - self.y) <= bound))
        if len(wrong):
            return f"row {wrong[0]} times x is {float(found[wrong[0]])}, not {float(self.y[wrong[0]])} (of {len(wrong)} such rows)"
        return None


class Records:
    """Results, which are printed one by one. With a path they are also written to a JSON file,
    which is complete after each result."""

    def __init__(self, path, library, version, device, threads):
        host = {"machine": platform.node(), "cpu": cpu(), "threads": os.cpu_count(), "system": platform.platform()}
        self.path, self.file = path, {"schema": "blockmul-bench/1", "host": host, "results": []}
        self.common = {"library": library, "version": version, "device": device, "threads": threads}

    def add(self, truth, variant, element, runs_ms=(), reason=None, **more):
        record = self.common | {"variant": variant, "matrix": truth.a.name, "a": truth.a.describe(), "b": truth.b.describe()}
        record |= {"element": element, "products": truth.products, "c_nnz": truth.c_nnz, "flops": truth.flops, "verified": reason is None} | more
        if reason is None:
            ms = statistics.median(runs_ms)
            record |= {"runs_ms": list(runs_ms), "ms": ms, "gflops": truth.flops / ms / 1e6}
        else:
            record["reason"] = reason
        text = f"{ms:10.3f} ms {record['gflops']:9.2f} Gflop/s" if reason is None else f"FAILED: {reason}"
        print(f"{record['library']:<10} {variant:<14} {truth.a.name:<14} {element} {text}", flush=True)
        self.file["results"].append(record)
        if self.path:
            self.path.write_text(json.dumps(self.file, indent=1))


def cpu():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE.bsr")
    parser.add_argument("--json", type=pathlib.Path, help="where the records go")
    parser.add_argument("--rounds", type=int, default=11, help="times each product is timed at most (11)")
    parser.add_argument("--patience", type=float, default=2.0, help="seconds after which no further round begins (2)")
    return parser


def timed(multiply, args, finish=lambda: None):
    """Milliseconds of each round; results are dropped while the clock is stopped. The caller has
    already multiplied once."""
    multiply()
    finish()
    runs, began = [], time.perf_counter()
    while len(runs) < args.rounds and (len(runs) < FEWEST_ROUNDS or time.perf_counter() - began < args.patience):
        start = time.perf_counter()
        result = multiply()
        finish()
        runs.append((time.perf_counter() - start) * 1e3)
        del result
    return runs
