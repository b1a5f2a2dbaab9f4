"""Times SciPy's product of block matrices (BSR) and of their scalar expansion (CSR), columns sorted, on one thread.

    pip install numpy scipy
    python benches/peers/scipy_bsr.py FILE.bsr ... [--json OUT.json] [--rounds N] [--patience SECONDS]
"""

import scipy
import scipy.sparse

from blocks import Blocks, Records, Truth, arguments, cpu, timed


def bsr(m):
    scalars = (m.nrows * m.shape[0], m.ncols * m.shape[1])
    return scipy.sparse.bsr_matrix((m.values, m.columns, m.offsets), shape=scalars)


def csr(m):
    expanded = bsr(m).tocsr()
    expanded.sort_indices()
    return expanded


def blocks(matrix):
    """Returns a result as `Blocks`; the blocks of a CSR matrix are 1x1."""
    height, width = getattr(matrix, "blocksize", (1, 1))
    values = matrix.data.reshape(-1, height, width)
    return Blocks("C", matrix.shape[1] // width, matrix.indptr, matrix.indices, values)


def main():
    args = arguments(__doc__.partition("\n")[0]).parse_args()
    records = Records(args.json, "scipy", scipy.__version__, cpu(), 1)
    for path in args.files:
        a = Blocks.read(path)
        truth = Truth(a, a.partner())
        formats = {"csr sorted": csr} if a.shape == (1, 1) else {"bsr sorted": bsr, "csr sorted": csr}
        for variant, convert in formats.items():
            left, right = convert(truth.a), convert(truth.b)

            def multiply():
                product = left @ right
                product.sort_indices()
                return product

            fault = truth.fault(blocks(multiply()), "f64")
            records.add(truth, variant, "f64", [] if fault else timed(multiply, args), fault)


if __name__ == "__main__":
    main()
