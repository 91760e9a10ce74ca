"""What searches are as plain dicts: candidates, how they were chosen, and settings."""

# No annotations from the future here: what is required would not be known when this runs.
from typing import NotRequired, TypedDict


class CandidateDict(TypedDict):
    """A candidate of a search and how it was judged."""

    n_clusters: int
    n_components: int
    bandwidth: float | None
    novelty_weight: float | None
    start: str
    separation: float | None
    novelty: float | None
    stability: float | None
    rejected: str
    balance: NotRequired[float | None]
    source: NotRequired[str]
    score: NotRequired[float | None]
    surprise: NotRequired[float | None]
    own_surprise: NotRequired[float | None]
    believed: NotRequired[bool]


class PathStepDict(TypedDict):
    """A coarser or finer version of a grouping, and how well its groups are separated."""

    n_clusters: int
    separation: float | None
    surprise: float | None


class SelectionDict(TypedDict):
    """How settings were chosen: the best candidates, and how many were turned down, and why.

    ``path`` has the best version of each number of groups that divides or merges those that were
    chosen, ``plateau`` the least and the most of them that are as separated but for chance.
    """

    sentence: str
    rule: str
    plan: NotRequired[str]
    found: bool
    n_rows: int
    n_candidates: int
    rejected: dict[str, int]
    candidates: list[CandidateDict]
    path: NotRequired[list[PathStepDict]]
    plateau: NotRequired[list[int]]


class SettingsDict(TypedDict):
    """Settings at which a view was found."""

    n_clusters: int | None
    n_components: int | None
    bandwidth: float | None
    novelty_weight: float | None
