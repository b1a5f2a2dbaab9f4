"""Schur complements beside dense algebra."""

import blockmul
import numpy as np
import pytest
import scipy.sparse as sp
from matrices import snapshot


def equations(cameras=7, points=40, block=(6, 3), seed=1, dtype=np.float64):
    """U, W and V of random rows of a Jacobian, in BSR, and the right-hand sides."""
    rng = np.random.default_rng(seed)
    rows, (c, p) = 5 * points, block

    def derivatives(seen, many, side):
        values = rng.standard_normal((rows, 2, side))
        return sp.bsr_array((values, seen, np.arange(rows + 1)), shape=(2 * rows, side * many))

    of_c = derivatives(rng.integers(cameras, size=rows), cameras, c)
    of_p = derivatives(np.tile(np.arange(points), 5), points, p)
    u, w, v = (of_c.T @ of_c).tobsr((c, c)), (of_c.T @ of_p).tobsr((c, p)), (of_p.T @ of_p).tobsr((p, p))
    u, v = u + sp.eye_array(c * cameras).tobsr((c, c)), v + sp.eye_array(p * points).tobsr((p, p))
    b = rng.standard_normal(c * cameras), rng.standard_normal(p * points)
    return [matrix.tobsr().astype(dtype) for matrix in (u.tobsr((c, c)), w, v.tobsr((p, p)))] + [
        each.astype(dtype) for each in b
    ]


def dense(u, w, v, b_u, b_v):
    by_v = np.linalg.solve(v.toarray(), np.column_stack([w.toarray().T, b_v]))
    return u.toarray() - w.toarray() @ by_v[:, :-1], b_u - w.toarray() @ by_v[:, -1]


@pytest.mark.parametrize("block", [(6, 3), (9, 3), (1, 1), (2, 5)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_s_and_the_solution_are_those_of_dense_algebra(places, block, dtype):
    u, w, v, b_u, b_v = equations(block=block, dtype=dtype)
    wanted, right = dense(u, w, v, b_u, b_v)
    near = {"rtol": 1e-9, "atol": 1e-9} if dtype == np.float64 else {"rtol": 1e-3, "atol": 1e-3}
    found = []
    for place in places:
        reduced = blockmul.schur(u, w, v, b_u, b_v, device=place)
        assert (type(reduced.s), reduced.s.dtype, reduced.s.blocksize) == (sp.bsr_array, dtype, (block[0],) * 2)
        np.testing.assert_allclose(reduced.s.toarray(), wanted, **near)
        np.testing.assert_allclose(reduced.rhs, right, **near)
        x_u = np.linalg.solve(reduced.s.toarray(), reduced.rhs)
        x_v = reduced.back_substitute(x_u)
        np.testing.assert_allclose(w.T @ x_u + v @ x_v, b_v, **near)
        np.testing.assert_allclose(u @ x_u + w @ x_v, b_u, rtol=near["rtol"], atol=20 * near["atol"])
        assert blockmul.report()["method"] == "schur"
        found.append([reduced.s.data.tobytes(), reduced.rhs.tobytes(), x_v.tobytes()])
    assert all(each == found[0] for each in found), "the same bits everywhere"


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_the_result_has_the_format_of_u(form, kind):
    u, w, v, b_u, b_v = equations(block=(1, 1))
    u = u.asformat(form) if kind == "array" else getattr(sp, f"{form}_matrix")(u.asformat(form))
    reduced = blockmul.schur(u, w.tocsr(), v.tocsc(), b_u, b_v)
    wanted = "csr" if form == "coo" else form
    assert type(reduced.s) is getattr(sp, f"{wanted}_{kind}")
    np.testing.assert_allclose(reduced.s.toarray(), dense(u, w, v, b_u, b_v)[0], atol=1e-10)


def test_triangles(places):
    u, w, v, b_u, b_v = equations()
    lower = np.kron(np.tril(np.ones((7, 7))), np.ones((6, 6)))
    of_u = sp.bsr_array(u.toarray() * lower, blocksize=(6, 6))
    for place in places:
        whole = blockmul.schur(u, w, v, b_u, b_v, device=place)
        half = blockmul.schur(of_u, w, v, b_u, b_v, part="lower", device=place)
        np.testing.assert_array_equal(half.s.toarray(), whole.s.toarray() * lower)
        assert half.s.nnz < whole.s.nnz


@pytest.mark.parametrize("kind", ["marquardt", "levenberg"])
def test_damping(kind):
    u, w, v, b_u, b_v = equations()

    def by(m):
        return sp.diags_array(0.5 * (m.diagonal() if kind == "marquardt" else np.ones(m.shape[0])))

    wanted = dense(u + by(u), w, v + by(v), b_u, b_v)[0]
    damped = blockmul.schur(u, w, v, b_u, b_v, damping=0.5, damping_kind=kind)
    np.testing.assert_allclose(damped.s.toarray(), wanted, rtol=1e-9, atol=1e-9)


def test_what_does_not_fit_is_refused(places):
    u, w, v, b_u, b_v = equations()
    before = [snapshot(each) for each in (u, w, v)] + [b_u.copy(), b_v.copy()]
    cases = [
        ((w, w, v, b_u, b_v), {}, "u: is 42x120"),
        ((u, w, u, b_u, b_v), {}, "v: is 42x42"),
        ((u, w, v, b_v, b_v), {}, "b_u: has 120 numbers, 42 expected"),
        ((u, w, v, b_u, b_v[:-1]), {}, "b_v: has 119 numbers, 120 expected"),
        ((u, w, v, b_u.reshape(2, 21), b_v), {}, "b_u: has 2 dimensions"),
        ((u, w, v, b_u, b_v), {"damping": -1.0}, "damping: -1.0"),
        ((u, w, v, b_u, b_v), {"damping": np.nan}, "damping: nan"),
        ((u, w, v, b_u, b_v), {"damping_kind": "tikhonov"}, "damping_kind"),
        ((u, w, v, b_u, b_v), {"part": "upper"}, "part"),
    ]
    for arguments, options, words in cases:
        with pytest.raises(blockmul.BadInput, match=words):
            blockmul.schur(*arguments, **options)
    with pytest.raises(TypeError, match="damping: '1' is not a number"):
        blockmul.schur(u, w, v, b_u, b_v, damping="1")
    with pytest.raises(TypeError, match="b_u"):
        blockmul.schur(u, w, v, b_u.astype(int), b_v)
    full = (v + 0.01 * sp.bsr_array(np.ones(v.shape), blocksize=(3, 3))).tobsr((3, 3))
    singular = v.copy()
    singular.data[4] = 0
    for place in places:
        with pytest.raises(blockmul.BadInput, match="exactly its 40 diagonal blocks|V"):
            blockmul.schur(u, w, full, b_u, b_v, device=place)
        with pytest.raises(blockmul.BadInput, match="block 4 of V") as raised:
            blockmul.schur(u, w, singular, b_u, b_v, device=place)
        assert raised.value.numbers == {"matrix": "V, damped,", "block": 4}
        reduced = blockmul.schur(u, w, v, b_u, b_v, device=place)
        with pytest.raises(blockmul.BadInput, match="x: has 3 numbers, 42 expected"):
            reduced.back_substitute(np.ones(3))
    assert [snapshot(each) for each in (u, w, v)] == before[:3]
    np.testing.assert_array_equal(np.concatenate([b_u, b_v]), np.concatenate(before[3:]))
