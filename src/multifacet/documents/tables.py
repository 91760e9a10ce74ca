"""What tables and runs are as plain dicts: columns, what is known, files that were read."""

# No annotations from the future here: what is required would not be known when this runs.
from typing import Any, NotRequired, TypedDict


class RoleDict(TypedDict):
    """What a column is for, see :class:`multifacet.frames.roles.ColumnRole`."""

    name: str
    use: str
    holds: str
    why: str
    missing: int


class EncodedColumnDict(TypedDict):
    """How a column became features, see :class:`multifacet.frames.encoding.Column`."""

    name: str
    kind: str
    categories: list[str]
    features: list[int]
    fill: Any
    levels: NotRequired[list[float]]
    shares: NotRequired[list[float]]


class EncodingDict(TypedDict):
    """How a table became features, see :class:`multifacet.frames.Encoding`."""

    columns: list[EncodedColumnDict]
    feature_names: list[str]
    mean: list[float]
    scale: list[float]
    identifier: str | None
    scaling: NotRequired[str]
    skewed: NotRequired[list[str]]


class GivenDict(TypedDict):
    """Labels that were given, and how many rows have which."""

    name: str
    groups: dict[str, int]
    labels: list[str]


class DrawnDict(TypedDict):
    """Which rows are drawn, and of how many."""

    rows: list[int]
    sampled_from: int


class InputDict(TypedDict):
    """The file that a run has read."""

    name: Any
    rows: int
    columns: int
    sha256: NotRequired[Any]


class RunDict(TypedDict, total=False):
    """How to repeat a run, as far as a report tells it."""

    command: str | None
    seed: Any
    seconds: float | None
    input: InputDict | None
    notes: list[Any]
    options: dict[str, Any] | None
    versions: dict[str, Any] | None
