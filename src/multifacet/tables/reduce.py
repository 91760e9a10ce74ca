"""One call on a table: few readable dimensions, ``reduce_table(frame, target="mass")``."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..alternate import AT_CLUSTER_BOUNDARY
from ..documents import SparsityDict
from ..estimators.kdac import KDAC
from ..estimators.supervised import SupervisedKDR
from ..estimators.unsupervised import SemiSupervisedKDR
from ..explain import explain, importance, varimax
from ..frames import Prepared, prepare
from ..frames.roles import check_target
from ..frames.table import read_table
from ..linalg import Array
from ..metrics import hsic
from ..results.reduction import Reduction
from ..validation import are_classes, check_count
from ..wording import Argument, ArgumentError
from .axes import axis_sentences
from .rivals import held_out_comparison

#: Features that the sentence names at most; each has this share of the importance of the first.
MAX_NAMED, MIN_IMPORTANCE = 3, 0.1
#: Slices of a feature whose means tell how far it predicts something, be it not along a line.
SLICES = 10


def reduce_table(
    data: Any,
    *,
    target: Any = None,
    scores: Any = None,
    n_components: int | str = "auto",
    n_clusters: int | str = "auto",
    sparsity: float | str | None = None,
    n_folds: int = 3,
    features: Any = None,
    exclude: Any = None,
    categories: str = "reference",
    identifier: str | None = None,
    standardize: bool | str = "auto",
    missing: str = "error",
    kernel: Any = "gaussian",
    bandwidth: float | str = "auto",
    random_state: int | None = 0,
    n_jobs: int | None = None,
    verbose: Any = 0,
) -> Reduction:
    """Reduce a table to few dimensions that depend on a target, on scores, or on clusters.

    Parameters
    ----------
    data : data frame (pandas, polars, Arrow) or dict of columns
        The table. Numbers are features; columns that look like labels are none unless asked for.
    target : column name or list of names, optional
        Classes or real targets that the dimensions are to depend on (:class:`SupervisedKDR`).
    scores : column name or list of names, optional
        Scores of experts that guide clusters and dimensions (:class:`SemiSupervisedKDR`). Without
        target and scores, clusters alone do (:class:`KDAC` with nothing given).
    n_components : int or "auto", default="auto"
        Number of dimensions.
    n_clusters : int or "auto", default="auto"
        Number of clusters, without a target; "auto" chooses as :class:`KDAC` does.
    sparsity : "auto", float, int or None, default=None
        With a target: axes of few features each, at a price in the prediction of held-out rows;
        see :class:`SupervisedKDR`.
    n_folds : int, default=3
        With a target: folds in which rows are held out, reduced by what the others tell and
        predicted, beside LDA (classes) or PLS (numbers) and PCA (``Reduction.held_out``). 0 leaves
        that out; it takes as long as so many reductions.
    features : column name or list of names, optional
        The features, whatever they look like; by default what looks like measurements.
    exclude : column name or list of names, optional
        Columns that are no features.
    categories : {"reference", "use"}, default="reference"
        Whether columns that look like labels are left aside, or used as features.
    identifier : column name, optional
        Column that names the rows.
    standardize : bool or "auto", default="auto"
        Scale every feature to mean 0 and standard deviation 1. "auto" does so unless the values
        show that all are on one scale, and how much each varies is information: counts and
        frequencies, pixels and ratings, principal components. Those are centred and keep their
        scales relative to each other; a warning says so and why.
    missing : {"error", "impute", "drop"}, default="error"
        What to do with missing values: name them and stop, fill in medians and most frequent
        values, or drop the rows. Those of target and scores are never filled in: their rows are
        dropped.
    kernel : str or Kernel, default="gaussian"
        Similarity of projected rows.
    bandwidth : float or "auto", default="auto"
        Bandwidth of the Gaussian kernel.
    random_state : int or None, default=0
        Seed.
    n_jobs : int or None, default=None
        Threads; None uses all cores.
    verbose : int or callable, default=0
        Positive: progress on standard error. A callable receives progress as dicts.

    Returns
    -------
    Reduction
        Print it, or call ``to_dict`` and ``report``.

    Examples
    --------
    >>> from multifacet import reduce_table
    >>> from multifacet.datasets import load_penguins
    >>> measurements, known = load_penguins(as_frame=True)
    >>> penguins = measurements.assign(species=known["species"])
    >>> reduction = reduce_table(penguins, target="species", n_components=2, n_folds=0)
    >>> reduction.projection.shape
    (333, 2)
    """
    guided_by, guides = _guides(data, target, scores)
    if guided_by == "target" and n_clusters != "auto":
        idle = Argument.of("n_clusters", n_clusters)
        raise ArgumentError(idle, " has no effect with a target: leave it out")
    if guided_by != "target" and sparsity is not None:
        idle = Argument.of("sparsity", sparsity)
        raise ArgumentError(idle, " needs a target, whose prediction tells the price")
    n_folds = check_count("n_folds", n_folds, low=0)
    if n_folds == 1:
        raise ArgumentError(Argument.of("n_folds", n_folds), " must be 0, or 2 and more")
    prepared = prepare(
        data,
        given=guides or None,
        features=features,
        exclude=exclude,
        categories=categories,
        identifier=identifier,
        standardize=standardize,
        missing=missing,
    )
    options: dict[str, Any] = {
        "n_components": n_components,
        "kernel": kernel,
        "bandwidth": bandwidth,
        "random_state": random_state,
        "n_jobs": n_jobs,
        "verbose": verbose,
    }
    if guided_by == "target":
        model = _fit(SupervisedKDR(sparsity=sparsity, **options), prepared)
    elif guided_by == "scores":
        # The scores say nothing about the number of clusters, so the data do.
        k: Any = n_clusters
        if k == "auto":
            k = KDAC("auto", **options).fit(prepared.X).n_clusters_
        model = _fit(SemiSupervisedKDR(k, **options), prepared)
    else:
        model = _fit(KDAC(n_clusters, **options), prepared)
    return _describe(model, prepared, guided_by, n_folds)


def _guides(data: Any, target: Any, scores: Any) -> tuple[str, list[str]]:
    """Return what guides the reduction, and the names of its columns."""
    if target is not None and scores is not None:
        raise ValueError("target and scores exclude each other: pass one of them")
    table = read_table(data)
    for argument, names in (("target", target), ("scores", scores)):
        if names is not None:
            found = table.find(argument, names)
            if not found:
                raise ValueError(f"{argument} is empty: name at least one column, or None")
            if argument == "target":
                check_target(table, found)
            return argument, found
    return "nothing", []


def _fit(model: Any, prepared: Prepared) -> Any:
    """Fit to the features and, if there are any, to the columns that guide."""
    if not prepared.given:
        return model.fit(prepared.X)
    return model.fit(prepared.X, _target(prepared))


def _target(prepared: Prepared) -> Array:
    guides = prepared.given
    return guides[0] if len(guides) == 1 else np.column_stack(guides)


def _describe(model: Any, prepared: Prepared, guided_by: str, n_folds: int) -> Reduction:
    """Return what a fitted model found, in readable axes and in words."""
    sparsity = getattr(model, "sparsity_", None)
    # Sparse axes are readable as they are, and would not stay sparse in a rotation.
    components = model.components_ if sparsity else _readable(prepared.X, model.components_)
    projection = prepared.X @ components.T
    projection = projection - projection.mean(axis=0)
    guides = dict(zip(prepared.given_names, prepared.given, strict=True))
    labels = None if guided_by == "target" else model.labels_
    told = {"group": labels} if labels is not None else guides
    compared = guided_by == "target" and n_folds > 0
    strength = _strength(prepared.X, list(guides.values()) if labels is None else [labels])
    return Reduction(
        guided_by=guided_by,
        guides=guides,
        index=prepared.index,
        encoding=prepared.encoding,
        components=components,
        projection=projection,
        feature_weights=model.feature_weights_,
        strength=strength,
        kernel=model.kernel if isinstance(model.kernel, str) else repr(model.kernel),
        bandwidth=model.bandwidth_,
        dependence=_dependence(projection, list(guides.values())) if guides else None,
        labels=labels,
        converged=_converged(model),
        sentence=_sentence(prepared, model, labels, strength),
        axes=axis_sentences(components, projection, prepared.encoding.feature_names, told),
        sparsity=None if sparsity is None else _document(sparsity),
        held_out=held_out_comparison(model, prepared.X, _target(prepared), n_folds)
        if compared
        else None,
    )


def _document(sparsity: Any) -> SparsityDict:
    chosen = next(i for i, one in enumerate(sparsity.path) if one is sparsity.chosen)
    return {"path": sparsity.table(), "chosen": chosen}


def _converged(model: Any) -> bool:
    """Tell whether a model is complete; clusters that KDAC selected are final, as it knows."""
    selected = getattr(model, "selection_", None) is not None
    boundary = selected and model.result_.reason.endswith(AT_CLUSTER_BOUNDARY)
    return model.result_.converged or boundary


def _readable(X: Array, components: Array) -> Array:
    """Return the basis rotated to few large entries, widest axis first, largest entries positive.

    Kernels see distances and inner products only, so a rotation changes nothing else.
    """
    rotated = varimax(components.T).T @ components
    rotated = rotated[np.argsort(-(X @ rotated.T).std(axis=0).round(6), kind="stable")]
    largest = np.abs(rotated).argmax(axis=1)
    return rotated * np.sign(rotated[np.arange(len(rotated)), largest])[:, None]


def _dependence(projection: Array, guides: list[Array]) -> float:
    if len(guides) == 1 and are_classes(guides[0]):
        return hsic(projection, np.unique(guides[0], return_inverse=True)[1])
    return hsic(projection, np.column_stack(guides).astype(float))


def _strength(X: Any, told: list[Array]) -> Array:
    """Return how far each feature (d,) tells the values: from 0 to 1, on average over them."""
    columns = []
    for values in told:
        if are_classes(values):
            columns.append(values[:, None] == np.unique(values))
        else:
            columns.append((values[:, None] - values.mean()) / (values.std() or 1.0))
    targets = np.hstack(columns).astype(float)
    features = (X[:, [j]].toarray()[:, 0] if issparse(X) else X[:, j] for j in range(X.shape[1]))
    return np.array([_between(_slices(feature), targets) for feature in features])


def _slices(feature: Array) -> Array:
    """Return the slice (n,) of each row: tenths of the rows; equal values are never parted."""
    bounds = np.quantile(feature, np.arange(1, SLICES) / SLICES)
    return np.unique(np.searchsorted(bounds, feature), return_inverse=True)[1]


def _between(groups: Array, targets: Array) -> float:
    """Return the share of the variance of targets (n, m) that lies between groups."""
    sizes = np.bincount(groups)
    means = np.column_stack([np.bincount(groups, target) / sizes for target in targets.T])
    centre = targets.mean(axis=0)
    total = ((targets - centre) ** 2).sum()
    return float((sizes[:, None] * (means - centre) ** 2).sum() / total) if total else 0.0


def _sentence(prepared: Prepared, model: Any, labels: Array | None, strength: Array) -> str:
    names = prepared.encoding.feature_names
    score = importance(model.feature_weights_, strength)
    leading = np.argsort(-score, kind="stable")[:MAX_NAMED]
    features = ", ".join(names[i] for i in leading if score[i] >= MIN_IMPORTANCE * score.max())
    q, d = model.components_.shape
    guides = " and ".join(prepared.given_names)
    # Scores guide the clusters; how much these then depend on them is for the data to say.
    purpose = f" guided by {guides}" if guides else ""
    if labels is None:
        purpose = f" that depend{'s' * (q == 1)} most on {guides}"
    text = f"{q} dimension{'s' * (q > 1)} of {d} features{purpose}, led by {features}"
    if labels is None:
        return text
    explanation = explain(prepared.X, labels, model.components_, feature_names=names)
    return f"{text}: {explanation.sentence}"
