"""Products of random matrices, beside SciPy's."""

from pathlib import Path

import blockmul
import numpy as np
import pytest
import scipy.sparse as sp
from matrices import (
    BLOCK_SIDES,
    DTYPES,
    FORMATS,
    INDEX_DTYPES,
    SIDES,
    STORAGES,
    block_of_right,
    check_form,
    check_values,
    cut,
    given,
    index_of_result,
    numbers,
    pattern,
    plain,
    product_pattern,
    real,
    scalar_pattern,
    snapshot,
)

# 40 groups of 50: a failure names the group, and the draw within it.
GROUPS, DRAWS = 40, 50


class Drawn:
    """Factors whose sides meet, their blocks not always, in any format, kind, type, order and storage."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        self.real = bool(rng.random() < 0.2)
        # One block for each of the sides m, k and n of A·B. Sometimes B has other blocks along k.
        self.blocks = [int(rng.choice(BLOCK_SIDES)) for _ in range(3)]
        self.inner_of_b = self.blocks[1] if rng.random() < 0.7 else int(rng.choice(BLOCK_SIDES))
        m, k, n = (int(rng.choice(SIDES)) for _ in range(3))
        self.sides = m * self.blocks[0], k * self.blocks[1] * self.inner_of_b, n * self.blocks[2]
        self.a = self.matrix(self.sides[:2], self.blocks[:2])
        self.b = self.matrix(self.sides[1:], (self.inner_of_b, self.blocks[2]))

    def matrix(self, shape, block):
        rng = self.rng
        form = str(rng.choice(FORMATS))
        matrix = plain(
            rng,
            form,
            shape,
            tuple(block) if form == "bsr" else (1, 1),
            array=bool(rng.random() < 0.5),
            dtype=DTYPES[rng.integers(2)],
            index=INDEX_DTYPES[rng.integers(2)],
            order=str(rng.choice(("sorted", "unsorted", "repeated"))),
            real=self.real,
        )
        return given(matrix, str(rng.choice(STORAGES)))

    def again(self, factor):
        """The same pattern with other values."""
        matrix = factor.plain.copy()
        matrix.data = numbers(self.rng, matrix.data.shape, matrix.dtype, self.real)
        return given(matrix)

    @property
    def dtype(self):
        return np.result_type(self.a.plain.dtype, self.b.plain.dtype)

    @property
    def block(self):
        a, b = self.a.plain, self.b.plain
        return (a.blocksize[0], block_of_right(a, b)[1]) if a.format == "bsr" else None

    def check(self, found, expected, a, b):
        a, b = a.toarray(), b.toarray()
        assert expected.dtype == self.dtype
        check_values(found, expected, np.abs(a) @ np.abs(b), not self.real)


def drawn(group, draws=DRAWS):
    for draw in range(draws):
        yield Drawn([group, draw])


@pytest.mark.parametrize("group", range(GROUPS))
def test_products_are_scipys(group, places):
    for draw, of in enumerate(drawn(group)):
        a, b = of.a.plain, of.b.plain
        place = places[-1] if draw % 10 == 0 else "host" if draw % 10 == 1 else None
        found = blockmul.multiply(of.a.stored, of.b.stored)
        expected = a @ b
        of.check(found.toarray(), expected.toarray(), a, b)
        check_form(found, a, expected.shape, expected.dtype, index_of_result(a, b), of.block)
        assert (pattern(found) == product_pattern(a, b)).all(), draw
        assert of.a.is_untouched() and of.b.is_untouched(), draw
        assert isinstance(found, sp.spmatrix) == isinstance(expected, sp.spmatrix)
        assert found.format == expected.format
        # An empty product of SciPy has 32 bits. Where it drops zeros, arbitrary indices beyond its last
        # entry decide on the type.
        if expected.nnz and expected.nnz == found.nnz:
            assert found.indices.dtype == expected.indices.dtype, draw


@pytest.mark.parametrize("group", range(100, 104))
def test_gram_is_scipys(group, places):
    for draw, of in enumerate(drawn(group)):
        a = of.a.plain
        part = ("full", "lower", "upper")[draw % 3]
        found = blockmul.gram(of.a.stored, part=part, device=places[-1] if draw % 10 == 0 else "host")
        block = (a.blocksize[1],) * 2 if a.format == "bsr" else None
        check_form(found, a, (a.shape[1],) * 2, a.dtype, index_of_result(a), block)
        places_of_a = pattern(a).astype(int)
        kept = places_of_a.T @ places_of_a > 0
        half = {"full": np.array, "lower": np.tril, "upper": np.triu}[part]
        assert (pattern(found) == half(kept)).all(), draw
        keep = np.kron(half(np.ones_like(kept)), np.ones(block or (1, 1), bool))
        dense = a.toarray()
        expected = (a.T @ a).toarray() * keep
        check_values(found.toarray(), expected, np.abs(dense).T @ np.abs(dense), not of.real)
        assert of.a.is_untouched()


@pytest.mark.parametrize("group", range(200, 204))
def test_masked_is_scipys_at_the_places_of_the_mask(group):
    for draw, of in enumerate(drawn(group)):
        a, b = of.a.plain, of.b.plain
        mask = of.matrix((of.sides[0], of.sides[2]), (of.blocks[0], of.blocks[2]))
        if draw % 5 == 0:
            mask = given(mask.plain.astype(np.int8))
        found = blockmul.masked(of.a.stored, of.b.stored, mask.stored)
        block = of.block
        check_form(found, a, (of.sides[0], of.sides[2]), of.dtype, index_of_result(a, b), block)
        kept = scalar_pattern(mask.plain)
        if block:
            kept = cut(kept, block)
        assert (pattern(found) == kept).all(), draw
        expected = (a @ b).toarray() * np.kron(kept, np.ones(block or (1, 1), of.dtype))
        of.check(found.toarray(), expected.astype(of.dtype), a, b)
        assert of.a.is_untouched() and of.b.is_untouched() and mask.is_untouched()


@pytest.mark.parametrize("group", range(300, 303))
def test_a_plan_multiplies_other_values(group):
    for draw, of in enumerate(drawn(group)):
        a, b = of.a.plain, of.b.plain
        if "coo" in (a.format, b.format) and of.real:
            continue
        plan = blockmul.Plan(of.a.stored, of.b.stored)
        first = plan.execute(of.a.stored, of.b.stored)
        kept = snapshot(first)
        for factors in ((of.a, of.b), (of.again(of.a), of.again(of.b))):
            found = plan.execute(*(factor.stored for factor in factors))
            left, right = (factor.plain for factor in factors)
            check_form(found, a, (of.sides[0], of.sides[2]), of.dtype, index_of_result(a, b), of.block)
            assert (pattern(found) == product_pattern(a, b)).all(), draw
            of.check(found.toarray(), (left @ right).toarray(), left, right)
            assert all(factor.is_untouched() for factor in factors)
        # A result owns its arrays.
        assert snapshot(first) == kept
        found.indices[:] = 0
        found.indptr[:] = 0
        assert (pattern(plan.execute(of.a.stored, of.b.stored)) == product_pattern(a, b)).all()


def dense_operands(rng, inner, dtype, real):
    """Operands with `inner` rows, in each order of storage."""
    square = numbers(rng, (inner, int(rng.integers(0, 5))), dtype, real)
    wide = numbers(rng, (2 * inner, 8), dtype, real)
    read_only = square.copy()
    read_only.flags.writeable = False
    return [
        square,
        np.asfortranarray(square),
        wide[::2, 1::3],
        wide[::-2, ::-1],
        read_only,
        numbers(rng, inner, dtype, real),
        wide[::2, 0],
        np.broadcast_to(numbers(rng, 1, dtype, real), (inner, 3)),
    ]


@pytest.mark.parametrize("group", range(400, 402))
def test_dense_operands_are_scipys(group):
    for draw, of in enumerate(drawn(group)):
        a = of.a.plain
        dtype = DTYPES[draw % 2]
        for d in dense_operands(of.rng, a.shape[1], dtype, of.real):
            before = snapshot(d)
            found = blockmul.multiply(of.a.stored, d)
            check_dense(found, a @ d, np.abs(a.toarray()) @ np.abs(d), of.real)
            assert snapshot(d) == before
        for d in dense_operands(of.rng, a.shape[0], dtype, of.real):
            d = d.T
            before = snapshot(d)
            found = blockmul.multiply(d, of.a.stored)
            check_dense(found, d @ a, np.abs(d) @ np.abs(a.toarray()), of.real)
            assert snapshot(d) == before
        assert of.a.is_untouched()


def check_dense(found, expected, magnitude, real):
    assert type(found) is np.ndarray
    # SciPy makes a number of a vector of one.
    expected = np.reshape(expected, found.shape) if np.ndim(expected) == 0 and found.shape == (1,) else expected
    assert found.shape == expected.shape and found.dtype == expected.dtype
    check_values(found, expected, magnitude, not real)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_dense_result_has_the_order_of_the_dense_operand():
    a = real((6, 5), 0.5, 1)
    assert blockmul.multiply(a, np.ones((5, 4))).flags.c_contiguous
    assert blockmul.multiply(a, np.ones((5, 4), order="F")).flags.f_contiguous
    assert blockmul.multiply(np.ones((4, 6), order="F"), a).flags.f_contiguous
    assert blockmul.multiply(a, np.asmatrix(np.ones((5, 2)))).shape == (6, 2)
    assert blockmul.multiply(a, [1.0] * 5).shape == (6,)


def test_sums_of_zero_stay_until_they_are_eliminated():
    a = sp.csr_array(np.array([[1.0, 1.0]]))
    b = sp.csr_array(np.array([[1.0], [-1.0]]))
    c = blockmul.multiply(a, b)
    assert c.nnz == 1 and c.data[0] == 0
    c.eliminate_zeros()
    assert c.nnz == (a @ b).nnz == 0


def test_nan_and_infinity_are_kept():
    a = sp.csr_array(np.array([[np.nan, 1.0], [np.inf, 0.0]]))
    for place in (None, "host"):
        np.testing.assert_array_equal(blockmul.multiply(a, a, device=place).toarray(), (a @ a).toarray())


def test_a_factor_may_appear_twice():
    a = real((20, 20), 0.2, 2)
    np.testing.assert_allclose(blockmul.multiply(a, a).toarray(), (a @ a).toarray())


def test_entries_beyond_the_last_row_are_ignored():
    a = sp.csr_array(np.diag([1.0, 2.0, 3.0]))
    longer = a.copy()
    longer.indices, longer.data = np.array([0, 1, 2, 77, -1], np.int32), np.arange(1.0, 6.0)
    np.testing.assert_array_equal(blockmul.multiply(longer, a).toarray(), (a @ a).toarray())


@pytest.mark.parametrize("index", [np.uint8, np.uint32, np.int16, np.uint64])
def test_other_integers_are_indices_too(index):
    a = sp.csr_array(np.diag([1.0, 2.0, 3.0]))
    other = a.copy()
    other.indices, other.indptr = a.indices.astype(index), a.indptr.astype(index)
    found = blockmul.multiply(other, a)
    np.testing.assert_array_equal(found.toarray(), (a @ a).toarray())
    assert found.indices.dtype == np.int64


def test_indices_of_two_types_are_taken():
    a = sp.csr_array(np.diag([1.0, 2.0, 3.0]))
    mixed = a.copy()
    mixed.indptr = a.indptr.astype(np.int64)
    found = blockmul.multiply(mixed, a)
    np.testing.assert_array_equal(found.toarray(), (a @ a).toarray())
    assert found.indices.dtype == np.int64


@pytest.mark.parametrize("made", [sp.csr_array, sp.csr_matrix])
def test_indices_widen_where_32_bits_do_not_suffice(made):
    across = 2**31 + 5
    a = sp.csr_array(np.array([[0.0, 2.0], [1.0, 0.0]]))
    a = made(a)
    b = sp.csr_array((2, 2))
    b.resize((2, across))
    b.indptr, b.indices = np.array([0, 1, 3]), np.array([7, 0, across - 1])
    b.data = np.array([1.0, 2.0, 3.0])
    b = made(b)
    c = blockmul.multiply(a, b)
    assert c.indices.dtype == c.indptr.dtype == np.int64
    assert c.indices.tolist() == [0, across - 1, 7] and c.data.tolist() == [4.0, 6.0, 1.0]


def test_a_thousand_products_keep_the_memory(places):
    """The resident memory stays within 1 %: products, plans, and refused arguments."""
    a, b = real((300, 300), 0.02, 1), real((300, 300), 0.02, 2)
    broken = b.copy()
    broken.indices = np.full_like(b.indices, 999)

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1])

    for place in places:
        plan = blockmul.Plan(a, b, device=place)

        def some(count, place=place, plan=plan):
            for _ in range(count):
                blockmul.multiply(a, b, device=place)
                plan.execute(a, b)
                with pytest.raises(blockmul.BadInput):
                    blockmul.multiply(a, broken, device=place)

        some(100)
        before = resident()
        some(1000)
        assert resident() < 1.01 * before
