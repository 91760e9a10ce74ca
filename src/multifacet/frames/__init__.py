"""Data as people have it, turned into numbers: data frames, dicts of columns, arrays, sparse.

No data frame library is imported, since a user may have any one of them: every column becomes a
numpy array by itself, and the little that is particular (names, categories, index) is asked of
the object. The way of the data: :mod:`table` finds the columns, :mod:`cells` reads each,
:mod:`encoding` learns and applies the way to numbers, :mod:`preparation` puts it all together.
"""

from .encoding import Column, Encoding
from .preparation import MAX_CATEGORIES, Prepared, prepare

__all__ = ["MAX_CATEGORIES", "Column", "Encoding", "Prepared", "prepare"]
