"""Files in and out: tables of the usual formats, written so that nothing is left half done.

:mod:`reading` finds out what a file is, :mod:`text` reads delimited text and :mod:`binary` the
other formats; :mod:`writing` replaces a file only when its successor is complete.
"""

from .data import FileData
from .reading import FORMATS, read_file
from .writing import atomic, to_json, write_json, write_table, write_text

__all__ = [
    "FORMATS",
    "FileData",
    "atomic",
    "read_file",
    "to_json",
    "write_json",
    "write_table",
    "write_text",
]
