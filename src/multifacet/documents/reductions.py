"""What reductions of a table are as plain dicts, and how well they tell held-out rows."""

# No annotations from the future here: what is required would not be known when this runs.
from typing import Any, Literal, NotRequired, TypedDict

from .tables import RunDict


class ClustersDict(TypedDict):
    """How large the clusters of a reduction are."""

    sizes: list[int]


class ColourDict(TypedDict):
    """What tells points apart: classes, with the sizes of all, or numbers."""

    name: str
    kind: str
    values: list[Any]
    groups: NotRequired[dict[str, int]]


class PointsDict(TypedDict):
    """Rows in the subspace of a reduction."""

    index: list[Any]
    coordinates: list[list[float]]
    colour: ColourDict | None
    sampled_from: int


class SettingDict(TypedDict):
    """Settings of a reduction, and how well it predicts held-out rows."""

    n_components: int
    whitening: float
    bandwidth: float | None
    score: float
    error: float


class SparseStepDict(TypedDict):
    """Axes with so many loadings, and how well they predict held-out rows."""

    n_loadings: int
    n_features: int
    score: float
    error: float


class SparsityDict(TypedDict):
    """What fewer loadings cost, from all of them on, and the step that was taken."""

    path: list[SparseStepDict]
    chosen: int


class MethodDict(TypedDict):
    """How well held-out rows are told after a reduction, with the standard error."""

    method: str
    score: float
    error: float


class ConfusionDict(TypedDict):
    """How often rows of a class (first index) were taken for another (second index)."""

    classes: list[str]
    counts: list[list[int]]


class HeldOutDict(TypedDict):
    """How well held-out rows are told in few dimensions: ours come first."""

    n_rows: int
    n_folds: int
    measure: str
    scores: list[MethodDict]
    confusion: ConfusionDict | None


class ReductionDocument(TypedDict):
    """A table in few dimensions, see :meth:`multifacet.results.Reduction.to_dict`."""

    kind: Literal["reduction"]
    format: int
    n_rows: int
    n_features: int
    features: list[str]
    guided_by: str
    names: list[str]
    n_components: int
    kernel: str
    bandwidth: float | None
    loadings: list[list[float]]
    feature_weights: list[float]
    strength: NotRequired[list[float]]
    dependence: float | None
    clusters: ClustersDict | None
    sentence: str
    axes: NotRequired[list[str]]
    sparsity: NotRequired[SparsityDict | None]
    held_out: NotRequired[HeldOutDict | None]
    converged: bool
    points: PointsDict
    run: NotRequired[RunDict | None]
