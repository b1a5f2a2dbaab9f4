"""Times squares of matrices: SciPy, the host's cores, a GPU, and CuPy if it is installed.

    python speed.py [--rows N] [FILE[:SIDE]]...

Files are in Matrix Market format; behind a name stands the side of square blocks into which it is cut.
Without a file a random matrix with 8 entries a row is squared. SciPy's result is sorted, as those of
blockmul are. Each result is compared with that of the host before anything is timed.
"""

import argparse
import statistics
import time
import warnings

import blockmul
import numpy as np
import scipy.io
import scipy.sparse as sp

ROUNDS = 9


def milliseconds(compute):
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        result = compute()
        times.append(time.perf_counter() - begun)
        del result  # outside of the next time
    return 1e3 * statistics.median(times)


def sorted_square(a):
    c = a @ a
    c.sort_indices()
    return c


def check(found, expected):
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def on_device(a, host, device):
    """The times on a device: with all transfers, of matrices that stay there, and of a plan."""
    resident = blockmul.DeviceMatrix(a, device=device)
    plan = blockmul.Plan(resident, resident)
    out = plan.execute(resident, resident)
    check(blockmul.multiply(a, a, device=device), host)
    check((resident @ resident).to_scipy(), host)
    check(out.to_scipy(), host)
    ones = blockmul.DeviceVector(np.ones(1), device=device)

    def executed():
        plan.execute(resident, resident, out=out)
        ones.to_numpy()  # waits

    return {
        f"{device.kind}, with transfers": milliseconds(lambda: blockmul.multiply(a, a, device=device)),
        f"{device.kind}, DeviceMatrix": milliseconds(lambda: resident @ resident),
        f"{device.kind}, Plan": milliseconds(executed),
    }


def on_cupy(a):
    try:
        import cupy
        from cupyx.scipy.sparse import csr_matrix
    except ImportError:
        return {}
    of = csr_matrix(sp.csr_matrix(a))

    def square():
        c = of @ of
        cupy.cuda.Device().synchronize()
        return c

    try:
        square()
    except (RuntimeError, MemoryError) as error:
        print(f"CuPy: {error}")
        return {}
    return {"CuPy, on the GPU": milliseconds(square)}


def matrix(name):
    path, _, side = name.partition(":")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the kind of matrix does not matter here
        a = sp.csr_array(scipy.io.mmread(path).tocsr().astype(np.float64))
    return a.tobsr(blocksize=(int(side), int(side))) if side else a


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("files", nargs="*", metavar="FILE[:SIDE]")
    arguments.add_argument("--rows", type=int, default=10_000, help="of the random matrix (default: %(default)s)")
    given = arguments.parse_args()
    matrices = {name: matrix(name) for name in given.files}
    if not matrices:
        n = given.rows
        matrices["random"] = sp.random_array((n, n), density=min(1, 8 / n), format="csr", rng=np.random.default_rng(0))
    try:
        devices = blockmul.devices()
    except blockmul.NoDevice:
        devices = []
    for name, a in matrices.items():
        host = blockmul.multiply(a, a, device="host")
        times = {
            "SciPy": milliseconds(lambda: sorted_square(a)),
            "host": milliseconds(lambda: blockmul.multiply(a, a, device="host")),
        }
        for device in devices:
            times |= on_device(a, host, device)
        times |= on_cupy(a)
        print(f"{name}: {a.shape[0]} rows, {a.nnz} entries, {host.nnz} of the square; milliseconds")
        for place, time_of in times.items():
            print(f"  {place:24} {time_of:9.3f}")


if __name__ == "__main__":
    main()
