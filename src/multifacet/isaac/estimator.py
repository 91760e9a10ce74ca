"""ISAAC: the independent subspaces of a data set, and the clusters in each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from ..engines.threads import single_threaded_blas
from ..linalg import Array, orthonormalise
from ..progress import announce
from ..validation import check_choice, check_count, check_data, draw_seed, say_constant
from .mixture import Mixture, choose_clusters, fit_mixtures
from .published import published_clusters, published_subspaces
from .search import find_subspaces

#: Fewest rows: a bandwidth and a covariance must be told from them.
MIN_ROWS = 10


@dataclass(frozen=True)
class Subspace:
    """One independent subspace and its clusters.

    Attributes
    ----------
    members : array of int of shape (b,)
        Its columns in the output of ``transform``.
    basis : array of shape (b, d)
        Orthonormal basis in the features: all that the clusters depend on.
    feature_weights : array of shape (d,)
        Share of each feature in the basis; they sum to one.
    mixture : Mixture
        Its clusters; a single one says that there is no structure.
    single_bits : float
        Bits that a single cluster costs; those of the clusters are ``mixture.cluster_bits``.
    """

    members: Array
    basis: Array = field(repr=False)
    feature_weights: Array = field(repr=False)
    mixture: Mixture
    single_bits: float

    @property
    def saved_bits(self) -> float:
        """Bits that clusters save beside a single one; 0 without structure."""
        return self.single_bits - self.mixture.cluster_bits


class ISAAC(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Find independent subspaces and the clusters in each, all numbers by shortest description.

    The data are taken for a linear mixture of independent subspaces. Independent components are
    found and merged into subspaces as long as that shortens the description of the data; in each
    subspace a Gaussian mixture is fitted whose number of clusters makes its description shortest
    (Ye, Maurus, Hubig and Plant 2016).

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Leading principal components, of scaled features, that are kept before anything else.
        "auto" keeps all of them, up to a tenth of the number of rows; of more, those that stand
        out of the noise, if they are most of the variance.
    faithful : bool, default=False
        Whether to follow the paper and its program in everything, to compare with them. It finds
        less: see the guide to ISAAC for what differs and why.
    random_state : int, RandomState or None, default=None
        Seed.
    verbose : int or callable, default=0
        Positive: progress on standard error. A callable receives progress as dicts.

    Attributes
    ----------
    subspaces_ : list of Subspace
        The subspaces, those whose clusters save the most bits first. Subspaces without structure,
        which have one cluster, come last.
    labelings_ : array of int of shape (n, n_subspaces)
        Clusters of each row in each subspace.
    labels_ : array of int of shape (n,)
        Those of the first subspace.
    n_clusters_ : list of int
        Number of clusters of each subspace.
    n_views_ : int
        Number of subspaces with more than one cluster.
    coding_cost_ : float
        Bits of the data under the partition into subspaces.
    cost_path_ : list of (tuple of int, float)
        Dimensions and bits of the partitions that were tried, in order.
    components_ : array of shape (m, d)
        Demixing matrix: ``transform(X)`` is ``(X - mean_) @ components_.T``.
    mean_ : array of shape (d,)
        Means of the features.

    Examples
    --------
    >>> from multifacet import ISAAC
    >>> from multifacet.datasets import make_gaussian_views
    >>> X, labelings = make_gaussian_views(400, [3, 5], random_state=1)
    >>> model = ISAAC(random_state=0).fit(X)
    >>> [(len(one.members), one.mixture.n_clusters) for one in model.subspaces_]
    [(2, 5), (2, 3)]
    """

    def __init__(
        self,
        *,
        n_components: int | str = "auto",
        faithful: bool = False,
        random_state: Any = None,
        verbose: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.faithful = faithful
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> ISAAC:
        """Find the subspaces and their clusters.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Data, in any scale. Sparse data are refused: centred they would be dense.
        y : ignored
            Present for the conventions of scikit-learn.

        Returns
        -------
        ISAAC
            Itself.
        """
        X = self._checked(X)
        varying = self._varying(X)
        seed = draw_seed(self.random_state)
        with single_threaded_blas():
            announce(self.verbose, "components")
            most = self._most_components(int(varying.sum()))
            search = published_subspaces if self.faithful else find_subspaces
            found, partition = search(
                X[:, varying],
                n_components=most,
                seed=seed,
                report=lambda **details: announce(self.verbose, "merge", **details),
            )
            demixing = np.zeros((len(found.demixing), X.shape[1]))
            demixing[:, varying] = found.demixing
            subspaces = []
            for number, group in enumerate(partition.groups, start=1):
                announce(self.verbose, "clusters", number=number, most=len(partition.groups))
                mixtures = fit_mixtures(found.sources[:, group], seed=seed)
                if self.faithful:
                    mixtures = published_clusters(found.sources[:, group], mixtures)
                subspaces.append(_describe(group, demixing[group], mixtures))
        self.coding_cost_ = partition.cost
        self.cost_path_ = partition.path
        self.mean_ = X.mean(axis=0)
        self._store(subspaces, demixing)
        return self

    def _store(self, subspaces: list[Subspace], demixing: Array) -> None:
        """Set the attributes, with subspaces in order of the bits that their clusters save."""
        subspaces.sort(key=lambda one: -one.saved_bits)
        order = np.concatenate([one.members for one in subspaces])
        edges = np.cumsum([0] + [len(one.members) for one in subspaces])
        self.subspaces_ = [
            Subspace(
                np.arange(begin, end), one.basis, one.feature_weights, one.mixture, one.single_bits
            )
            for one, begin, end in zip(subspaces, edges, edges[1:], strict=False)
        ]
        self.components_ = demixing[order]
        self.labelings_ = np.column_stack([one.mixture.labels for one in self.subspaces_])
        self.labels_ = self.labelings_[:, 0].copy()
        self.n_clusters_ = [one.mixture.n_clusters for one in self.subspaces_]
        self.n_views_ = sum(k > 1 for k in self.n_clusters_)

    def _checked(self, X: Any, *, reset: bool = True) -> Array:
        if issparse(X):
            raise TypeError("X is sparse, its components are not: pass a dense array, X.toarray()")
        return check_data(self, X, reset=reset, min_rows=MIN_ROWS).astype(float)

    def _varying(self, X: Array) -> Array:
        """Return which features are not constant, and say which are."""
        spread = X.std(axis=0)
        # A constant column may differ from its rounded mean in the last digits.
        varying = spread > 1e-12 * np.abs(X).max(axis=0)
        if not varying.any():
            raise ValueError("all rows of X are identical: there is nothing to separate")
        say_constant(self, varying)
        return varying

    def _most_components(self, n_features: int) -> int | None:
        if isinstance(self.n_components, str):
            check_choice("n_components", self.n_components, ["auto"])
            return None
        why = f": X has {n_features} features that vary"
        return check_count("n_components", self.n_components, low=1, high=n_features, why=why)

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def transform(self, X: Any) -> Any:
        """Return the independent components of rows, in the order of the subspaces.

        Parameters
        ----------
        X : array-like of shape (r, d)
            Rows, old or new.

        Returns
        -------
        array of shape (r, m)
            Components; ``subspaces_[j].members`` are the columns of subspace j.
        """
        check_is_fitted(self)
        return (self._checked(X, reset=False) - self.mean_) @ self.components_.T

    def predict(self, X: Any) -> Array:
        """Assign rows to the clusters of the first subspace.

        Parameters
        ----------
        X : array-like of shape (r, d)
            Rows, old or new.

        Returns
        -------
        array of int of shape (r,)
            Index of the cluster, as in ``labels_``.
        """
        return self.predict_labelings(X)[:, 0]

    def predict_labelings(self, X: Any) -> Array:
        """Assign rows to the clusters of every subspace.

        Parameters
        ----------
        X : array-like of shape (r, d)
            Rows, old or new.

        Returns
        -------
        array of int of shape (r, n_subspaces)
            Indices of the clusters, as in ``labelings_``.
        """
        check_is_fitted(self)
        sources = (self._checked(X, reset=False) - self.mean_) @ self.components_.T
        return np.column_stack(
            [one.mixture.predict(sources[:, one.members]) for one in self.subspaces_]
        )


def _describe(members: Array, demixing: Array, mixtures: list[Mixture]) -> Subspace:
    """Return a subspace with its clusters, given its rows of the demixing matrix."""
    basis = orthonormalise(demixing.T).T
    weights = (basis**2).sum(axis=0) / len(basis)
    return Subspace(members, basis, weights, choose_clusters(mixtures), mixtures[0].cluster_bits)
