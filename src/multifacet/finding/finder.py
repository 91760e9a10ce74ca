"""Several views of one data set: found one after the other, or refined together."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from ..alternate import cluster_embedding
from ..engines import as_engine
from ..engines.base import LazyRows
from ..engines.cluster import on_cluster
from ..engines.threads import single_threaded_blas
from ..evidence import attempt
from ..fitting.rows import looked_at, on_rows
from ..kernels import as_kernel, with_bandwidth
from ..linalg import Array
from ..progress import Event, announce, as_callback
from ..results.checkpoint import Checkpoint
from ..results.found import Found
from ..results.view import View
from ..solvers import as_solver
from ..together import Part, refine_together
from ..validation import (
    check_choice,
    check_count,
    check_data,
    check_labelings,
    check_real,
    draw_seed,
)
from ..wording import Argument, ArgumentError
from .methods import Finding, Method, as_method
from .ongoing import Ongoing
from .options import check_clusters_asked, clusters_asked, refuse_idle_options
from .order import Order, Ordered, of_table

#: Fewer rows cannot be divided again in subsamples.
MIN_ROWS = 5
#: p-values by the stored laws between which a table's own twins are asked, and the fewest of them
#: that tell a spread.
DOUBT, FEWEST_TWINS = (0.01, 0.2), 5


class ViewFinder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Find several groupings of the same rows, each good and different from the others.

    Views are found one after the other, each avoiding what is given and all earlier views
    (KDAC 2014, section 6.3). ``strategy="simultaneous"`` then refines all of them together
    (mSC: each view avoids the kernel of every other).

    Parameters
    ----------
    n_views : int or "auto", default="auto"
        Number of views; "auto" stops when the next one is no better than chance.
    n_clusters : int, list of int, (int, int) or "auto", default="auto"
        Number of clusters: of all views, of each view (a list), or chosen for each: a tuple of two
        is the least and the most to choose from. Compact groups are looked for up to 50.
    strategy : {"iterative", "simultaneous"}, default="iterative"
        How views are found.
    method : {"auto", "kdac", "linear", "embedding", "isaac"}, Method or Source, default="auto"
        "auto" looks for groups of every kind (``View.kind``): curved ones with gaps, which
        :class:`KDAC` finds, overlapping ellipses, compact groups, and steps along a feature. The
        others are :class:`KDAC` alone, one of its closed forms, or :class:`ISAAC`, which finds all
        views at once, chooses their number and that of their clusters by itself, and takes nothing
        as given; or an object of your own, see :doc:`/contributing`.
    n_components, kernel, bandwidth, novelty_weight, n_starts, solver, engine : object
        As in :class:`KDAC`. If one of the first four is set, or views are refined together, "auto"
        is "kdac", which they are about. Of all of these, "linear" uses ``n_components`` and
        ``novelty_weight``, "embedding" ``kernel``, ``bandwidth``, ``novelty_weight`` and
        ``engine``, and "isaac" none.
        What a method does not use is refused unless it is left at its default.
    significance : float, default=0.05
        p-value beyond which "auto" stops.
    max_views : int, default=6
        Most views that "auto" looks for.
    n_refits : int, default=3
        Refits behind the stability of each view of "auto" and "kdac"; 0 leaves it out.
    n_twins : int, default=9
        Tables like this one without groups in which "auto" searches, where the p-value of a view
        by the stored laws leaves doubt; 0 leaves it at that, otherwise 5 at least.
    random_state : int, RandomState or None, default=None
        Seed. "auto" has its own: the same table gives the same views whatever the seed.
    n_jobs : int or None, default=None
        Threads; None uses all cores.
    verbose : int or callable, default=0
        Positive: progress on standard error. A callable receives progress as dicts.
    checkpoint : str, Path or None, default=None
        File that keeps the views found so far. If a fit is interrupted, the next one with the same
        data and parameters takes up what is there; with others it is an error. It needs a
        ``random_state``, and is not removed at the end.

    Attributes
    ----------
    views_ : list of View
        The views, in the order in which they were found.
    labelings_ : array of int of shape (n, n_views)
        Their labels.
    labels_ : array of int of shape (n,)
        Labels of the first view; zeros if there is none.
    rejected_ : View or None
        The view at which "auto" stopped.
    n_views_ : int
        Number of views.

    Examples
    --------
    >>> from multifacet import ViewFinder
    >>> from multifacet.datasets import make_gaussian_views
    >>> X, labelings = make_gaussian_views(200, [3, 2], rotate=False, random_state=0)
    >>> finder = ViewFinder(n_views=1, n_refits=0, random_state=0).fit(X, given=labelings[:, 1])
    >>> finder.views_[0].n_clusters
    3
    >>> finder.predict(X[:5]).shape, finder.transform(X[:5]).shape[0]
    ((5,), 5)
    """

    def __init__(
        self,
        n_views: int | str = "auto",
        n_clusters: int | Sequence[int] | str = "auto",
        *,
        strategy: str = "iterative",
        method: Any = "auto",
        n_components: int | str = "auto",
        kernel: Any = "gaussian",
        bandwidth: float | str = "auto",
        novelty_weight: float | str = "auto",
        n_starts: int = 8,
        solver: Any = "ism",
        engine: Any = "auto",
        significance: float = 0.05,
        max_views: int = 6,
        n_refits: int = 3,
        n_twins: int = 9,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: Any = 0,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.n_views = n_views
        self.n_clusters = n_clusters
        self.strategy = strategy
        self.method = method
        self.n_components = n_components
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.novelty_weight = novelty_weight
        self.n_starts = n_starts
        self.solver = solver
        self.engine = engine
        self.significance = significance
        self.max_views = max_views
        self.n_refits = n_refits
        self.n_twins = n_twins
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any = None, *, given: Any = None, client: Any = None) -> ViewFinder:
        """Find the views.

        Parameters
        ----------
        X : array-like, CSR matrix, dask array or dask data frame of shape (n, d)
            Data, scaled as distances should count. Views are found, and their evidence measured, in
            up to 20,000 rows that their content chooses; what they tell of places tells the labels
            of all others, those of dask collections when they are computed.
        y : ignored
            Present for the conventions of scikit-learn.
        given : array-like of shape (n,) or (n, m), list of labelings, or data frame, optional
            What is already known.
        client : distributed.Client or str, optional
            For dask collections, where they are computed, or the address of a scheduler; by
            default the current client, or threads.

        Returns
        -------
        ViewFinder
            Itself.
        """
        with on_cluster(client, X):
            return self._fit(X, given)

    def _fit(self, X: Any, given: Any) -> ViewFinder:
        X = check_data(self, X, min_rows=MIN_ROWS, lazy=True)
        method, limit = self._check()
        given_labels = check_labelings(given, X.shape[0])
        everything, (X, chosen) = X, looked_at(X)
        if chosen is not None:
            given_labels = [labels[chosen] for labels in given_labels]
        seed = draw_seed(self.random_state)
        saved = None if self.checkpoint is None else Checkpoint.of(self, X, given_labels)
        found = [] if saved is None else saved.load()
        finding = self._begin(method, X, given_labels, seed, chosen)
        known = list(given_labels)
        views: list[View] = []
        self.rejected_ = None
        while len(views) < limit:
            if len(views) == len(found):
                announce(self.verbose, "view", number=len(views) + 1, most=limit)
                view = self._next_view(X, method, finding, known, len(views), seed)
                if view is None:
                    break
                found.append(view)
                if saved is not None:
                    saved.save(found)
            view = found[len(views)]
            if method.has_chance and self.n_views == "auto" and not self._believable(view):
                self.rejected_ = view
                break
            views.append(view)
            known.append(view.labels)
        if self.strategy == "simultaneous" and len(views) > 1:
            announce(self.verbose, "refine")
            views = self._refine_together(X, given_labels, views, seed)
        if chosen is not None and not isinstance(everything, LazyRows):
            views = [view.told(everything, chosen) for view in views]
            if self.rejected_ is not None:
                self.rejected_ = self.rejected_.told(everything, chosen)
        self.views_ = views
        self.n_views_ = len(views)
        n = everything.shape[0]
        if isinstance(everything, LazyRows):
            self.labelings_ = on_rows(self, self._groups, everything, len(views), np.intp)
        else:
            none = np.zeros((n, 0), np.intp)
            self.labelings_ = np.column_stack([none, *(view.labels for view in views)])
        self.labels_ = self._first(self.labelings_)
        return self

    def begin(self, X: Any, *, given: Any = None) -> Ongoing:
        """Begin a search for views that are asked for one by one, each by what became of others.

        Parameters
        ----------
        X, given : object
            As in :meth:`fit`; parameters about the number of views are not used.

        Returns
        -------
        Ongoing
            What finds them; it keeps the candidates that it has seen.
        """
        X = check_data(self, X, min_rows=MIN_ROWS)
        method, _ = self._check()
        known = check_labelings(given, X.shape[0])
        seed = draw_seed(self.random_state)
        looked, chosen = looked_at(X)
        here = known if chosen is None else [labels[chosen] for labels in known]
        finding = self._begin(method, looked, here, seed, chosen)
        found: list[tuple[Array, Array]] = []  # labels of all rows, and as they were found

        def following(labelings: list[Array], position: int) -> View | None:
            announce(self.verbose, "view", number=position + 1, most=position + 1)
            if chosen is None:
                return self._next_view(X, method, finding, labelings, position, seed)
            as_found = [
                next((own for told, own in found if told is one), one[chosen]) for one in labelings
            ]
            view = self._next_view(looked, method, finding, as_found, position, seed)
            if view is None:
                return None
            told = view.told(X, chosen)
            found.append((told.labels, view.labels))
            return told

        return Ongoing(known, following)

    def transform(self, X: Any) -> Any:
        """Return where rows lie in all views, side by side.

        Parameters
        ----------
        X : array-like, CSR matrix, dask array or dask data frame of shape (m, d)
            Rows, old or new.

        Returns
        -------
        array of shape (m, q)
            Coordinates in the subspace of the first view, of the second, and so on, as
            :meth:`View.transform` returns them.
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False, lazy=True)
        return on_rows(self, self._places, X, self._n_features_out, X.dtype)

    def _places(self, X: Any) -> Array:
        none = np.zeros((X.shape[0], 0), dtype=X.dtype)
        return np.hstack([none, *(view.transform(X) for view in self.views_)])

    def predict(self, X: Any) -> Array:
        """Assign rows to the groups of the first view.

        Parameters
        ----------
        X : array-like, CSR matrix, dask array or dask data frame of shape (m, d)
            Rows, old or new.

        Returns
        -------
        array of int of shape (m,)
            Groups, as in ``labels_``; zeros if there is no view.
        """
        return self._first(self.predict_labelings(X))

    def predict_labelings(self, X: Any) -> Array:
        """Assign rows to the groups of every view.

        Parameters
        ----------
        X : array-like, CSR matrix, dask array or dask data frame of shape (m, d)
            Rows, old or new.

        Returns
        -------
        array of int of shape (m, n_views)
            Groups, as in ``labelings_``; see :meth:`View.predict`.
        """
        check_is_fitted(self)
        X = check_data(self, X, reset=False, lazy=True)
        return on_rows(self, self._groups, X, len(self.views_), np.intp)

    def _groups(self, X: Any) -> Array:
        none = np.zeros((X.shape[0], 0), dtype=np.intp)
        return np.column_stack([none, *(view.predict(X) for view in self.views_)])

    @staticmethod
    def _first(labelings: Any) -> Any:
        """Return the first of labelings (n, m); zeros if there is none."""
        return labelings[:, 0] if labelings.shape[1] else labelings.sum(axis=1)

    @property
    def _n_features_out(self) -> int:
        return sum(view.projection.shape[1] for view in self.views_)

    def _begin(
        self, method: Method, X: Any, given: list[Array], seed: int, chosen: Array | None
    ) -> Finding:
        """Return what finds the views in rows chosen from a table, whatever the order of these."""
        order = Order.of(X)

        def tell(event: Event) -> None:
            callback = as_callback(self.verbose)  # of whoever listens by then
            if callback is not None:
                callback(of_table(event, order, chosen))

        inside = copy(self)
        inside.verbose = tell
        if order is None:
            return method.begin(inside, X, given, seed)
        here = [order.labels(labels) for labels in given]
        return Ordered(method.begin(inside, order.apply(X), here, seed), order)

    def _check(self) -> tuple[Method, int]:
        """Check the parameters; return the method and the largest number of views."""
        check_choice("strategy", self.strategy, ["iterative", "simultaneous"])
        method = as_method(self.method)
        check_real("significance", self.significance)
        check_count("n_refits", self.n_refits, low=0)
        check_count("n_twins", self.n_twins, low=0 if self.n_twins == 0 else FEWEST_TWINS)
        check_count("max_views", self.max_views, low=1)
        as_solver(self.solver)
        as_engine(self.engine)
        refuse_idle_options(self, method, ViewFinder().get_params(deep=False))
        if self.strategy == "simultaneous" and not method.refinable:
            raise ArgumentError(
                Argument.of("strategy", "simultaneous"),
                " refines subspaces of KDAC, not of ",
                Argument.of("method", method.name),
            )
        if isinstance(self.n_views, str):
            check_choice("n_views", self.n_views, ["auto"])
            limit = self.max_views
        else:
            limit = check_count("n_views", self.n_views, low=1)
        return method, check_clusters_asked(self.n_clusters, self.n_views, limit, method)

    def _next_view(
        self, X: Any, method: Method, finding: Finding, known: list[Array], position: int, seed: int
    ) -> View | None:
        """Return the next view with its evidence, None if there is no further one."""
        asked = clusters_asked(self.n_clusters, position)
        found = finding.next(known, asked, position)
        if found is None:
            return None
        view = View.of(
            X,
            found,
            name=f"view {position + 1}",
            given=known,
            feature_names=getattr(self, "feature_names_in_", None),
            random_state=seed,
        )
        if not method.has_chance:
            return view

        def chance(stable: float | None) -> float:
            if view.n_clusters == 1:  # any data can be put into one group
                return 1.0
            # It is the best of as many tries as there are views so far (Bonferroni).
            return min(1.0, (position + 1) * finding.chance(view, asked, stable))

        if self.n_views == "auto" and chance(1.0) > max(self.significance, DOUBT[1]):
            # No stability could save it, so none is measured.
            return replace(view, p_value=max(chance(None), chance(1.0)))
        stable, notes = attempt("Stability", lambda: self._stability(view, finding, known))
        p_value = chance(stable)
        if self.n_twins and DOUBT[0] < p_value < DOUBT[1]:
            among, more = attempt("Twins", lambda: finding.chance_among_twins(view, known, asked))
            p_value = p_value if among is None else min(1.0, (position + 1) * among)
            notes += more
        return replace(view, stability=stable, p_value=p_value, notes=view.notes + notes)

    def _stability(self, view: View, finding: Finding, known: list[Array]) -> float | None:
        if not self.n_refits:
            return None
        announce(self.verbose, "stability")
        return finding.stability(view, known)

    def _believable(self, view: View) -> bool:
        return view.p_value is not None and view.p_value <= self.significance

    def _refine_together(
        self, X: Any, given: list[Array], views: list[View], seed: int
    ) -> list[View]:
        kernel, engine = as_kernel(self.kernel), as_engine(self.engine)
        with single_threaded_blas():
            parts = []
            for view in views:
                own = with_bandwidth(kernel, view.settings.bandwidth)
                W, k = view.components.T, view.n_clusters
                parts.append(Part.of(X, W, k, own, engine, self.n_jobs))
            solutions = refine_together(X, given, parts, as_solver(self.solver))
        refined: list[View] = []
        for view, solution in zip(views, solutions, strict=True):
            labels, _ = cluster_embedding(solution.embedding, n_init=10, seed=seed)
            found = Found(labels, solution.W.T, view.settings, quality=solution.quality)
            known = given + [earlier.labels for earlier in refined]
            refined.append(view.replaced(found, X, given=known, random_state=seed))
        return refined
