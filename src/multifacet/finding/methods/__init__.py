"""How one view after the other is found: the methods of :class:`ViewFinder`, and what each uses.

A method is an object that says which options of the finder it uses; :meth:`Method.begin` looks at
the data once, and returns what finds the views. Adding one takes a subclass of :class:`Method`,
which can be passed as ``method=``; a source of candidates (:class:`multifacet.search.Source`) can
be passed as well.
"""

from __future__ import annotations

from ...search import Source
from ...wording import Argument, ArgumentError
from .auto import AutoMethod
from .base import Finding, Found, Method
from .closed_forms import EmbeddingMethod, LinearMethod
from .independent import IndependentMethod
from .kernel import KernelMethod
from .source import SourceMethod

__all__ = ["METHODS", "Finding", "Found", "Method", "as_method"]

METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (AutoMethod, KernelMethod, LinearMethod, EmbeddingMethod, IndependentMethod)
}


def as_method(method: str | Method | Source) -> Method:
    """Return the method behind a name, a source of candidates, or the object itself.

    Parameters
    ----------
    method : str, Method or Source
        What ``ViewFinder(method=...)`` takes.

    Examples
    --------
    >>> from multifacet.finding.methods import as_method
    >>> sorted(as_method("linear").uses)
    ['n_components', 'novelty_weight']
    """
    if isinstance(method, Method):
        return method
    if isinstance(method, Source):
        return SourceMethod(method)
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]()
    raise ArgumentError(
        Argument.of("method", method),
        f" is not known: use {', '.join(map(repr, METHODS))}, or an object of a class derived from "
        "multifacet.search.Source",
    )
