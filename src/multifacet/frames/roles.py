"""What the columns of a table are for: what the user says, and for the rest what values show."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, cast, get_args

from ..documents import RoleDict
from ..printable import one_line
from ..wording import Argument, ArgumentError, ArgumentWarning
from .cells import Cells, whole
from .dates import split_part
from .looks import Look, What, look_at, read_plainly
from .notes import InputError, Note, Remedy
from .scaling import FEWEST_IN_ONE_UNIT, Profile, choose_scaling
from .table import Table, listing, read_table

#: What a column can be for.
Use = Literal["row name", "given", "feature", "reference", "left out"]
USES: tuple[str, ...] = get_args(Use)
#: What can be done with columns that look like labels.
CATEGORIES = ("reference", "use")
#: Share of the numbers and truth values that has few values from which all of them are data.
_MOST = 0.75
#: Numbers that are no features are compared with views unless there are more, as of genes.
_MAX_NUMBERS = 100
#: Columns of one use that are printed one by one.
_MAX_FEATURES, _MAX_OTHERS = 12, 40

#: Why a column is no feature, by what it looks like.
REASONS: dict[What, str] = {
    "measured": "not among the features",
    "codes": "not among the features",
    "few": "few values",
    "labels": "few values",
    "many": "text of many values",
    "text": "text of many values",
    "prose": "text to read, shown with the groups",
    "images": "pictures, shown with the groups",
    "names": "different in every row",
    "dates": "dates or times",
    "spelled": "looks like numbers with a decimal comma, separators, units or some words",
    "constant": "constant",
    "empty": "no values",
    "unread": "neither numbers nor text",
}
_REMEDIES: dict[What, Remedy] = {"dates": "convert", "text": "group", "spelled": "plain numbers"}
#: What people look at.
SHOWN: tuple[What, ...] = ("prose", "images")
_NUMBERS: tuple[What, ...] = ("measured", "codes")
_LABELS: tuple[What, ...] = ("few", "labels")


@dataclass(frozen=True)
class ColumnRole:
    """What one column is for.

    Attributes
    ----------
    name : str
        The column.
    use : {"feature", "given", "reference", "row name", "left out"}
        What it is for: groups are found in features, avoid what is given, and are compared with
        references.
    holds : str
        What is in it.
    why : str
        Why it is no feature; of a feature, only if somebody could wonder.
    missing : int
        How many of its cells are missing.
    """

    name: str
    use: Use
    holds: str = ""
    why: str = ""
    missing: int = 0


@dataclass(frozen=True)
class Roles:
    """What every column of a table is for; best read by printing it.

    Attributes
    ----------
    columns : list of ColumnRole
        The columns, in their order.
    n_rows : int
        Number of rows.
    notes : list of Note
        What was decided and may be wanted otherwise.

    Examples
    --------
    >>> from multifacet.frames.roles import assign_roles
    >>> table = {"no": range(1, 7), "sex": list("fmfmfm"), "mass": [37, 38, 49, 51, 39, 38]}
    >>> print(assign_roles(table))
    6 rows, 3 columns
      row name   no    6 values  different in every row
      feature    mass  numbers
      reference  sex   2 values  few values
    """

    columns: list[ColumnRole]
    n_rows: int
    notes: list[Note] = field(default_factory=list, repr=False, compare=False)

    def names(self, use: Use) -> list[str]:
        """Return the names of the columns of one use."""
        return [column.name for column in self.columns if column.use == use]

    @property
    def features(self) -> list[str]:
        """Columns to find groups in."""
        return self.names("feature")

    @property
    def references(self) -> list[str]:
        """Columns with which every view is compared."""
        return self.names("reference")

    @property
    def identifier(self) -> str | None:
        """Column that names the rows."""
        return next(iter(self.names("row name")), None)

    def table(self) -> list[RoleDict]:
        """Return one dict per column, ready for a data frame."""
        return [cast(RoleDict, asdict(column)) for column in self.columns]

    def __str__(self) -> str:
        count = len(self.columns)
        heads = f"{self.n_rows:,} rows, {count:,} column{'s' * (count != 1)}"
        rows = [_cells_of(row) for row in self._shortened()]
        widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
        lines = (
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            for row in rows
        )
        return "\n".join([heads, *(f"  {one_line(line)}".rstrip() for line in lines)])

    def _shortened(self) -> Iterable[ColumnRole]:
        """Yield the columns by their use; a single line in place of many."""
        for use in USES:
            group = [column for column in self.columns if column.use == use]
            if len(group) <= (_MAX_FEATURES if use == "feature" else _MAX_OTHERS):
                yield from group
                continue
            first, last = group[0], group[-1]
            missing = sum(column.missing for column in group)
            names = f"{len(group):,} columns, {first.name} to {last.name}"
            yield ColumnRole(names, first.use, first.holds, first.why, missing)


def _cells_of(column: ColumnRole) -> tuple[str, str, str, str]:
    gaps = f", {column.missing:,} missing" if column.missing else ""
    return column.use, column.name, column.holds + gaps, column.why


def assign_roles(
    data: Any,
    *,
    given: Any = (),
    identifier: str | None = None,
    exclude: Any = (),
    features: Any = None,
    categories: str = "reference",
) -> Roles:
    """Decide what each column is for: what the user says, and the safest guess for the rest.

    Values decide, not names. Numbers are features. The first column that tells the rows apart
    (text that is different in every row, or whole numbers that count or number them) names them.
    Columns that look like labels are references, since among the features they would only lead
    back to what someone knows: text and categories of few values, truth values, and numbers of
    few values, unless nearly all numbers are such, or all of them are counts or ratings of one
    kind. Constant columns, dates and free text are left out; parts of a date in a column ``seen``
    are features if they are named, as ``seen.year``, ``.month``, ``.weekday`` (from Monday, 1) or
    ``.elapsed`` (days). Data whose columns have no names are
    features throughout.

    Parameters
    ----------
    data : data frame, dict of columns, array, sparse matrix or Table
        The table.
    given, exclude : str or list of str
        Columns that hold what is known; columns that are no features.
    identifier : str, optional
        Column that names the rows.
    features : str or list of str, optional
        The features, whatever they look like; other columns become none. Those that are named in
        another role keep that.
    categories : {"reference", "use"}, default="reference"
        Whether columns that look like labels are references or features.

    Returns
    -------
    Roles
        What each column is for.

    Examples
    --------
    >>> from multifacet.frames.roles import assign_roles
    >>> birds = {
    ...     "bird": ["a", "b", "c", "d"],
    ...     "sex": ["male", "female", "female", "male"],
    ...     "mass": [3750, 3800, 4950, 5100],
    ... }
    >>> roles = assign_roles(birds)
    >>> roles.features, roles.identifier, roles.references
    (['mass'], 'bird', ['sex'])
    >>> assign_roles(birds, categories="use").features
    ['sex', 'mass']
    """
    if categories not in CATEGORIES:
        known = " or ".join(map(repr, CATEGORIES))
        raise ArgumentError(Argument.of("categories", categories), f" is not known: use {known}")
    table = read_table(data)
    told: dict[str, Use] = dict.fromkeys(table.find("exclude", exclude), "left out")
    wanted = table.find("features", features)
    if features is not None:
        told = dict.fromkeys(wanted, "feature") | told  # type: ignore[assignment]
    told |= dict.fromkeys(table.find("given", given), "given")
    told |= dict.fromkeys(table.find("identifier", identifier), "row name")
    if not table.columns and table.matrix is None:
        raise ValueError("data has no columns")
    if not table.named:
        return _all_features(table)
    _refuse_ragged(table, told)
    # Features by the form of the data: what they look like does not matter.
    plain = {*table.features} - ({*told} - {*wanted})
    looked = [n for n in dict.fromkeys([*table.columns, *wanted]) if n not in plain]
    looks = {name: look_at(table, name) for name in looked}
    uses, notes = dict(told), []
    if "row name" not in told.values():
        rows = _row_names(table, {n: look for n, look in looks.items() if n not in told})
        uses |= dict.fromkeys(rows, "row name")
        notes += [Note(f"rows are named by column {name!r}") for name in rows]
    if features is None and not plain:
        free = {name: look for name, look in looks.items() if name not in uses}
        chosen, why = _choose_features(table, free, categories)
        uses |= dict.fromkeys(chosen, "feature")
        notes += why
    roles = [_plain(name, told, features is None) for name in table.features if name in plain]
    roles += [_settle(name, look, uses.get(name), told.get(name)) for name, look in looks.items()]
    roles = _without_too_many_numbers(roles, looks)
    found = Roles(roles, table.n_rows, [*notes, *_notes_on(roles, looks, told)])
    _refuse_without_features(found)
    return found


def _all_features(table: Table) -> Roles:
    names = list(table.columns) or [f"x{j}" for j in range(table.matrix.shape[1])]
    return Roles([ColumnRole(name, "feature") for name in names], table.n_rows)


def _plain(name: str, told: Mapping[str, Use], chosen: bool) -> ColumnRole:
    """Return the role of a feature by form: left out only if others are named."""
    if chosen or told.get(name) == "feature":
        return ColumnRole(name, "feature", "numbers")
    return ColumnRole(name, "left out", "numbers", REASONS["measured"])


def _refuse_ragged(table: Table, told: Mapping[str, Use]) -> None:
    """Raise for lists of several lengths where equal ones are needed."""
    for name, ragged in table.ragged.items():
        use = told.get(name)
        if use == "feature" or (use is None and ragged.meant):
            fact = f"{ragged.sentence}: make them equal, or "
            raise InputError(Note(fact, "left out", (name,), after="; rows are counted from 0"))


def _row_names(table: Table, looks: dict[str, Look]) -> list[str]:
    """Return the column that names the rows, if any: words before mere numbers."""
    # A picture has a name of its own, but rows may have a better one.
    ranks = {"names": 0, "images": 1}
    unique = [
        name for name, look in looks.items() if look.what in ranks and look.values == table.n_rows
    ]
    return sorted(unique, key=lambda n: (looks[n].kind == "number", ranks[looks[n].what]))[:1]


def _choose_features(
    table: Table, looks: dict[str, Look], categories: str
) -> tuple[list[str], list[Note]]:
    """Return the columns that are features, and what there is to say about the choice."""
    numbers = [name for name, look in looks.items() if look.what in _NUMBERS]
    few = [name for name, look in looks.items() if look.what == "few"]
    labels = [name for name, look in looks.items() if look.what in _LABELS]
    if categories == "use":
        return [name for name in looks if name in {*numbers, *labels}], []
    counted = [*numbers, *(name for name in few if looks[name].kind == "number")]
    if few and len(counted) >= FEWEST_IN_ONE_UNIT and _share_a_unit(table, counted):
        return counted, []
    if few and len(few) > _MOST * (len(numbers) + len(few)):
        fact = (
            f"{listing(few)} used as features, though of few values, as nearly all numbers are; if "
            "some are labels, "
        )
        return [*numbers, *few], [Note(fact, "given or left out", tuple(few))]
    if not numbers and len(labels) > 1:
        fact = f"{listing(labels)} used as features, though of few values, as nothing else is left"
        return labels, [Note(fact)]
    codes = [name for name in numbers if looks[name].what == "codes"]
    if 0 < 2 * len(codes) <= len(numbers):
        fact = f"{listing(codes)} used as numbers: if the whole numbers are labels, "
        return numbers, [Note(fact, "given or left out", tuple(codes))]
    return numbers, []


def _share_a_unit(table: Table, names: list[str]) -> bool:
    """Tell whether numbers are of one kind, as words in texts are: rare ones have few values."""
    profiles = [Profile.of(read_plainly(table, name).present) for name in names]
    return choose_scaling(profiles) != "units"


def _settle(name: str, look: Look, use: Use | None, told: Use | None) -> ColumnRole:
    """Return the role of a column: as decided, or else a reference if it can be compared."""
    why = "" if use in ("feature", "given") else _reason(look)
    if use == "row name" and told:
        why = ""
    if told == "left out":
        why = "excluded"
    if use in (None, "left out"):
        comparable = look.what in (*_NUMBERS, *_LABELS, "many")
        use = "reference" if comparable else "left out"
    return ColumnRole(name, use, _holds(look), why, look.missing)


def _reason(look: Look) -> str:
    """Say why a column is no feature."""
    if look.what == "many" and look.kind == "number":
        return "numbers blocks: every value equally often"
    return REASONS[look.what]


def _holds(look: Look) -> str:
    """Say what is in a column."""
    if look.what in ("measured", "unread", "dates"):
        return {"measured": "numbers", "unread": "", "dates": "dates"}[look.what]
    if look.kind == "boolean":
        return "true/false"
    return f"{look.values:,} value{'s' * (look.values != 1)}"


def _without_too_many_numbers(roles: list[ColumnRole], looks: dict[str, Look]) -> list[ColumnRole]:
    """Leave out numbers that are no features if there are too many to compare."""
    numbers = {r.name for r in roles if r.use == "reference" and looks[r.name].what in _NUMBERS}
    if len(numbers) <= _MAX_NUMBERS:
        return roles
    return [
        ColumnRole(r.name, "left out", r.holds, r.why, r.missing) if r.name in numbers else r
        for r in roles
    ]


def _notes_on(
    roles: list[ColumnRole], looks: dict[str, Look], told: dict[str, Use]
) -> Iterable[Note]:
    """Say which columns are references or left out, and why, as far as nobody said so."""
    labels = [r.name for r in roles if r.use == "reference" and r.name not in told]
    labels = [name for name in labels if looks[name].what not in _NUMBERS]
    if labels:
        verb = "look like labels" if len(labels) > 1 else "looks like labels"
        fact = f"{listing(labels)} {verb}, to be compared with what is found: "
        yield Note(fact, "given or feature", tuple(labels))
    settled = {*told} | {part[0] for part in map(split_part, told) if part}  # with dates in parts
    reasons: dict[str, list[str]] = {}
    for role in roles:
        if role.use == "left out" and role.name not in settled and role.name in looks:
            reasons.setdefault(role.why, []).append(role.name)
    for reason, names in reasons.items():
        remedy = _REMEDIES.get(looks[names[0]].what)
        if remedy is None and looks[names[0]].what in (*_NUMBERS, *SHOWN):
            continue  # nothing is lost
        fact = f"left out {listing(names)}: {reason}{'; ' if remedy else ''}"
        yield Note(fact, remedy, tuple(names))


def _refuse_without_features(roles: Roles) -> None:
    """Raise if no column is a feature, and say what all of them are."""
    if roles.features:
        return
    given = roles.names("given")
    others = [column for column in roles.columns if column.use in ("reference", "left out")]
    parts = [f"{column.name!r} is none: {column.why}" for column in others[:5]]
    parts += [f"{listing(given, 5)} {'are' if len(given) > 1 else 'is'} given"] if given else []
    parts += [f"{name!r} names the rows" for name in roles.names("row name")]
    why = f" ({'; '.join(parts)})"
    raise InputError(Note("no column is left as a feature: ", "name features", after=why))


def no_labels(cells: Cells) -> str:
    """Return why a column cannot be a labeling; nothing if it can."""
    values = set(cells.present.tolist())
    if len(values) == len(cells.values):
        return REASONS["names"]
    if cells.kind == "number" and whole(cells.present).dtype.kind not in "iu":
        return "measurements"
    return ""


def check_target(table: Table, names: list[str]) -> None:
    """Refuse targets that name the rows, or warn if they are numbers that only may do so."""
    for name in names:
        look = look_at(table, name)
        if look.what != "names":
            continue
        if look.kind != "number":
            raise ArgumentError(
                Argument.of("target", name),
                " is different in every row, so it names the rows and nothing can depend on it: "
                "pass classes or measurements",
            )
        doubt = " looks as if it names the rows: if it does, the result means nothing"
        warnings.warn(ArgumentWarning(Argument.of("target", name), doubt), stacklevel=4)
