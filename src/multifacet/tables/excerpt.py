"""Some rows of Parquet files, drawn by their content: what can be held of a table that cannot."""

from __future__ import annotations

from os import PathLike
from typing import Any

from ..content import DRAWN, Drawn, draw, join
from ..files.binary import need
from ..files.pieces import PIECE_BYTES, cut, read_piece
from ..frames.content import content_keys, readable
from ..frames.table import read_table


def excerpt(
    path: str | PathLike[str], most: int = DRAWN, *, piece_bytes: int = PIECE_BYTES
) -> tuple[Any, int]:
    """Return some rows of Parquet files as a pandas data frame, and how many there are in all.

    One piece is held at a time. The rows are those that a search on a cluster draws
    from the same files, in the order in which they stand there.

    Parameters
    ----------
    path : str or PathLike
        As in :func:`multifacet.files.open_partitions`.
    most : int, default=20000
        Rows that are drawn.
    piece_bytes : int
        Size of the pieces, as in :func:`multifacet.files.open_partitions`.

    Examples
    --------
    >>> import tempfile
    >>> from multifacet.files import write_table
    >>> from multifacet.tables.excerpt import excerpt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in range(3):
    ...         _ = write_table(f"{folder}/part{i}.parquet", {"mass": [i, i + 0.5]})
    ...     rows, count = excerpt(folder, 4)
    >>> rows.shape, count
    ((4, 1), 6)
    """
    need("pandas", "pandas", "a sample of Parquet files")
    drawn: Drawn | None = None
    count = 0
    for number, piece in enumerate(cut(path, piece_bytes)):
        part = read_piece(piece)
        count += len(part)
        keys = content_keys(readable(read_table(part)), len(part))
        found = draw(part, number, most, keys)
        drawn = found if drawn is None else join([drawn, found], most)
        del part  # before the next one takes its memory
    assert drawn is not None  # there is at least one piece, perhaps without rows
    order = sorted(range(len(drawn.places)), key=lambda i: tuple(drawn.places[i]))
    rows = drawn.rows.iloc[order]
    return rows.reset_index(drop=rows.index.name is None), count
