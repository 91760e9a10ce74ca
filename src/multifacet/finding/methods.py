"""How one view after the other is found: the methods of :class:`ViewFinder`, and what each uses.

A method is an object that says which options of the finder it uses; :meth:`Method.begin` looks at
the data once, and returns what finds the views. Adding one takes a subclass of :class:`Method`,
which can be passed as ``method=``; a source of candidates (:class:`multifacet.search.Source`) can
be passed as well.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..documents import SelectionDict
from ..estimators.alternative import KDAC
from ..estimators.closed_forms import EmbeddingKDAC, LinearKDAC
from ..evidence import stability
from ..isaac import ISAAC
from ..linalg import Array
from ..progress import as_callback
from ..results.measures import quality_of, separation_of
from ..results.summary import describe_selection
from ..results.view import View
from ..search import PLAN, Sample, Settings, Source, select
from ..search.residual import GroupResidual, residual_scores
from ..validation import check_count

if TYPE_CHECKING:
    from .finder import ViewFinder


@dataclass(frozen=True)
class Found:
    """A view as a method found it, in the terms that all methods share.

    Attributes
    ----------
    labels : array of int of shape (n,)
        Groups, numbered from 0 without gaps.
    components : array of shape (q, d)
        Orthonormal basis of the subspace; no rows if there is none.
    projection : array of shape (n, q)
        The rows in the subspace, or wherever they are to be looked at.
    quality : float
        Cluster quality CQ.
    separation : float
        How well the groups are separated, on the scale of the search.
    settings : Settings
        Settings at which it was found.
    selection : dict or None
        How they were chosen.
    code_length : float or None
        Bits that describe the rows by their groups.
    """

    labels: Array
    components: Array
    projection: Array
    quality: float
    separation: float
    settings: Settings
    selection: SelectionDict | None = None
    code_length: float | None = None

    @classmethod
    def make(
        cls, X: Any, labels: Array, components: Array, quality: float, settings: Settings
    ) -> Found:
        """Judge groups (n,) of the rows of X (n, d) in a subspace."""
        mean = np.asarray(X.mean(axis=0)).ravel()
        projection = np.asarray(X @ components.T) - mean @ components.T
        labels = np.unique(labels, return_inverse=True)[1]
        judged = separation_of(projection, labels)
        return cls(labels, components, projection, quality, judged, settings)


class Finding(ABC):
    """Finds the views of one table, one after the other."""

    @abstractmethod
    def next(self, known: Sequence[Array], n_clusters: int | None, position: int) -> Found | None:
        """Return a view beside all that is known, or None if there is no further one.

        Parameters
        ----------
        known : sequence of arrays of shape (n,)
            What was given, and the views found before.
        n_clusters : int or None
            Number of groups; None is to be chosen.
        position : int
            How many views were found before.
        """

    def stability(self, view: View, known: Sequence[Array]) -> float | None:
        """Return how far other rows tell the same, if the method can tell."""
        return None


class Method(ABC):
    """A way to find views.

    Attributes
    ----------
    name : str
        What users call it.
    uses : frozenset of str
        Options of :class:`ViewFinder` that it uses, of those that not every method does; others
        are refused unless they are left at their defaults.
    has_chance : bool
        Whether what chance gives is known, so that ``n_views="auto"`` can stop by it.
    has_frontier : bool
        Whether its first view has a frontier of quality against novelty.
    refinable : bool
        Whether its views can be refined together.
    """

    name: str
    uses: ClassVar[frozenset[str]] = frozenset()
    has_chance: ClassVar[bool] = True
    has_frontier: ClassVar[bool] = False
    refinable: ClassVar[bool] = False

    @abstractmethod
    def begin(self, finder: ViewFinder, X: Any, given: Sequence[Array], seed: int) -> Finding:
        """Look at the data (n, d) and what is given, and return what finds the views."""


class KernelMethod(Method):
    """:class:`KDAC` with all that is open chosen by its search."""

    name = "kdac"
    uses = frozenset(
        {"n_components", "kernel", "bandwidth", "novelty_weight", "n_starts", "solver", "engine"}
        | {"n_refits"}
    )
    has_frontier = True
    refinable = True

    def begin(self, finder: ViewFinder, X: Any, given: Sequence[Array], seed: int) -> Finding:
        """Return what fits KDAC again and again."""
        return _KernelFinding(finder, X, seed)


class _KernelFinding(Finding):
    def __init__(self, finder: ViewFinder, X: Any, seed: int) -> None:
        self._finder, self._X, self._seed = finder, X, seed

    def next(self, known: Sequence[Array], n_clusters: int | None, position: int) -> Found | None:
        finder = self._finder
        model = KDAC(
            n_clusters="auto" if n_clusters is None else n_clusters,
            n_components=finder.n_components,
            kernel=finder.kernel,
            bandwidth=finder.bandwidth,
            novelty_weight=finder.novelty_weight,
            n_starts=finder.n_starts,
            solver=finder.solver,
            engine=finder.engine,
            random_state=self._seed,
            n_jobs=finder.n_jobs,
            verbose=finder.verbose,
        ).fit(self._X, given=list(known) or None)
        settings = Settings(
            model.n_clusters_, model.n_components_, model.bandwidth_, model.novelty_weight_
        )
        found = Found.make(self._X, model.labels_, model.components_, model.quality_, settings)
        chosen = model.selection_
        if chosen is None:
            return found
        found = replace(found, selection=describe_selection(chosen))
        # The null of the significance is that of the search, so it is told what the search saw: the
        # separation on its subsample, minus infinity where nothing new was found.
        judged = chosen.chosen.separation
        if known and not chosen.chosen.rejected:
            judged = 0.5 * (judged + min(judged, _separation_within(found, known, chosen.rows)))
        return replace(found, separation=judged)

    def stability(self, view: View, known: Sequence[Array]) -> float | None:
        return stability(
            self._X,
            view.labels,
            view.settings,
            given=known,
            kernel=self._finder.kernel,
            solver=self._finder.solver,
            n_refits=self._finder.n_refits,
            random_state=self._seed,
        )


def _separation_within(found: Found, known: Sequence[Array], rows: Array) -> float:
    """Return the separation of groups when the means of the known groups are removed.

    A view that is independent of the known groups stays then, gaps between the groups themselves
    go; so both readings count.
    """
    points = GroupResidual(found.projection[rows], [labels[rows] for labels in known])
    inside = points.columns(np.arange(found.projection.shape[1]))
    return separation_of(inside, found.labels[rows])


class LinearMethod(Method):
    """:class:`LinearKDAC`: compact groups in a linear subspace, in closed form."""

    name = "linear"
    uses = frozenset({"n_components", "novelty_weight"})

    def begin(self, finder: ViewFinder, X: Any, given: Sequence[Array], seed: int) -> Finding:
        """Return what solves the closed form."""
        return _ClosedFinding(partial(self._fit, finder, X, seed), X.shape[0])

    @staticmethod
    def _fit(finder: ViewFinder, X: Any, seed: int, known: Sequence[Array], k: int) -> Found:
        model = LinearKDAC(
            k,
            n_components=finder.n_components,
            novelty_weight=finder.novelty_weight,
            random_state=seed,
        ).fit(X, given=list(known) or None)
        settings = Settings(k, model.n_components_, None, model.novelty_weight_)
        return Found.make(X, model.labels_, model.components_, model.quality_, settings)


class EmbeddingMethod(Method):
    """:class:`EmbeddingKDAC`: groups of any shape on all features, in closed form."""

    name = "embedding"
    uses = frozenset({"kernel", "bandwidth", "novelty_weight", "engine"})

    def begin(self, finder: ViewFinder, X: Any, given: Sequence[Array], seed: int) -> Finding:
        """Return what solves the closed form."""
        return _ClosedFinding(partial(self._fit, finder, X, seed), X.shape[0])

    @staticmethod
    def _fit(finder: ViewFinder, X: Any, seed: int, known: Sequence[Array], k: int) -> Found:
        model = EmbeddingKDAC(
            k,
            kernel=finder.kernel,
            bandwidth=finder.bandwidth,
            novelty_weight=finder.novelty_weight,
            engine=finder.engine,
            random_state=seed,
            n_jobs=finder.n_jobs,
        ).fit(X, given=list(known) or None)
        settings = Settings(k, None, model.bandwidth_, model.novelty_weight_)
        labels = np.unique(model.labels_, return_inverse=True)[1]
        none = np.zeros((0, X.shape[1]))
        # Without a subspace of its own, a view is judged where the given groups are removed.
        judged = separation_of(residual_scores(X, known), labels)
        return Found(labels, none, model.embedding_, model.quality_, judged, settings)


class _ClosedFinding(Finding):
    """Fits once per number of groups, and keeps the best separated result."""

    def __init__(self, fit: Any, n_rows: int) -> None:
        self._fit, self._n_rows = fit, n_rows

    def next(self, known: Sequence[Array], n_clusters: int | None, position: int) -> Found | None:
        if n_clusters is not None:
            return self._fit(known, n_clusters)
        tried = [self._fit(known, k) for k in PLAN.clusters if 2 * k <= self._n_rows]
        return max(tried, key=lambda found: found.separation)


class IndependentMethod(Method):
    """:class:`ISAAC`: all views at once, with nothing to set."""

    name = "isaac"
    has_chance = False

    def begin(self, finder: ViewFinder, X: Any, given: Sequence[Array], seed: int) -> Finding:
        """Find all views."""
        if given:
            raise ValueError(
                "method='isaac' finds all views at once and cannot avoid given labels: leave "
                "given out, or use method='kdac'"
            )
        if finder.n_clusters != "auto":
            raise ValueError(
                f"n_clusters={finder.n_clusters!r} but method='isaac' chooses the number of "
                "clusters itself: leave it at 'auto'"
            )
        return _IndependentFinding(X, ISAAC(random_state=seed, verbose=finder.verbose))


class _IndependentFinding(Finding):
    def __init__(self, X: Any, model: ISAAC) -> None:
        self._X, self._model = X, model
        self._fitted = False

    def next(self, known: Sequence[Array], n_clusters: int | None, position: int) -> Found | None:
        if not self._fitted:
            self._model.fit(self._X)
            self._fitted = True
        if position >= self._model.n_views_:
            return None
        one = self._model.subspaces_[position]
        settings = Settings(one.mixture.n_clusters, len(one.basis), None, None)
        found = Found.make(self._X, one.mixture.labels, one.basis, 0.0, settings)
        quality = quality_of(found.projection, found.labels)
        return replace(found, quality=quality, code_length=one.mixture.cluster_bits)


@dataclass(frozen=True)
class SourceMethod(Method):
    """The best candidate of one source."""

    source: Source

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the source."""
        return self.source.name

    def begin(self, finder: ViewFinder, X: Any, given: Sequence[Array], seed: int) -> Finding:
        """Return what asks the source."""
        return _SourceFinding(finder, self.source, X, seed)


class _SourceFinding(Finding):
    def __init__(self, finder: ViewFinder, source: Source, X: Any, seed: int) -> None:
        self._finder, self._source, self._X, self._seed = finder, source, X, seed

    def next(self, known: Sequence[Array], n_clusters: int | None, position: int) -> Found | None:
        sample = Sample.draw(self._X, list(known), Settings(n_clusters), self._seed)
        chosen = select(sample, [self._source], callback=as_callback(self._finder.verbose))
        best, n = chosen.chosen, self._X.shape[0]
        if best.rejected:
            return None
        labels = np.asarray(self._source.label(sample, best, self._X))
        if labels.shape != (n,):
            raise ValueError(
                f"source {self._source.name!r} labels {n} rows by an array of shape "
                f"{labels.shape}: return one group for each row"
            )
        basis = np.linalg.qr(best.W)[0].T
        found = Found.make(self._X, labels, basis, 0.0, best.settings)
        quality = quality_of(found.projection, found.labels)
        return replace(
            found,
            quality=quality,
            separation=best.separation,
            selection=describe_selection(chosen),
        )


METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (KernelMethod, LinearMethod, EmbeddingMethod, IndependentMethod)
}


def as_method(method: str | Method | Source) -> Method:
    """Return the method behind a name, a source of candidates, or the object itself.

    Parameters
    ----------
    method : str, Method or Source
        What ``ViewFinder(method=...)`` takes.

    Examples
    --------
    >>> from multifacet.finding.methods import as_method
    >>> sorted(as_method("linear").uses)
    ['n_components', 'novelty_weight']
    """
    if isinstance(method, Method):
        return method
    if isinstance(method, Source):
        return SourceMethod(method)
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]()
    raise ValueError(
        f"method={method!r} is not known: use {', '.join(map(repr, METHODS))}, or an object of a "
        "class derived from multifacet.search.Source"
    )


def refuse_idle_options(finder: ViewFinder, method: Method, defaults: dict[str, Any]) -> None:
    """Raise for an option that was set although the method does not use it."""
    every = frozenset().union(*(one.uses for one in METHODS.values()))
    for name in sorted(every - method.uses):
        value = getattr(finder, name)
        idle = isinstance(value, type(defaults[name])) and value == defaults[name]
        if not idle and not (name == "n_refits" and value == 0):  # none are asked for
            raise ValueError(
                f"{name}={value!r} has no effect on method={method.name!r}: leave it out"
            )


def clusters_asked(n_clusters: Any, position: int) -> int | None:
    """Return the number of groups asked of a view, None if it is to be chosen."""
    if isinstance(n_clusters, str):
        return None
    return int(n_clusters[position]) if np.ndim(n_clusters) else int(n_clusters)


def check_clusters_asked(n_clusters: Any, n_views: int | str, limit: int) -> int:
    """Check the numbers of groups, and return the largest number of views that they allow."""
    if isinstance(n_clusters, str):
        return limit
    # A single group is a grouping that no further view could avoid.
    for k in np.atleast_1d(n_clusters).tolist():
        check_count("n_clusters", k, low=1 if n_views in (1, "auto") else 2)
    if not np.ndim(n_clusters):
        return limit
    count = len(n_clusters)
    if count != limit and not isinstance(n_views, str):
        raise ValueError(
            f"n_clusters has {count} entries for {limit} views: pass one of each, or one number "
            "for all"
        )
    return min(count, limit)
