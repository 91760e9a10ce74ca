"""Data as people have it, turned into numbers: data frames, dicts of columns, arrays, sparse.

No data frame library is imported, since a user may have any one of them: every column becomes a
numpy array by itself, and the little that is particular (names, categories, index) is asked of
the object. The way of the data: :mod:`table` finds the columns, :mod:`cells` reads each,
:mod:`looks` tells what it looks like and :mod:`roles` what it is for, :mod:`encoding` learns and
applies the way to numbers, :mod:`references` keeps what is no feature, and :mod:`preparation` puts
it all together.
"""

from .encoding import Column, Encoding
from .looks import MAX_CATEGORIES
from .preparation import Prepared, prepare
from .references import Reference
from .roles import Roles

__all__ = [
    "MAX_CATEGORIES",
    "Column",
    "Encoding",
    "Prepared",
    "Reference",
    "Roles",
    "prepare",
]
