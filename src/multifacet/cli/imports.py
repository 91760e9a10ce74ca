"""What commands import by hand, since it is most of what they take on small tables."""

from __future__ import annotations

import sys


def learn_without_pandas() -> None:
    """Import scikit-learn, but not pandas with it.

    scikit-learn imports pandas if it is there, which takes a quarter of its time, and looks for
    frames only among what is imported by then. Commands hand it arrays. Whoever needs pandas
    later, imports it as ever.
    """
    if {"sklearn", "pandas"} & set(sys.modules):
        return
    sys.modules["pandas"] = None  # type: ignore[assignment]  # so an import of it fails
    try:
        import sklearn.base  # noqa: F401
    finally:
        del sys.modules["pandas"]
