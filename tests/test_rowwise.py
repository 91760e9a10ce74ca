"""Functions of rows are the same in memory and in chunks, and one node for each of these."""

from __future__ import annotations

import numpy as np
import pytest

from multifacet.rowwise import by_rows

da = pytest.importorskip("dask.array", reason="needs the extra dask")
CHUNKS = (30, 0, 50, 20)
ROWS = np.random.default_rng(0).random((100, 5))


def chunked(values):
    return da.from_array(values, chunks=(CHUNKS, -1)[: values.ndim]).persist()


def beside(one, other, numbers):
    return np.hstack([one, other, numbers[:, None]])


def test_columns_of_different_numbers_beside_each_other():
    values = ROWS[:, :3], ROWS[:, :2], ROWS[:, 4]
    expected = by_rows(beside, *values, width=6)
    found = by_rows(beside, *map(chunked, values), width=6)
    assert found.chunks == (CHUNKS, (6,))
    assert (found.compute() == expected).all()
    mixed = by_rows(beside, values[0], chunked(values[1]), values[2], width=6)
    assert (mixed.compute() == expected).all()


@pytest.mark.parametrize(
    ("function", "shape", "dtype"),
    [
        (lambda one: one.argmax(axis=1), {}, np.intp),
        (lambda one: one[:, :1] * one, {"width": 5}, float),
    ],
)
def test_rows_become_numbers_or_rows(function, shape, dtype):
    found = by_rows(function, chunked(ROWS), **shape, dtype=dtype)
    assert found.dtype == dtype
    assert (found.compute() == function(ROWS)).all()


def test_numbers_become_rows():
    found = by_rows(np.ones_like, chunked(ROWS[:, 0]))
    wide = by_rows(lambda one: np.stack([one, one], axis=1), found, width=2)
    assert wide.compute().shape == (100, 2)


def test_functions_of_one_another_are_one_node():
    import dask

    rows, numbers = chunked(ROWS), chunked(ROWS[:, 0])
    scaled = by_rows(lambda one, by: one * by[:, None], rows, numbers, width=5)
    ended = by_rows(lambda one, end: one[:, :3] + end[:, None], scaled, numbers, width=3)
    (best,) = dask.optimize(ended)
    given = 2 * len(CHUNKS)
    assert len(dict(best.dask)) == given + len(CHUNKS)
    assert (best.compute() == (ROWS * ROWS[:, :1])[:, :3] + ROWS[:, :1]).all()
