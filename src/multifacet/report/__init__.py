"""Results that a person wants to read: plain dict -> blocks -> HTML, Markdown or JSON."""

from .render import render, to_html, to_markdown

__all__ = ["render", "to_html", "to_markdown"]
