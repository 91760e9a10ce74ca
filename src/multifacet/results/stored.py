"""What files of views hold beside arrays, as plain dicts; what is read is checked against it.

Keys that older files do not have are not required, see :func:`multifacet.files.shape_of`.
"""

# No annotations from the future here: what is required would not be known when this runs.
from typing import Any, NotRequired, TypedDict

from ..documents import (
    ContrastDict,
    EncodingDict,
    ExplanationDict,
    GalleryDict,
    GroupDict,
    RoleDict,
    SelectionDict,
)


class StoredSettings(TypedDict):
    """Settings at which a view was found."""

    n_clusters: float | None
    n_components: float | None
    bandwidth: float | None
    novelty_weight: float | None


class StoredView(TypedDict):
    """A view without its arrays."""

    name: str
    n_clusters: int
    quality: float
    separation: float | None
    novelty: float
    stability: float | None
    p_value: float | None
    independence: float | None
    selection: SelectionDict | None
    groups: list[GroupDict]
    contrasts: NotRequired[list[ContrastDict]]
    code_length: float | None
    notes: NotRequired[list[str]]
    kind: NotRequired[str]
    surprise: NotRequired[float | None]
    repeats: NotRequired[list[str]]
    gallery: NotRequired[GalleryDict | None]
    settings: StoredSettings
    explanation: ExplanationDict


class StoredFrontier(TypedDict):
    """Which weight of a frontier was chosen."""

    chosen: int | None


class StoredReference(TypedDict):
    """A column beside the features, and what its labels are called; numbers have no names."""

    name: str
    names: list[str] | None


class StoredRoles(TypedDict):
    """What the columns are for."""

    n_rows: int
    columns: list[RoleDict]


class StoredCells(TypedDict):
    """What the features of annotated data are."""

    names: list[str]
    layer: str | None
    key: str | None
    variables: list[str]


class StoredViews(TypedDict):
    """All of a file; the last of its views may be one that was rejected."""

    format: NotRequired[int]
    given: list[str]
    encoding: EncodingDict
    views: list[Any]
    n_views: int
    significance: NotRequired[float]
    frontier: StoredFrontier | None
    references: NotRequired[list[StoredReference]]
    roles: NotRequired[StoredRoles | None]
    cells: NotRequired[StoredCells | None]
