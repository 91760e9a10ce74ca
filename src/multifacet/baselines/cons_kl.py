"""cons-KL: a linear map that pulls rows towards the clusters they do not belong to."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..linalg import Array
from ..validation import check_clusters, check_real
from .base import Rival, centred

#: Share of the mean diagonal that is added to S, so that it can be inverted.
RIDGE = 1e-6


class ConsKL(Rival):
    """Constrained minimal distortion of the data, then k-means.

    Among all linear maps that bring rows close to the means of the clusters they do *not* belong
    to, the one that keeps the distribution of the data as far as possible has the closed form
    D = S^(-1/2) (Qi and Davidson 2009) with

        S = 1/n sum_i sum_{j: i not in C_j} (x_i - m_j)(x_i - m_j)' .

    Several given labelings add up their S (KDAC 2014, section 6.3). The trade-off of the paper is
    the exponent of S here, D = S^(-novelty / 2), which is our choice. There must be more rows than
    features; without given labels the result is plain k-means.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters to find.
    novelty : float, default=1.0
        0 leaves the data as they are, 1 is the published closed form, more is more aggressive.
    n_init : int, default=10
        Runs of k-means.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    labels_ : array of int of shape (n,)
        Cluster of each row.
    transform_ : array of shape (d, d)
        D, symmetric, over the features that vary; the identity if nothing is given.

    Examples
    --------
    >>> from multifacet.baselines import ConsKL
    >>> from multifacet.datasets import make_gaussian_views
    >>> from multifacet.metrics import nmi
    >>> X, labelings = make_gaussian_views(200, [2, 2], random_state=0)
    >>> model = ConsKL(random_state=0).fit(X, given=labelings[:, 0])
    >>> round(nmi(model.labels_, labelings[:, 1]), 2)
    1.0
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        novelty: float = 1.0,
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.novelty = novelty
        self.n_init = n_init
        self.random_state = random_state

    def find_groups(self, X: Array, labelings: list[Array]) -> None:
        """Check the parameters and set the labels."""
        k = check_clusters(self.n_clusters, X)
        novelty = check_real("novelty", self.novelty, positive=False)
        n, d = X.shape
        if labelings and n <= d:
            raise ValueError(
                f"X has {d} features for {n} rows, so S^(-1/2) would make all rows equally far "
                "apart: reduce the features first, for example by PCA"
            )
        X = centred(X)
        S = sum((_foreign_scatter(X, labels) for labels in labelings), np.zeros((d, d)))
        self.transform_ = _inverse_power(S, novelty / 2) if labelings else np.eye(d)
        self.labels_ = self.kmeans(X @ self.transform_, k)


def _foreign_scatter(X: Array, labels: Array) -> Array:
    """Return S (d, d) of one labeling."""
    S = np.zeros((X.shape[1], X.shape[1]))
    for c in np.unique(labels):
        inside = labels == c
        away = X[~inside] - X[inside].mean(axis=0)
        S += away.T @ away / len(X)
    return S


def _inverse_power(S: Array, power: float) -> Array:
    """Return the symmetric S^(-power), with a ridge against singular S."""
    values, vectors = np.linalg.eigh(S + RIDGE * np.trace(S) / len(S) * np.eye(len(S)))
    return (vectors * values**-power) @ vectors.T
