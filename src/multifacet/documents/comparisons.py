"""What comparisons of labelings are as plain dicts."""

# No annotations from the future here: what is required would not be known when this runs.
from typing import Literal, NotRequired, TypedDict

from .tables import RunDict


class LabelingDict(TypedDict):
    """A labeling, and how many rows have which label."""

    name: str
    groups: dict[str, int]


class PairDict(TypedDict):
    """How far two labelings agree."""

    a: str
    b: str
    nmi: float
    ari: float
    p_value: float | None
    rows: list[str]
    columns: list[str]
    counts: list[list[int]]


class ComparisonDocument(TypedDict):
    """How far labelings agree, see :meth:`multifacet.results.Comparison.to_dict`."""

    kind: Literal["comparison"]
    format: int
    n_rows: int
    labelings: list[LabelingDict]
    nmi: list[list[float]]
    pairs: list[PairDict]
    sentence: str
    run: NotRequired[RunDict | None]
