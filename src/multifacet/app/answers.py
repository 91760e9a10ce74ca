"""What the page is told, as plain dicts: see :mod:`multifacet.app.display`, which makes them."""

from __future__ import annotations

from typing import Any, TypedDict

from ..documents import DescriptionDict, FrontierDict, PairDict
from .steps import OptionsDict, SetupDict


class JobAnswer(TypedDict):
    """The state of a search."""

    id: str
    status: str
    options: OptionsDict
    names: list[str]
    seconds: float | None
    pid: int | None


class ListedAnswer(TypedDict):
    """An exploration that can be taken up, and when it was changed last."""

    id: str
    changed: float


class SummaryAnswer(TypedDict):
    """A view in a few words and numbers."""

    id: str
    name: str
    status: str
    sentence: str
    n_clusters: int
    sizes: list[int]
    group_names: list[str]
    colours: list[int]
    given: list[str]
    avoided: list[str]
    among: int | None
    options: OptionsDict
    stability: float | None
    p_value: float | None
    novelty: float | None
    separation: float | None
    verdict: str
    verdicts: dict[str, str]
    beside: str


class StateAnswer(TypedDict):
    """An exploration without its points."""

    id: str
    name: str
    n_rows: int
    all_rows: int | None
    n_columns: int
    setup: SetupDict
    views: list[SummaryAnswer]
    jobs: list[JobAnswer]
    steps: list[dict[str, Any]]
    problem: str | None


class ColumnAnswer(TypedDict):
    """What a column of the table holds; ``parts`` are names of features that dates can become."""

    name: str
    kind: str
    missing: int
    values: int
    parts: list[str]
    problem: str | None


class PreviewAnswer(TypedDict):
    """The columns of the table and its first rows."""

    columns: list[ColumnAnswer]
    rows: list[list[Any]]


class PointsAnswer(TypedDict):
    """Rows to draw, with their groups."""

    rows: list[int]
    x: list[float]
    y: list[float] | None
    labels: list[int]
    total: int


class CodesAnswer(TypedDict):
    """A column at the rows to draw: labels as numbers of names (-1 is none), or numbers."""

    name: str
    names: list[str]
    codes: list[int]
    numbers: list[float | None] | None


class FrontierAnswer(FrontierDict):
    """What novelty costs, with the groups of every solution."""

    rows: list[int]
    labels: list[list[int]]


class DetailAnswer(SummaryAnswer):
    """Everything about one view."""

    description: DescriptionDict
    features: list[str]
    axes: list[str]
    points: PointsAnswer
    known: list[CodesAnswer]
    frontier: FrontierAnswer | None


class RowsAnswer(TypedDict):
    """Some rows of the table with the groups they are in."""

    columns: list[str]
    rows: list[int]
    cells: list[list[Any]]
    total: int


class MeansAnswer(TypedDict):
    """The mean of every group as an image."""

    kind: str
    height: int
    width: int
    images: list[list[float]]


class SegmentsAnswer(TypedDict):
    """The groups as one image, and the picture that the rows are the pixels of."""

    kind: str
    height: int
    width: int
    labels: list[int]
    picture: list[list[int]] | None


class NamedView(TypedDict):
    """A view by name."""

    id: str
    name: str


class RunsAnswer(TypedDict):
    """The views of an exploration by name."""

    id: str
    name: str
    views: list[NamedView]


class ChosenAnswer(TypedDict):
    """What a search has chosen."""

    n_clusters: int
    n_components: int | None
    novelty_weight: float | None


class RunAnswer(SummaryAnswer):
    """What was asked in a search, beside what it found."""

    exploration: str
    features: list[str]
    standardize: bool | str
    scaling: str
    missing: str
    chosen: ChosenAnswer


class ComparedAnswer(TypedDict):
    """Two searches, and how far their groups agree."""

    runs: list[RunAnswer]
    agreement: PairDict
