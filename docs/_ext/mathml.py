"""Mathematics as MathML, which browsers draw themselves: nothing is loaded from outside."""

from __future__ import annotations

from docutils import nodes
from latex2mathml.converter import convert


def _inline(self, node) -> None:
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _block(self, node) -> None:
    self.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app) -> dict[str, bool]:
    """Offer the renderer ``mathml`` to Sphinx."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
