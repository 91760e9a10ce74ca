"""Generated data with several known labelings, one per subspace."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..linalg import Array

Labels = NDArray[np.int64]
Random = np.random.Generator

#: Dimensions of the places of groups of embeddings, and of the layer between the two.
PLACE, HIDDEN = 16, 256


def make_independent_views(
    n_samples: int = 500,
    views: Sequence[str] = ("blobs", "moons"),
    *,
    n_clusters: int | Sequence[int] = 2,
    weights: Sequence[Sequence[float] | None] | None = None,
    n_noise: int = 0,
    noise_scale: float = 1.0,
    noise: float = 0.05,
    rotate: bool = False,
    random_state: int | Random | None = None,
) -> tuple[Array, Labels]:
    """Generate independent groupings, each in a plane of its own.

    Parameters
    ----------
    n_samples : int, default=500
        Number of rows n.
    views : sequence of {"blobs", "moons", "rings", "spirals"}
        Shape of the clusters of each view. Every view takes two features, each of unit variance.
    n_clusters : int or sequence of int, default=2
        Number of clusters of each view. Moons come in pairs, so they take 2 only.
    weights : sequence of (sequence of float or None), optional
        Share of each cluster in each view; None for equal sizes.
    n_noise : int, default=0
        Number of uniform noise features, appended after the views.
    noise_scale : float, default=1.0
        Standard deviation of the noise features.
    noise : float, default=0.05
        Standard deviation of the points around the shape, relative to its radius; blobs are
        four times as wide.
    rotate : bool, default=False
        Mix all features by a random orthogonal matrix.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n, 2 * len(views) + n_noise)
        Data.
    labelings : array of int of shape (n, len(views))
        One column of labels per view.

    Examples
    --------
    >>> from multifacet.datasets import make_independent_views
    >>> X, labelings = make_independent_views(
    ...     200, ["rings", "blobs"], n_clusters=[2, 3], n_noise=4, random_state=0
    ... )
    >>> X.shape, labelings.shape
    ((200, 8), (200, 2))
    """
    rng = np.random.default_rng(random_state)
    counts = _per_view(n_clusters, len(views))
    shares = [None] * len(views) if weights is None else list(weights)
    if len(shares) != len(views):
        raise ValueError(f"weights has {len(shares)} entries for {len(views)} views")
    blocks, labelings = [], []
    for shape, k, share in zip(views, counts, shares, strict=True):
        if shape not in SHAPES:
            raise ValueError(f"views has {shape!r}: use {', '.join(map(repr, sorted(SHAPES)))}")
        labels = _draw_labels(n_samples, k, share, rng)
        points = SHAPES[shape](labels, k, noise, rng)
        blocks.append((points - points.mean(axis=0)) / points.std(axis=0))
        labelings.append(labels)
    # A uniform variable on (-sqrt 3, sqrt 3) has unit variance.
    blocks.append(noise_scale * rng.uniform(-np.sqrt(3), np.sqrt(3), size=(n_samples, n_noise)))
    X = np.hstack(blocks)
    if rotate:
        X = X @ np.linalg.qr(rng.standard_normal((X.shape[1], X.shape[1])))[0]
    return X, np.column_stack(labelings)


def make_moons_views(
    n_samples: int = 500,
    *,
    n_noise: int = 0,
    noise_scale: float = 1.0,
    rotate: bool = False,
    random_state: int | Random | None = None,
) -> tuple[Array, Labels]:
    """Generate two Gaussian clusters in one plane and two moons in another.

    The test bed of alternative clustering: the first grouping is compact, the second nonlinear.

    Parameters
    ----------
    n_samples : int, default=500
        Number of rows n.
    n_noise : int, default=0
        Number of uniform noise features.
    noise_scale : float, default=1.0
        Standard deviation of the noise features.
    rotate : bool, default=False
        Mix all features by a random orthogonal matrix.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n, 4 + n_noise)
        Data: two features of the Gaussians, two of the moons, then noise.
    labelings : array of int of shape (n, 2)
        Gaussians, moons.

    Examples
    --------
    >>> from multifacet.datasets import make_moons_views
    >>> X, labelings = make_moons_views(100, random_state=0)
    >>> X.shape
    (100, 4)
    """
    return make_independent_views(
        n_samples,
        ("blobs", "moons"),
        n_noise=n_noise,
        noise_scale=noise_scale,
        rotate=rotate,
        random_state=random_state,
    )


def make_gaussian_views(
    n_samples: int = 500,
    n_clusters: Sequence[int] = (3, 3),
    *,
    weights: Sequence[Sequence[float] | None] | None = None,
    n_noise: int = 0,
    noise_scale: float = 1.0,
    rotate: bool = True,
    random_state: int | Random | None = None,
) -> tuple[Array, Labels]:
    """Generate several groupings of Gaussian clusters, mixed by a random rotation.

    Parameters
    ----------
    n_samples : int, default=500
        Number of rows n.
    n_clusters : sequence of int, default=(3, 3)
        Number of clusters of each view.
    weights : sequence of (sequence of float or None), optional
        Share of each cluster in each view; None for equal sizes.
    n_noise : int, default=0
        Number of uniform noise features.
    noise_scale : float, default=1.0
        Standard deviation of the noise features.
    rotate : bool, default=True
        Mix all features by a random orthogonal matrix.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n, 2 * len(n_clusters) + n_noise)
        Data.
    labelings : array of int of shape (n, len(n_clusters))
        One column of labels per view.

    Examples
    --------
    >>> from multifacet.datasets import make_gaussian_views
    >>> X, labelings = make_gaussian_views(90, [2, 3, 4], random_state=0)
    >>> [len(set(column)) for column in labelings.T.tolist()]
    [2, 3, 4]
    """
    return make_independent_views(
        n_samples,
        ["blobs"] * len(n_clusters),
        n_clusters=n_clusters,
        weights=weights,
        n_noise=n_noise,
        noise_scale=noise_scale,
        rotate=rotate,
        random_state=random_state,
    )


def make_embedding_views(
    n_samples: int = 1000,
    n_clusters: Sequence[int] = (10, 5),
    *,
    strengths: Sequence[float] | None = None,
    n_nuisance: int = 32,
    n_features: int = 768,
    random_state: int | Random | None = None,
) -> tuple[Array, Labels]:
    """Generate embeddings: rows of unit length, as a network makes them of several groupings.

    Every group of every grouping has a random place in 16 dimensions. These and ``n_nuisance``
    Gaussian dimensions go through a random network of two layers.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows n.
    n_clusters : sequence of int, default=(10, 5)
        Number of groups of each grouping.
    strengths : sequence of float, optional
        How far the groups of each grouping are apart, in standard deviations of a coordinate of
        their places; 1 by default. The nuisance has half of that.
    n_nuisance : int, default=32
        Dimensions that belong to no grouping.
    n_features : int, default=768
        Features d.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    X : array of shape (n, d)
        Embeddings.
    labelings : array of int of shape (n, len(n_clusters))
        One column of labels per grouping.

    Examples
    --------
    >>> import numpy as np
    >>> from multifacet.datasets import make_embedding_views
    >>> X, labelings = make_embedding_views(50, (4, 2), n_features=64, random_state=0)
    >>> X.shape, labelings.shape, bool(np.allclose((X**2).sum(axis=1), 1))
    ((50, 64), (50, 2), True)
    """
    rng = np.random.default_rng(random_state)
    counts = _per_view(list(n_clusters), len(n_clusters))
    apart = [1.0] * len(counts) if strengths is None else list(strengths)
    if len(apart) != len(counts):
        raise ValueError(f"strengths has {len(apart)} entries for {len(counts)} groupings")
    labelings = [_draw_labels(n_samples, k, None, rng) for k in counts]
    blocks = [
        far * rng.standard_normal((k, PLACE))[labels]
        for k, far, labels in zip(counts, apart, labelings, strict=True)
    ]
    hidden = np.hstack([*blocks, 0.5 * rng.standard_normal((n_samples, n_nuisance))])
    for width in (HIDDEN, n_features):
        weights = rng.standard_normal((hidden.shape[1], width)) / np.sqrt(hidden.shape[1])
        hidden = (np.tanh(hidden) if width == n_features else hidden) @ weights
    return hidden / np.linalg.norm(hidden, axis=1, keepdims=True), np.column_stack(labelings)


def _per_view(n_clusters: int | Sequence[int], n_views: int) -> list[int]:
    counts = [n_clusters] * n_views if isinstance(n_clusters, int) else list(n_clusters)
    if len(counts) != n_views:
        raise ValueError(f"n_clusters has {len(counts)} entries for {n_views} views")
    if min(counts) < 1:
        raise ValueError(f"n_clusters must be positive, got {counts}")
    return counts


def _draw_labels(n: int, k: int, share: Sequence[float] | None, rng: Random) -> Labels:
    """Labels in random order whose cluster sizes match the shares as closely as possible."""
    p = np.full(k, 1.0 / k) if share is None else np.asarray(share, dtype=float)
    if len(p) != k or not (p > 0).all():
        raise ValueError(f"weights {share} must be {k} positive numbers, one per cluster")
    bounds = np.rint(np.cumsum(p / p.sum()) * n).astype(int)
    return rng.permutation(np.repeat(np.arange(k), np.diff(bounds, prepend=0)))


def _blobs(labels: Labels, k: int, noise: float, rng: Random) -> Array:
    angle = 2 * np.pi * (labels / k) + rng.uniform(0, 2 * np.pi)
    centres = np.column_stack([np.cos(angle), np.sin(angle)]) * (1.0 if k > 1 else 0.0)
    # Keep neighbouring centres as far apart in standard deviations as two of them would be.
    width = 4 * noise * (np.sin(np.pi / k) if k > 1 else 1.0)
    return centres + width * rng.standard_normal((len(labels), 2))


def _moons(labels: Labels, k: int, noise: float, rng: Random) -> Array:
    if k != 2:
        raise ValueError(f"moons come in two clusters, n_clusters asks for {k}")
    angle = rng.uniform(0, np.pi, size=len(labels))
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    lower = np.column_stack([1 - np.cos(angle), 0.5 - np.sin(angle)])
    points = np.where(labels[:, None] == 0, upper, lower)
    return points + noise * rng.standard_normal(points.shape)


def _rings(labels: Labels, k: int, noise: float, rng: Random) -> Array:
    angle = rng.uniform(0, 2 * np.pi, size=len(labels))
    radius = (labels + 1) / k
    points = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return points + noise / k * rng.standard_normal(points.shape)


def _spirals(labels: Labels, k: int, noise: float, rng: Random) -> Array:
    t = np.sqrt(rng.uniform(0.05, 1, size=len(labels)))
    # More arms wind less, so that neighbouring arms stay as far apart.
    angle = 6 * np.pi / k * t + 2 * np.pi * labels / k
    points = t[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return points + 0.6 * noise / k * rng.standard_normal(points.shape)


SHAPES: dict[str, Callable[[Labels, int, float, Random], Array]] = {
    "blobs": _blobs,
    "moons": _moons,
    "rings": _rings,
    "spirals": _spirals,
}
