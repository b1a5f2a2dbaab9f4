"""Times NVIDIA Warp's product of block matrices, `bsr_mm`, in f64 and f32: with C allocated and its
topology found in every round ("bsr_mm"), and into a C whose topology is kept ("kept pattern").
Operands are on the device. The script needs an NVIDIA GPU.

    pip install numpy warp-lang
    python benches/peers/warp_bsr.py FILE.bsr ... [--json OUT.json] [--rounds N] [--patience SECONDS]

If a row has more products than there are columns from its first block to its last, Warp does not
look for the blocks of C: it stores the whole range, with blocks of zeros. Such blocks of zeros do
not count as wrong; a record has their number ("zero_blocks").

Warp compiles its kernels for a shape of block when it first meets it, before anything is timed, and keeps them in its cache.
"""

import numpy as np
import warp
import warp.sparse

from blocks import Blocks, Records, Truth, arguments, timed

ELEMENTS = {"f64": (np.float64, warp.float64), "f32": (np.float32, warp.float32)}


def upload(m, element):
    of_numpy, of_warp = ELEMENTS[element]
    rows, columns = (warp.array(index, dtype=int) for index in (m.rows().astype(np.int32), m.columns))
    values = warp.array(m.values.astype(of_numpy), dtype=of_warp)
    return warp.sparse.bsr_from_triplets(m.nrows, m.ncols, rows, columns, values)


def download(c):
    """C without the blocks of zeros that `bsr_mm` adds, and their number."""
    count, (height, width) = c.nnz_sync(), c.block_shape
    values = c.values.numpy()[:count].reshape(-1, height, width)
    kept = values.any(axis=(1, 2))
    offsets = np.concatenate([[0], np.cumsum(kept)])[c.offsets.numpy()[: c.nrow + 1]]
    return Blocks("C", c.ncol, offsets, c.columns.numpy()[:count][kept], values[kept]), int(count - kept.sum())


def variants(a, b):
    """The computations that are timed, by name; those that use a kept pattern have already made
    it."""
    yield "bsr_mm", lambda: warp.sparse.bsr_mm(a, b)
    kept = warp.sparse.bsr_mm_work_arrays()
    c = warp.sparse.bsr_mm(a, b, work_arrays=kept)
    yield "kept pattern", lambda: warp.sparse.bsr_mm(a, b, c, work_arrays=kept, reuse_topology=True)


def main():
    args = arguments(__doc__.partition(":")[0]).parse_args()
    warp.config.quiet = True
    warp.init()
    records = Records(args.json, "warp", warp.__version__, warp.get_cuda_device().name, None)
    for path in args.files:
        a = Blocks.read(path)
        truth = Truth(a, a.partner())
        for element in ELEMENTS:
            left = upload(a, element)
            right = left if truth.b is a else upload(truth.b, element)
            try:
                for variant, multiply in variants(left, right):
                    product, zeros = download(multiply())
                    fault = truth.fault(product, element)
                    runs = [] if fault else timed(multiply, args, warp.synchronize)
                    records.add(truth, variant, element, runs, fault, zero_blocks=zeros)
            except Exception as error:  # whatever Warp raises is its result here
                records.add(truth, "bsr_mm", element, reason=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    with warp.ScopedDevice("cuda:0"):
        main()
