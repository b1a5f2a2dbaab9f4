"""Times SciPy's and fast_matrix_market's readers, file to scipy.sparse.csc_matrix, beside `blockmul bench --operation read`.

    pip install numpy scipy fast_matrix_market
    python benches/peers/read.py FILE...

The files are not packed, and are read from the page cache: each is read once before it is timed.
Since version 1.12 SciPy's own `mmread` uses fast_matrix_market; `_mmio` is SciPy's earlier reader
in Python.
"""

import os
import statistics
import sys
import time

import fast_matrix_market
import scipy.io
import scipy.io._mmio
import scipy.sparse

ROUNDS = 7
# A reader that takes longer than this is timed only once.
PATIENCE_S = 5.0


def scipy_now(path):
    return scipy.io.mmread(path).tocsc()


def scipy_before(path):
    return scipy.io._mmio.mmread(path).tocsc()


def fast(path):
    return fast_matrix_market.mmread(path).tocsc()


def with_threads(module, threads):
    """Sets the number of threads; both readers keep it in a variable of their module."""

    def set_threads():
        module.PARALLELISM = threads

    return set_threads


READERS = [
    (f"fast_matrix_market {fast_matrix_market.__version__}", 1, fast, with_threads(fast_matrix_market, 1)),
    (f"fast_matrix_market {fast_matrix_market.__version__}", 2, fast, with_threads(fast_matrix_market, 2)),
    (f"scipy {scipy.__version__} mmread", 1, scipy_now, with_threads(scipy.io._fast_matrix_market, 1)),
    (f"scipy {scipy.__version__} mmread", 2, scipy_now, with_threads(scipy.io._fast_matrix_market, 2)),
    (f"scipy {scipy.__version__} _mmio", 1, scipy_before, lambda: None),
]


def timed(read, path):
    start = time.perf_counter()
    read(path)
    return time.perf_counter() - start


def main():
    print(f"{'file':<20} {'MB':>7} {'reader':<26} {'threads':>7} {'min ms':>9} {'median ms':>9} {'MB/s/core':>9}")
    for path in sys.argv[1:]:
        megabytes = os.path.getsize(path) / 1e6
        for name, threads, read, prepare in READERS:
            prepare()
            times = [timed(read, path)]
            if times[0] < PATIENCE_S:
                times = [timed(read, path) for _ in range(ROUNDS)]
            low, middle = min(times), statistics.median(times)
            print(
                f"{os.path.basename(path):<20} {megabytes:7.1f} {name:<26} {threads:7} {low * 1e3:9.1f} {middle * 1e3:9.1f}"
                f" {megabytes / low / threads:9.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
