"""Several views of one data set: found one after the other, or refined together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state

from ..alternate import cluster_embedding
from ..engines import as_engine
from ..engines.threads import single_threaded_blas
from ..evidence import attempt, significance, stability
from ..isaac import ISAAC
from ..kernels import as_kernel, with_bandwidth
from ..linalg import Array
from ..progress import announce
from ..results.measures import measure_quality, measure_separation
from ..results.summary import describe_selection
from ..results.view import View
from ..search import PLAN, Settings
from ..search.residual import GroupResidual, residual_scores
from ..solvers import as_solver
from ..together import refine_together
from ..validation import check_choice, check_count, check_data, check_labelings, check_real
from .alternative import KDAC
from .checkpoint import Checkpoint
from .closed_forms import EmbeddingKDAC, LinearKDAC

#: Fewer rows cannot be divided again in subsamples.
MIN_ROWS = 5


class ViewFinder(ClusterMixin, BaseEstimator):
    """Find several groupings of the same rows, each good and different from the others.

    Views are found one after the other, each avoiding what is given and all earlier views
    (KDAC 2014, section 6.3). ``strategy="simultaneous"`` then refines all of them together
    (mSC: each view avoids the kernel of every other).

    Parameters
    ----------
    n_views : int or "auto", default="auto"
        Number of views; "auto" stops when the next one is no better than chance.
    n_clusters : int, sequence of int or "auto", default="auto"
        Number of clusters: of all views, of each view, or chosen for each.
    strategy : {"iterative", "simultaneous"}, default="iterative"
        How views are found.
    method : {"kdac", "linear", "embedding", "isaac"}, default="kdac"
        :class:`KDAC`, one of its closed forms, or :class:`ISAAC`, which finds all views at once,
        chooses their number and that of their clusters by itself, and takes nothing as given.
    n_components, kernel, bandwidth, novelty_weight, n_starts : object
        As in :class:`KDAC`; only ``n_components`` and ``novelty_weight`` apply to "linear", and
        all but ``n_components`` and ``n_starts`` to "embedding", and none of them to "isaac".
    solver : str or Solver, default="ism"
        How the subspaces of "kdac" are found, one after the other and together; the other methods
        have no use for it.
    significance : float, default=0.05
        p-value beyond which "auto" stops.
    max_views : int, default=6
        Most views that "auto" looks for.
    n_refits : int, default=3
        Refits behind the stability of each view; 0 leaves it out.
    random_state : int, RandomState or None, default=None
        Seed.
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
    """

    def __init__(
        self,
        n_views: int | str = "auto",
        n_clusters: int | Sequence[int] | str = "auto",
        *,
        strategy: str = "iterative",
        method: str = "kdac",
        n_components: int | str = "auto",
        kernel: Any = "gaussian",
        bandwidth: float | str = "auto",
        novelty_weight: float | str = "auto",
        n_starts: int = 8,
        solver: Any = "ism",
        significance: float = 0.05,
        max_views: int = 6,
        n_refits: int = 3,
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
        self.significance = significance
        self.max_views = max_views
        self.n_refits = n_refits
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any = None, *, given: Any = None) -> ViewFinder:
        """Find the views.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Data, scaled as distances should count.
        y : ignored
            Present for the conventions of scikit-learn.
        given : array-like of shape (n,) or (n, m), list of labelings, or data frame, optional
            What is already known.

        Returns
        -------
        ViewFinder
            Itself.
        """
        X = check_data(self, X, min_rows=MIN_ROWS)
        limit = self._check()
        given_labels = check_labelings(given, X.shape[0])
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        saved = None if self.checkpoint is None else Checkpoint.of(self, X, given_labels)
        found = [] if saved is None else saved.load()
        if self.method == "isaac" and not found:
            found = self._independent_views(X, given_labels, seed)
        known = list(given_labels)
        views: list[View] = []
        self.rejected_ = None
        while len(views) < limit:
            position = len(views)
            if position == len(found):
                if self.method == "isaac":
                    break
                announce(self.verbose, "view", number=position + 1, most=limit)
                found.append(self._next_view(X, known, position, seed))
                if saved is not None:
                    saved.save(found)
            view = found[position]
            if self.method != "isaac" and self.n_views == "auto" and not self._believable(view):
                self.rejected_ = view
                break
            views.append(view)
            known.append(view.labels)
        if self.strategy == "simultaneous" and len(views) > 1:
            announce(self.verbose, "refine")
            views = self._refine_together(X, given_labels, views, seed)
        self.views_ = views
        self.n_views_ = len(views)
        n = X.shape[0]
        self.labelings_ = np.column_stack([v.labels for v in views] or [np.zeros((n, 0), np.intp)])
        self.labels_ = views[0].labels if views else np.zeros(n, dtype=np.intp)
        return self

    def _check(self) -> int:
        """Check the parameters and return the largest number of views."""
        check_choice("strategy", self.strategy, ["iterative", "simultaneous"])
        check_choice("method", self.method, [*METHODS, "isaac"])
        check_real("significance", self.significance)
        check_count("n_refits", self.n_refits, low=0)
        check_count("max_views", self.max_views, low=1)
        as_solver(self.solver)
        if self.strategy == "simultaneous" and self.method != "kdac":
            raise ValueError(
                f"strategy='simultaneous' refines subspaces of KDAC, not of method={self.method!r}"
            )
        if isinstance(self.n_views, str):
            check_choice("n_views", self.n_views, ["auto"])
            limit = self.max_views
        else:
            limit = check_count("n_views", self.n_views, low=1)
        if isinstance(self.n_clusters, str):
            check_choice("n_clusters", self.n_clusters, ["auto"])
        else:
            # A single group is a grouping that no further view could avoid.
            for k in np.atleast_1d(self.n_clusters).tolist():
                check_count("n_clusters", k, low=1 if self.n_views in (1, "auto") else 2)
        if np.ndim(self.n_clusters):
            count = len(self.n_clusters)  # type: ignore[arg-type]
            if count != limit and not isinstance(self.n_views, str):
                raise ValueError(
                    f"n_clusters has {count} entries for {limit} views: pass one of each, or one "
                    "number for all"
                )
            limit = min(count, limit)
        return limit

    def _independent_views(self, X: Any, given: list[Array], seed: int) -> list[View]:
        """Return the views of ISAAC, which finds all of them at once."""
        if given:
            raise ValueError(
                "method='isaac' finds all views at once and cannot avoid given labels: leave "
                "given out, or use method='kdac'"
            )
        if self.n_clusters != "auto":
            raise ValueError(
                f"n_clusters={self.n_clusters!r} but method='isaac' chooses the number of "
                "clusters itself: leave it at 'auto'"
            )
        model = ISAAC(random_state=seed, verbose=self.verbose).fit(X)
        views: list[View] = []
        for one in model.subspaces_[: model.n_views_]:
            settings = Settings(one.mixture.n_clusters, len(one.basis), None, None)
            found = _Found.make(X, one.mixture.labels, one.basis, 0.0, settings)
            quality = measure_quality(found.projection, found.labels)
            known = [view.labels for view in views]
            name = f"view {len(views) + 1}"
            view = self._describe(X, known, replace(found, quality=quality), name, seed)
            views.append(replace(view, code_length=one.mixture.cluster_bits))
        return views

    def _clusters_of(self, position: int) -> Any:
        """Return the number of clusters asked of a view."""
        if isinstance(self.n_clusters, str) or not np.ndim(self.n_clusters):
            return self.n_clusters
        return self.n_clusters[position]  # type: ignore[index]

    def _next_view(self, X: Any, known: list[Array], position: int, seed: int) -> View:
        k = self._clusters_of(position)
        found = METHODS[self.method](self, X, known, k, seed)
        view = self._describe(X, known, found, f"view {position + 1}", seed)
        asked = None if isinstance(k, str) else int(k)

        def chance(stable: float | None) -> float:
            if view.n_clusters == 1:  # any data can be put into one group
                return 1.0
            return significance(view.separation, *X.shape, asked, stability=stable)  # type: ignore[misc]

        if self.n_views == "auto" and chance(1.0) > self.significance:
            # No stability could save it, so none is measured.
            return replace(view, p_value=max(chance(None), chance(1.0)))
        stable, notes = attempt("Stability", lambda: self._stability(X, known, view, seed))
        notes = view.notes + notes
        return replace(view, stability=stable, p_value=chance(stable), notes=notes)

    def _stability(self, X: Any, known: list[Array], view: View, seed: int) -> float | None:
        if not self.n_refits or self.method != "kdac":
            return None
        announce(self.verbose, "stability")
        return stability(
            X,
            view.labels,
            view.settings,
            given=known,
            kernel=self.kernel,
            solver=self.solver,
            n_refits=self.n_refits,
            random_state=seed,
        )

    def _describe(self, X: Any, known: list[Array], found: _Found, name: str, seed: int) -> View:
        return View.of(
            X,
            found.labels,
            found.components,
            name=name,
            quality=found.quality,
            settings=found.settings,
            projection=found.projection,
            separation=found.separation,
            selection=found.selection,
            given=known,
            feature_names=getattr(self, "feature_names_in_", None),
            random_state=seed,
        )

    def _believable(self, view: View) -> bool:
        return view.p_value is not None and view.p_value <= self.significance

    def _refine_together(
        self, X: Any, given: list[Array], views: list[View], seed: int
    ) -> list[View]:
        kernel = as_kernel(self.kernel)
        with single_threaded_blas():
            solutions = refine_together(
                X,
                given,
                [view.components.T for view in views],
                [with_bandwidth(kernel, view.settings.bandwidth) for view in views],
                [view.n_clusters for view in views],
                as_solver(self.solver),
                as_engine("exact"),
                n_jobs=self.n_jobs,
            )
        refined: list[View] = []
        for view, solution in zip(views, solutions, strict=True):
            labels, _ = cluster_embedding(solution.embedding, n_init=10, seed=seed)
            refined.append(
                view.relabelled(
                    labels,
                    X,
                    given=given + [earlier.labels for earlier in refined],
                    components=solution.W.T,
                    quality=solution.quality,
                    settings=view.settings,
                    random_state=seed,
                )
            )
        return refined


@dataclass(frozen=True)
class _Found:
    """What a method found, in the terms that all methods share."""

    labels: Array
    components: Array
    projection: Array
    quality: float
    separation: float
    settings: Settings
    selection: dict[str, Any] | None = None

    @classmethod
    def make(
        cls, X: Any, labels: Array, components: Array, quality: float, settings: Settings
    ) -> _Found:
        mean = np.asarray(X.mean(axis=0)).ravel()
        projection = np.asarray(X @ components.T) - mean @ components.T
        labels = np.unique(labels, return_inverse=True)[1]
        return cls(
            labels,
            components,
            projection,
            quality,
            measure_separation(projection, labels),
            settings,
        )


def _fit_kdac(finder: ViewFinder, X: Any, known: list[Array], k: Any, seed: int) -> _Found:
    model = KDAC(
        n_clusters=k,
        n_components=finder.n_components,
        kernel=finder.kernel,
        bandwidth=finder.bandwidth,
        novelty_weight=finder.novelty_weight,
        n_starts=finder.n_starts,
        solver=finder.solver,
        random_state=seed,
        n_jobs=finder.n_jobs,
        verbose=finder.verbose,
    ).fit(X, given=known or None)
    settings = Settings(
        model.n_clusters_, model.n_components_, model.bandwidth_, model.novelty_weight_
    )
    found = _Found.make(X, model.labels_, model.components_, model.quality_, settings)
    if model.selection_ is None:
        return found
    found = replace(found, selection=describe_selection(model.selection_))
    # The null of the significance is that of the search, so it is told what the search saw: the
    # separation on its subsample, minus infinity where nothing new was found.
    chosen, rows = model.selection_.chosen, model.selection_.rows
    if not known or chosen.rejected:
        return replace(found, separation=chosen.separation)
    # A view that is independent of the known groups stays when their means are removed, gaps
    # between the groups themselves go; so both readings count.
    points = GroupResidual(found.projection[rows], [labels[rows] for labels in known])
    inside = points.columns(np.arange(found.projection.shape[1]))
    within = measure_separation(inside, np.unique(found.labels[rows], return_inverse=True)[1])
    return replace(found, separation=0.5 * (chosen.separation + min(chosen.separation, within)))


def _fit_linear(finder: ViewFinder, X: Any, known: list[Array], k: Any, seed: int) -> _Found:
    def fit(n_clusters: int) -> _Found:
        model = LinearKDAC(
            n_clusters,
            n_components=finder.n_components,
            novelty_weight=finder.novelty_weight,
            random_state=seed,
        ).fit(X, given=known or None)
        settings = Settings(n_clusters, model.n_components_, None, model.novelty_weight_)
        return _Found.make(X, model.labels_, model.components_, model.quality_, settings)

    return _best_over_clusters(fit, k, X.shape[0])


def _fit_embedding(finder: ViewFinder, X: Any, known: list[Array], k: Any, seed: int) -> _Found:
    # Without a subspace of its own, a view is judged where the given groups are removed.
    scores = residual_scores(X, known)

    def fit(n_clusters: int) -> _Found:
        model = EmbeddingKDAC(
            n_clusters,
            kernel=finder.kernel,
            bandwidth=finder.bandwidth,
            novelty_weight=finder.novelty_weight,
            random_state=seed,
            n_jobs=finder.n_jobs,
        ).fit(X, given=known or None)
        settings = Settings(n_clusters, None, model.bandwidth_, model.novelty_weight_)
        labels = np.unique(model.labels_, return_inverse=True)[1]
        none = np.zeros((0, X.shape[1]))
        return _Found(
            labels,
            none,
            model.embedding_,
            model.quality_,
            measure_separation(scores, labels),
            settings,
        )

    return _best_over_clusters(fit, k, X.shape[0])


def _best_over_clusters(fit: Callable[[int], _Found], k: Any, n_rows: int) -> _Found:
    if not isinstance(k, str):
        return fit(k)
    tried = [fit(n) for n in PLAN.clusters if 2 * n <= n_rows]
    return max(tried, key=lambda found: found.separation)


METHODS = {"kdac": _fit_kdac, "linear": _fit_linear, "embedding": _fit_embedding}
