"""Makes the matrices that the peers and `blockmul bench` are timed on, as files NAME.bsr. Needs NumPy alone.

    python benches/peers/inputs.py FOLDER [--shrink N] [--list] [NAME | SET ...]

The same files on every machine: patterns from seeded generators, values small positive integers, so
that sums are exact in f64 and f32 and no entry cancels. Sets are gpu, cpu, sizes, apply-gpu and
apply-cpu; without names: all. `--shrink N` makes the matrices N times smaller, for tests. `--list`
prints their names, and makes nothing. `blockmul generate` makes other data: this script also runs
without blockmul, for libraries that are timed alone.

A file holds `BSR1` as an i64, block rows, block columns, blocks, height and width of a block (i64),
offsets and columns (i32), then the values (f64), blocks row-major. A square matrix is multiplied by
itself, and a matrix that is not square by its transpose.
"""

import argparse
import pathlib

import numpy as np

MAGIC = 0x42535231
LARGEST_VALUE = 8
SHRINK = 1


def comparison(files, metavar, shrunk, shrink=int):
    """The parser of a program that compares blockmul with a peer, for `files` or for generated ones, which --shrink makes smaller."""
    parser = argparse.ArgumentParser()
    parser.add_argument("blockmul")
    parser.add_argument(files, nargs="*", metavar=metavar)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--shrink", type=shrink, default=1, help=f"make {shrunk} N times smaller")
    parser.add_argument("--rounds", type=int, default=5)
    return parser


def pattern(rows, cols, nrows, ncols):
    """Returns offsets and columns of the given places, each place once."""
    keys = np.unique(np.asarray(rows, np.int64) * ncols + cols)
    rows, cols = np.divmod(keys, ncols)
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=nrows))]), cols, ncols


def uniform(n, per_row, seed):
    """Erdős–Rényi: `per_row` places drawn in each row."""
    random = np.random.default_rng(seed)
    n //= SHRINK
    return pattern(np.repeat(np.arange(n), per_row), random.integers(0, n, n * per_row), n, n)


def rmat(scale, per_row, seed):
    """A graph with a skewed distribution of degrees (Chakrabarti, Zhan, Faloutsos 2004), its vertices renumbered."""
    random = np.random.default_rng(seed)
    scale -= (SHRINK - 1).bit_length()
    n = 1 << scale
    row, col = np.zeros((2, n * per_row), np.int64)
    for _ in range(scale):
        quadrant = np.searchsorted([0.57, 0.76, 0.95], random.random(n * per_row), side="right")
        row, col = 2 * row + quadrant // 2, 2 * col + quadrant % 2
    names = random.permutation(n)
    return pattern(names[row], names[col], n, n)


def stencil(side, dimensions, diagonals):
    """A grid, in which neighbours differ by one along an axis or, with `diagonals`, along several
    axes."""
    side = max(2, round(side / SHRINK ** (1 / dimensions)))
    places = np.indices((side,) * dimensions).reshape(dimensions, -1)
    rows, cols = [], []
    for step in np.ndindex((3,) * dimensions):
        step = np.array(step) - 1
        if not diagonals and abs(step).sum() > 1:
            continue
        there = places + step[:, None]
        inside = ((there >= 0) & (there < side)).all(axis=0)
        rows.append(np.flatnonzero(inside))
        cols.append(np.ravel_multi_index(tuple(there[:, inside]), (side,) * dimensions))
    n = side**dimensions
    return pattern(np.concatenate(rows), np.concatenate(cols), n, n)


def normal_equations(n, one, other):
    """The pattern of poses and of the edges between them, in both directions."""
    all_poses = np.arange(n)
    return pattern(np.concatenate([all_poses, one, other]), np.concatenate([all_poses, other, one]), n, n)


def trajectory(n, closures, seed):
    """A chain of poses; `closures` n loops to poses near a twentieth of the way around."""
    random = np.random.default_rng(seed)
    n //= SHRINK
    count = int(n * closures)
    start = random.integers(0, n, count)
    end = np.clip(start + np.rint(random.normal(0, n / 20, count)).astype(np.int64), 0, n - 1)
    chain = np.arange(n - 1)
    return normal_equations(n, np.concatenate([chain, start]), np.concatenate([chain + 1, end]))


def walk(n, side, seed):
    """A robot that walks a torus of `side` x `side` cells and closes loops with up to two earlier poses from the cells around."""
    random = np.random.default_rng(seed)
    n //= SHRINK
    at, heading, seen, edges = (0, 0), 0, {}, set()
    for pose in range(n):
        if pose:
            if random.random() < 0.2:
                heading = (heading + random.choice([1, 3])) % 4
            step = [(1, 0), (0, 1), (-1, 0), (0, -1)][heading]
            at = ((at[0] + step[0]) % side, (at[1] + step[1]) % side)
            edges.add((pose - 1, pose))
        around = [((at[0] + x) % side, (at[1] + y) % side) for x in (-1, 0, 1) for y in (-1, 0, 1)]
        earlier = [other for cell in around for other in seen.get(cell, []) if pose - other > 10]
        if earlier:
            edges.update((int(other), pose) for other in random.choice(earlier, min(2, len(earlier)), replace=False))
        seen.setdefault(at, []).append(pose)
    one, other = np.array(sorted(edges)).T
    return normal_equations(n, one, other)


def observations(cameras, points, views, seed):
    """Cameras x points; a point is seen from `views` cameras about a random one."""
    random = np.random.default_rng(seed)
    points //= SHRINK
    point = np.repeat(np.arange(points), views)
    camera = np.repeat(random.integers(0, cameras, points), views)
    camera += np.rint(random.normal(0, 8, points * views)).astype(np.int64)
    return pattern(np.clip(camera, 0, cameras - 1), point, cameras, points)


def ring(cameras, points, seed):
    """Cameras in a ring x points, seen from 2 to 12 of the cameras about a random one."""
    random = np.random.default_rng(seed)
    points //= SHRINK
    views = np.clip(random.poisson(5, points), 2, 12)
    point = np.repeat(np.arange(points), views)
    first = np.cumsum(views) - views
    aside = random.integers(-8, 9, len(point))
    aside[first], aside[first + 1] = 0, 1
    return pattern((np.repeat(random.integers(0, cameras, points), views) + aside) % cameras, point, cameras, points)


def elements(nodes, per_node, spread, seed):
    """Elements of nodes with nearby numbers and three unknowns each, as scalars: an element couples
    all unknowns of its nodes."""
    random = np.random.default_rng(seed)
    nodes //= SHRINK
    row = np.repeat(np.arange(nodes), per_node)
    col = row + np.rint(random.normal(0, spread, nodes * per_node)).astype(np.int64)
    col[::per_node] = np.arange(nodes)
    offsets, col, _ = pattern(row, np.clip(col, 0, nodes - 1), nodes, nodes)
    row = np.repeat(np.arange(nodes), np.diff(offsets))
    unknown, other = np.divmod(np.arange(9), 3)
    return pattern((3 * row[:, None] + unknown).ravel(), (3 * col[:, None] + other).ravel(), 3 * nodes, 3 * nodes)


# Pattern and shape of a block.
GPU = {
    "blk2_er": (lambda: uniform(250_000, 8, 1), (2, 2)),
    "blk3_er": (lambda: uniform(110_000, 8, 1), (3, 3)),
    "blk4_er": (lambda: uniform(62_500, 8, 1), (4, 4)),
    "blk6_er": (lambda: uniform(27_000, 8, 1), (6, 6)),
    "blk8_er": (lambda: uniform(16_000, 8, 1), (8, 8)),
    "pose3_200k": (lambda: trajectory(200_000, 0.6, 5), (3, 3)),
    "pose6_100k": (lambda: trajectory(100_000, 0.6, 5), (6, 6)),
    "blk3_rmat14": (lambda: rmat(14, 8, 2), (3, 3)),
    "blk6_rmat13": (lambda: rmat(13, 6, 2), (6, 6)),
    "ba_W_6x3": (lambda: observations(1500, 150_000, 6, 6), (6, 3)),
    "er1m_d8": (lambda: uniform(1_000_000, 8, 1), (1, 1)),
}
CPU = {
    "poisson500": (lambda: stencil(500, 2, diagonals=False), (1, 1)),
    "er100k": (lambda: uniform(100_000, 8, 1), (1, 1)),
    "rmat15": (lambda: rmat(15, 8, 2), (1, 1)),
    "fem27_40": (lambda: stencil(40, 3, diagonals=True), (1, 1)),
    **{f"er10k_b{b}": (lambda: uniform(10_000, 8, 7), (b, b)) for b in (1, 2, 3, 4, 6, 8)},
    **{f"rmat12_b{b}": (lambda: rmat(12, 8, 8), (b, b)) for b in (1, 2, 3, 4, 6, 8)},
    "pose6_10k": (lambda: walk(10_000, 80, 5), (6, 6)),
    "schur_W_6x3": (lambda: ring(200, 20_000, 4), (6, 3)),
}

# Products of a thousand to a billion elements, of random graphs and of stencils in space.
SIZES = {
    f"{name}_{mantissa}e{exponent}": (made, (1, 1))
    for exponent in range(3, 10)
    for mantissa in ((1, 3) if exponent < 9 else (1,))
    for products in (mantissa * 10**exponent,)
    for name, made in {
        "er": lambda products=products: uniform(products // 64, 8, 1),
        "st27": lambda products=products: stencil(max(3, round((products / 729) ** (1 / 3) + 1)), 3, diagonals=True),
    }.items()
}

# Further matrices that are multiplied by vectors.
VECTORS = {
    "poisson5_2000": (lambda: stencil(2000, 2, diagonals=False), (1, 1)),
    "st27_100": (lambda: stencil(100, 3, diagonals=True), (1, 1)),
    "fem200k_60": (lambda: elements(66_667, 20, 1500 / 9, 3), (1, 1)),
    "rmat18_e8": (lambda: rmat(18, 8, 2), (1, 1)),
    "blk6_1gb": (lambda: uniform(460_000, 8, 1), (6, 6)),
    "poisson5_1000": (lambda: stencil(1000, 2, diagonals=False), (1, 1)),
    "st27_60": (lambda: stencil(60, 3, diagonals=True), (1, 1)),
    "rmat18_e16": (lambda: rmat(18, 16, 2), (1, 1)),
}

SETS = {
    "gpu": [*GPU],
    "cpu": [*CPU],
    "sizes": [*SIZES],
    "apply-gpu": [
        *("er1m_d8", "poisson5_2000", "st27_100", "fem200k_60", "rmat18_e8"),
        *("blk3_er", "pose3_200k", "pose6_100k", "blk6_1gb"),
    ],
    "apply-cpu": ["poisson5_1000", "st27_60", "rmat18_e16", "er1m_d8", "pose6_10k"],
}


def write(path, offsets, columns, ncols, shape):
    values = np.random.default_rng(9).integers(1, LARGEST_VALUE, len(columns) * shape[0] * shape[1], np.int8, endpoint=True)
    with open(path, "wb") as file:
        np.array([MAGIC, len(offsets) - 1, ncols, len(columns), *shape], np.int64).tofile(file)
        offsets.astype(np.int32).tofile(file)
        columns.astype(np.int32).tofile(file)
        values.astype(np.float64).tofile(file)
    print(f"{path.name:<16} {len(offsets) - 1} x {ncols} blocks of {shape[0]}x{shape[1]}, {len(columns)} of them", flush=True)


def main():
    global SHRINK
    every = GPU | CPU | SIZES | VECTORS
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*SETS, *every]))
    parser.add_argument("--shrink", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    args = parser.parse_intermixed_args()
    names = [one for name in args.names or every for one in SETS.get(name, [name])]
    if args.list:
        print(*names, sep="\n")
        return
    SHRINK = args.shrink
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        if name not in every:
            parser.error(f"no matrix {name!r}")
        made, shape = every[name]
        write(args.folder / f"{name}.bsr", *made(), shape)


if __name__ == "__main__":
    main()
