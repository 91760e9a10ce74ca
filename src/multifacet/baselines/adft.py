"""ADFT: learn the metric of the given clustering, then invert its stretch."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ..linalg import Array
from ..problems import one_hot
from ..validation import check_choice, check_clusters
from .base import Rival, centred, cluster_means

#: Share of the mean within-cluster variance that is added to it, so that it can be inverted.
RIDGE = 1e-6
#: Singular values of the metric below this share of the largest are raised to it.
SMALLEST_STRETCH = 1e-3
#: Most steps, and the relative rise at which to stop, of the metric from pairs.
MAX_STEPS, ENOUGH = 300, 1e-8


class ADFT(Rival):
    """Alternative distance function transformation: the inverse of the given labels' metric.

    A linear map D that makes the given clustering easy is learned; with D = U S V', rows are
    mapped by U S^-1 V' and clustered by k-means (Davidson and Qi 2008). It takes one given
    labeling, and more rows than features; without given labels the result is plain k-means.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters to find.
    metric : {"fisher", "pairs"}, default="fisher"
        How D is learned. "fisher": whiten the within-cluster covariance and stretch by the
        between-cluster one, D = (I + T B T)^(1/2) T with T = W^(-1/2); closed form, our choice.
        "pairs": weights of the features that maximise the distances between clusters while the
        squared distances inside sum to one (the diagonal form of Xing et al. 2003, which the
        paper uses).
    n_init : int, default=10
        Runs of k-means.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    labels_ : array of int of shape (n,)
        Cluster of each row.
    metric_ : array of shape (d, d)
        D, over the features that vary; the identity if nothing is given.
    transform_ : array of shape (d, d)
        The map with the same singular vectors and inverse singular values: rows x become
        ``transform_ @ x``.

    Examples
    --------
    >>> from multifacet.baselines import ADFT
    >>> from multifacet.datasets import make_gaussian_views
    >>> from multifacet.metrics import nmi
    >>> X, labelings = make_gaussian_views(200, [2, 2], random_state=0)
    >>> model = ADFT(random_state=0).fit(X, given=labelings[:, 0])
    >>> round(nmi(model.labels_, labelings[:, 1]), 2)
    1.0
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        metric: str = "fisher",
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.n_init = n_init
        self.random_state = random_state

    def find_groups(self, X: Array, labelings: list[Array]) -> None:
        """Check the parameters and set the labels."""
        k = check_clusters(self.n_clusters, X)
        metric = check_choice("metric", self.metric, ["fisher", "pairs"])
        n, d = X.shape
        if len(labelings) > 1:
            raise ValueError(
                f"given has {len(labelings)} labelings and ADFT inverts the metric of one: pass "
                "one of them"
            )
        if labelings and n <= d:
            raise ValueError(
                f"X has {d} features for {n} rows, so no metric can be learned: reduce the "
                "features first, for example by PCA"
            )
        X = centred(X)
        self.metric_ = np.eye(d)
        if labelings:
            learn = _fisher_metric if metric == "fisher" else _pair_metric
            self.metric_ = learn(X, labelings[0])
        self.transform_ = _inverse_stretch(self.metric_)
        self.labels_ = self.kmeans(X @ self.transform_.T, k)


def _inverse_stretch(D: Array) -> Array:
    """Return U S^-1 V' of D = U S V'."""
    left, singular, right = np.linalg.svd(D)
    return (left / np.maximum(singular, SMALLEST_STRETCH * singular[0])) @ right


def _fisher_metric(X: Array, labels: Array) -> Array:
    """Return D = (I + T B T)^(1/2) T for centred X (n, d), with W within and B between."""
    n, d = X.shape
    members = one_hot(labels)
    between = members @ cluster_means(X, members)
    within = X - between
    W, B = within.T @ within / n, between.T @ between / n
    T = _symmetric_power(W + RIDGE * max(np.trace(W), RIDGE * np.trace(B)) / d * np.eye(d), -0.5)
    return _symmetric_power(np.eye(d) + T @ B @ T, 0.5) @ T


def _symmetric_power(A: Array, power: float) -> Array:
    values, vectors = np.linalg.eigh(A)
    return (vectors * values**power) @ vectors.T


def _pair_metric(X: Array, labels: Array) -> Array:
    """Return the diagonal D of the largest sum of distances between clusters.

    With b_f the share of feature f in the constraint, the sum over pairs of
    sqrt(sum_f b_f c_pf) is concave on the simplex. By the Cauchy-Schwarz inequality it is at
    least sum_f sqrt(b_f b_f^old) G_f with G_f = sum_p c_pf / sqrt(sum_g b_g^old c_pg), and equal
    to it at b^old; the maximum of this bound is b_f ~ b_f^old G_f^2. So the sum never falls, and
    there is no step to choose.
    """
    apart = labels[:, None] != labels
    inside = _squared_differences(X, ~apart)
    if inside.min() <= 0:
        raise ValueError(
            "a feature of X is constant inside every given cluster, so its weight has no bound: "
            "use metric='fisher'"
        )
    shares = np.full(X.shape[1], 1 / X.shape[1])
    before = 0.0
    for _ in range(MAX_STEPS):
        distances = cdist(X * np.sqrt(shares / inside), X * np.sqrt(shares / inside))
        total = float(distances[apart].sum())
        if total <= before * (1 + ENOUGH):
            break
        before = total
        pull = np.where(apart & (distances > 0), 1 / np.where(distances > 0, distances, 1), 0.0)
        shares = shares * (_squared_differences(X, pull) / inside) ** 2
        shares /= shares.sum()
    return np.diag(np.sqrt(shares / inside))


def _squared_differences(X: Array, P: Array) -> Array:
    """Return sum_ij P_ij (x_if - x_jf)^2 for every feature f, with symmetric P (n, n)."""
    P = P.astype(float)
    return 2 * ((X**2 * P.sum(axis=1)[:, None]).sum(axis=0) - (X * (P @ X)).sum(axis=0))
