"""Generalized independent subspace clustering (ISAAC 2016), with no parameter to set."""

from .estimator import ISAAC

__all__ = ["ISAAC"]
