"""Times the products of one iteration of a nonlinear least-squares solver: those of a bundle adjustment's normal equations and their Schur
complement, those of a pose graph's. SciPy on one thread, or CuPy (cuSPARSE) on a GPU. Columns are sorted.

    python benches/peers/iteration.py bundle-adjustment Jc.bsr Jp.bsr [--write FOLDER] ...
    python benches/peers/iteration.py pose-graph J.bsr Omega.bsr ...
    python benches/peers/iteration.py sum RECORDS.json ...

    [--library cupy] [--name NAME] [--damping LAMBDA] [--json OUT.json] [--rounds N] [--patience SECONDS]

The files are those of `blockmul hessian FILE --write Jc=Jc.bsr`, their layout that of inputs.py. A
product is a formula, in which ' means the transpose. Transposition is timed, because the values of
a Jacobian are new in every iteration. K is the block-diagonal L^-T of V + LAMBDA diag(V) = L·L',
and is made before the clock starts. If U, W and V are in the folder of Jc, they are compared with
the results of their formulas. `--write` writes every factor, for programs that compute formulas but
not K. `sum` adds the time of a whole iteration to the records of such programs: the sum of the
medians, in which a product that a variant lacks has the time of the library's fastest variant.
"""

import argparse
import dataclasses
import json
import pathlib
import re

import numpy as np
import scipy
import scipy.sparse

from blocks import UNSORTED, Blocks, Records, Truth, arguments, cpu, timed
from scipy_bsr import blocks, bsr, csr

FORMULAS = {
    "bundle-adjustment": ["U=Jc'*Jc", "W=Jc'*Jp", "V=Jp'*Jp", "Z=W*K", "S=U-Z*Z'"],
    "pose-graph": ["H=J'*Omega*J"],
}
FILES = {"bundle-adjustment": ["Jc", "Jp"], "pose-graph": ["J", "Omega"]}


@dataclasses.dataclass
class Formula:
    """name = left·right, or left·middle·right, or minuend - left·right; a factor is a name and whether it is transposed."""

    name: str
    minuend: str | None
    left: tuple
    middle: str | None
    right: tuple

    @classmethod
    def parse(cls, text):
        found = re.fullmatch(r"(\w+)=(?:(\w+)-)?(\w+)('?)\*(?:(\w+)\*)?(\w+)('?)", text)
        name, minuend, left, of_left, middle, right, of_right = found.groups()
        return cls(name, minuend, (left, bool(of_left)), middle, (right, bool(of_right)))

    def truth(self, known, problem):
        left, right = (known[name].transposed() if turned else known[name] for name, turned in (self.left, self.right))
        left = dataclasses.replace(left, name=f"{problem} {self.name}")
        return Truth(left, right, known.get(self.middle), known.get(self.minuend))

    def evaluate(self, held, library):
        """The formula with matrices of a library."""
        left, right = (library.transposed(held[name]) if turned else held[name] for name, turned in (self.left, self.right))
        if self.middle:
            right = held[self.middle] @ right
        product = library.ordered(left @ right)
        return library.ordered(held[self.minuend] - product) if self.minuend else product


class SciPy:
    name, version, threads, sorts = "scipy", scipy.__version__, 1, True
    formats = {"bsr sorted": bsr, "csr sorted": csr}
    device = staticmethod(cpu)

    @staticmethod
    def transposed(matrix):
        return matrix.T.tocsr() if matrix.format == "csr" else matrix.T

    @staticmethod
    def ordered(matrix):
        matrix.sort_indices()
        return matrix

    @staticmethod
    def downloaded(matrix):
        return blocks(matrix)

    @staticmethod
    def finish():
        pass


class CuPy:
    """Evaluates formulas with cupyx.scipy.sparse; the clock stops when the device is idle. Products
    are sorted if an earlier one was not."""

    name, threads, sorts = "cupy", None, False

    def __init__(self):
        import cupy
        import cupyx.scipy.sparse

        self.cupy, self.version = cupy, cupy.__version__
        self.formats = {"csr sorted": lambda m: cupyx.scipy.sparse.csr_matrix(csr(m))}
        self.finish = cupy.cuda.Device().synchronize

    def device(self):
        name = self.cupy.cuda.runtime.getDeviceProperties(self.cupy.cuda.Device().id)["name"]
        return name.decode() if isinstance(name, bytes) else str(name)

    @staticmethod
    def transposed(matrix):
        return matrix.T.tocsr()

    def ordered(self, matrix):
        if self.sorts:
            matrix.sort_indices()
        return matrix

    @staticmethod
    def downloaded(matrix):
        return blocks(matrix.get())


def factor(v, damping):
    """K = L^-T of the damped V, block by block."""
    values = v.values.copy()
    side = np.arange(v.shape[0])
    values[:, side, side] *= 1 + damping
    values = np.linalg.inv(np.linalg.cholesky(values)).transpose(0, 2, 1)
    return dataclasses.replace(v, name="K", values=np.ascontiguousarray(values))


def work_out(formulas, known, problem, damping):
    """Returns the expected value of each formula, and adds the value that SciPy computes on blocks,
    which is checked, to the known matrices."""
    truths = {}
    for formula in formulas:
        truth = truths[formula.name] = formula.truth(known, problem)
        value = blocks(formula.evaluate({name: bsr(m) for name, m in known.items()}, SciPy))
        if fault := truth.fault(value, "f64"):
            raise SystemExit(f"{truth.a.name}: {fault}")
        known[formula.name] = dataclasses.replace(value, name=formula.name)
        if formula.name == "V":
            known["K"] = factor(known["V"], damping)
    return truths


def compare(truths, folder):
    """Checks that the results of a solver, if they are in the folder of its Jacobian, are those of
    the formulas."""
    for name in ("U", "W", "V"):
        path = folder / f"{name}.bsr"
        if name in truths and path.exists() and (fault := truths[name].fault(Blocks.read(path), "f64")):
            raise SystemExit(f"{path}: not what its formula gives: {fault}")


def with_sum(results):
    """Records of one problem and library, and then for each variant one of all products: the sum of their medians."""
    problem = results[0]["matrix"].rpartition(" ")[0]
    names = list(dict.fromkeys(record["matrix"] for record in results))
    right = [record for record in results if record["verified"]]
    sums = []
    for variant, threads in dict.fromkeys((record["variant"], record["threads"]) for record in results):
        parts = []
        for name in names:
            found = [record for record in right if (record["matrix"], record["threads"]) == (name, threads)]
            own = [record for record in found if record["variant"] == variant]
            parts += [min(own or found, key=lambda record: record["ms"])] if found else []
        whole = {key: results[0][key] for key in ("library", "version", "device")} | {"variant": variant, "threads": threads}
        whole |= {"matrix": f"{problem} all", "element": "f64", "verified": len(parts) == len(names)}
        whole |= {key: sum(record[key] for record in parts) for key in ("products", "c_nnz", "flops")}
        if whole["verified"]:
            ms = sum(record["ms"] for record in parts)
            whole |= {"parts": [record["variant"] for record in parts], "ms": ms, "gflops": whole["flops"] / ms / 1e6}
        else:
            whole["reason"] = "a product is wrong in all variants"
        sums.append(whole)
    return results + sums


def add_sums(path):
    """Adds the sums to a file of records; sums of an earlier call are replaced."""
    file = json.loads(path.read_text())
    problems = {}
    for record in file["results"]:
        problem, _, name = record["matrix"].rpartition(" ")
        if name != "all":
            problems.setdefault(problem, []).append(record)
    file["results"] = [record for results in problems.values() for record in with_sum(results)]
    path.write_text(json.dumps(file, indent=1))


def measure(args):
    known = {name: dataclasses.replace(Blocks.read(path), name=name) for name, path in zip(FILES[args.problem], args.files, strict=True)}
    formulas = [Formula.parse(text) for text in FORMULAS[args.problem]]
    truths = work_out(formulas, known, args.name or args.files[0].resolve().parent.name, args.damping)
    compare(truths, args.files[0].parent)
    if args.write:
        args.write.mkdir(parents=True, exist_ok=True)
        for name, matrix in known.items():
            matrix.write(args.write / f"{name}.bsr")
    library = CuPy() if args.library == "cupy" else SciPy()
    records = Records(args.json, library.name, library.version, library.device(), library.threads)
    for variant, convert in library.formats.items():
        held = {name: convert(matrix) for name, matrix in known.items()}
        for formula in formulas:
            truth = truths[formula.name]

            def fault_of_value():
                value = library.downloaded(formula.evaluate(held, library))
                return truth.fault(value, "f64", drops_zeros=value.shape == (1, 1))

            try:
                fault = fault_of_value()
                if fault == UNSORTED and not library.sorts:
                    library.sorts = True
                    fault = fault_of_value()
                runs = [] if fault else timed(lambda: formula.evaluate(held, library), args, library.finish)
            except Exception as error:  # a library's own refusal is a result
                fault, runs = f"{type(error).__name__}: {error}", []
            records.add(truth, variant, "f64", runs, fault)
    if args.json:
        add_sums(args.json)


def main():
    parser = arguments(__doc__.partition("\n\n")[0])
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--library", choices=["scipy", "cupy"], default="scipy")
    parser.add_argument("--name", help="the problem's name in the records (that of the first file's folder)")
    parser.add_argument("--damping", type=float, default=1e-4, metavar="LAMBDA", help="what V is damped with (1e-4)")
    parser.add_argument("--write", type=pathlib.Path, metavar="FOLDER", help="where every factor is written")
    args = parser.parse_intermixed_args()
    args.problem, args.files = str(args.files[0]), args.files[1:]
    if args.problem == "sum":
        for path in args.files:
            add_sums(path)
    elif args.problem not in FORMULAS or len(args.files) != len(FILES[args.problem]):
        parser.error("bundle-adjustment Jc.bsr Jp.bsr, pose-graph J.bsr Omega.bsr, or sum RECORDS.json ...")
    else:
        measure(args)


if __name__ == "__main__":
    main()
