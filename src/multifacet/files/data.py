"""What the readers return."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..frames.notes import Note
from ..frames.table import Columns, listing
from ..linalg import Array

if TYPE_CHECKING:
    from .annotated import Representation


@dataclass(frozen=True, eq=False)
class FileData:
    """A table as its file holds it.

    Attributes
    ----------
    columns : dict of str to array or other column
        Columns by name, as :func:`multifacet.find_views` takes them.
    index : array of shape (n,) or None
        Identifiers of the rows that belong to no column: the first column of a CSV file if it has
        no name, the index of pandas in Parquet, the names of observations in .h5ad.
    features : list of str or None
        Columns that are features by the word of the format: those of a matrix.
    notes : list of Note
        What was assumed in reading; each is a sentence as text.
    name : str
        Name of the file; ``stdin`` for standard input.
    format : str
        Format of the file, one of ``FORMATS``.
    sha256 : str
        Hash of its bytes.
    cells : Representation or None
        Of annotated data, where the features are from.

    Examples
    --------
    >>> import tempfile
    >>> from multifacet.files import read_file, write_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = read_file(write_table(f"{folder}/birds.csv", {"mass": [3.7, 3.8]}))
    >>> data.name, data.format, list(data.columns)
    ('birds.csv', 'csv', ['mass'])
    """

    columns: Columns = field(repr=False)
    index: Array | None = field(repr=False, default=None)
    features: list[str] | None = field(repr=False, default=None)
    notes: list[Note] = field(default_factory=list)
    name: str = ""
    format: str = ""
    sha256: str = ""
    cells: Representation | None = field(repr=False, default=None)


def named_once(name: str, pairs: list[tuple[str, Any]]) -> Columns:
    """Return the columns of a file by name; raise if two have the same."""
    counts = Counter(column for column, _ in pairs)
    repeated = [column for column, count in counts.items() if count > 1]
    if repeated:
        raise ValueError(f"{name!r} has several columns named {listing(repeated)}: rename them")
    return dict(pairs)
