"""What views of a table are as plain dicts."""

# No annotations from the future here: what is required would not be known when this runs.
from typing import Any, Literal, NotRequired, TypedDict

from .groups import ContrastDict, GalleryDict, GroupDict
from .searches import SelectionDict, SettingsDict
from .tables import DrawnDict, GivenDict, RoleDict, RunDict


class RelationDict(TypedDict):
    """How far a view agrees with a column, see :class:`multifacet.results.relations.Relation`."""

    column: str
    agreement: float
    numbers: bool
    p_value: float


class ViewRow(TypedDict):
    """A view as a row of a table."""

    view: str
    verdict: str
    clusters: int
    sizes: list[int]
    features: str
    separation: float
    stability: float | None
    p_value: float | None
    novelty: float
    independence: float | None
    beside: str
    repeats: str
    sentence: str


class DescriptionDict(TypedDict):
    """A view without its rows: its words, evidence, groups and features."""

    name: str
    sentence: str
    evidence: str
    verdict: NotRequired[str]
    kind: NotRequired[str]
    beside: NotRequired[str]
    relations: NotRequired[list[RelationDict]]
    repeats: NotRequired[list[str]]
    n_clusters: int
    quality: float | None
    separation: float | None
    novelty: float
    stability: float | None
    p_value: float | None
    independence: float | None
    settings: SettingsDict
    selection: SelectionDict | None
    groups: list[GroupDict]
    feature_weights: list[float]
    strength: list[float]
    contrasts: NotRequired[list[ContrastDict]]
    told: NotRequired[float | None]
    gallery: NotRequired[GalleryDict | None]
    effects: list[list[float]]
    loadings: list[list[float]]


class ViewDict(DescriptionDict):
    """A view with the labels of all rows, and the places of those that are drawn."""

    labels: list[int]
    coordinates: list[list[float]]


class AgreementDict(TypedDict):
    """Normalised mutual information of all pairs of labelings."""

    names: list[str]
    nmi: list[list[float]]


class FrontierDict(TypedDict):
    """What novelty costs in quality."""

    weights: list[float]
    quality: list[float]
    dependence: list[float]
    novelty: NotRequired[list[float]]
    chosen: int | None


class ViewsDocument(TypedDict):
    """Everything about the views of a table, see :meth:`multifacet.Views.to_dict`."""

    kind: Literal["views"]
    format: int
    n_rows: int
    n_features: int
    features: list[str]
    columns: list[str]
    identifier: str | None
    significance: NotRequired[float]
    scaling: NotRequired[str]
    sentence: str
    index: list[Any]
    roles: NotRequired[list[RoleDict]]
    given: list[GivenDict]
    references: NotRequired[list[GivenDict]]
    views: list[ViewDict]
    rejected: ViewDict | None
    agreement: AgreementDict
    frontier: FrontierDict | None
    points: DrawnDict
    run: NotRequired[RunDict | None]
