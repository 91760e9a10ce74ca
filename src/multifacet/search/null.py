"""What structureless data reach under the plan: the laws behind p-values.

The search takes the best of many candidates, so its maximum on data without clusters is far from
zero. It was simulated once (``python -m benchmarks calibration``): Gaussian, uniform and mixed
clouds, with and without given groups, and for all sources together also skewed, heavy-tailed,
discrete and correlated ones. The maximum follows a Gumbel law whose location depends on the shape
of the data, and beyond its 95 % quantile an exponential one. The laws are kept in ``null.json``
beside this file, with the key of the plan that they belong to.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from ..linalg import Array
from .plan import PLAN

#: Where the laws are kept, beside this file.
FILE = "null.json"
#: Fewer features were not simulated.
FEWEST_FEATURES = 3
#: The 95 % quantile of a Gumbel law of mean zero, in scales.
GUMBEL_95 = 2.393


@dataclass(frozen=True)
class NullLaw:
    """Mean and scale of a statistic on structureless data.

    Attributes
    ----------
    level : float
        Mean at as many rows as the plan samples, one feature, and two clusters asked for.
    rows : float
        Per log(rows / rows of the sample), up to those.
    features : float
        Per log(features).
    splits : float
        Per doubling of the number of clusters asked for.
    scale : float
        Of the Gumbel law, matched to the 95 % quantile.
    tail : float
        Mean excess, at least the scale, that the law falls by beyond that quantile: most tables
        have nothing that looks like groups, and those that have some reach farther than a Gumbel
        law says.
    """

    level: float
    rows: float
    features: float
    splits: float
    scale: float
    tail: float

    def exceeded(self, statistic: Array, shapes: Array) -> Array:
        """Return how often structureless data of shapes (n, 4) reach statistics (n,)."""
        excess = statistic - shapes @ [self.level, self.rows, self.features, self.splits]
        gumbel = -np.expm1(-np.exp(-excess / self.scale - np.euler_gamma))
        beyond = np.maximum(excess - GUMBEL_95 * self.scale, 0.0)
        return np.where(beyond > 0, 0.05 * np.exp(-beyond / self.tail), gumbel)


def shape_of(n_rows: int, n_features: int, n_clusters: int | None) -> list[float]:
    """Return what the mean of a law is linear in: 1, and logarithms of the shape."""
    return [
        1.0,
        float(np.log(min(n_rows, PLAN.rows) / PLAN.rows)),
        float(np.log(max(n_features, FEWEST_FEATURES))),
        0.0 if n_clusters is None else float(np.log2(max(n_clusters, 2)) - 1),
    ]


@dataclass(frozen=True)
class NullLaws:
    """Laws of the kernel's search and of all sources together, and the plan they belong to.

    Attributes
    ----------
    plan : str
        Key of the plan.
    separation, with_stability : NullLaw
        Separation of what the kernel's search finds, alone and with stability added.
    surprise, surprise_found_again : NullLaw
        Surprise of what all sources find where nothing is given, alone and times its stability.
    beside, beside_found_again : NullLaw
        The same beside given groups. Groups must show with and without their means then, so chance
        reaches far less.
    """

    plan: str
    separation: NullLaw
    with_stability: NullLaw
    surprise: NullLaw
    surprise_found_again: NullLaw
    beside: NullLaw
    beside_found_again: NullLaw

    def of_surprise(self, given: bool, found_again: bool) -> NullLaw:
        """Return the law of the surprise of all sources, or of its product with stability."""
        if given:
            return self.beside_found_again if found_again else self.beside
        return self.surprise_found_again if found_again else self.surprise

    def to_json(self) -> str:
        """Return the text of the file that keeps them."""
        return json.dumps(asdict(self), indent=2) + "\n"


@cache
def null_laws() -> NullLaws:
    """Return the laws in use."""
    kept = json.loads(files(__package__).joinpath(FILE).read_text(encoding="utf-8"))
    return NullLaws(kept.pop("plan"), **{name: NullLaw(**law) for name, law in kept.items()})


def significance(
    separation: float,
    n_rows: int,
    n_features: int,
    n_clusters: int | None,
    *,
    stability: float | None = None,
) -> float:
    """Return the p-value of a view: how often data without clusters look as good.

    Parameters
    ----------
    separation : float
        Separation of the clusters that the automatic search chose.
    n_rows, n_features : int
        Shape of the data.
    n_clusters : int or None
        Number of clusters asked for; None if it was chosen.
    stability : float, optional
        Stability over refits. Noise can look separated but is not found again, so together they
        tell more.

    Returns
    -------
    float
        Probability that the best of all candidates reaches this separation (plus stability) on
        structureless data; the search is part of the null.

    Examples
    --------
    >>> from multifacet.evidence import significance
    >>> significance(3.0, 300, 5, 2) < 0.001 < 0.1 < significance(0.5, 300, 5, 2)
    True
    """
    laws = null_laws()
    law = laws.separation if stability is None else laws.with_stability
    shape = shape_of(n_rows, n_features, n_clusters)
    return float(law.exceeded(np.array(separation + (stability or 0.0)), np.array(shape)))


def chance(
    surprise: float,
    n_rows: int,
    n_features: int,
    n_clusters: int | None,
    *,
    given: bool,
    stability: float | None = None,
) -> float:
    """Return the p-value of a view that was chosen from the candidates of all sources.

    Parameters
    ----------
    surprise : float
        Surprise of its groups (:class:`.Appraisal`).
    n_rows, n_features, n_clusters, stability
        As in :func:`significance`. Structureless tables have groups that are surprising (many
        features, few rows) or found again (columns of few values), but hardly both: their product
        tells more than their sum.
    given : bool
        Whether it was looked for beside given groups.

    Examples
    --------
    >>> from multifacet.search.null import chance
    >>> chance(30.0, 300, 5, 2, given=False) < 0.001 < chance(0.0, 300, 5, 2, given=False)
    True
    """
    law = null_laws().of_surprise(given, stability is not None)
    statistic = surprise if stability is None else surprise * stability
    shape = shape_of(n_rows, n_features, n_clusters)
    return float(law.exceeded(np.array(statistic), np.array(shape)))
