"""The browser workbench: load a table, get other groupings, look, steer, keep. No analysis here.

:mod:`tables` reads what is loaded, :mod:`exploration` records what was done, :mod:`worker` searches
in a process of its own under :mod:`jobs`, :mod:`display` says what the page draws,
:mod:`comparison` how two searches differ, :mod:`repeat` how to do it again without the page, and
:mod:`routes` puts all of it behind :mod:`guard`.
"""

from .server import serve
from .workbench import Workbench

__all__ = ["Workbench", "serve"]
