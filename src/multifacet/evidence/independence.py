"""Whether a grouping has anything to do with what was given."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kernels import typical_distance
from ..linalg import Array
from ..problems import gaussian_factor, one_hot

#: Rows on which permutation tests are computed.
MAX_ROWS = 2000


class TestResult(NamedTuple):
    """A test statistic and its p-value.

    Attributes
    ----------
    statistic : float
        The statistic.
    p_value : float
        How often a statistic as large occurs under the null hypothesis.

    Examples
    --------
    >>> from multifacet.evidence import independence_test
    >>> result = independence_test([0, 0, 1, 1] * 10, [0, 1, 0, 1] * 10, random_state=0)
    >>> round(result.statistic, 6), result.p_value
    (0.0, 1.0)
    """

    statistic: float
    p_value: float


def independence_test(
    X: Any, labels: Any, *, n_permutations: int = 499, random_state: int | None = None
) -> TestResult:
    """Test whether data are independent of labels: HSIC under permutations of the rows.

    Parameters
    ----------
    X : array-like of shape (n,) or (n, d)
        Data, such as the rows projected on a view; a labeling if it is one-dimensional and not of
        floats.
    labels : array-like of shape (n,)
        Labels.
    n_permutations : int, default=499
        Number of permutations; the smallest p-value is 1 / (n_permutations + 1).
    random_state : int or None, default=None
        Seed.

    Returns
    -------
    TestResult
        HSIC and its p-value. Permuting rows is exact, so under independence a p-value below
        0.05 occurs in at most 5 % of data sets, whatever their distribution. For a subspace that
        was *chosen* to be independent of the labels the p-value errs towards independence.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.evidence import independence_test
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 3, 200)
    >>> independence_test(rng.normal(size=200) + labels, labels, random_state=0).p_value < 0.01
    True
    """
    values, codes = np.asarray(X), np.unique(np.asarray(labels), return_inverse=True)[1]
    if len(values) != len(codes) or values.ndim > 2 or not len(codes):
        raise ValueError(f"X has shape {values.shape} for {len(codes)} labels")
    rng = np.random.default_rng(random_state)
    rows = rng.permutation(len(codes))[:MAX_ROWS]
    factor = _centred_factor(values[rows])
    indicator = one_hot(codes[rows])
    observed = _hsic(factor, indicator)
    # Ties must count: with few distinct arrangements equality is common, and rounding breaks it.
    bound = observed - 1e-12 * abs(observed)
    extreme = sum(
        _hsic(factor, indicator[rng.permutation(len(rows))]) >= bound for _ in range(n_permutations)
    )
    return TestResult(observed, (1 + extreme) / (1 + n_permutations))


def _centred_factor(values: Array) -> Array:
    """Return F (n, r) with HKH = FF': indicators of labels, or a Gaussian kernel of data."""
    if values.ndim == 1 and values.dtype.kind != "f":
        factor = one_hot(np.unique(values, return_inverse=True)[1])
    else:
        points = np.asarray(values, dtype=float).reshape(len(values), -1)
        factor = gaussian_factor(points, typical_distance(points))
    return factor - factor.mean(axis=0)


def _hsic(factor: Array, indicator: Array) -> float:
    return float(((factor.T @ indicator) ** 2).sum() / (len(factor) - 1) ** 2)
