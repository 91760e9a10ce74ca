"""What requests and kept explorations may say; everything else is refused."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

#: The file that says what was done in an exploration, and its version.
STATE, FORMAT = "exploration.json", 1
#: Characters of a name that someone gives.
MAX_NAME = 80
#: Bytes of the name of a file; systems take 255, and some room is needed beside it.
MAX_FILE_NAME = 200
#: Characters that end a line, move a cursor or are none; no name has a use for them.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_NO_FILE_NAME = re.compile(rf"{CONTROL.pattern}|[/\\]")

Auto = Literal["auto"]
Name = Annotated[str, Field(max_length=1000)]


def check_name(name: str) -> str:
    """Return the name that someone gives a view or a group, without spaces around it."""
    name = name.strip()
    if not name or len(name) > MAX_NAME:
        raise ValueError(f"a name has 1 to {MAX_NAME} characters, this one {len(name)}")
    if CONTROL.search(name):
        raise ValueError(f"name={name!r} holds control characters: leave them out")
    return name


def check_file_name(name: str) -> str:
    """Return the name of a file in the directory; raise if it leads elsewhere."""
    if not is_file_name(name):
        raise ValueError("it lies elsewhere, or its name is none of a file")
    return name


def is_file_name(name: str) -> bool:
    """Tell whether a name is that of a file, and no way to another directory."""
    return name not in ("", ".", "..") and not _NO_FILE_NAME.search(name)


def file_name(name: str) -> str:
    """Return the name under which a table is kept, whatever it is called elsewhere."""
    name = _NO_FILE_NAME.sub("_", name).encode()[-MAX_FILE_NAME:].decode(errors="ignore").strip()
    if not name.strip(". "):
        return "table.csv"
    return f"table-{name}" if name == STATE else name


class Strict(BaseModel):
    """A body without unknown names."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Begin(Strict):
    """Begin with a built-in example."""

    example: Annotated[str, Field(max_length=60)]


class Setup(Strict):
    """What the columns are for, and how they become features."""

    features: Annotated[list[Name], Field(max_length=5000)]
    given: Annotated[list[Name], Field(max_length=20)] = []
    identifier: Name | None = None
    standardize: bool | Auto = "auto"
    missing: Literal["error", "impute", "drop"] = "error"


class Options(Strict):
    """Settings of a search for one view; "auto" lets the library choose."""

    n_clusters: Annotated[int, Field(ge=2, le=50)] | Auto = "auto"
    n_components: Annotated[int, Field(ge=1, le=50)] | Auto = "auto"
    novelty_weight: Annotated[float, Field(ge=0, le=1e6)] | Auto = "auto"
    n_refits: Annotated[int, Field(ge=0, le=20)] = 3
    random_state: Annotated[int, Field(ge=0, le=2**31 - 2)] = 0


class Groups(Strict):
    """Groups of a view."""

    view: str
    groups: Annotated[list[int], Field(min_length=2, max_length=50)]


class Search(Options):
    """Settings of a search, how many views are to be found, and hints where to look.

    ``features`` are the only ones of the features that count, ``rows`` the only rows. Views that
    tell the groups in ``together`` apart are passed over.
    """

    n_views: Annotated[int, Field(ge=1, le=6)] = 1
    features: Annotated[list[Name], Field(min_length=1, max_length=5000)] | None = None
    rows: Annotated[list[int], Field(min_length=1)] | None = None
    together: Groups | None = None


class Accept(Strict):
    """The next search is given this view too."""

    do: Literal["accept"]
    view: str


class Reject(Strict):
    """The view is set aside and not exported, and the next search does not return it again."""

    do: Literal["reject"]
    view: str


class Restore(Strict):
    """The view is neither accepted nor rejected."""

    do: Literal["restore"]
    view: str


class Rename(Strict):
    """A new name of a view, or of one of its groups."""

    do: Literal["rename"]
    view: str
    group: int | None = None
    name: Annotated[str, Field(max_length=200)]


class Merge(Strict):
    """Some groups of a view become one."""

    do: Literal["merge"]
    view: str
    groups: Annotated[list[int], Field(max_length=50)]


Step = Annotated[Accept | Reject | Restore | Rename | Merge, Field(discriminator="do")]


# What exploration.json holds. It may come from anywhere, so nothing is converted or guessed.

_KEPT = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True)
ViewId = Annotated[str, Field(pattern="^v[0-9]{1,9}$")]
Count = Annotated[int, Field(ge=0, le=2**53)]
FileName = Annotated[str, AfterValidator(check_file_name)]
GivenName = Annotated[str, AfterValidator(check_name)]
MergedGroups = Annotated[list[Count], Field(min_length=2)]


class KeptRoles(BaseModel):
    """What the columns are for."""

    model_config = _KEPT

    features: list[str]
    given: list[str]
    identifier: str | None
    standardize: bool | Auto
    missing: Literal["error", "impute", "drop"]


class KeptSetup(KeptRoles):
    """What the columns are for, and why some are for nothing."""

    left_out: dict[str, str]
    notes: list[str]


class KeptOptions(Options):
    """Settings of a search that is over."""

    model_config = _KEPT


class KeptFind(KeptRoles):
    """A view was found."""

    do: Literal["find"]
    view: ViewId
    name: GivenName
    dropped: list[Count]
    options: KeptOptions
    known: list[ViewId]
    merged: dict[ViewId, list[MergedGroups]]
    follows: Count = 0
    passed: Count = 0
    among: list[Count] | None = None


class KeptVerdict(BaseModel):
    """A view was accepted, rejected, or neither again."""

    model_config = _KEPT

    do: Literal["accept", "reject", "restore"]
    view: ViewId


class KeptRename(BaseModel):
    """A view or a group got a name."""

    model_config = _KEPT

    do: Literal["rename"]
    view: ViewId
    group: Count | None
    name: GivenName


class KeptMerge(BaseModel):
    """Groups of a view became one."""

    model_config = _KEPT

    do: Literal["merge"]
    view: ViewId
    groups: MergedGroups


KeptStep = Annotated[KeptFind | KeptVerdict | KeptRename | KeptMerge, Field(discriminator="do")]


class KeptVersion(BaseModel):
    """The version of exploration.json, whatever else it holds."""

    format: int


class KeptState(BaseModel):
    """All of exploration.json."""

    model_config = _KEPT

    format: int
    name: FileName
    file: FileName
    counter: Count
    setup: KeptSetup | None
    steps: list[KeptStep]
