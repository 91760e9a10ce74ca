"""What an exploration holds as plain dicts, and what a search is asked and tells.

Of what comes from files and pages, :mod:`multifacet.app.schemas` has checked that it is so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

if TYPE_CHECKING:
    from ..frames.table import Columns
    from ..progress import Stage
    from ..results.views import Views

Auto = Literal["auto"]
#: Groups that became one, one list for each time.
Merges = list[list[int]]


class OptionsDict(TypedDict):
    """Settings of a search for one view."""

    n_clusters: int | Auto
    n_components: int | Auto
    novelty_weight: float | Auto
    n_refits: int
    random_state: int


class UseDict(TypedDict):
    """What the columns are for."""

    features: list[str]
    given: list[str]
    identifier: str | None


class RolesDict(UseDict):
    """What the columns are for, and how they become features."""

    standardize: bool | Auto
    missing: str


class SetupDict(RolesDict):
    """What the columns are for, and why some are for nothing."""

    left_out: dict[str, str]
    notes: list[str]


class FindDict(RolesDict):
    """A view was found.

    Attributes
    ----------
    dropped, among
        Rows that the view is not about, and the only ones that it was looked for among.
    known, merged
        Views that it avoids, and their groups as they were then.
    follows, passed
        How many views the same search found before, and how many more it passed over since they
        did not fit a hint.
    """

    do: Literal["find"]
    view: str
    name: str
    dropped: list[int]
    options: OptionsDict
    known: list[str]
    merged: dict[str, Merges]
    follows: int
    passed: int
    among: list[int] | None


class VerdictDict(TypedDict):
    """A view was accepted, rejected, or neither again."""

    do: Literal["accept", "reject", "restore"]
    view: str


class RenameDict(TypedDict):
    """A view, or one of its groups, got a name."""

    do: Literal["rename"]
    view: str
    group: int | None
    name: str


class MergeDict(TypedDict):
    """Groups of a view became one."""

    do: Literal["merge"]
    view: str
    groups: list[int]


#: What can be done with a view, and all that can be done.
ActionDict = VerdictDict | RenameDict | MergeDict
StepDict = FindDict | ActionDict


class StateDict(TypedDict):
    """All of exploration.json."""

    format: int
    name: str
    file: str
    counter: int
    setup: SetupDict | None
    steps: list[StepDict]


class GroupsDict(TypedDict):
    """Groups of a view."""

    view: str
    groups: list[int]


class TaskDict(RolesDict):
    """What a worker needs to find views: a table, what is known about it, and hints.

    Attributes
    ----------
    known, merged, setup
        What is kept of the search: views that it avoids, their groups, and columns as they were.
    names
        Of the views to be found.
    rows, together
        The only rows to look at, and rows of groups that are not to be told apart, if any are.
    n_rows
        Of the whole table.
    found
        The views that it has found so far.
    """

    columns: Columns
    known: list[str]
    merged: dict[str, Merges]
    setup: UseDict
    options: OptionsDict
    names: list[str]
    rows: list[int] | None
    together: list[list[int]] | None
    n_rows: int
    image_folder: str | None
    found: NotRequired[list[str]]


class ProgressDict(TypedDict):
    """How far a search is."""

    kind: Literal["progress"]
    name: str
    stage: Stage
    done: NotRequired[int]
    total: NotRequired[int]
    separation: NotRequired[float]


class SketchPointsDict(TypedDict):
    """Rows to draw on the way; their groups are perhaps not known."""

    rows: list[int]
    x: list[float]
    y: list[float] | None
    labels: list[int] | None
    total: int


class SketchDict(TypedDict):
    """The best so far."""

    kind: Literal["sketch"]
    name: str
    points: SketchPointsDict
    n_clusters: int
    admissible: bool


class FoundViews(TypedDict):
    """A view that a worker has found; the others are as in :class:`FindDict`."""

    kind: Literal["found"]
    views: Views
    name: str
    dropped: list[int]
    follows: int
    passed: int


class FoundDict(TypedDict):
    """Which view the exploration now has."""

    kind: Literal["found"]
    view: str
    name: str


class DoneDict(TypedDict):
    """A search is over; notes say what the library warned of."""

    kind: Literal["done"]
    notes: list[str]


class FailedDict(TypedDict):
    """A search ended with an error."""

    kind: Literal["failed"]
    message: str


class CancelledDict(TypedDict):
    """Someone ended a search."""

    kind: Literal["cancelled"]


OverDict = DoneDict | FailedDict | CancelledDict
#: What a worker tells the server, and what the server tells pages.
WorkerMessage = ProgressDict | SketchDict | FoundViews | OverDict
PageMessage = ProgressDict | SketchDict | FoundDict | OverDict
