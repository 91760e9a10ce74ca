"""From the plain dict of a result to a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..files import to_json, write_text
from . import html, markdown
from .blocks import Page
from .comparison import comparison_page
from .reduction import reduction_page
from .views import views_page

#: What a dict says that it is, how it is laid out, and the version of it that this one reads.
KINDS: dict[Any, Callable[[Any], Page]] = {
    "views": views_page,
    "reduction": reduction_page,
    "comparison": comparison_page,
}
FORMAT = 1


def render(document: Mapping[str, Any], path: str | Path) -> Path:
    """Write a report; the suffix of the path chooses the format.

    Parameters
    ----------
    document : dict
        What ``to_dict`` of a result returns. It may have a ``run``: how to repeat it.
    path : str or Path
        File to write: ``.html``, ``.md`` or ``.json``.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from multifacet.report import render
    >>> pair = {"a": "sex", "b": "island", "nmi": 0.1, "ari": 0.0, "p_value": 0.4}
    >>> pair |= {"rows": ["f", "m"], "columns": ["x", "y"], "counts": [[3, 2], [2, 3]]}
    >>> labelings = [{"name": "sex", "groups": {"f": 5, "m": 5}}]
    >>> labelings += [{"name": "island", "groups": {"x": 5, "y": 5}}]
    >>> document = {"kind": "comparison", "format": 1, "n_rows": 10, "labelings": labelings}
    >>> document |= {"nmi": [[1.0, 0.1], [0.1, 1.0]], "pairs": [pair], "sentence": "They do not."}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     render(document, f"{folder}/report.md").read_text().splitlines()[0]
    '# Do sex and island agree?'
    """
    path = Path(path)
    if path.suffix.lower() not in WRITERS:
        known = ", ".join(WRITERS)
        raise ValueError(f"a report cannot be written to {str(path)!r}: end its name in {known}")
    return write_text(path, WRITERS[path.suffix.lower()](document))


def to_html(document: Mapping[str, Any]) -> str:
    """Return a report as one HTML page with everything inside; see :func:`render`.

    Parameters
    ----------
    document : dict
        What ``to_dict`` of a result returns.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> from multifacet import compare_labelings
    >>> from multifacet.report import to_html
    >>> to_html(compare_labelings([0, 0, 1, 1], [0, 1, 0, 1]).to_dict())[:15]
    '<!DOCTYPE html>'
    """
    return html.page(_page(document))


def to_markdown(document: Mapping[str, Any]) -> str:
    """Return a report as Markdown; see :func:`render`.

    Parameters
    ----------
    document : dict
        What ``to_dict`` of a result returns.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> from multifacet import compare_labelings
    >>> from multifacet.report import to_markdown
    >>> text = to_markdown(compare_labelings([0, 0, 1, 1], [0, 1, 0, 1]).to_dict())
    >>> text.splitlines()[0]
    '# Do labeling 1 and labeling 2 agree?'
    """
    return markdown.page(_page(document))


def _page(document: Mapping[str, Any]) -> Page:
    kind, version = document.get("kind"), document.get("format")
    if kind not in KINDS:
        raise ValueError(f"the result has kind {kind!r}, expected {', '.join(map(repr, KINDS))}")
    if version != FORMAT:
        raise ValueError(f"the result has format {version!r}, this version reads {FORMAT}")
    return KINDS[kind](document)


WRITERS = {".html": to_html, ".md": to_markdown, ".json": to_json}
