"""Files in and out: tables of the usual formats, written so that nothing is left half done.

:mod:`reading` finds out what a file is, :mod:`text` reads delimited text and :mod:`binary` the
other formats, :mod:`on_disk` opens what does not fit into memory, and :mod:`pieces` what workers
read in parts; :mod:`writing` replaces a file only when its successor is complete, and :mod:`lock`
keeps two processes from writing to one directory.
"""

from .data import FileData
from .lock import FolderInUseError, locked
from .on_disk import open_table, read_path
from .pieces import open_partitions
from .reading import FORMATS, read_file
from .shape import check_shape, read_json, shape_of
from .writing import atomic, to_json, write_json, write_table, write_text

__all__ = [
    "FORMATS",
    "FileData",
    "FolderInUseError",
    "atomic",
    "check_shape",
    "locked",
    "open_partitions",
    "open_table",
    "read_file",
    "read_json",
    "read_path",
    "shape_of",
    "to_json",
    "write_json",
    "write_table",
    "write_text",
]
