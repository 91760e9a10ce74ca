"""Rival methods: other ways to a grouping that differs from the given ones."""

from __future__ import annotations

from .adft import ADFT
from .cami import CAMI
from .cib import CIB
from .coala import COALA
from .cons_kl import ConsKL
from .decorrelated_kmeans import DecorrelatedKMeans
from .msc import MSC
from .orthogonal_clustering import OrthogonalClustering
from .orthogonal_subspaces import OrthogonalSubspaceClustering
from .residual import Residual

__all__ = [
    "ADFT",
    "CAMI",
    "CIB",
    "COALA",
    "MSC",
    "ConsKL",
    "DecorrelatedKMeans",
    "OrthogonalClustering",
    "OrthogonalSubspaceClustering",
    "Residual",
]
