"""What groups are as plain dicts: what sets them apart, and rows to look at."""

# No annotations from the future here: what is required would not be known when this runs.
from typing import Any, NotRequired, TypedDict, final


@final
class NumberProfile(TypedDict):
    """What a column of numbers is like in a group."""

    mean: float
    sd: float


@final
class BooleanProfile(TypedDict):
    """How many rows of a group are true."""

    share: float


@final
class CategoryProfile(TypedDict):
    """How many rows of a group have which category."""

    shares: dict[str, float]


Profile = NumberProfile | BooleanProfile | CategoryProfile


class ExampleDict(TypedDict):
    """A typical row of a group: its identifier, and its values by column."""

    row: Any
    values: dict[str, Any]


class GroupDict(TypedDict):
    """A group of a view in the terms of the table."""

    label: int
    size: int
    name: str
    profile: dict[str, Profile]
    examples: list[ExampleDict]


class SeenDict(TypedDict):
    """A row to look at: its identifier, and its texts and pictures (data URLs) by column."""

    row: Any
    texts: dict[str, str]
    images: dict[str, str]


class GroupGalleryDict(TypedDict):
    """Rows of a group to look at, as places in a gallery.

    ``typical`` are nearest to its centre, ``far`` farthest from the ``other`` group, which is the
    nearest one, and ``near`` nearest to that. ``words`` set its texts apart.
    """

    label: int
    typical: list[int]
    other: int | None
    far: list[int]
    near: list[int]
    words: list[str]


class AxisGalleryDict(TypedDict):
    """Rows at the two ends of an axis of a view, as places in a gallery."""

    low: list[int]
    high: list[int]


class GalleryDict(TypedDict):
    """Rows of a view to look at; ``notes`` say what could not be shown."""

    rows: list[SeenDict]
    groups: list[GroupGalleryDict]
    axes: list[AxisGalleryDict]
    notes: list[str]


class ContrastDict(TypedDict):
    """A feature that tells groups apart, and how it is distributed in each of them.

    ``counts`` are rows of each group in intervals of equal length from ``low`` to ``high``; what
    lies beyond is counted in the outermost. If it is told in relation to another, ``given``, values
    are those that rows would have if they were average in that.
    """

    name: str
    feature: str
    given: str | None
    low: float
    high: float
    counts: list[list[int]]
    means: list[float]


class ContrastFeatureDict(TypedDict):
    """A feature that tells groups apart, perhaps in relation to another, by their places."""

    feature: int
    given: int | None
    slope: float


class ExplanationDict(TypedDict):
    """What is behind a view, see :class:`multifacet.explain.Explanation`."""

    feature_names: list[str]
    weights: list[float]
    effects: list[list[float]]
    strength: list[float]
    loadings: list[list[float]]
    rotation: list[list[float]]
    cluster_names: list[str]
    sentence: str
    contrasts: NotRequired[list[ContrastFeatureDict]]
    told: NotRequired[float | None]
