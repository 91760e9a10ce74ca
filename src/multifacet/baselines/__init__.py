"""Rival methods: other ways to a grouping that differs from the given ones."""

from __future__ import annotations

from .residual import Residual

__all__ = ["Residual"]
