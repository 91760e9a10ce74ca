"""Results that a person wants to read: plain dict -> blocks -> HTML, Markdown or JSON."""

from .render import render, to_html, to_markdown
from .shape import check_document, check_run

__all__ = ["check_document", "check_run", "render", "to_html", "to_markdown"]
