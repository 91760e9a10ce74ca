"""One view: a grouping of the rows and what is known about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..documents import ContrastDict, GalleryDict, GroupDict, PathStepDict, SelectionDict
from ..evidence import attempt
from ..explain import Explanation
from ..frames import Encoding
from ..linalg import Array, is_array_like, projected
from ..printable import one_line
from ..search import Settings
from ..validation import check_finite
from . import measures
from .contrasts import describe_contrasts, opposites
from .found import Found
from .groups import describe_groups
from .repeats import repeated_columns
from .rule import Rule, choose_landmarks, placed


@dataclass(frozen=True, eq=False)
class View:
    """One grouping of the rows and what is known about it.

    Attributes
    ----------
    name : str
        "view 1", "view 2", ...
    labels : array of int of shape (n,)
        Cluster of each row.
    components : array of shape (q, d)
        Orthonormal basis of its subspace; no rows for the method "embedding".
    projection : array of shape (n, q)
        The rows in the subspace.
    feature_weights : array of shape (d,)
        Share of each feature in the subspace; they sum to one.
    n_clusters : int
        Number of clusters.
    quality : float
        Cluster quality CQ, at most ``n_clusters``.
    separation : float
        Mean log ratio of internal to external conductance: 0 is none, above 1.5 is clear, minus
        infinity says that nothing new was found.
    novelty : float
        Largest NMI with what was given or found before, less what chance gives to groups of these
        sizes: 0 is entirely new.
    stability : float or None
        Agreement with the groupings found again on subsamples; above 0.9 is firm.
    p_value : float or None
        How often data without clusters are separated as well.
    independence : float or None
        p-value of independence from what was given; small means that they are related.
    settings : Settings
        Settings at which it was found.
    explanation : Explanation
        The features behind it, and a sentence.
    selection : dict or None
        How the settings were chosen, see :func:`multifacet.results.summary.describe_selection`;
        None for the closed forms.
    groups : list of dict
        The clusters in the terms of the table: size, name, means or shares of every column, typical
        rows. Only :func:`find_views` knows the table; empty otherwise.
    contrasts : list of dict
        The features that the sentence names, and how they are distributed in each group, in the
        units of the table; empty if nobody knows it.
    code_length : float or None
        Bits that describe the rows in the subspace by their clusters; None unless the method is
        "isaac".
    notes : list of str
        What could not be measured about it, and why, one sentence each.
    kind : str
        Which kind of groups it has, in words, such as "ellipses that may overlap"; empty if the
        method finds one kind only.
    surprise : float or None
        How surprising the groups are on structureless data, in nats; None unless the method is
        "auto", which compares candidates of several sources by it.
    repeats : list of str
        Columns of few values among the features that the groups only repeat; mostly none.
    mean : array of shape (d,) or None
        Mean of the rows, which is taken off before they are projected; None in a view from a file
        that was written before views could label new rows.
    gallery : dict or None
        Rows to look at, as texts and pictures: typical ones of each group, those nearest to and
        farthest from another group, and those at the ends of the axes. None if the table has no
        column of texts or pictures.
    landmarks, places : arrays of shape (m, d) and (m, k), or None
        Some rows, and where they are in ``projection``: what tells the places of new rows if there
        is no subspace. None if there is one.
    told_by : Rule or None
        What told the labels, if the view was found in some of the rows only.

    Examples
    --------
    >>> from multifacet import ViewFinder
    >>> from multifacet.datasets import make_gaussian_views
    >>> X, labelings = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
    >>> view = ViewFinder(n_views=1, n_clusters=2, method="linear").fit(X).views_[0]
    >>> view.name, view.n_clusters, view.projection.shape[0]
    ('view 1', 2, 60)
    >>> bool((view.predict(X) == view.labels).all())
    True
    """

    name: str
    labels: Array = field(repr=False)
    components: Array = field(repr=False)
    projection: Array = field(repr=False)
    feature_weights: Array = field(repr=False)
    n_clusters: int
    quality: float
    separation: float
    novelty: float
    stability: float | None
    p_value: float | None
    independence: float | None
    settings: Settings
    explanation: Explanation = field(repr=False)
    selection: SelectionDict | None = field(repr=False, default=None)
    groups: list[GroupDict] = field(repr=False, default_factory=list)
    contrasts: list[ContrastDict] = field(repr=False, default_factory=list)
    code_length: float | None = None
    notes: list[str] = field(repr=False, default_factory=list)
    kind: str = ""
    surprise: float | None = None
    repeats: list[str] = field(repr=False, default_factory=list)
    gallery: GalleryDict | None = field(repr=False, default=None)
    mean: Array | None = field(repr=False, default=None)
    landmarks: Array | None = field(repr=False, default=None)
    places: Array | None = field(repr=False, default=None)
    told_by: Rule | None = field(repr=False, default=None)

    @classmethod
    def of(
        cls,
        X: Any,
        found: Found,
        *,
        name: str,
        given: Sequence[Array] = (),
        feature_names: Sequence[str] | None = None,
        random_state: int = 0,
    ) -> View:
        """Return a grouping of the rows as a view, with all that can be said of it without refits.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Data in which the grouping was found.
        found : Found
            The grouping; what is open in it is measured (:meth:`Found.completed`).
        name : str
            What the view is called.
        given : sequence of arrays of shape (n,)
            Labelings that it should be different from.
        feature_names : sequence of str, optional
            Names of the features.
        random_state : int, default=0
            Seed of the permutations that test independence.

        Returns
        -------
        View
            Without stability and p-value.

        Examples
        --------
        >>> import numpy as np
        >>> from multifacet import View
        >>> from multifacet.results import Found
        >>> from multifacet.search import Settings
        >>> X = np.array([[0.0, 1.0], [0.1, -1.0], [2.0, -1.0], [2.1, 1.0]])
        >>> found = Found([5, 5, 7, 7], np.array([[1.0, 0.0]]), Settings(2, 1))
        >>> view = View.of(X, found, name="size")
        >>> view.labels.tolist(), view.projection.ravel().round(2).tolist()
        ([0, 0, 1, 1], [-1.05, -0.95, 0.95, 1.05])
        """
        found = found.completed(X, given)
        explanation = measures.explained(
            X, found.labels, found.components, feature_names=feature_names
        )
        independence, notes = attempt(
            measures.INDEPENDENCE,
            lambda: measures.independence_of(found.labels, given, random_state),
        )
        assert found.projection is not None
        landmarks = places = None
        if not len(found.components):
            rows, landmarks = choose_landmarks(X, found.labels)
            places = found.projection[rows]
        return cls(
            **{one.name: getattr(found, one.name) for one in fields(found)},
            mean=np.asarray(X.mean(axis=0)).ravel(),
            landmarks=landmarks,
            places=places,
            name=name,
            feature_weights=explanation.weights,
            n_clusters=int(found.labels.max()) + 1,
            novelty=measures.novelty_of(found.labels, given),
            stability=None,
            p_value=None,
            independence=independence,
            explanation=explanation,
            notes=notes,
        )

    def relabelled(
        self,
        labels: Any,
        X: Any,
        *,
        given: Sequence[Array] = (),
        encoding: Encoding | None = None,
        index: Array | None = None,
        random_state: int = 0,
    ) -> View:
        """Return other groups in the same subspace, and nothing that is true of the old ones only.

        Separation, quality, novelty, independence and explanation are those of the new groups.
        Stability, p-value, code length, the novelty weight and how it was selected are cleared,
        and a note says so. If the grouping is the same but for its numbers, all that stays.

        Parameters
        ----------
        labels : array-like of shape (n,)
            The new groups.
        X : array or CSR matrix of shape (n, d)
            The features of the rows, in which the view was found.
        given : sequence of arrays of shape (n,)
            Labelings that the view should be different from, to be compared with again.
        encoding, index : object, optional
            If passed, the groups are described in the terms of the table, see :meth:`readable`.
        random_state : int, default=0
            Seed of the permutations that test independence.

        Returns
        -------
        View
            Of the same name.

        Examples
        --------
        >>> from multifacet import ViewFinder
        >>> from multifacet.datasets import make_gaussian_views
        >>> X, _ = make_gaussian_views(60, [3, 2], rotate=False, random_state=0)
        >>> view = ViewFinder(n_views=1, n_clusters=3, method="linear").fit(X).views_[0]
        >>> merged = view.relabelled(view.labels > 0, X)
        >>> merged.n_clusters, merged.p_value, merged.components is view.components
        (2, None, True)
        """
        if measures.same_grouping(self.labels, labels):
            found = Found(labels, self.components, self.settings, self.projection, self.quality)
            found = replace(found, separation=self.separation)
        else:
            count = len(np.unique(np.asarray(labels)))
            settings = replace(self.settings, n_clusters=count, novelty_weight=None)
            found = Found(labels, self.components, settings, self.projection)
        changed = self.replaced(found, X, given=given, random_state=random_state)
        return changed if encoding is None else changed.readable(X, encoding, index)

    def replaced(
        self, found: Found, X: Any, *, given: Sequence[Array] = (), random_state: int = 0
    ) -> View:
        """Return another grouping under the same name, with the evidence that holds for it too.

        Parameters
        ----------
        found : Found
            The new grouping, perhaps in another subspace.
        X, given, random_state : object
            As in :meth:`relabelled`.

        Returns
        -------
        View
            With stability, p-value and code length if the grouping is the same but for its
            numbers, with how it was selected if its settings are; a note says what was cleared.

        Examples
        --------
        >>> from multifacet import ViewFinder
        >>> from multifacet.datasets import make_gaussian_views
        >>> from multifacet.results import Found
        >>> X, _ = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
        >>> view = ViewFinder(n_views=1, n_clusters=2, method="linear").fit(X).views_[0]
        >>> turned = Found(1 - view.labels, view.components[::-1], view.settings)
        >>> view.replaced(turned, X).p_value == view.p_value
        True
        """
        selection = self.selection if found.settings == self.settings else None
        changed = View.of(
            X,
            replace(found, selection=selection),
            name=self.name,
            given=given,
            feature_names=self.explanation.feature_names,
            random_state=random_state,
        )
        notes = [note for note in self.notes if not note.startswith(measures.INDEPENDENCE)]
        evidence: dict[str, Any] = {}
        if measures.same_grouping(self.labels, found.labels):
            kept = ("stability", "p_value", "code_length", "kind", "surprise")
            evidence = {name: getattr(self, name) for name in kept}
        elif self.stability is not None or self.p_value is not None:
            notes.append(measures.CHANGED)
        return replace(changed, **evidence, notes=[*notes, *changed.notes])

    def readable(self, X: Any, encoding: Encoding, index: Array | None = None) -> View:
        """Return the view in the names, units and values of a table.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            The features of the rows.
        encoding : Encoding
            How columns of the table became features.
        index : array of shape (n,), optional
            Identifiers of the rows; by default 0 to n - 1.

        Returns
        -------
        View
            With an explanation in original units, with ``groups``, and with ``repeats``.

        Examples
        --------
        >>> import numpy as np
        >>> from multifacet import View
        >>> from multifacet.frames import prepare
        >>> from multifacet.results import Found
        >>> from multifacet.search import Settings
        >>> prepared = prepare({"mass": [10, 20, 80, 90], "age": [3, 1, 1, 3]})
        >>> X, found = prepared.X, Found([0, 0, 1, 1], np.array([[1.0, 0.0]]), Settings(2, 1))
        >>> view = View.of(X, found, name="size")
        >>> view.readable(X, prepared.encoding).groups[1]["profile"]["mass"]
        {'mean': 85.0, 'sd': 5.0}
        """
        X = encoding.plain(X)
        explanation = measures.explained(
            X,
            self.labels,
            self.components,
            feature_names=encoding.feature_names,
            units=encoding.scale,
            opposites=opposites(encoding),
        )
        repeats = repeated_columns(self.labels, explanation.strength, X, encoding)
        view = replace(self, explanation=explanation, repeats=repeats)
        index = np.arange(len(self.labels)) if index is None else index
        return replace(
            view,
            groups=describe_groups(view, X, encoding, index),
            contrasts=describe_contrasts(view, X, encoding),
        )

    def renamed(self, name: str, group_names: Mapping[int, str] | None = None) -> View:
        """Return the view, and some of its groups, under other names.

        Parameters
        ----------
        name : str
            What the view is called.
        group_names : mapping of int to str, optional
            What groups are called, by their labels; the others keep their names.

        Returns
        -------
        View
            The same otherwise.

        Examples
        --------
        >>> from multifacet import ViewFinder
        >>> from multifacet.datasets import make_gaussian_views
        >>> X, _ = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
        >>> view = ViewFinder(n_views=1, n_clusters=2, method="linear").fit(X).views_[0]
        >>> view.renamed("sex", {0: "female", 1: "male"}).explanation.cluster_names
        ['female', 'male']
        """
        chosen = dict(group_names or {})
        absent = sorted(label for label in chosen if not 0 <= label < self.n_clusters)
        if absent:
            raise ValueError(
                f"group_names has a name for group {absent[0]}, but {self.name!r} has the groups 0 "
                f"to {self.n_clusters - 1}"
            )
        names = [chosen.get(c, own) for c, own in enumerate(self.explanation.cluster_names)]
        groups = [
            group | {"name": chosen.get(group["label"], group["name"])} for group in self.groups
        ]
        explanation = replace(self.explanation, cluster_names=names)
        return replace(self, name=name, explanation=explanation, groups=groups)

    def transform(self, X: Any) -> Array:
        """Return where rows lie, as ``projection`` tells it of those in which the view was found.

        Parameters
        ----------
        X : array or CSR matrix of shape (r, d)
            Features of rows, old or new, scaled as those in which the view was found;
            :meth:`Views.transform` takes tables.

        Returns
        -------
        array of shape (r, q)
            Coordinates of each row, whatever the others are. Without a subspace (the method
            "embedding"), the mean place of the most similar rows.

        Examples
        --------
        >>> import numpy as np
        >>> from multifacet import ViewFinder
        >>> from multifacet.datasets import make_gaussian_views
        >>> X, _ = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
        >>> view = ViewFinder(n_views=1, n_clusters=2, method="linear").fit(X).views_[0]
        >>> bool(np.allclose(view.transform(X), view.projection))
        True
        """
        X, W = self._checked(X), self.components.T
        if not W.size:
            assert self.landmarks is not None
            assert self.places is not None
            return placed(X, self.landmarks, self.places)
        return projected(X, W) - self.mean @ W

    def predict(self, X: Any) -> Array:
        """Return the groups of rows: those of the rows beside which they lie.

        The simplest rule that tells the labels of the view is used: nearest centres, Gaussians with
        one or several covariances, or nearest rows. It tells the labels of up to 2000 rows exactly,
        if rows in the same place have the same label, and those of more nearly.

        Parameters
        ----------
        X : array or CSR matrix of shape (r, d)
            As in :meth:`transform`; :meth:`Views.predict` takes tables.

        Returns
        -------
        array of int of shape (r,)
            Group of each row, as in ``labels``, whatever the other rows are.

        Examples
        --------
        >>> from multifacet import ViewFinder
        >>> from multifacet.datasets import make_gaussian_views
        >>> X, _ = make_gaussian_views(80, [2, 2], rotate=False, random_state=0)
        >>> view = ViewFinder(n_views=1, n_clusters=2, method="linear").fit(X[:60]).views_[0]
        >>> view.predict(X[60:]).shape
        (20,)
        """
        return self.rule.predict(self.transform(X))

    @property
    def path(self) -> list[PathStepDict]:
        """Versions of the view with fewer and with more groups, and how well these are separated.

        One dict for each number of groups that was tried and divides or merges the groups of the
        view: ``n_clusters``, ``separation`` and ``surprise``. To have one of them as a view, ask
        for its number of groups.

        Examples
        --------
        >>> from multifacet import find_views
        >>> from multifacet.datasets import make_gaussian_views
        >>> X, _ = make_gaussian_views(120, [3], rotate=False, random_state=0)
        >>> view = find_views(X, n_views=1, n_refits=0)[0]
        >>> [step["n_clusters"] for step in view.path][:3], view.plateau
        ([2, 3, 4], (3, 3))
        """
        return [] if self.selection is None else self.selection.get("path", [])

    @property
    def plateau(self) -> tuple[int, int]:
        """From how many to how many groups the view is as separated but for chance."""
        found = [] if self.selection is None else self.selection.get("plateau", [])
        return (found[0], found[1]) if found else (self.n_clusters, self.n_clusters)

    def told(self, X: Any, rows: Array) -> View:
        """Return the view of more rows, with the groups that :meth:`predict` tells of them.

        All that was measured stays that of the rows in which the view was found; a note says so.

        Parameters
        ----------
        X : array or CSR matrix of shape (r, d)
            As in :meth:`transform`.
        rows : array of int of shape (n,)
            Which of them the view was found in.

        Examples
        --------
        >>> import numpy as np
        >>> from multifacet import ViewFinder
        >>> from multifacet.datasets import make_gaussian_views
        >>> X, _ = make_gaussian_views(80, [2, 2], rotate=False, random_state=0)
        >>> view = ViewFinder(n_views=1, n_clusters=2, method="linear").fit(X[:60]).views_[0]
        >>> told = view.told(X, np.arange(60))
        >>> told.labels.shape, bool((told.labels == view.predict(X)).all())
        ((80,), True)
        """
        places = self.transform(X)
        labels = self.rule.predict(places)
        if len(np.unique(labels)) < self.n_clusters:  # a group that the rule never tells
            labels[rows] = self.labels
        note = f"Measured on {len(rows):,} of {X.shape[0]:,} rows, drawn by their content"
        notes = [*self.notes, note]
        return replace(self, labels=labels, projection=places, told_by=self.rule, notes=notes)

    def plot(self) -> Any:
        """Draw the view in its subspace, beside the features behind it; return the figure.

        Examples
        --------
        >>> from multifacet import ViewFinder
        >>> from multifacet.datasets import make_gaussian_views
        >>> X, _ = make_gaussian_views(60, [2, 2], rotate=False, random_state=0)
        >>> view = ViewFinder(n_views=1, n_clusters=2, method="linear").fit(X).views_[0]
        >>> len(view.plot().axes)
        2
        """
        from ..plotting import plot_views

        return plot_views([self])

    @cached_property
    def rule(self) -> Rule:
        """What tells groups by places: what has told the labels, or is learnt from them."""
        return self.told_by or Rule.learn(self.projection, self.labels)

    def _checked(self, X: Any) -> Any:
        """Return the features of rows, finite and as many as those of the view."""
        if self.mean is None:
            raise ValueError(
                f"{self.name!r} comes from a file that was written before views could label new "
                "rows: find the views again"
            )
        if hasattr(X, "columns") or not (is_array_like(X) or issparse(X)):
            raise ValueError(
                f"X is of type {type(X).__name__}, a view knows encoded features only: pass the "
                "table to the predict or transform of all views, which encode it as at the search"
            )
        X = X.tocsr() if issparse(X) else np.asarray(X)
        d = len(self.mean)
        if X.ndim != 2 or X.shape[1] != d or X.dtype.kind not in "biuf":
            raise ValueError(
                f"X holds {X.dtype} in shape {X.shape}, but {self.name!r} was found in {d} "
                f"features: pass numbers of shape (rows, {d})"
            )
        check_finite(X, self.explanation.feature_names)
        return X

    @property
    def sentence(self) -> str:
        """What the view is about."""
        return self.explanation.sentence

    def __str__(self) -> str:
        return one_line(f"{self.name}: {self.sentence}")
