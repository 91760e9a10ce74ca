"""Data with several known labelings: generators, and the penguins that ship with the package."""

from __future__ import annotations

from .generate import (
    make_embedding_views,
    make_gaussian_views,
    make_independent_views,
    make_moons_views,
)
from .penguins import load_penguins

__all__ = [
    "load_penguins",
    "make_embedding_views",
    "make_gaussian_views",
    "make_independent_views",
    "make_moons_views",
]
