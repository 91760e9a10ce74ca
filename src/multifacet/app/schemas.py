"""What requests may say; everything else is refused."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Auto = Literal["auto"]
Name = Annotated[str, Field(max_length=1000)]


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
    standardize: bool = True
    missing: Literal["error", "impute", "drop"] = "error"


class Search(Strict):
    """Settings of a search; "auto" lets the library choose."""

    n_views: Annotated[int, Field(ge=1, le=6)] = 1
    n_clusters: Annotated[int, Field(ge=2, le=50)] | Auto = "auto"
    n_components: Annotated[int, Field(ge=1, le=50)] | Auto = "auto"
    novelty_weight: Annotated[float, Field(ge=0, le=1e6)] | Auto = "auto"
    n_refits: Annotated[int, Field(ge=0, le=20)] = 3
    random_state: Annotated[int, Field(ge=0, le=2**31 - 2)] = 0


class Accept(Strict):
    """The next search is given this view too."""

    do: Literal["accept"]
    view: str


class Reject(Strict):
    """The view is set aside: neither known nor exported."""

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
